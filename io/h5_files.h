/* Files that reading an HDF5 file needs besides that file: those behind external links, the sources of
 * virtual datasets, raw files with elements. An output that replaced one of them would take its own
 * input away, which the names on a command line do not show.
 *
 *     const char *const names[] = {"/data"};
 *     const slc_h5_reading reading = {.path = "in.h5", .names = names, .n_names = 1};
 *     SLC_TRY(slc_h5_files_exclude(&reading, outputs, n_outputs));
 */
#ifndef SLC_IO_H5_FILES_H
#define SLC_IO_H5_FILES_H

#include <stdbool.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What of a file is read: datasets, and groups with all that is in them. A name that is not there is
 * left out. Everything is lent. */
typedef struct slc_h5_reading {
    const char *path;
    const char *const *names; /* [n_names] */
    int n_names;
    bool reads_rest; /* and what else is in the group of each */
} slc_h5_reading;

/* That none of `outputs` [n_outputs], of which some may be NULL, is a file that what is read lies in,
 * or that the way to it leads through. Links and virtual datasets are followed as far as they go;
 * without an output that exists, and where `path` is not HDF5, nothing is looked at. What is damaged
 * is left to the reader, which refuses it. SLC_ERROR_ARGUMENT names the output and the dataset;
 * SLC_ERROR_INPUT where the file cannot be opened, SLC_ERROR_MEMORY. Takes the lock of HDF5. */
SLC_API SLC_MUST_USE slc_status slc_h5_files_exclude(const slc_h5_reading *reading,
                                                     const char *const *outputs, int n_outputs);

#ifdef __cplusplus
}
#endif
#endif
