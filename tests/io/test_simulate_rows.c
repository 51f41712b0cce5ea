#include "tests/support/test_near.h"

#include "core/pool.h"
#include "io/simulate_rows.h"

#define PI 3.14159265358979323846
#define LIGHT_M_PER_S 299792458.0

/* Four antennas on the equator: the second east of the first, the third north, the fourth above. At
 * transit of a source on the celestial equator (u, v, w) is (east, north, up), and at a frequency of
 * c / 1 m a metre is a wavelength. */
static const slci_antenna cross_antennas[4] = {{"O", {0.0, 0.0, 0.0}},
                                               {"E", {100.0, 0.0, 0.0}},
                                               {"N", {0.0, 100.0, 0.0}},
                                               {"U", {0.0, 0.0, 101.25}}};
static const slci_telescope cross = {.name = "cross",
                                     .observatory = "cross",
                                     .n_antennas = 4,
                                     .antennas = cross_antennas};

/* Rows of the cross in order of baseline. */
enum { ROW_EAST, ROW_NORTH, ROW_UP, ROW_EAST_NORTH, ROW_EAST_UP, ROW_NORTH_UP, N_PAIRS };

typedef struct made {
    slc_pool *pool;
    slci_row_maker *maker;
    slc_simulate_options options;
    slc_uvh5_rows rows;
} made;

static slc_simulate_options cross_options(int64_t n_rows) {
    return (slc_simulate_options){.n_rows = n_rows,
                                  .n_channels = 1,
                                  .freq_hz = LIGHT_M_PER_S,
                                  .channel_width_hz = LIGHT_M_PER_S,
                                  .hours = 6.0,
                                  .n_polarisations = 1};
}

/* All rows, which must fit one block. */
static void make(made *self, const slc_simulate_options *options, int n_components,
                 slc_sky_component *components) {
    const slc_sky sky = {.n_components = n_components, .components = components};
    self->options = *options;
    TEST_OK(slc_pool_create(2, &self->pool));
    self->options.pool = self->pool;
    TEST_OK(slci_row_maker_create(&self->options, &cross, &sky, &self->maker));
    assert_true(slci_row_maker_block(self->maker) >= options->n_rows);
    TEST_OK(slci_row_maker_make(self->maker, 0, options->n_rows, &self->rows));
}

static void unmake(made *self) {
    slci_row_maker_destroy(self->maker);
    slc_pool_destroy(self->pool);
}

static void expect_vis(const made *self, int64_t sample, double real, double imaginary) {
    TEST_NEAR((double)self->rows.vis[2 * sample], real, 2e-6);
    TEST_NEAR((double)self->rows.vis[2 * sample + 1], imaginary, 2e-6);
}

static void expect_uvw(const made *self, int64_t row, double u, double v, double w) {
    TEST_NEAR(self->rows.uvw_m[3 * row], u, 1e-6);
    TEST_NEAR(self->rows.uvw_m[3 * row + 1], v, 1e-6);
    TEST_NEAR(self->rows.uvw_m[3 * row + 2], w, 1e-6);
}

static void one_time_at_transit(void **state) {
    (void)state;
    made self;
    const slc_simulate_options options = cross_options(N_PAIRS);
    slc_sky_component source = {.flux_jy = 2.0};
    make(&self, &options, 1, &source);
    expect_uvw(&self, ROW_EAST, 100.0, 0.0, 0.0);
    expect_uvw(&self, ROW_NORTH, 0.0, 100.0, 0.0);
    expect_uvw(&self, ROW_UP, 0.0, 0.0, 101.25);
    expect_uvw(&self, ROW_EAST_NORTH, -100.0, 100.0, 0.0);
    for (int64_t k = 0; k < N_PAIRS; k++) {
        expect_vis(&self, k, 2.0, 0.0);
        TEST_NEAR(self.rows.integration_s[k], 21600.0, 0.0);
        TEST_NEAR(remainder(self.rows.lst_rad[k], 2.0 * PI), 0.0, 1e-8);
        assert_true(self.rows.antenna_1[k] < self.rows.antenna_2[k]);
    }
    assert_int_equal(self.rows.antenna_1[ROW_NORTH_UP], 2);
    assert_int_equal(self.rows.antenna_2[ROW_NORTH_UP], 3);
    unmake(&self);
}

