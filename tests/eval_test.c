/* Values of scalar ops and literals: the corners that C leaves open or that wrap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "ir/text/text.h"

#include <math.h>

static uint64_t
f64(double v)
{
    return ir_float_bits(RG_F64, v);
}

static uint64_t
f32(double v)
{
    return ir_float_bits(RG_F32, v);
}

static uint64_t
f16(double v)
{
    return ir_float_bits(RG_F16, v);
}

static void
expect(int line, rg_op op, rg_dtype from, rg_dtype to, uint64_t x, uint64_t y, uint64_t want)
{
    uint64_t got = 0;
    bool known = ir_eval(op, from, to, x, y, 0, &got);
    CHECK(known && got == want, "line %d: %s %s: %llx, not %llx", line, ir_ops[op].text,
          ir_dtype_name(from), (unsigned long long)got, (unsigned long long)want);
}

#define INT(OP, type, x, y, want)                                                                  \
    expect(__LINE__, RG_OP_##OP, RG_##type, RG_##type, (uint64_t)(x), (uint64_t)(y),               \
           (uint64_t)(want))
#define CAST(from, to, x, want)                                                                    \
    expect(__LINE__, RG_OP_CAST, RG_##from, RG_##to, (uint64_t)(x), 0, (uint64_t)(want))

static void
test_integers(void)
{
    INT(ADD, I32, INT32_MAX, 1, INT32_MIN);
    INT(ADD, I64, INT64_MAX, 1, INT64_MIN);
    INT(SUB, U8, 0, 1, 255);
    INT(MUL, I64, INT64_MAX, INT64_MAX, 1);
    INT(MUL, I16, 256, 255, -256);
    INT(NEG, I8, -128, 0, -128);
    INT(NEG, I64, INT64_MIN, 0, INT64_MIN);
    INT(ABS, I32, INT32_MIN, 0, INT32_MIN);
    INT(ABS, I32, -5, 0, 5);
    INT(ABS, U32, 0xffffffff, 0, 0xffffffff);
    INT(DIV, I32, -7, 2, -3);
    INT(DIV, I32, 7, 0, 0);
    INT(DIV, I64, INT64_MIN, -1, INT64_MIN);
    INT(DIV, I8, -128, -1, -128);
    INT(DIV, U64, UINT64_MAX, 2, UINT64_MAX / 2);
    INT(REM, I32, -7, 2, -1);
    INT(REM, I32, 7, 0, 7);
    INT(REM, I64, INT64_MIN, -1, 0);
    INT(REM, U32, 7, 4, 3);
    INT(FLOORDIV, I32, -7, 2, -4);
    INT(FLOORDIV, I32, 7, -2, -4);
    INT(FLOORDIV, I64, INT64_MIN, -1, INT64_MIN);
    INT(FLOORDIV, I32, 5, 0, 0);
    INT(FLOORDIV, U32, 0xfffffff9, 2, 0x7ffffffc);
    INT(FLOORMOD, I32, -7, 2, 1);
    INT(FLOORMOD, I32, 7, -2, -1);
    INT(FLOORMOD, I32, 5, 0, 5);
    INT(MIN, I32, -1, 1, -1);
    INT(MIN, U32, 0xffffffff, 1, 1);
    INT(MAX, U64, UINT64_MAX, 1, UINT64_MAX);
    INT(NOT, BOOL, 1, 0, 0);
    INT(NOT, U16, 1, 0, 0xfffe);
    INT(NOT, I16, 1, 0, -2);
    INT(SHL, I32, 1, 31, INT32_MIN);
    INT(SHL, I32, 1, 33, 2);
    INT(SHL, I64, -1, 63, INT64_MIN);
    INT(SHR, I32, -8, 1, -4);
    INT(SHR, U8, 0x80, 9, 0x40);
    INT(SHR, I64, -1, -1, -1);
    INT(POPCOUNT, I8, -1, 0, 8);
    INT(CLZ, I16, 1, 0, 15);
    INT(CLZ, U64, 0, 0, 64);
    INT(CLZ, I32, -1, 0, 0);
    INT(CTZ, I8, 0, 0, 8);
    INT(CTZ, U32, 12, 0, 2);
    expect(__LINE__, RG_OP_LT, RG_I32, RG_BOOL, (uint64_t)-1, 1, 1);
    expect(__LINE__, RG_OP_LT, RG_U32, RG_BOOL, 0xffffffff, 1, 0);
}

static void
test_casts(void)
{
    CAST(F64, I32, f64(-3.9), -3);
    CAST(F64, I32, f64(1e10), INT32_MAX);
    CAST(F64, I32, f64(-1e10), INT32_MIN);
    CAST(F64, I32, f64(NAN), 0);
    CAST(F64, I64, f64(0x1p63), INT64_MAX);
    CAST(F64, I64, f64(-INFINITY), INT64_MIN);
    CAST(F64, U64, f64(0x1.8p63), 0xc000000000000000u);
    CAST(F64, U64, f64(INFINITY), UINT64_MAX);
    CAST(F32, U8, f32(-0.5), 0);
    CAST(F32, U8, f32(-2), 0);
    CAST(F32, U8, f32(256), 255);
    CAST(F32, I8, f32(-128.9), -128);
    CAST(F64, BOOL, f64(NAN), 1);
    CAST(F64, BOOL, f64(-0.0), 0);
    CAST(F32, BOOL, f32(0x1p-149), 1);
    CAST(I32, BOOL, 2, 1);
    CAST(I64, I8, 0x180, -128);
    CAST(I8, U32, -1, 0xffffffff);
    CAST(BOOL, F64, 1, f64(1));
    CAST(I64, F32, 0x4000004000000001, 0x5e800001); /* rounded once, not by way of double */
    CAST(U64, F64, UINT64_MAX, f64(0x1p64));
    CAST(I32, F16, 65520, f16(INFINITY));
    CAST(F64, F16, f64(1 + 0x1p-11 + 0x1p-40), f16(1 + 0x1p-10));
    CAST(F64, F32, f64(1e300), f32(INFINITY));
    expect(__LINE__, RG_OP_BITCAST, RG_F32, RG_I32, f32(-1), 0, (uint64_t)(int32_t)0xbf800000);
    expect(__LINE__, RG_OP_BITCAST, RG_I32, RG_F32, (uint64_t)(int32_t)0xbf800000, 0, f32(-1));
}

