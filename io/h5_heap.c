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
 * changes nothing; collections past it. What objects a collection has is remembered for many of them,
 * since neighbours mostly lie in a few. */
#include "io/h5_heap.h"

#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_raw.h"
#include "io/h5_reason.h"
#include "io/h5_stored.h"

#define COLLECTION_HEADER_BYTES 16
#define OBJECT_HEADER_BYTES 16
#define MOST_OBJECTS 65536
#define MOST_DESCRIPTOR_BYTES 32

/* HDF5 reads so many at once, and a collection has no less. */
#define LEAST_COLLECTION_BYTES 4096

/* Descriptors that are looked at together. */
#define PIECE_DESCRIPTORS 4096

/* Collections that are remembered, by their addresses, and what they may take in all. */
#define N_COLLECTIONS 256
#define MOST_REMEMBERED ((size_t)16 << 20)

typedef struct collection {
    int64_t address; /* 0: none is remembered */
    int64_t n_numbers;
    int64_t *object_bytes; /* [n_numbers], of the object, plus 1; 0: there is none */
} collection;

typedef struct heap_check {
    slci_h5_raw raw;
    collection *collections; /* [N_COLLECTIONS] */
    size_t remembered_bytes;
    const char *why; /* not NULL: what is wrong */
} heap_check;

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

static void forget(heap_check *check) {
    for (int k = 0; k < N_COLLECTIONS && check->collections != NULL; k++) {
        free(check->collections[k].object_bytes);
        check->collections[k] = (collection){0};
    }
    check->remembered_bytes = 0;
}

/* Makes room for one more number. */
static bool grow(heap_check *check, collection *self, int64_t number) {
    if (number < self->n_numbers) {
        return true;
    }
    const int64_t wanted = slc_max_i64(2 * self->n_numbers, number + 1);
    const int64_t n = slc_max_i64(slc_min_i64(wanted, MOST_OBJECTS), 1);
    int64_t *larger = realloc(self->object_bytes, (size_t)n * sizeof *larger);
    if (larger == NULL) {
        check->why = no_memory;
        return false;
    }
    memset(larger + self->n_numbers, 0, (size_t)(n - self->n_numbers) * sizeof *larger);
    self->object_bytes = larger;
    self->n_numbers = n;
    return true;
}

/* Notes the objects of the collection, whose bytes begin at `at` of the file. */
static bool walk_collection(heap_check *check, int64_t at, int64_t n_bytes, collection *self) {
    for (int64_t k = COLLECTION_HEADER_BYTES; k + OBJECT_HEADER_BYTES <= n_bytes;) {
        unsigned char header[OBJECT_HEADER_BYTES];
        if (!slci_h5_raw_read(&check->raw, at + k, header, sizeof header)) {
            return false;
        }
        const int64_t number = slci_h5_raw_number(header, 2);
        const int64_t bytes = slci_h5_raw_number(header + 8, check->raw.length_bytes);
        const int64_t rest = n_bytes - k - OBJECT_HEADER_BYTES;
        const int64_t data = number > 0 ? bytes : bytes - OBJECT_HEADER_BYTES;
        if (data < 0 || data > rest || (number > 0 && slc_round_up(data, 8) > rest) ||
            !grow(check, self, number)) {
            return false;
        }
        self->object_bytes[number] = data + 1;
        k += OBJECT_HEADER_BYTES + (number > 0 ? slc_round_up(data, 8) : data);
    }
    return true;
}

/* The collection at an address; NULL where there is none that is sound. */
static const collection *find_collection(heap_check *check, int64_t address) {
    unsigned char header[COLLECTION_HEADER_BYTES];
    int64_t at = 0;
    collection *self = &check->collections[(address >> 12 ^ address >> 3) & (N_COLLECTIONS - 1)];
    if (self->address == address) {
        return self;
    }
    if (!slc_checked_add(check->raw.base, address, &at) ||
        !slci_h5_raw_read(&check->raw, at, header, sizeof header) ||
        memcmp(header, "GCOL\1", 5) != 0) {
        return NULL;
    }
    const int64_t n_bytes = slci_h5_raw_number(header + 8, check->raw.length_bytes);
    if (n_bytes < LEAST_COLLECTION_BYTES || n_bytes > check->raw.file_bytes - at) {
        return NULL;
    }
    if (check->remembered_bytes > MOST_REMEMBERED) {
        forget(check);
    }
    check->remembered_bytes -= (size_t)self->n_numbers * sizeof *self->object_bytes;
    free(self->object_bytes);
    *self = (collection){0};
    const bool is_sound = walk_collection(check, at, n_bytes, self);
    check->remembered_bytes += (size_t)self->n_numbers * sizeof *self->object_bytes;
    self->address = is_sound ? address : 0;
    return is_sound ? self : NULL;
}

