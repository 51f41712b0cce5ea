/* Whole gathers, from file to file, against the definition in plain C: any rank, every way of
 * treating the data, budgets down to the smallest, threads, lists of every shape; and everything
 * that is refused. */
#include <hdf5.h>
#include <unistd.h>

#include "app/gather.h"
#include "io/h5_array.h"
#include "tests/support/test_gather_cases.h"
#include "tests/support/test_uvh5.h"

typedef struct place {
    char directory[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], list[TEST_PATH_BYTES], out[TEST_PATH_BYTES];
} place;

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "list.h5", self->list);
    test_join(self->directory, "out.h5", self->out);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

static slc_gather_options options_of(const place *self) {
    return (slc_gather_options){.data_path = self->in,
                                .data = "/data",
                                .index_path = self->list,
                                .index = "/i",
                                .out_path = self->out,
                                .out = "/v",
                                .run = {.vram_bytes = 64 << 20,
                                        .ram_bytes = 64 << 20,
                                        .device = SLC_CHOOSE_HOST,
                                        .n_threads = 2,
                                        .overwrite = true}};
}

static hid_t float_chunks(int rank, const int64_t *chunk) {
    hsize_t dims[SLC_MAX_RANK];
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    for (int d = 0; d < rank; d++) {
        dims[d] = (hsize_t)chunk[d];
    }
    assert_true(H5Pset_chunk(list, rank, dims) >= 0 && H5Pset_shuffle(list) >= 0 &&
                H5Pset_deflate(list, 1) >= 0);
    return list;
}

/* One gather: files are made from it, and the result is held against the definition. */
typedef struct scene {
    slc_gather_request request; /* dtype SLC_F32, index SLC_I32; n_index follows from the list */
    int list_rank;              /* of the list's own dimensions */
    int64_t list_shape[SLC_MAX_RANK];
    int64_t chunk[SLC_MAX_RANK]; /* of the data; 0: contiguous */
} scene;

typedef struct scene_files {
    float *data, *expected;
    int64_t *list;
    int64_t n_data, n_list, n_out;
} scene_files;

static int64_t count(const int64_t *shape, int rank) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= shape[d];
    }
    return n;
}

static void make_scene(const place *self, scene *what, scene_files *files) {
    slc_gather_request *request = &what->request;
    const int n_coordinates = request->axis < 0 ? request->rank : 1;
    int64_t shape[SLC_MAX_RANK + 1];
    uint64_t random = 11;
    request->dtype = SLC_F32;
    request->index_dtype = SLC_I32;
    request->n_index = count(what->list_shape, what->list_rank);
    files->n_data = count(request->shape, request->rank);
    files->n_list = request->n_index * n_coordinates;
    files->n_out = request->axis < 0
                       ? request->n_index
                       : files->n_data / request->shape[request->axis] * request->n_index;
    files->data = test_allocate(files->n_data * 4);
    files->expected = test_allocate(files->n_out * 4);
    files->list = test_allocate(files->n_list * 8);
    for (int64_t k = 0; k < files->n_data; k++) {
        files->data[k] = (float)k;
    }
    for (int64_t k = 0; k < files->n_list; k++) {
        files->list[k] = test_random_below(
            &random, request->shape[request->axis < 0 ? k % request->rank : request->axis]);
    }
    test_gather_expect(request, files->data, files->list, files->expected);
    const hid_t chunks =
        what->chunk[0] > 0 ? float_chunks(request->rank, what->chunk) : H5P_DEFAULT;
    test_h5_put(self->in, "/data", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, request->rank, request->shape,
                chunks, files->data);
    if (what->chunk[0] > 0) {
        H5Pclose(chunks);
    }
    memcpy(shape, what->list_shape, sizeof what->list_shape);
    shape[what->list_rank] = n_coordinates;
    test_h5_put(self->list, "/i", H5T_STD_I32LE, H5T_NATIVE_INT64,
                what->list_rank + (request->axis < 0), shape, H5P_DEFAULT, files->list);
}

