/* The plan: record a value, or compute it again from others. SPDX-License-Identifier: Apache-2.0
 *
 * For each unwind, innermost first: the values of the recorded body that are recalled, and what they
 * are computed from, form a graph; a minimum cut through it chooses what is recorded (bytes written and
 * read) and what is recomputed (operations). Free are constants, values of enclosing regions, the
 * iteration number, and what follows from them; loads of arrays that the kernel does not write are
 * cheap. Each value v has two nodes: `in` on the sink's side means v is recomputed, `out` on the sink's
 * side means v can be had in the reverse iteration.
 *
 *     source --cost of the op--> in(v) --cost of recording--> out(v) --infinite--> in(user of v)
 *                                                             out(needed) --infinite--> sink
 *
 * The results of a branch whose arms only compute (arms.c) share one node, which costs what both arms do, and needs what
 * they take from outside.
 *
 * What only the reverse needs (derive.c) is computed once, in either sweep: its op costs what it costs
 * more in the reverse. Where it is computed forwards, so is what it is computed from and only the reverse
 * needs: for such v and u
 *
 *     in(v) --cost of u's op--> in(u)
 *
 * What a task reads of an array that is overwritten later can be had from a snapshot (snapshot.c), which costs once
 * what its elements for each thread cost:
 *
 *     source --cost of the snapshot--> array --infinite--> in(load of it) */
#include "plan/arms.h"
#include "plan/cut.h"
#include "plan/derive.h"
#include "diff/emit.h"
#include "plan/partial.h"
#include "plan/recompute.h"
#include "plan/snapshot.h"
#include "analysis/integers.h"
#include "ir/recall.h"

typedef struct node {
    ir_value *v;
    uint32_t in, out;
    bool recomputed;
} node;

/* an array of which a snapshot would serve */
typedef struct kept_array {
    ir_value *array;
    uint32_t node;
    int32_t cost;
} kept_array;

/* a branch that may be computed again as a whole */
typedef struct branch {
    ad_arms arms;
    uint32_t node; /* that its results share */
    bool connected;
} branch;

typedef struct plan {
    ir_fn *fn;
    arena *scratch;
    const ir_writes *writes;
    map origins;        /* value -> ad_origin */
    ir_value **replace; /* by id: results of recalls that are computed otherwise now */
    uint32_t replace_n; /* ids from here on are of what is being made */
    uint32_t room;      /* entries of replace */
    ir_value **copies;  /* by id: what stands for a value in the copy of a branch; NULL between copies */
    uint32_t copies_n;
    ad_force force;
    bool divided;      /* what there is of blocks of iterations is there */
    int32_t recording; /* how many times what it costs in a cache that recording by the owner costs */
    ir_op *owner, *by;  /* the recording op and what unwinds it */
    ir_op *task, *rewinding; /* of which they are part; NULL: of none that records for a later one */
    ad_snapshots snapshots;
    vec(kept_array) arrays;
    map array_of;       /* load -> index in arrays + 1, or NO_ARRAY */
    map branch_of;      /* if -> branch */
    map consumed;       /* local array -> (void *)1: it is not there any more when it is reversed */
    map recalled;       /* local array -> the first recall of it */
    cut graph;
    vec(node) nodes;
    map node_of;        /* value -> index + 1 */
    vec(ir_value *) stack;
    map made;           /* (value, region) -> where it was computed again */
    bool changed;
} plan;

/* -- snapshots --------------------------------------------------------------------------------------------------- */
enum { NO_ARRAY = 1 << 30, TRIPS = 8 /* of a loop, if nobody knows */ };

/* per thread, or per iteration of a loop in it */
static int32_t
cost_of_snapshot(plan *p, ir_value *array)
{
    if (p->force != AD_LEAST_COST)
        return p->force == AD_RECORD_ALL;
    if (ad_has_snapshot(&p->snapshots, p->task, array))
        return 0;
    double n = ad_elements_per_thread(p->task, array);
    if (n <= 0)
        return CUT_INFINITE;
    const target *machine = p->fn->module->target;
    double cost = n * (1 + ir_bytes((rg_dtype)array->type.dtype)) * p->recording * machine->copying;
    for (const ir_op *op = p->owner; op != p->task; op = op->parent->op)
        if (op->code != RG_OP_IF)
            cost /= TRIPS;
    return cost < 1 ? 1 : cost > 1 << 20 ? CUT_INFINITE : (int32_t)cost;
}

