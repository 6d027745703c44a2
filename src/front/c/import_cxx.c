/* What C++ has besides C. A reference is a pointer that is followed wherever it is named; a method is a function whose first
 * parameter is `this`. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"
#include "front/c/import.h"

/* -- references
 * ------------------------------------------------------------------------------------ */
bool
fc_is_reference(CXType t)
{
    return t.kind == CXType_LValueReference || t.kind == CXType_RValueReference;
}

static bool
is_mutable(CXType t)
{
    bool leads = fc_is_reference(t) || t.kind == CXType_Pointer;
    return leads && !clang_isConstQualifiedType(clang_getPointeeType(t));
}

static enum CXVisitorResult
see_pointer(CXCursor c, CXClientData data)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(c));
    bool *holds = data;
    if (t.kind == CXType_Record)
        clang_Type_visitFields(t, see_pointer, data);
    *holds |= t.kind == CXType_Pointer || fc_is_reference(t);
    return CXVisit_Continue;
}

/* The function has no way to change, through another parameter, what this one refers to. */
static bool
is_apart(CXCursor function, CXType pointee)
{
    int n = clang_Cursor_getNumArguments(function);
    for (int i = 0; i < n; i++) {
        CXType other = clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(function, (unsigned)i)));
        bool holds = false;
        if (other.kind == CXType_Record)
            clang_Type_visitFields(other, see_pointer, &holds);
        if (holds)
            return false;
        if (!is_mutable(other))
            continue;
        CXType to = clang_getUnqualifiedType(clang_getCanonicalType(clang_getPointeeType(other)));
        if (pointee.kind == CXType_Record || to.kind == CXType_Record || clang_equalTypes(to, pointee))
            return false;
    }
    return clang_getCursorKind(function) != CXCursor_CXXMethod || clang_CXXMethod_isConst(function);
}

bool
fc_is_by_value(CXCursor function, CXType type)
{
    CXType pointee = clang_getCanonicalType(clang_getPointeeType(type));
    if (!fc_is_reference(type) || !clang_isConstQualifiedType(pointee) || pointee.kind == CXType_Pointer)
        return false;
    return clang_getArrayElementType(pointee).kind == CXType_Invalid && is_apart(function, clang_getUnqualifiedType(pointee));
}

ctype *
fc_reference_to(unit *u, ctype *elem)
{
    ctype *t = arena_one(u->arena, ctype);
    *t = (ctype){.kind = TYPE_POINTER, .elem = elem, .length = -1, .name = fc_format(u->arena, "%s &", elem->name)};
    return t;
}

node *
fc_follow(unit *u, node *pointer, CXCursor c)
{
    node *n = fc_node_new(u, E_DEREF, c);
    n->type = pointer->type->elem;
    n->kid[0] = pointer;
    return n;
}

node *
fc_literal(unit *u, node *value, ctype *type, CXCursor c)
{
    node *n = fc_node_new(u, E_LITERAL, c);
    n->type = type;
    n->decl = arena_one(u->arena, decl);
    *n->decl = (decl){.kind = DECL_VAR, .name = "literal", .type = type, .place = n->place, .address_taken = true, .init = value};
    return n;
}

static bool
is_place(const node *n)
{
    return n->kind == E_REF || n->kind == E_SUBSCRIPT || n->kind == E_MEMBER || n->kind == E_LITERAL || n->kind == E_DEREF ||
           (n->kind == E_COND && is_place(n->kid[1]) && is_place(n->kid[2]));
}

/* What a reference is bound to: a value gets a place of its own. */
node *
fc_refer(unit *u, node *n, CXCursor c)
{
    if (!n->type || n->kind == E_BAD)
        return n;
    if (n->kind == E_DEREF)
        return n->kid[0];
    if (n->kind == E_ASSIGN || n->kind == E_COMPOUND || (n->kind == E_INC && n->bits & INC_PREFIX))
        return fc_node_bad(u, c, ERR_EXPRESSION, "a reference to what is assigned");
    if (n->kind == E_COND && is_place(n)) {
        node *chosen = fc_node_new(u, E_COND, c);
        chosen->kid[0] = n->kid[0];
        chosen->kid[1] = fc_refer(u, n->kid[1], c);
        chosen->kid[2] = fc_refer(u, n->kid[2], c);
        chosen->type = chosen->kid[1]->type;
        return chosen;
    }
    if (!is_place(n))
        n = fc_literal(u, n, n->type, c);
    if (fc_lvalue_root(n))
        fc_lvalue_root(n)->address_taken = true;
    node *address = fc_node_new(u, E_ADDR, c);
    address->type = fc_reference_to(u, n->type);
    address->kid[0] = n;
    return address;
}

