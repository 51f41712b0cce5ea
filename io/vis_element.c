/* Every number is fetched by memcpy, because elements of compounds need not be aligned, and swapped
 * where the file's byte order is not the machine's. One function per stored size and kind keeps the
 * loops free of choices; the dispatch is once per call. */
#include "io/vis_element.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Sluice expects a little-endian machine"
#endif

bool slci_element_is_integer(const slci_element *type) {
    return type->kind == SLCI_ELEMENT_INT || type->kind == SLCI_ELEMENT_UINT;
}

bool slci_element_is_real(const slci_element *type) {
    return slci_element_is_integer(type) || type->kind == SLCI_ELEMENT_FLOAT;
}

bool slci_element_is_complex(const slci_element *type) {
    return type->kind == SLCI_ELEMENT_COMPLEX_FLOAT || type->kind == SLCI_ELEMENT_COMPLEX_INT;
}

bool slci_element_is_c64(const slci_element *type) {
    return type->kind == SLCI_ELEMENT_COMPLEX_FLOAT && type->part_bytes == 4 &&
           !type->is_big_endian && type->real_offset == 0 && type->imag_offset == 4;
}

void slci_element_text(const slci_element *type, char *out, size_t capacity) {
    static const char *const names[] = {
        [SLCI_ELEMENT_OTHER] = "unknown",   [SLCI_ELEMENT_FLOAT] = "f",
        [SLCI_ELEMENT_INT] = "i",           [SLCI_ELEMENT_UINT] = "u",
        [SLCI_ELEMENT_COMPLEX_FLOAT] = "c", [SLCI_ELEMENT_COMPLEX_INT] = "complex i",
        [SLCI_ELEMENT_TEXT] = "string",     [SLCI_ELEMENT_TEXT_VARIABLE] = "variable string"};
    const bool is_number = slci_element_is_real(type) || slci_element_is_complex(type);
    const int n_parts = type->kind == SLCI_ELEMENT_COMPLEX_FLOAT ? 2 : 1;
    char bytes[24] = "";
    if (is_number) {
        (void)snprintf(bytes, sizeof bytes, "%d", n_parts * (int)type->part_bytes);
    }
    (void)snprintf(out, capacity, "%s%s%s%s", type->is_enum ? "enum " : "", names[type->kind],
                   bytes,
                   is_number && type->is_big_endian && type->part_bytes > 1 ? " big-endian" : "");
}

static uint16_t load_16(const unsigned char *src, bool swap) {
    uint16_t bits;
    memcpy(&bits, src, sizeof bits);
    return swap ? __builtin_bswap16(bits) : bits;
}

static uint32_t load_32(const unsigned char *src, bool swap) {
    uint32_t bits;
    memcpy(&bits, src, sizeof bits);
    return swap ? __builtin_bswap32(bits) : bits;
}

static uint64_t load_64(const unsigned char *src, bool swap) {
    uint64_t bits;
    memcpy(&bits, src, sizeof bits);
    return swap ? __builtin_bswap64(bits) : bits;
}

/* IEEE 754 binary16: 1 sign, 5 exponent (bias 15) and 10 fraction bits. */
static double half_value(uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    double value;
    if (exponent == 31) {
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else if (exponent == 0) {
        value = ldexp((double)fraction, -24);
    } else {
        value = ldexp((double)(fraction + 1024), exponent - 25);
    }
    return (bits & 0x8000U) != 0 ? -value : value;
}

static double float_value(const unsigned char *src, int64_t bytes, bool swap) {
    if (bytes == 4) {
        const uint32_t bits = load_32(src, swap);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    if (bytes == 8) {
        const uint64_t bits = load_64(src, swap);
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    assert(bytes == 2);
    return half_value(load_16(src, swap));
}

/* The integer as 64 bits, sign extended; an unsigned 64-bit number keeps its bits. */
static int64_t integer_value(const unsigned char *src, int64_t bytes, bool swap, bool is_signed) {
    switch (bytes) {
    case 1:
        return is_signed ? (int64_t)(int8_t)src[0] : (int64_t)src[0];
    case 2: {
        const uint16_t bits = load_16(src, swap);
        return is_signed ? (int64_t)(int16_t)bits : (int64_t)bits;
    }
    case 4: {
        const uint32_t bits = load_32(src, swap);
        return is_signed ? (int64_t)(int32_t)bits : (int64_t)bits;
    }
    default:
        assert(bytes == 8);
        return (int64_t)load_64(src, swap);
    }
}

static double real_value(const slci_element *type, const unsigned char *src) {
    if (type->kind == SLCI_ELEMENT_FLOAT || type->kind == SLCI_ELEMENT_COMPLEX_FLOAT) {
        return float_value(src, type->part_bytes, type->is_big_endian);
    }
    const bool is_signed = type->kind != SLCI_ELEMENT_UINT;
    const int64_t value = integer_value(src, type->part_bytes, type->is_big_endian, is_signed);
    return is_signed || value >= 0 ? (double)value : (double)(uint64_t)value;
}

/* The size that nearly every file has. */
static void real_from_f32(const unsigned char *src, int64_t stride_bytes, int64_t n, double *dst) {
    for (int64_t k = 0; k < n; k++) {
        float value;
        memcpy(&value, src + k * stride_bytes, sizeof value);
        dst[k] = (double)value;
    }
}

void slci_element_to_f64(const slci_element *type, const void *src, int64_t stride_bytes, int64_t n,
                         double *dst) {
    assert(slci_element_is_real(type));
    const unsigned char *bytes = src;
    if (type->kind == SLCI_ELEMENT_FLOAT && type->part_bytes == 4 && !type->is_big_endian) {
        real_from_f32(bytes, stride_bytes, n, dst);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        dst[k] = real_value(type, bytes + k * stride_bytes);
    }
}

void slci_element_to_i64(const slci_element *type, const void *src, int64_t stride_bytes, int64_t n,
                         int64_t *dst) {
    assert(slci_element_is_integer(type));
    const unsigned char *bytes = src;
    for (int64_t k = 0; k < n; k++) {
        dst[k] = integer_value(bytes + k * stride_bytes, type->part_bytes, type->is_big_endian,
                               type->kind == SLCI_ELEMENT_INT);
    }
}

void slci_element_to_flags(const slci_element *type, const void *src, int64_t stride_bytes,
                           int64_t n, uint8_t *dst) {
    assert(slci_element_is_integer(type));
    const unsigned char *bytes = src;
    if (type->part_bytes == 1) {
        for (int64_t k = 0; k < n; k++) {
            dst[k] = bytes[k * stride_bytes] != 0;
        }
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        dst[k] = integer_value(bytes + k * stride_bytes, type->part_bytes, false, false) != 0;
    }
}

static void complex_from_c64(const unsigned char *src, int64_t stride_bytes, int64_t n,
                             double *dst) {
    for (int64_t k = 0; k < n; k++) {
        float pair[2];
        memcpy(pair, src + k * stride_bytes, sizeof pair);
        dst[2 * k] = (double)pair[0];
        dst[2 * k + 1] = (double)pair[1];
    }
}

void slci_element_to_complex(const slci_element *type, const void *src, int64_t stride_bytes,
                             int64_t n, double *dst) {
    assert(slci_element_is_complex(type));
    const unsigned char *bytes = src;
    if (slci_element_is_c64(type)) {
        complex_from_c64(bytes, stride_bytes, n, dst);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const unsigned char *element = bytes + k * stride_bytes;
        dst[2 * k] = real_value(type, element + type->real_offset);
        dst[2 * k + 1] = real_value(type, element + type->imag_offset);
    }
}
