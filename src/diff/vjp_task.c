/* Reverse of parallel loops: a thread is swept and reversed at once, or its records are rewound. SPDX-License-Identifier: Apache-2.0 */
#include "diff/reduce.h"
#include "diff/vjp.h"

typedef struct free_values {
    const ir_op *task;
    vec(ir_value *) at;
    map seen;
} free_values;

static bool
collect_free(ir_op *op, void *user)
{
    free_values *f = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *a = op->args[i];
        if (ir_region_inside(a->region, f->task->regions[0]) || map_get(&f->seen, map_ptr(a)))
            continue;
        map_set(&f->seen, map_ptr(a), a);
        vec_push(&f->at, a);
    }
    return true;
}

/* A local array of the kernel that threads read: each thread has an adjoint of its own for it, and they are summed in a temp. */
typedef struct shared_array {
    const ir_value *array;
    rg_var outside; /* its adjoint around the task */
    ir_value *sums;
} shared_array;

/* What the reverse of one parallel loop needs everywhere in it. */
typedef struct task {
    const ir_op *op;
    free_values outer;
    vec(shared_array) arrays;
    ir_value **g;       /* adjoints of the reductions' results; NULL: none */
    ad_reduction *look; /* of those that are not sums */
    ad_domain domain;
} task;

static void
open_shared_arrays(vjp *v, task *t)
{
    for (size_t i = 0; i < t->outer.at.n; i++) {
        const ir_value *a = t->outer.at.at[i];
        if (a->type.kind != IR_ARRAY || !vjp_active(v, a))
            continue;
        ir_value *length = rg_build_int(v->b, RG_I64, a->type.length);
        rg_dtype dtype = ir_adjoint_dtype((rg_dtype)a->type.dtype);
        vec_push(&t->arrays, ((shared_array){a, v->adjoint[a->id], rg_build_temp(v->b, dtype, 1, &length)}));
    }
}

/* in a thread, whose sums of them begin with nothing */
static void
declare_shared_arrays(vjp *v, const task *t)
{
    for (size_t i = 0; i < t->arrays.n; i++) {
        const ir_value *a = t->arrays.at[i].array;
        rg_type type = {ir_adjoint_dtype((rg_dtype)a->type.dtype), a->type.length};
        v->adjoint[a->id] = rg_build_var(v->b, (rg_str){0}, type);
    }
}

/* element by element; what a thread has not touched costs nothing where its adjoint was never set */
static void
add_shared_arrays(vjp *v, const task *t)
{
    for (size_t i = 0; i < t->arrays.n; i++) {
        const shared_array *s = &t->arrays.at[i];
        ir_value *g = vjp_adjoint(v, s->array), *index;
        if (!g)
            continue;
        rg_build_for(v->b, rg_build_int(v->b, RG_I64, 0), rg_build_int(v->b, RG_I64, s->array->type.length), 1, &index);
        rg_build_rmw(v->b, RG_PRIMAL, RG_RMW_ADD, true, s->sums, 1, &index, rg_build_extract(v->b, g, index), NULL);
        rg_build_end(v->b);
    }
}

static void
close_shared_arrays(vjp *v, task *t)
{
    for (size_t i = 0; i < t->arrays.n; i++) {
        const shared_array *s = &t->arrays.at[i];
        ir_emit e = vjp_here(v);
        rg_type type = {ir_adjoint_dtype((rg_dtype)s->array->type.dtype), s->array->type.length};
        rg_var g = rg_build_var(v->b, (rg_str){0}, type);
        ir_value *index;
        rg_build_set(v->b, g, ir_emit_zero(&e, ir_array(type.dtype, type.length)));
        rg_build_for(v->b, rg_build_int(v->b, RG_I64, 0), rg_build_int(v->b, RG_I64, type.length), 1, &index);
        rg_build_set(v->b, g, rg_build_insert(v->b, rg_build_get(v->b, g), index,
                                              rg_build_load(v->b, RG_PRIMAL, s->sums, 1, &index)));
        rg_build_end(v->b);
        v->adjoint[s->array->id] = s->outside;
        vjp_accumulate(v, s->array, rg_build_get(v->b, g));
    }
}

static void
reverse_thread(vjp *v, const task *t, ir_value *const *index)
{
    const ir_region *body = t->op->regions[0];
    const ir_op *end = ir_terminator(body);
    bool was = v->in_parallel;
    v->in_parallel = true;
    v->thread = index;
    vjp_declare(v, body, end);
    for (uint32_t i = 0; i < end->nargs; i++) {
        ir_value *g = t->g[i];
        if (g && t->op->reduce[i] != RG_RMW_ADD)
            g = ad_reduce_share(v->b, &t->look[i], ad_thread_number(v->b, &t->domain, index),
                                vjp_primal(v, end->args[i]), g);
        vjp_accumulate(v, end->args[i], g);
    }
    vjp_reverse(v, end->prev);
    add_shared_arrays(v, t);
    v->in_parallel = was;
}

/* opens the parallel loop of the reverse: the same domain, with reductions for the adjoints of values
 * that all threads read */
