/* A conversion goes through one of three wide types, which hold all values of the source's: 64-bit
 * integers with a sign or without one, and doubles. Blocks of elements are loaded into it and stored
 * from it, so there is one way in for each source type and one way out for each destination's. A
 * complex number is two reals. Byte order is little-endian throughout, as everywhere in memory. */
#include "core/convert.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"

/* Elements at a time: two such blocks of 8 bytes stay in the first-level cache. */
#define BLOCK 512

typedef enum wide_kind { WIDE_SIGNED, WIDE_UNSIGNED, WIDE_DOUBLE } wide_kind;

typedef union wide_block {
    int64_t i[BLOCK];
    uint64_t u[BLOCK];
    double f[BLOCK];
} wide_block;

/* A real type, as both sides see it. */
typedef struct real_type {
    wide_kind kind;
    int bytes;
} real_type;

/* The type of a number's parts, and how many it has; 0 for one that is not converted. */
static int parts_of(slc_dtype dtype, real_type *out) {
    const int n_parts = slc_dtype_is_complex(dtype) ? 2 : 1;
    out->kind = slc_dtype_is_signed_integer(dtype) ? WIDE_SIGNED
                : slc_dtype_is_integer(dtype)      ? WIDE_UNSIGNED
                                                   : WIDE_DOUBLE;
    out->bytes = (int)slc_dtype_bytes(dtype) / n_parts;
    return dtype == SLC_FIXED128 || out->bytes == 0 ? 0 : n_parts;
}

/* ---- half precision (IEEE 754 binary16) ------------------------------------------------------- */

static double half_value(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double value = 0;
    if (exponent == 31) {
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else if (exponent == 0) {
        value = ldexp(fraction, -24);
    } else {
        value = ldexp(1024 + fraction, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -value : value;
}

/* From here on a value rounds to infinity: half a step above the largest one, 65504. */
#define HALF_INFINITE 65520.0
#define HALF_SMALLEST_NORMAL 0x1p-14

static uint16_t half_bits(double value) {
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    if (isnan(value)) {
        return (uint16_t)(sign | 0x7e00);
    }
    if (size >= HALF_INFINITE) {
        return (uint16_t)(sign | 0x7c00);
    }
    if (size < HALF_SMALLEST_NORMAL) {
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(size, 24)));
    }
    /* 1024 to 2048 steps; the last number carries into the exponent by itself. */
    const int exponent = ilogb(size);
    const int steps = (int)nearbyint(ldexp(size, 10 - exponent));
    return (uint16_t)(sign | (uint16_t)(((exponent + 15) << 10) + steps - 1024));
}

/* ---- in --------------------------------------------------------------------------------------- */

static void load_signed(const char *src, int bytes, int64_t n, int64_t *out) {
    for (int64_t k = 0; k < n; k++) {
        uint8_t one = 0;
        int16_t two = 0;
        int32_t four = 0;
        switch (bytes) {
        case 1:
            memcpy(&one, src + k, 1);
            out[k] = (int64_t)(one ^ 0x80) - 0x80; /* the highest bit is the sign */
            break;
        case 2:
            memcpy(&two, src + 2 * k, 2);
            out[k] = two;
            break;
        case 4:
            memcpy(&four, src + 4 * k, 4);
            out[k] = four;
            break;
        default:
            memcpy(&out[k], src + 8 * k, 8);
            break;
        }
    }
}

__attribute__((always_inline)) static inline void load_bits(const char *src, int64_t n,
                                                            uint64_t *out, size_t bytes) {
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits = 0;
        memcpy(&bits, src + k * (int64_t)bytes, bytes);
        out[k] = bits;
    }
}

static void load_unsigned(const char *src, int bytes, int64_t n, uint64_t *out) {
    switch (bytes) {
    case 1:
        load_bits(src, n, out, 1);
        break;
    case 2:
        load_bits(src, n, out, 2);
        break;
    case 4:
        load_bits(src, n, out, 4);
        break;
    default:
        load_bits(src, n, out, 8);
        break;
    }
}

static void load_double(const char *src, int bytes, int64_t n, double *out) {
    for (int64_t k = 0; k < n; k++) {
        uint16_t half = 0;
        float single = 0;
        if (bytes == 2) {
            memcpy(&half, src + 2 * k, 2);
            out[k] = half_value(half);
        } else if (bytes == 4) {
            memcpy(&single, src + 4 * k, 4);
            out[k] = (double)single;
        } else {
            memcpy(&out[k], src + 8 * k, 8);
        }
    }
}

static void load(const real_type *type, const char *src, int64_t n, wide_block *out) {
    if (type->kind == WIDE_SIGNED) {
        load_signed(src, type->bytes, n, out->i);
    } else if (type->kind == WIDE_UNSIGNED) {
        load_unsigned(src, type->bytes, n, out->u);
    } else {
        load_double(src, type->bytes, n, out->f);
    }
}

