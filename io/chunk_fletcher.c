/* fletcher32 (HDF5 filter 3): a checksum of 16-bit words in the last four bytes, low byte first.
 *
 * With words w_0 .. w_(N-1) its halves are Σ w_i and Σ (N - i) w_i modulo 65535, where 65535 stands for
 * 0 unless all words are 0. The sums go over vectors: lane l of 8 sees the words 8 t + l and keeps
 * a = Σ w and b = Σ (m - t) w over m steps, and then N - i = 8 (m - t) - l.
 *
 * HDF5 takes the words with the high byte first. Swapping the bytes of a word is multiplying it by 256
 * modulo 65535, so the sum of swapped words is the swapped sum. Files of HDF5 1.6.2 and before hold the
 * swapped one; HDF5 takes both, and so the order in which words are loaded here does not matter. */
#include <string.h>

#include "core/checked.h"
#include "io/chunk_stage.h"

#define CHECKSUM_BYTES 4
#define MODULUS 65535
#define LANES 8

/* So many steps keep b within 32 bits: 65535 · m (m + 1) / 2 < 2^32. */
#define STEPS 360

typedef uint16_t words8 __attribute__((vector_size(2 * LANES)));
typedef uint32_t sums8 __attribute__((vector_size(4 * LANES)));

typedef struct sums {
    uint64_t first,
        second; /* below MODULUS · something small; not 0 after the first word that is not */
} sums;

/* What stands for the value modulo 65535: 0 only for 0. */
static uint64_t reduce(uint64_t value) {
    return value == 0 ? 0 : (value - 1) % MODULUS + 1;
}

/* `words` [n] come in one after the other. */
static void add_words(sums *to, const unsigned char *words, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        uint16_t word;
        memcpy(&word, words + 2 * k, sizeof word);
        to->first += word;
        to->second += to->first;
    }
    to->first = reduce(to->first);
    to->second = reduce(to->second);
}

/* `n_steps` <= STEPS vectors of words. */
static void add_vectors(sums *to, const unsigned char *words, int64_t n_steps) {
    sums8 a = {0};
    sums8 b = {0};
    for (int64_t t = 0; t < n_steps; t++) {
        words8 w;
        memcpy(&w, words + t * (int64_t)sizeof w, sizeof w);
        a += __builtin_convertvector(w, sums8);
        b += a;
    }
    uint64_t first = 0;
    uint64_t second = to->second + (uint64_t)(n_steps * LANES) * to->first;
    for (uint64_t lane = 0; lane < LANES; lane++) {
        first += a[lane];
        second += LANES * (uint64_t)b[lane] - lane * a[lane];
    }
    to->first = reduce(to->first + first);
    to->second = reduce(second);
}

static uint32_t checksum(const unsigned char *in, int64_t n_bytes) {
    sums sum = {0, 0};
    const int64_t n_words = n_bytes / 2;
    const int64_t n_vectors = n_words / LANES;
    for (int64_t k = 0; k < n_vectors; k += STEPS) {
        add_vectors(&sum, in + k * 2 * LANES, slc_min_i64(STEPS, n_vectors - k));
    }
    add_words(&sum, in + n_vectors * 2 * LANES, n_words - n_vectors * LANES);
    if (n_bytes % 2 != 0) {
        const unsigned char last[2] = {in[n_bytes - 1], 0};
        add_words(&sum, last, 1);
    }
    return (uint32_t)(sum.second << 16 | sum.first);
}

static uint32_t swap_halves(uint32_t sum) {
    return (sum & 0x00FF00FFU) << 8 | (sum >> 8 & 0x00FF00FFU);
}

uint32_t slci_chunk_fletcher_sum(const unsigned char *in, int64_t n_bytes) {
    return swap_halves(checksum(in, n_bytes));
}

slc_status slci_chunk_fletcher_check(const slci_chunk_stage *stage) {
    if (stage->n_in < CHECKSUM_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes have no room for a checksum",
                        (long long)stage->n_in);
    }
    const int64_t n = stage->n_in - CHECKSUM_BYTES;
    const unsigned char *at = stage->in + n;
    const uint32_t stored =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    const uint32_t found = checksum(stage->in, n);
    if (stored != found && stored != swap_halves(found)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the checksum of the data is %08x in place of %08x: damaged",
                        swap_halves(found), stored);
    }
    return SLC_OK;
}
