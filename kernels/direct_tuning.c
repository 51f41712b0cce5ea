/* The model. A line's pieces are shared out among `split` blocks, as evenly as whole pieces allow,
 * so that there are two kinds of blocks, one a piece longer than the other. A block takes a start
 * and then its pieces. The device works on n_slots of them at a time and begins another wherever
 * one ends, the long ones first:
 *
 *     slot 1  | start 1 2 3 | start 1 2 3 |            3 lines of 8 pieces, split 3, 4 slots:
 *     slot 2  | start 1 2 3 | start 1 2 3 |            six blocks of three pieces, three of two
 *     slot 3  | start 1 2 3 | start 1 2 | start 1 2 |
 *     slot 4  | start 1 2 3 | start 1 2 |
 *                                       └ waiting ┘
 *
 * Few long blocks leave slots waiting at the end, many short ones start often. What blocks of one
 * kind differ by (flagged samples, methods, what else the machine does) makes the last of them end
 * later still, by a share of one block's time.
 *
 * Nothing else is free. A block of the product kernel takes all registers of a multiprocessor, so
 * that one runs there at a time, and the two stages of its operands are what shared memory holds;
 * the sine kernel's registers allow two blocks, or one of twice the size. On the host the shapes of
 * all products are in the numerics record, and how many threads there are is the user's. */
#include "kernels/direct_tuning.h"

#include <assert.h>
#include <math.h>

#include "core/checked.h"
#include "kernels/direct_tile.h"

/* Blocks of one launch along y, of which a kernel loops over more runs. */
#define MOST_BLOCKS 65535

/* A block of the product kernel finds the bend of its tile's lines before its first run, and one of
 * the sine kernel w c of its pixels, where a run takes four times as long. By what one run a block
 * loses against several on an H200: 1 to 2 % of a run. */
#define PRODUCT_START 0.015
#define SINE_START 0.005
#define CUDA_SPREAD 0.25

/* Blocks that a multiprocessor works on at a time, as the kernels' launch bounds have it. */
#define PRODUCT_BLOCKS 1
#define SINE_BLOCKS 2
#define COMPLEX_SINE_BLOCKS 1

/* Cycles of a core for one sample: to gather it for a task, and for its share of a kernel tile by
 * the matrix product, of each line of the tile and of each pixel. */
#define GATHER_CYCLES 40.0
#define LINE_CYCLES 6.0
#define PIXEL_CYCLES 0.07
#define HOST_SPREAD 0.5

static const char *const launch_names[SLC_DIRECT_N_LAUNCHES] = {
    [SLC_DIRECT_LAUNCH_HOST] = "host",
    [SLC_DIRECT_LAUNCH_PRODUCT] = "product",
    [SLC_DIRECT_LAUNCH_SINE] = "sine",
};

const char *slci_direct_launch_name(slc_direct_launch launch) {
    return launch_names[launch];
}

/* ---- what is divided --------------------------------------------------------------------------
 * */

static int64_t count_runs(const slci_direct_work *work) {
    const slc_direct_setup *setup = work->setup;
    return slc_ceil_div(work->full_extent[0], setup->granule_rows) *
           slc_ceil_div(setup->granule_rows * setup->n_channels, setup->granule_samples);
}

static int64_t count_tiles(const slci_direct_work *work, int64_t tile_pixels) {
    return slc_ceil_div(work->full_extent[1], tile_pixels) *
           slc_ceil_div(work->full_extent[2], tile_pixels);
}

/* Of so many kernel tiles of the engine tile, those that a launch has work for, if it has its share
 * of the whole picture's here. */
static int64_t share_tiles(const slc_direct_summary *summary, int64_t n_wanted, int64_t n_tiles) {
    int64_t n_all = 0;
    for (int m = 0; m < SLC_DIRECT_N_METHODS; m++) {
        n_all += summary->n_tiles[m];
    }
    return (int64_t)ceil((double)n_tiles * (double)n_wanted / (double)slc_max_i64(n_all, 1));
}

/* Where the methods are not known, all tiles are products, but for a few at the horizon. */
static int64_t count_lines(const slci_direct_work *work, slc_direct_launch launch) {
    const slc_direct_setup *setup = work->setup;
    const slc_direct_summary *summary = work->summary;
    const bool has_product = setup->unit != SLC_DIRECT_UNIT_NONE;
    if (launch == SLC_DIRECT_LAUNCH_PRODUCT) {
        const int64_t n_tiles = has_product ? count_tiles(work, setup->tile_pixels) : 0;
        return setup->n_parts *
               (summary == NULL
                    ? n_tiles
                    : share_tiles(summary, summary->n_tiles[SLC_DIRECT_PRODUCT], n_tiles));
    }
    const int64_t n_tiles = count_tiles(work, SLCI_CUDA_TILE);
    if (summary == NULL) {
        return has_product ? 1 : n_tiles;
    }
    const int64_t n_sine = summary->n_tiles[SLC_DIRECT_SINE] +
                           summary->n_tiles[SLC_DIRECT_SINE_DOUBLE] +
                           summary->n_tiles[SLC_DIRECT_SINE_WIDE];
    return share_tiles(summary, n_sine, n_tiles);
}

