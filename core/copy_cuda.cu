/* Strided copies on the device: two kernels that move units of 1 to 16 bytes.
 *
 * copy_general. The unit with index (row, i), i along the last dimension and row over all others:
 *     dst[Σ row_d · dst_stride_d + i · dst_stride_last] = src[Σ row_d · src_stride_d + i · ...]
 * 256 threads a block, split into 256/lanes rows of `lanes` threads (a power of two up to 256, just
 * covering the last dimension); a thread moves UNITS_PER_THREAD units, `lanes` apart, loads before
 * stores, and works out its row's offset once for all of them. No shared memory.
 *
 * copy_transpose. The source is dense in the last dimension (columns), the destination in the one
 * before (rows); all others are a batch. A block of 32 x 8 threads carries one SIDE x SIDE square
 * through shared memory, so that loads and stores are both coalesced; a column of padding keeps the
 * 32 banks apart. Shared: SIDE · (SIDE + 1) units (64² for 1 and 2 bytes, 32² else: up to 16.5 KiB).
 *
 * Registers for sm_90, CUDA 13.0, by -Xptxas -v: copy_general 34 to 40, copy_transpose 40 to 48;
 * no spills. Both step through their blocks with the whole grid, and count in 64 bits. */
#include "core/copy_cuda.h"

#define THREADS 256
#define UNITS_PER_THREAD 4
#define LANES_Y 8

/* Enough blocks to fill any card many times over; more would only cost scheduling. */
#define MAX_BLOCKS (1 << 20)

/* One access of 16 bytes; aligned, so that it is one instruction. */
struct __align__(16) unit16 {
    uint64_t low;
    uint64_t high;
};

/* Division in 64 bits is a long sequence of instructions; nearly all indices fit 32. */
static __device__ int64_t divide(int64_t index, int64_t extent, int64_t *remainder) {
    if (((uint64_t)index >> 32) == 0 && ((uint64_t)extent >> 32) == 0) {
        const uint32_t quotient = (uint32_t)index / (uint32_t)extent;
        *remainder = (int64_t)((uint32_t)index - quotient * (uint32_t)extent);
        return (int64_t)quotient;
    }
    const int64_t quotient = index / extent;
    *remainder = index - quotient * extent;
    return quotient;
}

