/* A dataset as a sink. Without a filter the file is complete before the first box: its structure is
 * written and its whole size reserved when it is made, so a box is one write to a place that is known.
 * With a filter chunks are put together and encoded by io/chunk_sink.h, and appended in C order. Either
 * way the same elements in other boxes and another order give the same bytes. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/chunk_encode.h"
#include "io/chunk_sink.h"
#include "io/h5_array.h"
#include "io/h5_array_internal.h"
#include "io/h5_filter_list.h"
#include "io/h5_output.h"
#include "io/outfile.h"

/* What the structure of a file with one dataset takes, at most; chunks have an index besides. */
#define STRUCTURE_BYTES 65536
#define INDEX_BYTES_PER_CHUNK 64

/* Large enough that a chunk is one good read of a disk, small enough that many fit a tile. */
#define USUAL_CHUNK_BYTES ((int64_t)2 << 20)

typedef struct h5_array_sink {
    slc_sink base;
    char dataset_name[SLCI_H5_NAME_BYTES];
    slc_outfile file;
    slci_h5_output *output; /* NULL: closed */
    hid_t dataset, type;    /* negative: not open; the type is that in memory */
    hid_t space;            /* likewise; the dataset's, of which a write selects a box */
    int64_t chunk[SLC_MAX_RANK];
    int64_t n_chunks;
    slci_chunk_sink *chunks; /* NULL: there is no filter */
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

/* The type in memory. The caller closes it; negative on failure. */
static hid_t memory_type(slc_dtype dtype) {
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

/* The same in the file's byte order. */
static hid_t file_type(slc_dtype dtype, bool is_big_endian) {
    const hid_t type = memory_type(dtype);
    if (type < 0 || !is_big_endian || H5Tget_class(type) == H5T_COMPOUND) {
        const hid_t part = type < 0 || !is_big_endian ? -1 : H5Tget_member_type(type, 0);
        if (part < 0) {
            return type;
        }
        (void)H5Tclose(type);
        const hid_t swapped = H5Tset_order(part, H5T_ORDER_BE) < 0 ? -1 : complex_type(part);
        (void)H5Tclose(part);
        return swapped;
    }
    if (H5Tset_order(type, H5T_ORDER_BE) < 0) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

/* ---- checking --------------------------------------------------------------------------------- */

static bool is_chunked(const slc_h5_array_output *output) {
    return output->layout.rank > 0 && output->chunk[0] > 0;
}

static bool is_filtered(const slc_h5_array_output *output) {
    return output->layout.rank > 0 &&
           (output->filter.kind != SLC_H5_FILTER_NONE || output->filter.has_checksum);
}

/* The chunk grid, and what the file takes: with a filter its structure only, since nobody knows what
 * the elements will take. */
static slc_status check_layout(const slc_h5_array_output *output, int64_t *n_chunks,
                               int64_t *bytes) {
    const slc_layout *layout = &output->layout;
    if (layout->dtype == SLC_FIXED128) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s:%s: HDF5 has no type for %s", output->path,
                        output->dataset, slc_dtype_name(layout->dtype));
    }
    *n_chunks = 1;
    *bytes = slc_dtype_bytes(layout->dtype);
    int64_t chunk_bytes = *bytes;
    for (int d = 0; d < layout->rank; d++) {
        const int64_t chunk = output->chunk[d];
        const int64_t in_chunks =
            is_chunked(output) && chunk > 0 ? slc_ceil_div(layout->shape[d], chunk) : 0;
        if (is_chunked(output) != (chunk > 0) || chunk < 0 || chunk > UINT32_MAX ||
            !slc_checked_mul(chunk_bytes, slc_max_i64(chunk, 1), &chunk_bytes) ||
            chunk_bytes > SLCI_CHUNK_MAX_BYTES) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s:%s: a chunk of %lld in dimension %d; a chunk has less than 4 GiB",
                            output->path, output->dataset, (long long)chunk, d);
        }
        if (!slc_checked_mul(*bytes, is_chunked(output) ? in_chunks * chunk : layout->shape[d],
                             bytes) ||
            !slc_checked_mul(*n_chunks, is_chunked(output) ? in_chunks : 1, n_chunks) ||
            *bytes > INT64_MAX / 4) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s:%s: the size in bytes does not fit 63 bits",
                            output->path, output->dataset);
        }
    }
    *bytes = is_filtered(output) ? 0 : *bytes;
    *bytes += STRUCTURE_BYTES + *n_chunks * INDEX_BYTES_PER_CHUNK;
    return SLC_OK;
}

static slci_chunk_pipeline pipeline_of(const slc_h5_array_output *output) {
    slci_chunk_pipeline pipeline;
    const int64_t element_bytes = slc_dtype_bytes(output->layout.dtype);
    int64_t chunk_bytes = element_bytes;
    for (int d = 0; d < output->layout.rank; d++) {
        chunk_bytes *= output->chunk[d];
    }
    slci_h5_filter_pipeline(&output->filter, chunk_bytes, element_bytes, &pipeline);
    return pipeline;
}

