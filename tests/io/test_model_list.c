/* The components of an image: which pixels they are, and where the data sees them. Images are
 * written as Sluice's own HDF5 pictures. */
#include "tests/support/test_near.h"

#include "core/sky.h"
#include "io/image_file.h"
#include "io/model.h"
#include "io/model_list.h"

#define RA 1.0
#define DEC 0.6

typedef struct place {
    test_place *files;
    slc_source *model, *list;
} place;

static int setup(void **state) {
    place *self = test_allocate(sizeof *self);
    void *files = NULL;
    *self = (place){0};
    self->files = test_place_create(&files, "model.h5");
    *state = self;
    return 0;
}

static void close_sources(place *self) {
    slc_source_destroy(self->list);
    slc_source_destroy(self->model);
    self->list = self->model = NULL;
}

static int teardown(void **state) {
    place *self = *state;
    void *files = self->files;
    close_sources(self);
    free(self);
    return test_place_destroy(&files);
}

/* Writes values [n_planes, ny, nx] with the tangent point in the middle of the picture. */
static void write_model(const place *self, int64_t n_planes, int64_t ny, int64_t nx,
                        double scale_rad, const double *values) {
    const slc_image_meta meta = {.nx = nx,
                                 .ny = ny,
                                 .n_planes = n_planes,
                                 .n_parts = 1,
                                 .scale_rad = scale_rad,
                                 .reference_x = (double)(nx / 2),
                                 .reference_y = (double)(ny / 2),
                                 .ra_rad = RA,
                                 .dec_rad = DEC,
                                 .frame = "ICRS",
                                 .stokes = 1,
                                 .has_position = true,
                                 .has_frequency = true,
                                 .freq_hz = 1e9,
                                 .freq_step_hz = 1e6,
                                 .unit = "Jy/pixel"};
    TEST_OK(slc_image_file_write(self->files->path, &meta, values, true, NULL));
}

static slc_status open_list(place *self, double ra, double dec, int64_t keep_bytes) {
    close_sources(self);
    TEST_OK(slc_model_open(self->files->path, NULL, &self->model));
    const slc_model_list_options options = {.model = self->model,
                                            .ra_rad = ra,
                                            .dec_rad = dec,
                                            .is_w_projected = true,
                                            .keep_bytes = keep_bytes};
    return slc_model_list_create(&options, &self->list);
}

/* ---- a large picture with few pixels -------------------------------------------------------- */

#define NX 300
#define NY 1000 /* several blocks */
#define N_PLANES 2
#define N_PIXELS ((int64_t)NX * NY)

/* One pixel in 97 has a value, in one plane, the other, or both. */
static double *make_values(int64_t *n, double *sum) {
    double *values = test_allocate(N_PLANES * N_PIXELS * (int64_t)sizeof *values);
    memset(values, 0, (size_t)(N_PLANES * N_PIXELS) * sizeof *values);
    *n = 0;
    *sum = 0.0;
    for (int64_t k = 0; k < N_PIXELS; k += 97) {
        const int which = (int)(k / 97 % 3); /* 0: plane 0, 1: plane 1, 2: both */
        if (which != 1) {
            values[k] = 1.0 + (double)(k % 7);
            *sum += values[k];
        }
        if (which != 0) {
            values[N_PIXELS + k] = -2.0;
        }
        *n += 1;
    }
    return values;
}

static void check_part(const place *self, const double *values, int64_t begin, int64_t n) {
    int64_t *pixel = test_allocate(n * (int64_t)sizeof *pixel);
    double *flux = test_allocate(n * N_PLANES * (int64_t)sizeof *flux);
    double *where = test_allocate(n * 3 * (int64_t)sizeof *where);
    const slc_box box = slc_box_1d(begin, n);
    void *const all[] = {pixel, where, flux};
    void *const few[] = {pixel, where, NULL};
    for (int pass = 0; pass < 2; pass++) {
        memset(pixel, 0xA5, (size_t)n * sizeof *pixel);
        TEST_OK(slc_source_read(self->list, &box, pass == 0 ? all : few));
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = (begin + k) * 97;
            assert_int_equal(pixel[k], at);
            assert_true(flux[k * N_PLANES] == values[at]);
            assert_true(flux[k * N_PLANES + 1] == values[N_PIXELS + at]);
            const double l = -1e-5 * (double)(at % NX - NX / 2);
            const double m = 1e-5 * (double)(at / NX - NY / 2);
            TEST_NEAR(where[3 * k], l, 1e-17);
            TEST_NEAR(where[3 * k + 1], m, 1e-17);
            TEST_NEAR(where[3 * k + 2], sqrt(1.0 - l * l - m * m) - 1.0, 2e-16);
        }
    }
    free(where);
    free(flux);
    free(pixel);
}

