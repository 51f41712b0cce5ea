/* The progress line. It is drawn over itself with a carriage return and cleared to its end, which is
 * all that any terminal understands; a stage's line stays when the stage is done. */
#include "app/progress.h"

#include <string.h>

#include "core/clock.h"
#include "core/units.h"

#define DRAW_EVERY_NS 100000000
#define MESSAGE_BYTES 2048
#define CLEAR_LINE "\r\033[K"

void slci_progress_init(slci_progress *progress, FILE *out, bool is_enabled) {
    *progress = (slci_progress){.out = out, .is_enabled = is_enabled, .report_ns = slc_clock_ns()};
    (void)pthread_mutex_init(&progress->mutex, NULL);
}

void slci_progress_destroy(slci_progress *progress) {
    (void)pthread_mutex_destroy(&progress->mutex);
}

/* 1.23e9 things a second as ", 1.23 Gpairs/s". */
static void format_rate(double per_second, const char *thing, char text[SLCI_TEXT_BYTES]) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    while (per_second >= 999.5 && prefix < 5) {
        per_second /= 1000.0;
        prefix++;
    }
    char number[SLCI_TEXT_BYTES];
    slci_format_number(per_second, 3, number);
    (void)snprintf(text, SLCI_TEXT_BYTES, ", %.12s %s%.16s/s", number, prefixes[prefix], thing);
}

void slci_progress_format(const char *stage, const char *thing, double done, double total,
                          double seconds, char line[SLCI_PROGRESS_BYTES]) {
    const double share = total > 0.0 && done < total ? done / total : 1.0;
    char rate[SLCI_TEXT_BYTES] = "";
    char time[SLCI_TEXT_BYTES];
    if (*thing != '\0' && seconds > 0.0 && done > 0.0) {
        format_rate(done / seconds, thing, rate);
    }
    if (share >= 1.0) {
        slci_format_seconds(seconds, time);
        (void)snprintf(line, SLCI_PROGRESS_BYTES, "%-10.24s 100%%%s, took %s", stage, rate, time);
        return;
    }
    if (share > 0.0) {
        slci_format_seconds(seconds * (1.0 - share) / share, time);
    } else {
        slci_format_seconds(1e300, time);
    }
    (void)snprintf(line, SLCI_PROGRESS_BYTES, "%-10.24s %3d%%%s, %s left", stage,
                   (int)(share * 100.0), rate, time);
}

/* Ends the open line; the mutex is held. */
static void close_line(slci_progress *progress) {
    if (progress->is_open) {
        (void)fputc('\n', progress->out);
        (void)fflush(progress->out);
        progress->is_open = false;
    }
}

void slci_progress_update(slci_progress *progress, const char *stage, const char *thing,
                          double done, double total) {
    if (!progress->is_enabled) {
        return;
    }
    (void)pthread_mutex_lock(&progress->mutex);
    const int64_t now = slc_clock_ns();
    const bool is_done = done >= total;
    const bool is_other = progress->stage == NULL || strcmp(progress->stage, stage) != 0;
    const bool is_new =
        is_other || (!is_done && !progress->is_open); /* begun again: a next plane */
    if (is_new) {
        close_line(progress);
        progress->stage = stage;
        progress->begin_ns = progress->report_ns;
    }
    progress->report_ns = now;
    /* A stage that has closed its line and is reported as done again has nothing to add. */
    const bool is_repeated = !is_new && is_done && !progress->is_open;
    if (!is_repeated && (is_new || is_done || now - progress->shown_ns >= DRAW_EVERY_NS)) {
        slci_progress_format(stage, thing, done, total, (double)(now - progress->begin_ns) * 1e-9,
                             progress->line);
        (void)fprintf(progress->out, CLEAR_LINE "%s", progress->line);
        (void)fflush(progress->out);
        progress->shown_ns = now;
        progress->is_open = true;
        if (is_done) {
            close_line(progress);
        }
    }
    (void)pthread_mutex_unlock(&progress->mutex);
}

void slci_progress_finish(slci_progress *progress) {
    (void)pthread_mutex_lock(&progress->mutex);
    close_line(progress);
    (void)pthread_mutex_unlock(&progress->mutex);
}

void slci_progress_message(slci_progress *progress, const char *prefix, const char *text) {
    /* One write for the whole line: stderr has no buffer, and other programs may share it. */
    char clean[MESSAGE_BYTES];
    size_t n = 0;
    for (const char *at = text; *at != '\0' && n + 1 < sizeof clean; at++) {
        const unsigned char c = (unsigned char)*at;
        clean[n++] = c < 0x20 || c == 0x7f ? '?' : *at;
    }
    clean[n] = '\0';
    (void)pthread_mutex_lock(&progress->mutex);
    (void)fprintf(progress->out, "%ssluice: %s%s\n%s", progress->is_open ? CLEAR_LINE : "", prefix,
                  clean, progress->is_open ? progress->line : "");
    (void)fflush(progress->out);
    (void)pthread_mutex_unlock(&progress->mutex);
}
