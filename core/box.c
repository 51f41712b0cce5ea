#include "core/box.h"

#include <assert.h>

#include "core/checked.h"

slc_box slc_box_1d(int64_t origin, int64_t extent) {
    slc_box box = {.rank = 1};
    box.origin[0] = origin;
    box.extent[0] = extent;
    return box;
}

int64_t slc_box_count(const slc_box *box) {
    int64_t count = 1;
    for (int d = 0; d < box->rank; d++) {
        if (box->extent[d] == 0) {
            return 0;
        }
    }
    for (int d = 0; d < box->rank; d++) {
        if (!slc_checked_mul(count, box->extent[d], &count)) {
            return -1;
        }
    }
    return count;
}

bool slc_box_equal(const slc_box *a, const slc_box *b) {
    if (a->rank != b->rank) {
        return false;
    }
    for (int d = 0; d < a->rank; d++) {
        if (a->origin[d] != b->origin[d] || a->extent[d] != b->extent[d]) {
            return false;
        }
    }
    return true;
}

bool slc_box_contains(const slc_box *outer, const slc_box *inner) {
    assert(outer->rank == inner->rank);
    if (slc_box_count(inner) == 0) {
        return true;
    }
    for (int d = 0; d < outer->rank; d++) {
        if (inner->origin[d] < outer->origin[d] ||
            inner->origin[d] + inner->extent[d] > outer->origin[d] + outer->extent[d]) {
            return false;
        }
    }
    return true;
}

slc_box slc_box_intersect(const slc_box *a, const slc_box *b) {
    assert(a->rank == b->rank);
    slc_box both = {.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        const int64_t begin = slc_max_i64(a->origin[d], b->origin[d]);
        const int64_t end = slc_min_i64(a->origin[d] + a->extent[d], b->origin[d] + b->extent[d]);
        both.origin[d] = begin;
        both.extent[d] = slc_max_i64(end - begin, 0);
    }
    return both;
}
