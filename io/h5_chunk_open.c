/* When a dataset may be read past HDF5. Every condition that HDF5 would have seen to is asked here; and
 * when all of them hold, a few elements are read both ways and compared, because a wrong value is worse
 * than a slow one. Whatever speaks against it comes back as one clause, and HDF5 reads. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "io/h5_chunk_worker.h"
#include "io/h5_chunks.h"
#include "io/h5_codec.h"
#include "io/h5_filter_list.h"

/* What is read both ways at one place. */
#define TEST_BYTES ((int64_t)64 << 10)

/* Two such chunks are decoded for the test, above that one: HDF5 needs memory for all of it. */
#define TEST_CHUNK_BYTES ((int64_t)64 << 20)

/* ---- the file --------------------------------------------------------------------------------- */

/* The file that HDF5 reads, which is another one where the dataset hangs on an external link. */
static slc_status check_file(const slci_h5_chunks_request *request, struct stat *theirs) {
    const hid_t file = H5Iget_file_id((hid_t)request->dataset);
    const hid_t access = file < 0 ? -1 : H5Fget_access_plist(file);
    unsigned intent = H5F_ACC_RDWR;
    int *descriptor = NULL;
    slc_status status = SLC_OK;
    if (access < 0 || H5Fget_intent(file, &intent) < 0) {
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "HDF5 does not say how its file is open");
    } else if (H5Pget_driver(access) != H5FD_SEC2) {
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "the file is not one plain file");
    } else if (intent != H5F_ACC_RDONLY) {
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "the file is open for more than reading");
    } else if (H5Fget_vfd_handle(file, access, (void **)&descriptor) < 0 || descriptor == NULL ||
               fstat(*descriptor, theirs) != 0) {
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "HDF5 does not say which file it reads");
    }
    if (access >= 0) {
        (void)H5Pclose(access);
    }
    if (file >= 0) {
        (void)H5Fclose(file);
    }
    return status;
}

static slc_status open_file(const slci_h5_chunks_request *request, slci_h5_chunks *chunks,
                            int64_t *file_bytes) {
    struct stat theirs = {0};
    struct stat ours = {0};
    SLC_TRY(check_file(request, &theirs));
    chunks->descriptor = open(request->path, O_RDONLY | O_CLOEXEC);
    if (chunks->descriptor < 0 || fstat(chunks->descriptor, &ours) != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened once more: %s", request->path,
                        strerror(errno));
    }
    if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it lies in another file, behind a link");
    }
    *file_bytes = (int64_t)ours.st_size;
    return SLC_OK;
}

/* ---- the storage ------------------------------------------------------------------------------ */

static slc_status take_filters(hid_t properties, slci_chunk_pipeline *pipeline) {
    char why[SLCI_CHUNK_WHY_BYTES];
    if (!slci_h5_filter_read((slci_h5_id)properties, pipeline)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its filters cannot be read");
    }
    const int n = pipeline->n_filters;
    if (n > SLCI_CHUNK_MAX_FILTERS) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it has %d filters, at most %d can be undone", n,
                        SLCI_CHUNK_MAX_FILTERS);
    }
    return n == 0 || slci_chunk_pipeline_check(pipeline, why, sizeof why)
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s", why);
}

/* Whether the chunk of place `k` is stored as its elements are. */
static bool is_stored_raw(const slci_h5_chunks *chunks, int64_t k) {
    int64_t at[SLC_MAX_RANK];
    bool is_edge = false;
    slci_h5_index_place(chunks->index, k, at);
    for (int d = 0; d < chunks->rank; d++) {
        is_edge = is_edge || (at[d] + 1) * chunks->chunk[d] > chunks->shape[d];
    }
    return chunks->pipeline.n_filters == 0 || (is_edge && chunks->has_raw_edges);
}

/* What each entry must be besides lying in the file: of full size where no filter made it smaller, and
 * with no filter skipped that is not there. */
