/* What the type of a dataset is, in Sluice's terms. Only layouts that are exactly IEEE floats or whole
 * integers count as numbers; anything else is "other" and refused by whoever needs a number. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "io/h5_data.h"

/* Where the fields of IEEE 754 binary16, 32 and 64 lie, in bits from the least significant. */
static bool is_ieee(hid_t type, size_t bytes) {
    static const struct {
        size_t bytes, exponent_at, exponent_bits, bias;
    } formats[] = {{2, 10, 5, 15}, {4, 23, 8, 127}, {8, 52, 11, 1023}};
    size_t sign = 0;
    size_t exponent_at = 0;
    size_t exponent_bits = 0;
    size_t fraction_at = 0;
    size_t fraction_bits = 0;
    if (H5Tget_fields(type, &sign, &exponent_at, &exponent_bits, &fraction_at, &fraction_bits) <
        0) {
        return false;
    }
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
        if (bytes == formats[k].bytes) {
            return sign == bytes * 8 - 1 && exponent_at == formats[k].exponent_at &&
                   exponent_bits == formats[k].exponent_bits && fraction_at == 0 &&
                   fraction_bits == exponent_at && H5Tget_ebias(type) == formats[k].bias;
        }
    }
    return false;
}

static bool is_whole_integer(hid_t type, size_t bytes) {
    return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && H5Tget_offset(type) == 0 &&
           H5Tget_precision(type) == bytes * 8;
}

/* A float or an integer; `element` keeps its kind "other" for anything else. */
static void describe_number(hid_t type, H5T_class_t class, slci_element *element) {
    const size_t bytes = H5Tget_size(type);
    const H5T_order_t order = H5Tget_order(type);
    if (order != H5T_ORDER_LE && order != H5T_ORDER_BE) {
        return;
    }
    element->is_big_endian = order == H5T_ORDER_BE;
    element->part_bytes = (int64_t)bytes;
    if (class == H5T_FLOAT && is_ieee(type, bytes)) {
        element->kind = SLCI_ELEMENT_FLOAT;
    } else if (class == H5T_INTEGER && is_whole_integer(type, bytes)) {
        element->kind = H5Tget_sign(type) == H5T_SGN_NONE ? SLCI_ELEMENT_UINT : SLCI_ELEMENT_INT;
    }
}

static bool is_imaginary_name(const char *name) {
    return strcmp(name, "i") == 0 || strcmp(name, "I") == 0 || strcmp(name, "im") == 0 ||
           strcmp(name, "imag") == 0 || strcmp(name, "imaginary") == 0 || strcmp(name, "Im") == 0;
}

/* Two members of one number type are a complex number. The first is the real part unless its name
 * says otherwise. */
static void describe_compound(hid_t type, slci_element *element, char *text, size_t capacity) {
    const int n = H5Tget_nmembers(type);
    size_t used = (size_t)snprintf(text, capacity, "compound {");
    slci_element parts[2] = {{SLCI_ELEMENT_OTHER, false, false, 0, 0, 0, 0, false}};
    int64_t offsets[2] = {0, 0};
    bool is_swapped = false;
    for (int k = 0; k < n; k++) {
        slci_element part;
        int part_class;
        char part_text[24];
        const hid_t member = H5Tget_member_type(type, (unsigned)k);
        char *name = H5Tget_member_name(type, (unsigned)k);
        if (member < 0 || name == NULL) {
            continue;
        }
        slci_h5_type_describe((slci_h5_id)member, &part, &part_class, part_text, sizeof part_text);
        if (used < capacity) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%s: %s%s", k > 0 ? ", " : "",
                                     name, part_text, k == n - 1 ? "}" : "");
        }
        if (k < 2) {
            parts[k] = part;
            offsets[k] = (int64_t)H5Tget_member_offset(type, (unsigned)k);
        }
        is_swapped = is_swapped || (k == 0 && is_imaginary_name(name));
        (void)H5free_memory(name);
        (void)H5Tclose(member);
    }
    if (n != 2 || !slci_element_is_real(&parts[0]) || parts[0].kind == SLCI_ELEMENT_UINT ||
        parts[0].is_enum || parts[0].kind != parts[1].kind ||
        parts[0].part_bytes != parts[1].part_bytes || parts[1].is_enum ||
        parts[0].is_big_endian != parts[1].is_big_endian ||
        offsets[0] > element->bytes - parts[0].part_bytes ||
        offsets[1] > element->bytes - parts[1].part_bytes) {
        return;
    }
    element->kind =
        parts[0].kind == SLCI_ELEMENT_FLOAT ? SLCI_ELEMENT_COMPLEX_FLOAT : SLCI_ELEMENT_COMPLEX_INT;
    element->part_bytes = parts[0].part_bytes;
    element->is_big_endian = parts[0].is_big_endian;
    element->real_offset = offsets[is_swapped ? 1 : 0];
    element->imag_offset = offsets[is_swapped ? 0 : 1];
}

