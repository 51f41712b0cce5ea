/* A disk that has room for the outputs of a run, and none for its checkpoint besides. How much is free
 * is asked of the file system, so the sizes here are parts of that; nothing so large is written. */
#include "app/disk_room.h"

#include <hdf5.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "app/rewrite.h"
#include "tests/support/test_rewritten.h"

static int64_t free_bytes(const test_way *self) {
    struct statvfs space;
    assert_int_equal(statvfs(self->directory, &space), 0);
    return (int64_t)space.f_bavail * (int64_t)space.f_frsize;
}

/* In hundredths of what is free. */
static slc_status check(const test_way *self, const slc_run_options *run, int64_t output,
                        int64_t journal, int64_t state) {
    const int64_t part = free_bytes(self) / 100;
    const slc_outfile_need needs[] = {{self->out, output * part}, {self->in, 0}};
    const slci_disk_need need = {.outputs = needs,
                                 .n_outputs = 2,
                                 .journal_bytes = journal * part,
                                 .state_bytes = state * part};
    return slci_check_room(run, &need);
}

static void what_fits_alone_may_not_fit_together(void **state) {
    const test_way *self = *state;
    char path[TEST_PATH_BYTES];
    test_join(self->directory, "ck", path);
    const slc_run_options none = {.vram_bytes = 0};
    const slc_run_options run = {.checkpoint_path = path};
    TEST_OK(check(self, &none, 60, 60, 60));
    TEST_OK(check(self, &run, 30, 30, 5));
    TEST_FAILS(check(self, &run, 60, 60, 0), SLC_ERROR_OUTPUT, "another file system would do");
    TEST_FAILS(check(self, &run, 60, 0, 30), SLC_ERROR_OUTPUT, "ck"); /* two states */
    TEST_OK(check(self, &run, 60, 0, 15));
}

/* What of the journal is there already takes no more room. */
static void what_is_there_counts(void **state) {
    const test_way *self = *state;
    char path[TEST_PATH_BYTES];
    char journal[TEST_PATH_BYTES];
    test_join(self->directory, "ck", path);
    test_join(self->directory, "ck.journal", journal);
    const slc_run_options run = {.checkpoint_path = path};
    TEST_FAILS(check(self, &run, 60, 60, 0), SLC_ERROR_OUTPUT, "ck.journal");
    FILE *file = fopen(journal, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)(free_bytes(self) / 2)), 0); /* all hole */
    assert_int_equal(fclose(file), 0);
    TEST_OK(check(self, &run, 60, 60, 0));
}

/* A dataset of zeros that nobody has written takes no room, and a copy in one piece all of it. */
static void put_unwritten(const char *path, int64_t n) {
    const hsize_t shape = (hsize_t)n;
    const hsize_t chunk = 1 << 20;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &shape, NULL);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0);
    const hid_t set = H5Dcreate2(file, "/x", H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    (void)H5Dclose(set);
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
}

static void a_job_is_refused_before_it_begins(void **state) {
    const test_way *self = *state;
    slc_rewrite_result result;
    slc_rewrite_options options = test_rewrite_options(self);
    char path[TEST_PATH_BYTES];
    test_join(self->directory, "ck", path);
    put_unwritten(self->in, free_bytes(self) / 10 * 7);
    options.form.is_contiguous = true;
    options.run.checkpoint_path = path;
    const slc_status status = slc_rewrite_run(&options, &result);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    assert_int_equal(status, SLC_ERROR_OUTPUT);
    assert_non_null(strstr(slc_status_message(), "another file system would do"));
    assert_int_equal(test_directory_count(self->directory), 1);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_fits_alone_may_not_fit_together),
        CASE(what_is_there_counts),
        CASE(a_job_is_refused_before_it_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
