/* Predictions on the host device, bare and checked. */
#include "tests/support/test_predict_cases.h"

int main(void) {
    return test_run_everywhere(test_predict_cases, test_n_predict_cases, TEST_ON_HOST);
}
