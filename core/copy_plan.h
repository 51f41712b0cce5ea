/* What every copy refuses, and how a strided one on a device is done: which of four ways, and with
 * what loops. Pure functions of layouts and addresses, so they are tested without a card. Internal
 * to core; core/device_cuda.c and core/copy_cuda.cu follow the plan. */
#ifndef SLC_CORE_COPY_PLAN_H
#define SLC_CORE_COPY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SLC_ERROR_ARGUMENT where two layouts are no pair for a copy: another dtype, rank or shape, or a
 * destination that would be broadcast. For copies on the host (core/copy.c) and on streams alike. */
SLC_MUST_USE slc_status slci_copy_check_pair(const slc_layout *dst, const slc_layout *src);

typedef enum slci_copy_way {
    SLCI_COPY_CONTIGUOUS, /* one run: n_bytes */
    SLCI_COPY_PITCHED,    /* rows of shape[1] · unit_bytes, both with positive pitches; a GENERAL
                           * one too */
    SLCI_COPY_TRANSPOSE,  /* source closest together in the last dimension, destination in the one
                           * before, where it runs forwards */
    SLCI_COPY_GENERAL     /* anything else; the last dimension is the best one for neighbours, and
                           * the destination runs forwards in it */
} slci_copy_way;

/* One more than a layout has: an element too badly aligned for one access is split. */
#define SLCI_COPY_MAX_RANK (SLC_MAX_RANK + 1)

/* Unit (i0, i1, …) goes from src_offset + Σ i_d · src_stride[d] to dst_offset + Σ i_d ·
 * dst_stride[d], both in bytes from the base pointers. The last dimension is the fastest. */
typedef struct slci_copy_plan {
    slci_copy_way way;
    int rank;         /* >= 1 */
    int unit_bytes;   /* of one access: 1, 2, 4, 8 or 16; every address of a kernel is a multiple
                     * of it. For one run it is the element's size */
    bool is_unsorted; /* by slci_copy_plan_init_unsorted: one unit after the other */
    int64_t n_bytes;
    int64_t dst_offset;
    int64_t src_offset;
    int64_t shape[SLCI_COPY_MAX_RANK];
    int64_t dst_stride[SLCI_COPY_MAX_RANK];
    int64_t src_stride[SLCI_COPY_MAX_RANK];
} slci_copy_plan;

/* Layouts of one shape and dtype with at least one element; the addresses only for their alignment. */
void slci_copy_plan_init(const void *dst, const slc_layout *dst_layout, const void *src,
                         const slc_layout *src_layout, slci_copy_plan *out);

/* The same for the host, whose accesses need no alignment: a unit is always one element. */
void slci_copy_plan_init_host(const slc_layout *dst_layout, const slc_layout *src_layout,
                              slci_copy_plan *out);

/* The same copy without any art: the dimensions as the caller has them, always GENERAL. For the
 * benchmark, which shows what the art is worth. Every address must be a multiple of the element's
 * size. */
void slci_copy_plan_init_unsorted(const slc_layout *dst_layout, const slc_layout *src_layout,
                                  slci_copy_plan *out);

#ifdef __cplusplus
}
#endif
#endif
