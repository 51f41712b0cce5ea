/* The order matters: rates are measured before the ledger is made, which then never sees what the
 * measurement took; trace and checkpoint reserve their memory in it before anything is planned. What
 * does not fit is only noted, so that the plan can be refused with the smallest --ram that works. */
#include "app/machine.h"

#include <string.h>

#include "app/rates.h"
#include "core/checked.h"
#include "core/host_memory.h"
#include "core/print.h"

/* The trace takes this part of --ram, and never more than so many bytes: some 300,000 slices. */
#define TRACE_SHARE 16
#define MOST_TRACE_BYTES (INT64_C(24) << 20)

/* A dozen slices: a trace in memory that is too small for any job. */
#define LEAST_TRACE_BYTES (INT64_C(1) << 10)

/* Staging stays in the last cache up to this part of it, which other programs use too and copies
 * between two arrays in RAM run through. (Measured beside an H200, with 300 MiB of cache: 96 MiB of
 * staging moved 41 to 44 GB/s from RAM to RAM, 128 MiB 23 to 44, 256 MiB 19 to 26.) */
#define CACHE_SHARE 3

int64_t slci_trace_share_bytes(int64_t ram_bytes) {
    const int64_t share = slc_min_i64(ram_bytes / TRACE_SHARE, MOST_TRACE_BYTES);
    return slc_max_i64(share, LEAST_TRACE_BYTES);
}

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

bool slci_machine_hold(slci_machine *machine, int64_t bytes, const char *what) {
    if (machine->missing_bytes == 0 &&
        slc_budget_reserve(machine->budget, SLC_SPACE_HOST, bytes, what) == SLC_OK) {
        return true;
    }
    machine->missing_bytes += bytes;
    return false;
}

void slci_machine_hold_readers(slci_machine *machine, const slc_source *source,
                               int64_t (*bytes_of)(const slc_source *source, int n_threads),
                               const char *what) {
    /* The engine's own thread reads too, where it waits for the pool. */
    const int64_t bytes = bytes_of(source, slc_pool_size(machine->pool) + 1);
    machine->threads_take_ram = machine->threads_take_ram || bytes > bytes_of(source, 2);
    (void)slci_machine_hold(machine, bytes, what);
}

void slci_machine_let_go(slci_machine *machine, int64_t bytes) {
    const int64_t n_missing = slc_min_i64(bytes, machine->missing_bytes);
    machine->missing_bytes -= n_missing;
    slc_budget_release(machine->budget, SLC_SPACE_HOST, bytes - n_missing);
}

static void hold_trace(const slc_run_options *options, slci_machine *machine) {
    machine->trace_is_share = options->trace != NULL && options->trace_is_share;
    machine->trace_bytes = machine->trace_is_share ? slci_trace_share_bytes(options->ram_bytes)
                                                   : slc_trace_bytes(options->trace);
    (void)slci_machine_hold(machine, machine->trace_bytes, "trace");
}

