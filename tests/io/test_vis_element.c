/* Numbers in every spelling that files have. */
#include <math.h>

#include "io/vis_element.h"
#include "tests/support/test_support.h"

static slci_element real_type(slci_element_kind kind, int64_t bytes, bool is_big_endian) {
    return (slci_element){.kind = kind,
                          .bytes = bytes,
                          .part_bytes = bytes,
                          .is_big_endian = is_big_endian};
}

static void reads_halves(void **state) {
    (void)state;
    /* 1, -2, 65504 (largest), 2^-24 (smallest), infinity, 1/3 rounded */
    const uint16_t bits[6] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x3555};
    const slci_element type = real_type(SLCI_ELEMENT_FLOAT, 2, false);
    double out[6];
    slci_element_to_f64(&type, bits, 2, 6, out);
    assert_true(out[0] == 1.0 && out[1] == -2.0 && out[2] == 65504.0);
    assert_true(out[3] == ldexp(1.0, -24) && isinf(out[4]) && out[5] == 0.333251953125);
    const uint16_t nan_bits = 0x7E00;
    slci_element_to_f64(&type, &nan_bits, 2, 1, out);
    assert_true(isnan(out[0]));
}

static void reads_either_byte_order(void **state) {
    (void)state;
    const unsigned char big[8] = {0x40, 0x09, 0x21, 0xFB, 0x54, 0x44, 0x2D, 0x18}; /* pi */
    const slci_element f64_big = real_type(SLCI_ELEMENT_FLOAT, 8, true);
    const slci_element i16_big = real_type(SLCI_ELEMENT_INT, 2, true);
    const slci_element u32_little = real_type(SLCI_ELEMENT_UINT, 4, false);
    double out = 0;
    slci_element_to_f64(&f64_big, big, 8, 1, &out);
    assert_true(out == 3.141592653589793);
    const unsigned char minus_two[2] = {0xFF, 0xFE};
    int64_t integer = 0;
    slci_element_to_i64(&i16_big, minus_two, 2, 1, &integer);
    assert_int_equal(integer, -2);
    const unsigned char large[4] = {0xFE, 0xFF, 0xFF, 0xFF};
    slci_element_to_i64(&u32_little, large, 4, 1, &integer);
    assert_true(integer == 4294967294);
}

static void unsigned_64_is_not_negative(void **state) {
    (void)state;
    const uint64_t large = UINT64_MAX;
    const slci_element type = real_type(SLCI_ELEMENT_UINT, 8, false);
    double out = 0;
    slci_element_to_f64(&type, &large, 8, 1, &out);
    assert_true(out == 18446744073709551616.0);
}

static void any_bit_is_a_flag(void **state) {
    (void)state;
    const uint8_t bytes[4] = {0, 1, 2, 255};
    const uint32_t words[4] = {0, 0x01000000, 7, 0};
    const slci_element u8 = real_type(SLCI_ELEMENT_UINT, 1, false);
    const slci_element i32_big = real_type(SLCI_ELEMENT_INT, 4, true);
    uint8_t out[4];
    slci_element_to_flags(&u8, bytes, 1, 4, out);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 1 && out[3] == 1);
    slci_element_to_flags(&i32_big, words, 4, 4, out);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 1 && out[3] == 0);
}

static void complex_members_lie_anywhere(void **state) {
    (void)state;
    const int16_t pairs[4] = {3, -4, 5, 6}; /* imaginary first */
    const slci_element type = {.kind = SLCI_ELEMENT_COMPLEX_INT,
                               .bytes = 4,
                               .part_bytes = 2,
                               .real_offset = 2,
                               .imag_offset = 0};
    double out[4];
    slci_element_to_complex(&type, pairs, 4, 2, out);
    assert_true(out[0] == -4.0 && out[1] == 3.0 && out[2] == 6.0 && out[3] == 5.0);
}

static void strides_skip_elements(void **state) {
    (void)state;
    const float pairs[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const slci_element type = {.kind = SLCI_ELEMENT_COMPLEX_FLOAT,
                               .bytes = 8,
                               .part_bytes = 4,
                               .imag_offset = 4};
    double out[4];
    slci_element_to_complex(&type, pairs, 16, 2, out);
    assert_true(out[0] == 1.0 && out[1] == 2.0 && out[2] == 5.0 && out[3] == 6.0);
}

static void names_types(void **state) {
    (void)state;
    char text[64];
    const slci_element type = real_type(SLCI_ELEMENT_INT, 2, true);
    slci_element_text(&type, text, sizeof text);
    assert_string_equal(text, "i2 big-endian");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_halves),
        cmocka_unit_test(reads_either_byte_order),
        cmocka_unit_test(unsigned_64_is_not_negative),
        cmocka_unit_test(any_bit_is_a_flag),
        cmocka_unit_test(complex_members_lie_anywhere),
        cmocka_unit_test(strides_skip_elements),
        cmocka_unit_test(names_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
