/* Which of clang's errors concern a kernel. SPDX-License-Identifier: Apache-2.0
 *
 * A file is parsed as far as it can be. An error counts for the declaration of file scope in which it stands, and for
 * those before and behind it where it stands between two; it is reported for a kernel that reaches such a declaration,
 * be it a function, variable, type or constant, through its own text or that of what it reaches. Names decide, so that
 * a second, contradicting declaration concerns those who use the first. Errors of directives concern everybody: they
 * decide what the text is. */
#include "front/c/import.h"

enum { UNPLACED = 0xffffffff };

/* -- errors --------------------------------------------------------------------------------------- */

/* The line of the error, from its first character that is not blank. */
static const char *
line_start(const diag_place *at, unsigned offset)
{
    if (!at->source || offset >= at->source_len)
        return NULL;
    const char *p = at->source + offset, *end = at->source + at->source_len;
    while (p > at->source && p[-1] != '\n')
        p--;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p < end ? p : NULL;
}

static error_kind
kind_of(const char *text, const diag_place *at, unsigned offset)
{
    static const char missing[] = "file not found";
    size_t n = strlen(text);
    const char *line = line_start(at, offset);
    if (!line || *line != '#')
        return ERROR_PLAIN;
    if (n >= sizeof missing && strcmp(text + n - (sizeof missing - 1), missing) == 0)
        return ERROR_MISSING;
    /* "file not found with <angled> include; use "quotes" instead": clang then takes that one */
    return strstr(text, missing) ? ERROR_MENDED : ERROR_DIRECTIVE;
}

static void
keep_error(unit *u, CXDiagnostic d)
{
    CXString text = clang_getDiagnosticSpelling(d);
    CXFile handle = NULL;
    unsigned line, col;
    c_error e = {.offset = UNPLACED};
    clang_getExpansionLocation(clang_getDiagnosticLocation(d), &handle, &line, &col, &e.offset);
    e.text = arena_str(u->arena, rg_str_of(clang_getCString(text)));
    clang_disposeString(text);
    if (handle) {
        source_file *f = fc_unit_file(u, handle);
        e.file = f->number;
        e.place = (diag_place){f->path, f->text, f->len, line, col, col + 1};
    }
    e.kind = kind_of(e.text, &e.place, e.offset);
    list_push(u->arena, &u->errors, e);
}

/* `f(int a, b[3])`: what takes a missing type for int in other places, takes this for an error. */
static bool
is_untyped_parameter(unit *u, CXDiagnostic d)
{
    static const char untyped[] = "type specifier missing";
    CXString text = clang_getDiagnosticSpelling(d);
    bool is = strncmp(clang_getCString(text), untyped, sizeof untyped - 1) == 0;
    clang_disposeString(text);
    return is && clang_getCursorKind(clang_getCursor(u->tu, clang_getDiagnosticLocation(d))) == CXCursor_ParmDecl;
}

void
fc_keep_errors(unit *u)
{
    unsigned n = clang_getNumDiagnostics(u->tu); /* works through all of them */
    for (unsigned i = 0; i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error || is_untyped_parameter(u, d))
            keep_error(u, d);
        clang_disposeDiagnostic(d);
    }
}

static void
report(unit *u, c_error *e)
{
    if (!e->reported)
        diag_add(u->diags, DIAG_ERROR, ERR_CLANG, e->place, "%s", e->text);
    e->reported = true;
}

/* -- declarations of file scope ------------------------------------------------------------------- */

static bool
is_tag(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl || kind == CXCursor_EnumDecl;
}

/* 0: no name */
static uint64_t
name_key(CXCursor c, bool tag)
{
    CXString s = clang_getCursorSpelling(c);
    const char *name = clang_getCString(s);
    /* what RG_CUSTOM_VJP leaves belongs to the function that it names */
    if (name && strncmp(name, "__rg_own_", 9) == 0 && strlen(name) > 13)
        name += 13;
    uint64_t key = name && *name ? fc_name_key(tag, name, strlen(name)) : 0;
    clang_disposeString(s);
    return key;
}

/* What has a name, apart for tags: struct s and s are two things. 0: no name. */
static uint64_t
key_of(CXCursor c)
{
    return name_key(c, is_tag(c));
}

