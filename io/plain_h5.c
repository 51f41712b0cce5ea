/* A plain set in HDF5: /u, /v, /w [rows] in wavelengths, /vis or /data [rows] or [rows, channels],
 * perhaps /weight and /flags; the attributes sign, ra_rad, dec_rad and freq_hz of the root group. */
#include <math.h>
#include <stdio.h>

#include "core/checked.h"
#include "io/h5_header.h"
#include "io/vis_plain.h"

static slc_status read_attributes(slci_plain *plain) {
    const char *path = plain->base.path;
    slci_phase *phase = &plain->base.header.phase;
    SLC_TRY(slci_h5_get_attribute_or(plain->file, path, "sign", 1.0, &plain->sign));
    SLC_TRY(slci_h5_get_attribute_or(plain->file, path, "freq_hz", 0.0, &plain->freq_hz));
    SLC_TRY(slci_h5_get_attribute_or(plain->file, path, "ra_rad", (double)NAN, &phase->lon_rad));
    SLC_TRY(slci_h5_get_attribute_or(plain->file, path, "dec_rad", (double)NAN, &phase->lat_rad));
    if (plain->freq_hz != 0.0 && !slci_vis_is_frequency(plain->freq_hz)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: the attribute freq_hz is %g, expected " SLCI_VIS_FREQUENCY, path,
                        plain->freq_hz);
    }
    if (isnan(phase->lon_rad) && isnan(phase->lat_rad)) {
        phase->lon_rad = 0.0;
        phase->lat_rad = 0.0;
        plain->base.header.is_place_assumed = true;
    }
    if (!slci_vis_is_direction(phase->lon_rad, phase->lat_rad)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: the attributes ra_rad and dec_rad are %g and %g, expected both or "
                        "none, and " SLCI_VIS_DIRECTION,
                        path, phase->lon_rad, phase->lat_rad);
    }
    return SLC_OK;
}

/* More names than these of a file that is not made for imaging are not worth a warning. */
#define MAX_LISTED 16

static slc_status open_columns(slci_plain *plain) {
    for (int i = 0; i < SLCI_PLAIN_MEMBERS; i++) {
        const slci_plain_member *member = &slci_plain_members[i];
        slci_h5_dataset *set = &plain->columns[member->column].set;
        slci_h5_kind kind = SLCI_H5_ABSENT;
        char name[16];
        (void)snprintf(name, sizeof name, "/%s", member->name);
        SLC_TRY(slci_h5_find(plain->file, plain->base.path, name, &kind));
        if (kind == SLCI_H5_ABSENT) {
            continue;
        }
        if (set->id != 0) {
            slci_plain_ignore(plain, member->name);
        } else {
            SLC_TRY(slci_h5_dataset_open(plain->file, plain->base.path, name, set));
        }
    }
    char names[MAX_LISTED][SLCI_H5_LIST_NAME_BYTES];
    int64_t n = 0;
    SLC_TRY(slci_h5_list(plain->file, plain->base.path, "/", MAX_LISTED, names, &n));
    for (int64_t i = 0; i < slc_min_i64(n, MAX_LISTED); i++) {
        slci_plain_ignore_unknown(plain, names[i]);
    }
    if (n > MAX_LISTED) {
        slci_plain_ignore(plain, "...");
    }
    return SLC_OK;
}

slc_status slci_plain_h5_open(const char *path, slci_h5_id file, const slc_vis_options *options,
                              slci_vis_part **out) {
    slci_plain *plain = NULL;
    const slc_status made = slci_plain_create(path, "plain HDF5", &plain);
    if (made != SLC_OK) {
        slci_h5_close(file);
        return made;
    }
    plain->file = file;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(failed, open_columns(plain));
    SLC_TRY_GOTO(failed, read_attributes(plain));
    SLC_TRY_GOTO(failed, slci_plain_check(plain, options));
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        if (plain->columns[k].set.id != 0) {
            SLC_TRY_GOTO(failed, slci_h5_dataset_read_past(&plain->columns[k].set, options->log));
        }
    }
    *out = &plain->base;
    return SLC_OK;
failed:
    slci_plain_destroy(plain);
    return status;
}
