/* What bench_direct_cuda.c measures and bench_direct_cuda.cu runs: limits of the card and a peer.
 * Each returns false when a CUDA call failed, with the reason on stderr.
 *
 *     double rate;
 *     if (!bench_special_rate(&rate)) { ... }
 */
#ifndef SLC_TESTS_BENCH_DIRECT_CUDA_H
#define SLC_TESTS_BENCH_DIRECT_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How w c enters a pair, as in kernels/direct_cuda_pair.cuh. */
enum { BENCH_FLAT, BENCH_SINGLE, BENCH_DOUBLE, BENCH_WIDE, BENCH_N_VARIANTS };

/* Cosines of the special-function unit a second when there is nothing else to do. */
bool bench_special_rate(double *per_second);

/* Pairs a second when there is nothing else to do than a variant's instructions for a pair: neither
 * turns are made nor sums promoted. */
bool bench_pair_rate(int variant, double *per_second);

/* The largest |cosine - exact| over all 2^32 turns, as the kernel without w c forms it. */
bool bench_phase_error(double *worst);

/* The direct transform as it is commonly written for a GPU: single precision, visibilities staged
 * through shared memory, three pixels a thread, a fast sine and cosine a pair. uvw [n, 3] wavelengths,
 * vis [n, 2], image [size, size] (overwritten), all host; the best of `repeats` runs in `ns`. */
bool bench_peer(int64_t n, const double *uvw, const float *vis, int64_t size, double scale_rad,
                int repeats, float *image, int64_t *ns);

#ifdef __cplusplus
}
#endif
#endif
