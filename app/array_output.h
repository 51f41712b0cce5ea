/* The result of a job on arrays, from what is asked for to what was written: its chunks and filter, and
 * the memory that encoding takes of the host budget. Internal to app.
 *
 *     slci_array_output output = {.file = {.path = ..., .dataset = ..., .layout = layout}};
 *     SLC_TRY(slci_array_output_settle(&output, &options->form));
 *     slci_array_output_hold(&output, &machine);
 *     SLC_TRY(slci_array_output_plan(&output, &machine, plan, &job));
 *     SLC_TRY(slc_h5_array_create(&output.file, &sink));
 */
#ifndef SLC_APP_ARRAY_OUTPUT_H
#define SLC_APP_ARRAY_OUTPUT_H

#include <stdio.h>

#include "app/array_form.h"
#include "app/json.h"
#include "app/machine.h"
#include "core/source.h"
#include "io/h5_array.h"
#include "ooc/fingerprint.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_array_output {
    slc_h5_array_output file;
    int64_t held_bytes; /* reserved for encoding */
} slci_array_output;

/* Puts chunks and filter into `file`, whose own chunk is the job's choice, and settles it. Path, layout
 * and template are there. SLC_ERROR_ARGUMENT for what contradicts itself; the statuses of
 * slc_h5_array_settle. */
SLC_MUST_USE slc_status slci_array_output_settle(slci_array_output *self,
                                                 const slc_array_form *form);

/* Reserves what encoding takes, by all threads of the machine: what is good for it, if that is no large
 * part of the budget, and the least that works otherwise (slci_machine_hold). */
void slci_array_output_hold(slci_array_output *self, slci_machine *machine);

/* Of that, what is more than the least that works. */
int64_t slci_array_output_spare(const slci_array_output *self);

/* Calls plan(job), which returns SLC_ERROR_NO_PLAN where nothing fits, and then again with less memory
 * for encoding, as long as there is some to give back. Returns what the last call did. */
typedef slc_status (*slci_array_planner)(void *job);
SLC_MUST_USE slc_status slci_array_output_plan(slci_array_output *self, slci_machine *machine,
                                               slci_array_planner plan, void *job);

/* Bytes a second that the result can be written at, for the planner: `write_bytes_per_s` of the machine
 * or, if that is less, what encoding allows. */
double slci_array_output_rate(const slci_array_output *self, const slci_machine *machine);

/* What decides how the file is stored: the part of a checkpoint's fingerprint. */
void slci_array_output_add_to(const slci_array_output *self, slc_fingerprint *print);

/* How it is stored, and what `sink` wrote; NULL: nothing yet. */
slc_array_stored slci_array_output_stored(const slci_array_output *self, const slc_sink *sink);

/* What lies between two passes of a job, which its checkpoint keeps too. */
typedef struct slci_array_between {
    int64_t bytes; /* 0: there is one pass */
    bool is_on_disk;
} slci_array_between;

/* Before the file is made: that it, what lies between, and the run's checkpoint fit on the disk
 * together (app/disk_room.h). How much filtered chunks take only the run can tell.
 * SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_array_output_check_room(const slci_array_output *self,
                                                     const slc_run_options *run,
                                                     slci_array_between between);

/* The member "output" of the statistics, and a line of the plan. `bytes` are those of the elements. */
void slci_stats_stored(slci_json *json, const slc_array_stored *stored, int64_t bytes);
void slci_stats_filter_line(FILE *out, const slc_array_stored *stored);

#ifdef __cplusplus
}
#endif
#endif
