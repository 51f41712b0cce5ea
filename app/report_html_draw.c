/* The drawings of the page, as SVG: what each thread and stream did, and the ledger's memory, over the
 * same time.
 *
 *     lane      │ ▓▓▓ ▓▓ ▓▓▓▓▓    ▓▓▓   a rectangle a slice, or, where there are too many of them,
 *     lane      │ ▂▃▇▇▇▅▂▁▁▁▃▇    the share of each column's time in which the lane was busy
 *               └─┴────┴────┴──── time
 *
 * Coordinates are of the view box, 1100 wide; the page scales it. */
#include <math.h>
#include <string.h>

#include "app/report_html_parts.h"
#include "core/checked.h"
#include "core/units.h"

#define WIDTH 1100.0
#define LEFT 92.0  /* names of lanes */
#define RIGHT 12.0 /* half a label of the time axis */
#define AXIS 22.0
#define LANE_STEP 25.0
#define LANE_HEIGHT 19.0
#define COLUMN_WIDTH 2.0
#define N_COLUMNS 498 /* as many as fit between LEFT and RIGHT */

/* A lane with fewer slices is drawn slice by slice whatever the others hold. */
#define FEW_SLICES 200

/* Ticks of the time axis at most; as many labels still stand apart. */
#define MOST_TICKS 9

#define PANEL_STEP 108.0
#define PANEL_HEIGHT 84.0

/* A limit this many times the peak or more stands above the scale: the curve would be flat. */
#define FAR_LIMIT 3

/* ---- time ------------------------------------------------------------------------------------- */

typedef struct scale {
    int64_t begin_ns, end_ns;
} scale;

static scale find_scale(const slc_trace *trace) {
    scale time = {slc_trace_origin_ns(trace), slc_trace_origin_ns(trace) + 1};
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        time.end_ns = slc_max_i64(time.end_ns, slice->begin_ns + slice->duration_ns);
    }
    for (int64_t i = 0; i < slc_trace_memory_count(trace); i++) {
        time.end_ns = slc_max_i64(time.end_ns, slc_trace_memory_get(trace, i)->at_ns);
    }
    return time;
}

static double position(const scale *time, int64_t at_ns) {
    const double share = (double)(at_ns - time->begin_ns) / (double)(time->end_ns - time->begin_ns);
    return LEFT + fmin(fmax(share, 0), 1) * (WIDTH - LEFT - RIGHT);
}

/* Lines from `top` to `bottom` at round times, with their labels below. */
static void draw_axis(FILE *out, const scale *time, double top, double bottom) {
    const double span = 1e-9 * (double)(time->end_ns - time->begin_ns);
    double step = pow(10, floor(log10(span / MOST_TICKS)));
    static const double factor[] = {1, 2, 5, 10};
    int f = 0;
    while (f < 3 && span / (step * factor[f]) > MOST_TICKS) {
        f++;
    }
    step *= factor[f];
    for (int k = 0; (double)k * step <= span; k++) {
        const double x = LEFT + (double)k * step / span * (WIDTH - LEFT - RIGHT);
        char label[SLCI_HTML_NUMBER_BYTES];
        slci_html_seconds((double)k * step, label);
        slci_html_print(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, top, bottom);
        slci_html_print(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x,
                        bottom + 15, k == 0 ? "0" : label);
    }
}

static void open_drawing(FILE *out, double height, const char *id, const char *what) {
    slci_html_print(out,
                    "<svg id=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n",
                    id, WIDTH, height, what);
}

static void draw_lane_name(FILE *out, double y, const char *name, int number) {
    slci_html_print(out, "<text class=\"lane\" x=\"%.1f\" y=\"%.1f\">%s", LEFT - 8, y, name);
    if (number >= 0) {
        slci_html_print(out, " %d", number);
    }
    (void)fputs("</text>\n", out);
}

/* ---- the time line ---------------------------------------------------------------------------- */

