/* What every test includes, and only this: cmocka in the order that it wants, and helpers.
 *
 *     static void adds_up(void **state) {
 *         (void)state;
 *         TEST_OK(slc_budget_create(100, 0, &budget));
 *         TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 101, "x"), SLC_ERROR_MEMORY, "100");
 *     }
 */
#ifndef SLC_TESTS_SUPPORT_TEST_SUPPORT_H
#define SLC_TESTS_SUPPORT_TEST_SUPPORT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/pool.h"
#include "core/status.h"

/* Number of elements of a real array. */
#define TEST_COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

/* The call succeeds; otherwise the test fails and shows the status and its message. */
#define TEST_OK(expression) test_expect_ok((expression), #expression, __FILE__, __LINE__)

/* The call fails with exactly this status, and its message holds `words`. */
#define TEST_FAILS(expression, expected_status, words) \
    test_expect_failure((expression), (expected_status), (words), #expression, __FILE__, __LINE__)

/* Leaves the test as skipped, saying why. */
#define TEST_SKIP(...)                       \
    do {                                     \
        print_message("SKIP: " __VA_ARGS__); \
        print_message("\n");                 \
        skip();                              \
    } while (0)

void test_expect_ok(slc_status status, const char *call, const char *file, int line);
void test_expect_failure(slc_status status, slc_status expected, const char *words,
                         const char *call, const char *file, int line);

/* Paths are written into buffers of this size. */
#define TEST_PATH_BYTES 1024

/* The path of a file of the shared data ("data/expected/x.h5"); false, with the reason printed, when
 * there is none. The data lies where the environment variable SLUICE_SHARED says, by default in
 * ../shared beside the project. */
bool test_shared_path(const char *relative, char path[TEST_PATH_BYTES]);

/* The same; skips the test where the file is missing. */
void test_need_shared(const char *relative, char path[TEST_PATH_BYTES]);

/* A fresh, empty directory, and its removal with everything in it. */
void test_directory_create(char path[TEST_PATH_BYTES]);
void test_directory_remove(const char *path);

/* A file in a directory of its own: the state of tests on files. */
typedef struct test_place {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
} test_place;

/* For the setup and as the teardown of such a test. The file is not made. */
test_place *test_place_create(void **state, const char *name);
int test_place_destroy(void **state);

/* Likewise for a job's files: in.h5, out.h5, other.h5 to compare with, and its checkpoint; none is
 * made. test_way_create is a setup itself. */
typedef struct test_way {
    char directory[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], out[TEST_PATH_BYTES], other[TEST_PATH_BYTES];
    char checkpoint[TEST_PATH_BYTES];
} test_way;

int test_way_create(void **state);
int test_way_destroy(void **state);

/* Entries in a directory, "." and ".." not counted: whether something was left behind. */
int64_t test_directory_count(const char *path);

/* directory/name. */
void test_join(const char *directory, const char *name, char path[TEST_PATH_BYTES]);

/* Writes `text` to the file `name` below a directory, making the folders on its way. */
void test_write_below(const char *directory, const char *name, const char *text);

/* The bytes of a file; the caller frees. */
char *test_file_read(const char *path, int64_t *n_bytes);

/* As malloc, but a failure fails the test. Zero bytes give a pointer to free. */
void *test_allocate(int64_t bytes);

/* A small generator (splitmix64) that gives the same numbers everywhere; the caller owns the state. */
uint64_t test_random(uint64_t *state);

/* A number in [0, n), n >= 1. */
int64_t test_random_below(uint64_t *state, int64_t n);

/* A number in [low, high). */
double test_random_between(uint64_t *state, double low, double high);

/* Bytes that look random and depend on the seed alone. */
void test_fill(void *memory, int64_t bytes, uint64_t seed);

/* Numbers in [-1, 1). */
void test_fill_f32(float *values, int64_t n, uint64_t seed);
void test_fill_f64(double *values, int64_t n, uint64_t seed);

/* sqrt(Σ|a-b|² / Σ|b|²) in double; b is the reference. */
double test_relative_error_f32(const float *a, const float *b, int64_t n);
double test_relative_error_f64(const double *a, const double *b, int64_t n);

/* Every device of this machine: the host device always, CUDA where there is a usable card (its
 * absence is printed once with the reason). */
#define TEST_MAX_DEVICES 2

typedef struct test_devices {
    slc_pool *pool;
    int n;
    slc_device *device[TEST_MAX_DEVICES];
} test_devices;

void test_devices_open(int n_threads, test_devices *devices);
void test_devices_close(test_devices *devices);

/* "host" or "cuda", for messages. */
const char *test_device_name(const slc_device *device);

#endif
