/* One translation unit: parses it with libclang, turns clang's errors into ours, finds its functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/import.h"

/* -- files ----------------------------------------------------------------------------------------- */
static const char *
original_text(unit *u, const char *path, size_t *len)
{
    for (size_t i = 0; i < u->nrewritten; i++) {
        if (strcmp(u->rewritten[i].path, path) == 0) {
            *len = u->rewritten[i].len;
            return u->rewritten[i].text;
        }
    }
    return NULL;
}

source_file *
fc_unit_file(unit *u, CXFile handle)
{
    for (size_t i = 0; i < u->files.n; i++) {
        if (clang_File_isEqual(u->files.at[i].handle, handle))
            return &u->files.at[i];
    }
    CXString name = clang_getFileName(handle);
    const char *path = arena_str(u->arena, rg_str_of(clang_getCString(name)));
    clang_disposeString(name);
    source_file f = {.handle = handle};
    f.text = original_text(u, path, &f.len);
    if (!f.text)
        f.text = clang_getFileContents(u->tu, handle, &f.len);
    f.number = rg_build_file(u->builder, rg_str_of(path), (rg_str){f.text, f.text ? f.len : 0});
    vec_push(&u->files, f);
    return &vec_last(&u->files);
}

rg_place
fc_cursor_place(unit *u, CXCursor c)
{
    CXSourceRange range = clang_getCursorExtent(c);
    CXFile file = NULL, end_file = NULL;
    unsigned line, col, end_line, end_col, offset;
    clang_getExpansionLocation(clang_getRangeStart(range), &file, &line, &col, &offset);
    clang_getExpansionLocation(clang_getRangeEnd(range), &end_file, &end_line, &end_col, &offset);
    if (!file)
        return (rg_place){0, 0, 0, 0};
    bool one_line = end_file && clang_File_isEqual(file, end_file) && end_line == line && end_col > col;
    return (rg_place){fc_unit_file(u, file)->number, line, col, one_line ? end_col : col + 1};
}

const char *
fc_cursor_name(unit *u, CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    const char *name = arena_str(u->arena, rg_str_of(clang_getCString(s)));
    clang_disposeString(s);
    return name;
}

static enum CXChildVisitResult
push_child(CXCursor c, CXCursor parent, CXClientData data)
{
    vec_push((cursors *)data, c);
    return CXChildVisit_Continue;
}

void
fc_cursor_children(CXCursor c, cursors *out)
{
    out->n = 0;
    clang_visitChildren(c, push_child, out);
}

/* -- clang's diagnostics --------------------------------------------------------------------------- */
static void
report_clang(unit *u, CXDiagnostic d)
{
    CXString text = clang_getDiagnosticSpelling(d);
    CXFile handle = NULL;
    unsigned line, col, offset;
    clang_getExpansionLocation(clang_getDiagnosticLocation(d), &handle, &line, &col, &offset);
    diag_place at = {0};
    if (handle) {
        source_file *f = fc_unit_file(u, handle);
        CXString name = clang_getFileName(handle);
        at = (diag_place){arena_str(u->arena, rg_str_of(clang_getCString(name))), f->text, f->len, line,
                          col, col + 1};
        clang_disposeString(name);
    }
    diag_add(u->diags, DIAG_ERROR, ERR_CLANG, at, "%s", clang_getCString(text));
    clang_disposeString(text);
}

static bool
report_errors(unit *u)
{
    bool any = false;
    for (unsigned i = 0; i < clang_getNumDiagnostics(u->tu); i++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            report_clang(u, d);
            any = true;
        }
        clang_disposeDiagnostic(d);
    }
    return any;
}

/* -- arguments ------------------------------------------------------------------------------------- */
typedef vec(const char *) strings;

static const char *
joined(arena *a, const char *option, const char *value)
{
    size_t n = strlen(option), m = strlen(value);
    char *s = arena_alloc(a, n + m + 1);
    memcpy(s, option, n);
    memcpy(s + n, value, m);
    return s;
}

