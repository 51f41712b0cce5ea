/* The pool, device and ledger that a job of the program runs on. Internal to app.
 *
 *     slci_machine machine = {0};
 *     SLC_TRY_GOTO(done, slci_machine_open(&options->run, &machine));
 *     ...
 * done:
 *     slci_machine_close(&machine);
 */
#ifndef SLC_APP_MACHINE_H
#define SLC_APP_MACHINE_H

#include "app/run_options.h"
#include "core/budget.h"
#include "core/device.h"
#include "core/pool.h"
#include "core/source.h"
#include "kernels/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_machine {
    slc_pool *pool;
    slc_device *device;
    slc_budget *budget; /* of vram_bytes and ram_bytes */
    slc_device_limits limits;
    slc_direct_card card; /* zeros until a job that takes the direct transform has asked for it */
    slc_checkpoint *checkpoint; /* not yet begun; NULL: none is wanted, or --ram forbids it */
    bool delivers_result;       /* there is no output but what run.deliver makes of the result */
    bool trace_is_share;        /* trace_bytes grow with --ram */
    int64_t trace_bytes;        /* reserved, or missing */
    int64_t missing_bytes; /* of host memory that the run cannot do without and --ram does not */
                           /* allow: every plan is refused, and names what is needed with them */
    /* Some of the host memory that is held, or of the device memory that any plan takes, is there for
     * each thread: fewer of them need less. */
    bool threads_take_ram, threads_take_vram;
    slc_rates rates;        /* given, kept from before, measured or assumed, as the options say */
    slc_pool *own_pool;     /* NULL where the caller lent a device, which has its own pool */
    slc_device *own_device; /* likewise */
} slci_machine;

/* What a trace may take of a host budget: a sixteenth, at most 24 MiB, at least 1 KiB. */
int64_t slci_trace_share_bytes(int64_t ram_bytes);

/* SLC_ERROR_DEVICE, SLC_ERROR_MEMORY; what was opened is closed by slci_machine_close either way. */
SLC_MUST_USE slc_status slci_machine_open(const slc_run_options *options, slci_machine *machine);
void slci_machine_close(slci_machine *machine);

/* Reserves host memory, or notes that it is missing; whether it was reserved. */
bool slci_machine_hold(slci_machine *machine, int64_t bytes, const char *what);

/* The same of what reading a source takes, bytes_of(source, n_threads), for every thread that may
 * read. */
void slci_machine_hold_readers(slci_machine *machine, const slc_source *source,
                               int64_t (*bytes_of)(const slc_source *source, int n_threads),
                               const char *what);

/* Gives that back, reserved or missing. */
void slci_machine_let_go(slci_machine *machine, int64_t bytes);

/* Host memory that is taken or missing; what is left to plan with, below 0 where more is missing; and
 * the least --ram that leaves `bytes`, the trace's share of that --ram counted. */
int64_t slci_machine_held_bytes(const slci_machine *machine);
int64_t slci_machine_left_bytes(const slci_machine *machine);
int64_t slci_machine_ram_for(const slci_machine *machine, int64_t bytes);

/* SLC_ERROR_INTERRUPTED when the caller wants the run to stop. */
SLC_MUST_USE slc_status slci_run_check_stop(const slc_run_options *options);

/* The same, and else says how far a stage is. */
SLC_MUST_USE slc_status slci_run_tell(const slc_run_options *options, const char *stage,
                                      const char *thing, double done, double total);

/* Whether a run with these options may write its output `path` over a file: it was told so, or that
 * file is the same output, which the run that it resumes had given its name before it was killed. */
bool slci_run_may_replace(const slc_run_options *options, const char *path);

/* Of a begun checkpoint: whether the run that is resumed had come to its end, with the outputs paths
 * [n_paths]; says so. Then nothing is left but slci_machine_finish. */
bool slci_machine_is_complete(const slci_machine *machine, const char *const *paths, int n_paths,
                              slc_log *log);

/* What a checkpoint keeps of a job in one byte: how the job is done, where what is left of it can only
 * be done alike. */
typedef struct slci_kept_byte {
    void *job;
    unsigned char (*save)(const void *job);
    /* `value` is 0 where the checkpoint holds another number of bytes than one. */
    slc_status (*load)(void *job, int64_t n_bytes, unsigned char value);
} slci_kept_byte;

/* `kept` is lent for as long as the checkpoint is open. */
slc_checkpoint_client slci_kept_byte_client(slci_kept_byte *kept);

/* Begins the checkpoint that the machine has, or goes on with it; which of both, it says. Destroys
 * `print`; `client` may be NULL. The statuses of slc_checkpoint_begin. */
SLC_MUST_USE slc_status slci_machine_begin_checkpoint(slci_machine *machine, slc_fingerprint *print,
                                                      const slc_checkpoint_client *client,
                                                      bool *is_resumed);

/* Gives the one output of a job its name. */
SLC_MUST_USE slc_status slci_machine_commit(slci_machine *machine, slc_sink *output);

/* Of a failure beside the result: says that the result is written, and what --resume does. Returns
 * `status`. */
SLC_MUST_USE slc_status slci_run_lacks_rest(const slc_checkpoint *checkpoint, slc_status status);

/* The end of a run that gave `status`: delivers the result, and removes the checkpoint. Returns what
 * the run is to return. */
SLC_MUST_USE slc_status slci_machine_finish(slci_machine *machine, const slc_run_options *options,
                                            const void *result, slc_status status);

/* What the run was given and took so far; the plan's numbers are left as they are. */
void slci_machine_take_stock(const slci_machine *machine, slc_run_memory *memory);

/* What one job needs at least, for a refusal. */
typedef struct slci_least {
    int64_t device_bytes; /* --vram */
    int64_t ram_bytes;    /* --ram */
    /* (optional) Where the job can be done in several ways: what is treated, such as "data", and how,
     * for each number; NULL: there is one way. */
    const char *thing, *device_way, *ram_way;
    /* (optional) From both on tiles of whole chunks fit; 0: nothing is known. */
    int64_t whole_device_bytes, whole_ram_bytes;
} slci_least;

/* One of several ways to do a job, and what it needs at least, whatever the budgets are. */
typedef struct slci_way {
    const char *name; /* "mapped" */
    int64_t device_bytes, host_bytes;
} slci_way;

/* Over ways [n], n >= 1, to treat a `thing`: the least of either memory that works with what there is
 * of the other, or both of one way where none works with either. Of the host memory that is held,
 * `spare_bytes` may be given back. */
slci_least slci_machine_least(const slci_machine *machine, const char *thing, const slci_way *ways,
                              int n, int64_t spare_bytes);

/* SLC_ERROR_NO_PLAN in words of the command line: which of --vram and --ram is too small, or both,
 * and the smallest that work. */
SLC_MUST_USE slc_status slci_machine_refuse(const slci_machine *machine, const slci_least *least);

/* The plan of a job that has nothing to do: no tiles, no memory, nothing moved. */
void slci_plan_nothing(slc_plan *plan);

/* The request and the engine's options as far as the run's options say them: budgets, rates, sparse
 * choice; device, pool, ledger, log, trace and cancel. */
slc_execution slci_machine_execution(const slc_run_options *options, const slci_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
