/* Register blocks: several iterations recorded as one. SPDX-License-Identifier: Apache-2.0
 *
 * before   loop records (%a = ..) { body }             unwind { recall %v ..; reverse of the body }
 * after    loop records (%a = ..) { R times the body } unwind { recall %a; R times what of the body the
 *                                                               reverse needs; R times its reverse }
 *
 * The tape shrinks to the carried state once per R iterations; the rest is computed again, from the state, the
 * iteration's number, values from outside and loads that stand still. What the iterations of a `for` get from elsewhere
 * (loads of what the kernel writes, what atomics returned) is recorded with the state; a `loop` that needs such values
 * takes no part. Nor does a loop that holds one that records.
 * blocks_forward.c and blocks_reverse.c show the two sides; blocks_size.c chooses R. */
#include "plan/blocks.h"

#include "analysis/uses.h"
#include "ir/recall.h"

/* copies of the body's and its reverse's ops that one loop may grow to */
enum { MAX_OPS = 2000 };

enum { WORTH_A_BRANCH = 32 /* code of a block that runs forwards for nothing else than the iterations left over */ };

typedef struct body_size {
    uint32_t ops, code;
    bool loops;
} body_size;

typedef struct owned {
    ir_value *result, *value; /* of the recall, and what it recalls */
    ir_op *owner, *by;
    size_t before; /* number + 1 of the one before it of a value of the same loop; 0: none */
} owned;

typedef struct undoing {
    ir_op *unwind;
    size_t before; /* the same, of what the same loop recorded */
} undoing;

typedef struct blocks {
    ir_fn *fn;
    arena *scratch;
    const ad_plan_options *options;
    vec(owned) recalls;
    vec(undoing) unwinds;
    vec(ir_op *) loops;
    map recalls_of, unwinds_of; /* recording loop -> number + 1 of the last */
    const ir_writes *writes; /* NULL: to be found */
    ad_block now;
    map lifted;
    ir_value **replace; /* by id: results of what went away; applied in the end */
    size_t room;        /* entries of replace */
    bool changed;
} blocks;

/* -- which loops ------------------------------------------------------------------------------------------ */
static bool
is_recording_loop(const ir_op *op)
{
    return op->records && op->code != RG_OP_PARALLEL;
}

/* a recall of a value in the loop's body, and in that of no loop inside */
static void
add_recall(blocks *x, const ir_op *loop, owned r)
{
    r.before = (size_t)map_get(&x->recalls_of, map_ptr(loop));
    vec_push(&x->recalls, r);
    map_set(&x->recalls_of, map_ptr(loop), (void *)x->recalls.n);
}

static void
collect_block_recall(blocks *x, ir_op *recall)
{
    const ir_op *loop = recall->args[0]->region->op;
    while (loop && !is_recording_loop(loop))
        loop = loop->parent->op;
    if (!loop)
        return;
    owned r = {.result = recall->results[0], .value = recall->args[0]};
    r.owner = ir_recall_owner(recall, &r.by);
    add_recall(x, loop, r);
}

static void
collect_unwind(blocks *x, ir_op *op)
{
    uint64_t loop = map_ptr(ir_trace_maker(op->args[0]));
    undoing u = {op, (size_t)map_get(&x->unwinds_of, loop)};
    vec_push(&x->unwinds, u);
    map_set(&x->unwinds_of, loop, (void *)x->unwinds.n);
}

static bool
collect_block_ops(ir_op *op, void *user)
{
    blocks *x = user;
    if (op->code == RG_OP_RECALL) {
        collect_block_recall(x, op);
    } else if (op->code == RG_OP_UNWIND) {
        collect_unwind(x, op);
    } else if (is_recording_loop(op)) {
        vec_push(&x->loops, op);
    }
    return true;
}

/* the largest power of two of iterations that fit */
static uint32_t
most_by_code(const target *machine, const body_size *body, const body_size *reverse, uint32_t most)
{
    uint32_t size = 1, each = body->code + reverse->code + 1;
    while (2 * size <= most && (uint64_t)2 * size * each <= machine->code)
        size *= 2;
    return size;
}

static bool
repeats_alone(ir_op *op, void *user)
{
    body_size *b = user;
    bool function = ir_ops[op->code].flags & IR_FUNCTION;
    b->ops += op->code != RG_OP_CONST && op->code != RG_OP_RECALL;
    b->loops |= ir_is_loop(op);
    b->code += function ? (uint32_t)op->parent->fn->module->target->function : op->code != RG_OP_CONST && op->code != RG_OP_RECALL;
    return !op->records && !op->rewinds && op->code != RG_OP_UNWIND;
}

static bool
carries_scalars(const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    for (uint32_t i = 0; i < body->nparams; i++) {
        uint8_t kind = body->params[i]->type.kind;
        if (kind != IR_SCALAR && !(kind == IR_ARRAY && loop->code == RG_OP_FOR))
            return false;
    }
    for (uint32_t i = 0; loop->code == RG_OP_LOOP && i < ir_value_results(loop); i++)
        if (loop->results[i]->type.kind != IR_SCALAR)
            return false;
    return true;
}

