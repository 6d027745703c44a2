/* Loops over arrays of pointers whose elements point into different arrays: each iteration is generated on its own, so
 * that which array is meant is known. SPDX-License-Identifier: Apache-2.0
 *
 *     for (int k = 0; k < n; k++)          if (0 < n) use(layers[0].w);
 *         use(layers[k].w);         →      if (1 < n) use(layers[1].w);
 *                                          assert(n <= 2);
 *
 * Where the run knows how often the loop runs, the arrays that the counter itself subscripts say which iterations there can
 * be; others, which test the counter before they use it, would not be there, so that is an assert. */
#include "front/c/loop.h"
#include "front/c/pointer.h"

#include "ir/ir.h"

enum { MOST_COPIES = 64 };

typedef struct search {
    gen *g;
    const decl *counter;
    bool found;
    bool bounded; /* by what the counter subscripts: */
    int64_t from, end;
    const char *name; /* ... of that */
} search;

static bool
holds_pointers(const ctype *t)
{
    return t && fc_type_pointers(t) > 0;
}

/* Whether n is the counter and a constant. */
static bool
counter_and(gen *g, const node *n, const decl *counter, int64_t *more)
{
    uint64_t bits;
    while (n->kind == E_CAST)
        n = n->kid[0];
    *more = 0;
    if (n->kind == E_REF)
        return n->decl == counter;
    if (n->kind != E_BINARY || (n->op != RG_OP_ADD && n->op != RG_OP_SUB) || n->kid[0]->kind != E_REF ||
        n->kid[0]->decl != counter || !fc_constant_bits(g, n->kid[1], RG_I64, &bits))
        return false;
    *more = n->op == RG_OP_ADD ? (int64_t)bits : -(int64_t)bits;
    return *more > INT16_MIN && *more < INT16_MAX;
}

/* Its elements on this axis, the first of them under `first`, are under the counter. */
static void
bound(search *s, const slot *slot, uint32_t axis, int64_t first)
{
    if (axis >= slot->rank || slot->dim[axis] < 0)
        return;
    s->from = s->bounded && s->from > -first ? s->from : -first;
    s->end = s->bounded && s->end < slot->dim[axis] - first ? s->end : slot->dim[axis] - first;
    s->bounded = true;
    s->name = slot->name;
}

static void
array_found(search *s, const place *p, const node *subscript)
{
    int64_t more = 0;
    uint64_t start = 0;
    const object *o = p->object;
    rg_value moved = p->n ? p->index[p->n - 1] : NULL;
    bool exact = p->n && (!moved || rg_value_is_const(moved, &start)) && counter_and(s->g, subscript, s->counter, &more);
    for (uint32_t i = 0; i < fc_type_pointers(o->type); i++) {
        slot *slot = o->pointers[i];
        place first = fc_slot_target(s->g, slot, 0)->at;
        bool mixed = slot->many != NULL;
        for (uint32_t k = 1; k < slot->count && first.object; k++) {
            const place *other = &fc_slot_target(s->g, slot, k)->at;
            mixed |= other->object && !fc_same_array(&first, other);
        }
        s->found |= mixed;
        if (mixed && exact)
            bound(s, slot, p->n - 1, more + (int64_t)start);
    }
}

/* A function that is called with the counter subscripts arrays of pointers itself. */
static bool
subscripts_none(const node *n, void *user)
{
    return !(n->kind == E_SUBSCRIPT && holds_pointers(n->type));
}

static bool
look(const node *n, void *user)
{
    search *s = user;
    place p;
    if (n->kind == E_SUBSCRIPT && holds_pointers(n->type) && fc_tree_mentions(n->kid[1], s->counter)) {
        if (fc_form_of_pointer(s->g, n->kid[0], &p) && p.object->pointers)
            array_found(s, &p, n->kid[1]);
    }
    for (uint32_t i = 0; n->kind == E_CALL && n->decl && n->decl->body && i < n->count; i++)
        if (fc_tree_mentions(n->list[i], s->counter) && n->list[i]->type->kind == TYPE_SCALAR)
            s->found |= !fc_node_walk(n->decl->body, subscripts_none, NULL);
    return true;
}

/* One iteration, if it is one: in bounds that the run knows. */
static void
copy(gen *g, const loop_form *f, const rg_value *lo, const rg_value *hi, int64_t at)
{
    rg_value counter = fc_int_value(g, f->compare, at);
    object *before = f->counter->object;
    if (lo)
        rg_build_if(g->b, rg_build_2(g->b, RG_OP_AND, rg_build_2(g->b, RG_OP_LE, *lo, counter),
                                     rg_build_2(g->b, RG_OP_LT, counter, *hi)));
    fc_bind_counter(g, f->counter, counter);
    fc_loop_body(g, f->body);
    if (lo)
        rg_build_end(g->b);
    f->counter->object = before;
}

/* The loop has no other iterations than those from s->from to s->end. */
static void
expect_no_more(gen *g, const loop_form *f, const search *s, rg_value least, rg_value above)
{
    rg_value after = rg_build_2(g->b, RG_OP_GE, least, fc_int_value(g, f->compare, s->from));
    rg_value before = rg_build_2(g->b, RG_OP_LE, above, fc_int_value(g, f->compare, s->end));
    rg_value none = rg_build_2(g->b, RG_OP_GE, least, above);
    rg_value inside = rg_build_2(g->b, RG_OP_OR, rg_build_2(g->b, RG_OP_AND, after, before), none);
    rg_build_assert(g->b, inside, rg_str_of(fc_format(g->arena, "the loop's counter leaves the elements of `%s`", s->name)));
}

bool
fc_unroll(gen *g, const loop_form *f, rg_value lo, rg_value hi)
{
    search s = {.g = g, .counter = f->counter};
    uint64_t first, end;
    fc_node_walk(f->body, look, &s);
    if (!s.found)
        return false;
    if (rg_value_is_const(lo, &first) && rg_value_is_const(hi, &end)) {
        int64_t from = (int64_t)ir_wrap(f->compare, first), to = (int64_t)ir_wrap(f->compare, end);
        if ((to - from) / f->step > MOST_COPIES)
            return false;
        for (int64_t at = from; f->down ? at > to : at < to; at += f->step)
            copy(g, f, NULL, NULL, at);
        return true;
    }
    if (!s.bounded || s.end - s.from > MOST_COPIES || (f->step != 1 && f->step != -1))
        return false;
    if (s.from < 0 && !fc_is_signed_dtype(f->compare))
        s.from = 0;
    rg_value one = fc_int_value(g, f->compare, 1);
    rg_value least = f->down ? rg_build_2(g->b, RG_OP_ADD, hi, one) : lo;
    rg_value above = f->down ? rg_build_2(g->b, RG_OP_ADD, lo, one) : hi;
    for (int64_t i = s.from; i < s.end; i++)
        copy(g, f, &least, &above, f->down ? s.from + s.end - 1 - i : i);
    fc_at_node(g, f->body);
    expect_no_more(g, f, &s, least, above);
    return true;
}