/* ---- out: integers ---------------------------------------------------------------------------- */

/* What an integer type holds. */
typedef struct integer_range {
    int64_t lowest;
    uint64_t highest;
} integer_range;

static integer_range range_of(const real_type *type) {
    const int bits = 8 * type->bytes;
    const uint64_t all = UINT64_MAX >> (64 - bits);
    return type->kind == WIDE_SIGNED ? (integer_range){-(int64_t)(all >> 1) - 1, all >> 1}
                                     : (integer_range){0, all};
}

/* Brings each element into the range, as bits; returns the index of the first that was not in it,
 * unless these may be changed. */
static int64_t fit_signed(const int64_t *in, int64_t n, const integer_range *range, bool saturates,
                          uint64_t *out) {
    for (int64_t k = 0; k < n; k++) {
        const bool is_low = in[k] < range->lowest;
        const bool is_high = in[k] > 0 && (uint64_t)in[k] > range->highest;
        if ((is_low || is_high) && !saturates) {
            return k;
        }
        out[k] = is_low ? (uint64_t)range->lowest : is_high ? range->highest : (uint64_t)in[k];
    }
    return n;
}

static int64_t fit_unsigned(const uint64_t *in, int64_t n, const integer_range *range,
                            bool saturates, uint64_t *out) {
    for (int64_t k = 0; k < n; k++) {
        if (in[k] > range->highest && !saturates) {
            return k;
        }
        out[k] = in[k] > range->highest ? range->highest : in[k];
    }
    return n;
}

/* Values are cut off towards zero first, so everything above lowest - 1 and below highest + 1 is in
 * range. The latter is a power of two, and so is -lowest where it is not 0. */
static int64_t fit_double(const double *in, int64_t n, const integer_range *range, bool saturates,
                          uint64_t *out) {
    const double lowest = (double)range->lowest;
    const double above = 2 * (double)(range->highest / 2 + 1);
    for (int64_t k = 0; k < n; k++) {
        const bool is_in = (in[k] >= lowest || in[k] > lowest - 1) && in[k] < above;
        if (!is_in && !saturates) {
            return k;
        }
        if (is_in) {
            out[k] = in[k] < 0 ? (uint64_t)(int64_t)in[k] : (uint64_t)in[k];
        } else {
            out[k] = isnan(in[k]) ? 0 : in[k] < 0 ? (uint64_t)range->lowest : range->highest;
        }
    }
    return n;
}

__attribute__((always_inline)) static inline void store_bits(const uint64_t *in, int64_t n,
                                                             char *dst, size_t bytes) {
    for (int64_t k = 0; k < n; k++) {
        memcpy(dst + k * (int64_t)bytes, &in[k], bytes);
    }
}

static int64_t store_integers(const real_type *type, wide_kind kind, const wide_block *in,
                              int64_t n, bool saturates, char *dst) {
    const integer_range range = range_of(type);
    uint64_t bits[BLOCK];
    const int64_t n_fit = kind == WIDE_SIGNED     ? fit_signed(in->i, n, &range, saturates, bits)
                          : kind == WIDE_UNSIGNED ? fit_unsigned(in->u, n, &range, saturates, bits)
                                                  : fit_double(in->f, n, &range, saturates, bits);
    switch (type->bytes) {
    case 1:
        store_bits(bits, n_fit, dst, 1);
        break;
    case 2:
        store_bits(bits, n_fit, dst, 2);
        break;
    case 4:
        store_bits(bits, n_fit, dst, 4);
        break;
    default:
        store_bits(bits, n_fit, dst, 8);
        break;
    }
    return n_fit;
}

/* ---- out: floats ------------------------------------------------------------------------------ */

/* From a 64-bit integer at once: by way of a double it would be rounded twice. */
static float single_of(wide_kind kind, const wide_block *in, int64_t k) {
    return kind == WIDE_SIGNED     ? (float)in->i[k]
           : kind == WIDE_UNSIGNED ? (float)in->u[k]
                                   : (float)in->f[k];
}

static double double_of(wide_kind kind, const wide_block *in, int64_t k) {
    return kind == WIDE_SIGNED     ? (double)in->i[k]
           : kind == WIDE_UNSIGNED ? (double)in->u[k]
                                   : in->f[k];
}

