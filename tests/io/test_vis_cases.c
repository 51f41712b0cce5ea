/* The shared cases and real sets: counts and sums that h5py gives for the same files. */
#include <math.h>

#include "tests/support/test_uvh5.h"

/* Sums over all samples, of weight and weight times value. */
typedef struct expected {
    const char *file;
    int64_t n_rows, n_channels, n_used;
    double weight_sum, real_sum, imag_sum;
    int64_t n_total, n_flagged, n_zero_weight;
} expected;

static const expected cases[] = {
    {"cases/all_flagged.uvh5", 180, 8, 0, 0, 0, 0, 2880, 2880, 0},
    {"cases/base.uvh5", 180, 8, 1440, 1440, 49.5950659, 46.58482635, 2880, 0, 0},
    {"cases/chan0_flagged.uvh5", 180, 8, 1260, 1260, 36.51843408, 32.4924808, 2880, 360, 0},
    {"cases/freq_down.uvh5", 180, 8, 1440, 1440, 49.5950659, 46.58482635, 2880, 0, 0},
    {"cases/irregular_blts.uvh5", 154, 8, 1232, 1232, 59.48860237, 60.42613223, 2464, 0, 0},
    {"cases/mixed_order.uvh5", 180, 8, 1440, 1440, 49.5950659, -57.15446297, 2880, 0, 0},
    {"cases/nan_flagged.uvh5", 180, 8, 1260, 1260, 42.38656217, 38.81375014, 2880, 360, 0},
    {"cases/noncoplanar.uvh5", 180, 8, 1440, 1440, -16.40881288, -24.51884014, 2880, 0, 0},
    {"cases/nsamples_half.uvh5", 180, 8, 720, 720, 20.93227331, 18.48392248, 2880, 0, 720},
    {"cases/nsamples_zero.uvh5", 180, 8, 0, 0, 0, 0, 2880, 0, 1440},
    {"cases/one_baseline.uvh5", 1, 1, 1, 1, 0.7295099497, 0.6839702129, 2, 0, 0},
    {"cases/pol_avg.uvh5", 180, 8, 1440, 1440, 49.5950659, 46.58482635, 2880, 0, 0},
    {"cases/pol_sum.uvh5", 180, 8, 1440, 1440, 49.5950659, 46.58482635, 2880, 0, 0},
    {"cases/two_src.uvh5", 180, 8, 1440, 1440, 33.57617423, 30.85712207, 2880, 0, 0},
    {"cases/vlen_strings.uvh5", 180, 8, 1440, 1440, 49.5950659, 46.58482635, 2880, 0, 0},
    {"data/m87_vlba_8GHz.contig.uvh5", 3150, 2, 5946, 2330044.813, 3559088.48, 69198.04727, 12600,
     708, 0},
    {"data/hera_zen.2458042.60288.HH.uvRXLS.uvh5_downselected", 2160, 64, 52030, 100690,
     -1147798.27, 1246926.91, 215040, 99840, 5570},
    {"data/mwa_1061315448_mini.uvh5", 8256, 1, 8001, 8001, 99797.0023, -40285.7995, 16256, 254, 0},
};

