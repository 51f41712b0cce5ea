/* The loops over a block, included once by each instruction set's file, which says how many doubles
 * its vectors hold (LANES) and how it squares best. Loops of whole numbers are left to the compiler;
 * sums of doubles are written in vectors, since it may not reorder them. No sum of
 * kernels/stats_block.c rounds, so that the number of lanes does not show in a result. */
#include <math.h>
#include <string.h>

#include "kernels/stats_internal.h"
#include "kernels/stats_tile.h"

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef float single_lanes __attribute__((vector_size(4 * LANES)));

/* Keys that are looked at together, which are either all passed over or looked at one by one. */
#define PICK_STRETCH 32

/* What includes this file defines these, as its processor does it best: singles as doubles; x² + more,
 * rounded once where x² is exact; a square's error, x² = square + error; each lane's neighbour, 1 0 3
 * 2 and so on; the smaller and the larger of two numbers. */
static inline lanes widen(single_lanes x);
static inline lanes add_square(lanes x, lanes more);
static inline lanes square_error(lanes x, lanes square);
static inline lanes neighbours(lanes x);
static inline lanes least_of(lanes a, lanes b);
static inline lanes most_of(lanes a, lanes b);

/* Every `step`th lane from `first` on. */
static double add_some_lanes(lanes sum, int first, int step) {
    double total = 0;
    for (int l = first; l < LANES; l += step) {
        total += sum[l];
    }
    return total;
}

static double add_lanes(lanes sum) {
    return add_some_lanes(sum, 0, 1);
}

/* ---- integers ----------------------------------------------------------------------------------- */

static void whole_i32(const int32_t *x, int64_t n, slci_stats_whole *out) {
    int32_t lowest = x[0];
    int32_t highest = x[0];
    int64_t sum = 0;
    uint64_t square_low = 0;
    uint64_t square_high = 0;
    for (int64_t i = 0; i < n; i++) {
        lowest = x[i] < lowest ? x[i] : lowest;
        highest = x[i] > highest ? x[i] : highest;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t square = (uint64_t)((int64_t)x[i] * x[i]);
        sum += x[i];
        square_low += square & 0xffffffffu;
        square_high += square >> 32;
    }
    *out = (slci_stats_whole){.lowest = lowest,
                              .highest = highest,
                              .low = (uint64_t)sum & 0xffffffffu,
                              .high = sum >> 32,
                              .square_low = {square_low},
                              .square_high = {square_high}};
}

/* Adds the square of a value whose absolute one is `size`. */
static inline void add_size_square(uint64_t size, slci_stats_whole *sums) {
    const uint64_t a = size & 0xffffffffu;
    const uint64_t b = size >> 32;
    const uint64_t product[3] = {a * a, a * b, b * b};
    for (int k = 0; k < 3; k++) {
        sums->square_low[k] += product[k] & 0xffffffffu;
        sums->square_high[k] += product[k] >> 32;
    }
}

static void whole_i64(const int64_t *x, int64_t n, slci_stats_whole *out) {
    slci_stats_whole sums = {.lowest = x[0], .highest = x[0]};
    for (int64_t i = 0; i < n; i++) {
        sums.lowest = x[i] < sums.lowest ? x[i] : sums.lowest;
        sums.highest = x[i] > sums.highest ? x[i] : sums.highest;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = (uint64_t)x[i];
        sums.low += bits & 0xffffffffu;
        sums.high += x[i] >> 32;
        add_size_square(x[i] < 0 ? 0 - bits : bits, &sums);
    }
    *out = sums;
}

static void whole_u64(const uint64_t *x, int64_t n, slci_stats_whole *out) {
    slci_stats_whole sums = {.low = 0};
    uint64_t lowest = x[0];
    uint64_t highest = x[0];
    for (int64_t i = 0; i < n; i++) {
        lowest = x[i] < lowest ? x[i] : lowest;
        highest = x[i] > highest ? x[i] : highest;
    }
    for (int64_t i = 0; i < n; i++) {
        sums.low += x[i] & 0xffffffffu;
        sums.high += (int64_t)(x[i] >> 32);
        add_size_square(x[i], &sums);
    }
    sums.lowest = (int64_t)lowest;
    sums.highest = (int64_t)highest;
    *out = sums;
}

static void keys_i32(const int32_t *x, int64_t n, uint32_t bias, uint32_t *keys) {
    for (int64_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)x[i] - bias;
    }
}

static void keys_i64(const uint64_t *x, int64_t n, uint64_t bias, uint64_t *keys) {
    for (int64_t i = 0; i < n; i++) {
        keys[i] = x[i] - bias;
    }
}

/* ---- floats as bits ----------------------------------------------------------------------------- */

