/* Scalar simplification: constants, exact identities. SPDX-License-Identifier: Apache-2.0
 *
 * Only identities that hold for every operand, signed zeros, infinities and NaN included, are used
 * on floats: x * 1, x / 1, x - 0, x + (-0), but neither x + 0 nor x * 0.
 *
 * What is the same in all lanes is computed without them, and used so. */
#include "opt/fold_scalar.h"

static bool
is_bits(const ir_value *v, uint64_t bits)
{
    uint64_t have;
    return v->type.kind == IR_SCALAR && ir_is_const(v, &have) && have == ir_wrap(ir_dtype(v), bits);
}

static bool
is_float_const(const ir_value *v, double value)
{
    uint64_t have;
    return ir_is_float(ir_dtype(v)) && ir_is_const(v, &have) &&
           have == ir_float_bits(ir_dtype(v), value);
}

/* the number n (bool: true) of v's own class */
static bool
equals_number(const ir_value *v, int n)
{
    return ir_is_float(ir_dtype(v)) ? is_float_const(v, n) : is_bits(v, (uint64_t)(int64_t)n);
}

static ir_op *
defined_by(const ir_value *v, rg_op code)
{
    return v->def && v->def->code == code ? v->def : NULL;
}

static ir_value *
all_constant(edit *e, ir_op *op)
{
    uint64_t bits[3] = {0}, out;
    if (op->nargs == 0 || op->nargs > 3)
        return NULL;
    for (uint32_t k = 0; k < op->nargs; k++)
        if (!ir_is_const(op->args[k], &bits[k]))
            return NULL;
    ir_type type = op->results[0]->type;
    if (!ir_eval((rg_op)op->code, ir_dtype(op->args[0]), (rg_dtype)type.dtype, bits[0], bits[1],
                 bits[2], &out))
        return NULL;
    return edit_const(e, op, type, out);
}

/* f(c ? 6 : 0, 3)  ->  c ? f(6, 3) : f(0, 3) */
static ir_value *
of_chosen_constant(edit *e, ir_op *op)
{
    ir_type type = op->results[0]->type;
    uint64_t bits[3] = {0}, arms[2];
    const ir_op *choice = NULL;
    uint32_t which = 0;
    for (uint32_t k = 0; k < op->nargs; k++) {
        const ir_op *select = defined_by(op->args[k], RG_OP_SELECT);
        if (ir_is_const(op->args[k], &bits[k]))
            continue;
        if (choice || !select || !ir_is_const(select->args[1], NULL) || !ir_is_const(select->args[2], NULL))
            return NULL;
        choice = select;
        which = k;
    }
    for (uint32_t arm = 0; choice && arm < 2; arm++) {
        ir_is_const(choice->args[1 + arm], &bits[which]);
        if (!ir_eval((rg_op)op->code, ir_dtype(op->args[0]), (rg_dtype)type.dtype, bits[0], bits[1], bits[2], &arms[arm]))
            return NULL;
    }
    ir_type one = type;
    one.lanes = 0;
    return !choice ? NULL
                   : edit_scalar(e, op, RG_OP_SELECT, type, edit_now(e, choice->args[0]), edit_const(e, op, one, arms[0]),
                                 edit_const(e, op, one, arms[1]));
}

/* Constants go right, so that the rules below need to look there only. */
static void
move_constant_right(edit *e, ir_op *op)
{
    if (!(ir_ops[op->code].flags & IR_COMMUTES) || op->nargs != 2)
        return;
    if (ir_is_const(op->args[0], NULL) && !ir_is_const(op->args[1], NULL)) {
        ir_value *x = op->args[0];
        op->args[0] = op->args[1];
        op->args[1] = x;
        e->changed = true;
    }
}

/* -- arithmetic
 * ---------------------------------------------------------------------------------------- */

/* (x + c1) + c2 on integers: operand and constant of `op` change to x and c1 + c2. */
static void
gather_constants(edit *e, ir_op *op)
{
    uint64_t outer, inner;
    ir_op *first = defined_by(op->args[0], (rg_op)op->code);
    if (!ir_is_int(ir_dtype(op->args[0])) || !ir_is_const(op->args[1], &outer) || !first ||
        !ir_is_const(first->args[1], &inner))
        return;
    uint64_t both = op->code == RG_OP_ADD ? outer + inner : outer * inner;
    ir_type type = ir_with_lanes(op->results[0]->type, 0);
    op->args[1] = edit_const(e, op, type, ir_wrap((rg_dtype)type.dtype, both));
    op->args[0] = edit_now(e, first->args[0]);
}

static ir_value *
fold_add(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (is_bits(y, 0) && !ir_is_float(ir_dtype(x)))
        return x;
    if (is_float_const(y, -0.0))
        return x;
    gather_constants(e, op);
    return NULL;
}

