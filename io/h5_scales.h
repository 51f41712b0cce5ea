/* Labels and dimension scales of a dataset, for another one whose dimensions come from it. Internal to
 * io/h5_*.c.
 */
#ifndef SLC_IO_H5_SCALES_H
#define SLC_IO_H5_SCALES_H

#include <hdf5.h>
#include <stdbool.h>

#include "io/h5_array.h"
#include "io/h5_data.h"
#include "io/h5_output.h"

/* Attributes that say something of dimensions, and are not copied as they are; ends with NULL. */
extern const char *const slci_h5_scale_attributes[];

/* With the lock: to the open dataset `to` of `file`, from the open template `from`, by
 * output->origin. False where HDF5 fails, whose reason stands then; `failed` says at what, and
 * is "" where there was no memory. */
bool slci_h5_copy_scales(const slc_h5_array_output *output, hid_t from, const slci_h5_output *file,
                         hid_t to, char failed[SLCI_H5_NAME_BYTES]);

#endif
