/* An array on disk in blocks. Block number b, in C order of the blocks, lies at b times a block's
 * bytes, whole even where the array ends within it: a place is arithmetic. A box is moved block by
 * block, by way of memory in which its part of the block is dense; each run of it that is contiguous in
 * the block is one read or write, which for a whole block is the only one. */
#include "io/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/copy.h"
#include "core/print.h"
#include "io/nameless_file.h"
#include "io/outfile.h"

typedef struct spill_source {
    slc_source base;
    slc_spill *spill;
} spill_source;

typedef struct spill_sink {
    slc_sink base;
    slc_spill *spill;
} spill_sink;

struct slc_spill {
    slci_nameless_file file;
    char beside[SLC_PATH_BYTES]; /* for the file's messages */
    slc_layout layout;
    slc_layout block; /* dense */
    int64_t n_blocks[SLC_MAX_RANK];
    spill_source source;
    spill_sink sink;
};

/* ---- one run ---------------------------------------------------------------------------------- */

/* A temporary file is made only because memory is short. */
static slc_status with_advice(slc_status status) {
    return status == SLC_OK
               ? SLC_OK
               : SLC_FAIL(status, "%s; a larger --ram may do without one", slc_status_message());
}

static slc_status fail(const slc_spill *spill, const char *what) {
    return with_advice(SLC_FAIL(SLC_ERROR_OUTPUT, "%s a temporary file beside %s: %s", what,
                                spill->beside, strerror(errno)));
}

static slc_status write_run(const slc_spill *spill, const char *data, int64_t bytes, int64_t at) {
    return with_advice(slci_nameless_write(&spill->file, data, bytes, at));
}

static slc_status read_run(slc_spill *spill, char *data, int64_t bytes, int64_t at) {
    atomic_fetch_add(&spill->source.base.counters.bytes_read, bytes);
    return with_advice(slci_nameless_read(&spill->file, data, bytes, at));
}

/* ---- one block -------------------------------------------------------------------------------- */

/* A part of a block that is moved: where it begins in the file, its box within the block, and the dense
 * memory that holds it meanwhile. */
typedef struct block_part {
    int64_t block_at;
    slc_box box;
    char *memory;
    bool is_write;
} block_part;

/* Moves the part run by run: dimensions [n_outer, rank) are contiguous in the block together. */
static slc_status move_runs(slc_spill *spill, const block_part *part) {
    const slc_layout *block = &spill->block;
    int n_outer = block->rank;
    int64_t run_bytes = slc_dtype_bytes(block->dtype);
    bool is_whole = true;
    while (n_outer > 0 && is_whole) {
        n_outer--;
        run_bytes *= part->box.extent[n_outer];
        is_whole = part->box.extent[n_outer] == block->shape[n_outer];
    }
    int64_t index[SLC_MAX_RANK] = {0};
    char *memory = part->memory;
    for (;;) {
        int64_t at = part->block_at;
        for (int d = 0; d < block->rank; d++) {
            at += (part->box.origin[d] + index[d]) * block->stride_bytes[d];
        }
        SLC_TRY(part->is_write ? write_run(spill, memory, run_bytes, at)
                               : read_run(spill, memory, run_bytes, at));
        memory += run_bytes;
        int d = n_outer - 1;
        while (d >= 0 && ++index[d] == part->box.extent[d]) {
            index[d--] = 0;
        }
        if (d < 0) {
            return SLC_OK;
        }
    }
}

/* ---- boxes ------------------------------------------------------------------------------------ */

/* The caller's memory for a box, written from or read into. */
typedef struct box_memory {
    const slc_box *box;
    char *data;
    bool is_write;
} box_memory;

/* Moves the part of the box in block `number` [rank], by way of `memory`. */
static slc_status move_block(slc_spill *spill, const box_memory *moved, const int64_t *number,
                             char *memory) {
    const slc_layout *block = &spill->block;
    slc_box whole = {.rank = block->rank};
    slc_layout in_box;
    slc_layout dense;
    block_part part = {.memory = memory, .is_write = moved->is_write};
    int64_t index = 0;
    for (int d = 0; d < block->rank; d++) {
        whole.origin[d] = number[d] * block->shape[d];
        whole.extent[d] = block->shape[d];
        index = index * spill->n_blocks[d] + number[d];
    }
    part.block_at = index * slc_layout_bytes(block);
    slc_box cut = slc_box_intersect(&whole, moved->box);
    part.box = cut;
    for (int d = 0; d < block->rank; d++) {
        part.box.origin[d] = cut.origin[d] - whole.origin[d];
        cut.origin[d] -= moved->box->origin[d];
    }
    SLC_TRY(slc_layout_dense(block->dtype, block->rank, moved->box->extent, &in_box));
    SLC_TRY(slc_layout_dense(block->dtype, block->rank, cut.extent, &dense));
    const slc_layout place = slc_layout_slice(&in_box, &cut);
    if (moved->is_write) {
        SLC_TRY(slc_copy_host(memory, &dense, moved->data, &place));
        return move_runs(spill, &part);
    }
    SLC_TRY(move_runs(spill, &part));
    return slc_copy_host(moved->data, &place, memory, &dense);
}

