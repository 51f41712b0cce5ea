/* Whether a dataset can be decoded here, asked before any work: HDF5's own complaint about a missing
 * filter names the wrong plugin, and it reads a virtual dataset without its source files as fill
 * values, silently. */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "io/h5_beside.h"
#include "io/h5_data.h"
#include "io/h5_object_check.h"
#include "io/h5_reason.h"

#define MAX_FILTER_VALUES 16

/* The HDF Group's register of filters, those met in the field. */
static const struct {
    int id;
    const char *name, *package;
} known_filters[] = {
    {SLCI_FILTER_DEFLATE, "deflate", NULL},
    {SLCI_FILTER_SHUFFLE, "shuffle", NULL},
    {SLCI_FILTER_FLETCHER32, "fletcher32", NULL},
    {SLCI_FILTER_SZIP, "szip", NULL},
    {5, "nbit", NULL},
    {6, "scaleoffset", NULL},
    {305, "lzo", NULL},
    {307, "bzip2", "hdf5-filter-plugin"},
    {SLCI_FILTER_LZF, "lzf", NULL},
    {SLCI_FILTER_BLOSC, "blosc", "hdf5-filter-plugin-blosc-serial"},
    {SLCI_FILTER_LZ4, "lz4", "hdf5-filter-plugin"},
    {SLCI_FILTER_BITSHUFFLE, "bitshuffle", NULL},
    {32013, "zfp", "hdf5-filter-plugin-zfp-serial"},
    {SLCI_FILTER_ZSTD, "zstd", NULL},
    {32017, "sz", NULL},
    {32026, "blosc2", NULL},
};

static const char *package_of(int id) {
    for (size_t k = 0; k < sizeof known_filters / sizeof known_filters[0]; k++) {
        if (known_filters[k].id == id) {
            return known_filters[k].package;
        }
    }
    return NULL;
}

/* The registered name, or what the file calls it, or "unknown". */
static const char *name_of(int id, const char *name_in_file) {
    for (size_t k = 0; k < sizeof known_filters / sizeof known_filters[0]; k++) {
        if (known_filters[k].id == id) {
            return known_filters[k].name;
        }
    }
    return name_in_file[0] != '\0' ? name_in_file : "unknown";
}

static slc_status refuse_filter(const slci_h5_dataset *dataset, int id, const char *name) {
    const char *plugins = getenv("HDF5_PLUGIN_PATH");
    char built_in[256] = "";
    if (plugins == NULL && H5PLget(0, built_in, sizeof built_in) > 0) {
        plugins = built_in;
    }
    const char *package = package_of(id);
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: dataset %s needs filter %d (%s), not available; HDF5_PLUGIN_PATH=%s%s%s",
                    dataset->path, dataset->name, id, name, plugins == NULL ? "" : plugins,
                    package == NULL ? "" : "; install the package ",
                    package == NULL ? "" : package);
}

/* All chunks that one dataset's codec decodes must have one size, because a filter is not told which
 * chunk it has before it; the sources of a virtual dataset may differ. */
static slc_status expect_bytes(slci_h5_dataset *dataset, int filter, int64_t bytes) {
    const slci_h5_codec codec = slci_h5_codec_of(filter);
    if (codec == SLCI_H5_CODECS) {
        return SLC_OK;
    }
    if (dataset->codec_bytes[codec] != 0 && dataset->codec_bytes[codec] != bytes) {
        return SLC_FAIL(
            SLC_ERROR_UNSUPPORTED,
            "%s: dataset %s: parts compressed with filter %d in chunks of %lld and %lld "
            "bytes: not supported; give the source files instead",
            dataset->path, dataset->name, filter, (long long)dataset->codec_bytes[codec],
            (long long)bytes);
    }
    dataset->codec_bytes[codec] = bytes;
    return SLC_OK;
}

