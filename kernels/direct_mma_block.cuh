/* What a block of the CUDA product kernel keeps in shared memory beside its operands, and what of it is
 * the same for all runs.
 *
 *     slci_mma_lines<PLAN>(setup, shared);    all threads, once a tile
 */
#ifndef SLC_KERNELS_DIRECT_MMA_BLOCK_CUH
#define SLC_KERNELS_DIRECT_MMA_BLOCK_CUH

#include <cuda_fp16.h>
#include <stdint.h>

#include "kernels/direct_cuda_block.cuh"
#include "kernels/direct_mma_plan.cuh"

/* Left operands are scaled so that the largest lies at this power of two: fp16 pairs then resolve
 * 2^-39 of the run's largest |wV|. */
#define SLCI_MMA_LEFT_BIT 14

/* Where phases are counted from: pixel (x0, y0) or, of a mirrored tile, its middle; what multiplies w
 * at the tile's centre, and N - n0 at column and row 0 or in the middle. */
typedef struct slci_mma_reference {
    double l, m, w_factor, l_bent, m_bent;
} slci_mma_reference;

/* The columns of a sample, modulo 1 in units of 2^-32 turns: the turn at column 0; from column to
 * column, and in units of 2^-39 what that leaves; and from a column to the 32nd after it. */
typedef struct slci_mma_turns {
    uint32_t first, step, step_rest, step_32;
} slci_mma_turns;

/* One sample as its lines need it, in pieces of 16 bytes, a load each. */
typedef struct __align__(16) slci_mma_sample {
    slci_mma_turns columns;
    float2 a;                          /* w V, scaled */
    float w_plain;                     /* wavelengths */
    uint32_t row_step;                 /* from row to row, in units of 2^-32 turns */
    uint32_t row_turn[SLCI_MMA_WARPS]; /* at the middle of each warp's 16 rows, or its first pair */
}
slci_mma_sample;

/* The same as it lies in the data. */
typedef struct slci_mma_raw {
    double uvw[3];
    float2 vis;
    float weight;
} slci_mma_raw;

/* What is left of N - n0 along the lines of a side without its slope, in units of 1 / c_per_unit: an
 * integer, or the bits of a number in single precision (PLAN::IS_CURVE_WHOLE). */
typedef struct slci_mma_lines_of {
    int curve[SLCI_MMA_TILE];
    float even[SLCI_MMA_TILE / 2]; /* slci_mma_mirror */
    double slope;                  /* a line */
} slci_mma_lines_of;

/* Samples of a run by their number: two blocks that are prepared, and one that is on its way. While a
 * warp prepares one, another's may come. */
template <class PLAN> struct __align__(16) slci_mma_stock {
    char samples[2 * PLAN::BLOCK * PLAN::SAMPLE_BYTES];
    /* For a curve of integers w in units of 1 / w_per_unit. Of lines that mirror each other the bits of
     * the scatter in radians, which columns have and the amplitude is without. */
    int own[2 * PLAN::BLOCK];
    uint16_t list[PLAN::RUN]; /* used samples of the run, in their order */
    slci_mma_raw raw[PLAN::BLOCK < 32 * SLCI_MMA_WARPS ? 2 * PLAN::BLOCK : PLAN::BLOCK];

    __device__ __forceinline__ slci_mma_sample *sample(int k) {
        return (slci_mma_sample *)(samples + k * PLAN::SAMPLE_BYTES);
    }
    __device__ __forceinline__ const slci_mma_sample *sample(int k) const {
        return (const slci_mma_sample *)(samples + k * PLAN::SAMPLE_BYTES);
    }

    /* Behind a sample: the circle from a column to the 32nd after it (PLAN::IS_TURNED). */
    __device__ __forceinline__ float2 *turned(int k) {
        return (float2 *)(sample(k) + 1);
    }
    __device__ __forceinline__ const float2 *turned(int k) const {
        return (const float2 *)(sample(k) + 1);
    }
};