node *
fc_as_value(unit *u, node *n, CXCursor c)
{
    if (!n->type || n->type->kind != TYPE_SCALAR || !is_place(n))
        return n;
    node *value = fc_node_new(u, E_CAST, c);
    value->type = n->type;
    value->kid[0] = n;
    return value;
}

node *
fc_bind(unit *u, CXCursor value, CXType to, bool by_value)
{
    node *n = fc_import_expr(u, value);
    return fc_is_reference(clang_getCanonicalType(to)) && !by_value ? fc_refer(u, n, value) : n;
}

/* -- calls
 * ----------------------------------------------------------------------------------------- */
/* The argument, or what the parameter's declaration gives for it. */
static CXCursor
argument(unit *u, CXCursor call, CXCursor function, unsigned number, unsigned hidden)
{
    CXCursor given = clang_Cursor_getArgument(call, number + hidden);
    if (clang_getCursorKind(given) != CXCursor_UnexposedExpr || fc_cursor_children(u, given).n)
        return given;
    cursors kids = fc_cursor_children(u, clang_Cursor_getArgument(function, number));
    return kids.n && clang_isExpression(clang_getCursorKind(kids.at[kids.n - 1])) ? kids.at[kids.n - 1] : given;
}

void
fc_import_arguments(unit *u, node *n, CXCursor c, CXCursor function, node *receiver, unsigned hidden)
{
    int count = clang_Cursor_getNumArguments(c), declared = clang_Cursor_getNumArguments(function);
    n->list = arena_new_n(u->arena, node *, (size_t)(count > 0 ? count : 0) + 2);
    if (receiver)
        n->list[n->count++] = receiver;
    for (unsigned i = 0; (int)(i + hidden) < count; i++) {
        if ((int)i >= declared) { /* of printf and its like */
            n->list[n->count++] = fc_import_expr(u, clang_Cursor_getArgument(c, i + hidden));
            continue;
        }
        CXType type = clang_getCursorType(clang_Cursor_getArgument(function, i));
        n->list[n->count++] = fc_bind(u, argument(u, c, function, i, hidden), type, fc_is_by_value(function, type));
    }
}

static node *
this_pointer(unit *u, CXCursor c)
{
    if (!u->self)
        return fc_node_bad(u, c, ERR_EXPRESSION, "this");
    node *n = fc_node_new(u, E_REF, c);
    n->decl = u->self;
    n->type = u->self->type;
    return n;
}

/* What the method is called for: before the point or arrow, or the operator's first operand. */
static node *
receiver(unit *u, CXCursor c, const cursors *kids, bool is_operator)
{
    CXCursor first = is_operator ? clang_Cursor_getArgument(c, 0) : kids->at[0];
    if (!is_operator) {
        cursors of = fc_cursor_children(u, first);
        if (!of.n || !clang_isExpression(clang_getCursorKind(of.at[0])))
            return this_pointer(u, c);
        first = of.at[0];
    }
    node *n = fc_import_expr(u, first);
    return n->type && n->type->kind == TYPE_POINTER ? n : fc_refer(u, n, first);
}

node *
fc_import_cxx_call(unit *u, CXCursor c, CXCursor function, const cursors *kids)
{
    enum CXCursorKind kind = clang_getCursorKind(function);
    if (kind == CXCursor_Constructor) {
        node *made = fc_construct(u, c, function);
        return !made ? fc_node_bad(u, c, ERR_EXPRESSION, "a struct without values")
               : made->kind == E_INIT ? fc_literal(u, made, made->type, c)
                                      : made;
    }
    if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod)
        return NULL;
    bool method = kind == CXCursor_CXXMethod && !clang_CXXMethod_isStatic(function);
    bool named = method && clang_getCursorKind(kids->at[0]) == CXCursor_MemberRefExpr &&
                 clang_getCursorKind(clang_getCursorReferenced(kids->at[0])) == CXCursor_CXXMethod;
    bool is_operator = method && !named;
    if (method && clang_CXXMethod_isVirtual(function))
        return fc_node_bad(u, c, ERR_EXPRESSION, "a virtual method");
    if (is_operator && strcmp(fc_cursor_name(u, function), "operator=") == 0 && clang_CXXMethod_isDefaulted(function)) {
        node *n = fc_node_new(u, E_ASSIGN, c);
        n->kid[0] = fc_import_expr(u, clang_Cursor_getArgument(c, 0));
        n->kid[1] = fc_import_expr(u, clang_Cursor_getArgument(c, 1));
        n->type = n->kid[0]->type;
        if (fc_lvalue_root(n->kid[0]))
            fc_lvalue_root(n->kid[0])->written = true;
        return n;
    }
    node *n = fc_node_new(u, E_CALL, c);
    n->decl = fc_import_decl(u, function);
    list_push(u->arena, &u->pending, n->decl);
    n->type = n->decl->type;
    bool of_lambda = method && fc_is_lambda(clang_getCursorType(clang_getCursorSemanticParent(function)));
    fc_import_arguments(u, n, c, function, method && !of_lambda ? receiver(u, c, kids, is_operator) : NULL, is_operator);
    return n->decl->reference ? fc_follow(u, n, c) : n;
}