static ir_value *
fold_sub(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (is_bits(y, 0)) /* for floats too: these are the bits of +0 */
        return x;
    if (ir_is_float(ir_dtype(x)))
        return NULL;
    if (x == y)
        return edit_const(e, op, x->type, 0);
    if (is_bits(x, 0))
        return edit_scalar(e, op, RG_OP_NEG, x->type, y, NULL, NULL);
    return NULL;
}

static ir_value *
fold_mul(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (equals_number(y, 1))
        return x;
    if (equals_number(y, -1))
        return edit_scalar(e, op, RG_OP_NEG, x->type, x, NULL, NULL);
    if (ir_is_float(ir_dtype(x)))
        return NULL;
    if (is_bits(y, 0))
        return y;
    gather_constants(e, op);
    return NULL;
}

static ir_value *
fold_div(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (equals_number(y, 1))
        return x;
    if (is_float_const(y, -1))
        return edit_scalar(e, op, RG_OP_NEG, x->type, x, NULL, NULL);
    ir_op *root = defined_by(y, RG_OP_SQRT);
    if (root && is_float_const(x, 1) && ir_dtype(x) != RG_F16) /* the same bits, and a shorter derivative */
        return edit_scalar(e, op, RG_OP_RSQRT, x->type, root->args[0], NULL, NULL);
    return NULL;
}

static ir_value *
fold_zero_guard(ir_op *op)
{
    uint64_t bits;
    if (!ir_is_const(op->args[0], &bits))
        return NULL;
    return ir_bits_float(ir_dtype(op->args[0]), bits) == 0 ? NULL : op->args[1];
}

static ir_value *
fold_neg(ir_op *op)
{
    ir_op *inner = defined_by(op->args[0], RG_OP_NEG);
    return inner ? inner->args[0] : NULL;
}

static ir_value *
fold_fma(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1], *z = op->args[2];
    if (is_float_const(z, -0.0))
        return edit_scalar(e, op, RG_OP_MUL, x->type, x, y, NULL);
    if (is_float_const(y, 1))
        return edit_scalar(e, op, RG_OP_ADD, x->type, x, z, NULL);
    if (is_float_const(x, 1))
        return edit_scalar(e, op, RG_OP_ADD, x->type, y, z, NULL);
    return NULL;
}

/* A whole exponent up to 8 means multiplications, so that x ** 2 has gradient 0 at 0; f16 would
 * round each of them. */
static ir_value *
fold_pow(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *product = NULL;
    uint64_t bits;
    if (!ir_is_const(op->args[1], &bits))
        return NULL;
    double exponent = ir_bits_float(ir_dtype(x), bits);
    double most = ir_dtype(x) == RG_F16 ? 2 : 8;
    if (exponent == 0)
        return edit_const(e, op, x->type, ir_float_bits(ir_dtype(x), 1));
    if (!(exponent >= 1 && exponent <= most) || exponent != (double)(int)exponent)
        return NULL;
    ir_value *power = x;
    for (int n = (int)exponent; n; n >>= 1) {
        if (n & 1)
            product =
                product ? edit_scalar(e, op, RG_OP_MUL, x->type, product, power, NULL) : power;
        if (n > 1)
            power = edit_scalar(e, op, RG_OP_MUL, x->type, power, power, NULL);
    }
    return product;
}

/* -- bits
 * ---------------------------------------------------------------------------------------------- */

static ir_value *
fold_and(ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    return x == y || is_bits(y, ~(uint64_t)0) ? x : is_bits(y, 0) ? y : NULL;
}

static ir_value *
fold_or(ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    return x == y || is_bits(y, 0) ? x : is_bits(y, ~(uint64_t)0) ? y : NULL;
}

static ir_value *
fold_xor(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (is_bits(y, 0))
        return x;
    if (is_bits(y, ~(uint64_t)0))
        return edit_scalar(e, op, RG_OP_NOT, x->type, x, NULL, NULL);
    return x == y ? edit_const(e, op, x->type, 0) : NULL;
}

static ir_value *
fold_not(edit *e, ir_op *op)
{
    ir_op *inner = op->args[0]->def;
    if (!inner)
        return NULL;
    if (inner->code == RG_OP_NOT)
        return inner->args[0];
    rg_op code = ir_opposite((rg_op)inner->code);
    if (code == RG_OP_COUNT)
        return NULL;
    bool ordered = code != RG_OP_EQ && code != RG_OP_NE;
    if (ordered && ir_is_float(ir_dtype(inner->args[0])))
        return NULL; /* both are false on NaN */
    return edit_scalar(e, op, code, op->results[0]->type, edit_now(e, inner->args[0]),
                       edit_now(e, inner->args[1]), NULL);
}

