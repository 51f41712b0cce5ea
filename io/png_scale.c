/* Percentiles by counting, and a colour map by formula.
 *
 * A double's bits, with the sign folded in, order as the number does. The k-th smallest of n is
 * therefore found 16 bits at a time: count the values that share the bits found so far by their next
 * 16, walk to the bin that holds the k-th, go on inside it. Four passes, exact.
 *
 * The colour map is the helix of D. A. Green (2011, Bull. Astron. Soc. India 39, 289): around the
 * grey diagonal of the colour cube, so that its brightness grows evenly from black to white and a
 * grey print still reads. */
#include "io/png_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"

#define DIGIT_BITS 16
#define N_BINS (1 << DIGIT_BITS)

/* Green's parameters: where the helix starts (0.5 is purple), how often it turns from black to
 * white, and how far it leaves the diagonal. One turn backwards goes through blue, green and orange;
 * at this saturation no colour leaves the cube by more than a rounding. */
static const double helix_start = 0.5;
static const double helix_turns = -1.0;
static const double helix_saturation = 0.9;

static uint64_t order_key(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double value_of_key(uint64_t key) {
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The finite value with `rank` finite values before it, 0 <= rank < their number. `counts` [N_BINS] is
 * scratch. */
static double select_rank(const double *image, int64_t n, int64_t rank, int64_t *counts) {
    uint64_t prefix = 0;
    for (int shift = 64 - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        memset(counts, 0, N_BINS * sizeof *counts);
        for (int64_t k = 0; k < n; k++) {
            const uint64_t key = order_key(image[k]);
            /* The shift is split because one by 64 bits, in the first pass, is undefined. */
            if (isfinite(image[k]) && (key >> shift >> DIGIT_BITS) == prefix) {
                counts[(key >> shift) & (N_BINS - 1)]++;
            }
        }
        int64_t bin = 0;
        while (rank >= counts[bin]) {
            rank -= counts[bin];
            bin++;
        }
        prefix = prefix << DIGIT_BITS | (uint64_t)bin;
    }
    return value_of_key(prefix);
}

slc_status slci_png_find_range(const double *image, int64_t n, slci_png_range *out) {
    memset(out, 0, sizeof *out);
    for (int64_t k = 0; k < n; k++) {
        out->n_finite += isfinite(image[k]) ? 1 : 0;
    }
    if (out->n_finite == 0) {
        return SLC_OK;
    }
    int64_t *const counts = (int64_t *)malloc(N_BINS * sizeof *counts);
    if (counts == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to scale a picture");
    }
    const double last = (double)(out->n_finite - 1);
    out->low = select_rank(image, n, (int64_t)(last * SLCI_PNG_LOW_PERCENT / 100), counts);
    out->high = select_rank(image, n, (int64_t)(last * SLCI_PNG_HIGH_PERCENT / 100), counts);
    if (out->low == out->high) {
        out->low = select_rank(image, n, 0, counts);
        out->high = select_rank(image, n, out->n_finite - 1, counts);
    }
    free(counts);
    return SLC_OK;
}

int slci_png_level(const slci_png_range *range, double value) {
    if (!isfinite(value)) {
        return 0;
    }
    if (range->low == range->high) {
        return 128;
    }
    /* Halves, because the difference of two doubles may be past the largest. */
    const double share = (value / 2 - range->low / 2) / (range->high / 2 - range->low / 2);
    return 1 + (int)lrint(254 * fmin(fmax(share, 0), 1));
}

void slci_png_colours(uint8_t colour[256][3]) {
    /* Green's equation 2: two directions across the diagonal, neither of which changes the
     * brightness 0.30 R + 0.59 G + 0.11 B. */
    static const double across[3][2] = {{-0.14861, 1.78277}, {-0.29227, -0.90649}, {1.97294, 0.0}};
    memset(colour[0], 128, 3);
    for (int level = 1; level < 256; level++) {
        const double grey = (level - 1) / 254.0;
        const double angle = SLC_TWO_PI * (helix_start / 3 + helix_turns * grey);
        const double radius = helix_saturation * grey * (1 - grey) / 2;
        for (int c = 0; c < 3; c++) {
            const double value =
                grey + radius * (across[c][0] * cos(angle) + across[c][1] * sin(angle));
            colour[level][c] = (uint8_t)lrint(255 * fmin(fmax(value, 0), 1));
        }
    }
}
