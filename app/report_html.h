/* One self-contained page about a run: what was planned and what happened, time line, memory, picture.
 * A job fills in what it has; the rest is left out, or the page says why it is missing. The page holds
 * no script, no link to anything outside and no date, and every text in it is escaped.
 *
 *     slci_page page = {.command = "sluice image", .inputs = names, .n_inputs = 1,
 *                       .plan = &plan, .report = &report, .trace = trace};
 *     slci_page_add(&page, "peak", "%.6g Jy/beam", peak);
 *     slci_page_write(file, &page);
 */
#ifndef SLC_APP_REPORT_HTML_H
#define SLC_APP_REPORT_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/numerics.h"
#include "ooc/engine.h"
#include "ooc/trace_feed.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_PAGE_ROWS 32
#define SLCI_PAGE_NAME_BYTES 40
#define SLCI_PAGE_VALUE_BYTES 320

typedef struct slci_page_row {
    char name[SLCI_PAGE_NAME_BYTES];
    char value[SLCI_PAGE_VALUE_BYTES];
} slci_page_row;

/* A picture that the run made. */
typedef struct slci_page_picture {
    const uint8_t *png; /* [n_bytes]; NULL: there is none */
    int64_t n_bytes;
    char caption[SLCI_PAGE_VALUE_BYTES]; /* below the picture; where there is none: why */
} slci_page_picture;

/* What the run took of a memory and was allowed to take. */
typedef struct slci_page_memory {
    int64_t peak_bytes, limit_bytes;
} slci_page_memory;

/* Everything is lent. */
typedef struct slci_page {
    const char *command;       /* "sluice image" */
    const char *const *inputs; /* [n_inputs] */
    int n_inputs;
    const char *device_name; /* NULL: not said */
    double total_seconds;    /* of the whole run; 0: not said */
    slci_page_memory device, host;
    int n_rows;
    slci_page_row row[SLCI_PAGE_ROWS];
    slci_page_picture picture;
    const slc_plan *plan; /* these two together, or NULL */
    const slc_engine_report *report;
    const char *const *axis_names; /* [plan->n_axes] or NULL */
    const slc_numerics *numerics;  /* NULL: no record */
    const slc_trace *trace;        /* settled; NULL: none */
    slc_trace_feed feed;           /* of the trace */
} slci_page;

/* Adds a fact; the text is formatted as in the C locale and cut where it is full. More facts than there
 * is room for is a bug in the caller. */
void slci_page_add(slci_page *page, const char *name, const char *format, ...) SLC_PRINTF(3, 4);

/* Writes the page; the caller asks the stream whether it got there. */
void slci_page_write(FILE *out, const slci_page *page);

#ifdef __cplusplus
}
#endif
#endif
