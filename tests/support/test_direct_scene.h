/* Pictures with random data, computed by a CUDA direct kernel and compared with the double-precision
 * oracle at every pixel.
 *
 *     const test_scene scene = {"narrow field", 150, 130, 1e-6, .is_w_projected = true, ...};
 *     const double worst = test_scene_check(&scene, &(test_wish){.epsilon = 1e-6}, 1, device);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_DIRECT_SCENE_H
#define SLC_TESTS_SUPPORT_TEST_DIRECT_SCENE_H

#include "kernels/direct.h"
#include "tests/support/test_direct.h"
#include "tests/support/test_support.h"

/* What the kernel is asked for; the card may be taken for another than it is. */
typedef struct test_wish {
    double epsilon;
    bool has_fast_double;
    slc_direct_unit unit;
} test_wish;

/* A picture and random data for it. */
typedef struct test_scene {
    const char *name;
    int64_t nx, ny;
    double scale_rad, centre_l, centre_m;
    bool is_w_projected;
    int64_t n_rows, n_channels;
    double reach_uv, reach_w; /* wavelengths at the first channel */
    double constant_v;        /* V of every sample where not 0; else random in the unit square */
    double share_used;        /* of the samples; the rest have weight 0 and V = NaN */
    int n_parts;
    bool is_psf;
    slc_direct_method method; /* of at least one tile, on a card with slow double precision */
    double decades;           /* of weights; 0: between 0.1 and 2 */
} test_scene;

typedef struct test_scene_data {
    double *uvw_m, *channels;
    float *vis, *weight;
    double size; /* Σw|V| */
    double max_w;
} test_scene_data;

/* Group fixtures: the card, or none, which is said. */
int test_card_open(void **state);
int test_card_close(void **state);
/* The card; the case is skipped where there is none. */
slc_device *test_card_need(void **state);

void test_scene_fill(const test_scene *scene, test_scene_data *data);
void test_scene_free(test_scene_data *data);
slc_direct_setup test_scene_setup(const test_scene *scene, const test_scene_data *data,
                                  const test_wish *asked);

/* The finished sums; the caller frees. */
slc_fixed *test_scene_image(const test_scene *scene, const test_scene_data *data,
                            const slc_direct_setup *setup, slc_device *device,
                            test_direct_tiling tiling);

/* The worst error over `n` wishes in units of Σw|V|, each within what was asked for. Pixels beyond the
 * horizon must not have been touched. */
double test_scene_check(const test_scene *scene, const test_wish *asked, int64_t n,
                        slc_device *device);

/* The same with data of the caller's for the scene. */
double test_scene_compare(const test_scene *scene, const test_scene_data *data,
                          const test_wish *asked, int64_t n, slc_device *device);

/* The same bits for every member of each launch's tuned set, for others by chance, and under another
 * tiling as for the model's choice. */
void test_scene_check_splits(const test_scene *scene, const test_scene_data *data,
                             const slc_direct_setup *setup, slc_device *device, uint64_t *seed);

/* The same bits for every tiling as for one tile of everything. */
void test_scene_check_tilings(const test_scene *scene, const test_wish *asked, slc_device *device);

#endif
