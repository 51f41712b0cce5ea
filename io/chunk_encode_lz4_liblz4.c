/* One block of LZ4, made by its own library. */
#include <limits.h>
#include <lz4.h>

#include "io/chunk_encode_stage.h"

const bool slci_lz4_has_encoder = true;

int64_t slci_lz4_most(int64_t n_bytes) {
    return n_bytes > LZ4_MAX_INPUT_SIZE ? INT64_MAX : (int64_t)LZ4_compressBound((int)n_bytes);
}

int64_t slci_lz4_encode(const void *in, int64_t n_bytes, void *out, int64_t capacity) {
    const int room = capacity > INT_MAX ? INT_MAX : (int)capacity;
    return LZ4_compress_default(in, out, (int)n_bytes, room);
}
