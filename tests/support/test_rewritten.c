#include "tests/support/test_rewritten.h"

#include <hdf5.h>

#include "tests/support/test_uvh5.h"

int32_t test_rewrite_value(const test_array *array, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < array->rank; d++) {
        at = at * array->shape[d] + index[d];
    }
    return (int32_t)at;
}

static int64_t count_of(int rank, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= shape[d];
    }
    return n;
}

void test_rewrite_put(const char *path, const char *name, const test_array *array) {
    const int64_t n = count_of(array->rank, array->shape);
    int32_t *values = test_allocate(n * 4);
    hsize_t chunk[SLC_MAX_RANK];
    for (int64_t k = 0; k < n; k++) {
        values[k] = (int32_t)k;
    }
    for (int d = 0; d < array->rank; d++) {
        chunk[d] = (hsize_t)array->chunk[d];
    }
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (array->rank > 0 && array->chunk[0] > 0) {
        assert_true(H5Pset_chunk(list, array->rank, chunk) >= 0);
        assert_true(!array->is_deflated || H5Pset_deflate(list, 1) >= 0);
    }
    test_h5_put(path, name, H5T_STD_I32LE, H5T_NATIVE_INT32, array->rank, array->shape, list,
                values);
    H5Pclose(list);
    free(values);
}

int32_t *test_rewrite_get(const char *path, const char *name, int rank, const int64_t *shape) {
    int32_t *values = test_allocate(count_of(rank, shape) * 4);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    hsize_t found[SLC_MAX_RANK] = {0};
    assert_true(file >= 0 && set >= 0);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    H5Sget_simple_extent_dims(space, found, NULL);
    for (int d = 0; d < rank; d++) {
        assert_int_equal(found[d], shape[d]);
    }
    assert_true(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return values;
}

void test_rewrite_expect(const char *path, const char *name, const test_array *array,
                         const int *order) {
    int64_t shape[SLC_MAX_RANK] = {0};
    int64_t place[SLC_MAX_RANK] = {0}; /* in the result */
    int64_t index[SLC_MAX_RANK] = {0};
    for (int d = 0; d < array->rank; d++) {
        shape[d] = array->shape[order[d]];
    }
    int32_t *values = test_rewrite_get(path, name, array->rank, shape);
    for (int64_t k = 0; k < count_of(array->rank, shape); k++) {
        for (int d = 0; d < array->rank; d++) {
            index[order[d]] = place[d];
        }
        if (values[k] != test_rewrite_value(array, index)) {
            fail_msg("element %lld is %d, expected %d", (long long)k, values[k],
                     test_rewrite_value(array, index));
        }
        for (int d = array->rank - 1; d >= 0 && ++place[d] == shape[d]; d--) {
            place[d] = 0;
        }
    }
    free(values);
}

void test_expect_same_files(const char *a, const char *b) {
    int64_t n_bytes[2] = {0};
    char *bytes[2] = {test_file_read(a, &n_bytes[0]), test_file_read(b, &n_bytes[1])};
    assert_int_equal(n_bytes[0], n_bytes[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)n_bytes[0]);
    free(bytes[0]);
    free(bytes[1]);
}
