/* Instructions as expressions. SPDX-License-Identifier: Apache-2.0
 *
 * Forms:  $n  operand n      #n  the same bits as a signed integer      @  the result's type      ~  that as a signed integer
 *         &n  operand n, a pointer, to something atomic      !n  to a signed one */
#include "codegen/metal/print.h"

#define RELAXED ", memory_order_relaxed)"

static const char *const forms[] = {
    [SPV_LOAD] = "*$1", [SPV_F_TO_U] = "@($1)", [SPV_F_TO_S] = "@(~($1))", [SPV_S_TO_F] = "@(#1)", [SPV_U_TO_F] = "@($1)",
    [SPV_U_CONVERT] = "@($1)", [SPV_S_CONVERT] = "@(~(#1))", [SPV_BITCAST] = "as_type<@>($1)", [SPV_S_NEGATE] = "-$1",
    [SPV_F_NEGATE] = "-$1", [SPV_I_ADD] = "$1 + $2", [SPV_F_ADD] = "$1 + $2", [SPV_I_SUB] = "$1 - $2", [SPV_F_SUB] = "$1 - $2",
    [SPV_I_MUL] = "$1 * $2", [SPV_F_MUL] = "$1 * $2", [SPV_U_DIV] = "$1 / $2", [SPV_S_DIV] = "@(#1 / #2)", [SPV_F_DIV] = "precise::divide($1, $2)",
    [SPV_U_MOD] = "$1 % $2", [SPV_S_REM] = "@(#1 % #2)", [SPV_LOGICAL_EQUAL] = "$1 == $2", [SPV_LOGICAL_NOT_EQUAL] = "$1 != $2",
    [SPV_LOGICAL_OR] = "$1 || $2", [SPV_LOGICAL_AND] = "$1 && $2", [SPV_LOGICAL_NOT] = "!$1", [SPV_SELECT] = "$1 ? $2 : $3",
    [SPV_I_EQUAL] = "$1 == $2", [SPV_I_NOT_EQUAL] = "$1 != $2", [SPV_U_GREATER] = "$1 > $2", [SPV_S_GREATER] = "#1 > #2",
    [SPV_U_GREATER_EQUAL] = "$1 >= $2", [SPV_S_GREATER_EQUAL] = "#1 >= #2", [SPV_U_LESS] = "$1 < $2", [SPV_S_LESS] = "#1 < #2",
    [SPV_U_LESS_EQUAL] = "$1 <= $2", [SPV_S_LESS_EQUAL] = "#1 <= #2", [SPV_F_EQUAL] = "$1 == $2",
    [SPV_F_LESS] = "$1 < $2", [SPV_F_LESS_EQUAL] = "$1 <= $2",
    [SPV_SHIFT_RIGHT] = "$1 >> $2", [SPV_SHIFT_RIGHT_ARITHMETIC] = "@(#1 >> $2)", [SPV_SHIFT_LEFT] = "$1 << $2", [SPV_OR] = "$1 | $2",
    [SPV_XOR] = "$1 ^ $2", [SPV_AND] = "$1 & $2", [SPV_NOT] = "~$1", [SPV_BIT_COUNT] = "popcount($1)",
    [SPV_EXTRACT_SIGNED] = "@(extract_bits(#1, $2, $3))",
    [SPV_ATOMIC_LOAD] = "atomic_load_explicit(&1" RELAXED, [SPV_ATOMIC_EXCHANGE] = "atomic_exchange_explicit(&1, $4" RELAXED,
    [SPV_ATOMIC_COMPARE] = "exchange_if($1, $5, $6)", [SPV_ATOMIC_ADD] = "atomic_fetch_add_explicit(&1, $4" RELAXED,
    [SPV_ATOMIC_S_MIN] = "@(atomic_fetch_min_explicit(!1, #4" RELAXED ")", [SPV_ATOMIC_U_MIN] = "atomic_fetch_min_explicit(&1, $4" RELAXED,
    [SPV_ATOMIC_S_MAX] = "@(atomic_fetch_max_explicit(!1, #4" RELAXED ")", [SPV_ATOMIC_U_MAX] = "atomic_fetch_max_explicit(&1, $4" RELAXED,
    [SPV_ATOMIC_AND] = "atomic_fetch_and_explicit(&1, $4" RELAXED, [SPV_ATOMIC_OR] = "atomic_fetch_or_explicit(&1, $4" RELAXED,
    [SPV_ATOMIC_XOR] = "atomic_fetch_xor_explicit(&1, $4" RELAXED, [SPV_BALLOT] = "lanes_where($2)", [SPV_SHUFFLE] = "of_lane($2, $3)",
    [SPV_SHUFFLE_XOR] = "of_partner($2, $3)",
};
static const char add_floats[] = "atomic_fetch_add_explicit(&1, $4" RELAXED;

/* of GLSL.std.450; $1 is the set, $2 the number. The lowest bit of 0 has the number -1, and so has the highest. */
static const char *const functions[] = {
    [SPV_TRUNC] = "trunc($3)", [SPV_ROUND_EVEN] = "rint($3)", [SPV_U_MIN] = "min($3, $4)", [SPV_F_ABS] = "fabs($3)",
    [SPV_FLOOR] = "floor($3)", [SPV_CEIL] = "ceil($3)", [SPV_SQRT] = "precise::sqrt($3)",
    [SPV_INVERSE_SQRT] = "precise::rsqrt($3)", [SPV_FMA] = "fma($3, $4, $5)",
    [SPV_FIND_LSB] = "$3 == 0u ? ~0u : ctz($3)", [SPV_FIND_MSB] = "31u - clz($3)",
};

