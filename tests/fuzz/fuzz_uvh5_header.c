/* A UVH5 file whose header is not what it should be, for libFuzzer: HDF5 wrote it, so its structures
 * are sound, but what stands in them is anything. (With HDF5's own structures damaged, that library
 * reads past its buffers, which is not what is looked for here.)
 *
 *     6 bytes for each of up to 12 changes to a good file: the object, what becomes of it, its type,
 *     its shape, and two of which its elements are made; the rest is not used
 *
 * Opening and reading all of it ends in a status, and what is read is finite. */
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 12, CHANNELS = 3, POLS = 2, CHANGE_BYTES = 6, MAX_CHANGES = 12, MAX_BYTES = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* What UVH5 knows; the catalogue's folder is of version 1.1 and later. */
static const char *const names[] = {
    "/Header/version",
    "/Header/Nblts",
    "/Header/Nfreqs",
    "/Header/Npols",
    "/Header/Nspws",
    "/Header/Nphase",
    "/Header/Nants_telescope",
    "/Header/polarization_array",
    "/Header/freq_array",
    "/Header/channel_width",
    "/Header/spw_array",
    "/Header/flex_spw_id_array",
    "/Header/flex_spw_polarization_array",
    "/Header/phase_type",
    "/Header/phase_center_frame",
    "/Header/phase_center_epoch",
    "/Header/phase_center_ra",
    "/Header/phase_center_dec",
    "/Header/phase_center_id_array",
    "/Header/phase_center_catalog",
    "/Header/phase_center_catalog/0/cat_name",
    "/Header/phase_center_catalog/0/cat_type",
    "/Header/phase_center_catalog/0/cat_frame",
    "/Header/phase_center_catalog/0/cat_epoch",
    "/Header/phase_center_catalog/0/cat_lon",
    "/Header/phase_center_catalog/0/cat_lat",
    "/Header/phase_center_catalog/0/cat_times",
    "/Header/phase_center_catalog/1/cat_lon",
    "/Header/phase_center_catalog/x/cat_lat",
    "/Header/uvw_array",
    "/Header/time_array",
    "/Header/lst_array",
    "/Header/integration_time",
    "/Header/ant_1_array",
    "/Header/ant_2_array",
    "/Header/antenna_numbers",
    "/Header/antenna_positions",
    "/Header/telescope_name",
    "/Header/telescope_frame",
    "/Header/object_name",
    "/Header/vis_units",
    "/Header/pol_convention",
    "/Header/timesys",
    "/Header/latitude",
    "/Header/longitude",
    "/Data/visdata",
    "/Data/flags",
    "/Data/nsamples",
    "/Header",
    "/Data",
};

static const double numbers[] = {0.0,      1.0,    -1.0,         2.0,         3.0,
                                 12.0,     1e-300, 1e300,        -1e300,      NAN,
                                 INFINITY, -5.0,   2147483648.0, 9.3e18,      2459000.5,
                                 1e8,      0.5,    -8.0,         4294967296.0};
static const char *const texts[] = {"",     "1.0",        "1.1",      "1.2.3", "phased",
                                    "icrs", "fk5",        "sidereal", "ephem", "unprojected",
                                    "Jy",   "{\"a\": 1}", "\xff\xfe", "ENU"};

static char path[64];
static char *template;
static int64_t template_bytes;

static void make_template(void) {
    (void)snprintf(path, sizeof path, "fuzz-%ld.uvh5", (long)getpid());
    (void)remove(path);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    test_uvh5_create(path, ROWS, CHANNELS, POLS);
    template = test_file_read(path, &template_bytes);
}

static void write_template(void) {
    FILE *file = fopen(path, "wb");
    if (file == NULL ||
        fwrite(template, 1, (size_t)template_bytes, file) != (size_t)template_bytes ||
        fclose(file) != 0) {
        abort();
    }
}

/* ---- changes ---------------------------------------------------------------------------------- */

/* The type of a replaced object. The caller closes it. */
static hid_t type_of(int code) {
    static const char *const pairs[][2] = {{"r", "i"}, {"real", "imag"}, {"", "i"}};
    switch (code % 16) {
    case 0:
        return H5Tcopy(H5T_IEEE_F64LE);
    case 1:
        return H5Tcopy(H5T_IEEE_F32BE);
    case 2:
        return H5Tcopy(H5T_STD_I64LE);
    case 3:
        return H5Tcopy(H5T_STD_U64BE);
    case 4:
        return H5Tcopy(H5T_STD_I8LE);
    case 5:
        return H5Tcopy(H5T_STD_I16BE);
    case 6:
        return H5Tcopy(H5T_STD_REF_OBJ);
    case 7:
        return H5Tcreate(H5T_OPAQUE, 3);
    case 8:
        return H5Tvlen_create(H5T_STD_I32LE);
    case 9:
        return H5Tenum_create(H5T_STD_I8LE);
    case 10:
    case 11:
        return test_h5_complex(code % 16 == 10 ? H5T_IEEE_F32LE : H5T_STD_I32LE,
                               pairs[code / 16 % 2][0], pairs[code / 16 % 2][1]);
    default: {
        const hid_t text = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(text, code % 16 < 14 ? 8 : H5T_VARIABLE);
        return text;
    }
    }
}

/* Shapes that the objects of the file have, and others. */
static hid_t space_of(int code) {
    static const hsize_t shapes[][4] = {{ROWS}, {ROWS, 3},     {ROWS, CHANNELS, POLS},
                                        {POLS}, {CHANNELS},    {ROWS, 1, CHANNELS, POLS},
                                        {1},    {0},           {5, 1, 2, 3},
                                        {2, 3}, {1, CHANNELS}, {ROWS + 1}};
    static const int ranks[] = {1, 2, 3, 1, 1, 4, 1, 1, 4, 2, 2, 1};
    const int k = code % 14;
    if (k >= 12) {
        return H5Screate(k == 12 ? H5S_SCALAR : H5S_NULL);
    }
    return H5Screate_simple(ranks[k], shapes[k], NULL);
}

