/* Several polarisations in one run: each plane has the bits of the run with its polarisation alone,
 * whatever the others are and whatever the budget; and what the files say of them. */
#include <hdf5.h>
#include <math.h>
#include <unistd.h>

#include "tests/support/test_fits.h"
#include "tests/support/test_picture.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 5000, CHANNELS = 3, POLS = 4, SIDE = 40 };

static const slc_device_choice devices[] = {SLC_CHOOSE_HOST, SLC_CHOOSE_CUDA};

/* Of XX, YY, XY, YX: all of the first; of the second samples left out here and there, in some granules
 * only; none of the third's longest baselines; nothing of the fourth. */
static bool is_flagged(int64_t row, int64_t channel, int64_t pol) {
    switch (pol) {
    case 1:
        return row < ROWS / 2 && (7 * row + channel) % 11 == 0;
    case 2:
        return row >= ROWS - 100;
    default:
        return pol == 3;
    }
}

static void make_set(const char *path) {
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    const int64_t n = (int64_t)ROWS * CHANNELS * POLS;
    uint8_t *flags = test_allocate(n);
    for (int64_t i = 0; i < n; i++) {
        flags[i] = is_flagged(i / ((int64_t)CHANNELS * POLS), i / POLS % CHANNELS, i % POLS);
    }
    test_uvh5_create(path, ROWS, CHANNELS, POLS);
    test_h5_put(path, "/Data/flags", H5T_STD_U8LE, H5T_NATIVE_UINT8, 3, shape, H5P_DEFAULT, flags);
    free(flags);
}

/* A picture of a set in the test's own folder. */
static void init_own(test_picture *p, const char *path) {
    memset(p, 0, sizeof *p);
    p->input = path;
    slc_image_options_init(&p->options);
    p->options.n_inputs = 1;
    p->options.nx = SIDE;
    p->options.ny = SIDE - 7;
    p->options.scale_rad = 1e-4;
    p->options.run.vram_bytes = INT64_C(1) << 30;
    p->options.run.ram_bytes = INT64_C(1) << 30;
    p->options.run.device = SLC_CHOOSE_HOST;
    p->options.run.n_threads = 2;
}

static void ask_for(test_picture *p, const slc_polarisation *pols, int n) {
    p->options.vis.polarisation = pols[0];
    memset(p->options.vis.more, 0, sizeof p->options.vis.more);
    for (int i = 1; i < n; i++) {
        p->options.vis.more[i - 1] = pols[i];
    }
}

static int64_t values_of(const test_picture *p) {
    return p->options.nx * p->options.ny * p->options.n_planes * (p->options.is_complex ? 2 : 1);
}

static void expect_nan(const double *values, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        assert_true(isnan(values[i]));
    }
}

/* The planes of p, whose run is done, against runs with one polarisation each. Of a polarisation
 * without data they are NaN, and alone it is refused. */
static void expect_lone_planes(const test_picture *p, const slc_polarisation *pols, int n) {
    const int64_t values = values_of(p);
    test_picture lone = *p;
    lone.image = NULL;
    lone.options.psf_path = NULL;
    lone.options.run.checkpoint_path = NULL;
    lone.options.run.vram_bytes = INT64_C(1) << 30;
    for (int i = 0; i < n; i++) {
        ask_for(&lone, &pols[i], 1);
        const slc_status status = test_picture_run(&lone);
        if (status == SLC_OK) {
            assert_memory_equal(p->image + i * values, lone.image, (size_t)values * sizeof(double));
        } else {
            assert_int_equal(status, SLC_ERROR_INPUT);
            expect_nan(p->image + i * values, values);
        }
    }
    free(lone.image);
}

