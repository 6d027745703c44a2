/* Short loops of known length become their iterations. SPDX-License-Identifier: Apache-2.0
 *
 *   %s = for %k = 0 to 3 step 1 (%a = %z) {           %x0 = extract %v[0]   %s0 = add %z, %x0
 *     %x = extract %v[%k]  %b = add %a, %x       ->   %x1 = extract %v[1]   %s1 = add %s0, %x1
 *     yield %b                                        %x2 = extract %v[2]   %s  = add %s1, %x2
 *   }
 *
 * So do loops from %i to %i + 3. Where that sum may wrap, and the loop then not run, the iterations stand in an if.
 *
 * Before differentiation: such a loop then needs no tape, and where its index was a subscript of a
 * local array, the subscript is known (opt_elements). From four iterations on a loop is better left
 * to become vectors of neighbouring elements, but in warps, which have none: there a known subscript of
 * what all threads share makes a sum over threads of its adjoint (opt_hoist); loops inside may be there if their
 * lengths are then known. More operations may come of a loop by whose index local arrays are subscripted; in
 * warps only if it stands in one which stays: what its reverse sweep needs is then computed again in each iteration,
 * while elsewhere a thread would keep it from its forward sweep. Loops around parallel loops, and those that hold a loop
 * whose length is not known, stay. So do functions: what a kernel computes with their derivatives is rounded alike at
 * every stage. */
#include "analysis/integers.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { MOST_GROWTH = 4000, BOUND_DEPTH = 6, FEW_ELEMENTS = 8 };

typedef struct unrolling {
    edit edit;
    ir_value **map; /* of one loop at a time */
    uint32_t room;  /* entries of map */
    uint32_t grown;
} unrolling;

typedef struct measure {
    uint32_t ops;
    bool loops;
} measure;

/* what is computed from constants and indices alone folds, or is cheap */
static bool
is_subscript(const ir_op *op)
{
    return (ir_ops[op->code].flags & IR_PURE) && op->nresults == 1 &&
           op->results[0]->type.kind == IR_SCALAR &&
           !ir_is_float((rg_dtype)op->results[0]->type.dtype);
}

/* Whether the index of the loop around, once it is a constant, makes a constant of it. */
static bool
is_of_index(const ir_value *v, const ir_value *index, unsigned depth)
{
    if (v == index || ir_is_const(v, &(uint64_t){0}))
        return true;
    if (!depth || !v->def || !is_subscript(v->def) || v->def->nregions)
        return false;
    for (uint32_t k = 0; k < v->def->nargs; k++)
        if (!is_of_index(v->def->args[k], index, depth - 1))
            return false;
    return true;
}

/* Of the loop around an inner one: how often that runs in one iteration; 0: that is not known. */
static uint32_t
iterations_inside(const target *machine, const ir_op *op, const ir_value *index)
{
    bool surely;
    if (!machine->unroll_inside || op->code != RG_OP_FOR)
        return 0;
    uint64_t count = ir_fixed_iterations(op, &surely);
    if (count && surely)
        return count <= machine->unroll ? (uint32_t)count : 0;
    bool known_then = index && is_of_index(op->args[0], index, BOUND_DEPTH) && is_of_index(op->args[1], index, BOUND_DEPTH);
    return known_then ? machine->unroll_inside : 0;
}

/* Where code has to be short, a function counts for its own. */
static uint32_t
size_of(const target *machine, const ir_op *op)
{
    if (op->code == RG_OP_CONST || is_subscript(op))
        return 0;
    return machine->code && (ir_ops[op->code].flags & IR_FUNCTION) ? (uint32_t)machine->function : 1;
}

/* Loops inside whose bounds become known have their turn when the loop around is no more. */
static void
measure_region(measure *m, const ir_region *r, const ir_value *index, const target *machine, uint32_t times)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        uint32_t inside = op->nregions && op->code != RG_OP_IF ? iterations_inside(machine, op, index) : 1;
        m->ops += times * size_of(machine, op);
        m->loops |= !inside || times * inside > MOST_GROWTH;
        for (uint32_t k = 0; k < op->nregions && !m->loops; k++)
            measure_region(m, op->regions[k], index, machine, times * inside);
    }
}

typedef struct element_query {
    const ir_value *index;
    bool found;
} element_query;

static bool
find_element(ir_op *op, void *user)
{
    element_query *q = user;
    bool element = (op->code == RG_OP_EXTRACT || op->code == RG_OP_INSERT) && !ir_is_table(op->args[0]);
    q->found |= element && !ir_is_const(op->args[1], NULL) && is_of_index(op->args[1], q->index, BOUND_DEPTH);
    return !q->found;
}

