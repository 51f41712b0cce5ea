/* What `sluice info` finds: the suggestion by arithmetic, the rest from the shared data. */
#include "support/test_support.h"

#include <math.h>

#include "app/info.h"

static void suggests_three_pixels_per_fringe(void **state) {
    (void)state;
    double scale = 0.0;
    int64_t size = 0;
    slc_info_suggest(100.0, 3000.0, &scale, &size);
    assert_true(fabs(scale * 9000.0 - 1.0) < 1e-12);
    /* 2/100 rad of 1/9000 rad pixels are 180. */
    assert_int_equal(size, 256);
    slc_info_suggest(1.0, 1000.0, &scale, &size);
    assert_int_equal(size, 8192); /* 6000 pixels */
    slc_info_suggest(0.5, 10.0, &scale, &size);
    assert_int_equal(size, 64); /* no more than the visible sky: 60 pixels */
    slc_info_suggest(0.0, 10.0, &scale, &size);
    assert_int_equal(size, 64);
    slc_info_suggest(1e-6, 1e6, &scale, &size);
    assert_int_equal(size, 8192);
}

static void suggests_nothing_without_baselines(void **state) {
    (void)state;
    double scale = 0.0;
    int64_t size = 1;
    slc_info_suggest(NAN, NAN, &scale, &size);
    assert_true(isnan(scale));
    assert_int_equal(size, 0);
    slc_info_suggest(0.0, 0.0, &scale, &size);
    assert_int_equal(size, 0);
}

static void scan(const char *relative, const slc_info_options *options, slc_info *info) {
    char path[TEST_PATH_BYTES];
    test_need_shared(relative, path);
    const char *const paths[] = {path};
    const slc_vis_options vis = {.polarisation = SLC_POL_AUTO};
    slc_source *source = NULL;
    TEST_OK(slc_vis_open(paths, 1, &vis, &source));
    TEST_OK(slc_info_scan(source, options, info));
    slc_source_destroy(source);
}

/* The longest of BASE's baselines: antennas at 100 sqrt(i) m around the circle by the golden angle,
 * turned in steps of 15 degrees, which leaves hypot(u, v) alone. */
static double longest_base_m(void) {
    double longest = 0.0;
    for (int i = 0; i < 10; i++) {
        for (int j = i + 1; j < 10; j++) {
            const double golden = 2.399963229728653;
            const double u = 100.0 * (sqrt(j) * cos(golden * j) - sqrt(i) * cos(golden * i));
            const double v = 100.0 * (sqrt(j) * sin(golden * j) - sqrt(i) * sin(golden * i));
            longest = fmax(longest, hypot(u, v));
        }
    }
    return longest;
}

static void counts_the_base_set(void **state) {
    (void)state;
    slc_info info;
    scan("cases/base.uvh5", &(slc_info_options){.block_bytes = 0}, &info);
    assert_true(info.is_scanned);
    assert_int_equal(info.n_samples, 1440);
    assert_int_equal(info.n_used, 1440);
    assert_int_equal(info.counts.total, 2880);
    assert_int_equal(info.counts.flagged, 0);
    assert_true(fabs(info.uv_max_m - longest_base_m()) < 1e-6);
    const double longest = longest_base_m() * 157e6 / 299792458.0;
    assert_true(fabs(info.uv_max_wavelengths - longest) < 1e-6 * longest);
    assert_true(info.n_datasets >= 4);
}

/* However few rows a block holds, the result is the same. */
static void small_blocks_change_nothing(void **state) {
    (void)state;
    slc_info whole;
    slc_info parts;
    scan("cases/nan_flagged.uvh5", &(slc_info_options){.block_bytes = 0}, &whole);
    scan("cases/nan_flagged.uvh5", &(slc_info_options){.block_bytes = 1}, &parts);
    assert_int_equal(whole.counts.flagged, 360);
    assert_int_equal(whole.counts.total, 2880);
    assert_int_equal(parts.counts.flagged, 360);
    assert_int_equal(parts.n_used, whole.n_used);
    assert_true(parts.uv_min_wavelengths == whole.uv_min_wavelengths);
    assert_true(parts.uv_max_wavelengths == whole.uv_max_wavelengths);
    assert_true(parts.w_max_wavelengths == whole.w_max_wavelengths);
}

static void without_the_data_lengths_remain(void **state) {
    (void)state;
    slc_info info;
    scan("cases/base.uvh5", &(slc_info_options){.skip_data = true}, &info);
    assert_false(info.is_scanned);
    assert_int_equal(info.n_used, 0);
    assert_true(fabs(info.uv_max_m - longest_base_m()) < 1e-6);
}

static void an_interrupt_ends_the_scan(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/base.uvh5", path);
    const char *const paths[] = {path};
    const slc_vis_options vis = {.polarisation = SLC_POL_AUTO};
    slc_source *source = NULL;
    TEST_OK(slc_vis_open(paths, 1, &vis, &source));
    const volatile int cancel = 1;
    slc_info info;
    TEST_FAILS(slc_info_scan(source, &(slc_info_options){.cancel = &cancel}, &info),
               SLC_ERROR_INTERRUPTED, "interrupted");
    slc_source_destroy(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggests_three_pixels_per_fringe),
        cmocka_unit_test(suggests_nothing_without_baselines),
        cmocka_unit_test(counts_the_base_set),
        cmocka_unit_test(small_blocks_change_nothing),
        cmocka_unit_test(without_the_data_lengths_remain),
        cmocka_unit_test(an_interrupt_ends_the_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
