/* Deflate by libdeflate, which is several times faster than zlib. */
#include <libdeflate.h>

#include "io/chunk_encode_stage.h"

/* Its compressor of levels up to 9, measured as the heap in use: 1.1 MB. */
#define CONTEXT_BYTES ((int64_t)2 << 20)

int64_t slci_deflate_most(int64_t n_bytes) {
    return (int64_t)libdeflate_zlib_compress_bound(NULL, (size_t)n_bytes);
}

int64_t slci_deflate_context_bytes(void) {
    return CONTEXT_BYTES;
}

void *slci_deflate_open(int level) {
    return libdeflate_alloc_compressor(level);
}

void slci_deflate_close(void *context) {
    libdeflate_free_compressor(context);
}

int64_t slci_deflate_encode(void *context, const void *in, int64_t n_bytes, void *out,
                            int64_t capacity) {
    return (int64_t)libdeflate_zlib_compress(context, in, (size_t)n_bytes, out, (size_t)capacity);
}
