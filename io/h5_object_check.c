/* A header of the older form is, by the file format's specification (section IV.A.1.a),
 *
 *     1 │ 0 │ messages (2) │ references (4) │ bytes of the first block (4) │ 0 (4) │ first block
 *
 * and a block is messages, some of which lead to another block:
 *
 *     kind (2) │ bytes (2) │ flags (1) │ 0 (3) │ data
 *
 * One of the newer form (IV.A.1.b) has a checksum behind each block:
 *
 *     OHDR │ 2 │ flags (1) │ times (16) and limits (4), if flags 32 and 16 are set │ bytes of the first
 *     block (1, 2, 4 or 8, by flags 1 and 2) │ first block │ sum       another block: OCHK │ … │ sum
 *     kind (1) │ bytes (2) │ flags (1) │ order (2), if flag 4 of the header is set │ data
 *
 * In the older form messages are looked at: element types, alone and in attributes, and addresses: what
 * is near the highest one, which stands for none, HDF5 takes for memory that it has. A type that has a
 * name of its own is an object with a header of its own, which is looked at too. In both forms what
 * messages lead to is gone through: links, attributes, and the places of chunks. */
#include "io/h5_object_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_blocks.h"
#include "io/h5_dense.h"
#include "io/h5_layout_check.h"
#include "io/h5_raw.h"
#include "io/h5_reason.h"
#include "io/h5_symbols.h"
#include "io/h5_type_check.h"

#define PREFIX_BYTES 16
#define MESSAGE_HEAD_BYTES 8
#define MOST_MESSAGE_BYTES 65536
#define MOST_MESSAGES 65535

/* In the older form all are filled up to as many; in the newer one some that lead on are shorter. */
#define LEAST_MESSAGE_BYTES 8

/* Of so many different types with a name that an object uses each is looked at. */
#define MOST_NAMED 64

/* Blocks of a header: more, or one that leads to itself, is damage. */
#define MOST_BLOCKS 4096

/* Kinds of messages. */
enum {
    KIND_SPACE = 0x01,
    KIND_LINK_INFO = 0x02,
    KIND_TYPE = 0x03,
    KIND_LINK = 0x06,
    KIND_EXTERNAL = 0x07,
    KIND_LAYOUT = 0x08,
    KIND_FILTERS = 0x0B,
    KIND_ATTRIBUTE = 0x0C,
    KIND_TABLES = 0x0F,
    KIND_CONTINUATION = 0x10,
    KIND_GROUP = 0x11,
    KIND_ATTRIBUTE_INFO = 0x15
};

/* Flags of messages. */
enum { IS_SHARED = 2 };

typedef struct block {
    int64_t address, bytes;
} block;

typedef struct header_check {
    slci_h5_raw raw;
    slci_h5_blocks structure; /* that is looked at, and what is wrong with it */
    const char *part;         /* what that structure holds */
    bool is_new;
    int64_t head_bytes;                     /* of a message */
    unsigned char data[MOST_MESSAGE_BYTES]; /* of a message */
    block blocks[MOST_BLOCKS];
    int n_blocks, n_messages, n_named;
    slci_h5_layout layout;     /* of the dataset, as far as it was seen */
    uint32_t seen;             /* a bit for each kind of message that leads to structures */
    int64_t named[MOST_NAMED]; /* addresses of types that have a name */
    const char *why;           /* NULL: nothing is wrong */
} header_check;

static const char damaged_type[] =
    "describes an element type that contradicts itself, or that this HDF5 does not know";
static const char damaged_address[] = "leads to a place that no file has";
static const char damaged_link[] = "has a link that leads nowhere";
static const char damaged_attribute[] = "has an attribute that contradicts itself";
static const char damaged_share[] = "shares a part that is not there";
static const char damaged_chunk[] = "describes chunks of no possible extent";
static const char too_short[] = "has a part that is too short";
static const char too_many[] = "has more parts than any has";
static const char twice[] = "has a part twice that is there once";

static bool read_at(header_check *check, int64_t address, void *bytes, int64_t n) {
    int64_t at = 0;
    return slc_checked_add(check->raw.base, address, &at) &&
           slci_h5_raw_read(&check->raw, at, bytes, n);
}

