/* Chunks are listed in one of two ways: HDF5's own call, whose time grows with the square of their
 * number, for few of them; else the index of io/h5_index.h, which reads the file past HDF5.
 *
 *     contiguous ──▶ one region ─┐
 *                                ├─▶ pieces, cut along the first dimensions ──▶ visit
 *     chunks ──▶ a region each ──┘
 */
#include "io/h5_stored.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "io/h5_heap.h"
#include "io/h5_index.h"
#include "io/h5_reason.h"
#include "io/outfile.h"

/* HDF5 lists so many in some milliseconds, and sixteen times as many in seconds. */
#define FEW_CHUNKS 1024
#define MOST_CHUNKS_BY_HDF5 16384

/* What a value of variable length takes in a file, at its place: its length, address, and number. */
#define VALUE_BYTES 16

static const char too_large[] = "it is larger than what is stored of it";

/* ---- regions ---------------------------------------------------------------------------------- */

hsize_t slci_h5_region_count(const slci_h5_region *region) {
    hsize_t n = 1;
    for (int d = 0; d < region->rank; d++) {
        n *= region->extent[d];
    }
    return n;
}

bool slci_h5_region_select(hid_t dataset, const slci_h5_region *region, slci_h5_spaces *out) {
    out->memory = H5Screate_simple(region->rank, region->extent, NULL);
    out->file = out->memory < 0 ? -1 : H5Dget_space(dataset);
    return out->file >= 0 &&
           (region->rank == 0 || H5Sselect_hyperslab(out->file, H5S_SELECT_SET, region->origin,
                                                     NULL, region->extent, NULL) >= 0);
}

void slci_h5_spaces_close(const slci_h5_spaces *spaces) {
    (void)H5Sclose(spaces->memory);
    (void)H5Sclose(spaces->file);
}

/* Cuts the region into pieces of `most` elements or fewer: whole along the last dimensions, a part of
 * dimension `cut`, one element of each dimension before it. */
static bool each_piece(const slci_h5_region *region, hsize_t most, slci_h5_visit *visit,
                       void *context) {
    slci_h5_region piece = *region;
    hsize_t inner = 1;
    int cut = region->rank - 1;
    while (cut > 0 && region->extent[cut] <= most / inner) {
        inner *= region->extent[cut--];
    }
    const hsize_t step = most / inner > 0 ? most / inner : 1;
    for (int d = 0; d <= cut; d++) {
        piece.extent[d] = 1;
    }
    if (region->rank == 0) {
        return visit(context, &piece);
    }
    for (int d = cut; d >= 0;) {
        const hsize_t left =
            region->extent[cut] - (piece.origin[cut] - region->origin[cut]); /* at least 1 */
        piece.extent[cut] = left < step ? left : step;
        if (!visit(context, &piece)) {
            return false;
        }
        piece.origin[cut] += piece.extent[cut];
        for (d = cut; d >= 0 && piece.origin[d] >= region->origin[d] + region->extent[d]; d--) {
            piece.origin[d] = region->origin[d];
            if (d > 0) {
                piece.origin[d - 1]++;
            }
        }
    }
    return true;
}

/* ---- the dataset ------------------------------------------------------------------------------ */

/* What decides how it is gone through. */
typedef struct stored_set {
    hid_t dataset;
    H5D_layout_t layout;
    slci_h5_region whole;
    hsize_t chunk[H5S_MAX_RANK];
    bool is_null, is_filtered, is_variable;
    size_t element_bytes; /* in memory, which is what the file has; at least, of what is variable */
    hsize_t stored_bytes, file_bytes;
    char file[SLC_PATH_BYTES];
} stored_set;

static bool read_lists(stored_set *set, hid_t space, hid_t list) {
    set->is_null = H5Sget_simple_extent_type(space) == H5S_NULL;
    set->whole.rank = H5Sget_simple_extent_dims(space, set->whole.extent, NULL);
    set->layout = H5Pget_layout(list);
    const int n_filters = H5Pget_nfilters(list);
    set->is_filtered = n_filters > 0;
    return set->whole.rank >= 0 && n_filters >= 0 && set->layout != H5D_LAYOUT_ERROR &&
           (set->layout != H5D_CHUNKED ||
            H5Pget_chunk(list, H5S_MAX_RANK, set->chunk) == set->whole.rank);
}

