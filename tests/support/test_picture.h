/* Runs of the imaging job with the picture in memory, for tests of right values and of budgets.
 *
 *     test_picture p;
 *     test_picture_init(&p, "cases/base.uvh5", 128, 128, 0.002);
 *     TEST_OK(test_picture_run(&p));
 *     TEST_NEAR(test_picture_at(&p, 39, 49), 1.0, 2e-6);
 *     free(p.image);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_PICTURE_H
#define SLC_TESTS_SUPPORT_TEST_PICTURE_H

#include "tests/support/test_near.h"

#include "app/image.h"

/* A run with its picture. */
typedef struct test_picture {
    char path[TEST_PATH_BYTES];
    const char *input;
    slc_image_options options;
    slc_image_result result;
    double *image;
} test_picture;

/* Options for a shared file at nx × ny pixels on the host device; skips where it is missing. */
void test_picture_init(test_picture *p, const char *file, int64_t nx, int64_t ny, double scale_rad);

/* Runs with the options as they are; the picture of an earlier run is freed. */
slc_status test_picture_run(test_picture *p);

/* Pixel (column x, row y) of the first plane. */
double test_picture_at(const test_picture *p, int64_t x, int64_t y);

/* The image [count] of an exact file of the shared data, and the scale it was made at. */
double *test_read_expected(const char *name, int64_t count, double *scale_rad);

/* Relative L2 error over pixels that are finite in both; where they are must agree. */
double test_image_error(const double *image, const double *expected, int64_t n);

/* Runs at each budget of device memory in turn: within it, and the same bits as at the first. */
void test_same_at_budgets(test_picture *p, const int64_t *vram_bytes, int64_t n);

#endif
