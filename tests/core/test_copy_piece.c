/* Quotients are compared with the division of the language, pieces with the plans that they are of:
 * by the places of their units, which need no memory to be at. */
#include "tests/support/test_support.h"

#include "core/copy_piece.h"

static void quotients_are_exact(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        const int bits = 1 + (int)test_random_below(&random, 30);
        const int64_t near = INT64_C(1) << bits;
        const int64_t divisor =
            round % 2 == 0 ? 1 + test_random_below(&random, near) : near - 1 + round % 3;
        const slci_copy_divider divider = slci_copy_divider_make(divisor);
        const int64_t indices[] = {0,
                                   1,
                                   divisor - 1,
                                   divisor,
                                   divisor + 1,
                                   INT32_MAX,
                                   INT32_MAX / divisor * divisor,
                                   INT32_MAX / divisor * divisor - 1,
                                   test_random_below(&random, INT32_MAX)};
        for (int64_t i = 0; i < TEST_COUNT(indices); i++) {
            assert_int_equal(slci_copy_quotient((uint32_t)indices[i], divider),
                             indices[i] / divisor);
        }
    }
    assert_int_equal(slci_copy_quotient(INT32_MAX, slci_copy_divider_make(INT32_MAX)), 1);
}

/* The place of a piece's unit, counted from its first one; and of a plan's. */
static void find_in_piece(const slci_copy_piece *piece, uint32_t number, int64_t *dst,
                          int64_t *src) {
    *dst = 0;
    *src = 0;
    for (int d = 0; d < piece->rank; d++) {
        const int64_t i = number % piece->extent[d].divisor;
        *dst += i * piece->dst_stride[d];
        *src += i * piece->src_stride[d];
        number /= piece->extent[d].divisor;
    }
}

static void find_in_plan(const slci_copy_plan *plan, int64_t number, int64_t *dst, int64_t *src) {
    *dst = plan->dst_offset;
    *src = plan->src_offset;
    for (int d = plan->rank - 1; d >= 0; d--) {
        *dst += number % plan->shape[d] * plan->dst_stride[d];
        *src += number % plan->shape[d] * plan->src_stride[d];
        number /= plan->shape[d];
    }
}

static void pieces_have_the_plan_s_units(void **state) {
    (void)state;
    const slci_copy_plan plan = {.way = SLCI_COPY_GENERAL,
                                 .rank = 4,
                                 .unit_bytes = 8,
                                 .dst_offset = 4096,
                                 .src_offset = 65536,
                                 .shape = {3, 1, 5, 7},
                                 .dst_stride = {-400, 1 << 30, 64, 8},
                                 .src_stride = {8, INT64_C(1) << 50, 0, -24}};
    slci_copy_piece piece;
    assert_true(slci_copy_piece_fits(&plan));
    slci_copy_piece_init(&plan, &piece);
    assert_int_equal(piece.rank, 3); /* the dimension of one unit is gone */
    assert_int_equal(piece.n, 3 * 5 * 7);
    for (uint32_t i = 0; i < piece.n; i++) {
        int64_t dst, src, dst_units, src_units;
        find_in_plan(&plan, i, &dst, &src);
        find_in_piece(&piece, i, &dst_units, &src_units);
        assert_int_equal(dst, plan.dst_offset + 8 * dst_units);
        assert_int_equal(src, plan.src_offset + 8 * src_units);
    }
}

static void steps_may_be_coarser(void **state) {
    (void)state;
    const slci_copy_plan plan = {.way = SLCI_COPY_GENERAL,
                                 .rank = 2,
                                 .unit_bytes = 4,
                                 .shape = {6, 12},
                                 .dst_stride = {48, 4},
                                 .src_stride = {52, -8}};
    slci_copy_piece piece;
    slci_copy_piece_init(&plan, &piece);
    slci_copy_piece_coarsen(&piece, 0, 4);
    assert_int_equal(piece.n, 18);
    int64_t dst, src;
    find_in_piece(&piece, 5, &dst, &src); /* row 1, units 8 to 11 */
    assert_int_equal(dst, 12 + 8);
    assert_int_equal(src, 13 - 2 * 8);
    slci_copy_piece_coarsen(&piece, 1, 4); /* the second step is half a one */
    assert_int_equal(piece.n, 6);
}

