/* The numerics record: everything that fixes the bits of a result.
 * An ordered list of names and values, a function of job, survey and device kind alone, never of
 * budget, probe or tuning. Plan, checkpoint and statistics carry it, and two runs with equal records
 * and inputs give equal bits.
 *
 *     slc_numerics record = {0};
 *     slc_numerics_set_i64(&record, "kernel_tile", 128);
 */
#ifndef SLC_CORE_NUMERICS_H
#define SLC_CORE_NUMERICS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_NUMERICS_ENTRIES 24
#define SLC_NUMERICS_NAME_BYTES 32
#define SLC_NUMERICS_VALUE_BYTES 64

typedef struct slc_numerics {
    int n_entries;
    char name[SLC_NUMERICS_ENTRIES][SLC_NUMERICS_NAME_BYTES];
    char value[SLC_NUMERICS_ENTRIES][SLC_NUMERICS_VALUE_BYTES];
} slc_numerics;

/* Sets or replaces an entry. f64 is written with 17 digits, independent of the locale. More entries
 * than there is room for is a bug in the caller. */
SLC_API void slc_numerics_set_i64(slc_numerics *record, const char *name, int64_t value);
SLC_API void slc_numerics_set_f64(slc_numerics *record, const char *name, double value);
SLC_API void slc_numerics_set_text(slc_numerics *record, const char *name, const char *value);

/* The value of an entry, NULL if there is none. Lives as long as the record. */
SLC_API const char *slc_numerics_get(const slc_numerics *record, const char *name);

SLC_API bool slc_numerics_equal(const slc_numerics *a, const slc_numerics *b);

#ifdef __cplusplus
}
#endif
#endif
