/* What an op does to memory and to the world outside. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/effects.h"
#include "ir/edges.h"

/* -- which buffer a value is ---------------------------------------------------------------------------------- */

/* b is the result of an if, loop or segment: the buffers that its arms or exits may give; itself where these are being rewritten. */
static void
roots_of_result(ir_value *b, ir_root_fn *each, void *user)
{
    bool any = false;
    if (b->def->code == RG_OP_IF || b->def->code == RG_OP_LOOP || b->def->code == RG_OP_SEGMENT)
        for (ir_source s = {0}; ir_next_source(b, &s); any = true)
            ir_buffer_roots(s.value, each, user);
    if (!any)
        each(b, user);
}

/* A temp that a segment hands on goes by the name of the first result that it becomes, inside of the segment, too: tasks have no other. */
static ir_value *
name_of_temp(ir_value *temp)
{
    ir_op *segment = temp->region->op;
    const ir_op *yield = segment && segment->code == RG_OP_SEGMENT ? ir_terminator(temp->region) : NULL;
    for (uint32_t i = 0; yield && i < yield->nargs; i++)
        if (yield->args[i] == temp)
            return segment->results[i];
    return temp;
}

static bool
names_temp(const ir_value *result)
{
    ir_source s = {0};
    return result->def->code == RG_OP_SEGMENT && ir_next_source(result, &s) && s.value->def && s.value->def->code == RG_OP_TEMP &&
           name_of_temp(s.value) == result;
}

bool
ir_root_known(const ir_value *root)
{
    return root->def ? root->def->code == RG_OP_TEMP || names_temp(root) : !root->region->op;
}

void
ir_buffer_roots(ir_value *b, ir_root_fn *each, void *user)
{
    if (b->def && b->def->code == RG_OP_TEMP)
        b = name_of_temp(b);
    if (ir_root_known(b) || !b->def) {
        each(b, user);
        return;
    }
    switch ((rg_op)b->def->code) {
    case RG_OP_PICK:
        for (uint32_t i = 1; i < b->def->nargs; i++)
            ir_buffer_roots(b->def->args[i], each, user);
        break;
    case RG_OP_RECALL:
        ir_buffer_roots(b->def->args[0], each, user);
        break;
    default:
        roots_of_result(b, each, user);
        break;
    }
}

typedef struct pair {
    const ir_value *other, *root;
    bool same;
} pair;

static void
compare_other(ir_value *other, void *user)
{
    pair *p = user;
    p->same |= other == p->root || !ir_root_known(other);
}

static void
compare_root_pair(ir_value *root, void *user)
{
    pair *p = user;
    p->root = root;
    p->same |= !ir_root_known(root);
    if (!p->same)
        ir_buffer_roots((ir_value *)p->other, compare_other, p);
}

bool
ir_may_be_same(const ir_value *a, const ir_value *b)
{
    pair p = {.other = b, .same = a == b};
    if (!p.same)
        ir_buffer_roots((ir_value *)a, compare_root_pair, &p);
    return p.same;
}

static void
note_temp(ir_value *root, void *user)
{
    *(bool *)user |= root->def || !ir_root_known(root);
}

bool
ir_is_temp(const ir_value *b)
{
    bool temp = false;
    ir_buffer_roots((ir_value *)b, note_temp, &temp);
    return temp && (!b->def || b->def->code != RG_OP_PICK);
}

/* -- what one op does ------------------------------------------------------------------------------------------ */
unsigned
ir_access_does(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_LOAD:
        return IR_READS;
    case RG_OP_STORE:
        return IR_WRITES | IR_PLAIN;
    case RG_OP_RMW: {
        bool adds = op->rmw == RG_RMW_ADD && !op->nresults;
        return (adds ? IR_ADDS : IR_READS | IR_WRITES) | (op->atomic ? 0 : IR_PLAIN);
    }
    default:
        return 0;
    }
}

bool
ir_is_own(const ir_op *op)
{
    const ir_op *made = ir_is_access(op) ? op->args[0]->def : NULL;
    return made && made->own;
}

bool
ir_changes_slot(const ir_op *op)
{
    return op->code == RG_OP_SLOT_STORE || op->code == RG_OP_SLOT_COPY || op->code == RG_OP_SLOT_ZERO || op->code == RG_OP_SLOT_TURN;
}

