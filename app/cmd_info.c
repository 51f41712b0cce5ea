/* `sluice info`: prints what app/info.h found about a visibility set, for people or as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd.h"
#include "app/info.h"
#include "app/json.h"
#include "app/run_stats.h"
#include "core/constants.h"
#include "core/sky.h"
#include "core/units.h"

typedef struct info_arguments {
    slci_words inputs;
    const char *phase_centre;
    bool no_scan;
    bool json;
} info_arguments;

static const slci_arg info_args[] = {
    {.help = "Options"},
    {"json", 0, NULL, "print JSON (default: text)", offsetof(info_arguments, json), NULL, NULL},
    {"no-scan", 0, NULL,
     "do not read the visibilities: no flagged share, and lengths of all baselines (default: read "
     "them once)",
     offsetof(info_arguments, no_scan), NULL, NULL},
    {"phase-centre", 0, "NAME", "which one, where a file has several (default: the only one)",
     offsetof(info_arguments, phase_centre), slci_arg_text, NULL},
};

static const char info_usage[] =
    "usage: sluice info FILE... [options]\n\n"
    "Says what a visibility set holds, and which size and scale of a picture suit it.\n"
    "Several files are one set, as for sluice image.\n";

/* ---- for people ------------------------------------------------------------------------------ */

static void print_field(const char *name) {
    (void)printf("  %-17s ", name);
}

static void print_text(const char *name, const char *text) {
    if (*text != '\0') {
        print_field(name);
        (void)printf("%s\n", text);
    }
}

static void print_shape(const slc_vis_meta *meta) {
    print_field("rows");
    (void)printf("%lld", (long long)meta->n_rows);
    if (!meta->is_plain) {
        (void)printf(": %lld baselines of %lld antennas, %lld times", (long long)meta->n_baselines,
                     (long long)meta->n_antennas, (long long)meta->n_times);
    }
    (void)printf("%s\n", meta->n_files > 1 ? " in all files" : "");
    print_field("channels");
    (void)printf("%lld", (long long)meta->n_channels);
    if (meta->n_channels > 0 && meta->freq_hz != NULL && meta->freq_hz[0] > 0.0) {
        char text[SLCI_TEXT_BYTES];
        slci_format_frequency(meta->freq_hz[0], text);
        (void)printf(": %s", text);
        if (meta->n_channels > 1) {
            slci_format_frequency(meta->freq_hz[meta->n_channels - 1], text);
            (void)printf(" to %s", text);
        }
        if (meta->channel_width_hz != NULL && meta->channel_width_hz[0] > 0.0) {
            slci_format_frequency(meta->channel_width_hz[0], text);
            (void)printf(", %s wide", text);
        }
    }
    (void)printf("\n");
    if (meta->n_file_polarisations > 0 && meta->polarisations != NULL) {
        print_field("polarisations");
        for (int64_t p = 0; p < meta->n_file_polarisations; p++) {
            (void)printf("%s%s", p > 0 ? ", " : "",
                         slc_vis_polarisation_name(meta->polarisations[p]));
        }
        (void)printf("; imaged: %s\n", meta->imaged[0].text);
    }
}

