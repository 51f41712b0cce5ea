/* Transposes in tiles, past the caches or not, of every extent around a vector and a tile. */
#include "tests/support/test_layouts.h"

#include "core/copy_host.h"

enum { UNTOUCHED = 0x5a };

/* The source [n_y][n_x], rows `gap` units apart, columns `step`; the destination its transpose. */
typedef struct turn_case {
    int64_t n_y, n_x, gap, step, dst_gap, dst_step;
} turn_case;

static void check_turned(slc_dtype dtype, const turn_case *c, int64_t shift) {
    const int64_t unit = slc_dtype_bytes(dtype);
    const slci_copy_plan plan = {.way = SLCI_COPY_TRANSPOSE,
                                 .rank = 2,
                                 .unit_bytes = (int)unit,
                                 .shape = {c->n_y, c->n_x},
                                 .dst_stride = {c->dst_step * unit,
                                                (c->n_y * c->dst_step + c->dst_gap) * unit},
                                 .src_stride = {(c->n_x * c->step + c->gap) * unit,
                                                c->step * unit}};
    test_pair pair = {.dst = {.dtype = dtype, .rank = 2, .offset_bytes = shift},
                      .src = {.dtype = dtype, .rank = 2, .offset_bytes = shift}};
    for (int d = 0; d < 2; d++) {
        pair.dst.shape[d] = pair.src.shape[d] = plan.shape[d];
        pair.dst.stride_bytes[d] = plan.dst_stride[d];
        pair.src.stride_bytes[d] = plan.src_stride[d];
    }
    pair.dst_bytes = shift + c->n_x * plan.dst_stride[1];
    pair.src_bytes = shift + c->n_y * plan.src_stride[0];
    unsigned char *src = test_allocate(pair.src_bytes);
    unsigned char *dst = test_allocate(pair.dst_bytes);
    test_fill(src, pair.src_bytes, 4);
    for (int is_large = 0; is_large < 2; is_large++) {
        memset(dst, UNTOUCHED, (size_t)pair.dst_bytes);
        slci_copy_host_turned(&plan, (char *)dst + shift, (const char *)src + shift, is_large == 1);
        slci_stream_end();
        test_expect_copied(&pair, dst, src, UNTOUCHED);
    }
    free(src);
    free(dst);
}

static void tiles_of_every_extent(void **state) {
    (void)state;
    const int64_t extents[] = {1, 3, 15, 16, 17, 32, 63, 64, 65, 130, 257};
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        for (int64_t y = 0; y < TEST_COUNT(extents); y++) {
            for (int64_t x = 0; x < TEST_COUNT(extents); x++) {
                const turn_case c = {.n_y = extents[y],
                                     .n_x = extents[x],
                                     .gap = x % 3,
                                     .step = 1,
                                     .dst_gap = y % 3,
                                     .dst_step = 1};
                check_turned(test_every_size[t], &c, (x + y) % 4);
            }
        }
    }
}

/* One side, or both, only close together and not dense. */
static void sides_with_gaps(void **state) {
    (void)state;
    for (int64_t t = 0; t < TEST_N_SIZES; t++) {
        for (int64_t step = 1; step < 4; step++) {
            const turn_case c = {.n_y = 70, .n_x = 67, .step = step, .dst_step = 1 + step % 3};
            check_turned(test_every_size[t], &c, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_every_extent),
        cmocka_unit_test(sides_with_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
