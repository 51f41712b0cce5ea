/* The page from top to bottom: title and verdict, numbers at a glance, picture and facts, time line,
 * memory, plan against what happened, stages, numerics. */
#include "app/report_html.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "app/report_html_parts.h"
#include "core/print.h"
#include "core/units.h"
#include "core/version.h"

/* Inputs named in the title; the rest is counted. */
#define MOST_TITLE_INPUTS 3

/* Ratios of planned and measured time beyond this, either way, are marked. */
#define FAR_RATIO 2.0

void slci_page_add(slci_page *page, const char *name, const char *format, ...) {
    assert(page->n_rows < SLCI_PAGE_ROWS);
    slci_page_row *row = &page->row[page->n_rows++];
    (void)slci_print(row->name, sizeof row->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(row->value, sizeof row->value, format, arguments);
    va_end(arguments);
}

/* Whether tiles ran: after --dry-run there is a plan and nothing to hold against it. */
static bool has_run(const slci_page *page) {
    return page->plan != NULL && page->report != NULL && page->report->n_tiles > 0;
}

/* ---- stages ----------------------------------------------------------------------------------- */

/* One stage of the engine, as planned and as measured. */
typedef struct stage {
    slc_bottleneck bottleneck;
    slc_trace_stage colour;
    const char *name;
    int64_t planned_bytes, bytes; /* 0: a stage that moves none */
    double planned_seconds, seconds;
} stage;

static void list_stages(const slci_page *page, stage out[SLC_BOUND_COUNT]) {
    const slc_plan *p = page->plan;
    const slc_engine_report *r = page->report;
    const stage stages[SLC_BOUND_COUNT] = {
        {SLC_BOUND_READ, SLC_TRACE_READ, "reading", p->bytes_read + p->bytes_tier,
         r->bytes_read + r->bytes_tier, p->seconds_read, r->seconds_read},
        {SLC_BOUND_H2D, SLC_TRACE_H2D, "copy in", p->bytes_h2d, r->bytes_h2d, p->seconds_h2d,
         r->seconds_h2d},
        {SLC_BOUND_KERNEL, SLC_TRACE_KERNEL, "kernels", 0, 0, p->seconds_kernel, r->seconds_kernel},
        {SLC_BOUND_D2H, SLC_TRACE_D2H, "copy out", p->bytes_d2h, r->bytes_d2h, p->seconds_d2h,
         r->seconds_d2h},
        {SLC_BOUND_WRITE, SLC_TRACE_WRITE, "writing", p->bytes_written, r->bytes_written,
         p->seconds_write, r->seconds_write},
    };
    (void)memcpy(out, stages, sizeof stages);
}

static stage longest_stage(const slci_page *page) {
    stage stages[SLC_BOUND_COUNT];
    list_stages(page, stages);
    const slc_bottleneck bottleneck = slc_engine_bottleneck(page->report);
    int i = 0;
    while (stages[i].bottleneck != bottleneck) {
        i++;
    }
    return stages[i];
}

/* What the stage reached of the rate that the plan takes for its limit; NAN where one is not known. A
 * kernel's work is what was planned, so there the times say it. */
static double share_of_limit(const stage *s) {
    if (s->planned_seconds <= 0 || s->seconds <= 0) {
        return NAN;
    }
    const double work = s->planned_bytes > 0 ? (double)s->bytes / (double)s->planned_bytes : 1.0;
    return work * s->planned_seconds / s->seconds;
}

static void percent(double share, char text[SLCI_HTML_NUMBER_BYTES]) {
    if (isfinite(share)) {
        (void)slci_print(text, SLCI_HTML_NUMBER_BYTES, "%.3g %%", 100 * share);
    } else {
        (void)slci_print(text, SLCI_HTML_NUMBER_BYTES, "unknown");
    }
}

/* ---- title and verdict -------------------------------------------------------------------------- */

/* A path without its folders; what follows ":/" is the name of a dataset and stays. */
static const char *short_name(const char *path) {
    const char *const dataset = strstr(path, ":/");
    const char *name = path;
    for (const char *c = path; *c != '\0' && c != dataset; c++) {
        name = *c == '/' ? c + 1 : name;
    }
    return name;
}

static void write_names(FILE *out, const slci_page *page) {
    for (int i = 0; i < page->n_inputs && i < MOST_TITLE_INPUTS; i++) {
        (void)fputs(i > 0 ? ", " : "", out);
        slci_html_text(out, short_name(page->inputs[i]));
    }
    if (page->n_inputs > MOST_TITLE_INPUTS) {
        slci_html_print(out, " and %d more", page->n_inputs - MOST_TITLE_INPUTS);
    }
}

static void write_head(FILE *out, const slci_page *page) {
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"
                "img-src data:;style-src 'unsafe-inline'\">\n<title>",
                out);
    slci_html_text(out, page->command);
    (void)fputs(": ", out);
    write_names(out, page);
    (void)fputs("</title>\n<style>\n", out);
    (void)fputs(slci_html_style, out);
    (void)fputs("</style>\n</head>\n<body>\n<main>\n<header>\n<h1><small>", out);
    slci_html_text(out, page->command);
    (void)fputs("</small>", out);
    write_names(out, page);
    (void)fputs("</h1>\n", out);
}

