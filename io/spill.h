/* An array that is put down on disk for a while, to be read in another order than it was written. It is
 * stored in blocks, each in one piece, so that boxes of both orders are few large reads and writes;
 * the file has no name, so nothing is left of it however the run ends.
 *
 *     slc_spill_options options = {.beside = "out.h5", .layout = layout, .block = {256, 1024}};
 *     SLC_TRY(slc_spill_create(&options, &spill));
 *     ... write to slc_spill_sink(spill), then read from slc_spill_source(spill) ...
 *     slc_spill_destroy(spill);
 */
#ifndef SLC_IO_SPILL_H
#define SLC_IO_SPILL_H

#include <stdint.h>

#include "core/layout.h"
#include "core/source.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_spill slc_spill;

/* Lent for the call. */
typedef struct slc_spill_options {
    const char *beside;          /* the file is made in this one's folder */
    slc_layout layout;           /* dense, of rank 1 at least, with elements */
    int64_t block[SLC_MAX_RANK]; /* at least 1 each */
} slc_spill_options;

/* What the file takes; INT64_MAX where it does not fit 63 bits. */
SLC_API int64_t slc_spill_file_bytes(const slc_spill_options *options);

/* What each thread that reads or writes takes of host memory meanwhile: a block, or part of one. */
SLC_API int64_t slc_spill_thread_bytes(const slc_spill_options *options);

/* Makes the file, its room reserved where the file system can do so. SLC_ERROR_OUTPUT with the folder
 * and the system's reason, SLC_ERROR_MEMORY, SLC_ERROR_ARGUMENT. */
SLC_API SLC_MUST_USE slc_status slc_spill_create(const slc_spill_options *options, slc_spill **out);

/* Lent; not to be destroyed. Any threads may write, and read, disjoint boxes at once. What was not
 * written is zero. Committing does nothing. */
SLC_API slc_sink *slc_spill_sink(slc_spill *spill);
SLC_API slc_source *slc_spill_source(slc_spill *spill);

SLC_API void slc_spill_destroy(slc_spill *spill); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