static void
make_arguments(arena *a, const front_c_source *source, strings *out)
{
    static const char *const fixed[] = {
        "-xc", "-std=gnu17", "-nostdinc", "-isystem", FRONT_HEADER_DIR, "-ferror-limit=20",
        "-D_OPENMP=201511",
        "-D__OMP(n)=__OMP2(n,__COUNTER__)", "-D__OMP2(n,c)=__OMP3(n,c)", "-D__OMP3(n,c)=__omp##n##_##c:",
        /* a directive that could not be read must not be skipped in silence */
        "-Werror=source-uses-openmp"};
    for (size_t i = 0; i < countof(fixed); i++)
        vec_push(out, fixed[i]);
    for (uint32_t i = 0; i < source->include_count; i++)
        vec_push(out, joined(a, "-I", source->include_paths[i]));
    for (uint32_t i = 0; i < source->define_count; i++)
        vec_push(out, joined(a, "-D", source->defines[i]));
}

/* -- the parse ------------------------------------------------------------------------------------- */
typedef vec(struct CXUnsavedFile) unsaved_files;

/* Adds a file whose directives were rewritten. */
static void
add_rewritten(unit *u, unsaved_files *unsaved, const char *path, rg_str text)
{
    str tail = {0};
    char *changed = fc_pragma_rewrite(u->arena, path, text, &u->directives, &tail);
    str whole = {0};
    str_add(&whole, (rg_str){changed, text.len});
    if (tail.len)
        str_add(&whole, str_view(&tail));
    const char *kept = arena_str(u->arena, str_view(&whole));
    vec_push(unsaved, ((struct CXUnsavedFile){path, kept ? kept : "", (unsigned long)whole.len}));
    u->rewritten = mem_realloc(u->rewritten, (u->nrewritten + 1) * sizeof(*u->rewritten));
    u->rewritten[u->nrewritten].path = path;
    u->rewritten[u->nrewritten].text = text.ptr;
    u->rewritten[u->nrewritten++].len = text.len;
    str_free(&tail);
    str_free(&whole);
}

static bool
parse_once(unit *u, const char *path, const strings *args, unsaved_files *unsaved)
{
    enum CXErrorCode failed =
        clang_parseTranslationUnit2(u->index, path, args->at, (int)args->n, unsaved->at,
                                    (unsigned)unsaved->n, CXTranslationUnit_None, &u->tu);
    if (!failed && u->tu)
        return true;
    diag_add(u->diags, DIAG_ERROR, ERR_CLANG, (diag_place){.path = path}, "libclang gave up on this file");
    return false;
}

typedef struct inclusions {
    unit *unit;
    unsaved_files *unsaved;
    const char *main_path;
    bool found;
} inclusions;

/* An included file of the user's that holds directives must be parsed in its rewritten form. */
static void
look_into(CXFile handle, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
    inclusions *in = data;
    CXString name = clang_getFileName(handle);
    const char *path = arena_str(in->unit->arena, rg_str_of(clang_getCString(name)));
    clang_disposeString(name);
    size_t len = 0;
    const char *text = depth ? clang_getFileContents(in->unit->tu, handle, &len) : NULL;
    if (!text || strncmp(path, FRONT_HEADER_DIR, strlen(FRONT_HEADER_DIR)) == 0)
        return;
    const char *copy = arena_str(in->unit->arena, (rg_str){text, len});
    if (!strstr(copy, "omp") || original_text(in->unit, path, &len))
        return;
    size_t before = in->unit->directives.n;
    add_rewritten(in->unit, in->unsaved, path, (rg_str){copy, len});
    in->found |= in->unit->directives.n > before;
}

