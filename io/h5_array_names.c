/* Names of datasets. A file may hold any number of them in any number of groups, so looking for
 * what was meant ends after some thousand links. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "core/spelling.h"
#include "io/h5_array_internal.h"
#include "io/h5_object_check.h"

#define MOST_LINKS 4096
#define N_NEAREST 3

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
    const bool is_sound = info->type == H5L_TYPE_HARD
                              ? slci_h5_object_check_at(group, info->u.address, name)
                              : slci_h5_object_check_way(group, name);
    if (!is_sound) {
        return 1;
    }
    if (H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        object.type == H5O_TYPE_DATASET) {
        char absolute[SLCI_H5_NAME_BYTES];
        found->n_found++;
        (void)snprintf(absolute, sizeof absolute, "/%.*s", (int)sizeof absolute - 2, name);
        keep(found, absolute);
    }
    (void)H5Eclear2(H5E_DEFAULT);
    return ++found->n_links < MOST_LINKS ? 0 : 1;
}

slc_status slci_h5_array_missing(slci_h5_id file, const char *path, const char *name) {
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(file, path, name, &kind));
    search found = {.name = name};
    char list[N_NEAREST * (SLCI_H5_NAME_BYTES + 2) + 1] = "";
    slci_h5_lock();
    (void)H5Lvisit((hid_t)file, H5_INDEX_NAME, H5_ITER_INC, visit, &found);
    (void)H5Eclear2(H5E_DEFAULT);
    slci_h5_unlock();
    for (int k = 0; k < found.n_nearest; k++) {
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "",
                       found.nearest[k]);
    }
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is %s; %s%s", path, name,
                    kind == SLCI_H5_ABSENT ? "missing" : "not a dataset",
                    found.n_found == 0          ? "the file holds no dataset"
                    : found.n_found > N_NEAREST ? "the nearest datasets in it are "
                                                : "the datasets in it are ",
                    list);
}
