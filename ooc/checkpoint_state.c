/* The state file: written beside the old one, synced, renamed.
 *
 *     HEAD  OUTPUTS  FINGERPRINT  CLIENT  REGIONS  PARTIAL …  END
 *
 * A partial is a box of an operand with its elements in C order. It comes from a device buffer, or,
 * where a resumed run has not come to it yet, from the state before. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"
#include "ooc/checkpoint_internal.h"

#define FORMAT_VERSION 2

/* Names that are tried for a temporary file. */
#define MOST_ATTEMPTS 1000

/* More regions than this are no state of ours: a hundred thousand interrupted runs would leave
 * fewer. */
#define MOST_REGIONS (1 << 20)

/* Nor are more stages or rounds: at a million of them a second it would have run for 12 days. */
#define MOST_STEPS (INT64_C(1) << 40)

typedef struct region_record {
    int64_t n_axes, origin[SLC_MAX_AXES], extent[SLC_MAX_AXES];
    int64_t begun, unfinished;
} region_record;

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Whether the range has an end that is a number too. */
static bool is_range(int64_t origin, int64_t extent) {
    return origin >= 0 && extent >= 0 && extent <= INT64_MAX - origin;
}

bool slci_box_record_get(const slci_box_record *record, slc_box *box) {
    const bool is_sound = record->rank >= 0 && record->rank <= SLC_MAX_RANK &&
                          record->operand >= 0 && record->operand < SLC_MAX_OPERANDS &&
                          record->element_bytes > 0 && record->element_bytes <= 64;
    *box = (slc_box){.rank = is_sound ? (int)record->rank : 0};
    for (int d = 0; d < box->rank; d++) {
        box->origin[d] = record->origin[d];
        box->extent[d] = record->extent[d];
        if (!is_range(box->origin[d], box->extent[d])) {
            return false;
        }
    }
    return is_sound && slc_box_count(box) >= 0;
}

slci_box_record slci_box_record_of(int operand, int64_t element_bytes, const slc_box *box) {
    slci_box_record record = {.operand = operand,
                              .element_bytes = element_bytes,
                              .rank = box->rank};
    for (int d = 0; d < box->rank; d++) {
        record.origin[d] = box->origin[d];
        record.extent[d] = box->extent[d];
    }
    return record;
}

bool slci_box_is_within(const slc_box *box, const slc_layout *layout) {
    slc_box whole = {.rank = layout->rank};
    for (int d = 0; d < layout->rank; d++) {
        whole.extent[d] = layout->shape[d];
    }
    return slc_box_contains(&whole, box);
}

/* ---- writing --------------------------------------------------------------------------------- */

static slc_status write_block(slci_block_writer *writer, slci_state_kind kind, const void *data,
                              int64_t n_bytes) {
    SLC_TRY(slci_block_begin(writer, (int)kind, n_bytes));
    SLC_TRY(slci_block_add(writer, data, n_bytes));
    return slci_block_end(writer);
}

static slc_status write_client(slc_checkpoint *self, slci_block_writer *writer) {
    const slc_checkpoint_client *client = &self->client;
    const int64_t n_bytes = client->bytes != NULL ? client->bytes(client->context) : 0;
    void *data = malloc((size_t)slc_max_i64(n_bytes, 1));
    if (data == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld bytes of a checkpoint",
                        (long long)n_bytes);
    }
    if (n_bytes > 0) {
        client->save(client->context, data);
    }
    const slc_status status = write_block(writer, SLCI_STATE_CLIENT, data, n_bytes);
    free(data);
    return status;
}

static slc_status write_regions(const slci_state *state, slci_block_writer *writer) {
    SLC_TRY(slci_block_begin(writer, SLCI_STATE_REGIONS,
                             state->n_regions * (int64_t)sizeof(region_record)));
    for (int64_t r = 0; r < state->n_regions; r++) {
        const slci_region *region = &state->region[r];
        region_record record = {.n_axes = region->box.rank,
                                .begun = region->begun,
                                .unfinished = region->unfinished};
        for (int a = 0; a < region->box.rank; a++) {
            record.origin[a] = region->box.origin[a];
            record.extent[a] = region->box.extent[a];
        }
        SLC_TRY(slci_block_add(writer, &record, (int64_t)sizeof record));
    }
    return slci_block_end(writer);
}

