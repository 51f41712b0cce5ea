/* What the commands share. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/cmd.h"
#include "core/units.h"
#include "core/version.h"

/* The options that every command takes. */
typedef struct common_options {
    bool quiet, verbose, no_progress, help, version;
} common_options;

static const slci_arg common_args[] = {
    {.help = "Messages"},
    {.name = "quiet",
     .letter = 'q',
     .help = "say nothing but errors",
     .offset = offsetof(common_options, quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "say more",
     .offset = offsetof(common_options, verbose)},
    {.name = "no-progress",
     .help = "no progress line (default: one where standard error is a terminal)",
     .offset = offsetof(common_options, no_progress)},
    {.name = "version",
     .help = "print the version and stop",
     .offset = offsetof(common_options, version)},
    {.name = "help",
     .letter = 'h',
     .help = "print this text and stop",
     .offset = offsetof(common_options, help)},
};

/* Sets the level of the log and the progress line as the options say. */
static slc_status apply_common(const common_options *common, slci_program *program) {
    if (common->quiet && common->verbose) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--quiet and --verbose contradict each other");
    }
    program->is_quiet = common->quiet;
    program->log.level = common->verbose ? SLC_LOG_DETAIL : SLC_LOG_NOTE;
    if (common->quiet || common->no_progress) {
        program->progress.is_enabled = false;
    }
    return SLC_OK;
}

slc_status slci_command_run(const slci_command *command, slci_program *program, int argc,
                            char *const *argv) {
    common_options common = {.help = false};
    const slci_arg_table tables[] = {
        command->options,
        command->run_options,
        {common_args, (int)(sizeof common_args / sizeof common_args[0]), &common},
    };
    slc_status status = SLC_OK;
    SLC_TRY(slci_words_create(argc, command->operands));
    SLC_TRY_GOTO(done, slci_args_parse(command->name, tables, 3, argc, argv, command->operands));
    SLC_TRY_GOTO(done, apply_common(&common, program));
    if (common.help) {
        (void)fputs(command->usage, stdout);
        slci_args_help(stdout, tables, 3);
    } else if (common.version) {
        slci_print_version();
    } else {
        status = command->run(program, command->options.target);
    }
done:
    free(command->operands->words);
    return status;
}

slc_status slci_words_create(int argc, slci_words *out) {
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a command line of %d words", argc);
    }
    *out = (slci_words){words, 0};
    return SLC_OK;
}

slc_status slci_arg_threads(const char *text, void *field) {
    int64_t n_threads = 0;
    SLC_TRY(slci_parse_integer(text, 1, 4096, &n_threads));
    *(int *)field = (int)n_threads;
    return SLC_OK;
}

/* The full name of a file that need not exist: its folder's real path, and its own name. */
static bool full_name(const char *path, char *out, size_t out_bytes) {
    char folder[PATH_MAX];
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
    if (length >= PATH_MAX) {
        return false;
    }
    (void)snprintf(folder, sizeof folder, "%.*s", length, slash == NULL ? "." : path);
    if (realpath(folder, real) == NULL) {
        return false;
    }
    const int written = snprintf(out, out_bytes, "%s/%s", real, name);
    return written > 0 && (size_t)written < out_bytes;
}

bool slci_is_same_file(const char *a, const char *b) {
    struct stat a_stat;
    struct stat b_stat;
    const bool has_a = stat(a, &a_stat) == 0;
    const bool has_b = stat(b, &b_stat) == 0;
    if (has_a && has_b) {
        return a_stat.st_dev == b_stat.st_dev && a_stat.st_ino == b_stat.st_ino;
    }
    char a_name[PATH_MAX + NAME_MAX + 2];
    char b_name[PATH_MAX + NAME_MAX + 2];
    return has_a == has_b && (strcmp(a, b) == 0 ||
                              (full_name(a, a_name, sizeof a_name) &&
                               full_name(b, b_name, sizeof b_name) && strcmp(a_name, b_name) == 0));
}

slc_status slci_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write to standard output%s%s", errno != 0 ? ": " : "",
                    errno != 0 ? strerror(errno) : "");
}

void slci_print_version(void) {
    (void)printf("sluice %s\n", SLC_VERSION);
}
