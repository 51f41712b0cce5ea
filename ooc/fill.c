/* The inputs of a run: reading into staging, copying to the device, and which fill a tile needs.
 *
 * Every group of inputs has a ring of lines; fill k of the group lives in line k mod n.
 *
 *            pool task                 copy-in stream             compute stream
 *     EMPTY ───────────▶ FILLING ─▶ FULL ───────────▶ ON_DEVICE ···················▶ (released)
 *       ▲                                                 │
 *       └──── staging is free again once the copy has run ┘
 *
 * Two things are waited for separately, because they become free at different times: staging, on the
 * host, before a pool task may read into it (`arrived` has happened); and the device buffer, on the
 * copy-in stream, before the next copy overwrites it (`released` has happened). The scheduler runs
 * ahead of the device by at most one ring of tile descriptions.
 */
#include <assert.h>
#include <string.h>

#include "core/checked.h"
#include "ooc/engine_internal.h"

/* ---- steps ------------------------------------------------------------------------------------ */

/* The first step at or after `step` that the job does not skip. */
int64_t slci_visited_step(const slci_run *run, int64_t step) {
    while (step < run->plan->n_tiles && run->job->touches != NULL) {
        const slc_tile tile = slc_plan_tile(run->plan, run->job, step);
        if (run->job->touches(run->job->state, &tile)) {
            break;
        }
        step++;
    }
    return step;
}

bool slci_needs_other_box(const slci_run *run, int o, const slc_tile *a, const slc_tile *b) {
    const slc_box box_a = slc_job_footprint(run->job, o, a);
    const slc_box box_b = slc_job_footprint(run->job, o, b);
    return !slc_box_equal(&box_a, &box_b);
}

/* The first step after `step` whose tile needs another fill of the group. */
static int64_t next_fill_step(const slci_run *run, const slci_group *group, int64_t step) {
    const slc_tile here = slc_plan_tile(run->plan, run->job, step);
    for (int64_t s = slci_visited_step(run, step + 1); s < run->plan->n_tiles;
         s = slci_visited_step(run, s + 1)) {
        const slc_tile there = slc_plan_tile(run->plan, run->job, s);
        if (slci_needs_other_box(run, group->operand[0], &here, &there)) {
            return s;
        }
    }
    return run->plan->n_tiles;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Pool task: reads the line's tile into its staging buffers. */
static slc_status read_line(void *argument) {
    slci_line *line = argument;
    slci_run *run = line->group->run;
    const slci_group *group = line->group;
    slc_status status = SLC_OK;
    if (!slci_run_has_failed(run)) {
        void *dst[SLC_MAX_FIELDS] = {NULL};
        for (int i = 0; i < group->n_operands; i++) {
            dst[run->options->bindings[group->operand[i]].field] = line->staging[i];
        }
        slc_box box = slc_job_footprint(run->job, group->operand[0], &line->tile);
        box.rank = group->source->shared_rank;
        slc_busy_begin(&run->read_busy);
        status = slc_source_read(group->source, &box, dst);
        slc_busy_end(&run->read_busy);
        if (status != SLC_OK) {
            slci_run_fail(run, status);
        }
    }
    pthread_mutex_lock(&run->mutex);
    line->state = SLCI_LINE_FULL;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);
    return SLC_OK; /* the run has kept the failure */
}

slc_status slci_fill_count_copy(slci_run *run, slci_line *line) {
    if (line->is_timed) {
        int64_t ns = 0;
        SLC_TRY(slc_event_elapsed(line->copy_begin, line->arrived, &ns));
        run->h2d_ns += ns;
        line->is_timed = false;
    }
    return SLC_OK;
}

/* Starts the reads for which a line is free. A line whose copy has not run yet is waited for only
 * when `must_start` says that the next fill is needed now. */
slc_status slci_fill_start(slci_run *run, slci_group *group, bool must_start) {
    while (group->next_step < run->plan->n_tiles &&
           group->n_started - group->n_on_device < group->n_lines) {
        slci_line *line = &group->line[group->n_started % group->n_lines];
        if (line->state == SLCI_LINE_ON_DEVICE) {
            bool has_arrived = false;
            SLC_TRY(slc_event_query(line->arrived, &has_arrived));
            if (!has_arrived && !must_start) {
                return SLC_OK;
            }
            SLC_TRY(slc_event_synchronize(line->arrived));
            SLC_TRY(slci_fill_count_copy(run, line));
        }
        line->tile = slc_plan_tile(run->plan, run->job, group->next_step);
        line->state = SLCI_LINE_FILLING;
        SLC_TRY(slc_pool_submit(run->options->pool, run->reads, read_line, line));
        group->next_step = next_fill_step(run, group, group->next_step);
        group->n_started++;
        must_start = false;
    }
    return SLC_OK;
}

/* Waits for a read; the failure of any part of the run ends the wait too. */
static slc_status wait_for_read(slci_run *run, const slci_line *line) {
    pthread_mutex_lock(&run->mutex);
    while (line->state == SLCI_LINE_FILLING && run->failure.status == SLC_OK) {
        pthread_cond_wait(&run->changed, &run->mutex);
    }
    const slc_status status = run->failure.status;
    pthread_mutex_unlock(&run->mutex);
    return status == SLC_OK ? SLC_OK : slc_status_restore(&run->failure);
}

static slc_status enqueue_copy(slci_run *run, slci_group *group, slci_line *line) {
    SLC_TRY(slc_event_wait(run->copy_in, line->released));
    SLC_TRY(slc_event_record(line->copy_begin, run->copy_in));
    for (int i = 0; i < group->n_operands; i++) {
        const int o = group->operand[i];
        slc_box box = slc_job_footprint(run->job, o, &line->tile);
        const int64_t count = slc_box_count(&box);
        if (count == 0) {
            continue;
        }
        slc_layout dense;
        SLC_TRY(slc_layout_dense(run->layout[o].dtype, box.rank, box.extent, &dense));
        memset(box.origin, 0, sizeof box.origin);
        const slc_layout device_layout = slc_layout_slice(&run->layout[o], &box);
        SLC_TRY(slc_stream_copy_strided(run->copy_in, line->d_data[i], &device_layout,
                                        line->staging[i], &dense, SLC_COPY_TO_DEVICE));
        run->report.bytes_read += slc_layout_bytes(&dense);
        run->report.bytes_h2d += slc_layout_bytes(&dense);
    }
    SLC_TRY(slc_event_record(line->arrived, run->copy_in));
    line->is_timed = true;
    return SLC_OK;
}

/* Makes the group's newest fill on the device the one that `tile` needs. */
slc_status slci_fill_advance(slci_run *run, slci_group *group, const slc_tile *tile) {
    if (group->n_on_device > 0) {
        if (!slci_needs_other_box(run, group->operand[0], &group->current, tile)) {
            return SLC_OK;
        }
        const slci_line *in_use = &group->line[(group->n_on_device - 1) % group->n_lines];
        SLC_TRY(slc_event_record(in_use->released, run->compute));
    }
    if (group->n_started == group->n_on_device) {
        SLC_TRY(slci_fill_start(run, group, true));
    }
    assert(group->n_started > group->n_on_device);
    slci_line *line = &group->line[group->n_on_device % group->n_lines];
    SLC_TRY(wait_for_read(run, line));
    SLC_TRY(enqueue_copy(run, group, line));
    line->state = SLCI_LINE_ON_DEVICE;
    group->current = line->tile;
    group->n_on_device++;
    return SLC_OK;
}
