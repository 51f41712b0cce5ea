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
