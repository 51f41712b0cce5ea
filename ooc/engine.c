/* The scheduler: one thread that keeps reading, copying and computing going at the same time.
 *
 * Inputs are ooc/fill.c's, outputs leave through ooc/drain.c.
 *
 * One step is: start the reads that have a free line; enqueue the tile's description; take the fills
 * that this tile needs, waiting until they are read and their copies enqueued (of a large fill by the
 * thread that has read it); enqueue the tile itself behind the event of the copies. Outputs: when a
 * tile needs another output tile than the one before, the old buffer goes to the writer thread
 * (ooc/drain.c) and a free one is set to zero.
 *
 *     read      ▓0▓▓1▓▓2▓▓3▓
 *     copy in      0  1  2  3
 *     compute       ▒▒0▒▒▒▒1▒▒▒▒2▒▒▒▒3▒▒
 *     copy out                            0
 *     write                                 0
 *
 * The first failure of anything wins; the scheduler stops, and everything that was started is waited
 * for before the buffers are released.
 */
#include "ooc/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/thread_slice.h"
#include "ooc/engine_internal.h"
#include "ooc/loop_internal.h"
#include "ooc/resume.h"

/* An event is recorded behind every tile, or where launches show (uses_graphs) behind four tiles in a
 * ring: recording one takes 2 us of the 10 to 15 that such a tile has (measured on an H200). */
#define MARKS_PER_RING 4

void slci_run_fail(slci_run *run, slc_status status) {
    pthread_mutex_lock(&run->mutex);
    if (run->failure.status == SLC_OK) {
        slc_status_capture(status, &run->failure);
        atomic_store(&run->has_failed, true);
    }
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);
}

bool slci_run_has_failed(slci_run *run) {
    return atomic_load(&run->has_failed);
}

/* ---- outputs ---------------------------------------------------------------------------------- */

slc_status slci_run_hand_over(slci_run *run, slci_output *output) {
    if (output->current < 0 || output->is_kept) {
        return SLC_OK;
    }
    output->is_kept = true;
    return slci_drain_hand_over(run, &output->buffer[output->current]);
}

/* Gives a finished output tile to the writer and prepares the buffer that `tile` needs. */
static slc_status advance_output(slci_run *run, slci_output *output, const slc_tile *tile) {
    if (output->current >= 0) {
        const slci_out_buffer *buffer = &output->buffer[output->current];
        if (!slci_needs_other_box(run, output->operand, &buffer->tile, tile)) {
            return SLC_OK;
        }
        SLC_TRY(slci_run_hand_over(run, output));
    }
    output->current = (output->current + 1) % output->n_buffers;
    output->is_kept = false;
    slci_out_buffer *buffer = &output->buffer[output->current];
    slci_drain_wait(run, buffer);
    if (slci_run_has_failed(run)) {
        /* The writer gives up at once; its copy out of this buffer may still be running. */
        return slc_status_restore(&run->failure);
    }
    buffer->tile = *tile;
    if (run->job->operands[output->operand].access == SLC_ACCESS_UPDATE) {
        SLC_TRY(slc_stream_set(run->compute, buffer->d_data, 0,
                               run->plan->operand[output->operand].tile_bytes));
    }
    return slci_checkpoint_fill_update(run, buffer);
}

/* ---- one tile --------------------------------------------------------------------------------- */

static slc_status count_kernel(slci_run *run, slci_ring_entry *entry) {
    run->kernel.n++;
    slci_trace_interval interval = {.stage = SLC_TRACE_KERNEL,
                                    .watch = &entry->watch,
                                    .tile = entry->step};
    SLC_TRY(slci_trace_count(run, &interval, &run->kernel));
    slci_trace_tile_ended(run, run->n_done, interval.end_ns);
    return SLC_OK;
}

