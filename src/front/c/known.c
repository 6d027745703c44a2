/* Integers that are known when the kernel begins: what sizes of memory are made of. SPDX-License-Identifier: Apache-2.0
 *
 * A value is known if it is computed from parameters of the kernel and constants, by way of variables that are set once
 * and parameters of functions. It is looked for in the tree, on the way of calls that leads there, before any statement
 * is generated. Of what the counters of loops are part of, the greatest and the least value are known if the loops'
 * bounds are. */
#include "front/c/census.h"
#include "front/c/known.h"

/* -- where names come from
 * ------------------------------------------------------------------------------ */
const node *
fc_argument_of(const call_path *p, const decl *d)
{
    for (uint32_t i = 0; p->outer && i < p->fn->nparams && i < p->call->count; i++)
        if (p->fn->params[i] == d)
            return p->call->list[i];
    return NULL;
}

static known_at
at_caller(const known_at *k)
{
    return (known_at){k->g, k->path->outer, k->loops};
}

static bool
changes(const decl *d)
{
    return d->written || d->address_taken || d->lasting;
}

static const node *
initial_value(const decl *d)
{
    return d->kind == DECL_VAR && !changes(d) && d->init && d->init->kind != E_INIT ? d->init : NULL;
}

/* The loop that counts with d; NULL: none does, or not only the loop changes it. */
static const loop_around *
loop_of(const known_at *k, const decl *d, loop_form *f)
{
    for (const loop_around *l = k->loops; l; l = l->outer)
        if (l->path == k->path && fc_loop_form_read(l->loop, f) && f->counter == d)
            return fc_tree_writes(f->body, d) ? NULL : l;
    return NULL;
}

/* `return expression;` as all that a function does */
static const node *
only_result(const decl *fn)
{
    const node *n = fn && fn->body && !fn->active ? fc_only_statement(fn->body) : NULL;
    return n && n->kind == S_RETURN ? n->kid[0] : NULL;
}

static bool
is_integer(const node *n)
{
    return n->type && n->type->kind == TYPE_SCALAR && !fc_is_float_dtype(n->type->dtype);
}

/* A part of one of the kernel's structs, as the kernel would write it; pointers on the way are only read through. NULL: it
 * is none. */
static node *
in_kernel(const known_at *k, const node *n)
{
    node *copy = arena_one(k->g->arena, node), *of;
    *copy = *n;
    known_at outer = at_caller(k);
    const node *given = n->kind == E_REF && n->decl->kind == DECL_PARAM ? fc_argument_of(k->path, n->decl) : NULL;
    switch (n->kind) {
    case E_MEMBER:
        of = in_kernel(k, n->kid[0]);
        copy->kid[0] = of;
        return of ? copy : NULL;
    case E_DEREF:
        of = n->kid[0];
        while (of->kind == E_CAST)
            of = of->kid[0];
        if (of->kind == E_ADDR)
            return in_kernel(k, of->kid[0]);
        if (of->kind != E_REF || of->decl->kind != DECL_PARAM || changes(of->decl))
            return NULL;
        if (!k->path->outer)
            return copy;
        copy->kid[0] = (node *)fc_argument_of(k->path, of->decl);
        return copy->kid[0] ? in_kernel(&outer, copy) : NULL;
    case E_REF:
        if (given)
            return changes(n->decl) ? NULL : in_kernel(&outer, given);
        return k->path->outer || n->decl->kind != DECL_PARAM || fc_may_be_written(k->path->fn->body, n->decl) ? NULL : copy;
    default:
        return NULL;
    }
}

/* -- values
 * --------------------------------------------------------------------------------------------- */
static rg_value
value_of_name(const known_at *k, const node *n)
{
    const decl *d = n->decl;
    if (changes(d))
        return NULL;
    if (d->kind == DECL_VAR)
        return initial_value(d) ? fc_known(k, initial_value(d)) : NULL;
    if (!k->path->outer)
        return fc_scalar(k->g, n);
    const node *given = fc_argument_of(k->path, d);
    known_at outer = at_caller(k);
    return given ? fc_known(&outer, given) : NULL;
}

