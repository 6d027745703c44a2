/* Threads side by side: parallel loops run in groups of W threads, one in each lane of a vector.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   parallel (%i) = (%lo) to (%n) {            parallel (%i, %m: boolx16) = (%lo) to (%n) {
 *     %v = load %x[%i]                           %v: f32x16 = load.successive %x[%i] if %m
 *     %c = gt %v, %zero                          %c: boolx16 = gt %v, %zero
 *     %r = if %c {              ->               %r: f32x16 = select %c, ..., %v
 *       %s = mul %v, %v   yield %s                 (a branch only where it is worth asking)
 *     } else { yield %v }
 *     store %y[%i], %r                           store.successive %y[%i], %r if %m
 *
 * After the plan and before the tape is lowered: what is recalled is settled, and the tape that is made then is
 * the group's, with one cursor. Values that are the same in all threads stay single, so do their loops and
 * branches; control is always the group's. The rules are in lanes_control.c and lanes_memory.c, what differs
 * between threads is found in analysis/divergence.c. A parallel loop that takes back what another left on its worker's
 * tape runs in the same groups.
 *
 * A loop that does not gain, or cannot run so (lanes_check.c), stays as it was: that is W = 1. */
#include "lanes/lanes.h"
#include "analysis/uses.h"
#include "opt/edit.h"

/* -- ops ----------------------------------------------------------------------------------------- */

static void
make_scalar(lanes *l, const ir_op *op)
{
    const ir_value *v = op->results[0];
    ir_value *one = NULL, *all = NULL;
    ir_shape_kind kind = (ir_shape_kind)ir_shape_of(&l->divergence, v).kind;
    for (int lanes = 0; lanes < 2; lanes++) {
        if (kind == (lanes ? IR_SAME : IR_ANY))
            continue;
        ir_op *made = ir_op_like(l->fn, op);
        for (uint32_t i = 0; i < op->nargs; i++)
            ir_op_arg(made, l->fn, lanes ? lanes_operand(l, op->args[i]) : lanes_one(l, op->args[i]));
        ir_append(l->into, made);
        ir_value *result = ir_op_result(made, l->fn, lanes ? lanes_type(l, v->type) : v->type, NULL);
        *(lanes ? &all : &one) = result;
    }
    lanes_set(l, v, one, all);
}

