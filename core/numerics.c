#include "core/numerics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/print.h"

/* The place of `name`, or -1. */
static int find(const slc_numerics *record, const char *name) {
    for (int i = 0; i < record->n_entries; i++) {
        if (strcmp(record->name[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

void slc_numerics_set_text(slc_numerics *record, const char *name, const char *value) {
    /* Cutting either would let two different records look equal. */
    assert(strlen(name) < SLC_NUMERICS_NAME_BYTES);
    assert(strlen(value) < SLC_NUMERICS_VALUE_BYTES);
    int place = find(record, name);
    if (place < 0) {
        assert(record->n_entries < SLC_NUMERICS_ENTRIES);
        place = record->n_entries++;
    }
    (void)snprintf(record->name[place], sizeof record->name[place], "%s", name);
    (void)snprintf(record->value[place], sizeof record->value[place], "%s", value);
}

void slc_numerics_set_i64(slc_numerics *record, const char *name, int64_t value) {
    char text[SLC_NUMERICS_VALUE_BYTES];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    slc_numerics_set_text(record, name, text);
}

void slc_numerics_set_f64(slc_numerics *record, const char *name, double value) {
    char text[SLC_NUMERICS_VALUE_BYTES];
    (void)slci_print(text, sizeof text, "%.17g", value);
    slc_numerics_set_text(record, name, text);
}

const char *slc_numerics_get(const slc_numerics *record, const char *name) {
    const int place = find(record, name);
    return place < 0 ? NULL : record->value[place];
}

bool slc_numerics_equal(const slc_numerics *a, const slc_numerics *b) {
    if (a->n_entries != b->n_entries) {
        return false;
    }
    for (int i = 0; i < a->n_entries; i++) {
        if (strcmp(a->name[i], b->name[i]) != 0 || strcmp(a->value[i], b->value[i]) != 0) {
            return false;
        }
    }
    return true;
}
