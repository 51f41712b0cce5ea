/* Boxes of any shape and order become the same chunks in the same order; and so do those of a run that
 * is stopped anywhere and gone on with from the pieces that it had kept. */
#include "tests/support/test_chunks.h"
#include "tests/support/test_support.h"

#include "core/copy.h"
#include "io/chunk_grid.h"
#include "io/chunk_sink.h"
#include "io/h5_filter_list.h"

enum { MOST_CHUNKS = 256, MOST_PIECES = 4096, MOST_BOXES = 1024 };

/* An array, and how it is stored. */
typedef struct subject {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
    slc_layout layout;
    int64_t chunk[SLC_MAX_RANK];
    slci_chunk_pipeline pipeline;
    int32_t *values;
} subject;

/* What a sink has put: the chunks one after another. */
typedef struct stored {
    int64_t n, n_bytes[MOST_CHUNKS];
    unsigned char *bytes[MOST_CHUNKS];
} stored;

/* What a journal has kept. */
typedef struct journal {
    pthread_mutex_t mutex;
    int64_t n;
    slc_sink_piece piece[MOST_PIECES];
    unsigned char *bytes[MOST_PIECES];
} journal;

static slc_status put(void *context, int64_t index, const void *bytes, int64_t n_bytes) {
    stored *self = context;
    assert_int_equal(index, self->n);
    self->n_bytes[index] = n_bytes;
    self->bytes[index] = test_allocate(n_bytes);
    memcpy(self->bytes[index], bytes, (size_t)n_bytes);
    self->n++;
    return SLC_OK;
}

static void keep(void *context, const slc_sink_piece *piece, const void *bytes) {
    journal *self = context;
    pthread_mutex_lock(&self->mutex);
    if (self->n < MOST_PIECES) {
        self->piece[self->n] = *piece;
        self->bytes[self->n] = malloc((size_t)piece->n_bytes);
        memcpy(self->bytes[self->n], bytes, (size_t)piece->n_bytes);
        self->n++;
    }
    pthread_mutex_unlock(&self->mutex);
}

/* Bytes that are read as a journal reads them: in order, as many as are asked for. */
typedef struct reading {
    const unsigned char *at;
    int64_t n_left;
} reading;

static slc_status read_piece(void *context, void *out, int64_t n_bytes) {
    reading *self = context;
    if (n_bytes > self->n_left) {
        return SLC_FAIL(SLC_ERROR_INPUT, "cut");
    }
    memcpy(out, self->at, (size_t)n_bytes);
    self->at += n_bytes;
    self->n_left -= n_bytes;
    return SLC_OK;
}

static void forget_stored(stored *self) {
    for (int64_t k = 0; k < self->n; k++) {
        free(self->bytes[k]);
    }
    self->n = 0;
}

static void forget_pieces(journal *self, int64_t from) {
    for (int64_t k = from; k < self->n; k++) {
        free(self->bytes[k]);
    }
    self->n = from;
}

/* ---- the array, its boxes ---------------------------------------------------------------------- */

static void open_subject(subject *self, const char *filter_text, uint64_t seed) {
    const int64_t shape[3] = {13, 11, 30};
    const int64_t chunk[3] = {4, 3, 16};
    slc_h5_filter filter;
    test_directory_create(self->directory);
    test_join(self->directory, "out.h5", self->path);
    TEST_OK(slc_layout_dense(SLC_I32, 3, shape, &self->layout));
    memcpy(self->chunk, chunk, sizeof chunk);
    TEST_OK(slc_h5_filter_parse(filter_text, &filter));
    slci_h5_filter_pipeline(&filter, 4 * 3 * 16 * 4, 4, &self->pipeline);
    self->values = test_allocate(slc_layout_bytes(&self->layout));
    test_fill(self->values, slc_layout_bytes(&self->layout), seed);
}

static void close_subject(subject *self) {
    free(self->values);
    assert_int_equal(test_directory_count(self->directory), 0);
    test_directory_remove(self->directory);
}

