/* Datasets whose chunks are found otherwise than by a tree, damaged: fixed arrays, arrays that grow, in
 * pages or not, with and without filters, one chunk, and chunks one behind the other. A byte of them
 * that is changed is refused, since all have checksums; and where the checksum was made right again,
 * reading and copying ends in a status, and neither in a crash nor never. */
#include <hdf5.h>

#include "core/checked.h"
#include "io/h5_array.h"
#include "tests/support/test_damage.h"

/* What HDF5 makes of a shape, and of how it may grow. */
typedef struct file_form {
    const char *name, *blocks[5]; /* signatures that the file has, and NULL */
    int64_t n, chunk;             /* elements */
    int64_t first;                /* those from there on are written, the others are zeros */
    bool grows, is_filtered, is_early;
} file_form;

/* A page of entries has 1024. An array that grows has 4 in the index block, then data blocks of 16, 32,
 * 32, …, and the first that has pages begins at 131060 + 4. */
static const file_form forms[] = {
    {"a fixed array", {"FAHD", "FADB"}, 40, 2, 0, false, false, false},
    {"a fixed array of filtered chunks", {"FAHD", "FADB"}, 40, 2, 0, false, true, false},
    {"a fixed array in pages", {"FAHD", "FADB"}, 3000, 1, 2990, false, false, false},
    {"a fixed array in pages, filtered", {"FAHD", "FADB"}, 3000, 1, 2990, false, true, false},
    {"an array that grows", {"EAHD", "EAIB"}, 6, 2, 0, true, false, false},
    {"one with data blocks", {"EAHD", "EAIB", "EADB"}, 100, 2, 0, true, false, false},
    {"one with super blocks", {"EAHD", "EAIB", "EASB", "EADB"}, 400, 1, 0, true, false, false},
    {"the same, filtered", {"EAHD", "EAIB", "EASB", "EADB"}, 400, 1, 0, true, true, false},
    {"one in pages", {"EAHD", "EAIB", "EASB", "EADB"}, 140000, 1, 139990, true, false, false},
    {"one in pages, filtered",
     {"EAHD", "EAIB", "EASB", "EADB"},
     140000,
     1,
     139990,
     true,
     true,
     false},
    {"one chunk", {"OHDR"}, 40, 40, 0, false, false, false},
    {"one chunk, filtered", {"OHDR"}, 40, 40, 0, false, true, false},
    {"chunks one behind the other", {"OHDR"}, 40, 2, 0, false, false, true},
};
enum { N_FORMS = sizeof forms / sizeof *forms, MOST_ELEMENTS = 140000 };

/* ---- the file --------------------------------------------------------------------------------- */

static int32_t value_of(const file_form *self, int64_t k) {
    return k < self->first ? 0 : (int32_t)(k + 1);
}

static hid_t list_of(const file_form *self) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = (hsize_t)self->chunk;
    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0);
    if (self->is_filtered) {
        assert_true(H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, 1) >= 0);
    }
    if (self->is_early) {
        assert_true(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0);
    }
    return list;
}

static void make_file(const char *path, const file_form *self) {
    static int32_t values[MOST_ELEMENTS];
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t list = list_of(self);
    const hsize_t n = (hsize_t)self->n;
    const hsize_t most = self->grows ? H5S_UNLIMITED : n;
    const hsize_t first = (hsize_t)self->first;
    const hsize_t n_written = n - first;
    assert_true(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, &most);
    const hid_t memory = H5Screate_simple(1, &n_written, NULL);
    const hid_t set =
        H5Dcreate2(group, "data", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    for (hsize_t k = 0; k < n_written; k++) {
        values[k] = value_of(self, (int64_t)(first + k));
    }
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n_written, NULL) >= 0);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(memory) >= 0 && H5Sclose(space) >= 0);
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    assert_true(H5Pclose(list) >= 0 && H5Pclose(access) >= 0);
}

/* ---- what is done with it --------------------------------------------------------------------- */

static slc_status open_data(const char *path, slc_source **out) {
    const slc_h5_array_options options = {.path = path, .dataset = "/g/data"};
    return slc_h5_array_open(&options, out);
}

/* *is_whole: all elements were read, and are what was put there. */
static slc_status read_all(const char *path, const file_form *self, bool *is_whole) {
    static int32_t values[MOST_ELEMENTS];
    const slc_box box = {.rank = 1, .extent = {self->n}};
    void *const dst[] = {values};
    slc_source *source = NULL;
    *is_whole = false;
    SLC_TRY(open_data(path, &source));
    const slc_layout *found = &source->fields[0];
    const bool is_same = found->rank == 1 && found->shape[0] == self->n && found->dtype == SLC_I32;
    const slc_status status = is_same ? slc_source_read(source, &box, dst) : SLC_OK;
    slc_source_destroy(source);
    *is_whole = is_same && status == SLC_OK;
    for (int64_t k = 0; k < self->n && *is_whole; k++) {
        *is_whole = values[k] == value_of(self, k);
    }
    return status;
}

typedef struct look_at {
    const char *path, *out;
    const file_form *form;
} look_at;

static int read_and_copy(const void *context) {
    const look_at *self = context;
    bool is_whole = false;
    const slc_status is_read = read_all(self->path, self->form, &is_whole);
    const slc_status is_copied = test_damage_copy(self->path, self->out);
    return test_damage_is_status(is_read) && (is_copied == SLC_OK || is_copied == SLC_ERROR_INPUT)
               ? 0
               : TEST_LOOK_WRONG;
}

/* ---- the tests -------------------------------------------------------------------------------- */

