/* The CUDA cosine kernel against the double-precision oracle: the promise |ΔI| <= 1e-6 Σw|V| at every
 * pixel, for one visibility and for many, over every phase, in narrow fields and to the horizon, for
 * every size of w c and both ways in which a large one is formed, whatever this card prefers; and the
 * same bits however the work is tiled. Without a card every case is skipped. */
#include "tests/support/test_support.h"

#include <math.h>

#include "core/fixed.h"
#include "kernels/direct.h"
#include "tests/support/test_direct_scene.h"

/* What one pair may be off by before it is summed: the account in kernels/direct_cuda.cu less the
 * sum. */
#define PAIR_ERROR 4.3e-7

/* On every card: both ways of a large w c, and the promises that are made. */
static const test_wish wishes[] = {{1e-6, false, SLC_DIRECT_UNIT_NONE},
                                   {1e-5, false, SLC_DIRECT_UNIT_NONE},
                                   {1e-3, false, SLC_DIRECT_UNIT_NONE},
                                   {1e-6, true, SLC_DIRECT_UNIT_NONE},
                                   {1e-5, true, SLC_DIRECT_UNIT_NONE},
                                   {1e-3, true, SLC_DIRECT_UNIT_NONE}};
static const test_wish *const slow_double = &wishes[0];
static const test_wish *const fast_double = &wishes[3];

/* Scenes that tests name. */
enum { W_IN_SINGLE = 1, TO_THE_HORIZON = 4, COMPLEX_WIDE = 8 };

static const test_scene scenes[] = {
    {"narrow field, no w c", 150, 130, 1e-6, 0, 0, true, 2000, 1, 1e5, 1e3, 0, 0.9, 1, false,
     SLC_DIRECT_SINE, 0},
    {"narrow field, w c in single", 130, 70, 1e-4, 0.02, -0.03, true, 2000, 3, 5e3, 5e3, 0, 0.7, 1,
     false, SLC_DIRECT_SINE, 0},
    {"w c in two words, l to 0.35", 130, 130, 5e-3, 0, 0, true, 1000, 1, 1e4, 1e4, 0, 1.0, 1, false,
     SLC_DIRECT_SINE_WIDE, 0},
    {"a million turns a source", 70, 70, 5e-3, 0.1, 0, true, 1500, 1, 4e6, 1e4, 0, 1.0, 1, false,
     SLC_DIRECT_SINE_WIDE, 0},
    {"to the horizon, w to 200,000", 128, 128, 0.017, 0, 0, true, 600, 2, 1e4, 2e5, 0, 1.0, 1,
     false, SLC_DIRECT_SINE_WIDE, 0},
    {"no w-projection, to the horizon", 128, 128, 0.017, 0, 0, false, 600, 2, 1e3, 1e3, 0, 1.0, 1,
     false, SLC_DIRECT_SINE_WIDE, 0},
    {"w of 10^8, far from the centre", 64, 64, 1e-6, 0.2, 0.1, true, 1000, 1, 1e8, 1e8, 0, 1.0, 1,
     false, SLC_DIRECT_SINE, 0},
    {"complex", 100, 100, 1e-4, 0, 0, true, 1000, 2, 5e3, 5e3, 0, 0.8, 2, false, SLC_DIRECT_SINE,
     0},
    {"complex, wide", 100, 100, 0.02, 0, 0, true, 500, 2, 1e3, 1e4, 0, 0.8, 2, false,
     SLC_DIRECT_SINE_WIDE, 0},
    {"point spread function", 100, 100, 1e-4, 0, 0, false, 1000, 2, 5e3, 5e3, 0, 0.8, 1, true,
     SLC_DIRECT_SINE, 0},
    {"one row of 9000 channels", 64, 10, 1e-4, 0, 0, true, 1, 9000, 5e3, 10, 0, 0.9, 1, false,
     SLC_DIRECT_SINE, 0},
    {"one pixel", 1, 1, 1e-4, 0, 0, true, 5000, 1, 5e3, 10, 0, 0.9, 1, false, SLC_DIRECT_SINE, 0},
    {"one sample in fifty", 64, 64, 1e-4, 0, 0, true, 9000, 1, 5e3, 100, 0, 0.02, 1, false,
     SLC_DIRECT_SINE, 0},
    {"lone source at the centre", 40, 40, 1e-6, 0, 0, true, 9000, 1, 1e5, 1e3, 0.3, 1.0, 1, false,
     SLC_DIRECT_SINE, 0},
    {"lone source, w c in single", 40, 40, 1e-4, 0, 0, true, 9000, 1, 5e3, 2e4, 0.3, 1.0, 1, false,
     SLC_DIRECT_SINE, 0},
    {"lone source, w c in two words", 40, 40, 0.01, 0, 0, true, 9000, 1, 1e3, 1e5, 0.3, 1.0, 1,
     false, SLC_DIRECT_SINE_WIDE, 0},
};