/* A function reads the arrays that it is given; their tangents, where it is a jvp; and a reverse may add to their adjoints. */
static void
reach_of_call(const ir_op *call, ir_reach_fn *each, void *user)
{
    for (uint32_t i = 0; i < call->nargs; i++)
        for (unsigned plane = 0; call->args[i]->type.kind == IR_BUFFER && plane < RG_PLANE_COUNT; plane++)
            if (!(plane & RG_ADJOINT) || call->reverse)
                each(call->args[i], plane, plane & RG_ADJOINT ? IR_ADDS : IR_READS, user);
}

void
ir_each_reached(const ir_op *op, ir_reach_fn *each, void *user)
{
    unsigned is = ir_ops[op->code].flags;
    unsigned does = (is & IR_READ ? IR_READS : 0) | (is & IR_WRITE ? IR_WRITES | IR_PLAIN : 0);
    if (ir_is_access(op))
        each(op->args[0], op->plane, ir_access_does(op), user);
    else if (op->code == RG_OP_CALL)
        reach_of_call(op, each, user);
    else
        for (uint32_t i = 0; does && i < op->nargs; i++) /* whole arrays */
            if (op->args[i]->type.kind == IR_BUFFER)
                each(op->args[i], RG_PRIMAL, does, user);
}

typedef struct reached {
    const ir_value *buffer;
    unsigned plane, does;
} reached;

static void
look_at_reached(ir_value *buffer, unsigned plane, unsigned does, void *user)
{
    reached *r = user;
    if (plane == r->plane && ir_may_be_same(buffer, r->buffer))
        r->does |= does;
}

unsigned
ir_does_to(const ir_op *op, const ir_value *buffer, unsigned plane)
{
    reached r = {buffer, plane, 0};
    ir_each_reached(op, look_at_reached, &r);
    return r.does;
}

bool
ir_commute(unsigned a, unsigned b)
{
    return !a || !b || (!((a | b) & IR_WRITES) && !(a & IR_ADDS && b & IR_READS) && !(a & IR_READS && b & IR_ADDS));
}

bool
ir_access_conflict(const ir_op *a, const ir_op *b)
{
    return a->plane == b->plane && !ir_commute(ir_access_does(a), ir_access_does(b)) &&
           (a->beside != b->beside || a->direction == b->direction) && ir_may_be_same(a->args[0], b->args[0]);
}

/* -- what an op does with all that it holds ---------------------------------------------------------------------- */
static void
note_effect(ir_effects *e, ir_effect effect)
{
    for (size_t k = 0; k < e->at.n; k++) {
        ir_effect *known = &e->at.at[k];
        if (known->root != effect.root || known->plane != effect.plane || known->beside != effect.beside)
            continue;
        known->does |= effect.does;
        known->directions |= effect.directions;
        return;
    }
    vec_push(&e->at, effect);
}

typedef struct noting {
    ir_effects *e;
    const ir_value *buffer;
    ir_effect effect;
} noting;

const ir_value ir_some_temp;

static const ir_value *
root_of_effect(const ir_value *root)
{
    bool popped = root->def && root->def->code == RG_OP_TAPE_POP;
    return ir_root_known(root) ? root : popped ? &ir_some_temp : NULL;
}

/* whether two roots of effects may be one array */
static bool
roots_meet(const ir_value *a, const ir_value *b)
{
    return a == b || !a || !b || (a == &ir_some_temp && b->def) || (b == &ir_some_temp && a->def);
}

static void
note_root_effect(ir_value *root, void *user)
{
    noting *n = user;
    ir_effect effect = n->effect;
    effect.root = root_of_effect(root);
    effect.does |= effect.root == n->buffer ? 0 : IR_CHOSEN;
    note_effect(n->e, effect);
}

static void
note_reached_effect(ir_value *buffer, unsigned plane, unsigned does, void *user)
{
    noting *n = user;
    n->effect.plane = (uint8_t)plane;
    n->effect.does = (uint8_t)does;
    n->buffer = buffer;
    ir_buffer_roots(buffer, note_root_effect, n);
}

