/* A dataset as a source. The reader of chunks turns elements into the machine's form as it decodes them
 * (io/h5_chunk_turn.h). Where HDF5 reads, it does the conversion, for which it is asked for a type that
 * it has made itself from the file's: the file's own where that is native already, which costs nothing;
 * else the same one with its parts little-endian. A complex number's parts are found by the names that
 * the file gives them, because HDF5 matches members by name and leaves memory untouched where none
 * fits. */
#include "io/h5_array.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/h5_array_internal.h"
#include "io/h5_data.h"

typedef struct h5_array {
    slc_source base;
    char *path;
    slci_file_stamp stamp;
    slci_h5_id file; /* 0: not open */
    slci_h5_dataset set;
    pthread_mutex_t mutex; /* guards what follows, which counts what HDF5 finds in its cache */
    slc_box last;          /* the box before; rank 0: none yet */
    bool can_keep_row;
} h5_array;

/* ---- types ------------------------------------------------------------------------------------ */

static slc_status find_dtype(const slci_h5_dataset *set, slc_dtype *out) {
    if (slci_h5_array_dtype(&set->type, out)) {
        return SLC_OK;
    }
    return SLC_FAIL(
        SLC_ERROR_UNSUPPORTED,
        "%s: dataset %s is %s, expected integers, floats of 2, 4 or 8 bytes, or compounds "
        "of two such floats",
        set->path, set->name, set->type_text);
}

/* The number type inside `type` in little-endian order; negative on failure. The caller closes it. */
static hid_t native_number(hid_t type) {
    const hid_t number = H5Tget_class(type) == H5T_ENUM ? H5Tget_super(type) : H5Tcopy(type);
    if (number >= 0 && H5Tset_order(number, H5T_ORDER_LE) < 0) {
        (void)H5Tclose(number);
        return -1;
    }
    return number;
}

/* A complex number in memory, its parts called as the file calls them. */
static hid_t native_complex(hid_t type, const slci_element *element) {
    const hid_t complex = H5Tcreate(H5T_COMPOUND, (size_t)(2 * element->part_bytes));
    bool is_ok = complex >= 0;
    for (unsigned k = 0; k < 2 && is_ok; k++) {
        const hid_t member = H5Tget_member_type(type, k);
        const hid_t part = member < 0 ? -1 : native_number(member);
        char *const name = H5Tget_member_name(type, k);
        const bool is_real = (int64_t)H5Tget_member_offset(type, k) == element->real_offset;
        is_ok = part >= 0 && name != NULL &&
                H5Tinsert(complex, name, is_real ? 0 : (size_t)element->part_bytes, part) >= 0;
        (void)H5free_memory(name);
        (void)H5Tclose(part);
        (void)H5Tclose(member);
    }
    if (!is_ok && complex >= 0) {
        (void)H5Tclose(complex);
    }
    return is_ok ? complex : -1;
}

static bool is_native(const slci_element *element) {
    const bool is_plain = element->kind != SLCI_ELEMENT_COMPLEX_FLOAT ||
                          (element->bytes == 2 * element->part_bytes && element->real_offset == 0);
    return is_plain && (!element->is_big_endian || element->part_bytes == 1);
}

/* From here on the dataset is read in the machine's own form. */
static slc_status choose_memory_type(slci_h5_dataset *set) {
    if (is_native(&set->type)) {
        return SLC_OK;
    }
    set->turn = slci_h5_array_turn(&set->type);
    slci_h5_lock();
    const hid_t stored = (hid_t)set->type_id;
    const hid_t memory = set->type.kind == SLCI_ELEMENT_COMPLEX_FLOAT
                             ? native_complex(stored, &set->type)
                             : native_number(stored);
    char text[256] = "";
    if (memory >= 0) {
        (void)H5Tclose(stored);
        set->type_id = (slci_h5_id)memory;
    } else {
        slci_h5_error_text(text, sizeof text);
    }
    slci_h5_unlock();
    return memory >= 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: dataset %s: no type in memory for %s (%s)",
                          set->path, set->name, set->type_text, text);
}

/* ---- opening ---------------------------------------------------------------------------------- */

static const slci_h5_dataset *set_of(const slc_source *source) {
    return &((const h5_array *)source)->set;
}

static slc_status describe(h5_array *array) {
    const slci_h5_dataset *set = &array->set;
    slc_dtype dtype = SLC_U8;
    if (set->is_null) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s has no elements and no shape", set->path,
                        set->name);
    }
    SLC_TRY(find_dtype(set, &dtype));
    SLC_TRY(slc_layout_dense(dtype, set->rank, set->shape, &array->base.fields[0]));
    array->base.shared_rank = set->rank;
    array->base.n_fields = 1;
    (void)snprintf(array->base.name, sizeof array->base.name, "%.127s:%.127s", array->path,
                   set->name);
    /* Not the file's name: a run may be resumed from another folder. */
    (void)snprintf(array->base.identity, sizeof array->base.identity,
                   "%.120s of a file of %lld bytes, changed at %lld ns", set->name,
                   (long long)array->stamp.bytes, (long long)array->stamp.modified_ns);
    return SLC_OK;
}

