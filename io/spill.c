/* An array on disk in blocks. Block number b, in C order of the blocks, lies at b times a block's
 * bytes, whole even where the array ends within it: a place is arithmetic. */
#include "io/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/print.h"
#include "io/block_move.h"
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
    slci_blocks blocks; /* as they are written */
    spill_source source;
    spill_sink sink;
};

/* ---- one run ---------------------------------------------------------------------------------- */

/* A temporary file is made only because memory is short. */
static slc_status with_advice(slc_status status) {
    return status == SLC_OK
               ? SLC_OK
               : SLC_FAIL(status, "%s; a larger budget of host memory (--ram) may do without one",
                          slc_status_message());
}

static slc_status fail(const slc_spill *spill, const char *what) {
    return with_advice(SLC_FAIL(SLC_ERROR_OUTPUT, "%s a temporary file beside %s: %s", what,
                                spill->beside, strerror(errno)));
}

static slc_status write_run(void *context, void *data, int64_t n_bytes, int64_t at) {
    const slc_spill *spill = context;
    return with_advice(slci_nameless_write(&spill->file, data, n_bytes, at));
}

static slc_status read_run(void *context, void *data, int64_t n_bytes, int64_t at) {
    slc_spill *spill = context;
    atomic_fetch_add(&spill->source.base.counters.bytes_read, n_bytes);
    return with_advice(slci_nameless_read(&spill->file, data, n_bytes, at));
}

/* ---- boxes ------------------------------------------------------------------------------------ */

static slc_status move_box(const slci_blocks *blocks, const slc_box *box, void *data) {
    const int64_t n_bytes = slci_blocks_memory_bytes(blocks);
    void *memory = n_bytes == 0 ? NULL : malloc((size_t)n_bytes);
    if (n_bytes > 0 && memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld bytes of a block",
                        (long long)n_bytes);
    }
    const slc_status status = slci_blocks_move(blocks, box, data, memory);
    free(memory);
    return status;
}

static slc_status spill_read(slc_source *source, const slc_box *box, void *const *dst) {
    slci_blocks blocks = ((spill_source *)source)->spill->blocks;
    blocks.is_read = true;
    blocks.move = read_run;
    return dst[0] == NULL ? SLC_OK : move_box(&blocks, box, dst[0]);
}

static slc_status spill_write(slc_sink *sink, const slc_box *box, const void *src) {
    return move_box(&((spill_sink *)sink)->spill->blocks, box, (void *)(uintptr_t)src);
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

static slci_blocks blocks_of(const slc_spill_options *options) {
    slci_blocks blocks = {.layout = options->layout, .move = write_run};
    memcpy(blocks.block, options->block, sizeof blocks.block);
    return blocks;
}

int64_t slc_spill_thread_bytes(const slc_spill_options *options) {
    const slci_blocks blocks = blocks_of(options);
    return slci_blocks_memory_bytes(&blocks);
}

int64_t slc_spill_file_bytes(const slc_spill_options *options) {
    int64_t bytes = slc_dtype_bytes(options->layout.dtype);
    for (int d = 0; d < options->layout.rank; d++) {
        const int64_t n = slc_ceil_div(options->layout.shape[d], options->block[d]);
        if (!slc_checked_mul(bytes, options->block[d], &bytes) ||
            !slc_checked_mul(bytes, n, &bytes)) {
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
    spill->blocks = blocks_of(options);
    spill->blocks.context = spill;
    const slc_status status = open_file(spill, options);
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
