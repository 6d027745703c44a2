/* Quotients and square roots of f32 within a bet (bet.c). SPDX-License-Identifier: Apache-2.0
 *
 * Both are rounded correctly, by a reciprocal and fused operations, while nothing overflows, loses digits below the normal
 * range, or is no number; what may is a bet lost. The steps are those that NVIDIA's assembler takes:
 *
 *   y = 1 / b, approximate;  y += y (1 - b y);  q = a y;  q += y (a - b q)      a / b
 *   y = 1 / sqrt x, approximate;  s = x y;  s += y/2 (x - s s)                   sqrt x
 *
 * The second y is 1 / b rounded correctly, and q at most 1.5 units of its last place away from the quotient. So a - b q is
 * exact, and the sum behind it errs by less than a / b keeps from the middle of two neighbours: `rounded_test` tries all
 * pairs that come so near. Zeros keep their sign by the first q's. A quotient by such a root need not ask how large that is. */
#include "codegen/llvm/nvidia.h"

#include <math.h>

/* Exponents: what is asked for, numerators from 2^-LEAST or 0, denominators below 2^MOST, quotients below 2^OVER. A constant
 * factor of a numerator, which is not asked, is between 2^-FACTOR and 2^FACTOR; results are normal. */
enum { LEAST = 88, MOST = 30, OVER = 126, FACTOR = 8 };
_Static_assert(LEAST + MOST + FACTOR <= 126 && LEAST + FACTOR <= 102, "what is left of the numerator is exact");

/* bits of the roots' operands: from 2^-101 and below 2^(2 MOST), so many */
#define ROOTS_FROM 0x0d000000u
#define ROOTS      (((uint32_t)(127 + 2 * MOST) << 23) - ROOTS_FROM)

static void
lost_if(gen *g, LLVMValueRef c)
{
    LLVMValueRef before = LLVMBuildLoad2(g->b, g->i1, g->bet, "");
    LLVMBuildStore(g->b, LLVMBuildOr(g->b, before, c, ""), g->bet);
}

/* what is no number is below nothing */
static void
lost_unless_below(gen *g, LLVMValueRef v, int exponent)
{
    LLVMValueRef size = gen_intrinsic(g, "llvm.fabs", 1, &g->f32, 1, &v);
    LLVMValueRef limit = LLVMConstReal(g->f32, ldexp(1, exponent));
    lost_if(g, LLVMBuildFCmp(g->b, LLVMRealUGE, size, limit, ""));
}

/* without the sign, less one: 0 is the largest of all then */
static void
lost_if_tiny(gen *g, LLVMValueRef v)
{
    LLVMValueRef bits = LLVMBuildBitCast(g->b, v, g->i32, ""), least = gen_i32(g, (uint32_t)(127 - LEAST) << 24);
    bits = LLVMBuildSub(g->b, LLVMBuildShl(g->b, bits, gen_i32(g, 1), ""), gen_i32(g, 1), "");
    lost_if(g, LLVMBuildICmp(g->b, LLVMIntULT, bits, least, ""));
}

static LLVMValueRef
fused(gen *g, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z)
{
    return gen_intrinsic(g, "llvm.fma", 1, &g->f32, 3, (LLVMValueRef[]){x, y, z});
}

/* -- what is known of values of this bet ------------------------------------------------------------------------ */

void
gen_bet_begin(gen *g, LLVMValueRef lost)
{
    g->bet = lost;
    g->known = 0;
}

/* a root, or a quotient */
static void
remember_known(gen *g, LLVMValueRef result, LLVMValueRef numerator, LLVMValueRef without_sign)
{
    g->bet_known[g->known++ % countof(g->bet_known)] = (bet_known){result, numerator, without_sign};
}

static const bet_known *
recall(const gen *g, LLVMValueRef result)
{
    for (uint32_t i = 0; i < g->known && i < countof(g->bet_known); i++)
        if (g->bet_known[i].result == result)
            return &g->bet_known[i];
    return NULL;
}