static slc_status open_array(h5_array *array, const slc_h5_array_options *options) {
    char name[SLCI_H5_NAME_BYTES];
    SLC_TRY(slci_h5_array_name(options->dataset, name));
    array->path = strdup(options->path);
    if (array->path == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", options->path);
    }
    SLC_TRY(slci_file_stamp_get(options->path, &array->stamp));
    SLC_TRY(slci_h5_open(options->path, options->log, &array->file));
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(array->file, array->path, name, &kind));
    if (kind != SLCI_H5_DATASET) {
        return slci_h5_array_missing(array->file, options->path, name);
    }
    SLC_TRY(slci_h5_dataset_open(array->file, array->path, name, &array->set));
    SLC_TRY(describe(array));
    SLC_TRY(choose_memory_type(&array->set));
    SLC_TRY(slci_h5_dataset_read_past(&array->set, options->log));
    array->base.is_divisible = slci_h5_dataset_path(&array->set) != SLCI_H5_LIBRARY;
    return slci_h5_dataset_set_cache(array->file, &array->set, 0);
}

/* ---- the source ------------------------------------------------------------------------------- */

/* HDF5 keeps a row of chunks for the box that goes on along the slowest dimension, not for one
 * beside the box before. */
static bool goes_on(h5_array *array, const slc_box *box) {
    (void)pthread_mutex_lock(&array->mutex);
    bool is_next = array->can_keep_row && array->last.rank == box->rank;
    for (int d = 1; d < box->rank && is_next; d++) {
        is_next =
            array->last.origin[d] == box->origin[d] && array->last.extent[d] == box->extent[d];
    }
    array->last = *box;
    (void)pthread_mutex_unlock(&array->mutex);
    return is_next;
}

static slc_status array_read_part(slc_source *source, const slc_box *box, void *const *dst,
                                  int part, int n_parts) {
    h5_array *array = (h5_array *)source;
    if (dst[0] == NULL || slc_box_count(box) == 0) {
        return SLC_OK;
    }
    slci_h5_part wanted = {.origin = box->origin,
                           .extent = box->extent,
                           .raw = dst[0],
                           .part = part,
                           .n_parts = n_parts};
    if (array->set.chunks == NULL && part == 0) {
        wanted.keeps_row = goes_on(array, box);
    }
    return slci_h5_dataset_read_part(&array->set, &wanted, &source->counters);
}

static slc_status array_read(slc_source *source, const slc_box *box, void *const *dst) {
    return array_read_part(source, box, dst, 0, 1);
}

static int64_t array_next_unit(slc_source *source, int axis, int64_t index) {
    const int64_t chunk = set_of(source)->chunk[axis];
    return chunk > 0 ? (index / chunk + 1) * chunk : index + 1;
}

static slc_status array_finish(slc_source *source) {
    const h5_array *array = (const h5_array *)source;
    slci_file_stamp now;
    SLC_TRY(slci_file_stamp_get(array->path, &now));
    return slci_file_stamp_equal(&now, &array->stamp)
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s: the file was changed while it was read",
                          array->path);
}

static void array_destroy(slc_source *source) {
    h5_array *array = (h5_array *)source;
    slci_h5_dataset_close(&array->set);
    if (array->file > 0) {
        slci_h5_close(array->file);
    }
    (void)pthread_mutex_destroy(&array->mutex);
    free(array->path);
    free(array);
}

static const slc_source_ops array_ops = {.read = array_read,
                                         .read_part = array_read_part,
                                         .next_unit = array_next_unit,
                                         .finish = array_finish,
                                         .destroy = array_destroy};

slc_status slc_h5_array_open(const slc_h5_array_options *options, slc_source **out) {
    h5_array *array = calloc(1, sizeof *array);
    if (array == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", options->path);
    }
    array->base.ops = &array_ops;
    (void)pthread_mutex_init(&array->mutex, NULL);
    const slc_status status = open_array(array, options);
    if (status != SLC_OK) {
        array_destroy(&array->base);
        return status;
    }
    *out = &array->base;
    return SLC_OK;
}

int64_t slc_h5_array_stored_bytes(const slc_source *source) {
    return slci_h5_dataset_stored_bytes(set_of(source));
}

bool slc_h5_array_is_enum(const slc_source *source) {
    return set_of(source)->type.is_enum;
}

const char *slc_h5_array_reader(const slc_source *source, const char **why) {
    const slci_h5_dataset *set = set_of(source);
    *why = set->why;
    return slci_h5_path_name(slci_h5_dataset_path(set));
}

int64_t slc_h5_array_reader_bytes(const slc_source *source, int n_threads) {
    const slci_h5_dataset *set = set_of(source);
    const int64_t n = set->chunks == NULL ? 1 : n_threads; /* HDF5 lets in one */
    return slci_h5_dataset_index_bytes(set) + n * slci_h5_dataset_thread_bytes(set);
}

int64_t slc_h5_array_row_bytes(const slc_source *source, int axis) {
    const slci_h5_dataset *set = set_of(source);
    int64_t bytes = set->type.bytes;
    if (!set->is_filtered || set->rank == 0 || set->chunk[0] == 0) {
        return 0;
    }
    for (int d = 0; d < set->rank; d++) {
        const int64_t n_chunks = d == axis ? 1 : slc_ceil_div(set->shape[d], set->chunk[d]);
        if (!slc_checked_mul(bytes, n_chunks * set->chunk[d], &bytes)) {
            return INT64_MAX;
        }
    }
    return bytes;
}

slc_status slc_h5_array_set_cache(slc_source *source, int64_t bytes) {
    h5_array *array = (h5_array *)source;
    array->can_keep_row = bytes > 0 && slc_h5_array_row_bytes(source, 0) <= bytes;
    return slci_h5_dataset_set_cache(array->file, &array->set, bytes);
}