static void describe_enum(hid_t type, slci_element *element) {
    const hid_t base = H5Tget_super(type);
    if (base >= 0) {
        describe_number(base, H5T_INTEGER, element);
        element->is_enum = true;
        (void)H5Tclose(base);
    }
}

/* The eight bits of a bit field are as good a flag as any. */
static void describe_bits(hid_t type, slci_element *element) {
    if (H5Tget_size(type) == 1) {
        element->kind = SLCI_ELEMENT_UINT;
        element->part_bytes = 1;
    }
}

/* A type that Sluice has no use for, in words for whoever must be told so. */
static void name_other(hid_t type, H5T_class_t class, char *text, size_t capacity) {
    static const char *const names[] = {[H5T_INTEGER] = "integer of uncommon size",
                                        [H5T_FLOAT] = "float that is not IEEE",
                                        [H5T_TIME] = "time",
                                        [H5T_STRING] = "string",
                                        [H5T_BITFIELD] = "bit field",
                                        [H5T_OPAQUE] = "opaque",
                                        [H5T_COMPOUND] = "compound",
                                        [H5T_REFERENCE] = "reference",
                                        [H5T_ENUM] = "enum of uncommon size",
                                        [H5T_VLEN] = "variable-length sequence",
                                        [H5T_ARRAY] = "array"};
    const int n_names = (int)(sizeof names / sizeof names[0]);
    const int bytes = (int)H5Tget_size(type);
    const char *more = "";
    if ((int)class == 11) { /* of HDF5 2.0 */
        (void)snprintf(text, capacity, "H5T_COMPLEX of %d bytes", bytes);
        return;
    }
    if (class == H5T_FLOAT && H5Tget_precision(type) == 80) {
        more = " (long double)";
    }
    (void)snprintf(text, capacity, "%s of %d bytes%s",
                   (int)class >= 0 && (int)class < n_names ? names[class] : "unknown type", bytes,
                   more);
}

void slci_h5_type_describe(slci_h5_id id, slci_element *element, int *type_class, char *text,
                           size_t capacity) {
    const hid_t type = (hid_t)id;
    const H5T_class_t class = H5Tget_class(type);
    memset(element, 0, sizeof *element);
    element->bytes = (int64_t)H5Tget_size(type);
    element->part_bytes = element->bytes;
    *type_class = (int)class;
    text[0] = '\0';
    switch (class) {
    case H5T_FLOAT:
    case H5T_INTEGER:
        describe_number(type, class, element);
        break;
    case H5T_ENUM:
        describe_enum(type, element);
        break;
    case H5T_BITFIELD:
        describe_bits(type, element);
        break;
    case H5T_COMPOUND:
        describe_compound(type, element, text, capacity);
        break;
    case H5T_STRING:
        element->kind =
            H5Tis_variable_str(type) > 0 ? SLCI_ELEMENT_TEXT_VARIABLE : SLCI_ELEMENT_TEXT;
        element->is_space_padded = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
        break;
    default:
        break;
    }
    if (text[0] == '\0' && element->kind != SLCI_ELEMENT_OTHER) {
        slci_element_text(element, text, capacity);
    } else if (text[0] == '\0') {
        name_other(type, class, text, capacity);
    }
}
