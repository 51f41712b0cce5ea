/* What a rewriting did, for machines (JSON) and for people (the plan). docs/stats.md explains every
 * key. */
#include "app/array_output.h"
#include "app/rewrite.h"
#include "app/run_stats.h"
#include "core/print.h"

/* ---- JSON ------------------------------------------------------------------------------------- */

static void write_pass_plan(slci_json *json, const slc_rewrite_result *result, int p) {
    const slc_rewrite_pass *pass = &result->pass[p];
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    slci_json_open(json, NULL, '{');
    slci_stats_plan_shape(json, &pass->plan, axes.name);
    slci_json_i64(json, "vram_peak_bytes", pass->plan.device_peak_bytes);
    slci_stats_staging(json, &pass->plan);
    slci_json_i64(json, "most_reads_of_a_chunk", pass->most_reads);
    slci_json_i64(json, "most_writes_of_a_chunk", pass->most_writes);
    slci_stats_plan_cost(json, &pass->plan);
    slci_json_close(json, '}');
}

static void write_plan(slci_json *json, const slc_rewrite_result *result) {
    const slc_plan *plan = &result->pass[0].plan;
    int64_t vram_peak_bytes = 0;
    slci_json_open(json, "plan", '{');
    slci_json_open(json, "passes", '[');
    for (int p = 0; p < result->n_passes; p++) {
        write_pass_plan(json, result, p);
        vram_peak_bytes = result->pass[p].plan.device_peak_bytes > vram_peak_bytes
                              ? result->pass[p].plan.device_peak_bytes
                              : vram_peak_bytes;
    }
    slci_json_close(json, ']');
    slci_json_text(json, "store", slc_rewrite_store_name(result->store));
    slci_json_i64(json, "store_bytes", result->store_bytes);
    slci_json_text(json, "why", result->why);
    slci_json_i64(json, "vram_peak_bytes", vram_peak_bytes);
    slci_json_i64(json, "vram_smallest_bytes", plan->smallest_device_bytes);
    slci_json_i64(json, "host_peak_bytes", result->memory.host_planned_bytes);
    slci_json_i64(json, "ram_smallest_bytes", result->memory.smallest_ram_bytes);
    slci_json_close(json, '}');
}

static void write_stats(slci_json *json, const slc_rewrite_result *result) {
    const slc_engine_report *report = &result->report;
    int64_t order[SLC_MAX_RANK];
    for (int d = 0; d < result->out.rank; d++) {
        order[d] = result->order[d];
    }
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "device", result->device_name);
    slci_json_bool(json, "resumed", result->is_resumed);
    slci_stats_memory(json, &result->memory, report);
    slci_json_i64(json, "tiles", report->n_tiles);
    slci_json_i64(json, "passes", result->n_passes);
    slci_json_i64(json, "chunks_read", result->chunks_read);
    slci_json_i64(json, "chunks_decoded", result->chunks_decoded);
    slci_json_i64(json, "bytes_stored", result->bytes_stored);
    slci_stats_reader(json, &result->reader);
    slci_stats_moved(json, report);
    slci_json_i64(json, "bytes_written", report->bytes_written);
    slci_json_open(json, "seconds", '{');
    slci_json_f64(json, "total", result->total_seconds);
    slci_json_f64(json, "rewrite", report->seconds_total);
    slci_stats_stages(json, report, result->write_seconds);
    slci_json_close(json, '}');
    slci_json_f64(json, "overlap", slc_engine_overlap(report));
    slci_json_text(json, "bottleneck", slc_bottleneck_name(slc_engine_bottleneck(report)));
    slci_json_text(json, "dtype", slc_dtype_name(result->out.dtype));
    slci_json_text(json, "data_dtype", slc_dtype_name(result->in.dtype));
    slci_json_i64(json, "became_infinite", result->n_infinite);
    slci_json_i64_list(json, "data_shape", result->in.shape, result->in.rank);
    slci_json_i64_list(json, "shape", result->out.shape, result->out.rank);
    slci_json_i64_list(json, "axes", order, result->out.rank);
    slci_json_i64_list(json, "chunk", result->stored.chunk,
                       result->stored.chunk[0] > 0 ? result->out.rank : 0);
    slci_stats_stored(json, &result->stored, slc_layout_bytes(&result->out));
    write_plan(json, result);
    slci_json_close(json, '}');
}

static void stats_to(FILE *out, const void *context) {
    slci_json json = {.file = out};
    write_stats(&json, context);
}

/* ---- the plan --------------------------------------------------------------------------------- */

static void array_line(FILE *out, const char *name, const slc_layout *layout,
                       const int64_t *chunk) {
    char extents[SLCI_EXTENTS_BYTES];
    char rest[SLCI_EXTENTS_BYTES + 32] = ", in one piece";
    if (layout->rank > 0 && chunk[0] > 0) {
        slci_stats_extents(chunk, layout->rank, extents);
        (void)slci_print(rest, sizeof rest, ", in chunks of %s", extents);
    }
    slci_stats_shape_line(out, name, layout, rest);
}

static void pass_lines(FILE *out, const slc_rewrite_result *result, int p) {
    const slc_rewrite_pass *pass = &result->pass[p];
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    if (result->n_passes > 1) {
        (void)fprintf(out, "pass %d of %d, %s the store\n", p + 1, result->n_passes,
                      p == 0 ? "into" : "out of");
    }
    slci_stats_tile_lines(out, &pass->plan, &axes);
    (void)fprintf(out, "  %-22s %lld time(s) at most\n", "a chunk is read",
                  (long long)pass->most_reads);
    (void)fprintf(out, "  %-22s %lld tile(s) at most\n", "a chunk is written by",
                  (long long)pass->most_writes);
    slci_stats_byte_line(out, "device memory", pass->plan.device_peak_bytes, " at most (--vram)");
    slci_stats_byte_line(out, "read and decoded", pass->plan.bytes_read, "");
    slci_stats_byte_line(out, "to the device", pass->plan.bytes_h2d, "");
    slci_stats_byte_line(out, "from the device", pass->plan.bytes_d2h, "");
    slci_stats_time_line(out, &pass->plan);
}

static void plan_to(FILE *out, const void *context) {
    const slc_rewrite_result *result = context;
    (void)fprintf(out, "plan for %s\n", result->device_name);
    array_line(out, "data", &result->in, result->in_chunk);
    array_line(out, "result", &result->out, result->stored.chunk);
    slci_stats_filter_line(out, &result->stored);
    (void)fprintf(out, "  %-22s %d, %s\n", "passes", result->n_passes,
                  result->n_passes > 0 ? result->why : "there are no elements");
    if (result->store != SLC_REWRITE_DIRECT) {
        slci_stats_byte_line(out, "between them", result->store_bytes,
                             result->store == SLC_REWRITE_MEMORY ? " of host memory"
                                                                 : " beside the output");
    }
    slci_stats_smallest_lines(out, &result->pass[0].plan, &result->memory);
    slci_stats_byte_line(out, "host memory", result->memory.host_planned_bytes, " at most (--ram)");
    for (int p = 0; p < result->n_passes; p++) {
        pass_lines(out, result, p);
    }
}

slc_status slc_rewrite_stats_json(const slc_rewrite_result *result, char **out) {
    return slci_stats_text(stats_to, result, out);
}

slc_status slc_rewrite_plan_text(const slc_rewrite_result *result, char **out) {
    return slci_stats_text(plan_to, result, out);
}
