/* Every call of every kind fails once, at every place where a run of statistics makes it: one clear
 * error of the right class, every thread joined, no file and no object of HDF5 left open. */
#include <hdf5.h>

#include "app/stats.h"
#include "tests/support/test_belongings.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_job_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_DATA = 30000, N_BINS = 7 };

typedef struct place {
    test_fault_place files;  /* first */
    double largest, sum;     /* of the data */
    slc_stats_result *found; /* by the last run that ended well */
} place;

/* One pass, and all that there are; the last one is only there because its device is not tried. AUTO
 * allows a run to end well although memory was refused, which a reader's fast way does without. */
static const slc_sparse_choice ways[] = {SLC_SPARSE_AUTO, SLC_SPARSE_AUTO, SLC_SPARSE_AUTO};

static slc_status run_once(const void *context, int64_t way, slc_device *device) {
    const place *self = context;
    static const double quantiles[2] = {0.1, 0.7};
    slc_stats_number values[2];
    double edges[N_BINS + 1];
    int64_t bins[N_BINS + 2];
    slc_stats_result result;
    const slc_stats_options options = {.in = {.path = self->files.in, .dataset = "/data"},
                                       .no_median = way == 0,
                                       .n_quantiles = way == 0 ? 0 : 2,
                                       .quantiles = quantiles,
                                       .quantile_values = values,
                                       .n_bins = N_BINS,
                                       .edges = edges,
                                       .bins = bins,
                                       .run = {.vram_bytes = 200000,
                                               .ram_bytes = 8 << 20,
                                               .device = SLC_CHOOSE_HOST,
                                               .n_threads = 2,
                                               .use_device = device}};
    const slc_status status = slc_stats_run(&options, &result);
    if (status == SLC_OK) {
        assert_int_equal(result.n, N_DATA * 2);
        assert_true(result.max.value == self->largest && result.sum[0].value == self->sum);
        *self->found = result;
    }
    return status;
}

/* The data was read by HDF5, and the reader said why. */
static bool is_explained(const void *context) {
    const place *self = context;
    return strcmp(self->found->reader.path, "library") == 0 && self->found->reader.why[0] != '\0';
}

/* [30000, 2] in deflated chunks. */
static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    const int64_t shape[2] = {N_DATA, 2};
    const hsize_t chunk[2] = {5000, 2};
    float *data = test_allocate(N_DATA * 2 * 4);
    test_fault_place_create(&self->files, "in.h5", "none");
    test_fill_f32(data, N_DATA * 2, 2);
    long double sum = 0; /* exact: its 64 bits hold sums of floats of like size */
    self->largest = -1;
    for (int64_t k = 0; k < N_DATA * 2; k++) {
        self->largest = (double)data[k] > self->largest ? (double)data[k] : self->largest;
        sum += (long double)data[k];
    }
    self->sum = (double)sum;
    self->found = test_allocate((int64_t)sizeof *self->found);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(properties, 2, chunk) >= 0 && H5Pset_deflate(properties, 1) >= 0);
    test_h5_put(self->files.in, "/data", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, 2, shape, properties,
                data);
    H5Pclose(properties);
    free(data);
    self->files.job = (test_job_faults){.context = self,
                                        .run = run_once,
                                        .results = self->files.results,
                                        .ways = ways,
                                        .n_ways = TEST_COUNT(ways),
                                        .has_no_output = true,
                                        .is_explained = is_explained};
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    free(self->found);
    return test_fault_place_destroy(state);
}

/* Whichever chunk cannot be decoded is named. */
static void every_decoding(void **state) {
    const place *self = *state;
    int64_t n_calls = 1;
    TEST_OK(run_once(self, 0, NULL)); /* makes what is made once */
    for (int64_t n = 1; n <= n_calls; n++) {
        const test_belongings before = test_belongings_count();
        test_fault_arm(TEST_FAULT_DECODE, n);
        const slc_status status = run_once(self, 0, NULL);
        n_calls = test_fault_disarm();
        assert_true(n_calls > 0);
        if (n > n_calls) {
            TEST_OK(status);
        } else {
            assert_int_equal(status, SLC_ERROR_INPUT);
            assert_non_null(strstr(slc_status_message(), "in.h5: dataset /data"));
        }
        test_belongings_expect(&before);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_job_fail_calls),
        CASE(every_decoding),
        CASE(test_job_fail_device_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
