/* The filters of a chunk, one after the other.
 *
 *     elements -> [planes] -> [stream] -> [+ checksum] -> stored
 *                 shuffle     deflate,    fletcher32
 *                             zstd,
 *                             bitshuffle
 *
 * A bitshuffled chunk is made block by block (io/chunk_bitshuffle.c has its form): planes of bytes,
 * planes of bits, and these compressed behind their length. */
#include "io/chunk_encode.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/checked.h"
#include "core/print.h"
#include "io/chunk_encode_stage.h"
#include "io/chunk_stage.h"

#define CHECKSUM_BYTES 4
#define HEADER_BYTES 12 /* of a bitshuffled chunk */
#define SIZE_BYTES 4    /* in front of each block */
#define GROUP 8

struct slci_chunk_encoder {
    slci_chunk_pipeline pipeline;
    const slci_chunk_filter *compression; /* NULL: none */
    bool is_shuffled, has_checksum;
    unsigned char *planes; /* [chunk_bytes] where bytes are shuffled; of bitshuffle two blocks */
    int64_t block_bytes;   /* of bitshuffle */
    ZSTD_CCtx *zstd;
    void *deflate;
};

/* ---- pipelines -------------------------------------------------------------------------------- */

static bool is_compression(int id) {
    return id == SLCI_FILTER_DEFLATE || id == SLCI_FILTER_ZSTD || id == SLCI_FILTER_BITSHUFFLE;
}

/* The parts of a pipeline; the number of filters that have a place in it. */
static int take_apart(const slci_chunk_pipeline *pipeline, bool *is_shuffled,
                      const slci_chunk_filter **compression, bool *has_checksum) {
    const slci_chunk_filter *filter = pipeline->filter;
    const int n = pipeline->n_filters;
    int k = 0;
    *is_shuffled = k < n && filter[k].id == SLCI_FILTER_SHUFFLE;
    k += *is_shuffled ? 1 : 0;
    *compression = k < n && is_compression(filter[k].id) ? &filter[k] : NULL;
    k += *compression != NULL ? 1 : 0;
    *has_checksum = k < n && filter[k].id == SLCI_FILTER_FLETCHER32;
    return k + (*has_checksum ? 1 : 0);
}

static bool is_lz4(const slci_chunk_filter *filter) {
    return filter->id == SLCI_FILTER_BITSHUFFLE && !slci_chunk_bitshuffle_is_bare(filter) &&
           !slci_chunk_bitshuffle_has_zstd(filter);
}

bool slci_chunk_encoder_check(const slci_chunk_pipeline *pipeline, char *why, size_t capacity) {
    bool is_shuffled = false;
    bool has_checksum = false;
    const slci_chunk_filter *compression = NULL;
    const int n = take_apart(pipeline, &is_shuffled, &compression, &has_checksum);
    if (n < pipeline->n_filters) {
        const char *name = slci_chunk_filter_name(pipeline->filter[n].id);
        (void)slci_print(why, capacity, "filter %d (%s) cannot be written there",
                         pipeline->filter[n].id, name != NULL ? name : "unknown");
        return false;
    }
    if (compression != NULL && compression->id == SLCI_FILTER_BITSHUFFLE &&
        slci_chunk_bitshuffle_is_bare(compression)) {
        (void)slci_print(why, capacity, "bitshuffle is written with a compression only");
        return false;
    }
    if (compression != NULL && is_lz4(compression) && !slci_lz4_has_encoder) {
        (void)slci_print(why, capacity, "this build has no LZ4 to compress with (liblz4-dev)");
        return false;
    }
    if (slci_chunk_encoded_most(pipeline) > SLCI_CHUNK_MAX_BYTES) {
        (void)slci_print(why, capacity, "a chunk of %lld bytes may pass HDF5's 4 GiB",
                         (long long)pipeline->chunk_bytes);
        return false;
    }
    return true;
}

