/* Visibilities on their way into a copy of a UVH5 file: intensities become rows of all polarisations in
 * the file's type, are staged until a row of chunks is full, and are written then, so that each chunk
 * is encoded once and the same rows give the same bytes however they come.
 *
 *     write --> staged [stage_rows] --full, or another row comes--> visdata
 */
#include "io/uvh5_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_attributes.h"
#include "io/h5_detached.h"
#include "io/uvh5_copy_parts.h"

#define DEFLATE_LEVEL 4

/* What the structure of the new dataset and the copied groups take beyond what the input does. */
#define STRUCTURE_BYTES ((int64_t)1 << 16)

/* ---- numbers ---------------------------------------------------------------------------------- */

static void store_number(const slci_element *type, double value, unsigned char *out) {
    unsigned char bytes[8];
    const int64_t n = type->part_bytes;
    if (n == 4) {
        const float single = (float)value;
        memcpy(bytes, &single, sizeof single);
    } else {
        memcpy(bytes, &value, sizeof value);
    }
    for (int64_t k = 0; k < n; k++) {
        out[k] = bytes[type->is_big_endian ? n - 1 - k : k];
    }
}

/* One row: intensity [n_channels, 2] to elements [n_channels, n_polarisations]. */
static void store_row(const slci_uvh5_copy *copy, const double *intensity, unsigned char *out) {
    const slci_element *type = &copy->type;
    const int64_t n_channels = copy->base.layout.shape[1];
    memset(out, 0, (size_t)copy->row_bytes);
    for (int64_t c = 0; c < n_channels; c++) {
        for (int p = 0; p < copy->n_polarisations; p++) {
            unsigned char *element = out + (c * copy->n_polarisations + p) * type->bytes;
            if (copy->factor[p] > 0.0) {
                store_number(type, copy->factor[p] * intensity[2 * c], element + type->real_offset);
                store_number(type, copy->factor[p] * intensity[2 * c + 1],
                             element + type->imag_offset);
            }
        }
    }
}

/* ---- writing ---------------------------------------------------------------------------------- */

static slc_status write_locked(slci_uvh5_copy *copy) {
    const int rank = copy->vis.rank;
    hsize_t start[SLC_MAX_RANK] = {(hsize_t)copy->first_staged};
    hsize_t count[SLC_MAX_RANK] = {(hsize_t)copy->n_staged};
    for (int d = 1; d < rank; d++) {
        count[d] = (hsize_t)copy->vis.shape[d];
    }
    const hid_t memory_space = H5Screate_simple(rank, count, NULL);
    const bool is_ok =
        memory_space >= 0 &&
        H5Sselect_hyperslab(copy->file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        H5Dwrite(copy->dataset, copy->file_type, memory_space, copy->file_space, H5P_DEFAULT,
                 copy->staged) >= 0;
    /* Before anything is closed: HDF5 forgets with the next call why this one failed. */
    const slc_status status = is_ok ? slci_h5_output_status(copy->output)
                                    : slci_h5_output_fail(copy->output, "dataset /Data/visdata");
    (void)H5Sclose(memory_space);
    return status;
}

static slc_status flush_staged(slci_uvh5_copy *copy) {
    if (copy->n_staged == 0) {
        return SLC_OK;
    }
    slci_h5_lock();
    const slc_status status = write_locked(copy);
    slci_h5_unlock();
    copy->n_written += copy->n_staged;
    copy->n_staged = 0;
    return status;
}

/* Rows up to where the staging is to be emptied: at the border of a row of chunks. */
static int64_t stage_end(const slci_uvh5_copy *copy, int64_t row) {
    return (row / copy->stage_rows + 1) * copy->stage_rows;
}

static slc_status copy_write(slc_sink *sink, const slc_box *box, const void *src) {
    slci_uvh5_copy *copy = (slci_uvh5_copy *)sink;
    const int64_t n_channels = sink->layout.shape[1];
    if (copy->output == NULL || box->origin[1] != 0 || box->extent[1] != n_channels) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: expected whole rows, after the begin", sink->name);
    }
    for (int64_t k = 0; k < box->extent[0]; k++) {
        const int64_t row = box->origin[0] + k;
        if (copy->n_staged > 0 && row != copy->first_staged + copy->n_staged) {
            SLC_TRY(flush_staged(copy));
        }
        copy->first_staged = copy->n_staged == 0 ? row : copy->first_staged;
        store_row(copy, (const double *)src + 2 * k * n_channels,
                  copy->staged + copy->n_staged * copy->row_bytes);
        copy->n_staged++;
        if (row + 1 == stage_end(copy, row) || copy->n_staged == copy->stage_rows) {
            SLC_TRY(flush_staged(copy));
        }
    }
    return SLC_OK;
}

/* ---- making the file -------------------------------------------------------------------------- */

