/* Random reads: every touch is made, on both kinds of device, at the places that the header names. */
#include "tests/support/test_fixture.h"

#include "kernels/touch.h"

/* Touches are numbered from here on. */
#define FIRST 1000

/* The sum of a pass over data [n] on the device, starting from `start`. */
static uint32_t touch_sum(const test_fixture *self, const uint32_t *data, int64_t n,
                          int64_t n_touches, uint32_t start) {
    const int64_t bytes = n * (int64_t)sizeof *data;
    slc_pinned host;
    slc_stream *stream = NULL;
    void *d_data = NULL;
    void *d_sum = NULL;
    uint32_t sum = 0;
    TEST_OK(slc_pinned_allocate(self->device, bytes + (int64_t)sizeof sum, &host));
    TEST_OK(slc_device_allocate(self->device, bytes, &d_data));
    TEST_OK(slc_device_allocate(self->device, (int64_t)sizeof sum, &d_sum));
    TEST_OK(slc_stream_create(self->device, &stream));
    uint32_t *const staging = host.host;
    memcpy(staging, data, (size_t)bytes);
    staging[n] = start;
    TEST_OK(slc_stream_copy(stream, d_data, staging, bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_copy(stream, d_sum, staging + n, (int64_t)sizeof sum, SLC_COPY_TO_DEVICE));
    const slc_touch work = {
        .d_data = d_data, .n_elements = n, .first = FIRST, .n_touches = n_touches, .d_sum = d_sum};
    TEST_OK(slc_touch_enqueue(stream, &work));
    TEST_OK(slc_stream_copy(stream, staging + n, d_sum, (int64_t)sizeof sum, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    sum = staging[n];
    slc_stream_destroy(stream);
    slc_device_release(self->device, d_data);
    slc_device_release(self->device, d_sum);
    slc_pinned_release(self->device, &host);
    return sum;
}

/* All ones: the sum is the number of touches. */
static void every_touch_counts_once(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    enum { N = 1000 };
    uint32_t ones[N];
    for (int i = 0; i < N; i++) {
        ones[i] = 1;
    }
    const int64_t counts[] = {0, 1, 7, 31, 32, 2047, 2048, 65535, 65536, 300001};
    for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
        assert_int_equal(touch_sum(&self, ones, N, counts[c], 5), 5 + counts[c]);
        assert_int_equal(touch_sum(&self, ones, 1, counts[c], 0), counts[c]);
    }
    test_fixture_close(&self);
}

/* Elements that differ: the same places wherever it runs. */
static void places_are_those_of_the_header(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    enum { N = 4099, N_TOUCHES = 20000 };
    static uint32_t data[N];
    static int64_t n_hits[N];
    test_fill(data, (int64_t)sizeof data, 11);
    memset(n_hits, 0, sizeof n_hits);
    uint32_t expected = 0;
    for (int64_t i = 0; i < N_TOUCHES; i++) {
        const int64_t place = slc_touch_place(FIRST + i, N);
        assert_in_range(place, 0, N - 1);
        n_hits[place]++;
        expected += data[place];
    }
    assert_int_equal(touch_sum(&self, data, N, N_TOUCHES, 0), expected);
    /* About 4.9 hits an element: by Poisson's law 30 of 4,099 have none, and none has 20. */
    int64_t n_missed = 0;
    for (int i = 0; i < N; i++) {
        n_missed += n_hits[i] == 0 ? 1 : 0;
        assert_true(n_hits[i] < 20);
    }
    assert_in_range(n_missed, 5, 80);
    test_fixture_close(&self);
}

static void refuses_what_makes_no_sense(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    const slc_touch nothing = {.n_elements = 0, .n_touches = 1};
    const slc_touch negative = {.n_elements = 1, .n_touches = -1};
    TEST_FAILS(slc_touch_enqueue(stream, &nothing), SLC_ERROR_ARGUMENT, "at least");
    TEST_FAILS(slc_touch_enqueue(stream, &negative), SLC_ERROR_ARGUMENT, "-1");
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(every_touch_counts_once),
        TEST_CASE(places_are_those_of_the_header),
        TEST_CASE(refuses_what_makes_no_sense),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
