/* Any bytes as a chunk behind any pipeline, for libFuzzer.
 *
 *     byte 0      filters (low 2 bits), and which side of the buffers is guarded (bit 2)
 *     byte 1      filter mask
 *     byte 2, 3   bytes of the chunk, less 1
 *     byte 4      bytes of an element, less 1
 *     6 bytes for each filter: which one, and five that its values are made of
 *     the rest is what is stored
 *
 * A chunk is decoded twice, into memory of zeros and of ones, with the same end and, if it is a good
 * one, the same bytes: so every byte was written. One touched outside stops the program. */
#include <stdlib.h>
#include <string.h>

#include "io/chunk_codec.h"
#include "tests/support/test_guard.h"

enum { HEAD_BYTES = 5, FILTER_BYTES = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static const int ids[] = {SLCI_FILTER_SHUFFLE, SLCI_FILTER_DEFLATE,    SLCI_FILTER_FLETCHER32,
                          SLCI_FILTER_ZSTD,    SLCI_FILTER_BITSHUFFLE, SLCI_FILTER_LZ4,
                          SLCI_FILTER_LZF,     SLCI_FILTER_BLOSC,      SLCI_FILTER_SZIP};
enum { N_IDS = sizeof ids / sizeof ids[0] };

/* Values that make sense more often than not. */
static void read_filter(const uint8_t *from, int64_t element_bytes, slci_chunk_filter *filter) {
    filter->id = ids[from[0] % N_IDS];
    filter->n_values = 5;
    for (int k = 0; k < 5; k++) {
        filter->values[k] = from[1 + k];
    }
    switch (filter->id) {
    case SLCI_FILTER_SHUFFLE:
        filter->values[0] = (uint32_t)element_bytes;
        break;
    case SLCI_FILTER_BITSHUFFLE:
        filter->values[SLCI_BITSHUFFLE_BLOCK] = 8U * from[1 + SLCI_BITSHUFFLE_BLOCK];
        break;
    default:
        break;
    }
}

/* Decodes into guarded memory of `filler` bytes; the caller closes `out`. */
static slc_status decode(const slci_chunk_pipeline *pipeline, uint32_t mask,
                         const test_guard *stored, int64_t n_stored, int filler, test_guard *out) {
    slci_chunk_decoder *decoder = NULL;
    memset(out->bytes, filler, (size_t)pipeline->chunk_bytes);
    slc_status status = slci_chunk_decoder_create(pipeline, &decoder);
    if (status != SLC_OK) {
        abort();
    }
    status = slci_chunk_decode(decoder, mask, stored->bytes, n_stored, out->bytes);
    slci_chunk_decoder_destroy(decoder);
    return status;
}

static void try_chunk(const slci_chunk_pipeline *pipeline, uint32_t mask, const uint8_t *stored,
                      int64_t n_stored, bool is_low) {
    void (*const open)(int64_t, test_guard *) = is_low ? test_guard_open_low : test_guard_open;
    test_guard from;
    test_guard zeros;
    test_guard ones;
    open(n_stored, &from);
    open(pipeline->chunk_bytes, &zeros);
    open(pipeline->chunk_bytes, &ones);
    if (n_stored > 0) {
        memcpy(from.bytes, stored, (size_t)n_stored);
    }
    const slc_status first = decode(pipeline, mask, &from, n_stored, 0, &zeros);
    const slc_status second = decode(pipeline, mask, &from, n_stored, 255, &ones);
    if (first != second ||
        (first == SLC_OK && memcmp(zeros.bytes, ones.bytes, (size_t)pipeline->chunk_bytes) != 0)) {
        abort();
    }
    test_guard_close(&ones);
    test_guard_close(&zeros);
    test_guard_close(&from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    slci_chunk_pipeline pipeline = {0};
    char why[SLCI_CHUNK_WHY_BYTES];
    if (n_bytes < HEAD_BYTES + 3 * FILTER_BYTES) {
        return 0;
    }
    pipeline.n_filters = data[0] & 3;
    pipeline.chunk_bytes = 1 + (data[2] | (int64_t)data[3] << 8);
    pipeline.element_bytes = 1 + data[4];
    for (int64_t k = 0; k < pipeline.n_filters; k++) {
        read_filter(data + HEAD_BYTES + k * FILTER_BYTES, pipeline.element_bytes,
                    &pipeline.filter[k]);
    }
    const int64_t head = HEAD_BYTES + pipeline.n_filters * FILTER_BYTES;
    if (slci_chunk_pipeline_check(&pipeline, why, sizeof why)) {
        try_chunk(&pipeline, data[1] & ((1U << pipeline.n_filters) - 1), data + head,
                  (int64_t)n_bytes - head, (data[0] & 4) != 0);
    }
    return 0;
}
