/* Lambdas: the type says which function is meant, so that its value is a struct without fields. What is captured by reference is
 * the variable itself; what is captured by value has a copy, which is made where the lambda is, and which its body means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"
#include "front/c/import.h"

#include <ctype.h>

struct captures {
    const struct captures *outer; /* those of the lambda around */
    list(decl *) of, copies;
};

bool
fc_is_lambda(CXType t)
{
    CXString s = clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCanonicalType(t)));
    const char *name = clang_getCString(s);
    bool is = name && strncmp(name, "(lambda", 7) == 0;
    clang_disposeString(s);
    return is;
}

decl *
fc_captured(const unit *u, decl *d)
{
    for (const struct captures *c = u->captures; c; c = c->outer)
        for (size_t i = 0; i < c->of.n; i++)
            if (c->of.at[i] == d)
                return c->copies.at[i];
    return d;
}

/* What stands in the brackets of [..]; empty: something that is made there. */
static rg_str
captures_in_text(unit *u, CXCursor c)
{
    CXFile handle = NULL;
    unsigned line, col, offset;
    size_t len = 0, n = 0;
    clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(c)), &handle, &line, &col, &offset);
    const char *text = handle ? clang_getFileContents(u->tu, handle, &len) : NULL;
    bool named = false;
    if (!text || offset + 1 >= len || text[offset] != '[')
        return (rg_str){0};
    for (const char *p = text + offset + 1; offset + 1 + n < len && p[n] != ']'; n++) {
        if (strchr("({*\"'/", p[n]) || (named && p[n] == '='))
            return (rg_str){0};
        named = p[n] != ',' && (named || isalnum((unsigned char)p[n]) || p[n] == '_');
    }
    return (rg_str){text + offset, n + 1};
}

/* Whether the brackets say that a variable is captured by value: by its name, or as all that they do not name. */
static bool
copies(rg_str brackets, const char *name)
{
    bool all = false;
    for (size_t i = 1; i < brackets.len; i++) {
        size_t n = 0;
        bool refers = false;
        for (; i < brackets.len && (isspace((unsigned char)brackets.ptr[i]) || brackets.ptr[i] == '&'); i++)
            refers |= brackets.ptr[i] == '&';
        all |= i < brackets.len && brackets.ptr[i] == '=';
        while (i + n < brackets.len && (isalnum((unsigned char)brackets.ptr[i + n]) || brackets.ptr[i + n] == '_'))
            n++;
        if (n && strlen(name) == n && strncmp(brackets.ptr + i, name, n) == 0)
            return !refers;
        for (i += n; i < brackets.len && brackets.ptr[i] != ','; i++)
            ;
    }
    return all;
}

static CXCursor
call_operator(unit *u, CXType closure)
{
    cursors kids = fc_cursor_children(u, clang_getTypeDeclaration(clang_getCanonicalType(closure)));
    for (size_t i = 0; i < kids.n; i++)
        if (clang_getCursorKind(kids.at[i]) == CXCursor_CXXMethod && strcmp(fc_cursor_name(u, kids.at[i]), "operator()") == 0)
            return kids.at[i];
    return clang_getNullCursor();
}

/* A variable of the lambda's own, with the value that the one outside has now. */
static node *
copy_of(unit *u, CXCursor c, struct captures *all, decl *d)
{
    node *ref = fc_node_new(u, E_REF, c), *init = fc_node_new(u, E_REF, c), *n = fc_node_new(u, S_DECL, c);
    decl *copy = arena_one(u->arena, decl);
    *copy = (decl){.kind = DECL_VAR, .name = d->name, .unit = u, .place = n->place, .type = d->type};
    init->decl = fc_captured(u, d);
    init->type = ref->type = d->type;
    copy->init = init;
    ref->decl = copy;
    list_push(u->arena, &all->of, d);
    list_push(u->arena, &all->copies, copy);
    n->list = arena_new_n(u->arena, node *, 1);
    n->list[n->count++] = ref;
    return n;
}

node *
fc_import_lambda(unit *u, CXCursor c, const cursors *kids)
{
    CXType type = clang_getCursorType(c);
    CXCursor operator= call_operator(u, type);
    node *nothing = fc_node_new(u, E_INIT, c), *block = fc_node_new(u, S_BLOCK, c);
    rg_str brackets = captures_in_text(u, c);
    if (!brackets.len)
        return fc_node_bad(u, c, ERR_EXPRESSION, "a lambda that captures more than variables");
    nothing->type = fc_import_type(u, type);
    node *value = fc_literal(u, nothing, nothing->type, c);
    if (clang_Cursor_isNull(operator))
        return fc_node_bad(u, c, ERR_EXPRESSION, "a lambda for several types");
    decl *fn = fc_import_decl(u, operator);
    struct captures *all = arena_one(u->arena, struct captures);
    all->outer = u->captures;
    fn->captures = all;
    nothing->type->rec->lambda = fn;
    block->list = arena_new_n(u->arena, node *, kids->n + 1);
    for (size_t i = 0; i < kids->n; i++) {
        enum CXCursorKind kind = clang_getCursorKind(kids->at[i]);
        if (kind == CXCursor_ParmDecl || kind == CXCursor_CompoundStmt)
            break;
        CXCursor of = clang_getCursorReferenced(kids->at[i]);
        if (clang_getCursorKind(of) != CXCursor_VarDecl && clang_getCursorKind(of) != CXCursor_ParmDecl)
            return fc_node_bad(u, c, ERR_EXPRESSION, "a lambda that captures more than variables");
        decl *d = fc_import_decl(u, of);
        if (d->lasting || !copies(brackets, d->name))
            continue;
        if (d->reference)
            return fc_node_bad(u, c, ERR_EXPRESSION, "a lambda that copies what a reference refers to");
        if (!d->type || d->type->kind == TYPE_ARRAY)
            return fc_node_bad(u, c, ERR_EXPRESSION, "a lambda that copies an array");
        block->list[block->count++] = copy_of(u, kids->at[i], all, d);
    }
    if (!block->count)
        return value;
    block->list[block->count++] = value;
    node *n = fc_node_new(u, E_STATEMENTS, c);
    n->type = value->type;
    n->kid[0] = block;
    return n;
}
