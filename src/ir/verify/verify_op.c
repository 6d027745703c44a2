/* The rules of single ops: operands, results, attributes. Regions and what leaves them:
 * verify_control.c. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/effects.h"
#include "ir/verify/verify.h"

/* -- what most rules ask ---------------------------------------------------------------------- */

bool
verify_counts(verifier *v, const ir_op *op, uint32_t nargs, uint32_t nresults, uint32_t nregions)
{
    if (op->nargs != nargs)
        return verify_error(v, op, E_OPERAND, "%s takes %u operands here, not %u",
                            ir_ops[op->code].text, nargs, op->nargs);
    if (op->nresults != nresults)
        return verify_error(v, op, E_RESULT, "%s has %u results here, not %u",
                            ir_ops[op->code].text, nresults, op->nresults);
    if (op->nregions != nregions)
        return verify_error(v, op, E_ATTRIBUTE, "%s has %u regions, not %u", ir_ops[op->code].text,
                            nregions, op->nregions);
    return true;
}

bool
verify_arg(verifier *v, const ir_op *op, uint32_t i, ir_type t)
{
    ir_type is = op->args[i]->type;
    if (ir_type_eq(is, t))
        return true;
    if (ir_type_eq(ir_with_lanes(is, t.lanes), t))
        return verify_error(v, op, E_OPERAND, "operand %u %s lanes, which it must%s", i,
                            is.lanes ? "has" : "has not the", is.lanes ? " not have" : " have");
    return verify_error(v, op, E_OPERAND, "operand %u is not of the type that it must have", i);
}

bool
verify_result(verifier *v, const ir_op *op, uint32_t i, ir_type t)
{
    return ir_type_eq(op->results[i]->type, t) ||
           verify_error(v, op, E_RESULT, "result %u is not of the type that it must have", i);
}

static ir_type
arg_type(const ir_op *op, uint32_t i)
{
    return op->args[i]->type;
}

static bool
kind_is(verifier *v, const ir_op *op, uint32_t i, ir_kind kind, const char *what)
{
    return arg_type(op, i).kind == kind ||
           verify_error(v, op, E_OPERAND, "operand %u is not %s", i, what);
}

static bool
is_integer(ir_type t) /* with lanes or without */
{
    return t.kind == IR_SCALAR && ir_is_int((rg_dtype)t.dtype);
}

static bool
real_dtype(ir_type t)
{
    return t.dtype > RG_NONE && t.dtype < RG_DTYPE_COUNT;
}

static bool
at_kernel_level(verifier *v, const ir_op *op)
{
    return (v->fn->kernel && !v->parallels) ||
           verify_error(v, op, E_LEVEL,
                        "%s stands at kernel level only: not in functions, nor inside "
                        "a parallel loop",
                        ir_ops[op->code].text);
}

/* -- scalar ops ------------------------------------------------------------------------------- */

static bool
check_scalar(verifier *v, const ir_op *op)
{
    ir_type args[3];
    if (op->nargs < 1 || op->nargs > 3 || op->nregions)
        return verify_error(v, op, E_OPERAND, "%s takes one to three operands and no region",
                            ir_ops[op->code].text);
    if (op->nresults != 1)
        return verify_error(v, op, E_RESULT, "%s has one result", ir_ops[op->code].text);
    for (uint32_t i = 0; i < op->nargs; i++)
        args[i] = arg_type(op, i);
    ir_type want = op->results[0]->type;
    if (!ir_form_check((rg_op)op->code, op->nargs, args, &want))
        return verify_error(v, op, E_OPERAND, "%s cannot take operands of these types",
                            ir_ops[op->code].text);
    return verify_result(v, op, 0, want);
}

static bool
check_const(verifier *v, const ir_op *op)
{
    if (!verify_counts(v, op, 0, 1, 0))
        return false;
    ir_type t = op->results[0]->type;
    if (t.kind != IR_SCALAR || t.lanes || !real_dtype(t))
        return verify_error(v, op, E_RESULT, "a constant is a scalar without lanes");
    return ir_wrap((rg_dtype)t.dtype, op->attr.bits) == op->attr.bits ||
           verify_error(v, op, E_ATTRIBUTE, "the constant's bits are not wrapped to its type");
}

/* -- memory ----------------------------------------------------------------------------------- */

