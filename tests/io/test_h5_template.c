/* What of the input a new dataset is expected to be like: here, how much room it takes. */
#include <hdf5.h>
#include <string.h>

#include "io/h5_array.h"
#include "tests/support/test_child.h"
#include "tests/support/test_uvh5.h"

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* Bytes repacked onto a disk that has no room for half of what they take in the input. */
typedef struct repack_case {
    const char *name;
    int64_t n, chunk, disk_bytes;
    bool is_random;    /* no filter makes them smaller; else all are zero */
    int level;         /* of the output; 0: the input's */
    int64_t out_chunk; /* the output's */
    int64_t first;     /* taken of the input's elements, from there on */
    bool is_refused;
} repack_case;

/* 64 zeros become some 12 bytes, so that half of all the input's chunks take 98 KiB, and in large
 * chunks next to nothing. */
static const repack_case cases[] = {
    {"the same", 4 << 20, 1 << 16, 1 << 20, true, 0, 1 << 16, 0, true},
    {"a higher level", 4 << 20, 1 << 16, 1 << 20, true, 2, 1 << 16, 0, false},
    {"smaller chunks", 4 << 20, 1 << 16, 1 << 20, true, 0, 1 << 15, 0, false},
    {"a part", 4 << 20, 1 << 16, 1 << 20, true, 0, 1 << 16, 1 << 16, false},
    {"tiny chunks", 1 << 20, 64, 128 << 10, false, 0, 1 << 16, 0, false},
};

typedef struct small_disk {
    const repack_case *repack;
    const char *in, *directory;
} small_disk;

static slc_status check_small_disk(void *context) {
    const small_disk *self = context;
    const repack_case *repack = self->repack;
    char path[TEST_PATH_BYTES];
    const int64_t n = repack->n - repack->first;
    slc_h5_array_output output = {.path = path,
                                  .dataset = "/v",
                                  .chunk = {repack->out_chunk},
                                  .filter = {.kind = SLC_H5_FILTER_AS_INPUT},
                                  .template_path = self->in,
                                  .template_dataset = "/x",
                                  .origin = {{.dim = 1, .first = repack->first, .step = 1}},
                                  .keeps_type = true};
    if (repack->level > 0) {
        output.filter = (slc_h5_filter){.kind = SLC_H5_FILTER_DEFLATE, .level = repack->level};
    }
    SLC_TRY(slc_layout_dense(SLC_U8, 1, &n, &output.layout));
    SLC_TRY(slc_h5_array_settle(&output));
    test_join(self->directory, "out.h5", path);
    if (!test_mount_small(self->directory, repack->disk_bytes)) {
        return TEST_CHILD_SKIPPED;
    }
    return slc_h5_array_check(&output);
}

static slc_failure check_case(const char *path, const repack_case *repack) {
    const hsize_t chunk = (hsize_t)repack->chunk;
    char directory[TEST_PATH_BYTES];
    small_disk disk = {.repack = repack, .in = path, .directory = directory};
    void *values = test_allocate(repack->n);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (repack->is_random) {
        test_fill(values, repack->n, 1);
    } else {
        memset(values, 0, (size_t)repack->n);
    }
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_deflate(list, 1);
    (void)remove(path);
    test_h5_put(path, "/x", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &repack->n, list, values);
    H5Pclose(list);
    free(values);
    test_directory_create(directory);
    const slc_failure found = test_child_run(check_small_disk, &disk);
    test_directory_remove(directory);
    return found;
}

/* Where nothing else than the program that writes has changed, half of what the input takes has to fit;
 * otherwise the elements may take any part of that, and nothing is refused beforehand. */
static void the_room_of_filtered_elements_is_checked(void **state) {
    const test_place *self = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const slc_failure found = check_case(self->path, &cases[k]);
        if (found.status == TEST_CHILD_SKIPPED) {
            TEST_SKIP("no file system can be mounted here");
        }
        if (cases[k].is_refused) {
            test_child_expect(&found, SLC_ERROR_OUTPUT,
                              "that is half of what the same elements take in");
        } else if (found.status != SLC_OK) {
            fail_msg("%s: %s", cases[k].name, found.message);
        }
    }
}

static void keep_line(void *context, slc_log_level level, const char *line) {
    if (level == SLC_LOG_NOTE) {
        (void)snprintf(context, TEST_PATH_BYTES, "%s", line);
    }
}

/* More than Sluice can name are not taken over, and a note says so; of fewer none is needed. */
static void filters_beyond_number_become_deflate(void **state) {
    const test_place *self = *state;
    const int64_t n = 4;
    const hsize_t chunk = 4;
    const int64_t values[4] = {1, 2, 3, 4};
    for (int n_filters = 8; n_filters <= 9; n_filters++) {
        slc_log log;
        char heard[TEST_PATH_BYTES] = "";
        slc_log_init(&log, SLC_LOG_NOTE, keep_line, heard);
        const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_chunk(list, 1, &chunk) >= 0);
        for (int k = 0; k < n_filters; k++) {
            assert_true(H5Pset_fletcher32(list) >= 0);
        }
        (void)remove(self->path);
        test_h5_put(self->path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &n, list, values);
        assert_true(H5Pclose(list) >= 0);
        slc_h5_array_output output = {.path = "out.h5",
                                      .dataset = "/v",
                                      .filter = {.kind = SLC_H5_FILTER_AS_INPUT},
                                      .template_path = self->path,
                                      .template_dataset = "/x",
                                      .log = &log};
        TEST_OK(slc_layout_dense(SLC_I64, 1, &n, &output.layout));
        TEST_OK(slc_h5_array_settle(&output));
        slc_log_destroy(&log);
        assert_int_equal(output.filter.kind, SLC_H5_FILTER_DEFLATE);
        assert_true((strstr(heard, ":/x, which are 9; at most 8") != NULL) == (n_filters == 9));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_room_of_filtered_elements_is_checked, make,
                                        test_place_destroy),
        cmocka_unit_test_setup_teardown(filters_beyond_number_become_deflate, make,
                                        test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
