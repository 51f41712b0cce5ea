/* Objects that are made anew in another file: the same values stored in the same way, links that stay
 * links, second names that stay second names; and whatever is done to the bytes of the file they come
 * from, an end without a crash. */
#include "io/h5_object_copy.h"

#include "io/h5_file.h"
#include "io/h5_reason.h"
#include "tests/support/test_uvh5.h"

enum { N = 100, CHUNK = 16, MOST_BYTES = 65536 };

/* ---- what is copied --------------------------------------------------------------------------- */

typedef struct record {
    int number;
    const char *text;
} record;

/* Closes type and list. */
static void put(hid_t group, const char *name, hid_t type, hsize_t n, hid_t list,
                const void *values) {
    const hid_t space = n == 0 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &n, NULL);
    const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    if (values != NULL) {
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    }
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
    if (list != H5P_DEFAULT) {
        assert_true(H5Pclose(list) >= 0);
    }
}

static hid_t chunked(bool is_deflated) {
    const hsize_t chunk = CHUNK;
    const double fill = -7;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0);
    assert_true(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill) >= 0);
    assert_true(!is_deflated || H5Pset_deflate(list, 6) >= 0);
    return list;
}

static hid_t compact(void) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_layout(list, H5D_COMPACT) >= 0);
    return list;
}

/* Elements 32 to 47 only: one chunk of seven is stored. */
static void put_sparse(hid_t group) {
    const hsize_t n = N;
    const hsize_t first = 2 * CHUNK;
    const hsize_t count = CHUNK;
    double values[CHUNK];
    for (int k = 0; k < CHUNK; k++) {
        values[k] = k;
    }
    const hid_t list = chunked(true);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t memory = H5Screate_simple(1, &count, NULL);
    const hid_t set =
        H5Dcreate2(group, "sparse", H5T_IEEE_F64BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Sclose(memory) >= 0 &&
                H5Pclose(list) >= 0);
}

static hid_t record_type(void) {
    const hid_t text = test_h5_text();
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(record));
    assert_true(H5Tinsert(type, "number", HOFFSET(record, number), H5T_NATIVE_INT) >= 0);
    assert_true(H5Tinsert(type, "text", HOFFSET(record, text), text) >= 0);
    assert_true(H5Tclose(text) >= 0);
    return type;
}

static hid_t answer_type(void) {
    const int8_t values[] = {0, 1};
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    assert_true(H5Tenum_insert(type, "NO", &values[0]) >= 0);
    assert_true(H5Tenum_insert(type, "YES", &values[1]) >= 0);
    return type;
}

static void put_attribute(hid_t object) {
    const char *const text = "Jy";
    const hsize_t n = 1;
    const hid_t type = test_h5_text();
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t attribute = H5Acreate2(object, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, (const void *)&text) >= 0);
    assert_true(H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
}