/* All elements are one number or text; element `at` is the next of the list. */
static void fill(hid_t set, hid_t type, int64_t n, const uint8_t *how) {
    const double number = numbers[how[0] % TEST_COUNT(numbers)];
    const char *const text = texts[how[0] % TEST_COUNT(texts)];
    const bool is_text = H5Tget_class(type) == H5T_STRING;
    const size_t element = is_text && H5Tis_variable_str(type) <= 0 ? H5Tget_size(type) : 8;
    char *memory = test_allocate(n * (int64_t)element + 8);
    memset(memory, how[1], (size_t)n * element);
    if (is_text && H5Tis_variable_str(type) > 0) {
        for (int64_t k = 0; k < n; k++) {
            memcpy(memory + 8 * k, &text, sizeof text);
        }
        (void)H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory);
    } else if (is_text) {
        for (int64_t k = 0; k < n; k++) {
            memcpy(memory + (int64_t)element * k, text, strnlen(text, element));
        }
        (void)H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory);
    } else if (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER) {
        for (int64_t k = 0; k < n; k++) {
            const double other = numbers[how[1] % TEST_COUNT(numbers)];
            memcpy(memory + 8 * k, k == how[1] % 8 ? &other : &number, 8);
        }
        (void)H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory);
    } else if (H5Tget_class(type) != H5T_VLEN && H5Tget_size(type) <= 8) {
        (void)H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory);
    }
    free(memory);
}

/* Changes one element of what is there, as bytes. */
static void patch(hid_t set, const uint8_t *how) {
    const hid_t type = H5Dget_type(set);
    const hid_t space = H5Dget_space(set);
    const int64_t n = H5Sget_simple_extent_npoints(space);
    const int64_t bytes = n * (int64_t)H5Tget_size(type);
    if (bytes > 0 && bytes < MAX_BYTES && H5Tdetect_class(type, H5T_VLEN) <= 0 &&
        H5Tis_variable_str(type) <= 0 && H5Tget_class(type) != H5T_REFERENCE) {
        char *memory = test_allocate(bytes);
        if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory) >= 0) {
            const int64_t at = how[0] * bytes / 256;
            const double number = numbers[how[1] % TEST_COUNT(numbers)];
            if (how[1] < 128 && at / 8 * 8 + 8 <= bytes) {
                memcpy(memory + at / 8 * 8, &number, 8);
            } else {
                memory[at] = (char)how[1];
            }
            (void)H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory);
        }
        free(memory);
    }
    H5Sclose(space);
    H5Tclose(type);
}

static void replace(hid_t file, const char *name, hid_t type, hid_t space, const uint8_t *how) {
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    (void)H5Pset_create_intermediate_group(links, 1);
    (void)H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    if (set >= 0) {
        fill(set, type, H5Sget_simple_extent_npoints(space), how + 4);
        H5Dclose(set);
    }
    H5Pclose(links);
}

/* One change. */
static void change(hid_t file, const uint8_t *how) {
    const char *const name = names[how[0] % TEST_COUNT(names)];
    const hid_t set = how[1] % 4 < 2 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (how[1] % 4 == 3 && how[1] % 3 == 0) {
        (void)H5Ldelete(file, name, H5P_DEFAULT);
    } else if (set >= 0 && how[1] % 4 == 0) {
        patch(set, how + 4);
    } else if (set >= 0) {
        /* The type or the shape stays. */
        const hid_t type = how[1] % 8 == 1 ? H5Dget_type(set) : type_of(how[2]);
        const hid_t space = how[1] % 8 == 1 ? space_of(how[3]) : H5Dget_space(set);
        replace(file, name, type, space, how);
        H5Sclose(space);
        H5Tclose(type);
    } else {
        const hid_t type = type_of(how[2]);
        const hid_t space = space_of(how[3]);
        replace(file, name, type, space, how);
        H5Sclose(space);
        H5Tclose(type);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
}

/* ---- reading ---------------------------------------------------------------------------------- */

static void read_all(slc_source *source) {
    enum { MOST = 100 };
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    if (meta->n_rows > MOST || meta->n_channels > MOST) {
        abort(); /* no dataset here has so many */
    }
    double uvw[MOST * 3];
    float vis[MOST * MOST * 2];
    float weight[MOST * MOST];
    void *const dst[SLC_VIS_N_FIELDS] = {uvw, vis, weight};
    const slc_box box = slc_box_1d(0, meta->n_rows);
    slc_vis_counts counts;
    if (slc_vis_read_counted(source, &box, dst, &counts) != SLC_OK) {
        return;
    }
    for (int64_t k = 0; k < meta->n_rows * meta->n_channels; k++) {
        if (!isfinite(vis[2 * k]) || !isfinite(vis[2 * k + 1]) || !(weight[k] >= 0.0F)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    if (template == NULL) {
        make_template();
    }
    write_template();
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (size_t k = 0; k < MAX_CHANGES && (k + 1) * CHANGE_BYTES <= n_bytes; k++) {
        change(file, data + k * CHANGE_BYTES);
    }
    if (file < 0 || H5Fclose(file) < 0) {
        abort();
    }
    const char *const paths[1] = {path};
    const slc_vis_options options = {0};
    slc_source *source = NULL;
    if (slc_vis_open(paths, 1, &options, &source) == SLC_OK) {
        read_all(source);
        slc_source_destroy(source);
    }
    (void)remove(path);
    return 0;
}
