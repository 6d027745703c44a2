/* Just enough JSON: reads a text into a tree, numbers as doubles. SPDX-License-Identifier:
 * Apache-2.0
 *
 * Own code because the inputs need nothing but numbers, lists and objects: 150 lines against a
 * dependency of the whole build. */
#ifndef GRADBENCH_JSON_H
#define GRADBENCH_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_LIST,
    JSON_OBJECT
} json_kind;

typedef struct json {
    json_kind kind;
    double number;
    char *string; /* of a string: its text, escapes kept as they are */
    size_t count; /* of a list or object */
    struct json *items;
    char **keys; /* of an object */
} json;

/* false: not JSON; *at_error receives the offset of the fault. Free also after a failure. */
bool json_parse(const char *text, json *out, size_t *at_error);
/* The JSON of a file; says on standard error what is wrong with it. Free it also then. */
bool json_read(const char *path, json *out);
void json_free(json *value);
/* NULL: no such member, or no object */
const json *json_get(const json *object, const char *key);
/* Number of numbers in nested lists; all of them in order into `out` (may be NULL). */
size_t json_numbers(const json *value, double *out);

#endif
