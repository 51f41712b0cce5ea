/* How work is divided: the model's time against blocks that are followed one by one, its choice
 * against the best of its set, what there is to divide in pictures that can be counted by hand, and
 * the same bits for every member of the set and for others, on every device. */
#include "tests/support/test_support.h"

#include <math.h>

#include "kernels/direct_tuning.h"
#include "tests/support/test_direct_scene.h"

#define N_DIVISIONS 400
#define MOST_SLOTS 300

/* ---- the model --------------------------------------------------------------------------------
 * */

/* Each block goes to the slot that is free first; those of a line's first pieces % split parts have
 * a piece more, and a line's first part starts before any line's second. */
static double follow_blocks(const slci_direct_division *division, int64_t split) {
    double free_at[MOST_SLOTS] = {0};
    double longest = 0.0;
    double end = 0.0;
    for (int64_t part = 0; part < split; part++) {
        int64_t n_pieces = 0;
        for (int64_t piece = part; piece < division->n_pieces; piece += split) {
            n_pieces++;
        }
        const double seconds = division->start + (double)n_pieces;
        longest = fmax(longest, seconds);
        for (int64_t line = 0; line < division->n_lines; line++) {
            int64_t earliest = 0;
            for (int64_t slot = 1; slot < division->n_slots; slot++) {
                earliest = free_at[slot] < free_at[earliest] ? slot : earliest;
            }
            free_at[earliest] += seconds;
            end = fmax(end, free_at[earliest]);
        }
    }
    return end + division->spread * longest;
}

static slci_direct_division random_division(uint64_t *seed) {
    return (slci_direct_division){.n_lines = 1 + test_random_below(seed, 60),
                                  .n_pieces = 1 + test_random_below(seed, 40),
                                  .n_slots = 1 + test_random_below(seed, MOST_SLOTS),
                                  .start = test_random_between(seed, 0.001, 2.0),
                                  .spread = test_random_between(seed, 0.0, 0.5)};
}

static void time_is_that_of_blocks_one_by_one(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < N_DIVISIONS; i++) {
        const slci_direct_division division = random_division(&seed);
        const int64_t split = 1 + test_random_below(&seed, division.n_pieces);
        const double expected = follow_blocks(&division, split);
        const double found = slci_direct_split_time(&division, split);
        assert_true(fabs(found - expected) <= 1e-9 * expected);
    }
}

static void the_choice_is_the_best_of_its_set(void **state) {
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < N_DIVISIONS; i++) {
        const slci_direct_division division = random_division(&seed);
        int64_t splits[SLCI_DIRECT_MOST_SPLITS];
        const int n = slci_direct_splits(&division, splits);
        const int64_t chosen = slci_direct_split_choose(&division);
        double least = INFINITY;
        bool is_member = false;
        assert_in_range(n, 1, SLCI_DIRECT_MOST_SPLITS);
        assert_int_equal(splits[0], 1);
        assert_int_equal(splits[n - 1], division.n_pieces);
        for (int k = 0; k < n; k++) {
            assert_true(k == 0 || splits[k] > splits[k - 1]);
            least = fmin(least, follow_blocks(&division, splits[k]));
            is_member = is_member || splits[k] == chosen;
        }
        assert_true(is_member);
        assert_true(follow_blocks(&division, chosen) <= least * (1.0 + 1e-9));
    }
}

/* More pieces than a launch has blocks for. */
static void huge_work_is_divided_too(void **state) {
    (void)state;
    static const slci_direct_division divisions[] = {
        {1, INT64_C(1) << 40, 132, 0.015, 0.1},
        {INT64_C(1) << 31, INT64_C(1) << 20, 264, 0.005, 0.1},
    };
    for (int64_t i = 0; i < TEST_COUNT(divisions); i++) {
        const int64_t split = slci_direct_split_choose(&divisions[i]);
        assert_in_range(split, 1, 65535);
        const double whole = (double)divisions[i].n_lines * (double)divisions[i].n_pieces /
                             (double)divisions[i].n_slots;
        assert_true(slci_direct_split_time(&divisions[i], split) < 1.05 * whole);
    }
}

/* ---- what is divided --------------------------------------------------------------------------
 * */

/* 20 channels: granules of 204 rows, one run each. */
#define N_CHANNELS 20
#define GRANULE_ROWS 204

