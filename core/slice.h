/* Parts of arrays by a slice as in Python: [10:20, ::-2, 3, ...]. Begins and ends may be left out and
 * count from the end where they are negative, ends past the array are cut off, a step may be negative,
 * an index drops its dimension, and what is not named is whole.
 *
 *     slc_slice slice;                                   // zeros: everything
 *     SLC_TRY(slc_slice_parse("[1:, 0]", &slice));
 *     SLC_TRY(slc_slice_resolve(&slice, "x", &layout, &view));
 */
#ifndef SLC_CORE_SLICE_H
#define SLC_CORE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_slice_kind {
    SLC_SLICE_RANGE, /* begin:end:step */
    SLC_SLICE_INDEX, /* begin alone */
    SLC_SLICE_REST   /* "...": as many whole dimensions as the other parts leave */
} slc_slice_kind;

/* What stands between two commas. */
typedef struct slc_slice_part {
    slc_slice_kind kind;
    bool has_begin, has_end;
    int64_t begin, end; /* below 0: from the dimension's end */
    int64_t step;       /* of a range; 0: 1 */
} slc_slice_part;

/* Zeros are the whole array. Plain data. */
#define SLC_SLICE_PARTS (SLC_MAX_RANK + 1)
typedef struct slc_slice {
    int n_parts;
    slc_slice_part part[SLC_SLICE_PARTS];
} slc_slice;

/* Dimension d of an array under a slice: elements first[d] + k · step[d], k from 0 to count[d] - 1. */
typedef struct slc_slice_view {
    int inner_rank;
    int64_t first[SLC_MAX_RANK];
    int64_t step[SLC_MAX_RANK];
    int64_t count[SLC_MAX_RANK];
    int rank;              /* of the result */
    int dim[SLC_MAX_RANK]; /* of the array, for each of the result's */
} slc_slice_view;

/* Reads "[…]", the brackets included; blanks may stand around each number. SLC_ERROR_ARGUMENT names the
 * character that is wrong. */
SLC_API SLC_MUST_USE slc_status slc_slice_parse(const char *text, slc_slice *out);

/* What the slice is of an array of this shape; `name` is the array's, for messages.
 * SLC_ERROR_ARGUMENT for an index outside it, or for more parts than dimensions; both say the shape. */
SLC_API SLC_MUST_USE slc_status slc_slice_resolve(const slc_slice *slice, const char *name,
                                                  const slc_layout *layout, slc_slice_view *out);

#ifdef __cplusplus
}
#endif
#endif
