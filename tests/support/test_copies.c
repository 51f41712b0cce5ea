/* The copies are made on the device between buffers filled from the host, and compared element by
 * element. */
#include "tests/support/test_copies.h"

#include "tests/support/test_layouts.h"

#include "core/copy_unsorted.h"

enum { UNTOUCHED = 0xa5 };

typedef slc_status (*copy_function)(slc_stream *stream, void *d_dst, const slc_layout *dst,
                                    const void *d_src, const slc_layout *src);

static slc_status sorted(slc_stream *stream, void *d_dst, const slc_layout *dst, const void *d_src,
                         const slc_layout *src) {
    return slc_stream_copy_strided(stream, d_dst, dst, d_src, src, SLC_COPY_ON_DEVICE);
}

/* The buffers begin `shift` elements after what the device aligned. */
static void check_copy(const test_fixture *self, const test_pair *pair, copy_function copy,
                       int64_t shift) {
    slc_pinned in;
    slc_pinned out;
    void *d_in = NULL;
    void *d_out = NULL;
    slc_stream *stream = NULL;
    const int64_t skipped = shift * slc_dtype_bytes(pair->src.dtype);
    TEST_OK(slc_pinned_allocate(self->device, pair->src_bytes, &in));
    TEST_OK(slc_pinned_allocate(self->device, pair->dst_bytes, &out));
    TEST_OK(slc_device_allocate(self->device, skipped + pair->src_bytes, &d_in));
    TEST_OK(slc_device_allocate(self->device, skipped + pair->dst_bytes, &d_out));
    TEST_OK(slc_stream_create(self->device, &stream));
    char *const d_src = (char *)d_in + skipped;
    char *const d_dst = (char *)d_out + skipped;
    test_fill(in.host, pair->src_bytes, 3);
    TEST_OK(slc_stream_copy(stream, d_src, in.host, pair->src_bytes, SLC_COPY_TO_DEVICE));
    TEST_OK(slc_stream_set(stream, d_dst, UNTOUCHED, pair->dst_bytes));
    TEST_OK(copy(stream, d_dst, &pair->dst, d_src, &pair->src));
    TEST_OK(slc_stream_copy(stream, out.host, d_dst, pair->dst_bytes, SLC_COPY_FROM_DEVICE));
    TEST_OK(slc_stream_synchronize(stream));
    test_expect_copied(pair, out.host, in.host, UNTOUCHED);
    slc_stream_destroy(stream);
    slc_device_release(self->device, d_in);
    slc_device_release(self->device, d_out);
    slc_pinned_release(self->device, &in);
    slc_pinned_release(self->device, &out);
}

static void random_pairs(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    uint64_t random = 11;
    for (int round = 0; round < 150; round++) {
        const test_pair pair =
            test_random_pair(&random, round % 4 == 0 ? TEST_PAIR_BROADCAST : TEST_PAIR_VIEWS);
        check_copy(&self, &pair, sorted, test_random_below(&random, 3));
    }
    test_fixture_close(&self);
}

/* From a view of a dense array to a dense array, and back into the view. */
static void check_view(const test_fixture *self, const slc_layout *whole, const slc_layout *view,
                       copy_function copy) {
    test_pair pair = {.src = *view, .src_bytes = slc_layout_bytes(whole)};
    pair.dst = test_dense(view->dtype, view->rank, view->shape);
    pair.dst_bytes = slc_layout_bytes(&pair.dst);
    check_copy(self, &pair, copy, 0);
    const test_pair back = {.dst = pair.src,
                            .src = pair.dst,
                            .dst_bytes = pair.src_bytes,
                            .src_bytes = pair.dst_bytes};
    check_copy(self, &back, copy, 0);
}

/* The rows of sluice bench copy, small: all but the first element of each row, rows backwards. */
static void check_rows(const test_fixture *self, copy_function copy) {
    const int64_t shapes[][3] = {{1, 3, 8193}, {1, 65, 65}, {1, 333, 5}, {5, 7, 129}, {9, 8, 33}};
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        for (int64_t s = 0; s < TEST_COUNT(shapes); s++) {
            const slc_layout whole = test_dense(test_every_size[t], 3, shapes[s]);
            slc_box box = {.rank = 3, .origin = {0, 0, 1}};
            memcpy(box.extent, shapes[s], sizeof shapes[s]);
            box.extent[2]--;
            const slc_layout part = slc_layout_slice(&whole, &box);
            check_view(self, &whole, &part, copy);
            const slc_layout backwards = slc_layout_reverse(&part, 2);
            check_view(self, &whole, &backwards, copy);
            const slc_layout upwards = slc_layout_reverse(&whole, 1);
            check_view(self, &whole, &upwards, copy);
            const slc_layout both = slc_layout_reverse(&upwards, 2);
            check_view(self, &whole, &both, copy);
        }
    }
}

static void rows_cut_and_reversed(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    check_rows(&self, sorted);
    test_fixture_close(&self);
}

/* Whole squares, parts of them, narrow ones; straight and reversed in either dimension. */
static void check_transposes(const test_fixture *self, copy_function copy) {
    const int64_t shapes[][3] = {{1, 256, 128}, {3, 63, 65}, {2, 130, 259},
                                 {70, 17, 33},  {2, 400, 3}, {2, 3, 400}};
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        for (int64_t s = 0; s < TEST_COUNT(shapes); s++) {
            const slc_layout whole = test_dense(test_every_size[t], 3, shapes[s]);
            const slc_layout turned = slc_layout_permute(&whole, (const int[]){0, 2, 1});
            check_view(self, &whole, &turned, copy);
            const slc_layout rotated = slc_layout_reverse(&turned, 1);
            check_view(self, &whole, &rotated, copy);
            const slc_layout rotated_back = slc_layout_reverse(&turned, 2);
            check_view(self, &whole, &rotated_back, copy);
        }
    }
}

static void transposes_straight_and_reversed(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    check_transposes(&self, sorted);
    test_fixture_close(&self);
}

/* What the benchmark holds against them does the same. */
static void unsorted_copies(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    check_rows(&self, slci_stream_copy_unsorted);
    check_transposes(&self, slci_stream_copy_unsorted);
    test_fixture_close(&self);
}

static const test_case cases[] = {
    TEST_CASE(random_pairs),
    TEST_CASE(rows_cut_and_reversed),
    TEST_CASE(transposes_straight_and_reversed),
    TEST_CASE(unsorted_copies),
};

int test_run_copies(test_where where) {
    return test_run_everywhere(cases, TEST_COUNT(cases), where);
}
