/* Where the elements of one tile lie and what their keys are, for both kernels. Internal to
 * kernels/stats_*.
 *
 * The elements of a tile are counted in C order by an ordinal. Since a tile is a box, that order is
 * also the array's. A tile at an edge is shorter than a full one and its rows have gaps between them:
 * the trailing dimensions, up to the first that is shorter, form a run without one.
 *
 *     ordinal = row · n_run + i      element = Σ index of row in dimension d · stride[d] + i
 */
#ifndef SLC_KERNELS_STATS_TILE_H
#define SLC_KERNELS_STATS_TILE_H

#include <math.h>

#include "kernels/stats_exact.h"
#include "kernels/stats_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strides are in elements; `tile` is read where the kernel runs. */
typedef struct slci_stats_view {
    const slc_tile *tile;
    const void *data;
    const double *edges;
    uint64_t *sums, *digits, *bins;
    void *work;
    slc_dtype dtype;
    int rank;
    int64_t shape[SLC_MAX_RANK]; /* of the array */
    int64_t full[SLC_MAX_RANK];  /* of a full tile */
    int axis_of[SLC_MAX_RANK];
    int n_parts;
    slc_stats_part parts[SLC_STATS_MOST_PARTS];
    int64_t n_bins;
    slc_stats_step step;
} slci_stats_view;

void slci_stats_view_init(const slc_stats_setup *setup, const slc_tile_arguments *arguments,
                          slci_stats_view *out);

/* Which words of a part's results are wanted (kernels/stats_kernel.h). */
static SLC_HOST_DEVICE inline bool slci_stats_has_sums(const slci_stats_view *view, int part) {
    return view->n_parts == 1 || part < view->n_parts - 1;
}

static SLC_HOST_DEVICE inline bool slci_stats_has_range(const slci_stats_view *view, int part) {
    return part == view->n_parts - 1;
}

/* What is known of a tile once its description is there. */
typedef struct slci_stats_counts {
    int64_t n;     /* elements */
    int64_t n_run; /* of them without a gap */
    int n_outer;   /* dimensions before a run's */
    int64_t extent[SLC_MAX_RANK];
} slci_stats_counts;

static SLC_HOST_DEVICE inline slci_stats_counts slci_stats_count(const slci_stats_view *view) {
    slci_stats_counts counts;
    counts.n = 1;
    counts.n_run = 1;
    counts.n_outer = view->rank;
    bool is_run = true;
    for (int d = view->rank - 1; d >= 0; d--) {
        const int axis = view->axis_of[d];
        counts.extent[d] = axis < 0 ? view->shape[d] : view->tile->extent[axis];
        counts.n *= counts.extent[d];
        if (is_run) {
            counts.n_run *= counts.extent[d];
            counts.n_outer = d;
            is_run = counts.extent[d] == view->full[d];
        }
    }
    return counts;
}

/* Where the run that is row `row` begins in the tile's buffer. */
static SLC_HOST_DEVICE inline int64_t slci_stats_row(const slci_stats_view *view,
                                                     const slci_stats_counts *counts, int64_t row) {
    int64_t at = 0;
    int64_t stride = 1;
    for (int d = view->rank - 1; d >= counts->n_outer; d--) {
        stride *= view->full[d];
    }
    for (int d = counts->n_outer - 1; d >= 0; d--) {
        at += row % counts->extent[d] * stride;
        row /= counts->extent[d];
        stride *= view->full[d];
    }
    return at;
}

/* The flat index in the array of the element with this ordinal. */
static SLC_HOST_DEVICE inline int64_t
slci_stats_flat(const slci_stats_view *view, const slci_stats_counts *counts, int64_t ordinal) {
    int64_t flat = 0;
    int64_t stride = 1;
    for (int d = view->rank - 1; d >= 0; d--) {
        const int axis = view->axis_of[d];
        const int64_t origin = axis < 0 ? 0 : view->tile->origin[axis];
        flat += (origin + ordinal % counts->extent[d]) * stride;
        ordinal /= counts->extent[d];
        stride *= view->shape[d];
    }
    return flat;
}

/* ---- keys --------------------------------------------------------------------------------------- */

static SLC_HOST_DEVICE inline uint32_t slci_stats_key_f32(uint32_t bits) {
    const uint32_t sign = 0x80000000u;
    return bits == sign ? sign : (bits & sign) != 0 ? ~bits : bits | sign;
}

static SLC_HOST_DEVICE inline uint64_t slci_stats_key_f64(uint64_t bits) {
    const uint64_t sign = 0x8000000000000000ull;
    return bits == sign ? sign : (bits & sign) != 0 ? ~bits : bits | sign;
}