static void free_scene(scene_files *files) {
    free(files->data);
    free(files->expected);
    free(files->list);
}

/* The result file's one dataset has the shape and the values wanted. */
static void expect_result(const place *self, const scene *what, const scene_files *files) {
    const slc_gather_request *request = &what->request;
    slc_source *source = NULL;
    int64_t shape[2 * SLC_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < (request->axis < 0 ? 1 : request->rank); d++) {
        if (request->axis < 0 || d == request->axis) {
            memcpy(shape + rank, what->list_shape, (size_t)what->list_rank * sizeof *shape);
            rank += what->list_rank;
        } else {
            shape[rank++] = request->shape[d];
        }
    }
    const slc_h5_array_options set = {.path = self->out, .dataset = "/v"};
    TEST_OK(slc_h5_array_open(&set, &source));
    const slc_layout *found = &source->fields[0];
    assert_int_equal(found->rank, rank);
    assert_int_equal(found->dtype, SLC_F32);
    slc_box box = {.rank = rank};
    for (int d = 0; d < rank; d++) {
        assert_int_equal(found->shape[d], shape[d]);
        box.extent[d] = shape[d];
    }
    float *values = test_allocate(files->n_out * 4);
    void *const dst[] = {values};
    TEST_OK(slc_source_read(source, &box, dst));
    assert_int_equal(memcmp(values, files->expected, (size_t)files->n_out * 4), 0);
    free(values);
    slc_source_destroy(source);
}

static const slc_sparse_choice ways[] = {SLC_SPARSE_AUTO, SLC_SPARSE_RESIDENT, SLC_SPARSE_MAPPED,
                                         SLC_SPARSE_STREAMED};

/* Small chunks, which cut across tiles and lists, encoded. */
static slc_array_form chunks_of(const scene *what) {
    const int n_whole = what->request.axis < 0 ? 0 : what->request.rank - 1;
    return (slc_array_form){.n_chunk = what->list_rank + n_whole,
                            .chunk = {2, 2, 2, 2, 2, 2, 2, 2},
                            .filters = true,
                            .filter.kind = SLC_H5_FILTER_DEFLATE};
}

/* Runs the scene every way, two of them into chunks; `axis` as the user gives it. */
static void run_scene(const place *self, scene *what, int axis) {
    scene_files files;
    slc_gather_result result;
    make_scene(self, what, &files);
    for (int64_t w = 0; w < TEST_COUNT(ways); w++) {
        slc_gather_options options = options_of(self);
        options.axis = axis;
        options.is_coordinates = what->request.axis < 0;
        options.run.sparse = ways[w];
        options.form = w % 2 == 1 ? chunks_of(what) : options.form;
        TEST_OK(slc_gather_run(&options, &result));
        assert_true(w == 0 || result.sparse == ways[w]);
        assert_int_equal(result.n_index, what->request.n_index);
        assert_true(result.memory.vram_peak_bytes <= result.memory.vram_limit_bytes);
        assert_true(result.memory.host_peak_bytes <= result.memory.ram_limit_bytes);
        expect_result(self, what, &files);
        assert_int_equal(test_directory_count(self->directory), 3);
    }
    free_scene(&files);
}

/* ---- shapes ----------------------------------------------------------------------------------- */

static void every_rank_and_axis(void **state) {
    static const int64_t shape[SLC_MAX_RANK] = {3, 4, 2, 3, 2, 1, 2, 3};
    for (int rank = 1; rank <= SLC_MAX_RANK; rank++) {
        for (int axis = 0; axis < rank; axis++) {
            scene what = {.request = {.rank = rank, .axis = axis}, .list_rank = 1};
            memcpy(what.request.shape, shape, sizeof shape);
            what.list_shape[0] = 11;
            run_scene(*state, &what, axis % 2 == 0 ? axis : axis - rank);
        }
    }
}