/* Has an event stand for all tiles that are enqueued. */
static slc_status mark_tiles(slci_run *run) {
    if (run->n_marked == run->n_enqueued) {
        return SLC_OK;
    }
    slci_ring_entry *newest = &run->ring[(run->n_enqueued - 1) % run->n_ring];
    SLC_TRY(slc_event_record(newest->end, run->compute));
    for (; run->n_marked < run->n_enqueued; run->n_marked++) {
        run->ring[run->n_marked % run->n_ring].done = newest->end;
    }
    return SLC_OK;
}

static slc_status count_oldest(slci_run *run) {
    slci_ring_entry *entry = &run->ring[run->n_done % run->n_ring];
    SLC_TRY(count_kernel(run, entry));
    entry->is_in_flight = false;
    run->n_done++;
    if (run->options->progress != NULL) {
        run->options->progress(run->options->progress_context, entry->step + 1, run->plan->n_tiles);
    }
    return SLC_OK;
}

/* Waits until the oldest tile in flight, this entry's, has run; counts the time of tiles that have, and
 * reports progress. */
static slc_status finish_entry(slci_run *run, const slci_ring_entry *entry) {
    if (!entry->is_in_flight) {
        return SLC_OK;
    }
    assert(entry == &run->ring[run->n_done % run->n_ring]);
    if (entry->done == NULL) {
        SLC_TRY(mark_tiles(run));
    }
    const slc_event *done = entry->done;
    const int64_t wait_ns = slci_trace_now(run);
    SLC_TRY(slci_fill_until(run, entry->done));
    slci_trace_wait(run, "wait for the device", entry->step, wait_ns);
    SLC_TRY(count_oldest(run));
    /* Not the newest tile: what `leave` enqueues is still to come behind it. */
    while (run->n_done < run->n_enqueued - 1 && run->ring[run->n_done % run->n_ring].done == done) {
        SLC_TRY(count_oldest(run));
    }
    return SLC_OK;
}

/* Tiles finish in order, so one that is not known to be done is still in the ring. */
slc_status slci_run_find_mark(slci_run *run, int64_t n, slc_event **done) {
    assert(n < run->n_enqueued && run->n_enqueued - n <= run->n_ring);
    if (n >= run->n_marked) {
        SLC_TRY(mark_tiles(run));
    }
    *done = run->ring[n % run->n_ring].done;
    return SLC_OK;
}

/* To ask takes 1 us of the calling thread, to wait 5 us of the stream. */
slc_status slci_run_wait_for_mark(const slci_run *run, slc_stream *stream, slc_event *done) {
    bool has_run = false;
    if (!run->plan->uses_graphs) {
        SLC_TRY(slc_event_query(done, &has_run));
    }
    return has_run ? SLC_OK : slc_event_wait(stream, done);
}

/* What runs on `stream` from here on comes after tile `n` of the round. */
slc_status slci_run_wait_for_tile(slci_run *run, slc_stream *stream, int64_t n) {
    if (n < run->n_done) {
        return SLC_OK;
    }
    slc_event *done = NULL;
    SLC_TRY(slci_run_find_mark(run, n, &done));
    return slci_run_wait_for_mark(run, stream, done);
}

slc_status slci_run_ask_for_tile(slci_run *run, int64_t n, bool must_wait, bool *has_run) {
    *has_run = n < run->n_done;
    if (*has_run || (n >= run->n_marked && !must_wait)) {
        return SLC_OK;
    }
    slc_event *done = NULL;
    SLC_TRY(slci_run_find_mark(run, n, &done));
    SLC_TRY(slc_event_query(done, has_run));
    if (!*has_run && must_wait) {
        const int64_t wait_ns = slci_trace_now(run);
        SLC_TRY(slc_event_synchronize(done));
        slci_trace_wait(run, "wait for a buffer", run->ring[n % run->n_ring].step, wait_ns);
        *has_run = true;
    }
    return SLC_OK;
}

/* Sends the descriptions of this tile and of those that come next, once in half a ring of them. The
 * tiles whose places they take have run: they are further behind than the ring is long. */