static slc_status move_box(slc_spill *spill, const box_memory *moved) {
    const slc_layout *block = &spill->block;
    int64_t first[SLC_MAX_RANK];
    int64_t number[SLC_MAX_RANK];
    if (slc_box_count(moved->box) == 0) {
        return SLC_OK;
    }
    char *memory = malloc((size_t)slc_layout_bytes(block));
    if (memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a block of %lld bytes",
                        (long long)slc_layout_bytes(block));
    }
    for (int d = 0; d < block->rank; d++) {
        number[d] = first[d] = moved->box->origin[d] / block->shape[d];
    }
    slc_status status = SLC_OK;
    for (int d = 0; d >= 0 && status == SLC_OK;) {
        status = move_block(spill, moved, number, memory);
        d = block->rank - 1;
        while (d >= 0 &&
               ++number[d] * block->shape[d] >= moved->box->origin[d] + moved->box->extent[d]) {
            number[d] = first[d];
            d--;
        }
    }
    free(memory);
    return status;
}

static slc_status spill_read(slc_source *source, const slc_box *box, void *const *dst) {
    const box_memory moved = {.box = box, .data = dst[0]};
    return dst[0] == NULL ? SLC_OK : move_box(((spill_source *)source)->spill, &moved);
}

static slc_status spill_write(slc_sink *sink, const slc_box *box, const void *src) {
    const box_memory moved = {.box = box, .data = (char *)(uintptr_t)src, .is_write = true};
    return move_box(((spill_sink *)sink)->spill, &moved);
}

static slc_status spill_commit(slc_sink *sink) {
    (void)sink;
    return SLC_OK;
}

/* Both belong to the spill. */
static void leave_source(slc_source *source) {
    (void)source;
}

static void leave_sink(slc_sink *sink) {
    (void)sink;
}

static const slc_source_ops source_ops = {.read = spill_read, .destroy = leave_source};
static const slc_sink_ops sink_ops = {.write = spill_write,
                                      .commit = spill_commit,
                                      .destroy = leave_sink};

/* ---- the file --------------------------------------------------------------------------------- */

int64_t slc_spill_thread_bytes(const slc_spill_options *options) {
    int64_t bytes = slc_dtype_bytes(options->layout.dtype);
    for (int d = 0; d < options->layout.rank; d++) {
        if (!slc_checked_mul(bytes, options->block[d], &bytes)) {
            return INT64_MAX;
        }
    }
    return bytes;
}

int64_t slc_spill_file_bytes(const slc_spill_options *options) {
    int64_t bytes = slc_spill_thread_bytes(options);
    for (int d = 0; d < options->layout.rank; d++) {
        const int64_t n = slc_ceil_div(options->layout.shape[d], options->block[d]);
        if (!slc_checked_mul(bytes, n, &bytes)) {
            return INT64_MAX;
        }
    }
    return bytes;
}

static slc_status open_file(slc_spill *spill, const slc_spill_options *options) {
    const int length = slci_print(spill->beside, sizeof spill->beside, "%s", options->beside);
    if (length < 0 || (size_t)length >= sizeof spill->beside) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%.80s...: the name is too long", options->beside);
    }
    SLC_TRY(with_advice(slci_nameless_create(spill->beside, &spill->file)));
    const int64_t bytes = slc_spill_file_bytes(options);
    if (ftruncate(spill->file.fd, (off_t)bytes) != 0) {
        return fail(spill, "cannot give its size to");
    }
    /* Not every file system can; writing then says when it is full. */
    if (fallocate(spill->file.fd, 0, 0, (off_t)bytes) != 0 && errno != EOPNOTSUPP) {
        return fail(spill, "there is no room for");
    }
    return SLC_OK;
}

static void init_ends(slc_spill *spill) {
    slc_source *source = &spill->source.base;
    slc_sink *sink = &spill->sink.base;
    spill->source.spill = spill->sink.spill = spill;
    source->ops = &source_ops;
    source->shared_rank = spill->layout.rank;
    source->n_fields = 1;
    source->fields[0] = spill->layout;
    source->is_divisible = true;
    sink->ops = &sink_ops;
    sink->layout = spill->layout;
    sink->is_divisible = true;
    (void)slci_print(source->name, sizeof source->name, "a temporary file beside %.200s",
                     spill->beside);
    memcpy(source->identity, source->name, sizeof source->identity);
    memcpy(sink->name, source->name, sizeof sink->name);
}

slc_status slc_spill_create(const slc_spill_options *options, slc_spill **out) {
    if (slc_spill_file_bytes(options) == INT64_MAX) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a temporary file's size does not fit 63 bits",
                        options->beside);
    }
    slc_spill *spill = calloc(1, sizeof *spill);
    if (spill == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a temporary file");
    }
    spill->file.fd = -1;
    spill->layout = options->layout;
    for (int d = 0; d < spill->layout.rank; d++) {
        spill->n_blocks[d] = slc_ceil_div(options->layout.shape[d], options->block[d]);
    }
    slc_status status = slc_layout_dense(options->layout.dtype, options->layout.rank,
                                         options->block, &spill->block);
    if (status == SLC_OK) {
        status = open_file(spill, options);
    }
    if (status != SLC_OK) {
        slc_spill_destroy(spill);
        return status;
    }
    init_ends(spill);
    *out = spill;
    return SLC_OK;
}

slc_sink *slc_spill_sink(slc_spill *spill) {
    return &spill->sink.base;
}

slc_source *slc_spill_source(slc_spill *spill) {
    return &spill->source.base;
}

void slc_spill_destroy(slc_spill *spill) {
    if (spill != NULL) {
        slci_nameless_close(&spill->file);
    }
    free(spill);
}
