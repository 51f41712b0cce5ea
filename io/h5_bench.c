/* HDF5 as anybody uses it: filters set on the creation list, H5Dwrite, and H5Dread with a cache that
 * holds a chunk, which is the best that it does. */
#include "io/h5_bench.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "io/h5_codec.h"
#include "io/h5_file.h"

#define ZSTD_LEVEL 3
#define DEFLATE_LEVEL 4

struct slci_h5_bench_file {
    slci_h5_bench_set set;
    hid_t file, dataset, type;
    int64_t row;
};

const char *slci_h5_bench_filter_name(slci_h5_bench_filter filter) {
    static const char *const names[] = {[SLCI_H5_BENCH_CONTIGUOUS] = "contiguous",
                                        [SLCI_H5_BENCH_NONE] = "chunks, no filter",
                                        [SLCI_H5_BENCH_ZSTD] = "shuffle+zstd:3",
                                        [SLCI_H5_BENCH_DEFLATE] = "shuffle+deflate:4"};
    return names[filter];
}

/* The caller closes it. */
static hid_t complex_type(void) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * sizeof(float));
    (void)H5Tinsert(type, "r", 0, H5T_NATIVE_FLOAT);
    (void)H5Tinsert(type, "i", sizeof(float), H5T_NATIVE_FLOAT);
    return type;
}

static void to_sizes(int rank, const int64_t *from, hsize_t *to) {
    for (int d = 0; d < rank; d++) {
        to[d] = (hsize_t)from[d];
    }
}

static hid_t creation_list(const slci_h5_bench_set *set) {
    hsize_t chunk[SLC_MAX_RANK];
    const unsigned level = ZSTD_LEVEL;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    if (set->filter != SLCI_H5_BENCH_CONTIGUOUS) {
        to_sizes(set->rank, set->chunk, chunk);
        (void)H5Pset_chunk(list, set->rank, chunk);
    }
    if (set->filter == SLCI_H5_BENCH_ZSTD) {
        (void)H5Pset_shuffle(list);
        (void)H5Pset_filter(list, SLCI_FILTER_ZSTD, H5Z_FLAG_MANDATORY, 1, &level);
    } else if (set->filter == SLCI_H5_BENCH_DEFLATE) {
        (void)H5Pset_shuffle(list);
        (void)H5Pset_deflate(list, DEFLATE_LEVEL);
    }
    return list;
}

static slc_status fail(const char *path, const char *what) {
    char text[256];
    slci_h5_error_text(text, sizeof text);
    return SLC_FAIL(SLC_ERROR_OUTPUT, "%s: cannot %s the file to measure with: %s", path, what,
                    text);
}

static slc_status create_dataset(slci_h5_bench_file *self) {
    const slci_h5_bench_set *set = &self->set;
    hsize_t shape[SLC_MAX_RANK];
    to_sizes(set->rank, set->shape, shape);
    self->type = complex_type();
    self->file = H5Fcreate(set->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(set->rank, shape, NULL);
    const hid_t list = creation_list(set);
    self->dataset = self->file < 0 ? -1
                                   : H5Dcreate2(self->file, SLCI_H5_BENCH_NAME, self->type, space,
                                                H5P_DEFAULT, list, H5P_DEFAULT);
    const slc_status status = self->dataset >= 0 ? SLC_OK : fail(set->path, "make");
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    return status;
}

slc_status slci_h5_bench_begin(const slci_h5_bench_set *set, slci_h5_bench_file **out) {
    slci_h5_bench_file *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to make it", set->path);
    }
    self->set = *set;
    slci_h5_lock();
    const slc_status status = create_dataset(self);
    slci_h5_unlock();
    if (status != SLC_OK) {
        slci_h5_bench_end(self);
        return status;
    }
    *out = self;
    return SLC_OK;
}