/* operand 0 as a parameter of the kernel, seen through picks; `each` on every one that it may be */
static bool
writes_constant(const ir_fn *fn, const ir_value *buffer)
{
    if (!buffer->def)
        return buffer->region == fn->body && fn->params[buffer->index].constant;
    if (buffer->def->code != RG_OP_PICK)
        return false;
    for (uint32_t i = 1; i < buffer->def->nargs; i++)
        if (writes_constant(fn, buffer->def->args[i]))
            return true;
    return false;
}

/* The buffer and its indices, followed by `values` operands; or a scalar parameter's plane above 0.
 */
static bool
check_access(verifier *v, const ir_op *op, uint32_t values)
{
    if (op->nargs < 1)
        return verify_error(v, op, E_OPERAND, "an access has a buffer");
    const ir_value *at = op->args[0];
    bool is_float = ir_is_float((rg_dtype)at->type.dtype);
    uint32_t rank = at->type.rank;
    if (at->type.kind == IR_SCALAR) {
        if (!v->fn->kernel || at->region != v->fn->body || at->def || !op->plane || !is_float)
            return verify_error(
                v, op, E_OPERAND,
                "operand 0 is a buffer, or a float parameter of the kernel in a plane "
                "above the primal one");
        rank = 0;
    } else if (at->type.kind != IR_BUFFER) {
        return verify_error(v, op, E_OPERAND, "operand 0 is not a buffer");
    }
    if (op->plane >= RG_PLANE_COUNT || (op->plane && !is_float))
        return verify_error(v, op, E_ATTRIBUTE, "only floats have adjoints and tangents");
    if (op->nargs != 1 + rank + values + op->masked)
        return verify_error(v, op, E_OPERAND,
                            "an access of a buffer of rank %u has as many indices", rank);
    for (uint32_t i = 1; i <= rank; i++)
        if (!is_integer(arg_type(op, i)))
            return verify_error(v, op, E_OPERAND, "index %u is not an integer", i - 1);
    for (uint32_t i = 1 + rank; i <= rank + values; i++) {
        ir_type element = ir_scalar((rg_dtype)at->type.dtype);
        if (!verify_arg(v, op, i, ir_with_lanes(element, arg_type(op, i).lanes)))
            return false;
    }
    if (!verify_access_lanes(v, op, rank))
        return false;
    if (ir_ops[op->code].flags & IR_WRITE && op->plane == RG_PRIMAL && writes_constant(v->fn, at))
        return verify_error(v, op, E_ATTRIBUTE, "the kernel promises not to write this parameter");
    bool adds = op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && op->plane & RG_ADJOINT;
    if (ir_ops[op->code].flags & IR_WRITE && !v->fn->kernel && !adds)
        return verify_error(v, op, E_ATTRIBUTE, "a function reads its arrays, and may add to their adjoints");
    return true;
}

static bool
check_load(verifier *v, const ir_op *op)
{
    if (!check_access(v, op, 0))
        return false;
    if (!verify_counts(v, op, op->nargs, 1, 0))
        return false;
    ir_type element = ir_scalar((rg_dtype)arg_type(op, 0).dtype);
    return verify_result(v, op, 0, ir_with_lanes(element, op->results[0]->type.lanes));
}

static bool
check_store(verifier *v, const ir_op *op)
{
    return check_access(v, op, 1) && verify_counts(v, op, op->nargs, 0, 0);
}

/* which reductions and updates a type has */
static bool
check_update(verifier *v, const ir_op *op, unsigned what, rg_dtype d)
{
    bool number = ir_is_int(d) || ir_is_float(d), bits = ir_is_int(d) || d == RG_BOOL, ok = false;
    switch ((rg_rmw)what) {
    case RG_RMW_ADD:
    case RG_RMW_MIN:
    case RG_RMW_MAX:
    case RG_RMW_MUL:
        ok = number;
        break;
    case RG_RMW_AND:
    case RG_RMW_OR:
    case RG_RMW_XOR:
        ok = bits;
        break;
    case RG_RMW_EXCHANGE:
    case RG_RMW_CAS:
        ok = op->code == RG_OP_RMW;
        break;
    case RG_RMW_COUNT:
        break;
    }
    return ok ||
           verify_error(v, op, E_ATTRIBUTE, "%s has no such update or reduction", ir_dtype_name(d));
}

