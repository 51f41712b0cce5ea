/* What a machine can do at most, by loops written by hand over the device's plain functions: copies
 * over the bus, one way and both ways at once; the three-stream loop that a careful programmer would
 * write for one job; copies in RAM. `sluice bench engine` holds the engine against them. Internal to
 * app.
 *
 *     slci_loop_request request = {.machine = &machine, .tile_bytes = 8 << 20, .n_tiles = 256,
 *                                  .n_slots = 4};
 *     SLC_TRY(slci_loop_three_streams(&request, &seconds));
 */
#ifndef SLC_APP_BENCH_LOOP_H
#define SLC_APP_BENCH_LOOP_H

#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_loop_request {
    const slci_machine *machine; /* lent; memory is reserved in its ledger */
    int64_t tile_bytes;
    int64_t n_tiles;
    int n_slots; /* 1 to SLCI_LOOP_SLOTS */
} slci_loop_request;

#define SLCI_LOOP_SLOTS 16

typedef struct slci_loop_bus {
    double in_bytes_per_s, out_bytes_per_s; /* one way at a time */
    double both_bytes_per_s;                /* both ways at once, added up */
} slci_loop_bus;

/* Copies of tile_bytes each between pinned memory and the device, n_tiles of them, one stream a way,
 * through n_slots buffers in turn, so that no cache holds them. SLC_ERROR_MEMORY, SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_loop_measure_bus(const slci_loop_request *request, slci_loop_bus *out);

/* Tile after tile: copy in, copy on the device, copy out, each on its stream, ordered by events; a
 * slot is used again when its tile is out. `seconds` is for all tiles. */
SLC_MUST_USE slc_status slci_loop_three_streams(const slci_loop_request *request, double *seconds);

/* RAM to RAM by all threads of the pool. */
SLC_MUST_USE slc_status slci_loop_copy_ram(slc_pool *pool, const void *from, void *to,
                                           int64_t bytes, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
