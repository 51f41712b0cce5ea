/* A disk that has room for the outputs of a run, and none for its checkpoint besides. How much is free
 * is asked of the file system, so the sizes here are parts of that; nothing so large is written. */
#include "app/disk_room.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "app/rewrite.h"
#include "app/stats.h"
#include "tests/support/test_child.h"
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

#define SMALL_DISK_BYTES (INT64_C(16) << 20)

/* On a disk of its own a journal of half the disk is there, `held_bytes` of it written and the rest a
 * hole; an output is still to come. */
typedef struct half_done {
    const test_way *way;
    int64_t held_bytes, output_bytes;
} half_done;

static slc_status check_half_done(void *context) {
    const half_done *self = context;
    const char *directory = self->way->directory;
    char path[TEST_PATH_BYTES];
    char journal[TEST_PATH_BYTES];
    test_join(directory, "ck", path);
    test_join(directory, "ck.journal", journal);
    if (!test_mount_small(directory, SMALL_DISK_BYTES)) {
        return TEST_CHILD_SKIPPED;
    }
    const int fd = open(journal, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    char *zeros = test_allocate(SMALL_DISK_BYTES);
    memset(zeros, 0, SMALL_DISK_BYTES);
    assert_int_equal(write(fd, zeros, (size_t)self->held_bytes), self->held_bytes);
    assert_int_equal(ftruncate(fd, SMALL_DISK_BYTES / 2), 0);
    free(zeros);
    assert_int_equal(close(fd), 0);
    const slc_run_options run = {.checkpoint_path = path};
    const slc_outfile_need output = {self->way->out, self->output_bytes};
    const slci_disk_need need = {.outputs = &output,
                                 .n_outputs = 1,
                                 .journal_bytes = SMALL_DISK_BYTES / 2};
    return slci_check_room(&run, &need);
}

/* What of the journal is there already takes no more room; what is only said to be there does. */
static void what_is_there_counts(void **state) {
    const half_done written = {*state, SMALL_DISK_BYTES / 2, SMALL_DISK_BYTES / 8 * 3};
    const half_done hole = {*state, 0, SMALL_DISK_BYTES / 8 * 5};
    slc_failure found = test_child_run(check_half_done, (void *)&written);
    if (found.status == TEST_CHILD_SKIPPED) {
        TEST_SKIP("no file system can be mounted here");
    }
    assert_int_equal(found.status, SLC_OK);
    found = test_child_run(check_half_done, (void *)&hole);
    test_child_expect(&found, SLC_ERROR_OUTPUT, "ck.journal");
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

/* Statistics have no output but what their checkpoint keeps. */
static slc_status count_on_a_small_disk(void *context) {
    const test_way *way = context;
    static double edges[SLC_STATS_MOST_BINS + 1];
    static int64_t bins[SLC_STATS_MOST_BINS + 2];
    char path[TEST_PATH_BYTES];
    slc_stats_result result;
    const slc_stats_options options = {.in = {.path = way->in, .dataset = "/x"},
                                       .n_bins = SLC_STATS_MOST_BINS,
                                       .has_range = true,
                                       .high = 1,
                                       .edges = edges,
                                       .bins = bins,
                                       .run = {.vram_bytes = 64 << 20,
                                               .ram_bytes = 64 << 20,
                                               .device = SLC_CHOOSE_HOST,
                                               .n_threads = 1,
                                               .checkpoint_path = path}};
    test_join(way->directory, "small", path);
    if (mkdir(path, 0700) != 0 || !test_mount_small(path, 1 << 20)) {
        return TEST_CHILD_SKIPPED;
    }
    test_join(way->directory, "small/ck", path);
    SLC_TRY(slc_stats_run(&options, &result));
    return SLC_OK;
}

static void statistics_are_refused_before_they_begin(void **state) {
    const test_way *self = *state;
    put_unwritten(self->in, 1 << 20);
    const slc_failure found = test_child_run(count_on_a_small_disk, (void *)self);
    if (found.status == TEST_CHILD_SKIPPED || found.status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("no file system can be mounted here, or no checkpoint is to be had");
    }
    test_child_expect(&found, SLC_ERROR_OUTPUT, "another file system would do");
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
        CASE(statistics_are_refused_before_they_begin),
        CASE(a_job_is_refused_before_it_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
