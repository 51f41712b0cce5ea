/* What a checkpoint must find again before it may be used: names and values in order.
 * Everything that decides a result belongs here: the inputs' identities, what the survey found, the
 * numerics record, every parameter that changes a bit. Budgets, threads and tuning do not, so that a
 * run may be resumed with others.
 *
 *     slc_fingerprint print = {0};
 *     slc_fingerprint_add_text(&print, "input", source->identity);
 *     slc_fingerprint_add_f64(&print, "epsilon", epsilon);
 *     SLC_TRY(slc_checkpoint_begin(checkpoint, &print, NULL));
 *     slc_fingerprint_destroy(&print);
 */
#ifndef SLC_OOC_FINGERPRINT_H
#define SLC_OOC_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/numerics.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros are an empty one. */
typedef struct slc_fingerprint {
    char *text; /* name, 0, value, 0, and so on; owned */
    int64_t n_bytes, capacity_bytes;
    bool is_incomplete; /* memory was out; slc_checkpoint_begin refuses it */
} slc_fingerprint;

/* Appends one. f64 is written with 17 digits, independent of the locale. Running out of memory is
 * noted in the fingerprint. */
SLC_API void slc_fingerprint_add_text(slc_fingerprint *print, const char *name, const char *value);
SLC_API void slc_fingerprint_add_i64(slc_fingerprint *print, const char *name, int64_t value);
SLC_API void slc_fingerprint_add_f64(slc_fingerprint *print, const char *name, double value);
SLC_API void slc_fingerprint_add_numerics(slc_fingerprint *print, const slc_numerics *record);

SLC_API void slc_fingerprint_destroy(slc_fingerprint *print);

#ifdef __cplusplus
}
#endif
#endif
