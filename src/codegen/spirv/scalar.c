/* Scalar ops, with the values that the columns of ops.def give them. SPDX-License-Identifier: Apache-2.0
 *
 * Vulkan lets quotients, roots and even fma differ from what IEEE 754 asks for. Where a device was not seen to do it right
 * they are functions of the library (exact_of.h), in integers, or quotients and roots by fma where that is right; sums, differences,
 * products and conversions are rounded correctly everywhere. f16 is computed in f32 and rounded after each op. Where there is no f64,
 * one is its bits, and functions in integers (doubles.c) are all that knows of it. */
#include "codegen/spirv/gen.h"

#include <float.h>
#include <math.h>

enum { NO_CONTRACTION = 42 };

static bool
device_has(const gen *g, spirv_features what)
{
    return (g->options->features & what) == what;
}

static bool
has_f64(const gen *g)
{
    return device_has(g, SPIRV_FLOAT64);
}

spv_id
sv_glsl(gen *g, uint32_t number, spv_id type, uint32_t n, const spv_id *args)
{
    uint32_t words[5] = {g->s.glsl, number};
    for (uint32_t i = 0; i < n; i++)
        words[2 + i] = args[i];
    return spv_op(&g->s, SPV_EXT, type, 2 + n, words);
}

/* a function of the library of f32 or f64 */
static spv_id
call_float(gen *g, const char *name, bool single, uint32_t n, const spv_id *args)
{
    char full[48];
    snprintf(full, sizeof full, "%s%s", name, single ? "f" : "");
    return sv_library(g, full, n, args);
}

/* Instructions of f32 and f64, what a device must have for each, and the function that else stands for it. The other comparisons are made
 * of these three. */
#define ALWAYS {0, SPIRV_FLOAT64}
#define EXACT  {SPIRV_EXACT32, SPIRV_FLOAT64 | SPIRV_EXACT64}
#define FUSED  {SPIRV_FUSED32, SPIRV_FLOAT64 | SPIRV_FUSED64}
enum kind { ROUNDS, KEEPS, ASKS, GLSL = 4 };
static const struct {
    uint8_t code, kind; /* GLSL: of GLSL.std.450 */
    const char *name;
    spirv_features needs[2];
} instructions[] = {
    {SPV_F_ADD, ROUNDS, "rgx_sum", ALWAYS},
    {SPV_F_SUB, ROUNDS, "rgx_difference", ALWAYS},
    {SPV_F_MUL, ROUNDS, "rgx_product", ALWAYS},
    {SPV_F_DIV, ROUNDS, "rgx_quotient", EXACT},
    {SPV_SQRT, ROUNDS | GLSL, "rgx_root", EXACT},
    {SPV_FMA, ROUNDS | GLSL, "rgx_fused", FUSED},
    {SPV_F_NEGATE, KEEPS, "rgx_negative", ALWAYS},
    {SPV_F_ABS, KEEPS | GLSL, "rgx_size", ALWAYS},
    {SPV_TRUNC, KEEPS | GLSL, "rgx_trunc", ALWAYS},
    {SPV_FLOOR, KEEPS | GLSL, "rgx_floor", ALWAYS},
    {SPV_CEIL, KEEPS | GLSL, "rgx_ceil", ALWAYS},
    {SPV_ROUND_EVEN, KEEPS | GLSL, "rgx_rint", ALWAYS},
    {SPV_F_EQUAL, ASKS, "rgx_equal", ALWAYS},
    {SPV_F_LESS, ASKS, "rgx_less", ALWAYS},
    {SPV_F_LESS_EQUAL, ASKS, "rgx_less_equal", ALWAYS},
};

static spv_id
own_instruction(gen *g, uint32_t code, uint32_t kind, rg_dtype d, uint32_t n, const spv_id *a)
{
    spv_id type = (kind & 3) == ASKS ? g->truth : sv_register(g, d);
    spv_id r = kind & GLSL ? sv_glsl(g, code, type, n, a) : spv_op(&g->s, code, type, n, a);
    if ((kind & 3) == ROUNDS)
        spv_decorate(&g->s, r, NO_CONTRACTION);
    return r;
}

static spv_id
float_instruction(gen *g, uint32_t code, rg_dtype d, uint32_t n, const spv_id *a)
{
    size_t i = 0;
    while (instructions[i].code != code)
        i++;
    if (!device_has(g, instructions[i].needs[d == RG_F64]))
        return call_float(g, instructions[i].name, d == RG_F32, n, a);
    return own_instruction(g, code, instructions[i].kind, d, n, a);
}
#define real_op(g, code, d, ...) float_instruction(g, code, d, spv_list(__VA_ARGS__))

