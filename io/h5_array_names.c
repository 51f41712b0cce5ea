/* Names of datasets. A file may hold any number of them in any number of groups, so looking for
 * what was meant ends after some thousand links, and none by name is followed: a chain of those takes a
 * time that grows with the square of its length. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "core/spelling.h"
#include "io/h5_array_internal.h"
#include "io/h5_beside.h"
#include "io/h5_object_check.h"
#include "io/h5_reason.h"

#define MOST_LINKS 10000
#define N_NEAREST 3

/* Of what a link by name says; none that Sluice names says more. */
#define VALUE_BYTES 4096

slc_status slci_h5_array_name(const char *name, char out[SLCI_H5_NAME_BYTES]) {
    const size_t n = strlen(name);
    const char *at = name[0] == '/' ? name + 1 : name;
    if (n >= SLCI_H5_NAME_BYTES - 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "the dataset's name '%.40s...' has %zu bytes; at most %d work", name, n,
                        SLCI_H5_NAME_BYTES - 2);
    }
    for (const char *part = at; part != NULL;) {
        const size_t length = strcspn(part, "/");
        if (length == 0 || (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')))) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "'%s' is no name of a dataset; expected one like /data or /group/data",
                            name);
        }
        part = part[length] == '/' ? part + length + 1 : NULL;
    }
    (void)snprintf(out, SLCI_H5_NAME_BYTES, "/%s", at);
    return SLC_OK;
}

/* The datasets found so far whose names are nearest to one. */
typedef struct search {
    const char *name;
    int n_links, n_found; /* looked at, and of these datasets */
    bool is_cut;          /* there may be more */
    bool is_damaged;      /* a link leads to what must not be opened, which ends the search */
    int n_nearest;
    int distance[N_NEAREST]; /* ascending */
    char nearest[N_NEAREST][SLCI_H5_NAME_BYTES];
} search;

static void keep(search *found, const char *name) {
    const int distance = slci_spelling_distance(name, strlen(name), found->name);
    int at = found->n_nearest;
    while (at > 0 && distance < found->distance[at - 1]) {
        at--;
    }
    if (at == N_NEAREST) {
        return;
    }
    found->n_nearest = found->n_nearest < N_NEAREST ? found->n_nearest + 1 : N_NEAREST;
    for (int k = found->n_nearest - 1; k > at; k--) {
        found->distance[k] = found->distance[k - 1];
        memcpy(found->nearest[k], found->nearest[k - 1], sizeof found->nearest[k]);
    }
    found->distance[at] = distance;
    (void)snprintf(found->nearest[at], sizeof found->nearest[at], "%s", name);
}

/* HDF5 goes on into a group after this has seen it. */
static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    search *found = context;
    H5O_info_t object;
    char what[SLCI_H5_REASON_BYTES];
    (void)snprintf(what, sizeof what, "'/%.500s'", name);
    found->is_cut = found->n_links == MOST_LINKS;
    if (found->is_cut) {
        return 1;
    }
    found->n_links++;
    if (info->type != H5L_TYPE_HARD) {
        return 0;
    }
    if (!slci_h5_object_check_at(group, info->u.address, what)) {
        found->is_damaged = true;
        return -1;
    }
    if (H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        object.type == H5O_TYPE_DATASET) {
        char absolute[SLCI_H5_NAME_BYTES];
        found->n_found++;
        (void)snprintf(absolute, sizeof absolute, "/%.*s", (int)sizeof absolute - 2, name);
        keep(found, absolute);
    }
    (void)H5Eclear2(H5E_DEFAULT);
    return 0;
}

/* The status of a search that has just failed: what is in the file nobody knows then. */
static slc_status visit_fail(const char *path, const char *name, const search *found) {
    char text[SLCI_H5_REASON_BYTES];
    if (found->is_damaged || slci_h5_lacks_memory()) {
        return slci_h5_header_fail(path, name);
    }
    slci_h5_error_text(text, sizeof text);
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: its links cannot be read: %s", path, text);
}

/* What an external link names. */
static slc_status outside_fail(const char *path, const char *name, const char *value,
                               size_t n_bytes) {
    const char *file_name = NULL;
    const char *object = NULL;
    unsigned flags = 0;
    if (H5Lunpack_elink_val(value, n_bytes, &flags, &file_name, &object) < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is an external link that cannot be read", path,
                        name);
    }
    char why[SLCI_H5_BESIDE_WHY_BYTES];
    const hid_t file = (hid_t)slci_h5_open_linked(path, file_name, why);
    const bool is_open = file >= 0;
    if (is_open) {
        (void)H5Fclose(file);
    }
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is an external link to %s in the file %s, which %s%s",
                    path, name, object, file_name,
                    is_open          ? "has nothing of this name"
                    : why[0] != '\0' ? "cannot be opened: "
                                     : "is not there; put it beside the file of the link",
                    why);
}

/* SLC_OK where there is no link of this name, and it is missing for no other reason. With the lock. */
static slc_status link_fail(hid_t file, const char *path, const char *name) {
    H5L_info_t info;
    char value[VALUE_BYTES] = "";
    if (H5Lget_info(file, name, &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_HARD ||
        info.u.val_size >= sizeof value ||
        H5Lget_val(file, name, value, sizeof value, H5P_DEFAULT) < 0) {
        return SLC_OK;
    }
    if (info.type == H5L_TYPE_EXTERNAL) {
        return outside_fail(path, name, value, info.u.val_size);
    }
    return info.type == H5L_TYPE_SOFT
               ? SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: %s is a soft link to %s, which leads to nothing; name a dataset",
                          path, name, value)
               : SLC_OK;
}

/* What the search has found, before the names. */
static void say_found(const search *found, char *out, size_t capacity) {
    if (found->n_found == 0 && !found->is_cut) {
        (void)snprintf(out, capacity, "the file holds no dataset");
    } else if (found->n_found == 0) {
        (void)snprintf(out, capacity, "none of the %d names in it that were looked at is a dataset",
                       found->n_links);
    } else if (found->is_cut) {
        (void)snprintf(out, capacity, "the nearest datasets among the first %d names in it are ",
                       found->n_links);
    } else {
        (void)snprintf(out, capacity, "the %sdatasets in it are ",
                       found->n_found > N_NEAREST ? "nearest " : "");
    }
}

slc_status slci_h5_array_missing(slci_h5_id file, const char *path, const char *name) {
    slci_h5_kind kind = SLCI_H5_ABSENT;
    char words[128];
    SLC_TRY(slci_h5_find(file, path, name, &kind));
    search found = {.name = name};
    char list[N_NEAREST * (SLCI_H5_NAME_BYTES + 2) + 1] = "";
    slci_h5_lock();
    slc_status status = kind == SLCI_H5_ABSENT ? link_fail((hid_t)file, path, name) : SLC_OK;
    if (status == SLC_OK && H5Lvisit((hid_t)file, H5_INDEX_NAME, H5_ITER_INC, visit, &found) < 0) {
        status = visit_fail(path, name, &found);
    }
    (void)H5Eclear2(H5E_DEFAULT);
    slci_h5_unlock();
    SLC_TRY(status);
    say_found(&found, words, sizeof words);
    for (int k = 0; k < found.n_nearest; k++) {
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "",
                       found.nearest[k]);
    }
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is %s; %s%s", path, name,
                    kind == SLCI_H5_ABSENT ? "missing" : "not a dataset", words, list);
}
