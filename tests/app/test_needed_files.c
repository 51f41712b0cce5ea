/* No run writes over what it reads. Each command, each kind of file that it writes, and each way in
 * which an input needs another file: the run ends with the code for a wrong choice of names and one
 * line that says which, and every byte of every file is as before. */
#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test_uvh5.h"

enum { N = 8, MOST_WORDS = 24, MOST_FILES = 64, EXIT_ARGUMENT = 2, EXIT_OUTPUT = 5 };

/* ---- the files -------------------------------------------------------------------------------- */

/* What an input needs besides its own file: a source of a virtual dataset, the file that an external
 * link leads to, one with raw elements; and one that a virtual source leads to by a link of its own,
 * and the file in which this link is. */
typedef struct need {
    const char *name, *file;
} need;
static const need needs[] = {{"virtual", "virtual.src.h5"},
                             {"linked", "linked.src.h5"},
                             {"raw", "raw.src"},
                             {"chained", "virtual.src.h5"},
                             {"chained", "chain.src.h5"}};

static void put_values(const char *path, const char *name, hid_t list) {
    static const double values[N] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t n = N;
    test_h5_put(path, name, H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, 1, &n, list, values);
}

static void put_virtual(const char *path, const char *name, const char *source) {
    const int64_t n = N;
    const hsize_t extent = N;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, &extent, NULL);
    assert_true(H5Pset_virtual(list, space, source, "x", space) >= 0);
    test_h5_put(path, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 1, &n, list, NULL);
    assert_true(H5Sclose(space) >= 0 && H5Pclose(list) >= 0);
}

static void put_link(const char *path, const char *name, const char *source) {
    put_values(path, name, H5P_DEFAULT); /* makes file and groups */
    test_h5_remove(path, name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Lcreate_external(source, "/x", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(file) >= 0);
}

/* Puts a dataset in place of `name` whose elements are elsewhere. */
static void put_elsewhere(const char *path, const char *name, const char *kind) {
    if (strcmp(kind, "virtual") == 0) {
        put_virtual(path, name, "virtual.src.h5");
    } else if (strcmp(kind, "linked") == 0) {
        put_link(path, name, "linked.src.h5");
    } else if (strcmp(kind, "chained") == 0) {
        put_virtual(path, name, "chain.src.h5");
    } else {
        const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_external(list, "raw.src", 0, N * sizeof(float)) >= 0);
        put_values(path, name, list);
        assert_true(H5Pclose(list) >= 0);
    }
}

/* In the current folder, which is empty: an array, a set of each form and a model for each kind, and
 * some that need nothing. */
static void make_files(void) {
    static const char *const kinds[] = {"virtual", "linked", "raw", "chained"};
    const int64_t n = N;
    put_values("virtual.src.h5", "/x", H5P_DEFAULT);
    put_values("linked.src.h5", "/x", H5P_DEFAULT);
    put_link("chain.src.h5", "/x", "virtual.src.h5");
    for (int k = 0; k < 4; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s.h5", kinds[k]);
        put_elsewhere(name, "/g/d", kinds[k]);
        put_elsewhere(name, "/image", kinds[k]);
        put_values(name, "/u", H5P_DEFAULT);
        put_elsewhere(name, "/vis", kinds[k]);
        (void)snprintf(name, sizeof name, "%s.uvh5", kinds[k]);
        test_uvh5_create(name, N, 1, 1);
        put_elsewhere(name, "/Data/nsamples", kinds[k]);
    }
    put_values("own.h5", "/d", H5P_DEFAULT);
    test_h5_put_i64("own.h5", "/i", 1, &n, (const int64_t[N]){0});
    test_uvh5_create("own.uvh5", N, 1, 1);
    test_write_below(".", "sky.txt", "l=0 m=0 flux=1\n");
}

/* ---- what is there ---------------------------------------------------------------------------- */

typedef struct kept_file {
    char name[64], *bytes;
    int64_t n_bytes;
} kept_file;

typedef struct folder {
    kept_file files[MOST_FILES];
    int n;
} folder;

static int by_name(const void *a, const void *b) {
    return strcmp(((const kept_file *)a)->name, ((const kept_file *)b)->name);
}

static void folder_read(folder *out) {
    DIR *directory = opendir(".");
    assert_non_null(directory);
    out->n = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.') {
            assert_in_range(out->n, 0, MOST_FILES - 1);
            kept_file *file = &out->files[out->n++];
            (void)snprintf(file->name, sizeof file->name, "%.63s", entry->d_name);
            file->bytes = test_file_read(file->name, &file->n_bytes);
        }
    }
    (void)closedir(directory);
    qsort(out->files, (size_t)out->n, sizeof out->files[0], by_name);
}

static void folder_free(folder *kept) {
    for (int k = 0; k < kept->n; k++) {
        free(kept->files[k].bytes);
    }
}