/* The initialiser of a field in braces; NULL: it is not found. */
static const node *
initialiser_of(const node *braces, const record *r, uint32_t number)
{
    bool in_order = true;
    for (uint32_t i = 0; i < braces->count && i < r->nfields; i++) {
        const node *item = braces->list[i];
        if (item->kind == E_DESIGNATED && item->count == 1 && item->list[0]->kind == E_MEMBER && item->list[0]->text &&
            strcmp(item->list[0]->text, r->fields[number].name) == 0)
            return item->kid[0];
        in_order &= item->kind != E_DESIGNATED;
        if (in_order && i == number)
            return item;
        in_order &= item->kind == E_INIT || r->fields[i].type->kind == TYPE_SCALAR || r->fields[i].type->kind == TYPE_POINTER;
    }
    return NULL;
}

/* What a field of a local struct begins with, if nothing of the kernel writes a field of that name; k follows. */
static const node *
initial_field(known_at *k, const node *n)
{
    const node *of = n->kid[0];
    const record *r = of && of->type && of->type->kind == TYPE_STRUCT ? of->type->rec : NULL;
    uint32_t number = (uint32_t)n->bits;
    if (!r || !k->g->census || fc_is_written(k->g->census, r, number) || fc_is_addressed(k->g->census, r, number))
        return NULL;
    while (of->kind != E_REF || of->decl->kind == DECL_PARAM) {
        const node *at = of->kind == E_DEREF ? of->kid[0] : of;
        while (at->kind == E_CAST)
            at = at->kid[0];
        bool given = at->kind == E_REF && at->decl->kind == DECL_PARAM && !changes(at->decl);
        const node *argument = given ? fc_argument_of(k->path, at->decl) : NULL;
        if (argument)
            *k = at_caller(k);
        at = argument ? argument : at;
        while (at->kind == E_CAST)
            at = at->kid[0];
        if (of->kind == E_DEREF && at->kind == E_ADDR)
            of = at->kid[0];
        else if (of->kind == E_REF && argument)
            of = argument;
        else
            return NULL;
    }
    const decl *d = of->decl;
    bool local = d->kind == DECL_VAR && !d->lasting && d->init && d->init->kind == E_INIT && d->type->kind == TYPE_STRUCT;
    return local ? initialiser_of(d->init, r, number) : NULL;
}

static rg_value
value_of_field(const known_at *k, const node *n)
{
    const record *r = n->kid[0]->type->kind == TYPE_STRUCT ? n->kid[0]->type->rec : NULL;
    bool written = !r || !k->g->census || fc_is_written(k->g->census, r, (uint32_t)n->bits) ||
                   fc_is_addressed(k->g->census, r, (uint32_t)n->bits);
    const node *field = written ? NULL : in_kernel(k, n);
    known_at where = *k;
    const node *init = field ? NULL : initial_field(&where, n);
    return field ? fc_scalar(k->g, field) : init ? fc_known(&where, init) : NULL;
}

static known_at
in_called(const known_at *k, const node *call)
{
    return (known_at){k->g, fc_call_path(k->g, k->path, call->decl, call), k->loops};
}

static rg_value
truth(const known_at *k, const node *n)
{
    rg_value x = fc_known(k, n);
    return x ? fc_convert(k->g, RG_BOOL, x) : NULL;
}

static rg_value
computed(const known_at *k, const node *n)
{
    gen *g = k->g;
    rg_value x, y, z;
    switch (n->kind) {
    case E_REF:
        return value_of_name(k, n);
    case E_MEMBER:
        return value_of_field(k, n);
    case E_CAST:
    case E_PLUS:
        return is_integer(n->kid[0]) ? fc_known(k, n->kid[0]) : NULL;
    case E_UNARY:
        x = fc_known(k, n->kid[0]);
        return x ? rg_build_1(g->b, n->op, x) : NULL;
    case E_BINARY:
        x = fc_known(k, n->kid[0]);
        y = x ? fc_known(k, n->kid[1]) : NULL;
        return y ? fc_arithmetic(g, n->op, x, y) : NULL;
    case E_COND:
        x = truth(k, n->kid[0]);
        y = x ? fc_known(k, n->kid[1]) : NULL;
        z = y ? fc_known(k, n->kid[2]) : NULL;
        return z ? rg_build_3(g->b, RG_OP_SELECT, x, y, z) : NULL;
    case E_CALL:
        if (only_result(n->decl)) {
            known_at inner = in_called(k, n);
            return fc_known(&inner, only_result(n->decl));
        }
        return NULL;
    default:
        return NULL;
    }
}

