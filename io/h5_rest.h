/* What else is in the group of a dataset, for the group of another one. Internal to io/h5_*.c.
 */
#ifndef SLC_IO_H5_REST_H
#define SLC_IO_H5_REST_H

#include <hdf5.h>
#include <stdbool.h>

#include "io/h5_array.h"
#include "io/h5_data.h"
#include "io/h5_output.h"

/* With the lock: the objects beside the template (open in `from_file`) and its group's attributes, to
 * the group of the new dataset `name`, which is there; but for the template, and for names that are
 * taken. False where HDF5 fails, whose reason stands then; `failed` says at what, and is "" where there
 * was no memory. */
bool slci_h5_copy_rest(const slc_h5_array_output *output, hid_t from_file,
                       const slci_h5_output *file, const char *name,
                       char failed[SLCI_H5_NAME_BYTES]);

#endif