static size_t
array_for(plan *p, ir_value *array)
{
    for (size_t i = 0; i < p->arrays.n; i++)
        if (p->arrays.at[i].array == array)
            return i;
    kept_array a = {array, cut_node(&p->graph), cost_of_snapshot(p, array)};
    cut_arc(&p->graph, CUT_SOURCE, a.node, a.cost);
    vec_push(&p->arrays, a);
    return p->arrays.n - 1;
}

/* the array whose snapshot v can be loaded from; NULL: there is none */
static const kept_array *
array_under(plan *p, const ir_value *v)
{
    if (!p->task || !v->def || v->def->code != RG_OP_LOAD)
        return NULL;
    size_t index = (size_t)map_get(&p->array_of, map_ptr(v->def));
    if (!index) {
        bool possible = !ir_stands_still(p->writes, v->def) && ad_can_snapshot(&p->snapshots, p->task, v->def);
        index = possible ? array_for(p, v->def->args[0]) + 1 : NO_ARRAY;
        map_set(&p->array_of, map_ptr(v->def), (void *)index);
    }
    return index == NO_ARRAY || p->arrays.at[index - 1].cost == CUT_INFINITE ? NULL : &p->arrays.at[index - 1];
}

/* a local array as the reverse has it: itself, or a recall of all of it; NULL: it is not there any more */
static ir_value *
array_in_reverse(const plan *p, ir_value *array)
{
    if (!ir_region_inside(p->by->parent, array->region))
        array = map_get(&p->recalled, map_ptr(array));
    return array && ir_region_inside(p->by->parent, array->region) && !map_get(&p->consumed, map_ptr(array)) ? array : NULL;
}

static bool
is_in_array(const plan *p, const ir_value *v)
{
    return v->def && v->def->code == RG_OP_EXTRACT && array_in_reverse(p, v->def->args[0]);
}

static bool
note_arrays(ir_op *op, void *user)
{
    plan *p = user;
    bool reads = op->code == RG_OP_EXTRACT || op->code == RG_OP_COPY || op->code == RG_OP_RECALL;
    for (uint32_t i = 0; !reads && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_ARRAY)
            map_set(&p->consumed, map_ptr(op->args[i]), (void *)1);
    if (op->code == RG_OP_RECALL && op->args[0]->type.kind == IR_ARRAY && !map_get(&p->recalled, map_ptr(op->args[0])))
        map_set(&p->recalled, map_ptr(op->args[0]), op->results[0]);
    return true;
}

static branch *branch_of(plan *p, const ir_value *v);

static ad_how
how(plan *p, const ir_value *v)
{
    return array_under(p, v) || is_in_array(p, v) || branch_of(p, v) ? AD_OP : ad_recomputable(p->owner, v, p->writes);
}

/* -- branches -------------------------------------------------------------------------------------------------------- */

static bool
is_there_again(void *user, const ir_value *loaded)
{
    return how(user, loaded) == AD_OP;
}

/* the branch that v is a result of; NULL: it is of none that can be computed again */
static branch *
branch_of(plan *p, const ir_value *v)
{
    if (!v->def || v->def->code != RG_OP_IF)
        return NULL;
    branch *b = map_get(&p->branch_of, map_ptr(v->def));
    if (!b) {
        b = arena_new_n(p->scratch, branch, 1);
        ad_find_arms(&b->arms, p->scratch, v->def, is_there_again, p);
        map_set(&p->branch_of, map_ptr(v->def), b);
    }
    return b->arms.again ? b : NULL;
}

/* -- forced plans ---------------------------------------------------------------------------------------------- */
static int32_t
cost_of_recording(plan *p, const ir_value *v)
{
    if (p->force == AD_RECORD_ALL)
        return 0;
    if (p->force == AD_RECOMPUTE_ALL && how(p, v) != AD_NOT)
        return CUT_INFINITE;
    /* what a task records for a later one has left the cache by then */
    int32_t away = p->task ? (int32_t)ir_bytes((rg_dtype)v->type.dtype) / 2 : 0;
    return (ad_cost_of_recording(v->type) + away) * p->recording;
}

