#include "tests/support/test_support.h"

#include "io/spill.h"

/* The array [23, 17, 31] in blocks that divide nothing; element number k is k. */
enum { NZ = 23, NY = 17, NX = 31, N = NZ * NY * NX };

static slc_spill *make(const test_place *place, const int64_t block[3]) {
    slc_spill_options options = {.beside = place->path, .block = {block[0], block[1], block[2]}};
    slc_spill *spill = NULL;
    TEST_OK(slc_layout_dense(SLC_I32, 3, (const int64_t[]){NZ, NY, NX}, &options.layout));
    TEST_OK(slc_spill_create(&options, &spill));
    return spill;
}

/* Boxes of this extent that cover the array, each given to `use`. */
static void for_boxes(slc_spill *spill, const int64_t extent[3],
                      void (*use)(slc_spill *spill, const slc_box *box)) {
    const int64_t shape[3] = {NZ, NY, NX};
    slc_box box = {.rank = 3};
    for (box.origin[0] = 0; box.origin[0] < NZ; box.origin[0] += extent[0]) {
        for (box.origin[1] = 0; box.origin[1] < NY; box.origin[1] += extent[1]) {
            for (box.origin[2] = 0; box.origin[2] < NX; box.origin[2] += extent[2]) {
                for (int d = 0; d < 3; d++) {
                    const int64_t left = shape[d] - box.origin[d];
                    box.extent[d] = extent[d] < left ? extent[d] : left;
                }
                use(spill, &box);
            }
        }
    }
}

static int32_t number_at(const slc_box *box, int64_t k) {
    const int64_t z = box->origin[0] + k / (box->extent[1] * box->extent[2]);
    const int64_t y = box->origin[1] + k / box->extent[2] % box->extent[1];
    const int64_t x = box->origin[2] + k % box->extent[2];
    return (int32_t)((z * NY + y) * NX + x);
}

static void write_box(slc_spill *spill, const slc_box *box) {
    static int32_t values[N];
    for (int64_t k = 0; k < slc_box_count(box); k++) {
        values[k] = number_at(box, k);
    }
    TEST_OK(slc_sink_write(slc_spill_sink(spill), box, values));
}

static void check_box(slc_spill *spill, const slc_box *box) {
    static int32_t values[N];
    void *dst[] = {values};
    TEST_OK(slc_source_read(slc_spill_source(spill), box, dst));
    for (int64_t k = 0; k < slc_box_count(box); k++) {
        assert_int_equal(values[k], number_at(box, k));
    }
}

static void any_boxes_in_any_blocks(void **state) {
    const test_place *place = *state;
    static const int64_t blocks[][3] = {
        {1, 1, 1}, {5, 4, 8}, {23, 17, 31}, {2, 17, 31}, {40, 3, 7}};
    static const int64_t boxes[][3] = {
        {23, 17, 31}, {1, 17, 31}, {7, 2, 31}, {23, 3, 5}, {4, 4, 4}};
    for (int64_t b = 0; b < TEST_COUNT(blocks); b++) {
        for (int64_t k = 0; k < TEST_COUNT(boxes); k++) {
            slc_spill *spill = make(place, blocks[b]);
            for_boxes(spill, boxes[k], write_box);
            TEST_OK(slc_sink_commit(slc_spill_sink(spill)));
            for_boxes(spill, boxes[(k + 2) % TEST_COUNT(boxes)], check_box);
            assert_int_equal(test_directory_count(place->directory), 0); /* it has no name */
            slc_spill_destroy(spill);
        }
    }
}

static void an_unwritten_array_is_zero(void **state) {
    const test_place *place = *state;
    slc_spill *spill = make(place, (const int64_t[]){8, 8, 8});
    static int32_t values[N] = {1};
    void *dst[] = {values};
    const slc_box box = {.rank = 3, .extent = {NZ, NY, NX}};
    TEST_OK(slc_source_read(slc_spill_source(spill), &box, dst));
    for (int k = 0; k < N; k++) {
        assert_int_equal(values[k], 0);
    }
    slc_spill_destroy(spill);
    slc_spill_destroy(NULL);
}

static void what_cannot_be_is_said(void **state) {
    const test_place *place = *state;
    char path[TEST_PATH_BYTES];
    slc_spill *spill = NULL;
    slc_spill_options options = {.block = {1, 1}};
    test_join(place->directory, "none/out.h5", path);
    options.beside = path;
    TEST_OK(slc_layout_dense(SLC_F32, 2, (const int64_t[]){4, 4}, &options.layout));
    TEST_FAILS(slc_spill_create(&options, &spill), SLC_ERROR_OUTPUT,
               "cannot make a temporary file");
    options.beside = place->path;
    options.block[0] = INT64_C(1) << 62;
    TEST_FAILS(slc_spill_create(&options, &spill), SLC_ERROR_ARGUMENT, "63 bits");
    options.block[0] = INT64_C(1) << 55; /* more than any disk has */
    TEST_FAILS(slc_spill_create(&options, &spill), SLC_ERROR_OUTPUT, "temporary file");
}

static int set_up(void **state) {
    return test_place_create(state, "out.h5") == NULL;
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(any_boxes_in_any_blocks),
        CASE(an_unwritten_array_is_zero),
        CASE(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
