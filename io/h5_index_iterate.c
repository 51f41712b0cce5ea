/* Lists the chunks with the call that HDF5 1.12.3, 1.14 and later have for it. */
#include <hdf5.h>
#include <inttypes.h>

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
        at[d] = (int64_t)element[d] / self->request->chunk[d];
        if (at[d] >= self->index->grid[d]) {
            self->status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "a chunk lies outside of the dataset");
            return H5_ITER_STOP;
        }
    }
    const slci_h5_index_entry entry = {.offset = (uint64_t)offset,
                                       .bytes = (uint64_t)bytes,
                                       .mask = (uint32_t)mask};
    self->status = slci_h5_index_enter(self->request, self->index,
                                       slci_h5_index_find(self->index, at), &entry);
    return self->status == SLC_OK ? H5_ITER_CONT : H5_ITER_STOP;
}

/* Versions differ in whether the user block counts in the addresses that they give. */
static slc_status refuse_user_block(const slci_h5_index_request *request) {
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
    return result >= 0 && bytes == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_UNSUPPORTED, "the file begins with a user block");
}

slc_status slci_h5_index_fill(const slci_h5_index_request *request, slci_h5_index *index) {
    walk self = {request, index, SLC_OK};
    SLC_TRY(refuse_user_block(request));
    if (H5Dchunk_iter((hid_t)request->dataset, H5P_DEFAULT, enter, &self) < 0 &&
        self.status == SLC_OK) {
        char text[256];
        slci_h5_error_text(text, sizeof text);
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its chunks cannot be listed (%s)", text);
    }
    return self.status;
}
