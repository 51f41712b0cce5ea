#include "tests/support/test_job_faults.h"

#include "core/device_check.h"
#include "tests/support/test_belongings.h"
#include "tests/support/test_faults.h"

enum { N_DENSE = 50, N_SAMPLED = 12 };

/* ---- the place -------------------------------------------------------------------------------- */

void test_fault_place_create(test_fault_place *self, const char *in, const char *out) {
    test_directory_create(self->data);
    test_directory_create(self->results);
    test_fault_set_outputs(self->results);
    test_join(self->data, in, self->in);
    test_join(self->results, out, self->out);
}

int test_fault_place_destroy(void **state) {
    test_fault_place *self = *state;
    test_directory_remove(self->data);
    test_directory_remove(self->results);
    free(self);
    return 0;
}

/* ---- calls that fail -------------------------------------------------------------------------- */

/* What a call that fails must end in; memory of the device that is refused is asked for again,
 * smaller, and mapped memory that cannot be had leaves other ways. */
static const struct {
    test_fault kind;
    slc_status status;
} expected[] = {
    {TEST_FAULT_MEMORY, SLC_ERROR_MEMORY},   {TEST_FAULT_SLAB, SLC_ERROR_NO_PLAN},
    {TEST_FAULT_THREAD, SLC_ERROR_MEMORY},   {TEST_FAULT_OPEN_INPUT, SLC_ERROR_INPUT},
    {TEST_FAULT_OPEN_DATA, SLC_ERROR_INPUT}, {TEST_FAULT_READ, SLC_ERROR_INPUT},
    {TEST_FAULT_WRITE, SLC_ERROR_OUTPUT},    {TEST_FAULT_OPEN_OUTPUT, SLC_ERROR_OUTPUT},
    {TEST_FAULT_H5_WRITE, SLC_ERROR_OUTPUT}, {TEST_FAULT_SYNC, SLC_ERROR_OUTPUT},
    {TEST_FAULT_RENAME, SLC_ERROR_OUTPUT},   {TEST_FAULT_DECODE, SLC_ERROR_INPUT},
    {TEST_FAULT_COMPARE, SLC_ERROR_INPUT},
};

static bool is_after_refusal(slc_status status) {
    return status == SLC_OK || status == SLC_ERROR_NO_PLAN || status == SLC_ERROR_MEMORY;
}

static void expect_failure(const test_job_faults *job, int64_t way, int64_t e, slc_status status,
                           int64_t n) {
    const test_fault kind = expected[e].kind;
    const slc_status wanted = expected[e].status;
    const char *const message = status == SLC_OK ? "" : slc_status_message();
    const bool may_recover = kind == TEST_FAULT_SLAB ||
                             (wanted == SLC_ERROR_MEMORY && job->ways[way] == SLC_SPARSE_AUTO);
    /* What was written is opened again, and then it is the output that cannot be. */
    const bool is_of_output = wanted == SLC_ERROR_INPUT && status == SLC_ERROR_OUTPUT &&
                              strstr(message, job->results) != NULL;
    const bool has_way = status != SLC_OK || kind == TEST_FAULT_SLAB || job->is_explained == NULL ||
                         job->is_explained(job->context);
    /* A chunk that is refused as its dataset is opened is read by who needs it, rightly this time. */
    const bool is_read_later = kind == TEST_FAULT_COMPARE && status == SLC_OK;
    const bool is_right =
        is_read_later ||
        (has_way && (may_recover ? is_after_refusal(status) : status == wanted || is_of_output));
    if (!is_right || (status != SLC_OK && message[0] == '\0') || strchr(message, '\n') != NULL) {
        fail_msg("way %d, %s, call %lld: found %s (%s), expected %s", (int)way,
                 test_fault_name(kind), (long long)n, slc_status_name(status), message,
                 slc_status_name(wanted));
    }
}

/* The output of a run in which no call failed. */
typedef struct whole_output {
    char *bytes;
    int64_t n_bytes;
} whole_output;

static void expect_output(const test_job_faults *job, const whole_output *whole) {
    int64_t n_bytes = 0;
    char *bytes = test_file_read(job->output, &n_bytes);
    assert_int_equal(n_bytes, whole->n_bytes);
    assert_memory_equal(bytes, whole->bytes, (size_t)n_bytes);
    free(bytes);
}

static int64_t n_outputs(const test_job_faults *job, slc_status status) {
    return status == SLC_OK && !job->has_no_output ? 1 : 0;
}

