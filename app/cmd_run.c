/* The options that every job takes. What they write beside the result appears whole or not at all. */
#include "app/cmd_run.h"

#include <stdlib.h>
#include <string.h>

#include "app/cmd_file.h"
#include "app/machine.h"
#include "app/trace_file.h"
#include "core/host_memory.h"
#include "core/units.h"

/* Of the file beside a checkpoint. */
#define JOURNAL_ENDING ".journal"

/* ---- the values of single options ------------------------------------------------------------ */

static slc_status parse_bytes(const char *text, void *field) {
    return slci_parse_bytes(text, field);
}

static slc_status parse_device(const char *text, void *field) {
    slc_run_options *options = field;
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

static slc_status parse_seconds(const char *text, void *field) {
    return slci_parse_seconds(text, field);
}

/* A file that is not standard output. */
static slc_status parse_file(const char *text, void *field) {
    if (strcmp(text, "-") == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'-' is no file; /dev/stdout is, which writes to standard output");
    }
    return slci_arg_text(text, field);
}

static slc_status parse_checkpoint(const char *text, void *field) {
    slci_run_arguments *run = field;
    slci_checkpoint_names *names = &run->checkpoint;
    SLC_TRY(parse_file(text, &names->path));
    const size_t n = strlen(text);
    const size_t n_ending = sizeof JOURNAL_ENDING - 1;
    if (n > n_ending && strcmp(text + n - n_ending, JOURNAL_ENDING) == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.120s' is the name of a journal; expected the checkpoint that it is of, "
                        "%.*s",
                        text, (int)(n - n_ending), text);
    }
    run->options.checkpoint_path = names->path;
    const int length = snprintf(names->journal, sizeof names->journal, "%s" JOURNAL_ENDING, text);
    if (length < 0 || (size_t)length >= sizeof names->journal) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s...' is too long a name: at most %zu bytes work",
                        text, sizeof names->journal - sizeof JOURNAL_ENDING);
    }
    return SLC_OK;
}

slc_status slci_arg_sparse(const char *text, void *field) {
    for (int choice = 0; choice < SLC_SPARSE_COUNT; choice++) {
        if (strcmp(text, slc_sparse_choice_name((slc_sparse_choice)choice)) == 0) {
            *(slc_sparse_choice *)field = (slc_sparse_choice)choice;
            return SLC_OK;
        }
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT,
                    "'%.80s' is no place for data: expected auto, resident, mapped or streamed",
                    text);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define FIELD(member) offsetof(slci_run_arguments, member)

static const slci_arg run_args[] = {
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
    {"no-probe", 0, NULL,
     "plan with assumed speeds (default: this machine's, measured once in well under a second and "
     "kept in the user's cache; the result does not depend on them)",
     FIELD(no_probe), NULL, NULL},
    {.help = "Run"},
    {"stats", 0, "FILE", "write what the run did as JSON; - is standard output (default: none)",
     FIELD(stats_path), slci_arg_text, NULL},
    {"trace", 0, "FILE",
     "write what each thread and stream did when, as JSON that Perfetto and chrome://tracing open "
     "(default: none)",
     FIELD(trace_path), parse_file, NULL},
    {"report", 0, "FILE",
     "write one page of HTML about the run: plan against what happened, time line, memory, picture "
     "(default: none)",
     FIELD(report_path), parse_file, NULL},
    {"checkpoint", 0, "FILE",
     "keep in FILE and FILE.journal what is done, so that a run that was stopped or killed can go "
     "on (default: none)",
     0, parse_checkpoint, NULL},
    {"every", 0, "TIME", "time between two checkpoints, such as 30s or 5min (default: 60s)",
     FIELD(options.checkpoint_seconds), parse_seconds, NULL},
    {"resume", 0, NULL,
     "go on with what --checkpoint holds, also under other budgets; begin where it holds nothing",
     FIELD(options.resume), NULL, NULL},
    {"overwrite", 0, NULL,
     "replace files that exist (default: they are kept, and that is an error)",
     FIELD(options.overwrite), NULL, NULL},
    {"dry-run", 0, NULL, "look at the data, print the plan, compute and write nothing",
     FIELD(options.dry_run), NULL, NULL},
};

slci_arg_table slci_run_arg_table(slci_run_arguments *run) {
    return (slci_arg_table){run_args, (int)(sizeof run_args / sizeof run_args[0]), run};
}

slci_arg_table slci_machine_arg_table(slci_run_arguments *run) {
    int n = 1; /* the heading of the group */
    while (run_args[n].name != NULL && strcmp(run_args[n].name, "no-probe") != 0) {
        n++;
    }
    return (slci_arg_table){run_args, n, run};
}

void slci_run_arguments_init(slci_run_arguments *run) {
    *run = (slci_run_arguments){.budgets = {SLCI_BUDGET_UNSET, SLCI_BUDGET_UNSET},
                                .page = {.command = "sluice"}};
}

void slci_run_arguments_release(slci_run_arguments *run) {
    slc_trace_destroy(run->options.trace);
    run->options.trace = NULL;
}

/* ---- before the run -------------------------------------------------------------------------- */

/* The files that are written beside the result. */
#define N_SIDE_FILES 3

/* Whether the statistics take standard output, so that everything else goes to standard error. */
static bool takes_stdout(const slci_run_arguments *run) {
    return run->stats_path != NULL && strcmp(run->stats_path, "-") == 0;
}

/* Those that the run before had written, which this one resumes, may be replaced. */
static void list_files(const slci_run_arguments *run, slc_checkpoint *checkpoint,
                       slci_side_file files[N_SIDE_FILES]) {
    const char *stats = takes_stdout(run) ? NULL : run->stats_path;
    const char *const options[N_SIDE_FILES] = {"--stats", "--trace", "--report"};
    const char *const paths[N_SIDE_FILES] = {stats, run->trace_path, run->report_path};
    for (int i = 0; i < N_SIDE_FILES; i++) {
        const bool may_replace = paths[i] != NULL && slci_run_may_replace(&run->options, paths[i]);
        files[i] = (slci_side_file){.option = options[i],
                                    .path = paths[i],
                                    .overwrite = may_replace,
                                    .checkpoint = checkpoint,
                                    .cancel = run->options.cancel};
    }
}

/* Options that say something about a checkpoint need one. */
static slc_status check_checkpoint(const slci_run_arguments *run) {
    const slc_run_options *options = &run->options;
    if (run->checkpoint.path == NULL && (options->resume || options->checkpoint_seconds > 0)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--%s needs --checkpoint FILE, the file to %s",
                        options->resume ? "resume" : "every",
                        options->resume ? "go on with" : "write");
    }
    return SLC_OK;
}

