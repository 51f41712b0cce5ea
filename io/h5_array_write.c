/* A dataset as a sink. Without a filter the file is complete before the first box: its structure is
 * written and its whole size reserved when it is made, so boxes go to places that are known, past HDF5.
 * With a filter chunks are put together and encoded by io/chunk_sink.h, and appended in C order. Either
 * way the same elements in other boxes and another order give the same bytes. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/chunk_grid.h"
#include "io/chunk_sink.h"
#include "io/h5_array.h"
#include "io/h5_array_internal.h"
#include "io/h5_output.h"
#include "io/h5_plain_write.h"
#include "io/outfile.h"

typedef struct h5_array_sink {
    slc_sink base;
    slc_outfile file;
    slci_h5_output *output; /* NULL: closed */
    hid_t dataset;          /* negative: not open */
    slci_h5_settled settled;
    slci_chunk_sink *chunks; /* NULL: there is no filter, but */
    slci_h5_plain *plain;
} h5_array_sink;

/* ---- making ----------------------------------------------------------------------------------- */

/* HDF5 forgets why a call failed with the next one: whatever fails here says so before it closes
 * anything. */

static hid_t make_space(const slc_layout *layout) {
    hsize_t shape[SLC_MAX_RANK];
    for (int d = 0; d < layout->rank; d++) {
        shape[d] = (hsize_t)layout->shape[d];
    }
    return layout->rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(layout->rank, shape, NULL);
}

