/* What one element of a dataset looks like in a file, and how it becomes a number in memory.
 * Files hold integers, floats of three sizes, flags and complex numbers in either byte order, and
 * complex members under any name. Readers fetch them as they are and convert here, because the
 * conversions of HDF5 itself are up to 200 times slower and skip members whose names differ.
 *
 *     slci_element_to_complex(&type, raw, n_pols * type.bytes, n_channels, values);
 */
#ifndef SLC_IO_VIS_ELEMENT_H
#define SLC_IO_VIS_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slci_element_kind {
    SLCI_ELEMENT_OTHER, /* nothing that Sluice reads as a number or text */
    SLCI_ELEMENT_FLOAT,
    SLCI_ELEMENT_INT,
    SLCI_ELEMENT_UINT,
    SLCI_ELEMENT_COMPLEX_FLOAT,
    SLCI_ELEMENT_COMPLEX_INT,
    SLCI_ELEMENT_TEXT,         /* fixed size */
    SLCI_ELEMENT_TEXT_VARIABLE /* a pointer to a terminated string */
} slci_element_kind;

typedef struct slci_element {
    slci_element_kind kind;
    bool is_enum; /* an integer with names, as h5py writes booleans */
    bool is_big_endian;
    int64_t bytes;       /* of the whole element */
    int64_t part_bytes;  /* of one number: half a complex, else the same */
    int64_t real_offset; /* of complex parts inside the element */
    int64_t imag_offset;
    bool is_space_padded; /* text as Fortran writes it */
} slci_element;

/* Whether the element is an integer (flags included), any real number, or a complex number. */
bool slci_element_is_integer(const slci_element *type);
bool slci_element_is_real(const slci_element *type);
bool slci_element_is_complex(const slci_element *type);

/* Two native floats, real first: the spelling that nearly every file has. */
bool slci_element_is_c64(const slci_element *type);

/* As numpy names types, "f4", "i2 big-endian", "c8", and "complex i2", which numpy lacks; `capacity`
 * bytes of `out` at most. */
void slci_element_text(const slci_element *type, char *out, size_t capacity);

/* `n` elements, each `stride_bytes` after the one before, to dst [n]. The element has the kind the
 * name says (a bug otherwise): real numbers, integers, flags (1 where the integer is not 0), complex
 * numbers to dst [n, 2]. */
void slci_element_to_f64(const slci_element *type, const void *src, int64_t stride_bytes, int64_t n,
                         double *dst);
void slci_element_to_i64(const slci_element *type, const void *src, int64_t stride_bytes, int64_t n,
                         int64_t *dst);
void slci_element_to_flags(const slci_element *type, const void *src, int64_t stride_bytes,
                           int64_t n, uint8_t *dst);
void slci_element_to_complex(const slci_element *type, const void *src, int64_t stride_bytes,
                             int64_t n, double *dst);

#ifdef __cplusplus
}
#endif
#endif
