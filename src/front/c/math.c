/* The C library as kernels know it: <math.h>, abs and some builtins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

#include <math.h>

/* -- functions that are one operation
 * -------------------------------------------------------------- */
typedef struct math_row {
    const char *name; /* for double; float's has an f behind it */
    rg_op op;
} math_row;

static const math_row math_rows[] = {
    {"acos", RG_OP_ACOS},
    {"acosh", RG_OP_ACOSH},
    {"asin", RG_OP_ASIN},
    {"asinh", RG_OP_ASINH},
    {"atan", RG_OP_ATAN},
    {"atan2", RG_OP_ATAN2},
    {"atanh", RG_OP_ATANH},
    {"cbrt", RG_OP_CBRT},
    {"ceil", RG_OP_CEIL},
    {"copysign", RG_OP_COPYSIGN},
    {"cos", RG_OP_COS},
    {"cosh", RG_OP_COSH},
    {"erf", RG_OP_ERF},
    {"erfc", RG_OP_ERFC},
    {"exp", RG_OP_EXP},
    {"exp2", RG_OP_EXP2},
    {"expm1", RG_OP_EXPM1},
    {"fabs", RG_OP_ABS},
    {"fdim", RG_OP_FDIM},
    {"floor", RG_OP_FLOOR},
    {"fma", RG_OP_FMA},
    {"fmax", RG_OP_MAX},
    {"fmin", RG_OP_MIN},
    {"fmod", RG_OP_REM},
    {"hypot", RG_OP_HYPOT},
    {"ldexp", RG_OP_LDEXP},
    {"lgamma", RG_OP_LGAMMA},
    {"log", RG_OP_LOG},
    {"log10", RG_OP_LOG10},
    {"log1p", RG_OP_LOG1P},
    {"log2", RG_OP_LOG2},
    {"nearbyint", RG_OP_RINT},
    {"nextafter", RG_OP_NEXTAFTER},
    {"remainder", RG_OP_REMAINDER},
    {"rint", RG_OP_RINT},
    {"round", RG_OP_ROUND},
    {"scalbn", RG_OP_LDEXP},
    {"sin", RG_OP_SIN},
    {"sinh", RG_OP_SINH},
    {"sqrt", RG_OP_SQRT},
    {"tan", RG_OP_TAN},
    {"tanh", RG_OP_TANH},
    {"tgamma", RG_OP_TGAMMA},
    {"trunc", RG_OP_TRUNC},
};

static int
by_name(const void *key, const void *row)
{
    return strcmp(key, ((const math_row *)row)->name);
}

/* Arguments were converted to the parameters' types already. */
static bool
table_call(gen *g, const node *n, const char *name, rg_dtype d, rg_value *out)
{
    const math_row *row = bsearch(name, math_rows, countof(math_rows), sizeof(math_row), by_name);
    if (!row || n->count > 3)
        return false;
    rg_value args[3];
    for (uint32_t i = 0; i < n->count; i++)
        args[i] = fc_scalar(g, n->list[i]);
    fc_at_node(g, n);
    for (uint32_t i = 0; i < n->count; i++)
        args[i] = fc_convert(g, row->op == RG_OP_LDEXP && i == 1 ? RG_I32 : d, args[i]);
    *out = rg_build_op(g->b, row->op, n->count, args);
    return true;
}

/* -- functions of several operations
 * --------------------------------------------------------------- */
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

/* Round to an integer type: lround, llround, lrint, llrint. */
static rg_value
round_to_integer(gen *g, const node *n, rg_op op)
{
    rg_value x = fc_scalar(g, n->list[0]);
    fc_at_node(g, n);
    return fc_convert(g, n->type->dtype, rg_build_1(g->b, op, x));
}

