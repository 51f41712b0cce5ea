/* A model image as a source: boxes of [plane, y, x] out of a file that gives windows of one plane. The
 * file's library is entered by one thread at a time. */
#include "io/model.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/h5_file.h"
#include "io/model_file.h"

/* A cube of more planes is a damaged header. */
#define MAX_PLANES ((int64_t)1 << 20)

typedef struct model {
    slc_source base;
    char *path;
    slci_file_stamp stamp;
    slci_model_file *file;
    slc_model_meta meta;
    double *freq_hz; /* [planes of the file], or NULL */
    int64_t first_plane;
    pthread_mutex_t mutex; /* of the file */
} model;

slc_status slc_model_recognise(const char *path, slc_model_kind *out) {
    char start[9] = "";
    slci_file_stamp stamp;
    SLC_TRY(slci_file_stamp_get(path, &stamp));
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    }
    const size_t n = fread(start, 1, sizeof start - 1, file);
    (void)fclose(file);
    if (n >= 6 && memcmp(start, "SIMPLE", 6) == 0) {
        *out = SLC_MODEL_FITS;
    } else {
        *out = slci_h5_is_hdf5(path) ? SLC_MODEL_HDF5 : SLC_MODEL_OTHER;
    }
    return SLC_OK;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static slc_status read_planes(model *self, const slc_box *box, char *dst) {
    const int64_t plane_bytes = box->extent[1] * box->extent[2] * slc_dtype_bytes(self->meta.dtype);
    for (int64_t p = 0; p < box->extent[0]; p++) {
        const slci_model_window window = {.plane = self->first_plane + box->origin[0] + p,
                                          .y = box->origin[1],
                                          .x = box->origin[2],
                                          .ny = box->extent[1],
                                          .nx = box->extent[2]};
        SLC_TRY(self->file->ops->read(self->file, &window, dst + p * plane_bytes));
    }
    return SLC_OK;
}

static slc_status model_read(slc_source *source, const slc_box *box, void *const *dst) {
    model *self = (model *)source;
    if (dst[0] == NULL || slc_box_count(box) == 0) {
        return SLC_OK;
    }
    (void)pthread_mutex_lock(&self->mutex);
    const slc_status status = read_planes(self, box, dst[0]);
    (void)pthread_mutex_unlock(&self->mutex);
    atomic_fetch_add(&source->counters.bytes_read,
                     slc_box_count(box) * slc_dtype_bytes(self->meta.dtype));
    return status;
}

static slc_status model_finish(slc_source *source) {
    const model *self = (const model *)source;
    slci_file_stamp now;
    SLC_TRY(slci_file_stamp_get(self->path, &now));
    return slci_file_stamp_equal(&now, &self->stamp)
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s: the file was changed while it was read",
                          self->path);
}

static void model_destroy(slc_source *source) {
    model *self = (model *)source;
    if (self->file != NULL) {
        self->file->ops->close(self->file);
    }
    (void)pthread_mutex_destroy(&self->mutex);
    free(self->freq_hz);
    free(self->path);
    free(self);
}

static const slc_source_ops model_ops = {.read = model_read,
                                         .finish = model_finish,
                                         .destroy = model_destroy};

/* ---- opening ---------------------------------------------------------------------------------- */

static slc_status list_frequencies(model *self, const double plane_hz[2]) {
    const int64_t n = self->meta.n_planes;
    if (!isfinite(plane_hz[0]) || n > MAX_PLANES || n < 1) {
        return n >= 1 && n <= MAX_PLANES
                   ? SLC_OK
                   : SLC_FAIL(SLC_ERROR_INPUT, "%s: the image has %lld planes, expected 1 to %lld",
                              self->path, (long long)n, (long long)MAX_PLANES);
    }
    self->freq_hz = malloc((size_t)n * sizeof *self->freq_hz);
    if (self->freq_hz == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %lld frequencies", self->path,
                        (long long)n);
    }
    for (int64_t p = 0; p < n; p++) {
        self->freq_hz[p] = plane_hz[0] + (double)p * plane_hz[1];
    }
    self->meta.freq_hz = self->freq_hz;
    return SLC_OK;
}

static void set_identity(model *self) {
    (void)snprintf(self->base.name, sizeof self->base.name, "%.250s", self->path);
    /* Not the file's name: a run may be resumed from another folder. */
    (void)snprintf(self->base.identity, sizeof self->base.identity,
                   "an image in a file of %lld bytes, changed at %lld ns",
                   (long long)self->stamp.bytes, (long long)self->stamp.modified_ns);
}

static slc_status open_model(model *self, const char *path, slc_log *log) {
    slc_model_kind kind = SLC_MODEL_OTHER;
    double plane_hz[2];
    self->path = strdup(path);
    if (self->path == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", path);
    }
    SLC_TRY(slc_model_recognise(path, &kind));
    SLC_TRY(slci_file_stamp_get(path, &self->stamp));
    if (kind == SLC_MODEL_OTHER) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: is neither a FITS nor an HDF5 file", path);
    }
    SLC_TRY(kind == SLC_MODEL_FITS ? slci_model_fits_open(self->path, &self->file)
                                   : slci_model_h5_open(self->path, log, &self->file));
    SLC_TRY(slci_model_read_header(self->file, &self->meta, plane_hz));
    SLC_TRY(list_frequencies(self, plane_hz));
    set_identity(self);
    const int64_t shape[3] = {self->meta.n_planes, self->meta.ny, self->meta.nx};
    self->base.shared_rank = 3;
    self->base.n_fields = 1;
    const slc_status status = slc_layout_dense(self->meta.dtype, 3, shape, &self->base.fields[0]);
    return status == SLC_OK ? SLC_OK : slc_status_prefix(status, "%s", path);
}

slc_status slc_model_open(const char *path, slc_log *log, slc_source **out) {
    model *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", path);
    }
    self->base.ops = &model_ops;
    (void)pthread_mutex_init(&self->mutex, NULL);
    const slc_status status = open_model(self, path, log);
    if (status != SLC_OK) {
        model_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return SLC_OK;
}

const slc_model_meta *slc_model_get_meta(const slc_source *source) {
    return &((const model *)source)->meta;
}

int64_t slc_model_reader_bytes(const slc_source *source) {
    const slci_model_file *file = ((const model *)source)->file;
    return file->ops->reader_bytes == NULL ? 0 : file->ops->reader_bytes(file);
}

void slc_model_use_planes(slc_source *source, int64_t begin, int64_t n) {
    model *self = (model *)source;
    slc_layout *layout = &source->fields[0];
    self->first_plane += begin;
    self->meta.n_planes = n;
    self->meta.freq_hz = self->meta.freq_hz == NULL ? NULL : self->meta.freq_hz + begin;
    layout->shape[0] = n; /* fewer planes: the strides stay as they are */
}
