/* The checksum of HDF5's newer structures: the values that its author gives, and those that HDF5 itself
 * has written. */
#include "io/h5_lookup3.h"

#include <hdf5.h>

#include "tests/support/test_uvh5.h"

/* From the self-test at the end of http://burtleburtle.net/bob/c/lookup3.c. */
static void the_author_s_values(void **state) {
    (void)state;
    static const char text[] = "Four score and seven years ago";
    assert_int_equal(slci_h5_lookup3((const unsigned char *)text, 30), 0x17770551);
    assert_int_equal(slci_h5_lookup3((const unsigned char *)"", 0), 0xDEADBEEF);
}

/* A header of the newer form: of each length of a name, so that the last twelve bytes are of each. */
static void hdf5_s_values(void **state) {
    const test_place *self = *state;
    enum { PREFIX = 6, TIMES = 16, SUM = 4 };
    for (int n_name = 1; n_name <= 24; n_name++) {
        char name[32] = "";
        int64_t n = 0;
        memset(name, 'a', (size_t)n_name);
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        const hid_t file = H5Fcreate(self->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        const hid_t space = H5Screate(H5S_SCALAR);
        H5Aclose(H5Acreate2(file, name, H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
        H5Fclose(file);
        H5Pclose(access);
        unsigned char *bytes = (unsigned char *)test_file_read(self->path, &n);
        int64_t at = 0;
        while (at + PREFIX < n && memcmp(bytes + at, "OHDR\2", 5) != 0) {
            at++;
        }
        assert_true(at + PREFIX < n);
        const int size_bytes = 1 << (bytes[at + 5] & 3);
        int64_t length = PREFIX + ((bytes[at + 5] & 0x20) != 0 ? TIMES : 0);
        const int64_t chunk =
            bytes[at + length] + (size_bytes > 1 ? 256 * bytes[at + length + 1] : 0);
        length += size_bytes + chunk;
        uint32_t sum = 0;
        for (int k = SUM; k-- > 0;) {
            sum = sum << 8 | bytes[at + length + k];
        }
        assert_int_equal(slci_h5_lookup3(bytes + at, length), sum);
        free(bytes);
    }
}

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_author_s_values),
        cmocka_unit_test_setup_teardown(hdf5_s_values, make, test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
