/* A UVH5 file with other visibilities: everything else as it was, visdata as asked for. */
#include "tests/support/test_near.h"
#include "tests/support/test_uvh5.h"

#include <unistd.h>

#include "io/h5_attributes.h"
#include "io/h5_header.h"
#include "io/uvh5_copy.h"
#include "io/uvh5_copy_parts.h"

#define ROWS 30
#define CHANNELS 3
#define POLS 4

typedef struct files {
    char directory[TEST_PATH_BYTES], in[TEST_PATH_BYTES], out[TEST_PATH_BYTES];
} files;

static int setup(void **state) {
    files *self = test_allocate(sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "in.uvh5", self->in);
    test_join(self->directory, "out.uvh5", self->out);
    test_uvh5_create(self->in, ROWS, CHANNELS, POLS);
    *state = self;
    return 0;
}

static int teardown(void **state) {
    files *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

/* Sample (row, channel) that is written. */
static double real_of(int64_t row, int64_t channel) {
    return 1.0 + (double)row / 7.0 + 100.0 * (double)channel;
}

static double imag_of(int64_t row, int64_t channel) {
    return -(double)row / 3.0 + (double)channel;
}

static slc_status open_copy(const files *self, int64_t staging_bytes, slc_sink **out) {
    const slc_uvh5_copy_options options = {.in_path = self->in,
                                           .out_path = self->out,
                                           .staging_bytes = staging_bytes};
    return slc_uvh5_copy_open(&options, out);
}

/* Writes rows [begin, end) in pieces. */
static void write_rows(slc_sink *sink, int64_t begin, int64_t end, int64_t piece) {
    const int64_t n_channels = sink->layout.shape[1];
    double *rows = test_allocate(piece * n_channels * 2 * (int64_t)sizeof *rows);
    for (int64_t row = begin; row < end; row += piece) {
        const int64_t n = row + piece < end ? piece : end - row;
        for (int64_t k = 0; k < n * n_channels; k++) {
            rows[2 * k] = real_of(row + k / n_channels, k % n_channels);
            rows[2 * k + 1] = imag_of(row + k / n_channels, k % n_channels);
        }
        const slc_box box = {.rank = 2, .origin = {row, 0}, .extent = {n, n_channels}};
        TEST_OK(slc_sink_write(sink, &box, rows));
    }
    free(rows);
}

static void copy_in_pieces(const files *self, int64_t piece, int64_t staging_bytes) {
    slc_sink *sink = NULL;
    TEST_OK(open_copy(self, staging_bytes, &sink));
    TEST_OK(slc_uvh5_copy_begin(sink));
    write_rows(sink, 0, ROWS, piece);
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
}

/* visdata of the output as doubles, and its description. */
static double *read_vis(const files *self, slc_vis_dataset *about, int *rank) {
    slci_h5_id file = 0;
    slci_h5_dataset set;
    const int64_t origin[SLC_MAX_RANK] = {0};
    TEST_OK(slci_h5_open(self->out, NULL, &file));
    TEST_OK(slci_h5_dataset_open(file, self->out, "/Data/visdata", &set));
    int64_t n = 1;
    for (int d = 0; d < set.rank; d++) {
        n *= set.shape[d];
    }
    void *raw = test_allocate(n * set.type.bytes);
    double *values = test_allocate(n * 2 * (int64_t)sizeof *values);
    TEST_OK(slci_h5_dataset_read(&set, origin, set.shape, raw));
    slci_element_to_complex(&set.type, raw, set.type.bytes, n, values);
    slci_h5_dataset_describe(&set, about);
    *rank = set.rank;
    free(raw);
    slci_h5_dataset_close(&set);
    slci_h5_close(file);
    return values;
}

/* `factor` of the intensity in the parallel hands (the first two), nothing in the cross hands. */
static void check_vis(const files *self, double factor, double tolerance, slc_vis_dataset *about) {
    int rank = 0;
    double *values = read_vis(self, about, &rank);
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t c = 0; c < CHANNELS; c++) {
            for (int64_t p = 0; p < POLS; p++) {
                const double *sample = values + 2 * ((row * CHANNELS + c) * POLS + p);
                const double expected = p < 2 ? factor : 0.0;
                TEST_NEAR(sample[0], expected * real_of(row, c), tolerance);
                TEST_NEAR(sample[1], expected * imag_of(row, c), tolerance);
            }
        }
    }
    free(values);
}

/* ---- cases ------------------------------------------------------------------------------------ */

