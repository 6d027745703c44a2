/* Expressions: libclang's → the front end's tree. Implicit conversions are libclang's unexposed
 * expressions with one child; what they do follows from the two types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"
#include "front/c/import.h"

node *
fc_node_new(unit *u, node_kind kind, CXCursor c)
{
    node *n = arena_one(u->arena, node);
    n->kind = kind;
    n->place = fc_cursor_place(u, c);
    return n;
}

node *
fc_node_typed(unit *u, node_kind kind, CXCursor c, ctype *type)
{
    node *n = fc_node_new(u, kind, c);
    n->type = type;
    return n;
}

node *
fc_node_bad(unit *u, CXCursor c, front_error error, const char *text)
{
    node *n = fc_node_new(u, clang_isStatement(clang_getCursorKind(c)) ? S_BAD : E_BAD, c);
    n->bits = error;
    n->text = text;
    if (n->kind == E_BAD)
        n->type = fc_import_type(u, clang_getCursorType(c));
    return n;
}

static node *
typed(unit *u, node_kind kind, CXCursor c)
{
    node *n = fc_node_new(u, kind, c);
    n->type = fc_import_type(u, clang_getCursorType(c));
    return n;
}

/* Of an expression that is a value: an array type is that of a parameter written as an array. */
static node *
typed_value(unit *u, node_kind kind, CXCursor c)
{
    node *n = typed(u, kind, c);
    n->type = fc_adjust_array(u, n->type);
    return n;
}

/* -- literals
 * -------------------------------------------------------------------------------------- */
static node *
import_literal(unit *u, CXCursor c, enum CXCursorKind kind)
{
    node *n = typed(u, kind == CXCursor_FloatingLiteral ? E_FLOAT : E_INT, c);
    if (n->type->kind != TYPE_SCALAR)
        return fc_node_bad(u, c, (front_error)n->type->problem, n->type->name);
    CXEvalResult r = clang_Cursor_Evaluate(c);
    if (!r)
        return fc_node_bad(u, c, ERR_EXPRESSION, "this literal");
    if (kind == CXCursor_FloatingLiteral)
        n->number = clang_EvalResult_getAsDouble(r);
    else if (clang_EvalResult_isUnsignedInt(r))
        n->bits = clang_EvalResult_getAsUnsigned(r);
    else
        n->bits = (uint64_t)clang_EvalResult_getAsLongLong(r);
    clang_EvalResult_dispose(r);
    return n;
}

/* One character of a literal as it is spelled; moves past it. */
static char
next_character(const char **p)
{
    static const char plain[] = "ntrabfv0", meant[] = "\n\t\r\a\b\f\v";
    char c = *(*p)++;
    if (c != '\\' || !**p)
        return c;
    c = *(*p)++;
    if (c >= '0' && c <= '7') {
        int code = c - '0';
        for (int i = 0; i < 2 && **p >= '0' && **p <= '7'; i++)
            code = code * 8 + *(*p)++ - '0';
        return (char)code;
    }
    const char *at = strchr(plain, c);
    return at && *at && *at != '0' ? meant[at - plain] : c;
}

static node *
import_string(unit *u, CXCursor c)
{
    node *n = typed(u, E_STRING, c);
    const char *p = fc_cursor_name(u, c);
    char *text = arena_alloc(u->arena, strlen(p) + 1);
    size_t length = 0;
    for (p += *p == '"'; *p && !(*p == '"' && !p[1]);)
        text[length++] = next_character(&p);
    n->text = text;
    n->bits = length;
    return n;
}

/* -- operators
 * ------------------------------------------------------------------------------------- */
#define BOTH(c, op) {CXBinaryOperator_##c, CXBinaryOperator_##c##Assign, RG_OP_##op}
#define PLAIN(c)    {CXBinaryOperator_##c, CXBinaryOperator_##c, RG_OP_##c}
static rg_op
binary_op(enum CXBinaryOperatorKind kind)
{
    static const struct {
        enum CXBinaryOperatorKind plain, assigning;
        rg_op op;
    } rows[] = {
        BOTH(Mul, MUL), BOTH(Div, DIV), BOTH(Rem, REM), BOTH(Add, ADD), BOTH(Sub, SUB), BOTH(Shl, SHL), BOTH(Shr, SHR),
        BOTH(And, AND), BOTH(Xor, XOR), BOTH(Or, OR), PLAIN(LT), PLAIN(GT), PLAIN(LE), PLAIN(GE), PLAIN(EQ), PLAIN(NE),
    };
    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].plain == kind || rows[i].assigning == kind)
            return rows[i].op;
    return RG_OP_COUNT;
}
#undef BOTH
#undef PLAIN

