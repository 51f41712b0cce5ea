/* What a correlator would have measured: for each row, the sum over the components of the sky
 *
 *     V = Σ S(f) · exp(-π²/(4 ln 2) (major² s² + minor² t²)) · exp(+2πi (ul + vm + w(n-1)))
 *
 * with (s, t) the baseline along the axes of a Gaussian, all in double. Path lengths are formed once
 * per row and component, in metres; a channel turns them into turns and takes the whole ones off
 * before the sine. */
#include "io/simulate_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/constants.h"
#include "io/simulate_noise.h"

/* One block and all that goes with it stays below this, single rows excepted. */
#define BLOCK_BYTES ((int64_t)48 << 20)
#define MAX_BLOCK_ROWS ((int64_t)1 << 16)

/* Rows that a thread takes at a time. */
#define TASK_ROWS 64

/* Single precision ends at 3e38; a sum of this much in each component is still far from it. */
#define MAX_FLUX_JY 1e30

/* A component, ready for a baseline in metres. */
typedef struct ready_component {
    double l, m, n_minus_1;
    double major, minor; /* π/(2 √ln 2) · full width */
    double sin_angle, cos_angle;
} ready_component;

struct slci_row_maker {
    const slc_simulate_options *options;
    const slci_telescope *telescope;
    slci_row_order order;
    int64_t n_components;
    ready_component *components;
    double *flux_jy;               /* [n_components, n_channels] */
    double *wavelengths_per_metre; /* [n_channels] */
    int64_t *pair;                 /* [n_pairs, 2] */
    double *sums;                  /* [threads, n_channels, 2] */
    /* The block. */
    int64_t block_rows;
    int64_t first_row, n_rows;
    double *uvw_m, *time_jd, *lst_rad, *integration_s;
    int64_t *antenna_1, *antenna_2;
    float *vis;
};

void slci_row_order_init(const slc_simulate_options *options, const slci_telescope *telescope,
                         slci_row_order *out) {
    const int64_t n = telescope->n_antennas;
    out->n_pairs = n * (n - 1) / 2;
    out->n_times = slc_ceil_div(options->n_rows, out->n_pairs);
    out->n_baselines = slc_min_i64(options->n_rows, out->n_pairs);
    out->cadence_s = options->hours * 3600.0 / (double)out->n_times;
    out->first_jd = slci_transit_jd(options->ra_rad, telescope->longitude_deg * SLC_DEGREE_RAD) -
                    0.5 * (double)(out->n_times - 1) * out->cadence_s / SLC_SECONDS_PER_DAY;
}

/* Room for a × b × c elements; NULL where the product or the memory is too large. */
static void *allocate(int64_t a, int64_t b, int64_t c, size_t element_bytes) {
    int64_t bytes = 0;
    if (!slc_checked_mul(a, b, &bytes) || !slc_checked_mul(bytes, c, &bytes) ||
        !slc_checked_mul(bytes, (int64_t)element_bytes, &bytes)) {
        return NULL;
    }
    return malloc((size_t)slc_max_i64(bytes, 1));
}

static slc_status allocate_all(slci_row_maker *maker) {
    const int64_t n_channels = maker->options->n_channels;
    const int64_t n_polarisations = maker->options->n_polarisations;
    /* The caller has checked that a row's bytes can be counted. */
    const int64_t row_bytes = n_channels * n_polarisations * 8 + 64;
    maker->block_rows = slc_min_i64(slc_max_i64(BLOCK_BYTES / row_bytes, 1), MAX_BLOCK_ROWS);
    maker->block_rows = slc_min_i64(maker->block_rows, maker->options->n_rows);
    const int64_t rows = maker->block_rows;
    maker->components = allocate(maker->n_components, 1, 1, sizeof *maker->components);
    maker->flux_jy = allocate(maker->n_components, n_channels, 1, sizeof(double));
    maker->wavelengths_per_metre = allocate(n_channels, 1, 1, sizeof(double));
    maker->pair = allocate(maker->order.n_pairs, 2, 1, sizeof(int64_t));
    maker->sums = allocate(slc_pool_size(maker->options->pool), n_channels, 2, sizeof(double));
    maker->uvw_m = allocate(rows, 3, 1, sizeof(double));
    maker->time_jd = allocate(rows, 1, 1, sizeof(double));
    maker->lst_rad = allocate(rows, 1, 1, sizeof(double));
    maker->integration_s = allocate(rows, 1, 1, sizeof(double));
    maker->antenna_1 = allocate(rows, 1, 1, sizeof(int64_t));
    maker->antenna_2 = allocate(rows, 1, 1, sizeof(int64_t));
    maker->vis = allocate(rows, n_channels, 2 * n_polarisations, sizeof(float));
    if (maker->components == NULL || maker->flux_jy == NULL ||
        maker->wavelengths_per_metre == NULL || maker->pair == NULL || maker->sums == NULL ||
        maker->uvw_m == NULL || maker->time_jd == NULL || maker->lst_rad == NULL ||
        maker->integration_s == NULL || maker->antenna_1 == NULL || maker->antenna_2 == NULL ||
        maker->vis == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY,
                        "no memory to simulate %" PRId64 " channels and %" PRId64
                        " components, %" PRId64 " rows at a time",
                        n_channels, maker->n_components, rows);
    }
    return SLC_OK;
}