/* At the smallest budget and with room for everything. */
static void expect_lone_planes_at_budgets(test_picture *p, const slc_polarisation *pols, int n) {
    ask_for(p, pols, n);
    p->options.run.dry_run = true;
    TEST_OK(test_picture_run(p));
    p->options.run.dry_run = false;
    const int64_t budgets[] = {p->result.plan.smallest_device_bytes, INT64_C(1) << 30};
    for (int64_t b = 0; b < TEST_COUNT(budgets); b++) {
        p->options.run.vram_bytes = budgets[b];
        TEST_OK(test_picture_run(p));
        assert_true(p->result.memory.vram_peak_bytes <= budgets[b]);
        expect_lone_planes(p, pols, n);
    }
    p->options.run.vram_bytes = budgets[0] - 1;
    TEST_FAILS(test_picture_run(p), SLC_ERROR_NO_PLAN, "--vram");
    p->options.run.vram_bytes = INT64_C(1) << 30;
}

/* Whether there is such a device; says so if not. */
static bool has_device(test_picture *p, slc_device_choice device) {
    p->options.run.device = device;
    p->options.run.dry_run = true;
    const bool has = test_picture_run(p) == SLC_OK;
    p->options.run.dry_run = false;
    if (!has) {
        print_message("not on this device: %s\n", slc_status_message());
    }
    return has;
}

/* ---- the same bits ---------------------------------------------------------------------------- */

static void flags_may_differ(void **state) {
    static const slc_polarisation pols[POLS] = {SLC_POL_YY, SLC_POL_YX, SLC_POL_XX, SLC_POL_XY};
    static const slc_weighting weightings[] = {SLC_WEIGHT_NATURAL, SLC_WEIGHT_UNIFORM,
                                               SLC_WEIGHT_BRIGGS};
    const test_place *place = *state;
    for (int64_t d = 0; d < TEST_COUNT(devices); d++) {
        test_picture p;
        init_own(&p, place->path);
        for (int64_t k = 0; k < TEST_COUNT(weightings) && has_device(&p, devices[d]); k++) {
            p.options.weighting = weightings[k];
            expect_lone_planes_at_budgets(&p, pols, POLS);
            assert_int_equal(p.result.n_fully_flagged_planes, 1); /* YX */
        }
        free(p.image);
    }
}

static void parts_and_planes_may_be_several(void **state) {
    static const slc_polarisation pols[] = {SLC_POL_I, SLC_POL_XY, SLC_POL_Q};
    const test_place *place = *state;
    for (int64_t d = 0; d < TEST_COUNT(devices); d++) {
        test_picture p;
        init_own(&p, place->path);
        if (has_device(&p, devices[d])) {
            p.options.is_complex = true;
            p.options.n_planes = CHANNELS;
            expect_lone_planes_at_budgets(&p, pols, (int)TEST_COUNT(pols));
        }
        free(p.image);
    }
}

static void real_sets(void **state) {
    static const slc_polarisation stokes[] = {SLC_POL_I, SLC_POL_Q, SLC_POL_U, SLC_POL_V};
    static const slc_polarisation linear[] = {SLC_POL_XX, SLC_POL_YY};
    (void)state;
    for (int64_t d = 0; d < TEST_COUNT(devices); d++) {
        test_picture p;
        test_picture_init(&p, "data/m87_vlba_8GHz.contig.uvh5", 70, 70, 2e-9);
        if (has_device(&p, devices[d])) {
            expect_lone_planes_at_budgets(&p, stokes, 4);
        }
        free(p.image);
        /* To the horizon: the sine kernel has its part. */
        test_picture_init(&p, "data/mwa_1061315448_mini.uvh5", 70, 70, 0.03);
        if (has_device(&p, devices[d])) {
            expect_lone_planes_at_budgets(&p, linear, 2);
        }
        free(p.image);
    }
}