static ad_origin
origin_of(const plan *p, const ir_value *v)
{
    return (ad_origin)(uintptr_t)map_get(&p->origins, map_ptr(v));
}

/* what it takes to have the op in the forward sweep too */
static int32_t
cost_forwards(const plan *p, const ir_value *v)
{
    switch (origin_of(p, v)) {
    case AD_FORWARD:
        break;
    case AD_DERIVED:
        return ir_cost(v->def);
    case AD_PAIRED:
        return ad_cost_of_pair(v->def);
    }
    return 0;
}

/* what it takes more to compute v in the reverse */
static int32_t
cost_of_op(plan *p, const ir_value *v)
{
    if (p->force == AD_RECOMPUTE_ALL)
        return 0;
    if (v->def->code == RG_OP_IF)
        return branch_of(p, v)->arms.cost;
    if (array_under(p, v))
        return 1; /* others have read what is near it, and the snapshot has been paid for */
    if (p->force == AD_RECORD_ALL)
        return 1;
    int32_t cost = ir_cost(v->def);
    if (p->task && v->def->code == RG_OP_LOAD) { /* it is read from memory, where recording writes to it as well */
        int32_t half = cost_of_recording(p, v) / 2;
        cost = cost < half ? cost : half;
    }
    return cost - cost_forwards(p, v);
}

static bool
inside_owner(const plan *p, const ir_value *v)
{
    return ir_region_inside(v->region, p->owner->regions[0]);
}

/* -- the graph --------------------------------------------------------------------------------------------------- */
static node *
node_for(plan *p, ir_value *v)
{
    size_t index = (size_t)map_get(&p->node_of, map_ptr(v));
    if (index)
        return &p->nodes.at[index - 1];
    node n = {.v = v, .in = cut_node(&p->graph), .out = cut_node(&p->graph)};
    vec_push(&p->nodes, n);
    map_set(&p->node_of, map_ptr(v), (void *)p->nodes.n);
    vec_push(&p->stack, v);
    return &vec_last(&p->nodes);
}

enum { COST_OF_INDUCTION = 2 };

/* v can only be computed where operand can be had */
static void
connect_operand(plan *p, const ir_value *v, uint32_t in, ir_value *operand)
{
    if (operand->type.kind != IR_SCALAR || !inside_owner(p, operand))
        return;
    node n = *node_for(p, operand);
    cut_arc(&p->graph, n.out, in, CUT_INFINITE);
    if (origin_of(p, v) && p->force == AD_LEAST_COST)
        cut_arc(&p->graph, in, n.in, cost_forwards(p, operand));
}

/* All results of a branch are computed at once. */
static void
connect_branch(plan *p, ir_value *v, uint32_t in)
{
    branch *b = branch_of(p, v);
    if (!b->connected) {
        b->connected = true;
        b->node = cut_node(&p->graph);
        cut_arc(&p->graph, CUT_SOURCE, b->node, b->arms.cost);
        for (size_t i = 0; i < b->arms.outside.n; i++)
            connect_operand(p, v, b->node, b->arms.outside.at[i]);
        for (size_t i = 0; i < b->arms.loads.n; i++) {
            const kept_array *kept = array_under(p, b->arms.loads.at[i]->results[0]);
            if (kept)
                cut_arc(&p->graph, kept->node, b->node, CUT_INFINITE);
        }
    }
    cut_arc(&p->graph, b->node, in, CUT_INFINITE);
}

