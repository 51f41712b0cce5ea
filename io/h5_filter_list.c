/* Pipelines as other writers make them: shuffle before the compression, checksums behind it, and the
 * values that h5py and the plugins store with each filter. */
#include "io/h5_filter_list.h"

#include <hdf5.h>
#include <string.h>

/* The versions of bitshuffle that brought LZ4 and zstd. */
#define BITSHUFFLE_MAJOR 0
#define BITSHUFFLE_MINOR 4

static void add(slci_chunk_pipeline *pipeline, int id, int n_values, const uint32_t *values) {
    slci_chunk_filter *filter = &pipeline->filter[pipeline->n_filters++];
    *filter = (slci_chunk_filter){.id = id, .n_values = n_values};
    if (n_values > 0) {
        memcpy(filter->values, values, (size_t)n_values * sizeof *values);
    }
}

static void add_bitshuffle(slci_chunk_pipeline *pipeline, uint32_t mode, uint32_t level) {
    const uint32_t values[] = {
        BITSHUFFLE_MAJOR, BITSHUFFLE_MINOR, (uint32_t)pipeline->element_bytes, 0, mode, level};
    const bool has_level = mode == SLCI_BITSHUFFLE_ZSTD;
    add(pipeline, SLCI_FILTER_BITSHUFFLE,
        1 + (has_level ? SLCI_BITSHUFFLE_LEVEL : SLCI_BITSHUFFLE_MODE), values);
}

void slci_h5_filter_pipeline(const slc_h5_filter *filter, int64_t chunk_bytes,
                             int64_t element_bytes, slci_chunk_pipeline *out) {
    const uint32_t level = (uint32_t)slci_h5_filter_level(filter);
    const uint32_t bytes = (uint32_t)element_bytes;
    *out = (slci_chunk_pipeline){.chunk_bytes = chunk_bytes, .element_bytes = element_bytes};
    const bool is_stream =
        filter->kind == SLC_H5_FILTER_DEFLATE || filter->kind == SLC_H5_FILTER_ZSTD;
    if (is_stream && !filter->is_unshuffled && element_bytes > 1) {
        add(out, SLCI_FILTER_SHUFFLE, 1, &bytes);
    }
    switch (filter->kind) {
    case SLC_H5_FILTER_DEFLATE:
        add(out, SLCI_FILTER_DEFLATE, 1, &level);
        break;
    case SLC_H5_FILTER_ZSTD:
        add(out, SLCI_FILTER_ZSTD, 1, &level);
        break;
    case SLC_H5_FILTER_BITSHUFFLE_LZ4:
        add_bitshuffle(out, SLCI_BITSHUFFLE_LZ4, 0);
        break;
    case SLC_H5_FILTER_BITSHUFFLE_ZSTD:
        add_bitshuffle(out, SLCI_BITSHUFFLE_ZSTD, level);
        break;
    default:
        break;
    }
    if (filter->has_checksum) {
        add(out, SLCI_FILTER_FLETCHER32, 0, NULL);
    }
}

bool slci_h5_filter_read(slci_h5_id list, slci_chunk_pipeline *pipeline) {
    const int n = H5Pget_nfilters((hid_t)list);
    bool is_ok = n >= 0;
    for (int k = 0; k < n && k < SLCI_CHUNK_MAX_FILTERS && is_ok; k++) {
        slci_chunk_filter filter = {0};
        unsigned flags = 0;
        unsigned config = 0;
        size_t n_values = SLCI_CHUNK_FILTER_VALUES;
        filter.id = (int)H5Pget_filter2((hid_t)list, (unsigned)k, &flags, &n_values, filter.values,
                                        0, NULL, &config);
        filter.n_values =
            (int)(n_values < SLCI_CHUNK_FILTER_VALUES ? n_values : SLCI_CHUNK_FILTER_VALUES);
        pipeline->filter[k] = filter;
        is_ok = filter.id >= 0;
    }
    pipeline->n_filters = is_ok ? n : 0;
    return is_ok;
}

void slci_h5_filter_of_pipeline(const slci_chunk_pipeline *pipeline, slc_h5_filter *out) {
    const int n = pipeline->n_filters;
    const slci_chunk_filter *filter = pipeline->filter;
    const bool is_shuffled = n > 0 && filter[0].id == SLCI_FILTER_SHUFFLE;
    int k = is_shuffled ? 1 : 0;
    const bool is_deflated = k < n && filter[k].id == SLCI_FILTER_DEFLATE;
    const int level = is_deflated && filter[k].n_values > 0 ? (int)filter[k].values[0] : 0;
    k += is_deflated ? 1 : 0;
    const bool has_checksum = k < n && filter[k].id == SLCI_FILTER_FLETCHER32;
    k += has_checksum ? 1 : 0;
    if (n == 0 || (k == n && !is_shuffled && !is_deflated)) {
        *out = (slc_h5_filter){.kind = SLC_H5_FILTER_NONE, .has_checksum = has_checksum};
    } else if (k == n && is_deflated && level >= 1 && level <= 9) {
        *out = (slc_h5_filter){.kind = SLC_H5_FILTER_DEFLATE,
                               .level = level,
                               .is_unshuffled = !is_shuffled,
                               .has_checksum = has_checksum};
    } else {
        *out = (slc_h5_filter){.kind = SLC_H5_FILTER_DEFLATE};
    }
}
