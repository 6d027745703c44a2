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

/* whether the array can be seen at the end of the kernel */
static bool
is_seen_in_the_end(const ir_value *array)
{
    return array->region == array->region->fn->body && ir_root_known(array);
}

/* a buffer with the array's extents that can be seen at the end of the kernel; NULL: there may be none */
static ir_value *
temp_like(ir_value *array)
{
    ir_value *first = NULL;
    ir_buffer_roots(array, note_first, &first);
    if (!is_seen_in_the_end(first))
        return NULL;
    for (uint32_t k = 0; k < array->type.rank; k++)
        if (!ir_same_extent(array, first, k))
            return NULL;
    return first;
}

/* whether the array is picked from arrays that can be seen at the end of the kernel */
static bool
is_picked_array(const ir_value *array)
{
    bool picked = array->def && array->def->code == RG_OP_PICK;
    for (uint32_t i = 1; picked && i < array->def->nargs; i++)
        picked = is_seen_in_the_end(array->def->args[i]);
    return picked;
}

bool
ad_can_snapshot(ad_snapshots *s, const ir_op *task, const ir_op *load)
{
    ir_value *array = load->args[0];
    return load->plane == RG_PRIMAL && array->type.kind == IR_BUFFER && array->type.rank &&
           !ir_region_inside(array->region, task->regions[0]) && (temp_like(array) || is_picked_array(array)) &&
           (ir_leaves_alone(&s->footprints, task, array) || ir_left_alone_before(&s->footprints, task, load, array));
}

/* -- whether it pays ------------------------------------------------------------------------------------------- */
static uint32_t
degree_of(const poly *p)
{
    uint32_t degree = 0;
    for (uint32_t i = 0; i < p->n; i++)
        degree = p->term[i].n > degree ? p->term[i].n : degree;
    return degree;
}

