/* A dimension scale is a dataset of the values along a dimension, tied to the dataset by references in
 * both directions: attribute DIMENSION_LIST of the dataset has a list of scales for each dimension,
 * attribute REFERENCE_LIST of each scale has datasets and dimensions. References are addresses in their
 * file, so the scales are written anew, cut as their dimensions are, and tied again:
 *
 *     data [time, freq]  ->  result [freq[::2], time]
 *        time [n]               freq [m/2]   (every second value)
 *        freq [m]               time [n]
 *
 * A scale that stands beside the data comes to stand beside the result; others keep their names. Scales
 * that are not a list of values of their dimension's length are left out, and said so; so are all of
 * them where the lists cannot be read, and all labels or scales where there is not one text or list for
 * each dimension. */
#include "io/h5_scales.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_array_internal.h"
#include "io/h5_attributes.h"
#include "io/h5_detached.h"
#include "io/h5_file.h"
#include "io/h5_heap.h"
#include "io/h5_object_check.h"
#include "io/h5_reason.h"

/* Values that are copied at a time. */
#define PIECE_BYTES 8192

#define MOST_SCALES 32

const char *const slci_h5_scale_attributes[] = {"DIMENSION_LABELS", "DIMENSION_LIST",
                                                "_Netcdf4Dimid", "_Netcdf4Coordinates", NULL};

/* A scale that was written, and the result's dimensions that it is of. */
typedef struct written_scale {
    char name[SLCI_H5_NAME_BYTES];
    slc_h5_array_origin origin;
    int n_dims, dim[SLC_MAX_RANK];
} written_scale;

typedef struct scale_copy {
    const slc_h5_array_output *output;
    hid_t from, to_file, to;
    const slci_h5_output *file;
    int n;
    written_scale scale[MOST_SCALES];
    int n_of[SLC_MAX_RANK];            /* scales of each dimension of the result, */
    int of[SLC_MAX_RANK][MOST_SCALES]; /* by their numbers */
    char *failed;
} scale_copy;

/* What HDF5's own library for scales writes. */
typedef struct back_reference {
    hobj_ref_t dataset;
    int dimension;
} back_reference;

/* ---- values ----------------------------------------------------------------------------------- */

static void reverse(char *values, int64_t n, size_t bytes) {
    for (int64_t a = 0, b = n - 1; a < b; a++, b--) {
        for (size_t k = 0; k < bytes; k++) {
            const char kept = values[(size_t)a * bytes + k];
            values[(size_t)a * bytes + k] = values[(size_t)b * bytes + k];
            values[(size_t)b * bytes + k] = kept;
        }
    }
}

/* A part of a one-dimensional dataset, for H5Dread and H5Dwrite. */
typedef struct part {
    hid_t file_space, memory_space;
} part;

static bool select_part(hid_t set, hsize_t first, hsize_t step, hsize_t n, part *out) {
    out->memory_space = H5Screate_simple(1, &n, NULL);
    out->file_space = H5Dget_space(set);
    return out->memory_space >= 0 && out->file_space >= 0 &&
           H5Sselect_hyperslab(out->file_space, H5S_SELECT_SET, &first, &step, &n, NULL) >= 0;
}

static void release_part(const part *self) {
    (void)H5Sclose(self->memory_space);
    (void)H5Sclose(self->file_space);
}

