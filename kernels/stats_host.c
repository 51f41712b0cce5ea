/* Statistics on the host: a tile is cut into about as many parts as there are threads, each a run of
 * ordinals. A part goes through its elements in blocks that lie in the first cache, widening,
 * converting or taking apart what needs it, and adds to results of its own, which are merged when it is
 * done. Nothing in a result depends on the cuts.
 *
 * Keys are counted in a table of the thread's own, in scratch memory, where the part is long enough to
 * pay for clearing and merging it; else, and where only keys of few groups count, straight into the
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

/* Elements of a part from which on its own table pays: clearing and merging take as long as counting
 * some 15,000 keys. */
#define LEAST_TABLE_PART (INT64_C(1) << 16)

/* And at most so many, which a table's counts hold; and since a block adds fewer than 2^12 times to one
 * digit of a sum, so do digits. */
#define MOST_PART (INT64_C(1) << 28)

typedef _Atomic uint64_t shared_count;

typedef struct host_call {
    slci_stats_view view;
    slc_pool *pool;
} host_call;

typedef struct host_run {
    const slci_stats_view *view;
    slci_stats_counts counts;
    int64_t per_part;
    double bins_per_unit;
    const slci_stats_simd *simd;
    pthread_mutex_t mutex; /* guards the merging of sums */
} host_run;

