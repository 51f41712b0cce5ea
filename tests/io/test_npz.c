/* .npz archives of every kind, and damaged ones. */
#include <unistd.h>

#include "tests/support/test_npz_file.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 6 };

typedef struct place {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
    test_npz zip;
} place;

/* As test_npz_add_array, in a line. */
static void add_array(test_npz *zip, const char *name, bool is_deflated, const char *type,
                      const char *order, const char *shape, const void *data, size_t n) {
    const test_npz_array array = {name, type, order, shape, is_deflated, data, n};
    test_npz_add_array(zip, &array);
}

/* u = k, v = 2 k, w = 3 k in f8; data = (k, -k) in c8 or big-endian c16. */
static void fill(place *self, bool is_deflated, bool is_big_endian) {
    double columns[3][ROWS];
    float small[2 * ROWS];
    unsigned char large[16 * ROWS];
    static const char *const names[] = {"u.npy", "v.npy", "w.npy"};
    memset(&self->zip, 0, sizeof self->zip);
    for (int k = 0; k < ROWS; k++) {
        small[2 * k] = (float)k;
        small[2 * k + 1] = (float)-k;
        for (int d = 0; d < 3; d++) {
            columns[d][k] = (d + 1) * k;
        }
        for (int part = 0; part < 2; part++) {
            const double value = part == 0 ? k : -k;
            uint64_t bits;
            memcpy(&bits, &value, 8);
            bits = __builtin_bswap64(bits);
            memcpy(large + 16 * k + 8 * part, &bits, 8);
        }
    }
    for (int d = 0; d < 3; d++) {
        add_array(&self->zip, names[d], is_deflated, "<f8", "False", "(6,)", columns[d],
                  sizeof columns[d]);
    }
    if (is_big_endian) {
        add_array(&self->zip, "data.npy", is_deflated, ">c16", "False", "(6,)", large,
                  sizeof large);
    } else {
        add_array(&self->zip, "data.npy", is_deflated, "<c8", "False", "(6,)", small, sizeof small);
    }
}

static int make(void **state) {
    place *self = test_allocate(sizeof *self);
    memset(self, 0, sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "a.npz", self->path);
    *state = self;
    return 0;
}

