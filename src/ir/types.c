/* Types and the bits of their values. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

static const struct {
    const char *name;
    uint8_t bits, bytes;
    bool is_int, is_signed, is_float;
} dtypes[RG_DTYPE_COUNT] = {
    [RG_NONE] = {"none", 0, 0, false, false, false},
    [RG_BOOL] = {"bool", 1, 1, false, false, false},
    [RG_I8] = {"i8", 8, 1, true, true, false},
    [RG_U8] = {"u8", 8, 1, true, false, false},
    [RG_I16] = {"i16", 16, 2, true, true, false},
    [RG_U16] = {"u16", 16, 2, true, false, false},
    [RG_I32] = {"i32", 32, 4, true, true, false},
    [RG_U32] = {"u32", 32, 4, true, false, false},
    [RG_I64] = {"i64", 64, 8, true, true, false},
    [RG_U64] = {"u64", 64, 8, true, false, false},
    [RG_F16] = {"f16", 16, 2, false, false, true},
    [RG_F32] = {"f32", 32, 4, false, false, true},
    [RG_F64] = {"f64", 64, 8, false, false, true},
};

bool
ir_type_eq(ir_type a, ir_type b)
{
    return a.kind == b.kind && a.dtype == b.dtype && a.rank == b.rank && a.lanes == b.lanes &&
           a.length == b.length;
}

bool
ir_is_float(rg_dtype d)
{
    return d < RG_DTYPE_COUNT && dtypes[d].is_float;
}

bool
ir_is_int(rg_dtype d)
{
    return d < RG_DTYPE_COUNT && dtypes[d].is_int;
}

bool
ir_is_signed(rg_dtype d)
{
    return d < RG_DTYPE_COUNT && dtypes[d].is_signed;
}

unsigned
ir_bits(rg_dtype d)
{
    return d < RG_DTYPE_COUNT ? dtypes[d].bits : 0;
}

unsigned
ir_bytes(rg_dtype d)
{
    return d < RG_DTYPE_COUNT ? dtypes[d].bytes : 0;
}

const char *
ir_dtype_name(rg_dtype d)
{
    return d < RG_DTYPE_COUNT ? dtypes[d].name : "none";
}

rg_dtype
ir_dtype_find(rg_str name)
{
    for (int d = RG_BOOL; d < RG_DTYPE_COUNT; d++)
        if (str_eq(name, rg_str_of(dtypes[d].name)))
            return (rg_dtype)d;
    return RG_NONE;
}

rg_dtype
ir_adjoint_dtype(rg_dtype d)
{
    return d == RG_F16 ? RG_F32 : ir_is_float(d) ? d : RG_NONE;
}

uint64_t
ir_wrap(rg_dtype d, uint64_t bits)
{
    unsigned width = ir_bits(d);
    if (width >= 64)
        return bits;
    if (width == 0)
        return 0;
    uint64_t mask = ((uint64_t)1 << width) - 1, sign = (uint64_t)1 << (width - 1) & mask;
    bits &= mask;
    return ir_is_signed(d) ? (bits ^ sign) - sign : bits;
}

/* A double rounded to odd in float: rounding that once more, to 11 bits, then gives the nearest. */
static float
odd_float(double v)
{
    float f = (float)v;
    if ((double)f == v || v != v)
        return f;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 1) == 0) {
        bool away = f > 0 ? (double)f < v : (double)f > v;
        bits = f == 0 ? (v < 0 ? 0x80000001u : 1u) : away ? bits + 1 : bits - 1;
        memcpy(&f, &bits, 4);
    }
    return f;
}

uint64_t
ir_float_bits(rg_dtype d, double v)
{
    uint64_t bits = 0;
    if (d == RG_F64) {
        memcpy(&bits, &v, 8);
    } else if (d == RG_F32) {
        float f = (float)v;
        memcpy(&bits, &f, 4);
    } else if (d == RG_F16) {
        bits = half_of_float(odd_float(v));
    }
    return bits;
}

double
ir_bits_float(rg_dtype d, uint64_t bits)
{
    double v = 0;
    if (d == RG_F64) {
        memcpy(&v, &bits, 8);
    } else if (d == RG_F32) {
        float f;
        memcpy(&f, &bits, 4);
        v = (double)f;
    } else if (d == RG_F16) {
        v = (double)float_of_half((uint16_t)bits);
    }
    return v;
}