static void
test_floats(void)
{
    INT(MIN, F64, f64(NAN), f64(1), f64(1));
    INT(MIN, F64, f64(2), f64(NAN), f64(2));
    INT(MAX, F32, f32(0.0), f32(-0.0), f32(-0.0));
    INT(ADD, F16, f16(2048), f16(1), f16(2048));
    INT(MUL, F16, f16(300), f16(300), f16(INFINITY));
    INT(DIV, F32, f32(1), f32(0), f32(INFINITY));
    INT(FLOORMOD, F64, f64(-7), f64(2), f64(1));
    INT(REM, F64, f64(-7), f64(2), f64(-1));
    INT(SQRT, F32, f32(2), 0, 0x3fb504f3);
    INT(LDEXP, F32, f32(3), -1, f32(1.5));
    INT(LDEXP, F64, f64(3), 4, f64(48));
    INT(FRACTION, F64, f64(-48), 0, f64(-0.75));
    expect(__LINE__, RG_OP_EXPONENT, RG_F64, RG_I32, f64(-48), 0, 6);
    expect(__LINE__, RG_OP_EXPONENT, RG_F32, RG_I32, f32(0x1p-149), 0, (uint64_t)-148);
    expect(__LINE__, RG_OP_EXPONENT, RG_F64, RG_I32, f64(INFINITY), 0, 0);
    expect(__LINE__, RG_OP_NE, RG_F64, RG_BOOL, f64(NAN), f64(NAN), 1);
    expect(__LINE__, RG_OP_LE, RG_F16, RG_BOOL, f16(1), f16(2), 1);
    uint64_t got;
    CHECK(ir_eval(RG_OP_FMA, RG_F32, RG_F32, f32(3), f32(4), f32(5), &got) && got == f32(17),
          "fma");
    CHECK(ir_eval(RG_OP_SELECT, RG_BOOL, RG_F64, 1, 7, 8, &got) && got == 7, "select");
    CHECK(ir_eval(RG_OP_SELECT, RG_BOOL, RG_F64, 0, 7, 8, &got) && got == 8, "select");
    CHECK(!ir_eval(RG_OP_LOAD, RG_F64, RG_F64, 0, 0, 0, &got), "no scalar op");
    CHECK(!ir_eval(RG_OP_SIN, RG_I32, RG_I32, 0, 0, 0, &got), "no op of integers");
    CHECK(!ir_eval(RG_OP_AND, RG_F64, RG_F64, 0, 0, 0, &got), "no op of floats");
}

