/* Baselines are the simulator's, by hour-angle synthesis; values are those of a few points and of
 * noise. The points carry most of what the picture has at their pixels, where errors of one sign add
 * up, and the noise gives every sample a phase of its own elsewhere. */
#include "app/bench_direct_field.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "core/constants.h"
#include "io/simulate_telescope.h"

/* uvw, one visibility, one weight. */
#define ROW_BYTES (3 * 8 + 2 * 4 + 4)

/* Parts of the noise lie in ± this. */
#define NOISE_JY 0.5

static const double flux_jy[SLCI_BENCH_PEAKS] = {1.0, 0.5, 0.25};

/* Where the points lie, as shares of the picture's side: within a kernel tile, and near corners, where
 * w c is largest. */
static const double place[SLCI_BENCH_PEAKS][2] = {{0.3, 0.6}, {0.99, 0.98}, {0.02, 0.97}};

uint64_t slci_bench_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state;
}

/* Uniform in [-1, 1). */
static double next_number(uint64_t *state) {
    return (double)(int64_t)slci_bench_random(state) * 0x1p-63;
}

/* The direction of a pixel; *n1 is n - 1. */
static void direction_of(const slc_direct_geometry *geometry, int64_t pixel, double *l, double *m,
                         double *n1) {
    *l = -(double)(pixel % geometry->nx - geometry->nx / 2) * geometry->scale_rad;
    *m = (double)(pixel / geometry->nx - geometry->ny / 2) * geometry->scale_rad;
    const double r2 = *l * *l + *m * *m;
    *n1 = -r2 / (1.0 + sqrt(1.0 - r2));
}

/* ---- baselines -------------------------------------------------------------------------------- */

/* Time by time, within one by baseline. */
static void make_uvw(const slci_bench_field *field, const slci_telescope *telescope,
                     slci_bench_field_data *data) {
    const int64_t n_antennas = telescope->n_antennas;
    const int64_t n_times = slc_ceil_div(data->n, n_antennas * (n_antennas - 1) / 2);
    const double latitude = telescope->latitude_deg * SLC_DEGREE_RAD;
    const double dec = latitude + (latitude < 0.0 ? 1.0 : -1.0) * field->zenith_rad;
    int64_t k = 0;
    for (int64_t time = 0; time < n_times; time++) {
        double turn[3][3];
        const double at = ((double)time + 0.5) / (double)n_times - 0.5;
        slci_uvw_matrix(latitude, at * field->hours * SLC_HOUR_RAD, dec, turn);
        for (int64_t a = 0; a < n_antennas; a++) {
            for (int64_t b = a + 1; b < n_antennas && k < data->n; b++, k++) {
                for (int axis = 0; axis < 3; axis++) {
                    double sum = 0.0;
                    for (int i = 0; i < 3; i++) {
                        sum += turn[axis][i] *
                               (telescope->antennas[b].enu_m[i] - telescope->antennas[a].enu_m[i]);
                    }
                    data->uvw_m[3 * k + axis] = field->stretch * sum;
                }
            }
        }
    }
}

static void make_geometry(const slci_bench_field_request *request, const slci_telescope *telescope,
                          slci_bench_field_data *data) {
    const double longest =
        slci_telescope_longest_m(telescope) * request->field->stretch * data->channel;
    const double width = request->field->field_rad;
    data->geometry = (slc_direct_geometry){.nx = request->size,
                                           .ny = request->size,
                                           .scale_rad = width > 0.0 ? width / (double)request->size
                                                                    : 1.0 / (3.0 * longest),
                                           .is_w_projected = true};
    for (int p = 0; p < SLCI_BENCH_PEAKS; p++) {
        const int64_t i = (int64_t)(place[p][0] * (double)request->size);
        const int64_t j = (int64_t)(place[p][1] * (double)request->size);
        data->peak[p] = j * request->size + i;
    }
}

/* ---- values ----------------------------------------------------------------------------------- */

static void make_values(slci_bench_field_data *data) {
    double towards[SLCI_BENCH_PEAKS][3];
    uint64_t state = 1;
    for (int p = 0; p < SLCI_BENCH_PEAKS; p++) {
        direction_of(&data->geometry, data->peak[p], &towards[p][0], &towards[p][1],
                     &towards[p][2]);
    }
    for (int64_t k = 0; k < data->n; k++) {
        double re = NOISE_JY * next_number(&state);
        double im = NOISE_JY * next_number(&state);
        for (int p = 0; p < SLCI_BENCH_PEAKS; p++) {
            const double *uvw = data->uvw_m + 3 * k;
            const double turns = data->channel * (uvw[0] * towards[p][0] + uvw[1] * towards[p][1] +
                                                  uvw[2] * towards[p][2]);
            const double phase = SLC_TWO_PI * (turns - rint(turns));
            re += flux_jy[p] * cos(phase);
            im += flux_jy[p] * sin(phase);
        }
        data->vis[2 * k] = (float)re;
        data->vis[2 * k + 1] = (float)im;
        data->weight[k] = (float)(1.0 + 0.5 * next_number(&state));
    }
}

