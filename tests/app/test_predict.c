/* Predictions from end to end on the host device: right values against the simulator, which is
 * exact in double, and against sets made by other means; back into a picture; what is said and what
 * is refused. */
#include "tests/support/test_fits.h"
#include "tests/support/test_prediction.h"
#include "tests/support/test_uvh5.h"

#include "app/image.h"
#include "core/sky.h"

enum { SIZE = TEST_PREDICTION_SIZE, CHANNELS = TEST_PREDICTION_CHANNELS };
#define SCALE TEST_PREDICTION_SCALE

static void read_vis(const char *path, test_vis *out) {
    const slc_vis_options options = {.use_autos = true};
    slc_source *source = test_vis_open(path, &options);
    test_vis_read(source, 0, out);
    slc_source_destroy(source);
}

/* The largest difference between two sets' visibilities. */
static double largest_difference(const char *a, const char *b) {
    test_vis x;
    test_vis y;
    double largest = 0.0;
    read_vis(a, &x);
    read_vis(b, &y);
    assert_int_equal(x.n_rows, y.n_rows);
    assert_int_equal(x.n_channels, y.n_channels);
    for (int64_t k = 0; k < x.n_rows * x.n_channels; k++) {
        largest = fmax(largest, hypot((double)x.vis[2 * k] - (double)y.vis[2 * k],
                                      (double)x.vis[2 * k + 1] - (double)y.vis[2 * k + 1]));
    }
    test_vis_free(&x);
    test_vis_free(&y);
    return largest;
}

static double *zeros(int64_t n) {
    double *values = test_allocate(n * (int64_t)sizeof *values);
    memset(values, 0, (size_t)n * sizeof *values);
    return values;
}

/* Some pixels of one plane have fluxes, and the same sky is written as a list. */
static const struct {
    int64_t x, y;
    double flux;
} pixels[] = {{39, 49, 1.0}, {10, 5, 0.5}, {60, 61, -0.25}, {32, 32, 0.125}, {3, 58, 2.0}};
#define PIXELS_ABS_JY 3.875

static void write_pixels(test_prediction *self, const slc_image_meta *meta) {
    double *values = zeros(meta->n_planes * SIZE * SIZE);
    char text[1024] = "";
    for (int64_t k = 0; k < TEST_COUNT(pixels); k++) {
        for (int64_t p = 0; p < meta->n_planes; p++) {
            values[(p * SIZE + pixels[k].y) * SIZE + pixels[k].x] = pixels[k].flux;
        }
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "l=%.17g m=%.17g flux=%.17g\n", -SCALE * (double)(pixels[k].x - SIZE / 2),
                       SCALE * (double)(pixels[k].y - SIZE / 2), pixels[k].flux);
    }
    TEST_OK(slc_image_file_write(self->model, meta, values, true, NULL));
    test_write_below(self->directory, "pixels.txt", text);
    free(values);
}

/* ---- right values --------------------------------------------------------------------------- */

static void a_list_equals_its_simulation(void **state) {
    test_prediction *self = *state;
    self->options.model_path = self->sky;
    TEST_OK(test_prediction_run(self));
    assert_false(self->result.is_image);
    assert_int_equal(self->result.n_components, 4);
    TEST_NEAR(self->result.abs_flux_jy, TEST_PREDICTION_SKY_JY, 1e-12);
    const double difference = largest_difference(self->out, self->sim);
    assert_true(difference <= 1e-6 * TEST_PREDICTION_SKY_JY);
    assert_int_equal(self->n_notes, 0);
}

static void an_image_equals_the_list_of_its_pixels(void **state) {
    test_prediction *self = *state;
    char list[TEST_PATH_BYTES];
    char from_list[TEST_PATH_BYTES];
    const slc_image_meta meta = test_prediction_meta(1);
    write_pixels(self, &meta);
    TEST_OK(test_prediction_run(self));
    assert_true(self->result.is_image);
    assert_int_equal(self->result.n_components, TEST_COUNT(pixels));
    assert_int_equal(self->n_notes, 0);
    test_join(self->directory, "pixels.txt", list);
    test_join(self->directory, "list.uvh5", from_list);
    self->options.model_path = list;
    self->options.out_path = from_list;
    TEST_OK(test_prediction_run(self));
    assert_true(largest_difference(self->out, from_list) <= 1e-6 * PIXELS_ABS_JY);
}

