/* Rounds of Newton's square root: they end by themselves, at the root, after as many of them on every
 * device. */
#include "tests/support/test_fixture.h"

#include <math.h>

#include "kernels/newton.h"

/* No multiple of a block of threads. */
#define N 1001
#define MOST_ROUNDS 200

typedef struct device_roots {
    slc_device *device;
    slc_stream *stream;
    slc_pinned host; /* [2 · N] numbers and a state */
    float *in, *out;
    slc_loop_state *state;
    void *d_in, *d_root, *d_state;
} device_roots;

static void open_roots(slc_device *device, device_roots *self) {
    const int64_t bytes = N * (int64_t)sizeof(float);
    *self = (device_roots){.device = device};
    TEST_OK(slci_newton_prepare(NULL, device));
    TEST_OK(slc_stream_create(device, &self->stream));
    TEST_OK(slc_pinned_allocate(device, (int64_t)sizeof *self->state + 2 * bytes, &self->host));
    TEST_OK(slc_device_allocate(device, bytes, &self->d_in));
    TEST_OK(slc_device_allocate(device, bytes, &self->d_root));
    TEST_OK(slc_device_allocate(device, (int64_t)sizeof *self->state, &self->d_state));
    self->state = self->host.host;
    self->in = (float *)(self->state + 1);
    self->out = self->in + N;
    test_fill_f32(self->in, N, 5);
    for (int i = 0; i < N; i++) {
        self->in[i] = 2.5f + 1.5f * self->in[i]; /* 1 to 4 */
    }
    TEST_OK(slc_stream_copy(self->stream, self->d_in, self->in, bytes, SLC_COPY_TO_DEVICE));
}

static void close_roots(device_roots *self) {
    slc_stream_destroy(self->stream);
    slc_device_release(self->device, self->d_in);
    slc_device_release(self->device, self->d_root);
    slc_device_release(self->device, self->d_state);
    slc_pinned_release(self->device, &self->host);
}

/* One round of the first `n` numbers, number `round` from 0; whether it was the last. */
static bool run_round(device_roots *self, int64_t n, int64_t round) {
    const slci_newton newton = {.d_in = self->d_in,
                                .d_root = self->d_root,
                                .n = n,
                                .d_state = self->d_state};
    *self->state = (slc_loop_state){.n_iterations = round};
    const int64_t bytes = (int64_t)sizeof *self->state;
    TEST_OK(slc_stream_copy(self->stream, self->d_state, self->state, bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(slci_newton_enqueue(self->stream, &newton));
    TEST_OK(slc_stream_copy(self->stream, self->state, self->d_state, bytes, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_copy(self->stream, self->out, self->d_root, N * (int64_t)sizeof(float),
                            SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(self->stream));
    assert_int_equal(self->state->n_iterations, round);
    return self->state->is_done != 0;
}

static int64_t run_rounds(device_roots *self, int64_t n) {
    int64_t round = 0;
    while (round < MOST_ROUNDS && !run_round(self, n, round)) {
        round++;
    }
    return round + 1;
}

static void it_ends_at_the_root(void **state) {
    test_fixture self;
    device_roots roots;
    test_fixture_open(*state, &self);
    open_roots(self.device, &roots);
    /* From 2^93 down to a root of 1 to 2 the distance is halved 92 or 93 times. */
    assert_in_range(run_rounds(&roots, N), 95, 105);
    for (int i = 0; i < N; i++) {
        const double root = sqrt((double)roots.in[i]);
        assert_true(fabs((double)roots.out[i] - root) <= 0x1p-22 * root);
    }
    /* Again: what was there before does not matter. */
    assert_in_range(run_rounds(&roots, N), 95, 105);
    close_roots(&roots);
    test_fixture_close(&self);
}

/* Far from the root a / x is lost in the sum, so that the iterates are powers of two. */
static void the_first_rounds_halve(void **state) {
    test_fixture self;
    device_roots roots;
    test_fixture_open(*state, &self);
    open_roots(self.device, &roots);
    for (int round = 0; round < 20; round++) {
        assert_false(run_round(&roots, 1, round));
        assert_true(roots.out[0] == ldexpf(1, 92 - round));
    }
    close_roots(&roots);
    test_fixture_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(it_ends_at_the_root),
        TEST_CASE(the_first_rounds_halve),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
