/* Stands in for chunk_encode_lz4_liblz4.c: LZ4 can be read without its library, not written. */
#include "io/chunk_encode_stage.h"

const bool slci_lz4_has_encoder = false;

int64_t slci_lz4_most(int64_t n_bytes) {
    (void)n_bytes;
    return INT64_MAX;
}

int64_t slci_lz4_encode(const void *in, int64_t n_bytes, void *out, int64_t capacity) {
    (void)in;
    (void)n_bytes;
    (void)out;
    (void)capacity;
    return 0;
}