static void
connect(plan *p, ir_value *v)
{
    node n = *node_for(p, v);
    const kept_array *kept = array_under(p, v);
    cut_arc(&p->graph, n.in, n.out, cost_of_recording(p, v));
    if (kept)
        cut_arc(&p->graph, kept->node, n.in, CUT_INFINITE);
    switch (how(p, v)) {
    case AD_NOT:
        cut_arc(&p->graph, CUT_SOURCE, n.in, CUT_INFINITE);
        break;
    case AD_FREE:
        break;
    case AD_INDUCTION:
        cut_arc(&p->graph, CUT_SOURCE, n.in, COST_OF_INDUCTION);
        break;
    case AD_OP:
        if (v->def->code == RG_OP_IF) {
            connect_branch(p, v, n.in);
            break;
        }
        cut_arc(&p->graph, CUT_SOURCE, n.in, cost_of_op(p, v));
        for (uint32_t i = 0; i < v->def->nargs; i++)
            connect_operand(p, v, n.in, v->def->args[i]);
        break;
    }
}

/* The cut does not know that the first recorded value costs more than the next: a cursor to carry, the end of
 * the page to look for, and iterations that no longer run side by side. `least`: what the cut costs. */
static bool
is_better_without_frames(plan *p, int64_t least)
{
    int64_t cost = 0, frame = 8 * p->recording;
    if (p->force != AD_LEAST_COST)
        return false;
    for (size_t i = 0; i < p->arrays.n; i++)
        cost += p->arrays.at[i].cost;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const ir_value *v = p->nodes.at[i].v;
        switch (how(p, v)) {
        case AD_NOT:
            return false;
        case AD_FREE:
            break;
        case AD_INDUCTION:
            cost += COST_OF_INDUCTION;
            break;
        case AD_OP:
            cost += cost_of_op(p, v);
            break;
        }
    }
    return cost <= least + frame;
}

static bool
add_need(ir_op *op, void *user)
{
    plan *p = user;
    ir_op *by;
    if (op->code != RG_OP_RECALL || op->args[0]->type.kind != IR_SCALAR)
        return true;
    if (ir_recall_owner(op, &by) != p->owner || by != p->by)
        return true;
    cut_arc(&p->graph, node_for(p, op->args[0])->out, CUT_SINK, CUT_INFINITE);
    return true;
}

/* -- computing again ----------------------------------------------------------------------------------------------- */
static ir_value *
made_at(plan *p, const ir_value *v, const ir_region *region)
{
    return map_get(&p->made, hash_u64(map_ptr(region), v->id));
}

static ir_value *
keep_made(plan *p, const ir_value *v, const ir_region *region, ir_value *made)
{
    map_set(&p->made, hash_u64(map_ptr(region), v->id), made);
    return made;
}

static bool
is_recomputed(plan *p, ir_value *v)
{
    size_t index = (size_t)map_get(&p->node_of, map_ptr(v));
    return index && p->nodes.at[index - 1].recomputed;
}

/* v without computing it: itself, a constant, the iteration number's function, or a recall */
static ir_value *
simple_value(plan *p, const ir_emit *e, ir_value *v)
{
    uint64_t step = 0;
    if (ir_region_inside(e->region, v->region) || ir_is_const(v, NULL) || !inside_owner(p, v) || !is_recomputed(p, v))
        return ad_had(e, v);
    if (p->owner->code == RG_OP_PARALLEL)
        return p->by->regions[0]->params[v->index];
    ir_value *start;
    ir_is_induction(p->owner, v, &start, &step);
    start = ad_had(e, start);
    rg_dtype dtype = (rg_dtype)v->type.dtype;
    ir_value *k = ir_emit_cast(e, dtype, p->by->regions[0]->params[0]);
    ir_value *offset = ir_emit_2(e, RG_OP_MUL, k, ir_emit_const(e, dtype, step));
    return ir_emit_2(e, RG_OP_ADD, start, offset);
}

static bool
forget_copy(ir_op *op, void *user)
{
    plan *p = user;
    for (uint32_t k = 0; k < op->nresults; k++)
        p->copies[op->results[k]->id] = NULL;
    return true;
}