/* -- floats: d is f32 or f64 --------------------------------------------------------------------------------------- */

static spv_id
real(gen *g, rg_dtype d, double v)
{
    return sv_const(g, d, ir_float_bits(d, v));
}

/* whether the device's own is an approximation, and its fma exact */
static bool
is_near(gen *g, rg_dtype d)
{
    static const spirv_features exact[] = EXACT, fused[] = FUSED;
    return !device_has(g, exact[d == RG_F64]) && device_has(g, fused[d == RG_F64]);
}

spv_id
sv_slow_way(gen *g, const sv_near *q)
{
    return call_float(g, q->n == 2 ? "rgx_quotient" : "rgx_root", q->d == RG_F32, q->n, q->args);
}

/* the bits of 1 / y where that is exact and normal, of y's bits; 0: it is not */
static uint64_t
exact_reciprocal(rg_dtype d, uint64_t bits)
{
    double y = ir_bits_float(d, bits), one = fabs(1 / y);
    bool normal = d == RG_F64 ? one >= DBL_MIN && one <= DBL_MAX : one >= (double)FLT_MIN && one <= (double)FLT_MAX;
    int exponent;
    bool is_power = fabs(frexp(y, &exponent)) == 0.5;
    return is_power && normal ? ir_float_bits(d, 1 / y) : 0;
}

static spv_id
divided_floats(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    const uint64_t *known = spv_constant(&g->s, y);
    uint64_t by = known ? exact_reciprocal(d, *known) : 0;
    if (by)
        return real_op(g, SPV_F_MUL, d, x, sv_const(g, d, by));
    if (!is_near(g, d))
        return real_op(g, SPV_F_DIV, d, x, y);
    const sv_near near = {d, 2, {x, y}};
    if (sv_bet_is_lost(g))
        return sv_bet_slow(g, &near);
    spv_id about = own_instruction(g, SPV_F_DIV, ROUNDS, d, 2, (spv_id[]){real(g, d, 1), y});
    spv_id q = call_float(g, "rgx_fast_quotient", d == RG_F32, 3, (spv_id[]){x, y, about});
    return sv_bet_near(g, &near, q, call_float(g, "rgx_fits_quotient", d == RG_F32, 3, (spv_id[]){x, y, q}));
}

static spv_id
square_root(gen *g, rg_dtype d, spv_id x)
{
    if (!is_near(g, d))
        return real_op(g, SPV_SQRT, d, x);
    const sv_near near = {d, 1, {x}};
    if (sv_bet_is_lost(g))
        return sv_bet_slow(g, &near);
    spv_id about = sv_glsl(g, SPV_INVERSE_SQRT, sv_register(g, d), 1, &x);
    spv_id root = call_float(g, "rgx_fast_root", d == RG_F32, 2, (spv_id[]){x, about});
    return sv_bet_near(g, &near, root, call_float(g, "rgx_fits_root", d == RG_F32, 1, &x));
}

static spv_id
fused_product(gen *g, rg_dtype d, const spv_id *a)
{
    if (d == RG_F32 && !device_has(g, SPIRV_FUSED32) && has_f64(g))
        return sv_library(g, "rgx_wide_fusedf", 3, a);
    return float_instruction(g, SPV_FMA, d, 3, a);
}

static spv_id
floored(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    return real_op(g, SPV_FLOOR, d, divided_floats(g, d, x, y));
}

/* the magnitude of one with the sign of the other, by bits */
static spv_id
with_sign(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    spv_id type = d == RG_F64 ? g->u64 : g->u32, all = sv_const(g, d == RG_F64 ? RG_U64 : RG_U32, d == RG_F64 ? INT64_MAX : INT32_MAX);
    spv_id size = emit(g, SPV_AND, type, sv_word(g, d, x), all);
    spv_id sign = emit(g, SPV_AND, type, sv_word(g, d, y), emit(g, SPV_NOT, type, all));
    return sv_of_word(g, d, emit(g, SPV_OR, type, size, sign));
}

/* halves away from 0; a number without a fraction stays what it is */
static spv_id
rounded_away(gen *g, rg_dtype d, spv_id x)
{
    spv_id whole = real_op(g, SPV_TRUNC, d, x), rest = real_op(g, SPV_F_SUB, d, x, whole);
    spv_id up = real_op(g, SPV_F_LESS_EQUAL, d, real(g, d, 0.5), real_op(g, SPV_F_ABS, d, rest));
    spv_id next = real_op(g, SPV_F_ADD, d, whole, with_sign(g, d, real(g, d, 1), x));
    return sv_choose(g, sv_register(g, d), up, next, whole);
}

