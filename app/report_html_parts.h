/* What the files that make the page share. app/report_html.c writes the page, report_html_draw.c its
 * drawings, report_html_style.c how it looks, report_html_text.c text and numbers.
 */
#ifndef SLC_APP_REPORT_HTML_PARTS_H
#define SLC_APP_REPORT_HTML_PARTS_H

#include "app/report_html.h"

/* Text that may hold anything, escaped for elements and for attributes in double quotes. */
void slci_html_text(FILE *out, const char *text);

/* Printing as in the C locale, unescaped: for markup and numbers. At most SLCI_HTML_LINE_BYTES. */
#define SLCI_HTML_LINE_BYTES 1024
void slci_html_print(FILE *out, const char *format, ...) SLC_PRINTF(2, 3);

/* bytes [n] in base64. */
void slci_html_base64(FILE *out, const uint8_t *bytes, int64_t n);

/* 12345678 as "12,345,678", with no-break spaces in place of the commas. */
#define SLCI_HTML_NUMBER_BYTES 64
void slci_html_group(int64_t value, char text[SLCI_HTML_NUMBER_BYTES]);

/* "1.2 ms", "3.4 s": three digits at least down to the nanosecond. */
void slci_html_seconds(double seconds, char text[SLCI_HTML_NUMBER_BYTES]);

/* "55 GB/s". */
void slci_html_rate(double bytes_per_second, char text[SLCI_HTML_NUMBER_BYTES]);

/* The rules of the page's look, static storage. */
extern const char slci_html_style[];

/* The time line and the ledger over time; both have the same scale of time. */
void slci_html_draw_timeline(FILE *out, const slc_trace *trace);
void slci_html_draw_memory(FILE *out, const slc_trace *trace);

/* Slices of the trace by which the time line is drawn one by one; more are drawn as shares of time. */
#define SLCI_HTML_MOST_SLICES 3000

#endif