static void put_links(hid_t group, hid_t deeper) {
    const hid_t type = H5Tcopy(H5T_STD_U16BE);
    assert_true(H5Lcreate_soft("gone", group, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_external("other.h5", "/x", deeper, "outside", H5P_DEFAULT, H5P_DEFAULT) >=
                0);
    assert_true(H5Lcreate_hard(group, ".", deeper, "above", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_hard(group, "whole", deeper, "again", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Tcommit2(group, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Tclose(type) >= 0);
}

static void make_file(const char *path) {
    double values[N];
    const char *const texts[3] = {"Jy", "", "a longer text than the others"};
    const record records[2] = {{1, "one"}, {2, "two"}};
    const int8_t answers[4] = {1, 0, 0, 1};
    for (int k = 0; k < N; k++) {
        values[k] = 0.5 * k;
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t deeper = H5Gcreate2(group, "deeper", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(group, "whole", H5Tcopy(H5T_NATIVE_DOUBLE), N, H5P_DEFAULT, values);
    put(group, "chunks", H5Tcopy(H5T_NATIVE_DOUBLE), N, chunked(false), values);
    put(group, "small", H5Tcopy(H5T_NATIVE_DOUBLE), 3, compact(), values);
    put(group, "none", H5Tcopy(H5T_NATIVE_INT), 0, H5P_DEFAULT, NULL);
    put(group, "unwritten", H5Tcopy(H5T_NATIVE_INT), N, H5P_DEFAULT, NULL);
    put(group, "texts", test_h5_text(), 3, H5P_DEFAULT, (const void *)texts);
    put(group, "records", record_type(), 2, H5P_DEFAULT, records);
    put(deeper, "answers", answer_type(), 4, H5P_DEFAULT, answers);
    put_sparse(deeper);
    put_attribute(group);
    put_links(group, deeper);
    assert_true(H5Gclose(deeper) >= 0 && H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

/* ---- the copy --------------------------------------------------------------------------------- */

/* The group "/g", or another object, into the root of a new file. With the lock. */
static bool copy_one(const char *from, const char *name, const char *to,
                     char reason[SLCI_H5_REASON_BYTES]) {
    slci_h5_output *output = NULL;
    FILE *empty = fopen(to, "wb");
    assert_non_null(empty);
    (void)fclose(empty);
    const hid_t file = H5Fopen(from, H5F_ACC_RDONLY, H5P_DEFAULT);
    reason[0] = '\0';
    if (file < 0) {
        return false;
    }
    TEST_OK(slci_h5_output_create(to, to, &output));
    const slci_h5_object_copy_options options = {.output = output};
    slci_h5_object_copy *copy = slci_h5_object_copy_create(&options);
    assert_non_null(copy);
    const bool is_ok = slci_h5_object_copy_target(copy, file, name, slci_h5_output_file(output));
    assert_true(is_ok || slci_h5_reason_is_input() || slci_h5_lacks_memory());
    slci_h5_error_text(reason, SLCI_H5_REASON_BYTES);
    slci_h5_object_copy_destroy(copy);
    slci_h5_output_destroy(output);
    (void)H5Fclose(file);
    return is_ok;
}

static haddr_t address_of(hid_t file, const char *name) {
    H5O_info_t info;
    assert_true(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT) >= 0);
    return info.addr;
}

static H5L_type_t link_type(hid_t file, const char *name) {
    H5L_info_t info;
    assert_true(H5Lget_info(file, name, &info, H5P_DEFAULT) >= 0);
    return info.type;
}

/* That two datasets have the same form, take the same room, and hold the same bytes. */
static void expect_same(hid_t a_file, hid_t b_file, const char *name) {
    unsigned char a_bytes[N * 8];
    unsigned char b_bytes[N * 8];
    const hid_t a = H5Dopen2(a_file, name, H5P_DEFAULT);
    const hid_t b = H5Dopen2(b_file, name, H5P_DEFAULT);
    assert_true(a >= 0 && b >= 0);
    const hid_t a_type = H5Dget_type(a);
    const hid_t b_type = H5Dget_type(b);
    const hid_t a_space = H5Dget_space(a);
    const hid_t b_space = H5Dget_space(b);
    const hid_t a_list = H5Dget_create_plist(a);
    const hid_t b_list = H5Dget_create_plist(b);
    memset(a_bytes, 0, sizeof a_bytes);
    memset(b_bytes, 0, sizeof b_bytes);
    assert_true(H5Tequal(a_type, b_type) > 0);
    assert_true(H5Sextent_equal(a_space, b_space) > 0);
    assert_int_equal(H5Pget_layout(a_list), H5Pget_layout(b_list));
    assert_int_equal(H5Pget_nfilters(a_list), H5Pget_nfilters(b_list));
    assert_int_equal(H5Dget_storage_size(a), H5Dget_storage_size(b));
    if (H5Tdetect_class(a_type, H5T_VLEN) == 0 && H5Tget_class(a_type) != H5T_STRING &&
        H5Tget_class(a_type) != H5T_COMPOUND) {
        assert_true(H5Dread(a, a_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, a_bytes) >= 0);
        assert_true(H5Dread(b, b_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, b_bytes) >= 0);
        assert_memory_equal(a_bytes, b_bytes, sizeof a_bytes);
    }
    assert_true(H5Pclose(a_list) >= 0 && H5Pclose(b_list) >= 0 && H5Sclose(a_space) >= 0 &&
                H5Sclose(b_space) >= 0 && H5Tclose(a_type) >= 0 && H5Tclose(b_type) >= 0 &&
                H5Dclose(a) >= 0 && H5Dclose(b) >= 0);
}

static void expect_texts(hid_t file) {
    record records[2] = {{0, NULL}};
    char *texts[3] = {NULL};
    const hsize_t n[2] = {3, 2};
    const hid_t text = test_h5_text();
    const hid_t compound = record_type();
    const hid_t spaces[2] = {H5Screate_simple(1, &n[0], NULL), H5Screate_simple(1, &n[1], NULL)};
    const hid_t a = H5Dopen2(file, "/g/texts", H5P_DEFAULT);
    const hid_t b = H5Dopen2(file, "/g/records", H5P_DEFAULT);
    assert_true(H5Dread(a, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, (void *)texts) >= 0);
    assert_true(H5Dread(b, compound, H5S_ALL, H5S_ALL, H5P_DEFAULT, records) >= 0);
    assert_string_equal(texts[2], "a longer text than the others");
    assert_int_equal(records[1].number, 2);
    assert_string_equal(records[1].text, "two");
    assert_true(H5Dvlen_reclaim(text, spaces[0], H5P_DEFAULT, (void *)texts) >= 0);
    assert_true(H5Dvlen_reclaim(compound, spaces[1], H5P_DEFAULT, records) >= 0);
    assert_true(H5Dclose(a) >= 0 && H5Dclose(b) >= 0 && H5Sclose(spaces[0]) >= 0 &&
                H5Sclose(spaces[1]) >= 0 && H5Tclose(text) >= 0 && H5Tclose(compound) >= 0);
}

static void everything_is_copied(void **state) {
    const test_way *self = *state;
    char reason[SLCI_H5_REASON_BYTES];
    static const char *const sets[] = {"/g/whole",   "/g/chunks",         "/g/small",
                                       "/g/none",    "/g/unwritten",      "/g/texts",
                                       "/g/records", "/g/deeper/answers", "/g/deeper/sparse"};
    make_file(self->in);
    slci_h5_lock();
    assert_true(copy_one(self->in, "/g", self->out, reason));
    slci_h5_unlock();
    const hid_t from = H5Fopen(self->in, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t to = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int64_t k = 0; k < TEST_COUNT(sets); k++) {
        expect_same(from, to, sets[k]);
    }
    expect_texts(to);
    assert_true(H5Aexists_by_name(to, "/g", "units", H5P_DEFAULT) > 0);
    assert_int_equal(link_type(to, "/g/soft"), H5L_TYPE_SOFT);
    assert_int_equal(link_type(to, "/g/deeper/outside"), H5L_TYPE_EXTERNAL);
    assert_true(address_of(to, "/g/deeper/above") == address_of(to, "/g"));
    assert_true(address_of(to, "/g/deeper/again") == address_of(to, "/g/whole"));
    const hid_t type = H5Topen2(to, "/g/type", H5P_DEFAULT);
    assert_true(H5Tequal(type, H5T_STD_U16BE) > 0);
    assert_true(H5Tclose(type) >= 0 && H5Fclose(from) >= 0 && H5Fclose(to) >= 0);
}

/* Edges that go without filters are of the newest form of the format, which the output is not in. */
static void raw_edges_stay_readable(void **state) {
    const test_way *self = *state;
    double values[N];
    double found[N];
    char reason[SLCI_H5_REASON_BYTES];
    for (int k = 0; k < N; k++) {
        values[k] = k;
    }
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t list = chunked(true);
    assert_true(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    assert_true(H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0);
    hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    put(file, "x", H5Tcopy(H5T_NATIVE_DOUBLE), N, list, values);
    assert_true(H5Fclose(file) >= 0 && H5Pclose(access) >= 0);
    slci_h5_lock();
    assert_true(copy_one(self->in, "/x", self->out, reason));
    slci_h5_unlock();
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_memory_equal(found, values, sizeof values);
    assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
}

/* A filter that is not there has the last word on nothing: the chunks are copied as they are. */
static void filters_that_are_not_there_are_kept(void **state) {
    const test_way *self = *state;
    const unsigned values[] = {1, 2, 3};
    const hsize_t at = 0;
    const hsize_t chunk = CHUNK;
    unsigned char stored[40];
    unsigned char found[40] = {0};
    uint32_t mask = 9;
    char reason[SLCI_H5_REASON_BYTES];
    memset(stored, 77, sizeof stored);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0);
    assert_true(H5Pset_filter(list, 60000, H5Z_FLAG_OPTIONAL, 3, values) >= 0);
    hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "x", H5Tcopy(H5T_NATIVE_DOUBLE), N, list, NULL);
    hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, 0, &at, sizeof stored, stored) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
    slci_h5_lock();
    assert_true(copy_one(self->in, "/x", self->out, reason));
    slci_h5_unlock();
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    set = H5Dopen2(file, "/x", H5P_DEFAULT);
    assert_true(H5Dread_chunk(set, H5P_DEFAULT, &at, &mask, found) >= 0);
    assert_int_equal(mask, 0);
    assert_memory_equal(found, stored, sizeof stored);
    assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
}

/* Two rows: one of a dataset of the same file, one of another file. */
static void make_virtual(const char *path) {
    const hsize_t shape[2] = {2, CHUNK};
    const hsize_t row[2] = {1, CHUNK};
    const hsize_t n = CHUNK;
    double values[CHUNK];
    for (int k = 0; k < CHUNK; k++) {
        values[k] = k;
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, shape, NULL);
    const hid_t source = H5Screate_simple(1, &n, NULL);
    put(file, "line", H5Tcopy(H5T_NATIVE_DOUBLE), CHUNK, H5P_DEFAULT, values);
    for (hsize_t k = 0; k < 2; k++) {
        const hsize_t at[2] = {k, 0};
        assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, row, NULL) >= 0);
        assert_true(H5Pset_virtual(list, space, k == 0 ? "." : "b.h5", "/line", source) >= 0);
    }
    H5Sselect_all(space);
    const hid_t set = H5Dcreate2(group, "v", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Sclose(source) >= 0 && H5Sclose(space) >= 0 &&
                H5Pclose(list) >= 0 && H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

/* A virtual dataset keeps its mapping, with the names as they are. */
static void virtual_ones_stay_virtual(void **state) {
    const test_way *self = *state;
    char reason[SLCI_H5_REASON_BYTES];
    char name[16];
    size_t n = 0;
    make_virtual(self->in);
    slci_h5_lock();
    assert_true(copy_one(self->in, "/g", self->out, reason));
    slci_h5_unlock();
    const hid_t file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/g/v", H5P_DEFAULT);
    const hid_t list = H5Dget_create_plist(set);
    assert_int_equal(H5Pget_layout(list), H5D_VIRTUAL);
    assert_true(H5Pget_virtual_count(list, &n) >= 0);
    assert_int_equal(n, 2);
    assert_true(H5Pget_virtual_filename(list, 0, name, sizeof name) > 0);
    assert_string_equal(name, ".");
    assert_true(H5Pget_virtual_filename(list, 1, name, sizeof name) > 0);
    assert_string_equal(name, "b.h5");
    assert_true(H5Pget_virtual_dsetname(list, 1, name, sizeof name) > 0);
    assert_string_equal(name, "/line");
    assert_true(H5Pclose(list) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
}

typedef struct pointing {
    int number;
    hobj_ref_t one, two[2];
    hvl_t list; /* of such */
} pointing;

static hid_t pointing_type(void) {
    const hsize_t two = 2;
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(pointing));
    const hid_t array = H5Tarray_create2(H5T_STD_REF_OBJ, 1, &two);
    const hid_t list = H5Tvlen_create(H5T_STD_REF_OBJ);
    assert_true(H5Tinsert(type, "number", HOFFSET(pointing, number), H5T_NATIVE_INT) >= 0);
    assert_true(H5Tinsert(type, "one", HOFFSET(pointing, one), H5T_STD_REF_OBJ) >= 0);
    assert_true(H5Tinsert(type, "two", HOFFSET(pointing, two), array) >= 0);
    assert_true(H5Tinsert(type, "list", HOFFSET(pointing, list), list) >= 0);
    assert_true(H5Tclose(array) >= 0 && H5Tclose(list) >= 0);
    return type;
}

/* References within elements lead nowhere in the copy; what stands beside them is kept. */
static void references_in_elements_lead_nowhere(void **state) {
    const test_way *self = *state;
    char reason[SLCI_H5_REASON_BYTES];
    hobj_ref_t references[2];
    pointing values[2] = {{.number = 5}, {.number = 6}};
    pointing found[2];
    const hsize_t n = 2;
    hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
        assert_true(H5Rcreate(&references[k], file, "/g", H5R_OBJECT, -1) >= 0);
        values[k].one = values[k].two[1] = references[0];
        values[k].list = (hvl_t){2, references};
    }
    put(group, "x", pointing_type(), n, H5P_DEFAULT, values);
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    slci_h5_lock();
    assert_true(copy_one(self->in, "/g", self->out, reason));
    slci_h5_unlock();
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/g/x", H5P_DEFAULT);
    const hid_t type = pointing_type();
    const hid_t space = H5Screate_simple(1, &n, NULL);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    for (int k = 0; k < 2; k++) {
        const hobj_ref_t *list = found[k].list.p;
        assert_int_equal(found[k].number, 5 + k);
        assert_true(found[k].one == 0 && found[k].two[0] == 0 && found[k].two[1] == 0);
        assert_true(found[k].list.len == 2 && list[0] == 0 && list[1] == 0);
    }
    assert_true(H5Dvlen_reclaim(type, space, H5P_DEFAULT, found) >= 0);
    assert_true(H5Sclose(space) >= 0 && H5Tclose(type) >= 0 && H5Dclose(set) >= 0 &&
                H5Fclose(file) >= 0);
}

/* ---- damage ----------------------------------------------------------------------------------- */

static int64_t load(const char *path, unsigned char bytes[MOST_BYTES]) {
    int64_t n = 0;
    char *read = test_file_read(path, &n);
    assert_true(n < MOST_BYTES);
    memcpy(bytes, read, (size_t)n);
    free(read);
    return n;
}

static void store(const char *path, const unsigned char *bytes, int64_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Bytes that say something: those of structure are not 0 or stand beside such ones. */
static void no_damage_crashes(void **state) {
    const test_way *self = *state;
    static unsigned char bytes[MOST_BYTES];
    char reason[SLCI_H5_REASON_BYTES];
    int n_refused = 0;
    int n_copied = 0;
    uint64_t random = 1;
    make_file(self->in);
    const int64_t n = load(self->in, bytes);
    slci_h5_lock();
    for (int64_t k = 0; k < n; k++) {
        const unsigned char kept = bytes[k];
        if (kept == 0 && (k == 0 || bytes[k - 1] == 0)) {
            continue;
        }
        bytes[k] = test_random_below(&random, 2) == 0 ? 0xFF : (unsigned char)(kept ^ 3);
        store(self->other, bytes, n);
        const bool is_copied = copy_one(self->other, "/g", self->out, reason);
        n_copied += is_copied ? 1 : 0;
        n_refused += is_copied ? 0 : 1;
        bytes[k] = kept;
    }
    slci_h5_unlock();
    print_message("%d damages refused, %d copied\n", n_refused, n_copied);
    assert_true(n_refused > 100 && n_copied > 100);
}

/* A group that is within more groups than HDF5's calls within calls should go. */
static void depth_has_an_end(void **state) {
    const test_way *self = *state;
    char reason[SLCI_H5_REASON_BYTES];
    const hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < 200; k++) {
        const hid_t next = H5Gcreate2(group, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(next >= 0 && H5Gclose(group) >= 0);
        group = next;
    }
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    slci_h5_lock();
    assert_false(copy_one(self->in, "/g", self->out, reason));
    slci_h5_unlock();
    assert_non_null(strstr(reason, "it is within more groups than any file"));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(everything_is_copied),
        CASE(raw_edges_stay_readable),
        CASE(virtual_ones_stay_virtual),
        CASE(references_in_elements_lead_nowhere),
        CASE(filters_that_are_not_there_are_kept),
        CASE(no_damage_crashes),
        CASE(depth_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
