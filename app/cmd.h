/* What the commands of the program share: the parts that main owns, the options that every command
 * takes, and standard output. Internal to the program.
 *
 *     slc_status slci_cmd_image(slci_program *program, int argc, char *const *argv);
 */
#ifndef SLC_APP_CMD_H
#define SLC_APP_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "app/args.h"
#include "app/progress.h"
#include "core/log.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_program {
    slc_log log;            /* to standard error, through `progress` */
    slci_progress progress; /* on standard error, where that is a terminal */
    const volatile int *cancel;
    bool is_quiet;
} slci_program;

/* What is particular to a command; what all share (--quiet, --verbose, --no-progress, --version,
 * --help) comes with slci_command_run. */
typedef struct slci_command {
    const char *name;           /* "sluice info" */
    const char *usage;          /* before the list of options in the help text */
    slci_arg_table options;     /* its target holds everything the command line says */
    slci_arg_table run_options; /* what every job takes (app/cmd_run.h); no rows: no job */
    slci_words *operands;       /* in the target */
    slc_status (*run)(slci_program *program, void *target);
} slci_command;

/* Reads the command line into the target and runs the command, or prints its help or the version.
 * The operands are there during the run only. SLC_ERROR_ARGUMENT, SLC_ERROR_MEMORY, and whatever the
 * run gives. */
SLC_MUST_USE slc_status slci_command_run(const slci_command *command, slci_program *program,
                                         int argc, char *const *argv);

/* Room for every word of a command line; free() `words` afterwards. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_words_create(int argc, slci_words *out);

/* A value of 1 to 4096 threads: `field` is an int. */
SLC_MUST_USE slc_status slci_arg_threads(const char *text, void *field);

/* Whether two names mean the same file, existing or not. */
bool slci_is_same_file(const char *a, const char *b);

/* SLC_ERROR_OUTPUT when something printed to standard output did not get there. */
SLC_MUST_USE slc_status slci_flush_stdout(void);

void slci_print_version(void);

/* One command each. They print to standard output only what was asked for. */
SLC_MUST_USE slc_status slci_cmd_bench(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_gather(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_image(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_info(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_predict(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_repack(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_simulate(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_stats(slci_program *program, int argc, char *const *argv);
SLC_MUST_USE slc_status slci_cmd_transpose(slci_program *program, int argc, char *const *argv);

#ifdef __cplusplus
}
#endif
#endif