/* exp(+2πi u l): a source in the east leads on an eastward baseline. */
static void sign_of_the_phase(void **state) {
    (void)state;
    made self;
    const slc_simulate_options options = cross_options(N_PAIRS);
    slc_sky_component source = {.l = 0.0025, .flux_jy = 1.5};
    make(&self, &options, 1, &source);
    expect_vis(&self, ROW_EAST, 0.0, 1.5);
    expect_vis(&self, ROW_NORTH, 1.5, 0.0);
    expect_vis(&self, ROW_EAST_NORTH, 0.0, -1.5);
    unmake(&self);
    source = (slc_sky_component){.m = 0.00125, .flux_jy = 1.0};
    make(&self, &options, 1, &source);
    expect_vis(&self, ROW_NORTH, sqrt(0.5), sqrt(0.5));
    unmake(&self);
}

/* l = 0.6 has n = 0.8, so w = 101.25 gives -20.25 turns; u adds 60 whole ones. No factor 1/n. */
static void w_term(void **state) {
    (void)state;
    made self;
    const slc_simulate_options options = cross_options(N_PAIRS);
    slc_sky_component source = {.l = 0.6, .flux_jy = 1.0};
    make(&self, &options, 1, &source);
    expect_vis(&self, ROW_EAST, 1.0, 0.0);
    expect_vis(&self, ROW_UP, 0.0, -1.0);
    unmake(&self);
}

/* A Gaussian of full width θ has half of its flux where π² θ² u² / (4 ln 2) is ln 2. */
static void gaussian_width(void **state) {
    (void)state;
    made self;
    const slc_simulate_options options = cross_options(N_PAIRS);
    const double width = 2.0 * log(2.0) / (PI * 100.0);
    /* Along l: east of north by 90 degrees. */
    slc_sky_component source = {.flux_jy = 1.0, .major_rad = width, .angle_rad = PI / 2.0};
    make(&self, &options, 1, &source);
    expect_vis(&self, ROW_EAST, 0.5, 0.0);
    expect_vis(&self, ROW_NORTH, 1.0, 0.0);
    expect_vis(&self, ROW_EAST_NORTH, 0.5, 0.0);
    unmake(&self);
    /* Along the diagonal north-east, which a baseline to the north-west does not see. */
    source.angle_rad = PI / 4.0;
    make(&self, &options, 1, &source);
    expect_vis(&self, ROW_EAST, sqrt(0.5), 0.0);
    expect_vis(&self, ROW_NORTH, sqrt(0.5), 0.0);
    expect_vis(&self, ROW_EAST_NORTH, 1.0, 0.0);
    unmake(&self);
    source.minor_rad = width;
    make(&self, &options, 1, &source);
    expect_vis(&self, ROW_EAST, 0.5, 0.0);
    expect_vis(&self, ROW_EAST_NORTH, 0.25, 0.0);
    unmake(&self);
}

/* Two channels, an octave apart; components add up. */
static void channels_and_index(void **state) {
    (void)state;
    made self;
    slc_simulate_options options = cross_options(N_PAIRS);
    options.n_channels = 2;
    options.n_polarisations = 2;
    slc_sky_component sources[2] = {{.flux_jy = 1.0, .spectral_index = -1.0},
                                    {.l = 0.0025, .flux_jy = 3.0}};
    make(&self, &options, 2, sources);
    for (int p = 0; p < 2; p++) {
        expect_vis(&self, 4 * ROW_EAST + p, 1.0, 3.0);
        expect_vis(&self, 4 * ROW_EAST + 2 + p, 0.5 - 3.0, 0.0);
    }
    unmake(&self);
}

