/* Host memory of a pass: the plan leaves room for the pictures, and what cannot fit is refused before
 * anything is computed. */
#include "tests/support/test_picture.h"

/* Plans base.uvh5 at n × n pixels in `ram_bytes`; computes nothing. */
static slc_status plan(int64_t n, int64_t ram_bytes, bool dry_run, slc_image_result *result) {
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/base.uvh5", path);
    const char *const input = path;
    double unused[1];
    slc_image_options options;
    slc_image_options_init(&options);
    options.inputs = &input;
    options.n_inputs = 1;
    options.nx = options.ny = n;
    options.scale_rad = 1e-5;
    options.run.vram_bytes = 1ll << 30;
    options.run.ram_bytes = ram_bytes;
    options.run.device = SLC_CHOOSE_HOST;
    options.run.n_threads = 2;
    options.run.dry_run = dry_run;
    options.image = unused; /* as good as an output for a run that is refused */
    return slc_image_run(&options, result);
}

static void huge_images_are_refused_with_the_number(void **state) {
    (void)state;
    slc_image_result result;
    /* 65537² pixels of 8 bytes are 34,360,786,952 bytes. */
    TEST_FAILS(plan(65537, 1ll << 30, false, &result), SLC_ERROR_NO_PLAN, "no plan fits --ram");
    TEST_OK(plan(65537, 1ll << 30, true, &result));
    assert_true(result.memory.host_planned_bytes > 34360786952ll);
    assert_int_equal(result.output_bytes, 34360786952ll);
    /* 46341² is just above 2^31 pixels: 17,179,906,248 bytes. */
    TEST_OK(plan(46341, 1ll << 30, true, &result));
    assert_int_equal(result.output_bytes, 17179906248ll);
}

/* Staging is cut until picture and staging fit together, down to a budget that is named. */
static void the_plan_leaves_room_for_the_picture(void **state) {
    (void)state;
    slc_image_result result;
    TEST_OK(plan(512, 1ll << 30, true, &result));
    const int64_t least = result.memory.smallest_ram_bytes;
    int64_t ram_bytes = result.memory.host_planned_bytes;
    assert_true(least > 512 * 512 * 8);
    assert_true(ram_bytes > least);
    for (; ram_bytes > least; ram_bytes -= ram_bytes / 8) {
        TEST_OK(plan(512, ram_bytes, true, &result));
        assert_true(result.memory.host_planned_bytes <= ram_bytes);
        assert_int_equal(result.memory.smallest_ram_bytes, least);
    }
    TEST_OK(plan(512, least, true, &result));
    assert_int_equal(result.memory.host_planned_bytes, least);
    TEST_FAILS(plan(512, least - 1, false, &result), SLC_ERROR_NO_PLAN, "--ram");
    char words[64];
    (void)snprintf(words, sizeof words, "the smallest that works is --ram %lld", (long long)least);
    TEST_FAILS(plan(512, 0, false, &result), SLC_ERROR_NO_PLAN, words);
}

/* Pictures whose beam, planes or weights make more passes than the image's. */
static const struct {
    int64_t nx, ny, n_planes;
    slc_weighting weighting;
    double scale_rad;
} shapes[] = {{512, 512, 1, SLC_WEIGHT_NATURAL, 1e-4},   {1, 5000, 1, SLC_WEIGHT_NATURAL, 1e-4},
              {2000, 2000, 1, SLC_WEIGHT_NATURAL, 1e-4}, {512, 512, 8, SLC_WEIGHT_NATURAL, 1e-4},
              {300, 300, 1, SLC_WEIGHT_UNIFORM, 1e-4},   {512, 512, 1, SLC_WEIGHT_NATURAL, 2e-7},
              {200, 150, 1, SLC_WEIGHT_BRIGGS, 0.005}};

/* What is named as the smallest works for the whole run, and one byte less does not. */
static void the_smallest_budgets_are_enough_for_every_pass(void **state) {
    (void)state;
    for (int64_t i = 0; i < TEST_COUNT(shapes); i++) {
        test_picture p;
        test_picture_init(&p, "cases/base.uvh5", shapes[i].nx, shapes[i].ny, shapes[i].scale_rad);
        p.options.n_planes = shapes[i].n_planes;
        p.options.weighting = shapes[i].weighting;
        p.options.run.dry_run = true;
        TEST_OK(test_picture_run(&p));
        const int64_t vram_bytes = p.result.plan.smallest_device_bytes;
        const int64_t ram_bytes = p.result.memory.smallest_ram_bytes;
        p.options.run.dry_run = false;
        p.options.run.vram_bytes = vram_bytes;
        p.options.run.ram_bytes = ram_bytes;
        TEST_OK(test_picture_run(&p));
        assert_true(p.result.memory.vram_peak_bytes <= vram_bytes);
        assert_true(p.result.memory.host_peak_bytes <= ram_bytes);
        p.options.run.vram_bytes = vram_bytes - 1;
        TEST_FAILS(test_picture_run(&p), SLC_ERROR_NO_PLAN, "smallest that works is --vram");
        p.options.run.vram_bytes = vram_bytes;
        p.options.run.ram_bytes = ram_bytes - 1;
        TEST_FAILS(test_picture_run(&p), SLC_ERROR_NO_PLAN, "smallest that works is --ram");
        free(p.image);
    }
}

/* What a dry run says is what the run then does, planes and beam included. */
static void a_dry_run_of_a_cube_agrees_with_the_run(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 300, 200, 1e-4);
    p.options.n_planes = 4;
    p.options.run.vram_bytes = 3 << 20;
    p.options.run.dry_run = true;
    TEST_OK(test_picture_run(&p));
    const slc_image_result planned = p.result;
    p.options.run.dry_run = false;
    TEST_OK(test_picture_run(&p));
    assert_int_equal(p.result.report.n_tiles, planned.plan.n_tiles);
    assert_int_equal(p.result.report.bytes_read, planned.plan.bytes_read);
    assert_int_equal(p.result.report.bytes_h2d, planned.plan.bytes_h2d);
    assert_int_equal(p.result.report.bytes_d2h, planned.plan.bytes_d2h);
    assert_int_equal(p.result.memory.vram_peak_bytes, planned.vram_planned_bytes);
    assert_int_equal(p.result.memory.host_peak_bytes, planned.memory.host_planned_bytes);
    free(p.image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_images_are_refused_with_the_number),
        cmocka_unit_test(the_plan_leaves_room_for_the_picture),
        cmocka_unit_test(the_smallest_budgets_are_enough_for_every_pass),
        cmocka_unit_test(a_dry_run_of_a_cube_agrees_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
