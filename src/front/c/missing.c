/* Headers that were not found: what is not known for that. SPDX-License-Identifier: Apache-2.0
 *
 * A type or function that such a header would declare is missed where it is used. A macro that it would define is not:
 * `#ifdef SINGLE` then takes the other branch. So a condition in or around what a kernel reaches, or around a macro
 * that it uses, must not depend on a name that no file defines, if it stands behind the header's place. A definition
 * that stands under a condition on its own name, as defaults do, leaves open what the name was before. */
#include "front/c/import.h"

#include <ctype.h>

enum { DEEPEST = 64 };

/* -- words of directives -------------------------------------------------------------------------- */

static size_t
name_length(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && (p[n] == '_' || isalnum((unsigned char)p[n])))
        n++;
    return n;
}

/* The word behind the # that begins a line, which is then behind the word; else an empty one. */
static rg_str
directive(const char **line, const char *end)
{
    const char *p = fc_skip_blanks(*line, end);
    if (p == end || *p != '#')
        return (rg_str){p, 0};
    p = fc_skip_blanks(p + 1, end);
    rg_str word = {p, name_length(p, end)};
    *line = p + word.len;
    return word;
}

static bool
is_word(rg_str word, const char *expected)
{
    return str_eq(word, rg_str_of(expected));
}

/* -- names of which it is known whether they are defined ------------------------------------------ */

uint64_t
fc_name_key(bool tag, const char *name, size_t n)
{
    return hash_bytes(tag, name, n) | 1;
}

static uint64_t
key_of(const char *name, size_t n)
{
    return fc_name_key(false, name, n);
}

static void
know(unit *u, const char *name, const char *end)
{
    size_t n = name_length(name, end);
    if (n)
        map_set(&u->known, key_of(name, n), u);
}

/* -- groups of lines, from #if to #endif ---------------------------------------------------------- */

typedef struct lines {
    const char *at, *end; /* behind the directive's word */
} lines;

typedef struct group {
    size_t start;
    bool first; /* directive of its file: a guard against being included twice */
    list(lines) conditions, defines; /* defines: also of groups inside */
} group;

typedef struct walk {
    unit *u;
    const char *text, *end, *at;
    group open[DEEPEST];
    size_t depth;
    bool any;
} walk;

static group *
innermost(walk *w)
{
    return w->depth && w->depth <= DEEPEST ? &w->open[w->depth - 1] : NULL;
}

/* Moves to the next directive; an empty word: there is none. l: what is behind the word. */
static rg_str
next_directive(walk *w, lines *l)
{
    while (w->at < w->end) {
        const char *line = w->at;
        const char *stop = fc_skip_line(line, w->end);
        w->at = stop < w->end ? stop + 1 : stop;
        rg_str word = directive(&line, w->at);
        if (!word.len)
            continue;
        *l = (lines){fc_skip_blanks(line, w->at), w->at};
        bool opens = is_word(word, "if") || is_word(word, "ifdef") || is_word(word, "ifndef");
        w->depth += opens;
        group *g = innermost(w);
        if (opens && g)
            *g = (group){.start = (size_t)(word.ptr - w->text), .first = !w->any};
        if ((opens || is_word(word, "elif")) && g)
            list_push(w->u->arena, &g->conditions, *l);
        if (is_word(word, "define") || is_word(word, "undef"))
            for (size_t i = 0; i < w->depth && i < DEEPEST; i++)
                list_push(w->u->arena, &w->open[i].defines, *l);
        w->any = true;
        return word;
    }
    return (rg_str){w->end, 0};
}

