/* Serial loops over arrays, at kernel level, become parallel loops of one thread. SPDX-License-Identifier: Apache-2.0
 *
 *   %s = for %t = .. (%a = ..) {                %s = parallel (%i) = (0) to (1) reduce (add -0) {
 *     %v = load %x[%t] ..                 ->      %s' = for %t = .. (%a = ..) { %v = load %x[%t] .. store %y[%t], .. }
 *     store %y[%t], .. }                          yield %s' }
 *
 * On a GPU every thread runs the kernel-level code, with the same values: a store there is done by one of them, with
 * the whole grid waiting before what reads it. So stretches of code with such loops run as a task, of one thread. What
 * is used behind it comes out as a sum (with -0, which leaves every number as it is), or is computed there too, where
 * it does not depend on the task. Before derivatives, which then are those of a task. A loop that holds parallel loops
 * stays; so does code whose local arrays reach into others, or that makes temporary arrays. */
#include "analysis/effects.h"
#include "opt/edit.h"
#include "opt/pass.h"

typedef struct serial {
    edit edit;
    ir_region *region;
    ir_op *first, *last; /* the stretch */
    map inside;          /* its ops */
    vec(ir_value *) out; /* of its values: used behind it */
    bool possible;
} serial;

/* -- what a stretch is ------------------------------------------------------------------------------- */

static bool
runs_alone(ir_op *op, void *user)
{
    (void)user;
    switch ((int)op->code) {
    case RG_OP_PARALLEL:
    case RG_OP_TEMP:
    case RG_OP_PICK:
    case RG_OP_CALL:
    case RG_OP_SNAPSHOT:
    case RG_OP_RESTORE:
        return false;
    }
    return true;
}

static bool
can_move(ir_op *op)
{
    if (op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF || !runs_alone(op, NULL))
        return false;
    for (uint32_t i = 0; i < op->nregions; i++)
        if (!ir_walk(op->regions[i], runs_alone, NULL))
            return false;
    return true;
}

static bool
no_access(ir_op *op, void *user)
{
    (void)user;
    bool array = ir_is_access(op);
    return !(array && op->args[0]->type.kind == IR_BUFFER);
}

static bool
loops_over_arrays(ir_op *op, void *user)
{
    bool loop = ir_is_loop(op);
    bool found = loop && !ir_walk(op->regions[0], no_access, NULL);
    for (uint32_t i = 0; i < op->nregions && !found; i++)
        found = !ir_walk(op->regions[i], loops_over_arrays, user);
    return !found;
}

static bool
is_pure(ir_op *op, void *user)
{
    bool ends = op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF;
    return no_access(op, user) && (ends || !(ir_ops[op->code].flags & (IR_WRITE | IR_EFFECT)));
}

/* what has to be in the task: effects, local arrays, and what holds accesses; what stands between comes along */
static bool
belongs_inside(ir_op *op)
{
    bool pure = !(ir_ops[op->code].flags & (IR_WRITE | IR_EFFECT)) || op->nregions;
    for (uint32_t i = 0; i < op->nresults; i++)
        pure &= op->results[i]->type.kind != IR_ARRAY;
    for (uint32_t i = 0; i < op->nregions && pure; i++)
        pure = ir_walk(op->regions[i], is_pure, NULL);
    return !pure;
}

/* -- what comes out ------------------------------------------------------------------------------------- */

static bool
is_made_inside(const serial *s, const ir_value *v)
{
    return v->def && map_get(&s->inside, map_ptr(v->def));
}

/* whether v can be computed again before the task */
static bool
is_free(const serial *s, const ir_value *v)
{
    if (!is_made_inside(s, v))
        return true;
    const ir_op *op = v->def;
    if (op->code != RG_OP_CONST && op->code != RG_OP_EXTENT && ir_ops[op->code].form == IR_OTHER)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!is_free(s, op->args[i]))
            return false;
    return true;
}

static void
look_at_use(serial *s, ir_value *v)
{
    bool known = false;
    if (!is_made_inside(s, v))
        return;
    for (size_t i = 0; i < s->out.n; i++)
        known |= s->out.at[i] == v;
    if (!known)
        vec_push(&s->out, v);
    s->possible &= v->type.kind == IR_SCALAR;
}

static bool
look_at_uses(ir_op *op, void *user)
{
    serial *s = user;
    for (uint32_t i = 0; i < op->nargs; i++)
        look_at_use(s, op->args[i]);
    return true;
}

/* Arrays from elsewhere may be read, not changed. */
static bool
look_inside(ir_op *op, void *user)
{
    serial *s = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_value *v = op->args[i];
        bool reads = i == 0 && (op->code == RG_OP_EXTRACT || op->code == RG_OP_COPY);
        bool foreign = !is_made_inside(s, v) && ir_region_inside(s->region, v->region);
        if (v->type.kind == IR_ARRAY && !reads && foreign)
            s->possible = false;
    }
    return true;
}

static void
look_around(serial *s)
{
    vec_clear(&s->out);
    s->possible = true;
    for (ir_op *op = s->first; op != s->last->next; op = op->next) {
        look_inside(op, s);
        for (uint32_t i = 0; i < op->nregions; i++)
            ir_walk(op->regions[i], look_inside, s);
    }
    for (ir_op *op = s->last->next; op; op = op->next) {
        look_at_uses(op, s);
        for (uint32_t i = 0; i < op->nregions; i++)
            ir_walk(op->regions[i], look_at_uses, s);
    }
}