static void
copy_branch(plan *p, const ir_emit *e, const ir_op *op)
{
    const ad_arms *arms = &branch_of(p, op->results[0])->arms;
    if (p->copies_n < p->fn->next_id) {
        p->copies_n = 2 * p->fn->next_id;
        p->copies = arena_new_n(p->scratch, ir_value *, p->copies_n);
    }
    for (size_t i = 0; i < arms->outside.n; i++)
        p->copies[arms->outside.at[i]->id] = made_at(p, arms->outside.at[i], e->region);
    for (size_t i = 0; i < arms->loads.n; i++) {
        ir_value *array = arms->loads.at[i]->args[0];
        p->copies[array->id] = p->copies[array->id] ? p->copies[array->id] : ad_had(e, array);
        if (array_under(p, arms->loads.at[i]->results[0])) /* other elements of it are there as well */
            p->copies[array->id] = ad_snapshot_in(&p->snapshots, p->task, p->rewinding, array);
    }
    ir_op *copy = ir_op_clone(p->fn, op, p->copies, e->region);
    ir_remove(copy);
    ir_emit_place(e, copy);
    for (uint32_t k = 0; k < op->nresults; k++) {
        keep_made(p, op->results[k], e->region, copy->results[k]);
        p->copies[op->results[k]->id] = NULL;
    }
    for (size_t i = 0; i < arms->outside.n; i++)
        p->copies[arms->outside.at[i]->id] = NULL;
    for (size_t i = 0; i < arms->loads.n; i++)
        p->copies[arms->loads.at[i]->args[0]->id] = NULL;
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_walk(op->regions[i], forget_copy, p);
}

static ir_value *
copy_op(plan *p, const ir_emit *e, const ir_op *op)
{
    ir_op *copy = ir_op_like(p->fn, op);
    bool kept = array_under(p, op->results[0]);
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *made = made_at(p, op->args[i], e->region);
        if (op->args[i]->type.kind == IR_ARRAY)
            made = array_in_reverse(p, op->args[i]);
        ir_op_arg(copy, p->fn, made ? made : ad_had(e, op->args[i]));
    }
    if (kept)
        copy->args[0] = ad_snapshot_in(&p->snapshots, p->task, p->rewinding, op->args[0]);
    ir_emit_place(e, copy);
    return ir_op_result(copy, p->fn, op->results[0]->type, op->results[0]->name);
}

/* v where e stands: operands before their users, with a stack of its own since chains can be long */
static ir_value *
make_value(plan *p, const ir_emit *e, ir_value *wanted)
{
    vec_clear(&p->stack);
    vec_push(&p->stack, wanted);
    while (p->stack.n) {
        ir_value *v = vec_last(&p->stack);
        if (made_at(p, v, e->region)) {
            (void)vec_pop(&p->stack);
            continue;
        }
        bool computed = inside_owner(p, v) && is_recomputed(p, v) && v->def && v->def->code != RG_OP_CONST;
        bool ready = true;
        const branch *whole = computed ? branch_of(p, v) : NULL;
        const ad_arms *arms = whole ? &whole->arms : NULL;
        size_t n = arms ? arms->outside.n : computed ? v->def->nargs : 0;
        for (size_t i = 0; i < n; i++) {
            ir_value *operand = arms ? arms->outside.at[i] : v->def->args[i];
            if (operand->type.kind == IR_SCALAR && !made_at(p, operand, e->region)) {
                vec_push(&p->stack, operand);
                ready = false;
            }
        }
        if (ready) {
            (void)vec_pop(&p->stack);
            if (arms)
                copy_branch(p, e, v->def);
            else
                keep_made(p, v, e->region, computed ? copy_op(p, e, v->def) : simple_value(p, e, v));
        }
    }
    return made_at(p, wanted, e->region);
}

/* before which op a recall's value is made: not inside loops that it does not change in */
static ir_op *
place_of_recall(const plan *p, ir_op *recall)
{
    ir_op *at = recall;
    for (ir_op *op = recall; op->parent != p->by->regions[0]; op = op->parent->op)
        if (op->parent->op->code != RG_OP_IF)
            at = op->parent->op;
    return at;
}

static bool
rewrite_recall(ir_op *op, void *user)
{
    plan *p = user;
    ir_op *by;
    if (op->code != RG_OP_RECALL || op->args[0]->type.kind != IR_SCALAR ||
        op->results[0]->id >= p->replace_n)
        return true;
    if (ir_recall_owner(op, &by) != p->owner || by != p->by || !is_recomputed(p, op->args[0]))
        return true;
    ir_op *at = place_of_recall(p, op);
    ir_emit e = {p->fn, at->parent, at, op->loc};
    p->replace[op->results[0]->id] = make_value(p, &e, op->args[0]);
    p->changed = true;
    return true;
}

