/* Which elements of local arrays are written once. SPDX-License-Identifier: Apache-2.0
 *
 *   for r in 0 .. 8, c in 0 .. r + 1 { l[r * (r + 1) / 2 + c] = ... }
 *
 * What such an insert replaced is the zero that the array began with: nobody has to record it. If no element is read
 * before it is written either, the array as it is in the end serves all reads. Subscripts are rarely simple where
 * that is so, but loops over a local array are short: they are run through here, as far as numbers known now lead. */
#include "diff/vjp.h"
#include "analysis/integers.h"

enum { STEPS = 1 << 14, LONGEST = 1 << 12 };

typedef struct running {
    const vjp *v;
    const ir_known *indices;
    uint8_t **written; /* by id of a root: of each element; NULL: not looked at, or not once */
    bool *still;       /* by id of a root: nothing is read before it is written */
    uint32_t steps;
} running;

static const ir_value *
array_of(const running *r, const ir_op *op)
{
    bool access = op->code == RG_OP_INSERT || op->code == RG_OP_EXTRACT;
    const ir_value *root = access ? vjp_root_of(r->v, op->args[0]) : NULL;
    return root && r->written[root->id] ? root : NULL;
}

/* what is not known may happen to any element */
static bool
give_up(ir_op *op, void *user)
{
    running *r = user;
    const ir_value *root = array_of(r, op);
    if (root)
        r->still[root->id] = false;
    if (root && op->code == RG_OP_INSERT)
        r->written[root->id] = NULL;
    return true;
}

static void
run_access(running *r, ir_op *op)
{
    const ir_value *root = array_of(r, op);
    uint8_t *written = root ? r->written[root->id] : NULL;
    uint64_t at;
    if (!written)
        return;
    bool known = ir_known_value(r->indices, op->args[1], &at) && at < root->type.length;
    if (op->code == RG_OP_EXTRACT)
        r->still[root->id] &= known && written[at];
    else if (!known || written[at])
        give_up(op, r);
    else
        written[at] = 1;
}

static void run_region(running *r, const ir_region *region);

static bool
runs_through(running *r, const ir_op *op)
{
    uint64_t lo, hi;
    if (op->code == RG_OP_IF) { /* both arms: as if each ran */
        uint64_t condition;
        bool known = ir_known_value(r->indices, op->args[0], &condition);
        for (uint32_t i = 0; i < 2; i++)
            if (!known || (condition & 1) != i)
                run_region(r, op->regions[i]);
        return true;
    }
    if (op->code != RG_OP_FOR || !ir_known_value(r->indices, op->args[0], &lo) ||
        !ir_known_value(r->indices, op->args[1], &hi))
        return false;
    ir_known index = {op->regions[0]->params[0], lo, r->indices};
    r->indices = &index;
    for (uint64_t n = ir_iterations(op, lo, hi); n && r->steps < STEPS; n--) {
        run_region(r, op->regions[0]);
        index.bits = ir_wrap((rg_dtype)index.index->type.dtype, index.bits + (uint64_t)op->attr.step);
    }
    r->indices = index.outer;
    return r->steps < STEPS;
}

/* stops where an array that is still looked at is read or written */
static bool
is_of_no_interest(ir_op *op, void *user)
{
    const running *r = user;
    const ir_value *root = array_of(r, op);
    return !root || (op->code == RG_OP_EXTRACT && !r->still[root->id]);
}

static void
run_region(running *r, const ir_region *region)
{
    r->steps++;
    ir_for_ops(op, region)
    {
        run_access(r, op);
        bool interesting = false;
        for (uint32_t i = 0; i < op->nregions; i++)
            interesting |= !ir_walk(op->regions[i], is_of_no_interest, r);
        if (interesting && !runs_through(r, op))
            for (uint32_t i = 0; i < op->nregions; i++)
                ir_walk(op->regions[i], give_up, r);
    }
}

void
vjp_find_once(const vjp *v, const ir_region *thread, bool *once, bool *still)
{
    arena *a = v->c->scratch;
    running r = {.v = v, .written = arena_new_n(a, uint8_t *, v->from->next_id + 1), .still = still};
    ir_for_ops(op, thread)
    {
        const ir_value *array = op->code == RG_OP_ARRAY ? op->results[0] : NULL;
        if (!array || array->type.length > LONGEST)
            continue;
        r.written[array->id] = arena_new_n(a, uint8_t, array->type.length + 1);
        still[array->id] = true;
    }
    run_region(&r, thread);
    ir_for_ops(op, thread)
    {
        uint32_t id = op->code == RG_OP_ARRAY ? op->results[0]->id : 0;
        if (op->code == RG_OP_ARRAY)
            still[id] &= once[id] = r.written[id] != NULL;
    }
}
