/* Files for the tests of io/. */
#include "tests/support/test_uvh5.h"

static hid_t open_or_create(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    }
    fclose(file);
    return H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
}

void test_h5_put(const char *path, const char *name, hid_t file_type, hid_t memory_type, int rank,
                 const int64_t *shape, hid_t list, const void *data) {
    hsize_t dims[SLC_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        dims[d] = (hsize_t)shape[d];
    }
    const hid_t file = open_or_create(path);
    assert_true(file >= 0);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    assert_true(H5Pset_create_intermediate_group(links, 1) >= 0);
    htri_t exists = 0;
    H5E_BEGIN_TRY {
        exists = H5Lexists(file, name, H5P_DEFAULT); /* an error where the group is missing */
    }
    H5E_END_TRY;
    if (exists > 0) {
        assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    }
    const hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
    const hid_t set = H5Dcreate2(file, name, file_type, space, links, list, H5P_DEFAULT);
    assert_true(set >= 0);
    if (data != NULL) {
        assert_true(H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    }
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(links);
    assert_true(H5Fclose(file) >= 0);
}

void test_h5_put_f64(const char *path, const char *name, int rank, const int64_t *shape,
                     const double *data) {
    test_h5_put(path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, shape, H5P_DEFAULT, data);
}

void test_h5_put_i64(const char *path, const char *name, int rank, const int64_t *shape,
                     const int64_t *data) {
    test_h5_put(path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, rank, shape, H5P_DEFAULT, data);
}

void test_h5_put_number(const char *path, const char *name, double value) {
    test_h5_put_f64(path, name, 0, NULL, &value);
}

void test_h5_put_integer(const char *path, const char *name, int64_t value) {
    test_h5_put_i64(path, name, 0, NULL, &value);
}

void test_h5_put_text(const char *path, const char *name, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    test_h5_put(path, name, type, type, 0, NULL, H5P_DEFAULT, text);
    H5Tclose(type);
}

void test_h5_put_attribute(const char *path, const char *name, double value) {
    const hid_t file = open_or_create(path);
    const hid_t space = H5Screate(H5S_SCALAR);
    if (H5Aexists(file, name) > 0) {
        H5Adelete(file, name);
    }
    const hid_t attribute = H5Acreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Fclose(file);
}

void test_h5_remove(const char *path, const char *name) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0 && H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

void test_h5_rename(const char *path, const char *from, const char *to) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Lmove(file, from, file, to, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

void test_h5_set_filters(hid_t list, int64_t choice) {
    if (choice & 1) {
        H5Pset_shuffle(list);
    }
    if (choice & 2) {
        H5Pset_deflate(list, 1);
    }
    if (choice & 4) {
        H5Pset_fletcher32(list);
    }
}

hid_t test_h5_text(void) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0);
    return type;
}

hid_t test_h5_complex(hid_t part, const char *first, const char *second) {
    const size_t bytes = H5Tget_size(part);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * bytes);
    assert_true(H5Tinsert(type, first, 0, part) >= 0);
    assert_true(H5Tinsert(type, second, bytes, part) >= 0);
    return type;
}

double test_uvh5_real(int64_t row, int64_t channel, int64_t pol) {
    return (double)(row + 100 * channel + 10000 * pol);
}

double test_uvh5_imag(int64_t row, int64_t channel, int64_t pol) {
    return (double)(-2 * row + channel - pol);
}

static void create_data(const char *path, int64_t n_rows, int64_t n_channels, int64_t n_pols) {
    const int64_t n = n_rows * n_channels * n_pols;
    const int64_t shape[3] = {n_rows, n_channels, n_pols};
    float *vis = test_allocate(n * 8);
    float *nsamples = test_allocate(n * 4);
    int8_t *flags = test_allocate(n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = k / (n_channels * n_pols);
        const int64_t channel = k / n_pols % n_channels;
        vis[2 * k] = (float)test_uvh5_real(row, channel, k % n_pols);
        vis[2 * k + 1] = (float)test_uvh5_imag(row, channel, k % n_pols);
        nsamples[k] = 1.0F;
        flags[k] = 0;
    }
    const hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    test_h5_put(path, "/Data/visdata", type, type, 3, shape, H5P_DEFAULT, vis);
    H5Tclose(type);
    test_h5_put(path, "/Data/nsamples", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape, H5P_DEFAULT,
                nsamples);
    const hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
    int8_t value = 0;
    H5Tenum_insert(boolean, "FALSE", &value);
    value = 1;
    H5Tenum_insert(boolean, "TRUE", &value);
    test_h5_put(path, "/Data/flags", boolean, boolean, 3, shape, H5P_DEFAULT, flags);
    H5Tclose(boolean);
    free(vis);
    free(nsamples);
    free(flags);
}

