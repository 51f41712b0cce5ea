/* Each copy is checked element by element against the definition of a layout: element (i0, i1, …)
 * lies at offset + Σ i · stride. Bytes of the destination between the elements must not change. */
#include "tests/support/test_layouts.h"

#include "core/copy.h"
#include "core/pool.h"

enum { ARENA_BYTES = 1 << 18, UNTOUCHED = 0xa5 };

/* Memory with room before and after the base pointers, for negative strides. */
typedef struct memory {
    unsigned char src[ARENA_BYTES];
    unsigned char dst[ARENA_BYTES];
    unsigned char is_written[ARENA_BYTES];
} memory;

static void check_copy(memory *m, const slc_layout *dst, const slc_layout *src) {
    const int64_t middle = ARENA_BYTES / 2;
    const int64_t element_bytes = slc_dtype_bytes(src->dtype);
    memset(m->dst, UNTOUCHED, ARENA_BYTES);
    memset(m->is_written, 0, ARENA_BYTES);
    TEST_OK(slc_copy_host(m->dst + middle, dst, m->src + middle, src));
    for (int64_t i = 0; i < slc_layout_count(dst); i++) {
        const int64_t to = middle + test_place_of(dst, i);
        const int64_t from = middle + test_place_of(src, i);
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

static void whole_arrays_and_rows(void **state) {
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        const slc_layout large = test_dense(test_every_size[t], 3, (const int64_t[]){5, 9, 31});
        check_copy(*state, &large, &large);
        const slc_box box = {.rank = 3, .origin = {1, 2, 3}, .extent = {3, 5, 20}};
        const slc_layout part = slc_layout_slice(&large, &box);
        const slc_layout packed = test_dense(test_every_size[t], 3, box.extent);
        check_copy(*state, &packed, &part);
        check_copy(*state, &part, &packed);
        check_copy(*state, &part, &part);
        const slc_layout scalar = test_dense(test_every_size[t], 0, NULL);
        check_copy(*state, &scalar, &scalar);
    }
}

static void every_permutation(void **state) {
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        for (int o = 0; o < 6; o++) {
            const slc_layout from = test_dense(test_every_size[t], 3, (const int64_t[]){3, 35, 37});
            const slc_layout turned = slc_layout_permute(&from, orders[o]);
            const slc_layout to = test_dense(test_every_size[t], 3, turned.shape);
            check_copy(*state, &to, &turned);
            check_copy(*state, &turned, &to);
        }
    }
}

static void transposes_past_a_block(void **state) {
    const int64_t edges[] = {1, 31, 32, 33, 65};
    for (int64_t y = 0; y < TEST_COUNT(edges); y++) {
        for (int64_t x = 0; x < TEST_COUNT(edges); x++) {
            const slc_layout from = test_dense(SLC_C64, 2, (const int64_t[]){edges[y], edges[x]});
            const slc_layout turned = slc_layout_permute(&from, (const int[]){1, 0});
            const slc_layout to = test_dense(SLC_C64, 2, turned.shape);
            check_copy(*state, &to, &turned);
        }
    }
}

static void sources_may_be_broadcast(void **state) {
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        const slc_layout to = test_dense(test_every_size[t], 3, (const int64_t[]){4, 6, 7});
        for (int d = 0; d < 3; d++) {
            slc_layout from = to;
            from.stride_bytes[d] = 0;
            check_copy(*state, &to, &from);
        }
        const slc_layout constant = {.dtype = test_every_size[t],
                                     .rank = 3,
                                     .shape = {4, 6, 7},
                                     .offset_bytes = 48};
        check_copy(*state, &to, &constant);
    }
}

/* Any rank, element size, order, sign and stride of 0; by one thread and by several. */
/* On a pool, as a part of something larger than the caches, or alone. */
static slc_status copy_some_way(int64_t way, slc_pool *pool, char *dst, const char *src,
                                const test_pair *pair) {
    switch (way % 3) {
    case 0:
        return slc_copy_host_parallel(pool, dst, &pair->dst, src, &pair->src);
    case 1:
        return slc_copy_host_part(dst, &pair->dst, src, &pair->src, INT64_C(1) << 40);
    default:
        return slc_copy_host(dst, &pair->dst, src, &pair->src);
    }
}

static void random_pairs(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    uint64_t random = 6;
    for (int64_t i = 0; i < 900; i++) {
        const test_pair pair =
            test_random_pair(&random, i % 2 == 0 ? TEST_PAIR_BROADCAST : TEST_PAIR_VIEWS);
        char *src = test_allocate(pair.src_bytes);
        char *dst = test_allocate(pair.dst_bytes);
        test_fill(src, pair.src_bytes, (uint64_t)i);
        memset(dst, UNTOUCHED, (size_t)pair.dst_bytes);
        TEST_OK(copy_some_way(i, pool, dst, src, &pair));
        test_expect_copied(&pair, dst, src, UNTOUCHED);
        free(src);
        free(dst);
    }
    slc_pool_destroy(pool);
}

/* Enough bytes to be cut into pieces and to go past the caches. Elements are their own number in
 * the source. */
