/* Slices of the calling thread: shorter where this Linux has them, and as before afterwards. */
#include "tests/support/test_support.h"

#include <sched.h>

#include "core/thread_slice.h"

static void a_slice_is_shortened_and_restored(void **state) {
    (void)state;
    const slci_thread_slice before = slci_thread_slice_shorten();
    if (!before.is_changed) {
        print_message("this Linux gives no thread a slice of its own\n");
        skip();
    }
    const slci_thread_slice shortened = slci_thread_slice_shorten();
    assert_false(shortened.is_changed); /* it cannot be shorter still */
    slci_thread_slice_restore(&shortened);
    slci_thread_slice_restore(&before);
    const slci_thread_slice again = slci_thread_slice_shorten();
    assert_true(again.is_changed);
    assert_true(again.ns == before.ns);
    slci_thread_slice_restore(&again);
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_slice_is_shortened_and_restored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
