/* A dataset as a sink. The file is complete before the first box: its structure is written and its
 * whole size reserved when it is made, so a box is one write to a place that is known, in any
 * order, and the same boxes in another order give the same bytes. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_array.h"
#include "io/h5_array_internal.h"
#include "io/h5_output.h"
#include "io/outfile.h"

/* What the structure of a file with one dataset takes, at most; chunks have an index besides. */
#define STRUCTURE_BYTES 65536
#define INDEX_BYTES_PER_CHUNK 64

typedef struct h5_array_sink {
    slc_sink base;
    char dataset_name[SLCI_H5_NAME_BYTES];
    slc_outfile file;
    slci_h5_output *output; /* NULL: closed */
    hid_t dataset, type;    /* negative: not open */
    hid_t space;            /* likewise; the dataset's, of which a write selects a box */
} h5_array_sink;

/* ---- types ------------------------------------------------------------------------------------ */

/* IEEE 754 binary16, which HDF5 can hold but has no name for. */
static hid_t half_type(void) {
    const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    if (type >= 0 && (H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || H5Tset_size(type, 2) < 0 ||
                      H5Tset_ebias(type, 15) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

static hid_t complex_type(hid_t part) {
    const size_t bytes = part < 0 ? 0 : H5Tget_size(part);
    const hid_t type = part < 0 ? -1 : H5Tcreate(H5T_COMPOUND, 2 * bytes);
    if (type >= 0 && (H5Tinsert(type, "r", 0, part) < 0 || H5Tinsert(type, "i", bytes, part) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

/* The type in the file, which is also that in memory. The caller closes it; negative on failure. */
static hid_t file_type(slc_dtype dtype) {
    const struct {
        slc_dtype dtype;
        hid_t type;
    } standard[] = {
        {SLC_U8, H5T_STD_U8LE},    {SLC_I8, H5T_STD_I8LE},    {SLC_U16, H5T_STD_U16LE},
        {SLC_I16, H5T_STD_I16LE},  {SLC_U32, H5T_STD_U32LE},  {SLC_I32, H5T_STD_I32LE},
        {SLC_U64, H5T_STD_U64LE},  {SLC_I64, H5T_STD_I64LE},  {SLC_F32, H5T_IEEE_F32LE},
        {SLC_F64, H5T_IEEE_F64LE}, {SLC_C64, H5T_IEEE_F32LE}, {SLC_C128, H5T_IEEE_F64LE},
    };
    if (dtype == SLC_F16) {
        return half_type();
    }
    if (dtype == SLC_C32) {
        const hid_t part = half_type();
        const hid_t type = complex_type(part);
        (void)H5Tclose(part);
        return type;
    }
    for (size_t k = 0; k < sizeof standard / sizeof standard[0]; k++) {
        if (standard[k].dtype == dtype) {
            return dtype == SLC_C64 || dtype == SLC_C128 ? complex_type(standard[k].type)
                                                         : H5Tcopy(standard[k].type);
        }
    }
    return -1;
}

/* ---- checking --------------------------------------------------------------------------------- */

static bool is_chunked(const slc_h5_array_output *output) {
    return output->layout.rank > 0 && output->chunk[0] > 0;
}

static slc_status check_layout(const slc_h5_array_output *output, int64_t *bytes) {
    const slc_layout *layout = &output->layout;
    if (layout->dtype == SLC_FIXED128) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s:%s: HDF5 has no type for %s", output->path,
                        output->dataset, slc_dtype_name(layout->dtype));
    }
    int64_t n_chunks = 1;
    *bytes = slc_dtype_bytes(layout->dtype);
    for (int d = 0; d < layout->rank; d++) {
        const int64_t chunk = output->chunk[d];
        const int64_t in_chunks =
            is_chunked(output) && chunk > 0 ? slc_ceil_div(layout->shape[d], chunk) : 0;
        if (is_chunked(output) != (chunk > 0) || chunk < 0 || chunk > UINT32_MAX) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s:%s: a chunk of %lld in dimension %d",
                            output->path, output->dataset, (long long)chunk, d);
        }
        if (!slc_checked_mul(*bytes, is_chunked(output) ? in_chunks * chunk : layout->shape[d],
                             bytes) ||
            !slc_checked_mul(n_chunks, is_chunked(output) ? in_chunks : 1, &n_chunks) ||
            *bytes > INT64_MAX / 4) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s:%s: the size in bytes does not fit 63 bits",
                            output->path, output->dataset);
        }
    }
    *bytes += STRUCTURE_BYTES + n_chunks * INDEX_BYTES_PER_CHUNK;
    return SLC_OK;
}

