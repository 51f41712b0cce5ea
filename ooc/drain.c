/* The way of outputs: a complete output tile is copied from the device in pieces, and the writer thread
 * gives each piece to the sink.
 *
 *     piece   0        1        2
 *     copy    ████     ████     ████            copy-out stream
 *     write       ████     ████     ████        this thread
 *
 * A small tile has a staging piece for each of its buffers: its copy is enqueued when it is handed
 * over, together with those of its neighbours where it is very small, and the writer finds it under
 * way. A large one comes in several pieces that share a few staging buffers; the writer enqueues their
 * copies as buffers become free, the next tile's behind this one's, so that the bus does not stand
 * still between two tiles.
 *
 * A failure is kept by the run; the thread then goes on taking buffers and only marks them free, so
 * that nobody waits for ever.
 */
#include <assert.h>
#include <string.h>

#include "core/checked.h"
#include "core/spin.h"
#include "core/thread.h"
#include "ooc/engine_internal.h"
#include "ooc/resume.h"

/* A sink that takes several threads gets pieces of at least this size, some 50 us of one thread. */
#define SMALLEST_PART_BYTES (1 << 19)

/* Tiles are copied together up to this size, as in ooc/fill.c. */
#define BATCH_BYTES (1 << 20)

enum { MOST_FLYING = SLC_MAX_OPERANDS * SLCI_MAX_LINES };

/* The writer's own: the buffer that it copies, and what was copied and is not yet written. */
typedef struct writer {
    slci_run *run;
    slci_out_buffer *buffer; /* NULL: none */
    slc_box whole;           /* of the buffer's tile */
    int64_t n_begun;         /* pieces of it */
    int first, n_flying;
    slci_out_piece *flying[MOST_FLYING]; /* a ring, in the order of their copies */
} writer;

/* ---- copies ------------------------------------------------------------------------------------ */

/* Rows of the leading dimension that fit one staging piece. */
static int64_t rows_per_piece(const slci_run *run, int operand) {
    const slc_layout *full = &run->layout[operand];
    if (full->rank == 0 || full->shape[0] == 0) {
        return 1;
    }
    const int64_t row_bytes = run->plan->operand[operand].tile_bytes / full->shape[0];
    return slc_max_i64(run->plan->operand[operand].staging_bytes / slc_max_i64(row_bytes, 1), 1);
}

/* Enqueues the copy of `within` (relative to the buffer's tile) into the piece's staging. */
static slc_status copy_piece(slci_run *run, const slc_box *within, slci_out_piece *piece) {
    const slci_out_buffer *buffer = piece->buffer;
    const slc_layout device_layout = slc_layout_slice(&run->layout[buffer->operand], within);
    slc_layout host_layout;
    SLC_TRY(slc_layout_dense(device_layout.dtype, within->rank, within->extent, &host_layout));
    if (buffer->output->n_copied % run->timing_stride == 0) {
        SLC_TRY(slci_stopwatch_start(&piece->watch, run->copy_out));
    }
    SLC_TRY(slc_stream_copy_strided(run->copy_out, piece->staging, &host_layout, buffer->d_data,
                                    &device_layout, SLC_COPY_FROM_DEVICE));
    SLC_TRY(slci_stopwatch_stop(&piece->watch, run->copy_out));
    buffer->output->n_copied++;
    piece->landed = piece->end;
    piece->n_copied_with = 1;
    return slc_event_record(piece->end, run->copy_out);
}

/* Whether the buffer behind this one lies behind it, on the device and in staging. */
static bool follows(const slci_run *run, const slci_output *output, int b) {
    const int64_t bytes = run->plan->operand[output->operand].tile_bytes;
    return b + 1 < output->n_buffers &&
           (char *)output->buffer[b].d_data + bytes == (char *)output->buffer[b + 1].d_data &&
           (char *)output->piece[b].staging + bytes == (char *)output->piece[b + 1].staging;
}

/* `n` buffers from this one on. */
static void mark_free(slci_run *run, slci_out_buffer *buffer, int n) {
    pthread_mutex_lock(&run->mutex);
    for (int k = 0; k < n; k++) {
        buffer[k].is_draining = false;
    }
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);
}

