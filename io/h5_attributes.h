/* Attributes of an HDF5 object, given to another. Internal to io/h5_*.c and io/uvh5*.c.
 *
 *     if (!slci_h5_copy_attributes(from, to, failed)) { ... "cannot copy", failed ... }
 */
#ifndef SLC_IO_H5_ATTRIBUTES_H
#define SLC_IO_H5_ATTRIBUTES_H

#include <hdf5.h>
#include <stdbool.h>

#include "io/h5_data.h"

/* With the lock held: all attributes but those of references. False where HDF5 fails, whose reason
 * stands then, with the blame on the input (io/h5_reason.h); `failed` says at what. */
bool slci_h5_copy_attributes(hid_t from, hid_t to, char failed[SLCI_H5_NAME_BYTES]);

/* The same without those named, a list that ends with NULL. */
bool slci_h5_copy_attributes_but(hid_t from, hid_t to, const char *const *left_out,
                                 char failed[SLCI_H5_NAME_BYTES]);

#endif