static void hands_get_the_model(void **state) {
    const files *self = *state;
    slc_vis_dataset about;
    slc_sink *sink = NULL;
    TEST_OK(open_copy(self, 0, &sink));
    assert_string_equal(slc_uvh5_copy_get_info(sink)->hands, "XX, YY");
    assert_int_equal(sink->layout.shape[0], ROWS);
    assert_int_equal(sink->layout.shape[1], CHANNELS);
    slc_sink_destroy(sink);
    copy_in_pieces(self, 7, 0);
    check_vis(self, 1.0, 3e-5, &about);
    assert_int_equal(test_directory_count(self->directory), 2);
}

static void a_sum_convention_halves(void **state) {
    const files *self = *state;
    slc_vis_dataset about;
    test_h5_put_text(self->in, "/Header/pol_convention", "sum");
    copy_in_pieces(self, ROWS, 0);
    check_vis(self, 0.5, 3e-5, &about);
}

/* Objects that Sluice knows nothing of, attributes of every kind of object, and all that it knows. */
static void everything_else_stays(void **state) {
    const files *self = *state;
    const double extra[2] = {1.25, -3.0};
    const int64_t n = 2;
    slci_h5_id file = 0;
    char text[64];
    double *numbers = NULL;
    double number = 0.0;
    int64_t count = 0;
    test_h5_put_f64(self->in, "/Header/extra_keywords/gain", 1, &n, extra);
    test_h5_put_text(self->in, "/Elsewhere/note", "kept as it is");
    test_h5_put_attribute(self->in, "made_by", 7.0);
    copy_in_pieces(self, 4, 0);
    TEST_OK(slci_h5_open(self->out, NULL, &file));
    TEST_OK(
        slci_h5_get_numbers(file, self->out, "/Header/extra_keywords/gain", 9, &numbers, &count));
    assert_int_equal(count, 2);
    assert_memory_equal(numbers, extra, sizeof extra);
    free(numbers);
    TEST_OK(slci_h5_get_text(file, self->out, "/Elsewhere/note", text, sizeof text));
    assert_string_equal(text, "kept as it is");
    TEST_OK(slci_h5_get_attribute_or(file, self->out, "made_by", 0.0, &number));
    assert_true(number == 7.0);
    slci_h5_close(file);
    /* As a set: rows, uvw, flags and weights are those of the input. */
    const slc_vis_options options = {.use_autos = true};
    slc_source *a = test_vis_open(self->in, &options);
    slc_source *b = test_vis_open(self->out, &options);
    test_vis from;
    test_vis to;
    test_vis_read(a, 0, &from);
    test_vis_read(b, 0, &to);
    assert_int_equal(from.n_rows, to.n_rows);
    assert_memory_equal(from.uvw, to.uvw, (size_t)from.n_rows * 3 * sizeof *from.uvw);
    assert_memory_equal(from.weight, to.weight,
                        (size_t)(from.n_rows * from.n_channels) * sizeof *from.weight);
    test_vis_free(&from);
    test_vis_free(&to);
    slc_source_destroy(a);
    slc_source_destroy(b);
}

static void put_vis(const files *self, hid_t part, int64_t chunk_rows, bool is_filtered) {
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    const hsize_t chunk[3] = {(hsize_t)chunk_rows, CHANNELS, 2};
    const hid_t type = test_h5_complex(part, "real", "imag");
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk_rows > 0) {
        assert_true(H5Pset_chunk(list, 3, chunk) >= 0);
    }
    if (is_filtered) {
        assert_true(H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, 1) >= 0);
    }
    test_h5_put(self->in, "/Data/visdata", type, type, 3, shape, list, NULL);
    (void)H5Pclose(list);
    (void)H5Tclose(type);
}

