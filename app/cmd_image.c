/* `sluice image`: the command line of the imaging job. It fills in slc_image_options, checks where the
 * results are to go before anything is computed, and prints what the run found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/cmd_image_page.h"
#include "app/cmd_run.h"
#include "app/image.h"
#include "core/constants.h"
#include "core/print.h"
#include "core/units.h"

#define SUMMARY_BYTES 512

/* What the command line says. */
typedef struct image_arguments {
    slc_image_options options;
    slci_words inputs;
    slci_words outputs;
    slci_run_arguments run;
} image_arguments;

/* ---- the values of single options --------------------------------------------------------- */

static slc_status parse_size(const char *text, void *field) {
    slc_image_options *options = field;
    return slci_parse_size(text, &options->nx, &options->ny);
}

static slc_status parse_second_size(const char *text, void *field) {
    slc_image_options *options = field;
    return slci_parse_integer(text, 1, SLCI_MAX_PIXELS, &options->ny);
}

static slc_status parse_scale(const char *text, void *field) {
    double rad = 0.0;
    SLC_TRY(slci_parse_angle(text, &rad));
    if (rad <= 0.0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not above zero: a pixel needs a width",
                        text);
    }
    *(double *)field = rad;
    return SLC_OK;
}

static slc_status parse_centre(const char *text, void *field) {
    slc_image_options *options = field;
    SLC_TRY(slci_parse_position(text, &options->centre_ra_rad, &options->centre_dec_rad));
    options->has_centre = true;
    return SLC_OK;
}

/* The polarisation of a name of `length` characters; SLC_POL_AUTO: there is none. */
static slc_polarisation find_polarisation(const char *name, size_t length) {
    for (int p = SLC_POL_AUTO + 1; p < SLC_POL_N; p++) {
        const int code = slc_vis_polarisation_code((slc_polarisation)p);
        const char *known = slc_vis_polarisation_name(code);
        if (strlen(known) == length && strncmp(name, known, length) == 0) {
            return (slc_polarisation)p;
        }
    }
    return SLC_POL_AUTO;
}

/* One, or several with commas between them. */
static slc_status parse_polarisations(const char *text, void *field) {
    slc_vis_options *vis = field;
    slc_polarisation found[SLC_VIS_MOST_IMAGED] = {SLC_POL_AUTO};
    int n = 0;
    for (const char *at = text; at != NULL; n++) {
        const char *comma = strchr(at, ',');
        const size_t length = comma != NULL ? (size_t)(comma - at) : strlen(at);
        const slc_polarisation polarisation = find_polarisation(at, length);
        if (polarisation == SLC_POL_AUTO) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "'%.80s' is no polarisation: expected I, Q, U, V, XX, YY, XY, YX, RR, "
                            "LL, RL or LR, or several such as XX,YY",
                            text);
        }
        if (n == SLC_VIS_MOST_IMAGED) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' names more than %d polarisations", text,
                            SLC_VIS_MOST_IMAGED);
        }
        for (int k = 0; k < n; k++) {
            if (found[k] == polarisation) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' names a polarisation twice", text);
            }
        }
        found[n] = polarisation;
        at = comma != NULL ? comma + 1 : NULL;
    }
    vis->polarisation = found[0];
    memcpy(vis->more, found + 1, sizeof vis->more);
    return SLC_OK;
}

static slc_status parse_channels(const char *text, void *field) {
    slc_vis_options *vis = field;
    return slci_parse_index_range(text, &vis->channel_begin, &vis->channel_end);
}

static slc_status parse_times(const char *text, void *field) {
    slc_vis_options *vis = field;
    return slci_parse_index_range(text, &vis->time_begin, &vis->time_end);
}

static slc_status parse_uv_range(const char *text, void *field) {
    slc_vis_options *vis = field;
    return slci_parse_number_range(text, &vis->uv_min_wavelengths, &vis->uv_max_wavelengths);
}