/* Returns how many calls of the kind there were: fewer than n, and it was never reached. */
static int64_t fail_once(const test_job_faults *job, int64_t way, const whole_output *whole,
                         int64_t e, int64_t n) {
    const test_belongings before = test_belongings_count();
    test_fault_arm(expected[e].kind, n);
    const slc_status status = job->run(job->context, way, NULL);
    const int64_t n_calls = test_fault_disarm();
    if (n_calls < n) {
        TEST_OK(status);
        return n_calls;
    }
    expect_failure(job, way, e, status, n);
    if (status == SLC_OK && whole->bytes != NULL) {
        expect_output(job, whole);
    }
    assert_int_equal(test_directory_count(job->results), n_outputs(job, status));
    test_belongings_expect(&before);
    return n_calls;
}

void test_job_fail_calls(void **state) {
    const test_job_faults *const job = &((const test_fault_place *)*state)->job;
    for (int64_t w = 0; w < job->n_ways; w++) {
        whole_output whole = {NULL, 0};
        TEST_OK(job->run(job->context, w, NULL)); /* makes what is made once */
        if (job->output != NULL) {
            whole.bytes = test_file_read(job->output, &whole.n_bytes);
        }
        for (int64_t e = 0; e < TEST_COUNT(expected); e++) {
            const bool is_decoding =
                expected[e].kind == TEST_FAULT_DECODE || expected[e].kind == TEST_FAULT_COMPARE;
            if ((job->has_no_output && expected[e].status == SLC_ERROR_OUTPUT) ||
                (job->is_unfiltered && is_decoding)) {
                continue;
            }
            const int64_t n_calls = fail_once(job, w, &whole, e, INT64_MAX);
            const int64_t rest = n_calls - N_DENSE;
            const int64_t step = rest > N_SAMPLED ? rest / N_SAMPLED : 1;
            assert_true(n_calls > 0);
            for (int64_t n = 1; n <= n_calls; n += n < N_DENSE ? 1 : step) {
                (void)fail_once(job, w, &whole, e, n);
            }
        }
        free(whole.bytes);
    }
}

/* Whether the call was not reached. */
static bool fail_on_device(const test_job_faults *job, slc_pool *pool, int64_t way,
                           const slc_check_options *options) {
    slc_device *check = NULL;
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, options, &check));
    const slc_status status = job->run(job->context, way, check);
    const bool is_reached = slc_device_check_calls(check, options->fail_kind) >= options->fail_at;
    const bool is_memory =
        options->fail_kind == SLC_CHECK_ALLOCATE || options->fail_kind == SLC_CHECK_MAPPED;
    assert_int_equal(slc_device_check_alive(check), 0);
    slc_device_destroy(check);
    if (!is_reached) {
        TEST_OK(status);
    } else if (is_memory) {
        assert_true(is_after_refusal(status));
    } else {
        assert_true(status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
    }
    assert_int_equal(test_directory_count(job->results), n_outputs(job, status));
    return !is_reached;
}

void test_job_fail_device_calls(void **state) {
    const test_job_faults *const job = &((const test_fault_place *)*state)->job;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    for (int64_t w = 0; w < job->n_ways - 1; w++) {
        for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
            if (kind == SLC_CHECK_PINNED) {
                continue; /* falls back to pageable memory */
            }
            slc_check_options options = {.fail_kind = (slc_check_kind)kind, .fail_at = 1};
            while (!fail_on_device(job, pool, w, &options)) {
                options.fail_at += options.fail_at < N_DENSE ? 1 : options.fail_at / 3;
            }
        }
    }
    slc_pool_destroy(pool);
}

void test_job_expect_streamed(const void *context,
                              slc_sparse_choice (*run)(const void *context, slc_run_options run),
                              int64_t vram_bytes) {
    const slc_check_options fails = {.fail_kind = SLC_CHECK_MAPPED, .fail_at = 1};
    slc_run_options options = {.vram_bytes = vram_bytes,
                               .ram_bytes = 8 << 20,
                               .rates = slc_rates_default(SLC_DEVICE_HOST),
                               .overwrite = true};
    slc_pool *pool = NULL;
    slc_device *check = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, &fails, &check));
    options.use_device = check;
    options.rates.h2d_bytes_per_s = 1e5;
    options.rates.mapped_touches_per_s = 1e12;
    assert_int_equal(run(context, options), SLC_SPARSE_STREAMED);
    assert_int_equal(slc_device_check_calls(check, SLC_CHECK_MAPPED), 1);
    slc_device_destroy(check);
    slc_pool_destroy(pool);
}
