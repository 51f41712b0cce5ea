/* The plan is carried out here by one plain loop over its units, and the result compared with what
 * the two layouts say element by element. So the kernels need only follow the plan. */
#include "tests/support/test_layouts.h"

#include "core/copy_plan.h"

enum { BUFFER_BYTES = 1 << 16 };

static _Alignas(64) unsigned char source[BUFFER_BYTES];
static _Alignas(64) unsigned char planned[BUFFER_BYTES];
static _Alignas(64) unsigned char expected[BUFFER_BYTES];

static void carry_out(const slci_copy_plan *plan, unsigned char *dst, const unsigned char *src) {
    int64_t n_units = 1;
    for (int d = 0; d < plan->rank; d++) {
        n_units *= plan->shape[d];
    }
    assert_int_equal(n_units * plan->unit_bytes, plan->n_bytes);
    for (int64_t unit = 0; unit < n_units; unit++) {
        int64_t left = unit;
        int64_t dst_offset = plan->dst_offset;
        int64_t src_offset = plan->src_offset;
        for (int d = plan->rank - 1; d >= 0; d--) {
            dst_offset += left % plan->shape[d] * plan->dst_stride[d];
            src_offset += left % plan->shape[d] * plan->src_stride[d];
            left /= plan->shape[d];
        }
        if (plan->way == SLCI_COPY_GENERAL || plan->way == SLCI_COPY_TRANSPOSE) {
            assert_int_equal((uintptr_t)(dst + dst_offset) % (uintptr_t)plan->unit_bytes, 0);
            assert_int_equal((uintptr_t)(src + src_offset) % (uintptr_t)plan->unit_bytes, 0);
        }
        memcpy(dst + dst_offset, src + src_offset, (size_t)plan->unit_bytes);
    }
}

/* Plans, carries out and compares whole buffers, so that stray writes show too. */
static slci_copy_plan expect_same_copy(const slc_layout *dst, const slc_layout *src,
                                       int64_t dst_shift, int64_t src_shift) {
    test_fill(source, BUFFER_BYTES, 1);
    memset(planned, 0xEE, BUFFER_BYTES);
    memset(expected, 0xEE, BUFFER_BYTES);
    slci_copy_plan plan;
    slci_copy_plan_init(planned + dst_shift, dst, source + src_shift, src, &plan);
    carry_out(&plan, planned + dst_shift, source + src_shift);
    for (int64_t i = 0; i < slc_layout_count(dst); i++) {
        memcpy(expected + dst_shift + test_place_of(dst, i),
               source + src_shift + test_place_of(src, i), (size_t)slc_dtype_bytes(dst->dtype));
    }
    assert_memory_equal(planned, expected, BUFFER_BYTES);
    return plan;
}

static void dense_pairs_are_one_run(void **state) {
    (void)state;
    const slc_layout layout = test_dense(SLC_F32, 3, (const int64_t[]){5, 7, 11});
    const slci_copy_plan plan = expect_same_copy(&layout, &layout, 4, 12);
    assert_int_equal(plan.way, SLCI_COPY_CONTIGUOUS);
    assert_int_equal(plan.n_bytes, 5 * 7 * 11 * 4);
    const slc_layout one = test_dense(SLC_C128, 0, NULL);
    assert_int_equal(expect_same_copy(&one, &one, 0, 8).way, SLCI_COPY_CONTIGUOUS);
}

static void columns_of_a_table_are_pitched(void **state) {
    (void)state;
    const slc_layout table = test_dense(SLC_F32, 2, (const int64_t[]){20, 30});
    const slc_box box = {.rank = 2, .origin = {3, 5}, .extent = {10, 8}};
    const slc_layout part = slc_layout_slice(&table, &box);
    const slc_layout whole = test_dense(SLC_F32, 2, (const int64_t[]){10, 8});
    const slci_copy_plan plan = expect_same_copy(&whole, &part, 0, 0);
    assert_int_equal(plan.way, SLCI_COPY_PITCHED);
    assert_int_equal(plan.src_stride[0], 30 * 4);
}

static void transposes_go_through_squares(void **state) {
    (void)state;
    const slc_dtype dtypes[] = {SLC_U8, SLC_F16, SLC_F32, SLC_C64, SLC_FIXED128};
    for (int64_t t = 0; t < TEST_COUNT(dtypes); t++) {
        const slc_layout src = test_dense(dtypes[t], 3, (const int64_t[]){2, 33, 41});
        const slc_layout turned = test_dense(dtypes[t], 3, (const int64_t[]){2, 41, 33});
        const slc_layout dst = slc_layout_permute(&turned, (const int[]){0, 2, 1});
        const slci_copy_plan plan = expect_same_copy(&dst, &src, 0, 0);
        assert_int_equal(plan.way, SLCI_COPY_TRANSPOSE);
        assert_int_equal(plan.unit_bytes, slc_dtype_bytes(dtypes[t]));
        assert_int_equal(plan.src_stride[plan.rank - 1], plan.unit_bytes);
        assert_int_equal(plan.dst_stride[plan.rank - 2], plan.unit_bytes);
    }
}

static void narrow_transposes_are_general(void **state) {
    (void)state;
    const slc_layout src = test_dense(SLC_F64, 2, (const int64_t[]){100, 3});
    const slc_layout turned = test_dense(SLC_F64, 2, (const int64_t[]){3, 100});
    const slc_layout dst = slc_layout_permute(&turned, (const int[]){1, 0});
    assert_int_equal(expect_same_copy(&dst, &src, 0, 0).way, SLCI_COPY_GENERAL);
}