static void lists_of_every_rank(void **state) {
    static const int64_t shape[SLC_MAX_RANK] = {2, 3, 2, 1, 2, 2, 1};
    for (int rank = 0; rank <= 7; rank++) {
        scene what = {.request = {.rank = 2, .shape = {9, 4}, .axis = 1}, .list_rank = rank};
        memcpy(what.list_shape, shape, sizeof shape);
        run_scene(*state, &what, 1);
        what.request.axis = SLC_GATHER_COORDINATES;
        run_scene(*state, &what, 0);
    }
}

static void lists_and_data_without_elements(void **state) {
    scene empty_list = {.request = {.rank = 2, .shape = {9, 4}},
                        .list_rank = 2,
                        .list_shape = {0, 3}};
    run_scene(*state, &empty_list, 0);
    empty_list.request.axis = SLC_GATHER_COORDINATES;
    run_scene(*state, &empty_list, 0);
    scene empty_slabs = {.request = {.rank = 2, .shape = {9, 0}},
                         .list_rank = 1,
                         .list_shape = {5}};
    run_scene(*state, &empty_slabs, 0);
}

/* ---- budgets ---------------------------------------------------------------------------------- */

static char *read_out(const place *self, int64_t *n) {
    FILE *file = fopen(self->out, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = ftell(file);
    rewind(file);
    char *bytes = test_allocate(*n);
    assert_int_equal(fread(bytes, 1, (size_t)*n, file), *n);
    fclose(file);
    return bytes;
}

/* The smallest budgets that the plan names work, and one byte less does not; the file's bytes are
 * those of the run with plenty, with any number of threads. */
static void expect_smallest(const place *self, slc_gather_options options, const char *bytes,
                            int64_t n) {
    slc_gather_result result;
    int64_t n_found = 0;
    options.run.dry_run = true;
    options.run.n_threads = 3; /* turning elements of the other byte order takes some for each */
    TEST_OK(slc_gather_run(&options, &result));
    const int64_t vram = result.plan.smallest_device_bytes;
    const int64_t ram = result.memory.smallest_ram_bytes;
    options.run.dry_run = false;
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        options.run.n_threads = n_threads;
        options.run.vram_bytes = vram;
        options.run.ram_bytes = n_threads == 1 ? ram : 64 << 20;
        TEST_OK(slc_gather_run(&options, &result));
        assert_true(result.memory.vram_peak_bytes <= vram);
        assert_true(result.memory.host_peak_bytes <= options.run.ram_bytes);
        assert_true(result.memory.vram_peak_bytes == result.plan.device_peak_bytes);
        char *found = read_out(self, &n_found);
        assert_int_equal(n_found, n);
        assert_memory_equal(found, bytes, (size_t)n);
        free(found);
    }
    char words[64];
    options.run.vram_bytes = vram - 1;
    (void)snprintf(words, sizeof words, "the smallest that works is --vram %lld", (long long)vram);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_NO_PLAN, words);
    options.run.vram_bytes = vram;
    options.run.ram_bytes = ram - 1;
    (void)snprintf(words, sizeof words, "the smallest that works is --ram %lld", (long long)ram);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_NO_PLAN, words);
    assert_int_equal(test_directory_count(self->directory), 3);
}

static void budgets_and_threads_do_not_show(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 2, .shape = {40000, 3}},
                  .list_rank = 2,
                  .list_shape = {50, 101},
                  .chunk = {1000, 3}};
    scene_files files;
    slc_gather_result result;
    make_scene(self, &what, &files);
    slc_gather_options options = options_of(self);
    int64_t n = 0;
    TEST_OK(slc_gather_run(&options, &result));
    expect_result(self, &what, &files);
    char *bytes = read_out(self, &n);
    for (int64_t w = 1; w < TEST_COUNT(ways); w++) {
        options.run.sparse = ways[w];
        expect_smallest(self, options, bytes, n);
    }
    free(bytes);
    free_scene(&files);
}

