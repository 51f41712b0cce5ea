/* `sluice bench io`: how fast archives are read and written, each way of storing beside HDF5, the bare
 * file or h5repack, measured in the same run. docs/bench.md explains every line. Internal to app.
 *
 *     slci_bench_options options = {.run = run, .folder = "/tmp"};
 *     slci_bench_result result;
 *     SLC_TRY(slci_bench_io(&options, &result));
 */
#ifndef SLC_APP_BENCH_IO_H
#define SLC_APP_BENCH_IO_H

#include "app/bench_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Files as large as the array, on a card one of 8 times that, one after another, in a folder of their
 * own below options->folder. SLC_ERROR_OUTPUT, SLC_ERROR_MEMORY, SLC_ERROR_INTERRUPTED;
 * SLC_ERROR_INTERNAL where other values were read than written. */
SLC_MUST_USE slc_status slci_bench_io(const slci_bench_options *options, slci_bench_result *out);

#ifdef __cplusplus
}
#endif
#endif