static bool
special_call(gen *g, const node *n, const char *name, rg_dtype d, rg_value *out)
{
    if (strcmp(name, "pow") == 0)
        *out = power(g, n, d);
    else if (strcmp(name, "modf") == 0)
        *out = split_fraction(g, n, d);
    else if (strcmp(name, "frexp") == 0)
        *out = split_exponent(g, n, d);
    else if (strcmp(name, "sincos") == 0)
        *out = sine_and_cosine(g, n, d);
    else if (strcmp(name, "lround") == 0 || strcmp(name, "llround") == 0)
        *out = round_to_integer(g, n, RG_OP_ROUND);
    else if (strcmp(name, "lrint") == 0 || strcmp(name, "llrint") == 0)
        *out = round_to_integer(g, n, RG_OP_RINT);
    else if (strcmp(name, "inf") == 0 || strcmp(name, "huge_val") == 0)
        *out = rg_build_float(g->b, d, INFINITY);
    else if (strcmp(name, "nan") == 0)
        *out = rg_build_float(g->b, d, NAN);
    else
        return false;
    return true;
}

/* -- classification and comparison: the argument keeps its type
 * ------------------------------------- */
static rg_value
is_below_infinity(gen *g, rg_value x, rg_op op)
{
    rg_dtype d = rg_value_type(x).dtype;
    return rg_build_2(g->b, op, rg_build_1(g->b, RG_OP_ABS, x), rg_build_float(g->b, d, INFINITY));
}

static rg_value
is_normal(gen *g, rg_value x)
{
    rg_dtype d = rg_value_type(x).dtype;
    double least = d == RG_F64 ? 0x1p-1022 : d == RG_F32 ? 0x1p-126 : 0x1p-14;
    rg_value large =
        rg_build_2(g->b, RG_OP_GE, rg_build_1(g->b, RG_OP_ABS, x), rg_build_float(g->b, d, least));
    return rg_build_2(g->b, RG_OP_AND, large, is_below_infinity(g, x, RG_OP_LT));
}

static rg_value
sign_bit(gen *g, rg_value x)
{
    rg_dtype d = rg_value_type(x).dtype;
    rg_dtype bits = d == RG_F64 ? RG_I64 : d == RG_F32 ? RG_I32 : RG_I16;
    return rg_build_2(g->b, RG_OP_LT, rg_build_bitcast(g->b, bits, x), fc_zero_value(g, bits));
}

static rg_value
classify(gen *g, const char *name, rg_value x)
{
    if (strcmp(name, "isnan") == 0)
        return rg_build_2(g->b, RG_OP_NE, x, x);
    if (strcmp(name, "isinf") == 0)
        return is_below_infinity(g, x, RG_OP_EQ);
    if (strcmp(name, "isinf_sign") == 0) {
        rg_value one = fc_convert(g, RG_I32, is_below_infinity(g, x, RG_OP_EQ));
        return rg_build_3(g->b, RG_OP_SELECT, sign_bit(g, x), rg_build_1(g->b, RG_OP_NEG, one), one);
    }
    if (strcmp(name, "isfinite") == 0 || strcmp(name, "finite") == 0)
        return is_below_infinity(g, x, RG_OP_LT);
    if (strcmp(name, "isnormal") == 0)
        return is_normal(g, x);
    if (strcmp(name, "signbit") == 0)
        return sign_bit(g, x);
    return NULL;
}

static rg_value
quiet_comparison(gen *g, const char *name, rg_value x, rg_value y)
{
    static const struct {
        const char *name;
        rg_op op;
    } table[] = {{"isgreater", RG_OP_GT},
                 {"isgreaterequal", RG_OP_GE},
                 {"isless", RG_OP_LT},
                 {"islessequal", RG_OP_LE}};
    for (size_t i = 0; i < countof(table); i++) {
        if (strcmp(name, table[i].name) == 0)
            return rg_build_2(g->b, table[i].op, x, y);
    }
    if (strcmp(name, "islessgreater") == 0)
        return rg_build_2(g->b, RG_OP_OR, rg_build_2(g->b, RG_OP_LT, x, y),
                          rg_build_2(g->b, RG_OP_GT, x, y));
    if (strcmp(name, "isunordered") == 0)
        return rg_build_2(g->b, RG_OP_OR, rg_build_2(g->b, RG_OP_NE, x, x),
                          rg_build_2(g->b, RG_OP_NE, y, y));
    return NULL;
}

