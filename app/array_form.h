/* How the result of a job is stored: what may be asked for, and what became of it. The jobs that write
 * arrays to HDF5 have one of each.
 *
 *     slc_array_form form = {.n_chunk = 2, .chunk = {64, 64}, .filters = true};
 *     SLC_TRY(slc_h5_filter_parse("zstd:3", &form.filter));
 */
#ifndef SLC_APP_ARRAY_FORM_H
#define SLC_APP_ARRAY_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"
#include "io/h5_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is asked for. Zeros: what the job does by itself, which its documentation says. */
typedef struct slc_array_form {
    int n_chunk;                 /* 0: the job's choice; else one a dimension of the result */
    int64_t chunk[SLC_MAX_RANK]; /* elements; more than the dimension has: all of it */
    bool is_contiguous;          /* no chunks, and so no filter */
    /* `filter` is done to the chunks, which are chosen where there are none; else what is done to the
     * data's (SLC_H5_FILTER_AS_INPUT), where the result is chunked. */
    bool filters;
    slc_h5_filter filter;
} slc_array_form;

/* What became of it. The counts are 0 until the file is complete. */
typedef struct slc_array_stored {
    int64_t chunk[SLC_MAX_RANK]; /* zeros: none */
    slc_h5_filter filter;
    int n_encoders;       /* threads that encode, as far as --ram has room for them */
    int n_threads;        /* that there are */
    int64_t bytes;        /* of all elements in the file */
    int64_t n_chunks;     /* that were encoded; of these, */
    int64_t n_taken_back; /* those that a run which is resumed had encoded, */
    int64_t n_cut;        /* those that came in parts, */
    int64_t n_put_away;   /* and how often one waited in a file, for want of memory */
} slc_array_stored;

#ifdef __cplusplus
}
#endif
#endif
