/* One line a stage on a terminal: percent, rate and time left.
 * It owns the terminal's last line, so warnings and notes are printed through it and never end up in
 * the middle of one. When it is not enabled only the messages are printed. Thread-safe. Internal to
 * app.
 *
 *     slci_progress_init(&progress, stderr, isatty(STDERR_FILENO) == 1);
 *     slci_progress_update(&progress, "reading", "row", 1000, 5000);
 *     slci_progress_message(&progress, "warning: ", "...");
 *     slci_progress_finish(&progress);
 */
#ifndef SLC_APP_PROGRESS_H
#define SLC_APP_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_PROGRESS_BYTES 160

typedef struct slci_progress {
    pthread_mutex_t mutex;
    FILE *out; /* lent */
    bool is_enabled;
    bool is_open;      /* a line without its newline stands on the terminal */
    const char *stage; /* of that line; lent, static storage; NULL before the first */
    int64_t begin_ns;  /* when the stage began: at the last report of the one before it */
    int64_t report_ns; /* when anything was reported last */
    int64_t shown_ns;  /* when the line was drawn last */
    char line[SLCI_PROGRESS_BYTES];
} slci_progress;

void slci_progress_init(slci_progress *progress, FILE *out, bool is_enabled);
void slci_progress_destroy(slci_progress *progress);

/* `stage` (static storage) has done `done` of `total` things called `thing` ("row"; "" for none). It
 * is drawn ten times a second at most; another stage, or done == total, closes the line. */
void slci_progress_update(slci_progress *progress, const char *stage, const char *thing,
                          double done, double total);

/* Closes an open line, so that what is printed next begins on a fresh one. */
void slci_progress_finish(slci_progress *progress);

/* Prints one line of text, "sluice: " before it, above the open line. Control characters in it are
 * printed as '?', so that a file's name cannot break the line. */
void slci_progress_message(slci_progress *progress, const char *prefix, const char *text);

/* The line for the state given, without any control character; `seconds` since the stage began. */
void slci_progress_format(const char *stage, const char *thing, double done, double total,
                          double seconds, char line[SLCI_PROGRESS_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
