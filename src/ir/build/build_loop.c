/* The builder: what a loop leaves behind: parameters for what it carries, results for what it
 * changed. SPDX-License-Identifier: Apache-2.0
 *
 * Parameters were made as the body asked for them. Now that the body is complete, those that never
 * change are replaced by their value outside. A loop's results are the variables' values at each
 * exit: the log of assignments at the body's top level says what they were there. */
#include "ir/build/build_impl.h"
#include "ir/emit.h"

/* -- variables --------------------------------------------------------------------------------- */

static void
collect_loop_vars(rg_builder *b, const frame *f)
{
    vec_clear(&b->loop_vars);
    for (size_t i = 0; i < f->bindings.n; i++) {
        const binding *it = f->bindings.at[i];
        if (!build_outlives(b, it->var))
            continue;
        loop_var v = {.var = it->var, .next = it->value, .assigned = it->assigned};
        if (it->param) {
            v.param = f->params.at[it->param - 1].param;
            v.init = f->params.at[it->param - 1].init;
        }
        vec_push(&b->loop_vars, v);
        it->var->mark = (uint32_t)b->loop_vars.n;
    }
}

/* exit_values[e * n + i]: variable i at exit e; NULL: as at the start of the iteration */
static void
walk_exits(rg_builder *b, const frame *f)
{
    size_t n = b->loop_vars.n, log = 0;
    vec_clear(&b->exit_values);
    for (size_t e = 0; e < f->exits.n; e++) {
        for (; log < f->exits.at[e].log; log++) {
            const assignment *a = &f->log.at[log];
            if (a->var->mark)
                b->loop_vars.at[a->var->mark - 1].last = a->value;
        }
        for (size_t i = 0; i < n; i++)
            vec_push(&b->exit_values, b->loop_vars.at[i].last);
    }
}

static void
add_carried(rg_builder *b, const frame *f, loop_var *v)
{
    v->init = build_lookup(b, v->var);
    v->param = ir_region_param(f->region, v->var->type, NULL);
    v->param->name = v->var->name;
}

static bool
asks_for_start(const rg_builder *b, size_t i)
{
    size_t n = b->loop_vars.n;
    for (size_t at = i; at < b->exit_values.n; at += n)
        if (!b->exit_values.at[at])
            return true;
    return false;
}

/* An array that was changed on the way to an exit has been consumed there. */
static bool
changed_at_exit(const rg_builder *b, size_t i, const ir_value *param)
{
    for (size_t at = i; at < b->exit_values.n; at += b->loop_vars.n)
        if (b->exit_values.at[at] && build_resolve(b, b->exit_values.at[at]) != param)
            return true;
    return false;
}

/* Whether the loop dissolves into the region around it: its body surely ends at its only exit. */
static bool
dissolves(const frame *f)
{
    return f->kind == FRAME_LOOP && f->dead && f->exits.n == 1;
}

/* Which variables are parameters. Where no iteration is followed by another none need be; but
 * arrays that are changed inside must still be handed in. */
static void
settle_params(rg_builder *b, const frame *f, bool is_loop)
{
    for (size_t i = 0; i < b->loop_vars.n; i++) {
        loop_var *v = &b->loop_vars.at[i];
        bool linear = v->var->type.kind == IR_ARRAY;
        bool once = f->dead && (!linear || dissolves(f));
        bool wanted = v->assigned && (!is_loop || asks_for_start(b, i));
        if (!v->param && wanted) {
            if (once)
                v->init = build_lookup(b, v->var);
            else
                add_carried(b, f, v);
        }
        if (!v->param)
            continue;
        bool same = build_resolve(b, v->next) == v->param;
        v->kept = !once && (!same || (linear && changed_at_exit(b, i, v->param)));
        if (!v->kept)
            build_forward(b, v->param, v->init);
    }
}

/* -- a counted loop that is left --------------------------------------------------------------- */

/* Puts `if index is at or past hi: leave` in front of the body, as the first exit. */
static void
insert_bound_exit(rg_builder *b, frame *f)
{
    ir_value *index = f->region->params[0];
    ir_emit e = {b->fn, f->region, f->region->first, f->loc};
    ir_value *past = ir_emit_2(&e, f->step > 0 ? RG_OP_GE : RG_OP_LE, index, f->hi);
    ir_op *out = ir_emit_op(&e, RG_OP_EXIT_IF, 1, &past, 0);
    vec_push(&f->exits, ((loop_exit){0}));
    memmove(f->exits.at + 1, f->exits.at, (f->exits.n - 1) * sizeof f->exits.at[0]);
    f->exits.at[0] = (loop_exit){out, f->label, f->loc, 0};
}

