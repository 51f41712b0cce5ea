#include "tests/support/test_locale.h"
#include "tests/support/test_near.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/simulate.h"

#define PI 3.14159265358979323846

static const double tiny = 1e-14;

static slc_status read_text(const char *text, double ra_rad, double dec_rad, slc_sky *out) {
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    test_directory_create(directory);
    test_join(directory, "sky.txt", path);
    test_write_below(directory, "sky.txt", text);
    const slc_status status = slc_sky_read(path, ra_rad, dec_rad, out);
    test_directory_remove(directory);
    return status;
}

static void columns(void **state) {
    (void)state;
    slc_sky sky;
    /* Seen from (90 degrees, 0): a degree to the east, and a degree to the north. */
    TEST_OK(read_text("# a comment\n"
                      "\n"
                      "6:04:00 0 1.5   # east\r\n"
                      "\t90deg +1:00:00 -2e-1 60 0.5amin 30 -0.7\n"
                      "90 -0:30:00 1 2mas 1mas 0.5rad",
                      PI / 2.0, 0.0, &sky));
    assert_int_equal(sky.n_components, 3);
    const slc_sky_component *c = sky.components;
    TEST_NEAR(c[0].l, sin(PI / 180.0), tiny);
    TEST_NEAR(c[0].m, 0.0, tiny);
    TEST_NEAR(c[0].flux_jy, 1.5, 0.0);
    TEST_NEAR(c[0].major_rad, 0.0, 0.0);
    TEST_NEAR(c[1].l, 0.0, tiny);
    TEST_NEAR(c[1].m, sin(PI / 180.0), tiny);
    TEST_NEAR(c[1].flux_jy, -0.2, tiny);
    TEST_NEAR(c[1].major_rad, PI / 10800.0, tiny);
    TEST_NEAR(c[1].minor_rad, PI / 21600.0, tiny);
    TEST_NEAR(c[1].angle_rad, PI / 6.0, tiny);
    TEST_NEAR(c[1].spectral_index, -0.7, tiny);
    TEST_NEAR(c[2].m, -sin(PI / 360.0), tiny);
    TEST_NEAR(c[2].major_rad, 2e-3 * PI / 648000.0, 1e-20);
    TEST_NEAR(c[2].angle_rad, 0.5, tiny);
    assert_true(sky.reference_hz <= 0.0);
    slc_sky_destroy(&sky);
}

static void pairs(void **state) {
    (void)state;
    slc_sky sky;
    TEST_OK(read_text("reference_hz=1.5e8\n"
                      "flux=2 l=0.1 m=-.2\n"
                      "l=0 m=0 flux=1 major=30 minor=20 pa=90 index=-1\n",
                      1.0, 0.5, &sky));
    assert_int_equal(sky.n_components, 2);
    TEST_NEAR(sky.reference_hz, 1.5e8, 0.0);
    TEST_NEAR(sky.components[0].l, 0.1, 0.0);
    TEST_NEAR(sky.components[0].m, -0.2, 0.0);
    TEST_NEAR(sky.components[1].major_rad, PI / 21600.0, tiny);
    TEST_NEAR(sky.components[1].angle_rad, PI / 2.0, tiny);
    TEST_NEAR(sky.components[1].spectral_index, -1.0, 0.0);
    slc_sky_destroy(&sky);
}

/* More components than the first allocation holds. */
static void many_components(void **state) {
    (void)state;
    enum { N = 1000 };
    char text[N * 20 + 1];
    size_t used = 0;
    for (int k = 0; k < N; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "l=0 m=0 flux=%d\n", k);
    }
    slc_sky sky;
    TEST_OK(read_text(text, 0.0, 0.0, &sky));
    assert_int_equal(sky.n_components, N);
    for (int k = 0; k < N; k++) {
        TEST_NEAR(sky.components[k].flux_jy, (double)k, 0.0);
    }
    slc_sky_destroy(&sky);
}

