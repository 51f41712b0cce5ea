/* The program: finds the command, and turns statuses into one line on standard error and an exit
 * code. A first SIGINT, SIGTERM or SIGHUP asks the job to stop and clean up, a second one ends the
 * program at once. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/cmd.h"
#include "core/thread.h"

#define EXIT_INTERRUPTED 130
#define LIST_BYTES 128

/* Under this the program's work goes to a thread, whose stack Sluice chooses: an image takes 192 KiB,
 * most of it for names of files. */
#define SMALL_STACK_BYTES ((rlim_t)1 << 20)

typedef struct command {
    const char *name;
    const char *about;
    slc_status (*run)(slci_program *program, int argc, char *const *argv);
} command;

static const command commands[] = {
    {"gather", "take elements of an array by a list of indices", slci_cmd_gather},
    {"image", "make the dirty image of a visibility set", slci_cmd_image},
    {"info", "say what a visibility set holds", slci_cmd_info},
    {"predict", "compute the visibilities of a model of the sky", slci_cmd_predict},
    {"repack", "store an array in other chunks", slci_cmd_repack},
    {"simulate", "write a synthetic visibility set", slci_cmd_simulate},
    {"stats", "say what an array holds, in numbers", slci_cmd_stats},
    {"transpose", "give an array's dimensions another order", slci_cmd_transpose},
    {"bench", "measure what the engine reaches on this machine", slci_cmd_bench},
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

/* The one mutable global: a signal handler has nothing else to write to. */
static volatile int is_cancelled;

static void on_signal(int number) {
    (void)number;
    if (is_cancelled != 0) {
        _exit(EXIT_INTERRUPTED);
    }
    is_cancelled = 1;
}

static void install_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    /* nohup ignores it, and that must stay so. */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        (void)sigaction(SIGHUP, &action, NULL);
    }
    /* A closed pipe and a file that may not grow become write errors, which are reported. */
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
}

/* Where a standard stream is closed, the next file opened would take its number and receive what is
 * printed. Opening /dev/null the wrong way round keeps the number busy and printing an error. */
static void hold_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

static void write_log(void *context, slc_log_level level, const char *text) {
    slci_program *program = context;
    if (!program->is_quiet) {
        slci_progress_message(&program->progress, level == SLC_LOG_WARNING ? "warning: " : "",
                              text);
    }
}

static void print_usage(FILE *out) {
    (void)fputs("usage: sluice COMMAND [options]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        (void)fprintf(out, "  sluice %-10s %s\n", commands[i].name, commands[i].about);
    }
    (void)fputs("  sluice help COMMAND   all options of a command, with their defaults\n"
                "  sluice --version\n",
                out);
}

static const command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* "image, info, simulate or help", for messages. */
static const char *list_commands(char out[LIST_BYTES]) {
    size_t used = 0;
    for (size_t i = 0; i < N_COMMANDS && used < LIST_BYTES; i++) {
        used += (size_t)snprintf(out + used, LIST_BYTES - used, "%s%s", i > 0 ? ", " : "",
                                 commands[i].name);
    }
    if (used < LIST_BYTES) {
        (void)snprintf(out + used, LIST_BYTES - used, " or help");
    }
    return out;
}

static slc_status fail_unknown_command(const char *name) {
    char list[LIST_BYTES];
    return SLC_FAIL(SLC_ERROR_ARGUMENT,
                    "there is no command '%.80s'; expected %s (sluice --help says more)", name,
                    list_commands(list));
}

/* `sluice help`, `sluice help COMMAND`. */
static slc_status run_help(slci_program *program, int argc, char *const *argv) {
    if (argc == 0) {
        print_usage(stdout);
        (void)
            fputs("\nExit status: 0 done, 2 wrong usage, 3 input refused, 4 no plan fits or memory "
                  "is out,\n5 output failed, 6 device failed, 130 interrupted.\n",
                  stdout);
        return SLC_OK;
    }
    const command *found = find_command(argv[0]);
    if (found == NULL) {
        return fail_unknown_command(argv[0]);
    }
    if (argc > 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "help: expected one command, found %.80s behind it",
                        argv[1]);
    }
    static char help_word[] = "--help";
    char *const words[] = {help_word, NULL};
    return found->run(program, 1, words);
}

static slc_status run(slci_program *program, int argc, char *const *argv) {
    const char *name = argv[0];
    const command *found = find_command(name);
    if (found != NULL) {
        return found->run(program, argc - 1, argv + 1);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return run_help(program, argc - 1, argv + 1);
    }
    if (strcmp(name, "--version") == 0 && argc > 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--version: expected nothing, found %.80s behind it",
                        argv[1]);
    }
    if (strcmp(name, "--version") == 0) {
        slci_print_version();
        return SLC_OK;
    }
    if (name[0] == '-') {
        char list[LIST_BYTES];
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "expected a command (%s) before the option %.80s",
                        list_commands(list), name);
    }
    return fail_unknown_command(name);
}

/* Whether there is a limit such as that of `ulimit -v`. OpenBLAS starts threads of its own when it is
 * loaded, which Sluice never uses; one that gets no memory its exit handler would wait for for ever. */
static bool has_bounded_addresses(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Everything but what comes before a command: the program's exit code, where it comes back. */
static int run_words(int argc, char *const *argv) {
    slci_program program = {.cancel = &is_cancelled};
    slci_progress_init(&program.progress, stderr, isatty(STDERR_FILENO) == 1);
    slc_log_init(&program.log, SLC_LOG_NOTE, write_log, &program);
    slc_status status = run(&program, argc - 1, argv + 1);
    slci_progress_finish(&program.progress);
    if (status == SLC_OK) {
        status = slci_flush_stdout();
    }
    if (status != SLC_OK) {
        const char *message = slc_status_message();
        slci_progress_message(&program.progress, "",
                              *message != '\0' ? message : slc_status_text(status));
        /* HDF5 crashes in its exit handler where a file could not be written, and the exit code
         * would be lost with it. */
        (void)fflush(NULL);
        _exit(slc_status_exit_code(status));
    }
    slc_log_destroy(&program.log);
    slci_progress_destroy(&program.progress);
    if (has_bounded_addresses()) {
        (void)fflush(NULL);
        _exit(0);
    }
    /* Nobody looks at it any more: a signal ends the program now, whatever a library waits for in its
     * exit handler. */
    is_cancelled = 1;
    return 0;
}

/* The words of the command line, for a thread, and what the program leaves with. */
typedef struct word_list {
    int argc;
    char *const *argv;
    int code;
} word_list;

static void *run_list(void *context) {
    word_list *words = context;
    words->code = run_words(words->argc, words->argv);
    return NULL;
}

/* Whether the shell leaves the program less stack than names and paths take (`ulimit -s`). */
static bool has_small_stack(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < SMALL_STACK_BYTES;
}

int main(int argc, char **argv) {
    hold_standard_streams();
    install_signals();
    if (argc < 2) {
        print_usage(stderr);
        return slc_status_exit_code(SLC_ERROR_ARGUMENT);
    }
    word_list words = {.argc = argc, .argv = argv};
    pthread_t thread;
    if (has_small_stack() && slci_thread_start(&thread, run_list, &words) == 0) {
        (void)pthread_join(thread, NULL);
    } else {
        (void)run_list(&words);
    }
    return words.code;
}
