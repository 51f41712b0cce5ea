/* The inputs of a run: reading into staging, copying to the device, and which fill a tile needs.
 *
 * Every group of inputs has a ring of lines; fill k of the group lives in line k mod n.
 *
 *            pool tasks                copy-in stream             compute stream
 *     EMPTY ───────────▶ FILLING ─▶ FULL ───────────▶ ON_DEVICE ···················▶ (released)
 *       ▲                                                 │
 *       └──── staging is free again once the copy has run ┘
 *
 * Who brings the last piece of a fill into staging enqueues its copy, too, and those of fills behind it
 * that were read before it: the scheduler sleeps meanwhile, and would have to wake up and be given a
 * processor first. Beside an H200, whose 16 processors all decoded, that took 17 us mostly, but in a
 * tenth of the cases 200 us and more: tiles that were read waited for their copies for 7 % of a run's
 * time, and do for 1.6 % since readers copy.
 * Small fills are copied several at a time, by the scheduler, when the first of them is needed.
 *
 * Two things are waited for separately, because they become free at different times: staging, on the
 * host, before a pool task may read into it (`arrived` has happened); and the device buffer, on the
 * copy-in stream, before the next copy overwrites it (the last tile that uses it has run). The
 * scheduler runs ahead of the device by at most one ring of tiles; what it has seen to be finished it
 * need not ask the device for, nor have a stream wait for.
 *
 * In place, where device memory is the host's, staging is the device buffer: there is nothing to copy,
 * and a pool task may read into it once the last tile that uses it has run.
 */
#include <assert.h>
#include <string.h>
#include <time.h>

#include "core/checked.h"
#include "core/spin.h"
#include "ooc/engine_internal.h"

/* Fills are copied together up to this size: single copies of 256 KiB use half of the bus, of 1 MiB
 * nine tenths (measured on an H200: 23 and 48 of 55 GB/s). */
#define BATCH_BYTES (1 << 20)

/* While it waits for something else, the scheduler looks so often whether a copy has run and its
 * staging may be read into: seldom beside the time of a read for which that matters. */
#define LOOK_AGAIN_NS 200000

/* From so many lines on, half of them are enough to keep the bus busy. */
#define LINES_OF_BATCHES 8

/* ---- steps ------------------------------------------------------------------------------------ */

