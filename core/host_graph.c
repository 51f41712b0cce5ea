/* Recorded commands of the host device. Replaying costs what enqueuing did: a graph is here so that
 * whoever uses graphs on a card is tested without one. */
#include <stdlib.h>

#include "core/checked.h"
#include "core/host_command.h"

#define FIRST_CAPACITY 8

slc_status slci_host_graph_create(slci_host_graph **out) {
    slci_host_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a graph");
    }
    *out = graph;
    return SLC_OK;
}

void slci_host_graph_destroy(slci_host_graph *graph) {
    if (graph != NULL) {
        free(graph->command);
        free(graph);
    }
}

slc_status slci_host_graph_reserve(slci_host_graph *graph, slci_command_kind kind) {
    if (kind == SLCI_COMMAND_RECORD || kind == SLCI_COMMAND_WAIT) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "a stream that records a graph takes no events; end the graph first");
    }
    if (graph->n < graph->capacity) {
        return SLC_OK;
    }
    int64_t capacity = FIRST_CAPACITY;
    int64_t bytes = 0;
    slci_command *larger = NULL;
    if ((graph->capacity == 0 || slc_checked_mul(graph->capacity, 2, &capacity)) &&
        slc_checked_mul(capacity, (int64_t)sizeof *larger, &bytes)) {
        larger = realloc(graph->command, (size_t)bytes);
    }
    if (larger == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a graph of more than %lld commands",
                        (long long)graph->capacity);
    }
    graph->command = larger;
    graph->capacity = capacity;
    return SLC_OK;
}
