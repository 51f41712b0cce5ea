/* What a prediction did, for machines (JSON) and for people (the plan). docs/stats.md explains every
 * key. */
#include "app/predict.h"
#include "app/run_stats.h"
#include "core/print.h"
#include "core/units.h"

static const char *const axis_names[SLC_MAX_AXES] = {"row", "component", "", ""};

static void write_plan(slci_json *json, const slc_predict_result *result) {
    const slc_plan *plan = &result->plan;
    slci_json_open(json, "plan", '{');
    slci_stats_plan_shape(json, plan, axis_names);
    slci_json_i64(json, "vram_peak_bytes", plan->device_peak_bytes);
    slci_stats_staging(json, plan);
    slci_json_i64(json, "tier_bytes", plan->tier_bytes);
    slci_json_i64(json, "mapped_bytes", plan->mapped_bytes);
    slci_json_i64(json, "vram_smallest_bytes", plan->smallest_device_bytes);
    slci_json_i64(json, "host_peak_bytes", result->memory.host_planned_bytes);
    slci_json_i64(json, "ram_smallest_bytes", result->memory.smallest_ram_bytes);
    slci_stats_plan_cost(json, plan);
    slci_json_close(json, '}');
}

static void write_model(slci_json *json, const slc_predict_result *result) {
    slci_json_open(json, "model", '{');
    slci_json_text(json, "kind", result->is_image ? "image" : "list");
    slci_json_i64(json, "components", result->n_components);
    slci_json_f64(json, "flux_jy", result->flux_jy);
    slci_json_f64(json, "abs_flux_jy", result->abs_flux_jy);
    if (result->is_image) {
        slci_json_i64(json, "nx", result->nx);
        slci_json_i64(json, "ny", result->ny);
        slci_json_i64(json, "planes", result->n_planes);
        slci_json_i64(json, "nan_pixels", result->n_nan);
        slci_json_text(json, "unit", result->unit_text);
        slci_json_f64(json, "offset_rad", result->offset_rad);
        slci_json_text(json, "placement", slc_sparse_choice_name(result->sparse));
        slci_json_text(json, "placement_why", result->why);
    }
    slci_json_close(json, '}');
}

static void write_stats(slci_json *json, const slc_predict_result *result) {
    const slc_engine_report *report = &result->report;
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "device", result->device_name);
    slci_json_bool(json, "resumed", result->is_resumed);
    slci_stats_memory(json, &result->memory, report);
    slci_json_i64(json, "tier_bytes", report->tier_bytes);
    slci_json_i64(json, "mapped_bytes", result->plan.mapped_bytes);
    slci_json_i64(json, "tiles", report->n_tiles);
    slci_json_i64(json, "passes", result->plan.n_passes);
    slci_json_i64(json, "slots", result->plan.n_slots);
    slci_stats_moved(json, report);
    slci_json_i64(json, "bytes_written", report->bytes_written);
    slci_json_open(json, "seconds", '{');
    slci_json_f64(json, "total", result->total_seconds);
    slci_json_f64(json, "survey", result->survey_seconds);
    slci_json_f64(json, "copy", result->copy_seconds);
    slci_json_f64(json, "predict", report->seconds_total);
    slci_stats_stages(json, report, result->write_seconds);
    slci_json_close(json, '}');
    slci_json_f64(json, "overlap", slc_engine_overlap(report));
    slci_json_text(json, "bottleneck", slc_bottleneck_name(slc_engine_bottleneck(report)));
    slci_json_i64(json, "rows", result->n_rows);
    slci_json_i64(json, "channels", result->n_channels);
    slci_json_text(json, "polarisations", result->hands);
    slci_json_text(json, "dtype", result->type_text);
    write_model(json, result);
    slci_stats_numerics(json, &result->numerics);
    write_plan(json, result);
    slci_json_close(json, '}');
}

static void stats_to(FILE *out, const void *context) {
    slci_json json = {.file = out};
    write_stats(&json, context);
}

/* ---- the plan --------------------------------------------------------------------------------- */

static void model_lines(FILE *out, const slc_predict_result *result) {
    char flux[SLCI_TEXT_BYTES];
    char bytes[SLCI_TEXT_BYTES];
    slci_format_number(result->flux_jy, 6, flux);
    if (!result->is_image) {
        (void)fprintf(out, "  %-22s %lld components, %s Jy\n", "model",
                      (long long)result->n_components, flux);
        return;
    }
    slci_format_bytes(result->image_bytes, bytes);
    (void)fprintf(out, "  %-22s %lld x %lld pixels, %lld plane(s), %s\n", "model",
                  (long long)result->nx, (long long)result->ny, (long long)result->n_planes, bytes);
    (void)fprintf(out, "  %-22s %s\n", "unit", result->unit_text);
    (void)fprintf(out, "  %-22s %lld pixels that are not zero, %s Jy\n", "components",
                  (long long)result->n_components, flux);
    (void)fprintf(out, "  %-22s %s\n", "image is", result->why);
}

static void plan_to(FILE *out, const void *context) {
    const slc_predict_result *result = context;
    const slc_plan *plan = &result->plan;
    (void)fprintf(out, "plan for %s\n", result->device_name);
    model_lines(out, result);
    (void)fprintf(out, "  %-22s %lld rows of %lld channels\n", "samples", (long long)result->n_rows,
                  (long long)result->n_channels);
    (void)fprintf(out, "  %-22s I in %s, as %s\n", "written", result->hands, result->type_text);
    (void)fprintf(out, "  %-22s %lld row x %lld component\n", "tile", (long long)plan->tile[0],
                  (long long)plan->tile[1]);
    (void)fprintf(out, "  %-22s %lld row x %lld component, %d slot(s)\n", "tiles",
                  (long long)plan->n_tiles_of[0], (long long)plan->n_tiles_of[1], plan->n_slots);
    slci_stats_byte_line(out, "device memory", plan->device_peak_bytes, " at most (--vram)");
    slci_stats_smallest_lines(out, plan, &result->memory);
    slci_stats_byte_line(out, "host memory", result->memory.host_planned_bytes, " at most (--ram)");
    slci_stats_byte_line(out, "of it mapped", plan->mapped_bytes, "");
    slci_stats_byte_line(out, "of it kept tiles", plan->tier_bytes, "");
    slci_stats_byte_line(out, "read", plan->bytes_read, "");
    slci_stats_byte_line(out, "to the device", plan->bytes_h2d, "");
    slci_stats_byte_line(out, "from the device", plan->bytes_d2h, "");
    slci_stats_time_line(out, plan);
}

slc_status slc_predict_stats_json(const slc_predict_result *result, char **out) {
    return slci_stats_text(stats_to, result, out);
}

slc_status slc_predict_plan_text(const slc_predict_result *result, char **out) {
    return slci_stats_text(plan_to, result, out);
}
