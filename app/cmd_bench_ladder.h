/* `sluice bench ladder`: the steps of examples/ladder on this machine, each checked against the sum in
 * double and then timed, as a table, as JSON and as a bar chart. Internal to the program.
 *
 *     slci_ladder_request request = {.run = options, .chart_path = "ladder.png"};
 *     SLC_TRY(slci_bench_ladder(program, &request));
 */
#ifndef SLC_APP_CMD_BENCH_LADDER_H
#define SLC_APP_CMD_BENCH_LADDER_H

#include <stdbool.h>

#include "app/cmd.h"
#include "app/run_options.h"

typedef struct slci_ladder_request {
    slc_run_options run;    /* budgets, device, threads, whom to tell */
    const char *chart_path; /* .png; NULL: none */
    bool is_quick;          /* fewer pairs */
    bool is_json;
} slci_ladder_request;

/* Prints to standard output. SLC_ERROR_INTERNAL where a step is further off than its bound;
 * SLC_ERROR_DEVICE, SLC_ERROR_MEMORY, SLC_ERROR_OUTPUT, SLC_ERROR_UNSUPPORTED (a chart without libpng),
 * SLC_ERROR_INTERRUPTED. */
SLC_MUST_USE slc_status slci_bench_ladder(slci_program *program,
                                          const slci_ladder_request *request);

#endif
