/* blosc (HDF5 filter 32001) by its own library, in this thread alone. The header of a chunk is asked
 * first: the library trusts the sizes in it. */
#include <blosc.h>
#include <limits.h>

#include "io/chunk_stage.h"

/* The compressor's number in the filter's values. */
enum { COMPRESSOR = 6 };

const char *slci_chunk_blosc_refuse(const slci_chunk_filter *filter,
                                    const slci_chunk_pipeline *pipeline) {
    const char *name = NULL;
    if (pipeline->chunk_bytes > INT_MAX) {
        return "its chunks are larger than 2 GiB";
    }
    const bool is_known = filter->n_values <= COMPRESSOR ||
                          (filter->values[COMPRESSOR] < INT_MAX &&
                           blosc_compcode_to_compname((int)filter->values[COMPRESSOR], &name) >= 0);
    return is_known ? NULL : "its compressor is not in this machine's blosc library";
}

slc_status slci_chunk_blosc_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    size_t stated = 0;
    if (blosc_cbuffer_validate(stage->in, (size_t)stage->n_in, &stated) < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the header of the chunk is damaged");
    }
    if (stated != (size_t)stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the chunk holds %llu bytes in place of %lld",
                        (unsigned long long)stated, (long long)stage->n_out);
    }
    const int made = blosc_decompress_ctx(stage->in, stage->out, (size_t)stage->n_out, 1);
    if (made != stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the blocks are damaged (code %d of the blosc library)",
                        made);
    }
    return SLC_OK;
}

/* The library keeps three blocks while it decodes, and a block is at most the chunk. */
int64_t slci_chunk_blosc_bytes(int64_t n_out) {
    return 3 * n_out + 4096;
}