static void add_block(header_check *check, int64_t address, int64_t bytes) {
    if (check->n_blocks == MOST_BLOCKS) {
        check->why = too_many;
        return;
    }
    check->blocks[check->n_blocks++] = (block){address, bytes};
}

static void look_at_type(header_check *check, const unsigned char *bytes, size_t n) {
    if (!slci_h5_type_check(bytes, n, check->raw.address_bytes)) {
        check->why = damaged_type;
    }
}

/* Many attributes may have the same one. */
static void add_named(header_check *check, int64_t address) {
    int k = 0;
    while (k < check->n_named && check->named[k] != address) {
        k++;
    }
    if (k == check->n_named && k < MOST_NAMED) {
        check->named[check->n_named++] = address;
    }
}

/* What stands elsewhere: version (1) │ kind (1) │ in version 1 six bytes more │ address. In version 3
 * the kind may be that it is in a table of the file's, which has to be there. */
static void look_at_shared(header_check *check, int kind, const unsigned char *bytes, size_t n) {
    enum { IN_TABLE = 1, LAST_VERSION = 3 };
    const size_t at = n > 0 && bytes[0] == 1 ? 8 : 2;
    const size_t address_bytes = check->raw.address_bytes;
    if (kind == KIND_LINK) {
        check->why = damaged_link; /* HDF5 knows no shared ones */
    } else if (n < at || bytes[0] < 1 || bytes[0] > LAST_VERSION) {
        check->why = damaged_share;
    } else if (bytes[0] == LAST_VERSION && bytes[1] == IN_TABLE) {
        check->why = check->raw.n_shared > 0 ? check->why : damaged_share;
    } else if (at + address_bytes > n ||
               slci_h5_raw_number(bytes + at, address_bytes) > check->raw.file_bytes) {
        check->why = damaged_share;
    } else if (kind == KIND_TYPE) {
        add_named(check, slci_h5_raw_number(bytes + at, address_bytes));
    }
}

/* The address at byte `at` of a message of n bytes; -1 where there is none. */
static int64_t address_at(const header_check *check, size_t at, size_t n) {
    return at + check->raw.address_bytes > n
               ? -1
               : slci_h5_blocks_address(&check->structure, check->data + at);
}

/* n_addresses from there on; those that are not there HDF5 misses too. */
static void look_at_addresses(header_check *check, size_t at, int n_addresses, size_t n) {
    for (int k = 0; k < n_addresses; k++, at += check->raw.address_bytes) {
        if (address_at(check, at, n) > check->raw.file_bytes) {
            check->why = damaged_address;
        }
    }
}

/* ---- structures that messages lead to --------------------------------------------------------- */

static void note_structure(header_check *check, bool is_sound, const char *part) {
    if (!is_sound && check->why == NULL) {
        check->why = check->structure.why;
        check->part = part;
    }
}

/* version (1) │ flags (1) │ a count, if flag 1 is set │ addresses of a heap and of a tree, with flag 2
 * of two, which have these forms [2]. */
static void look_at_info(header_check *check, const char *part, size_t count_bytes,
                         const slci_h5_tree2_form *forms, size_t n) {
    size_t at = 2 + ((check->data[1] & 1) != 0 ? count_bytes : 0);
    const int n_trees = (check->data[1] & 2) != 0 ? 2 : 1;
    look_at_addresses(check, at, 1 + n_trees, n);
    const int64_t heap = address_at(check, at, n);
    bool is_sound =
        check->why == NULL && (heap < 0 || slci_h5_fractal_heap_check(&check->structure, heap));
    for (int k = 0; k < n_trees && is_sound; k++) {
        at += check->raw.address_bytes;
        const int64_t tree = address_at(check, at, n);
        is_sound = tree < 0 || slci_h5_tree2_check(&check->structure, tree, &forms[k]);
    }
    note_structure(check, is_sound, part);
}

static const char of_links[] = "links";
static const slci_h5_tree2_form link_trees[] = {{SLCI_H5_TREE_LINK_NAMES, SLCI_H5_LINK_NAME_BYTES},
                                                {SLCI_H5_TREE_LINK_ORDER,
                                                 SLCI_H5_LINK_ORDER_BYTES}};
