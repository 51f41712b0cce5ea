/* The form of a dataset is made anew from what HDF5 reads of it. Its elements come along in one of
 * three ways:
 *
 *     chunks of numbers and the like ──▶ as they are stored, whatever their filters
 *     everything else ──▶ read and written in pieces, in the file's own type
 *     what lies in other files, or other datasets ──▶ not at all: the form says where that is
 *
 * References are addresses in their file, so those within elements become such as lead nowhere, and a
 * dataset of nothing else stays without values. */
#include "io/h5_dataset_copy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_detached.h"
#include "io/h5_heap.h"
#include "io/h5_reason.h"
#include "io/h5_stored.h"
#include "io/outfile.h"

/* What is read and written at once. */
#define PIECE_BYTES ((size_t)1 << 20)

static const char no_memory[] = "no memory to copy the elements of a dataset";

/* ---- form ------------------------------------------------------------------------------------- */

/* A filter as it stands in a list. */
typedef struct filter_entry {
    H5Z_filter_t id;
    unsigned flags;
    size_t n_values;
    unsigned *values; /* [n_values] */
} filter_entry;

/* The caller frees the values, on failure too. */
static bool read_filter(hid_t list, int k, filter_entry *out) {
    unsigned flags = 0;
    size_t n_values = 0;
    *out = (filter_entry){0};
    if (H5Pget_filter2(list, (unsigned)k, &flags, &n_values, NULL, 0, NULL, NULL) < 0) {
        return false;
    }
    out->values = calloc(n_values + 1, sizeof *out->values);
    if (out->values == NULL) {
        slci_h5_reason_push_no_memory(no_memory);
        return false;
    }
    out->id = H5Pget_filter2(list, (unsigned)k, &flags, &n_values, out->values, 0, NULL, NULL);
    out->flags = flags;
    out->n_values = n_values;
    return out->id >= 0;
}

/* Whether both lists have the same filters with the same values. A filter may set values of its own
 * when a dataset is made, and the chunks would not be decoded by those. */
static bool has_same_filters(hid_t a, hid_t b) {
    const int n = H5Pget_nfilters(a);
    bool is_same = n >= 0 && n == H5Pget_nfilters(b);
    for (int k = 0; k < n && is_same; k++) {
        filter_entry of_a;
        filter_entry of_b = {0};
        is_same = read_filter(a, k, &of_a) && read_filter(b, k, &of_b) && of_a.id == of_b.id &&
                  of_a.n_values == of_b.n_values &&
                  memcmp(of_a.values, of_b.values, of_a.n_values * sizeof *of_a.values) == 0;
        free(of_a.values);
        free(of_b.values);
    }
    return is_same;
}

static bool make_optional(hid_t list) {
    const int n = H5Pget_nfilters(list);
    bool is_ok = n >= 0;
    for (int k = 0; k < n && is_ok; k++) {
        filter_entry filter;
        is_ok = read_filter(list, k, &filter) &&
                H5Pmodify_filter(list, filter.id, filter.flags | H5Z_FLAG_OPTIONAL, filter.n_values,
                                 filter.values) >= 0;
        free(filter.values);
    }
    return is_ok;
}

/* A new dataset, or negative where its filters are not those of the list, which *is_other tells, or
 * where HDF5 fails. */
static hid_t keep_as(hid_t list, hid_t set, bool *is_other) {
    const hid_t found = H5Dget_create_plist(set);
    const bool is_same = found >= 0 && has_same_filters(list, found);
    const hid_t reason = slci_h5_reason_keep(is_same);
    *is_other = found >= 0 && !is_same;
    if (*is_other) {
        slci_h5_reason_push(set, "its filters set other values than its chunks were made with");
    }
    (void)H5Pclose(found);
    if (!is_same) {
        (void)H5Dclose(set);
    }
    slci_h5_reason_restore(reason);
    return is_same ? set : -1;
}

/* The same where a filter is not there, or would set other values than the chunks were made with. HDF5
 * makes a dataset of a filter that it does not know if that is optional, which matters to writers
 * only. */
