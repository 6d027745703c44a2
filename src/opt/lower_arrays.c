/* Local array values become slots, written in place. SPDX-License-Identifier: Apache-2.0
 *
 *   %a: f64[9] = array                           %s: slot<f64,9> = slot     (where the thread starts)
 *   %r = for %i .. (%c: f64[9] = %a) {           slot_zero %s
 *     %v: f64 = extract %c[%i]             ->    for %i .. {
 *     %b: f64[9] = insert %c[%i], %w               %v: f64 = slot_load %s[%i]
 *     yield %b                                     slot_store %s[%i], %w
 *   }                                            }
 *
 * Arrays are linear: a consumed value is not used again. So every value lives in a slot that is fixed when compiling:
 *
 *   array, copy, tape_pop    a slot of their own: of the values that one op makes only one is alive at a time, since a
 *                            value that survives an iteration does so in the slot of a carried value
 *   insert                   its operand's slot
 *   carried value, result    the slot of the initial value, which the loop consumed
 *   result of an if          the slot of a value that one branch yields; the other branch copies
 *   result of a loop         the slot of the value at its first exit; the other exits copy
 *
 * Where a yield or an exit hands on a value in another slot, it is copied: all copies of one hand-over at once, through a
 * temporary where they form a circle. */
#include "analysis/integers.h"
#include "analysis/uses.h"
#include "opt/pass.h"

typedef struct lowering {
    ir_fn *fn;
    arena *scratch;
    uint32_t *uses; /* by id */
    ir_value **slot; /* by the array value's id */
    uint32_t nids;
    vec(ir_value *) spare; /* slots for circles */
} lowering;

static ir_value *
slot_of(const lowering *l, const ir_value *v)
{
    if (v->type.kind == IR_SLOT || (v->def && v->def->code == RG_OP_TABLE))
        return (ir_value *)v; /* read where it lies */
    assert(v->id < l->nids && l->slot[v->id]);
    return l->slot[v->id];
}

/* The region at whose start a slot of `r` stands: the innermost thread's, or the kernel's body. */
static ir_region *
slot_region(const lowering *l, ir_region *r)
{
    while (r->op && r->op->code != RG_OP_PARALLEL)
        r = r->op->parent;
    return r;
}

static ir_value *
new_slot(lowering *l, ir_region *r, ir_type array, const char *name, ir_loc loc)
{
    ir_op *op = ir_op_new(l->fn, RG_OP_SLOT, 0, 0, loc);
    ir_value *slot = ir_op_result(op, l->fn, ir_with_lanes(ir_slot((rg_dtype)array.dtype, array.length), array.lanes), name);
    ir_insert_first(slot_region(l, r), op);
    return slot;
}

static void
set_slot(lowering *l, const ir_value *v, ir_value *slot)
{
    l->slot[v->id] = slot;
}

/* -- hand-overs -------------------------------------------------------------------------------- */

typedef struct move {
    ir_value *to, *from;
} move;

static void
add_copy(lowering *l, ir_op *before, ir_value *to, ir_value *from)
{
    ir_op *op = ir_op_new(l->fn, RG_OP_SLOT_COPY, 0, 0, before->loc);
    ir_op_arg(op, l->fn, to);
    ir_op_arg(op, l->fn, from);
    ir_insert_before(before, op);
}

static bool
is_read(const move *moves, uint32_t n, const ir_value *slot)
{
    for (uint32_t i = 0; i < n; i++)
        if (moves[i].from == slot)
            return true;
    return false;
}

static ir_value *
spare_slot(lowering *l, ir_op *at, const ir_value *like)
{
    ir_region *r = slot_region(l, at->parent);
    for (size_t i = 0; i < l->spare.n; i++)
        if (l->spare.at[i]->region == r && ir_type_eq(l->spare.at[i]->type, like->type))
            return l->spare.at[i];
    ir_value *slot = new_slot(l, at->parent, like->type, "spare", at->loc);
    vec_push(&l->spare, slot);
    return slot;
}

/* All moves at once, before the op: first those into slots that none still reads; a circle is
 * broken by setting one slot's content aside. */
