/* Stands in for chunk_szip_libaec.c where the library is missing: HDF5 may have been built with it. */
#include "io/chunk_stage.h"

const char *slci_chunk_szip_refuse(const slci_chunk_filter *filter,
                                   const slci_chunk_pipeline *pipeline) {
    (void)filter;
    (void)pipeline;
    return "this build has no szip library";
}

slc_status slci_chunk_szip_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    (void)stage;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "this build has no szip library");
}

int64_t slci_chunk_szip_bytes(int64_t n_out) {
    (void)n_out;
    return 0;
}
