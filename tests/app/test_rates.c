/* The rates of this machine: measured once, kept in a file, found again; a cache that is missing,
 * foreign, damaged or not writable costs a measurement and never a run. And rates choose a plan: the
 * image has the same bits with any. */
#include "tests/support/test_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "app/cache_file.h"
#include "app/image.h"
#include "app/rates.h"
#include "core/device_check.h"
#include "io/simulate.h"

#define MIB (INT64_C(1) << 20)

/* A checking device, whose allocations tell whether something was measured, and a folder. */
typedef struct place {
    slc_pool *pool;
    slc_device *device;
    char directory[TEST_PATH_BYTES], folder[TEST_PATH_BYTES], file[TEST_PATH_BYTES];
    slc_log log;
    int n_warnings, n_notes, n_details;
} place;

static void count_lines(void *context, slc_log_level level, const char *text) {
    (void)text;
    place *self = context;
    self->n_warnings += level == SLC_LOG_WARNING;
    self->n_notes += level == SLC_LOG_NOTE;
    self->n_details += level == SLC_LOG_DETAIL;
}

static void find_file(slc_device *device, const char *folder, char path[TEST_PATH_BYTES]) {
    slci_cache_file file;
    TEST_OK(slci_cache_file_name(device, "rates", 1, folder, &file));
    assert_true(strlen(file.path) < TEST_PATH_BYTES);
    memcpy(path, file.path, strlen(file.path) + 1);
}

static void place_open(place *self) {
    memset(self, 0, sizeof *self);
    slc_device *inner = NULL;
    const slc_check_options options = {.delay_us = 0};
    TEST_OK(slc_pool_create(2, &self->pool));
    TEST_OK(slc_device_create_host(self->pool, NULL, &inner));
    TEST_OK(slc_device_create_check(inner, &options, &self->device));
    test_directory_create(self->directory);
    test_join(self->directory, "cache/sluice", self->folder);
    find_file(self->device, self->folder, self->file);
    slc_log_init(&self->log, SLC_LOG_DETAIL, count_lines, self);
}

static void place_close(place *self) {
    assert_int_equal(self->n_warnings, 0);
    assert_int_equal(slc_device_check_alive(self->device), 0);
    slc_log_destroy(&self->log);
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
    test_directory_remove(self->directory);
}

/* The rates, and whether they were measured now. */
static slc_rates get_rates(place *self, const char *folder, bool *is_measured) {
    const slci_rates_request request = {.device = self->device,
                                        .vram_bytes = 128 * MIB,
                                        .ram_bytes = 128 * MIB,
                                        .folder = folder,
                                        .log = &self->log};
    const int64_t before = slc_device_check_calls(self->device, SLC_CHECK_ALLOCATE);
    const slc_rates rates = slci_rates_get(&request);
    *is_measured = slc_device_check_calls(self->device, SLC_CHECK_ALLOCATE) > before;
    assert_true(rates.h2d_bytes_per_s > 0);
    assert_true(rates.step_seconds > 0);
    assert_true(rates.disk_bytes_per_s > 0);
    return rates;
}

static int64_t read_file(const char *path, char *text, int64_t bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(text, 1, (size_t)bytes, file);
    (void)fclose(file);
    assert_true((int64_t)length < bytes);
    return (int64_t)length;
}

static void write_file(const char *path, const char *text, int64_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, (size_t)bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void measured_once(void **state) {
    (void)state;
    place self;
    place_open(&self);
    bool is_measured = false;
    const slc_rates first = get_rates(&self, self.folder, &is_measured);
    assert_true(is_measured);
    assert_int_equal(test_directory_count(self.folder), 1);
    const slc_rates second = get_rates(&self, self.folder, &is_measured);
    assert_false(is_measured);
    assert_memory_equal(&first, &second, sizeof first);
    assert_int_equal(self.n_notes, 0);
    /* Another number of threads is another machine. */
    char other[TEST_PATH_BYTES];
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &device));
    find_file(device, self.folder, other);
    assert_string_not_equal(other, self.file);
    slc_device_destroy(device);
    slc_pool_destroy(pool);
    place_close(&self);
}

