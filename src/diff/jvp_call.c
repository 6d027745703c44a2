/* Forward derivatives of calls that stay calls. SPDX-License-Identifier: Apache-2.0 */
#include "diff/jvp.h"

static ir_value *
copied_operand(jvp *j, const ir_emit *e, const ir_value *v)
{
    ir_value *primal = j->primal[v->id];
    return primal->type.kind == IR_ARRAY ? ir_emit_copy(e, primal) : primal;
}

static ir_op *
new_tangent_call(jvp *j, const ir_emit *e, const ir_op *op, ir_fn *fn)
{
    ir_op *call = ir_op_new(j->fn, RG_OP_CALL, 0, 0, op->loc);
    call->attr.fn = fn;
    call->silent = op->silent;
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(call, j->fn, copied_operand(j, e, op->args[i]));
    return call;
}

static void
add_tangents(jvp *j, const ir_emit *e, ir_op *call, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (!ir_type_floats(op->args[i]->type))
            continue;
        ir_value *t = jvp_tangent_or_zero(j, e, op->args[i]);
        ir_op_arg(call, j->fn, t->type.kind == IR_ARRAY ? ir_emit_copy(e, t) : t);
    }
}

static void
take_tangents(jvp *j, const ir_op *op, const ir_op *call)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (ir_type_floats(op->results[i]->type))
            j->tangent[op->results[i]->id] = call->results[next++];
}

/* whether some buffer that the function reads has tangents */
static bool
buffers_vary(jvp *j, const ir_op *op)
{
    bool any = false;
    for (uint32_t i = 0; !j->still && i < op->nargs; i++) {
        if (op->args[i]->type.kind != IR_BUFFER)
            continue;
        jvp_roots q = jvp_look(j, op->args[i]);
        any |= !jvp_lacks_tangent(j, op, &q) && q.any && q.varied;
    }
    return any;
}

/* of a derivative: the next one, which gives the values too */
static void
call_derivative(jvp *j, const ir_emit *e, const ir_op *op, bool buffers)
{
    if (op->forward == IR_FORWARD_MAX) {
        jvp_refuse(j, op, 503, "derivatives of `%.*s` are nested too deep", AD_CALLED(op));
        return;
    }
    ir_op *call = new_tangent_call(j, e, op, op->attr.fn);
    call->reverse = op->reverse;
    call->forward = (uint8_t)(op->forward + 1);
    call->tangents = (uint8_t)(op->tangents | buffers << op->forward);
    call->adjoints = op->adjoints;
    add_tangents(j, e, call, op);
    ad_call_results(e, call, j->c->scratch);
    take_tangents(j, op, call);
    for (uint32_t i = 0; i < op->nresults; i++)
        j->primal[op->results[i]->id] = call->results[call->nresults - op->nresults + i];
}

static void
call_plain(jvp *j, const ir_emit *e, const ir_op *op)
{
    ir_op *call = new_tangent_call(j, e, op, op->attr.fn);
    call->reverse = op->reverse;
    call->forward = op->forward;
    call->tangents = op->tangents;
    call->adjoints = op->adjoints;
    ad_call_results(e, call, j->c->scratch);
    for (uint32_t i = 0; i < op->nresults; i++)
        j->primal[op->results[i]->id] = call->results[i];
}

static void
pass_results(jvp *j, const ir_emit *e, ir_op *call, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        ir_op_arg(call, j->fn, copied_operand(j, e, op->results[i]));
}

/* the user's jvp: operands, results, tangents of operands -> tangents of results */
static void
tangents_by_jvp(jvp *j, const ir_emit *e, const ir_op *op)
{
    ir_op *call = new_tangent_call(j, e, op, op->attr.fn->jvp);
    pass_results(j, e, call, op);
    add_tangents(j, e, call, op);
    ad_call_results(e, call, j->c->scratch);
    take_tangents(j, op, call);
}

