/* Boxes of datasets, as bytes. Where io/h5_chunks.h may read them, it does; where not, HDF5 is asked
 * for the file's own element type, so that it copies and does not convert. */
#include "io/h5_data.h"

#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_chunks.h"
#include "io/h5_object_check.h"

/* Slots of the chunk cache's hash table for each chunk that fits; the library's manual advises ten to
 * a hundred. */
#define CACHE_SLOTS_PER_CHUNK 16
#define CACHE_SLOTS_MIN 521
#define CACHE_SLOTS_MAX 1000003

/* With the lock, and the way to it looked at. False for want of memory: any other failure is HDF5's
 * answer where a group on the way is not there. */
static bool find_kind(hid_t file, const char *name, slci_h5_kind *out) {
    H5O_info_t info = {.type = H5O_TYPE_UNKNOWN};
    *out = SLCI_H5_ABSENT;
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0 ||
        H5Oexists_by_name(file, name, H5P_DEFAULT) <= 0) {
        return !slci_h5_lacks_memory();
    }
    const bool is_known = H5Oget_info_by_name2(file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0;
    *out = is_known && info.type == H5O_TYPE_GROUP     ? SLCI_H5_GROUP
           : is_known && info.type == H5O_TYPE_DATASET ? SLCI_H5_DATASET
                                                       : SLCI_H5_OTHER;
    return is_known || !slci_h5_lacks_memory();
}

slc_status slci_h5_find(slci_h5_id file, const char *path, const char *name, slci_h5_kind *out) {
    slci_h5_kind kind = SLCI_H5_ABSENT;
    slci_h5_lock();
    const bool is_found =
        slci_h5_object_check_way((hid_t)file, name) && find_kind((hid_t)file, name, &kind);
    const slc_status status = is_found ? SLC_OK : slci_h5_header_fail(path, name);
    slci_h5_unlock();
    SLC_TRY(status);
    *out = kind;
    return SLC_OK;
}

static slc_status read_shape(slci_h5_dataset *dataset) {
    const hid_t space = H5Dget_space((hid_t)dataset->id);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t shape[H5S_MAX_RANK] = {0};
    hsize_t limits[H5S_MAX_RANK] = {0};
    slc_status status = SLC_OK;
    int64_t count = dataset->type.bytes;
    if (rank < 0 || H5Sget_simple_extent_dims(space, shape, limits) < 0) {
        status = slci_h5_input_fail(dataset->path, dataset->name, "its shape");
    } else if (rank > SLC_MAX_RANK) {
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                          "%s: dataset %s has %d dimensions, at most %d are supported",
                          dataset->path, dataset->name, rank, SLC_MAX_RANK);
    }
    dataset->is_null = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
    for (int d = 0; status == SLC_OK && d < rank; d++) {
        if (shape[d] > limits[d]) { /* an unlimited one has the largest number */
            status =
                SLC_FAIL(SLC_ERROR_INPUT,
                         "%s: dataset %s: dimension %d has %" PRIu64 " elements, but may grow "
                         "to %" PRIu64 " only: damaged data; copy the file again",
                         dataset->path, dataset->name, d, (uint64_t)shape[d], (uint64_t)limits[d]);
        } else if (shape[d] > INT64_MAX || !slc_checked_mul(count, (int64_t)shape[d], &count)) {
            status = SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s: the shape is past 2^63 bytes",
                              dataset->path, dataset->name);
        }
        dataset->shape[d] = (int64_t)shape[d];
        dataset->rank = rank;
    }
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    return status;
}

static slc_status open_id(slci_h5_id file, slci_h5_dataset *dataset, hid_t access) {
    const hid_t id = H5Dopen2((hid_t)file, dataset->name, access);
    if (id < 0) {
        return slci_h5_input_fail(dataset->path, dataset->name, "its header");
    }
    dataset->id = (slci_h5_id)id;
    return SLC_OK;
}

