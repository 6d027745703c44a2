/* The C library as kernels know it: <math.h>, abs and some builtins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

#include <math.h>

/* -- functions whose arguments are more than values -------------------------------------------------------------- */

/* An integer constant up to 8 becomes multiplications, so that x*x has derivative 0 at 0. */
static rg_value
power(gen *g, const node *n, rg_dtype d)
{
    rg_value x = fc_convert(g, d, fc_scalar(g, n->list[0])),
             y = fc_convert(g, d, fc_scalar(g, n->list[1]));
    uint64_t bits;
    fc_at_node(g, n);
    if (fc_constant_bits(g, n->list[1], RG_F64, &bits)) {
        double e;
        memcpy(&e, &bits, sizeof(e));
        if (e == floor(e) && e >= 0 && e <= 8) {
            rg_value result = e == 0 ? rg_build_float(g->b, d, 1) : x;
            for (int i = 1; i < (int)e; i++)
                result = rg_build_2(g->b, RG_OP_MUL, result, x);
            return result;
        }
    }
    return rg_build_2(g->b, RG_OP_POW, x, y);
}

static void
store_through(gen *g, const node *argument, rg_value v)
{
    place to = fc_pointer(g, argument);
    if (to.type->kind == TYPE_SCALAR)
        fc_store_scalar(g, &to, fc_convert(g, to.type->dtype, v), argument);
}

/* fmod(x, 1) has the sign and the derivative that modf's fraction has; only infinity differs. */
static rg_value
split_fraction(gen *g, const node *n, rg_dtype d)
{
    rg_value x = fc_convert(g, d, fc_scalar(g, n->list[0]));
    fc_at_node(g, n);
    rg_value infinite = rg_build_2(g->b, RG_OP_EQ, rg_build_1(g->b, RG_OP_ABS, x),
                                   rg_build_float(g->b, d, INFINITY));
    rg_value rest = rg_build_2(g->b, RG_OP_REM, x, rg_build_float(g->b, d, 1));
    rg_value zero = rg_build_2(g->b, RG_OP_COPYSIGN, fc_zero_value(g, d), x);
    store_through(g, n->list[1], rg_build_1(g->b, RG_OP_TRUNC, x));
    return rg_build_3(g->b, RG_OP_SELECT, infinite, zero, rest);
}

static rg_value
split_exponent(gen *g, const node *n, rg_dtype d)
{
    rg_value x = fc_convert(g, d, fc_scalar(g, n->list[0]));
    fc_at_node(g, n);
    store_through(g, n->list[1], rg_build_1(g->b, RG_OP_EXPONENT, x));
    return rg_build_1(g->b, RG_OP_FRACTION, x);
}

static rg_value
sine_and_cosine(gen *g, const node *n, rg_dtype d)
{
    rg_value x = fc_convert(g, d, fc_scalar(g, n->list[0]));
    fc_at_node(g, n);
    store_through(g, n->list[1], rg_build_1(g->b, RG_OP_SIN, x));
    store_through(g, n->list[2], rg_build_1(g->b, RG_OP_COS, x));
    return x;
}

static rg_value
infinity(gen *g, const node *n, rg_dtype d)
{
    return rg_build_float(g->b, d, INFINITY);
}

static rg_value
not_a_number(gen *g, const node *n, rg_dtype d)
{
    return rg_build_float(g->b, d, NAN);
}

/* what the math library's sources use (src/math/rgm.h) */
static rg_value
to_bits(gen *g, const node *n, rg_dtype d)
{
    return rg_build_bitcast(g->b, d == RG_F32 ? RG_U32 : RG_U64, fc_scalar(g, n->list[0]));
}

static rg_value
from_bits(gen *g, const node *n, rg_dtype d)
{
    return rg_build_bitcast(g->b, d, fc_scalar(g, n->list[0]));
}

/* -- functions of values that keep their types --------------------------------------------------------------------- */

static rg_value
first(gen *g, rg_op op, const rg_value *x)
{
    return x[0];
}

static rg_value
with_itself(gen *g, rg_op op, const rg_value *x)
{
    return rg_build_2(g->b, op, x[0], x[0]);
}

static rg_value
against_infinity(gen *g, rg_op op, const rg_value *x)
{
    rg_value most = rg_build_float(g->b, rg_value_type(x[0]).dtype, INFINITY);
    return rg_build_2(g->b, op, rg_build_1(g->b, RG_OP_ABS, x[0]), most);
}

