/* Scalar ops, with the values that the columns of ops.def give them. SPDX-License-Identifier: Apache-2.0
 *
 * Vulkan lets quotients, roots and even fma differ from what IEEE 754 asks for. Where a device was not seen to do it right
 * they are functions of the library (exact_of.h), in integers, or quotients and roots by fma where that is right; sums, differences, products and conversions are rounded correctly
 * everywhere. f16 is computed in f32 and rounded after each op. */
#include "codegen/spirv/gen.h"

enum { NO_CONTRACTION = 42 };

static bool
device_has(const gen *g, spirv_features what)
{
    return g->options->features & what;
}

spv_id
sv_glsl(gen *g, uint32_t number, spv_id type, uint32_t n, const spv_id *args)
{
    uint32_t words[5] = {g->s.glsl, number};
    for (uint32_t i = 0; i < n; i++)
        words[2 + i] = args[i];
    spv_id r = spv_op(&g->s, SPV_EXT, type, 2 + n, words);
    if (number == SPV_FMA || number == SPV_SQRT)
        spv_decorate(&g->s, r, NO_CONTRACTION);
    return r;
}

spv_id
sv_arithmetic(gen *g, uint32_t opcode, spv_id type, spv_id x, spv_id y)
{
    spv_id r = emit(g, opcode, type, x, y);
    spv_decorate(&g->s, r, NO_CONTRACTION);
    return r;
}

/* a function of the library of f32 or f64 */
static spv_id
call_float(gen *g, const char *name, bool single, uint32_t n, const spv_id *args)
{
    char full[48];
    snprintf(full, sizeof full, "%s%s", name, single ? "f" : "");
    return sv_library(g, full, n, args);
}

/* -- floats: d is f32 or f64 --------------------------------------------------------------------------------------- */

static spv_id
real(gen *g, rg_dtype d, double v)
{
    return sv_const(g, d, ir_float_bits(d, v));
}

/* by the device, if it rounds correctly; by its approximation and fma; in integers */
static spv_id
quotient(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    bool single = d == RG_F32;
    if (device_has(g, single ? SPIRV_EXACT32 : SPIRV_EXACT64))
        return sv_arithmetic(g, SPV_F_DIV, sv_register(g, d), x, y);
    if (!device_has(g, single ? SPIRV_FUSED32 : SPIRV_FUSED64))
        return call_float(g, "rgx_quotient", single, 2, (spv_id[]){x, y});
    spv_id about = sv_arithmetic(g, SPV_F_DIV, sv_register(g, d), real(g, d, 1), y);
    return call_float(g, "rgx_near_quotient", single, 3, (spv_id[]){x, y, about});
}

static spv_id
square_root(gen *g, rg_dtype d, spv_id x)
{
    bool single = d == RG_F32;
    if (device_has(g, single ? SPIRV_EXACT32 : SPIRV_EXACT64))
        return sv_glsl(g, SPV_SQRT, sv_register(g, d), 1, &x);
    if (!device_has(g, single ? SPIRV_FUSED32 : SPIRV_FUSED64))
        return call_float(g, "rgx_root", single, 1, &x);
    return call_float(g, "rgx_near_root", single, 2, (spv_id[]){x, sv_glsl(g, SPV_INVERSE_SQRT, sv_register(g, d), 1, &x)});
}

static spv_id
fused_product(gen *g, rg_dtype d, const spv_id *a)
{
    bool single = d == RG_F32;
    if (device_has(g, single ? SPIRV_FUSED32 : SPIRV_FUSED64))
        return sv_glsl(g, SPV_FMA, sv_register(g, d), 3, a);
    return call_float(g, "rgx_fused", single, 3, a);
}

static spv_id
floored(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    spv_id q = quotient(g, d, x, y);
    return sv_glsl(g, SPV_FLOOR, sv_register(g, d), 1, &q);
}

/* the magnitude of one with the sign of the other, by bits */
static spv_id
with_sign(gen *g, rg_dtype d, spv_id x, spv_id y)
{
    spv_id type = d == RG_F64 ? g->u64 : g->u32, all = sv_const(g, d == RG_F64 ? RG_U64 : RG_U32, d == RG_F64 ? INT64_MAX : INT32_MAX);
    spv_id size = emit(g, SPV_AND, type, emit(g, SPV_BITCAST, type, x), all);
    spv_id sign = emit(g, SPV_AND, type, emit(g, SPV_BITCAST, type, y), emit(g, SPV_NOT, type, all));
    return emit(g, SPV_BITCAST, sv_register(g, d), emit(g, SPV_OR, type, size, sign));
}

