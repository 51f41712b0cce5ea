/* A path may hold any character and a dataset's name begins with a slash, so the place where the one
 * ends and the other begins is looked for from the end. */
#include "app/dataset_name.h"

#include <string.h>

/* The last place where ":/" stands; NULL if there is none. */
static const char *find_divider(const char *text) {
    const char *found = NULL;
    for (const char *at = strstr(text, ":/"); at != NULL; at = strstr(at + 1, ":/")) {
        found = at;
    }
    return found;
}

/* Where the slice begins: the last bracket that opens in the dataset's name, if the text ends with one
 * that closes, or if that is all that lacks; else the text's end. */
static const char *find_slice(const char *text) {
    const char *end = text + strlen(text);
    const char *divider = find_divider(text);
    const char *open = strrchr(divider != NULL ? divider : text, '[');
    const bool is_slice =
        open != NULL &&
        (end[-1] == ']' || open[1 + strspn(open + 1, "0123456789+-:., \t")] == '\0');
    return is_slice ? open : end;
}

/* Half a slice is no name: who has such a dataset writes a whole slice behind it. */
static slc_status check_end(const char *text, const char *slice) {
    const size_t length = strlen(text);
    return *slice != '\0' || length == 0 || text[length - 1] != ']'
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT,
                          "'%.80s': a slice ends here, but no [ begins it; a dataset of that name "
                          "is written with [...] behind it",
                          text);
}

/* Path and dataset, the latter ending at `end`. */
static slc_status parse_names(const char *text, const char *end, slci_dataset_name *out) {
    const char *divider = find_divider(text);
    if (divider == NULL || divider == text || divider + 2 >= end) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' names no dataset: expected FILE:/DATASET, such as in.h5:/data",
                        text);
    }
    const size_t path_bytes = (size_t)(divider - text);
    const size_t dataset_bytes = (size_t)(end - divider - 1);
    if (path_bytes >= sizeof out->path || dataset_bytes >= sizeof out->dataset) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s...' is too long: the file's name has %zu bytes of %zu, the "
                        "dataset's %zu of %zu",
                        text, path_bytes, sizeof out->path - 1, dataset_bytes,
                        sizeof out->dataset - 1);
    }
    memcpy(out->path, text, path_bytes);
    out->path[path_bytes] = '\0';
    memcpy(out->dataset, divider + 1, dataset_bytes);
    out->dataset[dataset_bytes] = '\0';
    return SLC_OK;
}

slc_status slci_dataset_name_parse(const char *text, slci_dataset_name *out) {
    const char *slice = find_slice(text);
    SLC_TRY(check_end(text, slice));
    if (*slice != '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s': a slice cannot stand here, only a whole dataset", text);
    }
    out->slice = (slc_slice){0};
    return parse_names(text, slice, out);
}

slc_status slci_dataset_name_parse_slice(const char *text, slci_dataset_name *out) {
    const char *slice = find_slice(text);
    SLC_TRY(check_end(text, slice));
    out->slice = (slc_slice){0};
    if (*slice != '\0') {
        SLC_TRY(slc_slice_parse(slice, &out->slice));
    }
    return parse_names(text, slice, out);
}