static void an_image_comes_back_where_it_was(void **state) {
    test_prediction *self = *state;
    slc_image_options options;
    slc_image_result picture;
    const slc_image_meta meta = test_prediction_meta(1);
    double *values = zeros(SIZE * SIZE);
    values[49 * SIZE + 12] = 2.5;
    TEST_OK(slc_image_file_write(self->model, &meta, values, true, NULL));
    TEST_OK(test_prediction_run(self));
    const char *const input = self->out;
    slc_image_options_init(&options);
    options.inputs = &input;
    options.n_inputs = 1;
    options.nx = options.ny = SIZE;
    options.scale_rad = SCALE;
    options.image = values;
    options.run = self->options.run;
    TEST_OK(slc_image_run(&options, &picture));
    assert_int_equal(picture.peak_x, 12);
    assert_int_equal(picture.peak_y, 49);
    TEST_NEAR(picture.peak, 2.5, 1e-5);
    free(values);
}

/* The same sky from an image about another place: a list in right ascension and declination says
 * what it should be. */
static void other_centres_are_turned_and_said(void **state) {
    test_prediction *self = *state;
    const double ra = TEST_PREDICTION_RA + 0.02;
    const double dec = TEST_PREDICTION_DEC - 0.01;
    slc_image_meta meta = test_prediction_meta(1);
    char text[1024] = "";
    char list[TEST_PATH_BYTES];
    char from_list[TEST_PATH_BYTES];
    meta.ra_rad = ra;
    meta.dec_rad = dec;
    write_pixels(self, &meta);
    TEST_OK(test_prediction_run(self));
    assert_non_null(strstr(self->notes, "turned to the data's"));
    for (int64_t k = 0; k < TEST_COUNT(pixels); k++) {
        double pixel_ra = 0.0;
        double pixel_dec = 0.0;
        assert_true(slci_sky_from_cosines(ra, dec, -SCALE * (double)(pixels[k].x - SIZE / 2),
                                          SCALE * (double)(pixels[k].y - SIZE / 2), &pixel_ra,
                                          &pixel_dec));
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.17grad %.17grad %g\n",
                       pixel_ra, pixel_dec, pixels[k].flux);
    }
    test_write_below(self->directory, "turned.txt", text);
    test_join(self->directory, "turned.txt", list);
    test_join(self->directory, "list.uvh5", from_list);
    self->options.model_path = list;
    self->options.out_path = from_list;
    TEST_OK(test_prediction_run(self));
    assert_true(largest_difference(self->out, from_list) <= 1e-6 * PIXELS_ABS_JY);
}

/* Sets made by other means, whose sources are known (cases/README.md). */
static void known_sets_are_found_again(void **state) {
    test_prediction *self = *state;
    static const char *const names[] = {"cases/base.uvh5", "cases/two_src.uvh5",
                                        "cases/mixed_order.uvh5", "cases/irregular_blts.uvh5"};
    test_write_below(self->directory, "one.txt", "l=0.05 m=-0.03 flux=1\n");
    test_write_below(self->directory, "two.txt", "l=0.05 m=-0.03 flux=1\nl=-0.1 m=0.08 flux=0.5\n");
    for (int64_t k = 0; k < TEST_COUNT(names); k++) {
        char path[TEST_PATH_BYTES];
        char list[TEST_PATH_BYTES];
        test_need_shared(names[k], path);
        test_join(self->directory, k == 1 ? "two.txt" : "one.txt", list);
        self->options.in_path = path;
        self->options.model_path = list;
        TEST_OK(test_prediction_run(self));
        assert_true(largest_difference(self->out, path) <= 1e-6 * 1.5);
    }
}

