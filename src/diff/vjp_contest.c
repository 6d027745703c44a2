/* Reverse of atomic min, max and mul. SPDX-License-Identifier: Apache-2.0
 *
 * In serial code each update is an operation on the old value. Among threads the result does not say who
 * made it: sweeps find out (contest.h). In a combined launch they follow the task, and find what they need in
 * copies and records (sweep.h). In a split launch they come before the task is reversed, and need its inputs and the
 * array as the task left them: ad_check_split, and check_later_write, refuse the kernel if they do not stand still. */
#include "diff/sweep.h"
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
find(vjp *v, const ir_op *op, const ir_op *task)
{
    for (size_t i = 0; i < v->contests.n; i++) {
        vjp_contest *c = &v->contests.at[i];
        if (c->array == op->args[0] && c->c.op == op->rmw && c->task == task)
            return c;
    }
    return NULL;
}

/* In a split launch the array has to stand as the task left it: no write that is not surely before it. */
static bool
check_later_write(ir_op *op, void *user)
{
    contest_search *s = user;
    const vjp_contest *c = &vec_last(&s->v->contests);
    if (!(ir_ops[op->code].flags & IR_WRITE) || op->plane || op->args[0]->type.kind != IR_BUFFER)
        return true;
    const ir_region *body = s->v->from->body;
    const ir_op *mine = ir_ancestor_in((ir_op *)s->task, body), *other = ir_ancestor_in(op, body);
    for (const ir_op *o = mine->prev; o; o = o->prev)
        if (o == other)
            return true;
    if (ir_region_inside(op->parent, s->task->regions[0]) ||
        ad_contest_lets(s->v->from, s->task, c->array, c->c.op, op, body, s->v->diags))
        return true;
    s->v->failed = true;
    return false;
}

