/* Internal: what the files of the UVH5 copy share. uvh5_copy.c is the sink; uvh5_copy_input.c looks at
 * the input; uvh5_copy_objects.c takes over what is not visdata.
 */
#ifndef SLC_IO_UVH5_COPY_PARTS_H
#define SLC_IO_UVH5_COPY_PARTS_H

#include <hdf5.h>

#include "core/file.h"
#include "io/h5_data.h"
#include "io/h5_output.h"
#include "io/outfile.h"
#include "io/uvh5_copy.h"

#define SLCI_UVH5_MAX_POLARISATIONS 64

typedef struct slci_uvh5_copy {
    slc_sink base;
    slc_uvh5_copy_options options;
    slc_uvh5_copy_info info;
    slci_file_stamp stamp;
    slci_h5_id input; /* 0: not open */
    slci_h5_dataset vis;
    int n_polarisations;
    double factor[SLCI_UVH5_MAX_POLARISATIONS]; /* of the intensity, for each polarisation */
    slci_element type;                          /* of visdata as written */
    bool keeps_type, keeps_filters;
    int64_t chunk[SLC_MAX_RANK]; /* as written; 0: contiguous */
    int64_t row_bytes;

    slc_outfile file;
    slci_h5_output *output; /* NULL: not open */
    hid_t dataset, file_type, file_space;
    unsigned char *staged;          /* [stage_rows, row_bytes] */
    int64_t stage_rows, least_rows; /* that are staged, and must be at least */
    int64_t first_staged, n_staged; /* rows in it */
    int64_t n_written;
} slci_uvh5_copy;

/* Opens the input, chooses type, chunks and filters; sizes the staging. */
SLC_MUST_USE slc_status slci_uvh5_copy_look(slci_uvh5_copy *copy);

/* With the lock held: makes everything in the output but visdata, and gives the group /Data, which the
 * caller closes. */
SLC_MUST_USE slc_status slci_uvh5_copy_objects(slci_uvh5_copy *copy, hid_t *data_group);

#endif