static void
assigned_to(unit *u, node *target, node *value)
{
    decl *root = fc_lvalue_root(target);
    if (root)
        root->written = true;
    if (target->kind != E_REF || !target->type || target->type->kind != TYPE_POINTER)
        return;
    if (value)
        list_push(u->arena, &target->decl->assigned, value);
    else
        target->decl->moved = true;
}

static node *
import_one_binary(unit *u, CXCursor c, node *left, CXCursor right)
{
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(c);
    node *n = typed_value(u, E_BINARY, c);
    n->kid[0] = left;
    n->kid[1] = fc_import_expr(u, right);
    if (kind == CXBinaryOperator_Assign) {
        n->kind = E_ASSIGN;
        assigned_to(u, n->kid[0], n->kid[1]);
    } else if (kind == CXBinaryOperator_LAnd || kind == CXBinaryOperator_LOr) {
        n->kind = kind == CXBinaryOperator_LAnd ? E_AND : E_OR;
    } else if (kind == CXBinaryOperator_Comma) {
        n->kind = E_COMMA;
    } else {
        n->op = binary_op(kind);
        if (n->op == RG_OP_COUNT)
            return fc_node_bad(u, c, ERR_EXPRESSION, "this operator");
    }
    return n;
}

/* A sum of thousands of terms leans to the left: its spine is followed without recursion. */
static node *
import_binary(unit *u, CXCursor c, const cursors *kids)
{
    typedef struct level {
        CXCursor whole, right;
    } level;
    list(level) spine = {0};
    cursors now = *kids;
    list_push(u->arena, &spine, ((level){c, now.at[1]}));
    while (clang_getCursorKind(now.at[0]) == CXCursor_BinaryOperator) {
        CXCursor left = now.at[0];
        now = fc_cursor_children(u, left);
        list_push(u->arena, &spine, ((level){left, now.at[1]}));
    }
    node *n = fc_import_expr(u, now.at[0]);
    while (spine.n) {
        level l = list_pop(&spine);
        n = import_one_binary(u, l.whole, n, l.right);
    }
    return n;
}

static node *
import_compound(unit *u, CXCursor c, CXCursor left, CXCursor right)
{
    node *n = typed_value(u, E_COMPOUND, c);
    n->op = binary_op(clang_getCursorBinaryOperatorKind(c));
    n->kid[0] = fc_import_expr(u, left);
    n->kid[1] = fc_import_expr(u, right);
    assigned_to(u, n->kid[0], NULL);
    return n;
}

static node *
import_unary(unit *u, CXCursor c, CXCursor operand)
{
    enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(c);
    node *n = typed_value(u, E_UNARY, c);
    n->kid[0] = fc_import_expr(u, operand);
    switch (kind) {
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
        n->kind = E_INC;
        n->bits =
            (kind == CXUnaryOperator_PostDec || kind == CXUnaryOperator_PreDec ? INC_MINUS : 0) |
            (kind == CXUnaryOperator_PreInc || kind == CXUnaryOperator_PreDec ? INC_PREFIX : 0);
        assigned_to(u, n->kid[0], NULL);
        return n;
    case CXUnaryOperator_AddrOf:
        n->kind = E_ADDR;
        if (fc_lvalue_root(n->kid[0]))
            fc_lvalue_root(n->kid[0])->address_taken = true;
        return n;
    case CXUnaryOperator_Deref:
        n->kind = E_DEREF;
        n->type = fc_import_type(u, clang_getCursorType(c));
        return n;
    case CXUnaryOperator_Plus:
        n->kind = E_PLUS;
        return n;
    case CXUnaryOperator_Minus:
        n->op = RG_OP_NEG;
        return n;
    case CXUnaryOperator_Not:
        n->op = RG_OP_NOT;
        return n;
    case CXUnaryOperator_LNot:
        n->kind = E_LNOT;
        return n;
    case CXUnaryOperator_Extension:
        return n->kid[0];
    default:
        return fc_node_bad(u, c, ERR_EXPRESSION, "this operator");
    }
}

/* -- names, members, calls
 * ------------------------------------------------------------------------- */
static void
want_body(unit *u, decl *fn)
{
    list_push(u->arena, &u->pending, fn);
    if (fn->vjp)
        list_push(u->arena, &u->pending, fn->vjp);
    if (fn->jvp)
        list_push(u->arena, &u->pending, fn->jvp);
}

