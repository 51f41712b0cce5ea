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
    FILE *file; /* lent */
    int depth;
    bool has_member; /* the open object or array holds something already */
} slci_json;

/* `key` is NULL inside arrays and at the top. `bracket` is '{' or '[', and '}' or ']'. */
void slci_json_open(slci_json *json, const char *key, char bracket);
void slci_json_close(slci_json *json, char bracket);
void slci_json_text(slci_json *json, const char *key, const char *value);
void slci_json_i64(slci_json *json, const char *key, int64_t value);
void slci_json_f64(slci_json *json, const char *key, double value);
void slci_json_bool(slci_json *json, const char *key, bool value);

#endif
