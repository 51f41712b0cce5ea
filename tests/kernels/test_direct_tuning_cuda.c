/* The CUDA kernels give the same bits however their work is divided: the product kernel by either
 * matrix instruction and with each number of products, the sine kernel, and pictures that take
 * both. Without a card every case is skipped. */
#include "tests/support/test_support.h"

#include "kernels/direct.h"
#include "tests/support/test_direct_scene.h"

static const test_wish wishes[] = {
    {1e-6, true, SLC_DIRECT_UNIT_NONE},
    {1e-6, true, SLC_DIRECT_UNIT_GROUP},
    {1e-3, true, SLC_DIRECT_UNIT_GROUP},
    {1e-6, true, SLC_DIRECT_UNIT_WARP},
};

/* Narrow; w c in the correction term; products in the middle and sines towards the horizon. */
static const test_scene scenes[] = {
    {"narrow", 300, 200, 1e-6, 0, 0, true, 9000, 3, 1e5, 1e3, 0, 0.9, 1, false, SLC_DIRECT_PRODUCT,
     0},
    {"a term", 300, 140, 1e-4, 0.02, -0.03, true, 5000, 5, 5e3, 2e3, 0, 0.9, 2, false,
     SLC_DIRECT_PRODUCT, 0},
    {"to the horizon", 600, 600, 4e-3, 0, 0, true, 3000, 8, 100, 20, 0, 0.8, 1, false,
     SLC_DIRECT_PRODUCT, 6.0},
};

static void every_division_gives_the_same_bits(void **state) {
    slc_device *device = test_card_need(state);
    slc_device_limits limits;
    uint64_t seed = 31;
    TEST_OK(slc_device_get_limits(device, &limits));
    const bool has_unit = slc_direct_unit_get(limits.compute_capability) == SLC_DIRECT_UNIT_GROUP;
    for (int64_t s = 0; s < TEST_COUNT(scenes); s++) {
        test_scene_data data;
        test_scene_fill(&scenes[s], &data);
        for (int64_t w = 0; w < TEST_COUNT(wishes); w++) {
            if (has_unit || wishes[w].unit == SLC_DIRECT_UNIT_NONE) {
                const slc_direct_setup setup = test_scene_setup(&scenes[s], &data, &wishes[w]);
                test_scene_check_splits(&scenes[s], &data, &setup, device, &seed);
            }
        }
        test_scene_free(&data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_division_gives_the_same_bits)};
    return cmocka_run_group_tests(tests, test_card_open, test_card_close);
}
