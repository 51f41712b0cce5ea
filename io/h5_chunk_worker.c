/* Stored bytes come into the buffer, several small chunks at once where they lie behind one another,
 * and leave it through the decoder. */
#include "io/h5_chunk_worker.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/checked.h"
#include "io/h5_chunk_span.h"

#define ALIGNMENT 64

/* Chunks that are smaller are fetched together up to this size: a call costs as much as copying a few
 * kilobytes (16 KiB chunks: 0.44 of HDF5's time together, 0.46 one by one). */
#define TOGETHER_BYTES ((int64_t)1 << 20)

static int64_t buffer_bytes(const slci_h5_chunks *chunks) {
    const int64_t most = chunks->index == NULL || chunks->pipeline.n_filters == 0
                             ? SLCI_SPAN_BUFFER_BYTES
                             : slc_max_i64(chunks->index->max_bytes, TOGETHER_BYTES);
    return slc_round_up(most, ALIGNMENT);
}

static int64_t scratch_bytes(const slci_h5_chunks *chunks) {
    return slc_round_up(chunks->chunk_bytes, ALIGNMENT);
}

int64_t slci_chunk_worker_bytes(const slci_h5_chunks *chunks) {
    /* A list without a filter is runs of bytes whatever is read of it, which go where they should. */
    const bool is_list = chunks->pipeline.n_filters == 0 && chunks->rank <= 1;
    const int64_t own = (int64_t)sizeof(slci_chunk_worker) + (is_list ? 0 : buffer_bytes(chunks));
    return chunks->pipeline.n_filters == 0
               ? own
               : own + scratch_bytes(chunks) + slci_chunk_decoder_bytes(&chunks->pipeline);
}

static slc_status fail_memory(const slci_h5_chunks *chunks) {
    return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to read its chunks", chunks->path,
                    chunks->name);
}

static slc_status create(slci_h5_chunks *chunks, slci_chunk_worker **out) {
    slci_chunk_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return fail_memory(chunks);
    }
    slc_status status = SLC_OK;
    worker->chunks = chunks;
    worker->buffer_bytes = buffer_bytes(chunks);
    if (chunks->pipeline.n_filters > 0) {
        status = slci_chunk_decoder_create(&chunks->pipeline, &worker->decoder);
    }
    if (status != SLC_OK) {
        slci_chunk_worker_destroy(worker);
        return status;
    }
    *out = worker;
    return SLC_OK;
}

void slci_chunk_worker_destroy(slci_chunk_worker *worker) {
    slci_chunk_decoder_destroy(worker->decoder);
    free(worker->scratch);
    free(worker->buffer);
    free(worker);
}

slc_status slci_chunk_worker_acquire(slci_h5_chunks *chunks, slci_chunk_worker **out) {
    (void)pthread_mutex_lock(&chunks->mutex);
    slci_chunk_worker *worker = chunks->workers;
    if (worker != NULL) {
        chunks->workers = worker->next;
    }
    (void)pthread_mutex_unlock(&chunks->mutex);
    if (worker == NULL) {
        return create(chunks, out);
    }
    worker->held_bytes = 0; /* what was read is of now, not of the read before */
    *out = worker;
    return SLC_OK;
}

void slci_chunk_worker_release(slci_chunk_worker *worker) {
    slci_h5_chunks *chunks = worker->chunks;
    (void)pthread_mutex_lock(&chunks->mutex);
    worker->next = chunks->workers;
    chunks->workers = worker;
    (void)pthread_mutex_unlock(&chunks->mutex);
}

slc_status slci_chunk_worker_buffer(slci_chunk_worker *worker, void **out) {
    worker->held_bytes = 0;
    if (worker->buffer == NULL) {
        worker->buffer = aligned_alloc(ALIGNMENT, (size_t)worker->buffer_bytes);
    }
    if (worker->buffer == NULL) {
        return fail_memory(worker->chunks);
    }
    *out = worker->buffer;
    return SLC_OK;
}

slc_status slci_chunk_worker_scratch(slci_chunk_worker *worker, void **out) {
    if (worker->scratch == NULL) {
        worker->scratch = aligned_alloc(ALIGNMENT, (size_t)scratch_bytes(worker->chunks));
    }
    if (worker->scratch == NULL) {
        return fail_memory(worker->chunks);
    }
    *out = worker->scratch;
    return SLC_OK;
}

bool slci_chunk_worker_holds(const slci_chunk_worker *worker, int64_t place) {
    const int64_t offset = (int64_t)worker->chunks->index->offset[place];
    const int64_t bytes = (int64_t)worker->chunks->index->bytes[place];
    return offset >= worker->held_offset &&
           offset + bytes <= worker->held_offset + worker->held_bytes;
}

slc_status slci_chunk_worker_decode(slci_chunk_worker *worker, int64_t place, uint32_t mask,
                                    int64_t more_bytes, const slci_chunk_runs *to) {
    const slci_h5_chunks *chunks = worker->chunks;
    const int64_t offset = (int64_t)chunks->index->offset[place];
    const int64_t bytes = (int64_t)chunks->index->bytes[place];
    if (!slci_chunk_worker_holds(worker, place)) {
        const int64_t n = slc_min_i64(bytes + more_bytes, worker->buffer_bytes);
        void *buffer;
        SLC_TRY(slci_chunk_worker_buffer(worker, &buffer));
        worker->has_io_failed = true;
        SLC_TRY(slci_span_fetch(chunks->descriptor, buffer, n, offset));
        worker->has_io_failed = false;
        worker->held_offset = offset;
        worker->held_bytes = n;
    }
    const unsigned char *stored = worker->buffer + (offset - worker->held_offset);
    SLC_TRY(to->n_runs == 1 ? slci_chunk_decode(worker->decoder, mask, stored, bytes, to->run[0])
                            : slci_chunk_decode_runs(worker->decoder, mask, stored, bytes, to));
    for (int64_t r = 0; r < to->n_runs; r++) {
        slci_turn_elements(&chunks->turn, to->run[r], to->run_bytes);
    }
    return SLC_OK;
}
