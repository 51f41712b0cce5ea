/* One pass over a set: every row once, in order, in blocks that end where the chunks end. */
#include "tests/support/test_uvh5.h"

#include "app/row_blocks.h"

enum { ROWS = 50, CHANNELS = 3, CHUNK_ROWS = 8 };

/* A set in a directory of its own. */
typedef struct place {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
    slc_source *source;
} place;

/* The visibilities lie in chunks of eight rows. */
static int make(void **state) {
    place *self = test_allocate(sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "a.uvh5", self->path);
    const int64_t shape[3] = {ROWS, CHANNELS, 1};
    const hsize_t chunk[3] = {CHUNK_ROWS, CHANNELS, 1};
    float *values = test_allocate((int64_t)sizeof(float) * 2 * ROWS * CHANNELS);
    for (int64_t k = 0; k < 2 * ROWS * CHANNELS; k++) {
        values[k] = (float)k;
    }
    test_uvh5_create(self->path, ROWS, CHANNELS, 1);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 3, chunk);
    H5Pset_deflate(list, 1);
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    test_h5_put(self->path, "/Data/visdata", type, type, 3, shape, list, values);
    H5Tclose(type);
    H5Pclose(list);
    free(values);
    self->source = test_vis_open(self->path, NULL);
    *state = self;
    return 0;
}

static int unmake(void **state) {
    place *self = *state;
    slc_source_destroy(self->source);
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

/* What a pass has seen. */
typedef struct pass {
    int64_t n_rows, n_blocks;
    int64_t ends[ROWS];
    bool is_in_order, has_weight, has_vis;
    int64_t progress_rows;
} pass;

static void look(void *context, const slci_row_block *block, int64_t n_rows,
                 const slc_vis_meta *meta) {
    pass *self = context;
    assert_int_equal(block->n_channels, meta->n_channels);
    assert_in_range(n_rows, 1, block->n_rows);
    for (int64_t r = 0; r < n_rows; r++) {
        /* u of row k is k + 1 metres. */
        self->is_in_order = self->is_in_order && block->uvw[3 * r] == (double)(self->n_rows + 1);
        if (block->vis[0] != NULL) {
            const double first = (double)block->vis[0][2 * CHANNELS * r];
            self->is_in_order = self->is_in_order && first == (double)(6 * self->n_rows);
        }
        self->n_rows++;
    }
    self->has_weight = block->weight[0] != NULL;
    self->has_vis = block->vis[0] != NULL;
    self->ends[self->n_blocks++] = self->n_rows;
}

static void note_progress(void *context, int64_t done_rows, int64_t n_rows) {
    assert_int_equal(n_rows, ROWS);
    ((pass *)context)->progress_rows = done_rows;
}

/* Goes through the set with room for `room_rows` rows. */
static pass go(slc_source *source, slci_row_fields fields, int64_t room_rows,
               slc_vis_counts *counts) {
    static const int64_t row_bytes[] = {24, 24 + 4 * CHANNELS, 24 + 12 * CHANNELS};
    pass self = {.is_in_order = true};
    const slci_rows_options options = {.fields = fields,
                                       .room_bytes = room_rows * row_bytes[fields],
                                       .progress = note_progress,
                                       .progress_context = &self};
    TEST_OK(slci_rows_visit(source, &options, look, &self, counts));
    assert_int_equal(self.n_rows, ROWS);
    assert_int_equal(self.progress_rows, ROWS);
    assert_true(self.is_in_order);
    return self;
}

static void blocks_end_where_chunks_end(void **state) {
    slc_source *source = ((place *)*state)->source;
    slc_vis_counts counts = {0};
    pass self = go(source, SLCI_ROWS_ALL, 20, &counts);
    assert_true(self.has_weight && self.has_vis);
    assert_int_equal(self.n_blocks, 3);
    assert_int_equal(self.ends[0], 16);
    assert_int_equal(self.ends[1], 32);
    assert_int_equal(counts.total, ROWS * CHANNELS);
    /* A chunk that is longer than the room is cut. */
    self = go(source, SLCI_ROWS_ALL, 5, &counts);
    assert_int_equal(self.ends[0], 5);
    assert_int_equal(counts.total, 2 * ROWS * CHANNELS);
    self = go(source, SLCI_ROWS_ALL, 0, &counts);
    assert_int_equal(self.n_blocks, ROWS);
}

static void only_what_is_asked_for_is_read(void **state) {
    slc_source *source = ((place *)*state)->source;
    slc_vis_counts counts = {0};
    pass self = go(source, SLCI_ROWS_UVW, 1000, &counts);
    assert_false(self.has_weight || self.has_vis);
    assert_int_equal(self.n_blocks, 1);
    assert_int_equal(counts.total, 0);
    self = go(source, SLCI_ROWS_WEIGHT, 1000, &counts);
    assert_true(self.has_weight && !self.has_vis);
    assert_int_equal(counts.total, ROWS * CHANNELS);
}

static void an_interrupt_and_impossible_sizes_are_errors(void **state) {
    slc_source *source = ((place *)*state)->source;
    const volatile int cancel = 1;
    const slci_rows_options options = {.room_bytes = 1, .cancel = &cancel};
    slc_vis_counts counts = {0};
    TEST_FAILS(slci_rows_visit(source, &options, look, NULL, &counts), SLC_ERROR_INTERRUPTED,
               "interrupted");

    const slc_vis_meta meta = {.n_rows = INT64_MAX, .n_channels = INT64_MAX / 8};
    slci_row_block block = {0};
    TEST_FAILS(slci_row_block_create(&meta, SLCI_ROWS_ALL, 1, &block), SLC_ERROR_MEMORY, "rows");
    TEST_FAILS(slci_row_block_create(&meta, SLCI_ROWS_UVW, INT64_MAX, &block), SLC_ERROR_MEMORY,
               "rows");
    slci_row_block_destroy(&block);
}

static void counts_add_up(void **state) {
    (void)state;
    slc_vis_counts sum = {.total = 1, .flagged = 2, .nonfinite = 3, .zero_weight = 4};
    const slc_vis_counts more = {.total = 10, .flagged = 20, .nonfinite = 30, .zero_weight = 40};
    slc_vis_counts_add(&sum, &more);
    assert_int_equal(sum.total, 11);
    assert_int_equal(sum.flagged, 22);
    assert_int_equal(sum.nonfinite, 33);
    assert_int_equal(sum.zero_weight, 44);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_end_where_chunks_end, make, unmake),
        cmocka_unit_test_setup_teardown(only_what_is_asked_for_is_read, make, unmake),
        cmocka_unit_test_setup_teardown(an_interrupt_and_impossible_sizes_are_errors, make, unmake),
        cmocka_unit_test(counts_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
