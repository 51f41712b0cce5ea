/* Budgets that the user did not state. */
#include "app/defaults.h"

#include <stdbool.h>

#include "core/checked.h"
#include "core/host_memory.h"

/* Leaves a tenth for everybody else, and for what changes between this look and the allocation. */
static int64_t most_of(int64_t free_bytes) {
    return free_bytes / 10 * 9;
}

/* Opens the device that would compute, only to ask what it is and how much it has free. It has no
 * log: the run will open it again, and then say what it has to say. */
static slc_status look_at_device(slc_device_choice choice, int cuda_index, slc_device_kind *kind,
                                 int64_t *free_bytes) {
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    slc_device_limits limits;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slc_pool_create(1, &pool));
    const slc_device_options options = {.choice = choice, .cuda_index = cuda_index, .pool = pool};
    SLC_TRY_GOTO(done, slc_device_create(&options, &device));
    SLC_TRY_GOTO(done, slc_device_get_limits(device, &limits));
    *kind = device->kind;
    *free_bytes = limits.free_bytes;
done:
    slc_device_destroy(device);
    slc_pool_destroy(pool);
    return status;
}

slc_status slci_default_budgets(slc_device_choice choice, int cuda_index, slci_budgets *budgets) {
    const bool wants_vram = budgets->vram_bytes == SLCI_BUDGET_UNSET;
    const bool wants_ram = budgets->ram_bytes == SLCI_BUDGET_UNSET;
    if (!wants_vram && !wants_ram) {
        return SLC_OK;
    }
    slci_host_limits host;
    SLC_TRY(slci_host_limits_read("", &host));
    slc_device_kind kind = SLC_DEVICE_HOST;
    int64_t device_free = 0;
    if (choice != SLC_CHOOSE_HOST) {
        SLC_TRY(look_at_device(choice, cuda_index, &kind, &device_free));
    }
    const int64_t host_share = most_of(host.free_bytes);
    if (kind == SLC_DEVICE_CUDA) {
        budgets->vram_bytes = wants_vram ? most_of(device_free) : budgets->vram_bytes;
        budgets->ram_bytes = wants_ram ? host_share : budgets->ram_bytes;
    } else if (wants_vram && wants_ram) {
        budgets->vram_bytes = host_share / 2;
        budgets->ram_bytes = host_share - host_share / 2;
    } else if (wants_vram) {
        budgets->vram_bytes = slc_max_i64(host_share - budgets->ram_bytes, host_share / 4);
    } else {
        /* A generous --vram is a limit, not a wish: few plans use all of it. So the other budget
         * never shrinks to nothing. */
        budgets->ram_bytes = slc_max_i64(host_share - budgets->vram_bytes, host_share / 4);
    }
    return SLC_OK;
}
