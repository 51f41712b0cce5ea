/* The imaging job under budgets: exact images of real data, the same bits for every budget and thread
 * count on every device of this machine, and a ledger that agrees with plan and driver. */
#include "tests/support/test_picture.h"

#include <math.h>

#include "core/device_check.h"

/* ---- exact images of real data, any budget ---------------------------------------------------- */

typedef struct exact_case {
    const char *expected, *file;
    int64_t nx, ny;
} exact_case;

static const exact_case exact_cases[] = {
    {"data/expected/m87_256.h5", "data/m87_vlba_8GHz.contig.uvh5", 256, 256},
    {"data/expected/m87_200x150.h5", "data/m87_vlba_8GHz.contig.uvh5", 200, 150},
    {"data/expected/hera_64.h5", "data/hera_zen.2458042.60288.HH.uvRXLS.uvh5_downselected", 64, 64},
    {"data/expected/mwa_96.h5", "data/mwa_1061315448_mini.uvh5", 96, 96},
};

/* On one device: right, and the same bits from the smallest budget upwards. */
static void check_exact(const exact_case *c, slc_device *device) {
    const int64_t n = c->nx * c->ny;
    double scale = 0;
    double *expected = test_read_expected(c->expected, n, &scale);
    test_picture p;
    test_picture_init(&p, c->file, c->nx, c->ny, scale);
    p.options.run.use_device = device;
    TEST_OK(test_picture_run(&p));
    const double error = test_image_error(p.image, expected, n);
    print_message("%s on %s: relative error %.2e\n", c->expected, test_device_name(device), error);
    assert_true(error < 1e-6);
    double *first = p.image;
    p.image = NULL;
    const int64_t smallest = p.result.plan.smallest_device_bytes;
    assert_true(smallest > 0);
    const int64_t budgets[] = {smallest, smallest + smallest / 2, 4 * smallest, 1ll << 26};
    for (int b = 0; b < 4; b++) {
        p.options.run.vram_bytes = budgets[b] < smallest ? smallest : budgets[b];
        TEST_OK(test_picture_run(&p));
        assert_true(p.result.memory.vram_peak_bytes <= p.options.run.vram_bytes);
        assert_memory_equal(first, p.image, (size_t)n * sizeof(double));
    }
    p.options.run.vram_bytes = smallest - 1;
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_NO_PLAN, "smallest that works");
    free(first);
    free(p.image);
    free(expected);
}

/* Skips here, before anything is opened that a skip would leave open. */
static void need_data(void) {
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/base.uvh5", path);
    for (int64_t i = 0; i < TEST_COUNT(exact_cases); i++) {
        test_need_shared(exact_cases[i].file, path);
        test_need_shared(exact_cases[i].expected, path);
    }
}

static void real_data_is_exact_at_any_budget(void **state) {
    (void)state;
    need_data();
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        test_devices devices;
        test_devices_open(n_threads, &devices);
        for (int d = 0; d < devices.n; d++) {
            for (int64_t i = 0; i < TEST_COUNT(exact_cases); i++) {
                check_exact(&exact_cases[i], devices.device[d]);
            }
        }
        test_devices_close(&devices);
    }
}

static void thread_count_changes_no_bit(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "data/mwa_1061315448_mini.uvh5", 96, 96, 0.005);
    double *first = NULL;
    for (int n_threads = 1; n_threads <= 4; n_threads++) {
        p.options.run.n_threads = n_threads;
        TEST_OK(test_picture_run(&p));
        if (first == NULL) {
            first = p.image;
            p.image = NULL;
        } else {
            assert_memory_equal(first, p.image, 96 * 96 * sizeof(double));
        }
    }
    free(first);
    free(p.image);
}

static void four_spellings_give_the_same_bits(void **state) {
    (void)state;
    static const char *const files[] = {"data/m87_vlba_8GHz.contig.uvh5",
                                        "data/m87_vlba_8GHz.gzshuf.uvh5",
                                        "data/m87_vlba_8GHz.lzf.uvh5",
                                        "data/m87_vlba_8GHz.bslz4.uvh5"};
    double *first = NULL;
    for (int i = 0; i < 4; i++) {
        test_picture p;
        test_picture_init(&p, files[i], 64, 64, 1e-9);
        const slc_status status = test_picture_run(&p);
        if (status == SLC_ERROR_UNSUPPORTED) {
            print_message("left out: %s\n", slc_status_message()); /* a plugin is not installed */
            free(p.image);
            continue;
        }
        TEST_OK(status);
        if (first == NULL) {
            first = p.image;
        } else {
            assert_memory_equal(first, p.image, 64 * 64 * sizeof(double));
            free(p.image);
        }
    }
    free(first);
}

static void a_dry_run_plans_what_a_run_does(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 300, 300, 0.002);
    p.options.run.vram_bytes = 4 << 20;
    TEST_OK(test_picture_run(&p));
    const slc_image_result ran = p.result;
    p.options.run.dry_run = true;
    TEST_OK(test_picture_run(&p));
    assert_memory_equal(ran.plan.tile, p.result.plan.tile, sizeof ran.plan.tile);
    assert_int_equal(ran.report.bytes_h2d, p.result.plan.bytes_h2d);
    assert_int_equal(ran.report.bytes_d2h, p.result.plan.bytes_d2h);
    assert_int_equal(ran.report.bytes_read, p.result.plan.bytes_read);
    assert_int_equal(ran.report.n_tiles, p.result.plan.n_tiles);
    assert_int_equal(ran.report.device_peak_bytes, p.result.plan.device_peak_bytes);
    assert_true(slc_numerics_equal(&ran.numerics, &p.result.numerics));
    char *text = NULL;
    TEST_OK(slc_image_plan_text(&p.result, &text));
    assert_non_null(strstr(text, "smallest --vram"));
    free(text);
    free(p.image);
}

