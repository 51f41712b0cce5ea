/* Stores of io/chunk_planes_body.h where the compiler has none past the caches: ordinary ones. */
#ifndef SLC_IO_CHUNK_PLANES_CACHED_H
#define SLC_IO_CHUNK_PLANES_CACHED_H

#include <string.h>

static inline void store_past(const unsigned char *lane, unsigned char *out) {
    memcpy(out, lane, 16);
}

static void settle(void) {
}

#endif
