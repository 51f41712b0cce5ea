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

/* Of a block of floats: bits of the largest absolute value and of the smallest one that is not 0 (all
 * ones where there is none), and the ends of the range as signed numbers that order as the floats do,
 * -0 being 0. */
typedef struct slci_stats_range {
    uint64_t largest, smallest;
    int64_t lowest, highest;
} slci_stats_range;

/* A number that rounds when it is added and taken away again: to multiples of 2^-52 of it, ties to
 * even. */
typedef struct slci_stats_rounding {
    double sum, square, error;
} slci_stats_rounding;

/* Terms of sums that are exact if all values lie within the limits of kernels/stats_block.c. */
#define SLCI_STATS_TERMS 4
typedef struct slci_stats_terms {
    double sum[SLCI_STATS_TERMS];    /* they add up to Σx */
    double square[SLCI_STATS_TERMS]; /* and to Σx² */
} slci_stats_terms;

typedef struct slci_stats_simd {
    const char *name;
    bool (*is_supported)(void);
    void (*whole_i32)(const int32_t *x, int64_t n, slci_stats_whole *out);
    void (*whole_i64)(const int64_t *x, int64_t n, slci_stats_whole *out);
    void (*whole_u64)(const uint64_t *x, int64_t n, slci_stats_whole *out);
    void (*range_f32)(const float *x, int64_t n, slci_stats_range *out);
    void (*range_f64)(const double *x, int64_t n, slci_stats_range *out);
    void (*terms_f32)(const float *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out);
    void (*terms_f64)(const double *x, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms *out);
} slci_stats_simd;

extern const slci_stats_simd slci_stats_simd_avx512;
extern const slci_stats_simd slci_stats_simd_avx2;
extern const slci_stats_simd slci_stats_simd_plain;

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
} slci_stats_block;

/* Adds a block that comes after all that were added before. */
void slci_stats_add_block(const slci_stats_simd *simd, const slci_stats_block *block,
                          slci_stats_partial *partial);

/* The keys of a block [n], and which of its values are NaN; how many are. */
int64_t slci_stats_keys(const slci_stats_block *block, uint64_t *keys, uint8_t *is_nan);

/* The values as doubles [n]. */
void slci_stats_doubles(const slci_stats_block *block, double *values);

#ifdef __cplusplus
}
#endif
#endif
