/* The journal: every box that went to a sink, in the order in which it went.
 *
 *     IDENTITY  BOX  BOX  BOX  BOX │ BOX  BO
 *                                  └ the end that the last state counts on; what follows it is
 *                                    written again by the run that resumes
 *
 * Boxes are appended by the writer thread; the scheduler syncs them before it writes a state. A box
 * that cannot be appended ends the checkpoints of this run, because every later state would lack
 * it.
 *
 * A sink that stores another form than it gets (chunks that it encodes) has pieces of that form kept
 * in the place of boxes: those that are complete come from its own threads as they are made, and
 * before a state is written it gives what else it holds. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/checked.h"
#include "ooc/checkpoint_internal.h"

typedef enum journal_kind {
    JOURNAL_IDENTITY = SLCI_FIRST_JOURNAL_KIND,
    JOURNAL_BOX,
    JOURNAL_PIECE
} journal_kind;

/* Before the bytes of a piece. */
typedef struct piece_record {
    int64_t stage;
    uint64_t signature; /* of the stage's job */
    int64_t operand, index, n_elements;
} piece_record;

/* What a block of the journal holds, but for its payload. */
typedef struct journal_entry {
    bool is_piece;
    slci_box_record box_record; /* of a box */
    slc_box box;
    piece_record piece_record; /* of a piece */
    int64_t stage;
    uint64_t signature;
} journal_entry;

/* A number that two runs do not share. */
static uint64_t new_id(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const int64_t parts[3] = {(int64_t)now.tv_sec, (int64_t)now.tv_nsec, (int64_t)getpid()};
    return slci_hash_of(parts, (int64_t)sizeof parts, 0);
}

slc_status slci_journal_begin(slc_checkpoint *self) {
    self->id = self->id != 0 ? self->id : new_id(); /* a state may be there that has one */
    if (ftruncate(self->journal_fd, 0) != 0) {
        return slci_checkpoint_fail("empty", self->journal_path);
    }
    self->journal = (slci_block_writer){.fd = self->journal_fd, .name = self->journal_path};
    SLC_TRY(slci_block_begin(&self->journal, JOURNAL_IDENTITY, (int64_t)sizeof self->id));
    SLC_TRY(slci_block_add(&self->journal, &self->id, (int64_t)sizeof self->id));
    return slci_block_end(&self->journal);
}

/* Something that a sink holds, to be appended. */
typedef struct journal_block {
    journal_kind kind;
    const void *record;
    int64_t record_bytes;
    const void *data;
    int64_t n_bytes;
} journal_block;

static slc_status append(slci_block_writer *journal, const journal_block *block) {
    SLC_TRY(slci_block_begin(journal, (int)block->kind, block->record_bytes + block->n_bytes));
    SLC_TRY(slci_block_add(journal, block->record, block->record_bytes));
    SLC_TRY(slci_block_add(journal, block->data, block->n_bytes));
    return slci_block_end(journal);
}

/* Appends it, or says that no state will be written any more. */
static void append_or_stop(slc_checkpoint *self, const journal_block *block) {
    pthread_mutex_lock(&self->mutex);
    const bool was_stopped = self->is_stopped;
    if (!was_stopped) {
        const slci_block_writer before = self->journal;
        if (append(&self->journal, block) != SLC_OK) {
            self->journal = before;
            self->is_stopped = true;
        }
    }
    const bool is_stopped = self->is_stopped;
    pthread_mutex_unlock(&self->mutex);
    if (is_stopped && !was_stopped) {
        slc_log_warning(self->options.log, "%s; the run goes on, but %s", slc_status_message(),
                        self->has_state ? "the checkpoint stays as it was last written"
                                        : "without a checkpoint");
    }
}

