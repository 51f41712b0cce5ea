/* XXH64 checksums, for what is kept on disk between two runs. Internal to Sluice.
 * They find damage, not malice. Where the build has no xxHash, slci_hash_is_built says so, and
 * whoever needs checksums refuses to work without them.
 *
 *     slci_hash hash;
 *     slci_hash_begin(&hash, 0);
 *     slci_hash_add(&hash, data, n_bytes);
 *     const uint64_t sum = slci_hash_end(&hash);
 */
#ifndef SLC_CORE_HASH_H
#define SLC_CORE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sum being formed; plain data. xxHash's own state has 88 bytes. */
typedef struct slci_hash {
    uint64_t state[12];
} slci_hash;

/* False where the build has no xxHash: then no other function here may be called. */
bool slci_hash_is_built(void);

void slci_hash_begin(slci_hash *hash, uint64_t seed);
void slci_hash_add(slci_hash *hash, const void *data, int64_t n_bytes);
uint64_t slci_hash_end(const slci_hash *hash);

/* The three in one. */
uint64_t slci_hash_of(const void *data, int64_t n_bytes, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
