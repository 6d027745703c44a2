/* See case.h. SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>

static bool
parse_value(test_case *c, case_line line, const char *word, size_t length)
{
    if (c->count == CASE_VALUES)
        return false;
    case_value *v = &c->values[c->count];
    *v = (case_value){.line = line};
    const char *equal = memchr(word, '=', length), *end = word + length;
    if (!equal)
        return false;
    const char *open = memchr(word, '[', (size_t)(equal - word));
    size_t name = (size_t)((open ? open : equal) - word);
    if (name == 0 || name >= sizeof v->name)
        return false;
    memcpy(v->name, word, name);
    while (open && open < equal && v->rank < RG_MAX_RANK) {
        v->shape[v->rank++] = strtoll(open + 1, NULL, 10);
        open = memchr(open + 1, '[', (size_t)(equal - open - 1));
    }
    v->list = equal + 1;
    v->length = (size_t)(end - equal - 1);
    c->count++;
    return true;
}

static bool
parse_values(test_case *c, case_line line, const char *at, const char *end)
{
    while (at < end) {
        while (at < end && *at == ' ')
            at++;
        const char *word = at;
        while (at < end && *at != ' ')
            at++;
        if (at > word && !parse_value(c, line, word, (size_t)(at - word)))
            return false;
    }
    return true;
}

static bool
starts(const char *at, const char *end, const char *word, const char **rest)
{
    size_t n = strlen(word);
    if ((size_t)(end - at) < n || memcmp(at, word, n) != 0)
        return false;
    *rest = at + n;
    return true;
}

static bool
contains(const char *at, const char *end, const char *word)
{
    return memmem(at, (size_t)(end - at), word, strlen(word)) != NULL;
}

static bool
parse_line(test_case *c, const char *at, const char *end, bool *found)
{
    static const char *const lines[CASE_LINES] = {"// args:", "// seed:", "// expect:", "// grad:"};
    const char *rest;
    for (int line = 0; line < CASE_LINES; line++)
        if (starts(at, end, lines[line], &rest)) {
            c->has_seeds |= line == CASE_SEED;
            *found |= line == CASE_ARGS;
            return parse_values(c, (case_line)line, rest, end);
        }
    if (starts(at, end, "// split:", &rest)) {
        c->split = contains(rest, end, "any") ? SPLIT_ANY : SPLIT_REFUSED;
    } else if (starts(at, end, "// skip:", &rest)) {
        c->skip_fd = contains(rest, end, "fd");
        c->skip_duality = contains(rest, end, "duality");
        c->skip_second = contains(rest, end, "second");
        c->skip_gcc = contains(rest, end, "gcc");
        c->skip_bits = contains(rest, end, "bits");
        c->skip_directions = contains(rest, end, "directions");
    } else if (starts(at, end, "// tol:", &rest)) {
        c->tolerance = strtod(rest, NULL);
    }
    return true;
}

static void
name_from(const char *text, size_t length, char *out, size_t size)
{
    while (length && *text == ' ')
        text++, length--;
    if (length >= size)
        length = size - 1;
    memcpy(out, text, length);
    out[length] = 0;
}

bool
case_next(test_case *c, const char *path, const char **at)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
               *dot = strrchr(base, '.');
    bool found = false;
    *c = (test_case){.tolerance = 1e-11};
    name_from(base, dot ? (size_t)(dot - base) : strlen(base), c->kernel, sizeof c->kernel);
    while (**at) {
        const char *end = strchr(*at, '\n'), *rest;
        if (!end)
            end = *at + strlen(*at);
        if (starts(*at, end, "// kernel:", &rest)) {
            if (found)
                return true; /* the next case begins here */
            name_from(rest, (size_t)(end - rest), c->kernel, sizeof c->kernel);
        } else if (!parse_line(c, *at, end, &found)) {
            fprintf(stderr, "%s: cannot read: %.*s\n", path, (int)(end - *at), *at);
            return false;
        }
        *at = *end ? end + 1 : end;
    }
    return found;
}

bool
case_element(const case_value *v, size_t i, char *text, size_t size)
{
    size_t count = 1, length = 0;
    for (size_t k = 0; k < v->length; k++)
        count += v->list[k] == ',';
    const char *at = v->list, *end = v->list + v->length;
    for (size_t k = i % count; k > 0; k--)
        at = (const char *)memchr(at, ',', (size_t)(end - at)) + 1;
    while (at + length < end && at[length] != ',')
        length++;
    if (length == 0 || length >= size)
        return false;
    memcpy(text, at, length);
    text[length] = 0;
    return true;
}
