/* Loops over arrays of pointers whose elements point into different arrays: each iteration is generated on its own, so
 * that which array is meant is known. SPDX-License-Identifier: Apache-2.0
 *
 *     for (int k = 0; k < n; k++)          if (0 < n) use(layers[0].w);
 *         use(layers[k].w);         →      if (1 < n) use(layers[1].w);
 */
#include "front/c/loop.h"
#include "front/c/pointer.h"

#include "ir/ir.h"

enum { MOST_COPIES = 64 };

typedef struct search {
    gen *g;
    const decl *counter;
    bool found;
    int64_t elements; /* of the smallest array; 0: not known */
} search;

static bool
holds_pointers(const ctype *t)
{
    return t && fc_type_pointers(t) > 0;
}

static void
array_found(search *s, const object *o)
{
    for (uint32_t i = 0; i < fc_type_pointers(o->type); i++) {
        slot *slot = o->pointers[i];
        place first = fc_slot_target(s->g, slot, 0)->at;
        bool mixed = false;
        for (uint32_t k = 1; k < slot->count && first.object; k++) {
            const place *other = &fc_slot_target(s->g, slot, k)->at;
            mixed |= other->object && !fc_same_array(&first, other);
        }
        if (!mixed)
            continue;
        s->found = true;
        if (!s->elements || slot->dim[0] < s->elements)
            s->elements = slot->dim[0];
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
            array_found(s, p.object);
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
    if (!s.elements || s.elements > MOST_COPIES || (f->step != 1 && f->step != -1))
        return false;
    rg_value one = fc_int_value(g, f->compare, 1);
    rg_value least = f->down ? rg_build_2(g->b, RG_OP_ADD, hi, one) : lo;
    rg_value above = f->down ? rg_build_2(g->b, RG_OP_ADD, lo, one) : hi;
    for (int64_t i = 0; i < s.elements; i++)
        copy(g, f, &least, &above, f->down ? s.elements - 1 - i : i);
    return true;
}
