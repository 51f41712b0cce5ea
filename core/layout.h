/* Where the elements of an array lie in memory: shape, byte strides, offset and dtype.
 * A layout owns no memory and knows no space (host or device); it is a value, copied freely. Every
 * copy in the program is a copy from one layout to another (core/copy.h).
 *
 *     slc_layout table;
 *     SLC_TRY(slc_layout_dense(SLC_F64, 2, (const int64_t[]){n_rows, 3}, &table));
 *     slc_layout transposed = slc_layout_permute(&table, (const int[]){1, 0});
 */
#ifndef SLC_CORE_LAYOUT_H
#define SLC_CORE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/box.h"
#include "core/dtype.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element (i0, i1, …) lies offset_bytes + Σ i_d · stride_bytes[d] from the base pointer. Dimension 0
 * is the slowest of a dense array. Strides may be negative or zero (a broadcast, source only). */
typedef struct slc_layout {
    slc_dtype dtype;
    int rank;
    int64_t shape[SLC_MAX_RANK];
    int64_t stride_bytes[SLC_MAX_RANK];
    int64_t offset_bytes;
} slc_layout;

/* The C-order layout of `shape` [rank]. SLC_ERROR_ARGUMENT for a bad rank, a negative extent or a
 * size past int64_t. */
SLC_API SLC_MUST_USE slc_status slc_layout_dense(slc_dtype dtype, int rank, const int64_t *shape,
                                                 slc_layout *out);

/* Number of elements (the product was checked when the layout was made). */
SLC_API int64_t slc_layout_count(const slc_layout *layout);

/* Elements times element size: what a dense copy of it takes. */
SLC_API int64_t slc_layout_bytes(const slc_layout *layout);

/* The part of `layout` inside `box` (box within shape, same rank). */
SLC_API slc_layout slc_layout_slice(const slc_layout *layout, const slc_box *box);

/* Dimension d of the result is dimension order[d] of `layout`. */
SLC_API slc_layout slc_layout_permute(const slc_layout *layout, const int *order);

/* Dimension `d` walked backwards: negative stride, offset moved to its last element. */
SLC_API slc_layout slc_layout_reverse(const slc_layout *layout, int d);

/* The same elements in the same order with as few dimensions as possible: extents of 1 are dropped
 * and neighbours d, d+1 with stride[d] == stride[d+1] · shape[d+1] become one. */
SLC_API slc_layout slc_layout_coalesce(const slc_layout *layout);

/* Whether the elements lie in C order without gaps (an empty array does). */
SLC_API bool slc_layout_is_contiguous(const slc_layout *layout);

/* Whether copying `src` to `dst` (same shape) is a batch of plain matrix transposes: after
 * coalescing together, the last two dimensions of one are dense in exchanged order. */
SLC_API bool slc_layout_is_transpose(const slc_layout *dst, const slc_layout *src);

/* The dimensions of both layouts (same shape) sorted so that the source's smallest stride comes
 * last, then coalesced where both allow it. The pair describes the same copy: dimensions that the
 * source walks backwards are reversed in both, and one that it broadcasts counts with the
 * destination's stride. */
SLC_API void slc_layout_sort_pair(slc_layout *dst, slc_layout *src);

#ifdef __cplusplus
}
#endif
#endif