/* Enqueues one copy of all waiting tiles, each into the piece that is its buffer's own. */
static slc_status copy_waiting(slci_run *run, slci_output *output) {
    const int n = output->n_waiting;
    slci_out_piece *first = &output->piece[output->first_waiting];
    SLC_TRY(slci_run_wait_for_tile(run, run->copy_out, output->newest_tile));
    if (n == 1) {
        slc_box within = first->box;
        memset(within.origin, 0, sizeof within.origin);
        return copy_piece(run, &within, first);
    }
    slc_event *landed = first[n - 1].end;
    if (output->n_copied % run->timing_stride == 0) {
        SLC_TRY(slci_stopwatch_start(&first->watch, run->copy_out));
    }
    SLC_TRY(slc_stream_copy(run->copy_out, first->staging, first->buffer->d_data,
                            n * run->plan->operand[output->operand].tile_bytes,
                            SLC_COPY_FROM_DEVICE));
    SLC_TRY(slci_stopwatch_stop(&first->watch, run->copy_out));
    output->n_copied++;
    for (int k = 0; k < n; k++) {
        first[k].landed = landed;
        first[k].n_copied_with = k == 0 ? n : 0;
    }
    return slc_event_record(landed, run->copy_out);
}

/* Sends what waits on its way; after a failure nobody need wait for it. */
static slc_status flush(slci_run *run, slci_output *output) {
    if (output->n_waiting == 0) {
        return SLC_OK;
    }
    const slc_status status = copy_waiting(run, output);
    slci_out_buffer *first = &output->buffer[output->first_waiting];
    if (status != SLC_OK || !slc_queue_push(run->drains, first)) {
        mark_free(run, first, output->n_waiting);
    }
    output->n_waiting = 0;
    return status;
}

/* Puts a complete tile behind those that wait, and sends them on their way when they are enough or when
 * the next one could not join them. */
static slc_status hold(slci_run *run, slci_out_buffer *buffer, const slc_box *whole) {
    slci_output *output = buffer->output;
    const int b = (int)(buffer - output->buffer);
    const int64_t tile_bytes = run->plan->operand[output->operand].tile_bytes;
    const bool is_whole =
        slc_layout_bytes(&run->layout[output->operand]) ==
        slc_box_count(whole) * slc_dtype_bytes(run->layout[output->operand].dtype);
    if (!is_whole || output->first_waiting + output->n_waiting != b) {
        SLC_TRY(flush(run, output));
    }
    slci_out_piece *piece = &output->piece[b];
    piece->buffer = buffer;
    piece->box = *whole;
    piece->is_last = true;
    output->first_waiting = output->n_waiting == 0 ? b : output->first_waiting;
    output->n_waiting++;
    output->newest_tile = run->n_enqueued - 1;
    const int64_t most =
        slc_min_i64(output->n_buffers / 2, BATCH_BYTES / slc_max_i64(tile_bytes, 1));
    const bool is_open = is_whole && output->n_waiting < most && follows(run, output, b);
    return is_open ? SLC_OK : flush(run, output);
}

static void fly(writer *self, slci_out_piece *piece) {
    assert(self->n_flying < MOST_FLYING);
    self->flying[(self->first + self->n_flying) % MOST_FLYING] = piece;
    self->n_flying++;
}