static void
hand_over(lowering *l, ir_op *before, move *moves, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        if (moves[i].to != moves[i].from)
            moves[left++] = moves[i];
    while (left) {
        uint32_t free = 0;
        while (free < left && is_read(moves, left, moves[free].to))
            free++;
        if (free < left) {
            add_copy(l, before, moves[free].to, moves[free].from);
            moves[free] = moves[--left];
            continue;
        }
        ir_value *aside = spare_slot(l, before, moves[0].to), *from = moves[0].to;
        add_copy(l, before, aside, from);
        for (uint32_t i = 0; i < left; i++)
            if (moves[i].from == from)
                moves[i].from = aside;
    }
}

/* the moves of operands first, first + 1, ... of `from` into the slots of `to` */
static uint32_t
moves_of(const lowering *l, const ir_op *from, uint32_t first, ir_value *const *to, uint32_t n,
         move *moves)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ir_is_array(to[i]))
            moves[k++] = (move){slot_of(l, to[i]), slot_of(l, from->args[first + i])};
    return k;
}

static move *
room_for_moves(lowering *l, uint32_t n)
{
    return arena_new_n(l->scratch, move, n + 1);
}

static void
hand_over_at_end(lowering *l, ir_region *r, ir_value *const *to, uint32_t n)
{
    ir_op *yield = ir_terminator(r);
    move *moves = room_for_moves(l, n);
    hand_over(l, yield, moves, moves_of(l, yield, 0, to, n, moves));
}

/* -- arrays leave operands, results and parameters --------------------------------------------- */

static void
drop_array_args(ir_op *op)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!ir_is_array(op->args[i]))
            op->args[n++] = op->args[i];
    op->nargs = n;
}

static void
drop_array_results(ir_op *op)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (!ir_is_array(op->results[i])) {
            op->results[i]->index = n;
            op->results[n++] = op->results[i];
        }
    op->nresults = n;
}

static void
drop_array_params(ir_region *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nparams; i++)
        if (!ir_is_array(r->params[i])) {
            r->params[i]->index = n;
            r->params[n++] = r->params[i];
        }
    r->nparams = n;
}

/* -- ops --------------------------------------------------------------------------------------- */

static void lower_region(lowering *l, ir_region *r);

/* The same op object becomes the slot op, so values of others stay as they are. */
static void
become(lowering *l, ir_op *op, rg_op code, ir_value *first)
{
    op->code = (uint16_t)code;
    if (op->nargs)
        op->args[0] = first;
    else
        ir_op_arg(op, l->fn, first);
    if (code != RG_OP_SLOT_LOAD)
        op->nresults = 0;
}

static bool
is_number(const ir_value *v, int64_t n)
{
    range r = range_of(v);
    return r.min == n && r.max == n;
}

/* Whether a loop sets each element before anything looks at the new array: until its end nothing does. */
static bool
is_filled(const lowering *l, const ir_op *made)
{
    const ir_value *v = made->results[0];
    const ir_op *loop = made->next;
    while (loop && !ir_uses_by(loop, v))
        loop = loop->next;
    if (l->uses[v->id] != 1 || !loop || loop->code != RG_OP_FOR || loop->attr.step != 1 || !is_number(loop->args[0], 0) ||
        !is_number(loop->args[1], v->type.length))
        return false;
    uint32_t k = 2;
    while (k < loop->nargs && loop->args[k] != v)
        k++;
    if (k == loop->nargs)
        return false;
    const ir_region *body = loop->regions[0];
    const ir_op *first = body->first;
    while (first && !ir_uses_by(first, body->params[k - 1]))
        first = first->next;
    return l->uses[body->params[k - 1]->id] == 1 && first && first->code == RG_OP_INSERT && !first->masked &&
           ir_without_widening(first->args[1]) == body->params[0] && l->uses[first->results[0]->id] == 1 &&
           ir_terminator(body)->args[k - 2] == first->results[0];
}

