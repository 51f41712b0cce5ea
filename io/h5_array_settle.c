/* What a dataset that is to be written will be: everything that was left open settled, and all of it
 * checked, before anything is made. */
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/chunk_encode.h"
#include "io/h5_array_internal.h"
#include "io/h5_filter_list.h"
#include "io/h5_index.h"
#include "io/h5_output.h"
#include "io/h5_plain_write.h"
#include "io/outfile.h"

/* What the structure of a file with one dataset takes, at most; chunks have an index besides. */
#define STRUCTURE_BYTES 65536
#define INDEX_BYTES_PER_CHUNK 64

/* Large enough that a chunk is one good read of a disk, small enough that many fit a tile. */
#define USUAL_CHUNK_BYTES ((int64_t)2 << 20)

/* A file of elements that were measured is seldom packed to less than this part of them. */
#define BEYOND_INPUT 64

bool slci_h5_is_chunked(const slc_h5_array_output *output) {
    return output->layout.rank > 0 && output->chunk[0] > 0;
}

bool slc_h5_array_is_filtered(const slc_h5_array_output *output) {
    return output->layout.rank > 0 &&
           (output->filter.kind != SLC_H5_FILTER_NONE || output->filter.has_checksum);
}

slci_turn slci_h5_output_turn(const slc_h5_array_output *output) {
    const slc_dtype dtype = output->layout.dtype;
    const bool is_complex = slc_dtype_is_complex(dtype);
    const int64_t part_bytes = slc_dtype_bytes(dtype) / (is_complex ? 2 : 1);
    return (slci_turn){.part_bytes = part_bytes,
                       .swaps_bytes = output->is_big_endian && part_bytes > 1,
                       .swaps_parts = output->is_imaginary_first && is_complex};
}

static slc_status check_chunk(const slc_h5_array_output *output) {
    int64_t bytes = slc_dtype_bytes(output->layout.dtype);
    for (int d = 0; d < output->layout.rank; d++) {
        const int64_t chunk = output->chunk[d];
        if (slci_h5_is_chunked(output) != (chunk > 0) || chunk < 0 || chunk > UINT32_MAX ||
            !slc_checked_mul(bytes, slc_max_i64(chunk, 1), &bytes) ||
            bytes > SLCI_CHUNK_MAX_BYTES) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s:%s: a chunk of %lld in dimension %d; a chunk has less than 4 GiB",
                            output->path, output->dataset, (long long)chunk, d);
        }
    }
    return SLC_OK;
}

/* For a dataset that is too large, however that was found: what it is made of, since the shape of a
 * damaged one is anything. */
static slc_status name_origin(const slc_h5_array_output *output, slc_status status) {
    char shape[SLC_MAX_RANK * 24] = "";
    size_t used = 0;
    for (int d = 0; d < output->layout.rank; d++) {
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%lld", d > 0 ? ", " : "",
                                 (long long)output->layout.shape[d]);
    }
    return output->template_path == NULL
               ? SLC_FAIL(status, "%s; its shape is (%s)", slc_status_message(), shape)
               : SLC_FAIL(status,
                          "%s; its shape is (%s), as it comes of %s:%s; if that is not what the "
                          "input should have, copy that file again",
                          slc_status_message(), shape, output->template_path,
                          output->template_dataset);
}

/* The chunks of the grid: 1 without chunks. Before anything else is made of them, since the memory for
 * so many is counted in 63 bits. */
static slc_status count_chunks(const slc_h5_array_output *output, int64_t *out) {
    int64_t n_chunks = 1;
    SLC_TRY(check_chunk(output));
    const bool fits =
        !slci_h5_is_chunked(output) ||
        slci_h5_index_places(output->layout.rank, output->layout.shape, output->chunk, &n_chunks);
    if (!fits || n_chunks > SLCI_H5_MOST_CHUNKS) {
        return name_origin(
            output,
            SLC_FAIL(SLC_ERROR_ARGUMENT,
                     "%s:%s: it would have %s%lld chunks, at most %lld work; choose larger "
                     "ones",
                     output->path, output->dataset, fits ? "" : "more than ",
                     (long long)(fits ? n_chunks : INT64_MAX), (long long)SLCI_H5_MOST_CHUNKS));
    }
    *out = n_chunks;
    return SLC_OK;
}