static spv_id
compare_floats(gen *g, rg_op op, rg_dtype d, spv_id x, spv_id y)
{
    uint32_t code = op == RG_OP_EQ || op == RG_OP_NE ? SPV_F_EQUAL : op == RG_OP_LT || op == RG_OP_GT ? SPV_F_LESS : SPV_F_LESS_EQUAL;
    bool swaps = op == RG_OP_GT || op == RG_OP_GE;
    spv_id holds = real_op(g, code, d, swaps ? y : x, swaps ? x : y);
    return op == RG_OP_NE ? sv_not(g, holds) : holds;
}

/* x where strictly smaller (larger) or y is NaN, else y */
static spv_id
extremum(gen *g, rg_op better, rg_dtype d, spv_id x, spv_id y)
{
    spv_id c = compare_floats(g, better, d, x, y), none = compare_floats(g, RG_OP_NE, d, y, y);
    return sv_choose(g, sv_register(g, d), emit(g, SPV_LOGICAL_OR, g->truth, c, none), x, y);
}

static const struct {
    const char *name;
    uint32_t n; /* arguments */
} functions[RG_OP_COUNT] = {
#define RGM1(NAME, name) [RG_OP_##NAME] = {"rgm_" #name, 1},
#define RGM2(NAME, name) [RG_OP_##NAME] = {"rgm_" #name, 2},
#define RGM_TWO(NAME, name)
#include "math/functions.def"
};