/* Whatever is in the file, it is measured again and replaced by a whole one. */
static void a_damaged_cache_is_measured_again(void **state) {
    (void)state;
    place self;
    place_open(&self);
    bool is_measured = false;
    (void)get_rates(&self, self.folder, &is_measured);
    enum { N_BYTES = 4096 };
    char whole[N_BYTES];
    char text[N_BYTES];
    const int64_t length = read_file(self.file, whole, N_BYTES);
    whole[length] = '\0';
    char *const value = strstr(whole, "h2d_bytes_per_s ");
    assert_non_null(value);
    const int64_t at = value - whole + (int64_t)strlen("h2d_bytes_per_s ");
    const char *const values[] = {"x", "-", "0", "1e99", "nan"};
    for (int i = 0; i < 9; i++) {
        memcpy(text, whole, (size_t)length);
        int64_t bytes = length;
        if (i < 5) { /* another value: the old one goes on behind it, or is replaced */
            memcpy(text + at, values[i], strlen(values[i]));
            text[at + (int64_t)strlen(values[i])] = '\n';
        } else if (i == 5) {
            bytes = length / 2;
        } else if (i == 6) {
            bytes = 0;
        } else if (i == 7) {
            text[0] = 'S'; /* another key */
        } else {
            memset(text, 'a', N_BYTES - 1);
            bytes = N_BYTES - 1;
        }
        write_file(self.file, text, bytes);
        (void)get_rates(&self, self.folder, &is_measured);
        assert_true(is_measured);
        (void)get_rates(&self, self.folder, &is_measured);
        assert_false(is_measured);
    }
    assert_int_equal(test_directory_count(self.folder), 1);
    assert_int_equal(self.n_notes, 0);
    place_close(&self);
}

