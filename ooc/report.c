/* Sums and judgements over what runs reported. */
#include <math.h>

#include "core/checked.h"
#include "ooc/engine.h"

void slc_engine_report_add(slc_engine_report *sum, const slc_engine_report *more) {
    sum->n_tiles += more->n_tiles;
    sum->bytes_read += more->bytes_read;
    sum->bytes_tier += more->bytes_tier;
    sum->bytes_h2d += more->bytes_h2d;
    sum->bytes_d2h += more->bytes_d2h;
    sum->bytes_written += more->bytes_written;
    sum->n_iterations += more->n_iterations;
    sum->n_unfinished += more->n_unfinished;
    sum->device_peak_bytes = slc_max_i64(sum->device_peak_bytes, more->device_peak_bytes);
    sum->host_peak_bytes = slc_max_i64(sum->host_peak_bytes, more->host_peak_bytes);
    sum->tier_bytes = slc_max_i64(sum->tier_bytes, more->tier_bytes);
    sum->pageable_bytes = slc_max_i64(sum->pageable_bytes, more->pageable_bytes);
    sum->seconds_total += more->seconds_total;
    sum->seconds_read += more->seconds_read;
    sum->seconds_h2d += more->seconds_h2d;
    sum->seconds_kernel += more->seconds_kernel;
    sum->seconds_d2h += more->seconds_d2h;
    sum->seconds_write += more->seconds_write;
}

/* The busy seconds by stage, in the order of slc_bottleneck. */
static void list_stages(const slc_engine_report *report, double *seconds) {
    seconds[SLC_BOUND_KERNEL] = report->seconds_kernel;
    seconds[SLC_BOUND_READ] = report->seconds_read;
    seconds[SLC_BOUND_H2D] = report->seconds_h2d;
    seconds[SLC_BOUND_D2H] = report->seconds_d2h;
    seconds[SLC_BOUND_WRITE] = report->seconds_write;
}

double slc_engine_overlap(const slc_engine_report *report) {
    double seconds[SLC_BOUND_COUNT];
    list_stages(report, seconds);
    double sum = 0;
    double longest = 0;
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        sum += seconds[b];
        longest = fmax(longest, seconds[b]);
    }
    /* With one stage that does everything there is nothing to hide, and nothing unhidden. */
    return sum - longest > 0 ? (sum - report->seconds_total) / (sum - longest) : 1.0;
}

slc_bottleneck slc_engine_bottleneck(const slc_engine_report *report) {
    double seconds[SLC_BOUND_COUNT];
    list_stages(report, seconds);
    int longest = SLC_BOUND_KERNEL;
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        longest = seconds[b] > seconds[longest] ? b : longest;
    }
    return (slc_bottleneck)longest;
}
