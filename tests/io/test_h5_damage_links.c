/* Files with many links, attributes and chunks, in HDF5's older and newer form, with one byte of them
 * changed: opening, reading and copying ends in a status, and neither in a crash nor never. What is
 * read of a sound one, and its copy, are whole. Each damage is looked at in a process of its own, since
 * what HDF5 does with some of them cannot be outlived. */
#include <unistd.h>

#include "io/h5_array.h"
#include "tests/support/test_damage.h"
#include "tests/support/test_uvh5.h"

/* Enough that each form needs more than one level: HDF5 keeps up to 8 links, and 8 attributes, in the
 * header itself, and 32 to 64 entries in a node. */
enum { N_LINKS = 150, N_ATTRIBUTES = 30, ROWS = 90, COLUMNS = 4, LARGE = 3000 };

/* Damages that are looked at of each file. */
#ifndef N_DAMAGES
#define N_DAMAGES 250
#endif

typedef enum file_form { OLDER, NEWER, SHARED, N_FORMS } file_form;

static const char *const form_names[] = {"older", "newer", "shared messages"};

/* ---- the file --------------------------------------------------------------------------------- */

static hid_t file_of(const char *path, file_form form, size_t address_bytes, size_t length_bytes) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t list = H5Pcreate(H5P_FILE_CREATE);
    if (form != OLDER) {
        assert_true(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    }
    assert_true(H5Pset_sizes(list, address_bytes, length_bytes) >= 0);
    if (form == SHARED) {
        assert_true(H5Pset_shared_mesg_nindexes(list, 1) >= 0);
        assert_true(H5Pset_shared_mesg_index(list, 0, H5O_SHMESG_ALL_FLAG, 16) >= 0);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, list, access);
    assert_true(file >= 0 && H5Pclose(list) >= 0 && H5Pclose(access) >= 0);
    return file;
}

static hid_t group_of(hid_t file, file_form form) {
    const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    if (form != OLDER) {
        const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
        assert_true(H5Pset_link_creation_order(list, order) >= 0);
        assert_true(H5Pset_attr_creation_order(list, order) >= 0);
    }
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(group >= 0 && H5Pclose(list) >= 0);
    return group;
}

/* One chunk a row, and no limit in both dimensions: in the newer form a tree holds their places. */
static void put_data(hid_t group) {
    const hsize_t shape[2] = {ROWS, COLUMNS};
    const hsize_t most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    const hsize_t chunk[2] = {1, COLUMNS};
    int values[ROWS * COLUMNS];
    for (int k = 0; k < ROWS * COLUMNS; k++) {
        values[k] = k;
    }
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, shape, most);
    assert_true(H5Pset_chunk(list, 2, chunk) >= 0);
    const hid_t set =
        H5Dcreate2(group, "data", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Pclose(list) >= 0);
}

static void put_attribute(hid_t object, int k, hsize_t n) {
    static const short values[LARGE];
    char name[32];
    (void)snprintf(name, sizeof name, "attribute %d", k);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t attribute =
        H5Acreate2(object, name, H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_SHORT, values) >= 0);
    assert_true(H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0);
}

