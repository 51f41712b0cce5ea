#include "tests/support/test_random_h5.h"

#include <hdf5.h>
#include <inttypes.h>

#include "core/source_slice.h"
#include "io/chunk_codec.h"
#include "io/h5_array.h"
#include "io/h5_file.h"
#include "tests/support/test_uvh5.h"

enum { MOST_RANK = 4, N_SLICES = 5, SLICE_BYTES = 200 };

static int64_t count_of(int rank, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= shape[d];
    }
    return n;
}

/* All of /x as HDF5 reads it in the machine's own type. The caller frees. */
static char *read_by_hdf5(const char *path, int64_t *element_bytes) {
    slci_h5_lock(); /* its filters are HDF5's too, where that lacks them */
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t type = H5Dget_type(set);
    const hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
    const hid_t space = H5Dget_space(set);
    *element_bytes = (int64_t)H5Tget_size(native);
    char *values = test_allocate(H5Sget_simple_extent_npoints(space) * *element_bytes);
    const herr_t result = H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Sclose(space);
    H5Tclose(native);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    slci_h5_unlock();
    assert_true(result >= 0);
    return values;
}

/* ---- datasets of HDF5 ------------------------------------------------------------------------- */

static hid_t random_type(uint64_t *random) {
    const hid_t types[] = {H5T_STD_I8LE,   H5T_STD_U8BE,   H5T_STD_I16BE,  H5T_STD_U16LE,
                           H5T_STD_I32LE,  H5T_STD_U64BE,  H5T_IEEE_F32LE, H5T_IEEE_F32BE,
                           H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_I64LE};
    const int64_t n = TEST_COUNT(types);
    const int64_t k = test_random_below(random, n + 2);
    return k < n ? H5Tcopy(types[k])
                 : test_h5_complex(k == n ? H5T_IEEE_F32BE : H5T_IEEE_F64LE, "r", "i");
}

static void set_random_filters(hid_t list, uint64_t *random) {
    const unsigned level = 1;
    const int64_t choice = test_random_below(random, 16);
    if ((choice & 1) != 0) {
        H5Pset_shuffle(list);
    }
    if ((choice & 6) == 2) {
        H5Pset_deflate(list, 1);
    } else if ((choice & 6) == 4) {
        assert_true(H5Pset_filter(list, SLCI_FILTER_ZSTD, H5Z_FLAG_MANDATORY, 1, &level) >= 0);
    }
    if ((choice & 8) != 0) {
        H5Pset_fletcher32(list);
    }
}

