/* A small run comes first: it loads the kernels and says which of them the job takes, so that the set
 * can be made as long as is wanted. */
#include "app/bench_direct_job.h"

#include <math.h>
#include <string.h>

#include "app/bench_image.h"
#include "core/checked.h"

#define CHANNELS 64
#define FIRST_ROWS 64
#define VRAM_BYTES (INT64_C(256) << 20)

/* The best of some runs over one set. */
static slc_status image(const slci_bench_options *options, const slci_bench_set *set, int n_runs,
                        slci_direct_job_result *out) {
    for (int i = 0; i < n_runs; i++) {
        slc_image_result result;
        SLC_TRY(slci_bench_set_image(options, set, out->vram_bytes, &result));
        if (i == 0 || result.total_seconds < out->image.total_seconds) {
            out->image = result;
        }
    }
    return SLC_OK;
}

static slc_status run(const slci_direct_job_request *request, int64_t n_rows, int n_runs,
                      slci_direct_job_result *out) {
    const slci_machine *machine = request->machine;
    slci_bench_options options = *request->options;
    slci_bench_set set = {.n_rows = n_rows,
                          .n_channels = CHANNELS,
                          .n_pixels = request->n_pixels,
                          .freq_hz = request->freq_hz};
    options.run.rates = machine->rates; /* a user's run finds them in the cache */
    out->vram_bytes = slc_min_i64(VRAM_BYTES, options.run.vram_bytes);
    slc_status status = slci_bench_set_make(&options, machine, &set);
    if (status == SLC_OK) {
        status = image(&options, &set, n_runs, out);
    }
    slci_bench_set_remove(&set);
    return status;
}

static int64_t find_rows(const slci_direct_job_request *request, bool is_sine) {
    const double rate = is_sine ? request->sine_rate : request->kernel_rate;
    const double pixels = (double)request->n_pixels * (double)request->n_pixels;
    const int64_t usual = (int64_t)fmin(1e12, request->seconds * rate / pixels);
    const int64_t asked_for = request->options->n_visibilities;
    return slc_ceil_div(slc_max_i64(asked_for > 0 ? asked_for : usual, 1), CHANNELS);
}

slc_status slci_direct_job_time(const slci_direct_job_request *request,
                                slci_direct_job_result *out) {
    slci_direct_job_result result;
    SLC_TRY(run(request, FIRST_ROWS, 1, &result));
    const char *unit = slc_numerics_get(&result.image.numerics, "matrix_unit");
    const bool is_sine = unit != NULL && strcmp(unit, "none") == 0;
    SLC_TRY(run(request, find_rows(request, is_sine), request->n_runs, &result));
    result.is_sine = is_sine;
    *out = result;
    return SLC_OK;
}
