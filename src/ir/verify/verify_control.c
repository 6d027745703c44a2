/* The rules of serial control: what goes into regions and what leaves them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
#include "ir/recall.h"
#include "ir/verify/verify.h"

/* what an if or a loop can hand on: no traces (recall finds them), and buffers (pick selects those) only
 * where a transform carries temps out that are recalled */
static bool
is_carried(const verifier *v, ir_type t)
{
    return t.kind == IR_SCALAR || t.kind == IR_ARRAY || t.kind == IR_CURSOR ||
           (t.kind == IR_BUFFER && v->stage >= IR_STAGE_AD);
}

static bool
check_carried(verifier *v, const ir_op *leave, uint32_t first, uint32_t n, ir_value *const *to,
              const char *what)
{
    if (leave->nargs != first + n)
        return verify_error(v, leave, E_YIELD, "%s takes %u values here, not %u", what, n,
                            leave->nargs > first ? leave->nargs - first : 0);
    for (uint32_t i = 0; i < n; i++) {
        ir_type t = leave->args[first + i]->type;
        if (!is_carried(v, t))
            return verify_error(v, leave, E_YIELD,
                                "value %u is a buffer, trace or slot, which regions do not hand on",
                                i);
        if (!ir_type_eq(t, to[i]->type))
            return verify_error(v, leave, E_YIELD, "value %u is not of the type that %s has there",
                                i, what);
    }
    return true;
}

static bool
check_if(verifier *v, const ir_op *op)
{
    for (uint32_t i = 0; i < 2; i++) {
        const ir_op *end = ir_terminator(op->regions[i]);
        if (op->regions[i]->nparams)
            return verify_error(v, op, E_ATTRIBUTE, "regions of an if have no parameters");
        if (end && !check_carried(v, end, 0, op->nresults, op->results, "the if"))
            return false;
    }
    return true;
}

/* parameters from `first` on: as many inits, the body's yield brings the next ones */
static bool
check_carried_params(verifier *v, const ir_op *op, uint32_t first)
{
    const ir_region *body = op->regions[0];
    uint32_t init = ir_first_init(op);
    const ir_op *end = ir_terminator(body);
    if (body->nparams < first || op->nargs < init || op->nargs - init != body->nparams - first)
        return verify_error(v, op, E_OPERAND, "a loop has one init for each carried value");
    uint32_t n = body->nparams - first;
    for (uint32_t i = 0; i < n; i++) {
        ir_type t = body->params[first + i]->type;
        if (!is_carried(v, t) || !ir_type_eq(op->args[init + i]->type, t))
            return verify_error(v, op, E_OPERAND, "init %u is not of the carried value's type", i);
    }
    return !end || check_carried(v, end, 0, n, body->params + first, "the body's yield");
}

static bool
check_trace_result(verifier *v, const ir_op *op)
{
    uint32_t n = ir_value_results(op);
    if (op->records && op->nresults == n)
        return verify_error(v, op, E_RESULT, "the last result of what records is a trace");
    for (uint32_t i = 0; i < n; i++)
        if (!is_carried(v, op->results[i]->type))
            return verify_error(v, op, E_RESULT, "result %u is a buffer, trace or slot", i);
    return true;
}

/* results are the carried values of parameters from 1 on */
static bool
check_carried_results(verifier *v, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    uint32_t n = ir_value_results(op);
    if (n != body->nparams - 1)
        return verify_error(v, op, E_RESULT, "a counted loop gives its carried values (%u)",
                            body->nparams - 1);
    for (uint32_t i = 0; i < n; i++)
        if (!verify_result(v, op, i, body->params[i + 1]->type))
            return false;
    return true;
}

static bool
step_fits(rg_dtype d, int64_t step)
{
    if (ir_is_signed(d))
        return ir_wrap(d, (uint64_t)step) == (uint64_t)step;
    uint64_t size = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    return ir_wrap(d, size) == size;
}

static bool
check_for(verifier *v, const ir_op *op)
{
    if (!op->regions[0]->nparams)
        return verify_error(v, op, E_OPERAND, "a for has two bounds, an index and one region");
    ir_type t = op->args[0]->type;
    if (!ir_is_int((rg_dtype)t.dtype) || !verify_arg(v, op, 1, t) ||
        !ir_type_eq(op->regions[0]->params[0]->type, t))
        return verify_error(v, op, E_OPERAND, "bounds and index of a for are of one integer type without lanes");
    if (!op->attr.step || !step_fits((rg_dtype)t.dtype, op->attr.step))
        return verify_error(v, op, E_ATTRIBUTE, "the step is not 0 and fits the index's type");
    return check_trace_result(v, op) && check_carried_params(v, op, 1) && check_carried_results(v, op);
}

static bool
check_loop(verifier *v, const ir_op *op)
{
    if (!check_trace_result(v, op) || !check_carried_params(v, op, 0))
        return false;
    return ir_next_exit(op, NULL) ||
           verify_error(v, op, E_EXIT, "a loop has an exit_if at the top level of its body");
}

static bool
check_exit_if(verifier *v, const ir_op *op)
{
    const ir_op *loop = op->parent->op;
    if (!loop || loop->code != RG_OP_LOOP)
        return verify_error(v, op, E_EXIT,
                            "an exit_if stands at the top level of a loop's body\nin an "
                            "if, yield a flag and exit on it afterwards");
    return check_carried(v, op, 1, ir_value_results(loop), loop->results, "the loop's result");
}

static bool
check_unwind(verifier *v, const ir_op *op)
{
    if (!op->regions[0]->nparams)
        return verify_error(v, op, E_OPERAND, "an unwind has a trace, a count and one region");
    if (!ir_type_eq(op->regions[0]->params[0]->type, ir_scalar(RG_I64)))
        return verify_error(v, op, E_ATTRIBUTE, "an unwind's iteration is of type i64");
    const ir_op *maker = ir_trace_maker(op->args[0]);
    if (!maker || !ir_is_loop(maker))
        return verify_error(v, op, E_OPERAND, "the trace does not come from a for or loop");
    return check_trace_result(v, op) && check_carried_params(v, op, 1) && check_carried_results(v, op);
}

static bool
check_signature(verifier *v, const ir_op *op, const ir_signature *s)
{
    if (op->nargs != s->args.n || op->nresults != s->results.n)
        return verify_error(v, op, E_CALL, "the call has not the operands and results of @%s",
                            op->attr.fn->name);
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!verify_arg(v, op, i, s->args.at[i]))
            return false;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (!verify_result(v, op, i, s->results.at[i]))
            return false;
    return true;
}

static bool
check_call(verifier *v, const ir_op *op)
{
    const ir_fn *fn = op->attr.fn;
    if (!fn || fn->kernel || fn->module != v->module)
        return verify_error(v, op, E_CALL,
                            "a call names a function of this module that is no kernel");
    if (!ir_terminator(fn->body))
        return verify_error(v, op, E_CALL, "@%s has no end", fn->name);
    ir_signature s = ir_signature_of(fn, op->reverse, op->forward, v->scratch);
    return check_signature(v, op, &s);
}

bool
verify_control(verifier *v, const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_IF:
        return check_if(v, op);
    case RG_OP_SEGMENT:
        return verify_segment(v, op);
    case RG_OP_FOR:
        return check_for(v, op);
    case RG_OP_LOOP:
        return check_loop(v, op);
    case RG_OP_EXIT_IF:
        return check_exit_if(v, op);
    case RG_OP_UNWIND:
        return check_unwind(v, op);
    case RG_OP_CALL:
        return check_call(v, op);
    default: /* a yield's values: with the op that it leaves */
        return true;
    }
}