/* -- comparison and choice
 * ----------------------------------------------------------------------------- */

/* ... == true and the like on a bool, or on an integer that was cast from one. */
static ir_value *
fold_bool_test(edit *e, ir_op *op)
{
    ir_value *x = op->args[0];
    uint64_t bits;
    if (!ir_is_const(op->args[1], &bits) || ir_is_float(ir_dtype(x)))
        return NULL;
    ir_op *cast = defined_by(x, RG_OP_CAST);
    if (ir_dtype(x) != RG_BOOL && cast && ir_dtype(cast->args[0]) == RG_BOOL &&
        ir_bits(ir_dtype(x)) > 1)
        x = edit_now(e, cast->args[0]);
    if (ir_dtype(x) != RG_BOOL || (bits != 0 && bits != 1))
        return NULL;
    if ((op->code == RG_OP_NE) == (bits == 0))
        return x;
    return edit_scalar(e, op, RG_OP_NOT, x->type, x, NULL, NULL);
}

static ir_value *
fold_compare(edit *e, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    ir_type type = op->results[0]->type;
    if (x == y && !ir_is_float(ir_dtype(x))) {
        bool holds = op->code == RG_OP_EQ || op->code == RG_OP_LE || op->code == RG_OP_GE;
        return edit_const(e, op, type, holds);
    }
    if (op->code == RG_OP_EQ || op->code == RG_OP_NE)
        return fold_bool_test(e, op);
    bool is_unsigned = !ir_is_float(ir_dtype(x)) && !ir_is_signed(ir_dtype(x));
    if (is_unsigned && is_bits(y, 0) && (op->code == RG_OP_LT || op->code == RG_OP_GE))
        return edit_const(e, op, type, op->code == RG_OP_GE);
    return NULL;
}

static ir_value *
fold_bool_select(edit *e, ir_op *op)
{
    ir_value *c = op->args[0], *x = op->args[1], *y = op->args[2];
    ir_type type = op->results[0]->type;
    if (is_bits(x, 1))
        return is_bits(y, 0) ? c : edit_scalar(e, op, RG_OP_OR, type, c, y, NULL);
    if (is_bits(y, 0))
        return edit_scalar(e, op, RG_OP_AND, type, c, x, NULL);
    if (!is_bits(x, 0) && !is_bits(y, 1))
        return NULL;
    ir_value *no = edit_scalar(e, op, RG_OP_NOT, type, c, NULL, NULL);
    return is_bits(y, 1) ? (is_bits(x, 0) ? no : edit_scalar(e, op, RG_OP_OR, type, no, x, NULL))
                         : edit_scalar(e, op, RG_OP_AND, type, no, y, NULL);
}

static ir_value *
fold_select(edit *e, ir_op *op)
{
    uint64_t bits;
    if (ir_is_const(op->args[0], &bits))
        return op->args[bits & 1 ? 1 : 2];
    if (op->args[1] == op->args[2])
        return op->args[1];
    if (op->results[0]->type.kind != IR_SCALAR)
        return NULL;
    ir_op *no = defined_by(op->args[0], RG_OP_NOT);
    if (no)
        return edit_scalar(e, op, RG_OP_SELECT, op->results[0]->type, edit_now(e, no->args[0]),
                           op->args[2], op->args[1]);
    return op->results[0]->type.dtype == RG_BOOL ? fold_bool_select(e, op) : NULL;
}

/* -- casts
 * --------------------------------------------------------------------------------------------- */

/* whether every value of `from` is one of `to` */
static bool
preserves(rg_dtype from, rg_dtype to)
{
    if (ir_is_float(from) || ir_is_float(to))
        return ir_is_float(from) && ir_is_float(to) && ir_bits(from) <= ir_bits(to);
    if (to == RG_BOOL)
        return from == RG_BOOL;
    if (ir_is_signed(from))
        return ir_is_signed(to) && ir_bits(from) <= ir_bits(to);
    return ir_bits(from) + (ir_is_signed(to) ? 1u : 0u) <= ir_bits(to);
}

static ir_value *
fold_cast(edit *e, ir_op *op)
{
    ir_value *x = op->args[0];
    ir_type type = op->results[0]->type;
    if (ir_type_eq(x->type, type))
        return x;
    ir_op *inner = defined_by(x, RG_OP_CAST);
    if (!inner || !preserves(ir_dtype(inner->args[0]), ir_dtype(x)))
        return NULL;
    ir_value *source = edit_now(e, inner->args[0]);
    if (ir_type_eq(source->type, type))
        return source;
    return edit_scalar(e, op, RG_OP_CAST, type, source, NULL, NULL);
}