static void
lower_made(lowering *l, ir_op *op)
{
    ir_value *v = op->results[0];
    ir_value *slot = new_slot(l, op->parent, v->type, v->name, op->loc);
    bool filled = op->code == RG_OP_ARRAY && is_filled(l, op);
    set_slot(l, v, slot);
    if (filled) {
        ir_remove(op);
        return;
    }
    if (op->code == RG_OP_ARRAY) {
        become(l, op, RG_OP_SLOT_ZERO, slot);
        return;
    }
    ir_value *from = slot_of(l, op->args[0]);
    become(l, op, RG_OP_SLOT_COPY, slot);
    ir_op_arg(op, l->fn, from);
}

static void
lower_insert(lowering *l, ir_op *op)
{
    ir_value *slot = slot_of(l, op->args[0]);
    set_slot(l, op->results[0], slot);
    become(l, op, RG_OP_SLOT_STORE, slot);
}

static void
lower_extract(lowering *l, ir_op *op)
{
    ir_value *from = op->args[0];
    if (from->def && from->def->code == RG_OP_TABLE)
        return;
    become(l, op, RG_OP_SLOT_LOAD, slot_of(l, from));
}

static bool
taken_before(const lowering *l, const ir_op *op, uint32_t k, const ir_value *slot)
{
    for (uint32_t i = 0; i < k; i++)
        if (ir_is_array(op->results[i]) && slot_of(l, op->results[i]) == slot)
            return true;
    return false;
}

/* the slot was made for a value outside of the region: to keep it saves a copy further on */
static bool
is_older(const ir_value *array, const ir_region *r)
{
    return !ir_region_inside(array->region, r);
}

static void
choose_if_result(lowering *l, ir_op *op, uint32_t k)
{
    const ir_value *a = ir_terminator(op->regions[0])->args[k];
    const ir_value *b = ir_terminator(op->regions[1])->args[k];
    ir_value *first = slot_of(l, a), *second = slot_of(l, b);
    if (first != second && !is_older(a, op->regions[0]) && is_older(b, op->regions[1])) {
        ir_value *swap = first;
        first = second;
        second = swap;
    }
    ir_value *slot = !taken_before(l, op, k, first)    ? first
                     : !taken_before(l, op, k, second) ? second
                                                       : NULL;
    if (!slot)
        slot = new_slot(l, op->parent, op->results[k]->type, op->results[k]->name, op->loc);
    set_slot(l, op->results[k], slot);
}

static void
lower_if(lowering *l, ir_op *op)
{
    for (int i = 0; i < 2; i++)
        lower_region(l, op->regions[i]);
    for (uint32_t k = 0; k < op->nresults; k++)
        if (ir_is_array(op->results[k]))
            choose_if_result(l, op, k);
    for (int i = 0; i < 2; i++) {
        hand_over_at_end(l, op->regions[i], op->results, op->nresults);
        drop_array_args(ir_terminator(op->regions[i]));
    }
    drop_array_results(op);
}

/* for and loop: carried values live where their initial values did */
static void
lower_carried(lowering *l, ir_op *op)
{
    ir_region *body = op->regions[0];
    uint32_t first = ir_first_init(op), skip = op->code == RG_OP_FOR ? 1 : 0;
    for (uint32_t i = first; i < op->nargs; i++)
        if (ir_is_array(op->args[i]))
            set_slot(l, body->params[skip + i - first], slot_of(l, op->args[i]));
    lower_region(l, body);
    hand_over_at_end(l, body, body->params + skip, body->nparams - skip);
    drop_array_args(ir_terminator(body));
}

static void
uncarry(ir_op *op)
{
    drop_array_params(op->regions[0]);
    drop_array_args(op);
    drop_array_results(op);
}

static void
lower_for(lowering *l, ir_op *op)
{
    lower_carried(l, op);
    for (uint32_t k = 0; k < op->nresults; k++)
        if (ir_is_array(op->results[k]))
            set_slot(l, op->results[k], slot_of(l, op->regions[0]->params[1 + k]));
    uncarry(op);
}

