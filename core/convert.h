/* Elements of one dtype as another, by numpy's rules (astype) but with nothing lost in silence: to an
 * integer, fractions are cut off towards zero, and a value that the type cannot hold is refused or
 * becomes the nearest one that it can (NaN becomes 0); to a float, values are rounded to nearest,
 * ties to even, and those that become infinite are counted; a real number becomes a complex one with
 * imaginary part 0.
 *
 *     const slc_conversion narrow = {.from = SLC_F64, .to = SLC_F32};
 *     const int64_t n_done = slc_convert(&narrow, doubles, floats, n, &n_infinite);   // n
 */
#ifndef SLC_CORE_CONVERT_H
#define SLC_CORE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_conversion {
    slc_dtype from, to;
    bool saturates; /* to integers: out of range is the nearest value, not a refusal */
} slc_conversion;

/* SLC_ERROR_ARGUMENT where there is no such conversion: from complex to real, or of fixed128. */
SLC_API SLC_MUST_USE slc_status slc_conversion_check(const slc_conversion *conversion);

/* Converts src [n] to dst [n], dense, apart from each other, host memory. Returns how many were
 * converted: n, or the index of the first one that is refused. Adds to *n_infinite those that were
 * finite and no longer are. */
SLC_API int64_t slc_convert(const slc_conversion *conversion, const void *src, void *dst, int64_t n,
                            int64_t *n_infinite);

/* Prints one element's value into `out` of `bytes`: "70000", "1.5+2i". */
SLC_API void slc_element_text(slc_dtype dtype, const void *element, char *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