static bool
check_rmw(verifier *v, const ir_op *op)
{
    if (!check_access(v, op, op->rmw == RG_RMW_CAS ? 2 : 1))
        return false;
    rg_dtype d = (rg_dtype)arg_type(op, 0).dtype;
    if (op->nresults > 1)
        return verify_error(v, op, E_RESULT, "rmw has one result or none");
    return verify_counts(v, op, op->nargs, op->nresults, 0) && check_update(v, op, op->rmw, d) &&
           (!op->nresults || verify_result(v, op, 0, ir_with_lanes(ir_scalar(d), op->results[0]->type.lanes)));
}

static bool
check_extent(verifier *v, const ir_op *op)
{
    if (!verify_counts(v, op, 1, 1, 0) || !kind_is(v, op, 0, IR_BUFFER, "a buffer"))
        return false;
    if (op->attr.bits >= arg_type(op, 0).rank)
        return verify_error(v, op, E_ATTRIBUTE, "the buffer has no such axis");
    return verify_result(v, op, 0, ir_scalar(RG_I64));
}

static bool
check_pick(verifier *v, const ir_op *op)
{
    if (op->nargs < 2)
        return verify_error(v, op, E_OPERAND, "pick takes a selector and at least one buffer");
    if (!verify_counts(v, op, op->nargs, 1, 0) || !verify_arg(v, op, 0, ir_scalar(RG_I32)) ||
        !kind_is(v, op, 1, IR_BUFFER, "a buffer") || !at_kernel_level(v, op))
        return false;
    for (uint32_t i = 2; i < op->nargs; i++)
        if (!verify_arg(v, op, i, arg_type(op, 1)))
            return false;
    return verify_result(v, op, 0, arg_type(op, 1));
}

static bool
check_temp(verifier *v, const ir_op *op)
{
    if (op->nresults != 1 || op->results[0]->type.kind != IR_BUFFER ||
        !real_dtype(op->results[0]->type) || op->results[0]->type.rank > RG_MAX_RANK)
        return verify_error(v, op, E_RESULT, "temp makes a buffer");
    if (!verify_counts(v, op, op->results[0]->type.rank, 1, 0) || !at_kernel_level(v, op))
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!verify_arg(v, op, i, ir_scalar(RG_I64)))
            return false;
    return true;
}

/* -- local arrays and slots ------------------------------------------------------------------- */

static bool
check_made(verifier *v, const ir_op *op, ir_kind kind)
{
    if (!verify_counts(v, op, 0, 1, 0))
        return false;
    ir_type t = op->results[0]->type;
    if (op->code == RG_OP_TABLE && t.lanes)
        return verify_error(v, op, E_RESULT, "a table has no lanes");
    if (t.kind != kind || !real_dtype(t) || !t.length)
        return verify_error(v, op, E_RESULT, "%s makes at least one element",
                            ir_ops[op->code].text);
    return op->code != RG_OP_TABLE || op->attr.data ||
           verify_error(v, op, E_ATTRIBUTE, "a table has data");
}

static bool
check_copy(verifier *v, const ir_op *op)
{
    return verify_counts(v, op, 1, 1, 0) && kind_is(v, op, 0, IR_ARRAY, "a local array") &&
           verify_result(v, op, 0, arg_type(op, 0));
}

/* container, i64 index [, value] [, mask] */
static bool
check_element(verifier *v, const ir_op *op, ir_kind kind, const char *what, bool value,
              uint32_t nresults)
{
    if (!verify_counts(v, op, (value ? 3 : 2) + op->masked, nresults, 0) || !kind_is(v, op, 0, kind, what))
        return false;
    ir_type from = arg_type(op, 0), element = ir_scalar((rg_dtype)from.dtype);
    unsigned subscript = arg_type(op, 1).lanes;
    if (!verify_arg(v, op, 1, ir_with_lanes(ir_scalar(RG_I64), subscript)) ||
        (value && !verify_arg(v, op, 2, ir_with_lanes(element, arg_type(op, 2).lanes))) ||
        !verify_element_lanes(v, op, value))
        return false;
    element = ir_with_lanes(element, from.lanes ? from.lanes : subscript);
    return !nresults || verify_result(v, op, 0, value ? from : element);
}

