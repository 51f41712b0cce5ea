/* A dataset of one HDF5 file for another, as it is stored. Internal to io/h5_object_copy.c.
 */
#ifndef SLC_IO_H5_DATASET_COPY_H
#define SLC_IO_H5_DATASET_COPY_H

#include <hdf5.h>

#include "core/log.h"

/* With the lock: a copy without a name and without attributes in the file of `to`, for H5Olink. What
 * does not come along, or keeps leading elsewhere, is a note in the log, which may be NULL. The caller
 * closes it; negative on failure, when io/h5_reason.h says why. */
hid_t slci_h5_dataset_copy(hid_t from, hid_t to, slc_log *log);

#endif