static void lists_what_is_not_zero(void **state) {
    place *self = *state;
    int64_t n = 0;
    double sum = 0.0;
    double *values = make_values(&n, &sum);
    write_model(self, N_PLANES, NY, NX, 1e-5, values);
    static const int64_t keep_bytes[] = {0, 8 * 100, INT64_C(1) << 20};
    for (int64_t k = 0; k < TEST_COUNT(keep_bytes); k++) {
        TEST_OK(open_list(self, RA, DEC, keep_bytes[k]));
        const slc_model_survey *survey = slc_model_list_survey(self->list);
        assert_int_equal(survey->n_components, n);
        assert_int_equal(self->list->fields[SLC_MODEL_PLACE].shape[0], n);
        assert_true(survey->is_kept == (k == 2));
        assert_false(survey->is_rotated);
        TEST_NEAR(survey->flux_jy, sum, 1e-9);
        check_part(self, values, 0, n);
        check_part(self, values, 0, 1);
        check_part(self, values, n - 1, 1);
        check_part(self, values, n / 3, n / 2);
    }
    free(values);
}

/* ---- places --------------------------------------------------------------------------------- */

/* A picture about another centre: each pixel's right ascension and declination, by the functions
 * that the rest of Sluice uses, give the same direction cosines. */
static slc_status open_with_budget(place *self, slc_budget *budget) {
    close_sources(self);
    TEST_OK(slc_model_open(self->files->path, NULL, &self->model));
    const slc_model_list_options options = {.model = self->model,
                                            .ra_rad = RA,
                                            .dec_rad = DEC,
                                            .is_w_projected = true,
                                            .keep_bytes = INT64_C(1) << 20,
                                            .budget = budget};
    return slc_model_list_create(&options, &self->list);
}

/* What is kept is reserved before it is allocated, and not kept where the budget has no room. */
static void the_ledger_knows_what_is_kept(void **state) {
    place *self = *state;
    int64_t n = 0;
    double sum = 0.0;
    double *values = make_values(&n, &sum);
    write_model(self, N_PLANES, NY, NX, 1e-5, values);
    static const int64_t limits[] = {INT64_C(1) << 20, INT64_C(8) * 1000, 0};
    for (int64_t k = 0; k < TEST_COUNT(limits); k++) {
        slc_budget *budget = NULL;
        TEST_OK(slc_budget_create(0, limits[k], &budget));
        TEST_OK(open_with_budget(self, budget));
        const slc_budget_use use = slc_budget_get(budget, SLC_SPACE_HOST);
        const slc_model_survey *survey = slc_model_list_survey(self->list);
        assert_int_equal(survey->n_components, n);
        assert_int_equal(survey->is_kept, k == 0);
        assert_int_equal(use.used_bytes, survey->bytes - slc_model_list_least_bytes(self->model));
        assert_true(k > 0 || use.used_bytes >= n * 8);
        check_part(self, values, 100, 50);
        if (k == 0) {
            slc_model_list_forget(self->list);
            assert_false(survey->is_kept);
            assert_int_equal(survey->bytes, slc_model_list_least_bytes(self->model));
            assert_int_equal(slc_budget_get(budget, SLC_SPACE_HOST).used_bytes, 0);
            check_part(self, values, 100, 50);
        }
        close_sources(self);
        assert_int_equal(slc_budget_get(budget, SLC_SPACE_HOST).used_bytes, 0);
        slc_budget_destroy(budget);
    }
    free(values);
}

static void other_centres_are_turned(void **state) {
    place *self = *state;
    enum { N = 9 };
    double values[N * N];
    const double ra = RA - 0.3;
    const double dec = DEC + 0.2;
    for (int k = 0; k < N * N; k++) {
        values[k] = 1.0 + k;
    }
    write_model(self, 1, N, N, 0.05, values);
    TEST_OK(open_list(self, ra, dec, 1 << 20));
    const slc_model_survey *survey = slc_model_list_survey(self->list);
    assert_true(survey->is_rotated);
    double l0 = 0.0;
    double m0 = 0.0;
    assert_true(slci_sky_to_cosines(ra, dec, RA, DEC, &l0, &m0));
    TEST_NEAR(survey->offset_rad, asin(sqrt(l0 * l0 + m0 * m0)), 1e-12);
    double where[N * N * 3];
    void *const dst[] = {NULL, where, NULL};
    const slc_box box = slc_box_1d(0, N * N);
    TEST_OK(slc_source_read(self->list, &box, dst));
    for (int k = 0; k < N * N; k++) {
        double pixel_ra = 0.0;
        double pixel_dec = 0.0;
        double l = 0.0;
        double m = 0.0;
        assert_true(slci_sky_from_cosines(RA, DEC, -0.05 * (k % N - N / 2), 0.05 * (k / N - N / 2),
                                          &pixel_ra, &pixel_dec));
        assert_true(slci_sky_to_cosines(ra, dec, pixel_ra, pixel_dec, &l, &m));
        TEST_NEAR(where[3 * k], l, 1e-14);
        TEST_NEAR(where[3 * k + 1], m, 1e-14);
        TEST_NEAR(where[3 * k + 2], sqrt(1.0 - l * l - m * m) - 1.0, 1e-14);
    }
}

