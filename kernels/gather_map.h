/* Where the indices of a gather point, coarsely: each dimension of the data is divided into at most
 * SLC_GATHER_PARTS equal parts with a bit each, which is set where some index lies. Of data that passes
 * by in tiles, those that no index can point into are left out: for few indices into much data, nearly
 * all.
 *
 *     slc_gather_map_init(map, rank, shape);
 *     slc_gather_map_note(map, 0, index);             for every index, or coordinate of dimension 0
 *     if (slc_gather_map_holds(map, 0, begin, end)) …
 */
#ifndef SLC_KERNELS_GATHER_MAP_H
#define SLC_KERNELS_GATHER_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/api.h"
#include "core/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_GATHER_PARTS 65536

/* Plain data of 64 KiB. */
typedef struct slc_gather_map {
    int64_t extent[SLC_MAX_RANK];
    int shift[SLC_MAX_RANK]; /* a part of dimension d has 2^shift[d] elements */
    uint64_t bits[SLC_MAX_RANK][SLC_GATHER_PARTS / 64];
} slc_gather_map;

/* No index yet, in data of `shape` [rank], extents 0 or more. */
SLC_API void slc_gather_map_init(slc_gather_map *map, int rank, const int64_t *shape);

/* An index along dimension d, 0 to extent[d] - 1. */
static inline void slc_gather_map_note(slc_gather_map *map, int d, int64_t index) {
    const int64_t part = index >> map->shift[d];
    map->bits[d][part / 64] |= UINT64_C(1) << (part % 64);
}

/* Whether an index may lie in begin … end - 1 of dimension d. False is certain. */
SLC_API bool slc_gather_map_holds(const slc_gather_map *map, int d, int64_t begin, int64_t end);

/* Tiles of `tile` elements along dimension d that may hold an index, of how many there are. */
SLC_API double slc_gather_map_share(const slc_gather_map *map, int d, int64_t tile);

#ifdef __cplusplus
}
#endif
#endif