static slc_status parse_weight(const char *text, void *field) {
    slc_image_options *options = field;
    const char *robust = "briggs:";
    if (strcmp(text, "natural") == 0) {
        options->weighting = SLC_WEIGHT_NATURAL;
    } else if (strcmp(text, "uniform") == 0) {
        options->weighting = SLC_WEIGHT_UNIFORM;
    } else if (strncmp(text, robust, strlen(robust)) == 0) {
        double value = 0.0;
        if (slci_parse_number(text + strlen(robust), &value) != SLC_OK) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "'%.80s' is no weighting: expected a number after briggs:, such as "
                            "briggs:0 or briggs:-0.5",
                            text);
        }
        if (fabs(value) > 10.0) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "'%.80s' is out of range: expected briggs:R with R from -10 (uniform) "
                            "to 10 (natural), usually from -2 to 2",
                            text);
        }
        options->weighting = SLC_WEIGHT_BRIGGS;
        options->robust = value;
    } else {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is no weighting: expected natural, uniform or briggs:R, such as "
                        "briggs:0",
                        text);
    }
    return SLC_OK;
}

static slc_status parse_planes(const char *text, void *field) {
    return slci_parse_integer(text, 1, 1000000, field);
}

static slc_status parse_epsilon(const char *text, void *field) {
    double value = 0.0;
    SLC_TRY(slci_parse_number(text, &value));
    if (value <= 0.0 || value >= 1.0) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "'%.80s' is out of range: expected a share above 0 and below 1, such as 1e-6", text);
    }
    *(double *)field = value;
    return SLC_OK;
}

/* ---- the table ------------------------------------------------------------------------------ */

#define FIELD(member) offsetof(image_arguments, member)

static const slci_arg image_args[] = {
    {.help = "Results"},
    {"output", 'o', "FILE", "where the image goes: .fits, .h5 or .png; may be given several times",
     FIELD(outputs), slci_arg_word, NULL},
    {"psf", 0, "FILE", "also write the point-spread function (default: none)",
     FIELD(options.psf_path), slci_arg_text, NULL},
    {.help = "Picture"},
    {"size", 0, "N | NX NY | NXxNY", "pixels, odd numbers too (default: 512)", FIELD(options),
     parse_size, parse_second_size},
    {"scale", 0, "ANGLE",
     "width of a pixel: a number with deg, amin, asec, mas, uas or rad (default: three pixels per "
     "fringe of the longest baseline)",
     FIELD(options.scale_rad), parse_scale, NULL},
    {"centre", 0, "RA,DEC",
     "middle of the picture, such as 04:02:27.9,-30:19:37.9 or 60.6deg,-30.3deg (default: the "
     "phase centre, which stays the tangent point)",
     FIELD(options), parse_centre, NULL},
    {"weight", 0, "SCHEME", "natural, uniform or briggs:R (default: natural)", FIELD(options),
     parse_weight, NULL},
    {"channels-out", 0, "N", "planes of a cube, each from its share of the channels (default: 1)",
     FIELD(options.n_planes), parse_planes, NULL},
    {"complex", 0, NULL, "keep the imaginary part; only into .h5", FIELD(options.is_complex), NULL,
     NULL},
    {"epsilon", 0, "E",
     "largest error, as a share of the largest value any pixel could have; from 6e-7, on CUDA "
     "from 9e-7 (default: 1e-6)",
     FIELD(options.epsilon), parse_epsilon, NULL},
    {.help = "Visibilities"},
    {"pol", 0, "P[,P...]",
     "I, Q, U, V, XX, YY, XY, YX, RR, LL, RL or LR, or up to four of them, which are read together "
     "and get a plane each (default: the file's only one, else I from the parallel hands)",
     FIELD(options.vis), parse_polarisations, NULL},
    {"channels", 0, "A:B", "channels A to B-1, counted from 0 (default: all)", FIELD(options.vis),
     parse_channels, NULL},
    {"times", 0, "A:B", "times A to B-1 of the sorted distinct times (default: all)",
     FIELD(options.vis), parse_times, NULL},
    {"uv-range", 0, "A:B", "baselines from A to below B wavelengths long (default: all)",
     FIELD(options.vis), parse_uv_range, NULL},
    {"weight-by-time", 0, NULL, "multiply the weights by the integration time",
     FIELD(options.vis.weight_by_time), NULL, NULL},
    {"unit-weights", 0, NULL, "weight 1 where not flagged, whatever nsamples holds",
     FIELD(options.vis.use_unit_weights), NULL, NULL},
    {"autos", 0, NULL, "use autocorrelations too", FIELD(options.vis.use_autos), NULL, NULL},
    {"conjugate", 0, NULL, "take the complex conjugate: for files written against the memo",
     FIELD(options.vis.conjugate), NULL, NULL},
    {"phase-centre", 0, "NAME", "which one, where a file has several (default: the only one)",
     FIELD(options.vis.phase_centre), slci_arg_text, NULL},
    {.help = "Speed"},
    {"tune", 0, NULL,
     "before the run, measure how its kernels' work is divided best on this machine, and keep it "
     "in the user's cache for later runs of this shape; the result does not depend on it (default: "
     "as an earlier --tune found, else by a model)",
     FIELD(options.tunes), NULL, NULL},
};

