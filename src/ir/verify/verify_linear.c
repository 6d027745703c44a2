/* Local arrays are linear: on each path a value is consumed at most once, and not used after that,
 * so that every insert can be done in place. SPDX-License-Identifier: Apache-2.0
 *
 * insert, yield, inits and arguments of calls consume. An exit_if consumes on the path that leaves
 * only: the loop's body may go on with the array, what follows the loop may not. What a loop's body
 * consumes must come from that body, or every iteration would consume it again. Tables are
 * read-only. */
#include "ir/edges.h"
#include "ir/verify/verify.h"

static bool
is_local(const ir_value *a)
{
    return a->type.kind == IR_ARRAY;
}

/* a, or what it is: a recall of an array that can be seen there */
static const ir_value *
itself(const ir_value *a)
{
    while (a->def && a->def->code == RG_OP_RECALL && ir_region_inside(a->def->parent, a->def->args[0]->region))
        a = a->def->args[0];
    return a;
}

static bool
repeats(const ir_op *op)
{
    return op && (ir_is_loop(op) || op->code == RG_OP_PARALLEL ||
                  op->code == RG_OP_UNWIND);
}

static void
mark_consumed(verifier *v, const ir_value *a)
{
    if (v->consumed[a->id])
        return;
    v->consumed[a->id] = true;
    vec_push(&v->trail, a->id);
}

/* Whether the region `from` is reached once for each time that a is defined. */
static bool
reached_once(const ir_value *a, const ir_region *from)
{
    for (const ir_region *r = from; r != a->region; r = r->op->parent)
        if (repeats(r->op))
            return false;
    return true;
}

static bool
may_use(verifier *v, const ir_op *op, const ir_value *a)
{
    return !v->consumed[a->id] || verify_error(v, op, E_LINEAR,
                                               "local array %s is used after it was consumed\n"
                                               "copy it before the first use that consumes it",
                                               a->name ? a->name : "(no name)");
}

static void
consume(verifier *v, const ir_op *op, const ir_value *a, const ir_region *from)
{
    if (ir_is_table(a))
        verify_error(v, op, E_LINEAR, "a table is read-only and cannot be consumed\ncopy it first");
    else if (!reached_once(a, from))
        verify_error(
            v, op, E_LINEAR,
            "a local array of outside is consumed by each iteration\ncarry it through the loop, "
            "or copy it");
    else if (may_use(v, op, a))
        mark_consumed(v, a);
}

static bool
consumes(const ir_op *op, uint32_t arg)
{
    switch (op->code) {
    case RG_OP_INSERT:
        return arg == 0;
    case RG_OP_YIELD:
    case RG_OP_CALL:
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_UNWIND:
        return true;
    default:
        return false;
    }
}

static void
check_inner_region(verifier *v, const ir_region *r)
{
    verify_linear(v, r);
}

/* Either branch starts from the same state; what one of them consumed is gone after both. */
static void
check_branches(verifier *v, const ir_op *op)
{
    size_t start = v->trail.n;
    check_inner_region(v, op->regions[0]);
    size_t end = v->trail.n;
    for (size_t i = start; i < end; i++)
        v->consumed[v->trail.at[i]] = false;
    check_inner_region(v, op->regions[1]);
    for (size_t i = start; i < end; i++)
        v->consumed[v->trail.at[i]] = true;
}

/* twice in one list */
static void
check_twice(verifier *v, const ir_op *op, uint32_t arg)
{
    for (uint32_t i = 0; i < arg; i++)
        if (itself(op->args[i]) == itself(op->args[arg]))
            verify_error(v, op, E_LINEAR, "a local array leaves the loop twice");
}

/* arrays of outside that leave through an exit */
static void
consume_at_exits(verifier *v, const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    ir_for_exits (op, loop) {
        for (uint32_t i = 0; i < op->nargs; i++) {
            const ir_value *a = itself(op->args[i]);
            if (!is_local(a) || ir_is_table(a) || ir_region_inside(a->region, body))
                continue;
            if (!reached_once(a, loop->parent))
                consume(v, op, a, loop->parent);
            mark_consumed(v, a);
        }
    }
}

static void
check_operands(verifier *v, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_value *a = itself(op->args[i]);
        if (!is_local(a) || op->code == RG_OP_RECALL)
            continue;
        if (consumes(op, i)) {
            consume(v, op, a, op->parent);
            continue;
        }
        may_use(v, op, a);
        if (op->code == RG_OP_EXIT_IF) {
            check_twice(v, op, i);
            if (ir_is_table(a))
                consume(v, op, a, op->parent);
        }
    }
}

void
verify_linear(verifier *v, const ir_region *r)
{
    ir_for_ops(op, r)
    {
        check_operands(v, op);
        if (op->code == RG_OP_IF)
            check_branches(v, op);
        else
            for (uint32_t i = 0; i < op->nregions; i++)
                check_inner_region(v, op->regions[i]);
        if (op->code == RG_OP_LOOP)
            consume_at_exits(v, op);
    }
}
