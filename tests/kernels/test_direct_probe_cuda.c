/* The probe of a card's tensor cores: the model that the direct transform's bound rests on holds on the
 * card at hand, one that promises more does not, and the outcome is the same each time. Without a card
 * every case is skipped. */
#include <math.h>

#include "kernels/direct_probe.h"
#include "tests/support/test_direct_scene.h"

static double worst_of(slc_device *device, int n_added, int kept_bits) {
    const slci_direct_sums assumed = {n_added, kept_bits};
    double worst = -1.0;
    TEST_OK(slci_direct_probe(device, &assumed, &worst));
    print_message("%d products at a time, %d bits: %g of what is allowed\n", n_added, kept_bits,
                  worst);
    return worst;
}

static slc_device_limits need_tensor_cores(void **state) {
    slc_device_limits limits;
    TEST_OK(slc_device_get_limits(test_card_need(state), &limits));
    if (slc_direct_unit_get(limits.compute_capability) == SLC_DIRECT_UNIT_NONE) {
        print_message("SKIP: %s has no tensor cores for products\n", limits.name);
        skip();
    }
    return limits;
}

/* As published for cards of 7.5 to 8.9, and for those from 9.0 on. */
static void finds_how_tensor_cores_add(void **state) {
    const bool is_later = need_tensor_cores(state).compute_capability >= 90;
    slc_device *device = test_card_need(state);
    const double worst = worst_of(device, is_later ? 16 : 8, is_later ? 25 : 24);
    assert_true(worst <= 1.0 && worst > 0.5);
}

/* What the tensor cores of no card do. */
static void finds_what_does_not_hold(void **state) {
    (void)need_tensor_cores(state);
    slc_device *device = test_card_need(state);
    assert_true(worst_of(device, 16, 26) > 1.0);
    assert_true(worst_of(device, 4, 30) > 1.0);
}

static void gives_the_same_each_time(void **state) {
    (void)need_tensor_cores(state);
    slc_device *device = test_card_need(state);
    const double first = worst_of(device, 16, 25);
    for (int i = 0; i < 3; i++) {
        assert_true(worst_of(device, 16, 25) == first);
    }
}

/* The card's own answer. */
static void decides_on_the_unit(void **state) {
    const slc_device_limits limits = need_tensor_cores(state);
    slc_direct_card card;
    TEST_OK(slc_direct_card_get(test_card_need(state), &card));
    assert_int_equal(card.unit, slc_direct_unit_get(limits.compute_capability));
    assert_int_equal(card.reason, SLC_DIRECT_REASON_NONE);
    assert_int_equal(card.compute_capability, limits.compute_capability);
    assert_int_equal(card.has_fast_double, limits.has_fast_double);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_how_tensor_cores_add),
        cmocka_unit_test(finds_what_does_not_hold),
        cmocka_unit_test(gives_the_same_each_time),
        cmocka_unit_test(decides_on_the_unit),
    };
    return cmocka_run_group_tests(tests, test_card_open, test_card_close);
}
