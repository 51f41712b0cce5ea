/* The cases of tests/kernels/test_gather_kernel.c on a card, bare and with delayed copies. Without
 * one every case is skipped. */
#include "tests/support/test_gather_cases.h"

int main(void) {
    return test_run_everywhere(test_gather_cases, test_n_gather_cases, TEST_ON_CUDA);
}
