/* Forward mode of atomic min, max and mul. SPDX-License-Identifier: Apache-2.0
 *
 * The task itself leaves the tangents of such elements alone. Afterwards sweeps (sweep.h) find the winners: the first
 * one's tangent is stored; a product's tangent is summed up. */
#include "diff/jvp.h"
#include "diff/sweep.h"

/* -- serial code ---------------------------------------------------------------------------------------------- */
static ir_op *
access_like(jvp *j, rg_op code, const ir_op *like, uint8_t plane, const ad_emit *e)
{
    ir_op *op = ir_op_new(j->fn, code, 0, 0, like->loc);
    op->plane = plane;
    for (uint32_t i = 0; i + 1 < like->nargs; i++)
        ir_op_arg(op, j->fn, like->args[i]);
    ad_place(e, op);
    return op;
}

static void
in_serial_code(jvp *j, const ir_op *op, ir_op *copy, ir_region *into)
{
    ad_emit e = {j->fn, into, NULL, op->loc};
    rg_dtype element = (rg_dtype)op->args[0]->type.dtype, dtype = ir_adjoint_dtype(element);
    if (!copy->nresults)
        ir_op_result(copy, j->fn, ir_scalar(element), NULL);
    ir_value *old = copy->results[0], *v = copy->args[copy->nargs - 1];
    ir_value *t = jvp_tangent_or_zero(j, &e, op->args[op->nargs - 1]);
    ir_op *load = access_like(j, RG_OP_LOAD, copy, j->bit, &e);
    ir_value *t_old = ad_cast(&e, dtype, ir_op_result(load, j->fn, ir_scalar(element), NULL));
    ir_value *made;
    if (op->rmw == RG_RMW_MUL) {
        made = ad_op2(&e, RG_OP_ADD, ad_op2(&e, RG_OP_MUL, t_old, ad_cast(&e, dtype, v)),
                      ad_op2(&e, RG_OP_MUL, t, ad_cast(&e, dtype, old)));
    } else {
        ir_value *better = ad_op2(&e, op->rmw == RG_RMW_MIN ? RG_OP_LT : RG_OP_GT, v, old);
        ir_value *wins = ad_op2(&e, RG_OP_OR, better, ad_op2(&e, RG_OP_NE, old, old));
        made = ad_op3(&e, RG_OP_SELECT, wins, t, t_old);
    }
    ir_value *back = ad_cast(&e, element, made);
    ir_op_arg(access_like(j, RG_OP_STORE, copy, j->bit, &e), j->fn, back);
}

void
jvp_contest(jvp *j, const ir_op *op, ir_op *copy, ir_region *into)
{
    if (!jvp_in_task(op)) {
        in_serial_code(j, op, copy, into);
        return;
    }
    ad_emit e = {j->fn, into, copy, op->loc}; /* sweeps need it before the update */
    jvp_update u = {copy, jvp_tangent_or_zero(j, &e, op->args[op->nargs - 1]), 0};
    vec_push(&j->contests, u);
}

/* -- sweeps ------------------------------------------------------------------------------------------------------ */
typedef struct sweep {
    jvp *j;
    ir_op *task;
    rg_builder *b;
    ad_domain domain;
    vec(ad_contest) contests;
    ad_sweep again;
} sweep;

void
jvp_release_builder(void *builder)
{
    rg_builder_destroy(builder);
}

static void
release_sweep(void *object)
{
    sweep *s = object;
    rg_builder_destroy(s->b);
    vec_free(&s->contests);
    ad_sweep_close(&s->again);
}

static size_t
contest_of(sweep *s, const ir_op *update)
{
    for (size_t i = 0; i < s->contests.n; i++)
        if (s->contests.at[i].buffer == update->args[0] && s->contests.at[i].op == update->rmw)
            return i;
    ad_contest c = {.buffer = update->args[0], .op = (rg_rmw)update->rmw};
    vec_push(&s->contests, c);
    return s->contests.n - 1;
}

