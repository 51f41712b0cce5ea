/* Predictions checked against the formula in double, on a device at hand.
 *
 *     test_run_everywhere(test_predict_cases, test_n_predict_cases, TEST_ON_HOST);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_PREDICT_CASES_H
#define SLC_TESTS_SUPPORT_TEST_PREDICT_CASES_H

#include "kernels/predict_kernel.h"
#include "ooc/plan.h"
#include "tests/support/test_fixture.h"

/* The cases of tests/kernels/test_predict_host.c, which test_predict_cuda.c runs on a card. */
extern const test_case test_predict_cases[];
extern const int64_t test_n_predict_cases;

#endif
