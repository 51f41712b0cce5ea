/* Whole jobs on a device that has less memory than --vram allows when they start, or refuses it:
 * planned again smaller, with a note, to the same bytes; below the smallest plan one message and exit
 * code 4, and no file. */
#include "app/gather.h"
#include "app/image.h"
#include "core/device_check.h"
#include "tests/support/test_uvh5.h"

enum { VRAM = 8 << 20, N_DATA = 400000, N_INDEX = 5000 };

typedef struct place {
    char directory[TEST_PATH_BYTES], set[TEST_PATH_BYTES], in[TEST_PATH_BYTES];
    char calm[TEST_PATH_BYTES], pressed[TEST_PATH_BYTES];
    slc_pool *pool;
    slc_log log;
    int64_t n_notes;
} place;

static void count_notes(void *context, slc_log_level level, const char *text) {
    if (level == SLC_LOG_NOTE && strstr(text, "planning again for") != NULL) {
        ++*(int64_t *)context;
    }
}

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    memset(self, 0, sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "set.uvh5", self->set);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "calm.h5", self->calm);
    test_join(self->directory, "pressed.h5", self->pressed);
    slc_log_init(&self->log, SLC_LOG_NOTE, count_notes, &self->n_notes);
    TEST_OK(slc_pool_create(2, &self->pool));
    *state = self;
    return 0;
}

