/* Layout arithmetic. A copy between two arrays is described by a pair of layouts of one shape, and
 * everything here that takes a pair keeps one promise: walking both with the same index still meets
 * the same pairs of elements. That is why dimensions are only ever reversed, reordered or merged in
 * both at once. */
#include "core/layout.h"

#include <assert.h>

#include "core/checked.h"

slc_status slc_layout_dense(slc_dtype dtype, int rank, const int64_t *shape, slc_layout *out) {
    const int64_t element_bytes = slc_dtype_bytes(dtype);
    if (element_bytes == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "layout: %d is no dtype", (int)dtype);
    }
    if (rank < 0 || rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "layout: rank %d, expected 0 to %d", rank,
                        SLC_MAX_RANK);
    }
    slc_layout dense = {.dtype = dtype, .rank = rank};
    int64_t step_bytes = element_bytes;
    for (int d = rank - 1; d >= 0; d--) {
        if (shape[d] < 0) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "layout: extent %lld in dimension %d is negative",
                            (long long)shape[d], d);
        }
        dense.shape[d] = shape[d];
        dense.stride_bytes[d] = step_bytes;
        /* An extent of 0 leaves the strides as they were, so that they stay usable. */
        if (!slc_checked_mul(step_bytes, slc_max_i64(shape[d], 1), &step_bytes)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "layout: extent %lld in dimension %d makes the size pass 2^63 bytes",
                            (long long)shape[d], d);
        }
    }
    *out = dense;
    return SLC_OK;
}

int64_t slc_layout_count(const slc_layout *layout) {
    int64_t count = 1;
    for (int d = 0; d < layout->rank; d++) {
        if (layout->shape[d] == 0) {
            return 0;
        }
        count *= layout->shape[d];
    }
    return count;
}

int64_t slc_layout_bytes(const slc_layout *layout) {
    return slc_layout_count(layout) * slc_dtype_bytes(layout->dtype);
}

slc_layout slc_layout_slice(const slc_layout *layout, const slc_box *box) {
    assert(box->rank == layout->rank);
    /* An empty box may lie anywhere; moving the offset for it would point outside the array. */
    const bool is_empty = slc_box_count(box) == 0;
    slc_layout slice = *layout;
    for (int d = 0; d < layout->rank; d++) {
        slice.shape[d] = box->extent[d];
        if (!is_empty) {
            assert(box->origin[d] >= 0 && box->origin[d] + box->extent[d] <= layout->shape[d]);
            slice.offset_bytes += box->origin[d] * layout->stride_bytes[d];
        }
    }
    return slice;
}

slc_layout slc_layout_permute(const slc_layout *layout, const int *order) {
    slc_layout permuted = *layout;
    unsigned seen = 0;
    for (int d = 0; d < layout->rank; d++) {
        assert(order[d] >= 0 && order[d] < layout->rank);
        seen |= 1u << order[d];
        permuted.shape[d] = layout->shape[order[d]];
        permuted.stride_bytes[d] = layout->stride_bytes[order[d]];
    }
    assert(seen == (1u << layout->rank) - 1u);
    (void)seen;
    return permuted;
}

slc_layout slc_layout_reverse(const slc_layout *layout, int d) {
    assert(d >= 0 && d < layout->rank);
    slc_layout reversed = *layout;
    if (layout->shape[d] > 0) {
        reversed.offset_bytes += (layout->shape[d] - 1) * layout->stride_bytes[d];
    }
    reversed.stride_bytes[d] = -layout->stride_bytes[d];
    return reversed;
}

/* Whether dimension d + 1 of `layout` continues dimension d without a gap. */
static bool continues(const slc_layout *layout, int d) {
    return layout->stride_bytes[d] == layout->stride_bytes[d + 1] * layout->shape[d + 1];
}

static void remove_dimension(slc_layout *layout, int d) {
    for (int e = d; e + 1 < layout->rank; e++) {
        layout->shape[e] = layout->shape[e + 1];
        layout->stride_bytes[e] = layout->stride_bytes[e + 1];
    }
    layout->rank--;
}

static void merge_with_next(slc_layout *layout, int d) {
    layout->shape[d + 1] *= layout->shape[d];
    remove_dimension(layout, d);
}

/* An empty array has no elements whose places could matter: one dimension of extent 0. */
static void make_empty(slc_layout *layout) {
    layout->rank = 1;
    layout->shape[0] = 0;
    layout->stride_bytes[0] = slc_dtype_bytes(layout->dtype);
}

