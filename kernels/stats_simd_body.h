/* The loops over a block, included once by each instruction set's file. Integer loops are left to the
 * compiler; sums of doubles are written in vectors, since it may not reorder them. */
#include <string.h>

#include "kernels/stats_internal.h"

#define LANES 8
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef float single_lanes __attribute__((vector_size(4 * LANES)));

/* x² = square + error exactly; what includes this file defines it, as its processor does it best. */
static inline void square_error(const lanes *x, const lanes *square, lanes *error);

static double add_lanes(const lanes *sum) {
    double total = 0;
    for (int l = 0; l < LANES; l++) {
        total += (*sum)[l];
    }
    return total;
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
static inline void add_square(uint64_t size, slci_stats_whole *sums) {
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
        add_square(x[i] < 0 ? 0 - bits : bits, &sums);
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
        add_square(x[i], &sums);
    }
    sums.lowest = (int64_t)lowest;
    sums.highest = (int64_t)highest;
    *out = sums;
}

/* ---- ranges of floats --------------------------------------------------------------------------- */

/* Zero wraps to the largest number when one is taken from it, and so is never the smallest. */
static void range_f32(const float *x, int64_t n, slci_stats_range *out) {
    uint32_t largest = 0;
    uint32_t smallest = UINT32_MAX;
    int32_t lowest = INT32_MAX;
    int32_t highest = INT32_MIN;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const uint32_t size = bits & 0x7fffffffu;
        const int32_t order = (int32_t)bits < 0 ? -(int32_t)size : (int32_t)size;
        largest = size > largest ? size : largest;
        smallest = size - 1 < smallest ? size - 1 : smallest;
        lowest = order < lowest ? order : lowest;
        highest = order > highest ? order : highest;
    }
    *out = (slci_stats_range){.largest = largest,
                              .smallest = smallest == UINT32_MAX ? UINT64_MAX : smallest + 1,
                              .lowest = lowest,
                              .highest = highest};
}

static void range_f64(const double *x, int64_t n, slci_stats_range *out) {
    uint64_t largest = 0;
    uint64_t smallest = UINT64_MAX;
    int64_t lowest = INT64_MAX;
    int64_t highest = INT64_MIN;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const uint64_t size = bits & 0x7fffffffffffffffu;
        const int64_t order = (int64_t)bits < 0 ? -(int64_t)size : (int64_t)size;
        largest = size > largest ? size : largest;
        smallest = size - 1 < smallest ? size - 1 : smallest;
        lowest = order < lowest ? order : lowest;
        highest = order > highest ? order : highest;
    }
    *out = (slci_stats_range){.largest = largest,
                              .smallest = smallest == UINT64_MAX ? UINT64_MAX : smallest + 1,
                              .lowest = lowest,
                              .highest = highest};
}

/* ---- sums of floats ----------------------------------------------------------------------------- */

/* Splits `value` into a multiple of the rounding's unit and the rest, and adds both up. */
static inline void add_split(const lanes *value, double rounding, lanes *coarse, lanes *fine) {
    const lanes high = (*value + rounding) - rounding;
    *coarse += high;
    *fine += *value - high;
}

/* The last values of a block, where they are fewer than LANES, have zeros behind them. */
static void terms_f32(const float *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out) {
    const double to_square = rounding->square;
    lanes sum = {0};
    lanes coarse = {0};
    lanes fine = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        single_lanes loaded = {0};
        if (i + LANES <= n) {
            memcpy(&loaded, x + i, sizeof loaded);
        } else {
            memcpy(&loaded, x + i, (size_t)(n - i) * sizeof *x);
        }
        const lanes value = __builtin_convertvector(loaded, lanes);
        const lanes square = value * value;
        sum += value;
        add_split(&square, to_square, &coarse, &fine);
    }
    *out = (slci_stats_terms){.sum = {add_lanes(&sum)},
                              .square = {add_lanes(&coarse), add_lanes(&fine)}};
}

static void terms_f64(const double *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out) {
    const slci_stats_rounding to = *rounding;
    lanes sum[2] = {{0}};
    lanes square[4] = {{0}};
    for (int64_t i = 0; i < n; i += LANES) {
        lanes value = {0};
        if (i + LANES <= n) {
            memcpy(&value, x + i, sizeof value);
        } else {
            memcpy(&value, x + i, (size_t)(n - i) * sizeof *x);
        }
        const lanes high = value * value;
        lanes error;
        square_error(&value, &high, &error);
        add_split(&value, to.sum, &sum[0], &sum[1]);
        add_split(&high, to.square, &square[0], &square[1]);
        add_split(&error, to.error, &square[2], &square[3]);
    }
    *out = (slci_stats_terms){.sum = {add_lanes(&sum[0]), add_lanes(&sum[1])},
                              .square = {add_lanes(&square[0]), add_lanes(&square[1]),
                                         add_lanes(&square[2]), add_lanes(&square[3])}};
}

#define SLCI_STATS_SIMD_LOOPS                                               \
    .whole_i32 = whole_i32, .whole_i64 = whole_i64, .whole_u64 = whole_u64, \
    .range_f32 = range_f32, .range_f64 = range_f64, .terms_f32 = terms_f32, .terms_f64 = terms_f64
