/* The files that a dataset's elements lie in, where they are others than the one that was named: behind
 * an external link, in the sources of a virtual dataset, in raw files beside it. An output that
 * replaced one of them would take its own input away. */
#include <hdf5.h>
#include <string.h>

#include "io/h5_array_internal.h"
#include "io/outfile.h"

static bool is_same(const char *name, const slci_file_stamp *output) {
    slci_file_stamp stamp;
    return slci_file_stamp_find(name, &stamp) && stamp.device == output->device &&
           stamp.inode == output->inode;
}

/* Of an open file, which is closed; `name` [SLC_PATH_BYTES] gets its own. */
static bool is_open_file(hid_t file, const slci_file_stamp *output, char *name) {
    const bool is_found = file >= 0 && H5Fget_name(file, name, SLC_PATH_BYTES) > 0;
    if (file >= 0) {
        (void)H5Fclose(file);
    }
    return is_found && is_same(name, output);
}

static bool is_virtual_source(hid_t list, const char *path, const slci_file_stamp *output,
                              char *name) {
    size_t n = 0;
    bool is_source = false;
    if (H5Pget_layout(list) != H5D_VIRTUAL || H5Pget_virtual_count(list, &n) < 0) {
        return false;
    }
    for (size_t k = 0; k < n && !is_source; k++) {
        is_source = H5Pget_virtual_filename(list, k, name, SLC_PATH_BYTES) > 0 &&
                    strcmp(name, ".") != 0 &&
                    is_open_file((hid_t)slci_h5_open_beside(path, name), output, name);
    }
    return is_source;
}

static bool is_raw_file(hid_t list, const slci_file_stamp *output, char *name) {
    const int n = H5Pget_external_count(list);
    bool is_raw = false;
    for (int k = 0; k < n && !is_raw; k++) {
        off_t offset = 0;
        hsize_t bytes = 0;
        name[SLC_PATH_BYTES - 1] = '\0'; /* HDF5 ends no name that fills its room */
        is_raw =
            H5Pget_external(list, (unsigned)k, SLC_PATH_BYTES - 1, name, &offset, &bytes) >= 0 &&
            is_same(name, output);
    }
    return is_raw;
}

slc_status slci_h5_files_exclude(slci_h5_id dataset, const char *path, const char *dataset_name,
                                 const char *output, const slci_file_stamp *stamp) {
    char name[SLC_PATH_BYTES] = "";
    const hid_t list = H5Dget_create_plist((hid_t)dataset);
    const bool is_source = is_open_file(H5Iget_file_id((hid_t)dataset), stamp, name) ||
                           (list >= 0 && (is_virtual_source(list, path, stamp, name) ||
                                          is_raw_file(list, stamp, name)));
    if (list >= 0) {
        (void)H5Pclose(list);
    }
    return is_source ? SLC_FAIL(SLC_ERROR_ARGUMENT,
                                "%s is an output, and elements of %s:%s lie in it; name another "
                                "output",
                                output, path, dataset_name)
                     : SLC_OK;
}
