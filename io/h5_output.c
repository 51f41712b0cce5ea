/* The driver under every HDF5 file that Sluice writes: pwrite, with the first error kept.
 *
 * HDF5 asks a driver to read, write, and keep two numbers: the end of what HDF5 has allocated (eoa)
 * and the end of what the file holds (eof). Reads past the end, and all reads after an error, give
 * zeros: HDF5 only reads back metadata of its own, and whatever it makes of zeros, nothing but an
 * error code comes of it. The file under construction has a private name, so nothing is locked. */
#include "io/h5_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "io/h5_attributes.h"
#include "io/h5_file.h"
#include "io/h5_reason.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* Longer than any name that Sluice gives an object. */
#define MOST_NAME_BYTES 512

struct slci_h5_output {
    int fd;
    hid_t driver;
    hid_t file;
    int error_number;        /* the first write that failed; 0: none */
    uint64_t error_position; /* where */
    char *name;              /* for messages */
};

/* HDF5's view of the open file. The first member is HDF5's. */
typedef struct driver_file {
    H5FD_t base;
    slci_h5_output *output;
    haddr_t eoa, eof;
} driver_file;

/* What travels through the access list from create to the driver's open. */
typedef struct driver_info {
    slci_h5_output *output;
} driver_info;

static void keep_error(slci_h5_output *output, uint64_t position) {
    if (output->error_number == 0) {
        output->error_number = errno != 0 ? errno : EIO;
        output->error_position = position;
    }
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t max_address) {
    (void)name;
    (void)flags;
    (void)max_address;
    const driver_info *const info = (const driver_info *)H5Pget_driver_info(access);
    driver_file *const file = (driver_file *)calloc(1, sizeof *file);
    if (file == NULL || info == NULL) {
        if (info != NULL) {
            info->output->error_number = ENOMEM;
        }
        free(file);
        return NULL;
    }
    file->output = info->output;
    return &file->base;
}

static herr_t driver_close(H5FD_t *base) {
    free(base);
    return 0;
}

static herr_t driver_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    /* Small writes of metadata are gathered; the file can be opened by the default driver. */
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)base)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((driver_file *)base)->eoa = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)base)->eof;
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t n_bytes, void *buffer) {
    (void)type;
    (void)transfer;
    const driver_file *const file = (const driver_file *)base;
    int64_t n_read = 0;
    if (file->output->error_number == 0) {
        n_read = slci_read_at(file->output->fd, buffer, (int64_t)n_bytes, (int64_t)address);
    }
    if (n_read < 0) {
        keep_error(file->output, address);
        n_read = 0;
    }
    memset((char *)buffer + n_read, 0, n_bytes - (size_t)n_read);
    return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t n_bytes, const void *buffer) {
    (void)type;
    (void)transfer;
    driver_file *const file = (driver_file *)base;
    const char *at = (const char *)buffer;
    if (address + n_bytes > file->eof) {
        file->eof = address + n_bytes;
    }
    while (n_bytes > 0 && file->output->error_number == 0) {
        errno = 0;
        const ssize_t n = pwrite(file->output->fd, at, n_bytes, (off_t)address);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            keep_error(file->output, address);
            break;
        }
        at += n;
        address += (haddr_t)n;
        n_bytes -= (size_t)n;
    }
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t transfer, hbool_t is_closing) {
    (void)transfer;
    (void)is_closing;
    driver_file *const file = (driver_file *)base;
    if (file->eoa != file->eof) {
        if (file->output->error_number == 0 && ftruncate(file->output->fd, (off_t)file->eoa) != 0) {
            keep_error(file->output, file->eoa);
        }
        file->eof = file->eoa;
    }
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)512,
#endif
    .name = "sluice_output",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(driver_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t slci_h5_plist(hid_t class_id) {
    const hid_t list = H5Pcreate(class_id);
    if (list >= 0 && H5Pset_obj_track_times(list, 0) < 0) {
        (void)H5Pclose(list);
        return -1;
    }
    return list;
}

hid_t slci_h5_string_type(size_t n_bytes) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, n_bytes) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

/* The file inside the descriptor. Negative on failure. */
static hid_t create_file(slci_h5_output *output, const char *path) {
    const driver_info info = {output};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t creation = slci_h5_plist(H5P_FILE_CREATE);
    hid_t file = -1;
    if (access >= 0 && creation >= 0 && H5Pset_driver(access, output->driver, &info) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0 &&
        H5Pset_alignment(access, SLCI_H5_ALIGNED_FROM_BYTES, SLCI_H5_ALIGNMENT_BYTES) >= 0) {
        file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    }
    (void)H5Pclose(access);
    (void)H5Pclose(creation);
    return file;
}