/* Whether index + step cannot wrap while index is before hi. */
static bool
step_is_safe(const frame *f)
{
    uint64_t bits;
    if (f->step == 1 || f->step == -1)
        return true;
    if (!ir_is_const(f->hi, &bits))
        return false;
    rg_dtype d = (rg_dtype)f->hi->type.dtype;
    unsigned width = ir_bits(d);
    /* distance from hi to the end of the type in the direction of the step */
    uint64_t top = ir_is_signed(d) ? (UINT64_C(1) << (width - 1)) - 1 : UINT64_MAX >> (64 - width);
    uint64_t bottom = ir_is_signed(d) ? ~top : 0;
    uint64_t room = f->step > 0 ? top - bits : bits - bottom;
    uint64_t stride = f->step > 0 ? (uint64_t)f->step : 0 - (uint64_t)f->step;
    return room >= stride - 1;
}

static rg_dtype
unsigned_of(rg_dtype d)
{
    return ir_is_signed(d) ? (rg_dtype)(d + 1) : d;
}

/* The index of the next iteration. Near the end of its type it stops at hi instead of wrapping. */
static ir_value *
append_next_index(rg_builder *b, const frame *f)
{
    ir_value *index = f->region->params[0];
    rg_dtype d = (rg_dtype)index->type.dtype, u = unsigned_of(d);
    ir_emit e = {b->fn, f->region, NULL, f->loc};
    ir_value *next = ir_emit_2(&e, RG_OP_ADD, index, build_bits(b, d, (uint64_t)f->step));
    if (step_is_safe(f))
        return next;
    ir_value *from = f->step > 0 ? index : f->hi, *to = f->step > 0 ? f->hi : index;
    uint64_t stride = f->step > 0 ? (uint64_t)f->step : 0 - (uint64_t)f->step;
    ir_value *left = ir_emit_cast(&e, u, ir_emit_2(&e, RG_OP_SUB, to, from));
    ir_value *last = ir_emit_2(&e, RG_OP_LE, left, build_bits(b, u, stride));
    return ir_emit_3(&e, RG_OP_SELECT, last, f->hi, next);
}

/* -- the op ------------------------------------------------------------------------------------ */

/* Parameters that stay, their inits and next values; the index comes first. */
static void
finish_body(rg_builder *b, const frame *f, bool is_loop)
{
    ir_region *r = f->region;
    uint32_t n = 0;
    vec_clear(&b->carried_values);
    if (f->kind == FRAME_FOR && is_loop && f->dead) {
        build_forward(b, r->params[0], f->lo);
    } else if (f->kind == FRAME_FOR && is_loop) {
        ir_op_arg(f->op, b->fn, f->lo);
        vec_push(&b->carried_values, append_next_index(b, f));
        n = 1;
    } else if (!is_loop) {
        if (f->kind == FRAME_FOR)
            f->op->attr.step = f->step;
        ir_op_arg(f->op, b->fn, f->lo);
        ir_op_arg(f->op, b->fn, f->hi);
        n = 1;
    }
    for (size_t i = 0; i < b->loop_vars.n; i++) {
        const loop_var *v = &b->loop_vars.at[i];
        if (!v->kept)
            continue;
        r->params[n] = v->param;
        v->param->index = n++;
        ir_op_arg(f->op, b->fn, build_resolve(b, v->init));
        vec_push(&b->carried_values, v->next);
    }
    r->nparams = n;
    build_yield(b, r, b->carried_values.n, b->carried_values.at, f->loc);
}

/* -- what comes after: for and unwind ---------------------------------------------------------- */

static void
give_carried(rg_builder *b, const frame *f)
{
    for (size_t i = 0; i < b->loop_vars.n; i++) {
        const loop_var *v = &b->loop_vars.at[i];
        if (!v->kept)
            continue;
        ir_value *result = ir_op_result(f->op, b->fn, v->var->type, NULL);
        result->name = v->var->name;
        build_assign(b, v->var, result);
    }
    if (f->op->nresults || f->region->first != f->region->last)
        build_append_here(b, f->op);
}

/* -- what comes after: loop -------------------------------------------------------------------- */

static ir_value *
value_at(const rg_builder *b, size_t e, size_t i)
{
    const loop_var *v = &b->loop_vars.at[i];
    ir_value *value = b->exit_values.at[e * b->loop_vars.n + i];
    if (!value)
        value = v->param ? v->param : v->init;
    return build_resolve(b, value);
}

/* The variable's value at all exits (`own`: at those that go no further than this loop) if it is
 * one and the same from outside of the loop, else NULL. */
static ir_value *
common_value(const rg_builder *b, const frame *f, size_t i, bool own)
{
    ir_value *common = NULL;
    for (size_t e = 0; e < f->exits.n; e++) {
        if (own && f->exits.at[e].label != f->label)
            continue;
        ir_value *value = value_at(b, e, i);
        if (value->region == f->region || (common && common != value))
            return NULL;
        common = value;
    }
    return common;
}

