/* The imaging job against right values: public cases, real data sets with exact images, and the same
 * bits for every budget and thread count, on every device of this machine. */
#include "tests/support/test_support.h"

#include <hdf5.h>
#include <math.h>

#include "app/image.h"
#include "core/device_check.h"

/* A run with its picture. */
typedef struct picture {
    char path[TEST_PATH_BYTES];
    const char *input;
    slc_image_options options;
    slc_image_result result;
    double *image;
} picture;

/* Options for a shared file at nx × ny pixels; skips the test where the file is missing. */
static void picture_init(picture *p, const char *file, int64_t nx, int64_t ny, double scale_rad) {
    memset(p, 0, sizeof *p);
    test_need_shared(file, p->path);
    p->input = p->path;
    slc_image_options_init(&p->options);
    p->options.inputs = &p->input;
    p->options.n_inputs = 1;
    p->options.nx = nx;
    p->options.ny = ny;
    p->options.scale_rad = scale_rad;
    p->options.vram_bytes = 1ll << 30;
    p->options.ram_bytes = 1ll << 30;
    p->options.device = SLC_CHOOSE_HOST;
    p->options.n_threads = 2;
}

static slc_status picture_run(picture *p) {
    const int64_t parts = p->options.is_complex ? 2 : 1;
    p->options.inputs = &p->input;
    free(p->image);
    p->image = test_allocate(p->options.nx * p->options.ny * p->options.n_planes * parts *
                             (int64_t)sizeof(double));
    p->options.image = p->image;
    return slc_image_run(&p->options, &p->result);
}

static double at(const picture *p, int64_t x, int64_t y) {
    return p->image[y * p->options.nx + x];
}

static void expect_near(double found, double expected, double tolerance, const char *what) {
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%s: found %.9g, expected %.9g within %.1g", what, found, expected, tolerance);
    }
}

/* ---- public cases ----------------------------------------------------------------------------- */

typedef struct place {
    const char *file;
    int64_t nx, ny;
    double scale_rad;
    int64_t x, y;
    double value, tolerance;
    bool is_peak; /* and nothing is larger */
} place;