rg_value
fc_known(const known_at *k, const node *n)
{
    int64_t constant;
    if (!is_integer(n))
        return NULL;
    if (fc_is_constant_node(n, &constant))
        return fc_int_value(k->g, n->type->dtype, constant);
    rg_value x = computed(k, n);
    return x ? fc_convert(k->g, n->type->dtype, x) : NULL;
}

/* -- bounds
 * --------------------------------------------------------------------------------------------- */
static rg_value
of_bound(gen *g, rg_op op, rg_value x, rg_value y)
{
    return x && y ? rg_build_2(g->b, op, x, y) : NULL;
}

static rg_value
bound_of_counter(const known_at *k, const loop_around *l, const loop_form *f, bool most)
{
    gen *g = k->g;
    known_at at = {g, l->path, l->outer};
    if (most == f->down)
        return fc_known_bound(&at, f->lo, most);
    rg_value hi = fc_known_bound(&at, f->hi, most);
    int64_t inside = f->inclusive ? 0 : f->down ? 1 : -1;
    return of_bound(g, RG_OP_ADD, hi, hi ? fc_int_value(g, RG_I64, inside) : NULL);
}

static rg_value
bound_of_name(const known_at *k, const node *n, bool most)
{
    loop_form f;
    const loop_around *l = loop_of(k, n->decl, &f);
    if (l)
        return bound_of_counter(k, l, &f, most);
    if (changes(n->decl))
        return NULL;
    if (n->decl->kind == DECL_VAR)
        return initial_value(n->decl) ? fc_known_bound(k, initial_value(n->decl), most) : NULL;
    const node *given = fc_argument_of(k->path, n->decl);
    known_at outer = at_caller(k);
    return given ? fc_known_bound(&outer, given, most) : NULL;
}

/* the products of what is least and greatest, of which one is the bound */
static rg_value
bound_of_product(const known_at *k, const node *n, bool most)
{
    gen *g = k->g;
    rg_value x[2], y[2], all = NULL;
    for (int i = 0; i < 2; i++) {
        x[i] = fc_known_bound(k, n->kid[0], i);
        y[i] = x[i] ? fc_known_bound(k, n->kid[1], i) : NULL;
        if (!y[i])
            return NULL;
    }
    for (int i = 0; i < 4; i++) {
        rg_value product = rg_build_2(g->b, RG_OP_MUL, x[i & 1], y[i >> 1]);
        all = all ? rg_build_2(g->b, most ? RG_OP_MAX : RG_OP_MIN, all, product) : product;
    }
    return all;
}

static rg_value
bound_of_binary(const known_at *k, const node *n, bool most)
{
    int64_t by;
    switch (n->op) {
    case RG_OP_ADD:
        return of_bound(k->g, n->op, fc_known_bound(k, n->kid[0], most), fc_known_bound(k, n->kid[1], most));
    case RG_OP_SUB:
        return of_bound(k->g, n->op, fc_known_bound(k, n->kid[0], most), fc_known_bound(k, n->kid[1], !most));
    case RG_OP_MUL:
        return bound_of_product(k, n, most);
    case RG_OP_DIV:
    case RG_OP_SHR:
        if (!fc_is_constant_node(n->kid[1], &by) || by < (n->op == RG_OP_DIV))
            return NULL;
        return of_bound(k->g, n->op, fc_known_bound(k, n->kid[0], most), fc_int_value(k->g, RG_I64, by));
    default:
        return NULL;
    }
}