static void divide_host(const slci_direct_work *work, slci_direct_division *out) {
    const double pixels = (double)work->setup->tile_pixels;
    out->n_lines = count_runs(work);
    out->n_pieces = count_tiles(work, work->setup->tile_pixels);
    out->n_slots = work->n_processors;
    out->start = GATHER_CYCLES / (LINE_CYCLES * pixels + PIXEL_CYCLES * pixels * pixels);
    out->spread = HOST_SPREAD;
}

static void divide_cuda(const slci_direct_work *work, slc_direct_launch launch,
                        slci_direct_division *out) {
    const int sine_blocks = work->setup->n_parts > 1 ? COMPLEX_SINE_BLOCKS : SINE_BLOCKS;
    const bool is_product = launch == SLC_DIRECT_LAUNCH_PRODUCT;
    out->n_lines = count_lines(work, launch);
    out->n_pieces = count_runs(work);
    out->n_slots = (int64_t)work->n_processors * (is_product ? PRODUCT_BLOCKS : sine_blocks);
    out->start = is_product ? PRODUCT_START : SINE_START;
    out->spread = CUDA_SPREAD;
}

bool slci_direct_divide(const slci_direct_work *work, slc_direct_launch launch,
                        slci_direct_division *out) {
    const bool is_host = work->device == SLC_DEVICE_HOST;
    if (is_host != (launch == SLC_DIRECT_LAUNCH_HOST)) {
        return false;
    }
    if (is_host) {
        divide_host(work, out);
    } else {
        divide_cuda(work, launch, out);
    }
    out->n_slots = slc_max_i64(out->n_slots, 1);
    return out->n_lines > 0 && out->n_pieces > 0;
}

/* ---- the model --------------------------------------------------------------------------------
 * */

/* When the last of n equal blocks ends, if `late` of the slots are busy for the first `held` of
 * time, which is more than such a block takes and at most twice that. After k of its blocks a slot
 * that was free has seen those that were not end two fewer; a little later, one fewer. */
static double last_end(int64_t n, double block, int64_t n_slots, int64_t late, double held) {
    const int64_t early = n_slots - late;
    int64_t k = slc_max_i64(1, slc_ceil_div(n, n_slots));
    for (;; k++) {
        if (early * k + late * slc_max_i64(0, k - 2) >= n) {
            return fmax((double)k * block, late > 0 ? held : 0.0);
        }
        if (early * k + late * (k - 1) >= n) {
            return held + (double)(k - 1) * block;
        }
    }
}

double slci_direct_split_time(const slci_direct_division *division, int64_t split) {
    assert(split >= 1 && split <= division->n_pieces);
    const int64_t pieces = division->n_pieces / split;
    const int64_t n_longer = division->n_pieces % split;
    const int64_t n_long = division->n_lines * n_longer;
    const int64_t n_short = division->n_lines * (split - n_longer);
    const double short_time = division->start + (double)pieces;
    const double long_time = short_time + 1.0;
    const double begin = (double)(n_long / division->n_slots) * long_time;
    const double rest =
        last_end(n_short, short_time, division->n_slots, n_long % division->n_slots, long_time);
    return begin + rest + division->spread * (n_long > 0 ? long_time : short_time);
}

/* Blocks are a run and a tile each where there are enough of them. They end at any time within the
 * spread, so that on average a thread waits half of it. */
double slci_direct_host_wait(const slc_direct_setup *setup) {
    const double pixels = (double)setup->tile_pixels * (double)setup->tile_pixels;
    const int64_t samples = setup->granule_rows * setup->n_channels;
    const int64_t n_runs = slc_ceil_div(samples, setup->granule_samples);
    return HOST_SPREAD / 2 * pixels * (double)setup->granule_rows / (double)n_runs;
}

/* So many blocks to fill each slot so many times over. */
static const int64_t times_over[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

/* One block a line, those that just fill the slots so many times over, and one piece a block. */
int slci_direct_splits(const slci_direct_division *division, int64_t *splits) {
    const int64_t most = slc_min_i64(division->n_pieces, MOST_BLOCKS);
    int n = 0;
    splits[n++] = 1;
    for (size_t i = 0; i < sizeof times_over / sizeof times_over[0]; i++) {
        const int64_t split = times_over[i] * division->n_slots / division->n_lines;
        if (split > splits[n - 1] && split < most) {
            splits[n++] = split;
        }
    }
    if (most > splits[n - 1]) {
        splits[n++] = most;
    }
    assert(n <= SLCI_DIRECT_MOST_SPLITS);
    return n;
}

int64_t slci_direct_split_choose(const slci_direct_division *division) {
    int64_t splits[SLCI_DIRECT_MOST_SPLITS];
    const int n = slci_direct_splits(division, splits);
    int64_t best = splits[0];
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
        const double time = slci_direct_split_time(division, splits[i]);
        if (time < least) {
            least = time;
            best = splits[i];
        }
    }
    return best;
}

int64_t slci_direct_split_get(const slci_direct_work *work, slc_direct_launch launch) {
    slci_direct_division division;
    if (!slci_direct_divide(work, launch, &division)) {
        return 1;
    }
    const int64_t given = work->setup->tuning.split[launch];
    return given > 0 ? slc_min_i64(given, slc_min_i64(division.n_pieces, MOST_BLOCKS))
                     : slci_direct_split_choose(&division);
}