static int unmake(void **state) {
    place *self = *state;
    slc_pool_destroy(self->pool);
    slc_log_destroy(&self->log);
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

/* A job with an output, on the device in `run`. Sets what its plan takes of the device. */
typedef slc_status (*whole_job)(const place *self, const slc_run_options *run, const char *out,
                                int64_t *peak_bytes, int64_t *least_bytes);

static slc_status image(const place *self, const slc_run_options *run, const char *out,
                        int64_t *peak_bytes, int64_t *least_bytes) {
    const char *const inputs[] = {self->set};
    slc_image_options options;
    slc_image_result result;
    slc_image_options_init(&options);
    options.inputs = inputs;
    options.n_inputs = 1;
    options.outputs = &out;
    options.n_outputs = 1;
    options.nx = options.ny = 500;
    options.scale_rad = 0.002;
    options.run = *run;
    SLC_TRY(slc_image_run(&options, &result));
    *peak_bytes = result.report.device_peak_bytes;
    *least_bytes = result.plan.smallest_device_bytes;
    return SLC_OK;
}

static slc_status gather(const place *self, const slc_run_options *run, const char *out,
                         int64_t *peak_bytes, int64_t *least_bytes) {
    const slc_gather_options options = {.data_path = self->in,
                                        .data = "/data",
                                        .index_path = self->in,
                                        .index = "/i",
                                        .out_path = out,
                                        .out = "/v",
                                        .run = *run};
    slc_gather_result result;
    SLC_TRY(slc_gather_run(&options, &result));
    *peak_bytes = result.report.device_peak_bytes;
    *least_bytes = result.plan.smallest_device_bytes;
    return SLC_OK;
}

static void make_inputs(const place *self) {
    double *data = test_allocate(N_DATA * 8);
    int64_t list[N_INDEX];
    const int64_t n_data = N_DATA;
    const int64_t n_index = N_INDEX;
    uint64_t random = 1;
    test_fill_f64(data, N_DATA, 2);
    for (int64_t k = 0; k < N_INDEX; k++) {
        list[k] = test_random_below(&random, N_DATA);
    }
    test_h5_put_f64(self->in, "/data", 1, &n_data, data);
    test_h5_put_i64(self->in, "/i", 1, &n_index, list);
    test_uvh5_create(self->set, 400, 2, 2);
    free(data);
}

/* One run on a device that is as the check says. */
static slc_status run_on(place *self, whole_job job, const slc_check_options *check,
                         slc_sparse_choice sparse, const char *out, int64_t *peak_bytes,
                         int64_t *least_bytes) {
    slc_device *device = NULL;
    TEST_OK(slc_device_create_host(self->pool, NULL, &device));
    TEST_OK(slc_device_create_check(device, check, &device));
    const slc_run_options run = {.vram_bytes = VRAM,
                                 .ram_bytes = 64 << 20,
                                 .sparse = sparse,
                                 .log = &self->log,
                                 .use_device = device};
    self->n_notes = 0;
    const slc_status status = job(self, &run, out, peak_bytes, least_bytes);
    assert_int_equal(slc_device_check_alive(device), 0);
    slc_device_destroy(device);
    return status;
}

static char *read_whole(const char *path, long *n) {
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = ftell(file);
    rewind(file);
    char *const bytes = test_allocate(*n);
    assert_int_equal(fread(bytes, 1, (size_t)*n, file), *n);
    fclose(file);
    return bytes;
}

static void expect_same_bytes(const place *self) {
    long n_calm = 0;
    long n_pressed = 0;
    char *const calm = read_whole(self->calm, &n_calm);
    char *const pressed = read_whole(self->pressed, &n_pressed);
    assert_int_equal(n_calm, n_pressed);
    assert_memory_equal(calm, pressed, (size_t)n_calm);
    free(calm);
    free(pressed);
    assert_int_equal(remove(self->pressed), 0);
}

static void press(place *self, whole_job job, slc_sparse_choice sparse) {
    int64_t whole = 0;
    int64_t least = 0;
    int64_t peak = 0;
    int64_t unused = 0;
    make_inputs(self);
    TEST_OK(run_on(self, job, &(slc_check_options){0}, sparse, self->calm, &whole, &least));
    assert_int_equal(self->n_notes, 0);
    assert_true(least < whole);
    const slc_check_options pressures[] = {
        {.free_bytes = whole - 1},
        {.free_bytes = least},
        {.fail_kind = SLC_CHECK_ALLOCATE, .fail_at = 1},
    };
    for (int64_t i = 0; i < TEST_COUNT(pressures); i++) {
        TEST_OK(run_on(self, job, &pressures[i], sparse, self->pressed, &peak, &unused));
        assert_true(self->n_notes >= 1);
        /* What is refused may be a smaller pass's. */
        assert_true(peak <= (pressures[i].free_bytes > 0 ? pressures[i].free_bytes : whole));
        expect_same_bytes(self);
    }
    const slc_check_options hopeless[] = {
        {.free_bytes = least / 2},
        {.fail_kind = SLC_CHECK_ALLOCATE, .fail_at = 1, .n_fails = INT64_MAX},
    };
    for (int64_t i = 0; i < TEST_COUNT(hopeless); i++) {
        const slc_status status =
            run_on(self, job, &hopeless[i], sparse, self->pressed, &peak, &unused);
        TEST_FAILS(status, SLC_ERROR_NO_PLAN, "budget (--vram) was");
        assert_int_equal(slc_status_exit_code(status), 4);
        assert_int_equal(test_directory_count(self->directory),
                         3); /* inputs, and the calm result */
    }
}

static void an_image(void **state) {
    press(*state, image, SLC_SPARSE_AUTO);
}

static void a_gather(void **state) {
    press(*state, gather, SLC_SPARSE_STREAMED);
}

/* Whole data does not shrink: another way is taken. */
static void a_gather_goes_another_way(void **state) {
    place *self = *state;
    int64_t peak = 0;
    int64_t least = 0;
    make_inputs(self);
    TEST_OK(
        run_on(self, gather, &(slc_check_options){0}, SLC_SPARSE_AUTO, self->calm, &peak, &least));
    assert_true(peak > N_DATA * 8); /* resident */
    const slc_check_options pressure = {.free_bytes = 1 << 20};
    TEST_OK(run_on(self, gather, &pressure, SLC_SPARSE_AUTO, self->pressed, &peak, &least));
    assert_true(peak <= 1 << 20);
    expect_same_bytes(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_image, make, unmake),
        cmocka_unit_test_setup_teardown(a_gather, make, unmake),
        cmocka_unit_test_setup_teardown(a_gather_goes_another_way, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
