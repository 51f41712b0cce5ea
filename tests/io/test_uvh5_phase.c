/* Phase centres: old headers, catalogues of version 1.1 and later, what is refused. */
#include <math.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 12 };

static int make(void **state) {
    const test_place *self = test_place_create(state, "a.uvh5");
    test_uvh5_create(self->path, ROWS, 1, 1);
    return 0;
}

static void put_centre(const char *path, const char *id, const char *name, const char *type,
                       double lon, double lat, const char *frame) {
    char at[128];
    (void)snprintf(at, sizeof at, "/Header/phase_center_catalog/%s/cat_name", id);
    test_h5_put_text(path, at, name);
    (void)snprintf(at, sizeof at, "/Header/phase_center_catalog/%s/cat_type", id);
    test_h5_put_text(path, at, type);
    (void)snprintf(at, sizeof at, "/Header/phase_center_catalog/%s/cat_frame", id);
    test_h5_put_text(path, at, frame);
    (void)snprintf(at, sizeof at, "/Header/phase_center_catalog/%s/cat_lon", id);
    test_h5_put_number(path, at, lon);
    (void)snprintf(at, sizeof at, "/Header/phase_center_catalog/%s/cat_lat", id);
    test_h5_put_number(path, at, lat);
}

/* The rows' centres, id `first` for the first n rows, `second` for the rest. */
static void put_ids(const char *path, int64_t first, int64_t n, int64_t second) {
    int64_t ids[ROWS];
    const int64_t shape = ROWS;
    for (int64_t k = 0; k < ROWS; k++) {
        ids[k] = k < n ? first : second;
    }
    test_h5_put_i64(path, "/Header/phase_center_id_array", 1, &shape, ids);
}

static void check_place(const char *path, const slc_vis_options *options, slc_vis_frame frame,
                        double ra, double dec, bool is_w_projected) {
    slc_source *source = test_vis_open(path, options);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    assert_int_equal(meta->frame, frame);
    assert_true(fabs(meta->ra_rad - ra) < 1e-9);
    assert_true(fabs(meta->dec_rad - dec) < 1e-9);
    assert_true(meta->is_w_projected == is_w_projected);
    assert_non_null(strstr(meta->phase_text, is_w_projected ? "w (n - 1)" : "w n"));
    slc_source_destroy(source);
}

static void frames_of_old_headers(void **state) {
    const test_place *self = *state;
    check_place(self->path, NULL, SLC_FRAME_ICRS, 1.25, -0.25, true);
    test_h5_put_text(self->path, "/Header/phase_center_frame", "fk5");
    test_h5_put_number(self->path, "/Header/phase_center_epoch", 2012.5);
    check_place(self->path, NULL, SLC_FRAME_FK5, 1.25, -0.25, true);
    slc_source *source = test_vis_open(self->path, NULL);
    assert_true(slc_vis_get_meta(source)->equinox == 2012.5);
    slc_source_destroy(source);
    test_h5_put_text(self->path, "/Header/phase_center_frame", "gcrs");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "frame 'gcrs'");
    test_h5_remove(self->path, "/Header/phase_center_frame");
    check_place(self->path, NULL, SLC_FRAME_ICRS, 1.25, -0.25, true);
    test_h5_put_number(self->path, "/Header/phase_center_ra", -0.5);
    check_place(self->path, NULL, SLC_FRAME_ICRS, 2 * M_PI - 0.5, -0.25, true);
    test_h5_put_number(self->path, "/Header/phase_center_dec", 2.0);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "phase_center_dec = 2");
    test_h5_put_text(self->path, "/Header/phase_type", "unknown");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "phase_type is 'unknown'");
}

/* Sidereal time from lst_array, or from time and longitude: Greenwich's mean sidereal time at
 * JD 2446895.5 is 13h 10m 46.3668s (Meeus, example 12.a). */
static void drift_headers_follow_the_zenith(void **state) {
    const test_place *self = *state;
    const int64_t shape = ROWS;
    double numbers[ROWS];
    test_h5_put_text(self->path, "/Header/phase_type", "drift");
    for (int64_t k = 0; k < ROWS; k++) {
        numbers[k] = 2446895.5;
    }
    test_h5_put_f64(self->path, "/Header/time_array", 1, &shape, numbers);
    test_h5_put_number(self->path, "/Header/longitude", 15.0);
    const double hours = 14.0 + 10.0 / 60.0 + 46.3668 / 3600.0;
    slc_source *source = test_vis_open(self->path, NULL);
    assert_true(fabs(slc_vis_get_meta(source)->ra_rad - hours * M_PI / 12.0) < 1e-5);
    slc_source_destroy(source);
    for (int64_t k = 0; k < ROWS; k++) {
        numbers[k] = 6.0;
    }
    test_h5_put_f64(self->path, "/Header/lst_array", 1, &shape, numbers);
    check_place(self->path, NULL, SLC_FRAME_UNPROJECTED, 6.0, -30.0 * M_PI / 180.0, false);
    test_h5_put_number(self->path, "/Header/latitude", 91.0);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "/Header/latitude");
    test_h5_remove(self->path, "/Header/latitude");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "/Header/latitude");
}

