/* Stands in for chunk_deflate_libdeflate.c where libdeflate is missing: HDF5 itself then inflates. */
#include "io/chunk_stage.h"

const bool slci_chunk_has_deflate = false;

void *slci_chunk_deflate_open(void) {
    return NULL;
}

void slci_chunk_deflate_close(void *context) {
    (void)context;
}

slc_status slci_chunk_deflate_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    (void)stage;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "this build has no libdeflate");
}
