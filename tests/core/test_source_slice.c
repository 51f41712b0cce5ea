#include "tests/support/test_support.h"

#include "core/source_slice.h"

enum { MOST_UNITS = 64 };

/* An array of 64-bit integers in chunks, or in none; element (a, b, c) is 10000 a + 100 b + c. It
 * counts how often each chunk along its first dimension is touched, and elements. */
typedef struct counted_source {
    slc_source base;
    int64_t chunk[3]; /* 0: none */
    int64_t n_touched[MOST_UNITS];
    int64_t n_elements;
    int64_t most_bytes; /* of one read */
} counted_source;

static slc_status counted_read(slc_source *base, const slc_box *box, void *const *dst) {
    counted_source *self = (counted_source *)base;
    int64_t *out = dst[0];
    for (int64_t a = 0; a < box->extent[0]; a++) {
        for (int64_t b = 0; b < box->extent[1]; b++) {
            for (int64_t c = 0; c < box->extent[2]; c++) {
                *out++ =
                    10000 * (box->origin[0] + a) + 100 * (box->origin[1] + b) + box->origin[2] + c;
            }
        }
    }
    if (self->chunk[0] > 0) {
        for (int64_t u = box->origin[0] / self->chunk[0];
             u <= (box->origin[0] + box->extent[0] - 1) / self->chunk[0]; u++) {
            self->n_touched[u]++;
        }
    }
    self->n_elements += slc_box_count(box);
    self->most_bytes =
        slc_box_count(box) * 8 > self->most_bytes ? slc_box_count(box) * 8 : self->most_bytes;
    return SLC_OK;
}

/* Everything in the middle part, the others are empty. */
static slc_status counted_read_part(slc_source *base, const slc_box *box, void *const *dst,
                                    int part, int n_parts) {
    return part == n_parts / 2 ? counted_read(base, box, dst) : SLC_OK;
}

static int64_t counted_next_unit(slc_source *base, int axis, int64_t index) {
    const int64_t chunk = ((counted_source *)base)->chunk[axis];
    return chunk > 0 ? (index / chunk + 1) * chunk : index + 1;
}

static const slc_source_ops counted_ops = {.read = counted_read, .next_unit = counted_next_unit};

static counted_source make_counted(const int64_t shape[3], const int64_t chunk[3]) {
    counted_source source = {.base = {.ops = &counted_ops, .shared_rank = 3, .n_fields = 1}};
    TEST_OK(slc_layout_dense(SLC_I64, 3, shape, &source.base.fields[0]));
    memcpy(source.chunk, chunk, sizeof source.chunk);
    (void)snprintf(source.base.name, sizeof source.base.name, "counted");
    (void)snprintf(source.base.identity, sizeof source.base.identity, "counted");
    return source;
}

static slc_source *slice_of(counted_source *source, const char *text) {
    slc_source_view view = {.converts = false};
    slc_source *sliced = NULL;
    TEST_OK(slc_slice_parse(text, &view.slice));
    TEST_OK(slc_source_slice(&source->base, &view, &sliced));
    return sliced;
}

/* One dimension's elements, and a reading of any box of [::-3, 2, 1::2] of 20 x 4 x 9. */
static void any_box_holds_its_elements(void **state) {
    (void)state;
    static const int64_t chunks[][3] = {{0, 0, 0}, {3, 2, 4}, {7, 4, 1}, {20, 4, 9}, {1, 1, 1}};
    for (int64_t k = 0; k < TEST_COUNT(chunks); k++) {
        counted_source array = make_counted((const int64_t[]){20, 4, 9}, chunks[k]);
        slc_source *sliced = slice_of(&array, "[::-3, 2, 1::2]");
        assert_int_equal(sliced->shared_rank, 2);
        assert_int_equal(sliced->fields[0].shape[0], 7);
        assert_int_equal(sliced->fields[0].shape[1], 4);
        for (int64_t y = 0; y < 7; y++) {
            for (int64_t ny = 0; ny <= 7 - y; ny++) {
                for (int64_t x = 0; x < 4; x++) {
                    const int64_t nx = 4 - x;
                    const slc_box box = {.rank = 2, .origin = {y, x}, .extent = {ny, nx}};
                    int64_t read[7 * 4] = {0};
                    void *dst[] = {read};
                    TEST_OK(slc_source_read(sliced, &box, dst));
                    for (int64_t i = 0; i < ny * nx; i++) {
                        assert_int_equal(read[i], 10000 * (19 - 3 * (y + i / nx)) + 200 + 1 +
                                                      2 * (x + i % nx));
                    }
                }
            }
        }
        TEST_OK(slc_source_finish(sliced));
        slc_source_destroy(sliced);
    }
}

