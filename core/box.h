/* A box of array indices: origin and extent in each dimension.
 * Boxes are how tiles, reads and writes say where; all index arithmetic on them is here.
 *
 *     slc_box rows = slc_box_1d(4096, 512);             // rows 4096 to 4607
 *     int64_t n = slc_box_count(&rows);                 // 512
 */
#ifndef SLC_CORE_BOX_H
#define SLC_CORE_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions of an array, and axes of a job, at most. */
#define SLC_MAX_RANK 8

/* Elements origin[d] to origin[d] + extent[d] - 1 of dimension d, slowest dimension first. An
 * extent of 0 is an empty box and legal everywhere. */
typedef struct slc_box {
    int rank;
    int64_t origin[SLC_MAX_RANK];
    int64_t extent[SLC_MAX_RANK];
} slc_box;

SLC_API slc_box slc_box_1d(int64_t origin, int64_t extent);

/* Number of elements; -1 if it does not fit int64_t. A box of rank 0 holds one element. */
SLC_API int64_t slc_box_count(const slc_box *box);

/* Same rank, origin and extent. */
SLC_API bool slc_box_equal(const slc_box *a, const slc_box *b);

/* Whether `inner` lies in `outer` (same rank). An empty box lies in every box of its rank. */
SLC_API bool slc_box_contains(const slc_box *outer, const slc_box *inner);

/* The overlap of two boxes of one rank; extents of 0 where there is none. */
SLC_API slc_box slc_box_intersect(const slc_box *a, const slc_box *b);

#ifdef __cplusplus
}
#endif
#endif
