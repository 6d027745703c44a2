/* The builder: what an if leaves behind: results for what its arms assigned, flags for what they
 * left. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

void
build_yield(rg_builder *b, ir_region *r, size_t n, ir_value *const *values, ir_loc loc)
{
    ir_op *op = ir_op_new(b->fn, RG_OP_YIELD, (uint32_t)n, 0, loc);
    for (size_t i = 0; i < n; i++)
        ir_op_arg(op, b->fn, build_resolve(b, values[i]));
    ir_append(r, op);
}

/* -- one arm ----------------------------------------------------------------------------------- */

static void
take_bindings(rg_builder *b, const frame *f, arm *into)
{
    for (size_t i = 0; i < f->bindings.n; i++) {
        const binding *it = f->bindings.at[i];
        if (!build_outlives(b, it->var) || (!it->assigned && !it->echo))
            continue;
        outcome o = {it->var, it->echo ? NULL : it->value, f->dead ? NULL : it->value};
        vec_push(&into->vars, o);
        it->var->mark = (uint32_t)into->vars.n;
    }
    for (size_t i = 0; i < f->echoes.n; i++)
        if (f->echoes.at[i].var->mark)
            into->vars.at[f->echoes.at[i].var->mark - 1].continued = f->echoes.at[i].value;
    for (size_t i = 0; i < into->vars.n; i++)
        into->vars.at[i].var->mark = 0;
}

void
build_close_arm(rg_builder *b)
{
    frame *f = build_top(b);
    arm *into = &f->arms[f->in_else];
    take_bindings(b, f, into);
    for (size_t i = 0; i < f->leaves.n; i++)
        vec_push(&into->leaves, f->leaves.at[i]);
    into->dead = f->dead;
    f->dead = false;
    vec_clear(&f->leaves);
    vec_clear(&f->echoes);
    build_unbind(b, f);
}

/* -- code after an if that one arm has left ---------------------------------------------------- */

/* Whether every leave of this arm becomes an exit_if right here. */
static bool
all_exit(const rg_builder *b, const arm *a, uint32_t home)
{
    frame_kind kind = b->frames.at[home]->kind;
    if (kind != FRAME_LOOP && kind != FRAME_FOR)
        return false;
    for (size_t i = 0; i < a->leaves.n; i++)
        if ((uint32_t)(b->labels.at[a->leaves.at[i].label] >> 32) > home)
            return false;
    return true;
}

/* `if (c) { ...; leave } rest` is `if (c) { ... } else { rest }`: the if stays open as the guard of
 * what follows. */
static bool
continue_in_live_arm(rg_builder *b, frame *f)
{
    uint32_t home = b->frames.at[b->n_open - 2]->home;
    if (f->kind != FRAME_IF || b->frames.at[home]->doomed || f->arms[0].dead == f->arms[1].dead)
        return false;
    bool live = f->arms[0].dead;
    arm *rest = &f->arms[live];
    if (rest->leaves.n || all_exit(b, &f->arms[!live], home))
        return false;
    f->kind = FRAME_GUARD;
    f->serial = ++b->serial;
    f->in_else = live;
    f->region = f->op->regions[live];
    for (size_t i = 0; i < rest->vars.n; i++)
        build_assign(b, rest->vars.at[i].var, rest->vars.at[i].value);
    vec_clear(&rest->vars);
    return true;
}

/* -- both arms --------------------------------------------------------------------------------- */

/* One value out of two; a new result of the if unless it can be had for less. */
static ir_value *
join_arms(rg_builder *b, ir_op *op, ir_value *x, ir_value *y, const char *name)
{
    uint64_t x_bits, y_bits;
    x = build_resolve(b, x);
    y = build_resolve(b, y);
    if (x == y)
        return x;
    if (ir_type_eq(x->type, ir_scalar(RG_BOOL)) && ir_is_const(x, &x_bits) &&
        ir_is_const(y, &y_bits))
        return x_bits ? op->args[0] : build_not(b, op->args[0]);
    vec_push(&b->yields[0], x);
    vec_push(&b->yields[1], y);
    ir_value *result = ir_op_result(op, b->fn, x->type, NULL);
    result->name = name;
    return result;
}

static void
collect_merged_vars(rg_builder *b, const frame *f)
{
    vec_clear(&b->merged);
    for (int k = 0; k < 2; k++) {
        const arm *a = &f->arms[k];
        for (size_t i = 0; i < a->vars.n; i++) {
            const outcome *o = &a->vars.at[i];
            if (!o->var->mark) {
                vec_push(&b->merged, ((merged){.var = o->var}));
                o->var->mark = (uint32_t)b->merged.n;
            }
            merged *m = &b->merged.at[o->var->mark - 1];
            m->seen[k] = true;
            m->value[k] = o->value;
            m->continued[k] = o->continued;
        }
    }
    for (size_t i = 0; i < b->merged.n; i++)
        b->merged.at[i].var->mark = 0;
}

