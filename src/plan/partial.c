/* Values of the partial last iteration leave their loop as results. SPDX-License-Identifier: Apache-2.0
 *
 * Where a warp shares a loop, lanes leave it one by one, and every result is selected for each lane at every exit of every
 * iteration. There what takes less than that is computed again behind the loop, from fewer results. */
#include "plan/partial.h"

#include "diff/emit.h"
#include "plan/recompute.h"
#include "ir/recall.h"

enum { TRIPS = 8 /* of a loop, if nobody knows */ };

/* a loop, and what is recalled of its last iteration */
typedef struct left_loop {
    ir_op *loop;
    int32_t values, results; /* that are recalled and can be computed; that they are computed from */
    int32_t cost;
} left_loop;

typedef struct exits {
    ir_fn *fn;
    arena *scratch;
    const ir_writes *writes;
    map lifted;
    vec(ir_op *) recalls;
    ir_steps steps;
    vec(left_loop) loops;
    map index_of; /* loop -> index in loops + 1 */
    map seen;     /* value -> (void *)1: its loop's sums have it */
    map made;     /* (value, region) -> where it was computed again */
    vec(ir_value *) stack;
} exits;

static bool
collect_exit_recall(ir_op *op, void *user)
{
    exits *x = user;
    if (op->code == RG_OP_RECALL && op->args[0]->type.kind != IR_TRACE)
        vec_push(&x->recalls, op);
    return true;
}

/* the number of steps that end at the last loop which is not unwound, before the first that is */
static size_t
steps_to_lift(const ir_steps *steps)
{
    size_t n = 0;
    for (size_t i = 0; i < steps->n && !steps->at[i].unwound_by; i++)
        if (steps->at[i].op->code != RG_OP_IF)
            n = i + 1;
    return n;
}

/* -- computing again behind the loop ----------------------------------------------------------------------------- */

/* the only loop to be left by the recalled value; NULL: there are several, or none */
static ir_op *
loop_left(exits *x, const ir_op *recall)
{
    ir_op *loop = NULL;
    if (ir_recall_leaves_branches(recall))
        return NULL;
    ir_recall_steps(recall, &x->steps);
    size_t n = steps_to_lift(&x->steps);
    for (size_t i = 0; i < n; i++) {
        ir_op *op = x->steps.at[i].op;
        if (op->code != RG_OP_IF && (loop || op->code != RG_OP_LOOP))
            return NULL;
        loop = op->code != RG_OP_IF ? op : loop;
    }
    return loop;
}

static bool
is_computed(const exits *x, const ir_op *loop, const ir_value *v)
{
    return v->type.kind == IR_SCALAR && ir_region_inside(v->region, loop->regions[0]) && v->def &&
           (v->def->code == RG_OP_CONST || ad_recomputable(loop, v, x->writes) == AD_OP);
}

static left_loop *
sums_of(exits *x, ir_op *loop)
{
    size_t index = (size_t)map_get(&x->index_of, map_ptr(loop));
    if (index)
        return &x->loops.at[index - 1];
    vec_push(&x->loops, (left_loop){.loop = loop});
    map_set(&x->index_of, map_ptr(loop), (void *)x->loops.n);
    return &vec_last(&x->loops);
}

/* A recall of v after the loop: what it takes to compute v there goes into the loop's sums. */
static void
weigh_recall(exits *x, ir_op *loop, ir_value *wanted)
{
    left_loop *l = sums_of(x, loop);
    l->values++;
    vec_push(&x->stack, wanted);
    while (x->stack.n) {
        ir_value *v = vec_pop(&x->stack);
        if (!ir_region_inside(v->region, loop->regions[0]) || map_get(&x->seen, map_ptr(v)))
            continue;
        map_set(&x->seen, map_ptr(v), (void *)1);
        if (!is_computed(x, loop, v)) {
            l->results++;
            continue;
        }
        l->cost += v->def->code == RG_OP_CONST ? 0 : ir_cost(v->def);
        for (uint32_t i = 0; i < v->def->nargs; i++)
            vec_push(&x->stack, v->def->args[i]);
    }
}

