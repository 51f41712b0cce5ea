/* Products by the warp-group instructions of compute capability 9.0a: four warps, 64 rows of the tile,
 * multiply together, each from its registers, by columns in shared memory.
 * slci_mma_group_unit is used as direct_mma_sum.cuh says.
 */
#ifndef SLC_KERNELS_DIRECT_MMA_GROUP_CUH
#define SLC_KERNELS_DIRECT_MMA_GROUP_CUH

#include "kernels/direct_mma_block.cuh"

/* Describes an operand that begins at a line of shared memory, without swizzle: 8 lines of 16 bytes
 * are one matrix of 128 bytes, the next lines follow it, and the next chunk is all 128 lines further
 * on. All in units of 16 bytes. */
static __device__ __forceinline__ uint64_t slci_mma_describe(uint32_t line) {
    const uint64_t next_chunk = SLCI_MMA_TILE;
    const uint64_t next_lines = 8;
    return (uint64_t)line | next_chunk << 16 | next_lines << 32;
}

/* sum += 64 rows of left · 128 columns of right, 8 samples. */
static __device__ __forceinline__ void slci_mma_64x128x16(float *sum, const uint32_t *left,
                                                          uint64_t right) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "{%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]),
                   "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]),
                   "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
                   "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
                   "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]),
                   "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]),
                   "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]),
                   "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]),
                   "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]),
                   "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]),
                   "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]),
                   "+f"(sum[55]), "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]),
                   "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right)
                 : "memory");
}

/* Matrix instructions of four warps together: compute capability 9.0, built for 9.0a. */
struct slci_mma_group_unit {
    static constexpr bool IS_SHORT = false;

    /* What this thread has written becomes visible to the instructions below. */
    static __device__ __forceinline__ void publish() {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }

    static __device__ __forceinline__ void begin() {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    }

    static __device__ __forceinline__ void multiply(float *part, const uint32_t *left,
                                                    uint32_t right) {
        slci_mma_64x128x16(part, left, slci_mma_describe(right));
    }

    static __device__ __forceinline__ void commit() {
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }

    /* Until all products are done but those of the last N commits. */
    template <int N> static __device__ __forceinline__ void wait() {
        asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
    }

    /* Sums are not looked at before this point in the program, and operands made before it. */
    static __device__ __forceinline__ void settle(float *part) {
#pragma unroll
        for (int i = 0; i < 64; i++) {
            asm volatile("" : "+f"(part[i])::"memory");
        }
    }
    static __device__ __forceinline__ void settle(uint32_t *left) {
        asm volatile("" : "+r"(left[0]), "+r"(left[1]), "+r"(left[2]), "+r"(left[3])::"memory");
    }
};

#endif