/* The next piece of the buffer that is being copied. */
static slc_status copy_next(writer *self) {
    slci_run *run = self->run;
    slci_out_buffer *buffer = self->buffer;
    slci_output *output = buffer->output;
    slci_out_piece *piece = &output->piece[output->n_copied % output->n_pieces];
    const int64_t rows = self->whole.rank > 0 ? self->whole.extent[0] : 1;
    const int64_t step = rows_per_piece(run, buffer->operand);
    slc_box within = self->whole;
    memset(within.origin, 0, sizeof within.origin);
    piece->buffer = buffer;
    piece->box = self->whole;
    if (self->whole.rank > 0) {
        within.origin[0] = self->n_begun * step;
        within.extent[0] = slc_min_i64(step, rows - within.origin[0]);
        piece->box.origin[0] += within.origin[0];
        piece->box.extent[0] = within.extent[0];
    }
    self->n_begun++;
    piece->is_last = self->n_begun == slc_ceil_div(rows, step);
    SLC_TRY(copy_piece(run, &within, piece));
    fly(self, piece);
    self->buffer = piece->is_last ? NULL : buffer;
    return SLC_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* One piece, cut along its leading dimension. */
typedef struct shared_write {
    slc_sink *sink;
    const slc_box *box;
    const char *data;
    int64_t step, row_bytes;
} shared_write;

static slc_status write_part(void *context, int64_t index, int worker) {
    (void)worker;
    const shared_write *self = context;
    slc_box box = *self->box;
    box.origin[0] += index * self->step;
    box.extent[0] = slc_min_i64(self->step, self->box->extent[0] - index * self->step);
    return slc_sink_write(self->sink, &box, self->data + index * self->step * self->row_bytes);
}

/* By all threads where the sink takes them: one core fills only a part of the memory bus. */
static slc_status write_box(const slci_run *run, const slci_out_piece *piece, int64_t bytes) {
    slc_sink *sink = run->options->bindings[piece->buffer->operand].sink;
    slc_pool *pool = run->options->pool;
    const slc_box *box = &piece->box;
    const int64_t rows = box->rank > 0 ? box->extent[0] : 1;
    int64_t n_parts = slc_min_i64(slc_pool_size(pool), bytes / SMALLEST_PART_BYTES);
    n_parts = sink->is_divisible ? slc_min_i64(n_parts, rows) : 1;
    if (n_parts < 2) {
        return slc_sink_write(sink, box, piece->staging);
    }
    const shared_write work = {.sink = sink,
                               .box = box,
                               .data = piece->staging,
                               .step = slc_ceil_div(rows, n_parts),
                               .row_bytes = bytes / rows};
    return slc_pool_for(pool, slc_ceil_div(rows, work.step), write_part, (void *)(uintptr_t)&work);
}

static slc_status count_copy(slci_run *run, slci_out_piece *piece, int64_t bytes) {
    if (piece->n_copied_with == 0) {
        return SLC_OK;
    }
    run->d2h.n++;
    slci_trace_interval interval = {.stage = SLC_TRACE_D2H,
                                    .watch = &piece->watch,
                                    .tile = piece->buffer->tile.index,
                                    .bytes = piece->n_copied_with * bytes};
    return slci_trace_count(run, &interval, &run->d2h);
}

static slc_status write_piece(slci_run *run, slci_out_piece *piece) {
    const int o = piece->buffer->operand;
    const int64_t tile = piece->buffer->tile.index;
    const int64_t bytes = slc_box_count(&piece->box) * slc_dtype_bytes(run->layout[o].dtype);
    if (piece->n_copied_with > 0) { /* else it came with one that is here */
        SLC_TRY(slc_event_synchronize(piece->landed));
    }
    SLC_TRY(count_copy(run, piece, bytes));
    const int64_t write_ns = slci_trace_now(run);
    slc_busy_begin(&run->write_busy);
    const slc_status status = write_box(run, piece, bytes);
    slc_busy_end(&run->write_busy);
    SLC_TRY(status);
    slci_trace_host(run, SLC_TRACE_WRITE, tile, write_ns, bytes);
    slci_checkpoint_drained(run, o, &piece->box, piece->staging);
    run->report.bytes_d2h += bytes;
    run->report.bytes_written += bytes;
    return SLC_OK;
}

static slc_status write_oldest(writer *self) {
    slci_out_piece *piece = self->flying[self->first];
    SLC_TRY(write_piece(self->run, piece));
    self->first = (self->first + 1) % MOST_FLYING;
    self->n_flying--;
    piece->buffer->output->n_written++;
    if (piece->is_last) {
        mark_free(self->run, piece->buffer, 1);
    }
    return SLC_OK;
}

/* ---- the thread -------------------------------------------------------------------------------- */

/* The pieces of direct buffers that were copied together; the queue has only the first of them. */
static slci_out_piece *direct_pieces(slci_out_buffer *buffer) {
    return &buffer->output->piece[buffer - buffer->output->buffer];
}

static slc_status begin_buffer(writer *self, slci_out_buffer *buffer) {
    if (buffer->output->is_direct) {
        slci_out_piece *first = direct_pieces(buffer);
        for (int k = 0, n = first->n_copied_with; k < n; k++) {
            fly(self, &first[k]);
        }
        return SLC_OK;
    }
    self->buffer = buffer;
    self->n_begun = 0;
    self->whole = slc_job_footprint(self->run->job, buffer->operand, &buffer->tile);
    return slc_event_wait(self->run->copy_out, buffer->complete);
}

/* Copies run ahead of writing as far as staging allows. */
static slc_status work_on(writer *self, slci_out_buffer *taken) {
    if (taken != NULL) {
        SLC_TRY(begin_buffer(self, taken));
    }
    const slci_output *output = self->buffer != NULL ? self->buffer->output : NULL;
    if (output != NULL && output->n_copied - output->n_written < output->n_pieces) {
        return copy_next(self);
    }
    return self->n_flying > 0 ? write_oldest(self) : SLC_OK;
}

static void give_up(writer *self) {
    for (; self->n_flying > 0; self->n_flying--) {
        const slci_out_piece *piece = self->flying[self->first];
        self->first = (self->first + 1) % MOST_FLYING;
        if (piece->is_last) {
            mark_free(self->run, piece->buffer, 1);
        }
    }
    if (self->buffer != NULL) {
        mark_free(self->run, self->buffer, 1);
        self->buffer = NULL;
    }
}

/* One step; false when there is nothing left and nothing will come. */
static bool turn(writer *self) {
    slci_run *run = self->run;
    void *taken = NULL;
    if (self->buffer == NULL && self->n_flying > 0) {
        (void)slc_queue_try_pop(run->drains, &taken);
    } else if (self->buffer == NULL && !slc_queue_pop(run->drains, &taken)) {
        return false;
    }
    if (slci_run_has_failed(run)) {
        give_up(self);
        if (taken != NULL) {
            slci_out_buffer *first = taken;
            mark_free(run, first,
                      first->output->is_direct ? direct_pieces(first)->n_copied_with : 1);
        }
        return true;
    }
    const slc_status status = work_on(self, taken);
    if (status != SLC_OK) {
        slci_run_fail(run, status);
    }
    return true;
}

static void *writer_main(void *argument) {
    writer self = {.run = argument};
    while (turn(&self)) {
    }
    return NULL;
}

slc_status slci_drain_start(slci_run *run) {
    SLC_TRY(slc_queue_create(MOST_FLYING, &run->drains));
    if (slci_thread_start(&run->writer, writer_main, run) != 0) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "cannot start the writer thread");
    }
    run->has_writer = true;
    return SLC_OK;
}

