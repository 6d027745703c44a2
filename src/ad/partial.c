/* Values of the partial last iteration leave their loop as results. SPDX-License-Identifier: Apache-2.0 */
#include "ad/partial.h"

#include "ir/recall.h"

typedef struct exits {
    ir_fn *fn;
    map lifted;
    vec(ir_op *) recalls;
    ir_steps steps;
} exits;

static void
release_exits(void *object)
{
    exits *x = object;
    vec_free(&x->steps);
    vec_free(&x->recalls);
    map_free(&x->lifted);
}

static bool
collect_recall(ir_op *op, void *user)
{
    exits *x = user;
    if (op->code == RG_OP_RECALL && op->args[0]->type.kind != IR_TRACE)
        vec_push(&x->recalls, op);
    return true;
}

/* the number of steps that end at the last loop which is not unwound, before the first that is */
static size_t
steps_to_lift(const ir_steps *steps)
{
    size_t n = 0;
    for (size_t i = 0; i < steps->n && !steps->at[i].unwound_by; i++)
        if (steps->at[i].op->code != RG_OP_IF)
            n = i + 1;
    return n;
}

bool
ad_lift_partial(ir_fn *fn)
{
    exits x = {.fn = fn};
    mem_owner owns;
    mem_own(&owns, release_exits, &x);
    ir_walk(fn->body, collect_recall, &x);
    bool any = false;
    for (size_t i = 0; i < x.recalls.n; i++) {
        ir_op *recall = x.recalls.at[i];
        ir_recall_steps(recall, &x.steps);
        size_t n = steps_to_lift(&x.steps);
        for (size_t s = 0; s < n; s++)
            recall->args[0] = ir_lift(fn, recall->args[0], x.steps.at[s].op, &x.lifted);
        any |= n > 0;
    }
    mem_disown(&owns);
    release_exits(&x);
    return any;
}
