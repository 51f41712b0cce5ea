/* The list of decoders, what a pipeline may be, and the walk back through it.
 *
 *     written:   elements -> shuffle -> zstd -> fletcher32 -> stored
 *     decoded:   stored -> [checked, 4 bytes less] -> scratch -> dst
 *
 * Since there is at most one compression, and behind it only checksums, the size of every intermediate
 * result is known beforehand: the chunk's, plus 4 for each checksum before. The last step that moves
 * bytes writes into dst itself. */
#include "io/chunk_codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"
#include "io/chunk_planes.h"
#include "io/chunk_stage.h"

#define CHECKSUM_BYTES 4
#define ALIGNMENT 64

/* What is left where a compression has been undone later: the size is whatever was stored. */
#define UNKNOWN (-1)

typedef enum codec_kind { REARRANGES, COMPRESSES, CHECKS } codec_kind;

typedef struct codec {
    int id;
    codec_kind kind;
    const char *name;
    slc_status (*decode)(slci_chunk_tools *tools, const slci_chunk_stage *stage);
    /* NULL: any values will do. Otherwise NULL, or a clause that says why not. */
    const char *(*refuse)(const slci_chunk_filter *filter, const slci_chunk_pipeline *pipeline);
} codec;

struct slci_chunk_decoder {
    slci_chunk_pipeline pipeline;
    slci_chunk_tools tools;
    int n_scratch;
    unsigned char *scratch[2];
};

static const char *refuse_shuffle(const slci_chunk_filter *filter,
                                  const slci_chunk_pipeline *pipeline) {
    const bool is_good = filter->n_values >= 1 && filter->values[0] == pipeline->element_bytes;
    return is_good ? NULL : "its value is not the size of an element";
}

static const codec codecs[] = {
    {SLCI_FILTER_DEFLATE, COMPRESSES, "deflate", slci_chunk_deflate_decode, NULL},
    {SLCI_FILTER_SHUFFLE, REARRANGES, "shuffle", slci_chunk_shuffle_decode, refuse_shuffle},
    {SLCI_FILTER_FLETCHER32, CHECKS, "fletcher32", NULL, NULL},
    {SLCI_FILTER_SZIP, COMPRESSES, "szip", slci_chunk_szip_decode, slci_chunk_szip_refuse},
    {SLCI_FILTER_LZF, COMPRESSES, "lzf", slci_chunk_lzf_decode, NULL},
    {SLCI_FILTER_BLOSC, COMPRESSES, "blosc", slci_chunk_blosc_decode, slci_chunk_blosc_refuse},
    {SLCI_FILTER_LZ4, COMPRESSES, "lz4", slci_chunk_lz4_decode, NULL},
    {SLCI_FILTER_BITSHUFFLE, COMPRESSES, "bitshuffle", slci_chunk_bitshuffle_decode,
     slci_chunk_bitshuffle_refuse},
    {SLCI_FILTER_ZSTD, COMPRESSES, "zstd", slci_chunk_zstd_decode, NULL},
};

static const codec *codec_of(int id) {
    for (size_t k = 0; k < sizeof codecs / sizeof codecs[0]; k++) {
        if (codecs[k].id == id) {
            return &codecs[k];
        }
    }
    return NULL;
}

int slci_chunk_filter_level_place(const slci_chunk_filter *filter) {
    const bool is_stream = filter->id == SLCI_FILTER_DEFLATE || filter->id == SLCI_FILTER_ZSTD;
    const bool has_zstd = filter->id == SLCI_FILTER_BITSHUFFLE &&
                          filter->n_values > SLCI_BITSHUFFLE_MODE &&
                          filter->values[SLCI_BITSHUFFLE_MODE] == SLCI_BITSHUFFLE_ZSTD;
    return is_stream ? 0 : has_zstd ? SLCI_BITSHUFFLE_LEVEL : -1;
}

const char *slci_chunk_filter_name(int id) {
    const codec *found = codec_of(id);
    return found == NULL ? NULL : found->name;
}

/* ---- pipelines -------------------------------------------------------------------------------- */

/* Writes the reason, for functions with `why` and `capacity`; false. */
#define REFUSE(...) ((void)slci_print(why, capacity, __VA_ARGS__), false)

static bool check_sizes(const slci_chunk_pipeline *pipeline, char *why, size_t capacity) {
    if (pipeline->n_filters < 0 || pipeline->n_filters > SLCI_CHUNK_MAX_FILTERS) {
        return REFUSE("it has %d filters, the decoders take up to %d", pipeline->n_filters,
                      SLCI_CHUNK_MAX_FILTERS);
    }
    if (pipeline->chunk_bytes < 1 || pipeline->chunk_bytes > SLCI_CHUNK_MAX_BYTES ||
        pipeline->element_bytes < 1 || pipeline->element_bytes > pipeline->chunk_bytes) {
        return REFUSE("chunks of %lld bytes with elements of %lld are impossible",
                      (long long)pipeline->chunk_bytes, (long long)pipeline->element_bytes);
    }
    return true;
}

