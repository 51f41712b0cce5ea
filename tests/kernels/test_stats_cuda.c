/* The cases of tests/kernels/test_stats_kernel.c on a card, bare and with delayed copies. Without one
 * every case is skipped. */
#include "tests/support/test_stats_cases.h"

/* An argument is a pattern of cases to run, for compute-sanitizer's slow tools. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return test_run_everywhere(test_stats_cases, test_n_stats_cases, TEST_ON_CUDA);
}