static const place places[] = {
    {"cases/base.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/base.uvh5", 128, 128, 0.002, 89, 79, 0.020430, 1e-6, false},
    {"cases/noncoplanar.uvh5", 128, 128, 0.01, 34, 44, 1.0, 2e-6, true},
    {"cases/mixed_order.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/base.uvh5", 127, 127, 0.002, 38, 48, 1.0, 2e-6, true},
    {"cases/base.uvh5", 128, 100, 0.002, 39, 35, 1.0, 2e-6, true},
    {"cases/base.uvh5", 1, 1, 0.002, 0, 0, 0.034441, 1e-6, true},
    {"cases/freq_down.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/nan_flagged.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/chan0_flagged.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/nsamples_half.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/pol_sum.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/pol_avg.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/one_baseline.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, false},
    {"cases/irregular_blts.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/vlen_strings.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/two_src.uvh5", 128, 128, 0.002, 39, 49, 0.996826, 2e-6, true},
};

static void public_cases(void **state) {
    (void)state;
    for (int64_t i = 0; i < TEST_COUNT(places); i++) {
        const place *c = &places[i];
        picture p;
        picture_init(&p, c->file, c->nx, c->ny, c->scale_rad);
        TEST_OK(picture_run(&p));
        expect_near(at(&p, c->x, c->y), c->value, c->tolerance, c->file);
        if (c->is_peak) {
            assert_int_equal(p.result.peak_x, c->x);
            assert_int_equal(p.result.peak_y, c->y);
        }
        free(p.image);
    }
}

static void counts_flags(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/nan_flagged.uvh5", 32, 32, 0.002);
    TEST_OK(picture_run(&p));
    assert_int_equal(p.result.n_flagged, 360);
    assert_int_equal(p.result.n_looked_at, 2880);
    assert_int_equal(p.result.n_used, 180 * 7);
    assert_int_equal(p.result.n_nonfinite, 0);
    free(p.image);
}

static void refuses_what_has_no_data(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/all_flagged.uvh5", 32, 32, 0.002);
    TEST_FAILS(picture_run(&p), SLC_ERROR_INPUT, "no unflagged visibilities: 2880 of 2880 flagged");
    free(p.image);
    picture_init(&p, "cases/nsamples_zero.uvh5", 32, 32, 0.002);
    TEST_FAILS(picture_run(&p), SLC_ERROR_INPUT, "nsamples");
    TEST_FAILS(picture_run(&p), SLC_ERROR_INPUT, "--unit-weights");
    p.options.vis.use_unit_weights = true;
    p.options.nx = p.options.ny = 128;
    TEST_OK(picture_run(&p));
    expect_near(at(&p, 39, 49), 1.0, 2e-6, "unit weights");
    free(p.image);
}

static void one_baseline_is_a_fringe(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/one_baseline.uvh5", 128, 128, 0.002);
    TEST_OK(picture_run(&p));
    double lowest = 1;
    double highest = -1;
    for (int64_t i = 0; i < 128 * 128; i++) {
        lowest = fmin(lowest, p.image[i]);
        highest = fmax(highest, p.image[i]);
    }
    expect_near(lowest, -1, 1e-3, "lowest");
    expect_near(highest, 1, 1e-3, "highest");
    expect_near(p.result.rms, 0.7071, 2e-3, "rms");
    assert_false(p.result.meta.beam.is_valid);
    free(p.image);
}

static void a_cube_has_nan_where_a_channel_is_flagged(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/chan0_flagged.uvh5", 128, 128, 0.002);
    p.options.n_planes = 8;
    TEST_OK(picture_run(&p));
    for (int64_t plane = 0; plane < 8; plane++) {
        const double value = p.image[(plane * 128 + 49) * 128 + 39];
        if (plane == 0) {
            assert_true(isnan(value));
        } else {
            expect_near(value, 1.0, 2e-6, "plane");
        }
    }
    assert_int_equal(p.result.n_fully_flagged_planes, 1);
    free(p.image);
}

static void an_empty_selection_is_named(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/base.uvh5", 16, 16, 0.002);
    p.options.vis.uv_min_wavelengths = 1e9;
    p.options.vis.uv_max_wavelengths = 2e9;
    TEST_FAILS(picture_run(&p), SLC_ERROR_INPUT, "selection leaves no visibilities");
    free(p.image);
}

static void describes_the_sky(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/base.uvh5", 128, 128, 0.002);
    TEST_OK(picture_run(&p));
    expect_near(p.result.peak_ra_rad * 57.29577951308232, 60.616608, 1e-5, "right ascension");
    expect_near(p.result.peak_dec_rad * 57.29577951308232, -30.327190, 1e-5, "declination");
    expect_near(p.result.meta.freq_hz, 153.5e6, 1, "frequency");
    expect_near(p.result.meta.width_hz, 8e6, 1, "bandwidth");
    assert_string_equal(p.result.meta.object, "test");
    assert_string_equal(p.result.meta.telescope, "SLUICETEST");
    assert_string_equal(p.result.meta.unit, "Jy/beam");
    free(p.image);
}

static void a_moved_centre_shows_the_same_sky(void **state) {
    (void)state;
    picture whole;
    picture moved;
    picture_init(&whole, "cases/base.uvh5", 128, 128, 0.002);
    picture_init(&moved, "cases/base.uvh5", 32, 32, 0.002);
    TEST_OK(picture_run(&whole));
    moved.options.has_centre = true;
    moved.options.centre_ra_rad = whole.result.peak_ra_rad;
    moved.options.centre_dec_rad = whole.result.peak_dec_rad;
    TEST_OK(picture_run(&moved));
    for (int64_t y = -16; y < 16; y++) {
        for (int64_t x = -16; x < 16; x++) {
            expect_near(at(&moved, 16 + x, 16 + y), at(&whole, 39 + x, 49 + y), 2e-6, "pixel");
        }
    }
    expect_near(moved.result.meta.reference_x, 16 + 25, 1e-6, "reference pixel x");
    expect_near(moved.result.meta.reference_y, 16 + 15, 1e-6, "reference pixel y");
    free(whole.image);
    free(moved.image);
}

/* ---- weights and beam ------------------------------------------------------------------------- */

static void uniform_and_briggs_weights(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/base.uvh5", 128, 128, 0.002);
    p.options.weighting = SLC_WEIGHT_UNIFORM;
    TEST_OK(picture_run(&p));
    expect_near(at(&p, 10, 20), 0.0236540, 5e-7, "BASE uniform");
    assert_int_equal(p.result.n_used, 1391);
    expect_near(p.result.weight_sum, 512, 1e-3, "BASE sum of uniform weights");
    p.options.weighting = SLC_WEIGHT_BRIGGS;
    TEST_OK(picture_run(&p));
    expect_near(at(&p, 10, 20), 0.0236065, 5e-7, "BASE briggs:0");
    free(p.image);
}

/* The image of an exact file, and the scale it was made at. */
static double *read_expected(const char *name, int64_t count, double *scale_rad) {
    char path[TEST_PATH_BYTES];
    test_need_shared(name, path);
    double *image = test_allocate(count * (int64_t)sizeof *image);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const hid_t data = H5Dopen2(file, "/image", H5P_DEFAULT);
    const hid_t attribute = H5Aopen(data, "scale_rad", H5P_DEFAULT);
    assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, image) >= 0);
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, scale_rad) >= 0);
    H5Aclose(attribute);
    H5Dclose(data);
    H5Fclose(file);
    return image;
}