static slc_status open_locked(slci_h5_id file, slci_h5_dataset *dataset) {
    SLC_TRY(slci_h5_check_header(file, dataset->path, dataset->name));
    SLC_TRY(open_id(file, dataset, H5P_DEFAULT));
    const hid_t id = (hid_t)dataset->id;
    const hid_t type = H5Dget_type(id);
    if (type < 0) {
        return slci_h5_input_fail(dataset->path, dataset->name, "its type");
    }
    dataset->type_id = (slci_h5_id)type;
    slci_h5_type_describe(dataset->type_id, &dataset->type, &dataset->type_class,
                          dataset->type_text, sizeof dataset->type_text);
    SLC_TRY(read_shape(dataset));
    const hid_t properties = H5Dget_create_plist(id);
    if (properties < 0) {
        return slci_h5_input_fail(dataset->path, dataset->name, "its storage");
    }
    const slc_status status = slci_h5_check_storage(dataset, (slci_h5_id)properties);
    (void)H5Pclose(properties);
    return status;
}

slc_status slci_h5_dataset_open(slci_h5_id file, const char *path, const char *name,
                                slci_h5_dataset *out) {
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(file, path, name, &kind));
    if (kind != SLCI_H5_DATASET) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is %s", path, name,
                        kind == SLCI_H5_ABSENT ? "missing" : "not a dataset");
    }
    slci_h5_dataset dataset;
    memset(&dataset, 0, sizeof dataset);
    dataset.path = path;
    (void)snprintf(dataset.name, sizeof dataset.name, "%s", name);
    slci_h5_lock();
    const slc_status status = open_locked(file, &dataset);
    slci_h5_unlock();
    if (status != SLC_OK) {
        slci_h5_dataset_close(&dataset);
        return status;
    }
    *out = dataset;
    return SLC_OK;
}

void slci_h5_dataset_close(slci_h5_dataset *dataset) {
    slci_h5_chunks_destroy(dataset->chunks);
    dataset->chunks = NULL;
    slci_h5_lock();
    if (dataset->type_id > 0) {
        (void)H5Tclose((hid_t)dataset->type_id);
    }
    if (dataset->id > 0) {
        (void)H5Dclose((hid_t)dataset->id);
    }
    slci_h5_unlock();
    dataset->type_id = 0;
    dataset->id = 0;
}

static bool is_chunked(const slci_h5_dataset *dataset) {
    return dataset->rank > 0 && dataset->chunk[0] > 0;
}

/* ---- past the library ------------------------------------------------------------------------- */

static slc_status create_chunks(slci_h5_dataset *dataset) {
    const slci_h5_chunks_request request = {.path = dataset->path,
                                            .name = dataset->name,
                                            .dataset = dataset->id,
                                            .type = dataset->type_id,
                                            .rank = dataset->rank,
                                            .shape = dataset->shape,
                                            .chunk = dataset->chunk,
                                            .element_bytes = dataset->type.bytes,
                                            .turn = dataset->turn};
    if (!slci_element_is_real(&dataset->type) && !slci_element_is_complex(&dataset->type)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its elements are no numbers");
    }
    slci_h5_lock();
    slci_h5_codec_expect(dataset->codec_bytes);
    const slc_status status = slci_h5_chunks_create(&request, &dataset->chunks);
    slci_h5_unlock();
    return status;
}

slc_status slci_h5_dataset_read_past(slci_h5_dataset *dataset, slc_log *log) {
    const slc_status status = create_chunks(dataset);
    if (status == SLC_ERROR_UNSUPPORTED) {
        (void)snprintf(dataset->why, sizeof dataset->why, "%.191s", slc_status_message());
        slc_log_detail(log, "%s: dataset %s is read by HDF5, one thread at a time: %s",
                       dataset->path, dataset->name, dataset->why);
        return SLC_OK;
    }
    SLC_TRY(status);
    dataset->why[0] = '\0';
    slc_log_detail(log, "%s: dataset %s is read by all threads, %s", dataset->path, dataset->name,
                   slci_h5_path_name(slci_h5_dataset_path(dataset)));
    return SLC_OK;
}

