/* CUDA graphs, and graphs that repeat one until the device says stop, for core/device_cuda.c alone.
 * Repeating is a conditional node, which CUDA 12.4 brought: where toolkit or driver are older, loop
 * gives cudaErrorNotSupported.
 */
#ifndef SLC_CORE_GRAPH_CUDA_H
#define SLC_CORE_GRAPH_CUDA_H

#include <stdint.h>

#include "core/device_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_graph_cuda slci_graph_cuda;

/* Ends the capture on the stream and makes a graph of it, with its memory on the card taken. */
cudaError_t slci_graph_cuda_end(cudaStream_t stream, slci_graph_cuda **out);

/* See slc_stream_loop. The body is copied. */
cudaError_t slci_graph_cuda_loop(cudaStream_t stream, const slci_graph_cuda *body,
                                 slc_loop_state *d_state, int64_t most, slci_graph_cuda **out);

cudaError_t slci_graph_cuda_launch(const slci_graph_cuda *graph, cudaStream_t stream);
cudaError_t slci_graph_cuda_destroy(slci_graph_cuda *graph); /* takes NULL */

/* Loads the kernels of loops onto the current device. */
cudaError_t slci_graph_cuda_load(void);

#ifdef __cplusplus
}
#endif
#endif
