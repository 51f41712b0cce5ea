/* Values of variable length (text, lists) lie in heaps of the file, and what is stored in their place
 * says where. HDF5 1.10 follows that without looking: in a damaged file it copies from anywhere, or
 * goes round for ever. So whatever holds such values is looked at here before HDF5 reads it.
 *
 *     if (!slci_h5_attribute_is_sound(attribute)) { ... slci_h5_output_fail says why ... }
 *
 * Internal to io/h5_*.c and io/uvh5*.c; all with the lock. Each function is true for what has no such
 * values. Where it is false, io/h5_reason.h says why: for want of memory, or the input is to blame.
 */
#ifndef SLC_IO_H5_HEAP_H
#define SLC_IO_H5_HEAP_H

#include <hdf5.h>
#include <stdbool.h>

bool slci_h5_attribute_is_sound(hid_t attribute);
bool slci_h5_dataset_is_sound(hid_t dataset);

/* Whether values of a type are of variable length, in whole or in part. */
bool slci_h5_is_variable(hid_t type);

#endif
