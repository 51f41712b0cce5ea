/* The memory of a run: one device slab and the staging buffers, carved once, as the plan says.
 *
 * The order in which pieces are taken from the slab does not matter, because every piece costs what
 * slc_arena_cost says and the plan has added up the same costs. Staging is asked for as one pinned
 * piece; where the system refuses to pin that much, each buffer is asked for by itself, so that as
 * many as possible are pinned, and one warning says how much is not.
 */
#include <assert.h>
#include <stdlib.h>

#include "core/checked.h"
#include "ooc/engine_internal.h"

/* Gives out staging buffers: from one pinned piece while there is one, else singly. */
typedef struct staging_maker {
    slci_run *run;
    slc_arena arena;
    bool is_whole;
    int capacity;
} staging_maker;

static slc_status add_pinned(slci_run *run, int64_t bytes, slc_pinned **out) {
    slc_pinned *pinned = &run->staging[run->n_staging];
    SLC_TRY(slc_pinned_allocate(run->device, bytes, pinned));
    run->n_staging++;
    *out = pinned;
    return SLC_OK;
}

static slc_status staging_open(slci_run *run, int capacity, staging_maker *maker) {
    maker->run = run;
    maker->capacity = capacity;
    run->staging = calloc((size_t)capacity, sizeof *run->staging);
    if (run->staging == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %d staging buffers", capacity);
    }
    const int64_t bytes = run->plan->host_peak_bytes;
    SLC_TRY(slc_budget_reserve(run->options->budget, SLC_SPACE_HOST, bytes, "staging"));
    run->host_reserved = bytes;
    slc_pinned *whole = NULL;
    SLC_TRY(add_pinned(run, bytes, &whole));
    if (whole->is_pinned) {
        maker->is_whole = true;
        slc_arena_init(&maker->arena, whole->host, bytes);
        return SLC_OK;
    }
    slc_pinned_release(run->device, whole);
    run->n_staging = 0;
    maker->is_whole = false;
    return SLC_OK;
}

static slc_status staging_take(staging_maker *maker, int64_t bytes, void **out) {
    if (maker->is_whole) {
        return slc_arena_take(&maker->arena, bytes, "staging", out);
    }
    assert(maker->run->n_staging < maker->capacity);
    slc_pinned *pinned = NULL;
    SLC_TRY(add_pinned(maker->run, slc_arena_cost(bytes), &pinned));
    *out = pinned->host;
    maker->run->pageable_bytes += pinned->is_pinned ? 0 : pinned->bytes;
    return SLC_OK;
}

static void staging_warn(const slci_run *run) {
    if (run->pageable_bytes > 0) {
        slc_log_warning(run->options->log,
                        "%lld of %lld bytes of staging memory could not be pinned; copies from it "
                        "are slower (a limit on locked memory, or a container's)",
                        (long long)run->pageable_bytes, (long long)run->plan->host_peak_bytes);
    }
}

static slc_status create_line(slci_run *run, slc_arena *arena, staging_maker *maker,
                              slci_line *line) {
    const slci_group *group = line->group;
    for (int i = 0; i < group->n_operands; i++) {
        const slc_plan_operand *planned = &run->plan->operand[group->operand[i]];
        const char *name = run->job->operands[group->operand[i]].name;
        SLC_TRY(slc_arena_take(arena, planned->tile_bytes, name, &line->d_data[i]));
        SLC_TRY(staging_take(maker, planned->staging_bytes, &line->staging[i]));
    }
    SLC_TRY(slc_event_create(run->device, &line->copy_begin));
    SLC_TRY(slc_event_create(run->device, &line->arrived));
    return slc_event_create(run->device, &line->released);
}