/* Filters are marked optional, as other writers do: a reader without one says so when it reads. */
static bool set_filters(hid_t list, const slc_h5_array_output *output) {
    const slci_chunk_pipeline pipeline = slci_h5_output_pipeline(output);
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

/* The caller closes it, with the lock. */
static slc_status make_type(const slc_h5_array_output *output, hid_t *out) {
    slci_h5_id type = 0;
    char reason[256] = "";
    if (output->keeps_type) {
        SLC_TRY(slci_h5_template_type(output, &type));
    } else {
        slci_h5_lock();
        type = slci_h5_array_file_type(output->layout.dtype, output->is_big_endian);
        slci_h5_error_text(reason, sizeof reason);
        slci_h5_unlock();
    }
    *out = (hid_t)type;
    return *out >= 0 ? SLC_OK
                     : SLC_FAIL(SLC_ERROR_OUTPUT, "%s: HDF5 cannot make a type for %s: %s",
                                output->path, slc_dtype_name(output->layout.dtype), reason);
}

static slc_status make_dataset(h5_array_sink *sink, hid_t type, hid_t list) {
    const slc_h5_array_output *output = &sink->settled.output;
    const slc_layout *layout = &output->layout;
    hsize_t chunk[SLC_MAX_RANK];
    for (int d = 0; d < layout->rank; d++) {
        chunk[d] = (hsize_t)output->chunk[d];
    }
    const hid_t space = make_space(layout);
    if (list >= 0 && space >= 0 &&
        (slci_h5_is_chunked(output) ? H5Pset_chunk(list, layout->rank, chunk)
                                    : H5Pset_layout(list, H5D_CONTIGUOUS)) >= 0 &&
        (slc_h5_array_is_filtered(output) ? set_filters(list, output)
                                          : H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0) &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0) {
        sink->dataset = H5Dcreate2(slci_h5_output_file(sink->output), sink->settled.name, type,
                                   space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    const slc_status status =
        sink->dataset >= 0 ? SLC_OK : slci_h5_output_fail(sink->output, sink->settled.name);
    (void)H5Sclose(space);
    return status;
}

/* With the lock. */
static slc_status make_file(h5_array_sink *sink, hid_t type, hid_t list) {
    const char *name = sink->settled.output.path;
    SLC_TRY(slci_h5_output_create(sink->file.temporary_path, name, &sink->output));
    return slci_h5_output_make_groups(sink->output, sink->settled.name)
               ? make_dataset(sink, type, list)
               : slci_h5_output_fail(sink->output, sink->settled.name);
}

/* ---- the sink --------------------------------------------------------------------------------- */

static slc_status sink_write(slc_sink *base, const slc_box *box, const void *src) {
    const h5_array_sink *sink = (const h5_array_sink *)base;
    if (slc_box_count(box) == 0) {
        return SLC_OK;
    }
    if (sink->chunks != NULL) {
        return slci_chunk_sink_write(sink->chunks, box, src);
    }
    return slci_h5_plain_write(sink->plain, box, src);
}

/* An encoded chunk. They come in their order, so that equal contents are equal bytes. */
static slc_status put_chunk(void *context, int64_t index, const void *stored, int64_t n_stored) {
    h5_array_sink *sink = context;
    hsize_t at[SLC_MAX_RANK] = {0};
    const slci_chunk_grid grid = slci_chunk_grid_of(&sink->base.layout, sink->settled.output.chunk);
    const slc_box box = slci_chunk_grid_box(&grid, index);
    for (int d = 0; d < box.rank; d++) {
        at[d] = (hsize_t)box.origin[d];
    }
    slci_h5_lock();
    const bool is_ok =
        H5Dwrite_chunk(sink->dataset, H5P_DEFAULT, 0, at, (size_t)n_stored, stored) >= 0;
    const slc_status status = is_ok ? slci_h5_output_status(sink->output)
                                    : slci_h5_output_fail(sink->output, sink->settled.name);
    slci_h5_unlock();
    return status;
}

/* Without a filter a cut chunk is two writes, which costs nothing to speak of. */
static int64_t sink_next_unit(slc_sink *base, int axis, int64_t index) {
    const h5_array_sink *sink = (const h5_array_sink *)base;
    const int64_t chunk = sink->settled.output.chunk[axis];
    return sink->chunks == NULL ? index + 1 : (index / chunk + 1) * chunk;
}

/* Closes what HDF5 has open, the file even where its dataset fails; the first failure is the status. */
static slc_status close_locked(h5_array_sink *sink) {
    slc_status status = SLC_OK;
    if (sink->dataset >= 0 && H5Dclose(sink->dataset) < 0) {
        status = slci_h5_output_fail(sink->output, sink->settled.name);
    }
    sink->dataset = -1;
    if (status != SLC_OK) {
        slci_h5_output_destroy(sink->output);
    } else if (sink->output != NULL) {
        status = slci_h5_output_close(sink->output);
    }
    sink->output = NULL;
    return status;
}

/* Reads the file as anybody would, before it gets its name: that it holds all of its chunks. */
static slc_status check_written(const h5_array_sink *sink) {
    slci_h5_id file = 0;
    hsize_t found = 0;
    const slc_status opened = slci_h5_open(sink->file.temporary_path, NULL, &file);
    if (opened != SLC_OK) {
        return opened == SLC_ERROR_MEMORY
                   ? opened
                   : SLC_FAIL(SLC_ERROR_OUTPUT, "%s: what was written cannot be read: %s",
                              sink->base.name, slc_status_message());
    }
    slci_h5_lock();
    const hid_t dataset = H5Dopen2((hid_t)file, sink->settled.name, H5P_DEFAULT);
    const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const bool is_ok = space >= 0 && H5Dget_num_chunks(dataset, space, &found) >= 0;
    (void)H5Sclose(space);
    (void)H5Dclose(dataset);
    slci_h5_unlock();
    slci_h5_close(file);
    if (!is_ok || (int64_t)found != sink->settled.n_chunks) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s: %lld chunks are in the file that was written, expected %lld",
                        sink->base.name, is_ok ? (long long)found : -1LL,
                        (long long)sink->settled.n_chunks);
    }
    return SLC_OK;
}

static slc_status keep_pieces(slc_sink *base, slc_piece_keep keep, void *context) {
    return slci_chunk_sink_keep(((h5_array_sink *)base)->chunks, keep, context);
}

static slc_status flush_pieces(slc_sink *base) {
    return slci_chunk_sink_flush(((h5_array_sink *)base)->chunks);
}

static slc_status put_piece(slc_sink *base, const slc_sink_piece *piece, slc_piece_read read,
                            void *context) {
    return slci_chunk_sink_put(((h5_array_sink *)base)->chunks, piece, read, context);
}

static slc_status sink_prepare(slc_sink *base, const char **path) {
    h5_array_sink *sink = (h5_array_sink *)base;
    *path = sink->file.temporary_path;
    if (sink->file.is_prepared) {
        return SLC_OK;
    }
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
    return slc_outfile_prepare(&sink->file);
}

static slc_status sink_commit(slc_sink *base) {
    const char *path = NULL;
    SLC_TRY(sink_prepare(base, &path));
    return slc_outfile_commit(&((h5_array_sink *)base)->file);
}

static void sink_destroy(slc_sink *base) {
    h5_array_sink *sink = (h5_array_sink *)base;
    slci_chunk_sink_destroy(sink->chunks); /* waits for threads that put chunks */
    slci_h5_plain_destroy(sink->plain);
    slci_h5_lock();
    if (sink->dataset >= 0) {
        (void)H5Dclose(sink->dataset);
    }
    slci_h5_output_destroy(sink->output); /* what is thrown away need not be whole */
    slci_h5_unlock();
    slc_outfile_abandon(&sink->file);
    free(sink);
}

static const slc_sink_ops sink_ops = {.write = sink_write,
                                      .next_unit = sink_next_unit,
                                      .prepare = sink_prepare,
                                      .commit = sink_commit,
                                      .destroy = sink_destroy};

/* With a filter. */
static const slc_sink_ops filtered_ops = {.write = sink_write,
                                          .next_unit = sink_next_unit,
                                          .keep_pieces = keep_pieces,
                                          .flush_pieces = flush_pieces,
                                          .put_piece = put_piece,
                                          .prepare = sink_prepare,
                                          .commit = sink_commit,
                                          .destroy = sink_destroy};

/* ---- making the sink -------------------------------------------------------------------------- */

/* Everything that HDF5 writes but encoded chunks. */
static slc_status make_structure(h5_array_sink *sink) {
    const slc_h5_array_output *output = &sink->settled.output;
    hid_t type = -1;
    slc_status status = SLC_OK;
    SLC_TRY(make_type(output, &type));
    slci_h5_lock();
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    slci_h5_unlock();
    if (list >= 0 && output->template_path != NULL) {
        status = slci_h5_template_fill(output, (slci_h5_id)type, (slci_h5_id)list);
    }
    slci_h5_lock();
    if (status == SLC_OK) {
        status = make_file(sink, type, list);
    }
    (void)H5Pclose(list);
    (void)H5Tclose(type);
    slci_h5_unlock();
    SLC_TRY(status);
    return output->template_path == NULL
               ? SLC_OK
               : slci_h5_template_copy(output, sink->output, (slci_h5_id)sink->dataset);
}

static slc_status begin_filtered(h5_array_sink *sink) {
    slci_chunk_sink_options options = slci_h5_chunk_options(&sink->settled.output);
    options.path = sink->file.final_path;
    options.put = put_chunk;
    options.context = sink;
    sink->base.ops = &filtered_ops;
    return slci_chunk_sink_create(&options, &sink->chunks);
}

/* HDF5 is done with the file. */
static slc_status begin_plain(h5_array_sink *sink) {
    slci_h5_plain_options options = {.settled = &sink->settled,
                                     .path = sink->file.temporary_path,
                                     .final_path = sink->file.final_path};
    slci_h5_lock();
    options.place =
        slci_h5_is_chunked(&sink->settled.output) ? 0 : (int64_t)H5Dget_offset(sink->dataset);
    const slc_status status = close_locked(sink);
    slci_h5_unlock();
    SLC_TRY(status);
    sink->base.is_divisible = sink->settled.output.pool != NULL;
    return slci_h5_plain_create(&options, &sink->plain);
}

static slc_status create_sink(h5_array_sink *sink, const slc_h5_array_output *output) {
    SLC_TRY(slci_h5_settle(output, &sink->settled));
    SLC_TRY(slc_outfile_begin(output->path, output->overwrite, &sink->file));
    SLC_TRY(make_structure(sink));
    return slc_h5_array_is_filtered(&sink->settled.output) ? begin_filtered(sink)
                                                           : begin_plain(sink);
}

slc_h5_array_written slc_h5_array_get_written(const slc_sink *base) {
    const h5_array_sink *sink = (const h5_array_sink *)base;
    slc_h5_array_written written = {.stored_bytes = sink->settled.plain_bytes};
    if (sink->chunks != NULL) {
        const slci_chunk_sink_counts counts = slci_chunk_sink_get_counts(sink->chunks);
        written = (slc_h5_array_written){.stored_bytes = counts.stored_bytes,
                                         .n_encoded = counts.n_encoded,
                                         .n_taken_back = counts.n_taken_back,
                                         .n_cut = counts.n_cut,
                                         .n_put_away = counts.n_put_away};
    }
    return written;
}

slc_status slc_h5_array_create(const slc_h5_array_output *output, slc_sink **out) {
    h5_array_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to write it", output->path);
    }
    sink->base.ops = &sink_ops;
    sink->base.layout = output->layout;
    sink->dataset = -1;
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
