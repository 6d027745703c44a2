/* Forward mode of atomic min, max and mul. SPDX-License-Identifier: Apache-2.0
 *
 * Each update is entered where it stands (contest.h). Of min and max it stores its tangent while it is ahead; that of a
 * product is put together after the task. */
#include "diff/jvp.h"

/* -- serial code ---------------------------------------------------------------------------------------------- */
static ir_op *
access_like(jvp *j, rg_op code, const ir_op *like, uint8_t plane, const ir_emit *e)
{
    ir_op *op = ir_op_new(j->fn, code, 0, 0, like->loc);
    op->plane = plane;
    for (uint32_t i = 0; i + 1 < like->nargs; i++)
        ir_op_arg(op, j->fn, like->args[i]);
    ir_emit_place(e, op);
    return op;
}

static void
in_serial_code(jvp *j, const ir_op *op, ir_op *copy, ir_region *into)
{
    ir_emit e = {j->fn, into, NULL, op->loc};
    rg_dtype element = (rg_dtype)op->args[0]->type.dtype, dtype = ir_adjoint_dtype(element);
    if (!copy->nresults)
        ir_op_result(copy, j->fn, ir_scalar(element), NULL);
    ir_value *old = copy->results[0], *v = copy->args[copy->nargs - 1];
    ir_value *t = jvp_tangent_or_zero(j, &e, op->args[op->nargs - 1]);
    ir_op *load = access_like(j, RG_OP_LOAD, copy, j->bit, &e);
    ir_value *t_old = ir_emit_cast(&e, dtype, ir_op_result(load, j->fn, ir_scalar(element), NULL));
    ir_value *made;
    if (op->rmw == RG_RMW_MUL) {
        made = ir_emit_2(&e, RG_OP_ADD, ir_emit_2(&e, RG_OP_MUL, t_old, ir_emit_cast(&e, dtype, v)),
                      ir_emit_2(&e, RG_OP_MUL, t, ir_emit_cast(&e, dtype, old)));
    } else {
        ir_value *better = ir_emit_2(&e, op->rmw == RG_RMW_MIN ? RG_OP_LT : RG_OP_GT, v, old);
        ir_value *wins = ir_emit_2(&e, RG_OP_OR, better, ir_emit_2(&e, RG_OP_NE, old, old));
        made = ir_emit_3(&e, RG_OP_SELECT, wins, t, t_old);
    }
    ir_value *back = ir_emit_cast(&e, element, made);
    ir_op_arg(access_like(j, RG_OP_STORE, copy, j->bit, &e), j->fn, back);
}

/* -- among threads --------------------------------------------------------------------------------------------- */
static ad_contest *
tangent_contest_of(jvp *j, const ir_op *op)
{
    for (size_t i = 0; ad_is_contest(op) && i < j->contests.n; i++)
        if (j->contests.at[i].array == op->args[0] && j->contests.at[i].op == op->rmw)
            return &j->contests.at[i];
    return NULL;
}

static bool
collect_tangent_contests(ir_op *op, void *user)
{
    jvp *j = user;
    if (ad_is_contest(op) && !tangent_contest_of(j, op) && jvp_look(j, op->args[0]).any)
        vec_push(&j->contests, ((ad_contest){.array = op->args[0], .op = (rg_rmw)op->rmw}));
    return true;
}

void
jvp_open_contests(jvp *j, const ir_op *task, ir_region *into)
{
    ad_domain domain = {.rank = task->attr.rank};
    vec_clear(&j->contests);
    ir_walk(task->regions[0], collect_tangent_contests, j);
    if (!j->contests.n)
        return;
    if (!ad_contests_agree(j->from, task, jvp_both_ways(j), false, j->c->diags)) {
        j->failed = true;
        return;
    }
    for (uint32_t k = 0; k < domain.rank; k++) {
        domain.lo[k] = j->primal[task->args[k]->id];
        domain.hi[k] = j->primal[task->args[domain.rank + k]->id];
    }
    ad_midst m;
    rg_builder *b = ad_midst_open(&m, j->fn, into, into->last, j->c);
    ir_build_loc(b, task->loc);
    for (size_t i = 0; i < j->contests.n; i++)
        ad_contest_open(b, &j->contests.at[i], j->primal[j->contests.at[i].array->id], true);
    j->order = ad_order_open(b, &domain, ad_contests_take_turns(task));
    ad_midst_close(&m);
}

void
jvp_contest(jvp *j, const ir_op *op, ir_op *copy, ir_region *into)
{
    const ir_op *task = jvp_task_of(op);
    if (!task) {
        in_serial_code(j, op, copy, into);
        return;
    }
    ir_value *thread[RG_MAX_RANK];
    for (uint32_t k = 0; k < task->attr.rank; k++)
        thread[k] = j->primal[task->regions[0]->params[k]->id];
    ad_midst m;
    rg_builder *b = ad_midst_open(&m, j->fn, into, into->last, j->c);
    ir_build_loc(b, op->loc);
    ir_emit here = {j->fn, into, NULL, op->loc};
    ir_value *t = jvp_tangent_or_zero(j, &here, op->args[op->nargs - 1]);
    ad_entry e = {.array = copy->args[0], .n = copy->nargs - 2, .index = copy->args + 1,
                  .value = copy->args[copy->nargs - 1], .plane = j->bit,
                  .tangent = rg_build_cast(b, (rg_dtype)copy->args[0]->type.dtype, t)};
    e.key = ad_order_key(b, &j->order, thread, ad_order_turn(b, &j->order, thread, ad_contest_number(task, op)));
    ad_contest_enter(b, tangent_contest_of(j, op), &e);
    ad_midst_close(&m);
}

void
jvp_close_contests(jvp *j, ir_region *into)
{
    if (!j->contests.n)
        return;
    ad_midst m;
    rg_builder *b = ad_midst_open(&m, j->fn, into, into->last, j->c);
    for (size_t i = 0; i < j->contests.n; i++) {
        const ad_contest *c = &j->contests.at[i];
        ir_value *index[RG_MAX_RANK], *array = j->primal[c->array->id];
        uint32_t n = array->type.rank;
        if (c->op != RG_RMW_MUL)
            continue;
        ad_each_element(b, array, index);
        ir_value *t = rg_build_load(b, j->bit, array, n, index);
        rg_build_store(b, j->bit, array, n, index, ad_contest_tangent(b, c, n, index, t));
        rg_build_end(b);
    }
    ad_midst_close(&m);
}
