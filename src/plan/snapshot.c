/* Arrays kept whole. SPDX-License-Identifier: Apache-2.0
 *
 *   parallel records (%i) { %a = load %x[%i - 1]  %b = load %x[%i + 1] ... }        forwards
 *   parallel rewinds (%i) { recall %a  recall %b ... }                              backwards
 *
 * If %x is overwritten later, each thread would record what it read, and threads that read the same element
 * would record it several times. A snapshot keeps the elements once:
 *
 *   %s: trace = snapshot %x   parallel records (%i) { ... }
 *   restore %t, %s            parallel rewinds (%i) { %a = load %t[%i - 1]  %b = load %t[%i + 1] ... }
 *
 * Tasks that find the same elements in the array share one. */
#include "plan/snapshot.h"

#include "analysis/integers.h"
#include "analysis/writes.h"
#include "diff/emit.h"
#include "ir/recall.h"

static bool
note_snapshot_op(ir_op *op, void *user)
{
    ad_snapshots *s = user;
    if (op->code == RG_OP_SNAPSHOT)
        vec_push(&s->kept, op);
    if (op->code == RG_OP_RESTORE)
        vec_push(&s->restored, op);
    return true;
}

ad_snapshots
ad_snapshots_find(ir_fn *fn, arena *scratch)
{
    ad_snapshots s = {.fn = fn, .footprints = ir_footprints_in(scratch), .kept.in = scratch, .restored.in = scratch};
    ir_walk(fn->body, note_snapshot_op, &s);
    return s;
}

/* -- where it is brought back ------------------------------------------------------------------------------------ */
static void
note_first(ir_value *root, void *user)
{
    ir_value **first = user;
    *first = *first ? *first : root;
}

/* a buffer with the array's extents that can be seen at the end of the kernel; NULL: there may be none */
static ir_value *
temp_like(ir_value *array)
{
    ir_value *first = NULL;
    ir_buffer_roots(array, note_first, &first);
    const ir_fn *fn = array->region->fn;
    if (first->region != fn->body || (first->def && first->def->code != RG_OP_TEMP))
        return NULL;
    for (uint32_t k = 0; k < array->type.rank; k++)
        if (!ir_same_extent(array, first, k))
            return NULL;
    return first;
}

bool
ad_can_snapshot(ad_snapshots *s, const ir_op *task, const ir_op *load)
{
    ir_value *array = load->args[0];
    return load->plane == RG_PRIMAL && array->type.kind == IR_BUFFER && array->type.rank &&
           !ir_region_inside(array->region, task->regions[0]) && temp_like(array) &&
           (ir_leaves_alone(&s->footprints, task, array) || ir_left_alone_before(&s->footprints, task, load, array));
}

/* -- whether it pays ------------------------------------------------------------------------------------------- */
/* the quotient of two polynomials where their factors are large; 0: nobody knows, or infinite */
static double
poly_quotient(const poly *p, const poly *q)
{
    uint32_t degree = 0, left = 0;
    double ratio = 0;
    for (uint32_t i = 0; i < q->n; i++)
        degree = q->term[i].n > degree ? q->term[i].n : degree;
    for (uint32_t i = 0; i < q->n; i++) { /* each of q's leading terms once in p, alike */
        poly_term t = q->term[i];
        if (t.n < degree)
            continue;
        poly one = {.known = true, .n = 1, .term = {t}};
        double r = 0;
        left++;
        for (uint32_t k = 0; k < p->n; k++) {
            poly other = {.known = true, .n = 1, .term = {p->term[k]}};
            other.term[0].c = one.term[0].c;
            if (poly_equal(&one, &other))
                r = (double)p->term[k].c / (double)t.c;
        }
        if (r <= 0 || (ratio > 0 && r != ratio))
            return 0;
        ratio = r;
    }
    for (uint32_t k = 0; k < p->n; k++) {
        if (p->term[k].n > degree)
            return 0;
        left -= p->term[k].n == degree;
    }
    return p->known && q->known && left == 0 ? ratio : 0;
}

double
ad_elements_per_thread(const ir_op *task, const ir_value *array)
{
    integers in = integers_begin(); /* nobody asks for its claims: nothing but time follows from the answer */
    poly threads = poly_const(1), elements = poly_const(1);
    for (uint32_t k = 0; k < task->attr.rank; k++) {
        poly lo = poly_of(&in, task->args[k]), hi = poly_of(&in, task->args[task->attr.rank + k]);
        poly n = poly_add(&hi, &lo, -1);
        threads = poly_mul(&threads, &n);
    }
    for (uint32_t k = 0; k < array->type.rank; k++) {
        poly n = poly_of_extent(&in, array, k);
        elements = poly_mul(&elements, &n);
    }
    integers_end(&in);
    return poly_quotient(&elements, &threads);
}