/* Data that follow the zenith have n where others have n - 1. */
static void zenith_data_have_n(void **state) {
    test_prediction *self = *state;
    const double l = 0.01;
    const double m = -0.02;
    const double n = sqrt(1.0 - l * l - m * m);
    test_vis vis;
    test_h5_put_text(self->sim, "/Header/phase_center_catalog/0/cat_type", "unprojected");
    test_write_below(self->directory, "one.txt", "l=0.01 m=-0.02 flux=1\n");
    test_join(self->directory, "one.txt", self->sky);
    self->options.model_path = self->sky;
    TEST_OK(test_prediction_run(self));
    assert_non_null(strstr(self->notes, "the data follow the zenith"));
    read_vis(self->out, &vis);
    for (int64_t row = 0; row < vis.n_rows; row++) {
        const double *uvw = vis.uvw + 3 * row;
        const double turns =
            (uvw[0] * l + uvw[1] * m + uvw[2] * n) * TEST_PREDICTION_FREQ_HZ / 299792458.0;
        const double angle = 2.0 * 3.141592653589793 * (turns - rint(turns));
        TEST_NEAR((double)vis.vis[2 * row * CHANNELS], cos(angle), 1e-6);
        TEST_NEAR((double)vis.vis[2 * row * CHANNELS + 1], sin(angle), 1e-6);
    }
    test_vis_free(&vis);
}

/* ---- planes -------------------------------------------------------------------------------- */

/* Channel c is nearest to plane 2 - c of a cube that falls in frequency; the last plane is not
 * needed. */
static void channels_take_the_nearest_plane(void **state) {
    test_prediction *self = *state;
    slc_image_meta meta = test_prediction_meta(4);
    double *values = zeros(4 * SIZE * SIZE);
    test_vis vis;
    meta.freq_hz =
        TEST_PREDICTION_FREQ_HZ + 2.0 * TEST_PREDICTION_WIDTH_HZ + 0.4 * TEST_PREDICTION_WIDTH_HZ;
    meta.freq_step_hz = -TEST_PREDICTION_WIDTH_HZ;
    for (int64_t p = 0; p < 4; p++) {
        values[(p * SIZE + SIZE / 2) * SIZE + SIZE / 2] = (double)(p + 1);
    }
    TEST_OK(slc_image_file_write(self->model, &meta, values, true, NULL));
    TEST_OK(test_prediction_run(self));
    assert_int_equal(self->result.n_planes, 3);
    read_vis(self->out, &vis);
    for (int64_t row = 0; row < vis.n_rows; row++) {
        for (int64_t c = 0; c < CHANNELS; c++) { /* at the phase centre every phase is 0 */
            TEST_NEAR((double)vis.vis[2 * (row * CHANNELS + c)], (double)(3 - c), 4e-6);
            TEST_NEAR((double)vis.vis[2 * (row * CHANNELS + c) + 1], 0.0, 4e-6);
        }
    }
    test_vis_free(&vis);
    meta.n_planes = 2; /* the lowest channel is now beyond the edge of the last one */
    TEST_OK(slc_image_file_write(self->model, &meta, values, true, NULL));
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_INPUT, "channel 0 of the data, at 1.4e+09 Hz");
    free(values);
}

/* ---- what is said and refused ---------------------------------------------------------------- */

static void frames_must_agree(void **state) {
    test_prediction *self = *state;
    slc_image_meta meta = test_prediction_meta(1);
    memcpy(meta.frame, "FK5", 4);
    meta.equinox = 2000.0;
    write_pixels(self, &meta);
    TEST_OK(test_prediction_run(self));
    assert_non_null(strstr(self->notes, "taken for one frame"));
    meta.equinox = 2024.5;
    write_pixels(self, &meta);
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_UNSUPPORTED,
               "its frame is FK5 of another equinox");
}

static void the_model_is_not_replaced(void **state) {
    test_prediction *self = *state;
    const slc_image_meta meta = test_prediction_meta(1);
    write_pixels(self, &meta);
    int64_t n_before = 0;
    int64_t n_after = 0;
    char *before = test_file_read(self->model, &n_before);
    self->options.out_path = self->model;
    self->options.run.overwrite = true;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_ARGUMENT, "is an output");
    char *after = test_file_read(self->model, &n_after);
    assert_int_equal(n_after, n_before);
    assert_memory_equal(after, before, (size_t)n_before);
    free(before);
    free(after);
}

static void numbers_that_are_none_are_counted(void **state) {
    test_prediction *self = *state;
    const slc_image_meta meta = test_prediction_meta(1);
    double *values = zeros(SIZE * SIZE);
    values[100] = (double)NAN;
    values[101] = 1.0;
    values[4000] = (double)NAN;
    TEST_OK(slc_image_file_write(self->model, &meta, values, true, NULL));
    TEST_OK(test_prediction_run(self));
    assert_int_equal(self->result.n_nan, 2);
    assert_non_null(strstr(self->notes, "2 pixels are no number and count as zero"));
    free(values);
}

