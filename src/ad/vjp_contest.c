/* Reverse of atomic min, max and mul. SPDX-License-Identifier: Apache-2.0
 *
 * In serial code each update is an operation on the old value. Among threads the result does not say who
 * made it: sweeps before the task is reversed find out (contest.h). They need the task's inputs and the
 * array as the task left them; ad_check_split refuses the kernel if they do not stand still. */
#include "ad/vjp.h"

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
    ad_emit e = vjp_at(v, op);
    if (op->rmw == RG_RMW_MUL) {
        rg_dtype dtype = (rg_dtype)g->type.dtype;
        vjp_accumulate(v, value, ad_op2(&e, RG_OP_MUL, g, ad_cast(&e, dtype, old)));
        ir_value *kept = ad_op2(&e, RG_OP_MUL, g, ad_cast(&e, dtype, primal));
        rg_build_store(b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index,
                       ad_cast(&e, (rg_dtype)p->buffer->type.dtype, kept));
        return;
    }
    ir_value *better = ad_op2(&e, op->rmw == RG_RMW_MIN ? RG_OP_LT : RG_OP_GT, primal, old);
    ir_value *wins = ad_op2(&e, RG_OP_OR, better, ad_op2(&e, RG_OP_NE, old, old));
    ir_value *zero = ad_const(&e, (rg_dtype)g->type.dtype, 0);
    vjp_accumulate(v, value, ad_op3(&e, RG_OP_SELECT, wins, g, zero));
    ir_value *kept = ad_op3(&e, RG_OP_SELECT, wins, zero, g);
    rg_build_store(b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index,
                   ad_cast(&e, (rg_dtype)p->buffer->type.dtype, kept));
}

/* -- among threads: finding out ------------------------------------------------------------------------------- */
typedef struct contest_search {
    vjp *v;
    const ir_op *task;
} contest_search;

static vjp_contest *
find(vjp *v, const ir_value *root, const ir_op *task)
{
    for (size_t i = 0; i < v->contests.n; i++)
        if (v->contests.at[i].root == root && v->contests.at[i].task == task)
            return &v->contests.at[i];
    return NULL;
}

/* another write that would spoil what the sweeps look at */
static bool
check_other_write(ir_op *op, void *user)
{
    contest_search *s = user;
    vjp_contest *c = &vec_last(&s->v->contests);
    if ((op->code != RG_OP_STORE && op->code != RG_OP_RMW) || op->plane || op->args[0] != c->root)
        return true;
    const ir_region *body = s->v->from->body;
    ir_op *mine = ir_ancestor_in((ir_op *)s->task, body), *other = ir_ancestor_in(op, body);
    bool inside = ir_region_inside(op->parent, s->task->regions[0]);
    bool before = false;
    for (const ir_op *o = mine->prev; o && !inside; o = o->prev)
        before |= o == other;
    if (before || (inside && op->code == RG_OP_RMW && op->rmw == c->c.op))
        return true;
    vjp_error(s->v, op, 512, "`%s` is the target of an atomic %s whose gradient needs the final values, and is "
              "written here as well\nwrite to another array", c->root->name ? c->root->name : "an array",
              ir_rmw_names[c->c.op]);
    return false;
}

static bool
collect(ir_op *op, void *user)
{
    contest_search *s = user;
    vjp *v = s->v;
    if (!ad_is_contest(op) || !vjp_active(v, op->args[op->nargs - 1]))
        return true;
    ir_value *root = op->args[0];
    if (root->def && root->def->code == RG_OP_PICK) {
        vjp_error(v, op, 512, "atomic %s through a pointer that changes has no gradient\n"
                  "name the array directly", ir_rmw_names[op->rmw]);
        return false;
    }
    if (!v->activity.has_adjoint[root->id] || find(v, root, s->task))
        return true;
    if (op->rmw == RG_RMW_MUL && !v->combined) {
        vjp_error(v, op, 512, "the gradient of an atomic multiplication needs the factors' product, which is "
                  "gone after the launch\nlaunch forward and gradient combined (rg_launch_forward_vjp)");
        return false;
    }
    vjp_contest c = {root, s->task, {.buffer = vjp_primal(v, root), .op = (rg_rmw)op->rmw}};
    vec_push(&v->contests, c);
    ir_walk(v->from->body, check_other_write, s);
    return !v->failed;
}

/* keeps the elements as they were before the forward task */
static void
keep_old(vjp *v, vjp_contest *c)
{
    ir_op *task = map_get(&v->instance_ops, map_ptr(c->task));
    ir_region *aside = ir_region_new(v->fn, NULL);
    rg_builder *b = ir_builder_on(v->fn->module, v->diags);
    ir_builder_enter(b, v->fn, aside);
    ad_contest_keep_old(b, &c->c);
    ir_builder_leave(b);
    rg_builder_destroy(b);
    for (ir_op *op = aside->first, *next; op; op = next) {
        next = op->next;
        ir_remove(op);
        ir_insert_before(task, op);
    }
    c->c.old = vjp_recalled(v, c->c.old);
}

static bool
collect_updates(ir_op *op, void *user)
{
    ir_op_list *list = user;
    if (ad_is_contest(op))
        vec_push(list, op);
    return true;
}

