/* How the work of one engine tile is divided among blocks of threads (CUDA) or tasks of the pool
 * (host). The picture is a sum of integers, so no bit depends on it, and it is free to be what is
 * fastest: what does fix bits is in slc_direct_setup and comes from epsilon and the survey alone.
 * Internal: nothing here is installed.
 *
 *     slci_direct_division division;
 *     if (slci_direct_divide(&work, SLC_DIRECT_LAUNCH_PRODUCT, &division)) {
 *         setup.tuning.split[SLC_DIRECT_LAUNCH_PRODUCT] = slci_direct_split_choose(&division);
 *     }
 */
#ifndef SLC_KERNELS_DIRECT_TUNING_H
#define SLC_KERNELS_DIRECT_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most splits worth trying for one launch. */
#define SLCI_DIRECT_MOST_SPLITS 16

/* What is divided, and among whom. All lent. */
typedef struct slci_direct_work {
    const slc_direct_setup *setup;
    const slc_direct_summary *summary; /* NULL: what methods the tiles take is not known */
    slc_device_kind device;
    int n_processors;           /* of the card; threads of the host's pool */
    const int64_t *full_extent; /* [3] of a full engine tile: rows, y, x */
} slci_direct_work;

/* Lines of equal pieces. A block works off some pieces of one line, one after the other. On CUDA a
 * line is a kernel tile and a piece a run of samples; on the host a line is a run and a piece a
 * tile. */
typedef struct slci_direct_division {
    int64_t n_lines, n_pieces; /* pieces of each line, at least 1 */
    int64_t n_slots;           /* blocks that the device works on at a time */
    double start;              /* what a block takes before its first piece, in pieces */
    double spread;             /* how much equal blocks differ, as a share of their time */
} slci_direct_division;

/* False where the launch has nothing to do: it is another device's, or no tile takes its method. */
bool slci_direct_divide(const slci_direct_work *work, slc_direct_launch launch,
                        slci_direct_division *out);

/* How long each of a host's threads waits at the end of an engine tile, on average: so many rows times
 * pixels of one thread's work. Tiles much larger than that lose little by it. */
double slci_direct_host_wait(const slc_direct_setup *setup);

/* The tuned set: numbers of blocks for a line, ascending, at most SLCI_DIRECT_MOST_SPLITS. Their
 * number; at least one. */
int slci_direct_splits(const slci_direct_division *division, int64_t *splits);

/* What the work takes, in pieces, by the model in direct_tuning.c; split is in [1, n_pieces]. */
double slci_direct_split_time(const slci_direct_division *division, int64_t split);

/* The member of the tuned set that the model takes. */
int64_t slci_direct_split_choose(const slci_direct_division *division);

/* The split of a launch: the setup's own within what there is to divide, or else the model's. 1
 * where the launch has nothing to do. */
int64_t slci_direct_split_get(const slci_direct_work *work, slc_direct_launch launch);

/* "host", "product", "sine". */
const char *slci_direct_launch_name(slc_direct_launch launch);

#ifdef __cplusplus
}
#endif
#endif
