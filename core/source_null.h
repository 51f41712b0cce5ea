/* A source that delivers nothing and a sink that takes nothing, at no cost: for measuring what the
 * engine, the bus and the device do by themselves. Internal to Sluice.
 *
 *     slc_source *source;
 *     SLC_TRY(slci_source_create_null("in", &layout, &source));
 */
#ifndef SLC_CORE_SOURCE_NULL_H
#define SLC_CORE_SOURCE_NULL_H

#include "core/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One field of the layout's shape and dtype; reading leaves the destination as it is.
 * SLC_ERROR_ARGUMENT when the layout's size does not fit int64_t, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_source_create_null(const char *name, const slc_layout *layout,
                                                slc_source **out);

/* Takes boxes of any number of threads at once. */
SLC_MUST_USE slc_status slci_sink_create_null(const char *name, const slc_layout *layout,
                                              slc_sink **out);

#ifdef __cplusplus
}
#endif
#endif
