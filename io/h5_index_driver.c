/* Finds chunks with HDF5's own lookup, which is fast, though no call of HDF5 1.10 gives its answer.
 * H5Dread_chunk looks one chunk up, says which filters it skipped, and asks the file driver for the
 * stored bytes. The driver here notes where and how many, and gives none: so each chunk costs under a
 * microsecond, and its bytes are not fetched.
 *
 *     H5Dread_chunk ──▶ HDF5's index ──▶ read(address, bytes) ──▶ noted, nothing is read
 *
 * Everything else that HDF5 reads, above all the index itself, the driver really reads. Addresses that
 * a driver is given count from the first byte of the file, whatever a user block adds. */
#include <hdf5.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/h5_index.h"

/* What the driver is told, and what it saw while it listened. */
typedef struct listener {
    int descriptor;
    int64_t file_bytes;
    bool is_listening, lacks_memory;
    int n_reads;
    haddr_t offset;
    size_t bytes;
} listener;

/* What HDF5 copies from the access list. */
typedef struct driver_info {
    listener *ear;
} driver_info;

/* A file of the driver. HDF5's part comes first. */
typedef struct driver_file {
    H5FD_t base;
    haddr_t end_of_addresses;
    listener *ear;
} driver_file;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t max_address) {
    (void)name; /* the file is open already: this is the very one that is read from */
    (void)flags;
    (void)max_address;
    const driver_info *info = H5Pget_driver_info(access);
    if (info == NULL) {
        return NULL;
    }
    driver_file *file = H5allocate_memory(sizeof *file, true);
    if (file == NULL) {
        info->ear->lacks_memory = true;
        return NULL;
    }
    file->ear = info->ear;
    return (H5FD_t *)file;
}

static herr_t driver_close(H5FD_t *file) {
    (void)H5free_memory(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags) {
    (void)file;
    *flags = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)file)->end_of_addresses;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((driver_file *)file)->end_of_addresses = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return (haddr_t)((const driver_file *)file)->ear->file_bytes;
}

/* Past the end there are zeros, as HDF5's own driver has them: its first look at a file is longer than
 * a small file. */
static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t bytes, void *out) {
    (void)transfer;
    listener *ear = ((driver_file *)file)->ear;
    if (ear->is_listening && type == H5FD_MEM_DRAW) {
        ear->n_reads++;
        ear->offset = address;
        ear->bytes = bytes;
        return 0;
    }
    const int64_t n = slci_read_at(ear->descriptor, out, (int64_t)bytes, (int64_t)address);
    if (n < 0) {
        return -1;
    }
    memset((char *)out + n, 0, bytes - (size_t)n);
    return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t bytes, const void *from) {
    (void)file, (void)type, (void)transfer, (void)address, (void)bytes, (void)from;
    return -1; /* the file is open for reading */
}

static const H5FD_class_t driver = {
    .name = "sluice_index",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(driver_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* ---- listening -------------------------------------------------------------------------------- */

/* Goes on to the next place of the grid, in C order. */
static void step(const slci_h5_index_request *request, const slci_h5_index *index, int64_t *at,
                 hsize_t *element) {
    for (int d = request->rank - 1; d >= 0; d--) {
        at[d]++;
        if (at[d] < index->grid[d]) {
            element[d] = (hsize_t)(at[d] * request->chunk[d]);
            return;
        }
        at[d] = 0;
        element[d] = 0;
    }
}

/* Looks every place up. A place that HDF5 has no chunk for and one that it cannot look up both fail;
 * who counts the chunks afterwards knows which it was. */
static slc_status listen_to(const slci_h5_index_request *request, slci_h5_index *index,
                            hid_t dataset, listener *ear) {
    int64_t at[SLC_MAX_RANK] = {0};
    hsize_t element[SLC_MAX_RANK] = {0};
    char nothing[64];
    for (int64_t k = 0; k < index->n_chunks; k++) {
        uint32_t mask = 0;
        ear->n_reads = 0;
        ear->is_listening = true;
        const herr_t result = H5Dread_chunk(dataset, H5P_DEFAULT, element, &mask, nothing);
        ear->is_listening = false;
        if (result >= 0) {
            const slci_h5_index_entry entry = {.offset = (uint64_t)ear->offset,
                                               .bytes = ear->n_reads == 1 ? ear->bytes : 0,
                                               .mask = mask};
            SLC_TRY(slci_h5_index_enter(request, index, k, &entry));
        }
        step(request, index, at, element);
    }
    return SLC_OK;
}

/* The same file once more, by the driver. -1 on failure; the caller closes. */
static hid_t open_again(const slci_h5_index_request *request, listener *ear) {
    const driver_info info = {ear};
    const hid_t driver_id = H5FDregister(&driver);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (driver_id >= 0 && access >= 0 && H5Pset_driver(access, driver_id, &info) >= 0) {
        file = H5Fopen(request->path, H5F_ACC_RDONLY, access);
    }
    if (access >= 0) {
        (void)H5Pclose(access);
    }
    if (driver_id >= 0) {
        (void)H5FDunregister(driver_id); /* lives on until the file is closed */
    }
    return file;
}

/* Whether any chunk is stored: of a dataset that was never written no place need be looked up. */
static bool is_written(const slci_h5_index_request *request) {
    H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
    return H5Dget_space_status((hid_t)request->dataset, &status) < 0 ||
           status != H5D_SPACE_STATUS_NOT_ALLOCATED;
}

slc_status slci_h5_index_fill(const slci_h5_index_request *request, slci_h5_index *index) {
    if (index->n_chunks == 0 || !is_written(request)) {
        return SLC_OK;
    }
    listener ear = {.descriptor = request->descriptor, .file_bytes = request->file_bytes};
    const hid_t file = open_again(request, &ear);
    const hid_t dataset = file < 0 ? -1 : H5Dopen2(file, request->name, H5P_DEFAULT);
    slc_status status = SLC_OK;
    if (dataset < 0 && ear.lacks_memory) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to look its chunks up",
                          request->path, request->name);
    } else if (dataset < 0) {
        char text[256];
        slci_h5_error_text(text, sizeof text);
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: dataset %s: its chunks cannot be looked up: %s",
                          request->path, request->name, text);
    } else {
        status = listen_to(request, index, dataset, &ear);
    }
    if (dataset >= 0) {
        (void)H5Dclose(dataset);
    }
    if (file >= 0) {
        (void)H5Fclose(file);
    }
    (void)H5Eclear2(H5E_DEFAULT);
    return status;
}
