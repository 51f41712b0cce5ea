/* Views of dense arrays, made at random, and the definition of a copy between them. */
#include "tests/support/test_layouts.h"

const slc_dtype test_every_size[TEST_N_SIZES] = {SLC_U8, SLC_I16, SLC_F32, SLC_C64, SLC_C128};

/* What the squares and tiles of the copies are multiples of, and neighbours of that. */
static const int64_t special[] = {1,  2,  3,  4,  5,  8,   16,  17,  31,
                                  32, 33, 63, 64, 65, 128, 129, 256, 260};

enum { MOST_ELEMENTS = 1 << 17 };

slc_layout test_dense(slc_dtype dtype, int rank, const int64_t *shape) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(dtype, rank, shape, &layout));
    return layout;
}

int64_t test_place_of(const slc_layout *layout, int64_t number) {
    int64_t place = layout->offset_bytes;
    for (int d = layout->rank - 1; d >= 0; d--) {
        place += number % layout->shape[d] * layout->stride_bytes[d];
        number /= layout->shape[d];
    }
    return place;
}

static void shuffle(uint64_t *random, int rank, int *order) {
    for (int d = 0; d < rank; d++) {
        const int other = (int)test_random_below(random, d + 1);
        order[d] = order[other];
        order[other] = d;
    }
}

/* A view of `shape` into a dense array that is a little larger. Half of the axes are not cut, so
 * that rows continue one another as well. */
static slc_layout random_view(uint64_t *random, slc_dtype dtype, int rank, const int64_t *shape,
                              int64_t *bytes) {
    int order[SLC_MAX_RANK] = {0};
    int64_t outer[SLC_MAX_RANK] = {0};
    slc_box box = {.rank = rank};
    shuffle(random, rank, order);
    const bool is_kept_in_order = test_random_below(random, 2) == 0;
    for (int d = 0; d < rank; d++) {
        order[d] = is_kept_in_order ? d : order[d];
        const bool is_cut = test_random_below(random, 4) == 0;
        box.origin[order[d]] = is_cut ? test_random_below(random, 3) : 0;
        box.extent[order[d]] = shape[d];
        outer[order[d]] =
            shape[d] + box.origin[order[d]] + (is_cut ? test_random_below(random, 3) : 0);
    }
    const slc_layout whole = test_dense(dtype, rank, outer);
    slc_layout view = slc_layout_slice(&whole, &box);
    view = slc_layout_permute(&view, order);
    for (int d = 0; d < rank; d++) {
        view = test_random_below(random, 5) == 0 ? slc_layout_reverse(&view, d) : view;
    }
    *bytes = slc_layout_bytes(&whole);
    return view;
}

test_pair test_random_pair(uint64_t *random, test_pair_kind kind) {
    const slc_dtype dtype = test_every_size[test_random_below(random, TEST_N_SIZES)];
    const int rank =
        (int)test_random_below(random, test_random_below(random, 2) == 0 ? 4 : SLC_MAX_RANK + 1);
    int64_t shape[SLC_MAX_RANK] = {0};
    int64_t left = MOST_ELEMENTS / 8; /* views are a little larger */
    for (int d = 0; d < rank; d++) {
        const int64_t wanted = rank > 4 ? 1 + test_random_below(random, 4)
                                        : special[test_random_below(random, TEST_COUNT(special))];
        shape[d] = wanted < left ? wanted : left;
        left /= shape[d];
    }
    test_pair pair;
    pair.dst = random_view(random, dtype, rank, shape, &pair.dst_bytes);
    pair.src = random_view(random, dtype, rank, shape, &pair.src_bytes);
    for (int d = 0; d < rank && kind == TEST_PAIR_BROADCAST; d++) {
        if (test_random_below(random, 3) == 0 && pair.src.stride_bytes[d] > 0) {
            pair.src.stride_bytes[d] = 0;
        }
    }
    return pair;
}

void test_expect_copied(const test_pair *pair, const void *dst, const void *src, uint8_t fill) {
    const int64_t element_bytes = slc_dtype_bytes(pair->dst.dtype);
    unsigned char *expected = test_allocate(pair->dst_bytes);
    memset(expected, fill, (size_t)pair->dst_bytes);
    for (int64_t i = 0; i < slc_layout_count(&pair->dst); i++) {
        memcpy(expected + test_place_of(&pair->dst, i),
               (const char *)src + test_place_of(&pair->src, i), (size_t)element_bytes);
    }
    assert_memory_equal(dst, expected, (size_t)pair->dst_bytes);
    free(expected);
}