/* The next name in the lines, comments left out, which then begin behind it. */
static rg_str
next_name(lines *l)
{
    const char *p = l->at, *end = l->end;
    while (p < end) {
        size_t n = name_length(p, end);
        if (n && !isdigit((unsigned char)*p)) {
            l->at = p + n;
            return (rg_str){p, n};
        }
        if (p + 1 < end && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (p + 1 < end && p[0] == '/' && p[1] == '*') {
            for (p += 2; p < end && !(p[-1] == '*' && p[0] == '/'); p++)
                ;
        }
        p += n ? n : p < end;
    }
    l->at = end;
    return (rg_str){end, 0};
}

static bool
has_name(lines l, rg_str name)
{
    for (rg_str w = next_name(&l); w.len; w = next_name(&l))
        if (str_eq(w, name))
            return true;
    return false;
}

/* Whether the name is defined only if it was not before; a file's guard does not count. */
static bool
is_default(const walk *w, rg_str name)
{
    for (size_t i = 0; i < w->depth && i < DEEPEST; i++)
        for (size_t k = 0; k < w->open[i].conditions.n && !w->open[i].first; k++)
            if (has_name(w->open[i].conditions.at[k], name))
                return true;
    return false;
}

static void
know_defined(unit *u, const char *text, size_t len)
{
    walk w = {.u = u, .text = text, .end = text + len, .at = text};
    lines l;
    for (rg_str word = next_directive(&w, &l); word.len; word = next_directive(&w, &l)) {
        rg_str name = {l.at, name_length(l.at, l.end)};
        if ((is_word(word, "define") || is_word(word, "undef")) && !is_default(&w, name))
            know(u, name.ptr, l.end);
        w.depth -= w.depth && is_word(word, "endif");
    }
}

static void
know_all(unit *u)
{
    static const char own[] = "defined";
    if (u->known.n)
        return;
    know(u, own, own + sizeof own - 1);
    for (size_t i = 0; i < u->words.n; i++) {
        const char *w = u->words.at[i];
        if (w[0] == '-' && (w[1] == 'D' || w[1] == 'U'))
            know(u, w + 2, w + strlen(w));
    }
    files all = fc_unit_inclusions(u);
    for (size_t i = 0; i < all.n; i++) {
        size_t len = 0;
        const char *text = clang_getFileContents(u->tu, all.at[i], &len);
        if (text)
            know_defined(u, text, len);
    }
}

/* -- conditions ----------------------------------------------------------------------------------- */

/* The first header that was not found before this place; NULL: none. */
static const c_error *
missing_before(const unit *u, uint32_t file, size_t offset)
{
    for (size_t i = 0; i < u->errors.n; i++) {
        const c_error *e = &u->errors.at[i];
        if (e->kind == ERROR_MISSING && (e->file != file || e->offset < offset))
            return e;
    }
    return NULL;
}

/* Names that begin with an underscore are the compiler's and the system's. */
static bool
is_unknown(const unit *u, rg_str name)
{
    return name.ptr[0] != '_' && !map_get(&u->known, key_of(name.ptr, name.len));
}

static void
report(unit *u, const source_file *f, rg_str name, const c_error *missing)
{
    uint32_t line = 1, col = 1;
    for (const char *p = f->text; p < name.ptr; p++) {
        line += *p == '\n';
        col = *p == '\n' ? 1 : col + 1;
    }
    diag_place at = {f->path, f->text, f->len, line, col, col + (uint32_t)name.len};
    diag_add(u->diags, DIAG_ERROR, ERR_CONDITION, at,
             "whether `%.*s` is defined is not known: %s\nname the header's folder with -I, or decide it with -D or -U "
             "and the name",
             (int)name.len, name.ptr, missing->text);
}

static bool
group_depends(unit *u, const source_file *f, const group *g)
{
    for (size_t i = 0; i < g->conditions.n; i++) {
        lines l = g->conditions.at[i];
        const c_error *missing = missing_before(u, f->number, (size_t)(l.at - f->text));
        for (rg_str name = next_name(&l); missing && name.len; name = next_name(&l)) {
            if (is_unknown(u, name)) {
                report(u, f, name, missing);
                return true;
            }
        }
    }
    return false;
}

/* -- what a kernel mentions ----------------------------------------------------------------------- */

/* Texts that a kernel consists of: its declarations, and the macros whose names stand in them. */
typedef struct mentions {
    unit *u;
    map *names;
    bool more;
} mentions;

static void
mention(mentions *m, lines l)
{
    for (rg_str name = next_name(&l); name.len; name = next_name(&l)) {
        uint64_t key = key_of(name.ptr, name.len);
        m->more |= !map_get(m->names, key);
        map_set(m->names, key, m);
    }
}

static void
mention_macros(mentions *m, const source_file *f)
{
    walk w = {.u = m->u, .text = f->text, .end = f->text + f->len, .at = f->text};
    lines l;
    for (rg_str word = next_directive(&w, &l); word.len; word = next_directive(&w, &l)) {
        size_t n = name_length(l.at, l.end);
        if (is_word(word, "define") && map_get(m->names, key_of(l.at, n)))
            mention(m, (lines){l.at + n, l.end});
        w.depth -= w.depth && is_word(word, "endif");
    }
}

static bool
defines_mentioned(const mentions *m, const group *g)
{
    for (size_t i = 0; i < g->defines.n; i++) {
        lines l = g->defines.at[i];
        if (map_get(m->names, key_of(l.at, name_length(l.at, l.end))))
            return true;
    }
    return false;
}

static bool
holds_reached(const unit *u, const source_file *f, size_t start, size_t end)
{
    for (size_t i = 0; i < u->ndeclarations; i++) {
        const declaration *d = &u->declarations[i];
        if (d->reached && d->file == f->number && start < d->end && end > d->start)
            return true;
    }
    return false;
}

static bool
file_depends(const mentions *m, const source_file *f)
{
    walk w = {.u = m->u, .text = f->text, .end = f->text + f->len, .at = f->text};
    lines l;
    for (rg_str word = next_directive(&w, &l); word.len; word = next_directive(&w, &l)) {
        if (!is_word(word, "endif") || !w.depth)
            continue;
        const group *g = innermost(&w);
        w.depth--;
        if (g && (holds_reached(m->u, f, g->start, (size_t)(word.ptr - w.text)) || defines_mentioned(m, g)) &&
            group_depends(m->u, f, g))
            return true;
    }
    return false;
}

void
fc_reached_words(unit *u, map *names)
{
    mentions m = {.u = u, .names = names};
    /* The files that are not the system's, those in which nothing is declared too. */
    files all = fc_unit_inclusions(u);
    for (size_t i = 0; i < all.n; i++)
        if (!clang_Location_isInSystemHeader(clang_getLocationForOffset(u->tu, all.at[i], 0)))
            fc_unit_file(u, all.at[i])->own = true;
    for (size_t i = 0; i < u->ndeclarations; i++) {
        const declaration *d = &u->declarations[i];
        for (size_t k = 0; k < u->files.n && d->reached; k++) {
            const source_file *f = &u->files.at[k];
            if (f->own && f->text && f->number == d->file && d->end <= f->len)
                mention(&m, (lines){f->text + d->start, f->text + d->end});
        }
    }
    for (m.more = true; m.more;) {
        m.more = false;
        for (size_t k = 0; k < u->files.n; k++)
            if (u->files.at[k].own && u->files.at[k].text)
                mention_macros(&m, &u->files.at[k]);
    }
}

bool
fc_depends_on_missing(unit *u)
{
    map names = {.in = u->arena};
    mentions m = {.u = u, .names = &names};
    if (!missing_before(u, UINT32_MAX, 0))
        return false;
    know_all(u);
    fc_reached_words(u, &names);
    bool depends = false;
    for (size_t k = 0; k < u->files.n && !depends; k++)
        depends = u->files.at[k].own && u->files.at[k].text && file_depends(&m, &u->files.at[k]);
    return depends;
}
