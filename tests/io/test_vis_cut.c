/* Parts of a box of rows that threads share: together the box, cut where chunks begin, and the same
 * bits whoever reads them in whatever order. */
#include "tests/support/test_uvh5.h"

enum { ROWS = 61, CHANNELS = 3, POLS = 2, CHUNK_ROWS = 7 };

/* The set of tests/support/test_uvh5.h, its visibilities in chunks of CHUNK_ROWS rows and deflated. */
static int set_up(void **state) {
    const test_place *self = test_place_create(state, "set.uvh5");
    const hsize_t chunk[3] = {CHUNK_ROWS, CHANNELS, POLS};
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    float values[ROWS * CHANNELS * POLS * 2];
    test_uvh5_create(self->path, ROWS, CHANNELS, POLS);
    test_fill_f32(values, ROWS * CHANNELS * POLS * 2, 5);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    H5Pset_chunk(list, 3, chunk);
    H5Pset_deflate(list, 4);
    test_h5_put(self->path, "/Data/visdata", type, type, 3, shape, list, values);
    H5Tclose(type);
    H5Pclose(list);
    return 0;
}

static void parts_are_the_box(void **state) {
    const test_place *self = *state;
    slc_source *source = test_vis_open(self->path, NULL);
    assert_true(source->is_divisible);
    for (int64_t step = 1; step <= 5; step += 2) {
        for (int n_parts = 1; n_parts <= 12; n_parts++) {
            const slc_box box = slc_box_1d(5, 53);
            int64_t last = 5;
            assert_int_equal(slc_vis_cut(source, &box, step, 0, n_parts), 5);
            assert_int_equal(slc_vis_cut(source, &box, step, n_parts, n_parts), 58);
            for (int part = 1; part < n_parts; part++) {
                const int64_t row = slc_vis_cut(source, &box, step, part, n_parts);
                assert_true(row >= last && row <= 58);
                if (row > 5 && row < 58) {
                    assert_int_equal((row - 5) % step, 0);
                    assert_int_equal(row % CHUNK_ROWS, 0);
                }
                last = row;
            }
        }
    }
    /* Two parts of 53 rows: the first chunk behind the middle. In steps of 5 rows from 5 on, chunks
     * begin at 35 only. */
    const slc_box box = slc_box_1d(5, 53);
    assert_int_equal(slc_vis_cut(source, &box, 1, 1, 2), 35);
    assert_int_equal(slc_vis_cut(source, &box, 5, 1, 4), 35);
    assert_int_equal(slc_vis_cut(source, &box, 5, 3, 4), 58);
    slc_source_destroy(source);
}

static void parts_have_the_same_bits(void **state) {
    const test_place *self = *state;
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis whole;
    test_vis parts;
    test_vis_read(source, 0, &whole);
    test_vis_read(source, 0, &parts);
    for (int n_parts = 2; n_parts <= 70; n_parts += 17) {
        const slc_box box = slc_box_1d(0, ROWS);
        void *const dst[SLC_VIS_N_FIELDS] = {parts.uvw, parts.vis, parts.weight};
        memset(parts.uvw, 0x55, ROWS * 24);
        memset(parts.vis, 0x55, sizeof(float) * 2 * ROWS * CHANNELS);
        memset(parts.weight, 0x55, sizeof(float) * ROWS * CHANNELS);
        const int64_t decoded = source->counters.chunks_decoded;
        for (int part = n_parts - 1; part >= 0; part--) {
            TEST_OK(slc_source_read_part(source, &box, dst, part, n_parts));
        }
        assert_true(test_vis_equal(&whole, &parts));
        assert_int_equal(source->counters.chunks_decoded - decoded,
                         (ROWS + CHUNK_ROWS - 1) / CHUNK_ROWS);
    }
    test_vis_free(&parts);
    test_vis_free(&whole);
    slc_source_destroy(source);
}

/* A filter that only HDF5 undoes leaves the set to it, one thread at a time: the first part is all. */
static void what_hdf5_reads_is_not_cut(void **state) {
    const test_place *self = *state;
    const hsize_t chunk[3] = {CHUNK_ROWS, CHANNELS, POLS};
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    uint8_t flags[ROWS * CHANNELS * POLS] = {0};
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 3, chunk);
    H5Pset_nbit(list);
    test_h5_put(self->path, "/Data/flags", H5T_STD_U8LE, H5T_NATIVE_UINT8, 3, shape, list, flags);
    H5Pclose(list);
    slc_source *source = test_vis_open(self->path, NULL);
    const slc_box box = slc_box_1d(0, ROWS);
    assert_false(source->is_divisible);
    assert_int_equal(slc_vis_cut(source, &box, 1, 0, 4), 0);
    assert_int_equal(slc_vis_cut(source, &box, 1, 1, 4), ROWS);
    assert_int_equal(slc_vis_cut(source, &box, 1, 3, 4), ROWS);
    slc_source_destroy(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_are_the_box, set_up, test_place_destroy),
        cmocka_unit_test_setup_teardown(parts_have_the_same_bits, set_up, test_place_destroy),
        cmocka_unit_test_setup_teardown(what_hdf5_reads_is_not_cut, set_up, test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
