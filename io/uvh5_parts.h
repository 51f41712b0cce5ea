/* Internal: the two halves of the UVH5 writer. uvh5_header_write.c writes what does not grow with the
 * rows; uvh5_write.c stages and writes the rows. All calls are made with the HDF5 lock held.
 */
#ifndef SLC_IO_UVH5_PARTS_H
#define SLC_IO_UVH5_PARTS_H

#include <hdf5.h>
#include <stdint.h>

#include "io/h5_output.h"
#include "io/uvh5_write.h"

/* That the header describes a set: counts, pointers, and numbers that are numbers.
 * SLC_ERROR_ARGUMENT. */
SLC_MUST_USE slc_status slci_uvh5_check_header(const char *path, const slc_uvh5_header *header);

/* Makes the group /Header and everything in it but the arrays over rows and Nants_data. The caller
 * closes the group. */
SLC_MUST_USE slc_status slci_uvh5_write_header(const slci_h5_output *output,
                                               const slc_uvh5_header *header, hid_t *group);

/* One scalar integer in a group. */
SLC_MUST_USE slc_status slci_uvh5_write_integer(const slci_h5_output *output, hid_t group,
                                                const char *name, int64_t value);

#endif
