/* Chunks on their way from boxes into a file.
 *
 *     write()        pool                         one thread at a time, whichever comes by
 *     box ─ slots ─ encode ─ payloads ─ parked ─ put(0), put(1), put(2) …
 *             │                            │
 *             └───── nameless file ────────┘
 *
 * A chunk is in one of these states:
 *
 *     NEW      nothing of it has come
 *     OPEN     a part of it is in a slot of memory; the slot may be taken from it:
 *     AWAY     that part is in the file, whole as in the slot, and comes back with the next part
 *     BUSY     complete; a thread encodes it, or moves it to the file
 *     PARKED   encoded, in a payload buffer, behind a chunk that is not put yet
 *     HELD     the same, in a slot
 *     FILED    the same, in the file
 *     PUT      done
 *
 * There are enough payload buffers that every encoder finds one: parked chunks leave as many free as
 * there are encoders, of which each thread has one, or fewer have where memory is short. Beyond that
 * they are held in the slots that they were put together in, since a thread that is slow with one
 * chunk lets the others run ahead. Only when write() needs the slots, and the chunk that all wait for
 * has not come yet, do they go to the file; while that chunk is on its way write() waits. So what comes
 * in order never goes to the file, however the threads run. */
#include "io/chunk_sink.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/copy.h"
#include "io/chunk_sink_internal.h"

/* ---- chunks ----------------------------------------------------------------------------------- */

unsigned char *slci_chunk_slot_memory(const slci_chunk_slot *self) {
    return slci_chunk_payload(self->sink, self->buffer);
}

unsigned char *slci_chunk_payload(const slci_chunk_sink *sink, int64_t buffer) {
    return sink->buffer_memory + buffer * sink->payload_bytes;
}

/* With the mutex. The message is the calling thread's last. */
slc_status slci_chunk_fail(slci_chunk_sink *sink, slc_status status) {
    if (sink->failure.status == SLC_OK) {
        slc_status_capture(status, &sink->failure);
    }
    pthread_cond_broadcast(&sink->changed);
    return status;
}

/* ---- the file --------------------------------------------------------------------------------- */

/* With the mutex: a place for so many bytes. */
static slc_status reserve_place(slci_chunk_sink *sink, int64_t n_bytes, int64_t *at) {
    if (sink->file.fd < 0) {
        SLC_TRY(slci_nameless_create(sink->options.path, &sink->file));
    }
    *at = sink->file_end;
    sink->file_end += n_bytes;
    sink->counts.n_put_away++;
    return SLC_OK;
}

/* With the mutex, which is held during the transfer: this is the slow way. The slot's chunk goes to the
 * file. */
static slc_status put_away(slci_chunk_sink *sink, slci_chunk_slot *self) {
    const int64_t chunk_bytes = sink->options.pipeline.chunk_bytes;
    slci_chunk_entry *entry = &sink->entry[self->index];
    if (entry->state == SLCI_CHUNK_HELD) {
        int64_t at = 0;
        SLC_TRY(reserve_place(sink, entry->n, &at));
        SLC_TRY(slci_nameless_write(&sink->file, slci_chunk_slot_memory(self), entry->n, at));
        entry->state = SLCI_CHUNK_FILED;
        entry->at = at;
        sink->n_held--;
        self->index = -1;
        return SLC_OK;
    }
    if (self->parked < 0) {
        SLC_TRY(reserve_place(sink, chunk_bytes, &self->parked));
    }
    SLC_TRY(
        slci_nameless_write(&sink->file, slci_chunk_slot_memory(self), chunk_bytes, self->parked));
    entry->state = SLCI_CHUNK_AWAY;
    entry->at = self->parked;
    self->index = -1;
    return SLC_OK;
}

/* ---- slots ------------------------------------------------------------------------------------ */

/* With the mutex: a slot that is free; NULL: there is none. */
static slci_chunk_slot *find_free_slot(slci_chunk_sink *sink) {
    for (int64_t k = 0; k < sink->n_slots; k++) {
        slci_chunk_slot *self = &sink->slots[(sink->hand + k) % sink->n_slots];
        if (self->index < 0) {
            return self;
        }
    }
    return NULL;
}

