/* Members of the set take turns, so that what disturbs the machine for a while does not meet one of
 * them alone, and the fastest run of each counts. All samples have a weight. Where they lie is of
 * no matter to the kernels, but for the sizes that decide which of them a tile takes. */
#include "app/direct_tune.h"

#include <math.h>
#include <string.h>

#include "app/direct_alone.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/constants.h"
#include "core/fixed.h"

#define TIMED_ROUNDS 3

/* No round begins after so many seconds. */
#define MOST_SECONDS 5.0

/* Shares of the fastest that runs of one and the same thing differ by. */
#define NOISE 0.02

/* Made-up rows are copied again and again; so many bytes of them hold a copy's cost down. */
#define BLOCK_BYTES (INT64_C(1) << 20)

/* Samples have |wV| up to this, whatever the survey's first granule had. */
#define MOST_VALUE 1e30

/* ---- data -------------------------------------------------------------------------------------
 * */

/* Rows that are made, and where they lie in pinned memory. */
typedef struct made_rows {
    int64_t n;
    double *uvw_m;    /* [n, 3]: wavelengths, since all channels have one a metre */
    double *channels; /* [n_channels] */
    float *vis;       /* [n, n_channels, 2] */
    float *weight;    /* [n, n_channels] */
} made_rows;

static int64_t row_bytes(int64_t n_channels) {
    return 3 * (int64_t)sizeof(double) + n_channels * 3 * (int64_t)sizeof(float);
}

/* Whole granules, at least one. */
static int64_t count_made_rows(const slc_direct_setup *setup, int64_t n_rows) {
    const int64_t granule_bytes = setup->granule_rows * row_bytes(setup->n_channels);
    const int64_t n_granules = slc_max_i64(1, BLOCK_BYTES / granule_bytes);
    return slc_min_i64(n_granules * setup->granule_rows, n_rows);
}

static void make_rows(const slci_direct_tune_request *request, made_rows *rows) {
    const slc_direct_setup *setup = request->setup;
    const slc_direct_survey *survey = request->survey;
    const double granule_sum = ldexp(1.0, SLC_FIXED_FIRST_BIT - setup->scale_bits);
    const double value = fmin(granule_sum / (double)setup->granule_samples, MOST_VALUE);
    for (int64_t row = 0; row < rows->n; row++) {
        const double turn = SLC_TWO_PI * 0.6180339887498949 * (double)row; /* no two are alike */
        rows->uvw_m[3 * row] = survey->max_u * cos(turn);
        rows->uvw_m[3 * row + 1] = survey->max_v * sin(turn);
        rows->uvw_m[3 * row + 2] = survey->max_w * cos(3.0 * turn);
    }
    for (int64_t k = 0; k < rows->n * setup->n_channels; k++) {
        rows->vis[2 * k] = (float)value;
        rows->vis[2 * k + 1] = 0.0f;
        rows->weight[k] = 1.0f;
    }
    for (int64_t c = 0; c < setup->n_channels; c++) {
        rows->channels[c] = 1.0;
    }
}

/* Fills the engine tile with the same rows again and again. */
static slc_status put_rows(const slci_direct_tune_request *request, int64_t n_rows,
                           slci_direct_alone *alone) {
    const int64_t c = request->setup->n_channels;
    made_rows rows = {.n = count_made_rows(request->setup, n_rows)};
    rows.uvw_m = alone->pinned.host;
    rows.channels = rows.uvw_m + 3 * rows.n;
    rows.vis = (float *)(rows.channels + c);
    rows.weight = rows.vis + 2 * rows.n * c;
    make_rows(request, &rows);
    SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_CHANNELS, 0, rows.channels, 8 * c));
    for (int64_t row = 0; row < n_rows; row += rows.n) {
        const int64_t n = slc_min_i64(rows.n, n_rows - row);
        SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_UVW, 24 * row, rows.uvw_m, 24 * n));
        SLC_TRY(slci_direct_alone_put(alone, SLC_DIRECT_VIS, 8 * c * row, rows.vis, 8 * c * n));
        SLC_TRY(
            slci_direct_alone_put(alone, SLC_DIRECT_WEIGHT, 4 * c * row, rows.weight, 4 * c * n));
    }
    return slc_stream_synchronize(alone->stream);
}

/* ---- trying -----------------------------------------------------------------------------------
 * */

