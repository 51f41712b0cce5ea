/* The format is "Trace Event Format" of the Chromium project: times in microseconds, "M" events name
 * threads, "X" events have a duration, "C" events are counters. */
#include "app/trace_file.h"

#include "app/json.h"
#include "core/version.h"

/* One process; its threads are numbered in the order in which they are to stand. */
#define PROCESS 1
#define THREADS_A_TRACK 10000

static int64_t thread_of(const slc_trace_slice *slice) {
    return (int64_t)THREADS_A_TRACK * (slc_trace_track_of(slice->stage) + 1) + slice->lane;
}

static void open_event(slci_json *json, const char *name, const char *phase) {
    slci_json_open(json, NULL, '{');
    slci_json_text(json, "name", name);
    slci_json_text(json, "ph", phase);
    slci_json_i64(json, "pid", PROCESS);
}

static void name_process(slci_json *json, const slci_trace_about *about) {
    open_event(json, "process_name", "M");
    slci_json_open(json, "args", '{');
    slci_json_text(json, "name", about->command);
    slci_json_close(json, '}');
    slci_json_close(json, '}');
}

static void name_thread(slci_json *json, const slc_trace_slice *slice) {
    const slc_trace_track track = slc_trace_track_of(slice->stage);
    char name[64];
    const int64_t thread = thread_of(slice);
    (void)snprintf(name, sizeof name, slc_trace_track_is_numbered(track) ? "%s %d" : "%s",
                   slc_trace_track_name(track), slice->lane);
    open_event(json, "thread_name", "M");
    slci_json_i64(json, "tid", thread);
    slci_json_open(json, "args", '{');
    slci_json_text(json, "name", name);
    slci_json_close(json, '}');
    slci_json_close(json, '}');
    open_event(json, "thread_sort_index", "M");
    slci_json_i64(json, "tid", thread);
    slci_json_open(json, "args", '{');
    slci_json_i64(json, "sort_index", thread);
    slci_json_close(json, '}');
    slci_json_close(json, '}');
}

static void write_slice(slci_json *json, const slc_trace_slice *slice, int64_t origin_ns) {
    const char *stage = slc_trace_stage_name(slice->stage);
    open_event(json, slice->name != NULL ? slice->name : stage, "X");
    slci_json_i64(json, "tid", thread_of(slice));
    slci_json_text(json, "cat", stage);
    slci_json_thousandths(json, "ts", slice->begin_ns - origin_ns);
    slci_json_thousandths(json, "dur", slice->duration_ns);
    slci_json_open(json, "args", '{');
    if (slice->tile >= 0) {
        slci_json_i64(json, "tile", slice->tile);
    }
    if (slice->bytes > 0) {
        slci_json_i64(json, "bytes", slice->bytes);
    }
    slci_json_close(json, '}');
    slci_json_close(json, '}');
}

static void write_change(slci_json *json, const slc_trace_memory *change, int64_t origin_ns) {
    const bool is_device = change->space == SLC_SPACE_DEVICE;
    open_event(json, is_device ? "device memory" : "host memory", "C");
    slci_json_i64(json, "tid", 0);
    slci_json_thousandths(json, "ts", change->at_ns - origin_ns);
    slci_json_open(json, "args", '{');
    slci_json_i64(json, "bytes", change->used_bytes);
    slci_json_close(json, '}');
    slci_json_close(json, '}');
}

static void write_events(slci_json *json, const slc_trace *trace, const slci_trace_about *about) {
    const int64_t origin_ns = slc_trace_origin_ns(trace);
    slci_json_open(json, "traceEvents", '[');
    name_process(json, about);
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        if (i == 0 || thread_of(slc_trace_get(trace, i - 1)) != thread_of(slice)) {
            name_thread(json, slice);
        }
        write_slice(json, slice, origin_ns);
    }
    for (int64_t i = 0; i < slc_trace_memory_count(trace); i++) {
        write_change(json, slc_trace_memory_get(trace, i), origin_ns);
    }
    slci_json_close(json, ']');
}

/* The last limit of each space; none where the ledger never changed. */
static void write_limits(slci_json *json, const slc_trace *trace) {
    int64_t limit_bytes[SLC_SPACE_COUNT] = {0};
    for (int64_t i = 0; i < slc_trace_memory_count(trace); i++) {
        const slc_trace_memory *change = slc_trace_memory_get(trace, i);
        limit_bytes[change->space] = change->limit_bytes;
    }
    slci_json_i64(json, "device_limit_bytes", limit_bytes[SLC_SPACE_DEVICE]);
    slci_json_i64(json, "host_limit_bytes", limit_bytes[SLC_SPACE_HOST]);
}

/* What the time of inputs went to. */
static void write_feed(slci_json *json, const slc_trace_feed *feed) {
    const struct {
        const char *name;
        int64_t ns;
    } rows[] = {{"seconds", feed->total_ns},
                {"copying", feed->copying_ns},
                {"late", feed->ready_ns},
                {"device_full", feed->full_ns},
                {"reading", feed->reading_ns},
                {"nobody_reads", feed->unread_ns},
                {"threads_reading", feed->thread_ns}};
    slci_json_open(json, "copies_in", '{');
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        slci_json_f64(json, rows[i].name, 1e-9 * (double)rows[i].ns);
    }
    slci_json_close(json, '}');
}

void slci_trace_write(FILE *out, const slc_trace *trace, const slci_trace_about *about) {
    slci_json json = {.file = out, .flat_depth = 3};
    slci_json_open(&json, NULL, '{');
    slci_json_text(&json, "displayTimeUnit", "ms");
    slci_json_open(&json, "otherData", '{');
    slci_json_text(&json, "program", "Sluice " SLC_VERSION);
    slci_json_text(&json, "command", about->command);
    slci_json_open(&json, "inputs", '[');
    for (int i = 0; i < about->n_inputs; i++) {
        slci_json_text(&json, NULL, about->inputs[i]);
    }
    slci_json_close(&json, ']');
    slci_json_i64(&json, "slices", slc_trace_count(trace));
    slci_json_i64(&json, "slices_dropped", slc_trace_dropped(trace));
    slci_json_i64(&json, "memory_changes_dropped", slc_trace_memory_dropped(trace));
    write_limits(&json, trace);
    write_feed(&json, &about->feed);
    slci_json_close(&json, '}');
    write_events(&json, trace, about);
    slci_json_close(&json, '}');
}
