/* `sluice bench engine|copy|io|direct|ladder`: what the engine, strided copies, the reading of
 * archives, the direct kernels or the steps of examples/ladder reach on this machine, as a table or as
 * JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/bench_copy.h"
#include "app/bench_engine.h"
#include "app/bench_io.h"
#include "app/cmd_bench_direct.h"
#include "app/cmd_bench_ladder.h"
#include "app/cmd_run.h"
#include "app/json.h"
#include "core/units.h"
#include "core/version.h"

typedef struct bench_arguments {
    slci_run_arguments run;
    const char *folder;     /* NULL: the default */
    const char *chart_path; /* NULL: none */
    bool is_quick, is_json, tunes;
    int64_t array_bytes, n_visibilities; /* 0: the default */
    const char *field;                   /* NULL: all */
    slci_words operands;
} bench_arguments;

#define FIELD(member) offsetof(bench_arguments, member)

/* The array has whole chunks of 2 MiB; far less is a slip, such as a missing unit. */
#define LEAST_ARRAY_BYTES ((int64_t)1 << 20)

#define USUAL_FOLDER "/tmp"

/* 15 TB of them. */
#define MOST_VISIBILITIES INT64_C(1000000000000)

/* `field` is an int64_t. */
static slc_status parse_array(const char *text, void *field) {
    int64_t *bytes = field;
    SLC_TRY(slci_parse_bytes(text, bytes));
    return *bytes >= LEAST_ARRAY_BYTES
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is too small an array; expected 1M at least",
                          text);
}

static slc_status parse_visibilities(const char *text, void *field) {
    return slci_parse_integer(text, 1, MOST_VISIBILITIES, field);
}

typedef slc_status (*bench_function)(const slci_bench_options *options, slci_bench_result *out);

enum { ENGINE, COPY, IO, DIRECT, LADDER, N_BENCHMARKS };

/* What each has a help text of its own for. */
typedef struct benchmark {
    const char *name;
    bench_function
        run; /* NULL: it has a table of its own, since its figures build on one another */
    const char *usage;
    const char *quick; /* what --quick makes less of */
} benchmark;

static const benchmark benchmarks[N_BENCHMARKS] = {
    [ENGINE] =
        {"engine", slci_bench_engine,
         "usage: sluice bench engine [options]\n\n"
         "Measures what the engine reaches on this machine: copies through tiles, between RAM and\n"
         "RAM, what it adds to a loop written by hand, small tiles, imaging, and elements read\n"
         "where they lie in host memory; each figure beside the machine's own limit, measured in\n"
         "the same run.\n",
         "an eighth of the bytes, a fourth of the arrays that are gathered from, once instead "
         "of three times"},
    [COPY] =
        {"copy", slci_bench_copy,
         "usage: sluice bench copy [options]\n\n"
         "Measures strided copies on this machine: slices, reversals and transposes, each beside\n"
         "a contiguous copy of as many bytes, measured in the same run.\n",
         "an eighth of each array, half as many rounds"},
    [IO] = {"io", slci_bench_io,
            "usage: sluice bench io [options]\n\n"
            "Measures reading and writing of HDF5 archives on this machine, each figure beside\n"
            "HDF5's own, the bare file or what one would use instead, measured in the same run.\n",
            "an eighth of the array, once instead of three times"},
    [DIRECT] =
        {"direct", slci_cmd_bench_direct,
         "usage: sluice bench direct [options]\n\n"
         "Measures the direct imaging kernels on this machine and how exact they are, each figure\n"
         "beside the machine's own limit, measured in the same run, and a whole job beside its\n"
         "kernel.\n",
         "smaller pictures, each kernel once, a fourth of the whole job"},
    [LADDER] =
        {"ladder", NULL,
         "usage: sluice bench ladder [options]\n\n"
         "Measures the steps from a plain to a fast direct transform (examples/ladder) on this\n"
         "machine, each beside the step before and the limit that it runs into, measured in the\n"
         "same run.\n",
         "an eighth of the pairs on a card, a thirty-second on the processor"},
};

static const char bench_usage[] =
    "usage: sluice bench engine|copy|io|direct|ladder [options]\n\n"
    "Measures what Sluice reaches on this machine, each figure beside the machine's own limit, or\n"
    "what one would use instead, measured in the same run:\n\n"
    "  engine  tiles streamed through the device\n"
    "  copy    strided copies and transposes\n"
    "  io      HDF5 archives read and written\n"
    "  direct  the kernels of direct imaging\n"
    "  ladder  the steps from a plain to a fast direct transform (examples/ladder)\n\n"
    "sluice bench io --help says what holds for io, and so on.\n";

#define QUICK "quick"
#define OF(number) (1U << (number))
#define OF_ALL (OF(N_BENCHMARKS) - 1)

/* An option, and the benchmarks that have it. */
typedef struct bench_arg {
    unsigned of;
    slci_arg arg;
} bench_arg;

