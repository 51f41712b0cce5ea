/* The keys that the statistics of all jobs have, in the order in which docs/stats.md lists them. */
#include "app/run_stats.h"

#include <stdlib.h>

#include "core/print.h"
#include "core/units.h"
#include "io/h5_array.h"

void slci_stats_memory(slci_json *json, const slc_run_memory *memory,
                       const slc_engine_report *report) {
    slci_json_i64(json, "context_bytes", memory->context_bytes);
    slci_json_i64(json, "vram_limit_bytes", memory->vram_limit_bytes);
    slci_json_i64(json, "vram_peak_bytes", memory->vram_peak_bytes);
    slci_json_i64(json, "ram_limit_bytes", memory->ram_limit_bytes);
    slci_json_i64(json, "host_peak_bytes", memory->host_peak_bytes);
    slci_json_i64(json, "pageable_bytes", report->pageable_bytes);
}

void slci_stats_numerics(slci_json *json, const slc_numerics *record) {
    slci_json_open(json, "numerics", '{');
    for (int i = 0; i < record->n_entries; i++) {
        slci_json_text(json, record->name[i], record->value[i]);
    }
    slci_json_close(json, '}');
}

void slci_stats_outsiders(slci_json *json, const slc_vis_outsiders *outside) {
    static const char *const names[SLC_VIS_N_OUTSIDE] = {
        [SLC_VIS_VALUE_TOO_LARGE] = "values_too_large",
        [SLC_VIS_VALUE_TOO_SMALL] = "values_too_small",
        [SLC_VIS_WEIGHT_TOO_LARGE] = "weights_too_large",
        [SLC_VIS_WEIGHT_TOO_SMALL] = "weights_too_small"};
    slci_json_open(json, "outside_single_precision", '{');
    for (int k = 0; k < SLC_VIS_N_OUTSIDE; k++) {
        slci_json_i64(json, names[k], outside[k].n);
    }
    slci_json_close(json, '}');
}

void slci_stats_reader(slci_json *json, const slc_run_reader *reader) {
    slci_json_open(json, "reader", '{');
    slci_json_text(json, "path", reader->path);
    slci_json_text(json, "why", reader->why);
    slci_json_close(json, '}');
}

void slci_stats_take_reader(const slc_source *source, slc_run_reader *out) {
    const char *why = NULL;
    const char *path = slc_h5_array_reader(source, &why);
    (void)slci_print(out->path, sizeof out->path, "%s", path);
    (void)slci_print(out->why, sizeof out->why, "%s", why);
}

void slci_stats_moved(slci_json *json, const slc_engine_report *report) {
    slci_json_i64(json, "bytes_read", report->bytes_read);
    slci_json_i64(json, "bytes_tier", report->bytes_tier);
    slci_json_i64(json, "bytes_h2d", report->bytes_h2d);
    slci_json_i64(json, "bytes_d2h", report->bytes_d2h);
}

void slci_stats_stages(slci_json *json, const slc_engine_report *report,
                       double more_write_seconds) {
    slci_json_f64(json, "read", report->seconds_read);
    slci_json_f64(json, "h2d", report->seconds_h2d);
    slci_json_f64(json, "kernel", report->seconds_kernel);
    slci_json_f64(json, "d2h", report->seconds_d2h);
    slci_json_f64(json, "write", report->seconds_write + more_write_seconds);
}

slci_axis_names slci_stats_axis_names(const char (*names)[SLC_AXIS_NAME_BYTES]) {
    slci_axis_names out;
    for (int a = 0; a < SLC_MAX_AXES; a++) {
        out.name[a] = names[a];
    }
    return out;
}

void slci_stats_plan_shape(slci_json *json, const slc_plan *plan, const char *const *axis_names) {
    slci_json_open(json, "tile", '{');
    for (int a = 0; a < plan->n_axes; a++) {
        slci_json_i64(json, axis_names[a], plan->tile[a]);
    }
    slci_json_close(json, '}');
    slci_json_open(json, "order", '[');
    for (int d = 0; d < plan->n_axes; d++) {
        slci_json_text(json, NULL, axis_names[plan->order[d]]);
    }
    slci_json_close(json, ']');
    slci_json_i64(json, "tiles", plan->n_tiles);
    slci_json_i64(json, "passes", plan->n_passes);
    slci_json_i64(json, "slots", plan->n_slots);
}

void slci_stats_staging(slci_json *json, const slc_plan *plan) {
    slci_json_i64(json, "staging_bytes",
                  plan->host_peak_bytes - plan->tier_bytes - plan->mapped_bytes);
}