/* Goes through the filters in the order of writing. `chunk_bytes` is what the first one is given. */
static slc_status check_filters(slci_h5_dataset *dataset, hid_t properties, int64_t chunk_bytes) {
    const int n = H5Pget_nfilters(properties);
    size_t used = 0;
    bool is_size_known = chunk_bytes > 0;
    if (n < 0) {
        return slci_h5_input_fail(dataset->path, dataset->name, "the number of its filters");
    }
    for (int k = 0; k < n; k++) {
        unsigned flags = 0;
        unsigned values[MAX_FILTER_VALUES] = {0};
        size_t n_values = MAX_FILTER_VALUES;
        unsigned config = 0;
        char stored_name[64] = "";
        const int id = (int)H5Pget_filter2(properties, (unsigned)k, &flags, &n_values, values,
                                           sizeof stored_name, stored_name, &config);
        if (id < 0) {
            return SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s: filter %d cannot be read",
                            dataset->path, dataset->name, k);
        }
        const char *name = name_of(id, stored_name);
        if (H5Zfilter_avail((H5Z_filter_t)id) <= 0) {
            return refuse_filter(dataset, id, name);
        }
        if (id == SLCI_FILTER_BITSHUFFLE && n_values > SLCI_BITSHUFFLE_MODE &&
            values[SLCI_BITSHUFFLE_MODE] != SLCI_BITSHUFFLE_BARE &&
            values[SLCI_BITSHUFFLE_MODE] != SLCI_BITSHUFFLE_LZ4 &&
            values[SLCI_BITSHUFFLE_MODE] != SLCI_BITSHUFFLE_ZSTD) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                            "%s: dataset %s: bitshuffle (filter %d) with the compression %u is "
                            "not known; 0 (none), 2 (LZ4) and 3 (zstd) are",
                            dataset->path, dataset->name, id, values[SLCI_BITSHUFFLE_MODE]);
        }
        SLC_TRY(expect_bytes(dataset, id, is_size_known ? chunk_bytes : 0));
        chunk_bytes += id == SLCI_FILTER_FLETCHER32 ? 4 : 0;
        is_size_known =
            is_size_known && (id == SLCI_FILTER_FLETCHER32 || id == SLCI_FILTER_SHUFFLE);
        if (used < sizeof dataset->filters) {
            used += (size_t)snprintf(dataset->filters + used, sizeof dataset->filters - used,
                                     "%s%s (%d)", k > 0 ? ", " : "", name, id);
        }
    }
    dataset->is_filtered = n > 0;
    return SLC_OK;
}

/* Whether a raw file has the bytes that are the dataset's; HDF5 reads what is not there as zeros,
 * silently. What is no regular file does not say how many it has. */
static slc_status check_raw_bytes(const slci_h5_dataset *dataset, const char *path, off_t offset,
                                  hsize_t bytes) {
    struct stat found;
    if (stat(path, &found) != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s: the size of the file %s is not known: %s",
                        dataset->path, dataset->name, path, strerror(errno));
    }
    if (bytes == 0 || !S_ISREG(found.st_mode) ||
        (found.st_size >= offset && (hsize_t)(found.st_size - offset) >= bytes)) {
        return SLC_OK;
    }
    return SLC_FAIL(
        SLC_ERROR_INPUT,
        "%s: dataset %s keeps %llu bytes in the file %s from its byte %lld on, but that "
        "has %lld: damaged data; copy that file again",
        dataset->path, dataset->name, (unsigned long long)bytes, path, (long long)offset,
        (long long)found.st_size);
}

/* The raw files of a dataset, or of a source of a virtual one, each of which holds the bytes that
 * follow those of the one before it. */
static slc_status check_external(const slci_h5_dataset *dataset, hid_t set, hid_t properties) {
    const int n = H5Pget_external_count(properties);
    if (n < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: dataset %s: which files its data is in cannot be read", dataset->path,
                        dataset->name);
    }
    hsize_t left = n > 0 && !dataset->is_null ? H5Dget_storage_size(set) : 0;
    for (int k = 0; k < n; k++) {
        char name[SLC_PATH_BYTES] = ""; /* HDF5 ends no name that fills its room */
        char path[SLC_PATH_BYTES] = "";
        off_t offset = 0;
        hsize_t bytes = 0;
        if (H5Pget_external(properties, (unsigned)k, sizeof name - 1, name, &offset, &bytes) < 0 ||
            !slci_h5_raw_file(set, name, path) || access(path, R_OK) != 0) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: dataset %s keeps its data in the file %s, which cannot be read "
                            "from the current folder; HDF5_EXTFILE_PREFIX names another one",
                            dataset->path, dataset->name, path[0] != '\0' ? path : name);
        }
        const hsize_t here = bytes < left ? bytes : left; /* H5F_UNLIMITED is the largest */
        SLC_TRY(check_raw_bytes(dataset, path, offset, here));
        left -= here;
    }
    return SLC_OK;
}

/* Decoded bytes of a chunk; 0 where there are no chunks or their size is impossible. */
static int64_t source_chunk_bytes(hid_t source, hid_t properties) {
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = H5Pget_layout(properties) == H5D_CHUNKED
                         ? H5Pget_chunk(properties, H5S_MAX_RANK, chunk)
                         : 0;
    const hid_t type = H5Dget_type(source);
    int64_t bytes = type < 0 || rank < 1 ? 0 : (int64_t)H5Tget_size(type);
    for (int d = 0; d < rank; d++) {
        bytes = slc_checked_mul(bytes, (int64_t)chunk[d], &bytes) ? bytes : 0;
    }
    if (type >= 0) {
        (void)H5Tclose(type);
    }
    return bytes;
}

