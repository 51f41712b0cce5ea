/* Chunks on their way into a journal and back.
 *
 *     run that is killed        chunk encoded ──────────────── keep(index, all, payload)
 *                               a state is written: chunks
 *                               of which a part has come ───── keep(index, n, elements)
 *
 *     run that resumes          put(index, all, payload) ───── parked, as if encoded just now
 *                               put(index, n, elements) ────── open, as if n had been written
 *
 * So nothing is encoded twice, and of chunks that boxes cut only what has come is kept in the raw, and
 * again only when more of it has come. The payload of a chunk follows its parts in the journal and
 * takes their place. */
#include <assert.h>
#include <string.h>

#include "io/chunk_sink_internal.h"

slc_status slci_chunk_sink_keep(slci_chunk_sink *sink, slc_piece_keep keep, void *context) {
    const slc_status status = slci_chunk_sink_wait(sink);
    pthread_mutex_lock(&sink->mutex);
    sink->keep = keep;
    sink->keep_context = context;
    pthread_mutex_unlock(&sink->mutex);
    return status;
}

/* With the mutex, and nothing under way: gives away what has come of a chunk. */
static slc_status keep_part(slci_chunk_sink *sink, int64_t index) {
    slci_chunk_entry *entry = &sink->entry[index];
    const slc_sink_piece piece = {.index = index,
                                  .n_elements = entry->n,
                                  .n_bytes = sink->options.pipeline.chunk_bytes};
    const void *bytes = sink->filed;
    if (entry->state == SLCI_CHUNK_OPEN) {
        bytes = slci_chunk_slot_memory(&sink->slots[entry->at]);
    } else {
        SLC_TRY(slci_nameless_read(&sink->file, sink->filed, piece.n_bytes, entry->at));
    }
    sink->keep(sink->keep_context, &piece, bytes);
    entry->is_kept = true;
    return SLC_OK;
}

slc_status slci_chunk_sink_flush(slci_chunk_sink *sink) {
    SLC_TRY(slci_chunk_sink_wait(sink));
    slc_status status = SLC_OK;
    pthread_mutex_lock(&sink->mutex);
    assert(sink->keep != NULL);
    if (sink->failure.status != SLC_OK) {
        status = slc_status_restore(&sink->failure);
    }
    for (int64_t k = sink->next; k < sink->grid.n_chunks && status == SLC_OK; k++) {
        const slci_chunk_entry *entry = &sink->entry[k];
        const bool is_part = entry->state == SLCI_CHUNK_OPEN || entry->state == SLCI_CHUNK_AWAY;
        if (is_part && !entry->is_kept) {
            status = keep_part(sink, k);
        }
    }
    if (status != SLC_OK) {
        (void)slci_chunk_fail(sink, status);
    }
    pthread_mutex_unlock(&sink->mutex);
    return status;
}

/* ---- back ------------------------------------------------------------------------------------- */

static slc_status check_piece(const slci_chunk_sink *sink, const slc_sink_piece *piece) {
    const bool is_chunk = piece->index >= 0 && piece->index < sink->grid.n_chunks;
    bool is_sound = is_chunk && piece->n_bytes > 0 && piece->n_bytes <= sink->payload_bytes;
    if (is_chunk && piece->n_elements != 0) {
        const slc_box box = slci_chunk_grid_box(&sink->grid, piece->index);
        is_sound = piece->n_elements > 0 && piece->n_elements < slc_box_count(&box) &&
                   piece->n_bytes == sink->options.pipeline.chunk_bytes;
    }
    if (!is_sound) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: what was kept as chunk %lld, in %lld bytes, is none of its %lld "
                        "chunks of at most %lld",
                        sink->options.path, (long long)piece->index, (long long)piece->n_bytes,
                        (long long)sink->grid.n_chunks, (long long)sink->payload_bytes);
    }
    return SLC_OK;
}

/* With the mutex, which is let go meanwhile: a chunk of which a part had come. */
static slc_status put_part(slci_chunk_sink *sink, const slc_sink_piece *piece, slc_piece_read read,
                           void *context) {
    slci_chunk_slot *slot = NULL;
    SLC_TRY(slci_chunk_open(sink, piece->index, &slot));
    pthread_mutex_unlock(&sink->mutex);
    const slc_status status = read(context, slci_chunk_slot_memory(slot), piece->n_bytes);
    pthread_mutex_lock(&sink->mutex);
    SLC_TRY(status);
    slci_chunk_entry *entry = &sink->entry[piece->index];
    entry->n = (uint32_t)piece->n_elements;
    entry->is_kept = true;
    slot->is_busy = false;
    return SLC_OK;
}

/* With the mutex, which is let go meanwhile: a chunk that was encoded. What had come of it before is
 * in it. */
static slc_status put_whole(slci_chunk_sink *sink, const slc_sink_piece *piece, slc_piece_read read,
                            void *context) {
    slci_chunk_entry *entry = &sink->entry[piece->index];
    if (entry->state == SLCI_CHUNK_OPEN) {
        sink->slots[entry->at].index = -1;
    } else if (entry->state != SLCI_CHUNK_NEW && entry->state != SLCI_CHUNK_AWAY) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: chunk %lld was kept twice", sink->options.path,
                        (long long)piece->index);
    }
    entry->state = SLCI_CHUNK_BUSY;
    assert(sink->n_free_payloads > 0); /* since nothing is being encoded */
    const int64_t buffer = sink->free_payload[--sink->n_free_payloads];
    pthread_mutex_unlock(&sink->mutex);
    const slc_status status = read(context, slci_chunk_payload(sink, buffer), piece->n_bytes);
    pthread_mutex_lock(&sink->mutex);
    SLC_TRY(status);
    sink->counts.n_taken_back++;
    return slci_chunk_deliver(sink, piece->index, buffer, piece->n_bytes);
}

slc_status slci_chunk_sink_put(slci_chunk_sink *sink, const slc_sink_piece *piece,
                               slc_piece_read read, void *context) {
    SLC_TRY(check_piece(sink, piece));
    pthread_mutex_lock(&sink->mutex);
    const slc_status status = piece->n_elements > 0 ? put_part(sink, piece, read, context)
                                                    : put_whole(sink, piece, read, context);
    if (status != SLC_OK) {
        (void)slci_chunk_fail(sink, status);
    }
    pthread_mutex_unlock(&sink->mutex);
    return status;
}
