/* HDF5 is one library with one state per process, so there is one mutex around it: the only global
 * here. Its automatic printing is a setting of each thread, so it is switched off whenever the lock is
 * taken and put back when it is given up: a program that uses HDF5 beside Sluice keeps its own. */
#include "io/h5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "io/h5_codec.h"
#include "io/h5_object_check.h"
#include "io/h5_reason.h"
#include "io/outfile.h"

/* Linux has this error of NFS servers without a name in user space. */
#define ERRNO_NFS_NOT_SUPPORTED 524

static pthread_mutex_t h5_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t h5_once = PTHREAD_ONCE_INIT;

static _Thread_local H5E_auto2_t caller_print;
static _Thread_local void *caller_context;

static void prepare(void) {
    /* The handlers of HDF5 at exit crash after a failed write, so they are declined; this has to come
     * before any other call and is refused, harmlessly, if the program used HDF5 before. */
    (void)H5dont_atexit();
    (void)H5open();
    slci_h5_codec_register();
}

void slci_h5_lock(void) {
    (void)pthread_mutex_lock(&h5_mutex);
    (void)pthread_once(&h5_once, prepare);
    (void)H5Eget_auto2(H5E_DEFAULT, &caller_print, &caller_context);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* What the filters were told of a dataset of ours is not true of the next one that this thread reads,
 * which may be the program's own. */
void slci_h5_unlock(void) {
    static const int64_t nothing[SLCI_H5_CODECS];
    slci_h5_codec_expect(nothing);
    (void)H5Eset_auto2(H5E_DEFAULT, caller_print, caller_context);
    (void)pthread_mutex_unlock(&h5_mutex);
}

typedef struct error_text {
    char *out;
    size_t capacity;
} error_text;

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *context) {
    const error_text *text = context;
    if (n == 0 && error->desc != NULL) {
        (void)snprintf(text->out, text->capacity, "%s", error->desc);
    }
    return 0;
}

void slci_h5_error_text(char *out, size_t capacity) {
    error_text text = {out, capacity};
    out[0] = '\0';
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
    for (char *c = out; *c != '\0'; c++) {
        if (*c == '\n') {
            *c = ' ';
        }
    }
}

/* HDF5 also calls it want of space where what it decodes ends too early. */
static herr_t find_want_of_memory(unsigned n, const H5E_error2_t *error, void *context) {
    (void)n;
    bool *is_found = context;
    const bool is_short = error->desc != NULL && strstr(error->desc, "ran off the end") != NULL;
    *is_found =
        *is_found || (error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE && !is_short);
    return 0;
}

bool slci_h5_lacks_memory(void) {
    bool is_found = false;
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_want_of_memory, &is_found);
    return is_found;
}

bool slci_h5_is_hdf5(const char *path) {
    slci_h5_lock();
    const htri_t is_hdf5 = H5Fis_hdf5(path);
    slci_h5_unlock();
    return is_hdf5 > 0;
}

/* On failure `text` says why; closing the list afterwards clears HDF5's own account of it. */
static hid_t open_with(const char *path, bool use_lock, char *text, size_t capacity) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) {
        return -1;
    }
    hid_t file = -1;
    if (H5Pset_file_locking(access, use_lock, true) >= 0) {
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    }
    if (file < 0) {
        slci_h5_error_text(text, capacity);
    }
    (void)H5Pclose(access);
    return file;
}

/* The number after `key` in HDF5's message, or -1. */
static long long number_after(const char *text, const char *key) {
    const char *found = strstr(text, key);
    return found == NULL ? -1 : strtoll(found + strlen(key), NULL, 10);
}

static slc_status refuse(const char *path, const char *text) {
    const long long found = number_after(text, "eof = ");
    const long long expected = number_after(text, "stored_eof = ");
    if (expected >= 0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: truncated: %lld bytes found, %lld expected (eof = %lld, stored_eof = "
                        "%lld); copy it again",
                        path, found, expected, found, expected);
    }
    if (number_after(text, "errno = ") == EAGAIN) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: is open for writing in another program (%s); close it there first",
                        path, text);
    }
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened as HDF5: %s", path, text);
}

slc_status slci_h5_header_fail(const char *path, const char *name) {
    char text[SLCI_H5_REASON_BYTES];
    const bool lacks_memory = slci_h5_lacks_memory();
    slci_h5_error_text(text, sizeof text);
    return lacks_memory ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: %s: no memory to open it", path, name)
                        : SLC_FAIL(SLC_ERROR_INPUT, "%s", text);
}

slc_status slci_h5_input_fail(const char *path, const char *name, const char *what) {
    char text[256];
    const bool lacks_memory = slci_h5_lacks_memory();
    slci_h5_error_text(text, sizeof text);
    return lacks_memory
               ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to read %s", path, name,
                          what)
               : SLC_FAIL(
                     SLC_ERROR_INPUT,
                     "%s: dataset %s: %s cannot be read (%s): damaged data; copy the file again",
                     path, name, what, text[0] != '\0' ? text : "no reason given");
}

slc_status slci_h5_check_header(slci_h5_id file, const char *path, const char *name) {
    return slci_h5_object_check((hid_t)file, name) ? SLC_OK : slci_h5_header_fail(path, name);
}

static bool is_lock_unsupported(const char *text) {
    const long long number = number_after(text, "errno = ");
    return number == ENOLCK || number == EOPNOTSUPP || number == ENOTSUP || number == ENOSYS ||
           number == ERRNO_NFS_NOT_SUPPORTED;
}

slci_h5_id slci_h5_open_any(const char *path, char *text, size_t capacity, bool *is_unlocked) {
    hid_t file = open_with(path, true, text, capacity);
    *is_unlocked = file < 0 && is_lock_unsupported(text);
    if (*is_unlocked) {
        file = open_with(path, false, text, capacity);
    }
    return (slci_h5_id)file;
}

slc_status slci_h5_open(const char *path, slc_log *log, slci_h5_id *out) {
    slci_file_stamp stamp;
    SLC_TRY(slci_file_stamp_get(path, &stamp));
    char text[512] = "";
    bool is_unlocked = false;
    slci_h5_lock();
    const hid_t file = (hid_t)slci_h5_open_any(path, text, sizeof text, &is_unlocked);
    const slc_status status = file < 0 ? SLC_OK : slci_h5_check_header((slci_h5_id)file, path, "/");
    if (status != SLC_OK) {
        (void)H5Fclose(file);
    }
    slci_h5_unlock();
    SLC_TRY(status);
    if (file < 0) {
        return refuse(path, text);
    }
    if (is_unlocked) {
        slc_log_note(log, "%s: the file system has no locks (%s): read without one", path, text);
    }
    *out = (slci_h5_id)file;
    return SLC_OK;
}

void slci_h5_close(slci_h5_id file) {
    slci_h5_lock();
    (void)H5Fclose((hid_t)file);
    slci_h5_unlock();
}
