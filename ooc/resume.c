/* What a run with a checkpoint does between two tiles.
 *
 * A state is written when nothing is under way. What is then left of the iteration space, in the
 * order of an odometer with the digits k at the next tile, is at most one box a loop:
 *
 *     order (y, x, row), next tile (1, 1, 2)
 *                                                  x 0    1    2
 *     1. y = 1, x = 1, rows from 2 on       y 0   done  done  done
 *     2. y = 1, x > 1                         1   done   1.    2.
 *     3. y > 1                                2    3.    3.    3.
 *
 * and these regions are what another run plans for, one after the other, under its own budget. Region
 * 1 goes on with sums that are half done; they are saved as boxes with their elements, so that tiles
 * of any other shape find theirs.
 *
 * An output box that is finished within a region may still be touched by a later one (an operand that
 * lacks the axis along which the space was cut). It must not go to its sink then, and its buffer
 * cannot be kept; so a state is written at once that holds it, and the later region goes on from
 * there. */
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "ooc/checkpoint_internal.h"

/* ---- what is left ---------------------------------------------------------------------------- */

static int64_t region_end(const slc_plan *plan, int axis) {
    return plan->region.origin[axis] + plan->region.extent[axis];
}

/* The box of tiles whose loops outside `depth` stand at `tile` and whose loop at `depth` stands at
 * index `first` or later. */
static slc_box rest_at(const slc_plan *plan, const slc_tile *tile, int depth, int64_t first) {
    slc_box box = {.rank = plan->n_axes};
    for (int d = 0; d < plan->n_axes; d++) {
        const int a = plan->order[d];
        box.origin[a] = d < depth ? tile->origin[a] : plan->region.origin[a];
        box.origin[a] += d == depth ? first * plan->tile[a] : 0;
        box.extent[a] = d < depth ? tile->extent[a] : region_end(plan, a) - box.origin[a];
    }
    return box;
}

/* Index of `tile` in the loop at `depth`. */
static int64_t digit_at(const slc_plan *plan, const slc_tile *tile, int depth) {
    const int a = plan->order[depth];
    return (tile->origin[a] - plan->region.origin[a]) / plan->tile[a];
}

/* What is left of the run's own region from tile `next` on, in order: at most n_axes regions. */
static int rest_of_run(const slci_run *run, const slc_tile *next, slci_region *out) {
    const slc_plan *plan = run->plan;
    int innermost = plan->n_axes - 1;
    while (innermost > 0 && digit_at(plan, next, innermost) == 0) {
        innermost--;
    }
    /* Values that `next` is the first tile of are entered by whoever runs the first region. */
    const int entered = run->n_enqueued > 0 ? slci_changed_depth(run, &run->last, next) : 0;
    int n = 0;
    for (int depth = innermost; depth >= 0; depth--) {
        const int64_t first = digit_at(plan, next, depth) + (depth < innermost ? 1 : 0);
        if (depth < innermost && first >= plan->n_tiles_of[plan->order[depth]]) {
            continue;
        }
        slci_region *region = &out[n++];
        *region = (slci_region){.box = rest_at(plan, next, depth, first),
                                .begun = run->part->region.begun,
                                .unfinished = run->part->region.unfinished};
        for (int d = 0; d < depth; d++) {
            if (depth < innermost || d < entered) {
                region->begun |= UINT32_C(1) << plan->order[d];
            }
            /* A region of a loop between this value's and the cut's still has the value. */
            for (int later = d + 1; later < depth; later++) {
                const int64_t n_tiles = plan->n_tiles_of[plan->order[later]];
                if (digit_at(plan, next, later) + 1 < n_tiles) {
                    region->unfinished |= UINT32_C(1) << plan->order[d];
                }
            }
        }
    }
    return n;
}

bool slci_regions_touch(const slc_job *job, const slci_region *region, int64_t n_regions, int o,
                        const slc_box *box) {
    for (int64_t r = 0; r < n_regions; r++) {
        slc_tile whole = {.index = 0};
        for (int a = 0; a < region[r].box.rank; a++) {
            whole.origin[a] = region[r].box.origin[a];
            whole.extent[a] = region[r].box.extent[a];
        }
        const slc_box touched = slc_job_footprint(job, o, &whole);
        const slc_box both = slc_box_intersect(&touched, box);
        if (slc_box_count(&both) > 0) {
            return true;
        }
    }
    return false;
}

/* ---- what is in the buffers ------------------------------------------------------------------ */

static bool keeps_state(const slci_run *run, int o) {
    const slc_operand *operand = &run->job->operands[o];
    return operand->access == SLC_ACCESS_WORK && operand->keeps_state;
}

static bool is_later(const slci_run *run, int o, const slc_box *box) {
    return slci_regions_touch(run->job, run->part->later, run->part->n_later, o, box);
}

/* Whether operand `o`, whose buffer holds the box of `tile`, gets another one for `next`. */
static bool is_left(const slci_run *run, int o, const slc_tile *tile, const slc_tile *next) {
    return next == NULL || slci_needs_other_box(run, o, tile, next);
}

