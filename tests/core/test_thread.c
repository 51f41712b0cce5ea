/* Stacks of threads, which are large enough under a shell's small limit too: from that their default
 * comes. */
#include "tests/support/test_support.h"

#include <pthread.h>

#include "core/thread.h"

static void *measure(void *context) {
    pthread_attr_t attributes;
    size_t *bytes = context;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        (void)pthread_attr_getstacksize(&attributes, bytes);
        (void)pthread_attr_destroy(&attributes);
    }
    return NULL;
}

static size_t stack_bytes(size_t usual_bytes) {
    pthread_t thread;
    pthread_attr_t usual;
    size_t bytes = 0;
    assert_int_equal(pthread_attr_init(&usual), 0);
    assert_int_equal(pthread_attr_setstacksize(&usual, usual_bytes), 0);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_destroy(&usual), 0);
    assert_int_equal(slci_thread_start(&thread, measure, &bytes), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return bytes;
}

static void a_stack_has_a_mebibyte_at_least(void **state) {
    (void)state;
    assert_in_range(stack_bytes((size_t)128 << 10), (size_t)1 << 20, (size_t)2 << 20);
    assert_in_range(stack_bytes((size_t)4 << 20), (size_t)4 << 20, (size_t)5 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stack_has_a_mebibyte_at_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
