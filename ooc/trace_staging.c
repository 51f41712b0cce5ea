/* The way of staging buffers, for the trace: whether copies to the device are ever late is seen here
 * and nowhere else.
 *
 *     threads              ▓ read ▓
 *     staging   ··· free ··│─ fill ─│· its turn ·│·· room ··│· the copy ·│            │·· free ···
 *     copy in         ██ the one before █████████                        ████████████
 *     compute              ▒ the tile whose memory it takes ▒
 *
 * Copies of one group of inputs run in order, since tiles are used in order: so a buffer that is full
 * waits for the one before it, then for room on the device, and what it waits then is late.
 *
 * When a copy could have begun is known late: the copy itself is looked at when its buffer is needed
 * again, and the tile whose device memory it overwrites may be counted before or after that. So lines
 * keep both moments until the copy is counted. */
#include "core/checked.h"
#include "ooc/engine_internal.h"

/* Shorter stretches nobody could see. */
#define LEAST_NS 1000

static void add(const slci_run *run, slc_trace_stage stage, int lane, int64_t tile,
                const int64_t from_to_ns[2]) {
    const slc_trace_slice slice = {.stage = stage,
                                   .lane = lane,
                                   .tile = tile,
                                   .begin_ns = from_to_ns[0],
                                   .duration_ns = from_to_ns[1] - from_to_ns[0]};
    if (slice.duration_ns >= LEAST_NS) {
        slc_trace_add(run->options->trace, &slice);
    }
}

void slci_trace_name_lanes(slci_run *run) {
    int n = 0;
    for (int g = 0; g < run->n_groups; g++) {
        for (int l = 0; l < run->group[g].n_lines; l++) {
            run->group[g].line[l].traced.lane = n++;
        }
    }
    for (int i = 0; i < run->n_sparse; i++) {
        for (int l = 0; l < run->sparse[i].n_lanes; l++) {
            run->sparse[i].lane[l].traced.lane = n++;
        }
    }
}

void slci_trace_begin_fill(const slci_run *run, slci_staging_trace *staging, int64_t tile) {
    if (run->options->trace == NULL) {
        return;
    }
    staging->begun_ns = slc_clock_ns();
    if (staging->freed_ns > 0) {
        add(run, SLC_TRACE_FREE, staging->lane, tile,
            (const int64_t[2]){staging->freed_ns, staging->begun_ns});
    }
}

void slci_trace_end_fill(const slci_run *run, slci_staging_trace *staging, int64_t tile,
                         int64_t bytes) {
    if (run->options->trace == NULL) {
        return;
    }
    staging->filled_ns = slc_clock_ns();
    const slc_trace_slice slice = {.stage = SLC_TRACE_FILL,
                                   .lane = staging->lane,
                                   .tile = tile,
                                   .begin_ns = staging->begun_ns,
                                   .duration_ns = staging->filled_ns - staging->begun_ns,
                                   .bytes = bytes};
    slc_trace_add(run->options->trace, &slice);
}

/* The streams' clocks may be off by some microseconds, so no moment goes before the one ahead of it. */
void slci_trace_copied(const slci_run *run, slci_staging_trace *staging,
                       const slci_copy_start *could, const slci_trace_interval *copy) {
    if (run->options->trace == NULL || copy->end_ns == 0) {
        return;
    }
    const int64_t filled_ns = staging->filled_ns;
    const int64_t begin_ns = slc_max_i64(copy->begin_ns, filled_ns);
    const int64_t turn_ns = slc_min_i64(slc_max_i64(could->turn_ns, filled_ns), begin_ns);
    const int64_t ready_ns = slc_min_i64(slc_max_i64(could->room_ns, turn_ns), begin_ns);
    add(run, SLC_TRACE_TURN, staging->lane, copy->tile, (const int64_t[2]){filled_ns, turn_ns});
    add(run, SLC_TRACE_ROOM, staging->lane, copy->tile, (const int64_t[2]){turn_ns, ready_ns});
    add(run, SLC_TRACE_READY, staging->lane, copy->tile, (const int64_t[2]){ready_ns, begin_ns});
    staging->freed_ns = slc_max_i64(copy->end_ns, begin_ns);
}

/* When the device had room for the line's copy, which has run. */
static slc_status find_room(const slci_run *run, const slci_line *line, int64_t *room_ns) {
    const slci_last_user *user = &line->overwritten;
    *room_ns = user->at_ns;
    if (user->tile < 0 || user->at_ns > 0) {
        return SLC_OK;
    }
    return slci_trace_moment(run, SLCI_CLOCK_COMPUTE, run->ring[user->tile % run->n_ring].watch.end,
                             room_ns);
}

slc_status slci_trace_copied_lines(slci_run *run, slci_line *line,
                                   const slci_trace_interval *copy) {
    if (run->options->trace == NULL || copy->end_ns == 0) {
        return SLC_OK;
    }
    slci_trace_interval part = *copy;
    slci_copy_start could = {.turn_ns = line->group->last_copy_ns};
    for (int k = 0; k < line->n_copied_with; k++) {
        SLC_TRY(find_room(run, &line[k], &could.room_ns));
        part.tile = line[k].tile.index;
        slci_trace_copied(run, &line[k].traced, &could, &part);
    }
    line->group->last_copy_ns = copy->end_ns;
    return SLC_OK;
}

static void note_end(slci_last_user *user, int64_t tile, int64_t at_ns) {
    if (user->tile == tile) {
        user->at_ns = at_ns;
    }
}

void slci_trace_tile_ended(slci_run *run, int64_t tile, int64_t at_ns) {
    if (run->options->trace == NULL) {
        return;
    }
    run->newest_end_ns = at_ns;
    pthread_mutex_lock(&run->copy_mutex);
    for (int g = 0; g < run->n_groups; g++) {
        for (int l = 0; l < run->group[g].n_lines; l++) {
            note_end(&run->group[g].line[l].last_user, tile, at_ns);
            note_end(&run->group[g].line[l].overwritten, tile, at_ns);
        }
    }
    pthread_mutex_unlock(&run->copy_mutex);
}