static hid_t create_unknown(hid_t to, hid_t type, hid_t space, hid_t list) {
    unsigned plugins = 0;
    bool is_other = false;
    const bool is_ok = make_optional(list) && H5PLget_loading_state(&plugins) >= 0 &&
                       H5PLset_loading_state(0) >= 0;
    const hid_t set = is_ok ? H5Dcreate_anon(to, type, space, list, H5P_DEFAULT) : -1;
    const hid_t reason = slci_h5_reason_keep(set >= 0);
    if (is_ok) {
        (void)H5PLset_loading_state(plugins);
    }
    slci_h5_reason_restore(reason);
    return set < 0 ? -1 : keep_as(list, set, &is_other);
}

/* The layout is set anew, since the list has that of the newest form, which the output's version of the
 * format may not know; edges that skip the filters are of that form too, so that each says so itself.
 * Nothing is allocated before it is written: a damaged dataset may be of any size. */
static bool settle(hid_t list) {
    hsize_t chunk[H5S_MAX_RANK];
    const H5D_layout_t layout = H5Pget_layout(list);
    const int rank = layout == H5D_CHUNKED ? H5Pget_chunk(list, H5S_MAX_RANK, chunk) : 0;
    const bool is_set = layout == H5D_CHUNKED   ? rank > 0 && H5Pset_chunk(list, rank, chunk) >= 0
                        : layout == H5D_VIRTUAL ? true
                                                : H5Pset_layout(list, layout) >= 0;
    return is_set && H5Pset_obj_track_times(list, 0) >= 0 &&
           (layout == H5D_CHUNKED      ? H5Pset_alloc_time(list, H5D_ALLOC_TIME_INCR)
            : layout == H5D_CONTIGUOUS ? H5Pset_alloc_time(list, H5D_ALLOC_TIME_LATE)
                                       : 0) >= 0;
}

static hid_t create(hid_t to, hid_t type, hid_t space, hid_t list) {
    const bool has_filters = H5Pget_layout(list) == H5D_CHUNKED && H5Pget_nfilters(list) > 0;
    hid_t set = settle(list) ? H5Dcreate_anon(to, type, space, list, H5P_DEFAULT) : -1;
    bool is_other = set < 0;
    if (has_filters && set >= 0) {
        set = keep_as(list, set, &is_other);
    }
    return has_filters && is_other ? create_unknown(to, type, space, list) : set;
}

/* ---- elements --------------------------------------------------------------------------------- */

typedef struct element_copy {
    hid_t from, to, type; /* of both datasets */
    bool is_variable, has_references;
    uint32_t edge_mask;   /* of chunks that reach past the end: the filters that they all skip */
    unsigned char *bytes; /* [capacity] */
    size_t capacity;
} element_copy;

static bool make_room(element_copy *self, size_t bytes) {
    if (bytes <= self->capacity) {
        return true;
    }
    free(self->bytes);
    self->bytes = calloc(bytes, 1);
    self->capacity = self->bytes == NULL ? 0 : bytes;
    if (self->bytes == NULL) {
        slci_h5_reason_push_no_memory(no_memory);
    }
    return self->bytes != NULL;
}

static bool copy_chunk(void *context, const slci_h5_stored_chunk *chunk) {
    element_copy *self = context;
    uint32_t mask = 0;
    hsize_t bytes = 0;
    const bool is_read =
        make_room(self, (size_t)chunk->bytes) &&
        H5Dget_chunk_storage_size(self->from, chunk->origin, &bytes) >= 0 &&
        bytes == chunk->bytes && /* HDF5 reads so many, whatever the room for it */
        H5Dread_chunk(self->from, H5P_DEFAULT, chunk->origin, &mask, self->bytes) >= 0;
    mask |= chunk->is_edge ? self->edge_mask : 0;
    const bool is_ok = is_read && H5Dwrite_chunk(self->to, H5P_DEFAULT, mask, chunk->origin,
                                                 (size_t)bytes, self->bytes) >= 0;
    slci_h5_reason_blame(is_read, self->from, "a chunk");
    slci_h5_reason_blame_output(is_ok || !is_read);
    return is_ok;
}

/* Closing would forget why something has failed. */
static void close_type(hid_t type, bool is_ok) {
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
}

