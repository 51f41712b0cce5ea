/* Sluice's decoders as filters of HDF5, and what they are told about the chunk at hand. */
#include "io/h5_codec.h"

#include <hdf5.h>
#include <string.h>
#include <zstd.h>

#include "core/checked.h"
#include "io/chunk_stage.h"

static const struct {
    int filter;
    const char *name;
    H5Z_func_t function;
} codecs[SLCI_H5_CODECS] = {
    [SLCI_H5_ZSTD] = {SLCI_FILTER_ZSTD, "zstd", slci_h5_zstd_filter},
    [SLCI_H5_LZF] = {SLCI_FILTER_LZF, "lzf", slci_h5_lzf_filter},
    [SLCI_H5_BITSHUFFLE] = {SLCI_FILTER_BITSHUFFLE, "bitshuffle", slci_h5_bitshuffle_filter},
    [SLCI_H5_LZ4] = {SLCI_FILTER_LZ4, "lz4", slci_h5_lz4_filter},
    [SLCI_H5_BLOSC] = {SLCI_FILTER_BLOSC, "blosc", slci_h5_blosc_filter},
};

static _Thread_local int64_t expected_bytes[SLCI_H5_CODECS];
static _Thread_local bool lacks_memory;

slci_h5_codec slci_h5_codec_of(int filter) {
    slci_h5_codec codec = SLCI_H5_ZSTD;
    while (codec < SLCI_H5_CODECS && codecs[codec].filter != filter) {
        codec++;
    }
    return codec;
}

int slci_h5_codec_filter(slci_h5_codec codec) {
    return codecs[codec].filter;
}

void slci_h5_codec_expect(const int64_t bytes[SLCI_H5_CODECS]) {
    memcpy(expected_bytes, bytes, sizeof expected_bytes);
    lacks_memory = false;
}

bool slci_h5_codec_lacks_memory(void) {
    return lacks_memory;
}

/* ---- decoding --------------------------------------------------------------------------------- */

/* What a filter was called with. */
typedef struct call {
    slci_h5_codec codec;
    slci_chunk_filter filter;
    const unsigned char *in;
    int64_t n_in;
} call;

static bool is_bare_bitshuffle(const call *of) {
    return of->codec == SLCI_H5_BITSHUFFLE && slci_chunk_bitshuffle_is_bare(&of->filter);
}

/* What the chunk says of its decoded size; 0 where it says nothing. */
static uint64_t stated_bytes(const call *of) {
    switch (of->codec) {
    case SLCI_H5_ZSTD: {
        const unsigned long long stated = ZSTD_getFrameContentSize(of->in, (size_t)of->n_in);
        const bool is_stated =
            stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR;
        return is_stated ? stated : 0;
    }
    case SLCI_H5_LZF:
        return of->filter.n_values > 2 ? of->filter.values[2] : 0;
    case SLCI_H5_BLOSC:
        return of->n_in < 8 ? 0
                            : (uint64_t)of->in[4] | (uint64_t)of->in[5] << 8 |
                                  (uint64_t)of->in[6] << 16 | (uint64_t)of->in[7] << 24;
    default:
        if (is_bare_bitshuffle(of)) {
            return (uint64_t)of->n_in;
        }
        return of->n_in < 8 ? 0 : slci_load_big_endian(of->in, 8);
    }
}

/* The size of bitshuffle's blocks that the chunk itself states goes before that of the filter. */
static void take_block(call *of) {
    const uint32_t element_bytes = of->filter.values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    if (of->codec == SLCI_H5_BITSHUFFLE && !is_bare_bitshuffle(of) && of->n_in >= 12 &&
        element_bytes > 0) {
        of->filter.values[SLCI_BITSHUFFLE_BLOCK] =
            (uint32_t)slci_load_big_endian(of->in + 8, 4) / element_bytes;
    }
}

static slc_status decode_into(const call *of, int64_t n_out, void *out) {
    slci_chunk_pipeline pipeline = {.n_filters = 1, .chunk_bytes = n_out, .element_bytes = 1};
    pipeline.filter[0] = of->filter;
    slci_chunk_decoder *decoder = NULL;
    SLC_TRY(slci_chunk_decoder_create(&pipeline, &decoder));
    const slc_status status = slci_chunk_decode(decoder, 0, of->in, of->n_in, out);
    slci_chunk_decoder_destroy(decoder);
    return status;
}

