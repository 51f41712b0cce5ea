/* The places, in HDF5's order (H5F_prefix_open_file; H5D__efl_read for raw files, which are looked for
 * at one place alone):
 *
 *     an absolute name as it is; what follows is of its last part
 *     HDF5_EXT_PREFIX for links, HDF5_VDS_PREFIX for virtual datasets: folders, with ':' between
 *     the prefix of the access list, where ${ORIGIN} stands for the folder of the file; HDF5 gives a
 *     dataset without one that of HDF5_VDS_PREFIX, or of HDF5_EXTFILE_PREFIX for raw files
 *     the folder of the file │ the current folder │ the folder of what the file is a link to */
#include "io/h5_beside.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is looked for. */
typedef struct search {
    const char *name; /* lent */
    slci_h5_id file;  /* negative: not found yet */
    char *why;        /* [SLCI_H5_BESIDE_WHY_BYTES] */
} search;

/* *out: the name in a folder of n bytes; "": from here. False where that is too long. */
static bool join(const char *folder, int n, const char *name, char out[SLC_PATH_BYTES]) {
    const char *slash = n == 0 || folder[n - 1] == '/' ? "" : "/";
    return snprintf(out, SLC_PATH_BYTES, "%.*s%s%s", n, folder, slash, name) < SLC_PATH_BYTES;
}

/* Whether it is found, here or before. */
static bool look_in(search *self, const char *folder, int n) {
    char path[SLC_PATH_BYTES];
    char text[SLCI_H5_BESIDE_WHY_BYTES] = "";
    bool is_unlocked = false;
    if (self->file >= 0 || !join(folder, n, self->name, path) || access(path, F_OK) != 0) {
        return self->file >= 0;
    }
    self->file = slci_h5_open_any(path, text, sizeof text, &is_unlocked);
    if (self->file < 0 && self->why[0] == '\0') {
        (void)snprintf(self->why, SLCI_H5_BESIDE_WHY_BYTES, "%s", text);
    }
    return self->file >= 0;
}

/* In each folder of a list; NULL: none. */
static void look_in_list(search *self, const char *folders) {
    const char *at = folders == NULL ? "" : folders;
    while (*at != '\0') {
        const int n = (int)strcspn(at, ":");
        if (n > 0) {
            (void)look_in(self, at, n);
        }
        at += at[n] == ':' ? n + 1 : n;
    }
}

/* In the folder of a file. */
static void look_beside(search *self, const char *path) {
    const char *slash = strrchr(path, '/');
    (void)look_in(self, path, slash == NULL ? 0 : (int)(slash - path) + 1);
}

/* `prefix`: the access list's, "" for none. */
static slci_h5_id look(const char *path, const char *name, const char *variable, const char *prefix,
                       char why[SLCI_H5_BESIDE_WHY_BYTES]) {
    search self = {.name = name, .file = -1, .why = why};
    why[0] = '\0';
    if (name[0] == '/' && !look_in(&self, "", 0)) {
        self.name = strrchr(name, '/') + 1;
    }
    look_in_list(&self, getenv(variable));
    if (prefix[0] != '\0') {
        (void)look_in(&self, prefix, (int)strlen(prefix));
    }
    look_beside(&self, path);
    if (!look_in(&self, "", 0)) {
        char *real = realpath(path, NULL);
        look_beside(&self, real == NULL ? path : real);
        free(real);
    }
    return self.file;
}

slci_h5_id slci_h5_open_linked(const char *path, const char *name,
                               char why[SLCI_H5_BESIDE_WHY_BYTES]) {
    return look(path, name, "HDF5_EXT_PREFIX", "", why);
}

typedef ssize_t (*prefix_of)(hid_t list, char *prefix, size_t capacity);

/* What HDF5 itself puts before names of files of this dataset. False where it does not say so, or not
 * in this room. */
static bool find_prefix(slci_h5_id set, prefix_of find, char out[SLC_PATH_BYTES]) {
    const hid_t list = H5Dget_access_plist((hid_t)set);
    out[0] = '\0';
    const ssize_t n = list < 0 ? -1 : find(list, out, SLC_PATH_BYTES);
    if (list >= 0) {
        (void)H5Pclose(list);
    }
    return n >= 0 && n < SLC_PATH_BYTES;
}

slci_h5_id slci_h5_open_source(slci_h5_id set, const char *name,
                               char why[SLCI_H5_BESIDE_WHY_BYTES]) {
    char path[SLC_PATH_BYTES] = "";
    char prefix[SLC_PATH_BYTES];
    why[0] = '\0';
    if (strcmp(name, ".") == 0) {
        return (slci_h5_id)H5Iget_file_id((hid_t)set);
    }
    const ssize_t n = H5Fget_name((hid_t)set, path, sizeof path);
    if (n <= 0 || n >= (ssize_t)sizeof path || !find_prefix(set, H5Pget_virtual_prefix, prefix)) {
        (void)snprintf(why, SLCI_H5_BESIDE_WHY_BYTES, "HDF5 does not say where it looks for it");
        return -1;
    }
    return look(path, name, "HDF5_VDS_PREFIX", prefix, why);
}

bool slci_h5_raw_file(slci_h5_id set, const char *name, char out[SLC_PATH_BYTES]) {
    char prefix[SLC_PATH_BYTES];
    return find_prefix(set, H5Pget_efile_prefix, prefix) &&
           join(prefix, name[0] == '/' ? 0 : (int)strlen(prefix), name, out);
}
