/* Types, constants and names as text. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/metal/print.h"

#include <math.h>

const char *
msl_text(msl *m, const char *format, ...)
{
    str text = {.in = m->in};
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    return text.ptr;
}

/* -- types -------------------------------------------------------------------------------------------------------------- */

spv_id
msl_type_of(const msl *m, spv_id id)
{
    return m->made[id][1];
}

spv_id
msl_pointee(const msl *m, spv_id pointer)
{
    return m->made[msl_type_of(m, pointer)][3];
}

static const char *
integer_name(uint32_t bits, bool is_signed)
{
    static const char *const names[4][2] = {{"uchar", "char"}, {"ushort", "short"}, {"uint", "int"}, {"ulong", "long"}};
    return names[bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3][is_signed];
}

const char *
msl_type(msl *m, spv_id type)
{
    const uint32_t *t = m->made[type];
    switch (msl_opcode(t)) {
    case SPV_VOID:
        return "void";
    case SPV_BOOL:
        return "bool";
    case SPV_INT:
        return integer_name(t[2], false);
    case SPV_FLOAT:
        if (t[2] != 32)
            msl_refuse(m, "floats of %u bits", t[2]);
        return "float";
    case SPV_VECTOR:
        return msl_text(m, "%s%u", msl_type(m, t[2]), t[3]);
    }
    return msl_text(m, "t%u", type);
}

const char *
msl_signed(msl *m, spv_id type)
{
    const uint32_t *t = m->made[type];
    return msl_opcode(t) == SPV_INT ? integer_name(t[2], true) : "int";
}

/* -- constants ------------------------------------------------------------------------------------------------------------ */

/* Nine digits give each number back. */
static const char *
float_text(msl *m, uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v))
        return msl_text(m, "as_type<float>(0x%08xu)", bits);
    return msl_text(m, signbit(v) ? "(%.8ef)" : "%.8ef", (double)v);
}

static const char *
number_text(msl *m, const uint32_t *c)
{
    const uint32_t *t = m->made[c[1]];
    if (msl_opcode(t) == SPV_FLOAT)
        return float_text(m, c[3]);
    if (t[2] == 64)
        return msl_text(m, "%lluul", (unsigned long long)(c[3] | (uint64_t)c[4] << 32));
    return t[2] == 32 ? msl_text(m, "%uu", c[3]) : msl_text(m, "%s(%u)", msl_type(m, c[1]), c[3]);
}

/* An array is a struct with one member. */
const char *
msl_initial(msl *m, spv_id constant)
{
    const uint32_t *c = m->made[constant];
    str text = {.in = m->in};
    if (msl_opcode(c) != SPV_COMPOSITE_CONSTANT)
        return msl_value(m, constant);
    str_addz(&text, "{{");
    for (uint32_t i = 3; i < msl_length(c); i++)
        str_addf(&text, "%s%s", i > 3 ? ", " : "", msl_initial(m, c[i]));
    str_addz(&text, "}}");
    return text.ptr;
}

/* -- variables -------------------------------------------------------------------------------------------------------------- */

bool
msl_is_table(const uint32_t *variable)
{
    return variable[3] == SPV_PRIVATE && msl_length(variable) > 4;
}

/* as a pointer; what the module shares is in the state that functions are handed */
static const char *
variable_text(msl *m, spv_id id)
{
    const uint32_t *v = m->made[id];
    bool points = v[3] == SPV_WORKGROUP || v[3] == SPV_PUSH;
    if (v[3] == SPV_IN_FUNCTION || msl_is_table(v))
        return msl_text(m, "(&v%u)", id);
    return msl_text(m, points ? "x.v%u" : "(&x.v%u)", id);
}

const char *
msl_space(const msl *m, spv_id pointer)
{
    const uint32_t *from = m->made[pointer];
    while (msl_opcode(from) == SPV_CHAIN)
        from = m->made[from[3]];
    if (msl_opcode(from) != SPV_VARIABLE)
        return "device";
    return from[3] == SPV_WORKGROUP ? "threadgroup" : from[3] == SPV_PUSH || msl_is_table(from) ? "constant" : "thread";
}

/* -- values ------------------------------------------------------------------------------------------------------------------ */

const char *
msl_value(msl *m, spv_id id)
{
    const uint32_t *ins = m->made[id];
    switch (msl_opcode(ins)) {
    case SPV_TRUE:
        return "true";
    case SPV_FALSE:
        return "false";
    case SPV_CONSTANT:
        return number_text(m, ins);
    case SPV_NULL:
        return msl_text(m, "%s{}", msl_type(m, ins[1]));
    case SPV_VARIABLE:
        return variable_text(m, id);
    }
    return msl_text(m, "v%u", id);
}

const char *
msl_function(msl *m, spv_id fn)
{
    str text = {.in = m->in};
    str_addf(&text, "f%u", fn);
    for (const char *c = m->names[fn]; c && *c; c++) {
        if (c == m->names[fn])
            str_addc(&text, '_');
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        str_addc(&text, plain ? *c : '_');
    }
    return text.ptr;
}
