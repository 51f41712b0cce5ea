/* The steps of examples/ladder on a machine: each is checked against the sum in double before it is
 * timed. `sluice bench ladder` prints all of them, `sluice bench direct` holds its kernels against one.
 * Internal to the program.
 *
 *     slci_climb climb;
 *     SLC_TRY_GOTO(done, slci_climb_begin(&request, &climb));
 *     SLC_TRY_GOTO(done, slci_climb_step(&climb, climb.steps->steps[0], &rung));
 * done:
 *     slci_climb_end(&climb);
 */
#ifndef SLC_APP_CMD_LADDER_H
#define SLC_APP_CMD_LADDER_H

#include <stdbool.h>

#include "app/machine.h"
#include "examples/ladder/ladder.h"

typedef struct slci_climb_request {
    const slci_machine *machine; /* lent until end */
    int cuda_index;
    bool is_quick; /* fewer pairs */
} slci_climb_request;

typedef struct slci_climb {
    slci_climb_request request;
    const ladder *steps;
    int n_threads;
    ladder_problem problem;
    ladder_reference reference;
    double *image;                  /* [size, size] */
    int64_t host_bytes, card_bytes; /* reserved */
} slci_climb;

typedef struct slci_rung {
    const ladder_step *step;
    double pairs_per_s;
    double error, tolerance; /* of the largest value that a pixel could have */
    ladder_run run;
} slci_rung;

/* What was begun is ended by slci_climb_end either way. SLC_ERROR_DEVICE, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_climb_begin(const slci_climb_request *request, slci_climb *out);
void slci_climb_end(slci_climb *climb);

/* SLC_ERROR_INTERNAL where the step is further off than its bound; SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_climb_step(slci_climb *climb, const ladder_step *step, slci_rung *out);

/* Pairs a second of a limit of the list. SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_climb_limit(const slci_climb *climb, int limit, double *pairs_per_s);

#endif
