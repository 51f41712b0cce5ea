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

static void put_attribute(hid_t object, const char *name, hid_t type, hsize_t n,
                          const void *values) {
    const hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, values) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static hid_t text_type(size_t bytes) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, bytes) >= 0);
    return type;
}

static void put_scale(hid_t file, const char *name, int64_t n) {
    const hsize_t length = (hsize_t)n;
    const hid_t space = H5Screate_simple(1, &length, NULL);
    const hid_t text = text_type(sizeof "DIMENSION_SCALE");
    const double fill = TEST_SCALE_FILL;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill) >= 0);
    const hid_t scale =
        H5Dcreate2(file, name, H5T_IEEE_F64BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    double *values = test_allocate(n * 8);
    for (int64_t k = 0; k < n; k++) {
        values[k] = 0.5 * (double)k;
    }
    assert_true(H5Dwrite(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    put_attribute(scale, "CLASS", text, 0, "DIMENSION_SCALE");
    free(values);
    H5Pclose(list);
    H5Dclose(scale);
    H5Tclose(text);
    H5Sclose(space);
}

void test_rewrite_describe(const char *path, const char *dataset, int d, const char *name) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    const hid_t text = text_type(3);
    const hid_t label = text_type(H5T_VARIABLE);
    const hid_t list = H5Tvlen_create(H5T_STD_REF_OBJ);
    hsize_t shape[SLC_MAX_RANK] = {0};
    hobj_ref_t reference;
    hvl_t lists[SLC_MAX_RANK] = {{0, NULL}};
    const char *labels[SLC_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    assert_true(file >= 0 && set >= 0 && rank > d);
    put_scale(file, name, (int64_t)shape[d]);
    assert_true(H5Rcreate(&reference, file, name, H5R_OBJECT, -1) >= 0);
    for (int k = 0; k < rank; k++) {
        labels[k] = k == d ? "along" : "";
    }
    lists[d] = (hvl_t){1, &reference};
    put_attribute(set, "units", text, 0, "Jy");
    put_attribute(set, "DIMENSION_LABELS", label, (hsize_t)rank, labels);
    put_attribute(set, "DIMENSION_LIST", list, (hsize_t)rank, lists);
    H5Tclose(list);
    H5Tclose(label);
    H5Tclose(text);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
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

slc_rewrite_options test_rewrite_options(const test_way *way) {
    return (slc_rewrite_options){.in = {.path = way->in, .dataset = "/x"},
                                 .out_path = way->out,
                                 .out = "/g/y",
                                 .run = {.vram_bytes = 64 << 20,
                                         .ram_bytes = 64 << 20,
                                         .device = SLC_CHOOSE_HOST,
                                         .n_threads = 2,
                                         .overwrite = true}};
}