/* On every device of this machine, by every way: the bytes of the host's own. */
static void every_device_writes_the_same(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 3, .shape = {20, 3000, 5}, .axis = 1},
                  .list_rank = 1,
                  .list_shape = {5000},
                  .chunk = {20, 100, 5}};
    scene_files files;
    slc_gather_result result;
    test_devices devices;
    int64_t n = 0;
    make_scene(self, &what, &files);
    slc_gather_options options = options_of(self);
    options.axis = 1;
    TEST_OK(slc_gather_run(&options, &result));
    expect_result(self, &what, &files);
    char *bytes = read_out(self, &n);
    test_devices_open(2, &devices);
    for (int d = 0; d < devices.n; d++) {
        for (int64_t w = 0; w < TEST_COUNT(ways); w++) {
            int64_t n_found = 0;
            options.run.use_device = devices.device[d];
            options.run.sparse = ways[w];
            options.run.vram_bytes = ways[w] == SLC_SPARSE_RESIDENT ? 64 << 20 : 4 << 20;
            TEST_OK(slc_gather_run(&options, &result));
            assert_true(result.memory.vram_peak_bytes <= options.run.vram_bytes);
            char *found = read_out(self, &n_found);
            assert_int_equal(n_found, n);
            assert_memory_equal(found, bytes, (size_t)n);
            free(found);
        }
    }
    test_devices_close(&devices);
    free(bytes);
    free_scene(&files);
}

/* B39 for tiles of a few kilobytes: several passes over the data, its chunks larger than the
 * device. */
static void tiny_budgets_make_many_passes(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 3, .shape = {300, 5, 64}, .axis = 1},
                  .list_rank = 1,
                  .list_shape = {4000},
                  .chunk = {300, 5, 64}};
    scene_files files;
    slc_gather_result result;
    make_scene(self, &what, &files);
    slc_gather_options options = options_of(self);
    options.axis = 1;
    options.run.sparse = SLC_SPARSE_STREAMED;
    options.run.vram_bytes = 1 << 20;
    TEST_OK(slc_gather_run(&options, &result));
    assert_true(result.plan.n_tiles > 10);
    expect_result(self, &what, &files);
    free_scene(&files);
}

/* B40: one chunk of 16 MiB of which the device holds half, or less. */
static void a_chunk_larger_than_the_device(void **state) {
    const place *self = *state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/bigchunk.h5", path);
    enum { N = 300 };
    int64_t list[N];
    uint64_t random = 3;
    const int64_t n = N;
    const int64_t shape[2] = {N, 4096};
    for (int64_t k = 0; k < N; k++) {
        list[k] = test_random_below(&random, 1024);
    }
    test_h5_put_i64(self->list, "/i", 1, &n, list);
    slc_gather_options options = options_of(self);
    options.data_path = path;
    options.data = "/x", options.run.ram_bytes = 256 << 20;
    options.run.sparse = SLC_SPARSE_STREAMED;
    for (int64_t vram = 8 << 20; vram >= 1 << 20; vram /= 8) {
        slc_gather_result result;
        slc_source *source = NULL;
        options.run.vram_bytes = vram;
        TEST_OK(slc_gather_run(&options, &result));
        TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = self->out, .dataset = "/v"},
                                  &source));
        float *values = test_allocate(N * 4096 * 4);
        void *const dst[] = {values};
        slc_box box = {.rank = 2};
        memcpy(box.extent, shape, sizeof shape);
        TEST_OK(slc_source_read(source, &box, dst));
        for (int64_t k = 0; k < N * 4096; k++) {
            assert_true(values[k] == (float)(list[k / 4096] * 4096 + k % 4096));
        }
        /* It is decoded once a pass at most, though tiles are parts of it. */
        assert_true(result.chunks_decoded >= 1 && result.chunks_decoded <= result.plan.n_passes);
        free(values);
        slc_source_destroy(source);
    }
}

/* ---- refusals --------------------------------------------------------------------------------- */

static void put_list(const place *self, int64_t n, const int64_t *values) {
    test_h5_put_i64(self->list, "/i", 1, &n, values);
}

