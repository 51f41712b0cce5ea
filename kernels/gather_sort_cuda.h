/* The list of a tile in the order of the places that it points to. Internal to kernels/gather_*.cu. */
#ifndef SLC_KERNELS_GATHER_SORT_CUDA_H
#define SLC_KERNELS_GATHER_SORT_CUDA_H

#include "kernels/gather_tile.h"

/* Loads the kernels, in less than 2 MiB of device memory that is given back. */
SLC_MUST_USE slc_status slci_gather_sort_prepare(slc_device *device);

/* Enqueues the sort, and has `view`, which counts in units of `unit_bytes`, look at its result.
 * A tile of so few indices that the scratch memory does not do stays as it is. */
SLC_MUST_USE slc_status slci_gather_sort_enqueue(const slc_tile_arguments *arguments,
                                                 int64_t unit_bytes, slci_gather_view *view);

#endif