static const char image_usage[] =
    "usage: sluice image INPUT... -o OUT [-o OUT2 ...] [options]\n\n"
    "Makes the dirty image of a visibility set that may be larger than memory: UVH5, or a plain\n"
    "set in HDF5 or .npz with u, v, w (in wavelengths), vis or data, and perhaps weight and\n"
    "flags. Several inputs are one set.\n\n"
    "  sluice image obs.uvh5 -o dirty.fits --size 1024 --scale 20asec --vram 256M\n";

/* ---- before the run ------------------------------------------------------------------------ */

/* No file may be written twice, and nothing that is read may be written over. */
static slc_status check_names(const image_arguments *arguments) {
    const int n = arguments->outputs.n;
    const int n_inputs = arguments->inputs.n;
    slc_status status = SLC_OK;
    slc_h5_reading *inputs = calloc((size_t)n_inputs, sizeof *inputs);
    const char **outputs = calloc((size_t)n + 1, sizeof *outputs);
    if (inputs == NULL || outputs == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the names of %d files", n_inputs + n);
        goto done;
    }
    for (int i = 0; i < n_inputs; i++) {
        inputs[i] = slc_vis_reading(arguments->inputs.words[i]);
    }
    for (int i = 0; i < n; i++) {
        outputs[i] = arguments->outputs.words[i];
    }
    outputs[n] = arguments->options.psf_path;
    status = slci_run_check_files(&arguments->run, inputs, n_inputs, outputs, n + 1);
done:
    free(outputs);
    free(inputs);
    return status;
}

/* A picture with an imaginary part fits into HDF5 alone. */
static slc_status check_complex(const image_arguments *arguments) {
    for (int i = 0; arguments->options.is_complex && i < arguments->outputs.n; i++) {
        const char *output = arguments->outputs.words[i];
        const char *extension = strrchr(output, '.');
        if (extension == NULL ||
            (strcasecmp(extension, ".h5") != 0 && strcasecmp(extension, ".hdf5") != 0)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "--complex needs outputs that end in .h5, found %s; nothing else keeps "
                            "an imaginary part",
                            output);
        }
    }
    return SLC_OK;
}

