/* What a gather did, for machines (JSON) and for people (the plan). docs/stats.md explains every
 * key. */
#include <math.h>

#include "app/gather_job.h"
#include "app/run_stats.h"
#include "core/units.h"

static void write_ways(slci_json *json, const slc_gather_result *result) {
    slci_json_open(json, "placements", '{');
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        const slc_gather_way *way = &result->ways[w];
        if (!way->is_considered) {
            continue;
        }
        slci_json_open(json, slc_sparse_choice_name(way->sparse), '{');
        slci_json_bool(json, "fits", way->is_possible);
        slci_json_f64(json, "seconds", way->is_possible ? way->seconds : (double)NAN);
        slci_json_i64(json, "vram_smallest_bytes", way->smallest_device_bytes);
        slci_json_close(json, '}');
    }
    slci_json_close(json, '}');
}

static void write_plan(slci_json *json, const slc_gather_result *result) {
    const slc_plan *plan = &result->plan;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    slci_json_open(json, "plan", '{');
    slci_stats_plan_shape(json, plan, axes.name);
    slci_json_i64(json, "vram_peak_bytes", plan->device_peak_bytes);
    slci_stats_staging(json, plan);
    slci_json_i64(json, "mapped_bytes", plan->mapped_bytes);
    slci_json_i64(json, "vram_smallest_bytes", plan->smallest_device_bytes);
    slci_json_i64(json, "host_peak_bytes", result->memory.host_planned_bytes);
    slci_json_i64(json, "ram_smallest_bytes", result->memory.smallest_ram_bytes);
    slci_stats_plan_cost(json, plan);
    slci_json_f64(json, "touches", result->touches);
    slci_json_f64(json, "tile_share", result->tile_share);
    slci_json_f64(json, "device_touches_per_second", result->rates.device_touches_per_s);
    slci_json_f64(json, "mapped_touches_per_second", result->rates.mapped_touches_per_s);
    write_ways(json, result);
    slci_json_close(json, '}');
}

static void write_stats(slci_json *json, const slc_gather_result *result) {
    const slc_engine_report *report = &result->report;
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "device", result->device_name);
    slci_json_bool(json, "resumed", result->is_resumed);
    slci_stats_memory(json, &result->memory, report);
    slci_json_i64(json, "mapped_bytes", result->plan.mapped_bytes);
    slci_json_i64(json, "tiles", report->n_tiles);
    slci_json_i64(json, "passes", result->plan.n_passes);
    slci_json_i64(json, "slots", result->plan.n_slots);
    slci_json_i64(json, "chunks_read", result->chunks_read);
    slci_json_i64(json, "chunks_decoded", result->chunks_decoded);
    slci_json_i64(json, "bytes_stored", result->bytes_stored);
    slci_stats_reader(json, &result->reader);
    slci_stats_moved(json, report);
    slci_json_i64(json, "bytes_written", report->bytes_written);
    slci_json_open(json, "seconds", '{');
    slci_json_f64(json, "total", result->total_seconds);
    slci_json_f64(json, "check", result->check_seconds);
    slci_json_f64(json, "gather", report->seconds_total);
    slci_stats_stages(json, report, result->write_seconds);
    slci_json_close(json, '}');
    slci_json_f64(json, "overlap", slc_engine_overlap(report));
    slci_json_text(json, "bottleneck", slc_bottleneck_name(slc_engine_bottleneck(report)));
    slci_json_i64(json, "indices", result->n_index);
    slci_json_text(json, "dtype", slc_dtype_name(result->data.dtype));
    slci_json_i64_list(json, "data_shape", result->data.shape, result->data.rank);
    slci_json_i64_list(json, "index_shape", result->index.shape, result->index.rank);
    slci_json_i64_list(json, "shape", result->out.shape, result->out.rank);
    slci_json_i64_list(json, "chunk", result->stored.chunk,
                       result->stored.chunk[0] > 0 ? result->out.rank : 0);
    slci_stats_stored(json, &result->stored, slc_layout_bytes(&result->out));
    slci_json_text(json, "placement", slc_sparse_choice_name(result->sparse));
    slci_json_text(json, "placement_why", result->why);
    write_plan(json, result);
    slci_json_close(json, '}');
}

