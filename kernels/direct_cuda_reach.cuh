/* Which kernels and variants a whole picture may need, from its farthest corner: what a launch asks
 * once, where looking at each tile would take longer than computing it. Host code.
 *
 *     const int last = slci_cuda_variant(&setup, slci_reach_find(&setup).turns);
 *     const bool is_all_product = slci_reach_is_all_product(&setup);
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_REACH_CUH
#define SLC_KERNELS_DIRECT_CUDA_REACH_CUH

#include "kernels/direct_tile.h"

/* The farthest that any of a picture's tiles can be: no tile's bounds are larger than those here. */
typedef struct slci_reach {
    double half, far_l, far_m;
    double turns; /* largest |w c| */
} slci_reach;

static inline slci_reach slci_reach_find(const slc_direct_setup *setup) {
    const slc_direct_geometry *geometry = &setup->geometry;
    slci_reach reach;
    reach.half = 0.5 * (double)(setup->tile_pixels - 1) * geometry->scale_rad;
    reach.far_l =
        fmax(fabs(slci_direct_l(geometry, 0)), fabs(slci_direct_l(geometry, geometry->nx - 1)));
    reach.far_m =
        fmax(fabs(slci_direct_m(geometry, 0)), fabs(slci_direct_m(geometry, geometry->ny - 1)));
    reach.turns = setup->max_w * (1.0 + 1e-6) *
                  slci_direct_c_bound(reach.half, reach.half, reach.far_l, reach.far_m, 1.0);
    return reach;
}

/* Whether all tiles of this picture are the product kernel's. */
static inline bool slci_reach_is_all_product(const slc_direct_setup *setup) {
    const slci_reach reach = slci_reach_find(setup);
    const slci_direct_sides sides = {reach.half, reach.half, reach.far_l, reach.far_m,
                                     slci_direct_n(reach.far_l, reach.far_m)};
    const slci_direct_bent bent = slci_direct_bent_find(&sides, setup->max_w * (1.0 + 1e-6),
                                                        reach.turns / fmax(setup->max_w, 1e-300));
    return slci_direct_bent_choose(setup, &bent).n_terms >= 0;
}

#endif
