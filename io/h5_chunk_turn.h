/* From the file's form of an element to the machine's, in place: the byte order, and which part of a
 * complex number comes first. Done to a chunk while it is in the cache.
 *
 *     slci_turn_elements(&turn, values, n_bytes);
 */
#ifndef SLC_IO_H5_CHUNK_TURN_H
#define SLC_IO_H5_CHUNK_TURN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros: nothing is to be done. */
typedef struct slci_turn {
    int64_t part_bytes; /* 1, 2, 4 or 8 */
    bool swaps_bytes;   /* of each part */
    bool swaps_parts;   /* of each pair of parts */
} slci_turn;

static inline bool slci_turn_is_needed(const slci_turn *turn) {
    return turn->swaps_bytes || turn->swaps_parts;
}

/* Whole elements, of any alignment. */
void slci_turn_elements(const slci_turn *turn, void *values, int64_t n_bytes);

#ifdef __cplusplus
}
#endif
#endif
