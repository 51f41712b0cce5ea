/* Small values are read whole. A header string can be long (histories of ten kilobytes are common), so
 * it is read into memory of its own size and then cut to what the caller has room for. */
#include "io/h5_header.h"

#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"

/* No header string is longer; a damaged one may claim to be. */
#define MAX_TEXT_BYTES ((int64_t)64 << 20)

static int64_t element_count(const slci_h5_dataset *dataset) {
    int64_t n = dataset->is_null ? 0 : 1;
    for (int d = 0; d < dataset->rank; d++) {
        n *= dataset->shape[d]; /* checked when the dataset was opened */
    }
    return n;
}

static slc_status read_all(const slci_h5_dataset *dataset, void *raw) {
    const int64_t origin[SLC_MAX_RANK] = {0};
    return slci_h5_dataset_read(dataset, origin, dataset->shape, raw);
}

/* Opens a dataset of numbers; is_null and nothing else is set where `is_optional` and it is missing. */
static slc_status open_number(slci_h5_id file, const char *path, const char *name, bool is_optional,
                              slci_h5_dataset *out) {
    memset(out, 0, sizeof *out);
    slci_h5_kind kind = SLCI_H5_DATASET;
    if (is_optional) {
        SLC_TRY(slci_h5_find(file, path, name, &kind));
    }
    if (kind == SLCI_H5_ABSENT) {
        out->is_null = true;
        return SLC_OK;
    }
    SLC_TRY(slci_h5_dataset_open(file, path, name, out));
    if (!out->is_null && !slci_element_is_real(&out->type)) {
        const slc_status status =
            SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is of type %s, expected a number", path, name,
                     out->type_text);
        slci_h5_dataset_close(out);
        return status;
    }
    return SLC_OK;
}

/* The single number of a dataset as f64 and as i64 (exact where it is an integer). */
static slc_status read_single(const slci_h5_dataset *dataset, double *number, int64_t *integer) {
    const int64_t n = element_count(dataset);
    if (n != 1) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s holds %" PRId64 " numbers, expected 1",
                        dataset->path, dataset->name, n);
    }
    unsigned char raw[16] = {0};
    SLC_TRY(read_all(dataset, raw));
    slci_element_to_f64(&dataset->type, raw, 0, 1, number);
    if (slci_element_is_integer(&dataset->type)) {
        slci_element_to_i64(&dataset->type, raw, 0, 1, integer);
    } else if (*number == floor(*number) && fabs(*number) < 9e15) {
        *integer = (int64_t)*number;
    } else {
        *integer = INT64_MIN;
    }
    return SLC_OK;
}

/* Leaves both alone where the dataset is missing or null. */
static slc_status get_single(slci_h5_id file, const char *path, const char *name, bool is_optional,
                             double *number, int64_t *integer, bool *is_there) {
    slci_h5_dataset dataset;
    SLC_TRY(open_number(file, path, name, is_optional, &dataset));
    *is_there = !dataset.is_null;
    slc_status status = SLC_OK;
    if (*is_there) {
        status = read_single(&dataset, number, integer);
    } else if (!is_optional) {
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is empty, expected a number", path, name);
    }
    slci_h5_dataset_close(&dataset);
    return status;
}

static slc_status get_integer(slci_h5_id file, const char *path, const char *name, bool is_optional,
                              int64_t *out) {
    double number = 0;
    int64_t integer = 0;
    bool is_there = false;
    SLC_TRY(get_single(file, path, name, is_optional, &number, &integer, &is_there));
    if (is_there && integer == INT64_MIN) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is %g, expected an integer", path, name, number);
    }
    if (is_there) {
        *out = integer;
    }
    return SLC_OK;
}

slc_status slci_h5_get_integer(slci_h5_id file, const char *path, const char *name, int64_t *out) {
    return get_integer(file, path, name, false, out);
}

slc_status slci_h5_get_integer_or(slci_h5_id file, const char *path, const char *name,
                                  int64_t otherwise, int64_t *out) {
    int64_t value = otherwise;
    SLC_TRY(get_integer(file, path, name, true, &value));
    *out = value;
    return SLC_OK;
}

slc_status slci_h5_get_number_or(slci_h5_id file, const char *path, const char *name,
                                 double otherwise, double *out) {
    double number = otherwise;
    int64_t integer = 0;
    bool is_there = false;
    SLC_TRY(get_single(file, path, name, true, &number, &integer, &is_there));
    *out = number;
    return SLC_OK;
}

/* A null dataset may be of any type. */
static slc_status read_numbers(const slci_h5_dataset *dataset, int64_t n, double *out) {
    if (n == 0) {
        return SLC_OK;
    }
    int64_t raw_bytes = 0;
    unsigned char *raw = NULL;
    if (slc_checked_mul(n, dataset->type.bytes, &raw_bytes)) {
        raw = malloc((size_t)slc_max_i64(raw_bytes, 1));
    }
    if (raw == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %s", dataset->path, dataset->name);
    }
    const slc_status status = read_all(dataset, raw);
    if (status == SLC_OK) {
        slci_element_to_f64(&dataset->type, raw, dataset->type.bytes, n, out);
    }
    free(raw);
    return status;
}

