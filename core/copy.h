/* Copies between strided layouts on the host.
 * One entry for every pair of layouts: one run where both are contiguous, rows where the inner
 * dimension is, a blocked transpose, else the general loop with its dimensions sorted by the
 * source's stride, then the destination's. The device's counterpart is slc_stream_copy_strided.
 *
 *     SLC_TRY(slc_copy_host(dst, &dst_layout, src, &src_layout));
 */
#ifndef SLC_CORE_COPY_H
#define SLC_CORE_COPY_H

#include "core/layout.h"
#include "core/pool.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies src to dst (host memory, same shape and dtype, not overlapping). A source stride of 0
 * broadcasts. SLC_ERROR_ARGUMENT when shapes or dtypes differ. */
SLC_API SLC_MUST_USE slc_status slc_copy_host(void *dst, const slc_layout *dst_layout,
                                              const void *src, const slc_layout *src_layout);

/* The same into a part of an array of `dst_bytes` that is written part by part: where the whole is
 * too large for the caches the part goes past them, however small it is. */
SLC_API SLC_MUST_USE slc_status slc_copy_host_part(void *dst, const slc_layout *dst_layout,
                                                   const void *src, const slc_layout *src_layout,
                                                   int64_t dst_bytes);

/* slc_copy_host on all threads of the pool (lent for the call), where there is enough to share out.
 * Never call it from a task of the pool. */
SLC_API SLC_MUST_USE slc_status slc_copy_host_parallel(slc_pool *pool, void *dst,
                                                       const slc_layout *dst_layout,
                                                       const void *src,
                                                       const slc_layout *src_layout);

#ifdef __cplusplus
}
#endif
#endif