bool slci_chunk_pipeline_check(const slci_chunk_pipeline *pipeline, char *why, size_t capacity) {
    if (!check_sizes(pipeline, why, capacity)) {
        return false;
    }
    const codec *compression = NULL;
    for (int k = 0; k < pipeline->n_filters; k++) {
        const slci_chunk_filter *filter = &pipeline->filter[k];
        const codec *is = codec_of(filter->id);
        if (is == NULL) {
            return REFUSE("filter %d has no decoder here", filter->id);
        }
        if (filter->n_values < 0 || filter->n_values > SLCI_CHUNK_FILTER_VALUES) {
            return REFUSE("filter %d (%s) has %d values", filter->id, is->name, filter->n_values);
        }
        if (compression != NULL && is->kind != CHECKS) {
            return REFUSE("%s comes after %s", is->name, compression->name);
        }
        const char *reason = is->refuse == NULL ? NULL : is->refuse(filter, pipeline);
        if (reason != NULL) {
            return REFUSE("filter %d (%s): %s", filter->id, is->name, reason);
        }
        compression = is->kind == COMPRESSES ? is : compression;
    }
    return true;
}

/* Intermediate results that exist at once: one is read while the other is written. */
static int count_scratch(const slci_chunk_pipeline *pipeline) {
    int n = 0;
    for (int k = 1; k < pipeline->n_filters; k++) {
        n += codec_of(pipeline->filter[k].id)->kind != CHECKS;
    }
    return n < 2 ? n : 2;
}

/* The largest intermediate result. */
static int64_t scratch_bytes(const slci_chunk_pipeline *pipeline) {
    return slc_round_up(pipeline->chunk_bytes + CHECKSUM_BYTES * (int64_t)pipeline->n_filters,
                        ALIGNMENT);
}

/* ---- decoders --------------------------------------------------------------------------------- */

int64_t slci_chunk_decoder_bytes(const slci_chunk_pipeline *pipeline) {
    char why[SLCI_CHUNK_WHY_BYTES];
    if (!slci_chunk_pipeline_check(pipeline, why, sizeof why)) {
        return 0;
    }
    int64_t bytes = (int64_t)sizeof(slci_chunk_decoder);
    bytes += count_scratch(pipeline) * scratch_bytes(pipeline);
    for (int k = 0; k < pipeline->n_filters; k++) {
        bytes += slci_chunk_tools_bytes(&pipeline->filter[k], scratch_bytes(pipeline));
    }
    return bytes;
}

static slc_status prepare(slci_chunk_decoder *decoder) {
    const slci_chunk_pipeline *pipeline = &decoder->pipeline;
    const int64_t bytes = scratch_bytes(pipeline);
    for (int k = 0; k < count_scratch(pipeline); k++) {
        decoder->scratch[k] = aligned_alloc(ALIGNMENT, (size_t)bytes);
        if (decoder->scratch[k] == NULL) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld bytes to decode chunks with",
                            (long long)bytes);
        }
    }
    for (int k = 0; k < pipeline->n_filters; k++) {
        SLC_TRY(slci_chunk_tools_prepare(&decoder->tools, &pipeline->filter[k], bytes));
    }
    return SLC_OK;
}

slc_status slci_chunk_decoder_create(const slci_chunk_pipeline *pipeline,
                                     slci_chunk_decoder **out) {
    char why[SLCI_CHUNK_WHY_BYTES];
    if (!slci_chunk_pipeline_check(pipeline, why, sizeof why)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s", why);
    }
    slci_chunk_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a decoder of chunks");
    }
    decoder->pipeline = *pipeline;
    const slc_status status = prepare(decoder);
    if (status != SLC_OK) {
        slci_chunk_decoder_destroy(decoder);
        return status;
    }
    *out = decoder;
    return SLC_OK;
}

void slci_chunk_decoder_destroy(slci_chunk_decoder *decoder) {
    if (decoder == NULL) {
        return;
    }
    slci_chunk_tools_release(&decoder->tools);
    free(decoder->scratch[0]);
    free(decoder->scratch[1]);
    free(decoder);
}

/* ---- decoding --------------------------------------------------------------------------------- */

