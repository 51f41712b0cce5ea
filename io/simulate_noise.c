/* A counter-based generator of uniform bits, and the transform of Box and Muller behind it. */
#include "io/simulate_noise.h"

#include <math.h>

#include "core/constants.h"

void slci_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t even = (uint64_t)0xD2511F53U * c[0];
        const uint64_t odd = (uint64_t)0xCD9E8D57U * c[2];
        c[0] = (uint32_t)(odd >> 32) ^ c[1] ^ k[0];
        c[1] = (uint32_t)odd;
        c[2] = (uint32_t)(even >> 32) ^ c[3] ^ k[1];
        c[3] = (uint32_t)even;
        k[0] += 0x9E3779B9U;
        k[1] += 0xBB67AE85U;
    }
    for (int i = 0; i < 4; i++) {
        out[i] = c[i];
    }
}

/* 53 bits in (0, 1]: never 0, whose logarithm there is none of. */
static double uniform(uint32_t high, uint32_t low) {
    const uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return (double)(bits + 1) * 0x1p-53;
}

void slci_noise(uint64_t seed, int64_t row, int64_t channel, int polarisation, double out[2]) {
    const uint32_t counter[4] = {(uint32_t)(uint64_t)row, (uint32_t)((uint64_t)row >> 32),
                                 (uint32_t)(uint64_t)channel, (uint32_t)polarisation};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t bits[4];
    slci_philox(counter, key, bits);
    const double radius = sqrt(-2.0 * log(uniform(bits[0], bits[1])));
    const double angle = SLC_TWO_PI * uniform(bits[2], bits[3]);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}
