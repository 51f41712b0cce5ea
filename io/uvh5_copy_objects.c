/* Everything of a UVH5 file but visdata, object by object, as it is stored: HDF5 copies chunks without
 * decoding them. Links to other files are followed, so that the copy stands alone. */
#include <stdlib.h>
#include <string.h>

#include "io/uvh5_copy_parts.h"

/* Not an attribute that HDF5's own limit of 64 KiB for small ones would hold, but some are larger. */
#define MAX_ATTRIBUTE_BYTES ((size_t)1 << 30)

/* ---- attributes ------------------------------------------------------------------------------- */

/* Every call of HDF5 forgets why the one before failed, closing too: the reason is put aside
 * meanwhile. */
static hid_t put_aside_reason(bool is_ok) {
    return is_ok ? -1 : H5Eget_current_stack();
}

static void put_back_reason(hid_t reason) {
    if (reason >= 0) {
        (void)H5Eset_current_stack(reason);
    }
}

static bool copy_value(hid_t from, hid_t to, hid_t type, hid_t space) {
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    const size_t element_bytes = H5Tget_size(type);
    if (n == 0) {
        return true;
    }
    if (n < 0 || element_bytes == 0 || (size_t)n > MAX_ATTRIBUTE_BYTES / element_bytes) {
        return false;
    }
    void *value = calloc((size_t)n, element_bytes);
    const bool is_read = value != NULL && H5Aread(from, type, value) >= 0;
    const bool is_ok = is_read && H5Awrite(to, type, value) >= 0;
    const hid_t reason = put_aside_reason(is_ok);
    if (is_read && (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0)) {
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
    }
    put_back_reason(reason);
    free(value);
    return is_ok;
}

typedef struct attribute_copy {
    hid_t to;
    char *failed; /* [SLCI_H5_NAME_BYTES] */
} attribute_copy;

static herr_t copy_attribute(hid_t object, const char *name, const H5A_info_t *info,
                             void *context) {
    (void)info;
    const attribute_copy *call = context;
    const hid_t from = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = from < 0 ? -1 : H5Aget_type(from);
    const hid_t space = from < 0 ? -1 : H5Aget_space(from);
    hid_t to = -1;
    if (type >= 0 && space >= 0) {
        to = H5Acreate2(call->to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    }
    const bool is_ok = to >= 0 && copy_value(from, to, type, space);
    if (!is_ok) {
        (void)snprintf(call->failed, SLCI_H5_NAME_BYTES, "attribute '%.100s'", name);
    }
    const hid_t reason = put_aside_reason(is_ok);
    (void)H5Aclose(to);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Aclose(from);
    put_back_reason(reason);
    return is_ok ? 0 : -1;
}

bool slci_uvh5_copy_attributes(hid_t from, hid_t to, char failed[SLCI_H5_NAME_BYTES]) {
    attribute_copy call = {.to = to, .failed = failed};
    (void)snprintf(failed, SLCI_H5_NAME_BYTES, "the attributes");
    return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &call) >= 0;
}

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
    if (H5Ocopy(group, name, call->to, name, call->properties, H5P_DEFAULT) < 0) {
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
                       slci_uvh5_copy_attributes(from, to, call.failed);
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