slc_status slci_run_check(const slci_run_arguments *run) {
    SLC_TRY(check_checkpoint(run));
    slci_side_file files[N_SIDE_FILES];
    list_files(run, NULL, files);
    for (int i = 0; i < N_SIDE_FILES; i++) {
        if (files[i].path != NULL) {
            SLC_TRY(slci_side_file_check(&files[i]));
        }
    }
    return SLC_OK;
}

/* Those, and the checkpoint and its journal. */
#define N_FILES (N_SIDE_FILES + 2)

/* The files that are written beside the result; NULL where there is none. */
static void list_names(const slci_run_arguments *run, const char *names[N_FILES]) {
    slci_side_file files[N_SIDE_FILES];
    list_files(run, NULL, files);
    for (int i = 0; i < N_SIDE_FILES; i++) {
        names[i] = files[i].path;
    }
    names[N_SIDE_FILES] = run->checkpoint.path;
    names[N_SIDE_FILES + 1] = run->checkpoint.path != NULL ? run->checkpoint.journal : NULL;
}

/* Inputs [n_inputs], then outputs [n_outputs], then what is written beside them; the outputs that may
 * not replace what is there are refused by others, and taken out before the files that inputs need are
 * looked for. */
static slc_status check_names(const slci_run_arguments *run, const slc_h5_reading *inputs,
                              int n_inputs, const char **names, int n_outputs) {
    const char **files = names + n_inputs;
    for (int i = 0; i < n_inputs; i++) {
        names[i] = inputs[i].path;
    }
    list_names(run, files + n_outputs);
    SLC_TRY(slci_check_file_names(names, n_inputs, files, n_outputs + N_FILES));
    for (int i = 0; i < n_outputs + N_FILES; i++) {
        if (files[i] != NULL && !slci_run_may_replace(&run->options, files[i])) {
            files[i] = NULL;
        }
    }
    for (int i = 0; i < n_inputs; i++) {
        SLC_TRY(slc_h5_files_exclude(&inputs[i], files, n_outputs + N_FILES));
    }
    return SLC_OK;
}

slc_status slci_run_check_files(const slci_run_arguments *run, const slc_h5_reading *inputs,
                                int n_inputs, const char *const *outputs, int n_outputs) {
    const char **names = calloc((size_t)n_inputs + (size_t)n_outputs + N_FILES, sizeof *names);
    if (names == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the names of %d files",
                        n_inputs + n_outputs + N_FILES);
    }
    for (int i = 0; i < n_outputs; i++) {
        names[n_inputs + i] = outputs[i];
    }
    const slc_status status = check_names(run, inputs, n_inputs, names, n_outputs);
    free(names);
    return status;
}

slc_status slci_check_file_names(const char *const *inputs, int n_inputs,
                                 const char *const *outputs, int n_outputs) {
    for (int i = 0; i < n_outputs; i++) {
        for (int j = 0; outputs[i] != NULL && j < n_inputs; j++) {
            if (slci_is_same_file(outputs[i], inputs[j])) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT,
                                "%s is an input and an output; name another output", outputs[i]);
            }
        }
        for (int j = 0; outputs[i] != NULL && j < i; j++) {
            if (outputs[j] != NULL && slci_is_same_file(outputs[i], outputs[j])) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT,
                                "%s is named for two outputs; each needs its own file", outputs[i]);
            }
        }
    }
    return SLC_OK;
}