/* ---- descriptors ------------------------------------------------------------------------------ */

static bool check_value(heap_check *check, const unsigned char *descriptor, int64_t bytes_each) {
    const int64_t length = slci_h5_raw_number(descriptor, 4);
    const int64_t address = slci_h5_raw_number(descriptor + 4, check->raw.address_bytes);
    const int64_t number = slci_h5_raw_number(descriptor + 4 + check->raw.address_bytes, 4);
    if (address == 0) {
        return true; /* nothing is stored */
    }
    int64_t bytes = 0;
    const collection *found = find_collection(check, address);
    return found != NULL && slc_checked_mul(length, bytes_each, &bytes) && number > 0 &&
           number < found->n_numbers && found->object_bytes[number] - 1 == bytes;
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

/* Where in an element a value is: in it all, in a member of a compound, in each of an array. */
typedef struct value_path {
    const struct value_path *outer; /* NULL: the element itself */
    const char *name;               /* of a member; NULL: `array` is the type */
    hid_t array;
} value_path;

/* The type around `inner`, which is closed. */
static hid_t wrap(const value_path *path, hid_t inner) {
    hsize_t shape[H5S_MAX_RANK];
    hid_t outer = -1;
    if (inner >= 0 && path->name == NULL) {
        const int rank = H5Tget_array_dims2(path->array, shape);
        outer = rank < 1 ? -1 : H5Tarray_create2(inner, (unsigned)rank, shape);
    } else if (inner >= 0) {
        outer = H5Tcreate(H5T_COMPOUND, H5Tget_size(inner));
        if (outer >= 0 && H5Tinsert(outer, path->name, 0, inner) < 0) {
            (void)H5Tclose(outer);
            outer = -1;
        }
    }
    (void)H5Tclose(inner);
    return outer;
}

/* What memory holds of each element: the descriptors, and nothing else. */
static hid_t raw_type(const heap_check *check, const value_path *path) {
    hid_t type = H5Tcreate(H5T_OPAQUE, 4 + check->raw.address_bytes + 4);
    for (; path != NULL; path = path->outer) {
        type = wrap(path, type);
    }
    return type;
}

static void check_values(heap_check *check, const unsigned char *values, int64_t n, hid_t value) {
    const size_t stride = 4 + check->raw.address_bytes + 4;
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

/* Values of one kind, in all elements. */
typedef struct value_check {
    heap_check *check;
    hid_t object, raw, value;
    int64_t n_each; /* in an element */
    unsigned char *values;
} value_check;

/* An attribute is read in one go: HDF5 has all of it in memory already. */
static void check_attribute(value_check *self, hid_t space) {
    heap_check *check = self->check;
    const int64_t n = (int64_t)H5Sget_simple_extent_npoints(space);
    int64_t n_values = 0;
    if (n < 0 || !slc_checked_mul(n, self->n_each, &n_values) || n_values > check->raw.file_bytes) {
        check->why = unreadable;
        return;
    }
    self->values = calloc((size_t)slc_max_i64(n_values, 1), MOST_DESCRIPTOR_BYTES);
    if (self->values == NULL) {
        check->why = no_memory;
    } else if (H5Aread(self->object, self->raw, self->values) < 0) {
        check->why = unreadable;
    } else {
        check_values(check, self->values, n_values, self->value);
    }
}

static bool check_piece(void *context, const slci_h5_region *piece) {
    value_check *self = context;
    slci_h5_spaces spaces;
    const bool is_read = slci_h5_region_select(self->object, piece, &spaces) &&
                         H5Dread(self->object, self->raw, spaces.memory, spaces.file, H5P_DEFAULT,
                                 self->values) >= 0;
    slci_h5_spaces_close(&spaces);
    if (is_read) {
        check_values(self->check, self->values, (int64_t)slci_h5_region_count(piece) * self->n_each,
                     self->value);
    } else {
        self->check->why = unreadable;
    }
    return self->check->why == NULL;
}

static void check_dataset(value_check *self) {
    heap_check *check = self->check;
    const int64_t most = slc_max_i64(PIECE_DESCRIPTORS / self->n_each, 1);
    int64_t n_values = 0;
    /* An element of an array may have any number, but no more than its file has bytes. */
    if (!slc_checked_mul(most, self->n_each, &n_values) ||
        n_values > slc_max_i64(check->raw.file_bytes, PIECE_DESCRIPTORS)) {
        n_values = 0;
    }
    self->values = n_values == 0 ? NULL : calloc((size_t)n_values, MOST_DESCRIPTOR_BYTES);
    if (n_values == 0) {
        check->why = unreadable;
    } else if (self->values == NULL) {
        check->why = no_memory;
    } else if (!slci_h5_each_stored(self->object, (hsize_t)most, check_piece, self) &&
               check->why == NULL) {
        check->why = unreadable;
    }
}

/* One value of each element, at `path`. */
static void check_value_type(heap_check *check, hid_t object, hid_t space, hid_t value,
                             const value_path *path) {
    if (element_bytes(value) == 0) {
        return; /* within one another: nothing but HDF5 finds these */
    }
    const size_t bytes = 4 + check->raw.address_bytes + 4;
    const hid_t sample = H5Tcreate(H5T_OPAQUE, 1);
    value_check self = {.check = check,
                        .object = object,
                        .raw = raw_type(check, path),
                        .value = value};
    self.n_each = self.raw < 0 ? 0 : (int64_t)(H5Tget_size(self.raw) / bytes);
    if (self.n_each > 0 && sample >= 0 &&
        H5Tregister(H5T_PERS_SOFT, "sluice raw", value, sample, keep_bytes) >= 0) {
        if (H5Iget_type(object) == H5I_ATTR) {
            check_attribute(&self, space);
        } else {
            check_dataset(&self);
        }
        (void)H5Tunregister(H5T_PERS_SOFT, "sluice raw", -1, -1, keep_bytes);
    } else {
        check->why = unreadable;
    }
    free(self.values);
    (void)H5Tclose(self.raw);
    (void)H5Tclose(sample);
}

static void check_type(heap_check *check, hid_t object, hid_t space, hid_t type,
                       const value_path *outer);

static void check_members(heap_check *check, hid_t object, hid_t space, hid_t type,
                          const value_path *outer) {
    const int n = H5Tget_nmembers(type);
    for (int k = 0; k < n && check->why == NULL; k++) {
        const hid_t member = H5Tget_member_type(type, (unsigned)k);
        char *const name = H5Tget_member_name(type, (unsigned)k);
        const value_path path = {.outer = outer, .name = name};
        if (member < 0 || name == NULL) {
            check->why = unreadable;
        } else {
            check_type(check, object, space, member, &path);
        }
        (void)H5free_memory(name);
        (void)H5Tclose(member);
    }
}

static void check_type(heap_check *check, hid_t object, hid_t space, hid_t type,
                       const value_path *outer) {
    const H5T_class_t class = H5Tget_class(type);
    if (!slci_h5_is_variable(type)) {
        return;
    }
    if (class == H5T_COMPOUND) {
        check_members(check, object, space, type, outer);
    } else if (class == H5T_ARRAY) {
        const hid_t element = H5Tget_super(type);
        const value_path path = {.outer = outer, .array = type};
        check_type(check, object, space, element, &path);
        (void)H5Tclose(element);
    } else {
        check_value_type(check, object, space, type, outer);
    }
}

/* Leaves the reason where HDF5 leaves its own; nothing of HDF5 may be called after it. */
static bool finish(const heap_check *check, hid_t object) {
    if (check->why == no_memory) {
        slci_h5_reason_push_no_memory(no_memory);
    } else if (check->why == no_file) {
        slci_h5_reason_push_out_of_reach(object, no_file, check->raw.why);
    } else if (check->why != NULL) {
        slci_h5_reason_push(object, check->why);
    }
    return check->why == NULL;
}

static bool check_object(hid_t object, hid_t type, hid_t space) {
    if (type >= 0 && space >= 0 && !slci_h5_is_variable(type)) {
        return true;
    }
    heap_check *check = calloc(1, sizeof *check);
    collection *collections = calloc(N_COLLECTIONS, sizeof *collections);
    if (check == NULL || collections == NULL) {
        free(collections);
        free(check);
        slci_h5_reason_push_no_memory(no_memory);
        return false;
    }
    check->collections = collections;
    if (!slci_h5_raw_open(object, &check->raw)) {
        check->why = no_file;
    }
    if (type < 0 || space < 0) {
        check->why = unreadable;
    }
    if (check->why == NULL) {
        check_type(check, object, space, type, NULL);
    }
    slci_h5_raw_close(&check->raw);
    forget(check);
    free(collections);
    const bool is_sound = finish(check, object);
    free(check);
    return is_sound;
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
