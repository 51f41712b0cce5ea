/* Pictures on disk, read back by other means than they were written: FITS by its bytes, HDF5 through
 * its library, PNG by Python's zlib. */
#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/image_file.h"
#include "io/image_formats.h"
#include "tests/support/test_support.h"

#define NX 5
#define NY 4

/* An image whose pixel (row j, column i) of plane p is 100 p + 10 j + i + 0.25; one has no value. */
static void fill_image(const slc_image_meta *meta, double *image) {
    for (int64_t k = 0; k < meta->nx * meta->ny * meta->n_planes; k++) {
        const int64_t i = k % meta->nx;
        const int64_t j = k / meta->nx % meta->ny;
        const int64_t p = k / (meta->nx * meta->ny);
        image[k] = (double)(100 * p + 10 * j + i) + 0.25;
    }
    image[7] = NAN; /* row 1, column 2 */
}

static slc_image_meta make_meta(void) {
    slc_image_meta meta = {
        .nx = NX,
        .ny = NY,
        .n_planes = 1,
        .n_parts = 1,
        .scale_rad = 0.002,
        .reference_x = NX / 2,
        .reference_y = NY / 2,
        .ra_rad = 1.0,
        .dec_rad = -0.5,
        .frame = "ICRS",
        .freq_hz = 153.5e6,
        .width_hz = 8e6,
        .freq_step_hz = 8e6,
        .stokes = -5,
        .has_position = true,
        .has_frequency = true,
        .unit = "Jy/beam",
        .telescope = "SLUICETEST",
        .object = "it's a test",
        .date_obs = "2017-04-11T01:02:03.456",
        .beam = {true, 0.0174532925199433, 0.00872664625997165, 0.1},
        .method = "direct",
        .epsilon = 1e-6,
        .n_used = 1440,
        .n_flagged = 3000000000,
        .weight_sum = 1440,
        .abs_sum = 1441.5,
        .n_history = 2,
        .history = {"--weight natural", "--channels 0:8"},
    };
    return meta;
}

/* ---- FITS by its bytes ---- */

typedef struct bytes {
    int64_t n;
    unsigned char *at;
} bytes;

static bytes read_all(const char *path) {
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    bytes found = {ftell(file), NULL};
    rewind(file);
    found.at = (unsigned char *)test_allocate(found.n);
    assert_int_equal(fread(found.at, 1, (size_t)found.n, file), found.n);
    assert_int_equal(fclose(file), 0);
    return found;
}

/* The card's bytes 9 to 80, without trailing blanks; false where the header has no such card. */
static bool find_card(const bytes *fits, const char *name, char value[73]) {
    char wanted[9];
    (void)snprintf(wanted, sizeof wanted, "%-8s", name);
    for (int64_t at = 0; at + 80 <= fits->n; at += 80) {
        if (memcmp(fits->at + at, "END     ", 8) == 0) {
            break;
        }
        if (memcmp(fits->at + at, wanted, 8) == 0) {
            memcpy(value, fits->at + at + 8, 72);
            value[72] = '\0';
            return true;
        }
    }
    return false;
}

static double card_number(const bytes *fits, const char *name) {
    char value[73];
    if (!find_card(fits, name, value)) {
        fail_msg("no card %s", name);
    }
    assert_memory_equal(value, "= ", 2);
    double number = NAN;
    assert_int_equal(sscanf(value + 2, "%lf", &number), 1);
    return number;
}

static void expect_text_card(const bytes *fits, const char *name, const char *text) {
    char value[73];
    if (!find_card(fits, name, value)) {
        fail_msg("no card %s", name);
    }
    assert_memory_equal(value + 2, text, strlen(text));
}

static int64_t data_begin(const bytes *fits) {
    for (int64_t at = 0; at + 80 <= fits->n; at += 80) {
        if (memcmp(fits->at + at, "END     ", 8) == 0) {
            return (at / 2880 + 1) * 2880;
        }
    }
    fail_msg("the header has no end");
    return 0;
}

static double big_endian(const unsigned char *at, int n_bytes) {
    uint64_t bits = 0;
    for (int k = 0; k < n_bytes; k++) {
        bits = bits << 8 | at[k];
    }
    if (n_bytes == 8) {
        double value;
        memcpy(&value, &bits, 8);
        return value;
    }
    const uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, 4);
    return (double)value;
}

