/* Scalar ops, with the values that the columns of ops.def give them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Floats are strict: no fast flags, nothing contracted. f16 is computed in f32 and rounded after
 * each op, which for + - * / and sqrt is what one rounding would give. */
#include "codegen/llvm/nvidia.h"

static LLVMValueRef
intrinsic_f(gen *g, const char *name, LLVMTypeRef type, unsigned n, LLVMValueRef *args)
{
    return gen_intrinsic(g, name, 1, &type, n, args);
}

static LLVMValueRef
select_value(gen *g, LLVMValueRef c, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildSelect(g->b, c, x, y, "");
}

/* -- floats ------------------------------------------------------------------------------------ */

/* x where strictly smaller (larger) or y is NaN, else y: the inner choice is one instruction on x86
 */
static LLVMValueRef
float_extremum(gen *g, LLVMRealPredicate better, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef chosen = select_value(g, LLVMBuildFCmp(g->b, better, x, y, ""), x, y);
    return select_value(g, LLVMBuildFCmp(g->b, LLVMRealUNO, y, y, ""), x, chosen);
}

static LLVMValueRef
float_division(gen *g, LLVMTypeRef type, LLVMValueRef x, LLVMValueRef y)
{
    if (gen_is_fast(g, type))
        return gen_fast_division(g, x, y);
    if (type != g->f32 || !(g->bet || g->bet_is_lost))
        return LLVMBuildFDiv(g->b, x, y, "");
    return g->bet ? gen_bet_quotient(g, x, y) : gen_lost_quotient(g, x, y);
}

static LLVMValueRef
float_root(gen *g, LLVMTypeRef type, LLVMValueRef x)
{
    if (type != g->f32 || !(g->bet || g->bet_is_lost))
        return intrinsic_f(g, "llvm.sqrt", type, 1, &x);
    return g->bet ? gen_bet_root(g, x) : gen_lost_root(g, x);
}

static LLVMValueRef
float_floordiv(gen *g, LLVMTypeRef type, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef quotient = LLVMBuildFDiv(g->b, x, y, "");
    return intrinsic_f(g, "llvm.floor", type, 1, &quotient);
}

static LLVMValueRef
compare_f(gen *g, rg_op op, LLVMValueRef x, LLVMValueRef y)
{
    LLVMRealPredicate p = op == RG_OP_EQ   ? LLVMRealOEQ
                          : op == RG_OP_NE ? LLVMRealUNE
                          : op == RG_OP_LT ? LLVMRealOLT
                          : op == RG_OP_LE ? LLVMRealOLE
                          : op == RG_OP_GT ? LLVMRealOGT
                                           : LLVMRealOGE;
    return LLVMBuildFCmp(g->b, p, x, y, "");
}