static slc_status check_filter(const slc_h5_array_output *output) {
    char why[SLCI_CHUNK_WHY_BYTES] = "";
    SLC_TRY(slci_h5_filter_check(&output->filter));
    if (!is_filtered(output)) {
        return SLC_OK;
    }
    const slci_chunk_pipeline pipeline = pipeline_of(output);
    if (!slci_chunk_encoder_check(&pipeline, why, sizeof why)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s:%s: %s", output->path, output->dataset, why);
    }
    return SLC_OK;
}

static slci_chunk_sink_options chunk_options(const slc_h5_array_output *output) {
    const slc_dtype dtype = output->layout.dtype;
    const bool is_complex = dtype == SLC_C32 || dtype == SLC_C64 || dtype == SLC_C128;
    slci_chunk_sink_options options = {
        .path = output->path,
        .layout = output->layout,
        .pipeline = pipeline_of(output),
        .turn = {.part_bytes = slc_dtype_bytes(dtype) / (is_complex ? 2 : 1),
                 .swaps_bytes = output->is_big_endian && slc_dtype_bytes(dtype) > 1},
        .pool = output->pool,
        .memory_bytes = output->memory_bytes,
    };
    memcpy(options.chunk, output->chunk, sizeof options.chunk);
    return options;
}

int64_t slc_h5_array_output_bytes(const slc_h5_array_output *output) {
    if (!is_filtered(output) || !is_chunked(output)) {
        return 0;
    }
    const slci_chunk_sink_options options = chunk_options(output);
    return slci_chunk_sink_bytes(&options);
}

void slc_h5_array_choose_chunk(const slc_layout *layout, int64_t chunk[SLC_MAX_RANK]) {
    int64_t most = USUAL_CHUNK_BYTES / slc_dtype_bytes(layout->dtype); /* elements still to take */
    memset(chunk, 0, SLC_MAX_RANK * sizeof *chunk);
    for (int d = layout->rank - 1; d >= 0; d--) {
        const int64_t shape = slc_max_i64(layout->shape[d], 1);
        const int64_t n_parts = slc_ceil_div(shape, slc_max_i64(most, 1));
        chunk[d] = slc_ceil_div(shape, n_parts);
        most /= chunk[d];
    }
}

slc_status slc_h5_array_settle(slc_h5_array_output *output) {
    if (output->filter.kind == SLC_H5_FILTER_AS_INPUT) {
        SLC_TRY(slci_h5_template_filter(output->template_path, output->template_dataset,
                                        &output->filter));
    }
    if (is_filtered(output) && !is_chunked(output)) {
        slc_h5_array_choose_chunk(&output->layout, output->chunk);
    }
    return SLC_OK;
}

/* A settled copy, all of it checked. */
static slc_status settle_copy(const slc_h5_array_output *output, slc_h5_array_output *settled,
                              int64_t *n_chunks, int64_t *bytes) {
    *settled = *output;
    SLC_TRY(slc_h5_array_settle(settled));
    SLC_TRY(check_layout(settled, n_chunks, bytes));
    return check_filter(settled);
}

