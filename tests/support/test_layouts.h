/* Layouts for tests of copies, and where their elements lie by definition.
 *
 *     const test_pair pair = test_random_pair(&random, TEST_PAIR_BROADCAST);
 *     ... copy pair.src to pair.dst ...
 *     test_expect_copied(&pair, dst, src, fill);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_LAYOUTS_H
#define SLC_TESTS_SUPPORT_TEST_LAYOUTS_H

#include "tests/support/test_support.h"

#include "core/layout.h"

/* A dtype of each element size. */
#define TEST_N_SIZES 5
extern const slc_dtype test_every_size[TEST_N_SIZES];

slc_layout test_dense(slc_dtype dtype, int rank, const int64_t *shape);

/* Where element `number` (counted in C order) of `layout` lies, in bytes from the base pointer. */
int64_t test_place_of(const slc_layout *layout, int64_t number);

/* Two layouts of one shape; everything lies within [0, bytes) of its buffer. */
typedef struct test_pair {
    slc_layout dst, src;
    int64_t dst_bytes, src_bytes;
} test_pair;

typedef enum test_pair_kind {
    TEST_PAIR_VIEWS,    /* permuted, cut and reversed on both sides */
    TEST_PAIR_BROADCAST /* and some source strides of 0 */
} test_pair_kind;

/* Rank 0 to SLC_MAX_RANK, any element size, on addresses that are multiples of it; some of the
 * extents are those of a block of a copy. At most 2^17 elements. */
test_pair test_random_pair(uint64_t *random, test_pair_kind kind);

/* Every element of dst is the source's, and every byte between them still has the value `fill`. */
void test_expect_copied(const test_pair *pair, const void *dst, const void *src, uint8_t fill);

#endif