void slci_stats_plan_cost(slci_json *json, const slc_plan *plan) {
    slci_json_i64(json, "bytes_read", plan->bytes_read);
    slci_json_i64(json, "bytes_tier", plan->bytes_tier);
    slci_json_i64(json, "bytes_h2d", plan->bytes_h2d);
    slci_json_i64(json, "bytes_d2h", plan->bytes_d2h);
    slci_json_f64(json, "chunk_reads_per_pass", plan->unit_reads);
    slci_json_open(json, "seconds", '{');
    slci_json_f64(json, "total", plan->seconds_total);
    slci_json_f64(json, "read", plan->seconds_read);
    slci_json_f64(json, "h2d", plan->seconds_h2d);
    slci_json_f64(json, "kernel", plan->seconds_kernel);
    slci_json_f64(json, "d2h", plan->seconds_d2h);
    slci_json_f64(json, "write", plan->seconds_write);
    slci_json_close(json, '}');
    slci_json_text(json, "bottleneck", slc_bottleneck_name(plan->bottleneck));
}

void slci_stats_extents(const int64_t *values, int n, char text[SLCI_EXTENTS_BYTES]) {
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < n; d++) {
        used += (size_t)slci_print(text + used, SLCI_EXTENTS_BYTES - used, "%s%lld",
                                   d > 0 ? " x " : "", (long long)values[d]);
    }
}

void slci_stats_shape_line(FILE *out, const char *name, const slc_layout *layout,
                           const char *rest) {
    char shape[SLCI_EXTENTS_BYTES];
    char bytes[SLCI_TEXT_BYTES];
    slci_stats_extents(layout->shape, layout->rank, shape);
    slci_format_bytes(slc_layout_bytes(layout), bytes);
    (void)fprintf(out, "  %-22s %s of %s, %s%s\n", name,
                  layout->rank > 0 ? shape : "a single value", slc_dtype_name(layout->dtype), bytes,
                  rest);
}

/* One value for each axis: "1024 index x 65536 data". */
static void axes_line(FILE *out, const char *name, const slci_axis_names *axes,
                      const int64_t *values, int n) {
    (void)fprintf(out, "  %-22s ", name);
    for (int a = 0; a < n; a++) {
        (void)fprintf(out, "%s%lld %s", a > 0 ? " x " : "", (long long)values[a], axes->name[a]);
    }
}

void slci_stats_tile_lines(FILE *out, const slc_plan *plan, const slci_axis_names *axes) {
    axes_line(out, "tile", axes, plan->tile, plan->n_axes);
    (void)fprintf(out, "\n");
    axes_line(out, "tiles", axes, plan->n_tiles_of, plan->n_axes);
    (void)fprintf(out, ", %d slot(s)\n", plan->n_slots);
}

void slci_stats_byte_line(FILE *out, const char *name, int64_t bytes, const char *rest) {
    char text[SLCI_TEXT_BYTES];
    slci_format_bytes(bytes, text);
    (void)fprintf(out, "  %-22s %s%s\n", name, text, rest);
}

void slci_stats_smallest_lines(FILE *out, const slc_plan *plan, const slc_run_memory *memory) {
    (void)fprintf(out, "  %-22s %lld bytes\n", "smallest --vram",
                  (long long)plan->smallest_device_bytes);
    (void)fprintf(out, "  %-22s %lld bytes\n", "smallest --ram",
                  (long long)memory->smallest_ram_bytes);
    if (plan->whole_device_bytes > 0 && (plan->unit_reads > 1 || plan->unit_writes > 1)) {
        const int64_t more_bytes = plan->whole_host_bytes - plan->smallest_host_bytes;
        (void)fprintf(out, "  %-22s --vram %lld with --ram %lld, about\n", "whole chunks fit from",
                      (long long)plan->whole_device_bytes,
                      (long long)memory->smallest_ram_bytes + (long long)more_bytes);
    }
}

void slci_stats_time_line(FILE *out, const slc_plan *plan) {
    char seconds[SLCI_TEXT_BYTES];
    slci_format_seconds(plan->seconds_total, seconds);
    (void)fprintf(out, "  %-22s %s, limited by the %s\n", "expected time", seconds,
                  slc_bottleneck_name(plan->bottleneck));
}

slc_status slci_stats_text(slci_text_writer writer, const void *context, char **out) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (file == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the report");
    }
    writer(file, context);
    const int failed = ferror(file);
    if (fclose(file) != 0 || failed != 0) {
        free(text);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the report");
    }
    *out = text;
    return SLC_OK;
}
