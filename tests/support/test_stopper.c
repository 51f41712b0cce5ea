#include "tests/support/test_stopper.h"

#include <string.h>

static void stop_there(void *context, const char *stage, const char *thing, double done,
                       double total) {
    test_stopper *self = context;
    (void)thing;
    if (strcmp(stage, self->stage) == 0 && done >= self->share * total) {
        self->cancel = 1;
    }
}

void test_stopper_watch(test_stopper *self, slc_run_options *run) {
    run->progress = stop_there;
    run->progress_context = self;
    run->cancel = &self->cancel;
}
