/* Merges what the blocks have found of one part into its results; included by kernels/stats_cuda.cu. */

/* One end of the range over all blocks, by one thread. */
__device__ static void merge_end(const unsigned long long *found, int n_blocks, int key, int place,
                                 bool is_down, unsigned long long *sums) {
    unsigned long long best = sums[key];
    unsigned long long at = sums[place];
    for (int b = 0; b < n_blocks; b++) {
        const unsigned long long other = found[b * SLC_STATS_WORDS + key];
        const unsigned long long other_at = found[b * SLC_STATS_WORDS + place];
        const bool is_further = is_down ? other < best : other > best;
        if (other_at != 0 && (at == 0 || is_further || (other == best && other_at < at))) {
            best = other;
            at = other_at;
        }
    }
    sums[key] = best;
    sums[place] = at;
}

__device__ static void merge_count(const unsigned long long *found, int n_blocks, int word,
                                   unsigned long long *sums) {
    for (int b = 0; b < n_blocks; b++) {
        sums[word] += found[b * SLC_STATS_WORDS + word];
    }
}

__device__ static void merge_place(const unsigned long long *found, int n_blocks, int word,
                                   unsigned long long *sums) {
    for (int b = 0; b < n_blocks; b++) {
        const unsigned long long other = found[b * SLC_STATS_WORDS + word];
        if (other != 0 && (sums[word] == 0 || other < sums[word])) {
            sums[word] = other;
        }
    }
}

/* Digit d takes what its own digits keep and what the ones below give; the highest of a sum gives
 * nothing. So every digit stays far from full, without a carry that would have to travel. */
__device__ static void merge_digit(const unsigned long long *found, int n_blocks, int word,
                                   bool is_lowest, bool is_highest, unsigned long long *sums,
                                   long long *before) {
    long long digit = is_highest ? before[word] : slci_exact_keep(before[word]);
    digit += is_lowest ? 0 : slci_exact_carry_of(before[word - 1]);
    for (int b = 0; b < n_blocks; b++) {
        const long long own = (long long)found[b * SLC_STATS_WORDS + word];
        digit += is_highest ? own : slci_exact_keep(own);
        if (!is_lowest) {
            digit += slci_exact_carry_of((long long)found[b * SLC_STATS_WORDS + word - 1]);
        }
    }
    sums[word] = (unsigned long long)digit;
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
    merge_blocks(const slci_stats_view view, const int part, const int n_blocks) {
    static_assert(SLC_STATS_WORDS <= BLOCK_THREADS, "a thread for each word");
    __shared__ long long before[SLC_STATS_WORDS];
    const unsigned long long *found = (const unsigned long long *)view.work;
    unsigned long long *sums = (unsigned long long *)view.sums + part * SLC_STATS_WORDS;
    const int word = threadIdx.x;
    if (word < SLC_STATS_WORDS) {
        before[word] = (long long)sums[word];
    }
    __syncthreads();
    if (word == SLC_STATS_N) {
        sums[word] += (unsigned long long)slci_stats_count(&view).n;
    } else if (word < SLC_STATS_PLACE_ABOVE) {
        merge_count(found, n_blocks, word, sums);
    } else if (word < SLC_STATS_LOWEST) {
        merge_place(found, n_blocks, word, sums);
    } else if (word == SLC_STATS_LOWEST) {
        merge_end(found, n_blocks, word, SLC_STATS_PLACE_LOWEST, true, sums);
    } else if (word == SLC_STATS_HIGHEST) {
        merge_end(found, n_blocks, word, SLC_STATS_PLACE_HIGHEST, false, sums);
    } else if (word >= SLC_STATS_SUM && word < SLC_STATS_WORDS) {
        merge_digit(found, n_blocks, word, word == SLC_STATS_SUM || word == SLC_STATS_SQUARES,
                    word == SLC_STATS_SQUARES - 1 || word == SLC_STATS_WORDS - 1, sums, before);
    }
}