static bool
check_slot_copy(verifier *v, const ir_op *op)
{
    if (!verify_counts(v, op, 2, 0, 0) || !kind_is(v, op, 0, IR_SLOT, "a slot"))
        return false;
    ir_type to = arg_type(op, 0), from = arg_type(op, 1);
    bool table = op->args[1]->def && op->args[1]->def->code == RG_OP_TABLE;
    return ((from.kind == IR_SLOT || table) && from.dtype == to.dtype &&
            from.length == to.length && from.lanes == to.lanes) ||
           verify_error(v, op, E_OPERAND, "operand 1 is not a slot or table like operand 0");
}

/* -- tape ------------------------------------------------------------------------------------- */

static bool
fits_frame(ir_type t)
{
    return t.kind == IR_SCALAR || t.kind == IR_ARRAY || t.kind == IR_SLOT || t.kind == IR_CURSOR ||
           t.kind == IR_BUFFER;
}

static bool
check_tape(verifier *v, const ir_op *op)
{
    bool begin = op->code == RG_OP_TAPE_BEGIN, pop = op->code == RG_OP_TAPE_POP;
    uint32_t nargs = begin ? op->nargs > 0 : op->code == RG_OP_TAPE_END ? 1 : op->nargs;
    uint32_t nresults = op->code == RG_OP_TAPE_END ? 0 : pop ? op->nresults : 1;
    if (!verify_counts(v, op, nargs, nresults, 0))
        return false;
    if (begin && op->nargs)
        return verify_arg(v, op, 0, ir_scalar(RG_I64)) && verify_result(v, op, 0, ir_cursor());
    if (!begin && op->nargs < 1)
        return verify_error(v, op, E_OPERAND, "%s takes a cursor", ir_ops[op->code].text);
    if (!begin && !verify_arg(v, op, 0, ir_cursor()))
        return false;
    if (pop && !op->nresults)
        return verify_error(v, op, E_RESULT, "tape_pop gives a cursor");
    if (nresults && !verify_result(v, op, 0, ir_cursor()))
        return false;
    for (uint32_t i = 1; i < op->nargs; i++)
        if (!fits_frame(arg_type(op, i)))
            return verify_error(v, op, E_OPERAND, "operand %u cannot be part of a frame", i);
    for (uint32_t i = 1; i < op->nresults; i++)
        if (!fits_frame(op->results[i]->type))
            return verify_error(v, op, E_RESULT, "result %u cannot be part of a frame", i);
    return true;
}

static bool
check_over(verifier *v, const ir_op *op)
{
    bool room = op->code == RG_OP_TAPE_ROOM;
    if (!verify_counts(v, op, 5 + room, 1 + room, 0))
        return false;
    if (room && !(verify_arg(v, op, 5, ir_scalar(RG_I64)) && verify_result(v, op, 0, ir_cursor())))
        return false;
    return verify_arg(v, op, 0, ir_cursor()) && verify_arg(v, op, 1, ir_cursor()) &&
           verify_arg(v, op, 2, ir_scalar(RG_I32)) && verify_arg(v, op, 3, ir_scalar(RG_I32)) &&
           verify_arg(v, op, 4, ir_scalar(RG_I64)) && verify_result(v, op, room, ir_scalar(RG_BOOL));
}

static bool
check_snapshot(verifier *v, const ir_op *op)
{
    bool buffer = op->code != RG_OP_TAPE_TASKS;
    if (!verify_counts(v, op, 1 + buffer, 1, 0) || !verify_arg(v, op, 0, ir_cursor()))
        return false;
    if (buffer && arg_type(op, 1).kind != IR_BUFFER)
        return verify_error(v, op, E_OPERAND, "operand 1 must be a buffer");
    return verify_result(v, op, 0, ir_cursor());
}

static bool
check_over_tasks(verifier *v, const ir_op *op)
{
    if (!verify_counts(v, op, 5, 1, 0))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!verify_arg(v, op, i, ir_cursor()))
            return false;
    return verify_arg(v, op, 3, ir_scalar(RG_I32)) && verify_arg(v, op, 4, ir_scalar(RG_I64)) &&
           verify_result(v, op, 0, ir_scalar(RG_BOOL));
}

static bool
check_thin(verifier *v, const ir_op *op)
{
    if (op->nargs < 4 || op->args[op->nargs - 1]->type.kind == IR_BUFFER)
        return verify_error(v, op, E_OPERAND, "tape_thin takes two cursors, a number and a state's values");
    if (!verify_counts(v, op, op->nargs, 1, 0) || !verify_arg(v, op, 0, ir_cursor()))
        return false;
    return verify_arg(v, op, 1, ir_cursor()) && verify_arg(v, op, 2, ir_scalar(RG_I64)) &&
           verify_result(v, op, 0, ir_cursor());
}

