/* Loops of the host device: one command on the stream's thread, which runs the body's commands until
 * they say that they are done. Nothing is enqueued meanwhile, so the loop holds the stream, as it does
 * on a card. */
#include <string.h>

#include "core/device_host.h"
#include "core/host_command.h"

typedef struct loop_call {
    slc_pool *pool;
    const slci_host_graph *body;
    slc_loop_state *state;
    int64_t most;
} loop_call;

static slc_status run_body(const loop_call *loop) {
    for (int64_t i = 0; i < loop->body->n; i++) {
        /* A call may write to its argument, and every iteration begins with the one recorded. */
        slci_command command = loop->body->command[i];
        SLC_TRY(slci_host_command_run(loop->pool, &command));
    }
    return SLC_OK;
}

static slc_status run_loop(void *argument) {
    const loop_call *loop = argument;
    slc_loop_state *state = loop->state;
    state->is_done = 0;
    state->n_iterations = 0;
    while (state->is_done == 0 && state->n_iterations < loop->most) {
        SLC_TRY(run_body(loop));
        state->n_iterations++;
    }
    state->n_total += state->n_iterations;
    state->n_unfinished += state->is_done == 0;
    return SLC_OK;
}

slc_status slci_host_loop_create(slc_stream *stream, void *body, slc_loop_state *d_state,
                                 int64_t most, void **loop) {
    slci_host_graph *graph = NULL;
    SLC_TRY(slci_host_graph_create(&graph));
    const slc_status status = slci_host_graph_reserve(graph, SLCI_COMMAND_CALL);
    if (status != SLC_OK) {
        slci_host_graph_destroy(graph);
        return status;
    }
    const loop_call call = {.pool = stream->device->pool,
                            .body = body,
                            .state = d_state,
                            .most = most};
    slci_command *command = &graph->command[graph->n++];
    command->kind = SLCI_COMMAND_CALL;
    command->as.call.function = run_loop;
    memcpy(command->as.call.argument, &call, sizeof call);
    *loop = graph;
    return SLC_OK;
}
