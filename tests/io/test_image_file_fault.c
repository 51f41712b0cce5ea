/* Pictures that do not fit: on a small file system, and under limits that cut at any byte. Each ends
 * in one clear error, with no crash at exit and nothing left in the folder. */
#include "io/image_file.h"
#include "tests/support/test_child.h"

typedef struct big_job {
    char directory[TEST_PATH_BYTES];
    const char *name;
    int64_t side;
    int64_t limit_bytes; /* of a file; 0: a small file system instead */
} big_job;

/* Writes noise, which does not compress. */
static slc_status write_big(void *context) {
    const big_job *const job = (const big_job *)context;
    char path[TEST_PATH_BYTES];
    const slc_image_meta meta = {
        .nx = job->side,
        .ny = job->side,
        .n_planes = 1,
        .n_parts = 1,
        .scale_rad = 1e-5,
        .frame = "ICRS",
        .unit = "Jy/beam",
    };
    const int64_t n = meta.nx * meta.ny;
    double *const image = (double *)test_allocate(n * 8);
    test_fill_f64(image, n, 7);
    test_join(job->directory, job->name, path);
    if (job->limit_bytes > 0) {
        test_limit_file_size(job->limit_bytes);
    } else if (!test_mount_small(job->directory, 1 << 20)) {
        free(image);
        return TEST_CHILD_SKIPPED;
    }
    const slc_status status = slc_image_file_write(path, &meta, image, false, NULL);
    free(image);
    if (status != SLC_OK && test_directory_count(job->directory) != 0) {
        return SLC_FAIL(SLC_ERROR_INTERNAL, "something is left behind");
    }
    return status;
}

static const char *const big_names[] = {"big.fits", "big.h5", "big.png"};

static void survives_limits_and_full_disks(void **state) {
    (void)state;
    static const int64_t limits[] = {1 << 20, 0};
    static const char *const reasons[] = {"File too large", "No space left on device"};
    big_job job = {.side = 1600}; /* 10 MB of float, 2.5 MB of noise in 8 bits */
    test_directory_create(job.directory);
    bool is_skipped = false;
    for (int64_t k = 0; k < TEST_COUNT(big_names) * 2; k++) {
        job.name = big_names[k / 2];
        job.limit_bytes = limits[k % 2];
        const slc_failure found = test_child_run(write_big, &job);
        is_skipped = is_skipped || found.status == TEST_CHILD_SKIPPED;
        if (found.status != TEST_CHILD_SKIPPED && found.status != SLC_ERROR_UNSUPPORTED) {
            test_child_expect(&found, SLC_ERROR_OUTPUT, reasons[k % 2]);
            assert_non_null(strstr(found.message, job.name));
        }
        assert_int_equal(test_directory_count(job.directory), 0);
    }
    test_directory_remove(job.directory);
    if (is_skipped) {
        TEST_SKIP("no file system can be mounted here; only the limit was tried");
    }
}

/* Every byte of a small file may be the one that does not fit; headers and closing included. */
static void survives_every_limit(void **state) {
    (void)state;
    big_job job = {.side = 8};
    test_directory_create(job.directory);
    for (int64_t k = 0; k < TEST_COUNT(big_names); k++) {
        job.name = big_names[k];
        slc_failure found = {SLC_ERROR_OUTPUT, ""};
        int64_t n_failed = 0;
        for (int64_t limit = 1; found.status == SLC_ERROR_OUTPUT; limit += 397) {
            job.limit_bytes = limit;
            found = test_child_run(write_big, &job);
            n_failed += found.status == SLC_ERROR_OUTPUT;
            if (found.status == SLC_ERROR_OUTPUT) {
                test_child_expect(&found, SLC_ERROR_OUTPUT, "File too large");
            }
        }
        assert_true(found.status == SLC_OK || found.status == SLC_ERROR_UNSUPPORTED);
        assert_true(n_failed > 2 || found.status == SLC_ERROR_UNSUPPORTED);
        assert_true(test_directory_count(job.directory) <= 1);
        test_directory_remove(job.directory);
        test_directory_create(job.directory);
    }
    test_directory_remove(job.directory);
}

/* 300 x 256 pixels: 0.3 MB in single and 0.6 MB in double precision, on 1 MiB. Each fits, and the image
 * in both formats; with the point-spread function it is too much. */
static slc_status check_together(void *context) {
    const char *directory = (const char *)context;
    const slc_image_meta meta = {
        .nx = 300, .ny = 256, .n_planes = 1, .n_parts = 1, .scale_rad = 1e-5, .frame = "ICRS"};
    char paths[3][TEST_PATH_BYTES];
    static const char *const names[] = {"a.h5", "a.fits", "psf.fits"};
    for (int k = 0; k < 3; k++) {
        test_join(directory, names[k], paths[k]);
    }
    const char *const outputs[] = {paths[0], paths[1]};
    if (!test_mount_small(directory, 1 << 20)) {
        return TEST_CHILD_SKIPPED;
    }
    SLC_TRY(slc_image_files_check(outputs, 2, NULL, &meta, false));
    SLC_TRY(slc_image_files_check(outputs, 1, paths[2], &meta, false));
    return slc_image_files_check(outputs, 2, paths[2], &meta, false);
}

static void all_outputs_must_fit_together(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    test_directory_create(directory);
    const slc_failure found = test_child_run(check_together, directory);
    test_directory_remove(directory);
    if (found.status == TEST_CHILD_SKIPPED) {
        TEST_SKIP("no file system can be mounted here");
    }
    if (found.status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", found.message);
    }
    test_child_expect(&found, SLC_ERROR_OUTPUT, "psf.fits and the 2 output(s) before it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_limits_and_full_disks),
        cmocka_unit_test(survives_every_limit),
        cmocka_unit_test(all_outputs_must_fit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
