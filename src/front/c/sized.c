/* Arrays of the kernel whose sizes the run knows: local arrays such as double t[n + 1], and what malloc and calloc
 * give. SPDX-License-Identifier: Apache-2.0
 *
 * They are buffers of the launch, made when the kernel begins, so their sizes must follow from its parameters then. A
 * function is inlined into each call: there is a buffer for each way of calls that leads to the declaration. */
#include "front/c/gen.h"

#include "ir/ir.h"

/* -- which functions have some
 * ------------------------------------------------------------------------- */
static bool
is_open(const ctype *t)
{
    for (; t->kind == TYPE_ARRAY; t = t->elem)
        if (t->length < 0)
            return true;
    return false;
}

static bool
is_allocation(const node *n)
{
    const char *name = n->kind == E_CALL && n->decl && !n->decl->body ? n->decl->name : "";
    if (strncmp(name, "__builtin_", 10) == 0)
        name += 10;
    return strcmp(name, "malloc") == 0 || strcmp(name, "calloc") == 0 || strcmp(name, "alloca") == 0;
}

/* (T *)malloc(...), however it is cast: the call */
const node *
fc_allocation(const node *n)
{
    while (n->kind == E_CAST && n->type->kind == TYPE_POINTER)
        n = n->kid[0];
    return is_allocation(n) ? n : NULL;
}

static bool
is_not_freed(const node *n, void *user)
{
    if (n->kind != E_CALL || !n->decl || n->count != 1 || strcmp(n->decl->name, "free") != 0)
        return true;
    const node *what = n->list[0];
    while (what->kind == E_CAST)
        what = what->kid[0];
    return what->kind != E_REF || what->decl != user;
}

bool
fc_frees(const node *tree, const decl *d)
{
    return !fc_node_walk(tree, is_not_freed, (void *)d);
}

static bool
is_not_sized(const node *n, void *user)
{
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++)
        if (is_open(n->list[i]->decl->type) && !n->list[i]->decl->lasting)
            return false;
    return !is_allocation(n) && (n->kind != E_CALL || !n->decl || !fc_function_sizes(n->decl));
}

bool
fc_function_sizes(decl *fn)
{
    if (!fn->sizes) {
        fn->sizes = 1; /* a cycle is an error elsewhere */
        if (fn->body && !fc_node_walk(fn->body, is_not_sized, NULL))
            fn->sizes = 2;
    }
    return fn->sizes == 2;
}

/* -- what is known when the kernel begins
 * -------------------------------------------------------------- */
static rg_value known(gen *g, const call_path *p, const node *n);

static rg_value
known_name(gen *g, const call_path *p, const node *n)
{
    const decl *d = n->decl;
    if (d->written || d->address_taken || d->lasting)
        return NULL;
    if (d->kind == DECL_VAR)
        return d->init && d->init->kind != E_INIT ? known(g, p, d->init) : NULL;
    if (!p->outer)
        return fc_scalar(g, n);
    for (uint32_t i = 0; i < p->fn->nparams && i < p->call->count; i++)
        if (p->fn->params[i] == d)
            return known(g, p->outer, p->call->list[i]);
    return NULL;
}

/* An integer that is computed from parameters of the kernel; NULL: not known then. */
static rg_value
known(gen *g, const call_path *p, const node *n)
{
    int64_t constant;
    if (!n->type || n->type->kind != TYPE_SCALAR || fc_is_float_dtype(n->type->dtype))
        return NULL;
    if (fc_is_constant_node(n, &constant))
        return fc_int_value(g, n->type->dtype, constant);
    rg_value x, y;
    switch (n->kind) {
    case E_REF:
        x = known_name(g, p, n);
        return x ? fc_convert(g, n->type->dtype, x) : NULL;
    case E_MEMBER:
        return !p->outer && n->kid[0]->kind == E_REF && n->kid[0]->decl->kind == DECL_PARAM &&
                       !n->kid[0]->decl->written && !n->kid[0]->decl->address_taken
                   ? fc_scalar(g, n)
                   : NULL;
    case E_CAST:
        x = known(g, p, n->kid[0]);
        return x ? fc_convert(g, n->type->dtype, x) : NULL;
    case E_BINARY:
        x = known(g, p, n->kid[0]);
        y = x ? known(g, p, n->kid[1]) : NULL;
        return y ? fc_arithmetic(g, n->op, x, y) : NULL;
    default:
        return NULL;
    }
}

