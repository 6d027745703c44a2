/* The derivative column of ops.def, compiled twice: once to ask whether an operand has a rule, once to
 * emit it. SPDX-License-Identifier: Apache-2.0 */
#include "diff/rules.h"

#define RG_LN2     0.69314718055994530942
#define RG_LN10    2.30258509299404568402
#define RG_2_SQRTPI 1.12837916709551257390

/* -- what kind of rule ------------------------------------------------------------------------------
 * The rules are stringised and never evaluated here: NONE, ERROR and SPECIAL are the only bare words
 * of those letters. */
static ad_rule
kind_of_rule(const char *rule)
{
    if (strcmp(rule, "NONE") == 0)
        return AD_RULE_NONE;
    if (strcmp(rule, "ERROR") == 0)
        return AD_RULE_ERROR;
    if (strcmp(rule, "SPECIAL") == 0)
        return AD_RULE_SPECIAL;
    return AD_RULE_FLOW;
}

ad_rule
ad_rule_of(rg_op op, uint32_t k)
{
    static const char *const rules[RG_OP_COUNT][3] = {
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc) {#d0, #d1, #d2},
#include "retrograd/ops.def"
#undef RG_OP
    };
    return k < 3 ? kind_of_rule(rules[op][k]) : AD_RULE_NONE;
}

/* -- the vocabulary ---------------------------------------------------------------------------------- */
typedef struct rule {
    const ir_emit *e;
    const ir_op *op;
    ad_primal *primal;
    void *user;
    rg_dtype dtype; /* all float arithmetic of the rule happens in this type */
    ir_value *seen[4];
} rule;

/* operand k, or the result for k = 3, in the rule's float type */
static ir_value *
rule_value(rule *c, uint32_t k)
{
    if (!c->seen[k]) {
        ir_value *v = c->primal(c->user, k == 3 ? c->op->results[0] : c->op->args[k]);
        c->seen[k] = ir_is_float(v->type.dtype) ? ir_emit_cast(c->e, c->dtype, v) : v;
    }
    return c->seen[k];
}

/* g / y; where the op itself is 1 / y, its result is at hand and needs no second division */
static ir_value *
per_divisor(rule *c, ir_value *g)
{
    uint64_t bits;
    const ir_op *op = c->op;
    rg_dtype dtype = (rg_dtype)op->results[0]->type.dtype;
    if (dtype == c->dtype && ir_is_const(op->args[0], &bits) && ir_bits_float(dtype, bits) == 1)
        return ir_emit_2(c->e, RG_OP_MUL, g, rule_value(c, 3));
    return ir_emit_2(c->e, RG_OP_DIV, g, rule_value(c, 1));
}

#define x rule_value(c, 0)
#define y rule_value(c, 1)
#define z rule_value(c, 2)
#define r rule_value(c, 3)
#define C(number)      ir_emit_float(c->e, c->dtype, (number))
#define NEG(a)         ir_emit_1(c->e, RG_OP_NEG, a)
#define NEGI(a)        ir_emit_1(c->e, RG_OP_NEG, a)
#define EXP(a)         ir_emit_1(c->e, RG_OP_EXP, a)
#define LOG(a)         ir_emit_1(c->e, RG_OP_LOG, a)
#define SQRT(a)        ir_emit_1(c->e, RG_OP_SQRT, a)
#define SIN(a)         ir_emit_1(c->e, RG_OP_SIN, a)
#define COS(a)         ir_emit_1(c->e, RG_OP_COS, a)
#define SINH(a)        ir_emit_1(c->e, RG_OP_SINH, a)
#define COSH(a)        ir_emit_1(c->e, RG_OP_COSH, a)
#define TRUNC(a)       ir_emit_1(c->e, RG_OP_TRUNC, a)
#define FLOOR(a)       ir_emit_1(c->e, RG_OP_FLOOR, a)
#define RINT(a)        ir_emit_1(c->e, RG_OP_RINT, a)
#define EXPONENT(a)    ir_emit_1(c->e, RG_OP_EXPONENT, a)
#define ADD(a, b)      ir_emit_2(c->e, RG_OP_ADD, a, b)
#define SUB(a, b)      ir_emit_2(c->e, RG_OP_SUB, a, b)
#define MUL(a, b)      ir_emit_2(c->e, RG_OP_MUL, a, b)
#define DIV(a, b)      ir_emit_2(c->e, RG_OP_DIV, a, b)
#define PER_Y(a)       per_divisor(c, a)
#define POW(a, b)      ir_emit_2(c->e, RG_OP_POW, a, b)
#define LDEXP(a, b)    ir_emit_2(c->e, RG_OP_LDEXP, a, b)
#define COPYSIGN(a, b) ir_emit_2(c->e, RG_OP_COPYSIGN, a, b)
#define EQ(a, b)       ir_emit_2(c->e, RG_OP_EQ, a, b)
#define LT(a, b)       ir_emit_2(c->e, RG_OP_LT, a, b)
#define GT(a, b)       ir_emit_2(c->e, RG_OP_GT, a, b)
#define OR(a, b)       ir_emit_2(c->e, RG_OP_OR, a, b)
#define AND(a, b)      ir_emit_2(c->e, RG_OP_AND, a, b)
#define ISNAN(a)       ir_emit_2(c->e, RG_OP_NE, a, a)
#define ZERO_GUARD(a, b) ir_emit_2(c->e, RG_OP_ZERO_GUARD, a, b)
#define SEL(a, b, d)   ir_emit_3(c->e, RG_OP_SELECT, a, b, d)
#define NONE           NULL
#define ERROR          NULL
#define SPECIAL        NULL

static ir_value *
emit_derivative(rule *c, uint32_t k, ir_value *g)
{
    switch ((rg_op)c->op->code) {
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc)                              \
    case RG_OP_##NAME:                                                                             \
        return k == 0 ? d0 : k == 1 ? d1 : d2;
#include "retrograd/ops.def"
#undef RG_OP
    case RG_OP_COUNT:
        break;
    }
    return NULL;
}

ir_value *
ad_rule_apply(const ir_emit *e, const ir_op *op, uint32_t k, ir_value *g, ad_primal *primal, void *user)
{
    rule ctx = {.e = e, .op = op, .primal = primal, .user = user, .dtype = (rg_dtype)g->type.dtype};
    ir_value *share = emit_derivative(&ctx, k, g);
    if (ir_ops[op->code].flags & IR_GUARD) /* zero in, zero out, whatever the derivative is */
        share = ir_emit_2(e, RG_OP_ZERO_GUARD, g, share);
    return share;
}