static slc_status send_tiles(slci_run *run, int64_t step) {
    slci_tiles *tiles = &run->tiles;
    const int64_t place = run->n_enqueued % (2 * tiles->n_half);
    if (place % tiles->n_half != 0) {
        return SLC_OK;
    }
    int64_t n = 0;
    for (; n < tiles->n_half && step < run->plan->n_tiles; n++) {
        tiles->staging[place + n] = slc_plan_tile(run->plan, step);
        step = slci_visited_step(run, step + 1);
    }
    const int64_t bytes = n * (int64_t)sizeof(slc_tile);
    slc_event *ready = tiles->ready[place / tiles->n_half];
    SLC_TRY(slc_stream_copy(run->copy_in, tiles->d_tile + place, tiles->staging + place, bytes,
                            SLC_COPY_TO_DEVICE));
    run->report.bytes_h2d += bytes;
    SLC_TRY(slc_event_record(ready, run->copy_in));
    return slc_event_wait(run->compute, ready);
}

/* Only now, so that neither the next copy nor the writer waits for what this tile waits for. */
static slc_status wait_for_inputs(slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        slci_group *group = &run->group[g];
        if (group->has_moved) {
            const slci_line *line = &group->line[(group->n_on_device - 1) % group->n_lines];
            SLC_TRY(slc_event_wait(run->compute, line->arrived));
            group->has_moved = false;
        }
    }
    return SLC_OK;
}

static void fill_arguments(slci_run *run, slc_tile_arguments *arguments) {
    const slci_tiles *tiles = &run->tiles;
    *arguments =
        (slc_tile_arguments){.device = run->device,
                             .stream = run->compute,
                             .d_tile = tiles->d_tile + run->n_enqueued % (2 * tiles->n_half),
                             .full_extent = run->plan->tile,
                             .layout = run->layout};
    for (int o = 0; o < run->job->n_operands; o++) {
        arguments->d_operand[o] = run->d_work[o];
    }
    for (int g = 0; g < run->n_groups; g++) {
        const slci_group *group = &run->group[g];
        const slci_line *line = &group->line[(group->n_on_device - 1) % group->n_lines];
        for (int i = 0; i < group->n_operands; i++) {
            arguments->d_operand[group->operand[i]] = line->d_data[i];
        }
    }
    for (int i = 0; i < run->n_outputs; i++) {
        const slci_output *output = &run->output[i];
        arguments->d_operand[output->operand] = output->buffer[output->current].d_data;
    }
}

/* Depth of the outermost loop whose value differs between two tiles; 0 when there is no tile yet. */
int slci_changed_depth(const slci_run *run, const slc_tile *before, const slc_tile *now) {
    int depth = 0;
    while (before != NULL && depth < run->plan->n_axes &&
           before->origin[run->plan->order[depth]] == now->origin[run->plan->order[depth]]) {
        depth++;
    }
    return before == NULL ? 0 : depth;
}

static slc_status leave_axes(slci_run *run, int depth, const slc_tile_arguments *arguments) {
    for (int d = run->plan->n_axes - 1; d >= depth && run->job->leave != NULL; d--) {
        if ((run->part->region.unfinished >> run->plan->order[d] & 1) == 0) {
            SLC_TRY(run->job->leave(run->job->state, run->plan->order[d], arguments));
        }
    }
    if (run->job->leave == NULL) {
        return SLC_OK;
    }
    /* The tile has run when this has: it may use the tile's buffers. */
    SLC_TRY(
        slci_stopwatch_stop(&run->ring[(run->n_enqueued - 1) % run->n_ring].watch, run->compute));
    run->n_marked = slc_min_i64(run->n_marked, run->n_enqueued - 1);
    return mark_tiles(run);
}

static slc_status enter_axes(slci_run *run, int depth, const slc_tile_arguments *arguments) {
    for (int d = depth; d < run->plan->n_axes && run->job->enter != NULL; d++) {
        if ((run->part->region.begun >> run->plan->order[d] & 1) == 0) {
            SLC_TRY(run->job->enter(run->job->state, run->plan->order[d], arguments));
        }
    }
    return SLC_OK;
}