/* /x of random elements, of which perhaps only a part is written. Returns its rank. */
static int put_random(const char *path, uint64_t *random, int64_t *shape) {
    const int rank = 1 + (int)test_random_below(random, MOST_RANK);
    hsize_t extent[MOST_RANK];
    hsize_t chunk[MOST_RANK];
    hsize_t start[MOST_RANK];
    hsize_t count[MOST_RANK];
    hsize_t n = 1;
    for (int d = 0; d < rank; d++) {
        shape[d] = 1 + test_random_below(random, rank < 3 ? 60 : 11);
        extent[d] = (hsize_t)shape[d];
        chunk[d] = 1 + (hsize_t)test_random_below(random, shape[d]);
        start[d] = (hsize_t)test_random_below(random, 3) == 0
                       ? (hsize_t)test_random_below(random, shape[d])
                       : 0;
        count[d] = extent[d] - start[d];
        n *= count[d];
    }
    slci_h5_lock();
    const hid_t type = random_type(random);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (test_random_below(random, 5) > 0) {
        H5Pset_chunk(list, rank, chunk);
        set_random_filters(list, random);
        if (test_random_below(random, 4) == 0) {
            H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        }
    }
    const int64_t bytes = (int64_t)(H5Tget_size(type) * n);
    char *values = test_allocate(bytes);
    test_fill(values, bytes, test_random(random));
    memset(values, 7, (size_t)bytes / 2); /* something to compress */
    H5Pset_fill_value(list, type, values);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (test_random_below(random, 2) == 0) {
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(rank, extent, NULL);
    const hid_t memory = H5Screate_simple(rank, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    const hid_t set = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    const bool is_written =
        set >= 0 && H5Dwrite(set, type, memory, space, H5P_DEFAULT, values) >= 0;
    const hid_t open[] = {set, memory, space, file, access, list, type};
    for (int64_t k = 0; k < TEST_COUNT(open); k++) {
        (void)H5Idec_ref(open[k]);
    }
    slci_h5_unlock();
    free(values);
    assert_true(is_written);
    return rank;
}

/* ---- slices ----------------------------------------------------------------------------------- */

/* What a slice takes of one dimension: element first + k step, k < count. */
typedef struct range {
    int64_t first, step, count;
    bool is_index;
} range;

/* As Python resolves begin:end:step: both are cut to the ends, which a negative step passes by one. */
static range python_range(int64_t n, const int64_t *begin, const int64_t *end, int64_t step) {
    const int64_t lowest = step > 0 ? 0 : -1;
    const int64_t highest = step > 0 ? n : n - 1;
    int64_t bound[2] = {step > 0 ? lowest : highest, step > 0 ? highest : lowest};
    const int64_t *given[2] = {begin, end};
    for (int k = 0; k < 2; k++) {
        if (given[k] != NULL) {
            const int64_t at = *given[k] < 0 ? *given[k] + n : *given[k];
            bound[k] = at < lowest ? lowest : at > highest ? highest : at;
        }
    }
    const int64_t reach = step > 0 ? bound[1] - bound[0] : bound[0] - bound[1];
    const int64_t stride = step > 0 ? step : -step;
    return (range){bound[0], step, reach > 0 ? (reach + stride - 1) / stride : 0, false};
}

/* A random part of a dimension of n elements, and its text. */
static range random_part(uint64_t *random, int64_t n, char *text, size_t capacity) {
    const int64_t form = test_random_below(random, 6);
    if (form == 0) {
        const int64_t at = test_random_below(random, 2 * n) - n;
        (void)snprintf(text, capacity, "%" PRId64, at);
        return (range){at < 0 ? at + n : at, 1, 1, true};
    }
    if (form == 1) {
        (void)snprintf(text, capacity, ":");
        return (range){0, 1, n, false};
    }
    char begin_text[24] = "";
    char end_text[24] = "";
    const bool has_begin = test_random_below(random, 3) > 0;
    const bool has_end = test_random_below(random, 3) > 0;
    const int64_t begin = test_random_below(random, 3 * n) - 3 * n / 2;
    const int64_t end = test_random_below(random, 3 * n) - 3 * n / 2;
    int64_t step = 1 + test_random_below(random, test_random_below(random, 4) == 0 ? n + 2 : 3);
    step = form == 2 || form == 3 ? -step : step;
    if (has_begin) {
        (void)snprintf(begin_text, sizeof begin_text, "%" PRId64, begin);
    }
    if (has_end) {
        (void)snprintf(end_text, sizeof end_text, "%" PRId64, end);
    }
    (void)snprintf(text, capacity, "%s:%s:%" PRId64, begin_text, end_text, step);
    return python_range(n, has_begin ? &begin : NULL, has_end ? &end : NULL, step);
}

/* Parts of all dimensions, and the slice as text. */
static void random_slice(uint64_t *random, int rank, const int64_t *shape, range *parts,
                         char text[SLICE_BYTES]) {
    size_t used = 0;
    text[used++] = '[';
    for (int d = 0; d < rank; d++) {
        used += (size_t)snprintf(text + used, SLICE_BYTES - used, "%s", d > 0 ? ", " : "");
        parts[d] = random_part(random, shape[d], text + used, SLICE_BYTES - used);
        used += strlen(text + used);
    }
    (void)snprintf(text + used, SLICE_BYTES - used, "]");
}

/* The elements of `values` [shape] that a box of the sliced array holds. The caller frees. */
static char *pick(const char *values, int64_t element_bytes, int rank, const int64_t *shape,
                  const range *parts, const slc_box *box) {
    const int64_t n = slc_box_count(box);
    char *out = test_allocate(n * element_bytes);
    for (int64_t k = 0; k < n; k++) {
        int64_t left = k;
        int64_t from = 0;
        int64_t stride = 1;
        int e = box->rank - 1; /* dimension of the sliced array */
        for (int d = rank - 1; d >= 0; d--) {
            int64_t at = 0;
            if (!parts[d].is_index) {
                at = box->origin[e] + left % box->extent[e];
                left /= box->extent[e];
                e--;
            }
            from += (parts[d].first + at * parts[d].step) * stride;
            stride *= shape[d];
        }
        memcpy(out + k * element_bytes, values + from * element_bytes, (size_t)element_bytes);
    }
    return out;
}

static slc_box random_box(uint64_t *random, const slc_layout *layout) {
    slc_box box = {.rank = layout->rank};
    for (int d = 0; d < box.rank; d++) {
        box.origin[d] = test_random_below(random, layout->shape[d] + 1);
        box.extent[d] = test_random_below(random, layout->shape[d] - box.origin[d] + 1);
    }
    return box;
}

static slc_box whole(const slc_layout *layout) {
    slc_box box = {.rank = layout->rank};
    memcpy(box.extent, layout->shape, sizeof box.extent);
    return box;
}

typedef struct dataset {
    const char *path;
    const char *values; /* all of it, by HDF5 */
    int64_t element_bytes, shape[MOST_RANK];
    int rank;
} dataset;

/* One slice: all of it, and a box. */
static void expect_slice(const dataset *self, slc_source *source, uint64_t *random) {
    range parts[MOST_RANK];
    char text[SLICE_BYTES];
    slc_source_view view = {.converts = false};
    slc_source *sliced = NULL;
    random_slice(random, self->rank, self->shape, parts, text);
    TEST_OK(slc_slice_parse(text, &view.slice));
    TEST_OK(slc_source_slice(source, &view, &sliced));
    const slc_layout *layout = &sliced->fields[0];
    int e = 0;
    for (int d = 0; d < self->rank; d++) {
        if (!parts[d].is_index && layout->shape[e++] != parts[d].count) {
            fail_msg("%s: dimension %d has %" PRId64 " elements, expected %" PRId64, text, d,
                     layout->shape[e - 1], parts[d].count);
        }
    }
    assert_int_equal(layout->rank, e);
    const slc_box boxes[2] = {whole(layout), random_box(random, layout)};
    for (int b = 0; b < 2; b++) {
        const int64_t bytes = slc_box_count(&boxes[b]) * self->element_bytes;
        char *found = test_allocate(bytes);
        void *const dst[] = {found};
        char *expected =
            pick(self->values, self->element_bytes, self->rank, self->shape, parts, &boxes[b]);
        TEST_OK(slc_source_read(sliced, &boxes[b], dst));
        if (memcmp(found, expected, (size_t)bytes) != 0) {
            fail_msg("%s: other elements than HDF5's", text);
        }
        free(expected);
        free(found);
    }
    slc_source_destroy(sliced);
}

static void check_reads(const char *path, uint64_t seed, int64_t n) {
    uint64_t random = seed;
    print_message("seed %" PRIu64 "\n", seed);
    for (int64_t k = 0; k < n; k++) {
        dataset self = {.path = path};
        slc_source *source = NULL;
        self.rank = put_random(path, &random, self.shape);
        char *values = read_by_hdf5(path, &self.element_bytes);
        self.values = values;
        TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = path, .dataset = "/x"}, &source));
        const int64_t kept = test_random_below(&random, 2) == 0 ? 0 : 5000;
        TEST_OK(slc_h5_array_set_cache(source, kept));
        for (int s = 0; s < N_SLICES; s++) {
            expect_slice(&self, source, &random);
        }
        slc_source_destroy(source);
        free(values);
    }
}