/* before the task: the elements that will be multiplied, and what the sweeps read and the task writes, are kept */
static void
keep_before(sweep *s)
{
    ir_region *aside = ir_region_new(s->j->fn, NULL);
    rg_builder *b = ir_builder_on(s->j->fn->module, s->j->diags);
    mem_owner owns;
    mem_own(&owns, jvp_release_builder, b);
    ir_builder_enter(b, s->j->fn, aside);
    ir_build_loc(b, s->task->loc);
    for (size_t i = 0; i < s->contests.n; i++)
        if (s->contests.at[i].op == RG_RMW_MUL)
            ad_contest_keep(b, s->contests.at[i].buffer, &s->contests.at[i].old);
    ad_sweep_copy(&s->again, b, AD_SWEEP_ROUNDS);
    ir_builder_leave(b);
    mem_disown(&owns);
    rg_builder_destroy(b);
    for (ir_op *op = aside->first, *next; op; op = next) {
        next = op->next;
        ir_remove(op);
        ir_insert_before(s->task, op);
    }
    ad_sweep_record_all(&s->again);
}

/* opens the parallel loop of a sweep with the slice in it; closed by rg_build_end. The thread's key. */
static ir_value *
open_sweep(sweep *s, unsigned round)
{
    ir_value *index[RG_MAX_RANK];
    rg_build_parallel(s->b, s->domain.rank, s->domain.lo, s->domain.hi, index);
    ir_value *key = ad_contest_key(s->b, &s->domain, index);
    ad_sweep_run(&s->again, s->b, &s->domain, index, round);
    return key;
}

static void
look_round(sweep *s)
{
    ir_value *key = open_sweep(s, 0);
    for (size_t i = 0; i < s->j->contests.n; i++) {
        const jvp_update *u = &s->j->contests.at[i];
        ad_contest_look(s->j->fn, &s->contests.at[u->contest], ad_sweep_clone(&s->again, u->op), key, 0);
        ad_sweep_settle(&s->again, u->op);
    }
    rg_build_end(s->b);
}

/* an access at the update's element to `buffer`, before the update */
static ir_op *
at_element(sweep *s, const ad_emit *e, rg_op code, const ir_op *update, ir_value *buffer, uint8_t plane)
{
    ir_op *op = ir_op_new(s->j->fn, code, 0, 0, update->loc);
    op->plane = plane;
    ir_op_arg(op, s->j->fn, buffer);
    for (uint32_t i = 1; i + 1 < update->nargs; i++)
        ir_op_arg(op, s->j->fn, update->args[i]);
    ad_place(e, op);
    return op;
}

static ir_value *
load_at(sweep *s, const ad_emit *e, const ir_op *update, ir_value *buffer, uint8_t plane)
{
    ir_op *load = at_element(s, e, RG_OP_LOAD, update, buffer, plane);
    return ir_op_result(load, s->j->fn, ir_scalar((rg_dtype)buffer->type.dtype), NULL);
}

/* the update's share of the element's tangent */
static void
apply(sweep *s, const ad_contest *c, ir_op *update, ir_value *t, ir_value *key)
{
    ad_emit e = {s->j->fn, update->parent, update, update->loc};
    rg_dtype element = (rg_dtype)c->buffer->type.dtype;
    ir_value *v = update->args[update->nargs - 1];
    ir_value *one = ad_int(&e, RG_I64, 1), *zero = ad_int(&e, RG_I64, 0), *share;
    if (c->op == RG_RMW_MUL) {
        ir_value *is_zero = ad_op2(&e, RG_OP_EQ, v, ad_float(&e, element, 0));
        ir_value *zeros = load_at(s, &e, update, c->zeros, 0), *product = load_at(s, &e, update, c->product, 0);
        ir_value *only = ad_op2(&e, RG_OP_AND, is_zero, ad_op2(&e, RG_OP_EQ, zeros, one));
        ir_value *rest = ad_op3(&e, RG_OP_SELECT, only, product, ad_float(&e, element, 0));
        ir_value *others = ad_op3(&e, RG_OP_SELECT, ad_op2(&e, RG_OP_EQ, zeros, zero),
                                  ad_op2(&e, RG_OP_DIV, product, v), rest);
        others = ad_op2(&e, RG_OP_MUL, others, load_at(s, &e, update, c->old, 0));
        share = ad_op2(&e, RG_OP_MUL, ad_cast(&e, element, t), others);
    } else {
        ir_value *wins = ad_op2(&e, RG_OP_EQ, v, load_at(s, &e, update, c->buffer, 0));
        wins = ad_op2(&e, RG_OP_AND, wins, ad_op2(&e, RG_OP_EQ, key, load_at(s, &e, update, c->first, 0)));
        ir_value *one_more = ad_cast(&e, RG_I64, wins);
        ir_op *count = at_element(s, &e, RG_OP_RMW, update, c->ties, 0);
        count->rmw = RG_RMW_ADD;
        count->atomic = true;
        ir_op_arg(count, s->j->fn, one_more);
        ir_value *seen = ir_op_result(count, s->j->fn, ir_scalar(RG_I64), NULL);
        ir_value *first = ad_op2(&e, RG_OP_AND, wins, ad_op2(&e, RG_OP_EQ, seen, zero));
        /* the loser's old tangent was cleared: the first winner's is all that is added */
        share = ad_op3(&e, RG_OP_SELECT, first, ad_cast(&e, element, t), ad_float(&e, element, 0));
    }
    ir_op *add = at_element(s, &e, RG_OP_RMW, update, c->buffer, s->j->bit);
    add->rmw = RG_RMW_ADD;
    add->atomic = true;
    ir_op_arg(add, s->j->fn, share);
}

