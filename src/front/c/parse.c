/* One translation unit: parses it with libclang, finds its functions. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/import.h"

#include "front/c/link.h"
#include "llvm/start.h"

/* -- files
 * ----------------------------------------------------------------------------------------- */
static const char *
original_text(unit *u, const char *path, size_t *len)
{
    for (size_t i = 0; i < u->originals.n; i++) {
        if (strcmp(u->originals.at[i].path, path) == 0) {
            *len = u->originals.at[i].len;
            return u->originals.at[i].text;
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
    source_file f = {.handle = handle, .path = path};
    f.text = original_text(u, path, &f.len);
    if (!f.text)
        f.text = clang_getFileContents(u->tu, handle, &f.len);
    f.number = fc_project_file(u->project, &f);
    if (!f.number)
        f.number = rg_build_file(u->builder, rg_str_of(path), (rg_str){f.text, f.text ? f.len : 0});
    list_push(u->arena, &u->files, f);
    return &list_last(&u->files);
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
    bool one_line =
        end_file && clang_File_isEqual(file, end_file) && end_line == line && end_col > col;
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

static bool
collect(collected *c, CXCursor cursor)
{
    if (c->n == c->cap) {
        size_t wider = c->cap ? c->cap * 2 : 64;
        CXCursor *grown = realloc(c->at, wider * sizeof(*grown));
        if (!grown) {
            c->failed = true;
            return false;
        }
        c->at = grown;
        c->cap = wider;
    }
    c->at[c->n++] = cursor;
    return true;
}

static enum CXChildVisitResult
see_child(CXCursor c, CXCursor parent, CXClientData data)
{
    return collect(data, c) ? CXChildVisit_Continue : CXChildVisit_Break;
}

static enum CXChildVisitResult
see_descendant(CXCursor c, CXCursor parent, CXClientData data)
{
    return collect(data, c) ? CXChildVisit_Recurse : CXChildVisit_Break;
}

static enum CXVisitorResult
see_field(CXCursor c, CXClientData data)
{
    return collect(data, c) ? CXVisit_Continue : CXVisit_Break;
}

static cursors
kept_cursors(unit *u)
{
    cursors out = {NULL, u->seen.n};
    if (u->seen.failed)
        mem_alloc(SIZE_MAX / 2); /* fails: the handler takes over */
    out.at = arena_new_n(u->arena, CXCursor, out.n + 1);
    if (out.n)
        memcpy(out.at, u->seen.at, out.n * sizeof(*out.at));
    return out;
}

cursors
fc_cursor_children(unit *u, CXCursor c)
{
    u->seen.n = 0;
    clang_visitChildren(c, see_child, &u->seen);
    return kept_cursors(u);
}

cursors
fc_cursor_descendants(unit *u, CXCursor c)
{
    u->seen.n = 0;
    clang_visitChildren(c, see_descendant, &u->seen);
    return kept_cursors(u);
}

cursors
fc_record_fields(unit *u, CXType record)
{
    u->seen.n = 0;
    clang_Type_visitFields(record, see_field, &u->seen);
    return kept_cursors(u);
}

/* -- the parse
 * ------------------------------------------------------------------------------------- */
typedef list(struct CXUnsavedFile) unsaved_files;

/* Adds a file whose directives were rewritten. */
static void
add_rewritten(unit *u, unsaved_files *unsaved, const char *path, rg_str text)
{
    const char *tail = "";
    char *changed = fc_pragma_rewrite(u->arena, path, text, &u->directives, &tail);
    size_t extra = strlen(tail);
    char *whole = arena_alloc(u->arena, text.len + extra + 1);
    memcpy(whole, changed, text.len);
    memcpy(whole + text.len, tail, extra);
    list_push(u->arena, unsaved,
              ((struct CXUnsavedFile){path, whole, (unsigned long)(text.len + extra)}));
    list_push(u->arena, &u->originals, ((original){path, text.ptr, text.len}));
}

static bool
parse_once(unit *u, const front_c_source *source, unsaved_files *unsaved)
{
    enum CXErrorCode failed =
        clang_parseTranslationUnit2(u->index, source->path, u->words.at, (int)u->words.n, unsaved->at,
                                    (unsigned)unsaved->n, CXTranslationUnit_KeepGoing, &u->tu);
    if (!failed && u->tu)
        return true;
    const char *options = "";
    for (uint32_t i = 0; i < source->option_count; i++)
        options = fc_format(u->arena, "%s%s%s", options, *options ? " " : "", source->options[i]);
    diag_add(u->diags, DIAG_ERROR, ERR_CLANG, (diag_place){.path = source->path}, "libclang gave up on this file%s%s",
             *options ? "\nit was given the options " : "", options);
    return false;
}

/* Headers of the system hold no directives of the user's. */
static bool
is_in_system(const unit *u, CXFile handle)
{
    CXString name = clang_getFileName(handle);
    const char *path = clang_getCString(name);
    bool in = strncmp(path, "/retrograd/", 11) == 0;
    for (size_t i = u->system_from; i < u->searched.n && !in; i++) {
        size_t n = strlen(u->searched.at[i]);
        in = strncmp(path, u->searched.at[i], n) == 0 && path[n] == '/';
    }
    clang_disposeString(name);
    return in;
}

/* A visitor must not allocate from the arena: the first pass counts. */
static void
see_inclusion(CXFile handle, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
    files *f = data;
    if (f->at)
        f->at[f->n] = handle;
    f->n++;
}

files
fc_unit_inclusions(unit *u)
{
    files all = {NULL, 0};
    clang_getInclusions(u->tu, see_inclusion, &all);
    all = (files){arena_new_n(u->arena, CXFile, all.n + 1), 0};
    clang_getInclusions(u->tu, see_inclusion, &all);
    return all;
}

/* An included file of the user's that holds directives must be parsed in its rewritten form. */
static bool
rewrite_included(unit *u, CXFile handle, unsaved_files *unsaved)
{
    CXString name = clang_getFileName(handle);
    const char *path = arena_str(u->arena, rg_str_of(clang_getCString(name)));
    clang_disposeString(name);
    size_t len = 0;
    const char *text = clang_getFileContents(u->tu, handle, &len);
    if (!text)
        return false;
    const char *copy = arena_str(u->arena, (rg_str){text, len});
    if (!copy || (!strstr(copy, "omp") && !strstr(copy, "_Pragma")) || original_text(u, path, &len))
        return false;
    add_rewritten(u, unsaved, path, (rg_str){copy, len});
    return memcmp(list_last(unsaved).Contents, copy, len) != 0;
}

static bool
rewrite_all_included(unit *u, unsaved_files *unsaved)
{
    files all = fc_unit_inclusions(u); /* the main file is the first */
    bool any = false;
    for (size_t i = 1; i < all.n; i++)
        if (!is_in_system(u, all.at[i]))
            any |= rewrite_included(u, all.at[i], unsaved);
    return any;
}

static void
add_headers(unit *u, unsaved_files *unsaved, const front_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list_push(u->arena, unsaved, ((struct CXUnsavedFile){headers[i].path, headers[i].text, headers[i].len}));
}

static bool
parse_all(unit *u, const front_c_source *source, rg_str text)
{
    unsaved_files unsaved = {0};
    fc_parser_words(u->arena, source, text, &u->words, &u->searched, &u->system_from);
    add_headers(u, &unsaved, front_headers, front_header_count);
    if (u->cxx)
        add_headers(u, &unsaved, front_cxx_headers, front_cxx_header_count);
    add_headers(u, &unsaved, front_spare_headers, front_spare_header_count);
    add_rewritten(u, &unsaved, source->path, text);
    bool ok = parse_once(u, source, &unsaved);
    if (ok && rewrite_all_included(u, &unsaved)) {
        clang_disposeTranslationUnit(u->tu);
        u->tu = NULL;
        u->files.n = 0;
        ok = parse_once(u, source, &unsaved);
    }
    if (ok)
        fc_keep_errors(u);
    return ok;
}

/* -- what the unit defines
 * ------------------------------------------------------------------------- */
static void
see_enum(unit *u, CXCursor c)
{
    cursors values = fc_cursor_children(u, c);
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
}

/* the functions named in an expression, in order */
static void
named_functions(unit *u, CXCursor c, decl **out, uint32_t *n, uint32_t most)
{
    CXCursor target = clang_getCursorReferenced(c);
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
        clang_getCursorKind(target) == CXCursor_FunctionDecl && *n < most)
        out[(*n)++] = fc_import_decl(u, target);
    cursors kids = fc_cursor_children(u, c);
    for (size_t i = 0; i < kids.n; i++)
        named_functions(u, kids.at[i], out, n, most);
}

/* what RG_CUSTOM_VJP and RG_CUSTOM_JVP leave: a variable that names both functions */
static void
see_variable(unit *u, CXCursor c)
{
    const char *name = fc_cursor_name(u, c);
    bool vjp = strncmp(name, "__rg_own_vjp_", 13) == 0;
    if (!vjp && strncmp(name, "__rg_own_jvp_", 13) != 0)
        return;
    decl *fns[2];
    uint32_t n = 0;
    named_functions(u, clang_Cursor_getVarDeclInitializer(c), fns, &n, 2);
    if (n == 2)
        *(vjp ? &fns[0]->vjp : &fns[0]->jvp) = fns[1];
}

/* by another function, which is overloaded then */
static bool
is_named_already(const unit *u, const char *name)
{
    for (size_t i = 0; i < u->functions.n; i++)
        if (strcmp(u->functions.at[i]->name, name) == 0)
            return true;
    return false;
}

/* what a macro makes stands where the macro is used */
static bool
is_in_main_file(unit *u, CXCursor c)
{
    CXFile file = NULL;
    unsigned line, col;
    clang_getExpansionLocation(clang_getCursorLocation(c), &file, &line, &col, NULL);
    return file && clang_Location_isFromMainFile(clang_getLocation(u->tu, file, line, col));
}

static void
see_declaration(unit *u, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_VarDecl)
        see_variable(u, c);
    if (!is_in_main_file(u, c))
        return;
    if (kind == CXCursor_EnumDecl)
        see_enum(u, c);
    if (kind == CXCursor_FunctionDecl && clang_isCursorDefinition(c)) {
        decl *fn = fc_import_decl(u, c);
        if (fn->external && !is_named_already(u, fn->name))
            list_push(u->arena, &u->functions, fn);
    }
}

/* The text, read if it was not given. */
static bool
source_text(const front_c_source *source, arena *a, diag_list *diags, rg_str *text)
{
    *text = source->text;
    if (text->ptr)
        return true;
    str read;
    bool ok = file_read(source->path, &read) == RG_OK;
    const char *copy = ok ? arena_str(a, str_view(&read)) : NULL;
    *text = (rg_str){copy ? copy : "", copy ? read.len : 0};
    if (!ok)
        diag_add(diags, DIAG_ERROR, ERR_NO_FILE, (diag_place){0}, "cannot read `%s`", source->path);
    return ok;
}

typedef list(CXCursor) cursor_list;

/* Namespaces and `extern "C"` only say how what stands in them is named. */
static void
add_declarations(unit *u, CXCursor c, cursor_list *out)
{
    cursors kids = fc_cursor_children(u, c);
    for (size_t i = 0; i < kids.n; i++) {
        enum CXCursorKind kind = clang_getCursorKind(kids.at[i]);
        if (u->cxx && (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec))
            add_declarations(u, kids.at[i], out);
        else
            list_push(u->arena, out, kids.at[i]);
    }
}

static cursors
file_scope(unit *u)
{
    cursor_list all = {0};
    add_declarations(u, clang_getTranslationUnitCursor(u->tu), &all);
    return (cursors){all.at, all.n};
}

unit *
fc_unit_new(arena *a, rg_builder *b, diag_list *diags)
{
    unit *u = arena_one(a, unit);
    u->arena = u->known.in = u->tentative.in = u->decls.in = u->types.in = a;
    u->builder = b;
    u->diags = diags;
    return u;
}

bool
fc_unit_parse(unit *u, const front_c_source *source)
{
    rg_str text;
    if (!source_text(source, u->arena, u->diags, &text))
        return false;
    llvm_start();
    u->cxx = fc_is_cxx(source);
    u->index = clang_createIndex(0, 0);
    if (!parse_all(u, source, text))
        return false;
    u->top = file_scope(u);
    for (size_t i = 0; i < u->top.n; i++)
        see_declaration(u, u->top.at[i]);
    return true;
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
    free(u->seen.at);
}

uint32_t
fc_unit_kernels(unit *u, decl ***out)
{
    *out = u->functions.at;
    return (uint32_t)u->functions.n;
}

uint32_t
fc_unit_statics(unit *u, const char ***out)
{
    uint32_t n = 0;
    *out = arena_new_n(u->arena, const char *, u->top.n + 1);
    for (size_t i = 0; i < u->top.n; i++) {
        CXCursor c = u->top.at[i];
        if (clang_getCursorKind(c) != CXCursor_FunctionDecl || !clang_isCursorDefinition(c) ||
            clang_getCursorLinkage(c) != CXLinkage_Internal || !is_in_main_file(u, c))
            continue;
        CXString s = clang_getCursorSpelling(c);
        (*out)[n++] = arena_str(u->arena, rg_str_of(clang_getCString(s)));
        clang_disposeString(s);
    }
    return n;
}

/* The first definition of that name from number `from` on; the number behind it, 0: none. */
static size_t
next_definition(unit *u, const char *name, size_t from)
{
    for (size_t i = from; i < u->top.n; i++) {
        CXCursor c = u->top.at[i];
        if (clang_getCursorKind(c) != CXCursor_FunctionDecl || !clang_isCursorDefinition(c))
            continue;
        CXString s = clang_getCursorSpelling(c);
        bool same = strcmp(clang_getCString(s), name) == 0;
        clang_disposeString(s);
        if (same)
            return i + 1;
    }
    return 0;
}

decl *
fc_unit_find(unit *u, const char *name)
{
    size_t behind = next_definition(u, name, 0);
    return behind ? fc_import_decl(u, u->top.at[behind - 1]) : NULL;
}

bool
fc_unit_overloads(unit *u, const char *name)
{
    size_t behind = next_definition(u, name, 0);
    return u->cxx && behind && next_definition(u, name, behind);
}

/* The last declaration of that kind and name at file scope that others see; defining: that is a definition, if only a
 * tentative one. false: there is none. */
static bool
find_shared(unit *u, const char *name, enum CXCursorKind kind, bool defining, CXCursor *out)
{
    bool found = false;
    for (size_t i = 0; i < u->top.n; i++) {
        CXCursor c = u->top.at[i];
        if (clang_getCursorKind(c) != kind)
            continue;
        CXString s = clang_getCursorSpelling(c);
        bool same = strcmp(clang_getCString(s), name) == 0;
        clang_disposeString(s);
        if (!same || clang_getCursorLinkage(c) != CXLinkage_External)
            continue;
        bool tentative = kind == CXCursor_VarDecl && clang_Cursor_getStorageClass(c) != CX_SC_Extern;
        if (defining && !tentative && !clang_isCursorDefinition(c))
            continue;
        *out = c;
        found = true;
    }
    return found;
}

bool
fc_unit_tentative(unit *u, const char *name, CXCursor *out)
{
    return find_shared(u, name, CXCursor_VarDecl, true, out);
}

decl *
fc_unit_definition(unit *u, const char *name, bool function)
{
    CXCursor c;
    return find_shared(u, name, function ? CXCursor_FunctionDecl : CXCursor_VarDecl, true, &c) ? fc_import_decl(u, c)
                                                                                              : NULL;
}

decl *
fc_unit_variable(unit *u, const char *name)
{
    CXCursor c;
    return find_shared(u, name, CXCursor_VarDecl, false, &c) ? fc_import_decl(u, c) : NULL;
}

bool
fc_unit_mentions(const unit *u, const char *name)
{
    const original *main = &u->originals.at[0];
    return fc_text_mentions((rg_str){main->text, main->len}, name);
}
