/* `sluice stats`: the command line of the statistics job. The results go to standard output, as a table
 * or as JSON, and the histogram into a picture too. */
#include <stdlib.h>
#include <string.h>

#include "app/cmd_file.h"
#include "app/cmd_run.h"
#include "app/dataset_name.h"
#include "app/machine.h"
#include "app/run_stats.h"
#include "app/stats.h"
#include "app/stats_picture.h"
#include "core/print.h"
#include "core/units.h"

/* What the command line says, and room for what comes of it. */
typedef struct stats_arguments {
    slc_stats_options options;
    slci_words inputs;
    slci_dataset_name data;
    bool is_json;
    const char *png_path; /* NULL: none */
    int n_quantiles;
    double quantiles[SLC_STATS_MOST_QUANTILES];
    slc_stats_number quantile_values[SLC_STATS_MOST_QUANTILES];
    double *edges;
    int64_t *bins;
    slci_program *program;
    slci_run_arguments run;
} stats_arguments;

/* ---- the values of single options --------------------------------------------------------------- */

static slc_status parse_part(const char *text, void *field) {
    slc_stats_part *part = field;
    if (strcmp(text, "real") == 0) {
        *part = SLC_STATS_REAL;
    } else if (strcmp(text, "imag") == 0) {
        *part = SLC_STATS_IMAG;
    } else if (strcmp(text, "abs") == 0) {
        *part = SLC_STATS_ABS;
    } else {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is no part: expected real, imag or abs", text);
    }
    return SLC_OK;
}

/* The text up to the next `separator` or the end, as a number; `at` moves behind it. */
static slc_status parse_next(const char **at, char separator, double *out) {
    char word[64];
    const char *end = strchr(*at, separator);
    const size_t length = end != NULL ? (size_t)(end - *at) : strlen(*at);
    if (length >= sizeof word) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is too long for a number", *at);
    }
    memcpy(word, *at, length);
    word[length] = '\0';
    SLC_TRY(slci_parse_number(word, out));
    *at += length + (end != NULL ? 1 : 0);
    return SLC_OK;
}

static slc_status parse_quantiles(const char *text, void *field) {
    stats_arguments *arguments = field;
    const char *at = text;
    int n = 0;
    do {
        double quantile = 0;
        if (n == SLC_STATS_MOST_QUANTILES) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "more than %d quantiles", SLC_STATS_MOST_QUANTILES);
        }
        SLC_TRY(parse_next(&at, ',', &quantile));
        if (!(quantile >= 0 && quantile <= 1)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': quantiles are from 0 to 1", text);
        }
        arguments->quantiles[n++] = quantile;
    } while (*at != '\0');
    if (text[strlen(text) - 1] == ',') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' ends with a comma", text);
    }
    arguments->n_quantiles = n;
    return SLC_OK;
}

/* N or N:LOW:HIGH. */
static slc_status parse_histogram(const char *text, void *field) {
    slc_stats_options *options = field;
    char number[32];
    const size_t length = strcspn(text, ":");
    if (length >= sizeof number) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': expected N or N:LOW:HIGH", text);
    }
    memcpy(number, text, length);
    number[length] = '\0';
    SLC_TRY(slci_parse_integer(number, 1, SLC_STATS_MOST_BINS, &options->n_bins));
    options->has_range = text[length] == ':';
    if (!options->has_range) {
        return SLC_OK;
    }
    const char *at = text + length + 1;
    if (strchr(at, ':') == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': expected N or N:LOW:HIGH", text);
    }
    SLC_TRY(parse_next(&at, ':', &options->low));
    SLC_TRY(slci_parse_number(at, &options->high));
    if (!(options->low < options->high)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': the second end must be larger", text);
    }
    return SLC_OK;
}

/* ---- the table ---------------------------------------------------------------------------------- */

#define FIELD(member) offsetof(stats_arguments, member)