/* Byte offsets of number `row` among the first n dimensions, the last of them the fastest. */
static __device__ void row_offsets(const slci_copy_plan &plan, int n, int64_t row,
                                   int64_t *dst_offset, int64_t *src_offset) {
    int64_t dst = plan.dst_offset;
    int64_t src = plan.src_offset;
#pragma unroll
    for (int d = SLCI_COPY_MAX_RANK - 2; d >= 0; d--) {
        if (d < n) {
            int64_t index;
            row = divide(row, plan.shape[d], &index);
            dst += index * plan.dst_stride[d];
            src += index * plan.src_stride[d];
        }
    }
    *dst_offset = dst;
    *src_offset = src;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    copy_general(char *d_dst, const char *d_src, const slci_copy_plan plan, int lanes_log2,
                 int64_t n_rows, int64_t n_chunks, int64_t n_blocks) {
    const int lanes = 1 << lanes_log2;
    const int lane = (int)threadIdx.x & (lanes - 1);
    const int rows_per_block = THREADS >> lanes_log2;
    const int last = plan.rank - 1;
    const int64_t extent = plan.shape[last];
    const int64_t dst_stride = plan.dst_stride[last];
    const int64_t src_stride = plan.src_stride[last];
    for (int64_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        int64_t chunk;
        const int64_t row =
            divide(block, n_chunks, &chunk) * rows_per_block + ((int)threadIdx.x >> lanes_log2);
        if (row >= n_rows) {
            continue;
        }
        int64_t dst_offset;
        int64_t src_offset;
        row_offsets(plan, last, row, &dst_offset, &src_offset);
        const int64_t first = chunk * lanes * UNITS_PER_THREAD + lane;
        T units[UNITS_PER_THREAD];
#pragma unroll
        for (int k = 0; k < UNITS_PER_THREAD; k++) {
            const int64_t i = first + (int64_t)k * lanes;
            if (i < extent) {
                units[k] = *(const T *)(d_src + src_offset + i * src_stride);
            }
        }
#pragma unroll
        for (int k = 0; k < UNITS_PER_THREAD; k++) {
            const int64_t i = first + (int64_t)k * lanes;
            if (i < extent) {
                *(T *)(d_dst + dst_offset + i * dst_stride) = units[k];
            }
        }
    }
}

template <typename T, int SIDE>
static __global__ void __launch_bounds__(32 * LANES_Y)
    copy_transpose(char *d_dst, const char *d_src, const slci_copy_plan plan, int64_t n_tiles_x,
                   int64_t n_tiles_y, int64_t n_blocks) {
    __shared__ T square[SIDE][SIDE + 1];
    const int columns = plan.rank - 1;
    const int rows = plan.rank - 2;
    const int64_t n_columns = plan.shape[columns];
    const int64_t n_rows = plan.shape[rows];
    for (int64_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        int64_t tile_x;
        int64_t tile_y;
        const int64_t batch = divide(divide(block, n_tiles_x, &tile_x), n_tiles_y, &tile_y);
        int64_t dst_offset;
        int64_t src_offset;
        row_offsets(plan, rows, batch, &dst_offset, &src_offset);
        const int64_t x0 = tile_x * SIDE;
        const int64_t y0 = tile_y * SIDE;
#pragma unroll
        for (int y = (int)threadIdx.y; y < SIDE; y += LANES_Y) {
#pragma unroll
            for (int x = (int)threadIdx.x; x < SIDE; x += 32) {
                if (y0 + y < n_rows && x0 + x < n_columns) {
                    square[y][x] =
                        *(const T *)(d_src + src_offset + (y0 + y) * plan.src_stride[rows] +
                                     (x0 + x) * (int64_t)sizeof(T));
                }
            }
        }
        __syncthreads();
#pragma unroll
        for (int x = (int)threadIdx.y; x < SIDE; x += LANES_Y) {
#pragma unroll
            for (int y = (int)threadIdx.x; y < SIDE; y += 32) {
                if (y0 + y < n_rows && x0 + x < n_columns) {
                    *(T *)(d_dst + dst_offset + (x0 + x) * plan.dst_stride[columns] +
                           (y0 + y) * (int64_t)sizeof(T)) = square[y][x];
                }
            }
        }
        __syncthreads(); /* the square is filled again for the next block of the grid's stride */
    }
}

static int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

static unsigned grid_size(int64_t n_blocks) {
    return (unsigned)(n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS);
}

/* Number of units over the first n dimensions: a factor of a size that was checked. */
static int64_t count(const slci_copy_plan *plan, int n) {
    int64_t product = 1;
    for (int d = 0; d < n; d++) {
        product *= plan->shape[d];
    }
    return product;
}

template <typename T>
static void launch_general(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                           cudaStream_t stream) {
    const int last = plan->rank - 1;
    int lanes_log2 = 0;
    while ((1 << lanes_log2) < THREADS && ((int64_t)1 << lanes_log2) < plan->shape[last]) {
        lanes_log2++;
    }
    const int64_t n_rows = count(plan, last);
    const int64_t n_chunks =
        ceil_div(plan->shape[last], ((int64_t)1 << lanes_log2) * UNITS_PER_THREAD);
    const int64_t n_blocks = ceil_div(n_rows, THREADS >> lanes_log2) * n_chunks;
    copy_general<T><<<grid_size(n_blocks), THREADS, 0, stream>>>(d_dst, d_src, *plan, lanes_log2,
                                                                 n_rows, n_chunks, n_blocks);
}

template <typename T, int SIDE>
static void launch_transpose(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                             cudaStream_t stream) {
    const int64_t n_tiles_x = ceil_div(plan->shape[plan->rank - 1], SIDE);
    const int64_t n_tiles_y = ceil_div(plan->shape[plan->rank - 2], SIDE);
    const int64_t n_blocks = count(plan, plan->rank - 2) * n_tiles_x * n_tiles_y;
    copy_transpose<T, SIDE>
        <<<grid_size(n_blocks), dim3(32, LANES_Y), 0, stream>>>(d_dst, d_src, *plan, n_tiles_x,
                                                                n_tiles_y, n_blocks);
}

template <typename T, int SIDE>
static void launch(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                   cudaStream_t stream) {
    if (plan->way == SLCI_COPY_TRANSPOSE) {
        launch_transpose<T, SIDE>(d_dst, d_src, plan, stream);
    } else {
        launch_general<T>(d_dst, d_src, plan, stream);
    }
}

extern "C" cudaError_t slci_copy_cuda_launch(void *d_dst, const void *d_src,
                                             const slci_copy_plan *plan, cudaStream_t stream) {
    char *dst = (char *)d_dst;
    const char *src = (const char *)d_src;
    switch (plan->unit_bytes) {
    case 1:
        launch<uint8_t, 64>(dst, src, plan, stream);
        break;
    case 2:
        launch<uint16_t, 64>(dst, src, plan, stream);
        break;
    case 4:
        launch<uint32_t, 32>(dst, src, plan, stream);
        break;
    case 8:
        launch<uint64_t, 32>(dst, src, plan, stream);
        break;
    case 16:
        launch<unit16, 32>(dst, src, plan, stream);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

template <typename T, int SIDE> static cudaError_t load(void) {
    struct cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)copy_general<T>);
    if (error != cudaSuccess) {
        return error;
    }
    return cudaFuncGetAttributes(&attributes, (const void *)copy_transpose<T, SIDE>);
}

extern "C" cudaError_t slci_copy_cuda_load(void) {
    cudaError_t error = load<uint8_t, 64>();
    error = error == cudaSuccess ? load<uint16_t, 64>() : error;
    error = error == cudaSuccess ? load<uint32_t, 32>() : error;
    error = error == cudaSuccess ? load<uint64_t, 32>() : error;
    return error == cudaSuccess ? load<unit16, 32>() : error;
}

/* A pitched copy for every combination of the outer indices. */
extern "C" cudaError_t slci_copy_cuda_pitched(void *dst, const void *src,
                                              const slci_copy_plan *plan, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
    const int last = plan->rank - 1;
    const int64_t width = plan->shape[last] * plan->unit_bytes;
    if (last < 1 || plan->dst_stride[last] != plan->unit_bytes ||
        plan->src_stride[last] != plan->unit_bytes || plan->dst_stride[last - 1] < width ||
        plan->src_stride[last - 1] < width) {
        return cudaErrorNotSupported;
    }
    int64_t index[SLCI_COPY_MAX_RANK] = {0};
    for (int d = 0; d >= 0;) {
        char *to = (char *)dst + plan->dst_offset;
        const char *from = (const char *)src + plan->src_offset;
        for (int outer = 0; outer < last - 1; outer++) {
            to += index[outer] * plan->dst_stride[outer];
            from += index[outer] * plan->src_stride[outer];
        }
        const cudaError_t error =
            cudaMemcpy2DAsync(to, (size_t)plan->dst_stride[last - 1], from,
                              (size_t)plan->src_stride[last - 1], (size_t)width,
                              (size_t)plan->shape[last - 1], kind, stream);
        if (error != cudaSuccess) {
            return error;
        }
        d = last - 2;
        while (d >= 0 && ++index[d] == plan->shape[d]) {
            index[d--] = 0;
        }
    }
    return cudaSuccess;
}
