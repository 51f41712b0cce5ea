/* What an imaging run says of samples that single precision cannot hold, and of pixels that show no
 * sky. */
#include "app/image.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 40, SIDE = 16, HEARD_BYTES = 8192 };

/* A run over a plain set of the file, and all that it said. */
typedef struct said {
    test_place *place;
    double weight[ROWS], vis[ROWS][2];
    double image[SIDE * SIDE];
    double scale_rad;
    slc_image_result result;
    char heard[HEARD_BYTES];
} said;

static void hear(void *context, slc_log_level level, const char *text) {
    char *heard = context;
    const size_t used = strlen(heard);
    (void)snprintf(heard + used, HEARD_BYTES - used, "%d %s\n", (int)level, text);
}

static void said_init(said *self, test_place *place) {
    *self = (said){.place = place, .scale_rad = 1e-3};
    for (int k = 0; k < ROWS; k++) {
        self->weight[k] = 1.0;
        self->vis[k][0] = 1.0;
    }
}

/* Columns of doubles. */
static void write_set(const said *self) {
    static const char *const names[] = {"/u", "/v", "/w"};
    const int64_t n = ROWS;
    double place[ROWS];
    for (int d = 0; d < 3; d++) {
        for (int k = 0; k < ROWS; k++) {
            place[k] = d == 2 ? 0.0 : (double)((k * (d + 3)) % 17 - 8);
        }
        test_h5_put_f64(self->place->path, names[d], 1, &n, place);
    }
    test_h5_put_f64(self->place->path, "/weight", 1, &n, self->weight);
    const hid_t type = test_h5_complex(H5T_NATIVE_DOUBLE, "r", "i");
    test_h5_put(self->place->path, "/vis", type, type, 1, &n, H5P_DEFAULT, self->vis);
    assert_true(H5Tclose(type) >= 0);
}

static slc_status said_run(said *self) {
    const char *input = self->place->path;
    slc_log log;
    slc_image_options options;
    write_set(self);
    self->heard[0] = '\0';
    slc_log_init(&log, SLC_LOG_NOTE, hear, self->heard);
    slc_image_options_init(&options);
    options.inputs = &input;
    options.n_inputs = 1;
    options.image = self->image;
    options.nx = options.ny = SIDE;
    options.scale_rad = self->scale_rad;
    options.run.vram_bytes = INT64_C(16) << 20;
    options.run.ram_bytes = INT64_C(64) << 20;
    options.run.device = SLC_CHOOSE_HOST;
    options.run.n_threads = 1;
    options.run.log = &log;
    const slc_status status = slc_image_run(&options, &self->result);
    slc_log_destroy(&log);
    return status;
}

static void expect_heard(const said *self, const char *words) {
    if (strstr(self->heard, words) == NULL) {
        fail_msg("not said: '%s'; but: %s", words, self->heard);
    }
}

static void samples_beyond_single_precision_are_counted_and_placed(void **state) {
    said self;
    said_init(&self, *state);
    TEST_OK(said_run(&self));
    assert_null(strstr(self.heard, "single precision"));
    assert_null(strstr(self.heard, "horizon"));
    self.vis[3][0] = -1e39;
    self.vis[5][1] = 1e200;
    self.vis[7][0] = 1e-41;
    self.weight[11] = 1e39;
    self.weight[13] = 1e-50;
    self.weight[14] = 1e-60;
    self.weight[15] = -1.0;
    TEST_OK(said_run(&self));
    expect_heard(&self, "0 2 visibilities are too large for single precision (3.4e38): left out; "
                        "the first is in row 3, channel 0\n");
    expect_heard(&self, "0 1 visibilities are too small for single precision");
    expect_heard(&self, "or as 0; the first is in row 7, channel 0\n");
    expect_heard(&self, "0 1 visibilities have a weight that is too large for single precision");
    expect_heard(&self, "left out; the first is in row 11, channel 0\n");
    expect_heard(&self, "0 2 visibilities have a weight that is above 0 and too small");
    expect_heard(&self, "left out; the first is in row 13, channel 0\n");
    expect_heard(&self, "0 1 visibilities have a weight that is negative or not finite: left out");
    assert_null(strstr(self.heard, "not flagged but not finite"));
    assert_int_equal(self.result.n_used, ROWS - 6);
    assert_int_equal(self.result.outside[SLC_VIS_VALUE_TOO_LARGE].n, 2);
    assert_int_equal(self.result.outside[SLC_VIS_WEIGHT_TOO_SMALL].row, 13);
}

static void a_set_with_nothing_else_says_so(void **state) {
    said self;
    said_init(&self, *state);
    for (int k = 0; k < ROWS; k++) {
        self.vis[k][0] = 1e40;
    }
    TEST_FAILS(
        said_run(&self), SLC_ERROR_INPUT,
        "40 visibilities are too large for single precision (3.4e38): left out; the first is "
        "in row 0, channel 0");
    for (int k = 0; k < ROWS; k++) {
        self.weight[k] = 1e-46;
    }
    self.weight[0] = 0.0;
    TEST_FAILS(said_run(&self), SLC_ERROR_INPUT,
               "39 visibilities have a weight that is above 0 and too small for single precision "
               "(1.4e-45): left out; the first is in row 1, channel 0");
}

/* 16 x 16 pixels of 0.5: of 256 places (l, m) = (j / 2, k / 2), j and k from -8 to 7, nine lie within
 * the unit circle. */
static void the_share_beyond_the_horizon_is_said_once(void **state) {
    said self;
    said_init(&self, *state);
    self.scale_rad = 0.5;
    TEST_OK(said_run(&self));
    assert_int_equal(self.result.finite_pixels, 9);
    expect_heard(&self, "1 96.5 % of the pixels lie beyond the horizon (l^2 + m^2 >= 1)");
    assert_null(strstr(strstr(self.heard, "horizon") + 1, "horizon"));
    char *plan = NULL;
    TEST_OK(slc_image_plan_text(&self.result, &plan));
    assert_non_null(strstr(plan, "96.5 % of the pixels lie beyond the horizon"));
    free(plan);
}

static int setup(void **state) {
    return test_place_create(state, "set.h5") != NULL ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_beyond_single_precision_are_counted_and_placed,
                                        setup, test_place_destroy),
        cmocka_unit_test_setup_teardown(a_set_with_nothing_else_says_so, setup, test_place_destroy),
        cmocka_unit_test_setup_teardown(the_share_beyond_the_horizon_is_said_once, setup,
                                        test_place_destroy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
