/* The map of indices against a list of flags: what it denies is never there, and what it affirms is no
 * farther away than a part. */
#include <stdlib.h>

#include "kernels/gather_map.h"
#include "tests/support/test_support.h"

enum { N_INDEX = 12, N_LOOKS = 300 };

/* The least power of two of which SLC_GATHER_PARTS hold the extent. */
static int64_t part_of(int64_t extent) {
    int64_t part = 1;
    while ((extent + part - 1) / part > SLC_GATHER_PARTS) {
        part *= 2;
    }
    return part;
}

static int64_t nearest(const int64_t *index, int64_t begin, int64_t end) {
    int64_t least = INT64_MAX;
    for (int k = 0; k < N_INDEX; k++) {
        const int64_t away = index[k] < begin  ? begin - index[k]
                             : index[k] >= end ? index[k] - end + 1
                                               : 0;
        least = away < least ? away : least;
    }
    return least;
}

static void what_is_denied_is_not_there(void **state) {
    (void)state;
    static const int64_t extents[] = {1, 63, 64, 1000, 65536, 65537, 1000003, INT64_C(1) << 40};
    slc_gather_map *map = test_allocate((int64_t)sizeof *map);
    uint64_t random = 5;
    for (int64_t e = 0; e < TEST_COUNT(extents); e++) {
        const int64_t shape[2] = {7, extents[e]};
        int64_t index[N_INDEX];
        slc_gather_map_init(map, 2, shape);
        assert_false(slc_gather_map_holds(map, 1, 0, extents[e]));
        for (int k = 0; k < N_INDEX; k++) {
            index[k] = k == 0 ? extents[e] - 1 : test_random_below(&random, extents[e]);
            slc_gather_map_note(map, 1, index[k]);
        }
        assert_false(slc_gather_map_holds(map, 0, 0, 7));
        for (int look = 0; look < N_LOOKS; look++) {
            const int64_t begin = test_random_below(&random, extents[e]);
            const int64_t end = begin + 1 + test_random_below(&random, extents[e] - begin);
            const int64_t away = nearest(index, begin, end);
            if (slc_gather_map_holds(map, 1, begin, end)) {
                assert_true(away < part_of(extents[e]));
            } else {
                assert_true(away > 0);
            }
        }
    }
    free(map);
}

static void the_share_is_that_of_the_tiles(void **state) {
    (void)state;
    static const int64_t tiles[] = {1, 3, 64, 1000, 70000, 200001};
    const int64_t extent = 200001;
    slc_gather_map *map = test_allocate((int64_t)sizeof *map);
    uint64_t random = 6;
    slc_gather_map_init(map, 1, &extent);
    for (int k = 0; k < N_INDEX; k++) {
        slc_gather_map_note(map, 0, test_random_below(&random, extent));
    }
    for (int64_t t = 0; t < TEST_COUNT(tiles); t++) {
        int64_t n_held = 0;
        int64_t n = 0;
        for (int64_t begin = 0; begin < extent; begin += tiles[t]) {
            n_held += slc_gather_map_holds(map, 0, begin, begin + tiles[t]);
            n++;
        }
        assert_true(slc_gather_map_share(map, 0, tiles[t]) == (double)n_held / (double)n);
    }
    free(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_denied_is_not_there),
        cmocka_unit_test(the_share_is_that_of_the_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
