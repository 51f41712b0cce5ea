/* HDF5 files with a part of them changed, and what is made of them, in a process of its own: what HDF5
 * does with some damage cannot be outlived.
 *
 *     test_content file = test_content_read(path);
 *     file.bytes[test_content_find(&file, "FAHD", 0) + 6] ^= 1;
 *     test_content_store(other, &file);
 *     found = test_look_apart(look, &context, "an entry's size");
 */
#ifndef SLC_TESTS_SUPPORT_TEST_DAMAGE_H
#define SLC_TESTS_SUPPORT_TEST_DAMAGE_H

#include "tests/support/test_support.h"

typedef struct test_content {
    unsigned char *bytes; /* [n], the caller frees */
    int64_t n;
} test_content;

test_content test_content_read(const char *path);
void test_content_store(const char *path, const test_content *file);

/* The first place of four letters from byte `from` on; negative: nowhere. */
int64_t test_content_find(const test_content *file, const char *what, int64_t from);

/* Where the checksum stands of the block that begins at a place, as long as it is right; negative:
 * nowhere. And another one that is right, of what the block is now. */
int64_t test_content_find_sum(const test_content *file, int64_t block);
void test_content_put_sum(test_content *file, int64_t block, int64_t sum_at);

/* Eight bytes, the lowest first. */
void test_content_put_number(unsigned char *to, int64_t number);

/* The group "/g" of a file into a new one: SLC_OK, SLC_ERROR_INPUT, or SLC_ERROR_INTERNAL where it
 * ends in nothing that can be told the user. */
slc_status test_damage_copy(const char *from, const char *to);

/* Whether reading may end so, of a file that may be damaged. */
bool test_damage_is_status(slc_status status);

/* What look(context) returns, less than TEST_LOOK_WRONG; that, with words, where it is, or where the
 * process was ended by a signal or took more than some seconds. */
enum { TEST_LOOK_WRONG = 4 };
typedef int (*test_look)(const void *context);
int test_look_apart(test_look look, const void *context, const char *what);

#endif
