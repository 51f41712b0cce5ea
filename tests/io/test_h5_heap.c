/* Values of variable length in damaged files: what passes the look at them HDF5 reads without harm, and
 * whatever is done to a collection of values or to what says where they lie, nothing else is read. */
#include "io/h5_heap.h"

#include <sys/stat.h>
#include <unistd.h>

#include "io/h5_file.h"
#include "io/h5_reason.h"
#include "tests/support/test_uvh5.h"

enum { MOST_BYTES = 65536, COLLECTION_BYTES = 4096, LOOKED_AT = 120 };

typedef struct record {
    int number;
    const char *text;
} record;

static void put(hid_t object, const char *name, hid_t type, hsize_t n, const void *values) {
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, values) >= 0);
    assert_true(H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
}

/* A dataset of texts with attributes of all kinds: text, texts, one of them empty, lists, references in
 * lists, and compounds that hold text. */
static void make_file(const char *path) {
    const char *const texts[3] = {"Jy", "", "a longer text than the others"};
    int numbers[5] = {1, 2, 3, 4, 5};
    hobj_ref_t reference = 0;
    const hvl_t lists[2] = {{5, numbers}, {0, NULL}};
    const record records[2] = {{1, "one"}, {2, "two"}};
    const hsize_t n = 3;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t text = test_h5_text();
    const hid_t set = H5Dcreate2(group, "x", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, (const void *)texts) >= 0);
    assert_true(H5Rcreate(&reference, file, "/g/x", H5R_OBJECT, -1) >= 0);
    const hvl_t references = {1, &reference};
    const hid_t compound = H5Tcreate(H5T_COMPOUND, sizeof(record));
    assert_true(H5Tinsert(compound, "number", HOFFSET(record, number), H5T_NATIVE_INT) >= 0);
    assert_true(H5Tinsert(compound, "text", HOFFSET(record, text), text) >= 0);
    put(set, "text", test_h5_text(), 1, (const void *)texts);
    put(set, "texts", test_h5_text(), 3, (const void *)texts);
    put(set, "lists", H5Tvlen_create(H5T_NATIVE_INT), 2, lists);
    put(set, "references", H5Tvlen_create(H5T_STD_REF_OBJ), 1, &references);
    put(set, "records", compound, 2, records);
    assert_true(H5Tclose(text) >= 0 && H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

static int64_t load(const char *path, unsigned char bytes[MOST_BYTES]) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, MOST_BYTES, file);
    assert_true(n > COLLECTION_BYTES && n < MOST_BYTES);
    (void)fclose(file);
    return (int64_t)n;
}

static void store(const char *path, const unsigned char *bytes, int64_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* What a copy would read, once it was looked at: true where all of it was found sound. */
static herr_t read_attribute(hid_t object, const char *name, const H5A_info_t *info,
                             void *context) {
    (void)info;
    bool *is_sound = context;
    unsigned char values[1024] = {0};
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0 || !slci_h5_attribute_is_sound(attribute)) {
        *is_sound = false;
    } else {
        const hid_t type = H5Aget_type(attribute);
        const hid_t space = H5Aget_space(attribute);
        if (H5Aread(attribute, type, values) >= 0) {
            (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
        }
        (void)H5Sclose(space);
        (void)H5Tclose(type);
    }
    (void)H5Aclose(attribute);
    return 0;
}

/* The dataset's texts. */
static bool read_texts(hid_t set) {
    char *texts[3] = {NULL};
    if (!slci_h5_dataset_is_sound(set)) {
        return false;
    }
    const hid_t type = H5Dget_type(set);
    const hid_t space = H5Dget_space(set);
    if (H5Sget_simple_extent_npoints(space) <= TEST_COUNT(texts) &&
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, (void *)texts) >= 0) {
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, (void *)texts);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    return true;
}