static slc_status create_output(slci_run *run, slc_arena *arena, staging_maker *maker,
                                slci_output *output) {
    const slc_plan_operand *planned = &run->plan->operand[output->operand];
    const char *name = run->job->operands[output->operand].name;
    for (int b = 0; b < output->n_buffers; b++) {
        slci_out_buffer *buffer = &output->buffer[b];
        buffer->run = run;
        buffer->operand = output->operand;
        SLC_TRY(slc_arena_take(arena, planned->tile_bytes, name, &buffer->d_data));
        SLC_TRY(slc_event_create(run->device, &buffer->complete));
    }
    for (int p = 0; p < output->n_pieces; p++) {
        SLC_TRY(staging_take(maker, planned->staging_bytes, &output->staging[p]));
        SLC_TRY(slc_event_create(run->device, &output->piece_begin[p]));
        SLC_TRY(slc_event_create(run->device, &output->piece_end[p]));
    }
    return SLC_OK;
}

static slc_status create_ring(slci_run *run, slc_arena *arena, staging_maker *maker) {
    for (int r = 0; r < run->n_ring; r++) {
        slci_ring_entry *entry = &run->ring[r];
        void *memory = NULL;
        SLC_TRY(slc_arena_take(arena, (int64_t)sizeof(slc_tile), "tile", &memory));
        entry->d_tile = memory;
        SLC_TRY(staging_take(maker, (int64_t)sizeof(slc_tile), &memory));
        entry->staging = memory;
        SLC_TRY(slc_event_create(run->device, &entry->ready));
        SLC_TRY(slc_event_create(run->device, &entry->begin));
        SLC_TRY(slc_event_create(run->device, &entry->end));
    }
    return SLC_OK;
}

static int count_staging(const slci_run *run) {
    int n = run->n_ring + 1;
    for (int o = 0; o < run->job->n_operands; o++) {
        n += run->plan->operand[o].n_staging;
    }
    return n;
}

/* Whether a read for the group can fill operand `o` too: another field of the same source, the same
 * box in the dimensions that fields share, and as many buffers. */
static bool can_join(const slci_run *run, const slci_group *group, int o) {
    const slc_operand *first = &run->job->operands[group->operand[0]];
    const slc_operand *operand = &run->job->operands[o];
    const slc_binding *binding = &run->options->bindings[o];
    bool is_same = group->source == binding->source &&
                   group->n_lines == run->plan->operand[o].n_buffers &&
                   first->footprint == operand->footprint;
    for (int d = 0; is_same && d < group->source->shared_rank; d++) {
        is_same = first->axes[d] == operand->axes[d] &&
                  first->per_step[d] == operand->per_step[d] && first->halo[d] == operand->halo[d];
    }
    for (int i = 0; is_same && i < group->n_operands; i++) {
        is_same = run->options->bindings[group->operand[i]].field != binding->field;
    }
    return is_same;
}

/* Operands of one source that move together are one group: they are read in one call. */
static void add_input(slci_run *run, int o) {
    int g = 0;
    while (g < run->n_groups && !can_join(run, &run->group[g], o)) {
        g++;
    }
    slci_group *group = &run->group[g];
    if (g == run->n_groups) {
        run->n_groups++;
        group->run = run;
        group->source = run->options->bindings[o].source;
        group->n_lines = run->plan->operand[o].n_buffers;
    }
    group->operand[group->n_operands++] = o;
}

static void add_output(slci_run *run, int o) {
    slci_output *output = &run->output[run->n_outputs++];
    output->operand = o;
    output->n_buffers = run->plan->operand[o].n_buffers;
    output->n_pieces = run->plan->operand[o].n_staging;
    output->current = -1;
}

/* Sorts the operands into groups of inputs and outputs. A plan is plain data that callers may have
 * changed, so its counts are held against the arrays here. */
static slc_status sort_operands(slci_run *run) {
    for (int o = 0; o < run->job->n_operands; o++) {
        const slc_access access = run->job->operands[o].access;
        const slc_plan_operand *planned = &run->plan->operand[o];
        SLC_TRY(slc_job_tile_layout(run->job, o, run->plan->tile, &run->layout[o]));
        const bool is_input = access == SLC_ACCESS_IN;
        const int most_buffers = is_input ? SLCI_MAX_LINES : SLCI_OUT_BUFFERS;
        const int most_staging = is_input ? SLCI_MAX_LINES : SLC_DRAIN_PIECES;
        if (access != SLC_ACCESS_WORK &&
            (planned->n_buffers < 1 || planned->n_buffers > most_buffers ||
             planned->n_staging < 1 || planned->n_staging > most_staging)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "plan: operand %s has %d buffers and %d for staging, expected 1 to %d "
                            "and 1 to %d",
                            run->job->operands[o].name, planned->n_buffers, planned->n_staging,
                            most_buffers, most_staging);
        }
        if (is_input) {
            add_input(run, o);
        } else if (access != SLC_ACCESS_WORK) {
            add_output(run, o);
        }
    }
    return SLC_OK;
}

