/* Internal: a file that holds a model image, whatever its format: keywords with FITS names, and pixels.
 * io/model.c makes a source of it; model_fits_*.c and h5_model.c are the formats.
 */
#ifndef SLC_IO_MODEL_FILE_H
#define SLC_IO_MODEL_FILE_H

#include "io/model.h"

#define SLCI_MODEL_AXES 9
#define SLCI_MODEL_TEXT_BYTES 72

typedef struct slci_model_file slci_model_file;

/* Pixels x … x + nx - 1 of rows y … y + ny - 1 of one plane. */
typedef struct slci_model_window {
    int64_t plane, y, x, ny, nx;
} slci_model_window;

typedef struct slci_model_file_ops {
    /* False where the keyword is missing or of another kind; `out` is then as it was. */
    bool (*real)(slci_model_file *file, const char *name, double *out);
    bool (*text)(slci_model_file *file, const char *name, char out[SLCI_MODEL_TEXT_BYTES]);
    /* dst [ny, nx] of the file's dtype. Called by one thread at a time. */
    slc_status (*read)(slci_model_file *file, const slci_model_window *window, void *dst);
    /* (optional) Host memory that reading takes. */
    int64_t (*reader_bytes)(const slci_model_file *file);
    void (*close)(slci_model_file *file);
} slci_model_file_ops;

struct slci_model_file {
    const slci_model_file_ops *ops;
    const char *path; /* lent */
    int n_axes;
    int64_t shape[SLCI_MODEL_AXES]; /* as FITS counts: x first */
    slc_dtype dtype;
};

/* SLC_ERROR_INPUT, SLC_ERROR_UNSUPPORTED, SLC_ERROR_MEMORY. `path` is lent until close. */
SLC_MUST_USE slc_status slci_model_fits_open(const char *path, slci_model_file **out);
SLC_MUST_USE slc_status slci_model_h5_open(const char *path, slc_log *log, slci_model_file **out);

/* io/model_header.c: reads the keywords into `meta`, whose sizes come from the file's shape; freq_hz is
 * left NULL, and `plane_hz` gives the first plane's frequency and the step from plane to plane, NaN
 * where there is none. */
SLC_MUST_USE slc_status slci_model_read_header(slci_model_file *file, slc_model_meta *meta,
                                               double plane_hz[2]);

#endif
