/* A set of pairs of 64-bit keys that numbers its members in the order of their coming.
 * Rows are looked at once when a set is opened, and what is kept grows with the number of different
 * times, baselines and antennas, not with the number of rows.
 *
 *     SLC_TRY(slci_distinct_add(&set, ant_1, ant_2, &index, &is_new));
 */
#ifndef SLC_IO_VIS_DISTINCT_H
#define SLC_IO_VIS_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros are an empty set. */
typedef struct slci_distinct {
    int64_t n;
    int64_t n_slots;  /* a power of two, or 0 */
    int64_t *members; /* [n_slots / 2, 2] */
    int64_t *slots;   /* [n_slots]: index of a member plus 1, 0 for a free slot */
} slci_distinct;

/* Finds (a, b) or adds it; *index is its number. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_distinct_add(slci_distinct *set, int64_t a, int64_t b, int64_t *index,
                                          bool *is_new);
void slci_distinct_destroy(slci_distinct *set);

#ifdef __cplusplus
}
#endif
#endif
