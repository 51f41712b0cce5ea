/* Reading past HDF5 gives what HDF5 reads: random shapes, chunks, filters, types and boxes against
 * H5Dread; what is missing, skipped or at the edge; every real file; damage; several threads. */
#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <unistd.h>

#include "io/h5_array.h"
#include "io/h5_chunks.h"
#include "io/h5_data.h"
#include "tests/support/test_uvh5.h"

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* ---- two readers ------------------------------------------------------------------------------ */

typedef struct opened {
    slci_h5_id file;
    slci_h5_dataset set;
} opened;

/* The caller closes it. */
static void open_set(const char *path, const char *name, opened *out) {
    memset(out, 0, sizeof *out);
    TEST_OK(slci_h5_open(path, NULL, &out->file));
    TEST_OK(slci_h5_dataset_open(out->file, path, name, &out->set));
    TEST_OK(slci_h5_dataset_read_past(&out->set, NULL));
}

static void close_set(opened *set) {
    slci_h5_dataset_close(&set->set);
    slci_h5_close(set->file);
}

/* HDF5's own reading of the same box: a dataset that nobody told to be read past it. */
static void read_by_hdf5(const opened *set, const slc_box *box, void *out) {
    slci_h5_dataset plain;
    TEST_OK(slci_h5_dataset_open(set->file, set->set.path, set->set.name, &plain));
    TEST_OK(slci_h5_dataset_read(&plain, box->origin, box->extent, out));
    slci_h5_dataset_close(&plain);
}

static int64_t box_bytes(const opened *set, const slc_box *box) {
    return slc_box_count(box) * set->set.type.bytes;
}

static slc_box whole(const opened *set) {
    slc_box box = {.rank = set->set.rank};
    memcpy(box.extent, set->set.shape, sizeof box.extent);
    return box;
}

static void expect_same(const opened *set, const slc_box *box, int n_parts) {
    const int64_t bytes = box_bytes(set, box);
    unsigned char *ours = test_allocate(bytes);
    unsigned char *theirs = test_allocate(bytes);
    test_fill(ours, bytes, 1);
    test_fill(theirs, bytes, 2);
    slci_h5_dataset copy = set->set;
    slc_source_counters counters = {0};
    for (int part = 0; part < n_parts; part++) {
        const slci_h5_part wanted = {.origin = box->origin,
                                     .extent = box->extent,
                                     .raw = ours,
                                     .part = part,
                                     .n_parts = n_parts};
        TEST_OK(slci_h5_dataset_read_part(&copy, &wanted, &counters));
    }
    read_by_hdf5(set, box, theirs);
    assert_memory_equal(ours, theirs, (size_t)bytes);
    free(theirs);
    free(ours);
}

/* ---- random datasets -------------------------------------------------------------------------- */

enum { N_FILTERS = 8 };

static hid_t random_type(uint64_t *random) {
    const hid_t types[] = {H5T_STD_I8LE,  H5T_STD_U16BE,  H5T_STD_I32LE,
                           H5T_STD_U64BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE};
    const int64_t n = TEST_COUNT(types);
    const int64_t k = test_random_below(random, n + 2);
    return k < n ? H5Tcopy(types[k])
                 : test_h5_complex(k == n ? H5T_IEEE_F32LE : H5T_IEEE_F64BE, "r", "i");
}

