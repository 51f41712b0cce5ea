/* Boxes of an array in blocks: whatever boxes and turns, each element comes to its place in the file,
 * in no more calls than there are runs, and back. */
#include "io/block_move.h"

#include "core/checked.h"
#include "tests/support/test_support.h"

/* A file in memory. */
typedef struct memory_file {
    unsigned char *bytes;
    int64_t n_bytes, n_calls, fails_at;
    bool is_read;
} memory_file;

static slc_status move(void *context, void *data, int64_t n_bytes, int64_t at) {
    memory_file *file = context;
    assert_true(at >= 0 && n_bytes > 0 && at + n_bytes <= file->n_bytes);
    if (++file->n_calls == file->fails_at) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "the disk is full");
    }
    if (file->is_read) {
        memcpy(data, file->bytes + at, (size_t)n_bytes);
    } else {
        memcpy(file->bytes + at, data, (size_t)n_bytes);
    }
    return SLC_OK;
}

typedef struct shape {
    int rank;
    int64_t shape[SLC_MAX_RANK], block[SLC_MAX_RANK];
} shape;

static const shape shapes[] = {
    {0, {0}, {0}},
    {1, {100}, {100}},
    {1, {100}, {7}},
    {2, {30, 41}, {30, 41}},
    {2, {30, 41}, {4, 41}},
    {2, {30, 41}, {30, 5}},
    {3, {9, 10, 11}, {4, 10, 3}},
    {4, {3, 4, 5, 6}, {2, 3, 5, 6}},
    {2, {3, 40000}, {2, 30000}}, /* a block is larger than the memory that pieces go through */
};

static int64_t n_blocks_of(const shape *form) {
    int64_t n = 1;
    for (int d = 0; d < form->rank; d++) {
        n *= slc_ceil_div(form->shape[d], form->block[d]);
    }
    return n;
}

static slci_blocks blocks_of(const shape *form, memory_file *file) {
    slci_blocks blocks = {.move = move, .context = file, .first_place = 5};
    TEST_OK(slc_layout_dense(SLC_C64, form->rank, form->shape, &blocks.layout));
    memcpy(blocks.block, form->block, sizeof blocks.block);
    return blocks;
}

/* Of the element at `index` [rank], by arithmetic of its own: block by block in a shuffled order. */
static int64_t place_of(const shape *form, const uint64_t *places, const int64_t *index) {
    int64_t block = 0;
    int64_t within = 0;
    for (int d = 0; d < form->rank; d++) {
        block = block * slc_ceil_div(form->shape[d], form->block[d]) + index[d] / form->block[d];
        within = within * form->block[d] + index[d] % form->block[d];
    }
    return 5 + (int64_t)places[block] + within * 8;
}

static slc_box random_box(const shape *form, uint64_t *seed) {
    slc_box box = {.rank = form->rank};
    for (int d = 0; d < form->rank; d++) {
        box.origin[d] = test_random_below(seed, form->shape[d]);
        box.extent[d] = 1 + test_random_below(seed, form->shape[d] - box.origin[d]);
    }
    return box;
}

/* What the file must hold of element `index` where bytes and parts are turned or not. */
static void expected_bytes(const slci_turn *turn, const unsigned char *element,
                           unsigned char out[8]) {
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < 4; k++) {
            const int from = turn->swaps_parts ? 1 - part : part;
            out[4 * part + k] = element[4 * from + (turn->swaps_bytes ? 3 - k : k)];
        }
    }
}

static void check_box(const shape *form, const slci_blocks *blocks, const slc_box *box,
                      const unsigned char *data) {
    const memory_file *file = blocks->context;
    int64_t index[SLC_MAX_RANK] = {0};
    for (int64_t k = 0; k < slc_box_count(box); k++) {
        int64_t rest = k;
        for (int d = box->rank - 1; d >= 0; d--) {
            index[d] = box->origin[d] + rest % box->extent[d];
            rest /= box->extent[d];
        }
        unsigned char wanted[8];
        expected_bytes(&blocks->turn, data + 8 * k, wanted);
        assert_memory_equal(file->bytes + place_of(form, blocks->place, index), wanted, 8);
    }
}

