/* Headers of objects, looked at before HDF5 opens them: where one of the older form, which has no
 * checksums, describes an element type that contradicts itself, HDF5 1.10 crashes. Internal to
 * io/h5_*.c and io/uvh5*.c; with the lock.
 *
 *     if (!slci_h5_object_check(file, "/g/x")) { ... io/h5_reason.h says why ... }
 */
#ifndef SLC_IO_H5_OBJECT_CHECK_H
#define SLC_IO_H5_OBJECT_CHECK_H

#include <hdf5.h>
#include <stdbool.h>

/* Whether an object of the file that `place` is in may be opened, its attributes too; "." is `place`
 * itself. True for one in another file, behind an external link, and for headers of the newer form,
 * whose checksums HDF5 checks. */
bool slci_h5_object_check(hid_t place, const char *name);

/* The same of what a reference of that file leads to. */
bool slci_h5_object_check_reference(hid_t place, const hobj_ref_t *reference);

#endif