/* -- the rest
 * ---------------------------------------------------------------------------------------- */
/* Copies and ends of its values are more than those of its fields. */
bool
fc_is_managed(unit *u, CXType record)
{
    cursors kids = fc_cursor_children(u, clang_getTypeDeclaration(record));
    for (size_t i = 0; i < kids.n; i++) {
        CXCursor c = kids.at[i];
        enum CXCursorKind kind = clang_getCursorKind(c);
        bool copies = kind == CXCursor_Destructor || clang_CXXConstructor_isCopyConstructor(c) ||
                      clang_CXXConstructor_isMoveConstructor(c) || clang_CXXMethod_isCopyAssignmentOperator(c) ||
                      clang_CXXMethod_isMoveAssignmentOperator(c);
        if (kind == CXCursor_CXXBaseSpecifier || (copies && !clang_CXXMethod_isDefaulted(c)))
            return true;
    }
    return false;
}

/* `if (x = 1; x > y)`, `while (int x = next())`: what stands in the parentheses declares or does something first. */
bool
fc_has_first(unit *u, CXCursor c, const cursors *kids)
{
    CXFile handle = NULL;
    unsigned line, col, offset;
    clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(c)), &handle, &line, &col, &offset);
    size_t len = 0;
    const char *text = handle ? clang_getFileContents(u->tu, handle, &len) : NULL;
    const char *p = text && offset < len ? memchr(text + offset, '(', len - offset) : NULL;
    int depth = 0;
    for (const char *end = text + len; p && p < end; p++) {
        const char *after = fc_skip_opaque(p, end);
        p = after > p ? after : p;
        depth += p < end && (*p == '(' || *p == '{' || *p == '[');
        depth -= p < end && (*p == ')' || *p == '}' || *p == ']');
        if (depth == 0)
            break;
        if (*p == ';' && depth == 1)
            return true;
    }
    return kids->n && !clang_isExpression(clang_getCursorKind(kids->at[0]));
}

node *
fc_import_cxx_initialiser(unit *u, CXCursor init, CXCursor variable)
{
    CXCursor target = clang_getCursorReferenced(init);
    if (clang_getCursorKind(init) == CXCursor_CallExpr && clang_getCursorKind(target) == CXCursor_Constructor)
        return fc_construct(u, init, target);
    if (fc_is_reference(clang_getCanonicalType(clang_getCursorType(variable))))
        return fc_bind(u, init, clang_getCursorType(variable), false);
    return fc_import_initialiser(u, init);
}

/* T{...}: a value of its type */
static node *
braces(unit *u, CXCursor c, const cursors *kids)
{
    ctype *t = fc_import_type(u, clang_getCursorType(c));
    if (t->kind == TYPE_SCALAR && kids->n == 1)
        return fc_import_expr(u, kids->at[0]);
    return fc_literal(u, fc_import_initialiser(u, c), t, c);
}

node *
fc_import_cxx_expr(unit *u, CXCursor c, enum CXCursorKind kind, const cursors *kids)
{
    node *n;
    switch (kind) {
    case CXCursor_InitListExpr:
        return braces(u, c, kids);
    case CXCursor_DeclRefExpr: /* of a template's number: the number */
        return clang_Cursor_isNull(clang_getCursorReferenced(c)) && kids->n ? fc_import_expr(u, kids->at[kids->n - 1]) : NULL;
    case CXCursor_CXXNullPtrLiteralExpr:
        n = fc_node_new(u, E_INT, c);
        n->type = arena_one(u->arena, ctype);
        *n->type = (ctype){.kind = TYPE_SCALAR, .dtype = RG_I64, .length = -1, .name = "nullptr_t"};
        return n;
    case CXCursor_CXXThisExpr:
        return this_pointer(u, c);
    case CXCursor_CXXThrowExpr:
        return fc_node_bad(u, c, ERR_EXPRESSION, "throw");
    case CXCursor_LambdaExpr:
        return fc_import_lambda(u, c, kids);
    case CXCursor_CXXNewExpr:
    case CXCursor_CXXDeleteExpr:
        return fc_node_bad(u, c, ERR_ALLOCATION, kind == CXCursor_CXXNewExpr ? "new" : "delete");
    default:
        return NULL;
    }
}

decl *
fc_self(unit *u, CXCursor method)
{
    CXType record = clang_getCursorType(clang_getCursorSemanticParent(method));
    decl *d = arena_one(u->arena, decl);
    *d = (decl){.kind = DECL_PARAM, .name = "this", .unit = u, .place = fc_cursor_place(u, method)};
    d->type = fc_reference_to(u, fc_import_type(u, record));
    return d;
}
