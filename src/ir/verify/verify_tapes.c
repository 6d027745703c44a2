/* In which order tasks take their frames back. SPDX-License-Identifier: Apache-2.0
 *
 * Frames of a task's threads lie on the workers' tapes, of which only the last can be taken. So of any two tasks that
 * record, the one that records later is rewound earlier, unless the first has been rewound before the second records:
 *
 *     A records   B records   B rewound   A rewound         A records   A rewound   B records   B rewound
 *
 * Ops run in the order in which they stand, but for loops. Of two tasks in one loop that is the order within an
 * iteration, and of its reverse; what the loop's partial last iteration left is taken before the others are unwound. Where a
 * loop can be left after a task, the task is rewound in both, or its frames stay where others look for theirs. */
#include "ir/recall.h"
#include "ir/verify/verify.h"

typedef struct rewinding {
    ir_op *by, *maker;     /* the rewinding parallel, and the recording one */
    uintptr_t taken, made; /* where they stand */
} rewinding;

typedef struct order {
    map places; /* recording parallel -> its number in the function's order */
    vec(rewinding) all;
    uintptr_t n;
} order;

static bool
note_task(ir_op *op, void *user)
{
    order *o = user;
    if (op->code != RG_OP_PARALLEL)
        return true;
    o->n++;
    if (op->records)
        map_set(&o->places, map_ptr(op), (void *)o->n);
    if (!op->rewinds)
        return true;
    ir_op *maker = ir_trace_maker(op->args[2 * op->attr.rank]);
    uintptr_t made = (uintptr_t)map_get(&o->places, map_ptr(maker));
    if (made)
        vec_push(&o->all, ((rewinding){op, maker, o->n, made}));
    return true;
}

/* whether one of the two does not run where the other one does: they stand in different arms of an if */
static bool
exclude_each_other(const ir_op *a, const ir_op *b)
{
    for (const ir_region *r = a->parent; r->op; r = r->op->parent)
        if (r->op->code == RG_OP_IF && ir_region_inside(b->parent, r->op->regions[r == r->op->regions[0]]))
            return true;
    return false;
}

static bool
unwinds(const ir_op *by, const ir_op *loop)
{
    for (const ir_region *r = by->parent; r->op; r = r->op->parent)
        if (r->op->code == RG_OP_UNWIND && ir_trace_maker(r->op->args[0]) == loop)
            return true;
    return false;
}

/* a is rewound before b: whether b's frames are above a's then */
static bool
is_buried(const rewinding *a, const rewinding *b)
{
    if (a->taken >= b->taken || exclude_each_other(a->maker, b->maker) || exclude_each_other(a->by, b->by))
        return false;
    const ir_op *differ = NULL; /* the outermost loop of both of which just one of the two undoes full iterations */
    for (const ir_region *r = a->maker->parent; r->op; r = r->op->parent)
        if (r->op->records && ir_region_inside(b->maker->parent, r) && unwinds(a->by, r->op) != unwinds(b->by, r->op))
            differ = r->op;
    if (differ)
        return unwinds(a->by, differ); /* and b is of the partial last iteration */
    return a->made < b->made && b->made < a->taken;
}

/* whether both undo full iterations, or both the partial last one, of each loop around this one */
static bool
agree_around(const rewinding *a, const rewinding *b, const ir_op *loop)
{
    for (const ir_region *r = loop->parent; r->op; r = r->op->parent)
        if (r->op->records && unwinds(a->by, r->op) != unwinds(b->by, r->op))
            return false;
    return true;
}

static bool
is_left_after(const ir_op *loop, ir_op *task)
{
    for (const ir_op *op = ir_ancestor_in(task, loop->regions[0]); op; op = op->next)
        if (op->code == RG_OP_EXIT_IF)
            return true;
    return false;
}

/* the loop around a's task whose full iterations a undoes and nobody the partial last one, or the other way round; NULL:
 * there is none */
static const ir_op *
half_undone(const order *o, const rewinding *a)
{
    for (const ir_region *r = a->maker->parent; r->op; r = r->op->parent) {
        const ir_op *loop = r->op;
        if (loop->code != RG_OP_LOOP || !loop->records || !is_left_after(loop, a->maker))
            continue;
        bool other = false;
        for (size_t i = 0; i < o->all.n && !other; i++) {
            const rewinding *b = &o->all.at[i];
            other = b->maker == a->maker && unwinds(a->by, loop) != unwinds(b->by, loop) && agree_around(a, b, loop);
        }
        if (!other)
            return loop;
    }
    return NULL;
}

bool
verify_tapes(verifier *v)
{
    order o = {.places.in = v->scratch, .all.in = v->scratch};
    ir_walk(v->fn->body, note_task, &o);
    const rewinding *first = NULL, *second = NULL;
    for (size_t i = 0; i < o.all.n && !first; i++)
        for (size_t j = 0; j < o.all.n && !first; j++)
            if (is_buried(&o.all.at[i], &o.all.at[j]))
                first = &o.all.at[i], second = &o.all.at[j];
    if (first)
        verify_error(v, first->by, E_ORDER,
                     "takes back what a task recorded while frames of a later one lie on top\nthat one stands at line %u",
                     second->maker->loc.line);
    for (size_t i = 0; i < o.all.n && !first; i++)
        if (half_undone(&o, &o.all.at[i])) {
            first = &o.all.at[i];
            verify_error(v, first->by, E_ORDER,
                         "takes back what a task recorded in full iterations of a loop, or in its last one, and nothing "
                         "what it did in the other\nthe loop stands at line %u",
                         half_undone(&o, first)->loc.line);
        }
    return !first;
}
