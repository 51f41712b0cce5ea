/* Opening HDF5 files, the one lock around the HDF5 library, and its errors as text.
 * Every call into HDF5 lies between slci_h5_lock and slci_h5_unlock, whoever makes it: the library is
 * not re-entrant on all systems, and it keeps its own error stack and printing per thread.
 *
 *     SLC_TRY(slci_h5_open(path, log, &file));
 *     slci_h5_lock();
 *     const htri_t is_there = H5Lexists((hid_t)file, "/Header", H5P_DEFAULT);
 *     slci_h5_unlock();
 */
#ifndef SLC_IO_H5_FILE_H
#define SLC_IO_H5_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "core/log.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HDF5's hid_t, named here so that this header needs no HDF5. */
typedef int64_t slci_h5_id;

/* Takes the lock; the first call in a process also prepares HDF5 (no handlers at exit, the
 * filters of io/h5_codec.h registered). Between lock and unlock HDF5 prints nothing. Not recursive. */
void slci_h5_lock(void);
void slci_h5_unlock(void);

/* The innermost message of HDF5's error stack of this thread, with the lock held; "" if none. */
void slci_h5_error_text(char *out, size_t capacity);

/* With the lock: whether the call that has just failed did so for want of memory, as far as HDF5
 * says. */
bool slci_h5_lacks_memory(void);

/* Opens for reading, with HDF5's file lock where the file system has locks (a note in the log where
 * not). SLC_ERROR_INPUT: not HDF5, truncated (found and expected size), or open for writing
 * elsewhere, or its root damaged. The caller closes with slci_h5_close. Both take the lock
 * themselves. */
SLC_MUST_USE slc_status slci_h5_open(const char *path, slc_log *log, slci_h5_id *out);
void slci_h5_close(slci_h5_id file);

/* With the lock: the same without a look at what it holds. Negative where it cannot be opened, and
 * `text` says why; so it does where the file system has no locks, and *is_unlocked is true. */
slci_h5_id slci_h5_open_any(const char *path, char *text, size_t capacity, bool *is_unlocked);

/* With the lock: whether HDF5 may open an object of a file (io/h5_object_check.h); the path is for
 * messages. SLC_ERROR_INPUT, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_check_header(slci_h5_id file, const char *path, const char *name);

/* With the lock: the status of a look of io/h5_object_check.h that has just failed. */
SLC_MUST_USE slc_status slci_h5_header_fail(const char *path, const char *name);

/* With the lock: the status of a call of HDF5 that has just failed to read `what` of a dataset, "its
 * shape": SLC_ERROR_MEMORY where HDF5 lacks it, else SLC_ERROR_INPUT with its reason. */
SLC_MUST_USE slc_status slci_h5_input_fail(const char *path, const char *name, const char *what);

/* Whether the file starts like HDF5 (at any place where HDF5 may start). Takes the lock. */
bool slci_h5_is_hdf5(const char *path);

#ifdef __cplusplus
}
#endif
#endif
