/* By a kernel on a card, by the stream's own thread on the host device. */
#include "kernels/plain_sum.h"

typedef struct sum_call {
    const float *values;
    int64_t n;
    double *sum;
} sum_call;

/* Four sums, as a compiler makes of a plain loop only where it may reorder. */
static slc_status sum_on_host(void *argument) {
    const sum_call *call = argument;
    double part[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= call->n; i += 4) {
        for (int k = 0; k < 4; k++) {
            part[k] += (double)call->values[i + k];
        }
    }
    for (; i < call->n; i++) {
        part[0] += (double)call->values[i];
    }
    *call->sum += part[0] + part[1] + part[2] + part[3];
    return SLC_OK;
}

slc_status slci_plain_sum_enqueue(slc_stream *stream, const float *d_values, int64_t n,
                                  double *d_sum) {
    if (stream->device->kind == SLC_DEVICE_CUDA) {
        return slci_plain_sum_cuda(stream, d_values, n, d_sum);
    }
    const sum_call call = {d_values, n, d_sum};
    return slc_stream_call(stream, sum_on_host, &call, (int64_t)sizeof call);
}
