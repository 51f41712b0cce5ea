/* A dataset whose form another one takes over: its filter, type and fill value, and what describes it,
 * attributes, labels and scales. */
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "io/h5_array_internal.h"
#include "io/h5_attributes.h"
#include "io/h5_detached.h"
#include "io/h5_files.h"
#include "io/h5_filter_list.h"
#include "io/h5_reason.h"
#include "io/h5_rest.h"
#include "io/h5_scales.h"
#include "io/outfile.h"

/* Of a number. */
#define MOST_FILL_BYTES 32

/* With the lock. */
static bool read_pipeline(hid_t dataset, slci_chunk_pipeline *out) {
    const hid_t list = H5Dget_create_plist(dataset);
    const bool is_ok = list >= 0 && slci_h5_filter_read((slci_h5_id)list, out);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Pclose(list);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* Opens the template; `set` is an open dataset on success, and the lock is held. */
static slc_status open_template(const char *path, const char *dataset, slci_h5_id *file,
                                hid_t *set) {
    char name[SLCI_H5_NAME_BYTES];
    SLC_TRY(slci_h5_array_name(dataset, name));
    SLC_TRY(slci_h5_open(path, NULL, file));
    slci_h5_kind kind = SLCI_H5_ABSENT;
    slc_status status = slci_h5_find(*file, path, name, &kind);
    if (status == SLC_OK && kind != SLCI_H5_DATASET) {
        status = slci_h5_array_missing(*file, path, name);
    } else if (status == SLC_OK) {
        slci_h5_lock();
        status = slci_h5_check_header(*file, path, name);
        *set = status == SLC_OK ? H5Dopen2((hid_t)*file, name, H5P_DEFAULT) : -1;
        if (*set >= 0) {
            return SLC_OK;
        }
        status = status != SLC_OK ? status : slci_h5_input_fail(path, name, "its header");
        slci_h5_unlock();
    }
    slci_h5_close(*file);
    return status;
}

static void close_template(slci_h5_id file, hid_t set) {
    (void)H5Dclose(set);
    slci_h5_unlock();
    slci_h5_close(file);
}

slc_status slci_h5_template_filter(const slc_h5_array_output *output, slc_h5_filter *out) {
    const char *path = output->template_path;
    const char *dataset = output->template_dataset;
    slci_h5_id file = 0;
    hid_t set = -1;
    slci_chunk_pipeline pipeline = {0};
    if (path == NULL) {
        *out = (slc_h5_filter){.kind = SLC_H5_FILTER_NONE};
        return SLC_OK;
    }
    SLC_TRY(open_template(path, dataset, &file, &set));
    const slc_status status =
        read_pipeline(set, &pipeline) ? SLC_OK : slci_h5_input_fail(path, dataset, "its filters");
    close_template(file, set);
    SLC_TRY(status);
    if (pipeline.n_filters > SLCI_CHUNK_MAX_FILTERS) {
        slc_log_note(
            output->log,
            "%s: deflate takes the place of the filters of %s:%s, which are %d; at most %d "
            "are supported",
            output->path, path, dataset, pipeline.n_filters, SLCI_CHUNK_MAX_FILTERS);
        *out = (slc_h5_filter){.kind = SLC_H5_FILTER_DEFLATE};
        return SLC_OK;
    }
    slci_h5_filter_of_pipeline(&pipeline, out);
    return SLC_OK;
}

/* Whether a filter is the same one, at the same level or a lower one. */
static bool is_no_better(const slci_chunk_filter *wanted, const slci_chunk_filter *found) {
    const int mode = SLCI_BITSHUFFLE_MODE;
    const int level = slci_chunk_filter_level_place(wanted);
    const bool has_same_mode =
        wanted->id != SLCI_FILTER_BITSHUFFLE ||
        (found->n_values > mode && found->values[mode] == wanted->values[mode]);
    const bool has_no_higher =
        level < 0 || (found->n_values > level &&
                      (int32_t)wanted->values[level] <= (int32_t)found->values[level]);
    return wanted->id == found->id && has_same_mode && has_no_higher;
}

static bool are_no_better(const slci_chunk_pipeline *wanted, const slci_chunk_pipeline *found) {
    bool is_same =
        wanted->n_filters == found->n_filters && wanted->n_filters <= SLCI_CHUNK_MAX_FILTERS;
    for (int k = 0; k < wanted->n_filters && is_same; k++) {
        is_same = is_no_better(&wanted->filter[k], &found->filter[k]);
    }
    return is_same;
}

/* Whether the output has the same shape and chunks, and each dimension is that of the template. */
static bool has_same_chunks(hid_t list, hid_t space, const slc_h5_array_output *output) {
    hsize_t shape[H5S_MAX_RANK] = {0};
    hsize_t chunk[H5S_MAX_RANK] = {0};
    unsigned options = 0; /* chunks at the edges may skip the filters */
    const int rank = output->layout.rank;
    bool is_same = H5Sget_simple_extent_ndims(space) == rank &&
                   H5Sget_simple_extent_dims(space, shape, NULL) == rank &&
                   H5Pget_layout(list) == H5D_CHUNKED &&
                   H5Pget_chunk(list, H5S_MAX_RANK, chunk) == rank &&
                   H5Pget_chunk_opts(list, &options) >= 0 && options == 0;
    for (int d = 0; d < rank && is_same; d++) {
        const slc_h5_array_origin *origin = &output->origin[d];
        is_same = origin->dim == d + 1 && origin->first == 0 && origin->step == 1 &&
                  shape[d] == (hsize_t)output->layout.shape[d] &&
                  chunk[d] == (hsize_t)output->chunk[d];
    }
    return is_same;
}

/* Negative where HDF5 fails. */
static int64_t stored_bytes(hid_t set, const slc_h5_array_output *output) {
    slci_chunk_pipeline found = {0};
    const slci_chunk_pipeline wanted = slci_h5_output_pipeline(output);
    const hid_t space = H5Dget_space(set);
    const hid_t list = space < 0 ? -1 : H5Dget_create_plist(set);
    const hid_t type = list < 0 ? -1 : H5Dget_type(set);
    const bool is_read = type >= 0 && read_pipeline(set, &found);
    const bool has_same_size =
        is_read && (int64_t)H5Tget_size(type) == slc_dtype_bytes(output->layout.dtype);
    const bool is_same =
        has_same_size && are_no_better(&wanted, &found) && has_same_chunks(list, space, output);
    const hid_t reason = slci_h5_reason_keep(is_read);
    (void)H5Tclose(type);
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    if (!is_read) {
        return -1;
    }
    return is_same ? (int64_t)H5Dget_storage_size(set) : 0;
}

slc_status slci_h5_template_stored(const slc_h5_array_output *output, int64_t *out) {
    slci_h5_id file = 0;
    hid_t set = -1;
    *out = 0;
    if (output->template_path == NULL || !output->keeps_type || !slc_h5_array_is_filtered(output)) {
        return SLC_OK;
    }
    SLC_TRY(open_template(output->template_path, output->template_dataset, &file, &set));
    const int64_t bytes = stored_bytes(set, output);
    const slc_status status = bytes >= 0 ? SLC_OK
                                         : slci_h5_input_fail(output->template_path,
                                                              output->template_dataset, "its form");
    close_template(file, set);
    SLC_TRY(status);
    *out = bytes;
    return SLC_OK;
}

/* The type as it stands in the file. HDF5 puts the members of one that it has converted from in the
 * order of their places, for all who have the file open, but for those who have it open through another
 * driver. */
static hid_t stored_type(hid_t set) {
    char path[SLC_PATH_BYTES];
    H5O_info_t info = {0};
    const hid_t file = H5Iget_file_id(set);
    const ssize_t n_path = file < 0 ? -1 : H5Fget_name(file, path, sizeof path);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t again = -1;
    if (n_path > 0 && n_path < (ssize_t)sizeof path && H5Pset_fapl_stdio(access) >= 0 &&
        H5Oget_info2(set, &info, H5O_INFO_BASIC) >= 0) {
        again = H5Fopen(path, H5F_ACC_RDONLY, access);
    }
    const hid_t same = again < 0 ? -1 : H5Oopen_by_addr(again, info.addr);
    const hid_t type = same < 0 ? -1 : H5Dget_type(same);
    const hid_t reason = slci_h5_reason_keep(type >= 0);
    (void)H5Oclose(same);
    (void)H5Fclose(again);
    (void)H5Pclose(access);
    (void)H5Fclose(file);
    slci_h5_reason_restore(reason);
    return type;
}

/* The type without what lies between the parts of a number, which has no place in memory either. */
static hid_t packed_type(hid_t set) {
    const hid_t type = slci_h5_detached_type(stored_type(set));
    if (type >= 0 && H5Tget_class(type) == H5T_COMPOUND && H5Tpack(type) < 0) {
        const hid_t reason = slci_h5_reason_keep(false);
        (void)H5Tclose(type);
        slci_h5_reason_restore(reason);
        return -1;
    }
    return type;
}

/* One that has a name in the file is nameless in the copy. */
slc_status slci_h5_template_type(const slc_h5_array_output *output, slci_h5_id *out) {
    slci_h5_id file = 0;
    hid_t set = -1;
    SLC_TRY(open_template(output->template_path, output->template_dataset, &file, &set));
    const hid_t type = packed_type(set);
    const slc_status status =
        type >= 0 ? SLC_OK
                  : slci_h5_input_fail(output->template_path, output->template_dataset, "its type");
    close_template(file, set);
    SLC_TRY(status);
    *out = (slci_h5_id)type;
    return SLC_OK;
}

/* ---- the fill value --------------------------------------------------------------------------- */

/* An element as a number, or two: its type, and that of each part. */
typedef struct fill_form {
    hid_t type, part; /* the part's is closed by the caller */
    slci_element element;
} fill_form;

static bool describe_fill(hid_t type, fill_form *out) {
    int type_class = 0;
    char text[SLCI_H5_TEXT_BYTES];
    const H5T_class_t class = H5Tget_class(type);
    slci_h5_type_describe((slci_h5_id)type, &out->element, &type_class, text, sizeof text);
    const bool is_number =
        slci_element_is_real(&out->element) || slci_element_is_complex(&out->element);
    out->type = type;
    out->part = !is_number              ? -1
                : class == H5T_COMPOUND ? H5Tget_member_type(type, 0)
                : class == H5T_ENUM     ? H5Tget_super(type)
                                        : H5Tcopy(type);
    return out->part >= 0 && H5Tget_size(type) <= MOST_FILL_BYTES;
}

/* NaN has many forms, and HDF5 makes one of all. */
static bool is_nan(hid_t type, const unsigned char *value) {
    unsigned char copy[MOST_FILL_BYTES];
    double number = 0;
    memcpy(copy, value, sizeof copy);
    if (H5Tget_class(type) != H5T_FLOAT ||
        H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, copy, NULL, H5P_DEFAULT) < 0) {
        return false;
    }
    memcpy(&number, copy, sizeof number);
    return isnan(number);
}

