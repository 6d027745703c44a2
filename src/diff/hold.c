/* Arrays that functions read, kept for the reverse of their calls. SPDX-License-Identifier: Apache-2.0
 *
 *   parallel (%i) { %g = call.vjp @f(%v, %x, %one) .. }                 which @f reads %x[..] of, and %x is overwritten later
 *
 *   %t = temp   parallel (%k) { store %t[%k], (load %x[%k]) }
 *   parallel (%i) { %g = call.vjp @f(%v, %t, %one) .. }
 *
 * A call is reversed by another call, which reads the array again. What is overwritten by then the function finds in a copy,
 * through which adjoints and tangents flow like through any array. The copy stands before the task: its threads do not
 * read what others write. A thread that has written to the array itself before it calls must find that, and later what
 * stood there before: so it writes to the copy as well, and its reverse puts back what the copy held:
 *
 *   store %x[%j], %v   ->   store %x[%j], %v   %old = load %t[%j]   store %t[%j], %v        backwards: store %t[%j], %old */
#include "diff/hold.h"

#include "diff/activity.h"
#include "diff/ad.h"
#include "analysis/access.h"
#include "diff/contest.h"
#include "diff/emit.h"
#include "analysis/writes.h"

/* -- which arrays are overwritten ------------------------------------------------------------------------------ */
typedef struct write_query {
    const ir_op *call, *write;
    const ir_value *array;
    const map *put_back;
} write_query;

static bool
find_later_write(ir_op *op, void *user)
{
    write_query *q = user;
    bool put_back = q->put_back && map_get(q->put_back, map_ptr(op));
    if (!put_back && ir_does_to(op, q->array, RG_PRIMAL) & IR_CHANGES && access_reaches_after(q->call, op, NULL))
        q->write = op;
    return !q->write;
}

const ir_op *
ad_overwritten_after(const ir_fn *fn, const ir_op *call, const ir_value *array, const map *put_back)
{
    write_query q = {.call = call, .array = array, .put_back = put_back};
    ir_walk(fn->body, find_later_write, &q);
    return q.write;
}

typedef struct held {
    ir_value *array, *copy;
    ir_op *filled;     /* the op behind which the copy is there */
    const ir_op *task; /* whose threads write to it; NULL: it stays as it is */
} held;

typedef struct holding {
    ir_fn *fn;
    arena *scratch;
    ir_footprints footprints;
    ad_activity activity;
    vec(ir_op *) calls; /* that are reversed and read arrays */
    vec(held) held;
    map *put_back;
    map followed; /* writes that go to a copy as well */
} holding;

/* -- where the copy may stand ---------------------------------------------------------------------------------- */
/* not picked inside of the task, where no copy can stand */
static bool
is_there_before(const ir_op *task, const ir_value *array)
{
    return ir_region_inside(task->parent, array->region);
}

/* Before op, or before a loop around it that leaves the array alone, too. */
static ir_op *
farthest_out(holding *h, ir_op *op, ir_value *array)
{
    ir_op *best = op;
    for (ir_op *around = op->parent->op; around; around = around->parent->op) {
        if (!ir_leaves_alone(&h->footprints, around, array) || !ir_region_inside(around->parent, array->region))
            break; /* or a pick that is not there yet */
        best = around->code == RG_OP_IF ? best : around;
    }
    return best;
}

/* -- making them ------------------------------------------------------------------------------------------------ */
/* a load or store of the element that `index` says */
static ir_op *
access_of(const ir_emit *e, rg_op code, ir_value *array, ir_value *const *index)
{
    ir_op *op = ir_op_new(e->fn, code, 0, 0, e->loc);
    ir_op_arg(op, e->fn, array);
    for (uint32_t k = 0; k < array->type.rank; k++)
        ir_op_arg(op, e->fn, index[k]);
    ir_emit_place(e, op);
    return op;
}

static ir_value *
emit_load(const ir_emit *e, ir_value *array, ir_value *const *index)
{
    return ir_op_result(access_of(e, RG_OP_LOAD, array, index), e->fn, ir_scalar((rg_dtype)array->type.dtype), NULL);
}

static ir_op *
emit_store(const ir_emit *e, ir_value *array, ir_value *const *index, ir_value *value)
{
    ir_op *store = access_of(e, RG_OP_STORE, array, index);
    ir_op_arg(store, e->fn, value);
    return store;
}