static void try_shape(const shape *form, const slci_turn *turn, uint64_t seed) {
    const int64_t n_blocks = n_blocks_of(form);
    int64_t block_bytes = 8;
    for (int d = 0; d < form->rank; d++) {
        block_bytes *= form->block[d];
    }
    memory_file file = {.n_bytes = 5 + n_blocks * block_bytes};
    slci_blocks blocks = blocks_of(form, &file);
    blocks.turn = *turn;
    uint64_t *places = test_allocate(n_blocks * 8);
    for (int64_t k = 0; k < n_blocks; k++) {
        places[k] = (uint64_t)((n_blocks - 1 - k) * block_bytes); /* not in their order */
    }
    blocks.place = places;
    file.bytes = test_allocate(file.n_bytes);
    void *memory = test_allocate(slci_blocks_memory_bytes(&blocks) + 1);
    for (int n = 0; n < 12; n++) {
        const slc_box box = random_box(form, &seed);
        const int64_t n_bytes = slc_box_count(&box) * 8;
        unsigned char *data = test_allocate(n_bytes);
        unsigned char *back = test_allocate(n_bytes);
        test_fill(data, n_bytes, seed);
        blocks.is_read = file.is_read = false;
        TEST_OK(slci_blocks_move(&blocks, &box, data, memory));
        check_box(form, &blocks, &box, data);
        blocks.is_read = file.is_read = true;
        TEST_OK(slci_blocks_move(&blocks, &box, back, memory));
        assert_memory_equal(data, back, (size_t)n_bytes);
        free(back);
        free(data);
    }
    free(memory);
    free(file.bytes);
    free(places);
}

static void boxes_come_to_their_places(void **state) {
    (void)state;
    static const slci_turn turns[] = {
        {.part_bytes = 4},
        {.part_bytes = 4, .swaps_bytes = true},
        {.part_bytes = 4, .swaps_bytes = true, .swaps_parts = true},
    };
    for (int64_t k = 0; k < TEST_COUNT(shapes); k++) {
        for (int64_t t = 0; t < TEST_COUNT(turns); t++) {
            try_shape(&shapes[k], &turns[t], (uint64_t)(10 * k + t + 1));
        }
    }
}

/* What lies in one piece is moved in one call, and needs no memory where it is one block. */
static void runs_are_single_calls(void **state) {
    (void)state;
    unsigned char bytes[5 + 12 * 10 * 8] = {0};
    unsigned char data[12 * 10 * 8] = {0};
    memory_file file = {.bytes = bytes, .n_bytes = sizeof bytes};
    const shape whole = {2, {12, 10}, {12, 10}};
    slci_blocks blocks = blocks_of(&whole, &file);
    assert_int_equal(slci_blocks_memory_bytes(&blocks), 0);
    TEST_OK(slci_blocks_move(&blocks, &(slc_box){.rank = 2, .extent = {7, 10}}, data, NULL));
    assert_int_equal(file.n_calls, 1);
    TEST_OK(slci_blocks_move(&blocks, &(slc_box){.rank = 2, .extent = {7, 3}}, data, NULL));
    assert_int_equal(file.n_calls, 1 + 7);
    /* Rows of chunks: a whole one is one call though it is in pieces in memory. */
    const shape chunked = {2, {12, 10}, {6, 5}};
    blocks = blocks_of(&chunked, &file);
    char memory[6 * 5 * 8];
    assert_int_equal(slci_blocks_memory_bytes(&blocks), sizeof memory);
    file.n_calls = 0;
    TEST_OK(slci_blocks_move(&blocks, &(slc_box){.rank = 2, .extent = {12, 10}}, data, memory));
    assert_int_equal(file.n_calls, 4);
    TEST_OK(slci_blocks_move(&blocks, &(slc_box){.rank = 2, .extent = {0, 10}}, data, memory));
    assert_int_equal(file.n_calls, 4);
}

static void the_first_failure_ends_it(void **state) {
    (void)state;
    unsigned char bytes[5 + 12 * 8] = {0};
    unsigned char data[12 * 8] = {0};
    memory_file file = {.bytes = bytes, .n_bytes = sizeof bytes, .fails_at = 2};
    const shape form = {1, {12}, {3}};
    const slci_blocks blocks = blocks_of(&form, &file);
    char memory[3 * 8];
    TEST_FAILS(slci_blocks_move(&blocks, &(slc_box){.rank = 1, .extent = {12}}, data, memory),
               SLC_ERROR_OUTPUT, "the disk is full");
    assert_int_equal(file.n_calls, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_come_to_their_places),
        cmocka_unit_test(runs_are_single_calls),
        cmocka_unit_test(the_first_failure_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