static slc_direct_setup choose(slc_device_kind device, slc_direct_unit unit, int64_t n,
                               double scale_rad, int n_parts) {
    const slc_direct_request request = {
        .device = device,
        .geometry = {.nx = n, .ny = n, .scale_rad = scale_rad, .is_w_projected = true},
        .survey = {2000, 2000, 50, 1000, 4096},
        .n_channels = N_CHANNELS,
        .epsilon = 1e-6,
        .n_parts = n_parts,
        .card = {.has_fast_double = true, .unit = unit}};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    return setup;
}

static void expect_division(const slci_direct_work *work, slc_direct_launch launch, int64_t n_lines,
                            int64_t n_pieces, int64_t n_slots) {
    slci_direct_division division;
    assert_int_equal(slci_direct_divide(work, launch, &division), n_lines > 0);
    if (n_lines > 0) {
        assert_int_equal(division.n_lines, n_lines);
        assert_int_equal(division.n_pieces, n_pieces);
        assert_int_equal(division.n_slots, n_slots);
        assert_true(division.start > 0.0 && division.start < 2.0);
    }
}

/* On the host a granule's tiles are divided, on a card a tile's granules. */
static void tiles_and_runs_are_counted(void **state) {
    (void)state;
    const int64_t full_extent[] = {10 * GRANULE_ROWS, 256, 512};
    slci_direct_work work = {.device = SLC_DEVICE_HOST,
                             .n_processors = 5,
                             .full_extent = full_extent};
    slc_direct_setup setup = choose(SLC_DEVICE_HOST, SLC_DIRECT_UNIT_NONE, 512, 1e-6, 1);
    assert_int_equal(setup.granule_rows, GRANULE_ROWS);
    work.setup = &setup;
    const int64_t n_tiles = 256 / setup.tile_pixels * (512 / setup.tile_pixels);
    expect_division(&work, SLC_DIRECT_LAUNCH_HOST, 10, n_tiles, 5);
    expect_division(&work, SLC_DIRECT_LAUNCH_PRODUCT, 0, 0, 0);
    expect_division(&work, SLC_DIRECT_LAUNCH_SINE, 0, 0, 0);

    work.device = SLC_DEVICE_CUDA;
    work.n_processors = 100;
    setup = choose(SLC_DEVICE_CUDA, SLC_DIRECT_UNIT_NONE, 512, 1e-6, 1);
    expect_division(&work, SLC_DIRECT_LAUNCH_HOST, 0, 0, 0);
    expect_division(&work, SLC_DIRECT_LAUNCH_PRODUCT, 0, 0, 0);
    expect_division(&work, SLC_DIRECT_LAUNCH_SINE, 4 * 8, 10, 200);
    setup = choose(SLC_DEVICE_CUDA, SLC_DIRECT_UNIT_NONE, 512, 1e-6, 2);
    expect_division(&work, SLC_DIRECT_LAUNCH_SINE, 4 * 8, 10, 100);
    setup = choose(SLC_DEVICE_CUDA, SLC_DIRECT_UNIT_GROUP, 512, 1e-6, 2);
    /* Long stages have granules of four times as many rows where no tile has two terms. */
    expect_division(&work, SLC_DIRECT_LAUNCH_PRODUCT, 2 * 2 * 4, 3, 100);
}

/* Of a picture that is known, only the tiles of the launch's own method count. */
static void methods_have_their_share(void **state) {
    (void)state;
    const int64_t full_extent[] = {GRANULE_ROWS, 512, 512};
    const slc_direct_setup setup = choose(SLC_DEVICE_CUDA, SLC_DIRECT_UNIT_GROUP, 512, 1e-6, 1);
    const slc_direct_summary mixed = {
        .n_tiles = {[SLC_DIRECT_SKIP] = 4, [SLC_DIRECT_PRODUCT] = 9, [SLC_DIRECT_SINE_WIDE] = 3}};
    const slc_direct_summary products = {.n_tiles = {[SLC_DIRECT_PRODUCT] = 16}};
    slci_direct_work work = {&setup, &mixed, SLC_DEVICE_CUDA, 10, full_extent};
    expect_division(&work, SLC_DIRECT_LAUNCH_PRODUCT, 9, 1, 10);
    expect_division(&work, SLC_DIRECT_LAUNCH_SINE, 3 * 4, 1, 20);
    work.summary = &products;
    expect_division(&work, SLC_DIRECT_LAUNCH_PRODUCT, 16, 1, 10);
    expect_division(&work, SLC_DIRECT_LAUNCH_SINE, 0, 0, 0);
}

