/* What the jobs on arrays of files have in common: a dataset, or a slice of one, as the input of a
 * job. Internal to app.
 *
 *     slci_array data = {0};
 *     SLC_TRY(slci_array_open(&options->in, options->run.log, &data));
 *     slci_array_hold(&data, &machine);
 *     SLC_TRY(slci_array_set_cache(&data, &machine, planned_bytes));
 *     ... data.source ...
 *     slci_array_close(&data);
 */
#ifndef SLC_APP_ARRAY_JOB_H
#define SLC_APP_ARRAY_JOB_H

#include <stdint.h>

#include "app/array_name.h"
#include "app/machine.h"
#include "core/log.h"
#include "core/source_slice.h"
#include "core/status.h"
#include "io/h5_array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_array {
    slc_source *source;  /* what the job reads */
    slc_source *file;    /* the whole dataset; the same where there is no slice */
    slc_slice_view view; /* of `source` in `file` */
    int64_t cache_bytes; /* reserved for decoded chunks ... */
    slc_budget *budget;  /* ... here; NULL: none were asked for yet */
} slci_array;

/* The statuses of slc_h5_array_open and slc_source_slice. */
SLC_MUST_USE slc_status slci_array_open(const slc_array_name *name, slc_log *log, slci_array *out);

/* The same with elements of another type; the slice of `as` (may be NULL) means nothing. */
SLC_MUST_USE slc_status slci_array_open_as(const slc_array_name *name, const slc_source_view *as,
                                           slc_log *log, slci_array *out);

/* Gives the memory for decoded chunks back too; takes one of zeros. The machine is still open. */
void slci_array_close(slci_array *array);

/* Reserves what reading the array takes beside its data, for every thread of the machine
 * (slci_machine_hold). */
void slci_array_hold(const slci_array *array, slci_machine *machine);

/* Exchanges the memory for decoded chunks that was reserved before, if any, for `bytes`, which the
 * dataset's reader may keep from here on. SLC_ERROR_MEMORY, and the statuses of
 * slc_h5_array_set_cache. */
SLC_MUST_USE slc_status slci_array_set_cache(slci_array *array, const slci_machine *machine,
                                             int64_t bytes);

/* Steps of dimension d of `source` that a natural unit has; 0: there are no units. */
int64_t slci_array_unit(const slci_array *array, int d);

/* Stored bytes for each decoded one, for the planner. */
double slci_array_stored_share(const slci_array *array);

/* Where dimension d of `source` comes from, for a result that has it too. */
slc_h5_array_origin slci_array_origin(const slci_array *array, int d);

/* slc_h5_array_row_bytes for dimension d of `source`. */
int64_t slci_array_row_bytes(const slci_array *array, int d);

#ifdef __cplusplus
}
#endif
#endif