static void one_centre_in_a_catalogue(void **state) {
    const test_place *self = *state;
    test_h5_remove(self->path, "/Header/phase_type");
    test_h5_remove(self->path, "/Header/object_name");
    test_h5_put_text(self->path, "/Header/version", "1.2");
    put_centre(self->path, "3", "M87", "sidereal", 3.0, 0.2, "fk5");
    put_ids(self->path, 3, ROWS, 3);
    check_place(self->path, NULL, SLC_FRAME_FK5, 3.0, 0.2, true);
    slc_source *source = test_vis_open(self->path, NULL);
    assert_string_equal(slc_vis_get_meta(source)->object, "M87");
    assert_string_equal(slc_vis_get_meta(source)->phase_centre_name, "M87");
    assert_true(slc_vis_get_meta(source)->equinox == 2000.0);
    slc_source_destroy(source);
    put_ids(self->path, 3, ROWS - 1, 4);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "row 11 has the phase centre 4");
}

static void several_centres_need_a_name(void **state) {
    const test_place *self = *state;
    put_centre(self->path, "0", "A", "sidereal", 1.0, 0.1, "icrs");
    put_centre(self->path, "1", "B", "sidereal", 2.0, 0.2, "icrs");
    put_centre(self->path, "2", "empty", "near_field", 2.0, 0.2, "icrs");
    put_ids(self->path, 0, 5, 1);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_ARGUMENT,
               "2 phase centres: 'A' (0), 'B' (1); choose one of them (--phase-centre NAME)");
    const slc_vis_options b = {.phase_centre = "B"};
    const slc_vis_options by_number = {.phase_centre = "0"};
    const slc_vis_options none = {.phase_centre = "empty"};
    check_place(self->path, &b, SLC_FRAME_ICRS, 2.0, 0.2, true);
    check_place(self->path, &by_number, SLC_FRAME_ICRS, 1.0, 0.1, true);
    TEST_FAILS(test_vis_try(self->path, &none), SLC_ERROR_ARGUMENT, "no phase centre 'empty'");
    slc_source *source = test_vis_open(self->path, &b);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    for (int64_t k = 0; k < ROWS; k++) {
        assert_true((vis.weight[k] > 0.0F) == (k >= 5));
    }
    assert_int_equal(vis.counts.total, ROWS - 5);
    /* The first row of B is at the second time. */
    assert_true(fabs(slc_vis_get_meta(source)->start_jd_utc - (2459000.5 + 5.0 / 86400.0)) < 1e-9);
    test_vis_free(&vis);
    slc_source_destroy(source);
    put_ids(self->path, 1, ROWS, 1);
    check_place(self->path, NULL, SLC_FRAME_ICRS, 2.0, 0.2, true);
    test_h5_remove(self->path, "/Header/phase_center_id_array");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "phase_center_id_array is missing");
}

static void kinds_of_centres(void **state) {
    const test_place *self = *state;
    const char *path = self->path;
    const int64_t shape = ROWS;
    double lst[ROWS];
    for (int64_t k = 0; k < ROWS; k++) {
        lst[k] = 2.0 + (double)(k / 4) * 10.0 * 2 * M_PI * 1.00273790935 / 86400.0;
    }
    const double middle = 2.0 + 10.0 * 2 * M_PI * 1.00273790935 / 86400.0;
    test_h5_put_f64(path, "/Header/lst_array", 1, &shape, lst);
    put_ids(path, 0, ROWS, 0);
    put_centre(path, "0", "zenith", "unprojected", 0.0, M_PI_2, "altaz");
    check_place(path, NULL, SLC_FRAME_UNPROJECTED, middle, -M_PI / 6, false);
    /* A fixed place at the zenith is w-projected, and there too. */
    put_centre(path, "0", "zenith", "driftscan", 0.0, M_PI_2, "altaz");
    check_place(path, NULL, SLC_FRAME_UNPROJECTED, middle, -M_PI / 6, true);
    /* On the meridian 40 degrees above the northern horizon, seen from 30 degrees south. */
    put_centre(path, "0", "north", "driftscan", 0.0, 40.0 * M_PI / 180, "altaz");
    check_place(path, NULL, SLC_FRAME_UNPROJECTED, middle, 20.0 * M_PI / 180, true);
    /* In the west the hour angle is positive: what is due west on the horizon set 6 hours ago. */
    put_centre(path, "0", "west", "driftscan", 1.5 * M_PI, 0.0, "altaz");
    check_place(path, NULL, SLC_FRAME_UNPROJECTED, middle - M_PI_2, 0.0, true);
    put_centre(path, "0", "near", "near_field", 1.0, 0.0, "icrs");
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_UNSUPPORTED, "cat_type 'near_field'");
    put_centre(path, "0", "galactic", "sidereal", 1.0, 0.0, "galactic");
    TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_UNSUPPORTED, "frame 'galactic'");
}