/* What one block of bitshuffle becomes at most. */
static int64_t block_most(const slci_chunk_filter *filter, int64_t block_bytes) {
    return slci_chunk_bitshuffle_has_zstd(filter) ? (int64_t)ZSTD_compressBound((size_t)block_bytes)
                                                  : slci_lz4_most(block_bytes);
}

static int64_t bitshuffle_most(const slci_chunk_filter *filter, int64_t n_bytes) {
    const int64_t block_bytes = slci_chunk_bitshuffle_block_bytes(filter, n_bytes);
    const int64_t n_blocks = slc_ceil_div(n_bytes, slc_max_i64(block_bytes, 1)) + 1;
    int64_t bytes = 0;
    if (block_most(filter, block_bytes) > SLCI_CHUNK_MAX_BYTES ||
        !slc_checked_mul(n_blocks, block_most(filter, block_bytes) + SIZE_BYTES, &bytes)) {
        return INT64_MAX;
    }
    return bytes + HEADER_BYTES;
}

int64_t slci_chunk_encoded_most(const slci_chunk_pipeline *pipeline) {
    bool is_shuffled = false;
    bool has_checksum = false;
    const slci_chunk_filter *compression = NULL;
    (void)take_apart(pipeline, &is_shuffled, &compression, &has_checksum);
    int64_t bytes = pipeline->chunk_bytes;
    if (compression != NULL && compression->id == SLCI_FILTER_DEFLATE) {
        bytes = slci_deflate_most(bytes);
    } else if (compression != NULL && compression->id == SLCI_FILTER_ZSTD) {
        bytes = (int64_t)ZSTD_compressBound((size_t)bytes) + 4; /* and the frame's checksum */
    } else if (compression != NULL) {
        bytes = bitshuffle_most(compression, bytes);
    }
    bytes = bytes > SLCI_CHUNK_MAX_BYTES ? bytes : bytes + (has_checksum ? CHECKSUM_BYTES : 0);
    return bytes > SLCI_CHUNK_MAX_BYTES ? INT64_MAX : bytes;
}

/* ---- encoders --------------------------------------------------------------------------------- */

static int level_of(const slci_chunk_filter *filter) {
    const int at = slci_chunk_filter_level_place(filter);
    return at >= 0 && filter->n_values > at ? (int)filter->values[at] : 0;
}

static bool needs_zstd(const slci_chunk_filter *filter) {
    return filter != NULL &&
           (filter->id == SLCI_FILTER_ZSTD ||
            (filter->id == SLCI_FILTER_BITSHUFFLE && slci_chunk_bitshuffle_has_zstd(filter)));
}

/* What is laid out in planes at a time. */
static int64_t plane_bytes(const slci_chunk_pipeline *pipeline, bool is_shuffled,
                           const slci_chunk_filter *compression) {
    if (compression != NULL && compression->id == SLCI_FILTER_BITSHUFFLE) {
        return 2 * slci_chunk_bitshuffle_block_bytes(compression, pipeline->chunk_bytes);
    }
    return is_shuffled ? pipeline->chunk_bytes : 0;
}

/* Measured as ZSTD_sizeof_CCtx for chunks of 8 KiB to 64 MiB and all levels: tables grow with the input
 * up to 17 times its size, and end at what the level's own are. */
static int64_t zstd_context_bytes(int level, int64_t n_bytes) {
    const int64_t by_size = ((int64_t)1 << 20) + 18 * n_bytes;
    const int64_t by_level = level <= 3    ? (int64_t)2 << 20
                             : level <= 9  ? (int64_t)16 << 20
                             : level <= 15 ? (int64_t)72 << 20
                                           : by_size;
    return slc_min_i64(by_size, by_level);
}

