/* Comparison of doubles within a tolerance, showing both when it fails.
 *
 *     TEST_NEAR(peak, 1.0, 2e-6);
 *     TEST_NEAR_NAMED(peaks[k], 1.0, 2e-6, names[k]);      // where the expression says too little
 */
#ifndef SLC_TESTS_SUPPORT_TEST_NEAR_H
#define SLC_TESTS_SUPPORT_TEST_NEAR_H

#include "tests/support/test_support.h"

#include <math.h>

#define TEST_NEAR(found, expected, tolerance) \
    test_near((found), (expected), (tolerance), #found, __FILE__, __LINE__)

#define TEST_NEAR_NAMED(found, expected, tolerance, what) \
    test_near((found), (expected), (tolerance), (what), __FILE__, __LINE__)

static inline void test_near(double found, double expected, double tolerance, const char *what,
                             const char *file, int line) {
    if (!(fabs(found - expected) <= tolerance)) {
        print_error("%s is %.17g, expected %.17g within %g\n", what, found, expected, tolerance);
        _fail(file, line);
    }
}

#endif