static void read_all(slc_source *sliced, int64_t *out) {
    slc_box box = {.rank = sliced->shared_rank};
    void *dst[] = {out};
    for (int d = 0; d < box.rank; d++) {
        box.extent[d] = sliced->fields[0].shape[d];
    }
    TEST_OK(slc_source_read(sliced, &box, dst));
}

/* Rows of 8,000 bytes in chunks of 4, of which every fifth, 15th or second row is wanted. */
static void chunks_without_a_wanted_row_are_left_alone(void **state) {
    (void)state;
    static int64_t out[100 * 1000];
    const int64_t shape[3] = {100, 1, 1000};
    const int64_t chunk[3] = {4, 1, 1000};
    static const struct {
        const char *text;
        int64_t step, first;
    } cases[] = {{"[::5]", 5, 0}, {"[3::15]", 15, 3}, {"[::2]", 2, 0}, {"[98::-7]", 7, 0}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        counted_source array = make_counted(shape, chunk);
        slc_source *sliced = slice_of(&array, cases[i].text);
        read_all(sliced, out);
        for (int64_t u = 0; u < 25; u++) {
            int wanted = 0;
            for (int64_t row = 4 * u; row < 4 * u + 4; row++) {
                wanted += row % cases[i].step == cases[i].first % cases[i].step;
            }
            assert_int_equal(array.n_touched[u], wanted > 0);
        }
        assert_true(array.most_bytes <= slc_source_slice_bytes(sliced));
        slc_source_destroy(sliced);
    }
}

/* A large chunk is read whole and once, however few elements of it are wanted; without chunks, far
 * rows are read one by one and near elements together. */
static void pieces_follow_what_is_stored(void **state) {
    (void)state;
    static int64_t out[128 * 1000];
    const int64_t shape[3] = {128, 1, 1000};
    counted_source whole = make_counted(shape, (const int64_t[]){64, 1, 1000});
    slc_source *sliced = slice_of(&whole, "[::2, 0, ::50]");
    assert_in_range(slc_source_slice_bytes(sliced), 64 * 1000 * 8, 64 * 1000 * 8 + (64 << 10) * 2);
    read_all(sliced, out);
    assert_int_equal(whole.n_touched[0], 1);
    assert_int_equal(whole.n_touched[1], 1);
    slc_source_destroy(sliced);
    counted_source plain = make_counted(shape, (const int64_t[]){0, 0, 0});
    sliced = slice_of(&plain, "[::2]");
    read_all(sliced, out);
    assert_int_equal(plain.n_elements, 64 * 1000); /* rows between them are not read */
    slc_source_destroy(sliced);
    counted_source near = make_counted(shape, (const int64_t[]){0, 0, 0});
    sliced = slice_of(&near, "[..., ::2]");
    read_all(sliced, out);
    assert_true(near.most_bytes >= 100 << 10); /* not element by element */
    slc_source_destroy(sliced);
    counted_source dense = make_counted(shape, (const int64_t[]){4, 1, 10});
    sliced = slice_of(&dense, "[3:, 0, 5:-5]");
    assert_int_equal(slc_source_slice_bytes(sliced), 0);
    read_all(sliced, out);
    assert_int_equal(dense.n_elements, 125 * 990); /* in one read, straight into place */
    assert_int_equal(dense.most_bytes, 125 * 990 * 8);
    slc_source_destroy(sliced);
}

/* Units of 4, seen through slices: where each ends in the slice's own count. */
static void units_are_the_arrays(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t end[6]; /* of the unit that holds element 0, 1, ... */
    } cases[] = {
        {"[:]", {4, 4, 4, 4, 8, 8}},    {"[3:]", {1, 5, 5, 5, 5, 9}}, {"[::2]", {2, 2, 4, 4, 6, 6}},
        {"[::-1]", {2, 2, 6, 6, 6, 6}}, /* 17, 16 | 15, 14, 13, 12 | ... */
        {"[::5]", {1, 2, 3, 4, 4, 4}},
    };
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        counted_source array =
            make_counted((const int64_t[]){18, 1, 1}, (const int64_t[]){4, 1, 1});
        slc_source *sliced = slice_of(&array, cases[i].text);
        for (int64_t k = 0; k < 6 && k < sliced->fields[0].shape[0]; k++) {
            assert_int_equal(slc_source_next_unit(sliced, 0, k), cases[i].end[k]);
        }
        slc_source_destroy(sliced);
    }
}

