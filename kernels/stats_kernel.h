/* Statistics of an array that passes by in tiles: how many values, which are smallest and largest and
 * where, exact sums of values and squares, how many lie in each bin of a histogram, and one step of
 * the search for values by their rank. Every result is a whole number, merged by addition or by taking
 * the smaller or larger one, so neither tiles nor threads nor the device change a bit of it.
 *
 *     const slc_stats_request request = {.dtype = SLC_F32, .rank = 1, .shape = {n}, .n_parts = 1};
 *     SLC_TRY(slc_stats_choose(&request, &setup));
 *     SLC_TRY(slc_stats_job_init(&setup, device->kind, n_threads, &job));
 */
#ifndef SLC_KERNELS_STATS_KERNEL_H
#define SLC_KERNELS_STATS_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What of an element is looked at. */
typedef enum slc_stats_part {
    SLC_STATS_VALUE, /* of a real number, itself */
    SLC_STATS_REAL,
    SLC_STATS_IMAG,
    SLC_STATS_ABS /* in double precision, rounded after each square, their sum and the root; */
                  /* scaled by powers of two, so that it neither over- nor underflows */
} slc_stats_part;

/* Real and imaginary part, and the absolute value. */
#define SLC_STATS_MOST_PARTS 3

/* Values are counted by a digit of their key in one step of a search by rank: one of so many bits at
 * most ... */
#define SLC_STATS_MOST_DIGIT_BITS 16
/* ... among at most so many groups of values that are equal in all higher bits. */
#define SLC_STATS_MOST_GROUPS 16

#define SLC_STATS_MOST_BINS 65536

/* What the results of one part hold, by number of the word; SLC_STATS_WORDS in all. Zeros are those of
 * no elements. A place is the flat index in the array, in C order, plus one; the first of equals. NaN
 * takes part in N and N_NAN only, infinities not in LOWEST, HIGHEST and the sums. Of several parts the
 * last one has no sums, and the others have neither LOWEST nor HIGHEST nor their places: these words
 * are 0. */
enum {
    SLC_STATS_N,     /* elements, all of them */
    SLC_STATS_N_NAN, /* with several parts all are NaN where one is */
    SLC_STATS_N_ABOVE,
    SLC_STATS_N_BELOW, /* infinities of both signs */
    SLC_STATS_PLACE_ABOVE,
    SLC_STATS_PLACE_BELOW,
    SLC_STATS_LOWEST, /* keys of finite values; 0 is a key too, where the place is not 0 */
    SLC_STATS_PLACE_LOWEST,
    SLC_STATS_HIGHEST,
    SLC_STATS_PLACE_HIGHEST,
    SLC_STATS_SUM,                          /* 68 digits, kernels/stats_exact.h */
    SLC_STATS_SQUARES = SLC_STATS_SUM + 68, /* 136 digits */
    SLC_STATS_WORDS = SLC_STATS_SQUARES + 136
};

typedef struct slc_stats_request {
    slc_dtype dtype; /* integer, float or complex */
    int rank;        /* at least 1 */
    int64_t shape[SLC_MAX_RANK];
    int64_t unit[SLC_MAX_RANK]; /* steps of a natural unit of the source; 0: it has none */
    /* A complex number's parts in this order; for other types only SLC_STATS_VALUE. Search and
     * histogram look at the last one. */
    int n_parts;
    slc_stats_part parts[SLC_STATS_MOST_PARTS];
    int n_groups;   /* of the search; 0: there is none */
    int digit_bits; /* of the search: 1 to SLC_STATS_MOST_DIGIT_BITS */
    int64_t n_bins; /* of the histogram; 0: there is none */
} slc_stats_request;

static inline int64_t slc_stats_n_digits(const slc_stats_request *request) {
    return INT64_C(1) << request->digit_bits;
}

/* What the job works with. Another step changes what `step` says and nothing else. */
typedef struct slc_stats_step {
    bool has_moments; /* everything in SLC_STATS_N … SLC_STATS_WORDS is wanted */
    bool has_bins;
    /* Digits of keys are (key >> shift) modulo 2^digit_bits; counted are those whose bits above them
     * are group[g], distinct and rising. 0 groups: no search in this step. */
    int n_groups;
    int digit_bits; /* as in the request */
    int shift;
    uint64_t group[SLC_STATS_MOST_GROUPS];
} slc_stats_step;

typedef struct slc_stats_setup {
    slc_stats_request request;
    slc_stats_step step;
    int n_axes;
    slc_axis axes[SLC_MAX_AXES];
    int axis_of[SLC_MAX_RANK];                 /* of each dimension; SLC_AXIS_FIXED: always whole */
    int data, edges, sums, digits, bins, work; /* operands by number; -1: there is none */
    int n_operands;
    const struct slci_stats_simd
        *force_simd; /* tests: the host's loops; NULL: the processor's best */
} slc_stats_setup;

typedef struct slc_stats_kernel {
    const char *name; /* "stats/host", "stats/cuda" */
    slc_device_kind device;
    /* The slc_job tile function; `state` is the setup. Only enqueues. */
    slc_status (*tile)(void *state, const slc_tile_arguments *arguments);
    /* (optional) the slc_job prepare function. */
    slc_status (*prepare)(void *state, slc_device *device);
    /* Device memory for scratch. */
    int64_t (*work_bytes)(const slc_stats_setup *setup, int n_threads);
} slc_stats_kernel;

/* Chooses axes and operands; the step is one of moments alone. SLC_ERROR_ARGUMENT for a rank, type,
 * part or number that cannot be. */
SLC_API SLC_MUST_USE slc_status slc_stats_choose(const slc_stats_request *request,
                                                 slc_stats_setup *out);

/* The kernel for a device; NULL if it was not built. */
SLC_API const slc_stats_kernel *slc_stats_kernel_get(slc_device_kind device);

/* The job. DATA has the array's shape. EDGES, in, f64 [n_bins + 1], rising: bin b counts what is at
 * least edge b and less than edge b + 1, the last one that edge too, compared as doubles. Updates, all
 * u64: SUMS [n_parts, SLC_STATS_WORDS]; DIGITS [n_groups, 2^digit_bits]; BINS [n_bins + 2]: below,
 * the bins, above. `setup` is lent for the job's life. SLC_ERROR_ARGUMENT when there is no kernel for
 * the device. */
SLC_API SLC_MUST_USE slc_status slc_stats_job_init(const slc_stats_setup *setup,
                                                   slc_device_kind device, int n_threads,
                                                   slc_job *out);

/* Keys order values as numbers do: a smaller one has the smaller key. Integers: what is above the
 * smallest of their type; floats: the bits, in an order that rises, and -0 has the key of 0. */
typedef enum slc_stats_form {
    SLC_STATS_SIGNED,
    SLC_STATS_UNSIGNED,
    SLC_STATS_F32,
    SLC_STATS_F64
} slc_stats_form;

/* How the values of a part are seen, and how many bits their keys have. */
SLC_API slc_stats_form slc_stats_form_of(slc_dtype dtype, slc_stats_part part);
SLC_API int slc_stats_key_bits(slc_dtype dtype, slc_stats_part part);

/* The value of a key. As a whole number: of an integer type only; two's complement, and for 64 bits
 * without a sign to be read as such. */
SLC_API double slc_stats_key_value(slc_dtype dtype, slc_stats_part part, uint64_t key);
SLC_API uint64_t slc_stats_key_whole(slc_dtype dtype, uint64_t key);

#ifdef __cplusplus
}
#endif
#endif