/* Where `box` of a device buffer lies in it; the buffer's first element is `box`'s. */
static slc_layout within_buffer(const slci_run *run, const slci_save *save, const slc_box *part) {
    slc_box within = *part;
    for (int d = 0; d < within.rank; d++) {
        within.origin[d] -= save->box.origin[d];
    }
    return slc_layout_slice(&run->layout[save->operand], &within);
}

/* Copies a part of a device buffer into the checkpoint's buffer. */
static slc_status fetch_part(slc_checkpoint *self, const slci_state *state, const slci_save *save,
                             const slc_box *part) {
    slci_run *run = state->run;
    const slc_layout from = within_buffer(run, save, part);
    slc_layout to;
    SLC_TRY(slc_layout_dense(from.dtype, part->rank, part->extent, &to));
    SLC_TRY(slc_stream_copy_strided(run->compute, self->buffer, &to, save->d_data, &from,
                                    SLC_COPY_FROM_DEVICE));
    return slc_stream_synchronize(run->compute);
}

/* Where a partial comes from; one of both is NULL. */
typedef struct partial_source {
    const slci_save *save;   /* a device buffer */
    const slci_partial *old; /* in the state before */
} partial_source;

static slc_status write_partial(slc_checkpoint *self, const slci_state *state,
                                const partial_source *source, slci_block_writer *writer,
                                slci_partial *out) {
    const slci_save *save = source->save;
    const slci_partial *old = source->old;
    const slc_box *box = save != NULL ? &save->box : &old->box;
    const int64_t element = save != NULL ? slc_dtype_bytes(state->run->layout[save->operand].dtype)
                                         : old->element_bytes;
    const int operand = save != NULL ? save->operand : old->operand;
    const slci_box_record record = slci_box_record_of(operand, element, box);
    SLC_TRY(slci_block_begin(writer, SLCI_STATE_PARTIAL,
                             (int64_t)sizeof record + slc_box_count(box) * element));
    SLC_TRY(slci_block_add(writer, &record, (int64_t)sizeof record));
    *out =
        (slci_partial){.operand = operand, .element_bytes = element, .box = *box, .at = writer->at};
    const int64_t most = SLCI_CHECKPOINT_BUFFER_BYTES / element;
    slci_parts parts = save != NULL
                           ? slci_parts_within(box, state->run->layout[operand].shape, most)
                           : slci_parts_of(box, most);
    while (slci_parts_next(&parts)) {
        SLC_TRY(save != NULL ? fetch_part(self, state, save, &parts.part)
                             : slci_partial_read(self, old, &parts.part));
        SLC_TRY(slci_block_add(writer, self->buffer, slc_box_count(&parts.part) * element));
    }
    return slci_block_end(writer);
}

/* Whether what the state before holds is still needed: some region that is left touches it, and no
 * new partial holds all of it. */
static bool is_needed(const slci_state *state, const slci_partial *old) {
    for (int s = 0; s < state->n_saves; s++) {
        if (state->save[s].operand == old->operand &&
            slc_box_contains(&state->save[s].box, &old->box)) {
            return false;
        }
    }
    return state->run != NULL && slci_regions_touch(state->run->job, state->region,
                                                    state->n_regions, old->operand, &old->box);
}

static slc_status write_partials(slc_checkpoint *self, const slci_state *state,
                                 slci_block_writer *writer, slci_partial *out) {
    int64_t n = 0;
    for (int64_t p = 0; p < self->n_partials; p++) {
        if (is_needed(state, &self->partial[p])) {
            const partial_source source = {.old = &self->partial[p]};
            SLC_TRY(write_partial(self, state, &source, writer, &out[n]));
            n++;
        }
    }
    for (int s = 0; s < state->n_saves; s++) {
        const partial_source source = {.save = &state->save[s]};
        SLC_TRY(write_partial(self, state, &source, writer, &out[n]));
        n++;
    }
    return SLC_OK;
}

static int64_t count_partials(const slc_checkpoint *self, const slci_state *state) {
    int64_t n = state->n_saves;
    for (int64_t p = 0; p < self->n_partials; p++) {
        n += is_needed(state, &self->partial[p]);
    }
    return n;
}

