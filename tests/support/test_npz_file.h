/* .npz archives written byte by byte, so that tests need no zip library: members stored, or deflated as
 * stored blocks.
 *
 *     test_npz zip = {.n = 0};
 *     test_npz_add_array(&zip, &(test_npz_array){"u.npy", "<f8", "False", "(6,)", true, u, sizeof u});
 *     test_npz_save(&zip, path);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_NPZ_FILE_H
#define SLC_TESTS_SUPPORT_TEST_NPZ_FILE_H

#include "tests/support/test_support.h"

/* An archive in the making: zeros are an empty one. A member holds at most 65,535 bytes. */
typedef struct test_npz {
    unsigned char bytes[16384], directory[2048];
    size_t n, n_directory;
    unsigned n_members;
} test_npz;

/* A member that is an array, in NumPy's words. */
typedef struct test_npz_array {
    const char *name, *type, *order, *shape;
    bool is_deflated;
    const void *data;
    size_t n; /* bytes */
} test_npz_array;

void test_npz_add_array(test_npz *zip, const test_npz_array *array);

/* Any bytes. */
void test_npz_add_member(test_npz *zip, const char *name, bool is_deflated,
                         const unsigned char *data, size_t n);

void test_npz_save(const test_npz *zip, const char *path);

#endif