/* Skips where the format was not built in, which is the first thing that a check looks at. */
static void need_format(const char *name, const slc_image_meta *meta) {
    if (slc_image_file_check(name, meta, true) == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
}

static void write_image(const char *path, const slc_image_meta *meta, const double *image) {
    TEST_OK(slc_image_file_check(path, meta, false));
    TEST_OK(slc_image_file_write(path, meta, image, false, NULL));
}

/* One image in a folder of its own. */
static bytes write_and_read(const char *name, const slc_image_meta *meta, const double *image) {
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    need_format(name, meta);
    test_directory_create(directory);
    test_join(directory, name, path);
    write_image(path, meta, image);
    assert_int_equal(test_directory_count(directory), 1);
    const bytes found = read_all(path);
    test_directory_remove(directory);
    return found;
}

static void writes_a_fits_header(void **state) {
    (void)state;
    slc_image_meta meta = make_meta();
    double image[NX * NY];
    char value[73];
    fill_image(&meta, image);
    const bytes fits = write_and_read("a.fits", &meta, image);
    assert_true(card_number(&fits, "BITPIX") == -32);
    assert_true(card_number(&fits, "NAXIS") == 4);
    assert_true(card_number(&fits, "NAXIS1") == NX && card_number(&fits, "NAXIS2") == NY);
    assert_true(card_number(&fits, "NAXIS3") == 1 && card_number(&fits, "NAXIS4") == 1);
    expect_text_card(&fits, "CTYPE1", "'RA---SIN'");
    expect_text_card(&fits, "CTYPE2", "'DEC--SIN'");
    expect_text_card(&fits, "CTYPE3", "'FREQ    '");
    expect_text_card(&fits, "CTYPE4", "'STOKES  '");
    assert_true(card_number(&fits, "CRPIX1") == 3 && card_number(&fits, "CRPIX2") == 3);
    /* 0.002 rad and 1 rad in degrees. */
    assert_true(fabs(card_number(&fits, "CDELT1") + 0.11459155902616464) < 1e-15);
    assert_true(fabs(card_number(&fits, "CDELT2") - 0.11459155902616464) < 1e-15);
    assert_true(fabs(card_number(&fits, "CRVAL1") - 57.29577951308232) < 1e-12);
    assert_true(fabs(card_number(&fits, "CRVAL2") + 28.64788975654116) < 1e-12);
    assert_true(card_number(&fits, "CRVAL3") == 153.5e6 && card_number(&fits, "CDELT3") == 8e6);
    assert_true(card_number(&fits, "CRVAL4") == -5 && card_number(&fits, "LONPOLE") == 180);
    expect_text_card(&fits, "RADESYS", "'ICRS    '");
    expect_text_card(&fits, "SPECSYS", "'TOPOCENT'");
    expect_text_card(&fits, "CUNIT3", "'Hz      '");
    expect_text_card(&fits, "BUNIT", "'Jy/beam '");
    expect_text_card(&fits, "TELESCOP", "'SLUICETEST'");
    expect_text_card(&fits, "OBJECT", "'it''s a test'");
    expect_text_card(&fits, "DATE-OBS", "'2017-04-11T01:02:03.456'");
    assert_true(fabs(card_number(&fits, "BMAJ") - 1) < 1e-13);
    assert_true(fabs(card_number(&fits, "BMIN") - 0.5) < 1e-13);
    assert_true(fabs(card_number(&fits, "BPA") - 5.729577951308232) < 1e-13);
    expect_text_card(&fits, "SLCMETH", "'direct  '");
    assert_true(card_number(&fits, "SLCEPS") == 1e-6);
    assert_true(card_number(&fits, "SLCNVIS") == 1440);
    assert_true(card_number(&fits, "SLCNFLAG") == 3e9);
    assert_true(card_number(&fits, "SLCWSUM") == 1440 && card_number(&fits, "SLCSABS") == 1441.5);
    assert_true(find_card(&fits, "HISTORY", value));
    assert_memory_equal(value, "--weight natural ", 17);
    assert_true(find_card(&fits, "SLCVERS", value));
    assert_false(find_card(&fits, "EQUINOX", value));
    assert_false(find_card(&fits, "DATE", value));
    assert_false(find_card(&fits, "RESTFRQ", value));
    free(fits.at);
}

static void writes_fits_pixels(void **state) {
    (void)state;
    for (int is_double = 0; is_double < 2; is_double++) {
        slc_image_meta meta = make_meta();
        meta.is_double = is_double != 0;
        meta.n_planes = 2;
        double image[2 * NX * NY];
        fill_image(&meta, image);
        const bytes fits = write_and_read("a.fits", &meta, image);
        const int n_bytes = is_double ? 8 : 4;
        assert_true(card_number(&fits, "BITPIX") == -8 * n_bytes);
        assert_int_equal(fits.n, data_begin(&fits) + 2880);
        for (int64_t k = 0; k < 2 * NX * NY; k++) {
            const double found = big_endian(fits.at + data_begin(&fits) + k * n_bytes, n_bytes);
            assert_true(found == image[k] || (k == 7 && isnan(found)));
        }
        free(fits.at);
    }
}

static void leaves_unknown_things_out(void **state) {
    (void)state;
    slc_image_meta meta = make_meta();
    double image[NX * NY];
    char value[73];
    fill_image(&meta, image);
    meta.beam = (slc_beam){true, NAN, 0.1, 0.1};
    meta.has_frequency = false;
    meta.has_position = false;
    meta.unit[0] = meta.telescope[0] = meta.object[0] = meta.date_obs[0] = '\0';
    meta.weight_sum = NAN;
    memcpy(meta.frame, "FK5", 4);
    meta.equinox = 2000;
    memcpy(meta.history[0], "caf\xc3\xa9\n", 7);
    const bytes fits = write_and_read("a.fits", &meta, image);
    static const char *const absent[] = {"BMAJ",     "BMIN",    "BPA",      "CTYPE3",
                                         "CRVAL3",   "BUNIT",   "TELESCOP", "OBJECT",
                                         "DATE-OBS", "SLCWSUM", "SPECSYS"};
    for (int64_t k = 0; k < TEST_COUNT(absent); k++) {
        assert_false(find_card(&fits, absent[k], value));
    }
    assert_true(card_number(&fits, "EQUINOX") == 2000);
    for (int64_t k = 0; k < data_begin(&fits); k++) {
        assert_in_range(fits.at[k], 0x20, 0x7E);
    }
    free(fits.at);
}

static void says_that_beams_differ(void **state) {
    (void)state;
    slc_image_meta meta = make_meta();
    const slc_beam beams[2] = {{true, 0.1, 0.1, 0}, {false, 0, 0, 0}};
    double image[2 * NX * NY];
    char value[73];
    meta.n_planes = 2;
    meta.freq_step_hz = 1e6;
    meta.plane_beam = beams;
    fill_image(&meta, image);
    const bytes fits = write_and_read("a.fits", &meta, image);
    assert_true(card_number(&fits, "NAXIS3") == 2 && card_number(&fits, "CDELT3") == 1e6);
    assert_false(find_card(&fits, "BMAJ", value));
    bool is_said = false;
    for (int64_t at = 0; at < data_begin(&fits); at += 80) {
        is_said = is_said || memcmp(fits.at + at, "COMMENT Each plane has its own beam", 35) == 0;
    }
    assert_true(is_said);
    free(fits.at);
}

static void takes_any_name(void **state) {
    (void)state;
    static const char *const names[] = {
        "a b.fits", "[1].fits",   "x+1.fits",   "(y).fits",        "!z.fits",   "~root.fits",
        " a.fits",  "'q\".fits",  "-.fits",     "\xc3\xa4.fits",   "a.gz.fits", "mem:.fits",
        "a[0].h5",  "stdout.png", "UPPER.FITS", "http:&%41#.fits", "$HOME.h5",  "[2].png",
    };
    char directory[TEST_PATH_BYTES];
    char here[TEST_PATH_BYTES];
    slc_image_meta meta = make_meta();
    double image[NX * NY];
    fill_image(&meta, image);
    test_directory_create(directory);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(directory), 0);
    int64_t n = 0;
    for (int64_t k = 0; k < TEST_COUNT(names); k++) {
        if (slc_image_file_check(names[k], &meta, false) == SLC_ERROR_UNSUPPORTED) {
            continue; /* not built in */
        }
        TEST_OK(slc_image_file_write(names[k], &meta, image, false, NULL));
        assert_int_equal(access(names[k], F_OK), 0);
        n++;
    }
    assert_int_equal(test_directory_count(directory), n);
    assert_int_equal(chdir(here), 0);
    test_directory_remove(directory);
}