int64_t slci_chunk_encoder_bytes(const slci_chunk_pipeline *pipeline) {
    bool is_shuffled = false;
    bool has_checksum = false;
    const slci_chunk_filter *compression = NULL;
    (void)take_apart(pipeline, &is_shuffled, &compression, &has_checksum);
    int64_t bytes = plane_bytes(pipeline, is_shuffled, compression);
    if (needs_zstd(compression)) {
        const bool is_whole = compression->id == SLCI_FILTER_ZSTD;
        bytes +=
            zstd_context_bytes(level_of(compression), is_whole ? pipeline->chunk_bytes : bytes / 2);
    } else if (compression != NULL && compression->id == SLCI_FILTER_DEFLATE) {
        bytes += slci_deflate_context_bytes();
    }
    return bytes + (int64_t)sizeof(slci_chunk_encoder);
}

static slc_status no_memory(const slci_chunk_pipeline *pipeline) {
    return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to encode chunks of %lld bytes with",
                    (long long)pipeline->chunk_bytes);
}

static slc_status prepare(slci_chunk_encoder *encoder) {
    const slci_chunk_pipeline *pipeline = &encoder->pipeline;
    const slci_chunk_filter *compression = encoder->compression;
    const int64_t n_planes = plane_bytes(pipeline, encoder->is_shuffled, compression);
    if (n_planes > 0) {
        encoder->planes = malloc((size_t)n_planes);
        if (encoder->planes == NULL) {
            return no_memory(pipeline);
        }
        encoder->block_bytes = n_planes / 2;
    }
    if (needs_zstd(compression)) {
        encoder->zstd = ZSTD_createCCtx();
        if (encoder->zstd == NULL ||
            ZSTD_isError(ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel,
                                                level_of(compression))) ||
            ZSTD_isError(ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_checksumFlag, 1))) {
            return no_memory(pipeline);
        }
    }
    if (compression != NULL && compression->id == SLCI_FILTER_DEFLATE) {
        encoder->deflate = slci_deflate_open(level_of(compression));
        if (encoder->deflate == NULL) {
            return no_memory(pipeline);
        }
    }
    return SLC_OK;
}

slc_status slci_chunk_encoder_create(const slci_chunk_pipeline *pipeline,
                                     slci_chunk_encoder **out) {
    slci_chunk_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) {
        return no_memory(pipeline);
    }
    encoder->pipeline = *pipeline;
    (void)take_apart(&encoder->pipeline, &encoder->is_shuffled, &encoder->compression,
                     &encoder->has_checksum);
    const slc_status status = prepare(encoder);
    if (status != SLC_OK) {
        slci_chunk_encoder_destroy(encoder);
        return status;
    }
    *out = encoder;
    return SLC_OK;
}

void slci_chunk_encoder_destroy(slci_chunk_encoder *encoder) {
    if (encoder == NULL) {
        return;
    }
    (void)ZSTD_freeCCtx(encoder->zstd);
    slci_deflate_close(encoder->deflate);
    free(encoder->planes);
    free(encoder);
}

/* ---- one chunk -------------------------------------------------------------------------------- */

static void store_big_endian(unsigned char *out, int n, uint64_t value) {
    for (int k = 0; k < n; k++) {
        out[k] = (unsigned char)(value >> (8 * (n - 1 - k)));
    }
}

/* One frame of zstd. */
static slc_status encode_frame(const slci_chunk_encoder *encoder, const unsigned char *in,
                               int64_t n_in, unsigned char *out, int64_t *n_out) {
    const size_t bound = ZSTD_compressBound((size_t)n_in) + 4;
    const size_t made = ZSTD_compress2(encoder->zstd, out, bound, in, (size_t)n_in);
    if (ZSTD_isError(made)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "zstd cannot compress a chunk of %lld bytes: %s",
                        (long long)n_in, ZSTD_getErrorName(made));
    }
    *n_out = (int64_t)made;
    return SLC_OK;
}

