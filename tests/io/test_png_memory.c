/* A PNG in memory is the file, byte for byte. */
#include "tests/support/test_support.h"

#include <math.h>

#include "io/png_memory.h"

#define SIDE 37

static slc_image_meta meta_of(int64_t nx, int64_t ny) {
    return (slc_image_meta){
        .nx = nx, .ny = ny, .n_planes = 1, .n_parts = 1, .scale_rad = 1e-4, .unit = "Jy/beam"};
}

/* Skips where PNG was not built in; then the refusal has to say so. */
static void need_png(void) {
    const slc_image_meta meta = meta_of(1, 1);
    const double value = 1;
    slci_png png = {.bytes = NULL};
    const slc_status status = slci_png_encode(&meta, &value, &png);
    free(png.bytes);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_FAILS(status, SLC_ERROR_UNSUPPORTED, "libpng");
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
}

static void memory_holds_what_the_file_holds(void **state) {
    const test_place *place = *state;
    const slc_image_meta meta = meta_of(SIDE, SIDE + 2);
    double image[SIDE * (SIDE + 2)];
    need_png();
    test_fill_f64(image, TEST_COUNT(image), 7);
    image[5] = NAN;
    slci_png png;
    TEST_OK(slci_png_encode(&meta, image, &png));
    TEST_OK(slc_image_file_write(place->path, &meta, image, false, NULL));
    FILE *file = fopen(place->path, "rb");
    assert_non_null(file);
    uint8_t *bytes = test_allocate(png.n_bytes + 1);
    assert_int_equal(fread(bytes, 1, (size_t)png.n_bytes + 1, file), png.n_bytes);
    assert_int_equal(fclose(file), 0);
    assert_memory_equal(bytes, png.bytes, (size_t)png.n_bytes);
    assert_int_equal(png.range.n_finite, TEST_COUNT(image) - 1);
    assert_true(png.range.low < png.range.high);
    free(bytes);
    free(png.bytes);
}

static void what_png_cannot_hold_is_refused(void **state) {
    (void)state;
    need_png();
    slc_image_meta meta = meta_of(2000000, 1);
    const double value = 0;
    slci_png png = {.bytes = NULL};
    TEST_FAILS(slci_png_encode(&meta, &value, &png), SLC_ERROR_UNSUPPORTED, "2000000 x 1");
    meta = meta_of(1, 1);
    meta.n_parts = 2;
    TEST_FAILS(slci_png_encode(&meta, &value, &png), SLC_ERROR_UNSUPPORTED, "complex");
    assert_null(png.bytes);
}

static int make_place(void **state) {
    return test_place_create(state, "a.png") != NULL ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_holds_what_the_file_holds, make_place,
                                        test_place_destroy),
        cmocka_unit_test(what_png_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
