/* The same bits for every tiling of rows and pixels and every number of threads, on every device:
 * what makes a picture independent of the budget. One field is narrow and served by the product, one
 * reaches the horizon and needs the sine kernel too. */
#include "tests/support/test_support.h"

#include <math.h>

#include "kernels/direct.h"
#include "tests/support/test_direct.h"

#define N_ROWS 450
#define N_CHANNELS 20
#define SIZE_X 150
#define SIZE_Y 70

typedef struct field {
    double scale_rad, reach_w;
    int64_t tile_pixels; /* forced: small, so that there are several */
    int n_parts;
} field;

static const field fields[] = {{1e-4, 200, 32, 1},
                               {1e-4, 200, 64, 2},
                               {0.016, 40, 32, 1},
                               {0.016, 3000, 32, 2}};

static double uvw[3 * N_ROWS];
static float vis[2 * N_ROWS * N_CHANNELS];
static float weight[N_ROWS * N_CHANNELS];
static double channels[N_CHANNELS];

static void fill(const field *f) {
    uint64_t seed = 5;
    test_fill_f64(uvw, 3 * N_ROWS, 1);
    test_fill_f32(vis, 2 * N_ROWS * N_CHANNELS, 2);
    for (int64_t row = 0; row < N_ROWS; row++) {
        uvw[3 * row] *= 2000;
        uvw[3 * row + 1] *= 2000;
        uvw[3 * row + 2] *= f->reach_w;
    }
    for (int64_t k = 0; k < N_ROWS * N_CHANNELS; k++) {
        weight[k] = (float)test_random_below(&seed, 3);
    }
    for (int64_t k = 0; k < N_CHANNELS; k++) {
        channels[k] = 1.0 - 0.01 * (double)k;
    }
}

static void choose(const field *f, slc_device_kind device, slc_direct_setup *setup) {
    const slc_direct_request request = {
        .device = device,
        .geometry = {.nx = SIZE_X, .ny = SIZE_Y, .scale_rad = f->scale_rad, .is_w_projected = true},
        .survey = {2000, 2000, f->reach_w, N_ROWS * N_CHANNELS, 4096},
        .n_channels = N_CHANNELS,
        .epsilon = 1e-6,
        .n_parts = f->n_parts,
        .card.has_fast_double = true};
    TEST_OK(slc_direct_choose(&request, setup));
    if (device == SLC_DEVICE_HOST) {
        setup->tile_pixels = f->tile_pixels;
        setup->max_terms = 12;
    }
}

static void compare(const field *f, int n_threads, const slc_fixed *const *expected) {
    static const test_direct_tiling tilings[] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {2, 1, 0, 0}, {3, 0, 2, 0}, {1, 1, 1, 0}};
    const int64_t bytes = (int64_t)sizeof(slc_fixed) * SIZE_X * SIZE_Y * f->n_parts;
    slc_fixed *image = test_allocate(bytes);
    test_devices devices;
    test_devices_open(n_threads, &devices);
    for (int d = 0; d < devices.n; d++) {
        slc_direct_setup setup;
        choose(f, devices.device[d]->kind, &setup);
        const test_direct_data data = {N_ROWS, N_CHANNELS, uvw, vis, weight, channels};
        for (int64_t t = 0; t < TEST_COUNT(tilings); t++) {
            test_direct_tiling tiling = tilings[t];
            TEST_OK(test_direct_run(devices.device[d], &setup, &data, &tiling, image));
            assert_memory_equal(image, expected[d], (size_t)bytes);
        }
    }
    test_devices_close(&devices);
    free(image);
}

static void any_tiling_gives_the_same_bits(void **state) {
    (void)state;
    for (int64_t i = 0; i < TEST_COUNT(fields); i++) {
        const field *f = &fields[i];
        fill(f);
        slc_fixed *expected[TEST_MAX_DEVICES] = {NULL};
        test_devices devices;
        test_devices_open(2, &devices);
        for (int d = 0; d < devices.n; d++) {
            slc_direct_setup setup;
            choose(f, devices.device[d]->kind, &setup);
            const test_direct_data data = {N_ROWS, N_CHANNELS, uvw, vis, weight, channels};
            expected[d] = test_allocate((int64_t)sizeof(slc_fixed) * SIZE_X * SIZE_Y * f->n_parts);
            test_direct_tiling whole = {0};
            TEST_OK(test_direct_run(devices.device[d], &setup, &data, &whole, expected[d]));
        }
        test_devices_close(&devices);
        const slc_fixed *const lent[TEST_MAX_DEVICES] = {expected[0], expected[1]};
        for (int n_threads = 1; n_threads <= 3; n_threads++) {
            compare(f, n_threads, lent);
        }
        free(expected[0]);
        free(expected[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_tiling_gives_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