static bool look_at(hid_t dataset, stored_set *set) {
    struct stat info = {0};
    const hid_t space = H5Dget_space(dataset);
    const hid_t list = H5Dget_create_plist(dataset);
    const hid_t type = H5Dget_type(dataset);
    *set = (stored_set){.dataset = dataset};
    const bool is_ok = space >= 0 && list >= 0 && type >= 0 && read_lists(set, space, list) &&
                       H5Fget_name(dataset, set->file, sizeof set->file) > 0;
    slci_h5_reason_blame(is_ok, dataset, "the form");
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (is_ok) {
        set->element_bytes = H5Tget_size(type);
        set->is_variable = slci_h5_is_variable(type);
        if (set->is_variable && set->element_bytes < VALUE_BYTES) {
            set->element_bytes = VALUE_BYTES;
        }
        set->stored_bytes = H5Dget_storage_size(dataset);
        set->file_bytes = stat(set->file, &info) == 0 ? (hsize_t)info.st_size : 0;
    }
    (void)H5Tclose(type);
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* Whether there are any elements. */
static bool has_elements(const stored_set *set) {
    for (int d = 0; d < set->whole.rank; d++) {
        if (set->whole.extent[d] == 0) {
            return false;
        }
    }
    return !set->is_null && set->stored_bytes > 0;
}

/* Of a dataset in one piece: whether its elements fit into the file and into what is stored of it. */
static bool fits_file(const stored_set *set) {
    const hsize_t bytes = set->stored_bytes < set->file_bytes ? set->stored_bytes : set->file_bytes;
    hsize_t room = bytes / (set->element_bytes > 0 ? set->element_bytes : 1);
    for (int d = 0; d < set->whole.rank; d++) {
        room /= set->whole.extent[d];
    }
    return room > 0;
}

/* ---- chunks ----------------------------------------------------------------------------------- */

static bool is_possible(const stored_set *set, const slci_h5_stored_chunk *chunk) {
    hsize_t bytes = set->element_bytes;
    bool is_inside = true;
    for (int d = 0; d < set->whole.rank; d++) {
        bytes *= set->chunk[d]; /* less than 2^32, as HDF5 sees to */
        is_inside = is_inside && chunk->origin[d] < set->whole.extent[d];
    }
    return is_inside && chunk->bytes > 0 && chunk->bytes <= set->file_bytes &&
           (set->is_filtered || set->is_variable || (chunk->bytes == bytes && chunk->mask == 0));
}

static bool visit_chunk(const stored_set *set, slci_h5_stored_chunk *chunk,
                        slci_h5_visit_chunk *visit, void *context) {
    for (int d = 0; d < set->whole.rank; d++) {
        chunk->is_edge = chunk->is_edge || set->chunk[d] > set->whole.extent[d] - chunk->origin[d];
    }
    if (!is_possible(set, chunk)) {
        slci_h5_reason_push(set->dataset,
                            "one of its chunks is not where or as large as it can be");
        return false;
    }
    return visit(context, chunk);
}

/* By HDF5's own list. */
static bool each_by_hdf5(const stored_set *set, hid_t space, hsize_t n, slci_h5_visit_chunk *visit,
                         void *context) {
    bool is_ok = true;
    for (hsize_t k = 0; k < n && is_ok; k++) {
        hsize_t origin[H5S_MAX_RANK] = {0};
        haddr_t address = 0;
        unsigned mask = 0;
        slci_h5_stored_chunk chunk = {.origin = origin};
        is_ok =
            H5Dget_chunk_info(set->dataset, space, k, origin, &mask, &address, &chunk.bytes) >= 0;
        slci_h5_reason_blame(is_ok, set->dataset, "a chunk");
        chunk.mask = mask;
        is_ok = is_ok && visit_chunk(set, &chunk, visit, context);
    }
    return is_ok;
}

/* Whether the dataset's name leads to it when its file is opened by itself. */
static bool is_named(hid_t dataset, char name[SLC_PATH_BYTES]) {
    H5O_info_t ours;
    H5O_info_t named;
    const ssize_t n = H5Iget_name(dataset, name, SLC_PATH_BYTES);
    return n > 0 && n < SLC_PATH_BYTES && H5Oget_info2(dataset, &ours, H5O_INFO_BASIC) >= 0 &&
           H5Oget_info_by_name2(dataset, name, &named, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           ours.addr == named.addr && ours.fileno == named.fileno;
}

/* By the index, which may be of no use: then it stays NULL. */
static slc_status make_index(const stored_set *set, slci_h5_index **out) {
    char name[SLC_PATH_BYTES];
    slci_h5_index_request request = {.path = set->file,
                                     .name = name,
                                     .dataset = set->dataset,
                                     .file_bytes = (int64_t)set->file_bytes,
                                     .rank = set->whole.rank};
    if (request.rank < 1 || request.rank > SLC_MAX_RANK || !is_named(set->dataset, name)) {
        return SLC_OK;
    }
    for (int d = 0; d < request.rank; d++) {
        if (set->whole.extent[d] > INT64_MAX) {
            return SLC_OK;
        }
        request.shape[d] = (int64_t)set->whole.extent[d];
        request.chunk[d] = (int64_t)set->chunk[d];
    }
    request.descriptor = open(set->file, O_RDONLY | O_CLOEXEC);
    const slc_status status =
        request.descriptor < 0
            ? SLC_FAIL(SLC_ERROR_INPUT, "%s cannot be opened again: %s", set->file, strerror(errno))
            : slci_h5_index_create(&request, out);
    if (request.descriptor >= 0) {
        (void)close(request.descriptor);
    }
    return status == SLC_ERROR_UNSUPPORTED ? SLC_OK : status;
}

static bool each_by_index(const stored_set *set, const slci_h5_index *index,
                          slci_h5_visit_chunk *visit, void *context) {
    bool is_ok = true;
    for (int64_t k = 0; k < index->n_chunks && is_ok; k++) {
        int64_t at[SLC_MAX_RANK];
        hsize_t origin[SLC_MAX_RANK] = {0};
        slci_h5_index_place(index, k, at);
        for (int d = 0; d < index->rank; d++) {
            origin[d] = (hsize_t)at[d] * set->chunk[d];
        }
        slci_h5_stored_chunk chunk = {.origin = origin,
                                      .bytes = index->bytes[k],
                                      .mask = index->mask[k]};
        is_ok = chunk.bytes == 0 || visit_chunk(set, &chunk, visit, context);
    }
    return is_ok;
}

/* Why many chunks are not gone through: in the words of what failed, or because HDF5 alone could. */
static void say_unlisted(const stored_set *set, slc_status status, hsize_t n) {
    char text[SLCI_H5_REASON_BYTES];
    if (status != SLC_OK) {
        (void)snprintf(text, sizeof text, "its chunks cannot be listed: %s", slc_status_message());
    } else {
        (void)snprintf(text, sizeof text,
                       "it has %llu chunks; of a dataset with more than %d dimensions, of a larger "
                       "grid than others, or without a name, %d are listed at most",
                       (unsigned long long)n, SLC_MAX_RANK, MOST_CHUNKS_BY_HDF5);
    }
    slci_h5_reason_push(set->dataset, text);
}

static bool each_of_many(const stored_set *set, hid_t space, hsize_t n, slci_h5_visit_chunk *visit,
                         void *context) {
    slci_h5_index *index = NULL;
    const slc_status status = make_index(set, &index);
    bool is_ok = false;
    if (status == SLC_ERROR_MEMORY) {
        slci_h5_reason_push_no_memory("no memory to list the chunks of a dataset");
    } else if (status != SLC_OK || (index == NULL && n > MOST_CHUNKS_BY_HDF5)) {
        say_unlisted(set, status, n);
    } else {
        is_ok = index != NULL ? each_by_index(set, index, visit, context)
                              : each_by_hdf5(set, space, n, visit, context);
    }
    slci_h5_index_destroy(index);
    return is_ok;
}

static bool each_of_set(const stored_set *set, slci_h5_visit_chunk *visit, void *context) {
    hsize_t n = 0;
    if (!has_elements(set)) {
        return true;
    }
    const hid_t space = H5Dget_space(set->dataset);
    bool is_ok = space >= 0 && H5Dget_num_chunks(set->dataset, space, &n) >= 0;
    slci_h5_reason_blame(is_ok, set->dataset, "the list of chunks");
    is_ok = is_ok && (n > FEW_CHUNKS ? each_of_many(set, space, n, visit, context)
                                     : each_by_hdf5(set, space, n, visit, context));
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    return is_ok;
}

bool slci_h5_each_chunk(hid_t dataset, slci_h5_visit_chunk *visit, void *context) {
    stored_set set;
    return look_at(dataset, &set) && each_of_set(&set, visit, context);
}

/* ---- pieces ----------------------------------------------------------------------------------- */

typedef struct chunk_pieces {
    const stored_set *set;
    hsize_t most;
    slci_h5_visit *visit;
    void *context;
} chunk_pieces;

/* The elements of a chunk that are within the dataset. */
static bool visit_pieces(void *context, const slci_h5_stored_chunk *chunk) {
    const chunk_pieces *call = context;
    slci_h5_region region = {.rank = call->set->whole.rank};
    for (int d = 0; d < region.rank; d++) {
        const hsize_t left = call->set->whole.extent[d] - chunk->origin[d];
        region.origin[d] = chunk->origin[d];
        region.extent[d] = left < call->set->chunk[d] ? left : call->set->chunk[d];
    }
    return each_piece(&region, call->most, call->visit, call->context);
}

bool slci_h5_each_stored(hid_t dataset, hsize_t most, slci_h5_visit *visit, void *context) {
    stored_set set;
    if (!look_at(dataset, &set)) {
        return false;
    }
    if (!has_elements(&set)) {
        return true;
    }
    if (set.layout == H5D_CHUNKED) {
        const chunk_pieces call = {&set, most, visit, context};
        return each_of_set(&set, visit_pieces, (void *)&call);
    }
    if (!fits_file(&set)) {
        slci_h5_reason_push(dataset, too_large);
        return false;
    }
    return each_piece(&set.whole, most, visit, context);
}