static void show_progress(void *context, const char *stage, const char *thing, double done,
                          double total) {
    slci_progress_update(context, stage, thing, done, total);
}

/* By the XDG Base Directory Specification: a relative name is to be ignored. */
static const char *find_cache_folder(slci_run_arguments *run) {
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(run->cache_folder, sizeof run->cache_folder, "%s/sluice", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(run->cache_folder, sizeof run->cache_folder, "%s/.cache/sluice", home);
    }
    return length > 0 && (size_t)length < sizeof run->cache_folder ? run->cache_folder : NULL;
}

static slc_status create_trace(slci_run_arguments *run) {
    if (run->trace_path == NULL && run->report_path == NULL) {
        return SLC_OK;
    }
    run->options.trace_is_share = true;
    const slc_status status =
        slc_trace_create(slci_trace_share_bytes(run->options.ram_bytes), &run->options.trace);
    return status == SLC_OK
               ? SLC_OK
               : slc_status_prefix(status, run->trace_path != NULL ? "--trace" : "--report");
}

slc_status slci_run_begin(slci_program *program, slci_run_arguments *run) {
    slc_run_options *options = &run->options;
    if (options->n_threads == 0) {
        options->n_threads = slci_host_cpus("");
    }
    SLC_TRY(slci_default_budgets(options->device, options->cuda_index, &run->budgets));
    options->vram_bytes = run->budgets.vram_bytes;
    options->ram_bytes = run->budgets.ram_bytes;
    slc_log_detail(&program->log, "--vram %lld --ram %lld --threads %d",
                   (long long)options->vram_bytes, (long long)options->ram_bytes,
                   options->n_threads);
    options->probes = !run->no_probe;
    options->cache_folder = find_cache_folder(run);
    options->log = &program->log;
    options->progress = show_progress;
    options->progress_context = &program->progress;
    options->cancel = program->cancel;
    return create_trace(run);
}

/* ---- after the run --------------------------------------------------------------------------- */

/* The text, and a newline where it does not end with one. False where the stream took less. */
static bool print_text(FILE *out, const char *text) {
    const size_t length = strlen(text);
    const char *newline = length > 0 && text[length - 1] == '\n' ? "" : "\n";
    return fputs(text, out) >= 0 && fputs(newline, out) >= 0;
}

static void write_json(FILE *out, const void *context) {
    (void)print_text(out, context);
}

static void write_trace(FILE *out, const void *context) {
    const slci_page *page = context;
    const slci_trace_about about = {page->command, page->inputs, page->n_inputs, page->feed};
    slci_trace_write(out, page->trace, &about);
}

static void write_page(FILE *out, const void *context) {
    slci_page_write(out, context);
}

/* What the trace shows is what came before now. */
static void settle_trace(const slci_run_arguments *run) {
    slc_trace_settle(run->options.trace);
    const int64_t n_dropped = slc_trace_dropped(run->options.trace);
    if (n_dropped > 0) {
        slc_log_warning(run->options.log,
                        "the trace lacks its last %lld of %lld slices: the memory reserved for it "
                        "is full; a larger --ram would help",
                        (long long)n_dropped,
                        (long long)(n_dropped + slc_trace_count(run->options.trace)));
    }
}

slc_status slci_run_end(const slci_run_arguments *run, slc_checkpoint *checkpoint,
                        const char *json) {
    slci_side_file files[N_SIDE_FILES];
    list_files(run, checkpoint, files);
    if (files[0].path != NULL) {
        SLC_TRY(slci_side_file_write(&files[0], write_json, json));
    }
    if (run->options.trace != NULL) {
        slci_page page = run->page;
        page.trace = run->options.trace;
        settle_trace(run);
        SLC_TRY(slc_trace_feed_find(page.trace, &page.feed));
        if (files[1].path != NULL) {
            SLC_TRY(slci_side_file_write(&files[1], write_trace, &page));
        }
        if (files[2].path != NULL) {
            SLC_TRY(slci_side_file_write(&files[2], write_page, &page));
        }
    }
    if (takes_stdout(run)) {
        (void)print_text(stdout, json);
        return slci_flush_stdout();
    }
    return SLC_OK;
}

void slci_page_set_memory(slci_page *page, const slc_run_memory *memory) {
    page->device = (slci_page_memory){memory->vram_peak_bytes, memory->vram_limit_bytes};
    page->host = (slci_page_memory){memory->host_peak_bytes, memory->ram_limit_bytes};
}

bool slci_run_wants_page(const slci_run_arguments *run) {
    return run->trace_path != NULL || run->report_path != NULL;
}

bool slci_run_wants_picture(const slci_run_arguments *run) {
    return run->report_path != NULL;
}

slc_status slci_run_say(const slci_program *program, const slci_run_arguments *run,
                        const char *text) {
    const bool is_taken = takes_stdout(run);
    if (run->options.dry_run ? !is_taken : !program->is_quiet) {
        (void)print_text(is_taken ? stderr : stdout, text);
    }
    return slci_flush_stdout();
}