/* What a virtual dataset names. */
typedef struct virtual_source {
    char file[SLC_PATH_BYTES], set[SLC_PATH_BYTES];
} virtual_source;

static bool read_virtual_source(hid_t properties, size_t index, virtual_source *out) {
    const ssize_t n_file = H5Pget_virtual_filename(properties, index, out->file, sizeof out->file);
    const ssize_t n_set = H5Pget_virtual_dsetname(properties, index, out->set, sizeof out->set);
    return n_file >= 0 && n_file < (ssize_t)sizeof out->file && n_set >= 0 &&
           n_set < (ssize_t)sizeof out->set;
}

/* `why`: why the source, or its file, cannot be opened. */
static slc_status virtual_fail(const slci_h5_dataset *dataset, const virtual_source *source,
                               const char *which, const char *why) {
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: virtual dataset %s needs %s in the file %s, which %s%s",
                    dataset->path, dataset->name, source->set, source->file, which, why);
}

/* With the file open, or negative. */
static slc_status open_virtual_source(const slci_h5_dataset *dataset, const virtual_source *source,
                                      hid_t file, const char *why, hid_t *out) {
    char text[SLCI_H5_REASON_BYTES];
    if (file < 0) {
        return virtual_fail(dataset, source,
                            why[0] != '\0' ? "cannot be opened: "
                                           : "is not there; put it beside the file",
                            why);
    }
    const bool is_absent = slci_h5_object_check_way(file, source->set) &&
                           H5Oexists_by_name(file, source->set, H5P_DEFAULT) <= 0 &&
                           !slci_h5_lacks_memory(); /* a name without a link fails */
    const bool is_sound = !is_absent && slci_h5_object_check(file, source->set);
    *out = is_sound ? H5Dopen2(file, source->set, H5P_DEFAULT) : -1;
    if (*out >= 0) {
        return SLC_OK;
    }
    if (is_absent) {
        return virtual_fail(dataset, source, "has no such dataset", "");
    }
    if (slci_h5_lacks_memory()) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: virtual dataset %s: no memory to open its sources",
                        dataset->path, dataset->name);
    }
    slci_h5_error_text(text, sizeof text);
    return virtual_fail(dataset, source, "cannot be read: ", text);
}

static slc_status check_source_storage(slci_h5_dataset *dataset, const virtual_source *names,
                                       hid_t source) {
    const hid_t properties = H5Dget_create_plist(source);
    slc_status status = SLC_OK;
    if (properties < 0) {
        status = virtual_fail(dataset, names, "does not say how that is stored", "");
    } else if (H5Pget_layout(properties) == H5D_VIRTUAL) {
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                          "%s: virtual dataset %s has a virtual source (%s in %s): not supported",
                          dataset->path, dataset->name, names->set, names->file);
    } else {
        status = check_external(dataset, source, properties);
        if (status == SLC_OK) {
            status = check_filters(dataset, properties, source_chunk_bytes(source, properties));
        }
    }
    if (properties >= 0) {
        (void)H5Pclose(properties);
    }
    return status;
}

/* Checks one source of a virtual dataset: that it is there and that its filters are. */
static slc_status check_virtual_source(slci_h5_dataset *dataset, hid_t properties, size_t index) {
    virtual_source names;
    char why[SLCI_H5_BESIDE_WHY_BYTES];
    hid_t source = -1;
    if (!read_virtual_source(properties, index, &names)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: virtual dataset %s: source %d cannot be read",
                        dataset->path, dataset->name, (int)index);
    }
    if (strstr(names.file, "%b") != NULL || strstr(names.set, "%b") != NULL) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: virtual dataset %s has its sources by a pattern (%s in %s): not "
                        "supported; give the source files instead",
                        dataset->path, dataset->name, names.set, names.file);
    }
    const hid_t file = (hid_t)slci_h5_open_source(dataset->id, names.file, why);
    slc_status status = open_virtual_source(dataset, &names, file, why, &source);
    if (status == SLC_OK) {
        status = check_source_storage(dataset, &names, source);
    }
    if (source >= 0) {
        (void)H5Dclose(source);
    }
    if (file >= 0) {
        (void)H5Fclose(file);
    }
    return status;
}

static slc_status check_virtual(slci_h5_dataset *dataset, hid_t properties) {
    size_t n = 0;
    if (H5Pget_virtual_count(properties, &n) < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: virtual dataset %s has no sources", dataset->path,
                        dataset->name);
    }
    for (size_t k = 0; k < n; k++) {
        SLC_TRY(check_virtual_source(dataset, properties, k));
    }
    return SLC_OK;
}

