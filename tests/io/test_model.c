/* Model images: where pixels lie, what they are worth, and what is refused. FITS files are written byte
 * by byte, HDF5 pictures by Sluice's own writer. */
#include <hdf5.h>

#include "tests/support/test_fits.h"
#include "tests/support/test_near.h"
#include "tests/support/test_uvh5.h"

#include <unistd.h>

#include "io/image_file.h"
#include "io/model.h"

#define NX 5
#define NY 4
#define DEGREE 0.017453292519943295

/* The cards of a plain model; tests replace some. */
enum { CTYPE1, CTYPE2, CRPIX1, CRPIX2, CRVAL1, CRVAL2, CDELT1, CDELT2, BUNIT, MORE, N_CARDS = 14 };

typedef struct header {
    const char *card[N_CARDS];
    int64_t n;
} header;

static header plain(void) {
    return (header){.card = {[CTYPE1] = "CTYPE1  = 'RA---SIN'",
                             [CTYPE2] = "CTYPE2  = 'DEC--SIN'",
                             [CRPIX1] = "CRPIX1  = 3.0",
                             [CRPIX2] = "CRPIX2  = 2.5",
                             [CRVAL1] = "CRVAL1  = 60.0",
                             [CRVAL2] = "CRVAL2  = -30.0",
                             [CDELT1] = "CDELT1  = -0.01",
                             [CDELT2] = "CDELT2  = 0.02",
                             [BUNIT] = "BUNIT   = 'Jy/pixel'"},
                    .n = MORE};
}

static void add(header *cards, const char *card) {
    assert_true(cards->n < N_CARDS);
    cards->card[cards->n++] = card;
}

static double values[3 * NX * NY];

static int setup(void **state) {
    for (int64_t k = 0; k < TEST_COUNT(values); k++) {
        values[k] = (double)k - 7.0;
    }
    return test_place_create(state, "model.fits") != NULL ? 0 : -1;
}

static const char *write_fits(void **state, int bitpix, const header *cards, int64_t n_planes) {
    const test_place *place = *state;
    const int64_t shape[4] = {NX, NY, n_planes, 1};
    test_need_fits();
    test_fits_write(place->path, bitpix, 4, shape, cards->card, cards->n, values);
    return place->path;
}

