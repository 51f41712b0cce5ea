/* The memory of a run: one device slab, the staging buffers, mapped arrays and the host tier, made
 * once, as the plan says.
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
#include "ooc/loop_internal.h"

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
    const int64_t bytes =
        run->plan->host_peak_bytes - run->plan->tier_bytes - run->plan->mapped_bytes;
    SLC_TRY(slc_budget_reserve(run->options->budget, SLC_SPACE_HOST, bytes, "staging"));
    run->host_reserved += bytes;
    run->staging_bytes = bytes;
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
                        (long long)run->pageable_bytes, (long long)run->staging_bytes);
    }
}

static slc_status create_line(slci_run *run, slc_arena *arena, staging_maker *maker,
                              slci_line *line) {
    const slci_group *group = line->group;
    for (int i = 0; i < group->n_operands; i++) {
        const slc_plan_operand *planned = &run->plan->operand[group->operand[i]];
        const char *name = run->job->operands[group->operand[i]].name;
        SLC_TRY(slc_arena_take(arena, planned->tile_bytes, name, &line->d_data[i]));
        line->staging[i] = line->d_data[i];
        if (!group->is_in_place) {
            SLC_TRY(staging_take(maker, planned->staging_bytes, &line->staging[i]));
        }
    }
    SLC_TRY(slci_stopwatch_create(run->device, &line->watch));
    return slc_event_create(run->device, &line->arrived);
}

/* A resident input has its device memory and its staging like any other; a mapped one has neither. */
static slc_status create_sparse(slci_run *run, slc_arena *arena, staging_maker *maker,
                                slci_sparse *sparse) {
    const slc_plan_operand *planned = &run->plan->operand[sparse->operand];
    if (planned->placement == SLC_PLACE_MAPPED) {
        return slci_sparse_create(run, sparse);
    }
    SLC_TRY(slc_arena_take(arena, planned->tile_bytes, run->job->operands[sparse->operand].name,
                           &sparse->d_data));
    for (int l = 0; l < sparse->n_lanes; l++) {
        SLC_TRY(staging_take(maker, planned->staging_bytes, &sparse->lane[l].staging));
    }
    return slci_sparse_create(run, sparse);
}

static slc_status create_output(slci_run *run, slc_arena *arena, staging_maker *maker,
                                slci_output *output) {
    const slc_plan_operand *planned = &run->plan->operand[output->operand];
    const char *name = run->job->operands[output->operand].name;
    for (int b = 0; b < output->n_buffers; b++) {
        slci_out_buffer *buffer = &output->buffer[b];
        buffer->run = run;
        buffer->output = output;
        buffer->operand = output->operand;
        SLC_TRY(slc_arena_take(arena, planned->tile_bytes, name, &buffer->d_data));
        SLC_TRY(slc_event_create(run->device, &buffer->complete));
    }
    for (int p = 0; p < output->n_pieces; p++) {
        slci_out_piece *piece = &output->piece[p];
        SLC_TRY(staging_take(maker, planned->staging_bytes, &piece->staging));
        SLC_TRY(slci_stopwatch_create(run->device, &piece->watch));
        SLC_TRY(slc_event_create(run->device, &piece->end));
    }
    return SLC_OK;
}

/* As many descriptions as fit what the plan counts for them, one piece of the arena for each slot and
 * one more; a half is a whole number of slots, so that few different sets of buffers meet. */
static slc_status create_tiles(slci_run *run, slc_arena *arena, staging_maker *maker) {
    slci_tiles *tiles = &run->tiles;
    const int64_t n_slots = run->plan->n_slots;
    const int64_t bytes = run->n_ring * slc_arena_cost((int64_t)sizeof(slc_tile));
    const int64_t n_fitting = bytes / (2 * (int64_t)sizeof(slc_tile));
    tiles->n_half = n_fitting / n_slots * n_slots;
    assert(tiles->n_half >= n_slots);
    void *memory = NULL;
    SLC_TRY(slc_arena_take(arena, bytes, "tiles", &memory));
    tiles->d_tile = memory;
    SLC_TRY(staging_take(maker, bytes, &memory));
    tiles->staging = memory;
    SLC_TRY(slc_event_create(run->device, &tiles->ready[0]));
    return slc_event_create(run->device, &tiles->ready[1]);
}

static slc_status create_ring(slci_run *run) {
    for (int r = 0; r < run->n_ring; r++) {
        SLC_TRY(slci_stopwatch_create(run->device, &run->ring[r].watch));
        SLC_TRY(slc_event_create(run->device, &run->ring[r].end));
    }
    return SLC_OK;
}

static int count_staging(const slci_run *run) {
    int n = 2; /* all in one piece, or one by one with the tiles and a loop's state */
    for (int o = 0; o < run->job->n_operands; o++) {
        n += run->plan->operand[o].n_staging;
    }
    return n;
}

/* Whether a read for the group can fill operand `o` too: another field of the same source, the same
 * box in the dimensions that fields share, as many buffers, and the same tiles kept. */
static bool can_join(const slci_run *run, const slci_group *group, int o) {
    const slc_operand *first = &run->job->operands[group->operand[0]];
    const slc_operand *operand = &run->job->operands[o];
    const slc_binding *binding = &run->options->bindings[o];
    const slc_plan_operand *kept = &run->plan->operand[group->operand[0]];
    bool is_same =
        group->source == binding->source && group->n_lines == run->plan->operand[o].n_buffers &&
        kept->n_tier_tiles == run->plan->operand[o].n_tier_tiles &&
        kept->is_in_place == run->plan->operand[o].is_in_place &&
        (kept->n_tier_tiles == 0 || kept->tier_depth == run->plan->operand[o].tier_depth) &&
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
        group->is_in_place = run->plan->operand[o].is_in_place;
    }
    group->operand[group->n_operands++] = o;
}

