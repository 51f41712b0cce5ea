/* What Sluice writes as UVH5 it reads: the same numbers, with and without zstd. */
#include "io/uvh5_write.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 300, CHANNELS = 3, POLS = 2, ANTENNAS = 5, SAMPLES = ROWS * CHANNELS * POLS };

typedef struct written {
    double uvw[ROWS * 3], time[ROWS], lst[ROWS], integration[ROWS];
    double freq[CHANNELS], width[CHANNELS], positions[ANTENNAS * 3];
    int64_t antenna_1[ROWS], antenna_2[ROWS];
    float vis[SAMPLES * 2], nsamples[SAMPLES];
    uint8_t flags[SAMPLES];
} written;

static void fill(written *set) {
    memset(set, 0, sizeof *set);
    test_fill_f64(set->uvw, ROWS * 3, 1);
    test_fill_f32(set->vis, SAMPLES * 2, 2);
    test_fill_f64(set->positions, ANTENNAS * 3, 3);
    for (int64_t k = 0; k < SAMPLES; k++) {
        set->nsamples[k] = 0.5F;
        set->flags[k] = k % 11 == 0;
    }
    for (int64_t k = 0; k < ROWS; k++) {
        set->time[k] = 2459000.5 + (double)(k / 10) / 8640.0;
        set->lst[k] = 0.001 * (double)(k / 10);
        set->integration[k] = 10.0;
        set->antenna_1[k] = k % 4;
        set->antenna_2[k] = 4;
    }
    for (int c = 0; c < CHANNELS; c++) {
        set->freq[c] = 1e9 + 2e6 * c;
        set->width[c] = 2e6;
    }
}

static void write_set(const char *path, const written *set, int zstd_level) {
    static const char *const names[ANTENNAS] = {"a", "b", "c", "d", "e"};
    static const int codes[POLS] = {-1, -2};
    const slc_uvh5_header header = {.n_rows = ROWS,
                                    .n_channels = CHANNELS,
                                    .n_polarisations = POLS,
                                    .n_antennas = ANTENNAS,
                                    .n_times = ROWS / 10,
                                    .n_baselines = 4,
                                    .latitude_deg = 34.0,
                                    .longitude_deg = -107.0,
                                    .altitude_m = 2000.0,
                                    .ra_rad = 2.5,
                                    .dec_rad = 0.5,
                                    .freq_hz = set->freq,
                                    .channel_width_hz = set->width,
                                    .polarisations = codes,
                                    .antenna_names = names,
                                    .antenna_positions_m = set->positions,
                                    .telescope = "VLA",
                                    .object = "galaxy",
                                    .history = "test"};
    const slc_uvh5_options options = {.zstd_level = zstd_level, .chunk_rows = 64};
    const slc_uvh5_rows rows = {.n_rows = ROWS,
                                .uvw_m = set->uvw,
                                .time_jd = set->time,
                                .lst_rad = set->lst,
                                .integration_s = set->integration,
                                .antenna_1 = set->antenna_1,
                                .antenna_2 = set->antenna_2,
                                .vis = set->vis,
                                .flags = set->flags,
                                .nsamples = set->nsamples};
    slc_uvh5_writer *writer = NULL;
    TEST_OK(slc_uvh5_writer_create(path, &header, &options, &writer));
    TEST_OK(slc_uvh5_writer_append(writer, &rows));
    TEST_OK(slc_uvh5_writer_commit(writer));
    slc_uvh5_writer_destroy(writer);
}

static void check_set(const char *path, const written *set) {
    slc_source *source = test_vis_open(path, NULL);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    test_vis vis;
    test_vis_read(source, 37, &vis);
    assert_string_equal(meta->format, "UVH5 1.2");
    assert_string_equal(meta->telescope, "VLA");
    assert_string_equal(meta->object, "galaxy");
    assert_string_equal(meta->imaged[0].text, "I = (RR + LL) / 2");
    assert_true(meta->ra_rad == 2.5 && meta->dec_rad == 0.5 && meta->is_w_projected);
    assert_int_equal(meta->frame, SLC_FRAME_ICRS);
    assert_int_equal(meta->n_times, ROWS / 10);
    assert_int_equal(meta->n_baselines, 4);
    assert_int_equal(vis.n_rows, ROWS);
    assert_memory_equal(vis.uvw, set->uvw, sizeof set->uvw);
    for (int64_t k = 0; k < ROWS * CHANNELS; k++) {
        const bool is_flagged = set->flags[2 * k] != 0 || set->flags[2 * k + 1] != 0;
        const double real = 0.5 * ((double)set->vis[4 * k] + (double)set->vis[4 * k + 2]);
        assert_true(vis.weight[k] == (is_flagged ? 0.0F : 0.5F));
        assert_true(vis.vis[2 * k] == (is_flagged ? 0.0F : (float)real));
    }
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void written_sets_are_read(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    written *set = test_allocate(sizeof *set);
    test_directory_create(directory);
    fill(set);
    test_join(directory, "plain.uvh5", path);
    write_set(path, set, 0);
    check_set(path, set);
    test_join(directory, "zstd.uvh5", path);
    write_set(path, set, 3);
    check_set(path, set);
    test_directory_remove(directory);
    free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_sets_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