void slci_checkpoint_drained(slci_run *run, int operand, const slc_box *box, const void *data) {
    slc_checkpoint *self = run->part->checkpoint;
    if (self == NULL || slc_sink_has_pieces(run->options->bindings[operand].sink)) {
        return;
    }
    const int64_t element_bytes = slc_dtype_bytes(run->layout[operand].dtype);
    slci_box_record record = slci_box_record_of(operand, element_bytes, box);
    record.stage = self->stage;
    record.round = run->round;
    record.signature = self->signature;
    const journal_block block = {.kind = JOURNAL_BOX,
                                 .record = &record,
                                 .record_bytes = (int64_t)sizeof record,
                                 .data = data,
                                 .n_bytes = slc_box_count(box) * element_bytes};
    append_or_stop(self, &block);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void keep_piece(void *context, const slc_sink_piece *piece, const void *bytes) {
    const slci_piece_keeper *keeper = context;
    slc_checkpoint *self = keeper->checkpoint;
    const piece_record record = {.stage = self->stage,
                                 .signature = self->signature,
                                 .operand = keeper->operand,
                                 .index = piece->index,
                                 .n_elements = piece->n_elements};
    const journal_block block = {.kind = JOURNAL_PIECE,
                                 .record = &record,
                                 .record_bytes = (int64_t)sizeof record,
                                 .data = bytes,
                                 .n_bytes = piece->n_bytes};
    append_or_stop(self, &block);
}

/* The sink of output `o`; NULL: there is none. */
static slc_sink *sink_of(const slc_job *job, const slc_binding *bindings, int64_t o) {
    const slc_access access = o < job->n_operands ? job->operands[o].access : SLC_ACCESS_IN;
    return access == SLC_ACCESS_OUT || access == SLC_ACCESS_UPDATE ? bindings[o].sink : NULL;
}

static slc_sink *sink_with_pieces(const slc_job *job, const slc_binding *bindings, int o) {
    slc_sink *sink = sink_of(job, bindings, o);
    return sink != NULL && slc_sink_has_pieces(sink) ? sink : NULL;
}

slc_status slci_journal_attach(slc_checkpoint *self, const slc_job *job,
                               const slc_binding *bindings) {
    for (int o = 0; o < job->n_operands; o++) {
        slc_sink *sink = sink_with_pieces(job, bindings, o);
        self->keeper[o] = (slci_piece_keeper){.checkpoint = self, .operand = o};
        if (sink != NULL) {
            SLC_TRY(slc_sink_keep_pieces(sink, keep_piece, &self->keeper[o]));
        }
    }
    return SLC_OK;
}

slc_status slci_journal_flush(const slc_job *job, const slc_binding *bindings) {
    for (int o = 0; o < job->n_operands; o++) {
        slc_sink *sink = sink_with_pieces(job, bindings, o);
        SLC_TRY(sink != NULL ? slc_sink_flush_pieces(sink) : SLC_OK);
    }
    return SLC_OK;
}

slc_status slci_journal_detach(const slc_job *job, const slc_binding *bindings, slc_status status) {
    slc_failure failure;
    slc_status_capture(status == SLC_OK ? slci_journal_flush(job, bindings) : status, &failure);
    for (int o = 0; o < job->n_operands; o++) {
        slc_sink *sink = sink_with_pieces(job, bindings, o);
        const slc_status detached = sink != NULL ? slc_sink_keep_pieces(sink, NULL, NULL) : SLC_OK;
        if (failure.status == SLC_OK) {
            slc_status_capture(detached, &failure);
        }
    }
    return failure.status == SLC_OK ? SLC_OK : slc_status_restore(&failure);
}

/* ---- on the disk ----------------------------------------------------------------------------- */

slc_status slci_journal_sync(slc_checkpoint *self, int64_t *n_bytes, int64_t *n_blocks) {
    pthread_mutex_lock(&self->mutex);
    *n_bytes = self->journal.at;
    *n_blocks = self->journal.n_blocks;
    pthread_mutex_unlock(&self->mutex);
    if (fdatasync(self->journal_fd) != 0) {
        return slci_checkpoint_fail("write", self->journal_path);
    }
    return SLC_OK;
}

/* ---- resuming -------------------------------------------------------------------------------- */

static slc_status unexpected(const slci_block_reader *reader) {
    return slci_block_damaged(reader->name, reader->at, "another block is expected");
}

static slc_status read_identity(slc_checkpoint *self, slci_block_reader *reader) {
    int kind = 0;
    int64_t n_bytes = 0;
    uint64_t id = 0;
    SLC_TRY(slci_block_next(reader, &kind, &n_bytes));
    SLC_TRY(slci_block_read(reader, &id, (int64_t)sizeof id));
    SLC_TRY(slci_block_close(reader));
    if (kind != JOURNAL_IDENTITY || id != self->id) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s belongs to another run than %s: number %016llx found, %016llx "
                        "expected; " SLCI_BEGIN_ANEW,
                        self->journal_path, self->path, (unsigned long long)id,
                        (unsigned long long)self->id);
    }
    return SLC_OK;
}

