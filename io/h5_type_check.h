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

/* bytes [n]: a datatype message of versions 1 to 3 of the file format (section IV.A.2.d); later ones
 * are true unseen, as are classes that it does not have, since HDF5 refuses them. */
bool slci_h5_type_check(const unsigned char *bytes, size_t n, size_t address_bytes);

#endif