/* With the mutex: whether the chunk that all others wait for is being put, or encoded. */
static bool is_moving(const slci_chunk_sink *sink) {
    return sink->is_putting ||
           (sink->next < sink->grid.n_chunks && sink->entry[sink->next].state == SLCI_CHUNK_BUSY);
}

/* With the mutex: a slot that is free, or can be made so; NULL: one will be when something is encoded
 * or put. Of the chunks that are held the one goes whose turn is last. */
static slci_chunk_slot *find_slot(slci_chunk_sink *sink) {
    slci_chunk_slot *open = NULL;
    slci_chunk_slot *held = NULL;
    slci_chunk_slot *const free_slot = find_free_slot(sink);
    if (free_slot != NULL || is_moving(sink)) {
        return free_slot;
    }
    for (int64_t k = 0; k < sink->n_slots; k++) {
        slci_chunk_slot *self = &sink->slots[(sink->hand + k) % sink->n_slots];
        const bool is_held = sink->entry[self->index].state == SLCI_CHUNK_HELD;
        if (is_held && (held == NULL || self->index > held->index)) {
            held = self;
        } else if (!is_held && !self->is_busy && open == NULL) {
            open = self;
        }
    }
    return held != NULL ? held : sink->n_encoding > 0 ? NULL : open;
}

/* With the mutex. */
static slc_status wait_for_slot(slci_chunk_sink *sink, slci_chunk_slot **out) {
    for (;;) {
        if (sink->failure.status != SLC_OK) {
            return slc_status_restore(&sink->failure);
        }
        slci_chunk_slot *self = find_slot(sink);
        if (self != NULL) {
            sink->hand = (self - sink->slots + 1) % sink->n_slots;
            *out = self;
            return self->index < 0 ? SLC_OK : put_away(sink, self);
        }
        pthread_cond_wait(&sink->changed, &sink->mutex);
    }
}

/* With the mutex: the slot of a chunk, with what has come of it so far. */
slc_status slci_chunk_open(slci_chunk_sink *sink, int64_t index, slci_chunk_slot **out) {
    slci_chunk_entry *entry = &sink->entry[index];
    if (entry->state == SLCI_CHUNK_OPEN) {
        *out = &sink->slots[entry->at];
        (*out)->is_busy = true;
        return SLC_OK;
    }
    if (entry->state != SLCI_CHUNK_NEW && entry->state != SLCI_CHUNK_AWAY) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: chunk %lld was written already",
                        sink->options.path, (long long)index);
    }
    const bool was_away = entry->state == SLCI_CHUNK_AWAY;
    slci_chunk_slot *self = NULL;
    SLC_TRY(wait_for_slot(sink, &self));
    self->parked = was_away ? entry->at : -1;
    if (was_away) {
        SLC_TRY(slci_nameless_read(&sink->file, slci_chunk_slot_memory(self),
                                   sink->options.pipeline.chunk_bytes, self->parked));
    }
    self->index = index;
    self->is_busy = true;
    entry->n = was_away ? entry->n : 0;
    entry->state = SLCI_CHUNK_OPEN;
    entry->at = self - sink->slots;
    *out = self;
    return SLC_OK;
}

/* ---- putting ---------------------------------------------------------------------------------- */

/* With the mutex, which is let go meanwhile: puts the next chunk, if it is there. */
static slc_status put_next(slci_chunk_sink *sink, bool *has_put) {
    slci_chunk_entry *entry = &sink->entry[sink->next];
    const slci_chunk_entry found = *entry;
    const int64_t index = sink->next;
    *has_put = false;
    if (found.state != SLCI_CHUNK_PARKED && found.state != SLCI_CHUNK_HELD &&
        found.state != SLCI_CHUNK_FILED) {
        return SLC_OK;
    }
    pthread_mutex_unlock(&sink->mutex);
    slc_status status = SLC_OK;
    const unsigned char *payload = sink->filed;
    if (found.state == SLCI_CHUNK_FILED) {
        status = slci_nameless_read(&sink->file, sink->filed, found.n, found.at);
    } else {
        payload = found.state == SLCI_CHUNK_HELD ? slci_chunk_slot_memory(&sink->slots[found.at])
                                                 : slci_chunk_payload(sink, found.at);
    }
    if (status == SLC_OK) {
        status = sink->options.put(sink->options.context, index, payload, found.n);
    }
    pthread_mutex_lock(&sink->mutex);
    SLC_TRY(status);
    if (found.state == SLCI_CHUNK_PARKED) {
        sink->free_payload[sink->n_free_payloads++] = found.at;
        sink->n_parked--;
    } else if (found.state == SLCI_CHUNK_HELD) {
        sink->slots[found.at].index = -1;
        sink->n_held--;
        pthread_cond_broadcast(&sink->changed);
    }
    entry->state = SLCI_CHUNK_PUT;
    sink->next++;
    *has_put = true;
    return SLC_OK;
}

