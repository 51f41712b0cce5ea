/* Where the library's warnings and notes go: a callback that the caller owns.
 * The library never prints. A NULL log swallows everything. The callback may be called from any
 * thread, one call at a time.
 *
 *     slc_log log;
 *     slc_log_init(&log, SLC_LOG_NOTE, print_to_stderr, NULL);
 */
#ifndef SLC_CORE_LOG_H
#define SLC_CORE_LOG_H

#include <pthread.h>

#include "core/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_log_level {
    SLC_LOG_WARNING, /* something the user did not ask for: a fallback, dropped samples */
    SLC_LOG_NOTE,    /* what was assumed or chosen: said once a run */
    SLC_LOG_DETAIL   /* --verbose */
} slc_log_level;

/* `text` is one line without a newline, valid during the call. */
typedef void (*slc_log_write)(void *context, slc_log_level level, const char *text);

typedef struct slc_log {
    pthread_mutex_t mutex;
    slc_log_level level; /* lines above this level are dropped */
    slc_log_write write;
    void *context;
} slc_log;

SLC_API void slc_log_init(slc_log *log, slc_log_level level, slc_log_write write, void *context);
SLC_API void slc_log_destroy(slc_log *log);

/* Formats one line and hands it to the callback; does nothing when `log` is NULL. */
SLC_API void slc_log_line(slc_log *log, slc_log_level level, const char *format, ...)
    SLC_PRINTF(3, 4);

#define slc_log_warning(log, ...) slc_log_line((log), SLC_LOG_WARNING, __VA_ARGS__)
#define slc_log_note(log, ...) slc_log_line((log), SLC_LOG_NOTE, __VA_ARGS__)
#define slc_log_detail(log, ...) slc_log_line((log), SLC_LOG_DETAIL, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
