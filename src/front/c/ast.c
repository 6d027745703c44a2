/* Questions about the tree. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/ast.h"

void *
fc_grow(arena *a, void *at, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return at;
    size_t wider = *cap ? *cap * 2 : 8;
    void *grown = arena_alloc(a, wider * size);
    if (*cap)
        memcpy(grown, at, *cap * size);
    *cap = wider;
    return grown;
}

const char *
fc_formatv(arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

const char *
fc_format(arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = fc_formatv(a, format, args);
    va_end(args);
    return text;
}

static bool
has_field(const record *r, const char *name)
{
    return fc_field_named(r, name) < r->nfields;
}

uint32_t
fc_field_named(const record *r, const char *name)
{
    uint32_t inside = r->nfields;
    for (uint32_t i = 0; i < r->nfields; i++) {
        const field *f = &r->fields[i];
        if (strcmp(f->name, name) == 0)
            return i;
        bool anonymous = !f->name[0] && f->type->kind == TYPE_STRUCT && has_field(f->type->rec, name);
        bool unknown = !f->name[0] && f->type->kind == TYPE_BAD && inside == r->nfields; /* a union */
        if (anonymous || unknown)
            inside = i;
    }
    return inside;
}

decl *
fc_lvalue_root(const node *n)
{
    for (;;) {
        switch (n->kind) {
        case E_REF:
        case E_LITERAL:
            return n->decl;
        case E_MEMBER:
        case E_DECAY:
            n = n->kid[0];
            break;
        case E_SUBSCRIPT:
        case E_DEREF:
            if (n->kid[0]->kind != E_DECAY)
                return NULL;
            n = n->kid[0];
            break;
        default:
            return NULL;
        }
    }
}

const node *
fc_lambda_body(const node *n)
{
    const decl *fn = n->kind == E_CALL && n->decl && n->decl->captures ? n->decl
                     : (n->kind == E_REF || n->kind == E_LITERAL) && n->type && n->type->kind == TYPE_STRUCT ? n->type->rec->lambda
                                                                                                             : NULL;
    return fn ? fn->body : NULL;
}

static bool
walk(const node *n, node_visit *each, void *user, bool lambdas)
{
    for (; n; n = n->kid[0]) { /* expressions lean to the left */
        if (!each(n, user))
            return false;
        for (size_t i = 1; i < 4; i++) {
            if (!walk(n->kid[i], each, user, lambdas))
                return false;
        }
        for (uint32_t i = 0; i < n->count; i++) {
            if (!walk(n->list[i], each, user, lambdas))
                return false;
            if (n->kind == S_DECL && !walk(n->list[i]->decl->init, each, user, lambdas))
                return false;
        }
        if (n->kind == E_LITERAL && !walk(n->decl->init, each, user, lambdas))
            return false;
        if (lambdas && !walk(fc_lambda_body(n), each, user, lambdas))
            return false;
    }
    return true;
}

bool
fc_node_walk(const node *n, node_visit *each, void *user)
{
    return walk(n, each, user, true);
}

/* -- structs of several files */

static bool same_fields(record *x, record *y);

/* What pointers lead to is compared where it is used. */
static bool
same_type(const ctype *x, const ctype *y)
{
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case TYPE_SCALAR:
        return x->dtype == y->dtype;
    case TYPE_ARRAY:
        return x->length == y->length && same_type(x->elem, y->elem);
    case TYPE_POINTER:
        return x->elem->kind == y->elem->kind &&
               (x->elem->kind == TYPE_STRUCT || x->elem->kind == TYPE_FUNCTION || same_type(x->elem, y->elem));
    case TYPE_STRUCT:
        return x->rec == y->rec || same_fields(x->rec, y->rec);
    case TYPE_BAD:
        return strcmp(x->name, y->name) == 0;
    default:
        return true;
    }
}

static bool
same_fields(record *x, record *y)
{
    if (x->nfields != y->nfields || x->size != y->size || x->leaves != y->leaves)
        return false;
    for (uint32_t i = 0; i < x->nfields; i++) {
        const field *a = &x->fields[i], *b = &y->fields[i];
        if (strcmp(a->name, b->name) != 0 || a->offset != b->offset || a->hidden != b->hidden ||
            !same_type(a->type, b->type))
            return false;
    }
    return true;
}

static record *
known_record(record *r)
{
    while (r->same)
        r = r->same;
    return r;
}

bool
fc_same_record(record *x, record *y)
{
    if (x == y)
        return true;
    if (x->unit == y->unit)
        return false;
    record *a = known_record(x), *b = known_record(y);
    if (a == b)
        return true;
    bool nameless = strchr(a->name, '(') && strchr(b->name, '('); /* clang says where they stand */
    if (!nameless && strcmp(a->name, b->name) != 0)
        return false;
    if (!a->nfields || !b->nfields) /* one of the files knows only the name */
        return true;
    if (!same_fields(a, b))
        return false;
    b->same = a;
    return true;
}

