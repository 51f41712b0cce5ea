/* The journal: every box that went to a sink, in the order in which it went.
 *
 *     IDENTITY  BOX  BOX  BOX  BOX │ BOX  BO
 *                                  └ the end that the last state counts on; what follows it is
 *                                    written again by the run that resumes
 *
 * Boxes are appended by the writer thread; the scheduler syncs them before it writes a state. A box
 * that cannot be appended ends the checkpoints of this run, because every later state would lack
 * it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/checked.h"
#include "ooc/checkpoint_internal.h"

typedef enum journal_kind { JOURNAL_IDENTITY = SLCI_FIRST_JOURNAL_KIND, JOURNAL_BOX } journal_kind;

/* A number that two runs do not share. */
static uint64_t new_id(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const int64_t parts[3] = {(int64_t)now.tv_sec, (int64_t)now.tv_nsec, (int64_t)getpid()};
    return slci_hash_of(parts, (int64_t)sizeof parts, 0);
}

slc_status slci_journal_begin(slc_checkpoint *self) {
    self->id = new_id();
    if (ftruncate(self->journal_fd, 0) != 0) {
        return slci_checkpoint_fail("empty", self->journal_path);
    }
    self->journal = (slci_block_writer){.fd = self->journal_fd, .name = self->journal_path};
    SLC_TRY(slci_block_begin(&self->journal, JOURNAL_IDENTITY, (int64_t)sizeof self->id));
    SLC_TRY(slci_block_add(&self->journal, &self->id, (int64_t)sizeof self->id));
    return slci_block_end(&self->journal);
}

static slc_status append(slc_checkpoint *self, const slci_box_record *record, const void *data,
                         int64_t n_bytes) {
    slci_block_writer *journal = &self->journal;
    SLC_TRY(slci_block_begin(journal, JOURNAL_BOX, (int64_t)sizeof *record + n_bytes));
    SLC_TRY(slci_block_add(journal, record, (int64_t)sizeof *record));
    SLC_TRY(slci_block_add(journal, data, n_bytes));
    return slci_block_end(journal);
}

void slci_checkpoint_drained(slci_run *run, int operand, const slc_box *box, const void *data) {
    slc_checkpoint *self = run->part->checkpoint;
    if (self == NULL) {
        return;
    }
    const int64_t element_bytes = slc_dtype_bytes(run->layout[operand].dtype);
    slci_box_record record = slci_box_record_of(operand, element_bytes, box);
    record.stage = self->stage;
    record.round = run->round;
    record.signature = self->signature;
    pthread_mutex_lock(&self->mutex);
    const bool was_stopped = self->is_stopped;
    if (!was_stopped) {
        const slci_block_writer before = self->journal;
        const slc_status status = append(self, &record, data, slc_box_count(box) * element_bytes);
        if (status != SLC_OK) {
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
                        "%s belongs to another run than %s: number %016llx found, %016llx expected",
                        self->journal_path, self->path, (unsigned long long)id,
                        (unsigned long long)self->id);
    }
    return SLC_OK;
}

/* Opens the next box. */
static slc_status next_box(slci_block_reader *reader, slci_box_record *record, slc_box *box) {
    int kind = 0;
    int64_t n_bytes = 0;
    SLC_TRY(slci_block_next(reader, &kind, &n_bytes));
    SLC_TRY(slci_block_read(reader, record, (int64_t)sizeof *record));
    if (kind != JOURNAL_BOX || !slci_box_record_get(record, box) ||
        slc_box_count(box) != reader->left / record->element_bytes ||
        reader->left % record->element_bytes != 0) {
        return unexpected(reader);
    }
    return SLC_OK;
}

/* Reads everything once, so that damage is found before anything is computed. */
static slc_status check_boxes(slc_checkpoint *self, slci_block_reader reader, int64_t n_blocks) {
    while (reader.at < reader.end) {
        slci_box_record record;
        slc_box box;
        SLC_TRY(next_box(&reader, &record, &box));
        while (reader.left > 0) {
            SLC_TRY(slci_block_read(&reader, self->buffer,
                                    slc_min_i64(reader.left, SLCI_CHECKPOINT_BUFFER_BYTES)));
        }
        SLC_TRY(slci_block_close(&reader));
    }
    return reader.n_blocks == n_blocks ? SLC_OK : unexpected(&reader);
}

slc_status slci_journal_open(slc_checkpoint *self, int64_t n_bytes, int64_t n_blocks) {
    struct stat info;
    if (fstat(self->journal_fd, &info) != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "cannot read %s: %s", self->journal_path, strerror(errno));
    }
    if ((int64_t)info.st_size < n_bytes) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s has %lld bytes, and %s counts on %lld: it was cut, or is missing; "
                        "--overwrite instead of --resume starts the run again",
                        self->journal_path, (long long)info.st_size, self->path,
                        (long long)n_bytes);
    }
    self->replay =
        (slci_block_reader){.fd = self->journal_fd, .name = self->journal_path, .end = n_bytes};
    SLC_TRY(read_identity(self, &self->replay));
    SLC_TRY(check_boxes(self, self->replay, n_blocks));
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
                            const slci_box_record *record, const slc_box *box,
                            const slci_block_reader *reader) {
    const int o = (int)record->operand;
    const bool has_sink =
        o < job->n_operands && bindings[o].sink != NULL &&
        (job->operands[o].access == SLC_ACCESS_OUT || job->operands[o].access == SLC_ACCESS_UPDATE);
    slc_layout full;
    if (!has_sink || job->operands[o].rank != box->rank ||
        slc_job_full_layout(job, o, &full) != SLC_OK ||
        slc_dtype_bytes(full.dtype) != record->element_bytes) {
        return slci_block_damaged(reader->name, reader->at, "a box of another job");
    }
    slc_box whole = {.rank = full.rank};
    for (int d = 0; d < full.rank; d++) {
        whole.extent[d] = full.shape[d];
    }
    return slc_box_contains(&whole, box)
               ? SLC_OK
               : slci_block_damaged(reader->name, reader->at, "a box beyond the array");
}

/* Reads the box part by part and gives it to the sink, if there is one. */
static slc_status replay_box(slc_checkpoint *self, slci_block_reader *reader,
                             const slci_box_record *record, const slc_box *box, slc_sink *sink) {
    slci_parts parts = slci_parts_of(box, SLCI_CHECKPOINT_BUFFER_BYTES / record->element_bytes);
    while (slci_parts_next(&parts)) {
        SLC_TRY(slci_block_read(reader, self->buffer,
                                slc_box_count(&parts.part) * record->element_bytes));
        if (sink != NULL) {
            SLC_TRY(slc_sink_write(sink, &parts.part, self->buffer));
        }
    }
    return slci_block_close(reader);
}

slc_status slci_journal_replay(slc_checkpoint *self, const slc_job *job,
                               const slc_binding *bindings) {
    slci_block_reader *reader = &self->replay;
    while (reader->at < reader->end) {
        slci_block_reader here = *reader;
        slci_box_record record;
        slc_box box;
        SLC_TRY(next_box(&here, &record, &box));
        if (record.stage != self->stage) {
            break; /* stages follow one another */
        }
        /* What another way of doing the stage wrote is written again by this one. */
        slc_sink *sink = NULL;
        if (record.signature == self->signature) {
            SLC_TRY(check_box(job, bindings, &record, &box, &here));
            sink = bindings[record.operand].sink;
        }
        SLC_TRY(replay_box(self, &here, &record, &box, sink));
        *reader = here;
    }
    return SLC_OK;
}
