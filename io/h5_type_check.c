/* A type is described by
 *
 *     version and class (1) │ bits (3) │ bytes of an element (4) │ properties of the class
 *
 * and the properties of some hold other types:
 *
 *     compound: members, each a name, an offset and a type      array: its shape and a type
 *     enum: a type, names, and as many values of that type      variable length: a type
 */
#include "io/h5_type_check.h"

#include <hdf5.h>
#include <stdint.h>
#include <string.h>

#define HEAD_BYTES 8

/* Types within types. HDF5 itself makes calls within calls of them. */
#define MOST_DEPTH 32

#define MOST_DIMENSIONS 32

/* The last version of a description that this HDF5 reads, and that it does not take for damage. */
#if H5_VERSION_GE(2, 0, 0)
enum { LAST_VERSION = 5 };
#elif H5_VERSION_GE(1, 12, 0)
enum { LAST_VERSION = 4 };
#else
enum { LAST_VERSION = 3 };
#endif

enum {
    CLASS_INTEGER,
    CLASS_FLOAT,
    CLASS_TIME,
    CLASS_STRING,
    CLASS_BITS,
    CLASS_OPAQUE,
    CLASS_COMPOUND,
    CLASS_REFERENCE,
    CLASS_ENUM,
    CLASS_VARIABLE,
    CLASS_ARRAY,
    N_CLASSES
};

/* Lowest four bits of a type of variable length: lists are 0. */
enum { VARIABLE_TEXT = 1 };

/* What is left to read. */
typedef struct cursor {
    const unsigned char *at, *end;
    size_t address_bytes;
    int depth;
    bool is_new; /* a version that cannot be followed: what comes after is not looked at */
} cursor;

/* Of the type that was read. */
typedef struct type_head {
    int version, class;
    uint32_t bits;
    uint64_t bytes;
} type_head;

static bool read_type(cursor *from, uint64_t *bytes);

static bool skip(cursor *from, uint64_t n) {
    if (n > (uint64_t)(from->end - from->at)) {
        return false;
    }
    from->at += n;
    return true;
}

static bool read_number(cursor *from, size_t n, uint64_t *out) {
    const unsigned char *at = from->at;
    if (!skip(from, n)) {
        return false;
    }
    *out = 0;
    for (size_t k = n; k > 0; k--) {
        *out = *out << 8 | at[k - 1];
    }
    return true;
}

/* A name with its end, in older versions filled up to eight bytes. */
static bool skip_name(cursor *from, int version) {
    const unsigned char *end = memchr(from->at, 0, (size_t)(from->end - from->at));
    const uint64_t n = end == NULL ? 0 : (uint64_t)(end - from->at) + 1;
    return n > 0 && skip(from, version < 3 ? (n + 7) / 8 * 8 : n);
}

/* Whether bits [first, first + n) are in the element. */
static bool has_bits(const type_head *head, uint64_t first, uint64_t n) {
    return first + n <= 8 * head->bytes;
}

static bool read_integer(cursor *from, const type_head *head) {
    uint64_t first = 0;
    uint64_t n = 0;
    return read_number(from, 2, &first) && read_number(from, 2, &n) && n > 0 &&
           has_bits(head, first, n);
}

static bool read_float(cursor *from, const type_head *head) {
    uint64_t part[4]; /* first and number of bits of the exponent and of the mantissa */
    const uint64_t sign = head->bits >> 8 & 0xFF;
    if (!read_integer(from, head)) {
        return false;
    }
    for (int k = 0; k < 4; k++) {
        if (!read_number(from, 1, &part[k])) {
            return false;
        }
    }
    return has_bits(head, sign, 1) && has_bits(head, part[0], part[1]) &&
           has_bits(head, part[2], part[3]) && skip(from, 4);
}

/* In version 1 a member may be an array of its type. */
static bool read_old_shape(cursor *from, uint64_t *n_elements) {
    uint64_t rank = 0;
    *n_elements = 1;
    if (!read_number(from, 1, &rank) || rank > 4 || !skip(from, 11)) {
        return false;
    }
    for (uint64_t d = 0; d < 4; d++) {
        uint64_t extent = 0;
        if (!read_number(from, 4, &extent)) {
            return false;
        }
        if (d < rank && (*n_elements > UINT32_MAX || extent == 0)) {
            return false;
        }
        *n_elements *= d < rank ? extent : 1;
    }
    return true;
}