static rg_value
is_normal(gen *g, rg_op op, const rg_value *x)
{
    rg_dtype d = rg_value_type(x[0]).dtype;
    double least = d == RG_F64 ? 0x1p-1022 : d == RG_F32 ? 0x1p-126 : 0x1p-14;
    rg_value large = rg_build_2(g->b, op, rg_build_1(g->b, RG_OP_ABS, x[0]), rg_build_float(g->b, d, least));
    return rg_build_2(g->b, RG_OP_AND, large, against_infinity(g, RG_OP_LT, x));
}

static rg_value
sign_bit(gen *g, rg_op op, const rg_value *x)
{
    rg_dtype d = rg_value_type(x[0]).dtype;
    rg_dtype bits = d == RG_F64 ? RG_I64 : d == RG_F32 ? RG_I32 : RG_I16;
    return rg_build_2(g->b, op, rg_build_bitcast(g->b, bits, x[0]), fc_zero_value(g, bits));
}

static rg_value
sign_of_infinity(gen *g, rg_op op, const rg_value *x)
{
    rg_value one = fc_convert(g, RG_I32, against_infinity(g, op, x));
    return rg_build_3(g->b, RG_OP_SELECT, sign_bit(g, RG_OP_LT, x), rg_build_1(g->b, RG_OP_NEG, one), one);
}

static rg_value
less_or_greater(gen *g, rg_op op, const rg_value *x)
{
    return rg_build_2(g->b, op, rg_build_2(g->b, RG_OP_LT, x[0], x[1]), rg_build_2(g->b, RG_OP_GT, x[0], x[1]));
}

static rg_value
unordered(gen *g, rg_op op, const rg_value *x)
{
    return rg_build_2(g->b, op, with_itself(g, RG_OP_NE, &x[0]), with_itself(g, RG_OP_NE, &x[1]));
}

/* __builtin_fpclassify(nan, infinite, normal, subnormal, zero, x) */
static rg_value
choose_class(gen *g, rg_op op, const rg_value *kinds)
{
    const rg_value *x = &kinds[5];
    rg_value is_zero = rg_build_2(g->b, RG_OP_EQ, *x, fc_zero_value(g, rg_value_type(*x).dtype));
    rg_value kind = rg_build_3(g->b, op, is_zero, kinds[4], kinds[3]);
    kind = rg_build_3(g->b, op, is_normal(g, RG_OP_GE, x), kinds[2], kind);
    kind = rg_build_3(g->b, op, against_infinity(g, RG_OP_EQ, x), kinds[1], kind);
    return rg_build_3(g->b, op, with_itself(g, RG_OP_NE, x), kinds[0], kind);
}

/* -- all of them ---------------------------------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 6 };

typedef struct math_row {
    const char *name; /* for double; float's has an f behind it */
    uint32_t nargs;
    bool floats; /* the arguments are converted to the function's type */
    rg_op op;    /* of the arguments, if there are no functions: */
    rg_value (*of_values)(gen *g, rg_op op, const rg_value *x);
    rg_value (*of_nodes)(gen *g, const node *n, rg_dtype d);
} math_row;

