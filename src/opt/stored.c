/* Whether a stored value may stand for loads of its element. SPDX-License-Identifier: Apache-2.0 */
#include "opt/stored.h"

#include "analysis/access.h"

enum { MOST_CHANGES = 128 /* of an array, which are looked at */ };

static bool
note_place_and_change(ir_op *op, void *user)
{
    stored *s = user;
    map_set(&s->places, map_ptr(op), (void *)++s->ops);
    if (ir_access_does(op) & IR_CHANGES && op->args[0]->type.kind == IR_BUFFER)
        vec_push(&s->changes, op);
    return true;
}

void
stored_begin(stored *s, const ir_fn *fn, const pass_context *c)
{
    *s = (stored){.c = c, .places.in = c->scratch, .changes.in = c->scratch};
    ir_walk(fn->body, note_place_and_change, s);
}

/* whether what the store leaves is gone in the end; not known, if the array is changed in too many places */
static bool
is_overwritten(const stored *s, const ir_op *store)
{
    uint32_t looked_at = 0;
    for (size_t i = 0; i < s->changes.n && looked_at < MOST_CHANGES; i++) {
        bool meets = ir_does_to(s->changes.at[i], store->args[0], store->plane);
        if (meets && access_reaches_after(store, s->changes.at[i], &s->places))
            return true;
        looked_at += meets;
    }
    return false;
}

typedef struct plane_query {
    const uint8_t *planes;
    uint8_t lacks;
} plane_query;

static void
note_planes(ir_value *root, void *user)
{
    plane_query *q = user;
    bool known = ir_root_known(root);
    for (uint32_t i = 0; known && !root->def && i < root->region->nparams; i++)
        q->lacks |= (uint8_t)(q->planes[i] & ~q->planes[root->index]);
    q->lacks |= !known;
}

bool
stored_has_all_planes(const stored *s, ir_value *array)
{
    plane_query q = {s->c->planes, 0};
    if (q.planes && ir_is_float(ir_dtype(array)))
        ir_buffer_roots(array, note_planes, &q);
    return !q.lacks;
}

bool
stored_serves(const stored *s, const ir_op *store)
{
    return !s->c->split && stored_has_all_planes(s, store->args[0]) && is_overwritten(s, store);
}