static slci_chunk_sink *open_sink_with(const subject *self, slc_pool *pool, int64_t memory_bytes,
                                       slci_chunk_put put_with, stored *out) {
    slci_chunk_sink *sink = NULL;
    slci_chunk_sink_options options = {.path = self->path,
                                       .layout = self->layout,
                                       .pipeline = self->pipeline,
                                       .pool = pool,
                                       .memory_bytes = memory_bytes,
                                       .put = put_with,
                                       .context = out};
    memcpy(options.chunk, self->chunk, sizeof options.chunk);
    TEST_OK(slci_chunk_sink_create(&options, &sink));
    return sink;
}

static slci_chunk_sink *open_sink(const subject *self, slc_pool *pool, int64_t memory_bytes,
                                  stored *out) {
    return open_sink_with(self, pool, memory_bytes, put, out);
}

static slc_status write_box(slci_chunk_sink *sink, const subject *self, const slc_box *box) {
    const slc_layout from = slc_layout_slice(&self->layout, box);
    slc_layout to;
    int32_t *dense = test_allocate(slc_box_count(box) * 4);
    TEST_OK(slc_layout_dense(SLC_I32, box->rank, box->extent, &to));
    TEST_OK(slc_copy_host(dense, &to, self->values, &from));
    const slc_status status = slci_chunk_sink_write(sink, box, dense);
    free(dense);
    return status;
}

/* All of the array as boxes of one random size, in random order; returns how many. */
static int64_t cut(const subject *self, uint64_t *random, slc_box *box) {
    int64_t step[3];
    int64_t n = 0;
    for (int d = 0; d < 3; d++) {
        step[d] = 1 + test_random_below(random, self->layout.shape[d]);
        step[d] = test_random_below(random, 3) == 0 ? self->chunk[d] : step[d];
    }
    const slci_chunk_grid grid = slci_chunk_grid_of(&self->layout, step);
    for (int64_t k = 0; k < grid.n_chunks && n < MOST_BOXES; k++) {
        box[n++] = slci_chunk_grid_box(&grid, k);
    }
    assert_int_equal(n, grid.n_chunks);
    for (int64_t k = n - 1; k > 0; k--) {
        const int64_t other = test_random_below(random, k + 1);
        const slc_box kept = box[k];
        box[k] = box[other];
        box[other] = kept;
    }
    return n;
}

static void write_whole(const subject *self, stored *out) {
    const slc_box all = {.rank = 3, .extent = {13, 11, 30}};
    slci_chunk_sink *sink = open_sink(self, NULL, 0, out);
    TEST_OK(write_box(sink, self, &all));
    TEST_OK(slci_chunk_sink_finish(sink));
    slci_chunk_sink_destroy(sink);
}

static void expect_same(const stored *found, const stored *expected) {
    assert_int_equal(found->n, expected->n);
    for (int64_t k = 0; k < found->n; k++) {
        assert_int_equal(found->n_bytes[k], expected->n_bytes[k]);
        assert_memory_equal(found->bytes[k], expected->bytes[k], (size_t)expected->n_bytes[k]);
    }
}

/* ---- stopped and gone on with -------------------------------------------------------------------- */

static int64_t take_back(slci_chunk_sink *sink, const journal *kept) {
    int64_t n_whole = 0;
    for (int64_t k = 0; k < kept->n; k++) {
        reading from = {kept->bytes[k], kept->piece[k].n_bytes};
        TEST_OK(slci_chunk_sink_put(sink, &kept->piece[k], read_piece, &from));
        assert_int_equal(from.n_left, 0);
        n_whole += kept->piece[k].n_elements == 0 ? 1 : 0;
    }
    return n_whole;
}

/* Writes the boxes, stopped at random after some of them, again and again, each time by another sink
 * that has only what was kept up to the last flush. Returns the chunks that the last one encoded. */
