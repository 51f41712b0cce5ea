/* Sluice's own HDF5 pictures as models: /image, [y, x] or [plane, y, x], with the keywords of a FITS
 * header as attributes. The pixels are read as any other array is (io/h5_array.h). */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "io/h5_array.h"
#include "io/h5_file.h"
#include "io/h5_heap.h"
#include "io/model_file.h"

#define DATASET "/image"

slc_h5_reading slc_model_reading(const char *path) {
    static const char *const names[] = {DATASET};
    return (slc_h5_reading){.path = path, .names = names, .n_names = 1};
}

typedef struct h5_model {
    slci_model_file base;
    slc_source *pixels;
    slci_h5_id file;
    int rank;
} h5_model;

/* Opens an attribute of the dataset, with the lock held; negative where there is none. */
static hid_t open_attribute(const h5_model *model, const char *name) {
    if (H5Aexists_by_name((hid_t)model->file, DATASET, name, H5P_DEFAULT) <= 0) {
        return -1;
    }
    return H5Aopen_by_name((hid_t)model->file, DATASET, name, H5P_DEFAULT, H5P_DEFAULT);
}

static bool is_single_value(hid_t attribute) {
    const hid_t space = H5Aget_space(attribute);
    const bool is_single = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    (void)H5Sclose(space);
    return is_single;
}

static bool h5_model_real(slci_model_file *file, const char *name, double *out) {
    double value = 0.0;
    slci_h5_lock();
    const hid_t attribute = open_attribute((const h5_model *)file, name);
    const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const bool is_number = (kind == H5T_INTEGER || kind == H5T_FLOAT) &&
                           is_single_value(attribute) &&
                           H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    slci_h5_unlock();
    if (is_number) {
        *out = value;
    }
    return is_number;
}

/* Text of fixed size, as Sluice writes it. */
static bool read_fixed(hid_t attribute, hid_t type, char out[SLCI_MODEL_TEXT_BYTES]) {
    return H5Tget_size(type) < SLCI_MODEL_TEXT_BYTES && H5Aread(attribute, type, out) >= 0;
}

/* Text of any size, as h5py writes it. HDF5 follows its address unseen. */
static bool read_variable(hid_t attribute, hid_t type, char out[SLCI_MODEL_TEXT_BYTES]) {
    char *value = NULL;
    const bool is_read = slci_h5_attribute_is_sound(attribute) &&
                         H5Aread(attribute, type, &value) >= 0 && value != NULL;
    const bool fits = is_read && strlen(value) < SLCI_MODEL_TEXT_BYTES;
    if (fits) {
        memcpy(out, value, strlen(value) + 1);
    }
    (void)H5free_memory(value);
    return fits;
}

static bool h5_model_text(slci_model_file *file, const char *name,
                          char out[SLCI_MODEL_TEXT_BYTES]) {
    char text[SLCI_MODEL_TEXT_BYTES] = "";
    slci_h5_lock();
    const hid_t attribute = open_attribute((const h5_model *)file, name);
    const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const bool is_single =
        type >= 0 && H5Tget_class(type) == H5T_STRING && is_single_value(attribute);
    const bool is_text =
        is_single && (H5Tis_variable_str(type) > 0 ? read_variable(attribute, type, text)
                                                   : read_fixed(attribute, type, text));
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    slci_h5_unlock();
    if (is_text) {
        memcpy(out, text, sizeof text);
    }
    return is_text;
}

static slc_status h5_model_read(slci_model_file *file, const slci_model_window *window, void *dst) {
    h5_model *model = (h5_model *)file;
    const int first = model->rank - 2;
    slc_box box = {.rank = model->rank};
    if (first == 1) {
        box.origin[0] = window->plane;
        box.extent[0] = 1;
    }
    box.origin[first] = window->y;
    box.extent[first] = window->ny;
    box.origin[first + 1] = window->x;
    box.extent[first + 1] = window->nx;
    void *const fields[] = {dst};
    return slc_source_read(model->pixels, &box, fields);
}

static int64_t h5_model_reader_bytes(const slci_model_file *file) {
    return slc_h5_array_reader_bytes(((const h5_model *)file)->pixels, 1);
}

static void h5_model_close(slci_model_file *file) {
    h5_model *model = (h5_model *)file;
    slc_source_destroy(model->pixels);
    if (model->file > 0) {
        slci_h5_close(model->file);
    }
    free(model);
}

static const slci_model_file_ops h5_ops = {.real = h5_model_real,
                                           .text = h5_model_text,
                                           .read = h5_model_read,
                                           .reader_bytes = h5_model_reader_bytes,
                                           .close = h5_model_close};

static slc_status open_h5(h5_model *model, slc_log *log) {
    slci_model_file *file = &model->base;
    const slc_h5_array_options options = {.path = file->path, .dataset = DATASET, .log = log};
    SLC_TRY(slc_h5_array_open(&options, &model->pixels));
    SLC_TRY(slci_h5_open(file->path, log, &model->file));
    const slc_layout *layout = &model->pixels->fields[0];
    model->rank = layout->rank;
    if (layout->rank < 2 || layout->rank > 3 ||
        (layout->dtype != SLC_F32 && layout->dtype != SLC_F64)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: " DATASET " is %s with %d dimensions, expected a real picture, f4 or "
                        "f8 [y, x] or [plane, y, x]",
                        file->path, slc_dtype_name(layout->dtype), layout->rank);
    }
    file->n_axes = layout->rank;
    for (int d = 0; d < layout->rank; d++) {
        file->shape[d] = layout->shape[layout->rank - 1 - d];
    }
    file->dtype = layout->dtype;
    return SLC_OK;
}

slc_status slci_model_h5_open(const char *path, slc_log *log, slci_model_file **out) {
    h5_model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", path);
    }
    model->base.ops = &h5_ops;
    model->base.path = path;
    const slc_status status = open_h5(model, log);
    if (status != SLC_OK) {
        h5_model_close(&model->base);
        return status;
    }
    *out = &model->base;
    return SLC_OK;
}
