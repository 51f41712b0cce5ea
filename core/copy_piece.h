/* What the copy kernels of a device work from: a part of a plan so small that 32 bits hold every
 * count and offset, with its divisions prepared as multiplications. Pure functions, tested without
 * a card. Internal to core.
 *
 *     slci_copy_plan second;
 *     while (!slci_copy_piece_fits(&plan)) { slci_copy_plan_halve(&plan, &second); ... }
 *     slci_copy_piece_init(&plan, &piece);
 */
#ifndef SLC_CORE_COPY_PIECE_H
#define SLC_CORE_COPY_PIECE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/copy_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define SLCI_COPY_INLINE static __host__ __device__ inline
#else
#define SLCI_COPY_INLINE static inline
#endif

/* index / divisor for indices below 2^31: (⌊index · multiplier / 2^32⌋ + index) / 2^shift, which is
 * exact (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994). */
typedef struct slci_copy_divider {
    uint32_t divisor;
    uint32_t multiplier;
    uint32_t shift;
} slci_copy_divider;

SLCI_COPY_INLINE uint32_t slci_copy_quotient(uint32_t index, slci_copy_divider divider) {
    const uint32_t high = (uint32_t)(((uint64_t)index * divider.multiplier) >> 32);
    return (high + index) >> divider.shift;
}

/* For 1 <= divisor < 2^31. */
slci_copy_divider slci_copy_divider_make(int64_t divisor);

/* Units (i0, i1, …), here the first dimension is the fastest: unit number Σ i_d · Π_{e<d} extent_e
 * lies Σ i_d · stride_d units from either side's first one. */
typedef struct slci_copy_piece {
    int rank;   /* >= 1 */
    uint32_t n; /* the product of the extents, at most SLCI_COPY_PIECE_UNITS */
    slci_copy_divider extent[SLCI_COPY_MAX_RANK];
    int32_t dst_stride[SLCI_COPY_MAX_RANK];
    int32_t src_stride[SLCI_COPY_MAX_RANK];
} slci_copy_piece;

/* Leaves room for a kernel's last block to count beyond the end. */
#define SLCI_COPY_PIECE_UNITS (INT64_C(1) << 30)

/* Whether counts and offsets of the plan, a TRANSPOSE or any other, fit a piece. */
bool slci_copy_piece_fits(const slci_copy_plan *plan);

/* Cuts a plan that does not fit in two: `plan` keeps the first half of the dimension that spans
 * most. */
void slci_copy_plan_halve(slci_copy_plan *plan, slci_copy_plan *second);

/* The plan's units, with dimensions of one unit left out and their fastest one first. */
void slci_copy_piece_init(const slci_copy_plan *plan, slci_copy_piece *out);

/* Makes the dimension `d` of a piece count steps of `step` units; its last one may be a part. */
void slci_copy_piece_coarsen(slci_copy_piece *piece, int d, int step);

/* Widest access of a thread. */
#define SLCI_COPY_GROUP_BYTES 16

/* Units that one store of 16 bytes can take along the last dimension of a plan that is no
 * TRANSPOSE, if every such store is aligned: 16 / unit_bytes, or 1. */
int slci_copy_group_units(const void *d_dst, const slci_copy_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
