/* A value of variable length is stored as
 *
 *     length (4 bytes) │ address of a collection │ number of an object in it (4 bytes)
 *
 * and a collection, by the file format's specification (section III.E, global heap), as
 *
 *     "GCOL" 1 0 0 0 │ its bytes │ objects
 *
 * of which each is
 *
 *     number (2) │ references (2) │ 0 (4) │ bytes │ data, filled up to 8 bytes
 *
 * and number 0 is what is free. The descriptors are read through HDF5, by a conversion of ours that
 * changes nothing; collections past it. One collection is remembered, since neighbours mostly lie in
 * one. */
#include "io/h5_heap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/h5_attributes.h"
#include "io/outfile.h"

#define COLLECTION_HEADER_BYTES 16
#define OBJECT_HEADER_BYTES 16
#define MOST_OBJECTS 65536
#define MOST_DESCRIPTOR_BYTES 32

/* HDF5 reads so many at once, and a collection has no less. */
#define LEAST_COLLECTION_BYTES 4096

/* Descriptors that are looked at together. */
#define PIECE_ELEMENTS 4096

typedef struct heap_check {
    int fd; /* of the file; negative: not open */
    char file[SLC_PATH_BYTES];
    int64_t file_bytes, base; /* addresses count from there */
    size_t address_bytes, length_bytes;
    int64_t collection;    /* that is remembered; 0: none */
    int64_t *object_bytes; /* [MOST_OBJECTS], of it, plus 1; 0: there is no such object */
    const char *why;       /* not NULL: what is wrong */
} heap_check;

/* What `finish` has left as a reason, by its minor number. */
typedef struct find_reason {
    hid_t minor;
    bool is_found;
} find_reason;

static herr_t find(unsigned n, const H5E_error2_t *error, void *context) {
    (void)n;
    find_reason *call = context;
    call->is_found =
        call->is_found || (error->maj_num == H5E_HEAP && error->min_num == call->minor);
    return 0;
}

static bool has_reason(hid_t minor) {
    find_reason call = {.minor = minor};
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find, &call);
    return call.is_found;
}

bool slci_h5_is_damaged(void) {
    return has_reason(H5E_BADVALUE) || slci_h5_is_out_of_reach();
}

bool slci_h5_is_out_of_reach(void) {
    return has_reason(H5E_CANTOPENFILE);
}

/* ---- types ------------------------------------------------------------------------------------ */

bool slci_h5_is_variable(hid_t type) {
    const H5T_class_t class = H5Tget_class(type);
    bool is_variable = class == H5T_VLEN || (class == H5T_STRING && H5Tis_variable_str(type) > 0);
    const int n = class == H5T_COMPOUND ? H5Tget_nmembers(type) : class == H5T_ARRAY ? 1 : 0;
    for (int k = 0; k < n && !is_variable; k++) {
        const hid_t part =
            class == H5T_ARRAY ? H5Tget_super(type) : H5Tget_member_type(type, (unsigned)k);
        is_variable = part >= 0 && slci_h5_is_variable(part);
        (void)H5Tclose(part);
    }
    return is_variable;
}

/* Bytes of an element of a value; 0 for a type that cannot be looked into. */
static int64_t element_bytes(hid_t type) {
    if (H5Tget_class(type) == H5T_STRING) {
        return 1;
    }
    const hid_t element = H5Tget_class(type) == H5T_VLEN ? H5Tget_super(type) : -1;
    const int64_t bytes =
        element >= 0 && !slci_h5_is_variable(element) ? (int64_t)H5Tget_size(element) : 0;
    (void)H5Tclose(element);
    return bytes;
}

static const char no_memory[] = "no memory to look at values of variable length";

/* ---- collections ------------------------------------------------------------------------------ */