/* the quotient of two polynomials where their factors are large; 0: nobody knows, or infinite */
static double
poly_quotient(const poly *p, const poly *q)
{
    uint32_t degree = degree_of(q), left = 0;
    double ratio = 0;
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

/* the sign of a polynomial whose factors are positive, as numbers of elements are: 1 or -1; 0: it has terms of both signs */
static int
sign_of(const poly *coefficient)
{
    bool added = false, subtracted = false;
    for (uint32_t i = 0; i < coefficient->n; i++) {
        added |= coefficient->term[i].c > 0;
        subtracted |= coefficient->term[i].c < 0;
    }
    return added - subtracted;
}

/* The greatest value of an integer, over all indices of the loops around it; not known: a loop is not counted, or the sign of a
 * coefficient is not known. */
static poly
at_most(integers *in, const poly *of, const ir_fn *fn)
{
    poly p = *of;
    for (uint32_t i = 0; p.known && i < p.n; i++)
        for (uint32_t k = 0; k < p.term[i].n; k++) {
            const poly_factor f = p.term[i].factor[k];
            const ir_value *from, *to;
            int64_t step;
            poly coefficient, rest, one = poly_const(1);
            if (f.axis || f.value->region == fn->body)
                continue;
            if (!ir_is_counted(f.value, &from, &to, &step) || !poly_split(&p, &f, &coefficient, &rest) || !sign_of(&coefficient))
                return (poly){0};
            bool up = (step > 0) == (sign_of(&coefficient) > 0);
            poly end = poly_of(in, up ? to : from), last = up ? poly_add(&end, &one, step > 0 ? -1 : 1) : end;
            last = poly_mul(&coefficient, &last);
            p = poly_add(&last, &rest, 1);
            return at_most(in, &p, fn);
        }
    return p;
}

typedef struct written {
    integers *in;
    const ir_value *array;
    poly elements; /* from the first up to the last one that is written */
} written;

static bool
note_written(ir_op *op, void *user)
{
    written *w = user;
    bool writes = ir_access_does(op) & IR_CHANGES && op->args[0]->type.kind == IR_BUFFER && op->plane == RG_PRIMAL;
    if (!writes || !ir_may_be_same(op->args[0], w->array))
        return true;
    poly at = poly_of(w->in, op->args[1]), one = poly_const(1);
    at = at_most(w->in, &at, w->array->region->fn);
    at = poly_add(&at, &one, 1);
    if (at.known && (!w->elements.known || degree_of(&at) > degree_of(&w->elements)))
        w->elements = at;
    return true;
}

/* How many elements an array has: as declared; without a declared extent an estimate, from the first element up to the last one
 * that the kernel writes. */
static poly
extent_or_written(integers *in, const ir_value *array)
{
    poly elements = poly_const(1), first = poly_of_extent(in, array, 0);
    bool declared = !first.known || first.n != 1 || !first.term[0].n || !first.term[0].factor[0].axis;
    if (array->type.rank == 1 && !declared) {
        written w = {.in = in, .array = array};
        ir_walk(array->region->fn->body, note_written, &w);
        return w.elements;
    }
    for (uint32_t k = 0; k < array->type.rank; k++) {
        poly n = poly_of_extent(in, array, k);
        elements = poly_mul(&elements, &n);
    }
    return elements;
}

double
ad_elements_per_thread(const ir_op *task, const ir_value *array)
{
    integers in = integers_begin(); /* nobody asks for its claims: nothing but time follows from the answer */
    poly threads = poly_const(1), elements = extent_or_written(&in, array);
    for (uint32_t k = 0; k < task->attr.rank; k++) {
        poly lo = poly_of(&in, task->args[k]), hi = poly_of(&in, task->args[task->attr.rank + k]);
        poly n = poly_add(&hi, &lo, -1);
        threads = poly_mul(&threads, &n);
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

/* a temp with the extents of `like`, made once: before the kernel's reverse begins */
static ir_value *
make_temp(ad_snapshots *s, ir_op *rewinding, ir_value *like, const char *name)
{
    ir_op *at = ir_ancestor_in(rewinding, s->fn->body);
    ir_op *temp = ir_op_new(s->fn, RG_OP_TEMP, like->type.rank, 0, rewinding->loc);
    for (uint32_t k = 0; k < like->type.rank; k++) {
        ir_op *extent = ir_op_new(s->fn, RG_OP_EXTENT, 1, 0, rewinding->loc);
        ir_op_arg(extent, s->fn, like);
        extent->attr.bits = k;
        ir_insert_before(at, extent);
        ir_op_arg(temp, s->fn, ir_op_result(extent, s->fn, ir_scalar(RG_I64), NULL));
    }
    ir_insert_before(at, temp);
    return ir_op_result(temp, s->fn, like->type, name);
}

/* a buffer for the array's elements, where e stands; a picked array's is picked alike */
static ir_value *
buffer_for(ad_snapshots *s, const ir_emit *e, ir_value *array)
{
    ir_value *like = temp_like(array);
    if (like)
        return make_temp(s, e->before, like, array->name);
    const ir_op *pick = array->def;
    ir_value **args = arena_new_n(s->footprints.in, ir_value *, pick->nargs);
    args[0] = ad_had(e, pick->args[0]);
    for (uint32_t i = 1; i < pick->nargs; i++)
        args[i] = make_temp(s, e->before, pick->args[i], pick->args[i]->name);
    return ir_emit_value(e, RG_OP_PICK, array->type, pick->nargs, args);
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
    ir_value *temp = buffer_for(s, &e, array);
    ir_op *restore = ir_op_new(s->fn, RG_OP_RESTORE, 2, 0, rewinding->loc);
    ir_op_arg(restore, s->fn, temp);
    ir_op_arg(restore, s->fn, trace);
    ir_emit_place(&e, restore);
    vec_push(&s->restored, restore);
    if (restored)
        give_way(s, restored, temp);
    return temp;
}
