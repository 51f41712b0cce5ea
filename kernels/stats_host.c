/* Statistics on the host: a tile is cut into about as many parts as there are threads, each a run of
 * ordinals. A part goes through its elements in blocks that lie in the first cache, widening,
 * converting or taking apart what needs it, and adds to results of its own, which are merged when it is
 * done. Nothing in a result depends on the cuts.
 *
 * Keys and bins are counted in tables of the thread's own, in scratch memory, where a part is long
 * enough to pay for clearing and merging them. Else, and where only keys of few groups count, counts
 * wait in a few places of the part's own, since data is often all but constant, and then go into the
 * result, by atomic additions. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/checked.h"
#include "core/pool.h"
#include "kernels/stats_internal.h"
#include "kernels/stats_tile.h"

/* A part has so many elements at least, so that small tiles are not cut into crumbs. */
#define LEAST_PART (INT64_C(1) << 14)

/* And at most so many, which a table's counts hold; and since a block adds fewer than 2^12 times to one
 * digit of a sum, so do digits. */
#define MOST_PART (INT64_C(1) << 28)

/* Counts of a table for each element of a part, up to which the table pays: most counts are 0, and to
 * clear and to pass over sixteen of them takes as long as to count one key. */
#define MOST_COUNTS_PER_ELEMENT 8

/* Counts of a cache line, which no two threads' tables share. */
#define COUNTS_ALIGNMENT 16

/* Counts that wait, by the place of their counter; a power of two. */
#define N_WAITING 64

typedef _Atomic uint64_t shared_count;

typedef struct host_call {
    slci_stats_view view;
    const slci_stats_simd *simd;
    slc_pool *pool;
} host_call;

typedef struct host_run {
    const slci_stats_view *view;
    slci_stats_counts counts;
    int64_t per_part;
    int64_t n_threads;
    int64_t n_digits, n_bins;   /* in a thread's tables; 0: counts go into the result */
    slci_stats_spacing spacing; /* of bins */
    const slci_stats_simd *simd;
    pthread_mutex_t mutex; /* guards the merging of sums */
} host_run;

typedef struct waiting_count {
    uint64_t *counter;
    uint64_t n;
} waiting_count;

/* One part's scratch memory. */
typedef struct part_state {
    const host_run *run;
    uint32_t *digits, *bins; /* tables */
    waiting_count waiting[N_WAITING];
    slci_stats_partial partial[SLC_STATS_MOST_PARTS];
    unsigned char gathered[SLCI_STATS_BLOCK * 16]; /* elements out of several rows */
    double values[SLCI_STATS_BLOCK];               /* or singles or integers */
    slci_stats_keys keys;
} part_state;

/* ---- fetching a block --------------------------------------------------------------------------- */

/* Elements [ordinal, ordinal + n) of the tile, side by side. */
static const void *gather_elements(part_state *state, int64_t ordinal, int64_t n) {
    const slci_stats_view *view = state->run->view;
    const slci_stats_counts *counts = &state->run->counts;
    const int64_t bytes = slc_dtype_bytes(view->dtype);
    int64_t done = 0;
    while (done < n) {
        const int64_t row = (ordinal + done) / counts->n_run;
        const int64_t i = (ordinal + done) % counts->n_run;
        const int64_t more = slc_min_i64(n - done, counts->n_run - i);
        const char *from =
            (const char *)view->data + (slci_stats_row(view, counts, row) + i) * bytes;
        if (more == n) {
            return from;
        }
        memcpy(state->gathered + done * bytes, from, (size_t)(more * bytes));
        done += more;
    }
    return state->gathered;
}

static slci_stats_class class_of(slc_dtype dtype, slc_stats_part part) {
    switch (dtype) {
    case SLC_U32:
    case SLC_I64:
        return SLCI_STATS_I64;
    case SLC_U64:
        return SLCI_STATS_U64;
    default:
        break;
    }
    switch (slc_stats_form_of(dtype, part)) {
    case SLC_STATS_F32:
        return SLCI_STATS_F32;
    case SLC_STATS_F64:
        return SLCI_STATS_F64;
    default:
        return SLCI_STATS_I32;
    }
}

/* ---- counting ----------------------------------------------------------------------------------- */

static void add_to(uint64_t *count, uint64_t n) {
    (void)atomic_fetch_add_explicit((shared_count *)count, n, memory_order_relaxed);
}

static void count_one(part_state *state, uint64_t *counter) {
    waiting_count *waiting = &state->waiting[(uintptr_t)counter / sizeof *counter % N_WAITING];
    if (waiting->counter != counter) {
        if (waiting->counter != NULL) {
            add_to(waiting->counter, waiting->n);
        }
        *waiting = (waiting_count){.counter = counter};
    }
    waiting->n++;
}