/* The first step at or after `step` that the job does not skip. */
int64_t slci_visited_step(const slci_run *run, int64_t step) {
    while (step < run->plan->n_tiles && run->job->touches != NULL) {
        const slc_tile tile = slc_plan_tile(run->plan, step);
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
    const slc_tile here = slc_plan_tile(run->plan, step);
    for (int64_t s = slci_visited_step(run, step + 1); s < run->plan->n_tiles;
         s = slci_visited_step(run, s + 1)) {
        const slc_tile there = slc_plan_tile(run->plan, s);
        if (slci_needs_other_box(run, group->operand[0], &here, &there)) {
            return s;
        }
    }
    return run->plan->n_tiles;
}

/* ---- staging ---------------------------------------------------------------------------------- */

static slc_status count_copy(slci_run *run, slci_line *line) {
    slci_trace_interval interval = {.stage = SLC_TRACE_H2D,
                                    .watch = &line->watch,
                                    .tile = line->tile.index};
    if (run->options->trace != NULL) {
        interval.bytes = line->n_copied_with * slci_fill_bytes(line);
    }
    SLC_TRY(slci_trace_count(run, &interval, &run->h2d));
    return slci_trace_copied_lines(run, line, &interval);
}

/* In the order in which they ran. */
slc_status slci_fill_count_copies(slci_run *run, slci_group *group) {
    for (int64_t k = 0; k < group->n_lines; k++) {
        SLC_TRY(count_copy(run, &group->line[(group->n_copied + k) % group->n_lines]));
    }
    return SLC_OK;
}

/* Whether the copy out of the line's staging has run; it is waited for where `must_wait` says so. The
 * line that it came with may have been copied again since: then that is waited for, which is later. */
static slc_status free_staging(slci_run *run, slci_line *line, bool must_wait, bool *is_free) {
    *is_free = true;
    if (line->state != SLCI_LINE_ON_DEVICE) {
        return SLC_OK;
    }
    slci_group *group = line->group;
    if (group->is_in_place) {
        *is_free = false;
        assert(line->last_user.tile >= 0 || !must_wait); /* else it is the fill in use */
        return line->last_user.tile < 0
                   ? SLC_OK
                   : slci_run_ask_for_tile(run, line->last_user.tile, must_wait, is_free);
    }
    if (line->first_user >= run->n_done && line->copied_to > group->n_landed) {
        SLC_TRY(slc_event_query(line->landed, is_free));
        if (!*is_free && !must_wait) {
            return SLC_OK;
        }
        if (!*is_free) {
            const int64_t wait_ns = slci_trace_now(run);
            SLC_TRY(slc_event_synchronize(line->landed));
            slci_trace_wait(run, "wait for a buffer", line->tile.index, wait_ns);
            *is_free = true;
        }
        group->n_landed = line->copied_to;
    }
    return count_copy(run, line);
}

static bool is_small(const slci_run *run, const slci_group *group) {
    return run->plan->operand[group->operand[0]].tile_bytes <= BATCH_BYTES / 2;
}

/* Fills that are copied together are read together too: only when half of the lines are free, since to
 * look each time costs more than a small fill. */
static bool may_start(const slci_run *run, const slci_group *group) {
    const int64_t n_ahead = group->n_started - group->n_on_device;
    return n_ahead < group->n_lines &&
           !(is_small(run, group) && group->n_lines >= LINES_OF_BATCHES &&
             n_ahead > group->n_lines / 2);
}

/* Who copies a fill looks at the line behind it, whichever state that is in. */
static void set_state(slci_run *run, slci_line *line, slci_line_state state) {
    pthread_mutex_lock(&run->mutex);
    line->state = state;
    pthread_mutex_unlock(&run->mutex);
}

/* Starts the reads for which a line is free. A line whose copy has not run yet is waited for only
 * when `must_start` says that the next fill is needed now. */
slc_status slci_fill_start(slci_run *run, slci_group *group, bool must_start) {
    if (!must_start && !may_start(run, group)) {
        return SLC_OK;
    }
    while (group->next_step < run->plan->n_tiles &&
           group->n_started - group->n_on_device < group->n_lines) {
        slci_line *line = &group->line[group->n_started % group->n_lines];
        bool is_free = false;
        SLC_TRY(free_staging(run, line, must_start, &is_free));
        if (!is_free) {
            return SLC_OK;
        }
        line->tile = slc_plan_tile(run->plan, group->next_step);
        if (!slci_tier_claim(run, group, line, group->next_step)) {
            assert(!must_start); /* all fills before this one are on the device and done */
            return SLC_OK;
        }
        set_state(run, line, SLCI_LINE_FILLING);
        slci_trace_begin_fill(run, &line->traced, line->tile.index);
        SLC_TRY(slci_fill_read(line, is_small(run, group)));
        group->next_step = next_fill_step(run, group, group->next_step);
        group->n_started++;
        must_start = false;
    }
    return SLC_OK;
}

/* Whether there are reads that only wait for a line to become free. */
static bool has_reads_to_start(const slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        const slci_group *group = &run->group[g];
        if (group->next_step < run->plan->n_tiles &&
            group->n_started - group->n_on_device < group->n_lines) {
            return true;
        }
    }
    return false;
}

static slc_status start_reads(slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        SLC_TRY(slci_fill_start(run, &run->group[g], false));
    }
    return SLC_OK;
}

/* Sleeps until something has changed, or until it is time to look for free lines again. */
static void wait_for_change(slci_run *run, bool looks_again) {
    if (!looks_again) {
        pthread_cond_wait(&run->changed, &run->mutex);
        return;
    }
    const int64_t until_ns = slc_clock_ns() + LOOK_AGAIN_NS;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / SLC_NS_PER_S),
                                   .tv_nsec = (long)(until_ns % SLC_NS_PER_S)};
    (void)pthread_cond_timedwait(&run->changed, &run->mutex, &until);
}