/* `bytes` of whole groups of elements, as one block behind its length. */
static slc_status encode_block(const slci_chunk_encoder *encoder, const unsigned char *in,
                               int64_t bytes, unsigned char *out, int64_t *n_out) {
    const int64_t element_bytes = encoder->compression->values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    unsigned char *planes = encoder->planes;
    unsigned char *bits = encoder->planes + encoder->block_bytes;
    slci_chunk_shuffle(in, bytes, element_bytes, planes);
    slci_chunk_planes_to_bits(planes, bytes / element_bytes, element_bytes, bits);
    int64_t made = 0;
    if (encoder->zstd != NULL) {
        SLC_TRY(encode_frame(encoder, bits, bytes, out + SIZE_BYTES, &made));
    } else {
        made = slci_lz4_encode(bits, bytes, out + SIZE_BYTES, slci_lz4_most(bytes));
        if (made <= 0) {
            return SLC_FAIL(SLC_ERROR_INTERNAL, "LZ4 cannot compress a block of %lld bytes",
                            (long long)bytes);
        }
    }
    store_big_endian(out, SIZE_BYTES, (uint64_t)made);
    *n_out = made + SIZE_BYTES;
    return SLC_OK;
}

static slc_status encode_bitshuffle(const slci_chunk_encoder *encoder, const unsigned char *in,
                                    unsigned char *out, int64_t *n_out) {
    const slci_chunk_filter *filter = encoder->compression;
    const int64_t total = encoder->pipeline.chunk_bytes;
    const int64_t element_bytes = filter->values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    /* What the header says is the filter's block, even where the chunk is smaller than one. */
    const int64_t stated = slci_chunk_bitshuffle_block_bytes(filter, INT64_MAX);
    const int64_t grouped = total / element_bytes / GROUP * GROUP * element_bytes;
    store_big_endian(out, 8, (uint64_t)total);
    store_big_endian(out + 8, 4, (uint64_t)stated);
    int64_t at = HEADER_BYTES;
    for (int64_t k = 0; k < grouped; k += stated) {
        int64_t made = 0;
        SLC_TRY(encode_block(encoder, in + k, slc_min_i64(stated, grouped - k), out + at, &made));
        at += made;
    }
    memcpy(out + at, in + grouped, (size_t)(total - grouped));
    *n_out = at + total - grouped;
    return SLC_OK;
}

static slc_status compress(const slci_chunk_encoder *encoder, const unsigned char *in,
                           unsigned char *out, int64_t *n_out) {
    const int64_t n_in = encoder->pipeline.chunk_bytes;
    switch (encoder->compression->id) {
    case SLCI_FILTER_ZSTD:
        return encode_frame(encoder, in, n_in, out, n_out);
    case SLCI_FILTER_BITSHUFFLE:
        return encode_bitshuffle(encoder, in, out, n_out);
    default:
        *n_out = slci_deflate_encode(encoder->deflate, in, n_in, out, slci_deflate_most(n_in));
        return *n_out > 0 ? SLC_OK
                          : SLC_FAIL(SLC_ERROR_INTERNAL, "deflate cannot compress %lld bytes",
                                     (long long)n_in);
    }
}

slc_status slci_chunk_encode(slci_chunk_encoder *encoder, const void *elements, void *stored,
                             int64_t *n_stored) {
    const slci_chunk_pipeline *pipeline = &encoder->pipeline;
    const bool is_last = encoder->compression == NULL;
    const unsigned char *in = elements;
    unsigned char *out = stored;
    int64_t n = pipeline->chunk_bytes;
    if (encoder->is_shuffled) {
        unsigned char *planes = is_last ? out : encoder->planes;
        slci_chunk_shuffle(in, n, (int64_t)pipeline->filter[0].values[0], planes);
        in = planes;
    }
    if (!is_last) {
        SLC_TRY(compress(encoder, in, out, &n));
    } else if (in != out) {
        memcpy(out, in, (size_t)n);
    }
    if (encoder->has_checksum) {
        const uint32_t sum = slci_chunk_fletcher_sum(out, n);
        for (int k = 0; k < CHECKSUM_BYTES; k++) {
            out[n + k] = (unsigned char)(sum >> (8 * k));
        }
        n += CHECKSUM_BYTES;
    }
    *n_stored = n;
    return SLC_OK;
}
