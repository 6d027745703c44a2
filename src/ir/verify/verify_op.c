/* The rules of single ops: first what their rows in ops.def say, then what only one op asks. Regions and what leaves them:
 * verify_control.c. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/effects.h"
#include "ir/recall.h"
#include "ir/verify/verify.h"

/* -- what most rules ask ---------------------------------------------------------------------- */

static bool
check_counts(verifier *v, const ir_op *op, uint32_t nargs, uint32_t nresults, uint32_t nregions)
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
real_dtype(ir_type t)
{
    return t.dtype > RG_NONE && t.dtype < RG_DTYPE_COUNT;
}

/* -- what patterns say -------------------------------------------------------------------------- */

static const char *const kinds[] = {
    [IR_WORD_ARRAY] = "a local array", [IR_WORD_BUF] = "a buffer", [IR_WORD_SLOT] = "a slot", [IR_WORD_INT] = "an integer",
    [IR_WORD_NUM] = "a scalar without lanes", [IR_WORD_LANES] = "a scalar in lanes", [IR_WORD_FRAME] = "what a frame may hold",
    [IR_WORD_PLACE] = "a buffer, or a float parameter of the kernel in a plane above the primal one", [IR_WORD_U64] = NULL,
};

/* the one type that a value of `is` must have for this word, the value of type `before` standing before it; what the word
 * leaves open is as it is */
static ir_type
exact(const ir_op *op, ir_word word, ir_type is, ir_type before)
{
    switch (word) {
    case IR_WORD_BOOL:
        return ir_scalar(RG_BOOL);
    case IR_WORD_I32:
        return ir_scalar(RG_I32);
    case IR_WORD_I64:
        return ir_scalar(RG_I64);
    case IR_WORD_U64:
        return ir_scalar(RG_U64);
    case IR_WORD_INDEX:
        return ir_with_lanes(ir_scalar(RG_I64), is.lanes);
    case IR_WORD_BOOLS:
    case IR_WORD_MASK:
        return ir_with_lanes(ir_scalar(RG_BOOL), is.lanes ? is.lanes : 2);
    case IR_WORD_CURSOR:
        return ir_cursor();
    case IR_WORD_TRACE:
        return ir_trace();
    case IR_WORD_ELEM:
    case IR_WORD_CAS:
        return ir_with_lanes(ir_scalar((rg_dtype)arg_type(op, 0).dtype), is.lanes);
    case IR_WORD_FIRST:
        return arg_type(op, 0);
    case IR_WORD_LANE:
        return ir_with_lanes(arg_type(op, 0), 0);
    case IR_WORD_SAME:
        return before;
    case IR_WORD_ANY:
    case IR_WORD_ARRAY:
    case IR_WORD_BUF:
    case IR_WORD_FRAME:
    case IR_WORD_INT:
    case IR_WORD_LANES:
    case IR_WORD_NUM:
    case IR_WORD_PLACE:
    case IR_WORD_SLOT:
        break;
    }
    return is;
}

/* whether a value is of the kind that the word names, where it names no type */
static bool
is_kind(ir_word word, ir_type t)
{
    switch ((int)word) {
    case IR_WORD_ARRAY:
        return t.kind == IR_ARRAY && real_dtype(t) && t.length;
    case IR_WORD_SLOT:
        return t.kind == IR_SLOT && real_dtype(t) && t.length;
    case IR_WORD_BUF:
        return t.kind == IR_BUFFER && real_dtype(t) && t.rank <= RG_MAX_RANK;
    case IR_WORD_PLACE:
        return t.kind == IR_BUFFER || t.kind == IR_SCALAR;
    case IR_WORD_FRAME:
        return t.kind != IR_TRACE;
    case IR_WORD_INT:
        return ir_is_integer(t);
    case IR_WORD_LANES:
        return t.kind == IR_SCALAR && real_dtype(t) && t.lanes;
    case IR_WORD_NUM:
        return t.kind == IR_SCALAR && real_dtype(t) && !t.lanes;
    default:
        return true;
    }
}

static const ir_item *
pattern_of(verifier *v, const ir_op *op)
{
    ir_item *items = v->patterns[op->code];
    if (!items->what)
        ir_pattern_read((rg_op)op->code, items);
    return items;
}

/* operands, or results, as the pattern has them from `item` on; returns the item behind, NULL after an error */
static const ir_item *
check_words(verifier *v, const ir_op *op, const ir_item *item, bool results, uint32_t least)
{
    uint32_t n = results ? op->nresults : op->nargs, i = 0;
    ir_value *const *values = results ? op->results : op->args;
    ir_type before = op->nargs ? arg_type(op, op->nargs - 1) : ir_trace();
    for (; item->what && item->what != '>'; item++)
        for (uint32_t k = item->what == 'w' ? ir_item_takes(op, *item, n, least) : 0; k; k--, i++) {
            ir_type is = values[i]->type, must = exact(op, item->word, is, i && !results ? arg_type(op, i - 1) : before);
            if (results ? !verify_result(v, op, i, must) : !verify_arg(v, op, i, must))
                return NULL;
            if (is_kind(item->word, is))
                continue;
            verify_error(v, op, results ? E_RESULT : E_OPERAND, "%s %u is not %s", results ? "result" : "operand", i,
                         kinds[item->word]);
            return NULL;
        }
    return item + (item->what == '>');
}