/* -- recall and effects ----------------------------------------------------------------------- */

static bool
check_recall(verifier *v, const ir_op *op)
{
    if (!verify_counts(v, op, 1, 1, 0))
        return false;
    ir_type t = arg_type(op, 0);
    bool temp = t.kind == IR_BUFFER && ir_is_temp(op->args[0]);
    if (t.kind != IR_SCALAR && t.kind != IR_ARRAY && t.kind != IR_TRACE && !temp)
        return verify_error(v, op, E_OPERAND,
                            "scalars, local arrays, traces and temps can be recalled");
    return verify_result(v, op, 0, t);
}

static bool
check_kept(verifier *v, const ir_op *op)
{
    bool save = op->code == RG_OP_SNAPSHOT;
    if (!verify_counts(v, op, save ? 1 : 2, save, 0) || !kind_is(v, op, 0, IR_BUFFER, "a buffer") ||
        !at_kernel_level(v, op))
        return false;
    if (save)
        return verify_result(v, op, 0, ir_trace());
    const ir_value *trace = op->args[1];
    if (trace->def && trace->def->code == RG_OP_RECALL && trace->def->nargs == 1)
        trace = trace->def->args[0];
    if (!op->args[0]->def || op->args[0]->def->code != RG_OP_TEMP)
        return verify_error(v, op, E_OPERAND, "a snapshot is restored into a temp");
    return (trace->def && trace->def->code == RG_OP_SNAPSHOT) ||
           verify_error(v, op, E_OPERAND, "the trace does not come from a snapshot");
}

/* the next conversion's letter; 0 at the end, '?' for what print does not know */
static char
next_conversion(const char **format)
{
    const char *p = *format;
    char letter = 0;
    while (*p && !letter) {
        if (*p++ != '%')
            continue;
        if (*p == '%') {
            p++;
            continue;
        }
        p += strspn(p, "-+ #0123456789.");
        p += strspn(p, "hlqjzt");
        letter = *p && strchr("diouxXceEfFgGaA", *p) ? *p++ : '?';
    }
    *format = p;
    return letter;
}

static bool
check_print(verifier *v, const ir_op *op)
{
    if (!verify_counts(v, op, op->nargs, 0, 0))
        return false;
    if (!op->attr.text)
        return verify_error(v, op, E_ATTRIBUTE, "print has a format");
    const char *format = op->attr.text;
    for (uint32_t i = 0; i < op->nargs; i++) {
        char letter = next_conversion(&format);
        ir_type t = arg_type(op, i);
        if (t.kind != IR_SCALAR || t.lanes)
            return verify_error(v, op, E_OPERAND, "operand %u is not a scalar without lanes", i);
        if (!letter || letter == '?' ||
            (strchr("eEfFgGaA", letter) != NULL) != ir_is_float((rg_dtype)t.dtype))
            return verify_error(
                v, op, E_ATTRIBUTE,
                "the format has no conversion that fits operand %u\nintegers: d i o u x "
                "X c; floats: e f g a and their capitals",
                i);
    }
    return !next_conversion(&format) ||
           verify_error(v, op, E_ATTRIBUTE, "the format has more conversions than operands");
}

/* subscript and extent of a check of one; in lanes with the mask of those that fail */
static bool
check_subscript(verifier *v, const ir_op *op)
{
    ir_type wide = ir_scalar(RG_I64);
    unsigned lanes = op->nargs > 3 ? arg_type(op, 3).lanes : 0;
    for (uint32_t i = 1; i < 3; i++)
        if (!verify_arg(v, op, i, arg_type(op, i).lanes ? ir_with_lanes(wide, lanes) : wide))
            return false;
    return op->nargs == 3 || (lanes && verify_arg(v, op, 3, ir_with_lanes(ir_scalar(RG_BOOL), lanes))) ||
           verify_error(v, op, E_OPERAND, "the fourth operand of an assert is a mask");
}

