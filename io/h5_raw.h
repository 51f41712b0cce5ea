/* The bytes of an HDF5 file past HDF5, for what is looked at before HDF5 reads it. Internal to
 * io/h5_*.c; opening takes HDF5's lock to be held.
 *
 *     slci_h5_raw raw;
 *     if (slci_h5_raw_open(object, &raw)) {
 *         is_read = slci_h5_raw_read(&raw, at, bytes, sizeof bytes);
 *     }
 *     slci_h5_raw_close(&raw);
 */
#ifndef SLC_IO_H5_RAW_H
#define SLC_IO_H5_RAW_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/outfile.h"

/* What HDF5 reads of a collection of values at once, and enough for most headers. */
#define SLCI_H5_RAW_WINDOW 4096

typedef struct slci_h5_raw {
    int fd;  /* negative: not open */
    int why; /* errno of that; 0: HDF5 does not say which file it is, or how it is made */
    char file[SLC_PATH_BYTES];
    int64_t file_bytes, base; /* addresses count from there */
    size_t address_bytes, length_bytes;
    unsigned n_shared;                        /* tables of messages that headers share */
    unsigned n_symbols, n_children, n_chunks; /* at most, in nodes of the older form */
    int64_t window_at; /* bytes [window_at, window_at + n_window) of the file */
    int64_t n_window;
    unsigned char window[SLCI_H5_RAW_WINDOW];
} slci_h5_raw;

/* The file of an open object, once more; false where that cannot be. Closing takes what failed too. */
bool slci_h5_raw_open(hid_t object, slci_h5_raw *out);
void slci_h5_raw_close(slci_h5_raw *raw);

/* Of a file that has tables of shared messages: the address of the header that leads to them. False
 * where the file has none, or cannot be read. */
bool slci_h5_raw_extension(slci_h5_raw *raw, int64_t *out);

/* n bytes from byte `at` of the file; false where it has none there. Neighbours are read together. */
bool slci_h5_raw_read(slci_h5_raw *raw, int64_t at, void *bytes, int64_t n);

/* A number of n bytes, at most 8, the lowest first; INT64_MAX where it is larger. */
int64_t slci_h5_raw_number(const unsigned char *bytes, size_t n);

#endif
