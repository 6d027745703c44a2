/* Loops whose iterations may run in any order. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/order.h"

#include "analysis/sums.h"

enum { WRITES_MAX = 32 };

typedef struct body {
    const ir_op *writes[WRITES_MAX]; /* additions */
    uint32_t n;
    const ir_value *counted;
    uint32_t uses; /* of it */
    bool bad;
} body;

static bool
look(ir_op *op, void *user)
{
    body *b = user;
    bool harmless = op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF || op->code == RG_OP_RECALL;
    bool nests = op->code == RG_OP_IF || op->code == RG_OP_FOR || op->code == RG_OP_LOOP;
    bool adds = op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && !op->nresults;
    if (op->records || op->rewinds)
        b->bad = true;
    else if (adds && b->n < WRITES_MAX)
        b->writes[b->n++] = op;
    else if (op->code == RG_OP_UNWIND || op->code == RG_OP_CALL)
        b->bad = true;
    else if (!harmless && !nests && op->code != RG_OP_LOAD)
        b->bad |= adds || !(ir_ops[op->code].flags & IR_PURE);
    return !b->bad;
}

static bool
meets(ir_op *op, void *user)
{
    body *b = user;
    for (uint32_t i = 0; i < b->n && op->code == RG_OP_LOAD; i++) {
        const ir_value *to = b->writes[i]->args[0];
        b->bad |= op->plane == b->writes[i]->plane && op->direction == b->writes[i]->direction &&
                  (op->args[0] == to || ir_may_be_same(op->args[0], to));
    }
    return !b->bad;
}

static bool
count_uses(ir_op *op, void *user)
{
    body *b = user;
    for (uint32_t i = 0; i < op->nargs; i++)
        b->uses += op->args[i] == b->counted;
    return true;
}

static uint32_t
uses_in(body *b, const ir_region *r, const ir_value *v)
{
    b->counted = v;
    b->uses = 0;
    ir_walk((ir_region *)(uintptr_t)r, count_uses, b);
    return b->uses;
}

/* param + something, and nobody looks at the sum on its way */
static bool
is_loose_sum(body *b, const ir_region *r, const ir_value *param, const ir_value *next)
{
    const ir_op *op = next->def;
    if (!op || !op->fast || op->parent != r || (op->code != RG_OP_ADD && op->code != RG_OP_FMA))
        return false;
    bool summand = op->code == RG_OP_ADD ? op->args[0] == param || op->args[1] == param : op->args[2] == param;
    return summand && uses_in(b, r, param) == 1 && uses_in(b, r, next) == 1;
}

bool
has_no_order(const ir_op *loop)
{
    ir_region *r = loop->regions[0];
    body b = {.n = 0};
    ir_walk(r, look, &b);
    if (!b.bad)
        ir_walk(r, meets, &b);
    const ir_op *end = ir_terminator(r);
    for (uint32_t i = 1; i < r->nparams && !b.bad; i++)
        b.bad = !is_loose_sum(&b, r, r->params[i], end->args[i - 1]);
    return !b.bad;
}