static node *
import_reference(unit *u, CXCursor c)
{
    CXCursor target = clang_getCursorReferenced(c);
    enum CXCursorKind kind = clang_getCursorKind(target);
    if (kind == CXCursor_EnumConstantDecl) {
        node *n = typed(u, E_INT, c);
        n->bits = (uint64_t)clang_getEnumConstantDeclValue(target);
        return n;
    }
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl && kind != CXCursor_FunctionDecl)
        return fc_node_bad(u, c, ERR_EXPRESSION, "this name");
    node *n = fc_node_new(u, E_REF, c);
    n->decl = fc_captured(u, fc_import_decl(u, target));
    if (kind == CXCursor_FunctionDecl)
        want_body(u, n->decl);
    n->type =
        n->decl->kind == DECL_FUNCTION ? fc_import_type(u, clang_getCursorType(c)) : n->decl->type;
    return n->decl->reference && n->decl->kind != DECL_FUNCTION ? fc_follow(u, n, c) : n;
}

static node *
import_member(unit *u, CXCursor c, cursors *kids)
{
    node *n = typed(u, E_MEMBER, c);
    bool has_base = kids->n && clang_isExpression(clang_getCursorKind(kids->at[0]));
    node *base = has_base ? fc_import_expr(u, kids->at[0]) : u->self ? fc_import_cxx_expr(u, c, CXCursor_CXXThisExpr, kids) : NULL;
    if (base && base->type && base->type->kind == TYPE_POINTER) {
        base = fc_follow(u, base, has_base ? kids->at[0] : c);
    }
    if (!base || !base->type || base->type->kind != TYPE_STRUCT)
        return fc_node_bad(u, c,
                           base && base->type && base->type->kind == TYPE_BAD ? (front_error)base->type->problem
                                                                              : ERR_EXPRESSION,
                           "this member");
    CXCursor target = clang_getCursorReferenced(c);
    const char *name = fc_cursor_name(u, target);
    if (strchr(name, '(')) {
        long long offset = clang_Cursor_getOffsetOfField(target) / 8;
        const record *r = base->type->rec;
        while (n->bits < r->nfields && (r->fields[n->bits].name[0] || r->fields[n->bits].offset != offset))
            n->bits++;
        n->kid[0] = base;
        return n->bits < r->nfields ? n : fc_node_bad(u, c, ERR_EXPRESSION, "this member");
    }
    for (;;) { /* through anonymous structs, which libclang leaves out */
        const record *r = base->type->rec;
        uint32_t i = fc_field_named(r, name);
        if (i == r->nfields)
            return fc_node_bad(u, c, ERR_EXPRESSION, "this member");
        n->kid[0] = base;
        n->bits = i;
        if (strcmp(r->fields[i].name, name) == 0 || r->fields[i].type->kind != TYPE_STRUCT)
            return n;
        base = fc_node_new(u, E_MEMBER, c);
        *base = *n;
        base->type = r->fields[i].type;
    }
}

/* posix_memalign(&p, alignment, size) is p = (T *)posix_memalign(.., alignment, size), 0. */
static node *
import_aligned(unit *u, CXCursor c, node *call)
{
    CXCursor given = clang_Cursor_getArgument(c, 0);
    while (clang_getCursorKind(given) == CXCursor_UnexposedExpr || clang_getCursorKind(given) == CXCursor_ParenExpr ||
           clang_getCursorKind(given) == CXCursor_CStyleCastExpr) {
        cursors inner = fc_cursor_children(u, given);
        given = inner.at[inner.n - 1];
    }
    if (clang_getCursorKind(given) != CXCursor_UnaryOperator ||
        clang_getCursorUnaryOperatorKind(given) != CXUnaryOperator_AddrOf)
        return fc_node_bad(u, c, ERR_ALLOCATION, "posix_memalign");
    node *to = fc_import_expr(u, fc_cursor_children(u, given).at[0]), *n = typed_value(u, E_COMMA, c);
    if (!to->type || to->type->kind != TYPE_POINTER)
        return fc_node_bad(u, c, ERR_ALLOCATION, "posix_memalign");
    node *memory = fc_node_new(u, E_CAST, c), *assigned = fc_node_new(u, E_ASSIGN, c), *zero = typed_value(u, E_INT, c);
    call->type = memory->type = assigned->type = to->type;
    memory->kid[0] = call;
    assigned->kid[0] = call->list[0] = to;
    assigned->kid[1] = memory;
    assigned_to(u, to, memory);
    n->kid[0] = assigned;
    n->kid[1] = zero;
    return n;
}