static slc_status carve(slci_run *run) {
    slc_arena arena;
    slc_arena_init(&arena, run->d_slab, run->plan->device_peak_bytes);
    staging_maker maker = {0};
    SLC_TRY(staging_open(run, count_staging(run), &maker));
    for (int o = 0; o < run->job->n_operands; o++) {
        if (run->job->operands[o].access == SLC_ACCESS_WORK) {
            SLC_TRY(slc_arena_take(&arena, run->plan->operand[o].tile_bytes,
                                   run->job->operands[o].name, &run->d_work[o]));
        }
    }
    for (int g = 0; g < run->n_groups; g++) {
        for (int l = 0; l < run->group[g].n_lines; l++) {
            run->group[g].line[l].group = &run->group[g];
            SLC_TRY(create_line(run, &arena, &maker, &run->group[g].line[l]));
        }
    }
    for (int i = 0; i < run->n_outputs; i++) {
        SLC_TRY(create_output(run, &arena, &maker, &run->output[i]));
    }
    SLC_TRY(create_ring(run, &arena, &maker));
    staging_warn(run);
    return SLC_OK;
}

slc_status slci_buffers_create(slci_run *run) {
    run->n_ring = run->plan->n_slots + 1;
    if (run->n_ring > SLCI_MAX_RING) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "plan: %d slots, at most %d are possible",
                        run->plan->n_slots, SLCI_MAX_LINES);
    }
    SLC_TRY(sort_operands(run));
    SLC_TRY(slc_budget_reserve(run->options->budget, SLC_SPACE_DEVICE, run->plan->device_peak_bytes,
                               "slab"));
    run->device_reserved = run->plan->device_peak_bytes;
    const slc_status slab =
        slc_device_allocate(run->device, run->plan->device_peak_bytes, &run->d_slab);
    run->is_slab_refused = slab == SLC_ERROR_MEMORY;
    SLC_TRY(slab);
    SLC_TRY(slc_stream_create(run->device, &run->copy_in));
    SLC_TRY(slc_stream_create(run->device, &run->compute));
    SLC_TRY(slc_stream_create(run->device, &run->copy_out));
    return carve(run);
}

static void destroy_events(slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        for (int l = 0; l < run->group[g].n_lines; l++) {
            slc_event_destroy(run->group[g].line[l].copy_begin);
            slc_event_destroy(run->group[g].line[l].arrived);
            slc_event_destroy(run->group[g].line[l].released);
        }
    }
    for (int i = 0; i < run->n_outputs; i++) {
        for (int b = 0; b < run->output[i].n_buffers; b++) {
            slc_event_destroy(run->output[i].buffer[b].complete);
        }
        for (int p = 0; p < run->output[i].n_pieces; p++) {
            slc_event_destroy(run->output[i].piece_begin[p]);
            slc_event_destroy(run->output[i].piece_end[p]);
        }
    }
    for (int r = 0; r < run->n_ring; r++) {
        slc_event_destroy(run->ring[r].ready);
        slc_event_destroy(run->ring[r].begin);
        slc_event_destroy(run->ring[r].end);
    }
}

void slci_buffers_release(slci_run *run) {
    slc_stream_destroy(run->copy_in);
    slc_stream_destroy(run->compute);
    slc_stream_destroy(run->copy_out);
    destroy_events(run);
    for (int i = 0; i < run->n_staging; i++) {
        slc_pinned_release(run->device, &run->staging[i]);
    }
    free(run->staging);
    slc_device_release(run->device, run->d_slab);
    slc_budget_release(run->options->budget, SLC_SPACE_DEVICE, run->device_reserved);
    slc_budget_release(run->options->budget, SLC_SPACE_HOST, run->host_reserved);
}