static void add_waiting(part_state *state) {
    for (int w = 0; w < N_WAITING; w++) {
        if (state->waiting[w].counter != NULL) {
            add_to(state->waiting[w].counter, state->waiting[w].n);
        }
    }
}

/* The table's keys are all that there are: one group, and no bits above its digits. What is counted of
 * NaN, which have digits too, is taken back. */
static void count_all(part_state *state, int64_t n) {
    const slc_stats_step *step = &state->run->view->step;
    const slci_stats_keys *keys = &state->keys;
    uint32_t *const table = state->digits;
    const int shift = step->shift;
    for (int64_t i = 0; i < n && !keys->is_wide; i++) {
        table[keys->key.narrow[i] >> shift]++;
    }
    for (int64_t i = 0; i < n && keys->is_wide; i++) {
        table[keys->key.wide[i] >> shift]++;
    }
    for (int64_t i = 0; i < n && keys->n_nan > 0; i++) {
        const uint64_t key = slci_stats_key_at(keys, i);
        table[key >> shift] -= key < keys->below || key > keys->above ? 1 : 0;
    }
}

/* Few keys are in a group after the first step, so those between the first and the last group are
 * picked out before each is looked at. */
static void count_groups(part_state *state, int64_t n) {
    const slci_stats_view *view = state->run->view;
    const slc_stats_step *step = &view->step;
    const int above = step->shift + step->digit_bits;
    const uint64_t first = above < 64 ? step->group[0] << above : 0;
    const uint64_t last =
        above < 64 ? ((step->group[step->n_groups - 1] + 1) << above) - 1 : UINT64_MAX;
    int16_t picked[SLCI_STATS_BLOCK];
    const int64_t n_picked =
        slci_stats_pick(state->run->simd, &state->keys, n, first, last, picked);
    for (int64_t k = 0; k < n_picked; k++) {
        const uint64_t key = slci_stats_key_at(&state->keys, picked[k]);
        const int g = slci_stats_group(step, key);
        if (g >= 0) {
            count_one(
                state,
                &view->digits[((int64_t)g << step->digit_bits) + slci_stats_digit(step, key)]);
        }
    }
}

/* Most values lie where they are guessed to. */
static void count_bins(part_state *state, const slci_stats_block *block) {
    const slci_stats_view *view = state->run->view;
    const slci_stats_simd *simd = state->run->simd;
    const slci_stats_spacing *spacing = &state->run->spacing;
    const double *edges = view->edges;
    double room[SLCI_STATS_BLOCK];
    int32_t guess[SLCI_STATS_BLOCK];
    const double *values = simd->doubles(block->class_of, block->values, block->n, room);
    simd->guess_bins(values, block->n, spacing, guess);
    for (int64_t i = 0; i < block->n; i++) {
        int64_t bin = guess[i] + 1;
        if (!(values[i] >= edges[bin - 1] && values[i] < edges[bin])) {
            if (isnan(values[i])) {
                continue;
            }
            bin = slci_stats_bin(edges, view->n_bins, spacing->per_unit, values[i]);
        }
        if (state->bins != NULL) {
            state->bins[bin]++;
        } else {
            count_one(state, &view->bins[bin]);
        }
    }
}

/* Counts [begin, end) of a table, of which most are 0. */
static void add_counts(const uint32_t *table, int64_t begin, int64_t end, uint64_t *counts) {
    for (int64_t i = begin; i < end; i += COUNTS_ALIGNMENT) {
        const int64_t n = slc_min_i64(end - i, COUNTS_ALIGNMENT);
        uint32_t any = 0;
        for (int64_t k = 0; k < n; k++) {
            any |= table[i + k];
        }
        for (int64_t k = 0; k < n && any != 0; k++) {
            if (table[i + k] != 0) {
                add_to(&counts[i + k], table[i + k]);
            }
        }
    }
}

/* Threads begin at different places, so that they rarely wait for each other. */
static void add_table(const host_run *run, int worker, const uint32_t *table, int64_t n,
                      uint64_t *counts) {
    const int64_t share = n / slc_max_i64(run->n_threads, 1) / COUNTS_ALIGNMENT * COUNTS_ALIGNMENT;
    const int64_t first = worker * share;
    add_counts(table, first, n, counts);
    add_counts(table, 0, first, counts);
}

/* ---- a part ------------------------------------------------------------------------------------- */