static slc_status write_blocks(slc_checkpoint *self, const slci_state *state, int fd,
                               slci_partial *partial, int64_t n_partials) {
    slci_state_head head = {.version = FORMAT_VERSION,
                            .id = (int64_t)self->id,
                            .stage = self->stage,
                            .round = state->round,
                            .signature = (int64_t)self->signature,
                            .n_outputs = self->n_outputs,
                            .n_known = self->n_known,
                            .n_regions = state->n_regions,
                            .n_partials = n_partials};
    /* What the state counts on in the journal must be on the disk before it. */
    SLC_TRY(slci_journal_sync(self, &head.journal_bytes, &head.journal_blocks));
    slci_block_writer writer = {.fd = fd, .name = self->new_path};
    SLC_TRY(write_block(&writer, SLCI_STATE_HEAD, &head, (int64_t)sizeof head));
    SLC_TRY(write_block(&writer, SLCI_STATE_OUTPUTS, self->output,
                        self->n_known * (int64_t)sizeof *self->output));
    SLC_TRY(write_block(&writer, SLCI_STATE_FINGERPRINT, self->fingerprint.text,
                        self->fingerprint.n_bytes));
    SLC_TRY(write_client(self, &writer));
    SLC_TRY(write_regions(state, &writer));
    SLC_TRY(write_partials(self, state, &writer, partial));
    SLC_TRY(write_block(&writer, SLCI_STATE_END, NULL, 0));
    self->state_bytes = writer.at;
    return SLC_OK;
}

/* Makes the file to write into, of a name that was free. -1: errno says why not. */
static int make_temporary(slc_checkpoint *self) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        (void)snprintf(self->new_path, sizeof self->new_path, "%s.part-%ld-%d", self->path,
                       (long)getpid(), attempt);
        const int fd =
            open(self->new_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* The first state takes a name that was free when the run began, and must be so still; where the file
 * system cannot tell, it is taken. */
static int give_name(const slc_checkpoint *self) {
    if (!self->has_state) {
        if (renameat2(AT_FDCWD, self->new_path, AT_FDCWD, self->path, RENAME_NOREPLACE) == 0) {
            return 0;
        }
        if (errno != EINVAL && errno != ENOSYS) {
            return -1;
        }
    }
    return rename(self->new_path, self->path);
}

slc_status slci_state_write(slc_checkpoint *self, const slci_state *state) {
    const int64_t n_partials = count_partials(self, state);
    slci_partial *partial = calloc((size_t)n_partials + 1, sizeof *partial);
    int fd = -1;
    slc_status status = SLC_OK;
    if (partial == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a checkpoint");
    }
    fd = make_temporary(self);
    if (fd < 0) {
        SLC_TRY_GOTO(done, slci_checkpoint_fail("make", self->new_path));
    }
    SLC_TRY_GOTO(done, write_blocks(self, state, fd, partial, n_partials));
    if (fsync(fd) != 0) {
        SLC_TRY_GOTO(done, slci_checkpoint_fail("write", self->new_path));
    }
    if (give_name(self) != 0) {
        SLC_TRY_GOTO(done, slci_checkpoint_fail("rename to", self->path));
    }
    /* Where the folder could not be synced, a power failure may bring back the state before, which
     * is whole too. */
    (void)slci_folder_sync(self->path);
    if (self->state_fd >= 0) {
        (void)close(self->state_fd);
    }
    free(self->partial);
    self->state_fd = fd;
    self->partial = partial;
    self->n_partials = n_partials;
    self->has_state = true;
    self->is_settled = self->n_outputs > 0 && state->n_regions == 0;
    self->n_states++;
    return SLC_OK;
done:
    free(partial);
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(self->new_path);
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static slc_status unexpected(const slci_block_reader *reader) {
    return slci_block_damaged(reader->name, reader->at, "another block is expected");
}

/* Opens the next block, which must be of this kind. */
static slc_status open_block(slci_block_reader *reader, slci_state_kind kind, int64_t *n_bytes) {
    int found = 0;
    SLC_TRY(slci_block_next(reader, &found, n_bytes));
    return found == (int)kind ? SLC_OK : unexpected(reader);
}

/* Of another format only the version is known. */
static slc_status read_head(slci_block_reader *reader, slci_state_head *head) {
    unsigned char bytes[256]; /* enough for the head of any format */
    int64_t n_bytes = 0;
    SLC_TRY(open_block(reader, SLCI_STATE_HEAD, &n_bytes));
    if (n_bytes < (int64_t)sizeof head->version || n_bytes > (int64_t)sizeof bytes) {
        return unexpected(reader);
    }
    SLC_TRY(slci_block_read(reader, bytes, n_bytes));
    SLC_TRY(slci_block_close(reader));
    memcpy(&head->version, bytes, sizeof head->version);
    if (head->version != FORMAT_VERSION) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s is of format %lld, this Sluice reads format %d; the version that wrote "
                        "it can go on with it",
                        reader->name, (long long)head->version, FORMAT_VERSION);
    }
    if (n_bytes != (int64_t)sizeof *head) {
        return unexpected(reader);
    }
    memcpy(head, bytes, sizeof *head);
    const bool is_sound = head->stage >= 0 && head->stage <= MOST_STEPS && head->round >= 0 &&
                          head->round <= MOST_STEPS && head->n_outputs >= 0 &&
                          head->n_outputs <= head->n_known && head->n_known <= SLCI_MOST_OUTPUTS &&
                          head->n_regions >= 0 && head->n_regions <= MOST_REGIONS &&
                          head->n_partials >= 0 && head->n_partials <= MOST_REGIONS;
    return is_sound ? SLC_OK : unexpected(reader);
}