static const char of_attributes[] = "attributes";
static const slci_h5_tree2_form attribute_trees[] = {{SLCI_H5_TREE_ATTRIBUTE_NAMES,
                                                      SLCI_H5_ATTRIBUTE_NAME_BYTES},
                                                     {SLCI_H5_TREE_ATTRIBUTE_ORDER,
                                                      SLCI_H5_ATTRIBUTE_ORDER_BYTES}};
static const char of_chunks[] = "places of the chunks";
static const char of_tables[] = "tables";

/* Addresses of a tree and of a heap. */
static void look_at_group(header_check *check, size_t n) {
    look_at_addresses(check, 0, 2, n);
    const int64_t tree = address_at(check, 0, n);
    const int64_t heap = address_at(check, check->raw.address_bytes, n);
    if (check->why == NULL && tree >= 0 && heap >= 0) {
        note_structure(check, slci_h5_symbols_check(&check->structure, tree, heap), of_links);
    }
}

/* version (1) │ address │ how many. */
static void look_at_tables(header_check *check, size_t n) {
    const int64_t tables = address_at(check, 1, n);
    const size_t count_at = 1 + check->raw.address_bytes;
    if (tables >= 0 && count_at < n) {
        const int n_tables = check->data[count_at];
        note_structure(check, slci_h5_shared_tables_check(&check->structure, tables, n_tables),
                       of_tables);
    }
}

/* The index of chunks is looked at once the shape and the filters are known too. */
static void look_at_layout(header_check *check, size_t n) {
    if (!slci_h5_layout_see(&check->layout, &check->structure, check->data, n)) {
        check->why = damaged_chunk;
    } else if (check->layout.place > check->raw.file_bytes) {
        check->why = damaged_address;
    }
}

/* version (1) │ flags (1) │ what they say: kind (1), order (8), characters (1) │ bytes of the name │
 * name │ address, of a hard link; of the others bytes (2) and what they lead to. Where HDF5 cannot read
 * one, it frees what it has not allocated. */
static bool is_link(const header_check *check, size_t n) {
    enum { HARD, SOFT, FIRST_OWN = 64 };
    const unsigned char *data = check->data;
    const unsigned flags = data[1];
    const size_t order = (flags & 8) != 0 ? 3 : 2;
    const size_t characters = order + ((flags & 4) != 0 ? 8U : 0U);
    const size_t name = characters + ((flags & 16) != 0 ? 1U : 0U);
    const size_t length_bytes = (size_t)1 << (flags & 3);
    const int kind = (flags & 8) != 0 ? data[2] : HARD;
    if (data[0] != 1 || (flags & ~0x1FU) != 0 || (kind > SOFT && kind < FIRST_OWN) ||
        name + length_bytes > n || ((flags & 16) != 0 && data[characters] > 1)) {
        return false;
    }
    const int64_t name_bytes = slci_h5_raw_number(data + name, length_bytes);
    if (name_bytes < 1 || name_bytes > (int64_t)(n - name - length_bytes)) {
        return false;
    }
    const size_t rest = name + length_bytes + (size_t)name_bytes;
    const size_t rest_bytes = kind == HARD ? check->raw.address_bytes : 2;
    if (rest_bytes > n - rest) {
        return false;
    }
    const int64_t target = kind == HARD ? 1 : slci_h5_raw_number(data + rest, 2);
    return target > 0 && (kind == HARD || target <= (int64_t)(n - rest - 2)) &&
           (kind != HARD || slci_h5_raw_number(data + rest, rest_bytes) <= check->raw.file_bytes);
}

/* Whether the elements of a shape fit: version (1) │ rank (1) │ flags (1) │ in version 1 five bytes
 * more, else one │ extents. */
static bool fits(const header_check *check, const unsigned char *space, size_t n, int64_t element,
                 int64_t room) {
    const size_t length_bytes = check->raw.length_bytes;
    const bool is_old = n > 0 && space[0] == 1;
    size_t at = is_old ? 8 : 4;
    int64_t bytes = element;
    if (n < at || (!is_old && space[3] == H5S_NULL)) {
        return true; /* none, or left to HDF5 */
    }
    for (int d = 0; d < space[1]; d++, at += length_bytes) {
        if (at + length_bytes > n ||
            !slc_checked_mul(bytes, slci_h5_raw_number(space + at, length_bytes), &bytes)) {
            return false;
        }
    }
    return bytes <= room;
}