static slci_stats_block take_part(part_state *state, int p, const void *elements, int64_t n) {
    const slci_stats_view *view = state->run->view;
    const slci_stats_taking taking = {view->dtype, view->parts[p], view->n_parts > 1};
    return (slci_stats_block){.class_of = class_of(view->dtype, view->parts[p]),
                              .bias = slci_stats_bias(view->dtype),
                              .values = state->run->simd->take(&taking, elements, n, state->values),
                              .n = n,
                              .has_sums = slci_stats_has_sums(view, p),
                              .has_range = slci_stats_has_range(view, p)};
}

/* As complex numbers are looked at mostly. */
static bool has_all_parts(const slci_stats_view *view) {
    return view->n_parts == 3 && view->parts[0] == SLC_STATS_REAL &&
           view->parts[1] == SLC_STATS_IMAG && view->parts[2] == SLC_STATS_ABS;
}

static void add_moments(part_state *state, const void *elements, int64_t ordinal, int64_t n) {
    const slci_stats_view *view = state->run->view;
    const slci_stats_simd *simd = state->run->simd;
    if (view->dtype == SLC_C64 && has_all_parts(view) &&
        slci_stats_add_pairs(simd, elements, n, ordinal, state->partial)) {
        return;
    }
    for (int p = 0; p < view->n_parts; p++) {
        slci_stats_block block = take_part(state, p, elements, n);
        block.ordinal = ordinal;
        slci_stats_add_block(simd, &block, &state->partial[p]);
    }
}

static void run_block(part_state *state, int64_t ordinal, int64_t n) {
    const slci_stats_view *view = state->run->view;
    const void *elements = gather_elements(state, ordinal, n);
    if (view->step.has_moments) {
        add_moments(state, elements, ordinal, n);
    }
    if (view->step.n_groups == 0 && !view->step.has_bins) {
        return;
    }
    const slci_stats_block last = take_part(state, view->n_parts - 1, elements, n);
    if (view->step.n_groups > 0) {
        slci_stats_take_keys(state->run->simd, &last, &state->keys);
        (state->digits != NULL ? count_all : count_groups)(state, n);
    }
    if (view->step.has_bins) {
        count_bins(state, &last);
    }
}

/* The first of two places, either of which may be none (0). */
static void merge_place(uint64_t *place, uint64_t other) {
    if (other != 0 && (*place == 0 || other < *place)) {
        *place = other;
    }
}

/* One end of the range: `other` is better where it lies further `down`, or as far and before. */
static void merge_end(uint64_t *key, uint64_t *place, uint64_t other, uint64_t other_place,
                      bool is_down) {
    if (other_place == 0) {
        return;
    }
    const bool is_further = is_down ? other < *key : other > *key;
    if (*place == 0 || is_further) {
        *key = other;
        *place = other_place;
    } else if (other == *key) {
        merge_place(place, other_place);
    }
}

static void merge_part(const host_run *run, slci_stats_partial *partial, uint64_t *sums) {
    static const int places[] = {SLC_STATS_PLACE_ABOVE, SLC_STATS_PLACE_BELOW,
                                 SLC_STATS_PLACE_LOWEST, SLC_STATS_PLACE_HIGHEST};
    uint64_t *word = partial->word;
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        uint64_t *place = &word[places[k]];
        *place = *place == 0
                     ? 0
                     : (uint64_t)slci_stats_flat(run->view, &run->counts, (int64_t)*place - 1) + 1;
    }
    for (int w = SLC_STATS_N; w <= SLC_STATS_N_BELOW; w++) {
        sums[w] += word[w];
    }
    merge_place(&sums[SLC_STATS_PLACE_ABOVE], word[SLC_STATS_PLACE_ABOVE]);
    merge_place(&sums[SLC_STATS_PLACE_BELOW], word[SLC_STATS_PLACE_BELOW]);
    merge_end(&sums[SLC_STATS_LOWEST], &sums[SLC_STATS_PLACE_LOWEST], word[SLC_STATS_LOWEST],
              word[SLC_STATS_PLACE_LOWEST], true);
    merge_end(&sums[SLC_STATS_HIGHEST], &sums[SLC_STATS_PLACE_HIGHEST], word[SLC_STATS_HIGHEST],
              word[SLC_STATS_PLACE_HIGHEST], false);
    for (int w = SLC_STATS_SUM; w < SLC_STATS_WORDS; w++) {
        sums[w] += word[w];
    }
    slci_exact_carry((int64_t *)&sums[SLC_STATS_SUM], SLCI_SUM_DIGITS);
    slci_exact_carry((int64_t *)&sums[SLC_STATS_SQUARES], SLCI_SQUARE_DIGITS);
}

