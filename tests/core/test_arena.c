#include "tests/support/test_support.h"

#include "core/arena.h"

/* The arena never looks at the memory, so an address that nobody may touch is enough. */
static void *slab_address(void) {
    return (void *)(uintptr_t)(UINT64_C(1) << 40);
}

static void pieces_are_aligned_and_follow_one_another(void **state) {
    (void)state;
    slc_arena arena;
    slc_arena_init(&arena, slab_address(), 1024);
    char *first = NULL;
    char *second = NULL;
    char *third = NULL;
    TEST_OK(slc_arena_take(&arena, 1, "one byte", (void **)&first));
    TEST_OK(slc_arena_take(&arena, 256, "a block", (void **)&second));
    TEST_OK(slc_arena_take(&arena, 257, "two blocks", (void **)&third));
    assert_ptr_equal(first, slab_address());
    assert_ptr_equal(second, first + 256);
    assert_ptr_equal(third, first + 512);
    assert_int_equal(arena.used_bytes, 1024);
}

static void a_slab_of_the_summed_costs_is_exactly_enough(void **state) {
    (void)state;
    const int64_t sizes[] = {0, 1, 255, 256, 257, 100000};
    int64_t total = 0;
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        total += slc_arena_cost(sizes[i]);
    }
    assert_int_equal(total, 0 + 256 + 256 + 256 + 512 + 100096);
    slc_arena arena;
    slc_arena_init(&arena, slab_address(), total);
    void *piece = NULL;
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        TEST_OK(slc_arena_take(&arena, sizes[i], "piece", &piece));
        assert_non_null(piece);
    }
    TEST_FAILS(slc_arena_take(&arena, 1, "one more", &piece), SLC_ERROR_MEMORY, "one more");
    TEST_OK(slc_arena_take(&arena, 0, "nothing", &piece));
}

static void what_does_not_fit_changes_nothing(void **state) {
    (void)state;
    slc_arena arena;
    slc_arena_init(&arena, slab_address(), 1000);
    void *piece = NULL;
    TEST_FAILS(slc_arena_take(&arena, 1001, "image", &piece), SLC_ERROR_MEMORY, "1001");
    TEST_FAILS(slc_arena_take(&arena, INT64_MAX, "image", &piece), SLC_ERROR_MEMORY, "image");
    TEST_FAILS(slc_arena_take(&arena, -1, "image", &piece), SLC_ERROR_ARGUMENT, "-1");
    assert_null(piece);
    assert_int_equal(arena.used_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_follow_one_another),
        cmocka_unit_test(a_slab_of_the_summed_costs_is_exactly_enough),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
