/* What commands on arrays read from their lines, and say of their results. */
#include "app/cmd_array.h"

#include <string.h>

#include "app/dataset_name.h"
#include "core/print.h"
#include "core/units.h"

slc_status slci_arg_dataset(const char *text, void *field) {
    return slci_dataset_name_parse(text, field);
}

/* One whose first `length` or 31 letters are `word`, which is no number or one that is out of range. */
static slc_status refuse_word(const char *text, const char *word, size_t length,
                              const slci_integer_list *list) {
    const char *digits = word + (word[0] == '-' || word[0] == '+' ? 1 : 0);
    const bool is_number = digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
    return is_number
               ? SLC_FAIL(SLC_ERROR_ARGUMENT,
                          "'%.80s': '%s%s' is out of range: expected whole numbers from %lld "
                          "to %lld",
                          text, word, length > 31 ? "..." : "", (long long)list->lowest,
                          (long long)list->highest)
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': '%s' is no %s", text, word, list->what);
}

slc_status slci_integer_list_parse(const char *text, const slci_integer_list *list) {
    char word[32];
    int n = 0;
    for (const char *at = text; at != NULL;) {
        const size_t length = strcspn(at, ",");
        (void)slci_print(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), at);
        if (n == SLC_MAX_RANK) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' names more than %d dimensions", text,
                            SLC_MAX_RANK);
        }
        if (length > 31 ||
            slci_parse_integer(word, list->lowest, list->highest, &list->values[n++]) != SLC_OK) {
            return refuse_word(text, word, length, list);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *list->n = n;
    return SLC_OK;
}

slc_status slci_arg_chunk(const char *text, void *field) {
    slc_array_form *form = field;
    form->n_chunk = 0;
    form->is_contiguous = strcmp(text, "none") == 0;
    const slci_integer_list list = {1, UINT32_MAX,
                                    "number of elements; expected none, or one for each dimension "
                                    "such as 64,64,128",
                                    form->chunk, &form->n_chunk};
    return form->is_contiguous ? SLC_OK : slci_integer_list_parse(text, &list);
}

slc_status slci_arg_filter(const char *text, void *field) {
    slc_array_form *form = field;
    form->filters = true;
    return slc_h5_filter_parse(text, &form->filter);
}

void slci_format_stored(const slc_array_stored *stored, int64_t bytes,
                        char text[SLCI_STORED_BYTES]) {
    char filter[SLC_H5_FILTER_BYTES];
    char taken[SLCI_TEXT_BYTES];
    char ratio[SLCI_TEXT_BYTES];
    text[0] = '\0';
    if (stored->n_chunks == 0 || stored->bytes == 0) {
        return;
    }
    slc_h5_filter_print(&stored->filter, filter);
    slci_format_bytes(stored->bytes, taken);
    slci_format_number((double)bytes / (double)stored->bytes, 3, ratio);
    (void)slci_print(text, SLCI_STORED_BYTES, ", stored in %s by %s (ratio %s)", taken, filter,
                     ratio);
}
