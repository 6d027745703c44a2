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

/* Another write that would spoil what the sweeps look at: of the task itself, and, where the sweeps run
 * only when the task is reversed, of anything that is not surely before it. */
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
    bool before = s->v->combined;
    for (const ir_op *o = mine->prev; o; o = o->prev)
        before |= o == other;
    if (inside ? op->code == RG_OP_RMW && op->rmw == c->c.op : before)
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
    if (!ad_is_contest(op)) /* a constant that wins takes the old value's adjoint, too */
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
    vjp_contest c = {root, s->task, {.op = (rg_rmw)op->rmw}};
    vec_push(&v->contests, c);
    ir_walk(v->from->body, check_other_write, s);
    return !v->failed;
}

/* -- building in the midst of a region ------------------------------------------------------------------------
 * The ops behind `after` (NULL: all) are taken off, a builder continues there, and they come back. */
typedef struct midst {
    rg_builder *outer;
    ir_region *region;
    ir_op *tail, *tail_last;
    mem_owner owns;
} midst;

static void
release_builder(void *builder)
{
    rg_builder_destroy(builder);
}

static void
open_midst(vjp *v, midst *m, ir_region *region, ir_op *after)
{
    *m = (midst){v->b, region, after ? after->next : region->first, region->last, {0}};
    region->last = after;
    if (after)
        after->next = NULL;
    else
        region->first = NULL;
    if (m->tail)
        m->tail->prev = NULL;
    v->b = ir_builder_on(v->fn->module, v->diags);
    mem_own(&m->owns, release_builder, m->outer); /* v->b is now the inner one */
    ir_builder_enter(v->b, v->fn, region);
}

static void
close_midst(vjp *v, midst *m)
{
    ir_builder_leave(v->b);
    mem_disown(&m->owns);
    rg_builder_destroy(v->b);
    v->b = m->outer;
    if (!m->tail)
        return;
    m->tail->prev = m->region->last;
    if (m->region->last)
        m->region->last->next = m->tail;
    else
        m->region->first = m->tail;
    m->region->last = m->tail_last;
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
    s.instance = arena_new_n(v->fn->module->arena, ir_value *, v->from->next_id + 1);
    memcpy(s.instance, v->instance, sizeof(*s.instance) * (v->from->next_id + 1));
    s.instance_ops = s.records = (map){0};
    ir_op_list updates = {0};
    mem_owner owns_ops, owns_updates;
    mem_own(&owns_ops, mem_release_map, &s.instance_ops);
    mem_own(&owns_updates, mem_release_ptr, &updates.at);
    s.keep_contests = true;
    vjp_see_outer_values(&s, task);
    rg_build_parallel(s.b, domain->rank, domain->lo, domain->hi, index);
    for (uint32_t k = 0; k < domain->rank; k++)
        s.instance[task->regions[0]->params[k]->id] = index[k];
    ir_value *key = ad_contest_key(s.b, domain, index);
    ir_region *body = ir_build_region(s.b);
    vjp_clone_ops(&s, task->regions[0]->first, ir_terminator(task->regions[0]), body, false);
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
    mem_disown(&owns_updates);
    mem_disown(&owns_ops);
    vec_free(&updates);
    map_free(&s.instance_ops);
}

/* makes the contests' buffers and fills them, where v's builder stands */
static void
find_out(vjp *v, const ir_op *task, size_t from, const ad_domain *domain)
{
    bool ties = false;
    for (size_t i = from; i < v->contests.n; i++) {
        ties |= v->contests.at[i].c.op != RG_RMW_MUL;
        ad_contest_open(v->b, &v->contests.at[i].c);
    }
    sweep(v, task, domain, 0);
    if (!ties)
        return;
    for (size_t i = from; i < v->contests.n; i++) /* products are complete after the first round */
        if (v->contests.at[i].c.op == RG_RMW_MUL)
            v->contests.at[i].task = NULL;
    sweep(v, task, domain, 1);
    for (size_t i = from; i < v->contests.n; i++)
        v->contests.at[i].task = task;
}

/* In a combined launch: right after the forward task; what is found is kept until its reverse. */
static void
find_out_forwards(vjp *v, const ir_op *task, size_t from)
{
    ir_op *copy = map_get(&v->instance_ops, map_ptr(task));
    ad_domain domain = {.rank = copy->attr.rank};
    for (uint32_t k = 0; k < domain.rank; k++) {
        domain.lo[k] = copy->args[k];
        domain.hi[k] = copy->args[domain.rank + k];
    }
    midst before, after;
    open_midst(v, &before, copy->parent, copy->prev);
    for (size_t i = from; i < v->contests.n; i++) {
        v->contests.at[i].c.buffer = vjp_primal(v, (ir_value *)v->contests.at[i].root);
        if (v->contests.at[i].c.op == RG_RMW_MUL)
            ad_contest_keep(v->b, v->contests.at[i].c.buffer, &v->contests.at[i].c.old);
    }
    close_midst(v, &before);
    open_midst(v, &after, copy->parent, copy);
    v->right_after = true;
    find_out(v, task, from, &domain);
    v->right_after = false;
    for (size_t i = from; i < v->contests.n; i++)
        if (v->contests.at[i].c.op != RG_RMW_MUL)
            ad_contest_keep(v->b, v->contests.at[i].c.buffer, &v->contests.at[i].c.final);
    close_midst(v, &after);
    for (size_t i = from; i < v->contests.n; i++) {
        ad_contest *c = &v->contests.at[i].c;
        ir_value **kept[] = {&c->first, &c->ties, &c->final, &c->product, &c->zeros, &c->nought, &c->old};
        for (size_t n = 0; n < countof(kept); n++)
            if (*kept[n])
                *kept[n] = vjp_recalled(v, *kept[n]);
    }
}

void
vjp_open_contests(vjp *v, const ir_op *task, const ad_domain *domain)
{
    contest_search search = {v, task};
    size_t from = v->contests.n;
    for (size_t i = 0; i < from; i++) /* of another reverse of the same task */
        if (v->contests.at[i].task == task)
            v->contests.at[i].task = NULL;
    ir_walk(task->regions[0], collect, &search);
    if (v->failed || from == v->contests.n)
        return;
    if (v->combined) {
        find_out_forwards(v, task, from);
        return;
    }
    for (size_t i = from; i < v->contests.n; i++) {
        v->contests.at[i].c.buffer = vjp_primal(v, (ir_value *)v->contests.at[i].root);
        v->contests.at[i].c.final = v->contests.at[i].c.buffer;
    }
    find_out(v, task, from, domain);
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
    if (v->failed) /* contests may not have been opened */
        return;
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
