/* Exact sums on the card, included by kernels/stats_cuda.cu. A thread keeps a sum as two or three
 * doubles of falling size that together are exact: each addition's rounding error is caught by
 * D. E. Knuth's two-sum (The Art of Computer Programming, volume 2, 4.2.2) and added to the next one.
 * What the last one cannot take, which ordinary data never has, is added to the block's long digits in
 * shared memory, by integer atomics; so are all of them at the end (kernels/stats_exact.h). */
#include "kernels/stats_tile.h"

#define BLOCK_THREADS 256
#define WARP 32

/* One part's results in shared memory, while a block works. */
struct shared_sums {
    unsigned long long word[SLC_STATS_WORDS]; /* places are ordinals plus one; all ones: none */
};

__device__ static unsigned long long *digits_of(shared_sums *sums, bool is_square) {
    return &sums->word[is_square ? SLC_STATS_SQUARES : SLC_STATS_SUM];
}

__device__ static void add_parts(unsigned long long *digits, const slci_exact_parts &parts) {
    for (int k = 0; k < 3; k++) {
        if (parts.part[k] != 0) {
            (void)atomicAdd(&digits[parts.first + k], (unsigned long long)parts.part[k]);
        }
    }
}

__device__ static void add_double(shared_sums *sums, bool is_square, double value) {
    if (value != 0) {
        add_parts(digits_of(sums, is_square),
                  slci_exact_parts_of(is_square ? SLCI_SQUARE_POINT : SLCI_SUM_POINT, value));
    }
}

__device__ static void add_square_exactly(shared_sums *sums, double value) {
    uint64_t low;
    uint64_t high;
    const int bit = slci_exact_square(value, &low, &high);
    add_parts(digits_of(sums, true), slci_exact_split(low, bit, 0));
    add_parts(digits_of(sums, true), slci_exact_split(high, bit + 64, 0));
}

/* a becomes the rounded sum, and what it lacks is returned. No compiler may simplify this, and none
 * fuses additions. */
__device__ static double two_sum(double *a, double b) {
    const double sum = __dadd_rn(*a, b);
    const double from_b = __dadd_rn(sum, -*a);
    const double from_a = __dadd_rn(sum, -from_b);
    const double lack = __dadd_rn(__dadd_rn(*a, -from_a), __dadd_rn(b, -from_b));
    *a = sum;
    return lack;
}

template <int N> struct expansion { double term[N]; };

template <int N>
__device__ static void add_to(expansion<N> *sum, double value, shared_sums *sums, bool is_square) {
#pragma unroll
    for (int k = 0; k < N; k++) {
        value = two_sum(&sum->term[k], value);
    }
    add_double(sums, is_square, value);
}

/* Sums of a warp meet in its first lane, which gives them to the block. */
template <int N>
__device__ static void flush(expansion<N> *sum, shared_sums *sums, bool is_square) {
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        double other[N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            other[k] = __shfl_down_sync(0xffffffffu, sum->term[k], distance);
        }
        if ((int)threadIdx.x % WARP < distance) {
#pragma unroll
            for (int k = 0; k < N; k++) {
                add_to<N>(sum, other[k], sums, is_square);
            }
        }
    }
    if (threadIdx.x % WARP == 0) {
        for (int k = 0; k < N; k++) {
            add_double(sums, is_square, sum->term[k]);
        }
    }
}

/* ---- floats ------------------------------------------------------------------------------------- */

/* Singles and doubles alike; the square of a single is exact in double precision. */
struct float_sums {
    expansion<2> sum;
    expansion<3> square;
};

__device__ static void clear(float_sums *mine) {
    mine->sum.term[0] = mine->sum.term[1] = 0;
    mine->square.term[0] = mine->square.term[1] = mine->square.term[2] = 0;
}

__device__ static void add_value(float_sums *mine, float value, shared_sums *sums) {
    const double x = (double)value;
    add_to<2>(&mine->sum, x, sums, false);
    add_to<3>(&mine->square, __dmul_rn(x, x), sums, true);
}

/* Beyond these sizes a sum of 2^40 terms could overflow, or a square's error be below the smallest
 * double. */
__device__ static void add_value(float_sums *mine, double value, shared_sums *sums) {
    const double size = fabs(value);
    if (size < 0x1p-440 || size > 0x1p440) {
        add_double(sums, false, value);
        if (value != 0) {
            add_square_exactly(sums, value);
        }
        return;
    }
    const double square = __dmul_rn(value, value);
    add_to<2>(&mine->sum, value, sums, false);
    add_to<3>(&mine->square, square, sums, true);
    add_to<3>(&mine->square, __fma_rn(value, value, -square), sums, true);
}

__device__ static void flush(float_sums *mine, shared_sums *sums) {
    flush<2>(&mine->sum, sums, false);
    flush<3>(&mine->square, sums, true);
}

/* ---- integers ----------------------------------------------------------------------------------- */

/* Halves of 32 bits of the values and of the squares' words, each summed in 64: good for 2^31 values
 * of a thread. */
struct whole_sums {
    unsigned long long low, square[4];
    long long high;
};

__device__ static void clear(whole_sums *mine) {
    mine->low = 0;
    mine->high = 0;
    mine->square[0] = mine->square[1] = mine->square[2] = mine->square[3] = 0;
}

__device__ static void add_size_square(whole_sums *mine, unsigned long long size) {
    const unsigned long long low = size * size;
    const unsigned long long high = __umul64hi(size, size);
    mine->square[0] += low & 0xffffffffu;
    mine->square[1] += low >> 32;
    mine->square[2] += high & 0xffffffffu;
    mine->square[3] += high >> 32;
}

__device__ static void add_value(whole_sums *mine, long long value, shared_sums *) {
    const unsigned long long bits = (unsigned long long)value;
    mine->low += bits & 0xffffffffu;
    mine->high += value >> 32;
    add_size_square(mine, value < 0 ? 0 - bits : bits);
}

__device__ static void add_value(whole_sums *mine, unsigned long long value, shared_sums *) {
    mine->low += value & 0xffffffffu;
    mine->high += (long long)(value >> 32);
    add_size_square(mine, value);
}

__device__ static unsigned long long warp_sum(unsigned long long value) {
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, distance);
    }
    return value;
}

__device__ static void flush(whole_sums *mine, shared_sums *sums) {
    const unsigned long long low = warp_sum(mine->low);
    const unsigned long long high = warp_sum((unsigned long long)mine->high);
    const int is_negative = (long long)high < 0;
    unsigned long long square[4];
    for (int k = 0; k < 4; k++) {
        square[k] = warp_sum(mine->square[k]);
    }
    if (threadIdx.x % WARP != 0) {
        return;
    }
    const int sum_bit = 32 * SLCI_SUM_POINT;
    add_parts(digits_of(sums, false), slci_exact_split(low, sum_bit, 0));
    add_parts(digits_of(sums, false),
              slci_exact_split(is_negative ? 0 - high : high, sum_bit + 32, is_negative));
    for (int k = 0; k < 4; k++) {
        add_parts(digits_of(sums, true),
                  slci_exact_split(square[k], 32 * (SLCI_SQUARE_POINT + k), 0));
    }
}