/* x < y ? x : y is never above x, nor above y */
static rg_value
bound_of_choice(const known_at *k, const node *n, bool most)
{
    const node *test = n->kid[0];
    rg_value x = fc_known_bound(k, n->kid[1], most), y = fc_known_bound(k, n->kid[2], most);
    bool less = test->kind == E_BINARY && (test->op == RG_OP_LT || test->op == RG_OP_LE);
    bool more = test->kind == E_BINARY && (test->op == RG_OP_GT || test->op == RG_OP_GE);
    if (less || more) {
        const node *first = test->kid[less ? 0 : 1], *second = test->kid[less ? 1 : 0];
        bool least = fc_same_expression(n->kid[1], first) && fc_same_expression(n->kid[2], second);
        bool greatest = fc_same_expression(n->kid[1], second) && fc_same_expression(n->kid[2], first);
        if (most ? least : greatest)
            return x && y ? rg_build_2(k->g->b, most ? RG_OP_MIN : RG_OP_MAX, x, y) : x ? x : y;
    }
    return of_bound(k->g, most ? RG_OP_MAX : RG_OP_MIN, x, y);
}

rg_value
fc_known_bound(const known_at *k, const node *n, bool most)
{
    rg_value x = is_integer(n) ? fc_known(k, n) : NULL;
    if (x || !is_integer(n))
        return x ? fc_convert(k->g, RG_I64, x) : NULL;
    switch (n->kind) {
    case E_REF:
        return bound_of_name(k, n, most);
    case E_CAST: /* a size is no number that wraps, but a part of one may be */
    case E_PLUS:
        return fc_dtype_bits(n->type->dtype) >= 32 ? fc_known_bound(k, n->kid[0], most) : NULL;
    case E_BINARY:
        return bound_of_binary(k, n, most);
    case E_COND:
        return bound_of_choice(k, n, most);
    case E_CALL:
        if (only_result(n->decl)) {
            known_at inner = in_called(k, n);
            return fc_known_bound(&inner, only_result(n->decl), most);
        }
        return NULL;
    default:
        return NULL;
    }
}

/* -- quotients
 * ------------------------------------------------------------------------------------------ */
/* What n stands for, by way of casts, variables and parameters; k follows. */
static const node *
stands_for(known_at *k, const node *n)
{
    for (;;) {
        const node *next = NULL;
        if (n->kind == E_CAST && is_integer(n->kid[0]))
            next = n->kid[0];
        else if (n->kind == E_REF && n->decl->kind == DECL_VAR)
            next = initial_value(n->decl);
        else if (n->kind == E_REF && !changes(n->decl))
            next = fc_argument_of(k->path, n->decl);
        if (!next)
            return n;
        if (n->kind == E_REF && n->decl->kind == DECL_PARAM)
            *k = at_caller(k);
        n = next;
    }
}

static int64_t
divisor(known_at k, const node *n)
{
    n = stands_for(&k, n);
    if (n->kind == E_BINARY && n->op == RG_OP_MUL) {
        int64_t x = divisor(k, n->kid[0]), y = divisor(k, n->kid[1]);
        return x && y > INT32_MAX / x ? (x > y ? x : y) : x * y;
    }
    if (n->kind == E_BINARY && (n->op == RG_OP_ADD || n->op == RG_OP_SUB))
        return fc_common_divisor(divisor(k, n->kid[0]), divisor(k, n->kid[1]));
    return fc_known_divisor(n);
}

rg_value
fc_known_quotient(const known_at *at, const node *n, int64_t size)
{
    known_at k = *at;
    gen *g = k.g;
    int64_t constant;
    if (size <= 0 || !is_integer(n) || divisor(k, n) % size)
        return NULL;
    n = stands_for(&k, n);
    if (fc_is_constant_node(n, &constant))
        return fc_int_value(g, RG_I64, constant / size);
    if (n->kind == E_BINARY && n->op == RG_OP_MUL) {
        int64_t right = fc_common_divisor(size, divisor(k, n->kid[1]));
        rg_value x = fc_known_quotient(&k, n->kid[0], size / right);
        return of_bound(g, RG_OP_MUL, x, x ? fc_known_quotient(&k, n->kid[1], right) : NULL);
    }
    if (n->kind == E_BINARY && (n->op == RG_OP_ADD || n->op == RG_OP_SUB) && size > 1) {
        rg_value x = fc_known_quotient(&k, n->kid[0], size);
        return of_bound(g, n->op, x, x ? fc_known_quotient(&k, n->kid[1], size) : NULL);
    }
    rg_value bytes = fc_known_bound(&k, n, true);
    return size > 1 ? of_bound(g, RG_OP_DIV, bytes, fc_int_value(g, RG_I64, size)) : bytes;
}
