/* The array between two passes, in the output's order of dimensions: in host memory where it fits
 * beside what the passes need, else in a file. */
#include <stdlib.h>
#include <string.h>

#include "app/rewrite_job.h"

static slc_status create_memory(const slci_rewrite_job *job, slci_rewrite_store *store) {
    const int64_t bytes = slc_layout_bytes(&job->out);
    SLC_TRY(slc_budget_reserve(job->machine.budget, SLC_SPACE_HOST, bytes, "the array"));
    store->held_bytes = bytes;
    store->memory = malloc((size_t)bytes);
    if (store->memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %lld bytes between two passes",
                        job->source->name, (long long)bytes);
    }
    SLC_TRY(slc_sink_create_memory("the array in memory", &job->out, store->memory, &store->sink));
    return slc_source_create_memory("the array in memory", &job->out, store->memory,
                                    &store->source);
}

slc_spill_options slci_rewrite_spill(const slci_rewrite_job *job) {
    slc_spill_options spill = {.beside = job->options->out_path, .layout = job->out};
    memcpy(spill.block, job->block, sizeof spill.block);
    return spill;
}

int64_t slci_rewrite_spill_bytes(const slci_rewrite_job *job) {
    const slc_spill_options spill = slci_rewrite_spill(job);
    /* The engine's own thread moves blocks too. */
    return slc_spill_thread_bytes(&spill) * (slc_pool_size(job->machine.pool) + 1);
}

static slc_status create_file(const slci_rewrite_job *job, slci_rewrite_store *store) {
    const slc_spill_options spill = slci_rewrite_spill(job);
    const int64_t bytes = slci_rewrite_spill_bytes(job);
    SLC_TRY(slc_budget_reserve(job->machine.budget, SLC_SPACE_HOST, bytes, "blocks"));
    store->held_bytes = bytes;
    SLC_TRY(slc_spill_create(&spill, &store->spill));
    store->sink = slc_spill_sink(store->spill);
    store->source = slc_spill_source(store->spill);
    return SLC_OK;
}

slc_status slci_rewrite_store_create(const slci_rewrite_job *job, slci_rewrite_store *out) {
    slci_rewrite_store store = {0};
    const slc_status status =
        job->store == SLC_REWRITE_FILE ? create_file(job, &store) : create_memory(job, &store);
    if (status != SLC_OK) {
        slci_rewrite_store_destroy(job, &store);
        return status;
    }
    *out = store;
    return SLC_OK;
}

void slci_rewrite_store_destroy(const slci_rewrite_job *job, slci_rewrite_store *store) {
    slc_source_destroy(store->source);
    slc_sink_destroy(store->sink);
    slc_spill_destroy(store->spill);
    free(store->memory);
    if (job->machine.budget != NULL) {
        slc_budget_release(job->machine.budget, SLC_SPACE_HOST, store->held_bytes);
    }
    *store = (slci_rewrite_store){0};
}
