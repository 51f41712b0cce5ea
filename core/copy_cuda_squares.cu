/* Transposes on the device, batched, of units of 1 to 16 bytes.
 *
 * The source's units are closest together along the plan's last dimension (x), the destination's
 * along the one before (y); all others are a batch. A block of 256 threads carries one square of
 * SIDE x SIDE units:
 *
 *     device memory  --  vectors along x  -->  registers: blocks of M x M units, turned there
 *     registers      --  vectors along y  -->  shared memory, as the destination has them
 *     shared memory  --  vectors along y  -->  device memory
 *
 *     unit     M   vector     blocks a side   SIDE   shared    under way in a thread
 *     1 byte   4   4 bytes    32              128    16 KiB    64 bytes
 *     2        4   8          32              128    32 KiB    128
 *     4        4   16         16              64     16 KiB    64
 *     8        2   16         16              32      8 KiB    32
 *     16       1   16         32              32     16 KiB    64
 *
 * Shared memory holds vector v of column x at [x][v ^ (x / M mod lanes)], where `lanes` vectors
 * fill the 32 banks: then neither the stores, whose threads have neighbouring x / M, nor the loads,
 * whose threads have neighbouring v, meet in a bank. Without padding every vector stays aligned.
 *
 * A side that is not dense or not aligned, and a square over the edge, go unit by unit through the
 * same shared memory; then four threads meet in a bank, which still is faster than the device
 * memory. */
#include "core/copy_cuda.h"

#include "core/copy_piece.h"

#define THREADS 256

struct __align__(16) unit16 {
    uint64_t low;
    uint64_t high;
};

template <typename T, int M> struct __align__(sizeof(T) * M) vector {
    T unit[M];
};

/* Squares are numbered x first, then y, then the batch. */
typedef struct squares {
    slci_copy_piece batch; /* its first two dimensions, x and y, are single */
    slci_copy_divider n_x;
    slci_copy_divider n_y;
    int32_t shape_x;
    int32_t shape_y;
    int32_t src_x; /* strides, in units */
    int32_t src_y;
    int32_t dst_x;
    int32_t dst_y;
    bool has_src_vectors;
    bool has_dst_vectors;
} squares;

/* The square of one block: its extents, and the offsets of its first unit. */
typedef struct place {
    int n_x;
    int n_y;
    int32_t src;
    int32_t dst;
} place;

template <int SIDE> static __device__ __forceinline__ place find_square(const squares &self) {
    const uint32_t row = slci_copy_quotient(blockIdx.x, self.n_x);
    const int x = (int)(blockIdx.x - row * self.n_x.divisor) * SIDE;
    uint32_t index = slci_copy_quotient(row, self.n_y);
    const int y = (int)(row - index * self.n_y.divisor) * SIDE;
    place at = {.n_x = min(SIDE, self.shape_x - x),
                .n_y = min(SIDE, self.shape_y - y),
                .src = x * self.src_x + y * self.src_y,
                .dst = x * self.dst_x + y * self.dst_y};
    for (int d = 2; d < self.batch.rank; d++) {
        const uint32_t quotient = slci_copy_quotient(index, self.batch.extent[d]);
        const int32_t i = (int32_t)(index - quotient * self.batch.extent[d].divisor);
        at.src += i * self.batch.src_stride[d];
        at.dst += i * self.batch.dst_stride[d];
        index = quotient;
    }
    return at;
}

template <typename T, int M, int BLOCKS> struct square {
    static constexpr int SIDE = M * BLOCKS;
    static constexpr int LANES = 128 / (int)(sizeof(T) * M);
    static constexpr int PER_THREAD = BLOCKS * BLOCKS / THREADS;
    vector<T, M> at[SIDE][BLOCKS];

    __device__ __forceinline__ vector<T, M> &column(int x, int v) {
        return at[x][v ^ (x / M & (LANES - 1))];
    }

    __device__ __forceinline__ void fill_by_vectors(const T *src, int32_t pitch) {
        vector<T, M> row[PER_THREAD][M];
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++) {
            const int block = (int)threadIdx.x + k * THREADS;
            const T *first = src + block / BLOCKS * M * pitch + block % BLOCKS * M;
#pragma unroll
            for (int m = 0; m < M; m++) {
                row[k][m] = *(const vector<T, M> *)(first + m * pitch);
            }
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++) {
            const int block = (int)threadIdx.x + k * THREADS;
#pragma unroll
            for (int x = 0; x < M; x++) {
                vector<T, M> turned;
#pragma unroll
                for (int y = 0; y < M; y++) {
                    turned.unit[y] = row[k][y].unit[x];
                }
                column(block % BLOCKS * M + x, block / BLOCKS) = turned;
            }
        }
    }

    __device__ __forceinline__ void fill_by_units(const T *src, const squares &self, place at) {
#pragma unroll 8
        for (int k = 0; k < PER_THREAD * M * M; k++) {
            const int x = (int)threadIdx.x % SIDE;
            const int y = ((int)threadIdx.x + k * THREADS) / SIDE;
            if (x < at.n_x && y < at.n_y) {
                column(x, y / M).unit[y % M] = src[x * self.src_x + y * self.src_y];
            }
        }
    }

    __device__ __forceinline__ void drain_by_vectors(T *dst, int32_t pitch) {
#pragma unroll
        for (int k = 0; k < PER_THREAD * M; k++) {
            const int x = ((int)threadIdx.x + k * THREADS) / BLOCKS;
            const int v = (int)threadIdx.x % BLOCKS;
            *(vector<T, M> *)(dst + x * pitch + v * M) = column(x, v);
        }
    }

    __device__ __forceinline__ void drain_by_units(T *dst, const squares &self, place at) {
#pragma unroll 8
        for (int k = 0; k < PER_THREAD * M * M; k++) {
            const int y = (int)threadIdx.x % SIDE;
            const int x = ((int)threadIdx.x + k * THREADS) / SIDE;
            if (x < at.n_x && y < at.n_y) {
                dst[x * self.dst_x + y * self.dst_y] = column(x, y / M).unit[y % M];
            }
        }
    }
};