static void create_rows(const char *path, int64_t n_rows) {
    const int64_t uvw_shape[2] = {n_rows, 3};
    double *numbers = test_allocate(n_rows * 24);
    int64_t *integers = test_allocate(n_rows * 8);
    for (int64_t k = 0; k < n_rows; k++) {
        numbers[3 * k] = (double)(k + 1);
        numbers[3 * k + 1] = (double)(2 * k);
        numbers[3 * k + 2] = -(double)k;
    }
    test_h5_put_f64(path, "/Header/uvw_array", 2, uvw_shape, numbers);
    for (int64_t k = 0; k < n_rows; k++) {
        numbers[k] = 2459000.5 + (double)(k / 4) * 10.0 / 86400.0;
        integers[k] = k % 4;
    }
    test_h5_put_f64(path, "/Header/time_array", 1, &n_rows, numbers);
    test_h5_put_i64(path, "/Header/ant_1_array", 1, &n_rows, integers);
    for (int64_t k = 0; k < n_rows; k++) {
        numbers[k] = 10.0;
        integers[k] = k % 4 + 1 + k % 3;
    }
    test_h5_put_f64(path, "/Header/integration_time", 1, &n_rows, numbers);
    test_h5_put_i64(path, "/Header/ant_2_array", 1, &n_rows, integers);
    free(numbers);
    free(integers);
}

void test_uvh5_create(const char *path, int64_t n_rows, int64_t n_channels, int64_t n_pols) {
    static const int64_t codes[4] = {-5, -6, -7, -8};
    double *numbers = test_allocate(n_channels * 8);
    test_h5_put_text(path, "/Header/version", "1.0");
    test_h5_put_integer(path, "/Header/Nblts", n_rows);
    test_h5_put_integer(path, "/Header/Nfreqs", n_channels);
    test_h5_put_integer(path, "/Header/Npols", n_pols);
    test_h5_put_integer(path, "/Header/Nspws", 1);
    test_h5_put_i64(path, "/Header/polarization_array", 1, &n_pols, codes);
    for (int64_t c = 0; c < n_channels; c++) {
        numbers[c] = 1e8 + 1e6 * (double)c;
    }
    test_h5_put_f64(path, "/Header/freq_array", 1, &n_channels, numbers);
    test_h5_put_number(path, "/Header/channel_width", 1e6);
    free(numbers);
    test_h5_put_text(path, "/Header/telescope_name", "TEST");
    test_h5_put_text(path, "/Header/object_name", "field");
    test_h5_put_text(path, "/Header/vis_units", "Jy");
    test_h5_put_text(path, "/Header/phase_type", "phased");
    test_h5_put_text(path, "/Header/phase_center_frame", "icrs");
    test_h5_put_number(path, "/Header/phase_center_ra", 1.25);
    test_h5_put_number(path, "/Header/phase_center_dec", -0.25);
    test_h5_put_number(path, "/Header/latitude", -30.0);
    test_h5_put_number(path, "/Header/longitude", 20.0);
    create_rows(path, n_rows);
    create_data(path, n_rows, n_channels, n_pols);
}

slc_status test_vis_try(const char *path, const slc_vis_options *options) {
    const slc_vis_options none = {0};
    slc_source *source = NULL;
    const slc_status status = slc_vis_open(&path, 1, options == NULL ? &none : options, &source);
    if (status == SLC_OK) {
        slc_source_destroy(source);
    }
    return status;
}

slc_source *test_vis_open(const char *path, const slc_vis_options *options) {
    const slc_vis_options none = {0};
    slc_source *source = NULL;
    TEST_OK(slc_vis_open(&path, 1, options == NULL ? &none : options, &source));
    return source;
}

void test_vis_read(slc_source *source, int64_t box_rows, test_vis *out) {
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    const int64_t n = meta->n_rows;
    const int64_t n_channels = meta->n_channels;
    memset(out, 0, sizeof *out);
    out->n_rows = n;
    out->n_channels = n_channels;
    out->uvw = test_allocate(n * 24);
    out->vis = test_allocate(n * n_channels * 8);
    out->weight = test_allocate(n * n_channels * 4);
    const int64_t step = box_rows > 0 ? box_rows : n + 1;
    for (int64_t row = 0; row < n; row += step) {
        const slc_box box = slc_box_1d(row, row + step < n ? step : n - row);
        void *const dst[SLC_VIS_N_FIELDS] = {out->uvw + 3 * row, out->vis + 2 * row * n_channels,
                                             out->weight + row * n_channels};
        slc_vis_counts counts;
        TEST_OK(slc_vis_read_counted(source, &box, dst, &counts));
        out->counts.total += counts.total;
        out->counts.flagged += counts.flagged;
        out->counts.nonfinite += counts.nonfinite;
        out->counts.zero_weight += counts.zero_weight;
        out->counts.bad_weight += counts.bad_weight;
    }
}

void test_vis_free(test_vis *vis) {
    free(vis->uvw);
    free(vis->vis);
    free(vis->weight);
}

bool test_vis_equal(const test_vis *a, const test_vis *b) {
    const size_t n = (size_t)(a->n_rows * a->n_channels);
    return a->n_rows == b->n_rows && a->n_channels == b->n_channels &&
           memcmp(a->uvw, b->uvw, (size_t)a->n_rows * 24) == 0 &&
           memcmp(a->vis, b->vis, n * 8) == 0 && memcmp(a->weight, b->weight, n * 4) == 0 &&
           memcmp(&a->counts, &b->counts, sizeof a->counts) == 0;
}