slc_status slc_h5_array_check(const slc_h5_array_output *output) {
    char name[SLCI_H5_NAME_BYTES];
    int64_t bytes = 0;
    SLC_TRY(slci_h5_array_name(output->dataset, name));
    SLC_TRY(check_layout(output, &bytes));
    return slc_outfile_check(output->path, output->overwrite, bytes);
}

/* ---- making ----------------------------------------------------------------------------------- */

/* HDF5 forgets why a call failed with the next one: whatever fails here says so before it closes
 * anything. */

/* The groups above the dataset, each without a time in it. */
static slc_status make_groups(const h5_array_sink *sink) {
    const char *name = sink->dataset_name;
    const hid_t file = slci_h5_output_file(sink->output);
    slc_status status = SLC_OK;
    for (const char *slash = strchr(name + 1, '/'); slash != NULL && status == SLC_OK;
         slash = strchr(slash + 1, '/')) {
        char group[SLCI_H5_NAME_BYTES];
        (void)snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
        const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
        const hid_t made = list < 0 ? -1 : H5Gcreate2(file, group, H5P_DEFAULT, list, H5P_DEFAULT);
        status = made >= 0 ? SLC_OK : slci_h5_output_fail(sink->output, group);
        (void)H5Gclose(made);
        (void)H5Pclose(list);
    }
    return status;
}

static hid_t make_space(const slc_layout *layout) {
    hsize_t shape[SLC_MAX_RANK];
    for (int d = 0; d < layout->rank; d++) {
        shape[d] = (hsize_t)layout->shape[d];
    }
    return layout->rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(layout->rank, shape, NULL);
}