/* With the mutex: all that can be put, unless another thread is at it, which then does it. */
static slc_status put_all(slci_chunk_sink *sink) {
    if (sink->is_putting) {
        return SLC_OK;
    }
    sink->is_putting = true;
    slc_status status = SLC_OK;
    bool has_put = true;
    while (has_put && sink->next < sink->grid.n_chunks && sink->failure.status == SLC_OK) {
        status = put_next(sink, &has_put);
        if (status != SLC_OK) {
            (void)slci_chunk_fail(sink, status);
            break;
        }
    }
    sink->is_putting = false;
    pthread_cond_broadcast(&sink->changed);
    return status;
}

/* With the mutex, which is let go meanwhile: an encoded chunk that is far from its turn goes to the
 * file, so that its buffer is free for the next. */
static slc_status file_payload(slci_chunk_sink *sink, int64_t index, int64_t buffer,
                               int64_t n_bytes) {
    int64_t at = 0;
    SLC_TRY(reserve_place(sink, n_bytes, &at));
    pthread_mutex_unlock(&sink->mutex);
    const slc_status status =
        slci_nameless_write(&sink->file, slci_chunk_payload(sink, buffer), n_bytes, at);
    pthread_mutex_lock(&sink->mutex);
    SLC_TRY(status);
    sink->entry[index] =
        (slci_chunk_entry){.at = at, .n = (uint32_t)n_bytes, .state = SLCI_CHUNK_FILED};
    sink->free_payload[sink->n_free_payloads++] = buffer;
    return SLC_OK;
}

/* With the mutex: whether an encoded chunk may stay in a slot. While nothing moves, threads need slots
 * to go on with. */
static bool may_hold(const slci_chunk_sink *sink) {
    return is_moving(sink) ||
           sink->n_held < sink->n_slots - (int64_t)SLCI_SLOTS_PER_ENCODER * sink->n_encoders;
}

/* With the mutex. */
slc_status slci_chunk_deliver(slci_chunk_sink *sink, int64_t index, int64_t buffer,
                              int64_t n_bytes) {
    sink->counts.stored_bytes += n_bytes;
    slci_chunk_entry ready = {.at = buffer, .n = (uint32_t)n_bytes, .state = SLCI_CHUNK_PARKED};
    const bool is_next = index == sink->next;
    slci_chunk_slot *slot = may_hold(sink) ? find_free_slot(sink) : NULL;
    if (is_next || sink->n_parked < sink->n_payloads - sink->n_encoders) {
        sink->entry[index] = ready;
        sink->n_parked++;
    } else if (slot != NULL) {
        sink->free_payload[sink->n_free_payloads++] = slot->buffer;
        slot->buffer = buffer;
        slot->index = index;
        ready.state = SLCI_CHUNK_HELD;
        ready.at = slot - sink->slots;
        sink->entry[index] = ready;
        sink->n_held++;
    } else {
        SLC_TRY(file_payload(sink, index, buffer, n_bytes));
    }
    return put_all(sink);
}

/* ---- encoding --------------------------------------------------------------------------------- */

