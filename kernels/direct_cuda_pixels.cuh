/* What a thread of the CUDA cosine kernel does with its own pixels: their c(l, m), their sums in
 * registers, and the way of those into the image.
 *
 *     pixels<ROWS, N_PARTS> own;
 *     find_c(a, shared, &own);
 *     clear(&own);
 *     add_chunk<VARIANT, ROWS, N_PARTS>(shared, half, lower_one, &own);
 *     store(a, &shared->tile, &own);
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_PIXELS_CUH
#define SLC_KERNELS_DIRECT_CUDA_PIXELS_CUH

#include "kernels/direct_cuda_block.cuh"

/* Adds to an accumulator; exact, so the order of the blocks does not matter. The high word seldom
 * changes: it is -1 plus a carry for a negative value that does not cross zero. */
static __device__ inline void slci_fixed_atomic_add(slc_fixed *accumulator, slc_fixed value) {
    unsigned long long *low = (unsigned long long *)&accumulator->low;
    const unsigned long long before = atomicAdd(low, (unsigned long long)value.low);
    const unsigned long long carry = before + value.low < before ? 1u : 0u;
    const unsigned long long high = (unsigned long long)value.high + carry;
    if (high != 0) {
        atomicAdd((unsigned long long *)&accumulator->high, high);
    }
}

/* What a thread knows about its pixels. */
template <int ROWS, int N_PARTS> struct pixels {
    float c_high[ROWS][4], c_low[ROWS][4];
    float sum[N_PARTS][ROWS][4], part[N_PARTS][ROWS][4];
};

/* The thread's first column and row in the kernel tile. */
static __device__ __forceinline__ int own_column(void) {
    return (int)threadIdx.x % (SLCI_CUDA_TILE / 4) * 4;
}

template <int ROWS> static __device__ __forceinline__ int own_row(void) {
    return (int)threadIdx.x / (SLCI_CUDA_TILE / 4) * ROWS;
}

/* c(l, m) of the thread's pixels in two words; 0 beyond the horizon, where nothing is stored. */
template <int ROWS, int N_PARTS>
static __device__ __forceinline__ void find_c(const slci_direct_cuda_arguments *a,
                                              const slci_direct_shared *shared,
                                              pixels<ROWS, N_PARTS> *own) {
    const int column = own_column();
    const int row = own_row<ROWS>();
    const slc_direct_geometry *geometry = &a->setup.geometry;
    const slc_direct_tile *tile = &shared->tile;
    const double centre = slci_direct_n_minus_1(tile->l0, tile->m0);
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const double l = slci_direct_l(geometry, tile->x0 + column + i);
            const double m = slci_direct_m(geometry, tile->y0 + row + j);
            const double split =
                shared->w_factor[column + i] + shared->w_factor[SLCI_CUDA_TILE + row + j];
            const double c =
                slci_direct_r2(l, m) < 1.0 ? (slci_direct_n_minus_1(l, m) - centre) - split : 0.0;
            own->c_high[j][i] = (float)c;
            own->c_low[j][i] = (float)(c - (double)(float)c);
        }
    }
}

/* One sample into all pixels of the thread. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ void add_sample(const slci_direct_shared *shared, int k, int half,
                                                  uint32_t lower_one, pixels<ROWS, N_PARTS> *own) {
    const float4 sample = shared->samples[half][k];
    const uint4 columns4 = shared->turns[k][own_column() / 4];
    const uint32_t columns[4] = {columns4.x, columns4.y, columns4.z, columns4.w};
    const uint32_t *rows = (const uint32_t *)shared->turns[k] + SLCI_CUDA_TILE + own_row<ROWS>();
    uint32_t row_turn[ROWS];
    if (ROWS == 4) {
        const uint4 four = *(const uint4 *)rows;
        row_turn[0] = four.x;
        row_turn[1] = four.y;
        row_turn[ROWS - 2] = four.z;
        row_turn[ROWS - 1] = four.w;
    } else {
        const uint2 two = *(const uint2 *)rows;
        row_turn[0] = two.x;
        row_turn[1] = two.y;
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float phase =
                slci_pair_phase<VARIANT>(columns[i] + row_turn[j], lower_one, sample.y, sample.z,
                                         own->c_high[j][i], own->c_low[j][i]);
            float *real = &own->part[0][j][i];
            *real = __fmaf_rn(sample.x, __cosf(phase), *real);
            if (N_PARTS == 2) {
                float *imaginary = &own->part[N_PARTS - 1][j][i];
                *imaginary = __fmaf_rn(-sample.x, __sinf(phase), *imaginary);
            }
        }
    }
}

/* All used samples of the chunk, a group at a time. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ void add_chunk(const slci_direct_shared *shared, int half,
                                                 uint32_t lower_one, pixels<ROWS, N_PARTS> *own) {
    const int n_used = shared->n_used[half];
#pragma unroll 1
    for (int k = 0; k < n_used; k += SLCI_CUDA_GROUP) {
#pragma unroll
        for (int term = 0; term < SLCI_CUDA_GROUP; term++) {
            add_sample<VARIANT, ROWS, N_PARTS>(shared, k + term, half, lower_one, own);
        }
#pragma unroll
        for (int part = 0; part < N_PARTS; part++) {
#pragma unroll
            for (int j = 0; j < ROWS; j++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    slci_pair_promote(&own->sum[part][j][i], &own->part[part][j][i]);
                }
            }
        }
    }
}

template <int ROWS, int N_PARTS>
static __device__ __forceinline__ void clear(pixels<ROWS, N_PARTS> *own) {
#pragma unroll
    for (int part = 0; part < N_PARTS; part++) {
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                own->sum[part][j][i] = 0.0f;
                own->part[part][j][i] = 0.0f;
            }
        }
    }
}

/* The run's sums into the image, where a pixel lies in the tile and within the horizon. */
template <int ROWS, int N_PARTS>
static __device__ __forceinline__ void store(const slci_direct_cuda_arguments *a,
                                             const slc_direct_tile *tile,
                                             const pixels<ROWS, N_PARTS> *own) {
    const int column = own_column();
    const int row = own_row<ROWS>();
    const int64_t y_end = a->tile->origin[1] + a->tile->extent[1];
    const int64_t x_end = a->tile->origin[2] + a->tile->extent[2];
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int64_t y = tile->y0 + row + j;
            const int64_t x = tile->x0 + column + i;
            const double l = slci_direct_l(&a->setup.geometry, x);
            const double m = slci_direct_m(&a->setup.geometry, y);
            if (y >= y_end || x >= x_end || !(slci_direct_r2(l, m) < 1.0)) {
                continue;
            }
            const int64_t pixel = (y - a->tile->origin[1]) * a->full_x + (x - a->tile->origin[2]);
#pragma unroll
            for (int part = 0; part < N_PARTS; part++) {
                const double value = (double)own->sum[part][j][i] + (double)own->part[part][j][i];
                slci_fixed_atomic_add(&a->image[pixel * N_PARTS + part],
                                      slc_fixed_from_double(value, a->setup.scale_bits));
            }
        }
    }
}

#endif
