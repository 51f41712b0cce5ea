/* Writes JSON to a stream: objects, arrays, strings and numbers, indented, independent of the locale.
 * Numbers that JSON cannot hold (NaN, infinity) become null, bytes that are not UTF-8 become U+FFFD.
 *
 *     slci_json json = {.file = file};
 *     slci_json_open(&json, NULL, '{');
 *     slci_json_i64(&json, "tiles", 12);
 *     slci_json_close(&json, '}');
 */
#ifndef SLC_APP_JSON_H
#define SLC_APP_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct slci_json {
    FILE *file;     /* lent */
    int flat_depth; /* what lies this deep stands on one line; 0: every member has its own */
    int depth;
    bool has_member; /* the open object or array holds something already */
} slci_json;

/* What stands for bytes that are no character: U+FFFD. */
#define SLCI_UTF8_REPLACEMENT "\xEF\xBF\xBD"

/* How many bytes the UTF-8 character at `text` has, 0 where there is none: shortest forms only, no
 * surrogates, nothing past U+10FFFF. Text that ends within a character is not read past its end. */
int slci_utf8_bytes(const char *text);

/* `key` is NULL inside arrays and at the top. `bracket` is '{' or '[', and '}' or ']'. */
void slci_json_open(slci_json *json, const char *key, char bracket);
void slci_json_close(slci_json *json, char bracket);
void slci_json_text(slci_json *json, const char *key, const char *value);
void slci_json_i64(slci_json *json, const char *key, int64_t value);
/* An array of numbers [n]. */
void slci_json_i64_list(slci_json *json, const char *key, const int64_t *values, int64_t n);
void slci_json_f64(slci_json *json, const char *key, double value);
/* A number as it is written in `text`, for those that no int64_t holds. */
void slci_json_number(slci_json *json, const char *key, const char *text);
/* value / 1000, exactly: nanoseconds as microseconds. */
void slci_json_thousandths(slci_json *json, const char *key, int64_t value);
void slci_json_bool(slci_json *json, const char *key, bool value);

#endif
