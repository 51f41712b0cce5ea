/* What was copied already is found by its address, in a table that is searched from an address's place:
 *
 *     (file, address in the input) ──▶ address in the output
 *
 * so a group that holds itself, as a hard link above it makes possible, ends there. */
#include "io/h5_object_copy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/h5_attributes.h"
#include "io/h5_data.h"
#include "io/h5_dataset_copy.h"
#include "io/h5_detached.h"
#include "io/h5_object_check.h"
#include "io/h5_reason.h"

/* Groups within groups: more is a damaged file, and would be too many calls within calls. */
#define MOST_DEPTH 128

#define FIRST_CAPACITY 64

/* An object, and its copy. */
typedef struct copied_object {
    unsigned long file;
    haddr_t from, to; /* to 0: the entry is free */
} copied_object;

struct slci_h5_object_copy {
    slci_h5_object_copy_options options;
    copied_object *table; /* [capacity], a power of 2, at most half full */
    size_t capacity, n;
    int depth;
};

static const char no_memory[] = "no memory to copy the objects of a file";
static const char too_deep[] = "it is within more groups than any file has within one another";

slci_h5_object_copy *slci_h5_object_copy_create(const slci_h5_object_copy_options *options) {
    slci_h5_object_copy *copy = calloc(1, sizeof *copy);
    if (copy != NULL) {
        copy->options = *options;
    }
    return copy;
}

void slci_h5_object_copy_destroy(slci_h5_object_copy *copy) {
    if (copy != NULL) {
        free(copy->table);
        free(copy);
    }
}

/* ---- the table -------------------------------------------------------------------------------- */

