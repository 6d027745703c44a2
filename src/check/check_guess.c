/* What a kernel does with integers that its arrays hold: used to make such arrays up. SPDX-License-Identifier: Apache-2.0
 *
 * Each integer is followed from the loads that it depends on to the subscripts that depend on it, by a bit for each
 * parameter, without regard to order. Comparisons end it: a count of iterations is no subscript for that. */
#include "check/check.h"
#include "analysis/effects.h"
#include "analysis/writes.h"

enum { TRACKED = 64 }; /* parameters; those behind them are taken to lead everywhere */

typedef struct guess {
    const ir_fn *fn;
    uint64_t *from; /* by value id: the parameters that it depends on */
    const int64_t (*extents)[RG_MAX_RANK];
    uint64_t *below;
    bool changed;
} guess;

static bool
holds_integers(const ir_value *v)
{
    return v->type.kind != IR_BUFFER && !ir_is_float((rg_dtype)v->type.dtype) && v->type.dtype != RG_BOOL;
}

static void
spread_guess(guess *g, uint64_t from, const ir_value *to)
{
    if (holds_integers(to) && (from & ~g->from[to->id])) {
        g->from[to->id] |= from;
        g->changed = true;
    }
}

static void
add_root_bit(ir_value *root, void *user)
{
    if (!root->def)
        *(uint64_t *)user |= (uint64_t)1 << (root->index < TRACKED ? root->index : TRACKED - 1);
}

static uint64_t
follow_region(guess *g, uint64_t from, const ir_region *r)
{
    uint64_t out = 0;
    ir_for_ops (op, r)
        if (op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF)
            for (uint32_t k = 0; k < op->nargs; k++)
                out |= g->from[op->args[k]->id];
    for (uint32_t k = 0; k < r->nparams; k++)
        spread_guess(g, from | out, r->params[k]);
    return out;
}

static bool
follow_op(ir_op *op, void *user)
{
    guess *g = user;
    uint64_t from = 0, loaded = 0;
    if (op->code == RG_OP_LOAD && op->args[0]->type.kind == IR_BUFFER)
        ir_buffer_roots(op->args[0], add_root_bit, &loaded);
    else
        for (uint32_t k = 0; k < op->nargs; k++)
            from |= g->from[op->args[k]->id];
    for (uint32_t k = 0; k < op->nregions; k++)
        from |= follow_region(g, from, op->regions[k]);
    for (uint32_t k = 0; k < op->nresults; k++)
        spread_guess(g, from | loaded, op->results[k]);
    return true;
}

typedef struct limit {
    guess *g;
    uint64_t from;
    uint32_t axis;
} limit;

static void
limit_by(ir_value *root, void *user)
{
    limit *l = user;
    int64_t extent = root->def ? -1 : l->g->extents[root->index][l->axis];
    for (uint32_t i = 0; extent > 0 && i < l->g->fn->body->nparams; i++) {
        uint64_t *below = &l->g->below[i];
        if (l->from >> (i < TRACKED ? i : TRACKED - 1) & 1 && (!*below || (uint64_t)extent < *below))
            *below = (uint64_t)extent;
    }
}

static bool
limit_op(ir_op *op, void *user)
{
    bool memory = ir_is_access(op);
    if (!memory || op->args[0]->type.kind != IR_BUFFER)
        return true;
    for (uint32_t k = 0; k < op->args[0]->type.rank; k++) {
        guess *g = user;
        limit l = {g, g->from[op->args[1 + k]->id], k};
        ir_buffer_roots(op->args[0], limit_by, &l);
    }
    return true;
}

void
check_index_limits(const ir_fn *kernel, const int64_t (*extents)[RG_MAX_RANK], uint64_t *below)
{
    guess g = {.fn = kernel, .extents = extents, .below = below};
    g.from = arena_new_n(mem_scratch(), uint64_t, kernel->next_id + 1);
    do {
        g.changed = false;
        ir_walk(kernel->body, follow_op, &g);
    } while (g.changed);
    ir_walk(kernel->body, limit_op, &g);
}
