/* Whether the plan's choice of a way to gather is the faster one: an array that is larger than the
 * device's budget is read where it lies in host memory, or streamed past, both are timed, and then it
 * is seen which of them the plan would have taken. Internal to app.
 *
 *     SLC_TRY(slci_bench_choice_run(&options, &machine, &choice));
 */
#ifndef SLC_APP_BENCH_CHOICE_H
#define SLC_APP_BENCH_CHOICE_H

#include "app/bench_engine.h"
#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0.1 %, 1 % and 10 % of the elements are touched. */
#define SLCI_BENCH_CHOICES 3

/* Seconds of one way: as its plan says, and the best of some runs. */
typedef struct slci_bench_way {
    double planned, taken;
} slci_bench_way;

typedef struct slci_bench_choice_at {
    double share;    /* of the elements that is touched */
    int64_t n_index; /* the same as a number: the list's length */
    slci_bench_way mapped, streamed;
    bool is_mapped; /* what the plan chooses */
} slci_bench_choice_at;

typedef struct slci_bench_choice {
    int64_t data_bytes, vram_bytes;
    slci_bench_choice_at at[SLCI_BENCH_CHOICES];
} slci_bench_choice;

/* Both ways are first run over a small array whose elements are known, and what they give is compared
 * with it: SLC_ERROR_INTERNAL where it differs. SLC_ERROR_MEMORY, SLC_ERROR_NO_PLAN, SLC_ERROR_DEVICE.
 */
SLC_MUST_USE slc_status slci_bench_choice_run(const slci_bench_options *options,
                                              const slci_machine *machine, slci_bench_choice *out);

#ifdef __cplusplus
}
#endif
#endif