/* Copies of an exit happen only if it is taken. */
static void
lower_exit(lowering *l, ir_op *loop, ir_op *exit)
{
    uint32_t n = loop->nresults, differ = 0;
    move *moves = room_for_moves(l, n);
    uint32_t count = moves_of(l, exit, 1, loop->results, n, moves);
    for (uint32_t i = 0; i < count; i++)
        differ += moves[i].to != moves[i].from;
    if (differ) {
        ir_op *leaves = ir_op_new(l->fn, RG_OP_IF, 0, 2, exit->loc);
        ir_op_arg(leaves, l->fn, exit->args[0]);
        for (int i = 0; i < 2; i++)
            ir_append(leaves->regions[i], ir_op_new(l->fn, RG_OP_YIELD, 0, 0, exit->loc));
        ir_insert_before(exit, leaves);
        hand_over(l, leaves->regions[0]->first, moves, count);
    }
    drop_array_args(exit);
}

static void
choose_loop_result(lowering *l, ir_op *op, const ir_op *exit, uint32_t k)
{
    ir_value *v = op->results[k];
    ir_value *slot = exit ? slot_of(l, exit->args[1 + k]) : NULL;
    if (!slot || taken_before(l, op, k, slot))
        slot = new_slot(l, op->parent, v->type, v->name, op->loc);
    set_slot(l, v, slot);
}

static void
lower_loop(lowering *l, ir_op *op)
{
    ir_region *body = op->regions[0];
    lower_carried(l, op);
    const ir_op *exit = body->first;
    while (exit && exit->code != RG_OP_EXIT_IF)
        exit = exit->next;
    for (uint32_t k = 0; k < op->nresults; k++)
        if (ir_is_array(op->results[k]))
            choose_loop_result(l, op, exit, k);
    for (ir_op *inner = body->first, *next; inner; inner = next) {
        next = inner->next;
        if (inner->code == RG_OP_EXIT_IF)
            lower_exit(l, op, inner);
    }
    uncarry(op);
}

static void
lower_push(lowering *l, ir_op *op)
{
    for (uint32_t i = 1; i < op->nargs; i++)
        if (ir_is_array(op->args[i]))
            op->args[i] = slot_of(l, op->args[i]);
}

/* The popped array lies in the frame; it is copied from there at once. */
static void
lower_pop(lowering *l, ir_op *op)
{
    for (uint32_t i = 1; i < op->nresults; i++) {
        ir_value *v = op->results[i];
        if (!ir_is_array(v))
            continue;
        ir_value *slot = new_slot(l, op->parent, v->type, v->name, op->loc);
        set_slot(l, v, slot);
        ir_value *frame = arena_one(l->fn->module->arena, ir_value);
        *frame = *v;
        frame->id = l->fn->next_id++;
        frame->type = slot->type;
        op->results[i] = frame;
        add_copy(l, op->next, slot, frame);
    }
}

static void
lower_op(lowering *l, ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_ARRAY:
    case RG_OP_COPY:
        lower_made(l, op);
        return;
    case RG_OP_INSERT:
        lower_insert(l, op);
        return;
    case RG_OP_EXTRACT:
        lower_extract(l, op);
        return;
    case RG_OP_IF:
        lower_if(l, op);
        return;
    case RG_OP_FOR:
        lower_for(l, op);
        return;
    case RG_OP_LOOP:
        lower_loop(l, op);
        return;
    case RG_OP_PARALLEL:
        lower_region(l, op->regions[0]);
        return;
    case RG_OP_TAPE_PUSH:
    case RG_OP_TAPE_THIN:
        lower_push(l, op);
        return;
    case RG_OP_TAPE_POP:
        lower_pop(l, op);
        return;
    default: /* no other op sees an array but through these */
        return;
    }
}

static void
lower_region(lowering *l, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        lower_op(l, op);
    }
}

static bool
find_array(ir_op *op, void *user)
{
    bool table = op->code == RG_OP_TABLE;
    for (uint32_t i = 0; i < op->nresults && !table; i++)
        if (ir_is_array(op->results[i]))
            return false;
    return true;
}

bool
lower_arrays(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        if (!fn->kernel || ir_walk(fn->body, find_array, NULL))
            continue;
        lowering l = {.fn = fn, .nids = fn->next_id, .scratch = c->scratch, .spare.in = c->scratch};
        l.slot = arena_alloc(c->scratch, sizeof(*l.slot) * l.nids);
        l.uses = ir_count_uses(c->scratch, fn);
        lower_region(&l, fn->body);
        changed = true;
    }
    return changed;
}
