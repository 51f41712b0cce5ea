/* The calls that can be made to fail. The linker's --wrap sends those of the library to the functions
 * here; cmake/SluiceTests.cmake reads the names from the lines that begin with WRAP, so a line here is
 * all that a call needs. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "io/chunk_codec.h"
#include "io/chunk_encode.h"
#include "io/h5_chunk_span.h"
#include "io/h5_chunks.h"
#include "tests/support/test_faults.h"

/* Counted by all threads; the fault fires once. */
static atomic_int armed_kind;
static atomic_int_least64_t n_calls;
static int64_t fail_at;
static atomic_int_least64_t until_killed; /* 0: never */
static const char *output_folder = "/";

static const struct {
    const char *name;
    int reason; /* errno afterwards */
} kinds[TEST_FAULT_KINDS] = {
    [TEST_FAULT_NONE] = {"none", 0},
    [TEST_FAULT_MEMORY] = {"memory", ENOMEM},
    [TEST_FAULT_SLAB] = {"slab", ENOMEM},
    [TEST_FAULT_THREAD] = {"thread", EAGAIN},
    [TEST_FAULT_OPEN_INPUT] = {"open input", EMFILE},
    [TEST_FAULT_OPEN_OUTPUT] = {"open output", EMFILE},
    [TEST_FAULT_OPEN_DATA] = {"open data", EIO},
    [TEST_FAULT_READ] = {"read", EIO},
    [TEST_FAULT_DECODE] = {"decode", 0},
    [TEST_FAULT_COMPARE] = {"decode while opening", 0},
    [TEST_FAULT_ARCHIVE] = {"archive", EIO},
    [TEST_FAULT_WRITE] = {"write", ENOSPC},
    [TEST_FAULT_H5_WRITE] = {"HDF5 write", 0},
    [TEST_FAULT_FITS] = {"FITS", 0},
    [TEST_FAULT_SYNC] = {"sync", EIO},
    [TEST_FAULT_RENAME] = {"rename", EACCES},
};

const char *test_fault_name(test_fault kind) {
    return kinds[kind].name;
}

void test_fault_set_outputs(const char *folder) {
    output_folder = folder;
}

void test_fault_arm(test_fault kind, int64_t n) {
    fail_at = n;
    atomic_store(&n_calls, 0);
    atomic_store(&armed_kind, (int)kind);
}

int64_t test_fault_disarm(void) {
    atomic_store(&armed_kind, (int)TEST_FAULT_NONE);
    return atomic_load(&n_calls);
}

void test_fault_kill_at(int64_t n) {
    atomic_store(&until_killed, n);
}

static _Thread_local bool is_opening; /* a dataset is being opened, in this thread */

static bool fires(test_fault kind) {
    kind = kind == TEST_FAULT_DECODE && is_opening ? TEST_FAULT_COMPARE : kind;
    const bool counts =
        kind == TEST_FAULT_SYNC || kind == TEST_FAULT_RENAME || kind == TEST_FAULT_UNLINK;
    if (counts && atomic_load(&until_killed) > 0 && atomic_fetch_sub(&until_killed, 1) == 1) {
        (void)raise(SIGKILL);
    }
    if (atomic_load(&armed_kind) != (int)kind || atomic_fetch_add(&n_calls, 1) + 1 != fail_at) {
        return false;
    }
    errno = kinds[kind].reason;
    return true;
}

/* Whether a dataset is open in a file for writing. */
static bool is_written(hid_t dataset) {
    unsigned intent = H5F_ACC_RDONLY;
    const hid_t file = dataset < 0 ? -1 : H5Iget_file_id(dataset);
    const bool is_known = file >= 0 && H5Fget_intent(file, &intent) >= 0;
    if (file >= 0) {
        (void)H5Fclose(file);
    }
    return is_known && intent != H5F_ACC_RDONLY;
}

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)

/* The linker sends calls of NAME to __wrap_NAME and those of __real_NAME to the real one. `failed` is
 * what a call gives that fails. */
#define WRAP(kind, name, result, parameters, arguments, failed)               \
    result __real_##name parameters;                                          \
    result __wrap_##name parameters;                                          \
    result __wrap_##name parameters {                                         \
        return fires(TEST_FAULT_##kind) ? (failed) : __real_##name arguments; \
    }

/* Of a library that Sluice may have been built without. */
#define WRAP_OPTIONAL(kind, name, result, parameters, arguments, failed) \
    __attribute__((weak)) result __real_##name parameters;               \
    WRAP(kind, name, result, parameters, arguments, failed)

/* The same, but where `may_fail` is false no such call. */
#define WRAP_WHERE(kind, name, result, parameters, arguments, failed, may_fail)             \
    result __real_##name parameters;                                                        \
    result __wrap_##name parameters;                                                        \
    result __wrap_##name parameters {                                                       \
        return (may_fail) && fires(TEST_FAULT_##kind) ? (failed) : __real_##name arguments; \
    }

