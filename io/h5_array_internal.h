/* Names of datasets: how they are written, and what was probably meant. Shared by io/h5_array*.c. */
#ifndef SLC_IO_H5_ARRAY_INTERNAL_H
#define SLC_IO_H5_ARRAY_INTERNAL_H

#include "core/status.h"
#include "io/h5_array.h"
#include "io/h5_data.h"
#include "io/h5_output.h"

/* The absolute name, with one slash before each part. SLC_ERROR_ARGUMENT where a part is missing,
 * "." or "..", or the name is too long. */
SLC_MUST_USE slc_status slci_h5_array_name(const char *name, char out[SLCI_H5_NAME_BYTES]);

/* What to return for a dataset that is not there, or something else: SLC_ERROR_INPUT with the names
 * nearest to it. Takes the lock. */
slc_status slci_h5_array_missing(slci_h5_id file, const char *path, const char *name);

/* io/h5_template.c: what a new dataset takes over from one that is there. The filter that does what the
 * template's does (slci_h5_filter_of_pipeline); none without a template. The statuses are those of
 * slc_h5_array_open. Takes the lock. */
SLC_MUST_USE slc_status slci_h5_template_filter(const char *path, const char *dataset,
                                                slc_h5_filter *out);

/* The template's attributes, to the open dataset `to` of `output`. Takes the lock. */
SLC_MUST_USE slc_status slci_h5_template_copy(const slc_h5_array_output *from,
                                              const slci_h5_output *output, slci_h5_id to);

#endif
