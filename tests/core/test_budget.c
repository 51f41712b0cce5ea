#include "tests/support/test_support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/budget.h"

static void a_reservation_never_overdraws(void **state) {
    (void)state;
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(1000, 50, &budget));
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 600, "image"));
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 401, "slots"), SLC_ERROR_MEMORY,
               "slots: 401 bytes of device memory");
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_DEVICE, INT64_MAX, "all"), SLC_ERROR_MEMORY,
               "600 of 1000");
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_HOST, 51, "tier"), SLC_ERROR_MEMORY, "(--ram)");
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_HOST, -1, "tier"), SLC_ERROR_ARGUMENT, "-1");
    slc_budget_use use = slc_budget_get(budget, SLC_SPACE_DEVICE);
    assert_int_equal(use.used_bytes, 600);
    assert_int_equal(use.peak_bytes, 600);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 400, "slots"));
    slc_budget_release(budget, SLC_SPACE_DEVICE, 700);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 100, "more"));
    use = slc_budget_get(budget, SLC_SPACE_DEVICE);
    assert_int_equal(use.limit_bytes, 1000);
    assert_int_equal(use.used_bytes, 400);
    assert_int_equal(use.peak_bytes, 1000);
    assert_int_equal(slc_budget_get(budget, SLC_SPACE_HOST).peak_bytes, 0);
    slc_budget_destroy(budget);
    slc_budget_destroy(NULL);
}

static void zero_is_zero(void **state) {
    (void)state;
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(0, 0, &budget));
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 0, "nothing"));
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 1, "a byte"), SLC_ERROR_MEMORY,
               "a byte");
    slc_budget_destroy(budget);
    budget = NULL;
    TEST_FAILS(slc_budget_create(-1, 0, &budget), SLC_ERROR_ARGUMENT, "-1");
    TEST_FAILS(slc_budget_create(0, -2, &budget), SLC_ERROR_ARGUMENT, "-2");
    assert_null(budget);
}

static void foreign_memory_is_listed(void **state) {
    (void)state;
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(100, 0, &budget));
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 10, "image"));
    TEST_OK(slc_budget_reserve_foreign(budget, SLC_SPACE_DEVICE, 30, "a library"));
    TEST_FAILS(slc_budget_reserve_foreign(budget, SLC_SPACE_DEVICE, 61, "a library"),
               SLC_ERROR_MEMORY, "40 of 100");
    slc_budget_use use = slc_budget_get(budget, SLC_SPACE_DEVICE);
    assert_int_equal(use.used_bytes, 40);
    assert_int_equal(use.foreign_bytes, 30);
    slc_budget_release(budget, SLC_SPACE_DEVICE, 40);
    use = slc_budget_get(budget, SLC_SPACE_DEVICE);
    assert_int_equal(use.foreign_bytes, 0);
    slc_budget_destroy(budget);
}

static void *reserve_and_release(void *budget) {
    for (int i = 0; i < 2000; i++) {
        if (slc_budget_reserve(budget, SLC_SPACE_HOST, 40, "slot") == SLC_OK) {
            slc_budget_release(budget, SLC_SPACE_HOST, 40);
        }
    }
    return NULL;
}

static void threads_never_pass_the_limit_together(void **state) {
    (void)state;
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(0, 100, &budget));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_and_release, budget), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    const slc_budget_use use = slc_budget_get(budget, SLC_SPACE_HOST);
    assert_int_equal(use.used_bytes, 0);
    assert_true(use.peak_bytes == 40 || use.peak_bytes == 80);
    slc_budget_destroy(budget);
}

/* What an observer was told. */
typedef struct told {
    int n;
    slc_space space;
    slc_budget_use use;
} told;

static void note(void *context, slc_space space, const slc_budget_use *use) {
    told *self = context;
    self->n++;
    self->space = space;
    self->use = *use;
}

static void an_observer_is_told_of_every_change(void **state) {
    (void)state;
    slc_budget *budget = NULL;
    told self = {0};
    TEST_OK(slc_budget_create(50, 100, &budget));
    slc_budget_observe(budget, note, &self);
    assert_int_equal(self.n, SLC_SPACE_COUNT);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 30, "x"));
    assert_int_equal(self.n, SLC_SPACE_COUNT + 1);
    assert_int_equal(self.space, SLC_SPACE_DEVICE);
    assert_int_equal(self.use.used_bytes, 30);
    assert_int_equal(self.use.limit_bytes, 50);
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 30, "x"), SLC_ERROR_MEMORY, "30");
    assert_int_equal(self.n, SLC_SPACE_COUNT + 1);
    slc_budget_release(budget, SLC_SPACE_DEVICE, 10);
    assert_int_equal(self.use.used_bytes, 20);
    slc_budget_observe(budget, NULL, NULL);
    slc_budget_release(budget, SLC_SPACE_DEVICE, 20);
    assert_int_equal(self.n, SLC_SPACE_COUNT + 2);
    slc_budget_destroy(budget);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_never_overdraws),
        cmocka_unit_test(zero_is_zero),
        cmocka_unit_test(foreign_memory_is_listed),
        cmocka_unit_test(threads_never_pass_the_limit_together),
        cmocka_unit_test(an_observer_is_told_of_every_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