/* Writes random elements, all or only a box of them, in the type that is stored. */
static void put_random(const char *path, uint64_t *random) {
    const int rank = 1 + (int)test_random_below(random, 4);
    hsize_t shape[4];
    hsize_t chunk[4];
    hsize_t start[4];
    hsize_t count[4];
    hsize_t n = 1;
    for (int d = 0; d < rank; d++) {
        shape[d] = 1 + (hsize_t)test_random_below(random, rank < 3 ? 70 : 13);
        chunk[d] = 1 + (hsize_t)test_random_below(random, (int64_t)shape[d]);
        const bool is_part = test_random_below(random, 3) == 0;
        start[d] = is_part ? (hsize_t)test_random_below(random, (int64_t)shape[d]) : 0;
        count[d] = is_part ? 1 + (hsize_t)test_random_below(random, (int64_t)(shape[d] - start[d]))
                           : shape[d];
        n *= count[d];
    }
    const hid_t type = random_type(random);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const int64_t form = test_random_below(random, 4);
    if (form > 0) {
        H5Pset_chunk(list, rank, chunk);
        test_h5_set_filters(list, test_random_below(random, N_FILTERS));
        if (form == 2) {
            H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        }
    }
    unsigned char fill[16];
    test_fill(fill, sizeof fill, *random);
    H5Pset_fill_value(list, type, fill);
    const size_t bytes = H5Tget_size(type) * (size_t)n;
    unsigned char *values = test_allocate((int64_t)bytes);
    test_fill(values, (int64_t)bytes, *random);
    memset(values, 7, bytes / 2); /* something to compress */
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t create = H5Pcreate(H5P_FILE_CREATE);
    if (test_random_below(random, 2) == 0) {
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    if (test_random_below(random, 4) == 0) {
        H5Pset_userblock(create, 1024);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, create, access);
    const hid_t space = H5Screate_simple(rank, shape, NULL);
    const hid_t memory = H5Screate_simple(rank, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    const hid_t set = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, type, memory, space, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(create);
    H5Pclose(access);
    H5Pclose(list);
    H5Tclose(type);
    free(values);
}

static slc_box random_box(const opened *set, uint64_t *random) {
    slc_box box = {.rank = set->set.rank};
    for (int d = 0; d < box.rank; d++) {
        box.origin[d] = test_random_below(random, set->set.shape[d]);
        box.extent[d] = 1 + test_random_below(random, set->set.shape[d] - box.origin[d]);
    }
    return box;
}

static void anything_is_read_as_hdf5_reads_it(void **state) {
    const test_place *self = *state;
    uint64_t random = 20;
    int n_past = 0;
    enum { N_SETS = 200, N_BOXES = 6 };
    print_message("seed %" PRIu64 "\n", random);
    for (int k = 0; k < N_SETS; k++) {
        opened set;
        put_random(self->path, &random);
        open_set(self->path, "/x", &set);
        const slc_box all = whole(&set);
        n_past += set.set.chunks != NULL;
        if (set.set.chunks == NULL) {
            print_message("set %d: %s\n", k, set.set.why);
        }
        expect_same(&set, &all, 1);
        TEST_OK(slci_h5_dataset_set_cache(set.file, &set.set, test_random_below(&random, 20000)));
        for (int b = 0; b < N_BOXES; b++) {
            const slc_box box = random_box(&set, &random);
            expect_same(&set, &box, 1 + (int)test_random_below(&random, 12));
        }
        close_set(&set);
    }
    assert_int_equal(n_past, N_SETS);
}

/* ---- real files ------------------------------------------------------------------------------- */

typedef struct survey {
    const char *path;
    int n_read, n_past;
} survey;

static herr_t visit(hid_t file, const char *name, const H5O_info_t *info, void *context) {
    survey *self = context;
    (void)file;
    if (info->type != H5O_TYPE_DATASET) {
        return 0;
    }
    char full[SLCI_H5_NAME_BYTES];
    (void)snprintf(full, sizeof full, "/%.120s", name);
    slci_h5_id again;
    slci_h5_dataset set;
    slci_h5_unlock();
    TEST_OK(slci_h5_open(self->path, NULL, &again));
    if (slci_h5_dataset_open(again, self->path, full, &set) == SLC_OK) {
        opened one = {.file = again, .set = set};
        TEST_OK(slci_h5_dataset_read_past(&one.set, NULL));
        const slc_box all = whole(&one);
        const bool is_number =
            slci_element_is_real(&set.type) || slci_element_is_complex(&set.type);
        if (!set.is_null && is_number && slc_box_count(&all) > 0) {
            expect_same(&one, &all, 3);
            self->n_read++;
            self->n_past += one.set.chunks != NULL;
            if (one.set.chunks == NULL) {
                print_message("  %s: %s\n", full, one.set.why);
            }
        }
        slci_h5_dataset_close(&one.set);
    }
    slci_h5_close(again);
    slci_h5_lock();
    return 0;
}

static int read_folder(const char *relative) {
    char folder[TEST_PATH_BYTES];
    int n_past = 0;
    test_need_shared(relative, folder);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char path[TEST_PATH_BYTES];
        test_join(folder, entry->d_name, path);
        slci_h5_id file;
        const bool is_too_large = strstr(entry->d_name, "scan_int32") != NULL;
        const bool is_unreadable = strstr(entry->d_name, "missing_filter") != NULL;
        if (entry->d_name[0] == '.' || is_too_large || is_unreadable ||
            slci_h5_open(path, NULL, &file) != SLC_OK) {
            continue;
        }
        survey found = {.path = path};
        print_message("%s\n", entry->d_name);
        slci_h5_lock();
        assert_true(H5Ovisit((hid_t)file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found) >= 0);
        slci_h5_unlock();
        slci_h5_close(file);
        n_past += found.n_past;
    }
    closedir(directory);
    return n_past;
}

static void real_files(void **state) {
    (void)state;
    assert_true(read_folder("data/hdf5") > 10);
}

static void cases(void **state) {
    (void)state;
    assert_true(read_folder("cases") > 10);
}

/* ---- what only HDF5 may read ------------------------------------------------------------------ */

/* The reason that is given for a dataset, which is read rightly all the same. */
static void expect_library(const char *path, const char *name, const char *why) {
    opened set;
    open_set(path, name, &set);
    assert_null(set.set.chunks);
    assert_int_equal(slci_h5_dataset_path(&set.set), SLCI_H5_LIBRARY);
    if (strstr(set.set.why, why) == NULL) {
        fail_msg("%s: '%s' does not hold '%s'", name, set.set.why, why);
    }
    const slc_box all = whole(&set);
    expect_same(&set, &all, 2);
    close_set(&set);
}

static void what_is_left_to_hdf5(void **state) {
    const test_place *self = *state;
    const int64_t six = 6;
    const hsize_t dims[1] = {6};
    const int64_t values[6] = {1, 2, 3, 4, 5, 6};
    char other[TEST_PATH_BYTES];
    test_join(self->directory, "other.h5", other);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(list, H5D_COMPACT);
    test_h5_put(self->path, "/compact", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &six, list, values);
    H5Pclose(list);
    test_h5_put(self->path, "/unwritten", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &six, H5P_DEFAULT,
                NULL);
    test_h5_put_i64(other, "/x", 1, &six, values);
    const hid_t file = H5Fopen(self->path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Lcreate_external(other, "/x", file, "/linked", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    const hid_t virtual = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, dims, NULL);
    H5Pset_virtual(virtual, space, other, "/x", space);
    H5Dclose(H5Dcreate2(file, "/virtual", H5T_STD_I64LE, space, H5P_DEFAULT, virtual, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(virtual);
    H5Fclose(file);
    expect_library(self->path, "/compact", "compact");
    expect_library(self->path, "/unwritten", "never written");
    expect_library(self->path, "/linked", "in another file");
    expect_library(self->path, "/virtual", "virtual");
}

/* A number in a file beside it. HDF5 looks for that file in the current folder or by its whole name. */
static void external_data_are_left_to_hdf5(void **state) {
    const test_place *self = *state;
    const int64_t six = 6;
    const int64_t values[6] = {1, 2, 3, 4, 5, 6};
    char raw[TEST_PATH_BYTES];
    test_join(self->directory, "x.raw", raw);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(list, raw, 0, sizeof values);
    test_h5_put(self->path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &six, list, values);
    H5Pclose(list);
    expect_library(self->path, "/x", "external files");
}

/* ---- the index -------------------------------------------------------------------------------- */

enum { SIDE = 60, CHUNK = 7 };

/* [60, 60] in chunks of [7, 7], shuffled, deflated and with checksums, element k being k. */
static void put_square(const char *path) {
    const int64_t shape[2] = {SIDE, SIDE};
    const hsize_t chunk[2] = {CHUNK, CHUNK};
    int64_t *values = test_allocate(SIDE * SIDE * (int64_t)sizeof *values);
    for (int64_t k = 0; k < SIDE * SIDE; k++) {
        values[k] = k;
    }
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, chunk);
    test_h5_set_filters(list, 7);
    test_h5_put(path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, shape, list, values);
    H5Pclose(list);
    free(values);
}

static void every_chunk_lies_where_hdf5_says(void **state) {
    const test_place *self = *state;
    opened set;
    put_square(self->path);
    open_set(self->path, "/x", &set);
    const slci_h5_index *index = set.set.chunks->index;
    assert_int_equal(index->n_chunks, 81);
    assert_int_equal(index->n_stored, 81);
    slci_h5_lock();
    for (int64_t at[2] = {0, 0}; at[0] < 9; at[0]++) {
        for (at[1] = 0; at[1] < 9; at[1]++) {
            const hsize_t element[2] = {(hsize_t)at[0] * CHUNK, (hsize_t)at[1] * CHUNK};
            unsigned mask = 1;
            haddr_t offset = 0;
            hsize_t bytes = 0;
            assert_true(H5Dget_chunk_info_by_coord((hid_t)set.set.id, element, &mask, &offset,
                                                   &bytes) >= 0);
            const int64_t place = slci_h5_index_find(index, at);
            int64_t again[SLC_MAX_RANK];
            slci_h5_index_place(index, place, again);
            assert_memory_equal(again, at, 2 * sizeof *at);
            assert_int_equal(index->offset[place], offset);
            assert_int_equal(index->bytes[place], bytes);
            assert_int_equal(index->mask[place], mask);
        }
    }
    slci_h5_unlock();
    close_set(&set);
}

/* ---- damage ----------------------------------------------------------------------------------- */

static slc_status read_whole(opened *set) {
    const slc_box box = whole(set);
    void *values = test_allocate(box_bytes(set, &box));
    const slc_status status = slci_h5_dataset_read(&set->set, box.origin, box.extent, values);
    free(values);
    return status;
}

static void damage_is_named(void **state) {
    const test_place *self = *state;
    opened set;
    char words[128];
    put_square(self->path);
    open_set(self->path, "/x", &set);
    const int64_t at[2] = {3, 5};
    const int64_t place = slci_h5_index_find(set.set.chunks->index, at);
    const uint64_t offset = set.set.chunks->index->offset[place];
    const uint32_t bytes = set.set.chunks->index->bytes[place];
    const int descriptor = open(self->path, O_RDWR);
    unsigned char damaged[4];
    assert_int_equal(pread(descriptor, damaged, 4, (off_t)(offset + bytes / 2)), 4);
    damaged[1] ^= 0x10;
    assert_int_equal(pwrite(descriptor, damaged, 4, (off_t)(offset + bytes / 2)), 4);
    (void)snprintf(words, sizeof words,
                   "a.h5: dataset /x cannot be read: the chunk at (21, 35), %" PRIu32
                   " bytes at byte %" PRIu64 ": filter",
                   bytes, offset);
    TEST_FAILS(read_whole(&set), SLC_ERROR_INPUT, words);
    assert_int_equal(ftruncate(descriptor, (off_t)offset), 0);
    TEST_FAILS(read_whole(&set), SLC_ERROR_INPUT, "the file ends before them");
    (void)close(descriptor);
    close_set(&set);
}

/* Whatever happened to the file since, nothing but a failure or other numbers comes of it. */
static void any_damage_is_survived(void **state) {
    const test_place *self = *state;
    uint64_t random = 5;
    put_square(self->path);
    opened set;
    open_set(self->path, "/x", &set);
    int64_t n_bytes = 0;
    char *bytes = test_file_read(self->path, &n_bytes);
    const int descriptor = open(self->path, O_RDWR);
    for (int k = 0; k < 200; k++) {
        const int64_t at = 2048 + test_random_below(&random, n_bytes - 2048 - 64);
        char changed[64];
        test_fill(changed, sizeof changed, random);
        assert_int_equal(pwrite(descriptor, changed, sizeof changed, (off_t)at), sizeof changed);
        const slc_status status = read_whole(&set);
        assert_true(status == SLC_OK || status == SLC_ERROR_INPUT);
        assert_int_equal(pwrite(descriptor, bytes + at, sizeof changed, (off_t)at), sizeof changed);
    }
    TEST_OK(read_whole(&set));
    (void)close(descriptor);
    free(bytes);
    close_set(&set);
}

/* ---- many threads ----------------------------------------------------------------------------- */

typedef struct crowd {
    opened *set;
    slc_source_counters counters;
} crowd;

/* Reads a random box and looks at every element. */
static slc_status read_one(void *context, int64_t k, int worker) {
    crowd *self = context;
    uint64_t random = 1000 + (uint64_t)k;
    (void)worker;
    int64_t values[SIDE * SIDE];
    const slc_box box = random_box(self->set, &random);
    const slci_h5_part part = {.origin = box.origin,
                               .extent = box.extent,
                               .raw = values,
                               .n_parts = 1};
    SLC_TRY(slci_h5_dataset_read_part(&self->set->set, &part, &self->counters));
    for (int64_t e = 0; e < slc_box_count(&box); e++) {
        const int64_t row = box.origin[0] + e / box.extent[1];
        const int64_t column = box.origin[1] + e % box.extent[1];
        if (values[e] != row * SIDE + column) {
            return SLC_FAIL(SLC_ERROR_INTERNAL, "box %lld: element %lld is %lld", (long long)k,
                            (long long)e, (long long)values[e]);
        }
    }
    return SLC_OK;
}

static void threads_share_chunks(void **state) {
    const test_place *self = *state;
    const int64_t chunk_bytes = (int64_t)CHUNK * CHUNK * 8;
    slc_pool *pool;
    opened set;
    put_square(self->path);
    open_set(self->path, "/x", &set);
    TEST_OK(slc_pool_create(4, &pool));
    for (int64_t n_kept = 0; n_kept <= 81; n_kept += 27) {
        crowd all = {.set = &set};
        TEST_OK(slci_h5_dataset_set_cache(set.file, &set.set, n_kept * chunk_bytes));
        TEST_OK(slc_pool_for(pool, 200, read_one, &all));
    }
    slc_pool_destroy(pool);
    close_set(&set);
}

/* Rows one by one, in any order: with room for them each chunk is decoded once, by whatever thread, and
 * without for every row. */
static slc_status read_row(void *context, int64_t row, int worker) {
    crowd *self = context;
    int64_t values[SIDE];
    const int64_t origin[2] = {row, 0};
    const int64_t extent[2] = {1, SIDE};
    const slci_h5_part part = {.origin = origin, .extent = extent, .raw = values, .n_parts = 1};
    (void)worker;
    return slci_h5_dataset_read_part(&self->set->set, &part, &self->counters);
}

static void chunks_are_decoded_once(void **state) {
    const test_place *self = *state;
    slc_pool *pool;
    opened set;
    put_square(self->path);
    open_set(self->path, "/x", &set);
    TEST_OK(slc_pool_create(3, &pool));
    crowd with = {.set = &set};
    TEST_OK(slci_h5_dataset_set_cache(set.file, &set.set, (int64_t)81 * CHUNK * CHUNK * 8));
    TEST_OK(slc_pool_for(pool, SIDE, read_row, &with));
    assert_int_equal(with.counters.chunks_decoded, 81);
    crowd without = {.set = &set};
    TEST_OK(slci_h5_dataset_set_cache(set.file, &set.set, 0));
    TEST_OK(slc_pool_for(pool, SIDE, read_row, &without));
    assert_int_equal(without.counters.chunks_decoded, SIDE * 9);
    slc_pool_destroy(pool);
    close_set(&set);
}

/* B37: sixteen tiles of rows through 32 tall chunks. */
static void tall_chunks(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    slc_source *source = NULL;
    test_need_shared("cases/tallchunk.h5", path);
    TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = path, .dataset = "/x"}, &source));
    TEST_OK(slc_h5_array_set_cache(source, slc_h5_array_row_bytes(source, 0)));
    float *values = test_allocate(256 * 256 * 4);
    void *const dst[] = {values};
    for (int64_t row = 0; row < 4096; row += 256) {
        const slc_box box = {.rank = 2, .origin = {row, 0}, .extent = {256, 256}};
        TEST_OK(slc_source_read(source, &box, dst));
    }
    assert_int_equal(source->counters.chunks_decoded, 32);
    const char *why = NULL;
    assert_string_equal(slc_h5_array_reader(source, &why), "chunks");
    assert_string_equal(why, "");
    assert_true(slc_h5_array_reader_bytes(source, 2) > slc_h5_array_reader_bytes(source, 1));
    free(values);
    slc_source_destroy(source);
}