static ir_value *
emit_array_copy(const ir_emit *e, ir_value *array)
{
    uint32_t rank = array->type.rank;
    ir_op *temp = ir_op_new(e->fn, RG_OP_TEMP, 0, 0, e->loc), *loop = ir_op_new(e->fn, RG_OP_PARALLEL, 0, 1, e->loc);
    for (uint32_t k = 0; k < rank; k++) {
        ir_op *extent = ir_op_new(e->fn, RG_OP_EXTENT, 0, 0, e->loc);
        extent->attr.bits = k;
        ir_op_arg(extent, e->fn, array);
        ir_emit_place(e, extent);
        ir_op_arg(temp, e->fn, ir_op_result(extent, e->fn, ir_scalar(RG_I64), NULL));
        ir_op_arg(loop, e->fn, ir_emit_int(e, RG_I64, 0));
    }
    ir_emit_place(e, temp);
    ir_value *copy = ir_op_result(temp, e->fn, array->type, array->name);
    for (uint32_t k = 0; k < rank; k++) {
        ir_op_arg(loop, e->fn, temp->args[k]);
        ir_region_param(loop->regions[0], ir_scalar(RG_I64), NULL);
    }
    loop->attr.rank = rank;
    ir_emit_place(e, loop);
    ir_emit inside = {e->fn, loop->regions[0], NULL, e->loc};
    ir_value *const *index = loop->regions[0]->params;
    emit_store(&inside, copy, index, emit_load(&inside, array, index));
    ir_emit_place(&inside, ir_op_new(e->fn, RG_OP_YIELD, 0, 0, e->loc));
    return copy;
}

/* a copy that holds what the array holds before `at`; NULL: there is none */
static ir_value *
held_before(holding *h, const ir_op *at, ir_value *array)
{
    for (size_t i = 0; i < h->held.n; i++) {
        const held *k = &h->held.at[i];
        if (k->array != array || k->task || k->filled->parent != at->parent)
            continue;
        const ir_op *op = k->filled->next;
        while (op && op != at && ir_leaves_alone(&h->footprints, op, array))
            op = op->next;
        if (op == at)
            return k->copy;
    }
    return NULL;
}

static ir_value *
hold_before(holding *h, ir_op *at, ir_value *array, ir_loc loc)
{
    ir_value *copy = held_before(h, at, array);
    if (copy)
        return copy;
    ir_emit e = {h->fn, at->parent, at, loc};
    copy = emit_array_copy(&e, array);
    vec_push(&h->held, ((held){array, copy, at->prev, NULL}));
    return copy;
}

/* -- copies that go along with their array ------------------------------------------------------------------------- */
/* All that may be written where the array is: each of these arrays has a copy. */
typedef struct following {
    holding *h;
    ir_op *task;
    vec(ir_value *) roots;
    vec(ir_op *) writes;
    map found; /* these writes */
    bool more, possible;
} following;

static void
follow_root(ir_value *root, void *user)
{
    following *f = user;
    f->possible &= ir_root_known(root);
    for (size_t i = 0; i < f->roots.n; i++)
        if (f->roots.at[i] == root)
            return;
    vec_push(&f->roots, root);
    f->more = true;
}

/* Pointers that are chosen by other means than a pick there are none in a kernel's source. */
static bool
is_picked(const ir_value *buffer)
{
    bool picked = ir_root_known(buffer) || (buffer->def && buffer->def->code == RG_OP_PICK);
    for (uint32_t i = 1; picked && !ir_root_known(buffer) && i < buffer->def->nargs; i++)
        picked = is_picked(buffer->def->args[i]);
    return picked;
}

static bool
follow_write(ir_op *op, void *user)
{
    following *f = user;
    bool meets = false;
    if (map_get(&f->h->followed, map_ptr(op)) || map_get(&f->found, map_ptr(op)))
        return true;
    for (size_t i = 0; i < f->roots.n && !meets; i++)
        meets = ir_does_to(op, f->roots.at[i], RG_PRIMAL) & IR_CHANGES;
    if (!meets)
        return true;
    map_set(&f->found, map_ptr(op), op);
    vec_push(&f->writes, op);
    f->possible &= is_picked(op->args[0]) && is_there_before(f->task, op->args[0]);
    ir_buffer_roots(op->args[0], follow_root, f);
    return true;
}

static ir_value *
held_along(const holding *h, const ir_op *task, const ir_value *array)
{
    for (size_t i = 0; i < h->held.n; i++)
        if (h->held.at[i].array == array && h->held.at[i].task == task)
            return h->held.at[i].copy;
    return NULL;
}

/* of an array, or picked like it of copies */
static ir_value *
copy_along(following *f, ir_value *array, ir_loc loc)
{
    holding *h = f->h;
    ir_value *copy = held_along(h, f->task, array);
    ir_emit e = {h->fn, f->task->parent, f->task, loc};
    if (copy)
        return copy;
    if (ir_root_known(array)) {
        copy = emit_array_copy(&e, array);
    } else {
        ir_op *pick = ir_op_new(h->fn, RG_OP_PICK, 0, 0, loc);
        ir_op_arg(pick, h->fn, array->def->args[0]);
        for (uint32_t i = 1; i < array->def->nargs; i++)
            ir_op_arg(pick, h->fn, copy_along(f, array->def->args[i], loc));
        ir_emit_place(&e, pick);
        copy = ir_op_result(pick, h->fn, array->type, array->name);
    }
    vec_push(&h->held, ((held){array, copy, copy->def, f->task}));
    return copy;
}