/* what the old tangent of each element becomes before the updates' shares are added */
static void
start_tangents(sweep *s, const ad_contest *c)
{
    ir_value *index[RG_MAX_RANK];
    rg_builder *b = s->b;
    uint32_t n = c->buffer->type.rank;
    ad_each_element(b, c->buffer, index);
    ir_value *t = rg_build_load(b, s->j->bit, c->buffer, n, index);
    rg_dtype dtype = (rg_dtype)t->type.dtype;
    if (c->op == RG_RMW_MUL) {
        t = rg_build_2(b, RG_OP_MUL, t, ad_contest_factors(b, c, n, index, dtype));
    } else {
        ir_value *none = rg_build_2(b, RG_OP_EQ, rg_build_load(b, RG_PRIMAL, c->first, n, index),
                                    rg_build_int(b, RG_I64, 0));
        t = rg_build_3(b, RG_OP_SELECT, none, t, rg_build_float(b, dtype, 0));
    }
    rg_build_store(b, s->j->bit, c->buffer, n, index, t);
    rg_build_end(b);
}

static void
apply_round(sweep *s)
{
    ir_value *key = open_sweep(s, 1);
    for (size_t i = 0; i < s->j->contests.n; i++) {
        const jvp_update *u = &s->j->contests.at[i];
        apply(s, &s->contests.at[u->contest], ad_sweep_clone(&s->again, u->op), ad_sweep_now(&s->again, u->tangent), key);
        ad_sweep_settle(&s->again, u->op);
    }
    rg_build_end(s->b);
}

static void
sweep_task(sweep *s, const ir_op *task, ir_region *into)
{
    jvp *j = s->j;
    for (size_t i = 0; i < j->contests.n; i++) {
        jvp_update *u = &j->contests.at[i];
        u->contest = contest_of(s, u->op);
        ad_sweep_want(&s->again, u->op, u->tangent);
    }
    if (!ad_contests_agree(j->from, task, jvp_both_ways(j), j->diags) || !ad_sweep_solve(&s->again)) {
        j->failed = true;
        return;
    }
    keep_before(s);
    s->b = ir_builder_on(j->fn->module, j->diags);
    ir_builder_enter(s->b, j->fn, into);
    ir_build_loc(s->b, task->loc);
    for (size_t i = 0; i < s->contests.n; i++)
        ad_contest_open(s->b, &s->contests.at[i]);
    look_round(s);
    for (size_t i = 0; i < s->contests.n; i++)
        start_tangents(s, &s->contests.at[i]);
    apply_round(s);
    ir_builder_leave(s->b);
}

void
jvp_contests_after(jvp *j, const ir_op *task, ir_op *copy, ir_region *into)
{
    if (!j->contests.n)
        return;
    sweep s = {.j = j, .task = copy, .domain = {.rank = copy->attr.rank}};
    for (uint32_t k = 0; k < s.domain.rank; k++) {
        s.domain.lo[k] = copy->args[k];
        s.domain.hi[k] = copy->args[s.domain.rank + k];
    }
    mem_owner owns;
    mem_own(&owns, release_sweep, &s);
    ad_sweep_open(&s.again, j->fn, copy, j->diags);
    sweep_task(&s, task, into);
    vec_clear(&j->contests);
    mem_disown(&owns);
    release_sweep(&s);
}