static void other_units_are_said(void **state) {
    test_prediction *self = *state;
    test_h5_put_text(self->sim, "/Header/vis_units", "uncalib");
    self->options.model_path = self->sky;
    TEST_OK(test_prediction_run(self));
    assert_non_null(strstr(self->notes, "vis_units is 'uncalib'"));
}

/* What imaging asks of weights and times is no business of a prediction. */
static void weights_and_times_are_not_needed(void **state) {
    test_prediction *self = *state;
    test_h5_remove(self->sim, "/Data/nsamples");
    test_h5_remove(self->sim, "/Header/integration_time");
    self->options.model_path = self->sky;
    TEST_OK(test_prediction_run(self));
    assert_int_equal(self->n_notes, 0);
}

static void beams_are_said(void **state) {
    test_prediction *self = *state;
    slc_image_meta meta = test_prediction_meta(1);
    memcpy(meta.unit, "Jy/beam", 8);
    meta.beam = (slc_beam){true, 4.0 * SCALE, 2.0 * SCALE, 0.3};
    write_pixels(self, &meta);
    TEST_OK(test_prediction_run(self));
    assert_non_null(strstr(self->notes, "divided by the 9.06"));
    TEST_NEAR(self->result.abs_flux_jy, PIXELS_ABS_JY / 9.0647, 1e-4);
}

static void fits_models_work_too(void **state) {
    test_prediction *self = *state;
    char fits[TEST_PATH_BYTES];
    const slc_image_meta meta = test_prediction_meta(1);
    test_need_fits();
    write_pixels(self, &meta);
    TEST_OK(test_prediction_run(self));
    double *values = zeros(SIZE * SIZE);
    for (int64_t k = 0; k < TEST_COUNT(pixels); k++) {
        values[pixels[k].y * SIZE + pixels[k].x] = pixels[k].flux;
    }
    test_join(self->directory, "model.fits", fits);
    TEST_OK(slc_image_file_write(fits, &meta, values, true, NULL));
    free(values);
    char other[TEST_PATH_BYTES];
    test_join(self->directory, "other.uvh5", other);
    self->options.model_path = fits;
    self->options.out_path = other;
    TEST_OK(test_prediction_run(self));
    assert_true(largest_difference(self->out, other) <= 1e-6 * PIXELS_ABS_JY);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void statistics_say_what_was_done(void **state) {
    test_prediction *self = *state;
    char *json = NULL;
    char *plan = NULL;
    const slc_image_meta meta = test_prediction_meta(1);
    write_pixels(self, &meta);
    TEST_OK(test_prediction_run(self));
    TEST_OK(slc_predict_stats_json(&self->result, &json));
    assert_non_null(strstr(json, "\"kind\": \"image\""));
    assert_non_null(strstr(json, "\"components\": 5"));
    assert_non_null(strstr(json, "\"rows\": 2500"));
    assert_non_null(strstr(json, "\"placement\": \"resident\""));
    assert_non_null(strstr(json, "\"granule_components\": \"4096\""));
    TEST_OK(slc_predict_plan_text(&self->result, &plan));
    assert_non_null(strstr(plan, "5 pixels that are not zero"));
    assert_non_null(strstr(plan, "smallest --vram"));
    free(plan);
    free(json);
}

#define CASE(function) \
    cmocka_unit_test_setup_teardown(function, test_prediction_create, test_prediction_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_list_equals_its_simulation),
        CASE(an_image_equals_the_list_of_its_pixels),
        CASE(an_image_comes_back_where_it_was),
        CASE(other_centres_are_turned_and_said),
        CASE(known_sets_are_found_again),
        CASE(zenith_data_have_n),
        CASE(channels_take_the_nearest_plane),
        CASE(frames_must_agree),
        CASE(the_model_is_not_replaced),
        CASE(numbers_that_are_none_are_counted),
        CASE(other_units_are_said),
        CASE(weights_and_times_are_not_needed),
        CASE(beams_are_said),
        CASE(fits_models_work_too),
        CASE(statistics_say_what_was_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