static void
write_to_copy(following *f, ir_op *write)
{
    ir_value *const *index = write->args + 1, *array = write->args[0], *copy = copy_along(f, array, write->loc);
    ir_emit e = {f->h->fn, write->parent, write->next, write->loc};
    ir_value *now = write->code == RG_OP_STORE ? write->args[write->nargs - 1] : emit_load(&e, array, index);
    ir_value *old = emit_load(&e, copy, index);
    map_set(f->h->put_back, map_ptr(emit_store(&e, copy, index, now)), old);
    map_set(&f->h->followed, map_ptr(write), write);
}

/* NULL: there can be none */
static ir_value *
hold_along(holding *h, ir_op *task, ir_value *array, ir_loc loc)
{
    ir_value *copy = held_along(h, task, array);
    following f = {.h = h, .task = task, .roots.in = h->scratch, .writes.in = h->scratch, .found.in = h->scratch};
    if (copy)
        return copy;
    f.possible = is_picked(array);
    ir_buffer_roots(array, follow_root, &f);
    while (f.more) {
        f.more = false;
        ir_walk(task->regions[0], follow_write, &f);
    }
    if (f.possible) {
        copy = copy_along(&f, array, loc);
        for (size_t i = 0; i < f.writes.n; i++)
            write_to_copy(&f, f.writes.at[i]);
    }
    h->footprints = ir_footprints_in(h->scratch); /* the task writes more */
    return copy;
}

/* -- which calls ----------------------------------------------------------------------------------------------- */
static ir_op *
task_of(const ir_op *op)
{
    for (const ir_region *r = op->parent; r && r->op; r = r->op->parent)
        if (r->op->code == RG_OP_PARALLEL)
            return r->op;
    return NULL;
}

typedef struct contest_query {
    const ad_activity *activity;
    ir_value *array;
    bool found;
} contest_query;

static void
note_active_root(ir_value *root, void *user)
{
    contest_query *q = user;
    q->found |= q->activity->has_adjoint[root->id];
}

/* Threads that find a winner in the array while the function reads it: that is refused for a reason of its own (E0512). */
static bool
finds_no_winner(ir_op *op, void *user)
{
    contest_query *q = user;
    if (ad_is_contest(op) && ir_does_to(op, q->array, RG_PRIMAL))
        ir_buffer_roots(op->args[0], note_active_root, q);
    return !q->found;
}

static void
hold_operand(holding *h, ir_op *call, uint32_t operand)
{
    ir_value *array = call->args[operand];
    ir_op *task = task_of(call);
    contest_query q = {&h->activity, array, false};
    if (!ad_overwritten_after(h->fn, call, array, h->put_back) || (task && !is_there_before(task, array)) ||
        (task && !ir_walk(task->regions[0], finds_no_winner, &q)))
        return;
    ir_value *copy = !task || ir_left_alone_before(&h->footprints, task, call, array)
                         ? hold_before(h, farthest_out(h, task ? task : call, array), array, call->loc)
                         : hold_along(h, task, array, call->loc);
    for (uint32_t i = operand; copy && i < call->nargs; i++)
        call->args[i] = call->args[i] == array ? copy : call->args[i];
}

static bool
find_held_call(ir_op *op, void *user)
{
    holding *h = user;
    bool reversed = false, reads = false;
    if (op->code != RG_OP_CALL || !ir_call_stays(op))
        return true;
    for (uint32_t i = 0; i < op->nresults; i++)
        reversed |= ad_is_active(&h->activity, op->results[i]);
    for (uint32_t i = 0; i < op->nargs; i++)
        reads |= op->args[i]->type.kind == IR_BUFFER;
    if (reversed && reads)
        vec_push(&h->calls, op);
    return true;
}

static bool
reads_no_array(ir_op *op, void *user)
{
    (void)user;
    for (uint32_t i = 0; op->code == RG_OP_CALL && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            return false;
    return true;
}

void
ad_hold_read(ir_fn *fn, const bool *active, map *put_back, arena *scratch)
{
    if (ir_walk(fn->body, reads_no_array, NULL))
        return;
    holding h = {.fn = fn,
                 .scratch = scratch,
                 .footprints = ir_footprints_in(scratch),
                 .calls.in = scratch,
                 .held.in = scratch,
                 .put_back = put_back,
                 .followed.in = scratch};
    ad_activity_find(&h.activity, fn, active, NULL, true, scratch);
    ir_walk(fn->body, find_held_call, &h);
    for (size_t i = 0; i < h.calls.n; i++)
        for (uint32_t k = 0; k < h.calls.at[i]->nargs; k++)
            if (h.calls.at[i]->args[k]->type.kind == IR_BUFFER)
                hold_operand(&h, h.calls.at[i], k);
}