/* `bytes` in n_chunks pieces (0: in one), with what lies between them so that each begins with a
 * page. */
static int64_t padded_bytes(int64_t bytes, int64_t n_chunks) {
    const int64_t n_pieces = slc_max_i64(n_chunks, 1);
    const int64_t piece_bytes = bytes / n_pieces;
    return piece_bytes < SLCI_H5_ALIGNED_FROM_BYTES
               ? bytes
               : n_pieces * slc_round_up(piece_bytes, SLCI_H5_ALIGNMENT_BYTES);
}

/* The chunk grid, and what the file takes: with a filter its structure only, since nobody knows what
 * the elements will take. */
static slc_status check_layout(slci_h5_settled *settled) {
    const slc_h5_array_output *output = &settled->output;
    const slc_layout *layout = &output->layout;
    const bool is_chunked = slci_h5_is_chunked(output);
    int64_t n_chunks = 0;
    int64_t bytes = slc_dtype_bytes(layout->dtype);
    if (layout->dtype == SLC_FIXED128) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s:%s: HDF5 has no type for %s", output->path,
                        output->dataset, slc_dtype_name(layout->dtype));
    }
    SLC_TRY(count_chunks(output, &n_chunks));
    for (int d = 0; d < layout->rank; d++) {
        const int64_t extent =
            is_chunked ? slc_round_up(layout->shape[d], output->chunk[d]) : layout->shape[d];
        if (!slc_checked_mul(bytes, extent, &bytes) || bytes > INT64_MAX / 4) {
            return name_origin(output, SLC_FAIL(SLC_ERROR_ARGUMENT,
                                                "%s:%s: the size in bytes does not fit 63 bits",
                                                output->path, output->dataset));
        }
    }
    settled->n_chunks = n_chunks;
    settled->plain_bytes = bytes;
    settled->file_bytes = (slc_h5_array_is_filtered(output) ? 0 : padded_bytes(bytes, n_chunks)) +
                          STRUCTURE_BYTES + n_chunks * INDEX_BYTES_PER_CHUNK;
    return SLC_OK;
}

slci_chunk_pipeline slci_h5_output_pipeline(const slc_h5_array_output *output) {
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
    if (!slc_h5_array_is_filtered(output)) {
        return SLC_OK;
    }
    const slci_chunk_pipeline pipeline = slci_h5_output_pipeline(output);
    if (!slci_chunk_encoder_check(&pipeline, why, sizeof why)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s:%s: %s", output->path, output->dataset, why);
    }
    return SLC_OK;
}

slci_chunk_sink_options slci_h5_chunk_options(const slc_h5_array_output *output) {
    slci_chunk_sink_options options = {
        .path = output->path,
        .layout = output->layout,
        .pipeline = slci_h5_output_pipeline(output),
        .turn = slci_h5_output_turn(output),
        .pool = output->pool,
        .memory_bytes = output->memory_bytes,
    };
    memcpy(options.chunk, output->chunk, sizeof options.chunk);
    return options;
}

int64_t slc_h5_array_output_bytes(const slc_h5_array_output *output) {
    if (slc_h5_array_is_filtered(output) && slci_h5_is_chunked(output)) {
        const slci_chunk_sink_options options = slci_h5_chunk_options(output);
        return slci_chunk_sink_bytes(&options);
    }
    return slci_h5_plain_bytes(output);
}