slci_h5_path slci_h5_dataset_path(const slci_h5_dataset *dataset) {
    return dataset->chunks == NULL          ? SLCI_H5_LIBRARY
           : dataset->chunks->index == NULL ? SLCI_H5_CONTIGUOUS
                                            : SLCI_H5_CHUNKS;
}

const char *slci_h5_path_name(slci_h5_path path) {
    static const char *const names[] = {[SLCI_H5_LIBRARY] = "library",
                                        [SLCI_H5_CHUNKS] = "chunks",
                                        [SLCI_H5_CONTIGUOUS] = "contiguous"};
    return names[path];
}

int64_t slci_h5_dataset_index_bytes(const slci_h5_dataset *dataset) {
    return dataset->chunks == NULL ? 0 : slci_h5_chunks_index_bytes(dataset->chunks);
}

int64_t slci_h5_dataset_thread_bytes(const slci_h5_dataset *dataset) {
    if (dataset->chunks != NULL) {
        return slci_h5_chunks_thread_bytes(dataset->chunks);
    }
    int64_t bytes = is_chunked(dataset) ? dataset->type.bytes : 0;
    for (int d = 0; d < dataset->rank; d++) {
        bytes *= dataset->chunk[d]; /* checked when the dataset was opened */
    }
    return bytes;
}

void slci_h5_dataset_rest(const slci_h5_dataset *dataset) {
    if (dataset->chunks != NULL) {
        slci_h5_chunks_rest(dataset->chunks);
    }
}

int64_t slci_h5_dataset_stored_bytes(const slci_h5_dataset *dataset) {
    if (dataset->id == 0) {
        return dataset->member_bytes;
    }
    if (dataset->chunks != NULL && dataset->chunks->index != NULL) {
        return dataset->chunks->index->stored_bytes;
    }
    slci_h5_lock();
    const int64_t bytes = (int64_t)H5Dget_storage_size((hid_t)dataset->id);
    slci_h5_unlock();
    return bytes;
}

/* ---- the library's cache ---------------------------------------------------------------------- */

slc_status slci_h5_dataset_set_cache(slci_h5_id file, slci_h5_dataset *dataset, int64_t bytes) {
    if (!is_chunked(dataset)) {
        return SLC_OK;
    }
    if (dataset->chunks != NULL) {
        return slci_h5_chunks_keep(dataset->chunks, bytes);
    }
    int64_t chunk_bytes = dataset->type.bytes;
    for (int d = 0; d < dataset->rank; d++) {
        chunk_bytes *= dataset->chunk[d];
    }
    const int64_t room = dataset->is_filtered ? slc_max_i64(bytes, 0) : 0;
    const int64_t n_chunks = room / slc_max_i64(chunk_bytes, 1) + 1;
    const int64_t slots = slc_min_i64(
        slc_max_i64(n_chunks, CACHE_SLOTS_MIN / CACHE_SLOTS_PER_CHUNK) * CACHE_SLOTS_PER_CHUNK + 1,
        CACHE_SLOTS_MAX);
    slc_status status = SLC_OK;
    slci_h5_lock();
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    /* Chunks that were read to their end go first: rows are read once and in order. */
    if (access >= 0 && H5Pset_chunk_cache(access, (size_t)slots, (size_t)room, 1.0) >= 0) {
        (void)H5Dclose((hid_t)dataset->id); /* HDF5 keeps the old cache while the dataset is open */
        dataset->id = 0;
        dataset->kept_row = 0; /* the new one holds nothing yet */
        status = open_id(file, dataset, access);
    } else {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no cache of %" PRId64 " bytes",
                          dataset->path, dataset->name, room);
    }
    if (access >= 0) {
        (void)H5Pclose(access);
    }
    slci_h5_unlock();
    return status;
}

