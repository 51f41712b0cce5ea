/* Reasons are entries of HDF5's own account of errors, told from its own by the name of the function
 * that they carry. */
#include "io/h5_reason.h"

#include <stdio.h>
#include <string.h>

#include "io/h5_file.h"
#include "io/outfile.h"

static const char of_input[] = "sluice: input";
static const char of_output[] = "sluice: output";

hid_t slci_h5_reason_keep(bool is_ok) {
    return is_ok ? -1 : H5Eget_current_stack();
}

void slci_h5_reason_restore(hid_t reason) {
    if (reason >= 0) {
        (void)H5Eset_current_stack(reason);
    }
}

/* Where an object is, or what of it: "in.h5: /g/x", "in.h5: WHAT of /g/x". An attribute has the name of
 * its object, a file none. */
#define PLACE_BYTES (SLC_PATH_BYTES + SLCI_H5_REASON_BYTES)

static void name_place(hid_t object, const char *what, char out[PLACE_BYTES]) {
    char file[SLC_PATH_BYTES] = "";
    char name[SLCI_H5_REASON_BYTES / 2] = "";
    if (H5Fget_name(object, file, sizeof file) <= 0) {
        (void)snprintf(file, sizeof file, "the input");
    }
    const bool has_name =
        H5Iget_type(object) != H5I_FILE && H5Iget_name(object, name, sizeof name) > 0;
    const char *const of = !has_name || what[0] == '\0' ? "" : " of ";
    const char *const before = what[0] != '\0' || has_name ? ": " : "";
    (void)snprintf(out, PLACE_BYTES, "%s%s%s%s%s", file, before, what, of, has_name ? name : "");
}

static void push(hid_t object, hid_t minor, const char *why) {
    char place[PLACE_BYTES];
    name_place(object, "", place);
    (void)H5Epush2(H5E_DEFAULT, __FILE__, of_input, __LINE__, H5E_ERR_CLS, H5E_HEAP, minor,
                   "%s: %s", place, why);
}

void slci_h5_reason_push(hid_t object, const char *why) {
    push(object, H5E_BADVALUE, why);
}

void slci_h5_reason_push_out_of_reach(hid_t object, const char *why, int error) {
    char text[SLCI_H5_REASON_BYTES];
    (void)snprintf(text, sizeof text, "%s%s%s", why, error == 0 ? "" : ": ",
                   error == 0 ? "" : strerror(error));
    push(object, H5E_CANTOPENFILE, text);
}

void slci_h5_reason_push_no_memory(const char *why) {
    (void)H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_RESOURCE,
                   H5E_NOSPACE, "%s", why);
}

/* What is looked for: the function, and the minor number; negative: any. */
typedef struct find_reason {
    const char *function;
    hid_t minor;
    bool is_found;
} find_reason;

static herr_t find(unsigned n, const H5E_error2_t *error, void *context) {
    (void)n;
    find_reason *call = context;
    const bool is_ours = error->func_name != NULL && strcmp(error->func_name, call->function) == 0;
    call->is_found =
        call->is_found || (is_ours && (call->minor < 0 || call->minor == error->min_num));
    return 0;
}

static bool has_reason(const char *function, hid_t minor) {
    find_reason call = {.function = function, .minor = minor};
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find, &call);
    return call.is_found;
}

bool slci_h5_reason_is_input(void) {
    return has_reason(of_input, -1);
}

bool slci_h5_reason_is_out_of_reach(void) {
    return has_reason(of_input, H5E_CANTOPENFILE);
}

void slci_h5_reason_blame_output(bool is_ok) {
    if (!is_ok) {
        (void)H5Epush2(H5E_DEFAULT, __FILE__, of_output, __LINE__, H5E_ERR_CLS, H5E_IO,
                       H5E_WRITEERROR, "no reason given");
    }
}

void slci_h5_reason_blame(bool is_ok, hid_t object, const char *what) {
    char words[SLCI_H5_REASON_BYTES];
    char place[PLACE_BYTES];
    if (is_ok || slci_h5_lacks_memory() || has_reason(of_input, -1) || has_reason(of_output, -1)) {
        return;
    }
    slci_h5_error_text(words, sizeof words);
    name_place(object, what, place);
    (void)H5Epush2(H5E_DEFAULT, __FILE__, of_input, __LINE__, H5E_ERR_CLS, H5E_HEAP, H5E_BADVALUE,
                   "%s cannot be copied: %s", place, words[0] != '\0' ? words : "no reason given");
}
