/* HDF5 as anybody uses it: filters set on the creation list, H5Dwrite, and H5Dread with a cache that
 * holds a chunk, which is the best that it does. */
#include "io/h5_bench.h"

#include <hdf5.h>
#include <stdlib.h>

#include "io/h5_array_internal.h"
#include "io/h5_codec.h"
#include "io/h5_file.h"
#include "io/h5_filter_list.h"
#include "io/h5_reason.h"

struct slci_h5_bench_file {
    const char *path; /* lent */
    hid_t file, dataset, type;
    int rank;
    hsize_t shape[SLC_MAX_RANK];
};

static slc_status fail(slc_status status, const char *path, const char *what) {
    char text[256];
    slci_h5_error_text(text, sizeof text);
    return SLC_FAIL(status, "%s: HDF5 cannot %s the file to measure with: %s", path, what, text);
}

/* ---- filters ---------------------------------------------------------------------------------- */

/* Takes Sluice's filters but zstd from HDF5, which then looks for plugins. With the lock held. False
 * where it keeps one, since a dataset is open that needs it: what was measured then would be ours. */
static bool leave_stock(void) {
    static const int64_t unknown[SLCI_H5_CODECS] = {0};
    bool is_ok = true;
    slci_h5_codec_expect(unknown);
    for (int codec = 0; codec < SLCI_H5_CODECS && is_ok; codec++) {
        const int filter = slci_h5_codec_filter((slci_h5_codec)codec);
        if (filter != SLCI_FILTER_ZSTD && slci_h5_codec_is_built_in((slci_h5_codec)codec)) {
            is_ok = H5Zunregister(filter) >= 0;
        }
    }
    return is_ok;
}

bool slci_h5_bench_has_stock(int filter) {
    slci_h5_lock();
    const bool is_there = leave_stock() && H5Zfilter_avail(filter) > 0;
    (void)H5Eclear2(H5E_DEFAULT);
    slci_h5_codec_register();
    slci_h5_unlock();
    return is_there;
}

static bool set_filters(hid_t list, const slc_h5_filter *filter, int64_t element_bytes) {
    slci_chunk_pipeline pipeline;
    bool is_ok = true;
    slci_h5_filter_pipeline(filter, element_bytes, element_bytes, &pipeline);
    for (int k = 0; k < pipeline.n_filters && is_ok; k++) {
        unsigned values[SLCI_CHUNK_FILTER_VALUES];
        const slci_chunk_filter *one = &pipeline.filter[k];
        for (int v = 0; v < one->n_values; v++) {
            values[v] = one->values[v];
        }
        is_ok = (one->id == SLCI_FILTER_SHUFFLE /* HDF5 itself adds the size of an element */
                     ? H5Pset_shuffle(list)
                     : H5Pset_filter(list, one->id, H5Z_FLAG_MANDATORY, (size_t)one->n_values,
                                     values)) >= 0;
    }
    return is_ok;
}

/* ---- files ------------------------------------------------------------------------------------ */

static slc_status begin(const char *path, slci_h5_bench_file **out) {
    slci_h5_bench_file *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to open it", path);
    }
    self->path = path;
    self->file = -1;
    self->dataset = -1;
    slci_h5_lock();
    self->type = (hid_t)slci_h5_array_file_type(SLC_C64, false);
    *out = self;
    return SLC_OK;
}

slc_status slci_h5_bench_end(slci_h5_bench_file *self, slc_status status) {
    const bool is_set_closed = self->dataset < 0 || H5Dclose(self->dataset) >= 0;
    const bool is_closed = (self->file < 0 || H5Fclose(self->file) >= 0) && is_set_closed;
    if (status == SLC_OK && !is_closed) {
        status = fail(SLC_ERROR_OUTPUT, self->path, "close");
    }
    (void)H5Tclose(self->type);
    slci_h5_codec_register();
    slci_h5_unlock();
    free(self);
    return status;
}

static slc_status open_locked(slci_h5_bench_file *self) {
    self->file = H5Fopen(self->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    self->dataset = self->file < 0 ? -1 : H5Dopen2(self->file, SLCI_H5_BENCH_NAME, H5P_DEFAULT);
    const hid_t space = self->dataset < 0 ? -1 : H5Dget_space(self->dataset);
    self->rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, self->shape, NULL);
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    return self->rank > 0 ? SLC_OK : fail(SLC_ERROR_INPUT, self->path, "open");
}