static bool set_filters(const slci_uvh5_copy *copy, hid_t from, hid_t to) {
    if (!copy->keeps_filters) {
        return H5Pset_shuffle(to) >= 0 && H5Pset_deflate(to, DEFLATE_LEVEL) >= 0;
    }
    const int n = H5Pget_nfilters(from);
    bool is_ok = n >= 0;
    for (int k = 0; k < n && is_ok; k++) {
        unsigned flags = 0;
        unsigned values[32] = {0};
        size_t n_values = 32;
        const H5Z_filter_t id =
            H5Pget_filter2(from, (unsigned)k, &flags, &n_values, values, 0, NULL, NULL);
        is_ok = id >= 0 && n_values <= 32 &&
                (id == H5Z_FILTER_SHUFFLE ? H5Pset_shuffle(to)
                                          : H5Pset_filter(to, id, flags, n_values, values)) >= 0;
    }
    return is_ok;
}

/* Chunks with zeros beyond the last row, or one piece with its place reserved. */
static bool set_layout(const slci_uvh5_copy *copy, hid_t from, hid_t to) {
    hsize_t chunk[SLC_MAX_RANK];
    if (copy->chunk[0] == 0) {
        return H5Pset_layout(to, H5D_CONTIGUOUS) >= 0 &&
               H5Pset_alloc_time(to, H5D_ALLOC_TIME_EARLY) >= 0 &&
               H5Pset_fill_time(to, H5D_FILL_TIME_NEVER) >= 0;
    }
    for (int d = 0; d < copy->vis.rank; d++) {
        chunk[d] = (hsize_t)copy->chunk[d];
    }
    return H5Pset_chunk(to, copy->vis.rank, chunk) >= 0 &&
           H5Pset_fill_time(to, H5D_FILL_TIME_ALLOC) >= 0 && set_filters(copy, from, to);
}

/* Complex single precision, its parts called as h5py calls them. */
static hid_t plain_complex(void) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
    if (type >= 0 && (H5Tinsert(type, "r", 0, H5T_IEEE_F32LE) < 0 ||
                      H5Tinsert(type, "i", 4, H5T_IEEE_F32LE) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

/* The shape of visdata, with the extents that it may grow to; one piece cannot grow. */
static hid_t make_space(const slci_uvh5_copy *copy) {
    hsize_t shape[SLC_MAX_RANK] = {0};
    const hid_t space = slci_h5_detached_space(H5Dget_space((hid_t)copy->vis.id));
    if (space < 0 || copy->chunk[0] > 0) {
        return space;
    }
    const bool is_ok = H5Sget_simple_extent_dims(space, shape, NULL) >= 0;
    (void)H5Sclose(space);
    return is_ok ? H5Screate_simple(copy->vis.rank, shape, NULL) : -1;
}

static slc_status make_dataset(slci_uvh5_copy *copy, hid_t data_group) {
    const hid_t input = (hid_t)copy->vis.id;
    const hid_t from = H5Dget_create_plist(input);
    copy->file_type =
        copy->keeps_type ? slci_h5_detached_type(H5Dget_type(input)) : plain_complex();
    copy->file_space = make_space(copy);
    if (from < 0 || copy->file_type < 0 || copy->file_space < 0) {
        const bool lacks_memory = slci_h5_lacks_memory();
        (void)H5Pclose(from);
        return lacks_memory
                   ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to look at /Data/visdata",
                              copy->options.in_path)
                   : SLC_FAIL(SLC_ERROR_INPUT, "%s: how /Data/visdata is stored cannot be read",
                              copy->options.in_path);
    }
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    if (list >= 0 && set_layout(copy, from, list)) {
        copy->dataset = H5Dcreate2(data_group, "visdata", copy->file_type, copy->file_space,
                                   H5P_DEFAULT, list, H5P_DEFAULT);
    }
    char failed[SLCI_H5_NAME_BYTES] = "dataset /Data/visdata";
    const bool is_ok = copy->dataset >= 0 && slci_h5_copy_attributes(input, copy->dataset, failed);
    const slc_status status =
        is_ok ? slci_h5_output_status(copy->output) : slci_h5_output_fail(copy->output, failed);
    (void)H5Pclose(list);
    (void)H5Pclose(from);
    return status;
}

static slc_status begin_locked(slci_uvh5_copy *copy) {
    hid_t data_group = -1;
    SLC_TRY(
        slci_h5_output_create(copy->file.temporary_path, copy->options.out_path, &copy->output));
    SLC_TRY(slci_uvh5_copy_objects(copy, &data_group));
    const slc_status status = make_dataset(copy, data_group);
    (void)H5Gclose(data_group);
    return status;
}

void slc_uvh5_copy_stage_least(slc_sink *sink) {
    slci_uvh5_copy *copy = (slci_uvh5_copy *)sink;
    copy->stage_rows = copy->least_rows;
    copy->info.staging_bytes = copy->info.least_staging_bytes;
}

slc_status slc_uvh5_copy_begin(slc_sink *sink) {
    slci_uvh5_copy *copy = (slci_uvh5_copy *)sink;
    copy->staged = malloc((size_t)slc_max_i64(copy->info.staging_bytes, 1));
    if (copy->staged == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to stage %" PRId64 " rows", sink->name,
                        copy->stage_rows);
    }
    SLC_TRY(slc_outfile_begin(copy->options.out_path, copy->options.overwrite, &copy->file));
    slci_h5_lock();
    const slc_status status = begin_locked(copy);
    slci_h5_unlock();
    return status;
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* Closes what HDF5 has open; the file's own failure is the status. */
static slc_status close_locked(slci_uvh5_copy *copy) {
    bool is_ok = true;
    slc_status status = SLC_OK;
    if (copy->dataset >= 0) {
        is_ok = H5Dclose(copy->dataset) >= 0;
        copy->dataset = -1;
    }
    if (copy->file_type >= 0) {
        (void)H5Tclose(copy->file_type);
        copy->file_type = -1;
    }
    if (copy->file_space >= 0) {
        (void)H5Sclose(copy->file_space);
        copy->file_space = -1;
    }
    if (copy->output != NULL) {
        status = is_ok ? SLC_OK : slci_h5_output_fail(copy->output, "the last chunks");
        const slc_status closed = slci_h5_output_close(copy->output);
        status = status == SLC_OK ? closed : status;
        copy->output = NULL;
    }
    return status;
}

static slc_status copy_prepare(slc_sink *sink, const char **path) {
    slci_uvh5_copy *copy = (slci_uvh5_copy *)sink;
    slci_file_stamp now;
    *path = copy->file.temporary_path;
    if (copy->file.is_prepared) {
        return SLC_OK;
    }
    SLC_TRY(flush_staged(copy));
    if (copy->n_written < sink->layout.shape[0]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: %" PRId64 " of %" PRId64 " rows were written",
                        sink->name, copy->n_written, sink->layout.shape[0]);
    }
    SLC_TRY(slci_file_stamp_get(copy->options.in_path, &now));
    if (!slci_file_stamp_equal(&now, &copy->stamp)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the file was changed while it was read",
                        copy->options.in_path);
    }
    slci_h5_lock();
    const slc_status status = close_locked(copy);
    slci_h5_unlock();
    SLC_TRY(status);
    return slc_outfile_prepare(&copy->file);
}