static slc_status make_dataset(h5_array_sink *sink, const slc_h5_array_output *output) {
    const slc_layout *layout = &output->layout;
    hsize_t chunk[SLC_MAX_RANK];
    for (int d = 0; d < layout->rank; d++) {
        chunk[d] = (hsize_t)output->chunk[d];
    }
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    if (list >= 0 &&
        (is_chunked(output) ? H5Pset_chunk(list, layout->rank, chunk)
                            : H5Pset_layout(list, H5D_CONTIGUOUS)) >= 0 &&
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0) {
        sink->dataset = H5Dcreate2(slci_h5_output_file(sink->output), sink->dataset_name,
                                   sink->type, sink->space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    const slc_status status =
        sink->dataset >= 0 ? SLC_OK : slci_h5_output_fail(sink->output, sink->dataset_name);
    (void)H5Pclose(list);
    return status;
}

static slc_status create_locked(h5_array_sink *sink, const slc_h5_array_output *output) {
    SLC_TRY(slci_h5_output_create(sink->file.temporary_path, output->path, &sink->output));
    sink->type = file_type(output->layout.dtype);
    if (sink->type < 0) {
        return slci_h5_output_fail(sink->output, sink->dataset_name);
    }
    sink->space = make_space(&output->layout);
    if (sink->space < 0) {
        return slci_h5_output_fail(sink->output, sink->dataset_name);
    }
    SLC_TRY(make_groups(sink));
    return make_dataset(sink, output);
}

/* ---- the sink --------------------------------------------------------------------------------- */

static slc_status write_locked(const h5_array_sink *sink, const slc_box *box, const void *src) {
    hid_t memory_space = H5S_ALL; /* of a single value */
    bool is_ok = true;
    if (box->rank > 0) {
        hsize_t start[SLC_MAX_RANK];
        hsize_t count[SLC_MAX_RANK];
        for (int d = 0; d < box->rank; d++) {
            start[d] = (hsize_t)box->origin[d];
            count[d] = (hsize_t)box->extent[d];
        }
        memory_space = H5Screate_simple(box->rank, count, NULL);
        is_ok = memory_space >= 0 &&
                H5Sselect_hyperslab(sink->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
    }
    is_ok = is_ok && H5Dwrite(sink->dataset, sink->type, memory_space,
                              box->rank > 0 ? sink->space : H5S_ALL, H5P_DEFAULT, src) >= 0;
    const slc_status status = is_ok ? slci_h5_output_status(sink->output)
                                    : slci_h5_output_fail(sink->output, sink->dataset_name);
    if (box->rank > 0 && memory_space >= 0) {
        (void)H5Sclose(memory_space);
    }
    return status;
}

static slc_status sink_write(slc_sink *base, const slc_box *box, const void *src) {
    const h5_array_sink *sink = (const h5_array_sink *)base;
    if (slc_box_count(box) == 0) {
        return SLC_OK;
    }
    slci_h5_lock();
    const slc_status status = write_locked(sink, box, src);
    slci_h5_unlock();
    return status;
}

/* Closes what HDF5 has open; the file's own failure is the status. */
static slc_status close_locked(h5_array_sink *sink) {
    slc_status status = SLC_OK;
    if (sink->dataset >= 0) {
        (void)H5Dclose(sink->dataset);
        sink->dataset = -1;
    }
    if (sink->type >= 0) {
        (void)H5Tclose(sink->type);
        sink->type = -1;
    }
    if (sink->space >= 0) {
        (void)H5Sclose(sink->space);
        sink->space = -1;
    }
    if (sink->output != NULL) {
        status = slci_h5_output_close(sink->output);
        sink->output = NULL;
    }
    return status;
}

static slc_status sink_commit(slc_sink *base) {
    h5_array_sink *sink = (h5_array_sink *)base;
    slci_h5_lock();
    const slc_status status = close_locked(sink);
    slci_h5_unlock();
    SLC_TRY(status);
    return slc_outfile_commit(&sink->file);
}

static void sink_destroy(slc_sink *base) {
    h5_array_sink *sink = (h5_array_sink *)base;
    slci_h5_lock();
    const slc_status status = close_locked(sink);
    (void)status; /* what is thrown away need not be whole */
    slci_h5_unlock();
    slc_outfile_abandon(&sink->file);
    free(sink);
}

static const slc_sink_ops sink_ops = {.write = sink_write,
                                      .commit = sink_commit,
                                      .destroy = sink_destroy};

static slc_status create_sink(h5_array_sink *sink, const slc_h5_array_output *output) {
    int64_t bytes = 0;
    SLC_TRY(slci_h5_array_name(output->dataset, sink->dataset_name));
    SLC_TRY(check_layout(output, &bytes));
    SLC_TRY(slc_outfile_begin(output->path, output->overwrite, &sink->file));
    slci_h5_lock();
    const slc_status status = create_locked(sink, output);
    slci_h5_unlock();
    return status;
}

slc_status slc_h5_array_create(const slc_h5_array_output *output, slc_sink **out) {
    h5_array_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to write it", output->path);
    }
    sink->base.ops = &sink_ops;
    sink->base.layout = output->layout;
    sink->dataset = -1;
    sink->type = -1;
    sink->space = -1;
    (void)snprintf(sink->base.name, sizeof sink->base.name, "%.127s:%.127s", output->path,
                   output->dataset);
    const slc_status status = create_sink(sink, output);
    if (status != SLC_OK) {
        sink_destroy(&sink->base);
        return status;
    }
    *out = &sink->base;
    return SLC_OK;
}
