/* Host memory of a pass: the plan leaves room for the pictures, and what cannot fit is refused before
 * anything is computed. */
#include "tests/support/test_support.h"

#include "app/image.h"

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
    options.vram_bytes = 1ll << 30;
    options.ram_bytes = ram_bytes;
    options.device = SLC_CHOOSE_HOST;
    options.n_threads = 2;
    options.dry_run = dry_run;
    options.image = unused; /* as good as an output for a run that is refused */
    return slc_image_run(&options, result);
}

static void huge_images_are_refused_with_the_number(void **state) {
    (void)state;
    slc_image_result result;
    /* 65537² pixels of 8 bytes are 34,360,786,952 bytes. */
    TEST_FAILS(plan(65537, 1ll << 30, false, &result), SLC_ERROR_NO_PLAN, "host memory");
    TEST_OK(plan(65537, 1ll << 30, true, &result));
    assert_true(result.host_planned_bytes > 34360786952ll);
    assert_int_equal(result.output_bytes, 34360786952ll);
}

/* Staging is cut until picture and staging fit together, down to a budget that is named. */
static void the_plan_leaves_room_for_the_picture(void **state) {
    (void)state;
    const int64_t picture_bytes = 512 * 512 * 8;
    slc_image_result result;
    TEST_OK(plan(512, 1ll << 30, true, &result));
    const int64_t least = picture_bytes + result.plan.smallest_host_bytes;
    int64_t ram_bytes = result.host_planned_bytes;
    assert_true(ram_bytes > least);
    for (; ram_bytes > least; ram_bytes -= ram_bytes / 8) {
        TEST_OK(plan(512, ram_bytes, true, &result));
        assert_true(result.host_planned_bytes <= ram_bytes);
    }
    TEST_OK(plan(512, least, true, &result));
    assert_int_equal(result.host_planned_bytes, least);
    TEST_FAILS(plan(512, least - 1, false, &result), SLC_ERROR_NO_PLAN, "--ram");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_images_are_refused_with_the_number),
        cmocka_unit_test(the_plan_leaves_room_for_the_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