static void prepare_pairs(slci_row_maker *maker) {
    int64_t k = 0;
    for (int64_t a = 0; a < maker->telescope->n_antennas; a++) {
        for (int64_t b = a + 1; b < maker->telescope->n_antennas; b++) {
            maker->pair[2 * k] = a;
            maker->pair[2 * k + 1] = b;
            k++;
        }
    }
}

static slc_status prepare_sky(slci_row_maker *maker, const slc_sky *sky) {
    const slc_simulate_options *options = maker->options;
    const double reference_hz = sky->reference_hz > 0.0 ? sky->reference_hz : options->freq_hz;
    const double width = SLC_PI / (2.0 * sqrt(log(2.0)));
    for (int64_t c = 0; c < options->n_channels; c++) {
        const double freq_hz = options->freq_hz + (double)c * options->channel_width_hz;
        maker->wavelengths_per_metre[c] = freq_hz / SLC_SPEED_OF_LIGHT_M_S;
        for (int64_t k = 0; k < sky->n_components; k++) {
            const slc_sky_component *component = &sky->components[k];
            const double flux_jy =
                component->flux_jy * pow(freq_hz / reference_hz, component->spectral_index);
            if (!(fabs(flux_jy) <= MAX_FLUX_JY)) {
                return SLC_FAIL(SLC_ERROR_INPUT,
                                "component %" PRId64 " of the sky has %g Jy at %g Hz, expected at "
                                "most %g; see to its flux and index",
                                k + 1, flux_jy, freq_hz, MAX_FLUX_JY);
            }
            maker->flux_jy[k * options->n_channels + c] = flux_jy;
        }
    }
    for (int64_t k = 0; k < sky->n_components; k++) {
        const slc_sky_component *component = &sky->components[k];
        const double r2 = component->l * component->l + component->m * component->m;
        maker->components[k] = (ready_component){.l = component->l,
                                                 .m = component->m,
                                                 .n_minus_1 = -r2 / (1.0 + sqrt(1.0 - r2)),
                                                 .major = width * component->major_rad,
                                                 .minor = width * component->minor_rad,
                                                 .sin_angle = sin(component->angle_rad),
                                                 .cos_angle = cos(component->angle_rad)};
    }
    return SLC_OK;
}

slc_status slci_row_maker_create(const slc_simulate_options *options,
                                 const slci_telescope *telescope, const slc_sky *sky,
                                 slci_row_maker **out) {
    slci_row_maker *maker = calloc(1, sizeof *maker);
    if (maker == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a simulation");
    }
    slc_status status = SLC_OK;
    maker->options = options;
    maker->telescope = telescope;
    maker->n_components = sky->n_components;
    slci_row_order_init(options, telescope, &maker->order);
    SLC_TRY_GOTO(done, allocate_all(maker));
    SLC_TRY_GOTO(done, prepare_sky(maker, sky));
    prepare_pairs(maker);
    *out = maker;
    return SLC_OK;
done:
    slci_row_maker_destroy(maker);
    return status;
}

void slci_row_maker_destroy(slci_row_maker *maker) {
    if (maker == NULL) {
        return;
    }
    free(maker->components);
    free(maker->flux_jy);
    free(maker->wavelengths_per_metre);
    free(maker->pair);
    free(maker->sums);
    free(maker->uvw_m);
    free(maker->time_jd);
    free(maker->lst_rad);
    free(maker->integration_s);
    free(maker->antenna_1);
    free(maker->antenna_2);
    free(maker->vis);
    free(maker);
}

int64_t slci_row_maker_block(const slci_row_maker *maker) {
    return maker->block_rows;
}