static int unmake(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

/* Skips the test where Sluice was built without libzip. */
static void save_or_skip(place *self) {
    test_npz_save(&self->zip, self->path);
    if (test_vis_try(self->path, NULL) == SLC_ERROR_UNSUPPORTED &&
        strstr(slc_status_message(), "libzip") != NULL) {
        TEST_SKIP("%s", slc_status_message());
    }
}

static void members_of_every_kind(void **state) {
    place *self = *state;
    for (int kind = 0; kind < 4; kind++) {
        fill(self, kind % 2 == 1, kind / 2 == 1);
        save_or_skip(self);
        slc_source *source = test_vis_open(self->path, NULL);
        test_vis vis;
        test_vis_read(source, 4, &vis);
        assert_string_equal(slc_vis_get_meta(source)->format, "npz");
        assert_int_equal(vis.n_rows, ROWS);
        for (int k = 0; k < ROWS; k++) {
            assert_true(vis.uvw[3 * k + 1] == -2.0 * k && vis.uvw[3 * k + 2] == -3.0 * k);
            assert_true(vis.vis[2 * k] == (float)k && vis.vis[2 * k + 1] == (float)-k);
            assert_true(vis.weight[k] == 1.0F);
        }
        slc_vis_dataset sets[8];
        int n = 0;
        TEST_OK(slc_vis_describe(source, 8, sets, &n));
        assert_int_equal(n, 4);
        assert_string_equal(sets[3].name, "data");
        assert_string_equal(sets[3].type, kind / 2 == 1 ? "c16 big-endian" : "c8");
        test_vis_free(&vis);
        slc_source_destroy(source);
    }
}

static void weights_and_channels(void **state) {
    place *self = *state;
    const float weight[ROWS] = {1, 2, 0, 4, 5, 6};
    fill(self, false, false);
    add_array(&self->zip, "weight.npy", true, "<f4", "False", "(6,)", weight, sizeof weight);
    save_or_skip(self);
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_true(vis.weight[3] == 4.0F && vis.weight[2] == 0.0F);
    assert_int_equal(vis.counts.zero_weight, 1);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void keep_line(void *context, slc_log_level level, const char *text) {
    (void)level;
    (void)snprintf(context, SLC_MESSAGE_BYTES, "%s", text);
}

/* Booleans as numpy writes them; and what else is in the archive is named. */
static void flags_and_other_members(void **state) {
    place *self = *state;
    const uint8_t flags[ROWS] = {0, 1, 0, 0, 0, 1};
    const double freq = 1e9;
    char line[SLC_MESSAGE_BYTES] = "";
    slc_log log;
    fill(self, false, false);
    add_array(&self->zip, "flags.npy", true, "|b1", "False", "(6,)", flags, sizeof flags);
    save_or_skip(self);
    slc_log_init(&log, SLC_LOG_WARNING, keep_line, line);
    const slc_vis_options options = {.log = &log};
    slc_source *source = test_vis_open(self->path, &options);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    for (int k = 0; k < ROWS; k++) {
        assert_true(vis.weight[k] == (flags[k] ? 0.0F : 1.0F));
    }
    assert_int_equal(vis.counts.flagged, 2);
    assert_string_equal(line, "");
    test_vis_free(&vis);
    slc_source_destroy(source);
    add_array(&self->zip, "freq.npy", false, "<f8", "False", "()", &freq, sizeof freq);
    test_npz_add_member(&self->zip, "notes.txt", false, flags, sizeof flags);
    test_npz_save(&self->zip, self->path);
    slc_source_destroy(test_vis_open(self->path, &options));
    assert_non_null(strstr(line, "ignored: freq, notes.txt;"));
    slc_log_destroy(&log);
}

static void vis_is_another_name_of_data(void **state) {
    place *self = *state;
    const float small[2 * ROWS] = {[3] = 5.0F};
    const double column[ROWS] = {0};
    static const char *const names[] = {"u.npy", "v.npy", "w.npy"};
    for (int d = 0; d < 3; d++) {
        add_array(&self->zip, names[d], false, "<f8", "False", "(6,)", column, sizeof column);
    }
    save_or_skip(self);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "vis (or data) is missing");
    add_array(&self->zip, "vis.npy", false, "<c8", "False", "(6,)", small, sizeof small);
    test_npz_save(&self->zip, self->path);
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_true(vis.vis[3] == 5.0F);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void an_empty_set_is_named(void **state) {
    place *self = *state;
    static const char *const names[] = {"u.npy", "v.npy", "w.npy"};
    fill(self, false, false);
    save_or_skip(self);
    memset(&self->zip, 0, sizeof self->zip);
    for (int d = 0; d < 3; d++) {
        add_array(&self->zip, names[d], false, "<f8", "False", "(0,)", "", 0);
    }
    add_array(&self->zip, "data.npy", false, "<c8", "False", "(0,)", "", 0);
    test_npz_save(&self->zip, self->path);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "a.npz: the set is empty");
}

static void faults_are_refused(void **state) {
    place *self = *state;
    const float small[2 * ROWS] = {0};
    const test_npz empty = {{0}, {0}, 0, 0, 0};
    fill(self, false, false);
    save_or_skip(self);
    self->zip = empty;
    test_npz_save(&self->zip, self->path);
    assert_int_equal(test_vis_try(self->path, NULL), SLC_ERROR_INPUT);
    add_array(&self->zip, "data.npy", false, "<c8", "False", "(6,)", small, sizeof small);
    test_npz_save(&self->zip, self->path);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "u is missing");
    static const struct {
        const char *type, *order, *shape, *words;
    } faults[] = {{"<c8", "False", "(7,)", "member data has 48 bytes of data, its shape says 56"},
                  {"<c8", "False", "(99999999999999999999,)", "not an array of plain numbers"},
                  {"<c8", "False", "(4611686018427387904, 4)", "its shape says"},
                  {"<c8", "True", "(3, 2)", "Fortran order"},
                  {"|V8", "False", "(6,)",
                   "member data is not an array of plain numbers: {'descr': '|V8', "},
                  {"|O", "False", "(6,)",
                   "member data holds Python objects (dtype object), expected numbers; save it as"},
                  {"<U2", "False", "(6,)", "not an array of plain numbers"},
                  {"<c32", "False", "(6,)", "c8, c16 or bool, in numpy's names"},
                  {"<f8", "False", "(6,)", "expected a complex number"},
                  {"<c8", "False", "6", "not an array of plain numbers"},
                  {"<c8", "False", "(6", "not an array of plain numbers"}};
    for (int64_t k = 0; k < TEST_COUNT(faults); k++) {
        test_npz three = empty;
        const double column[ROWS] = {0};
        add_array(&three, "u.npy", false, "<f8", "False", "(6,)", column, sizeof column);
        add_array(&three, "v.npy", false, "<f8", "False", "(6,)", column, sizeof column);
        add_array(&three, "w.npy", false, "<f8", "False", "(6,)", column, sizeof column);
        add_array(&three, "data.npy", false, faults[k].type, faults[k].order, faults[k].shape,
                  small, sizeof small);
        test_npz_save(&three, self->path);
        const slc_status status = test_vis_try(self->path, NULL);
        assert_true(status == SLC_ERROR_INPUT || status == SLC_ERROR_UNSUPPORTED);
        if (strstr(slc_status_message(), faults[k].words) == NULL) {
            fail_msg("%s", slc_status_message());
        }
    }
}