static slc_status copy_commit(slc_sink *sink) {
    const char *path = NULL;
    SLC_TRY(copy_prepare(sink, &path));
    return slc_outfile_commit(&((slci_uvh5_copy *)sink)->file);
}

static void copy_destroy(slc_sink *sink) {
    slci_uvh5_copy *copy = (slci_uvh5_copy *)sink;
    slci_h5_lock();
    const slc_status status = close_locked(copy);
    (void)status; /* what is thrown away need not be whole */
    slci_h5_unlock();
    slc_outfile_abandon(&copy->file);
    slci_h5_dataset_close(&copy->vis);
    if (copy->input > 0) {
        slci_h5_close(copy->input);
    }
    free(copy->staged);
    free(copy);
}

static const slc_sink_ops copy_ops = {.write = copy_write,
                                      .prepare = copy_prepare,
                                      .commit = copy_commit,
                                      .destroy = copy_destroy};

/* Bytes of the output: the input's with visdata taken out and put in anew. With filters only the run
 * can tell. */
slc_h5_reading slc_uvh5_copy_reading(const char *path) {
    static const char *const names[] = {"/"};
    return (slc_h5_reading){.path = path, .names = names, .n_names = 1};
}

static slc_status check_output(slci_uvh5_copy *copy) {
    int64_t vis_bytes = 0;
    int64_t total = 0;
    const bool is_filtered = copy->vis.is_filtered;
    if (!slc_checked_mul(copy->vis.shape[0], copy->row_bytes, &vis_bytes) ||
        !slc_checked_add(copy->stamp.bytes - slci_h5_dataset_stored_bytes(&copy->vis),
                         is_filtered ? 0 : vis_bytes, &total) ||
        !slc_checked_add(slc_max_i64(total, 0), STRUCTURE_BYTES, &total)) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: its size does not fit 63 bits",
                        copy->options.out_path);
    }
    copy->info.output_bytes = total;
    if (copy->options.overwrite) {
        const slc_h5_reading input = slc_uvh5_copy_reading(copy->options.in_path);
        SLC_TRY(slc_h5_files_exclude(&input, &copy->options.out_path, 1));
    }
    return slc_outfile_check(copy->options.out_path, copy->options.overwrite, total);
}

slc_status slc_uvh5_copy_open(const slc_uvh5_copy_options *options, slc_sink **out) {
    slci_uvh5_copy *copy = calloc(1, sizeof *copy);
    if (copy == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to copy it", options->in_path);
    }
    copy->base.ops = &copy_ops;
    copy->options = *options;
    copy->dataset = -1;
    copy->file_type = -1;
    copy->file_space = -1;
    (void)snprintf(copy->base.name, sizeof copy->base.name, "%.250s",
                   options->out_path != NULL ? options->out_path : options->in_path);
    slc_status status = slci_uvh5_copy_look(copy);
    if (status == SLC_OK && options->out_path != NULL) {
        status = check_output(copy);
    }
    if (status != SLC_OK) {
        copy_destroy(&copy->base);
        return status;
    }
    *out = &copy->base;
    return SLC_OK;
}

const slc_uvh5_copy_info *slc_uvh5_copy_get_info(const slc_sink *sink) {
    return &((const slci_uvh5_copy *)sink)->info;
}
