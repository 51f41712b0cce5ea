/* Lists the chunks with the call that HDF5 1.10.10, 1.12.3, 1.14 and later have for it. */
#include <hdf5.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/h5_index.h"

typedef struct walk {
    const slci_h5_index_request *request;
    slci_h5_index *index;
    slc_status status;
} walk;

static int enter(const hsize_t *element, unsigned mask, haddr_t offset, hsize_t bytes,
                 void *context) {
    walk *self = context;
    int64_t at[SLC_MAX_RANK];
    for (int d = 0; d < self->request->rank; d++) {
        const hsize_t number = element[d] / (hsize_t)self->request->chunk[d];
        if (number >= (hsize_t)self->index->grid[d]) {
            self->status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "a chunk lies outside of the dataset");
            return H5_ITER_STOP;
        }
        at[d] = (int64_t)number;
    }
    const slci_h5_index_entry entry = {.offset = (uint64_t)offset,
                                       .bytes = (uint64_t)bytes,
                                       .mask = (uint32_t)mask};
    self->status = slci_h5_index_enter(self->request, self->index,
                                       slci_h5_index_find(self->index, at), &entry);
    return self->status == SLC_OK ? H5_ITER_CONT : H5_ITER_STOP;
}

/* ---- a user block ----------------------------------------------------------------------------- */

/* Versions differ in whether the user block counts in the addresses that they give. So chunks are
 * read by HDF5 as they are stored, and looked for in the file at both places. This many are looked
 * at where they are found at both. */
#define MOST_LOOKS 16

static slc_status get_user_block(const slci_h5_index_request *request, int64_t *out) {
    hsize_t bytes = 0;
    const hid_t file = H5Iget_file_id((hid_t)request->dataset);
    const hid_t list = file < 0 ? -1 : H5Fget_create_plist(file);
    const herr_t result = list < 0 ? -1 : H5Pget_userblock(list, &bytes);
    if (list >= 0) {
        (void)H5Pclose(list);
    }
    if (file >= 0) {
        (void)H5Fclose(file);
    }
    *out = (int64_t)bytes;
    return result >= 0 ? SLC_OK
                       : SLC_FAIL(SLC_ERROR_UNSUPPORTED, "HDF5 does not say how its file begins");
}

/* Whether the file holds these bytes there. */
static bool is_at(const slci_h5_index_request *request, const unsigned char *bytes, int64_t n,
                  int64_t offset) {
    unsigned char piece[4096];
    bool is_same = true;
    for (int64_t done = 0; done < n && is_same; done += (int64_t)sizeof piece) {
        const int64_t left = slc_min_i64(n - done, (int64_t)sizeof piece);
        is_same = slci_read_at(request->descriptor, piece, left, offset + done) == left &&
                  memcmp(piece, bytes + done, (size_t)left) == 0;
    }
    return is_same;
}

/* Whether the stored bytes of chunk k lie at its address, and whether they lie a user block behind
 * it. */
static slc_status look(const slci_h5_index_request *request, const slci_h5_index *index, int64_t k,
                       int64_t user_block, bool at[2]) {
    int64_t place[SLC_MAX_RANK];
    hsize_t element[SLC_MAX_RANK];
    uint32_t mask = 0;
    slci_h5_index_place(index, k, place);
    for (int d = 0; d < request->rank; d++) {
        element[d] = (hsize_t)(place[d] * request->chunk[d]);
    }
    const int64_t n = (int64_t)index->bytes[k];
    const int64_t offset = (int64_t)index->offset[k];
    unsigned char *stored = malloc((size_t)n);
    if (stored == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to look its chunks up",
                        request->path, request->name);
    }
    const herr_t result =
        H5Dread_chunk((hid_t)request->dataset, H5P_DEFAULT, element, &mask, stored);
    at[0] = result >= 0 && is_at(request, stored, n, offset);
    at[1] = result >= 0 && is_at(request, stored, n, offset + user_block);
    free(stored);
    return SLC_OK;
}

static slc_status count_user_block(const slci_h5_index_request *request, slci_h5_index *index) {
    int64_t user_block = 0;
    SLC_TRY(get_user_block(request, &user_block));
    bool at[2] = {user_block == 0, false};
    int n_looks = 0;
    for (int64_t k = 0; k < index->n_chunks && at[0] == at[1] && n_looks < MOST_LOOKS; k++) {
        if (index->bytes[k] != 0) {
            SLC_TRY(look(request, index, k, user_block, at));
            n_looks++;
        }
    }
    if (at[0] == at[1] && n_looks > 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "it is not clear whether chunks lie behind a user block of %" PRId64
                        " bytes",
                        user_block);
    }
    for (int64_t k = 0; k < index->n_chunks && at[1]; k++) {
        if (index->bytes[k] != 0) {
            index->offset[k] += (uint64_t)user_block;
            if (index->offset[k] + index->bytes[k] > (uint64_t)request->file_bytes) {
                return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "chunk %" PRId64 " ends behind the file", k);
            }
        }
    }
    return SLC_OK;
}

slc_status slci_h5_index_fill(const slci_h5_index_request *request, slci_h5_index *index,
                              int64_t *n_named) {
    walk self = {request, index, SLC_OK};
    if (H5Dchunk_iter((hid_t)request->dataset, H5P_DEFAULT, enter, &self) < 0 &&
        self.status == SLC_OK) {
        char text[256];
        slci_h5_error_text(text, sizeof text);
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its chunks cannot be listed (%s)", text);
    }
    SLC_TRY(self.status);
    SLC_TRY(count_user_block(request, index));
    return slci_h5_index_count(request, request->dataset, n_named);
}