bool
fc_same_elements(const ctype *x, const ctype *y)
{
    if (x->kind == TYPE_VOID || y->kind == TYPE_VOID)
        return true;
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case TYPE_SCALAR:
        return x->dtype == y->dtype;
    case TYPE_STRUCT:
        return fc_same_record(x->rec, y->rec);
    case TYPE_POINTER:
        return fc_same_elements(x->elem, y->elem);
    case TYPE_ARRAY:
        return fc_same_elements(x->elem, y->elem) &&
               (x->length < 0 || y->length < 0 || x->length == y->length);
    case TYPE_FUNCTION:
        return x == y || strcmp(x->name, y->name) == 0; /* of two files */
    default:
        return false;
    }
}

bool
fc_is_deep_constant(const ctype *t)
{
    while (t->kind == TYPE_ARRAY && !t->constant)
        t = t->elem;
    return t->constant;
}

const node *
fc_only_statement(const node *n)
{
    while (n && n->kind == S_BLOCK && n->count == 1)
        n = n->list[0];
    return n;
}

static bool
is_write_to(const node *n, void *user)
{
    bool writes = n->kind == E_ASSIGN || n->kind == E_COMPOUND || n->kind == E_INC;
    return !(writes && fc_lvalue_root(n->kid[0]) == user);
}

bool
fc_tree_writes(const node *tree, const decl *d)
{
    return d->address_taken || !fc_node_walk(tree, is_write_to, (void *)d);
}

static bool
is_not_mention(const node *n, void *user)
{
    return !(n->kind == E_REF && n->decl == user);
}

bool
fc_tree_mentions(const node *tree, const decl *d)
{
    return !fc_node_walk(tree, is_not_mention, (void *)d);
}

/* A break or continue that belongs to the loop around `n`. */
static bool
has_jump(const node *n, node_kind jump)
{
    if (!n || n->kind < S_BAD) /* expressions hold no jumps */
        return false;
    if (n->kind == jump)
        return true;
    if (n->kind == S_FOR || n->kind == S_WHILE || n->kind == S_DO ||
        (n->kind == S_SWITCH && jump == S_BREAK))
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (has_jump(n->kid[i], jump))
            return true;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (has_jump(n->list[i], jump))
            return true;
    }
    return false;
}

bool
fc_body_breaks(const node *body)
{
    return has_jump(body, S_BREAK);
}

bool
fc_body_continues(const node *body)
{
    return has_jump(body, S_CONTINUE);
}

static bool
is_not_return(const node *n, void *user)
{
    return n->kind != S_RETURN;
}

bool
fc_tree_returns(const node *tree)
{
    return !walk(tree, is_not_return, NULL, false);
}

static bool
plain_node(const node *n, void *user)
{
    switch (n->kind) {
    case E_INT:
    case E_FLOAT:
    case E_UNARY:
    case E_PLUS:
    case E_LNOT:
    case E_BINARY:
    case E_AND:
    case E_OR:
    case E_CAST:
        return n->type && n->type->kind == TYPE_SCALAR;
    case E_REF:
        return n->type && (n->type->kind == TYPE_SCALAR || n->type->kind == TYPE_STRUCT);
    case E_MEMBER:
        return n->kid[0]->kind == E_REF || n->kid[0]->kind == E_MEMBER;
    default:
        return false;
    }
}

bool
fc_expr_is_plain(const node *n)
{
    return fc_node_walk(n, plain_node, NULL);
}

/* -- functions
 * ------------------------------------------------------------------------------------- */
bool
fc_same_expression(const node *x, const node *y)
{
    if (!x || !y || x->kind != y->kind)
        return false;
    switch (x->kind) {
    case E_INT:
        return x->bits == y->bits;
    case E_REF:
        return x->decl == y->decl;
    case E_CAST:
        return x->type == y->type && fc_same_expression(x->kid[0], y->kid[0]);
    case E_MEMBER:
        return x->bits == y->bits && fc_same_expression(x->kid[0], y->kid[0]);
    case E_SUBSCRIPT:
        return fc_same_expression(x->kid[0], y->kid[0]) && fc_same_expression(x->kid[1], y->kid[1]);
    case E_BINARY:
        return x->op == y->op && fc_same_expression(x->kid[0], y->kid[0]) && fc_same_expression(x->kid[1], y->kid[1]);
    default:
        return false;
    }
}

static bool
is_not_parallel(const node *n, void *user)
{
    if (n->kind == S_OMP && fc_omp_is_loop(n->directive))
        return false;
    bool function = n->kind == E_CALL || (n->kind == E_REF && n->decl->kind == DECL_FUNCTION);
    return !function || !n->decl || !fc_function_has_parallel(n->decl);
}

bool
fc_function_has_parallel(decl *fn)
{
    if (!fn->parallel) {
        fn->parallel = 1; /* a cycle is an error elsewhere */
        if (fn->body && !fc_node_walk(fn->body, is_not_parallel, NULL))
            fn->parallel = 2;
    }
    return fn->parallel == 2;
}

bool
fc_function_jumps(decl *fn)
{
    if (!fn->jumps) {
        fn->jumps = 1;
        const node *body = fn->body;
        for (uint32_t i = 0; body && i < body->count; i++) {
            const node *n = body->list[i];
            bool last = i + 1 == body->count && n->kind == S_RETURN;
            if (!last && fc_tree_returns(n))
                fn->jumps = 2;
        }
    }
    return fn->jumps == 2;
}
