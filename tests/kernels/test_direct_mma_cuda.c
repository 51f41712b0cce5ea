/* The CUDA product kernel against the double-precision oracle, by every unit (slc_direct_unit) that the
 * card can take: the promise |ΔI| <= epsilon Σw|V| at every pixel, for one visibility and for many,
 * with no correction term and with up to four, for weights over twelve decades, for equal samples, and
 * beside tiles of the sine kernel; the same bits however the work is tiled and whichever
 * instruction is taken; and, over random fields, a bound that is neither below the error nor far
 * above it. Without a card that has the instructions every case is skipped.
 *
 * Built with SLC_TEST_COMPUTE, the kernels are there as PTX of that compute capability alone, which the
 * driver compiles for the card at hand: so the units of earlier cards run on later ones too. */
#include "tests/support/test_direct_scene.h"

#include <math.h>

#include "core/checked.h"
#include "core/fixed.h"
#include "kernels/direct_bent.h"

#ifndef SLC_TEST_COMPUTE
#define SLC_TEST_COMPUTE 0 /* whatever the library was built for */
#endif

/* What the kernels are asked for: epsilons that take three products and one. */
static const double epsilons[] = {1e-6, 1e-3};

/* The units that the card can take, the one it takes by itself first; later cards can do what earlier
 * ones do. */
typedef struct units {
    int n;
    slc_direct_unit unit[3];
} units;

static units card_units(slc_device *device) {
    slc_device_limits limits;
    TEST_OK(slc_device_get_limits(device, &limits));
    const int built_for = SLC_TEST_COMPUTE > 0 ? SLC_TEST_COMPUTE : limits.compute_capability;
    units out = {0, {SLC_DIRECT_UNIT_NONE}};
    for (int unit = slc_direct_unit_get(built_for); unit > SLC_DIRECT_UNIT_NONE; unit--) {
        out.unit[out.n++] = (slc_direct_unit)unit;
    }
    return out;
}

static units need_units(void **state) {
    const units found = card_units(test_card_need(state));
    if (found.n == 0) {
        print_message("SKIP: no product kernel for this card\n");
        skip();
    }
    return found;
}

/* Small enough for the oracle, which takes a sine and a cosine for every pair of a sample and a pixel:
 * two granules of samples where sums matter, two tiles of pixels where tiles do. */
enum { NARROW, ONE_TERM, COMPLEX, MIXED };

static const test_scene scenes[] = {
    {"narrow field", 150, 30, 1e-6, 0, 0, true, 5000, 1, 1e5, 1e3, 0, 0.9, 1, false,
     SLC_DIRECT_PRODUCT, 0},
    {"one term, 2e-5 to 2e-4", 300, 20, 4.3e-5, 0.02, -0.03, true, 1000, 3, 5e3, 1300, 0, 0.7, 1,
     false, SLC_DIRECT_PRODUCT, 0},
    {"complex", 140, 40, 1e-5, 0.01, 0, true, 1500, 2, 5e4, 5e3, 0, 0.8, 2, false,
     SLC_DIRECT_PRODUCT, 0},
    {"products and sines", 300, 40, 4e-4, 0.03, 0.3, true, 700, 2, 500, 4700, 0, 0.8, 1, false,
     SLC_DIRECT_PRODUCT, 0},
    {"products and sines at less w", 300, 40, 4e-4, 0.03, 0.3, true, 700, 2, 500, 400, 0, 0.8, 1,
     false, SLC_DIRECT_PRODUCT, 0},
    {"far from the centre, many turns", 130, 20, 1e-6, 0.1, -0.05, true, 3000, 1, 4e6, 10, 0, 1.0,
     1, false, SLC_DIRECT_PRODUCT, 0},
    {"point spread function", 50, 50, 1e-6, 0, 0, false, 3000, 2, 5e5, 5e3, 0, 0.8, 1, true,
     SLC_DIRECT_PRODUCT, 0},
    {"one row of 9000 channels", 64, 10, 1e-5, 0, 0, true, 1, 9000, 5e4, 10, 0, 0.9, 1, false,
     SLC_DIRECT_PRODUCT, 0},
    {"one pixel", 1, 1, 1e-4, 0, 0, true, 5000, 1, 5e3, 10, 0, 0.9, 1, false, SLC_DIRECT_PRODUCT,
     0},
    {"one sample in fifty", 32, 32, 1e-5, 0, 0, true, 9000, 1, 5e4, 100, 0, 0.02, 1, false,
     SLC_DIRECT_PRODUCT, 0},
    {"weights over twelve decades", 140, 20, 1e-6, 0, 0, true, 5000, 1, 1e5, 1e3, 0, 0.9, 1, false,
     SLC_DIRECT_PRODUCT, 12},
    {"lone source at the centre", 20, 20, 1e-6, 0, 0, true, 20000, 1, 1e5, 1e3, 0.3, 1.0, 1, false,
     SLC_DIRECT_PRODUCT, 0},
    {"equal samples", 9, 8, 1e-6, 0, 0, true, 20000, 1, 0, 0, 0.7, 1.0, 1, false,
     SLC_DIRECT_PRODUCT, 0},
    {"no w-projection", 60, 60, 1e-6, 0.1, 0.2, false, 2000, 1, 1e5, 1e2, 0, 1.0, 1, false,
     SLC_DIRECT_PRODUCT, 0},
};

