/* CUDA graphs for core/device_cuda.c, and loops that the card runs by itself.
 *
 * A loop is a graph of two nodes. The first clears what this launch has done; the second is a
 * conditional node, whose body runs as long as the last kernel in it says so:
 *
 *     begin ──▶ while (is wanted) { body ──▶ step }
 *
 * Both kernels are one thread each (6 and 24 registers on sm_90, nothing shared). No host takes part,
 * where copying the state back costs a round trip over the bus for every iteration. */
#include "core/graph_cuda.h"

#include <cuda_runtime.h>
#include <stdlib.h>

struct slci_graph_cuda {
    cudaGraph_t recorded;
    cudaGraphExec_t executable;
};

/* Takes the graph in any case. Its memory on the card is taken now, not at the first launch. */
static cudaError_t finish(cudaGraph_t recorded, cudaStream_t stream, slci_graph_cuda **out) {
    slci_graph_cuda *graph = (slci_graph_cuda *)calloc(1, sizeof *graph);
    if (graph == NULL) {
        (void)cudaGraphDestroy(recorded);
        return cudaErrorMemoryAllocation;
    }
    graph->recorded = recorded;
    cudaError_t error = cudaGraphInstantiateWithFlags(&graph->executable, recorded, 0);
    if (error == cudaSuccess) {
        error = cudaGraphUpload(graph->executable, stream);
    }
    if (error != cudaSuccess) {
        (void)slci_graph_cuda_destroy(graph);
        return error;
    }
    *out = graph;
    return cudaSuccess;
}

extern "C" cudaError_t slci_graph_cuda_end(cudaStream_t stream, slci_graph_cuda **out) {
    cudaGraph_t recorded = NULL;
    const cudaError_t error = cudaStreamEndCapture(stream, &recorded);
    return error == cudaSuccess ? finish(recorded, stream, out) : error;
}

extern "C" cudaError_t slci_graph_cuda_launch(const slci_graph_cuda *graph, cudaStream_t stream) {
    return cudaGraphLaunch(graph->executable, stream);
}

extern "C" cudaError_t slci_graph_cuda_destroy(slci_graph_cuda *graph) {
    if (graph == NULL) {
        return cudaSuccess;
    }
    cudaError_t error =
        graph->executable != NULL ? cudaGraphExecDestroy(graph->executable) : cudaSuccess;
    const cudaError_t second = cudaGraphDestroy(graph->recorded);
    free(graph);
    return error == cudaSuccess ? second : error;
}

/* ---- loops ------------------------------------------------------------------------------------ */

#if CUDART_VERSION >= 12040

static __global__ void begin_loop(slc_loop_state *state) {
    state->is_done = 0;
    state->n_iterations = 0;
}

static __global__ void step_loop(cudaGraphConditionalHandle handle, slc_loop_state *state,
                                 int64_t most) {
    const int64_t n = state->n_iterations + 1;
    const bool is_done = state->is_done != 0;
    const bool is_last = is_done || n >= most;
    state->n_iterations = n;
    if (is_last) {
        state->n_total += n;
        state->n_unfinished += is_done ? 0 : 1;
    }
    cudaGraphSetConditional(handle, is_last ? 0 : 1);
}

/* CUDA 13 asks for data on the edges, of which there is none. */
#if CUDART_VERSION >= 13000
#define ADD_NODE(out, graph, after, n_after, parameters) \
    cudaGraphAddNode(out, graph, after, NULL, n_after, parameters)
#else
#define ADD_NODE cudaGraphAddNode
#endif

static cudaError_t add_node(cudaGraph_t graph, const cudaGraphNode_t *after,
                            cudaGraphNodeParams *parameters, cudaGraphNode_t *out) {
    return ADD_NODE(out, graph, after, after != NULL ? 1 : 0, parameters);
}

static cudaError_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *after, const void *kernel,
                              void **arguments, cudaGraphNode_t *out) {
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeKernel;
    parameters.kernel.func = (void *)kernel;
    parameters.kernel.gridDim = dim3(1, 1, 1);
    parameters.kernel.blockDim = dim3(1, 1, 1);
    parameters.kernel.kernelParams = arguments;
    return add_node(graph, after, &parameters, out);
}

static cudaError_t fill_loop(cudaGraph_t graph, cudaGraph_t body, slc_loop_state *d_state,
                             int64_t most) {
    cudaGraphConditionalHandle handle = 0;
    cudaError_t error =
        cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
    cudaGraphNode_t begin = NULL;
    void *begin_arguments[] = {&d_state};
    if (error == cudaSuccess) {
        error = add_kernel(graph, NULL, (const void *)begin_loop, begin_arguments, &begin);
    }
    cudaGraphNodeParams condition = {};
    condition.type = cudaGraphNodeTypeConditional;
    condition.conditional.handle = handle;
    condition.conditional.type = cudaGraphCondTypeWhile;
    condition.conditional.size = 1;
    cudaGraphNode_t node = NULL;
    if (error == cudaSuccess) {
        error = add_node(graph, &begin, &condition, &node);
    }
    cudaGraphNode_t repeated = NULL;
    if (error == cudaSuccess) {
        error = cudaGraphAddChildGraphNode(&repeated, condition.conditional.phGraph_out[0], NULL, 0,
                                           body);
    }
    void *step_arguments[] = {&handle, &d_state, &most};
    if (error == cudaSuccess) {
        error = add_kernel(condition.conditional.phGraph_out[0], &repeated, (const void *)step_loop,
                           step_arguments, &node);
    }
    return error;
}

extern "C" cudaError_t slci_graph_cuda_loop(cudaStream_t stream, const slci_graph_cuda *body,
                                            slc_loop_state *d_state, int64_t most,
                                            slci_graph_cuda **out) {
    int driver = 0;
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (error != cudaSuccess || driver < 12040) {
        return error == cudaSuccess ? cudaErrorNotSupported : error;
    }
    cudaGraph_t graph = NULL;
    error = cudaGraphCreate(&graph, 0);
    if (error != cudaSuccess) {
        return error;
    }
    error = fill_loop(graph, body->recorded, d_state, most);
    if (error != cudaSuccess) {
        (void)cudaGraphDestroy(graph);
        return error;
    }
    return finish(graph, stream, out);
}

extern "C" cudaError_t slci_graph_cuda_load(void) {
    struct cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)begin_loop);
    return error == cudaSuccess ? cudaFuncGetAttributes(&attributes, (const void *)step_loop)
                                : error;
}

#else

extern "C" cudaError_t slci_graph_cuda_loop(cudaStream_t stream, const slci_graph_cuda *body,
                                            slc_loop_state *d_state, int64_t most,
                                            slci_graph_cuda **out) {
    (void)stream;
    (void)body;
    (void)d_state;
    (void)most;
    (void)out;
    return cudaErrorNotSupported;
}

extern "C" cudaError_t slci_graph_cuda_load(void) {
    return cudaSuccess;
}

#endif