/* Single and double precision in either byte order stay what they are, chunks and filters too. */
static void types_and_storage_are_kept(void **state) {
    const files *self = *state;
    const hid_t parts[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    static const char *const texts[] = {"f4", "f4 big-endian", "f8", "f8 big-endian"};
    for (int64_t t = 0; t < TEST_COUNT(parts); t++) {
        slc_vis_dataset about;
        put_vis(self, parts[t], t % 2 == 0 ? 8 : 0, t % 2 == 0);
        copy_in_pieces(self, 5, 0);
        check_vis(self, 1.0, t < 2 ? 3e-5 : 1e-13, &about);
        assert_non_null(strstr(about.type, texts[t]));
        assert_non_null(strstr(about.type, "real"));
        assert_int_equal(about.chunk[0], t % 2 == 0 ? 8 : 0);
        assert_true((strstr(about.filters, "deflate") != NULL) == (t % 2 == 0));
        assert_int_equal(unlink(self->out), 0);
    }
}

static void integers_become_single_precision(void **state) {
    const files *self = *state;
    slc_vis_dataset about;
    put_vis(self, H5T_STD_I16LE, 0, false);
    copy_in_pieces(self, 30, 0);
    check_vis(self, 1.0, 3e-5, &about);
    assert_non_null(strstr(about.type, "f4"));
}

/* However the rows come, the bytes are the same. */
static void pieces_do_not_show(void **state) {
    const files *self = *state;
    int64_t n = 0;
    int64_t n_first = 0;
    put_vis(self, H5T_IEEE_F32LE, 8, true);
    copy_in_pieces(self, ROWS, 0);
    char *first = test_file_read(self->out, &n_first);
    for (int64_t piece = 1; piece < 12; piece += 5) {
        assert_int_equal(unlink(self->out), 0);
        copy_in_pieces(self, piece, 0);
        char *bytes = test_file_read(self->out, &n);
        assert_int_equal(n, n_first);
        assert_memory_equal(bytes, first, (size_t)n);
        free(bytes);
    }
    free(first);
}

/* visdata of a type that is an object of its own in the file, beside it. */
static void put_named_vis(const files *self) {
    const hsize_t shape[3] = {ROWS, CHANNELS, POLS};
    const hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    const hid_t space = H5Screate_simple(3, shape, NULL);
    assert_true(file >= 0 && H5Ldelete(file, "/Data/visdata", H5P_DEFAULT) >= 0);
    assert_true(H5Tcommit2(file, "/Data/visibility", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >=
                0);
    const hid_t set =
        H5Dcreate2(file, "/Data/visdata", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0 &&
                H5Fclose(file) >= 0);
}

/* In the output the type belongs to the dataset, and leads nowhere in another file. */
static void a_named_type_becomes_the_datasets_own(void **state) {
    const files *self = *state;
    slc_vis_dataset about;
    put_named_vis(self);
    copy_in_pieces(self, 7, 0);
    check_vis(self, 1.0, 3e-5, &about);
    const hid_t file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/Data/visdata", H5P_DEFAULT);
    const hid_t type = H5Dget_type(set);
    assert_int_equal(H5Tcommitted(type), 0);
    assert_true(H5Tclose(type) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
}

/* Rows out of order, some of them twice. */
static void any_order_will_do(void **state) {
    const files *self = *state;
    slc_vis_dataset about;
    slc_sink *sink = NULL;
    put_vis(self, H5T_IEEE_F32LE, 8, true);
    TEST_OK(open_copy(self, 0, &sink));
    TEST_OK(slc_uvh5_copy_begin(sink));
    write_rows(sink, 12, ROWS, 5);
    write_rows(sink, 0, 14, 4);
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
    check_vis(self, 1.0, 3e-5, &about);
}

/* A row of filtered chunks that is too large to be held gets fewer rows. */
static void large_chunks_become_smaller(void **state) {
    const files *self = *state;
    slc_vis_dataset about;
    put_vis(self, H5T_IEEE_F32LE, ROWS, true);
    copy_in_pieces(self, 4, 10 * CHANNELS * POLS * 8);
    check_vis(self, 1.0, 3e-5, &about);
    assert_int_equal(about.chunk[0], 10);
}

/* Rows of 256 KiB in chunks of all rows. */
static void put_wide_vis(const files *self, bool is_filtered) {
    const int64_t shape[3] = {ROWS, 8192, POLS};
    const hsize_t chunk[3] = {ROWS, 64, POLS};
    const hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 3, chunk) >= 0);
    assert_true(!is_filtered || H5Pset_deflate(list, 1) >= 0);
    test_h5_put(self->in, "/Data/visdata", type, type, 3, shape, list, NULL);
    (void)H5Pclose(list);
    (void)H5Tclose(type);
}

/* Of rows that are not encoded fewer are staged where memory is short, and the bytes stay; encoded ones
 * wait for the rest of their chunks. */
static void fewer_staged_rows_do_not_show(void **state) {
    const files *self = *state;
    int64_t n = 0;
    int64_t n_first = 0;
    for (int filtered = 0; filtered < 2; filtered++) {
        slc_sink *sink = NULL;
        put_wide_vis(self, filtered == 1);
        copy_in_pieces(self, 4, 0);
        char *first = test_file_read(self->out, &n_first);
        assert_int_equal(unlink(self->out), 0);
        TEST_OK(open_copy(self, 0, &sink));
        const slc_uvh5_copy_info *info = slc_uvh5_copy_get_info(sink);
        const int64_t whole_bytes = (int64_t)ROWS * 8192 * POLS * 8;
        assert_int_equal(info->staging_bytes, whole_bytes);
        slc_uvh5_copy_stage_least(sink);
        assert_int_equal(info->staging_bytes, filtered == 1 ? whole_bytes : 1 << 20);
        TEST_OK(slc_uvh5_copy_begin(sink));
        write_rows(sink, 0, ROWS, 4);
        TEST_OK(slc_sink_commit(sink));
        slc_sink_destroy(sink);
        char *bytes = test_file_read(self->out, &n);
        assert_int_equal(n, n_first);
        assert_memory_equal(bytes, first, (size_t)n);
        assert_int_equal(unlink(self->out), 0);
        free(bytes);
        free(first);
    }
}

static void windows_are_one_axis_of_channels(void **state) {
    const files *self = *state;
    const int64_t shape[4] = {ROWS, 3, 1, POLS};
    const hid_t type = test_h5_complex(H5T_IEEE_F32LE, "r", "i");
    slc_sink *sink = NULL;
    slc_vis_dataset about;
    test_h5_put(self->in, "/Data/visdata", type, type, 4, shape, H5P_DEFAULT, NULL);
    (void)H5Tclose(type);
    TEST_OK(open_copy(self, 0, &sink));
    assert_int_equal(sink->layout.shape[1], 3);
    slc_sink_destroy(sink);
    copy_in_pieces(self, 4, 0);
    check_vis(self, 1.0, 3e-5, &about);
    assert_int_equal(about.rank, 4);
}

static void what_has_no_place_is_refused(void **state) {
    const files *self = *state;
    slc_sink *sink = NULL;
    const int64_t n = POLS;
    const int64_t cross[POLS] = {-7, -8, -3, -4};
    test_h5_put_i64(self->in, "/Header/polarization_array", 1, &n, cross);
    TEST_FAILS(open_copy(self, 0, &sink), SLC_ERROR_UNSUPPORTED, "a model of I has no place");
    test_h5_remove(self->in, "/Data/visdata");
    TEST_FAILS(open_copy(self, 0, &sink), SLC_ERROR_INPUT, "/Data/visdata is missing");
    test_h5_remove(self->in, "/Header");
    TEST_FAILS(open_copy(self, 0, &sink), SLC_ERROR_UNSUPPORTED, "is not UVH5");
}

/* Into a file that is open for reading only: HDF5's reason outlives what is closed on the way out. */
static void an_attribute_that_fails_is_named(void **state) {
    const files *self = *state;
    char failed[SLCI_H5_NAME_BYTES];
    char reason[256];
    const hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    assert_true(
        H5Aclose(H5Acreate2(file, "note", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    assert_true(H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
    const hid_t from = H5Fopen(self->in, H5F_ACC_RDONLY, H5P_DEFAULT);
    slci_h5_lock();
    assert_false(slci_h5_copy_attributes(from, from, failed));
    slci_h5_error_text(reason, sizeof reason);
    slci_h5_unlock();
    assert_string_equal(failed, "attribute 'note'");
    assert_non_null(strstr(reason, "no write intent"));
    H5Fclose(from);
}

static void several_phase_centres_are_refused(void **state) {
    const files *self = *state;
    slc_sink *sink = NULL;
    const int64_t n = ROWS;
    int64_t ids[ROWS] = {0};
    test_h5_put_i64(self->in, "/Header/phase_center_id_array", 1, &n, ids);
    TEST_OK(open_copy(self, 0, &sink));
    slc_sink_destroy(sink);
    ids[17] = 2;
    test_h5_put_i64(self->in, "/Header/phase_center_id_array", 1, &n, ids);
    TEST_FAILS(open_copy(self, 0, &sink), SLC_ERROR_UNSUPPORTED, "2 in row 17");
}

static void nothing_is_left_without_a_commit(void **state) {
    const files *self = *state;
    slc_sink *sink = NULL;
    TEST_OK(open_copy(self, 0, &sink));
    TEST_OK(slc_uvh5_copy_begin(sink));
    write_rows(sink, 0, 10, 10);
    TEST_FAILS(slc_sink_commit(sink), SLC_ERROR_ARGUMENT, "10 of 30 rows");
    slc_sink_destroy(sink);
    assert_int_equal(test_directory_count(self->directory), 1);
    copy_in_pieces(self, 30, 0);
    TEST_FAILS(open_copy(self, 0, &sink), SLC_ERROR_OUTPUT, "out.uvh5");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(hands_get_the_model),
        CASE(a_sum_convention_halves),
        CASE(everything_else_stays),
        CASE(types_and_storage_are_kept),
        CASE(integers_become_single_precision),
        CASE(pieces_do_not_show),
        CASE(any_order_will_do),
        CASE(a_named_type_becomes_the_datasets_own),
        CASE(large_chunks_become_smaller),
        CASE(fewer_staged_rows_do_not_show),
        CASE(windows_are_one_axis_of_channels),
        CASE(what_has_no_place_is_refused),
        CASE(an_attribute_that_fails_is_named),
        CASE(several_phase_centres_are_refused),
        CASE(nothing_is_left_without_a_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