/* A pipe under the file's name holds nobody up, and is let be. */
static void a_pipe_is_no_cache(void **state) {
    (void)state;
    place self;
    place_open(&self);
    bool is_measured = false;
    (void)get_rates(&self, self.folder, &is_measured);
    assert_int_equal(unlink(self.file), 0);
    assert_int_equal(mkfifo(self.file, 0600), 0);
    (void)get_rates(&self, self.folder, &is_measured);
    assert_true(is_measured);
    struct stat info;
    assert_int_equal(stat(self.file, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(self.n_notes, 0);
    place_close(&self);
}

/* No folder, one that cannot be made, one that is a file: a line in the details, and rates. */
static void without_a_folder_nothing_is_kept(void **state) {
    (void)state;
    place self;
    place_open(&self);
    char file[TEST_PATH_BYTES];
    char below[TEST_PATH_BYTES];
    test_join(self.directory, "file", file);
    write_file(file, "x", 1);
    test_join(file, "sluice", below);
    const char *const folders[] = {NULL, "/proc/sluice", file, below};
    for (int64_t i = 0; i < TEST_COUNT(folders); i++) {
        const int before = self.n_details;
        bool is_measured = false;
        (void)get_rates(&self, folders[i], &is_measured);
        assert_true(is_measured);
        assert_true(self.n_details > before);
    }
    assert_int_equal(self.n_notes, 0);
    assert_int_equal(test_directory_count(self.directory), 1);
    place_close(&self);
}

/* What a small budget measures is kept for its like, and for none that can do better. */
static void a_small_budget_keeps_its_own(void **state) {
    (void)state;
    place self;
    bool is_measured = false;
    place_open(&self);
    slci_rates_request request = {.device = self.device,
                                  .vram_bytes = 20 * MIB,
                                  .ram_bytes = 20 * MIB,
                                  .folder = self.folder,
                                  .log = &self.log};
    const slc_rates first = slci_rates_get(&request);
    assert_int_equal(access(self.file, F_OK), -1);
    assert_int_equal(test_directory_count(self.folder), 1);
    request.vram_bytes = 21 * MIB;
    const slc_rates second = slci_rates_get(&request);
    assert_memory_equal(&first, &second, sizeof first);
    const slc_rates whole = get_rates(&self, self.folder, &is_measured);
    assert_true(is_measured);
    assert_int_equal(test_directory_count(self.folder), 2);
    const slc_rates third = slci_rates_get(&request);
    assert_memory_equal(&whole, &third, sizeof whole);
    /* Nothing is measured within this, so nothing is kept. */
    assert_int_equal(unlink(self.file), 0);
    request.vram_bytes = MIB;
    const slc_rates none = slci_rates_get(&request);
    const slc_rates assumed = slc_rates_default(SLC_DEVICE_HOST);
    assert_memory_equal(&none, &assumed, sizeof none);
    assert_int_equal(test_directory_count(self.folder), 1);
    place_close(&self);
}

/* A device that fails is the run's business: here it costs a note. */
static void a_failing_device_gives_assumed_rates(void **state) {
    (void)state;
    place self;
    place_open(&self);
    slc_device *inner = NULL;
    slc_device *check = NULL;
    const slc_check_options options = {.fail_kind = SLC_CHECK_COPY, .fail_at = 2};
    TEST_OK(slc_device_create_host(self.pool, NULL, &inner));
    TEST_OK(slc_device_create_check(inner, &options, &check));
    const slci_rates_request request = {.device = check,
                                        .vram_bytes = 128 * MIB,
                                        .ram_bytes = 128 * MIB,
                                        .folder = self.folder,
                                        .log = &self.log};
    const slc_rates rates = slci_rates_get(&request);
    const slc_rates assumed = slc_rates_default(SLC_DEVICE_HOST);
    assert_memory_equal(&rates, &assumed, sizeof rates);
    assert_int_equal(self.n_notes, 1);
    slc_device_destroy(check);
    place_close(&self);
}

/* ---- no bit depends on them --------------------------------------------------------------------- */

enum { N_PIXELS = 96 };

static void image_with(const char *path, const slc_rates *rates, double *image,
                       slc_image_result *result) {
    const char *const inputs[] = {path};
    slc_image_options options;
    slc_image_options_init(&options);
    options.inputs = inputs;
    options.n_inputs = 1;
    options.image = image;
    options.nx = N_PIXELS;
    options.ny = N_PIXELS;
    options.run.vram_bytes = 4 * MIB;
    options.run.ram_bytes = 64 * MIB;
    options.run.device = SLC_CHOOSE_HOST;
    options.run.n_threads = 2;
    options.run.rates = *rates;
    TEST_OK(slc_image_run(&options, result));
}

static void rates_change_plans_and_no_bits(void **state) {
    (void)state;
    place self;
    place_open(&self);
    char path[TEST_PATH_BYTES];
    test_join(self.directory, "set.uvh5", path);
    slc_simulate_options simulate = {.path = path,
                                     .n_rows = 30000,
                                     .n_polarisations = 1,
                                     .pool = self.pool};
    TEST_OK(slc_simulate_resolve(&simulate));
    TEST_OK(slc_simulate_run(&simulate));
    static double image[4][N_PIXELS * N_PIXELS];
    slc_image_result result[4];
    slc_rates rates[4];
    for (int i = 0; i < 4; i++) {
        rates[i] = slc_rates_default(SLC_DEVICE_HOST);
    }
    rates[1].step_seconds = 1.0; /* few, large tiles */
    rates[2].step_seconds = 1e-9;
    rates[2].read_bytes_per_s = 1e5; /* all else hides behind reading */
    rates[3].h2d_bytes_per_s = 1e3;
    bool plans_differ = false;
    for (int i = 0; i < 4; i++) {
        image_with(path, &rates[i], image[i], &result[i]);
        assert_memory_equal(image[i], image[0], sizeof image[0]);
        plans_differ = plans_differ || result[i].plan.n_tiles != result[0].plan.n_tiles ||
                       result[i].plan.n_slots != result[0].plan.n_slots;
    }
    assert_true(plans_differ);
    place_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_once),
        cmocka_unit_test(a_damaged_cache_is_measured_again),
        cmocka_unit_test(a_pipe_is_no_cache),
        cmocka_unit_test(without_a_folder_nothing_is_kept),
        cmocka_unit_test(a_small_budget_keeps_its_own),
        cmocka_unit_test(a_failing_device_gives_assumed_rates),
        cmocka_unit_test(rates_change_plans_and_no_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
