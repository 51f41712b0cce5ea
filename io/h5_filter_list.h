/* Filters as HDF5's lists and Sluice's encoders have them. Internal to io.
 *
 *     SLC_TRY(slci_h5_filter_check(&filter));
 *     slci_h5_filter_pipeline(&filter, chunk_bytes, element_bytes, &pipeline);
 */
#ifndef SLC_IO_H5_FILTER_LIST_H
#define SLC_IO_H5_FILTER_LIST_H

#include "io/chunk_codec.h"
#include "io/h5_file.h"
#include "io/h5_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The level, the usual one in place of 0. */
int slci_h5_filter_level(const slc_h5_filter *filter);

/* SLC_ERROR_ARGUMENT for a kind or level that there is not. */
SLC_MUST_USE slc_status slci_h5_filter_check(const slc_h5_filter *filter);

/* What is done to chunks of `chunk_bytes`; empty where nothing is. `filter` is not AS_INPUT. */
void slci_h5_filter_pipeline(const slc_h5_filter *filter, int64_t chunk_bytes,
                             int64_t element_bytes, slci_chunk_pipeline *out);

/* With the lock: the filters of a dataset's creation list into `pipeline`, whose sizes stay as they
 * are. n_filters is how many there are; of more than SLCI_CHUNK_MAX_FILTERS the first ones are given.
 * False where HDF5 fails, whose reason stands. */
bool slci_h5_filter_read(slci_h5_id list, slci_chunk_pipeline *pipeline);

/* The filter that does what this pipeline does, if stock HDF5 encodes and reads it and so does Sluice;
 * else deflate. */
void slci_h5_filter_of_pipeline(const slci_chunk_pipeline *pipeline, slc_h5_filter *out);

#ifdef __cplusplus
}
#endif
#endif