static bool
collect(ir_op *op, void *user)
{
    contest_search *s = user;
    vjp *v = s->v;
    if (!ad_is_contest(op)) /* a constant that wins takes the old value's adjoint, too */
        return true;
    vjp_roots q = vjp_look(v, op->args[0]);
    if (!q.any_adjoint || find(v, op, s->task))
        return true;
    if (!q.all_adjoint && vjp_lacks_adjoint(v, op, &q))
        return false;
    if (op->rmw == RG_RMW_MUL && !v->combined) {
        vjp_error(v, op, 512, "the gradient of an atomic multiplication needs the factors' product, which is "
                  "gone after the launch\nlaunch forward and gradient combined (rg_launch_forward_vjp)");
        return false;
    }
    vjp_contest c = {op->args[0], s->task, {.op = (rg_rmw)op->rmw}};
    vec_push(&v->contests, c);
    if (!v->combined)
        ir_walk(v->from->body, check_later_write, s);
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

/* One parallel loop that runs the task's body without effects and looks at each update. In a combined launch the
 * body is a slice of the forward task's, `again`; else (NULL) the inputs have to stand still. */
typedef struct sweep {
    vjp *v;
    const ir_op *task;
    const ad_domain *domain;
    ad_sweep *again;
    map *copies; /* again NULL: op -> its copy */
    ir_value *key;
    unsigned round;
} sweep;

/* what becomes of an update of the slice that was looked at */
static void
settle(sweep *s, const ir_op *update, ir_op *copy)
{
    if (s->again)
        ad_sweep_settle(s->again, map_get(&s->v->instance_ops, map_ptr(update)));
    else if (!copy->nresults)
        ir_remove(copy);
    else
        vjp_drop_update(copy);
}

static bool
look_at_update(ir_op *op, void *user)
{
    sweep *s = user;
    if (!ad_is_contest(op))
        return true;
    vjp_contest *c = find(s->v, op, s->task);
    ir_op *copy = !s->again ? map_get(s->copies, map_ptr(op))
                  : c       ? ad_sweep_clone(s->again, map_get(&s->v->instance_ops, map_ptr(op)))
                            : NULL;
    if (c && (s->round == 0 || c->c.op != RG_RMW_MUL)) /* products are complete after the first round */
        ad_contest_look(s->v->fn, &c->c, copy, s->key, s->round);
    if (copy)
        settle(s, op, copy);
    return true;
}

static void
sweep_again(sweep *s)
{
    ir_value *index[RG_MAX_RANK];
    rg_builder *b = s->v->b;
    rg_build_parallel(b, s->domain->rank, s->domain->lo, s->domain->hi, index);
    s->key = ad_contest_key(b, s->domain, index);
    ad_sweep_run(s->again, b, s->domain, index, s->round);
    ir_walk(s->task->regions[0], look_at_update, s);
    rg_build_end(b);
}

static void
sweep_inputs(sweep *s)
{
    vjp inner = *s->v;
    ir_value *index[RG_MAX_RANK];
    ir_region *body = s->task->regions[0];
    inner.instance = arena_new_n(inner.fn->module->arena, ir_value *, inner.from->next_id + 1);
    memcpy(inner.instance, s->v->instance, sizeof(*inner.instance) * (inner.from->next_id + 1));
    inner.instance_ops = inner.records = (map){0};
    mem_owner owns;
    mem_own(&owns, mem_release_map, &inner.instance_ops);
    inner.keep_contests = true;
    vjp_see_outer_values(&inner, s->task);
    rg_build_parallel(inner.b, s->domain->rank, s->domain->lo, s->domain->hi, index);
    for (uint32_t k = 0; k < s->domain->rank; k++)
        inner.instance[body->params[k]->id] = index[k];
    s->key = ad_contest_key(inner.b, s->domain, index);
    vjp_clone_ops(&inner, body->first, ir_terminator(body), ir_build_region(inner.b), false);
    s->copies = &inner.instance_ops;
    ir_walk(body, look_at_update, s);
    rg_build_end(inner.b);
    s->v->failed |= inner.failed;
    mem_disown(&owns);
    map_free(&inner.instance_ops);
}

/* how many sweeps contests from number `from` on need */
static unsigned
rounds_of(const vjp *v, size_t from)
{
    unsigned rounds = 1;
    for (size_t i = from; i < v->contests.n; i++)
        if (v->contests.at[i].c.op != RG_RMW_MUL)
            rounds = 2;
    return rounds;
}

/* makes the contests' buffers and fills them, where v's builder stands */
static void
find_out(vjp *v, const ir_op *task, size_t from, const ad_domain *domain, ad_sweep *again)
{
    sweep s = {.v = v, .task = task, .domain = domain, .again = again};
    for (size_t i = from; i < v->contests.n; i++)
        ad_contest_open(v->b, &v->contests.at[i].c);
    for (; s.round < rounds_of(v, from); s.round++)
        if (again)
            sweep_again(&s);
        else
            sweep_inputs(&s);
}

static bool
want_update(ir_op *op, void *user)
{
    sweep *s = user;
    vjp_contest *c = ad_is_contest(op) ? find(s->v, op, s->task) : NULL;
    if (!c)
        return true;
    ir_op *copy = map_get(&s->v->instance_ops, map_ptr(op));
    c->c.buffer = copy->args[0];
    ad_sweep_want(s->again, copy, NULL);
    return true;
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
    ad_sweep again;
    mem_owner owns;
    ad_sweep_open(&again, v->fn, copy, v->diags);
    mem_own(&owns, ad_sweep_close, &again);
    ir_walk(task->regions[0], want_update, &(sweep){.v = v, .task = task, .again = &again});
    v->failed |= !ad_sweep_solve(&again);
    if (!v->failed) {
        midst before, after;
        open_midst(v, &before, copy->parent, copy->prev);
        for (size_t i = from; i < v->contests.n; i++)
            if (v->contests.at[i].c.op == RG_RMW_MUL)
                ad_contest_keep(v->b, v->contests.at[i].c.buffer, &v->contests.at[i].c.old);
        ad_sweep_copy(&again, v->b, rounds_of(v, from));
        close_midst(v, &before);
        ad_sweep_record_all(&again);
        open_midst(v, &after, copy->parent, copy);
        find_out(v, task, from, &domain, &again);
        for (size_t i = from; i < v->contests.n; i++)
            if (v->contests.at[i].c.op != RG_RMW_MUL)
                ad_contest_keep(v->b, v->contests.at[i].c.buffer, &v->contests.at[i].c.final);
        close_midst(v, &after);
    }
    mem_disown(&owns);
    ad_sweep_close(&again);
}

/* where the task is reversed: what was found after it is recalled */
static void
recall_found(vjp *v, size_t from)
{
    for (size_t i = from; i < v->contests.n; i++) {
        ad_contest *c = &v->contests.at[i].c;
        ir_value **kept[] = {&c->first, &c->ties, &c->final, &c->product, &c->zeros, &c->nought, &c->old};
        c->buffer = vjp_primal(v, v->contests.at[i].array);
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
    if (!ad_contests_agree(v->from, task, &v->activity, v->diags)) {
        v->failed = true;
        return;
    }
    if (v->combined) {
        find_out_forwards(v, task, from);
        if (!v->failed)
            recall_found(v, from);
        return;
    }
    for (size_t i = from; i < v->contests.n; i++) {
        v->contests.at[i].c.buffer = vjp_primal(v, v->contests.at[i].array);
        v->contests.at[i].c.final = v->contests.at[i].c.buffer;
    }
    find_out(v, task, from, domain, NULL);
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
    vjp_contest *c = find(v, op, task);
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
