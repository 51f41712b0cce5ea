/* Attributes from one file to another, value by value. A reference is an address in its own file and
 * means nothing in another one, so attributes of references are left out: those that tie a dataset to
 * its dimension scales. */
#include "io/h5_attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/h5_detached.h"
#include "io/h5_heap.h"
#include "io/h5_reason.h"

/* HDF5 keeps an attribute of more than 64 KiB apart from its object, so it may have any size; one that
 * is larger than this is not copied. */
#define MAX_ATTRIBUTE_BYTES ((size_t)1 << 30)

static bool copy_value(hid_t from, hid_t to, hid_t type, hid_t space) {
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    const size_t element_bytes = H5Tget_size(type);
    if (n == 0) {
        return true;
    }
    if (n < 0 || element_bytes == 0) {
        return false;
    }
    if ((size_t)n > MAX_ATTRIBUTE_BYTES / element_bytes) {
        slci_h5_reason_push(from, "it has more than 1 GiB, and no larger one is supported");
        return false;
    }
    void *value = calloc((size_t)n, element_bytes);
    if (value == NULL) {
        slci_h5_reason_push_no_memory("no memory for an attribute");
        return false;
    }
    const bool is_read = H5Aread(from, type, value) >= 0;
    const bool is_ok = is_read && H5Awrite(to, type, value) >= 0;
    slci_h5_reason_blame_output(is_ok || !is_read);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (is_read && slci_h5_is_variable(type)) {
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
    }
    slci_h5_reason_restore(reason);
    free(value);
    return is_ok;
}

typedef struct attribute_copy {
    hid_t to;
    const char *const *left_out; /* names, NULL at the end; NULL: none */
    char *failed;                /* [SLCI_H5_NAME_BYTES] */
} attribute_copy;

static bool is_listed(const char *const *names, const char *name) {
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return names != NULL && *names != NULL;
}

static herr_t copy_attribute(hid_t object, const char *name, const H5A_info_t *info,
                             void *context) {
    (void)info;
    const attribute_copy *call = context;
    if (is_listed(call->left_out, name)) {
        return 0;
    }
    const hid_t from = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = from < 0 ? -1 : slci_h5_detached_type(H5Aget_type(from));
    const hid_t space = type < 0 ? -1 : slci_h5_detached_space(H5Aget_space(from));
    hid_t to = -1;
    const bool is_left_out = space >= 0 && H5Tdetect_class(type, H5T_REFERENCE) > 0;
    if (space >= 0 && !is_left_out && slci_h5_attribute_is_sound(from)) {
        to = H5Acreate2(call->to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        slci_h5_reason_blame_output(to >= 0);
    }
    const bool is_ok = is_left_out || (to >= 0 && copy_value(from, to, type, space));
    if (!is_ok) {
        (void)snprintf(call->failed, SLCI_H5_NAME_BYTES, "attribute '%.100s'", name);
        slci_h5_reason_blame(false, object, call->failed);
    }
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Aclose(to);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Aclose(from);
    slci_h5_reason_restore(reason);
    return is_ok ? 0 : -1;
}

bool slci_h5_copy_attributes(hid_t from, hid_t to, char failed[SLCI_H5_NAME_BYTES]) {
    return slci_h5_copy_attributes_but(from, to, NULL, failed);
}

/* By name, or in the order of their making where the object keeps that; false where HDF5 fails. */
static bool find_order(hid_t object, H5_index_t *out) {
    unsigned order = 0;
    const H5I_type_t kind = H5Iget_type(object);
    const hid_t list = kind == H5I_GROUP      ? H5Gget_create_plist(object)
                       : kind == H5I_DATASET  ? H5Dget_create_plist(object)
                       : kind == H5I_DATATYPE ? H5Tget_create_plist(object)
                                              : H5Pcreate(H5P_OBJECT_CREATE); /* a file */
    const bool is_ok = list >= 0 && H5Pget_attr_creation_order(list, &order) >= 0;
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Pclose(list);
    slci_h5_reason_restore(reason);
    *out = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    return is_ok;
}

bool slci_h5_copy_attributes_but(hid_t from, hid_t to, const char *const *left_out,
                                 char failed[SLCI_H5_NAME_BYTES]) {
    attribute_copy call = {.to = to, .left_out = left_out, .failed = failed};
    (void)snprintf(failed, SLCI_H5_NAME_BYTES, "the attributes");
    H5_index_t order = H5_INDEX_NAME;
    const bool is_ok = find_order(from, &order) &&
                       H5Aiterate2(from, order, H5_ITER_INC, NULL, copy_attribute, &call) >= 0;
    slci_h5_reason_blame(is_ok, from, failed);
    return is_ok;
}