/* Tiles that need two to four correction terms at 1e-6, and how many at 1e-3, where two are the
 * most. In the last, w (N - n0) bends by a whole turn along a side. */
static const struct {
    test_scene scene;
    int n_terms, n_coarse_terms;
} bent[] = {
    {{"two terms", 150, 130, 2e-4, 0.15, -0.2, true, 300, 1, 5e3, 260, 0, 0.9, 1, false,
      SLC_DIRECT_PRODUCT, 0},
     2,
     1},
    {{"three terms", 130, 140, 2e-4, -0.15, 0.2, true, 150, 2, 5e3, 1200, 0, 0.9, 2, false,
      SLC_DIRECT_PRODUCT, 6},
     3,
     2},
    {{"four terms", 140, 128, 2e-4, 0.15, 0.2, true, 300, 1, 5e3, 3200, 0, 0.9, 1, false,
      SLC_DIRECT_PRODUCT, 0},
     4,
     2},
    {{"four terms, three runs", 128, 20, 2e-4, 0.15, 0.2, true, 9000, 1, 5e3, 15000, 0, 1.0, 1,
      false, SLC_DIRECT_PRODUCT, 0},
     4,
     2},
    {{"two terms, three runs", 20, 128, 2e-4, 0.15, 0.2, true, 9000, 1, 5e3, 250, 0, 1.0, 1, false,
      SLC_DIRECT_PRODUCT, 0},
     2,
     1},
    {{"bent by a turn", 150, 128, 4e-4, 0.03, 0.03, true, 300, 1, 5e3, 3000, 0, 0.9, 1, false,
      SLC_DIRECT_PRODUCT, 0},
     3,
     2},
};

/* The terms that the planner gives a scene; -1 where it has no product for it. */
static int terms_of(const test_scene *scene, const test_wish *asked) {
    test_scene_data data;
    slc_direct_summary summary;
    test_scene_fill(scene, &data);
    const slc_direct_setup setup = test_scene_setup(scene, &data, asked);
    test_scene_free(&data);
    slc_direct_summarise(&setup, &summary);
    return summary.n_tiles[SLC_DIRECT_PRODUCT] > 0 ? summary.max_terms_used : -1;
}

/* Both epsilons for each unit: [6], without short stages where those, which have two terms at most, can
 * do nothing for the scene. */
static int64_t list_wishes(const units *found, const test_scene *scene, test_wish *asked) {
    int64_t n = 0;
    for (int u = 0; u < found->n; u++) {
        for (int64_t e = 0; e < TEST_COUNT(epsilons); e++) {
            const test_wish wish = {epsilons[e], true, found->unit[u]};
            if (wish.unit != SLC_DIRECT_UNIT_SHORT || terms_of(scene, &wish) >= 0) {
                asked[n++] = wish;
            }
        }
    }
    return n;
}

static void keeps_the_promise_with_every_number_of_terms(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    for (int64_t i = 0; i < TEST_COUNT(bent); i++) {
        test_wish asked[6];
        const int64_t n = list_wishes(&found, &bent[i].scene, asked);
        for (int64_t a = 0; a < n; a++) {
            const int most = asked[a].unit == SLC_DIRECT_UNIT_SHORT ? SLCI_CUDA_MOST_SHORT_TERMS
                                                                    : SLCI_CUDA_MOST_TERMS;
            const int n_terms = asked[a].epsilon < 1e-4 ? bent[i].n_terms : bent[i].n_coarse_terms;
            assert_int_equal(terms_of(&bent[i].scene, &asked[a]), n_terms < most ? n_terms : most);
        }
        (void)test_scene_check(&bent[i].scene, asked, n, device);
        test_scene lone = bent[i].scene;
        lone.name = "the same for one visibility";
        lone.n_rows = 1;
        lone.n_channels = 1;
        lone.share_used = 1.0;
        (void)test_scene_check(&lone, asked, n, device);
    }
}