static void look(slci_bench_field_data *data) {
    const int64_t granule = slc_min_i64(SLC_DIRECT_GRANULE_SAMPLES, data->n);
    slc_direct_survey survey = {.n_samples = data->n};
    for (int64_t k = 0; k < data->n; k++) {
        const double *uvw = data->uvw_m + 3 * k;
        survey.max_u = fmax(survey.max_u, fabs(uvw[0] * data->channel));
        survey.max_v = fmax(survey.max_v, fabs(uvw[1] * data->channel));
        survey.max_w = fmax(survey.max_w, fabs(uvw[2] * data->channel));
        const double weight = (double)data->weight[k];
        data->weight_sum += weight;
        data->abs_sum += weight * hypot((double)data->vis[2 * k], (double)data->vis[2 * k + 1]);
        if (k + 1 == granule) {
            survey.first_granule_sum = data->abs_sum;
        }
    }
    data->survey = survey;
}

slc_status slci_bench_field_make(const slci_bench_field_request *request,
                                 slci_bench_field_data *out) {
    const slci_machine *machine = request->machine;
    const slci_telescope *telescope = slci_telescope_find(request->field->telescope);
    const int64_t n = request->n;
    assert(telescope != NULL);
    *out = (slci_bench_field_data){.machine = machine,
                                   .n = n,
                                   .channel = request->field->freq_hz / SLC_SPEED_OF_LIGHT_M_S};
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_HOST, ROW_BYTES * n, "visibilities"));
    out->reserved_bytes = ROW_BYTES * n;
    SLC_TRY(slc_pinned_allocate(machine->device, ROW_BYTES * n, &out->pinned));
    out->uvw_m = out->pinned.host;
    out->vis = (float *)(out->uvw_m + 3 * n);
    out->weight = out->vis + 2 * n;
    make_uvw(request->field, telescope, out);
    make_geometry(request, telescope, out);
    make_values(out);
    look(out);
    return SLC_OK;
}

void slci_bench_field_free(slci_bench_field_data *data) {
    if (data->machine != NULL) {
        slc_pinned_release(data->machine->device, &data->pinned);
        slc_budget_release(data->machine->budget, SLC_SPACE_HOST, data->reserved_bytes);
    }
    memset(data, 0, sizeof *data);
}

/* ---- kernels ---------------------------------------------------------------------------------- */

slc_status slci_bench_field_choose(const slci_bench_field_data *data, double epsilon,
                                   bool may_multiply, slc_direct_setup *out) {
    const slc_device_kind kind = data->machine->device->kind;
    slc_direct_request request = {.device = kind,
                                  .geometry = data->geometry,
                                  .survey = data->survey,
                                  .n_channels = 1,
                                  .epsilon = epsilon,
                                  .n_parts = 1,
                                  .card = data->machine->card};
    if (!may_multiply) {
        request.card.unit = SLC_DIRECT_UNIT_NONE;
    }
    SLC_TRY(slc_direct_choose(&request, out));
    if (kind == SLC_DEVICE_HOST && !may_multiply) {
        out->max_terms = -1;
    }
    return SLC_OK;
}

/* ---- exact values ----------------------------------------------------------------------------- */

typedef struct oracle {
    const slci_bench_field_data *data;
    const int64_t *pixels;
    double *exact;
} oracle;

/* A picture of this one pixel. */
static slc_status find_exact(void *context, int64_t index, int worker) {
    (void)worker;
    const oracle *self = context;
    const slci_bench_field_data *data = self->data;
    double n1 = 0.0;
    slc_direct_geometry at = data->geometry;
    direction_of(&data->geometry, self->pixels[index], &at.centre_l, &at.centre_m, &n1);
    at.nx = at.ny = 1;
    slc_direct_reference(&at, 1, data->n, 1, data->uvw_m, data->vis, data->weight, &data->channel,
                         &self->exact[index]);
    return SLC_OK;
}

slc_status slci_bench_field_exact(const slci_bench_field_data *data, const int64_t *pixels,
                                  int64_t n_pixels, double *exact) {
    oracle self = {.data = data, .pixels = pixels, .exact = exact};
    return slc_pool_for(data->machine->pool, n_pixels, find_exact, &self);
}
