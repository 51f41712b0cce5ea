#include "ooc/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"
#include "ooc/checkpoint_internal.h"

#define FIRST_BYTES 1024
#define NUMBER_BYTES 48

/* Room for `more` bytes; false where there is no memory. */
static bool make_room(slc_fingerprint *print, int64_t more) {
    if (print->n_bytes + more <= print->capacity_bytes) {
        return true;
    }
    const int64_t capacity =
        slc_max_i64(slc_max_i64(2 * print->capacity_bytes, FIRST_BYTES), print->n_bytes + more);
    char *text = realloc(print->text, (size_t)capacity);
    if (text == NULL) {
        return false;
    }
    print->text = text;
    print->capacity_bytes = capacity;
    return true;
}

void slc_fingerprint_add_text(slc_fingerprint *print, const char *name, const char *value) {
    const int64_t n_name = (int64_t)strlen(name) + 1;
    const int64_t n_value = (int64_t)strlen(value) + 1;
    if (print->is_incomplete || !make_room(print, n_name + n_value)) {
        print->is_incomplete = true;
        return;
    }
    memcpy(print->text + print->n_bytes, name, (size_t)n_name);
    memcpy(print->text + print->n_bytes + n_name, value, (size_t)n_value);
    print->n_bytes += n_name + n_value;
}

void slc_fingerprint_add_i64(slc_fingerprint *print, const char *name, int64_t value) {
    char text[NUMBER_BYTES];
    (void)slci_print(text, sizeof text, "%lld", (long long)value);
    slc_fingerprint_add_text(print, name, text);
}

void slc_fingerprint_add_f64(slc_fingerprint *print, const char *name, double value) {
    char text[NUMBER_BYTES];
    (void)slci_print(text, sizeof text, "%.17g", value);
    slc_fingerprint_add_text(print, name, text);
}

void slc_fingerprint_add_numerics(slc_fingerprint *print, const slc_numerics *record) {
    for (int i = 0; i < record->n_entries; i++) {
        slc_fingerprint_add_text(print, record->name[i], record->value[i]);
    }
}

void slc_fingerprint_destroy(slc_fingerprint *print) {
    free(print->text);
    *print = (slc_fingerprint){0};
}

/* Goes to the next name and value; false at the end. */
static bool next_pair(const slc_fingerprint *print, int64_t *at, const char **name,
                      const char **value) {
    if (*at >= print->n_bytes) {
        return false;
    }
    *name = print->text + *at;
    *at += (int64_t)strlen(*name) + 1;
    *value = *at < print->n_bytes ? print->text + *at : "";
    *at += (int64_t)strlen(*value) + 1;
    return true;
}

static const char what_helps[] = SLCI_NAME_ANOTHER ", or begin anew: " SLCI_BEGIN_ANEW;

slc_status slci_fingerprint_compare(const char *path, const slc_fingerprint *found,
                                    const slc_fingerprint *expected) {
    int64_t at_found = 0;
    int64_t at_expected = 0;
    for (;;) {
        const char *name = "";
        const char *value = "";
        const char *wanted_name = "";
        const char *wanted = "";
        const bool has_found = next_pair(found, &at_found, &name, &value);
        const bool has_wanted = next_pair(expected, &at_expected, &wanted_name, &wanted);
        if (!has_found && !has_wanted) {
            return SLC_OK;
        }
        if (!has_found || !has_wanted || strcmp(name, wanted_name) != 0) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s belongs to another run: it has '%.80s' where this one has "
                            "'%.80s'; %s",
                            path, name, wanted_name, what_helps);
        }
        if (strcmp(value, wanted) != 0) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s belongs to another run: %.80s is '%.160s' there and '%.160s' "
                            "here; %s",
                            path, name, value, wanted, what_helps);
        }
    }
}
