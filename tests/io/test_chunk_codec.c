/* Pipelines: what is refused, every filter and mask there and back, and damage, all in memory that
 * ends at a page nobody may touch. */
#include <pthread.h>
#include <zstd.h>

#include "io/chunk_stage.h"
#include "tests/support/test_chunks.h"
#include "tests/support/test_guard.h"
#include "tests/support/test_support.h"

/* Pipelines of one to three filters for elements of 8 bytes. */
#define SHUFFLE TEST_FILTER(SLCI_FILTER_SHUFFLE, 8)
#define FLETCHER TEST_FILTER(SLCI_FILTER_FLETCHER32, 0)
#define DEFLATE TEST_FILTER(SLCI_FILTER_DEFLATE, 4)
#define ZSTD TEST_FILTER(SLCI_FILTER_ZSTD, 3)

static slci_chunk_pipeline pipeline_of(int64_t chunk_bytes, int n,
                                       const slci_chunk_filter *filters) {
    slci_chunk_pipeline pipeline = {.n_filters = n, .chunk_bytes = chunk_bytes, .element_bytes = 8};
    for (int k = 0; k < n; k++) {
        pipeline.filter[k] = filters[k];
    }
    return pipeline;
}

typedef struct pipe_case {
    int n;
    slci_chunk_filter filter[3];
} pipe_case;

static const pipe_case pipes[] = {
    {0, {{0}}},
    {1, {SHUFFLE}},
    {1, {FLETCHER}},
    {1, {DEFLATE}},
    {1, {ZSTD}},
    {1, {TEST_FILTER(SLCI_FILTER_LZF, 4, 261, 0)}},
    {1, {TEST_FILTER(SLCI_FILTER_LZ4, 1024)}},
    {1, {TEST_FILTER(SLCI_FILTER_LZ4, 1000000)}},
    {1, {TEST_FILTER(SLCI_FILTER_BLOSC, 2, 2, 8, 0, 5, 1, 0)}},
    {1, {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 0, 0)}},
    {1, {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 0, 2)}},
    {1, {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 0, 3)}},
    {1, {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 1, 200, 2)}},
    {1, {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 3, 16, 2)}},
    {2, {SHUFFLE, ZSTD}},
    {2, {SHUFFLE, DEFLATE}},
    {2, {FLETCHER, DEFLATE}},
    {2, {SHUFFLE, TEST_FILTER(SLCI_FILTER_LZ4, 600)}},
    {3, {SHUFFLE, DEFLATE, FLETCHER}},
    {3, {FLETCHER, SHUFFLE, DEFLATE}},
    {3, {SHUFFLE, FLETCHER, ZSTD}},
    {3, {SHUFFLE, SHUFFLE, SHUFFLE}},
    {3, {FLETCHER, FLETCHER, FLETCHER}},
};

/* Decodes from and to guarded memory. `out` may be NULL. */
static slc_status decode(slci_chunk_decoder *decoder, uint32_t mask, const unsigned char *stored,
                         int64_t n_stored, int64_t n_raw, unsigned char *out) {
    test_guard from;
    test_guard to;
    test_guard_open(n_stored, &from);
    test_guard_open(n_raw, &to);
    memcpy(from.bytes, stored, (size_t)n_stored);
    const slc_status status = slci_chunk_decode(decoder, mask, from.bytes, n_stored, to.bytes);
    if (status == SLC_OK && out != NULL) {
        memcpy(out, to.bytes, (size_t)n_raw);
    }
    test_guard_close(&to);
    test_guard_close(&from);
    return status;
}

/* A decoder for the case; NULL where a library is missing. */
static slci_chunk_decoder *decoder_of(const slci_chunk_pipeline *pipeline) {
    slci_chunk_decoder *decoder = NULL;
    char why[SLCI_CHUNK_WHY_BYTES];
    if (!slci_chunk_pipeline_check(pipeline, why, sizeof why)) {
        print_message("left out: %s\n", why);
        assert_non_null(strstr(why, "this build has no"));
        return NULL;
    }
    TEST_OK(slci_chunk_decoder_create(pipeline, &decoder));
    return decoder;
}