WRAP(MEMORY, malloc, void *, (size_t size), (size), NULL)
WRAP(MEMORY, calloc, void *, (size_t n, size_t size), (n, size), NULL)
WRAP(MEMORY, realloc, void *, (void *old, size_t size), (old, size), NULL)
WRAP(MEMORY, aligned_alloc, void *, (size_t to, size_t size), (to, size), NULL)
WRAP(SLAB, posix_memalign, int, (void **out, size_t to, size_t size), (out, to, size), ENOMEM)
WRAP(MEMORY, mmap, void *,
     (void *at, size_t size, int protection, int flags, int file, off_t offset),
     (at, size, protection, flags, file, offset), MAP_FAILED)
WRAP(MEMORY, strdup, char *, (const char *text), (text), NULL)
WRAP(MEMORY, open_memstream, FILE *, (char **text, size_t *length), (text, length), NULL)
WRAP(MEMORY, H5allocate_memory, void *, (size_t size, hbool_t clear), (size, clear), NULL)
WRAP(MEMORY, H5resize_memory, void *, (void *old, size_t size), (old, size), NULL)
WRAP(MEMORY, ZSTD_createDCtx, void *, (void), (), NULL)
WRAP(MEMORY, slci_chunk_encode, slc_status,
     (slci_chunk_encoder * encoder, const void *elements, void *stored, int64_t *n_stored),
     (encoder, elements, stored, n_stored), SLC_FAIL(SLC_ERROR_MEMORY, "made to fail"))
WRAP_OPTIONAL(MEMORY, png_create_info_struct, void *, (void *png), (png), NULL)

/* A start routine and its argument. */
typedef void *(*routine)(void *);
WRAP(THREAD, pthread_create, int,
     (pthread_t * thread, const pthread_attr_t *attributes, routine run, void *argument),
     (thread, attributes, run, argument), EAGAIN)

WRAP(OPEN_DATA, H5Fopen, hid_t, (const char *name, unsigned flags, hid_t list), (name, flags, list),
     -1)
WRAP(OPEN_DATA, H5Dopen2, hid_t, (hid_t place, const char *name, hid_t list), (place, name, list),
     -1)
WRAP(OPEN_DATA, H5Dget_type, hid_t, (hid_t dataset), (dataset), -1)
WRAP(OPEN_DATA, H5Dget_space, hid_t, (hid_t dataset), (dataset), -1)
WRAP(OPEN_DATA, H5Dget_create_plist, hid_t, (hid_t dataset), (dataset), -1)
WRAP(READ, H5Dread, herr_t,
     (hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t list, void *out),
     (dataset, type, memory, file, list, out), -1)

WRAP(READ, slci_span_read, slc_status, (const slci_span *span), (span),
     SLC_FAIL(SLC_ERROR_INPUT, "made to fail"))
WRAP(READ, slci_span_fetch, slc_status, (int file, void *out, int64_t n, int64_t at),
     (file, out, n, at), SLC_FAIL(SLC_ERROR_INPUT, "made to fail"))

#define FILTER_PARAMETERS                                                                  \
    (unsigned flags, size_t n_values, const unsigned values[], size_t n, size_t *n_buffer, \
     void **buffer)
#define FILTER_ARGUMENTS (flags, n_values, values, n, n_buffer, buffer)
WRAP(DECODE, slci_h5_zstd_filter, size_t, FILTER_PARAMETERS, FILTER_ARGUMENTS, 0)
WRAP(DECODE, slci_h5_lzf_filter, size_t, FILTER_PARAMETERS, FILTER_ARGUMENTS, 0)
WRAP(DECODE, slci_h5_bitshuffle_filter, size_t, FILTER_PARAMETERS, FILTER_ARGUMENTS, 0)
WRAP(DECODE, slci_chunk_decode, slc_status,
     (slci_chunk_decoder * decoder, uint32_t mask, const void *stored, int64_t n, void *out),
     (decoder, mask, stored, n, out), SLC_FAIL(SLC_ERROR_INPUT, "made to fail"))
WRAP(DECODE, ZSTD_decompressStream, size_t, (void *context, void *out, void *in),
     (context, out, in), (size_t)-20) /* "corruption detected" */

WRAP_OPTIONAL(ARCHIVE, zip_open, void *, (const char *path, int flags, int *error),
              (path, flags, error), NULL)
WRAP_OPTIONAL(ARCHIVE, zip_stat_index, int,
              (void *archive, uint64_t index, uint32_t flags, void *out),
              (archive, index, flags, out), -1)
WRAP_OPTIONAL(ARCHIVE, zip_fopen_index, void *, (void *archive, uint64_t index, uint32_t flags),
              (archive, index, flags), NULL)
WRAP_OPTIONAL(ARCHIVE, zip_fread, int64_t, (void *file, void *out, uint64_t n), (file, out, n), -1)