slc_status slci_h5_bench_open(const char *path, slci_h5_bench_filters filters,
                              slci_h5_bench_file **out) {
    slci_h5_bench_file *self = NULL;
    SLC_TRY(begin(path, &self));
    const slc_status status = filters != SLCI_H5_BENCH_STOCK || leave_stock()
                                  ? open_locked(self)
                                  : fail(SLC_ERROR_INPUT, path, "prepare");
    if (status != SLC_OK) {
        return slci_h5_bench_end(self, status);
    }
    *out = self;
    return SLC_OK;
}

static slc_status create_locked(slci_h5_bench_file *self, const slci_h5_bench_set *set) {
    hsize_t chunk[SLC_MAX_RANK];
    self->rank = set->rank;
    for (int d = 0; d < set->rank; d++) {
        self->shape[d] = (hsize_t)set->shape[d];
        chunk[d] = (hsize_t)set->chunk[d];
    }
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(set->rank, self->shape, NULL);
    if (self->type >= 0 && list >= 0 && space >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_chunk(list, set->rank, chunk) >= 0 &&
        set_filters(list, &set->filter, (int64_t)H5Tget_size(self->type))) {
        self->file = H5Fcreate(set->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    }
    if (self->file >= 0) {
        self->dataset = H5Dcreate2(self->file, SLCI_H5_BENCH_NAME, self->type, space, H5P_DEFAULT,
                                   list, H5P_DEFAULT);
    }
    const slc_status status =
        self->dataset >= 0 ? SLC_OK : fail(SLC_ERROR_OUTPUT, set->path, "make");
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    return status;
}

slc_status slci_h5_bench_create(const slci_h5_bench_set *set, slci_h5_bench_file **out) {
    slci_h5_bench_file *self = NULL;
    SLC_TRY(begin(set->path, &self));
    const slc_status status = create_locked(self, set);
    if (status != SLC_OK) {
        return slci_h5_bench_end(self, status);
    }
    *out = self;
    return SLC_OK;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Reads or writes rows; whether HDF5 did. */
static bool move_rows(const slci_h5_bench_file *self, int64_t row, int64_t n_rows, void *dst,
                      const void *src) {
    hsize_t start[SLC_MAX_RANK] = {(hsize_t)row};
    hsize_t count[SLC_MAX_RANK] = {(hsize_t)n_rows};
    for (int d = 1; d < self->rank; d++) {
        count[d] = self->shape[d];
    }
    const hid_t space = H5Dget_space(self->dataset);
    const hid_t memory = H5Screate_simple(self->rank, count, NULL);
    const bool is_selected =
        space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
    const bool is_ok =
        is_selected &&
        (dst != NULL ? H5Dread(self->dataset, self->type, memory, space, H5P_DEFAULT, dst)
                     : H5Dwrite(self->dataset, self->type, memory, space, H5P_DEFAULT, src)) >= 0;
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Sclose(memory);
    (void)H5Sclose(space);
    slci_h5_reason_restore(reason);
    return is_ok;
}

slc_status slci_h5_bench_read(slci_h5_bench_file *self, int64_t row, int64_t n_rows, void *dst) {
    return move_rows(self, row, n_rows, dst, NULL) ? SLC_OK
                                                   : fail(SLC_ERROR_INPUT, self->path, "read");
}

slc_status slci_h5_bench_write(slci_h5_bench_file *self, int64_t row, int64_t n_rows,
                               const void *src) {
    return move_rows(self, row, n_rows, NULL, src) ? SLC_OK
                                                   : fail(SLC_ERROR_OUTPUT, self->path, "write");
}

/* ---- many chunks ------------------------------------------------------------------------------ */

slc_status slci_h5_bench_write_many(const char *path, int64_t n_chunks) {
    const hsize_t shape[1] = {(hsize_t)n_chunks};
    const hsize_t chunk[1] = {1};
    slci_h5_lock();
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = list < 0 ? -1 : H5Screate_simple(1, shape, NULL);
    hid_t file = -1;
    if (space >= 0 && H5Pset_chunk(list, 1, chunk) >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0) {
        file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    }
    const hid_t dataset = file < 0 ? -1
                                   : H5Dcreate2(file, SLCI_H5_BENCH_NAME, H5T_NATIVE_INT64, space,
                                                H5P_DEFAULT, list, H5P_DEFAULT);
    slc_status status = dataset >= 0 ? SLC_OK : fail(SLC_ERROR_OUTPUT, path, "make");
    if (dataset >= 0 && H5Dclose(dataset) < 0) {
        status = fail(SLC_ERROR_OUTPUT, path, "close");
    }
    if (file >= 0 && H5Fclose(file) < 0 && status == SLC_OK) {
        status = fail(SLC_ERROR_OUTPUT, path, "close");
    }
    (void)H5Sclose(space);
    (void)H5Pclose(list);
    slci_h5_unlock();
    return status;
}
