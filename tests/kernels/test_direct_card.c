/* Which unit a card takes, and what becomes of a picture where its tensor cores do not add as the bound
 * of the error assumes: cards that are made up, with a probe that this test answers itself
 * (cmake/SluiceTests.cmake has the linker send slci_direct_probe here). */
#include <math.h>
#include <string.h>

#include "kernels/direct.h"
#include "kernels/direct_probe.h"
#include "tests/support/test_support.h"

/* What the probe finds, and what it was asked for. */
static struct {
    double worst;
    slc_status status;
    int n_calls;
    slci_direct_sums assumed;
} probe;

slc_status __wrap_slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                    double *worst);

slc_status __wrap_slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                    double *worst) {
    assert_int_equal(device->kind, SLC_DEVICE_CUDA);
    probe.n_calls++;
    probe.assumed = *assumed;
    if (probe.status != SLC_OK) {
        return SLC_FAIL(probe.status, "the probe was made to fail");
    }
    *worst = probe.worst;
    return SLC_OK;
}

/* A card of which only the limits are there. */
typedef struct made_up_card {
    slc_device base;
    int compute_capability;
} made_up_card;

static slc_status limits_of(slc_device *device, slc_device_limits *out) {
    const made_up_card *self = (const made_up_card *)device;
    *out = (slc_device_limits){.name = "made up",
                               .compute_capability = self->compute_capability,
                               .has_fast_double = self->compute_capability % 10 == 0};
    return SLC_OK;
}

static const slc_device_ops ops = {.limits = limits_of};

static slc_status ask(int compute_capability, double worst, slc_direct_card *out) {
    made_up_card card = {.base = {.ops = &ops, .kind = SLC_DEVICE_CUDA},
                         .compute_capability = compute_capability};
    probe.worst = worst;
    probe.status = SLC_OK;
    probe.n_calls = 0;
    return slc_direct_card_get(&card.base, out);
}

/* As published of tensor cores: from 9.0 on 16 products at a time and 25 bits, before 8 and 24. */
static void cards_are_held_to_what_is_known_of_them(void **state) {
    (void)state;
    static const struct {
        int compute_capability, n_added, kept_bits;
        slc_direct_unit unit;
    } cases[] = {{75, 8, 24, SLC_DIRECT_UNIT_SHORT},  {80, 8, 24, SLC_DIRECT_UNIT_SHORT},
                 {86, 8, 24, SLC_DIRECT_UNIT_SHORT},  {89, 8, 24, SLC_DIRECT_UNIT_SHORT},
                 {90, 16, 25, SLC_DIRECT_UNIT_GROUP}, {100, 16, 25, SLC_DIRECT_UNIT_WARP},
                 {120, 16, 25, SLC_DIRECT_UNIT_SHORT}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        slc_direct_card card;
        TEST_OK(ask(cases[i].compute_capability, 1.0, &card));
        assert_int_equal(probe.n_calls, 1);
        assert_int_equal(probe.assumed.n_added, cases[i].n_added);
        assert_int_equal(probe.assumed.kept_bits, cases[i].kept_bits);
        assert_int_equal(card.unit, cases[i].unit);
        assert_int_equal(card.reason, SLC_DIRECT_REASON_NONE);
        assert_int_equal(card.compute_capability, cases[i].compute_capability);
        assert_int_equal(card.has_fast_double, cases[i].compute_capability % 10 == 0);
    }
}

static void cards_without_tensor_cores_are_not_probed(void **state) {
    (void)state;
    static const int old[] = {52, 61, 70, 72};
    for (int64_t i = 0; i < TEST_COUNT(old); i++) {
        slc_direct_card card;
        TEST_OK(ask(old[i], 0.0, &card));
        assert_int_equal(probe.n_calls, 0);
        assert_int_equal(card.unit, SLC_DIRECT_UNIT_NONE);
        assert_int_equal(card.reason, SLC_DIRECT_REASON_CARD);
    }
}

/* A small picture of a narrow field, which products would do. */
static slc_direct_setup choose_for(const slc_direct_card *card, slc_direct_summary *summary) {
    const slc_direct_request request = {
        .device = SLC_DEVICE_CUDA,
        .geometry = {.nx = 512, .ny = 512, .scale_rad = 1e-6, .is_w_projected = true},
        .survey = {1e4, 1e4, 1e3, 100000, 1.0},
        .n_channels = 1,
        .epsilon = 1e-6,
        .n_parts = 1,
        .card = *card};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, summary);
    return setup;
}

/* Where the probe finds more than is allowed, or something that is no number, every tile is the sine
 * kernel's, and the plan says why; where it does not, none is. */
static void a_probe_that_fails_leaves_all_to_sines(void **state) {
    (void)state;
    static const int capabilities[] = {75, 80, 86, 89, 90, 100, 120};
    const double findings[] = {0.0, 1.0, 1.0001, 2.0, INFINITY, NAN};
    for (int64_t c = 0; c < TEST_COUNT(capabilities); c++) {
        for (int64_t f = 0; f < TEST_COUNT(findings); f++) {
            const bool holds = findings[f] <= 1.0;
            slc_direct_card card;
            slc_direct_summary summary;
            TEST_OK(ask(capabilities[c], findings[f], &card));
            assert_int_equal(card.reason, holds ? SLC_DIRECT_REASON_NONE : SLC_DIRECT_REASON_PROBE);
            const slc_direct_setup setup = choose_for(&card, &summary);
            assert_int_equal(setup.unit,
                             holds ? slc_direct_unit_get(capabilities[c]) : SLC_DIRECT_UNIT_NONE);
            assert_int_equal(summary.n_tiles[SLC_DIRECT_PRODUCT] > 0, holds);
            assert_int_equal(summary.n_tiles[SLC_DIRECT_SINE] > 0, !holds);
            assert_int_equal(strstr(summary.why, "by the sine kernel, because the card's tensor "
                                                 "cores cut off more of a sum") != NULL,
                             !holds);
            slc_numerics record = {0};
            slc_direct_record(&setup, SLC_DEVICE_CUDA, &record);
            assert_int_equal(strcmp(slc_numerics_get(&record, "matrix_unit"), "none") == 0, !holds);
            assert_int_equal(slc_numerics_get(&record, "compute_capability") != NULL, holds);
        }
    }
}

/* A device that fails is no card whose tensor cores do not hold. */
static void a_probe_that_cannot_run_is_an_error(void **state) {
    (void)state;
    made_up_card made_up = {.base = {.ops = &ops, .kind = SLC_DEVICE_CUDA},
                            .compute_capability = 89};
    slc_direct_card card = {.compute_capability = -1};
    probe.status = SLC_ERROR_DEVICE;
    assert_int_equal(slc_direct_card_get(&made_up.base, &card), SLC_ERROR_DEVICE);
    assert_string_equal(slc_status_message(), "the probe was made to fail");
    assert_int_equal(card.compute_capability, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_are_held_to_what_is_known_of_them),
        cmocka_unit_test(cards_without_tensor_cores_are_not_probed),
        cmocka_unit_test(a_probe_that_fails_leaves_all_to_sines),
        cmocka_unit_test(a_probe_that_cannot_run_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
