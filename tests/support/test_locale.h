/* A locale with a decimal comma, to show that numbers do not depend on it.
 *
 *     test_begin_comma_locale();        // skips the test where none is installed
 *     ... print or parse, assert nothing ...
 *     test_end_locale();
 */
#ifndef SLC_TESTS_SUPPORT_TEST_LOCALE_H
#define SLC_TESTS_SUPPORT_TEST_LOCALE_H

#include "tests/support/test_support.h"

#include <locale.h>

static inline void test_begin_comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
                                        "fr_FR.utf8"};
    for (int64_t k = 0; k < TEST_COUNT(names); k++) {
        if (setlocale(LC_ALL, names[k]) != NULL) {
            return;
        }
    }
    TEST_SKIP("no locale with a decimal comma is installed");
}

static inline void test_end_locale(void) {
    (void)setlocale(LC_ALL, "C");
}

#endif