/* The map is kept from unwind to unwind: one for each would take as long as the kernel every time. */
static void
grow_plan_map(plan *p)
{
    uint32_t need = p->fn->next_id + 1;
    if (need <= p->room)
        return;
    uint32_t room = need + need / 2;
    ir_value **replace = arena_new_n(p->scratch, ir_value *, room);
    if (p->room)
        memcpy(replace, p->replace, sizeof(*replace) * p->room);
    p->replace = replace;
    p->room = room;
}

/* the task whose threads are undone around `by` or by it */
static void
note_rewound_task(plan *p, ir_op *by)
{
    while (by && by->code != RG_OP_PARALLEL)
        by = by->parent->op;
    p->rewinding = by && by->rewinds ? by : NULL;
    p->task = p->rewinding ? ir_trace_maker(by->args[2 * by->attr.rank]) : NULL;
    p->arrays.n = 0;
    map_free(&p->array_of);
}

/* Iterations of a thread that stay what they are record at the full price. */
static int32_t
price_of_recording(const plan *p)
{
    const target *machine = p->fn->module->target;
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->nodes.n; i++)
        bytes += ir_bytes((rg_dtype)p->nodes.at[i].v->type.dtype);
    bool full = p->divided && p->by->code == RG_OP_UNWIND && !ad_frames_are_own(p->owner, bytes);
    return full ? machine->recording_iterations : machine->recording;
}

static void
plan_unwind(plan *p, ir_op *by)
{
    p->by = by;
    note_rewound_task(p, by);
    p->owner = ir_trace_maker(by->args[by->code == RG_OP_UNWIND ? 0 : 2 * by->attr.rank]);
    p->nodes.n = 0;
    vec_clear(&p->stack);
    map_free(&p->node_of);
    map_free(&p->branch_of);
    map_free(&p->made);
    cut_init(&p->graph, p->scratch);
    ir_walk(by->regions[0], add_need, p);
    p->recording = price_of_recording(p);
    while (p->stack.n) {
        ir_value *v = vec_pop(&p->stack);
        connect(p, v);
    }
    int64_t least = cut_solve(&p->graph);
    bool all = is_better_without_frames(p, least);
    for (size_t i = 0; i < p->nodes.n; i++)
        p->nodes.at[i].recomputed = all || !cut_on_source_side(&p->graph, p->nodes.at[i].in);

    p->replace_n = p->fn->next_id;
    grow_plan_map(p);
    ir_walk(by->regions[0], rewrite_recall, p);
    grow_plan_map(p);
    ir_replace_in(by->regions[0], p->replace);
}

static void
plan_region(plan *p, ir_region *region)
{
    for (ir_op *op = region->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nregions; i++)
            plan_region(p, op->regions[i]);
        if (op->code == RG_OP_UNWIND || (op->code == RG_OP_PARALLEL && op->rewinds))
            plan_unwind(p, op);
    }
}

bool
ad_plan(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        changed |= ad_lift_partial(fn, ir_writes_find(fn), c->scratch);
        ir_see_through_recalls(fn, c->scratch);
        plan p = {.fn = fn, .scratch = c->scratch, .force = c->plan.force, .divided = c->divided};
        p.arrays.in = p.nodes.in = p.stack.in = c->scratch;
        p.array_of.in = p.branch_of.in = p.consumed.in = p.recalled.in = p.node_of.in = p.made.in = p.origins.in = c->scratch;
        changed |= ad_derive(fn, &p.origins, c->scratch);
        p.writes = ir_writes_find(fn);
        p.snapshots = ad_snapshots_find(fn, c->scratch);
        ir_walk(fn->body, note_arrays, &p);
        plan_region(&p, fn->body);
        if (p.force != AD_RECORD_ALL)
            p.changed |= ad_branches(fn, c->scratch);
        changed |= p.changed;
    }
    return changed;
}
