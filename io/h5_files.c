/* Names are followed as HDF5 follows them, part by part, and what they lead to is looked into:
 *
 *     /a/b/x      each link on the way: by name ─▶ another name; to another file ─▶ a name there
 *       │
 *       ├─ group: each link in it
 *       └─ dataset: the file that it is in ─ its raw files ─ its virtual sources: names in other files
 *
 * Groups and virtual datasets may lead to themselves, so those that were looked into are remembered:
 * by the file and the address, since HDF5's own number of a file is another one when it is opened
 * again.
 *
 * What HDF5 cannot say of a sound object ends the search with an error, since it might be where a file
 * is named. Not followed, and no error, is what reading does not follow either: names with nothing
 * there, files that are not there or that HDF5 cannot open, what is damaged, links of a program's own
 * kind, and more links in a row than HDF5 goes through. Where it does want them reading fails, and that
 * is before an output takes its name.
 *
 * What a visit returns is whether the search goes on; where not, its status says why. */
#include "io/h5_files.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "io/h5_beside.h"
#include "io/h5_data.h"
#include "io/h5_file.h"
#include "io/h5_object_check.h"
#include "io/h5_reason.h"
#include "io/h5_rest.h"
#include "io/outfile.h"

/* Of calls within calls: groups within groups, links that lead to links. No deeper ones are copied. */
#define MOST_DEPTH 128

/* As many links in a row as HDF5 itself follows. */
#define MOST_LINKS 16

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
    int n_links;        /* followed since the last object */
    object_place *seen; /* [n_seen] */
    size_t n_seen, capacity;
    slc_status status; /* of what has ended the search; SLC_OK: nothing has */
} search;

/* What is looked at: under this name in the input, for messages. */
typedef struct label {
    char text[SLCI_H5_NAME_BYTES];
} label;

/* What a file is needed for. */
typedef enum purpose { ELEMENTS, WAY } purpose;

static bool visit_name(search *self, hid_t place, const char *name, const label *as);

/* ---- ends ------------------------------------------------------------------------------------- */

/* Something that cannot be told of what is read, `why`, in words: false. */
static bool give_up(search *self, const label *as, const char *why) {
    self->status = SLC_FAIL(SLC_ERROR_INPUT,
                            "%s:%s: whether an output replaces a file that it needs is not known: "
                            "%s; name outputs that do not exist yet",
                            self->reading->path, as->text, why);
    return false;
}

/* A call of HDF5 has failed that should have told `what`: false. */
static bool lose(search *self, const label *as, const char *what) {
    char text[SLCI_H5_REASON_BYTES];
    char why[2 * SLCI_H5_REASON_BYTES];
    if (slci_h5_lacks_memory()) {
        self->status = SLC_FAIL(SLC_ERROR_MEMORY, "%s:%s: no memory to look for its other files",
                                self->reading->path, as->text);
        return false;
    }
    slci_h5_error_text(text, sizeof text);
    (void)snprintf(why, sizeof why, "%s cannot be read%s%s", what, text[0] != '\0' ? ": " : "",
                   text);
    return give_up(self, as, why);
}

/* A look at a header has failed. Damage is left to the reader, but not that nothing could be looked
 * at. */
static bool leave(search *self, const label *as) {
    return (!slci_h5_lacks_memory() && !slci_h5_reason_is_out_of_reach()) ||
           lose(self, as, "its header");
}

/* ---- one file --------------------------------------------------------------------------------- */

/* False where the file is one of the outputs. These are there, so a file that is not is none of
 * them. */
static bool check_file(search *self, const char *name, purpose of, const label *as) {
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
                         of == ELEMENTS ? "elements of" : "the way to", self->reading->path,
                         as->text, of == ELEMENTS ? "lie in" : "leads through");
        }
    }
    return self->status == SLC_OK;
}

/* The file that an object is in. */
static bool find_file_of(search *self, hid_t object, const label *as, char out[SLC_PATH_BYTES]) {
    const ssize_t n = H5Fget_name(object, out, SLC_PATH_BYTES);
    return (n > 0 && n < SLC_PATH_BYTES) || lose(self, as, "the name of its file");
}

static bool check_file_of(search *self, hid_t object, purpose of, const label *as) {
    char name[SLC_PATH_BYTES] = "";
    return find_file_of(self, object, as, name) && check_file(self, name, of, as);
}

/* Another file, which is open, or negative where there is none: what `target` in it is, and itself.
 * Closes it. */
static bool visit_outside(search *self, hid_t file, const char *target, const label *as) {
    const bool goes_on =
        file < 0 || (visit_name(self, file, target, as) && check_file_of(self, file, WAY, as));
    (void)H5Fclose(file);
    return goes_on;
}

