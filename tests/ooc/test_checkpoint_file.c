#include "tests/support/test_support.h"

#include <fcntl.h>
#include <unistd.h>

#include "ooc/checkpoint_file.h"

typedef struct file {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
    int fd;
} file;

static void file_open(file *self) {
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    test_directory_create(self->directory);
    test_join(self->directory, "blocks", self->path);
    self->fd = open(self->path, O_RDWR | O_CREAT, 0600);
    assert_true(self->fd >= 0);
}

static void file_close(file *self) {
    (void)close(self->fd);
    test_directory_remove(self->directory);
}

static void write_block(slci_block_writer *writer, int kind, const char *text) {
    const int64_t n = (int64_t)strlen(text);
    TEST_OK(slci_block_begin(writer, kind, n));
    TEST_OK(slci_block_add(writer, text, n / 2)); /* in two pieces: the sum is over both */
    TEST_OK(slci_block_add(writer, text + n / 2, n - n / 2));
    TEST_OK(slci_block_end(writer));
}

static void expect_block(slci_block_reader *reader, int kind, const char *text) {
    char found[64] = {0};
    int found_kind = 0;
    int64_t n = 0;
    TEST_OK(slci_block_next(reader, &found_kind, &n));
    assert_int_equal(found_kind, kind);
    assert_int_equal(n, strlen(text));
    TEST_OK(slci_block_read(reader, found, n));
    TEST_OK(slci_block_close(reader));
    assert_string_equal(found, text);
}

static void blocks_come_back(void **state) {
    (void)state;
    file self;
    file_open(&self);
    slci_block_writer writer = {.fd = self.fd, .name = self.path};
    write_block(&writer, 3, "first");
    write_block(&writer, 4, "");
    /* A copy of the writer takes back what came after it. */
    const slci_block_writer before = writer;
    write_block(&writer, 5, "never mind");
    writer = before;
    write_block(&writer, 6, "third");
    slci_block_reader reader = {.fd = self.fd, .name = self.path, .end = writer.at};
    expect_block(&reader, 3, "first");
    const slci_block_reader here = reader;
    expect_block(&reader, 4, "");
    reader = here;
    expect_block(&reader, 4, "");
    expect_block(&reader, 6, "third");
    int kind = 0;
    int64_t n = 0;
    TEST_FAILS(slci_block_next(&reader, &kind, &n), SLC_ERROR_INPUT, "ends");
    file_close(&self);
}

/* Two blocks of one length in exchanged order have right checksums of their own. */
static void blocks_exchanged_are_found(void **state) {
    (void)state;
    file self;
    file_open(&self);
    slci_block_writer writer = {.fd = self.fd, .name = self.path};
    write_block(&writer, 1, "aaaa");
    write_block(&writer, 1, "bbbb");
    const int64_t half = writer.at / 2;
    char data[256];
    assert_int_equal(pread(self.fd, data, (size_t)writer.at, 0), writer.at);
    assert_int_equal(pwrite(self.fd, data + half, (size_t)half, 0), half);
    assert_int_equal(pwrite(self.fd, data, (size_t)half, (off_t)half), half);
    slci_block_reader reader = {.fd = self.fd, .name = self.path, .end = writer.at};
    int kind = 0;
    int64_t n = 0;
    TEST_FAILS(slci_block_next(&reader, &kind, &n), SLC_ERROR_INPUT, "header");
    file_close(&self);
}

static void blocks_of_another_length_are_found(void **state) {
    (void)state;
    file self;
    file_open(&self);
    slci_block_writer writer = {.fd = self.fd, .name = self.path};
    write_block(&writer, 1, "abcdefgh");
    slci_block_reader reader = {.fd = self.fd, .name = self.path, .end = writer.at};
    int kind = 0;
    int64_t n = 0;
    char data[16];
    TEST_OK(slci_block_next(&reader, &kind, &n));
    TEST_FAILS(slci_block_read(&reader, data, 9), SLC_ERROR_INPUT, "shorter");
    TEST_OK(slci_block_read(&reader, data, 7));
    TEST_FAILS(slci_block_close(&reader), SLC_ERROR_INPUT, "longer");
    file_close(&self);
}