slc_status slci_drain_hand_over(slci_run *run, slci_out_buffer *buffer) {
    const slc_box whole = slc_job_footprint(run->job, buffer->operand, &buffer->tile);
    if (slc_box_count(&whole) == 0) {
        return SLC_OK;
    }
    pthread_mutex_lock(&run->mutex);
    buffer->is_draining = true;
    pthread_mutex_unlock(&run->mutex);
    if (buffer->output->is_direct) {
        return hold(run, buffer, &whole);
    }
    SLC_TRY(slc_event_record(buffer->complete, run->compute));
    const bool taken = slc_queue_push(run->drains, buffer);
    assert(taken);
    (void)taken;
    return SLC_OK;
}

void slci_drain_wait(slci_run *run, const slci_out_buffer *buffer) {
    slci_output *output = buffer->output;
    const int64_t place = buffer - output->buffer - output->first_waiting;
    if (place >= 0 && place < output->n_waiting) {
        const slc_status status = flush(run, output);
        if (status != SLC_OK) {
            slci_run_fail(run, status);
        }
    }
    const int64_t wait_ns = slci_trace_now(run);
    pthread_mutex_lock(&run->mutex);
    slci_spin spin = {0};
    while (buffer->is_draining) {
        if (!slci_spin_once(&spin, &run->mutex)) {
            pthread_cond_wait(&run->changed, &run->mutex);
        }
    }
    pthread_mutex_unlock(&run->mutex);
    slci_trace_wait(run, "wait for the writer", buffer->tile.index, wait_ns);
}

void slci_drain_join(slci_run *run) {
    if (run->drains != NULL) {
        slc_queue_close(run->drains);
    }
    if (run->has_writer) {
        pthread_join(run->writer, NULL);
        run->has_writer = false;
    }
    slc_queue_destroy(run->drains);
    run->drains = NULL;
}
