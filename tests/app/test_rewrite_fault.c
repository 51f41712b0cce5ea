/* Every call of every kind fails once, at every place where a rewriting makes it, in one pass and
 * in two: one clear error of the right class, every thread joined, nothing left open, nothing under
 * the final name. */
#include "app/rewrite.h"
#include "tests/support/test_job_faults.h"
#include "tests/support/test_rewritten.h"

enum { ONE_PASS, CONVERTED, TWO_PASSES, UNFILTERED, N_WAYS };

static const slc_sparse_choice ways[N_WAYS] = {SLC_SPARSE_AUTO, SLC_SPARSE_AUTO, SLC_SPARSE_AUTO,
                                               SLC_SPARSE_AUTO};

static slc_status run_once(const void *context, int64_t way, slc_device *device) {
    const test_fault_place *self = context;
    slc_rewrite_result result;
    const slc_rewrite_options options = {.in = {.path = self->in, .dataset = "/x"},
                                         .out_path = self->out,
                                         .out = "/g/y",
                                         .is_reversed = true,
                                         .form = {.n_chunk = way == ONE_PASS ? 0 : 2,
                                                  .chunk = {150, 11},
                                                  .filters = way == UNFILTERED},
                                         .converts = way == CONVERTED,
                                         .copies_rest = way == UNFILTERED,
                                         .dtype = SLC_F64,
                                         .run = {.vram_bytes =
                                                     way == TWO_PASSES ? 48 << 10 : 1 << 20,
                                                 .ram_bytes = 16 << 20,
                                                 .device = SLC_CHOOSE_HOST,
                                                 .n_threads = 2,
                                                 .use_device = device}};
    (void)remove(self->out);
    return slc_rewrite_run(&options, &result);
}

static int make(void **state) {
    test_fault_place *self = test_allocate((int64_t)sizeof *self);
    const test_array array = {.rank = 2,
                              .shape = {200, 150},
                              .chunk = {20, 150},
                              .is_deflated = true};
    test_fault_place_create(self, "in.h5", "out.h5");
    test_rewrite_put(self->in, "/x", &array);
    test_rewrite_describe(self->in, "/x", 1, "/along");
    test_rewrite_put(self->in, "/other", &array);
    self->job = (test_job_faults){.context = self,
                                  .run = run_once,
                                  .results = self->results,
                                  .output = self->out,
                                  .ways = ways,
                                  .n_ways = N_WAYS};
    *state = self;
    return 0;
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_fault_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_job_fail_calls),
        CASE(test_job_fail_device_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