static bool is_space(const unsigned char *space, size_t n) {
    return n >= 4 && (space[0] == 1 || space[0] == 2) && space[1] <= H5S_MAX_RANK;
}

/* version (1) │ flags (1) │ bytes of name, type and space (2 each) │ in version 3 one more │ these,
 * in version 1 filled up to eight bytes each. HDF5 refuses one that it cannot read, and then, when it
 * closes the file, frees what it has not allocated of it. */
static void look_at_attribute(header_check *check, size_t n) {
    const unsigned char *data = check->data;
    const size_t head = data[0] == 3 ? 9 : 8;
    const size_t name = (size_t)slci_h5_raw_number(data + 2, 2);
    if (n < head || data[0] < 1 || data[0] > 3 || (data[0] > 1 && data[1] > 3) || name < 1 ||
        name > n - head || memchr(data + head, '\0', name) != data + head + name - 1) {
        check->why = damaged_attribute;
        return;
    }
    const size_t type = (size_t)slci_h5_raw_number(data + 4, 2);
    const size_t space = (size_t)slci_h5_raw_number(data + 6, 2);
    const unsigned flags = data[0] > 1 ? data[1] : 0;
    const size_t fill = data[0] == 1 ? 7 : 0;
    const size_t at = head + ((name + fill) & ~fill);
    const size_t space_at = at + ((type + fill) & ~fill);
    if (at > n || type > n - at || space_at > n || space > n - space_at) {
        check->why = damaged_attribute;
        return;
    }
    if ((flags & 1) != 0) {
        look_at_shared(check, KIND_TYPE, data + at, type);
    } else {
        look_at_type(check, data + at, type);
    }
    if ((flags & 2) != 0) {
        look_at_shared(check, KIND_SPACE, data + space_at, space);
    } else if (!is_space(data + space_at, space)) {
        check->why = damaged_attribute;
    } else if ((flags & 1) == 0 && type >= LEAST_MESSAGE_BYTES) {
        const int64_t element = slci_h5_raw_number(data + at + 4, 4);
        const size_t value_at = space_at + ((space + fill) & ~fill);
        const int64_t room = value_at <= n ? (int64_t)(n - value_at) : 0;
        if (!fits(check, data + space_at, space, element, room)) {
            check->why = too_short;
        }
    }
}

static void look_at_continuation(header_check *check, size_t n) {
    const size_t address_bytes = check->raw.address_bytes;
    look_at_addresses(check, 0, 1, n);
    if (check->why == NULL && n >= address_bytes + check->raw.length_bytes) {
        add_block(check, slci_h5_raw_number(check->data, address_bytes),
                  slci_h5_raw_number(check->data + address_bytes, check->raw.length_bytes));
    }
}

/* Whether messages of a kind lead to structures, and are looked at in headers of either form. */
static bool has_structure(int kind) {
    return kind == KIND_LINK_INFO || kind == KIND_ATTRIBUTE_INFO || kind == KIND_LAYOUT ||
           kind == KIND_CONTINUATION || kind == KIND_GROUP || kind == KIND_TABLES;
}

/* Whether messages of a kind say what a dataset's chunks must be. */
static bool is_of_chunks(int kind) {
    return kind == KIND_SPACE || kind == KIND_FILTERS;
}

/* Whether a message is not one more of a kind that a header has once: many that all lead to one large
 * structure would have it gone through as often. */
static bool is_first(header_check *check, int kind) {
    const bool is_once = (has_structure(kind) && kind != KIND_CONTINUATION) || is_of_chunks(kind);
    const uint32_t bit = is_once ? UINT32_C(1) << kind : 0;
    const bool is_seen = (check->seen & bit) != 0;
    check->seen |= bit;
    return !is_seen;
}

