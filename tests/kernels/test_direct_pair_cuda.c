/* The cosine of CUDA's sine kernel over all 2^32 turns. */
#include "kernels/direct_pair.h"
#include "tests/support/test_fixture.h"

/* Conversion 9.4e-8 of a sine, polynomial 1.2e-8, its coefficients 1.4e-7 and evaluation 1.3e-7 of a
 * cosine (docs/kernels/direct.md): 0.12 + √(0.94² + 2.7²), in 1e-7. */
#define MOST 3e-7

static void every_turn_is_right(void **state) {
    test_fixture self;
    slc_stream *stream = NULL;
    double worst = 1.0;
    test_fixture_open(*state, &self);
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slci_direct_pair_error(self.device, stream, &worst));
    print_message("worst cosine of all turns: off by %.3g\n", worst);
    assert_true(worst > 0 && worst <= MOST);
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

static void pairs_have_a_rate(void **state) {
    test_fixture self;
    slc_stream *stream = NULL;
    double pairs_per_s = 0.0;
    test_fixture_open(*state, &self);
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slci_direct_pair_rate(self.device, stream, &pairs_per_s));
    assert_true(pairs_per_s > 1e9 && pairs_per_s < 1e15);
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

int main(void) {
    const test_case cases[] = {TEST_CASE(every_turn_is_right), TEST_CASE(pairs_have_a_rate)};
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_CUDA);
}