#define REAL float
#define BITS uint32_t
#define ORDER int32_t
#define LOOP(name) name##_f32
#include "kernels/stats_simd_real_body.h"

#define REAL double
#define BITS uint64_t
#define ORDER int64_t
#define LOOP(name) name##_f64
#include "kernels/stats_simd_real_body.h"

/* ---- sums of floats ----------------------------------------------------------------------------- */

/* A sum that began at a large number, of whose last bit it is a multiple, and what its additions have
 * rounded away. */
typedef struct split_sum {
    lanes coarse, fine;
} split_sum;

static inline split_sum split_begin(double start) {
    const lanes zeros = {0};
    return (split_sum){.coarse = zeros + start};
}

static inline void split_add(split_sum *sum, lanes value) {
    const lanes next = sum->coarse + value;
    sum->fine += value - (next - sum->coarse);
    sum->coarse = next;
}

static inline void split_end(const split_sum *sum, double start, double *terms) {
    terms[0] += add_lanes(sum->coarse - start);
    terms[1] += add_lanes(sum->fine);
}

typedef struct single_sums {
    lanes sum;
    split_sum square;
} single_sums;

/* A single's square is exact, so that it need not be formed to be added and taken away. */
static inline void add_singles(single_sums *sums, single_lanes x) {
    const lanes value = widen(x);
    const lanes next = add_square(value, sums->square.coarse);
    sums->sum += value;
    sums->square.fine += add_square(value, sums->square.coarse - next);
    sums->square.coarse = next;
}

/* What two sums side by side have in lanes `first`, first + step and so on. */
static void single_terms(const single_sums *even, const single_sums *odd, double start, int first,
                         int step, slci_stats_terms *out) {
    const lanes coarse = (even->square.coarse - start) + (odd->square.coarse - start);
    *out = (slci_stats_terms){.sum = {add_some_lanes(even->sum + odd->sum, first, step)},
                              .square = {add_some_lanes(coarse, first, step),
                                         add_some_lanes(even->square.fine + odd->square.fine, first,
                                                        step)}};
}

/* Two sums of each kind, side by side, because an addition takes as long as two of them can begin. The
 * last values of a block, where they are fewer than LANES, have zeros behind them. */
static void terms_f32(const float *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out) {
    single_sums even = {.square = split_begin(rounding->square)};
    single_sums odd = even;
    int64_t i = 0;
    for (; i + INT64_C(2) * LANES <= n; i += INT64_C(2) * LANES) {
        single_lanes loaded[2];
        memcpy(loaded, x + i, sizeof loaded);
        add_singles(&even, loaded[0]);
        add_singles(&odd, loaded[1]);
    }
    for (; i < n; i += LANES) {
        single_lanes loaded = {0};
        memcpy(&loaded, x + i, (size_t)(n - i < LANES ? n - i : LANES) * sizeof *x);
        add_singles(&even, loaded);
    }
    single_terms(&even, &odd, rounding->square, 0, 1, out);
}

static void terms_f64(const double *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out) {
    split_sum sum = split_begin(rounding->sum);
    split_sum square = split_begin(rounding->square);
    split_sum error = split_begin(rounding->error);
    for (int64_t i = 0; i < n; i += LANES) {
        lanes value = {0};
        if (i + LANES <= n) {
            memcpy(&value, x + i, sizeof value);
        } else {
            memcpy(&value, x + i, (size_t)(n - i) * sizeof *x);
        }
        const lanes rounded = value * value;
        split_add(&sum, value);
        split_add(&square, rounded);
        split_add(&error, square_error(value, rounded));
    }
    *out = (slci_stats_terms){.sum = {0}};
    split_end(&sum, rounding->sum, out->sum);
    split_end(&square, rounding->square, out->square);
    split_end(&error, rounding->error, out->square + 2);
}

#include "kernels/stats_simd_pair_body.h"
#include "kernels/stats_simd_take_body.h"

#define SLCI_STATS_SIMD_LOOPS                                                                   \
    .take = take, .doubles = doubles, .guess_bins = guess_bins, .whole_i32 = whole_i32,         \
    .whole_i64 = whole_i64, .whole_u64 = whole_u64, .range_f32 = range_f32,                     \
    .range_f64 = range_f64, .keep_f32 = keep_f32, .keep_f64 = keep_f64, .terms_f32 = terms_f32, \
    .terms_f64 = terms_f64, .terms_c64 = terms_c64, .keys_i32 = keys_i32, .keys_i64 = keys_i64, \
    .keys_f32 = keys_f32, .keys_f64 = keys_f64, .pick_narrow = pick_f32, .pick_wide = pick_f64
