/* The host tier: decoded tiles that come round again, kept in ordinary memory after their first read.
 *
 * Which tiles are kept, and in which slot, is the plan's (slc_plan_tier_use). Here are the slots: one
 * holds a full tile of each operand of a group. A fill that is to be kept is read into staging and
 * copied to its slot; one that is kept already is copied from the slot to staging, and goes on to the
 * device like any other.
 *
 *     set 0          set 0 again      set 1 (the outer loop has turned)
 *     A B C D E      A B C D E        F G H I J
 *     │ │            ▲ ▲              │ │
 *     keep           take             keep, over A and B
 *
 * The memory is not pinned: pinning takes long, the system limits it, and a copy by all threads is
 * faster than any bus. Fills are started ahead of the device, so the fill that takes a slot may come up
 * while the one that keeps it is still being read, and the next set's while the last one is still
 * taken: a slot then counts its users, and whoever would disturb them is started later. A run that
 * skips tiles finds slots that were not kept in this set; such a tile is read, and kept then. */
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/host_memory.h"
#include "ooc/engine_internal.h"

static slc_status create_slots(slci_run *run, slci_group *group, slc_arena *arena) {
    const int64_t n = run->plan->operand[group->operand[0]].n_tier_tiles;
    if (n == 0) {
        return SLC_OK;
    }
    group->tier_slot = calloc((size_t)n, sizeof *group->tier_slot);
    if (group->tier_slot == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld kept tiles of %s", (long long)n,
                        run->job->operands[group->operand[0]].name);
    }
    group->n_tier_slots = n;
    for (int i = 0; i < group->n_operands; i++) {
        const int o = group->operand[i];
        int64_t bytes = 0;
        if (!slc_checked_mul(slc_arena_cost(run->plan->operand[o].tile_bytes), n, &bytes)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "plan: %lld kept tiles of operand %s take more than 2^63 bytes",
                            (long long)n, run->job->operands[o].name);
        }
        void *data = NULL;
        SLC_TRY(slc_arena_take(arena, bytes, "kept tiles", &data));
        group->tier_data[i] = data;
    }
    return SLC_OK;
}

slc_status slci_tier_create(slci_run *run) {
    const int64_t bytes = run->plan->tier_bytes;
    if (bytes > 0) {
        SLC_TRY(slc_budget_reserve(run->options->budget, SLC_SPACE_HOST, bytes, "kept tiles"));
        run->host_reserved += bytes;
        SLC_TRY(slci_host_map(bytes, &run->tier));
        run->tier_bytes = bytes;
    }
    slc_arena arena;
    slc_arena_init(&arena, run->tier, bytes);
    for (int g = 0; g < run->n_groups; g++) {
        SLC_TRY(create_slots(run, &run->group[g], &arena));
    }
    return SLC_OK;
}

void slci_tier_release(slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        free(run->group[g].tier_slot);
    }
    slci_host_unmap(run->tier, run->tier_bytes);
}

/* Inputs may be another round's outputs, so nothing is kept from one round to the next. */
void slci_tier_rewind(slci_run *run) {
    for (int g = 0; g < run->n_groups; g++) {
        for (int64_t s = 0; s < run->group[g].n_tier_slots; s++) {
            run->group[g].tier_slot[s] = (slci_tier_slot){.set = -1};
        }
    }
}

/* `set` is the scheduler's alone. Whoever finds it equal to its own has waited for the writer. */
bool slci_tier_claim(slci_run *run, slci_group *group, slci_line *line, int64_t step) {
    line->tier_slot = -1;
    line->is_from_tier = false;
    if (group->n_tier_slots == 0) {
        return true;
    }
    const slc_tier_use use = slc_plan_tier_use(run->plan, run->job, group->operand[0], step);
    if (use.slot < 0) {
        return true;
    }
    slci_tier_slot *slot = &group->tier_slot[use.slot];
    const bool is_kept = slot->set == use.set;
    pthread_mutex_lock(&run->mutex);
    const bool is_free = slot->n_users == 0 || (is_kept && !slot->is_written);
    if (is_free) {
        slot->n_users++;
        slot->is_written = !is_kept;
    }
    pthread_mutex_unlock(&run->mutex);
    if (is_free) {
        slot->set = use.set;
        line->tier_slot = use.slot;
        line->is_from_tier = is_kept;
    }
    return is_free;
}

void slci_tier_unclaim(slci_line *line) {
    if (line->tier_slot >= 0) {
        slci_tier_slot *slot = &line->group->tier_slot[line->tier_slot];
        slot->n_users--;
        slot->is_written = false;
    }
}

void slci_tier_copy(const slci_piece *piece) {
    const slci_line *line = piece->line;
    const slci_group *group = line->group;
    for (int i = 0; i < group->n_operands; i++) {
        const slc_plan_operand *planned = &group->run->plan->operand[group->operand[i]];
        char *const kept =
            group->tier_data[i] + line->tier_slot * slc_arena_cost(planned->tile_bytes);
        const int64_t row_bytes = slci_fill_row_bytes(line, i);
        const int64_t offset = piece->begin * row_bytes;
        const size_t bytes = (size_t)((piece->end - piece->begin) * row_bytes);
        char *const staging = line->staging[i];
        if (line->is_from_tier) {
            memcpy(staging + offset, kept + offset, bytes);
        } else {
            memcpy(kept + offset, staging + offset, bytes);
        }
    }
}
