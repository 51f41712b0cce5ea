/* Strided copies on the host device, bare and in a checking device, sorted and unsorted. */
#include "tests/support/test_copies.h"

int main(void) {
    return test_run_copies(TEST_ON_HOST);
}
