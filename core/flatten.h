/* Several neighbouring dimensions of an array seen as one, for jobs that count along them. An index
 * array of any rank is a list to whoever gathers by it; its list's results are an array again. Runs
 * along the merged dimension become the fewest boxes of the inner source or sink.
 *
 *     SLC_TRY(slc_source_flatten(index, &(slc_flat_dims){.first = 0, .n = 2}, &list));
 *     // index [3, 4, 2] is now [12, 2]; no dimensions (n = 0) become one of extent 1
 */
#ifndef SLC_CORE_FLATTEN_H
#define SLC_CORE_FLATTEN_H

#include "core/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions first … first + n - 1. */
typedef struct slc_flat_dims {
    int first;
    int n;
} slc_flat_dims;

/* The shape with these dimensions merged. SLC_ERROR_ARGUMENT where there are no such dimensions,
 * the result has more than SLC_MAX_RANK, or the product does not fit int64_t. */
SLC_API SLC_MUST_USE slc_status slc_layout_flatten(const slc_layout *layout,
                                                   const slc_flat_dims *dims, slc_layout *out);

/* A source over `inner` (lent for the source's life), whose fields all have the merged dimensions
 * among their shared ones and which has one field if n is 0. A read is one read of the inner source
 * for each piece; a box that is more than one element in a dimension before `first` is read element
 * by element there. Counters are the inner source's. SLC_ERROR_ARGUMENT, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_source_flatten(slc_source *inner, const slc_flat_dims *dims,
                                                   slc_source **out);

/* A sink into `inner` (lent likewise): its layout is the merged one. A commit commits the inner
 * one. */
SLC_API SLC_MUST_USE slc_status slc_sink_flatten(slc_sink *inner, const slc_flat_dims *dims,
                                                 slc_sink **out);

#ifdef __cplusplus
}
#endif
#endif
