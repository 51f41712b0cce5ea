/* Every device of this machine, bare and inside a checking device that delays copies, must behave
 * the same. */
#include "tests/support/test_fixture.h"

#include "core/device_internal.h"

/* ---- memory and copies ------------------------------------------------------------------------ */

static void limits_make_sense(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_device_limits limits;
    TEST_OK(slc_device_get_limits(self.device, &limits));
    print_message("%s: %lld MiB, %lld free, context %lld, %d processors\n", limits.name,
                  (long long)(limits.total_bytes >> 20), (long long)(limits.free_bytes >> 20),
                  (long long)(limits.context_bytes >> 20), limits.n_processors);
    assert_true(limits.name[0] != '\0');
    assert_true(limits.free_bytes > 0 && limits.free_bytes <= limits.total_bytes);
    assert_true(limits.context_bytes >= 0 && limits.context_bytes < limits.total_bytes);
    assert_true(limits.allocation_unit_bytes >= 4096);
    assert_true(limits.n_processors >= 1);
    assert_true(limits.has_fast_double || self.device->kind == SLC_DEVICE_CUDA);
    test_fixture_close(&self);
}

/* Host to device, on the device, and back. */
static void carry_around(const test_fixture *self, int64_t bytes) {
    slc_pinned in;
    slc_pinned out;
    void *d_a = NULL;
    void *d_b = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_pinned_allocate(self->device, bytes, &in));
    TEST_OK(slc_pinned_allocate(self->device, bytes, &out));
    TEST_OK(slc_device_allocate(self->device, bytes, &d_a));
    TEST_OK(slc_device_allocate(self->device, bytes, &d_b));
    TEST_OK(slc_stream_create(self->device, &stream));
    assert_int_equal((uintptr_t)d_a % 256, 0);
    assert_int_equal(in.bytes, bytes);
    test_fill(in.host, bytes, (uint64_t)bytes);
    TEST_OK(slc_stream_copy(stream, d_a, in.host, bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_copy(stream, d_b, d_a, bytes, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_set(stream, d_a, 0x5A, bytes));
    TEST_OK(slc_stream_copy(stream, out.host, d_b, bytes, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    assert_true(memcmp(in.host, out.host, (size_t)bytes) == 0);
    TEST_OK(slc_stream_copy(stream, out.host, d_a, bytes, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    for (int64_t i = 0; i < bytes; i++) {
        assert_true(((unsigned char *)out.host)[i] == 0x5A);
    }
    slc_stream_destroy(stream);
    slc_device_release(self->device, d_a);
    slc_device_release(self->device, d_b);
    slc_pinned_release(self->device, &in);
    slc_pinned_release(self->device, &out);
    assert_null(in.host);
}

static void bytes_survive_the_way(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const int64_t sizes[] = {1, 3, 4096, 1000003, (5 << 20) + 17};
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        carry_around(&self, sizes[i]);
    }
    test_fixture_close(&self);
}

static void nothing_and_less_than_nothing(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_pinned pinned = {.bytes = 7};
    slc_mapped mapped = {.bytes = 7};
    TEST_OK(slc_pinned_allocate(self.device, 0, &pinned));
    TEST_OK(slc_mapped_allocate(self.device, 0, &mapped));
    assert_true(pinned.host == NULL && pinned.bytes == 0 && pinned.is_pinned);
    assert_true(mapped.host == NULL && mapped.bytes == 0);
    slc_pinned_release(self.device, &pinned);
    slc_mapped_release(self.device, &mapped);
    slc_stream *stream = NULL;
    void *memory = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_stream_copy(stream, NULL, NULL, 0, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_set(stream, NULL, 1, 0));
    TEST_FAILS(slc_stream_copy(stream, NULL, NULL, -1, SLC_COPY_TO_DEVICE), SLC_ERROR_ARGUMENT,
               "-1");
    TEST_FAILS(slc_stream_set(stream, NULL, 1, -2), SLC_ERROR_ARGUMENT, "-2");
    TEST_FAILS(slc_device_allocate(self.device, 0, &memory), SLC_ERROR_ARGUMENT, "at least 1");
    TEST_FAILS(slc_pinned_allocate(self.device, -1, &pinned), SLC_ERROR_ARGUMENT, "-1");
    TEST_FAILS(slc_mapped_allocate(self.device, -1, &mapped), SLC_ERROR_ARGUMENT, "-1");
    TEST_FAILS(slc_device_allocate(self.device, INT64_MAX / 2, &memory), SLC_ERROR_MEMORY, "");
    TEST_FAILS(slc_pinned_allocate(self.device, INT64_MAX / 2, &pinned), SLC_ERROR_MEMORY, "");
    TEST_FAILS(slc_mapped_allocate(self.device, INT64_MAX, &mapped), SLC_ERROR_MEMORY, "");
    assert_null(memory);
    slc_device_release(self.device, NULL);
    slc_stream_destroy(NULL);
    slc_event_destroy(NULL);
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

static void mapped_memory_has_two_addresses(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    enum { N_BYTES = 3 << 20 };
    slc_mapped mapped;
    slc_pinned out;
    void *d_memory = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_mapped_allocate(self.device, N_BYTES, &mapped));
    TEST_OK(slc_pinned_allocate(self.device, N_BYTES, &out));
    TEST_OK(slc_device_allocate(self.device, N_BYTES, &d_memory));
    TEST_OK(slc_stream_create(self.device, &stream));
    test_fill(mapped.host, N_BYTES, 5);
    TEST_OK(slc_stream_copy(stream, d_memory, mapped.device_alias, N_BYTES, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_copy(stream, out.host, d_memory, N_BYTES, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    assert_true(memcmp(mapped.host, out.host, N_BYTES) == 0);
    TEST_OK(slc_stream_set(stream, mapped.device_alias, 9, N_BYTES));
    TEST_OK(slc_stream_synchronize(stream));
    assert_int_equal(((unsigned char *)mapped.host)[N_BYTES - 1], 9);
    slc_stream_destroy(stream);
    slc_device_release(self.device, d_memory);
    slc_pinned_release(self.device, &out);
    slc_mapped_release(self.device, &mapped);
    test_fixture_close(&self);
}

/* ---- strided copies --------------------------------------------------------------------------- */

/* Element (i0, i1, ...) of a layout over i32. */
static int32_t *element(void *base, const slc_layout *layout, const int64_t *index) {
    int64_t offset = layout->offset_bytes;
    for (int d = 0; d < layout->rank; d++) {
        offset += index[d] * layout->stride_bytes[d];
    }
    return (int32_t *)(void *)((char *)base + offset);
}

/* Copies within a device between two views of buffers of `bytes`; every element must arrive. */
static void expect_device_copy(const test_fixture *self, const slc_layout *dst,
                               const slc_layout *src, int64_t bytes) {
    slc_pinned in;
    slc_pinned out;
    void *d_in = NULL;
    void *d_out = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_pinned_allocate(self->device, bytes, &in));
    TEST_OK(slc_pinned_allocate(self->device, bytes, &out));
    TEST_OK(slc_device_allocate(self->device, bytes, &d_in));
    TEST_OK(slc_device_allocate(self->device, bytes, &d_out));
    TEST_OK(slc_stream_create(self->device, &stream));
    for (int64_t i = 0; i < bytes / 4; i++) {
        ((int32_t *)in.host)[i] = (int32_t)i;
    }
    TEST_OK(slc_stream_copy(stream, d_in, in.host, bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_set(stream, d_out, 0xEE, bytes));
    TEST_OK(slc_stream_copy_strided(stream, d_out, dst, d_in, src, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_copy(stream, out.host, d_out, bytes, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    int64_t index[SLC_MAX_RANK] = {0};
    for (int64_t n = 0; n < slc_layout_count(dst); n++) {
        assert_int_equal(*element(out.host, dst, index), *element(in.host, src, index));
        for (int d = dst->rank - 1; d >= 0 && ++index[d] == dst->shape[d]; d--) {
            index[d] = 0;
        }
    }
    slc_stream_destroy(stream);
    slc_device_release(self->device, d_in);
    slc_device_release(self->device, d_out);
    slc_pinned_release(self->device, &in);
    slc_pinned_release(self->device, &out);
}

static slc_layout dense(int rank, const int64_t *shape) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(SLC_I32, rank, shape, &layout));
    return layout;
}

static void any_two_layouts_are_copied_on_the_device(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    /* Transposes of primes, one of them of 4 MB, which the host device cuts into pieces. */
    const int64_t sides[][2] = {{997, 1003}, {37, 1}, {100, 3}, {64, 64}};
    for (int64_t i = 0; i < TEST_COUNT(sides); i++) {
        const slc_layout src = dense(2, sides[i]);
        const slc_layout turned = dense(2, (const int64_t[]){sides[i][1], sides[i][0]});
        const slc_layout dst = slc_layout_permute(&turned, (const int[]){1, 0});
        expect_device_copy(&self, &dst, &src, slc_layout_bytes(&src));
    }
    /* A corner turn in four dimensions, backwards in one. */
    const slc_layout src4 = dense(4, (const int64_t[]){5, 18, 7, 33});
    const slc_layout turned4 = dense(4, (const int64_t[]){33, 5, 7, 18});
    slc_layout dst4 = slc_layout_permute(&turned4, (const int[]){1, 3, 2, 0});
    dst4 = slc_layout_reverse(&dst4, 2);
    expect_device_copy(&self, &dst4, &src4, slc_layout_bytes(&src4));
    /* A part of a table, without its first column, to a dense block. */
    const slc_layout table = dense(2, (const int64_t[]){300, 129});
    const slc_box box = {.rank = 2, .origin = {0, 1}, .extent = {300, 128}};
    const slc_layout part = slc_layout_slice(&table, &box);
    const slc_layout block = dense(2, (const int64_t[]){300, 128});
    expect_device_copy(&self, &block, &part, slc_layout_bytes(&table));
    /* One row to all rows. */
    slc_layout row = block;
    row.stride_bytes[0] = 0;
    expect_device_copy(&self, &block, &row, slc_layout_bytes(&block));
    test_fixture_close(&self);
}

static void rows_with_a_pitch_cross_the_bus(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const slc_layout table = dense(2, (const int64_t[]){50, 40});
    const slc_box box = {.rank = 2, .origin = {10, 3}, .extent = {20, 30}};
    const slc_layout part = slc_layout_slice(&table, &box);
    const slc_layout block = dense(2, (const int64_t[]){20, 30});
    slc_pinned in;
    slc_pinned out;
    void *d_block = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_pinned_allocate(self.device, slc_layout_bytes(&table), &in));
    TEST_OK(slc_pinned_allocate(self.device, slc_layout_bytes(&table), &out));
    TEST_OK(slc_device_allocate(self.device, slc_layout_bytes(&block), &d_block));
    TEST_OK(slc_stream_create(self.device, &stream));
    int32_t *in_table = in.host;
    int32_t *out_table = out.host;
    for (int32_t i = 0; i < 50 * 40; i++) {
        in_table[i] = i;
        out_table[i] = -1;
    }
    TEST_OK(slc_stream_copy_strided(stream, d_block, &block, in.host, &part, SLC_COPY_TO_DEVICE));
    TEST_OK(
        slc_stream_copy_strided(stream, out.host, &part, d_block, &block, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    for (int32_t i = 0; i < 50 * 40; i++) {
        const bool is_inside = i / 40 >= 10 && i / 40 < 30 && i % 40 >= 3 && i % 40 < 33;
        assert_int_equal(out_table[i], is_inside ? i : -1);
    }
    slc_stream_destroy(stream);
    slc_device_release(self.device, d_block);
    slc_pinned_release(self.device, &in);
    slc_pinned_release(self.device, &out);
    test_fixture_close(&self);
}

static void pairs_that_do_not_match_are_refused(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    int32_t memory[24];
    const slc_layout a = dense(2, (const int64_t[]){4, 6});
    const slc_layout b = dense(2, (const int64_t[]){6, 4});
    const slc_layout c = dense(1, (const int64_t[]){24});
    slc_layout other = a;
    other.dtype = SLC_F32;
    slc_layout folded = a;
    folded.stride_bytes[0] = 0;
    const slc_copy_direction direction = SLC_COPY_ON_DEVICE;
    TEST_FAILS(slc_stream_copy_strided(stream, memory, &a, memory, &b, direction),
               SLC_ERROR_ARGUMENT, "dimension 0");
    TEST_FAILS(slc_stream_copy_strided(stream, memory, &a, memory, &c, direction),
               SLC_ERROR_ARGUMENT, "rank");
    TEST_FAILS(slc_stream_copy_strided(stream, memory, &a, memory, &other, direction),
               SLC_ERROR_ARGUMENT, "f4");
    TEST_FAILS(slc_stream_copy_strided(stream, memory, &folded, memory, &a, direction),
               SLC_ERROR_ARGUMENT, "broadcast");
    const slc_layout empty = dense(2, (const int64_t[]){0, 6});
    TEST_OK(slc_stream_copy_strided(stream, NULL, &empty, NULL, &empty, direction));
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

/* ---- strangers, graphs and peers --------------------------------------------------------------- */

static void strangers_are_refused(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_device *stranger = NULL;
    slc_event *event = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_device_create_host(self.pool, NULL, &stranger));
    TEST_OK(slc_event_create(stranger, &event));
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_FAILS(slc_event_record(event, stream), SLC_ERROR_ARGUMENT, "own device");
    const bool is_host = self.device->kind == SLC_DEVICE_HOST && !self.is_checked;
    if (is_host) {
        TEST_OK(slc_event_wait(stream, event));
    } else {
        TEST_FAILS(slc_event_wait(stream, event), SLC_ERROR_ARGUMENT, "kind of device");
    }
    assert_true(slci_check_inner_stream(stream)->device == slci_check_inner_device(self.device));
    assert_true((slci_check_inner_stream(stream) != stream) == self.is_checked);
    slc_stream_destroy(stream);
    slc_event_destroy(event);
    slc_device_destroy(stranger);
    test_fixture_close(&self);
}

/* The body of a loop that needs no kernel: a list moves up by one each time, and its first element is
 * whether the loop is done. */
enum { N_LIST = 16 };

static void record_list_body(slc_stream *stream, slc_loop_state *d_state, int64_t *d_list,
                             void **body) {
    int64_t *const d_moved = d_list + N_LIST;
    const int64_t bytes = (N_LIST - 1) * (int64_t)sizeof *d_list;
    TEST_OK(slc_stream_capture_begin(stream));
    TEST_OK(slc_stream_copy(stream, &d_state->is_done, d_list, 8, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_copy(stream, d_moved, d_list + 1, bytes, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_copy(stream, d_list, d_moved, bytes, SLC_COPY_ON_DEVICE));
    TEST_OK(slc_stream_capture_end(stream, body));
}

static void a_loop_runs_until_its_body_says_so(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const int64_t list[N_LIST] = {[3] = 1, [6] = 7}; /* done in the 4th iteration, and 3 later */
    const int64_t expected[3][4] = {{1, 4, 4, 0}, {7, 3, 7, 0}, {0, 5, 12, 1}};
    const int64_t bytes = (int64_t)sizeof list;
    slc_pinned host;
    void *d_list = NULL;
    void *d_state = NULL;
    void *body = NULL;
    void *loop = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_pinned_allocate(self.device, bytes, &host));
    TEST_OK(slc_device_allocate(self.device, 2 * bytes, &d_list));
    TEST_OK(slc_device_allocate(self.device, (int64_t)sizeof(slc_loop_state), &d_state));
    TEST_OK(slc_stream_create(self.device, &stream));
    record_list_body(stream, d_state, d_list, &body);
    const slc_status status = slc_stream_loop(stream, body, d_state, 5, &loop);
    if (status == SLC_OK) {
        TEST_FAILS(slc_stream_loop(stream, body, d_state, 0, &loop), SLC_ERROR_ARGUMENT, "1");
        memcpy(host.host, list, sizeof list);
        TEST_OK(slc_stream_copy(stream, d_list, host.host, bytes, SLC_COPY_TO_DEVICE));
        TEST_OK(slc_stream_set(stream, d_state, 0, (int64_t)sizeof(slc_loop_state)));
        for (int launch = 0; launch < 3; launch++) {
            TEST_OK(slc_stream_launch(stream, loop));
            TEST_OK(slc_stream_copy(stream, host.host, d_state, (int64_t)sizeof(slc_loop_state),
                                    SLC_COPY_FROM_DEVICE));
            TEST_OK(slc_stream_synchronize(stream));
            assert_memory_equal(host.host, expected[launch], sizeof expected[launch]);
        }
    } else {
        print_message("no loops here: %s\n", slc_status_message());
        assert_int_equal(status, SLC_ERROR_UNSUPPORTED); /* CUDA before 12.4 */
    }
    slc_graph_destroy(self.device, loop);
    slc_graph_destroy(self.device, body);
    slc_stream_destroy(stream);
    slc_pinned_release(self.device, &host);
    slc_device_release(self.device, d_list);
    slc_device_release(self.device, d_state);
    test_fixture_close(&self);
}

static void a_device_without_graphs_says_so(void **state) {
    (void)state;
    static const slc_device_ops no_ops = {.destroy = NULL};
    slc_device device = {.ops = &no_ops};
    slc_stream stream = {.device = &device};
    void *graph = NULL;
    TEST_FAILS(slc_stream_capture_begin(&stream), SLC_ERROR_ARGUMENT, "no graphs");
    TEST_FAILS(slc_stream_capture_end(&stream, &graph), SLC_ERROR_ARGUMENT, "no graphs");
    TEST_FAILS(slc_stream_launch(&stream, graph), SLC_ERROR_ARGUMENT, "no graphs");
}

static void a_graph_does_again_what_was_recorded(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    enum { N_BYTES = 4096 };
    static const unsigned char zeros[N_BYTES] = {0};
    slc_pinned in;
    slc_pinned out;
    void *d_memory = NULL;
    void *graph = NULL;
    slc_stream *stream = NULL;
    assert_true(slc_device_has_graphs(self.device));
    TEST_OK(slc_pinned_allocate(self.device, N_BYTES, &in));
    TEST_OK(slc_pinned_allocate(self.device, N_BYTES, &out));
    TEST_OK(slc_device_allocate(self.device, N_BYTES, &d_memory));
    TEST_OK(slc_stream_create(self.device, &stream));
    memset(out.host, 0, N_BYTES);
    TEST_OK(slc_stream_capture_begin(stream));
    TEST_OK(slc_stream_copy(stream, d_memory, in.host, N_BYTES, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_copy(stream, out.host, d_memory, N_BYTES, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_capture_end(stream, &graph));
    TEST_OK(slc_stream_synchronize(stream));
    assert_memory_equal(out.host, zeros, N_BYTES);
    for (uint64_t round = 1; round <= 3; round++) {
        test_fill(in.host, N_BYTES, round);
        assert_true(memcmp(in.host, out.host, N_BYTES) != 0);
        TEST_OK(slc_stream_launch(stream, graph));
        TEST_OK(slc_stream_synchronize(stream));
        assert_true(memcmp(in.host, out.host, N_BYTES) == 0);
    }
    slc_graph_destroy(self.device, graph);
    slc_stream_destroy(stream);
    slc_pinned_release(self.device, &in);
    slc_pinned_release(self.device, &out);
    slc_device_release(self.device, d_memory);
    test_fixture_close(&self);
}

static void peers_copy_to_each_other(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    if (self.device->ops->peer_copy == NULL) {
        test_fixture_close(&self);
        TEST_SKIP("this device has no peer copy");
    }
    slc_stream *stream = NULL;
    slc_pinned buffer;
    void *d_a = NULL;
    void *d_b = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_pinned_allocate(self.device, 4096, &buffer));
    TEST_OK(slc_device_allocate(self.device, 4096, &d_a));
    TEST_OK(slc_device_allocate(self.device, 4096, &d_b));
    TEST_OK(slc_stream_set(stream, d_a, 3, 4096));
    TEST_OK(self.device->ops->peer_copy(stream, d_b, self.device, d_a, 4096));
    TEST_OK(slc_stream_copy(stream, buffer.host, d_b, 4096, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    assert_int_equal(((unsigned char *)buffer.host)[4095], 3);
    slc_stream_destroy(stream);
    slc_device_release(self.device, d_a);
    slc_device_release(self.device, d_b);
    slc_pinned_release(self.device, &buffer);
    test_fixture_close(&self);
}

/* ---- opening ---------------------------------------------------------------------------------- */

static void keep_line(void *context, slc_log_level level, const char *text) {
    (void)level;
    (void)snprintf(context, SLC_MESSAGE_BYTES, "%s", text);
}

static void auto_says_what_it_chose(void **state) {
    (void)state;
    char line[SLC_MESSAGE_BYTES] = "";
    slc_log log;
    slc_log_init(&log, SLC_LOG_DETAIL, keep_line, line);
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(1, &pool));
    TEST_FAILS(slc_device_create(&(slc_device_options){0}, &device), SLC_ERROR_ARGUMENT, "pool");
    TEST_OK(slc_device_create(&(slc_device_options){.pool = pool, .log = &log}, &device));
    print_message("%s\n", line);
    assert_non_null(
        strstr(line, device->kind == SLC_DEVICE_CUDA ? "using card" : "running on the CPU"));
    slc_device_destroy(device);
    device = NULL;
    TEST_FAILS(slc_device_create(&(slc_device_options){.choice = SLC_CHOOSE_CUDA,
                                                       .cuda_index = 1000,
                                                       .pool = pool},
                                 &device),
               SLC_ERROR_DEVICE, "");
    assert_true(slc_status_message()[0] != '\0');
    assert_null(device);
    slc_device_destroy(NULL);
    slc_pool_destroy(pool);
    slc_log_destroy(&log);
}

static const test_case cases[] = {
    TEST_CASE(limits_make_sense),
    TEST_CASE(bytes_survive_the_way),
    TEST_CASE(nothing_and_less_than_nothing),
    TEST_CASE(mapped_memory_has_two_addresses),
    TEST_CASE(any_two_layouts_are_copied_on_the_device),
    TEST_CASE(rows_with_a_pitch_cross_the_bus),
    TEST_CASE(pairs_that_do_not_match_are_refused),
    TEST_CASE(strangers_are_refused),
    TEST_CASE(a_device_without_graphs_says_so),
    TEST_CASE(a_graph_does_again_what_was_recorded),
    TEST_CASE(a_loop_runs_until_its_body_says_so),
    TEST_CASE(peers_copy_to_each_other),
};

int main(void) {
    const struct CMUnitTest opening[] = {cmocka_unit_test(auto_says_what_it_chose)};
    const int failed = cmocka_run_group_tests(opening, NULL, NULL);
    return failed + test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