/* All are false where HDF5 fails, and references may be left. */
static bool clear_references(hid_t type, unsigned char *values, size_t n);

static bool clear_in_members(hid_t type, unsigned char *values, size_t n) {
    const int n_members = H5Tget_nmembers(type);
    const size_t bytes = H5Tget_size(type);
    bool is_ok = n_members >= 0;
    for (int k = 0; k < n_members && is_ok; k++) {
        const hid_t member = H5Tget_member_type(type, (unsigned)k);
        const htri_t has_any = member < 0 ? -1 : H5Tdetect_class(member, H5T_REFERENCE);
        const size_t offset = H5Tget_member_offset(type, (unsigned)k);
        is_ok = has_any >= 0;
        for (size_t i = 0; i < n && has_any > 0 && is_ok; i++) {
            is_ok = clear_references(member, values + i * bytes + offset, 1);
        }
        close_type(member, is_ok);
    }
    return is_ok;
}

static bool clear_in_lists(hid_t element, unsigned char *values, size_t n) {
    const htri_t has_any = H5Tdetect_class(element, H5T_REFERENCE);
    bool is_ok = has_any >= 0;
    for (size_t i = 0; i < n && has_any > 0 && is_ok; i++) {
        hvl_t list;
        memcpy(&list, values + i * sizeof list, sizeof list);
        is_ok = list.p == NULL || clear_references(element, list.p, list.len);
    }
    return is_ok;
}

/* Elements [n] that have others within, of a type with one that they are made of. */
static bool clear_inside(hid_t type, H5T_class_t class, unsigned char *values, size_t n) {
    const hid_t inner = H5Tget_super(type);
    const size_t inner_bytes = inner < 0 ? 0 : H5Tget_size(inner);
    const bool is_ok =
        inner_bytes > 0 &&
        (class == H5T_ARRAY ? clear_references(inner, values, n * (H5Tget_size(type) / inner_bytes))
                            : clear_in_lists(inner, values, n));
    close_type(inner, is_ok);
    return is_ok;
}

/* Elements [n] as they are in memory. Zeros lead nowhere. */
static bool clear_references(hid_t type, unsigned char *values, size_t n) {
    const H5T_class_t class = H5Tget_class(type);
    switch (class) {
    case H5T_REFERENCE:
        memset(values, 0, n * H5Tget_size(type));
        return true;
    case H5T_COMPOUND:
        return clear_in_members(type, values, n);
    case H5T_ARRAY:
    case H5T_VLEN:
        return clear_inside(type, class, values, n);
    default:
        return class != H5T_NO_CLASS;
    }
}

static bool copy_piece(void *context, const slci_h5_region *piece) {
    element_copy *self = context;
    slci_h5_spaces from = {-1, -1};
    slci_h5_spaces to = {-1, -1};
    const hsize_t n = slci_h5_region_count(piece);
    const bool is_read =
        make_room(self, (size_t)n * H5Tget_size(self->type)) &&
        slci_h5_region_select(self->from, piece, &from) &&
        H5Dread(self->from, self->type, from.memory, from.file, H5P_DEFAULT, self->bytes) >= 0;
    const bool is_cleared =
        is_read && (!self->has_references || clear_references(self->type, self->bytes, (size_t)n));
    const bool is_ok =
        is_cleared && slci_h5_region_select(self->to, piece, &to) &&
        H5Dwrite(self->to, self->type, to.memory, to.file, H5P_DEFAULT, self->bytes) >= 0;
    slci_h5_reason_blame(is_cleared, self->from, "the elements");
    slci_h5_reason_blame_output(is_ok || !is_cleared);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (is_read && self->is_variable) {
        (void)H5Dvlen_reclaim(self->type, from.memory, H5P_DEFAULT, self->bytes);
    }
    slci_h5_spaces_close(&from);
    slci_h5_spaces_close(&to);
    slci_h5_reason_restore(reason);
    return is_ok;
}

static bool copy_pieces(element_copy *self) {
    const size_t element_bytes = H5Tget_size(self->type);
    const size_t n =
        element_bytes > 0 && element_bytes < PIECE_BYTES ? PIECE_BYTES / element_bytes : 1;
    return (!self->is_variable || slci_h5_dataset_is_sound(self->from)) &&
           slci_h5_each_stored(self->from, n, copy_piece, self);
}

