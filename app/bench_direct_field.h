/* What `sluice bench direct` images: arrays as they stand on the ground, pictures of them, and data of
 * which the exact value of any pixel can be had. Internal to app.
 *
 *     SLC_TRY(slci_bench_field_make(&request, &data));
 *     SLC_TRY(slci_bench_field_exact(&data, pixels, n_pixels, exact));
 *     slci_bench_field_free(&data);
 */
#ifndef SLC_APP_BENCH_DIRECT_FIELD_H
#define SLC_APP_BENCH_DIRECT_FIELD_H

#include "app/machine.h"
#include "core/constants.h"
#include "kernels/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_bench_field {
    const char *name;      /* "VLA-A L band" */
    const char *telescope; /* of the simulator's, whose layout it is */
    double stretch;        /* all baselines are longer by it */
    double freq_hz;
    double hours;      /* of the synthesis, around transit */
    double zenith_rad; /* how far south of the zenith the phase centre culminates */
    double field_rad; /* width of the picture; 0: three pixels per fringe of the longest baseline */
} slci_bench_field;

/* Fields that the benchmarks share, without their names. Largest baselines of 36 km at 21 cm; of 31
 * km at 2.7 m, as in SKA-low's inner arms; of 2.9 km at 1.65 m. */
#define SLCI_BENCH_VLA_A "vla-d", 35.0, 1.4e9, 8.0, 0.2, 0.0
#define SLCI_BENCH_SKA_LOW "meerkat", 4.0, 1.1e8, 4.0, 0.1, 5.0 * SLC_DEGREE_RAD
#define SLCI_BENCH_MWA(degrees) "mwa", 1.0, 1.82e8, 4.0, 0.1, (degrees)*SLC_DEGREE_RAD

/* Points in the sky, each on a pixel's centre, so that the sum is coherent there. */
#define SLCI_BENCH_PEAKS 3

typedef struct slci_bench_field_request {
    const slci_machine *machine; /* lent until free */
    const slci_bench_field *field;
    int64_t size; /* the picture has size × size pixels */
    int64_t n;    /* visibilities */
} slci_bench_field_request;

/* Natural weights, one channel; random weights and noise besides the points. */
typedef struct slci_bench_field_data {
    const slci_machine *machine;
    slc_pinned pinned;      /* all arrays */
    int64_t reserved_bytes; /* of host memory */
    int64_t n;
    double *uvw_m;  /* [n, 3] */
    float *vis;     /* [n, 2] */
    float *weight;  /* [n] */
    double channel; /* f / c */
    slc_direct_geometry geometry;
    slc_direct_survey survey;
    double weight_sum, abs_sum;     /* Σw, Σw|V| */
    int64_t peak[SLCI_BENCH_PEAKS]; /* pixels */
} slci_bench_field_data;

/* The next of a sequence that is the same everywhere; its low bits are poor. */
uint64_t slci_bench_random(uint64_t *state);

/* What is made is freed by slci_bench_field_free either way. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_bench_field_make(const slci_bench_field_request *request,
                                              slci_bench_field_data *out);
void slci_bench_field_free(slci_bench_field_data *data);

/* The kernel's numbers as the planner chooses them, with the product kernel where this device has
 * one and `may_multiply`. */
SLC_MUST_USE slc_status slci_bench_field_choose(const slci_bench_field_data *data, double epsilon,
                                                bool may_multiply, slc_direct_setup *out);

/* The sums in double at pixels [n_pixels], j · size + i each, not divided by the weights. */
SLC_MUST_USE slc_status slci_bench_field_exact(const slci_bench_field_data *data,
                                               const int64_t *pixels, int64_t n_pixels,
                                               double *exact);

#ifdef __cplusplus
}
#endif
#endif
