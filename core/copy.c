/* Every copy on the host, whatever the strides. The pair of layouts is first brought to its simplest
 * form (slc_layout_sort_pair); then the inner dimensions decide:
 *
 *     both dense at the end                 memcpy of whole rows, of everything if they are one row
 *     source dense at the end and the       transpose in blocks: each block is small enough that
 *     destination in another dimension      the rows written stay in the cache until they are full
 *     neither                               one element after the other
 *
 * and an odometer walks the dimensions outside them. */
#include "core/copy.h"

#include <string.h>

#include "core/checked.h"
#include "core/copy_plan.h"

/* Edge of a transposed block, in elements: 32 rows of 32 elements of up to 16 bytes read and
 * written are 32 KiB, which the first-level cache of current processors holds. */
#define BLOCK 32

/* Always expanded for a constant size, so that the copy is one load and one store; memcpy because
 * elements in files need not be aligned. */
__attribute__((always_inline)) static inline void copy_elements(char *dst, int64_t dst_stride,
                                                                const char *src, int64_t src_stride,
                                                                int64_t n, size_t element_bytes) {
    for (int64_t i = 0; i < n; i++) {
        memcpy(dst + i * dst_stride, src + i * src_stride, element_bytes);
    }
}

static void copy_row(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n,
                     int64_t element_bytes) {
    switch (element_bytes) {
    case 1:
        copy_elements(dst, dst_stride, src, src_stride, n, 1);
        break;
    case 2:
        copy_elements(dst, dst_stride, src, src_stride, n, 2);
        break;
    case 4:
        copy_elements(dst, dst_stride, src, src_stride, n, 4);
        break;
    case 8:
        copy_elements(dst, dst_stride, src, src_stride, n, 8);
        break;
    default:
        copy_elements(dst, dst_stride, src, src_stride, n, 16);
        break;
    }
}

/* A pair of layouts taken apart: `n_outer` dimensions for the odometer, then a matrix of [n_rows,
 * n_columns] with its strides. A row of elements is a matrix of one row. */
typedef struct plan {
    int n_outer;
    int64_t outer[SLC_MAX_RANK];
    int64_t outer_dst[SLC_MAX_RANK]; /* strides */
    int64_t outer_src[SLC_MAX_RANK];
    int64_t n_rows;
    int64_t n_columns;
    int64_t row_dst; /* strides from row to row, and from column to column */
    int64_t row_src;
    int64_t column_dst;
    int64_t column_src;
    int64_t element_bytes;
} plan;

static void copy_dense_row(const plan *p, char *dst, const char *src) {
    memcpy(dst, src, (size_t)(p->n_columns * p->element_bytes));
}

static void copy_strided_row(const plan *p, char *dst, const char *src) {
    copy_row(dst, p->column_dst, src, p->column_src, p->n_columns, p->element_bytes);
}

/* The source is dense along columns, the destination along rows. */
static void copy_transposed(const plan *p, char *dst, const char *src) {
    for (int64_t row = 0; row < p->n_rows; row += BLOCK) {
        const int64_t n_rows = slc_min_i64(BLOCK, p->n_rows - row);
        for (int64_t column = 0; column < p->n_columns; column += BLOCK) {
            const int64_t end = slc_min_i64(column + BLOCK, p->n_columns);
            for (int64_t c = column; c < end; c++) {
                copy_row(dst + row * p->row_dst + c * p->column_dst, p->row_dst,
                         src + row * p->row_src + c * p->column_src, p->row_src, n_rows,
                         p->element_bytes);
            }
        }
    }
}

/* Whether both run densely along their last dimension; a single element does. */
static bool is_dense_row(const slc_layout *dst, const slc_layout *src) {
    const int64_t element_bytes = slc_dtype_bytes(dst->dtype);
    const int last = src->rank - 1;
    return last < 0 ||
           (dst->stride_bytes[last] == element_bytes && src->stride_bytes[last] == element_bytes);
}

/* For a pair that is no dense row: the dimension along which the destination is dense, if the
 * source is dense along the last; else -1. */
