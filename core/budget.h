/* The ledger of memory: a hard limit, what is used and the peak, for device and host memory.
 * Everything the engine allocates is reserved here first. A reservation that would pass the limit
 * fails and changes nothing; it never overdraws. Zero is zero: there are no default limits.
 *
 *     slc_budget *budget;
 *     SLC_TRY(slc_budget_create(512 << 20, 4LL << 30, &budget));
 *     SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_DEVICE, bytes, "image"));
 *     slc_budget_release(budget, SLC_SPACE_DEVICE, bytes);
 */
#ifndef SLC_CORE_BUDGET_H
#define SLC_CORE_BUDGET_H

#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_space {
    SLC_SPACE_DEVICE, /* the device's memory: --vram (on the host device, the arena in RAM) */
    SLC_SPACE_HOST,   /* pinned, mapped and ordinary memory for data: --ram */
    SLC_SPACE_COUNT
} slc_space;

typedef struct slc_budget slc_budget;

typedef struct slc_budget_use {
    int64_t limit_bytes;
    int64_t used_bytes;
    int64_t peak_bytes;
    int64_t foreign_bytes; /* part of used: what libraries took outside the slab, as measured */
} slc_budget_use;

/* The caller owns the ledger. SLC_ERROR_ARGUMENT for a negative limit, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_budget_create(int64_t device_limit_bytes,
                                                  int64_t host_limit_bytes, slc_budget **out);
SLC_API void slc_budget_destroy(slc_budget *budget);

/* Takes `bytes` (>= 0) of `space` for `what` (named in the error). SLC_ERROR_MEMORY when it does not
 * fit, with what is used and the limit in the message. Thread-safe. */
SLC_API SLC_MUST_USE slc_status slc_budget_reserve(slc_budget *budget, slc_space space,
                                                   int64_t bytes, const char *what);

/* As reserve, and listed as foreign. Nothing in Sluice uses it yet; jobs whose libraries (cuFFT,
 * cuBLAS) take memory outside the slab will. */
SLC_API SLC_MUST_USE slc_status slc_budget_reserve_foreign(slc_budget *budget, slc_space space,
                                                           int64_t bytes, const char *what);

/* Gives back `bytes` reserved before. Giving back more than is used is a bug in the caller. */
SLC_API void slc_budget_release(slc_budget *budget, slc_space space, int64_t bytes);

/* Told of every change of `space`, with its use after it, in the order in which they happen and with
 * the ledger's lock held: it must be quick and must not call the ledger. */
typedef void (*slc_budget_observer)(void *context, slc_space space, const slc_budget_use *use);

/* One observer, called at once with the use of both spaces and after every change from then on; NULL
 * ends it. `context` is lent until then. */
SLC_API void slc_budget_observe(slc_budget *budget, slc_budget_observer observer, void *context);

SLC_API slc_budget_use slc_budget_get(const slc_budget *budget, slc_space space);

#ifdef __cplusplus
}
#endif
#endif