/* A thread's tables, cleared; those that it has. */
static void take_tables(part_state *state, int worker) {
    const host_run *run = state->run;
    const int64_t n = run->n_digits + run->n_bins;
    uint32_t *tables = (uint32_t *)run->view->work + worker * slc_round_up(n, COUNTS_ALIGNMENT);
    memset(tables, 0, sizeof *tables * (size_t)n);
    state->digits = run->n_digits > 0 ? tables : NULL;
    state->bins = run->n_bins > 0 ? tables + run->n_digits : NULL;
}

static slc_status run_part(void *context, int64_t part, int worker) {
    host_run *run = context;
    const slci_stats_view *view = run->view;
    const int64_t begin = part * run->per_part;
    const int64_t end = slc_min_i64(begin + run->per_part, run->counts.n);
    part_state state;
    state.run = run;
    memset(state.waiting, 0, sizeof state.waiting);
    memset(state.partial, 0, sizeof state.partial);
    take_tables(&state, worker);
    for (int64_t at = begin; at < end; at += SLCI_STATS_BLOCK) {
        run_block(&state, at, slc_min_i64(end - at, SLCI_STATS_BLOCK));
    }
    add_table(run, worker, state.digits, run->n_digits, view->digits);
    add_table(run, worker, state.bins, run->n_bins, view->bins);
    add_waiting(&state);
    if (view->step.has_moments) {
        (void)pthread_mutex_lock(&run->mutex);
        for (int p = 0; p < view->n_parts; p++) {
            merge_part(run, &state.partial[p], view->sums + p * (int64_t)SLC_STATS_WORDS);
        }
        (void)pthread_mutex_unlock(&run->mutex);
    }
    return SLC_OK;
}

/* ---- a tile ------------------------------------------------------------------------------------- */

/* A whole table of digits serves where every key counts. */
static void choose_tables(host_run *run) {
    const slci_stats_view *view = run->view;
    const slc_stats_step *step = &view->step;
    const int bits = slc_stats_key_bits(view->dtype, view->parts[view->n_parts - 1]);
    const int64_t most = run->per_part * MOST_COUNTS_PER_ELEMENT;
    const int64_t n_digits = INT64_C(1) << step->digit_bits;
    const int64_t n_bins = view->n_bins + 2;
    const bool counts_all = step->n_groups == 1 && step->shift + step->digit_bits >= bits;
    run->n_digits = counts_all && n_digits <= most ? n_digits : 0;
    run->n_bins = step->has_bins && n_bins <= most ? n_bins : 0;
}

/* Runs on the stream: spreads one tile over the pool. */
static slc_status run_tile(void *argument) {
    const host_call *call = argument;
    const slci_stats_view *view = &call->view;
    host_run run = {.view = view,
                    .counts = slci_stats_count(view),
                    .n_threads = slc_pool_size(call->pool),
                    .simd = call->simd,
                    .mutex = PTHREAD_MUTEX_INITIALIZER};
    if (run.counts.n <= 0) {
        return SLC_OK;
    }
    run.per_part = slc_max_i64(slc_ceil_div(run.counts.n, run.n_threads), LEAST_PART);
    run.per_part = slc_min_i64(slc_round_up(run.per_part, SLCI_STATS_BLOCK), MOST_PART);
    choose_tables(&run);
    if (view->step.has_bins) {
        const double width = view->edges[view->n_bins] - view->edges[0];
        run.spacing = (slci_stats_spacing){.first = view->edges[0],
                                           .per_unit = width > 0 ? (double)view->n_bins / width : 0,
                                           .last = (double)(view->n_bins - 1)};
    }
    return slc_pool_for(call->pool, slc_ceil_div(run.counts.n, run.per_part), run_part, &run);
}

static slc_status enqueue_tile(void *state, const slc_tile_arguments *arguments) {
    const slc_stats_setup *setup = state;
    host_call call = {.simd = setup->force_simd != NULL ? setup->force_simd : slci_stats_simd_get(),
                      .pool = arguments->device->pool};
    slci_stats_view_init(setup, arguments, &call.view);
    return slc_stream_call(arguments->stream, run_tile, &call, sizeof call);
}

/* Tables for each thread: of digits for the first step alone, where all keys count, and of bins. */
static int64_t work_bytes(const slc_stats_setup *setup, int n_threads) {
    const slc_stats_request *request = &setup->request;
    const int64_t n_digits = request->n_groups > 0 ? slc_stats_n_digits(request) : 0;
    const int64_t n_bins = request->n_bins > 0 ? request->n_bins + 2 : 0;
    return n_threads * slc_round_up(n_digits + n_bins, COUNTS_ALIGNMENT) *
           (int64_t)sizeof(uint32_t);
}

const slc_stats_kernel slci_stats_host = {.name = "stats/host",
                                          .device = SLC_DEVICE_HOST,
                                          .tile = enqueue_tile,
                                          .work_bytes = work_bytes};