/* A chunk on its way back. */
typedef struct walk {
    slci_chunk_decoder *decoder;
    unsigned char *dst;          /* NULL: it goes to `runs` */
    const slci_chunk_runs *runs; /* NULL: it goes to `dst` */
    const unsigned char *at;     /* where the bytes are now, and how many */
    int64_t n;
    int next_scratch;
    uint32_t mask;
    int64_t before[SLCI_CHUNK_MAX_FILTERS]; /* bytes that filter k was given, or UNKNOWN */
} walk;

static bool is_skipped(const walk *chunk, int k) {
    return (chunk->mask >> k & 1U) != 0;
}

static void find_sizes(walk *chunk) {
    const slci_chunk_pipeline *pipeline = &chunk->decoder->pipeline;
    int64_t bytes = pipeline->chunk_bytes;
    for (int k = 0; k < pipeline->n_filters; k++) {
        const codec_kind kind = codec_of(pipeline->filter[k].id)->kind;
        chunk->before[k] = bytes;
        if (is_skipped(chunk, k)) {
            continue;
        }
        if (kind == CHECKS && bytes != UNKNOWN) {
            bytes += CHECKSUM_BYTES;
        } else if (kind == COMPRESSES) {
            bytes = UNKNOWN;
        }
    }
}

/* Where filter k's input is to be restored: in dst if no filter was before it. */
static unsigned char *place_for(walk *chunk, int k) {
    for (int before = 0; before < k; before++) {
        if (!is_skipped(chunk, before)) {
            unsigned char *place = chunk->decoder->scratch[chunk->next_scratch];
            chunk->next_scratch = 1 - chunk->next_scratch;
            return place;
        }
    }
    return chunk->dst;
}

static slc_status undo(walk *chunk, int k) {
    const slci_chunk_filter *filter = &chunk->decoder->pipeline.filter[k];
    const codec *is = codec_of(filter->id);
    slci_chunk_stage stage = {.filter = filter, .in = chunk->at, .n_in = chunk->n};
    slc_status status;
    if (is->kind == CHECKS) {
        status = slci_chunk_fletcher_check(&stage);
        chunk->n -= CHECKSUM_BYTES;
    } else {
        stage.out = place_for(chunk, k);
        stage.runs = stage.out == NULL ? chunk->runs : NULL;
        stage.n_out = chunk->before[k];
        status = is->decode(&chunk->decoder->tools, &stage);
        chunk->at = stage.out;
        chunk->n = stage.n_out;
    }
    return status == SLC_OK ? SLC_OK
                            : slc_status_prefix(status, "filter %d (%s)", filter->id, is->name);
}

static slc_status undo_all(walk *chunk) {
    const slci_chunk_pipeline *pipeline = &chunk->decoder->pipeline;
    if (chunk->mask >> pipeline->n_filters != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the filter mask 0x%x names more than the %d filters",
                        chunk->mask, pipeline->n_filters);
    }
    find_sizes(chunk);
    for (int k = pipeline->n_filters - 1; k >= 0; k--) {
        if (!is_skipped(chunk, k)) {
            SLC_TRY(undo(chunk, k));
        }
    }
    slci_chunk_planes_get()->settle();
    return SLC_OK;
}

bool slci_chunk_decodes_runs(const slci_chunk_decoder *decoder, uint32_t filter_mask) {
    const slci_chunk_pipeline *pipeline = &decoder->pipeline;
    const int first = pipeline->n_filters > 0 ? pipeline->filter[0].id : 0;
    return (first == SLCI_FILTER_SHUFFLE || first == SLCI_FILTER_BITSHUFFLE) &&
           (filter_mask & 1U) == 0;
}

slc_status slci_chunk_decode_runs(slci_chunk_decoder *decoder, uint32_t filter_mask,
                                  const void *stored, int64_t n_stored,
                                  const slci_chunk_runs *runs) {
    assert(slci_chunk_decodes_runs(decoder, filter_mask));
    assert(runs->n_runs * runs->run_bytes == decoder->pipeline.chunk_bytes);
    walk chunk = {
        .decoder = decoder, .runs = runs, .at = stored, .n = n_stored, .mask = filter_mask};
    return undo_all(&chunk);
}

slc_status slci_chunk_decode(slci_chunk_decoder *decoder, uint32_t filter_mask, const void *stored,
                             int64_t n_stored, void *dst) {
    const slci_chunk_pipeline *pipeline = &decoder->pipeline;
    walk chunk = {.decoder = decoder, .dst = dst, .at = stored, .n = n_stored, .mask = filter_mask};
    SLC_TRY(undo_all(&chunk));
    if (chunk.at == dst) {
        return SLC_OK;
    }
    if (chunk.n != pipeline->chunk_bytes) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes are stored in place of %lld",
                        (long long)chunk.n, (long long)pipeline->chunk_bytes);
    }
    memcpy(dst, chunk.at, (size_t)chunk.n);
    return SLC_OK;
}
