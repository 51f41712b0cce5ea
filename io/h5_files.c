/* Names are followed as HDF5 follows them, part by part, and what they lead to is looked into:
 *
 *     /a/b/x      each link on the way: by name ─▶ another name; to another file ─▶ a name there
 *       │
 *       ├─ group: each link in it
 *       └─ dataset: the file that it is in ─ its raw files ─ its virtual sources: names in other files
 *
 * Groups and virtual datasets may lead to themselves, so those that were looked into are remembered:
 * by the file and the address, since HDF5's own number of a file is another one when it is opened
 * again. */
#include "io/h5_files.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "io/h5_data.h"
#include "io/h5_file.h"
#include "io/h5_object_check.h"
#include "io/h5_rest.h"
#include "io/outfile.h"

/* Of calls within calls: groups within groups, links that lead to links. HDF5 follows 16 links, and
 * what is deeper than this is damaged or not read. */
#define MOST_DEPTH 128

#define WAY_BYTES 4096

/* An output that exists. */
typedef struct output_file {
    const char *path;
    slci_file_stamp stamp;
} output_file;

typedef struct object_place {
    uint64_t device, inode;
    haddr_t address;
} object_place;

typedef struct search {
    const slc_h5_reading *reading;
    output_file *outputs; /* [n_outputs] */
    int n_outputs, depth;
    object_place *seen; /* [n_seen] */
    size_t n_seen, capacity;
    slc_status status; /* of what has ended the search; SLC_OK: nothing has */
} search;

/* What is looked at: under this name in the input, for messages. */
typedef struct label {
    char text[SLCI_H5_NAME_BYTES];
} label;

/* What a file is needed for. */
typedef enum use { ELEMENTS, WAY } use;

static bool visit_name(search *self, hid_t place, const char *name, const label *as);

/* ---- one file --------------------------------------------------------------------------------- */

/* False where the file is one of the outputs. */
static bool check_file(search *self, const char *name, use how, const label *as) {
    slci_file_stamp stamp;
    if (!slci_file_stamp_find(name, &stamp)) {
        return true;
    }
    for (int k = 0; k < self->n_outputs && self->status == SLC_OK; k++) {
        const output_file *output = &self->outputs[k];
        if (stamp.device == output->stamp.device && stamp.inode == output->stamp.inode) {
            self->status =
                SLC_FAIL(SLC_ERROR_ARGUMENT,
                         "%s is an output, and %s %s:%s %s it; name another output", output->path,
                         how == ELEMENTS ? "elements of" : "the way to", self->reading->path,
                         as->text, how == ELEMENTS ? "lie in" : "leads through");
        }
    }
    return self->status == SLC_OK;
}

/* Likewise, of the file that an object is in. */
static bool check_file_of(search *self, hid_t object, use how, const label *as) {
    char name[SLC_PATH_BYTES] = "";
    return H5Fget_name(object, name, sizeof name) <= 0 || check_file(self, name, how, as);
}

/* Another file that the one of `place` names: what `target` in it is, and itself. */
static bool visit_outside(search *self, hid_t place, const char *file_name, const char *target,
                          const label *as) {
    char path[SLC_PATH_BYTES] = "";
    (void)H5Fget_name(place, path, sizeof path);
    const hid_t file = (hid_t)slci_h5_open_beside(path, file_name);
    const bool goes_on =
        file < 0 || (visit_name(self, file, target, as) && check_file_of(self, file, WAY, as));
    (void)H5Fclose(file);
    return goes_on;
}

/* ---- objects ---------------------------------------------------------------------------------- */

