/* Budgets that the user did not state. */
#include "support/test_support.h"

#include "app/defaults.h"
#include "core/host_memory.h"

static void what_is_stated_is_kept(void **state) {
    (void)state;
    slci_budgets budgets = {.vram_bytes = 0, .ram_bytes = 5};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &budgets));
    assert_int_equal(budgets.vram_bytes, 0);
    assert_int_equal(budgets.ram_bytes, 5);
}

/* Memory in use changes from one look to the next, so sums are compared loosely. */
static void the_host_device_shares_the_host(void **state) {
    (void)state;
    slci_host_limits host;
    TEST_OK(slci_host_limits_read("", &host));
    slci_budgets both = {SLCI_BUDGET_UNSET, SLCI_BUDGET_UNSET};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &both));
    assert_true(both.vram_bytes > 0 && both.ram_bytes > 0);
    assert_true(both.vram_bytes + both.ram_bytes <= host.total_bytes / 10 * 9);
    slci_budgets rest = {.vram_bytes = 1 << 20, .ram_bytes = SLCI_BUDGET_UNSET};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &rest));
    assert_int_equal(rest.vram_bytes, 1 << 20);
    assert_true(rest.ram_bytes > both.ram_bytes);
    slci_budgets too_much = {.vram_bytes = SLCI_BUDGET_UNSET, .ram_bytes = INT64_MAX};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &too_much));
    assert_true(too_much.vram_bytes > both.vram_bytes / 4);
    assert_true(too_much.vram_bytes < both.vram_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stated_is_kept),
        cmocka_unit_test(the_host_device_shares_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