/* ---- datasets of Sluice ----------------------------------------------------------------------- */

enum { MOST_CUTS = 4, MOST_BOXES = 256 };

/* Boxes that cover the shape, cut along every dimension. Returns how many. */
static int64_t random_boxes(uint64_t *random, const slc_layout *layout, slc_box *boxes) {
    int64_t cuts[MOST_RANK][MOST_CUTS + 1];
    int64_t n_cuts[MOST_RANK];
    int64_t n = 1;
    for (int d = 0; d < layout->rank; d++) {
        int64_t at = 0;
        n_cuts[d] = 0;
        while (at < layout->shape[d]) {
            const int64_t left = layout->shape[d] - at;
            cuts[d][n_cuts[d]++] = at;
            at += n_cuts[d] == MOST_CUTS ? left : 1 + test_random_below(random, left);
        }
        cuts[d][n_cuts[d]] = layout->shape[d];
        n *= n_cuts[d];
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t left = k;
        boxes[k] = (slc_box){.rank = layout->rank};
        for (int d = layout->rank - 1; d >= 0; d--) {
            const int64_t c = left % n_cuts[d];
            boxes[k].origin[d] = cuts[d][c];
            boxes[k].extent[d] = cuts[d][c + 1] - cuts[d][c];
            left /= n_cuts[d];
        }
    }
    return n;
}

