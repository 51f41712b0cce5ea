/* What a run did, for machines (JSON) and for people (the plan). docs/stats.md explains every key. */
#include <math.h>
#include <stdio.h>

#include "app/image_horizon.h"
#include "app/image_tune.h"
#include "app/run_stats.h"
#include "core/units.h"
#include "kernels/direct_tuning.h"

static void write_seconds(slci_json *json, const slc_image_result *result) {
    const slc_engine_report *report = &result->report;
    slci_json_open(json, "seconds", '{');
    slci_json_f64(json, "total", result->total_seconds);
    slci_json_f64(json, "survey", result->survey_seconds);
    slci_json_f64(json, "image", report->seconds_total);
    slci_stats_stages(json, report, result->write_seconds);
    slci_json_f64(json, "psf", result->psf_report.seconds_total);
    slci_json_close(json, '}');
}

static void write_splits(slci_json *json, const slc_image_tuning *tuning) {
    slci_json_open(json, "splits", '[');
    for (int i = 0; i < tuning->n; i++) {
        slci_json_open(json, NULL, '{');
        slci_json_text(json, "kernel", slci_direct_launch_name(tuning->launch[i].launch));
        slci_json_i64(json, "split", tuning->launch[i].split);
        slci_json_bool(json, "is_tuned", tuning->launch[i].is_tuned);
        slci_json_close(json, '}');
    }
    slci_json_close(json, ']');
}

static void write_plan(slci_json *json, const slc_image_result *result) {
    static const char *const axis_name[] = {"row", "y", "x"};
    const slc_plan *plan = &result->plan;
    const slc_engine_report expected = {.seconds_total = plan->seconds_total,
                                        .seconds_read = plan->seconds_read,
                                        .seconds_h2d = plan->seconds_h2d,
                                        .seconds_kernel = plan->seconds_kernel,
                                        .seconds_d2h = plan->seconds_d2h,
                                        .seconds_write = plan->seconds_write};
    const double pairs = (double)result->n_planned * (double)result->finite_pixels;
    slci_json_open(json, "plan", '{');
    slci_stats_plan_shape(json, plan, axis_name);
    slci_json_i64(json, "vram_peak_bytes", result->vram_planned_bytes);
    slci_stats_staging(json, plan);
    slci_json_i64(json, "vram_smallest_bytes", plan->smallest_device_bytes);
    slci_json_i64(json, "host_peak_bytes", result->memory.host_planned_bytes);
    slci_json_i64(json, "reading_bytes", result->reading_bytes);
    slci_json_i64(json, "ram_smallest_bytes", result->memory.smallest_ram_bytes);
    slci_stats_plan_cost(json, plan);
    slci_json_f64(json, "reader_bytes_per_second",
                  result->read_bytes_per_s > 0 ? result->read_bytes_per_s : (double)NAN);
    slci_json_f64(json, "overlap", slc_engine_overlap(&expected));
    slci_json_i64(json, "visibilities_used", result->n_planned);
    slci_json_i64(json, "visibilities_flagged", result->n_planned_flagged);
    slci_json_f64(json, "pairs_per_second",
                  plan->seconds_kernel > 0 ? pairs / plan->seconds_kernel : 0);
    slci_json_text(json, "kernels", result->kernel_why);
    write_splits(json, &result->tuning);
    slci_json_close(json, '}');
}

static const char *pol_name(const slc_image_meta *meta, int k) {
    return slc_vis_polarisation_name(k == 0 ? meta->stokes : meta->more_stokes[k - 1]);
}

/* Of several. */
static void write_polarisations(slci_json *json, const slc_image_result *result) {
    const slc_image_meta *meta = &result->meta;
    if (meta->n_stokes > 1) {
        slci_json_open(json, "polarisations", '[');
        for (int k = 0; k < meta->n_stokes; k++) {
            slci_json_text(json, NULL, pol_name(meta, k));
        }
        slci_json_close(json, ']');
        slci_json_text(json, "peak_polarisation", pol_name(meta, result->peak_pol));
    }
}