static slc_status check_entries(const slci_h5_chunks *chunks) {
    const slci_h5_index *index = chunks->index;
    const int n_filters = chunks->pipeline.n_filters;
    for (int64_t k = 0; k < index->n_chunks; k++) {
        if (index->bytes[k] != 0 && (int64_t)index->bytes[k] != chunks->chunk_bytes &&
            is_stored_raw(chunks, k)) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: dataset %s: damaged: chunk %" PRId64 " has %" PRIu32
                            " bytes, expected %" PRId64,
                            chunks->path, chunks->name, k, index->bytes[k], chunks->chunk_bytes);
        }
        if (index->mask[k] >> n_filters != 0) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: dataset %s: damaged: chunk %" PRId64
                            " skipped filters that are not there (mask %" PRIx32 ")",
                            chunks->path, chunks->name, k, index->mask[k]);
        }
    }
    return SLC_OK;
}

static slc_status open_chunks(const slci_h5_chunks_request *request, hid_t properties,
                              int64_t file_bytes, slci_h5_chunks *chunks) {
    unsigned options = 0;
    slci_h5_index_request wanted = {.path = request->path,
                                    .name = request->name,
                                    .dataset = request->dataset,
                                    .descriptor = chunks->descriptor,
                                    .file_bytes = file_bytes,
                                    .rank = request->rank};
    chunks->chunk_bytes = request->element_bytes;
    for (int d = 0; d < request->rank; d++) {
        chunks->chunk[d] = request->chunk[d];
        chunks->chunk_bytes *= request->chunk[d]; /* checked when the dataset was opened */
    }
    chunks->pipeline.chunk_bytes = chunks->chunk_bytes;
    chunks->pipeline.element_bytes = request->element_bytes;
    memcpy(wanted.shape, chunks->shape, sizeof wanted.shape);
    memcpy(wanted.chunk, chunks->chunk, sizeof wanted.chunk);
    SLC_TRY(take_filters(properties, &chunks->pipeline));
    if (H5Pget_chunk_opts(properties, &options) < 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its options for chunks cannot be read");
    }
    chunks->has_raw_edges =
        chunks->pipeline.n_filters > 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
    SLC_TRY(slci_h5_index_create(&wanted, &chunks->index));
    return check_entries(chunks);
}

static slc_status open_contiguous(const slci_h5_chunks_request *request, hid_t properties,
                                  int64_t file_bytes, slci_h5_chunks *chunks) {
    H5D_space_status_t space = H5D_SPACE_STATUS_NOT_ALLOCATED;
    int64_t bytes = request->element_bytes;
    for (int d = 0; d < request->rank; d++) {
        bytes *= request->shape[d]; /* checked when the dataset was opened */
    }
    if (H5Pget_external_count(properties) != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its data lie in external files");
    }
    if (H5Dget_space_status((hid_t)request->dataset, &space) < 0 ||
        space != H5D_SPACE_STATUS_ALLOCATED) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it was never written");
    }
    const haddr_t offset = H5Dget_offset((hid_t)request->dataset);
    if (offset == HADDR_UNDEF || offset > (haddr_t)file_bytes ||
        bytes > file_bytes - (int64_t)offset) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its data reach past the end of the file");
    }
    chunks->offset = (int64_t)offset;
    return SLC_OK;
}

static slc_status take_fill(const slci_h5_chunks_request *request, hid_t properties,
                            slci_h5_chunks *chunks) {
    H5D_fill_value_t kind = H5D_FILL_VALUE_ERROR;
    chunks->fill = calloc(1, (size_t)request->element_bytes);
    if (chunks->fill == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to read it", request->path,
                        request->name);
    }
    if (H5Pfill_value_defined(properties, &kind) < 0 ||
        (kind != H5D_FILL_VALUE_UNDEFINED &&
         H5Pget_fill_value(properties, (hid_t)request->type, chunks->fill) < 0)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its fill value cannot be read");
    }
    return SLC_OK;
}