static void store_floats(const real_type *type, wide_kind kind, const wide_block *in, int64_t n,
                         char *dst, int64_t *n_infinite) {
    for (int64_t k = 0; k < n; k++) {
        const double value = double_of(kind, in, k);
        bool is_infinite = false;
        if (type->bytes == 2) {
            /* Integers that a double rounds are far above what half precision holds. */
            const uint16_t half = half_bits(value);
            is_infinite = (half & 0x7fff) == 0x7c00;
            memcpy(dst + 2 * k, &half, 2);
        } else if (type->bytes == 4) {
            const float single = single_of(kind, in, k);
            is_infinite = isinf(single);
            memcpy(dst + 4 * k, &single, 4);
        } else {
            memcpy(dst + 8 * k, &value, 8);
        }
        *n_infinite += is_infinite && !isinf(value);
    }
}

/* ---- all together ----------------------------------------------------------------------------- */

slc_status slc_conversion_check(const slc_conversion *conversion) {
    real_type type;
    const int from = parts_of(conversion->from, &type);
    const int to = parts_of(conversion->to, &type);
    if (from == 2 && to == 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "from %s to %s the imaginary parts would be lost; expected a complex type "
                        "(--dtype c4, c8 or c16)",
                        slc_dtype_name(conversion->from), slc_dtype_name(conversion->to));
    }
    return from > 0 && to > 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no conversion from %s to %s",
                          slc_dtype_name(conversion->from), slc_dtype_name(conversion->to));
}

/* Real numbers, `n` of them, to real ones. */
static int64_t convert_reals(const slc_conversion *conversion, const char *src, char *dst,
                             int64_t n, int64_t *n_infinite) {
    real_type from;
    real_type to;
    wide_block block;
    (void)parts_of(conversion->from, &from);
    (void)parts_of(conversion->to, &to);
    for (int64_t k = 0; k < n; k += BLOCK) {
        const int64_t n_block = slc_min_i64(BLOCK, n - k);
        load(&from, src + k * from.bytes, n_block, &block);
        if (to.kind == WIDE_DOUBLE) {
            store_floats(&to, from.kind, &block, n_block, dst + k * to.bytes, n_infinite);
            continue;
        }
        const int64_t n_fit = store_integers(&to, from.kind, &block, n_block, conversion->saturates,
                                             dst + k * to.bytes);
        if (n_fit < n_block) {
            return k + n_fit;
        }
    }
    return n;
}

/* Real numbers to complex ones: a block of them is converted, and then spread out. */
static void convert_to_complex(const slc_conversion *conversion, const char *src, char *dst,
                               int64_t n, int64_t *n_infinite) {
    char reals[BLOCK * sizeof(double)];
    real_type from;
    real_type to;
    (void)parts_of(conversion->from, &from);
    (void)parts_of(conversion->to, &to);
    for (int64_t k = 0; k < n; k += BLOCK) {
        const int64_t n_block = slc_min_i64(BLOCK, n - k);
        (void)convert_reals(conversion, src + k * from.bytes, reals, n_block, n_infinite);
        char *out = dst + 2 * k * to.bytes;
        memset(out, 0, (size_t)(2 * n_block * to.bytes));
        for (int64_t j = 0; j < n_block; j++) {
            memcpy(out + 2 * j * to.bytes, reals + j * to.bytes, (size_t)to.bytes);
        }
    }
}

int64_t slc_convert(const slc_conversion *conversion, const void *src, void *dst, int64_t n,
                    int64_t *n_infinite) {
    real_type type;
    const int from = parts_of(conversion->from, &type);
    const int to = parts_of(conversion->to, &type);
    assert(from > 0 && to >= from);
    if (conversion->from == conversion->to) {
        memcpy(dst, src, (size_t)(n * slc_dtype_bytes(conversion->to)));
        return n;
    }
    if (to > from) {
        convert_to_complex(conversion, src, dst, n, n_infinite);
        return n;
    }
    return convert_reals(conversion, src, dst, n * to, n_infinite) / to;
}

void slc_element_text(slc_dtype dtype, const void *element, char *out, size_t bytes) {
    real_type type;
    wide_block block;
    char part[2][SLCI_TEXT_BYTES] = {"", ""};
    const int n_parts = parts_of(dtype, &type);
    load(&type, element, n_parts, &block);
    if (type.kind == WIDE_SIGNED) {
        (void)slci_print(out, bytes, "%" PRId64, block.i[0]);
        return;
    }
    if (type.kind == WIDE_UNSIGNED) {
        (void)slci_print(out, bytes, "%" PRIu64, block.u[0]);
        return;
    }
    for (int k = 0; k < n_parts; k++) {
        if (isfinite(block.f[k])) {
            slci_format_shortest(block.f[k], part[k]);
        } else {
            (void)slci_print(part[k], sizeof part[k], "%s",
                             isnan(block.f[k]) ? "nan"
                             : block.f[k] < 0  ? "-inf"
                                               : "inf");
        }
    }
    const char *plus = n_parts > 1 && part[1][0] != '-' ? "+" : "";
    (void)slci_print(out, bytes, "%s%s%s%s", part[0], plus, part[1], n_parts > 1 ? "i" : "");
}
