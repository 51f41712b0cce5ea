#include "core/print.h"

#include <locale.h>
#include <stdio.h>

int slci_vprint(char *out, size_t bytes, const char *format, va_list arguments) {
    /* The C locale is built into the C library, so this neither allocates nor fails there; a library
     * where it fails would still print, with the caller's decimal sign. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = plain == (locale_t)0 ? (locale_t)0 : uselocale(plain);
    const int length = vsnprintf(out, bytes, format, arguments);
    if (plain != (locale_t)0) {
        (void)uselocale(before);
        freelocale(plain);
    }
    return length;
}

int slci_print(char *out, size_t bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = slci_vprint(out, bytes, format, arguments);
    va_end(arguments);
    return length;
}