/* Remembers an object. False where it was seen before, or where there is no memory. */
static bool is_first_time(search *self, hid_t object) {
    char name[SLC_PATH_BYTES] = "";
    H5O_info_t info;
    slci_file_stamp stamp = {.inode = 0};
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ||
        H5Fget_name(object, name, sizeof name) <= 0) {
        return false;
    }
    (void)slci_file_stamp_find(name, &stamp);
    const object_place place = {stamp.device, stamp.inode, info.addr};
    for (size_t k = 0; k < self->n_seen; k++) {
        const object_place *seen = &self->seen[k];
        if (seen->address == place.address && seen->inode == place.inode &&
            seen->device == place.device) {
            return false;
        }
    }
    if (self->n_seen == self->capacity) {
        const size_t capacity = self->capacity > 0 ? 2 * self->capacity : 16;
        object_place *grown = realloc(self->seen, capacity * sizeof *grown);
        if (grown == NULL) {
            self->status = SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to look for its other files",
                                    self->reading->path);
            return false;
        }
        self->seen = grown;
        self->capacity = capacity;
    }
    self->seen[self->n_seen++] = place;
    return true;
}

static bool visit_raw_files(search *self, hid_t list, const label *as) {
    const int n = H5Pget_external_count(list);
    bool goes_on = true;
    for (int k = 0; k < n && goes_on; k++) {
        char name[SLC_PATH_BYTES] = ""; /* HDF5 ends no name that fills its room */
        off_t offset = 0;
        hsize_t bytes = 0;
        goes_on = H5Pget_external(list, (unsigned)k, sizeof name - 1, name, &offset, &bytes) < 0 ||
                  check_file(self, name, ELEMENTS, as);
    }
    return goes_on;
}

static bool visit_virtual_sources(search *self, hid_t set, hid_t list, const label *as) {
    size_t n = 0;
    bool goes_on = true;
    if (H5Pget_virtual_count(list, &n) < 0 || !is_first_time(self, set)) {
        return self->status == SLC_OK;
    }
    for (size_t k = 0; k < n && goes_on; k++) {
        char file_name[SLC_PATH_BYTES] = "";
        char name[WAY_BYTES] = "";
        if (H5Pget_virtual_filename(list, k, file_name, sizeof file_name) <= 0 ||
            H5Pget_virtual_dsetname(list, k, name, sizeof name) <= 0) {
            continue;
        }
        if (strcmp(file_name, ".") != 0) {
            goes_on = visit_outside(self, set, file_name, name, as);
            continue;
        }
        const hid_t file = H5Iget_file_id(set);
        goes_on = file < 0 || visit_name(self, file, name, as);
        (void)H5Fclose(file);
    }
    return goes_on;
}

static bool visit_dataset(search *self, hid_t set, const label *as) {
    const hid_t list = H5Dget_create_plist(set);
    if (list < 0) {
        self->status = SLC_FAIL(SLC_ERROR_INPUT, "%s: where dataset %s lies cannot be read",
                                self->reading->path, as->text);
        return false;
    }
    const bool goes_on =
        visit_raw_files(self, list, as) &&
        (H5Pget_layout(list) != H5D_VIRTUAL || visit_virtual_sources(self, set, list, as));
    (void)H5Pclose(list);
    return goes_on;
}

typedef struct group_visit {
    search *self;
    const label *as; /* the group */
} group_visit;

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    (void)info;
    const group_visit *visit = context;
    const char *slash = strcmp(visit->as->text, "/") == 0 ? "" : "/";
    label as;
    (void)snprintf(as.text, sizeof as.text, "%.*s%s%s", SLCI_H5_NAME_BYTES - 2, visit->as->text,
                   slash, name);
    return visit_name(visit->self, group, name, &as) ? 0 : 1;
}

static bool visit_group(search *self, hid_t group, const label *as) {
    group_visit visit = {self, as};
    if (is_first_time(self, group)) {
        (void)H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &visit);
    }
    return self->status == SLC_OK;
}

