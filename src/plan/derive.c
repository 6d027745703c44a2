/* What the reverse computes from forward values alone is a forward value too.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   for records (%v) {              unwind (%g) {                  for records (%v) {     unwind (%g) {
 *     %s = sin %v                     %p = recall %v                 %s = sin %v            %d = recall %c
 *     ...                             %d = cos %p             ->     %c = cos %v            %m = mul %g, %d
 *   }                                 %m = mul %g, %d                ...
 *
 * It is a candidate to be recorded in place of what it is computed from: one value instead of two, or a
 * flag instead of what it compares. If the plan does not record it, it computes it where it stood before,
 * and the one in the forward sweep is dead. */
#include "plan/derive.h"

#include "analysis/uses.h"

#include "plan/recompute.h"
#include "ir/recall.h"

typedef struct derive {
    ir_fn *fn;
    map *origins;
    map pairs;           /* (code, operand) -> the sine or cosine of it */
    vec(uint32_t) order; /* by id: where it is defined, in order of the text */
    bool changed;
} derive;

/* -- functions that are computed together ------------------------------------------------------------------- */
static rg_op
partner_of(rg_op code)
{
    return code == RG_OP_SIN ? RG_OP_COS : code == RG_OP_COS ? RG_OP_SIN : RG_OP_COUNT;
}

static bool
note_pair(ir_op *op, void *user)
{
    derive *d = user;
    if (partner_of((rg_op)op->code) != RG_OP_COUNT)
        map_set(&d->pairs, hash_u64(op->code, map_ptr(op->args[0])), op);
    return true;
}

/* -- where a forward copy of an op may stand ------------------------------------------------------------------ */
typedef struct copy_place {
    ir_value *args[3]; /* its operands there */
    ir_region *region; /* the innermost of those that they come from */
    ir_op *owner, *by; /* what records that region's values, and what unwinds it */
    ir_value *last;    /* the operand of that region that is defined last */
} copy_place;

/* the thread's index that a rewinding parallel's parameter is */
static ir_value *
index_of(const ir_value *v, ir_op **by)
{
    ir_op *op = v->def ? NULL : v->region->op;
    if (!op || op->code != RG_OP_PARALLEL || !op->rewinds)
        return NULL;
    *by = op;
    return ir_trace_maker(op->args[2 * op->attr.rank])->regions[0]->params[v->index];
}

/* operand v as the forward sweep knows it, who records it, and what unwinds that */
static ir_value *
in_forward_sweep(ir_value *v, ir_op **owner, ir_op **by)
{
    *owner = *by = NULL;
    ir_value *index = index_of(v, by);
    if (index) {
        *owner = index->region->op;
        return index;
    }
    if (!v->def || v->def->code != RG_OP_RECALL)
        return v;
    *owner = ir_recall_owner(v->def, by);
    return v->def->args[0];
}

static bool
is_later(const derive *d, const ir_value *a, const ir_value *b)
{
    uint32_t x = d->order.at[a->id], y = d->order.at[b->id];
    return x != y ? x > y : a->id > b->id;
}

/* Whether all operands of a reverse op can be had at one place of the forward sweep. */
static bool
find_copy_place(const derive *d, const ir_op *op, copy_place *at)
{
    *at = (copy_place){0};
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_op *owner, *by;
        ir_value *v = at->args[i] = in_forward_sweep(op->args[i], &owner, &by);
        if (v->type.kind != IR_SCALAR)
            return false;
        if (!owner || ir_is_const(v, NULL) || (at->region && !ir_region_inside(v->region, at->region)))
            continue;
        if (!at->last || v->region != at->region || is_later(d, v, at->last))
            at->last = v;
        at->region = v->region;
        at->owner = owner;
        at->by = by;
    }
    for (uint32_t i = 0; at->region && i < op->nargs; i++) {
        const ir_value *v = at->args[i];
        if (ir_is_const(v, NULL) || v->region == at->region)
            continue;
        if (!ir_region_inside(at->region, v->region) || is_later(d, v, at->last))
            return false;
    }
    return at->region != NULL;
}

static uint32_t
ifs_between(const ir_region *inner, const ir_region *outer)
{
    uint32_t n = 0;
    for (; inner != outer; inner = inner->op->parent)
        n += inner->op->code == RG_OP_IF;
    return n;
}

/* A copy runs where its operands are computed. That may be oftener than where the op stood: little ones only. */
static bool
is_copy_worth_it(const ir_op *op, const copy_place *at)
{
    uint32_t here = ifs_between(op->parent, at->by->regions[0]);
    uint32_t there = ifs_between(at->region, at->owner->regions[0]);
    return here == there || (here > there && ir_cost(op) <= 2);
}