static void count_lines(void *context, slc_log_level level, const char *text) {
    (void)text;
    if (level == SLC_LOG_WARNING) {
        (*(int *)context)++;
    }
}

/* Nothing above 64 KiB can be pinned: the picture is the same, and it is said once. */
static void unpinned_memory_is_slower_not_different(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "data/m87_vlba_8GHz.contig.uvh5", 96, 96, 1e-9);
    TEST_OK(test_picture_run(&p));
    double *first = p.image;
    p.image = NULL;
    slc_pool *pool = NULL;
    slc_device *inner = NULL;
    slc_device *check = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &inner));
    const slc_check_options options = {.pinned_limit_bytes = 1 << 16};
    TEST_OK(slc_device_create_check(inner, &options, &check));
    int n_warnings = 0;
    slc_log log;
    slc_log_init(&log, SLC_LOG_WARNING, count_lines, &n_warnings);
    p.options.run.use_device = check;
    TEST_OK(test_picture_run(&p));
    const int64_t pageable = p.result.report.pageable_bytes;
    p.options.run.log = &log;
    TEST_OK(test_picture_run(&p));
    assert_memory_equal(first, p.image, 96 * 96 * sizeof(double));
    assert_true(pageable > 0);
    assert_int_equal(n_warnings, 1);
    slc_log_destroy(&log);
    slc_device_destroy(check);
    slc_pool_destroy(pool);
    free(first);
    free(p.image);
}

/* The least free memory that the driver saw while a run was going on. */
typedef struct watch {
    slc_device *device;
    int64_t least_free;
} watch;

static void look_at_memory(void *context, const char *stage, const char *thing, double done,
                           double total) {
    watch *w = context;
    (void)stage;
    (void)thing;
    (void)done;
    (void)total;
    slc_device_limits limits;
    if (slc_device_get_limits(w->device, &limits) == SLC_OK && limits.free_bytes < w->least_free) {
        w->least_free = limits.free_bytes;
    }
}

/* The driver takes memory for events, launches and graphs of a run in chunks of its own, of which it
 * may need one more; docs/budget.md says that they are not counted. */
#define DRIVER_CHUNK_BYTES (2 << 20)

/* The ledger against the driver's own count: a run takes no more of the card than its budget. A first
 * run with the same plan leaves in the card most of what the driver keeps for itself. */
static void the_card_agrees_with_the_ledger(void **state) {
    (void)state;
    need_data();
    test_devices devices;
    test_devices_open(2, &devices);
    for (int d = 0; d < devices.n; d++) {
        slc_device *device = devices.device[d];
        if (device->kind == SLC_DEVICE_HOST) {
            continue; /* its memory is everybody's */
        }
        test_picture p;
        test_picture_init(&p, "cases/base.uvh5", 2048, 2048, 1e-4);
        p.options.run.use_device = device;
        const int64_t budgets[] = {8 << 20, 64 << 20, 256 << 20};
        for (int b = 0; b < 3; b++) {
            p.options.run.vram_bytes = budgets[b];
            p.options.run.progress = NULL;
            TEST_OK(test_picture_run(&p));
            slc_device_limits before;
            TEST_OK(slc_device_get_limits(device, &before));
            watch w = {.device = device, .least_free = before.free_bytes};
            p.options.run.progress = look_at_memory;
            p.options.run.progress_context = &w;
            TEST_OK(test_picture_run(&p));
            print_message("--vram %lld: ledger %lld, driver %lld bytes\n", (long long)budgets[b],
                          (long long)p.result.memory.vram_peak_bytes,
                          (long long)(before.free_bytes - w.least_free));
            assert_true(p.result.memory.vram_peak_bytes <= budgets[b]);
            assert_true(before.free_bytes - w.least_free <= budgets[b] + DRIVER_CHUNK_BYTES);
        }
        free(p.image);
    }
    test_devices_close(&devices);
}

/* 1024² pixels are 16 MiB of sums: cut at the last budget, whole at the others. */
static void large_images_are_the_same_at_any_budget(void **state) {
    (void)state;
    need_data();
    test_devices devices;
    test_devices_open(2, &devices);
    for (int d = 0; d < devices.n; d++) {
        test_picture p;
        test_picture_init(&p, "cases/base.uvh5", 1024, 1024, 2e-4);
        p.options.run.use_device = devices.device[d];
        /* The smallest last, so that its plan can be looked at. */
        const int64_t budgets[] = {2ll << 30, 256 << 20, 64 << 20, 6 << 20};
        test_same_at_budgets(&p, budgets, TEST_COUNT(budgets));
        assert_true(p.result.plan.n_tiles > 1);
        free(p.image);
    }
    test_devices_close(&devices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_data_is_exact_at_any_budget),
        cmocka_unit_test(thread_count_changes_no_bit),
        cmocka_unit_test(four_spellings_give_the_same_bits),
        cmocka_unit_test(a_dry_run_plans_what_a_run_does),
        cmocka_unit_test(unpinned_memory_is_slower_not_different),
        cmocka_unit_test(the_card_agrees_with_the_ledger),
        cmocka_unit_test(large_images_are_the_same_at_any_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