static void refuses(void **state, const header *cards, slc_status status, const char *words) {
    slc_source *source = NULL;
    TEST_FAILS(slc_model_open(write_fits(state, -32, cards, 1), NULL, &source), status, words);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static void reads_boxes_of_every_type(void **state) {
    static const int bitpix[] = {-32, -64, 16};
    const header cards = plain();
    for (int64_t b = 0; b < TEST_COUNT(bitpix); b++) {
        slc_source *source = NULL;
        float single[2 * 3];
        double real[2 * 3];
        TEST_OK(slc_model_open(write_fits(state, bitpix[b], &cards, 1), NULL, &source));
        const slc_dtype dtype = bitpix[b] == -32 ? SLC_F32 : SLC_F64;
        assert_int_equal(source->fields[0].dtype, dtype);
        const slc_box box = {.rank = 3, .origin = {0, 1, 2}, .extent = {1, 2, 3}};
        void *const dst[] = {dtype == SLC_F32 ? (void *)single : (void *)real};
        TEST_OK(slc_source_read(source, &box, dst));
        for (int64_t y = 0; y < 2; y++) {
            for (int64_t x = 0; x < 3; x++) {
                const double found = dtype == SLC_F32 ? (double)single[3 * y + x] : real[3 * y + x];
                assert_true(found == values[(1 + y) * NX + 2 + x]);
            }
        }
        TEST_OK(slc_source_finish(source));
        slc_source_destroy(source);
    }
}

static void undefined_pixels_are_nan(void **state) {
    header cards = plain();
    slc_source *source = NULL;
    float real[NX]; /* scaled short integers fit single precision */
    add(&cards, "BLANK   = -5");
    add(&cards, "BSCALE  = 0.5");
    TEST_OK(slc_model_open(write_fits(state, 16, &cards, 1), NULL, &source));
    const slc_box box = {.rank = 3, .extent = {1, 1, NX}};
    void *const dst[] = {real};
    TEST_OK(slc_source_read(source, &box, dst));
    assert_true(isnan(real[2])); /* the value -5 */
    assert_true(real[1] == -3.0f);
    slc_source_destroy(source);
}

static void says_where_pixels_lie(void **state) {
    const header cards = plain();
    slc_source *source = NULL;
    TEST_OK(slc_model_open(write_fits(state, -32, &cards, 1), NULL, &source));
    const slc_model_meta *meta = slc_model_get_meta(source);
    assert_int_equal(meta->nx, NX);
    assert_int_equal(meta->ny, NY);
    assert_int_equal(meta->n_planes, 1);
    TEST_NEAR(meta->step[0][0], -0.01 * DEGREE, 1e-18);
    TEST_NEAR(meta->step[1][1], 0.02 * DEGREE, 1e-18);
    assert_true(meta->step[0][1] == 0.0 && meta->step[1][0] == 0.0);
    assert_true(meta->reference_x == 2.0 && meta->reference_y == 1.5);
    TEST_NEAR(meta->ra_rad, 60 * DEGREE, 1e-15);
    TEST_NEAR(meta->dec_rad, -30 * DEGREE, 1e-15);
    assert_true(meta->jy_per_unit == 1.0);
    assert_string_equal(meta->frame, "");
    slc_source_destroy(source);
}

/* A picture turned by 30 degrees, said in three ways. */
static void turned_pictures_agree(void **state) {
    double step[3][2][2];
    for (int k = 0; k < 3; k++) {
        header cards = plain();
        slc_source *source = NULL;
        if (k == 0) {
            add(&cards, "CROTA2  = 30.0");
        } else if (k == 1) {
            add(&cards, "PC1_1   = 0.86602540378443865");
            add(&cards, "PC1_2   = 1.0"); /* -CDELT2 / CDELT1 · sin 30° */
            add(&cards, "PC2_1   = -0.25");
            add(&cards, "PC2_2   = 0.86602540378443865");
        } else {
            add(&cards, "CD1_1   = -0.0086602540378443865");
            add(&cards, "CD1_2   = -0.01");
            add(&cards, "CD2_1   = -0.005");
            add(&cards, "CD2_2   = 0.017320508075688773");
        }
        TEST_OK(slc_model_open(write_fits(state, -32, &cards, 1), NULL, &source));
        memcpy(step[k], slc_model_get_meta(source)->step, sizeof step[k]);
        slc_source_destroy(source);
    }
    const double expected[2][2] = {{-0.0086602540378443865, -0.01}, {-0.005, 0.0173205080756887}};
    for (int k = 0; k < 3; k++) {
        for (int e = 0; e < 4; e++) {
            TEST_NEAR(step[k][e / 2][e % 2], expected[e / 2][e % 2] * DEGREE, 1e-16);
        }
    }
}

static void frequencies_and_planes(void **state) {
    header cards = plain();
    slc_source *source = NULL;
    float plane[NX * NY];
    add(&cards, "CTYPE3  = 'FREQ'");
    add(&cards, "CRPIX3  = 2.0");
    add(&cards, "CRVAL3  = 1.4E9");
    add(&cards, "CDELT3  = -1.0E6");
    TEST_OK(slc_model_open(write_fits(state, -32, &cards, 3), NULL, &source));
    const slc_model_meta *meta = slc_model_get_meta(source);
    assert_int_equal(meta->n_planes, 3);
    assert_true(meta->freq_hz[0] == 1.401e9 && meta->freq_hz[2] == 1.399e9);
    slc_model_use_planes(source, 1, 2);
    assert_int_equal(meta->n_planes, 2);
    assert_true(meta->freq_hz[0] == 1.4e9);
    const slc_box box = {.rank = 3, .origin = {1, 0, 0}, .extent = {1, NY, NX}};
    void *const dst[] = {plane};
    TEST_OK(slc_source_read(source, &box, dst));
    assert_true((double)plane[3] == values[2 * NX * NY + 3]);
    slc_source_destroy(source);
}

/* A beam of 0.06 by 0.04 degrees has π/(4 ln 2) · 12 pixels of 0.01 by 0.02. */
static void beams_become_pixels(void **state) {
    header cards = plain();
    slc_source *source = NULL;
    cards.card[BUNIT] = "BUNIT   = 'JY/BEAM'";
    add(&cards, "BMAJ    = 0.06");
    add(&cards, "BMIN    = 0.04");
    add(&cards, "BPA     = 20.0");
    TEST_OK(slc_model_open(write_fits(state, -32, &cards, 1), NULL, &source));
    const slc_model_meta *meta = slc_model_get_meta(source);
    TEST_NEAR(1.0 / meta->jy_per_unit, 3.14159265358979 / (4 * log(2.0)) * 12.0, 1e-10);
    assert_non_null(strstr(meta->unit_text, "13.5971 pixels"));
    slc_source_destroy(source);
}

/* ---- refusals --------------------------------------------------------------------------------- */

static void what_cannot_be_placed_is_refused(void **state) {
    header cards = plain();
    cards.card[CTYPE1] = "CTYPE1  = 'RA---TAN'";
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "CTYPE1 is 'RA---TAN', expected 'RA---SIN'");
    cards = plain();
    add(&cards, "PV2_1   = 0.1");
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "PV2_1 is 0.1");
    cards = plain();
    add(&cards, "LONPOLE = 90.0");
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "LONPOLE is 90");
    cards = plain();
    cards.card[CRVAL2] = "CRVAL2  = 90.0";
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "LONPOLE is 0 at declination 90");
    cards = plain();
    cards.card[CDELT2] = "CDELT2  = 0.0";
    refuses(state, &cards, SLC_ERROR_INPUT, "no size");
    cards = plain();
    cards.card[CRVAL1] = "CRVAL1  = 'west'";
    refuses(state, &cards, SLC_ERROR_INPUT, "CRVAL1 is missing or no number");
    cards = plain();
    add(&cards, "RADESYS = 'FK4'");
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "the frame is 'FK4'");
    cards = plain();
    add(&cards, "EQUINOX = 1950.0");
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "FK4");
    cards = plain();
    add(&cards, "CUNIT1  = 'rad'");
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "CUNIT1 is 'rad'");
}

