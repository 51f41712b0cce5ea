/* Each copy is checked element by element against the definition of a layout: element (i0, i1, …)
 * lies at offset + Σ i · stride. Bytes of the destination between the elements must not change. */
#include "tests/support/test_support.h"

#include "core/copy.h"

enum { ARENA_BYTES = 1 << 18, UNTOUCHED = 0xa5 };

/* Memory with room before and after the base pointers, for negative strides. */
typedef struct memory {
    unsigned char src[ARENA_BYTES];
    unsigned char dst[ARENA_BYTES];
    unsigned char is_written[ARENA_BYTES];
} memory;

static const slc_dtype every_size[] = {SLC_U8, SLC_I16, SLC_F32, SLC_C64, SLC_C128};

/* Where element `number` (counted in C order) of `layout` lies. */
static int64_t place_of(const slc_layout *layout, int64_t number) {
    int64_t place = layout->offset_bytes;
    for (int d = layout->rank - 1; d >= 0; d--) {
        place += number % layout->shape[d] * layout->stride_bytes[d];
        number /= layout->shape[d];
    }
    return place;
}

static void check_copy(memory *m, const slc_layout *dst, const slc_layout *src) {
    const int64_t middle = ARENA_BYTES / 2;
    const int64_t element_bytes = slc_dtype_bytes(src->dtype);
    memset(m->dst, UNTOUCHED, ARENA_BYTES);
    memset(m->is_written, 0, ARENA_BYTES);
    TEST_OK(slc_copy_host(m->dst + middle, dst, m->src + middle, src));
    for (int64_t i = 0; i < slc_layout_count(dst); i++) {
        const int64_t to = middle + place_of(dst, i);
        const int64_t from = middle + place_of(src, i);
        assert_memory_equal(m->dst + to, m->src + from, (size_t)element_bytes);
        memset(m->is_written + to, 1, (size_t)element_bytes);
    }
    for (int64_t b = 0; b < ARENA_BYTES; b++) {
        assert_true(m->is_written[b] || m->dst[b] == UNTOUCHED);
    }
}

static int set_up(void **state) {
    memory *m = malloc(sizeof *m);
    if (m == NULL) {
        return -1;
    }
    test_fill(m->src, ARENA_BYTES, 5);
    *state = m;
    return 0;
}

static int tear_down(void **state) {
    free(*state);
    return 0;
}

static slc_layout dense(slc_dtype dtype, int rank, const int64_t *shape) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(dtype, rank, shape, &layout));
    return layout;
}

static void whole_arrays_and_rows(void **state) {
    for (int64_t t = 0; t < TEST_COUNT(every_size); t++) {
        const slc_layout large = dense(every_size[t], 3, (const int64_t[]){5, 9, 31});
        check_copy(*state, &large, &large);
        const slc_box box = {.rank = 3, .origin = {1, 2, 3}, .extent = {3, 5, 20}};
        const slc_layout part = slc_layout_slice(&large, &box);
        const slc_layout packed = dense(every_size[t], 3, box.extent);
        check_copy(*state, &packed, &part);
        check_copy(*state, &part, &packed);
        check_copy(*state, &part, &part);
        const slc_layout scalar = dense(every_size[t], 0, NULL);
        check_copy(*state, &scalar, &scalar);
    }
}

static void every_permutation(void **state) {
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int64_t t = 0; t < TEST_COUNT(every_size); t++) {
        for (int o = 0; o < 6; o++) {
            const slc_layout from = dense(every_size[t], 3, (const int64_t[]){3, 35, 37});
            const slc_layout turned = slc_layout_permute(&from, orders[o]);
            const slc_layout to = dense(every_size[t], 3, turned.shape);
            check_copy(*state, &to, &turned);
            check_copy(*state, &turned, &to);
        }
    }
}

static void transposes_past_a_block(void **state) {
    const int64_t edges[] = {1, 31, 32, 33, 65};
    for (int64_t y = 0; y < TEST_COUNT(edges); y++) {
        for (int64_t x = 0; x < TEST_COUNT(edges); x++) {
            const slc_layout from = dense(SLC_C64, 2, (const int64_t[]){edges[y], edges[x]});
            const slc_layout turned = slc_layout_permute(&from, (const int[]){1, 0});
            const slc_layout to = dense(SLC_C64, 2, turned.shape);
            check_copy(*state, &to, &turned);
        }
    }
}

