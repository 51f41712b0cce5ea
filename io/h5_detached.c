/* HDF5 can describe types and shapes in bytes that mean the same in any file, and read those again. */
#include "io/h5_detached.h"

#include <stdbool.h>
#include <stdlib.h>

#include "io/h5_reason.h"

static const char no_memory[] = "no memory to describe what is copied";

/* The same with no place in a file; negative on failure. */
static hid_t without_place(hid_t object, herr_t (*encode)(hid_t, void *, size_t *),
                           hid_t (*decode)(const void *)) {
    size_t n = 0;
    if (encode(object, NULL, &n) < 0) {
        return -1;
    }
    void *bytes = malloc(n > 0 ? n : 1);
    if (bytes == NULL) {
        slci_h5_reason_push_no_memory(no_memory);
        return -1;
    }
    const hid_t detached = encode(object, bytes, &n) < 0 ? -1 : decode(bytes);
    free(bytes);
    return detached;
}

/* H5Sencode is of several versions, this is the one that all have. */
static herr_t encode_space(hid_t space, void *bytes, size_t *n) {
    return H5Sencode(space, bytes, n);
}

/* What closes a type or space that has been described, or could not be. */
static hid_t close_behind(hid_t object, hid_t detached, herr_t (*close)(hid_t)) {
    const hid_t reason = slci_h5_reason_keep(detached >= 0 || object < 0);
    (void)close(object);
    slci_h5_reason_restore(reason);
    return detached;
}

hid_t slci_h5_detached_type(hid_t type) {
    const hid_t detached = type < 0 ? -1 : without_place(type, H5Tencode, H5Tdecode);
    return close_behind(type, detached, H5Tclose);
}

hid_t slci_h5_detached_space(hid_t space) {
    const hid_t detached = space < 0 ? -1 : without_place(space, encode_space, H5Sdecode);
    return close_behind(space, detached, H5Sclose);
}

static bool copy_group_list(hid_t from, hid_t to) {
    unsigned links = 0;
    unsigned attributes = 0;
    unsigned most = 0;
    unsigned least = 0;
    size_t heap_bytes = 0;
    return H5Pget_link_creation_order(from, &links) >= 0 &&
           H5Pset_link_creation_order(to, links) >= 0 &&
           H5Pget_attr_creation_order(from, &attributes) >= 0 &&
           H5Pset_attr_creation_order(to, attributes) >= 0 &&
           H5Pget_link_phase_change(from, &most, &least) >= 0 &&
           H5Pset_link_phase_change(to, most, least) >= 0 &&
           H5Pget_attr_phase_change(from, &most, &least) >= 0 &&
           H5Pset_attr_phase_change(to, most, least) >= 0 &&
           H5Pget_est_link_info(from, &most, &least) >= 0 &&
           H5Pset_est_link_info(to, most, least) >= 0 &&
           H5Pget_local_heap_size_hint(from, &heap_bytes) >= 0 &&
           H5Pset_local_heap_size_hint(to, heap_bytes) >= 0;
}

hid_t slci_h5_detached_group_list(hid_t list) {
    hid_t detached = list < 0 ? -1 : H5Pcreate(H5P_GROUP_CREATE);
    const bool is_ok = detached >= 0 && copy_group_list(list, detached);
    const hid_t reason = slci_h5_reason_keep(is_ok || list < 0);
    if (!is_ok) {
        (void)H5Pclose(detached);
        detached = -1;
    }
    (void)H5Pclose(list);
    slci_h5_reason_restore(reason);
    return detached;
}