static bool
unwinds_now(const blocks *x, const ir_op *op)
{
    for (size_t i = 0; i < x->now.unwinds.n; i++)
        if (x->now.unwinds.at[i] == op)
            return true;
    return false;
}

static bool
has_state(const ad_block *c)
{
    for (uint32_t p = 0; p < c->loop->regions[0]->nparams; p++)
        if (c->slice.of.state[p])
            return true;
    return false;
}

static bool
slice_loop(blocks *x)
{
    ad_block *c = &x->now;
    if (!x->writes)
        x->writes = ir_writes_find(x->fn);
    ad_slice_open(&c->slice, x->fn, c->loop, x->writes, x->scratch);
    owned r;
    for (size_t i = (size_t)map_get(&x->recalls_of, map_ptr(c->loop)); i; i = r.before) {
        r = x->recalls.at[i - 1];
        if (r.owner != c->loop || !unwinds_now(x, r.by))
            return false;
        ad_slice_want(&c->slice, r.value);
    }
    ad_slice_solve(&c->slice);
    return c->slice.possible && c->slice.wanted.n && (!c->slice.kept.n || (has_state(c) && c->loop->code == RG_OP_FOR));
}

/* -- the end of the last block -------------------------------------------------------------------------------- */
/* Loads stay where they can go before what does not need them: in a branch they are waited for. */
static bool
only_computes(ir_op *op, void *user)
{
    (void)user;
    bool control = op->code == RG_OP_IF || ir_is_loop(op) ||
                   op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF;
    return control || ir_is_arithmetic(op);
}

/* What the last full block leads to is the state of the iterations left over: nobody else needs it, and the reverse
 * computes the block's iterations in any case. */
static bool
is_end_needless(const blocks *x, const body_size *body)
{
    const ad_block *c = &x->now;
    const ir_region *r = c->loop->regions[0];
    bool needless = c->loop->code == RG_OP_FOR && !c->slice.kept.n && c->size * body->code >= WORTH_A_BRANCH;
    for (uint32_t p = 1; p < r->nparams && needless; p++)
        needless = r->params[p]->type.kind == IR_SCALAR && !ir_uses_in(x->fn->body, c->loop->results[p - 1]);
    return needless && ir_walk(c->loop->regions[0], only_computes, NULL);
}

/* -- how many iterations ---------------------------------------------------------------------------------- */
/* false: this loop takes no part */
static bool
choose_size(blocks *x)
{
    ad_block *c = &x->now;
    const target *machine = x->fn->module->target;
    body_size body = {0}, reverse = {0};
    bool alone = ir_walk(c->loop->regions[0], repeats_alone, &body) && carries_scalars(c->loop);
    for (size_t i = 0; alone && i < c->unwinds.n; i++)
        alone = ir_walk(c->unwinds.at[i]->regions[0], repeats_alone, &reverse);
    if (!alone || !c->unwinds.n || !slice_loop(x))
        return false;
    c->straight = c->slice.kept.n || (machine->code && !body.loops && c->loop->code == RG_OP_FOR);
    uint32_t copied = c->slice.ops + reverse.ops;
    uint32_t most = MAX_OPS / ((c->straight && copied < body.ops ? body.ops : copied) + 1);
    uint32_t size = x->options->block;
    if (!size) {
        size = ad_block_cheapest(c);
        most = machine->code ? most_by_code(machine, &body, &reverse, most) : most;
    }
    c->size = size < most ? size : most;
    c->needless = machine->code && is_end_needless(x, &body);
    return c->size > 1;
}

/* -- what leaves ifs ---------------------------------------------------------------------------------------- */
static ir_value *
lift_kept_value(blocks *x, ir_value *v)
{
    for (ir_op *op = v->region->op; op != x->now.loop; op = op->parent->op)
        v = ir_lift(x->fn, v, op, &x->lifted);
    return v;
}

/* What an if yields anyway takes the other arm's values too: it stands for v only where the slice needs it besides. */
static ir_value *
lift_for_block(blocks *x, ir_value *v, uint32_t known)
{
    for (ir_op *op = v->region->op; op != x->now.loop; op = op->parent->op) {
        const ir_value *yielded = ir_yielded_as(v, op);
        bool needed = yielded && yielded->id < known && x->now.slice.of.live.values[yielded->id];
        v = (needed ? ir_lift : ir_lift_apart)(x->fn, v, op, &x->lifted);
    }
    return v;
}

static void
lift_kept(blocks *x)
{
    slice_values kept = x->now.slice.kept;
    x->now.top = arena_new_n(x->scratch, ir_value *, kept.n + 1);
    for (size_t i = 0; i < kept.n; i++)
        x->now.top[i] = lift_kept_value(x, kept.at[i]);
}

