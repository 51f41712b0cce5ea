/* Strided copies on the device: kernels that move units of 1 to 16 bytes.
 *
 * copy_units. Unit number k of a piece, its first dimension the fastest:
 *     dst[Σ i_d · dst_stride_d] = src[Σ i_d · src_stride_d],  k = Σ i_d · Π_{e<d} extent_e
 * A thread moves UNITS units THREADS apart, so that the threads of a warp touch neighbours; all its
 * loads are under way before the first store. No shared memory.
 *
 * copy_groups. The same where the destination is dense and aligned along the first dimension: a
 * thread moves groups of 16 bytes, each loaded unit by unit from wherever the source has them and
 * stored at once. One index a group instead of one a unit, and a quarter of the stores for units of
 * 4 bytes.
 *
 * Both count in 32 bits and divide by multiplying (core/copy_piece.h). What they are limited by is
 * the memory, as long as enough is under way: 2,150 GB/s each way times 0.7 us is 11 KiB of loads
 * for each of 132 multiprocessors; these have 32 KiB and more. Transposes are in
 * core/copy_cuda_squares.cu. */
#include "core/copy_cuda.h"

#include "core/copy_piece.h"

#define THREADS 256

/* Groups of 16 bytes that a thread has under way. */
#define GROUPS 2

/* One access of 16 bytes; aligned, so that it is one instruction. */
struct __align__(16) unit16 {
    uint64_t low;
    uint64_t high;
};

template <typename T> struct __align__(16) group {
    T unit[SLCI_COPY_GROUP_BYTES / sizeof(T)];
};

/* Offsets of number `index`, in units. RANK is the piece's, or 0 for any. */
template <int RANK>
static __device__ __forceinline__ void find_unit(const slci_copy_piece &piece, uint32_t index,
                                                 int32_t *dst_offset, int32_t *src_offset) {
    const int rank = RANK > 0 ? RANK : piece.rank;
    int32_t dst = 0;
    int32_t src = 0;
#pragma unroll
    for (int d = 0; d < (RANK > 0 ? RANK : SLCI_COPY_MAX_RANK) - 1; d++) {
        if (d < rank - 1) {
            const uint32_t quotient = slci_copy_quotient(index, piece.extent[d]);
            const int32_t i = (int32_t)(index - quotient * piece.extent[d].divisor);
            dst += i * piece.dst_stride[d];
            src += i * piece.src_stride[d];
            index = quotient;
        }
    }
    *dst_offset = dst + (int32_t)index * piece.dst_stride[rank - 1];
    *src_offset = src + (int32_t)index * piece.src_stride[rank - 1];
}

template <typename T, int RANK, int UNITS>
static __global__ void __launch_bounds__(THREADS)
    copy_units(T *d_dst, const T *d_src, const slci_copy_piece piece) {
    const uint32_t first = blockIdx.x * (THREADS * UNITS) + threadIdx.x;
    T unit[UNITS];
    int32_t to[UNITS];
#pragma unroll
    for (int k = 0; k < UNITS; k++) {
        const uint32_t index = first + k * THREADS;
        int32_t from;
        find_unit<RANK>(piece, index, &to[k], &from);
        if (index < piece.n) {
            unit[k] = d_src[from];
        }
    }
#pragma unroll
    for (int k = 0; k < UNITS; k++) {
        if (first + k * THREADS < piece.n) {
            d_dst[to[k]] = unit[k];
        }
    }
}

template <typename T, int RANK>
static __global__ void __launch_bounds__(THREADS)
    copy_groups(T *d_dst, const T *d_src, const slci_copy_piece piece, int32_t src_step) {
    const uint32_t first = blockIdx.x * (THREADS * GROUPS) + threadIdx.x;
    const int n_units = SLCI_COPY_GROUP_BYTES / (int)sizeof(T);
    group<T> groups[GROUPS];
    int32_t to[GROUPS];
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        const uint32_t index = first + k * THREADS;
        int32_t from;
        find_unit<RANK>(piece, index, &to[k], &from);
        if (index < piece.n) {
#pragma unroll
            for (int i = 0; i < n_units; i++) {
                groups[k].unit[i] = d_src[from + i * src_step];
            }
        }
    }
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        if (first + k * THREADS < piece.n) {
            *(group<T> *)(d_dst + to[k]) = groups[k];
        }
    }
}

static unsigned blocks_for(uint32_t n, int per_thread) {
    const uint32_t per_block = THREADS * (uint32_t)per_thread;
    return (n + per_block - 1) / per_block;
}

/* Units of 64 bytes at most are under way in a thread. */
template <typename T> static constexpr int units_per_thread(void) {
    return sizeof(T) == 16 ? 4 : 8;
}

template <typename T, int RANK>
static void launch_units(T *d_dst, const T *d_src, const slci_copy_piece *piece,
                         cudaStream_t stream) {
    const int units = units_per_thread<T>();
    copy_units<T, RANK, units>
        <<<blocks_for(piece->n, units), THREADS, 0, stream>>>(d_dst, d_src, *piece);
}