/* By what tiles took in this round, since the plan may be wrong about it; a trace shows all. */
static void choose_timing(slci_run *run) {
    const int64_t n_tiles = run->plan->n_tiles;
    double seconds = run->plan->seconds_total;
    if (run->n_done > 0) {
        const int64_t ns = slc_clock_ns() - run->round_begin_ns;
        seconds = 1e-9 * (double)ns * (double)n_tiles / (double)run->n_done;
    }
    run->timing_stride = run->options->trace != NULL ? 1 : slci_stopwatch_stride(n_tiles, seconds);
}

/* Enqueues one tile; `entry` is free, and the axes that end with the previous tile were left. */
static slc_status enqueue_tile(slci_run *run, const slc_tile *tile, const slc_tile *previous,
                               slci_ring_entry *entry, slc_tile_arguments *arguments) {
    const int depth = slci_changed_depth(run, previous, tile);
    SLC_TRY(send_tiles(run, tile->index));
    for (int g = 0; g < run->n_groups; g++) {
        SLC_TRY(slci_fill_advance(run, &run->group[g], tile));
    }
    for (int g = 0; g < run->n_groups; g++) {
        SLC_TRY(slci_fill_copy_ahead(run, &run->group[g]));
    }
    for (int i = 0; i < run->n_outputs; i++) {
        SLC_TRY(advance_output(run, &run->output[i], tile));
    }
    SLC_TRY(wait_for_inputs(run));
    entry->step = tile->index;
    if (run->n_enqueued % run->timing_stride == 0) {
        SLC_TRY(slci_stopwatch_start(&entry->watch, run->compute));
        choose_timing(run);
    }
    fill_arguments(run, arguments);
    SLC_TRY(slci_checkpoint_fill_work(run, tile));
    run->last = *tile;
    run->has_last = true;
    SLC_TRY(enter_axes(run, depth, arguments));
    SLC_TRY(slci_graph_enqueue(run, arguments));
    SLC_TRY(slci_stopwatch_stop(&entry->watch, run->compute));
    entry->done = NULL;
    entry->is_in_flight = true;
    run->n_enqueued++;
    const bool is_due = run->n_enqueued - run->n_marked >= run->mark_stride;
    return is_due ? mark_tiles(run) : SLC_OK;
}

slc_status slci_run_check_cancel(const slci_run *run) {
    if (run->options->cancel != NULL && *run->options->cancel != 0) {
        return SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted");
    }
    return SLC_OK;
}

/* ---- a round ---------------------------------------------------------------------------------- */

static void rewind_run(slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        slci_group *group = &run->group[g];
        group->n_started = 0;
        group->n_on_device = 0;
        group->n_released = 0;
        group->n_copied = 0;
        group->n_landed = 0;
        group->next_step = slci_visited_step(run, 0);
        group->has_moved = false;
        group->last_copy_ns = 0;
        for (int l = 0; l < group->n_lines; l++) {
            group->line[l].state = SLCI_LINE_EMPTY;
            group->line[l].last_user = (slci_last_user){.tile = -1};
            group->line[l].traced.freed_ns = 0;
        }
    }
    for (int i = 0; i < run->n_outputs; i++) {
        run->output[i].current = -1;
    }
    slci_tier_rewind(run);
    slci_graph_clear(run);
    run->n_done = run->n_marked = run->n_enqueued = 0;
    run->round_begin_ns = slc_clock_ns();
    choose_timing(run);
}

slc_status slci_run_quiesce(slci_run *run) {
    const int64_t oldest = run->n_done; /* in order of age, so that progress rises */
    for (int64_t r = 0; r < run->n_ring; r++) {
        SLC_TRY(finish_entry(run, &run->ring[(oldest + r) % run->n_ring]));
    }
    return slc_stream_synchronize(run->compute);
}