static void there_and_back_with_every_mask(void **state) {
    (void)state;
    static const int64_t sizes[] = {8, 16, 1000, 4096, 17160};
    unsigned char out[17160];
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        for (int64_t s = 0; s < TEST_COUNT(sizes); s++) {
            const slci_chunk_pipeline pipeline = pipeline_of(sizes[s], pipes[p].n, pipes[p].filter);
            slci_chunk_decoder *decoder = decoder_of(&pipeline);
            for (uint32_t mask = 0; decoder != NULL && mask < 1U << pipeline.n_filters; mask++) {
                test_chunk *chunk = test_chunk_create(&pipeline, mask, (uint64_t)(p * 100 + s));
                TEST_OK(decode(decoder, mask, chunk->stored, chunk->n_stored, chunk->n_raw, out));
                assert_memory_equal(out, chunk->raw, (size_t)chunk->n_raw);
                test_chunk_destroy(chunk);
            }
            slci_chunk_decoder_destroy(decoder);
        }
    }
}

/* In as many runs, which lie in the reverse order: what one decoding in a piece gives, with every
 * mask. */
static void check_runs(slci_chunk_decoder *decoder, uint32_t mask, const test_chunk *chunk,
                       int64_t n_runs) {
    const int64_t run_bytes = chunk->n_raw / n_runs;
    unsigned char **run = test_allocate(n_runs * (int64_t)sizeof *run);
    test_guard from;
    test_guard to;
    test_guard_open(chunk->n_stored, &from);
    test_guard_open(chunk->n_raw, &to);
    memcpy(from.bytes, chunk->stored, (size_t)chunk->n_stored);
    for (int64_t r = 0; r < n_runs; r++) {
        run[r] = to.bytes + (n_runs - 1 - r) * run_bytes;
    }
    const slci_chunk_runs runs = {.n_runs = n_runs, .run_bytes = run_bytes, .run = run};
    TEST_OK(slci_chunk_decode_runs(decoder, mask, from.bytes, chunk->n_stored, &runs));
    for (int64_t r = 0; r < n_runs; r++) {
        assert_memory_equal(run[r], chunk->raw + r * run_bytes, (size_t)run_bytes);
    }
    test_guard_close(&to);
    test_guard_close(&from);
    free(run);
}

static void runs_are_decoded_where_they_go(void **state) {
    static const int64_t counts[] = {1, 3, 11, 65, 2145};
    const int64_t bytes = INT64_C(8) * 2145;
    int n_checked = 0;
    (void)state;
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        const slci_chunk_pipeline pipeline = pipeline_of(bytes, pipes[p].n, pipes[p].filter);
        slci_chunk_decoder *decoder = decoder_of(&pipeline);
        for (uint32_t mask = 0; decoder != NULL && mask < 1U << pipeline.n_filters; mask++) {
            if (!slci_chunk_decodes_runs(decoder, mask)) {
                continue;
            }
            test_chunk *chunk = test_chunk_create(&pipeline, mask, (uint64_t)(p * 100 + 50));
            for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
                check_runs(decoder, mask, chunk, counts[c]);
            }
            test_chunk_destroy(chunk);
            n_checked++;
        }
        slci_chunk_decoder_destroy(decoder);
    }
    assert_true(n_checked >= 20);
}