/* With the mutex, which is let go meanwhile. */
static slc_status encode_locked(slci_chunk_sink *sink, slci_chunk_slot *self) {
    assert(sink->n_free_payloads > 0 && sink->n_free_encoders > 0);
    slci_chunk_encoder *const encoder = sink->free_encoder[--sink->n_free_encoders];
    const int64_t buffer = sink->free_payload[--sink->n_free_payloads];
    const int64_t index = self->index;
    slc_sink_piece piece = {.index = index};
    pthread_mutex_unlock(&sink->mutex);
    if (slci_turn_is_needed(&sink->options.turn)) {
        slci_turn_elements(&sink->options.turn, slci_chunk_slot_memory(self),
                           sink->options.pipeline.chunk_bytes);
    }
    const slc_status status = slci_chunk_encode(encoder, slci_chunk_slot_memory(self),
                                                slci_chunk_payload(sink, buffer), &piece.n_bytes);
    if (status == SLC_OK && sink->keep != NULL) {
        sink->keep(sink->keep_context, &piece, slci_chunk_payload(sink, buffer));
    }
    pthread_mutex_lock(&sink->mutex);
    sink->free_encoder[sink->n_free_encoders++] = encoder;
    self->index = -1;
    self->is_busy = false;
    sink->n_encoding--;
    pthread_cond_broadcast(&sink->changed);
    SLC_TRY(status);
    sink->counts.n_encoded++;
    return slci_chunk_deliver(sink, index, buffer, piece.n_bytes);
}

static slc_status encode_task(void *argument) {
    slci_chunk_slot *self = argument;
    slci_chunk_sink *sink = self->sink;
    pthread_mutex_lock(&sink->mutex);
    slc_status status = SLC_OK;
    if (sink->failure.status == SLC_OK) {
        status = encode_locked(sink, self);
        if (status != SLC_OK) {
            (void)slci_chunk_fail(sink, status);
        }
    } else {
        status = slc_status_restore(&sink->failure);
        self->index = -1;
        self->is_busy = false;
        sink->n_encoding--;
    }
    sink->n_busy--;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->mutex);
    return status;
}

/* With the mutex: the chunk in the slot is complete. */
static slc_status begin_encoding(slci_chunk_sink *sink, slci_chunk_slot *self) {
    sink->entry[self->index].state = SLCI_CHUNK_BUSY;
    /* No more threads than encoders are at it, putting included, as if the pool had no more; a task of
     * the pool may not wait, this thread may. */
    while (sink->is_short && sink->n_busy >= sink->n_encoders) {
        pthread_cond_wait(&sink->changed, &sink->mutex);
    }
    sink->n_busy++;
    sink->n_encoding++;
    pthread_mutex_unlock(&sink->mutex);
    slc_status status = SLC_OK;
    if (sink->options.pool == NULL) {
        status = encode_task(self);
    } else {
        status = slc_pool_submit(sink->options.pool, sink->group, encode_task, self);
    }
    pthread_mutex_lock(&sink->mutex);
    if (status != SLC_OK && sink->options.pool != NULL) {
        self->index = -1;
        sink->n_encoding--;
        sink->n_busy--;
    }
    return status;
}

/* ---- boxes ------------------------------------------------------------------------------------ */

/* Copies what is in both, the slot's chunk and the box, into the slot. */
static slc_status fill_slot(const slci_chunk_sink *sink, const slci_chunk_slot *self,
                            const slc_box *both, const slc_box *box, const void *src) {
    const slc_box chunk = slci_chunk_grid_box(&sink->grid, self->index);
    slc_layout box_layout;
    slc_box in_chunk = *both;
    slc_box in_box = *both;
    for (int d = 0; d < both->rank; d++) {
        in_chunk.origin[d] -= chunk.origin[d];
        in_box.origin[d] -= box->origin[d];
    }
    SLC_TRY(slc_layout_dense(sink->options.layout.dtype, box->rank, box->extent, &box_layout));
    const slc_layout from = slc_layout_slice(&box_layout, &in_box);
    const slc_layout to = slc_layout_slice(&sink->chunk_layout, &in_chunk);
    return slc_copy_host(slci_chunk_slot_memory(self), &to, src, &from);
}