/* One pass over the rows serves all polarisations of one reach. */
static void rows_are_read_once(void **state) {
    static const slc_polarisation pols[] = {SLC_POL_XX, SLC_POL_YY, SLC_POL_Q};
    const test_place *place = *state;
    test_picture p;
    init_own(&p, place->path);
    TEST_OK(test_picture_run(&p)); /* I */
    const int64_t n_tiles = p.result.report.n_tiles;
    const int64_t bytes = p.result.bytes_stored;
    ask_for(&p, pols, 3);
    TEST_OK(test_picture_run(&p));
    assert_int_equal(p.result.report.n_tiles, n_tiles);
    assert_int_equal(p.result.bytes_stored, bytes);
    free(p.image);
}

static volatile int cancelled;

static void stop_half_way(void *context, const char *stage, const char *thing, double done,
                          double total) {
    (void)context;
    (void)thing;
    if (strcmp(stage, "imaging") == 0 && done > 0.4 * total) {
        cancelled = 1;
    }
}

static void interrupted_runs_go_on(void **state) {
    static const slc_polarisation pols[] = {SLC_POL_XX, SLC_POL_YY, SLC_POL_XY};
    const test_place *place = *state;
    char checkpoint[TEST_PATH_BYTES];
    test_picture p;
    test_join(place->directory, "run.checkpoint", checkpoint);
    init_own(&p, place->path);
    p.options.nx = 200;
    ask_for(&p, pols, 3);
    p.options.run.dry_run = true;
    TEST_OK(test_picture_run(&p));
    p.options.run.dry_run = false;
    p.options.run.vram_bytes = p.result.plan.smallest_device_bytes;
    p.options.run.checkpoint_path = checkpoint;
    p.options.run.cancel = &cancelled;
    p.options.run.progress = stop_half_way;
    cancelled = 0;
    const slc_status status = test_picture_run(&p);
    if (status == SLC_ERROR_UNSUPPORTED) {
        free(p.image);
        TEST_SKIP("%s", slc_status_message());
    }
    assert_int_equal(status, SLC_ERROR_INTERRUPTED);
    cancelled = 0;
    p.options.run.progress = NULL;
    p.options.run.resume = true;
    p.options.run.vram_bytes *= 2;
    test_picture other = p; /* another list is another picture */
    other.image = NULL;
    ask_for(&other, pols, 2);
    TEST_FAILS(test_picture_run(&other), SLC_ERROR_INPUT, "polarisation");
    TEST_OK(test_picture_run(&p));
    assert_true(p.result.is_resumed);
    p.options.run.resume = false;
    expect_lone_planes(&p, pols, 3);
    free(other.image);
    free(p.image);
}

/* ---- files ------------------------------------------------------------------------------------ */

/* /image [count] of a file. */
static double *read_image(const char *path, int rank, const hsize_t *shape) {
    hsize_t found[4] = {0};
    hsize_t count = 1;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, "/image", H5P_DEFAULT);
    const hid_t space = H5Dget_space(data);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    assert_true(H5Sget_simple_extent_dims(space, found, NULL) >= 0);
    for (int k = 0; k < rank; k++) {
        assert_int_equal(found[k], shape[k]);
        count *= found[k];
    }
    double *image = test_allocate((int64_t)(count * sizeof *image));
    assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, image) >= 0);
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
    return image;
}

