/* Values of variable length (text, lists) lie in heaps of the file, and what is stored in their place
 * says where. HDF5 1.10 follows that without looking: in a damaged file it copies from anywhere, or
 * goes round for ever. So whatever holds such values is looked at here before HDF5 reads it.
 *
 *     if (!slci_h5_attribute_is_sound(attribute)) { ... slci_h5_output_fail says why ... }
 *
 * Internal to io/h5_*.c and io/uvh5*.c; all with the lock. Each function is true for what has no such
 * values. Where it is false, HDF5's account of errors says why, and slci_h5_is_damaged is true.
 */
#ifndef SLC_IO_H5_HEAP_H
#define SLC_IO_H5_HEAP_H

#include <hdf5.h>
#include <stdbool.h>

bool slci_h5_attribute_is_sound(hid_t attribute);
bool slci_h5_dataset_is_sound(hid_t dataset);

/* An object with all that is below it, attributes included, as H5Ocopy reads it. */
bool slci_h5_object_is_sound(hid_t group, const char *name);

/* Whether the last failure is one of these; and whether it was that the file could not be opened once
 * more, so that nothing is known of what it holds. */
bool slci_h5_is_damaged(void);
bool slci_h5_is_out_of_reach(void);

/* Whether values of a type are of variable length, in whole or in part. */
bool slci_h5_is_variable(hid_t type);

#endif
