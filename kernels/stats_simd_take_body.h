/* A block's values out of its elements: widened, converted or taken apart, and as doubles. Included by
 * kernels/stats_simd_body.h; each loop is simple enough to become vectors. */

/* `out` has room for [n] of to_type. */
#define TAKE(from_type, to_type, step, expression)  \
    do {                                            \
        const from_type *from = elements;           \
        to_type *to = out;                          \
        for (int64_t i = 0; i < n; i++) {           \
            const from_type *x = from + i * (step); \
            to[i] = (to_type)(expression);          \
        }                                           \
    } while (0)

/* Half k of each complex number; where `is_joint`, NaN where the other half is. */
static inline void take_half(slc_dtype dtype, int k, bool is_joint, const void *elements, int64_t n,
                             void *out) {
    if (dtype == SLC_C32 && is_joint) {
        TAKE(uint16_t, float, 2, isnan(slci_stats_half(x[1 - k])) ? NAN : slci_stats_half(x[k]));
    } else if (dtype == SLC_C32) {
        TAKE(uint16_t, float, 2, slci_stats_half(x[k]));
    } else if (dtype == SLC_C64 && is_joint) {
        TAKE(float, float, 2, isnan(x[1 - k]) ? NAN : x[k]);
    } else if (dtype == SLC_C64) {
        TAKE(float, float, 2, x[k]);
    } else if (is_joint) {
        TAKE(double, double, 2, isnan(x[1 - k]) ? (double)NAN : x[k]);
    } else {
        TAKE(double, double, 2, x[k]);
    }
}

/* Squares of singles are far from the ends of a double's range, so that nothing needs to be scaled. */
static inline void take_abs(slc_dtype dtype, const void *elements, int64_t n, void *out) {
    if (dtype == SLC_C32) {
        TAKE(uint16_t, double, 2,
             sqrt(
                 slci_stats_squares((double)slci_stats_half(x[0]), (double)slci_stats_half(x[1]))));
    } else if (dtype == SLC_C64) {
        TAKE(float, double, 2, sqrt(slci_stats_squares((double)x[0], (double)x[1])));
    } else {
        TAKE(double, double, 2, slci_stats_abs(x[0], x[1]));
    }
}

static const void *take(const slci_stats_taking *taking, const void *elements, int64_t n,
                        void *out) {
    switch (taking->dtype) {
    case SLC_I8:
        TAKE(int8_t, int32_t, 1, *x);
        return out;
    case SLC_U8:
        TAKE(uint8_t, int32_t, 1, *x);
        return out;
    case SLC_I16:
        TAKE(int16_t, int32_t, 1, *x);
        return out;
    case SLC_U16:
        TAKE(uint16_t, int32_t, 1, *x);
        return out;
    case SLC_U32:
        TAKE(uint32_t, int64_t, 1, *x);
        return out;
    case SLC_F16:
        TAKE(uint16_t, float, 1, slci_stats_half(*x));
        return out;
    case SLC_C32:
    case SLC_C64:
    case SLC_C128:
        if (taking->part == SLC_STATS_ABS) {
            take_abs(taking->dtype, elements, n, out);
        } else {
            take_half(taking->dtype, taking->part == SLC_STATS_IMAG, taking->is_joint, elements, n,
                      out);
        }
        return out;
    default:
        return elements;
    }
}

/* The values of a block as doubles: themselves where they are. */
static const double *doubles(slci_stats_class class_of, const void *elements, int64_t n,
                             double *out) {
    switch (class_of) {
    case SLCI_STATS_I32:
        TAKE(int32_t, double, 1, *x);
        return out;
    case SLCI_STATS_I64:
        TAKE(int64_t, double, 1, *x);
        return out;
    case SLCI_STATS_U64:
        TAKE(uint64_t, double, 1, *x);
        return out;
    case SLCI_STATS_F32:
        TAKE(float, double, 1, *x);
        return out;
    default:
        return elements;
    }
}

/* About where values lie among evenly spaced bins, within them; NaN in the first one. */
static void guess_bins(const double *values, int64_t n, const slci_stats_spacing *spacing,
                       int32_t *bins) {
    const slci_stats_spacing by = *spacing;
    for (int64_t i = 0; i < n; i++) {
        const double bin = (values[i] - by.first) * by.per_unit;
        const double not_below = bin > 0 ? bin : 0;
        bins[i] = (int32_t)(not_below < by.last ? not_below : by.last);
    }
}

#undef TAKE