static node *
import_call(unit *u, CXCursor c, cursors *kids)
{
    CXCursor target = clang_getCursorReferenced(c);
    node *n = u->cxx ? fc_import_cxx_call(u, c, target, kids) : NULL;
    if (n)
        return n;
    n = typed_value(u, E_CALL, c);
    if (clang_getCursorKind(target) == CXCursor_FunctionDecl) {
        n->decl = fc_import_decl(u, target);
        want_body(u, n->decl);
    } else {
        n->kid[0] = fc_import_expr(u, kids->at[0]);
    }
    int count = clang_Cursor_getNumArguments(c);
    n->count = count > 0 ? (uint32_t)count : 0;
    n->list = arena_new_n(u->arena, node *, n->count + 1);
    bool aligned = n->decl && !n->decl->has_body && n->count == 3 && strcmp(n->decl->name, "posix_memalign") == 0;
    for (uint32_t i = aligned; i < n->count; i++)
        n->list[i] = fc_import_expr(u, clang_Cursor_getArgument(c, i));
    return aligned ? import_aligned(u, c, n) : n;
}

/* -- conversions
 * ----------------------------------------------------------------------------------- */
static node *
import_conversion(unit *u, CXCursor c, CXCursor child)
{
    node *inner = fc_import_expr(u, child);
    ctype *to = fc_import_type(u, clang_getCursorType(c));
    if (!inner->type || inner->kind == E_BAD || inner->kind == E_STRING)
        return inner;
    if (to->kind == TYPE_ARRAY && (inner->type->kind == TYPE_POINTER || inner->type->kind == TYPE_ARRAY))
        return inner; /* a parameter written as an array; what a reference to an array of constants is bound to */
    if (to->kind == TYPE_FUNCTION || inner->type->kind == TYPE_FUNCTION)
        return inner;
    if (inner->type->kind == TYPE_ARRAY) {
        node *n = fc_node_new(u, E_DECAY, c);
        n->type = fc_adjust_array(u, inner->type);
        n->kid[0] = inner;
        return n;
    }
    if (to->kind == inner->type->kind &&
        (to->kind == TYPE_SCALAR ? to->dtype == inner->type->dtype : to->kind != TYPE_POINTER))
        return inner;
    node *n = fc_node_new(u, E_CAST, c);
    n->type = to;
    n->kid[0] = inner;
    return n;
}

/* What clang can compute by itself. */
static node *
import_constant(unit *u, CXCursor c, const char *otherwise)
{
    CXEvalResult r = clang_Cursor_Evaluate(c);
    node *n = typed(u, E_INT, c);
    CXEvalResultKind kind = r ? clang_EvalResult_getKind(r) : CXEval_UnExposed;
    if (n->type->kind != TYPE_SCALAR || (kind != CXEval_Int && kind != CXEval_Float))
        n = fc_node_bad(u, c, ERR_EXPRESSION, otherwise);
    else if (kind == CXEval_Int)
        n->bits = clang_EvalResult_getAsUnsigned(r);
    else
        *n = (node){.kind = E_FLOAT, .type = n->type, .place = n->place, .number = clang_EvalResult_getAsDouble(r)};
    if (r)
        clang_EvalResult_dispose(r);
    return n;
}

static node *
import_unexposed(unit *u, CXCursor c, cursors *kids)
{
    if (kids->n == 1)
        return import_conversion(u, c, kids->at[0]);
    if (kids->n >= 3) { /* x ?: y */
        node *n = typed_value(u, E_ELVIS, c);
        n->kid[0] = fc_import_expr(u, kids->at[0]);
        n->kid[1] = fc_import_expr(u, kids->at[kids->n - 1]);
        return n;
    }
    return import_constant(u, c, "this expression"); /* offsetof */
}

/* The type of an operand, with the extents that its declaration has after all. */
static const ctype *
operand_type(const node *n)
{
    const ctype *t;
    switch (n->kind) {
    case E_DECAY:
        return operand_type(n->kid[0]);
    case E_SUBSCRIPT:
    case E_DEREF:
        t = operand_type(n->kid[0]);
        return t && t->elem ? t->elem : n->type;
    default:
        return n->type;
    }
}

/* clang does not see that an array has a size that is known after all */
static int64_t
size_of_operand(const node *of)
{
    const ctype *t = operand_type(of);
    return t ? fc_type_size(t) : -1;
}