static void write_stopped(const subject *self, slc_pool *pool, uint64_t seed, stored *out) {
    static slc_box box[MOST_BOXES];
    uint64_t random = seed;
    journal kept = {.n = 0};
    pthread_mutex_init(&kept.mutex, NULL);
    const int64_t n_boxes = cut(self, &random, box);
    const int64_t n_chunks = slci_chunk_grid_of(&self->layout, self->chunk).n_chunks;
    int64_t n_safe = 0; /* boxes that the last flush had */
    for (bool is_done = false; !is_done;) {
        const int64_t memory_bytes = test_random_below(&random, 2) == 0 ? 0 : 1;
        const int64_t stop = n_safe + test_random_below(&random, n_boxes - n_safe + 2);
        forget_stored(out);
        slci_chunk_sink *sink = open_sink(self, pool, memory_bytes, out);
        TEST_OK(slci_chunk_sink_keep(sink, keep, &kept));
        const int64_t n_whole = take_back(sink, &kept);
        int64_t n_kept = kept.n;
        for (int64_t b = n_safe; b < n_boxes && b < stop; b++) {
            TEST_OK(write_box(sink, self, &box[b]));
            if (test_random_below(&random, 4) == 0) {
                TEST_OK(slci_chunk_sink_flush(sink));
                n_kept = kept.n;
                n_safe = b + 1;
            }
        }
        is_done = stop > n_boxes;
        if (is_done) {
            TEST_OK(slci_chunk_sink_finish(sink));
            const slci_chunk_sink_counts counts = slci_chunk_sink_get_counts(sink);
            assert_int_equal(counts.n_taken_back, n_whole);
            assert_int_equal(counts.n_encoded, n_chunks - n_whole);
        }
        slci_chunk_sink_destroy(sink);
        forget_pieces(&kept, n_kept); /* what came after the last flush is lost */
    }
    forget_pieces(&kept, 0);
    pthread_mutex_destroy(&kept.mutex);
}

static void a_stopped_run_writes_the_same(void **state) {
    (void)state;
    static const char *const filters[] = {"deflate:4", "zstd:1", "bitshuffle-lz4"};
    static stored whole;
    static stored found;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    for (uint64_t seed = 1; seed <= 60; seed++) {
        subject self;
        const char *filter = filters[seed % TEST_COUNT(filters)];
        if (!test_filter_is_built(filter)) {
            continue;
        }
        open_subject(&self, filter, seed);
        write_whole(&self, &whole);
        write_stopped(&self, seed % 3 == 0 ? NULL : pool, seed, &found);
        expect_same(&found, &whole);
        forget_stored(&found);
        forget_stored(&whole);
        close_subject(&self);
    }
    slc_pool_destroy(pool);
}

/* Chunks that no box cuts are kept once, encoded; those that boxes cut once for each flush in which
 * they have grown. */
static void only_what_has_grown_is_kept(void **state) {
    (void)state;
    static stored found;
    subject self;
    journal kept = {.n = 0};
    pthread_mutex_init(&kept.mutex, NULL);
    open_subject(&self, "deflate:1", 5);
    const slc_box chunk = {.rank = 3, .extent = {4, 3, 16}};
    const slc_box part = {.rank = 3, .origin = {4, 0, 0}, .extent = {2, 3, 16}};
    const slc_box rest = {.rank = 3, .origin = {6, 0, 0}, .extent = {2, 3, 16}};
    slci_chunk_sink *sink = open_sink(&self, NULL, 0, &found);
    TEST_OK(slci_chunk_sink_keep(sink, keep, &kept));
    TEST_OK(write_box(sink, &self, &chunk));
    assert_int_equal(kept.n, 1);
    TEST_OK(write_box(sink, &self, &part));
    assert_int_equal(kept.n, 1);
    TEST_OK(slci_chunk_sink_flush(sink));
    TEST_OK(slci_chunk_sink_flush(sink));
    assert_int_equal(kept.n, 2);
    assert_int_equal(kept.piece[1].n_elements, 2 * 3 * 16);
    TEST_OK(write_box(sink, &self, &rest));
    TEST_OK(slci_chunk_sink_flush(sink));
    assert_int_equal(kept.n, 3);
    assert_int_equal(kept.piece[2].index, kept.piece[1].index);
    assert_int_equal(kept.piece[2].n_elements, 0);
    TEST_OK(slci_chunk_sink_keep(sink, NULL, NULL));
    TEST_OK(slci_chunk_sink_finish(sink));
    assert_int_equal(kept.n, 3);
    slci_chunk_sink_destroy(sink);
    forget_stored(&found);
    forget_pieces(&kept, 0);
    pthread_mutex_destroy(&kept.mutex);
    close_subject(&self);
}