static const char *
atomic_pointer(msl *m, spv_id pointer, bool is_signed)
{
    bool real = msl_opcode(m->made[msl_pointee(m, pointer)]) == SPV_FLOAT;
    const char *what = real ? "float" : is_signed ? "int" : "uint";
    return msl_text(m, "reinterpret_cast<%s atomic_%s *>(%s)", msl_space(m, pointer), what, msl_value(m, pointer));
}

/* what a character of a form means; 0 operands: of the result */
static void
add_form_part(msl *m, str *to, char part, const uint32_t *ins, spv_id operand)
{
    switch (part) {
    case '$':
        str_addz(to, msl_value(m, operand));
        break;
    case '#':
        str_addf(to, "%s(%s)", msl_signed(m, msl_type_of(m, operand)), msl_value(m, operand));
        break;
    case '@':
        str_addz(to, msl_type(m, ins[1]));
        break;
    case '~':
        str_addz(to, msl_signed(m, ins[1]));
        break;
    default:
        str_addz(to, atomic_pointer(m, operand, part == '!'));
    }
}

/* `~` and `&` and `!` in front of anything but a bracket or digit are MSL's own */
static bool
is_part(const char *c)
{
    bool numbered = c[1] >= '1' && c[1] <= '9';
    return *c == '@' || (*c == '~' && c[1] == '(') || (numbered && strchr("$#&!", *c));
}

static const char *
filled(msl *m, const char *form, const uint32_t *ins)
{
    str text = {.in = m->in};
    for (const char *c = form; *c; c++) {
        bool numbered = is_part(c) && *c != '@' && *c != '~';
        if (!is_part(c)) {
            str_addc(&text, *c);
            continue;
        }
        add_form_part(m, &text, *c, ins, numbered ? ins[2 + (c[1] - '0')] : 0);
        c += numbered;
    }
    return text.ptr;
}

/* -- what has no form ------------------------------------------------------------------------------------------------------- */

static const char *
chain_text(msl *m, const uint32_t *ins)
{
    str text = {.in = m->in};
    spv_id type = msl_pointee(m, ins[3]);
    str_addf(&text, "&(*%s)", msl_value(m, ins[3]));
    for (uint32_t i = 4; i < msl_length(ins); i++) {
        const uint32_t *t = m->made[type];
        bool fields = msl_opcode(t) == SPV_STRUCT;
        uint32_t field = fields ? m->made[ins[i]][3] : 0;
        if (fields)
            str_addf(&text, ".m%u", field);
        else
            str_addf(&text, ".e[%s]", msl_value(m, ins[i]));
        type = fields ? t[2 + field] : t[2];
    }
    return text.ptr;
}

static const char *
list_text(msl *m, const char *before, const uint32_t *from, const uint32_t *end, const char *after)
{
    str text = {.in = m->in};
    str_addz(&text, before);
    for (const uint32_t *id = from; id < end; id++)
        str_addf(&text, "%s%s", id > from ? ", " : "", msl_value(m, *id));
    str_addz(&text, after);
    return text.ptr;
}

static const char *
call_text(msl *m, const uint32_t *ins)
{
    const uint32_t *args = ins + 4, *end = msl_next(ins);
    return list_text(m, msl_text(m, args < end ? "%s(x, " : "%s(x", msl_function(m, ins[3])), args, end, ")");
}

/* of a struct or vector */
static const char *
member_text(msl *m, const uint32_t *ins)
{
    bool fields = msl_opcode(m->made[msl_type_of(m, ins[3])]) == SPV_STRUCT;
    return msl_text(m, fields ? "%s.m%u" : "%s[%u]", msl_value(m, ins[3]), ins[4]);
}

static const char *
expression(msl *m, const uint32_t *ins)
{
    uint32_t opcode = msl_opcode(ins);
    const char *form = opcode < countof(forms) ? forms[opcode] : opcode == SPV_ATOMIC_F_ADD ? add_floats : NULL;
    if (opcode == SPV_EXT)
        form = ins[4] < countof(functions) ? functions[ins[4]] : NULL;
    if (form)
        return filled(m, form, ins);
    switch (opcode) {
    case SPV_CHAIN:
        return chain_text(m, ins);
    case SPV_TO_POINTER:
        return msl_text(m, "reinterpret_cast<device %s *>(%s)", msl_type(m, m->made[ins[1]][3]), msl_value(m, ins[3]));
    case SPV_CALL:
        return call_text(m, ins);
    case SPV_CONSTRUCT:
        return list_text(m, msl_text(m, "%s{", msl_type(m, ins[1])), ins + 3, msl_next(ins), "}");
    case SPV_EXTRACT:
        return member_text(m, ins);
    }
    msl_refuse(m, "instruction %u of SPIR-V", opcode);
    return "0";
}

static void
define(msl *m, const uint32_t *ins)
{
    if (msl_result(ins) != 2) {
        msl_refuse(m, "instruction %u of SPIR-V", msl_opcode(ins));
        return;
    }
    const char *text = expression(m, ins);
    if (msl_opcode(m->made[ins[1]]) == SPV_VOID)
        msl_line(m, "%s;", text);
    else
        msl_line(m, "v%u = %s;", ins[2], text);
}

void
msl_op(msl *m, const uint32_t *ins)
{
    switch (msl_opcode(ins)) {
    case SPV_VARIABLE:
        break;
    case SPV_STORE:
        msl_line(m, "*%s = %s;", msl_value(m, ins[1]), msl_value(m, ins[2]));
        break;
    case SPV_ATOMIC_STORE:
        msl_line(m, "atomic_store_explicit(%s, %s" RELAXED ";", atomic_pointer(m, ins[1], false), msl_value(m, ins[4]));
        break;
    case SPV_BARRIER:
        msl_line(m, "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);");
        break;
    default:
        define(m, ins);
    }
}