static void stats_to(FILE *out, const void *context) {
    slci_json json = {.file = out};
    write_stats(&json, context);
}

/* ---- the plan --------------------------------------------------------------------------------- */

static void chunk_line(FILE *out, const slc_gather_result *result) {
    if (result->out.rank > 0 && result->stored.chunk[0] > 0) {
        char chunk[SLCI_EXTENTS_BYTES];
        slci_stats_extents(result->stored.chunk, result->out.rank, chunk);
        (void)fprintf(out, "  %-22s %s\n", "in chunks of", chunk);
    }
}

static void touches_line(FILE *out, const slc_gather_result *result) {
    char touches[SLCI_TEXT_BYTES];
    char device[SLCI_TEXT_BYTES];
    char mapped[SLCI_TEXT_BYTES];
    slci_format_number(result->touches, 3, touches);
    slci_format_number(result->rates.device_touches_per_s, 3, device);
    slci_format_number(result->rates.mapped_touches_per_s, 3, mapped);
    (void)fprintf(out, "  %-22s %s random, at %s/s resident and %s/s mapped\n", "touches", touches,
                  device, mapped);
}

static void reads_line(FILE *out, const slc_plan *plan) {
    char reads[SLCI_TEXT_BYTES];
    slci_format_number(plan->unit_reads, 3, reads);
    (void)fprintf(out, "  %-22s %s time(s) a pass%s\n", "a chunk is read", reads,
                  plan->unit_reads > 1 ? ": tiles are parts of chunks" : "");
}

static void plan_to(FILE *out, const void *context) {
    const slc_gather_result *result = context;
    const slc_plan *plan = &result->plan;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    (void)fprintf(out, "plan for %s\n", result->device_name);
    slci_stats_shape_line(out, "data", &result->data, "");
    slci_stats_shape_line(out, "indices", &result->index, "");
    slci_stats_shape_line(out, "result", &result->out, "");
    chunk_line(out, result);
    slci_stats_filter_line(out, &result->stored);
    (void)fprintf(out, "  %-22s %s, %s\n", "data is", slc_sparse_choice_name(result->sparse),
                  result->why);
    touches_line(out, result);
    slci_stats_tile_lines(out, plan, &axes);
    if (result->tile_share < 1) {
        char share[SLCI_TEXT_BYTES];
        slci_format_number(100 * result->tile_share, 3, share);
        (void)fprintf(
            out, "  %-22s %s %% of all: the rest holds no index; bytes and time are for these\n",
            "tiles that run", share);
    }
    (void)fprintf(out, "  %-22s %lld\n", "passes over the data", (long long)result->plan.n_passes);
    reads_line(out, plan);
    slci_stats_byte_line(out, "device memory", plan->device_peak_bytes, " at most (--vram)");
    slci_stats_smallest_lines(out, plan, &result->memory);
    slci_stats_byte_line(out, "host memory", result->memory.host_planned_bytes, " at most (--ram)");
    slci_stats_byte_line(out, "of it mapped", plan->mapped_bytes, "");
    slci_stats_byte_line(out, "read and decoded", plan->bytes_read, "");
    slci_stats_byte_line(out, "to the device", plan->bytes_h2d, "");
    slci_stats_byte_line(out, "from the device", plan->bytes_d2h, "");
    slci_stats_time_line(out, plan);
}

slc_status slc_gather_stats_json(const slc_gather_result *result, char **out) {
    return slci_stats_text(stats_to, result, out);
}

slc_status slc_gather_plan_text(const slc_gather_result *result, char **out) {
    return slci_stats_text(plan_to, result, out);
}
