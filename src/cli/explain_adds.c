/* rgc explain: how each addition to an adjoint is done, and why. SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain.h"

#include "analysis/sums.h"

typedef struct adds {
    listing *to;
    const ir_op *task; /* NULL: serial code */
    ir_sum sums[IR_SUMS_MAX];
    uint32_t nsums;
} adds;

static void look_at(adds *a, const ir_region *r);

static bool
is_add(const ir_op *op)
{
    return op && ir_is_add(op) && op->plane & RG_ADJOINT;
}

/* `if %own { plain } else { atomic }` */
static bool
is_tested(const ir_op *op)
{
    if (op->code != RG_OP_IF)
        return false;
    const ir_op *plain = op->regions[0]->first, *atomic = op->regions[1]->first;
    return is_add(plain) && is_add(atomic) && !plain->atomic && atomic->atomic &&
           plain->args[0] == atomic->args[0];
}

static void
tell(const adds *a, const ir_op *add, const char *how, const char *why)
{
    const char *name = add->args[0]->name ? add->args[0]->name : "a chosen array";
    listing_note(a->to, add->loc, "adjoint of %s: %s%s%s", name, how, why ? ": " : "", why ? why : "");
}

static void
look_at_add(const adds *a, const ir_op *op)
{
    bool sum = false;
    for (uint32_t i = 0; i < a->nsums; i++)
        sum |= op->args[0] == a->sums[i].buffer && op->plane == a->sums[i].plane;
    if (!a->task)
        tell(a, op, "plain add", "serial code");
    else if (!op->atomic)
        tell(a, op, "plain add", op->why ? op->why : "no two threads reach one element");
    else if (sum)
        tell(a, op, "per-thread sum (large arrays: atomic add)", op->why);
    else
        tell(a, op, "atomic add", op->why);
}

static void
look_at_op(adds *a, const ir_op *op)
{
    if (is_add(op)) {
        look_at_add(a, op);
    } else if (is_tested(op)) {
        tell(a, op->regions[0]->first, "plain add where the launch's sizes keep threads apart, else atomic add", NULL);
    } else if (op->code == RG_OP_PARALLEL && !a->task) {
        a->task = op;
        ir_effects effects = ir_effects_of(op->regions[0], NULL);
        a->nsums = ir_sums_find(&effects, a->sums);
        vec_free(&effects.at);
        look_at(a, op->regions[0]);
        a->task = NULL;
        a->nsums = 0;
    } else {
        for (uint32_t i = 0; i < op->nregions; i++)
            look_at(a, op->regions[i]);
    }
}

static void
look_at(adds *a, const ir_region *r)
{
    ir_for_ops(op, r)
        look_at_op(a, op);
}

void
explain_adds(const ir_fn *fn, listing *to)
{
    adds a = {.to = to};
    look_at(&a, fn->body);
}
