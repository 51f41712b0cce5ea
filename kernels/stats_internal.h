/* What the host's kernel for statistics is made of: blocks of values, and the loops over them, which
 * are compiled once per instruction set. Internal to kernels/stats_*.
 */
#ifndef SLC_KERNELS_STATS_INTERNAL_H
#define SLC_KERNELS_STATS_INTERNAL_H

#include <stdbool.h>

#include "kernels/stats_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const slc_stats_kernel slci_stats_host;

/* Values that are looked at together. The sums of a block are exact in double precision, for which
 * their number counts. */
#define SLCI_STATS_BLOCK 1024

/* A block's values are of one of these; smaller integers are widened. */
typedef enum slci_stats_class {
    SLCI_STATS_I32, /* i8 u8 i16 u16 i32 */
    SLCI_STATS_I64, /* u32 i64 */
    SLCI_STATS_U64,
    SLCI_STATS_F32, /* f16 f32 */
    SLCI_STATS_F64
} slci_stats_class;

/* What a block of integers sums up to: ranges, Σ low and Σ high half of the values, and of the squares
 * the same of their parts: |x| = a + 2^32 b gives a², ab and b². */
typedef struct slci_stats_whole {
    int64_t lowest, highest; /* of u64: the bits */
    uint64_t low;
    int64_t high;
    uint64_t square_low[3], square_high[3];
} slci_stats_whole;

/* Of a block of floats: bits of the smallest absolute value that is not 0 (all ones where there is
 * none), and the ends of the range as signed numbers that order as the floats do, NaN beyond the
 * infinities, -0 just below 0. */
typedef struct slci_stats_range {
    uint64_t smallest;
    int64_t lowest, highest;
} slci_stats_range;

/* Floats whose absolute values' bits are from `least` to below `limit` are kept, and `other` is put for
 * the rest. */
typedef struct slci_stats_kept {
    uint64_t least, limit;
    double other;
} slci_stats_kept;

/* Which values are taken out of elements. */
typedef struct slci_stats_taking {
    slc_dtype dtype;
    slc_stats_part part;
    bool is_joint; /* parts of complex numbers are NaN where another one is */
} slci_stats_taking;

/* Of bins: where the first one begins, how many there are to a unit, the last one's number. */
typedef struct slci_stats_spacing {
    double first, per_unit, last;
} slci_stats_spacing;

/* Where sums begin, whose additions round to multiples of 2^-52 of that, ties to even. */
typedef struct slci_stats_rounding {
    double sum, square, error;
} slci_stats_rounding;

/* Terms of sums that are exact if all values lie within the limits of kernels/stats_block.c. */
#define SLCI_STATS_TERMS 4
typedef struct slci_stats_terms {
    double sum[SLCI_STATS_TERMS];    /* they add up to Σx */
    double square[SLCI_STATS_TERMS]; /* and to Σx² */
} slci_stats_terms;

/* Of complex numbers: the ends of the range of re² + im², rounded once. */
typedef struct slci_stats_sizes {
    double least, most;
} slci_stats_sizes;

