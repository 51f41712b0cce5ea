/* An array that owns its memory: in the device's memory, pinned on the host, or mapped.
 * The one object for callers who want memory that the budget knows about. Kernels take `d_data`,
 * which for a mapped array is the device alias, never the host pointer. Nothing in Sluice uses it yet:
 * it is for callers, and sparse operands that stay mapped will be such arrays.
 *
 *     slc_array *table;
 *     SLC_TRY(slc_array_create(device, budget, SLC_ARRAY_MAPPED, &layout, &table));
 *     float *host = table->host;           // fill it here, let a kernel read table->d_data
 */
#ifndef SLC_CORE_ARRAY_H
#define SLC_CORE_ARRAY_H

#include <stdint.h>

#include "core/budget.h"
#include "core/device.h"
#include "core/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_array_kind {
    SLC_ARRAY_DEVICE, /* host is NULL */
    SLC_ARRAY_PINNED, /* d_data is NULL */
    SLC_ARRAY_MAPPED  /* both: one memory, two addresses */
} slc_array_kind;

typedef struct slc_array {
    slc_array_kind kind;
    slc_layout layout; /* dense */
    void *host;
    void *d_data;
    slc_device *device; /* lent */
    slc_budget *budget; /* lent; may be NULL */
    slc_pinned pinned;
    slc_mapped mapped;
} slc_array;

/* What an array of this layout takes from the budget. */
SLC_API int64_t slc_array_bytes(const slc_layout *layout);

/* Allocates for a dense layout of at least one element; contents undefined. The caller owns the
 * array; device and budget must outlive it. SLC_ERROR_MEMORY, SLC_ERROR_ARGUMENT. */
SLC_API SLC_MUST_USE slc_status slc_array_create(slc_device *device, slc_budget *budget,
                                                 slc_array_kind kind, const slc_layout *layout,
                                                 slc_array **out);
SLC_API void slc_array_destroy(slc_array *array);

#ifdef __cplusplus
}
#endif
#endif
