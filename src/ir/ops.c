/* The op table as data, and how ops are typed. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

#include <math.h>

enum {
    PURE = IR_PURE,
    READ = IR_READ,
    WRITE = IR_WRITE,
    EFFECT = IR_EFFECT,
    END = IR_END,
    GUARD = IR_GUARD,
    COMMUTES = IR_COMMUTES,
    FUNCTION = IR_FUNCTION,
    ACCESS = IR_ACCESS,
    COMBINES = IR_COMBINES,
    RECORDS = IR_RECORDS,
    KERNEL = IR_KERNEL,
    TRACES = IR_TRACES,
    TAPE = IR_TAPE,
    ARRAYS = IR_ARRAYS,
    SLOTS = IR_SLOTS,
    SEGMENTS = IR_SEGMENTS
};

const ir_op_info ir_ops[RG_OP_COUNT] = {
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc)                            \
    [RG_OP_##NAME] = {text, doc, NULL, flags, IR_##form, IR_ATTR_NONE},
#define RG_OTHER(NAME, text, pattern, attr, flags, d0, doc)                                        \
    [RG_OP_##NAME] = {text, doc, pattern, flags, IR_OTHER, IR_ATTR_##attr},
#include "retrograd/ops.def"
#undef RG_OP
};

const char *const ir_rmw_names[RG_RMW_COUNT] = {
    [RG_RMW_ADD] = "add", [RG_RMW_MIN] = "min",           [RG_RMW_MAX] = "max",
    [RG_RMW_MUL] = "mul", [RG_RMW_AND] = "and",           [RG_RMW_OR] = "or",
    [RG_RMW_XOR] = "xor", [RG_RMW_EXCHANGE] = "exchange", [RG_RMW_CAS] = "cas",
};

static bool
all_are(uint32_t n, const ir_type *types, ir_type t)
{
    for (uint32_t i = 0; i < n; i++)
        if (!ir_type_eq(types[i], t))
            return false;
    return true;
}

static bool
cast_check(rg_op op, ir_type from, ir_type to)
{
    bool scalars = from.kind == IR_SCALAR && from.dtype != RG_NONE && to.kind == IR_SCALAR &&
                   to.dtype != RG_NONE;
    return scalars && (op == RG_OP_CAST || ir_bits(from.dtype) == ir_bits(to.dtype));
}

static bool
check_without_lanes(rg_op op, uint32_t nargs, const ir_type *args, ir_type *result)
{
    static const uint8_t counts[] = {
        [IR_UNARY_F] = 1,  [IR_UNARY_N] = 1,  [IR_UNARY_I] = 1, [IR_BINARY_F] = 2,
        [IR_BINARY_N] = 2, [IR_BINARY_I] = 2, [IR_COMPARE] = 2, [IR_TERNARY_F] = 3,
        [IR_LDEXP] = 2,    [IR_EXPONENT] = 1, [IR_SELECT] = 3,  [IR_CAST] = 1,
        [IR_OTHER] = 0};
    ir_form form = ir_ops[op].form;
    if (form == IR_OTHER || nargs != counts[form] || args[0].kind != IR_SCALAR)
        return false;
    rg_dtype d = args[0].dtype;
    bool is_float = ir_is_float(d), is_int = ir_is_int(d), same = all_are(nargs, args, args[0]);
    ir_type r = args[0];
    bool ok = false;
    switch (form) {
    case IR_UNARY_F:
    case IR_BINARY_F:
    case IR_TERNARY_F:
        ok = same && is_float;
        break;
    case IR_UNARY_N:
    case IR_BINARY_N:
        ok = same && (is_float || is_int);
        break;
    case IR_UNARY_I:
    case IR_BINARY_I:
        ok = same && (is_int || d == RG_BOOL);
        break;
    case IR_COMPARE:
        ok = same && (is_float || is_int);
        r = ir_scalar(RG_BOOL);
        break;
    case IR_LDEXP:
        ok = is_float && ir_type_eq(args[1], ir_scalar(RG_I32));
        break;
    case IR_EXPONENT:
        ok = is_float;
        r = ir_scalar(RG_I32);
        break;
    case IR_SELECT:
        ok = d == RG_BOOL && args[1].kind == IR_SCALAR && ir_type_eq(args[1], args[2]);
        r = args[1];
        break;
    case IR_CAST:
        return cast_check(op, args[0], *result);
    case IR_OTHER:
        break;
    }
    if (ok)
        *result = r;
    return ok;
}

/* Operands without lanes are the same in all. */
bool
ir_form_check(rg_op op, uint32_t nargs, const ir_type *args, ir_type *result)
{
    ir_type plain[3] = {0};
    unsigned lanes = 0;
    for (uint32_t i = 0; i < nargs && i < 3; i++) {
        if (lanes && args[i].lanes && args[i].lanes != lanes)
            return false;
        lanes = args[i].lanes ? args[i].lanes : lanes;
        plain[i] = ir_with_lanes(args[i], 0);
    }
    *result = ir_with_lanes(*result, 0);
    if (nargs > 3 || !check_without_lanes(op, nargs, plain, result))
        return false;
    result->lanes = (uint8_t)lanes;
    return true;
}

uint64_t
ir_identity(rg_dtype d, rg_rmw how)
{
    bool is_float = ir_is_float(d), is_signed = ir_is_signed(d);
    uint64_t top = (uint64_t)1 << (ir_bits(d) - 1);
    switch (how) {
    case RG_RMW_ADD:
        return is_float ? ir_float_bits(d, -0.0) : 0;
    case RG_RMW_MUL:
        return is_float ? ir_float_bits(d, 1) : 1;
    case RG_RMW_MIN:
        return is_float ? ir_float_bits(d, (double)INFINITY) : is_signed ? top - 1 : UINT64_MAX;
    case RG_RMW_MAX:
        return is_float ? ir_float_bits(d, -(double)INFINITY) : is_signed ? top : 0;
    case RG_RMW_AND:
        return UINT64_MAX;
    case RG_RMW_OR:
    case RG_RMW_XOR:
    case RG_RMW_EXCHANGE:
    case RG_RMW_CAS:
    case RG_RMW_COUNT:
        break;
    }
    return 0;
}

rg_op
ir_combining(rg_rmw how)
{
    static const rg_op ops[RG_RMW_COUNT] = {
        [RG_RMW_ADD] = RG_OP_ADD, [RG_RMW_MIN] = RG_OP_MIN, [RG_RMW_MAX] = RG_OP_MAX,
        [RG_RMW_MUL] = RG_OP_MUL, [RG_RMW_AND] = RG_OP_AND, [RG_RMW_OR] = RG_OP_OR,
        [RG_RMW_XOR] = RG_OP_XOR};
    return ops[how];
}

rg_op
ir_opposite(rg_op compare)
{
    switch (compare) {
    case RG_OP_EQ:
        return RG_OP_NE;
    case RG_OP_NE:
        return RG_OP_EQ;
    case RG_OP_LT:
        return RG_OP_GE;
    case RG_OP_GE:
        return RG_OP_LT;
    case RG_OP_GT:
        return RG_OP_LE;
    case RG_OP_LE:
        return RG_OP_GT;
    default:
        return RG_OP_COUNT;
    }
}
