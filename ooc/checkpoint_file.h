/* Files made of blocks in which no byte can change unnoticed. Internal to ooc.
 * A block is a header, its payload, and the payload's checksum; the header has a checksum of its own,
 * the block's number and its length, so that a byte flipped, cut off or exchanged anywhere is found.
 *
 *     slci_block_writer writer = {.fd = fd, .name = path};
 *     SLC_TRY(slci_block_begin(&writer, kind, n_bytes));
 *     SLC_TRY(slci_block_add(&writer, data, n_bytes));            // as often as needed
 *     SLC_TRY(slci_block_end(&writer));
 */
#ifndef SLC_OOC_CHECKPOINT_FILE_H
#define SLC_OOC_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/box.h"
#include "core/hash.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_BLOCK_HEADER_BYTES 40
#define SLCI_BLOCK_SUM_BYTES 8

/* Writes blocks one after another. Its members are all there is to it, so that a copy made between
 * two blocks takes back what was written since. */
typedef struct slci_block_writer {
    int fd;           /* lent */
    const char *name; /* of the file, for messages; lent */
    int64_t at;       /* where the next byte goes */
    int64_t n_blocks;
    int64_t left; /* bytes of the open block still to come */
    slci_hash hash;
} slci_block_writer;

/* SLC_ERROR_OUTPUT where the file takes no more. */
SLC_MUST_USE slc_status slci_block_begin(slci_block_writer *writer, int kind, int64_t n_bytes);
SLC_MUST_USE slc_status slci_block_add(slci_block_writer *writer, const void *data,
                                       int64_t n_bytes);
SLC_MUST_USE slc_status slci_block_end(slci_block_writer *writer);

/* What helps, at the end of a message. */
#define SLCI_GO_ON "the same run, resumed (--resume), goes on"
#define SLCI_BEGIN_ANEW \
    "replacing it (--overwrite) instead of resuming it (--resume) starts the run again"
#define SLCI_NAME_ANOTHER "name another file for the checkpoint (--checkpoint)"

/* Reads blocks one after another. A copy made between two blocks reads from there again. */
typedef struct slci_block_reader {
    int fd;           /* lent */
    const char *name; /* lent */
    int64_t at, end;  /* the next byte, and where the file ends */
    int64_t n_blocks;
    int64_t left; /* bytes of the open block still to come */
    slci_hash hash;
} slci_block_reader;

/* SLC_ERROR_INPUT, naming file and place, where anything is not as it was written. next opens the
 * next block; close checks its checksum, all of its payload having been read. */
SLC_MUST_USE slc_status slci_block_next(slci_block_reader *reader, int *kind, int64_t *n_bytes);
SLC_MUST_USE slc_status slci_block_read(slci_block_reader *reader, void *data, int64_t n_bytes);
SLC_MUST_USE slc_status slci_block_close(slci_block_reader *reader);

/* Whether the file's first bytes are those of one of ours; the kind of its first block. */
bool slci_block_peek(int fd, int *kind);

/* SLC_ERROR_INPUT: the file is damaged near byte `at`. `what` is wrong there. */
slc_status slci_block_damaged(const char *name, int64_t at, const char *what);

/* All of `n_bytes` at `at`, or SLC_ERROR_INPUT / SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_file_read(int fd, const char *name, int64_t at, void *data,
                                       int64_t n_bytes);
SLC_MUST_USE slc_status slci_file_write(int fd, const char *name, int64_t at, const void *data,
                                        int64_t n_bytes);

/* The parts of a box of at most `most` elements each (1 or more), in C order, so that their elements
 * one after another are the box's. */
typedef struct slci_parts {
    slc_box whole;
    int split;      /* dimensions before it are walked singly, those behind it are whole */
    int64_t n_rows; /* of dimension `split` in one part */
    slc_box part;   /* the current one */
    bool has_begun;
} slci_parts;

slci_parts slci_parts_of(const slc_box *box, int64_t most);

/* The same, of a box that lies in the first elements of an array of `shape` [box->rank]: each part is
 * rows of one length at one distance there, which is what copies between host and device can do. */
slci_parts slci_parts_within(const slc_box *box, const int64_t *shape, int64_t most);
bool slci_parts_next(slci_parts *parts);

#ifdef __cplusplus
}
#endif
#endif
