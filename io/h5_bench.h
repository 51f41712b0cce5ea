/* For `sluice bench`: what HDF5 itself does with a file, called as anybody calls it: in one thread,
 * with H5Dread and H5Dwrite, and with the filters that a user's HDF5 has. Internal to the
 * benchmarks.
 *
 *     SLC_TRY(slci_h5_bench_open(path, SLCI_H5_BENCH_STOCK, &file));
 *     return slci_h5_bench_end(file, slci_h5_bench_read(file, row, n_rows, dst));
 */
#ifndef SLC_IO_H5_BENCH_H
#define SLC_IO_H5_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/box.h"
#include "core/status.h"
#include "io/h5_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_H5_BENCH_NAME "/data"

/* Which of Sluice's filters HDF5 has while a file is open here. */
typedef enum slci_h5_bench_filters {
    SLCI_H5_BENCH_STOCK, /* zstd alone, which stock HDF5 lacks; HDF5's own; plugins */
    SLCI_H5_BENCH_OURS   /* all of them */
} slci_h5_bench_filters;

/* Whether HDF5 finds this filter without Sluice's: built in, or as a plugin. No file may be open
 * here. */
bool slci_h5_bench_has_stock(int filter);

/* One file with one dataset of complex numbers {r, i} of single precision. */
typedef struct slci_h5_bench_file slci_h5_bench_file;

/* Until it is closed no other thread may use HDF5, whose filters are those that are asked for; only
 * one file at a time. SLC_ERROR_INPUT, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_bench_open(const char *path, slci_h5_bench_filters filters,
                                           slci_h5_bench_file **out);

/* Closes it. What came of the work before comes back, or else what comes of closing, when HDF5 writes
 * what it has kept: SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_h5_bench_end(slci_h5_bench_file *file, slc_status status);

/* Makes one, likewise; deflate and zstd are the filters that HDF5 has an encoder for. All lent.
 * SLC_ERROR_OUTPUT, SLC_ERROR_MEMORY. */
typedef struct slci_h5_bench_set {
    const char *path;
    slc_h5_filter filter;
    int rank;
    int64_t shape[SLC_MAX_RANK], chunk[SLC_MAX_RANK];
} slci_h5_bench_set;
SLC_MUST_USE slc_status slci_h5_bench_create(const slci_h5_bench_set *set,
                                             slci_h5_bench_file **out);

/* Rows along the first dimension, by one call of HDF5. SLC_ERROR_INPUT, SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_h5_bench_read(slci_h5_bench_file *file, int64_t row, int64_t n_rows,
                                           void *dst);
SLC_MUST_USE slc_status slci_h5_bench_write(slci_h5_bench_file *file, int64_t row, int64_t n_rows,
                                            const void *src);

/* A dataset of `n_chunks` chunks of one 8-byte number, all stored, indexed by a B-tree as most files
 * are. SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_h5_bench_write_many(const char *path, int64_t n_chunks);

#ifdef __cplusplus
}
#endif
#endif
