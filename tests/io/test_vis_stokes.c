/* Several polarisations of one set: Stokes parameters made of correlations, read together. The values
 * are those of row 0 and channel 0 of test_uvh5_create, 10,000 k - k i for polarisation k of the file,
 * put together by hand. */
#include "tests/support/test_uvh5.h"

enum { ROWS = 8, CHANNELS = 2, POLS = 4, N = ROWS * CHANNELS };

/* One polarisation of what was read. */
typedef struct expected {
    slc_polarisation wanted;
    int code;
    double real, imag;
    const char *text;
} expected;

static int create(void **state) {
    test_uvh5_create(test_place_create(state, "set.uvh5")->path, ROWS, CHANNELS, POLS);
    return 0;
}

static slc_vis_options ask_for(const expected *all, int n) {
    slc_vis_options options = {.polarisation = all[0].wanted};
    for (int k = 1; k < n; k++) {
        options.more[k - 1] = all[k].wanted;
    }
    return options;
}

/* Reads all of them at once. */
static void expect(const char *path, const expected *all, int n) {
    double uvw[3 * ROWS];
    float vis[SLC_VIS_MOST_IMAGED][2 * N];
    float weight[SLC_VIS_MOST_IMAGED][N];
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED];
    void *dst[SLC_MAX_FIELDS] = {uvw};
    const slc_vis_options options = ask_for(all, n);
    slc_source *source = test_vis_open(path, &options);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    const slc_box rows = slc_box_1d(0, ROWS);
    assert_int_equal(slc_vis_count_imaged(&options), n);
    assert_int_equal(meta->n_imaged, n);
    assert_int_equal(source->n_fields, 1 + 2 * n);
    for (int k = 0; k < n; k++) {
        dst[slc_vis_data_field(k)] = vis[k];
        dst[slc_vis_weight_field(k)] = weight[k];
    }
    TEST_OK(slc_vis_read_counted(source, &rows, dst, counts));
    for (int k = 0; k < n; k++) {
        assert_int_equal(meta->imaged[k].stokes, all[k].code);
        assert_int_equal(slc_vis_polarisation_code(all[k].wanted), all[k].code);
        assert_string_equal(meta->imaged[k].text, all[k].text);
        assert_true((double)vis[k][0] == all[k].real && (double)vis[k][1] == all[k].imag);
        assert_true(weight[k][0] == 1.0F);
    }
    slc_source_destroy(source);
}

static void of_linear_feeds(void **state) {
    const test_place *place = *state;
    const expected unknown[] = {{SLC_POL_I, 1, 5000, -0.5, "I = (XX + YY) / 2"},
                                {SLC_POL_Q, 2, -5000, 0.5, "Q = (XX - YY) / 2, taking X for north"},
                                {SLC_POL_U, 3, 25000, -2.5, "U = (XY + YX) / 2"},
                                {SLC_POL_V, 4, 0.5, 5000,
                                 "V = -i (XY - YX) / 2, taking X for north"}};
    expect(place->path, unknown, 4);
    test_h5_put_text(place->path, "/Header/x_orientation", "north");
    const expected north[] = {{SLC_POL_V, 4, 0.5, 5000, "V = -i (XY - YX) / 2, X is north"},
                              {SLC_POL_YX, -8, 30000, -3, "YX"},
                              {SLC_POL_Q, 2, -5000, 0.5, "Q = (XX - YY) / 2, X is north"}};
    expect(place->path, north, 3);
    test_h5_put_text(place->path, "/Header/x_orientation", "east");
    const expected east[] = {{SLC_POL_Q, 2, 5000, -0.5, "Q = (YY - XX) / 2, X is east"},
                             {SLC_POL_V, 4, -0.5, -5000, "V = -i (YX - XY) / 2, X is east"}};
    expect(place->path, east, 2);
    test_h5_put_text(place->path, "/Header/pol_convention", "sum");
    const expected sum[] = {{SLC_POL_I, 1, 10000, -1, "I = XX + YY (pol_convention 'sum')"}};
    expect(place->path, sum, 1);
}

