/* szip (HDF5 filter 4) by libaec's library of that name. The chunk starts with its decoded size
 * (4 bytes, least significant first); the rest is one stream for the library. */
#include <szlib.h>

#include "io/chunk_stage.h"

#define HEADER_BYTES 4
#define MAX_PIXEL_BITS 24 /* below 32 and 64, which the library takes as bytes */

/* The values of the filter. */
enum { OPTIONS, PIXELS_PER_BLOCK, BITS_PER_PIXEL, PIXELS_PER_SCANLINE, N_VALUES };

const char *slci_chunk_szip_refuse(const slci_chunk_filter *filter,
                                   const slci_chunk_pipeline *pipeline) {
    (void)pipeline;
    if (filter->n_values < N_VALUES) {
        return "values are missing";
    }
    const uint32_t *values = filter->values;
    const bool has_good_pixels = values[BITS_PER_PIXEL] >= 1 &&
                                 (values[BITS_PER_PIXEL] <= MAX_PIXEL_BITS ||
                                  values[BITS_PER_PIXEL] == 32 || values[BITS_PER_PIXEL] == 64);
    const bool has_good_blocks = values[PIXELS_PER_BLOCK] >= 2 &&
                                 values[PIXELS_PER_BLOCK] <= SZ_MAX_PIXELS_PER_BLOCK &&
                                 values[PIXELS_PER_BLOCK] % 2 == 0;
    const bool has_good_lines =
        values[PIXELS_PER_SCANLINE] >= values[PIXELS_PER_BLOCK] &&
        values[PIXELS_PER_SCANLINE] <= SZ_MAX_BLOCKS_PER_SCANLINE * values[PIXELS_PER_BLOCK];
    const bool has_good_options = values[OPTIONS] < 256;
    return has_good_pixels && has_good_blocks && has_good_lines && has_good_options
               ? NULL
               : "its values make no sense";
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
    const uint32_t *values = stage->filter->values;
    SZ_com_t parameters = {.options_mask = (int)values[OPTIONS],
                           .bits_per_pixel = (int)values[BITS_PER_PIXEL],
                           .pixels_per_block = (int)values[PIXELS_PER_BLOCK],
                           .pixels_per_scanline = (int)values[PIXELS_PER_SCANLINE]};
    size_t made = (size_t)stage->n_out;
    const int code = SZ_BufftoBuffDecompress(stage->out, &made, in + HEADER_BYTES,
                                             (size_t)(stage->n_in - HEADER_BYTES), &parameters);
    if (code == SZ_MEM_ERROR) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "the szip library found no memory to decode with");
    }
    if (code != SZ_OK || made != (size_t)stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the stream is damaged (code %d of the szip library)",
                        code);
    }
    return SLC_OK;
}

/* The library copies the output where pixels are taken apart or lines are padded to whole blocks, which
 * less than doubles it; a segment of samples comes on top. */
int64_t slci_chunk_szip_bytes(int64_t n_out) {
    return 2 * n_out + ((int64_t)256 << 10);
}