int64_t slci_h5_dataset_chunk_row_bytes(const slci_h5_dataset *dataset, const int64_t *origin,
                                        const int64_t *extent) {
    if (!is_chunked(dataset) || !dataset->is_filtered) {
        return 0;
    }
    int64_t bytes = dataset->type.bytes * dataset->chunk[0];
    for (int d = 1; d < dataset->rank; d++) {
        const int64_t first = origin[d] / dataset->chunk[d];
        const int64_t last = (origin[d] + slc_max_i64(extent[d], 1) - 1) / dataset->chunk[d];
        if (!slc_checked_mul(bytes, (last - first + 1) * dataset->chunk[d], &bytes)) {
            return INT64_MAX;
        }
    }
    return bytes;
}

static slc_status fail_read(const slci_h5_dataset *dataset, int64_t row) {
    char text[256];
    slci_h5_error_text(text, sizeof text);
    if (slci_h5_codec_lacks_memory()) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to decode row %" PRId64,
                        dataset->path, dataset->name, row);
    }
    return SLC_FAIL(SLC_ERROR_INPUT,
                    "%s: dataset %s cannot be read at row %" PRId64 " (%s): damaged data",
                    dataset->path, dataset->name, row, text);
}

static slc_status read_locked(const slci_h5_dataset *dataset, const int64_t *origin,
                              const int64_t *extent, void *raw) {
    hid_t file_space = H5S_ALL;
    hid_t memory_space = H5S_ALL;
    slc_status status = SLC_OK;
    if (dataset->rank > 0) {
        hsize_t start[SLC_MAX_RANK];
        hsize_t count[SLC_MAX_RANK];
        for (int d = 0; d < dataset->rank; d++) {
            start[d] = (hsize_t)origin[d];
            count[d] = (hsize_t)extent[d];
        }
        file_space = H5Dget_space((hid_t)dataset->id);
        memory_space = H5Screate_simple(dataset->rank, count, NULL);
        if (file_space < 0 || memory_space < 0 ||
            H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) {
            status = slci_h5_input_fail(dataset->path, dataset->name, "a box of it");
        }
    }
    slci_h5_codec_expect(dataset->codec_bytes);
    if (status == SLC_OK && H5Dread((hid_t)dataset->id, (hid_t)dataset->type_id, memory_space,
                                    file_space, H5P_DEFAULT, raw) < 0) {
        status = fail_read(dataset, dataset->rank > 0 ? origin[0] : 0);
    }
    if (memory_space > 0) {
        (void)H5Sclose(memory_space);
    }
    if (file_space > 0) {
        (void)H5Sclose(file_space);
    }
    return status;
}

static slc_status read_by_library(const slci_h5_dataset *dataset, const int64_t *origin,
                                  const int64_t *extent, void *raw) {
    slci_h5_lock();
    const slc_status status = read_locked(dataset, origin, extent, raw);
    slci_h5_unlock();
    return status;
}

static bool is_empty(const slci_h5_dataset *dataset, const int64_t *extent) {
    for (int d = 0; d < dataset->rank; d++) {
        if (extent[d] == 0) {
            return true;
        }
    }
    return false;
}

slc_status slci_h5_dataset_read(const slci_h5_dataset *dataset, const int64_t *origin,
                                const int64_t *extent, void *raw) {
    if (is_empty(dataset, extent)) {
        return SLC_OK;
    }
    if (dataset->chunks != NULL) {
        slci_h5_chunk_counts counts = {0};
        const slci_h5_chunk_box box = {.origin = origin, .extent = extent, .dst = raw};
        return slci_h5_chunks_read(dataset->chunks, &box, &counts);
    }
    return read_by_library(dataset, origin, extent, raw);
}

/* ---- counting --------------------------------------------------------------------------------- */

/* How many chunks HDF5 fetches for a box, and how many bytes are stored for them. A row of chunks that
 * the box before ended in is not fetched again where the cache keeps it. Without chunks the box's own
 * bytes and 0 chunks; without a filter its own bytes, since then only they are read. */
