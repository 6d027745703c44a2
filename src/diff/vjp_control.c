/* Reverse of control flow: one rule per region kind. SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
#include "diff/reduce.h"
#include "diff/vjp.h"
#include "analysis/integers.h"

/* -- whether reversing an op does anything --------------------------------------------------------------- */
static bool
leaves_memory_alone(ir_op *op, void *user)
{
    bool writes = op->code == RG_OP_STORE || op->code == RG_OP_RMW;
    return !(writes && op->args[0]->type.kind == IR_BUFFER &&
             (ir_is_float((rg_dtype)op->args[0]->type.dtype) || vjp_put_back(user, op)));
}

static bool
is_no_task(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_PARALLEL;
}

/* Whether op leaves frames on the workers' tapes and is reversed in more than one place: in the full iterations of a
 * loop, and in each partial last one. Where it has no work in one of these, the frames have to be taken back as well. */
static bool
is_taken_back_everywhere(const vjp *v, const ir_op *op)
{
    bool left_early = false;
    if (!v->combined || v->in_parallel)
        return false;
    for (const ir_region *r = ir_around_branches(op->parent); r->op; r = ir_around_branches(r->op->parent))
        left_early |= r->op->code == RG_OP_LOOP;
    if (!left_early)
        return false;
    bool task = op->code == RG_OP_PARALLEL;
    for (uint32_t i = 0; i < op->nregions && !task; i++)
        task = !ir_walk(op->regions[i], is_no_task, NULL);
    return task;
}

bool
vjp_has_work(vjp *v, const ir_op *op, bool statically)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        if (statically ? vjp_active(v, op->results[i]) : vjp_adjoint(v, op->results[i]) != NULL)
            return true;
    for (uint32_t i = 0; i < op->nregions; i++)
        if (!ir_walk(op->regions[i], leaves_memory_alone, v))
            return true;
    return vjp_moves_undone(v, op);
}

/* -- recording -------------------------------------------------------------------------------------------- */
/* whether `exit_if %i >= bound` (going down: <=) ends the loop before %i can wrap around */
static bool
is_bounded_by(const ir_op *exit, const ir_value *i, bool up)
{
    const ir_op *compare = exit->args[0]->def;
    if (!compare || compare->nargs != 2)
        return false;
    bool first = compare->args[0] == i, second = compare->args[1] == i;
    return (first && compare->code == (up ? RG_OP_GE : RG_OP_LE)) ||
           (second && compare->code == (up ? RG_OP_LE : RG_OP_GE));
}

/* A variable of the loop's own that goes up or down by one and never wraps; NULL: there is none. */
static ir_value *
find_counter(const ir_op *loop, ir_value **start, bool *up)
{
    const ir_region *body = loop->regions[0];
    for (uint32_t k = 0; k < body->nparams; k++) {
        uint64_t step;
        ir_value *i = body->params[k];
        if (i->type.kind != IR_SCALAR || !ir_is_int((rg_dtype)i->type.dtype) || ir_bits((rg_dtype)i->type.dtype) > 32 ||
            !ir_is_induction(loop, i, start, &step))
            continue;
        *up = ir_wrap((rg_dtype)i->type.dtype, step) == 1;
        if (!*up && ir_wrap((rg_dtype)i->type.dtype, step + 1) != 0)
            continue;
        ir_for_ops(exit, body)
            if (exit->code == RG_OP_EXIT_IF && is_bounded_by(exit, i, *up))
                return i;
    }
    return NULL;
}

/* v as it is where the loop is left: one more result, unless there is one */
static ir_value *
result_for(vjp *v, ir_op *loop, ir_value *value)
{
    for (uint32_t r = 0; r < loop->nresults; r++) {
        bool same = true;
        ir_for_exits (exit, loop)
            same = same && exit->args[1 + r] == value;
        if (same)
            return loop->results[r];
    }
    ir_for_exits (exit, loop)
        ir_op_arg(exit, v->fn, value);
    return ir_op_result(loop, v->fn, value->type, value->name);
}

/* The number of full iterations: from a variable of the loop that tells, or one of our own. */
static ir_value *
iteration_count(vjp *v, ir_op *loop)
{
    ir_region *body = loop->regions[0];
    ir_emit outside = {v->fn, loop->parent, loop, loop->loc};
    ir_value *start;
    bool up;
    ir_value *counter = find_counter(loop, &start, &up);
    if (counter) {
        ir_emit after = {v->fn, loop->parent, loop->next, loop->loc};
        ir_value *from = ir_emit_cast(&after, RG_I64, start);
        ir_value *to = ir_emit_cast(&after, RG_I64, result_for(v, loop, counter));
        return up ? ir_emit_2(&after, RG_OP_SUB, to, from) : ir_emit_2(&after, RG_OP_SUB, from, to);
    }
    ir_op_arg(loop, v->fn, ir_emit_int(&outside, RG_I64, 0));
    counter = ir_region_param(body, ir_scalar(RG_I64), NULL);
    ir_emit last = {v->fn, body, ir_terminator(body), loop->loc};
    ir_op_arg(last.before, v->fn, ir_emit_2(&last, RG_OP_ADD, counter, ir_emit_int(&last, RG_I64, 1)));
    return result_for(v, loop, counter);
}