/* Before anything is planned, since it takes memory; a dry run only takes that into account. */
static slc_status create_checkpoint(const slc_run_options *options, slci_machine *machine) {
    if (options->checkpoint_path == NULL) {
        return SLC_OK;
    }
    if (options->dry_run || slci_machine_left_bytes(machine) < slc_checkpoint_bytes()) {
        (void)slci_machine_hold(machine, slc_checkpoint_bytes(), "checkpoint");
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
    hold_trace(options, machine);
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

/* ---- progress -------------------------------------------------------------------------------- */

slc_status slci_run_check_stop(const slc_run_options *options) {
    if (options->cancel != NULL && *options->cancel != 0) {
        return SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted");
    }
    return SLC_OK;
}

slc_status slci_run_tell(const slc_run_options *options, const char *stage, const char *thing,
                         double done, double total) {
    SLC_TRY(slci_run_check_stop(options));
    if (options->progress != NULL) {
        options->progress(options->progress_context, stage, thing, done, total);
    }
    return SLC_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

bool slci_run_may_replace(const slc_run_options *options, const char *path) {
    return options->overwrite || (options->resume && options->checkpoint_path != NULL &&
                                  slc_checkpoint_has_made(options->checkpoint_path, path));
}

static int64_t kept_byte_bytes(void *context) {
    (void)context;
    return 1;
}

static void kept_byte_save(void *context, void *out) {
    const slci_kept_byte *kept = context;
    *(unsigned char *)out = kept->save(kept->job);
}

static slc_status kept_byte_load(void *context, const void *data, int64_t n_bytes) {
    const slci_kept_byte *kept = context;
    const unsigned char value = n_bytes == 1 ? *(const unsigned char *)data : 0;
    return kept->load(kept->job, n_bytes, value);
}

slc_checkpoint_client slci_kept_byte_client(slci_kept_byte *kept) {
    return (slc_checkpoint_client){.context = kept,
                                   .bytes = kept_byte_bytes,
                                   .save = kept_byte_save,
                                   .load = kept_byte_load};
}

slc_status slci_machine_begin_checkpoint(slci_machine *machine, slc_fingerprint *print,
                                         const slc_checkpoint_client *client, bool *is_resumed) {
    const slc_status status = slc_checkpoint_begin(machine->checkpoint, print, client);
    slc_fingerprint_destroy(print);
    SLC_TRY(status);
    *is_resumed = slc_checkpoint_is_resumed(machine->checkpoint);
    return SLC_OK;
}

bool slci_machine_is_complete(const slci_machine *machine, const char *const *paths, int n_paths,
                              slc_log *log) {
    if (!slc_checkpoint_is_complete(machine->checkpoint, paths, n_paths)) {
        return false;
    }
    slc_log_note(log, "%s%s complete: the run before was stopped after that",
                 n_paths > 1 ? "the outputs are" : paths[0], n_paths > 1 ? "" : " is");
    return true;
}

slc_status slci_machine_commit(slci_machine *machine, slc_sink *output) {
    const char *path = NULL;
    SLC_TRY(slc_sink_prepare(output, &path));
    SLC_TRY(slc_checkpoint_settle(machine->checkpoint, &path, 1));
    return slc_sink_commit(output);
}

slc_status slci_run_lacks_rest(const slc_checkpoint *checkpoint, slc_status status) {
    const char *remedy =
        checkpoint == NULL ? "" : ", and the same command with --resume writes what is lacking";
    return SLC_FAIL(status, "%s; the result itself is written%s", slc_status_message(), remedy);
}

static slc_status deliver(slci_machine *machine, const slc_run_options *options,
                          const void *result) {
    if (options->deliver != NULL) {
        const slc_status status =
            options->deliver(options->deliver_context, machine->checkpoint, result);
        if (status != SLC_OK) {
            return options->dry_run || machine->delivers_result
                       ? status
                       : slci_run_lacks_rest(machine->checkpoint, status);
        }
    }
    return slc_checkpoint_finish(machine->checkpoint);
}

slc_status slci_machine_finish(slci_machine *machine, const slc_run_options *options,
                               const void *result, slc_status status) {
    if (status == SLC_OK) {
        status = deliver(machine, options, result);
    }
    return slc_checkpoint_explain(machine->checkpoint, status);
}

/* ---- what is left, and what is needed -------------------------------------------------------- */

void slci_machine_take_stock(const slci_machine *machine, slc_run_memory *memory) {
    const slc_budget_use host = slc_budget_get(machine->budget, SLC_SPACE_HOST);
    const slc_budget_use device = slc_budget_get(machine->budget, SLC_SPACE_DEVICE);
    memory->context_bytes = machine->limits.context_bytes;
    memory->vram_limit_bytes = device.limit_bytes;
    memory->vram_peak_bytes = device.peak_bytes;
    memory->ram_limit_bytes = host.limit_bytes;
    memory->host_peak_bytes = host.peak_bytes;
}

int64_t slci_machine_held_bytes(const slci_machine *machine) {
    return slc_budget_get(machine->budget, SLC_SPACE_HOST).used_bytes + machine->missing_bytes;
}

int64_t slci_machine_left_bytes(const slci_machine *machine) {
    const slc_budget_use host = slc_budget_get(machine->budget, SLC_SPACE_HOST);
    return host.limit_bytes - host.used_bytes - machine->missing_bytes;
}

int64_t slci_machine_ram_for(const slci_machine *machine, int64_t bytes) {
    const int64_t held = slci_machine_held_bytes(machine) + bytes;
    if (!machine->trace_is_share) {
        return held;
    }
    /* The least R with R - min(R / 16, most) >= rest: of 16 bytes more, the trace gets one. */
    const int64_t rest = held - machine->trace_bytes;
    return rest + slci_trace_share_bytes(rest + slc_max_i64(rest - 1, 0) / (TRACE_SHARE - 1));
}

slci_least slci_machine_least(const slci_machine *machine, const char *thing, const slci_way *ways,
                              int n, int64_t spare_bytes) {
    const int64_t left_bytes = slci_machine_left_bytes(machine) + spare_bytes;
    const int64_t vram_bytes = slc_budget_get(machine->budget, SLC_SPACE_DEVICE).limit_bytes;
    const slci_way *device = NULL;
    const slci_way *host = NULL;
    const slci_way *any = NULL;
    for (const slci_way *way = ways; way < ways + n; way++) {
        if (way->host_bytes <= left_bytes &&
            (device == NULL || way->device_bytes < device->device_bytes)) {
            device = way;
        }
        if (way->device_bytes <= vram_bytes &&
            (host == NULL || way->host_bytes < host->host_bytes)) {
            host = way;
        }
        if (any == NULL || way->host_bytes < any->host_bytes) {
            any = way;
        }
    }
    device = device != NULL ? device : host != NULL ? host : any;
    host = host != NULL ? host : device;
    return (slci_least){.device_bytes = device->device_bytes,
                        .ram_bytes = slci_machine_ram_for(machine, host->host_bytes - spare_bytes),
                        .thing = thing,
                        .device_way = device->name,
                        .ram_way = host->name};
}

/* " (data mapped)", or nothing. */
static void print_way(const char *thing, const char *way, char text[64]) {
    text[0] = '\0';
    if (thing != NULL) {
        (void)slci_print(text, 64, " (%s %s)", thing, way);
    }
}

/* What is the least works, but where tiles cut chunks these are decoded again and again: from where on
 * they need not be, as far as that is more than what is there or was named; or nothing. */
static void print_whole(const slci_least *least, int64_t vram, int64_t ram, char text[128]) {
    const bool wants_vram = least->whole_device_bytes > slc_max_i64(least->device_bytes, vram);
    const bool wants_ram = least->whole_ram_bytes > slc_max_i64(least->ram_bytes, ram);
    text[0] = '\0';
    if (wants_vram && wants_ram) {
        (void)slci_print(text, 128, "; tiles of whole chunks fit from --vram %lld with --ram %lld",
                         (long long)least->whole_device_bytes, (long long)least->whole_ram_bytes);
    } else if (wants_vram || wants_ram) {
        (void)slci_print(text, 128, "; tiles of whole chunks fit from %s %lld",
                         wants_vram ? "--vram" : "--ram",
                         (long long)(wants_vram ? least->whole_device_bytes
                                                : least->whole_ram_bytes));
    }
}

slc_status slci_machine_refuse(const slci_machine *machine, const slci_least *least) {
    const int64_t vram = slc_budget_get(machine->budget, SLC_SPACE_DEVICE).limit_bytes;
    const int64_t ram = slc_budget_get(machine->budget, SLC_SPACE_HOST).limit_bytes;
    const bool lacks_vram = least->device_bytes > vram;
    const bool lacks_ram = least->ram_bytes > ram || !lacks_vram;
    const bool threads_help =
        slc_pool_size(machine->pool) > 1 &&
        ((lacks_vram && machine->threads_take_vram) || (lacks_ram && machine->threads_take_ram));
    const char *help = threads_help ? ", less with fewer --threads" : "";
    char device_way[64];
    char ram_way[64];
    char whole[128];
    print_whole(least, vram, ram, whole);
    print_way(least->thing, least->device_way, device_way);
    print_way(least->thing, least->ram_way, ram_way);
    if (!lacks_vram || !lacks_ram) {
        const char *option = lacks_vram ? "--vram" : "--ram";
        return SLC_FAIL(SLC_ERROR_NO_PLAN,
                        "no plan fits %s %lld; the smallest that works is %s %lld%s%s%s", option,
                        (long long)(lacks_vram ? vram : ram), option,
                        (long long)(lacks_vram ? least->device_bytes : least->ram_bytes),
                        lacks_vram ? device_way : ram_way, help, whole);
    }
    /* Numbers of two ways: each works with what there is of the other memory. */
    const bool is_either = strcmp(device_way, ram_way) != 0;
    return SLC_FAIL(SLC_ERROR_NO_PLAN,
                    "no plan fits --vram %lld and --ram %lld; the smallest that works is --vram "
                    "%lld%s %s --ram %lld%s%s%s",
                    (long long)vram, (long long)ram, (long long)least->device_bytes,
                    is_either ? device_way : "", is_either ? "or" : "with",
                    (long long)least->ram_bytes, ram_way, help, whole);
}

void slci_plan_nothing(slc_plan *plan) {
    const slc_plan planned = *plan;
    *plan = (slc_plan){.n_axes = planned.n_axes,
                       .region = planned.region,
                       .smallest_device_bytes = planned.smallest_device_bytes,
                       .smallest_host_bytes = planned.smallest_host_bytes};
    for (int a = 0; a < planned.n_axes; a++) {
        plan->order[a] = planned.order[a];
    }
}

slc_execution slci_machine_execution(const slc_run_options *options, const slci_machine *machine) {
    return (
        slc_execution){.request = {.device_budget_bytes = options->vram_bytes,
                                   .host_budget_bytes = slci_machine_left_bytes(machine),
                                   .allocation_unit_bytes = machine->limits.allocation_unit_bytes,
                                   .rates = machine->rates,
                                   .cache_bytes = slci_host_cache_bytes() / CACHE_SHARE,
                                   .sparse = options->sparse,
                                   .reads_in_place = machine->device->has_host_memory},
                       .engine = {.device = machine->device,
                                  .pool = machine->pool,
                                  .budget = machine->budget,
                                  .log = options->log,
                                  .cancel = options->cancel,
                                  .trace = options->trace},
                       .checkpoint = machine->checkpoint};
}