/* The entry of an object, or the free one where it would be. */
static copied_object *entry_of(copied_object *table, size_t capacity, unsigned long file,
                               haddr_t from) {
    size_t k = (size_t)((from / 8 * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (capacity - 1);
    while (table[k].to != 0 && (table[k].from != from || table[k].file != file)) {
        k = (k + 1) & (capacity - 1);
    }
    return &table[k];
}

static bool grow(slci_h5_object_copy *copy) {
    const size_t capacity = copy->capacity > 0 ? 2 * copy->capacity : FIRST_CAPACITY;
    copied_object *table = calloc(capacity, sizeof *table);
    if (table == NULL) {
        slci_h5_reason_push_no_memory(no_memory);
        return false;
    }
    for (size_t k = 0; k < copy->capacity; k++) {
        if (copy->table[k].to != 0) {
            *entry_of(table, capacity, copy->table[k].file, copy->table[k].from) = copy->table[k];
        }
    }
    free(copy->table);
    copy->table = table;
    copy->capacity = capacity;
    return true;
}

bool slci_h5_object_copy_note(slci_h5_object_copy *copy, hid_t from, hid_t to) {
    H5O_info_t source;
    H5O_info_t target;
    const bool is_ok = H5Oget_info2(from, &source, H5O_INFO_BASIC) >= 0 &&
                       H5Oget_info2(to, &target, H5O_INFO_BASIC) >= 0;
    slci_h5_reason_blame(is_ok, from, "the place");
    if (!is_ok || (2 * (copy->n + 1) > copy->capacity && !grow(copy))) {
        return false;
    }
    copied_object *entry = entry_of(copy->table, copy->capacity, source.fileno, source.addr);
    copy->n += entry->to == 0 ? 1 : 0;
    *entry = (copied_object){source.fileno, source.addr, target.addr};
    return true;
}

/* The address of the copy; 0: there is none. */
static haddr_t find_copy(const slci_h5_object_copy *copy, const H5O_info_t *source) {
    return copy->capacity == 0
               ? 0
               : entry_of(copy->table, copy->capacity, source->fileno, source->addr)->to;
}

/* ---- objects ---------------------------------------------------------------------------------- */

/* A list for links that makes `name` in the characters that it is in. */
static hid_t link_list(hid_t from, const char *name) {
    H5L_info_t info;
    const bool is_known = H5Lget_info(from, name, &info, H5P_DEFAULT) >= 0;
    const hid_t list = is_known ? H5Pcreate(H5P_LINK_CREATE) : -1;
    if (list >= 0 && H5Pset_char_encoding(list, info.cset) < 0) {
        (void)H5Pclose(list);
        return -1;
    }
    return list;
}

/* Where a new object comes. */
typedef struct place {
    hid_t group, links;
    const char *name;
} place;

static bool copy_links(slci_h5_object_copy *copy, hid_t from, hid_t to, H5_index_t order);

static hid_t copy_type(hid_t from, const place *at) {
    const hid_t type = slci_h5_detached_type(H5Tcopy(from));
    const hid_t list = type < 0 ? -1 : H5Tget_create_plist(from);
    const bool is_ok =
        list >= 0 && H5Tcommit2(at->group, at->name, type, at->links, list, H5P_DEFAULT) >= 0;
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Pclose(list);
    if (!is_ok) {
        (void)H5Tclose(type);
    }
    slci_h5_reason_restore(reason);
    return is_ok ? type : -1;
}

static hid_t copy_group(hid_t from, const place *at) {
    const hid_t list = slci_h5_detached_group_list(H5Gget_create_plist(from));
    const hid_t to = list < 0 || H5Pset_obj_track_times(list, 0) < 0
                         ? -1
                         : H5Gcreate2(at->group, at->name, at->links, list, H5P_DEFAULT);
    const hid_t reason = slci_h5_reason_keep(to >= 0);
    (void)H5Pclose(list);
    slci_h5_reason_restore(reason);
    return to;
}

static hid_t copy_dataset(const slci_h5_object_copy *copy, hid_t from, const place *at) {
    const hid_t to = slci_h5_dataset_copy(from, at->group, copy->options.log);
    const bool is_ok = to >= 0 && H5Olink(to, at->group, at->name, at->links, H5P_DEFAULT) >= 0;
    const hid_t reason = slci_h5_reason_keep(is_ok);
    if (!is_ok) {
        (void)H5Dclose(to);
    }
    slci_h5_reason_restore(reason);
    return is_ok ? to : -1;
}

/* All links of a group, in the order of their making where it is known. */
static bool copy_below(slci_h5_object_copy *copy, hid_t from, hid_t to) {
    if (copy->depth == MOST_DEPTH) {
        slci_h5_reason_push(from, too_deep);
        return false;
    }
    unsigned order = 0;
    const hid_t list = H5Gget_create_plist(from);
    bool is_ok = list >= 0 && H5Pget_link_creation_order(list, &order) >= 0;
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Pclose(list);
    slci_h5_reason_restore(reason);
    copy->depth++;
    is_ok = is_ok &&
            copy_links(copy, from, to,
                       (order & H5P_CRT_ORDER_INDEXED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME);
    copy->depth--;
    return is_ok;
}

static bool make_copy(slci_h5_object_copy *copy, hid_t from, const place *at) {
    char failed[SLCI_H5_NAME_BYTES] = "";
    const H5I_type_t kind = H5Iget_type(from);
    const hid_t to = kind == H5I_GROUP      ? copy_group(from, at)
                     : kind == H5I_DATASET  ? copy_dataset(copy, from, at)
                     : kind == H5I_DATATYPE ? copy_type(from, at)
                                            : -1;
    const bool is_ok = to >= 0 && slci_h5_object_copy_note(copy, from, to) &&
                       slci_h5_copy_attributes_but(from, to, NULL, failed) &&
                       (kind != H5I_GROUP || copy_below(copy, from, to));
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Oclose(to);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* A second name of what is in the output already. */
static bool name_again(haddr_t address, const place *at) {
    const hid_t there = H5Oopen_by_addr(at->group, address);
    const bool is_ok =
        there >= 0 && H5Olink(there, at->group, at->name, at->links, H5P_DEFAULT) >= 0;
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Oclose(there);
    slci_h5_reason_restore(reason);
    return is_ok;
}

bool slci_h5_object_copy_target(slci_h5_object_copy *copy, hid_t from, const char *name, hid_t to) {
    char what[SLCI_H5_NAME_BYTES];
    H5O_info_t info;
    const place at = {.group = to, .links = link_list(from, name), .name = name};
    const bool is_sound = at.links >= 0 && slci_h5_object_check(from, name);
    const hid_t object = is_sound ? H5Oopen(from, name, H5P_DEFAULT) : -1;
    bool is_ok = object >= 0 && H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0;
    if (is_ok) {
        const haddr_t there = find_copy(copy, &info);
        is_ok = there != 0 ? name_again(there, &at) : make_copy(copy, object, &at);
    }
    (void)snprintf(what, sizeof what, "'%.100s'", name);
    slci_h5_reason_blame(is_ok, from, what);
    const hid_t reason = slci_h5_reason_keep(is_ok);
    (void)H5Oclose(object);
    (void)H5Pclose(at.links);
    slci_h5_reason_restore(reason);
    return is_ok;
}

/* ---- links ------------------------------------------------------------------------------------ */

bool slci_h5_object_copy_link(slci_h5_object_copy *copy, hid_t from, const char *name, hid_t to) {
    H5L_info_t info;
    char what[SLCI_H5_NAME_BYTES];
    if (H5Lexists(to, name, H5P_DEFAULT) > 0) {
        return true;
    }
    bool is_ok = H5Lget_info(from, name, &info, H5P_DEFAULT) >= 0;
    const bool is_followed =
        is_ok && (info.type == H5L_TYPE_HARD ||
                  (info.type == H5L_TYPE_EXTERNAL && copy->options.follows_external));
    if (is_followed) {
        return slci_h5_object_copy_target(copy, from, name, to);
    }
    is_ok = is_ok && H5Lcopy(from, name, to, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    (void)snprintf(what, sizeof what, "link '%.100s'", name);
    slci_h5_reason_blame(is_ok, from, what);
    return is_ok;
}

typedef struct link_call {
    slci_h5_object_copy *copy;
    hid_t to, reason;
} link_call;

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    (void)info;
    link_call *call = context;
    const bool is_ok = slci_h5_object_copy_link(call->copy, group, name, call->to);
    call->reason = slci_h5_reason_keep(is_ok);
    return is_ok && slci_h5_output_status(call->copy->options.output) == SLC_OK ? 0 : -1;
}

static bool copy_links(slci_h5_object_copy *copy, hid_t from, hid_t to, H5_index_t order) {
    link_call call = {.copy = copy, .to = to, .reason = -1};
    const bool is_ok = H5Literate(from, order, H5_ITER_INC, NULL, visit_link, &call) >= 0;
    if (call.reason >= 0) {
        slci_h5_reason_restore(call.reason);
    }
    slci_h5_reason_blame(is_ok, from, "the list of links");
    return is_ok;
}