static void
open_reverse_task(vjp *v, task *t, ir_value **index)
{
    rg_build_parallel(v->b, t->domain.rank, t->domain.lo, t->domain.hi, index);
    for (uint32_t k = 0; k < t->domain.rank; k++)
        index[k]->name = t->op->regions[0]->params[k]->name;
    for (size_t i = 0; i < t->outer.at.n; i++) {
        const ir_value *a = t->outer.at.at[i];
        if (a->type.kind == IR_SCALAR && vjp_active(v, a))
            rg_build_reduce(v->b, v->adjoint[a->id], RG_RMW_ADD);
    }
    declare_shared_arrays(v, t);
}

/* Sweep and reverse in one: each thread runs its forward part where it is reversed. A combined launch wants the task's sums. */
static void
reverse_task_here(vjp *v, task *t)
{
    ir_value *index[RG_MAX_RANK];
    const ir_op *op = t->op;
    const ir_region *body = op->regions[0];
    rg_var *sum = v->combined ? vjp_declare_results(v, op) : NULL;
    open_reverse_task(v, t, index);
    for (uint32_t k = 0; sum && k < op->nresults; k++)
        rg_build_reduce(v->b, sum[k], RG_RMW_ADD);
    for (uint32_t k = 0; k < t->domain.rank; k++)
        v->instance[body->params[k]->id] = index[k];
    vjp_choose_swept(v, body);
    vjp_clone_region(v, body, ir_build_region(v->b));
    vjp_open_undone(v, body);
    reverse_thread(v, t, index);
    if (sum)
        vjp_set_results(v, sum, body);
    rg_build_end(v->b);
    if (sum)
        vjp_give_results(v, sum, op);
}

/* The forward task ran earlier and recorded; its threads are reversed from last to first. */
static void
reverse_task_rewind(vjp *v, task *t)
{
    ir_value *index[RG_MAX_RANK];
    ir_value *trace = vjp_recalled(v, vjp_make_recording(v, t->op)->trace);
    open_reverse_task(v, t, index);
    ir_build_rewinds(v->b, trace);
    reverse_thread(v, t, index);
    rg_build_end(v->b);
}

/* The reductions' own derivatives: each initial value's share now, each thread's later. */
static void
reverse_reductions(vjp *v, task *t)
{
    const ir_op *op = t->op;
    for (uint32_t i = 0; i < op->nresults && !v->failed; i++) {
        ir_value *initial = op->args[ir_first_init(op) + i];
        ir_value *share = t->g[i];
        if (share && op->reduce[i] != RG_RMW_ADD) {
            ir_op *copy = map_get(&v->instance_ops, map_ptr(op));
            ir_value *kept = ad_keep(v->fn, copy, ir_terminator(copy->regions[0])->args[i]);
            t->look[i] = ad_reduce_look(v->b, &t->domain, (rg_rmw)op->reduce[i],
                                        vjp_recalled(v, kept),
                                        vjp_primal(v, op->results[i]), vjp_primal(v, initial));
            share = ad_reduce_share(v->b, &t->look[i], rg_build_int(v->b, RG_I64, -1),
                                    vjp_primal(v, initial), share);
        }
        vjp_accumulate(v, initial, share);
    }
}

/* What the task reads from outside is made visible before its reverse opens: buffers are picked and
 * values recalled at kernel level. */
static void
reverse_task(vjp *v, task *t)
{
    size_t n = t->outer.at.n;
    ir_value **kept = arena_new_n(v->c->scratch, ir_value *, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t id = t->outer.at.at[i]->id;
        kept[i] = v->instance[id];
        v->instance[id] = vjp_primal(v, t->outer.at.at[i]);
    }
    open_shared_arrays(v, t);
    bool contests = vjp_has_contests(v, t->op);
    ir_op *forward = map_get(&v->instance_ops, map_ptr(t->op)); /* a sweep takes its place while this reverse is made */
    if (contests && !v->combined)
        vjp_sweep_contests(v, t->op, &t->domain);
    if (contests)
        vjp_recall_contests(v, t->op, &t->domain);
    if (v->combined ? map_get(&v->swept, map_ptr(t->op)) != NULL : !contests)
        reverse_task_here(v, t);
    else
        reverse_task_rewind(v, t);
    map_set(&v->instance_ops, map_ptr(t->op), forward);
    close_shared_arrays(v, t);
    for (size_t i = 0; i < n; i++)
        v->instance[t->outer.at.at[i]->id] = kept[i];
}

void
vjp_reverse_task(vjp *v, const ir_op *op)
{
    task t = {.op = op, .outer = {.task = op}, .domain = {.rank = op->attr.rank}};
    t.outer.at.in = t.outer.seen.in = t.arrays.in = v->c->scratch;
    ir_walk(op->regions[0], collect_free, &t.outer);
    t.g = vjp_result_adjoints(v, op);
    t.look = arena_new_n(v->c->scratch, ad_reduction, op->nresults + 1);
    for (uint32_t k = 0; k < op->attr.rank; k++) {
        t.domain.lo[k] = vjp_primal(v, op->args[k]);
        t.domain.hi[k] = vjp_primal(v, op->args[op->attr.rank + k]);
    }
    reverse_reductions(v, &t);
    if (!v->failed)
        vjp_open_contests(v, op);
    if (!v->failed && !v->in_parallel)
        vjp_open_exclusive(v, op);
    if (!v->failed)
        reverse_task(v, &t);
    if (!v->failed)
        vjp_close_contests(v, op);
}
