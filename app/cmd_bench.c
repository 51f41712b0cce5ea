/* `sluice bench engine|copy|io|ladder`: what the engine, strided copies, the reading of archives or the
 * steps of examples/ladder reach on this machine, as a table or as JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/bench_copy.h"
#include "app/bench_engine.h"
#include "app/bench_io.h"
#include "app/cmd_bench_ladder.h"
#include "app/cmd_run.h"
#include "app/json.h"
#include "core/units.h"
#include "core/version.h"

typedef struct bench_arguments {
    slci_run_arguments run;
    const char *folder;
    const char *chart_path; /* NULL: none */
    bool is_quick, is_json;
    int64_t array_bytes;
    slci_words operands;
} bench_arguments;

#define FIELD(member) offsetof(bench_arguments, member)

/* The array has whole chunks of 2 MiB; far less is a slip, such as a missing unit. */
#define LEAST_ARRAY_BYTES ((int64_t)1 << 20)

/* `field` is an int64_t. */
static slc_status parse_array(const char *text, void *field) {
    int64_t *bytes = field;
    SLC_TRY(slci_parse_bytes(text, bytes));
    return *bytes >= LEAST_ARRAY_BYTES
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is too small an array; expected 1M at least",
                          text);
}

static const slci_arg bench_args[] = {
    {.help = "Benchmark"},
    {"quick", 0, NULL, "an eighth of the bytes, once instead of three times", FIELD(is_quick), NULL,
     NULL},
    {"json", 0, NULL, "print JSON", FIELD(is_json), NULL, NULL},
    {"work", 0, "FOLDER",
     "where files to measure with go, 150 MB at most for the engine and the array's size for io (8 "
     "times that on a card), removed afterwards (default: /tmp)",
     FIELD(folder), slci_arg_text, NULL},
    {"array", 0, "SIZE",
     "bytes of the array that io measures with, 1M at least (default: 128 MiB a thread, at least "
     "256 MiB and at most 1 GiB; an eighth of that with --quick)",
     FIELD(array_bytes), parse_array, NULL},
    {"chart", 0, "FILE", "write what ladder measures as a bar chart too, a PNG (default: none)",
     FIELD(chart_path), slci_arg_text, NULL},
};

static const char bench_usage[] =
    "usage: sluice bench engine|copy|io|ladder [options]\n\n"
    "Measures what the engine, strided copies and transposes, HDF5 archives read and written, or\n"
    "the steps from a plain to a fast direct transform (examples/ladder) reach on this machine,\n"
    "each figure beside the machine's own limit or what one would use instead, measured in the\n"
    "same run.\n";

/* ---- as a table ------------------------------------------------------------------------------- */

static void print_figure(const slci_bench_figure *figure) {
    char measured[SLCI_TEXT_BYTES];
    char limit[SLCI_TEXT_BYTES] = "";
    char share[SLCI_TEXT_BYTES] = "";
    char goal[SLCI_TEXT_BYTES] = "";
    slci_format_number(figure->measured, 4, measured);
    if (figure->limit > 0) {
        slci_format_number(figure->limit, 4, limit);
        slci_format_number(100 * figure->measured / figure->limit, 3, share);
        (void)strncat(share, " %", sizeof share - strlen(share) - 1);
    }
    if (figure->goal > 0) {
        slci_format_number(100 * figure->goal, 3, goal);
        (void)strncat(goal, figure->measured >= figure->goal * figure->limit ? " %" : " %  MISSED",
                      sizeof goal - strlen(goal) - 1);
    }
    (void)printf("%-42s %10s %-9s %10s  %8s  %-12s %s\n", figure->what, measured, figure->unit,
                 limit, share, goal, figure->limit_is);
    if (figure->note[0] != '\0') {
        (void)printf("    %s\n", figure->note);
    }
}

static void print_table(const slci_bench_result *result) {
    (void)printf("%s, software: %s, %d threads\n\n", result->device_name, result->software,
                 result->n_threads);
    (void)printf("%-42s %10s %-9s %10s  %8s  %-12s %s\n", "what", "measured", "", "limit", "share",
                 "goal", "limit is");
    for (int i = 0; i < result->n_figures; i++) {
        print_figure(&result->figure[i]);
    }
    for (int i = 0; i < result->n_omitted; i++) {
        (void)printf("not measured: %s\n", result->omitted[i]);
    }
    char why[SLCI_BENCH_WHY_BYTES];
    if (!slci_bench_is_sound(result, why, sizeof why)) {
        (void)printf("\nthe figures are unsound: %s; the machine was busy, run it again when it is "
                     "idle\n",
                     why);
    }
}

/* ---- as JSON ---------------------------------------------------------------------------------- */