/* Every shorter and some longer ones. A chunk that lost bytes cannot be whole. */
static void other_lengths_are_refused(void **state) {
    (void)state;
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        const slci_chunk_pipeline pipeline = pipeline_of(1800, pipes[p].n, pipes[p].filter);
        slci_chunk_decoder *decoder = decoder_of(&pipeline);
        if (decoder == NULL) {
            continue;
        }
        test_chunk *chunk = test_chunk_create(&pipeline, 0, 7);
        for (int64_t n = 0; n < chunk->n_stored; n++) {
            assert_int_equal(decode(decoder, 0, chunk->stored, n, chunk->n_raw, NULL),
                             SLC_ERROR_INPUT);
        }
        unsigned char *longer = test_allocate(chunk->n_stored + 9);
        memset(longer, 0, (size_t)chunk->n_stored + 9);
        memcpy(longer, chunk->stored, (size_t)chunk->n_stored);
        for (int64_t n = chunk->n_stored + 1; n < chunk->n_stored + 9; n++) {
            /* What follows a deflate stream is let pass, as HDF5 does. */
            const bool may_pass = pipeline.n_filters > 0 &&
                                  pipeline.filter[pipeline.n_filters - 1].id == SLCI_FILTER_DEFLATE;
            const slc_status status = decode(decoder, 0, longer, n, chunk->n_raw, NULL);
            assert_true(status == SLC_ERROR_INPUT || (may_pass && status == SLC_OK));
        }
        free(longer);
        test_chunk_destroy(chunk);
        slci_chunk_decoder_destroy(decoder);
    }
}

static bool has_checksum(const slci_chunk_pipeline *pipeline) {
    bool has = false;
    for (int k = 0; k < pipeline->n_filters; k++) {
        const int id = pipeline->filter[k].id;
        has = has || id == SLCI_FILTER_FLETCHER32 || id == SLCI_FILTER_DEFLATE ||
              id == SLCI_FILTER_ZSTD;
    }
    return has;
}

/* Three runs, the last one at a page nobody may touch; what they hold goes to `out`. */
static slc_status decode_into_three(slci_chunk_decoder *decoder, const unsigned char *stored,
                                    const test_chunk *chunk, unsigned char *out) {
    const int64_t run_bytes = chunk->n_raw / 3;
    test_guard last;
    test_guard_open(run_bytes, &last);
    unsigned char *const run[] = {out, out + run_bytes, last.bytes};
    const slci_chunk_runs runs = {.n_runs = 3, .run_bytes = run_bytes, .run = run};
    const slc_status status = slci_chunk_decode_runs(decoder, 0, stored, chunk->n_stored, &runs);
    memcpy(out + 2 * run_bytes, last.bytes, (size_t)run_bytes);
    test_guard_close(&last);
    return status;
}

/* Any bytes changed: a status and, where there is a checksum, never wrong data. */
static void damage_is_survived(void **state) {
    (void)state;
    unsigned char out[3000];
    uint64_t random = 11;
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        const slci_chunk_pipeline pipeline = pipeline_of(3000, pipes[p].n, pipes[p].filter);
        slci_chunk_decoder *decoder = decoder_of(&pipeline);
        if (decoder == NULL) {
            continue;
        }
        test_chunk *chunk = test_chunk_create(&pipeline, 0, 9);
        unsigned char *bad = test_allocate(chunk->n_stored);
        for (int trial = 0; trial < 400; trial++) {
            memcpy(bad, chunk->stored, (size_t)chunk->n_stored);
            const int64_t n_changes = 1 + test_random_below(&random, trial % 2 == 0 ? 1 : 8);
            for (int64_t k = 0; k < n_changes; k++) {
                /* Headers are short, so every other trial aims at the first bytes. */
                const int64_t reach = trial % 4 < 2 ? chunk->n_stored : 32;
                const int64_t at = test_random_below(&random, reach);
                bad[at % chunk->n_stored] ^= (unsigned char)(1 + test_random_below(&random, 255));
            }
            const slc_status status = decode(decoder, 0, bad, chunk->n_stored, chunk->n_raw, out);
            assert_true(status == SLC_OK || status == SLC_ERROR_INPUT);
            if (slci_chunk_decodes_runs(decoder, 0)) {
                assert_int_equal(decode_into_three(decoder, bad, chunk, out), status);
            }
            if (status == SLC_OK && has_checksum(&pipeline)) {
                assert_memory_equal(out, chunk->raw, (size_t)chunk->n_raw);
            }
        }
        free(bad);
        test_chunk_destroy(chunk);
        slci_chunk_decoder_destroy(decoder);
    }
}