/* Waits for a read, and starts others meanwhile; a failure anywhere in the run ends the wait, too.
 * Before it sleeps it looks again for a moment only where reads take no longer than waking up: else the
 * readers have use for its processor, and who gives that away without sleeping gets it back last. */
static slc_status wait_for_read(slci_run *run, const slci_line *line) {
    const int64_t begin_ns = slci_trace_now(run);
    slc_status status = SLC_OK;
    pthread_mutex_lock(&run->mutex);
    slci_spin spin = {0};
    const bool may_spin = is_small(run, line->group);
    while (status == SLC_OK && line->state == SLCI_LINE_FILLING && run->failure.status == SLC_OK) {
        if (may_spin && slci_spin_once(&spin, &run->mutex)) {
            continue;
        }
        wait_for_change(run, has_reads_to_start(run));
        if (line->state == SLCI_LINE_FILLING) { /* else its copy goes first */
            pthread_mutex_unlock(&run->mutex);
            status = start_reads(run);
            pthread_mutex_lock(&run->mutex);
        }
    }
    const bool has_failed = run->failure.status != SLC_OK;
    pthread_mutex_unlock(&run->mutex);
    slci_trace_wait(run, "wait for a read", line->tile.index, begin_ns);
    return has_failed ? slc_status_restore(&run->failure) : status;
}

slc_status slci_fill_until(slci_run *run, slc_event *event) {
    const int64_t begin_ns = slc_clock_ns();
    bool has_happened = false;
    SLC_TRY(slc_event_query(event, &has_happened));
    while (!has_happened && has_reads_to_start(run) && !slci_run_has_failed(run)) {
        const int64_t waited_ns = slc_clock_ns() - begin_ns;
        if (waited_ns < SLCI_SPIN_NS) {
            slci_spin_pause();
        } else {
            const int64_t ns = slc_min_i64(waited_ns / 8, LOOK_AGAIN_NS);
            (void)nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
            SLC_TRY(start_reads(run));
        }
        SLC_TRY(slc_event_query(event, &has_happened));
    }
    return slc_event_synchronize(event);
}

/* ---- copying ---------------------------------------------------------------------------------- */

static void count_bytes(slci_run *run, const slci_line *line) {
    const int64_t bytes = slci_fill_bytes(line);
    if (line->is_from_tier) {
        run->report.bytes_tier += bytes;
    } else {
        run->report.bytes_read += bytes;
    }
    run->report.bytes_h2d += line->group->is_in_place ? 0 : bytes;
}

/* A fill of one operand that is a whole tile lies in its buffers without a gap, as the next line's does
 * behind it where the tile is a whole number of the arena's pieces. */
static bool is_whole_tile(const slci_run *run, const slci_line *line) {
    return slci_fill_bytes(line) == run->plan->operand[line->group->operand[0]].tile_bytes;
}

static bool follows(const slci_run *run, const slci_line *line, const slci_line *next) {
    const int64_t bytes = run->plan->operand[line->group->operand[0]].tile_bytes;
    return (char *)line->staging[0] + bytes == (char *)next->staging[0] &&
           (char *)line->d_data[0] + bytes == (char *)next->d_data[0];
}

/* How many fills can be copied at once: the next one, which is in staging, and those behind it that are
 * there too. At most half of the lines, so that the other half can be read and used meanwhile, and no
 * more bytes than make a copy fast. */
static int count_fills(slci_run *run, const slci_group *group) {
    const int first = (int)(group->n_copied % group->n_lines);
    const int64_t bytes = run->plan->operand[group->operand[0]].tile_bytes;
    int64_t most = slc_min_i64(group->n_lines / 2, BATCH_BYTES / slc_max_i64(bytes, 1));
    most = slc_min_i64(most, group->n_lines - first);
    most = slc_min_i64(most, group->n_started - group->n_copied);
    if (most < 2 || group->n_operands > 1 || !is_whole_tile(run, &group->line[first])) {
        return 1;
    }
    int n = 1;
    pthread_mutex_lock(&run->mutex);
    while (n < most && group->line[first + n].state == SLCI_LINE_FULL &&
           is_whole_tile(run, &group->line[first + n]) &&
           follows(run, &group->line[first + n - 1], &group->line[first + n])) {
        n++;
    }
    pthread_mutex_unlock(&run->mutex);
    return n;
}