/* The filters that chunks at the edges skip by the layout. */
static bool find_edge_mask(hid_t list, uint32_t *out) {
    unsigned options = 0;
    const int n_filters = H5Pget_nfilters(list);
    const bool is_ok = n_filters >= 0 && H5Pget_chunk_opts(list, &options) >= 0;
    const bool skips = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
    *out = skips ? (uint32_t)((UINT64_C(1) << n_filters) - 1) : 0;
    return is_ok;
}

static bool copy_elements(hid_t from, hid_t to, hid_t type, hid_t list) {
    element_copy self = {.from = from,
                         .to = to,
                         .type = type,
                         .is_variable = slci_h5_is_variable(type),
                         .has_references = H5Tdetect_class(type, H5T_REFERENCE) > 0};
    const H5D_layout_t layout = H5Pget_layout(list);
    const bool is_elsewhere = layout == H5D_VIRTUAL || H5Pget_external_count(list) > 0;
    bool is_ok = true;
    if (layout == H5D_CHUNKED && !self.is_variable && !self.has_references) {
        is_ok =
            find_edge_mask(list, &self.edge_mask) && slci_h5_each_chunk(from, copy_chunk, &self);
    } else if (!is_elsewhere && H5Tget_class(type) != H5T_REFERENCE) {
        is_ok = copy_pieces(&self);
    }
    free(self.bytes);
    return is_ok;
}

/* ---- what is told ----------------------------------------------------------------------------- */

/* The mapping of a virtual one is kept, names of files and all. */
static void tell(hid_t from, hid_t type, hid_t list, slc_log *log) {
    char file[SLC_PATH_BYTES] = "";
    char name[SLCI_H5_REASON_BYTES / 2] = "";
    (void)H5Fget_name(from, file, sizeof file);
    (void)H5Iget_name(from, name, sizeof name);
    if (H5Pget_layout(list) == H5D_VIRTUAL) {
        slc_log_note(
            log,
            "%s: %s is virtual and stays so: its elements are in the files and datasets that "
            "it names, which are looked for from the place of the copy",
            file, name);
    } else if (H5Pget_external_count(list) > 0) {
        slc_log_note(log, "%s: the elements of %s are in other files and stay there", file, name);
    } else if (H5Tdetect_class(type, H5T_REFERENCE) > 0) {
        slc_log_note(
            log,
            "%s: the references in %s lead to objects of that file and are left out of the "
            "copy",
            file, name);
    }
}

/* Virtual datasets are of a later version of the format than the output is kept to. */
static hid_t create_virtual(hid_t to, hid_t type, hid_t space, hid_t list) {
    const hid_t file = H5Iget_file_id(to);
    const bool is_open =
        file >= 0 && H5Fset_libver_bounds(file, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0;
    const hid_t set = is_open ? create(to, type, space, list) : -1;
    const hid_t reason = slci_h5_reason_keep(set >= 0);
    if (is_open) {
        (void)H5Fset_libver_bounds(file, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
    }
    (void)H5Fclose(file);
    slci_h5_reason_restore(reason);
    return set;
}

hid_t slci_h5_dataset_copy(hid_t from, hid_t to, slc_log *log) {
    const hid_t type = slci_h5_detached_type(H5Dget_type(from));
    const hid_t space = type < 0 ? -1 : slci_h5_detached_space(H5Dget_space(from));
    const hid_t list = space < 0 ? -1 : H5Dget_create_plist(from);
    const hid_t changed = list < 0 ? -1 : H5Pcopy(list);
    const bool is_virtual = changed >= 0 && H5Pget_layout(changed) == H5D_VIRTUAL;
    hid_t set = changed < 0  ? -1
                : is_virtual ? create_virtual(to, type, space, changed)
                             : create(to, type, space, changed);
    const bool is_ok = set >= 0 && copy_elements(from, set, type, list);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (is_ok) {
        tell(from, type, list, log);
    } else {
        (void)H5Dclose(set);
        set = -1;
    }
    (void)H5Pclose(changed);
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
    return set;
}
