/* What reading a visibility set takes of memory: what slc_vis_reader_bytes says is enough, by the
 * allocator's own count, for one file and for several; it is given back; and with less room the same
 * bits come. The numbers of the allocator are those of glibc; a sanitizer's are zero. */
#include <malloc.h>

#include "core/pool.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 3000, CHANNELS = 48, POLS = 2, CHUNK_ROWS = 500, N_THREADS = 4, N_FILES = 3 };

typedef struct room {
    test_place *place;
    char path[N_FILES][TEST_PATH_BYTES + 16];
    slc_pool *pool;
} room;

static const slc_vis_options usual = {0};

static int64_t used_bytes(void) {
    const struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
}

static void make_file(const char *path) {
    const hsize_t chunk[3] = {CHUNK_ROWS, CHANNELS, POLS};
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    static float values[ROWS * CHANNELS * POLS * 2];
    test_uvh5_create(path, ROWS, CHANNELS, POLS);
    test_fill_f32(values, TEST_COUNT(values), 5);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    H5Pset_chunk(list, 3, chunk);
    H5Pset_deflate(list, 1);
    test_h5_put(path, "/Data/visdata", type, type, 3, shape, list, values);
    H5Tclose(type);
    H5Pclose(list);
}

static int set_up(void **state) {
    static room the_room;
    room *self = &the_room;
    void *place = NULL;
    self->place = test_place_create(&place, "set.uvh5");
    for (int k = 0; k < N_FILES; k++) {
        (void)snprintf(self->path[k], sizeof self->path[k], "%s.%d", self->place->path, k);
        make_file(self->path[k]);
    }
    *state = self;
    return slc_pool_create(N_THREADS, &self->pool) == SLC_OK ? 0 : 1;
}

static int tear_down(void **state) {
    room *self = *state;
    void *place = self->place;
    slc_pool_destroy(self->pool);
    return test_place_destroy(&place);
}

static slc_source *open_files(const room *self, int n_files, const slc_vis_options *options) {
    const char *paths[N_FILES];
    slc_source *source = NULL;
    for (int k = 0; k < n_files; k++) {
        paths[k] = self->path[k];
    }
    TEST_OK(slc_vis_open(paths, n_files, options, &source));
    return source;
}

typedef struct reading {
    slc_source *source;
    const test_vis *to;
    bool wants_samples;
} reading;

/* Parts are handed out from both ends, so that several files are read at a time. */
static slc_status read_task(void *context, int64_t part, int worker) {
    const reading *r = context;
    const int64_t n = r->to->n_rows;
    const int64_t k = part % 2 == 0 ? part / 2 : 16 - 1 - part / 2;
    const int64_t begin = n * k / 16;
    const int64_t end = n * (k + 1) / 16;
    const slc_box box = slc_box_1d(begin, end - begin);
    void *const dst[SLC_VIS_N_FIELDS] = {
        r->to->uvw + 3 * begin,
        r->wants_samples ? r->to->vis + 2 * begin * r->to->n_channels : NULL,
        r->wants_samples ? r->to->weight + begin * r->to->n_channels : NULL};
    (void)worker;
    return slc_source_read(r->source, &box, dst);
}

static void read_all(const room *self, const reading *r) {
    TEST_OK(slc_pool_for(self->pool, 16, read_task, (void *)r));
}

static void make_rows(int64_t n_rows, test_vis *out) {
    *out = (test_vis){.n_rows = n_rows, .n_channels = CHANNELS};
    out->uvw = calloc((size_t)n_rows * 3, sizeof *out->uvw);
    out->vis = calloc((size_t)n_rows * CHANNELS * 2, sizeof *out->vis);
    out->weight = calloc((size_t)n_rows * CHANNELS, sizeof *out->weight);
}

static void what_is_said_is_enough(void **state) {
    const room *self = *state;
    for (int n_files = 1; n_files <= N_FILES; n_files += 2) {
        for (int wants_samples = 0; wants_samples < 2; wants_samples++) {
            test_vis rows;
            make_rows((int64_t)n_files * ROWS, &rows);
            slc_source *source = open_files(self, n_files, &usual);
            const reading r = {source, &rows, wants_samples != 0};
            const int64_t once = slc_vis_reader_bytes(source, r.wants_samples, 0);
            const int64_t most = slc_vis_reader_bytes(source, r.wants_samples, N_THREADS) - once;
            slc_vis_rest(source);
            const int64_t before = used_bytes();
            read_all(self, &r);
            const int64_t took = used_bytes() - before;
            print_message("%d file(s)%s: %lld bytes of %lld\n", n_files,
                          r.wants_samples ? "" : ", uvw alone", (long long)took, (long long)most);
            assert_true(took <= most);
            slc_vis_rest(source);
            assert_true(used_bytes() - before < 65536);
            slc_source_destroy(source);
            test_vis_free(&rows);
        }
    }
}

/* One row of chunks of each file: visdata's, since nothing else is filtered. */
static void what_is_kept_is_counted(void **state) {
    const room *self = *state;
    const int64_t row_bytes = (int64_t)CHUNK_ROWS * CHANNELS * POLS * 8;
    const slc_vis_options none = {.cache_bytes = 1};
    slc_source *source = open_files(self, N_FILES, &usual);
    assert_int_equal(slc_vis_kept_bytes(source), N_FILES * row_bytes);
    TEST_OK(slc_vis_set_room(source, 0, N_FILES * row_bytes / 2));
    assert_int_equal(slc_vis_kept_bytes(source), N_FILES * row_bytes / 2);
    slc_source_destroy(source);
    source = open_files(self, N_FILES, &none);
    assert_true(slc_vis_kept_bytes(source) <= N_FILES);
    slc_source_destroy(source);
}

static void less_room_changes_no_bit(void **state) {
    const room *self = *state;
    test_vis first;
    test_vis again;
    make_rows((int64_t)N_FILES * ROWS, &first);
    make_rows((int64_t)N_FILES * ROWS, &again);
    slc_source *source = open_files(self, N_FILES, &usual);
    read_all(self, &(reading){source, &first, true});
    const int64_t most = slc_vis_reader_bytes(source, true, N_THREADS);
    TEST_OK(slc_vis_set_room(source, 4096, 1));
    assert_true(slc_vis_reader_bytes(source, true, N_THREADS) < most);
    read_all(self, &(reading){source, &again, true});
    assert_true(test_vis_equal(&first, &again));
    assert_true(first.vis[0] != 0);
    slc_source_destroy(source);
    test_vis_free(&first);
    test_vis_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_is_enough),
        cmocka_unit_test(what_is_kept_is_counted),
        cmocka_unit_test(less_room_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
