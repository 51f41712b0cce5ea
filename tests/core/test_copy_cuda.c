/* Strided copies on the card, bare and in a checking device; in a program of its own, which the
 * sanitizers of tests/gpu/run take. */
#include "tests/support/test_copies.h"

int main(void) {
    return test_run_copies(TEST_ON_CUDA);
}