static bool
check_assert(verifier *v, const ir_op *op)
{
    uint32_t n = op->nargs == 3 || op->nargs == 4 ? op->nargs : 1;
    return verify_counts(v, op, n, 0, 0) && (n == 1 || check_subscript(v, op)) && verify_arg(v, op, 0, ir_scalar(RG_BOOL)) &&
           (op->attr.text || verify_error(v, op, E_ATTRIBUTE, "assert has a text"));
}

/* -- parallel loops --------------------------------------------------------------------------- */

/* of a loop in groups, the lanes of its mask; 0: any other */
static unsigned
group_lanes(const ir_op *op)
{
    const ir_region *body = op->regions[0];
    return body->nparams > op->attr.rank ? body->params[op->attr.rank]->type.lanes : 0;
}

static bool
check_reductions(verifier *v, const ir_op *op)
{
    uint32_t n = ir_value_results(op), init = ir_first_init(op);
    const ir_op *end = ir_terminator(op->regions[0]);
    if (op->nargs != init + n || (n && !op->reduce))
        return verify_error(v, op, E_OPERAND, "a parallel loop has one init for each reduction");
    if (!end || end->nargs != n)
        return verify_error(v, end ? end : op, E_YIELD,
                            "a parallel loop's body yields one value for each reduction (%u)", n);
    for (uint32_t i = 0; i < n; i++) {
        ir_type t = op->results[i]->type;
        if (t.kind != IR_SCALAR || t.lanes)
            return verify_error(v, op, E_RESULT, "reductions are scalars without lanes");
        if (!verify_arg(v, op, init + i, t) ||
            !check_update(v, op, op->reduce[i], (rg_dtype)t.dtype))
            return false;
        if (!ir_type_eq(end->args[i]->type, ir_with_lanes(t, group_lanes(op))))
            return verify_error(v, end, E_YIELD, "value %u is not of the reduction's type%s", i,
                                group_lanes(op) ? ", with lanes" : "");
    }
    return true;
}

/* In the stage of traces, records and rewinds have one; later they are flags alone. */
static bool
check_parallel_traces(verifier *v, const ir_op *op)
{
    bool ad = v->stage == IR_STAGE_AD;
    bool made = op->nresults > ir_value_results(op);
    bool taken = ir_first_init(op) > 2 * op->attr.rank;
    if (op->records && ad != made)
        return verify_error(v, op, E_RESULT,
                            ad ? "the last result of what records is a trace"
                               : "there are no traces in this stage");
    if (op->rewinds && ad != taken)
        return verify_error(v, op, E_OPERAND, "a parallel loop rewinds the trace of another one");
    if (!taken)
        return true;
    const ir_value *trace = op->args[2 * op->attr.rank];
    if (trace->def && trace->def->code == RG_OP_RECALL && trace->def->nargs == 1)
        trace = trace->def->args[0];
    return (trace->def && trace->def->code == RG_OP_PARALLEL &&
            trace->def->attr.rank == op->attr.rank) ||
           verify_error(v, op, E_OPERAND,
                        "the trace does not come from a parallel loop of as many indices");
}

static bool
check_parallel(verifier *v, const ir_op *op)
{
    uint32_t rank = op->attr.rank;
    if (!at_kernel_level(v, op))
        return false;
    const ir_region *body = op->nregions ? op->regions[0] : NULL;
    if (!rank || rank > RG_MAX_RANK || op->nregions != 1 || body->nparams < rank || body->nparams > rank + 1)
        return verify_error(v, op, E_ATTRIBUTE,
                            "a parallel loop has one to %d indices and one region", RG_MAX_RANK);
    if (op->nargs < 2 * rank)
        return verify_error(v, op, E_OPERAND, "a parallel loop has two bounds for each index");
    ir_type t = arg_type(op, 0);
    if (!is_integer(t) || t.lanes)
        return verify_error(v, op, E_OPERAND, "bounds are integers without lanes");
    for (uint32_t i = 0; i < 2 * rank; i++)
        if (!verify_arg(v, op, i, t))
            return false;
    for (uint32_t i = 0; i < rank; i++)
        if (!ir_type_eq(body->params[i]->type, t))
            return verify_error(v, op, E_ATTRIBUTE, "indices are of the bounds' type");
    ir_type mask = body->params[body->nparams - 1]->type;
    if (body->nparams > rank && (mask.kind != IR_SCALAR || mask.dtype != RG_BOOL || !mask.lanes))
        return verify_error(v, op, E_ATTRIBUTE, "the mask of a loop in groups is a bool with lanes");
    return check_parallel_traces(v, op) && check_reductions(v, op);
}