static void write_figure(slci_json *json, const slci_bench_figure *figure) {
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "what", figure->what);
    slci_json_text(json, "unit", figure->unit);
    slci_json_f64(json, "measured", figure->measured);
    if (figure->limit > 0) {
        slci_json_f64(json, "limit", figure->limit);
        slci_json_text(json, "limit_is", figure->limit_is);
        slci_json_f64(json, "share", figure->measured / figure->limit);
    }
    if (figure->goal > 0) {
        slci_json_f64(json, "goal", figure->goal);
        slci_json_bool(json, "is_met", figure->measured >= figure->goal * figure->limit);
    }
    if (figure->note[0] != '\0') {
        slci_json_text(json, "note", figure->note);
    }
    slci_json_close(json, '}');
}

static void print_json(const slci_bench_result *result) {
    slci_json json = {.file = stdout};
    slci_json_open(&json, NULL, '{');
    slci_json_text(&json, "version", SLC_VERSION);
    slci_json_text(&json, "device", result->device_name);
    slci_json_text(&json, "software", result->software);
    slci_json_i64(&json, "threads", result->n_threads);
    slci_json_open(&json, "figures", '[');
    for (int i = 0; i < result->n_figures; i++) {
        write_figure(&json, &result->figure[i]);
    }
    slci_json_close(&json, ']');
    slci_json_open(&json, "omitted", '[');
    for (int i = 0; i < result->n_omitted; i++) {
        slci_json_text(&json, NULL, result->omitted[i]);
    }
    slci_json_close(&json, ']');
    char why[SLCI_BENCH_WHY_BYTES] = "";
    slci_json_bool(&json, "is_sound", slci_bench_is_sound(result, why, sizeof why));
    slci_json_text(&json, "unsound_because", why);
    slci_json_close(&json, '}');
}

/* ---- the command ------------------------------------------------------------------------------ */

typedef slc_status (*bench_function)(const slci_bench_options *options, slci_bench_result *out);

/* SLC_ERROR_ARGUMENT where the operands name none. */
static slc_status find_benchmark(const slci_words *operands, bench_function *out) {
    const char *name = operands->n == 1 ? operands->words[0] : "";
    if (strcmp(name, "engine") == 0) {
        *out = slci_bench_engine;
    } else if (strcmp(name, "copy") == 0) {
        *out = slci_bench_copy;
    } else if (strcmp(name, "io") == 0) {
        *out = slci_bench_io;
    } else {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is no benchmark: expected sluice bench engine, copy, io or "
                        "ladder (sluice bench --help says more)",
                        operands->n == 0 ? "" : operands->words[operands->n - 1]);
    }
    return SLC_OK;
}

static bool is_ladder(const slci_words *operands) {
    return operands->n == 1 && strcmp(operands->words[0], "ladder") == 0;
}

/* It has a table of its own, since its figures build on one another. */
static slc_status run_ladder(slci_program *program, bench_arguments *arguments) {
    SLC_TRY(slci_run_begin(program, &arguments->run));
    slci_ladder_request request = {.run = arguments->run.options,
                                   .chart_path = arguments->chart_path,
                                   .is_quick = arguments->is_quick,
                                   .is_json = arguments->is_json};
    request.run.probes = false; /* nothing is planned */
    SLC_TRY(slci_bench_ladder(program, &request));
    return slci_flush_stdout();
}

static slc_status run_bench(slci_program *program, void *target) {
    bench_arguments *arguments = target;
    bench_function benchmark = NULL;
    const bool climbs = is_ladder(&arguments->operands);
    SLC_TRY(climbs ? SLC_OK : find_benchmark(&arguments->operands, &benchmark));
    if (arguments->chart_path != NULL && !climbs) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--chart: only sluice bench ladder draws one");
    }
    if (arguments->array_bytes > 0 && benchmark != slci_bench_io) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--array: only sluice bench io measures with one");
    }
    if (climbs) {
        return run_ladder(program, arguments);
    }
    if (access(arguments->folder, W_OK | X_OK) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "--work %s: cannot write there: %s", arguments->folder,
                        strerror(errno));
    }
    SLC_TRY(slci_run_begin(program, &arguments->run));
    slci_bench_options options = {.run = arguments->run.options,
                                  .folder = arguments->folder,
                                  .is_quick = arguments->is_quick,
                                  .array_bytes = arguments->array_bytes};
    options.run.cache_folder = NULL; /* limits are measured in the same run */
    slci_bench_result result;
    SLC_TRY(benchmark(&options, &result));
    slci_progress_finish(&program->progress);
    if (arguments->is_json) {
        print_json(&result);
    } else {
        print_table(&result);
    }
    return slci_flush_stdout();
}

slc_status slci_cmd_bench(slci_program *program, int argc, char *const *argv) {
    bench_arguments arguments = {.folder = "/tmp"};
    slci_run_arguments_init(&arguments.run);
    const slci_command command = {
        .name = "sluice bench",
        .usage = bench_usage,
        .options = {bench_args, (int)(sizeof bench_args / sizeof bench_args[0]), &arguments},
        .run_options = slci_machine_arg_table(&arguments.run),
        .operands = &arguments.operands,
        .run = run_bench,
    };
    return slci_command_run(&command, program, argc, argv);
}
