/* The form of a block, in the machine's own byte order; all numbers are 8 bytes:
 *
 *     magic  kind  number  payload bytes  checksum of these four  │ payload │ checksum of the payload
 *
 * The payload's checksum is seeded with the block's number, so that two blocks exchanged are
 * found. */
#include "ooc/checkpoint_file.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"

/* "sluiceck" where the least significant byte comes first: another byte order is no checkpoint. */
#define BLOCK_MAGIC INT64_C(0x6b63656369756c73)

typedef struct block_header {
    int64_t magic, kind, number, n_bytes;
    uint64_t sum;
} block_header;

static uint64_t header_sum(const block_header *header) {
    return slci_hash_of(header, (int64_t)offsetof(block_header, sum), 0);
}

/* ---- files ----------------------------------------------------------------------------------- */

slc_status slci_file_write(int fd, const char *name, int64_t at, const void *data,
                           int64_t n_bytes) {
    return slci_write_at(fd, data, n_bytes, at) == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write to %s: %s", name, strerror(errno));
}

slc_status slci_file_read(int fd, const char *name, int64_t at, void *data, int64_t n_bytes) {
    const int64_t n = slci_read_at(fd, data, n_bytes, at);
    if (n < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "cannot read %s: %s", name, strerror(errno));
    }
    return n == n_bytes ? SLC_OK : slci_block_damaged(name, at + n, "it ends there");
}

slc_status slci_block_damaged(const char *name, int64_t at, const char *what) {
    return SLC_FAIL(SLC_ERROR_INPUT, "%s is damaged near byte %lld (%s); " SLCI_BEGIN_ANEW, name,
                    (long long)at, what);
}

/* ---- writing --------------------------------------------------------------------------------- */

slc_status slci_block_begin(slci_block_writer *writer, int kind, int64_t n_bytes) {
    static_assert(sizeof(block_header) == SLCI_BLOCK_HEADER_BYTES, "the header has a hole");
    block_header header = {.magic = BLOCK_MAGIC,
                           .kind = kind,
                           .number = writer->n_blocks,
                           .n_bytes = n_bytes};
    header.sum = header_sum(&header);
    SLC_TRY(slci_file_write(writer->fd, writer->name, writer->at, &header, (int64_t)sizeof header));
    writer->at += (int64_t)sizeof header;
    writer->left = n_bytes;
    slci_hash_begin(&writer->hash, (uint64_t)writer->n_blocks);
    return SLC_OK;
}

slc_status slci_block_add(slci_block_writer *writer, const void *data, int64_t n_bytes) {
    assert(n_bytes <= writer->left);
    SLC_TRY(slci_file_write(writer->fd, writer->name, writer->at, data, n_bytes));
    slci_hash_add(&writer->hash, data, n_bytes);
    writer->at += n_bytes;
    writer->left -= n_bytes;
    return SLC_OK;
}