/* Slices [begin, end) of the trace that share a lane. */
typedef struct lane {
    slc_trace_track track;
    int number;
    int64_t begin, end;
} lane;

/* The lane that begins at slice `begin`, which exists. */
static lane find_lane(const slc_trace *trace, int64_t begin) {
    const slc_trace_slice *first = slc_trace_get(trace, begin);
    lane found = {slc_trace_track_of(first->stage), first->lane, begin, begin};
    while (found.end < slc_trace_count(trace)) {
        const slc_trace_slice *slice = slc_trace_get(trace, found.end);
        if (slc_trace_track_of(slice->stage) != found.track || slice->lane != found.number) {
            break;
        }
        found.end++;
    }
    return found;
}

/* What is shown while the pointer rests on a slice, or read aloud. */
static void describe_slice(FILE *out, const slc_trace_slice *slice, const char *name) {
    char text[SLCI_HTML_NUMBER_BYTES];
    (void)fputs("<title>", out);
    slci_html_text(out, name);
    if (slice->tile >= 0) {
        slci_html_print(out, ", tile %lld", (long long)slice->tile);
    }
    slci_html_seconds(1e-9 * (double)slice->duration_ns, text);
    slci_html_print(out, ": %s", text);
    if (slice->bytes > 0) {
        char bytes[SLCI_TEXT_BYTES];
        slci_format_bytes(slice->bytes, bytes);
        slci_html_rate(1e9 * (double)slice->bytes / (double)slc_max_i64(slice->duration_ns, 1),
                       text);
        slci_html_print(out, ", %s, %s", bytes, text);
    }
    (void)fputs("</title>", out);
}

static void draw_slices(FILE *out, const slc_trace *trace, const scale *time, const lane *here,
                        double y) {
    for (int64_t i = here->begin; i < here->end; i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        const char *name = slice->name != NULL ? slice->name : slc_trace_stage_name(slice->stage);
        const double x = position(time, slice->begin_ns);
        const double width = fmax(position(time, slice->begin_ns + slice->duration_ns) - x, 0.5);
        slci_html_print(out,
                        "<rect class=\"s%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" "
                        "rx=\"%d\">",
                        (int)slice->stage, x, y, width, LANE_HEIGHT, width > 6 ? 2 : 0);
        describe_slice(out, slice, name);
        (void)fputs("</rect>\n", out);
        if (slice->stage == SLC_TRACE_PHASE && width > 7.0 * (double)strlen(name) + 6) {
            slci_html_print(out, "<text class=\"inside\" x=\"%.2f\" y=\"%.1f\">", x + width / 2,
                            y + 13.5);
            slci_html_text(out, name);
            (void)fputs("</text>\n", out);
        }
    }
}

/* Nanoseconds of each column that the lane spends in each stage. */
typedef struct columns {
    double busy_ns[SLC_TRACE_STAGES][N_COLUMNS];
} columns;

static void add_to_columns(columns *sum, const scale *time, const slc_trace_slice *slice) {
    const double column_ns = (double)(time->end_ns - time->begin_ns) / N_COLUMNS;
    const double begin = (double)(slice->begin_ns - time->begin_ns) / column_ns;
    const double end = (double)(slice->begin_ns + slice->duration_ns - time->begin_ns) / column_ns;
    for (int c = (int)fmax(begin, 0); c < N_COLUMNS && c < end; c++) {
        sum->busy_ns[slice->stage][c] += column_ns * (fmin(end, c + 1) - fmax(begin, c));
    }
}

