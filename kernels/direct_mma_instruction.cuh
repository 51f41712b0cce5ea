/* The matrix instructions of single warps, for fp16 operands and sums in single precision.
 *
 *     slci_mma_load_matrices(right, address);    four 8 × 8 matrices out of shared memory
 *     slci_mma_16x8x16(sum, left, right);        sum += left · right
 *
 * A thread's part of a product of 16 rows, 8 columns and the inner length 16, with g = lane / 4 and
 * t = 2 (lane mod 4):
 *
 *     left[0]   row g,     k = t, t + 1              right[0]   k = t, t + 1,           column g
 *     left[1]   row g + 8, the same                  right[1]   k = t + 8, t + 9,       column g
 *     left[2]   row g,     k = t + 8, t + 9          sum[0, 1]  row g,      columns t, t + 1
 *     left[3]   row g + 8, the same                  sum[2, 3]  row g + 8,  columns t, t + 1
 */
#ifndef SLC_KERNELS_DIRECT_MMA_INSTRUCTION_CUH
#define SLC_KERNELS_DIRECT_MMA_INSTRUCTION_CUH

#include <stdint.h>

/* Each matrix is eight lines of 16 bytes one after another; `address` is the lane's, of one line. */
static __device__ __forceinline__ void slci_mma_load_matrices(uint32_t *to, uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SLCI_MMA_INNER 8 /* length of one instruction */

/* Compute capability 7.5 has half the inner length. Cards from 8.0 to 8.9 add in the same halves. */
static __device__ __forceinline__ void slci_mma_16x8x8(float *sum, const uint32_t *left,
                                                       uint32_t right) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left[0]), "r"(left[1]), "r"(right));
}

static __device__ __forceinline__ void slci_mma_16x8x16(float *sum, const uint32_t *left,
                                                        const uint32_t *right) {
    slci_mma_16x8x8(sum, left, right[0]);
    slci_mma_16x8x8(sum, left + 2, right[1]);
}

#else
#define SLCI_MMA_INNER 16

static __device__ __forceinline__ void slci_mma_16x8x16(float *sum, const uint32_t *left,
                                                        const uint32_t *right) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]),
                   "r"(right[1]));
}

#endif

#endif
