/* The makers of the CUDA product kernel: from a run's samples to operands of the tensor cores.
 * A warp makes one chunk, or two, of a stage's 8, for all lines, so that it need not wait for others.
 *
 *     slci_mma_prepare(a, shared, chunk, stage);            every SLCI_MMA_AHEAD stages
 *     slci_mma_make<PRODUCTS, TERMS>(shared, chunk, stage, operands);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_MAKE_CUH
#define SLC_KERNELS_DIRECT_MMA_MAKE_CUH

#include "kernels/direct_cuda_sample.cuh"
#include "kernels/direct_mma_block.cuh"

/* sin x = x + x³ (S1 + …) and cos x = 1 + x² (C1 + …) for |x| <= π/4, in powers of x²: within 1.8e-9
 * and 1.1e-10, by Remez's exchange, each coefficient rounded before the next is found. */
#define SLCI_MMA_S1 -0x1.55554p-3f
#define SLCI_MMA_S2 0x1.1105bep-7f
#define SLCI_MMA_S3 -0x1.98dd16p-13f
#define SLCI_MMA_C1 -0.5f
#define SLCI_MMA_C2 0x1.55554ap-5f
#define SLCI_MMA_C3 -0x1.6c0c1ap-10f
#define SLCI_MMA_C4 0x1.99e0eep-16f

/* A fraction of a turn that depends on the sample's place in its run alone: added to columns and
 * taken from rows, so that equal samples are not rounded alike. The multipliers are those of the
 * widely used 32-bit finalizer of MurmurHash3. */
static __device__ inline double slci_mma_scatter(int k) {
    uint32_t h = (uint32_t)k * 0x9e3779b9u + 0x7f4a7c15u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (double)(h ^ (h >> 16)) * 0x1p-32;
}

/* The chunk's samples of stages `stage` to stage + 7, one a lane; those past the run's end have no
 * amplitude. The imaginary part, of blocks with z = 1, is the real part of -i V. */
static __device__ inline void slci_mma_prepare(const slci_direct_cuda_arguments *a,
                                               slci_mma_shared *shared, int chunk, int stage) {
    const int lane = (int)threadIdx.x % 32;
    const int at = (stage + lane / SLCI_MMA_CHUNK) * SLCI_MMA_STAGE + chunk * SLCI_MMA_CHUNK +
                   lane % SLCI_MMA_CHUNK;
    slci_mma_sample *out = &shared->samples[chunk][lane];
    __syncwarp();
    if (at < shared->n_used) {
        const uint32_t n_channels = (uint32_t)a->setup.n_channels;
        const uint32_t in_granule = shared->run.first_sample + shared->list[at];
        const int64_t row = shared->run.first_row + in_granule / n_channels;
        const uint32_t channel = in_granule % n_channels;
        const int64_t sample = row * n_channels + channel;
        const double per_metre = a->channels[channel];
        out->phase = slci_sample_phase(&shared->reference, a->setup.geometry.scale_rad,
                                       a->uvw[3 * row] * per_metre, a->uvw[3 * row + 1] * per_metre,
                                       a->uvw[3 * row + 2] * per_metre, slci_mma_scatter(at));
        out->phase.rows.y += slci_mma_scatter(at); /* which columns are less */
        const double scale = ldexp((double)a->weight[sample], SLCI_MMA_LEFT_BIT - shared->exponent);
        const float2 vis = a->setup.is_psf ? make_float2(1.0f, 0.0f) : a->vis[sample];
        const float2 value =
            make_float2((float)(scale * (double)vis.x), (float)(scale * (double)vis.y));
        out->a = blockIdx.z == 0 ? value : make_float2(value.y, -value.x);
    } else {
        const slci_direct_phase still = {{0.0, SLCI_TURN_MAGIC}, {0.0, SLCI_TURN_MAGIC}, 0.0};
        out->phase = still;
        out->a = make_float2(0.0f, 0.0f);
    }
    __syncwarp();
}

/* Cosine (x) and sine (y) of a turn in units of 2^-32. A quarter turn or less is left after the
 * quadrant is taken out, with 30 bits, so its conversion is off by 2^-28 turns at most. */
static __device__ __forceinline__ float2 slci_mma_circle_fine(uint32_t turn) {
    const float x = __int2float_rn((int)(turn << 2)) * 0x1.921fb6p-32f; /* π/2 · 2^-32 */
    const float x2 = __fmul_rn(x, x);
    float s = __fmaf_rn(x2, SLCI_MMA_S3, SLCI_MMA_S2);
    s = __fmaf_rn(x2, s, SLCI_MMA_S1);
    s = __fmaf_rn(__fmul_rn(x2, x), s, x);
    float c = __fmaf_rn(x2, SLCI_MMA_C4, SLCI_MMA_C3);
    c = __fmaf_rn(x2, c, SLCI_MMA_C2);
    c = __fmaf_rn(x2, c, SLCI_MMA_C1);
    c = __fmaf_rn(x2, c, 1.0f);
    const uint32_t quadrant = turn + 0x20000000u; /* in the two highest bits */
    const bool is_crossed = (int)(quadrant << 1) < 0;
    const float cosine = is_crossed ? s : c;
    const float sine = is_crossed ? c : s;
    return make_float2(__uint_as_float(__float_as_uint(cosine) ^
                                       ((quadrant + 0x40000000u) & 0x80000000u)),
                       __uint_as_float(__float_as_uint(sine) ^ (quadrant & 0x80000000u)));
}

/* The same within 6e-7, by the special functions: enough for operands of single fp16. */
static __device__ __forceinline__ float2 slci_mma_circle_coarse(uint32_t turn) {
    const float x = __int2float_rn((int)turn) * 0x1.921fb6p-30f; /* 2π · 2^-32 */
    return make_float2(__cosf(x), __sinf(x));
}