static const slci_arg stats_args[] = {
    {.help = "Statistics"},
    {"json", 0, NULL, "print one JSON object, after --dry-run the plan (default: a table)",
     FIELD(is_json), NULL, NULL},
    {"quantiles", 0, "Q,Q,...",
     "quantiles from 0 to 1, exact, between two values by linear interpolation (default: none)", 0,
     parse_quantiles, NULL},
    {"no-median", 0, NULL,
     "leave out the median, so that the data is read once; without it, up to four times",
     FIELD(options.no_median), NULL, NULL},
    {"histogram", 0, "N[:LOW:HIGH]",
     "counts in N equal bins from LOW to HIGH, each without its upper end but for the last one "
     "(default: none; from the least to the greatest finite value, which takes one more pass)",
     FIELD(options), parse_histogram, NULL},
    {"png", 0, "FILE", "write the histogram as a picture too (default: none)", FIELD(png_path),
     slci_arg_text, NULL},
    {"part", 0, "PART",
     "of complex numbers: real, imag or abs (default: sum, mean and std of the numbers as they "
     "are, the rest of their absolute values)",
     FIELD(options.part), parse_part, NULL},
};

static const char stats_usage[] =
    "usage: sluice stats IN.h5:/DATA[SLICE] [options]\n\n"
    "Says what an array holds: how many elements, NaN and infinities, the smallest and largest\n"
    "value and where they are, sum, mean, standard deviation, median, quantiles, a histogram. The\n"
    "array may be larger than memory; the results are exact but for one rounding, whatever the\n"
    "budgets.\n\n"
    "  sluice stats in.h5:/data --json --quantiles 0.01,0.99 --vram 256M\n";

/* ---- before the run ----------------------------------------------------------------------------- */

static slc_status check_names(const stats_arguments *arguments) {
    const char *dataset = arguments->data.dataset;
    const slc_h5_reading input = {.path = arguments->data.path, .names = &dataset, .n_names = 1};
    return slci_run_check_files(&arguments->run, &input, 1, &arguments->png_path, 1);
}

/* Of a --png that is given. */
static slci_side_file png_file(const stats_arguments *arguments) {
    return (slci_side_file){.option = "--png",
                            .path = arguments->png_path,
                            .overwrite =
                                slci_run_may_replace(&arguments->run.options, arguments->png_path),
                            .cancel = arguments->run.options.cancel};
}

static slc_status check_png(const stats_arguments *arguments) {
    if (arguments->png_path == NULL) {
        return SLC_OK;
    }
    if (arguments->options.n_bins == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--png draws a histogram: add --histogram N");
    }
    const slci_side_file file = png_file(arguments);
    return slci_side_file_check(&file);
}

static slc_status check_arguments(stats_arguments *arguments) {
    if (arguments->inputs.n != 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "expected one array, found %d: sluice stats IN:/DATA (sluice stats --help "
                        "lists all options)",
                        arguments->inputs.n);
    }
    SLC_TRY(slci_dataset_name_parse_slice(arguments->inputs.words[0], &arguments->data));
    SLC_TRY(check_names(arguments));
    SLC_TRY(check_png(arguments));
    return slci_run_check(&arguments->run);
}

static slc_status make_room(stats_arguments *arguments) {
    slc_stats_options *options = &arguments->options;
    options->n_quantiles = arguments->n_quantiles;
    options->quantiles = arguments->quantiles;
    options->quantile_values = arguments->quantile_values;
    if (options->n_bins > 0) {
        arguments->edges = calloc((size_t)options->n_bins + 1, sizeof *arguments->edges);
        arguments->bins = calloc((size_t)options->n_bins + 2, sizeof *arguments->bins);
        if (arguments->edges == NULL || arguments->bins == NULL) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a histogram of %lld bins",
                            (long long)options->n_bins);
        }
        options->edges = arguments->edges;
        options->bins = arguments->bins;
    }
    return SLC_OK;
}

/* ---- after the run ------------------------------------------------------------------------------ */

static void fill_page(const stats_arguments *arguments, const slc_stats_result *result,
                      const char *const *names, slci_page *page) {
    page->command = "sluice stats";
    page->inputs = arguments->inputs.words;
    page->n_inputs = arguments->inputs.n;
    page->device_name = result->device_name;
    page->total_seconds = result->total_seconds;
    slci_page_set_memory(page, &result->memory);
    page->plan = &result->plan;
    page->report = &result->report;
    page->axis_names = names;
    slci_page_add(page, "elements", "%lld of %s", (long long)result->n,
                  slc_dtype_name(result->data.dtype));
    slci_page_add(page, "passes over the data", "%d", result->n_passes);
}