static int64_t decode(const unsigned char *bytes, size_t n) {
    uint64_t value = 0;
    for (size_t k = n; k > 0; k--) {
        value = value << 8 | bytes[k - 1];
    }
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static bool fetch(const heap_check *check, int64_t at, void *bytes, int64_t n) {
    return at <= check->file_bytes - n && slci_read_at(check->fd, bytes, n, at) == n;
}

/* Notes the objects of the collection, whose bytes begin at `at` of the file. */
static bool walk_collection(heap_check *check, int64_t at, int64_t n_bytes) {
    free(check->object_bytes);
    check->object_bytes = calloc(MOST_OBJECTS, sizeof *check->object_bytes);
    if (check->object_bytes == NULL) {
        check->why = no_memory;
        return false;
    }
    for (int64_t k = COLLECTION_HEADER_BYTES; k + OBJECT_HEADER_BYTES <= n_bytes;) {
        unsigned char header[OBJECT_HEADER_BYTES];
        if (!fetch(check, at + k, header, sizeof header)) {
            return false;
        }
        const int64_t number = decode(header, 2);
        const int64_t bytes = decode(header + 8, check->length_bytes);
        const int64_t rest = n_bytes - k - OBJECT_HEADER_BYTES;
        const int64_t data = number > 0 ? bytes : bytes - OBJECT_HEADER_BYTES;
        if (data < 0 || data > rest || (number > 0 && slc_round_up(data, 8) > rest)) {
            return false;
        }
        check->object_bytes[number] = data + 1;
        k += OBJECT_HEADER_BYTES + (number > 0 ? slc_round_up(data, 8) : data);
    }
    return true;
}

static bool read_collection(heap_check *check, int64_t address) {
    unsigned char header[COLLECTION_HEADER_BYTES];
    int64_t at = 0;
    if (check->collection == address) {
        return true;
    }
    check->collection = 0;
    if (!slc_checked_add(check->base, address, &at) || !fetch(check, at, header, sizeof header) ||
        memcmp(header, "GCOL\1", 5) != 0) {
        return false;
    }
    const int64_t n_bytes = decode(header + 8, check->length_bytes);
    if (n_bytes < LEAST_COLLECTION_BYTES || n_bytes > check->file_bytes - at ||
        !walk_collection(check, at, n_bytes)) {
        return false;
    }
    check->collection = address;
    return true;
}

/* ---- descriptors ------------------------------------------------------------------------------ */

static bool check_value(heap_check *check, const unsigned char *descriptor, int64_t bytes_each) {
    const int64_t length = decode(descriptor, 4);
    const int64_t address = decode(descriptor + 4, check->address_bytes);
    const int64_t number = decode(descriptor + 4 + check->address_bytes, 4);
    if (address == 0) {
        return true; /* nothing is stored */
    }
    int64_t bytes = 0;
    return slc_checked_mul(length, bytes_each, &bytes) && read_collection(check, address) &&
           number > 0 && number < MOST_OBJECTS && check->object_bytes[number] - 1 == bytes;
}

/* The conversion that changes nothing: what is stored, as bytes. */
static herr_t keep_bytes(hid_t from, hid_t to, H5T_cdata_t *data, size_t n, size_t stride,
                         size_t background_stride, void *values, void *background, hid_t transfer) {
    (void)n;
    (void)stride;
    (void)background_stride;
    (void)values;
    (void)background;
    (void)transfer;
    if (data->command != H5T_CONV_INIT) {
        return 0;
    }
    data->need_bkg = H5T_BKG_NO;
    return H5Tget_class(to) == H5T_OPAQUE && H5Tget_size(from) == H5Tget_size(to) ? 0 : -1;
}

/* What memory holds of each element: the descriptor, alone or as the member `name` of a compound. */
static hid_t raw_type(const heap_check *check, const char *name) {
    const size_t bytes = 4 + check->address_bytes + 4;
    const hid_t raw = H5Tcreate(H5T_OPAQUE, bytes);
    if (name == NULL || raw < 0) {
        return raw;
    }
    hid_t whole = H5Tcreate(H5T_COMPOUND, bytes);
    if (whole >= 0 && H5Tinsert(whole, name, 0, raw) < 0) {
        (void)H5Tclose(whole);
        whole = -1;
    }
    (void)H5Tclose(raw);
    return whole;
}

static void check_values(heap_check *check, const unsigned char *values, int64_t n, hid_t value) {
    const size_t stride = 4 + check->address_bytes + 4;
    const int64_t bytes_each = element_bytes(value);
    for (int64_t k = 0; k < n && check->why == NULL; k++) {
        if (!check_value(check, values + (size_t)k * stride, bytes_each) && check->why == NULL) {
            check->why = "a value of variable length is not where the file says";
        }
    }
}

/* ---- attributes and datasets ------------------------------------------------------------------ */

static const char no_file[] =
    "the file cannot be opened again to look at values of variable length";
static const char unreadable[] = "what is stored for values of variable length cannot be read";

/* Elements [k, k + n) in C order, as points: a dataset of any rank may be long in any dimension. */
static bool select_elements(hid_t space, int64_t k, int64_t n, hsize_t *points) {
    hsize_t shape[H5S_MAX_RANK] = {0};
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    if (rank == 0) {
        return true;
    }
    for (int64_t p = 0; p < n; p++) {
        int64_t rest = k + p;
        for (int d = rank - 1; d >= 0; d--) {
            points[p * rank + d] = (hsize_t)(rest % (int64_t)shape[d]);
            rest /= (int64_t)shape[d];
        }
    }
    return H5Sselect_elements(space, H5S_SELECT_SET, (size_t)n, points) >= 0;
}

static bool read_piece(hid_t dataset, hid_t raw, hid_t space, int64_t n, void *values) {
    const hsize_t length = (hsize_t)n;
    const hid_t memory = H5Screate_simple(1, &length, NULL);
    const bool is_read =
        memory >= 0 && H5Dread(dataset, raw, memory, space, H5P_DEFAULT, values) >= 0;
    (void)H5Sclose(memory);
    return is_read;
}

/* The descriptors of an attribute, or of a dataset, some at a time. */
static void check_all(heap_check *check, hid_t object, hid_t raw, hid_t space, hid_t value) {
    const bool is_attribute = H5Iget_type(object) == H5I_ATTR;
    const int64_t n = (int64_t)H5Sget_simple_extent_npoints(space);
    const int64_t most = is_attribute ? slc_max_i64(n, 1) : PIECE_ELEMENTS;
    unsigned char *values = calloc((size_t)most, MOST_DESCRIPTOR_BYTES);
    hsize_t *points = is_attribute ? NULL : calloc((size_t)most, H5S_MAX_RANK * sizeof *points);
    if (n < 0) {
        check->why = unreadable;
    } else if (values == NULL || (points == NULL && !is_attribute)) {
        check->why = no_memory;
    }
    for (int64_t k = 0; k < n && check->why == NULL; k += most) {
        const int64_t m = slc_min_i64(most, n - k);
        const bool is_read = is_attribute ? H5Aread(object, raw, values) >= 0
                                          : select_elements(space, k, m, points) &&
                                                read_piece(object, raw, space, m, values);
        if (is_read) {
            check_values(check, values, m, value);
        } else {
            check->why = unreadable;
        }
    }
    free(points);
    free(values);
}

/* One value of each element: the whole of it, or the member `name`. */
static void check_value_type(heap_check *check, hid_t object, hid_t space, hid_t value,
                             const char *name) {
    if (element_bytes(value) == 0) {
        return; /* within an array or one another: nothing but HDF5 finds these */
    }
    const hid_t sample = H5Tcreate(H5T_OPAQUE, 1);
    const hid_t raw = raw_type(check, name);
    if (raw >= 0 && sample >= 0 &&
        H5Tregister(H5T_PERS_SOFT, "sluice raw", value, sample, keep_bytes) >= 0) {
        check_all(check, object, raw, space, value);
        (void)H5Tunregister(H5T_PERS_SOFT, "sluice raw", -1, -1, keep_bytes);
    } else {
        check->why = unreadable;
    }
    (void)H5Tclose(raw);
    (void)H5Tclose(sample);
}

static void check_type(heap_check *check, hid_t object, hid_t space, hid_t type) {
    if (H5Tget_class(type) != H5T_COMPOUND) {
        check_value_type(check, object, space, type, NULL);
        return;
    }
    const int n = H5Tget_nmembers(type);
    for (int k = 0; k < n && check->why == NULL; k++) {
        const hid_t member = H5Tget_member_type(type, (unsigned)k);
        char *const name = H5Tget_member_name(type, (unsigned)k);
        if (member < 0 || name == NULL) {
            check->why = unreadable;
        } else if (slci_h5_is_variable(member)) {
            check_value_type(check, object, space, member, name);
        }
        (void)H5free_memory(name);
        (void)H5Tclose(member);
    }
}

static void open_file(heap_check *check, hid_t object) {
    struct stat info;
    hsize_t user_block = 0;
    const hid_t file = H5Iget_file_id(object);
    const hid_t list = file < 0 ? -1 : H5Fget_create_plist(file);
    const ssize_t n_name = list < 0 ? -1 : H5Fget_name(file, check->file, sizeof check->file);
    const bool is_known = n_name > 0 && n_name < (ssize_t)sizeof check->file &&
                          H5Pget_sizes(list, &check->address_bytes, &check->length_bytes) >= 0 &&
                          H5Pget_userblock(list, &user_block) >= 0 && check->address_bytes <= 8 &&
                          check->length_bytes <= 8;
    check->base = (int64_t)user_block;
    check->fd = is_known ? open(check->file, O_RDONLY | O_CLOEXEC) : -1;
    if (check->fd < 0 || fstat(check->fd, &info) != 0) {
        check->why = no_file;
    } else {
        check->file_bytes = (int64_t)info.st_size;
    }
    (void)H5Pclose(list);
    (void)H5Fclose(file);
}

/* Leaves the reason where HDF5 leaves its own; nothing of HDF5 may be called after it. */
static bool finish(const heap_check *check) {
    if (check->why == no_memory) {
        (void)H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_RESOURCE,
                       H5E_NOSPACE, "%s", no_memory);
    } else if (check->why != NULL) {
        (void)H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_HEAP,
                       check->why == no_file ? H5E_CANTOPENFILE : H5E_BADVALUE, "%s: %s",
                       check->file, check->why);
    }
    return check->why == NULL;
}

