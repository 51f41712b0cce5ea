/* Another order of dimensions as a job: out[i_0, i_1, …] = in[j_0, j_1, …] with i_d = j_order[d]. Every
 * tile is read once and written once; on the device it is one strided copy. The order may be the one
 * that is there already: then arrays are copied, to be stored in other chunks.
 *
 *     const slc_permute_request request = {.dtype = SLC_F32, .rank = 2, .shape = {ny, nx},
 *                                          .order = {1, 0}};
 *     SLC_TRY(slc_permute_choose(&request, &setup));
 *     slc_job job = slc_permute_job(&setup);
 */
#ifndef SLC_KERNELS_PERMUTE_JOB_H
#define SLC_KERNELS_PERMUTE_JOB_H

#include <stdint.h>

#include "core/job.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operands of the job, in this order. */
enum { SLC_PERMUTE_IN, SLC_PERMUTE_OUT, SLC_PERMUTE_N_OPERANDS };

typedef struct slc_permute_request {
    slc_dtype dtype;
    int rank;                      /* at least 1 */
    int64_t shape[SLC_MAX_RANK];   /* of the input */
    int order[SLC_MAX_RANK];       /* dimension d of the output is this one of the input */
    int64_t in_unit[SLC_MAX_RANK]; /* what the input is stored in (chunks), by its dimensions; 0: */
    int64_t
        out_unit[SLC_MAX_RANK]; /* nothing. The same for the output, by its own. Tiles can end */
                                /* on the borders of both */
} slc_permute_request;

/* What the job works with; a function of the request alone. Axis a of the job is one of the output's
 * dimensions, in their order. */
typedef struct slc_permute_setup {
    slc_permute_request request;
    int n_axes;
    slc_axis axes[SLC_MAX_AXES];
    int axis_of[SLC_MAX_RANK]; /* of each dimension of the output; SLC_AXIS_FIXED: not cut */
} slc_permute_setup;

/* Chooses axes and granules. Of more than four dimensions the longest are cut, and tiles hold the
 * others whole. SLC_ERROR_ARGUMENT for a rank, an order or a size that cannot be. */
SLC_API SLC_MUST_USE slc_status slc_permute_choose(const slc_permute_request *request,
                                                   slc_permute_setup *out);

/* Seconds that a device takes for one element, about: for the plan. */
SLC_API double slc_permute_seconds(const slc_permute_setup *setup, slc_device_kind device);

/* The job, for any device; `setup` is lent for its life. */
SLC_API slc_job slc_permute_job(const slc_permute_setup *setup);

#ifdef __cplusplus
}
#endif
#endif
