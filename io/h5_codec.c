/* The list of Sluice's own codecs, and what they are told about the chunk at hand. */
#include "io/h5_codec.h"

#include <hdf5.h>
#include <string.h>

static const struct {
    int filter;
    const char *name;
    H5Z_func_t function;
} codecs[SLCI_H5_CODECS] = {
    [SLCI_H5_ZSTD] = {SLCI_H5_FILTER_ZSTD, "zstd", slci_h5_zstd_filter},
    [SLCI_H5_LZF] = {SLCI_H5_FILTER_LZF, "lzf", slci_h5_lzf_filter},
    [SLCI_H5_BITSHUFFLE] = {SLCI_H5_FILTER_BITSHUFFLE, "bitshuffle", slci_h5_bitshuffle_filter},
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

void slci_h5_codec_expect(const int64_t bytes[SLCI_H5_CODECS]) {
    memcpy(expected_bytes, bytes, sizeof expected_bytes);
    lacks_memory = false;
}

int64_t slci_h5_codec_expected(slci_h5_codec codec) {
    return expected_bytes[codec];
}

void *slci_h5_codec_resize(void *old, int64_t bytes) {
    void *const memory = H5resize_memory(old, (size_t)bytes);
    lacks_memory = lacks_memory || memory == NULL;
    return memory;
}

size_t slci_h5_codec_finish(void *made, size_t capacity, size_t n_made, size_t *buffer_bytes,
                            void **buffer) {
    if (n_made == 0) {
        (void)H5free_memory(made);
        return 0;
    }
    (void)H5free_memory(*buffer);
    *buffer = made;
    *buffer_bytes = capacity;
    return n_made;
}

void slci_h5_codec_note_no_memory(void) {
    lacks_memory = true;
}

bool slci_h5_codec_lacks_memory(void) {
    return lacks_memory;
}

void slci_h5_codec_register(void) {
    for (int k = 0; k < SLCI_H5_CODECS; k++) {
        const H5Z_class2_t description = {
            .version = H5Z_CLASS_T_VERS,
            .id = codecs[k].filter,
            /* LZF and bitshuffle decline every chunk, which is then stored as it is; without this mark
             * HDF5 would not even let a dataset with an optional filter be made. */
            .encoder_present = 1,
            .decoder_present = 1,
            .name = codecs[k].name,
            .filter = codecs[k].function,
        };
        (void)H5Zregister(&description);
    }
}
