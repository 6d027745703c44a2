/* Reverse of atomic min, max and mul. SPDX-License-Identifier: Apache-2.0
 *
 * In serial code each update is an operation on the old value. Among threads the result does not say who made it: so
 * the task's threads enter their updates (contest.h). In a combined launch the forward task does. In a split launch
 * a sweep without effects does, which records, and is what the reverse rewinds: the array stands as the task left it, so
 * nothing is ahead of that, and the first update that made it enters. */
#include "diff/vjp.h"

/* -- serial code -------------------------------------------------------------------------------------------- */
static ir_value *
old_value(vjp *v, const ir_op *op)
{
    ir_op *copy = map_get(&v->instance_ops, map_ptr(op));
    if (!copy->nresults)
        ir_op_result(copy, v->fn, ir_scalar((rg_dtype)op->args[0]->type.dtype), NULL);
    return vjp_recalled(v, copy->results[0]);
}

static void
reverse_serial(vjp *v, const ir_op *op, const vjp_place *p)
{
    ir_value *value = op->args[op->nargs - 1], *primal = vjp_primal(v, value), *old = old_value(v, op);
    rg_builder *b = v->b;
    ir_value *g = vjp_load_adjoint(v, op, p);
    ir_emit e = vjp_at(v, op);
    if (op->rmw == RG_RMW_MUL) {
        rg_dtype dtype = (rg_dtype)g->type.dtype;
        vjp_accumulate(v, value, ir_emit_2(&e, RG_OP_MUL, g, ir_emit_cast(&e, dtype, old)));
        ir_value *kept = ir_emit_2(&e, RG_OP_MUL, g, ir_emit_cast(&e, dtype, primal));
        rg_build_store(b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index,
                       ir_emit_cast(&e, (rg_dtype)p->buffer->type.dtype, kept));
        return;
    }
    ir_value *better = ir_emit_2(&e, op->rmw == RG_RMW_MIN ? RG_OP_LT : RG_OP_GT, primal, old);
    ir_value *wins = ir_emit_2(&e, RG_OP_OR, better, ir_emit_2(&e, RG_OP_NE, old, old));
    ir_value *zero = ir_emit_const(&e, (rg_dtype)g->type.dtype, 0);
    vjp_accumulate(v, value, ir_emit_3(&e, RG_OP_SELECT, wins, g, zero));
    ir_value *kept = ir_emit_3(&e, RG_OP_SELECT, wins, zero, g);
    rg_build_store(b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index,
                   ir_emit_cast(&e, (rg_dtype)p->buffer->type.dtype, kept));
}

/* -- among threads: entering ----------------------------------------------------------------------------------- */
typedef struct contest_walk {
    vjp *v;
    const ir_op *task;
    ir_op *copy; /* the task that enters */
    const ad_order *order;
} contest_walk;

static vjp_contest *
reverse_contest_of(vjp *v, const ir_op *op, const ir_op *task)
{
    for (size_t i = 0; ad_is_contest(op) && i < v->contests.n; i++) {
        vjp_contest *c = &v->contests.at[i];
        if (c->made.array == op->args[0] && c->made.op == op->rmw && c->task == task)
            return c;
    }
    return NULL;
}

static void
note_temp_root(ir_value *root, void *user)
{
    *(bool *)user |= root->def != NULL;
}

/* in a split launch: the array is the user's, and so is there after the forward launch */
static bool
lasts(vjp *v, const ir_op *op)
{
    bool temp = false;
    ir_buffer_roots(op->args[0], note_temp_root, &temp);
    if (op->rmw == RG_RMW_MUL)
        vjp_error(v, op, 512, "the gradient of an atomic multiplication needs the factors' product, which is "
                  "gone after the launch\nlaunch forward and gradient combined (RG_FORWARD_VJP)");
    else if (temp)
        vjp_error(v, op, 512, "the gradient of this atomic %s needs the array, which is gone after the launch\n"
                  "launch forward and gradient combined (RG_FORWARD_VJP)", ir_rmw_names[op->rmw]);
    return !v->failed;
}

