/* Descriptions of element types as HDF5 itself writes them are sound, in each of the forms; cut short
 * or changed where it matters they are not. */
#include "io/h5_type_check.h"

#include <hdf5.h>

#include "tests/support/test_support.h"

enum { MOST_BYTES = 4096, ADDRESS_BYTES = 8, HEAD_BYTES = 8 };

typedef struct record {
    short number;
    double values[3];
} record;

/* What H5Tencode puts before the message. */
enum { ENCODED_HEAD_BYTES = 2 };

/* The message of a type in the file's form, as H5Tencode gives it; the type is closed. */
static size_t message_of(hid_t type, unsigned char out[MOST_BYTES]) {
    unsigned char encoded[MOST_BYTES];
    size_t n = 0;
    assert_true(type >= 0 && H5Tencode(type, NULL, &n) >= 0);
    assert_true(n > ENCODED_HEAD_BYTES && n < sizeof encoded);
    assert_true(H5Tencode(type, encoded, &n) >= 0 && H5Tclose(type) >= 0);
    memcpy(out, encoded + ENCODED_HEAD_BYTES, n - ENCODED_HEAD_BYTES);
    return n - ENCODED_HEAD_BYTES;
}

static hid_t enum_type(void) {
    const int values[] = {3, 4};
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT);
    assert_true(H5Tenum_insert(type, "THREE", &values[0]) >= 0);
    assert_true(H5Tenum_insert(type, "FOUR", &values[1]) >= 0);
    return type;
}

static hid_t array_type(void) {
    const hsize_t shape[] = {3};
    return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, shape);
}

static hid_t compound_type(void) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(record));
    const hid_t values = array_type();
    assert_true(H5Tinsert(type, "number", HOFFSET(record, number), H5T_NATIVE_SHORT) >= 0);
    assert_true(H5Tinsert(type, "values", HOFFSET(record, values), values) >= 0);
    assert_true(H5Tclose(values) >= 0);
    return type;
}

static hid_t opaque_type(void) {
    const hid_t type = H5Tcreate(H5T_OPAQUE, 5);
    assert_true(H5Tset_tag(type, "what it is") >= 0);
    return type;
}

static hid_t plain(int k) {
    const hid_t types[] = {H5T_NATIVE_INT8,     H5T_STD_U64BE, H5T_IEEE_F32LE,
                           H5T_IEEE_F64BE,      H5T_C_S1,      H5T_STD_REF_OBJ,
                           H5T_STD_REF_DSETREG, H5T_STD_B16LE, H5T_NATIVE_LDOUBLE};
    return k < TEST_COUNT(types) ? H5Tcopy(types[k]) : -1;
}

static void all_forms_are_sound(void **state) {
    (void)state;
    unsigned char message[MOST_BYTES];
    hid_t (*const made[])(void) = {enum_type, array_type, compound_type, opaque_type};
    for (int k = 0; plain(k) >= 0; k++) {
        assert_true(slci_h5_type_check(message, message_of(plain(k), message), ADDRESS_BYTES));
    }
    for (int64_t k = 0; k < TEST_COUNT(made); k++) {
        const size_t n = message_of(made[k](), message);
        assert_true(slci_h5_type_check(message, n, ADDRESS_BYTES));
        for (size_t cut = 0; cut + 8 < n; cut++) { /* the last ones may be filling */
            assert_false(slci_h5_type_check(message, cut, ADDRESS_BYTES));
        }
    }
}

/* The bytes of an element stand at byte 4. */
static void sizes_that_contradict_are_found(void **state) {
    (void)state;
    unsigned char message[MOST_BYTES];
    hid_t (*const made[])(void) = {enum_type, array_type};
    for (int64_t k = 0; k < TEST_COUNT(made); k++) {
        const size_t n = message_of(made[k](), message);
        message[7] = 2;
        assert_false(slci_h5_type_check(message, n, ADDRESS_BYTES));
        message[7] = 0;
        message[4]--;
        assert_false(slci_h5_type_check(message, n, ADDRESS_BYTES));
    }
    const size_t n = message_of(compound_type(), message);
    message[4] = 1; /* members are further on */
    assert_false(slci_h5_type_check(message, n, ADDRESS_BYTES));
}

static void bits_outside_are_found(void **state) {
    (void)state;
    unsigned char message[MOST_BYTES];
    size_t n = message_of(H5Tcopy(H5T_NATIVE_INT16), message);
    message[HEAD_BYTES + 2] = 17; /* bits of the number */
    assert_false(slci_h5_type_check(message, n, ADDRESS_BYTES));
    n = message_of(H5Tcopy(H5T_IEEE_F32LE), message);
    message[HEAD_BYTES + 7] = 200; /* bits of the mantissa */
    assert_false(slci_h5_type_check(message, n, ADDRESS_BYTES));
}

/* Types within types to any depth, each a list of the next. */
static void depth_has_an_end(void **state) {
    (void)state;
    unsigned char message[MOST_BYTES] = {0};
    for (int k = 0; k < MOST_BYTES; k += HEAD_BYTES) {
        message[k] = 0x19; /* version 1, class 9 */
        message[k + 4] = 4 + ADDRESS_BYTES + 4;
    }
    assert_false(slci_h5_type_check(message, sizeof message, ADDRESS_BYTES));
}

/* Later ones than any, and those before the first. */
static void unknown_versions_are_found(void **state) {
    (void)state;
    unsigned char message[MOST_BYTES];
    const size_t n = message_of(enum_type(), message);
    const unsigned char class = message[0] & 0xF;
    for (int version = 0; version <= 0xF; version += 0xF) {
        message[0] = (unsigned char)(class | version << 4);
        assert_false(slci_h5_type_check(message, n, ADDRESS_BYTES));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_sound),
        cmocka_unit_test(sizes_that_contradict_are_found),
        cmocka_unit_test(bits_outside_are_found),
        cmocka_unit_test(depth_has_an_end),
        cmocka_unit_test(unknown_versions_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
