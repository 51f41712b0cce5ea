/* Merges what the blocks have found of one part into its results; included by kernels/stats_cuda.cu.
 * A thread for each word, and several groups of those that share the blocks, since a load takes much
 * longer than what is done with it; the groups meet in shared memory. */
#define MERGE_GROUPS 4
#define MERGE_THREADS (MERGE_GROUPS * BLOCK_THREADS)

/* The first of two places, either of which may be none (0). */
__device__ static void take_place(unsigned long long other, unsigned long long *place) {
    if (other != 0 && (*place == 0 || other < *place)) {
        *place = other;
    }
}

/* One end of the range: its key and its place. */
__device__ static void take_end(bool is_down, unsigned long long other, unsigned long long other_at,
                                unsigned long long *best, unsigned long long *at) {
    const bool is_further = is_down ? other < *best : other > *best;
    if (other_at != 0 && (*at == 0 || is_further || (other == *best && other_at < *at))) {
        *best = other;
        *at = other_at;
    }
}

__device__ static bool is_digit(int word) {
    return word >= SLC_STATS_SUM && word < SLC_STATS_WORDS;
}

/* What digit `word` takes of a sum: what its own digit keeps and what the one below gives; the highest
 * of a sum gives nothing. So every digit stays far from full, and no carry has to travel. */
__device__ static long long digit_share(const unsigned long long *sums, int word) {
    const bool is_lowest = word == SLC_STATS_SUM || word == SLC_STATS_SQUARES;
    const bool is_highest = word == SLC_STATS_SQUARES - 1 || word == SLC_STATS_WORDS - 1;
    const long long own = (long long)sums[word];
    const long long below = is_lowest ? 0 : (long long)sums[word - 1];
    return (is_highest ? own : slci_exact_keep(own)) + slci_exact_carry_of(below);
}

/* A word of `n` blocks' results, `stride` blocks apart, and the place of an end. */
__device__ static void merge_word(const unsigned long long *found, int n, int stride, int word,
                                  unsigned long long *out) {
    unsigned long long value = 0;
    unsigned long long at = 0;
    const bool is_end = word == SLC_STATS_LOWEST || word == SLC_STATS_HIGHEST;
#pragma unroll 4
    for (int b = 0; b < n; b++) {
        const unsigned long long *words = found + (int64_t)b * stride * SLC_STATS_WORDS;
        if (is_digit(word)) {
            value += (unsigned long long)digit_share(words, word);
        } else if (is_end) {
            take_end(word == SLC_STATS_LOWEST, words[word], words[word + 1], &value, &at);
        } else if (word < SLC_STATS_PLACE_ABOVE) {
            value += words[word];
        } else {
            take_place(words[word], &value);
        }
    }
    out[word] = value;
    if (is_end) {
        out[word + 1] = at;
    }
}

static __global__ void __launch_bounds__(MERGE_THREADS)
    merge_blocks(const slci_stats_view view, const int part, const int n_blocks) {
    static_assert(SLC_STATS_WORDS <= BLOCK_THREADS, "a thread for each word");
    static_assert(SLC_STATS_PLACE_LOWEST == SLC_STATS_LOWEST + 1 &&
                      SLC_STATS_PLACE_HIGHEST == SLC_STATS_HIGHEST + 1,
                  "the place of an end is the next word");
    /* The groups' results, and behind them those so far, whose digits are carried alike. */
    __shared__ unsigned long long merged[(MERGE_GROUPS + 1) * SLC_STATS_WORDS];
    const unsigned long long *found = (const unsigned long long *)view.work;
    unsigned long long *sums = (unsigned long long *)view.sums + part * SLC_STATS_WORDS;
    const int word = threadIdx.x % BLOCK_THREADS;
    const int group = threadIdx.x / BLOCK_THREADS;
    const bool has_word =
        word < SLC_STATS_WORDS && word != SLC_STATS_PLACE_LOWEST && word != SLC_STATS_PLACE_HIGHEST;
    if (has_word) {
        merge_word(found + group * SLC_STATS_WORDS,
                   (n_blocks - group + MERGE_GROUPS - 1) / MERGE_GROUPS, MERGE_GROUPS, word,
                   merged + group * SLC_STATS_WORDS);
    }
    if (has_word && group == 0) {
        merge_word(sums, 1, 1, word, merged + MERGE_GROUPS * SLC_STATS_WORDS);
    }
    __syncthreads();
    if (!has_word || group != 0) {
        return;
    }
    if (word == SLC_STATS_N) {
        sums[word] += (unsigned long long)slci_stats_count(&view).n;
    } else if (is_digit(word)) {
        unsigned long long digit = 0;
        for (int g = 0; g <= MERGE_GROUPS; g++) {
            digit += merged[g * SLC_STATS_WORDS + word];
        }
        sums[word] = digit;
    } else {
        merge_word(merged, MERGE_GROUPS + 1, 1, word, sums);
    }
}