static spv_id
float_op(gen *g, rg_op op, rg_dtype d, const spv_id *a)
{
    bool single = d == RG_F32;
    spv_id x = a[0], y = a[1];
    if (functions[op].name)
        return call_float(g, functions[op].name, single, functions[op].n, a);
    switch ((int)op) {
    case RG_OP_NEG:
        return real_op(g, SPV_F_NEGATE, d, x);
    case RG_OP_ABS:
        return real_op(g, SPV_F_ABS, d, x);
    case RG_OP_ADD:
        return real_op(g, SPV_F_ADD, d, x, y);
    case RG_OP_SUB:
        return real_op(g, SPV_F_SUB, d, x, y);
    case RG_OP_MUL:
        return real_op(g, SPV_F_MUL, d, x, y);
    case RG_OP_DIV:
        return divided_floats(g, d, x, y);
    case RG_OP_FLOORDIV:
        return floored(g, d, x, y);
    case RG_OP_FLOORMOD:
        return real_op(g, SPV_F_SUB, d, x, real_op(g, SPV_F_MUL, d, floored(g, d, x, y), y));
    case RG_OP_MIN:
        return extremum(g, RG_OP_LT, d, x, y);
    case RG_OP_MAX:
        return extremum(g, RG_OP_GT, d, x, y);
    case RG_OP_FMA:
        return fused_product(g, d, a);
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return compare_floats(g, op, d, x, y);
    case RG_OP_SQRT:
        return square_root(g, d, x);
    case RG_OP_RSQRT:
        return divided_floats(g, d, real(g, d, 1), square_root(g, d, x));
    case RG_OP_FLOOR:
        return real_op(g, SPV_FLOOR, d, x);
    case RG_OP_CEIL:
        return real_op(g, SPV_CEIL, d, x);
    case RG_OP_ROUND:
        return rounded_away(g, d, x);
    case RG_OP_RINT:
        return real_op(g, SPV_ROUND_EVEN, d, x);
    case RG_OP_TRUNC:
        return real_op(g, SPV_TRUNC, d, x);
    case RG_OP_ZERO_GUARD:
        return sv_choose(g, sv_register(g, d), real_op(g, SPV_F_EQUAL, d, x, real(g, d, 0)), real(g, d, 0), y);
    case RG_OP_COPYSIGN:
        return with_sign(g, d, x, y);
    case RG_OP_LDEXP:
        return call_float(g, "rgx_ldexp", single, 2, a);
    case RG_OP_FRACTION:
        return call_float(g, "rgx_fraction", single, 1, a);
    case RG_OP_EXPONENT:
        return call_float(g, "rgx_exponent", single, 1, a);
#define LIBM2(NAME, name)                                                                                                        \
    case RG_OP_##NAME:                                                                                                           \
        return call_float(g, "rgx_" #name, single, 2, a);
#include "rt/load/libm.def"
    }
    assert(!"an op that floats have");
    return x;
}

/* -- integers ------------------------------------------------------------------------------------------------------ */

/* 32 bits, of which the type's count, extended again */
static spv_id
narrowed(gen *g, rg_dtype d, spv_id v)
{
    unsigned bits = ir_bits(d);
    if (bits >= 32)
        return v;
    if (ir_is_signed(d))
        return emit(g, SPV_EXTRACT_SIGNED, g->u32, v, sv_u32(g, 0), sv_u32(g, bits));
    return emit(g, SPV_AND, g->u32, v, sv_u32(g, (1u << bits) - 1));
}

/* its bits alone, zero-extended */
static spv_id
bits_alone(gen *g, rg_dtype d, spv_id v)
{
    return ir_bits(d) >= 32 ? v : emit(g, SPV_AND, g->u32, v, sv_u32(g, (1u << ir_bits(d)) - 1));
}

static spv_id
compare_integers(gen *g, rg_op op, rg_dtype d, spv_id x, spv_id y)
{
    bool s = ir_is_signed(d);
    uint32_t code = op == RG_OP_EQ   ? SPV_I_EQUAL
                    : op == RG_OP_NE ? SPV_I_NOT_EQUAL
                    : op == RG_OP_LT ? (s ? SPV_S_LESS : SPV_U_LESS)
                    : op == RG_OP_LE ? (s ? SPV_S_LESS_EQUAL : SPV_U_LESS_EQUAL)
                    : op == RG_OP_GT ? (s ? SPV_S_GREATER : SPV_U_GREATER)
                                     : (s ? SPV_S_GREATER_EQUAL : SPV_U_GREATER_EQUAL);
    return emit(g, code, g->truth, x, y);
}

spv_id
sv_compare(gen *g, rg_op op, rg_dtype d, spv_id x, spv_id y)
{
    return ir_is_float(d) ? compare_floats(g, op, d == RG_F64 ? d : RG_F32, x, y) : compare_integers(g, op, d, x, y);
}

/* quotient64(x, y), y not 0: in 32 bits where these suffice, which is a third of the work for devices, all of which divide in 32 bits.
 * NVIDIA's driver (580.159) gets quotients of 64 bits wrong where x is a sum with a choice of constants. */
static spv_id
quotient64_function(gen *g)
{
    spv_id types[2] = {g->u64, g->u64}, p[2];
    sv_function f;
    if (!sv_function_open(g, &f, "quotient64", g->u64, 2, types, p))
        return f.id;
    spv_id above = emit(g, SPV_SHIFT_RIGHT, g->u64, emit(g, SPV_OR, g->u64, p[0], p[1]), sv_u32(g, 32)), low = sv_low(g, p[1]);
    spv_id by = sv_choose(g, g->u32, sv_is(g, low, sv_u32(g, 0)), sv_u32(g, 1), low);
    spv_id q = sv_high(g, emit(g, SPV_U_DIV, g->u32, sv_low(g, p[0]), by));
    sv_branch large = sv_if(g, sv_not(g, sv_is_zero(g, above)));
    spv_id wide = emit(g, SPV_U_DIV, g->u64, p[0], p[1]);
    sv_end_if(g, &large);
    emit_do(g, SPV_RETURN_VALUE, sv_made(g, &large, g->u64, wide, q));
    sv_function_close(g, &f);
    return f.id;
}

spv_id
sv_quotient64(gen *g, spv_id x, spv_id y)
{
    const uint64_t *known = spv_constant(&g->s, y);
    bool shifts = known && *known && (*known & (*known - 1)) == 0;
    return shifts ? emit(g, SPV_U_DIV, g->u64, x, y)
                  : sv_call_function(g, quotient64_function(g), g->u64, 2, (spv_id[]){x, y});
}

static spv_id
negative_if(gen *g, spv_id c, spv_id x)
{
    return sv_choose(g, g->u64, c, emit(g, SPV_S_NEGATE, g->u64, x), x);
}

/* y is neither 0 nor, of signed ones, -1 */
static spv_id
truncated_quotient(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    bool s = ir_is_signed(d);
    const uint64_t *known = spv_constant(&g->s, y);
    if (ir_bits(d) < 64)
        return emit(g, s ? SPV_S_DIV : SPV_U_DIV, sv_register(g, d), x, y);
    if (!s)
        return sv_quotient64(g, x, y);
    spv_id zero = sv_u64(g, 0), below = emit(g, SPV_S_LESS, g->truth, x, zero);
    spv_id size = known ? sv_u64(g, (int64_t)*known < 0 ? 0 - *known : *known)
                        : negative_if(g, emit(g, SPV_S_LESS, g->truth, y, zero), y);
    spv_id q = sv_quotient64(g, negative_if(g, below, x), size);
    return negative_if(g, emit(g, SPV_S_LESS, g->truth, emit(g, SPV_XOR, g->u64, x, y), zero), q);
}

/* For every y, as ops.def says: by 0 the quotient is 0, the remainder x; by -1 the one quotient that overflows wraps. */
static spv_id
divided(gen *g, rg_dtype d, bool remainder, bool floor, spv_id x, spv_id y)
{
    bool s = ir_is_signed(d);
    spv_id type = sv_register(g, d), nil = sv_const(g, d, 0), one = sv_const(g, d, 1);
    spv_id minus = sv_const(g, d, UINT64_MAX), no = spv_truth(&g->s, false);
    bool known = spv_constant(&g->s, y) && y != nil && y != minus;
    spv_id by_zero = known ? no : sv_is(g, y, nil), by_minus = !s ? 0 : known ? no : sv_is(g, y, minus);
    spv_id safe = sv_choose(g, type, s && !known ? sv_or(g, by_zero, by_minus) : by_zero, one, y);
    spv_id q = truncated_quotient(g, d, x, safe);
    spv_id r = emit(g, SPV_I_SUB, type, x, emit(g, SPV_I_MUL, type, q, safe));
    if (floor && s) {
        spv_id differ = emit(g, SPV_S_LESS, g->truth, emit(g, SPV_XOR, type, r, y), nil);
        spv_id down = emit(g, SPV_LOGICAL_AND, g->truth, differ, emit(g, SPV_I_NOT_EQUAL, g->truth, r, nil));
        q = sv_choose(g, type, down, emit(g, SPV_I_SUB, type, q, one), q);
        r = sv_choose(g, type, down, emit(g, SPV_I_ADD, type, r, y), r);
    }
    if (remainder)
        return sv_choose(g, type, by_zero, x, s ? sv_choose(g, type, by_minus, nil, r) : r);
    q = s ? sv_choose(g, type, by_minus, emit(g, SPV_S_NEGATE, type, x), q) : q;
    return sv_choose(g, type, by_zero, nil, q);
}

static spv_id
shifted_by(gen *g, rg_op op, rg_dtype d, spv_id x, spv_id y)
{
    const uint64_t *known = spv_constant(&g->s, y), mask = ir_bits(d) - 1;
    spv_id type = sv_register(g, d), by = known ? sv_const(g, d, *known & mask) : emit(g, SPV_AND, type, y, sv_const(g, d, mask));
    uint32_t right = ir_is_signed(d) ? SPV_SHIFT_RIGHT_ARITHMETIC : SPV_SHIFT_RIGHT;
    return emit(g, op == RG_OP_SHL ? SPV_SHIFT_LEFT : right, type, x, by);
}

/* of 32 bits each: Vulkan counts in no others */
static void
halves(gen *g, rg_dtype d, spv_id x, spv_id *low, spv_id *high)
{
    bool wide = ir_bits(d) == 64;
    *low = wide ? sv_low(g, x) : bits_alone(g, d, x);
    *high = wide ? sv_low(g, emit(g, SPV_SHIFT_RIGHT, g->u64, x, sv_u32(g, 32))) : 0;
}

static spv_id
counted_bits(gen *g, rg_op op, rg_dtype d, spv_id x)
{
    spv_id low, high, n, width = sv_u32(g, ir_bits(d) < 32 ? ir_bits(d) : 32), last = sv_u32(g, ir_bits(d) - 1);
    halves(g, d, x, &low, &high);
    if (op == RG_OP_POPCOUNT) {
        n = emit(g, SPV_BIT_COUNT, g->u32, low);
        n = high ? emit(g, SPV_I_ADD, g->u32, n, emit(g, SPV_BIT_COUNT, g->u32, high)) : n;
    } else if (op == RG_OP_CLZ) { /* the highest bit of 0 has the number -1 */
        n = emit(g, SPV_I_SUB, g->u32, last, sv_glsl(g, SPV_FIND_MSB, g->u32, 1, &low));
        if (high) {
            spv_id up = emit(g, SPV_I_SUB, g->u32, sv_u32(g, 31), sv_glsl(g, SPV_FIND_MSB, g->u32, 1, &high));
            n = sv_choose(g, g->u32, sv_is(g, high, sv_u32(g, 0)), n, up);
        }
    } else {
        spv_id from = high ? high : low, zero = sv_u32(g, 0);
        n = sv_choose(g, g->u32, sv_is(g, from, zero), width, sv_glsl(g, SPV_FIND_LSB, g->u32, 1, &from));
        if (high)
            n = sv_choose(g, g->u32, sv_is(g, low, zero), emit(g, SPV_I_ADD, g->u32, n, sv_u32(g, 32)),
                          sv_glsl(g, SPV_FIND_LSB, g->u32, 1, &low));
    }
    return ir_bits(d) == 64 ? sv_high(g, n) : n;
}

static spv_id
integer_op(gen *g, rg_op op, rg_dtype d, const spv_id *a)
{
    spv_id x = a[0], y = a[1], type = sv_register(g, d);
    switch ((int)op) {
    case RG_OP_NEG:
        return narrowed(g, d, emit(g, SPV_S_NEGATE, type, x));
    case RG_OP_ABS:
        if (!ir_is_signed(d))
            return x;
        y = emit(g, SPV_S_NEGATE, type, x);
        return narrowed(g, d, sv_choose(g, type, emit(g, SPV_S_LESS, g->truth, x, sv_const(g, d, 0)), y, x));
    case RG_OP_ADD:
        return narrowed(g, d, emit(g, SPV_I_ADD, type, x, y));
    case RG_OP_SUB:
        return narrowed(g, d, emit(g, SPV_I_SUB, type, x, y));
    case RG_OP_MUL:
        return narrowed(g, d, emit(g, SPV_I_MUL, type, x, y));
    case RG_OP_DIV:
    case RG_OP_FLOORDIV:
        return narrowed(g, d, divided(g, d, false, op == RG_OP_FLOORDIV, x, y));
    case RG_OP_REM:
    case RG_OP_FLOORMOD:
        return narrowed(g, d, divided(g, d, true, op == RG_OP_FLOORMOD, x, y));
    case RG_OP_MIN:
        return sv_choose(g, type, compare_integers(g, RG_OP_LT, d, x, y), x, y);
    case RG_OP_MAX:
        return sv_choose(g, type, compare_integers(g, RG_OP_GT, d, x, y), x, y);
    case RG_OP_NOT:
        return narrowed(g, d, emit(g, SPV_NOT, type, x));
    case RG_OP_AND:
        return emit(g, SPV_AND, type, x, y);
    case RG_OP_OR:
        return emit(g, SPV_OR, type, x, y);
    case RG_OP_XOR:
        return emit(g, SPV_XOR, type, x, y);
    case RG_OP_SHL:
    case RG_OP_SHR:
        return narrowed(g, d, shifted_by(g, op, d, x, y));
    case RG_OP_POPCOUNT:
    case RG_OP_CLZ:
    case RG_OP_CTZ:
        return narrowed(g, d, counted_bits(g, op, d, x));
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return compare_integers(g, op, d, x, y);
    }
    assert(!"an op that integers have");
    return x;
}

/* one bit */
static spv_id
scalar_bool(gen *g, rg_op op, const spv_id *a)
{
    spv_id x = a[0], y = a[1], t = g->truth;
    switch ((int)op) {
    case RG_OP_NOT:
    case RG_OP_CLZ:
    case RG_OP_CTZ:
        return emit(g, SPV_LOGICAL_NOT, t, x);
    case RG_OP_AND:
    case RG_OP_MIN:
    case RG_OP_MUL:
        return emit(g, SPV_LOGICAL_AND, t, x, y);
    case RG_OP_OR:
    case RG_OP_MAX:
        return emit(g, SPV_LOGICAL_OR, t, x, y);
    case RG_OP_XOR:
    case RG_OP_NE:
    case RG_OP_ADD:
    case RG_OP_SUB:
        return emit(g, SPV_LOGICAL_NOT_EQUAL, t, x, y);
    case RG_OP_EQ:
        return emit(g, SPV_LOGICAL_EQUAL, t, x, y);
    case RG_OP_LT:
        return emit(g, SPV_LOGICAL_AND, t, sv_not(g, x), y);
    case RG_OP_LE:
        return emit(g, SPV_LOGICAL_OR, t, sv_not(g, x), y);
    case RG_OP_GT:
        return emit(g, SPV_LOGICAL_AND, t, x, sv_not(g, y));
    case RG_OP_GE:
        return emit(g, SPV_LOGICAL_OR, t, x, sv_not(g, y));
    case RG_OP_DIV:
    case RG_OP_FLOORDIV:
        return emit(g, SPV_LOGICAL_AND, t, x, y);
    case RG_OP_REM:
    case RG_OP_FLOORMOD:
        return emit(g, SPV_LOGICAL_AND, t, x, sv_not(g, y));
    }
    return x; /* what one bit stays under: shifts by 0, counts of itself */
}

/* -- casts --------------------------------------------------------------------------------------------------------- */

static bool
has_two_words(rg_dtype d)
{
    return d == RG_I64 || d == RG_U64;
}

static spv_id
resized(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    if (has_two_words(from) == has_two_words(to))
        return narrowed(g, to, v);
    if (has_two_words(from))
        return narrowed(g, to, sv_low(g, v));
    return ir_is_signed(from) ? emit(g, SPV_S_CONVERT, g->u64, v) : sv_high(g, v);
}

/* the nearest that the type has */
static spv_id
clamped(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    unsigned bits = ir_bits(to);
    bool s = ir_is_signed(to);
    uint64_t most = s ? ((uint64_t)1 << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    v = sv_scalar(g, RG_OP_MIN, from, from, (spv_id[]){v, sv_const(g, from, most)});
    if (s)
        v = sv_scalar(g, RG_OP_MAX, from, from, (spv_id[]){v, sv_const(g, from, ~most)});
    return resized(g, from, to, v);
}

/* truncated; the nearest that there is where it is out of range, 0 for what is no number. d: f32 or f64 */
static spv_id
float_to_integer(gen *g, rg_dtype d, rg_dtype to, spv_id v)
{
    unsigned bits = ir_bits(to);
    bool s = ir_is_signed(to);
    if (d == RG_F64 && !has_f64(g))
        return clamped(g, s ? RG_I64 : RG_U64, to, sv_library(g, s ? "rgx_to_signed" : "rgx_to_unsigned", 1, &v));
    spv_id type = sv_register(g, d), whole = real_op(g, SPV_TRUNC, d, v), into = sv_register(g, to);
    double high = s ? (double)((uint64_t)1 << (bits - 1)) : 2 * (double)((uint64_t)1 << (bits - 1)), low = s ? -high : 0;
    uint64_t most = s ? ((uint64_t)1 << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits), least = s ? ~most : 0;
    spv_id fits_above = compare_floats(g, RG_OP_LT, d, whole, real(g, d, high));
    spv_id fits_below = compare_floats(g, RG_OP_GE, d, whole, real(g, d, low));
    spv_id fits = emit(g, SPV_LOGICAL_AND, g->truth, fits_above, fits_below), is_number = compare_floats(g, RG_OP_EQ, d, v, v);
    spv_id safe = sv_choose(g, type, fits, whole, real(g, d, 0));
    spv_id made = emit(g, s ? SPV_F_TO_S : SPV_F_TO_U, into, safe);
    spv_id end = sv_choose(g, into, fits_below, sv_const(g, to, most), sv_const(g, to, least));
    return sv_choose(g, into, is_number, sv_choose(g, into, fits, made, end), sv_const(g, to, 0));
}

static spv_id
integer_to_float(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    bool s = ir_is_signed(from);
    if (to == RG_F64 && !has_f64(g)) {
        spv_id wide = resized(g, from, s ? RG_I64 : RG_U64, v);
        return sv_library(g, s ? "rgx_of_signed" : "rgx_of_unsigned", 1, &wide);
    }
    spv_id made = emit(g, s ? SPV_S_TO_F : SPV_U_TO_F, sv_register(g, to), v);
    return to == RG_F16 ? sv_library(g, "rgx_half", 1, &made) : made;
}

static spv_id
resized_float(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    if (to == RG_F64)
        return has_f64(g) ? emit(g, SPV_F_CONVERT, sv_register(g, to), v) : sv_library(g, "rgx_double", 1, &v);
    if (from == RG_F64 && to == RG_F16)
        v = sv_library(g, "rgx_odd_float", 1, &v);
    else if (from == RG_F64)
        v = has_f64(g) ? emit(g, SPV_F_CONVERT, g->f32, v) : sv_library(g, "rgx_single", 1, &v);
    return to == RG_F16 ? sv_library(g, "rgx_half", 1, &v) : v;
}

static spv_id
from_bool(gen *g, rg_dtype to, spv_id v)
{
    bool real_one = ir_is_float(to);
    return sv_choose(g, sv_register(g, to), v, sv_const(g, to, real_one ? ir_float_bits(to, 1) : 1), sv_const(g, to, 0));
}

spv_id
sv_cast(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    bool from_float = ir_is_float(from), to_float = ir_is_float(to);
    if (from == to)
        return v;
    if (to == RG_BOOL)
        return sv_compare(g, RG_OP_NE, from, v, sv_const(g, from, 0));
    if (from == RG_BOOL)
        return from_bool(g, to, v);
    if (from_float)
        return to_float ? resized_float(g, from, to, v) : float_to_integer(g, from == RG_F64 ? RG_F64 : RG_F32, to, v);
    return to_float ? integer_to_float(g, from, to, v) : resized(g, from, to, v);
}

/* -- bits ------------------------------------------------------------------------------------------------------------ */

static bool
is_its_bits(const gen *g, rg_dtype d)
{
    return d == RG_F64 ? !has_f64(g) : !ir_is_float(d);
}

spv_id
sv_word(gen *g, rg_dtype d, spv_id v)
{
    if (d == RG_BOOL)
        return sv_choose(g, g->u32, v, sv_u32(g, 1), sv_u32(g, 0));
    return is_its_bits(g, d) ? v : emit(g, SPV_BITCAST, d == RG_F64 ? g->u64 : g->u32, v);
}

spv_id
sv_of_word(gen *g, rg_dtype d, spv_id word)
{
    if (d == RG_BOOL)
        return emit(g, SPV_I_NOT_EQUAL, g->truth, word, sv_u32(g, 0));
    return is_its_bits(g, d) ? word : emit(g, SPV_BITCAST, sv_register(g, d), word);
}

spv_id
sv_raw(gen *g, rg_dtype d, spv_id v)
{
    if (d == RG_F16)
        return sv_library(g, "rgx_half_bits", 1, &v);
    return d == RG_BOOL || ir_is_float(d) ? sv_word(g, d, v) : bits_alone(g, d, v);
}

spv_id
sv_from_raw(gen *g, rg_dtype d, spv_id raw)
{
    if (d == RG_F16)
        return sv_library(g, "rgx_of_half", 1, &raw);
    return d == RG_BOOL || ir_is_float(d) ? sv_of_word(g, d, raw) : narrowed(g, d, raw);
}

/* -- what asks ------------------------------------------------------------------------------------------------------ */

bool
sv_is_library_op(const ir_op *op)
{
    return functions[op->code].name != NULL;
}

bool
sv_asks(gen *g, const ir_op *op)
{
    rg_dtype d = op->nresults == 1 && op->results[0]->type.kind == IR_SCALAR ? ir_dtype(op->results[0]) : RG_BOOL;
    if (!ir_is_float(d))
        return false;
    d = d == RG_F64 ? RG_F64 : RG_F32;
    if (sv_is_library_op(op)) {
        char name[48];
        snprintf(name, sizeof name, "%s%s", functions[op->code].name, d == RG_F32 ? "f" : "");
        return sv_library_asks(g, name);
    }
    uint64_t bits;
    switch ((int)op->code) {
    case RG_OP_DIV:
    case RG_OP_FLOORDIV:
    case RG_OP_FLOORMOD:
        return is_near(g, d) && !(ir_is_const(op->args[1], &bits) && exact_reciprocal(ir_dtype(op->args[1]), bits));
    case RG_OP_SQRT:
    case RG_OP_RSQRT:
        return is_near(g, d);
    }
    return false;
}

/* -- all together -------------------------------------------------------------------------------------------------- */

spv_id
sv_scalar(gen *g, rg_op op, rg_dtype from, rg_dtype to, const spv_id *a)
{
    if (op == RG_OP_CAST)
        return sv_cast(g, from, to, a[0]);
    if (op == RG_OP_BITCAST)
        return from == to ? a[0] : sv_from_raw(g, to, sv_raw(g, from, a[0]));
    if (op == RG_OP_SELECT)
        return sv_choose(g, sv_register(g, to), a[0], a[1], a[2]);
    if (from == RG_BOOL)
        return scalar_bool(g, op, a);
    if (!ir_is_float(from))
        return integer_op(g, op, from, a);
    spv_id r = float_op(g, op, from == RG_F64 ? RG_F64 : RG_F32, a);
    return to == RG_F16 ? sv_library(g, "rgx_half", 1, &r) : r;
}
