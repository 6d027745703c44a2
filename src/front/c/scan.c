/* What C text seems to define, before anything is parsed: only files that may define a name are worth a parse.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names count at file scope, outside of comments, strings and directives. Conditions are not followed, so that braces
 * may not match: one at the beginning of a line ends what was open. */
#include "front/c/link.h"

#include <ctype.h>

const char *
fc_skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

const char *
fc_skip_line(const char *p, const char *end)
{
    for (; p < end && *p != '\n'; p++)
        if (*p == '\\' && p + 1 < end && p[1] == '\n')
            p++;
    return p;
}

const char *
fc_skip_opaque(const char *p, const char *end)
{
    if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
        const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
        return close ? close + 2 : end;
    }
    if (end - p >= 2 && p[0] == '/' && p[1] == '/')
        return fc_skip_line(p, end);
    if (p < end && (*p == '"' || *p == '\'')) {
        char quote = *p++;
        while (p < end && *p != quote && *p != '\n')
            p += *p == '\\' && p + 1 < end ? 2 : 1;
        return p < end ? p + 1 : end;
    }
    return p;
}

/* -- definitions ---------------------------------------------------------------------------------- */

typedef struct scanner {
    const char *text, *at, *end;
    unsigned braces, parens;
    bool is_static, is_extern; /* said in the declaration so far */
    bool after_string;         /* extern "C" { opens no scope */
} scanner;

static bool
is_of_name(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

static bool
is_at(const scanner *s, const char *what)
{
    size_t n = strlen(what);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, what, n) == 0;
}

static bool
begins_line(const scanner *s)
{
    const char *p = s->at;
    while (p > s->text && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == s->text || p[-1] == '\n';
}

/* Skips a comment, a directive or blanks; false: none of them is here. */
static bool
skip_blank(scanner *s)
{
    if (is_at(s, "//") || (*s->at == '#' && begins_line(s))) {
        s->at = fc_skip_line(s->at, s->end);
    } else if (is_at(s, "/*")) {
        s->at = fc_skip_opaque(s->at, s->end);
    } else if (isspace((unsigned char)*s->at)) {
        s->at++;
    } else {
        return false;
    }
    return true;
}

static char
next_char(scanner *s)
{
    while (s->at < s->end && skip_blank(s))
        ;
    return s->at < s->end ? *s->at : 0;
}

static rg_str
take_word(scanner *s)
{
    rg_str word = {s->at, 0};
    while (s->at < s->end && is_of_name(*s->at))
        s->at++;
    word.len = (size_t)(s->at - word.ptr);
    return word;
}

/* Behind the parenthesis that closes the one that is here. */
static void
skip_parentheses(scanner *s)
{
    unsigned open = 0;
    while (next_char(s)) {
        char c = *s->at;
        if (c == '"' || c == '\'') {
            s->at = fc_skip_opaque(s->at, s->end);
            continue;
        }
        s->at++;
        open += c == '(';
        if (c == ')' && --open == 0)
            return;
    }
}

/* What stands behind the name: a function's parameters and its body (or K&R's declarations, or an attribute), or what
 * may follow a variable's name. */
static bool
is_definition(scanner s, bool function)
{
    char c = next_char(&s);
    if (s.is_static)
        return false;
    if (!function)
        return !s.is_extern && (c == '=' || c == '[' || c == ';' || c == ',');
    if (c != '(')
        return false;
    skip_parentheses(&s);
    c = next_char(&s);
    return c == '{' || is_of_name(c);
}

static void
end_declaration(scanner *s)
{
    s->is_static = s->is_extern = false;
    s->parens = 0;
}

static void
see_mark(scanner *s)
{
    char c = *s->at;
    bool first = s->at == s->text || s->at[-1] == '\n';
    if (c == '{' && !s->after_string) {
        s->braces++;
    } else if (c == '}') {
        s->braces = first || !s->braces ? 0 : s->braces - 1;
        if (!s->braces)
            end_declaration(s);
    } else if (c == ';' && !s->braces) {
        end_declaration(s);
    } else if (!s->braces) {
        s->parens += c == '(';
        s->parens -= c == ')' && s->parens;
    }
    if (c == '{' && s->after_string)
        end_declaration(s);
    s->at++;
}

bool
fc_text_defines(rg_str text, const char *name, bool function)
{
    scanner s = {.text = text.ptr, .at = text.ptr, .end = text.ptr + text.len};
    if (!text.len || !memmem(text.ptr, text.len, name, strlen(name)))
        return false;
    while (next_char(&s)) {
        bool quoted = *s.at == '"';
        if (quoted || *s.at == '\'') {
            s.at = fc_skip_opaque(s.at, s.end);
        } else if (is_of_name(*s.at)) {
            rg_str word = take_word(&s);
            if (s.braces)
                continue;
            s.is_static |= str_eq(word, RG_STR("static"));
            s.is_extern |= str_eq(word, RG_STR("extern"));
            if (!s.parens && str_eq(word, rg_str_of(name)) && is_definition(s, function))
                return true;
        } else {
            see_mark(&s);
        }
        s.after_string = quoted;
    }
    return false;
}

/* A field of that name is another thing. */
static bool
is_field(rg_str text, const char *p)
{
    return p > text.ptr && (p[-1] == '.' || (p[-1] == '>' && p - 1 > text.ptr && p[-2] == '-'));
}

bool
fc_text_mentions(rg_str text, const char *name)
{
    const char *end = text.ptr + text.len;
    size_t n = strlen(name);
    for (const char *p = text.ptr; n && p && (p = memmem(p, (size_t)(end - p), name, n)); p++)
        if ((p == text.ptr || !is_of_name(p[-1])) && (p + n == end || !is_of_name(p[n])) && !is_field(text, p))
            return true;
    return false;
}