static void gives_the_same_bytes_again(void **state) {
    (void)state;
    static const char *const names[] = {"a.h5", "a.fits", "a.png"};
    slc_image_meta meta = make_meta();
    double image[NX * NY];
    fill_image(&meta, image);
    for (int64_t k = 0; k < TEST_COUNT(names); k++) {
        const bytes first = write_and_read(names[k], &meta, image);
        const bytes second = write_and_read(names[k], &meta, image);
        assert_int_equal(first.n, second.n);
        assert_memory_equal(first.at, second.at, (size_t)first.n);
        free(first.at);
        free(second.at);
    }
}

/* ---- HDF5 through its library ---- */

static double read_real(hid_t object, const char *name) {
    double value = NAN;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    assert_true(H5Aclose(attribute) >= 0);
    return value;
}

static void expect_text_attribute(hid_t object, const char *name, const char *text) {
    char value[128] = "";
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    const hid_t type = H5Aget_type(attribute);
    assert_true(H5Tget_size(type) < sizeof value);
    assert_true(H5Aread(attribute, type, value) >= 0);
    assert_string_equal(value, text);
    assert_true(H5Tclose(type) >= 0 && H5Aclose(attribute) >= 0);
}

static void expect_shape(hid_t dataset, int rank, const hsize_t *shape) {
    hsize_t found[3] = {0, 0, 0};
    const hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    assert_true(H5Sget_simple_extent_dims(space, found, NULL) >= 0);
    assert_memory_equal(found, shape, (size_t)rank * sizeof *shape);
    assert_true(H5Sclose(space) >= 0);
}