static void keeps_the_promise(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    for (int64_t i = 0; i < TEST_COUNT(scenes); i++) {
        test_wish asked[6];
        const int64_t n = list_wishes(&found, &scenes[i], asked);
        (void)test_scene_check(&scenes[i], asked, n, device);
    }
}

/* One visibility of a picture is a quarter of a million phases: each must be right by itself. */
static void keeps_the_promise_for_one_visibility(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    static const test_scene lone[] = {
        {"one visibility", 512, 512, 1e-6, 0, 0, true, 1, 1, 9e4, 1, 0, 1.0, 1, false,
         SLC_DIRECT_PRODUCT, 0},
        {"one visibility, one term", 512, 512, 4e-5, 0.03, 0.03, true, 1, 1, 4e3, 1000, 0, 1.0, 2,
         false, SLC_DIRECT_PRODUCT, 0},
    };
    for (int64_t i = 0; i < TEST_COUNT(lone); i++) {
        test_wish asked[6];
        const int64_t n = list_wishes(&found, &lone[i], asked);
        (void)test_scene_check(&lone[i], asked, n, device);
    }
}

/* The scene's data, of whose every 64 samples the first `n_bright` stay as they are; the others have
 * baselines of no length and V = `faint`. */
static void fill_dimmed(const test_scene *scene, int64_t n_bright, float faint,
                        test_scene_data *data) {
    test_scene_fill(scene, data);
    data->size = 0.0;
    for (int64_t k = 0; k < scene->n_rows; k++) {
        if (k % 64 >= n_bright) {
            memset(data->uvw_m + 3 * k, 0, 3 * sizeof *data->uvw_m);
            data->vis[2 * k] = faint;
        }
        data->size += (double)data->weight[k] * fabs((double)data->vis[2 * k]);
    }
}

/* A tensor core drops what is 2^-25 of its sum, and cuts off more at each addition: samples beside
 * which the others are nothing must come last among those that are added together. */
static void keeps_the_promise_for_faint_samples_beside_bright_ones(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    static const test_scene scene = {
        "faint beside bright", 256, 128, 1e-6, 0, 0, true, 64, 1, 9e4, 1, 1.0, 1.0, 1, false,
        SLC_DIRECT_PRODUCT,    0};
    static const int64_t bright[] = {1, 2, 8};
    static const float faint[] = {2.9e-8f, -2.9e-8f, 6e-8f, -1e-7f, 1e-3f, -0.06f};
    test_wish asked[6];
    const int64_t n = list_wishes(&found, &scene, asked);
    for (int64_t b = 0; b < TEST_COUNT(bright); b++) {
        for (int64_t f = 0; f < TEST_COUNT(faint); f++) {
            test_scene_data data;
            print_message("%d of 64 bright, the others %g:\n", (int)bright[b], (double)faint[f]);
            fill_dimmed(&scene, bright[b], faint[f], &data);
            (void)test_scene_compare(&scene, &data, asked, n, device);
            test_scene_free(&data);
        }
    }
}

static void gives_the_same_bits_for_every_tiling(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    static const int64_t chosen[] = {NARROW, ONE_TERM, COMPLEX, MIXED};
    for (int64_t c = 0; c < TEST_COUNT(chosen); c++) {
        test_scene scene = scenes[chosen[c]];
        scene.n_rows = 12500 / scene.n_channels;
        for (int u = 0; u < found.n; u++) {
            const test_wish asked = {1e-6, true, found.unit[u]};
            test_scene_check_tilings(&scene, &asked, device);
        }
    }
    for (int64_t i = 0; i < 3; i++) {
        test_scene scene = bent[i].scene;
        scene.n_rows = 9000 / scene.n_channels;
        const test_wish asked = {1e-6, true, found.unit[0]};
        if (terms_of(&scene, &asked) >= 0) {
            test_scene_check_tilings(&scene, &asked, device);
        }
    }
}

/* Buffers end with the data, tiles do not. */
static void tiles_larger_than_the_data_stay_in_their_buffers(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    static const int64_t sizes[][2] = {{135, 20}, {129, 33}, {1, 257}, {255, 1}};
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        test_scene scene = scenes[ONE_TERM];
        scene.name = "edges of tiles";
        scene.nx = sizes[i][0];
        scene.ny = sizes[i][1];
        scene.n_rows = 2100;
        scene.n_channels = 2;
        scene.n_parts = 1 + (int)(i % 2);
        const test_wish asked = {1e-6, true, found.unit[0]};
        (void)test_scene_check(&scene, &asked, 1, device);
        test_scene_check_tilings(&scene, &asked, device);
    }
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same kernels with few samples, for checkers that make a kernel a thousand times slower: each
 * unit, one product and three, any number of correction terms. */