#define F(name, n, op)     {name, n, true, RG_OP_##op, NULL, NULL}
#define V(name, n, fn, op) {name, n, false, RG_OP_##op, fn, NULL}
#define N(name, n, fn)     {name, n, true, RG_OP_COUNT, NULL, fn}
/* clang-format off */
static const math_row math_rows[] = {
    V("abs", 1, NULL, ABS), F("acos", 1, ACOS), F("acosh", 1, ACOSH), F("asin", 1, ASIN), F("asinh", 1, ASINH),
    F("atan", 1, ATAN), F("atan2", 2, ATAN2), F("atanh", 1, ATANH), F("cbrt", 1, CBRT), F("ceil", 1, CEIL),
    V("clz", 1, NULL, CLZ), V("clzl", 1, NULL, CLZ), V("clzll", 1, NULL, CLZ), F("copysign", 2, COPYSIGN),
    F("cos", 1, COS), F("cosh", 1, COSH), V("ctz", 1, NULL, CTZ), V("ctzl", 1, NULL, CTZ), V("ctzll", 1, NULL, CTZ),
    F("erf", 1, ERF), F("erfc", 1, ERFC), F("exp", 1, EXP), F("exp2", 1, EXP2), V("expect", 2, first, SELECT),
    F("expm1", 1, EXPM1), F("fabs", 1, ABS), F("fdim", 2, FDIM), V("finite", 1, against_infinity, LT),
    F("floor", 1, FLOOR), F("fma", 3, FMA), F("fmax", 2, MAX), F("fmin", 2, MIN), F("fmod", 2, REM),
    V("fpclassify", 6, choose_class, SELECT), N("frexp", 2, split_exponent), N("huge_val", 0, infinity),
    F("hypot", 2, HYPOT), N("inf", 0, infinity), V("isfinite", 1, against_infinity, LT),
    V("isgreater", 2, NULL, GT), V("isgreaterequal", 2, NULL, GE), V("isinf", 1, against_infinity, EQ),
    V("isinf_sign", 1, sign_of_infinity, EQ), V("isless", 2, NULL, LT), V("islessequal", 2, NULL, LE),
    V("islessgreater", 2, less_or_greater, OR), V("isnan", 1, with_itself, NE), V("isnormal", 1, is_normal, GE),
    V("isunordered", 2, unordered, OR), V("labs", 1, NULL, ABS), F("ldexp", 2, LDEXP), F("lgamma", 1, LGAMMA),
    V("llabs", 1, NULL, ABS), V("llrint", 1, NULL, RINT), V("llround", 1, NULL, ROUND), F("log", 1, LOG),
    F("log10", 1, LOG10), F("log1p", 1, LOG1P), F("log2", 1, LOG2), V("lrint", 1, NULL, RINT),
    V("lround", 1, NULL, ROUND), N("modf", 2, split_fraction), N("nan", 1, not_a_number), F("nearbyint", 1, RINT),
    F("nextafter", 2, NEXTAFTER), V("popcount", 1, NULL, POPCOUNT), V("popcountl", 1, NULL, POPCOUNT),
    V("popcountll", 1, NULL, POPCOUNT), N("pow", 2, power), F("remainder", 2, REMAINDER), N("rgm_bits", 1, to_bits),
    N("rgm_from_bits", 1, from_bits), F("rint", 1, RINT), F("round", 1, ROUND), F("scalbn", 2, LDEXP),
    V("signbit", 1, sign_bit, LT), F("sin", 1, SIN), N("sincos", 3, sine_and_cosine), F("sinh", 1, SINH),
    F("sqrt", 1, SQRT), F("tan", 1, TAN), F("tanh", 1, TANH), F("tgamma", 1, TGAMMA), F("trunc", 1, TRUNC),
};
/* clang-format on */
#undef F
#undef V
#undef N

static int
by_name(const void *key, const void *row)
{
    return strcmp(key, ((const math_row *)row)->name);
}

/* The name without `__builtin_`, or the `__` of C libraries, and without the f of the functions for float. */
static rg_dtype
plain_name(const char *full, char *name, size_t size)
{
    static const char prefix[] = "__builtin_";
    if (strncmp(full, prefix, sizeof(prefix) - 1) == 0)
        full += sizeof(prefix) - 1;
    else if (strncmp(full, "__", 2) == 0)
        full += 2;
    snprintf(name, size, "%s", full);
    size_t n = strlen(name);
    if (n > 1 && name[n - 1] == 'f' && strcmp(name, "modf") != 0 && strcmp(name, "erf") != 0 &&
        strcmp(name, "inf") != 0 && strcmp(name, "isinf") != 0) {
        name[n - 1] = 0;
        return RG_F32;
    }
    return RG_F64;
}

bool
fc_math_call(gen *g, const node *n, value *out)
{
    char name[32];
    rg_value x[MOST_ARGUMENTS], v;
    rg_dtype d = plain_name(n->decl->name, name, sizeof(name));
    const math_row *row = bsearch(name, math_rows, countof(math_rows), sizeof(math_row), by_name);
    *out = (value){.type = n->type};
    if (!row || n->count != row->nargs)
        return false;
    for (uint32_t i = 0; i < n->count && !row->of_nodes; i++)
        x[i] = fc_scalar(g, n->list[i]);
    fc_at_node(g, n);
    for (uint32_t i = 0; i < n->count && row->floats && !row->of_nodes; i++)
        x[i] = fc_convert(g, row->op == RG_OP_LDEXP && i == 1 ? RG_I32 : d, x[i]);
    v = row->of_nodes    ? row->of_nodes(g, n, d)
        : row->of_values ? row->of_values(g, row->op, x)
                         : rg_build_op(g->b, row->op, n->count, x);
    if (n->type->kind == TYPE_SCALAR)
        out->scalar = fc_convert(g, n->type->dtype, v);
    return true;
}
