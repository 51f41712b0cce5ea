/* What the statistics of every job say alike: what moved, stages, the plan. docs/stats.md lists the
 * keys. Internal to app.
 *
 *     slci_json_open(&json, NULL, '{');
 *     slci_stats_moved(&json, &report);
 */
#ifndef SLC_APP_RUN_STATS_H
#define SLC_APP_RUN_STATS_H

#include <stdio.h>

#include "app/json.h"
#include "app/run_options.h"
#include "core/numerics.h"
#include "core/status.h"
#include "io/vis.h"
#include "ooc/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members in the order of the keys; `json` has an open object. */

/* context_bytes, then limit and peak of device and host memory, and pageable_bytes. */
void slci_stats_memory(slci_json *json, const slc_run_memory *memory,
                       const slc_engine_report *report);

/* numerics, one key an entry of the record. */
void slci_stats_numerics(slci_json *json, const slc_numerics *record);

/* outside_single_precision: how many of each kind [SLC_VIS_N_OUTSIDE]. */
void slci_stats_outsiders(slci_json *json, const slc_vis_outsiders *outside);

/* reader: path and why. */
void slci_stats_reader(slci_json *json, const slc_run_reader *reader);

/* Of a source of slc_h5_array_open. */
void slci_stats_take_reader(const slc_source *source, slc_run_reader *out);

/* bytes_read … bytes_d2h. */
void slci_stats_moved(slci_json *json, const slc_engine_report *report);

/* read, h2d, kernel, d2h, and write with `more_write_seconds` added. */
void slci_stats_stages(slci_json *json, const slc_engine_report *report, double more_write_seconds);

/* A result's names of axes, as pointers to them. */
typedef struct slci_axis_names {
    const char *name[SLC_MAX_AXES];
} slci_axis_names;
slci_axis_names slci_stats_axis_names(const char (*names)[SLC_AXIS_NAME_BYTES]);

/* tile and order, by the names of the axes [n_axes]; then tiles, passes and slots. */
void slci_stats_plan_shape(slci_json *json, const slc_plan *plan, const char *const *axis_names);

/* staging_bytes: what of the plan's host memory is neither kept tiles nor mapped arrays. */
void slci_stats_staging(slci_json *json, const slc_plan *plan);

/* bytes_read, bytes_tier, bytes_h2d, bytes_d2h; then chunk_reads_per_pass, seconds and bottleneck. */
void slci_stats_plan_cost(slci_json *json, const slc_plan *plan);

/* The lines of a plan for people. "1024 x 64": values [n], at most SLC_MAX_RANK of them. */
#define SLCI_EXTENTS_BYTES 192
void slci_stats_extents(const int64_t *values, int n, char text[SLCI_EXTENTS_BYTES]);

/* An array's shape, type and bytes under a name, and what follows them. */
void slci_stats_shape_line(FILE *out, const char *name, const slc_layout *layout, const char *rest);

/* Two lines: the extents of a tile, as in "1024 dim_0 x 64 dim_1"; tiles along each axis, and slots. */
void slci_stats_tile_lines(FILE *out, const slc_plan *plan, const slci_axis_names *axes);

/* A name, an amount of bytes, and what follows it. */
void slci_stats_byte_line(FILE *out, const char *name, int64_t bytes, const char *rest);

/* Two lines: the least --vram and the least --ram that work. */
void slci_stats_smallest_lines(FILE *out, const slc_plan *plan, const slc_run_memory *memory);

/* The last line of a plan: expected time and bottleneck. */
void slci_stats_time_line(FILE *out, const slc_plan *plan);

/* What writer(file, context) writes, as a string that the caller frees. SLC_ERROR_MEMORY. */
typedef void (*slci_text_writer)(FILE *out, const void *context);
SLC_MUST_USE slc_status slci_stats_text(slci_text_writer writer, const void *context, char **out);

#ifdef __cplusplus
}
#endif
#endif
