/* Statements: libclang's → the front end's tree. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/import.h"

#include <ctype.h>

static node *
import_block(unit *u, CXCursor c, cursors *kids)
{
    node *n = fc_node_new(u, S_BLOCK, c);
    n->count = (uint32_t)kids->n;
    n->list = arena_new_n(u->arena, node *, kids->n + 1);
    for (uint32_t i = 0; i < n->count; i++)
        n->list[i] = fc_import_stmt(u, kids->at[i]);
    return n;
}

static node *
import_decl_stmt(unit *u, CXCursor c, cursors *kids)
{
    node *n = fc_node_new(u, S_DECL, c);
    n->list = arena_new_n(u->arena, node *, kids->n + 1);
    for (size_t i = 0; i < kids->n; i++) {
        if (clang_getCursorKind(kids->at[i]) != CXCursor_VarDecl)
            continue;
        node *ref = fc_node_new(u, E_REF, kids->at[i]);
        ref->decl = fc_import_decl(u, kids->at[i]);
        ref->type = ref->decl->type;
        n->list[n->count++] = ref;
    }
    return n;
}

/* -- the parts of a for: children do not say which part is missing, the text does ----------------- */
/* Whether init, condition and step are there. false: the text does not begin with `for (`. */
static bool
parts_in_text(const char *p, const char *end, bool there[3])
{
    if (end - p < 4 || strncmp(p, "for", 3) != 0)
        return false;
    for (p += 3; p < end && isspace((unsigned char)*p); p++)
        ;
    if (p >= end || *p++ != '(')
        return false;
    int depth = 1, part = 0;
    there[0] = there[1] = there[2] = false;
    while (p < end && depth) {
        const char *after = fc_skip_opaque(p, end);
        if (after != p) {
            there[part] |= *p != '/';
            p = after;
            continue;
        }
        depth += (*p == '(' || *p == '[' || *p == '{') - (*p == ')' || *p == ']' || *p == '}');
        if (*p == ';' && depth == 1 && part < 2)
            part++;
        else if (depth && !isspace((unsigned char)*p))
            there[part] = true;
        p++;
    }
    return true;
}

static void
for_parts(unit *u, CXCursor c, size_t count, bool there[3])
{
    CXFile handle = NULL;
    unsigned line, col, offset;
    clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(c)), &handle, &line, &col,
                              &offset);
    size_t len = 0;
    const char *text = handle ? clang_getFileContents(u->tu, handle, &len) : NULL;
    if (text && offset < len && parts_in_text(text + offset, text + len, there) &&
        (size_t)there[0] + there[1] + there[2] == count)
        return;
    for (size_t i = 0; i < 3; i++) /* the usual omission is the init */
        there[i] = i >= 3 - count;
}

static node *
import_for(unit *u, CXCursor c, cursors *kids)
{
    node *n = fc_node_new(u, S_FOR, c);
    size_t count = kids->n - 1, next = 0;
    bool there[3] = {true, true, true};
    if (count < 3)
        for_parts(u, c, count, there);
    for (size_t i = 0; i < 3; i++) {
        if (there[i] && next < count)
            n->kid[i] = fc_import_stmt(u, kids->at[next++]);
    }
    n->kid[3] = fc_import_stmt(u, kids->at[kids->n - 1]);
    return n;
}

/* -- labels
 * ---------------------------------------------------------------------------------------- */
/* A label that pragma.c made governs its statement; any other one is harmless without a goto. */
static node *
import_label(unit *u, CXCursor c, cursors *kids)
{
    unsigned long number;
    CXString name = clang_getCursorSpelling(c);
    bool ours =
        sscanf(clang_getCString(name), "__omp%lu", &number) == 1 && number < u->directives.n;
    clang_disposeString(name);
    node *inner = kids->n ? fc_import_stmt(u, kids->at[kids->n - 1]) : fc_node_new(u, S_NULL, c);
    if (!ours)
        return inner;
    node *n = fc_node_new(u, S_OMP, c);
    n->directive = u->directives.at[number];
    n->directive->place.file = n->place.file;
    n->place = n->directive->place;
    n->kid[0] = inner;
    if (fc_omp_is_loop(n->directive) && fc_holds_critical(inner))
        n->directive->kind = OMP_BLOCK; /* its iterations run in order, which OpenMP allows */
    return n->directive->kind == OMP_CRITICAL && !n->directive->error ? fc_critical_updates(u->arena, n) : n;
}

