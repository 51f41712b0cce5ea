/* A name is followed part by part, and each group is looked at before HDF5 searches it:
 *
 *     /a/b/x     look at /, ask where a is; look at it, ask where b is; look at it; x is the caller's
 *
 * A link by name leads to another name, that begins where the link is, or at the root. */
#include "io/h5_object_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/h5_beside.h"
#include "io/h5_raw.h"
#include "io/h5_reason.h"
#include "io/outfile.h"

/* As many links by name as HDF5 itself follows. */
#define MOST_LINKS 16

/* Names that are followed; longer ones HDF5 has alone. */
#define WAY_BYTES 4096

/* Where an object is. HDF5 keeps a header that it could not read, and believes it the next time, so
 * what fails here must not be opened. */
static bool find_address(hid_t place, const char *name, bool *is_elsewhere, haddr_t *out) {
    H5O_info_t here;
    H5O_info_t there;
    if (H5Oget_info2(place, &here, H5O_INFO_BASIC) < 0 ||
        H5Oget_info_by_name2(place, name, &there, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        return false;
    }
    *out = there.addr;
    *is_elsewhere = here.fileno != there.fileno || there.addr > INT64_MAX;
    return true;
}

/* What all headers of a file may lead to, before the first of them is read. */
static bool check_tables(hid_t place) {
    slci_h5_raw raw;
    int64_t extension = 0;
    const bool is_open = slci_h5_raw_open(place, &raw);
    const bool has_tables = is_open && slci_h5_raw_extension(&raw, &extension);
    slci_h5_raw_close(&raw);
    if (!is_open) {
        slci_h5_reason_push_out_of_reach(place, slci_h5_object_unopened, raw.why);
        return false;
    }
    return !has_tables || slci_h5_object_check_at(place, (haddr_t)extension, "shared messages");
}

static bool check_found(hid_t place, const char *name) {
    haddr_t address = 0;
    bool is_elsewhere = false;
    char what[SLCI_H5_REASON_BYTES];
    (void)snprintf(what, sizeof what, "'%.500s'", name);
    if (strcmp(name, "/") == 0 && !check_tables(place)) {
        return false;
    }
    const bool is_found = find_address(place, name, &is_elsewhere, &address);
    slci_h5_reason_blame(is_found, place, what);
    return is_found && (is_elsewhere || slci_h5_object_check_at(place, address, what));
}

static bool check_way(hid_t place, const char *name, int n_links);

/* What a link leads to, on all its way. */
static bool check_target(hid_t place, const char *name, int n_links) {
    return check_way(place, name, n_links + 1) &&
           (H5Oexists_by_name(place, name, H5P_DEFAULT) <= 0 || check_found(place, name));
}

/* A link by name, the last part of `name`. */
static bool check_link(hid_t place, const char *name, const char *target, int n_links) {
    char way[2 * WAY_BYTES];
    const char *slash = strrchr(name, '/');
    const int n = target[0] == '/' || slash == NULL ? 0 : (int)(slash - name) + 1;
    (void)snprintf(way, sizeof way, "%.*s%s", n, name, target);
    return check_target(place, way, n_links);
}

/* A link to another file, with what comes behind it in the name. */
static bool check_outside(hid_t place, const void *target, size_t bytes, const char *rest,
                          int n_links) {
    char way[2 * WAY_BYTES];
    char path[SLC_PATH_BYTES] = "";
    char why[SLCI_H5_BESIDE_WHY_BYTES];
    const char *file_name = NULL;
    const char *name = NULL;
    unsigned flags = 0;
    if (H5Lunpack_elink_val(target, bytes, &flags, &file_name, &name) < 0 ||
        H5Fget_name(place, path, sizeof path) <= 0) {
        return true;
    }
    (void)snprintf(way, sizeof way, "/%s%s%s", name[0] == '/' ? name + 1 : name,
                   rest[0] == '\0' ? "" : "/", rest);
    /* What HDF5 cannot open there, it does not go through either. */
    const hid_t file = (hid_t)slci_h5_open_linked(path, file_name, why);
    const bool is_sound = file < 0 || check_target(file, way, n_links);
    const hid_t reason = slci_h5_reason_keep(is_sound);
    (void)H5Fclose(file);
    slci_h5_reason_restore(reason);
    return is_sound;
}

/* One part, the last of `name`, before `rest`; *goes_on: there is something behind it in this file. */
static bool check_part(hid_t place, const char *name, const char *rest, int n_links,
                       bool *goes_on) {
    H5L_info_t info;
    char what[SLCI_H5_REASON_BYTES];
    char target[WAY_BYTES] = "";
    *goes_on = H5Lget_info(place, name, &info, H5P_DEFAULT) >= 0;
    if (*goes_on && info.type == H5L_TYPE_HARD) {
        (void)snprintf(what, sizeof what, "'%.500s'", name);
        return rest[0] == '\0' || slci_h5_object_check_at(place, info.u.address, what);
    }
    if (!*goes_on || n_links == MOST_LINKS || info.u.val_size >= sizeof target ||
        H5Lget_val(place, name, target, sizeof target, H5P_DEFAULT) < 0) {
        *goes_on = false; /* HDF5 does not follow it either, or not to a place that Sluice names */
        return true;
    }
    *goes_on = info.type == H5L_TYPE_SOFT;
    return *goes_on ? check_link(place, name, target, n_links)
           : info.type == H5L_TYPE_EXTERNAL
               ? check_outside(place, target, info.u.val_size, rest, n_links)
               : true;
}

static bool check_way(hid_t place, const char *name, int n_links) {
    char way[2 * WAY_BYTES];
    const size_t n = strlen(name);
    bool goes_on = n < sizeof way;
    bool is_sound = name[0] != '/' || !goes_on || check_found(place, "/");
    for (size_t end = strspn(name, "/"); end < n && goes_on && is_sound;) {
        end += strcspn(name + end, "/");
        memcpy(way, name, end);
        way[end] = '\0';
        end += strspn(name + end, "/");
        is_sound = check_part(place, way, name + end, n_links, &goes_on);
    }
    return is_sound;
}

bool slci_h5_object_check_way(hid_t place, const char *name) {
    return check_way(place, name, 0);
}

bool slci_h5_object_check(hid_t place, const char *name) {
    return check_way(place, name, 0) && check_found(place, name);
}