/* halves away from 0; a number without a fraction stays what it is */
static spv_id
rounded_away(gen *g, rg_dtype d, spv_id x)
{
    spv_id type = sv_register(g, d), whole = sv_glsl(g, SPV_TRUNC, type, 1, &x), rest = sv_arithmetic(g, SPV_F_SUB, type, x, whole);
    spv_id size = sv_glsl(g, SPV_F_ABS, type, 1, &rest), up = emit(g, SPV_F_GREATER_EQUAL, g->truth, size, real(g, d, 0.5));
    spv_id next = sv_arithmetic(g, SPV_F_ADD, type, whole, with_sign(g, d, real(g, d, 1), x));
    return sv_choose(g, type, up, next, whole);
}

/* x where strictly smaller (larger) or y is NaN, else y */
static spv_id
extremum(gen *g, uint32_t better, spv_id type, spv_id x, spv_id y)
{
    spv_id c = emit(g, better, g->truth, x, y), none = emit(g, SPV_F_NOT_EQUAL, g->truth, y, y);
    return sv_choose(g, type, emit(g, SPV_LOGICAL_OR, g->truth, c, none), x, y);
}

static spv_id
compare_floats(gen *g, rg_op op, spv_id x, spv_id y)
{
    uint32_t code = op == RG_OP_EQ   ? SPV_F_EQUAL
                    : op == RG_OP_NE ? SPV_F_NOT_EQUAL
                    : op == RG_OP_LT ? SPV_F_LESS
                    : op == RG_OP_LE ? SPV_F_LESS_EQUAL
                    : op == RG_OP_GT ? SPV_F_GREATER
                                     : SPV_F_GREATER_EQUAL;
    return emit(g, code, g->truth, x, y);
}

static spv_id
exponent_of(gen *g, rg_dtype d, spv_id x)
{
    return call_float(g, "rgx_exponent", d == RG_F32, 1, &x);
}