slc_status slc_h5_array_check(const slc_h5_array_output *output) {
    char name[SLCI_H5_NAME_BYTES];
    slc_h5_array_output settled;
    int64_t n_chunks = 0;
    int64_t bytes = 0;
    SLC_TRY(slci_h5_array_name(output->dataset, name));
    SLC_TRY(settle_copy(output, &settled, &n_chunks, &bytes));
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

/* Filters are marked optional, as other writers do: a reader without one says so when it reads. */
static bool set_filters(hid_t list, const slc_h5_array_output *output) {
    const slci_chunk_pipeline pipeline = pipeline_of(output);
    bool is_ok = true;
    for (int k = 0; k < pipeline.n_filters && is_ok; k++) {
        const slci_chunk_filter *filter = &pipeline.filter[k];
        const unsigned flag =
            filter->id == SLCI_FILTER_FLETCHER32 ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
        is_ok = H5Pset_filter(list, (H5Z_filter_t)filter->id, flag, (size_t)filter->n_values,
                              filter->n_values > 0 ? filter->values : NULL) >= 0;
    }
    return is_ok;
}

static slc_status make_dataset(h5_array_sink *sink, const slc_h5_array_output *output) {
    const slc_layout *layout = &output->layout;
    hsize_t chunk[SLC_MAX_RANK];
    for (int d = 0; d < layout->rank; d++) {
        chunk[d] = (hsize_t)output->chunk[d];
    }
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    const hid_t type = file_type(layout->dtype, output->is_big_endian);
    if (list >= 0 && type >= 0 &&
        (is_chunked(output) ? H5Pset_chunk(list, layout->rank, chunk)
                            : H5Pset_layout(list, H5D_CONTIGUOUS)) >= 0 &&
        (is_filtered(output) ? set_filters(list, output)
                             : H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0) &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0) {
        sink->dataset = H5Dcreate2(slci_h5_output_file(sink->output), sink->dataset_name, type,
                                   sink->space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    const slc_status status =
        sink->dataset >= 0 ? SLC_OK : slci_h5_output_fail(sink->output, sink->dataset_name);
    (void)H5Tclose(type);
    (void)H5Pclose(list);
    return status;
}

static slc_status create_locked(h5_array_sink *sink, const slc_h5_array_output *output) {
    SLC_TRY(slci_h5_output_create(sink->file.temporary_path, output->path, &sink->output));
    sink->type = memory_type(output->layout.dtype);
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
    if (sink->chunks != NULL) {
        return slci_chunk_sink_write(sink->chunks, box, src);
    }
    slci_h5_lock();
    const slc_status status = write_locked(sink, box, src);
    slci_h5_unlock();
    return status;
}

/* An encoded chunk. They come in their order, so that equal contents are equal bytes. */
static slc_status put_chunk(void *context, int64_t index, const void *stored, int64_t n_stored) {
    h5_array_sink *sink = context;
    hsize_t at[SLC_MAX_RANK] = {0};
    for (int d = sink->base.layout.rank - 1; d >= 0; d--) {
        const int64_t n = slc_ceil_div(sink->base.layout.shape[d], sink->chunk[d]);
        at[d] = (hsize_t)(index % n * sink->chunk[d]);
        index /= n;
    }
    slci_h5_lock();
    const bool is_ok =
        H5Dwrite_chunk(sink->dataset, H5P_DEFAULT, 0, at, (size_t)n_stored, stored) >= 0;
    const slc_status status = is_ok ? slci_h5_output_status(sink->output)
                                    : slci_h5_output_fail(sink->output, sink->dataset_name);
    slci_h5_unlock();
    return status;
}

/* Without a filter a cut chunk is two writes, which costs nothing to speak of. */
static int64_t sink_next_unit(slc_sink *base, int axis, int64_t index) {
    const h5_array_sink *sink = (const h5_array_sink *)base;
    return sink->chunks == NULL ? index + 1 : (index / sink->chunk[axis] + 1) * sink->chunk[axis];
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

/* Reads the file as anybody would, before it gets its name: that it holds all of its chunks. */
static slc_status check_written(const h5_array_sink *sink) {
    slci_h5_id file = 0;
    hsize_t found = 0;
    SLC_TRY(slci_h5_open(sink->file.temporary_path, NULL, &file));
    slci_h5_lock();
    const hid_t dataset = H5Dopen2((hid_t)file, sink->dataset_name, H5P_DEFAULT);
    const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const bool is_ok = space >= 0 && H5Dget_num_chunks(dataset, space, &found) >= 0;
    (void)H5Sclose(space);
    (void)H5Dclose(dataset);
    slci_h5_unlock();
    slci_h5_close(file);
    if (!is_ok || (int64_t)found != sink->n_chunks) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s: %lld chunks are in the file that was written, expected %lld",
                        sink->base.name, is_ok ? (long long)found : -1LL,
                        (long long)sink->n_chunks);
    }
    return SLC_OK;
}

static slc_status sink_commit(slc_sink *base) {
    h5_array_sink *sink = (h5_array_sink *)base;
    if (sink->chunks != NULL) {
        SLC_TRY(slci_chunk_sink_finish(sink->chunks));
    }
    slci_h5_lock();
    const slc_status status = close_locked(sink);
    slci_h5_unlock();
    SLC_TRY(status);
    if (sink->chunks != NULL) {
        SLC_TRY(check_written(sink));
    }
    return slc_outfile_commit(&sink->file);
}

static void sink_destroy(slc_sink *base) {
    h5_array_sink *sink = (h5_array_sink *)base;
    slci_chunk_sink_destroy(sink->chunks); /* waits for threads that put chunks */
    slci_h5_lock();
    const slc_status status = close_locked(sink);
    (void)status; /* what is thrown away need not be whole */
    slci_h5_unlock();
    slc_outfile_abandon(&sink->file);
    free(sink);
}

static const slc_sink_ops sink_ops = {.write = sink_write,
                                      .next_unit = sink_next_unit,
                                      .commit = sink_commit,
                                      .destroy = sink_destroy};

static slc_status create_sink(h5_array_sink *sink, const slc_h5_array_output *output) {
    slc_h5_array_output settled;
    int64_t bytes = 0;
    SLC_TRY(slci_h5_array_name(output->dataset, sink->dataset_name));
    SLC_TRY(settle_copy(output, &settled, &sink->n_chunks, &bytes));
    memcpy(sink->chunk, settled.chunk, sizeof sink->chunk);
    SLC_TRY(slc_outfile_begin(output->path, output->overwrite, &sink->file));
    slci_h5_lock();
    const slc_status status = create_locked(sink, &settled);
    slci_h5_unlock();
    SLC_TRY(status);
    if (output->template_path != NULL) {
        SLC_TRY(slci_h5_template_copy(output, sink->output, (slci_h5_id)sink->dataset));
    }
    if (!is_filtered(&settled)) {
        return SLC_OK;
    }
    slci_chunk_sink_options options = chunk_options(&settled);
    options.path = sink->file.final_path;
    options.put = put_chunk;
    options.context = sink;
    return slci_chunk_sink_create(&options, &sink->chunks);
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