static void look_at_message(header_check *check, int kind, size_t n) {
    if (n < LEAST_MESSAGE_BYTES && !check->is_new) {
        check->why = kind == KIND_LINK || kind == KIND_TYPE ? too_short : check->why;
        return;
    }
    if (n < LEAST_MESSAGE_BYTES) {
        memset(check->data + n, 0, LEAST_MESSAGE_BYTES - n);
    }
    if (!is_first(check, kind)) {
        check->why = twice;
        return;
    }
    switch (kind) {
    case KIND_TYPE:
        look_at_type(check, check->data, n);
        break;
    case KIND_ATTRIBUTE:
        look_at_attribute(check, n);
        break;
    case KIND_CONTINUATION:
        look_at_continuation(check, n);
        break;
    case KIND_LINK_INFO:
        look_at_info(check, of_links, 8, link_trees, n);
        break;
    case KIND_ATTRIBUTE_INFO:
        look_at_info(check, of_attributes, 2, attribute_trees, n);
        break;
    case KIND_LINK:
        check->why = is_link(check, n) ? check->why : damaged_link;
        break;
    case KIND_LAYOUT:
        look_at_layout(check, n);
        break;
    case KIND_SPACE:
        slci_h5_layout_see_space(&check->layout, check->data, n, check->raw.length_bytes);
        break;
    case KIND_FILTERS:
        check->layout.is_filtered = check->data[1] > 0; /* version (1), how many (1) */
        break;
    case KIND_EXTERNAL:
        look_at_addresses(check, 8, 1, n);
        break;
    case KIND_TABLES:
        look_at_tables(check, n);
        break;
    case KIND_GROUP:
        look_at_group(check, n);
        break;
    default:
        break;
    }
}

/* What stands before a message. */
typedef struct message_head {
    int kind, flags;
    int64_t bytes;
} message_head;

static bool read_head(header_check *check, int64_t address, message_head *out) {
    unsigned char head[MESSAGE_HEAD_BYTES];
    if (!read_at(check, address, head, check->head_bytes)) {
        return false;
    }
    *out = check->is_new ? (message_head){head[0], head[3], slci_h5_raw_number(head + 1, 2)}
                         : (message_head){(int)slci_h5_raw_number(head, 2), head[4],
                                          slci_h5_raw_number(head + 2, 2)};
    return true;
}

/* What does not fit is left to HDF5, which refuses it. */
static void look_at_block(header_check *check, const block *self) {
    int64_t at = 0;
    while (check->why == NULL && self->bytes - at >= check->head_bytes) {
        message_head head;
        if (!read_head(check, self->address + at, &head)) {
            return;
        }
        if (check->n_messages++ == MOST_MESSAGES) {
            check->why = too_many;
            return;
        }
        at += check->head_bytes;
        if (head.bytes > self->bytes - at ||
            !read_at(check, self->address + at, check->data, head.bytes)) {
            return;
        }
        const bool is_shared = (head.flags & IS_SHARED) != 0;
        check->layout.is_filtered =
            check->layout.is_filtered || (is_shared && head.kind == KIND_FILTERS);
        if (is_shared && !check->is_new) {
            look_at_shared(check, head.kind, check->data, (size_t)head.bytes);
        } else if (!is_shared &&
                   (!check->is_new || has_structure(head.kind) || is_of_chunks(head.kind))) {
            look_at_message(check, head.kind, (size_t)head.bytes);
        }
        at += head.bytes;
    }
}

/* The checksum of a block of the newer form; the block itself becomes what is between. */
static void look_at_sum(header_check *check, int64_t address, int64_t n, const char *signature) {
    const bool is_sound = n >= 2 * SLCI_H5_SUM_BYTES &&
                          slci_h5_blocks_read(&check->structure, address, n, signature) &&
                          slci_h5_blocks_sum(&check->structure, address, n);
    note_structure(check, is_sound, "blocks of the header");
}