/* The output's buffer, where it holds something that is neither handed over nor saved; else NULL. */
static const slci_out_buffer *open_buffer(const slci_output *output) {
    return output->current >= 0 && !output->is_kept ? &output->buffer[output->current] : NULL;
}

/* Whether the run ends with its last region, while the job may ask for another round. */
static bool is_last_of_round(const slci_run *run, const slc_tile *next) {
    return next == NULL && run->part->is_part && run->part->n_later == 0 &&
           run->job->next_round != NULL;
}

/* Whether going on to `next` would lose what a later region, or the next round, needs. */
static bool must_save(const slci_run *run, const slc_tile *next) {
    const bool is_last = is_last_of_round(run, next);
    if ((run->part->n_later == 0 && !is_last) || !run->has_last) {
        return false;
    }
    for (int i = 0; i < run->n_outputs; i++) {
        const slci_out_buffer *buffer = open_buffer(&run->output[i]);
        const int o = run->output[i].operand;
        if (buffer != NULL && is_left(run, o, &buffer->tile, next)) {
            const slc_box box = slc_job_footprint(run->job, o, &buffer->tile);
            if (is_later(run, o, &box)) {
                return true;
            }
        }
    }
    for (int o = 0; o < run->job->n_operands; o++) {
        const slc_box box = slc_job_footprint(run->job, o, &run->last);
        if (keeps_state(run, o) && is_left(run, o, &run->last, next) &&
            (is_last || is_later(run, o, &box))) {
            return true;
        }
    }
    return false;
}

/* Gives the writer the outputs that are complete, and waits until it has written everything. */
static slc_status drain_complete(slci_run *run, const slc_tile *next) {
    for (int i = 0; i < run->n_outputs; i++) {
        const slci_out_buffer *buffer = open_buffer(&run->output[i]);
        const int o = run->output[i].operand;
        if (buffer != NULL && is_left(run, o, &buffer->tile, next)) {
            const slc_box box = slc_job_footprint(run->job, o, &buffer->tile);
            if (!is_later(run, o, &box)) {
                SLC_TRY(slci_run_hand_over(run, &run->output[i]));
            }
        }
    }
    SLC_TRY(slci_run_quiesce(run));
    for (int i = 0; i < run->n_outputs; i++) {
        for (int b = 0; b < run->output[i].n_buffers; b++) {
            slci_drain_wait(run, &run->output[i].buffer[b]);
        }
    }
    return slci_run_has_failed(run) ? slc_status_restore(&run->failure) : SLC_OK;
}

/* The buffers that a state must hold. */
static int list_saves(const slci_run *run, slci_save *save) {
    int n = 0;
    for (int i = 0; i < run->n_outputs; i++) {
        const slci_out_buffer *buffer = open_buffer(&run->output[i]);
        if (buffer != NULL) {
            const int o = run->output[i].operand;
            save[n++] = (slci_save){.operand = o,
                                    .box = slc_job_footprint(run->job, o, &buffer->tile),
                                    .d_data = buffer->d_data};
        }
    }
    for (int o = 0; o < run->job->n_operands && run->has_last; o++) {
        if (keeps_state(run, o)) {
            save[n++] = (slci_save){.operand = o,
                                    .box = slc_job_footprint(run->job, o, &run->last),
                                    .d_data = run->d_work[o]};
        }
    }
    return n;
}

/* What is saved and not needed by the next tile need not be handed over any more. */
static void mark_saved(slci_run *run, const slc_tile *next) {
    for (int i = 0; i < run->n_outputs; i++) {
        const slci_out_buffer *buffer = open_buffer(&run->output[i]);
        if (buffer != NULL && is_left(run, run->output[i].operand, &buffer->tile, next)) {
            run->output[i].is_kept = true;
        }
    }
}

/* ---- writing a state ------------------------------------------------------------------------- */

static slc_status write_state(slci_run *run, const slc_tile *next) {
    slc_checkpoint *checkpoint = run->part->checkpoint;
    const int64_t most = SLC_MAX_AXES + run->part->n_later;
    slci_region *region = calloc((size_t)most, sizeof *region);
    if (region == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the regions of a checkpoint");
    }
    const int n = next != NULL ? rest_of_run(run, next, region) : 0;
    if (run->part->n_later > 0) {
        memcpy(&region[n], run->part->later, (size_t)run->part->n_later * sizeof *region);
    }
    slci_save save[SLC_MAX_OPERANDS];
    const slci_state state = {.round = run->round,
                              .region = region,
                              .n_regions = n + run->part->n_later,
                              .save = save,
                              .n_saves = list_saves(run, save),
                              .run = run};
    const slc_status status = slci_state_write(checkpoint, &state);
    free(region);
    return status;
}