/* gives a `loop` results that say how many iterations were full and which exit was taken */
static void
count_iterations(vjp *v, ir_op *loop, vjp_record *record)
{
    ir_emit outside = {v->fn, loop->parent, loop, loop->loc};
    record->count = iteration_count(v, loop);
    int32_t exits = 0, e = 0;
    ir_for_exits (exit, loop)
        exits++;
    if (exits < 2)
        return;
    ir_for_exits (exit, loop)
        ir_op_arg(exit, v->fn, ir_emit_int(&outside, RG_I32, e++));
    record->which = ir_op_result(loop, v->fn, ir_scalar(RG_I32), NULL);
}

static vjp_record *
make_recording(vjp *v, const ir_op *op)
{
    ir_op *copy = map_get(&v->instance_ops, map_ptr(op));
    vjp_record *record = map_get(&v->records, map_ptr(copy));
    if (record)
        return record;
    record = arena_one(v->c->scratch, vjp_record);
    if (copy->code == RG_OP_LOOP)
        count_iterations(v, copy, record);
    copy->records = true;
    record->trace = ir_op_result(copy, v->fn, ir_trace(), NULL);
    map_set(&v->records, map_ptr(copy), record);
    return record;
}

/* -- if --------------------------------------------------------------------------------------------------- */
static void
reverse_arm(vjp *v, const ir_region *arm, ir_value *const *g)
{
    const ir_op *end = ir_terminator(arm);
    vjp_declare(v, arm, end);
    for (uint32_t i = 0; i < end->nargs; i++)
        vjp_accumulate(v, end->args[i], g[i]);
    vjp_reverse(v, end->prev);
}

/* the results' adjoints */
static ir_value **
result_adjoints(vjp *v, const ir_op *op)
{
    ir_value **g = arena_new_n(v->c->scratch, ir_value *, op->nresults + 1);
    for (uint32_t i = 0; i < op->nresults; i++)
        g[i] = vjp_adjoint(v, op->results[i]);
    return g;
}

static void
reverse_if(vjp *v, const ir_op *op)
{
    ir_value **g = result_adjoints(v, op);
    rg_build_if(v->b, vjp_primal(v, op->args[0]));
    reverse_arm(v, op->regions[0], g);
    rg_build_else(v->b);
    reverse_arm(v, op->regions[1], g);
    rg_build_end(v->b);
}

/* -- loops: the partial last iteration, then the full ones from last to first ------------------------------- */
typedef struct carried {
    const ir_op *op;
    uint32_t n, first_init, first_param;
    rg_var *state; /* adjoint of each carried value between iterations; NULL: not active */
} carried;

static carried
open_carried(vjp *v, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    carried c = {.op = op, .first_init = ir_first_init(op), .first_param = op->code == RG_OP_FOR};
    c.n = body->nparams - c.first_param;
    c.state = arena_new_n(v->c->scratch, rg_var, c.n + 1);
    for (uint32_t j = 0; j < c.n; j++) {
        const ir_value *p = body->params[c.first_param + j];
        bool leaves = op->code == RG_OP_FOR && vjp_active(v, op->results[j]);
        if (!vjp_active(v, p) && !leaves) /* the result may be a value that the body never reads */
            continue;
        rg_type type = {ir_adjoint_dtype((rg_dtype)p->type.dtype), p->type.length};
        c.state[j] = rg_build_var(v->b, (rg_str){0}, type);
    }
    return c;
}

/* what stands in the parameters' adjoints becomes the state */
static void
take_state(vjp *v, carried *c)
{
    for (uint32_t j = 0; j < c->n; j++)
        if (c->state[j])
            rg_build_set(v->b, c->state[j],
                         vjp_adjoint_or_zero(v, c->op->regions[0]->params[c->first_param + j]));
}

static void
reverse_exit(vjp *v, carried *c, const ir_op *exit, ir_value *const *g)
{
    vjp_declare(v, c->op->regions[0], exit);
    for (uint32_t i = 0; i + 1 < exit->nargs; i++)
        vjp_accumulate(v, exit->args[1 + i], g[i]);
    vjp_reverse(v, exit->prev);
    take_state(v, c);
}

/* which exit was taken: a chain of ifs, the last exit in the last else */
static void
reverse_exits(vjp *v, carried *c, vjp_record *record, ir_value *const *g)
{
    int32_t exits = 0, e = 0;
    ir_for_exits (exit, c->op)
        exits++;
    ir_for_exits (exit, c->op) {
        bool last = ++e == exits;
        if (!last)
            rg_build_if(v->b, rg_build_2(v->b, RG_OP_EQ, vjp_recalled(v, record->which),
                                         rg_build_int(v->b, RG_I32, e - 1)));
        reverse_exit(v, c, exit, g);
        if (!last)
            rg_build_else(v->b);
    }
    for (; e > 1; e--)
        rg_build_end(v->b);
}

