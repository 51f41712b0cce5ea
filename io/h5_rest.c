/* Objects are copied as they are stored: HDF5 copies chunks without decoding them. References from one
 * object to another, which are addresses in their file, point nowhere in the copies. */
#include "io/h5_rest.h"

#include <stdio.h>
#include <string.h>

#include "io/h5_array_internal.h"
#include "io/h5_attributes.h"

typedef struct rest_copy {
    const slc_h5_array_output *output;
    hid_t to, properties;
    const char *left_out, *taken; /* the template's own name, and the new dataset's */
    char *failed;
} rest_copy;

/* "/g" of "/g/data", "/" of "/data". */
static void group_of(const char *name, char out[SLCI_H5_NAME_BYTES]) {
    const char *slash = strrchr(name, '/');
    const int n = slash == name ? 1 : (int)(slash - name);
    (void)snprintf(out, SLCI_H5_NAME_BYTES, "%.*s", n, name);
}

static herr_t copy_object(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    (void)info;
    const rest_copy *call = context;
    if (strcmp(name, call->left_out) == 0) {
        return 0;
    }
    const bool is_there = H5Oexists_by_name(group, name, H5P_DEFAULT) > 0;
    const bool is_taken = strcmp(name, call->taken) == 0;
    if (!is_there || is_taken) {
        slc_log_note(call->output->log, "%s: '%.80s' %s and is left out", call->output->path, name,
                     is_taken ? "has the result's name" : "is a link to nothing");
    }
    if (!is_there || H5Lexists(call->to, name, H5P_DEFAULT) > 0) { /* a scale is there already */
        return 0;
    }
    (void)snprintf(call->failed, SLCI_H5_NAME_BYTES, "'%.100s'", name);
    return H5Ocopy(group, name, call->to, name, call->properties, H5P_DEFAULT) < 0 ? -1 : 0;
}

bool slci_h5_copy_rest(const slc_h5_array_output *output, hid_t from_file,
                       const slci_h5_output *file, const char *name,
                       char failed[SLCI_H5_NAME_BYTES]) {
    char template_name[SLCI_H5_NAME_BYTES];
    char from_name[SLCI_H5_NAME_BYTES];
    char to_name[SLCI_H5_NAME_BYTES];
    hsize_t at = 0;
    (void)snprintf(failed, SLCI_H5_NAME_BYTES, "what else is in the group");
    if (slci_h5_array_name(output->template_dataset, template_name) != SLC_OK) {
        return false;
    }
    group_of(template_name, from_name);
    group_of(name, to_name);
    rest_copy call = {.output = output,
                      .left_out = strrchr(template_name, '/') + 1,
                      .taken = strrchr(name, '/') + 1,
                      .failed = failed};
    call.properties = H5Pcreate(H5P_OBJECT_COPY);
    const hid_t from = H5Gopen2(from_file, from_name, H5P_DEFAULT);
    call.to = from < 0 ? -1 : H5Gopen2(slci_h5_output_file(file), to_name, H5P_DEFAULT);
    const bool is_ok = call.properties >= 0 && call.to >= 0 &&
                       H5Pset_copy_object(call.properties, H5O_COPY_EXPAND_EXT_LINK_FLAG) >= 0 &&
                       H5Literate(from, H5_INDEX_NAME, H5_ITER_INC, &at, copy_object, &call) >= 0 &&
                       slci_h5_copy_attributes_but(from, call.to, NULL, failed);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Gclose(call.to);
    (void)H5Gclose(from);
    (void)H5Pclose(call.properties);
    slci_h5_reason_restore(reason);
    return is_ok;
}