static void what_cannot_be_weighed_is_refused(void **state) {
    header cards = plain();
    cards.card[BUNIT] = "BUNIT   = 'K'";
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "BUNIT is 'K'");
    cards.card[BUNIT] = "COMMENT no unit";
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "BUNIT is ''");
    cards.card[BUNIT] = "BUNIT   = 'Jy/beam'";
    refuses(state, &cards, SLC_ERROR_INPUT, "give no beam");
    cards = plain();
    add(&cards, "CTYPE4  = 'STOKES'");
    add(&cards, "CRVAL4  = -5.0");
    refuses(state, &cards, SLC_ERROR_UNSUPPORTED, "Stokes parameter -5 (XX)");
}

static void other_long_axes_are_refused(void **state) {
    header cards = plain();
    slc_source *source = NULL;
    add(&cards, "CTYPE3  = 'VELO'");
    TEST_FAILS(slc_model_open(write_fits(state, -32, &cards, 3), NULL, &source),
               SLC_ERROR_UNSUPPORTED, "axis 3 ('VELO') has 3 pixels");
}

static void damage_is_refused(void **state) {
    const header cards = plain();
    slc_source *source = NULL;
    float plane[NX * NY];
    const char *path = write_fits(state, -32, &cards, 1);
    assert_int_equal(truncate(path, 2880 + 20), 0);
    /* A short file shows when it is opened or when it is read. */
    slc_status status = slc_model_open(path, NULL, &source);
    if (status == SLC_OK) {
        const slc_box box = {.rank = 3, .extent = {1, NY, NX}};
        void *const dst[] = {plane};
        status = slc_source_read(source, &box, dst);
        slc_source_destroy(source);
    }
    assert_int_equal(status, SLC_ERROR_INPUT);
}

/* ---- HDF5 ------------------------------------------------------------------------------------- */

static slc_image_meta picture(void) {
    slc_image_meta meta = {.nx = NX,
                           .ny = NY,
                           .n_planes = 1,
                           .n_parts = 1,
                           .scale_rad = 0.01,
                           .reference_x = 2,
                           .reference_y = 2,
                           .ra_rad = 1.0,
                           .dec_rad = -0.5,
                           .frame = "ICRS",
                           .stokes = 1,
                           .has_position = true,
                           .unit = "Jy/pixel"};
    return meta;
}