/* One path for each stage of the lane, those of one column on top of each other. */
static void draw_shares(FILE *out, const slc_trace *trace, const scale *time, const lane *here,
                        double y) {
    columns sum;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = here->begin; i < here->end; i++) {
        add_to_columns(&sum, time, slc_trace_get(trace, i));
    }
    const double column_ns = (double)(time->end_ns - time->begin_ns) / N_COLUMNS;
    double floor_of[N_COLUMNS] = {0};
    for (int stage = 0; stage < SLC_TRACE_STAGES; stage++) {
        bool is_open = false;
        for (int c = 0; c < N_COLUMNS; c++) {
            const double share = fmin(sum.busy_ns[stage][c] / column_ns, 1 - floor_of[c]);
            if (share <= 0) {
                continue;
            }
            if (!is_open) {
                slci_html_print(out, "<path class=\"s%d\" d=\"", stage);
                is_open = true;
            }
            const double height = fmax(share * LANE_HEIGHT, 0.3);
            slci_html_print(out, "M%.0f %.1fh%.0fv%.1fh-%.0fz", LEFT + c * COLUMN_WIDTH,
                            y + LANE_HEIGHT * (1 - floor_of[c]), COLUMN_WIDTH, -height,
                            COLUMN_WIDTH);
            floor_of[c] += share;
        }
        if (is_open) {
            slci_html_print(out, "\"><title>%s, share of the time</title></path>\n",
                            slc_trace_stage_name((slc_trace_stage)stage));
        }
    }
}

static int count_lanes(const slc_trace *trace) {
    int n = 0;
    for (int64_t i = 0; i < slc_trace_count(trace); i = find_lane(trace, i).end) {
        n++;
    }
    return n;
}

static void draw_legend(FILE *out, const slc_trace *trace) {
    bool is_there[SLC_TRACE_STAGES] = {false};
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        is_there[slc_trace_get(trace, i)->stage] = true;
    }
    (void)fputs("<p class=\"legend\">", out);
    for (int stage = 0; stage < SLC_TRACE_STAGES; stage++) {
        if (is_there[stage] && stage != SLC_TRACE_PHASE) {
            slci_html_print(out, "<span><i class=\"s%d\"></i>%s</span>", stage,
                            slc_trace_stage_name((slc_trace_stage)stage));
        }
    }
    (void)fputs("</p>\n", out);
}

/* What the drawing does not show by itself. */
static void draw_notes(FILE *out, const slc_trace *trace, const scale *time, bool is_dense) {
    char number[SLCI_HTML_NUMBER_BYTES];
    if (is_dense) {
        slci_html_seconds(1e-9 * (double)(time->end_ns - time->begin_ns) / N_COLUMNS, number);
        slci_html_print(
            out,
            "<p class=\"note\">In lanes with many slices a column is %s of the run, and "
            "its height the share of that time in which the lane was busy",
            number);
        slci_html_group(slc_trace_count(trace), number);
        slci_html_print(out, " (%s slices are too many to draw).</p>\n", number);
    }
    if (slc_trace_dropped(trace) > 0) {
        slci_html_group(slc_trace_dropped(trace), number);
        slci_html_print(out,
                        "<p class=\"note\">%s slices at the end are missing: the memory "
                        "reserved for the trace was full.</p>\n",
                        number);
    }
}

