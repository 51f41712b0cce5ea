/* One dataset of an HDF5 file as a source, and as a sink in a new file. Any rank up to
 * SLC_MAX_RANK, and every element type of core/dtype.h that HDF5 can hold: integers, floats of
 * three sizes, and compounds of two floats as complex numbers, in either byte order. What is
 * filtered is decoded as it is read; a filter that is missing is named when the dataset is opened.
 *
 *     const slc_h5_array_options options = {.path = "in.h5", .dataset = "/data"};
 *     SLC_TRY(slc_h5_array_open(&options, &source));
 *     const slc_h5_array_output output = {.path = "out.h5", .dataset = "/v", .layout = layout};
 *     SLC_TRY(slc_h5_array_create(&output, &sink));
 */
#ifndef SLC_IO_H5_ARRAY_H
#define SLC_IO_H5_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/source.h"
#include "core/status.h"
#include "io/h5_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are lent for the call. */
typedef struct slc_h5_array_options {
    const char *path;
    const char *dataset; /* "/a/b"; a leading slash may be left out */
    slc_log *log;        /* may be NULL */
} slc_h5_array_options;

/* Opens for reading: one field of the dataset's shape, its natural units the chunks.
 * SLC_ERROR_INPUT: no such file or dataset (the nearest names are given), or damaged;
 * SLC_ERROR_UNSUPPORTED: a type that is no number, a filter that is missing, too many dimensions. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_open(const slc_h5_array_options *options,
                                                  slc_source **out);

/* Of a source made here: bytes that the file stores for the dataset. */
SLC_API int64_t slc_h5_array_stored_bytes(const slc_source *source);

/* Whether the elements are an enum's, as booleans mostly are in a file. */
SLC_API bool slc_h5_array_is_enum(const slc_source *source);

/* Likewise: what the chunks that hold one index of dimension `axis` take decoded; 0 where nothing
 * is filtered, so that nothing is gained from keeping them. */
SLC_API int64_t slc_h5_array_row_bytes(const slc_source *source, int axis);

/* Likewise: how it is read, "chunks" or "contiguous" past HDF5, by any number of threads at once, or
 * "library" by HDF5, and then *why is one clause that says what stands against the others; "" else.
 * Both live as long as the source. */
SLC_API const char *slc_h5_array_reader(const slc_source *source, const char **why);

/* Likewise: host memory that reading by so many threads takes at most, for index, decoders and
 * buffers; without what slc_h5_array_set_cache is told to keep. */
SLC_API int64_t slc_h5_array_reader_bytes(const slc_source *source, int n_threads);

/* Makes the source keep that many decoded bytes, those read last, so that boxes which end within a
 * chunk need not decode it twice; before the first read of the dataset. At first it keeps none.
 * SLC_ERROR_MEMORY, SLC_ERROR_INPUT. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_set_cache(slc_source *source, int64_t bytes);

/* A dimension that is one of the template's, or a part of it: its elements first + k · step. */
typedef struct slc_h5_array_origin {
    int dim; /* plus 1; 0: none of the template's */
    int64_t first, step;
} slc_h5_array_origin;

/* A dataset to be written, alone in its file but for what a template brings. All pointers are lent for
 * the call, the pool for the sink's life. */
typedef struct slc_h5_array_output {
    const char *path;
    const char *dataset; /* as above; groups on the way are made */
    slc_layout layout;   /* dense; complex numbers become compounds {r, i} */
    /* All zero: contiguous; with a filter slc_h5_array_choose_chunk's. */
    int64_t chunk[SLC_MAX_RANK];
    slc_h5_filter filter; /* zeros: none */
    bool is_big_endian;   /* in the file; in memory elements are the machine's */
    bool overwrite;       /* may replace a file that exists */
    /* (optional) A dataset whose attributes the new one gets, but for those that refer to other
     * objects. SLC_H5_FILTER_AS_INPUT means its filter. */
    const char *template_path, *template_dataset;
    /* The template's type in the file, where its elements are the layout's: byte order, the names of an
     * enum's values and of a complex number's parts. slc_h5_array_settle then says what is kept in
     * is_big_endian, and here whether a complex number's imaginary part comes first. */
    bool keeps_type;
    bool is_imaginary_first;
    /* What else is in the template's group, and its attributes, go to the new dataset's group. */
    bool copies_rest;
    /* Where each dimension comes from, which then has the scales and the label of that one. */
    slc_h5_array_origin origin[SLC_MAX_RANK];
    slc_pool *pool;       /* encodes the chunks; NULL: the thread that writes does */
    slc_log *log;         /* notes what of a template is left out; may be NULL */
    int64_t memory_bytes; /* for chunks that are under way; 0: slc_h5_array_output_bytes's choice */
} slc_h5_array_output;

/* Chunks for reading along the slowest dimension: as many whole rows as make about 2 MiB, or where a
 * row alone is larger, equal parts of one. At most what a dimension has; 1 where it has nothing. */
SLC_API void slc_h5_array_choose_chunk(const slc_layout *layout, int64_t chunk[SLC_MAX_RANK]);

/* Puts what will be written in the place of what was left open: SLC_H5_FILTER_AS_INPUT, the chunks of
 * a filter without any, whether the type can be kept. Create does the same. SLC_ERROR_INPUT and
 * SLC_ERROR_UNSUPPORTED as for slc_h5_array_open, of the template. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_settle(slc_h5_array_output *output);

/* Of a settled output: whether its chunks are encoded; and the host memory that the sink takes at most,
 * for encoders and chunks under way, or without a filter for the places of chunks and for pieces of
 * them. Less `memory_bytes` than the smallest that works counts as that. */
SLC_API bool slc_h5_array_is_filtered(const slc_h5_array_output *output);
SLC_API int64_t slc_h5_array_output_bytes(const slc_h5_array_output *output);

/* Likewise: how many threads encode, fewer than the pool's where `memory_bytes` has room for fewer; 0
 * without a filter. */
SLC_API int slc_h5_array_output_encoders(const slc_h5_array_output *output);

/* Before anything is computed: that the file can be written, has room, and may have its name.
 * SLC_ERROR_OUTPUT; SLC_ERROR_ARGUMENT for a name or type that HDF5 cannot hold, and where elements of
 * the template lie in the file that would be replaced. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_check(const slc_h5_array_output *output);

/* Makes the file under a temporary name, all elements zero; without a filter its whole size is
 * reserved, and threads may write at once. The commit gives it its name; without one nothing is left.
 * Equal contents are equal bytes, whatever order and boxes they come in: no times are stored. With a
 * filter the sink's units are the chunks, and an element may be written once; boxes that are whole
 * chunks in C order are cheapest, others wait in memory and then in a nameless file beside the output.
 * The statuses are those of slc_h5_array_check and slc_h5_array_settle, and SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_h5_array_create(const slc_h5_array_output *output,
                                                    slc_sink **out);

/* What a sink made here has written; complete when it is committed. */
typedef struct slc_h5_array_written {
    int64_t stored_bytes; /* of all elements in the file */
    int64_t n_encoded;    /* chunks; 0 without a filter */
    int64_t n_cut;        /* of these, those that came in more than one box */
    int64_t n_put_away;   /* times that one waited in a file, for want of memory */
    int64_t n_taken_back; /* chunks that the sink which this one goes on for had encoded */
} slc_h5_array_written;
SLC_API slc_h5_array_written slc_h5_array_get_written(const slc_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
