/* What both ways of finding chunks share: memory, lookup, and the checks that every entry passes before
 * anything is read at its place. */
#include "io/h5_index.h"

#include <hdf5.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"

/* What one chunk takes in the three tables. */
#define ENTRY_BYTES ((int64_t)(sizeof(uint64_t) + 2 * sizeof(uint32_t)))

bool slci_h5_index_places(int rank, const int64_t *shape, const int64_t *chunk, int64_t *out) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        if (!slc_checked_mul(n, slc_ceil_div(shape[d], chunk[d]), &n)) {
            return false;
        }
    }
    *out = n;
    return true;
}

int64_t slci_h5_index_bytes(int rank, const int64_t *shape, const int64_t *chunk) {
    int64_t n;
    int64_t bytes;
    return slci_h5_index_places(rank, shape, chunk, &n) && slc_checked_mul(n, ENTRY_BYTES, &bytes)
               ? bytes + (int64_t)sizeof(slci_h5_index)
               : INT64_MAX;
}

void slci_h5_index_destroy(slci_h5_index *index) {
    if (index != NULL) {
        free(index->mask);
        free(index->bytes);
        free(index->offset);
        free(index);
    }
}

int64_t slci_h5_index_find(const slci_h5_index *index, const int64_t *at) {
    int64_t place = 0;
    for (int d = 0; d < index->rank; d++) {
        place = place * index->grid[d] + at[d];
    }
    return place;
}

void slci_h5_index_place(const slci_h5_index *index, int64_t k, int64_t *at) {
    for (int d = index->rank - 1; d >= 0; d--) {
        at[d] = k % index->grid[d];
        k /= index->grid[d];
    }
}

slc_status slci_h5_index_enter(const slci_h5_index_request *request, slci_h5_index *index,
                               int64_t at, const slci_h5_index_entry *entry) {
    const uint64_t file_bytes = (uint64_t)request->file_bytes;
    if (entry->bytes == 0 || entry->bytes > UINT32_MAX || entry->offset > file_bytes ||
        entry->bytes > file_bytes - entry->offset) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: dataset %s: damaged: chunk %" PRId64 " is said to have %" PRIu64
                        " bytes at %" PRIu64 " of a file of %" PRIu64,
                        request->path, request->name, at, entry->bytes, entry->offset, file_bytes);
    }
    if (index->bytes[at] != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: dataset %s: damaged: chunk %" PRId64 " is there twice", request->path,
                        request->name, at);
    }
    index->offset[at] = entry->offset;
    index->bytes[at] = (uint32_t)entry->bytes;
    index->mask[at] = entry->mask;
    index->n_stored++;
    index->stored_bytes += (int64_t)entry->bytes;
    index->max_bytes = slc_max_i64(index->max_bytes, (int64_t)entry->bytes);
    return SLC_OK;
}

static void find_order(slci_h5_index *index) {
    uint64_t last = 0;
    index->is_ascending = true;
    for (int64_t k = 0; k < index->n_chunks; k++) {
        if (index->bytes[k] != 0) {
            index->is_ascending = index->is_ascending && index->offset[k] >= last;
            last = index->offset[k];
        }
    }
}

slc_status slci_h5_index_count(const slci_h5_index_request *request, slci_h5_id dataset,
                               int64_t *out) {
    hsize_t n = 0;
    const hid_t space = H5Dget_space((hid_t)dataset);
    const herr_t result = space < 0 ? -1 : H5Dget_num_chunks((hid_t)dataset, space, &n);
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    if (result < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s: its chunks cannot be counted",
                        request->path, request->name);
    }
    *out = (int64_t)n;
    return SLC_OK;
}

void slci_h5_index_clear(slci_h5_index *index) {
    const size_t n = (size_t)index->n_chunks;
    memset(index->offset, 0, n * sizeof *index->offset);
    memset(index->bytes, 0, n * sizeof *index->bytes);
    memset(index->mask, 0, n * sizeof *index->mask);
    index->n_stored = 0;
    index->stored_bytes = 0;
    index->max_bytes = 0;
}

/* Fills the tables, and sees that none is missing which HDF5 knows: one that its lookup fails on looks
 * like one not stored. */
static slc_status fill(const slci_h5_index_request *request, slci_h5_index *index) {
    int64_t n_named = 0;
    SLC_TRY(slci_h5_index_fill(request, index, &n_named));
    if (n_named != index->n_stored) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: dataset %s: damaged: its index names %" PRId64 " chunks, of which "
                        "%" PRId64 " can be looked up",
                        request->path, request->name, n_named, index->n_stored);
    }
    return SLC_OK;
}

static slc_status make(const slci_h5_index_request *request, slci_h5_index *index) {
    index->rank = request->rank;
    if (!slci_h5_index_places(request->rank, request->shape, request->chunk, &index->n_chunks) ||
        index->n_chunks > SLCI_H5_MOST_CHUNKS) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it has more than %" PRId64 " chunks",
                        SLCI_H5_MOST_CHUNKS);
    }
    for (int d = 0; d < request->rank; d++) {
        index->grid[d] = slc_ceil_div(request->shape[d], request->chunk[d]);
    }
    const size_t n = (size_t)slc_max_i64(index->n_chunks, 1);
    index->offset = calloc(n, sizeof *index->offset);
    index->bytes = calloc(n, sizeof *index->bytes);
    index->mask = calloc(n, sizeof *index->mask);
    if (index->offset == NULL || index->bytes == NULL || index->mask == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory for the index of %zu chunks",
                        request->path, request->name, n);
    }
    SLC_TRY(fill(request, index));
    find_order(index);
    return SLC_OK;
}

slc_status slci_h5_index_create(const slci_h5_index_request *request, slci_h5_index **out) {
    slci_h5_index *index = calloc(1, sizeof *index);
    if (index == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory for the index of its chunks",
                        request->path, request->name);
    }
    const slc_status status = make(request, index);
    if (status != SLC_OK) {
        slci_h5_index_destroy(index);
        return status;
    }
    *out = index;
    return SLC_OK;
}