/* The sentence that most readers want: what held the run back, and by how much it could be better. */
static void write_verdict(FILE *out, const slci_page *page) {
    const stage longest = longest_stage(page);
    const double wall = page->report->seconds_total;
    char busy[SLCI_HTML_NUMBER_BYTES];
    char took[SLCI_HTML_NUMBER_BYTES];
    percent(wall > 0 ? longest.seconds / wall : NAN, busy);
    slci_html_seconds(wall, took);
    slci_html_print(
        out,
        "<p class=\"verdict\">Limited by <strong>%s</strong>, busy %s of the %s in which "
        "tiles ran",
        longest.name, busy, took);
    const double share = share_of_limit(&longest);
    if (isfinite(share)) {
        percent(share, busy);
        slci_html_print(out, ", at %s of the rate that the plan takes for its limit", busy);
    }
    (void)fputs(".", out);
    if (page->device_name != NULL) {
        (void)fputs(" Ran on ", out);
        slci_html_text(out, page->device_name);
        (void)fputs(".", out);
    }
    (void)fputs("</p>\n", out);
}

/* The same where nothing ran. */
static void write_expectation(FILE *out, const slci_page *page) {
    char seconds[SLCI_HTML_NUMBER_BYTES];
    slci_html_seconds(page->plan->seconds_total, seconds);
    slci_html_print(out,
                    "<p class=\"verdict\">Planned, not run: expected to take %s, limited by "
                    "<strong>%s</strong>.</p>\n",
                    seconds, slc_bottleneck_name(page->plan->bottleneck));
}

/* ---- at a glance -------------------------------------------------------------------------------- */

static void tile(FILE *out, const char *name, const char *value, const char *more) {
    slci_html_print(out, "<div><span>%s</span><b>%s</b><span>%s</span></div>\n", name, value, more);
}

static void memory_tile(FILE *out, const char *name, const slci_page_memory *memory) {
    char peak[SLCI_TEXT_BYTES];
    char limit[SLCI_TEXT_BYTES];
    char more[SLCI_HTML_NUMBER_BYTES + SLCI_TEXT_BYTES];
    if (memory->limit_bytes > 0) {
        slci_format_bytes(memory->peak_bytes, peak);
        slci_format_bytes(memory->limit_bytes, limit);
        (void)slci_print(more, sizeof more, "of %s allowed", limit);
        tile(out, name, peak, more);
    }
}

static void write_engine_tiles(FILE *out, const slci_page *page) {
    const stage longest = longest_stage(page);
    const slc_engine_report *r = page->report;
    char value[SLCI_HTML_NUMBER_BYTES];
    char more[2 * SLCI_HTML_NUMBER_BYTES];
    percent(r->seconds_total > 0 ? longest.seconds / r->seconds_total : NAN, value);
    (void)slci_print(more, sizeof more, "busy %s of the tiles' time", value);
    tile(out, "Limited by", slc_bottleneck_name(longest.bottleneck), more);
    percent(share_of_limit(&longest), value);
    tile(out, "Share of its limit", value, "of the rate that the plan expects");
    const double overlap = slc_engine_overlap(r);
    percent(overlap, value);
    tile(out, "Overlap", overlap > 0 ? value : "none",
         overlap > 0 ? "of the shorter stages hidden" : "the run is too short to show it");
}