/* After the last tile: everything enqueued has run, outputs are in their sinks. */
static slc_status settle(slci_run *run, const slc_tile *last, const slc_tile_arguments *arguments) {
    if (last != NULL) {
        SLC_TRY(leave_axes(run, 0, arguments));
    }
    SLC_TRY(slci_checkpoint_visit(run, NULL));
    for (int i = 0; i < run->n_outputs; i++) {
        SLC_TRY(slci_run_hand_over(run, &run->output[i]));
    }
    SLC_TRY(slci_run_quiesce(run));
    SLC_TRY(slc_task_group_wait(run->reads)); /* all is read; a reader may still look for copies */
    SLC_TRY(slc_stream_synchronize(run->copy_in));
    for (int g = 0; g < run->n_groups; g++) {
        SLC_TRY(slci_fill_count_copies(run, &run->group[g]));
    }
    SLC_TRY(slci_sparse_count_copies(run));
    SLC_TRY(slci_loop_count(run));
    for (int i = 0; i < run->n_outputs; i++) {
        for (int b = 0; b < run->output[i].n_buffers; b++) {
            slci_drain_wait(run, &run->output[i].buffer[b]);
        }
    }
    return slci_run_has_failed(run) ? slc_status_restore(&run->failure) : SLC_OK;
}

static slc_status run_round(slci_run *run) {
    rewind_run(run);
    slc_tile_arguments arguments = {0};
    slc_tile tile;
    slc_tile previous;
    bool has_previous = false;
    int64_t n = 0;
    SLC_TRY(slci_loop_begin(run));
    const int64_t first = slci_visited_step(run, 0);
    if (first < run->plan->n_tiles) {
        SLC_TRY(slci_sparse_load(run));
    }
    for (int64_t step = first; step < run->plan->n_tiles; step = slci_visited_step(run, step + 1)) {
        for (int g = 0; g < run->n_groups; g++) {
            SLC_TRY(slci_fill_start(run, &run->group[g], false));
        }
        slci_ring_entry *entry = &run->ring[n % run->n_ring];
        SLC_TRY(finish_entry(run, entry));
        tile = slc_plan_tile(run->plan, step);
        if (has_previous) {
            SLC_TRY(leave_axes(run, slci_changed_depth(run, &previous, &tile), &arguments));
        }
        SLC_TRY(slci_checkpoint_visit(run, &tile));
        SLC_TRY(slci_run_check_cancel(run));
        SLC_TRY(enqueue_tile(run, &tile, has_previous ? &previous : NULL, entry, &arguments));
        previous = tile;
        has_previous = true;
        n++;
    }
    run->report.n_tiles += n;
    return settle(run, has_previous ? &previous : NULL, &arguments);
}

static slc_status run_rounds(slci_run *run) {
    for (bool again = true; again;) {
        SLC_TRY(run_round(run));
        again = false;
        if (run->job->next_round != NULL && !run->part->is_part) {
            SLC_TRY(run->job->next_round(run->job->state, &again));
            slci_checkpoint_next_round(run);
        }
    }
    for (int g = 0; g < run->n_groups; g++) {
        SLC_TRY(slc_source_finish(run->group[g].source));
    }
    for (int i = 0; i < run->n_sparse; i++) {
        SLC_TRY(slc_source_finish(run->options->bindings[run->sparse[i].operand].source));
    }
    return run->job->finish != NULL && !run->part->is_part ? run->job->finish(run->job->state)
                                                           : SLC_OK;
}

/* ---- the whole run ---------------------------------------------------------------------------- */

static slc_status start(slci_run *run) {
    if (run->job->prepare != NULL) {
        SLC_TRY(run->job->prepare(run->job->state, run->device));
    }
    SLC_TRY(slc_task_group_create(&run->reads));
    SLC_TRY(slci_buffers_create(run));
    SLC_TRY(slci_trace_start(run));
    return slci_drain_start(run);
}