static void of_circular_feeds(void **state) {
    const test_place *place = *state;
    const int64_t n = POLS;
    const int64_t codes[POLS] = {-1, -2, -3, -4};
    test_h5_put_i64(place->path, "/Header/polarization_array", 1, &n, codes);
    const expected all[] = {{SLC_POL_V, 4, -5000, 0.5, "V = (RR - LL) / 2"},
                            {SLC_POL_Q, 2, 25000, -2.5, "Q = (RL + LR) / 2"},
                            {SLC_POL_U, 3, 0.5, 5000, "U = -i (RL - LR) / 2"},
                            {SLC_POL_LL, -2, 10000, -1, "LL"}};
    expect(place->path, all, 4);
}

/* What a file holds already is not made. */
static void of_the_file(void **state) {
    const test_place *place = *state;
    const int64_t n = POLS;
    const int64_t codes[POLS] = {1, 2, 3, 4};
    test_h5_put_i64(place->path, "/Header/polarization_array", 1, &n, codes);
    const expected all[] = {{SLC_POL_V, 4, 30000, -3, "V"}, {SLC_POL_Q, 2, 10000, -1, "Q"}};
    expect(place->path, all, 2);
}

/* A flag counts for what is made of its polarisation, and of one that is not wanted nothing is read. */
static void each_has_its_own_flags(void **state) {
    const test_place *place = *state;
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    uint8_t flags[ROWS * CHANNELS * POLS] = {0};
    float weight[2][N];
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED];
    const slc_box rows = slc_box_1d(0, ROWS);
    const slc_vis_options options = {.polarisation = SLC_POL_XX, .more = {SLC_POL_I, SLC_POL_YX}};
    flags[1] = 1; /* YY of the first sample */
    flags[POLS] = 1;
    test_h5_put(place->path, "/Data/flags", H5T_STD_U8LE, H5T_NATIVE_UINT8, 3, shape, H5P_DEFAULT,
                flags);
    slc_source *source = test_vis_open(place->path, &options);
    void *dst[SLC_MAX_FIELDS] = {NULL};
    dst[slc_vis_weight_field(0)] = weight[0];
    dst[slc_vis_weight_field(1)] = weight[1];
    TEST_OK(slc_vis_read_counted(source, &rows, dst, counts));
    assert_true(weight[0][0] == 1.0F && weight[0][1] == 0.0F);
    assert_true(weight[1][0] == 0.0F && weight[1][1] == 0.0F && weight[1][2] == 1.0F);
    assert_int_equal(counts[0].flagged, 1);
    assert_int_equal(counts[0].total, N);
    assert_int_equal(counts[1].flagged, 2);
    assert_int_equal(counts[1].total, 2 * N);
    assert_int_equal(counts[2].total, 0);
    slc_source_destroy(source);
}

static void lists_are_checked(void **state) {
    const test_place *place = *state;
    const slc_vis_options twice = {.polarisation = SLC_POL_Q, .more = {SLC_POL_Q}};
    TEST_FAILS(test_vis_try(place->path, &twice), SLC_ERROR_ARGUMENT, "Q is asked for twice");
    const slc_vis_options unnamed = {.more = {SLC_POL_Q}};
    TEST_FAILS(test_vis_try(place->path, &unnamed), SLC_ERROR_ARGUMENT, "polarisation number 0");
    const slc_vis_options absent = {.polarisation = SLC_POL_XX, .more = {SLC_POL_LR}};
    TEST_FAILS(test_vis_try(place->path, &absent), SLC_ERROR_ARGUMENT, "there is no LR");
    const int64_t n = POLS;
    const int64_t codes[POLS] = {-1, -2, -3, -5};
    test_h5_put_i64(place->path, "/Header/polarization_array", 1, &n, codes);
    const slc_vis_options u = {.polarisation = SLC_POL_U};
    TEST_FAILS(test_vis_try(place->path, &u), SLC_ERROR_ARGUMENT,
               "there is no U, nor XY with YX, nor RL with LR in this file");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, create, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(of_linear_feeds),   CASE(of_circular_feeds),      CASE(of_the_file),
        CASE(lists_are_checked), CASE(each_has_its_own_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
