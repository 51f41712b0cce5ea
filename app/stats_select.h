/* Values by their rank, found by their keys' digits from the highest to the lowest: each step counts,
 * for every digit, the keys that begin with what is known already, and one digit more is known. Exact
 * for any number of keys, of which none is kept. Internal to app.
 *
 *     slci_select_init(&select, key_bits, digit_bits, ranks, n_ranks);
 *     while (slci_select_next(&select, n_groups, &step)) {
 *         ... count[g][digit] of all keys ...
 *         SLC_TRY(slci_select_take(&select, &step, count));
 *     }
 *     // select.wanted[k].key has ranks[k] keys before it
 */
#ifndef SLC_APP_STATS_SELECT_H
#define SLC_APP_STATS_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kernels/stats_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_SELECT_MOST 256

typedef struct slci_select_wanted {
    int64_t rank; /* among the keys that begin with what is known */
    uint64_t key; /* known from bit `shift` on, below it zeros */
    int shift;    /* 0: found */
} slci_select_wanted;

typedef struct slci_select {
    int digit_bits;
    int n_wanted;
    slci_select_wanted wanted[SLCI_SELECT_MOST];
} slci_select;

/* Ranks count from 0; rising is not needed. At most SLCI_SELECT_MOST of them. */
void slci_select_init(slci_select *select, int key_bits, int digit_bits, const int64_t *ranks,
                      int n_ranks);

/* All keys lie from `lowest` to `highest`: digits that follow from that need no step. */
void slci_select_narrow(slci_select *select, uint64_t lowest, uint64_t highest);

/* The digit to count in the next step, for at most `most` groups; its other members are left as they
 * are. False when all are found. */
bool slci_select_next(const slci_select *select, int most, slc_stats_step *step);

/* count [n_groups, 2^digit_bits]. SLC_ERROR_INPUT where they hold fewer keys than there must be,
 * as when data changes while it is read. */
SLC_MUST_USE slc_status slci_select_take(slci_select *select, const slc_stats_step *step,
                                         const uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