/* The smallest number of an integer type, as 64 bits. */
static SLC_HOST_DEVICE inline uint64_t slci_stats_bias(slc_dtype dtype) {
    switch (dtype) {
    case SLC_I8:
        return (uint64_t)(int64_t)INT8_MIN;
    case SLC_I16:
        return (uint64_t)(int64_t)INT16_MIN;
    case SLC_I32:
        return (uint64_t)(int64_t)INT32_MIN;
    case SLC_I64:
        return (uint64_t)INT64_MIN;
    default:
        return 0;
    }
}

/* Which group of the step a key is in; -1: in none. Their number is small. */
static SLC_HOST_DEVICE inline int slci_stats_group(const slc_stats_step *step, uint64_t key) {
    const int above = step->shift + step->digit_bits;
    const uint64_t prefix = above < 64 ? key >> above : 0;
    int g = 0;
    while (g < step->n_groups && step->group[g] < prefix) {
        g++;
    }
    return g < step->n_groups && step->group[g] == prefix ? g : -1;
}

static SLC_HOST_DEVICE inline int64_t slci_stats_digit(const slc_stats_step *step, uint64_t key) {
    return (int64_t)(key >> step->shift & ((UINT64_C(1) << step->digit_bits) - 1));
}

/* ---- values ------------------------------------------------------------------------------------- */

/* The double or single of the same value as 16 bits of half precision. */
static SLC_HOST_DEVICE inline float slci_stats_half(uint16_t half) {
    /* A single's exponent begins 112 further down than a half's, and where a half's is all ones, for
     * infinities and NaN, a single's goes on for 112 more. */
    const uint32_t further = 112u << 23;
    const uint32_t size = (uint32_t)(half & 0x7fffu) << 13;
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t bits = size + further + (size >= 0x0f800000u ? further : 0u);
    /* Subnormal halves are what they are above 2^-14, as the single 2^-14 + half has it. No number here
     * is a subnormal single, with which processors take a hundred times as long. */
    const uint32_t raised_bits = size + further + 0x00800000u;
    float raised;
    memcpy(&raised, &raised_bits, sizeof raised);
    raised -= 0x1p-14f;
    uint32_t small_bits;
    memcpy(&small_bits, &raised, sizeof small_bits);
    bits = size < 0x00800000u ? small_bits : bits;
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* a² + b² with three roundings: a compiler that fuses two of them would give other bits. */
#if defined(__CUDACC__)
static __device__ inline double slci_stats_squares(double a, double b) {
    return __dadd_rn(__dmul_rn(a, a), __dmul_rn(b, b));
}
#define SLCI_STATS_HERE static __device__ inline
#else
static inline double slci_stats_squares(double a, double b) {
    return a * a + b * b;
}
#define SLCI_STATS_HERE static inline
#endif

/* 2^exponent, from -1022 to 1023. */
static SLC_HOST_DEVICE inline double slci_stats_power(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* √(re² + im²); NaN where one of them is, else infinite where one of them is. */
SLCI_STATS_HERE double slci_stats_abs(double re, double im) {
    const double a = fabs(re);
    const double b = fabs(im);
    if (isnan(a) || isnan(b)) {
        return (double)NAN;
    }
    if (isinf(a) || isinf(b)) {
        return (double)INFINITY;
    }
    const double larger = a < b ? b : a;
    if (!(larger >= 0x1p-400 && larger <= 0x1p400) && larger > 0) {
        const double up = slci_stats_power(larger < 1 ? 600 : -600);
        return sqrt(slci_stats_squares(a * up, b * up)) * slci_stats_power(larger < 1 ? -600 : 600);
    }
    return sqrt(slci_stats_squares(a, b));
}

/* The place of a value among the bins: 0 below, 1 … n_bins, n_bins + 1 above. `scale` is bins per
 * unit; it only says where to begin to look. */
static SLC_HOST_DEVICE inline int64_t slci_stats_bin(const double *edges, int64_t n_bins,
                                                     double scale, double value) {
    if (!(value >= edges[0])) {
        return 0;
    }
    if (value > edges[n_bins]) {
        return n_bins + 1;
    }
    const double guess = (value - edges[0]) * scale;
    int64_t bin = guess < (double)n_bins ? (int64_t)guess : n_bins - 1;
    while (bin > 0 && value < edges[bin]) {
        bin--;
    }
    while (bin < n_bins - 1 && value >= edges[bin + 1]) {
        bin++;
    }
    return bin + 1;
}

#ifdef __cplusplus
}
#endif
#endif