static bool
collect_reverse_contests(ir_op *op, void *user)
{
    const contest_walk *w = user;
    vjp *v = w->v;
    if (!ad_is_contest(op)) /* a constant that wins takes the old value's adjoint, too */
        return true;
    vjp_roots q = vjp_look(v, op->args[0]);
    if (!q.any_adjoint || reverse_contest_of(v, op, w->task))
        return true;
    if ((!q.all_adjoint && vjp_lacks_adjoint(v, op, &q)) || (!v->combined && !lasts(v, op)))
        return false;
    vec_push(&v->contests, ((vjp_contest){.task = w->task, .made = {.array = op->args[0], .op = (rg_rmw)op->rmw}}));
    return true;
}

static bool
enter_update(ir_op *op, void *user)
{
    const contest_walk *w = user;
    vjp *v = w->v;
    const vjp_contest *c = reverse_contest_of(v, op, w->task);
    if (!c)
        return true;
    ir_op *copy = map_get(&v->instance_ops, map_ptr(op));
    ir_value *const *thread = w->copy->regions[0]->params;
    ad_midst m;
    rg_builder *b = ad_midst_open(&m, v->fn, copy->parent, copy, v->c);
    ir_build_loc(b, op->loc);
    ad_entry e = {.array = copy->args[0], .n = copy->nargs - 2, .index = copy->args + 1,
                  .value = copy->args[copy->nargs - 1]};
    if (c->made.op != RG_RMW_MUL) {
        ir_value *turn = ad_order_turn(b, w->order, thread, ad_contest_number(w->task, op));
        map_set(&v->turns, map_ptr(op), turn);
        e.key = ad_order_key(b, w->order, thread, turn);
    }
    ad_contest_enter(b, &c->made, &e);
    ad_midst_close(&m);
    return true;
}

/* where b stands, before the task that enters */
static ad_order
make_buffers(vjp *v, rg_builder *b, const ir_op *task, const ad_domain *domain)
{
    for (size_t i = 0; i < v->contests.n; i++) {
        vjp_contest *c = &v->contests.at[i];
        if (c->task == task)
            ad_contest_open(b, &c->made, v->instance[c->made.array->id], false);
    }
    return ad_order_open(b, domain, ad_contests_take_turns(task));
}

/* In a combined launch the forward task enters. */
static void
enter_forwards(vjp *v, const ir_op *task)
{
    ir_op *copy = map_get(&v->instance_ops, map_ptr(task));
    ad_domain domain = {.rank = copy->attr.rank};
    memcpy(domain.lo, copy->args, sizeof(*domain.lo) * domain.rank);
    memcpy(domain.hi, copy->args + domain.rank, sizeof(*domain.hi) * domain.rank);
    ad_midst m;
    rg_builder *b = ad_midst_open(&m, v->fn, copy->parent, copy->prev, v->c);
    ir_build_loc(b, task->loc);
    ad_order order = make_buffers(v, b, task, &domain);
    ad_midst_close(&m);
    ir_walk(task->regions[0], enter_update, &(contest_walk){v, task, copy, &order});
}

static bool
drop_update(ir_op *op, void *user)
{
    vjp *v = user;
    ir_op *copy = ad_is_contest(op) ? map_get(&v->instance_ops, map_ptr(op)) : NULL;
    if (copy && copy->nresults)
        vjp_drop_update(copy);
    else if (copy)
        ir_remove(copy);
    return true;
}

void
vjp_sweep_contests(vjp *v, const ir_op *task, const ad_domain *domain)
{
    ir_value *index[RG_MAX_RANK];
    const ir_region *body = task->regions[0];
    ad_order order = make_buffers(v, v->b, task, domain);
    rg_build_parallel(v->b, domain->rank, domain->lo, domain->hi, index);
    for (uint32_t k = 0; k < domain->rank; k++)
        v->instance[body->params[k]->id] = index[k];
    ir_op *sweep = ir_build_region(v->b)->op;
    v->keep_contests = true;
    vjp_clone_ops(v, body->first, ir_terminator(body), sweep->regions[0], false);
    v->keep_contests = false;
    rg_build_end(v->b);
    map_set(&v->instance_ops, map_ptr(task), sweep);
    ir_walk(task->regions[0], enter_update, &(contest_walk){v, task, sweep, &order});
    ir_walk(task->regions[0], drop_update, v);
}