/* Reads a block of bytes into memory of its own. */
static slc_status read_bytes(slci_block_reader *reader, slci_state_kind kind, char **out,
                             int64_t *n_bytes) {
    SLC_TRY(open_block(reader, kind, n_bytes));
    char *bytes = malloc((size_t)slc_max_i64(*n_bytes, 1));
    if (bytes == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld bytes of a checkpoint",
                        (long long)*n_bytes);
    }
    slc_status status = slci_block_read(reader, bytes, *n_bytes);
    if (status == SLC_OK) {
        status = slci_block_close(reader);
    }
    if (status != SLC_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    return SLC_OK;
}

slc_status slci_state_open(slci_block_reader *reader, slci_state_head *head,
                           slci_output_record **out) {
    char *bytes = NULL;
    int64_t n_bytes = 0;
    SLC_TRY(read_head(reader, head));
    SLC_TRY(read_bytes(reader, SLCI_STATE_OUTPUTS, &bytes, &n_bytes));
    if (n_bytes != head->n_known * (int64_t)sizeof **out) {
        free(bytes);
        return unexpected(reader);
    }
    *out = (slci_output_record *)(void *)bytes;
    return SLC_OK;
}

static slc_status check_fingerprint(const slc_checkpoint *self, slci_block_reader *reader) {
    slc_fingerprint found = {0};
    SLC_TRY(read_bytes(reader, SLCI_STATE_FINGERPRINT, &found.text, &found.n_bytes));
    const bool is_sound = found.n_bytes == 0 || found.text[found.n_bytes - 1] == '\0';
    const slc_status status = is_sound
                                  ? slci_fingerprint_compare(self->path, &found, &self->fingerprint)
                                  : unexpected(reader);
    slc_fingerprint_destroy(&found);
    return status;
}

static slc_status load_client(const slc_checkpoint *self, slci_block_reader *reader) {
    char *data = NULL;
    int64_t n_bytes = 0;
    SLC_TRY(read_bytes(reader, SLCI_STATE_CLIENT, &data, &n_bytes));
    const slc_checkpoint_client *client = &self->client;
    const slc_status status = client->load != NULL ? client->load(client->context, data, n_bytes)
                              : n_bytes == 0       ? SLC_OK
                                                   : unexpected(reader);
    free(data);
    return status != SLC_OK && client->load != NULL ? slc_status_prefix(status, "%s", self->path)
                                                    : status;
}

static slc_status read_regions(slc_checkpoint *self, slci_block_reader *reader,
                               const slci_state_head *head) {
    int64_t n_bytes = 0;
    SLC_TRY(open_block(reader, SLCI_STATE_REGIONS, &n_bytes));
    if (n_bytes != head->n_regions * (int64_t)sizeof(region_record)) {
        return unexpected(reader); /* before memory is asked for */
    }
    self->region = calloc((size_t)head->n_regions + 1, sizeof *self->region);
    if (self->region == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the regions of a checkpoint");
    }
    self->n_regions = head->n_regions;
    for (int64_t r = 0; r < self->n_regions; r++) {
        slci_region *region = &self->region[r];
        region_record record;
        SLC_TRY(slci_block_read(reader, &record, (int64_t)sizeof record));
        if (record.n_axes < 1 || record.n_axes > SLC_MAX_AXES) {
            return unexpected(reader);
        }
        region->box.rank = (int)record.n_axes;
        for (int a = 0; a < region->box.rank; a++) {
            region->box.origin[a] = record.origin[a];
            region->box.extent[a] = record.extent[a];
            if (!is_range(record.origin[a], record.extent[a])) {
                return unexpected(reader);
            }
        }
        region->begun = (uint32_t)record.begun;
        region->unfinished = (uint32_t)record.unfinished;
    }
    return slci_block_close(reader);
}