/* -- all of them
 * ----------------------------------------------------------------------------------- */
static node *
with_parts(unit *u, CXCursor c, node_kind kind, cursors *kids)
{
    node *n = fc_node_new(u, kind, c);
    for (size_t i = 0; i < kids->n && i < 4; i++)
        n->kid[i] = fc_import_stmt(u, kids->at[i]);
    return n;
}

static node *
import_case(unit *u, CXCursor c, cursors *kids)
{
    node *n = fc_node_new(u, S_CASE, c);
    n->kid[0] = fc_import_expr(u, kids->at[0]);
    n->kid[1] = kids->n > 2 ? fc_import_expr(u, kids->at[1]) : NULL;
    n->kid[2] = fc_import_stmt(u, kids->at[kids->n - 1]);
    return n;
}

static node *
import_do(unit *u, CXCursor c, cursors *kids)
{
    node *n = fc_node_new(u, S_DO, c);
    n->kid[0] = fc_import_expr(u, kids->at[1]);
    n->kid[1] = fc_import_stmt(u, kids->at[0]);
    return n;
}

static node *
import_statement_kind(unit *u, CXCursor c, enum CXCursorKind kind, cursors *kids)
{
    node *n;
    bool tests = kind == CXCursor_IfStmt || kind == CXCursor_SwitchStmt || kind == CXCursor_WhileStmt;
    if (u->cxx && tests && fc_has_first(u, c, kids))
        return fc_node_bad(u, c, ERR_STATEMENT, "a declaration in a condition");
    switch (kind) {
    case CXCursor_CompoundStmt:
        return import_block(u, c, kids);
    case CXCursor_DeclStmt:
        return import_decl_stmt(u, c, kids);
    case CXCursor_IfStmt:
        return with_parts(u, c, S_IF, kids);
    case CXCursor_ForStmt:
        return import_for(u, c, kids);
    case CXCursor_CXXForRangeStmt:
        return fc_import_range_for(u, c, kids);
    case CXCursor_WhileStmt:
        return with_parts(u, c, S_WHILE, kids);
    case CXCursor_DoStmt:
        return import_do(u, c, kids);
    case CXCursor_SwitchStmt:
        return with_parts(u, c, S_SWITCH, kids);
    case CXCursor_CaseStmt:
        return import_case(u, c, kids);
    case CXCursor_DefaultStmt:
        n = fc_node_new(u, S_DEFAULT, c);
        n->kid[2] = fc_import_stmt(u, kids->at[0]);
        return n;
    case CXCursor_BreakStmt:
        return fc_node_new(u, S_BREAK, c);
    case CXCursor_ContinueStmt:
        return fc_node_new(u, S_CONTINUE, c);
    case CXCursor_ReturnStmt:
        n = with_parts(u, c, S_RETURN, kids);
        if (u->refers && n->kid[0])
            n->kid[0] = fc_refer(u, n->kid[0], kids->at[0]);
        return n;
    case CXCursor_NullStmt:
        return fc_node_new(u, S_NULL, c);
    case CXCursor_LabelStmt:
        return import_label(u, c, kids);
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
        return fc_node_bad(u, c, ERR_GOTO, NULL);
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
        return fc_node_bad(u, c, ERR_ASM, NULL);
    case CXCursor_UnexposedStmt: /* attributes before a statement */
        return kids->n ? fc_import_stmt(u, kids->at[kids->n - 1]) : fc_node_new(u, S_NULL, c);
    default:
        return fc_node_bad(u, c, ERR_STATEMENT, "this statement");
    }
}

node *
fc_import_stmt(unit *u, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (clang_isExpression(kind))
        return fc_import_expr(u, c);
    if (u->depth >= IMPORT_DEPTH)
        return fc_node_bad(u, c, ERR_DEPTH, NULL);
    u->depth++;
    cursors kids = fc_cursor_children(u, c);
    node *n = import_statement_kind(u, c, kind, &kids);
    u->depth--;
    return n;
}
