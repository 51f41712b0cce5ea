/* Decoded chunks that are kept for a while, because a box ended inside them and the next one goes on
 * there. One window for all threads of a dataset: whoever comes to a chunk that another thread is
 * decoding waits for it and decodes nothing.
 *
 *     switch (slci_chunk_window_take(window, chunk, n_elements, &loan)) {
 *     case SLCI_WINDOW_HELD: ... copy from loan.data ...
 *     case SLCI_WINDOW_TO_FILL: ... decode into loan.data, then slci_chunk_window_filled ...
 *     case SLCI_WINDOW_NO_ROOM: ... decode elsewhere
 *     }
 *     slci_chunk_window_return(window, &loan, n_elements_used);    // of what was held or filled
 */
#ifndef SLC_IO_H5_CHUNK_WINDOW_H
#define SLC_IO_H5_CHUNK_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_chunk_window slci_chunk_window;

typedef enum slci_window_answer {
    SLCI_WINDOW_HELD,    /* decoded and lent */
    SLCI_WINDOW_TO_FILL, /* lent to be filled by the caller, for whom others wait */
    SLCI_WINDOW_NO_ROOM  /* nothing is lent */
} slci_window_answer;

typedef struct slci_window_loan {
    int64_t slot;
    void *data; /* [chunk_bytes] */
} slci_window_loan;

/* What fits in `bytes`; NULL where not one chunk does. SLC_ERROR_MEMORY. Destroy takes NULL. */
SLC_MUST_USE slc_status slci_chunk_window_create(int64_t chunk_bytes, int64_t bytes,
                                                 slci_chunk_window **out);
void slci_chunk_window_destroy(slci_chunk_window *window);

/* The functions below are thread-safe. Lends `chunk`, or room for it, to `out`, which is set where the
 * answer is not NO_ROOM; waits while another thread fills it. `n_elements`: how many of the chunk's
 * will ever be used, so that a chunk that was read to its end makes room first. */
slci_window_answer slci_chunk_window_take(slci_chunk_window *window, int64_t chunk,
                                          int64_t n_elements, slci_window_loan *out);

/* What was to be filled is, and stays lent until it is returned; or it could not be: then nobody gets
 * it, the loan has ended, and one of those who wait is asked to fill it. */
void slci_chunk_window_filled(slci_chunk_window *window, const slci_window_loan *loan,
                              bool is_good);

/* Ends a loan of what is filled, of which the caller has used `n_used` elements. */
void slci_chunk_window_return(slci_chunk_window *window, const slci_window_loan *loan,
                              int64_t n_used);

#ifdef __cplusplus
}
#endif
#endif