static void noise_is_refused_or_decoded(void **state) {
    (void)state;
    unsigned char noise[700];
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        const slci_chunk_pipeline pipeline = pipeline_of(800, pipes[p].n, pipes[p].filter);
        slci_chunk_decoder *decoder = decoder_of(&pipeline);
        for (uint64_t seed = 0; decoder != NULL && seed < 300; seed++) {
            test_fill(noise, sizeof noise, seed);
            const int64_t n = (int64_t)(seed * 7 % sizeof noise);
            const slc_status status = decode(decoder, 0, noise, n, 800, NULL);
            assert_true(status == SLC_OK || status == SLC_ERROR_INPUT);
        }
        slci_chunk_decoder_destroy(decoder);
    }
}

/* What one thread does with decoders of its own. */
static void *decode_all(void *context) {
    bool *is_right = context;
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        const slci_chunk_pipeline pipeline = pipeline_of(2000, pipes[p].n, pipes[p].filter);
        slci_chunk_decoder *decoder = NULL;
        if (slci_chunk_decoder_create(&pipeline, &decoder) != SLC_OK) {
            continue;
        }
        test_chunk *chunk = test_chunk_create(&pipeline, 0, (uint64_t)p);
        unsigned char out[2000];
        for (int k = 0; k < 20; k++) {
            *is_right =
                *is_right &&
                slci_chunk_decode(decoder, 0, chunk->stored, chunk->n_stored, out) == SLC_OK &&
                memcmp(out, chunk->raw, sizeof out) == 0;
        }
        test_chunk_destroy(chunk);
        slci_chunk_decoder_destroy(decoder);
    }
    return NULL;
}

static void threads_do_not_meet(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool is_right[THREADS] = {true, true, true, true};
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_create(&threads[k], NULL, decode_all, &is_right[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
        assert_true(is_right[k]);
    }
}

static void sizes_are_told(void **state) {
    (void)state;
    const slci_chunk_filter zstd[1] = {ZSTD};
    slci_chunk_pipeline pipeline = pipeline_of(4000, 1, zstd);
    test_chunk *chunk = test_chunk_create(&pipeline, 0, 1);
    pipeline.chunk_bytes = 4008;
    slci_chunk_decoder *decoder = decoder_of(&pipeline);
    TEST_FAILS(decode(decoder, 0, chunk->stored, chunk->n_stored, 4008, NULL), SLC_ERROR_INPUT,
               "filter 32015 (zstd): the zstd frame holds 4000 bytes in place of 4008");
    slci_chunk_decoder_destroy(decoder);
    pipeline.chunk_bytes = 3992;
    decoder = decoder_of(&pipeline);
    TEST_FAILS(decode(decoder, 0, chunk->stored, chunk->n_stored, 3992, NULL), SLC_ERROR_INPUT,
               "holds more than 3992 bytes");
    TEST_FAILS(decode(decoder, 1, chunk->stored, chunk->n_stored, 3992, NULL), SLC_ERROR_INPUT,
               "are stored in place of 3992");
    TEST_FAILS(decode(decoder, 2, chunk->stored, chunk->n_stored, 3992, NULL), SLC_ERROR_INPUT,
               "filter mask 0x2");
    slci_chunk_decoder_destroy(decoder);
    test_chunk_destroy(chunk);
}

/* The blocks of bitshuffle are as long as the chunk says, up to what the decoder has room for. */
static void blocks_are_as_the_chunk_says(void **state) {
    (void)state;
    const slci_chunk_filter small[1] = {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 16, 2)};
    const slci_chunk_filter usual[1] = {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 0, 2)};
    const slci_chunk_pipeline of_small = pipeline_of(9000, 1, small);
    const slci_chunk_pipeline of_usual = pipeline_of(9000, 1, usual);
    unsigned char out[9000];
    test_chunk *chunk = test_chunk_create(&of_small, 0, 5);
    slci_chunk_decoder *decoder = decoder_of(&of_usual);
    TEST_OK(decode(decoder, 0, chunk->stored, chunk->n_stored, 9000, out));
    assert_memory_equal(out, chunk->raw, sizeof out);
    slci_chunk_decoder_destroy(decoder);
    test_chunk_destroy(chunk);
    chunk = test_chunk_create(&of_usual, 0, 5);
    decoder = decoder_of(&of_small);
    TEST_FAILS(decode(decoder, 0, chunk->stored, chunk->n_stored, 9000, NULL), SLC_ERROR_INPUT,
               "blocks of 8192 bytes do not go with the filter's values");
    slci_chunk_decoder_destroy(decoder);
    test_chunk_destroy(chunk);
}