static bool
check_pattern(verifier *v, const ir_op *op)
{
    const ir_item *items = pattern_of(v, op);
    ir_counts c = ir_counts_of(op, items);
    uint32_t more = c.more_args ? op->nargs : 0, more_results = c.more_results ? op->nresults : 0;
    more = c.more_args == '?' && more > c.nargs ? c.nargs + 1 : more;
    more_results = c.more_results == '?' && more_results > c.nresults ? c.nresults + 1 : more_results;
    if (!check_counts(v, op, more > c.nargs ? more : c.nargs, more_results > c.nresults ? more_results : c.nresults,
                      c.nregions))
        return false;
    if ((ir_ops[op->code].flags & IR_KERNEL) && (!v->fn->kernel || v->parallels))
        return verify_error(v, op, E_LEVEL, "%s stands at kernel level only: not in functions, nor inside a parallel loop",
                            ir_ops[op->code].text);
    if (v->segments && (op->code == RG_OP_PARALLEL || op->code == RG_OP_SEGMENT))
        return verify_error(v, op, E_LEVEL, "%s does not stand in a segment", ir_ops[op->code].text);
    items = check_words(v, op, items, false, c.nargs);
    return items && check_words(v, op, items, true, c.nresults);
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
    return ir_wrap((rg_dtype)op->results[0]->type.dtype, op->attr.bits) == op->attr.bits ||
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

/* an element of a buffer, or a scalar parameter's plane above 0 */
static bool
check_access(verifier *v, const ir_op *op)
{
    const ir_value *at = op->args[0];
    bool is_float = ir_is_float((rg_dtype)at->type.dtype);
    uint32_t rank = at->type.kind == IR_BUFFER ? at->type.rank : 0, least = ir_counts_of(op, pattern_of(v, op)).nargs;
    if (at->type.kind == IR_SCALAR && (!v->fn->kernel || at->region != v->fn->body || at->def || !op->plane || !is_float))
        return verify_error(v, op, E_OPERAND, "operand 0 is not %s", kinds[IR_WORD_PLACE]);
    if (op->plane >= RG_PLANE_COUNT || (op->plane && !is_float))
        return verify_error(v, op, E_ATTRIBUTE, "only floats have adjoints and tangents");
    if (op->nargs != least + rank)
        return verify_error(v, op, E_OPERAND, "an access of a buffer of rank %u has as many indices", rank);
    if (!verify_access_lanes(v, op, rank))
        return false;
    if (ir_ops[op->code].flags & IR_WRITE && op->plane == RG_PRIMAL && writes_constant(v->fn, at))
        return verify_error(v, op, E_ATTRIBUTE, "the kernel promises not to write this parameter");
    bool adds = op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && op->plane & RG_ADJOINT;
    if (ir_ops[op->code].flags & IR_WRITE && !v->fn->kernel && !adds)
        return verify_error(v, op, E_ATTRIBUTE, "a function reads its arrays, and may add to their adjoints");
    return true;
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

/* -- local arrays and slots ------------------------------------------------------------------- */

/* what an element that is found has for lanes */
static bool
check_element(verifier *v, const ir_op *op)
{
    ir_type from = arg_type(op, 0);
    bool value = op->nargs > 2u + op->masked;
    if (!verify_element_lanes(v, op, value))
        return false;
    unsigned lanes = from.lanes ? from.lanes : arg_type(op, 1).lanes;
    return value || verify_result(v, op, 0, ir_with_lanes(ir_scalar((rg_dtype)from.dtype), lanes));
}

static bool
check_slot_copy(verifier *v, const ir_op *op)
{
    ir_type to = arg_type(op, 0), from = arg_type(op, 1);
    bool table = op->args[1]->def && op->args[1]->def->code == RG_OP_TABLE;
    return ((from.kind == IR_SLOT || table) && from.dtype == to.dtype &&
            from.length == to.length && from.lanes == to.lanes) ||
           verify_error(v, op, E_OPERAND, "operand 1 is not a slot or table like operand 0");
}

/* -- recall and effects ----------------------------------------------------------------------- */

static bool
check_recall(verifier *v, const ir_op *op)
{
    ir_type t = arg_type(op, 0);
    bool temp = t.kind == IR_BUFFER && ir_is_temp(op->args[0]);
    return t.kind == IR_SCALAR || t.kind == IR_ARRAY || t.kind == IR_TRACE || temp ||
           verify_error(v, op, E_OPERAND, "scalars, local arrays, traces and temps can be recalled");
}

static bool
is_made_of_temps(const ir_value *v)
{
    bool temp = v->def && (v->def->code == RG_OP_TEMP || v->def->code == RG_OP_PICK);
    for (uint32_t i = 1; temp && v->def->code == RG_OP_PICK && i < v->def->nargs; i++)
        temp = is_made_of_temps(v->def->args[i]);
    return temp;
}

static bool
check_restore(verifier *v, const ir_op *op)
{
    const ir_op *maker = ir_trace_maker(op->args[1]);
    if (!is_made_of_temps(op->args[0]))
        return verify_error(v, op, E_OPERAND, "a snapshot is restored into a temp, or one that is picked");
    return (maker && maker->code == RG_OP_SNAPSHOT) ||
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
    if (!op->attr.text)
        return verify_error(v, op, E_ATTRIBUTE, "print has a format");
    const char *format = op->attr.text;
    for (uint32_t i = 0; i < op->nargs; i++) {
        char letter = next_conversion(&format);
        ir_type t = arg_type(op, i);
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
    return check_counts(v, op, n, 0, 0) && (n == 1 || check_subscript(v, op)) &&
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
    const ir_op *maker = ir_trace_maker(op->args[2 * op->attr.rank]);
    return (maker && maker->code == RG_OP_PARALLEL && maker->attr.rank == op->attr.rank) ||
           verify_error(v, op, E_OPERAND,
                        "the trace does not come from a parallel loop of as many indices");
}

static bool
check_parallel(verifier *v, const ir_op *op)
{
    uint32_t rank = op->attr.rank;
    const ir_region *body = op->regions[0];
    if (!rank || rank > RG_MAX_RANK || body->nparams < rank || body->nparams > rank + 1)
        return verify_error(v, op, E_ATTRIBUTE,
                            "a parallel loop has one to %d indices and one region", RG_MAX_RANK);
    if (op->nargs < 2 * rank)
        return verify_error(v, op, E_OPERAND, "a parallel loop has two bounds for each index");
    ir_type t = arg_type(op, 0);
    if (!ir_is_integer(t))
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
check_flags(verifier *v, const ir_op *op)
{
    unsigned is = ir_ops[op->code].flags;
    const char *pattern = ir_ops[op->code].pattern;
    bool memory = is & IR_ACCESS, masks = pattern && strstr(pattern, "mask") && op->nargs > 1;
    if ((op->plane && !memory) || (op->direction && (!op->plane || op->direction >= IR_DIRECTIONS)) ||
        (op->beside && (!op->plane || op->beside <= op->direction || op->beside > IR_DIRECTIONS)) ||
        (op->atomic && (!memory || !(is & IR_READ) || (!(is & IR_WRITE) && op->plane))) || ((op->successive || op->in_row) && !memory) ||
        (op->own && op->code != RG_OP_TEMP) ||
        (op->masked && !masks) || (op->records && !(is & IR_RECORDS)) || (op->rewinds && op->code != RG_OP_PARALLEL))
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
    if (!check_pattern(v, op))
        return false;
    switch ((int)op->code) {
    case RG_OP_CONST:
        return check_const(v, op);
    case RG_OP_RMW:
        return check_access(v, op) && check_update(v, op, op->rmw, (rg_dtype)arg_type(op, 0).dtype);
    case RG_OP_LOAD:
    case RG_OP_STORE:
        return check_access(v, op);
    case RG_OP_EXTENT:
        return op->attr.bits < arg_type(op, 0).rank || verify_error(v, op, E_ATTRIBUTE, "the buffer has no such axis");
    case RG_OP_TEMP:
        return check_counts(v, op, op->results[0]->type.rank, 1, 0);
    case RG_OP_TABLE:
        return op->results[0]->type.lanes ? verify_error(v, op, E_RESULT, "a table has no lanes")
                                          : op->attr.data || verify_error(v, op, E_ATTRIBUTE, "a table has data");
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
    case RG_OP_SLOT_LOAD:
    case RG_OP_SLOT_STORE:
        return check_element(v, op);
    case RG_OP_SLOT_COPY:
        return check_slot_copy(v, op);
    case RG_OP_SLOT_TURN:
        return (arg_type(op, 0).lanes && arg_type(op, 0).length == arg_type(op, 0).lanes) ||
               verify_error(v, op, E_LANES, "a slot that is turned has as many elements as lanes");
    case RG_OP_TAPE_THIN:
        return (op->nargs > 3 && arg_type(op, op->nargs - 1).kind != IR_BUFFER) ||
               verify_error(v, op, E_OPERAND, "tape_thin takes two cursors, a number and a state's values");
    case RG_OP_RECALL:
        return check_recall(v, op);
    case RG_OP_RESTORE:
        return check_restore(v, op);
    case RG_OP_PRINT:
        return check_print(v, op);
    case RG_OP_ASSERT:
        return check_assert(v, op);
    case RG_OP_PARALLEL:
        return check_parallel(v, op);
    default:
        return verify_lane_op(v, op) && verify_control(v, op);
    }
}