/* __builtin_fpclassify(nan, infinite, normal, subnormal, zero, x) */
static rg_value
choose_class(gen *g, const node *n)
{
    rg_value kinds[5], x;
    for (size_t i = 0; i < countof(kinds); i++)
        kinds[i] = fc_scalar(g, n->list[i]);
    x = fc_scalar(g, n->list[5]);
    fc_at_node(g, n);
    rg_value is_zero = rg_build_2(g->b, RG_OP_EQ, x, fc_zero_value(g, rg_value_type(x).dtype));
    rg_value kind = rg_build_3(g->b, RG_OP_SELECT, is_zero, kinds[4], kinds[3]);
    kind = rg_build_3(g->b, RG_OP_SELECT, is_normal(g, x), kinds[2], kind);
    kind = rg_build_3(g->b, RG_OP_SELECT, is_below_infinity(g, x, RG_OP_EQ), kinds[1], kind);
    return rg_build_3(g->b, RG_OP_SELECT, rg_build_2(g->b, RG_OP_NE, x, x), kinds[0], kind);
}

static bool
classification_call(gen *g, const node *n, const char *name, rg_value *out)
{
    if (strcmp(name, "fpclassify") == 0 && n->count == 6) {
        *out = choose_class(g, n);
        return true;
    }
    if (strncmp(name, "is", 2) != 0 && strncmp(name, "signbit", 7) != 0 && strcmp(name, "finite") != 0)
        return false;
    if (n->count < 1 || n->count > 2)
        return false;
    rg_value x = fc_scalar(g, n->list[0]), y = n->count > 1 ? fc_scalar(g, n->list[1]) : NULL;
    fc_at_node(g, n);
    *out = y ? quiet_comparison(g, name, x, y) : classify(g, name, x);
    return *out != NULL;
}

/* -- bits of floats: what the math library's sources use (src/math/rgm.h)
 * ----------------------------------------------------------------------------------- */
static bool
bits_call(gen *g, const node *n, rg_value *out)
{
    static const struct {
        const char *name;
        rg_dtype to;
    } table[] = {{"rgm_bits", RG_U64}, {"rgm_bitsf", RG_U32}, {"rgm_from_bits", RG_F64}, {"rgm_from_bitsf", RG_F32}};
    for (size_t i = 0; i < countof(table); i++) {
        if (strcmp(n->decl->name, table[i].name) == 0 && n->count == 1) {
            rg_value x = fc_scalar(g, n->list[0]);
            fc_at_node(g, n);
            *out = rg_build_bitcast(g->b, table[i].to, x);
            return true;
        }
    }
    return false;
}

/* -- integers
 * -------------------------------------------------------------------------------------- */
static bool
integer_call(gen *g, const node *n, const char *name, rg_value *out)
{
    static const struct {
        const char *name;
        rg_op op;
    } table[] = {
        {"abs", RG_OP_ABS},           {"labs", RG_OP_ABS},           {"llabs", RG_OP_ABS},
        {"popcount", RG_OP_POPCOUNT}, {"popcountl", RG_OP_POPCOUNT}, {"popcountll", RG_OP_POPCOUNT},
        {"clz", RG_OP_CLZ},           {"clzl", RG_OP_CLZ},           {"clzll", RG_OP_CLZ},
        {"ctz", RG_OP_CTZ},           {"ctzl", RG_OP_CTZ},           {"ctzll", RG_OP_CTZ}};
    if (strcmp(name, "expect") == 0 && n->count == 2) {
        *out = fc_scalar(g, n->list[0]);
        return true;
    }
    for (size_t i = 0; i < countof(table); i++) {
        if (strcmp(name, table[i].name) == 0 && n->count == 1) {
            rg_value x = fc_scalar(g, n->list[0]);
            fc_at_node(g, n);
            *out = rg_build_1(g->b, table[i].op, x);
            return true;
        }
    }
    return false;
}

/* -- all of them
 * ----------------------------------------------------------------------------------- */
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
    *out = (value){.type = n->type};
    char name[32];
    rg_dtype d = plain_name(n->decl->name, name, sizeof(name));
    rg_value v;
    if (!bits_call(g, n, &v) && !special_call(g, n, name, d, &v) && !table_call(g, n, name, d, &v) &&
        !classification_call(g, n, name, &v) && !integer_call(g, n, name, &v))
        return false;
    if (n->type->kind == TYPE_SCALAR)
        out->scalar = fc_convert(g, n->type->dtype, v);
    return true;
}
