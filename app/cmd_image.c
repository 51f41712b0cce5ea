/* `sluice image`: the command line of the imaging job. It fills in slc_image_options, checks where the
 * results are to go before anything is computed, and prints what the run found. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cmd.h"
#include "app/defaults.h"
#include "app/image.h"
#include "core/constants.h"
#include "core/host_memory.h"
#include "core/print.h"
#include "core/units.h"
#include "io/outfile.h"

#define SUMMARY_BYTES 512

/* What the command line says. */
typedef struct image_arguments {
    slc_image_options options;
    slci_words inputs;
    slci_words outputs;
    slci_budgets budgets;
    const char *stats_path; /* "-": standard output; NULL: none */
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

static slc_status parse_bytes(const char *text, void *field) {
    return slci_parse_bytes(text, field);
}

static slc_status parse_centre(const char *text, void *field) {
    slc_image_options *options = field;
    SLC_TRY(slci_parse_position(text, &options->centre_ra_rad, &options->centre_dec_rad));
    options->has_centre = true;
    return SLC_OK;
}

static slc_status parse_polarisation(const char *text, void *field) {
    static const struct {
        const char *name;
        slc_polarisation polarisation;
    } names[] = {{"I", SLC_POL_I},
                 {"XX", SLC_POL_XX},
                 {"YY", SLC_POL_YY},
                 {"RR", SLC_POL_RR},
                 {"LL", SLC_POL_LL}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i].name) == 0) {
            *(slc_polarisation *)field = names[i].polarisation;
            return SLC_OK;
        }
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is no polarisation: expected I, XX, YY, RR or LL",
                    text);
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

static slc_status parse_device(const char *text, void *field) {
    slc_image_options *options = field;
    int64_t index = 0;
    if (strcmp(text, "auto") == 0) {
        options->device = SLC_CHOOSE_AUTO;
    } else if (strcmp(text, "host") == 0) {
        options->device = SLC_CHOOSE_HOST;
    } else if (strcmp(text, "cuda") == 0) {
        options->device = SLC_CHOOSE_CUDA;
    } else if (strncmp(text, "cuda:", 5) == 0 && text[5] != '-' && text[5] != '+' &&
               slci_parse_integer(text + 5, 0, 1023, &index) == SLC_OK) {
        options->device = SLC_CHOOSE_CUDA;
    } else {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is no device: expected auto, host, cuda or cuda:N, N a card's "
                        "number from 0",
                        text);
    }
    options->cuda_index = (int)index;
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
    {"stats", 0, "FILE", "write what the run did as JSON; - is standard output (default: none)",
     FIELD(stats_path), slci_arg_text, NULL},
    {"overwrite", 0, NULL,
     "replace files that exist (default: they are kept, and that is an error)",
     FIELD(options.overwrite), NULL, NULL},
    {"dry-run", 0, NULL, "look at the data, print the plan, compute and write nothing",
     FIELD(options.dry_run), NULL, NULL},
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
    {"pol", 0, "P",
     "I, XX, YY, RR or LL (default: the file's only one, else I from the parallel hands)",
     FIELD(options.vis.polarisation), parse_polarisation, NULL},
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
    {.help = "Machine"},
    {"vram", 0, "SIZE",
     "device memory to use, such as 512M, 0.5G or 800MB: K M G T and KiB MiB GiB TiB are powers of "
     "1024, kB MB GB TB of 1000 (default: 90 % of what is free now; on the host device, half of "
     "that of the host's memory)",
     FIELD(budgets.vram_bytes), parse_bytes, NULL},
    {"ram", 0, "SIZE",
     "host memory to use for data (default: 90 % of what is free now within the container's limit; "
     "on the host device, what --vram leaves of that, a quarter at least)",
     FIELD(budgets.ram_bytes), parse_bytes, NULL},
    {"device", 0, "DEVICE",
     "auto, host, cuda or cuda:N (default: auto, a card if there is one that works)",
     FIELD(options), parse_device, NULL},
    {"threads", 0, "N", "threads to use (default: all processors this process may use)",
     FIELD(options.n_threads), slci_arg_threads, NULL},
};

static const char image_usage[] =
    "usage: sluice image INPUT... -o OUT [-o OUT2 ...] [options]\n\n"
    "Makes the dirty image of a visibility set that may be larger than memory: UVH5, or a plain\n"
    "set in HDF5 or .npz with u, v, w (in wavelengths), vis or data, and perhaps weight and\n"
    "flags. Several inputs are one set.\n\n"
    "  sluice image obs.uvh5 -o dirty.fits --size 1024 --scale 20asec --vram 256M\n";

/* ---- before the run ------------------------------------------------------------------------ */