bool
vjp_has_contests(const vjp *v, const ir_op *task)
{
    for (size_t i = 0; i < v->contests.n; i++)
        if (v->contests.at[i].task == task)
            return true;
    return false;
}

void
vjp_open_contests(vjp *v, const ir_op *task)
{
    if (vjp_has_contests(v, task)) /* it is reversed in several places */
        return;
    ir_walk(task->regions[0], collect_reverse_contests, &(contest_walk){.v = v, .task = task});
    if (v->failed || !vjp_has_contests(v, task))
        return;
    v->failed = !ad_contests_agree(v->from, task, &v->activity, !v->combined, v->c->diags);
    if (!v->failed && v->combined)
        enter_forwards(v, task);
}

/* where the reverse of the task begins: what was entered is recalled */
void
vjp_recall_contests(vjp *v, const ir_op *task, const ad_domain *domain)
{
    for (size_t i = 0; i < v->contests.n; i++) {
        vjp_contest *c = &v->contests.at[i];
        ir_value **kept[] = {&c->now.first, &c->now.product, &c->now.zeros, &c->now.nought, &c->now.old};
        if (c->task != task)
            continue;
        c->now = c->made;
        for (size_t k = 0; k < countof(kept); k++)
            if (*kept[k])
                *kept[k] = vjp_recalled(v, *kept[k]);
    }
    v->order = ad_order_open(v->b, domain, false);
}

/* -- among threads: reversing ------------------------------------------------------------------------------------ */
static void
reverse_threaded(vjp *v, const ir_op *op, const ad_contest *c, const vjp_place *p)
{
    ir_value *value = op->args[op->nargs - 1];
    rg_builder *b = v->b;
    if (c->op == RG_RMW_MUL) {
        ir_value *primal = vjp_primal(v, value), *g = vjp_load_adjoint(v, op, p);
        ir_value *others = ad_contest_others(b, c, p->n, p->index, primal, (rg_dtype)g->type.dtype);
        vjp_accumulate(v, value, rg_build_2(b, RG_OP_MUL, g, others));
        return;
    }
    ir_value *key = ad_order_key(b, &v->order, v->thread, vjp_recalled(v, map_get(&v->turns, map_ptr(op))));
    rg_build_if(b, rg_build_2(b, RG_OP_EQ, rg_build_load(b, RG_PRIMAL, c->first, p->n, p->index), key));
    ir_value *g = vjp_load_adjoint(v, op, p);
    ir_emit e = vjp_here(v);
    rg_build_store(b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index,
                   ir_emit_const(&e, (rg_dtype)p->buffer->type.dtype, 0));
    vjp_accumulate(v, value, g);
    rg_build_end(b);
}

void
vjp_reverse_contest(vjp *v, const ir_op *op, const vjp_place *p)
{
    const ir_op *task = vjp_task_of(op);
    const vjp_contest *c = task ? reverse_contest_of(v, op, task) : NULL;
    if (c)
        reverse_threaded(v, op, &c->now, p);
    else if (!task && v->combined)
        reverse_serial(v, op, p);
    else if (!task)
        vjp_error(v, op, 512, "the gradient of an atomic %s in serial code needs the old value, which is gone "
                  "after the launch\nlaunch forward and gradient combined (RG_FORWARD_VJP)",
                  ir_rmw_names[op->rmw]);
}

/* after the task was reversed: what each element was multiplied by goes to its adjoint */
void
vjp_close_contests(vjp *v, const ir_op *task)
{
    for (size_t i = 0; i < v->contests.n; i++) {
        const ad_contest *c = &v->contests.at[i].now;
        if (v->contests.at[i].task != task || c->op != RG_RMW_MUL)
            continue;
        ir_value *index[RG_MAX_RANK], *array = vjp_primal(v, c->array);
        uint32_t n = array->type.rank;
        ad_each_element(v->b, array, index);
        ir_value *g = rg_build_load(v->b, RG_ADJOINT, array, n, index);
        ir_value *factors = ad_contest_factors(v->b, c, n, index, (rg_dtype)g->type.dtype);
        rg_build_store(v->b, RG_ADJOINT, array, n, index, rg_build_2(v->b, RG_OP_MUL, g, factors));
        rg_build_end(v->b);
    }
}