/* -- making them
 * --------------------------------------------------------------------------------------- */
static uint64_t
key_of(const gen *g, const call_path *p, const void *what)
{
    return hash_u64(hash_u64(p->key, map_ptr(what)), g->scope);
}

static void
keep(gen *g, const call_path *p, const void *what, object *o)
{
    map_set(&g->sized, key_of(g, p, what), o);
}

/* It is made where the kernel begins, also if a test keeps a size below 0 from its declaration. */
static rg_value
at_least_zero(gen *g, rg_value extent)
{
    return rg_build_2(g->b, RG_OP_MAX, extent, fc_int_value(g, RG_I64, 0));
}

void
fc_sized_declaration(gen *g, const call_path *p, const decl *d)
{
    rg_value extent[MAX_AXES] = {0};
    front_error error;
    const ctype *t = d->type;
    if (!is_open(t) || d->lasting || fc_type_problem(t, &error))
        return;
    for (uint32_t axis = 0; t->kind == TYPE_ARRAY; t = t->elem, axis++) {
        if (axis >= MAX_AXES || axis >= d->nextents)
            return;
        extent[axis] = t->length >= 0      ? fc_int_value(g, RG_I64, t->length)
                       : d->extents[axis] ? known(g, p, d->extents[axis])
                                          : NULL;
        if (!extent[axis])
            return;
        extent[axis] = at_least_zero(g, fc_convert(g, RG_I64, extent[axis]));
    }
    keep(g, p, d, fc_object_sized(g, d->name, d->type, 0, extent));
}

/* `bytes` in elements of `size`, which leaves no rest */
static rg_value
known_count(gen *g, const call_path *p, const node *bytes, int64_t size)
{
    int64_t unit;
    while (bytes->kind == E_CAST && fc_known_divisor(bytes->kid[0]) % size == 0)
        bytes = bytes->kid[0];
    for (int i = 0; bytes->kind == E_BINARY && bytes->op == RG_OP_MUL && i < 2; i++) {
        if (!fc_is_constant_node(bytes->kid[i], &unit) || unit <= 0 || unit % size)
            continue;
        rg_value n = known(g, p, bytes->kid[1 - i]);
        return n ? rg_build_2(g->b, RG_OP_MUL, fc_convert(g, RG_I64, n), fc_int_value(g, RG_I64, unit / size)) : NULL;
    }
    rg_value n = known(g, p, bytes);
    return n ? rg_build_2(g->b, RG_OP_DIV, fc_convert(g, RG_I64, n), fc_int_value(g, RG_I64, size)) : NULL;
}

/* What the elements of memory that is allocated are: the type that the first cast gives them. */
void
fc_sized_allocation(gen *g, const call_path *p, const node *cast, const char *name)
{
    front_error error;
    const node *call = fc_allocation(cast);
    ctype *t = cast->type->elem;
    int64_t size = fc_type_size(t), unit = 1;
    if (t->kind == TYPE_VOID || t->kind == TYPE_ARRAY || size <= 0 || fc_variable_problem(t, &error))
        return;
    bool two = call->count == 2; /* calloc */
    if (two && (!fc_is_constant_node(call->list[1], &unit) || unit <= 0 || unit % size))
        return;
    if (!two && (call->count != 1 || fc_known_divisor(call->list[0]) % size))
        return;
    rg_value n = two ? known(g, p, call->list[0]) : known_count(g, p, call->list[0], size);
    if (!n)
        return;
    n = rg_build_2(g->b, RG_OP_MUL, fc_convert(g, RG_I64, n), fc_int_value(g, RG_I64, two ? unit / size : 1));
    n = at_least_zero(g, n);
    object *o = fc_object_sized(g, name ? name : call->decl->name, t, 1, &n);
    o->allocated = true;
    keep(g, p, call, o);
}

object *
fc_sized_object(const gen *g, const void *what)
{
    static const call_path none;
    return map_get(&g->sized, key_of(g, g->frame && g->frame->path ? g->frame->path : &none, what));
}

call_path *
fc_call_path(gen *g, const call_path *outer, decl *fn, const node *call)
{
    call_path *p = arena_one(g->arena, call_path);
    *p = (call_path){outer, fn, call, call ? hash_u64(outer ? outer->key : 1, map_ptr(call)) : 1};
    return p;
}
