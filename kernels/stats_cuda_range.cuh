/* The ends of a part's range with their first places, and what is not finite: of a thread, then of its
 * block in shared memory, then in scratch for the merging kernel. For kernels/stats_cuda.cu. */
#define NOWHERE 0xffffffffffffffffull

/* What one thread has found of a part's range. */
struct thread_range {
    unsigned long long n_nan, n_infinite[2]; /* above, below */
    unsigned long long place_infinite[2];
    unsigned long long lowest, highest, place_lowest, place_highest;
};

template <typename Load>
__device__ static void note_range(thread_range *range, typename Load::value value,
                                  unsigned long long key, unsigned long long ordinal,
                                  bool has_ends) {
    if (Load::is_infinite(value)) {
        const int side = value > 0 ? 0 : 1;
        range->n_infinite[side]++;
        range->place_infinite[side] = min(range->place_infinite[side], ordinal);
        return;
    }
    if (!has_ends) {
        return;
    }
    /* A thread's ordinals rise, so the first of equals is kept. */
    if (range->place_lowest == NOWHERE || key < range->lowest) {
        range->lowest = key;
        range->place_lowest = ordinal;
    }
    if (range->place_highest == NOWHERE || key > range->highest) {
        range->highest = key;
        range->place_highest = ordinal;
    }
}

/* The block's ends of the range: keys first, then the first place among those that have them. */
__device__ static void meet(const thread_range &range, shared_sums *sums) {
    unsigned long long *word = sums->word;
    if (range.n_nan > 0) {
        (void)atomicAdd(&word[SLC_STATS_N_NAN], range.n_nan);
    }
    for (int side = 0; side < 2; side++) {
        if (range.n_infinite[side] > 0) {
            (void)atomicAdd(&word[SLC_STATS_N_ABOVE + side], range.n_infinite[side]);
            (void)atomicMin(&word[SLC_STATS_PLACE_ABOVE + side], range.place_infinite[side]);
        }
    }
    const bool has_any = range.place_lowest != NOWHERE;
    if (has_any) {
        (void)atomicMin(&word[SLC_STATS_LOWEST], range.lowest);
        (void)atomicMax(&word[SLC_STATS_HIGHEST], range.highest);
    }
    __syncthreads();
    if (has_any && range.lowest == word[SLC_STATS_LOWEST]) {
        (void)atomicMin(&word[SLC_STATS_PLACE_LOWEST], range.place_lowest);
    }
    if (has_any && range.highest == word[SLC_STATS_HIGHEST]) {
        (void)atomicMin(&word[SLC_STATS_PLACE_HIGHEST], range.place_highest);
    }
    __syncthreads();
}

__device__ static bool is_place(int word) {
    return word == SLC_STATS_PLACE_ABOVE || word == SLC_STATS_PLACE_BELOW ||
           word == SLC_STATS_PLACE_LOWEST || word == SLC_STATS_PLACE_HIGHEST;
}

__device__ static void clear_shared(shared_sums *sums) {
    for (int w = threadIdx.x; w < SLC_STATS_WORDS; w += BLOCK_THREADS) {
        sums->word[w] = is_place(w) || w == SLC_STATS_LOWEST ? NOWHERE : 0;
    }
    __syncthreads();
}

/* Ordinals become flat indices, and nothing is 0 again. */
__device__ static void store_shared(const slci_stats_view &view, const slci_stats_counts &counts,
                                    const shared_sums &sums) {
    unsigned long long *out = (unsigned long long *)view.work + blockIdx.x * SLC_STATS_WORDS;
    for (int w = threadIdx.x; w < SLC_STATS_WORDS; w += BLOCK_THREADS) {
        unsigned long long word = sums.word[w];
        if (is_place(w)) {
            word = word == NOWHERE
                       ? 0
                       : (unsigned long long)slci_stats_flat(&view, &counts, (int64_t)word) + 1;
        }
        out[w] = word;
    }
}