static void sources_may_be_broadcast(void **state) {
    for (int64_t t = 0; t < TEST_COUNT(every_size); t++) {
        const slc_layout to = dense(every_size[t], 3, (const int64_t[]){4, 6, 7});
        for (int d = 0; d < 3; d++) {
            slc_layout from = to;
            from.stride_bytes[d] = 0;
            check_copy(*state, &to, &from);
        }
        const slc_layout constant = {.dtype = every_size[t],
                                     .rank = 3,
                                     .shape = {4, 6, 7},
                                     .offset_bytes = 48};
        check_copy(*state, &to, &constant);
    }
}

/* A dense array of random shape, randomly cut, turned and walked backwards. */
static slc_layout random_layout(uint64_t *random, slc_dtype dtype, int rank, const int64_t *shape) {
    int order[SLC_MAX_RANK] = {0};
    int64_t outer[SLC_MAX_RANK] = {0};
    slc_box box = {.rank = rank};
    for (int d = 0; d < rank; d++) {
        order[d] = d;
    }
    for (int d = rank - 1; d > 0; d--) {
        const int64_t e = test_random_below(random, d + 1);
        const int other = order[e];
        order[e] = order[d];
        order[d] = other;
    }
    for (int d = 0; d < rank; d++) {
        box.origin[order[d]] = test_random_below(random, 2);
        box.extent[order[d]] = shape[d];
        outer[order[d]] = shape[d] + box.origin[order[d]] + test_random_below(random, 2);
    }
    const slc_layout whole = dense(dtype, rank, outer);
    const slc_layout part = slc_layout_slice(&whole, &box);
    slc_layout layout = slc_layout_permute(&part, order);
    for (int d = 0; d < rank; d++) {
        if (test_random_below(random, 3) == 0) {
            layout = slc_layout_reverse(&layout, d);
        }
    }
    return layout;
}

static void random_strides_of_both_signs(void **state) {
    uint64_t random = 6;
    for (int i = 0; i < 400; i++) {
        const slc_dtype dtype = every_size[i % TEST_COUNT(every_size)];
        const int rank = (int)test_random_below(&random, 6);
        int64_t shape[SLC_MAX_RANK] = {0};
        for (int d = 0; d < rank; d++) {
            shape[d] = 1 + test_random_below(&random, 4);
        }
        const slc_layout from = random_layout(&random, dtype, rank, shape);
        const slc_layout to = random_layout(&random, dtype, rank, shape);
        check_copy(*state, &to, &from);
    }
}

static void elements_need_no_alignment(void **state) {
    slc_layout from = dense(SLC_C128, 2, (const int64_t[]){5, 6});
    from.offset_bytes = 3;
    from.stride_bytes[0] = 6 * 16 + 1;
    slc_layout to = dense(SLC_C128, 2, (const int64_t[]){5, 6});
    to.offset_bytes = 1;
    to.stride_bytes[1] = 17;
    to.stride_bytes[0] = 6 * 17;
    check_copy(*state, &to, &from);
}

static void empty_copies_touch_nothing(void **state) {
    (void)state;
    const slc_layout empty = dense(SLC_F32, 2, (const int64_t[]){0, 7});
    TEST_OK(slc_copy_host(NULL, &empty, NULL, &empty));
}

static void pairs_that_do_not_match_are_refused(void **state) {
    memory *m = *state;
    const slc_layout a = dense(SLC_F32, 2, (const int64_t[]){4, 6});
    const slc_layout wide = dense(SLC_F32, 2, (const int64_t[]){4, 7});
    const slc_layout flat = dense(SLC_F32, 1, (const int64_t[]){24});
    const slc_layout doubles = dense(SLC_F64, 2, (const int64_t[]){4, 6});
    slc_layout broadcast = a;
    broadcast.stride_bytes[0] = 0;
    TEST_FAILS(slc_copy_host(m->dst, &a, m->src, &wide), SLC_ERROR_ARGUMENT, "dimension 1");
    TEST_FAILS(slc_copy_host(m->dst, &a, m->src, &flat), SLC_ERROR_ARGUMENT, "rank");
    TEST_FAILS(slc_copy_host(m->dst, &a, m->src, &doubles), SLC_ERROR_ARGUMENT, "f64");
    TEST_FAILS(slc_copy_host(m->dst, &broadcast, m->src, &a), SLC_ERROR_ARGUMENT, "stride 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_arrays_and_rows),
        cmocka_unit_test(every_permutation),
        cmocka_unit_test(transposes_past_a_block),
        cmocka_unit_test(sources_may_be_broadcast),
        cmocka_unit_test(random_strides_of_both_signs),
        cmocka_unit_test(elements_need_no_alignment),
        cmocka_unit_test(empty_copies_touch_nothing),
        cmocka_unit_test(pairs_that_do_not_match_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
