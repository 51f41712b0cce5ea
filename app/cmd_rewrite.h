/* What `sluice transpose` and `sluice repack` have in common. Internal to the program.
 */
#ifndef SLC_APP_CMD_REWRITE_H
#define SLC_APP_CMD_REWRITE_H

#include "app/cmd_run.h"
#include "app/dataset_name.h"
#include "app/rewrite.h"

/* What the command line says. */
typedef struct slci_rewrite_arguments {
    slc_rewrite_options options;
    const char *command; /* "sluice transpose" */
    const char *done;    /* "transposed" */
    slci_words inputs;
    slci_dataset_name data, out;
    slci_run_arguments run;
} slci_rewrite_arguments;

/* The command `name`, which has these options of its own (their target is a slci_rewrite_arguments)
 * besides those that both have. */
typedef struct slci_rewrite_command {
    const char *name, *done, *usage;
    const slci_arg *args;
    int n_args;
    slc_status (*check)(slci_rewrite_arguments *arguments); /* (optional) before the run */
} slci_rewrite_command;

SLC_MUST_USE slc_status slci_rewrite_command_run(const slci_rewrite_command *command,
                                                 slci_program *program, int argc,
                                                 char *const *argv);

/* Values of options; the field is the slc_rewrite_options. SLC_ERROR_ARGUMENT. */
SLC_MUST_USE slc_status slci_arg_dtype(const char *text, void *field);
SLC_MUST_USE slc_status slci_arg_axes(const char *text, void *field);

#endif
