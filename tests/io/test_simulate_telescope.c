#include "tests/support/test_near.h"

#include "io/simulate_telescope.h"

static int64_t count_within(const slci_telescope *telescope, double radius_m) {
    int64_t n = 0;
    for (int64_t a = 0; a < telescope->n_antennas; a++) {
        const double *enu_m = telescope->antennas[a].enu_m;
        n += hypot(enu_m[0], enu_m[1]) <= radius_m;
    }
    return n;
}

/* Numbers that the observatories state about their arrays: antennas and longest baselines. */
static void as_published(void **state) {
    (void)state;
    const slci_telescope *vla = slci_telescope_find("vla-d");
    assert_non_null(vla);
    assert_int_equal(vla->n_antennas, 27);
    TEST_NEAR(slci_telescope_longest_m(vla), 1030.0, 10.0);
    const slci_telescope *meerkat = slci_telescope_find("meerkat");
    assert_non_null(meerkat);
    assert_int_equal(meerkat->n_antennas, 64);
    TEST_NEAR(slci_telescope_longest_m(meerkat), 7698.0, 5.0);
    assert_int_equal(count_within(meerkat, 1000.0), 44);
    const slci_telescope *mwa = slci_telescope_find("mwa");
    assert_non_null(mwa);
    assert_int_equal(mwa->n_antennas, 128);
    assert_true(slci_telescope_longest_m(mwa) > 2500.0 && slci_telescope_longest_m(mwa) < 3000.0);
    assert_true(count_within(mwa, 750.0) >= 96);
}

/* The three arms of the VLA point as they do, and beyond the first two, which make room for the centre,
 * each station is farther out than the one before. */
static void arms(void **state) {
    (void)state;
    static const char names[3] = {'N', 'E', 'W'};
    static const double azimuth_deg[3] = {-5.0, 115.0, 236.0};
    const slci_telescope *vla = slci_telescope_find("vla-d");
    for (int arm = 0; arm < 3; arm++) {
        const slci_antenna *stations = &vla->antennas[(int64_t)9 * arm];
        for (int k = 0; k < 9; k++) {
            assert_int_equal(stations[k].name[0], names[arm]);
            assert_int_equal(stations[k].name[1], '1' + k);
            const double *here = stations[k].enu_m;
            const double *before = stations[k > 0 ? k - 1 : 0].enu_m;
            assert_true(k < 2 || hypot(here[0], here[1]) > hypot(before[0], before[1]));
        }
        const double *outer = stations[8].enu_m;
        const double azimuth = atan2(outer[0], outer[1]) * 57.29577951308232;
        TEST_NEAR(remainder(azimuth - azimuth_deg[arm], 360.0), 0.0, 7.0);
    }
}

/* Names that are unique, positions that are apart, and defaults that make a simulation. */
static void sound_tables(void **state) {
    (void)state;
    int64_t n = 0;
    const slci_telescope *list = slci_telescope_list(&n);
    for (int64_t t = 0; t < n; t++) {
        assert_ptr_equal(slci_telescope_find(list[t].name), &list[t]);
        for (int64_t a = 0; a < list[t].n_antennas; a++) {
            const slci_antenna *here = &list[t].antennas[a];
            assert_true(here->name[0] != '\0' && fabs(here->enu_m[2]) < 50.0);
            for (int64_t b = 0; b < a; b++) {
                const slci_antenna *there = &list[t].antennas[b];
                assert_string_not_equal(here->name, there->name);
                assert_true(hypot(here->enu_m[0] - there->enu_m[0],
                                  here->enu_m[1] - there->enu_m[1]) > 5.0);
            }
        }
        assert_true(list[t].freq_hz > 0.0 && list[t].channel_width_hz > 0.0);
        assert_true(list[t].cadence_s > 0.0);
    }
    assert_null(slci_telescope_find("vla"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_published),
        cmocka_unit_test(arms),
        cmocka_unit_test(sound_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
