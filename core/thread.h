/* Starting a thread whose stack is large enough for what Sluice and HDF5 keep on it, whatever the limit
 * of the shell says (`ulimit -s`), after which a thread's stack has its size. Internal to Sluice.
 *
 *     const int error = slci_thread_start(&thread, body, context);      // 0, or an errno
 *     (void)pthread_join(thread, NULL);
 */
#ifndef SLC_CORE_THREAD_H
#define SLC_CORE_THREAD_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As pthread_create, which has the errors, with the usual stack or a larger one. */
int slci_thread_start(pthread_t *thread, void *(*body)(void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
