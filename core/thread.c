#include "core/thread.h"

#include <stddef.h>

/* Five times what the deepest call takes: 192 KiB of names and paths before an image is made. */
#define LEAST_STACK_BYTES ((size_t)1 << 20)

int slci_thread_start(pthread_t *thread, void *(*body)(void *context), void *context) {
    pthread_attr_t attributes;
    size_t bytes = 0;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return error;
    }
    if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < LEAST_STACK_BYTES) {
        error = pthread_attr_setstacksize(&attributes, LEAST_STACK_BYTES);
    }
    if (error == 0) {
        error = pthread_create(thread, &attributes, body, context);
    }
    (void)pthread_attr_destroy(&attributes);
    return error;
}
