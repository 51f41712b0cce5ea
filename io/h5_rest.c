/* Objects are copied as they are stored: HDF5 copies chunks without decoding them. References from one
 * object to another, which are addresses in their file, point nowhere in the copies. Links by name,
 * soft and external ones, stay what they are, at any depth. A second name of the template in its group
 * is a second name of the new dataset. */
#include "io/h5_rest.h"

#include <stdio.h>
#include <string.h>

#include "io/h5_array_internal.h"
#include "io/h5_attributes.h"
#include "io/h5_file.h"
#include "io/h5_heap.h"

typedef struct rest_copy {
    const slc_h5_array_output *output;
    const slci_h5_output *file;
    hid_t from, to, dataset, properties; /* groups, the new dataset */
    haddr_t array;                       /* the template, in its file */
    const char *left_out, *taken;        /* the template's own name, and the new dataset's */
    slc_status status;
} rest_copy;

/* "/g" of "/g/data", "/" of "/data". */
static void group_of(const char *name, char out[SLCI_H5_NAME_BYTES]) {
    const char *slash = strrchr(name, '/');
    const int n = slash == name ? 1 : (int)(slash - name);
    (void)snprintf(out, SLCI_H5_NAME_BYTES, "%.*s", n, name);
}

/* After HDF5 has failed to copy an object: where neither the output's driver nor memory is to blame,
 * the input is. Without a reason this cannot be told. */
static slc_status fail(const rest_copy *call, const char *name) {
    char reason[256];
    const bool lacks_memory = slci_h5_lacks_memory();
    slci_h5_error_text(reason, sizeof reason);
    if (reason[0] == '\0') {
        return slci_h5_output_fail(call->file, name);
    }
    SLC_TRY(slci_h5_output_status(call->file));
    return lacks_memory
               ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to copy '%.100s'",
                          call->output->template_path, name)
               : SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: '%.100s', beside %s, cannot be copied: %s; without --rest it is "
                          "left out",
                          call->output->template_path, name, call->output->template_dataset,
                          reason);
}

static herr_t copy_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    rest_copy *call = context;
    herr_t copied = 0;
    if (strcmp(name, call->left_out) == 0) {
        return 0;
    }
    if (strcmp(name, call->taken) == 0) {
        slc_log_note(call->output->log, "%s: '%.80s' has the result's name and is left out",
                     call->output->path, name);
    }
    if (H5Lexists(call->to, name, H5P_DEFAULT) > 0) { /* a scale is there already */
        return 0;
    }
    if (info->type != H5L_TYPE_HARD) {
        copied = H5Lcopy(group, name, call->to, name, H5P_DEFAULT, H5P_DEFAULT);
    } else if (info->u.address == call->array) {
        copied = H5Lcreate_hard(call->dataset, ".", call->to, name, H5P_DEFAULT, H5P_DEFAULT);
    } else {
        copied = slci_h5_object_is_sound(group, name)
                     ? H5Ocopy(group, name, call->to, name, call->properties, H5P_DEFAULT)
                     : -1;
    }
    call->status = copied < 0 ? fail(call, name) : SLC_OK;
    return copied < 0 ? -1 : 0;
}

/* With everything open. */
static slc_status copy_group(rest_copy *call) {
    char failed[SLCI_H5_NAME_BYTES] = "what else is in the group";
    hsize_t at = 0;
    const herr_t copied = H5Literate(call->from, H5_INDEX_NAME, H5_ITER_INC, &at, copy_link, call);
    SLC_TRY(call->status);
    if (copied < 0) {
        return fail(call, "a link");
    }
    if (slci_h5_copy_attributes_but(call->from, call->to, NULL, failed)) {
        return SLC_OK;
    }
    return failed[0] == '\0' ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for an attribute",
                                        call->output->template_path)
                             : slci_h5_output_fail(call->file, failed);
}

slc_status slci_h5_copy_rest(const slc_h5_array_output *output, hid_t from,
                             const slci_h5_output *file, hid_t to) {
    char from_name[SLCI_H5_NAME_BYTES];
    char to_name[SLCI_H5_NAME_BYTES];
    char group[SLCI_H5_NAME_BYTES];
    H5O_info_t info;
    SLC_TRY(slci_h5_array_name(output->template_dataset, from_name));
    if (H5Iget_name(to, to_name, sizeof to_name) <= 0 ||
        H5Oget_info2(from, &info, H5O_INFO_BASIC) < 0) {
        return slci_h5_output_fail(file, "what else is in the group");
    }
    rest_copy call = {.output = output,
                      .file = file,
                      .dataset = to,
                      .array = info.addr,
                      .left_out = strrchr(from_name, '/') + 1,
                      .taken = strrchr(to_name, '/') + 1,
                      .properties = H5Pcreate(H5P_OBJECT_COPY)};
    group_of(from_name, group);
    call.from = H5Gopen2(from, group, H5P_DEFAULT);
    group_of(to_name, group);
    call.to = call.from < 0 ? -1 : H5Gopen2(slci_h5_output_file(file), group, H5P_DEFAULT);
    const slc_status status = call.properties >= 0 && call.to >= 0
                                  ? copy_group(&call)
                                  : slci_h5_output_fail(file, "what else is in the group");
    (void)H5Gclose(call.to);
    (void)H5Gclose(call.from);
    (void)H5Pclose(call.properties);
    return status;
}
