/* What the kernel is given is what an engine tile that covers the whole picture and all rows has. */
#include "app/bench_direct_run.h"

#include <math.h>

#include "app/direct_alone.h"
#include "core/fixed.h"

static slc_status put_data(slci_direct_alone *alone, const slci_bench_field_data *data) {
    SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_UVW, 0, data->uvw_m, 24 * data->n));
    SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_VIS, 0, data->vis, 8 * data->n));
    SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_WEIGHT, 0, data->weight, 4 * data->n));
    SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_CHANNELS, 0, &data->channel, 8));
    return slc_stream_synchronize(alone->stream);
}

/* The first run counts where it took so long that loading and clocks do not show. */
static slc_status run_all(const slci_direct_run_request *request, slci_direct_alone *alone,
                          double *best) {
    double first = 0.0;
    double seconds = 0.0;
    SLC_TRY(slci_direct_alone_run(alone, &first));
    const bool is_long = first >= SLCI_DIRECT_RUN_LONG_SECONDS;
    *best = is_long || request->repeats == 0 ? first : INFINITY;
    for (int i = 0; i < request->repeats && !is_long; i++) {
        SLC_TRY(slci_direct_alone_run(alone, &seconds));
        *best = fmin(*best, seconds);
    }
    return SLC_OK;
}

static slc_status get_sums(const slci_direct_run_request *request, const slci_direct_alone *alone,
                           double *sums) {
    const slc_direct_geometry *geometry = &alone->setup.geometry;
    const char *const d_image = alone->d_operand[SLC_DIRECT_IMAGE];
    const int64_t across = alone->layout[SLC_DIRECT_IMAGE].shape[1];
    slc_fixed *const found = alone->pinned.host;
    for (int64_t p = 0; p < request->n_pixels; p++) {
        const int64_t j = request->pixels[p] / geometry->nx;
        const int64_t i = request->pixels[p] % geometry->nx;
        const int64_t at = (j * across + i) * (int64_t)sizeof *found;
        SLC_TRY(slc_stream_copy(alone->stream, &found[p], d_image + at, (int64_t)sizeof *found,
                                SLC_COPY_FROM_DEVICE));
    }
    SLC_TRY(slc_stream_synchronize(alone->stream));
    for (int64_t p = 0; p < request->n_pixels; p++) {
        sums[p] = slc_fixed_to_double(found[p], alone->setup.scale_bits);
    }
    return SLC_OK;
}

slc_status slci_direct_run(const slci_direct_run_request *request, double *sums, double *seconds) {
    const slci_direct_alone_request of_kernel = {.machine = request->machine,
                                                 .setup = request->setup,
                                                 .n_rows = request->data->n,
                                                 .pinned_bytes = (int64_t)sizeof(slc_fixed) *
                                                                 request->n_pixels};
    slci_direct_alone alone;
    double best = 0.0;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_direct_alone_open(&of_kernel, &alone));
    SLC_TRY_GOTO(done, put_data(&alone, request->data));
    SLC_TRY_GOTO(done, run_all(request, &alone, &best));
    SLC_TRY_GOTO(done, get_sums(request, &alone, sums));
    *seconds = best;
done:
    return slci_direct_alone_close(&alone, status);
}
