/* Pictures as FITS, through cfitsio.
 *
 * The header is written whole before the first pixel, so that nothing is ever moved, and pixels go
 * from the caller's array in pieces, converted by cfitsio: no second image in memory. There is no
 * DATE and no checksum of a moment: the same picture gives the same bytes.
 *
 * cfitsio reads meaning into file names (brackets, '+', a leading '!' or '~'); the calls for "disk
 * files" take them as they are, but for leading characters, which "./" hides. */
#include <errno.h>
#include <fitsio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "io/image_formats.h"
#include "io/outfile.h"

#define FITS_BLOCK_BYTES 2880
#define PIECE_PIXELS ((int64_t)1 << 20) /* between two looks at the status; 8 MiB of the caller's */

static slc_status fits_check(const char *name, const slc_image_meta *meta) {
    if (meta->n_parts != 1) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: FITS has no complex images; one that keeps its imaginary part "
                        "(--complex) needs a .h5 file",
                        name);
    }
    int step = 1;
    if (!slci_image_stokes_step(meta, &step)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: the STOKES axis of FITS is evenly spaced in the order I, Q, U, V or "
                        "RR, LL, RL, LR, XX, YY, XY, YX, which these polarisations are not; write "
                        ".h5, or choose others",
                        name);
    }
    return SLC_OK;
}

static int64_t pixel_bytes(const slc_image_meta *meta) {
    return meta->is_double ? 8 : 4;
}

static int64_t fits_bytes(const slc_image_meta *meta) {
    /* Cards of 80 bytes: ours, the history, and a dozen of the container. */
    const int64_t header = (int64_t)(SLCI_MAX_CARDS + SLC_IMAGE_HISTORY_LINES + 16) * 80;
    const int64_t data = slci_image_pixels(meta) * pixel_bytes(meta);
    return slc_round_up(header, FITS_BLOCK_BYTES) + slc_round_up(data, FITS_BLOCK_BYTES);
}

/* The reason that the file system gave, if one did, and cfitsio's otherwise. */
static slc_status fail_fits(const char *name, int fits_status, int reason) {
    char text[FLEN_STATUS] = "";
    fits_get_errstatus(fits_status, text);
    fits_clear_errmsg();
    return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: %s", name,
                    reason != 0 ? strerror(reason) : text);
}

static void write_card(fitsfile *file, const slci_card *card, int *status) {
    const char *const comment = card->comment[0] == '\0' ? NULL : card->comment;
    switch (card->kind) {
    case SLCI_CARD_TEXT:
        fits_write_key_str(file, card->name, card->text, comment, status);
        break;
    case SLCI_CARD_INTEGER:
        fits_write_key_lng(file, card->name, card->integer, comment, status);
        break;
    case SLCI_CARD_REAL:
        /* 15 significant digits: what a double holds for certain, and fits the column. */
        fits_write_key_dbl(file, card->name, card->real, -15, comment, status);
        break;
    }
}

static void write_header(fitsfile *file, const slc_image_meta *meta, int *status) {
    LONGLONG shape[4] = {meta->nx, meta->ny, meta->n_planes, slci_image_n_stokes(meta)};
    fits_create_imgll(file, meta->is_double ? DOUBLE_IMG : FLOAT_IMG, 4, shape, status);
    slci_cards cards;
    slci_image_cards(meta, &cards);
    for (int k = 0; k < cards.n; k++) {
        write_card(file, &cards.card[k], status);
    }
    for (int k = 0; k < cards.n_remarks; k++) {
        fits_write_comment(file, cards.remark[k], status);
    }
    for (int k = 0; k < meta->n_history; k++) {
        char line[sizeof meta->history[0]];
        slci_copy_ascii(meta->history[k], line, sizeof line);
        fits_write_history(file, line, status);
    }
}

static void write_pixels(fitsfile *file, const slc_image_meta *meta, const double *image,
                         int *status) {
    const int64_t n = slci_image_pixels(meta);
    for (int64_t begin = 0; begin < n && *status == 0; begin += PIECE_PIXELS) {
        const int64_t count = slc_min_i64(PIECE_PIXELS, n - begin);
        /* cfitsio takes what it only reads without const. */
        fits_write_img(file, TDOUBLE, begin + 1, count, (void *)(uintptr_t)(image + begin), status);
    }
}

static slc_status fits_write(const char *temporary, const char *name, const slc_image_meta *meta,
                             const double *image, slc_log *log) {
    (void)log;
    char path[SLC_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s%s", temporary[0] == '/' ? "" : "./", temporary);
    /* cfitsio makes files, but opens no empty one; the name is ours alone. */
    if (unlink(path) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: %s", name, strerror(errno));
    }
    int status = 0;
    fitsfile *file = NULL;
    errno = 0;
    fits_create_diskfile(&file, path, &status);
    if (status != 0) {
        return fail_fits(name, status, errno);
    }
    write_header(file, meta, &status);
    /* errno means something only right after the call that failed. */
    errno = status == 0 ? 0 : errno;
    write_pixels(file, meta, image, &status);
    int reason = status == 0 ? 0 : errno;
    int close_status = 0;
    errno = 0;
    fits_close_file(file, &close_status);
    if (status == 0 && close_status != 0) {
        status = close_status;
        reason = errno;
    }
    return status == 0 ? SLC_OK : fail_fits(name, status, reason);
}

const slci_image_format slci_format_fits = {"FITS", fits_check, fits_bytes, fits_write};
