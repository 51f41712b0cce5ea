/* Internal: the zstd filter (32015) of HDF5, carried by Sluice itself.
 * Debian has no such plugin, and a foreign one need not check sizes, so the library registers its own
 * encoder and decoder before it opens or makes a file.
 *
 *     SLC_TRY(slci_h5_zstd_register());
 *     slci_h5_zstd_expect(chunk_bytes);   // before a read, on the reading thread
 *     H5Dread(...);
 *     slci_h5_zstd_expect(0);
 */
#ifndef SLC_IO_H5_ZSTD_H
#define SLC_IO_H5_ZSTD_H

#include <stdint.h>

#include "core/status.h"

#define SLCI_H5_ZSTD_ID 32015

/* Registers the filter with the HDF5 of this process, in place of any plugin with the same number;
 * doing it again is harmless. SLC_ERROR_INTERNAL when HDF5 refuses. */
SLC_MUST_USE slc_status slci_h5_zstd_register(void);

/* Says how many bytes each chunk must decode to on the calling thread: the chunk's bytes in the
 * file's own type, plus 4 where fletcher32 stands before zstd in the pipeline. HDF5 tells a filter
 * nothing of the kind and believes whatever comes out, so a short frame would be read past its end.
 * Frames of any other size are refused while an expectation stands. 0 takes it back: then a frame's
 * own word is believed, up to HDF5's limit for a chunk. */
void slci_h5_zstd_expect(int64_t chunk_bytes);

#endif