/* One part's scratch memory. */
typedef struct part_state {
    const host_run *run;
    uint32_t *table; /* [2^digit_bits]; NULL: counts go straight into the result */
    slci_stats_partial partial[SLC_STATS_MOST_PARTS];
    unsigned char gathered[SLCI_STATS_BLOCK * 16]; /* elements out of several rows */
    double values[SLCI_STATS_BLOCK];               /* or singles or integers */
    uint64_t keys[SLCI_STATS_BLOCK];
    uint8_t is_nan[SLCI_STATS_BLOCK];
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

/* Widens or converts a part of each element; `out` has room for [n] doubles. */
#define CONVERT(from_type, to_type, step, expression) \
    do {                                              \
        const from_type *from = elements;             \
        to_type *to = out;                            \
        for (int64_t i = 0; i < n; i++) {             \
            const from_type *x = from + i * (step);   \
            to[i] = (to_type)(expression);            \
        }                                             \
    } while (0)

/* Half of each complex number: NaN where the other half is, if `is_joint`. */
static void take_half(slc_dtype dtype, int k, bool is_joint, const void *elements, int64_t n,
                      void *out) {
    const float none = is_joint ? NAN : 0;
    if (dtype == SLC_C32) {
        CONVERT(uint16_t, float, 2,
                is_joint &&isnan(slci_stats_half(x[1 - k])) ? none : slci_stats_half(x[k]));
    } else if (dtype == SLC_C64) {
        CONVERT(float, float, 2, is_joint &&isnan(x[1 - k]) ? none : x[k]);
    } else {
        CONVERT(double, double, 2, is_joint &&isnan(x[1 - k]) ? (double)none : x[k]);
    }
}

static void take_abs(slc_dtype dtype, const void *elements, int64_t n, void *out) {
    if (dtype == SLC_C32) {
        CONVERT(uint16_t, double, 2,
                slci_stats_abs((double)slci_stats_half(x[0]), (double)slci_stats_half(x[1])));
    } else if (dtype == SLC_C64) {
        CONVERT(float, double, 2, slci_stats_abs((double)x[0], (double)x[1]));
    } else {
        CONVERT(double, double, 2, slci_stats_abs(x[0], x[1]));
    }
}

/* The block's values: the elements themselves where they can be taken as they are. */
static const void *convert(const slci_stats_view *view, int p, const void *elements, int64_t n,
                           void *out) {
    const bool is_joint = view->n_parts > 1;
    switch (view->dtype) {
    case SLC_I8:
        CONVERT(int8_t, int32_t, 1, *x);
        return out;
    case SLC_U8:
        CONVERT(uint8_t, int32_t, 1, *x);
        return out;
    case SLC_I16:
        CONVERT(int16_t, int32_t, 1, *x);
        return out;
    case SLC_U16:
        CONVERT(uint16_t, int32_t, 1, *x);
        return out;
    case SLC_U32:
        CONVERT(uint32_t, int64_t, 1, *x);
        return out;
    case SLC_F16:
        CONVERT(uint16_t, float, 1, slci_stats_half(*x));
        return out;
    case SLC_C32:
    case SLC_C64:
    case SLC_C128:
        if (view->parts[p] == SLC_STATS_ABS) {
            take_abs(view->dtype, elements, n, out);
        } else {
            take_half(view->dtype, view->parts[p] == SLC_STATS_IMAG, is_joint, elements, n, out);
        }
        return out;
    default:
        return elements;
    }
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

/* Keys of all values into the part's table: one group, and no bits above its digits. */
static void count_all(part_state *state, const slci_stats_block *block) {
    const slc_stats_step *step = &state->run->view->step;
    for (int64_t i = 0; i < block->n; i++) {
        state->table[slci_stats_digit(step, state->keys[i])] += 1u - state->is_nan[i];
    }
}

/* Few keys are in a group after the first step, so those between the first and the last group are
 * picked out, without a branch, before each is looked at. */
static void count_groups(part_state *state, const slci_stats_block *block) {
    const slci_stats_view *view = state->run->view;
    const slc_stats_step *step = &view->step;
    const int above = step->shift + step->digit_bits;
    const uint64_t first = step->group[0];
    const uint64_t width = step->group[step->n_groups - 1] - first;
    int16_t picked[SLCI_STATS_BLOCK];
    int64_t n_picked = 0;
    for (int64_t i = 0; i < block->n; i++) {
        const uint64_t prefix = above < 64 ? state->keys[i] >> above : 0;
        picked[n_picked] = (int16_t)i;
        n_picked += prefix - first <= width && state->is_nan[i] == 0;
    }
    for (int64_t k = 0; k < n_picked; k++) {
        const uint64_t key = state->keys[picked[k]];
        const int g = slci_stats_group(step, key);
        if (g >= 0) {
            add_to(&view->digits[((int64_t)g << step->digit_bits) + slci_stats_digit(step, key)],
                   1);
        }
    }
}

static void count_bins(part_state *state, const slci_stats_block *block) {
    const slci_stats_view *view = state->run->view;
    double values[SLCI_STATS_BLOCK];
    slci_stats_doubles(block, values);
    for (int64_t i = 0; i < block->n; i++) {
        if (!isnan(values[i])) {
            const int64_t bin =
                slci_stats_bin(view->edges, view->n_bins, state->run->bins_per_unit, values[i]);
            add_to(&view->bins[bin], 1);
        }
    }
}

/* ---- a part ------------------------------------------------------------------------------------- */

/* A whole table serves where every key counts. */
static bool wants_table(const host_run *run) {
    const slci_stats_view *view = run->view;
    const int bits = slc_stats_key_bits(view->dtype, view->parts[view->n_parts - 1]);
    return view->step.n_groups == 1 && view->step.shift + view->step.digit_bits >= bits &&
           run->per_part >= LEAST_TABLE_PART;
}

static void run_block(part_state *state, int64_t ordinal, int64_t n) {
    const slci_stats_view *view = state->run->view;
    const void *elements = gather_elements(state, ordinal, n);
    for (int p = 0; p < view->n_parts; p++) {
        const bool is_last = p == view->n_parts - 1;
        if (!view->step.has_moments && !is_last) {
            continue;
        }
        const slci_stats_block block = {.class_of = class_of(view->dtype, view->parts[p]),
                                        .bias = slci_stats_bias(view->dtype),
                                        .values = convert(view, p, elements, n, state->values),
                                        .n = n,
                                        .ordinal = ordinal};
        if (view->step.has_moments) {
            slci_stats_add_block(state->run->simd, &block, &state->partial[p]);
        }
        if (is_last && view->step.n_groups > 0) {
            (void)slci_stats_keys(&block, state->keys, state->is_nan);
            (state->table != NULL ? count_all : count_groups)(state, &block);
        }
        if (is_last && view->step.has_bins) {
            count_bins(state, &block);
        }
    }
}

static void add_table(const uint32_t *table, int64_t n_digits, uint64_t *digits) {
    for (int64_t d = 0; d < n_digits; d++) {
        if (table[d] != 0) {
            add_to(&digits[d], table[d]);
        }
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

static slc_status run_part(void *context, int64_t part, int worker) {
    host_run *run = context;
    const slci_stats_view *view = run->view;
    const int64_t begin = part * run->per_part;
    const int64_t end = slc_min_i64(begin + run->per_part, run->counts.n);
    const int64_t n_digits = INT64_C(1) << view->step.digit_bits;
    part_state state = {.run = run};
    if (wants_table(run)) {
        state.table = (uint32_t *)view->work + worker * n_digits;
        memset(state.table, 0, sizeof *state.table * (size_t)n_digits);
    }
    for (int64_t at = begin; at < end; at += SLCI_STATS_BLOCK) {
        run_block(&state, at, slc_min_i64(end - at, SLCI_STATS_BLOCK));
    }
    if (state.table != NULL) {
        add_table(state.table, n_digits, view->digits);
    }
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

/* Runs on the stream: spreads one tile over the pool. */
static slc_status run_tile(void *argument) {
    const host_call *call = argument;
    const slci_stats_view *view = &call->view;
    host_run run = {.view = view,
                    .counts = slci_stats_count(view),
                    .simd = slci_stats_simd_get(),
                    .mutex = PTHREAD_MUTEX_INITIALIZER};
    const int64_t n_threads = slc_pool_size(call->pool);
    if (run.counts.n <= 0) {
        return SLC_OK;
    }
    run.per_part = slc_max_i64(slc_ceil_div(run.counts.n, n_threads), LEAST_PART);
    run.per_part = slc_min_i64(slc_round_up(run.per_part, SLCI_STATS_BLOCK), MOST_PART);
    if (view->step.has_bins) {
        const double width = view->edges[view->n_bins] - view->edges[0];
        run.bins_per_unit = width > 0 ? (double)view->n_bins / width : 0;
    }
    return slc_pool_for(call->pool, slc_ceil_div(run.counts.n, run.per_part), run_part, &run);
}

static slc_status enqueue_tile(void *state, const slc_tile_arguments *arguments) {
    host_call call = {.pool = arguments->device->pool};
    slci_stats_view_init(state, arguments, &call.view);
    return slc_stream_call(arguments->stream, run_tile, &call, sizeof call);
}

/* A table for each thread, of the first step alone, where all keys count. */
static int64_t work_bytes(const slc_stats_setup *setup, int n_threads) {
    return setup->request.n_groups > 0 ? n_threads * slc_stats_n_digits(&setup->request) * 4 : 0;
}

const slc_stats_kernel slci_stats_host = {.name = "stats/host",
                                          .device = SLC_DEVICE_HOST,
                                          .tile = enqueue_tile,
                                          .work_bytes = work_bytes};
