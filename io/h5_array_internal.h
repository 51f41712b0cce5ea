/* What io/h5_array*.c and io/h5_template.c share: names, element types, and outputs that are settled.
 */
#ifndef SLC_IO_H5_ARRAY_INTERNAL_H
#define SLC_IO_H5_ARRAY_INTERNAL_H

#include "core/file.h"
#include "core/status.h"
#include "io/chunk_sink.h"
#include "io/h5_array.h"
#include "io/h5_chunk_turn.h"
#include "io/h5_data.h"
#include "io/h5_output.h"

/* ---- io/h5_array_names.c ---- */

/* The absolute name, with one slash before each part. SLC_ERROR_ARGUMENT where a part is missing,
 * "." or "..", or the name is too long. */
SLC_MUST_USE slc_status slci_h5_array_name(const char *name, char out[SLCI_H5_NAME_BYTES]);

/* What to return for a dataset that is not there, or something else: SLC_ERROR_INPUT with the names
 * nearest to it, or what is damaged of the file. Takes the lock. */
slc_status slci_h5_array_missing(slci_h5_id file, const char *path, const char *name);

/* ---- io/h5_array_type.c ---- */

/* The element type in memory; false: there is none. */
bool slci_h5_array_dtype(const slci_element *element, slc_dtype *out);

/* From elements in memory to such ones in the file, and back. */
slci_turn slci_h5_array_turn(const slci_element *element);

/* The type in the file, complex numbers as compounds {r, i}. With the lock. The caller closes it;
 * negative on failure. */
slci_h5_id slci_h5_array_file_type(slc_dtype dtype, bool is_big_endian);

/* ---- io/h5_array_settle.c ---- */

/* An output of which nothing is open, and all checked. */
typedef struct slci_h5_settled {
    slc_h5_array_output output;
    char name[SLCI_H5_NAME_BYTES]; /* of the dataset */
    int64_t n_chunks;              /* 1: in one piece */
    int64_t plain_bytes;           /* of all elements without a filter, padding included */
    int64_t file_bytes;            /* with a filter without the elements */
} slci_h5_settled;

/* The statuses of slc_h5_array_check, but for those of the file. */
SLC_MUST_USE slc_status slci_h5_settle(const slc_h5_array_output *output, slci_h5_settled *out);

bool slci_h5_is_chunked(const slc_h5_array_output *output);

/* Of a settled output: from elements in memory to those in the file; and with a filter, */
slci_turn slci_h5_output_turn(const slc_h5_array_output *output);
slci_chunk_pipeline slci_h5_output_pipeline(const slc_h5_array_output *output);
slci_chunk_sink_options slci_h5_chunk_options(const slc_h5_array_output *output);

/* ---- io/h5_template.c: what a new dataset takes over from one that is there ----
 * All take the lock; the statuses are those of slc_h5_array_open. */

/* The filter that does what the template's does (slci_h5_filter_of_pipeline); none without one. Where
 * there are more filters than SLCI_CHUNK_MAX_FILTERS it is deflate, and a note says so. */
SLC_MUST_USE slc_status slci_h5_template_filter(const slc_h5_array_output *output,
                                                slc_h5_filter *out);

/* Of a settled output: what its elements take in the template, where they are all of the template's, of
 * the same type, in the same chunks and through the same filters at no higher level; 0 where they are
 * not, since nobody knows then what they will take. */
SLC_MUST_USE slc_status slci_h5_template_stored(const slc_h5_array_output *output, int64_t *out);

/* SLC_ERROR_ARGUMENT where the elements of the template, if there is one, lie in the file that the
 * output would replace. */
SLC_MUST_USE slc_status slci_h5_template_exclude(const slc_h5_array_output *output);

/* What the template's elements are, but for bytes that are no part of a number, which are left out. */
SLC_MUST_USE slc_status slci_h5_template_element(const slc_h5_array_output *output,
                                                 slci_element *out);

/* That type, its members in the order that they have in the file; the caller closes it, with the
 * lock. */
SLC_MUST_USE slc_status slci_h5_template_type(const slc_h5_array_output *output, slci_h5_id *out);

/* The template's fill value into a creation list, for elements of `type`; none where the template's own
 * would be another number as that. */
SLC_MUST_USE slc_status slci_h5_template_fill(const slc_h5_array_output *output, slci_h5_id type,
                                              slci_h5_id list);

/* The template's attributes, labels and scales, to the open dataset `to` of `output`. */
SLC_MUST_USE slc_status slci_h5_template_copy(const slc_h5_array_output *from,
                                              const slci_h5_output *output, slci_h5_id to);

#endif
