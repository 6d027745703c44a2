/* See json.h. SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at;
    unsigned depth;
} reader;

enum { DEEPEST = 64 };

static bool read_value(reader *r, json *out);

static void
skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

static bool
read_text(reader *r, char **out)
{
    const char *start = ++r->at;
    while (*r->at && *r->at != '"')
        r->at += r->at[0] == '\\' && r->at[1] ? 2 : 1;
    if (!*r->at)
        return false;
    *out = strndup(start, (size_t)(r->at - start));
    r->at++;
    return true;
}

/* Room for one more item; capacities are powers of two, so they need not be kept. */
static bool
grow(json *v)
{
    if (v->count & (v->count - 1))
        return true;
    size_t capacity = v->count ? 2 * v->count : 1;
    json *items = realloc(v->items, capacity * sizeof *items);
    if (!items)
        return false;
    v->items = items;
    if (v->kind == JSON_OBJECT) {
        char **keys = realloc(v->keys, capacity * sizeof *keys);
        if (!keys)
            return false;
        v->keys = keys;
    }
    return true;
}

static bool
read_item(reader *r, json *out)
{
    if (!grow(out))
        return false;
    out->items[out->count] = (json){JSON_NULL};
    if (out->kind == JSON_OBJECT) {
        skip_blanks(r);
        out->keys[out->count] = NULL;
        if (*r->at != '"' || !read_text(r, &out->keys[out->count]))
            return false;
        skip_blanks(r);
        if (*r->at++ != ':') {
            free(out->keys[out->count]);
            return false;
        }
    }
    out->count++;
    return read_value(r, &out->items[out->count - 1]);
}

static bool
read_items(reader *r, json *out, char end)
{
    r->at++;
    skip_blanks(r);
    if (*r->at == end) {
        r->at++;
        return true;
    }
    for (;;) {
        if (!read_item(r, out))
            return false;
        skip_blanks(r);
        if (*r->at == end) {
            r->at++;
            return true;
        }
        if (*r->at != ',')
            return false;
        r->at++;
    }
}

static bool
read_word(reader *r, const char *word, json *out, json_kind kind)
{
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    out->kind = kind;
    return true;
}

static bool
read_value(reader *r, json *out)
{
    char *end;
    bool good;
    if (++r->depth > DEEPEST)
        return false;
    skip_blanks(r);
    switch (*r->at) {
    case '[':
        out->kind = JSON_LIST;
        good = read_items(r, out, ']');
        break;
    case '{':
        out->kind = JSON_OBJECT;
        good = read_items(r, out, '}');
        break;
    case '"':
        out->kind = JSON_STRING;
        good = read_text(r, &out->string);
        break;
    case 't':
        good = read_word(r, "true", out, JSON_TRUE);
        break;
    case 'f':
        good = read_word(r, "false", out, JSON_FALSE);
        break;
    case 'n':
        good = read_word(r, "null", out, JSON_NULL);
        break;
    default:
        out->kind = JSON_NUMBER;
        out->number = strtod(r->at, &end);
        good = end != r->at;
        r->at = end;
    }
    r->depth--;
    return good;
}

bool
json_parse(const char *text, json *out, size_t *at_error)
{
    reader r = {text, 0};
    *out = (json){JSON_NULL};
    bool good = read_value(&r, out);
    skip_blanks(&r);
    *at_error = (size_t)(r.at - text);
    return good && *r.at == 0;
}

void
json_free(json *value)
{
    for (size_t i = 0; i < value->count; i++) {
        json_free(&value->items[i]);
        if (value->keys)
            free(value->keys[i]);
    }
    free(value->items);
    free(value->keys);
    free(value->string);
    *value = (json){JSON_NULL};
}

const json *
json_get(const json *object, const char *key)
{
    if (object && object->kind == JSON_OBJECT)
        for (size_t i = 0; i < object->count; i++)
            if (strcmp(object->keys[i], key) == 0)
                return &object->items[i];
    return NULL;
}

size_t
json_numbers(const json *value, double *out)
{
    size_t n = 0;
    if (value->kind == JSON_NUMBER) {
        if (out)
            *out = value->number;
        return 1;
    }
    for (size_t i = 0; i < value->count; i++)
        n += json_numbers(&value->items[i], out ? out + n : NULL);
    return n;
}

bool
json_read(const char *path, json *out)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, capacity = 0, fault;
    *out = (json){JSON_NULL};
    if (!file) {
        fprintf(stderr, "gradbench: cannot open %s\n", path);
        return false;
    }
    do {
        capacity = 2 * capacity + (1 << 16);
        text = realloc(text, capacity + 1);
        size += fread(text + size, 1, capacity - size, file);
    } while (size == capacity);
    text[size] = 0;
    fclose(file);
    bool good = json_parse(text, out, &fault);
    if (!good)
        fprintf(stderr, "gradbench: %s is not JSON at byte %zu\n", path, fault);
    free(text);
    return good;
}
