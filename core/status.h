/* What a call that can fail returns, and the message that says why.
 *
 * Every fallible function of the library returns a slc_status; 0 is success. The failing function
 * records one line of text (what, which value, what would help) for the calling thread; worker
 * threads carry theirs to the waiter with slc_status_capture and slc_status_restore. A message calls
 * what it speaks of by its name, for who calls the library; where the program has an option for it,
 * that follows in brackets: "the host budget (--ram)".
 *
 *     slc_status status = slc_image_run(&options, &result);
 *     if (status != SLC_OK) {
 *         fprintf(stderr, "%s: %s\n", slc_status_name(status), slc_status_message());
 *     }
 */
#ifndef SLC_CORE_STATUS_H
#define SLC_CORE_STATUS_H

#include <stdarg.h>

#include "core/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(code, exit code of the program, text). One line is one status. */
#define SLC_STATUS_MAP(X)                              \
    X(SLC_OK, 0, "done")                               \
    X(SLC_ERROR_ARGUMENT, 2, "bad argument")           \
    X(SLC_ERROR_INPUT, 3, "input refused")             \
    X(SLC_ERROR_UNSUPPORTED, 3, "input not supported") \
    X(SLC_ERROR_NO_PLAN, 4, "no plan fits the budget") \
    X(SLC_ERROR_MEMORY, 4, "out of memory")            \
    X(SLC_ERROR_OUTPUT, 5, "output failed")            \
    X(SLC_ERROR_DEVICE, 6, "device failed")            \
    X(SLC_ERROR_INTERRUPTED, 130, "interrupted")       \
    X(SLC_ERROR_INTERNAL, 6, "a bug in Sluice; please report it")

typedef enum slc_status {
#define SLC_STATUS_ENUM(code, exit_code, text) code,
    SLC_STATUS_MAP(SLC_STATUS_ENUM)
#undef SLC_STATUS_ENUM
        SLC_STATUS_COUNT
} slc_status;

#define SLC_MESSAGE_BYTES 1024

/* A failure carried from one thread to another. Copied by value, owns nothing. */
typedef struct slc_failure {
    slc_status status;
    char message[SLC_MESSAGE_BYTES];
} slc_failure;

/* "SLC_ERROR_INPUT"; "unknown status" for a number that is none. Static storage. */
SLC_API const char *slc_status_name(slc_status status);

/* "input refused". Static storage. */
SLC_API const char *slc_status_text(slc_status status);

/* The exit code the program documents for this status (0, 2, 3, 4, 5, 6 or 130). */
SLC_API int slc_status_exit_code(slc_status status);

/* The calling thread's last message, "" if there was none. Lives until the thread's next failure. */
SLC_API const char *slc_status_message(void);

/* Records the message for the calling thread and returns `status`. Use SLC_FAIL. */
SLC_API slc_status slc_status_fail(slc_status status, const char *format, ...) SLC_PRINTF(2, 3);

/* Puts `prefix: ` before the calling thread's message and returns `status` unchanged: for callers
 * that know a file or dataset name which the failing function could not know. */
SLC_API slc_status slc_status_prefix(slc_status status, const char *format, ...) SLC_PRINTF(2, 3);

/* Copies the calling thread's failure out, or puts one back in another thread. */
SLC_API void slc_status_capture(slc_status status, slc_failure *out);
SLC_API slc_status slc_status_restore(const slc_failure *failure);

#define SLC_FAIL(code, ...) slc_status_fail((code), __VA_ARGS__)

/* Return at once on failure: only while holding nothing. */
#define SLC_TRY(expression)                             \
    do {                                                \
        const slc_status slc_try_status = (expression); \
        if (slc_try_status != SLC_OK) {                 \
            return slc_try_status;                      \
        }                                               \
    } while (0)

/* Go to `label` on failure, with the local `status` set. */
#define SLC_TRY_GOTO(label, expression) \
    do {                                \
        status = (expression);          \
        if (status != SLC_OK) {         \
            goto label;                 \
        }                               \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
