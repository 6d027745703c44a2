/* Values of the IR as expressions of the source. SPDX-License-Identifier: Apache-2.0 */
#include "ahead/expression.h"

enum { DEPTH = 12 };

infix
expression_infix(rg_op code)
{
    static const struct {
        rg_op code;
        infix op;
    } rows[] = {{RG_OP_ADD, {" + ", SUM}},     {RG_OP_SUB, {" - ", SUM}},     {RG_OP_MUL, {" * ", PRODUCT}},
                {RG_OP_DIV, {" / ", PRODUCT}}, {RG_OP_REM, {" % ", PRODUCT}}, {RG_OP_SHL, {" << ", SHIFT}},
                {RG_OP_SHR, {" >> ", SHIFT}}};
    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].code == code)
            return rows[i].op;
    return (infix){0};
}

static bool write_value(str *out, const ir_value *v, int within, unsigned depth);

static bool
write_infix(str *out, infix op, const ir_op *of, int within, unsigned depth)
{
    str_addz(out, op.binds < within ? "(" : "");
    bool simple = write_value(out, of->args[0], op.binds, depth);
    str_addz(out, op.text);
    simple = simple && write_value(out, of->args[1], op.binds + 1, depth);
    str_addz(out, op.binds < within ? ")" : "");
    return simple;
}

static bool
write_call(str *out, const char *name, const ir_op *op, unsigned depth)
{
    str_addf(out, "%s(", name);
    bool simple = write_value(out, op->args[0], LOOSE, depth);
    str_addz(out, ", ");
    simple = simple && write_value(out, op->args[1], LOOSE, depth);
    str_addc(out, ')');
    return simple;
}

static bool
write_load(str *out, const ir_op *op, unsigned depth)
{
    bool simple = write_value(out, op->args[0], LOOSE, depth);
    for (uint32_t i = 1; simple && i <= op->args[0]->type.rank; i++) { /* a mask may stand behind them */
        str_addc(out, '[');
        simple = write_value(out, op->args[i], LOOSE, depth);
        str_addc(out, ']');
    }
    return simple;
}

static bool
write_value(str *out, const ir_value *v, int within, unsigned depth)
{
    const ir_op *op = v->def;
    uint64_t bits;
    if (ir_is_const(v, &bits)) {
        rg_dtype d = (rg_dtype)v->type.dtype;
        if (ir_is_float(d))
            str_addf(out, "%.9g", ir_bits_float(d, bits));
        else
            str_addf(out, "%lld", (long long)bits);
        return true;
    }
    if (!op || (v->name && op->code != RG_OP_LOAD)) {
        str_addz(out, v->name ? v->name : "i");
        return true;
    }
    if (!depth--)
        return false;
    infix between = expression_infix((rg_op)op->code);
    if (between.text)
        return write_infix(out, between, op, within, depth);
    switch ((int)op->code) {
    case RG_OP_CAST:
        return write_value(out, op->args[0], within, depth);
    case RG_OP_MAX:
        return write_call(out, "max", op, depth);
    case RG_OP_MIN:
        return write_call(out, "min", op, depth);
    case RG_OP_LOAD:
        return write_load(out, op, depth);
    default:
        return false;
    }
}

bool
expression_write(str *out, const ir_value *v)
{
    return write_value(out, v, LOOSE, DEPTH);
}