static void write_tiles(FILE *out, const slci_page *page) {
    char value[SLCI_HTML_NUMBER_BYTES];
    char more[SLCI_HTML_NUMBER_BYTES + 32] = "";
    (void)fputs("<div class=\"tiles\">\n", out);
    if (page->total_seconds > 0) {
        if (has_run(page)) {
            slci_html_seconds(page->report->seconds_total, value);
            (void)slci_print(more, sizeof more, "%s of it in tiles", value);
        }
        slci_html_seconds(page->total_seconds, value);
        tile(out, "Took", value, more);
    }
    if (has_run(page)) {
        write_engine_tiles(out, page);
    }
    memory_tile(out, "Device memory", &page->device);
    memory_tile(out, "Host memory", &page->host);
    (void)fputs("</div>\n", out);
}

/* ---- picture and facts -------------------------------------------------------------------------- */

static void write_picture(FILE *out, const slci_page_picture *picture) {
    if (picture->png == NULL && picture->caption[0] == '\0') {
        return;
    }
    (void)fputs("<section><h2>Picture</h2>\n<figure>", out);
    if (picture->png != NULL) {
        (void)fputs("<img alt=\"The picture that this run made\" src=\"data:image/png;base64,",
                    out);
        slci_html_base64(out, picture->png, picture->n_bytes);
        (void)fputs("\">", out);
    }
    (void)fputs("<figcaption>", out);
    slci_html_text(out, picture->caption);
    (void)fputs("</figcaption></figure></section>\n", out);
}

static void write_facts(FILE *out, const slci_page *page) {
    (void)fputs("<section><h2>Run</h2>\n<table><tbody>\n", out);
    for (int i = 0; i < page->n_inputs; i++) {
        slci_html_print(out, "<tr><th>%s</th><td>", i == 0 ? "input" : "");
        slci_html_text(out, page->inputs[i]);
        (void)fputs("</td></tr>\n", out);
    }
    for (int i = 0; i < page->n_rows; i++) {
        (void)fputs("<tr><th>", out);
        slci_html_text(out, page->row[i].name);
        (void)fputs("</th><td>", out);
        slci_html_text(out, page->row[i].value);
        (void)fputs("</td></tr>\n", out);
    }
    (void)fputs("</tbody></table></section>\n", out);
}

static void write_numerics(FILE *out, const slc_numerics *numerics) {
    (void)fputs("<section id=\"numerics\"><h2>Numerics record</h2>\n"
                "<table><tbody>\n",
                out);
    for (int i = 0; i < numerics->n_entries; i++) {
        (void)fputs("<tr><th>", out);
        slci_html_text(out, numerics->name[i]);
        (void)fputs("</th><td>", out);
        slci_html_text(out, numerics->value[i]);
        (void)fputs("</td></tr>\n", out);
    }
    (void)
        fputs("</tbody></table>\n<p class=\"note\">Two runs with this record and these inputs give "
              "the same bits, whatever their budgets and threads.</p></section>\n",
              out);
}

/* ---- plan against what happened ----------------------------------------------------------------- */

/* What the measured number is of the planned one; equal counts are said to be. */
static void write_ratio(FILE *out, double planned, double measured, bool is_count) {
    char text[SLCI_HTML_NUMBER_BYTES];
    const double value = planned > 0 ? measured / planned : NAN;
    if (is_count && planned == measured) {
        (void)fputs("<td class=\"n same\">as planned</td>", out);
    } else if (!isfinite(value)) {
        (void)fputs("<td class=\"n\">not planned</td>", out);
    } else {
        (void)slci_print(text, sizeof text, "%.3g", value);
        slci_html_print(out, "<td class=\"n%s\">× %s</td>",
                        value > FAR_RATIO || value < 1 / FAR_RATIO ? " off" : "", text);
    }
}

/* `measured` is NULL where nothing ran. */
static void compare_counts(FILE *out, const char *name, int64_t planned, const int64_t *measured) {
    char text[SLCI_HTML_NUMBER_BYTES];
    if (planned == 0 && (measured == NULL || *measured == 0)) {
        return;
    }
    slci_html_group(planned, text);
    slci_html_print(out, "<tr><th>%s</th><td class=\"n\">%s</td>", name, text);
    if (measured != NULL) {
        slci_html_group(*measured, text);
        slci_html_print(out, "<td class=\"n\">%s</td>", text);
        write_ratio(out, (double)planned, (double)*measured, true);
    }
    (void)fputs("</tr>\n", out);
}