/* One number of another type, if it is the same number there: what stays the same both ways is. */
static bool convert_part(const fill_form *from, const unsigned char *value, const fill_form *to,
                         unsigned char *out) {
    unsigned char there[MOST_FILL_BYTES] = {0};
    unsigned char again[MOST_FILL_BYTES] = {0};
    const size_t bytes = (size_t)from->element.part_bytes;
    memcpy(there, value, bytes);
    if (H5Tconvert(from->part, to->part, 1, there, NULL, H5P_DEFAULT) < 0) {
        return false;
    }
    memcpy(again, there, sizeof again);
    if (H5Tconvert(to->part, from->part, 1, again, NULL, H5P_DEFAULT) < 0 ||
        (memcmp(value, again, bytes) != 0 &&
         !(is_nan(from->part, value) && is_nan(from->part, again)))) {
        return false;
    }
    memcpy(out, there, (size_t)to->element.part_bytes);
    return true;
}

/* The parts of a complex number one by one; a real one becomes complex with 0 as its second part. */
static bool convert_fill(const fill_form *from, const unsigned char *value, const fill_form *to,
                         unsigned char *out) {
    const bool is_complex = slci_element_is_complex(&from->element);
    const bool to_complex = slci_element_is_complex(&to->element);
    if (!is_complex || !to_complex) {
        return !is_complex &&
               convert_part(from, value, to, out + (to_complex ? to->element.real_offset : 0));
    }
    return convert_part(from, value + from->element.real_offset, to,
                        out + to->element.real_offset) &&
           convert_part(from, value + from->element.imag_offset, to, out + to->element.imag_offset);
}