static void a_given_split_is_kept_to(void **state) {
    (void)state;
    const int64_t full_extent[] = {7 * GRANULE_ROWS, 64, 64};
    slc_direct_setup setup = choose(SLC_DEVICE_CUDA, SLC_DIRECT_UNIT_NONE, 64, 1e-6, 1);
    const slci_direct_work work = {&setup, NULL, SLC_DEVICE_CUDA, 10, full_extent};
    slci_direct_division division;
    assert_true(slci_direct_divide(&work, SLC_DIRECT_LAUNCH_SINE, &division));
    assert_int_equal(slci_direct_split_get(&work, SLC_DIRECT_LAUNCH_SINE),
                     slci_direct_split_choose(&division));
    setup.tuning.split[SLC_DIRECT_LAUNCH_SINE] = 3;
    assert_int_equal(slci_direct_split_get(&work, SLC_DIRECT_LAUNCH_SINE), 3);
    setup.tuning.split[SLC_DIRECT_LAUNCH_SINE] = 1000;
    assert_int_equal(slci_direct_split_get(&work, SLC_DIRECT_LAUNCH_SINE), 7);
    assert_int_equal(slci_direct_split_get(&work, SLC_DIRECT_LAUNCH_HOST), 1);
}

/* ---- the same bits ----------------------------------------------------------------------------
 * */

/* Fields by their width in radians: all products; some sines; to the horizon and beyond. */
static test_scene random_scene(uint64_t *seed) {
    static const double widths[] = {0.01, 0.3, 2.2};
    const int64_t nx = 60 + test_random_below(seed, 100);
    return (test_scene){.name = "random",
                        .nx = nx,
                        .ny = 60 + test_random_below(seed, 100),
                        .scale_rad = widths[test_random_below(seed, 3)] / (double)nx,
                        .is_w_projected = test_random_below(seed, 2) != 0,
                        .n_rows = 800 + test_random_below(seed, 2000),
                        .n_channels = 1 + test_random_below(seed, 12),
                        .reach_uv = 300.0,
                        .reach_w = test_random_between(seed, 1.0, 3000.0),
                        .share_used = 0.8,
                        .n_parts = 1 + (int)test_random_below(seed, 2)};
}

/* As the device's planner chooses. */
static slc_direct_setup setup_on(const slc_device *device, const test_scene *scene,
                                 const test_scene_data *data) {
    const slc_direct_request request = {.device = device->kind,
                                        .geometry = {scene->nx, scene->ny, scene->scale_rad, 0, 0,
                                                     scene->is_w_projected},
                                        .survey = {scene->reach_uv, scene->reach_uv, data->max_w,
                                                   scene->n_rows * scene->n_channels, data->size},
                                        .n_channels = scene->n_channels,
                                        .epsilon = 1e-6,
                                        .n_parts = scene->n_parts};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    return setup;
}

static void check_scene(const test_scene *scene, slc_device *device, uint64_t *seed) {
    test_scene_data data;
    test_scene_fill(scene, &data);
    const slc_direct_setup setup = setup_on(device, scene, &data);
    test_scene_check_splits(scene, &data, &setup, device, seed);
    test_scene_free(&data);
}

static void every_division_gives_the_same_bits(void **state) {
    (void)state;
    uint64_t seed = 21;
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        test_devices devices;
        test_devices_open(n_threads, &devices);
        for (int i = 0; i < 3; i++) {
            const test_scene scene = random_scene(&seed);
            for (int d = 0; d < devices.n; d++) {
                check_scene(&scene, devices.device[d], &seed);
            }
        }
        test_devices_close(&devices);
    }
}

/* A task is a kernel tile and a granule, or of rows with more channels than that a part of one row;
 * threads end at any time within half of the last one. */
static void a_host_waits_a_quarter_of_a_task(void **state) {
    (void)state;
    slc_direct_setup setup = {.tile_pixels = 128,
                              .granule_rows = 64,
                              .granule_samples = 4096,
                              .n_channels = 64};
    assert_true(slci_direct_host_wait(&setup) == 128 * 128 * 16);
    setup.granule_rows = 1;
    setup.n_channels = 8192;
    assert_true(slci_direct_host_wait(&setup) == 128 * 128 / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_waits_a_quarter_of_a_task),
        cmocka_unit_test(time_is_that_of_blocks_one_by_one),
        cmocka_unit_test(the_choice_is_the_best_of_its_set),
        cmocka_unit_test(huge_work_is_divided_too),
        cmocka_unit_test(tiles_and_runs_are_counted),
        cmocka_unit_test(methods_have_their_share),
        cmocka_unit_test(a_given_split_is_kept_to),
        cmocka_unit_test(every_division_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
