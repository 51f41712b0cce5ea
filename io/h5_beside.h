/* Files that one HDF5 file names, where HDF5 looks for them: by an absolute name, in the folders that a
 * variable of the environment or the access list of a dataset says, beside the file, from here, and
 * beside what the file is a link to. An absolute name that leads nowhere any more counts by its last
 * part, as in files that were moved together. Internal to io/h5_*.c; all with the lock.
 *
 *     char why[SLCI_H5_BESIDE_WHY_BYTES];
 *     const slci_h5_id file = slci_h5_open_linked("in.h5", "source.h5", why);
 */
#ifndef SLC_IO_H5_BESIDE_H
#define SLC_IO_H5_BESIDE_H

#include <stdbool.h>

#include "io/h5_file.h"
#include "io/outfile.h"

#define SLCI_H5_BESIDE_WHY_BYTES 256

/* What external links and virtual datasets of a file lead to, for reading. Negative where there is none
 * that HDF5 can open; `why` is what HDF5 says of the first one that is there, "" where none is. A
 * source of a virtual dataset, which is open, may be in its own file. The caller closes. */
slci_h5_id slci_h5_open_linked(const char *path, const char *name,
                               char why[SLCI_H5_BESIDE_WHY_BYTES]);
slci_h5_id slci_h5_open_source(slci_h5_id set, const char *name,
                               char why[SLCI_H5_BESIDE_WHY_BYTES]);

/* The raw file of an open dataset's elements that is of this name in the dataset. False where HDF5 does
 * not say in which folder it looks, or where the whole name is longer than any. */
bool slci_h5_raw_file(slci_h5_id set, const char *name, char out[SLC_PATH_BYTES]);

#endif
