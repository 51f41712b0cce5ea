/* A part of a source's array as a source, by a slice (core/slice.h), and its elements as another type
 * where that is wanted.
 *
 *     const slc_source_view view = {.slice = slice};     // zeros: everything, as it is
 *     SLC_TRY(slc_source_slice(inner, &view, &rows));    // inner [5, 7] under [1:, 0] is now [4]
 */
#ifndef SLC_CORE_SOURCE_SLICE_H
#define SLC_CORE_SOURCE_SLICE_H

#include "core/convert.h"
#include "core/slice.h"
#include "core/source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_source_view {
    slc_slice slice;
    bool converts; /* elements become `dtype` (core/convert.h) */
    slc_dtype dtype;
    bool saturates;
} slc_source_view;

/* A source over `inner` (lent for the source's life), which has one field, all of whose dimensions
 * are shared. A read takes no element of the inner source twice; where a step leaves elements out, it
 * reads a few units (chunks) or 256 KiB at a time and picks, and units that hold nothing wanted are
 * not read. Counters are the inner source's; the identity tells views apart. SLC_ERROR_ARGUMENT,
 * SLC_ERROR_MEMORY; a read also gives SLC_ERROR_INPUT for an element that the type cannot hold, with
 * its place and value. */
SLC_API SLC_MUST_USE slc_status slc_source_slice(slc_source *inner, const slc_source_view *view,
                                                 slc_source **out);

/* Memory that each thread reading from such a source takes meanwhile; 0 where every step is 1 and
 * nothing is converted. */
SLC_API int64_t slc_source_slice_bytes(const slc_source *source);

/* Elements so far that were finite and, as the other type, are infinite. */
SLC_API int64_t slc_source_slice_infinite(const slc_source *source);

/* Whether a read failed because the other type cannot hold a value, which `saturates` allows. */
SLC_API bool slc_source_slice_has_refused(const slc_source *source);

#ifdef __cplusplus
}
#endif
#endif
