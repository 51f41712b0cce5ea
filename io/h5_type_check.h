/* Whether the description of an element type, as it stands in a file, agrees with itself. HDF5 1.10
 * believes it: of an enum whose elements are said to be larger than its values it copies past the end.
 * Internal to io/h5_object_check.c.
 *
 *     if (!slci_h5_type_check(message, n_bytes, 8)) { ... damaged ... }
 */
#ifndef SLC_IO_H5_TYPE_CHECK_H
#define SLC_IO_H5_TYPE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* bytes [n]: a datatype message of versions 1 to 3 of the file format (section IV.A.2.d). Later
 * ones are true unseen where this HDF5 knows them; what it does not know is false, since of an
 * attribute whose type it cannot read it frees, when the file is closed, what it has not allocated. */
bool slci_h5_type_check(const unsigned char *bytes, size_t n, size_t address_bytes);

#endif
