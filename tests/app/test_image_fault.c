/* Every call of every kind fails once, at every place where the imaging job makes it: one clear error,
 * every thread joined, nothing left in the output folder. Under the address sanitizer this also shows
 * that nothing leaks.
 *
 * The program is linked with --wrap for the functions below, so that the library's own calls come
 * here; what HDF5 calls inside itself is not touched. */
#include "tests/support/test_support.h"

#include <errno.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "app/image.h"
#include "core/device_check.h"

typedef enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_RENAME,
    FAULT_THREAD
} fault_kind;

/* Counted by all threads; the fault fires once. */
static atomic_int armed_kind;
static atomic_int_least64_t n_calls;
static int64_t fail_at;

static bool fires(fault_kind kind) {
    return atomic_load(&armed_kind) == (int)kind && atomic_fetch_add(&n_calls, 1) + 1 == fail_at;
}

/* The linker sends calls of NAME to __wrap_NAME and those of __real_NAME to the real one. */
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
herr_t __real_H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t plist, void *out);
ssize_t __real_pwrite(int file, const void *data, size_t size, off_t offset);
int __real_fsync(int file);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __real_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
herr_t __wrap_H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t plist, void *out);
ssize_t __wrap_pwrite(int file, const void *data, size_t size, off_t offset);
int __wrap_fsync(int file);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);

void *__wrap_malloc(size_t size) {
    return fires(FAULT_MEMORY) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
    return fires(FAULT_MEMORY) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size) {
    return fires(FAULT_MEMORY) ? NULL : __real_realloc(old, size);
}

herr_t __wrap_H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t plist, void *out) {
    return fires(FAULT_READ) ? -1 : __real_H5Dread(dataset, type, memory, file, plist, out);
}

ssize_t __wrap_pwrite(int file, const void *data, size_t size, off_t offset) {
    if (fires(FAULT_WRITE)) {
        errno = ENOSPC;
        return -1;
    }
    return __real_pwrite(file, data, size, offset);
}

int __wrap_fsync(int file) {
    if (fires(FAULT_SYNC)) {
        errno = EIO;
        return -1;
    }
    return __real_fsync(file);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument) {
    return fires(FAULT_THREAD) ? EAGAIN
                               : __real_pthread_create(thread, attributes, function, argument);
}

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags) {
    if (fires(FAULT_RENAME)) {
        errno = EACCES;
        return -1;
    }
    return __real_renameat2(from_folder, from, to_folder, to, flags);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

static int64_t count_threads(void) {
    return test_directory_count("/proc/self/task");
}

/* All threads that a run started are gone; a joined one leaves /proc a moment after its join. */
static void expect_threads(int64_t expected) {
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 2000 && count_threads() != expected; i++) {
        nanosleep(&moment, NULL);
    }
    assert_int_equal(count_threads(), expected);
}

/* One run of a small image in several tiles; `device` NULL opens the host device. */
static slc_status run_once(const char *input, const char *output, slc_device *device) {
    slc_image_options options;
    slc_image_options_init(&options);
    options.inputs = &input;
    options.n_inputs = 1;
    options.outputs = &output;
    options.n_outputs = 1;
    options.nx = options.ny = 160; /* more than one kernel tile */
    options.scale_rad = 0.002;
    options.epsilon = 1e-5;
    options.vram_bytes = 3 << 20;
    options.ram_bytes = 64 << 20;
    options.device = SLC_CHOOSE_HOST;
    options.n_threads = 2;
    options.use_device = device;
    slc_image_result result;
    return slc_image_run(&options, &result);
}

/* Arms the N-th call for N = 1, 2, … until a run gets through untouched. */
static void every_call_fails(fault_kind kind, slc_status expected, int64_t at_least) {
    char input[TEST_PATH_BYTES];
    char folder[TEST_PATH_BYTES];
    char output[TEST_PATH_BYTES];
    test_need_shared("cases/base.uvh5", input);
    test_directory_create(folder);
    test_join(folder, "image.h5", output);
    TEST_OK(run_once(input, output, NULL)); /* what is made once a process is made now */
    remove(output);
    const int64_t n_threads = count_threads();
    int64_t n = 1;
    for (;; n++) {
        fail_at = n;
        atomic_store(&n_calls, 0);
        atomic_store(&armed_kind, (int)kind);
        const slc_status status = run_once(input, output, NULL);
        atomic_store(&armed_kind, (int)FAULT_NONE);
        expect_threads(n_threads);
        if (atomic_load(&n_calls) < n) {
            TEST_OK(status);
            break;
        }
        if (status != expected) {
            fail_msg("call %lld of kind %d: found %s (%s), expected %s", (long long)n, (int)kind,
                     slc_status_name(status), slc_status_message(), slc_status_name(expected));
        }
        assert_true(slc_status_message()[0] != '\0');
        assert_int_equal(test_directory_count(folder), 0);
    }
    print_message("%lld places\n", (long long)n - 1);
    assert_true(n > at_least);
    test_directory_remove(folder);
}

static void every_allocation(void **state) {
    (void)state;
    every_call_fails(FAULT_MEMORY, SLC_ERROR_MEMORY, 30);
}

static void every_read(void **state) {
    (void)state;
    every_call_fails(FAULT_READ, SLC_ERROR_INPUT, 10);
}

static void every_write(void **state) {
    (void)state;
    every_call_fails(FAULT_WRITE, SLC_ERROR_OUTPUT, 1);
}

static void every_sync(void **state) {
    (void)state;
    every_call_fails(FAULT_SYNC, SLC_ERROR_OUTPUT, 1);
}

/* Two of the pool, three streams of the device and the writer, for the image and for the beam. */
static void every_thread(void **state) {
    (void)state;
    every_call_fails(FAULT_THREAD, SLC_ERROR_MEMORY, 9);
}

static void the_rename(void **state) {
    (void)state;
    every_call_fails(FAULT_RENAME, SLC_ERROR_OUTPUT, 1);
}

/* Device memory, streams, events, copies, sets and launches, by the checking device. */
static void every_device_call(void **state) {
    (void)state;
    char input[TEST_PATH_BYTES];
    char folder[TEST_PATH_BYTES];
    char output[TEST_PATH_BYTES];
    test_need_shared("cases/base.uvh5", input);
    test_directory_create(folder);
    test_join(folder, "image.h5", output);
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
        if (kind == SLC_CHECK_PINNED || kind == SLC_CHECK_MAPPED) {
            continue; /* pinned memory falls back to pageable; imaging maps nothing */
        }
        bool passed = false;
        for (int64_t n = 1; !passed; n++) {
            slc_device *inner = NULL;
            slc_device *check = NULL;
            TEST_OK(slc_device_create_host(pool, NULL, &inner));
            const slc_check_options options = {.fail_kind = (slc_check_kind)kind, .fail_at = n};
            TEST_OK(slc_device_create_check(inner, &options, &check));
            const slc_status status = run_once(input, output, check);
            passed = status == SLC_OK;
            assert_true(passed || status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
            assert_int_equal(test_directory_count(folder), passed ? 1 : 0);
            assert_int_equal(slc_device_check_alive(check), 0);
            remove(output);
            slc_device_destroy(check);
        }
    }
    slc_pool_destroy(pool);
    test_directory_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),  cmocka_unit_test(every_read),
        cmocka_unit_test(every_write),       cmocka_unit_test(every_sync),
        cmocka_unit_test(every_thread),      cmocka_unit_test(the_rename),
        cmocka_unit_test(every_device_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