static void m87_weights_and_beam(void **state) {
    (void)state;
    double scale = 0;
    free(read_expected("data/expected/m87_256.h5", 256 * 256, &scale));
    picture p;
    picture_init(&p, "data/m87_vlba_8GHz.contig.uvh5", 256, 256, scale);
    TEST_OK(picture_run(&p));
    assert_true(p.result.meta.beam.is_valid);
    expect_near(p.result.meta.beam.major_rad / scale, 11.540, 1e-3, "major axis");
    expect_near(p.result.meta.beam.minor_rad / scale, 6.089, 1e-3, "minor axis");
    expect_near(p.result.meta.beam.angle_rad * 57.29577951308232, -7.257, 2e-3, "angle");
    p.options.weighting = SLC_WEIGHT_UNIFORM;
    TEST_OK(picture_run(&p));
    expect_near(at(&p, 10, 20), 0.0185938, 5e-7, "m87 uniform");
    expect_near(p.result.weight_sum, 339, 1e-3, "m87 sum of uniform weights");
    p.options.weighting = SLC_WEIGHT_BRIGGS;
    TEST_OK(picture_run(&p));
    expect_near(at(&p, 10, 20), 0.0234455, 5e-7, "m87 briggs:0");
    free(p.image);
}

/* ---- exact images of real data, any budget ---------------------------------------------------- */

typedef struct exact_case {
    const char *expected, *file;
    int64_t nx, ny;
} exact_case;

static const exact_case exact_cases[] = {
    {"data/expected/m87_256.h5", "data/m87_vlba_8GHz.contig.uvh5", 256, 256},
    {"data/expected/m87_200x150.h5", "data/m87_vlba_8GHz.contig.uvh5", 200, 150},
    {"data/expected/hera_64.h5", "data/hera_zen.2458042.60288.HH.uvRXLS.uvh5_downselected", 64, 64},
    {"data/expected/mwa_96.h5", "data/mwa_1061315448_mini.uvh5", 96, 96},
};

/* Relative L2 error over pixels that are finite in both; their number must agree. */
static double relative_error(const double *image, const double *expected, int64_t n) {
    double difference = 0;
    double size = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(isfinite(image[i]) != 0, isfinite(expected[i]) != 0);
        if (isfinite(image[i])) {
            difference += (image[i] - expected[i]) * (image[i] - expected[i]);
            size += expected[i] * expected[i];
        }
    }
    return sqrt(difference / size);
}

