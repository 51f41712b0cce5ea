/* Printing into a buffer as in the C locale: a number has a point, whatever the process's locale says.
 * Every text that Sluice makes goes through here: messages, records, numbers with units, texts in
 * files. Thread-safe; only the calling thread's locale is changed, for the time of the call. Internal
 * to Sluice.
 *
 *     slci_print(text, sizeof text, "%.17g", value);
 */
#ifndef SLC_CORE_PRINT_H
#define SLC_CORE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As snprintf and vsnprintf: at most `bytes` with the closing zero, what does not fit is cut; returns
 * the length of the whole. */
int slci_print(char *out, size_t bytes, const char *format, ...) SLC_PRINTF(3, 4);
int slci_vprint(char *out, size_t bytes, const char *format, va_list arguments) SLC_PRINTF(3, 0);

#ifdef __cplusplus
}
#endif
#endif