slc_status slci_h5_output_create(const char *path, const char *name, slci_h5_output **out) {
    slci_h5_output *const output = (slci_h5_output *)calloc(1, sizeof *output);
    if (output == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to write %s", name);
    }
    output->fd = -1;
    output->driver = -1;
    output->file = -1;
    slc_status status = SLC_OK;
    output->name = strdup(name);
    if (output->name == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory to write %s", name);
        goto done;
    }
    output->fd = open(path, O_RDWR | O_CLOEXEC);
    if (output->fd < 0) {
        status =
            SLC_FAIL(SLC_ERROR_OUTPUT, "cannot open %s for writing: %s", path, strerror(errno));
        goto done;
    }
    output->driver = H5FDregister(&driver_class);
    if (output->driver >= 0) {
        output->file = create_file(output, path);
    }
    if (output->file < 0) {
        status = output->error_number == ENOMEM
                     ? SLC_FAIL(SLC_ERROR_MEMORY, "no memory to write %s", name)
                     : SLC_FAIL(SLC_ERROR_OUTPUT, "HDF5 cannot make a file of %s", name);
    }
done:
    if (status != SLC_OK) {
        slci_h5_output_destroy(output);
        return status;
    }
    *out = output;
    return SLC_OK;
}

hid_t slci_h5_output_file(const slci_h5_output *output) {
    return output->file;
}

bool slci_h5_output_make_groups(const slci_h5_output *output, const char *name) {
    bool is_ok = true;
    for (const char *slash = strchr(name + 1, '/'); slash != NULL && is_ok;
         slash = strchr(slash + 1, '/')) {
        char group[MOST_NAME_BYTES];
        const int n = snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
        const htri_t is_there =
            n >= MOST_NAME_BYTES ? -1 : H5Lexists(output->file, group, H5P_DEFAULT);
        if (is_there == 0) {
            const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
            const hid_t made =
                list < 0 ? -1 : H5Gcreate2(output->file, group, H5P_DEFAULT, list, H5P_DEFAULT);
            const hid_t reason = slci_h5_reason_keep(made >= 0);
            (void)H5Gclose(made);
            (void)H5Pclose(list);
            slci_h5_reason_restore(reason);
            is_ok = made >= 0;
        }
        is_ok = is_ok && is_there >= 0;
    }
    return is_ok;
}

slc_status slci_h5_output_status(const slci_h5_output *output) {
    if (output->error_number == 0) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s at byte %llu: %s", output->name,
                    (unsigned long long)output->error_position, strerror(output->error_number));
}

slc_status slci_h5_output_fail(const slci_h5_output *output, const char *what) {
    SLC_TRY(slci_h5_output_status(output));
    char reason[SLCI_H5_REASON_BYTES];
    const bool is_input = slci_h5_reason_is_input();
    const bool lacks_memory = slci_h5_lacks_memory();
    slci_h5_error_text(reason, sizeof reason);
    if (lacks_memory) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %s", output->name, what);
    }
    if (is_input) { /* which the reason names */
        return strstr(reason, what) != NULL ? SLC_FAIL(SLC_ERROR_INPUT, "%s", reason)
                                            : SLC_FAIL(SLC_ERROR_INPUT, "%s (%s)", reason, what);
    }
    return SLC_FAIL(SLC_ERROR_OUTPUT, "HDF5 cannot write %s of %s: %s", what, output->name,
                    reason[0] == '\0' ? "no reason given" : reason);
}

slc_status slci_h5_output_close(slci_h5_output *output) {
    slc_status status = SLC_OK;
    if (H5Fclose(output->file) < 0) {
        status = slci_h5_output_fail(output, "the end");
    } else {
        status = slci_h5_output_status(output);
    }
    output->file = -1;
    slci_h5_output_destroy(output);
    return status;
}

void slci_h5_output_destroy(slci_h5_output *output) {
    if (output == NULL) {
        return;
    }
    if (output->file >= 0) {
        (void)H5Fclose(output->file);
    }
    if (output->driver >= 0) {
        (void)H5FDunregister(output->driver);
    }
    if (output->fd >= 0) {
        (void)close(output->fd);
    }
    free(output->name);
    free(output);
}
