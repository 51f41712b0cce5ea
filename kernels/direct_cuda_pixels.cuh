/* What a thread of the CUDA cosine kernel does with its own pixels: their c(l, m), their sums in
 * registers, and the way of those into the image.
 *
 *     pixels<ROWS, N_PARTS> own;
 *     find_c<VARIANT>(a, shared, &own);
 *     clear(&own);
 *     add_chunk<VARIANT, ROWS, N_PARTS>(shared, chunk, &own);
 *     store(a, &shared->tile, &own);
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_PIXELS_CUH
#define SLC_KERNELS_DIRECT_CUDA_PIXELS_CUH

#include "kernels/direct_cuda_block.cuh"

/* Adds to an accumulator in two steps, of which the second needs what the first found there: a trip to
 * memory and back, which several may make together. Exact, so the order of the blocks does not matter.
 * The high word seldom changes: it is -1 plus a carry for a negative value that does not cross zero. */
static __device__ inline uint64_t slci_fixed_add_low(slc_fixed *accumulator, slc_fixed value) {
    return atomicAdd((unsigned long long *)&accumulator->low, (unsigned long long)value.low);
}

static __device__ inline void slci_fixed_add_high(slc_fixed *accumulator, slc_fixed value,
                                                  uint64_t before) {
    const uint64_t carry = before + value.low < before ? 1u : 0u;
    const uint64_t high = (uint64_t)value.high + carry;
    if (high != 0) {
        atomicAdd((unsigned long long *)&accumulator->high, (unsigned long long)high);
    }
}

static __device__ inline void slci_fixed_atomic_add(slc_fixed *accumulator, slc_fixed value) {
    slci_fixed_add_high(accumulator, value, slci_fixed_add_low(accumulator, value));
}

/* What a thread knows about its pixels. */
template <int ROWS, int N_PARTS> struct pixels {
    slci_pair_pixel pixel[ROWS][4];
    float sum[N_PARTS][ROWS][4], part[N_PARTS][ROWS][4];
};

/* The thread's first column and row in the kernel tile. */
static __device__ __forceinline__ int own_column(void) {
    return slci_block_thread() % (SLCI_CUDA_TILE / 4) * 4;
}

template <int ROWS> static __device__ __forceinline__ int own_row(void) {
    return slci_block_thread() / (SLCI_CUDA_TILE / 4) * ROWS;
}

/* c(l, m) of the thread's pixels; 0 beyond the horizon, where nothing is stored. */
template <int VARIANT, int ROWS, int N_PARTS>
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
            const double whole = VARIANT == SLCI_CUDA_WIDE ? rint(c / shared->c_unit) : 0.0;
            own->pixel[j][i].c = (float)(c * 0x1p32);
            own->pixel[j][i].c_whole = (int)whole;
            own->pixel[j][i].c_low = (float)((c - whole * shared->c_unit) * 0x1p32);
            own->pixel[j][i].c_double = c;
        }
    }
}

/* Two loads of 16 bytes that the whole warp shares. The last two words are either WIDE's or DOUBLE's
 * (slci_sample_pack); what is made of them for other variants is never used. */
static __device__ __forceinline__ slci_pair_sample load_sample(const float4 *packed) {
    const float4 low = packed[0];
    const float4 high = packed[1];
    const slci_pair_sample sample = {{low.x, low.y, low.z, low.w, high.x},
                                     high.y,
                                     high.z,
                                     __float_as_int(high.w),
                                     __hiloint2double(__float_as_int(high.w),
                                                      __float_as_int(high.z))};
    return sample;
}

/* One sample into all pixels of the thread, which begin at `column` and `row`. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ void add_sample(const float4 *packed,
                                                  const slci_direct_turns *turns, int column,
                                                  int row, pixels<ROWS, N_PARTS> *own) {
    const slci_pair_sample sample = load_sample(packed);
    const uint4 columns4 = turns->columns[column / 4];
    const uint32_t columns[4] = {columns4.x, columns4.y, columns4.z, columns4.w};
    uint32_t row_turn[ROWS];
#pragma unroll
    for (int j = 0; j < ROWS; j += 2) {
        const uint2 two = *(const uint2 *)((const uint32_t *)turns->rows + row + j);
        row_turn[j] = two.x;
        row_turn[j + 1] = two.y;
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t turn = columns[i] + row_turn[j];
            const slci_pair_pixel *pixel = &own->pixel[j][i];
            float *real = &own->part[0][j][i];
            *real = slci_pair_add(slci_pair_phase<VARIANT>(turn, &sample, pixel), &sample, *real);
            if (N_PARTS == 2) {
                /* -sin of an angle is the cosine of a quarter turn more. */
                float *imaginary = &own->part[N_PARTS - 1][j][i];
                const float x = slci_pair_phase<VARIANT>(turn + SLCI_QUARTER_TURN, &sample, pixel);
                *imaginary = slci_pair_add(x, &sample, *imaginary);
            }
        }
    }
}

/* All used samples of the chunk, a group at a time. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ void add_chunk(const slci_direct_shared *shared, int chunk,
                                                 pixels<ROWS, N_PARTS> *own) {
    const int column = own_column();
    const int row = own_row<ROWS>();
    const int n_used = shared->n_used[chunk % 4];
    /* As many terms as the registers let the compiler take side by side. */
    constexpr bool IS_TIGHT = ROWS == 4 && VARIANT != SLCI_CUDA_FLAT;
    constexpr int UNROLLED = IS_TIGHT ? SLCI_CUDA_GROUP / 2 : SLCI_CUDA_GROUP;
#pragma unroll 1
    for (int k = 0; k < n_used; k += SLCI_CUDA_GROUP) {
#pragma unroll UNROLLED
        for (int term = 0; term < SLCI_CUDA_GROUP; term++) {
            add_sample<VARIANT, ROWS, N_PARTS>(shared->samples[chunk % 4][k + term],
                                               &shared->turns[chunk % 2][k + term], column, row,
                                               own);
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
            const int64_t pixel =
                (y - a->tile->origin[1]) * a->row_pixels + (x - a->tile->origin[2]);
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
