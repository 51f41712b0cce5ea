/* Text and numbers of the page. */
#include <string.h>

#include "app/json.h"
#include "app/report_html_parts.h"
#include "core/print.h"
#include "core/units.h"

/* What is markup, what would end an attribute, and control characters, which HTML forbids. */
static const char *escape(unsigned char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return c < 0x20 || c == 0x7F ? SLCI_UTF8_REPLACEMENT : NULL;
    }
}

void slci_html_text(FILE *out, const char *text) {
    while (*text != '\0') {
        const int n = slci_utf8_bytes(text);
        const char *const escaped = n == 0 ? SLCI_UTF8_REPLACEMENT : escape((unsigned char)*text);
        if (escaped != NULL) {
            (void)fputs(escaped, out);
        } else {
            (void)fwrite(text, 1, (size_t)n, out);
        }
        text += n == 0 ? 1 : n;
    }
}

void slci_html_print(FILE *out, const char *format, ...) {
    char line[SLCI_HTML_LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)fputs(line, out);
}

void slci_html_base64(FILE *out, const uint8_t *bytes, int64_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int64_t i = 0; i < n; i += 3) {
        const uint32_t triple = (uint32_t)bytes[i] << 16 |
                                (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                                (i + 2 < n ? (uint32_t)bytes[i + 2] : 0);
        const char quad[4] = {digits[triple >> 18], digits[triple >> 12 & 63],
                              i + 1 < n ? digits[triple >> 6 & 63] : '=',
                              i + 2 < n ? digits[triple & 63] : '='};
        (void)fwrite(quad, 1, sizeof quad, out);
    }
}

void slci_html_group(int64_t value, char text[SLCI_HTML_NUMBER_BYTES]) {
    char digits[SLCI_TEXT_BYTES];
    const int n = slci_print(digits, sizeof digits, "%lld", (long long)value);
    char *to = text;
    for (int i = 0; i < n; i++) {
        const int left = n - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') {
            (void)memcpy(to, "\xE2\x80\xAF", 3); /* narrow no-break space */
            to += 3;
        }
        *to++ = digits[i];
    }
    *to = '\0';
}

/* The value in the largest unit of which it holds one at least, three digits. */
static void scaled(double value, const char *const *names, int n_names, double step,
                   char text[SLCI_HTML_NUMBER_BYTES]) {
    int unit = 0;
    while (unit < n_names - 1 && value >= 999.5) {
        value /= step;
        unit++;
    }
    (void)slci_print(text, SLCI_HTML_NUMBER_BYTES, value >= 999.5 ? "%.0f %s" : "%.3g %s", value,
                     names[unit]);
}

void slci_html_seconds(double seconds, char text[SLCI_HTML_NUMBER_BYTES]) {
    static const char *const names[] = {"ns", "µs", "ms", "s"};
    if (seconds < 100) {
        scaled(1e9 * seconds, names, 4, 1000, text);
    } else {
        slci_format_seconds(seconds, text);
    }
}

void slci_html_rate(double bytes_per_second, char text[SLCI_HTML_NUMBER_BYTES]) {
    static const char *const names[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    scaled(bytes_per_second, names, 5, 1000, text);
}