/* `type` is f32 or f64, or vectors of them; operands are of it, but for ldexp's i32 */
static LLVMValueRef
scalar_float(gen *g, rg_op op, LLVMTypeRef type, LLVMValueRef *a)
{
    bool single = gen_element_type(type) == g->f32;
    LLVMBuilderRef b = g->b;
    LLVMValueRef x = a[0], y = a[1];
    switch ((int)op) {
    case RG_OP_NEG:
        return LLVMBuildFNeg(b, x, "");
    case RG_OP_ABS:
        return intrinsic_f(g, "llvm.fabs", type, 1, a);
    case RG_OP_ADD:
        return LLVMBuildFAdd(b, x, y, "");
    case RG_OP_SUB:
        return LLVMBuildFSub(b, x, y, "");
    case RG_OP_MUL:
        return LLVMBuildFMul(b, x, y, "");
    case RG_OP_DIV:
        return float_division(g, type, x, y);
    case RG_OP_FLOORDIV:
        return float_floordiv(g, type, x, y);
    case RG_OP_FLOORMOD:
        return LLVMBuildFSub(b, x, LLVMBuildFMul(b, float_floordiv(g, type, x, y), y, ""), "");
    case RG_OP_MIN:
        return float_extremum(g, LLVMRealOLT, x, y);
    case RG_OP_MAX:
        return float_extremum(g, LLVMRealOGT, x, y);
    case RG_OP_FMA:
        return intrinsic_f(g, "llvm.fma", type, 3, a);
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return compare_f(g, op, x, y);
    case RG_OP_SQRT:
        return gen_is_fast(g, type) ? gen_fast_root(g, x, false) : float_root(g, type, x);
    case RG_OP_RSQRT:
        if (gen_is_fast(g, type))
            return gen_fast_root(g, x, true);
        return float_division(g, type, LLVMConstReal(type, 1), float_root(g, type, x));
    case RG_OP_FLOOR:
        return intrinsic_f(g, "llvm.floor", type, 1, a);
    case RG_OP_CEIL:
        return intrinsic_f(g, "llvm.ceil", type, 1, a);
    case RG_OP_ROUND:
        return intrinsic_f(g, "llvm.round", type, 1, a);
    case RG_OP_RINT:
        return intrinsic_f(g, "llvm.rint", type, 1, a);
    case RG_OP_TRUNC:
        return intrinsic_f(g, "llvm.trunc", type, 1, a);
    case RG_OP_ZERO_GUARD: {
        if (g->bet && type == g->f32)
            return gen_bet_guard(g, x, y);
        LLVMValueRef nil = LLVMConstNull(type);
        return select_value(g, LLVMBuildFCmp(b, LLVMRealOEQ, x, nil, ""), nil, y);
    }
    case RG_OP_COPYSIGN:
        return intrinsic_f(g, "llvm.copysign", type, 2, a);
    case RG_OP_LDEXP:
        return gen_libm(g, "ldexp", single, 2, a);
    case RG_OP_FRACTION:
        return gen_pure_call(g, single ? "rt_fractionf" : "rt_fraction", gen_element_type(type), 1, a);
    case RG_OP_EXPONENT: {
        LLVMValueRef wide = single ? LLVMBuildFPExt(b, x, gen_like(x, g->f64), "") : x;
        return gen_pure_call(g, "rt_exponent", g->i32, 1, &wide);
    }
#define RGM1(NAME, name)                                                                           \
    case RG_OP_##NAME:                                                                             \
        return gen_math(g, #name, single, 1, a);
#define RGM2(NAME, name)                                                                           \
    case RG_OP_##NAME:                                                                             \
        return gen_math(g, #name, single, 2, a);
#define RGM_TWO(NAME, name)
#include "math/functions.def"
#define LIBM2(NAME, name)                                                                          \
    case RG_OP_##NAME:                                                                             \
        return gen_libm(g, #name, single, 2, a);
#include "rt/load/libm.def"
    }
    assert(!"an op that floats have");
    return x;
}

/* -- integers ---------------------------------------------------------------------------------- */

static LLVMValueRef
is_value(gen *g, LLVMValueRef v, int64_t n)
{
    return LLVMBuildICmp(g->b, LLVMIntEQ, v, gen_int_like(v, n), "");
}

/* Vectors of integers have no division of their own on any machine. Up to 32 bits floats divide them: the
 * rounded quotient reaches no other integer than the exact one. */
static bool
divides_as_float(LLVMValueRef x, LLVMValueRef y)
{
    bool narrow = LLVMGetIntTypeWidth(gen_element_type(LLVMTypeOf(x))) <= 32;
    return narrow && gen_width(x) && !LLVMIsConstant(y);
}

static LLVMValueRef
float_quotient(gen *g, bool is_signed, LLVMValueRef x, LLVMValueRef y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMTypeRef real = gen_like(x, LLVMGetIntTypeWidth(gen_element_type(type)) <= 16 ? g->f32 : g->f64);
    LLVMOpcode in = is_signed ? LLVMSIToFP : LLVMUIToFP, out = is_signed ? LLVMFPToSI : LLVMFPToUI;
    x = LLVMBuildCast(g->b, in, x, real, "");
    y = LLVMBuildCast(g->b, in, y, real, "");
    return LLVMBuildCast(g->b, out, LLVMBuildFDiv(g->b, x, y, ""), type, "");
}

static LLVMValueRef
integer_quotient(gen *g, bool is_signed, LLVMValueRef x, LLVMValueRef y)
{
    if (divides_as_float(x, y))
        return float_quotient(g, is_signed, x, y);
    return is_signed ? LLVMBuildSDiv(g->b, x, y, "") : LLVMBuildUDiv(g->b, x, y, "");
}

static LLVMValueRef
integer_rest(gen *g, bool is_signed, LLVMValueRef x, LLVMValueRef y)
{
    if (divides_as_float(x, y))
        return LLVMBuildSub(g->b, x, LLVMBuildMul(g->b, float_quotient(g, is_signed, x, y), y, ""), "");
    return is_signed ? LLVMBuildSRem(g->b, x, y, "") : LLVMBuildURem(g->b, x, y, "");
}

/* Quotient or remainder for every y; C's and Python's kinds. By 0: quotient 0, remainder x. By -1:
 * the one quotient that overflows wraps. `floor` moves both down where the signs differ. */
static LLVMValueRef
divide_always(gen *g, bool is_signed, bool remainder, bool floor, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef nil = LLVMConstNull(type), by_zero = is_value(g, y, 0);
    LLVMValueRef by_minus = is_signed ? is_value(g, y, -1) : NULL;
    LLVMValueRef trap = is_signed ? LLVMBuildOr(b, by_zero, by_minus, "") : by_zero;
    LLVMValueRef safe = select_value(g, trap, gen_int_like(x, 1), y);
    LLVMValueRef q = remainder ? NULL : integer_quotient(g, is_signed, x, safe);
    LLVMValueRef r = remainder || (floor && is_signed) ? integer_rest(g, is_signed, x, safe) : NULL;
    if (floor && is_signed) {
        LLVMValueRef differ = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, r, y, ""), nil, "");
        LLVMValueRef inexact = LLVMBuildICmp(b, LLVMIntNE, r, nil, "");
        LLVMValueRef down = LLVMBuildAnd(b, differ, inexact, "");
        if (remainder)
            r = select_value(g, down, LLVMBuildAdd(b, r, y, ""), r);
        else
            q = LLVMBuildSub(b, q, LLVMBuildZExt(b, down, type, ""), "");
    }
    if (remainder) {
        r = is_signed ? select_value(g, by_minus, nil, r) : r;
        return select_value(g, by_zero, x, r);
    }
    q = is_signed ? select_value(g, by_minus, LLVMBuildNeg(b, x, ""), q) : q;
    return select_value(g, by_zero, nil, q);
}

static LLVMValueRef
shift(gen *g, rg_op op, bool is_signed, LLVMValueRef x, LLVMValueRef y)
{
    unsigned bits = LLVMGetIntTypeWidth(gen_element_type(LLVMTypeOf(x)));
    if (bits == 1)
        return x;
    LLVMValueRef by = LLVMBuildAnd(g->b, y, gen_int_like(x, bits - 1), "");
    if (op == RG_OP_SHL)
        return LLVMBuildShl(g->b, x, by, "");
    return is_signed ? LLVMBuildAShr(g->b, x, by, "") : LLVMBuildLShr(g->b, x, by, "");
}

static LLVMValueRef
compare_i(gen *g, rg_op op, bool is_signed, LLVMValueRef x, LLVMValueRef y)
{
    LLVMIntPredicate p = op == RG_OP_EQ   ? LLVMIntEQ
                         : op == RG_OP_NE ? LLVMIntNE
                         : op == RG_OP_LT ? (is_signed ? LLVMIntSLT : LLVMIntULT)
                         : op == RG_OP_LE ? (is_signed ? LLVMIntSLE : LLVMIntULE)
                         : op == RG_OP_GT ? (is_signed ? LLVMIntSGT : LLVMIntUGT)
                                          : (is_signed ? LLVMIntSGE : LLVMIntUGE);
    return LLVMBuildICmp(g->b, p, x, y, "");
}

static LLVMValueRef
count_zeros(gen *g, const char *name, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[2] = {x, LLVMConstNull(g->i1)}; /* 0 has a count: the width */
    return gen_intrinsic(g, name, 1, &type, 2, args);
}

static LLVMValueRef
absolute(gen *g, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[2] = {x, LLVMConstNull(g->i1)}; /* the least value stays */
    return gen_intrinsic(g, "llvm.abs", 1, &type, 2, args);
}

static LLVMValueRef
scalar_int(gen *g, rg_op op, bool is_signed, LLVMValueRef *a)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef x = a[0], y = a[1];
    LLVMTypeRef type = LLVMTypeOf(x);
    switch ((int)op) {
    case RG_OP_NEG:
        return LLVMBuildNeg(b, x, "");
    case RG_OP_ABS:
        return is_signed ? absolute(g, x) : x;
    case RG_OP_ADD:
        return LLVMBuildAdd(b, x, y, "");
    case RG_OP_SUB:
        return LLVMBuildSub(b, x, y, "");
    case RG_OP_MUL:
        return LLVMBuildMul(b, x, y, "");
    case RG_OP_DIV:
    case RG_OP_FLOORDIV:
        return divide_always(g, is_signed, false, op == RG_OP_FLOORDIV, x, y);
    case RG_OP_REM:
    case RG_OP_FLOORMOD:
        return divide_always(g, is_signed, true, op == RG_OP_FLOORMOD, x, y);
    case RG_OP_MIN:
        return select_value(g, compare_i(g, RG_OP_LT, is_signed, x, y), x, y);
    case RG_OP_MAX:
        return select_value(g, compare_i(g, RG_OP_GT, is_signed, x, y), x, y);
    case RG_OP_NOT:
        return LLVMBuildNot(b, x, "");
    case RG_OP_AND:
        return LLVMBuildAnd(b, x, y, "");
    case RG_OP_OR:
        return LLVMBuildOr(b, x, y, "");
    case RG_OP_XOR:
        return LLVMBuildXor(b, x, y, "");
    case RG_OP_SHL:
    case RG_OP_SHR:
        return shift(g, op, is_signed, x, y);
    case RG_OP_POPCOUNT:
        return gen_intrinsic(g, "llvm.ctpop", 1, &type, 1, a);
    case RG_OP_CLZ:
        return count_zeros(g, "llvm.ctlz", x);
    case RG_OP_CTZ:
        return count_zeros(g, "llvm.cttz", x);
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return compare_i(g, op, is_signed, x, y);
    }
    assert(!"an op that integers have");
    return x;
}