/* Baselines of three antennas close, at every time; times are evenly spread about transit. */
static void closure_and_times(void **state) {
    (void)state;
    made self;
    enum { N_TIMES = 7 };
    const slc_simulate_options options = cross_options(N_TIMES * N_PAIRS - 2);
    slc_sky_component source = {.flux_jy = 1.0};
    make(&self, &options, 1, &source);
    const double step_days = 6.0 / 24.0 / N_TIMES;
    const double *jd = self.rows.time_jd;
    for (int64_t t = 0; t < N_TIMES; t++) {
        const double *uvw = self.rows.uvw_m + t * 3 * N_PAIRS;
        for (int k = 0; k < 3 && t < N_TIMES - 1; k++) {
            TEST_NEAR(uvw[3 * ROW_EAST + k] + uvw[3 * ROW_EAST_NORTH + k], uvw[3 * ROW_NORTH + k],
                      1e-12);
        }
        TEST_NEAR(jd[t * N_PAIRS] - jd[0], (double)t * step_days, 2e-9);
        TEST_NEAR(self.rows.integration_s[t * N_PAIRS], 86400.0 * step_days, 1e-9);
        assert_memory_equal(&jd[t * N_PAIRS], &jd[t * N_PAIRS + 3], sizeof *jd);
    }
    TEST_NEAR(remainder(self.rows.lst_rad[(int64_t)3 * N_PAIRS], 2.0 * PI), 0.0, 1e-8);
    /* Six hours of the sky: the last time is 3/7 of them after transit. */
    TEST_NEAR(self.rows.lst_rad[(int64_t)6 * N_PAIRS], 6.0 * 3.0 / 7.0 * PI / 12.0 * 1.0027379,
              1e-6);
    unmake(&self);
}

/* Noise is added to both parts of all polarisations with the deviation asked for. */
static void noise(void **state) {
    (void)state;
    made self;
    enum { N_ROWS = 20000, N_VALUES = N_ROWS * 4 };
    slc_simulate_options options = cross_options(N_ROWS);
    options.n_polarisations = 2;
    options.noise_jy = 0.25;
    slc_sky_component source = {.flux_jy = 5.0};
    make(&self, &options, 1, &source);
    double sum[4] = {0.0};
    double squares[4] = {0.0};
    for (int64_t k = 0; k < N_VALUES; k++) {
        const double excess = (double)self.rows.vis[k] - (k % 2 == 0 ? 5.0 : 0.0);
        sum[k % 4] += excess;
        squares[k % 4] += excess * excess;
    }
    for (int k = 0; k < 4; k++) {
        TEST_NEAR(sum[k] / N_ROWS, 0.0, 5.0 * 0.25 / sqrt(N_ROWS));
        TEST_NEAR(sqrt(squares[k] / N_ROWS), 0.25, 5.0 * 0.25 / sqrt(2.0 * N_ROWS));
    }
    unmake(&self);
}

static void impossible_flux(void **state) {
    (void)state;
    slc_pool *pool;
    slci_row_maker *maker = NULL;
    slc_sky_component source = {.flux_jy = 1.0, .spectral_index = 1e4};
    const slc_sky sky = {.n_components = 1, .components = &source};
    slc_simulate_options options = cross_options(N_PAIRS);
    options.n_channels = 2;
    TEST_OK(slc_pool_create(1, &pool));
    options.pool = pool;
    TEST_FAILS(slci_row_maker_create(&options, &cross, &sky, &maker), SLC_ERROR_INPUT,
               "component 1");
    slc_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_time_at_transit),
        cmocka_unit_test(sign_of_the_phase),
        cmocka_unit_test(w_term),
        cmocka_unit_test(gaussian_width),
        cmocka_unit_test(channels_and_index),
        cmocka_unit_test(closure_and_times),
        cmocka_unit_test(noise),
        cmocka_unit_test(impossible_flux),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