/* Whether it is sizeof(type): what it is of ends before the bracket. */
static bool
is_size_of_type(CXCursor c, CXCursor of)
{
    unsigned all, part;
    clang_getSpellingLocation(clang_getRangeEnd(clang_getCursorExtent(c)), NULL, NULL, NULL, &all);
    clang_getSpellingLocation(clang_getRangeEnd(clang_getCursorExtent(of)), NULL, NULL, NULL, &part);
    return part < all;
}

/* The size of a variable array, or of a row of it or of what a pointer to such leads to, as a product; NULL: of another. */
static node *
product_of_extents(unit *u, CXCursor c, const node *of)
{
    uint32_t depth = 0;
    for (; of->kind == E_DECAY || of->kind == E_CAST || of->kind == E_DEREF || of->kind == E_SUBSCRIPT; of = of->kid[0])
        depth += of->kind == E_DEREF || of->kind == E_SUBSCRIPT;
    const decl *d = of->kind == E_REF && of->decl->kind != DECL_FUNCTION ? of->decl : NULL;
    const ctype *t = d ? d->type : NULL;
    for (uint32_t i = 0; t && i < depth; i++)
        t = t->elem;
    if (!t || t->kind != TYPE_ARRAY)
        return NULL;
    node *size = typed(u, E_INT, c);
    int64_t rest = 1;
    for (uint32_t axis = depth; t->kind == TYPE_ARRAY; t = t->elem, axis++) {
        node *extent = axis < d->nextents ? d->extents[axis] : NULL;
        if (t->length >= 0) {
            rest *= t->length;
            continue;
        }
        if (!extent || !extent->type || extent->type->kind != TYPE_SCALAR)
            return NULL;
        node *cast = typed(u, E_CAST, c), *product = typed(u, E_BINARY, c);
        cast->kid[0] = extent;
        product->op = RG_OP_MUL;
        product->kid[0] = cast;
        product->kid[1] = size;
        size = product;
    }
    int64_t bytes = fc_type_size(t);
    node *last = size;
    while (last->kind == E_BINARY)
        last = last->kid[1];
    last->bits = (uint64_t)(rest * bytes);
    return bytes > 0 ? size : NULL;
}

static node *
import_sizeof(unit *u, CXCursor c, const cursors *kids)
{
    CXEvalResult r = clang_Cursor_Evaluate(c);
    if (r) {
        clang_EvalResult_dispose(r);
        return import_constant(u, c, "a size");
    }
    node *of = kids->n && !is_size_of_type(c, kids->at[0]) ? fc_import_expr(u, kids->at[0]) : NULL;
    int64_t size = of ? size_of_operand(of) : -1;
    if (size < 0) {
        node *product = of ? product_of_extents(u, c, of) : NULL;
        return product ? product : fc_node_bad(u, c, ERR_SIZE_OF_TYPE, NULL);
    }
    node *n = typed(u, E_INT, c);
    n->bits = (uint64_t)size;
    return n;
}

/* -- initialisers
 * ---------------------------------------------------------------------------------- */
static node *
import_designated(unit *u, CXCursor c, cursors *kids)
{
    node *n = fc_node_new(u, E_DESIGNATED, c);
    n->list = arena_new_n(u->arena, node *, kids->n);
    for (size_t i = 0; i + 1 < kids->n; i++) {
        if (clang_getCursorKind(kids->at[i]) == CXCursor_MemberRef) {
            const char *name = fc_cursor_name(u, kids->at[i]);
            if (!name[0] || strchr(name, '('))
                continue; /* an anonymous struct: the next name says which */
            n->list[n->count] = fc_node_new(u, E_MEMBER, kids->at[i]);
            n->list[n->count++]->text = name;
        } else {
            n->list[n->count++] = fc_import_expr(u, kids->at[i]);
        }
    }
    n->kid[0] = fc_import_initialiser(u, kids->at[kids->n - 1]);
    return n;
}

static node *
import_list(unit *u, CXCursor c, cursors *kids)
{
    node *n = typed(u, E_INIT, c);
    n->count = (uint32_t)kids->n;
    n->list = arena_new_n(u->arena, node *, kids->n + 1);
    for (uint32_t i = 0; i < n->count; i++)
        n->list[i] = fc_import_initialiser(u, kids->at[i]);
    return u->cxx ? fc_with_defaults(u, c, n) : n;
}

