#include "core/log.h"

#include <stdarg.h>
#include <string.h>

#include "core/print.h"

/* Long enough for a message of status.h with a sentence before it; longer lines are cut. */
#define LINE_BYTES 2048

void slc_log_init(slc_log *log, slc_log_level level, slc_log_write write, void *context) {
    (void)pthread_mutex_init(&log->mutex, NULL);
    log->level = level;
    log->write = write;
    log->context = context;
}

void slc_log_destroy(slc_log *log) {
    (void)pthread_mutex_destroy(&log->mutex);
}

void slc_log_line(slc_log *log, slc_log_level level, const char *format, ...) {
    if (log == NULL || log->write == NULL || level > log->level) {
        return;
    }
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Names from files may hold newlines; the callback was promised one line. */
    for (char *newline = strchr(text, '\n'); newline != NULL; newline = strchr(newline, '\n')) {
        *newline = ' ';
    }
    (void)pthread_mutex_lock(&log->mutex);
    log->write(log->context, level, text);
    (void)pthread_mutex_unlock(&log->mutex);
}
