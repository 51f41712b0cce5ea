/* One block of LZ4 by its own library, always by the call that heeds both ends. */
#include <limits.h>
#include <lz4.h>

#include "io/chunk_stage.h"

int64_t slci_lz4_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity) {
    if (n_bytes > INT_MAX) {
        return -1;
    }
    const int room = capacity > INT_MAX ? INT_MAX : (int)capacity;
    const int made = LZ4_decompress_safe(src, dst, (int)n_bytes, room);
    return made < 0 ? -1 : made;
}
