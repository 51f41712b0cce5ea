/* LZF (Lehmann's liblzf; h5py's HDF5 filter 32000) undone.
 * The stream is a row of runs. A control byte c below 32 is followed by c + 1 literal bytes; any other
 * copies (c >> 5) + 2 bytes, where 7 + 2 means that one more byte adds to the length, from a distance
 * of ((c & 31) << 8) + next byte + 1 back in the output. */
#include <string.h>

#include "io/chunk_stage.h"

/* Copies within the output, where source and destination may overlap forwards. */
static void copy_back(unsigned char *out, int64_t distance, int64_t n) {
    if (distance >= n) {
        memcpy(out, out - distance, (size_t)n);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        out[k] = out[k - distance];
    }
}

int64_t slci_lzf_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity) {
    const unsigned char *in = src;
    unsigned char *out = dst;
    int64_t at = 0;
    int64_t made = 0;
    while (at < n_bytes) {
        const int control = in[at++];
        if (control < 32) {
            const int64_t n = control + 1;
            if (n > n_bytes - at || n > capacity - made) {
                return -1;
            }
            memcpy(out + made, in + at, (size_t)n);
            at += n;
            made += n;
            continue;
        }
        int64_t n = (control >> 5) + 2;
        if (n == 9 && at < n_bytes) {
            n += in[at++];
        }
        if (at >= n_bytes) {
            return -1;
        }
        const int64_t distance = ((int64_t)(control & 31) << 8) + in[at++] + 1;
        if (distance > made || n > capacity - made) {
            return -1;
        }
        copy_back(out + made, distance, n);
        made += n;
    }
    return made;
}

slc_status slci_chunk_lzf_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    const int64_t made = slci_lzf_decode(stage->in, stage->n_in, stage->out, stage->n_out);
    if (made < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the LZF stream is damaged or holds more than %lld bytes",
                        (long long)stage->n_out);
    }
    if (made != stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the LZF stream holds %lld bytes in place of %lld",
                        (long long)made, (long long)stage->n_out);
    }
    return SLC_OK;
}