static const bench_arg bench_args[] = {
    {OF_ALL, {.help = "Benchmark"}},
    {OF_ALL, {QUICK, 0, NULL, "measure less and sooner", FIELD(is_quick), NULL, NULL}},
    {OF_ALL, {"json", 0, NULL, "print JSON", FIELD(is_json), NULL, NULL}},
    {OF(ENGINE) | OF(IO) | OF(DIRECT),
     {"work", 0, "FOLDER",
      "where files to measure with go, 150 MB at most for the engine, the array's size for io (8 "
      "times that on a card), 15 bytes a visibility for direct, removed afterwards "
      "(default: " USUAL_FOLDER ")",
      FIELD(folder), slci_arg_text, NULL}},
    {OF(IO),
     {"array", 0, "SIZE",
      "bytes of the array that io measures with, 1M at least (default: 128 MiB a thread, at least "
      "256 MiB and at most 1 GiB; an eighth of that with --quick)",
      FIELD(array_bytes), parse_array, NULL}},
    {OF(DIRECT),
     {"vis", 0, "N",
      "visibilities of the whole job that direct times (default: as many as its kernel takes 8 s "
      "for on a card, 2 s on the host, a fourth of that with --quick)",
      FIELD(n_visibilities), parse_visibilities, NULL}},
    {OF(DIRECT),
     {"field", 0, "NAME",
      "one field's kernels alone, in the smaller picture and without limits, for profilers, such "
      "as 'MWA 34 degrees' (default: all)",
      FIELD(field), slci_arg_text, NULL}},
    {OF(DIRECT),
     {"tune", 0, NULL,
      "measure instead how the kernels' work is divided best on this machine, and what the model's "
      "choice loses by it",
      FIELD(tunes), NULL, NULL}},
    {OF(LADDER),
     {"chart", 0, "FILE", "write what ladder measures as a bar chart too, a PNG (default: none)",
      FIELD(chart_path), slci_arg_text, NULL}},
};

#define N_BENCH_ARGS ((int)(sizeof bench_args / sizeof bench_args[0]))

/* All options are known to all, so that who gives one to the wrong benchmark is told the right one; the
 * help has those of the one that is named (NULL: none is). */
static void choose_rows(const benchmark *named, slci_arg rows[N_BENCH_ARGS]) {
    for (int i = 0; i < N_BENCH_ARGS; i++) {
        rows[i] = bench_args[i].arg;
        if (named != NULL && (bench_args[i].of & OF((unsigned)(named - benchmarks))) == 0) {
            rows[i].help = NULL;
        } else if (named != NULL && rows[i].name != NULL && strcmp(rows[i].name, QUICK) == 0) {
            rows[i].help = named->quick;
        }
    }
}

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

/* NULL where none has the name. */
static const benchmark *find_benchmark(const char *name) {
    for (int i = 0; i < N_BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) == 0) {
            return &benchmarks[i];
        }
    }
    return NULL;
}

static bool has_files(const benchmark *chosen) {
    return chosen != &benchmarks[COPY] && chosen != &benchmarks[LADDER];
}

/* SLC_ERROR_ARGUMENT where an option is another benchmark's. */
static slc_status check_options(const bench_arguments *arguments, const benchmark *chosen) {
    if (arguments->chart_path != NULL && chosen != &benchmarks[LADDER]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--chart: only sluice bench ladder draws one");
    }
    if (arguments->array_bytes > 0 && chosen != &benchmarks[IO]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--array: only sluice bench io measures with one");
    }
    if (arguments->folder != NULL && !has_files(chosen)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--work: sluice bench %s writes no files",
                        chosen->name);
    }
    if (arguments->n_visibilities > 0 && chosen != &benchmarks[DIRECT]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--vis: only sluice bench direct has visibilities");
    }
    if (arguments->tunes && chosen != &benchmarks[DIRECT]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--tune: only sluice bench direct has kernels to tune");
    }
    if (arguments->field != NULL && chosen != &benchmarks[DIRECT]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--field: only sluice bench direct has fields");
    }
    if (arguments->tunes && arguments->field != NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--field: --tune has shapes of its own");
    }
    if ((arguments->tunes || arguments->field != NULL) && arguments->n_visibilities > 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--vis: with --%s no whole job is timed",
                        arguments->tunes ? "tune" : "field");
    }
    return SLC_OK;
}

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
    const slci_words *operands = &arguments->operands;
    const benchmark *chosen = operands->n == 1 ? find_benchmark(operands->words[0]) : NULL;
    if (chosen == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is no benchmark: expected sluice bench engine, copy, io, direct "
                        "or ladder (sluice bench --help says more)",
                        operands->n == 0 ? "" : operands->words[operands->n - 1]);
    }
    SLC_TRY(check_options(arguments, chosen));
    if (chosen->run == NULL) {
        return run_ladder(program, arguments);
    }
    const char *folder = arguments->folder != NULL ? arguments->folder : USUAL_FOLDER;
    if (has_files(chosen) && access(folder, W_OK | X_OK) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "--work %s: cannot write there: %s", folder,
                        strerror(errno));
    }
    SLC_TRY(slci_run_begin(program, &arguments->run));
    slci_bench_options options = {.run = arguments->run.options,
                                  .folder = folder,
                                  .is_quick = arguments->is_quick,
                                  .array_bytes = arguments->array_bytes,
                                  .n_visibilities = arguments->n_visibilities,
                                  .field = arguments->field,
                                  .tunes = arguments->tunes};
    options.run.cache_folder = NULL; /* limits are measured in the same run */
    slci_bench_result result;
    SLC_TRY(chosen->run(&options, &result));
    slci_progress_finish(&program->progress);
    if (arguments->is_json) {
        print_json(&result);
    } else {
        print_table(&result);
    }
    return slci_flush_stdout();
}

slc_status slci_cmd_bench(slci_program *program, int argc, char *const *argv) {
    bench_arguments arguments = {.folder = NULL};
    const benchmark *named = NULL;
    slci_arg rows[N_BENCH_ARGS];
    for (int i = 0; i < argc && named == NULL; i++) {
        named = find_benchmark(argv[i]);
    }
    choose_rows(named, rows);
    slci_run_arguments_init(&arguments.run);
    const slci_command command = {
        .name = "sluice bench",
        .usage = named != NULL ? named->usage : bench_usage,
        .options = {rows, N_BENCH_ARGS, &arguments},
        .run_options = slci_machine_arg_table(&arguments.run),
        .operands = &arguments.operands,
        .run = run_bench,
    };
    return slci_command_run(&command, program, argc, argv);
}