/* Extents of a tile and the loops, in words. */
static void write_loops(FILE *out, const slci_page *page) {
    const slc_plan *p = page->plan;
    (void)fputs("<p class=\"note\">Loops, outermost first: ", out);
    for (int d = 0; d < p->n_axes; d++) {
        const int a = p->order[d];
        char count[SLCI_HTML_NUMBER_BYTES];
        char extent[SLCI_HTML_NUMBER_BYTES];
        slci_html_group(p->n_tiles_of[a], count);
        slci_html_group(p->tile[a], extent);
        (void)fputs(d > 0 ? "; " : "", out);
        if (page->axis_names != NULL) {
            slci_html_text(out, page->axis_names[a]);
        } else {
            slci_html_print(out, "axis %d", a);
        }
        slci_html_print(out, ", %s of %s", count, extent);
    }
    slci_html_print(out, ". %lld pass%s over the input, %d slots.</p>\n", (long long)p->n_passes,
                    p->n_passes == 1 ? "" : "es", p->n_slots);
}

static void write_counts(FILE *out, const slci_page *page) {
    const slc_plan *p = page->plan;
    const slc_engine_report *r = has_run(page) ? page->report : NULL;
    slci_html_print(out,
                    "<section id=\"plan\"><h2>%s</h2>\n<div class=\"scroll\"><table><thead><tr>"
                    "<th></th><th class=\"n\">planned</th>%s</tr></thead><tbody>\n",
                    r != NULL ? "Plan against what happened" : "Plan",
                    r != NULL ? "<th class=\"n\">measured</th><th class=\"n\">ratio</th>" : "");
    compare_counts(out, "tiles", p->n_tiles, r != NULL ? &r->n_tiles : NULL);
    compare_counts(out, "bytes read", p->bytes_read, r != NULL ? &r->bytes_read : NULL);
    compare_counts(out, "bytes from the host tier", p->bytes_tier,
                   r != NULL ? &r->bytes_tier : NULL);
    compare_counts(out, "bytes to the device", p->bytes_h2d, r != NULL ? &r->bytes_h2d : NULL);
    compare_counts(out, "bytes from the device", p->bytes_d2h, r != NULL ? &r->bytes_d2h : NULL);
    compare_counts(out, "bytes written", p->bytes_written, r != NULL ? &r->bytes_written : NULL);
    compare_counts(out, "device memory, bytes", p->device_peak_bytes,
                   r != NULL ? &r->device_peak_bytes : NULL);
    compare_counts(out, "host memory, bytes", p->host_peak_bytes,
                   r != NULL ? &r->host_peak_bytes : NULL);
    (void)fputs("</tbody></table></div>\n", out);
    write_loops(out, page);
    (void)fputs("</section>\n", out);
}

/* Planned and measured seconds and their ratio: three cells. */
static void write_times(FILE *out, double planned, double measured) {
    char a[SLCI_HTML_NUMBER_BYTES];
    char b[SLCI_HTML_NUMBER_BYTES];
    slci_html_seconds(planned, a);
    slci_html_seconds(measured, b);
    slci_html_print(out, "<td class=\"n\">%s</td><td class=\"n\">%s</td>", planned > 0 ? a : "–",
                    b);
    write_ratio(out, planned, measured, false);
}

static void write_stage_row(FILE *out, const stage *s, double wall, bool is_most) {
    char busy[SLCI_HTML_NUMBER_BYTES];
    char rate[SLCI_HTML_NUMBER_BYTES] = "–";
    char limit[SLCI_HTML_NUMBER_BYTES] = "–";
    char share[SLCI_HTML_NUMBER_BYTES];
    const double busy_share = wall > 0 ? s->seconds / wall : 0;
    percent(busy_share, busy);
    percent(share_of_limit(s), share);
    if (s->bytes > 0 && s->seconds > 0) {
        slci_html_rate((double)s->bytes / s->seconds, rate);
    }
    if (s->planned_bytes > 0 && s->planned_seconds > 0) {
        slci_html_rate((double)s->planned_bytes / s->planned_seconds, limit);
    }
    slci_html_print(out,
                    "<tr%s><th>%s</th><td><span class=\"bar\"><i class=\"s%d\" "
                    "style=\"width:%.1f%%\"></i></span></td><td class=\"n\">%s</td>",
                    is_most ? " class=\"most\"" : "", s->name, (int)s->colour,
                    100 * fmin(busy_share, 1), busy);
    write_times(out, s->planned_seconds, s->seconds);
    slci_html_print(out,
                    "<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
                    rate, limit, share);
}

