/* Reverse of control flow: one rule per region kind. SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
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

vjp_record *
vjp_make_recording(vjp *v, const ir_op *op)
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

ir_value **
vjp_result_adjoints(vjp *v, const ir_op *op)
{
    ir_value **g = arena_new_n(v->c->scratch, ir_value *, op->nresults + 1);
    for (uint32_t i = 0; i < op->nresults; i++)
        g[i] = vjp_adjoint(v, op->results[i]);
    return g;
}

static void
reverse_if(vjp *v, const ir_op *op)
{
    ir_value **g = vjp_result_adjoints(v, op);
    rg_build_if(v->b, vjp_primal(v, op->args[0]));
    reverse_arm(v, op->regions[0], g);
    rg_build_else(v->b);
    reverse_arm(v, op->regions[1], g);
    rg_build_end(v->b);
}

/* -- results of what is swept where it is reversed ------------------------------------------------------------- */
rg_var *
vjp_declare_results(vjp *v, const ir_op *op)
{
    rg_var *results = arena_new_n(v->c->scratch, rg_var, op->nresults + 1);
    for (uint32_t k = 0; k < op->nresults; k++) {
        results[k] = rg_build_var(v->b, (rg_str){0}, (rg_type){(rg_dtype)op->results[k]->type.dtype, 0});
        if (op->code != RG_OP_IF)
            rg_build_set(v->b, results[k], vjp_primal(v, op->args[ir_first_init(op) + k]));
    }
    return results;
}

void
vjp_set_results(vjp *v, const rg_var *results, const ir_region *r)
{
    const ir_op *end = ir_terminator(r);
    for (uint32_t k = 0; k < end->nargs; k++)
        rg_build_set(v->b, results[k], vjp_primal(v, end->args[k]));
}

void
vjp_give_results(vjp *v, const rg_var *results, const ir_op *op)
{
    for (uint32_t k = 0; k < op->nresults; k++)
        v->instance[op->results[k]->id] = rg_build_get(v->b, results[k]);
}

/* Sweep and reverse in one. */
static void
reverse_arm_here(vjp *v, const ir_region *arm, ir_value *const *g, const rg_var *results)
{
    vjp_choose_swept(v, arm);
    vjp_clone_region(v, arm, ir_build_region(v->b));
    reverse_arm(v, arm, g);
    vjp_set_results(v, results, arm);
}

static void
reverse_if_here(vjp *v, const ir_op *op)
{
    ir_value **g = vjp_result_adjoints(v, op);
    rg_var *results = vjp_declare_results(v, op);
    rg_build_if(v->b, vjp_primal(v, op->args[0]));
    reverse_arm_here(v, op->regions[0], g, results);
    rg_build_else(v->b);
    reverse_arm_here(v, op->regions[1], g, results);
    rg_build_end(v->b);
    vjp_give_results(v, results, op);
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
    vjp_record *record = vjp_make_recording(v, op);
    ir_value **g = vjp_result_adjoints(v, op);
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

/* Sweep and reverse in one: each iteration runs its forward part where it is reversed. What the loop carries are sums. */
static void
reverse_loop_here(vjp *v, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    const ir_op *end = ir_terminator(body);
    ir_value **g = vjp_result_adjoints(v, op), *index;
    rg_var *sum = vjp_declare_results(v, op);
    rg_build_for(v->b, vjp_primal(v, op->args[0]), vjp_primal(v, op->args[1]), op->attr.step, &index);
    index->name = body->params[0]->name;
    v->instance[body->params[0]->id] = index;
    for (uint32_t k = 0; k < op->nresults; k++)
        v->instance[body->params[1 + k]->id] = rg_build_get(v->b, sum[k]);
    vjp_choose_swept(v, body);
    vjp_clone_region(v, body, ir_build_region(v->b));
    vjp_declare(v, body, end);
    vjp_open_undone(v, body);
    for (uint32_t k = 0; k < op->nresults; k++)
        vjp_accumulate(v, end->args[k], g[k]);
    vjp_reverse(v, end->prev);
    vjp_close_undone(v, body);
    vjp_set_results(v, sum, body);
    rg_build_end(v->b);
    vjp_give_results(v, sum, op);
    for (uint32_t k = 0; k < op->nresults; k++)
        vjp_accumulate(v, op->args[ir_first_init(op) + k], g[k]);
}

/* -- entry points ---------------------------------------------------------------------------------------------- */
void
vjp_clone_region(vjp *v, const ir_region *r, ir_region *into)
{
    for (const ir_op *op = r->first; op != ir_terminator(r); op = op->next)
        if (!map_get(&v->swept, map_ptr(op)) && !map_get(&v->late, map_ptr(op)))
            vjp_clone_ops(v, op, op->next, into, v->combined);
}

void
vjp_reverse_control(vjp *v, const ir_op *op)
{
    bool swept = map_get(&v->swept, map_ptr(op));
    if (!swept && !vjp_has_work(v, op, is_taken_back_everywhere(v, op)))
        return;
    if (op->code == RG_OP_PARALLEL)
        vjp_reverse_task(v, op);
    else if (op->code == RG_OP_IF)
        (swept ? reverse_if_here : reverse_if)(v, op);
    else
        (swept ? reverse_loop_here : reverse_loop)(v, op);
}
