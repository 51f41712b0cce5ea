/* Taking elements of an array by index: along one dimension, or by full coordinates. Along
 * dimension a, out[…, k, …] = data[…, index[k], …] for a list of indices, as numpy.take; by
 * coordinates, out[k] = data[index[k, 0], index[k, 1], …]. The list may repeat itself and need not
 * be in order. The data is either one whole array that any tile may touch, in device memory or
 * mapped from the host's; or it passes by in tiles, and each tile of the list takes what it finds
 * in each of them.
 *
 *     const slc_gather_request request = {.dtype = SLC_F32, .rank = 1, .shape = {n_data},
 *                                         .index_dtype = SLC_I64, .n_index = n};
 *     SLC_TRY(slc_gather_choose(&request, &setup));
 *     SLC_TRY(slc_gather_job_init(&setup, device->kind, &job));
 */
#ifndef SLC_KERNELS_GATHER_KERNEL_H
#define SLC_KERNELS_GATHER_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/status.h"
#include "kernels/gather_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operands of the job, in this order. The last three are work, of an ordered gather only; so
 * bindings are [SLC_GATHER_N_OPERANDS], of which the first three matter. */
enum {
    SLC_GATHER_DATA,
    SLC_GATHER_INDEX,
    SLC_GATHER_OUT,
    SLC_GATHER_PLACES,
    SLC_GATHER_ORDER,
    SLC_GATHER_SCRATCH,
    SLC_GATHER_N_OPERANDS
};

/* In place of a dimension's number: the list holds full coordinates. */
#define SLC_GATHER_COORDINATES (-1)

typedef enum slc_gather_form {
    SLC_GATHER_WHOLE,   /* the data is a sparse operand: resident or mapped */
    SLC_GATHER_STREAMED /* the data passes by, once for each tile of the list */
} slc_gather_form;

typedef struct slc_gather_request {
    slc_dtype dtype; /* of data and result; at most 16 bytes */
    int rank;        /* of the data, at least 1 */
    int64_t shape[SLC_MAX_RANK];
    slc_dtype index_dtype; /* an integer type */
    int64_t n_index;
    int axis; /* the dimension, or SLC_GATHER_COORDINATES */
    slc_gather_form form;
    /* Whole data, on CUDA: a tile reads the data in rising order of the places, not in the
     * list's. Mapped memory is then read several times faster, and 26 bytes of device memory an
     * index are needed. The result is the same. */
    bool is_ordered;
    /* (optional) Where the indices point, all of them; lent for the job's life. Streamed, tiles of the
     * data that hold none are left out. */
    const slc_gather_map *map;
} slc_gather_request;

/* What the job works with; a function of the request alone. The index axis is axis 0 of the job. A
 * dimension of the data that is cut into tiles has an axis of its own. */
typedef struct slc_gather_setup {
    slc_gather_request request;
    int n_axes;
    slc_axis axes[SLC_MAX_AXES];
    int axis_of[SLC_MAX_RANK]; /* of each dimension of the data; SLC_AXIS_FIXED: not cut */
    int outer_dim, inner_dim;  /* cut dimensions before and after request.axis; -1: none */
} slc_gather_setup;

typedef struct slc_gather_kernel {
    const char *name; /* "gather/host", "gather/cuda" */
    slc_device_kind device;
    /* The slc_job tile function; `state` is the setup. Only enqueues. Whatever the list holds,
     * nothing outside the data is read: an index that is out of range leaves its elements as they
     * are. */
    slc_status (*tile)(void *state, const slc_tile_arguments *arguments);
    /* (optional) the slc_job prepare function. */
    slc_status (*prepare)(void *state, slc_device *device);
} slc_gather_kernel;

/* Chooses axes and granules. SLC_ERROR_ARGUMENT for a rank, dimension, type or size that cannot be. */
SLC_API SLC_MUST_USE slc_status slc_gather_choose(const slc_gather_request *request,
                                                  slc_gather_setup *out);

/* Random accesses to the data for one index. A run of neighbouring elements counts as one access
 * for each 256 bytes begun, which is about what mapped memory delivers in the time of one. */
SLC_API double slc_gather_touches(const slc_gather_setup *setup);

/* Of an ordered gather from mapped memory: seconds that a tile takes to go through the data
 * once, however few of its elements it reads, and how many it reads a second besides. As
 * measured on an H200. */
SLC_API double slc_gather_sweep_seconds(const slc_gather_setup *setup);
#define SLC_GATHER_ORDERED_TOUCHES_PER_S 1e9

/* The kernel for a device; NULL if it was not built. */
SLC_API const slc_gather_kernel *slc_gather_kernel_get(slc_device_kind device);

/* The job. DATA has the data's shape; INDEX is [n_index], or [n_index, rank] for coordinates; OUT
 * has the data's shape with n_index for dimension `axis`, or is [n_index]. `setup` is lent for the
 * job's life. SLC_ERROR_ARGUMENT when there is no kernel for the device. */
SLC_API SLC_MUST_USE slc_status slc_gather_job_init(const slc_gather_setup *setup,
                                                    slc_device_kind device, slc_job *out);

#ifdef __cplusplus
}
#endif
#endif