static slc_status check_arguments(const image_arguments *arguments) {
    if (arguments->inputs.n == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no input file given: sluice image INPUT... -o OUT "
                                            "(sluice image --help lists all options)");
    }
    if (arguments->outputs.n == 0 && arguments->options.psf_path == NULL &&
        !arguments->run.options.dry_run) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "no output file given: add -o FILE.fits, -o FILE.h5, "
                        "-o FILE.png or --psf FILE, or --dry-run to see the plan only");
    }
    SLC_TRY(check_complex(arguments));
    SLC_TRY(check_names(arguments));
    return slci_run_check(&arguments->run);
}

/* ---- during and after the run --------------------------------------------------------------- */

/* Appends to the summary, which is cut where it is full. */
static void append(char summary[SUMMARY_BYTES], const char *format, ...) SLC_PRINTF(2, 3);

static void append(char summary[SUMMARY_BYTES], const char *format, ...) {
    const size_t used = strlen(summary);
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(summary + used, SUMMARY_BYTES - used, format, arguments);
    va_end(arguments);
}

/* The polarisation of the peak. */
static const char *peak_name(const slc_image_result *result) {
    const slc_image_meta *meta = &result->meta;
    return slc_vis_polarisation_name(
        result->peak_pol == 0 ? meta->stokes : meta->more_stokes[result->peak_pol - 1]);
}

/* The last line of a run: the peak, where it is, the rms and the beam. */
static void summarise(const slc_image_result *result, char summary[SUMMARY_BYTES]) {
    const slc_image_meta *meta = &result->meta;
    const char *blank = meta->unit[0] == '\0' ? "" : " ";
    char ra[SLCI_TEXT_BYTES];
    char dec[SLCI_TEXT_BYTES];
    summary[0] = '\0';
    if (!isfinite(result->peak)) {
        append(summary, "no peak: no pixel is finite");
    } else {
        append(summary, "peak %.6g%s%s at pixel (%lld, %lld)", result->peak, blank, meta->unit,
               (long long)result->peak_x, (long long)result->peak_y);
        if (meta->n_planes > 1) {
            append(summary, " of output channel %lld", (long long)result->peak_plane);
        }
        if (meta->n_stokes > 1) {
            append(summary, " of %s", peak_name(result));
        }
        slci_format_ra(result->peak_ra_rad, ra);
        slci_format_dec(result->peak_dec_rad, dec);
        append(summary, ", RA %s Dec %s (%.6f deg, %+.6f deg)", ra, dec,
               result->peak_ra_rad * SLC_RADIAN_DEG, result->peak_dec_rad * SLC_RADIAN_DEG);
        append(summary, "%s, rms %.4g%s%s",
               meta->has_position ? "" : ", taking RA 0 Dec 0 for the unknown phase centre",
               result->rms, blank, meta->unit);
    }
    if (meta->beam.is_valid) {
        char major[SLCI_TEXT_BYTES];
        char minor[SLCI_TEXT_BYTES];
        slci_format_angle(meta->beam.major_rad, 4, major);
        slci_format_angle(meta->beam.minor_rad, 4, minor);
        append(summary, ", beam %s x %s at %.1f deg", major, minor,
               meta->beam.angle_rad * SLC_RADIAN_DEG);
    } else {
        append(summary, ", no beam%s%s", result->beam_why[0] == '\0' ? "" : ": ", result->beam_why);
    }
}

/* What the run was limited by, for people; the same is in the statistics. */
static void note_limits(slci_program *program, const slc_image_result *result) {
    char took[SLCI_TEXT_BYTES];
    char peak[SLCI_TEXT_BYTES];
    char limit[SLCI_TEXT_BYTES];
    char rate[SLCI_TEXT_BYTES];
    slci_format_seconds(result->total_seconds, took);
    slci_format_bytes(result->memory.vram_peak_bytes, peak);
    slci_format_bytes(result->memory.vram_limit_bytes, limit);
    slci_format_number(result->pairs_per_second, 3, rate);
    slc_log_note(&program->log, "took %s on %s, limited by %s; %s%s; device memory %s of %s", took,
                 result->device_name, slc_bottleneck_name(slc_engine_bottleneck(&result->report)),
                 result->is_resumed ? "a resumed run" : rate, result->is_resumed ? "" : " pairs/s",
                 peak, limit);
}

