/* Stops a job once a share of one of its stages is behind it, as an interrupt from outside does.
 *
 *     test_stopper stop = {.stage = "gathering", .share = 0.5};
 *     test_stopper_watch(&stop, &options.run);
 *     TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INTERRUPTED, "interrupted");
 */
#ifndef SLC_TESTS_SUPPORT_TEST_STOPPER_H
#define SLC_TESTS_SUPPORT_TEST_STOPPER_H

#include "app/run_options.h"

typedef struct test_stopper {
    const char *stage; /* as slc_progress_function names it */
    double share;      /* of its things */
    volatile int cancel;
} test_stopper;

/* Takes the run's progress and cancel; both are lent for the run. */
void test_stopper_watch(test_stopper *self, slc_run_options *run);

#endif