static slc_status open_storage(const slci_h5_chunks_request *request, int64_t file_bytes,
                               slci_h5_chunks *chunks) {
    const hid_t properties = H5Dget_create_plist((hid_t)request->dataset);
    if (properties < 0) {
        return slci_h5_input_fail(request->path, request->name, "its storage");
    }
    slc_status status = SLC_OK;
    switch (H5Pget_layout(properties)) {
    case H5D_CHUNKED:
        status = open_chunks(request, properties, file_bytes, chunks);
        break;
    case H5D_CONTIGUOUS:
        status = open_contiguous(request, properties, file_bytes, chunks);
        break;
    case H5D_COMPACT:
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it is compact, inside the file's header");
        break;
    default:
        status = SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it is virtual, put together from others");
        break;
    }
    if (status == SLC_OK) {
        status = take_fill(request, properties, chunks);
    }
    (void)H5Pclose(properties);
    return status;
}

/* ---- the test --------------------------------------------------------------------------------- */

/* HDF5's own answer, without a cache, so that nothing of it stays. False where it fails. */
static bool read_by_library(const slci_h5_chunks_request *request, const slci_h5_chunk_box *box,
                            void *out) {
    hsize_t start[SLC_MAX_RANK];
    hsize_t count[SLC_MAX_RANK];
    for (int d = 0; d < request->rank; d++) {
        start[d] = (hsize_t)box->origin[d];
        count[d] = (hsize_t)box->extent[d];
    }
    const hid_t file = H5Iget_file_id((hid_t)request->dataset);
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    const hid_t space = H5Dget_space((hid_t)request->dataset);
    const hid_t memory = H5Screate_simple(request->rank, count, NULL);
    hid_t dataset = -1;
    if (file >= 0 && access >= 0 && H5Pset_chunk_cache(access, 0, 0, 1.0) >= 0) {
        dataset = H5Dopen2(file, request->name, access);
    }
    const bool is_read =
        dataset >= 0 && space >= 0 && memory >= 0 &&
        (request->rank == 0 ||
         H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
        H5Dread(dataset, (hid_t)request->type, memory, space, H5P_DEFAULT, out) >= 0;
    const hid_t open[] = {dataset, memory, space, file};
    for (size_t k = 0; k < sizeof open / sizeof open[0]; k++) {
        if (open[k] >= 0) {
            (void)H5Idec_ref(open[k]);
        }
    }
    if (access >= 0) {
        (void)H5Pclose(access);
    }
    (void)H5Eclear2(H5E_DEFAULT);
    return is_read;
}

/* The end of the run of elements from `begin` to `end` [rank] that the test's bytes hold. */
static void choose_box(const slci_h5_chunks *chunks, const int64_t *begin, const int64_t *end,
                       int64_t *origin, int64_t *extent) {
    int64_t room = slc_max_i64(TEST_BYTES / chunks->element_bytes, 1);
    for (int d = chunks->rank - 1; d >= 0; d--) {
        extent[d] = slc_max_i64(slc_min_i64(end[d] - begin[d], room), 1);
        origin[d] = end[d] - extent[d];
        room /= extent[d];
    }
}

/* Sluice reads first: HDF5 trusts a chunk to have its full size once decoded, and reads past its own
 * memory where one has less, so a chunk that was refused here is not shown to it. */
static slc_status compare(const slci_h5_chunks_request *request, slci_h5_chunks *chunks,
                          const int64_t *begin, const int64_t *end) {
    int64_t origin[SLC_MAX_RANK];
    int64_t extent[SLC_MAX_RANK];
    int64_t bytes = chunks->element_bytes;
    choose_box(chunks, begin, end, origin, extent);
    for (int d = 0; d < chunks->rank; d++) {
        bytes *= extent[d];
    }
    unsigned char *theirs = calloc(2, (size_t)bytes);
    if (theirs == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to read it", request->path,
                        request->name);
    }
    unsigned char *const ours = theirs + bytes;
    slci_h5_chunk_counts counts = {0};
    const slci_h5_chunk_box box = {.origin = origin, .extent = extent, .dst = ours};
    const slc_status status = slci_h5_chunks_read(chunks, &box, &counts);
    if (status == SLC_ERROR_INPUT && !counts.has_io_failed) {
        free(theirs);
        return SLC_OK; /* damaged: it will be said by who reads it */
    }
    const bool library_can = read_by_library(request, &box, theirs);
    const bool is_same = memcmp(ours, theirs, (size_t)bytes) == 0;
    free(theirs);
    if (status == SLC_ERROR_MEMORY || (status != SLC_OK && counts.has_io_failed && library_can)) {
        return status;
    }
    if (!library_can && slci_h5_codec_lacks_memory()) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to decode a chunk",
                        request->path, request->name);
    }
    if (!library_can && status != SLC_OK) {
        return SLC_OK; /* damaged: it will be said better by who reads it */
    }
    if (!library_can) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s: HDF5 cannot read it", request->path,
                        request->name);
    }
    return status == SLC_OK && is_same
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_UNSUPPORTED, "HDF5 reads other values than Sluice's decoder");
}