static void check_case(const expected *right) {
    char path[TEST_PATH_BYTES];
    if (!test_shared_path(right->file, path)) {
        return;
    }
    slc_source *source = test_vis_open(path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    double sums[3] = {0, 0, 0};
    int64_t n_used = 0;
    for (int64_t k = 0; k < vis.n_rows * vis.n_channels; k++) {
        const double w = (double)vis.weight[k];
        assert_true(isfinite(vis.vis[2 * k]) && isfinite(vis.vis[2 * k + 1]) && w >= 0.0);
        assert_true(w > 0.0 || (vis.vis[2 * k] == 0.0F && vis.vis[2 * k + 1] == 0.0F));
        sums[0] += w;
        sums[1] += w * (double)vis.vis[2 * k];
        sums[2] += w * (double)vis.vis[2 * k + 1];
        n_used += w > 0.0;
    }
    const double tolerance =
        1e-6 * fmax(sums[0], 1.0) * fmax(fabs(right->real_sum / fmax(sums[0], 1.0)), 1.0);
    print_message("%s\n", right->file);
    assert_int_equal(vis.n_rows, right->n_rows);
    assert_int_equal(vis.n_channels, right->n_channels);
    assert_int_equal(n_used, right->n_used);
    assert_true(fabs(sums[0] - right->weight_sum) <= 1e-8 * fmax(right->weight_sum, 1.0));
    assert_true(fabs(sums[1] - right->real_sum) <= tolerance);
    assert_true(fabs(sums[2] - right->imag_sum) <= tolerance);
    assert_int_equal(vis.counts.total, right->n_total);
    assert_int_equal(vis.counts.flagged, right->n_flagged);
    assert_int_equal(vis.counts.zero_weight, right->n_zero_weight);
    assert_int_equal(vis.counts.nonfinite, 0);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void sums_are_right(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared(cases[0].file, path);
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        check_case(&cases[k]);
    }
}

static void base_says_what_it_is(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/base.uvh5", path);
    slc_source *source = test_vis_open(path, NULL);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    assert_string_equal(meta->format, "UVH5 1.0");
    assert_int_equal(meta->n_times, 4);
    assert_int_equal(meta->n_baselines, 45);
    assert_int_equal(meta->n_antennas, 10);
    assert_int_equal(meta->imaged[0].stokes, 1);
    assert_string_equal(meta->imaged[0].text, "I = (XX + YY) / 2");
    assert_true(meta->is_w_projected && !meta->is_plain);
    assert_int_equal(meta->frame, SLC_FRAME_ICRS);
    assert_true(meta->ra_rad == 1.0 && meta->dec_rad == -0.5 && meta->smear_rad == 0.0);
    assert_string_equal(meta->telescope, "SLUICETEST");
    assert_string_equal(meta->object, "test");
    assert_string_equal(meta->units, "Jy");
    /* First time 2459000.5, integrations of 10 s. */
    assert_true(fabs(meta->start_jd_utc - (2459000.5 - 5.0 / 86400.0)) < 1e-9);
    assert_true(meta->freq_hz[7] == 157e6 && meta->channel_width_hz[7] == 1e6);
    assert_true(fabs(meta->wavelengths_per_metre[0] - 150e6 / 299792458.0) < 1e-15);
    slc_source_destroy(source);
}

/* B21, B08, B13. */
static void variants_differ_where_they_should(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/vlen_strings.uvh5", path);
    slc_source *source = test_vis_open(path, NULL);
    assert_string_equal(slc_vis_get_meta(source)->object, "test");
    assert_string_equal(slc_vis_get_meta(source)->telescope, "SLUICETEST");
    slc_source_destroy(source);
    test_need_shared("cases/freq_down.uvh5", path);
    source = test_vis_open(path, NULL);
    assert_true(slc_vis_get_meta(source)->freq_hz[0] == 157e6);
    assert_true(slc_vis_get_meta(source)->channel_width_hz[0] == 1e6);
    slc_source_destroy(source);
    test_need_shared("cases/pol_sum.uvh5", path);
    source = test_vis_open(path, NULL);
    assert_string_equal(slc_vis_get_meta(source)->imaged[0].text,
                        "I = XX + YY (pol_convention 'sum')");
    slc_source_destroy(source);
}

/* The zenith of HERA: header lst_array, mean of first and last, and the latitude. */
static void drift_set_points_at_the_zenith(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/hera_zen.2458042.60288.HH.uvRXLS.uvh5_downselected", path);
    slc_source *source = test_vis_open(path, NULL);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    assert_string_equal(meta->format, "UVH5 0.x");
    assert_false(meta->is_w_projected);
    assert_int_equal(meta->frame, SLC_FRAME_UNPROJECTED);
    assert_true(fabs(meta->ra_rad - 0.5 * (1.45333704 + 1.49953298)) < 1e-6);
    assert_true(fabs(meta->dec_rad - -30.721526120689706 * M_PI / 180.0) < 1e-12);
    assert_true(fabs(meta->smear_rad - (1.49953298 - 1.45333704)) < 1e-6);
    assert_true(fabs(meta->equinox - 2017.79) < 0.01);
    assert_int_equal(meta->n_times, 60);
    assert_int_equal(meta->n_baselines, 36);
    assert_int_equal(slc_source_next_unit(source, 0, 0), 270);
    assert_int_equal(slc_source_next_unit(source, 0, 269), 270);
    assert_int_equal(slc_source_next_unit(source, 0, 2100), 2160);
    slc_source_destroy(source);
}

/* B20: rows only, in tiles of any size. */
static void box_sizes_do_not_matter(void **state) {
    (void)state;
    static const char *const files[] = {"cases/irregular_blts.uvh5",
                                        "data/m87_vlba_8GHz.gzshuf.uvh5"};
    static const int64_t sizes[] = {1, 7, 153, 154, 155};
    char path[TEST_PATH_BYTES];
    for (int64_t f = 0; f < TEST_COUNT(files); f++) {
        test_need_shared(files[f], path);
        slc_source *source = test_vis_open(path, NULL);
        test_vis whole;
        test_vis_read(source, 0, &whole);
        for (int64_t k = 0; k < TEST_COUNT(sizes); k++) {
            test_vis part;
            test_vis_read(source, sizes[k], &part);
            assert_true(test_vis_equal(&whole, &part));
            test_vis_free(&part);
        }
        test_vis_free(&whole);
        slc_source_destroy(source);
    }
}

static void spellings_give_the_same_bits(void **state) {
    (void)state;
    static const char *const files[] = {"data/m87_vlba_8GHz.contig.uvh5",
                                        "data/m87_vlba_8GHz.gzshuf.uvh5",
                                        "data/m87_vlba_8GHz.lzf.uvh5",
                                        "data/m87_vlba_8GHz.bslz4.uvh5"};
    char path[TEST_PATH_BYTES];
    test_vis first;
    for (int64_t f = 0; f < TEST_COUNT(files); f++) {
        test_need_shared(files[f], path);
        slc_source *source = test_vis_open(path, NULL);
        test_vis vis;
        test_vis_read(source, 1000, &vis);
        if (f == 0) {
            first = vis;
        } else {
            assert_true(test_vis_equal(&first, &vis));
            test_vis_free(&vis);
        }
        slc_source_destroy(source);
    }
    test_vis_free(&first);
}

/* 3150 rows in chunks of 97 x 1 x 1 and 97 x 1 x 1: 33 rows of chunks, two channels, RR and LL are the
 * first two of four polarisations; three such datasets. */
static void counts_each_chunk_once(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/m87_vlba_8GHz.gzshuf.uvh5", path);
    slc_source *source = test_vis_open(path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_int_equal(source->counters.chunks_read, 3 * 33 * 2 * 2);
    assert_int_equal(source->counters.chunks_decoded, 3 * 33 * 2 * 2);
    assert_true(source->counters.read_ns > 0);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

/* The same rows in boxes of 50: the row of chunks in which a box ends is kept for the next one. */
static void boxes_share_the_chunk_between_them(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/m87_vlba_8GHz.gzshuf.uvh5", path);
    slc_source *source = test_vis_open(path, NULL);
    test_vis vis;
    test_vis_read(source, 50, &vis);
    assert_int_equal(source->counters.chunks_decoded, 3 * 33 * 2 * 2);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void describes_datasets(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/m87_vlba_8GHz.gzshuf.uvh5", path);
    slc_source *source = test_vis_open(path, NULL);
    slc_vis_dataset sets[8];
    int n = 0;
    TEST_OK(slc_vis_describe(source, 8, sets, &n));
    assert_int_equal(n, 4);
    assert_string_equal(sets[0].name, "/Data/visdata");
    assert_string_equal(sets[0].type, "compound {r: f4, i: f4}");
    assert_string_equal(sets[0].filters, "shuffle (2), deflate (1), fletcher32 (3)");
    assert_int_equal(sets[0].rank, 3);
    assert_true(sets[0].shape[0] == 3150 && sets[0].chunk[0] == 97 && sets[0].chunk[2] == 1);
    assert_int_equal(sets[0].logical_bytes, 3150 * 8 * 8);
    assert_int_equal(sets[0].stored_bytes, 196055);
    assert_string_equal(sets[1].type, "enum i1");
    TEST_OK(slc_vis_describe(source, 1, sets, &n));
    assert_int_equal(n, 4);
    slc_source_destroy(source);
}

/* B33. */
static void broken_files_are_refused(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/truncated.h5", path);
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_INPUT, "43734 bytes found, 87469 expected");
    test_need_shared("cases/empty_file.h5", path);
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_INPUT, "empty: 0 bytes found");
    test_need_shared("cases/README.md", path);
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_INPUT, "signature not found");
    test_need_shared("data/tart_vis_2021-03-25.hdf", path);
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_INPUT, "u is missing");
    test_need_shared("cases/sum32.h5", path);
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_UNSUPPORTED, "neither UVH5");
    TEST_FAILS(test_vis_try("/nowhere/x.uvh5", NULL), SLC_ERROR_INPUT, "No such file");
    TEST_FAILS(test_vis_try("/", NULL), SLC_ERROR_INPUT, "folder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(base_says_what_it_is),
        cmocka_unit_test(variants_differ_where_they_should),
        cmocka_unit_test(drift_set_points_at_the_zenith),
        cmocka_unit_test(box_sizes_do_not_matter),
        cmocka_unit_test(spellings_give_the_same_bits),
        cmocka_unit_test(counts_each_chunk_once),
        cmocka_unit_test(boxes_share_the_chunk_between_them),
        cmocka_unit_test(describes_datasets),
        cmocka_unit_test(broken_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
