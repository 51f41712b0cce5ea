/* szip (HDF5 filter 4) by libaec. The chunk starts with its decoded size (4 bytes, least significant
 * first); the rest is one stream of the library, of samples of up to 24 bits:
 *
 *     samples ──▶ lines without what fills them up ──▶ bytes of elements gathered
 *
 * Elements of 32 and 64 bits are stored as planes of their bytes, and lines are filled up to whole
 * blocks; either step is left out where there is nothing to do. The library's own functions of the name
 * szip do the same, but where a damaged stream ends early they give what happened to be in memory, so
 * how much the stream held is asked here. */
#include <libaec.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/chunk_shuffle.h"
#include "io/chunk_stage.h"

#define HEADER_BYTES 4
#define MAX_SAMPLE_BITS 24
#define MAX_BLOCK_SAMPLES 32
#define MAX_LINE_BLOCKS 128

/* The values of the filter, and of the first of them what matters to a decoder. */
enum { OPTIONS, PIXELS_PER_BLOCK, BITS_PER_PIXEL, PIXELS_PER_SCANLINE, N_VALUES };
enum { OPTION_MSB = 16, OPTION_NEAREST_NEIGHBOUR = 32 };

const char *slci_chunk_szip_refuse(const slci_chunk_filter *filter,
                                   const slci_chunk_pipeline *pipeline) {
    (void)pipeline;
    if (filter->n_values < N_VALUES) {
        return "values are missing";
    }
    const uint32_t *values = filter->values;
    const bool has_good_pixels = values[BITS_PER_PIXEL] >= 1 &&
                                 (values[BITS_PER_PIXEL] <= MAX_SAMPLE_BITS ||
                                  values[BITS_PER_PIXEL] == 32 || values[BITS_PER_PIXEL] == 64);
    const bool has_good_blocks = values[PIXELS_PER_BLOCK] >= 2 &&
                                 values[PIXELS_PER_BLOCK] <= MAX_BLOCK_SAMPLES &&
                                 values[PIXELS_PER_BLOCK] % 2 == 0;
    const bool has_good_lines =
        values[PIXELS_PER_SCANLINE] >= values[PIXELS_PER_BLOCK] &&
        values[PIXELS_PER_SCANLINE] <= MAX_LINE_BLOCKS * values[PIXELS_PER_BLOCK];
    const bool has_good_options = values[OPTIONS] < 256;
    return has_good_pixels && has_good_blocks && has_good_lines && has_good_options
               ? NULL
               : "its values make no sense";
}

/* How the samples lie, in bytes. */
typedef struct form {
    int64_t element_bytes; /* 4 or 8 where bytes are stored in planes, else a sample's */
    bool has_planes;
    int64_t line, padded_line; /* without and with what fills it up */
    int64_t padded;            /* all lines, the last one as far as its samples go */
} form;

static form form_of(const uint32_t *values, int64_t n_out) {
    const int64_t bits = values[BITS_PER_PIXEL];
    const bool has_planes = bits > MAX_SAMPLE_BITS;
    const int64_t sample_bytes = has_planes || bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
    const int64_t block = values[PIXELS_PER_BLOCK];
    const int64_t line = values[PIXELS_PER_SCANLINE];
    form out = {.element_bytes = has_planes ? bits / 8 : sample_bytes,
                .has_planes = has_planes,
                .line = line * sample_bytes,
                .padded_line = slc_round_up(line, block) * sample_bytes};
    const int64_t n_before = (n_out - 1) / out.line; /* lines before the last one */
    out.padded = n_before * out.padded_line + (n_out - n_before * out.line);
    return out;
}

/* The stream's samples, which must be as many as out has room for. */
static slc_status decode_samples(const slci_chunk_stage *stage, const form *is,
                                 unsigned char *out) {
    const uint32_t *values = stage->filter->values;
    const uint32_t bits = values[BITS_PER_PIXEL];
    struct aec_stream stream = {
        .next_in = stage->in + HEADER_BYTES,
        .avail_in = (size_t)(stage->n_in - HEADER_BYTES),
        .next_out = out,
        .avail_out = (size_t)is->padded,
        .bits_per_sample = is->has_planes ? 8 : bits,
        .block_size = values[PIXELS_PER_BLOCK],
        .rsi = (uint32_t)slc_ceil_div(values[PIXELS_PER_SCANLINE], values[PIXELS_PER_BLOCK]),
        .flags = AEC_NOT_ENFORCE | ((values[OPTIONS] & OPTION_MSB) != 0 ? AEC_DATA_MSB : 0U) |
                 ((values[OPTIONS] & OPTION_NEAREST_NEIGHBOUR) != 0 ? AEC_DATA_PREPROCESS : 0U),
    };
    const int code = aec_buffer_decode(&stream);
    if (code == AEC_MEM_ERROR) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "libaec found no memory to decode with");
    }
    if (code != AEC_OK || (int64_t)stream.total_out != is->padded) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the stream is damaged (code %d of libaec): it holds %lld bytes of %lld",
                        code, (long long)stream.total_out, (long long)is->padded);
    }
    return SLC_OK;
}

/* Moves the lines of `samples` to where they follow one another. */
static void close_lines(const form *is, int64_t n_out, unsigned char *samples) {
    for (int64_t at = is->line, from = is->padded_line; at < n_out;
         at += is->line, from += is->padded_line) {
        memmove(samples + at, samples + from, (size_t)slc_min_i64(is->line, n_out - at));
    }
}

/* Lays the samples out in memory of its own before they go to where they are wanted. */
static slc_status decode_apart(const slci_chunk_stage *stage, const form *is) {
    unsigned char *samples = malloc((size_t)is->padded);
    if (samples == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld bytes to decode szip with",
                        (long long)is->padded);
    }
    const slc_status status = decode_samples(stage, is, samples);
    if (status == SLC_OK) {
        close_lines(is, stage->n_out, samples);
        if (is->has_planes) {
            slci_chunk_unshuffle(samples, stage->n_out, is->element_bytes, stage->out);
        } else {
            memcpy(stage->out, samples, (size_t)stage->n_out);
        }
    }
    free(samples);
    return status;
}

slc_status slci_chunk_szip_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    const unsigned char *in = stage->in;
    if (stage->n_in <= HEADER_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes have no room for a stream",
                        (long long)stage->n_in);
    }
    const int64_t stated =
        (int64_t)in[0] | (int64_t)in[1] << 8 | (int64_t)in[2] << 16 | (int64_t)in[3] << 24;
    if (stated != stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the chunk holds %lld bytes in place of %lld",
                        (long long)stated, (long long)stage->n_out);
    }
    const form is = form_of(stage->filter->values, stage->n_out);
    if (stage->n_out % is.element_bytes != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes are no whole number of elements of %lld",
                        (long long)stage->n_out, (long long)is.element_bytes);
    }
    return is.has_planes || is.padded != stage->n_out ? decode_apart(stage, &is)
                                                      : decode_samples(stage, &is, stage->out);
}

/* Lines that are filled up to whole blocks are less than twice as long; the library's own memory is a
 * segment of samples and tables. */
int64_t slci_chunk_szip_bytes(int64_t n_out) {
    return 2 * n_out + ((int64_t)256 << 10);
}