static void
place_declaration(unit *u, declaration *d)
{
    CXSourceRange range = clang_getCursorExtent(d->cursor);
    CXFile file = NULL, end_file = NULL;
    unsigned line, col;
    clang_getExpansionLocation(clang_getRangeStart(range), &file, &line, &col, &d->start);
    clang_getExpansionLocation(clang_getRangeEnd(range), &end_file, &line, &col, &d->end);
    d->file = file ? fc_unit_file(u, file)->number : UNPLACED;
    if (!file || !end_file || !clang_File_isEqual(file, end_file) || d->end < d->start)
        d->end = d->start;
}

/* Declarations that an error counts for. */
static void
blame(unit *u, const c_error *e)
{
    declaration *before = NULL, *behind = NULL;
    bool inside = false;
    for (size_t i = 0; i < u->ndeclarations; i++) {
        declaration *d = &u->declarations[i];
        if (d->file != e->file)
            continue;
        if (d->start <= e->offset && e->offset <= d->end)
            inside = d->faulty = true;
        else if (d->end < e->offset && (!before || d->end > before->end))
            before = d;
        else if (d->start > e->offset && (!behind || d->start < behind->start))
            behind = d;
    }
    if (!inside && before)
        before->faulty = true;
    if (!inside && behind)
        behind->faulty = true;
}

static bool
concerns(const unit *u, const c_error *e, const declaration *d)
{
    if (d->file != e->file)
        return false;
    if (d->start <= e->offset && e->offset <= d->end)
        return true;
    /* between two: no other one stands in between */
    unsigned from = d->end < e->offset ? d->end : e->offset, to = d->end < e->offset ? e->offset : d->start;
    for (size_t i = 0; i < u->ndeclarations; i++) {
        const declaration *o = &u->declarations[i];
        if (o != d && o->file == d->file && o->end >= from && o->start <= to &&
            !(o->start == d->start && o->end == d->end))
            return false;
    }
    return true;
}

static void
prepare(unit *u)
{
    if (u->declarations)
        return;
    u->ndeclarations = u->top.n;
    u->declarations = arena_new_n(u->arena, declaration, u->top.n + 1);
    for (size_t i = 0; i < u->top.n; i++) {
        declaration *d = &u->declarations[i];
        d->cursor = u->top.at[i];
        d->key = key_of(d->cursor);
        place_declaration(u, d);
    }
    for (size_t i = 0; i < u->errors.n; i++)
        if (u->errors.at[i].kind == ERROR_PLAIN)
            blame(u, &u->errors.at[i]);
}

/* -- what a kernel reaches ------------------------------------------------------------------------ */

typedef struct reaching {
    unit *u;
    map seen; /* keys of names */
    list(uint64_t) work;
    bool broken; /* something that clang did not understand */
} reaching;

static void
reach_name(reaching *r, uint64_t key)
{
    if (!key || map_get(&r->seen, key))
        return;
    map_set(&r->seen, key, r);
    list_push(r->u->arena, &r->work, key);
}

static void
reach_reference(reaching *r, CXCursor c)
{
    CXCursor target = clang_getCursorReferenced(c);
    if (clang_Cursor_isNull(target) || clang_equalCursors(target, c))
        return;
    CXCursor parent = clang_getCursorSemanticParent(target);
    enum CXCursorKind outer = clang_getCursorKind(parent);
    if (outer == CXCursor_EnumDecl && key_of(parent) == 0)
        reach_name(r, key_of(target)); /* of an enum without a name */
    else if (outer == CXCursor_EnumDecl || outer == CXCursor_StructDecl || outer == CXCursor_UnionDecl || outer == CXCursor_ClassDecl)
        reach_name(r, key_of(parent));
    else if (outer == CXCursor_TranslationUnit || outer == CXCursor_Namespace || outer == CXCursor_LinkageSpec)
        reach_name(r, key_of(target));
}

static void
reach_declaration(reaching *r, declaration *d)
{
    d->reached = true;
    bool pattern = clang_getCursorKind(d->cursor) == CXCursor_FunctionTemplate || clang_getCursorKind(d->cursor) == CXCursor_ClassTemplate;
    cursors all = fc_cursor_descendants(r->u, d->cursor);
    for (size_t i = 0; i < all.n; i++) {
        reach_reference(r, all.at[i]);
        r->broken |= !pattern && clang_getCursorType(all.at[i]).kind == CXType_Dependent;
    }
}

