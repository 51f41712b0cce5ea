/* Blocks that are sound take no more room together than the file has, so a walk that comes back to
 * where it was ends there at the latest, without a table of where it has been. */
#include "io/h5_blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_lookup3.h"

#define FIRST_CAPACITY 64
#define SIGNATURE_BYTES 4

/* A damaged size would ask for all memory. HDF5's own blocks have some 64 KiB; names of a group of the
 * older form, which are one block, some hundred bytes a link. */
#define MOST_BLOCK_BYTES (INT64_C(1) << 30)

static bool lack(slci_h5_blocks *blocks) {
    blocks->lacks_memory = true;
    (void)snprintf(blocks->why, sizeof blocks->why, "no memory to look at it");
    return false;
}

void slci_h5_blocks_clear(slci_h5_blocks *blocks) {
    blocks->n = 0;
    blocks->total_bytes = 0;
}

void slci_h5_blocks_free(slci_h5_blocks *blocks) {
    free(blocks->list);
    free(blocks->data);
    *blocks = (slci_h5_blocks){.raw = blocks->raw};
}

int64_t slci_h5_blocks_address(const slci_h5_blocks *blocks, const unsigned char *bytes) {
    size_t k = 0;
    while (k < blocks->raw->address_bytes && bytes[k] == 0xFF) {
        k++;
    }
    return k == blocks->raw->address_bytes ? -1
                                           : slci_h5_raw_number(bytes, blocks->raw->address_bytes);
}

bool slci_h5_blocks_fail(slci_h5_blocks *blocks, int64_t address, const char *words) {
    (void)snprintf(blocks->why, sizeof blocks->why, "byte %" PRId64 ": %s", address, words);
    return false;
}

/* Room for one more in the list. */
static bool grow(slci_h5_blocks *blocks) {
    const int64_t wanted = slc_max_i64(2 * blocks->capacity, FIRST_CAPACITY);
    int64_t bytes = 0;
    void *larger = slc_checked_mul(wanted, (int64_t)sizeof *blocks->list, &bytes)
                       ? realloc(blocks->list, (size_t)bytes)
                       : NULL;
    if (larger == NULL) {
        return lack(blocks);
    }
    blocks->list = larger;
    blocks->capacity = wanted;
    return true;
}

bool slci_h5_blocks_add(slci_h5_blocks *blocks, const slci_h5_block *block) {
    const int64_t room = blocks->raw->file_bytes - blocks->raw->base;
    if (block->address > room || block->bytes > room - block->address) {
        char words[SLCI_H5_BLOCKS_WHY_BYTES / 2];
        (void)snprintf(words, sizeof words,
                       "%" PRId64 " bytes are expected there, but the file ends at %" PRId64,
                       block->bytes, room);
        return slci_h5_blocks_fail(blocks, block->address, words);
    }
    if (block->bytes > room - blocks->total_bytes) {
        return slci_h5_blocks_fail(blocks, block->address, "leads back to where it came from");
    }
    if (blocks->n == blocks->capacity && !grow(blocks)) {
        return false;
    }
    blocks->list[blocks->n++] = *block;
    blocks->total_bytes += block->bytes;
    return true;
}

/* Room for n bytes, in place of those that were read last. */
static bool make_room(slci_h5_blocks *blocks, int64_t n) {
    if (n <= blocks->data_capacity) {
        return true;
    }
    free(blocks->data);
    blocks->data = malloc((size_t)n);
    blocks->data_capacity = blocks->data == NULL ? 0 : n;
    return blocks->data != NULL || lack(blocks);
}

bool slci_h5_blocks_get(slci_h5_blocks *blocks, int64_t address, int64_t n) {
    int64_t at = 0;
    if (n > blocks->raw->file_bytes || address > blocks->raw->file_bytes - n) {
        return slci_h5_blocks_fail(blocks, address, "the file ends before");
    }
    if (n > MOST_BLOCK_BYTES) {
        char words[SLCI_H5_BLOCKS_WHY_BYTES / 2];
        (void)snprintf(words, sizeof words,
                       "a block of %" PRId64 " bytes, expected at most %" PRId64, n,
                       MOST_BLOCK_BYTES);
        return slci_h5_blocks_fail(blocks, address, words);
    }
    if (!make_room(blocks, n)) {
        return false;
    }
    return (slc_checked_add(blocks->raw->base, address, &at) &&
            slci_h5_raw_read(blocks->raw, at, blocks->data, n)) ||
           slci_h5_blocks_fail(blocks, address, "the file ends before");
}

bool slci_h5_blocks_read(slci_h5_blocks *blocks, int64_t address, int64_t n,
                         const char *signature) {
    char words[SLCI_H5_BLOCKS_WHY_BYTES / 2];
    if (!slci_h5_blocks_get(blocks, address, n)) {
        return false;
    }
    if (n >= SIGNATURE_BYTES && memcmp(blocks->data, signature, SIGNATURE_BYTES) == 0) {
        return true;
    }
    (void)snprintf(words, sizeof words, "no block %s, which is expected there", signature);
    return slci_h5_blocks_fail(blocks, address, words);
}

bool slci_h5_blocks_is_sum(slci_h5_blocks *blocks, int64_t address, int64_t n,
                           const unsigned char *sum) {
    char words[SLCI_H5_BLOCKS_WHY_BYTES / 2];
    const uint32_t expected = (uint32_t)slci_h5_raw_number(sum, SLCI_H5_SUM_BYTES);
    const uint32_t found = slci_h5_lookup3(blocks->data, n);
    if (found == expected) {
        return true;
    }
    (void)snprintf(words, sizeof words,
                   "block %.4s has the checksum %08" PRIx32 ", expected %08" PRIx32,
                   (const char *)blocks->data, found, expected);
    return slci_h5_blocks_fail(blocks, address, words);
}

bool slci_h5_blocks_sum(slci_h5_blocks *blocks, int64_t address, int64_t n) {
    const int64_t summed = n - SLCI_H5_SUM_BYTES;
    return slci_h5_blocks_is_sum(blocks, address, summed, blocks->data + summed);
}

static int compare(const void *a, const void *b) {
    const int64_t first = ((const slci_h5_block *)a)->address;
    const int64_t second = ((const slci_h5_block *)b)->address;
    return (first > second) - (first < second);
}

bool slci_h5_blocks_are_apart(slci_h5_blocks *blocks) {
    if (blocks->n > 1) {
        qsort(blocks->list, (size_t)blocks->n, sizeof *blocks->list, compare);
    }
    for (int64_t k = 1; k < blocks->n; k++) {
        if (blocks->list[k].address == blocks->list[k - 1].address) {
            return slci_h5_blocks_fail(blocks, blocks->list[k].address,
                                       "two others lead to this one block");
        }
    }
    return true;
}
