/* The group's links one by one; what they lead to is made anew by io/h5_object_copy.h. The template is
 * what the new dataset is made of, so a second name of it, at any depth, is one of that. */
#include "io/h5_rest.h"

#include <stdio.h>
#include <string.h>

#include "io/h5_array_internal.h"
#include "io/h5_attributes.h"
#include "io/h5_object_check.h"
#include "io/h5_object_copy.h"
#include "io/h5_reason.h"

typedef struct rest_copy {
    const slc_h5_array_output *output;
    const slci_h5_output *file;
    slci_h5_object_copy *copy;
    hid_t from, to;               /* groups */
    const char *left_out, *taken; /* the template's own name, and the new dataset's */
    slc_status status;
} rest_copy;

void slci_h5_group_of(const char *name, char out[SLCI_H5_NAME_BYTES]) {
    const char *slash = strrchr(name, '/');
    const int n = slash == name ? 1 : (int)(slash - name);
    (void)snprintf(out, SLCI_H5_NAME_BYTES, "%.*s", n, name);
}

static slc_status fail(const rest_copy *call, const char *name) {
    char what[3 * SLCI_H5_NAME_BYTES];
    (void)snprintf(what, sizeof what, "'%.100s', beside %s", name, call->output->template_dataset);
    const slc_status status = slci_h5_output_fail(call->file, what);
    return status == SLC_ERROR_INPUT
               ? SLC_FAIL(status, "%s; what else is in the group (--rest) can be left out",
                          slc_status_message())
               : status;
}

static herr_t copy_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    (void)info;
    rest_copy *call = context;
    if (strcmp(name, call->left_out) == 0) {
        return 0;
    }
    if (strcmp(name, call->taken) == 0) {
        slc_log_note(call->output->log, "%s: '%.80s' has the result's name and is left out",
                     call->output->path, name);
    }
    call->status = slci_h5_object_copy_link(call->copy, group, name, call->to)
                       ? slci_h5_output_status(call->file)
                       : fail(call, name);
    return call->status == SLC_OK ? 0 : -1;
}

/* With everything open. */
static slc_status copy_group(rest_copy *call, hid_t from_set, hid_t to_set) {
    char failed[SLCI_H5_NAME_BYTES] = "what else is in the group";
    if (!slci_h5_object_copy_note(call->copy, from_set, to_set) ||
        !slci_h5_object_copy_note(call->copy, call->from, call->to)) {
        return slci_h5_output_fail(call->file, failed);
    }
    const herr_t copied = H5Literate(call->from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_link, call);
    SLC_TRY(call->status);
    slci_h5_reason_blame(copied >= 0, call->from, failed);
    return copied >= 0 && slci_h5_copy_attributes_but(call->from, call->to, NULL, failed)
               ? SLC_OK
               : slci_h5_output_fail(call->file, failed);
}

slc_status slci_h5_copy_rest(const slc_h5_array_output *output, hid_t from,
                             const slci_h5_output *file, hid_t to) {
    const slci_h5_object_copy_options options = {.output = file, .log = output->log};
    char from_name[SLCI_H5_NAME_BYTES];
    char to_name[SLCI_H5_NAME_BYTES];
    char group[SLCI_H5_NAME_BYTES];
    SLC_TRY(slci_h5_array_name(output->template_dataset, from_name));
    if (H5Iget_name(to, to_name, sizeof to_name) <= 0) {
        return slci_h5_output_fail(file, "what else is in the group");
    }
    rest_copy call = {.output = output,
                      .file = file,
                      .copy = slci_h5_object_copy_create(&options),
                      .left_out = strrchr(from_name, '/') + 1,
                      .taken = strrchr(to_name, '/') + 1};
    if (call.copy == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to copy what else is in the group",
                        output->template_path);
    }
    slci_h5_group_of(from_name, group);
    call.from = slci_h5_object_check(from, group) ? H5Gopen2(from, group, H5P_DEFAULT) : -1;
    slci_h5_reason_blame(call.from >= 0, from, "the group");
    slci_h5_group_of(to_name, group);
    call.to = call.from < 0 ? -1 : H5Gopen2(slci_h5_output_file(file), group, H5P_DEFAULT);
    const slc_status status = call.to >= 0 ? copy_group(&call, from, to)
                                           : slci_h5_output_fail(file, "what else is in the group");
    (void)H5Gclose(call.to);
    (void)H5Gclose(call.from);
    slci_h5_object_copy_destroy(call.copy);
    return status;
}
