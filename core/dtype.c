#include "core/dtype.h"

static const struct {
    const char *name;
    int64_t bytes;
} dtype_table[SLC_DTYPE_COUNT] = {
#define SLC_DTYPE_ROW(code, name_, bytes_) [code] = {name_, bytes_},
    SLC_DTYPE_MAP(SLC_DTYPE_ROW)
#undef SLC_DTYPE_ROW
};

int64_t slc_dtype_bytes(slc_dtype dtype) {
    return (unsigned)dtype < (unsigned)SLC_DTYPE_COUNT ? dtype_table[dtype].bytes : 0;
}

const char *slc_dtype_name(slc_dtype dtype) {
    return (unsigned)dtype < (unsigned)SLC_DTYPE_COUNT ? dtype_table[dtype].name : "unknown";
}

bool slc_dtype_is_signed_integer(slc_dtype dtype) {
    return dtype == SLC_I8 || dtype == SLC_I16 || dtype == SLC_I32 || dtype == SLC_I64;
}

bool slc_dtype_is_complex(slc_dtype dtype) {
    return dtype == SLC_C32 || dtype == SLC_C64 || dtype == SLC_C128;
}

bool slc_dtype_is_integer(slc_dtype dtype) {
    return dtype == SLC_U8 || dtype == SLC_U16 || dtype == SLC_U32 || dtype == SLC_U64 ||
           slc_dtype_is_signed_integer(dtype);
}
