/* A run with a checkpoint is killed before each call that secures a file, gives a name or takes one
 * away, and so at every moment between the first output's name and the checkpoint's end; so is the run
 * that resumes it. The next one ends well, without being told that it may overwrite anything, with the
 * bytes of an unbroken run and nothing left beside them. */
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/gather.h"
#include "app/image.h"
#include "app/predict.h"
#include "app/rewrite.h"
#include "app/stats.h"
#include "io/outfile.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_rewritten.h"
#include "tests/support/test_uvh5.h"

enum { N_ROWS = 60, N_DATA = 3000, N_INDEX = 500, MOST_CALLS = 200, MOST_WRITES = 200 };

/* How a child ends. */
enum { WELL = 0, FAILED = 1, ALREADY_COMPLETE = 2, NOT_BUILT = 77 };

typedef struct place {
    char data[TEST_PATH_BYTES], results[TEST_PATH_BYTES], whole[TEST_PATH_BYTES];
    char uvh5[TEST_PATH_BYTES], arrays[TEST_PATH_BYTES], sky[TEST_PATH_BYTES];
} place;

/* One run: where its outputs go, and what to do about a checkpoint. */
typedef struct attempt {
    const place *place;
    const char *folder;
    slc_run_options run;
} attempt;

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    const test_array array = {.rank = 1, .shape = {N_DATA}, .chunk = {100}, .is_deflated = true};
    int64_t list[N_INDEX];
    const int64_t n_index = N_INDEX;
    uint64_t random = 3;
    test_directory_create(self->data);
    test_directory_create(self->results);
    test_directory_create(self->whole);
    test_join(self->data, "in.uvh5", self->uvh5);
    test_join(self->data, "in.h5", self->arrays);
    test_join(self->data, "sky.txt", self->sky);
    test_uvh5_create(self->uvh5, N_ROWS, 2, 4);
    test_write_below(self->data, "sky.txt", "l=0.1 m=0.2 flux=1\nl=0 m=0 flux=2 index=1\n");
    test_rewrite_put(self->arrays, "/x", &array);
    for (int64_t k = 0; k < N_INDEX; k++) {
        list[k] = test_random_below(&random, N_DATA);
    }
    test_h5_put_i64(self->arrays, "/i", 1, &n_index, list);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->data);
    test_directory_remove(self->results);
    test_directory_remove(self->whole);
    free(self);
    return 0;
}

/* ---- the jobs ---------------------------------------------------------------------------------- */

static slc_status run_image(const attempt *a) {
    char out[2][TEST_PATH_BYTES];
    char psf[TEST_PATH_BYTES];
    const char *const inputs[] = {a->place->uvh5};
    const char *const outputs[] = {out[0], out[1]};
    slc_image_result result;
    slc_image_options options;
    test_join(a->folder, "a.h5", out[0]);
    test_join(a->folder, "b.h5", out[1]);
    test_join(a->folder, "psf.h5", psf);
    slc_image_options_init(&options);
    options.inputs = inputs;
    options.n_inputs = 1;
    options.outputs = outputs;
    options.n_outputs = 2;
    options.psf_path = psf;
    options.nx = 20;
    options.ny = 16;
    options.run = a->run;
    return slc_image_run(&options, &result);
}

static slc_status run_gather(const attempt *a) {
    char out[TEST_PATH_BYTES];
    slc_gather_result result;
    test_join(a->folder, "v.h5", out);
    const slc_gather_options options = {.data_path = a->place->arrays,
                                        .data = "/x",
                                        .index_path = a->place->arrays,
                                        .index = "/i",
                                        .out_path = out,
                                        .out = "/v",
                                        .run = a->run};
    return slc_gather_run(&options, &result);
}

/* Writes `text` into a file beside the results, and tells the checkpoint of it. */
static slc_status write_beside(const attempt *a, slc_checkpoint *checkpoint, const char *name,
                               const char *text) {
    char path[TEST_PATH_BYTES];
    slc_outfile out;
    test_join(a->folder, name, path);
    const bool may_replace = a->run.resume && slc_checkpoint_has_made(a->run.checkpoint_path, path);
    SLC_TRY(slc_outfile_begin(path, may_replace, &out));
    FILE *file = fopen(out.temporary_path, "w");
    (void)fputs(text, file);
    (void)fclose(file);
    slc_status status = slc_outfile_prepare(&out);
    if (status == SLC_OK) {
        status = slc_checkpoint_settle_beside(checkpoint, out.temporary_path);
    }
    if (status == SLC_OK) {
        status = slc_outfile_commit(&out);
    }
    slc_outfile_abandon(&out);
    return status;
}