/* -- casts ------------------------------------------------------------------------------------- */

static LLVMValueRef
resize_float(gen *g, rg_dtype from, rg_dtype to, LLVMValueRef v)
{
    if (ir_bits(from) < ir_bits(to))
        return LLVMBuildFPExt(g->b, v, gen_like(v, gen_type(g, to)), "");
    if (from == RG_F64 && to == RG_F16)
        v = gen_pure_call(g, "rt_odd_float", g->f32, 1, &v);
    return LLVMBuildFPTrunc(g->b, v, gen_like(v, gen_type(g, to)), "");
}

static LLVMValueRef
float_to_int(gen *g, rg_dtype from, rg_dtype to, LLVMValueRef v)
{
    if (from == RG_F16)
        v = LLVMBuildFPExt(g->b, v, gen_like(v, g->f32), "");
    LLVMTypeRef types[2] = {gen_like(v, gen_type(g, to)), LLVMTypeOf(v)};
    const char *name = ir_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    return gen_intrinsic(g, name, 2, types, 1, &v);
}

/* to f16 over f32: what f32 has to round is out of the range of f16 */
static LLVMValueRef
int_to_float(gen *g, rg_dtype from, rg_dtype to, LLVMValueRef v)
{
    LLVMTypeRef type = gen_like(v, to == RG_F64 ? g->f64 : g->f32);
    v = ir_is_signed(from) ? LLVMBuildSIToFP(g->b, v, type, "")
                           : LLVMBuildUIToFP(g->b, v, type, "");
    return to == RG_F16 ? LLVMBuildFPTrunc(g->b, v, gen_like(v, g->f16), "") : v;
}