static void what_is_no_piece_is_refused(void **state) {
    (void)state;
    static const slc_sink_piece bad[] = {
        {.index = -1, .n_bytes = 8},
        {.index = 32, .n_bytes = 8},
        {.index = 0, .n_bytes = 0},
        {.index = 0, .n_bytes = 1 << 20},
        {.index = 0, .n_elements = -1, .n_bytes = 768},
        {.index = 0, .n_elements = 192, .n_bytes = 768}, /* all of its elements */
        {.index = 0, .n_elements = 1, .n_bytes = 767},
    };
    static const unsigned char bytes[768] = {0};
    static stored found;
    for (int64_t k = 0; k <= TEST_COUNT(bad) + 1; k++) {
        subject self;
        open_subject(&self, "deflate:1", 7);
        slci_chunk_sink *sink = open_sink(&self, NULL, 0, &found);
        reading from = {bytes, (int64_t)sizeof bytes};
        slc_sink_piece piece = {.index = 3, .n_bytes = 100};
        if (k < TEST_COUNT(bad)) {
            TEST_FAILS(slci_chunk_sink_put(sink, &bad[k], read_piece, &from), SLC_ERROR_INPUT,
                       "none of its 32 chunks");
        } else if (k == TEST_COUNT(bad)) {
            TEST_OK(slci_chunk_sink_put(sink, &piece, read_piece, &from));
            TEST_FAILS(slci_chunk_sink_put(sink, &piece, read_piece, &from), SLC_ERROR_INPUT,
                       "chunk 3 was kept twice");
        } else {
            from.n_left = 99;
            TEST_FAILS(slci_chunk_sink_put(sink, &piece, read_piece, &from), SLC_ERROR_INPUT,
                       "cut");
        }
        slci_chunk_sink_destroy(sink);
        forget_stored(&found);
        close_subject(&self);
    }
}

/* Chunks that come in their order never go to the file, however far threads run ahead of each other:
 * here the one that puts is slow. */
static slc_status put_slowly(void *context, int64_t index, const void *bytes, int64_t n_bytes) {
    const struct timespec pause = {.tv_nsec = index % 5 == 0 ? 2000000 : 0};
    (void)nanosleep(&pause, NULL);
    return put(context, index, bytes, n_bytes);
}

static void what_comes_in_order_stays_in_memory(void **state) {
    (void)state;
    static stored whole;
    static stored found;
    subject self;
    open_subject(&self, "deflate:1", 3);
    write_whole(&self, &whole);
    const slci_chunk_grid grid = slci_chunk_grid_of(&self.layout, self.chunk);
    for (int n_threads = 1; n_threads <= 7; n_threads++) {
        slc_pool *pool = NULL;
        TEST_OK(slc_pool_create(n_threads, &pool));
        for (int64_t memory_bytes = 0; memory_bytes <= 1; memory_bytes++) {
            slci_chunk_sink *sink = open_sink_with(&self, pool, memory_bytes, put_slowly, &found);
            for (int64_t k = 0; k < grid.n_chunks; k++) {
                const slc_box box = slci_chunk_grid_box(&grid, k);
                TEST_OK(write_box(sink, &self, &box));
            }
            TEST_OK(slci_chunk_sink_finish(sink));
            assert_int_equal(slci_chunk_sink_get_counts(sink).n_put_away, 0);
            slci_chunk_sink_destroy(sink);
            expect_same(&found, &whole);
            forget_stored(&found);
        }
        slc_pool_destroy(pool);
    }
    forget_stored(&whole);
    close_subject(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_run_writes_the_same),
        cmocka_unit_test(only_what_has_grown_is_kept),
        cmocka_unit_test(what_is_no_piece_is_refused),
        cmocka_unit_test(what_comes_in_order_stays_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
