/* The names of filters and the levels that they take. */
#include "io/h5_filter.h"

#include <string.h>

#include "core/print.h"
#include "core/units.h"

/* Rates are of one thread of a Xeon with AVX-512 at the usual level, on complex noise of single
 * precision whose mantissas are rounded to 10 bits. */
static const struct {
    slc_h5_filter_kind kind;
    const char *name;
    int usual, highest; /* levels; 0: it takes none */
    double bytes_per_s; /* of elements; 0: nothing is done */
} kinds[] = {
    {SLC_H5_FILTER_NONE, "none", 0, 0, 0},
    {SLC_H5_FILTER_AS_INPUT, "input", 0, 0, 0},
    {SLC_H5_FILTER_DEFLATE, "deflate", 4, 9, 75e6},
    {SLC_H5_FILTER_ZSTD, "zstd", 3, 22, 0.3e9},
    {SLC_H5_FILTER_BITSHUFFLE_LZ4, "bitshuffle-lz4", 0, 0, 2.3e9},
    {SLC_H5_FILTER_BITSHUFFLE_ZSTD, "bitshuffle-zstd", 1, 22, 0.6e9},
};

enum { N_KINDS = (int)(sizeof kinds / sizeof kinds[0]) };

/* The row of `kinds`; the first one for a number that is no kind. */
static int row_of(slc_h5_filter_kind kind) {
    int k = N_KINDS - 1;
    while (k > 0 && kinds[k].kind != kind) {
        k--;
    }
    return k;
}

slc_status slc_h5_filter_parse(const char *text, slc_h5_filter *out) {
    const size_t n = strcspn(text, ":");
    int k = 0;
    while (k < N_KINDS && (strlen(kinds[k].name) != n || strncmp(kinds[k].name, text, n) != 0)) {
        k++;
    }
    if (k == N_KINDS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%s' is no filter; expected %s", text,
                        SLC_H5_FILTER_WORDS);
    }
    int64_t level = kinds[k].usual;
    if (text[n] == ':' && kinds[k].highest == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%s': %s has no levels", text, kinds[k].name);
    }
    if (text[n] == ':' && slci_parse_integer(text + n + 1, 1, kinds[k].highest, &level) != SLC_OK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%s': expected %s:N with N from 1 to %d", text,
                        kinds[k].name, kinds[k].highest);
    }
    *out = (slc_h5_filter){.kind = kinds[k].kind, .level = (int)level};
    return SLC_OK;
}

int slci_h5_filter_level(const slc_h5_filter *filter) {
    const int usual = kinds[row_of(filter->kind)].usual;
    return filter->level != 0 ? filter->level : usual;
}

slc_status slci_h5_filter_check(const slc_h5_filter *filter) {
    const int k = row_of(filter->kind);
    if (kinds[k].kind != filter->kind) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "filter number %d, expected one of %d kinds",
                        (int)filter->kind, N_KINDS);
    }
    if (filter->level < 0 || filter->level > kinds[k].highest) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "level %d of %s, expected 0 to %d", filter->level,
                        kinds[k].name, kinds[k].highest);
    }
    return SLC_OK;
}

double slc_h5_filter_bytes_per_s(const slc_h5_filter *filter) {
    const int k = row_of(filter->kind);
    /* Measured of deflate and zstd: up to the usual level the time grows about as the level's number,
     * above it as its square. */
    const double share =
        kinds[k].highest > 0 ? (double)kinds[k].usual / slci_h5_filter_level(filter) : 1;
    return kinds[k].bytes_per_s * (share < 1 ? share * share : share);
}

void slc_h5_filter_print(const slc_h5_filter *filter, char text[SLC_H5_FILTER_BYTES]) {
    const int k = row_of(filter->kind);
    const bool has_order =
        filter->kind == SLC_H5_FILTER_DEFLATE || filter->kind == SLC_H5_FILTER_ZSTD;
    char level[16] = "";
    if (kinds[k].highest > 0) {
        (void)slci_print(level, sizeof level, ":%d", slci_h5_filter_level(filter));
    }
    (void)slci_print(text, SLC_H5_FILTER_BYTES, "%s%s%s%s", kinds[k].name, level,
                     has_order && filter->is_unshuffled ? " unshuffled" : "",
                     filter->has_checksum ? " with fletcher32" : "");
}