static ir_value *
add_loop_result(rg_builder *b, const frame *f, ir_type type, const char *name)
{
    ir_value *result = ir_op_result(f->op, b->fn, type, NULL);
    result->name = name;
    return result;
}

static void
give_exit_values(rg_builder *b, const frame *f)
{
    frame *home = build_home(b);
    for (size_t i = 0; i < b->loop_vars.n; i++) {
        const loop_var *v = &b->loop_vars.at[i];
        if (!v->assigned)
            continue;
        ir_value *now = common_value(b, f, i, false);
        if (now) {
            if (now != build_lookup(b, v->var))
                build_assign(b, v->var, now);
            continue;
        }
        for (size_t e = 0; e < f->exits.n; e++)
            ir_op_arg(f->exits.at[e].op, b->fn, value_at(b, e, i));
        build_assign(b, v->var, add_loop_result(b, f, v->var->type, v->var->name));
        ir_value *echo = common_value(b, f, i, true);
        if (echo && v->var->type.kind == IR_SCALAR)
            vec_push(&home->echoes, ((assignment){v->var, echo}));
    }
}

/* Exits that go further than this loop: flags that say after it which one was taken. */
static void
give_leaves(rg_builder *b, const frame *f, arm *into)
{
    into->dead = true;
    for (size_t e = 0; e < f->exits.n; e++) {
        const loop_exit *x = &f->exits.at[e];
        bool known = x->label == f->label;
        into->dead &= !known;
        for (size_t i = 0; i < into->leaves.n && !known; i++)
            known = into->leaves.at[i].label == x->label;
        if (!known)
            vec_push(&into->leaves, ((leave){x->label, NULL, x->loc}));
    }
    bool only = into->dead && into->leaves.n == 1;
    for (size_t i = 0; i < into->leaves.n; i++) {
        leave *it = &into->leaves.at[i];
        if (only) {
            it->flag = build_bits(b, RG_BOOL, 1);
            continue;
        }
        for (size_t e = 0; e < f->exits.n; e++)
            ir_op_arg(f->exits.at[e].op, b->fn,
                      build_bits(b, RG_BOOL, f->exits.at[e].label == it->label));
        it->flag = add_loop_result(b, f, ir_scalar(RG_BOOL), NULL);
    }
}

static void
leave_further(rg_builder *b, arm *left)
{
    frame *home = build_home(b);
    if (home->kind == FRAME_DEAD) {
        vec_clear(&home->echoes);
        return;
    }
    for (size_t i = 0; i < left->leaves.n; i++)
        build_add_leave(b, left->leaves.at[i].label, left->leaves.at[i].flag,
                        left->leaves.at[i].loc);
    if (left->dead && left->leaves.n)
        home->dead = true;
    if (home->dead || !left->leaves.n)
        vec_clear(&home->echoes);
    build_apply_echoes(b);
}

static void
unwrap(rg_builder *b, const frame *f)
{
    ir_region *into = build_home(b)->region;
    ir_remove(f->exits.at[0].op);
    while (f->region->first) {
        ir_op *op = f->region->first;
        ir_remove(op);
        ir_append(into, op);
    }
    for (size_t i = 0; i < b->loop_vars.n; i++)
        if (b->loop_vars.at[i].assigned)
            build_assign(b, b->loop_vars.at[i].var, value_at(b, 0, i));
}

static void
close_exits(rg_builder *b, frame *f)
{
    arm *left = &f->arms[0];
    if (dissolves(f)) {
        give_leaves(b, f, left);
        unwrap(b, f);
    } else {
        f->op->code = RG_OP_LOOP;
        finish_body(b, f, true);
        give_exit_values(b, f);
        give_leaves(b, f, left);
        build_append_here(b, f->op);
    }
    leave_further(b, left);
}

void
build_close_loop(rg_builder *b)
{
    frame *f = build_top(b);
    if (f->kind == FRAME_FOR && f->exits.n)
        insert_bound_exit(b, f);
    bool is_loop = f->kind == FRAME_LOOP || f->exits.n;
    if (is_loop && !f->exits.n && !f->doomed)
        build_report_at(b, ERROR_ENDLESS, f->loc,
                        "this loop never ends\n"
                        "add a condition, a break or a return");
    collect_loop_vars(b, f);
    walk_exits(b, f);
    for (size_t i = 0; i < b->loop_vars.n; i++)
        b->loop_vars.at[i].var->mark = 0;
    build_pop(b);
    settle_params(b, f, is_loop);
    if (is_loop) {
        close_exits(b, f);
    } else {
        finish_body(b, f, false);
        give_carried(b, f);
    }
}