static LLVMValueRef
resize_int(gen *g, rg_dtype from, rg_dtype to, LLVMValueRef v)
{
    unsigned have = ir_bits(from), want = ir_bits(to);
    LLVMTypeRef type = gen_like(v, gen_type(g, to));
    if (want == have)
        return v;
    if (want < have)
        return LLVMBuildTrunc(g->b, v, type, "");
    return ir_is_signed(from) ? LLVMBuildSExt(g->b, v, type, "") : LLVMBuildZExt(g->b, v, type, "");
}

LLVMValueRef
gen_cast(gen *g, rg_dtype from, rg_dtype to, LLVMValueRef v)
{
    bool from_float = ir_is_float(from), to_float = ir_is_float(to);
    if (from == to)
        return v;
    if (to == RG_BOOL) {
        LLVMValueRef nil = LLVMConstNull(LLVMTypeOf(v));
        return from_float ? LLVMBuildFCmp(g->b, LLVMRealUNE, v, nil, "")
                          : LLVMBuildICmp(g->b, LLVMIntNE, v, nil, "");
    }
    if (from_float)
        return to_float ? resize_float(g, from, to, v) : float_to_int(g, from, to, v);
    return to_float ? int_to_float(g, from, to, v) : resize_int(g, from, to, v);
}

/* -- all together ------------------------------------------------------------------------------ */

LLVMValueRef
gen_scalar(gen *g, rg_op op, rg_dtype from, rg_dtype to, LLVMValueRef *args)
{
    LLVMValueRef a[3] = {args[0], args[1], args[2]};
    if (op == RG_OP_CAST)
        return gen_cast(g, from, to, a[0]);
    if (op == RG_OP_BITCAST)
        return from == to ? a[0] : LLVMBuildBitCast(g->b, a[0], gen_like(a[0], gen_type(g, to)), "");
    if (op == RG_OP_SELECT)
        return select_value(g, a[0], a[1], a[2]);
    if (!ir_is_float(from))
        return scalar_int(g, op, ir_is_signed(from), a);
    if (from == RG_F16)
        for (int i = 0; i < 3; i++)
            if (a[i] && gen_element_type(LLVMTypeOf(a[i])) == g->f16)
                a[i] = LLVMBuildFPExt(g->b, a[i], gen_like(a[i], g->f32), "");
    LLVMValueRef r = scalar_float(g, op, LLVMTypeOf(a[0]), a);
    return to == RG_F16 ? LLVMBuildFPTrunc(g->b, r, gen_like(r, g->f16), "") : r;
}
