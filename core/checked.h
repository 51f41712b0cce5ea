/* Arithmetic on sizes that refuses to overflow.
 * A product or sum that sizes memory goes through these; a false return means that the exact
 * result does not fit int64_t, and then nothing is written.
 *
 *     int64_t bytes;
 *     if (!slc_checked_mul(rows, row_bytes, &bytes)) { return SLC_FAIL(...); }
 */
#ifndef SLC_CORE_CHECKED_H
#define SLC_CORE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool slc_checked_mul(int64_t a, int64_t b, int64_t *product) {
    int64_t exact = 0;
    if (__builtin_mul_overflow(a, b, &exact)) {
        return false;
    }
    *product = exact;
    return true;
}

static inline bool slc_checked_add(int64_t a, int64_t b, int64_t *sum) {
    int64_t exact = 0;
    if (__builtin_add_overflow(a, b, &exact)) {
        return false;
    }
    *sum = exact;
    return true;
}

/* ⌈a / b⌉ for a >= 0, b > 0. */
static inline int64_t slc_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/* The next multiple of `unit` at or above `value`; both non-negative, `unit` positive. The caller
 * knows that value + unit fits. */
static inline int64_t slc_round_up(int64_t value, int64_t unit) {
    return slc_ceil_div(value, unit) * unit;
}

static inline int64_t slc_min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t slc_max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Of any value but INT64_MIN. */
static inline int64_t slc_abs_i64(int64_t value) {
    return value < 0 ? -value : value;
}

#endif
