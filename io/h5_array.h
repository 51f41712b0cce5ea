/* One dataset of an HDF5 file as a source, and as a sink in a new file. Any rank up to
 * SLC_MAX_RANK, and every element type of core/dtype.h that HDF5 can hold: integers, floats of
 * three sizes, and compounds of two floats as complex numbers, in either byte order. What is
 * filtered is decoded as it is read; a filter that is missing is named when the dataset is opened.
 *
 *     const slc_h5_array_options options = {.path = "in.h5", .dataset = "/data"};
 *     SLC_TRY(slc_h5_array_open(&options, &source));
 *     const slc_h5_array_output output = {.path = "out.h5", .dataset = "/v", .layout = layout};
 *     SLC_TRY(slc_h5_array_create(&output, &sink));
 */
#ifndef SLC_IO_H5_ARRAY_H
#define SLC_IO_H5_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"
#include "core/log.h"
#include "core/source.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are lent for the call. */
typedef struct slc_h5_array_options {
    const char *path;
    const char *dataset; /* "/a/b"; a leading slash may be left out */
    slc_log *log;        /* may be NULL */
} slc_h5_array_options;

/* Opens for reading: one field of the dataset's shape, its natural units the chunks.
 * SLC_ERROR_INPUT: no such file or dataset (the nearest names are given), or damaged;
 * SLC_ERROR_UNSUPPORTED: a type that is no number, a filter that is missing, too many dimensions. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_open(const slc_h5_array_options *options,
                                                  slc_source **out);

/* Of a source made here: bytes that the file stores for the dataset. */
SLC_API int64_t slc_h5_array_stored_bytes(const slc_source *source);

/* Whether the elements are an enum's, as booleans mostly are in a file. */
SLC_API bool slc_h5_array_is_enum(const slc_source *source);

/* Likewise: what the chunks that hold one index of dimension `axis` take decoded; 0 where nothing
 * is filtered, so that nothing is gained from keeping them. */
SLC_API int64_t slc_h5_array_row_bytes(const slc_source *source, int axis);

/* Makes the source keep that many decoded bytes, those read last, so that boxes which end within a
 * chunk need not decode it twice; before the first read of the dataset. At first it keeps none.
 * SLC_ERROR_MEMORY, SLC_ERROR_INPUT. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_set_cache(slc_source *source, int64_t bytes);

/* A dataset to be written, alone in its file. All pointers are lent for the call. */
typedef struct slc_h5_array_output {
    const char *path;
    const char *dataset;         /* as above; groups on the way are made */
    slc_layout layout;           /* dense; complex numbers become compounds {r, i} */
    int64_t chunk[SLC_MAX_RANK]; /* all zero: contiguous */
    bool overwrite;              /* may replace a file that exists */
} slc_h5_array_output;

/* Before anything is computed: that the file can be written, has room, and may have its name.
 * SLC_ERROR_OUTPUT; SLC_ERROR_ARGUMENT for a name or type that HDF5 cannot hold. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_check(const slc_h5_array_output *output);

/* Makes the file under a temporary name, its whole size reserved, all elements zero. The commit
 * gives it its name; without one nothing is left. Equal contents are equal bytes: no times are
 * stored. The statuses are those of slc_h5_array_check, and SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_create(const slc_h5_array_output *output,
                                                    slc_sink **out);

#ifdef __cplusplus
}
#endif
#endif