static bool
is_known_root(const gen *g, LLVMValueRef v)
{
    const bet_known *known = recall(g, v);
    return known && !known->numerator;
}

/* -- quotients ------------------------------------------------------------------------------------------------ */

static LLVMValueRef
one(gen *g)
{
    return LLVMConstReal(g->f32, 1);
}

/* 0: a constant of no use here; 1: none; 2: one between the limits */
static int
constant_of(LLVMValueRef v, double *n)
{
    LLVMBool loses;
    *n = 1;
    if (!LLVMIsAConstantFP(v))
        return LLVMIsConstant(v) ? 0 : 1;
    *n = LLVMConstRealGetDouble(v, &loses);
    return fabs(*n) >= ldexp(1, -MOST) && fabs(*n) < ldexp(1, MOST) ? 2 : 0;
}

/* v, or what it is a product of with a constant */
static LLVMValueRef
without_factor(LLVMValueRef v)
{
    double n;
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMFMul || constant_of(LLVMGetOperand(v, 1), &n) != 2)
        return v;
    return fabs(n) >= ldexp(1, -FACTOR) && fabs(n) <= ldexp(1, FACTOR) ? LLVMGetOperand(v, 0) : v;
}

static bool
is_power_of_two(double n)
{
    int exponent;
    return fabs(frexp(n, &exponent)) == 0.5;
}

static LLVMValueRef
reciprocal(gen *g, LLVMValueRef y)
{
    LLVMValueRef about, minus = LLVMBuildFNeg(g->b, y, "");
    if (gen_for_nvidia(g))
        about = gen_intrinsic(g, "llvm.nvvm.rcp.approx.ftz.f", 0, NULL, 1, &y);
    else
        about = LLVMBuildFDiv(g->b, one(g), y, "");
    return fused(g, about, fused(g, minus, about, one(g)), about);
}

/* By_y: 1 / y, rounded correctly. What is left of 0 is 0 with the wrong sign. */
static LLVMValueRef
refined(gen *g, LLVMValueRef x, LLVMValueRef y, LLVMValueRef by_y)
{
    LLVMValueRef first = LLVMBuildFMul(g->b, x, by_y, "");
    LLVMValueRef rest = fused(g, LLVMBuildFNeg(g->b, y, ""), first, x), q = fused(g, by_y, rest, first);
    if (LLVMIsConstant(x))
        return q;
    LLVMValueRef sign = LLVMBuildAnd(g->b, LLVMBuildBitCast(g->b, first, g->i32, ""), gen_i32(g, 1u << 31), "");
    LLVMValueRef bits = LLVMBuildOr(g->b, LLVMBuildBitCast(g->b, q, g->i32, ""), sign, "");
    LLVMValueRef result = LLVMBuildBitCast(g->b, bits, g->f32, "");
    remember_known(g, result, x, q);
    return result;
}

/* of the denominator: so that results are normal */
static int
limit_below(int known, double n)
{
    int size = 1 - LEAST;
    if (known == 2)
        frexp(n, &size); /* n >= 2^(size - 1) */
    int limit = LEAST + MOST - 1 + size;
    return limit < OVER ? limit : OVER;
}

LLVMValueRef
gen_bet_quotient(gen *g, LLVMValueRef x, LLVMValueRef y)
{
    double a, b;
    int knows_x = constant_of(x, &a), knows_y = constant_of(y, &b);
    if (!knows_x || !knows_y || knows_x + knows_y == 4 || (knows_y == 2 && is_power_of_two(b)))
        return LLVMBuildFDiv(g->b, x, y, ""); /* exact, or seldom */
    bool by_root = is_known_root(g, y), is_exact = knows_x == 2 && is_power_of_two(a);
    LLVMValueRef by_y = knows_y == 2 ? LLVMConstReal(g->f32, 1.0f / (float)b) : reciprocal(g, y);
    if (knows_x == 1)
        lost_if_tiny(g, without_factor(x));
    if (knows_y == 1 && !by_root)
        lost_unless_below(g, y, limit_below(knows_x, a));
    LLVMValueRef q = is_exact ? LLVMBuildFMul(g->b, x, by_y, "") : refined(g, x, y, by_y);
    if (knows_x == 1 || !by_root)
        lost_unless_below(g, q, OVER);
    return q;
}