/* With the mutex, which is let go while elements are copied. */
static slc_status take_part(slci_chunk_sink *sink, int64_t index, const slc_box *box,
                            const void *src) {
    const slc_box chunk = slci_chunk_grid_box(&sink->grid, index);
    const slc_box both = slc_box_intersect(&chunk, box);
    const int64_t n = slc_box_count(&both);
    const int64_t n_whole = slc_box_count(&chunk);
    slci_chunk_slot *self = NULL;
    SLC_TRY(slci_chunk_open(sink, index, &self));
    slci_chunk_entry *entry = &sink->entry[index];
    const bool is_first = entry->n == 0;
    /* What no box brings is zero: of a chunk that the array's end cuts, or that is never complete. */
    const bool is_full = n == slc_layout_count(&sink->chunk_layout);
    pthread_mutex_unlock(&sink->mutex);
    if (is_first && !is_full) {
        memset(slci_chunk_slot_memory(self), 0, (size_t)sink->options.pipeline.chunk_bytes);
    }
    const slc_status status = fill_slot(sink, self, &both, box, src);
    pthread_mutex_lock(&sink->mutex);
    SLC_TRY(status);
    if (entry->n + n > n_whole) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a part of chunk %lld was written twice",
                        sink->options.path, (long long)index);
    }
    entry->n += (uint32_t)n;
    entry->is_kept = false;
    sink->counts.n_cut += entry->n == n_whole && !is_first ? 1 : 0;
    if (entry->n == n_whole) {
        return begin_encoding(sink, self);
    }
    self->is_busy = false;
    return SLC_OK;
}

slc_status slci_chunk_sink_write(slci_chunk_sink *sink, const slc_box *box, const void *src) {
    const slc_box chunks = slci_chunk_grid_chunks(&sink->grid, box);
    const int64_t n = slc_box_count(box) == 0 ? 0 : slc_box_count(&chunks);
    slc_status status = SLC_OK;
    pthread_mutex_lock(&sink->mutex);
    for (int64_t k = 0; k < n && status == SLC_OK; k++) {
        status = sink->failure.status != SLC_OK
                     ? slc_status_restore(&sink->failure)
                     : take_part(sink, slci_chunk_grid_index(&sink->grid, &chunks, k), box, src);
    }
    if (status != SLC_OK) {
        (void)slci_chunk_fail(sink, status);
    }
    pthread_mutex_unlock(&sink->mutex);
    return status;
}

/* With the mutex: a chunk of which not all has come. */
static slc_status complete(slci_chunk_sink *sink, int64_t index) {
    slci_chunk_slot *self = NULL;
    SLC_TRY(slci_chunk_open(sink, index, &self));
    if (sink->entry[index].n == 0) {
        memset(slci_chunk_slot_memory(self), 0, (size_t)sink->options.pipeline.chunk_bytes);
    }
    return begin_encoding(sink, self);
}

slc_status slci_chunk_sink_wait(slci_chunk_sink *sink) {
    return sink->group == NULL ? SLC_OK : slc_task_group_wait(sink->group);
}

slc_status slci_chunk_sink_finish(slci_chunk_sink *sink) {
    slc_status status = SLC_OK;
    pthread_mutex_lock(&sink->mutex);
    for (int64_t k = sink->next; k < sink->grid.n_chunks && status == SLC_OK; k++) {
        const uint32_t state = sink->entry[k].state;
        if (sink->failure.status != SLC_OK) {
            status = slc_status_restore(&sink->failure);
        } else if (state == SLCI_CHUNK_NEW || state == SLCI_CHUNK_OPEN ||
                   state == SLCI_CHUNK_AWAY) {
            status = complete(sink, k);
        }
    }
    pthread_mutex_unlock(&sink->mutex);
    const slc_status waited = slci_chunk_sink_wait(sink);
    pthread_mutex_lock(&sink->mutex);
    if (status == SLC_OK && waited != SLC_OK) {
        status = sink->failure.status != SLC_OK ? slc_status_restore(&sink->failure) : waited;
    }
    assert(status != SLC_OK || sink->next == sink->grid.n_chunks);
    pthread_mutex_unlock(&sink->mutex);
    return status;
}

slci_chunk_sink_counts slci_chunk_sink_get_counts(slci_chunk_sink *sink) {
    pthread_mutex_lock(&sink->mutex);
    const slci_chunk_sink_counts counts = sink->counts;
    pthread_mutex_unlock(&sink->mutex);
    return counts;
}

/* ---- making ----------------------------------------------------------------------------------- */