static int64_t product(const slc_box *box) {
    int64_t n = 1;
    for (int d = 0; d < box->rank; d++) {
        n *= box->extent[d];
    }
    return n;
}

/* Where the box's first element is in the C order of the whole box. */
static int64_t place_of(const slc_box *whole, const slc_box *part) {
    int64_t at = 0;
    for (int d = 0; d < whole->rank; d++) {
        at = at * whole->extent[d] + part->origin[d] - whole->origin[d];
    }
    return at;
}

/* The element whose place is `n` further than the part's first: its coordinates lie in the part. */
static bool holds_place(const slc_box *whole, const slc_box *part, int64_t place) {
    for (int d = whole->rank - 1; d >= 0; d--) {
        const int64_t at = whole->origin[d] + place % whole->extent[d];
        if (at < part->origin[d] || at >= part->origin[d] + part->extent[d]) {
            return false;
        }
        place /= whole->extent[d];
    }
    return true;
}

/* Parts one after another are the box's elements in C order, none larger than allowed. */
static void parts_are_the_box_in_order(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < 300; k++) {
        slc_box whole = {.rank = (int)test_random_below(&seed, 4)};
        for (int d = 0; d < whole.rank; d++) {
            whole.origin[d] = test_random_below(&seed, 9);
            whole.extent[d] = 1 + test_random_below(&seed, 7);
        }
        const int64_t most = 1 + test_random_below(&seed, 60);
        slci_parts parts = slci_parts_of(&whole, most);
        int64_t next = 0;
        while (slci_parts_next(&parts)) {
            const int64_t n = product(&parts.part);
            assert_true(n >= 1 && n <= most);
            assert_int_equal(place_of(&whole, &parts.part), next);
            for (int64_t e = 0; e < n; e++) {
                assert_true(holds_place(&whole, &parts.part, next + e));
            }
            next += n;
        }
        assert_int_equal(next, product(&whole));
    }
    slc_box empty = {.rank = 2, .extent = {3, 0}};
    slci_parts none = slci_parts_of(&empty, 5);
    assert_false(slci_parts_next(&none));
}

/* Elements of a part that are neighbours in the array form runs; all runs of a part have one length,
 * and one distance from each other. */
static bool is_rows_with_a_pitch(const slc_box *part, const int64_t *shape) {
    int64_t stride = 1;
    int n_broken =
        0; /* dimensions of more than one index that do not go on where the inner ones end */
    int64_t run = 1;
    for (int d = part->rank - 1; d >= 0; d--) {
        if (part->extent[d] > 1 && run == stride) {
            run *= part->extent[d];
        } else if (part->extent[d] > 1) {
            n_broken++;
        }
        stride *= shape[d];
    }
    return n_broken <= 1;
}

static void parts_can_be_copied(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int k = 0; k < 500; k++) {
        slc_box whole = {.rank = (int)test_random_below(&seed, 5)};
        int64_t shape[SLC_MAX_RANK] = {0};
        for (int d = 0; d < whole.rank; d++) {
            whole.origin[d] = test_random_below(&seed, 9);
            whole.extent[d] = 1 + test_random_below(&seed, 5);
            shape[d] = whole.extent[d] + test_random_below(&seed, 2);
        }
        const int64_t most = 1 + test_random_below(&seed, 200);
        slci_parts parts = slci_parts_within(&whole, shape, most);
        int64_t next = 0;
        while (slci_parts_next(&parts)) {
            assert_true(product(&parts.part) <= most);
            assert_int_equal(place_of(&whole, &parts.part), next);
            assert_true(is_rows_with_a_pitch(&parts.part, shape));
            next += product(&parts.part);
        }
        assert_int_equal(next, product(&whole));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_back),
        cmocka_unit_test(blocks_exchanged_are_found),
        cmocka_unit_test(blocks_of_another_length_are_found),
        cmocka_unit_test(parts_are_the_box_in_order),
        cmocka_unit_test(parts_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
