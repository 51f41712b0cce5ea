/* Objects of a file, looked at before HDF5 opens them: where a header of the older form, which has no
 * checksums, describes an element type that contradicts itself, or where the structures that hold
 * links, attributes and the places of chunks are damaged, HDF5 1.10 crashes or does not come back.
 * Internal to io/h5_*.c and io/uvh5*.c; with the lock.
 *
 *     if (!slci_h5_object_check(file, "/g/x")) { ... io/h5_reason.h says why ... }
 */
#ifndef SLC_IO_H5_OBJECT_CHECK_H
#define SLC_IO_H5_OBJECT_CHECK_H

#include <hdf5.h>
#include <stdbool.h>

/* Whether an object of the file that `place` is in may be opened, its attributes and, of a group, its
 * links looked for; "." is `place` itself. Of a name with several parts the groups on the way are
 * looked at first, in other files too; `place` was when it was opened. */
bool slci_h5_object_check(hid_t place, const char *name);

/* The groups on the way alone, so that HDF5 may look whether there is something of this name; true
 * where there is not. */
bool slci_h5_object_check_way(hid_t place, const char *name);

/* The reason where the file itself cannot be looked into. */
extern const char slci_h5_object_unopened[];

/* The object at an address of that file, which a link or a reference leads to; `what`: for the
 * reason. */
bool slci_h5_object_check_at(hid_t place, haddr_t address, const char *what);

#endif
