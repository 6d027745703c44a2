/* Reverse of calls that stay calls: of gradients, and of functions with derivatives of their own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A gradient G of a scalar function has a symmetric Jacobian: what its operands receive of the adjoints u of
 * its results is G's jvp along u. So no reverse sweep is reversed, to whatever order gradients are nested. */
#include "diff/hold.h"
#include "diff/vjp.h"

/* A forward value as an operand of a call, which consumes local arrays. What the forward call consumed was
 * a copy of what nothing else consumes (ad_spread_calls). */
static ir_value *
primal_operand(vjp *v, const ir_op *op, ir_value *value)
{
    if (value->type.kind != IR_ARRAY)
        return vjp_primal(v, value);
    if (value->def != op) {
        assert(value->def && value->def->code == RG_OP_COPY && "calls are spread before they are reversed");
        value = value->def->args[0];
    }
    ir_value *instance = vjp_primal(v, value);
    ir_emit e = vjp_at(v, op);
    return ir_emit_copy(&e, instance);
}

static ir_op *
new_reverse_call(vjp *v, const ir_op *op, ir_fn *fn)
{
    ir_op *call = ir_op_new(v->fn, RG_OP_CALL, 0, 0, op->loc);
    call->attr.fn = fn;
    return call;
}

static void
add_operands(vjp *v, ir_op *call, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(call, v->fn, primal_operand(v, op, op->args[i]));
}

/* the adjoints of op's float results */
static void
add_adjoints(vjp *v, ir_op *call, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        if (ir_type_floats(op->results[i]->type))
            ir_op_arg(call, v->fn, vjp_adjoint_or_zero(v, op->results[i]));
}

/* makes the call's results, of which those from `first` on are the adjoints of op's float operands */
static void
finish_call(vjp *v, ir_op *call, const ir_op *op, uint32_t first)
{
    ir_emit e = vjp_at(v, op);
    ad_call_results(&e, call, v->c->scratch);
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_type_floats(op->args[i]->type))
            vjp_accumulate(v, op->args[i], call->results[first++]);
}

/* -- buffers that the function reads ------------------------------------------------------------------- */
/* They are read again when the call is reversed: their elements must stand still. In a combined launch they do, but where
 * an array is chosen in a way that no source has (ad_hold_read). */
static bool
arrays_stand(vjp *v, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_value *array = op->args[i];
        const ir_op *write = array->type.kind == IR_BUFFER ? ad_overwritten_after(v->from, op, array, v->put_back) : NULL;
        if (!write)
            continue;
        vjp_say_overwritten(v, op, array, write);
        return false;
    }
    return true;
}

/* whether some buffer of the call has adjoints to be added to */
static bool
adds_to_buffers(vjp *v, const ir_op *op)
{
    bool any = false;
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (op->args[i]->type.kind != IR_BUFFER)
            continue;
        vjp_roots q = vjp_look(v, op->args[i]);
        any |= q.varied && q.any_adjoint && !vjp_lacks_adjoint(v, op, &q);
    }
    return any;
}

static void
reverse_gradient(vjp *v, const ir_op *op)
{
    if (op->forward == IR_FORWARD_MAX) {
        vjp_error(v, op, 503, "derivatives of `%.*s` are nested too deep", AD_CALLED(op));
        return;
    }
    ir_op *call = new_reverse_call(v, op, op->attr.fn);
    call->reverse = true;
    call->forward = (uint8_t)(op->forward + 1);
    call->tangents = op->tangents;
    call->adjoints = (uint8_t)(op->adjoints | adds_to_buffers(v, op) << op->forward);
    call->silent = true;
    add_operands(v, call, op);
    add_adjoints(v, call, op);
    finish_call(v, call, op, 0);
}

/* the user's vjp: operands, results, their adjoints -> adjoints of operands */
static void
reverse_by_vjp(vjp *v, const ir_op *op)
{
    ir_op *call = new_reverse_call(v, op, op->attr.fn->vjp);
    add_operands(v, call, op);
    for (uint32_t i = 0; i < op->nresults; i++)
        ir_op_arg(call, v->fn, primal_operand(v, op, op->results[i]));
    add_adjoints(v, call, op);
    finish_call(v, call, op, 0);
}

/* The user's jvp is linear in the tangents: its own vjp, by the tangents, is the transpose. */
static void
reverse_by_jvp(vjp *v, const ir_op *op)
{
    ir_emit e = vjp_at(v, op);
    ir_op *call = new_reverse_call(v, op, op->attr.fn->jvp);
    uint32_t before = 0; /* float operands of the call before the tangents */
    call->reverse = true;
    call->silent = true;
    add_operands(v, call, op);
    for (uint32_t i = 0; i < op->nresults; i++)
        ir_op_arg(call, v->fn, primal_operand(v, op, op->results[i]));
    for (uint32_t i = 0; i < call->nargs; i++)
        before += ir_type_floats(call->args[i]->type);
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_type_floats(op->args[i]->type))
            ir_op_arg(call, v->fn, ir_emit_zero(&e, ir_adjoint_type(op->args[i]->type)));
    add_adjoints(v, call, op);
    finish_call(v, call, op, before);
}

void
vjp_reverse_call(vjp *v, const ir_op *op)
{
    bool any = false;
    for (uint32_t i = 0; i < op->nresults; i++)
        any |= vjp_adjoint(v, op->results[i]) != NULL;
    if (!any)
        return;
    assert(ir_call_stays(op) && "other calls were inlined");
    if (!arrays_stand(v, op))
        return;
    if (op->reverse)
        reverse_gradient(v, op);
    else if (op->attr.fn->vjp)
        reverse_by_vjp(v, op);
    else
        reverse_by_jvp(v, op);
}
