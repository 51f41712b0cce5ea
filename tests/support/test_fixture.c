#include "tests/support/test_fixture.h"

/* Long enough that copies on two streams overtake each other in every possible way. */
#define DELAY_US 300

typedef struct setting {
    const char *name;
    slc_device_choice choice;
    bool is_checked;
} setting;

static const setting settings[] = {
    {"host", SLC_CHOOSE_HOST, false},
    {"host, checked", SLC_CHOOSE_HOST, true},
    {"CUDA", SLC_CHOOSE_CUDA, false},
    {"CUDA, checked", SLC_CHOOSE_CUDA, true},
};

static slc_status open_device(const setting *on, slc_pool *pool, slc_device **out) {
    const slc_device_options options = {.choice = on->choice, .pool = pool};
    return slc_device_create(&options, out);
}

void test_fixture_open(const void *on, test_fixture *out) {
    const setting *self = on;
    TEST_OK(slc_pool_create(3, &out->pool));
    TEST_OK(open_device(self, out->pool, &out->device));
    out->is_checked = self->is_checked;
    if (self->is_checked) {
        const slc_check_options options = {.delay_us = DELAY_US};
        TEST_OK(slc_device_create_check(out->device, &options, &out->device));
    }
}

void test_fixture_open_failing(const slc_check_options *check, test_fixture *out) {
    const setting host = {.choice = SLC_CHOOSE_HOST};
    test_fixture_open(&host, out);
    TEST_OK(slc_device_create_check(out->device, check, &out->device));
    out->is_checked = true;
}

void test_fixture_close(test_fixture *self) {
    if (self->is_checked) {
        assert_int_equal(slc_device_check_alive(self->device), 0);
    }
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
}

/* Whether the device can be opened; if not, the reason is printed. */
static bool is_present(const setting *on) {
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(1, &pool));
    const slc_status status = open_device(on, pool, &device);
    if (status != SLC_OK) {
        print_message("not on %s: %s\n", on->name, slc_status_message());
    }
    slc_device_destroy(device);
    slc_pool_destroy(pool);
    return status == SLC_OK;
}

static void skip_device(void **state) {
    (void)state;
    skip();
}

int test_run_everywhere(const test_case *cases, int64_t n_cases, test_where where) {
    const int64_t most = n_cases * TEST_COUNT(settings);
    char(*names)[128] = test_allocate(most * (int64_t)sizeof *names);
    struct CMUnitTest *tests = test_allocate(most * (int64_t)sizeof *tests);
    size_t n = 0;
    for (int64_t s = 0; s < TEST_COUNT(settings); s++) {
        const setting *on = &settings[s];
        if ((where == TEST_ON_HOST && on->choice != SLC_CHOOSE_HOST) ||
            (where == TEST_ON_CUDA && on->choice != SLC_CHOOSE_CUDA)) {
            continue;
        }
        const bool runs = is_present(on);
        for (int64_t c = 0; c < (runs ? n_cases : 1); c++) {
            (void)snprintf(names[n], sizeof *names, "%s: %s", on->name,
                           runs ? cases[c].name : "not here");
            tests[n] = (struct CMUnitTest){.name = names[n],
                                           .test_func = runs ? cases[c].function : skip_device,
                                           .initial_state = (void *)(uintptr_t)on};
            n++;
        }
    }
    const int failed = _cmocka_run_group_tests("devices", tests, n, NULL, NULL);
    free(names);
    free(tests);
    return failed;
}