static void write_stats(slci_json *json, const slc_image_result *result) {
    const slc_engine_report *report = &result->report;
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "device", result->device_name);
    slci_json_bool(json, "resumed", result->is_resumed);
    slci_stats_memory(json, &result->memory, report);
    slci_json_i64(json, "tiles", report->n_tiles);
    slci_json_i64(json, "passes", result->plan.n_passes);
    slci_json_i64(json, "slots", result->plan.n_slots);
    slci_json_i64(json, "chunks_read", result->chunks_read);
    slci_json_i64(json, "chunks_decoded", result->chunks_decoded);
    slci_json_i64(json, "bytes_stored", result->bytes_stored);
    slci_stats_reader(json, &result->reader);
    slci_stats_moved(json, report);
    write_seconds(json, result);
    slci_json_f64(json, "overlap", slc_engine_overlap(report));
    slci_json_text(json, "bottleneck", slc_bottleneck_name(slc_engine_bottleneck(report)));
    slci_json_i64(json, "visibilities_used", result->n_used);
    slci_json_i64(json, "visibilities_flagged", result->n_flagged);
    slci_json_i64(json, "visibilities_nonfinite", result->n_nonfinite);
    slci_stats_outsiders(json, result->outside);
    slci_json_i64(json, "visibilities_outside_uv_cells", result->n_outside_uniform);
    slci_json_i64(json, "samples_looked_at", result->n_looked_at);
    slci_json_f64(json, "weight_sum", result->weight_sum);
    slci_json_f64(json, "abs_sum", result->abs_sum);
    slci_json_i64(json, "finite_pixels", result->finite_pixels);
    slci_json_f64(json, "pairs_per_second", result->pairs_per_second);
    slci_json_f64(json, "epsilon", result->meta.epsilon);
    slci_json_f64(json, "peak", result->peak);
    slci_json_i64(json, "peak_x", result->peak_x);
    slci_json_i64(json, "peak_y", result->peak_y);
    slci_json_i64(json, "peak_plane", result->peak_plane);
    slci_json_f64(json, "rms", result->rms);
    write_polarisations(json, result);
    slci_stats_numerics(json, &result->numerics);
    write_plan(json, result);
    slci_json_close(json, '}');
}

static void stats_to(FILE *file, const void *context) {
    slci_json json = {.file = file};
    write_stats(&json, context);
}

static void plan_to(FILE *file, const void *context) {
    const slc_image_result *result = context;
    const slc_plan *plan = &result->plan;
    (void)fprintf(file, "plan for %s\n", result->device_name);
    (void)fprintf(file, "  %-22s %lld x %lld pixels, %lld plane(s)\n", "image",
                  (long long)result->meta.nx, (long long)result->meta.ny,
                  (long long)(result->meta.n_planes * result->meta.n_stokes));
    char horizon[SLCI_IMAGE_HORIZON_BYTES];
    if (slci_image_format_horizon(result->finite_pixels, result->meta.nx * result->meta.ny,
                                  horizon)) {
        (void)fprintf(file, "  %-22s %s\n", "", horizon);
    }
    (void)fprintf(file, "  %-22s %s\n", "kernels", result->kernel_why);
    for (int i = 0; i < result->tuning.n; i++) {
        char text[SLCI_IMAGE_SPLIT_BYTES];
        slci_image_format_split(&result->tuning.launch[i], text);
        (void)fprintf(file, "  %-22s %s\n", i == 0 ? "division of work" : "", text);
    }
    (void)fprintf(file, "  %-22s %lld rows x %lld x %lld pixels\n", "tile",
                  (long long)plan->tile[0], (long long)plan->tile[1], (long long)plan->tile[2]);
    (void)fprintf(file, "  %-22s %lld (%lld x %lld x %lld), %d slot(s)\n", "tiles",
                  (long long)plan->n_tiles, (long long)plan->n_tiles_of[0],
                  (long long)plan->n_tiles_of[1], (long long)plan->n_tiles_of[2], plan->n_slots);
    (void)fprintf(file, "  %-22s %lld a plane\n", "passes over the rows",
                  (long long)plan->n_passes);
    char reads[SLCI_TEXT_BYTES];
    slci_format_number(plan->unit_reads, 3, reads);
    (void)fprintf(file, "  %-22s %s a chunk and pass%s\n", "chunk reads", reads,
                  plan->unit_reads > 1
                      ? ", because --ram lets the reader keep no row of chunks decoded"
                      : "");
    slci_stats_byte_line(file, "device memory", result->vram_planned_bytes, " at most (--vram)");
    slci_stats_smallest_lines(file, plan, &result->memory);
    slci_stats_byte_line(file, "host memory", result->memory.host_planned_bytes,
                         result->memory.smallest_ram_bytes > result->memory.ram_limit_bytes
                             ? " at most: MORE THAN --ram ALLOWS, this run would be refused"
                             : " at most (--ram)");
    slci_stats_byte_line(file, "of it for reading", result->reading_bytes, "");
    slci_stats_byte_line(file, "output", result->output_bytes, " a file");
    slci_stats_byte_line(file, "read and decoded", plan->bytes_read, "");
    if (result->read_bytes_per_s > 0) {
        slci_stats_byte_line(file, "reader", (int64_t)result->read_bytes_per_s,
                             " a second, about, as the survey was read");
    } else {
        (void)fprintf(file, "  %-22s as assumed\n", "reader");
    }
    slci_stats_byte_line(file, "to the device", plan->bytes_h2d, "");
    slci_stats_byte_line(file, "from the device", plan->bytes_d2h, "");
    slci_stats_time_line(file, plan);
}

slc_status slc_image_stats_json(const slc_image_result *result, char **out) {
    return slci_stats_text(stats_to, result, out);
}

slc_status slc_image_plan_text(const slc_image_result *result, char **out) {
    return slci_stats_text(plan_to, result, out);
}