/* Offsets of members take as many bytes as the size of the whole needs, in older versions 4. */
static size_t offset_bytes(const type_head *head) {
    size_t n = 1;
    while (head->bytes >> 8 * n != 0) {
        n++;
    }
    return head->version < 3 ? 4 : n;
}

static bool read_compound(cursor *from, const type_head *head) {
    const uint32_t n_members = head->bits & 0xFFFF;
    bool is_sound = n_members > 0;
    for (uint32_t k = 0; k < n_members && is_sound && !from->is_new; k++) {
        uint64_t offset = 0;
        uint64_t n_elements = 1;
        uint64_t bytes = 0;
        is_sound =
            skip_name(from, head->version) && read_number(from, offset_bytes(head), &offset) &&
            (head->version > 1 || read_old_shape(from, &n_elements)) && read_type(from, &bytes);
        is_sound =
            is_sound && (from->is_new || (bytes <= head->bytes && n_elements <= head->bytes &&
                                          offset + n_elements * bytes <= head->bytes));
    }
    return is_sound;
}

static bool read_enum(cursor *from, const type_head *head) {
    const uint32_t n_members = head->bits & 0xFFFF;
    uint64_t bytes = 0;
    bool is_sound = read_type(from, &bytes) && (from->is_new || bytes == head->bytes);
    for (uint32_t k = 0; k < n_members && is_sound && !from->is_new; k++) {
        is_sound = skip_name(from, head->version);
    }
    return is_sound && (from->is_new || skip(from, n_members * bytes));
}

static bool read_array(cursor *from, const type_head *head) {
    uint64_t rank = 0;
    uint64_t n_elements = 1;
    uint64_t bytes = 0;
    bool is_sound = read_number(from, 1, &rank) && rank > 0 && rank <= MOST_DIMENSIONS &&
                    (head->version > 2 || skip(from, 3));
    for (uint64_t d = 0; d < rank && is_sound; d++) {
        uint64_t extent = 0;
        is_sound = read_number(from, 4, &extent) && extent > 0 && n_elements <= UINT32_MAX;
        n_elements *= is_sound ? extent : 1;
    }
    is_sound = is_sound && (head->version > 2 || skip(from, 4 * rank)) && read_type(from, &bytes);
    return is_sound && (from->is_new || (n_elements <= head->bytes && bytes <= head->bytes &&
                                         n_elements * bytes == head->bytes));
}

static bool read_properties(cursor *from, const type_head *head) {
    uint64_t bytes = 0;
    switch (head->class) {
    case CLASS_INTEGER:
    case CLASS_BITS:
        return read_integer(from, head);
    case CLASS_FLOAT:
        return read_float(from, head);
    case CLASS_TIME:
        return skip(from, 2);
    case CLASS_OPAQUE:
        return skip(from, head->bits & 0xFF);
    case CLASS_COMPOUND:
        return read_compound(from, head);
    case CLASS_REFERENCE:
        return head->bytes == from->address_bytes || head->bytes == from->address_bytes + 4;
    case CLASS_ENUM:
        return read_enum(from, head);
    case CLASS_VARIABLE:
        return head->bytes == from->address_bytes + 8 && (head->bits & 0xF) <= VARIABLE_TEXT &&
               read_type(from, &bytes) &&
               ((head->bits & 0xF) != VARIABLE_TEXT || from->is_new || bytes == 1);
    case CLASS_ARRAY:
        return read_array(from, head);
    default: /* a string has none */
        return true;
    }
}

static bool read_type(cursor *from, uint64_t *bytes) {
    type_head head = {0};
    uint64_t word = 0;
    if (!read_number(from, 4, &word) || !read_number(from, 4, &head.bytes)) {
        return false;
    }
    head.class = (int)(word & 0xF);
    head.version = (int)(word >> 4 & 0xF);
    head.bits = (uint32_t)(word >> 8);
    *bytes = head.bytes;
    if (head.version > 3 && head.version <= LAST_VERSION) {
        from->is_new = true;
        return true;
    }
    if (head.version < 1 || head.version > LAST_VERSION || head.class >= N_CLASSES) {
        return false;
    }
    from->depth++;
    const bool is_sound =
        head.bytes > 0 && from->depth <= MOST_DEPTH && read_properties(from, &head);
    from->depth--;
    return is_sound;
}

bool slci_h5_type_check(const unsigned char *bytes, size_t n, size_t address_bytes) {
    cursor from = {.at = bytes, .end = bytes + n, .address_bytes = address_bytes};
    uint64_t element_bytes = 0;
    return n >= HEAD_BYTES && read_type(&from, &element_bytes);
}