/* What comes first in a header of the newer form. */
static void begin_new(header_check *check, int64_t address) {
    enum { HEAD_BYTES = 6, HAS_ORDER = 4, HAS_LIMITS = 16, HAS_TIMES = 32, MOST_BYTES = 34 };
    unsigned char head[MOST_BYTES];
    if (!read_at(check, address, head, HEAD_BYTES)) {
        return;
    }
    const int flags = head[5];
    const int64_t before =
        HEAD_BYTES + ((flags & HAS_TIMES) != 0 ? 16 : 0) + ((flags & HAS_LIMITS) != 0 ? 4 : 0);
    const int64_t size_bytes = INT64_C(1) << (flags & 3);
    int64_t bytes = 0;
    if (head[4] != 2 || !read_at(check, address, head, before + size_bytes) ||
        !slc_checked_add(slci_h5_raw_number(head + before, (size_t)size_bytes),
                         before + size_bytes + SLCI_H5_SUM_BYTES, &bytes)) {
        return;
    }
    check->is_new = true;
    check->head_bytes = (flags & HAS_ORDER) != 0 ? 6 : 4;
    look_at_sum(check, address, bytes, "OHDR");
    add_block(check, address + before + size_bytes,
              bytes - before - size_bytes - SLCI_H5_SUM_BYTES);
}

static void begin_old(header_check *check, int64_t address, const unsigned char *prefix) {
    check->is_new = false;
    check->head_bytes = MESSAGE_HEAD_BYTES;
    add_block(check, address + PREFIX_BYTES, slci_h5_raw_number(prefix + 8, 4));
}

static void look_at_header(header_check *check, int64_t address) {
    unsigned char prefix[PREFIX_BYTES];
    check->n_blocks = 0;
    check->n_messages = 0;
    check->seen = 0;
    check->layout = (slci_h5_layout){.place = -1};
    if (!read_at(check, address, prefix, sizeof prefix)) {
        return;
    }
    if (memcmp(prefix, "OHDR", 4) == 0) {
        begin_new(check, address);
    } else if (prefix[0] == 1) {
        begin_old(check, address, prefix);
    }
    for (int k = 0; k < check->n_blocks && check->why == NULL; k++) {
        block self = check->blocks[k];
        if (check->is_new && k > 0) {
            look_at_sum(check, self.address, self.bytes, "OCHK");
            self.address += SLCI_H5_SUM_BYTES;
            self.bytes -= 2 * SLCI_H5_SUM_BYTES;
        }
        if (check->why == NULL && self.address <= check->raw.file_bytes) {
            look_at_block(check, &self);
        }
    }
    if (check->why == NULL) {
        note_structure(check, slci_h5_layout_check(&check->layout, &check->structure), of_chunks);
    }
}

/* Leaves the reason, and no handle of HDF5 is touched after it. */
static void say_why(const header_check *check, hid_t place, const char *what) {
    char text[SLCI_H5_REASON_BYTES];
    if (check->structure.lacks_memory) {
        slci_h5_reason_push_no_memory("no memory to look at the structures of a file");
    } else if (check->part != NULL) {
        (void)snprintf(text, sizeof text,
                       "the %s of %.500s are damaged: %s; copy the file again, or take another "
                       "copy of it",
                       check->part, what, check->why);
        slci_h5_reason_push(place, text);
    } else {
        (void)snprintf(text, sizeof text, "the header of %.500s %s", what, check->why);
        slci_h5_reason_push(place, text);
    }
}

const char slci_h5_object_unopened[] = "the file cannot be opened again to look at it";

bool slci_h5_object_check_at(hid_t place, haddr_t address, const char *what) {
    header_check *check = malloc(sizeof *check);
    if (check == NULL) {
        slci_h5_reason_push_no_memory("no memory to look at the header of an object");
        return false;
    }
    check->why = NULL;
    check->part = NULL;
    check->n_named = 0;
    check->structure = (slci_h5_blocks){.raw = &check->raw};
    const bool is_open = slci_h5_raw_open(place, &check->raw);
    if (is_open && address <= INT64_MAX) {
        look_at_header(check, (int64_t)address);
    }
    const int n_named = check->n_named; /* a named type has no other */
    for (int k = 0; k < n_named && check->why == NULL; k++) {
        look_at_header(check, check->named[k]);
    }
    const bool is_sound = is_open && check->why == NULL;
    slci_h5_raw_close(&check->raw);
    if (!is_open) {
        slci_h5_reason_push_out_of_reach(place, slci_h5_object_unopened, check->raw.why);
    } else if (!is_sound) {
        say_why(check, place, what);
    }
    slci_h5_blocks_free(&check->structure);
    free(check);
    return is_sound;
}