static void writes_hdf5(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    slc_image_meta meta = make_meta();
    double image[NX * NY];
    double found[NX * NY];
    fill_image(&meta, image);
    test_directory_create(directory);
    test_join(directory, "a.hdf5", path);
    write_image(path, &meta, image);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/image", H5P_DEFAULT);
    const hsize_t shape[2] = {NY, NX};
    expect_shape(dataset, 2, shape);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_memory_equal(found, image, sizeof image);
    assert_true(read_real(dataset, "CRPIX1") == 3 && read_real(dataset, "LONPOLE") == 180);
    assert_true(fabs(read_real(dataset, "CDELT1") + 0.11459155902616464) < 1e-16);
    assert_true(read_real(dataset, "SLCNFLAG") == 3e9);
    expect_text_attribute(dataset, "CTYPE2", "DEC--SIN");
    expect_text_attribute(dataset, "DATE-OBS", "2017-04-11T01:02:03.456");
    assert_int_equal(H5Aexists(dataset, "HISTORY"), 1);
    assert_true(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0);
    test_directory_remove(directory);
}

static void writes_complex_cubes(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    slc_image_meta meta = make_meta();
    double image[2 * NX * NY * 2];
    double found[2 * NX * NY];
    meta.n_parts = 2;
    meta.n_planes = 2;
    test_fill_f64(image, TEST_COUNT(image), 1);
    test_directory_create(directory);
    test_join(directory, "a.h5", path);
    write_image(path, &meta, image);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/image", H5P_DEFAULT);
    const hsize_t shape[3] = {2, NY, NX};
    expect_shape(dataset, 3, shape);
    const hid_t imaginary = H5Tcreate(H5T_COMPOUND, 8);
    assert_true(H5Tinsert(imaginary, "i", 0, H5T_NATIVE_DOUBLE) >= 0);
    assert_true(H5Dread(dataset, imaginary, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    for (int64_t k = 0; k < TEST_COUNT(found); k++) {
        assert_true(found[k] == image[2 * k + 1]);
    }
    assert_true(H5Tclose(imaginary) >= 0 && H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0);
    test_join(directory, "a.fits", path);
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_UNSUPPORTED, ".h5");
    test_join(directory, "a.png", path);
    TEST_FAILS(slc_image_file_write(path, &meta, image, false, NULL), SLC_ERROR_UNSUPPORTED, ".h5");
    assert_int_equal(test_directory_count(directory), 1);
    test_directory_remove(directory);
}

/* ---- PNG by Python's zlib ---- */

/* Prints the kinds of chunks, then the rows of palette indices from the top, as numbers. */
static const char decode_png[] =
    "import sys, zlib, struct\n"
    "b = open(sys.argv[1], 'rb').read()\n"
    "assert b[:8] == b'\\x89PNG\\r\\n\\x1a\\n'\n"
    "at, data, kinds = 8, b'', []\n"
    "while at < len(b):\n"
    "    n, kind = struct.unpack('>I4s', b[at:at + 8])\n"
    "    body = b[at + 8:at + 8 + n]\n"
    "    assert zlib.crc32(kind + body) == struct.unpack('>I', b[at + 8 + n:at + 12 + n])[0]\n"
    "    kinds.append(kind.decode())\n"
    "    if kind == b'IHDR': nx, ny, depth, colour = struct.unpack('>IIBB', body[:10])\n"
    "    if kind == b'tRNS': assert body[0] == 0 and set(body[1:]) <= {255}\n"
    "    if kind == b'IDAT': data += body\n"
    "    at += 12 + n\n"
    "assert (depth, colour) == (8, 3)\n"
    "rows = zlib.decompress(data)\n"
    "assert len(rows) == ny * (nx + 1) and not any(rows[::nx + 1])\n"
    "print(','.join(kinds), *[v for j in range(ny) for v in rows[j * (nx + 1) + 1:][:nx]])\n";

static void writes_png_north_up(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    char script[TEST_PATH_BYTES];
    char command[3 * TEST_PATH_BYTES];
    slc_image_meta meta = make_meta();
    double image[NX * NY];
    fill_image(&meta, image);
    need_format("a.png", &meta);
    test_directory_create(directory);
    test_join(directory, "a.png", path);
    test_join(directory, "decode.py", script);
    write_image(path, &meta, image);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    assert_true(fputs(decode_png, file) >= 0);
    assert_int_equal(fclose(file), 0);
    if (system("python3 -c 'import zlib' 2>/dev/null") != 0) {
        test_directory_remove(directory);
        TEST_SKIP("no python3 to read a PNG with");
    }
    (void)snprintf(command, sizeof command, "python3 %s %s", script, path);
    file = popen(command, "r");
    assert_non_null(file);
    char kinds[128] = "";
    int level[NX * NY] = {0};
    assert_int_equal(fscanf(file, "%127s", kinds), 1);
    for (int k = 0; k < NX * NY; k++) {
        assert_int_equal(fscanf(file, "%d", &level[k]), 1);
    }
    assert_int_equal(pclose(file), 0);
    assert_string_equal(kinds, "IHDR,PLTE,tRNS,tEXt,tEXt,tEXt,IDAT,IEND");
    /* Of 19 values, 0.25 is darkest and the last but one, 33.25, already white: rank 17.98. */
    assert_int_equal(level[3 * NX + 0], 1);
    assert_int_equal(level[4], 255);
    assert_int_equal(level[3], 255);
    assert_int_equal(level[2 * NX + 2], 0);
    /* 10.25 at row 1 from the south, column 0: 1 + 254 · 10/33 = 77.97. */
    assert_int_equal(level[2 * NX + 0], 78);
    test_directory_remove(directory);
}

/* What is asked for on the disk beforehand is enough for each format, for noise too. */
static void needs_no_more_than_it_says(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const slci_image_format *format;
    } cases[] = {{"a.fits", &slci_format_fits},
                 {"a.h5", &slci_format_h5},
                 {"a.png", &slci_format_png}};
    slc_image_meta meta = make_meta();
    meta.nx = 600;
    meta.ny = 70;
    meta.n_planes = 1;
    meta.plane_beam = NULL;
    const int64_t n = meta.nx * meta.ny;
    double *image = (double *)test_allocate(n * 8);
    test_fill_f64(image, n, 3);
    char directory[TEST_PATH_BYTES];
    test_directory_create(directory);
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        char path[TEST_PATH_BYTES];
        struct stat info;
        test_join(directory, cases[k].name, path);
        const slc_status status = slc_image_file_write(path, &meta, image, false, NULL);
        if (status != SLC_ERROR_UNSUPPORTED) {
            TEST_OK(status);
            assert_int_equal(stat(path, &info), 0);
            assert_true(info.st_size <= cases[k].format->bytes(&meta));
        }
    }
    test_directory_remove(directory);
    free(image);
}