/* Whether an enum without a name has a constant that is among the names. */
static bool
declares_constant(unit *u, const declaration *d, const map *names)
{
    if (d->key || clang_getCursorKind(d->cursor) != CXCursor_EnumDecl)
        return false;
    cursors values = fc_cursor_children(u, d->cursor);
    for (size_t i = 0; i < values.n; i++)
        if (map_get(names, key_of(values.at[i])))
            return true;
    return false;
}

static void
follow_names(reaching *r)
{
    while (r->work.n) {
        uint64_t key = list_pop(&r->work);
        for (size_t i = 0; i < r->u->ndeclarations; i++) {
            declaration *d = &r->u->declarations[i];
            if (!d->reached && d->key == key)
                reach_declaration(r, d);
        }
    }
}

/* Of what is wrong in itself clang may keep no reference: then the words of the text count. */
static bool
follow_words(reaching *r, const map *words)
{
    bool any = false;
    for (size_t i = 0; i < r->u->ndeclarations; i++) {
        declaration *d = &r->u->declarations[i];
        if (d->reached || !d->faulty)
            continue;
        if (map_get(words, name_key(d->cursor, false)) || declares_constant(r->u, d, words)) {
            reach_declaration(r, d);
            any = true;
        }
    }
    return any;
}

/* false: clang left something out */
static bool
reach(unit *u, CXCursor function)
{
    reaching r = {.u = u, .seen.in = u->arena};
    map words;
    for (size_t i = 0; i < u->ndeclarations; i++)
        u->declarations[i].reached = false;
    reach_name(&r, key_of(function));
    do {
        follow_names(&r);
        for (size_t i = 0; i < u->ndeclarations; i++) /* enums without a name are reached by their constants */
            if (!u->declarations[i].reached && declares_constant(u, &u->declarations[i], &r.seen))
                reach_declaration(&r, &u->declarations[i]);
        words = (map){.in = u->arena};
        fc_reached_words(u, &words);
    } while (follow_words(&r, &words) || r.work.n);
    return !r.broken;
}

/* -- for the entry points ------------------------------------------------------------------------- */

static bool
concerns_reached(const unit *u, const c_error *e)
{
    for (size_t i = 0; i < u->ndeclarations; i++) {
        const declaration *d = &u->declarations[i];
        if (d->reached && d->faulty && concerns(u, e, d))
            return true;
    }
    return false;
}

bool
fc_unit_is_sound(unit *u, const decl *fn)
{
    bool sound = true;
    CXCursor c;
    if (!u->errors.n)
        return true;
    memcpy(&c, fn->cursor, sizeof(c));
    prepare(u);
    bool whole = reach(u, c);
    for (size_t i = 0; i < u->errors.n; i++) {
        c_error *e = &u->errors.at[i];
        bool everywhere = e->kind == ERROR_DIRECTIVE || e->offset == UNPLACED || !e->place.path;
        if (everywhere || (e->kind == ERROR_PLAIN && concerns_reached(u, e))) {
            report(u, e);
            sound = false;
        }
    }
    if (sound && !whole) /* through macros of headers */
        fc_unit_report_all(u);
    return sound && whole && !fc_depends_on_missing(u);
}

void
fc_unit_report_all(unit *u)
{
    for (size_t i = 0; i < u->errors.n; i++)
        if (u->errors.at[i].kind != ERROR_MISSING)
            report(u, &u->errors.at[i]);
}

void
fc_unit_note_missing(unit *u)
{
    for (size_t i = 0; i < u->errors.n; i++) {
        const c_error *e = &u->errors.at[i];
        str folders = {.in = u->arena};
        if (e->kind != ERROR_MISSING)
            continue;
        for (size_t k = 0; k < u->searched.n; k++)
            str_addf(&folders, ", %s", u->searched.at[k]);
        diag_add(u->diags, DIAG_NOTE, 0, e->place,
                 "%s: what it declares is not known\nlooked in the file's folder%s, and among the headers that are "
                 "built in; name its folder with -I",
                 e->text, folders.ptr ? folders.ptr : "");
    }
}