static bool visit_object(search *self, hid_t place, const char *name, const label *as) {
    const hid_t object = slci_h5_object_check(place, name) ? H5Oopen(place, name, H5P_DEFAULT) : -1;
    const H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
    bool goes_on = true;
    if (type == H5I_DATASET) {
        goes_on = check_file_of(self, object, ELEMENTS, as) && visit_dataset(self, object, as);
    } else if (type == H5I_GROUP) {
        goes_on = visit_group(self, object, as) && check_file_of(self, object, WAY, as);
    }
    (void)H5Oclose(object);
    return goes_on;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* What the link `way` leads to, with what comes behind it in the name. */
static bool visit_target(search *self, hid_t place, const char *way, const char *rest,
                         const label *as) {
    char value[WAY_BYTES] = "";
    char name[3 * WAY_BYTES];
    const char *file_name = NULL;
    const char *target = value;
    const char *slash = strrchr(way, '/');
    unsigned flags = 0;
    H5L_info_t info;
    if (H5Lget_info(place, way, &info, H5P_DEFAULT) < 0 || info.u.val_size >= sizeof value ||
        H5Lget_val(place, way, value, sizeof value, H5P_DEFAULT) < 0) {
        return true;
    }
    if (info.type == H5L_TYPE_EXTERNAL &&
        H5Lunpack_elink_val(value, info.u.val_size, &flags, &file_name, &target) < 0) {
        return true;
    }
    const bool is_relative = file_name == NULL && target[0] != '/' && slash != NULL;
    (void)snprintf(name, sizeof name, "%.*s%s%s%s", is_relative ? (int)(slash - way) + 1 : 0, way,
                   target, rest[0] == '\0' ? "" : "/", rest);
    return file_name != NULL ? visit_outside(self, place, file_name, name, as)
                             : visit_name(self, place, name, as);
}

/* False where the search is over. */
static bool follow(search *self, hid_t place, const char *name, const label *as) {
    char way[WAY_BYTES];
    const size_t n = strlen(name);
    if (n >= sizeof way || !slci_h5_object_check_way(place, name)) {
        return true;
    }
    for (size_t end = strspn(name, "/"); end < n;) {
        H5L_info_t info;
        end += strcspn(name + end, "/");
        memcpy(way, name, end);
        way[end] = '\0';
        end += strspn(name + end, "/");
        if (H5Lget_info(place, way, &info, H5P_DEFAULT) < 0) {
            return true;
        }
        if (info.type != H5L_TYPE_HARD) {
            return (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) ||
                   visit_target(self, place, way, name + end, as);
        }
    }
    return visit_object(self, place, name, as);
}

static bool visit_name(search *self, hid_t place, const char *name, const label *as) {
    if (self->depth == MOST_DEPTH) {
        return true;
    }
    self->depth++;
    const bool goes_on = follow(self, place, name, as);
    self->depth--;
    return goes_on;
}

/* ---- all of it -------------------------------------------------------------------------------- */

static bool visit_read(search *self, hid_t file, const char *name) {
    label as;
    label group;
    (void)snprintf(as.text, sizeof as.text, "%s%s", name[0] == '/' ? "" : "/", name);
    slci_h5_group_of(as.text, group.text);
    return visit_name(self, file, as.text, &as) &&
           (!self->reading->reads_rest || visit_name(self, file, group.text, &group));
}

static slc_status look(search *self) {
    const slc_h5_reading *reading = self->reading;
    slci_h5_id file = 0;
    SLC_TRY(slci_h5_open(reading->path, NULL, &file));
    slci_h5_lock();
    for (int k = 0; k < reading->n_names && self->status == SLC_OK; k++) {
        (void)visit_read(self, (hid_t)file, reading->names[k]);
    }
    (void)H5Eclear2(H5E_DEFAULT); /* of what was not there */
    slci_h5_unlock();
    slci_h5_close(file);
    return self->status;
}

slc_status slc_h5_files_exclude(const slc_h5_reading *reading, const char *const *outputs,
                                int n_outputs) {
    search self = {.reading = reading};
    if (n_outputs == 0) {
        return SLC_OK;
    }
    self.outputs = calloc((size_t)n_outputs, sizeof *self.outputs);
    if (self.outputs == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to look for its other files",
                        reading->path);
    }
    for (int k = 0; k < n_outputs; k++) {
        output_file *output = &self.outputs[self.n_outputs];
        if (outputs[k] != NULL && slci_file_stamp_find(outputs[k], &output->stamp)) {
            output->path = outputs[k];
            self.n_outputs++;
        }
    }
    const slc_status status =
        self.n_outputs > 0 && slci_h5_is_hdf5(reading->path) ? look(&self) : SLC_OK;
    free(self.seen);
    free(self.outputs);
    return status;
}