/* A plan that is asked for is shown whatever it needs; whether it could be run is said afterwards. */
static slc_status check_ram(const slc_image_result *result) {
    if (result->memory.smallest_ram_bytes <= result->memory.ram_limit_bytes) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_NO_PLAN, "this run would be refused: it needs --ram %lld, found %lld",
                    (long long)result->memory.smallest_ram_bytes,
                    (long long)result->memory.ram_limit_bytes);
}

static slc_status report(slci_program *program, const image_arguments *arguments,
                         slc_checkpoint *checkpoint, const slc_image_result *result) {
    const slci_run_arguments *run = &arguments->run;
    char *json = NULL;
    char *plan = NULL;
    char summary[SUMMARY_BYTES];
    slc_status status = SLC_OK;
    slci_progress_finish(&program->progress);
    SLC_TRY_GOTO(done, slc_image_stats_json(result, &json));
    SLC_TRY_GOTO(done, slci_run_end(run, checkpoint, json));
    if (run->options.dry_run) {
        SLC_TRY_GOTO(done, slc_image_plan_text(result, &plan));
    } else {
        summarise(result, summary);
        if (!program->is_quiet) {
            note_limits(program, result);
        }
    }
    status = slci_run_say(program, run, plan != NULL ? plan : summary);
    if (status == SLC_OK && run->options.dry_run) {
        status = check_ram(result);
    }
done:
    free(json);
    free(plan);
    return status;
}

/* What a run hands its result to. */
typedef struct image_run {
    slci_program *program;
    image_arguments *arguments;
    slci_image_page page;
} image_run;

static slc_status deliver(void *context, slc_checkpoint *checkpoint, const void *result) {
    image_run *self = context;
    image_arguments *arguments = self->arguments;
    if (slci_run_wants_page(&arguments->run)) {
        SLC_TRY(
            slci_image_page_fill(&self->page, &arguments->options, result, &arguments->run.page));
    }
    return report(self->program, arguments, checkpoint, result);
}

static slc_status run_image(slci_program *program, void *target) {
    image_arguments *arguments = target;
    slc_image_options *options = &arguments->options;
    image_run self = {.program = program, .arguments = arguments};
    slc_image_result result;
    SLC_TRY(check_arguments(arguments));
    SLC_TRY(slci_run_begin(program, &arguments->run));
    options->run = arguments->run.options;
    options->run.deliver = deliver;
    options->run.deliver_context = &self;
    options->inputs = arguments->inputs.words;
    options->n_inputs = arguments->inputs.n;
    options->outputs = arguments->outputs.words;
    options->n_outputs = arguments->outputs.n;
    options->vis.log = &program->log;
    slc_status status = SLC_OK;
    if (slci_run_wants_picture(&arguments->run)) {
        SLC_TRY_GOTO(done, slci_image_page_begin(options, &self.page));
    }
    status = slc_image_run(options, &result);
done:
    slci_image_page_release(&self.page);
    return status;
}

slc_status slci_cmd_image(slci_program *program, int argc, char *const *argv) {
    image_arguments arguments = {.inputs = {NULL, 0}};
    slc_image_options_init(&arguments.options);
    slci_run_arguments_init(&arguments.run);
    const slci_command command = {
        .name = "sluice image",
        .usage = image_usage,
        .options = {image_args, (int)(sizeof image_args / sizeof image_args[0]), &arguments},
        .operands = &arguments.inputs,
        .run_options = slci_run_arg_table(&arguments.run),
        .run = run_image,
    };
    SLC_TRY(slci_words_create(argc, &arguments.outputs));
    const slc_status status = slci_command_run(&command, program, argc, argv);
    free(arguments.outputs.words);
    slci_run_arguments_release(&arguments.run);
    return status;
}