/* On one device: right, and the same bits from the smallest budget upwards. */
static void check_exact(const exact_case *c, slc_device *device) {
    const int64_t n = c->nx * c->ny;
    double scale = 0;
    double *expected = read_expected(c->expected, n, &scale);
    picture p;
    picture_init(&p, c->file, c->nx, c->ny, scale);
    p.options.use_device = device;
    TEST_OK(picture_run(&p));
    const double error = relative_error(p.image, expected, n);
    print_message("%s on %s: relative error %.2e\n", c->expected, test_device_name(device), error);
    assert_true(error < 1e-6);
    double *first = p.image;
    p.image = NULL;
    const int64_t smallest = p.result.plan.smallest_device_bytes;
    assert_true(smallest > 0);
    const int64_t budgets[] = {smallest, smallest + smallest / 2, 4 * smallest, 1ll << 26};
    for (int b = 0; b < 4; b++) {
        p.options.vram_bytes = budgets[b] < smallest ? smallest : budgets[b];
        TEST_OK(picture_run(&p));
        assert_true(p.result.vram_peak_bytes <= p.options.vram_bytes);
        assert_memory_equal(first, p.image, (size_t)n * sizeof(double));
    }
    p.options.vram_bytes = smallest - 1;
    TEST_FAILS(picture_run(&p), SLC_ERROR_NO_PLAN, "smallest that works");
    free(first);
    free(p.image);
    free(expected);
}

static void real_data_is_exact_at_any_budget(void **state) {
    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        test_devices devices;
        test_devices_open(n_threads, &devices);
        for (int d = 0; d < devices.n; d++) {
            for (int64_t i = 0; i < TEST_COUNT(exact_cases); i++) {
                check_exact(&exact_cases[i], devices.device[d]);
            }
        }
        test_devices_close(&devices);
    }
}

static void thread_count_changes_no_bit(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "data/mwa_1061315448_mini.uvh5", 96, 96, 0.005);
    double *first = NULL;
    for (int n_threads = 1; n_threads <= 4; n_threads++) {
        p.options.n_threads = n_threads;
        TEST_OK(picture_run(&p));
        if (first == NULL) {
            first = p.image;
            p.image = NULL;
        } else {
            assert_memory_equal(first, p.image, 96 * 96 * sizeof(double));
        }
    }
    free(first);
    free(p.image);
}

static void four_spellings_give_the_same_bits(void **state) {
    (void)state;
    static const char *const files[] = {"data/m87_vlba_8GHz.contig.uvh5",
                                        "data/m87_vlba_8GHz.gzshuf.uvh5",
                                        "data/m87_vlba_8GHz.lzf.uvh5",
                                        "data/m87_vlba_8GHz.bslz4.uvh5"};
    double *first = NULL;
    for (int i = 0; i < 4; i++) {
        picture p;
        picture_init(&p, files[i], 64, 64, 1e-9);
        const slc_status status = picture_run(&p);
        if (status == SLC_ERROR_UNSUPPORTED) {
            print_message("left out: %s\n", slc_status_message()); /* a plugin is not installed */
            free(p.image);
            continue;
        }
        TEST_OK(status);
        if (first == NULL) {
            first = p.image;
        } else {
            assert_memory_equal(first, p.image, 64 * 64 * sizeof(double));
            free(p.image);
        }
    }
    free(first);
}

/* The same set twice is the same picture; rows of two files follow each other. */
static void several_files_are_one_set(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/base.uvh5", 64, 64, 0.002);
    TEST_OK(picture_run(&p));
    double *once = p.image;
    const int64_t n_used = p.result.n_used;
    p.image = test_allocate(64 * 64 * (int64_t)sizeof(double));
    const char *const both[] = {p.path, p.path};
    p.options.inputs = both;
    p.options.n_inputs = 2;
    p.options.image = p.image;
    TEST_OK(slc_image_run(&p.options, &p.result));
    assert_int_equal(p.result.n_used, 2 * n_used);
    assert_true(relative_error(p.image, once, 64 * 64) < 1e-6);
    free(once);
    free(p.image);
}

