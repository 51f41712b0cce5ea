/* What a run of statistics did, for machines (JSON) and for people (the plan). docs/stats.md explains
 * every key. */
#include "app/run_stats.h"
#include "app/stats.h"

static void write_plan(slci_json *json, const slc_stats_result *result) {
    const slc_plan *plan = &result->plan;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    slci_json_open(json, "plan", '{');
    slci_stats_plan_shape(json, plan, axes.name);
    slci_json_i64(json, "vram_peak_bytes", plan->device_peak_bytes);
    slci_stats_staging(json, plan);
    slci_json_i64(json, "vram_smallest_bytes", plan->smallest_device_bytes);
    slci_json_i64(json, "host_peak_bytes", result->memory.host_planned_bytes);
    slci_json_i64(json, "ram_smallest_bytes", result->memory.smallest_ram_bytes);
    slci_stats_plan_cost(json, plan);
    slci_json_close(json, '}');
}

static void run_to(FILE *out, const void *context) {
    const slc_stats_result *result = context;
    const slc_engine_report *report = &result->report;
    slci_json writer = {.file = out};
    slci_json *json = &writer;
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "device", result->device_name);
    slci_json_bool(json, "resumed", result->is_resumed);
    slci_stats_memory(json, &result->memory, report);
    slci_json_i64(json, "tiles", report->n_tiles);
    slci_json_i64(json, "passes", result->n_passes);
    slci_json_i64(json, "slots", result->plan.n_slots);
    slci_json_i64(json, "chunks_read", result->chunks_read);
    slci_json_i64(json, "chunks_decoded", result->chunks_decoded);
    slci_json_i64(json, "bytes_stored", result->bytes_stored);
    slci_stats_reader(json, &result->reader);
    slci_stats_moved(json, report);
    slci_json_open(json, "seconds", '{');
    slci_json_f64(json, "total", result->total_seconds);
    slci_json_f64(json, "passes", report->seconds_total);
    slci_stats_stages(json, report, 0);
    slci_json_close(json, '}');
    slci_json_f64(json, "overlap", slc_engine_overlap(report));
    slci_json_text(json, "bottleneck", slc_bottleneck_name(slc_engine_bottleneck(report)));
    slci_json_i64(json, "elements", result->n);
    slci_json_text(json, "dtype", slc_dtype_name(result->data.dtype));
    slci_json_i64_list(json, "data_shape", result->data.shape, result->data.rank);
    write_plan(json, result);
    slci_json_close(json, '}');
}

/* ---- the plan ----------------------------------------------------------------------------------- */

static void plan_to(FILE *out, const void *context) {
    const slc_stats_result *result = context;
    const slc_plan *plan = &result->plan;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    (void)fprintf(out, "plan for %s\n", result->device_name);
    slci_stats_shape_line(out, "data", &result->data, "");
    slci_stats_tile_lines(out, plan, &axes);
    (void)fprintf(out, "  %-22s about %d\n", "passes over the data", result->n_passes);
    slci_stats_byte_line(out, "device memory", plan->device_peak_bytes, " at most (--vram)");
    slci_stats_smallest_lines(out, plan, &result->memory);
    slci_stats_byte_line(out, "host memory", result->memory.host_planned_bytes, " at most (--ram)");
    slci_stats_byte_line(out, "read, each pass", plan->bytes_read, "");
    slci_stats_byte_line(out, "to the device", plan->bytes_h2d, "");
    slci_stats_time_line(out, plan);
}

slc_status slc_stats_run_json(const slc_stats_result *result, char **out) {
    return slci_stats_text(run_to, result, out);
}

slc_status slc_stats_plan_text(const slc_stats_result *result, char **out) {
    return slci_stats_text(plan_to, result, out);
}