/* Sets bits of a field of two bytes in all headers of members, both those before the members and those
 * in the list at the end. */
static void change_headers(test_npz *zip, size_t local_at, size_t listed_at, unsigned char bits) {
    const unsigned char local[4] = {'P', 'K', 3, 4};
    const unsigned char listed[4] = {'P', 'K', 1, 2};
    for (size_t at = 0; at + sizeof local <= zip->n; at++) {
        if (memcmp(zip->bytes + at, local, sizeof local) == 0) {
            zip->bytes[at + local_at] |= bits;
        }
    }
    for (size_t at = 0; at + sizeof listed <= zip->n_directory; at++) {
        if (memcmp(zip->directory + at, listed, sizeof listed) == 0) {
            zip->directory[at + listed_at] |= bits;
        }
    }
}

static void expect_fault(const place *self, const test_npz *zip, slc_status status,
                         const char *words) {
    test_npz_save(zip, self->path);
    TEST_FAILS(test_vis_try(self->path, NULL), status, words);
}

/* What other programs than numpy may write, each named. */
static void foreign_archives_are_named(void **state) {
    enum { FLAGS = 6, LISTED_FLAGS = 8, METHOD = 8, LISTED_METHOD = 10 };
    place *self = *state;
    const double column[ROWS] = {0};
    fill(self, false, false);
    save_or_skip(self);
    const test_npz good = self->zip;
    change_headers(&self->zip, FLAGS, LISTED_FLAGS, 1);
    expect_fault(self, &self->zip, SLC_ERROR_UNSUPPORTED, "member u is encrypted: not supported");
    self->zip = good;
    change_headers(&self->zip, METHOD, LISTED_METHOD, 9);
    expect_fault(self, &self->zip, SLC_ERROR_UNSUPPORTED,
                 "member u is compressed by method 9 of zip");
    memset(&self->zip, 0, sizeof self->zip);
    add_array(&self->zip, "set/u.npy", false, "<f8", "False", "(6,)", column, sizeof column);
    expect_fault(
        self, &self->zip, SLC_ERROR_INPUT,
        "member u is missing, but set/u.npy is in a folder of the archive; expected u.npy");
    test_npz_save(&good, self->path);
    int64_t n = 0;
    char *bytes = test_file_read(self->path, &n);
    free(bytes);
    assert_int_equal(truncate(self->path, n - 5), 0);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT,
               "which comes last, is damaged or missing; copy the file again");
}

/* Any byte changed ends in a status, and the checksums see to it that changed data is noticed. */
static void damage_is_noticed(void **state) {
    place *self = *state;
    fill(self, true, false);
    save_or_skip(self);
    const test_npz good = self->zip;
    for (size_t k = 0; k < good.n; k++) {
        self->zip = good;
        self->zip.bytes[k] ^= 0x21;
        test_npz_save(&self->zip, self->path);
        (void)test_vis_try(self->path, NULL);
    }
    self->zip = good;
    self->zip.bytes[good.n - 3] ^= 0x21; /* in the data of the last member */
    test_npz_save(&self->zip, self->path);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "data");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, unmake)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(members_of_every_kind),   CASE(weights_and_channels),
        CASE(flags_and_other_members), CASE(vis_is_another_name_of_data),
        CASE(an_empty_set_is_named),   CASE(faults_are_refused),
        CASE(damage_is_noticed),       CASE(foreign_archives_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
