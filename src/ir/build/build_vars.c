/* The builder: frames, variables and their bindings. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

ir_value *
build_resolve(const rg_builder *b, ir_value *v)
{
    while (v->id < b->forward.n && b->forward.at[v->id])
        v = b->forward.at[v->id];
    return v;
}

void
build_forward(rg_builder *b, ir_value *from, ir_value *to)
{
    while (b->forward.n <= from->id)
        vec_push(&b->forward, (ir_value *)NULL);
    b->forward.at[from->id] = build_resolve(b, to);
    b->forwarded = true;
}

static frame *
new_frame(arena *a)
{
    frame *f = arena_one(a, frame);
    for (int i = 0; i < 2; i++)
        f->arms[i].vars.in = f->arms[i].leaves.in = a;
    f->bindings.in = f->leaves.in = f->echoes.in = f->params.in = f->log.in = f->exits.in = f->reductions.in = a;
    return f;
}

static void
clear_frame(frame *f)
{
    for (int i = 0; i < 2; i++) {
        vec_clear(&f->arms[i].vars);
        vec_clear(&f->arms[i].leaves);
        f->arms[i].dead = false;
    }
    vec_clear(&f->bindings);
    vec_clear(&f->leaves);
    vec_clear(&f->echoes);
    vec_clear(&f->params);
    vec_clear(&f->log);
    vec_clear(&f->exits);
    vec_clear(&f->reductions);
    f->op = NULL;
    f->region = NULL;
    f->lo = f->hi = f->trace = NULL;
    f->dead = f->in_else = f->taken = false;
    f->label = 0;
}

frame *
build_push(rg_builder *b, frame_kind kind)
{
    uint32_t at = b->n_open;
    if (at == b->frames.n) {
        vec_push(&b->frames, new_frame(b->arena));
    }
    frame *f = b->frames.at[at];
    clear_frame(f);
    const frame *outer = at ? b->frames.at[at - 1] : NULL;
    bool borrows = kind == FRAME_BLOCK || kind == FRAME_KNOWN_IF;
    f->kind = kind;
    f->serial = ++b->serial;
    f->loc = b->loc;
    f->home = borrows ? outer->home : at;
    f->loop = outer ? outer->loop : 0;
    f->parallel = outer ? outer->parallel : 0;
    f->barrier = outer ? outer->barrier : 0;
    f->doomed = kind == FRAME_DEAD || (outer && outer->doomed);
    if (kind == FRAME_LOOP || kind == FRAME_FOR || kind == FRAME_UNWIND)
        f->loop = at;
    if (kind == FRAME_PARALLEL)
        f->parallel = at;
    if (kind == FRAME_PARALLEL || kind == FRAME_UNWIND)
        f->barrier = at;
    b->n_open++;
    return f;
}

void
build_pop(rg_builder *b)
{
    build_unbind(b, build_top(b));
    b->n_open--;
}

/* Puts a binding for frame `at` into the variable's stack, which is ordered by frame. */
static binding *
bind(rg_builder *b, rg_var var, uint32_t at, ir_value *value)
{
    binding **link = &var->top;
    while (*link && (*link)->frame > at)
        link = &(*link)->below;
    binding *fresh = b->free_bindings;
    if (fresh)
        b->free_bindings = fresh->below;
    else
        fresh = arena_one(b->arena, binding);
    *fresh = (binding){.below = *link, .var = var, .value = value, .frame = at};
    vec_push(&b->frames.at[at]->bindings, fresh);
    *link = fresh;
    return fresh;
}

void
build_unbind(rg_builder *b, frame *f)
{
    for (size_t i = 0; i < f->bindings.n; i++) {
        binding *it = f->bindings.at[i];
        it->var->top = it->below; /* an inner frame's bindings are gone by now */
        it->below = b->free_bindings;
        b->free_bindings = it;
    }
    vec_clear(&f->bindings);
}

/* What a variable without any assignment is: zeros, made where it was declared. */
static binding *
bind_zeros(rg_builder *b, rg_var var)
{
    uint32_t at = b->frames.at[var->owner]->home;
    ir_value *zeros;
    if (var->type.kind == IR_SCALAR) {
        zeros = build_bits(b, (rg_dtype)var->type.dtype, 0);
    } else {
        ir_op *op = ir_op_new(b->fn, RG_OP_ARRAY, 0, 0, b->loc);
        zeros = ir_op_result(op, b->fn, var->type, NULL);
        zeros->name = var->name;
        ir_append(b->frames.at[at]->region, op);
    }
    binding *made = bind(b, var, at, zeros);
    made->unset = true;
    return made;
}

/* Carries the value into loop frame `at`, as a parameter of its region. */
static binding *
bind_param(rg_builder *b, const binding *outside, uint32_t at)
{
    rg_var var = outside->var;
    frame *loop = b->frames.at[at];
    ir_value *param = ir_region_param(loop->region, var->type, NULL);
    param->name = var->name;
    vec_push(&loop->params, ((carried){var, param, outside->value}));
    binding *inside = bind(b, var, at, param);
    inside->param = (uint32_t)loop->params.n;
    inside->unset = outside->unset;
    return inside;
}