static slc_status copy_operands(const slci_run *run, const slci_group *group,
                                const slci_line *line) {
    for (int i = 0; i < group->n_operands; i++) {
        const int o = group->operand[i];
        slc_box box = slc_job_footprint(run->job, o, &line->tile);
        if (slc_box_count(&box) == 0) {
            continue;
        }
        slc_layout dense;
        SLC_TRY(slc_layout_dense(run->layout[o].dtype, box.rank, box.extent, &dense));
        memset(box.origin, 0, sizeof box.origin);
        const slc_layout device_layout = slc_layout_slice(&run->layout[o], &box);
        SLC_TRY(slc_stream_copy_strided(run->copy_in, line->d_data[i], &device_layout,
                                        line->staging[i], &dense, SLC_COPY_TO_DEVICE));
    }
    return SLC_OK;
}

/* Has the stream wait for the last tile that uses what the copy of these fills overwrites. By the time
 * of the wait that tile's event may stand for a later one. Then this has been enqueued as well, ahead
 * of the copy, so that the wait is longer than it need be but ends. */
static slc_status wait_for_room(slci_run *run, const slci_line *line, int n) {
    slci_last_user last = line[0].last_user;
    for (int k = 1; k < n; k++) {
        last = line[k].last_user.tile > last.tile ? line[k].last_user : last;
    }
    if (last.tile < run->n_done) {
        return SLC_OK;
    }
    if (last.done == NULL) { /* small fills: this is the scheduler */
        SLC_TRY(slci_run_find_mark(run, last.tile, &last.done));
    }
    return slci_run_wait_for_mark(run, run->copy_in, last.done);
}

static void set_copied(slci_run *run, slci_group *group, slci_line *line, int n) {
    pthread_mutex_lock(&run->mutex);
    for (int k = 0; k < n; k++) {
        line[k].state = SLCI_LINE_ON_DEVICE;
        line[k].landed = line->arrived;
        line[k].first_user = INT64_MAX;
        line[k].overwritten = line[k].last_user;
        line[k].last_user = (slci_last_user){.tile = -1};
        line[k].n_copied_with = k == 0 ? n : 0;
        line[k].copied_to = group->n_copied + n;
    }
    pthread_mutex_unlock(&run->mutex);
    group->n_copied += n;
    run->h2d.n++;
}

/* Enqueues one copy of the next `n` fills, whose event stands for all. The copy_mutex is held. */
static slc_status enqueue_copy(slci_run *run, slci_group *group, int n) {
    slci_line *line = &group->line[group->n_copied % group->n_lines];
    SLC_TRY(wait_for_room(run, line, n));
    if (run->h2d.n % run->timing_stride == 0) {
        SLC_TRY(slci_stopwatch_start(&line->watch, run->copy_in));
    }
    if (n == 1) {
        SLC_TRY(copy_operands(run, group, line));
    } else {
        const int64_t bytes = run->plan->operand[group->operand[0]].tile_bytes;
        SLC_TRY(slc_stream_copy(run->copy_in, line->d_data[0], line->staging[0], n * bytes,
                                SLC_COPY_TO_DEVICE));
    }
    SLC_TRY(slci_stopwatch_stop(&line->watch, run->copy_in));
    SLC_TRY(slc_event_record(line->arrived, run->copy_in));
    set_copied(run, group, line, n);
    return SLC_OK;
}

/* Makes the next fill, which is in place, the one that was copied last: nothing is left to be done or
 * to be waited for. */
static void take_in_place(slci_group *group) {
    slci_line *line = &group->line[group->n_copied % group->n_lines];
    line->state = SLCI_LINE_ON_DEVICE;
    line->first_user = INT64_MAX;
    line->last_user = (slci_last_user){.tile = -1};
    line->n_copied_with = 0;
    line->copied_to = ++group->n_copied;
}