/* Halves until everything fits; returns the units of all pieces, and looks at their ends. */
static int64_t cut(const slci_copy_plan *plan, int *n_pieces) {
    if (!slci_copy_piece_fits(plan)) {
        slci_copy_plan first = *plan;
        slci_copy_plan second;
        slci_copy_plan_halve(&first, &second);
        const int64_t n = cut(&first, n_pieces);
        return n + cut(&second, n_pieces);
    }
    slci_copy_piece piece;
    slci_copy_piece_init(plan, &piece);
    int64_t dst, src, dst_units, src_units;
    find_in_plan(plan, piece.n - 1, &dst, &src);
    find_in_piece(&piece, piece.n - 1, &dst_units, &src_units);
    assert_int_equal(dst, plan->dst_offset + plan->unit_bytes * dst_units);
    assert_int_equal(src, plan->src_offset + plan->unit_bytes * src_units);
    ++*n_pieces;
    return piece.n;
}

static void what_reaches_too_far_is_halved(void **state) {
    (void)state;
    /* 96 GiB of bytes, transposed. */
    const slci_copy_plan large = {.way = SLCI_COPY_TRANSPOSE,
                                  .rank = 2,
                                  .unit_bytes = 1,
                                  .shape = {INT64_C(3) << 20, 1 << 15},
                                  .dst_stride = {1, INT64_C(3) << 20},
                                  .src_stride = {1 << 15, 1}};
    int n_pieces = 0;
    assert_int_equal(cut(&large, &n_pieces), INT64_C(3) << 35);
    assert_in_range(n_pieces, 96, 8192);
    /* A broadcast of one element over 8 GiB of them. */
    const slci_copy_plan broadcast = {.way = SLCI_COPY_GENERAL,
                                      .rank = 1,
                                      .unit_bytes = 16,
                                      .shape = {INT64_C(1) << 33},
                                      .dst_stride = {16},
                                      .src_stride = {0}};
    n_pieces = 0;
    assert_int_equal(cut(&broadcast, &n_pieces), INT64_C(1) << 33);
    assert_in_range(n_pieces, 8, 32);
    /* Few units, far apart. */
    const slci_copy_plan sparse = {.way = SLCI_COPY_GENERAL,
                                   .rank = 2,
                                   .unit_bytes = 4,
                                   .shape = {3, 2},
                                   .dst_stride = {8, 4},
                                   .src_stride = {-(INT64_C(1) << 36), INT64_C(1) << 34}};
    n_pieces = 0;
    assert_int_equal(cut(&sparse, &n_pieces), 6);
    assert_int_equal(n_pieces, 6);
}

static void stores_are_grouped_where_they_are_aligned(void **state) {
    (void)state;
    slci_copy_plan plan = {.way = SLCI_COPY_GENERAL,
                           .rank = 2,
                           .unit_bytes = 4,
                           .shape = {10, 8},
                           .dst_stride = {32, 4},
                           .src_stride = {36, 4}};
    assert_int_equal(slci_copy_group_units((void *)256, &plan), 4);
    assert_int_equal(slci_copy_group_units((void *)264, &plan), 1);
    plan.dst_offset = 8;
    assert_int_equal(slci_copy_group_units((void *)264, &plan), 4);
    plan.dst_stride[0] = 40; /* every other row is not aligned */
    assert_int_equal(slci_copy_group_units((void *)264, &plan), 1);
    plan.shape[0] = 1;
    assert_int_equal(slci_copy_group_units((void *)264, &plan), 4);
    plan.shape[1] = 6;
    assert_int_equal(slci_copy_group_units((void *)264, &plan), 1);
    plan.shape[1] = 8;
    plan.is_unsorted = true;
    assert_int_equal(slci_copy_group_units((void *)264, &plan), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_are_exact),
        cmocka_unit_test(pieces_have_the_plan_s_units),
        cmocka_unit_test(steps_may_be_coarser),
        cmocka_unit_test(what_reaches_too_far_is_halved),
        cmocka_unit_test(stores_are_grouped_where_they_are_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