static void expect_unchanged(const folder *before, const char *command) {
    folder now;
    folder_read(&now);
    for (int k = 0; k < before->n && k < now.n; k++) {
        const kept_file *a = &before->files[k];
        const kept_file *b = &now.files[k];
        if (strcmp(a->name, b->name) != 0 || a->n_bytes != b->n_bytes ||
            memcmp(a->bytes, b->bytes, (size_t)a->n_bytes) != 0) {
            fail_msg("%s: %s is not as it was", command, a->name);
        }
    }
    assert_int_equal(now.n, before->n);
    folder_free(&now);
}

/* ---- runs ------------------------------------------------------------------------------------- */

static const char *program;

/* What the child of a fork does. */
static void become_program(char *const *words) {
    const int out = open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out >= 0 && err >= 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
        (void)execv(program, words);
    }
    _exit(127);
}

/* The command's words, divided by blanks. */
static int run(const char *command) {
    char text[512];
    char *words[MOST_WORDS + 1] = {NULL};
    int n = 0;
    int state = 0;
    (void)snprintf(text, sizeof text, "sluice %s", command);
    for (char *at = text, *word; n < MOST_WORDS && (word = strtok_r(at, " ", &at)) != NULL;) {
        words[n++] = word;
    }
    const pid_t child = fork();
    if (child == 0) {
        become_program(words);
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

/* The command ends with that code and one line, which holds the words. */
static void expect_refused(const folder *before, const char *command, int code, const char *words) {
    int64_t n = 0;
    const int found = run(command);
    char *err = test_file_read(".err", &n);
    char *text = test_allocate(n + 1);
    memcpy(text, err, (size_t)n);
    text[n] = '\0';
    const char *end = strchr(text, '\n');
    if (found != code || strstr(text, words) == NULL || end == NULL || end[1] != '\0') {
        fail_msg("%s: code %d (expected %d), expected one line with '%s', found: %s", command,
                 found, code, words, text);
    }
    free(text);
    free(err);
    free(test_file_read(".out", &n));
    assert_int_equal(n, 0);
    expect_unchanged(before, command);
}

/* ---- the table -------------------------------------------------------------------------------- */

/* A command, with % for the kind in its input's name, its -o if it has one, and what else it writes
 * besides what all do. */
typedef struct command {
    const char *text, *output, *own;
    bool is_ready; /* the input is as good as any until outputs are looked at */
} command;
static const command commands[] = {{"image %.uvh5", "-o x.h5", "--psf", true},
                                   {"image %.h5 --channels-out 1", "-o x.png", "--psf", false},
                                   {"image own.uvh5 %.uvh5 --dry-run", "-o x.fits", NULL, false},
                                   {"predict --model sky.txt %.uvh5", "-o x.uvh5", NULL, false},
                                   {"predict --model %.h5 own.uvh5", "-o x.uvh5", NULL, false},
                                   {"stats %.h5:/g/d --histogram 4", "", "--png", true},
                                   {"repack %.h5:/g/d", "-o x.h5:/v", NULL, true},
                                   {"repack %.h5:/u --rest", "-o x.h5:/v", NULL, true},
                                   {"transpose %.h5:/g/d --axes 0", "-o x.h5:/v", NULL, true},
                                   {"gather %.h5:/g/d --index own.h5:/i", "-o x.h5:/v", NULL, true},
                                   {"gather own.h5:/d --index %.h5:/g/d", "-o x.h5:/v", NULL,
                                    false}};
static const char *const sides[] = {"--checkpoint", "--stats", "--trace", "--report"};

enum {
    N_NEEDS = sizeof needs / sizeof needs[0],
    N_COMMANDS = sizeof commands / sizeof commands[0],
    N_SIDES = sizeof sides / sizeof sides[0]
};

/* The command over an input of this kind, then `rest`. */
static void compose(const command *row, const char *kind, const char *rest, char out[512]) {
    const char *mark = strchr(row->text, '%');
    (void)snprintf(out, 512, "%.*s%s%s %s", (int)(mark - row->text), row->text, kind, mark + 1,
                   rest);
}

/* What is tried with a command: its kind of input, the file that it is to write over in so many of the
 * ways that all have, further options, and what comes of it. */
typedef struct attempt {
    const char *kind, *file, *more;
    int code, n_sides;
    const char *words;
} attempt;

static void refuse_each(const folder *before, const command *row, const attempt *each) {
    char text[512];
    char rest[256];
    for (int s = 0; s <= each->n_sides; s++) {
        const char *side = s < each->n_sides ? sides[s] : row->own;
        const bool is_state = side != NULL && strcmp(side, "--checkpoint") == 0;
        if (side != NULL) {
            (void)snprintf(rest, sizeof rest, "%s %s %s %s", row->output, side, each->file,
                           each->more);
            compose(row, each->kind, rest, text);
            expect_refused(before, text, each->code,
                           is_state && each->code == EXIT_OUTPUT ? "exists and is no checkpoint"
                                                                 : each->words);
        }
    }
    if (row->output[0] != '\0') {
        (void)snprintf(rest, sizeof rest, "-o %s%s %s", each->file,
                       strchr(row->output, ':') != NULL ? ":/v" : "", each->more);
        compose(row, each->kind, rest, text);
        expect_refused(before, text, each->code, each->words);
    }
}

typedef struct stage {
    char directory[TEST_PATH_BYTES], back[TEST_PATH_BYTES];
    folder before;
} stage;

static int stage_create(void **state) {
    stage *self = test_allocate((int64_t)sizeof *self);
    program = getenv("SLUICE_PROGRAM");
    test_directory_create(self->directory);
    if (getcwd(self->back, sizeof self->back) == NULL || chdir(self->directory) != 0) {
        return -1;
    }
    make_files();
    folder_read(&self->before);
    *state = self;
    return 0;
}

static int stage_destroy(void **state) {
    stage *self = *state;
    folder_free(&self->before);
    const int failed = chdir(self->back);
    test_directory_remove(self->directory);
    free(self);
    return failed;
}

static void need_program(void) {
    if (program == NULL) {
        TEST_SKIP("SLUICE_PROGRAM is not the built program");
    }
}

static void nothing_that_an_input_needs_is_written_over(void **state) {
    const stage *self = *state;
    need_program();
    for (int c = 0; c < N_COMMANDS; c++) {
        for (int k = 0; k < N_NEEDS; k++) {
            const attempt each = {needs[k].name, needs[k].file,        "--overwrite",
                                  EXIT_ARGUMENT, k == 0 ? N_SIDES : 1, "is an output, and "};
            refuse_each(&self->before, &commands[c], &each);
        }
    }
}

static void without_overwrite_a_file_that_exists_is_refused_as_any(void **state) {
    const stage *self = *state;
    need_program();
    static const char *const file = "virtual.src.h5";
    for (int c = 0; c < N_COMMANDS; c++) {
        if (commands[c].is_ready) {
            const attempt each = {"virtual",
                                  file,
                                  "--device host",
                                  EXIT_OUTPUT,
                                  N_SIDES,
                                  "virtual.src.h5 exists; overwriting (--overwrite) replaces it"};
            refuse_each(&self->before, &commands[c], &each);
        }
    }
}

/* One file by several names, and the plain case: an input, or another output. */
static void other_names_of_a_file_are_seen_through(void **state) {
    static const struct {
        const char *command, *words;
    } rows[] = {{"stats virtual.h5:/g/d --stats hard", "elements of virtual.h5:/g/d lie in it"},
                {"stats virtual.h5:/g/d --report soft", "elements of virtual.h5:/g/d lie in it"},
                {"image virtual.uvh5 -o x.h5 --checkpoint state",
                 "state.journal is an output, and "},
                {"stats virtual.h5:/g/d --trace chain.src.h5 --stats ./virtual.h5",
                 "virtual.h5 is an input and an output"},
                {"stats chained.h5:/g/d --trace chain.src.h5", "chained.h5:/g/d leads through it"},
                {"image own.uvh5 -o x.h5 --report own.hard", "own.hard is an input and an output"},
                {"image own.uvh5 -o x.h5 --psf own.soft", "own.soft is an input and an output"},
                {"predict --model sky.txt own.uvh5 -o x.uvh5 --stats sky.txt",
                 "sky.txt is an input and an output"},
                {"gather own.h5:/d --index own.h5:/i -o x.h5:/v --trace own.h5",
                 "own.h5 is an input and an output"},
                {"stats own.h5:/d --histogram 4 --png hard --stats soft",
                 "is named for two outputs"},
                {"image own.uvh5 -o x.h5 -o y.h5 --trace ./y.h5", "y.h5 is named for two outputs"},
                {"simulate --sky sky.txt -o sky.txt", "sky.txt is an input and an output"}};
    stage *self = *state;
    need_program();
    assert_int_equal(link("virtual.src.h5", "hard"), 0);
    assert_int_equal(symlink("virtual.src.h5", "soft"), 0);
    assert_int_equal(link("virtual.src.h5", "state.journal"), 0);
    assert_int_equal(link("own.uvh5", "own.hard"), 0);
    assert_int_equal(symlink("own.uvh5", "own.soft"), 0);
    folder_free(&self->before);
    folder_read(&self->before);
    for (int64_t k = 0; k < TEST_COUNT(rows); k++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s --overwrite", rows[k].command);
        expect_refused(&self->before, text, EXIT_ARGUMENT, rows[k].words);
    }
}

/* A file that stands in the input and is not read may be written. */
static void what_is_not_read_may_be_written_over(void **state) {
    (void)state;
    need_program();
    assert_int_equal(run("stats own.h5:/d --no-probe --stats linked.src.h5 --overwrite"), 0);
    assert_int_equal(run("stats linked.h5:/u --no-probe --stats raw.src --overwrite"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_names_of_a_file_are_seen_through, stage_create,
                                        stage_destroy),
        cmocka_unit_test_setup_teardown(what_is_not_read_may_be_written_over, stage_create,
                                        stage_destroy),
        cmocka_unit_test_setup_teardown(nothing_that_an_input_needs_is_written_over, stage_create,
                                        stage_destroy),
        cmocka_unit_test_setup_teardown(without_overwrite_a_file_that_exists_is_refused_as_any,
                                        stage_create, stage_destroy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