static void indices_out_of_range_are_named(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 2, .shape = {10, 4}}, .list_rank = 1, .list_shape = {3}};
    scene_files files;
    slc_gather_result result;
    make_scene(self, &what, &files);
    slc_gather_options options = options_of(self);
    put_list(self, 3, (const int64_t[]){9, 0, 10});
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "list.h5:/i: [2] is 10, expected 0 to 9 (dimension 0 of ");
    put_list(self, 3, (const int64_t[]){9, -1, 10});
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "[1] is -1, expected 0 to 9 (dimension 0 of ");
    assert_non_null(strstr(slc_status_message(), "counting from the end is not supported"));
    const uint64_t huge[4] = {1, 2, 3, UINT64_MAX};
    const int64_t square[2] = {2, 2};
    test_h5_put(self->list, "/i", H5T_STD_U64LE, H5T_NATIVE_UINT64, 2, square, H5P_DEFAULT, huge);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "[1, 1] is 18446744073709551615, expected 0 to 9");
    options.is_coordinates = true;
    const int64_t points[4] = {9, 3, 2, 4};
    test_h5_put_i64(self->list, "/i", 2, square, points);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "[1, 1] is 4, expected 0 to 3 (dimension 1 of ");
    assert_int_equal(access(self->out, F_OK), -1);
    assert_int_equal(test_directory_count(self->directory), 2);
    free_scene(&files);
}

/* The index that is wrong lies in another block than the first. */
static void the_whole_list_is_checked(void **state) {
    const place *self = *state;
    const int64_t n = 700000;
    const float data[3] = {1, 2, 3};
    const int64_t three = 3;
    slc_gather_result result;
    int64_t *list = test_allocate(n * 8);
    memset(list, 0, (size_t)n * 8);
    list[n - 1] = 3;
    test_h5_put(self->in, "/data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 1, &three, H5P_DEFAULT, data);
    put_list(self, n, list);
    slc_gather_options options = options_of(self);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "[699999] is 3, expected 0 to 2");
    free(list);
}

static void shapes_that_do_not_fit_are_refused(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 2, .shape = {10, 4}}, .list_rank = 1, .list_shape = {6}};
    scene_files files;
    slc_gather_result result;
    make_scene(self, &what, &files);
    slc_gather_options options = options_of(self);
    options.axis = 2;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_ARGUMENT,
               "has 2 dimensions, expected -2 to 1");
    options.axis = -3;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_ARGUMENT, "--axis -3");
    options.axis = 0;
    options.is_coordinates = true;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "must have 2 elements, one for each dimension of ");
    options.is_coordinates = false;
    options.data = "/scalar";
    test_h5_put_number(self->in, "/scalar", 1.0);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT, "is a single value");
    options.data = "/none";
    const int64_t none[2] = {0, 4};
    test_h5_put_f64(self->in, "/none", 2, none, NULL);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT, "has no elements");
    options.data = "/data";
    options.index_path = self->in;
    options.index = "/data";
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT,
               "indices must be integers, found f4");
    const int64_t deep[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t zero = 0;
    test_h5_put_i64(self->list, "/i", 8, deep, &zero);
    options = options_of(self);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_UNSUPPORTED, "9 dimensions, at most 8");
    free_scene(&files);
}

static void outputs_are_checked_first(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 1, .shape = {10}}, .list_rank = 1, .list_shape = {6}};
    scene_files files;
    slc_gather_result result;
    make_scene(self, &what, &files);
    put_list(self, 1, (const int64_t[]){10}); /* would be refused, but later */
    slc_gather_options options = options_of(self);
    options.run.overwrite = false;
    options.out_path = self->in;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_OUTPUT, "exists; overwriting");
    options.out_path = "/no/such/folder/out.h5";
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_OUTPUT, "make it first");
    const volatile int cancel = 1;
    options = options_of(self);
    options.run.cancel = &cancel;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INTERRUPTED, "interrupted");
    free_scene(&files);
}