static slc_status allocate(slci_chunk_sink *sink, const slci_chunk_sizes *size) {
    const int64_t n_buffers = size->n_slots + size->n_payloads + 1;
    int64_t buffer_bytes = 0;
    if (slc_checked_mul(n_buffers, size->payload_bytes, &buffer_bytes)) {
        sink->entry = calloc((size_t)slc_max_i64(size->n_chunks, 1), sizeof *sink->entry);
        sink->slots = calloc((size_t)size->n_slots, sizeof *sink->slots);
        sink->buffer_memory = malloc((size_t)buffer_bytes);
        sink->free_payload = calloc((size_t)size->n_payloads, sizeof *sink->free_payload);
        sink->encoder = calloc((size_t)size->n_encoders, sizeof(slci_chunk_encoder *));
        sink->free_encoder = calloc((size_t)size->n_encoders, sizeof(slci_chunk_encoder *));
    }
    if (sink->entry == NULL || sink->slots == NULL || sink->buffer_memory == NULL ||
        sink->free_payload == NULL || sink->encoder == NULL || sink->free_encoder == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %lld bytes of chunks under way",
                        sink->options.path, (long long)size->bytes);
    }
    sink->filed = slci_chunk_payload(sink, n_buffers - 1);
    for (int64_t k = 0; k < size->n_slots; k++) {
        sink->slots[k] = (slci_chunk_slot){.sink = sink,
                                           .index = -1,
                                           .parked = -1,
                                           .buffer = size->n_payloads + k};
    }
    for (int64_t k = 0; k < size->n_payloads; k++) {
        sink->free_payload[k] = k;
    }
    sink->n_free_payloads = size->n_payloads;
    return SLC_OK;
}

static slc_status prepare(slci_chunk_sink *sink) {
    const slci_chunk_sink_options *options = &sink->options;
    const slci_chunk_sizes size = slci_chunk_sink_size(options);
    sink->n_slots = size.n_slots;
    sink->n_payloads = size.n_payloads;
    sink->payload_bytes = size.payload_bytes;
    sink->grid = slci_chunk_grid_of(&options->layout, options->chunk);
    SLC_TRY(slc_layout_dense(options->layout.dtype, options->layout.rank, options->chunk,
                             &sink->chunk_layout));
    SLC_TRY(allocate(sink, &size));
    sink->is_short = size.n_encoders < slci_chunk_sink_threads(options);
    for (; sink->n_encoders < size.n_encoders; sink->n_encoders++) {
        slci_chunk_encoder **encoder = &sink->encoder[sink->n_encoders];
        SLC_TRY(slci_chunk_encoder_create(&options->pipeline, encoder));
        sink->free_encoder[sink->n_free_encoders++] = *encoder;
    }
    return options->pool == NULL ? SLC_OK : slc_task_group_create(&sink->group);
}

slc_status slci_chunk_sink_create(const slci_chunk_sink_options *options, slci_chunk_sink **out) {
    slci_chunk_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to write it", options->path);
    }
    sink->options = *options;
    sink->file.fd = -1;
    (void)pthread_mutex_init(&sink->mutex, NULL);
    (void)pthread_cond_init(&sink->changed, NULL);
    const slc_status status = prepare(sink);
    if (status != SLC_OK) {
        slci_chunk_sink_destroy(sink);
        return status;
    }
    *out = sink;
    return SLC_OK;
}

void slci_chunk_sink_destroy(slci_chunk_sink *sink) {
    if (sink == NULL) {
        return;
    }
    const slc_status ignored =
        slci_chunk_sink_wait(sink); /* what is thrown away need not be whole */
    (void)ignored;
    slc_task_group_destroy(sink->group);
    for (int k = 0; k < sink->n_encoders; k++) {
        slci_chunk_encoder_destroy(sink->encoder[k]);
    }
    slci_nameless_close(&sink->file);
    free((void *)sink->free_encoder);
    free((void *)sink->encoder);
    free(sink->free_payload);
    free(sink->buffer_memory);
    free(sink->slots);
    free(sink->entry);
    (void)pthread_cond_destroy(&sink->changed);
    (void)pthread_mutex_destroy(&sink->mutex);
    free(sink);
}
