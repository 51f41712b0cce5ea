/* Types, shapes and lists of an object for one in another file. Those that HDF5 1.10 gives still
 * say where in the first file they stand: a type that its headers share, a group's heap of links.
 * Made an object of in another file, they lead to whatever is there. Internal to io/h5_*.c; all
 * with the lock.
 *
 *     const hid_t type = slci_h5_detached_type(H5Aget_type(attribute));
 */
#ifndef SLC_IO_H5_DETACHED_H
#define SLC_IO_H5_DETACHED_H

#include <hdf5.h>

/* Each closes what it is given, which may be negative, and is negative where HDF5 fails or for want of
 * memory. A type with a name becomes one without. */
hid_t slci_h5_detached_type(hid_t type);
hid_t slci_h5_detached_space(hid_t space);
hid_t slci_h5_detached_group_list(hid_t list);

#endif