/* The tile's part of the image: its first pixel, numbers from row to row, and how much there is. */
typedef struct slci_mma_target {
    slc_fixed *corner;
    int64_t row_step;
    int n_rows, n_columns;
} slci_mma_target;

/* Beside operands and stock, which come after it in dynamic shared memory. */
typedef struct slci_mma_shared {
    slci_mma_lines_of columns, rows;
    double w_per_unit, c_per_unit;    /* slci_mma_units */
    double curve_middle;              /* of the curve; the reference has it */
    uint32_t curve_unit;              /* in 2^-32 turns, for a curve in single precision */
    float column_bend[SLCI_MMA_TILE]; /* slci_mma_bends */
    float row_bend[3][SLCI_MMA_TILE];
    slc_direct_tile tile;
    slci_mma_reference reference;
    slci_mma_target target;
    slci_direct_run run;
    bool is_inside; /* the whole tile is within the horizon */
    int n_used;
    int left_bits;                  /* of the scale */
    double scale;                   /* brings the run's largest |wV| below 2^SLCI_MMA_LEFT_BIT */
    int warp_count[SLCI_MMA_WARPS]; /* of used samples */
    int warp_exponent[SLCI_MMA_WARPS];
} slci_mma_shared;

static __device__ __forceinline__ uint32_t slci_mma_address(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* The same in lines of operands, 16 bytes each. */
static __device__ __forceinline__ uint32_t slci_mma_line(const void *shared) {
    return slci_mma_address(shared) / 16;
}

/* 1/n - 1/n0 without its cancellation, for n² = n0² - (square - square0). */
static __device__ inline double slci_mma_bend(double n0, double square, double square0, double n) {
    return (square - square0) / (n * n0 * (n + n0));
}

/* The largest |f| of the columns between the tile's first and the last that is as far from its centre;
 * 1 where f is 0 in all of them, as in a tile of one column. */
static __device__ inline double slci_mma_largest_bend(const slci_mma_shared *shared,
                                                      double l_first) {
    const slc_direct_tile *tile = &shared->tile;
    const double l0 = tile->l0;
    const double l_last = 2.0 * l0 - l_first;
    const double far = fmax(fabs(l_first), fabs(l_last));
    const double near = l_first * l_last <= 0.0 ? 0.0 : fmin(fabs(l_first), fabs(l_last));
    const double f_far = slci_mma_bend(tile->n0, far * far, l0 * l0, slci_direct_n(far, tile->m0));
    const double f_near =
        slci_mma_bend(tile->n0, l0 * l0, near * near, slci_direct_n(near, tile->m0));
    const double largest = fmax(f_far, f_near);
    return largest > 0.0 ? largest : 1.0;
}

/* f̂ of each column, at most 1 so that fp16 holds it, and for each row the coefficients of its powers
 * in -2πc (direct_bent.h). All threads. */
static __device__ inline void slci_mma_bends(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    const double l0 = tile->l0;
    const double m0 = tile->m0;
    const double n0 = tile->n0;
    const double largest = slci_mma_largest_bend(shared, slci_direct_l(geometry, tile->x0));
    for (int p = (int)threadIdx.x; p < 2 * SLCI_MMA_TILE; p += (int)blockDim.x) {
        const int at = p % SLCI_MMA_TILE;
        if (p < SLCI_MMA_TILE) {
            const double l = slci_direct_l(geometry, tile->x0 + at);
            const double f = slci_mma_bend(n0, l * l, l0 * l0, slci_direct_n(l, m0));
            shared->column_bend[at] = (float)(f / largest);
        } else {
            const double m = slci_direct_m(geometry, tile->y0 + at);
            const double g = slci_mma_bend(n0, m * m, m0 * m0, slci_direct_n(l0, m));
            const double v = 1.0 + n0 * g;
            const double bend = 6.283185307179586 * n0 * n0 * n0 * largest * g;
            const double both = 0.5 * n0 * n0 * largest * g;
            shared->row_bend[0][at] = (float)bend;
            shared->row_bend[1][at] = (float)(bend * both * (v + 2.0));
            shared->row_bend[2][at] =
                (float)(bend * both * n0 * largest * (v * v * v + 2.0 * v * v - 2.0));
        }
    }
}

/* The curve's bound, over the lines that lie in the picture, as the choice of terms has it. */
static __device__ inline double slci_mma_most_curve(const slc_direct_setup *setup,
                                                    const slc_direct_tile *tile) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const double scale = 0.5 * geometry->scale_rad;
    const double half_l =
        scale * (double)(slci_direct_extent(tile->x0, SLCI_MMA_TILE, geometry->nx) - 1);
    const double half_m =
        scale * (double)(slci_direct_extent(tile->y0, SLCI_MMA_TILE, geometry->ny) - 1);
    return slci_direct_curve(fmax(half_l, half_m),
                             slci_direct_n(fabs(tile->l0) + half_l, fabs(tile->m0) + half_m));
}