/* Every type goes through, and complex numbers keep their form. */
static void every_type_of_data(void **state) {
    const place *self = *state;
    enum { N = 50, K = 20 };
    int64_t list[K];
    uint64_t random = 4;
    for (int64_t k = 0; k < K; k++) {
        list[k] = test_random_below(&random, N);
    }
    put_list(self, K, list);
    for (int t = 0; t < SLC_FIXED128; t++) {
        const int64_t bytes = slc_dtype_bytes((slc_dtype)t);
        unsigned char data[N * 16];
        unsigned char found[K * 16];
        void *const dst[] = {found};
        slc_h5_array_output output = {.path = self->in, .dataset = "/data", .overwrite = true};
        slc_box box = slc_box_1d(0, N);
        slc_sink *sink = NULL;
        slc_source *source = NULL;
        slc_gather_result result;
        test_fill(data, N * bytes, (uint64_t)t);
        TEST_OK(slc_layout_dense((slc_dtype)t, 1, &box.extent[0], &output.layout));
        TEST_OK(slc_h5_array_create(&output, &sink));
        TEST_OK(slc_sink_write(sink, &box, data));
        TEST_OK(slc_sink_commit(sink));
        slc_sink_destroy(sink);
        const slc_gather_options options = options_of(self);
        TEST_OK(slc_gather_run(&options, &result));
        TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = self->out, .dataset = "/v"},
                                  &source));
        assert_int_equal(source->fields[0].dtype, t);
        box.extent[0] = K;
        TEST_OK(slc_source_read(source, &box, dst));
        for (int64_t k = 0; k < K; k++) {
            assert_memory_equal(found + k * bytes, data + list[k] * bytes, (size_t)bytes);
        }
        slc_source_destroy(source);
    }
}

static void what_the_run_says(void **state) {
    const place *self = *state;
    scene what = {.request = {.rank = 2, .shape = {1000, 4}}, .list_rank = 1, .list_shape = {600}};
    scene_files files;
    slc_gather_result result;
    char *json = NULL, *plan = NULL;
    make_scene(self, &what, &files);
    slc_gather_options options = options_of(self);
    options.run.sparse = SLC_SPARSE_MAPPED;
    TEST_OK(slc_gather_run(&options, &result));
    TEST_OK(slc_gather_stats_json(&result, &json));
    TEST_OK(slc_gather_plan_text(&result, &plan));
    assert_non_null(strstr(json, "\"placement\": \"mapped\""));
    assert_non_null(strstr(json, "\"placement_why\": \"as --sparse asks\""));
    assert_non_null(strstr(json, "\"indices\": 600"));
    assert_non_null(strstr(plan, "1000 x 4 of f4, 15.6 KiB"));
    assert_non_null(strstr(plan, "mapped, as --sparse asks"));
    assert_true(result.plan.mapped_bytes >= 16000);
    assert_int_equal(result.report.bytes_written, 600 * 4 * 4);
    assert_true(result.report.bytes_read == result.plan.bytes_read);
    assert_true(result.report.bytes_h2d == result.plan.bytes_h2d);
    free(json);
    free(plan);
    options.run.sparse = SLC_SPARSE_AUTO;
    TEST_OK(slc_gather_run(&options, &result));
    assert_non_null(strstr(result.why, "expected to be the fastest: resident "));
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        assert_true(result.ways[w].is_considered && result.ways[w].is_possible);
        assert_true(result.plan.seconds_total <= result.ways[w].seconds);
    }
    free_scene(&files);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_rank_and_axis),
        CASE(lists_of_every_rank),
        CASE(lists_and_data_without_elements),
        CASE(budgets_and_threads_do_not_show),
        CASE(every_device_writes_the_same),
        CASE(tiny_budgets_make_many_passes),
        CASE(a_chunk_larger_than_the_device),
        CASE(indices_out_of_range_are_named),
        CASE(the_whole_list_is_checked),
        CASE(shapes_that_do_not_fit_are_refused),
        CASE(outputs_are_checked_first),
        CASE(every_type_of_data),
        CASE(what_the_run_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
