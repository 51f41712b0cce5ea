/* Hands out pieces of one slab that somebody else allocated.
 * Address arithmetic only: the slab may be device memory. Nothing is given back singly; the arena
 * ends with its slab. It starts no allocation and is not thread-safe: it is carved before a run.
 *
 *     slc_arena arena;
 *     slc_arena_init(&arena, d_slab, slab_bytes);
 *     void *d_image;
 *     SLC_TRY(slc_arena_take(&arena, image_bytes, "image", &d_image));
 */
#ifndef SLC_CORE_ARENA_H
#define SLC_CORE_ARENA_H

#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every piece starts on this boundary: enough for vector loads, cuFFT and coalesced access. */
#define SLC_ARENA_ALIGNMENT 256

typedef struct slc_arena {
    char *base; /* start of the slab, aligned to SLC_ARENA_ALIGNMENT; may be device memory */
    int64_t size_bytes;
    int64_t used_bytes;
} slc_arena;

SLC_API void slc_arena_init(slc_arena *arena, void *base, int64_t size_bytes);

/* What a piece of `bytes` costs in the slab: `bytes` rounded up to the alignment. Plans add these up,
 * so a slab of the planned size is exactly enough. */
SLC_API int64_t slc_arena_cost(int64_t bytes);

/* A piece of `bytes` (0 gives a valid, distinct-or-not pointer). SLC_ERROR_MEMORY when it is full. */
SLC_API SLC_MUST_USE slc_status slc_arena_take(slc_arena *arena, int64_t bytes, const char *what,
                                               void **out);

#ifdef __cplusplus
}
#endif
#endif