/* HDF5 and Sluice read the same, and the file has the blocks that it is made for. */
static void sound_files_are_whole(void **state) {
    const test_way *self = *state;
    for (int f = 0; f < N_FORMS; f++) {
        bool is_whole = false;
        make_file(self->in, &forms[f]);
        test_content file = test_content_read(self->in);
        for (int k = 0; forms[f].blocks[k] != NULL; k++) {
            if (test_content_find(&file, forms[f].blocks[k], 0) < 0) {
                fail_msg("%s has no block %s", forms[f].name, forms[f].blocks[k]);
            }
        }
        free(file.bytes);
        TEST_OK(read_all(self->in, &forms[f], &is_whole));
        assert_true(is_whole);
        TEST_OK(test_damage_copy(self->in, self->out));
        TEST_OK(read_all(self->out, &forms[f], &is_whole));
        assert_true(is_whole);
    }
}

/* A block of one of the files. */
typedef struct damaged_block {
    const test_way *way;
    const file_form *form;
    test_content file;
    int64_t at, sum_at; /* where it begins, and where the sum of what is before it stands */
} damaged_block;

/* Bytes that are looked at of each block: what stands before its entries, and some of these. */
#define MOST_BYTES 80

/* Goes through the bytes of all blocks that the form names but the header of the dataset; of files that
 * take long to read, through some of them. */
static void for_each_byte(const test_way *way, const file_form *form,
                          void (*damage)(damaged_block *block, int64_t at)) {
    const int64_t step = form->n > 1000 ? 29 : 1;
    make_file(way->in, form);
    damaged_block block = {.way = way, .form = form, .file = test_content_read(way->in)};
    unsigned char *bytes = block.file.bytes;
    for (int k = 0; form->blocks[k] != NULL && strcmp(form->blocks[k], "OHDR") != 0; k++) {
        block.at = test_content_find(&block.file, form->blocks[k], 0);
        block.sum_at = test_content_find_sum(&block.file, block.at);
        assert_true(block.at > 0 && block.sum_at > block.at);
        const int64_t end = slc_min_i64(block.sum_at + 4, block.at + MOST_BYTES);
        for (int64_t at = block.at; at < end; at += step) {
            const unsigned char kept = bytes[at];
            damage(&block, at);
            bytes[at] = kept;
        }
    }
    free(bytes);
}

static void expect_refused(damaged_block *block, int64_t at) {
    bool is_whole = false;
    block->file.bytes[at] ^= (unsigned char)(1 << at % 8);
    test_content_store(block->way->other, &block->file);
    TEST_FAILS(read_all(block->way->other, block->form, &is_whole), SLC_ERROR_INPUT,
               "the places of the chunks of '/g/data' are damaged: byte ");
}

static void every_byte_is_looked_at(void **state) {
    for (int f = 0; f < N_FORMS; f++) {
        for_each_byte(*state, &forms[f], expect_refused);
    }
}

static void expect_status(damaged_block *block, int64_t at) {
    const look_at look = {block->way->other, block->way->out, block->form};
    unsigned char *bytes = block->file.bytes;
    const unsigned char was = bytes[at];
    char what[96];
    if (at < block->at + 4 || at >= block->sum_at) {
        return;
    }
    bytes[at] = (unsigned char)(was ^ (at % 2 == 0 ? 0x01 : 0xFF));
    test_content_put_sum(&block->file, block->at, block->sum_at);
    test_content_store(block->way->other, &block->file);
    (void)snprintf(what, sizeof what, "%s, %.4s, byte %d: %d in place of %d", block->form->name,
                   (const char *)bytes + block->at, (int)(at - block->at), bytes[at], was);
    assert_int_equal(test_look_apart(read_and_copy, &look, what), 0);
    bytes[at] = was;
    test_content_put_sum(&block->file, block->at, block->sum_at);
}

static void damage_with_a_right_sum_is_outlived(void **state) {
    for (int f = 0; f < N_FORMS; f++) {
        for_each_byte(*state, &forms[f], expect_status);
    }
}

/* What HDF5 would go through, or past the end of, for ever: more entries in use than there are blocks
 * for, and fewer than there are chunks. */
static void counts_are_looked_at(void **state) {
    static const struct {
        int form;
        const char *block;
        int64_t at, number;
        const char *words;
    } cases[] = {{4, "EAHD", 44, INT64_C(1) << 32, "more entries in use than there are"},
                 {9, "EAHD", 44, INT64_C(1) << 20, "more entries in use than there are"},
                 {0, "FAHD", 8, 19, "fewer entries than there are chunks"},
                 {2, "FAHD", 8, INT64_C(1) << 40, "more entries than the file has room for"},
                 {4, "EAHD", 11, 63, "sizes that none can have"}};
    const test_way *self = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const file_form *form = &forms[cases[k].form];
        bool is_whole = false;
        make_file(self->in, form);
        damaged_block block = {.way = self, .form = form, .file = test_content_read(self->in)};
        block.at = test_content_find(&block.file, cases[k].block, 0);
        block.sum_at = test_content_find_sum(&block.file, block.at);
        test_content_put_number(block.file.bytes + block.at + cases[k].at, cases[k].number);
        test_content_put_sum(&block.file, block.at, block.sum_at);
        test_content_store(self->other, &block.file);
        free(block.file.bytes);
        TEST_FAILS(read_all(self->other, form, &is_whole), SLC_ERROR_INPUT, cases[k].words);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(sound_files_are_whole),
        CASE(every_byte_is_looked_at),
        CASE(damage_with_a_right_sum_is_outlived),
        CASE(counts_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
