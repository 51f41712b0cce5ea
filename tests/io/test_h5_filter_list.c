/* The filter that does what a dataset's pipeline does: the same one where stock HDF5 and Sluice both
 * have it, and deflate in place of whatever else stands there. */
#include "io/h5_filter_list.h"

#include "tests/support/test_chunks.h"
#include "tests/support/test_support.h"

enum { CHUNK_BYTES = 4096, ELEMENT_BYTES = 8 };

static void expect_filter(const slci_chunk_pipeline *pipeline, const char *wanted) {
    slc_h5_filter found;
    char text[SLC_H5_FILTER_BYTES];
    slci_h5_filter_of_pipeline(pipeline, &found);
    slc_h5_filter_print(&found, text);
    assert_string_equal(text, wanted);
    TEST_OK(slci_h5_filter_check(&found));
}

static void what_hdf5_has_comes_back(void **state) {
    static const slc_h5_filter filters[] = {
        {.kind = SLC_H5_FILTER_NONE},
        {.kind = SLC_H5_FILTER_NONE, .has_checksum = true},
        {.kind = SLC_H5_FILTER_DEFLATE, .level = 1},
        {.kind = SLC_H5_FILTER_DEFLATE, .level = 9},
        {.kind = SLC_H5_FILTER_DEFLATE, .level = 6, .is_unshuffled = true},
        {.kind = SLC_H5_FILTER_DEFLATE, .level = 4, .has_checksum = true},
        {.kind = SLC_H5_FILTER_DEFLATE, .level = 2, .is_unshuffled = true, .has_checksum = true},
    };
    (void)state;
    for (int64_t k = 0; k < TEST_COUNT(filters); k++) {
        slci_chunk_pipeline pipeline;
        char wanted[SLC_H5_FILTER_BYTES];
        slc_h5_filter_print(&filters[k], wanted);
        slci_h5_filter_pipeline(&filters[k], CHUNK_BYTES, ELEMENT_BYTES, &pipeline);
        expect_filter(&pipeline, wanted);
    }
}

/* The usual level is one that a file holds, and comes back as such. */
static void the_usual_level_is_told(void **state) {
    const slc_h5_filter usual = {.kind = SLC_H5_FILTER_DEFLATE};
    slci_chunk_pipeline pipeline;
    (void)state;
    slci_h5_filter_pipeline(&usual, CHUNK_BYTES, ELEMENT_BYTES, &pipeline);
    expect_filter(&pipeline, "deflate:4");
    slci_h5_filter_pipeline(&usual, CHUNK_BYTES, 1, &pipeline); /* bytes are not shuffled */
    expect_filter(&pipeline, "deflate:4 unshuffled");
}

static void anything_else_becomes_deflate(void **state) {
    const slci_chunk_pipeline pipelines[] = {
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_LZF, 4, 0, CHUNK_BYTES)}},
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_ZSTD, 3)}},
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_BITSHUFFLE, 0, 4, 8, 0, 2)}},
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_SZIP, 141, 8)}},
        /* Shuffled and nothing else; compressed twice; a checksum of what is not compressed yet. */
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_SHUFFLE, 8)}},
        {.n_filters = 2,
         .filter = {TEST_FILTER(SLCI_FILTER_DEFLATE, 6), TEST_FILTER(SLCI_FILTER_DEFLATE, 6)}},
        {.n_filters = 2,
         .filter = {{.id = SLCI_FILTER_FLETCHER32}, TEST_FILTER(SLCI_FILTER_DEFLATE, 6)}},
        /* Levels that no text of --filter has. */
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_DEFLATE, 0)}},
        {.n_filters = 1, .filter = {TEST_FILTER(SLCI_FILTER_DEFLATE, 10)}},
        {.n_filters = 1, .filter = {{.id = SLCI_FILTER_DEFLATE}}},
        /* More than are kept of a pipeline. */
        {.n_filters = SLCI_CHUNK_MAX_FILTERS + 1,
         .filter = {TEST_FILTER(SLCI_FILTER_SHUFFLE, 8), TEST_FILTER(SLCI_FILTER_DEFLATE, 6)}},
    };
    (void)state;
    for (int64_t k = 0; k < TEST_COUNT(pipelines); k++) {
        expect_filter(&pipelines[k], "deflate:4");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hdf5_has_comes_back),
        cmocka_unit_test(the_usual_level_is_told),
        cmocka_unit_test(anything_else_becomes_deflate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