/* HDF5 1.6.2 and before stored the halves of fletcher32 with their bytes swapped. */
static void old_checksums_are_taken(void **state) {
    (void)state;
    const slci_chunk_filter fletcher[1] = {FLETCHER};
    const slci_chunk_pipeline pipeline = pipeline_of(1000, 1, fletcher);
    test_chunk *chunk = test_chunk_create(&pipeline, 0, 3);
    slci_chunk_decoder *decoder = decoder_of(&pipeline);
    unsigned char *sum = chunk->stored + 1000;
    for (int k = 0; k < 4; k += 2) {
        const unsigned char low = sum[k];
        sum[k] = sum[k + 1];
        sum[k + 1] = low;
    }
    TEST_OK(decode(decoder, 0, chunk->stored, chunk->n_stored, 1000, NULL));
    sum[0] ^= 1;
    TEST_FAILS(decode(decoder, 0, chunk->stored, chunk->n_stored, 1000, NULL), SLC_ERROR_INPUT,
               "filter 3 (fletcher32): the checksum");
    slci_chunk_decoder_destroy(decoder);
    test_chunk_destroy(chunk);
}

static void expect_refusal(const slci_chunk_pipeline *pipeline, const char *words) {
    char why[SLCI_CHUNK_WHY_BYTES] = "";
    char small[8];
    slci_chunk_decoder *decoder = NULL;
    assert_false(slci_chunk_pipeline_check(pipeline, why, sizeof why));
    if (strstr(why, words) == NULL) {
        fail_msg("'%s' does not say '%s'", why, words);
    }
    assert_false(slci_chunk_pipeline_check(pipeline, small, sizeof small));
    TEST_FAILS(slci_chunk_decoder_create(pipeline, &decoder), SLC_ERROR_UNSUPPORTED, words);
}

static void expect_filter_refused(slci_chunk_filter filter, const char *words) {
    const slci_chunk_pipeline pipeline = pipeline_of(800, 1, &filter);
    expect_refusal(&pipeline, words);
}

static void what_is_not_understood_is_refused(void **state) {
    (void)state;
    expect_filter_refused(TEST_FILTER(32013, 1), "filter 32013 has no decoder here");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_SHUFFLE, 4), "not the size of an element");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 0, 0, 2), "its elements");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 12, 2), "its blocks");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 0xFFFFFFF8U, 2),
                          "its blocks");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 3, 8, 0, 7), "its compression");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_SZIP, 141, 32, 8), "filter 4 (szip)");
    expect_filter_refused(TEST_FILTER(SLCI_FILTER_BLOSC, 2, 2, 8, 0, 5, 1, 99), "filter 32001");
    const slci_chunk_filter twice[2] = {TEST_FILTER(SLCI_FILTER_LZF, 4), ZSTD};
    const slci_chunk_filter after[2] = {ZSTD, SHUFFLE};
    slci_chunk_pipeline pipeline = pipeline_of(800, 2, twice);
    expect_refusal(&pipeline, "zstd comes after lzf");
    pipeline = pipeline_of(800, 2, after);
    expect_refusal(&pipeline, "shuffle comes after zstd");
    pipeline.n_filters = 9;
    expect_refusal(&pipeline, "it has 9 filters");
    pipeline = pipeline_of(SLCI_CHUNK_MAX_BYTES + 1, 0, NULL);
    expect_refusal(&pipeline, "impossible");
    pipeline = pipeline_of(4, 0, NULL);
    expect_refusal(&pipeline, "impossible");
}