static void print_sky(const slc_vis_meta *meta) {
    static const char *const frames[] = {
        [SLC_FRAME_ICRS] = "ICRS", [SLC_FRAME_FK5] = "FK5", [SLC_FRAME_UNPROJECTED] = "of date"};
    if (isfinite(meta->ra_rad) && isfinite(meta->dec_rad)) {
        char ra[SLCI_TEXT_BYTES];
        char dec[SLCI_TEXT_BYTES];
        slci_format_ra(meta->ra_rad, ra);
        slci_format_dec(meta->dec_rad, dec);
        print_field("phase centre");
        (void)printf("RA %s Dec %s (%.6f deg, %+.6f deg), %s", ra, dec,
                     meta->ra_rad * SLC_RADIAN_DEG, meta->dec_rad * SLC_RADIAN_DEG,
                     frames[meta->frame]);
        if (meta->equinox > 0.0) {
            (void)printf(" %.6g", meta->equinox);
        }
        (void)printf("%s%s\n", meta->phase_centre_name[0] != '\0' ? ", " : "",
                     meta->phase_centre_name);
    }
    print_text("phase", meta->phase_text);
    print_text("telescope", meta->telescope);
    print_text("object", meta->object);
    print_text("units", meta->units);
    if (meta->start_jd_utc > 0.0) {
        char date[32];
        slci_sky_iso_date(meta->start_jd_utc, date);
        print_field("begins");
        (void)printf("%s UTC (JD %.6f)\n", date, meta->start_jd_utc);
    }
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static void print_samples(const slc_info *info) {
    const slc_vis_counts *counts = &info->counts;
    if (!info->is_scanned) {
        print_text("samples", "not read (--no-scan)");
    } else {
        print_field("flagged");
        (void)printf("%lld of %lld (%.2f %%), rows x channels x polarisations\n",
                     (long long)counts->flagged, (long long)counts->total,
                     percent(counts->flagged, counts->total));
        print_field("samples");
        (void)printf("%lld of %lld have a weight", (long long)info->n_used,
                     (long long)info->n_samples);
        const slc_vis_outsiders *outside = counts->outside;
        const int64_t n_nonfinite = counts->nonfinite - outside[SLC_VIS_VALUE_TOO_LARGE].n;
        if (n_nonfinite > 0) {
            (void)printf("; %lld are not finite and dropped", (long long)n_nonfinite);
        }
        const int64_t n_zero =
            counts->zero_weight - counts->bad_weight - outside[SLC_VIS_WEIGHT_TOO_SMALL].n;
        const int64_t n_bad = counts->bad_weight - outside[SLC_VIS_WEIGHT_TOO_LARGE].n;
        if (n_zero > 0) {
            (void)printf("; %lld are not flagged but have nsamples 0 (--unit-weights uses them)",
                         (long long)n_zero);
        }
        if (n_bad > 0) {
            (void)printf("; %lld are not flagged but have a negative or non-finite weight",
                         (long long)n_bad);
        }
        for (int k = 0; k < SLC_VIS_N_OUTSIDE; k++) {
            if (outside[k].n > 0) {
                (void)printf("; %lld %s (first: row %lld, channel %lld)", (long long)outside[k].n,
                             slc_vis_outside_text((slc_vis_outside)k), (long long)outside[k].row,
                             (long long)outside[k].channel);
            }
        }
        (void)printf("\n");
    }
    if (info->uv_max_wavelengths > 0.0) {
        char lowest[SLCI_TEXT_BYTES];
        char highest[SLCI_TEXT_BYTES];
        slci_format_number(info->uv_min_wavelengths, 6, lowest);
        slci_format_number(info->uv_max_wavelengths, 6, highest);
        print_field("uv range");
        (void)printf("%s to %s wavelengths", lowest, highest);
        slci_format_number(info->w_max_wavelengths, 6, highest);
        (void)printf(", |w| up to %s\n", highest);
    }
}

static void print_product(const int64_t *extents, int rank) {
    for (int d = 0; d < rank; d++) {
        (void)printf("%s%lld", d > 0 ? " x " : "", (long long)extents[d]);
    }
}

static void print_datasets(const slc_info *info) {
    for (int i = 0; i < info->n_datasets; i++) {
        const slc_vis_dataset *dataset = &info->datasets[i];
        char stored[SLCI_TEXT_BYTES];
        char logical[SLCI_TEXT_BYTES];
        slci_format_bytes(dataset->stored_bytes, stored);
        slci_format_bytes(dataset->logical_bytes, logical);
        print_field(dataset->name);
        print_product(dataset->shape, dataset->rank);
        (void)printf(" of %s, ", dataset->type);
        if (dataset->rank > 0 && dataset->chunk[0] > 0) {
            (void)printf("chunks ");
            print_product(dataset->chunk, dataset->rank);
        } else {
            (void)printf("not chunked");
        }
        (void)printf(", %s; %s stored, %s in memory\n",
                     dataset->filters[0] != '\0' ? dataset->filters : "no filters", stored,
                     logical);
    }
}

static void print_info(const slc_source *source, const slc_vis_meta *meta, const slc_info *info) {
    (void)printf("%s: %s", source->name, meta->format);
    if (meta->n_files > 1) {
        (void)printf(", first of %lld files", (long long)meta->n_files);
    }
    (void)printf("\n");
    print_shape(meta);
    print_sky(meta);
    print_samples(info);
    print_datasets(info);
    if (info->suggested_size > 0) {
        char scale[SLCI_TEXT_BYTES];
        slci_format_angle_down(info->suggested_scale_rad, scale);
        print_field("suggestion");
        (void)printf("--size %lld --scale %s\n", (long long)info->suggested_size, scale);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_meta(slci_json *json, const slc_vis_meta *meta) {
    slci_json_text(json, "format", meta->format);
    slci_json_i64(json, "files", meta->n_files);
    slci_json_i64(json, "rows", meta->n_rows);
    slci_json_i64(json, "baselines", meta->n_baselines);
    slci_json_i64(json, "antennas", meta->n_antennas);
    slci_json_i64(json, "times", meta->n_times);
    slci_json_i64(json, "channels", meta->n_channels);
    slci_json_open(json, "frequencies_hz", '[');
    for (int64_t c = 0; c < meta->n_channels && meta->freq_hz != NULL; c++) {
        slci_json_f64(json, NULL, meta->freq_hz[c]);
    }
    slci_json_close(json, ']');
    slci_json_open(json, "polarisations", '[');
    for (int64_t p = 0; p < meta->n_file_polarisations && meta->polarisations != NULL; p++) {
        slci_json_text(json, NULL, slc_vis_polarisation_name(meta->polarisations[p]));
    }
    slci_json_close(json, ']');
    slci_json_text(json, "polarisation_imaged", meta->imaged[0].text);
    slci_json_f64(json, "ra_rad", meta->ra_rad);
    slci_json_f64(json, "dec_rad", meta->dec_rad);
    slci_json_text(json, "phase_centre", meta->phase_centre_name);
    slci_json_text(json, "phase", meta->phase_text);
    slci_json_text(json, "telescope", meta->telescope);
    slci_json_text(json, "object", meta->object);
    slci_json_text(json, "units", meta->units);
    slci_json_f64(json, "start_jd_utc", meta->start_jd_utc > 0.0 ? meta->start_jd_utc : NAN);
}

static void json_datasets(slci_json *json, const slc_info *info) {
    slci_json_open(json, "datasets", '[');
    for (int i = 0; i < info->n_datasets; i++) {
        const slc_vis_dataset *dataset = &info->datasets[i];
        const bool is_chunked = dataset->rank > 0 && dataset->chunk[0] > 0;
        slci_json_open(json, NULL, '{');
        slci_json_text(json, "name", dataset->name);
        slci_json_text(json, "type", dataset->type);
        slci_json_i64_list(json, "shape", dataset->shape, dataset->rank);
        slci_json_i64_list(json, "chunk", dataset->chunk, is_chunked ? dataset->rank : 0);
        slci_json_text(json, "filters", dataset->filters);
        slci_json_i64(json, "stored_bytes", dataset->stored_bytes);
        slci_json_i64(json, "logical_bytes", dataset->logical_bytes);
        slci_json_close(json, '}');
    }
    slci_json_close(json, ']');
}

static void print_json(const slc_source *source, const slc_vis_meta *meta, const slc_info *info) {
    slci_json json = {.file = stdout};
    slci_json_open(&json, NULL, '{');
    slci_json_text(&json, "name", source->name);
    json_meta(&json, meta);
    slci_json_bool(&json, "scanned", info->is_scanned);
    if (info->is_scanned) {
        slci_json_i64(&json, "samples", info->n_samples);
        slci_json_i64(&json, "samples_used", info->n_used);
        slci_json_i64(&json, "flagged", info->counts.flagged);
        slci_json_i64(&json, "flagged_of", info->counts.total);
        slci_json_i64(&json, "nonfinite", info->counts.nonfinite);
        slci_json_i64(&json, "zero_weight", info->counts.zero_weight);
        slci_json_i64(&json, "bad_weight", info->counts.bad_weight);
        slci_stats_outsiders(&json, info->counts.outside);
    }
    slci_json_f64(&json, "uv_min_m", info->uv_min_m);
    slci_json_f64(&json, "uv_max_m", info->uv_max_m);
    slci_json_f64(&json, "uv_min_wavelengths", info->uv_min_wavelengths);
    slci_json_f64(&json, "uv_max_wavelengths", info->uv_max_wavelengths);
    slci_json_f64(&json, "w_max_wavelengths", info->w_max_wavelengths);
    json_datasets(&json, info);
    slci_json_f64(&json, "suggested_scale_rad", info->suggested_scale_rad);
    slci_json_i64(&json, "suggested_size", info->suggested_size);
    slci_json_close(&json, '}');
}

/* ---- the command -------------------------------------------------------------------------------- */

static void show_progress(void *context, int64_t done_rows, int64_t n_rows) {
    slci_progress_update(context, "reading", "rows", (double)done_rows, (double)n_rows);
}

static slc_status run_info(slci_program *program, void *target) {
    const info_arguments *arguments = target;
    slc_source *source = NULL;
    slc_info info;
    if (arguments->inputs.n == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no file given: sluice info FILE...");
    }
    const slc_vis_options vis = {.phase_centre = arguments->phase_centre, .log = &program->log};
    const slc_info_options options = {.skip_data = arguments->no_scan,
                                      .progress = show_progress,
                                      .progress_context = &program->progress,
                                      .cancel = program->cancel};
    SLC_TRY(slc_vis_open(arguments->inputs.words, arguments->inputs.n, &vis, &source));
    const slc_status status = slc_info_scan(source, &options, &info);
    if (status == SLC_OK) {
        slci_progress_finish(&program->progress);
        const slc_vis_meta *meta = slc_vis_get_meta(source);
        (arguments->json ? print_json : print_info)(source, meta, &info);
    }
    slc_source_destroy(source);
    return status;
}

slc_status slci_cmd_info(slci_program *program, int argc, char *const *argv) {
    info_arguments arguments = {.phase_centre = NULL};
    const slci_command command = {
        .name = "sluice info",
        .usage = info_usage,
        .options = {info_args, (int)(sizeof info_args / sizeof info_args[0]), &arguments},
        .operands = &arguments.inputs,
        .run = run_info,
    };
    return slci_command_run(&command, program, argc, argv);
}
