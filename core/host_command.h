/* One command of a host device's stream, and lists of them that are recorded to be enqueued again.
 * For core/host_stream.c and core/host_graph.c alone.
 */
#ifndef SLC_CORE_HOST_COMMAND_H
#define SLC_CORE_HOST_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "core/device_internal.h"

typedef enum slci_command_kind {
    SLCI_COMMAND_RECORD,
    SLCI_COMMAND_WAIT,
    SLCI_COMMAND_COPY,
    SLCI_COMMAND_COPY_STRIDED,
    SLCI_COMMAND_SET,
    SLCI_COMMAND_CALL,
    SLCI_COMMAND_PAUSE
} slci_command_kind;

typedef struct slci_command {
    slci_command_kind kind;
    int64_t number;
    union {
        struct host_event *record; /* counted */
        struct {
            struct timeline *line; /* counted */
            int64_t number;
        } wait;
        struct {
            void *dst;
            const void *src;
            int64_t bytes;
        } copy;
        struct {
            void *dst;
            const void *src;
            slc_layout dst_layout;
            slc_layout src_layout;
        } strided;
        struct {
            void *memory;
            int64_t bytes;
            uint8_t value;
        } set;
        struct {
            slc_stream_function function;
            _Alignas(max_align_t) unsigned char argument[SLCI_CALL_BYTES];
        } call;
        int64_t pause_ns;
    } as;
} slci_command;

/* What was enqueued on a stream while it was recording. Copies, sets, calls and pauses only. */
typedef struct slci_host_graph {
    slci_command *command; /* [n], room for `capacity` */
    int64_t n, capacity;
} slci_host_graph;

/* An empty one; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_host_graph_create(slci_host_graph **out);
void slci_host_graph_destroy(slci_host_graph *graph);

/* Room for one more command, at command[n]; the caller fills it in and counts it. SLC_ERROR_ARGUMENT
 * for a record or a wait, which a graph cannot hold; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_host_graph_reserve(slci_host_graph *graph, slci_command_kind kind);

/* Does the work of a copy, set, call or pause at once; a call's function may write to its argument.
 * In core/host_stream.c. */
SLC_MUST_USE slc_status slci_host_command_run(slc_pool *pool, const slci_command *self);

#endif