/* Each is refused with the line's number and the word that is wrong. */
static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "no component"},
        {"# nothing\n", "no component"},
        {"\n1 2\n", "sky.txt:2: there are 2 words"},
        {"1 2 3 4\n", "there are 4 words"},
        {"1 2 3 4 5 6 7 8\n", "8 words"},
        {"1 2 3 4 5 6 7 8 9\n", "more than 8 words"},
        {"1 2 3,5\n", "'3,5'"},
        {"1 2 0x10\n", "'0x10'"},
        {"1 2 nan\n", "'nan'"},
        {"1 2 inf\n", "'inf'"},
        {"1 2 1e999\n", "'1e999'"},
        {"1 2 1.5Jy\n", "'1.5Jy'"},
        {"1furlong 2 1\n", "'1furlong'"},
        {"24:00:00 2 1\n", "24:00:00"},
        {"-1:00:00 2 1\n", "-1:00:00"},
        {"1:60:00 2 1\n", "1:60:00"},
        {"1:2 2 1\n", "1:2"},
        {"1:2:3:4 2 1\n", "1:2:3:4"},
        {"1 91 1\n", "no place on the sky"},
        {"1 2 1 5 10 0\n", "major >= minor"},
        {"1 2 1 5 -1 0\n", "major >= minor"},
        {"181 0 1\n", "90 degrees"},
        {"l=1 m=0 flux=1\n", "horizon"},
        {"l=0.1 flux=1\n", "are needed"},
        {"l=0.1 m=0 flux=1 major=3\n", "go together"},
        {"l=0.1 l=0.1 m=0 flux=1\n", "comes twice"},
        {"l=0.1 m=0 flux=1 colour=2\n", "not known"},
        {"l=0.1 m=0 flux=1 2\n", "not known"},
        {"reference_hz=-1\n", "above 0"},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slc_sky sky;
        TEST_FAILS(read_text(cases[k].text, 0.0, 0.0, &sky), SLC_ERROR_INPUT, cases[k].words);
    }
}

static void missing_file(void **state) {
    (void)state;
    slc_sky sky;
    TEST_FAILS(slc_sky_read("/nowhere/sky.txt", 0.0, 0.0, &sky), SLC_ERROR_INPUT,
               "/nowhere/sky.txt");
    TEST_FAILS(slc_sky_read("/tmp", 0.0, 0.0, &sky), SLC_ERROR_INPUT, "/tmp");
}

/* Devices never end, and a pipe without a writer would be waited for. */
static void what_is_no_file(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    slc_sky sky;
    TEST_FAILS(slc_sky_read("/dev/zero", 0.0, 0.0, &sky), SLC_ERROR_INPUT, "is not a file");
    test_directory_create(directory);
    TEST_FAILS(slc_sky_read(directory, 0.0, 0.0, &sky), SLC_ERROR_INPUT, "but a folder");
    test_join(directory, "pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    TEST_FAILS(slc_sky_read(path, 0.0, 0.0, &sky), SLC_ERROR_INPUT, "is not a file");
    test_join(directory, "long", path);
    const int descriptor = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(ftruncate(descriptor, ((off_t)64 << 20) + 1), 0);
    assert_int_equal(close(descriptor), 0);
    TEST_FAILS(slc_sky_read(path, 0.0, 0.0, &sky), SLC_ERROR_INPUT, "67108865 bytes");
    test_directory_remove(directory);
}

/* U+FEFF before the first word, and only there. */
static void byte_order_mark(void **state) {
    (void)state;
    slc_sky sky;
    TEST_OK(read_text("\xEF\xBB\xBFl=0.25 m=0.5 flux=1.5\n", 0.0, 0.0, &sky));
    TEST_NEAR(sky.components[0].l, 0.25, 0.0);
    slc_sky_destroy(&sky);
    TEST_OK(read_text("\xEF\xBB\xBF# comment\n90 0 1.5\n", PI / 2.0, 0.0, &sky));
    assert_int_equal(sky.n_components, 1);
    slc_sky_destroy(&sky);
    TEST_FAILS(read_text("\n\xEF\xBB\xBFl=0 m=0 flux=1\n", 0.0, 0.0, &sky), SLC_ERROR_INPUT,
               ":2: ");
}

/* Where the caller's locale writes a comma, the file's point is still a point. */
static void other_locale(void **state) {
    (void)state;
    slc_sky sky;
    test_begin_comma_locale();
    const slc_status status = read_text("l=0.25 m=0.5 flux=1.5\n", 0.0, 0.0, &sky);
    test_end_locale();
    TEST_OK(status);
    TEST_NEAR(sky.components[0].l, 0.25, 0.0);
    slc_sky_destroy(&sky);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),         cmocka_unit_test(pairs),
        cmocka_unit_test(many_components), cmocka_unit_test(refusals),
        cmocka_unit_test(missing_file),    cmocka_unit_test(what_is_no_file),
        cmocka_unit_test(byte_order_mark), cmocka_unit_test(other_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
