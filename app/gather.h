/* The gather job: elements of an array in a file, taken by a list of indices in another. This is
 * `sluice gather` as a function. The list may be of any rank, repeat itself and be in any order; it
 * is checked before anything runs. The data may be larger than every budget: it is kept whole on
 * the device, read by the device where it lies in host memory, or streamed past, whichever is
 * expected to be faster of what fits. The result is the same bytes either way.
 *
 *     slc_gather_options options = {.data_path = "in.h5", .data = "/data", .index_path = "i.h5",
 *                                   .index = "/i", .out_path = "out.h5", .out = "/v"};
 *     options.run.vram_bytes = 256 << 20; options.run.ram_bytes = 1 << 30;
 *     SLC_TRY(slc_gather_run(&options, &result));
 */
#ifndef SLC_APP_GATHER_H
#define SLC_APP_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "app/array_form.h"
#include "app/run_options.h"
#include "core/layout.h"
#include "core/slice.h"
#include "core/status.h"
#include "ooc/engine.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are lent for the call. Files are HDF5, names of datasets absolute. */
typedef struct slc_gather_options {
    const char *data_path, *data;
    slc_slice data_slice; /* what of the data the list is for; zeros: all of it */
    const char *index_path, *index;
    const char *out_path, *out;
    int axis; /* dimension of the data that is indexed; -1 is the last one, and so on */
    /* The list's last dimension holds full coordinates, and `axis` means nothing. */
    bool is_coordinates;
    slc_array_form form; /* zeros: in one piece; with chunks but no filter, the data's filter */
    slc_run_options run; /* run.sparse: what is done with the data, SLC_SPARSE_STREAMED included */
} slc_gather_options;

/* One way to do it: SLC_SPARSE_RESIDENT, _MAPPED or _STREAMED. */
#define SLC_GATHER_WAYS 3
typedef struct slc_gather_way {
    slc_sparse_choice sparse;
    bool is_considered;                                 /* --sparse did not exclude it */
    bool is_possible;                                   /* within the budgets */
    double seconds;                                     /* expected, where it is possible */
    int64_t smallest_device_bytes, smallest_host_bytes; /* that it needs */
} slc_gather_way;

/* What the run did; plain data. */
typedef struct slc_gather_result {
    slc_layout data, index, out; /* as in the files */
    slc_array_stored stored;
    int axis; /* from 0; -1: coordinates */
    int64_t n_index;
    slc_sparse_choice sparse; /* what was done with the data */
    char why[256];            /* one sentence: why this way */
    double touches;           /* random accesses to the data, about */
    double tile_share;        /* of all tiles, those run: without an index in them none is */
    slc_rates rates;          /* that the plan is made with */
    slc_gather_way ways[SLC_GATHER_WAYS];
    slc_plan plan; /* n_passes: over the data */
    slc_engine_report report;
    char axis_names[SLC_MAX_AXES][SLC_AXIS_NAME_BYTES]; /* of the plan */
    bool is_resumed; /* an earlier run was continued; what was moved counts this run alone */
    char device_name[128];
    slc_run_memory memory; /* planned: the plan's, and the readers' chunk caches */
    int64_t chunks_read, chunks_decoded, bytes_stored; /* of data and list */
    slc_run_reader reader;                             /* of the data */
    double total_seconds, check_seconds, write_seconds;
} slc_gather_result;

/* Runs the job. The output appears whole or not at all, and on failure `result` is not touched.
 * SLC_ERROR_INPUT for an index that is out of range names its position and value; SLC_ERROR_ARGUMENT
 * also where the output would replace a file that the data or the list lies in. */
SLC_API SLC_MUST_USE slc_status slc_gather_run(const slc_gather_options *options,
                                               slc_gather_result *result);

/* The statistics of a run as JSON (docs/stats.md lists the keys), and the plan as text for
 * --dry-run. The caller frees the string with free(). SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_gather_stats_json(const slc_gather_result *result, char **out);
SLC_API SLC_MUST_USE slc_status slc_gather_plan_text(const slc_gather_result *result, char **out);

#ifdef __cplusplus
}
#endif
#endif