/* The prices of decoders: what they hold of their own, and the contexts within what is stated. */
static void prices_are_stated(void **state) {
    (void)state;
    const slci_chunk_filter filters[2] = {SHUFFLE, ZSTD};
    slci_chunk_pipeline pipeline = pipeline_of(1 << 20, 0, NULL);
    assert_true(slci_chunk_decoder_bytes(&pipeline) < 8192);
    pipeline = pipeline_of(1 << 20, 1, filters);
    assert_true(slci_chunk_decoder_bytes(&pipeline) < 8192);
    pipeline = pipeline_of(1 << 20, 2, filters);
    const int64_t bytes = slci_chunk_decoder_bytes(&pipeline);
    assert_in_range(bytes, 1 << 20, (1 << 20) + (1 << 18));
    ZSTD_DCtx *context = ZSTD_createDCtx();
    assert_true((int64_t)ZSTD_sizeof_DCtx(context) <= SLCI_CHUNK_ZSTD_BYTES);
    ZSTD_freeDCtx(context);
}

static void filters_have_names(void **state) {
    (void)state;
    assert_string_equal(slci_chunk_filter_name(SLCI_FILTER_BITSHUFFLE), "bitshuffle");
    assert_null(slci_chunk_filter_name(5));
}

/* A stream that ends early, in lines that are filled up to whole blocks: libaec's functions of the name
 * szip call that a success, and give what is in memory. */
static void szip_streams_that_end_early_are_refused(void **state) {
    (void)state;
    enum { N = 65536 };
    const slci_chunk_pipeline pipeline = {.n_filters = 1,
                                          .filter = {TEST_FILTER(SLCI_FILTER_SZIP, 32, 16, 8, 33)},
                                          .chunk_bytes = N,
                                          .element_bytes = 1};
    static const unsigned char stored[] = {0x00, 0x00, 0x01, 0x00, 0x5f, 0x09, 0x07, 0x08,
                                           0x20, 0x10, 0x08, 0x20, 0x00, 0x60, 0x09, 0x00,
                                           0x00, 0x00, 0x00, 0x2f, 0x34, 0x6d, 0x04, 0x03};
    char why[SLCI_CHUNK_WHY_BYTES];
    slci_chunk_decoder *decoder = NULL;
    if (!slci_chunk_pipeline_check(&pipeline, why, sizeof why)) {
        TEST_SKIP("%s", why);
    }
    unsigned char *out = test_allocate(N);
    TEST_OK(slci_chunk_decoder_create(&pipeline, &decoder));
    TEST_FAILS(slci_chunk_decode(decoder, 0, stored, sizeof stored, out), SLC_ERROR_INPUT,
               "filter 4 (szip): the stream is damaged");
    slci_chunk_decoder_destroy(decoder);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(szip_streams_that_end_early_are_refused),
        cmocka_unit_test(there_and_back_with_every_mask),
        cmocka_unit_test(runs_are_decoded_where_they_go),
        cmocka_unit_test(other_lengths_are_refused),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(noise_is_refused_or_decoded),
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(sizes_are_told),
        cmocka_unit_test(blocks_are_as_the_chunk_says),
        cmocka_unit_test(old_checksums_are_taken),
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test(prices_are_stated),
        cmocka_unit_test(filters_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
