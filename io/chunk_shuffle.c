/* HDF5's shuffle (filter 2) undone: a transpose of bytes, from planes to elements. */
#include "io/chunk_shuffle.h"

#include <string.h>

#include "io/chunk_planes.h"
#include "io/chunk_stage.h"

void slci_chunk_unshuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes,
                          unsigned char *out) {
    const int64_t n = n_bytes / element_bytes;
    if (element_bytes == 1 || n <= 1) {
        memcpy(out, in, (size_t)n_bytes);
        return;
    }
    slci_chunk_planes_get()->to_elements(in, n, element_bytes, out, n);
    const int64_t rest = n_bytes - n * element_bytes;
    memcpy(out + n * element_bytes, in + n * element_bytes, (size_t)rest);
}

slc_status slci_chunk_shuffle_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    if (stage->n_in != stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes in place of %lld", (long long)stage->n_in,
                        (long long)stage->n_out);
    }
    const int64_t element_bytes = (int64_t)stage->filter->values[0];
    const int64_t n = stage->n_out / element_bytes;
    const slci_chunk_runs *runs = stage->runs;
    if (runs == NULL) {
        slci_chunk_unshuffle(stage->in, stage->n_in, element_bytes, stage->out);
        return SLC_OK;
    }
    for (int64_t r = 0; r < runs->n_runs; r++) { /* whole elements each, and so is the chunk */
        const int64_t count = runs->run_bytes / element_bytes;
        slci_chunk_planes_get()->to_elements(stage->in + r * count, n, element_bytes, runs->run[r],
                                             count);
    }
    return SLC_OK;
}
