/* Element types of arrays, in memory and in files.
 * A dtype is a small number with a table behind it; byte order is a property of a layout in a file,
 * not of a dtype: in memory everything is native.
 *
 *     int64_t bytes = slc_dtype_bytes(SLC_C64);        // 8
 *     const char *name = slc_dtype_name(SLC_C64);      // "c8"
 */
#ifndef SLC_CORE_DTYPE_H
#define SLC_CORE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(code, name, bytes). A code has bits in its name, as C's types have, and what users read and write
 * has bytes, as numpy's types have. C64 is two F32 (real, imaginary), C128 two F64; FIXED128 is
 * core/fixed.h. */
#define SLC_DTYPE_MAP(X)   \
    X(SLC_U8, "u1", 1)     \
    X(SLC_I8, "i1", 1)     \
    X(SLC_U16, "u2", 2)    \
    X(SLC_I16, "i2", 2)    \
    X(SLC_U32, "u4", 4)    \
    X(SLC_I32, "i4", 4)    \
    X(SLC_U64, "u8", 8)    \
    X(SLC_I64, "i8", 8)    \
    X(SLC_F16, "f2", 2)    \
    X(SLC_F32, "f4", 4)    \
    X(SLC_F64, "f8", 8)    \
    X(SLC_C32, "c4", 4)    \
    X(SLC_C64, "c8", 8)    \
    X(SLC_C128, "c16", 16) \
    X(SLC_FIXED128, "fixed128", 16)

typedef enum slc_dtype {
#define SLC_DTYPE_ENUM(code, name, bytes) code,
    SLC_DTYPE_MAP(SLC_DTYPE_ENUM)
#undef SLC_DTYPE_ENUM
        SLC_DTYPE_COUNT
} slc_dtype;

/* Bytes of one element; 0 for a number that is no dtype. */
SLC_API int64_t slc_dtype_bytes(slc_dtype dtype);

/* Integers of any size, and those of them that may be negative. */
SLC_API bool slc_dtype_is_integer(slc_dtype dtype);
SLC_API bool slc_dtype_is_signed_integer(slc_dtype dtype);

/* Two floats, the real part and the imaginary one. */
SLC_API bool slc_dtype_is_complex(slc_dtype dtype);

/* As numpy writes it, by a letter and bytes: "f4"; "unknown" for a number that is no dtype. Static
 * storage. */
SLC_API const char *slc_dtype_name(slc_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