/* Units of the curve and of what it is multiplied by.
 *
 * Integers: powers of two such that w has 30 bits and the curve, whose w is below 2 turns, at most 31;
 * their product is in units of 2^(SLCI_CUDA_CURVED_SHIFT - 64).
 *
 * Single precision: whole units of 2^-32 turns such that w times the curve has 22 bits. N - n0 is
 * nowhere below the line from end to end, so the curve lies between 0 and its bound: half of that goes
 * to the reference, and what is left is half as large. */
template <class PLAN>
static __device__ inline void slci_mma_units(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    if (PLAN::IS_MIRRORED) {
        const slci_direct_sides whole =
            slci_direct_whole_sides(&setup->geometry, shared->tile.x0, shared->tile.y0);
        const double most = fmax(slci_direct_odd(whole.half_l, whole.far_l, whole.n),
                                 slci_direct_odd(whole.half_m, whole.far_m, whole.n));
        shared->curve_middle = 0.0;
        shared->curve_unit = (uint32_t)(setup->max_w * most * 0x1p10) + 1u;
        shared->c_per_unit = 0x1p32 / shared->curve_unit;
    } else if (PLAN::IS_CURVE_WHOLE) {
        const int exponent = setup->max_w > 0.0 ? ilogb(setup->max_w) + 1 - 30 : 0;
        shared->w_per_unit = ldexp(1.0, -exponent);
        shared->c_per_unit = ldexp(1.0, 64 - SLCI_CUDA_CURVED_SHIFT + exponent);
        shared->curve_middle = 0.0;
    } else {
        shared->curve_middle =
            setup->max_w > 0.0 ? 0.5 * slci_mma_most_curve(setup, &shared->tile) : 0.0;
        shared->curve_unit = (uint32_t)(setup->max_w * shared->curve_middle * 0x1p10) + 1u;
        shared->c_per_unit = 0x1p32 / shared->curve_unit;
    }
}

/* N - n0 at line `at` of the columns or rows. */
static __device__ inline double slci_mma_bent(const slc_direct_setup *setup,
                                              const slc_direct_tile *tile, bool is_column, int at) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const double l = is_column ? slci_direct_l(geometry, tile->x0 + at) : tile->l0;
    const double m = is_column ? tile->m0 : slci_direct_m(geometry, tile->y0 + at);
    return slci_direct_n_minus_1(l, m) - slci_direct_n_minus_1(tile->l0, tile->m0);
}

/* The same at both lines of a pair: before the middle (x) and behind it. */
static __device__ inline double2 slci_mma_bent_pair(const slc_direct_setup *setup,
                                                    const slc_direct_tile *tile, bool is_column,
                                                    int pair) {
    return make_double2(slci_mma_bent(setup, tile, is_column, slci_mma_pair_line(pair, 1)),
                        slci_mma_bent(setup, tile, is_column, slci_mma_pair_line(pair, 0)));
}

