/* What else is in the group of a dataset, for the group of another one. Internal to io/h5_*.c.
 */
#ifndef SLC_IO_H5_REST_H
#define SLC_IO_H5_REST_H

#include <hdf5.h>

#include "io/h5_array.h"
#include "io/h5_data.h"
#include "io/h5_output.h"

/* With the lock: what is beside the template `from`, and its group's attributes, to the group of the
 * new dataset `to`; but for the template, and for names that are taken. SLC_ERROR_INPUT for an object
 * that HDF5 cannot read, SLC_ERROR_MEMORY and SLC_ERROR_OUTPUT where these can be told from it. */
SLC_MUST_USE slc_status slci_h5_copy_rest(const slc_h5_array_output *output, hid_t from,
                                          const slci_h5_output *file, hid_t to);

/* The group of an absolute name: "/g" of "/g/data", "/" of "/data". */
void slci_h5_group_of(const char *name, char out[SLCI_H5_NAME_BYTES]);

#endif