/* ---- objects ---------------------------------------------------------------------------------- */

/* *out: where an object is. */
static bool find_place(search *self, hid_t object, const label *as, object_place *out) {
    char name[SLC_PATH_BYTES] = "";
    H5O_info_t info;
    slci_file_stamp stamp;
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) {
        return lose(self, as, "where it lies");
    }
    if (!find_file_of(self, object, as, name)) {
        return false;
    }
    if (!slci_file_stamp_find(name, &stamp)) {
        return give_up(self, as, "a file that was opened is not there any more");
    }
    *out = (object_place){stamp.device, stamp.inode, info.addr};
    return true;
}

static bool was_seen(const search *self, const object_place *place) {
    for (size_t k = 0; k < self->n_seen; k++) {
        const object_place *seen = &self->seen[k];
        if (seen->address == place->address && seen->inode == place->inode &&
            seen->device == place->device) {
            return true;
        }
    }
    return false;
}

/* Remembers an object. *is_first: it was not seen before. */
static bool remember(search *self, hid_t object, const label *as, bool *is_first) {
    object_place place = {.inode = 0};
    if (!find_place(self, object, as, &place)) {
        return false;
    }
    *is_first = !was_seen(self, &place);
    if (*is_first && self->n_seen == self->capacity) {
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
    if (*is_first) {
        self->seen[self->n_seen++] = place;
    }
    return true;
}

static bool visit_raw_files(search *self, hid_t set, hid_t list, const label *as) {
    static const char what[] = "the names of its raw files";
    const int n = H5Pget_external_count(list);
    bool goes_on = n >= 0 || lose(self, as, what);
    for (int k = 0; k < n && goes_on; k++) {
        char name[SLC_PATH_BYTES] = ""; /* HDF5 ends no name that fills its room */
        char path[SLC_PATH_BYTES];
        off_t offset = 0;
        hsize_t bytes = 0;
        goes_on =
            (H5Pget_external(list, (unsigned)k, sizeof name - 1, name, &offset, &bytes) >= 0 &&
             slci_h5_raw_file(set, name, path)) ||
            lose(self, as, what);
        goes_on = goes_on && check_file(self, path, ELEMENTS, as);
    }
    return goes_on;
}

/* Source k. */
static bool visit_virtual_source(search *self, hid_t set, hid_t list, size_t k, const label *as) {
    char file_name[SLC_PATH_BYTES] = "";
    char name[WAY_BYTES] = "";
    char why[SLCI_H5_BESIDE_WHY_BYTES]; /* the reader says it */
    const ssize_t n_file = H5Pget_virtual_filename(list, k, file_name, sizeof file_name);
    const ssize_t n_name = H5Pget_virtual_dsetname(list, k, name, sizeof name);
    if (n_file < 0 || n_file >= (ssize_t)sizeof file_name || n_name < 0 ||
        n_name >= (ssize_t)sizeof name) {
        return lose(self, as, "a name of a virtual source");
    }
    return visit_outside(self, (hid_t)slci_h5_open_source(set, file_name, why), name, as);
}

static bool visit_virtual_sources(search *self, hid_t set, hid_t list, const label *as) {
    size_t n = 0;
    bool is_first = false;
    bool goes_on = remember(self, set, as, &is_first) &&
                   (H5Pget_virtual_count(list, &n) >= 0 || lose(self, as, "its virtual sources"));
    for (size_t k = 0; k < n && goes_on && is_first; k++) {
        goes_on = visit_virtual_source(self, set, list, k, as);
    }
    return goes_on;
}

static bool visit_dataset(search *self, hid_t set, const label *as) {
    const hid_t list = H5Dget_create_plist(set);
    if (list < 0) {
        return lose(self, as, "where its elements lie");
    }
    const bool goes_on =
        visit_raw_files(self, set, list, as) &&
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
    bool is_first = false;
    const bool goes_on = remember(self, group, as, &is_first);
    return goes_on &&
           (!is_first ||
            H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &visit) >= 0 ||
            self->status != SLC_OK || lose(self, as, "its links")) &&
           self->status == SLC_OK;
}

/* One that is there, and open. */
static bool visit_opened(search *self, hid_t object, const label *as) {
    const H5I_type_t type = H5Iget_type(object);
    const int n_links = self->n_links;
    self->n_links = 0; /* what it leads to is found anew */
    const bool goes_on =
        type == H5I_DATASET
            ? check_file_of(self, object, ELEMENTS, as) && visit_dataset(self, object, as)
            : type != H5I_GROUP ||
                  (visit_group(self, object, as) && check_file_of(self, object, WAY, as));
    self->n_links = n_links;
    return goes_on;
}

