/* For `sluice bench io`: files as other programs write them, and how fast HDF5 itself reads them, in
 * one thread, with the filters that a user's HDF5 has. Internal to the benchmark.
 *
 *     const slci_h5_bench_set set = {.path = path, .filter = SLCI_H5_BENCH_ZSTD, ...};
 *     SLC_TRY(slci_h5_bench_begin(&set, &writer));
 *     SLC_TRY_GOTO(done, slci_h5_bench_append(writer, rows, n_rows));
 * done:
 *     slci_h5_bench_end(writer);
 */
#ifndef SLC_IO_H5_BENCH_H
#define SLC_IO_H5_BENCH_H

#include <stdint.h>

#include "core/box.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_H5_BENCH_NAME "/data"

typedef enum slci_h5_bench_filter {
    SLCI_H5_BENCH_CONTIGUOUS, /* no chunks */
    SLCI_H5_BENCH_NONE,
    SLCI_H5_BENCH_ZSTD,    /* shuffle and zstd, level 3 */
    SLCI_H5_BENCH_DEFLATE, /* shuffle and deflate, level 4 */
    SLCI_H5_BENCH_FILTERS
} slci_h5_bench_filter;

const char *slci_h5_bench_filter_name(slci_h5_bench_filter filter);

/* Complex numbers {r, i} of single precision. All lent. */
typedef struct slci_h5_bench_set {
    const char *path;
    slci_h5_bench_filter filter;
    int rank;
    int64_t shape[SLC_MAX_RANK], chunk[SLC_MAX_RANK];
} slci_h5_bench_set;

typedef struct slci_h5_bench_file slci_h5_bench_file;

/* Makes the file and its dataset; then rows along the first dimension, from the front; the end closes
 * (NULL too). SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_h5_bench_begin(const slci_h5_bench_set *set, slci_h5_bench_file **out);
SLC_MUST_USE slc_status slci_h5_bench_append(slci_h5_bench_file *file, const void *rows,
                                             int64_t n_rows);
void slci_h5_bench_end(slci_h5_bench_file *file);

/* Reads the whole dataset with H5Dread, `n_rows` rows at a time, always into `dst`, and says how long
 * that took, without opening. In the meantime this process has none of Sluice's filters but zstd. No
 * other thread may use HDF5. SLC_ERROR_INPUT. */
SLC_MUST_USE slc_status slci_h5_bench_library_read(const slci_h5_bench_set *set, int64_t n_rows,
                                                   void *dst, double *seconds);

/* A dataset of `n_chunks` chunks of one 8-byte number, all stored, indexed by a B-tree as most files
 * are. SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_h5_bench_write_many(const char *path, int64_t n_chunks);

#ifdef __cplusplus
}
#endif
#endif
