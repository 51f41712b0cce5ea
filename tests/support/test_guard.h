/* Memory that ends where a page begins which nobody may touch: reading or writing one byte past the end
 * stops the program, in libraries too that no sanitizer has seen. Needs no cmocka, for fuzzers.
 *
 *     test_guard guard;
 *     test_guard_open(n, &guard);        // guard.bytes[0 .. n-1]
 *     test_guard_close(&guard);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_GUARD_H
#define SLC_TESTS_SUPPORT_TEST_GUARD_H

#include <stdint.h>

typedef struct test_guard {
    unsigned char *bytes;
    void *mapped;
    int64_t mapped_bytes;
} test_guard;

/* n >= 0 bytes, not aligned to anything, with a page that stops the program right behind the last byte,
 * or (low) right before the first one. Ends the program where there is no memory. */
void test_guard_open(int64_t n, test_guard *out);
void test_guard_open_low(int64_t n, test_guard *out);
void test_guard_close(test_guard *guard);

#endif