static bool visit_object(search *self, hid_t place, const char *name, const label *as) {
    if (!slci_h5_object_check(place, name)) {
        return leave(self, as);
    }
    const hid_t object = H5Oopen(place, name, H5P_DEFAULT);
    if (object < 0) {
        return lose(self, as, "what it is");
    }
    const bool goes_on = visit_opened(self, object, as);
    (void)H5Oclose(object);
    return goes_on;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* In another file: the link's value, with what comes behind it in the name. */
static bool visit_linked(search *self, hid_t place, const char *file_name, const char *name,
                         const label *as) {
    char path[SLC_PATH_BYTES] = "";
    char why[SLCI_H5_BESIDE_WHY_BYTES]; /* the reader says it */
    return find_file_of(self, place, as, path) &&
           visit_outside(self, (hid_t)slci_h5_open_linked(path, file_name, why), name, as);
}

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
    if (H5Lget_info(place, way, &info, H5P_DEFAULT) < 0) {
        return lose(self, as, "a link on the way to it");
    }
    if (info.u.val_size >= sizeof value) {
        return give_up(self, as, "a link on the way to it leads to a name of over 4000 bytes");
    }
    if (H5Lget_val(place, way, value, sizeof value, H5P_DEFAULT) < 0 ||
        (info.type == H5L_TYPE_EXTERNAL &&
         H5Lunpack_elink_val(value, info.u.val_size, &flags, &file_name, &target) < 0)) {
        return lose(self, as, "a link on the way to it");
    }
    const bool is_relative = file_name == NULL && target[0] != '/' && slash != NULL;
    (void)snprintf(name, sizeof name, "%.*s%s%s%s", is_relative ? (int)(slash - way) + 1 : 0, way,
                   target, rest[0] == '\0' ? "" : "/", rest);
    return file_name != NULL ? visit_linked(self, place, file_name, name, as)
                             : visit_name(self, place, name, as);
}

/* A link other than a hard one; those of a program's own kind Sluice does not know. */
static bool visit_soft(search *self, hid_t place, const H5L_info_t *link, const char *way,
                       const char *rest, const label *as) {
    if ((link->type != H5L_TYPE_SOFT && link->type != H5L_TYPE_EXTERNAL) ||
        self->n_links == MOST_LINKS) {
        return true;
    }
    self->n_links++;
    const bool goes_on = visit_target(self, place, way, rest, as);
    self->n_links--;
    return goes_on;
}

/* Whether anything can be behind what a hard link leads to. */
static bool look_behind(search *self, hid_t place, const char *way, const label *as, bool *out) {
    H5O_info_t info;
    if (H5Oget_info_by_name2(place, way, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        return lose(self, as, "what is on the way to it");
    }
    *out = info.type == H5O_TYPE_GROUP;
    return true;
}

static bool follow(search *self, hid_t place, const char *name, const label *as) {
    char way[WAY_BYTES];
    const size_t n = strlen(name);
    if (n >= sizeof way) {
        return give_up(self, as, "the way to it has a name of over 4000 bytes");
    }
    if (!slci_h5_object_check_way(place, name)) {
        return leave(self, as);
    }
    bool is_group = true;
    for (size_t end = strspn(name, "/"); end < n;) {
        H5L_info_t info;
        if (!is_group) {
            return true; /* nothing is behind a dataset */
        }
        end += strcspn(name + end, "/");
        memcpy(way, name, end);
        way[end] = '\0';
        end += strspn(name + end, "/");
        const htri_t is_there = H5Lexists(place, way, H5P_DEFAULT);
        if (is_there < 0 || (is_there > 0 && H5Lget_info(place, way, &info, H5P_DEFAULT) < 0)) {
            return lose(self, as, "a link on the way to it");
        }
        if (is_there == 0) {
            return true;
        }
        if (info.type != H5L_TYPE_HARD) {
            return visit_soft(self, place, &info, way, name + end, as);
        }
        if (!look_behind(self, place, way, as, &is_group)) {
            return false;
        }
    }
    return visit_object(self, place, name, as);
}

static bool visit_name(search *self, hid_t place, const char *name, const label *as) {
    if (self->depth == MOST_DEPTH) {
        return give_up(self, as, "over 128 groups and links lead to it");
    }
    self->depth++;
    const bool goes_on = follow(self, place, name, as);
    self->depth--;
    return goes_on;
}

/* ---- all of it -------------------------------------------------------------------------------- */

/* Longer names than a label has room for are no reader's. */
static bool visit_read(search *self, hid_t file, const char *name) {
    label as;
    label group;
    if (snprintf(as.text, sizeof as.text, "%s%s", name[0] == '/' ? "" : "/", name) >=
        (int)sizeof as.text) {
        return true;
    }
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