/* one parallel loop that runs the task's body without effects and looks at each update */
static void
sweep(vjp *v, const ir_op *task, const ad_domain *domain, unsigned round)
{
    vjp s = *v;
    ir_value *index[RG_MAX_RANK];
    size_t bytes = sizeof(*s.instance) * (v->from->next_id + 1);
    s.instance = mem_alloc(bytes);
    memcpy(s.instance, v->instance, bytes);
    s.instance_ops = s.records = (map){0};
    s.keep_contests = true;
    vjp_see_outer_values(&s, task);
    rg_build_parallel(s.b, domain->rank, domain->lo, domain->hi, index);
    for (uint32_t k = 0; k < domain->rank; k++)
        s.instance[task->regions[0]->params[k]->id] = index[k];
    ir_value *key = ad_contest_key(s.b, domain, index);
    ir_region *body = ir_build_region(s.b);
    vjp_clone_ops(&s, task->regions[0]->first, ir_terminator(task->regions[0]), body, false);
    ir_op_list updates = {0};
    ir_walk(body, collect_updates, &updates);
    for (size_t i = 0; i < updates.n; i++) {
        ir_op *op = updates.at[i];
        size_t c = 0;
        while (c < v->contests.n && !(v->contests.at[c].task == task && v->contests.at[c].c.buffer == op->args[0]))
            c++;
        if (c == v->contests.n)
            ir_remove(op);
        else
            ad_contest_look(v->fn, &v->contests.at[c].c, op, key, round);
    }
    rg_build_end(s.b);
    vec_free(&updates);
    map_free(&s.instance_ops);
    mem_free(s.instance);
}

void
vjp_open_contests(vjp *v, const ir_op *task, const ad_domain *domain)
{
    contest_search search = {v, task};
    size_t before = v->contests.n;
    ir_walk(task->regions[0], collect, &search);
    bool ties = false;
    for (size_t i = before; i < v->contests.n && !v->failed; i++) {
        vjp_contest *c = &v->contests.at[i];
        if (c->c.op == RG_RMW_MUL)
            keep_old(v, c);
        else
            ties = true;
        ad_contest_open(v->b, &c->c);
    }
    if (v->failed || before == v->contests.n)
        return;
    sweep(v, task, domain, 0);
    if (ties) {
        /* products are complete after the first round */
        for (size_t i = before; i < v->contests.n; i++)
            if (v->contests.at[i].c.op == RG_RMW_MUL)
                v->contests.at[i].task = NULL;
        sweep(v, task, domain, 1);
        for (size_t i = before; i < v->contests.n; i++)
            v->contests.at[i].task = task;
    }
}

/* -- among threads: reversing ------------------------------------------------------------------------------------ */
static void
reverse_threaded(vjp *v, const ir_op *op, const vjp_contest *found, const vjp_place *p)
{
    const ad_contest *c = &found->c;
    ir_value *value = op->args[op->nargs - 1], *primal = vjp_primal(v, value);
    rg_builder *b = v->b;
    if (c->op == RG_RMW_MUL) {
        ir_value *g = vjp_load_adjoint(v, op, p);
        ir_value *others = ad_contest_others(b, c, p->n, p->index, primal, (rg_dtype)g->type.dtype);
        vjp_accumulate(v, value, rg_build_2(b, RG_OP_MUL, g, others));
        return;
    }
    /* threads go backwards: of this thread's ties the last to come is the first it made */
    rg_build_if(b, ad_contest_won(b, c, p->n, p->index, primal, v->thread_key));
    ir_value *left = rg_build_rmw(b, RG_PRIMAL, RG_RMW_ADD, false, c->ties, p->n, p->index,
                                  rg_build_int(b, RG_I64, -1), NULL);
    rg_build_if(b, rg_build_2(b, RG_OP_EQ, left, rg_build_int(b, RG_I64, 1)));
    ir_value *g = vjp_load_adjoint(v, op, p);
    ad_emit e = vjp_here(v);
    rg_build_store(b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index,
                   ad_const(&e, (rg_dtype)p->buffer->type.dtype, 0));
    vjp_accumulate(v, value, g);
    rg_build_end(b);
    rg_build_end(b);
}

void
vjp_reverse_contest(vjp *v, const ir_op *op, const vjp_place *p)
{
    const ir_op *task = vjp_task_of(op);
    if (!vjp_active(v, op->args[op->nargs - 1]) && task)
        return;
    if (!task) {
        if (!v->combined)
            vjp_error(v, op, 512, "the gradient of an atomic %s in serial code needs the old value, which is gone "
                      "after the launch\nlaunch forward and gradient combined (rg_launch_forward_vjp)",
                      ir_rmw_names[op->rmw]);
        else
            reverse_serial(v, op, p);
        return;
    }
    vjp_contest *c = find(v, op->args[0], task);
    if (c)
        reverse_threaded(v, op, c, p);
}

/* after the task was reversed: what each element was multiplied by goes to its adjoint */
void
vjp_close_contests(vjp *v, const ir_op *task)
{
    for (size_t i = 0; i < v->contests.n; i++) {
        const ad_contest *c = &v->contests.at[i].c;
        if (v->contests.at[i].task != task || c->op != RG_RMW_MUL)
            continue;
        ir_value *index[RG_MAX_RANK];
        uint32_t n = c->buffer->type.rank;
        ad_each_element(v->b, c->buffer, index);
        ir_value *g = rg_build_load(v->b, RG_ADJOINT, c->buffer, n, index);
        ir_value *factors = ad_contest_factors(v->b, c, n, index, (rg_dtype)g->type.dtype);
        rg_build_store(v->b, RG_ADJOINT, c->buffer, n, index, rg_build_2(v->b, RG_OP_MUL, g, factors));
        rg_build_end(v->b);
    }
}
