/* LZF (Lehmann's liblzf) as h5py's HDF5 filter 32000, decoding only.
 * The stream is a row of runs. A control byte c below 32 is followed by c + 1 literal bytes; any other
 * copies (c >> 5) + 2 bytes, where 7 + 2 means that one more byte adds to the length, from a distance
 * of ((c & 31) << 8) + next byte + 1 back in the output. The filter's third value is the size of a
 * chunk; a chunk that did not shrink is stored without the filter. */
#include <hdf5.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_codec.h"

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

size_t slci_h5_lzf_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                          size_t *buffer_bytes, void **buffer) {
    const int64_t expected = slci_h5_codec_expected(SLCI_H5_LZF);
    int64_t capacity = n_values > 2 ? (int64_t)values[2] : 0;
    capacity = expected > 0 ? expected : capacity;
    if ((flags & H5Z_FLAG_REVERSE) == 0 || capacity <= 0) {
        return 0;
    }
    void *out = slci_h5_codec_resize(NULL, capacity);
    int64_t made = out == NULL ? 0 : slci_lzf_decode(*buffer, (int64_t)n_bytes, out, capacity);
    if (made < 0 || (expected > 0 && made != expected)) {
        made = 0;
    }
    return slci_h5_codec_finish(out, (size_t)capacity, (size_t)made, buffer_bytes, buffer);
}