/* Values [k, k + n) of the new scale. */
static bool copy_piece(hid_t from, hid_t to, hid_t type, const slc_h5_array_origin *origin,
                       const int64_t k, int64_t n, char *values) {
    const bool is_backwards = origin->step < 0;
    const int64_t step = is_backwards ? -origin->step : origin->step;
    const int64_t lowest = origin->first + origin->step * (is_backwards ? k + n - 1 : k);
    part source = {-1, -1};
    part target = {-1, -1};
    const bool is_selected =
        select_part(from, (hsize_t)lowest, (hsize_t)slc_max_i64(step, 1), (hsize_t)n, &source);
    const bool is_read = is_selected && H5Dread(from, type, source.memory_space, source.file_space,
                                                H5P_DEFAULT, values) >= 0;
    if (is_read && is_backwards) {
        reverse(values, n, H5Tget_size(type));
    }
    const bool has_target = is_read && select_part(to, (hsize_t)k, 1, (hsize_t)n, &target);
    const bool is_ok = has_target && H5Dwrite(to, type, target.memory_space, target.file_space,
                                              H5P_DEFAULT, values) >= 0;
    slci_h5_reason_blame_output(is_ok || !is_read);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (is_read && slci_h5_is_variable(type)) {
        (void)H5Dvlen_reclaim(type, source.memory_space, H5P_DEFAULT, values);
    }
    release_part(&source);
    release_part(&target);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static bool copy_values(hid_t from, hid_t to, hid_t type, const slc_h5_array_origin *origin,
                        int64_t n) {
    max_align_t memory[PIECE_BYTES / sizeof(max_align_t)];
    const int64_t most = PIECE_BYTES / (int64_t)H5Tget_size(type);
    bool is_ok = true;
    for (int64_t k = 0; k < n && is_ok; k += most) {
        is_ok = copy_piece(from, to, type, origin, k, slc_min_i64(most, n - k), (char *)memory);
    }
    return is_ok;
}

/* ---- one scale -------------------------------------------------------------------------------- */

/* "/g/time" beside "/g/data" is "/h/time" beside "/h/result". */
static void name_of(const scale_copy *self, hid_t scale, char out[SLCI_H5_NAME_BYTES]) {
    char data[SLCI_H5_NAME_BYTES] = "";
    char name[SLCI_H5_NAME_BYTES] = "";
    char result[SLCI_H5_NAME_BYTES] = "";
    const ssize_t n = H5Iget_name(scale, name, sizeof name);
    (void)H5Iget_name(self->from, data, sizeof data);
    (void)H5Iget_name(self->to, result, sizeof result);
    const char *slash = strrchr(name, '/');
    const char *data_slash = strrchr(data, '/');
    const char *result_slash = strrchr(result, '/');
    out[0] = '\0';
    if (n <= 0 || (size_t)n >= sizeof name || slash == NULL || data_slash == NULL ||
        result_slash == NULL) {
        return;
    }
    const bool is_beside =
        slash - name == data_slash - data && memcmp(name, data, (size_t)(slash - name)) == 0;
    const int written = is_beside ? snprintf(out, SLCI_H5_NAME_BYTES, "%.*s%s",
                                             (int)(result_slash - result), result, slash)
                                  : snprintf(out, SLCI_H5_NAME_BYTES, "%s", name);
    if (written >= SLCI_H5_NAME_BYTES) {
        out[0] = '\0';
    }
}

/* Whether it holds one value, no giant, for each element of a dimension of this length; negative where
 * HDF5 fails. */
static htri_t is_list(hid_t scale, int64_t length) {
    hsize_t found = 0;
    const hid_t space = H5Dget_space(scale);
    const hid_t type = H5Dget_type(scale);
    const bool is_open = space >= 0 && type >= 0;
    const bool is_ok = is_open && H5Tget_size(type) <= PIECE_BYTES &&
                       H5Sget_simple_extent_ndims(space) == 1 &&
                       H5Sget_simple_extent_dims(space, &found, NULL) == 1 &&
                       (int64_t)found == length && H5Aexists(scale, "CLASS") > 0;
    const hid_t reason = slci_h5_reason_keep(is_open);
    (void)H5Tclose(type);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    return is_open ? is_ok : -1;
}

/* The value of elements that are not written, where the scale has one of its own. */
static bool copy_fill(hid_t from, hid_t type, hid_t to) {
    max_align_t value[PIECE_BYTES / sizeof(max_align_t)];
    H5D_fill_value_t kind = H5D_FILL_VALUE_DEFAULT;
    const hid_t list = H5Dget_create_plist(from);
    bool is_ok = list >= 0 && H5Pfill_value_defined(list, &kind) >= 0;
    if (is_ok && kind == H5D_FILL_VALUE_USER_DEFINED && !slci_h5_is_variable(type)) {
        is_ok =
            H5Pget_fill_value(list, type, value) >= 0 && H5Pset_fill_value(to, type, value) >= 0;
    }
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Pclose(list);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* Closes a dataset that was written; false where that fails or something has before, whose reason
 * stands. */
static bool close_written(hid_t dataset, bool is_ok) {
    const hid_t reason = slci_h5_reason_keep(is_ok);
    const bool is_closed = H5Dclose(dataset) >= 0;
    slci_h5_reason_restore(reason);
    slci_h5_reason_blame_output(is_closed || !is_ok);
    return is_ok && is_closed;
}

static bool write_scale(scale_copy *self, hid_t from, const written_scale *scale, int64_t n) {
    const hsize_t length = (hsize_t)n;
    const hid_t type = slci_h5_detached_type(H5Dget_type(from));
    const hid_t space = type < 0 ? -1 : H5Screate_simple(1, &length, NULL);
    const hid_t list = space < 0 ? -1 : slci_h5_plist(H5P_DATASET_CREATE);
    hid_t to = -1;
    if (list >= 0 && copy_fill(from, type, list) &&
        slci_h5_output_make_groups(self->file, scale->name)) {
        to = H5Dcreate2(self->to_file, scale->name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
        slci_h5_reason_blame_output(to >= 0);
    }
    const bool is_copied =
        to >= 0 && slci_h5_dataset_is_sound(from) &&
        copy_values(from, to, type, &scale->origin, n) &&
        slci_h5_copy_attributes_but(from, to, slci_h5_scale_attributes, self->failed);
    const bool is_ok = close_written(to, is_copied);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static bool is_same_origin(const slc_h5_array_origin *a, const slc_h5_array_origin *b) {
    return a->dim == b->dim && a->first == b->first && a->step == b->step;
}

/* Whether dimension d has the scale of number k already. */
static bool is_taken(const scale_copy *self, int d, int k) {
    int i = 0;
    while (i < self->n_of[d] && self->of[d][i] != k) {
        i++;
    }
    return i < self->n_of[d];
}

/* Writes a scale of dimension d of the result, unless it is there. */
static bool take_scale(scale_copy *self, hid_t scale, int d, int64_t template_length) {
    const slc_h5_array_origin *origin = &self->output->origin[d];
    char name[SLCI_H5_NAME_BYTES];
    name_of(self, scale, name);
    int k = 0;
    while (k < self->n && strcmp(self->scale[k].name, name) != 0) {
        k++;
    }
    const bool is_there = k < self->n && is_same_origin(&self->scale[k].origin, origin);
    if (is_there && is_taken(self, d, k)) {
        return true; /* a damaged list names it twice */
    }
    const htri_t has_values =
        H5Iget_type(scale) == H5I_DATASET ? is_list(scale, template_length) : 0;
    if (has_values < 0) {
        return false;
    }
    if (!is_there && (k < self->n || k == MOST_SCALES || name[0] == '\0' || has_values == 0 ||
                      H5Lexists(self->to_file, name, H5P_DEFAULT) > 0)) {
        slc_log_note(self->output->log,
                     "%s: a dimension scale of dimension %d ('%.80s') is left out",
                     self->output->path, d, name);
        return true;
    }
    written_scale *written = &self->scale[k];
    if (!is_there) {
        *written = (written_scale){.origin = *origin};
        (void)snprintf(written->name, sizeof written->name, "%s", name);
        (void)snprintf(self->failed, SLCI_H5_NAME_BYTES, "%s", name);
        if (!write_scale(self, scale, written, self->output->layout.shape[d])) {
            return false;
        }
        self->n++;
    }
    written->dim[written->n_dims++] = d;
    self->of[d][self->n_of[d]++] = k;
    return true;
}

/* ---- ties ------------------------------------------------------------------------------------- */

static hid_t back_type(void) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(back_reference));
    if (type >= 0 &&
        (H5Tinsert(type, "dataset", HOFFSET(back_reference, dataset), H5T_STD_REF_OBJ) < 0 ||
         H5Tinsert(type, "dimension", HOFFSET(back_reference, dimension), H5T_NATIVE_INT) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

/* Writes an attribute of one dimension. */
static bool write_list(hid_t object, const char *name, hid_t type, hsize_t n, const void *values) {
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t attribute = space < 0 || type < 0
                                ? -1
                                : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool is_ok = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    slci_h5_reason_blame_output(is_ok || space < 0 || type < 0);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Aclose(attribute);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static bool tie_back(scale_copy *self, const written_scale *scale) {
    back_reference back[SLC_MAX_RANK];
    char name[SLCI_H5_NAME_BYTES];
    memset(back, 0, sizeof back);
    bool is_ok = H5Iget_name(self->to, name, sizeof name) > 0;
    for (int k = 0; k < scale->n_dims && is_ok; k++) {
        back[k].dimension = scale->dim[k];
        is_ok = H5Rcreate(&back[k].dataset, self->to_file, name, H5R_OBJECT, -1) >= 0;
        slci_h5_reason_blame_output(is_ok);
    }
    if (!is_ok) {
        return false;
    }
    const hid_t type = back_type();
    const hid_t object = H5Dopen2(self->to_file, scale->name, H5P_DEFAULT);
    is_ok = object >= 0 && write_list(object, "REFERENCE_LIST", type, (hsize_t)scale->n_dims, back);
    is_ok = close_written(object, is_ok);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static bool tie(scale_copy *self) {
    hobj_ref_t references[SLC_MAX_RANK][MOST_SCALES];
    hvl_t lists[SLC_MAX_RANK] = {{0, NULL}};
    const int rank = self->output->layout.rank;
    bool is_ok = true;
    for (int d = 0; d < rank; d++) {
        for (int k = 0; k < self->n_of[d] && is_ok; k++) {
            is_ok = H5Rcreate(&references[d][k], self->to_file, self->scale[self->of[d][k]].name,
                              H5R_OBJECT, -1) >= 0;
            slci_h5_reason_blame_output(is_ok);
        }
        lists[d] = (hvl_t){(size_t)self->n_of[d], self->n_of[d] > 0 ? references[d] : NULL};
    }
    for (int k = 0; k < self->n && is_ok; k++) {
        is_ok = tie_back(self, &self->scale[k]);
    }
    const hid_t type = is_ok ? H5Tvlen_create(H5T_STD_REF_OBJ) : -1;
    is_ok = type >= 0 && write_list(self->to, "DIMENSION_LIST", type, (hsize_t)rank, lists);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* ---- the template ----------------------------------------------------------------------------- */

/* The shape of the template; negative where HDF5 fails. */
static int template_shape(hid_t from, hsize_t shape[H5S_MAX_RANK]) {
    const hid_t space = H5Dget_space(from);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    const hid_t reason = slci_h5_reason_keep(rank >= 0);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    return rank;
}

/* An attribute of the template with a value for each dimension, in words and as HDF5 calls them. */
typedef struct dimension_values {
    const char *name, *what, *values;
    H5T_class_t class;
} dimension_values;

static const dimension_values label_values = {"DIMENSION_LABELS", "labels", "text", H5T_STRING};
static const dimension_values scale_values = {"DIMENSION_LIST", "scales", "list", H5T_VLEN};

static void say_left_out(const scale_copy *self, const dimension_values *of, const char *why) {
    slc_log_note(self->output->log, "%s: the dimension %s are left out, since %s of %s:%s %s",
                 self->output->path, of->what, of->name, self->output->template_path,
                 self->output->template_dataset, why);
}

#define WHY_BYTES 128

/* What is wrong with it; "" where nothing is. False where HDF5 fails. */
static bool find_fault(hid_t attribute, const dimension_values *wanted, int rank,
                       char why[WHY_BYTES]) {
    const hid_t type = H5Aget_type(attribute);
    const hid_t space = type < 0 ? -1 : H5Aget_space(attribute);
    const hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const bool is_known = n >= 0;
    why[0] = '\0';
    if (is_known && H5Tget_class(type) != wanted->class) {
        (void)snprintf(why, WHY_BYTES, "holds no %s", wanted->values);
    } else if (is_known && n != rank) {
        (void)snprintf(why, WHY_BYTES, "has %lld values, expected %d, one for each dimension",
                       (long long)n, rank);
    } else if (is_known && H5Tget_size(type) > PIECE_BYTES) {
        (void)snprintf(why, WHY_BYTES, "has values of %zu bytes, at most %d are supported",
                       H5Tget_size(type), PIECE_BYTES);
    }
    const hid_t reason = slci_h5_reason_keep(is_known);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
    return is_known;
}

/* Opens it into *out; 0 where it is not there, or is not what it should be, and so left out; negative
 * where HDF5 fails. */
static htri_t open_attribute(const scale_copy *self, const dimension_values *wanted, int rank,
                             hid_t *out) {
    char why[WHY_BYTES];
    const htri_t is_there = H5Aexists(self->from, wanted->name);
    if (is_there <= 0) {
        return is_there;
    }
    const hid_t attribute = H5Aopen(self->from, wanted->name, H5P_DEFAULT);
    const bool is_known = attribute >= 0 && find_fault(attribute, wanted, rank, why);
    if (is_known && why[0] == '\0') {
        *out = attribute;
        return 1;
    }
    if (is_known) {
        say_left_out(self, wanted, why);
    }
    const hid_t reason = slci_h5_reason_keep(is_known);
    (void)H5Aclose(attribute);
    slci_h5_reason_restore(reason);
    return is_known ? 0 : -1;
}

static bool take_scales(scale_copy *self, const hvl_t *lists, const hsize_t *shape) {
    for (int d = 0; d < self->output->layout.rank; d++) {
        const int t = self->output->origin[d].dim - 1;
        for (size_t k = 0; t >= 0 && k < lists[t].len; k++) {
            const hobj_ref_t *references = (const hobj_ref_t *)lists[t].p;
            if (!slci_h5_object_check_at(self->from, references[k], "what it refers to")) {
                return false;
            }
            const hid_t scale =
                H5Rdereference2(self->from, H5P_DEFAULT, H5R_OBJECT, &references[k]);
            if (scale < 0) {
                slc_log_note(self->output->log,
                             "%s: a dimension scale of dimension %d is not there any more and is "
                             "left out",
                             self->output->path, d);
                continue;
            }
            const bool is_ok = take_scale(self, scale, d, (int64_t)shape[t]);
            const hid_t reason = slci_h5_reason_keep(is_ok);
            (void)H5Oclose(scale);
            slci_h5_reason_restore(reason);
            if (!is_ok) {
                return false;
            }
        }
    }
    return self->n == 0 || tie(self);
}

/* After HDF5 has failed to read the lists. A damaged list is no reason to refuse the data. */
static bool leave_lists_out(const scale_copy *self) {
    static const char no_list[] = "is no list of references that HDF5 can read: ";
    char why[sizeof no_list + SLCI_H5_REASON_BYTES];
    char reason[SLCI_H5_REASON_BYTES];
    if (slci_h5_lacks_memory() || slci_h5_reason_is_out_of_reach()) {
        return false;
    }
    slci_h5_error_text(reason, sizeof reason);
    (void)snprintf(why, sizeof why, "%s%s", no_list, reason);
    say_left_out(self, &scale_values, why);
    return true;
}

static bool copy_lists(scale_copy *self, int rank, const hsize_t *shape) {
    hvl_t lists[H5S_MAX_RANK];
    hid_t attribute = -1;
    (void)snprintf(self->failed, SLCI_H5_NAME_BYTES, "the dimension scales");
    const htri_t is_there = open_attribute(self, &scale_values, rank, &attribute);
    if (is_there <= 0) {
        return is_there == 0 || leave_lists_out(self);
    }
    const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
    const hid_t space = H5Aget_space(attribute);
    const bool is_open = type >= 0 && space >= 0;
    const bool is_read =
        is_open && slci_h5_attribute_is_sound(attribute) && H5Aread(attribute, type, lists) >= 0;
    const bool is_ok = is_read ? take_scales(self, lists, shape) : is_open && leave_lists_out(self);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (is_read) {
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* Labels in memory: pointers to them where their type is of variable length, else `bytes` each. */
typedef struct label_list {
    bool is_variable;
    size_t bytes;
    char *memory; /* [rank of the template + rank of the result] */
} label_list;

/* Puts the label of each dimension of the result behind those of the template, [rank]. */
static void choose_labels(const scale_copy *self, int rank, const label_list *labels) {
    static const char *const no_label = "";
    for (int d = 0; d < self->output->layout.rank; d++) {
        const int t = self->output->origin[d].dim - 1;
        char *to = labels->memory + (size_t)(rank + d) * labels->bytes;
        char *text = NULL;
        if (t >= 0) {
            memcpy(to, labels->memory + (size_t)t * labels->bytes, labels->bytes);
        }
        if (labels->is_variable) {
            memcpy(&text, to, sizeof text);
        }
        if (labels->is_variable && text == NULL) {
            memcpy(to, &no_label, labels->bytes);
        }
    }
}

/* Labels are text, one for each dimension; a dimension of no origin has an empty one. */
static bool copy_label_list(const scale_copy *self, int rank, hid_t attribute, hid_t type) {
    const int out_rank = self->output->layout.rank;
    label_list labels = {.is_variable = H5Tis_variable_str(type) > 0, .bytes = H5Tget_size(type)};
    labels.memory = calloc((size_t)(rank + out_rank), labels.bytes);
    if (labels.memory == NULL) {
        slci_h5_reason_push_no_memory("no memory for the labels of dimensions");
        return false;
    }
    const bool is_read =
        slci_h5_attribute_is_sound(attribute) && H5Aread(attribute, type, labels.memory) >= 0;
    choose_labels(self, rank, &labels);
    const bool is_ok = is_read && write_list(self->to, "DIMENSION_LABELS", type, (hsize_t)out_rank,
                                             labels.memory + (size_t)rank * labels.bytes);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    for (int t = 0; t < rank && labels.is_variable; t++) {
        char *text = NULL;
        memcpy(&text, labels.memory + (size_t)t * labels.bytes, sizeof text);
        (void)H5free_memory(text);
    }
    free(labels.memory);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static bool copy_labels(const scale_copy *self, int rank) {
    hid_t attribute = -1;
    (void)snprintf(self->failed, SLCI_H5_NAME_BYTES, "the dimension labels");
    const htri_t is_there = open_attribute(self, &label_values, rank, &attribute);
    if (is_there <= 0) {
        return is_there == 0;
    }
    const hid_t type = H5Aget_type(attribute);
    const bool is_ok = type >= 0 && copy_label_list(self, rank, attribute, type);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    slci_h5_reason_restore(reason);
    return is_ok;
}

bool slci_h5_copy_scales(const slc_h5_array_output *output, hid_t from, const slci_h5_output *file,
                         hid_t to, char failed[SLCI_H5_NAME_BYTES]) {
    hsize_t shape[H5S_MAX_RANK];
    (void)snprintf(failed, SLCI_H5_NAME_BYTES, "the dimension scales");
    const int rank = template_shape(from, shape);
    if (rank < 1 || output->layout.rank < 1) {
        return rank >= 0;
    }
    scale_copy self = {.output = output,
                       .from = from,
                       .file = file,
                       .to_file = slci_h5_output_file(file),
                       .to = to,
                       .failed = failed};
    return copy_labels(&self, rank) && copy_lists(&self, rank, shape);
}