/* B48: more than 2^32 elements, nearly all of them not stored. */
static void past_two_to_the_32(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    slc_source *source = NULL;
    test_need_shared("cases/scan_int32.h5", path);
    TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = path, .dataset = "/x"}, &source));
    assert_true(source->fields[0].shape[0] == ((int64_t)1 << 32) + 1);
    const int64_t begins[2] = {0, ((int64_t)1 << 32) - 2};
    const signed char expected[2][3] = {{0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 2; k++) {
        signed char values[3];
        void *const dst[] = {values};
        const slc_box box = slc_box_1d(begins[k], 3);
        TEST_OK(slc_source_read(source, &box, dst));
        assert_memory_equal(values, expected[k], 3);
    }
    assert_int_equal(source->counters.chunks_read, 2);
    slc_source_destroy(source);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(anything_is_read_as_hdf5_reads_it),
        CASE(real_files),
        CASE(cases),
        CASE(what_is_left_to_hdf5),
        CASE(external_data_are_left_to_hdf5),
        CASE(every_chunk_lies_where_hdf5_says),
        CASE(damage_is_named),
        CASE(any_damage_is_survived),
        CASE(threads_share_chunks),
        CASE(chunks_are_decoded_once),
        CASE(tall_chunks),
        CASE(past_two_to_the_32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
