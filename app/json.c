#include "app/json.h"

#include <inttypes.h>
#include <math.h>

#include "core/units.h"

static void write_string(FILE *file, const char *text) {
    (void)fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fprintf(file, "\\%c", *c);
        } else if (*c < 0x20) {
            (void)fprintf(file, "\\u%04x", *c);
        } else {
            (void)fputc(*c, file);
        }
    }
    (void)fputc('"', file);
}

/* Comma, line and key of the next member. */
static void begin_member(slci_json *json, const char *key) {
    if (json->has_member) {
        (void)fputc(',', json->file);
    }
    if (json->depth > 0) {
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
    json->depth--;
    if (json->has_member) {
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

void slci_json_bool(slci_json *json, const char *key, bool value) {
    begin_member(json, key);
    (void)fputs(value ? "true" : "false", json->file);
}