/* A float that has been an integer on the way has lost its derivative, and stays another value. */
static ir_value *
fold_bitcast(edit *e, ir_op *op)
{
    ir_value *x = op->args[0];
    if (ir_type_eq(x->type, op->results[0]->type))
        return x;
    ir_op *inner = defined_by(x, RG_OP_BITCAST);
    if (inner && ir_type_eq(inner->args[0]->type, op->results[0]->type) && !ir_is_float(ir_dtype(inner->args[0])))
        return edit_now(e, inner->args[0]);
    return NULL;
}

/* -- lanes
 * --------------------------------------------------------------------------------------------- */

/* operands that are the same in all lanes; a value without lanes if all are */
static ir_value *
fold_splats(edit *e, ir_op *op)
{
    bool any = op->results[0]->type.lanes && op->nargs;
    for (uint32_t k = 0; k < op->nargs; k++) {
        ir_op *splat = defined_by(op->args[k], RG_OP_SPLAT);
        if (splat) {
            op->args[k] = edit_now(e, splat->args[0]);
            e->changed = true;
        }
        any = any && !op->args[k]->type.lanes;
    }
    if (!any)
        return NULL;
    ir_op *plain = ir_op_like(e->fn, op);
    for (uint32_t k = 0; k < op->nargs; k++)
        ir_op_arg(plain, e->fn, op->args[k]);
    ir_insert_before(op, plain);
    e->changed = true;
    return ir_op_result(plain, e->fn, ir_with_lanes(op->results[0]->type, 0), op->results[0]->name);
}

static ir_value *
fold_lane_get(edit *e, ir_op *op)
{
    ir_op *from = op->args[0]->def;
    unsigned lanes = op->args[0]->type.lanes;
    uint64_t at, set;
    if (!from)
        return NULL;
    bool known = ir_is_const(op->args[1], &at);
    if (from->code == RG_OP_LANE && known)
        return edit_const(e, op, op->results[0]->type, at % lanes);
    if (from->code != RG_OP_LANE_SET)
        return NULL;
    if (edit_now(e, from->args[1]) == op->args[1])
        return edit_now(e, from->args[2]);
    if (known && ir_is_const(edit_now(e, from->args[1]), &set))
        return at % lanes == set % lanes ? edit_now(e, from->args[2]) : NULL;
    return NULL;
}

/* ops between lanes and scalars, of what is the same in all lanes or set lane by lane */
static ir_value *
fold_between_lanes(edit *e, ir_op *op)
{
    ir_op *splat = op->nargs ? defined_by(op->args[0], RG_OP_SPLAT) : NULL;
    ir_value *all = splat ? edit_now(e, splat->args[0]) : NULL;
    switch (op->code) {
    case RG_OP_LANES_ANY:
        return all;
    case RG_OP_LANE_GET:
        return all ? all : fold_lane_get(e, op);
    case RG_OP_LANES_REDUCE:
        return op->rmw == RG_RMW_MIN || op->rmw == RG_RMW_MAX || op->rmw == RG_RMW_AND || op->rmw == RG_RMW_OR
                   ? all
                   : NULL;
    default:
        return NULL;
    }
}

/* -- by op
 * --------------------------------------------------------------------------------------------- */

ir_value *
fold_scalar(edit *e, ir_op *op)
{
    if (ir_ops[op->code].form == IR_OTHER)
        return fold_between_lanes(e, op);
    ir_value *plain = fold_splats(e, op);
    if (plain)
        return plain;
    ir_value *constant = all_constant(e, op);
    if (!constant && op->code != RG_OP_SELECT && op->nargs > 0 && op->nargs <= 3)
        constant = of_chosen_constant(e, op);
    if (constant)
        return constant;
    move_constant_right(e, op);
    switch (op->code) {
    case RG_OP_ADD:
        return fold_add(e, op);
    case RG_OP_SUB:
        return fold_sub(e, op);
    case RG_OP_MUL:
        return fold_mul(e, op);
    case RG_OP_DIV:
        return fold_div(e, op);
    case RG_OP_ZERO_GUARD:
        return fold_zero_guard(op);
    case RG_OP_NEG:
        return fold_neg(op);
    case RG_OP_FMA:
        return fold_fma(e, op);
    case RG_OP_POW:
        return fold_pow(e, op);
    case RG_OP_NOT:
        return fold_not(e, op);
    case RG_OP_AND:
        return fold_and(op);
    case RG_OP_OR:
        return fold_or(op);
    case RG_OP_XOR:
        return fold_xor(e, op);
    case RG_OP_SHL:
    case RG_OP_SHR:
        return is_bits(op->args[1], 0) ? op->args[0] : NULL;
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return fold_compare(e, op);
    case RG_OP_SELECT:
        return fold_select(e, op);
    case RG_OP_CAST:
        return fold_cast(e, op);
    case RG_OP_BITCAST:
        return fold_bitcast(e, op);
    default:
        return NULL;
    }
}