/* ---- what cannot be done ---- */

static void refuses_before_computing(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    slc_image_meta meta = make_meta();
    test_directory_create(directory);
    test_join(directory, "a.jpg", path);
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_ARGUMENT, "'.jpg'");
    test_join(directory, "fits", path);
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_ARGUMENT, ".fits, .h5 or .png");
    test_join(directory, "missing/a.h5", path);
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_OUTPUT, "make it first");
    test_join(directory, "a.h5", path);
    meta.nx = meta.ny = 65537;
    meta.n_planes = 1000000;
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_OUTPUT,
               "needs 34360786952032768 bytes");
    meta.nx = meta.ny = INT64_MAX / 4;
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_ARGUMENT, "63 bits");
    meta = make_meta();
    meta.nx = 1000001;
    test_join(directory, "a.png", path);
    TEST_FAILS(slc_image_file_check(path, &meta, false), SLC_ERROR_UNSUPPORTED, "");
    assert_int_equal(test_directory_count(directory), 0);
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_fits_header),
        cmocka_unit_test(writes_fits_pixels),
        cmocka_unit_test(leaves_unknown_things_out),
        cmocka_unit_test(says_that_beams_differ),
        cmocka_unit_test(takes_any_name),
        cmocka_unit_test(gives_the_same_bytes_again),
        cmocka_unit_test(writes_hdf5),
        cmocka_unit_test(writes_complex_cubes),
        cmocka_unit_test(writes_png_north_up),
        cmocka_unit_test(needs_no_more_than_it_says),
        cmocka_unit_test(refuses_before_computing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