/* Joins every task, thread and stream of the run; nothing touches the buffers afterwards. */
static void join(slci_run *run) {
    if (run->reads != NULL) {
        const slc_status read_status = slc_task_group_wait(run->reads);
        (void)read_status; /* tasks report through the run */
    }
    slci_drain_join(run);
    slc_stream *const streams[] = {run->copy_in, run->compute, run->copy_out};
    for (int i = 0; i < 3; i++) {
        if (streams[i] != NULL) {
            const slc_status stream_status = slc_stream_synchronize(streams[i]);
            if (stream_status != SLC_OK) {
                slci_run_fail(run, stream_status);
            }
        }
    }
}

static double seconds_of(const slci_timed *timed) {
    const int64_t n_timed = slc_max_i64(timed->n_timed, 1);
    return 1e-9 * (double)timed->ns * (double)timed->n / (double)n_timed;
}

static void fill_report(slci_run *run, int64_t begin_ns, slc_engine_report *report) {
    *report = run->report;
    report->device_peak_bytes = run->device_reserved;
    report->host_peak_bytes = run->host_reserved;
    report->tier_bytes = run->tier_bytes;
    report->pageable_bytes = run->pageable_bytes;
    report->seconds_read = 1e-9 * (double)slc_busy_ns(&run->read_busy);
    report->seconds_write = 1e-9 * (double)slc_busy_ns(&run->write_busy);
    report->seconds_h2d = seconds_of(&run->h2d) + seconds_of(&run->load);
    report->seconds_d2h = seconds_of(&run->d2h);
    report->seconds_kernel = seconds_of(&run->kernel);
    report->seconds_total = 1e-9 * (double)(slc_clock_ns() - begin_ns);
}

/* Waits on it end by slc_clock_ns. */
static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

/* Everything from the first buffer to the last thread joined. */
static slc_status run_whole(slci_run *run, slc_engine_report *report) {
    run->mark_stride =
        run->plan->uses_graphs ? slc_max_i64(run->plan->n_slots / MARKS_PER_RING, 1) : 1;
    pthread_mutex_init(&run->mutex, NULL);
    pthread_mutex_init(&run->copy_mutex, NULL);
    init_condition(&run->changed);
    slc_busy_init(&run->read_busy);
    slc_busy_init(&run->write_busy);

    slc_status status = start(run);
    const int64_t begin_ns = slc_clock_ns(); /* making buffers is no stage of the stream */
    const slci_thread_slice slice = slci_thread_slice_shorten();
    if (status == SLC_OK) {
        status = run_rounds(run);
    }
    slci_thread_slice_restore(&slice);
    if (status != SLC_OK) {
        slci_run_fail(run, status);
    }
    join(run);
    slc_engine_report done;
    fill_report(run, begin_ns, &done);
    slci_trace_release(run);
    slci_buffers_release(run);
    slc_task_group_destroy(run->reads);
    slc_busy_destroy(&run->read_busy);
    slc_busy_destroy(&run->write_busy);
    pthread_cond_destroy(&run->changed);
    pthread_mutex_destroy(&run->copy_mutex);
    pthread_mutex_destroy(&run->mutex);
    if (run->failure.status != SLC_OK) {
        run->part->is_slab_refused = run->is_slab_refused;
        return slc_status_restore(&run->failure);
    }
    *report = done;
    return SLC_OK;
}

slc_status slci_engine_run(const slc_job *job, const slc_plan *plan,
                           const slc_engine_options *options, slci_part *part,
                           slc_engine_report *report) {
    part->is_slab_refused = false;
    SLC_TRY(slc_job_check(job));
    SLC_TRY(slci_bindings_check(job, options));
    slci_run *run = calloc(1, sizeof *run); /* 220 KiB: too much for a small thread's stack */
    if (run == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "job %s: no memory for a run", job->name);
    }
    run->job = job;
    run->plan = plan;
    run->options = options;
    run->device = options->device;
    run->part = part;
    run->round = part->round;
    const slc_status status = run_whole(run, report);
    free(run);
    return status;
}

slc_status slc_engine_run(const slc_job *job, const slc_plan *plan,
                          const slc_engine_options *options, slc_engine_report *report) {
    slci_part whole = {.round = 0};
    return slci_engine_run(job, plan, options, &whole, report);
}
