/* XXH64 from the distribution's xxHash. Its streaming state is copied into the caller's memory, so
 * that hashing allocates nothing; xxHash shows the state's layout only under this name, and keeps
 * it. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <assert.h>

#include "core/hash.h"

static_assert(sizeof(XXH64_state_t) <= sizeof(slci_hash), "xxHash's state has grown");

bool slci_hash_is_built(void) {
    return true;
}

void slci_hash_begin(slci_hash *hash, uint64_t seed) {
    (void)XXH64_reset((XXH64_state_t *)hash->state, seed);
}

void slci_hash_add(slci_hash *hash, const void *data, int64_t n_bytes) {
    (void)XXH64_update((XXH64_state_t *)hash->state, data, (size_t)n_bytes);
}

uint64_t slci_hash_end(const slci_hash *hash) {
    return XXH64_digest((const XXH64_state_t *)hash->state);
}

uint64_t slci_hash_of(const void *data, int64_t n_bytes, uint64_t seed) {
    return XXH64(data, (size_t)n_bytes, seed);
}