static void units_follow_alignment(void **state) {
    (void)state;
    /* Rows of 32 bytes, 64 apart, in two planes: wide accesses along the rows. */
    const slc_layout table = test_dense(SLC_F32, 3, (const int64_t[]){2, 20, 16});
    const slc_box box = {.rank = 3, .extent = {2, 10, 8}};
    const slc_layout part = slc_layout_slice(&table, &box);
    const slc_layout whole = test_dense(SLC_F32, 3, (const int64_t[]){2, 10, 8});
    slci_copy_plan plan = expect_same_copy(&whole, &part, 0, 0);
    assert_int_equal(plan.way, SLCI_COPY_GENERAL);
    assert_int_equal(plan.unit_bytes, 16);
    plan = expect_same_copy(&whole, &part, 0, 8);
    assert_int_equal(plan.unit_bytes, 8);
    plan = expect_same_copy(&whole, &part, 4, 0);
    assert_int_equal(plan.unit_bytes, 4);

    /* Elements of 16 bytes on addresses of 8 are split. */
    const slc_layout src = test_dense(SLC_C128, 2, (const int64_t[]){20, 20});
    const slc_layout dst = slc_layout_permute(&src, (const int[]){1, 0});
    plan = expect_same_copy(&dst, &src, 0, 8);
    assert_int_equal(plan.way, SLCI_COPY_GENERAL);
    assert_int_equal(plan.unit_bytes, 8);
}

static void broadcasts_store_neighbours(void **state) {
    (void)state;
    const slc_layout dst = test_dense(SLC_F32, 2, (const int64_t[]){17, 50});
    slc_layout src = dst;
    src.stride_bytes[0] = 4;
    src.stride_bytes[1] = 0;
    slci_copy_plan plan = expect_same_copy(&dst, &src, 0, 0);
    assert_int_equal(plan.dst_stride[plan.rank - 1], plan.unit_bytes);
    src.stride_bytes[0] = 0;
    src.stride_bytes[1] = 4;
    plan = expect_same_copy(&dst, &src, 0, 0);
    assert_int_equal(plan.dst_stride[plan.rank - 1], plan.unit_bytes);
}

static void unsorted_plans_keep_the_order(void **state) {
    (void)state;
    const slc_layout src = test_dense(SLC_F64, 2, (const int64_t[]){40, 30});
    const slc_layout turned = slc_layout_permute(&src, (const int[]){1, 0});
    const slc_layout dst = test_dense(SLC_F64, 2, turned.shape);
    slci_copy_plan plan;
    slci_copy_plan_init_unsorted(&dst, &turned, &plan);
    assert_int_equal(plan.way, SLCI_COPY_GENERAL);
    assert_true(plan.is_unsorted);
    for (int d = 0; d < 2; d++) {
        assert_int_equal(plan.shape[d], turned.shape[d]);
        assert_int_equal(plan.src_stride[d], turned.stride_bytes[d]);
        assert_int_equal(plan.dst_stride[d], dst.stride_bytes[d]);
    }
}

/* On the host a unit is an element, whatever its address. */
static void host_plans_keep_elements_whole(void **state) {
    (void)state;
    slc_layout src = test_dense(SLC_C128, 2, (const int64_t[]){20, 30});
    src.offset_bytes = 3;
    const slc_layout turned = slc_layout_permute(&src, (const int[]){1, 0});
    const slc_layout dst = test_dense(SLC_C128, 2, turned.shape);
    slci_copy_plan plan;
    slci_copy_plan_init_host(&dst, &turned, &plan);
    assert_int_equal(plan.way, SLCI_COPY_TRANSPOSE);
    assert_int_equal(plan.unit_bytes, 16);
    slci_copy_plan_init(NULL, &dst, NULL, &turned, &plan);
    assert_int_equal(plan.unit_bytes, 1);
}

/* A rotation by a right angle is a transpose with one side reversed; stores run forwards. */
static void rotations_go_through_squares(void **state) {
    (void)state;
    const slc_layout src = test_dense(SLC_F32, 2, (const int64_t[]){40, 50});
    const slc_layout turned = slc_layout_permute(&src, (const int[]){1, 0});
    const slc_layout dst = test_dense(SLC_F32, 2, turned.shape);
    for (int d = 0; d < 2; d++) {
        const slc_layout rotated = slc_layout_reverse(&turned, d);
        const slci_copy_plan plan = expect_same_copy(&dst, &rotated, 0, 0);
        assert_int_equal(plan.way, SLCI_COPY_TRANSPOSE);
        assert_int_equal(plan.dst_stride[0], 4);
        assert_int_equal(plan.src_stride[1], 4);
    }
}

/* Any rank, any dtype's size, any order and sign, any shift. */
static void random_pairs_are_copied(void **state) {
    (void)state;
    uint64_t random = 20;
    for (int round = 0; round < 2000; round++) {
        const test_pair pair =
            test_random_pair(&random, round % 3 == 0 ? TEST_PAIR_BROADCAST : TEST_PAIR_VIEWS);
        const int64_t dst_shift = test_random_below(&random, 9);
        const int64_t src_shift = test_random_below(&random, 9);
        if (pair.dst_bytes + dst_shift <= BUFFER_BYTES &&
            pair.src_bytes + src_shift <= BUFFER_BYTES) {
            (void)expect_same_copy(&pair.dst, &pair.src, dst_shift, src_shift);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_pairs_are_one_run),
        cmocka_unit_test(columns_of_a_table_are_pitched),
        cmocka_unit_test(transposes_go_through_squares),
        cmocka_unit_test(narrow_transposes_are_general),
        cmocka_unit_test(units_follow_alignment),
        cmocka_unit_test(broadcasts_store_neighbours),
        cmocka_unit_test(unsorted_plans_keep_the_order),
        cmocka_unit_test(host_plans_keep_elements_whole),
        cmocka_unit_test(rotations_go_through_squares),
        cmocka_unit_test(random_pairs_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