/* Time, antennas and uvw of the block's row `i`. */
static void make_geometry(slci_row_maker *maker, int64_t i) {
    const slci_row_order *order = &maker->order;
    const slci_telescope *telescope = maker->telescope;
    const int64_t row = maker->first_row + i;
    const int64_t time = row / order->n_pairs;
    const int64_t *pair = maker->pair + 2 * (row % order->n_pairs);
    const double jd = order->first_jd + (double)time * order->cadence_s / SLC_SECONDS_PER_DAY;
    const double lst_rad = slci_sidereal_time(jd, telescope->longitude_deg * SLC_DEGREE_RAD);
    double matrix[3][3];
    slci_uvw_matrix(telescope->latitude_deg * SLC_DEGREE_RAD, lst_rad - maker->options->ra_rad,
                    maker->options->dec_rad, matrix);
    const double *from = telescope->antennas[pair[0]].enu_m;
    const double *to = telescope->antennas[pair[1]].enu_m;
    const double baseline[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    for (int k = 0; k < 3; k++) {
        maker->uvw_m[3 * i + k] =
            matrix[k][0] * baseline[0] + matrix[k][1] * baseline[1] + matrix[k][2] * baseline[2];
    }
    maker->time_jd[i] = jd;
    maker->lst_rad[i] = lst_rad;
    maker->integration_s[i] = order->cadence_s;
    maker->antenna_1[i] = pair[0];
    maker->antenna_2[i] = pair[1];
}

/* Adds one component to the sums [n_channels, 2] of a row. */
static void add_component(const slci_row_maker *maker, int64_t k, const double *uvw_m,
                          double *sums) {
    const int64_t n_channels = maker->options->n_channels;
    const ready_component *component = &maker->components[k];
    const double *flux_jy = maker->flux_jy + k * n_channels;
    const double path_m =
        uvw_m[0] * component->l + uvw_m[1] * component->m + uvw_m[2] * component->n_minus_1;
    const double s =
        component->major * (uvw_m[0] * component->sin_angle + uvw_m[1] * component->cos_angle);
    const double t =
        component->minor * (uvw_m[0] * component->cos_angle - uvw_m[1] * component->sin_angle);
    const double size_m2 = s * s + t * t;
    for (int64_t c = 0; c < n_channels; c++) {
        const double scale = maker->wavelengths_per_metre[c];
        double turns = path_m * scale;
        turns -= rint(turns);
        double amplitude = flux_jy[c];
        if (size_m2 > 0.0) {
            amplitude *= exp(-size_m2 * scale * scale);
        }
        double sine = 0.0;
        double cosine = 0.0;
        sincos(SLC_TWO_PI * turns, &sine, &cosine);
        sums[2 * c] += amplitude * cosine;
        sums[2 * c + 1] += amplitude * sine;
    }
}

/* The sky is unpolarised: both parallel hands see the same, but each has its own noise. */
static void store_row(const slci_row_maker *maker, int64_t i, const double *sums) {
    const slc_simulate_options *options = maker->options;
    const int64_t n_polarisations = options->n_polarisations;
    float *vis = maker->vis + i * options->n_channels * n_polarisations * 2;
    for (int64_t c = 0; c < options->n_channels; c++) {
        for (int p = 0; p < options->n_polarisations; p++) {
            double noise[2] = {0.0, 0.0};
            if (options->noise_jy > 0.0) {
                slci_noise(options->seed, maker->first_row + i, c, p, noise);
            }
            float *sample = vis + (c * n_polarisations + p) * 2;
            sample[0] = (float)(sums[2 * c] + options->noise_jy * noise[0]);
            sample[1] = (float)(sums[2 * c + 1] + options->noise_jy * noise[1]);
        }
    }
}

static slc_status make_task(void *context, int64_t index, int worker) {
    slci_row_maker *maker = context;
    const slc_simulate_options *options = maker->options;
    double *sums = maker->sums + 2 * options->n_channels * worker;
    if (options->cancel != NULL && *options->cancel != 0) {
        return SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted at row %" PRId64 " of %" PRId64,
                        maker->first_row, options->n_rows);
    }
    const int64_t end = slc_min_i64((index + 1) * TASK_ROWS, maker->n_rows);
    for (int64_t i = index * TASK_ROWS; i < end; i++) {
        make_geometry(maker, i);
        for (int64_t c = 0; c < 2 * options->n_channels; c++) {
            sums[c] = 0.0;
        }
        for (int64_t k = 0; k < maker->n_components; k++) {
            add_component(maker, k, maker->uvw_m + 3 * i, sums);
        }
        store_row(maker, i, sums);
    }
    return SLC_OK;
}

slc_status slci_row_maker_make(slci_row_maker *maker, int64_t first_row, int64_t n_rows,
                               slc_uvh5_rows *out) {
    maker->first_row = first_row;
    assert(n_rows <= maker->block_rows);
    maker->n_rows = n_rows;
    SLC_TRY(slc_pool_for(maker->options->pool, slc_ceil_div(maker->n_rows, TASK_ROWS), make_task,
                         maker));
    *out = (slc_uvh5_rows){.n_rows = maker->n_rows,
                           .uvw_m = maker->uvw_m,
                           .time_jd = maker->time_jd,
                           .lst_rad = maker->lst_rad,
                           .integration_s = maker->integration_s,
                           .antenna_1 = maker->antenna_1,
                           .antenna_2 = maker->antenna_2,
                           .vis = maker->vis};
    return SLC_OK;
}