/* 0 where x is 0, else q. A quotient of x, or of a multiple, is 0 there already. */
LLVMValueRef
gen_bet_guard(gen *g, LLVMValueRef x, LLVMValueRef q)
{
    const bet_known *known = recall(g, q);
    LLVMValueRef nil = LLVMConstNull(g->f32);
    if (known && known->numerator && (known->numerator == x || without_factor(known->numerator) == x))
        return LLVMBuildFAdd(g->b, known->without_sign, nil, "");
    return LLVMBuildSelect(g->b, LLVMBuildFCmp(g->b, LLVMRealOEQ, x, nil, ""), nil, q, "");
}

/* -- roots ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef
root(gen *g, LLVMValueRef x)
{
    if (!gen_for_nvidia(g))
        return gen_intrinsic(g, "llvm.sqrt", 1, &g->f32, 1, &x);
    LLVMValueRef y = gen_intrinsic(g, "llvm.nvvm.rsqrt.approx.ftz.f", 0, NULL, 1, &x);
    LLVMValueRef s = LLVMBuildFMul(g->b, x, y, ""), half = LLVMBuildFMul(g->b, y, LLVMConstReal(g->f32, 0.5), "");
    return fused(g, fused(g, LLVMBuildFNeg(g->b, s, ""), s, x), half, s);
}

LLVMValueRef
gen_bet_root(gen *g, LLVMValueRef x)
{
    LLVMValueRef from = LLVMBuildSub(g->b, LLVMBuildBitCast(g->b, x, g->i32, ""), gen_i32(g, ROOTS_FROM), "");
    lost_if(g, LLVMBuildICmp(g->b, LLVMIntUGE, from, gen_i32(g, ROOTS), ""));
    LLVMValueRef result = root(g, x);
    remember_known(g, result, NULL, NULL);
    return result;
}

/* -- once more, where a bet is lost: calls, so that what seldom runs is short -------------------------------------- */

static LLVMValueRef
slow_function(gen *g, const char *name, LLVMTypeRef type, unsigned n)
{
    LLVMValueRef fn = LLVMGetNamedFunction(g->module, name), x, r;
    if (fn)
        return fn;
    fn = LLVMAddFunction(g->module, name, type);
    gen_mark_math(g, fn, false);
    LLVMBasicBlockRef outside = gen_here(g);
    gen_at(g, LLVMAppendBasicBlockInContext(g->context, fn, ""));
    x = LLVMGetParam(fn, 0);
    r = n == 2 ? LLVMBuildFDiv(g->b, x, LLVMGetParam(fn, 1), "") : gen_intrinsic(g, "llvm.sqrt", 1, &g->f32, 1, &x);
    LLVMBuildRet(g->b, r);
    gen_at(g, outside);
    return fn;
}

LLVMValueRef
gen_lost_quotient(gen *g, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef args[2] = {x, y};
    LLVMTypeRef type = LLVMFunctionType(g->f32, (LLVMTypeRef[]){g->f32, g->f32}, 2, false);
    if (LLVMIsConstant(y))
        return LLVMBuildFDiv(g->b, x, y, "");
    return LLVMBuildCall2(g->b, type, slow_function(g, "rg_quotient", type, 2), args, 2, "");
}

LLVMValueRef
gen_lost_root(gen *g, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMFunctionType(g->f32, &g->f32, 1, false);
    return LLVMBuildCall2(g->b, type, slow_function(g, "rg_root", type, 1), &x, 1, "");
}