int slc_h5_array_output_encoders(const slc_h5_array_output *output) {
    if (!slc_h5_array_is_filtered(output) || !slci_h5_is_chunked(output)) {
        return 0;
    }
    const slci_chunk_sink_options options = slci_h5_chunk_options(output);
    return slci_chunk_sink_encoders(&options);
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

/* Keeps the template's type only where its elements are the layout's, and nothing but them. */
static slc_status settle_type(slc_h5_array_output *output) {
    slci_element element;
    slc_dtype dtype = SLC_U8;
    if (!output->keeps_type || output->template_path == NULL) {
        output->keeps_type = output->is_imaginary_first = false;
        return SLC_OK;
    }
    SLC_TRY(slci_h5_template_element(output, &element));
    output->keeps_type = slci_h5_array_dtype(&element, &dtype) && dtype == output->layout.dtype &&
                         element.bytes == slc_dtype_bytes(dtype);
    output->is_big_endian = output->keeps_type && element.is_big_endian;
    output->is_imaginary_first = output->keeps_type && slci_h5_array_turn(&element).swaps_parts;
    return SLC_OK;
}

slc_status slc_h5_array_settle(slc_h5_array_output *output) {
    int64_t n_chunks = 0;
    if (output->filter.kind == SLC_H5_FILTER_AS_INPUT) {
        SLC_TRY(slci_h5_template_filter(output, &output->filter));
    }
    if (output->layout.rank == 0) {
        output->filter = (slc_h5_filter){.kind = SLC_H5_FILTER_NONE}; /* nor chunks */
    }
    if (slc_h5_array_is_filtered(output) && !slci_h5_is_chunked(output)) {
        slc_h5_array_choose_chunk(&output->layout, output->chunk);
    }
    SLC_TRY(count_chunks(output, &n_chunks));
    return settle_type(output);
}

slc_status slci_h5_settle(const slc_h5_array_output *output, slci_h5_settled *out) {
    slci_h5_settled settled = {.output = *output};
    SLC_TRY(slci_h5_array_name(output->dataset, settled.name));
    SLC_TRY(slc_h5_array_settle(&settled.output));
    SLC_TRY(check_layout(&settled));
    SLC_TRY(check_filter(&settled.output));
    *out = settled;
    return SLC_OK;
}

/* What a filter leaves of the elements nobody knows, but of the same elements in the same chunks the
 * same filter leaves no less than half of what another program's leaves. In other chunks it may leave
 * any part of that. */
static slc_status check_expected(const slci_h5_settled *settled) {
    const slc_h5_array_output *output = &settled->output;
    int64_t stored_bytes = 0;
    SLC_TRY(slci_h5_template_stored(output, &stored_bytes));
    if (stored_bytes == 0) {
        return SLC_OK;
    }
    const slc_status status =
        slc_outfile_check(output->path, output->overwrite, settled->file_bytes + stored_bytes / 2);
    return status != SLC_ERROR_OUTPUT
               ? status
               : SLC_FAIL(status, "%s; that is half of what the same elements take in %s:%s",
                          slc_status_message(), output->template_path, output->template_dataset);
}

/* Whether so many bytes are far more than the input's file has: then it stores few of the elements that
 * its shape says, or is packed as only the plainest data are. */
static bool is_beyond_input(const slc_h5_array_output *output, int64_t bytes) {
    slci_file_stamp stamp;
    return output->template_path != NULL && slci_file_stamp_find(output->template_path, &stamp) &&
           bytes / BEYOND_INPUT > stamp.bytes;
}

slc_status slc_h5_array_check(const slc_h5_array_output *output) {
    slci_h5_settled settled;
    SLC_TRY(slci_h5_settle(output, &settled));
    SLC_TRY(slc_outfile_check(output->path, output->overwrite, 0)); /* all but the room for it */
    SLC_TRY(slci_h5_template_exclude(output));
    slc_status status = slc_outfile_check(output->path, output->overwrite, settled.file_bytes);
    if (status == SLC_ERROR_OUTPUT && !slc_h5_array_is_filtered(output)) {
        status = SLC_FAIL(status, "%s; with a --filter it may take less", slc_status_message());
    }
    return status == SLC_OK ? check_expected(&settled)
           : status == SLC_ERROR_OUTPUT && is_beyond_input(output, settled.file_bytes)
               ? name_origin(output, status)
               : status;
}