void slci_html_draw_timeline(FILE *out, const slc_trace *trace) {
    const scale time = find_scale(trace);
    const bool is_dense = slc_trace_count(trace) > SLCI_HTML_MOST_SLICES;
    const double bottom = LANE_STEP * count_lanes(trace) + 4;
    draw_legend(out, trace);
    open_drawing(out, bottom + AXIS, "timeline", "Time line of threads and streams");
    draw_axis(out, &time, 0, bottom);
    double y = 4;
    for (int64_t i = 0; i < slc_trace_count(trace);) {
        const lane here = find_lane(trace, i);
        draw_lane_name(out, y + 13.5, slc_trace_track_name(here.track),
                       slc_trace_track_is_numbered(here.track) ? here.number : -1);
        if (is_dense && here.end - here.begin > FEW_SLICES) {
            draw_shares(out, trace, &time, &here, y);
        } else {
            draw_slices(out, trace, &time, &here, y);
        }
        y += LANE_STEP;
        i = here.end;
    }
    (void)fputs("</svg>\n", out);
    draw_notes(out, trace, &time, is_dense);
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* The last change of a space says its limit, which never changes. */
static slc_trace_memory most_of(const slc_trace *trace, slc_space space) {
    slc_trace_memory most = {.space = space};
    for (int64_t i = 0; i < slc_trace_memory_count(trace); i++) {
        const slc_trace_memory *change = slc_trace_memory_get(trace, i);
        if (change->space == space) {
            most.used_bytes = slc_max_i64(most.used_bytes, change->used_bytes);
            most.limit_bytes = change->limit_bytes;
        }
    }
    return most;
}

/* A step curve: what is used stays until the next change. */
static void draw_use(FILE *out, const slc_trace *trace, const scale *time, slc_space space,
                     double bottom, double per_byte) {
    double level = bottom;
    double x = LEFT;
    slci_html_print(out, "<path class=\"use m%d\" d=\"M%.1f %.1f", (int)space, x, bottom);
    for (int64_t i = 0; i < slc_trace_memory_count(trace); i++) {
        const slc_trace_memory *change = slc_trace_memory_get(trace, i);
        if (change->space == space) {
            x = position(time, change->at_ns);
            level = bottom - per_byte * (double)change->used_bytes;
            slci_html_print(out, "H%.1fV%.1f", x, level);
        }
    }
    slci_html_print(out, "H%.1fV%.1fz\"/>\n", WIDTH - RIGHT, bottom);
}

static void draw_panel(FILE *out, const slc_trace *trace, const scale *time, slc_space space,
                       double top) {
    const slc_trace_memory most = most_of(trace, space);
    const double bottom = top + PANEL_HEIGHT;
    const bool is_near = most.limit_bytes <= FAR_LIMIT * slc_max_i64(most.used_bytes, 1);
    const double highest = is_near ? (double)most.limit_bytes : 1.25 * (double)most.used_bytes;
    const double per_byte = highest > 0 ? (PANEL_HEIGHT - 16) / highest : 0;
    char text[SLCI_TEXT_BYTES];
    draw_lane_name(out, bottom - 2, space == SLC_SPACE_DEVICE ? "device" : "host", -1);
    draw_use(out, trace, time, space, bottom, per_byte);
    const double limit = is_near ? bottom - per_byte * (double)most.limit_bytes : top + 2;
    slci_format_bytes(most.limit_bytes, text);
    slci_html_print(out, "<path class=\"limit%s\" d=\"M%.1f %.1fH%.1f\"/>", is_near ? "" : " far",
                    LEFT, limit, WIDTH - RIGHT);
    slci_html_print(out, "<text class=\"mark end\" x=\"%.1f\" y=\"%.1f\">limit %s%s</text>\n",
                    WIDTH - RIGHT, is_near ? limit - 4 : limit + 13, text,
                    is_near ? "" : ", above this scale");
    const double peak = bottom - per_byte * (double)most.used_bytes;
    slci_format_bytes(most.used_bytes, text);
    slci_html_print(out, "<path class=\"peak\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, peak, WIDTH - RIGHT);
    slci_html_print(out, "<text class=\"lane\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT - 8,
                    fmin(peak + 4, bottom - 16), text);
}

void slci_html_draw_memory(FILE *out, const slc_trace *trace) {
    const scale time = find_scale(trace);
    const double bottom = SLC_SPACE_COUNT * PANEL_STEP - PANEL_STEP + 14 + PANEL_HEIGHT;
    open_drawing(out, bottom + AXIS, "memory", "Memory reserved over time");
    draw_axis(out, &time, 0, bottom);
    for (int space = 0; space < SLC_SPACE_COUNT; space++) {
        draw_panel(out, trace, &time, (slc_space)space, 14 + PANEL_STEP * space);
    }
    (void)fputs("</svg>\n", out);
    if (slc_trace_memory_dropped(trace) > 0) {
        slci_html_print(out,
                        "<p class=\"note\">%lld later changes are missing: the memory reserved "
                        "for the trace was full.</p>\n",
                        (long long)slc_trace_memory_dropped(trace));
    }
}
