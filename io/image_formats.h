/* Internal: what the writers of pictures have in common.
 * A format checks and writes; image_file.c picks it by the extension and does the rest. The facts
 * about the picture are made once, as cards with FITS names, so that a FITS header and the
 * attributes of an HDF5 file say the same.
 */
#ifndef SLC_IO_IMAGE_FORMATS_H
#define SLC_IO_IMAGE_FORMATS_H

#include <stdint.h>

#include "io/image_file.h"

#define SLCI_MAX_CARDS 64
#define SLCI_CARD_TEXT_BYTES 69 /* 68 characters: what fits into one FITS card */

typedef enum slci_card_kind { SLCI_CARD_TEXT, SLCI_CARD_INTEGER, SLCI_CARD_REAL } slci_card_kind;

typedef struct slci_card {
    char name[9];
    slci_card_kind kind;
    char text[SLCI_CARD_TEXT_BYTES]; /* printable ASCII */
    int64_t integer;
    double real;         /* finite */
    const char *comment; /* static, printable ASCII */
} slci_card;

typedef struct slci_cards {
    int n;
    slci_card card[SLCI_MAX_CARDS];
    int n_remarks;         /* facts in words, beside the history: COMMENT */
    const char *remark[4]; /* static */
} slci_cards;

/* All keywords but those that belong to the FITS container (SIMPLE, BITPIX, NAXIS...). What is
 * unknown or not finite is left out. */
void slci_image_cards(const slc_image_meta *meta, slci_cards *out);

/* Copies at most capacity - 1 bytes; whatever is not printable ASCII becomes '?'. */
void slci_copy_ascii(const char *from, char *to, int64_t capacity);

/* Pixels of all planes. The caller has been through slc_image_file_check. */
int64_t slci_image_pixels(const slc_image_meta *meta);

/* Planes of all polarisations together; how many polarisations, and the code of the k-th. */
int64_t slci_image_planes(const slc_image_meta *meta);
int slci_image_n_stokes(const slc_image_meta *meta);
int slci_image_stokes(const slc_image_meta *meta, int k);

/* The step of the codes from one polarisation to the next; false where it is not one and the same. */
bool slci_image_stokes_step(const slc_image_meta *meta, int *step);

/* One way of writing. check: what this format cannot hold, SLC_ERROR_UNSUPPORTED. bytes: of the
 * file, 0 where only writing can tell. write: into the existing empty file `temporary`; on failure
 * the caller removes it. `name` is the final name, for messages. */
typedef struct slci_image_format {
    const char *name;
    slc_status (*check)(const char *name, const slc_image_meta *meta);
    int64_t (*bytes)(const slc_image_meta *meta);
    slc_status (*write)(const char *temporary, const char *name, const slc_image_meta *meta,
                        const double *image, slc_log *log);
} slci_image_format;

extern const slci_image_format slci_format_fits; /* fits_cfitsio.c or fits_absent.c */
extern const slci_image_format slci_format_h5;   /* h5_image.c */
extern const slci_image_format slci_format_png;  /* png_libpng.c or png_absent.c */

#endif
