/* What only the CUDA device has: kernels for strided copies in every element size, layouts that the
 * bus refuses. Everything that all devices share is in test_device.c. */
#include "tests/support/test_fixture.h"

#include "core/copy.h"

/* Copies between two views of buffers of `bytes` on the card, and the same on the host. */
static void expect_like_the_host(const test_fixture *self, const slc_layout *dst,
                                 const slc_layout *src, int64_t dst_bytes, int64_t src_bytes) {
    slc_pinned in;
    slc_pinned out;
    void *d_in = NULL;
    void *d_out = NULL;
    slc_stream *stream = NULL;
    unsigned char *expected = test_allocate(dst_bytes);
    TEST_OK(slc_pinned_allocate(self->device, src_bytes, &in));
    TEST_OK(slc_pinned_allocate(self->device, dst_bytes, &out));
    TEST_OK(slc_device_allocate(self->device, src_bytes, &d_in));
    TEST_OK(slc_device_allocate(self->device, dst_bytes, &d_out));
    TEST_OK(slc_stream_create(self->device, &stream));
    test_fill(in.host, src_bytes, 3);
    memset(expected, 0xEE, (size_t)dst_bytes);
    TEST_OK(slc_copy_host(expected, dst, in.host, src));
    TEST_OK(slc_stream_copy(stream, d_in, in.host, src_bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_set(stream, d_out, 0xEE, dst_bytes));
    TEST_OK(slc_stream_copy_strided(stream, d_out, dst, d_in, src, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_copy(stream, out.host, d_out, dst_bytes, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    assert_true(memcmp(expected, out.host, (size_t)dst_bytes) == 0);
    slc_stream_destroy(stream);
    slc_device_release(self->device, d_in);
    slc_device_release(self->device, d_out);
    slc_pinned_release(self->device, &in);
    slc_pinned_release(self->device, &out);
    free(expected);
}

static slc_layout dense(slc_dtype dtype, int rank, const int64_t *shape) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(dtype, rank, shape, &layout));
    return layout;
}

static const slc_dtype dtypes[] = {SLC_U8, SLC_F16, SLC_F32, SLC_C64, SLC_FIXED128};

static void transposes_of_every_size(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const int64_t shapes[][3] = {{1, 16, 16}, {3, 63, 65}, {2, 1003, 997}, {70, 17, 33}};
    for (int64_t t = 0; t < TEST_COUNT(dtypes); t++) {
        for (int64_t s = 0; s < TEST_COUNT(shapes); s++) {
            const int64_t *shape = shapes[s];
            const slc_layout src = dense(dtypes[t], 3, shape);
            const slc_layout turned =
                dense(dtypes[t], 3, (const int64_t[]){shape[0], shape[2], shape[1]});
            const slc_layout dst = slc_layout_permute(&turned, (const int[]){0, 2, 1});
            expect_like_the_host(&self, &dst, &src, slc_layout_bytes(&src), slc_layout_bytes(&src));
        }
    }
    test_fixture_close(&self);
}

/* A random view: axes in any order, a box of it, some axes backwards. */
static void random_pairs_of_every_size(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    uint64_t seed = 8;
    for (int round = 0; round < 200; round++) {
        const slc_dtype dtype = dtypes[test_random_below(&seed, TEST_COUNT(dtypes))];
        int64_t shape[4];
        int order[4] = {0};
        slc_box box = {.rank = 4};
        for (int d = 0; d < 4; d++) {
            shape[d] = 1 + test_random_below(&seed, 24);
            box.origin[d] = test_random_below(&seed, shape[d]);
            box.extent[d] = shape[d] - box.origin[d];
            const int other = (int)test_random_below(&seed, d + 1);
            order[d] = order[other];
            order[other] = d;
        }
        const slc_layout whole = dense(dtype, 4, shape);
        slc_layout src = slc_layout_slice(&whole, &box);
        src = slc_layout_permute(&src, order);
        src = slc_layout_reverse(&src, (int)test_random_below(&seed, 4));
        const slc_layout dst = dense(dtype, 4, src.shape);
        expect_like_the_host(&self, &dst, &src, slc_layout_bytes(&dst), slc_layout_bytes(&whole));
        /* And the other way, from dense to the view. */
        expect_like_the_host(&self, &src, &dst, slc_layout_bytes(&whole), slc_layout_bytes(&dst));
    }
    test_fixture_close(&self);
}

static void the_bus_refuses_what_it_cannot_do(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    slc_pinned host;
    void *d_memory = NULL;
    const slc_layout src = dense(SLC_F32, 2, (const int64_t[]){20, 30});
    const slc_layout dst = slc_layout_reverse(&src, 1);
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_pinned_allocate(self.device, slc_layout_bytes(&src), &host));
    TEST_OK(slc_device_allocate(self.device, slc_layout_bytes(&src), &d_memory));
    TEST_FAILS(slc_stream_copy_strided(stream, d_memory, &dst, host.host, &src, SLC_COPY_TO_DEVICE),
               SLC_ERROR_UNSUPPORTED, "rearrange");
    TEST_OK(slc_stream_synchronize(stream));
    slc_stream_destroy(stream);
    slc_pinned_release(self.device, &host);
    slc_device_release(self.device, d_memory);
    test_fixture_close(&self);
}

/* A box of a 4-dimensional array, dense on the host: no one pitch describes it. It goes to the device
 * into an array of zeros and comes back whole. */
static void the_bus_copies_a_box_of_rows(void **state) {
    enum { N0 = 5, N1 = 4, N2 = 6, N3 = 7, N = N0 * N1 * N2 * N3 };
    test_fixture self;
    test_fixture_open(*state, &self);
    const slc_layout whole = dense(SLC_I32, 4, (const int64_t[]){N0, N1, N2, N3});
    const slc_box box = {.rank = 4, .origin = {1, 1, 2, 3}, .extent = {3, 2, 3, 4}};
    const slc_layout view = slc_layout_slice(&whole, &box);
    const slc_layout packed = dense(SLC_I32, 4, box.extent);
    slc_stream *stream = NULL;
    slc_pinned host;
    void *d_memory = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_pinned_allocate(self.device, slc_layout_bytes(&whole), &host));
    TEST_OK(slc_device_allocate(self.device, slc_layout_bytes(&whole), &d_memory));
    int32_t *const values = host.host;
    for (int i = 0; i < 3 * 2 * 3 * 4; i++) {
        values[i] = i + 1;
    }
    TEST_OK(slc_stream_set(stream, d_memory, 0, slc_layout_bytes(&whole)));
    TEST_OK(
        slc_stream_copy_strided(stream, d_memory, &view, host.host, &packed, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_copy(stream, host.host, d_memory, slc_layout_bytes(&whole),
                            SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    int next = 1;
    for (int i = 0; i < N; i++) {
        const int at[4] = {i / (N1 * N2 * N3), i / (N2 * N3) % N1, i / N3 % N2, i % N3};
        bool is_inside = true;
        for (int d = 0; d < 4; d++) {
            is_inside =
                is_inside && at[d] >= box.origin[d] && at[d] < box.origin[d] + box.extent[d];
        }
        assert_int_equal(values[i], is_inside ? next : 0);
        next += is_inside ? 1 : 0;
    }
    slc_stream_destroy(stream);
    slc_pinned_release(self.device, &host);
    slc_device_release(self.device, d_memory);
    test_fixture_close(&self);
}

static slc_status do_nothing(void *argument) {
    (void)argument;
    return SLC_OK;
}

static void it_is_no_host_device(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    slc_device_limits limits;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_FAILS(slc_stream_call(stream, do_nothing, NULL, 0), SLC_ERROR_ARGUMENT, "host device");
    TEST_OK(slc_device_get_limits(self.device, &limits));
    assert_true(limits.context_bytes > 0);
    assert_int_equal(limits.allocation_unit_bytes, 2 << 20);
    slc_pinned pinned;
    TEST_OK(slc_pinned_allocate(self.device, 16 << 20, &pinned));
    assert_true(pinned.is_pinned);
    slc_pinned_release(self.device, &pinned);
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

static const test_case cases[] = {
    TEST_CASE(transposes_of_every_size),     TEST_CASE(random_pairs_of_every_size),
    TEST_CASE(the_bus_copies_a_box_of_rows), TEST_CASE(the_bus_refuses_what_it_cannot_do),
    TEST_CASE(it_is_no_host_device),
};

int main(void) {
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_CUDA);
}