/* whether elements of local arrays are known once the index is */
static bool
names_elements(const ir_op *loop)
{
    element_query q = {loop->regions[0]->params[0], false};
    ir_walk(loop->regions[0], find_element, &q);
    return q.found;
}

/* A loop whose length is known and short may go later, or stay for its size: it does not count as one that stays. */
static bool
is_in_loop(const target *machine, const ir_op *loop)
{
    const ir_op *around = loop->parent->op;
    while (around && (around->code == RG_OP_IF || iterations_inside(machine, around, NULL)))
        around = around->parent->op;
    return around && ir_is_loop(around);
}

/* Operations that may come of it: more, if elements of local arrays are known then. */
static uint32_t
growth_allowed(const target *machine, const ir_op *loop)
{
    bool more = names_elements(loop) && (!machine->code || is_in_loop(machine, loop));
    return more ? machine->unroll_elements : machine->unroll_ops;
}

/* How often it runs, if that is known and few; 0: it stays. */
static uint32_t
iterations_to_unroll(const unrolling *u, const ir_op *op, bool *surely)
{
    measure m = {0};
    if (op->records || edit_any_recalled(&u->edit, op->regions[0]))
        return 0;
    uint64_t count = ir_fixed_iterations(op, surely);
    const target *machine = u->edit.fn->module->target;
    if (count < 1 || count > (machine->unroll < FEW_ELEMENTS && names_elements(op) ? FEW_ELEMENTS : machine->unroll))
        return 0;
    measure_region(&m, op->regions[0], op->regions[0]->params[0], machine, 1);
    uint32_t all = m.ops * (uint32_t)count;
    return m.loops || all > growth_allowed(machine, op) || u->grown + all > MOST_GROWTH ? 0 : (uint32_t)count;
}

/* iteration i's index, before `at` */
static ir_value *
index_in_iteration(unrolling *u, const ir_op *loop, ir_op *at, uint32_t i)
{
    ir_type type = loop->args[0]->type;
    uint64_t more = ir_wrap((rg_dtype)type.dtype, i * (uint64_t)loop->attr.step);
    return i ? edit_scalar(&u->edit, at, RG_OP_ADD, type, loop->args[0], edit_const(&u->edit, at, type, more), NULL) : loop->args[0];
}

/* all iterations before `at`; `carried` becomes what the loop results in */
static void
copy_iterations(unrolling *u, const ir_op *loop, ir_op *at, uint32_t count, ir_value **carried)
{
    if (u->edit.fn->next_id > u->room) { /* what it holds of loops before is of values that are gone */
        u->room = 2 * u->edit.fn->next_id;
        u->map = arena_new_n(u->edit.scratch, ir_value *, u->room);
    }
    for (uint32_t i = 0; i < count; i++) {
        ir_value *index = index_in_iteration(u, loop, at, i);
        ir_op *copy = edit_copy_iteration(&u->edit, loop, at, ir_terminator(loop->regions[0])->prev, index, carried, u->map);
        for (; copy != at; copy = copy->next)
            u->grown += !is_subscript(copy);
    }
}

static void
unroll(unrolling *u, ir_op *loop, uint32_t count, bool surely)
{
    ir_fn *fn = u->edit.fn;
    ir_value **carried = arena_new_n(u->edit.scratch, ir_value *, loop->nresults + 1);
    ir_op *then = loop, *otherwise, *branch = surely ? NULL : edit_if_runs(&u->edit, loop, loop, &then, &otherwise);
    for (uint32_t k = 0; k < loop->nresults; k++)
        carried[k] = loop->args[2 + k];
    copy_iterations(u, loop, then, count, carried);
    for (uint32_t k = 0; k < loop->nresults; k++) {
        if (branch) {
            ir_op_arg(then, fn, carried[k]);
            ir_op_arg(otherwise, fn, loop->args[2 + k]);
            carried[k] = ir_op_result(branch, fn, loop->results[k]->type, loop->results[k]->name);
        }
        edit_replace(&u->edit, loop->results[k], carried[k]);
    }
    ir_remove(loop);
    u->edit.changed = true;
}

static void
unroll_region(unrolling *u, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&u->edit, op);
        for (uint32_t k = 0; k < op->nregions; k++)
            unroll_region(u, op->regions[k]);
        bool surely;
        uint32_t count = op->code == RG_OP_FOR ? iterations_to_unroll(u, op, &surely) : 0;
        if (count)
            unroll(u, op, count, surely);
    }
}

bool
opt_unroll(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        if (!fn->kernel)
            continue;
        unrolling u = {0};
        edit_start(&u.edit, fn, c->scratch);
        unroll_region(&u, fn->body);
        changed |= edit_finish(&u.edit);
    }
    return changed;
}
