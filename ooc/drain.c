/* The writer thread: takes complete output tiles in order, copies them from the device in pieces and
 * gives each piece to the sink.
 *
 *     piece   0        1        2
 *     copy    ████     ████     ████            copy-out stream
 *     write       ████     ████     ████        this thread
 *
 * Two staging pieces, so that one is written while the next one is copied. A failure is kept by the
 * run; the thread then goes on taking buffers and only marks them free, so that nobody waits for ever.
 */
#include <assert.h>
#include <string.h>

#include "core/checked.h"
#include "ooc/engine_internal.h"

static slci_output *output_of(slci_run *run, int operand) {
    for (int i = 0; i < run->n_outputs; i++) {
        if (run->output[i].operand == operand) {
            return &run->output[i];
        }
    }
    assert(!"a buffer of no output");
    return NULL;
}

/* Rows of the leading dimension that fit one staging piece. */
static int64_t rows_per_piece(const slci_run *run, int operand) {
    const slc_layout *full = &run->layout[operand];
    if (full->rank == 0 || full->shape[0] == 0) {
        return 1;
    }
    const int64_t row_bytes = run->plan->operand[operand].tile_bytes / full->shape[0];
    return slc_max_i64(run->plan->operand[operand].staging_bytes / slc_max_i64(row_bytes, 1), 1);
}

static slc_status copy_piece(slci_run *run, slci_output *output, const slci_out_buffer *buffer,
                             const slc_box *within, int p) {
    const slc_layout device_layout = slc_layout_slice(&run->layout[buffer->operand], within);
    slc_layout host_layout;
    SLC_TRY(slc_layout_dense(device_layout.dtype, within->rank, within->extent, &host_layout));
    SLC_TRY(slc_event_record(output->piece_begin[p], run->copy_out));
    SLC_TRY(slc_stream_copy_strided(run->copy_out, output->staging[p], &host_layout, buffer->d_data,
                                    &device_layout, SLC_COPY_FROM_DEVICE));
    return slc_event_record(output->piece_end[p], run->copy_out);
}

static slc_status write_piece(slci_run *run, slci_output *output, const slc_box *piece, int p) {
    SLC_TRY(slc_event_synchronize(output->piece_end[p]));
    int64_t ns = 0;
    SLC_TRY(slc_event_elapsed(output->piece_begin[p], output->piece_end[p], &ns));
    run->d2h_ns += ns;
    slc_busy_begin(&run->write_busy);
    const slc_status status =
        slc_sink_write(run->options->bindings[output->operand].sink, piece, output->staging[p]);
    slc_busy_end(&run->write_busy);
    SLC_TRY(status);
    const int64_t bytes =
        slc_box_count(piece) * slc_dtype_bytes(run->layout[output->operand].dtype);
    run->report.bytes_d2h += bytes;
    run->report.bytes_written += bytes;
    return SLC_OK;
}

static slc_status drain(slci_run *run, slci_out_buffer *buffer) {
    slci_output *output = output_of(run, buffer->operand);
    const slc_box whole = slc_job_footprint(run->job, buffer->operand, &buffer->tile);
    if (slc_box_count(&whole) == 0) {
        return SLC_OK;
    }
    const int64_t rows = whole.rank > 0 ? whole.extent[0] : 1;
    const int64_t step = rows_per_piece(run, buffer->operand);
    SLC_TRY(slc_event_wait(run->copy_out, buffer->complete));
    slc_box waiting[SLC_DRAIN_PIECES];
    int64_t n_copied = 0;
    int64_t n_written = 0;
    const int64_t n_total = slc_ceil_div(rows, step);
    while (n_written < n_total) {
        while (n_copied < n_total && n_copied - n_written < output->n_pieces) {
            const int p = (int)(n_copied % output->n_pieces);
            slc_box piece = whole;
            slc_box within = whole;
            memset(within.origin, 0, sizeof within.origin);
            if (whole.rank > 0) {
                within.origin[0] = n_copied * step;
                within.extent[0] = slc_min_i64(step, rows - within.origin[0]);
                piece.origin[0] += within.origin[0];
                piece.extent[0] = within.extent[0];
            }
            SLC_TRY(copy_piece(run, output, buffer, &within, p));
            waiting[p] = piece;
            n_copied++;
        }
        const int p = (int)(n_written % output->n_pieces);
        SLC_TRY(write_piece(run, output, &waiting[p], p));
        n_written++;
    }
    return SLC_OK;
}

static void mark_free(slci_run *run, slci_out_buffer *buffer) {
    pthread_mutex_lock(&run->mutex);
    buffer->is_draining = false;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);
}

static void *writer_main(void *argument) {
    slci_run *run = argument;
    void *item = NULL;
    while (slc_queue_pop(run->drains, &item)) {
        slci_out_buffer *buffer = item;
        if (!slci_run_has_failed(run)) {
            const slc_status status = drain(run, buffer);
            if (status != SLC_OK) {
                slci_run_fail(run, status);
            }
        }
        mark_free(run, buffer);
    }
    return NULL;
}

slc_status slci_drain_start(slci_run *run) {
    SLC_TRY(slc_queue_create(INT64_C(2) * SLC_MAX_OPERANDS, &run->drains));
    if (pthread_create(&run->writer, NULL, writer_main, run) != 0) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "cannot start the writer thread");
    }
    run->has_writer = true;
    return SLC_OK;
}

slc_status slci_drain_hand_over(slci_run *run, slci_out_buffer *buffer) {
    SLC_TRY(slc_event_record(buffer->complete, run->compute));
    pthread_mutex_lock(&run->mutex);
    buffer->is_draining = true;
    pthread_mutex_unlock(&run->mutex);
    const bool taken = slc_queue_push(run->drains, buffer);
    assert(taken);
    (void)taken;
    return SLC_OK;
}

void slci_drain_wait(slci_run *run, const slci_out_buffer *buffer) {
    pthread_mutex_lock(&run->mutex);
    while (buffer->is_draining) {
        pthread_cond_wait(&run->changed, &run->mutex);
    }
    pthread_mutex_unlock(&run->mutex);
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