static void
weigh_all(exits *x)
{
    map counted = {.in = x->scratch};
    for (size_t i = 0; i < x->recalls.n; i++) {
        ir_op *loop = loop_left(x, x->recalls.at[i]);
        if (!loop || map_get(&counted, map_ptr(x->recalls.at[i]->args[0])))
            continue;
        map_set(&counted, map_ptr(x->recalls.at[i]->args[0]), (void *)1);
        weigh_recall(x, loop, x->recalls.at[i]->args[0]);
    }
}

static bool
is_cheaper(exits *x, ir_op *loop)
{
    const left_loop *l = sums_of(x, loop);
    return l->cost <= TRIPS * (l->values - l->results);
}

static ir_value *
copy_behind_loop(exits *x, const ir_emit *e, ir_op *loop, ir_value *v)
{
    if (!is_computed(x, loop, v)) {
        ir_value *recalled = ad_recall(e, v);
        vec_push(&x->recalls, recalled->def); /* and leaves its loop in turn */
        return recalled;
    }
    ir_op *copy = ir_op_like(x->fn, v->def);
    for (uint32_t i = 0; i < v->def->nargs; i++) {
        ir_value *made = map_get(&x->made, hash_u64(map_ptr(e->region), v->def->args[i]->id));
        ir_op_arg(copy, x->fn, made ? made : ad_had(e, v->def->args[i]));
    }
    ir_emit_place(e, copy);
    return ir_op_result(copy, x->fn, v->type, v->name);
}

/* v where e stands: operands before their users */
static ir_value *
compute_again(exits *x, const ir_emit *e, ir_op *loop, ir_value *wanted)
{
    vec_push(&x->stack, wanted);
    while (x->stack.n) {
        ir_value *v = vec_last(&x->stack);
        uint64_t key = hash_u64(map_ptr(e->region), v->id);
        bool ready = true, computed = is_computed(x, loop, v);
        for (uint32_t i = 0; computed && !map_get(&x->made, key) && i < v->def->nargs; i++) {
            ir_value *operand = v->def->args[i];
            if (operand->type.kind == IR_SCALAR && !map_get(&x->made, hash_u64(map_ptr(e->region), operand->id))) {
                vec_push(&x->stack, operand);
                ready = false;
            }
        }
        if (!ready)
            continue;
        (void)vec_pop(&x->stack);
        if (!map_get(&x->made, key))
            map_set(&x->made, key, copy_behind_loop(x, e, loop, v));
    }
    return map_get(&x->made, hash_u64(map_ptr(e->region), wanted->id));
}

static void
compute_all_again(exits *x)
{
    weigh_all(x);
    for (size_t i = 0, n = x->recalls.n; i < n; i++) {
        ir_op *recall = x->recalls.at[i], *loop = loop_left(x, recall);
        if (!loop || !is_computed(x, loop, recall->args[0]) || !is_cheaper(x, loop))
            continue;
        ir_emit e = {x->fn, recall->parent, recall, recall->loc};
        recall->args[0] = compute_again(x, &e, loop, recall->args[0]);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */

bool
ad_lift_partial(ir_fn *fn, const ir_writes *writes, arena *scratch)
{
    exits x = {.fn = fn, .scratch = scratch, .writes = writes};
    x.recalls.in = x.steps.in = x.loops.in = x.stack.in = scratch;
    x.lifted.in = x.index_of.in = x.seen.in = x.made.in = scratch;
    ir_walk(fn->body, collect_exit_recall, &x);
    bool any = false;
    if (fn->module->target->warp)
        compute_all_again(&x);
    for (size_t i = 0; i < x.recalls.n; i++) {
        ir_op *recall = x.recalls.at[i];
        if (ir_recall_leaves_branches(recall))
            continue;
        ir_recall_steps(recall, &x.steps);
        size_t n = steps_to_lift(&x.steps);
        for (size_t s = 0; s < n; s++)
            recall->args[0] = ir_lift(fn, recall->args[0], x.steps.at[s].op, &x.lifted);
        any |= n > 0;
    }
    return any;
}
