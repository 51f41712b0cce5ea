/* How large a chunk sink is: so many threads encode as there is memory for. */
#include "core/checked.h"
#include "io/chunk_sink_internal.h"

/* Buffers for encoded chunks: one under way, one that waits, one between them. */
#define PAYLOADS_PER_ENCODER 3

/* A row of chunks is kept open in memory up to this size, where nobody says otherwise. */
#define USUAL_OPEN_BYTES ((int64_t)64 << 20)

int64_t slci_chunk_sink_threads(const slci_chunk_sink_options *options) {
    return options->pool == NULL ? 1 : slc_pool_size(options->pool);
}

static slci_chunk_sizes size_with(const slci_chunk_sink_options *options, int64_t n_encoders) {
    const int64_t chunk_bytes = options->pipeline.chunk_bytes;
    const slci_chunk_grid grid = slci_chunk_grid_of(&options->layout, options->chunk);
    const int64_t row = grid.n_chunks / slc_max_i64(grid.n_of[0], 1);
    slci_chunk_sizes out = {.n_chunks = grid.n_chunks,
                            .n_encoders = n_encoders,
                            .payload_bytes =
                                slc_max_i64(slci_chunk_encoded_most(&options->pipeline),
                                            chunk_bytes)};
    const int64_t least = SLCI_SLOTS_PER_ENCODER * out.n_encoders + 1;
    out.n_payloads = PAYLOADS_PER_ENCODER * out.n_encoders + 1;
    const int64_t fixed_bytes = out.n_encoders * slci_chunk_encoder_bytes(&options->pipeline) +
                                (out.n_payloads + 1) * out.payload_bytes +
                                (int64_t)sizeof(slci_chunk_sink) +
                                out.n_chunks * (int64_t)sizeof(slci_chunk_entry);
    const int64_t slot_bytes = out.payload_bytes + (int64_t)sizeof(slci_chunk_slot);
    out.n_slots = options->memory_bytes > 0
                      ? (options->memory_bytes - fixed_bytes) / slot_bytes
                      : least + slc_min_i64(row, USUAL_OPEN_BYTES / chunk_bytes);
    out.n_slots = slc_min_i64(out.n_slots, slc_max_i64(out.n_chunks, 1));
    out.n_slots = slc_max_i64(out.n_slots, slc_min_i64(least, slc_max_i64(out.n_chunks, 1)));
    out.bytes = fixed_bytes + out.n_slots * slot_bytes;
    return out;
}

/* With fewer encoders than threads where memory is short. */
slci_chunk_sizes slci_chunk_sink_size(const slci_chunk_sink_options *options) {
    int64_t n_encoders = slci_chunk_sink_threads(options);
    slci_chunk_sizes out = size_with(options, n_encoders);
    while (options->memory_bytes > 0 && out.bytes > options->memory_bytes && n_encoders > 1) {
        out = size_with(options, --n_encoders);
    }
    return out;
}

int64_t slci_chunk_sink_bytes(const slci_chunk_sink_options *options) {
    return slci_chunk_sink_size(options).bytes;
}

int slci_chunk_sink_encoders(const slci_chunk_sink_options *options) {
    return (int)slci_chunk_sink_size(options).n_encoders;
}