/* Fills in slope, curve and reference of one side, at line `at` of it. The slope is that of the lines
 * that lie in the picture; those beyond it may have any phase. */
template <class PLAN>
static __device__ inline void slci_mma_bend_line(const slc_direct_setup *setup,
                                                 slci_mma_shared *shared, bool is_column, int at) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    const int64_t start = is_column ? tile->x0 : tile->y0;
    const int last =
        (int)slci_direct_extent(start, SLCI_MMA_TILE, is_column ? geometry->nx : geometry->ny) - 1;
    const double first = slci_mma_bent(setup, tile, is_column, 0);
    const double rise = slci_mma_bent(setup, tile, is_column, last) - first;
    const double slope = last > 0 ? rise / last : 0.0;
    slci_mma_lines_of *lines = is_column ? &shared->columns : &shared->rows;
    const double curve =
        (slci_mma_bent(setup, tile, is_column, at) - first - slope * at - shared->curve_middle) *
        shared->c_per_unit;
    lines->curve[at] = PLAN::IS_CURVE_WHOLE ? __double2int_rn(curve) : __float_as_int((float)curve);
    if (at == 0) {
        lines->slope = slope;
        (is_column ? shared->reference.l_bent : shared->reference.m_bent) =
            first + shared->curve_middle;
    }
}

/* The same for the pair of lines `pair` before and behind the two in the middle. What they have in
 * common of N - n0 is counted from its middle, which goes to the reference, in radians a wavelength;
 * of what differs the slope from end to end is taken. The picture need not have all lines of a pair. */
static __device__ inline void slci_mma_mirror(const slc_direct_setup *setup,
                                              slci_mma_shared *shared, bool is_column, int pair) {
    const double2 ends = slci_mma_bent_pair(setup, &shared->tile, is_column, SLCI_MMA_TILE / 2 - 1);
    const double2 middles = slci_mma_bent_pair(setup, &shared->tile, is_column, 0);
    const double2 own = slci_mma_bent_pair(setup, &shared->tile, is_column, pair);
    const double slope = (ends.y - ends.x) / (SLCI_MMA_TILE - 1);
    const double base = 0.25 * (ends.x + ends.y + middles.x + middles.y);
    slci_mma_lines_of *lines = is_column ? &shared->columns : &shared->rows;
    lines->even[pair] = (float)(6.283185307179586 * (0.5 * (own.x + own.y) - base));
    lines->curve[pair] = __float_as_int(
        (float)((0.5 * (own.y - own.x) - slope * (pair + 0.5)) * shared->c_per_unit));
    if (pair == 0) {
        lines->slope = slope;
        (is_column ? shared->reference.l_bent : shared->reference.m_bent) = base;
    }
}

/* Fills in what phases and curves of columns and rows are counted from; all threads. */
template <class PLAN>
static __device__ inline void slci_mma_lines(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    if (threadIdx.x == 0) {
        const double middle = 0.5 * (SLCI_MMA_TILE - 1); /* in lines from the first */
        const double from_first = PLAN::IS_MIRRORED ? middle * geometry->scale_rad : 0.0;
        shared->reference.l = slci_direct_l(geometry, tile->x0) - from_first;
        shared->reference.m = slci_direct_m(geometry, tile->y0) + from_first;
        shared->reference.w_factor = slci_direct_w_factor(setup, tile->l0, tile->m0);
        slci_mma_units<PLAN>(setup, shared);
    }
    __syncthreads();
    for (int p = (int)threadIdx.x; p < 2 * PLAN::LINES; p += (int)blockDim.x) {
        if (PLAN::IS_MIRRORED) {
            slci_mma_mirror(setup, shared, p < PLAN::LINES, p % PLAN::LINES);
        } else {
            slci_mma_bend_line<PLAN>(setup, shared, p < PLAN::LINES, p % PLAN::LINES);
        }
    }
}

#endif
