#include "tests/support/test_support.h"

#include "core/slice.h"

enum { N = 10 };

/* The right values are Python's. */
static const struct {
    const char *text;
    int count;
    int64_t element[N];
} of_ten[] = {
    {"[:]", 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"[...]", 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"[3]", 1, {3}},
    {"[-1]", 1, {9}},
    {"[2:7]", 5, {2, 3, 4, 5, 6}},
    {"[ 2 : 7 ]", 5, {2, 3, 4, 5, 6}},
    {"[0 :3]", 3, {0, 1, 2}},
    {"[ : : -3 ]", 4, {9, 6, 3, 0}},
    {"[+3]", 1, {3}},
    {"[ 2:7 ]", 5, {2, 3, 4, 5, 6}},
    {"[-4:-1]", 3, {6, 7, 8}},
    {"[::2]", 5, {0, 2, 4, 6, 8}},
    {"[1::3]", 3, {1, 4, 7}},
    {"[::-1]", 10, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
    {"[::-3]", 4, {9, 6, 3, 0}},
    {"[7:2:-2]", 3, {7, 5, 3}},
    {"[-1:-100:-4]", 3, {9, 5, 1}},
    {"[5:5]", 0, {0}},
    {"[7:3]", 0, {0}},
    {"[20:]", 0, {0}},
    {"[-20:3]", 3, {0, 1, 2}},
    {"[:100:9]", 2, {0, 9}},
    {"[3:4:-1]", 0, {0}},
    {"[100::-1]", 10, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
    {"[:0:-1]", 9, {9, 8, 7, 6, 5, 4, 3, 2, 1}},
    {"[9::1000]", 1, {9}},
    {"[::9223372036854775807]", 1, {0}},
    {"[::-9223372036854775807]", 1, {9}},
    {"[-9223372036854775807:9223372036854775807:5]", 2, {0, 5}},
    {"[-9223372036854775808:]", 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"[:-9223372036854775808:-4]", 3, {9, 5, 1}},
    {"[::-9223372036854775808]", 1, {9}},
    {"[1,]", 1, {1}},
    {"[ 7: , ]", 3, {7, 8, 9}},
};

static void slices_are_pythons(void **state) {
    (void)state;
    slc_layout ten;
    TEST_OK(slc_layout_dense(SLC_F32, 1, (const int64_t[]){N}, &ten));
    for (int64_t i = 0; i < TEST_COUNT(of_ten); i++) {
        slc_slice slice;
        slc_slice_view view;
        TEST_OK(slc_slice_parse(of_ten[i].text, &slice));
        TEST_OK(slc_slice_resolve(&slice, "ten", &ten, &view));
        assert_int_equal(view.count[0], of_ten[i].count);
        for (int k = 0; k < of_ten[i].count; k++) {
            assert_int_equal(view.first[0] + k * view.step[0], of_ten[i].element[k]);
        }
    }
}

static void dimensions_are_matched(void **state) {
    (void)state;
    slc_layout array;
    slc_slice slice;
    slc_slice_view view;
    TEST_OK(slc_layout_dense(SLC_F32, 4, (const int64_t[]){2, 3, 4, 5}, &array));
    TEST_OK(slc_slice_parse("[1, ..., ::-2]", &slice));
    TEST_OK(slc_slice_resolve(&slice, "a", &array, &view));
    assert_int_equal(view.rank, 3);
    assert_int_equal(view.dim[0], 1);
    assert_int_equal(view.count[3], 3);
    assert_int_equal(view.first[3], 4);
    TEST_OK(slc_slice_parse("[..., 2, 3]", &slice));
    TEST_OK(slc_slice_resolve(&slice, "a", &array, &view));
    assert_int_equal(view.rank, 2);
    assert_int_equal(view.first[2], 2);
    TEST_OK(slc_slice_parse("[0,1,2,3,...]", &slice));
    TEST_OK(slc_slice_resolve(&slice, "a", &array, &view));
    assert_int_equal(view.rank, 0);
    slice = (slc_slice){0};
    TEST_OK(slc_slice_resolve(&slice, "a", &array, &view));
    assert_int_equal(view.rank, 4);
}

static void wrong_slices_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"[", "slice '[': expected ] as the last character, number 2"},
        {"", "is no slice"},
        {"1:2", "is no slice"},
        {"[0:3", "slice '[0:3': expected ] as the last character, number 5"},
        {"[]", "character 2, ']': expected an index"},
        {"[ ]", "character 3, ']': expected an index"},
        {"[1,,2]", "character 4, ',': expected an index"},
        {"[,]", "character 2, ',': expected an index"},
        {"[1,,]", "character 4, ',': expected an index"},
        {"[a]", "slice '[a]': character 2, 'a': expected an index, BEGIN:END"},
        {"[0 1:3]", "character 4, '1': expected a comma, a colon"},
        {"[1:2:3:4]", "character 7, ':': a part has two colons at most"},
        {"[...:2]", "character 5, ':': a part has two colons at most, and ... none"},
        {"[1.5]", "character 3, '.': expected a comma"},
        {"[....]", "character 5, '.': expected a comma"},
        {"[- 3]", "character 3, ' ': expected a digit"},
        {"[3:-]", "character 5, ']': expected a digit"},
        {"[1]]", "character 3, ']': expected a comma"},
        {"[0,\u03b1]", "character 4, '\u03b1': expected an index"},
        {"[0,\u03b1\u03b2,1]", "character 4, '\u03b1': expected an index"},
        {"[::0]", "character 4, '0': a step of 0"},
        {"[1:99999999999999999999]", "character 4, '9': the number that begins here does not fit"},
        {"[-9223372036854775809:]", "character 2, '-': the number that begins here does not fit"},
        {"[..., ...]", "character 7, '.': ... can stand once"},
        {"[0,0,0,0,0,0,0,0,0,0]", "more than 9 parts"},
    };
    slc_slice slice;
    slc_slice_view view;
    slc_layout array;
    for (int64_t i = 0; i < TEST_COUNT(bad); i++) {
        TEST_FAILS(slc_slice_parse(bad[i].text, &slice), SLC_ERROR_ARGUMENT, bad[i].message);
    }
    TEST_OK(slc_layout_dense(SLC_F32, 2, (const int64_t[]){12, 7}, &array));
    TEST_OK(slc_slice_parse("[0, 0, 0]", &slice));
    TEST_FAILS(slc_slice_resolve(&slice, "in.h5:/x", &array, &view), SLC_ERROR_ARGUMENT,
               "in.h5:/x: a slice of 3 dimensions: the data has 2 (the shape is 12 x 7)");
    TEST_OK(slc_slice_parse("[:, 7]", &slice));
    TEST_FAILS(
        slc_slice_resolve(&slice, "in.h5:/x", &array, &view), SLC_ERROR_ARGUMENT,
        "in.h5:/x: index 7 in dimension 1 of a slice: the dimension has 7 elements (the shape "
        "is 12 x 7)");
    TEST_OK(slc_slice_parse("[-13]", &slice));
    TEST_FAILS(slc_slice_resolve(&slice, "in.h5:/x", &array, &view), SLC_ERROR_ARGUMENT,
               "index -13 in dimension 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_pythons),
        cmocka_unit_test(dimensions_are_matched),
        cmocka_unit_test(wrong_slices_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
