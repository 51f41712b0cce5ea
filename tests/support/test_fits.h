/* FITS files written byte by byte, with any header, for tests of what reads them.
 *
 *     const char *cards[] = {"CTYPE1  = 'RA---SIN'", "CRVAL1  = 60.0"};
 *     test_fits_write(path, -32, 2, (const int64_t[]){nx, ny}, cards, 2, values);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_FITS_H
#define SLC_TESTS_SUPPORT_TEST_FITS_H

#include "tests/support/test_support.h"

/* An image of `shape` [n_axes], x first, as BITPIX -32, -64 or 16; `cards` [n_cards] follow the
 * mandatory ones; values [Π shape], x fastest. */
void test_fits_write(const char *path, int bitpix, int n_axes, const int64_t *shape,
                     const char *const *cards, int64_t n_cards, const double *values);

/* Skips the test where FITS was not built in. */
void test_need_fits(void);

#endif
