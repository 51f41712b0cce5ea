/* Jobs whose tile function runs on each tile until it has converged (slc_job.most_iterations).
 *
 * Where the device can, the tile's graph is repeated by a loop graph (ooc/graph.c) and no host takes
 * part: the scheduler goes on to the next tile at once. Where it cannot, the host launches one
 * iteration, copies the state back and looks at it, again and again:
 *
 *     host      state ▶ tile ▶ state ◀ wait   state ▶ tile ▶ state ◀ wait ...
 *
 * The state counts iterations over the whole round, so both ways report the same. */
#include "ooc/loop_internal.h"

bool slci_loop_is_wanted(const slci_run *run) {
    return run->job->most_iterations > 0;
}

slc_loop_state *slci_loop_device_state(const slci_run *run) {
    return run->d_work[run->job->loop_operand];
}

slc_status slci_loop_begin(slci_run *run) {
    if (!slci_loop_is_wanted(run)) {
        return SLC_OK;
    }
    *run->loop = (slc_loop_state){0};
    return slc_stream_set(run->compute, slci_loop_device_state(run), 0,
                          (int64_t)sizeof(slc_loop_state));
}

static slc_status send_state(slci_run *run) {
    return slc_stream_copy(run->compute, slci_loop_device_state(run), run->loop,
                           (int64_t)sizeof *run->loop, SLC_COPY_TO_DEVICE);
}

static slc_status fetch_state(slci_run *run) {
    SLC_TRY(slc_stream_copy(run->compute, run->loop, slci_loop_device_state(run),
                            (int64_t)sizeof *run->loop, SLC_COPY_FROM_DEVICE));
    return slc_stream_synchronize(run->compute);
}

slc_status slci_loop_by_hand(slci_run *run, const slc_tile_arguments *arguments) {
    slc_loop_state *state = run->loop;
    SLC_TRY(fetch_state(run)); /* loops before this one may have run on the device */
    state->is_done = 0;
    state->n_iterations = 0;
    while (state->is_done == 0 && state->n_iterations < run->job->most_iterations) {
        SLC_TRY(slci_run_check_cancel(run));
        SLC_TRY(send_state(run));
        SLC_TRY(run->job->tile(run->job->state, arguments));
        SLC_TRY(fetch_state(run));
        state->n_iterations++;
    }
    state->n_total += state->n_iterations;
    state->n_unfinished += state->is_done == 0;
    return send_state(run);
}

slc_status slci_loop_count(slci_run *run) {
    if (!slci_loop_is_wanted(run)) {
        return SLC_OK;
    }
    SLC_TRY(fetch_state(run));
    run->report.n_iterations += run->loop->n_total;
    run->report.n_unfinished += run->loop->n_unfinished;
    return SLC_OK;
}