static void write_boxes(const slc_h5_array_output *output, const char *values, uint64_t *random) {
    const slc_layout *layout = &output->layout;
    range all[MOST_RANK];
    slc_box boxes[MOST_BOXES];
    int64_t n = random_boxes(random, layout, boxes);
    slc_sink *sink = NULL;
    for (int d = 0; d < layout->rank; d++) {
        all[d] = (range){0, 1, layout->shape[d], false};
    }
    TEST_OK(slc_h5_array_create(output, &sink));
    for (; n > 0; n--) {
        const int64_t k = test_random_below(random, n);
        char *part = pick(values, slc_dtype_bytes(layout->dtype), layout->rank, layout->shape, all,
                          &boxes[k]);
        TEST_OK(slc_sink_write(sink, &boxes[k], part));
        free(part);
        boxes[k] = boxes[n - 1];
    }
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
}

/* A filter that this build can encode. */
static slc_h5_filter random_filter(uint64_t *random) {
    static const char *const texts[] = {"none", "deflate:1", "zstd:1", "bitshuffle-zstd:1"};
    slc_h5_filter filter;
    TEST_OK(slc_h5_filter_parse(texts[test_random_below(random, TEST_COUNT(texts))], &filter));
    if (filter.kind == SLC_H5_FILTER_DEFLATE) {
        filter.is_unshuffled = test_random_below(random, 2) == 0;
        filter.has_checksum = test_random_below(random, 2) == 0;
    }
    return filter;
}

static void check_writes(const char *path, uint64_t seed, int64_t n) {
    static const slc_dtype dtypes[] = {SLC_I8,  SLC_U16, SLC_I32, SLC_U64,
                                       SLC_F32, SLC_F64, SLC_C64, SLC_C128};
    uint64_t random = seed;
    slc_pool *pool = NULL;
    print_message("seed %" PRIu64 "\n", seed);
    TEST_OK(slc_pool_create(2, &pool));
    for (int64_t k = 0; k < n; k++) {
        int64_t shape[MOST_RANK];
        int64_t element_bytes = 0;
        const int rank = 1 + (int)test_random_below(&random, MOST_RANK);
        slc_h5_array_output output = {.path = path,
                                      .dataset = "/x",
                                      .filter = random_filter(&random),
                                      .is_big_endian = test_random_below(&random, 2) == 0,
                                      .overwrite = true,
                                      .pool = test_random_below(&random, 2) == 0 ? NULL : pool,
                                      .memory_bytes = test_random_below(&random, 2)};
        const bool is_chunked = test_random_below(&random, 4) > 0;
        for (int d = 0; d < rank; d++) {
            shape[d] = 1 + test_random_below(&random, rank < 3 ? 50 : 10);
            output.chunk[d] = is_chunked ? 1 + test_random_below(&random, shape[d]) : 0;
        }
        TEST_OK(slc_layout_dense(dtypes[test_random_below(&random, TEST_COUNT(dtypes))], rank,
                                 shape, &output.layout));
        const int64_t bytes = slc_layout_bytes(&output.layout);
        char *values = test_allocate(bytes);
        test_fill(values, bytes, test_random(&random));
        memset(values, 7, (size_t)bytes / 3);
        write_boxes(&output, values, &random);
        char *found = read_by_hdf5(path, &element_bytes);
        assert_int_equal(element_bytes * count_of(rank, shape), bytes);
        if (memcmp(found, values, (size_t)bytes) != 0) {
            fail_msg("dataset %" PRId64 " of seed %" PRIu64 ": HDF5 reads other elements", k, seed);
        }
        free(found);
        free(values);
    }
    slc_pool_destroy(pool);
}

/* ---- cases ------------------------------------------------------------------------------------ */

typedef struct random_case {
    const test_random_h5 *wanted;
    test_place *place;
} random_case;

static int make(void **state) {
    random_case *self = *state;
    void *place = NULL;
    self->place = test_place_create(&place, "a.h5");
    return 0;
}

static int destroy(void **state) {
    void *place = ((random_case *)*state)->place;
    return test_place_destroy(&place);
}

static void slices_are_read_as_hdf5_reads(void **state) {
    const random_case *self = *state;
    check_reads(self->place->path, self->wanted->read_seed, self->wanted->n_read);
}

static void what_is_written_is_read_by_hdf5(void **state) {
    const random_case *self = *state;
    check_writes(self->place->path, self->wanted->write_seed, self->wanted->n_written);
}

#define CASE(function) cmocka_unit_test_prestate_setup_teardown(function, make, destroy, &self)

int test_random_h5_run(const test_random_h5 *wanted) {
    random_case self = {.wanted = wanted};
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(slices_are_read_as_hdf5_reads),
        CASE(what_is_written_is_read_by_hdf5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