static void
join_vars(rg_builder *b, const frame *f)
{
    for (size_t i = 0; i < b->merged.n; i++) {
        merged *m = &b->merged.at[i];
        bool real = m->value[0] || m->value[1];
        ir_value *before = NULL;
        if (!m->value[0] || !m->value[1])
            before = build_lookup(b, m->var);
        for (int k = 0; k < 2; k++)
            if (!m->seen[k])
                m->continued[k] = f->arms[k].dead ? NULL : before;
        m->now = real ? join_arms(b, f->op, m->value[0] ? m->value[0] : before,
                                  m->value[1] ? m->value[1] : before, m->var->name)
                      : before;
        if (m->now != before)
            continue;
        m->value[0] = m->value[1] = NULL; /* nothing to assign */
    }
}

static ir_value *
flag_of(rg_builder *b, const arm *a, rg_label label)
{
    for (size_t i = 0; i < a->leaves.n; i++)
        if (a->leaves.at[i].label == label)
            return a->leaves.at[i].flag;
    return build_bits(b, RG_BOOL, 0);
}

/* The leaves of both arms, as values outside of the if: into the first arm's list. */
static void
join_leaves(rg_builder *b, frame *f)
{
    arm *first = &f->arms[0], *second = &f->arms[1];
    size_t n = first->leaves.n;
    ir_value *no = n || second->leaves.n ? build_bits(b, RG_BOOL, 0) : NULL;
    for (size_t i = 0; i < second->leaves.n; i++) {
        leave it = second->leaves.at[i];
        if (flag_of(b, first, it.label) != no)
            continue;
        if (it.label != b->closing)
            it.flag = join_arms(b, f->op, no, it.flag, NULL);
        vec_push(&first->leaves, it);
    }
    for (size_t i = 0; i < n; i++) {
        leave *it = &first->leaves.at[i];
        if (it->label != b->closing)
            it->flag = join_arms(b, f->op, it->flag, flag_of(b, second, it->label), NULL);
    }
}

static void
finish_op(rg_builder *b, const frame *f)
{
    ir_op *op = f->op;
    if (!op->nresults && !op->regions[0]->first && !op->regions[1]->first)
        return;
    for (int k = 0; k < 2; k++)
        build_yield(b, op->regions[k], b->yields[k].n, b->yields[k].at, f->loc);
    build_append_here(b, op);
}

/* What variables are if control goes on, where that is known to be simpler than the if's result.
 * Linear arrays are left alone: the if has consumed the old one. */
static void
note_echoes(rg_builder *b, const frame *f)
{
    frame *home = build_home(b);
    for (size_t i = 0; i < b->merged.n; i++) {
        const merged *m = &b->merged.at[i];
        ir_value *x = m->continued[0], *y = m->continued[1];
        if (!x && !y)
            continue;
        x = build_resolve(b, x ? x : y);
        y = build_resolve(b, y ? y : x);
        bool outside = x->region != f->op->regions[0] && x->region != f->op->regions[1];
        if (x == y && outside && x != m->now && x->type.kind == IR_SCALAR)
            vec_push(&home->echoes, ((assignment){m->var, x}));
    }
}

static void
merge_arms(rg_builder *b, frame *f)
{
    bool both_dead = f->arms[0].dead && f->arms[1].dead;
    vec_clear(&b->yields[0]);
    vec_clear(&b->yields[1]);
    collect_merged_vars(b, f);
    join_vars(b, f);
    join_leaves(b, f);
    finish_op(b, f);
    for (size_t i = 0; i < b->merged.n; i++)
        if (b->merged.at[i].value[0] || b->merged.at[i].value[1])
            build_assign(b, b->merged.at[i].var, b->merged.at[i].now);
    uint32_t at = build_top(b)->home;
    frame *home = b->frames.at[at];
    arm *left = &f->arms[0];
    if (home->kind == FRAME_DEAD || !left->leaves.n)
        return;
    if (both_dead && all_exit(b, left, at))
        vec_last(&left->leaves).flag = build_bits(b, RG_BOOL, 1);
    for (size_t i = 0; i < left->leaves.n; i++) {
        const leave *it = &left->leaves.at[i];
        if (it->label == b->closing)
            vec_push(&home->leaves, *it);
        else
            build_add_leave(b, it->label, it->flag, it->loc);
    }
    if (both_dead)
        home->dead = true;
    else
        note_echoes(b, f);
    build_apply_echoes(b);
}

void
build_close_if(rg_builder *b)
{
    frame *f = build_top(b);
    build_close_arm(b);
    if (continue_in_live_arm(b, f))
        return;
    build_pop(b);
    merge_arms(b, f);
}