static slc_status open_box(slci_block_reader *reader, journal_entry *entry) {
    slci_box_record *record = &entry->box_record;
    SLC_TRY(slci_block_read(reader, record, (int64_t)sizeof *record));
    if (!slci_box_record_get(record, &entry->box) ||
        slc_box_count(&entry->box) != reader->left / record->element_bytes ||
        reader->left % record->element_bytes != 0) {
        return unexpected(reader);
    }
    entry->stage = record->stage;
    entry->signature = record->signature;
    return SLC_OK;
}

static slc_status open_piece(slci_block_reader *reader, journal_entry *entry) {
    piece_record *record = &entry->piece_record;
    SLC_TRY(slci_block_read(reader, record, (int64_t)sizeof *record));
    if (record->operand < 0 || record->operand >= SLC_MAX_OPERANDS) {
        return unexpected(reader);
    }
    entry->stage = record->stage;
    entry->signature = record->signature;
    return SLC_OK;
}

/* Opens the next block; its elements or bytes are still to be read. */
static slc_status next_entry(slci_block_reader *reader, journal_entry *entry) {
    int kind = 0;
    int64_t n_bytes = 0;
    SLC_TRY(slci_block_next(reader, &kind, &n_bytes));
    *entry = (journal_entry){.is_piece = kind == JOURNAL_PIECE};
    if (kind == JOURNAL_BOX) {
        return open_box(reader, entry);
    }
    return kind == JOURNAL_PIECE ? open_piece(reader, entry) : unexpected(reader);
}

/* Reads what is left of the block to nowhere, for its checksum's sake. */
static slc_status skip(slc_checkpoint *self, slci_block_reader *reader) {
    while (reader->left > 0) {
        SLC_TRY(slci_block_read(reader, self->buffer,
                                slc_min_i64(reader->left, SLCI_CHECKPOINT_BUFFER_BYTES)));
    }
    return slci_block_close(reader);
}

/* Reads everything once, so that damage is found before anything is computed. */
static slc_status check_entries(slc_checkpoint *self, slci_block_reader reader, int64_t n_blocks) {
    while (reader.at < reader.end) {
        journal_entry entry;
        SLC_TRY(next_entry(&reader, &entry));
        SLC_TRY(skip(self, &reader));
    }
    return reader.n_blocks == n_blocks ? SLC_OK : unexpected(&reader);
}

slc_status slci_journal_open(slc_checkpoint *self, int64_t n_bytes, int64_t n_blocks) {
    struct stat info;
    if (fstat(self->journal_fd, &info) != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "cannot read %s: %s", self->journal_path, strerror(errno));
    }
    if ((int64_t)info.st_size < n_bytes) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s has %lld bytes, and %s counts on %lld: it was cut, or is missing; " SLCI_BEGIN_ANEW,
            self->journal_path, (long long)info.st_size, self->path, (long long)n_bytes);
    }
    self->replay =
        (slci_block_reader){.fd = self->journal_fd, .name = self->journal_path, .end = n_bytes};
    SLC_TRY(read_identity(self, &self->replay));
    SLC_TRY(check_entries(self, self->replay, n_blocks));
    if (ftruncate(self->journal_fd, (off_t)n_bytes) != 0) {
        return slci_checkpoint_fail("cut", self->journal_path);
    }
    self->journal = (slci_block_writer){.fd = self->journal_fd,
                                        .name = self->journal_path,
                                        .at = n_bytes,
                                        .n_blocks = n_blocks};
    return SLC_OK;
}