/* Whether an iteration that ends early has made none of its arrays yet. */
static bool
arrays_are_whole(const ir_region *body)
{
    bool made = false;
    ir_for_ops(op, body)
    {
        if (op->code == RG_OP_EXIT_IF && made)
            return false;
        made |= op->nresults && op->results[0]->type.kind == IR_ARRAY;
    }
    return true;
}

static void
reverse_iterations(vjp *v, carried *c, vjp_record *record)
{
    const ir_region *body = c->op->regions[0];
    const ir_op *end = ir_terminator(body);
    ir_emit e = vjp_at(v, c->op);
    ir_value *iteration;
    ir_value *count = record->count
                          ? vjp_recalled(v, record->count)
                          : ad_for_count(&e, vjp_primal(v, c->op->args[0]),
                                         vjp_primal(v, c->op->args[1]), c->op->attr.step);
    ir_build_unwind(v->b, vjp_recalled(v, record->trace), count, &iteration);
    vjp_declare(v, body, end);
    for (uint32_t j = 0; j < c->n; j++)
        if (c->state[j])
            vjp_accumulate(v, end->args[j], rg_build_get(v->b, c->state[j]));
    bool undo = v->in_parallel && arrays_are_whole(body);
    if (undo)
        vjp_open_undone(v, body);
    vjp_reverse(v, end->prev);
    if (undo)
        vjp_close_undone(v, body);
    take_state(v, c);
    rg_build_end(v->b);
}

static void
reverse_loop(vjp *v, const ir_op *op)
{
    vjp_record *record = make_recording(v, op);
    ir_value **g = result_adjoints(v, op);
    carried c = open_carried(v, op);
    if (op->code == RG_OP_FOR) {
        for (uint32_t j = 0; j < c.n; j++)
            if (c.state[j] && g[j])
                rg_build_set(v->b, c.state[j], g[j]);
    } else {
        reverse_exits(v, &c, record, g);
    }
    reverse_iterations(v, &c, record);
    for (uint32_t j = 0; j < c.n; j++)
        if (c.state[j])
            vjp_accumulate(v, op->args[c.first_init + j], rg_build_get(v->b, c.state[j]));
}

/* -- parallel ------------------------------------------------------------------------------------------------ */
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
    uint32_t sums = v->combined ? op->nresults : 0;
    rg_var *sum = arena_new_n(v->c->scratch, rg_var, sums + 1);
    for (uint32_t k = 0; k < sums; k++) {
        sum[k] = rg_build_var(v->b, (rg_str){0}, (rg_type){(rg_dtype)op->results[k]->type.dtype, 0});
        rg_build_set(v->b, sum[k], vjp_primal(v, op->args[ir_first_init(op) + k]));
    }
    open_reverse_task(v, t, index);
    for (uint32_t k = 0; k < sums; k++)
        rg_build_reduce(v->b, sum[k], RG_RMW_ADD);
    for (uint32_t k = 0; k < t->domain.rank; k++)
        v->instance[body->params[k]->id] = index[k];
    vjp_clone_ops(v, body->first, ir_terminator(body), ir_build_region(v->b), v->combined);
    for (uint32_t k = 0; k < sums; k++)
        rg_build_set(v->b, sum[k], vjp_primal(v, ir_terminator(body)->args[k]));
    vjp_open_undone(v, body);
    reverse_thread(v, t, index);
    rg_build_end(v->b);
    for (uint32_t k = 0; k < sums; k++)
        v->instance[op->results[k]->id] = rg_build_get(v->b, sum[k]);
}

/* The forward task ran earlier and recorded; its threads are reversed from last to first. */
static void
reverse_task_rewind(vjp *v, task *t)
{
    ir_value *index[RG_MAX_RANK];
    ir_value *trace = vjp_recalled(v, make_recording(v, t->op)->trace);
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

static void
reverse_parallel(vjp *v, const ir_op *op)
{
    task t = {.op = op, .outer = {.task = op}, .domain = {.rank = op->attr.rank}};
    t.outer.at.in = t.outer.seen.in = t.arrays.in = v->c->scratch;
    ir_walk(op->regions[0], collect_free, &t.outer);
    t.g = result_adjoints(v, op);
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

/* -- entry points ---------------------------------------------------------------------------------------------- */
static void
clone_kernel(vjp *v, bool late)
{
    const ir_region *body = v->from->body;
    for (const ir_op *op = body->first; op != ir_terminator(body); op = op->next)
        if (!map_get(&v->swept, map_ptr(op)) && late == (map_get(&v->late, map_ptr(op)) != NULL))
            vjp_clone_ops(v, op, op->next, v->fn->body, v->combined);
}

void
vjp_clone_kernel(vjp *v)
{
    clone_kernel(v, false);
}

void
vjp_reverse_control(vjp *v, const ir_op *op)
{
    if (!map_get(&v->swept, map_ptr(op)) && !vjp_has_work(v, op, is_taken_back_everywhere(v, op)))
        return;
    if (op->code == RG_OP_IF)
        reverse_if(v, op);
    else if (op->code == RG_OP_PARALLEL)
        reverse_parallel(v, op);
    else
        reverse_loop(v, op);
    if (op == v->first_swept)
        clone_kernel(v, true);
}
