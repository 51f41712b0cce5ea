/* The unsorted copy on a card. */
#include "core/copy_unsorted.h"

#include "core/copy_cuda.h"

slc_status slci_copy_unsorted_cuda(slc_stream *stream, void *d_dst, const slc_layout *dst_layout,
                                   const void *d_src, const slc_layout *src_layout) {
    slci_copy_plan plan;
    slci_copy_plan_init_unsorted(dst_layout, src_layout, &plan);
    return slc_cuda_status(slci_copy_cuda_launch(d_dst, d_src, &plan, slc_stream_get_cuda(stream)),
                           "launching an unsorted copy");
}