static void identities_tell_slices_apart(void **state) {
    (void)state;
    counted_source array = make_counted((const int64_t[]){8, 8, 8}, (const int64_t[]){0, 0, 0});
    static const char *const texts[] = {"[:]", "[1:]", "[:, 1:]", "[::2]", "[1]", "[1:2]"};
    slc_source *sliced[TEST_COUNT(texts)];
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        sliced[i] = slice_of(&array, texts[i]);
        for (int64_t j = 0; j < i; j++) {
            assert_string_not_equal(sliced[i]->identity, sliced[j]->identity);
        }
    }
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        slc_source_destroy(sliced[i]);
    }
    slc_source *some = slice_of(&array, "[6::-2, 3, 1:4]");
    assert_int_equal(strncmp(some->identity, "slice [6::-2, 3, 1:4] ", 22), 0);
    slc_source_destroy(some);
}

/* Every part of a read, in any order, together is the read. */
static void parts_are_the_whole(void **state) {
    (void)state;
    counted_source array = make_counted((const int64_t[]){20, 4, 9}, (const int64_t[]){3, 2, 4});
    slc_source *sliced = slice_of(&array, "[::-3, :, 1::2]");
    assert_null(sliced->ops->read_part); /* the inner source has none */
    slc_source_ops ops = counted_ops;
    ops.read_part = counted_read_part;
    array.base.ops = &ops;
    slc_source_destroy(sliced);
    static const char *const texts[] = {"[::-3, :, 1::2]", "[4:, 1]"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        sliced = slice_of(&array, texts[i]);
        int64_t whole[16 * 9 * 4] = {0};
        int64_t parts[16 * 9 * 4] = {0};
        slc_box box = {.rank = sliced->shared_rank};
        for (int d = 0; d < box.rank; d++) {
            box.extent[d] = sliced->fields[0].shape[d];
        }
        read_all(sliced, whole);
        void *dst[] = {parts};
        for (int part = 4; part >= 0; part--) {
            TEST_OK(slc_source_read_part(sliced, &box, dst, part, 5));
        }
        assert_memory_equal(whole, parts, sizeof whole);
        slc_source_destroy(sliced);
    }
}

/* Elements as another type, of a slice with gaps, whose elements between may not fit. */
static void elements_are_converted(void **state) {
    (void)state;
    counted_source array = make_counted((const int64_t[]){4, 4, 9}, (const int64_t[]){3, 2, 4});
    slc_source_view view = {.converts = true, .dtype = SLC_I16};
    slc_source *source = NULL;
    TEST_OK(slc_slice_parse("[::2, 1, ::-4]", &view.slice));
    TEST_OK(slc_source_slice(&array.base, &view, &source));
    assert_int_equal(source->fields[0].dtype, SLC_I16);
    int16_t shorts[2 * 3];
    void *dst[] = {shorts};
    const slc_box box = {.rank = 2, .extent = {2, 3}};
    TEST_OK(slc_source_read(source, &box, dst));
    for (int k = 0; k < 6; k++) {
        assert_int_equal(shorts[k], 20000 * (k / 3) + 100 + 8 - 4 * (k % 3));
    }
    slc_source_destroy(source);
    TEST_OK(slc_slice_parse("[3:1:-1, 1:, 3]", &view.slice));
    view.dtype = SLC_I8;
    TEST_OK(slc_source_slice(&array.base, &view, &source));
    int8_t bytes[2 * 3];
    dst[0] = bytes;
    TEST_FAILS(slc_source_read(source, &box, dst), SLC_ERROR_INPUT,
               "counted: element [3, 1, 3] is 30103, which i1 cannot hold");
    assert_true(slc_source_slice_has_refused(source));
    slc_source_destroy(source);
    view.saturates = true;
    TEST_OK(slc_source_slice(&array.base, &view, &source));
    TEST_OK(slc_source_read(source, &box, dst));
    for (int k = 0; k < 6; k++) {
        assert_int_equal(bytes[k], 127);
    }
    assert_false(slc_source_slice_has_refused(source));
    slc_source_destroy(source);
    view = (slc_source_view){.converts = true, .dtype = SLC_F16};
    array.base.fields[0].shape[0] = 8; /* half precision ends at 65504 */
    TEST_OK(slc_slice_parse("[6:, 0, 0]", &view.slice));
    TEST_OK(slc_source_slice(&array.base, &view, &source));
    uint16_t halves[2];
    dst[0] = halves;
    const slc_box two = {.rank = 1, .extent = {2}};
    TEST_OK(slc_source_read(source, &two, dst));
    assert_int_equal(halves[0], 0x7b53); /* 60000 = 1875 · 32 */
    assert_int_equal(halves[1], 0x7c00);
    assert_int_equal(slc_source_slice_infinite(source), 1);
    slc_source_destroy(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_box_holds_its_elements),
        cmocka_unit_test(chunks_without_a_wanted_row_are_left_alone),
        cmocka_unit_test(pieces_follow_what_is_stored),
        cmocka_unit_test(units_are_the_arrays),
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(elements_are_converted),
        cmocka_unit_test(identities_tell_slices_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