/* Two files beside a result. */
static slc_status deliver_two(void *context, slc_checkpoint *checkpoint, const void *result) {
    (void)result;
    SLC_TRY(write_beside(context, checkpoint, "one.txt", "1"));
    return write_beside(context, checkpoint, "two.txt", "2");
}

/* With a filter, and files beside the result. */
static slc_status run_rewrite(const attempt *a) {
    char out[TEST_PATH_BYTES];
    slc_rewrite_result result;
    test_join(a->folder, "y.h5", out);
    slc_rewrite_options options = {.in = {.path = a->place->arrays, .dataset = "/x"},
                                   .out_path = out,
                                   .out = "/y",
                                   .form = {.n_chunk = 1, .chunk = {70}, .filters = true},
                                   .run = a->run};
    options.run.deliver = deliver_two;
    options.run.deliver_context = (void *)(uintptr_t)a;
    SLC_TRY(slc_h5_filter_parse("deflate:1", &options.form.filter));
    return slc_rewrite_run(&options, &result);
}

static slc_status run_predict(const attempt *a) {
    char out[TEST_PATH_BYTES];
    slc_predict_result result;
    test_join(a->folder, "out.uvh5", out);
    const slc_predict_options options = {.model_path = a->place->sky,
                                         .in_path = a->place->uvh5,
                                         .out_path = out,
                                         .run = a->run};
    return slc_predict_run(&options, &result);
}

/* Statistics have no file but what is written beside them. */
static slc_status deliver_statistics(void *context, slc_checkpoint *checkpoint,
                                     const void *delivered) {
    const slc_stats_result *result = delivered;
    char text[80];
    (void)snprintf(text, sizeof text, "%lld %a\n", (long long)result->argmax, result->median.value);
    return write_beside(context, checkpoint, "stats.txt", text);
}

static slc_status run_stats(const attempt *a) {
    slc_stats_result result;
    slc_stats_options options = {.in = {.path = a->place->arrays, .dataset = "/x"}, .run = a->run};
    options.run.deliver = deliver_statistics;
    options.run.deliver_context = (void *)(uintptr_t)a;
    return slc_stats_run(&options, &result);
}

typedef slc_status (*run_function)(const attempt *a);

/* ---- children ---------------------------------------------------------------------------------- */

static void note_complete(void *context, slc_log_level level, const char *text) {
    (void)level;
    *(bool *)context = *(bool *)context || strstr(text, "complete: the run before") != NULL;
}

/* What befalls a child at its n-th call: it is killed there, or the call fails. */
typedef struct mishap {
    int64_t kill_at;  /* 0: not at all */
    int64_t write_at; /* the disk is full; 0: never */
} mishap;

/* In a process of its own. The exit code, or minus the signal. */
static int run_child(const attempt *a, run_function run, const mishap *what) {
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool is_complete = false;
        attempt mine = *a;
        slc_log log;
        slc_log_init(&log, SLC_LOG_NOTE, note_complete, &is_complete);
        mine.run.log = &log;
        test_fault_kill_at(what->kill_at);
        if (what->write_at > 0) {
            test_fault_arm(TEST_FAULT_WRITE, what->write_at);
        }
        const slc_status status = run(&mine);
        if (status != SLC_OK && what->write_at == 0) {
            (void)fprintf(stderr, "%s\n", slc_status_message());
        }
        _exit(status == SLC_ERROR_UNSUPPORTED ? NOT_BUILT
              : status != SLC_OK              ? FAILED
              : is_complete                   ? ALREADY_COMPLETE
                                              : WELL);
    }
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state);
}

/* Every file of the results is that of the unbroken run, and there is no other but what is left of
 * files that a killed run was writing. All are removed. */
