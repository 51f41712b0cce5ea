/* HDF5's types in Sluice's terms. */
#include "io/h5_data.h"
#include "tests/support/test_uvh5.h"

/* Describes a type; `text` holds SLCI_H5_TEXT_BYTES. */
static slci_element describe(hid_t type, char *text) {
    slci_element element;
    int type_class = -1;
    slci_h5_lock();
    slci_h5_type_describe((slci_h5_id)type, &element, &type_class, text, SLCI_H5_TEXT_BYTES);
    slci_h5_unlock();
    assert_int_equal(type_class, (int)H5Tget_class(type));
    return element;
}

static void expect(hid_t type, slci_element_kind kind, int64_t part_bytes, const char *words) {
    char text[SLCI_H5_TEXT_BYTES];
    const slci_element element = describe(type, text);
    assert_string_equal(text, words);
    assert_int_equal(element.kind, kind);
    assert_int_equal(element.bytes, (int64_t)H5Tget_size(type));
    assert_int_equal(element.part_bytes, part_bytes);
}

static void numbers(void **state) {
    (void)state;
    expect(H5T_IEEE_F32LE, SLCI_ELEMENT_FLOAT, 4, "f4");
    expect(H5T_IEEE_F64BE, SLCI_ELEMENT_FLOAT, 8, "f8 big-endian");
    expect(H5T_STD_I16LE, SLCI_ELEMENT_INT, 2, "i2");
    expect(H5T_STD_I32BE, SLCI_ELEMENT_INT, 4, "i4 big-endian");
    expect(H5T_STD_U8LE, SLCI_ELEMENT_UINT, 1, "u1");
    expect(H5T_STD_U64LE, SLCI_ELEMENT_UINT, 8, "u8");
    expect(H5T_STD_B8LE, SLCI_ELEMENT_UINT, 1, "u1");
}

/* Half precision, and formats that only look like numbers. */
static void uncommon_numbers(void **state) {
    (void)state;
    hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
    expect(type, SLCI_ELEMENT_FLOAT, 2, "f2");
    H5Tset_ebias(type, 16);
    expect(type, SLCI_ELEMENT_OTHER, 2, "float that is not IEEE of 2 bytes");
    H5Tclose(type);
    type = H5Tcopy(H5T_STD_I32LE);
    H5Tset_precision(type, 24); /* bits to spare */
    expect(type, SLCI_ELEMENT_OTHER, 4, "integer of uncommon size of 4 bytes");
    H5Tclose(type);
}

static void booleans_are_enums(void **state) {
    (void)state;
    char text[SLCI_H5_TEXT_BYTES];
    const hid_t type = H5Tenum_create(H5T_STD_I8LE);
    int8_t value = 0;
    H5Tenum_insert(type, "FALSE", &value);
    value = 1;
    H5Tenum_insert(type, "TRUE", &value);
    expect(type, SLCI_ELEMENT_INT, 1, "enum i1");
    assert_true(describe(type, text).is_enum);
    H5Tclose(type);
}

static void expect_offsets(hid_t type, int64_t real_offset, int64_t imag_offset) {
    char text[SLCI_H5_TEXT_BYTES];
    const slci_element element = describe(type, text);
    assert_int_equal(element.real_offset, real_offset);
    assert_int_equal(element.imag_offset, imag_offset);
    H5Tclose(type);
}

static void two_equal_parts_are_complex(void **state) {
    (void)state;
    hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    expect(type, SLCI_ELEMENT_COMPLEX_FLOAT, 4, "compound {r: f4, i: f4}");
    expect_offsets(type, 0, 4);
    type = test_h5_complex(H5T_STD_I32BE, "real", "imag");
    expect(type, SLCI_ELEMENT_COMPLEX_INT, 4,
           "compound {real: i4 big-endian, imag: i4 big-endian}");
    expect_offsets(type, 0, 4);
    /* The first member is the real part unless its name says otherwise. */
    type = test_h5_complex(H5T_IEEE_F64LE, "imag", "real");
    expect(type, SLCI_ELEMENT_COMPLEX_FLOAT, 8, "compound {imag: f8, real: f8}");
    expect_offsets(type, 8, 0);
    type = test_h5_complex(H5T_IEEE_F64LE, "a", "b");
    expect(type, SLCI_ELEMENT_COMPLEX_FLOAT, 8, "compound {a: f8, b: f8}");
    expect_offsets(type, 0, 8);
}

static void other_compounds_are_not(void **state) {
    (void)state;
    hid_t type = H5Tcreate(H5T_COMPOUND, 12);
    H5Tinsert(type, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(type, "i", 4, H5T_IEEE_F64LE);
    expect(type, SLCI_ELEMENT_OTHER, 12, "compound {r: f4, i: f8}");
    H5Tclose(type);
    type = H5Tcreate(H5T_COMPOUND, 12);
    H5Tinsert(type, "x", 0, H5T_IEEE_F32LE);
    H5Tinsert(type, "y", 4, H5T_IEEE_F32LE);
    H5Tinsert(type, "z", 8, H5T_IEEE_F32LE);
    expect(type, SLCI_ELEMENT_OTHER, 12, "compound {x: f4, y: f4, z: f4}");
    H5Tclose(type);
    type = test_h5_complex(H5T_STD_U16LE, "r", "i"); /* no negative real parts: not a visibility */
    expect(type, SLCI_ELEMENT_OTHER, 4, "compound {r: u2, i: u2}");
    H5Tclose(type);
}

static void texts_and_the_rest(void **state) {
    (void)state;
    char text[SLCI_H5_TEXT_BYTES];
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 7);
    expect(type, SLCI_ELEMENT_TEXT, 7, "string");
    assert_false(describe(type, text).is_space_padded);
    H5Tset_strpad(type, H5T_STR_SPACEPAD);
    assert_true(describe(type, text).is_space_padded);
    H5Tset_size(type, H5T_VARIABLE);
    expect(type, SLCI_ELEMENT_TEXT_VARIABLE, (int64_t)sizeof(char *), "variable string");
    H5Tclose(type);
    type = H5Tcreate(H5T_OPAQUE, 5);
    expect(type, SLCI_ELEMENT_OTHER, 5, "opaque of 5 bytes");
    const hid_t three = H5Tarray_create2(H5T_STD_I32LE, 1, (const hsize_t[]){3});
    expect(three, SLCI_ELEMENT_OTHER, 12, "array of 12 bytes");
    H5Tclose(three);
    expect(H5T_STD_REF_OBJ, SLCI_ELEMENT_OTHER, 8, "reference of 8 bytes");
    expect(H5T_NATIVE_LDOUBLE, SLCI_ELEMENT_OTHER, 16,
           "float that is not IEEE of 16 bytes (long double)");
    H5Tclose(type);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(uncommon_numbers),
        cmocka_unit_test(booleans_are_enums),
        cmocka_unit_test(two_equal_parts_are_complex),
        cmocka_unit_test(other_compounds_are_not),
        cmocka_unit_test(texts_and_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
