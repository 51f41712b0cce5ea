/* A state is written beside the one before it, so there are two of them for a moment. */
#include "app/disk_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/checked.h"

int64_t slci_state_bytes(const slc_job *job, const slc_plan *plan) {
    int64_t sum = 0;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_operand *operand = &job->operands[o];
        const bool is_kept = operand->access == SLC_ACCESS_UPDATE || operand->keeps_state;
        int64_t bytes = 0;
        if (is_kept && (!slc_checked_mul(plan->operand[o].tile_bytes,
                                         slc_max_i64(plan->operand[o].n_buffers, 1), &bytes) ||
                        !slc_checked_add(sum, bytes, &sum))) {
            return INT64_MAX;
        }
    }
    return sum;
}

/* POSIX leaves the unit of st_blocks open; on Linux it is this, whatever the file system. */
#define BLOCK_BYTES 512

/* What is to come of a file that will have so many bytes. What it holds already is what the disk has
 * given it: holes are still to be filled. */
static int64_t rest_of(const char *path, int64_t bytes) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return bytes;
    }
    const int64_t held_bytes = slc_min_i64(info.st_size, (int64_t)info.st_blocks * BLOCK_BYTES);
    return slc_max_i64(bytes - held_bytes, 0);
}

slc_status slci_check_room(const slc_run_options *run, const slci_disk_need *need) {
    char journal[SLC_PATH_BYTES + 16];
    int64_t two_states = 0;
    if (run->checkpoint_path == NULL || run->dry_run) {
        return SLC_OK;
    }
    slc_outfile_need *needs = calloc((size_t)need->n_outputs + 2, sizeof *needs);
    if (needs == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to see whether the outputs fit");
    }
    (void)snprintf(journal, sizeof journal, "%s.journal", run->checkpoint_path);
    for (int i = 0; i < need->n_outputs; i++) {
        needs[i] = need->outputs[i];
        /* One that the run before has named is not written again. */
        if (run->resume && slc_checkpoint_has_made(run->checkpoint_path, needs[i].path)) {
            needs[i].bytes = 0;
        }
    }
    if (!slc_checked_mul(need->state_bytes, 2, &two_states)) {
        two_states = INT64_MAX;
    }
    needs[need->n_outputs] =
        (slc_outfile_need){run->checkpoint_path, rest_of(run->checkpoint_path, two_states)};
    needs[need->n_outputs + 1] = (slc_outfile_need){journal, rest_of(journal, need->journal_bytes)};
    const slc_status status = slc_outfile_check_room(needs, need->n_outputs + 2);
    free(needs);
    return status == SLC_OK ? SLC_OK
                            : SLC_FAIL(status, "%s; a --checkpoint on another file system would do",
                                       slc_status_message());
}
