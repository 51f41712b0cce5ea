#include "core/arena.h"

#include <assert.h>

#include "core/checked.h"

void slc_arena_init(slc_arena *arena, void *base, int64_t size_bytes) {
    assert(size_bytes >= 0);
    assert((uintptr_t)base % SLC_ARENA_ALIGNMENT == 0);
    arena->base = base;
    arena->size_bytes = size_bytes;
    arena->used_bytes = 0;
}

int64_t slc_arena_cost(int64_t bytes) {
    /* A piece that cannot be rounded up costs more than any slab has. */
    if (bytes > INT64_MAX - SLC_ARENA_ALIGNMENT) {
        return INT64_MAX;
    }
    return slc_round_up(bytes, SLC_ARENA_ALIGNMENT);
}

slc_status slc_arena_take(slc_arena *arena, int64_t bytes, const char *what, void **out) {
    if (bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a size of %lld bytes is negative", what,
                        (long long)bytes);
    }
    const int64_t cost = slc_arena_cost(bytes);
    if (cost > arena->size_bytes - arena->used_bytes) {
        return SLC_FAIL(SLC_ERROR_MEMORY,
                        "%s: %lld bytes do not fit the slab: %lld of %lld bytes are used", what,
                        (long long)bytes, (long long)arena->used_bytes,
                        (long long)arena->size_bytes);
    }
    *out = arena->base + arena->used_bytes;
    arena->used_bytes += cost;
    return SLC_OK;
}
