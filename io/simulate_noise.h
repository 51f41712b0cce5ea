/* Internal: noise without a state. Each sample's noise is a function of the seed and of where the
 * sample stands, so rows can be made in any order by any thread. */
#ifndef SLC_IO_SIMULATE_NOISE_H
#define SLC_IO_SIMULATE_NOISE_H

#include <stdint.h>

/* Philox4x32 with ten rounds: a bijection of the counter for each key. Source: Salmon, Moraes, Dror
 * & Shaw, Parallel random numbers: as easy as 1, 2, 3, SC11. */
void slci_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Two independent numbers from a normal distribution of mean 0 and standard deviation 1, for the real
 * and the imaginary part of one sample. */
void slci_noise(uint64_t seed, int64_t row, int64_t channel, int polarisation, double out[2]);

#endif
