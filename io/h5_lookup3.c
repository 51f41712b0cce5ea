/* Bob Jenkins's lookup3 (http://burtleburtle.net/bob/c/lookup3.c, public domain), as the file format's
 * specification names it: three words that take in twelve bytes at a time, and are mixed after each
 * twelve but the last. */
#include "io/h5_lookup3.h"

#include <string.h>

#define STEP_BYTES 12

static uint32_t rotate(uint32_t value, int n) {
    return value << n | value >> (32 - n);
}

static uint32_t word_at(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static void mix(uint32_t w[3]) {
    static const int turns[6] = {4, 6, 8, 16, 19, 4};
    for (int k = 0; k < 6; k++) {
        uint32_t *const a = &w[k % 3];
        uint32_t *const b = &w[(k + 1) % 3];
        uint32_t *const c = &w[(k + 2) % 3];
        *a = (*a - *c) ^ rotate(*c, turns[k]);
        *c += *b;
    }
}

static void finish(uint32_t w[3]) {
    static const int turns[7] = {14, 11, 25, 16, 4, 14, 24};
    for (int k = 0; k < 7; k++) {
        uint32_t *const to = &w[(k + 2) % 3];
        const uint32_t from = w[(k + 1) % 3];
        *to = (*to ^ from) - rotate(from, turns[k]);
    }
}

static void take_in(uint32_t w[3], const unsigned char bytes[STEP_BYTES]) {
    for (int k = 0; k < 3; k++) {
        w[k] += word_at(bytes + (size_t)k * 4);
    }
}

uint32_t slci_h5_lookup3(const unsigned char *bytes, int64_t n) {
    const uint32_t start = UINT32_C(0xDEADBEEF) + (uint32_t)n;
    uint32_t w[3] = {start, start, start};
    unsigned char last[STEP_BYTES] = {0};
    if (n == 0) {
        return w[2];
    }
    for (; n > STEP_BYTES; n -= STEP_BYTES, bytes += STEP_BYTES) {
        take_in(w, bytes);
        mix(w);
    }
    memcpy(last, bytes, (size_t)n);
    take_in(w, last);
    finish(w);
    return w[2];
}