/* const, array, table, extent: of no operands but buffers */
static void
make_alike(lanes *l, const ir_op *op)
{
    const ir_value *v = op->results[0];
    ir_op *made = ir_op_like(l->fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(made, l->fn, lanes_one(l, op->args[i]));
    ir_append(l->into, made);
    lanes_put(l, v, ir_op_result(made, l->fn, lanes_carried_type(l, v), NULL));
}

/* for each element of a table: into an array with lanes */
static void
copy_table(lanes *l, const ir_op *op)
{
    ir_type type = lanes_type(l, op->results[0]->type);
    ir_value *args[3] = {lanes_const(l, RG_I64, 0), lanes_const(l, RG_I64, type.length),
                         lanes_value(l, RG_OP_ARRAY, type, 0, NULL)};
    ir_op *loop = lanes_op(l, RG_OP_FOR, 3, args, 1);
    loop->attr.step = 1;
    ir_region *body = loop->regions[0], *was = lanes_enter(l, body);
    ir_value *index = ir_region_param(body, ir_scalar(RG_I64), NULL), *array = ir_region_param(body, type, NULL);
    ir_value *from[2] = {lanes_one(l, op->args[0]), index};
    ir_value *element = lanes_value(l, RG_OP_EXTRACT, ir_scalar((rg_dtype)type.dtype), 2, from);
    array = lanes_value(l, RG_OP_INSERT, type, 3, (ir_value *[]){array, index, lanes_splat(l, element)});
    lanes_yield(l, 1, &array);
    lanes_enter(l, was);
    lanes_put(l, op->results[0], ir_op_result(loop, l->fn, type, NULL));
}

static void
lower_copy(lanes *l, const ir_op *op)
{
    ir_value *from = lanes_operand(l, op->args[0]);
    if (lanes_carried_type(l, op->results[0]).lanes && !from->type.lanes)
        copy_table(l, op);
    else
        lanes_put(l, op->results[0], lanes_unary(l, RG_OP_COPY, from->type, from));
}

/* A branch that is no branch any more leaves its values where they can be seen. */
static void
make_recall(lanes *l, const ir_op *op)
{
    ir_value *of = op->args[0], *v = op->results[0];
    if (of->type.kind == IR_TRACE && lanes_is_silent(l, ir_trace_maker(of)))
        return;
    bool in_lanes = lanes_carried_type(l, v).lanes;
    ir_value *what = in_lanes ? lanes_operand(l, of) : lanes_one(l, of);
    bool seen = ir_region_inside(l->into, what->region);
    ir_value *then = seen ? what : lanes_unary(l, RG_OP_RECALL, what->type, what);
    lanes_set_carried(l, v, in_lanes ? lanes_splat(l, then) : then);
}

static void
make_call(lanes *l, const ir_op *op)
{
    ir_op *made = ir_op_like(l->fn, op);
    made->attr.fn = lower_lanes_function(l->fn->module, op->attr.fn, l->width, l->scratch);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(made, l->fn, lanes_all(l, op->args[i]));
    ir_append(l->into, made);
    for (uint32_t i = 0; i < op->nresults; i++) {
        const ir_value *v = op->results[i];
        lanes_put(l, v, ir_op_result(made, l->fn, lanes_type(l, v->type), NULL));
    }
}

void
lanes_make(lanes *l, const ir_op *op)
{
    l->loc = op->loc;
    if (ir_ops[op->code].form != IR_OTHER) {
        make_scalar(l, op);
        return;
    }
    switch ((int)op->code) {
    case RG_OP_CONST:
    case RG_OP_ARRAY:
    case RG_OP_TABLE:
    case RG_OP_EXTENT:
        make_alike(l, op);
        return;
    case RG_OP_COPY:
        lower_copy(l, op);
        return;
    case RG_OP_RECALL:
        make_recall(l, op);
        return;
    case RG_OP_CALL:
        make_call(l, op);
        return;
    case RG_OP_LOAD:
        lanes_load(l, op);
        return;
    case RG_OP_STORE:
        lanes_store(l, op);
        return;
    case RG_OP_RMW:
        lanes_rmw(l, op);
        return;
    case RG_OP_EXTRACT:
        lanes_extract(l, op);
        return;
    case RG_OP_INSERT:
        lanes_insert(l, op);
        return;
    case RG_OP_IF:
        lanes_if(l, op);
        return;
    case RG_OP_FOR:
        (lanes_runs_along(l, op) ? lanes_along : lanes_for)(l, op);
        return;
    case RG_OP_LOOP:
        lanes_loop(l, op);
        return;
    case RG_OP_UNWIND:
        (lanes_runs_along(l, op) ? lanes_along : lanes_unwind)(l, op);
        return;
    case RG_OP_ASSERT:
        lanes_assert(l, op);
        return;
    case RG_OP_PRINT:
        lanes_print(l, op);
        return;
    }
    assert(!"an op of a thread before its tape is lowered");
}

void
lanes_region(lanes *l, const ir_region *r)
{
    ir_for_ops(op, r)
    {
        if (op->code != RG_OP_YIELD && !lanes_is_moved(l, op, NULL))
            lanes_make(l, op);
    }
}

/* -- parallel loops -------------------------------------------------------------------------------- */

static void
start_lanes(lanes *l, ir_fn *fn, arena *scratch)
{
    *l = (lanes){.fn = fn, .scratch = scratch, .target = fn->module->target, .known = fn->next_id};
    l->moved.in = l->frames.in = scratch;
    l->footprints = ir_footprints_in(scratch);
    l->divergence = ir_divergence_of(fn, scratch);
    l->one = arena_new_n(l->scratch, ir_value *, l->known + 1);
    l->all = arena_new_n(l->scratch, ir_value *, l->known + 1);
    l->uses = ir_count_uses(l->scratch, fn);
}

static void
make_parallel(lanes *l, ir_op *op)
{
    ir_region *old = op->regions[0], *body = ir_region_new(l->fn, op);
    const ir_op *end = ir_terminator(old);
    uint32_t rank = op->attr.rank, n = end->nargs;
    l->into = body;
    l->mask = NULL;
    for (uint32_t i = 0; i < rank; i++) {
        ir_value *index = ir_region_param(body, old->params[i]->type, old->params[i]->name);
        l->one[old->params[i]->id] = index;
    }
    l->threads = ir_region_param(body, ir_with_lanes(ir_scalar(RG_BOOL), l->width), NULL);
    lanes_set_step(l, old->params[rank - 1], l->one[old->params[rank - 1]->id]);
    lanes_region(l, old);
    ir_value **yields = arena_new_n(l->scratch, ir_value *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        yields[i] = lanes_or_identity(l, l->threads, lanes_all(l, end->args[i]), (rg_rmw)op->reduce[i]);
    lanes_yield(l, n, yields);
    op->regions[0] = body;
}

typedef vec(ir_op *) tasks;

static bool
collect_task(ir_op *op, void *user)
{
    tasks *t = user;
    if (op->code == RG_OP_PARALLEL)
        vec_push(t, op);
    return true;
}

static void
find_shapes(lanes *l, const tasks *all)
{
    bool changed = true;
    for (size_t i = 0; i < all->n; i++) {
        const ir_region *body = all->at[i]->regions[0];
        uint32_t last = all->at[i]->attr.rank - 1;
        ir_divergence_set(&l->divergence, body->params[last], 1);
    }
    while (changed) {
        changed = false;
        for (size_t i = 0; i < all->n; i++)
            changed |= ir_divergence_grow(&l->divergence, all->at[i]->regions[0]);
    }
}

static const ir_op *
taken_back(const ir_op *task)
{
    return task->rewinds ? ir_trace_maker(task->args[2 * task->attr.rank]) : NULL;
}

/* A task and all that take back its frames have one width: what the narrowest wants. One that only takes them back, where a
 * loop is left, wants nothing. */
static void
agree(const tasks *all, unsigned *width)
{
    for (int told = 0; told < 2; told++)
        for (size_t i = 0; i < all->n; i++)
            for (size_t k = 0; k < i; k++) {
                if (taken_back(all->at[i]) != all->at[k])
                    continue;
                if (told)
                    width[i] = width[k];
                else if (all->at[i]->regions[0]->first->code != RG_OP_YIELD && width[i] < width[k])
                    width[k] = width[i];
            }
}

static void
choose_widths(lanes *l, const tasks *all, unsigned *width)
{
    const char **refused = arena_new_n(l->scratch, const char *, all->n + 1);
    for (size_t i = 0; i < all->n; i++) {
        l->refused = NULL;
        lanes_find_partial(l, all->at[i]->regions[0]);
        refused[i] = l->refused;
    }
    find_shapes(l, all); /* loops that were alike may differ now */
    lanes_find_silent(l, l->fn->body);
    for (size_t i = 0; i < all->n; i++) {
        l->refused = refused[i];
        width[i] = lanes_choose(l, all->at[i]);
    }
    agree(all, width);
}

static bool
tell_loop(ir_op *op, void *user)
{
    lanes_tell_loop(user, op);
    return true;
}

static bool
lower_kernel(ir_fn *fn, pass_context *c)
{
    lanes l;
    tasks all = {.in = c->scratch};
    bool changed = false;
    start_lanes(&l, fn, c->scratch);
    l.context = c;
    ir_walk(fn->body, collect_task, &all);
    find_shapes(&l, &all);
    unsigned *width = arena_new_n(l.scratch, unsigned, all.n + 1);
    choose_widths(&l, &all, width);
    for (size_t i = 0; i < all.n; i++)
        if (width[i] > 1) {
            l.width = width[i];
            if (c->told_loop)
                ir_walk(all.at[i]->regions[0], tell_loop, &l);
            make_parallel(&l, all.at[i]);
            changed = true;
        }
    return changed;
}

bool
lower_lanes(ir_module *m, pass_context *c)
{
    return (c->lanes != 1 || m->target->warp) && m->first->kernel && lower_kernel(m->first, c);
}

/* -- functions --------------------------------------------------------------------------------------- */

static void
fill_function(lanes *l, const ir_fn *from)
{
    const ir_region *old = from->body;
    const ir_op *end = ir_terminator(old);
    for (uint32_t i = 0; i < old->nparams; i++) {
        const ir_value *v = old->params[i];
        lanes_put(l, v, ir_region_param(l->into, lanes_type(l, v->type), v->name));
        ir_divergence_set(&l->divergence, v, 0);
    }
    while (ir_divergence_grow(&l->divergence, old))
        ;
    lanes_region(l, old);
    ir_value **yields = arena_new_n(l->scratch, ir_value *, end->nargs + 1);
    for (uint32_t i = 0; i < end->nargs; i++)
        yields[i] = lanes_all(l, end->args[i]);
    lanes_yield(l, end->nargs, yields);
}

ir_fn *
lower_lanes_function(ir_module *m, const ir_fn *fn, unsigned width, arena *scratch)
{
    str name = {.in = scratch};
    lanes l;
    str_addf(&name, "%s.x%u", fn->name, width);
    ir_fn *made = ir_fn_find(m, str_view(&name));
    if (!made) {
        made = ir_fn_new(m, name.ptr, false);
        made->loc = fn->loc;
        start_lanes(&l, (ir_fn *)fn, scratch);
        l.fn = made;
        l.width = width;
        l.into = made->body;
        fill_function(&l, fn);
    }
    return made;
}