WRAP(WRITE, write, ssize_t, (int file, const void *data, size_t n), (file, data, n), -1)
WRAP(WRITE, pwrite, ssize_t, (int file, const void *data, size_t n, off_t at), (file, data, n, at),
     -1)
WRAP(WRITE, fallocate, int, (int file, int mode, off_t at, off_t length), (file, mode, at, length),
     -1)
WRAP(WRITE, ftruncate, int, (int file, off_t length), (file, length), -1)
WRAP(SYNC, fsync, int, (int file), (file), -1)
WRAP(SYNC, fdatasync, int, (int file), (file), -1)
WRAP(UNLINK, unlink, int, (const char *path), (path), -1)
WRAP(RENAME, rename, int, (const char *from, const char *to), (from, to), -1)
WRAP(RENAME, renameat2, int,
     (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
     (from_folder, from, to_folder, to, flags), -1)

WRAP(H5_WRITE, H5Fcreate, hid_t, (const char *name, unsigned flags, hid_t create, hid_t access),
     (name, flags, create, access), -1)
WRAP(H5_WRITE, H5Ocopy, herr_t,
     (hid_t from, const char *name, hid_t to, const char *new_name, hid_t copy, hid_t link),
     (from, name, to, new_name, copy, link), -1)
WRAP(H5_WRITE, H5Rcreate, herr_t,
     (void *out, hid_t place, const char *name, H5R_type_t type, hid_t space),
     (out, place, name, type, space), -1)
WRAP(H5_WRITE, H5Dwrite_chunk, herr_t,
     (hid_t dataset, hid_t list, uint32_t filters, const hsize_t *at, size_t n, const void *data),
     (dataset, list, filters, at, n, data), -1)
WRAP(H5_WRITE, H5Dcreate2, hid_t,
     (hid_t place, const char *name, hid_t type, hid_t space, hid_t link, hid_t create,
      hid_t access),
     (place, name, type, space, link, create, access), -1)
WRAP(H5_WRITE, H5Dwrite, herr_t,
     (hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t list, const void *data),
     (dataset, type, memory, file, list, data), -1)
WRAP(H5_WRITE, H5Acreate2, hid_t,
     (hid_t place, const char *name, hid_t type, hid_t space, hid_t create, hid_t access),
     (place, name, type, space, create, access), -1)
WRAP(H5_WRITE, H5Awrite, herr_t, (hid_t attribute, hid_t type, const void *data),
     (attribute, type, data), -1)
/* Of a dataset that is read it does not matter. */
WRAP_WHERE(H5_WRITE, H5Dclose, herr_t, (hid_t dataset), (dataset), (__real_H5Dclose(dataset), -1),
           is_written(dataset))

/* cfitsio's functions behind the names of fitsio.h. A failing one sets *status (WRITE_ERROR). */
#define FITS_FAILS (*status = 106)
WRAP_OPTIONAL(FITS, ffdkinit, int, (void **file, const char *name, int *status),
              (file, name, status), FITS_FAILS)
WRAP_OPTIONAL(FITS, ffcrimll, int, (void *file, int type, int rank, long long *shape, int *status),
              (file, type, rank, shape, status), FITS_FAILS)
WRAP_OPTIONAL(FITS, ffpkys, int,
              (void *file, const char *key, const char *text, const char *comment, int *status),
              (file, key, text, comment, status), FITS_FAILS)
WRAP_OPTIONAL(FITS, ffpkyd, int,
              (void *file, const char *key, double value, int digits, const char *comment,
               int *status),
              (file, key, value, digits, comment, status), FITS_FAILS)
WRAP_OPTIONAL(FITS, ffppr, int,
              (void *file, int type, long long first, long long n, void *values, int *status),
              (file, type, first, n, values, status), FITS_FAILS)
WRAP_OPTIONAL(FITS, ffclos, int, (void *file, int *status), (file, status),
              (__real_ffclos(file, status), FITS_FAILS))

/* What the system says of itself is looked up on the way, and may be missing. */
static bool is_output(const char *path) {
    return strncmp(path, output_folder, strlen(output_folder)) == 0;
}

static bool is_system(const char *path) {
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

/* What is more than a call that may fail, and is named in cmake/SluiceTests.cmake. */

slc_status __real_slci_h5_chunks_create(const slci_h5_chunks_request *request,
                                        slci_h5_chunks **out);
slc_status __wrap_slci_h5_chunks_create(const slci_h5_chunks_request *request,
                                        slci_h5_chunks **out);

slc_status __wrap_slci_h5_chunks_create(const slci_h5_chunks_request *request,
                                        slci_h5_chunks **out) {
    is_opening = true;
    const slc_status status = __real_slci_h5_chunks_create(request, out);
    is_opening = false;
    return status;
}

/* It has a variable number of arguments. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    const test_fault kind = is_output(path) ? TEST_FAULT_OPEN_OUTPUT : TEST_FAULT_OPEN_INPUT;
    return !is_system(path) && fires(kind) ? -1 : __real_open(path, flags, mode);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