/* -- making the task ---------------------------------------------------------------------------------------- */

static ir_value *
before_task(serial *s, ir_op *task, ir_value *v, ir_value **again)
{
    if (!is_made_inside(s, v))
        return v;
    if (again[v->id])
        return again[v->id];
    ir_op *copy = ir_op_like(s->edit.fn, v->def);
    for (uint32_t i = 0; i < v->def->nargs; i++)
        ir_op_arg(copy, s->edit.fn, before_task(s, task, v->def->args[i], again));
    ir_insert_before(task, copy);
    return again[v->id] = ir_op_result(copy, s->edit.fn, v->type, v->name);
}

static ir_value *
integer_of(serial *s, ir_op *at, ir_value *v)
{
    if (v->type.dtype != RG_BOOL)
        return v;
    return edit_scalar(&s->edit, at, RG_OP_CAST, ir_scalar(RG_I32), v, NULL, NULL);
}

/* `inner`: v in the task; gives it behind the task */
static ir_value *
bring_out(serial *s, ir_op *task, ir_op *yield, ir_value *v, ir_value *inner, ir_op *behind)
{
    ir_fn *fn = s->edit.fn;
    ir_value *sum = integer_of(s, yield, inner);
    uint64_t none = ir_identity((rg_dtype)sum->type.dtype, RG_RMW_ADD);
    ir_op_arg(task, fn, edit_const(&s->edit, task, sum->type, none));
    ir_op_arg(yield, fn, sum);
    ir_value *result = ir_op_result(task, fn, sum->type, v->name);
    if (v->type.dtype != RG_BOOL)
        return result;
    ir_value *zero = edit_const(&s->edit, behind, result->type, 0);
    return edit_scalar(&s->edit, behind, RG_OP_NE, v->type, result, zero, NULL);
}

static ir_op *
open_task(serial *s)
{
    ir_fn *fn = s->edit.fn;
    ir_op *task = ir_op_new(fn, RG_OP_PARALLEL, 2, 1, s->first->loc);
    ir_insert_before(s->first, task);
    task->attr.rank = 1;
    for (uint64_t k = 0; k < 2; k++)
        ir_op_arg(task, fn, edit_const(&s->edit, task, ir_scalar(RG_I32), k));
    ir_region_param(task->regions[0], ir_scalar(RG_I32), NULL);
    return task;
}

static void
make_task(serial *s)
{
    ir_fn *fn = s->edit.fn;
    uint32_t ids = fn->next_id + 1;
    ir_value **map = arena_new_n(s->edit.scratch, ir_value *, ids), **again = arena_new_n(s->edit.scratch, ir_value *, ids);
    ir_op *task = open_task(s), *behind = s->last->next;
    for (ir_op *op = s->first; op != behind; op = op->next)
        ir_op_clone(fn, op, map, task->regions[0]);
    for (ir_op *op = s->first, *next; op != behind; op = next) {
        next = op->next;
        ir_remove(op);
    }
    ir_op *yield = ir_op_new(fn, RG_OP_YIELD, 0, 0, task->loc);
    ir_append(task->regions[0], yield);
    for (size_t i = 0; i < s->out.n; i++) {
        ir_value *v = s->out.at[i];
        bool free = is_free(s, v);
        edit_replace(&s->edit, v, free ? before_task(s, task, v, again) : bring_out(s, task, yield, v, map[v->id], behind));
    }
    if (task->nresults) {
        uint8_t *reduce = arena_new_n(fn->module->arena, uint8_t, task->nresults);
        memset(reduce, RG_RMW_ADD, task->nresults);
        task->reduce = reduce;
    }
    s->edit.changed = true;
}

/* -- the walk ----------------------------------------------------------------------------------------------- */

/* The stretch from op to `end` (excluded), less what need not be in a task at both ends. */
static void
try_stretch(serial *s, ir_op *op, const ir_op *end)
{
    bool loops = false;
    s->first = s->last = NULL;
    s->inside = (map){.in = s->edit.scratch};
    for (; op != end; op = op->next) {
        if (!s->first && !belongs_inside(op))
            continue;
        if (!s->first)
            s->first = op;
        if (belongs_inside(op))
            s->last = op;
        loops |= op->nregions && (!loops_over_arrays(op, NULL));
    }
    if (!s->first || !loops)
        return;
    for (op = s->first; op != s->last->next; op = op->next)
        map_set(&s->inside, map_ptr(op), op);
    look_around(s);
    if (s->possible)
        make_task(s);
}

static void
make_tasks_in(serial *s, ir_region *r)
{
    ir_op *start = NULL;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (can_move(op)) {
            start = start ? start : op;
            continue;
        }
        for (uint32_t i = 0; i < op->nregions && op->code != RG_OP_PARALLEL; i++)
            make_tasks_in(s, op->regions[i]);
        s->region = r;
        if (start)
            try_stretch(s, start, op);
        start = NULL;
    }
}

bool
lower_serial(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; m->target->slow_alone && fn; fn = fn->next) {
        serial s = {.out.in = c->scratch};
        if (!fn->kernel)
            continue;
        edit_start(&s.edit, fn, c->scratch);
        make_tasks_in(&s, fn->body);
        changed |= edit_finish(&s.edit);
    }
    return changed;
}
