/* FITS models, through cfitsio: the first image of the file that has pixels, compressed or not.
 *
 * Pixels come as they are stored where they are single-precision floats, else as doubles; undefined
 * ones of integer images (BLANK) come as NaN. cfitsio reads meaning into file names; the calls for
 * "disk files" take them as they are, but for leading characters, which "./" hides. */
#include <fitsio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/model_file.h"
#include "io/outfile.h"

typedef struct fits_model {
    slci_model_file base;
    fitsfile *fits; /* NULL: not open */
} fits_model;

static slc_status fail_fits(const char *path, const char *what, int fits_status) {
    char text[FLEN_STATUS] = "";
    fits_get_errstatus(fits_status, text);
    fits_clear_errmsg();
    return SLC_FAIL(fits_status == MEMORY_ALLOCATION ? SLC_ERROR_MEMORY : SLC_ERROR_INPUT,
                    "%s: %s: %s", path, what, text);
}

static bool fits_model_real(slci_model_file *file, const char *name, double *out) {
    int status = 0;
    double value = 0.0;
    fits_read_key_dbl(((fits_model *)file)->fits, name, &value, NULL, &status);
    fits_clear_errmsg();
    if (status != 0) {
        return false;
    }
    *out = value;
    return true;
}

static bool fits_model_text(slci_model_file *file, const char *name,
                            char out[SLCI_MODEL_TEXT_BYTES]) {
    int status = 0;
    char value[FLEN_VALUE] = "";
    fits_read_key_str(((fits_model *)file)->fits, name, value, NULL, &status);
    fits_clear_errmsg();
    if (status != 0) {
        return false;
    }
    (void)snprintf(out, SLCI_MODEL_TEXT_BYTES, "%.*s", SLCI_MODEL_TEXT_BYTES - 1, value);
    return true;
}

/* Whole rows are one run of the file; parts of them are read row by row. */
static slc_status fits_model_read(slci_model_file *file, const slci_model_window *window,
                                  void *dst) {
    fits_model *model = (fits_model *)file;
    const bool is_single = file->dtype == SLC_F32;
    const int64_t pixel_bytes = is_single ? 4 : 8;
    const int64_t width = file->shape[0];
    const bool is_whole = window->nx == width;
    const int64_t n_runs = is_whole ? 1 : window->ny;
    const int64_t n = is_whole ? window->ny * window->nx : window->nx;
    float single_nan = NAN;
    double double_nan = (double)NAN;
    int status = 0;
    for (int64_t r = 0; r < n_runs && status == 0; r++) {
        const int64_t first = (window->plane * file->shape[1] + window->y + r) * width + window->x;
        int any = 0;
        fits_read_img(model->fits, is_single ? TFLOAT : TDOUBLE, first + 1, n,
                      is_single ? (void *)&single_nan : (void *)&double_nan,
                      (char *)dst + r * n * pixel_bytes, &any, &status);
    }
    return status == 0 ? SLC_OK : fail_fits(file->path, "pixels cannot be read", status);
}

static void fits_model_close(slci_model_file *file) {
    fits_model *model = (fits_model *)file;
    int status = 0;
    if (model->fits != NULL) {
        fits_close_file(model->fits, &status);
        fits_clear_errmsg();
    }
    free(model);
}

static const slci_model_file_ops fits_ops = {.real = fits_model_real,
                                             .text = fits_model_text,
                                             .read = fits_model_read,
                                             .close = fits_model_close};

/* Moves to the first image with two axes or more. */
static slc_status find_image(fits_model *model) {
    const char *path = model->base.path;
    int status = 0;
    int n_units = 0;
    fits_get_num_hdus(model->fits, &n_units, &status);
    for (int u = 1; u <= n_units && status == 0; u++) {
        int kind = 0;
        int n_axes = 0;
        fits_movabs_hdu(model->fits, u, &kind, &status);
        if (status == 0 && (kind == IMAGE_HDU || fits_is_compressed_image(model->fits, &status))) {
            fits_get_img_dim(model->fits, &n_axes, &status);
        }
        if (status == 0 && n_axes >= 2) {
            return SLC_OK;
        }
    }
    return status != 0 ? fail_fits(path, "is no FITS file that can be read", status)
                       : SLC_FAIL(SLC_ERROR_INPUT, "%s: there is no image of two axes in it", path);
}

static slc_status read_shape(fits_model *model) {
    slci_model_file *file = &model->base;
    int status = 0;
    int bitpix = 0;
    LONGLONG shape[SLCI_MODEL_AXES] = {0};
    fits_get_img_paramll(model->fits, SLCI_MODEL_AXES, &bitpix, &file->n_axes, shape, &status);
    if (status == 0) {
        fits_get_img_equivtype(model->fits, &bitpix, &status);
    }
    if (status != 0) {
        return fail_fits(file->path, "the size of the image cannot be read", status);
    }
    if (file->n_axes > SLCI_MODEL_AXES) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: the image has %d axes, expected at most %d",
                        file->path, file->n_axes, SLCI_MODEL_AXES);
    }
    for (int a = 0; a < file->n_axes; a++) {
        file->shape[a] = shape[a];
    }
    file->dtype = bitpix == FLOAT_IMG ? SLC_F32 : SLC_F64;
    return SLC_OK;
}

static slc_status open_fits(fits_model *model) {
    const char *path = model->base.path;
    char name[SLC_PATH_BYTES + 64];
    int status = 0;
    (void)snprintf(name, sizeof name, "%s%s", path[0] == '/' ? "" : "./", path);
    fits_open_diskfile(&model->fits, name, READONLY, &status);
    if (status != 0) {
        model->fits = NULL;
        return fail_fits(path, "is no FITS file that can be read", status);
    }
    SLC_TRY(find_image(model));
    return read_shape(model);
}

slc_status slci_model_fits_open(const char *path, slci_model_file **out) {
    fits_model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", path);
    }
    model->base.ops = &fits_ops;
    model->base.path = path;
    const slc_status status = open_fits(model);
    if (status != SLC_OK) {
        fits_model_close(&model->base);
        return status;
    }
    *out = &model->base;
    return SLC_OK;
}
