/* Blocks of an HDF5 file that lead to one another: the nodes of a tree, the parts of a heap. They are
 * kept in a list and gone through in its order, each adding those that it leads to, so that what a
 * damaged one says ends the walk and nothing else. Internal to io/h5_*.c.
 *
 *     slci_h5_blocks blocks = {.raw = &raw};
 *     is_sound = slci_h5_blocks_add(&blocks, &(slci_h5_block){.address = root, .bytes = n});
 *     for (int64_t k = 0; k < blocks.n && is_sound; k++) {
 *         const slci_h5_block block = blocks.list[k];
 *         is_sound = slci_h5_blocks_read(&blocks, block.address, block.bytes, "TREE");
 *     }
 *     is_sound = is_sound && slci_h5_blocks_are_apart(&blocks);
 *     slci_h5_blocks_free(&blocks);
 */
#ifndef SLC_IO_H5_BLOCKS_H
#define SLC_IO_H5_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5_raw.h"

#define SLCI_H5_BLOCKS_WHY_BYTES 192

/* Of a checksum. */
#define SLCI_H5_SUM_BYTES INT64_C(4)

typedef struct slci_h5_block {
    int64_t address, bytes; /* as the file counts them; bytes that it takes there */
    int64_t n;              /* what it holds, where that stands in what leads to it */
    uint64_t offset;        /* in a heap, or an array */
    int64_t parent;         /* address of what leads to it, where that is looked at again */
    int level;              /* in a tree, 0 at the leaves */
} slci_h5_block;

typedef struct slci_h5_blocks {
    slci_h5_raw *raw;    /* lent */
    slci_h5_block *list; /* [capacity], n of them used */
    int64_t n, capacity;
    int64_t total_bytes; /* of those in the list */
    unsigned char *data; /* [data_capacity], what was read last */
    int64_t data_capacity;
    bool lacks_memory;
    char why[SLCI_H5_BLOCKS_WHY_BYTES]; /* "": nothing is wrong */
} slci_h5_blocks;

/* Forgets the list, for another walk. */
void slci_h5_blocks_clear(slci_h5_blocks *blocks);
void slci_h5_blocks_free(slci_h5_blocks *blocks);

/* An address as it stands in a block or message; -1 where it stands for none, and INT64_MAX where it is
 * larger than that. */
int64_t slci_h5_blocks_address(const slci_h5_blocks *blocks, const unsigned char *bytes);

/* One more. False where it is not in the file, or where together they are more than fit into it. */
bool slci_h5_blocks_add(slci_h5_blocks *blocks, const slci_h5_block *block);

/* Reads bytes [0, n) of a block, which begins with a signature of four letters. False where it does
 * not, ends past the file, or is larger than any that is sound. */
bool slci_h5_blocks_read(slci_h5_blocks *blocks, int64_t address, int64_t n, const char *signature);

/* The same without a signature. */
bool slci_h5_blocks_get(slci_h5_blocks *blocks, int64_t address, int64_t n);

/* Whether the last four of the first n bytes of the block that was read last are the checksum of those
 * before them. */
bool slci_h5_blocks_sum(slci_h5_blocks *blocks, int64_t address, int64_t n);

/* The same for one that stands elsewhere, `sum` [4], of all n bytes. */
bool slci_h5_blocks_is_sum(slci_h5_blocks *blocks, int64_t address, int64_t n,
                           const unsigned char *sum);

/* Whether no two of the list begin at one place. The list is in another order then. */
bool slci_h5_blocks_are_apart(slci_h5_blocks *blocks);

/* For what is wrong with a block, in words: false. */
bool slci_h5_blocks_fail(slci_h5_blocks *blocks, int64_t address, const char *words);

#endif