static void count_by_library(slci_h5_dataset *dataset, const slci_h5_part *part,
                             slci_h5_chunk_counts *counts) {
    const int64_t *origin = part->origin;
    const int64_t *extent = part->extent;
    int64_t bytes = dataset->type.bytes;
    for (int d = 0; d < dataset->rank; d++) {
        bytes *= extent[d];
    }
    counts->stored_bytes = bytes;
    if (!is_chunked(dataset)) {
        return;
    }
    const int64_t first = origin[0] / dataset->chunk[0];
    int64_t fetched_bytes = 0;
    hsize_t at[SLC_MAX_RANK];
    for (int d = 0; d < dataset->rank; d++) {
        at[d] = (hsize_t)(origin[d] / dataset->chunk[d] * dataset->chunk[d]);
    }
    slci_h5_lock();
    /* Only the first row of chunks can still be there from the read before; others push it out. */
    const bool has_first = part->keeps_row && first + 1 == dataset->kept_row;
    for (int d = 0; d >= 0;) {
        hsize_t stored = 0;
        if (!has_first || (int64_t)at[0] / dataset->chunk[0] != first) {
            if (H5Dget_chunk_storage_size((hid_t)dataset->id, at, &stored) >= 0) {
                fetched_bytes += (int64_t)stored; /* a chunk never written has none */
            }
            counts->n_chunks += 1;
        }
        for (d = dataset->rank - 1; d >= 0; d--) {
            at[d] += (hsize_t)dataset->chunk[d];
            if ((int64_t)at[d] < origin[d] + extent[d]) {
                break;
            }
            at[d] = (hsize_t)(origin[d] / dataset->chunk[d] * dataset->chunk[d]);
        }
    }
    dataset->kept_row = (origin[0] + extent[0] - 1) / dataset->chunk[0] + 1;
    (void)H5Eclear2(H5E_DEFAULT);
    slci_h5_unlock();
    counts->n_decoded = dataset->is_filtered ? counts->n_chunks : 0;
    counts->stored_bytes = dataset->is_filtered ? fetched_bytes : bytes;
}

slc_status slci_h5_dataset_read_part(slci_h5_dataset *dataset, const slci_h5_part *part,
                                     slc_source_counters *counters) {
    slci_h5_chunk_counts counts = {0};
    if (is_empty(dataset, part->extent)) {
        return SLC_OK;
    }
    if (dataset->chunks != NULL) {
        const slci_h5_chunk_box box = {.origin = part->origin,
                                       .extent = part->extent,
                                       .dst = part->raw,
                                       .part = part->part,
                                       .n_parts = part->n_parts};
        SLC_TRY(slci_h5_chunks_read(dataset->chunks, &box, &counts));
    } else if (part->part == 0) { /* HDF5's lock makes parts useless */
        count_by_library(dataset, part, &counts);
        SLC_TRY(read_by_library(dataset, part->origin, part->extent, part->raw));
    }
    if (counters == NULL) {
        return SLC_OK;
    }
    atomic_fetch_add(&counters->chunks_read, counts.n_chunks);
    atomic_fetch_add(&counters->chunks_decoded, counts.n_decoded);
    atomic_fetch_add(&counters->bytes_read, counts.stored_bytes);
    return SLC_OK;
}

void slci_h5_dataset_describe(const slci_h5_dataset *dataset, slc_vis_dataset *out) {
    memset(out, 0, sizeof *out);
    (void)snprintf(out->name, sizeof out->name, "%.63s", dataset->name);
    (void)snprintf(out->type, sizeof out->type, "%.63s", dataset->type_text);
    (void)snprintf(out->filters, sizeof out->filters, "%.127s", dataset->filters);
    (void)snprintf(out->reader, sizeof out->reader, "%s",
                   slci_h5_path_name(slci_h5_dataset_path(dataset)));
    (void)snprintf(out->why, sizeof out->why, "%s", dataset->why);
    out->rank = dataset->rank;
    out->logical_bytes = dataset->type.bytes;
    out->stored_bytes = slci_h5_dataset_stored_bytes(dataset);
    for (int d = 0; d < dataset->rank; d++) {
        out->shape[d] = dataset->shape[d];
        out->chunk[d] = dataset->chunk[d];
        out->logical_bytes *= dataset->shape[d]; /* checked when the dataset was opened */
    }
}