/* -- making them ------------------------------------------------------------------------------------------------ */
static bool
is_of(const ir_op *op, const ir_value *array)
{
    return op->code == RG_OP_SNAPSHOT && op->args[0] == array;
}

/* The nearest one, before the task or behind it, with no write to the array in between. */
static ir_op *
snapshot_for(ad_snapshots *s, const ir_op *task, const ir_value *array)
{
    bool there = false;
    for (size_t i = 0; i < s->kept.n && !there; i++)
        there = is_of(s->kept.at[i], array) && s->kept.at[i]->parent == task->parent;
    for (ir_op *op = task->prev; there && op && ir_leaves_alone(&s->footprints, op, array); op = op->prev)
        if (is_of(op, array))
            return op;
    for (const ir_op *op = task; there && op->next && ir_leaves_alone(&s->footprints, op, array); op = op->next)
        if (is_of(op->next, array))
            return op->next;
    return NULL;
}

bool
ad_has_snapshot(ad_snapshots *s, const ir_op *task, const ir_value *array)
{
    return snapshot_for(s, task, array);
}

/* the restore of this snapshot in op's region */
static ir_op *
restored_beside(const ad_snapshots *s, const ir_op *snapshot, const ir_op *op)
{
    for (size_t i = 0; i < s->restored.n; i++)
        if (ir_trace_maker(s->restored.at[i]->args[1]) == snapshot && s->restored.at[i]->parent == op->parent)
            return s->restored.at[i];
    return NULL;
}

static ir_op *
take_snapshot(ad_snapshots *s, ir_op *task, ir_value *array)
{
    ir_op *op = ir_op_new(s->fn, RG_OP_SNAPSHOT, 1, 0, task->loc);
    ir_op_arg(op, s->fn, array);
    ir_op_result(op, s->fn, ir_trace(), NULL);
    ir_insert_before(task, op);
    vec_push(&s->kept, op);
    return op;
}

/* a buffer for the array's elements, made once: before the kernel's reverse begins */
static ir_value *
make_temp(ad_snapshots *s, ir_op *rewinding, ir_value *array)
{
    ir_op *at = ir_ancestor_in(rewinding, s->fn->body);
    ir_value *shape = temp_like(array);
    ir_op *temp = ir_op_new(s->fn, RG_OP_TEMP, array->type.rank, 0, rewinding->loc);
    for (uint32_t k = 0; k < array->type.rank; k++) {
        ir_op *extent = ir_op_new(s->fn, RG_OP_EXTENT, 1, 0, rewinding->loc);
        ir_op_arg(extent, s->fn, shape);
        extent->attr.bits = k;
        ir_insert_before(at, extent);
        ir_op_arg(temp, s->fn, ir_op_result(extent, s->fn, ir_scalar(RG_I64), NULL));
    }
    ir_insert_before(at, temp);
    return ir_op_result(temp, s->fn, array->type, array->name);
}

/* A task that is rewound earlier needs the array too: one restore, the earlier, serves both. */
static void
give_way(ad_snapshots *s, ir_op *late, ir_value *temp)
{
    ir_value **map = arena_new_n(s->footprints.in, ir_value *, s->fn->next_id + 1);
    map[late->args[0]->id] = temp;
    ir_region *region = late->parent;
    for (size_t i = 0; i < s->restored.n; i++)
        if (s->restored.at[i] == late)
            s->restored.at[i] = vec_pop(&s->restored);
    ir_remove(late);
    ir_replace_in(region, map);
}

ir_value *
ad_snapshot_in(ad_snapshots *s, ir_op *task, ir_op *rewinding, ir_value *array)
{
    ir_op *snapshot = snapshot_for(s, task, array);
    ir_op *restored = snapshot ? restored_beside(s, snapshot, rewinding) : NULL;
    if (restored && ir_stands_before(restored, rewinding))
        return restored->args[0];
    snapshot = snapshot ? snapshot : take_snapshot(s, task, array);
    ir_emit e = {s->fn, rewinding->parent, rewinding, rewinding->loc};
    ir_value *trace = snapshot->results[0];
    if (!ir_region_inside(rewinding->parent, trace->region))
        trace = ad_recall(&e, trace);
    ir_value *temp = make_temp(s, rewinding, array);
    ir_op *restore = ir_op_new(s->fn, RG_OP_RESTORE, 2, 0, rewinding->loc);
    ir_op_arg(restore, s->fn, temp);
    ir_op_arg(restore, s->fn, trace);
    ir_emit_place(&e, restore);
    vec_push(&s->restored, restore);
    if (restored)
        give_way(s, restored, temp);
    return temp;
}
