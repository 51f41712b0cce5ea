/* One round of Newton's square root on the host device, and the way to the card's. */
#include "kernels/newton.h"

static slc_status run_round(void *argument) {
    const slci_newton *self = argument;
    slc_loop_state *state = self->d_state;
    const bool is_first = state->n_iterations == 0;
    bool has_changed = false;
    for (int64_t i = 0; i < self->n; i++) {
        const float x = is_first ? SLCI_NEWTON_START : self->d_root[i];
        const float next = slci_newton_next(self->d_in[i], x);
        has_changed = has_changed || next < x;
        self->d_root[i] = next < x ? next : x;
    }
    state->is_done = !has_changed;
    return SLC_OK;
}

slc_status slci_newton_prepare(void *state, slc_device *device) {
    (void)state;
    return device->kind == SLC_DEVICE_CUDA ? slci_newton_load_cuda() : SLC_OK;
}

slc_status slci_newton_enqueue(slc_stream *stream, const slci_newton *newton) {
    if (stream->device->kind == SLC_DEVICE_CUDA) {
        return slci_newton_cuda(stream, newton);
    }
    return slc_stream_call(stream, run_round, newton, (int64_t)sizeof *newton);
}