static void unprojected_data_have_n(void **state) {
    place *self = *state;
    const double values[4] = {0.0, 0.0, 2.0, 0.0};
    double where[3];
    write_model(self, 1, 2, 2, 0.5, values);
    TEST_OK(open_list(self, RA, DEC, 0));
    slc_source_destroy(self->list);
    const slc_model_list_options options = {.model = self->model, .ra_rad = RA, .dec_rad = DEC};
    TEST_OK(slc_model_list_create(&options, &self->list));
    void *const dst[] = {NULL, where, NULL};
    const slc_box box = slc_box_1d(0, 1);
    TEST_OK(slc_source_read(self->list, &box, dst));
    TEST_NEAR(where[0], 0.5, 1e-15);
    TEST_NEAR(where[1], 0.0, 1e-15);
    TEST_NEAR(where[2], sqrt(0.75), 1e-15);
}

/* ---- odd pixels ----------------------------------------------------------------------------- */

static void pixels_beyond_the_horizon_must_be_zero(void **state) {
    place *self = *state;
    double values[9] = {0.0, 1.0, (double)NAN, 1.0, 1.0, 1.0, 0.0, 1.0, (double)NAN};
    write_model(self, 1, 3, 3, 0.8, values); /* the corners lie beyond */
    TEST_OK(open_list(self, RA, DEC, 0));
    assert_int_equal(slc_model_list_survey(self->list)->n_components, 5);
    assert_int_equal(slc_model_list_survey(self->list)->n_nan, 2);
    values[6] = 1e-9;
    write_model(self, 1, 3, 3, 0.8, values);
    TEST_FAILS(open_list(self, RA, DEC, 0), SLC_ERROR_INPUT, "pixel (0, 2) is not zero");
    /* Seen from the other side of the sky everything is below the horizon. */
    values[6] = 0.0;
    write_model(self, 1, 3, 3, 0.8, values);
    TEST_FAILS(open_list(self, RA + 3.0, DEC, 0), SLC_ERROR_INPUT, "or of the data");
}

static void infinite_pixels_are_refused(void **state) {
    place *self = *state;
    const double values[4] = {0.0, 0.0, 0.0, (double)INFINITY};
    write_model(self, 1, 2, 2, 0.1, values);
    TEST_FAILS(open_list(self, RA, DEC, 0), SLC_ERROR_INPUT, "pixel (1, 1) of plane 0 is infinite");
}

static void an_empty_image_is_refused(void **state) {
    place *self = *state;
    const double values[4] = {0.0, (double)NAN, -0.0, 0.0};
    write_model(self, 1, 2, 2, 0.1, values);
    TEST_FAILS(open_list(self, RA, DEC, 0), SLC_ERROR_INPUT, "no pixel");
}

static void an_interrupt_stops_the_pass(void **state) {
    place *self = *state;
    const double values[4] = {1.0, 0.0, 0.0, 0.0};
    const volatile int cancel = 1;
    slc_source *list = NULL;
    write_model(self, 1, 2, 2, 0.1, values);
    TEST_OK(open_list(self, RA, DEC, 0));
    const slc_model_list_options options = {.model = self->model,
                                            .ra_rad = RA,
                                            .dec_rad = DEC,
                                            .cancel = &cancel};
    TEST_FAILS(slc_model_list_create(&options, &list), SLC_ERROR_INTERRUPTED, "interrupted");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(lists_what_is_not_zero),      CASE(other_centres_are_turned),
        CASE(unprojected_data_have_n),     CASE(pixels_beyond_the_horizon_must_be_zero),
        CASE(infinite_pixels_are_refused), CASE(an_empty_image_is_refused),
        CASE(an_interrupt_stops_the_pass), CASE(the_ledger_knows_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
