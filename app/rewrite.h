/* One array of a file written anew into another: its dimensions in another order (`sluice transpose`),
 * or stored otherwise (`sluice repack`). The array may be larger than every budget. Where a tile that
 * fits can hold whole chunks of both sides, it is done in one pass; where it cannot, in two: through
 * host memory, or where that is too small through a nameless file beside the output, so that no chunk
 * is read or written in scraps.
 *
 *     slc_rewrite_options options = {.in = {"in.h5", "/data"}, .n_axes = 2, .axes = {1, 0},
 *                                    .out_path = "out.h5", .out = "/data"};
 *     options.run.vram_bytes = 256 << 20; options.run.ram_bytes = 1 << 30;
 *     SLC_TRY(slc_rewrite_run(&options, &result));
 */
#ifndef SLC_APP_REWRITE_H
#define SLC_APP_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/array_form.h"
#include "app/array_name.h"
#include "app/run_options.h"
#include "core/layout.h"
#include "core/status.h"
#include "ooc/engine.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are lent for the call. Files are HDF5, names of datasets absolute. */
typedef struct slc_rewrite_options {
    slc_array_name in;
    const char *out_path, *out;
    bool is_reversed; /* dimensions in reversed order; n_axes is 0 then */
    int n_axes;       /* 0: dimensions stay in their order */
    /* Dimension d of the output is dimension axes[d] of the input (of its slice), each once; below 0
     * counted from the end. */
    int axes[SLC_MAX_RANK];
    slc_array_form form; /* zeros: the input's chunks in the new order, and its filter */
    bool converts;       /* elements become `dtype`, by the rules of core/convert.h */
    slc_dtype dtype;
    /* With `converts`, in the file; without, the type stays as the data's file has it. */
    bool is_big_endian;
    bool copies_rest; /* what else is in the input's group goes to the output's */
    bool saturates; /* to integers: a value out of range becomes the nearest, instead of an error */
    slc_run_options run;
} slc_rewrite_options;

/* Where the array is between two passes. */
typedef enum slc_rewrite_store {
    SLC_REWRITE_DIRECT, /* there is one pass only */
    SLC_REWRITE_MEMORY,
    SLC_REWRITE_FILE
} slc_rewrite_store;

/* "direct", "memory", "file". Static storage. */
SLC_API const char *slc_rewrite_store_name(slc_rewrite_store store);

#define SLC_REWRITE_PASSES 2
typedef struct slc_rewrite_pass {
    slc_plan plan;
    slc_engine_report report;
    int64_t most_reads;  /* of a unit of what is read, for the unit that most tiles share */
    int64_t most_writes; /* likewise of what is written */
} slc_rewrite_pass;

/* What the run did; plain data. */
typedef struct slc_rewrite_result {
    slc_layout in, out;
    int order[SLC_MAX_RANK];
    int64_t in_chunk[SLC_MAX_RANK]; /* of the dimensions of `in`; zeros: none */
    slc_array_stored stored;
    int n_passes; /* 0: there are no elements */
    slc_rewrite_pass pass[SLC_REWRITE_PASSES];
    slc_rewrite_store store;
    int64_t store_bytes;
    char why[160];            /* one clause: why so many passes */
    slc_engine_report report; /* of all passes */
    char axis_names[SLC_MAX_AXES][SLC_AXIS_NAME_BYTES];
    bool is_resumed;
    char device_name[128];
    slc_run_memory memory;
    int64_t chunks_read, chunks_decoded, bytes_stored; /* of the data */
    slc_run_reader reader;                             /* of the data */
    int64_t n_infinite; /* elements that were finite before their conversion */
    double total_seconds, write_seconds;
} slc_rewrite_result;

/* Runs the job. The output appears whole or not at all, and on failure `result` is not touched.
 * SLC_ERROR_INPUT for an element that `dtype` cannot hold names its place and value. */
SLC_API SLC_MUST_USE slc_status slc_rewrite_run(const slc_rewrite_options *options,
                                                slc_rewrite_result *result);

/* The statistics of a run as JSON (docs/stats.md lists the keys), and the plan as text for
 * --dry-run. The caller frees the string with free(). SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_rewrite_stats_json(const slc_rewrite_result *result,
                                                       char **out);
SLC_API SLC_MUST_USE slc_status slc_rewrite_plan_text(const slc_rewrite_result *result, char **out);

#ifdef __cplusplus
}
#endif
#endif
