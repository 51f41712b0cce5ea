/* The plain sum: every value once, added to what is there, on both kinds of device. */
#include "tests/support/test_fixture.h"

#include "kernels/plain_sum.h"

/* Of 1, 2, ..., n, all exact in single precision, enqueued twice onto `start`. */
static double twice_the_sum(const test_fixture *self, int64_t n, double start) {
    const int64_t bytes = n * (int64_t)sizeof(float);
    slc_pinned values;
    slc_pinned result;
    slc_stream *stream = NULL;
    void *d_values = NULL;
    void *d_sum = NULL;
    TEST_OK(slc_pinned_allocate(self->device, bytes, &values));
    TEST_OK(slc_pinned_allocate(self->device, (int64_t)sizeof(double), &result));
    TEST_OK(slc_device_allocate(self->device, bytes, &d_values));
    TEST_OK(slc_device_allocate(self->device, (int64_t)sizeof(double), &d_sum));
    TEST_OK(slc_stream_create(self->device, &stream));
    for (int64_t i = 0; i < n; i++) {
        ((float *)values.host)[i] = (float)(i + 1);
    }
    *(double *)result.host = start;
    TEST_OK(slc_stream_copy(stream, d_values, values.host, bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(
        slc_stream_copy(stream, d_sum, result.host, (int64_t)sizeof(double), SLC_COPY_TO_DEVICE));
    TEST_OK(slci_plain_sum_enqueue(stream, d_values, n, d_sum));
    TEST_OK(slci_plain_sum_enqueue(stream, d_values, n, d_sum));
    TEST_OK(
        slc_stream_copy(stream, result.host, d_sum, (int64_t)sizeof(double), SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    const double sum = *(const double *)result.host;
    slc_stream_destroy(stream);
    slc_device_release(self->device, d_sum);
    slc_device_release(self->device, d_values);
    slc_pinned_release(self->device, &result);
    slc_pinned_release(self->device, &values);
    return sum;
}

static void every_value_counts_once(void **state) {
    static const int64_t counts[] = {1, 2, 3, 4, 5, 1023, 4096, 100003, 3000000};
    test_fixture self;
    test_fixture_open(*state, &self);
    for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
        const double n = (double)counts[c];
        assert_true(twice_the_sum(&self, counts[c], -5.0) == n * (n + 1) - 5.0);
    }
    test_fixture_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(every_value_counts_once),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