/* -- all -------------------------------------------------------------------------------------- */

static bool
has_mask(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
    case RG_OP_SLOT_LOAD:
    case RG_OP_SLOT_STORE:
        return op->nargs > 1;
    default:
        return false;
    }
}

static bool
check_flags(verifier *v, const ir_op *op)
{
    bool memory = op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW;
    bool loops = op->code == RG_OP_FOR || op->code == RG_OP_LOOP || op->code == RG_OP_PARALLEL;
    if ((op->plane && !memory) || (op->direction && (!op->plane || op->direction >= IR_DIRECTIONS)) ||
        (op->beside && (!op->plane || op->beside <= op->direction || op->beside > IR_DIRECTIONS)) ||
        (op->atomic && op->code != RG_OP_RMW && (op->code != RG_OP_LOAD || op->plane)) || (op->successive && !memory) || (op->masked && !has_mask(op)) ||
        (op->records && !loops) || (op->rewinds && op->code != RG_OP_PARALLEL))
        return verify_error(v, op, E_ATTRIBUTE, "%s has a flag that it cannot have",
                            ir_ops[op->code].text);
    return true;
}

bool
verify_op(verifier *v, const ir_op *op)
{
    if (!check_flags(v, op))
        return false;
    if (ir_ops[op->code].form != IR_OTHER)
        return check_scalar(v, op);
    switch ((int)op->code) {
    case RG_OP_CONST:
        return check_const(v, op);
    case RG_OP_LOAD:
        return check_load(v, op);
    case RG_OP_STORE:
        return check_store(v, op);
    case RG_OP_RMW:
        return check_rmw(v, op);
    case RG_OP_EXTENT:
        return check_extent(v, op);
    case RG_OP_PICK:
        return check_pick(v, op);
    case RG_OP_TEMP:
        return check_temp(v, op);
    case RG_OP_ARRAY:
    case RG_OP_TABLE:
        return check_made(v, op, IR_ARRAY);
    case RG_OP_SLOT:
        return check_made(v, op, IR_SLOT);
    case RG_OP_COPY:
        return check_copy(v, op);
    case RG_OP_EXTRACT:
        return check_element(v, op, IR_ARRAY, "a local array", false, 1);
    case RG_OP_INSERT:
        return check_element(v, op, IR_ARRAY, "a local array", true, 1);
    case RG_OP_SLOT_LOAD:
        return check_element(v, op, IR_SLOT, "a slot", false, 1);
    case RG_OP_SLOT_STORE:
        return check_element(v, op, IR_SLOT, "a slot", true, 0);
    case RG_OP_SLOT_COPY:
        return check_slot_copy(v, op);
    case RG_OP_SLOT_ZERO:
        return verify_counts(v, op, 1, 0, 0) && kind_is(v, op, 0, IR_SLOT, "a slot");
    case RG_OP_TAPE_SAVE:
    case RG_OP_TAPE_RESTORE:
    case RG_OP_TAPE_TASKS:
        return check_snapshot(v, op);
    case RG_OP_TAPE_OVER_TASKS:
        return check_over_tasks(v, op);
    case RG_OP_TAPE_THIN:
        return check_thin(v, op);
    case RG_OP_TAPE_OVER:
    case RG_OP_TAPE_ROOM:
        return check_over(v, op);
    case RG_OP_TAPE_BEGIN:
    case RG_OP_TAPE_END:
    case RG_OP_TAPE_PUSH:
    case RG_OP_TAPE_POP:
        return check_tape(v, op);
    case RG_OP_RECALL:
        return check_recall(v, op);
    case RG_OP_SNAPSHOT:
    case RG_OP_RESTORE:
        return check_kept(v, op);
    case RG_OP_PRINT:
        return check_print(v, op);
    case RG_OP_ASSERT:
        return check_assert(v, op);
    case RG_OP_PARALLEL:
        return check_parallel(v, op);
    case RG_OP_SPLAT:
    case RG_OP_LANE:
    case RG_OP_LANES_ANY:
    case RG_OP_LANES_BITS:
    case RG_OP_LANES_REDUCE:
    case RG_OP_LANE_GET:
    case RG_OP_LANE_SET:
        return verify_lane_op(v, op);
    default:
        return verify_control(v, op);
    }
}