node *
fc_import_initialiser(unit *u, CXCursor c)
{
    cursors kids = fc_cursor_children(u, c);
    enum CXCursorKind kind = clang_getCursorKind(c);
    node *n;
    if (kind == CXCursor_InitListExpr)
        n = import_list(u, c, &kids);
    else if (kind == CXCursor_UnexposedExpr && kids.n >= 2 &&
             clang_getCursorType(c).kind == CXType_Void)
        n = import_designated(u, c, &kids);
    else
        n = fc_import_expr(u, c);
    return n;
}

static node *
import_compound_literal(unit *u, CXCursor c, cursors *kids)
{
    return fc_literal(u, fc_import_initialiser(u, kids->at[kids->n - 1]), fc_import_type(u, clang_getCursorType(c)), c);
}

/* -- all of them
 * ----------------------------------------------------------------------------------- */
static node *
import_three(unit *u, CXCursor c, cursors *kids)
{
    node *n = typed_value(u, E_COND, c);
    for (size_t i = 0; i < 3; i++)
        n->kid[i] = fc_import_expr(u, kids->at[i]);
    return n;
}

static node *
import_subscript(unit *u, CXCursor c, cursors *kids)
{
    node *n = typed(u, E_SUBSCRIPT, c);
    node *x = fc_import_expr(u, kids->at[0]), *y = fc_import_expr(u, kids->at[1]);
    bool swapped = y->type && y->type->kind == TYPE_POINTER;
    n->kid[0] = swapped ? y : x;
    n->kid[1] = swapped ? x : y;
    return n;
}

static bool
is_no_jump(const node *n, void *user)
{
    return n->kind != S_BREAK && n->kind != S_CONTINUE && n->kind != S_RETURN;
}

static node *
import_statements(unit *u, CXCursor c, cursors *kids)
{
    node *n = typed_value(u, E_STATEMENTS, c);
    n->kid[0] = fc_import_stmt(u, kids->at[0]);
    if (!fc_node_walk(n->kid[0], is_no_jump, NULL))
        return fc_node_bad(u, c, ERR_EXPRESSION, "a jump in an expression");
    return n;
}

static node *
import_by_kind(unit *u, CXCursor c, enum CXCursorKind kind, cursors *kids)
{
    node *n = u->cxx ? fc_import_cxx_expr(u, c, kind, kids) : NULL;
    if (n)
        return n;
    switch (kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CXXBoolLiteralExpr:
        return import_literal(u, c, kind);
    case CXCursor_StringLiteral:
        return import_string(u, c);
    case CXCursor_DeclRefExpr:
        return import_reference(u, c);
    case CXCursor_MemberRefExpr:
        return import_member(u, c, kids);
    case CXCursor_CallExpr:
        return import_call(u, c, kids);
    case CXCursor_ParenExpr:
        return fc_import_expr(u, kids->at[0]);
    case CXCursor_UnaryOperator:
        return import_unary(u, c, kids->at[0]);
    case CXCursor_BinaryOperator:
        return import_binary(u, c, kids);
    case CXCursor_CompoundAssignOperator:
        return import_compound(u, c, kids->at[0], kids->at[1]);
    case CXCursor_ArraySubscriptExpr:
        return import_subscript(u, c, kids);
    case CXCursor_ConditionalOperator:
        return import_three(u, c, kids);
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        n = import_conversion(u, c, kids->at[kids->n - 1]);
        return u->cxx ? fc_as_value(u, n, c) : n;
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
        return import_conversion(u, c, kids->at[kids->n - 1]);
    case CXCursor_CompoundLiteralExpr:
        return import_compound_literal(u, c, kids);
    case CXCursor_UnaryExpr:
        return import_sizeof(u, c, kids);
    case CXCursor_UnexposedExpr:
        return import_unexposed(u, c, kids);
    case CXCursor_InitListExpr:
        return import_list(u, c, kids);
    case CXCursor_StmtExpr:
        return import_statements(u, c, kids);
    case CXCursor_GenericSelectionExpr:
        return fc_node_bad(u, c, ERR_EXPRESSION, "_Generic");
    case CXCursor_AddrLabelExpr:
        return fc_node_bad(u, c, ERR_GOTO, NULL);
    default:
        return fc_node_bad(u, c, ERR_EXPRESSION, "this expression");
    }
}

node *
fc_import_expr(unit *u, CXCursor c)
{
    if (u->depth >= IMPORT_DEPTH)
        return fc_node_bad(u, c, ERR_DEPTH, NULL);
    u->depth++;
    cursors kids = fc_cursor_children(u, c);
    node *n = import_by_kind(u, c, clang_getCursorKind(c), &kids);
    u->depth--;
    return n;
}