typedef struct fill_copy {
    hid_t type, list;   /* of the result's elements, and what it will be made with */
    bool is_lost;       /* there is one that `type` does not have */
    bool is_refused;    /* HDF5 has failed at the list */
    int64_t lost_bytes; /* of an element, that are no part of its numbers */
} fill_copy;

/* False where HDF5 fails, whose reason stands. */
static bool copy_fill(hid_t set, fill_copy *copy) {
    unsigned char value[MOST_FILL_BYTES] = {0};
    unsigned char out[MOST_FILL_BYTES] = {0};
    H5D_fill_value_t kind = H5D_FILL_VALUE_DEFAULT;
    fill_form source = {.part = -1};
    fill_form target = {.part = -1};
    const hid_t from = H5Dget_create_plist(set);
    const hid_t own = from < 0 ? -1 : H5Dget_type(set);
    bool is_ok = own >= 0 && H5Pfill_value_defined(from, &kind) >= 0;
    copy->lost_bytes = is_ok ? (int64_t)H5Tget_size(own) - (int64_t)H5Tget_size(copy->type) : 0;
    if (is_ok && kind == H5D_FILL_VALUE_USER_DEFINED) {
        const bool is_known = describe_fill(own, &source) && describe_fill(copy->type, &target);
        is_ok = !is_known || H5Pget_fill_value(from, own, value) >= 0;
        copy->is_lost = is_ok && (!is_known || !convert_fill(&source, value, &target, out));
        copy->is_refused =
            is_ok && !copy->is_lost && H5Pset_fill_value(copy->list, copy->type, out) < 0;
        is_ok = is_ok && !copy->is_refused;
    }
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Tclose(source.part);
    (void)H5Tclose(target.part);
    (void)H5Tclose(own);
    (void)H5Pclose(from);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static slc_status fail_fill(const slc_h5_array_output *output, const fill_copy *copy) {
    char text[256];
    if (!copy->is_refused || slci_h5_lacks_memory()) {
        return slci_h5_input_fail(output->template_path, output->template_dataset,
                                  "its fill value");
    }
    slci_h5_error_text(text, sizeof text);
    return SLC_FAIL(SLC_ERROR_OUTPUT, "%s: HDF5 cannot take over the fill value of %s:%s: %s",
                    output->path, output->template_path, output->template_dataset, text);
}

slc_status slci_h5_template_fill(const slc_h5_array_output *output, slci_h5_id type,
                                 slci_h5_id list) {
    slci_h5_id file = 0;
    hid_t set = -1;
    fill_copy copy = {.type = (hid_t)type, .list = (hid_t)list};
    SLC_TRY(open_template(output->template_path, output->template_dataset, &file, &set));
    const slc_status status = copy_fill(set, &copy) ? SLC_OK : fail_fill(output, &copy);
    close_template(file, set);
    SLC_TRY(status);
    if (copy.is_lost) {
        slc_log_note(output->log,
                     "%s: the fill value of %s:%s is another number as %s and is left out",
                     output->path, output->template_path, output->template_dataset,
                     slc_dtype_name(output->layout.dtype));
    }
    if (output->keeps_type && copy.lost_bytes > 0) {
        slc_log_note(
            output->log,
            "%s: an element of %s:%s has %lld bytes beside its numbers, which are left out",
            output->path, output->template_path, output->template_dataset,
            (long long)copy.lost_bytes);
    }
    return SLC_OK;
}

/* ---- all else --------------------------------------------------------------------------------- */

slc_status slci_h5_template_exclude(const slc_h5_array_output *output) {
    const slc_h5_reading reading = {.path = output->template_path,
                                    .names = &output->template_dataset,
                                    .n_names = 1,
                                    .reads_rest = output->copies_rest};
    return output->template_path == NULL ? SLC_OK
                                         : slc_h5_files_exclude(&reading, &output->path, 1);
}

slc_status slci_h5_template_element(const slc_h5_array_output *output, slci_element *out) {
    slci_h5_id type = 0;
    int type_class = 0;
    char text[SLCI_H5_TEXT_BYTES];
    SLC_TRY(slci_h5_template_type(output, &type));
    slci_h5_lock();
    slci_h5_type_describe(type, out, &type_class, text, sizeof text);
    (void)H5Tclose((hid_t)type);
    slci_h5_unlock();
    return SLC_OK;
}

slc_status slci_h5_template_copy(const slc_h5_array_output *from, const slci_h5_output *output,
                                 slci_h5_id to) {
    char failed[SLCI_H5_NAME_BYTES] = "";
    slci_h5_id file = 0;
    hid_t set = -1;
    SLC_TRY(open_template(from->template_path, from->template_dataset, &file, &set));
    const bool is_ok =
        slci_h5_copy_attributes_but(set, (hid_t)to, slci_h5_scale_attributes, failed) &&
        slci_h5_copy_scales(from, set, output, (hid_t)to, failed);
    slci_h5_reason_blame(is_ok, set, failed);
    slc_status status = is_ok ? slci_h5_output_status(output) : slci_h5_output_fail(output, failed);
    if (status == SLC_OK && from->copies_rest) {
        status = slci_h5_copy_rest(from, set, output, (hid_t)to);
    }
    close_template(file, set);
    return status;
}
