/* Where the elements of one tile lie, for both kernels. Internal to kernels/gather_*.
 *
 * Along a dimension, the elements of a result are counted by four numbers: dimensions before the
 * cut outer one; the outer one and those between it and the list; the list; dimensions between the
 * list and the cut inner one; and then runs that are contiguous on both sides:
 *
 *     out  [before][outer, between][  k  ][between][inner, after]
 *     data [before][outer, between][ i_k ][between][inner, after]
 *           level 0     level 1             level 2      run
 *
 * A dimension that is not cut, or lies in one tile, joins its neighbours, so that in the common
 * case there are one or two levels. By coordinates there is one element for each index, and only
 * i_k.
 */
#ifndef SLC_KERNELS_GATHER_TILE_H
#define SLC_KERNELS_GATHER_TILE_H

#include <stdbool.h>

#include "kernels/gather_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SLCI_GATHER_LEVELS = 3 };

/* Strides are in elements of `element_bytes`. `tile` is read where the kernel runs. */
typedef struct slci_gather_view {
    const slc_tile *tile;
    const void *index;
    const void *data;
    void *out;
    int64_t element_bytes;
    int index_bytes;
    bool is_index_signed;
    bool is_whole; /* the data is: tiles begin at their origins in it */
    /* Coordinates of an index: the range within the data that is at hand, and the way from one to
     * the next. An axis of -1: all of the `extent`. */
    int n_coordinates;
    int coordinate_axis[SLC_MAX_RANK];
    int64_t coordinate_extent[SLC_MAX_RANK];
    int64_t coordinate_stride[SLC_MAX_RANK];
    /* Elements of each level, and of a run, for one step of its axis (-1: for all of it). */
    int outer_axis, inner_axis;
    int64_t n[SLCI_GATHER_LEVELS];
    int64_t n_run;
    int64_t out_stride[SLCI_GATHER_LEVELS], data_stride[SLCI_GATHER_LEVELS];
    int64_t index_stride; /* of out, from one index to the next */
    /* Ordered: places in rising order and the numbers in the list that they belong to; else NULL. */
    const int64_t *ordered_place;
    const uint32_t *ordered_index;
} slci_gather_view;

/* Bytes of scratch memory an index that sorting may take. */
#define SLCI_GATHER_SCRATCH 2

/* Whether the job sorts what it reads: on this device, and asked to. */
bool slci_gather_is_ordered(const slc_gather_setup *setup, slc_device_kind device);

void slci_gather_view_init(const slc_gather_setup *setup, const slc_tile_arguments *arguments,
                           slci_gather_view *out);

#ifdef __CUDACC__
#define SLCI_GATHER_INLINE static __host__ __device__ inline
#else
#define SLCI_GATHER_INLINE static inline
#endif

/* Number `at` of the list; -1 for one that no int64_t holds. */
SLCI_GATHER_INLINE int64_t slci_gather_index(const slci_gather_view *view, int64_t at) {
    switch (view->is_index_signed ? -view->index_bytes : view->index_bytes) {
    case 1:
        return ((const uint8_t *)view->index)[at];
    case -1:
        return ((const int8_t *)view->index)[at];
    case 2:
        return ((const uint16_t *)view->index)[at];
    case -2:
        return ((const int16_t *)view->index)[at];
    case 4:
        return ((const uint32_t *)view->index)[at];
    case -4:
        return ((const int32_t *)view->index)[at];
    case 8: {
        const uint64_t value = ((const uint64_t *)view->index)[at];
        return value > (uint64_t)INT64_MAX ? -1 : (int64_t)value;
    }
    default:
        return ((const int64_t *)view->index)[at];
    }
}

/* Where index k points in the data at hand, in elements; -1 where that is not here. */
SLCI_GATHER_INLINE int64_t slci_gather_place(const slci_gather_view *view, int64_t k) {
    int64_t place = 0;
    for (int c = 0; c < view->n_coordinates; c++) {
        int64_t i = slci_gather_index(view, k * view->n_coordinates + c);
        int64_t extent = view->coordinate_extent[c];
        const int axis = view->coordinate_axis[c];
        if (axis >= 0) {
            i -= view->tile->origin[axis];
            extent = view->tile->extent[axis];
        }
        if (i < 0 || i >= extent) {
            return -1;
        }
        place += i * view->coordinate_stride[c];
    }
    return place;
}

/* What is known of a tile once its description is there. */
typedef struct slci_gather_counts {
    int64_t n_index, n_run, n1, n_rows; /* rows: combinations of the three levels */
    int64_t data_begin;                 /* of the tile, in elements */
} slci_gather_counts;

SLCI_GATHER_INLINE slci_gather_counts slci_gather_count(const slci_gather_view *view) {
    const slc_tile *tile = view->tile;
    slci_gather_counts counts;
    counts.n_index = tile->extent[0];
    counts.n_run = view->n_run * (view->inner_axis < 0 ? 1 : tile->extent[view->inner_axis]);
    counts.n1 = view->n[1] * (view->outer_axis < 0 ? 1 : tile->extent[view->outer_axis]);
    counts.n_rows = view->n[0] * counts.n1 * view->n[2];
    counts.data_begin = 0;
    if (view->is_whole && view->outer_axis >= 0) {
        counts.data_begin += tile->origin[view->outer_axis] * view->n[1] * view->data_stride[1];
    }
    if (view->is_whole && view->inner_axis >= 0) {
        counts.data_begin += tile->origin[view->inner_axis] * view->n_run;
    }
    return counts;
}

/* Where row `r` of the tile begins, with the strides of one side. */
SLCI_GATHER_INLINE int64_t slci_gather_row(const slci_gather_view *view,
                                           const slci_gather_counts *counts, const int64_t *stride,
                                           int64_t r) {
    const int64_t above = r / view->n[2];
    return r % view->n[2] * stride[2] + above % counts->n1 * stride[1] +
           above / counts->n1 * stride[0];
}

#ifdef __cplusplus
}
#endif
#endif
