/* for (T x : a): a counter, and x as a's element under it. SPDX-License-Identifier: Apache-2.0
 *
 *     for (double v : w)            for (long i = 0; i < 3; ++i) {
 *         sum += v;           →         double v = w[i];
 *                                       sum += v; }                     */
#include "front/c/gen.h"
#include "front/c/import.h"

static ctype *
counter_type(unit *u)
{
    ctype *t = arena_one(u->arena, ctype);
    *t = (ctype){.kind = TYPE_SCALAR, .dtype = RG_I64, .length = -1, .name = "long"};
    return t;
}

static node *
named(unit *u, CXCursor c, decl *d)
{
    node *n = fc_node_typed(u, E_REF, c, d->type);
    n->decl = d;
    return n;
}

static node *
declared(unit *u, CXCursor c, decl *d)
{
    node *n = fc_node_new(u, S_DECL, c);
    n->list = arena_new_n(u->arena, node *, 1);
    n->list[n->count++] = named(u, c, d);
    return n;
}

static node *
number(unit *u, CXCursor c, ctype *type, int64_t v)
{
    node *n = fc_node_typed(u, E_INT, c, type);
    n->bits = (uint64_t)v;
    return n;
}

static bool
has_no_effect(const node *n, void *user)
{
    return n->kind != E_CALL && n->kind != E_INC && n->kind != E_ASSIGN && n->kind != E_COMPOUND && n->kind != E_STATEMENTS;
}

/* The array itself, or that of a std::array; NULL: it is another thing. */
static node *
array_ranged_over(unit *u, CXCursor c, node *range)
{
    const ctype *t = range->type;
    if (!fc_node_walk(range, has_no_effect, NULL))
        return NULL;
    if (t && t->kind == TYPE_STRUCT && strncmp(t->rec->name, "std::array<", 11) == 0 && t->rec->nfields == 1) {
        node *inner = fc_node_typed(u, E_MEMBER, c, t->rec->fields[0].type);
        inner->kid[0] = range;
        return inner;
    }
    return t && t->kind == TYPE_ARRAY && t->length >= 0 ? range : NULL;
}

static node *
element(unit *u, CXCursor c, node *array, decl *counter)
{
    ctype *pointer = arena_one(u->arena, ctype);
    *pointer = (ctype){.kind = TYPE_POINTER, .elem = array->type->elem, .length = -1, .name = array->type->elem->name};
    node *first = fc_node_typed(u, E_DECAY, c, pointer), *n = fc_node_typed(u, E_SUBSCRIPT, c, array->type->elem);
    first->kid[0] = array;
    n->kid[0] = first;
    n->kid[1] = named(u, c, counter);
    return n;
}

node *
fc_import_range_for(unit *u, CXCursor c, const cursors *kids)
{
    if (kids->n != 3 || clang_getCursorKind(kids->at[0]) != CXCursor_VarDecl)
        return fc_node_bad(u, c, ERR_STATEMENT, "this loop");
    node *array = array_ranged_over(u, c, fc_import_expr(u, kids->at[1]));
    if (!array)
        return fc_node_bad(u, c, ERR_STATEMENT, "a loop over what is no array of known size");
    decl *counter = arena_one(u->arena, decl), *d = fc_import_decl(u, kids->at[0]);
    ctype *type = counter_type(u);
    *counter = (decl){.kind = DECL_VAR, .name = "i", .unit = u, .place = d->place, .type = type, .written = true};
    counter->init = number(u, c, type, 0);
    node *each = element(u, c, array, counter), *n = fc_node_new(u, S_FOR, c), *body = fc_node_new(u, S_BLOCK, c);
    d->init = d->reference ? fc_refer(u, each, c) : each;
    node *less = fc_node_typed(u, E_BINARY, c, type), *next = fc_node_typed(u, E_INC, c, type);
    less->op = RG_OP_LT;
    less->kid[0] = named(u, c, counter);
    less->kid[1] = number(u, c, type, array->type->length);
    next->bits = INC_PREFIX;
    next->kid[0] = named(u, c, counter);
    body->list = arena_new_n(u->arena, node *, 2);
    body->list[body->count++] = declared(u, c, d);
    body->list[body->count++] = fc_import_stmt(u, kids->at[2]);
    n->kid[0] = declared(u, c, counter);
    n->kid[1] = less;
    n->kid[2] = next;
    n->kid[3] = body;
    return n;
}
