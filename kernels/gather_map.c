/* Parts are powers of two long, so that noting an index costs a shift and not a division. */
#include "kernels/gather_map.h"

#include <string.h>

#include "core/checked.h"

void slc_gather_map_init(slc_gather_map *map, int rank, const int64_t *shape) {
    memset(map, 0, sizeof *map);
    for (int d = 0; d < rank; d++) {
        map->extent[d] = shape[d];
        while ((slc_max_i64(shape[d], 1) - 1) >> map->shift[d] >= SLC_GATHER_PARTS) {
            map->shift[d]++;
        }
    }
}

static bool is_set(const slc_gather_map *map, int d, int64_t part) {
    return (map->bits[d][part / 64] >> (part % 64) & 1) != 0;
}

bool slc_gather_map_holds(const slc_gather_map *map, int d, int64_t begin, int64_t end) {
    const int64_t last = slc_min_i64(end, map->extent[d]) - 1;
    if (begin > last) {
        return false;
    }
    const int64_t last_part = last >> map->shift[d];
    int64_t part = begin >> map->shift[d];
    while (part <= last_part && !is_set(map, d, part)) {
        /* A word without a bit is left behind at once. */
        part += map->bits[d][part / 64] == 0 ? 64 - part % 64 : 1;
    }
    return part <= last_part;
}

double slc_gather_map_share(const slc_gather_map *map, int d, int64_t tile) {
    const int64_t n_tiles = slc_ceil_div(map->extent[d], tile);
    int64_t n_held = 0;
    int64_t next = 0; /* the first tile that is not counted yet */
    for (int64_t part = 0; part < SLC_GATHER_PARTS; part++) {
        const int64_t begin = part << map->shift[d];
        if (begin >= map->extent[d]) {
            break;
        }
        if (is_set(map, d, part)) {
            const int64_t size = INT64_C(1) << map->shift[d];
            const int64_t end = map->extent[d] - begin > size ? begin + size : map->extent[d];
            const int64_t first_tile = slc_max_i64(begin / tile, next);
            next = (end - 1) / tile + 1;
            n_held += slc_max_i64(next - first_tile, 0);
        }
    }
    return n_tiles > 0 ? (double)n_held / (double)n_tiles : 1;
}