static int find_transposed(const slc_layout *dst, const slc_layout *src) {
    const int64_t element_bytes = slc_dtype_bytes(dst->dtype);
    if (src->stride_bytes[src->rank - 1] != element_bytes) {
        return -1;
    }
    for (int d = src->rank - 2; d >= 0; d--) {
        if (dst->stride_bytes[d] == element_bytes) {
            return d;
        }
    }
    return -1;
}

/* Takes a sorted pair apart; `row` is the transposed dimension or -1. */
static plan make_plan(const slc_layout *dst, const slc_layout *src, int row) {
    plan p = {.n_rows = 1, .n_columns = 1, .element_bytes = slc_dtype_bytes(dst->dtype)};
    for (int d = 0; d < src->rank; d++) {
        if (d == src->rank - 1) {
            p.n_columns = src->shape[d];
            p.column_dst = dst->stride_bytes[d];
            p.column_src = src->stride_bytes[d];
        } else if (d == row) {
            p.n_rows = src->shape[d];
            p.row_dst = dst->stride_bytes[d];
            p.row_src = src->stride_bytes[d];
        } else {
            p.outer[p.n_outer] = src->shape[d];
            p.outer_dst[p.n_outer] = dst->stride_bytes[d];
            p.outer_src[p.n_outer] = src->stride_bytes[d];
            p.n_outer++;
        }
    }
    return p;
}

/* Calls `inner` at every place of the outer dimensions, the last one fastest. */
static void walk(const plan *p, char *dst, const char *src,
                 void (*inner)(const plan *p, char *dst, const char *src)) {
    int64_t index[SLC_MAX_RANK] = {0};
    for (;;) {
        inner(p, dst, src);
        int d = p->n_outer - 1;
        while (d >= 0 && ++index[d] == p->outer[d]) {
            dst -= (p->outer[d] - 1) * p->outer_dst[d];
            src -= (p->outer[d] - 1) * p->outer_src[d];
            index[d] = 0;
            d--;
        }
        if (d < 0) {
            return;
        }
        dst += p->outer_dst[d];
        src += p->outer_src[d];
    }
}

slc_status slci_copy_check_pair(const slc_layout *dst, const slc_layout *src) {
    if (dst->dtype != src->dtype) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "copy: from %s to %s; a copy does not convert",
                        slc_dtype_name(src->dtype), slc_dtype_name(dst->dtype));
    }
    if (dst->rank != src->rank || dst->rank < 0 || dst->rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "copy: from rank %d to rank %d; the ranks must be the same, 0 to %d",
                        src->rank, dst->rank, SLC_MAX_RANK);
    }
    for (int d = 0; d < dst->rank; d++) {
        if (dst->shape[d] != src->shape[d]) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "copy: dimension %d has %lld elements in the source and %lld in the "
                            "destination; the shapes must be the same",
                            d, (long long)src->shape[d], (long long)dst->shape[d]);
        }
        if (dst->stride_bytes[d] == 0 && dst->shape[d] > 1) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "copy: dimension %d of the destination has stride 0; only a source can "
                            "be broadcast",
                            d);
        }
    }
    return SLC_OK;
}

slc_status slc_copy_host(void *dst, const slc_layout *dst_layout, const void *src,
                         const slc_layout *src_layout) {
    SLC_TRY(slci_copy_check_pair(dst_layout, src_layout));
    if (slc_layout_count(dst_layout) == 0) {
        return SLC_OK;
    }
    slc_layout to = *dst_layout;
    slc_layout from = *src_layout;
    slc_layout_sort_pair(&to, &from);
    const bool is_dense = is_dense_row(&to, &from);
    const int row = is_dense ? -1 : find_transposed(&to, &from);
    const plan p = make_plan(&to, &from, row);
    char *first_dst = (char *)dst + to.offset_bytes;
    const char *first_src = (const char *)src + from.offset_bytes;
    if (is_dense) {
        walk(&p, first_dst, first_src, copy_dense_row);
    } else if (row >= 0) {
        walk(&p, first_dst, first_src, copy_transposed);
    } else {
        walk(&p, first_dst, first_src, copy_strided_row);
    }
    return SLC_OK;
}
