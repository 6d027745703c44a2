/* Values of scalar ops on constants, from the value columns of ops.def.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The table is expanded once for each class of type: double, float (f16 too, which is rounded
 * after), int64_t for signed and uint64_t for unsigned integers and bool. */
#include "ir/ir.h"
#include "math/rgm.h"

#include <math.h>

/* -- helpers that the value columns name ------------------------------------------------------ */

static uint64_t
low_bits(unsigned bits)
{
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

static uint64_t
rg_popcount(uint64_t x, unsigned bits)
{
    return (uint64_t)__builtin_popcountll(x & low_bits(bits));
}

static uint64_t
rg_clz(uint64_t x, unsigned bits)
{
    x &= low_bits(bits);
    return x ? (uint64_t)__builtin_clzll(x) - (64 - bits) : bits;
}

static uint64_t
rg_ctz(uint64_t x, unsigned bits)
{
    x &= low_bits(bits);
    return x ? (uint64_t)__builtin_ctzll(x) : bits;
}

static uint64_t
rg_floordiv(uint64_t x, uint64_t y, bool is_signed)
{
    if (y == 0)
        return 0;
    if (!is_signed)
        return x / y;
    int64_t a = (int64_t)x, b = (int64_t)y;
    if (b == -1)
        return 0 - x;
    return (uint64_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

static uint64_t
rg_floormod(uint64_t x, uint64_t y, bool is_signed)
{
    return y == 0 ? x : x - rg_floordiv(x, y, is_signed) * y;
}

static double
rg_fraction(double x)
{
    int exponent;
    return frexp(x, &exponent);
}

/* 0 where frexp leaves it open */
static int
rg_exponent(double x)
{
    int exponent = 0;
    if (isfinite(x))
        frexp(x, &exponent);
    return exponent;
}

/* -- the table, per class --------------------------------------------------------------------- */

#define NO (known = false, 0)

#define M(name) name
#define L(name) rgm_##name
static bool
eval_f64(rg_op op, double x, double y, double z, int n, double *r)
{
    bool known = true;
    switch (op) {
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc)                            \
    case RG_OP_##NAME:                                                                             \
        *r = (fvalue);                                                                             \
        return known;
#include "retrograd/ops.def"
    case RG_OP_COUNT:
        break;
    }
    return false;
}
#undef M
#undef L

#define M(name) name##f
#define L(name) rgm_##name##f
static bool
eval_f32(rg_op op, float x, float y, float z, int n, float *r)
{
    bool known = true;
    switch (op) {
#undef RG_OP
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc)                            \
    case RG_OP_##NAME:                                                                             \
        *r = (float)(fvalue);                                                                      \
        return known;
#include "retrograd/ops.def"
    case RG_OP_COUNT:
        break;
    }
    return false;
}
#undef M
#undef L
#undef RG_OP

#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc)                            \
    case RG_OP_##NAME:                                                                             \
        *r = (uint64_t)(ivalue);                                                                   \
        return known;

#define SIGNED true
static bool
eval_signed(rg_op op, unsigned BITS, int64_t x, int64_t y, uint64_t *r)
{
    bool known = true;
    uint64_t X = (uint64_t)x, Y = (uint64_t)y;
    switch (op) {
#include "retrograd/ops.def"
    case RG_OP_COUNT:
        break;
    }
    return false;
}
#undef SIGNED

#define SIGNED false
static bool
eval_unsigned(rg_op op, unsigned BITS, uint64_t x, uint64_t y, uint64_t *r)
{
    bool known = true;
    uint64_t X = x, Y = y;
    switch (op) {
#include "retrograd/ops.def"
    case RG_OP_COUNT:
        break;
    }
    return false;
}
#undef SIGNED
#undef RG_OP

/* -- casts ------------------------------------------------------------------------------------ */

/* truncates; out of range saturates; NaN gives 0 */
static uint64_t
int_from_float(rg_dtype to, double v)
{
    unsigned bits = ir_bits(to);
    bool is_signed = ir_is_signed(to);
    double above = ldexp(1, (int)bits - is_signed), below = is_signed ? -above : 0;
    if (v != v)
        return 0;
    if (v >= above)
        return is_signed ? low_bits(bits - 1) : low_bits(bits);
    if (v <= below)
        return is_signed ? ~low_bits(bits - 1) : 0;
    return is_signed ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static uint64_t
float_from_int(rg_dtype from, rg_dtype to, uint64_t bits)
{
    if (to == RG_F32) { /* in one rounding */
        float f = ir_is_signed(from) ? (float)(int64_t)bits : (float)bits;
        uint32_t image;
        memcpy(&image, &f, 4);
        return image;
    }
    return ir_float_bits(to, ir_is_signed(from) ? (double)(int64_t)bits : (double)bits);
}

static uint64_t
converted_bits(rg_dtype from, rg_dtype to, uint64_t bits)
{
    bool to_float = ir_is_float(to);
    if (ir_is_float(from)) {
        double v = ir_bits_float(from, bits);
        if (from == to)
            return bits;
        return to_float ? ir_float_bits(to, v) : to == RG_BOOL ? v != 0 : int_from_float(to, v);
    }
    bits = ir_wrap(from, bits);
    return to_float ? float_from_int(from, to, bits) : to == RG_BOOL ? bits != 0 : ir_wrap(to, bits);
}

/* -- all together ----------------------------------------------------------------------------- */

static float
float_of_bits(rg_dtype d, uint64_t bits)
{
    if (d == RG_F16)
        return float_of_half((uint16_t)bits);
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* a float class's value as bits of the result, which a comparison or an exponent has not of its own
 */
static uint64_t
result_bits(rg_dtype result, double v)
{
    return ir_is_float(result) ? ir_float_bits(result, v) : ir_wrap(result, (uint64_t)(int64_t)v);
}

static bool
eval_float(rg_op op, rg_dtype d, rg_dtype result, uint64_t x, uint64_t y, uint64_t z, uint64_t *out)
{
    int n = (int)(int32_t)y;
    if (d == RG_F64) {
        double r = 0;
        if (!eval_f64(op, ir_bits_float(d, x), ir_bits_float(d, y), ir_bits_float(d, z), n, &r))
            return false;
        *out = result_bits(result, r);
        return true;
    }
    float r = 0;
    if (!eval_f32(op, float_of_bits(d, x), float_of_bits(d, y), float_of_bits(d, z), n, &r))
        return false;
    if (result == RG_F16) {
        *out = half_of_float(r);
    } else if (result == RG_F32) {
        uint32_t image;
        memcpy(&image, &r, 4);
        *out = image;
    } else {
        *out = result_bits(result, (double)r);
    }
    return true;
}

bool
ir_eval(rg_op op, rg_dtype operand, rg_dtype result, uint64_t x, uint64_t y, uint64_t z,
        uint64_t *out)
{
    switch (op) {
    case RG_OP_CAST:
        *out = converted_bits(operand, result, x);
        return true;
    case RG_OP_BITCAST:
        *out = ir_wrap(result, x);
        return true;
    case RG_OP_SELECT:
        *out = ir_wrap(result, x & 1 ? y : z);
        return true;
    default:
        break;
    }
    if (ir_is_float(operand))
        return eval_float(op, operand, result, x, y, z, out);
    uint64_t r = 0;
    x = ir_wrap(operand, x);
    y = ir_wrap(operand, y);
    bool known = ir_is_signed(operand)
                     ? eval_signed(op, ir_bits(operand), (int64_t)x, (int64_t)y, &r)
                     : eval_unsigned(op, ir_bits(operand), x, y, &r);
    *out = ir_wrap(result, r);
    return known;
}
