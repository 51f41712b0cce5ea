/* The weighted source counts every granule once, whoever reads it and however often. */
#include "tests/support/test_support.h"

#include <pthread.h>

#include "app/weighting.h"
#include "kernels/direct.h"

#define N_THREADS 8

typedef struct reader {
    pthread_barrier_t *start; /* so that all begin before any has counted */
    slc_source *weighted;
    const slc_vis_meta *meta;
} reader;

/* Reads all rows into buffers of its own. */
static slc_status read_all(void *context, int64_t index, int worker) {
    (void)index;
    (void)worker;
    const reader *self = context;
    const int64_t n = self->meta->n_rows * self->meta->n_channels;
    void *const dst[SLC_VIS_N_FIELDS] = {test_allocate(self->meta->n_rows * 24),
                                         test_allocate(n * 8), test_allocate(n * 4)};
    const slc_box box = slc_box_1d(0, self->meta->n_rows);
    (void)pthread_barrier_wait(self->start);
    const slc_status status = slc_source_read(self->weighted, &box, dst);
    for (int f = 0; f < SLC_VIS_N_FIELDS; f++) {
        free(dst[f]);
    }
    return status;
}

/* What is counted when `n_reads` threads of the pool read all rows at the same time. */
static slci_totals count(slc_source *vis, slc_pool *pool, unsigned n_reads) {
    pthread_barrier_t start;
    (void)pthread_barrier_init(&start, NULL, n_reads);
    reader self = {.start = &start, .meta = slc_vis_get_meta(vis)};
    slci_first first_found;
    TEST_OK(slci_weighted_create(vis, NULL, &self.weighted));
    TEST_OK(slci_weighted_find_first(self.weighted, false, &first_found));
    assert_true(first_found.has_weight);
    TEST_OK(slc_pool_for(pool, n_reads, read_all, &self));
    const slci_totals totals = slci_weighted_totals(self.weighted, 0);
    slc_source_destroy(self.weighted);
    (void)pthread_barrier_destroy(&start);
    return totals;
}

/* Two slots may hold the same rows for two tiles of the image at the same time. */
static void concurrent_reads_count_once(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/nan_flagged.uvh5", path);
    const char *const input = path;
    const slc_vis_options options = {.log = NULL};
    slc_source *vis = NULL;
    slc_pool *pool = NULL;
    TEST_OK(slc_vis_open(&input, 1, &options, &vis));
    TEST_OK(slc_pool_create(N_THREADS, &pool));
    const slci_totals once = count(vis, pool, 1);
    assert_int_equal(once.counts.flagged, 360);
    for (int round = 0; round < 20; round++) {
        const slci_totals often = count(vis, pool, N_THREADS);
        assert_memory_equal(&often, &once, sizeof once);
    }
    slc_pool_destroy(pool);
    slc_source_destroy(vis);
}

/* Rows `begin` to `end` - 1, read in blocks of so many granules. */
static void read_blocks(slc_source *weighted, const slc_vis_meta *meta, int64_t begin, int64_t end,
                        int64_t block_rows) {
    const int64_t n = block_rows * meta->n_channels;
    void *const dst[SLC_VIS_N_FIELDS] = {test_allocate(block_rows * 24), test_allocate(n * 8),
                                         test_allocate(n * 4)};
    for (int64_t row = begin; row < end; row += block_rows) {
        const int64_t n_rows = row + block_rows < end ? block_rows : end - row;
        const slc_box box = slc_box_1d(row, n_rows);
        TEST_OK(slc_source_read(weighted, &box, dst));
    }
    for (int f = 0; f < SLC_VIS_N_FIELDS; f++) {
        free(dst[f]);
    }
}

static slc_source *open_weighted(slc_source *vis) {
    slc_source *weighted = NULL;
    slci_first first_found;
    TEST_OK(slci_weighted_create(vis, NULL, &weighted));
    TEST_OK(slci_weighted_find_first(weighted, false, &first_found));
    return weighted;
}

/* A resumed run has other tiles: blocks then hold granules that were counted and some that were not. */
static void what_was_counted_is_kept(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/m87_vlba_8GHz.contig.uvh5", path);
    const char *const input = path;
    const slc_vis_options options = {.log = NULL};
    slc_source *vis = NULL;
    TEST_OK(slc_vis_open(&input, 1, &options, &vis));
    const slc_vis_meta *meta = slc_vis_get_meta(vis);
    const int64_t granule = slc_direct_granule_rows(meta->n_channels);
    assert_true(meta->n_rows > granule);
    slc_source *whole = open_weighted(vis);
    read_blocks(whole, meta, 0, meta->n_rows, granule);
    const slci_totals expected = slci_weighted_totals(whole, 0);

    slc_source *first = open_weighted(vis);
    read_blocks(first, meta, granule, meta->n_rows, granule);
    const int64_t n_bytes = slci_weighted_kept_bytes(first);
    void *kept = test_allocate(n_bytes);
    slci_weighted_keep(first, kept);
    slc_source *second = open_weighted(vis);
    TEST_OK(slci_weighted_restore(second, kept));
    read_blocks(second, meta, 0, meta->n_rows, 3 * granule);
    read_blocks(second, meta, 0, meta->n_rows, 2 * granule);
    const slci_totals found = slci_weighted_totals(second, 0);
    assert_memory_equal(&found, &expected, sizeof found);
    free(kept);
    slc_source_destroy(whole);
    slc_source_destroy(first);
    slc_source_destroy(second);
    slc_source_destroy(vis);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(concurrent_reads_count_once),
                                       cmocka_unit_test(what_was_counted_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
