/* Sums of complex numbers of two singles and the range of their absolute values, in one pass. Included
 * by kernels/stats_simd_body.h. */

/* The ends of the range of re² + im², which each pair of lanes has twice. */
typedef struct pair_sizes {
    lanes least, most;
} pair_sizes;

static inline void add_pair_sizes(pair_sizes *sizes, single_lanes x) {
    const lanes value = widen(x);
    const lanes square = value * value;
    const lanes size = square + neighbours(square);
    sizes->least = least_of(size, sizes->least);
    sizes->most = most_of(size, sizes->most);
}

static void end_pair_sizes(const pair_sizes *sizes, slci_stats_sizes *out) {
    *out = (slci_stats_sizes){.least = sizes->least[0], .most = sizes->most[0]};
    for (int l = 1; l < LANES; l++) {
        out->least = sizes->least[l] < out->least ? sizes->least[l] : out->least;
        out->most = sizes->most[l] > out->most ? sizes->most[l] : out->most;
    }
}

/* The sums as above, real parts in lanes of even number. The last pairs have zeros behind them where
 * they are summed, and others like the first one where it is the range that counts. */
static void terms_c64(const float *pairs, int64_t n, const slci_stats_rounding *rounding,
                      slci_stats_terms out[2], slci_stats_sizes *sizes) {
    single_sums even = {.square = split_begin(rounding->square)};
    single_sums odd = even;
    const lanes zeros = {0};
    pair_sizes even_sizes = {.least = zeros + INFINITY, .most = zeros};
    pair_sizes odd_sizes = even_sizes;
    int64_t i = 0;
    for (; i + INT64_C(2) * LANES <= 2 * n; i += INT64_C(2) * LANES) {
        single_lanes loaded[2];
        memcpy(loaded, pairs + i, sizeof loaded);
        add_singles(&even, loaded[0]);
        add_singles(&odd, loaded[1]);
        add_pair_sizes(&even_sizes, loaded[0]);
        add_pair_sizes(&odd_sizes, loaded[1]);
    }
    for (; i < 2 * n; i += LANES) {
        const int64_t n_left = 2 * n - i < LANES ? 2 * n - i : LANES;
        single_lanes loaded = {0};
        single_lanes filled;
        memcpy(&loaded, pairs + i, (size_t)n_left * sizeof *pairs);
        for (int l = 0; l < LANES; l++) {
            filled[l] = l < n_left ? pairs[i + l] : pairs[l % 2];
        }
        add_singles(&even, loaded);
        add_pair_sizes(&even_sizes, filled);
    }
    single_terms(&even, &odd, rounding->square, 0, 2, &out[0]);
    single_terms(&even, &odd, rounding->square, 1, 2, &out[1]);
    even_sizes.least = least_of(even_sizes.least, odd_sizes.least);
    even_sizes.most = most_of(even_sizes.most, odd_sizes.most);
    end_pair_sizes(&even_sizes, sizes);
}