/* Merges what can be merged in both layouts, which have one shape. */
static void coalesce_pair(slc_layout *a, slc_layout *b) {
    if (slc_layout_count(a) == 0) {
        make_empty(a);
        make_empty(b);
        return;
    }
    for (int d = a->rank - 1; d >= 0; d--) {
        if (a->shape[d] == 1) {
            remove_dimension(a, d);
            remove_dimension(b, d);
        }
    }
    for (int d = a->rank - 2; d >= 0; d--) {
        if (continues(a, d) && continues(b, d)) {
            merge_with_next(a, d);
            merge_with_next(b, d);
        }
    }
}

slc_layout slc_layout_coalesce(const slc_layout *layout) {
    slc_layout merged = *layout;
    slc_layout twin = *layout;
    coalesce_pair(&merged, &twin);
    return merged;
}

bool slc_layout_is_contiguous(const slc_layout *layout) {
    const slc_layout merged = slc_layout_coalesce(layout);
    return merged.rank == 0 ||
           (merged.rank == 1 && merged.stride_bytes[0] == slc_dtype_bytes(merged.dtype));
}

/* Whether `fast` and `slow`, two dimensions of `layout`, are those of a matrix whose rows run along
 * `fast`; rows may lie apart, as those of a tile of a larger matrix do. */
static bool is_matrix(const slc_layout *layout, int slow, int fast) {
    const int64_t element_bytes = slc_dtype_bytes(layout->dtype);
    return layout->stride_bytes[fast] == element_bytes &&
           layout->stride_bytes[slow] >= element_bytes * layout->shape[fast];
}

/* Whether there is no gap between the rows of such a matrix either. */
static bool is_dense_matrix(const slc_layout *layout, int slow, int fast) {
    return is_matrix(layout, slow, fast) &&
           layout->stride_bytes[slow] == layout->stride_bytes[fast] * layout->shape[fast];
}

/* Whether the last two dimensions are a matrix in `straight` and its transpose in `exchanged`, at
 * least one of them without gaps. */
static bool is_exchanged(const slc_layout *exchanged, const slc_layout *straight) {
    const int last = straight->rank - 1;
    return is_matrix(straight, last - 1, last) && is_matrix(exchanged, last, last - 1) &&
           (is_dense_matrix(straight, last - 1, last) ||
            is_dense_matrix(exchanged, last, last - 1));
}

static bool has_same_shape(const slc_layout *a, const slc_layout *b) {
    if (a->rank != b->rank) {
        return false;
    }
    for (int d = 0; d < a->rank; d++) {
        if (a->shape[d] != b->shape[d]) {
            return false;
        }
    }
    return true;
}

bool slc_layout_is_transpose(const slc_layout *dst, const slc_layout *src) {
    if (dst->dtype != src->dtype || !has_same_shape(dst, src)) {
        return false;
    }
    slc_layout d = *dst;
    slc_layout s = *src;
    coalesce_pair(&d, &s);
    return d.rank >= 2 && (is_exchanged(&d, &s) || is_exchanged(&s, &d));
}

/* Whether dimension `a` of the pair belongs outside dimension `b`: by the source's stride, by the
 * destination's between equals. A dimension that the source broadcasts touches no new source
 * memory, so there the destination's stride decides. */
static bool is_slower(const slc_layout *dst, const slc_layout *src, int a, int b) {
    const int64_t dst_a = slc_abs_i64(dst->stride_bytes[a]);
    const int64_t dst_b = slc_abs_i64(dst->stride_bytes[b]);
    const int64_t key_a = src->stride_bytes[a] == 0 ? dst_a : slc_abs_i64(src->stride_bytes[a]);
    const int64_t key_b = src->stride_bytes[b] == 0 ? dst_b : slc_abs_i64(src->stride_bytes[b]);
    return key_a != key_b ? key_a > key_b : dst_a > dst_b;
}

void slc_layout_sort_pair(slc_layout *dst, slc_layout *src) {
    assert(has_same_shape(dst, src));
    int order[SLC_MAX_RANK] = {0};
    for (int d = 0; d < src->rank; d++) {
        /* The source walks forwards, and a dimension that both walk backwards can be merged. */
        if (src->stride_bytes[d] < 0 || (src->stride_bytes[d] == 0 && dst->stride_bytes[d] < 0)) {
            *src = slc_layout_reverse(src, d);
            *dst = slc_layout_reverse(dst, d);
        }
        int place = d;
        while (place > 0 && is_slower(dst, src, d, order[place - 1])) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = d;
    }
    *dst = slc_layout_permute(dst, order);
    *src = slc_layout_permute(src, order);
    coalesce_pair(dst, src);
}
