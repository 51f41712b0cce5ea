#include "tests/support/test_fits.h"

#include "io/image_file.h"

#define CARD 80
#define BLOCK 2880

static void put_card(FILE *file, const char *text) {
    assert_true(fprintf(file, "%-80.80s", text) == CARD);
}

/* Fills the block up. */
static void pad(FILE *file, char with) {
    while (ftell(file) % BLOCK != 0) {
        assert_int_equal(fputc(with, file), (unsigned char)with);
    }
}

/* The bits of a value, most significant byte first. */
static void put_value(FILE *file, int bitpix, double value) {
    unsigned char bytes[8] = {0};
    int n = 8;
    if (bitpix == -64) {
        memcpy(bytes, &value, 8);
    } else if (bitpix == -32) {
        const float single = (float)value;
        memcpy(bytes, &single, 4);
        n = 4;
    } else {
        const int16_t whole = (int16_t)value;
        memcpy(bytes, &whole, 2);
        n = 2;
    }
    for (int k = n - 1; k >= 0; k--) {
        assert_int_equal(fputc(bytes[k], file), bytes[k]);
    }
}

void test_fits_write(const char *path, int bitpix, int n_axes, const int64_t *shape,
                     const char *const *cards, int64_t n_cards, const double *values) {
    char card[CARD + 1];
    int64_t n = 1;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    put_card(file, "SIMPLE  =                    T");
    (void)snprintf(card, sizeof card, "BITPIX  = %20d", bitpix);
    put_card(file, card);
    (void)snprintf(card, sizeof card, "NAXIS   = %20d", n_axes);
    put_card(file, card);
    for (int a = 0; a < n_axes; a++) {
        (void)snprintf(card, sizeof card, "NAXIS%-3d= %20lld", a + 1, (long long)shape[a]);
        put_card(file, card);
        n *= shape[a];
    }
    for (int64_t k = 0; k < n_cards; k++) {
        put_card(file, cards[k]);
    }
    put_card(file, "END");
    pad(file, ' ');
    for (int64_t k = 0; k < n; k++) {
        put_value(file, bitpix, values[k]);
    }
    pad(file, '\0');
    assert_int_equal(fclose(file), 0);
}

void test_need_fits(void) {
    const slc_image_meta meta = {.nx = 1, .ny = 1, .n_planes = 1, .n_parts = 1};
    if (slc_image_file_check("x.fits", &meta, true) == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("this build has no FITS");
    }
}