static void every_kernel_once(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    const test_scene chosen[] = {scenes[NARROW], scenes[ONE_TERM], bent[0].scene, bent[1].scene,
                                 bent[3].scene};
    for (int64_t c = 0; c < TEST_COUNT(chosen); c++) {
        test_scene scene = chosen[c];
        scene.nx = slc_min_i64(scene.nx, 128);
        scene.ny = slc_min_i64(scene.ny, 128);
        scene.n_rows = 300;
        scene.n_parts = 1;
        scene.n_channels = 1;
        test_wish asked[6];
        const int64_t n = list_wishes(&found, &scene, asked);
        (void)test_scene_check(&scene, asked, n, device);
    }
}

/* A baseline times a direction cosine of 1 is held to so many turns: then double precision, which the
 * oracle sums in too, is right to some 10^-8. */
#define MOST_TURNS 1e7

/* A random field: from arc seconds to the horizon, max|w| to 10^5, baselines to 10^7 turns over the
 * picture, weights over up to twelve decades. */
static test_scene random_field(uint64_t *seed) {
    const double turns = pow(10.0, test_random_between(seed, 1.0, 7.0));
    test_scene scene = {.name = "random field",
                        .nx = (int64_t)test_random_between(seed, 1.0, 200.0),
                        .ny = (int64_t)test_random_between(seed, 1.0, 140.0),
                        .scale_rad = pow(10.0, test_random_between(seed, -7.0, -2.2)),
                        .centre_l = test_random_between(seed, -0.3, 0.3),
                        .centre_m = test_random_between(seed, -0.3, 0.3),
                        .is_w_projected = true,
                        .n_rows = (int64_t)pow(10.0, test_random_between(seed, 0.0, 2.7)),
                        .n_channels = 1,
                        .reach_w = pow(10.0, test_random_between(seed, 0.0, 5.0)),
                        .constant_v = test_random_between(seed, 0.0, 1.0) < 0.3 ? 0.37 : 0.0,
                        .share_used = 1.0,
                        .n_parts = 1,
                        .decades = test_random_between(seed, 0.0, 12.0)};
    scene.reach_uv = fmin(turns / (scene.scale_rad * (double)scene.nx), MOST_TURNS);
    return scene;
}

/* Half of the fields must have an error above a thirtieth of the bound that the planner gives. */
static void the_bound_holds_and_is_close(void **state) {
    const units found = need_units(state);
    slc_device *device = test_card_need(state);
    uint64_t seed = 2;
    double ratio[48];
    for (int64_t i = 0; i < TEST_COUNT(ratio); i++) {
        test_scene scene = random_field(&seed);
        test_scene_data data;
        test_scene_fill(&scene, &data);
        const double epsilon = i % 3 == 2 ? 1e-3 : 1e-6;
        const test_wish asked = {epsilon, true, found.unit[0]};
        const slc_direct_setup setup = test_scene_setup(&scene, &data, &asked);
        test_scene_free(&data);
        slc_direct_summary summary;
        slc_direct_summarise(&setup, &summary);
        for (int m = 0; m < SLC_DIRECT_N_METHODS; m++) {
            if (summary.n_tiles[m] > 0 && m != SLC_DIRECT_SKIP) {
                scene.method = (slc_direct_method)m;
            }
        }
        const double worst = test_scene_check(&scene, &asked, 1, device);
        assert_true(summary.error_bound <= epsilon && worst <= summary.error_bound);
        ratio[i] = summary.error_bound / fmax(worst, 1e-30);
    }
    qsort(ratio, TEST_COUNT(ratio), sizeof ratio[0], compare_numbers);
    print_message("bound over error: %.1f for the median field, %.1f to %.1f\n",
                  ratio[TEST_COUNT(ratio) / 2], ratio[0], ratio[TEST_COUNT(ratio) - 1]);
    assert_true(ratio[TEST_COUNT(ratio) / 2] <= 30.0);
}

/* With an argument only the case of that name, for checkers that are slow. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_promise),
        cmocka_unit_test(keeps_the_promise_with_every_number_of_terms),
        cmocka_unit_test(keeps_the_promise_for_one_visibility),
        cmocka_unit_test(keeps_the_promise_for_faint_samples_beside_bright_ones),
        cmocka_unit_test(gives_the_same_bits_for_every_tiling),
        cmocka_unit_test(tiles_larger_than_the_data_stay_in_their_buffers),
        cmocka_unit_test(every_kernel_once),
        cmocka_unit_test(the_bound_holds_and_is_close),
    };
    return cmocka_run_group_tests(tests, test_card_open, test_card_close);
}