/* Whether fills are copied one by one, as soon as they may be, by whichever thread. */
static bool goes_ahead(const slci_run *run, const slci_group *group) {
    return !group->is_in_place && !is_small(run, group);
}

/* Whether the next fill is in staging, and it is known who uses last what its copy overwrites. */
static bool may_copy(slci_run *run, const slci_group *group) {
    if (group->n_copied - group->n_released >= group->n_lines) {
        return false;
    }
    const slci_line *next = &group->line[group->n_copied % group->n_lines];
    pthread_mutex_lock(&run->mutex);
    const bool is_there = next->state == SLCI_LINE_FULL && run->failure.status == SLC_OK;
    pthread_mutex_unlock(&run->mutex);
    return is_there;
}

/* Whoever changes what may_copy asks for calls this afterwards. A failure is kept before another
 * thread could try the same copy again. */
slc_status slci_fill_copy_ahead(slci_run *run, slci_group *group) {
    if (!goes_ahead(run, group)) {
        return SLC_OK;
    }
    pthread_mutex_lock(&run->copy_mutex);
    while (may_copy(run, group)) {
        const slc_status status = enqueue_copy(run, group, 1);
        if (status != SLC_OK) {
            slci_run_fail(run, status);
        }
    }
    pthread_mutex_unlock(&run->copy_mutex);
    return slci_run_has_failed(run) ? slc_status_restore(&run->failure) : SLC_OK;
}

/* Brings the next fill, which is in staging, to the device. */
static slc_status copy_next(slci_run *run, slci_group *group) {
    if (group->is_in_place) {
        take_in_place(group);
        return SLC_OK;
    }
    if (goes_ahead(run, group)) {
        return slci_fill_copy_ahead(run, group);
    }
    const int n = count_fills(run, group);
    pthread_mutex_lock(&run->copy_mutex);
    const slc_status status = enqueue_copy(run, group, n);
    pthread_mutex_unlock(&run->copy_mutex);
    return status;
}

static bool is_next_copied(slci_run *run, const slci_group *group) {
    pthread_mutex_lock(&run->copy_mutex);
    const bool is_copied = group->n_copied > group->n_on_device;
    pthread_mutex_unlock(&run->copy_mutex);
    return is_copied;
}

/* The tile enqueued last is the last one that uses the newest fill on the device; it may have run. A
 * reader that copies over that fill needs the tile's event, which only the scheduler can record. */
static slc_status release_device_buffer(slci_run *run, slci_group *group) {
    slci_last_user user = {.tile = run->n_enqueued - 1};
    if (user.tile < run->n_done) {
        user.at_ns = run->newest_end_ns;
    } else if (goes_ahead(run, group)) {
        SLC_TRY(slci_run_find_mark(run, user.tile, &user.done));
    }
    pthread_mutex_lock(&run->copy_mutex);
    group->line[(group->n_on_device - 1) % group->n_lines].last_user = user;
    group->n_released++;
    pthread_mutex_unlock(&run->copy_mutex);
    return SLC_OK;
}

/* Makes the group's newest fill on the device the one that `tile` needs. */
slc_status slci_fill_advance(slci_run *run, slci_group *group, const slc_tile *tile) {
    if (group->n_on_device > 0) {
        if (!slci_needs_other_box(run, group->operand[0], &group->current, tile)) {
            return SLC_OK;
        }
        SLC_TRY(release_device_buffer(run, group));
    }
    if (group->n_started == group->n_on_device) {
        SLC_TRY(slci_fill_start(run, group, true));
    }
    assert(group->n_started > group->n_on_device);
    slci_line *line = &group->line[group->n_on_device % group->n_lines];
    if (!is_next_copied(run, group)) {
        SLC_TRY(wait_for_read(run, line));
        SLC_TRY(copy_next(run, group));
    }
    count_bytes(run, line);
    /* The event of a copy stands for all fills that came with it, and the first one is used first. */
    group->has_moved = line->n_copied_with > 0;
    line->first_user = run->n_enqueued;
    group->current = line->tile;
    group->n_on_device++;
    return SLC_OK;
}
