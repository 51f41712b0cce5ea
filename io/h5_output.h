/* Internal: an HDF5 file that is being written, through a driver of ours that never fails HDF5.
 * Where a write fails (a full disk, a limit), HDF5's own drivers report it to a library that then
 * tries the same writes again at close and at exit, and crashes there. This driver keeps the first
 * error, drops what follows, and lets HDF5 close in peace; slci_h5_output_close then reports it.
 * All calls are made with the lock of io/h5_file.h held.
 *
 *     slci_h5_output *output;
 *     SLC_TRY(slci_h5_output_create(outfile.temporary_path, "sim.uvh5", &output));
 *     H5Gcreate2(slci_h5_output_file(output), "Header", ...);
 *     SLC_TRY(slci_h5_output_close(output));
 */
#ifndef SLC_IO_H5_OUTPUT_H
#define SLC_IO_H5_OUTPUT_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* What is so large, chunks and contiguous data, begins with a page of the file. Memory that is read
 * into mostly begins with a page too, and where both do the kernel copies 3 to 5 % faster from the
 * page cache (measured, 2 MiB at a time). A chunk whose size is no whole number of pages pays for it
 * with half a page. */
#define SLCI_H5_ALIGNED_FROM_BYTES ((int64_t)1 << 20)
#define SLCI_H5_ALIGNMENT_BYTES ((int64_t)4096)

typedef struct slci_h5_output slci_h5_output;

/* Makes an HDF5 file of the existing, empty file `path`, in the widely readable format (earliest to
 * v18), with no times in its objects; messages speak of `name`. SLC_ERROR_OUTPUT, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_output_create(const char *path, const char *name,
                                              slci_h5_output **out);

/* Lent. */
hid_t slci_h5_output_file(const slci_h5_output *output);

/* With the lock: makes the groups above an absolute name that are not there yet. False where HDF5
 * fails, whose reason stands then. */
bool slci_h5_output_make_groups(const slci_h5_output *output, const char *name);

/* SLC_OK, or the first write that failed, with the system's reason: lets a long run stop early. */
SLC_MUST_USE slc_status slci_h5_output_status(const slci_h5_output *output);

/* What to return when an HDF5 call failed: the system's reason if a write failed before,
 * SLC_ERROR_MEMORY where HDF5 lacks it, SLC_ERROR_INPUT where io/h5_reason.h has the blame on what
 * was to be copied, else HDF5's own words. `what` names the call's object: "dataset /image". */
SLC_MUST_USE slc_status slci_h5_output_fail(const slci_h5_output *output, const char *what);

/* Closes and destroys, and reports the first failure of all. */
SLC_MUST_USE slc_status slci_h5_output_close(slci_h5_output *output);

/* Closes and destroys on the way out of a failure: nothing is reported. Takes NULL. */
void slci_h5_output_destroy(slci_h5_output *output);

/* A creation list for datasets or groups (H5P_DATASET_CREATE, H5P_GROUP_CREATE) that keeps times out
 * of the file. The caller closes it; negative on failure. */
hid_t slci_h5_plist(hid_t class_id);

/* A fixed-length, null-padded ASCII string type of `n_bytes` > 0; the caller closes it. */
hid_t slci_h5_string_type(size_t n_bytes);

#endif
