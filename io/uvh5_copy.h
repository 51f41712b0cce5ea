/* A UVH5 file with other visibilities: header, flags and samples of one file, visdata from a sink.
 * Everything in the file is taken over as it is stored, attributes and objects that Sluice does not
 * know included; visdata alone is made anew, in the file's own type, chunks and filters where they
 * can hold and encode it. The file appears whole or not at all.
 *
 *     SLC_TRY(slc_uvh5_copy_open(&options, &sink));       // looks and checks
 *     SLC_TRY(slc_uvh5_copy_begin(sink));                 // makes the file
 *     ... slc_sink_write, slc_sink_commit ...
 */
#ifndef SLC_IO_UVH5_COPY_H
#define SLC_IO_UVH5_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "core/source.h"
#include "core/status.h"
#include "io/h5_files.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are lent for the sink's life. */
typedef struct slc_uvh5_copy_options {
    const char *in_path;
    const char *out_path; /* NULL: nothing is to be written, as in a dry run */
    /* For rows of whole chunks, at most; 0: 64 MiB. Larger filtered chunks get fewer rows, so the bytes
     * of the file depend on it. */
    int64_t staging_bytes;
    bool overwrite;
    slc_log *log; /* may be NULL */
} slc_uvh5_copy_options;

/* What of the input is copied: all of it. The path is lent. */
SLC_API slc_h5_reading slc_uvh5_copy_reading(const char *path);

/* What is written where; lent. */
typedef struct slc_uvh5_copy_info {
    char hands[64];        /* "XX, YY": what gets the model's intensity; others are 0 */
    double hand_factor;    /* of the intensity: 1, or 1/2 where the file says I = XX + YY */
    char type_text[64];    /* of visdata as written */
    char units[32];        /* vis_units of the header, "" where it has none */
    int64_t staging_bytes; /* that the sink takes, and must have at least */
    int64_t least_staging_bytes;
    int64_t output_bytes; /* of the file, about */
} slc_uvh5_copy_info;

/* Opens the input and checks that the output can be made. The sink takes Stokes I as c128 [row,
 * channel], channels of all spectral windows in the file's order; rows best come in rising order.
 * SLC_ERROR_INPUT, SLC_ERROR_UNSUPPORTED (no UVH5, several phase centres in use, no parallel hand),
 * SLC_ERROR_OUTPUT, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_uvh5_copy_open(const slc_uvh5_copy_options *options,
                                                   slc_sink **out);
SLC_API const slc_uvh5_copy_info *slc_uvh5_copy_get_info(const slc_sink *sink);

/* Before the begin: stages no more rows than it must, those of a row of filtered chunks or a MiB of
 * others, which leaves the bytes of the file as they are. */
SLC_API void slc_uvh5_copy_stage_least(slc_sink *sink);

/* Makes the output under a temporary name, with everything but visdata. SLC_ERROR_OUTPUT. */
SLC_API SLC_MUST_USE slc_status slc_uvh5_copy_begin(slc_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