/* the binding to read in the innermost region */
static const binding *
find_binding(rg_builder *b, rg_var var)
{
    binding *found = var->top ? var->top : bind_zeros(b, var);
    uint32_t inner = build_top(b)->loop;
    if (inner <= found->frame)
        return found;
    /* loops between, innermost first; they are entered outermost first */
    uint32_t first = inner;
    for (;;) {
        uint32_t outer = b->frames.at[first - 1]->loop;
        if (outer <= found->frame)
            break;
        first = outer;
    }
    for (uint32_t at = first; at <= inner; at++)
        if (b->frames.at[at]->loop == at)
            found = bind_param(b, found, at);
    return found;
}

ir_value *
build_lookup(rg_builder *b, rg_var var)
{
    return build_resolve(b, find_binding(b, var)->value);
}

void
build_assign(rg_builder *b, rg_var var, ir_value *value)
{
    uint32_t at = build_top(b)->home;
    frame *home = b->frames.at[at];
    binding *top = var->top;
    if (!top || top->frame != at)
        top = bind(b, var, at, value);
    top->value = value;
    top->assigned = true;
    top->unset = top->echo = false;
    if (home->kind == FRAME_LOOP || home->kind == FRAME_FOR)
        vec_push(&home->log, ((assignment){var, value}));
}

void
build_bind_echo(rg_builder *b, rg_var var, ir_value *value)
{
    bind(b, var, build_top(b)->home, value)->echo = true;
}

void
build_bind_private(rg_builder *b, rg_var var, ir_value *value)
{
    bind(b, var, build_top(b)->home, value);
}

/* -- what front ends call ---------------------------------------------------------------------- */

static bool
in_scope(rg_builder *b, rg_var var)
{
    if (var->owner < b->n_open && b->frames.at[var->owner]->serial == var->serial)
        return true;
    build_report(b, ERROR_SCOPE, "variable `%s` is used outside of the construct that declares it",
                 var->name ? var->name : "");
    return false;
}

uint32_t
rg_build_depth(const rg_builder *b)
{
    return b ? b->n_open : 0;
}

rg_var
rg_build_var(rg_builder *b, rg_str name, rg_type type)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    build_settle(b);
    return rg_build_var_at(b, b->n_open, name, type);
}

rg_var
rg_build_var_at(rg_builder *b, uint32_t depth, rg_str name, rg_type type)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    if (!depth || depth > b->n_open) {
        build_report(b, ERROR_SCOPE, "variable `%.*s` is declared in a construct that is not open", (int)name.len, name.ptr);
        depth = b->n_open;
    }
    if (!ir_bits(type.dtype)) {
        build_report(b, ERROR_TYPES, "a variable needs a scalar type or a local array of scalars");
        type = (rg_type){RG_I32, 0};
    }
    rg_var var = arena_one(b->arena, struct ir_variable);
    var->type = type.length ? ir_array(type.dtype, type.length) : ir_scalar(type.dtype);
    var->name = build_text(b, name);
    var->owner = depth - 1;
    var->serial = b->frames.at[depth - 1]->serial;
    return var;
}

ir_value *
rg_build_get(rg_builder *b, rg_var var)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    return in_scope(b, var) ? build_lookup(b, var) : build_fallback(b, var->type);
}

bool
ir_build_is_unset(rg_builder *b, rg_var var)
{
    uint32_t level = var->top ? var->top->frame : var->owner;
    if (build_top(b)->loop > level || (var->top && var->top->param))
        return false; /* an earlier iteration may have set it */
    return !var->top || var->top->unset;
}

/* Whether an assignment here would change what all threads share. */
static bool
shared_here(const rg_builder *b, const rg_var var)
{
    uint32_t at = build_top(b)->parallel;
    while (at > var->owner) {
        const frame *parallel = b->frames.at[at];
        bool reduced = false;
        for (size_t i = 0; i < parallel->reductions.n && !reduced; i++)
            reduced = parallel->reductions.at[i].var == var;
        if (!reduced)
            return true;
        at = b->frames.at[at - 1]->parallel;
    }
    return false;
}

void
rg_build_set(rg_builder *b, rg_var var, ir_value *value)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!value || !in_scope(b, var))
        return;
    if (!ir_type_eq(value->type, var->type)) {
        char is[32], wanted[32];
        build_type_name(value->type, is, sizeof is);
        build_type_name(var->type, wanted, sizeof wanted);
        build_report(b, ERROR_TYPES, "variable `%s` of type %s cannot hold a value of type %s",
                     var->name ? var->name : "", wanted, is);
        return;
    }
    if (shared_here(b, var)) {
        build_report(b, ERROR_SHARED,
                     "`%s` is shared by the threads of a parallel loop and assigned in it\n"
                     "declare it inside the loop (or `private`), or name it in a `reduction`",
                     var->name ? var->name : "");
        return;
    }
    build_settle(b);
    value = build_resolve(b, value);
    if (value->def && value->def->code == RG_OP_TABLE)
        value = rg_build_copy(b, value); /* the variable's array may be changed in place */
    if (!value->name && value->def && value->def->code != RG_OP_CONST)
        value->name = var->name;
    build_assign(b, var, value);
}