static void check_large(slc_pool *pool, const slc_layout *whole, const slc_layout *view) {
    const int64_t n = slc_layout_count(whole);
    uint32_t *src = test_allocate(slc_layout_bytes(whole));
    uint32_t *dst = test_allocate(slc_layout_bytes(view));
    for (int64_t i = 0; i < n; i++) {
        src[i] = (uint32_t)i;
    }
    const slc_layout packed = test_dense(SLC_U32, view->rank, view->shape);
    TEST_OK(slc_copy_host_parallel(pool, dst, &packed, src, view));
    for (int64_t i = 0; i < slc_layout_count(view); i++) {
        if (dst[i] != test_place_of(view, i) / 4) {
            fail_msg("element %lld is %u", (long long)i, dst[i]);
        }
    }
    free(src);
    free(dst);
}

static void large_copies_on_a_pool(void **state) {
    (void)state;
    enum { LONG = 4101, SHORT = 5, MANY = 9000000 / SHORT * SHORT / 4 };
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    const slc_layout table = test_dense(SLC_U32, 2, (const int64_t[]){2101, LONG});
    const slc_layout turned = slc_layout_permute(&table, (const int[]){1, 0});
    check_large(pool, &table, &turned);
    const slc_layout reversed = slc_layout_reverse(&table, 1);
    check_large(pool, &table, &reversed);
    const slc_layout list = test_dense(SLC_U32, 2, (const int64_t[]){MANY, SHORT});
    const slc_box box = {.rank = 2, .origin = {0, 1}, .extent = {MANY, SHORT - 1}};
    const slc_layout part = slc_layout_slice(&list, &box);
    check_large(pool, &list, &part);
    check_large(pool, &table, &table);
    slc_pool_destroy(pool);
}

/* In every order, forwards or backwards: what is long enough to be cut along one dimension, and what is
 * cut along several (5 x 900 x 950, turned); pieces at the edges are odd. */
static void odd_shapes_on_a_pool(void **state) {
    (void)state;
    const int64_t shapes[][3] = {{1000, 1001, 1}, {7, 7, 20431},  {63, 129, 127}, {3, 500, 667},
                                 {5, 900, 950},   {2, 3, 350003}, {1, 1, 1100003}};
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(4, &pool));
    for (int64_t s = 0; s < TEST_COUNT(shapes); s++) {
        const slc_layout whole = test_dense(SLC_U32, 3, shapes[s]);
        for (int o = 0; o < 6; o++) {
            const slc_layout turned = slc_layout_permute(&whole, orders[o]);
            const slc_layout view = slc_layout_reverse(&turned, (int)(s + o) % 3);
            check_large(pool, &whole, o % 2 == 0 ? &turned : &view);
        }
    }
    slc_pool_destroy(pool);
}

static void elements_need_no_alignment(void **state) {
    slc_layout from = test_dense(SLC_C128, 2, (const int64_t[]){5, 6});
    from.offset_bytes = 3;
    from.stride_bytes[0] = 6 * 16 + 1;
    slc_layout to = test_dense(SLC_C128, 2, (const int64_t[]){5, 6});
    to.offset_bytes = 1;
    to.stride_bytes[1] = 17;
    to.stride_bytes[0] = 6 * 17;
    check_copy(*state, &to, &from);
}

static void empty_copies_touch_nothing(void **state) {
    (void)state;
    const slc_layout empty = test_dense(SLC_F32, 2, (const int64_t[]){0, 7});
    TEST_OK(slc_copy_host(NULL, &empty, NULL, &empty));
}

static void pairs_that_do_not_match_are_refused(void **state) {
    memory *m = *state;
    const slc_layout a = test_dense(SLC_F32, 2, (const int64_t[]){4, 6});
    const slc_layout wide = test_dense(SLC_F32, 2, (const int64_t[]){4, 7});
    const slc_layout flat = test_dense(SLC_F32, 1, (const int64_t[]){24});
    const slc_layout doubles = test_dense(SLC_F64, 2, (const int64_t[]){4, 6});
    slc_layout broadcast = a;
    broadcast.stride_bytes[0] = 0;
    TEST_FAILS(slc_copy_host(m->dst, &a, m->src, &wide), SLC_ERROR_ARGUMENT, "dimension 1");
    TEST_FAILS(slc_copy_host(m->dst, &a, m->src, &flat), SLC_ERROR_ARGUMENT, "rank");
    TEST_FAILS(slc_copy_host(m->dst, &a, m->src, &doubles), SLC_ERROR_ARGUMENT, "f8");
    TEST_FAILS(slc_copy_host(m->dst, &broadcast, m->src, &a), SLC_ERROR_ARGUMENT, "stride 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_arrays_and_rows),
        cmocka_unit_test(every_permutation),
        cmocka_unit_test(transposes_past_a_block),
        cmocka_unit_test(sources_may_be_broadcast),
        cmocka_unit_test(random_pairs),
        cmocka_unit_test(large_copies_on_a_pool),
        cmocka_unit_test(odd_shapes_on_a_pool),
        cmocka_unit_test(elements_need_no_alignment),
        cmocka_unit_test(empty_copies_touch_nothing),
        cmocka_unit_test(pairs_that_do_not_match_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
