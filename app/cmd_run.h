/* The options that every job of the program takes, from the command line to files: budgets, device,
 * threads, what is written beside the result. Internal to the program.
 *
 *     slci_run_arguments run;
 *     slci_run_arguments_init(&run);
 *     ... slci_command_run with .run_arguments = &run ...
 *     SLC_TRY(slci_run_begin(program, &run));
 *     SLC_TRY(slc_gather_run(&options, &result));         // options.run = run.options
 *     SLC_TRY(slci_run_end(program, &run, json));
 */
#ifndef SLC_APP_CMD_RUN_H
#define SLC_APP_CMD_RUN_H

#include "app/cmd.h"
#include "app/defaults.h"
#include "app/report_html.h"
#include "app/run_options.h"
#include "io/h5_files.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The files of --checkpoint FILE. */
typedef struct slci_checkpoint_names {
    const char *path;             /* NULL: none */
    char journal[SLC_PATH_BYTES]; /* FILE.journal */
} slci_checkpoint_names;

/* What the command line says about the run, and what was made of it. */
typedef struct slci_run_arguments {
    slc_run_options options;
    slci_budgets budgets;
    const char *stats_path; /* "-": standard output; NULL: none */
    const char *trace_path; /* NULL: none */
    const char *report_path;
    slci_checkpoint_names checkpoint;
    slci_page page; /* the report's; the job fills in what it has before slci_run_end */
    bool no_probe;
    char cache_folder[SLC_PATH_BYTES]; /* of the user, where they have one */
} slci_run_arguments;

void slci_run_arguments_init(slci_run_arguments *run);
void slci_run_arguments_release(slci_run_arguments *run);

/* The rows of the help text; their target is an slci_run_arguments. */
slci_arg_table slci_run_arg_table(slci_run_arguments *run);

/* The rows for budgets, device and threads alone. */
slci_arg_table slci_machine_arg_table(slci_run_arguments *run);

/* The value of --sparse, for jobs that have it; `field` is a slc_sparse_choice. */
SLC_MUST_USE slc_status slci_arg_sparse(const char *text, void *field);

/* Checks, before anything is computed, that what is written beside the result can be written. */
SLC_MUST_USE slc_status slci_run_check(const slci_run_arguments *run);

/* Before anything is computed: that no file which the run writes, `outputs` (some may be NULL) and
 * those beside them, is one of its inputs, or another file that one of these needs and that would be
 * replaced (io/h5_files.h), or is named twice. Of an input that is not HDF5 the path alone counts.
 * SLC_ERROR_ARGUMENT; SLC_ERROR_INPUT where an input cannot be opened, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_run_check_files(const slci_run_arguments *run,
                                             const slc_h5_reading *inputs, int n_inputs,
                                             const char *const *outputs, int n_outputs);

/* Fills in budgets, threads, trace and whom to tell. */
SLC_MUST_USE slc_status slci_run_begin(slci_program *program, slci_run_arguments *run);

/* Writes what was asked for beside the result; `json` are the statistics. The run's checkpoint (NULL:
 * none) is told of the files. */
SLC_MUST_USE slc_status slci_run_end(const slci_run_arguments *run, slc_checkpoint *checkpoint,
                                     const char *json);

/* The page's lines of memory, from what the run used and might use. */
void slci_page_set_memory(slci_page *page, const slc_run_memory *memory);

/* Whether the job is to fill in a page, and to keep its picture for it. Command and inputs are for the
 * trace too. */
bool slci_run_wants_page(const slci_run_arguments *run);
bool slci_run_wants_picture(const slci_run_arguments *run);

/* Prints the plan after a dry run, else the line that says what came out, unless the user wants quiet.
 * Where the statistics take standard output the line goes to standard error and the plan, which they
 * hold, nowhere. SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_run_say(const slci_program *program, const slci_run_arguments *run,
                                     const char *text);

/* The part of it that looks at names alone, for who has no run. */
SLC_MUST_USE slc_status slci_check_file_names(const char *const *inputs, int n_inputs,
                                              const char *const *outputs, int n_outputs);

#ifdef __cplusplus
}
#endif
#endif