static slc_status read_partials(slc_checkpoint *self, slci_block_reader *reader,
                                const slci_state_head *head) {
    const int64_t smallest =
        SLCI_BLOCK_HEADER_BYTES + (int64_t)sizeof(slci_box_record) + SLCI_BLOCK_SUM_BYTES;
    if (head->n_partials > (reader->end - reader->at) / smallest) {
        return slci_block_damaged(reader->name, reader->end, "it has fewer blocks than it says");
    }
    self->partial = calloc((size_t)head->n_partials + 1, sizeof *self->partial);
    if (self->partial == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the partials of a checkpoint");
    }
    self->n_partials = head->n_partials;
    for (int64_t p = 0; p < self->n_partials; p++) {
        slci_partial *partial = &self->partial[p];
        int64_t n_bytes = 0;
        slci_box_record record;
        SLC_TRY(open_block(reader, SLCI_STATE_PARTIAL, &n_bytes));
        SLC_TRY(slci_block_read(reader, &record, (int64_t)sizeof record));
        if (!slci_box_record_get(&record, &partial->box) ||
            slc_box_count(&partial->box) != reader->left / record.element_bytes ||
            reader->left % record.element_bytes != 0) {
            return unexpected(reader);
        }
        partial->operand = (int)record.operand;
        partial->element_bytes = record.element_bytes;
        partial->at = reader->at;
        while (reader->left > 0) {
            SLC_TRY(slci_block_read(reader, self->buffer,
                                    slc_min_i64(reader->left, SLCI_CHECKPOINT_BUFFER_BYTES)));
        }
        SLC_TRY(slci_block_close(reader));
    }
    return SLC_OK;
}

slc_status slci_state_read(slc_checkpoint *self, int64_t *journal_bytes, int64_t *journal_blocks) {
    struct stat info;
    self->state_fd = open(self->path, O_RDONLY | O_CLOEXEC);
    if (self->state_fd < 0 || fstat(self->state_fd, &info) != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "cannot open the checkpoint %s: %s", self->path,
                        strerror(errno));
    }
    slci_block_reader reader = {.fd = self->state_fd,
                                .name = self->path,
                                .end = (int64_t)info.st_size};
    slci_state_head head = {.version = 0};
    int64_t n_bytes = 0;
    SLC_TRY(slci_state_open(&reader, &head, &self->output));
    self->n_outputs = (int)head.n_outputs;
    self->n_known = (int)head.n_known;
    SLC_TRY(check_fingerprint(self, &reader));
    SLC_TRY(load_client(self, &reader));
    SLC_TRY(read_regions(self, &reader, &head));
    SLC_TRY(read_partials(self, &reader, &head));
    SLC_TRY(open_block(&reader, SLCI_STATE_END, &n_bytes));
    SLC_TRY(slci_block_close(&reader));
    if (reader.at != reader.end) {
        return slci_block_damaged(self->path, reader.at, "there is more than was written");
    }
    self->id = (uint64_t)head.id;
    self->saved_stage = head.stage;
    self->saved_round = head.round;
    self->saved_signature = (uint64_t)head.signature;
    self->has_state = true;
    self->is_settled = self->n_outputs > 0 && self->n_regions == 0;
    *journal_bytes = head.journal_bytes;
    *journal_blocks = head.journal_blocks;
    return SLC_OK;
}

/* ---- partials -------------------------------------------------------------------------------- */

/* Reads run by run: the elements of the innermost dimensions in which the part is as wide as the
 * partial lie together. */
slc_status slci_partial_read(slc_checkpoint *self, const slci_partial *partial,
                             const slc_box *part) {
    const slc_box *box = &partial->box;
    int64_t run = 1;
    int d = part->rank;
    while (d > 0 && part->extent[d - 1] == box->extent[d - 1]) {
        d--;
        run *= part->extent[d];
    }
    run *= d > 0 ? part->extent[d - 1] : 1;
    slci_parts walk = slci_parts_of(part, run);
    unsigned char *to = self->buffer;
    while (slci_parts_next(&walk)) {
        int64_t element = 0;
        for (int k = 0; k < part->rank; k++) {
            element = element * box->extent[k] + walk.part.origin[k] - box->origin[k];
        }
        const int64_t n_bytes = slc_box_count(&walk.part) * partial->element_bytes;
        SLC_TRY(slci_file_read(self->state_fd, self->path,
                               partial->at + element * partial->element_bytes, to, n_bytes));
        to += n_bytes;
    }
    return SLC_OK;
}