slc_status slci_block_end(slci_block_writer *writer) {
    assert(writer->left == 0);
    const uint64_t sum = slci_hash_end(&writer->hash);
    SLC_TRY(slci_file_write(writer->fd, writer->name, writer->at, &sum, (int64_t)sizeof sum));
    writer->at += (int64_t)sizeof sum;
    writer->n_blocks++;
    return SLC_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The next bytes of the file, which must lie before its end. */
static slc_status read_next(slci_block_reader *reader, void *data, int64_t n_bytes) {
    if (n_bytes > reader->end - reader->at) {
        return slci_block_damaged(reader->name, reader->end, "it ends there");
    }
    SLC_TRY(slci_file_read(reader->fd, reader->name, reader->at, data, n_bytes));
    reader->at += n_bytes;
    return SLC_OK;
}

bool slci_block_peek(int fd, int *kind) {
    int64_t start[2] = {0}; /* magic and kind */
    if (pread(fd, start, sizeof start, 0) != (ssize_t)sizeof start || start[0] != BLOCK_MAGIC) {
        return false;
    }
    *kind = (int)start[1];
    return true;
}

/* A file of which nothing says that it is ours: replacing it is refused, so that is no advice. */
static slc_status fail_foreign(const char *name) {
    return SLC_FAIL(
        SLC_ERROR_INPUT,
        "%s is no checkpoint of Sluice, or is damaged at its beginning; " SLCI_NAME_ANOTHER
        ", or remove that one to start the run again",
        name);
}

/* Whether the file has fewer bytes than a header, and not ours. An empty one may be replaced. */
static bool is_short_and_foreign(const slci_block_reader *reader) {
    int kind = 0;
    return reader->end > 0 && reader->end < (int64_t)sizeof(block_header) &&
           !slci_block_peek(reader->fd, &kind);
}

slc_status slci_block_next(slci_block_reader *reader, int *kind, int64_t *n_bytes) {
    const int64_t begin = reader->at;
    block_header header = {0};
    if (begin == 0 && is_short_and_foreign(reader)) {
        return fail_foreign(reader->name);
    }
    SLC_TRY(read_next(reader, &header, (int64_t)sizeof header));
    if (header.magic != BLOCK_MAGIC && begin == 0) {
        return fail_foreign(reader->name);
    }
    if (header.magic != BLOCK_MAGIC || header.sum != header_sum(&header) ||
        header.number != reader->n_blocks) {
        return slci_block_damaged(reader->name, begin, "the header of a block is not as written");
    }
    if (header.n_bytes < 0 || header.n_bytes > reader->end - reader->at - SLCI_BLOCK_SUM_BYTES) {
        return slci_block_damaged(reader->name, reader->end, "it ends within a block");
    }
    *kind = (int)header.kind;
    *n_bytes = header.n_bytes;
    reader->left = header.n_bytes;
    slci_hash_begin(&reader->hash, (uint64_t)reader->n_blocks);
    return SLC_OK;
}

slc_status slci_block_read(slci_block_reader *reader, void *data, int64_t n_bytes) {
    if (n_bytes > reader->left) {
        return slci_block_damaged(reader->name, reader->at, "a block is shorter than expected");
    }
    SLC_TRY(read_next(reader, data, n_bytes));
    slci_hash_add(&reader->hash, data, n_bytes);
    reader->left -= n_bytes;
    return SLC_OK;
}

slc_status slci_block_close(slci_block_reader *reader) {
    uint64_t sum = 0;
    if (reader->left != 0) {
        return slci_block_damaged(reader->name, reader->at, "a block is longer than expected");
    }
    SLC_TRY(read_next(reader, &sum, (int64_t)sizeof sum));
    if (sum != slci_hash_end(&reader->hash)) {
        return slci_block_damaged(reader->name, reader->at, "a checksum does not fit");
    }
    reader->n_blocks++;
    return SLC_OK;
}

/* ---- parts of boxes -------------------------------------------------------------------------- */

slci_parts slci_parts_of(const slc_box *box, int64_t most) {
    slci_parts parts = {.whole = *box, .split = 0, .n_rows = 1};
    int64_t inner = 1; /* elements of one index of dimension `split` */
    int split = box->rank;
    while (split > 0 && slc_max_i64(box->extent[split - 1], 1) <= most / inner) {
        split--;
        inner *= slc_max_i64(box->extent[split], 1);
    }
    if (split > 0) {
        parts.split = split - 1;
        parts.n_rows = slc_max_i64(most / inner, 1);
    } else if (box->rank > 0) {
        parts.n_rows = box->extent[0];
    }
    return parts;
}

slci_parts slci_parts_within(const slc_box *box, const int64_t *shape, int64_t most) {
    slci_parts parts = slci_parts_of(box, most);
    int d = box->rank; /* this dimension and those behind it are whole, so they lie together */
    while (d > 0 && box->extent[d - 1] == shape[d - 1]) {
        d--;
    }
    /* A part may have a run of dimension d - 1, and several of those along d - 2. */
    if (parts.split < d - 2) {
        parts.split = d - 2;
        int64_t inner = 1;
        for (int k = d - 1; k < box->rank; k++) {
            inner *= box->extent[k];
        }
        parts.n_rows =
            slc_max_i64(slc_min_i64(most / slc_max_i64(inner, 1), box->extent[d - 2]), 1);
    }
    return parts;
}

bool slci_parts_next(slci_parts *parts) {
    const slc_box *whole = &parts->whole;
    slc_box *part = &parts->part;
    if (!parts->has_begun) {
        parts->has_begun = true;
        *part = *whole;
        for (int d = 0; d < parts->split; d++) {
            part->extent[d] = 1;
        }
        if (whole->rank > 0) {
            part->extent[parts->split] = slc_min_i64(parts->n_rows, whole->extent[parts->split]);
        }
        return slc_box_count(whole) > 0;
    }
    for (int d = whole->rank > 0 ? parts->split : -1; d >= 0; d--) {
        const int64_t step = d == parts->split ? parts->n_rows : 1;
        const int64_t end = whole->origin[d] + whole->extent[d];
        if (part->origin[d] + step < end) {
            part->origin[d] += step;
            part->extent[d] = slc_min_i64(step, end - part->origin[d]);
            return true;
        }
        part->origin[d] = whole->origin[d];
        part->extent[d] = slc_min_i64(step, whole->extent[d]);
    }
    return false;
}