/* the product of a row (scalar or array) with a tangent, added to *sum */
static void
add_product(const ir_emit *e, ir_value **sum, ir_value *row, ir_value *tangent)
{
    uint32_t n = row->type.kind == IR_ARRAY ? row->type.length : 1;
    for (uint32_t i = 0; i < n; i++) {
        ir_value *x = row, *y = tangent;
        if (row->type.kind == IR_ARRAY) {
            x = ir_emit_extract(e, row, ir_emit_int(e, RG_I64, i));
            y = ir_emit_extract(e, tangent, ir_emit_int(e, RG_I64, i));
        }
        ir_value *product = ir_emit_2(e, RG_OP_MUL, ir_emit_cast(e, (rg_dtype)(*sum)->type.dtype, x),
                                   ir_emit_cast(e, (rg_dtype)(*sum)->type.dtype, y));
        *sum = ir_emit_2(e, RG_OP_ADD, *sum, product);
    }
}

/* The user's vjp with one adjoint 1 and the others 0 gives a row of the Jacobian: one call for each scalar
 * that the function results in. */
static ir_value *
tangent_by_row(jvp *j, const ir_emit *e, const ir_op *op, const ir_value *result, uint32_t element)
{
    ir_op *call = new_tangent_call(j, e, op, op->attr.fn->vjp);
    pass_results(j, e, call, op);
    rg_dtype dtype = ir_adjoint_dtype((rg_dtype)result->type.dtype);
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (!ir_type_floats(op->results[i]->type))
            continue;
        ir_value *seed = ir_emit_zero(e, ir_adjoint_type(op->results[i]->type));
        if (op->results[i] == result) {
            ir_value *one = ir_emit_float(e, dtype, 1.0);
            seed = seed->type.kind == IR_ARRAY ? ir_emit_insert(e, seed, ir_emit_int(e, RG_I64, element), one) : one;
        }
        ir_op_arg(call, j->fn, seed);
    }
    ad_call_results(e, call, j->c->scratch);
    ir_value *sum = ir_emit_const(e, dtype, 0);
    uint32_t next = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_type_floats(op->args[i]->type)) {
            ir_value *row = call->results[next++], *tangent = j->tangent[op->args[i]->id];
            if (tangent)
                add_product(e, &sum, row, tangent);
        }
    return sum;
}

enum { MOST_ROWS = 64 };

static void
tangents_by_vjp(jvp *j, const ir_emit *e, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++) {
        const ir_value *r = op->results[i];
        if (!ir_type_floats(r->type))
            continue;
        if (r->type.kind == IR_SCALAR) {
            j->tangent[r->id] = tangent_by_row(j, e, op, r, 0);
            continue;
        }
        if (r->type.length > MOST_ROWS) {
            jvp_refuse(j, op, 504, "the forward derivative of `%.*s` takes one call of its vjp for each of %u results\n"
                       "give it a jvp as well", AD_CALLED(op), r->type.length);
            return;
        }
        ir_value *array = ir_emit_zero(e, ir_adjoint_type(r->type));
        for (uint32_t k = 0; k < r->type.length; k++)
            array = ir_emit_insert(e, array, ir_emit_int(e, RG_I64, k), tangent_by_row(j, e, op, r, k));
        j->tangent[r->id] = array;
    }
}

void
jvp_call(jvp *j, const ir_op *op, ir_region *into)
{
    ir_emit e = {j->fn, into, NULL, op->loc};
    bool buffers = buffers_vary(j, op), any = buffers;
    for (uint32_t i = 0; i < op->nargs; i++)
        any |= j->tangent[op->args[i]->id] != NULL;
    if (any && (op->reverse || op->forward)) {
        call_derivative(j, &e, op, buffers);
        return;
    }
    call_plain(j, &e, op);
    if (!any)
        return;
    assert(ir_call_stays(op) && "other calls were inlined");
    if (op->attr.fn->jvp)
        tangents_by_jvp(j, &e, op);
    else
        tangents_by_vjp(j, &e, op);
}