static void write_stages(FILE *out, const slci_page *page) {
    stage stages[SLC_BOUND_COUNT];
    list_stages(page, stages);
    (void)fputs("<section id=\"stages\"><h2>Stages and their limits</h2>\n<div class=\"scroll\">"
                "<table><thead><tr><th></th><th colspan=\"2\" class=\"n\">busy</th><th "
                "class=\"n\">planned</th><th class=\"n\">measured</th><th "
                "class=\"n\">ratio</th><th class=\"n\">rate</th><th class=\"n\">limit in the "
                "plan</th><th class=\"n\">share of it</th></tr></thead><tbody>\n",
                out);
    for (int i = 0; i < SLC_BOUND_COUNT; i++) {
        if (stages[i].seconds > 0 || stages[i].planned_seconds > 0) {
            write_stage_row(out, &stages[i], page->report->seconds_total,
                            stages[i].bottleneck == slc_engine_bottleneck(page->report));
        }
    }
    (void)fputs("<tr><th>all, overlapping</th><td></td><td></td>", out);
    write_times(out, page->plan->seconds_total, page->report->seconds_total);
    (void)fputs("<td></td><td></td><td></td></tr>\n</tbody></table></div>\n</section>\n", out);
}

/* ---- the page ----------------------------------------------------------------------------------- */

/* Nothing where nothing was copied. */
static void write_feed(FILE *out, const slc_trace_feed *feed) {
    char copying[SLCI_HTML_NUMBER_BYTES];
    char total[SLCI_HTML_NUMBER_BYTES];
    char late[SLCI_HTML_NUMBER_BYTES];
    if (feed->copying_ns == 0) {
        return;
    }
    slci_html_seconds(1e-9 * (double)feed->copying_ns, copying);
    slci_html_seconds(1e-9 * (double)feed->total_ns, total);
    slci_html_seconds(1e-9 * (double)(feed->ready_ns + feed->unread_ns), late);
    slci_html_print(out,
                    "<p class=\"note\">Copies to the device ran for %s of the %s in which inputs "
                    "were on their way; for %s they could have and did not, or nobody read.</p>\n",
                    copying, total, late);
}

static void write_drawings(FILE *out, const slci_page *page) {
    const slc_trace *trace = page->trace;
    (void)fputs("<section><h2>Time line</h2>\n<div class=\"scroll\">\n", out);
    slci_html_draw_timeline(out, trace);
    write_feed(out, &page->feed);
    (void)fputs("</div></section>\n<section><h2>Memory reserved</h2>\n<div class=\"scroll\">\n",
                out);
    slci_html_draw_memory(out, trace);
    (void)fputs("</div></section>\n", out);
}

void slci_page_write(FILE *out, const slci_page *page) {
    write_head(out, page);
    if (has_run(page)) {
        write_verdict(out, page);
    } else if (page->plan != NULL) {
        write_expectation(out, page);
    }
    (void)fputs("</header>\n", out);
    write_tiles(out, page);
    (void)fputs("<div class=\"pair\">\n", out);
    write_picture(out, &page->picture);
    write_facts(out, page);
    (void)fputs("</div>\n", out);
    if (page->trace != NULL) {
        write_drawings(out, page);
    }
    if (has_run(page)) {
        write_stages(out, page);
    }
    (void)fputs("<div class=\"pair\">\n", out);
    if (page->plan != NULL) {
        write_counts(out, page);
    }
    if (page->numerics != NULL) {
        write_numerics(out, page->numerics);
    }
    (void)fputs("</div>\n<footer>Written by Sluice " SLC_VERSION
                ".</footer>\n</main>\n</body>\n</html>\n",
                out);
}
