/* The order matters: rates are measured before the ledger is made, which then never sees what the
 * measurement took; trace and checkpoint reserve their memory in it before anything is planned. */
#include "app/machine.h"

#include "app/rates.h"
#include "core/host_memory.h"

/* Before the run takes anything, so that the run's ledger never sees what a measurement took. */
static slc_rates choose_rates(const slc_run_options *options, slc_device *device) {
    if (options->rates.h2d_bytes_per_s > 0) {
        return options->rates;
    }
    if (!options->probes) {
        return slc_rates_default(device->kind);
    }
    const slci_rates_request request = {.device = device,
                                        .vram_bytes = options->vram_bytes,
                                        .ram_bytes = options->ram_bytes,
                                        .folder = options->cache_folder,
                                        .log = options->log};
    return slci_rates_get(&request);
}

/* Before anything is planned, since it takes memory. */
static slc_status create_checkpoint(const slc_run_options *options, slci_machine *machine) {
    if (options->checkpoint_path == NULL || options->dry_run) {
        return SLC_OK;
    }
    const slc_checkpoint_options checkpoint = {.path = options->checkpoint_path,
                                               .every_seconds = options->checkpoint_seconds,
                                               .resume = options->resume,
                                               .overwrite = options->overwrite,
                                               .budget = machine->budget,
                                               .log = options->log};
    return slc_checkpoint_create(&checkpoint, &machine->checkpoint);
}

slc_status slci_machine_open(const slc_run_options *options, slci_machine *machine) {
    machine->device = options->use_device;
    if (machine->device == NULL) {
        const int n_threads = options->n_threads > 0 ? options->n_threads : slci_host_cpus("");
        SLC_TRY(slc_pool_create(n_threads, &machine->own_pool));
        const slc_device_options device = {.choice = options->device,
                                           .cuda_index = options->cuda_index,
                                           .pool = machine->own_pool,
                                           .log = options->log};
        SLC_TRY(slc_device_create(&device, &machine->own_device));
        machine->device = machine->own_device;
    }
    machine->pool = machine->device->pool;
    machine->rates = choose_rates(options, machine->device);
    SLC_TRY(slc_budget_create(options->vram_bytes, options->ram_bytes, &machine->budget));
    slc_trace_watch(options->trace, machine->budget);
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_HOST, slc_trace_bytes(options->trace),
                               "trace"));
    SLC_TRY(create_checkpoint(options, machine));
    return slc_device_get_limits(machine->device, &machine->limits);
}

void slci_machine_close(slci_machine *machine) {
    slc_checkpoint_destroy(machine->checkpoint);
    slc_budget_destroy(machine->budget);
    slc_device_destroy(machine->own_device);
    slc_pool_destroy(machine->own_pool);
    *machine = (slci_machine){0};
}

slc_execution slci_machine_execution(const slc_run_options *options, const slci_machine *machine) {
    const slc_budget_use host = slc_budget_get(machine->budget, SLC_SPACE_HOST);
    return (
        slc_execution){.request = {.device_budget_bytes = options->vram_bytes,
                                   .host_budget_bytes = host.limit_bytes - host.used_bytes,
                                   .allocation_unit_bytes = machine->limits.allocation_unit_bytes,
                                   .rates = machine->rates,
                                   .sparse = options->sparse},
                       .engine = {.device = machine->device,
                                  .pool = machine->pool,
                                  .budget = machine->budget,
                                  .log = options->log,
                                  .cancel = options->cancel,
                                  .trace = options->trace},
                       .checkpoint = machine->checkpoint};
}
