/* What every job of the program takes besides its own options: budgets, device, threads, and whom to
 * tell. Each job's options hold one of these as `run`; zero means the default but for the budgets,
 * which have none.
 *
 *     slc_image_options options;
 *     slc_image_options_init(&options);
 *     options.run.vram_bytes = 256 << 20;
 *     options.run.ram_bytes = 1 << 30;
 */
#ifndef SLC_APP_RUN_OPTIONS_H
#define SLC_APP_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "ooc/execute.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called from the engine's thread: `done` of `total` things called `thing` ("rows"; "" for none) of
 * the stage ("surveying"). Both texts have static storage. */
typedef void (*slc_progress_function)(void *context, const char *stage, const char *thing,
                                      double done, double total);

/* The longest name of a plan's axis in a result, its end counted. */
#define SLC_AXIS_NAME_BYTES 16

/* All pointers are lent for the call. */
typedef struct slc_run_options {
    int64_t vram_bytes; /* budgets: zero is zero */
    int64_t ram_bytes;
    slc_device_choice device;
    int cuda_index;
    int n_threads; /* 0: as many as the process may use */
    bool overwrite;
    bool dry_run;             /* look at the inputs and plan; compute and write nothing */
    slc_sparse_choice sparse; /* where arrays that are touched at random go */
    slc_rates rates;          /* of this machine, for the plan; zeros: see `probes` */
    bool probes; /* measure what this machine does, within the budgets, in well under */
                 /* a second, where no earlier measurement is kept; else assume it */
    const char *cache_folder; /* where measurements are kept, made where missing; NULL: nowhere */
    const char *checkpoint_path; /* NULL: none; docs/checkpoint.md */
    double checkpoint_seconds;   /* between two states; 0: SLC_CHECKPOINT_EVERY_SECONDS */
    bool resume;                 /* go on with what the checkpoint holds */
    slc_trace *trace;            /* NULL: none */
    bool trace_is_share; /* it was made of slci_trace_share_bytes, and grows with ram_bytes */
    slc_log *log;
    slc_progress_function progress;
    void *progress_context;
    const volatile int *cancel; /* not 0: stop with SLC_ERROR_INTERRUPTED */
    /* (optional) Called once the outputs have their names, and after a dry run, with the job's result
     * (slc_gather_result, …); before the checkpoint (NULL: there is none) is removed, so that a run
     * which ends in here can be resumed, and then calls it again. What it writes may be told to the
     * checkpoint (slc_checkpoint_settle_beside). The run ends with what it returns. */
    slc_status (*deliver)(void *context, slc_checkpoint *checkpoint, const void *result);
    void *deliver_context;
    /* Tests only: the device to use instead of opening one. NULL otherwise. */
    slc_device *use_device;
} slc_run_options;

/* Memory of a run, in bytes: what it was given, what it took, and what the plan said. Member `memory`
 * of each job's result. */
typedef struct slc_run_memory {
    int64_t context_bytes; /* what the driver keeps for itself, apart from --vram */
    int64_t vram_limit_bytes, ram_limit_bytes;
    int64_t vram_peak_bytes, host_peak_bytes;
    int64_t host_planned_bytes; /* of host memory; more than the limit: refused */
    int64_t smallest_ram_bytes; /* the least --ram that works; more than the limit: refused */
} slc_run_memory;

/* How a job's input was read: "chunks" or "contiguous" by all threads, or "library" by HDF5 alone, and
 * then why, in one clause. Member `reader` of each job's result. */
typedef struct slc_run_reader {
    char path[16];
    char why[192];
} slc_run_reader;

#ifdef __cplusplus
}
#endif
#endif