/* 0 is how a filter tells HDF5 that it failed; the buffer then stays as it is. */
static size_t decode(call *of, size_t *buffer_bytes, void **buffer) {
    take_block(of);
    const int64_t expected = expected_bytes[of->codec];
    const uint64_t n_out = expected > 0 ? (uint64_t)expected : stated_bytes(of);
    if (n_out < 1 || n_out > (uint64_t)SLCI_CHUNK_MAX_BYTES) {
        return 0;
    }
    void *out = H5allocate_memory((size_t)n_out, false);
    const slc_status status = out == NULL ? SLC_ERROR_MEMORY : decode_into(of, (int64_t)n_out, out);
    lacks_memory = lacks_memory || status == SLC_ERROR_MEMORY;
    if (status != SLC_OK) {
        (void)H5free_memory(out);
        return 0;
    }
    (void)H5free_memory(*buffer);
    *buffer = out;
    *buffer_bytes = (size_t)n_out;
    return (size_t)n_out;
}

static call call_of(slci_h5_codec codec, size_t n_values, const unsigned values[]) {
    call of = {.codec = codec, .filter.id = codecs[codec].filter};
    of.filter.n_values =
        n_values > SLCI_CHUNK_FILTER_VALUES ? SLCI_CHUNK_FILTER_VALUES : (int)n_values;
    for (int k = 0; k < of.filter.n_values; k++) {
        of.filter.values[k] = values[k];
    }
    return of;
}

/* ---- filters ---------------------------------------------------------------------------------- */

/* Frames are written with a checksum: without it damage goes unnoticed. The one value is the level. */
static size_t encode_zstd(int level, size_t n_in, size_t *buffer_bytes, void **buffer) {
    const size_t bound = ZSTD_compressBound(n_in);
    void *out = H5allocate_memory(bound, false);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t made = 0;
    if (out != NULL && context != NULL &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
        made = ZSTD_compress2(context, out, bound, *buffer, n_in);
    }
    (void)ZSTD_freeCCtx(context);
    if (made == 0 || ZSTD_isError(made)) {
        (void)H5free_memory(out);
        return 0;
    }
    (void)H5free_memory(*buffer);
    *buffer = out;
    *buffer_bytes = bound;
    return made;
}

size_t slci_h5_zstd_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                           size_t *buffer_bytes, void **buffer) {
    if ((flags & H5Z_FLAG_REVERSE) == 0) {
        return encode_zstd(n_values > 0 ? (int)values[0] : 0, n_bytes, buffer_bytes, buffer);
    }
    call of = call_of(SLCI_H5_ZSTD, n_values, values);
    of.in = *buffer;
    of.n_in = (int64_t)n_bytes;
    return decode(&of, buffer_bytes, buffer);
}

/* The filter functions differ in nothing else. */
#define DECODE_ONLY(function, codec)                                                          \
    size_t function(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes, \
                    size_t *buffer_bytes, void **buffer) {                                    \
        call of = call_of(codec, n_values, values);                                           \
        of.in = *buffer;                                                                      \
        of.n_in = (int64_t)n_bytes;                                                           \
        return (flags & H5Z_FLAG_REVERSE) == 0 ? 0 : decode(&of, buffer_bytes, buffer);       \
    }

DECODE_ONLY(slci_h5_lzf_filter, SLCI_H5_LZF)
DECODE_ONLY(slci_h5_bitshuffle_filter, SLCI_H5_BITSHUFFLE)
DECODE_ONLY(slci_h5_lz4_filter, SLCI_H5_LZ4)
DECODE_ONLY(slci_h5_blosc_filter, SLCI_H5_BLOSC)

bool slci_h5_codec_is_built_in(slci_h5_codec codec) {
    slci_chunk_pipeline any = {.n_filters = 1, .chunk_bytes = 1, .element_bytes = 1};
    char why[SLCI_CHUNK_WHY_BYTES];
    any.filter[0].id = SLCI_FILTER_BLOSC;
    return codec != SLCI_H5_BLOSC || slci_chunk_pipeline_check(&any, why, sizeof why);
}

void slci_h5_codec_register(void) {
    for (int k = 0; k < SLCI_H5_CODECS; k++) {
        const H5Z_class2_t description = {
            .version = H5Z_CLASS_T_VERS,
            .id = codecs[k].filter,
            /* Most decline every chunk, which is then stored as it is; without this mark HDF5 would not
             * even let a dataset with an optional filter be made. */
            .encoder_present = 1,
            .decoder_present = 1,
            .name = codecs[k].name,
            .filter = codecs[k].function,
        };
        /* One that this build lacks would hide a plugin that has it. */
        if (slci_h5_codec_is_built_in((slci_h5_codec)k)) {
            (void)H5Zregister(&description);
        }
    }
}