static void write_bytes(FILE *out, const void *context) {
    const slci_png *png = context;
    (void)fwrite(png->bytes, 1, (size_t)png->n_bytes, out);
}

static slc_status write_picture(const stats_arguments *arguments, slc_checkpoint *checkpoint,
                                const slc_stats_result *result) {
    slci_png png;
    if (arguments->png_path == NULL) {
        return SLC_OK;
    }
    slci_side_file file = png_file(arguments);
    file.checkpoint = checkpoint;
    if (!result->has_bins) {
        slc_log_warning(arguments->run.options.log,
                        "%s is not written: there is no finite value, and so no histogram",
                        file.path);
        return SLC_OK;
    }
    SLC_TRY(slci_stats_picture(&arguments->options, &png));
    const slc_status status = slci_side_file_write(&file, write_bytes, &png);
    free(png.bytes);
    return status;
}

/* The results are what was asked for, not a word about them: --quiet leaves them. */
static slc_status say(const stats_arguments *arguments, const char *text) {
    slci_program loud = *arguments->program;
    loud.is_quiet = false;
    return slci_run_say(&loud, &arguments->run, text);
}

/* The results, or the plan: after --dry-run --json the object that --stats would write, since --json
 * promises one. */
static slc_status print(const stats_arguments *arguments, const slc_stats_result *result,
                        const char *json) {
    char *text = NULL;
    if (arguments->run.options.dry_run && arguments->is_json) {
        return say(arguments, json);
    }
    SLC_TRY(arguments->run.options.dry_run ? slc_stats_plan_text(result, &text)
            : arguments->is_json           ? slc_stats_json(&arguments->options, result, &text)
                                           : slc_stats_text(&arguments->options, result, &text));
    const slc_status status = say(arguments, text);
    free(text);
    return status;
}

static slc_status deliver(void *context, slc_checkpoint *checkpoint, const void *delivered) {
    stats_arguments *arguments = context;
    const slc_stats_result *result = delivered;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    char *json = NULL;
    slc_status status = SLC_OK;
    slci_progress_finish(&arguments->program->progress);
    SLC_TRY_GOTO(done, slc_stats_run_json(result, &json));
    SLC_TRY_GOTO(done, print(arguments, result, json));
    if (!arguments->run.options.dry_run) {
        SLC_TRY_GOTO(done, write_picture(arguments, checkpoint, result));
    }
    fill_page(arguments, result, axes.name, &arguments->run.page);
    status = slci_run_end(&arguments->run, checkpoint, json);
    if (status != SLC_OK && !arguments->run.options.dry_run) {
        status = slci_run_lacks_rest(checkpoint, status);
    }
done:
    free(json);
    return status;
}

static slc_status run_stats(slci_program *program, void *target) {
    stats_arguments *arguments = target;
    slc_stats_options *options = &arguments->options;
    slc_stats_result result;
    SLC_TRY(check_arguments(arguments));
    SLC_TRY(make_room(arguments));
    SLC_TRY(slci_run_begin(program, &arguments->run));
    arguments->program = program;
    options->run = arguments->run.options;
    options->run.deliver = deliver;
    options->run.deliver_context = arguments;
    options->in = (slc_array_name){.path = arguments->data.path,
                                   .dataset = arguments->data.dataset,
                                   .slice = arguments->data.slice};
    return slc_stats_run(options, &result);
}

slc_status slci_cmd_stats(slci_program *program, int argc, char *const *argv) {
    stats_arguments *arguments = calloc(1, sizeof *arguments);
    if (arguments == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the command line");
    }
    slci_run_arguments_init(&arguments->run);
    const slci_command command = {
        .name = "sluice stats",
        .usage = stats_usage,
        .options = {stats_args, (int)(sizeof stats_args / sizeof stats_args[0]), arguments},
        .operands = &arguments->inputs,
        .run_options = slci_run_arg_table(&arguments->run),
        .run = run_stats,
    };
    const slc_status status = slci_command_run(&command, program, argc, argv);
    slci_run_arguments_release(&arguments->run);
    free(arguments->edges);
    free(arguments->bins);
    free(arguments);
    return status;
}
