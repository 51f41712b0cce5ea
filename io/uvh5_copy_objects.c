/* Everything of a UVH5 file but visdata, object by object, as it is stored: HDF5 copies chunks without
 * decoding them. Links to other files are followed, so that the copy stands alone. */
#include <string.h>

#include "io/h5_attributes.h"
#include "io/h5_heap.h"
#include "io/uvh5_copy_parts.h"

/* ---- objects ---------------------------------------------------------------------------------- */

typedef struct object_copy {
    slci_uvh5_copy *copy;
    hid_t to;
    const char *left_out; /* the name that the caller makes itself */
    hid_t properties;
    char failed[SLCI_H5_NAME_BYTES]; /* what could not be copied */
} object_copy;

static herr_t copy_object(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    (void)info;
    object_copy *call = context;
    if (strcmp(name, call->left_out) == 0) {
        return 0;
    }
    if (H5Oexists_by_name(group, name, H5P_DEFAULT) <= 0) {
        slc_log_note(call->copy->options.log, "%s: '%.80s' is a link to nothing and is left out",
                     call->copy->options.in_path, name);
        return 0;
    }
    if (!slci_h5_object_is_sound(group, name) ||
        H5Ocopy(group, name, call->to, name, call->properties, H5P_DEFAULT) < 0) {
        (void)snprintf(call->failed, sizeof call->failed, "'%.100s'", name);
        return -1;
    }
    return slci_h5_output_status(call->copy->output) == SLC_OK ? 0 : -1;
}

/* All objects and attributes of a group but the object `left_out`. */
static slc_status copy_group(slci_uvh5_copy *copy, hid_t from, hid_t to, const char *left_out) {
    object_copy call = {.copy = copy, .to = to, .left_out = left_out};
    call.properties = H5Pcreate(H5P_OBJECT_COPY);
    hsize_t at = 0;
    const bool is_ok = call.properties >= 0 &&
                       H5Pset_copy_object(call.properties, H5O_COPY_EXPAND_EXT_LINK_FLAG) >= 0 &&
                       H5Literate(from, H5_INDEX_NAME, H5_ITER_INC, &at, copy_object, &call) >= 0 &&
                       slci_h5_copy_attributes(from, to, call.failed);
    const slc_status status =
        is_ok ? slci_h5_output_status(copy->output)
              : slci_h5_output_fail(copy->output,
                                    call.failed[0] != '\0' ? call.failed : "the list of objects");
    (void)H5Pclose(call.properties);
    return status;
}

slc_status slci_uvh5_copy_objects(slci_uvh5_copy *copy, hid_t *data_group) {
    const hid_t from = (hid_t)copy->input;
    const hid_t to = slci_h5_output_file(copy->output);
    const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
    const hid_t from_data = H5Gopen2(from, "/Data", H5P_DEFAULT);
    const hid_t from_root = H5Gopen2(from, "/", H5P_DEFAULT);
    const hid_t to_root = H5Gopen2(to, "/", H5P_DEFAULT);
    const hid_t to_data = H5Gcreate2(to, "/Data", H5P_DEFAULT, list, H5P_DEFAULT);
    slc_status status = SLC_OK;
    if (from_data < 0 || from_root < 0 || to_root < 0 || to_data < 0) {
        status = slci_h5_output_fail(copy->output, "group /Data");
    }
    if (status == SLC_OK) {
        status = copy_group(copy, from_root, to_root, "Data");
    }
    if (status == SLC_OK) {
        status = copy_group(copy, from_data, to_data, "visdata");
    }
    (void)H5Gclose(to_root);
    (void)H5Gclose(from_root);
    (void)H5Gclose(from_data);
    (void)H5Pclose(list);
    if (status != SLC_OK) {
        (void)H5Gclose(to_data);
        return status;
    }
    *data_group = to_data;
    return SLC_OK;
}
