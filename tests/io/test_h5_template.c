/* What of the input a new dataset is expected to be like: here, how much room it takes. */
#include <hdf5.h>

#include "io/h5_array.h"
#include "tests/support/test_child.h"
#include "tests/support/test_uvh5.h"

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* Half of what the same filter left of the input has to fit beside it. */
static slc_status check_small_disk(void *context) {
    const char *const *names = context; /* of the input, and of the small disk */
    char path[TEST_PATH_BYTES];
    const int64_t n = INT64_C(4) << 20;
    slc_h5_array_output output = {.path = path,
                                  .dataset = "/v",
                                  .chunk = {1 << 16},
                                  .filter = {.kind = SLC_H5_FILTER_AS_INPUT},
                                  .template_path = names[0],
                                  .template_dataset = "/x",
                                  .keeps_type = true};
    SLC_TRY(slc_layout_dense(SLC_U8, 1, &n, &output.layout));
    test_join(names[1], "out.h5", path);
    if (!test_mount_small(names[1], 1 << 20)) {
        return TEST_CHILD_SKIPPED;
    }
    return slc_h5_array_check(&output);
}

static void the_room_of_filtered_elements_is_checked(void **state) {
    const test_place *self = *state;
    const int64_t n = INT64_C(4) << 20;
    const hsize_t chunk = 1 << 16;
    char directory[TEST_PATH_BYTES];
    const char *const names[] = {self->path, directory};
    void *values = test_allocate(n); /* that no filter makes smaller */
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    test_fill(values, n, 1);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_deflate(list, 1);
    test_h5_put(self->path, "/x", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &n, list, values);
    H5Pclose(list);
    free(values);
    test_directory_create(directory);
    const slc_failure found = test_child_run(check_small_disk, (void *)names);
    test_directory_remove(directory);
    if (found.status == TEST_CHILD_SKIPPED) {
        TEST_SKIP("no file system can be mounted here");
    }
    test_child_expect(&found, SLC_ERROR_OUTPUT, "that is half of what the same elements take in");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_room_of_filtered_elements_is_checked, make,
                                        test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