/* That the operand of this job, which wrote it, can take the box. */
static slc_status check_box(const slc_job *job, const slc_binding *bindings,
                            const journal_entry *entry, const slci_block_reader *reader) {
    const int o = (int)entry->box_record.operand;
    const slc_box *box = &entry->box;
    slc_layout full;
    if (sink_of(job, bindings, o) == NULL || job->operands[o].rank != box->rank ||
        slc_job_full_layout(job, o, &full) != SLC_OK ||
        slc_dtype_bytes(full.dtype) != entry->box_record.element_bytes) {
        return slci_block_damaged(reader->name, reader->at, "a box of another job");
    }
    return slci_box_is_within(box, &full)
               ? SLC_OK
               : slci_block_damaged(reader->name, reader->at, "a box beyond the array");
}

/* Reads the box part by part and gives it to the sink. */
static slc_status replay_box(slc_checkpoint *self, slci_block_reader *reader,
                             const journal_entry *entry, slc_sink *sink) {
    const int64_t element_bytes = entry->box_record.element_bytes;
    slci_parts parts = slci_parts_of(&entry->box, SLCI_CHECKPOINT_BUFFER_BYTES / element_bytes);
    while (slci_parts_next(&parts)) {
        SLC_TRY(slci_block_read(reader, self->buffer, slc_box_count(&parts.part) * element_bytes));
        SLC_TRY(slc_sink_write(sink, &parts.part, self->buffer));
    }
    return slci_block_close(reader);
}

static slc_status read_piece(void *context, void *out, int64_t n_bytes) {
    return slci_block_read(context, out, n_bytes);
}

/* The sink reads the piece to where it wants it. */
static slc_status replay_piece(slci_block_reader *reader, const journal_entry *entry,
                               slc_sink *sink) {
    const slc_sink_piece piece = {.index = entry->piece_record.index,
                                  .n_elements = entry->piece_record.n_elements,
                                  .n_bytes = reader->left};
    if (sink == NULL || !slc_sink_has_pieces(sink)) {
        return slci_block_damaged(reader->name, reader->at, "a piece of another job");
    }
    const slc_status status = slc_sink_put_piece(sink, &piece, read_piece, reader);
    if (status != SLC_OK) {
        /* A piece that is none of the sink's is the journal's fault. */
        return status == SLC_ERROR_INPUT ? slc_status_prefix(status, "%s", reader->name) : status;
    }
    return slci_block_close(reader);
}

slc_status slci_journal_replay(slc_checkpoint *self, const slc_job *job,
                               const slc_binding *bindings) {
    slci_block_reader *reader = &self->replay;
    while (reader->at < reader->end) {
        slci_block_reader here = *reader;
        journal_entry entry;
        SLC_TRY(next_entry(&here, &entry));
        if (entry.stage != self->stage) {
            break; /* stages follow one another */
        }
        if (entry.signature != self->signature) {
            /* What another way of doing the stage wrote is written again by this one. */
            SLC_TRY(skip(self, &here));
        } else if (entry.is_piece) {
            slc_sink *sink = sink_of(job, bindings, entry.piece_record.operand);
            SLC_TRY(replay_piece(&here, &entry, sink));
        } else {
            SLC_TRY(check_box(job, bindings, &entry, &here));
            SLC_TRY(replay_box(self, &here, &entry, bindings[entry.box_record.operand].sink));
        }
        *reader = here;
    }
    return SLC_OK;
}