static void
note_own_effects(ir_effects *e, const ir_op *op)
{
    bool calls = op->code == RG_OP_CALL && !op->silent;
    noting n = {.e = e, .effect = {.directions = UINT64_MAX}};
    if (ir_is_access(op)) {
        n.effect.beside = op->beside;
        n.effect.directions = (uint64_t)1 << op->direction;
    }
    ir_each_reached(op, note_reached_effect, &n);
    e->order |= calls || op->code == RG_OP_ASSERT || op->code == RG_OP_PRINT;
    e->hears |= op->atomic && ir_access_does(op) & IR_READS;
    e->guards |= calls || op->code == RG_OP_ASSERT || op->code == RG_OP_EXIT_IF;
}

/* An exit ends nothing outside of its loop. */
#define for_ops_inside(inner, op)                                                                                       \
    for (uint32_t k_ = 0; k_ < (op)->nregions; k_++)                                                                    \
        ir_for_ops(inner, (op)->regions[k_])                                                                            \
            if (inner->code != RG_OP_EXIT_IF)

static void
note_op_and_inner(ir_effects *e, const ir_op *op)
{
    note_own_effects(e, op);
    for_ops_inside(inner, op)
        note_op_and_inner(e, inner);
}

ir_effects
ir_effects_of(const ir_region *r, arena *a)
{
    ir_effects e = {.at.in = a};
    ir_for_ops(op, r)
        note_op_and_inner(&e, op);
    return e;
}

void
ir_effects_join(ir_effects *e, const ir_effects *more)
{
    for (size_t i = 0; i < more->at.n; i++)
        note_effect(e, more->at.at[i]);
    e->order |= more->order;
    e->hears |= more->hears;
    e->guards |= more->guards;
}

typedef struct effect_query {
    const ir_effects *e;
    unsigned plane, does;
    uint8_t planes;
} effect_query;

static void
look_up_root(ir_value *root, void *user)
{
    effect_query *q = user;
    for (size_t i = 0; i < q->e->at.n; i++) {
        const ir_effect *x = &q->e->at.at[i];
        if (!roots_meet(x->root, root_of_effect(root)))
            continue;
        q->planes |= (uint8_t)(1u << x->plane);
        q->does |= x->plane == q->plane ? x->does : 0;
    }
}

unsigned
ir_effects_on(const ir_effects *e, const ir_value *buffer, unsigned plane)
{
    effect_query q = {.e = e, .plane = plane};
    ir_buffer_roots((ir_value *)(uintptr_t)buffer, look_up_root, &q);
    return q.does;
}

uint8_t
ir_effects_planes(const ir_effects *e, const ir_value *buffer)
{
    effect_query q = {.e = e};
    ir_buffer_roots((ir_value *)(uintptr_t)buffer, look_up_root, &q);
    return q.planes;
}

static bool
effects_meet(const ir_effect *a, const ir_effect *b)
{
    return a->plane == b->plane && roots_meet(a->root, b->root) &&
           (a->beside != b->beside || a->directions & b->directions) && !ir_commute(a->does, b->does);
}

bool
ir_effects_conflict(const ir_effects *a, const ir_effects *b)
{
    for (size_t i = 0; i < a->at.n; i++)
        for (size_t j = 0; j < b->at.n; j++)
            if (effects_meet(&a->at.at[i], &b->at.at[j]))
                return true;
    return false;
}

ir_footprints
ir_footprints_in(arena *a)
{
    return (ir_footprints){.in = a, .of.in = a};
}

const ir_effects *
ir_footprint(ir_footprints *f, const ir_op *op)
{
    static const ir_effects nothing;
    if (ir_ops[op->code].flags & IR_PURE && !op->nregions)
        return &nothing;
    ir_effects *e = map_get(&f->of, map_ptr(op));
    if (e)
        return e;
    ir_effects found = {.at.in = f->in};
    note_own_effects(&found, op);
    for_ops_inside(inner, op)
        ir_effects_join(&found, ir_footprint(f, inner));
    if (!op->nregions && !found.at.n && !found.order && !found.guards)
        return &nothing;
    e = arena_one(f->in, ir_effects);
    *e = found;
    map_set(&f->of, map_ptr(op), e);
    return e;
}
