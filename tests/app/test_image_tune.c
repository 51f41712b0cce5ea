/* --tune: measured within the budgets, kept, taken by later runs of the same shape and by no run
 * that is told to assume; and the image has the same bits with and without. On every device. */
#include "tests/support/test_fixture.h"

#include "app/cache_file.h"
#include "app/image.h"
#include "io/simulate.h"

/* On the host some kernel tiles of 256 pixels. */
enum { N_PIXELS = 280 };

/* A set, a folder for what is found, and a run over the set. */
typedef struct tuned {
    test_fixture fixture;
    char directory[TEST_PATH_BYTES], folder[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
    const char *input;
    slc_log log;
    int n_notes, n_warnings, n_damaged;
    slc_image_options options;
    slc_image_result result;
    double image[N_PIXELS * N_PIXELS];
} tuned;

static void count_lines(void *context, slc_log_level level, const char *text) {
    tuned *self = context;
    self->n_warnings += level == SLC_LOG_WARNING && strstr(text, "tuned") != NULL;
    self->n_notes += level == SLC_LOG_NOTE && strstr(text, "tuned the ") != NULL;
    self->n_damaged += level == SLC_LOG_NOTE && strstr(text, "damaged") != NULL;
}

static void tuned_open(void *const *state, tuned *self) {
    memset(self, 0, sizeof *self);
    test_fixture_open(*state, &self->fixture);
    test_directory_create(self->directory);
    test_join(self->directory, "cache", self->folder);
    test_join(self->directory, "set.uvh5", self->path);
    slc_simulate_options simulate = {.path = self->path,
                                     .n_rows = 9000,
                                     .n_polarisations = 1,
                                     .pool = self->fixture.pool};
    TEST_OK(slc_simulate_resolve(&simulate));
    TEST_OK(slc_simulate_run(&simulate));
    slc_log_init(&self->log, SLC_LOG_NOTE, count_lines, self);
    self->input = self->path;
    slc_image_options_init(&self->options);
    self->options.inputs = &self->input;
    self->options.n_inputs = 1;
    self->options.image = self->image;
    self->options.nx = self->options.ny = N_PIXELS;
    self->options.run.vram_bytes = 12 << 20;
    self->options.run.ram_bytes = 64 << 20;
    self->options.run.use_device = self->fixture.device;
    self->options.run.rates = slc_rates_default(self->fixture.device->kind);
    self->options.run.probes = true;
    self->options.run.cache_folder = self->folder;
    self->options.run.log = &self->log;
}

static void tuned_close(tuned *self) {
    slc_log_destroy(&self->log);
    test_directory_remove(self->directory);
    test_fixture_close(&self->fixture);
}

/* Runs; whether all launches were tuned, or (false) none. */
static bool run(tuned *self, bool tunes) {
    self->options.tunes = tunes;
    TEST_OK(slc_image_run(&self->options, &self->result));
    const slc_image_tuning *tuning = &self->result.tuning;
    assert_in_range(tuning->n, 1, 2);
    for (int i = 0; i < tuning->n; i++) {
        assert_true(tuning->launch[i].split >= 1);
        assert_int_equal(tuning->launch[i].is_tuned, tuning->launch[0].is_tuned);
    }
    assert_true(self->result.memory.vram_peak_bytes <= self->options.run.vram_bytes);
    assert_true(self->result.memory.host_peak_bytes <= self->options.run.ram_bytes);
    return tuning->launch[0].is_tuned;
}

static void found_kept_and_taken(void **state) {
    static double plain[N_PIXELS * N_PIXELS];
    static tuned self;
    tuned_open(state, &self);
    assert_false(run(&self, false));
    memcpy(plain, self.image, sizeof plain);
    assert_true(run(&self, true));
    assert_memory_equal(plain, self.image, sizeof plain);
    assert_int_equal(self.n_notes, self.result.tuning.n);
    const slc_image_tuning found = self.result.tuning;
    assert_true(run(&self, false));
    for (int i = 0; i < found.n; i++) {
        assert_int_equal(self.result.tuning.launch[i].split, found.launch[i].split);
    }
    assert_memory_equal(plain, self.image, sizeof plain);
    assert_int_equal(self.n_notes, self.result.tuning.n);

    char *json = NULL;
    char *plan = NULL;
    TEST_OK(slc_image_stats_json(&self.result, &json));
    TEST_OK(slc_image_plan_text(&self.result, &plan));
    assert_non_null(strstr(json, "\"is_tuned\": true"));
    assert_non_null(strstr(plan, "tuned on this machine"));
    free(json);
    free(plan);

    self.options.run.probes = false;
    assert_false(run(&self, false));
    assert_memory_equal(plain, self.image, sizeof plain);
    assert_int_equal(self.n_warnings + self.n_damaged, 0);
    tuned_close(&self);
}

/* A smaller picture of fewer samples is other work. */
static void other_shapes_are_by_the_model(void **state) {
    static tuned self;
    tuned_open(state, &self);
    assert_true(run(&self, true));
    self.options.nx = self.options.ny = N_PIXELS / 8;
    self.options.vis.time_end = 12; /* of 26: 2 granules of 4,096 samples, not 3 */
    assert_false(run(&self, false));
    tuned_close(&self);
}

static void a_damaged_file_is_replaced(void **state) {
    static tuned self;
    slci_cache_file file;
    tuned_open(state, &self);
    TEST_OK(slci_cache_file_name(self.fixture.device, "tuning", 1, self.folder, &file));
    TEST_OK(slci_cache_file_write(&file, "nonsense\n"));
    assert_false(run(&self, false));
    assert_int_equal(self.n_damaged, 1);
    assert_true(run(&self, true));
    assert_int_equal(self.n_damaged, 2);
    assert_true(run(&self, false));
    assert_int_equal(self.n_damaged, 2);
    tuned_close(&self);
}

/* The run has what it found, later ones have not. */
static void without_a_folder_it_serves_one_run(void **state) {
    static tuned self;
    tuned_open(state, &self);
    self.options.run.cache_folder = NULL;
    assert_true(run(&self, true));
    assert_int_equal(self.n_warnings, 1);
    assert_false(run(&self, false));
    tuned_close(&self);
}

static void what_forbids_measuring_is_refused(void **state) {
    static tuned self;
    tuned_open(state, &self);
    self.options.tunes = true;
    self.options.run.dry_run = true;
    TEST_FAILS(slc_image_run(&self.options, &self.result), SLC_ERROR_ARGUMENT, "--dry-run");
    self.options.run.dry_run = false;
    self.options.run.probes = false;
    TEST_FAILS(slc_image_run(&self.options, &self.result), SLC_ERROR_ARGUMENT, "--no-probe");
    tuned_close(&self);
}

int main(void) {
    static const test_case cases[] = {
        TEST_CASE(found_kept_and_taken),
        TEST_CASE(other_shapes_are_by_the_model),
        TEST_CASE(a_damaged_file_is_replaced),
        TEST_CASE(without_a_folder_it_serves_one_run),
        TEST_CASE(what_forbids_measuring_is_refused),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