/* The first stored chunk and the last one, or the end of contiguous data. */
static slc_status test_chunks(const slci_h5_chunks_request *request, slci_h5_chunks *chunks) {
    const int64_t zero[SLC_MAX_RANK] = {0};
    if (chunks->index == NULL) {
        return compare(request, chunks, zero, chunks->shape);
    }
    const slci_h5_index *index = chunks->index;
    int64_t first = 0;
    int64_t last = index->n_chunks - 1;
    while (first < index->n_chunks && index->bytes[first] == 0) {
        first++;
    }
    while (last > first && index->bytes[last] == 0) {
        last--;
    }
    const int64_t place[2] = {first, last};
    const int n = first == last || chunks->chunk_bytes > TEST_CHUNK_BYTES ? 1 : 2;
    for (int k = 0; k < n && first < index->n_chunks; k++) {
        int64_t begin[SLC_MAX_RANK];
        int64_t end[SLC_MAX_RANK];
        int64_t left = place[k];
        for (int d = chunks->rank - 1; d >= 0; d--) {
            begin[d] = left % index->grid[d] * chunks->chunk[d];
            end[d] = slc_min_i64(begin[d] + chunks->chunk[d], chunks->shape[d]);
            left /= index->grid[d];
        }
        SLC_TRY(compare(request, chunks, begin, end));
    }
    return SLC_OK;
}

/* ---- all of it -------------------------------------------------------------------------------- */

static slc_status make(const slci_h5_chunks_request *request, slci_h5_chunks *chunks) {
    int64_t file_bytes = 0;
    int64_t n = 1;
    chunks->path = strdup(request->path);
    chunks->name = strdup(request->name);
    if (chunks->path == NULL || chunks->name == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to read it", request->path,
                        request->name);
    }
    if ((int64_t)H5Tget_size((hid_t)request->type) != request->element_bytes) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "its elements have gaps");
    }
    for (int d = 0; d < request->rank; d++) {
        chunks->shape[d] = request->shape[d];
        n *= request->shape[d];
    }
    if (n == 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it has no elements");
    }
    SLC_TRY(open_file(request, chunks, &file_bytes));
    SLC_TRY(open_storage(request, file_bytes, chunks));
    return test_chunks(request, chunks);
}

slc_status slci_h5_chunks_create(const slci_h5_chunks_request *request, slci_h5_chunks **out) {
    slci_h5_chunks *chunks = calloc(1, sizeof *chunks);
    if (chunks == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to read it", request->path,
                        request->name);
    }
    chunks->descriptor = -1;
    chunks->rank = request->rank;
    chunks->element_bytes = request->element_bytes;
    chunks->turn = request->turn;
    (void)pthread_mutex_init(&chunks->mutex, NULL);
    const slc_status status = make(request, chunks);
    if (status != SLC_OK) {
        slci_h5_chunks_destroy(chunks);
        return status;
    }
    *out = chunks;
    return SLC_OK;
}