static bool read_all(const char *path) {
    bool is_sound = true;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = file < 0 ? -1 : H5Dopen2(file, "/g/x", H5P_DEFAULT);
    if (set >= 0) {
        (void)H5Aiterate2(set, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, read_attribute, &is_sound);
        is_sound = read_texts(set) && is_sound;
    }
    (void)H5Dclose(set);
    (void)H5Fclose(file);
    return is_sound && set >= 0;
}

static void no_damage_is_read(void **state) {
    const test_way *self = *state;
    static unsigned char bytes[MOST_BYTES];
    static const unsigned char put_there[] = {1, 0xFF};
    int n_found = 0;
    make_file(self->in);
    slci_h5_lock();
    assert_true(read_all(self->in));
    const int64_t n = load(self->in, bytes);
    int64_t at = 0;
    while (at < n && memcmp(bytes + at, "GCOL", 4) != 0) {
        at++;
    }
    assert_true(at < n);
    for (int64_t k = 0; k < n; k++) {
        /* The collection, and around each place that has its address. */
        const bool is_heap = k >= at && k < at + LOOKED_AT;
        bool is_place = false;
        for (int64_t p = k - 12; p <= k + 4 && !is_place; p++) {
            uint64_t address = 0;
            if (p >= 0 && p + 8 <= n) {
                memcpy(&address, bytes + p, sizeof address);
            }
            is_place = address == (uint64_t)at;
        }
        const unsigned char kept = bytes[k];
        for (int v = 0; (is_heap || is_place) && v < TEST_COUNT(put_there); v++) {
            bytes[k] = put_there[v];
            store(self->other, bytes, n);
            n_found += read_all(self->other) ? 0 : 1;
        }
        bytes[k] = kept;
    }
    slci_h5_unlock();
    print_message("%d of the damages were found\n", n_found);
    assert_true(n_found > 50);
}

static void the_reason_is_told(void **state) {
    const test_way *self = *state;
    static unsigned char bytes[MOST_BYTES];
    char reason[256];
    make_file(self->in);
    const int64_t n = load(self->in, bytes);
    for (int64_t k = 0; k + 4 < n; k++) {
        if (memcmp(bytes + k, "GCOL", 4) == 0) {
            bytes[k + 1] = 'X';
        }
    }
    store(self->other, bytes, n);
    slci_h5_lock();
    const hid_t file = H5Fopen(self->other, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/g/x", H5P_DEFAULT);
    assert_false(slci_h5_dataset_is_sound(set));
    assert_true(slci_h5_reason_is_input());
    slci_h5_error_text(reason, sizeof reason);
    assert_non_null(strstr(reason, self->other));
    assert_non_null(strstr(reason, "a value of variable length is not where the file says"));
    assert_true(H5Dclose(set) >= 0);
    assert_false(slci_h5_reason_is_input());
    assert_true(H5Fclose(file) >= 0);
    slci_h5_unlock();
}

/* A dataset without a value in a file that has fewer bytes than descriptors are looked at together. */
static void nothing_stored_is_sound(void **state) {
    const test_way *self = *state;
    struct stat info;
    const hsize_t n = 3;
    const hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t text = test_h5_text();
    const hid_t set = H5Dcreate2(file, "x", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dclose(set) >= 0);
    const hid_t numbers =
        H5Dcreate2(file, "y", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dclose(numbers) >= 0 && H5Tclose(text) >= 0 && H5Sclose(space) >= 0);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(stat(self->in, &info), 0);
    assert_true(info.st_size < 4096);
    slci_h5_lock();
    const hid_t again = H5Fopen(self->in, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t unwritten = H5Dopen2(again, "x", H5P_DEFAULT);
    assert_true(slci_h5_dataset_is_sound(unwritten));
    assert_true(H5Dclose(unwritten) >= 0 && H5Fclose(again) >= 0);
    slci_h5_unlock();
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(no_damage_is_read),
        CASE(the_reason_is_told),
        CASE(nothing_stored_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