/* whether a reverse op stands in the arm of an if with this condition that was taken then */
static bool
is_in_arm(const ir_op *op, const ir_region *outermost, const ir_value *condition, uint32_t arm)
{
    for (const ir_region *r = op->parent; r != outermost; r = r->op->parent) {
        const ir_op *branch = r->op;
        const ir_value *decides = branch->code == RG_OP_IF ? branch->args[0] : NULL;
        if (decides && decides->def && decides->def->code == RG_OP_RECALL)
            decides = decides->def->args[0];
        if (decides && decides == condition && branch->regions[arm] == r)
            return true;
    }
    return false;
}

/* the op beside which a copy costs next to nothing: it has run wherever op does */
static ir_op *
find_partner(const derive *d, const ir_op *op, const copy_place *at)
{
    rg_op code = partner_of((rg_op)op->code);
    if (code == RG_OP_COUNT)
        return NULL;
    ir_op *partner = map_get(&d->pairs, hash_u64(code, map_ptr(at->args[0])));
    if (!partner || !ir_region_inside(partner->parent, at->region))
        return NULL;
    for (const ir_region *r = partner->parent; r != at->region; r = r->op->parent) {
        if (r->op->code != RG_OP_IF)
            return NULL; /* it runs in an inner loop */
        uint32_t arm = r == r->op->regions[1];
        if (!is_in_arm(op, at->by->regions[0], r->op->args[0], arm))
            return NULL;
    }
    return partner;
}

/* -- copies ------------------------------------------------------------------------------------------------------ */
static void
insert_after(ir_op *at, ir_op *op, ir_region *region)
{
    ir_op *next = at ? at->next : region->first;
    ir_insert_before(next, op);
}

static bool
is_copy(const derive *d, const ir_op *op)
{
    return op->nresults && map_get(d->origins, map_ptr(op->results[0]));
}

/* Behind the operand that is defined last, and behind the copies that stand there already. */
static void
place_copy(derive *d, ir_op *copy, const copy_place *at, ir_op *partner)
{
    ir_region *region = partner ? partner->parent : at->region;
    ir_op *after = partner ? partner : at->last->def;
    for (ir_op *next; (next = after ? after->next : region->first) && is_copy(d, next);)
        after = next;
    insert_after(after, copy, region);
    for (uint32_t i = 0; i < copy->nargs; i++) {
        uint64_t bits;
        if (!ir_is_const(copy->args[i], &bits))
            continue;
        ir_op *constant = ir_op_new(d->fn, RG_OP_CONST, 0, 0, copy->loc);
        constant->attr.bits = bits;
        ir_insert_before(copy, constant);
        ir_value *old = copy->args[i];
        copy->args[i] = ir_op_result(constant, d->fn, old->type, NULL);
        vec_push(&d->order, 0);
        map_set(d->origins, map_ptr(copy->args[i]), (void *)(uintptr_t)AD_DERIVED);
    }
}

/* op becomes the recall of its copy */
static void
recall_copy(ir_op *op, ir_value *copy)
{
    op->code = RG_OP_RECALL;
    op->nargs = 1;
    op->args[0] = copy;
    op->settled = false;
}

static bool
derive_op(ir_op *op, void *user)
{
    derive *d = user;
    copy_place at;
    if (ir_ops[op->code].form == IR_OTHER || !find_copy_place(d, op, &at))
        return true;
    ir_op *partner = find_partner(d, op, &at);
    if (!partner && !is_copy_worth_it(op, &at))
        return true;
    ir_op *copy = ir_op_like(d->fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, d->fn, at.args[i]);
    place_copy(d, copy, &at, partner);
    ir_value *v = ir_op_result(copy, d->fn, op->results[0]->type, op->results[0]->name);
    vec_push(&d->order, d->order.at[partner ? partner->results[0]->id : at.last->id]);
    map_set(d->origins, map_ptr(v), (void *)(uintptr_t)(partner ? AD_PAIRED : AD_DERIVED));
    recall_copy(op, v);
    d->changed = true;
    return true;
}

/* -- recalls whose users are recalls of copies now: what they recall is not needed any more ---------------------- */
static bool
drop_unused_recall(ir_op *op, void *user)
{
    const uint32_t *uses = user;
    if (op->code == RG_OP_RECALL && !uses[op->results[0]->id])
        ir_remove(op);
    return true;
}

bool
ad_derive(ir_fn *fn, map *origins, arena *scratch)
{
    derive d = {.fn = fn, .origins = origins, .pairs.in = scratch, .order.in = scratch};
    ir_renumber(fn);
    for (uint32_t id = 0; id < fn->next_id; id++)
        vec_push(&d.order, id);
    ir_walk(fn->body, note_pair, &d);
    ir_walk(fn->body, derive_op, &d);
    if (d.changed)
        ir_walk(fn->body, drop_unused_recall, ir_count_uses(scratch, fn));
    return d.changed;
}