static void keeps_the_promise(void **state) {
    slc_device *device = test_card_need(state);
    for (int64_t i = 0; i < TEST_COUNT(scenes); i++) {
        const bool is_wide = scenes[i].method == SLC_DIRECT_SINE_WIDE;
        (void)test_scene_check(&scenes[i], wishes, is_wide ? TEST_COUNT(wishes) : 1, device);
    }
}

/* One kernel tile, between l, m = 0.1 and 0.6, in which |w c| may reach `turns`. */
static test_scene one_tile(const char *name, double turns, slc_direct_method method) {
    test_scene s = {name, 64,  64, 8e-3, 0.35, 0.35,  true,   300, 2,
                    1e3,  1.0, 0,  0.9,  1,    false, method, 0};
    const test_scene_data unit = {.size = 1.0, .max_w = 1.0};
    const slc_direct_setup setup = test_scene_setup(&s, &unit, slow_double);
    s.reach_w = turns / slc_direct_tile_get(&setup, 0, 0).c_max / 1.01; /* of the second channel */
    return s;
}

/* Real, complex and, without w-projection, a point spread function. */
static void check_forms(test_scene s, const test_wish *asked, slc_device *device) {
    for (int form = 0; form < 3; form++) {
        s.n_parts = form == 1 ? 2 : 1;
        s.is_psf = form == 2;
        s.is_w_projected = form != 2;
        (void)test_scene_check(&s, asked, 1, device);
    }
}

static void keeps_the_promise_for_every_size_of_w_c(void **state) {
    slc_device *device = test_card_need(state);
    static const double turns[] = {0x1.1p-5, 0.5, 10.0, 1e3, 489178.0};
    for (int64_t i = 0; i < TEST_COUNT(turns); i++) {
        const test_scene s = one_tile("large w c", turns[i], SLC_DIRECT_SINE_WIDE);
        check_forms(s, fast_double, device);
        check_forms(s, slow_double, device);
    }
    check_forms(one_tile("2^19 to 2^21 turns", 2e6, SLC_DIRECT_SINE_WIDE), slow_double, device);
    check_forms(one_tile("w c in single", 0x1.fp-6, SLC_DIRECT_SINE), slow_double, device);
    check_forms(one_tile("no w c", 0x1p-28, SLC_DIRECT_SINE), slow_double, device);
}

/* Every kernel once, on as little as uses every entry of its rings of buffers twice over. */
static void every_variant_once(void **state) {
    slc_device *device = test_card_need(state);
    test_scene flat = one_tile("one tile, no w c", 0x1p-28, SLC_DIRECT_SINE);
    test_scene single = one_tile("one tile, w c in single", 0x1p-6, SLC_DIRECT_SINE);
    test_scene wide = one_tile("one tile, large w c", 100.0, SLC_DIRECT_SINE_WIDE);
    for (int parts = 1; parts <= 2; parts++) {
        flat.n_parts = single.n_parts = wide.n_parts = parts;
        (void)test_scene_check(&flat, slow_double, 1, device);
        (void)test_scene_check(&single, slow_double, 1, device);
        (void)test_scene_check(&wide, slow_double, 1, device);
        (void)test_scene_check(&wide, fast_double, 1, device);
    }
}

/* One visibility of one picture is a quarter of a million phases: each must be right by itself.
 * The three scenes take the four ways in which w c enters a phase. */
static void keeps_the_promise_for_one_visibility(void **state) {
    slc_device *device = test_card_need(state);
    static const test_scene lone[] = {
        {"one visibility, no w c", 512, 512, 1e-6, 0, 0, true, 1, 1, 9e4, 1, 0, 1.0, 1, false,
         SLC_DIRECT_SINE, 0},
        {"one visibility, w c in single", 512, 512, 1e-4, 0, 0, true, 1, 1, 4e3, 4e3, 0, 1.0, 2,
         false, SLC_DIRECT_SINE, 0},
        {"one visibility, w c in two words", 512, 512, 4e-3, 0, 0, true, 1, 1, 1e5, 1e6, 0, 1.0, 1,
         false, SLC_DIRECT_SINE_WIDE, 0},
    };
    for (int64_t i = 0; i < TEST_COUNT(lone); i++) {
        const bool is_wide = lone[i].method == SLC_DIRECT_SINE_WIDE;
        const int64_t n = is_wide ? TEST_COUNT(wishes) : 1;
        assert_true(test_scene_check(&lone[i], wishes, n, device) <= PAIR_ERROR);
    }
}

