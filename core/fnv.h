/* The hash FNV-1a in 64 bits (Fowler, Noll and Vo, IETF draft-eastlake-fnv), for short texts and
 * records that need a name of fixed length: it is a few lines and needs no library. Checksums of what
 * is kept on disk are core/hash.h's. Internal to Sluice.
 *
 *     uint64_t hash = slci_fnv_add(SLCI_FNV_BEGIN, text, strlen(text));
 *     hash = slci_fnv_add(hash, &count, sizeof count);
 */
#ifndef SLC_CORE_FNV_H
#define SLC_CORE_FNV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` stands for, followed by `n` bytes of data. */
static inline uint64_t slci_fnv_add(uint64_t hash, const void *data, size_t n) {
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t k = 0; k < n; k++) {
        hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

#ifdef __cplusplus
}
#endif
#endif