static bool check_object(hid_t object, hid_t type, hid_t space) {
    heap_check check = {.fd = -1};
    if (type >= 0 && space >= 0 && !slci_h5_is_variable(type)) {
        return true;
    }
    open_file(&check, object);
    if (type < 0 || space < 0) {
        check.why = unreadable;
    }
    if (check.why == NULL) {
        check_type(&check, object, space, type);
    }
    free(check.object_bytes);
    if (check.fd >= 0) {
        (void)close(check.fd);
    }
    return finish(&check);
}

/* Closes type and space. */
static bool is_sound(hid_t object, hid_t type, hid_t space) {
    const bool sound = check_object(object, type, space);
    const hid_t reason = slci_h5_reason_keep(sound);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    slci_h5_reason_restore(reason);
    return sound;
}

bool slci_h5_attribute_is_sound(hid_t attribute) {
    return is_sound(attribute, H5Aget_type(attribute), H5Aget_space(attribute));
}

bool slci_h5_dataset_is_sound(hid_t dataset) {
    return is_sound(dataset, H5Dget_type(dataset), H5Dget_space(dataset));
}

/* ---- objects ---------------------------------------------------------------------------------- */

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *context) {
    (void)info;
    hid_t *reason = context;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const bool sound = attribute < 0 || slci_h5_attribute_is_sound(attribute);
    *reason = slci_h5_reason_keep(sound);
    (void)H5Aclose(attribute);
    return sound ? 0 : 1;
}

static herr_t visit_object(hid_t group, const char *name, const H5O_info_t *info, void *context) {
    hid_t *reason = context;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0) {
        return 0; /* HDF5 refuses it when it copies */
    }
    if (info->type == H5O_TYPE_DATASET) {
        *reason = slci_h5_reason_keep(slci_h5_dataset_is_sound(object));
    }
    if (*reason < 0) {
        (void)H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit_attribute, reason);
    }
    (void)H5Oclose(object);
    return *reason < 0 ? 0 : 1;
}

bool slci_h5_object_is_sound(hid_t group, const char *name) {
    hid_t reason = -1;
    (void)H5Ovisit_by_name2(group, name, H5_INDEX_NAME, H5_ITER_NATIVE, visit_object, &reason,
                            H5O_INFO_BASIC, H5P_DEFAULT);
    const bool sound = reason < 0;
    slci_h5_reason_restore(reason);
    return sound;
}