/* The middle of the set's times (2459000.5 to 20 s later) is 10 s after the first. */
static void an_ephemeris_is_taken_at_mid_time(void **state) {
    const test_place *self = *state;
    const double times[3] = {2459000.5 - 10.0 / 86400, 2459000.5, 2459000.5 + 40.0 / 86400};
    const double lon[3] = {1.0, 2 * M_PI - 0.1, 0.3};
    const double lat[3] = {0.0, 0.1, 0.3};
    const int64_t shape = 3;
    put_centre(self->path, "0", "Sun", "ephem", 0.0, 0.0, "icrs");
    put_ids(self->path, 0, ROWS, 0);
    test_h5_put_f64(self->path, "/Header/phase_center_catalog/0/cat_lon", 1, &shape, lon);
    test_h5_put_f64(self->path, "/Header/phase_center_catalog/0/cat_lat", 1, &shape, lat);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "cat_times");
    test_h5_put_f64(self->path, "/Header/phase_center_catalog/0/cat_times", 1, &shape, times);
    slc_source *source = test_vis_open(self->path, NULL);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    /* A quarter of the way from -0.1 to 0.3 and from 0.1 to 0.3; days are stored to 40 us. */
    assert_true(fabs(remainder(meta->ra_rad, 2 * M_PI)) < 1e-5);
    assert_true(fabs(meta->dec_rad - 0.15) < 1e-5);
    slc_source_destroy(source);
}

static void keep_line(void *context, slc_log_level level, const char *text) {
    if (level == SLC_LOG_WARNING) {
        (void)snprintf(context, SLC_MESSAGE_BYTES, "%s", text);
    }
}

/* Two points, one and two minutes past the middle of the set: the first is the nearer. */
static void an_ephemeris_elsewhere_is_said(void **state) {
    const test_place *self = *state;
    const double middle = 2459000.5 + 10.0 / 86400;
    const double times[2] = {middle + 60.0 / 86400, middle + 120.0 / 86400};
    const double lon[2] = {1.0, 2.0};
    const double lat[2] = {0.1, 0.2};
    const int64_t shape = 2;
    char line[SLC_MESSAGE_BYTES] = "";
    slc_log log;
    put_centre(self->path, "0", "Sun", "ephem", 0.0, 0.0, "icrs");
    put_ids(self->path, 0, ROWS, 0);
    test_h5_put_f64(self->path, "/Header/phase_center_catalog/0/cat_lon", 1, &shape, lon);
    test_h5_put_f64(self->path, "/Header/phase_center_catalog/0/cat_lat", 1, &shape, lat);
    test_h5_put_f64(self->path, "/Header/phase_center_catalog/0/cat_times", 1, &shape, times);
    slc_log_init(&log, SLC_LOG_WARNING, keep_line, line);
    const slc_vis_options options = {.log = &log};
    check_place(self->path, &options, SLC_FRAME_ICRS, 1.0, 0.1, true);
    assert_non_null(strstr(line, "ephemeris of phase centre 'Sun' goes from JD 2459000.50"));
    assert_non_null(strstr(line, "nearer end"));
    slc_log_destroy(&log);
}

static void json_catalogues_are_refused(void **state) {
    const test_place *self = *state;
    test_h5_put_text(self->path, "/Header/phase_center_catalog/field", "{\"cat_id\": 0}");
    check_place(self->path, NULL, SLC_FRAME_ICRS, 1.25, -0.25, true); /* the old header is there */
    test_h5_put_integer(self->path, "/Header/Nphase", 2);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "JSON");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(frames_of_old_headers),
        CASE(drift_headers_follow_the_zenith),
        CASE(one_centre_in_a_catalogue),
        CASE(several_centres_need_a_name),
        CASE(kinds_of_centres),
        CASE(an_ephemeris_is_taken_at_mid_time),
        CASE(an_ephemeris_elsewhere_is_said),
        CASE(json_catalogues_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