/* The statistics' file: an ordinary one appears whole or not at all, a device or pipe is written to
 * as it is. */
static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static slc_status check_stats(const char *path, bool overwrite) {
    if (path == NULL || strcmp(path, "-") == 0) {
        return SLC_OK;
    }
    if (!is_special(path)) {
        const slc_status status = slc_outfile_check(path, overwrite, 0);
        return status == SLC_OK ? SLC_OK : slc_status_prefix(status, "--stats");
    }
    if (access(path, W_OK) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "--stats: cannot write to %s: %s", path, strerror(errno));
    }
    return SLC_OK;
}

/* No file may be written twice, and no input may be written over. */
static slc_status check_names(const image_arguments *arguments) {
    const char *extra[2];
    int n_extra = 0;
    if (arguments->options.psf_path != NULL) {
        extra[n_extra++] = arguments->options.psf_path;
    }
    if (arguments->stats_path != NULL && strcmp(arguments->stats_path, "-") != 0) {
        extra[n_extra++] = arguments->stats_path;
    }
    const int n_outputs = arguments->outputs.n + n_extra;
    for (int i = 0; i < n_outputs; i++) {
        const char *output = i < arguments->outputs.n ? arguments->outputs.words[i]
                                                      : extra[i - arguments->outputs.n];
        for (int j = 0; j < arguments->inputs.n; j++) {
            if (slci_is_same_file(output, arguments->inputs.words[j])) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT,
                                "%s is an input and an output; name another "
                                "output",
                                output);
            }
        }
        for (int j = 0; j < i; j++) {
            const char *other = j < arguments->outputs.n ? arguments->outputs.words[j]
                                                         : extra[j - arguments->outputs.n];
            if (slci_is_same_file(output, other)) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT,
                                "%s is named for two outputs; each needs its "
                                "own file",
                                output);
            }
        }
    }
    return SLC_OK;
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
        !arguments->options.dry_run) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "no output file given: add -o FILE.fits, -o FILE.h5, "
                        "-o FILE.png or --psf FILE, or --dry-run to see the plan only");
    }
    SLC_TRY(check_complex(arguments));
    SLC_TRY(check_names(arguments));
    return check_stats(arguments->stats_path, arguments->options.overwrite);
}

/* ---- during and after the run --------------------------------------------------------------- */

static void show_progress(void *context, slc_progress_stage stage, double done, double total) {
    static const struct {
        const char *name;
        const char *thing;
    } stages[SLC_STAGE_COUNT] = {[SLC_STAGE_SURVEY] = {"surveying", "rows"},
                                 [SLC_STAGE_IMAGE] = {"imaging", "pairs"},
                                 [SLC_STAGE_PSF] = {"PSF", "pairs"},
                                 [SLC_STAGE_WRITE] = {"writing", ""}};
    if ((unsigned)stage < SLC_STAGE_COUNT) {
        slci_progress_update(context, stages[stage].name, stages[stage].thing, done, total);
    }
}

/* Appends to the summary, which is cut where it is full. */
static void append(char summary[SUMMARY_BYTES], const char *format, ...) SLC_PRINTF(2, 3);

static void append(char summary[SUMMARY_BYTES], const char *format, ...) {
    const size_t used = strlen(summary);
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(summary + used, SUMMARY_BYTES - used, format, arguments);
    va_end(arguments);
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

/* The text, and a newline where it does not end with one. False where the stream took less. */
static bool print_text(FILE *out, const char *text) {
    const size_t length = strlen(text);
    const char *newline = length > 0 && text[length - 1] == '\n' ? "" : "\n";
    return fputs(text, out) >= 0 && fputs(newline, out) >= 0;
}

/* Writes the text to `path`, which is a special file, or the temporary one of an ordinary file; the
 * user knows it as `name`. */
static slc_status write_text(const char *path, const char *name, const char *text) {
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "--stats: cannot write to %s: %s", name, strerror(errno));
    }
    const bool is_written = print_text(file, text) && fflush(file) == 0;
    const int reason = errno;
    if (fclose(file) != 0 || !is_written) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "--stats: cannot write to %s: %s", name,
                        strerror(is_written ? errno : reason));
    }
    return SLC_OK;
}

static slc_status write_stats(const image_arguments *arguments, const slc_image_result *result) {
    const char *path = arguments->stats_path;
    char *json = NULL;
    slc_outfile file = {.temporary_path = ""};
    slc_status status = SLC_OK;
    if (path == NULL) {
        return SLC_OK;
    }
    SLC_TRY_GOTO(done, slc_image_stats_json(result, &json));
    if (strcmp(path, "-") == 0) {
        (void)print_text(stdout, json);
        status = slci_flush_stdout();
    } else if (is_special(path)) {
        status = write_text(path, path, json);
    } else {
        SLC_TRY_GOTO(done, slc_outfile_begin(path, arguments->options.overwrite, &file));
        SLC_TRY_GOTO(done, write_text(file.temporary_path, path, json));
        SLC_TRY_GOTO(done, slc_outfile_commit(&file));
    }
done:
    slc_outfile_abandon(&file);
    free(json);
    return status;
}

