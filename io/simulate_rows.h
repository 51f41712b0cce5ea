/* Internal: makes the rows of a simulation, block by block, on all threads of a pool. A row depends on
 * the options and its number alone, so blocks and threads change nothing. */
#ifndef SLC_IO_SIMULATE_ROWS_H
#define SLC_IO_SIMULATE_ROWS_H

#include "io/simulate.h"
#include "io/simulate_telescope.h"
#include "io/uvh5_write.h"

typedef struct slci_row_maker slci_row_maker;

/* Rows come time by time, and within a time by baseline (antenna_1 < antenna_2, no
 * autocorrelations). The last time may have only some of the baselines. */
typedef struct slci_row_order {
    int64_t n_pairs;     /* of the array */
    int64_t n_times;     /* ⌈n_rows / n_pairs⌉ */
    int64_t n_baselines; /* that occur: fewer than n_pairs only where there is one time */
    double first_jd;     /* middle of the first integration */
    double cadence_s;    /* from one time to the next, and the integration */
} slci_row_order;

/* `options` are resolved. */
void slci_row_order_init(const slc_simulate_options *options, const slci_telescope *telescope,
                         slci_row_order *out);

/* `options`, `telescope` and `sky` are lent until destroy. SLC_ERROR_MEMORY, and SLC_ERROR_INPUT where
 * a flux is out of range at a frequency of the set. */
SLC_MUST_USE slc_status slci_row_maker_create(const slc_simulate_options *options,
                                              const slci_telescope *telescope, const slc_sky *sky,
                                              slci_row_maker **out);
void slci_row_maker_destroy(slci_row_maker *maker);

/* Rows that one block holds at most. */
int64_t slci_row_maker_block(const slci_row_maker *maker);

/* Rows first_row to first_row + n_rows - 1, at most a block. *out lends the maker's memory until the
 * next call. SLC_ERROR_INTERRUPTED. */
SLC_MUST_USE slc_status slci_row_maker_make(slci_row_maker *maker, int64_t first_row,
                                            int64_t n_rows, slc_uvh5_rows *out);

#endif