slc_status slci_h5_get_numbers(slci_h5_id file, const char *path, const char *name,
                               int64_t max_count, double **out, int64_t *n) {
    slci_h5_dataset dataset;
    SLC_TRY(open_number(file, path, name, false, &dataset));
    const int64_t count = element_count(&dataset);
    double *numbers = NULL;
    slc_status status = SLC_OK;
    if (count > max_count) {
        status =
            SLC_FAIL(SLC_ERROR_INPUT, "%s: %s holds %" PRId64 " numbers, expected at most %" PRId64,
                     path, name, count, max_count);
    } else {
        numbers = malloc((size_t)slc_max_i64(count, 1) * sizeof *numbers);
        status = numbers == NULL ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %s", path, name)
                                 : read_numbers(&dataset, count, numbers);
    }
    slci_h5_dataset_close(&dataset);
    if (status != SLC_OK) {
        free(numbers);
        return status;
    }
    *out = numbers;
    *n = count;
    return SLC_OK;
}

/* Control characters would break the one-line messages and FITS headers that the text goes to. */
static void copy_text(const char *src, size_t n, bool is_space_padded, char *out, size_t capacity) {
    size_t length = strnlen(src, n);
    while (is_space_padded && length > 0 && src[length - 1] == ' ') {
        length--;
    }
    length = length < capacity ? length : capacity - 1;
    for (size_t k = 0; k < length; k++) {
        const unsigned char c = (unsigned char)src[k];
        out[k] = c < ' ' || c == 127 ? ' ' : (char)c;
    }
    out[length] = '\0';
}

static slc_status read_fixed_text(const slci_h5_dataset *dataset, char *out, size_t capacity) {
    if (dataset->type.bytes > MAX_TEXT_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s claims a text of %" PRId64 " bytes", dataset->path,
                        dataset->name, dataset->type.bytes);
    }
    char *raw = malloc((size_t)dataset->type.bytes);
    if (raw == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %s", dataset->path, dataset->name);
    }
    const slc_status status = read_all(dataset, raw);
    if (status == SLC_OK) {
        copy_text(raw, (size_t)dataset->type.bytes, dataset->type.is_space_padded, out, capacity);
    }
    free(raw);
    return status;
}

static slc_status read_variable_text(const slci_h5_dataset *dataset, char *out, size_t capacity) {
    char *text = NULL;
    SLC_TRY(read_all(dataset, &text));
    if (text != NULL) {
        copy_text(text, strlen(text), dataset->type.is_space_padded, out, capacity);
        slci_h5_lock();
        (void)H5free_memory(text);
        slci_h5_unlock();
    }
    return SLC_OK;
}

slc_status slci_h5_get_text(slci_h5_id file, const char *path, const char *name, char *out,
                            size_t capacity) {
    slci_h5_kind kind = SLCI_H5_ABSENT;
    out[0] = '\0';
    SLC_TRY(slci_h5_find(file, path, name, &kind));
    if (kind == SLCI_H5_ABSENT) {
        return SLC_OK;
    }
    slci_h5_dataset dataset;
    SLC_TRY(slci_h5_dataset_open(file, path, name, &dataset));
    slc_status status = SLC_OK;
    if (dataset.is_null) {
        status = SLC_OK;
    } else if (element_count(&dataset) != 1) {
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: %s holds %" PRId64 " elements, expected one text",
                          path, name, element_count(&dataset));
    } else if (dataset.type.kind == SLCI_ELEMENT_TEXT) {
        status = read_fixed_text(&dataset, out, capacity);
    } else if (dataset.type.kind == SLCI_ELEMENT_TEXT_VARIABLE) {
        status = read_variable_text(&dataset, out, capacity);
    } else {
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is of type %s, expected a string", path, name,
                          dataset.type_text);
    }
    slci_h5_dataset_close(&dataset);
    return status;
}

static slc_status get_attribute_locked(hid_t file, const char *path, const char *name,
                                       double *out) {
    if (H5Aexists(file, name) <= 0) {
        return SLC_OK;
    }
    const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    slc_status status = SLC_OK;
    double value = 0;
    const bool is_number =
        type >= 0 && (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER);
    if (!is_number || space < 0 || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0) {
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: the attribute %s is not one number", path, name);
    } else {
        *out = value;
    }
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    if (type >= 0) {
        (void)H5Tclose(type);
    }
    if (attribute >= 0) {
        (void)H5Aclose(attribute);
    }
    return status;
}

slc_status slci_h5_get_attribute_or(slci_h5_id file, const char *path, const char *name,
                                    double otherwise, double *out) {
    double value = otherwise;
    slci_h5_lock();
    const slc_status status = get_attribute_locked((hid_t)file, path, name, &value);
    slci_h5_unlock();
    SLC_TRY(status);
    *out = value;
    return SLC_OK;
}

typedef struct name_list {
    char (*out)[SLCI_H5_LIST_NAME_BYTES];
    int64_t capacity, n;
} name_list;

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    (void)group;
    (void)info;
    name_list *list = context;
    if (list->n < list->capacity) {
        (void)snprintf(list->out[list->n], SLCI_H5_LIST_NAME_BYTES, "%s", name);
    }
    list->n++;
    return 0;
}

slc_status slci_h5_list(slci_h5_id file, const char *path, const char *group, int64_t capacity,
                        char (*out)[SLCI_H5_LIST_NAME_BYTES], int64_t *n) {
    name_list list = {out, capacity, 0};
    slci_h5_lock();
    const slc_status status = slci_h5_check_header(file, path, group);
    const herr_t failed = status != SLC_OK
                              ? 0
                              : H5Literate_by_name((hid_t)file, group, H5_INDEX_NAME, H5_ITER_INC,
                                                   NULL, add_name, &list, H5P_DEFAULT);
    slci_h5_unlock();
    SLC_TRY(status);
    if (failed < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the group %s cannot be listed", path, group);
    }
    *n = list.n;
    return SLC_OK;
}