/* The large one does not fit among the others. */
static void make_file(const char *path, file_form form) {
    const hid_t file = file_of(path, form, 8, 8);
    const hid_t group = group_of(file, form);
    put_data(group);
    for (int k = 0; k < N_LINKS; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "link number %d", k);
        const bool is_soft = k % 3 == 0;
        assert_true(
            (is_soft ? H5Lcreate_soft("/g/data", group, name, H5P_DEFAULT, H5P_DEFAULT)
                     : H5Lcreate_hard(group, "data", group, name, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    }
    for (int k = 0; k < N_ATTRIBUTES; k++) {
        put_attribute(group, k, k == 20 && form != OLDER ? LARGE : 4);
    }
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

/* ---- what is done with it --------------------------------------------------------------------- */

/* *is_whole: all elements were read, and are what was put there. */
static slc_status read_all(const char *path, bool *is_whole) {
    const slc_h5_array_options options = {.path = path, .dataset = "/g/link number 1"};
    const slc_box box = {.rank = 2, .extent = {ROWS, COLUMNS}};
    int64_t values[ROWS * COLUMNS]; /* room for any type that is expected */
    void *const dst[] = {values};
    slc_source *source = NULL;
    *is_whole = false;
    SLC_TRY(slc_h5_array_open(&options, &source));
    const slc_layout *found = &source->fields[0];
    const bool is_same = found->rank == 2 && found->shape[0] == ROWS &&
                         found->shape[1] == COLUMNS && slc_dtype_bytes(found->dtype) <= 8;
    *is_whole = is_same && found->dtype == SLC_I32;
    const slc_status status = is_same ? slc_source_read(source, &box, dst) : SLC_OK;
    for (int k = 0; k < ROWS * COLUMNS && status == SLC_OK && *is_whole; k++) {
        int32_t value;
        memcpy(&value, (const unsigned char *)values + (size_t)k * sizeof value, sizeof value);
        *is_whole = value == k;
    }
    slc_source_destroy(source);
    return status;
}

static void expect_whole(const char *path) {
    bool is_whole = false;
    TEST_OK(read_all(path, &is_whole));
    assert_true(is_whole);
}

static void expect_refused(const char *path, const char *words) {
    bool is_whole = false;
    TEST_FAILS(read_all(path, &is_whole), SLC_ERROR_INPUT, words);
}

/* As make_file makes it. */
static void expect_copy(const char *path) {
    H5G_info_t links;
    H5O_info_t object;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0 && H5Gget_info_by_name(file, "/g", &links, H5P_DEFAULT) >= 0);
    assert_true(H5Oget_info_by_name2(file, "/g", &object, H5O_INFO_NUM_ATTRS, H5P_DEFAULT) >= 0);
    assert_int_equal(links.nlinks, N_LINKS + 1);
    assert_int_equal(object.num_attrs, N_ATTRIBUTES);
    assert_true(H5Fclose(file) >= 0);
    expect_whole(path);
}

/* Both, and which of them were refused. */
enum { READ_REFUSED = 1, COPY_REFUSED = 2 };

typedef struct look_paths {
    const char *path, *out;
} look_paths;

static int look(const void *context) {
    const look_paths *paths = context;
    bool is_whole = false;
    const slc_status is_read = read_all(paths->path, &is_whole);
    const slc_status is_copied = test_damage_copy(paths->path, paths->out);
    const bool is_right =
        test_damage_is_status(is_read) && (is_copied == SLC_OK || is_copied == SLC_ERROR_INPUT);
    return (is_read != SLC_OK ? READ_REFUSED : 0) | (is_copied != SLC_OK ? COPY_REFUSED : 0) |
           (is_right ? 0 : TEST_LOOK_WRONG);
}

static int look_apart(const char *path, const char *out, const char *what) {
    const look_paths paths = {path, out};
    return test_look_apart(look, &paths, what);
}

/* ---- damage ----------------------------------------------------------------------------------- */

/* Bytes that say something are not 0, or stand near such ones. */
static bool says_something(const test_content *file, int64_t at) {
    bool is_any = false;
    for (int64_t k = at - 3; k <= at + 3; k++) {
        is_any = is_any || (k >= 0 && k < file->n && file->bytes[k] != 0);
    }
    return is_any;
}

static void damage_all(const test_way *self, file_form form) {
    char what[64];
    int n_refused = 0;
    int n_wrong = 0;
    uint64_t random = (uint64_t)form + 1;
    make_file(self->in, form);
    assert_int_equal(look_apart(self->in, self->out, form_names[form]), 0);
    expect_whole(self->in);
    expect_copy(self->out);
    test_content file = test_content_read(self->in);
    for (int k = 0; k < N_DAMAGES; k++) {
        int64_t at = test_random_below(&random, file.n);
        while (!says_something(&file, at)) {
            at = test_random_below(&random, file.n);
        }
        const unsigned char kept = file.bytes[at];
        file.bytes[at] = (unsigned char)(kept ^ (1 + test_random_below(&random, 255)));
        (void)snprintf(what, sizeof what, "%s, byte %lld: %d in place of %d", form_names[form],
                       (long long)at, file.bytes[at], kept);
        test_content_store(self->other, &file);
        const int found = look_apart(self->other, self->out, what);
        n_refused += found == READ_REFUSED || found == COPY_REFUSED ||
                     found == (READ_REFUSED | COPY_REFUSED);
        n_wrong += found == TEST_LOOK_WRONG;
        file.bytes[at] = kept;
    }
    free(file.bytes);
    print_message("%s: %d of %d damages refused\n", form_names[form], n_refused, N_DAMAGES);
    assert_int_equal(n_wrong, 0);
    assert_true(n_refused > N_DAMAGES / 10 && n_refused < N_DAMAGES);
}

/* ---- structures that lead back ---------------------------------------------------------------- */

/* Every tree of the older form, of links and of chunks, with itself as its first child, at its own
 * level and at one that would go on for ever. Of a lowest node of chunks the child is what is read
 * as one. */
static void trees_that_lead_back_are_refused(void **state) {
    enum { HEAD = 24, LEVEL = 5, N_CHILDREN = 6, LINK_KEY = 8, CHUNK_KEY = 8 + 3 * 8 };
    const test_way *self = *state;
    int n_trees = 0;
    make_file(self->in, OLDER);
    test_content file = test_content_read(self->in);
    for (int64_t at = test_content_find(&file, "TREE", 0); at >= 0;
         at = test_content_find(&file, "TREE", at + 4)) {
        unsigned char kept[HEAD + CHUNK_KEY + 8];
        memcpy(kept, file.bytes + at, sizeof kept);
        const bool has_chunks = kept[4] == 1;
        for (int higher = has_chunks && kept[LEVEL] == 0 ? 1 : 0; higher < 2; higher++) {
            file.bytes[at + LEVEL] = (unsigned char)(kept[LEVEL] + higher);
            test_content_put_number(file.bytes + at + HEAD + (has_chunks ? CHUNK_KEY : LINK_KEY),
                                    at);
            test_content_store(self->other, &file);
            assert_int_equal(look_apart(self->other, self->out, "a tree that leads back"),
                             READ_REFUSED | COPY_REFUSED);
        }
        memcpy(file.bytes + at, kept, sizeof kept);
        n_trees++;
    }
    free(file.bytes);
    assert_true(n_trees >= 5);
}

/* A tree of the newer form, or one with shared messages, that finds something else than what leads to
 * it says, with records of any size. Its nodes say so too, and all checksums are right. */
static void put_kind(test_content *file, const test_content *sound, unsigned char kind) {
    static const char *const blocks[] = {"BTHD", "BTIN", "BTLF"};
    enum { KIND = 5 };
    for (int k = 0; k < 3; k++) {
        for (int64_t at = test_content_find(sound, blocks[k], 0); at >= 0;
             at = test_content_find(sound, blocks[k], at + 4)) {
            file->bytes[at + KIND] = kind;
            test_content_put_sum(file, at, test_content_find_sum(sound, at));
        }
    }
}

static void trees_of_something_else_are_refused(void **state) {
    enum { N_KINDS = 12, RECORD = 10 };
    const test_way *self = *state;
    for (file_form form = NEWER; form < N_FORMS; form++) {
        make_file(self->in, form);
        test_content sound = test_content_read(self->in);
        test_content file = test_content_read(self->in);
        for (int kind = 0; kind < N_KINDS; kind++) {
            put_kind(&file, &sound, (unsigned char)kind);
            test_content_store(self->other, &file);
            assert_int_equal(look_apart(self->other, self->out, "a tree of another kind"),
                             READ_REFUSED | COPY_REFUSED);
            expect_refused(self->other, ": a tree of kind ");
        }
        memcpy(file.bytes, sound.bytes, (size_t)sound.n);
        const int64_t at = test_content_find(&file, "BTHD", 0);
        const int64_t sum_at = test_content_find_sum(&file, at);
        file.bytes[at + RECORD]--;
        test_content_put_sum(&file, at, sum_at);
        test_content_store(self->other, &file);
        assert_int_equal(look_apart(self->other, self->out, "shorter records"),
                         READ_REFUSED | COPY_REFUSED);
        free(file.bytes);
        free(sound.bytes);
    }
}

/* What is wrong, where, and what was expected, stands in one line. */
static void damage_is_named(void **state) {
    const test_way *self = *state;
    char words[128];
    make_file(self->in, NEWER);
    test_content file = test_content_read(self->in);
    const int64_t heap = test_content_find(&file, "FRHP", 0);
    assert_true(heap > 0);
    file.bytes[heap + 7] ^= 1; /* bytes of filters: HDF5 1.10 reads so many before it adds up */
    test_content_store(self->other, &file);
    (void)snprintf(words, sizeof words, "'/g' are damaged: byte %lld: block FRHP has the checksum",
                   (long long)heap);
    expect_refused(self->other, words);
    free(file.bytes);
}

/* The name is not there, but nobody knows what is where the links are damaged. */
static void damage_is_no_missing_name(void **state) {
    const test_way *self = *state;
    const slc_h5_array_options options = {.path = self->other, .dataset = "/nothing"};
    slc_source *source = NULL;
    make_file(self->in, NEWER);
    test_content file = test_content_read(self->in);
    file.bytes[test_content_find(&file, "FRHP", 0) + 7] ^= 1;
    test_content_store(self->other, &file);
    TEST_FAILS(slc_h5_array_open(&options, &source), SLC_ERROR_INPUT, "'/g' are damaged: byte ");
    free(file.bytes);
}

/* The names of a group take two gibibytes, and the file has so many. */
static void damaged_sizes_take_no_memory(void **state) {
    const test_way *self = *state;
    make_file(self->in, OLDER);
    test_content file = test_content_read(self->in);
    test_content_put_number(file.bytes + test_content_find(&file, "HEAP", 0) + 8, INT64_C(2) << 30);
    test_content_store(self->other, &file);
    free(file.bytes);
    assert_int_equal(truncate(self->other, (off_t)3 << 30), 0);
    expect_refused(self->other,
                   "a block of 2147483648 bytes, expected at most 1073741824; copy the file again");
}

/* An attribute that becomes one more message of those that lead to a group's links. */
static void parts_that_are_there_twice_are_refused(void **state) {
    enum { NAME = 16, KIND_GROUP = 0x11 }; /* where an attribute's name is in its message */
    const test_way *self = *state;
    make_file(self->in, OLDER);
    test_content file = test_content_read(self->in);
    file.bytes[test_content_find(&file, "attr", 0) - NAME] = KIND_GROUP;
    test_content_store(self->other, &file);
    free(file.bytes);
    expect_refused(self->other, "the header of '/g' has a part twice that is there once");
}

/* Addresses of 2 and 4 bytes make messages shorter than any of the older form. With lengths of 2 bytes
 * HDF5 cannot read its own heaps. */
static void make_short(const char *path, file_form form, size_t address_bytes) {
    enum { N_SHORT_LINKS = 20, N_SHORT_ATTRIBUTES = 7 };
    const hid_t file = file_of(path, form, address_bytes, 4);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_data(group);
    for (int k = 0; k < N_SHORT_ATTRIBUTES; k++) {
        put_attribute(group, k, 4);
    }
    for (int k = 0; k < N_SHORT_LINKS; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "link number %d", k);
        assert_true(H5Lcreate_hard(group, "data", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

static void short_messages_are_looked_at(void **state) {
    static const struct {
        file_form form;
        size_t address_bytes;
        const char *block, *words;
    } cases[] = {{NEWER, 2, "FRHP", "the links of '/g' are damaged"},
                 {NEWER, 2, "OCHK", "the blocks of the header of '/g' are damaged"},
                 {NEWER, 4, "OCHK", "the blocks of the header of '/g' are damaged"},
                 {SHARED, 2, "FRHP", "the tables of shared messages are damaged"},
                 {SHARED, 4, "FRHP", "the tables of shared messages are damaged"}};
    const test_way *self = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        make_short(self->in, cases[k].form, cases[k].address_bytes);
        expect_whole(self->in);
        test_content file = test_content_read(self->in);
        const int64_t at = test_content_find(&file, cases[k].block, 0);
        assert_true(at > 0);
        file.bytes[at + 7] ^= 1;
        test_content_store(self->other, &file);
        free(file.bytes);
        expect_refused(self->other, cases[k].words);
    }
}

/* Ten thousand links, in heaps and trees of several levels, are sound. */
static void many_links_are_sound(void **state) {
    const test_way *self = *state;
    for (file_form form = OLDER; form < N_FORMS; form++) {
        make_file(self->in, form);
        hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t group = H5Gopen2(file, "/g", H5P_DEFAULT);
        for (int k = 0; k < 10000; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "another link %d", k * 7919 % 10000);
            assert_true(H5Lcreate_soft("/g/data", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
        }
        for (int k = 0; k < 10000; k += 3) { /* and holes where some were */
            char name[64];
            (void)snprintf(name, sizeof name, "another link %d", k);
            assert_true(H5Ldelete(group, name, H5P_DEFAULT) >= 0);
        }
        assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
        expect_whole(self->in);
    }
}

static void damage_of_the_older_form_is_outlived(void **state) {
    damage_all(*state, OLDER);
}

static void damage_of_the_newer_form_is_outlived(void **state) {
    damage_all(*state, NEWER);
}

static void damage_of_shared_messages_is_outlived(void **state) {
    damage_all(*state, SHARED);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(damage_of_the_older_form_is_outlived),
        CASE(damage_of_the_newer_form_is_outlived),
        CASE(damage_of_shared_messages_is_outlived),
        CASE(trees_that_lead_back_are_refused),
        CASE(trees_of_something_else_are_refused),
        CASE(damage_is_named),
        CASE(damage_is_no_missing_name),
        CASE(damaged_sizes_take_no_memory),
        CASE(parts_that_are_there_twice_are_refused),
        CASE(short_messages_are_looked_at),
        CASE(many_links_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