template <int PRODUCTS> static __device__ __forceinline__ float2 slci_mma_circle(uint32_t turn) {
    return PRODUCTS > 1 ? slci_mma_circle_fine(turn) : slci_mma_circle_coarse(turn);
}

/* The turn of a line: two multiply-adds in double. */
static __device__ __forceinline__ uint32_t slci_mma_turn(double2 phase, double w,
                                                         slci_mma_line line) {
    return (uint32_t)__double2loint(fma(phase.x, line.pixel, fma(w, line.w_factor, phase.y)));
}

static __device__ __forceinline__ uint32_t slci_mma_pack(float2 value) {
    const __half2 pair = __floats2half2_rn(value.x, value.y);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

/* What `bits`, the nearest fp16 pair, leaves of the value. */
static __device__ __forceinline__ uint32_t slci_mma_pack_rest(float2 value, uint32_t bits) {
    __half2 pair;
    memcpy(&pair, &bits, sizeof bits);
    const float2 near = __half22float2(pair);
    return slci_mma_pack(make_float2(value.x - near.x, value.y - near.y));
}

/* 4 samples of one line into the operand, and with three products what fp16 leaves of them into the
 * operand's low part. */
template <int PRODUCTS>
static __device__ __forceinline__ void slci_mma_store(const float2 *value, char *operand) {
    uint4 high;
    high.x = slci_mma_pack(value[0]);
    high.y = slci_mma_pack(value[1]);
    high.z = slci_mma_pack(value[2]);
    high.w = slci_mma_pack(value[3]);
    *(uint4 *)operand = high;
    if (PRODUCTS > 1) {
        uint4 low;
        low.x = slci_mma_pack_rest(value[0], high.x);
        low.y = slci_mma_pack_rest(value[1], high.y);
        low.z = slci_mma_pack_rest(value[2], high.z);
        low.w = slci_mma_pack_rest(value[3], high.w);
        *(uint4 *)(operand + SLCI_MMA_OPERAND_BYTES) = low;
    }
}

/* What a maker keeps of its 4 samples while it makes all lines of one side. */
typedef struct slci_mma_making {
    double2 phase[SLCI_MMA_CHUNK];
    double w[SLCI_MMA_CHUNK];
    float2 a[SLCI_MMA_CHUNK];
} slci_mma_making;

/* Rows: the left operand, w V e^{-iα} = (a cos α + b sin α) + i (b cos α - a sin α). For the next term
 * it is times -i w row_bend with the parts changed over, so that it takes (cos β, sin β) too. */
template <int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_make_row(const slci_mma_shared *shared, int at,
                                                         const slci_mma_making *own, char *lines) {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
    const slci_mma_line line = shared->rows[at];
    float2 value[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        const float2 a = own->a[k];
        const float2 circle =
            slci_mma_circle<PRODUCTS>(slci_mma_turn(own->phase[k], own->w[k], line));
        value[k].x = __fmaf_rn(a.y, circle.y, __fmul_rn(a.x, circle.x));
        value[k].y = __fmaf_rn(-a.x, circle.y, __fmul_rn(a.y, circle.x));
    }
    slci_mma_store<PRODUCTS>(value, lines + PLAN::LEFT + at * 16);
    if (TERMS > 0) {
        const float bend = shared->row_bend[at];
#pragma unroll
        for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
            const float factor = __fmul_rn((float)own->w[k], bend);
            value[k] = make_float2(__fmul_rn(-value[k].y, factor), __fmul_rn(value[k].x, factor));
        }
        slci_mma_store<1>(value, lines + PLAN::LEFT_TERM + at * 16);
    }
}

/* Columns: the right operand, (cos β, sin β), with which the real part is the product's sum. */
template <int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_make_column(const slci_mma_shared *shared, int at,
                                                            const slci_mma_making *own,
                                                            char *lines) {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
    const slci_mma_line line = shared->columns[at];
    float2 value[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        value[k] = slci_mma_circle<PRODUCTS>(slci_mma_turn(own->phase[k], own->w[k], line));
    }
    slci_mma_store<PRODUCTS>(value, lines + PLAN::RIGHT + at * 16);
    if (TERMS > 0) {
        const float bend = shared->column_bend[at];
#pragma unroll
        for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
            value[k] = make_float2(__fmul_rn(value[k].x, bend), __fmul_rn(value[k].y, bend));
        }
        slci_mma_store<1>(value, lines + PLAN::RIGHT_TERM + at * 16);
    }
}

/* One chunk of a stage: all lines of both sides, one after another. */
template <int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_make(const slci_mma_shared *shared, int chunk,
                                                     int stage, char *operands) {
    const slci_mma_sample *samples =
        &shared->samples[chunk][stage % SLCI_MMA_AHEAD * SLCI_MMA_CHUNK];
    char *lines = operands + chunk * SLCI_MMA_TILE * 16;
    const int lane = (int)threadIdx.x % 32;
    slci_mma_making own;
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        own.phase[k] = samples[k].phase.rows;
        own.w[k] = samples[k].phase.w;
        own.a[k] = samples[k].a;
    }
#pragma unroll 1
    for (int at = lane; at < SLCI_MMA_TILE; at += 32) {
        slci_mma_make_row<PRODUCTS, TERMS>(shared, at, &own, lines);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        own.phase[k] = samples[k].phase.columns;
    }
#pragma unroll 1
    for (int at = lane; at < SLCI_MMA_TILE; at += 32) {
        slci_mma_make_column<PRODUCTS, TERMS>(shared, at, &own, lines);
    }
}

#endif