/* HDF5 makes no chunk larger than a dimension that cannot grow, but reads past the end of one that a
 * damaged header makes larger than what is stored. */
static slc_status check_chunk(slci_h5_dataset *dataset, hid_t list, int64_t *chunk_bytes) {
    hsize_t chunk[SLC_MAX_RANK] = {0};
    hsize_t limits[SLC_MAX_RANK] = {0};
    const hid_t space = H5Dget_space((hid_t)dataset->id);
    const bool is_read = space >= 0 &&
                         H5Sget_simple_extent_dims(space, NULL, limits) == dataset->rank &&
                         H5Pget_chunk(list, dataset->rank, chunk) == dataset->rank;
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    *chunk_bytes = dataset->type.bytes;
    bool is_possible = is_read;
    for (int d = 0; d < dataset->rank && is_possible; d++) {
        dataset->chunk[d] = (int64_t)chunk[d];
        /* Of a dimension without elements any chunk may be. */
        const bool has_limit = limits[d] != H5S_UNLIMITED && limits[d] != 0;
        is_possible = chunk[d] > 0 && (!has_limit || chunk[d] <= limits[d]) &&
                      slc_checked_mul(*chunk_bytes, (int64_t)chunk[d], chunk_bytes) &&
                      *chunk_bytes <= SLCI_CHUNK_MAX_BYTES;
    }
    return is_possible
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: dataset %s: the chunks have an impossible shape: damaged data",
                          dataset->path, dataset->name);
}

/* Of elements that stand in the header HDF5 reads as many as the shape says, past the end of those that
 * are there. */
static slc_status check_compact(const slci_h5_dataset *dataset) {
    int64_t bytes = dataset->type.bytes;
    for (int d = 0; d < dataset->rank; d++) {
        bytes *= dataset->shape[d]; /* checked with the shape */
    }
    const hsize_t stored = H5Dget_storage_size((hid_t)dataset->id);
    return dataset->is_null || stored >= (hsize_t)bytes
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: dataset %s: %llu bytes are stored in place of %lld: damaged data",
                          dataset->path, dataset->name, (unsigned long long)stored,
                          (long long)bytes);
}

/* Elements in one piece, where they have been written: whether that piece is as large as the shape says
 * and within the file. One with chunks may be of any shape, with few of them stored. */
static slc_status check_contiguous(const slci_h5_dataset *dataset, hid_t list) {
    const hid_t set = (hid_t)dataset->id;
    const hid_t file = H5Iget_file_id(set);
    H5D_space_status_t state = H5D_SPACE_STATUS_ERROR;
    hsize_t file_bytes = 0;
    int64_t bytes = dataset->type.bytes;
    for (int d = 0; d < dataset->rank; d++) {
        bytes *= dataset->shape[d]; /* checked with the shape */
    }
    const bool is_known = H5Pget_external_count(list) == 0 && file >= 0 &&
                          H5Fget_filesize(file, &file_bytes) >= 0 &&
                          H5Dget_space_status(set, &state) >= 0;
    const haddr_t begin = H5Dget_offset(set);
    const hsize_t stored = H5Dget_storage_size(set);
    (void)H5Fclose(file);
    if (!is_known || dataset->is_null || bytes == 0 || state != H5D_SPACE_STATUS_ALLOCATED) {
        return SLC_OK;
    }
    if (stored < (hsize_t)bytes || begin > file_bytes || (hsize_t)bytes > file_bytes - begin) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: dataset %s: %lld bytes by its shape, but %llu are stored, at byte "
                        "%llu of a file of %llu: damaged data; copy the file again",
                        dataset->path, dataset->name, (long long)bytes, (unsigned long long)stored,
                        (unsigned long long)begin, (unsigned long long)file_bytes);
    }
    return SLC_OK;
}

slc_status slci_h5_check_storage(slci_h5_dataset *dataset, slci_h5_id properties) {
    const hid_t list = (hid_t)properties;
    int64_t chunk_bytes = 0;
    switch (H5Pget_layout(list)) {
    case H5D_VIRTUAL:
        return check_virtual(dataset, list);
    case H5D_CHUNKED:
        SLC_TRY(check_chunk(dataset, list, &chunk_bytes));
        break;
    case H5D_COMPACT:
        SLC_TRY(check_compact(dataset));
        break;
    default:
        SLC_TRY(check_external(dataset, (hid_t)dataset->id, list));
        SLC_TRY(check_contiguous(dataset, list));
        break;
    }
    return check_filters(dataset, list, chunk_bytes);
}
