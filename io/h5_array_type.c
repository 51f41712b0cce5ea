/* Element types as HDF5 has them, and back. */
#include <hdf5.h>

#include "io/h5_array_internal.h"

/* IEEE 754 binary16, which HDF5 can hold but has no name for. */
static hid_t half_type(void) {
    const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    if (type >= 0 && (H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || H5Tset_size(type, 2) < 0 ||
                      H5Tset_ebias(type, 15) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

static hid_t complex_type(hid_t part) {
    const size_t bytes = part < 0 ? 0 : H5Tget_size(part);
    const hid_t type = part < 0 ? -1 : H5Tcreate(H5T_COMPOUND, 2 * bytes);
    if (type >= 0 && (H5Tinsert(type, "r", 0, part) < 0 || H5Tinsert(type, "i", bytes, part) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

/* Little-endian. The caller closes it; negative on failure. */
static hid_t little_type(slc_dtype dtype) {
    const struct {
        slc_dtype dtype;
        hid_t type;
    } standard[] = {
        {SLC_U8, H5T_STD_U8LE},    {SLC_I8, H5T_STD_I8LE},    {SLC_U16, H5T_STD_U16LE},
        {SLC_I16, H5T_STD_I16LE},  {SLC_U32, H5T_STD_U32LE},  {SLC_I32, H5T_STD_I32LE},
        {SLC_U64, H5T_STD_U64LE},  {SLC_I64, H5T_STD_I64LE},  {SLC_F32, H5T_IEEE_F32LE},
        {SLC_F64, H5T_IEEE_F64LE}, {SLC_C64, H5T_IEEE_F32LE}, {SLC_C128, H5T_IEEE_F64LE},
    };
    if (dtype == SLC_F16) {
        return half_type();
    }
    if (dtype == SLC_C32) {
        const hid_t part = half_type();
        const hid_t type = complex_type(part);
        (void)H5Tclose(part);
        return type;
    }
    for (size_t k = 0; k < sizeof standard / sizeof standard[0]; k++) {
        if (standard[k].dtype == dtype) {
            return dtype == SLC_C64 || dtype == SLC_C128 ? complex_type(standard[k].type)
                                                         : H5Tcopy(standard[k].type);
        }
    }
    return -1;
}

/* The same with the bytes of each part turned round; closes the one given. */
static hid_t big_type(hid_t little) {
    if (little < 0) {
        return -1;
    }
    if (H5Tget_class(little) == H5T_COMPOUND) {
        const hid_t member = H5Tget_member_type(little, 0);
        const hid_t part = member < 0 ? -1 : H5Tcopy(member); /* a member cannot be changed */
        const hid_t type =
            part < 0 || H5Tset_order(part, H5T_ORDER_BE) < 0 ? -1 : complex_type(part);
        (void)H5Tclose(part);
        (void)H5Tclose(member);
        (void)H5Tclose(little);
        return type;
    }
    if (H5Tset_order(little, H5T_ORDER_BE) < 0) {
        (void)H5Tclose(little);
        return -1;
    }
    return little;
}

static const struct {
    slci_element_kind kind;
    int64_t part_bytes;
    slc_dtype dtype;
} dtypes[] = {
    {SLCI_ELEMENT_UINT, 1, SLC_U8},           {SLCI_ELEMENT_INT, 1, SLC_I8},
    {SLCI_ELEMENT_UINT, 2, SLC_U16},          {SLCI_ELEMENT_INT, 2, SLC_I16},
    {SLCI_ELEMENT_UINT, 4, SLC_U32},          {SLCI_ELEMENT_INT, 4, SLC_I32},
    {SLCI_ELEMENT_UINT, 8, SLC_U64},          {SLCI_ELEMENT_INT, 8, SLC_I64},
    {SLCI_ELEMENT_FLOAT, 2, SLC_F16},         {SLCI_ELEMENT_FLOAT, 4, SLC_F32},
    {SLCI_ELEMENT_FLOAT, 8, SLC_F64},         {SLCI_ELEMENT_COMPLEX_FLOAT, 2, SLC_C32},
    {SLCI_ELEMENT_COMPLEX_FLOAT, 4, SLC_C64}, {SLCI_ELEMENT_COMPLEX_FLOAT, 8, SLC_C128},
};

bool slci_h5_array_dtype(const slci_element *element, slc_dtype *out) {
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        if (dtypes[k].kind == element->kind && dtypes[k].part_bytes == element->part_bytes) {
            *out = dtypes[k].dtype;
            return true;
        }
    }
    return false;
}

slci_turn slci_h5_array_turn(const slci_element *element) {
    const bool is_complex = element->kind == SLCI_ELEMENT_COMPLEX_FLOAT;
    return (slci_turn){.part_bytes = element->part_bytes,
                       .swaps_bytes = element->is_big_endian && element->part_bytes > 1,
                       .swaps_parts = is_complex && element->real_offset != 0};
}

slci_h5_id slci_h5_array_file_type(slc_dtype dtype, bool is_big_endian) {
    const hid_t little = little_type(dtype);
    return is_big_endian ? big_type(little) : little;
}
