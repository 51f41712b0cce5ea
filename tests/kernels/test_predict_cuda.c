/* The cases of tests/kernels/test_predict_host.c on a card, bare and with delayed copies. Without one
 * every case is skipped. */
#include "tests/support/test_predict_cases.h"

int main(void) {
    return test_run_everywhere(test_predict_cases, test_n_predict_cases, TEST_ON_CUDA);
}
