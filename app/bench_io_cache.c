/* What more threads are worth on this machine where nothing comes from memory: each decodes a chunk
 * of its own from its cache, again and again. Processors that share a core or are clocked lower
 * together show here, and reading a file cannot scale better. */
#include <math.h>
#include <stdlib.h>

#include "app/bench_io_parts.h"
#include "core/clock.h"
#include "io/chunk_encode.h"
#include "io/h5_filter_list.h"

#define CHUNK_BYTES SLCI_BENCH_IO_CHUNK_BYTES
#define ELEMENT_BYTES 8
#define N_ROUNDS 2

/* How long one thread decodes for one round. */
#define ROUND_NS 40000000

typedef struct decoding {
    slci_chunk_decoder **decoder; /* [n_threads] */
    unsigned char *out;           /* [n_threads, CHUNK_BYTES] */
    unsigned char *stored;
    int64_t n_stored;
    int64_t n_repeats;
} decoding;

static slc_status decode(void *context, int64_t index, int worker) {
    const decoding *one = context;
    (void)worker;
    for (int64_t k = 0; k < one->n_repeats; k++) {
        SLC_TRY(slci_chunk_decode(one->decoder[index], 0, one->stored, one->n_stored,
                                  one->out + index * CHUNK_BYTES));
    }
    return SLC_OK;
}

static slc_status encode(const slci_bench_io_run *self, const slci_chunk_pipeline *pipeline,
                         decoding *one) {
    slci_chunk_encoder *encoder = NULL;
    SLC_TRY(slci_chunk_encoder_create(pipeline, &encoder));
    one->stored = malloc((size_t)slci_chunk_encoded_most(pipeline));
    const slc_status status =
        one->stored == NULL ? SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a chunk")
                            : slci_chunk_encode(encoder, self->rows, one->stored, &one->n_stored);
    slci_chunk_encoder_destroy(encoder);
    return status;
}

static slc_status time_round(slc_pool *pool, int64_t n_threads, decoding *one, double *best) {
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(slc_pool_for(pool, n_threads, decode, one));
    const double ns = (double)(slc_clock_ns() - begin_ns);
    *best = fmin(*best, ns / (double)one->n_repeats);
    return SLC_OK;
}

/* The first decoding of each thread makes its memory, and says how often a round repeats it. */
static slc_status run(slc_pool *pool, decoding *one, slci_bench_io_cache *in_cache) {
    const int64_t n_threads = slc_pool_size(pool);
    double first = INFINITY;
    one->n_repeats = 1;
    SLC_TRY(time_round(pool, n_threads, one, &first));
    SLC_TRY(time_round(pool, 1, one, &first));
    one->n_repeats = 1 + (int64_t)(ROUND_NS / first);
    for (int k = 0; k < N_ROUNDS; k++) {
        SLC_TRY(time_round(pool, 1, one, &in_cache->single_ns));
        SLC_TRY(time_round(pool, n_threads, one, &in_cache->all_ns));
    }
    return SLC_OK;
}

slc_status slci_bench_io_in_cache(slci_bench_io_run *self, const slci_bench_io_kind *kind,
                                  slci_bench_io_cache *in_cache) {
    const int n_threads = slc_pool_size(self->machine.pool);
    slci_chunk_pipeline pipeline;
    slci_h5_filter_pipeline(&kind->filter, CHUNK_BYTES, ELEMENT_BYTES, &pipeline);
    const int64_t bytes = slci_chunk_encoded_most(&pipeline) + slci_chunk_encoder_bytes(&pipeline) +
                          n_threads * (CHUNK_BYTES + slci_chunk_decoder_bytes(&pipeline));
    SLC_TRY(slc_budget_reserve(self->machine.budget, SLC_SPACE_HOST, bytes, "a chunk a thread"));
    decoding one = {.decoder = calloc((size_t)n_threads, sizeof(void *)),
                    .out = malloc((size_t)(n_threads * CHUNK_BYTES))};
    slc_status status = one.decoder != NULL && one.out != NULL
                            ? encode(self, &pipeline, &one)
                            : SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a chunk a thread");
    for (int k = 0; k < n_threads && status == SLC_OK; k++) {
        status = slci_chunk_decoder_create(&pipeline, &one.decoder[k]);
    }
    if (status == SLC_OK) {
        status = run(self->machine.pool, &one, in_cache);
    }
    for (int k = 0; k < n_threads && one.decoder != NULL; k++) {
        slci_chunk_decoder_destroy(one.decoder[k]);
    }
    free(one.stored);
    free(one.out);
    free(one.decoder);
    slc_budget_release(self->machine.budget, SLC_SPACE_HOST, bytes);
    return status;
}