static slc_status take(slci_run *run, const slc_tile *next, bool must) {
    slc_checkpoint *checkpoint = run->part->checkpoint;
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(drain_complete(run, next));
    SLC_TRY(slci_journal_flush(run->job, run->options->bindings));
    slc_status status = SLC_OK;
    if (!slci_checkpoint_is_stopped(checkpoint)) {
        status = write_state(run, next);
    } else if (must) {
        status = SLC_FAIL(SLC_ERROR_OUTPUT, "%s cannot hold what the rest of the resumed run needs",
                          checkpoint->path);
    }
    checkpoint->last_ns = slc_clock_ns();
    if (status != SLC_OK) {
        return must ? status : slci_checkpoint_warn(checkpoint, status);
    }
    mark_saved(run, next);
    const slc_trace_slice slice = {.stage = SLC_TRACE_CHECKPOINT,
                                   .tile = next != NULL ? next->index : -1,
                                   .begin_ns = begin_ns,
                                   .duration_ns = checkpoint->last_ns - begin_ns,
                                   .bytes = checkpoint->state_bytes};
    slc_trace_add(run->options->trace, &slice);
    return SLC_OK;
}

slc_status slci_checkpoint_visit(slci_run *run, const slc_tile *next) {
    slc_checkpoint *checkpoint = run->part->checkpoint;
    if (checkpoint == NULL) {
        return SLC_OK;
    }
    const bool must = must_save(run, next);
    const bool stops = next != NULL && run->options->cancel != NULL && *run->options->cancel != 0;
    const bool is_due =
        next != NULL && slc_clock_ns() - checkpoint->last_ns >= checkpoint->every_ns;
    if (!must && (slci_checkpoint_is_stopped(checkpoint) || (!stops && !is_due))) {
        return SLC_OK;
    }
    const int64_t n_before = checkpoint->n_states;
    SLC_TRY(take(run, next, must));
    if (stops && checkpoint->n_states > n_before) {
        checkpoint->is_told = true;
        return SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted; %s keeps what is done: " SLCI_GO_ON,
                        checkpoint->path);
    }
    return SLC_OK;
}

void slci_checkpoint_next_round(slci_run *run) {
    run->round++;
    if (run->part->checkpoint != NULL) {
        slci_checkpoint_drop_partials(run->part->checkpoint);
    }
}

/* ---- going on -------------------------------------------------------------------------------- */

/* Copies the part of a partial that lies in `box` to a device buffer that holds `box`. */
static slc_status fill_from(slci_run *run, const slci_partial *partial, const slc_box *box,
                            void *d_data) {
    slc_checkpoint *checkpoint = run->part->checkpoint;
    const slc_layout *layout = &run->layout[partial->operand];
    const slc_box both = slc_box_intersect(box, &partial->box);
    slci_parts parts = slci_parts_within(&both, layout->shape,
                                         SLCI_CHECKPOINT_BUFFER_BYTES / partial->element_bytes);
    while (slc_box_count(&both) > 0 && slci_parts_next(&parts)) {
        SLC_TRY(slci_partial_read(checkpoint, partial, &parts.part));
        slc_box within = parts.part;
        for (int d = 0; d < within.rank; d++) {
            within.origin[d] -= box->origin[d];
        }
        const slc_layout to = slc_layout_slice(layout, &within);
        slc_layout from;
        SLC_TRY(slc_layout_dense(to.dtype, within.rank, within.extent, &from));
        SLC_TRY(slc_stream_copy_strided(run->compute, d_data, &to, checkpoint->buffer, &from,
                                        SLC_COPY_TO_DEVICE));
        SLC_TRY(slc_stream_synchronize(run->compute)); /* the buffer is used again */
    }
    return SLC_OK;
}

/* Later partials overlap earlier ones. */
static slc_status fill(slci_run *run, int o, const slc_tile *tile, void *d_data) {
    const slc_checkpoint *checkpoint = run->part->checkpoint;
    const slc_box box = slc_job_footprint(run->job, o, tile);
    for (int64_t p = 0; p < checkpoint->n_partials; p++) {
        const slci_partial *partial = &checkpoint->partial[p];
        if (partial->operand == o) {
            SLC_TRY(fill_from(run, partial, &box, d_data));
        }
    }
    return SLC_OK;
}

slc_status slci_checkpoint_fill_update(slci_run *run, const slci_out_buffer *buffer) {
    const slc_checkpoint *checkpoint = run->part->checkpoint;
    return checkpoint == NULL || checkpoint->n_partials == 0
               ? SLC_OK
               : fill(run, buffer->operand, &buffer->tile, buffer->d_data);
}

slc_status slci_checkpoint_fill_work(slci_run *run, const slc_tile *tile) {
    const slc_checkpoint *checkpoint = run->part->checkpoint;
    for (int o = 0; checkpoint != NULL && checkpoint->n_partials > 0 && o < run->job->n_operands;
         o++) {
        if (keeps_state(run, o) &&
            (!run->has_last || slci_needs_other_box(run, o, &run->last, tile))) {
            SLC_TRY(fill(run, o, tile, run->d_work[o]));
        }
    }
    return SLC_OK;
}