static void complex_images_have_the_real_part(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/base.uvh5", 64, 64, 0.002);
    TEST_OK(picture_run(&p));
    double *real = p.image;
    p.image = NULL;
    p.options.is_complex = true;
    TEST_OK(picture_run(&p));
    double imaginary = 0;
    for (int64_t i = 0; i < 64 * 64; i++) {
        expect_near(p.image[2 * i], real[i], 2e-6, "real part");
        imaginary = fmax(imaginary, fabs(p.image[2 * i + 1]));
    }
    assert_true(imaginary > 0.01);
    free(real);
    free(p.image);
}

static void a_dry_run_plans_what_a_run_does(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "cases/base.uvh5", 300, 300, 0.002);
    p.options.vram_bytes = 4 << 20;
    TEST_OK(picture_run(&p));
    const slc_image_result ran = p.result;
    p.options.dry_run = true;
    TEST_OK(picture_run(&p));
    assert_memory_equal(ran.plan.tile, p.result.plan.tile, sizeof ran.plan.tile);
    assert_int_equal(ran.report.bytes_h2d, p.result.plan.bytes_h2d);
    assert_int_equal(ran.report.bytes_d2h, p.result.plan.bytes_d2h);
    assert_int_equal(ran.report.bytes_read, p.result.plan.bytes_read);
    assert_int_equal(ran.report.n_tiles, p.result.plan.n_tiles);
    assert_int_equal(ran.report.device_peak_bytes, p.result.plan.device_peak_bytes);
    assert_true(slc_numerics_equal(&ran.numerics, &p.result.numerics));
    char *text = NULL;
    TEST_OK(slc_image_plan_text(&p.result, &text));
    assert_non_null(strstr(text, "smallest --vram"));
    free(text);
    free(p.image);
}

static void count_lines(void *context, slc_log_level level, const char *text) {
    (void)text;
    if (level == SLC_LOG_WARNING) {
        (*(int *)context)++;
    }
}

/* Nothing above 64 KiB can be pinned: the picture is the same, and it is said once. */
static void unpinned_memory_is_slower_not_different(void **state) {
    (void)state;
    picture p;
    picture_init(&p, "data/m87_vlba_8GHz.contig.uvh5", 96, 96, 1e-9);
    TEST_OK(picture_run(&p));
    double *first = p.image;
    p.image = NULL;
    slc_pool *pool = NULL;
    slc_device *inner = NULL;
    slc_device *check = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &inner));
    const slc_check_options options = {.pinned_limit_bytes = 1 << 16};
    TEST_OK(slc_device_create_check(inner, &options, &check));
    int n_warnings = 0;
    slc_log log;
    slc_log_init(&log, SLC_LOG_WARNING, count_lines, &n_warnings);
    p.options.use_device = check;
    TEST_OK(picture_run(&p));
    const int64_t pageable = p.result.report.pageable_bytes;
    p.options.log = &log;
    TEST_OK(picture_run(&p));
    assert_memory_equal(first, p.image, 96 * 96 * sizeof(double));
    assert_true(pageable > 0);
    /* One for the image, one for the patch of the PSF at most: each says how much it is. */
    assert_true(n_warnings >= 1 && n_warnings <= 2);
    slc_log_destroy(&log);
    slc_device_destroy(check);
    slc_pool_destroy(pool);
    free(first);
    free(p.image);
}

/* The least free memory that the driver saw while a run was going on. */
typedef struct watch {
    slc_device *device;
    int64_t least_free;
} watch;

static void look_at_memory(void *context, slc_progress_stage stage, double done, double total) {
    watch *w = context;
    (void)stage;
    (void)done;
    (void)total;
    slc_device_limits limits;
    if (slc_device_get_limits(w->device, &limits) == SLC_OK && limits.free_bytes < w->least_free) {
        w->least_free = limits.free_bytes;
    }
}