typedef struct slci_stats_simd {
    const char *name;
    bool (*is_supported)(void);
    /* The values of [n] elements: the elements themselves where they can be taken as they are, else
     * `out`, which has room for [n] doubles. */
    const void *(*take)(const slci_stats_taking *taking, const void *elements, int64_t n,
                        void *out);
    /* The values as doubles, `out` [n] or the values themselves; where doubles about lie among bins. */
    const double *(*doubles)(slci_stats_class class_of, const void *values, int64_t n, double *out);
    void (*guess_bins)(const double *values, int64_t n, const slci_stats_spacing *spacing,
                       int32_t *bins);
    void (*whole_i32)(const int32_t *x, int64_t n, slci_stats_whole *out);
    void (*whole_i64)(const int64_t *x, int64_t n, slci_stats_whole *out);
    void (*whole_u64)(const uint64_t *x, int64_t n, slci_stats_whole *out);
    void (*range_f32)(const float *x, int64_t n, slci_stats_range *out);
    void (*range_f64)(const double *x, int64_t n, slci_stats_range *out);
    /* How many are not kept; `out` [n] may be x. */
    int64_t (*keep_f32)(const float *x, int64_t n, const slci_stats_kept *kept, float *out);
    int64_t (*keep_f64)(const double *x, int64_t n, const slci_stats_kept *kept, double *out);
    void (*terms_f32)(const float *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out);
    void (*terms_f64)(const double *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out);
    /* Terms of real and imaginary parts; pairs [n, 2], within the same limits together. */
    void (*terms_c64)(const float *pairs, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms out[2], slci_stats_sizes *sizes);
    /* Keys [n]; how many values are NaN, beyond the infinity with those bits. */
    void (*keys_i32)(const int32_t *x, int64_t n, uint32_t bias, uint32_t *keys);
    void (*keys_i64)(const uint64_t *x, int64_t n, uint64_t bias, uint64_t *keys);
    int64_t (*keys_f32)(const float *x, int64_t n, uint32_t infinity, uint32_t *keys);
    int64_t (*keys_f64)(const double *x, int64_t n, uint64_t infinity, uint64_t *keys);
    /* Where the keys from `first` to first + width lie, rising [n]; how many there are. */
    int64_t (*pick_narrow)(const uint32_t *keys, int64_t n, uint32_t first, uint32_t width,
                           int16_t *picked);
    int64_t (*pick_wide)(const uint64_t *keys, int64_t n, uint64_t first, uint64_t width,
                         int16_t *picked);
} slci_stats_simd;

extern const slci_stats_simd slci_stats_simd_avx512;
extern const slci_stats_simd slci_stats_simd_avx2;
extern const slci_stats_simd slci_stats_simd_plain;

/* All of them, the best one first. */
#define SLCI_STATS_SETS 3
extern const slci_stats_simd *const slci_stats_sets[SLCI_STATS_SETS];

/* The best set that this processor has. */
const slci_stats_simd *slci_stats_simd_get(void);

/* ---- a block ------------------------------------------------------------------------------------ */

/* Results under way. Places are ordinals in the tile, plus one. */
typedef struct slci_stats_partial {
    uint64_t word[SLC_STATS_WORDS];
} slci_stats_partial;

typedef struct slci_stats_block {
    slci_stats_class class_of;
    uint64_t bias; /* of integers: the smallest of their type */
    const void *values;
    int64_t n;       /* 1 to SLCI_STATS_BLOCK */
    int64_t ordinal; /* of the first one */
    bool has_sums;   /* they are wanted; */
    bool has_range;  /* so are its ends and where they are */
} slci_stats_block;

/* Adds a block that comes after all that were added before. */
void slci_stats_add_block(const slci_stats_simd *simd, const slci_stats_block *block,
                          slci_stats_partial *partial);

/* The same of complex numbers, pairs [n, 2]: the sums of their real and imaginary parts, and the range
 * of their absolute values. False, and nothing is added, where some are not finite or too small to be
 * summed with the others: then part by part. */
bool slci_stats_add_pairs(const slci_stats_simd *simd, const float *pairs, int64_t n,
                          int64_t ordinal, slci_stats_partial partial[3]);

/* The keys of a block; NaN have those beyond the infinities. */
typedef struct slci_stats_keys {
    bool is_wide;
    int64_t n_nan;
    uint64_t below, above; /* the keys of numbers, infinities included, lie between these two */
    union {
        uint32_t narrow[SLCI_STATS_BLOCK];
        uint64_t wide[SLCI_STATS_BLOCK];
    } key;
} slci_stats_keys;

void slci_stats_take_keys(const slci_stats_simd *simd, const slci_stats_block *block,
                          slci_stats_keys *keys);

static inline uint64_t slci_stats_key_at(const slci_stats_keys *keys, int64_t i) {
    return keys->is_wide ? keys->key.wide[i] : keys->key.narrow[i];
}

/* Where the first n keys that are numbers from `first` to `last` lie, rising [n]; how many. */
int64_t slci_stats_pick(const slci_stats_simd *simd, const slci_stats_keys *keys, int64_t n,
                        uint64_t first, uint64_t last, int16_t *picked);

#ifdef __cplusplus
}
#endif
#endif