/* Reads or writes rows; whether HDF5 did. */
static bool move_rows(const slci_h5_bench_file *self, int64_t row, int64_t n_rows, void *dst,
                      const void *src) {
    hsize_t start[SLC_MAX_RANK] = {(hsize_t)row};
    hsize_t count[SLC_MAX_RANK];
    to_sizes(self->set.rank, self->set.shape, count);
    count[0] = (hsize_t)n_rows;
    const hid_t space = H5Dget_space(self->dataset);
    const hid_t memory = H5Screate_simple(self->set.rank, count, NULL);
    (void)H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    const herr_t result =
        dst != NULL ? H5Dread(self->dataset, self->type, memory, space, H5P_DEFAULT, dst)
                    : H5Dwrite(self->dataset, self->type, memory, space, H5P_DEFAULT, src);
    (void)H5Sclose(memory);
    (void)H5Sclose(space);
    return result >= 0;
}

slc_status slci_h5_bench_append(slci_h5_bench_file *self, const void *rows, int64_t n_rows) {
    slci_h5_lock();
    const slc_status status =
        move_rows(self, self->row, n_rows, NULL, rows) ? SLC_OK : fail(self->set.path, "write");
    slci_h5_unlock();
    self->row += n_rows;
    return status;
}

void slci_h5_bench_end(slci_h5_bench_file *self) {
    if (self == NULL) {
        return;
    }
    slci_h5_lock();
    if (self->dataset > 0) {
        (void)H5Dclose(self->dataset);
    }
    if (self->file > 0) {
        (void)H5Fclose(self->file);
    }
    if (self->type > 0) {
        (void)H5Tclose(self->type);
    }
    slci_h5_unlock();
    free(self);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static slc_status read_timed(const slci_h5_bench_set *set, int64_t n_rows, void *dst,
                             double *seconds) {
    slci_h5_bench_file self = {.set = *set, .type = complex_type()};
    self.file = H5Fopen(set->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    self.dataset = self.file < 0 ? -1 : H5Dopen2(self.file, SLCI_H5_BENCH_NAME, H5P_DEFAULT);
    bool is_read = self.dataset >= 0;
    const int64_t begin_ns = slc_clock_ns();
    for (int64_t row = 0; row < set->shape[0] && is_read; row += n_rows) {
        const int64_t left = set->shape[0] - row;
        is_read = move_rows(&self, row, left < n_rows ? left : n_rows, dst, NULL);
    }
    *seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    slc_status status = SLC_OK;
    if (!is_read) {
        char text[256];
        slci_h5_error_text(text, sizeof text);
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: HDF5 cannot read it: %s", set->path, text);
    }
    if (self.dataset >= 0) {
        (void)H5Dclose(self.dataset);
    }
    if (self.file >= 0) {
        (void)H5Fclose(self.file);
    }
    (void)H5Tclose(self.type);
    return status;
}

slc_status slci_h5_bench_library_read(const slci_h5_bench_set *set, int64_t n_rows, void *dst,
                                      double *seconds) {
    static const int64_t unknown[SLCI_H5_CODECS] = {0};
    slci_h5_lock();
    slci_h5_codec_expect(unknown);
    for (int codec = 0; codec < SLCI_H5_CODECS; codec++) {
        const int filter = slci_h5_codec_filter((slci_h5_codec)codec);
        if (filter != SLCI_FILTER_ZSTD) {
            (void)H5Zunregister(filter);
        }
    }
    const slc_status status = read_timed(set, n_rows, dst, seconds);
    slci_h5_codec_register();
    slci_h5_unlock();
    return status;
}

/* ---- many chunks ------------------------------------------------------------------------------ */

slc_status slci_h5_bench_write_many(const char *path, int64_t n_chunks) {
    const hsize_t shape[1] = {(hsize_t)n_chunks};
    const hsize_t chunk[1] = {1};
    slci_h5_lock();
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_chunk(list, 1, chunk);
    (void)H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    (void)H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    const hid_t space = H5Screate_simple(1, shape, NULL);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t dataset = file < 0 ? -1
                                   : H5Dcreate2(file, SLCI_H5_BENCH_NAME, H5T_NATIVE_INT64, space,
                                                H5P_DEFAULT, list, H5P_DEFAULT);
    slc_status status = dataset >= 0 ? SLC_OK : fail(path, "make");
    if (dataset >= 0) {
        (void)H5Dclose(dataset);
    }
    if (file >= 0 && H5Fclose(file) < 0 && status == SLC_OK) {
        status = fail(path, "close");
    }
    (void)H5Sclose(space);
    (void)H5Pclose(list);
    slci_h5_unlock();
    return status;
}