template <typename T, int RANK>
static void launch_groups(T *d_dst, const T *d_src, const slci_copy_piece *piece, int32_t src_step,
                          cudaStream_t stream) {
    copy_groups<T, RANK>
        <<<blocks_for(piece->n, GROUPS), THREADS, 0, stream>>>(d_dst, d_src, *piece, src_step);
}

template <typename T>
static void launch(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                   cudaStream_t stream) {
    slci_copy_piece piece;
    slci_copy_piece_init(plan, &piece);
    T *dst = (T *)(d_dst + plan->dst_offset);
    const T *src = (const T *)(d_src + plan->src_offset);
    const int group_units = slci_copy_group_units(d_dst, plan);
    if (sizeof(T) < SLCI_COPY_GROUP_BYTES && group_units > 1) {
        const int32_t step = piece.src_stride[0];
        slci_copy_piece_coarsen(&piece, 0, group_units);
        switch (piece.rank) {
        case 2:
            launch_groups<T, 2>(dst, src, &piece, step, stream);
            break;
        case 3:
            launch_groups<T, 3>(dst, src, &piece, step, stream);
            break;
        default:
            launch_groups<T, 0>(dst, src, &piece, step, stream);
        }
        return;
    }
    switch (piece.rank) {
    case 2:
        launch_units<T, 2>(dst, src, &piece, stream);
        break;
    case 3:
        launch_units<T, 3>(dst, src, &piece, stream);
        break;
    default:
        launch_units<T, 0>(dst, src, &piece, stream);
    }
}

static cudaError_t launch_general(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                                  cudaStream_t stream) {
    switch (plan->unit_bytes) {
    case 1:
        launch<uint8_t>(d_dst, d_src, plan, stream);
        break;
    case 2:
        launch<uint16_t>(d_dst, d_src, plan, stream);
        break;
    case 4:
        launch<uint32_t>(d_dst, d_src, plan, stream);
        break;
    case 8:
        launch<uint64_t>(d_dst, d_src, plan, stream);
        break;
    case 16:
        launch<unit16>(d_dst, d_src, plan, stream);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t slci_copy_cuda_launch(void *d_dst, const void *d_src,
                                             const slci_copy_plan *plan, cudaStream_t stream) {
    slci_copy_plan first = *plan;
    while (!slci_copy_piece_fits(&first)) {
        slci_copy_plan second;
        slci_copy_plan_halve(&first, &second);
        const cudaError_t error = slci_copy_cuda_launch(d_dst, d_src, &second, stream);
        if (error != cudaSuccess) {
            return error;
        }
    }
    if (first.way == SLCI_COPY_TRANSPOSE) {
        return slci_copy_cuda_squares((char *)d_dst, (const char *)d_src, &first, stream);
    }
    return launch_general((char *)d_dst, (const char *)d_src, &first, stream);
}

static cudaError_t load_kernel(cudaError_t error, const void *kernel) {
    struct cudaFuncAttributes attributes;
    return error == cudaSuccess ? cudaFuncGetAttributes(&attributes, kernel) : error;
}

template <typename T> static cudaError_t load_units(cudaError_t error) {
    const int units = units_per_thread<T>();
    error = load_kernel(error, (const void *)copy_units<T, 0, units>);
    error = load_kernel(error, (const void *)copy_units<T, 2, units>);
    return load_kernel(error, (const void *)copy_units<T, 3, units>);
}

template <typename T> static cudaError_t load(cudaError_t error) {
    error = load_units<T>(error);
    error = load_kernel(error, (const void *)copy_groups<T, 0>);
    error = load_kernel(error, (const void *)copy_groups<T, 2>);
    return load_kernel(error, (const void *)copy_groups<T, 3>);
}

extern "C" cudaError_t slci_copy_cuda_load(void) {
    cudaError_t error = load<uint8_t>(cudaSuccess);
    error = load<uint16_t>(error);
    error = load<uint32_t>(error);
    error = load<uint64_t>(error);
    error = load_units<unit16>(error);
    return error == cudaSuccess ? slci_copy_cuda_load_squares() : error;
}

/* A pitched copy for every combination of the outer indices. */
/* Units that are apart on one side are rows of one unit each. */
static void add_units(const slci_copy_plan *plan, slci_copy_plan *out) {
    *out = *plan;
    if (plan->rank < SLCI_COPY_MAX_RANK) {
        out->shape[plan->rank] = 1;
        out->dst_stride[plan->rank] = out->src_stride[plan->rank] = plan->unit_bytes;
        out->rank++;
    }
}

extern "C" cudaError_t slci_copy_cuda_pitched(void *dst, const void *src,
                                              const slci_copy_plan *given, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
    slci_copy_plan with_units;
    const slci_copy_plan *plan = given;
    int last = plan->rank - 1;
    if (plan->dst_stride[last] != plan->unit_bytes || plan->src_stride[last] != plan->unit_bytes) {
        add_units(given, &with_units);
        plan = &with_units;
        last = plan->rank - 1;
    }
    const int64_t width = plan->shape[last] * plan->unit_bytes;
    if (last < 1 || plan->dst_stride[last - 1] < width || plan->src_stride[last - 1] < width) {
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