/* every op of a scalar form has a value for every type that the form takes */
static void
test_all(void)
{
    for (int op = 0; op < RG_OP_COUNT; op++) {
        for (int d = RG_BOOL; d < RG_DTYPE_COUNT; d++) {
            ir_type t = ir_scalar((rg_dtype)d), args[3] = {t, t, t}, r = t;
            uint32_t n = 0;
            args[0] = ir_ops[op].form == IR_SELECT ? ir_scalar(RG_BOOL) : t;
            args[1] = ir_ops[op].form == IR_LDEXP ? ir_scalar(RG_I32) : t;
            while (n <= 3 && !ir_form_check((rg_op)op, n, args, &r))
                n++;
            uint64_t bits;
            for (uint64_t x = 0; n <= 3 && x < 4; x++)
                CHECK(ir_eval((rg_op)op, (rg_dtype)args[0].dtype, (rg_dtype)r.dtype, x, 3 - x, x,
                              &bits) &&
                          ir_wrap((rg_dtype)r.dtype, bits) == bits,
                      "%s of %s", ir_ops[op].text, ir_dtype_name((rg_dtype)d));
        }
    }
}

static void
test_literals(void)
{
    uint64_t state = 1;
    str s = {0};
    for (int d = RG_BOOL; d < RG_DTYPE_COUNT; d++) {
        for (int i = 0; i < 3000; i++) {
            state = hash_u64(1, state);
            uint64_t bits = ir_wrap((rg_dtype)d, i % 3 ? state : state >> (state & 63)), back = 0;
            s.len = 0;
            ir_print_literal(&s, (rg_dtype)d, bits);
            CHECK(ir_parse_literal(str_view(&s), (rg_dtype)d, &back) && back == bits, "%s", s.ptr);
        }
    }
    str_free(&s);
    static const struct {
        rg_dtype d;
        const char *text;
    } wrong[] = {{RG_I8, "128"},    {RG_U8, "-1"},     {RG_I64, "9223372036854775808"},
                 {RG_I32, "1.0"},   {RG_F32, "1e400"}, {RG_F64, "nan:0x0"},
                 {RG_F64, "infix"}, {RG_F64, "1e"},    {RG_F64, "0x"},
                 {RG_F64, ""},      {RG_BOOL, "1"},    {RG_I32, "0x"},
                 {RG_F64, "nanx"},  {RG_F64, "--1"},   {RG_U64, "18446744073709551616"},
                 {RG_F16, "65520"}, {RG_NONE, "1"},    {RG_F64, "1,5"}};
    uint64_t bits;
    for (size_t i = 0; i < countof(wrong); i++)
        CHECK(!ir_parse_literal(rg_str_of(wrong[i].text), wrong[i].d, &bits), "%s", wrong[i].text);
}

/* rounded up for the widest, but not by more than an eighth */
static void
test_frames(void)
{
    static const uint32_t frames[][3] = {{24, 8, 24}, {25, 8, 28}, {60, 8, 64}, {9, 8, 10}, {5, 4, 5}, {386, 64, 416}};
    for (size_t i = 0; i < countof(frames); i++) {
        uint32_t whole = ir_frame_bytes(target_host(), frames[i][0], frames[i][1]);
        CHECK(whole == frames[i][2], "%u bytes: %u, expected %u", frames[i][0], whole, frames[i][2]);
        whole = ir_frame_bytes(&target_nvidia, frames[i][0], frames[i][1]);
        CHECK(whole == (frames[i][2] + 7) / 8 * 8, "%u bytes of warps: %u", frames[i][0], whole);
    }
}

/* a flag takes a bit, in lanes as many; flags come last */
static void
test_flags(void)
{
    static const struct {
        unsigned doubles, flags, masks;
        uint32_t size;
    } frames[] = {{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 8, 0, 1}, {0, 17, 0, 3}, {3, 9, 0, 28}, {8, 10, 1, 72}};
    for (size_t i = 0; i < countof(frames); i++) {
        ir_frame f = {0};
        for (unsigned k = 0; k < frames[i].flags; k++)
            ir_frame_hold(&f, ir_scalar(RG_BOOL));
        for (unsigned k = 0; k < frames[i].masks; k++)
            ir_frame_hold(&f, ir_with_lanes(ir_scalar(RG_BOOL), 16));
        for (unsigned k = 0; k < frames[i].doubles; k++)
            ir_frame_hold(&f, ir_scalar(RG_F64));
        uint32_t size = ir_frame_size(target_host(), &f);
        CHECK(size == frames[i].size, "frame %zu: %u bytes, expected %u", i, size, frames[i].size);
    }
}

int
main(void)
{
    test_frames();
    test_flags();
    test_integers();
    test_casts();
    test_floats();
    test_all();
    test_literals();
    return check_done();
}