static void reads_pictures_of_its_own(void **state) {
    const test_place *place = *state;
    char path[TEST_PATH_BYTES];
    double row[NX];
    slc_source *source = NULL;
    slc_image_meta meta = picture();
    meta.n_planes = 3;
    meta.has_frequency = true;
    meta.freq_hz = 1.5e8;
    meta.freq_step_hz = 1e6;
    test_join(place->directory, "model.h5", path);
    TEST_OK(slc_image_file_write(path, &meta, values, false, NULL));
    TEST_OK(slc_model_open(path, NULL, &source));
    const slc_model_meta *model = slc_model_get_meta(source);
    assert_int_equal(model->n_planes, 3);
    assert_string_equal(model->frame, "ICRS");
    TEST_NEAR(model->step[0][0], -0.01, 1e-15);
    TEST_NEAR(model->ra_rad, 1.0, 1e-15);
    assert_true(model->reference_x == 2.0 && model->freq_hz[2] == 1.52e8);
    const slc_box box = {.rank = 3, .origin = {2, 1, 0}, .extent = {1, 1, NX}};
    void *const dst[] = {row};
    TEST_OK(slc_source_read(source, &box, dst));
    assert_memory_equal(row, values + 2 * NX * NY + NX, sizeof row);
    slc_source_destroy(source);
}

/* What h5py makes of a text. */
static void set_unit(const char *path, const char *unit) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/image", H5P_DEFAULT);
    const hid_t type = test_h5_text();
    const hid_t space = H5Screate(H5S_SCALAR);
    assert_true(H5Adelete(set, "BUNIT") >= 0);
    const hid_t attribute = H5Acreate2(set, "BUNIT", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, &unit) >= 0);
    assert_true(H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
}

static void text_of_variable_length_is_read(void **state) {
    const test_place *place = *state;
    char path[TEST_PATH_BYTES];
    slc_source *source = NULL;
    const slc_image_meta meta = picture();
    test_join(place->directory, "variable.h5", path);
    TEST_OK(slc_image_file_write(path, &meta, values, false, NULL));
    set_unit(path, "Jy/pixel");
    TEST_OK(slc_model_open(path, NULL, &source));
    slc_source_destroy(source);
    set_unit(path, "K");
    TEST_FAILS(slc_model_open(path, NULL, &source), SLC_ERROR_UNSUPPORTED, "BUNIT is 'K'");
}

static void other_hdf5_files_are_refused(void **state) {
    const test_place *place = *state;
    char path[TEST_PATH_BYTES];
    slc_source *source = NULL;
    slc_image_meta meta = picture();
    meta.n_parts = 2;
    test_join(place->directory, "complex.h5", path);
    TEST_OK(slc_image_file_write(path, &meta, values, false, NULL));
    TEST_FAILS(slc_model_open(path, NULL, &source), SLC_ERROR_UNSUPPORTED, "/image is c16");
    test_join(place->directory, "none.h5", path);
    test_h5_put_number(path, "/x", 1.0);
    TEST_FAILS(slc_model_open(path, NULL, &source), SLC_ERROR_INPUT, "/image");
}

static void kinds_are_told_by_content(void **state) {
    const test_place *place = *state;
    slc_model_kind kind = SLC_MODEL_FITS;
    char path[TEST_PATH_BYTES];
    test_write_below(place->directory, "sky.txt", "l=0 m=0 flux=1\n");
    test_join(place->directory, "sky.txt", path);
    TEST_OK(slc_model_recognise(path, &kind));
    assert_int_equal(kind, SLC_MODEL_OTHER);
    test_join(place->directory, "pic.bin", path);
    test_h5_put_number(path, "/x", 1.0);
    TEST_OK(slc_model_recognise(path, &kind));
    assert_int_equal(kind, SLC_MODEL_HDF5);
    test_join(place->directory, "nothing", path);
    TEST_FAILS(slc_model_recognise(path, &kind), SLC_ERROR_INPUT, "nothing");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(reads_boxes_of_every_type),
        CASE(undefined_pixels_are_nan),
        CASE(says_where_pixels_lie),
        CASE(turned_pictures_agree),
        CASE(frequencies_and_planes),
        CASE(beams_become_pixels),
        CASE(what_cannot_be_placed_is_refused),
        CASE(what_cannot_be_weighed_is_refused),
        CASE(other_long_axes_are_refused),
        CASE(damage_is_refused),
        CASE(reads_pictures_of_its_own),
        CASE(text_of_variable_length_is_read),
        CASE(other_hdf5_files_are_refused),
        CASE(kinds_are_told_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