/* Recalls go; their values are carried out of ifs. */
static void
gather_recalls(blocks *x)
{
    owned r;
    uint32_t known = x->fn->next_id; /* to the slice */
    vec_clear(&x->now.recalls);
    for (size_t i = (size_t)map_get(&x->recalls_of, map_ptr(x->now.loop)); i; i = r.before) {
        r = x->recalls.at[i - 1];
        r.value = x->recalls.at[i - 1].value = lift_for_block(x, r.value, known);
        ir_remove(r.result->def);
        vec_push(&x->now.recalls, ((ad_recalled){r.by, r.result, r.value}));
    }
}

/* -- the pass ------------------------------------------------------------------------------------------------- */
static void
grow_replace_map(blocks *x)
{
    size_t need = (size_t)x->fn->next_id + 1;
    if (need <= x->room)
        return;
    ir_value **replace = arena_new_n(x->scratch, ir_value *, 2 * need);
    if (x->room)
        memcpy(replace, x->replace, sizeof(*replace) * x->room);
    x->replace = replace;
    x->room = 2 * need;
}

static void
replace_results(blocks *x, ir_op *op, ir_value *const *results)
{
    grow_replace_map(x);
    for (uint32_t i = 0; i < op->nresults; i++)
        x->replace[op->results[i]->id] = results[i];
    ir_remove(op);
}

static bool
leaves_alone(ir_op *op, void *user)
{
    (void)user;
    return !(op->code == RG_OP_STORE || op->code == RG_OP_RMW) || op->plane & RG_ADJOINT;
}

/* The copies that the iterations left over run by, before anything is made of the loop. */
static void
copy_left(blocks *x)
{
    ad_block *c = &x->now;
    bool keeps = c->slice.kept.n;
    ir_value **map = arena_new_n(x->scratch, ir_value *, x->fn->next_id + 1);
    c->left = ir_op_clone(x->fn, c->loop, map, c->loop->parent);
    ir_remove(c->left);
    c->left->records = keeps;
    c->left->nresults -= !keeps;
    for (size_t i = 0; i < c->unwinds.n && keeps; i++) {
        ir_op *undo = ir_op_clone(x->fn, c->unwinds.at[i], map, c->unwinds.at[i]->parent);
        ir_remove(undo);
        vec_push(&c->undo_left, undo);
    }
}

static void
rewrite_loop(blocks *x)
{
    ad_block *c = &x->now;
    vec_clear(&c->undo_left);
    if (c->loop->code == RG_OP_FOR)
        copy_left(x);
    gather_recalls(x);
    uint32_t values;
    do { /* once more while lifting makes new values */
        bool possible = slice_loop(x);
        assert(possible && "lifting changes what follows from what");
        (void)possible;
        values = x->fn->next_id;
        lift_kept(x);
    } while (x->fn->next_id != values);
    ir_value *const *filled = ad_block_forward(c);
    for (size_t i = 0; i < c->unwinds.n; i++) {
        ir_op *unwind = c->unwinds.at[i];
        replace_results(x, unwind, ad_block_reverse(c, i));
    }
    uint32_t n = ir_value_results(c->loop);
    ir_value **results = arena_new_n(x->scratch, ir_value *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        results[i] = filled[i];
    results[n] = c->trace;
    replace_results(x, c->loop, results);
    x->changed = true;
    if (!ir_walk(c->loop->regions[0], leaves_alone, NULL))
        x->writes = NULL; /* its copies write */
}

static void
divide_loop(blocks *x, ir_op *loop)
{
    ad_block *c = &x->now;
    vec_clear(&c->unwinds);
    c->loop = loop;
    size_t i = (size_t)map_get(&x->unwinds_of, map_ptr(loop));
    for (; i; i = x->unwinds.at[i - 1].before)
        vec_push(&c->unwinds, x->unwinds.at[i - 1].unwind);
    if (choose_size(x))
        rewrite_loop(x);
}

static bool
divide_loops(ir_fn *fn, const ad_plan_options *options, arena *scratch)
{
    blocks x = {.fn = fn, .scratch = scratch, .options = options, .now = {.fn = fn, .scratch = scratch}};
    x.recalls.in = x.unwinds.in = x.loops.in = x.now.unwinds.in = x.now.undo_left.in = x.now.recalls.in = scratch;
    x.recalls_of.in = x.unwinds_of.in = x.lifted.in = scratch;
    ir_walk(fn->body, collect_block_ops, &x);
    for (size_t i = 0; options->block != 1 && i < x.loops.n; i++)
        divide_loop(&x, x.loops.at[i]);
    if (x.changed) {
        grow_replace_map(&x);
        ir_replace_all(fn, x.replace);
    }
    return x.changed;
}

bool
ad_blocks(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        changed |= divide_loops(fn, &c->plan, c->scratch);
    c->divided = true;
    return changed;
}