static bool
parse_all(unit *u, const front_c_source *source, rg_str text)
{
    strings args = {0};
    unsaved_files unsaved = {0};
    make_arguments(u->arena, source, &args);
    for (size_t i = 0; i < front_header_count; i++)
        vec_push(&unsaved, ((struct CXUnsavedFile){front_headers[i].path, front_headers[i].text,
                                                   front_headers[i].len}));
    add_rewritten(u, &unsaved, source->path, text);
    bool ok = parse_once(u, source->path, &args, &unsaved);
    inclusions in = {u, &unsaved, source->path, false};
    if (ok)
        clang_getInclusions(u->tu, look_into, &in);
    if (ok && in.found) {
        clang_disposeTranslationUnit(u->tu);
        u->tu = NULL;
        u->files.n = 0;
        ok = parse_once(u, source->path, &args, &unsaved);
    }
    vec_free(&args);
    vec_free(&unsaved);
    return ok && !report_errors(u);
}

/* -- what the unit defines ------------------------------------------------------------------------- */
static void
see_enum(unit *u, CXCursor c)
{
    cursors values = {0};
    fc_cursor_children(c, &values);
    for (size_t i = 0; i < values.n; i++) {
        unsigned long number;
        CXString name = clang_getCursorSpelling(values.at[i]);
        if (sscanf(clang_getCString(name), "__omp_collapse%lu", &number) == 1 &&
            number < u->directives.n) {
            long long n = clang_getEnumConstantDeclValue(values.at[i]);
            omp *d = u->directives.at[number];
            if (n < 1 || n > RG_MAX_RANK) {
                d->error = ERR_OMP_CLAUSE;
                d->what = "collapse";
            }
            d->collapse = (uint32_t)n;
        }
        clang_disposeString(name);
    }
    vec_free(&values);
}

static enum CXChildVisitResult
see_declaration(CXCursor c, CXCursor parent, CXClientData data)
{
    unit *u = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    CXSourceLocation at = clang_getCursorLocation(c);
    if (!clang_Location_isFromMainFile(at))
        return CXChildVisit_Continue;
    if (kind == CXCursor_EnumDecl)
        see_enum(u, c);
    if (kind == CXCursor_FunctionDecl && clang_isCursorDefinition(c)) {
        decl *fn = fc_import_decl(u, c);
        if (fn->external)
            vec_push(&u->functions, fn);
    }
    return CXChildVisit_Continue;
}

unit *
fc_unit_parse(const front_c_source *source, arena *a, rg_builder *b, diag_list *diags)
{
    unit *u = arena_one(a, unit);
    u->arena = a;
    u->builder = b;
    u->diags = diags;
    rg_str text = source->text;
    if (!text.ptr) {
        str read = {0};
        if (file_read(source->path, &read) != RG_OK) {
            diag_add(diags, DIAG_ERROR, ERR_NO_FILE, (diag_place){0}, "cannot read `%s`", source->path);
            str_free(&read);
            return NULL;
        }
        text = (rg_str){arena_str(a, str_view(&read)), read.len};
        str_free(&read);
    }
    u->index = clang_createIndex(0, 0);
    if (!parse_all(u, source, text)) {
        fc_unit_close(u);
        return NULL;
    }
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), see_declaration, u);
    return u;
}

void
fc_unit_close(unit *u)
{
    if (!u)
        return;
    if (u->tu)
        clang_disposeTranslationUnit(u->tu);
    if (u->index)
        clang_disposeIndex(u->index);
    for (size_t i = 0; i < u->decls.cap; i++) {
        decl *d = u->decls.values ? u->decls.values[i] : NULL;
        if (d)
            vec_free(&d->assigned);
    }
    vec_free(&u->directives);
    vec_free(&u->files);
    vec_free(&u->functions);
    vec_free(&u->pending);
    map_free(&u->decls);
    map_free(&u->types);
    mem_free(u->rewritten);
}

uint32_t
fc_unit_kernels(unit *u, decl ***out)
{
    *out = u->functions.at;
    return (uint32_t)u->functions.n;
}