/* The k-th name of the attribute STOKES. */
static void expect_stokes(const char *path, int k, const char *expected) {
    char names[4][4] = {{0}};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t attribute = H5Aopen_by_name(file, "/image", "STOKES", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    assert_int_equal(H5Tget_size(type), sizeof names[0]);
    assert_true(H5Aread(attribute, type, names) >= 0);
    assert_string_equal(names[k], expected);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Fclose(file);
}

/* A file with the picture and one with the PSFs, of which each is that of its polarisation. */
static void files_have_an_axis_of_polarisations(void **state) {
    static const slc_polarisation pols[] = {SLC_POL_YY, SLC_POL_XX, SLC_POL_XY};
    const hsize_t shape[4] = {3, 1, SIDE - 7, SIDE};
    const hsize_t lone_shape[2] = {SIDE - 7, SIDE};
    const test_place *place = *state;
    char out[TEST_PATH_BYTES];
    char psf[TEST_PATH_BYTES];
    const char *outputs[] = {out};
    test_picture p;
    test_join(place->directory, "out.h5", out);
    test_join(place->directory, "psf.h5", psf);
    init_own(&p, place->path);
    p.options.outputs = outputs;
    p.options.n_outputs = 1;
    p.options.psf_path = psf;
    p.options.run.overwrite = true;
    ask_for(&p, pols, 3);
    TEST_OK(test_picture_run(&p));
    const int64_t values = values_of(&p);
    double *image = read_image(out, 4, shape);
    assert_memory_equal(image, p.image, (size_t)(3 * values) * sizeof(double));
    free(image);
    expect_stokes(out, 0, "YY");
    expect_stokes(out, 1, "XX");
    expect_stokes(psf, 2, "XY");
    double *all = read_image(psf, 4, shape);
    for (int i = 0; i < 3; i++) {
        ask_for(&p, &pols[i], 1);
        TEST_OK(test_picture_run(&p));
        double *one = read_image(psf, 2, lone_shape);
        assert_memory_equal(all + i * values, one, (size_t)values * sizeof(double));
        free(one);
    }
    free(all);
    free(p.image);
}

/* The number of a card of the header, which is two blocks. */
static double card_of(const char *path, const char *name) {
    int64_t n = 0;
    char *bytes = test_file_read(path, &n);
    double value = NAN;
    for (int64_t at = 0; at + 80 <= n && at < INT64_C(2) * 2880; at += 80) {
        if (strncmp(bytes + at, name, 8) == 0) {
            assert_int_equal(sscanf(bytes + at + 10, "%lf", &value), 1);
        }
    }
    free(bytes);
    return value;
}

static void fits_has_even_axes(void **state) {
    static const slc_polarisation falling[] = {SLC_POL_XX, SLC_POL_YY, SLC_POL_XY};
    static const slc_polarisation uneven[] = {SLC_POL_I, SLC_POL_XX, SLC_POL_YY};
    const test_place *place = *state;
    char out[TEST_PATH_BYTES];
    const char *outputs[] = {out};
    test_picture p;
    test_need_fits();
    test_join(place->directory, "out.fits", out);
    init_own(&p, place->path);
    p.options.outputs = outputs;
    p.options.n_outputs = 1;
    ask_for(&p, uneven, 3);
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_ARGUMENT, "evenly spaced");
    ask_for(&p, falling, 3);
    TEST_OK(test_picture_run(&p));
    TEST_NEAR(card_of(out, "NAXIS3  "), 1.0, 0.0);
    TEST_NEAR(card_of(out, "NAXIS4  "), 3.0, 0.0);
    TEST_NEAR(card_of(out, "CRVAL4  "), -5.0, 0.0);
    TEST_NEAR(card_of(out, "CDELT4  "), -1.0, 0.0);
    free(p.image);
}

/* ---- what is refused -------------------------------------------------------------------------- */

static void no_polarisation_comes_twice(void **state) {
    static const slc_polarisation twice[] = {SLC_POL_XX, SLC_POL_YY, SLC_POL_XX};
    static const slc_polarisation absent[] = {SLC_POL_XX, SLC_POL_RL};
    const test_place *place = *state;
    test_picture p;
    init_own(&p, place->path);
    ask_for(&p, twice, 3);
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_ARGUMENT, "XX is asked for twice");
    ask_for(&p, absent, 2);
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_ARGUMENT, "there is no RL in this file");
    free(p.image);
}

static int create(void **state) {
    make_set(test_place_create(state, "set.uvh5")->path);
    return 0;
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, create, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(flags_may_differ),
        CASE(parts_and_planes_may_be_several),
        CASE(real_sets),
        CASE(rows_are_read_once),
        CASE(interrupted_runs_go_on),
        CASE(files_have_an_axis_of_polarisations),
        CASE(fits_has_even_axes),
        CASE(no_polarisation_comes_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