static slc_status try_round(const slci_direct_tune_request *request, slci_direct_alone *alone,
                            slci_direct_trial *trial) {
    for (int i = 0; i < trial->n; i++) {
        double seconds = 0.0;
        SLC_TRY(slci_run_tell(request->run, "tuning", "", i, trial->n));
        alone->setup.tuning.split[trial->launch] = trial->tried[i].split;
        SLC_TRY(slci_direct_alone_run(alone, &seconds));
        trial->tried[i].seconds = fmin(trial->tried[i].seconds, seconds);
    }
    return SLC_OK;
}

static void find_best(slci_direct_trial *trial) {
    const int64_t chosen = slci_direct_split_choose(&trial->division);
    for (int i = 0; i < trial->n; i++) {
        trial->model = trial->tried[i].split == chosen ? i : trial->model;
        trial->best = trial->tried[i].seconds < trial->tried[trial->best].seconds ? i : trial->best;
    }
}

/* The whole set of one launch, which then keeps the best. */
static slc_status try_launch(const slci_direct_tune_request *request, slci_direct_alone *alone,
                             slci_direct_trial *trial) {
    int64_t splits[SLCI_DIRECT_MOST_SPLITS];
    const int64_t begin_ns = slc_clock_ns();
    trial->n = slci_direct_splits(&trial->division, splits);
    for (int i = 0; i < trial->n; i++) {
        trial->tried[i] = (slci_direct_try){splits[i], INFINITY};
    }
    for (int round = 0; round < TIMED_ROUNDS; round++) {
        if (round > 0 && 1e-9 * (double)(slc_clock_ns() - begin_ns) > MOST_SECONDS) {
            break;
        }
        SLC_TRY(try_round(request, alone, trial));
    }
    find_best(trial);
    alone->setup.tuning.split[trial->launch] = slci_direct_trial_split(trial);
    return SLC_OK;
}

/* All launches begin with the model's splits. */
static void list_launches(const slci_direct_tune_request *request, slci_direct_alone *alone,
                          slci_direct_trials *out) {
    const slci_machine *machine = request->machine;
    const slci_direct_work work = {.setup = request->setup,
                                   .summary = request->summary,
                                   .device = machine->device->kind,
                                   .n_processors = machine->limits.n_processors,
                                   .full_extent = alone->extent};
    memset(out, 0, sizeof *out);
    for (int k = 0; k < SLC_DIRECT_N_LAUNCHES; k++) {
        slci_direct_trial *trial = &out->trial[out->n];
        if (slci_direct_divide(&work, (slc_direct_launch)k, &trial->division)) {
            trial->launch = (slc_direct_launch)k;
            alone->setup.tuning.split[k] = slci_direct_split_choose(&trial->division);
            out->n++;
        }
    }
}

slc_status slci_direct_tune(const slci_direct_tune_request *request, slci_direct_trials *out) {
    const int64_t n_channels = request->setup->n_channels;
    const int64_t n_rows = slc_min_i64(request->n_rows, request->full_extent[0]);
    const int64_t n_made = count_made_rows(request->setup, n_rows);
    const slci_direct_alone_request of_kernel = {.machine = request->machine,
                                                 .setup = request->setup,
                                                 .n_rows = n_rows,
                                                 .full_extent = request->full_extent,
                                                 .pinned_bytes =
                                                     n_made * row_bytes(n_channels) +
                                                     n_channels * (int64_t)sizeof(double)};
    slci_direct_alone alone;
    slci_direct_trials trials;
    double seconds = 0.0;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_direct_alone_open(&of_kernel, &alone));
    SLC_TRY_GOTO(done, put_rows(request, n_rows, &alone));
    list_launches(request, &alone, &trials);
    SLC_TRY_GOTO(done, slci_direct_alone_run(&alone, &seconds)); /* clocks are up, pages there */
    for (int i = 0; i < trials.n; i++) {
        SLC_TRY_GOTO(done, try_launch(request, &alone, &trials.trial[i]));
    }
    *out = trials;
done:
    return slci_direct_alone_close(&alone, status);
}

double slci_direct_trial_share(const slci_direct_trial *trial) {
    return trial->tried[trial->best].seconds / trial->tried[trial->model].seconds;
}

int64_t slci_direct_trial_split(const slci_direct_trial *trial) {
    const int kept = slci_direct_trial_share(trial) > 1.0 - NOISE ? trial->model : trial->best;
    return trial->tried[kept].split;
}
