/* Stands in for chunk_blosc_libblosc.c where the library is missing: HDF5's plugin may be there. */
#include "io/chunk_stage.h"

const char *slci_chunk_blosc_refuse(const slci_chunk_filter *filter,
                                    const slci_chunk_pipeline *pipeline) {
    (void)filter;
    (void)pipeline;
    return "this build has no blosc library";
}

slc_status slci_chunk_blosc_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    (void)stage;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "this build has no blosc library");
}

int64_t slci_chunk_blosc_bytes(int64_t n_out) {
    (void)n_out;
    return 0;
}
