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

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_machine {
    slc_pool *pool;
    slc_device *device;
    slc_budget *budget; /* of vram_bytes and ram_bytes */
    slc_device_limits limits;
    slc_checkpoint *checkpoint; /* not yet begun; NULL: none is wanted */
    slc_rates rates;        /* given, kept from before, measured or assumed, as the options say */
    slc_pool *own_pool;     /* NULL where the caller lent a device, which has its own pool */
    slc_device *own_device; /* likewise */
} slci_machine;

/* SLC_ERROR_DEVICE, SLC_ERROR_MEMORY; what was opened is closed by slci_machine_close either way. */
SLC_MUST_USE slc_status slci_machine_open(const slc_run_options *options, slci_machine *machine);
void slci_machine_close(slci_machine *machine);

/* The request and the engine's options as far as the run's options say them: budgets, rates, sparse
 * choice; device, pool, ledger, log, trace and cancel. */
slc_execution slci_machine_execution(const slc_run_options *options, const slci_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
