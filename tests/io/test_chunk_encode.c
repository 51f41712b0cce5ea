/* What the encoders make is what the decoders, which are tested against other writers, take apart; for
 * every pipeline, element size and a number of elements that is no multiple of anything. */
#include "tests/support/test_chunks.h"
#include "tests/support/test_support.h"

#include "io/chunk_encode.h"
#include "io/h5_filter_list.h"

static const char *const filters[] = {"none",           "deflate:1", "deflate:4",
                                      "deflate:9",      "zstd:1",    "zstd:19",
                                      "bitshuffle-lz4", "zstd",      "bitshuffle-zstd:1"};

static void comes_back(const slci_chunk_pipeline *pipeline, uint64_t seed) {
    char why[SLCI_CHUNK_WHY_BYTES];
    slci_chunk_encoder *encoder = NULL;
    slci_chunk_decoder *decoder = NULL;
    const int64_t n = pipeline->chunk_bytes;
    const int64_t most = slci_chunk_encoded_most(pipeline);
    unsigned char *elements = test_allocate(n);
    unsigned char *stored = test_allocate(most + 1);
    unsigned char *found = test_allocate(n);
    assert_true(slci_chunk_encoder_check(pipeline, why, sizeof why));
    assert_true(slci_chunk_encoder_bytes(pipeline) > 0);
    TEST_OK(slci_chunk_encoder_create(pipeline, &encoder));
    TEST_OK(slci_chunk_decoder_create(pipeline, &decoder));
    test_fill(elements, n, seed);
    for (int64_t k = 0; k < n && seed % 2 == 0; k++) {
        elements[k] = (unsigned char)(k / 7); /* compressible */
    }
    stored[most] = 0xA5;
    int64_t n_stored = 0;
    TEST_OK(slci_chunk_encode(encoder, elements, stored, &n_stored));
    assert_in_range(n_stored, 1, most);
    assert_int_equal(stored[most], 0xA5);
    TEST_OK(slci_chunk_decode(decoder, 0, stored, n_stored, found));
    assert_memory_equal(found, elements, (size_t)n);
    slci_chunk_encoder_destroy(encoder);
    slci_chunk_decoder_destroy(decoder);
    free(elements);
    free(stored);
    free(found);
}

static void every_pipeline_comes_back(void **state) {
    (void)state;
    static const int64_t element_bytes[] = {1, 2, 3, 4, 6, 8, 16, 24};
    static const int64_t counts[] = {1, 7, 8, 15, 16, 17, 129, 1027, 9001};
    uint64_t seed = 1;
    for (int64_t f = 0; f < TEST_COUNT(filters); f++) {
        if (!test_filter_is_built(filters[f])) {
            continue;
        }
        for (int64_t e = 0; e < TEST_COUNT(element_bytes); e++) {
            for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
                slc_h5_filter filter;
                slci_chunk_pipeline pipeline;
                TEST_OK(slc_h5_filter_parse(filters[f], &filter));
                filter.has_checksum = seed % 3 == 0;
                filter.is_unshuffled = seed % 5 == 0;
                slci_h5_filter_pipeline(&filter, element_bytes[e] * counts[c], element_bytes[e],
                                        &pipeline);
                comes_back(&pipeline, seed++);
            }
        }
    }
}

static void what_cannot_be_written_is_refused(void **state) {
    (void)state;
    char why[SLCI_CHUNK_WHY_BYTES];
    slci_chunk_pipeline pipeline = {.n_filters = 1,
                                    .filter = {{.id = SLCI_FILTER_LZF}},
                                    .chunk_bytes = 64,
                                    .element_bytes = 4};
    assert_false(slci_chunk_encoder_check(&pipeline, why, sizeof why));
    assert_non_null(strstr(why, "lzf"));
    pipeline.filter[0] = (slci_chunk_filter){.id = SLCI_FILTER_DEFLATE, .n_values = 1};
    pipeline.chunk_bytes = SLCI_CHUNK_MAX_BYTES;
    assert_false(slci_chunk_encoder_check(&pipeline, why, sizeof why));
    assert_non_null(strstr(why, "4 GiB"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pipeline_comes_back),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