static spv_id
float_op(gen *g, rg_op op, rg_dtype d, const spv_id *a)
{
    bool single = d == RG_F32;
    spv_id type = sv_register(g, d), x = a[0], y = a[1];
    switch ((int)op) {
    case RG_OP_NEG:
        return emit(g, SPV_F_NEGATE, type, x);
    case RG_OP_ABS:
        return sv_glsl(g, SPV_F_ABS, type, 1, a);
    case RG_OP_ADD:
        return sv_arithmetic(g, SPV_F_ADD, type, x, y);
    case RG_OP_SUB:
        return sv_arithmetic(g, SPV_F_SUB, type, x, y);
    case RG_OP_MUL:
        return sv_arithmetic(g, SPV_F_MUL, type, x, y);
    case RG_OP_DIV:
        return quotient(g, d, x, y);
    case RG_OP_FLOORDIV:
        return floored(g, d, x, y);
    case RG_OP_FLOORMOD:
        return sv_arithmetic(g, SPV_F_SUB, type, x, sv_arithmetic(g, SPV_F_MUL, type, floored(g, d, x, y), y));
    case RG_OP_MIN:
        return extremum(g, SPV_F_LESS, type, x, y);
    case RG_OP_MAX:
        return extremum(g, SPV_F_GREATER, type, x, y);
    case RG_OP_FMA:
        return fused_product(g, d, a);
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return compare_floats(g, op, x, y);
    case RG_OP_SQRT:
        return square_root(g, d, x);
    case RG_OP_RSQRT:
        return quotient(g, d, real(g, d, 1), square_root(g, d, x));
    case RG_OP_FLOOR:
        return sv_glsl(g, SPV_FLOOR, type, 1, a);
    case RG_OP_CEIL:
        return sv_glsl(g, SPV_CEIL, type, 1, a);
    case RG_OP_ROUND:
        return rounded_away(g, d, x);
    case RG_OP_RINT:
        return sv_glsl(g, SPV_ROUND_EVEN, type, 1, a);
    case RG_OP_TRUNC:
        return sv_glsl(g, SPV_TRUNC, type, 1, a);
    case RG_OP_ZERO_GUARD:
        return sv_choose(g, type, emit(g, SPV_F_EQUAL, g->truth, x, real(g, d, 0)), real(g, d, 0), y);
    case RG_OP_COPYSIGN:
        return with_sign(g, d, x, y);
    case RG_OP_LDEXP:
        return call_float(g, "rgx_ldexp", single, 2, a);
    case RG_OP_FRACTION:
        return call_float(g, "rgx_fraction", single, 1, a);
    case RG_OP_EXPONENT:
        return exponent_of(g, d, x);
#define RGM1(NAME, name)                                                                                                         \
    case RG_OP_##NAME:                                                                                                           \
        return call_float(g, "rgm_" #name, single, 1, a);
#define RGM2(NAME, name)                                                                                                         \
    case RG_OP_##NAME:                                                                                                           \
        return call_float(g, "rgm_" #name, single, 2, a);
#define RGM_TWO(NAME, name)
#include "math/functions.def"
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
    return ir_is_float(d) ? compare_floats(g, op, x, y) : compare_integers(g, op, d, x, y);
}

/* For every y, as ops.def says: by 0 the quotient is 0, the remainder x; by -1 the one quotient that overflows wraps. */
static spv_id
divided(gen *g, rg_dtype d, bool remainder, bool floor, spv_id x, spv_id y)
{
    bool s = ir_is_signed(d);
    spv_id type = sv_register(g, d), nil = sv_const(g, d, 0), one = sv_const(g, d, 1);
    spv_id by_zero = sv_is(g, y, nil), by_minus = s ? sv_is(g, y, sv_const(g, d, UINT64_MAX)) : 0;
    spv_id safe = sv_choose(g, type, s ? emit(g, SPV_LOGICAL_OR, g->truth, by_zero, by_minus) : by_zero, one, y);
    spv_id q = emit(g, s ? SPV_S_DIV : SPV_U_DIV, type, x, safe);
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
    spv_id type = sv_register(g, d), by = emit(g, SPV_AND, type, y, sv_const(g, d, ir_bits(d) - 1));
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

/* truncated; the nearest that there is where it is out of range, 0 for what is no number. d: f32 or f64 */
static spv_id
float_to_integer(gen *g, rg_dtype d, rg_dtype to, spv_id v)
{
    unsigned bits = ir_bits(to);
    bool s = ir_is_signed(to);
    spv_id type = sv_register(g, d), whole = sv_glsl(g, SPV_TRUNC, type, 1, &v), into = sv_register(g, to);
    double high = s ? (double)((uint64_t)1 << (bits - 1)) : 2 * (double)((uint64_t)1 << (bits - 1)), low = s ? -high : 0;
    uint64_t most = s ? ((uint64_t)1 << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits), least = s ? ~most : 0;
    spv_id fits_above = emit(g, SPV_F_LESS, g->truth, whole, real(g, d, high));
    spv_id fits_below = emit(g, SPV_F_GREATER_EQUAL, g->truth, whole, real(g, d, low));
    spv_id fits = emit(g, SPV_LOGICAL_AND, g->truth, fits_above, fits_below), is_number = emit(g, SPV_F_EQUAL, g->truth, v, v);
    spv_id safe = sv_choose(g, type, fits, whole, real(g, d, 0));
    spv_id made = emit(g, s ? SPV_F_TO_S : SPV_F_TO_U, into, safe);
    spv_id end = sv_choose(g, into, fits_below, sv_const(g, to, most), sv_const(g, to, least));
    return sv_choose(g, into, is_number, sv_choose(g, into, fits, made, end), sv_const(g, to, 0));
}

static spv_id
integer_to_float(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    spv_id made = emit(g, ir_is_signed(from) ? SPV_S_TO_F : SPV_U_TO_F, sv_register(g, to), v);
    return to == RG_F16 ? sv_library(g, "rgx_half", 1, &made) : made;
}

static spv_id
resized_float(gen *g, rg_dtype from, rg_dtype to, spv_id v)
{
    if (to == RG_F64)
        return emit(g, SPV_F_CONVERT, sv_register(g, RG_F64), v);
    if (from == RG_F64)
        v = to == RG_F16 ? sv_library(g, "rgx_odd_float", 1, &v) : emit(g, SPV_F_CONVERT, g->f32, v);
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
        return emit(g, from_float ? SPV_F_NOT_EQUAL : SPV_I_NOT_EQUAL, g->truth, v, sv_const(g, from, 0));
    if (from == RG_BOOL)
        return from_bool(g, to, v);
    if (from_float)
        return to_float ? resized_float(g, from, to, v) : float_to_integer(g, from == RG_F64 ? RG_F64 : RG_F32, to, v);
    return to_float ? integer_to_float(g, from, to, v) : resized(g, from, to, v);
}

/* -- bits as they lie in memory ------------------------------------------------------------------------------------- */

spv_id
sv_raw(gen *g, rg_dtype d, spv_id v)
{
    if (d == RG_BOOL)
        return sv_choose(g, g->u32, v, sv_u32(g, 1), sv_u32(g, 0));
    if (d == RG_F16)
        return sv_library(g, "rgx_half_bits", 1, &v);
    if (ir_is_float(d))
        return emit(g, SPV_BITCAST, d == RG_F64 ? g->u64 : g->u32, v);
    return bits_alone(g, d, v);
}

spv_id
sv_from_raw(gen *g, rg_dtype d, spv_id raw)
{
    if (d == RG_BOOL)
        return emit(g, SPV_I_NOT_EQUAL, g->truth, raw, sv_u32(g, 0));
    if (d == RG_F16)
        return sv_library(g, "rgx_of_half", 1, &raw);
    if (ir_is_float(d))
        return emit(g, SPV_BITCAST, sv_register(g, d), raw);
    return narrowed(g, d, raw);
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