template <typename T, int M, int BLOCKS>
static __global__ void __launch_bounds__(THREADS)
    copy_squares(T *d_dst, const T *d_src, const squares self) {
    __shared__ square<T, M, BLOCKS> shared;
    const place at = find_square<M * BLOCKS>(self);
    const bool is_whole = at.n_x == M * BLOCKS && at.n_y == M * BLOCKS;
    if (is_whole && self.has_src_vectors) {
        shared.fill_by_vectors(d_src + at.src, self.src_y);
    } else {
        shared.fill_by_units(d_src + at.src, self, at);
    }
    __syncthreads();
    if (is_whole && self.has_dst_vectors) {
        shared.drain_by_vectors(d_dst + at.dst, self.dst_x);
    } else {
        shared.drain_by_units(d_dst + at.dst, self, at);
    }
}

/* Whether every vector of `bytes` along `fast` is aligned on one side. */
static bool has_vectors(const void *first, const slci_copy_plan *plan, const int64_t *stride,
                        int fast, int bytes) {
    uint64_t bits = (uint64_t)(uintptr_t)first;
    for (int d = 0; d < plan->rank; d++) {
        bits |= d != fast && plan->shape[d] > 1 ? (uint64_t)stride[d] : 0;
    }
    return stride[fast] == plan->unit_bytes && bits % (uint64_t)bytes == 0;
}

template <typename T, int M, int BLOCKS>
static void launch(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                   cudaStream_t stream) {
    const int x = plan->rank - 1;
    const int y = plan->rank - 2;
    const int64_t side = M * BLOCKS;
    const int64_t n_x = (plan->shape[x] + side - 1) / side;
    const int64_t n_y = (plan->shape[y] + side - 1) / side;
    T *dst = (T *)(d_dst + plan->dst_offset);
    const T *src = (const T *)(d_src + plan->src_offset);
    slci_copy_plan batch = *plan;
    batch.shape[x] = 1;
    batch.shape[y] = 1;
    const int64_t unit = plan->unit_bytes;
    squares self = {
        .batch = {},
        .n_x = slci_copy_divider_make(n_x),
        .n_y = slci_copy_divider_make(n_y),
        .shape_x = (int32_t)plan->shape[x],
        .shape_y = (int32_t)plan->shape[y],
        .src_x = (int32_t)(plan->src_stride[x] / unit),
        .src_y = (int32_t)(plan->src_stride[y] / unit),
        .dst_x = (int32_t)(plan->dst_stride[x] / unit),
        .dst_y = (int32_t)(plan->dst_stride[y] / unit),
        .has_src_vectors = has_vectors(src, plan, plan->src_stride, x, M * (int)sizeof(T)),
        .has_dst_vectors = has_vectors(dst, plan, plan->dst_stride, y, M * (int)sizeof(T)),
    };
    slci_copy_piece_init(&batch, &self.batch);
    const unsigned n_blocks = (unsigned)(self.batch.n * n_x * n_y);
    copy_squares<T, M, BLOCKS><<<n_blocks, THREADS, 0, stream>>>(dst, src, self);
}

extern "C" cudaError_t slci_copy_cuda_squares(char *d_dst, const char *d_src,
                                              const slci_copy_plan *plan, cudaStream_t stream) {
    switch (plan->unit_bytes) {
    case 1:
        launch<uint8_t, 4, 32>(d_dst, d_src, plan, stream);
        break;
    case 2:
        launch<uint16_t, 4, 32>(d_dst, d_src, plan, stream);
        break;
    case 4:
        launch<uint32_t, 4, 16>(d_dst, d_src, plan, stream);
        break;
    case 8:
        launch<uint64_t, 2, 16>(d_dst, d_src, plan, stream);
        break;
    case 16:
        launch<unit16, 1, 32>(d_dst, d_src, plan, stream);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

static cudaError_t load_kernel(cudaError_t error, const void *kernel) {
    struct cudaFuncAttributes attributes;
    return error == cudaSuccess ? cudaFuncGetAttributes(&attributes, kernel) : error;
}

extern "C" cudaError_t slci_copy_cuda_load_squares(void) {
    cudaError_t error = load_kernel(cudaSuccess, (const void *)copy_squares<uint8_t, 4, 32>);
    error = load_kernel(error, (const void *)copy_squares<uint16_t, 4, 32>);
    error = load_kernel(error, (const void *)copy_squares<uint32_t, 4, 16>);
    error = load_kernel(error, (const void *)copy_squares<uint64_t, 2, 16>);
    return load_kernel(error, (const void *)copy_squares<unit16, 1, 32>);
}
