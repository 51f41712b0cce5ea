#include "app/json.h"

#include <inttypes.h>
#include <math.h>

#include "core/units.h"

/* The table of well-formed sequences in the Unicode standard, 3.9. The terminating zero is in no
 * range, so that text that ends within a character is not passed. */
int slci_utf8_bytes(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        int n_bytes;
    } forms[] = {
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    if (*c < 0x80) {
        return 1;
    }
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        if (*c >= forms[k].first_low && *c <= forms[k].first_high) {
            int n = c[1] >= forms[k].second_low && c[1] <= forms[k].second_high ? 2 : 0;
            while (n > 0 && n < forms[k].n_bytes) {
                n = c[n] >= 0x80 && c[n] <= 0xBF ? n + 1 : 0;
            }
            return n;
        }
    }
    return 0;
}

/* Files and names hold any bytes, JSON holds UTF-8 only. */
static void write_string(FILE *file, const char *text) {
    (void)fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        const int n = slci_utf8_bytes((const char *)c);
        if (*c == '"' || *c == '\\') {
            (void)fprintf(file, "\\%c", *c);
        } else if (*c < 0x20) {
            (void)fprintf(file, "\\u%04x", *c);
        } else if (n == 0) {
            (void)fputs(SLCI_UTF8_REPLACEMENT, file);
        } else {
            (void)fwrite(c, 1, (size_t)n, file);
        }
        c += n == 0 ? 1 : n;
    }
    (void)fputc('"', file);
}

static bool is_flat(const slci_json *json) {
    return json->flat_depth > 0 && json->depth >= json->flat_depth;
}

/* Comma, line and key of the next member. */
static void begin_member(slci_json *json, const char *key) {
    if (json->has_member) {
        (void)fputs(is_flat(json) ? ", " : ",", json->file);
    }
    if (json->depth > 0 && !is_flat(json)) {
        (void)fprintf(json->file, "\n%*s", 2 * json->depth, "");
    }
    if (key != NULL) {
        write_string(json->file, key);
        (void)fputs(": ", json->file);
    }
    json->has_member = true;
}

void slci_json_open(slci_json *json, const char *key, char bracket) {
    begin_member(json, key);
    (void)fputc(bracket, json->file);
    json->depth++;
    json->has_member = false;
}

void slci_json_close(slci_json *json, char bracket) {
    const bool is_on_line = is_flat(json);
    json->depth--;
    if (json->has_member && !is_on_line) {
        (void)fprintf(json->file, "\n%*s", 2 * json->depth, "");
    }
    (void)fputc(bracket, json->file);
    json->has_member = true;
    if (json->depth == 0) {
        (void)fputc('\n', json->file);
    }
}

void slci_json_text(slci_json *json, const char *key, const char *value) {
    begin_member(json, key);
    write_string(json->file, value);
}

void slci_json_i64(slci_json *json, const char *key, int64_t value) {
    begin_member(json, key);
    (void)fprintf(json->file, "%" PRId64, value);
}

void slci_json_i64_list(slci_json *json, const char *key, const int64_t *values, int64_t n) {
    slci_json_open(json, key, '[');
    for (int64_t k = 0; k < n; k++) {
        slci_json_i64(json, NULL, values[k]);
    }
    slci_json_close(json, ']');
}

void slci_json_f64(slci_json *json, const char *key, double value) {
    begin_member(json, key);
    if (isfinite(value)) {
        char text[SLCI_TEXT_BYTES];
        slci_format_shortest(value, text);
        (void)fputs(text, json->file);
    } else {
        (void)fputs("null", json->file);
    }
}

void slci_json_number(slci_json *json, const char *key, const char *text) {
    begin_member(json, key);
    (void)fputs(text, json->file);
}

void slci_json_thousandths(slci_json *json, const char *key, int64_t value) {
    begin_member(json, key);
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    (void)fprintf(json->file, "%s%" PRIu64 ".%03" PRIu64, value < 0 ? "-" : "", size / 1000,
                  size % 1000);
}

void slci_json_bool(slci_json *json, const char *key, bool value) {
    begin_member(json, key);
    (void)fputs(value ? "true" : "false", json->file);
}