/* The ledger against the driver's own count: a run takes no more of the card than its budget. */
static void the_card_agrees_with_the_ledger(void **state) {
    (void)state;
    test_devices devices;
    test_devices_open(2, &devices);
    for (int d = 0; d < devices.n; d++) {
        slc_device *device = devices.device[d];
        if (device->kind == SLC_DEVICE_HOST) {
            continue; /* its memory is everybody's */
        }
        picture p;
        picture_init(&p, "cases/base.uvh5", 2048, 2048, 1e-4);
        p.options.use_device = device;
        TEST_OK(picture_run(&p)); /* kernels are loaded now */
        slc_device_limits before;
        TEST_OK(slc_device_get_limits(device, &before));
        const int64_t budgets[] = {8 << 20, 64 << 20, 256 << 20};
        for (int b = 0; b < 3; b++) {
            watch w = {.device = device, .least_free = before.free_bytes};
            p.options.vram_bytes = budgets[b];
            p.options.progress = look_at_memory;
            p.options.progress_context = &w;
            TEST_OK(picture_run(&p));
            print_message("--vram %lld: ledger %lld, driver %lld bytes\n", (long long)budgets[b],
                          (long long)p.result.vram_peak_bytes,
                          (long long)(before.free_bytes - w.least_free));
            assert_true(p.result.vram_peak_bytes <= budgets[b]);
            assert_true(before.free_bytes - w.least_free <= budgets[b]);
        }
        free(p.image);
    }
    test_devices_close(&devices);
}

/* 1024² pixels are 16 MiB of sums: cut at the first budget, whole at the others. */
static void large_images_are_the_same_at_any_budget(void **state) {
    (void)state;
    test_devices devices;
    test_devices_open(2, &devices);
    for (int d = 0; d < devices.n; d++) {
        picture p;
        picture_init(&p, "cases/base.uvh5", 1024, 1024, 2e-4);
        p.options.use_device = devices.device[d];
        double *first = NULL;
        const int64_t budgets[] = {6 << 20, 64 << 20, 256 << 20, 2ll << 30};
        for (int b = 0; b < 4; b++) {
            p.options.vram_bytes = budgets[b];
            TEST_OK(picture_run(&p));
            assert_true(p.result.vram_peak_bytes <= budgets[b]);
            assert_true(b != 0 || p.result.plan.n_tiles > 1);
            if (first == NULL) {
                first = p.image;
                p.image = NULL;
            } else {
                assert_memory_equal(first, p.image, (size_t)1024 * 1024 * sizeof(double));
            }
        }
        free(first);
        free(p.image);
    }
    test_devices_close(&devices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_cases),
        cmocka_unit_test(counts_flags),
        cmocka_unit_test(refuses_what_has_no_data),
        cmocka_unit_test(one_baseline_is_a_fringe),
        cmocka_unit_test(a_cube_has_nan_where_a_channel_is_flagged),
        cmocka_unit_test(an_empty_selection_is_named),
        cmocka_unit_test(describes_the_sky),
        cmocka_unit_test(a_moved_centre_shows_the_same_sky),
        cmocka_unit_test(uniform_and_briggs_weights),
        cmocka_unit_test(m87_weights_and_beam),
        cmocka_unit_test(real_data_is_exact_at_any_budget),
        cmocka_unit_test(thread_count_changes_no_bit),
        cmocka_unit_test(four_spellings_give_the_same_bits),
        cmocka_unit_test(several_files_are_one_set),
        cmocka_unit_test(complex_images_have_the_real_part),
        cmocka_unit_test(a_dry_run_plans_what_a_run_does),
        cmocka_unit_test(unpinned_memory_is_slower_not_different),
        cmocka_unit_test(the_card_agrees_with_the_ledger),
        cmocka_unit_test(large_images_are_the_same_at_any_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
