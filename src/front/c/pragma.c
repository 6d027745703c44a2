/* OpenMP directives. libclang shows either what a directive governs or the directive, never both,
 * so the text is rewritten before it is parsed: `#pragma omp parallel for ...` becomes a label of
 * no more characters. The preprocessor then decides which directives are alive, the parser which
 * statement each one governs, and lines and columns stay what they were.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

#include <ctype.h>

typedef struct scanner {
    arena *arena;
    const char *path;
    char *text; /* being rewritten */
    size_t at, len;
    omp_list *list;
    const char **tail;
} scanner;

/* -- finding directives in a file ----------------------------------------------------------------- */
static size_t
skip_word(const scanner *s, size_t at, const char *word)
{
    size_t n = strlen(word);
    at = (size_t)(fc_skip_blanks(s->text + at, s->text + s->len) - s->text);
    if (at + n > s->len || memcmp(s->text + at, word, n) != 0)
        return 0;
    return at + n;
}

/* Copies the directive's words from `at` to its line's end, comments and continuations blanked;
 * out: NULL or at least as long as what is read. Returns where the line ends. */
static size_t
directive_text(const scanner *s, size_t at, char *out)
{
    while (at < s->len && s->text[at] != '\n') {
        const char *here = s->text + at, *after = *here == '"' ? here : fc_skip_opaque(here, s->text + s->len);
        if (after > here) {
            if (out)
                *out++ = ' ';
            at += (size_t)(after - here);
        } else if (s->text[at] == '\\' && at + 1 < s->len && s->text[at + 1] == '\n') {
            at += 2;
        } else {
            if (out)
                *out++ = s->text[at];
            at++;
        }
    }
    return at;
}

static void
add_directive(scanner *s, size_t from, size_t to, const char *words_text, size_t n,
              const char *format)
{
    omp *d = arena_one(s->arena, omp);
    rg_place p = {0, 1, 1, 0};
    for (size_t i = 0; i < from; i++) {
        p.col++;
        if (s->text[i] == '\n')
            p.line++, p.col = 1;
    }
    p.end_col = p.col + 1;
    d->place = p;
    char label[32] = "";
    if (fc_directive_read(s->arena, (rg_str){words_text, n}, d, s->tail, s->list->n)) {
        snprintf(label, sizeof(label), format, s->list->n);
        list_push(s->arena, s->list, d);
    }
    /* Blanks [from, to) but line ends, then writes the label there if it is wanted. */
    for (size_t i = from; i < to; i++) {
        if (s->text[i] != '\n')
            s->text[i] = ' ';
    }
    memcpy(s->text + from, label, strlen(label));
}

/* `#pragma omp ...` at a line's start. */
static size_t
scan_hash(scanner *s, size_t hash)
{
    size_t at = skip_word(s, hash + 1, "pragma");
    at = at ? skip_word(s, at, "omp") : 0;
    if (!at || (at < s->len && isalnum((unsigned char)s->text[at])))
        return hash + 1;
    size_t end = directive_text(s, at, NULL);
    char *text = arena_alloc(s->arena, end - at + 1);
    directive_text(s, at, text);
    add_directive(s, hash, end, text, strlen(text), "__omp%zu:");
    return end;
}

/* `_Pragma("omp ...")`, often in a macro: the label then gets a number of its own at each use. */
static size_t
scan_operator(scanner *s, size_t start)
{
    size_t at = skip_word(s, start + strlen("_Pragma"), "(");
    at = at ? skip_word(s, at, "\"") : 0;
    at = at ? skip_word(s, at, "omp") : 0;
    size_t close = at;
    while (close && close < s->len && s->text[close] != '"' && s->text[close] != '\n')
        close++;
    size_t end = close ? skip_word(s, close, "\"") : 0;
    end = end ? skip_word(s, end, ")") : 0;
    if (!end)
        return start + 1;
    const char *text = arena_str(s->arena, (rg_str){s->text + at, close - at});
    add_directive(s, start, end, text, close - at, "__OMP(%zu)");
    return end;
}

/* `_Pragma(#x)` in a macro, which gets its text where it is used, becomes `__RGQ(x)`. What that is (options.c) knows the argument
 * that scan_use leaves. */
static size_t
scan_text_operator(scanner *s, size_t start)
{
    size_t open = skip_word(s, start + strlen("_Pragma"), "("), at = open ? skip_word(s, open, "#") : 0, name;
    at = at ? (size_t)(fc_skip_blanks(s->text + at, s->text + s->len) - s->text) : 0;
    name = at;
    while (at && at < s->len && (isalnum((unsigned char)s->text[at]) || s->text[at] == '_'))
        at++;
    size_t end = at ? skip_word(s, at, ")") : 0;
    if (!end || at == name)
        return 0;
    const char *text = fc_format(s->arena, "__RGQ(%.*s)", (int)(at - name), s->text + name);
    memset(s->text + start, ' ', end - start);
    memcpy(s->text + start, text, strlen(text));
    return end;
}

/* `PRAGMA(omp ...)`: in C only such a macro has two words there. The argument becomes `omp(7)`. */
static size_t
scan_use(scanner *s, size_t start)
{
    size_t name = start;
    while (name < s->len && (isalnum((unsigned char)s->text[name]) || s->text[name] == '_'))
        name++;
    size_t open = name < s->len && s->text[name] == '(' ? name + 1 : 0, words = open ? skip_word(s, open, "omp") : 0, end = words;
    if (!words || words >= s->len || !isspace((unsigned char)s->text[words]))
        return name;
    for (int depth = 1; end < s->len && s->text[end] != '\n'; end++) {
        depth += (s->text[end] == '(') - (s->text[end] == ')');
        if (!depth)
            break;
    }
    if (end >= s->len || s->text[end] != ')' || end - open < strlen(fc_format(s->arena, "omp(%zu)", s->list->n)))
        return name;
    const char *text = arena_str(s->arena, (rg_str){s->text + words, end - words});
    add_directive(s, open, end, text, end - words, "omp(%zu)");
    return end;
}

char *
fc_pragma_rewrite(arena *a, const char *path, rg_str text, omp_list *list, const char **tail)
{
    scanner s = {a, path, arena_alloc(a, text.len + 1), 0, text.len, list, tail};
    memcpy(s.text, text.ptr, text.len);
    bool line_start = true;
    while (s.at < s.len) {
        const char *here = s.text + s.at, *after = fc_skip_opaque(here, s.text + s.len);
        char c = *here;
        if (after > here) {
            line_start &= c == '/';
            s.at += (size_t)(after - here);
        } else if (c == '#' && line_start) {
            s.at = scan_hash(&s, s.at);
        } else if (c == '_' && skip_word(&s, s.at, "_Pragma")) {
            size_t end = scan_text_operator(&s, s.at);
            s.at = end ? end : scan_operator(&s, s.at);
        } else if (isalpha((unsigned char)c) || c == '_') {
            s.at = scan_use(&s, s.at);
            line_start = false;
        } else {
            line_start = c == '\n' || (line_start && isspace((unsigned char)c));
            s.at++;
        }
    }
    return s.text;
}
