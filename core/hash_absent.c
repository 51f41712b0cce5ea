/* Checksums where xxHash was not there when Sluice was built. */
#include <assert.h>

#include "core/hash.h"

bool slci_hash_is_built(void) {
    return false;
}

void slci_hash_begin(slci_hash *hash, uint64_t seed) {
    (void)hash;
    (void)seed;
    assert(!"a checksum in a build without xxHash");
}

void slci_hash_add(slci_hash *hash, const void *data, int64_t n_bytes) {
    (void)hash;
    (void)data;
    (void)n_bytes;
    assert(!"a checksum in a build without xxHash");
}

uint64_t slci_hash_end(const slci_hash *hash) {
    (void)hash;
    assert(!"a checksum in a build without xxHash");
    return 0;
}

uint64_t slci_hash_of(const void *data, int64_t n_bytes, uint64_t seed) {
    (void)data;
    (void)n_bytes;
    (void)seed;
    assert(!"a checksum in a build without xxHash");
    return 0;
}