/* What the run was limited by, for people; the same is in the statistics. */
static void note_limits(slci_program *program, const slc_image_result *result) {
    char took[SLCI_TEXT_BYTES];
    char peak[SLCI_TEXT_BYTES];
    char limit[SLCI_TEXT_BYTES];
    char rate[SLCI_TEXT_BYTES];
    slci_format_seconds(result->total_seconds, took);
    slci_format_bytes(result->vram_peak_bytes, peak);
    slci_format_bytes(result->vram_limit_bytes, limit);
    slci_format_number(result->pairs_per_second, 3, rate);
    slc_log_note(&program->log, "took %s on %s, limited by %s; %s pairs/s; device memory %s of %s",
                 took, result->device_name,
                 slc_bottleneck_name(slc_engine_bottleneck(&result->report)), rate, peak, limit);
}

/* A plan that is asked for is shown whatever it needs; whether it could be run is said afterwards. */
static slc_status check_ram(const slc_image_result *result) {
    if (result->smallest_ram_bytes <= result->ram_limit_bytes) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_NO_PLAN, "this run would be refused: it needs --ram %lld, found %lld",
                    (long long)result->smallest_ram_bytes, (long long)result->ram_limit_bytes);
}

/* Prints what the run is asked to print. Where the statistics take standard output, everything else
 * goes to standard error. */
static slc_status report(slci_program *program, const image_arguments *arguments,
                         const slc_image_result *result) {
    const bool is_stdout_taken =
        arguments->stats_path != NULL && strcmp(arguments->stats_path, "-") == 0;
    FILE *out = is_stdout_taken ? stderr : stdout;
    char *plan = NULL;
    char summary[SUMMARY_BYTES];
    slc_status status = SLC_OK;
    slci_progress_finish(&program->progress);
    SLC_TRY_GOTO(done, write_stats(arguments, result));
    if (arguments->options.dry_run) {
        if (!is_stdout_taken) {
            SLC_TRY_GOTO(done, slc_image_plan_text(result, &plan));
            (void)print_text(out, plan);
        }
    } else if (!program->is_quiet) {
        note_limits(program, result);
        summarise(result, summary);
        (void)print_text(out, summary);
    }
    status = slci_flush_stdout();
    if (status == SLC_OK && arguments->options.dry_run) {
        status = check_ram(result);
    }
done:
    free(plan);
    return status;
}

static slc_status run_image(slci_program *program, void *target) {
    image_arguments *arguments = target;
    slc_image_options *options = &arguments->options;
    slc_image_result result;
    SLC_TRY(check_arguments(arguments));
    if (options->n_threads == 0) {
        options->n_threads = slci_host_cpus("");
    }
    SLC_TRY(slci_default_budgets(options->device, options->cuda_index, &arguments->budgets));
    options->vram_bytes = arguments->budgets.vram_bytes;
    options->ram_bytes = arguments->budgets.ram_bytes;
    slc_log_detail(&program->log, "--vram %lld --ram %lld --threads %d",
                   (long long)options->vram_bytes, (long long)options->ram_bytes,
                   options->n_threads);
    options->inputs = arguments->inputs.words;
    options->n_inputs = arguments->inputs.n;
    options->outputs = arguments->outputs.words;
    options->n_outputs = arguments->outputs.n;
    options->log = &program->log;
    options->vis.log = &program->log;
    options->progress = show_progress;
    options->progress_context = &program->progress;
    options->cancel = program->cancel;
    SLC_TRY(slc_image_run(options, &result));
    return report(program, arguments, &result);
}

slc_status slci_cmd_image(slci_program *program, int argc, char *const *argv) {
    image_arguments arguments = {.budgets = {SLCI_BUDGET_UNSET, SLCI_BUDGET_UNSET}};
    slc_image_options_init(&arguments.options);
    const slci_command command = {
        .name = "sluice image",
        .usage = image_usage,
        .options = {image_args, (int)(sizeof image_args / sizeof image_args[0]), &arguments},
        .operands = &arguments.inputs,
        .run = run_image,
    };
    SLC_TRY(slci_words_create(argc, &arguments.outputs));
    const slc_status status = slci_command_run(&command, program, argc, argv);
    free(arguments.outputs.words);
    return status;
}
