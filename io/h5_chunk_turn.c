/* One loop for each size of a part, over memory that need not be aligned; compilers make vector
 * instructions of them. */
#include "io/h5_chunk_turn.h"

#include <string.h>

/* A loop over `n` items of a type: each is loaded, changed and stored. */
#define EACH(type, n, changed)                               \
    for (int64_t k = 0; k < (n); k++) {                      \
        type x;                                              \
        memcpy(&x, bytes + k * (int64_t)sizeof x, sizeof x); \
        x = (changed);                                       \
        memcpy(bytes + k * (int64_t)sizeof x, &x, sizeof x); \
    }

static void swap_bytes(int64_t part_bytes, unsigned char *bytes, int64_t n_bytes) {
    switch (part_bytes) {
    case 2:
        EACH(uint16_t, n_bytes / 2, (uint16_t)(x << 8 | x >> 8))
        break;
    case 4:
        EACH(uint32_t, n_bytes / 4, __builtin_bswap32(x))
        break;
    case 8:
        EACH(uint64_t, n_bytes / 8, __builtin_bswap64(x))
        break;
    default:
        break; /* single bytes have no order */
    }
}

static void swap_parts(int64_t part_bytes, unsigned char *bytes, int64_t n_bytes) {
    switch (part_bytes) {
    case 2:
        EACH(uint32_t, n_bytes / 4, x << 16 | x >> 16)
        break;
    case 4:
        EACH(uint64_t, n_bytes / 8, x << 32 | x >> 32)
        break;
    default:
        for (int64_t at = 0; at + 2 * part_bytes <= n_bytes; at += 2 * part_bytes) {
            unsigned char first[8];
            memcpy(first, bytes + at, (size_t)part_bytes);
            memmove(bytes + at, bytes + at + part_bytes, (size_t)part_bytes);
            memcpy(bytes + at + part_bytes, first, (size_t)part_bytes);
        }
        break;
    }
}

void slci_turn_elements(const slci_turn *turn, void *values, int64_t n_bytes) {
    if (turn->swaps_bytes) {
        swap_bytes(turn->part_bytes, values, n_bytes);
    }
    if (turn->swaps_parts) {
        swap_parts(turn->part_bytes, values, n_bytes);
    }
}