/* Equal samples are the worst that a sum can meet: their roundings all have one sign. */
static void equal_samples_do_not_drift(void **state) {
    slc_device *device = test_card_need(state);
    static const double values[] = {0.3, 0.7, 0.999, 1.0 / 3.0};
    for (int64_t i = 0; i < TEST_COUNT(values); i++) {
        const test_scene s = {
            "equal samples", 9, 8, 1e-6, 0, 0, true, 20000, 1, 0.0, 0.0, values[i], 1.0, 1, false,
            SLC_DIRECT_SINE, 0};
        (void)test_scene_check(&s, slow_double, 1, device);
    }
}

static void gives_the_same_bits_for_every_tiling(void **state) {
    slc_device *device = test_card_need(state);
    static const int64_t chosen[] = {W_IN_SINGLE, TO_THE_HORIZON, COMPLEX_WIDE};
    for (int64_t c = 0; c < TEST_COUNT(chosen); c++) {
        test_scene s = scenes[chosen[c]];
        s.n_rows = 20000 / s.n_channels;
        test_scene_check_tilings(&s, slow_double, device);
        if (s.method == SLC_DIRECT_SINE_WIDE) {
            test_scene_check_tilings(&s, fast_double, device);
        }
    }
}

/* Pictures and rows that end in the middle of a tile and of a granule. Tiles are whole granules and
 * pass their ends; buffers do not, so whatever is read or written beyond them is seen by a memory
 * checker, and a row of pixels of the wrong length by the comparison. */
static void tiles_larger_than_the_data_stay_in_their_buffers(void **state) {
    slc_device *device = test_card_need(state);
    static const int64_t sizes[][2] = {{135, 70}, {65, 63}, {1, 129}, {127, 1}};
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        test_scene s = scenes[1];
        s.name = "edges of tiles";
        s.nx = sizes[i][0];
        s.ny = sizes[i][1];
        s.n_rows = 3150;
        s.n_channels = 2;
        s.n_parts = 1 + (int)(i % 2);
        s.is_psf = i == 2;
        s.reach_w = 3e5; /* enough for w c in single */
        (void)test_scene_check(&s, slow_double, 1, device);
        test_scene_check_tilings(&s, slow_double, device);
    }
}

/* A granule without any weight adds nothing: appending one leaves every bit as it was. */
static void granules_without_weight_change_nothing(void **state) {
    slc_device *device = test_card_need(state);
    test_scene s = scenes[1];
    s.n_rows = 6000;
    test_scene_data data;
    test_scene_fill(&s, &data);
    const slc_direct_setup setup = test_scene_setup(&s, &data, slow_double);
    const int64_t rows = s.n_rows / 2 / setup.granule_rows * setup.granule_rows;
    assert_true(rows > 0);
    for (int64_t k = rows * s.n_channels; k < s.n_rows * s.n_channels; k++) {
        data.weight[k] = 0.0f;
        data.vis[2 * k] = NAN;
    }
    slc_fixed *longer = test_scene_image(&s, &data, &setup, device, (test_direct_tiling){0});
    s.n_rows = rows;
    slc_fixed *shorter = test_scene_image(&s, &data, &setup, device, (test_direct_tiling){0});
    assert_memory_equal(longer, shorter, sizeof(slc_fixed) * (size_t)(s.nx * s.ny));
    free(shorter);
    free(longer);
    test_scene_free(&data);
}

/* With an argument only the case of that name, for checkers that are slow. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_promise),
        cmocka_unit_test(keeps_the_promise_for_every_size_of_w_c),
        cmocka_unit_test(every_variant_once),
        cmocka_unit_test(keeps_the_promise_for_one_visibility),
        cmocka_unit_test(equal_samples_do_not_drift),
        cmocka_unit_test(gives_the_same_bits_for_every_tiling),
        cmocka_unit_test(tiles_larger_than_the_data_stay_in_their_buffers),
        cmocka_unit_test(granules_without_weight_change_nothing),
    };
    return cmocka_run_group_tests(tests, test_card_open, test_card_close);
}
