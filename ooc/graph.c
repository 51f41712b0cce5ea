/* Tiles as graphs. A tile function may enqueue a dozen small launches and sets; each costs microseconds
 * of the scheduler's time and of the card's. What it enqueues depends on nothing but its arguments, and
 * of these only the buffers change from tile to tile, in a short cycle: origin and extent lie in device
 * memory. So the sequence is recorded once for each set of buffers that meets, and replayed as one
 * launch from then on, with no update. `enter` and `leave` are enqueued around it as always.
 *
 *     tile      0   1   2   3   4   5   6   7   8   9  ...
 *     buffers   A   B   C   D   A   B   C   D   A   B          record A B C D, then replay
 *
 * A job that loops on each tile has a second graph around the first, which repeats it.
 *
 * A round may change what the job's state says, so graphs live for one round. */
#include <string.h>

#include "ooc/loop_internal.h"

static bool is_for(const slci_graph *graph, const slc_tile_arguments *arguments, int n_operands) {
    return graph->d_tile == arguments->d_tile &&
           memcmp(graph->d_operand, arguments->d_operand,
                  (size_t)n_operands * sizeof graph->d_operand[0]) == 0;
}

/* The graph for these buffers; NULL: none is recorded. Buffers come round in the order in which they
 * came first, so the search begins behind the one found last. */
static slci_graph *find(slci_run *run, const slc_tile_arguments *arguments) {
    for (int i = 0; i < run->n_graphs; i++) {
        const int g = (run->next_graph + i) % run->n_graphs;
        if (is_for(&run->graph[g], arguments, run->job->n_operands)) {
            run->next_graph = (g + 1) % run->n_graphs;
            return &run->graph[g];
        }
    }
    return NULL;
}

/* Whatever happens in between, the recording is ended: a stream that records takes no events. */
static slc_status record(slci_run *run, const slc_tile_arguments *arguments, void **graph) {
    SLC_TRY(slc_stream_capture_begin(run->compute));
    const slc_status tile = run->job->tile(run->job->state, arguments);
    slc_failure failure;
    slc_status_capture(tile, &failure);
    void *recorded = NULL;
    const slc_status end = slc_stream_capture_end(run->compute, &recorded);
    if (tile != SLC_OK) {
        if (end == SLC_OK) {
            slc_graph_destroy(run->device, recorded);
        }
        return slc_status_restore(&failure);
    }
    if (end != SLC_OK) {
        return slc_status_prefix(end, "job %s: recording a tile", run->job->name);
    }
    *graph = recorded;
    return SLC_OK;
}

/* Wraps the tile's graph in one that repeats it. A device that cannot is not asked again. */
static slc_status wrap_in_loop(slci_run *run, slci_graph *graph) {
    const slc_status status =
        slc_stream_loop(run->compute, graph->graph, slci_loop_device_state(run),
                        run->job->most_iterations, &graph->loop);
    if (status == SLC_ERROR_UNSUPPORTED) {
        run->loops_by_hand = true;
        return SLC_OK;
    }
    return status;
}

static slc_status add_graph(slci_run *run, const slc_tile_arguments *arguments) {
    slci_graph *added = &run->graph[run->n_graphs];
    *added = (slci_graph){.d_tile = arguments->d_tile};
    SLC_TRY(record(run, arguments, &added->graph));
    memcpy(added->d_operand, arguments->d_operand, sizeof added->d_operand);
    run->n_graphs++;
    run->next_graph = 0;
    return slci_loop_is_wanted(run) ? wrap_in_loop(run, added) : SLC_OK;
}

/* Without a graph for these buffers. */
static slc_status enqueue_singly(slci_run *run, const slc_tile_arguments *arguments) {
    return slci_loop_is_wanted(run) ? slci_loop_by_hand(run, arguments)
                                    : run->job->tile(run->job->state, arguments);
}

slc_status slci_graph_enqueue(slci_run *run, const slc_tile_arguments *arguments) {
    const bool loops = slci_loop_is_wanted(run);
    if (!(run->plan->uses_graphs || loops) || !slc_device_has_graphs(run->device) ||
        run->loops_by_hand) {
        return enqueue_singly(run, arguments);
    }
    slci_graph *found = find(run, arguments);
    if (found == NULL) {
        if (run->n_graphs == SLCI_MAX_GRAPHS) {
            return enqueue_singly(run, arguments);
        }
        found = &run->graph[run->n_graphs];
        SLC_TRY(add_graph(run, arguments));
    }
    if (loops && found->loop == NULL) {
        return enqueue_singly(run, arguments);
    }
    return slc_stream_launch(run->compute, loops ? found->loop : found->graph);
}

void slci_graph_clear(slci_run *run) {
    for (int g = 0; g < run->n_graphs; g++) {
        slc_graph_destroy(run->device, run->graph[g].loop); /* first: it may use the other */
        slc_graph_destroy(run->device, run->graph[g].graph);
    }
    run->n_graphs = 0;
    run->next_graph = 0;
}
