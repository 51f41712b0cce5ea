/* `sluice simulate`: the command line of the synthetic observations of io/simulate.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd_run.h"
#include "core/host_memory.h"
#include "core/pool.h"
#include "core/units.h"
#include "io/outfile.h"
#include "io/simulate.h"

typedef struct simulate_arguments {
    slc_simulate_options options;
    bool has_ra, has_dec;
    int n_threads;
    slci_words operands;
} simulate_arguments;

static slc_status parse_count(const char *text, void *field) {
    return slci_parse_integer(text, 1, INT64_C(1) << 48, field);
}

static slc_status parse_array(const char *text, void *field) {
    static const char *const names[] = {"vla-d", "meerkat", "mwa"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *(const char **)field = names[i];
            return SLC_OK;
        }
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is no array: expected vla-d, meerkat or mwa",
                    text);
}

static slc_status parse_frequency(const char *text, void *field) {
    return slci_parse_frequency(text, field);
}

static slc_status parse_noise(const char *text, void *field) {
    double jy = 0.0;
    SLC_TRY(slci_parse_number(text, &jy));
    if (jy < 0.0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is below zero: expected a noise in Jy", text);
    }
    *(double *)field = jy;
    return SLC_OK;
}

static slc_status parse_seed(const char *text, void *field) {
    return slci_parse_unsigned(text, field);
}

static slc_status parse_ra(const char *text, void *field) {
    simulate_arguments *arguments = field;
    arguments->has_ra = true;
    return slci_parse_ra(text, &arguments->options.ra_rad);
}

static slc_status parse_dec(const char *text, void *field) {
    simulate_arguments *arguments = field;
    arguments->has_dec = true;
    return slci_parse_dec(text, &arguments->options.dec_rad);
}

static slc_status parse_hours(const char *text, void *field) {
    double hours = 0.0;
    SLC_TRY(slci_parse_number(text, &hours));
    if (hours <= 0.0 || hours > 24.0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is out of range: expected hours above 0, up to 24", text);
    }
    *(double *)field = hours;
    return SLC_OK;
}

static slc_status parse_polarisations(const char *text, void *field) {
    int64_t n = 0;
    SLC_TRY(slci_parse_integer(text, 1, 2, &n));
    *(int *)field = (int)n;
    return SLC_OK;
}

static slc_status parse_zstd(const char *text, void *field) {
    int64_t level = 0;
    SLC_TRY(slci_parse_integer(text, 0, 19, &level));
    *(int *)field = (int)level;
    return SLC_OK;
}

#define FIELD(member) offsetof(simulate_arguments, member)

static const slci_arg simulate_args[] = {
    {.help = "Result"},
    {"output", 'o', "FILE", "the UVH5 file to write", FIELD(options.path), slci_arg_text, NULL},
    {"zstd", 0, "LEVEL", "compress with shuffle and zstd, level 1 to 19 (default: 0, not at all)",
     FIELD(options.zstd_level), parse_zstd, NULL},
    {"overwrite", 0, NULL, "replace a file that exists (default: it is kept, and that is an error)",
     FIELD(options.overwrite), NULL, NULL},
    {.help = "Observation"},
    {"array", 0, "NAME",
     "vla-d, meerkat or mwa: positions as published, approximate (default: vla-d)",
     FIELD(options.array), parse_array, NULL},
    {"rows", 0, "N", "rows to write (default: one synthesis at the array's cadence)",
     FIELD(options.n_rows), parse_count, NULL},
    {"channels", 0, "N", "channels (default: 1)", FIELD(options.n_channels), parse_count, NULL},
    {"freq", 0, "F", "middle of the first channel, with Hz, kHz, MHz or GHz (default: by array)",
     FIELD(options.freq_hz), parse_frequency, NULL},
    {"channel-width", 0, "F", "width of a channel, likewise (default: by array)",
     FIELD(options.channel_width_hz), parse_frequency, NULL},
    {"ra", 0, "RA", "phase centre, such as 04:02:27.9 or 60.6deg (default: by array)", 0, parse_ra,
     NULL},
    {"dec", 0, "DEC", "phase centre, such as -30:19:37.9 or -30.3deg (default: by array)", 0,
     parse_dec, NULL},
    {"hours", 0, "H", "length of the synthesis around transit (default: 8)", FIELD(options.hours),
     parse_hours, NULL},
    {"pols", 0, "N", "polarisations: 1 (Stokes I) or 2 (parallel hands) (default: 2)",
     FIELD(options.n_polarisations), parse_polarisations, NULL},
    {.help = "Sky"},
    {"sky", 0, "FILE",
     "text file, one component a line: ra dec flux [major minor angle [index]], or l=... m=... "
     "flux=... (default: a double-lobed radio galaxy with background sources)",
     FIELD(options.sky_path), slci_arg_text, NULL},
    {"noise", 0, "JY",
     "standard deviation of the real and of the imaginary part of a visibility (default: 0)",
     FIELD(options.noise_jy), parse_noise, NULL},
    {"seed", 0, "N", "of the noise; the same seed gives the same file (default: 0)",
     FIELD(options.seed), parse_seed, NULL},
    {.help = "Machine"},
    {"threads", 0, "N", "threads to use (default: all processors this process may use)",
     FIELD(n_threads), slci_arg_threads, NULL},
};

static const char simulate_usage[] =
    "usage: sluice simulate -o OUT.uvh5 [options]\n\n"
    "Writes a synthetic observation, exact in double before it is stored in single\n"
    "precision, in little memory whatever its length.\n";

static void show_progress(void *context, int64_t done_rows, int64_t n_rows) {
    slci_progress_update(context, "simulating", "rows", (double)done_rows, (double)n_rows);
}

static slc_status check_arguments(const simulate_arguments *arguments) {
    if (arguments->operands.n > 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' was not expected: sluice simulate takes no input file",
                        arguments->operands.words[0]);
    }
    if (arguments->options.path == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no output file given: sluice simulate -o OUT.uvh5");
    }
    if (arguments->has_ra != arguments->has_dec) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--ra and --dec go together; only one was given");
    }
    SLC_TRY(slci_check_file_names(&arguments->options.sky_path,
                                  arguments->options.sky_path != NULL ? 1 : 0,
                                  &arguments->options.path, 1));
    return slc_outfile_check(arguments->options.path, arguments->options.overwrite, 0);
}

static slc_status run_simulate(slci_program *program, void *target) {
    simulate_arguments *arguments = target;
    slc_simulate_options *options = &arguments->options;
    SLC_TRY(check_arguments(arguments));
    options->has_position = arguments->has_ra;
    options->log = &program->log;
    options->progress = show_progress;
    options->progress_context = &program->progress;
    options->cancel = program->cancel;
    SLC_TRY(slc_simulate_resolve(options));
    SLC_TRY(slc_pool_create(arguments->n_threads > 0 ? arguments->n_threads : slci_host_cpus(""),
                            &options->pool));
    const slc_status status = slc_simulate_run(options);
    slc_pool_destroy(options->pool);
    if (status == SLC_OK && !program->is_quiet) {
        slci_progress_finish(&program->progress);
        char freq[SLCI_TEXT_BYTES];
        slci_format_frequency(options->freq_hz, freq);
        (void)printf("%s: %lld rows, %lld channel%s from %s, array %s\n", options->path,
                     (long long)options->n_rows, (long long)options->n_channels,
                     options->n_channels == 1 ? "" : "s", freq, options->array);
    }
    return status;
}

slc_status slci_cmd_simulate(slci_program *program, int argc, char *const *argv) {
    simulate_arguments arguments = {.n_threads = 0};
    const slci_command command = {
        .name = "sluice simulate",
        .usage = simulate_usage,
        .options = {simulate_args, (int)(sizeof simulate_args / sizeof simulate_args[0]),
                    &arguments},
        .operands = &arguments.operands,
        .run = run_simulate,
    };
    return slci_command_run(&command, program, argc, argv);
}
