/* Everything of a UVH5 file but visdata, as it is stored (io/h5_object_copy.h). Links to other files
 * are followed, and links by name in the root and in /Data, so that the copy stands alone. */
#include <stdio.h>
#include <string.h>

#include "io/h5_attributes.h"
#include "io/h5_object_check.h"
#include "io/h5_object_copy.h"
#include "io/h5_reason.h"
#include "io/uvh5_copy_parts.h"

typedef struct group_copy {
    slci_uvh5_copy *copy;
    slci_h5_object_copy *objects;
    hid_t to;
    const char *left_out; /* the name that the caller makes itself */
    slc_status status;
} group_copy;

static herr_t copy_object(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    group_copy *call = context;
    char what[SLCI_H5_NAME_BYTES];
    if (strcmp(name, call->left_out) == 0) {
        return 0;
    }
    if (info->type != H5L_TYPE_HARD && slci_h5_object_check_way(group, name) &&
        H5Oexists_by_name(group, name, H5P_DEFAULT) <= 0) {
        slc_log_note(call->copy->options.log, "%s: '%.80s' is a link to nothing and is left out",
                     call->copy->options.in_path, name);
        return 0;
    }
    (void)snprintf(what, sizeof what, "'%.100s'", name);
    call->status = slci_h5_object_copy_target(call->objects, group, name, call->to)
                       ? slci_h5_output_status(call->copy->output)
                       : slci_h5_output_fail(call->copy->output, what);
    return call->status == SLC_OK ? 0 : -1;
}

/* All objects and attributes of a group but the object `left_out`. */
static slc_status copy_group(group_copy *call, hid_t from) {
    char failed[SLCI_H5_NAME_BYTES] = "the list of objects";
    const herr_t copied = H5Literate(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_object, call);
    SLC_TRY(call->status);
    slci_h5_reason_blame(copied >= 0, from, failed);
    return copied >= 0 && slci_h5_copy_attributes(from, call->to, failed)
               ? slci_h5_output_status(call->copy->output)
               : slci_h5_output_fail(call->copy->output, failed);
}

/* The root and /Data, into those of the output. */
static slc_status copy_groups(slci_uvh5_copy *copy, slci_h5_object_copy *objects,
                              const hid_t from[2], const hid_t to[2]) {
    group_copy root = {.copy = copy, .objects = objects, .to = to[0], .left_out = "Data"};
    group_copy data = {.copy = copy, .objects = objects, .to = to[1], .left_out = "visdata"};
    if (objects == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to copy it", copy->options.in_path);
    }
    for (int k = 0; k < 2; k++) {
        if (from[k] < 0 || to[k] < 0 || !slci_h5_object_copy_note(objects, from[k], to[k])) {
            return slci_h5_output_fail(copy->output, k == 0 ? "group /" : "group /Data");
        }
    }
    SLC_TRY(copy_group(&root, from[0]));
    return copy_group(&data, from[1]);
}

slc_status slci_uvh5_copy_objects(slci_uvh5_copy *copy, hid_t *data_group) {
    const hid_t input = (hid_t)copy->input;
    const hid_t output = slci_h5_output_file(copy->output);
    if (!slci_h5_object_check(input, "/") || !slci_h5_object_check(input, "/Data")) {
        return slci_h5_output_fail(copy->output, "the groups / and /Data");
    }
    const slci_h5_object_copy_options options = {.output = copy->output,
                                                 .log = copy->options.log,
                                                 .follows_external = true};
    slci_h5_object_copy *objects = slci_h5_object_copy_create(&options);
    const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
    const hid_t from[2] = {H5Gopen2(input, "/", H5P_DEFAULT),
                           H5Gopen2(input, "/Data", H5P_DEFAULT)};
    const hid_t to[2] = {H5Gopen2(output, "/", H5P_DEFAULT),
                         H5Gcreate2(output, "/Data", H5P_DEFAULT, list, H5P_DEFAULT)};
    const slc_status status = copy_groups(copy, objects, from, to);
    (void)H5Gclose(to[0]);
    (void)H5Gclose(from[1]);
    (void)H5Gclose(from[0]);
    (void)H5Pclose(list);
    slci_h5_object_copy_destroy(objects);
    if (status != SLC_OK) {
        (void)H5Gclose(to[1]);
        return status;
    }
    *data_group = to[1];
    return SLC_OK;
}
