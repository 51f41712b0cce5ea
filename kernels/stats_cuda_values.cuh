/* Elements as values of the form in which they are summed, and their keys; included by
 * kernels/stats_cuda.cu. Each loader is one pair of an element type and a part. */
#include <stdint.h>

#include "kernels/stats_tile.h"

/* Integers: `Wide` is long long, or unsigned long long for the widest. */
template <typename Element, typename Wide> struct load_whole {
    typedef Wide value;
    typedef whole_sums sums;
    __device__ static Wide load(const void *data, int64_t at, bool) {
        return (Wide)((const Element *)data)[at];
    }
    __device__ static bool is_nan(Wide) {
        return false;
    }
    __device__ static bool is_infinite(Wide) {
        return false;
    }
    __device__ static unsigned long long key(Wide value, unsigned long long bias) {
        return (unsigned long long)value - bias;
    }
};

struct single_value {
    typedef float value;
    typedef float_sums sums;
    __device__ static bool is_nan(float value) {
        return isnan(value);
    }
    __device__ static bool is_infinite(float value) {
        return isinf(value);
    }
    __device__ static unsigned long long key(float value, unsigned long long) {
        return slci_stats_key_f32(__float_as_uint(value));
    }
};

struct double_value {
    typedef double value;
    typedef float_sums sums;
    __device__ static bool is_nan(double value) {
        return isnan(value);
    }
    __device__ static bool is_infinite(double value) {
        return isinf(value);
    }
    __device__ static unsigned long long key(double value, unsigned long long) {
        return slci_stats_key_f64((uint64_t)__double_as_longlong(value));
    }
};

__device__ static float to_float(float value) {
    return value;
}

__device__ static float to_float(uint16_t half) {
    return slci_stats_half(half);
}

template <typename Element> struct load_single : single_value {
    __device__ static float load(const void *data, int64_t at, bool) {
        return to_float(((const Element *)data)[at]);
    }
};

struct load_double : double_value {
    __device__ static double load(const void *data, int64_t at, bool) {
        return ((const double *)data)[at];
    }
};

/* Half number K of a complex number: NaN where the other half is, if both are looked at. */
template <typename Element, int K> struct load_half_single : single_value {
    __device__ static float load(const void *data, int64_t at, bool is_joint) {
        const Element *pair = (const Element *)data + 2 * at;
        return is_joint && isnan(to_float(pair[1 - K])) ? NAN : to_float(pair[K]);
    }
};

template <int K> struct load_half_double : double_value {
    __device__ static double load(const void *data, int64_t at, bool is_joint) {
        const double *pair = (const double *)data + 2 * at;
        return is_joint && isnan(pair[1 - K]) ? (double)NAN : pair[K];
    }
};

template <typename Element> struct load_abs : double_value {
    __device__ static double load(const void *data, int64_t at, bool) {
        const Element *pair = (const Element *)data + 2 * at;
        return slci_stats_abs((double)to_float(pair[0]), (double)to_float(pair[1]));
    }
};

struct load_abs_double : double_value {
    __device__ static double load(const void *data, int64_t at, bool) {
        const double *pair = (const double *)data + 2 * at;
        return slci_stats_abs(pair[0], pair[1]);
    }
};
