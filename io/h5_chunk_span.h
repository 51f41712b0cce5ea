/* Boxes of an array that lies densely in a file, read without HDF5: a contiguous dataset, or one chunk
 * that no filter has touched. Bytes go straight to where they are wanted; only runs too short for that
 * come through a buffer.
 *
 *     const slci_span span = {.descriptor = fd, .offset = 2048, .element_bytes = 8, .rank = 2, ...};
 *     SLC_TRY(slci_span_read(&span));
 */
#ifndef SLC_IO_H5_CHUNK_SPAN_H
#define SLC_IO_H5_CHUNK_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/box.h"
#include "core/layout.h"
#include "core/status.h"
#include "io/h5_chunk_turn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The buffer for short runs has at least so many bytes. */
#define SLCI_SPAN_BUFFER_BYTES ((int64_t)256 << 10)

typedef struct slci_span {
    int descriptor;
    int64_t offset; /* of the array's first element in the file */
    int64_t element_bytes;
    int rank;
    int64_t shape[SLC_MAX_RANK];                        /* of the array */
    int64_t origin[SLC_MAX_RANK], extent[SLC_MAX_RANK]; /* of the box */
    char *dst;                                          /* where the box's first element goes */
    int64_t dst_stride[SLC_MAX_RANK];                   /* bytes; the last one is element_bytes */
    slci_turn turn;
    void *buffer; /* [SLCI_SPAN_BUFFER_BYTES], where slci_span_needs_buffer says so */
} slci_span;

/* Whether the box's runs are too short to be read straight to where they go. */
bool slci_span_needs_buffer(const slci_span *span);

/* SLC_ERROR_INPUT with a clause that says where bytes are missing, for the caller to add to. */
SLC_MUST_USE slc_status slci_span_read(const slci_span *span);

/* So many bytes at that offset, or the same failure. */
SLC_MUST_USE slc_status slci_span_fetch(int descriptor, void *dst, int64_t bytes, int64_t offset);

/* A box copied between two arrays of elements of any size in memory; strides in bytes, both with the
 * last one an element. `shape` is the box's. */
typedef struct slci_span_copy {
    int rank;
    int64_t element_bytes;
    int64_t shape[SLC_MAX_RANK];
    int64_t dst_stride[SLC_MAX_RANK], src_stride[SLC_MAX_RANK];
} slci_span_copy;
SLC_MUST_USE slc_status slci_span_copy_box(const slci_span_copy *copy, void *dst, const void *src);

#ifdef __cplusplus
}
#endif
#endif