static slc_status add_sparse(slci_run *run, int o) {
    const slc_plan_operand *planned = &run->plan->operand[o];
    const bool is_mapped = planned->placement == SLC_PLACE_MAPPED;
    if (!is_mapped && planned->n_staging < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "plan: sparse operand %s has %d buffers for staging, expected 1 or more",
                        run->job->operands[o].name, planned->n_staging);
    }
    slci_sparse *sparse = &run->sparse[run->n_sparse++];
    sparse->operand = o;
    sparse->n_lanes = SLCI_MAX_LINES;
    if (!is_mapped && planned->n_staging < SLCI_MAX_LINES) {
        sparse->n_lanes = planned->n_staging;
    }
    return SLC_OK;
}

static void add_output(slci_run *run, int o) {
    slci_output *output = &run->output[run->n_outputs++];
    output->operand = o;
    output->n_buffers = run->plan->operand[o].n_buffers;
    output->n_pieces = run->plan->operand[o].n_staging;
    output->is_direct = output->n_pieces >= output->n_buffers &&
                        run->plan->operand[o].staging_bytes == run->plan->operand[o].tile_bytes;
    output->current = -1;
}

/* A plan is plain data that callers may have changed, so its counts are held against the arrays. */
static slc_status check_buffers(const slci_run *run, int o) {
    const slc_operand *operand = &run->job->operands[o];
    const slc_plan_operand *planned = &run->plan->operand[o];
    if (planned->is_in_place &&
        !(operand->access == SLC_ACCESS_IN && run->device->has_host_memory)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "plan: operand %s is read in place, which inputs alone can be, on a device "
                        "whose memory is the host's",
                        operand->name);
    }
    const int n_staging = planned->is_in_place ? planned->n_buffers : planned->n_staging;
    if (operand->access != SLC_ACCESS_WORK &&
        (planned->n_buffers < 1 || planned->n_buffers > SLCI_MAX_LINES || n_staging < 1 ||
         n_staging > SLCI_MAX_LINES)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "plan: operand %s has %d buffers and %d for staging, expected 1 to %d of "
                        "each",
                        operand->name, planned->n_buffers, n_staging, SLCI_MAX_LINES);
    }
    return SLC_OK;
}

/* Sorts the operands into groups of inputs and outputs. */
static slc_status sort_operands(slci_run *run) {
    for (int o = 0; o < run->job->n_operands; o++) {
        const slc_access access = run->job->operands[o].access;
        SLC_TRY(slc_job_tile_layout(run->job, o, run->plan->tile, &run->layout[o]));
        if (run->job->operands[o].is_sparse) {
            SLC_TRY(add_sparse(run, o));
            continue;
        }
        SLC_TRY(check_buffers(run, o));
        if (access == SLC_ACCESS_IN) {
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
    SLC_TRY(create_tiles(run, &arena, &maker));
    if (slci_loop_is_wanted(run)) {
        void *state = NULL;
        SLC_TRY(staging_take(&maker, (int64_t)sizeof *run->loop, &state));
        run->loop = state;
    }
    SLC_TRY(create_ring(run));
    if (run->plan->mapped_bytes > 0) {
        SLC_TRY(slc_budget_reserve(run->options->budget, SLC_SPACE_HOST, run->plan->mapped_bytes,
                                   "mapped arrays"));
        run->host_reserved += run->plan->mapped_bytes;
    }
    for (int i = 0; i < run->n_sparse; i++) {
        SLC_TRY(create_sparse(run, &arena, &maker, &run->sparse[i]));
    }
    slci_trace_name_lanes(run);
    staging_warn(run);
    return slci_tier_create(run);
}

slc_status slci_buffers_create(slci_run *run) {
    run->n_ring = run->plan->n_slots + 1;
    if (run->plan->n_slots < 1 || run->n_ring > SLCI_MAX_RING) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "plan: %d slots, 1 to %d are possible",
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
            slci_stopwatch_destroy(&run->group[g].line[l].watch);
            slc_event_destroy(run->group[g].line[l].arrived);
        }
    }
    for (int i = 0; i < run->n_outputs; i++) {
        for (int b = 0; b < run->output[i].n_buffers; b++) {
            slc_event_destroy(run->output[i].buffer[b].complete);
        }
        for (int p = 0; p < run->output[i].n_pieces; p++) {
            slci_stopwatch_destroy(&run->output[i].piece[p].watch);
            slc_event_destroy(run->output[i].piece[p].end);
        }
    }
    for (int r = 0; r < run->n_ring; r++) {
        slci_stopwatch_destroy(&run->ring[r].watch);
        slc_event_destroy(run->ring[r].end);
    }
    slc_event_destroy(run->tiles.ready[0]);
    slc_event_destroy(run->tiles.ready[1]);
}

void slci_buffers_release(slci_run *run) {
    slc_stream_destroy(run->copy_in);
    slc_stream_destroy(run->compute);
    slc_stream_destroy(run->copy_out);
    destroy_events(run);
    slci_graph_clear(run);
    for (int i = 0; i < run->n_staging; i++) {
        slc_pinned_release(run->device, &run->staging[i]);
    }
    free(run->staging);
    slci_sparse_release(run);
    slci_tier_release(run);
    slc_device_release(run->device, run->d_slab);
    slc_budget_release(run->options->budget, SLC_SPACE_DEVICE, run->device_reserved);
    slc_budget_release(run->options->budget, SLC_SPACE_HOST, run->host_reserved);
}
