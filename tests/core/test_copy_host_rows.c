/* The ways by rows, past the caches or not, whatever the size; and where they write. */
#include "tests/support/test_layouts.h"

#include "core/copy_host.h"

enum { UNTOUCHED = 0x5a, MOST_BYTES = 1 << 18 };

/* Runs `function` on a matrix of [n_rows][n] with these pitches and steps in units, between buffers
 * that begin `shift` bytes after a line. */
static void check_matrix(slc_dtype dtype, const int64_t *shape, const int64_t *dst_stride,
                         const int64_t *src_stride, int64_t shift) {
    static _Alignas(64) unsigned char src[MOST_BYTES], dst[MOST_BYTES];
    const int unit = (int)slc_dtype_bytes(dtype);
    test_pair pair = {.dst_bytes = MOST_BYTES, .src_bytes = MOST_BYTES};
    pair.dst = (slc_layout){.dtype = dtype, .rank = 2, .offset_bytes = MOST_BYTES / 2 + shift};
    pair.src = pair.dst;
    slci_copy_plan plan = {.way = SLCI_COPY_GENERAL, .rank = 2, .unit_bytes = unit};
    for (int d = 0; d < 2; d++) {
        pair.dst.shape[d] = pair.src.shape[d] = plan.shape[d] = shape[d];
        pair.dst.stride_bytes[d] = plan.dst_stride[d] = dst_stride[d] * unit;
        pair.src.stride_bytes[d] = plan.src_stride[d] = src_stride[d] * unit;
    }
    test_fill(src, MOST_BYTES, 2);
    for (int is_large = 0; is_large < 2; is_large++) {
        memset(dst, UNTOUCHED, MOST_BYTES);
        slci_copy_host_rows(&plan, (char *)dst + pair.dst.offset_bytes,
                            (const char *)src + pair.src.offset_bytes, is_large == 1);
        slci_stream_end();
        test_expect_copied(&pair, dst, src, UNTOUCHED);
    }
}

/* Rows of every length up to some lines, so that every way to finish a row comes up. */
static void rows_of_every_length(void **state) {
    (void)state;
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        for (int64_t n = 1; n < 70; n++) {
            const int64_t shape[] = {5, n};
            const int64_t packed[] = {n, 1};
            const int64_t apart[] = {n + 3, 1};
            const int64_t backwards[] = {-n - 1, -1};
            const int64_t wide[] = {3 * n + 1, 3};
            const int64_t still[] = {1, 0};
            check_matrix(test_every_size[t], shape, packed, apart, n % 5);
            check_matrix(test_every_size[t], shape, apart, packed, n % 7);
            check_matrix(test_every_size[t], shape, packed, backwards, n % 3);
            check_matrix(test_every_size[t], shape, apart, backwards, 0);
            check_matrix(test_every_size[t], shape, packed, wide, 1);
            check_matrix(test_every_size[t], shape, wide, packed, 2);
            check_matrix(test_every_size[t], shape, packed, still, 0);
        }
    }
}

/* Longer than the buffer in which stretches are made. */
static void rows_longer_than_the_stage(void **state) {
    (void)state;
    const int64_t shape[] = {3, 2501};
    const int64_t packed[] = {2501, 1};
    const int64_t apart[] = {2510, 1};
    const int64_t backwards[] = {2501, -1};
    const int64_t twos[] = {5002, 2};
    check_matrix(SLC_F32, shape, packed, apart, 4);
    check_matrix(SLC_F32, shape, packed, backwards, 12);
    check_matrix(SLC_F32, shape, apart, backwards, 1);
    check_matrix(SLC_F32, shape, apart, twos, 0);
}

/* More short rows than the stage holds. */
static void many_short_rows(void **state) {
    (void)state;
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        const int64_t shape[] = {1200, 4};
        const int64_t packed[] = {4, 1};
        const int64_t apart[] = {5, 1};
        const int64_t backwards[] = {4, -1};
        check_matrix(test_every_size[t], shape, packed, apart, 8);
        check_matrix(test_every_size[t], shape, packed, backwards, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(rows_longer_than_the_stage),
        cmocka_unit_test(many_short_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