static void expect_results(const place *self) {
    int n = 0;
    DIR *folder = opendir(self->results);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char found[TEST_PATH_BYTES];
        char expected[TEST_PATH_BYTES];
        if (entry->d_name[0] == '.') {
            continue;
        }
        test_join(self->results, entry->d_name, found);
        test_join(self->whole, entry->d_name, expected);
        if (strstr(entry->d_name, "part-") == NULL) {
            test_expect_same_files(found, expected);
            n++;
        }
        assert_int_equal(remove(found), 0);
    }
    (void)closedir(folder);
    assert_int_equal(n, test_directory_count(self->whole));
}

static const mishap none = {.kill_at = 0};

/* An unbroken run without a checkpoint; then attempts with one. `checkpoint` is its name. */
static attempt begin(const place *self, run_function run, char checkpoint[TEST_PATH_BYTES]) {
    attempt a = {.place = self,
                 .folder = self->whole,
                 .run = {.vram_bytes = 2 << 20,
                         .ram_bytes = 32 << 20,
                         .device = SLC_CHOOSE_HOST,
                         .n_threads = 2}};
    assert_int_equal(run_child(&a, run, &none), WELL);
    test_join(self->results, "ck", checkpoint);
    a.folder = self->results;
    a.run.checkpoint_path = checkpoint;
    return a;
}

/* How often a run that resumed found everything done. */
static int kill_everywhere(const place *self, run_function run) {
    char checkpoint[TEST_PATH_BYTES];
    attempt a = begin(self, run, checkpoint);
    int n_complete = 0;
    int code = -SIGKILL;
    for (int64_t n = 1; code == -SIGKILL; n++) {
        assert_true(n < MOST_CALLS);
        a.run.resume = false;
        code = run_child(&a, run, &(mishap){.kill_at = n});
        if (code == NOT_BUILT) {
            TEST_SKIP("this build has no checksums, and so no checkpoints");
        }
        assert_true(code == WELL || code == -SIGKILL);
        a.run.resume = true;
        if (code == -SIGKILL) {
            int resumed = run_child(&a, run, &(mishap){.kill_at = 1 + n * 5 % 12});
            resumed = resumed == -SIGKILL ? run_child(&a, run, &none) : resumed;
            assert_true(resumed == WELL || resumed == ALREADY_COMPLETE);
            n_complete += resumed == ALREADY_COMPLETE ? 1 : 0;
        }
        expect_results(self);
    }
    return n_complete;
}

static void an_image_ends_well(void **state) {
    assert_true(kill_everywhere(*state, run_image) > 0);
}

static void a_gather_ends_well(void **state) {
    assert_true(kill_everywhere(*state, run_gather) > 0);
}

static void a_rewriting_ends_well(void **state) {
    assert_true(kill_everywhere(*state, run_rewrite) > 0);
}

static void a_prediction_ends_well(void **state) {
    assert_true(kill_everywhere(*state, run_predict) > 0);
}

/* Statistics are computed from what the checkpoint has, and handed over again. */
static void statistics_end_well(void **state) {
    assert_int_equal(kill_everywhere(*state, run_stats), 0);
}

/* Where a state is written after every tile and the disk is full once: the run comes through without,
 * or ends with what it had and can be gone on with. */
static void a_full_disk_loses_nothing(void **state) {
    const place *self = *state;
    char checkpoint[TEST_PATH_BYTES];
    attempt a = begin(self, run_rewrite, checkpoint);
    int n_failed = 0;
    a.run.vram_bytes = 4096;
    a.run.checkpoint_seconds = 1e-9;
    for (int64_t n = 1; n < MOST_WRITES; n += n < 12 ? 1 : 13) {
        a.run.resume = false;
        const int code = run_child(&a, run_rewrite, &(mishap){.write_at = n});
        if (code == NOT_BUILT) {
            TEST_SKIP("this build has no checksums, and so no checkpoints");
        }
        assert_true(code == WELL || code == FAILED);
        if (code == FAILED) {
            a.run.resume = true;
            assert_int_equal(run_child(&a, run_rewrite, &none), WELL);
            n_failed++;
        }
        expect_results(self);
    }
    assert_true(n_failed > 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(an_image_ends_well),     CASE(a_gather_ends_well),  CASE(a_rewriting_ends_well),
        CASE(a_prediction_ends_well), CASE(statistics_end_well), CASE(a_full_disk_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
