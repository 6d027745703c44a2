/* Expressions. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

static bool
is_comparison(rg_op op)
{
    return op >= RG_OP_EQ && op <= RG_OP_GE;
}

static bool
is_shift(rg_op op)
{
    return op == RG_OP_SHL || op == RG_OP_SHR;
}

value
fc_scalar_value(ctype *t, rg_value v)
{
    return (value){.type = t, .scalar = v};
}

/* What an expression that was refused yields, so that generation can go on. */
value
fc_nothing(gen *g, ctype *t)
{
    value v = {.type = t};
    if (!t)
        return v;
    if (t->kind == TYPE_SCALAR) {
        v.scalar = fc_zero_value(g, t->dtype);
    } else if (t->kind == TYPE_POINTER) {
        v.at = fc_nowhere(g, t->elem);
    } else if (t->kind == TYPE_STRUCT) {
        place p = fc_nowhere(g, t);
        if (p.type->kind == TYPE_STRUCT)
            v = fc_load(g, &p);
    }
    return v;
}

static value
refused(gen *g, const node *n)
{
    const char *text = n->text ? n->text : "";
    fc_fail(g, (front_error)n->bits, n->place, text);
    return fc_nothing(g, n->type);
}

/* -- arithmetic
 * ------------------------------------------------------------------------------------ */
rg_value
fc_arithmetic(gen *g, rg_op op, rg_value x, rg_value y)
{
    if (is_shift(op))
        y = fc_convert(g, rg_value_type(x).dtype, y);
    return rg_build_2(g->b, op, x, y);
}

static bool
is_pointer(const node *n)
{
    return n->type && (n->type->kind == TYPE_POINTER || n->type->kind == TYPE_ARRAY);
}

static rg_value
comparison(gen *g, const node *n, bool negate)
{
    if (is_pointer(n->kid[0]) || is_pointer(n->kid[1])) {
        rg_value v = fc_pointer_compare(g, n);
        return negate ? rg_build_1(g->b, RG_OP_NOT, v) : v;
    }
    rg_value x = fc_scalar(g, n->kid[0]), y = fc_scalar(g, n->kid[1]);
    rg_op op = n->op;
    fc_at_node(g, n);
    /* not (x < y) is x >= y only where there is no NaN */
    if (negate && !fc_is_float_dtype(rg_value_type(x).dtype)) {
        static const rg_op opposite[] = {RG_OP_NE, RG_OP_EQ, RG_OP_GE,
                                         RG_OP_GT, RG_OP_LE, RG_OP_LT};
        op = opposite[op - RG_OP_EQ];
        negate = false;
    }
    rg_value v = rg_build_2(g->b, op, x, y);
    return negate ? rg_build_1(g->b, RG_OP_NOT, v) : v;
}

/* x && y, x || y: a branch, unless y can be evaluated in any case. */
static rg_value
short_circuit(gen *g, const node *n)
{
    bool is_and = n->kind == E_AND;
    rg_value x = fc_condition(g, n->kid[0], false);
    uint64_t known;
    if (rg_value_is_const(x, &known))
        return (known != 0) == is_and ? fc_condition(g, n->kid[1], false) : x;
    if (fc_expr_is_plain(n->kid[1])) {
        rg_value y = fc_condition(g, n->kid[1], false);
        fc_at_node(g, n);
        return rg_build_2(g->b, is_and ? RG_OP_AND : RG_OP_OR, x, y);
    }
    fc_at_node(g, n);
    rg_var result = rg_build_var(g->b, rg_str_of("both"), (rg_type){RG_BOOL, 0});
    rg_build_set(g->b, result, x);
    rg_build_if(g->b, is_and ? x : rg_build_1(g->b, RG_OP_NOT, x));
    rg_build_set(g->b, result, fc_condition(g, n->kid[1], false));
    rg_build_end(g->b);
    return rg_build_get(g->b, result);
}

static bool
yields_bool(const node *n)
{
    return n->kind == E_AND || n->kind == E_OR || n->kind == E_LNOT ||
           (n->kind == E_BINARY && is_comparison(n->op));
}

rg_value
fc_condition(gen *g, const node *n, bool negate)
{
    if (n->kind == E_LNOT)
        return fc_condition(g, n->kid[0], !negate);
    if (n->kind == E_BINARY && is_comparison(n->op))
        return comparison(g, n, negate);
    rg_value v;
    if (n->kind == E_AND || n->kind == E_OR) {
        v = short_circuit(g, n);
    } else if (n->kind == E_CAST && n->type->kind == TYPE_SCALAR && n->kid[0]->type &&
               n->kid[0]->type->kind == TYPE_SCALAR &&
               (n->type->dtype == RG_BOOL || yields_bool(n->kid[0]))) {
        return fc_condition(g, n->kid[0], negate);
    } else if (n->kind == E_STRING) {
        v = rg_build_int(g->b, RG_BOOL, 1);
    } else if (is_pointer(n)) {
        place p = fc_pointer(g, n);
        fc_at_node(g, n);
        v = fc_pointer_is_set(g, &p);
    } else {
        v = fc_scalar(g, n);
        fc_at_node(g, n);
        if (!fc_is_float_dtype(n->type->dtype) && n->type->dtype != RG_BOOL) /* counts, as i != 0 does */
            return rg_build_2(g->b, negate ? RG_OP_EQ : RG_OP_NE, v, fc_int_value(g, n->type->dtype, 0));
        v = fc_convert(g, RG_BOOL, v);
    }
    return negate ? rg_build_1(g->b, RG_OP_NOT, v) : v;
}

static value
bool_result(gen *g, const node *n)
{
    rg_value v = fc_condition(g, n, false);
    fc_at_node(g, n);
    return fc_scalar_value(n->type, fc_convert(g, n->type->dtype, v));
}

static bool
is_scalar_arithmetic(const node *n)
{
    return n->kind == E_BINARY && !is_comparison(n->op) && n->type->kind == TYPE_SCALAR &&
           !is_pointer(n->kid[0]);
}

/* a + b + c + ... without recursion to the left */
static rg_value
spine(gen *g, const node *n)
{
    list(const node *) levels = {0};
    for (; is_scalar_arithmetic(n); n = n->kid[0])
        list_push(g->arena, &levels, n);
    rg_value v = fc_scalar(g, n);
    while (levels.n) {
        n = list_pop(&levels);
        rg_value y = fc_scalar(g, n->kid[1]);
        fc_at_node(g, n);
        v = fc_arithmetic(g, n->op, v, y);
    }
    return v;
}

static value
refuse_type(gen *g, const node *n, const ctype *t)
{
    front_error error;
    const char *problem = fc_type_problem(t, &error);
    fc_fail(g, problem ? error : ERR_TYPE, n->place, problem ? problem : t->name);
    return fc_nothing(g, n->type);
}

static value
binary(gen *g, const node *n)
{
    if (n->type->kind == TYPE_BAD)
        return refuse_type(g, n, n->type);
    if (is_comparison(n->op))
        return bool_result(g, n);
    if (n->type->kind == TYPE_POINTER)
        return (value){.type = n->type, .at = fc_pointer(g, n)};
    if (is_pointer(n->kid[0]))
        return fc_scalar_value(n->type, fc_pointer_difference(g, n));
    return fc_scalar_value(n->type, spine(g, n));
}

static value
unary(gen *g, const node *n)
{
    if (n->type->kind == TYPE_BAD)
        return refuse_type(g, n, n->type);
    rg_value x = fc_scalar(g, n->kid[0]);
    fc_at_node(g, n);
    return fc_scalar_value(n->type, rg_build_1(g->b, n->op, x));
}

/* -- conversions
 * ----------------------------------------------------------------------------------- */

static value
cast(gen *g, const node *n)
{
    const ctype *from = n->kid[0]->type;
    if (n->type->kind == TYPE_VOID) {
        fc_effect(g, n->kid[0]);
        return (value){.type = n->type};
    }
    if (n->type->kind == TYPE_POINTER)
        return (value){.type = n->type, .at = fc_pointer(g, n)};
    if (n->type->kind != TYPE_SCALAR || from->kind != TYPE_SCALAR) {
        if (n->type->kind != TYPE_SCALAR || from->kind != TYPE_POINTER)
            return refuse_type(g, n, n->type->kind == TYPE_SCALAR ? from : n->type);
        fc_fail(g, ERR_POINTER_VALUE, n->place, "a pointer turned into a number");
        return fc_nothing(g, n->type);
    }
    if (n->type->dtype == RG_BOOL || (yields_bool(n->kid[0]))) {
        rg_value v = fc_condition(g, n->kid[0], false);
        fc_at_node(g, n);
        return fc_scalar_value(n->type, fc_convert(g, n->type->dtype, v));
    }
    rg_value v = fc_scalar(g, n->kid[0]);
    fc_at_node(g, n);
    return fc_scalar_value(n->type, fc_convert(g, n->type->dtype, v));
}

/* -- assignment
 * ------------------------------------------------------------------------------------ */
static value
assign(gen *g, const node *n)
{
    const node *target = n->kid[0];
    decl *root = fc_lvalue_root(target);
    if (n->type->kind == TYPE_BAD)
        return refuse_type(g, n, n->type);
    if (root && fc_has_number(g, n->kid[1]))
        root->numbered = true;
    if (n->type->kind == TYPE_POINTER) {
        place to = fc_pointer(g, n->kid[1]);
        fc_at_node(g, n);
        fc_pointer_store(g, target, &to);
        return (value){.type = n->type, .at = to};
    }
    value v = fc_expr(g, n->kid[1]);
    place to = fc_lvalue(g, target);
    fc_at_node(g, n);
    fc_store(g, &to, &v, n);
    /* an array moves into its variable; who uses the assignment's value reads it from there */
    return n->type->kind == TYPE_STRUCT ? fc_load(g, &to) : v;
}

static value
compound(gen *g, const node *n)
{
    if (n->type->kind == TYPE_POINTER) {
        place p = fc_pointer(g, n->kid[0]);
        rg_value by = fc_scalar(g, n->kid[1]);
        fc_at_node(g, n);
        if (n->op == RG_OP_SUB)
            by = rg_build_1(g->b, RG_OP_NEG, fc_convert(g, RG_I64, by));
        p = fc_place_move(g, &p, by, n);
        fc_pointer_store(g, n->kid[0], &p);
        return (value){.type = n->type, .at = p};
    }
    if (n->type->kind != TYPE_SCALAR || n->op == RG_OP_COUNT)
        return fc_nothing(g, n->type);
    rg_value y = fc_scalar(g, n->kid[1]);
    place to = fc_lvalue(g, n->kid[0]);
    rg_dtype kept = n->type->dtype;
    rg_dtype computed =
        is_shift(n->op) ? fc_promoted(kept) : fc_common_dtype(kept, rg_value_type(y).dtype);
    fc_at_node(g, n);
    rg_value x = fc_convert(g, computed, fc_load_leaf(g, &to, 0));
    rg_value v = fc_arithmetic(g, n->op, x, is_shift(n->op) ? y : fc_convert(g, computed, y));
    v = fc_convert(g, kept, v);
    fc_store_scalar(g, &to, v, n);
    return fc_scalar_value(n->type, v);
}

static value
increment(gen *g, const node *n)
{
    bool minus = n->bits & INC_MINUS, prefix = n->bits & INC_PREFIX;
    if (n->type->kind == TYPE_POINTER) {
        place old = fc_pointer(g, n->kid[0]);
        fc_at_node(g, n);
        place moved = fc_place_move(g, &old, fc_int_value(g, RG_I64, minus ? -1 : 1), n);
        fc_pointer_store(g, n->kid[0], &moved);
        return (value){.type = n->type, .at = prefix ? moved : old};
    }
    if (n->type->kind != TYPE_SCALAR)
        return fc_nothing(g, n->type);
    place to = fc_lvalue(g, n->kid[0]);
    rg_dtype kept = n->type->dtype, computed = fc_promoted(kept);
    fc_at_node(g, n);
    rg_value old = fc_load_leaf(g, &to, 0);
    rg_value one =
        fc_is_float_dtype(kept) ? rg_build_float(g->b, kept, 1) : fc_int_value(g, computed, 1);
    rg_value v = rg_build_2(g->b, minus ? RG_OP_SUB : RG_OP_ADD, fc_convert(g, computed, old), one);
    v = fc_convert(g, kept, v);
    fc_store_scalar(g, &to, v, n);
    return fc_scalar_value(n->type, prefix ? v : old);
}

/* -- choice
 * ---------------------------------------------------------------------------------------- */
static void
set_choice(gen *g, object *result, const node *n)
{
    value v = fc_expr(g, n);
    place to = fc_place_of(result);
    fc_store(g, &to, &v, n);
}

/* c ? x : y as a branch: what is not evaluated is not differentiated. */
static value
choose(gen *g, const node *n)
{
    if (n->type->kind == TYPE_POINTER)
        return (value){.type = n->type, .at = fc_pointer(g, n)};
    rg_value c = fc_condition(g, n->kid[0], false);
    uint64_t known;
    if (rg_value_is_const(c, &known))
        return fc_expr(g, n->kid[known ? 1 : 2]);
    if (n->type->kind == TYPE_VOID) {
        rg_build_if(g->b, c);
        fc_effect(g, n->kid[1]);
        rg_build_else(g->b);
        fc_effect(g, n->kid[2]);
        rg_build_end(g->b);
        return (value){.type = n->type};
    }
    fc_at_node(g, n);
    object *result = fc_object_local(g, "choice", n->type);
    rg_build_if(g->b, c);
    set_choice(g, result, n->kid[1]);
    rg_build_else(g->b);
    set_choice(g, result, n->kid[2]);
    rg_build_end(g->b);
    place p = fc_place_of(result);
    return fc_load(g, &p);
}

/* x ?: y */
static value
elvis(gen *g, const node *n)
{
    if (n->type->kind == TYPE_POINTER)
        return (value){.type = n->type, .at = fc_pointer(g, n)};
    if (n->type->kind != TYPE_SCALAR) {
        fc_fail(g, ERR_EXPRESSION, n->place, "?: without a middle");
        return fc_nothing(g, n->type);
    }
    rg_value x = fc_scalar(g, n->kid[0]);
    object *result = fc_object_local(g, "choice", n->type);
    place p = fc_place_of(result);
    rg_build_if(g->b, fc_convert(g, RG_BOOL, x));
    fc_store_scalar(g, &p, fc_convert(g, n->type->dtype, x), n);
    rg_build_else(g->b);
    set_choice(g, result, n->kid[1]);
    rg_build_end(g->b);
    return fc_load(g, &p);
}

/* -- places
 * ---------------------------------------------------------------------------------------- */
static object *
object_of(gen *g, const node *n)
{
    decl *d = n->decl;
    if (d->refused)
        return NULL;
    if (d->numbered && g->in_thread)
        fc_fail(g, ERR_OMP_NUMBER, n->place);
    if (!d->object && d->lasting)
        d->object = fc_constant_object(g, d);
    if (!d->object && d->kind != DECL_FUNCTION) {
        /* reached in dead or refused code only: its declaration was */
        front_error error;
        if (!fc_type_problem(d->type, &error))
            d->object = fc_object_local(g, d->name, d->type);
    }
    return d->object;
}

static object *
literal_object(gen *g, const node *n)
{
    object *o = fc_object_local(g, "literal", n->type);
    fc_init_object(g, o, n->decl->init);
    return o;
}

place
fc_nowhere(gen *g, ctype *t)
{
    front_error error;
    if (!t || t->kind == TYPE_ARRAY || fc_type_problem(t, &error)) {
        t = arena_one(g->arena, ctype);
        *t = (ctype){.kind = TYPE_SCALAR, .dtype = RG_F32, .length = -1, .name = "float"};
    }
    place p = fc_place_of(fc_object_local(g, "?", t));
    p.refused = true;
    return p;
}

/* Whether a pointer is what an array or another object holds, and was not moved. */
static bool
is_fresh(const node *n)
{
    while (n->kind == E_CAST)
        n = n->kid[0];
    return n->kind == E_DECAY || n->kind == E_MEMBER || n->kind == E_SUBSCRIPT || n->kind == E_DEREF;
}

place
fc_lvalue(gen *g, const node *n)
{
    place p;
    switch (n->kind) {
    case E_REF: {
        object *o = n->type && n->type->kind == TYPE_POINTER ? n->decl->object : object_of(g, n);
        if (n->decl->refused)
            return fc_nowhere(g, n->type);
        if (o)
            return fc_place_of(o);
        fc_fail(g, n->type && n->type->kind == TYPE_POINTER ? ERR_POINTER_POINTER : ERR_EXPRESSION,
                n->place, "this name");
        return fc_nowhere(g, n->type);
    }
    case E_MEMBER:
        p = fc_lvalue(g, n->kid[0]);
        if (p.refused || p.type->kind != TYPE_STRUCT)
            return fc_nowhere(g, n->type);
        if (fc_field_refused(g, &p.type->rec->fields[n->bits], n))
            return fc_nowhere(g, n->type);
        return fc_place_member(&p, (uint32_t)n->bits);
    case E_SUBSCRIPT: {
        p = fc_pointer(g, n->kid[0]);
        rg_value index = fc_scalar(g, n->kid[1]);
        fc_at_node(g, n);
        p = fc_pointed(g, &p, n);
        if (p.refused)
            return fc_nowhere(g, n->type);
        bool walks = p.walks || !is_fresh(n->kid[0]); /* a subscript of an array stays in it */
        p = fc_place_move(g, &p, index, n);
        p.walks &= walks;
        return p;
    }
    case E_DEREF:
        p = fc_pointer(g, n->kid[0]);
        return fc_pointed(g, &p, n);
    case E_LITERAL:
        return fc_place_of(literal_object(g, n));
    case E_BAD:
        refused(g, n);
        return fc_nowhere(g, n->type);
    default:
        if (n->type && n->type->kind == TYPE_STRUCT) {
            value v = fc_expr(g, n);
            if (v.leaves)
                return fc_place_of(fc_object_of_value(g, "result", v));
        }
        fc_fail(g, ERR_EXPRESSION, n->place, "this operand");
        return fc_nowhere(g, n->type);
    }
}

/* -- all of them
 * ----------------------------------------------------------------------------------- */
static value
from_place(gen *g, const node *n)
{
    if (n->type->kind == TYPE_POINTER || n->type->kind == TYPE_FUNCTION)
        return (value){.type = n->type, .at = fc_pointer(g, n)};
    bool atomic = g->atomic_read; /* the element itself, not what its subscripts read */
    g->atomic_read = false;
    place p = fc_lvalue(g, n);
    g->atomic_read = atomic;
    if (p.refused)
        return fc_nothing(g, n->type);
    if (p.type->kind == TYPE_ARRAY) {
        fc_fail(g, ERR_EXPRESSION, n->place, "an array as a value");
        return fc_nothing(g, n->type);
    }
    fc_at_node(g, n);
    value v = fc_load(g, &p);
    v.type = n->type;
    return v;
}

static value
statements(gen *g, const node *n)
{
    const node *block = n->kid[0];
    uint32_t last = block->count - 1;
    if (block->kind != S_BLOCK || n->type->kind == TYPE_VOID || !block->count || block->list[last]->kind >= S_BAD) {
        fc_stmt(g, block);
        return fc_nothing(g, n->type);
    }
    for (uint32_t i = 0; i < last; i++)
        fc_stmt(g, block->list[i]);
    return fc_expr(g, block->list[last]);
}

value
fc_expr(gen *g, const node *n)
{
    switch (n->kind) {
    case E_BAD:
        return refused(g, n);
    case E_INT:
        return fc_scalar_value(n->type,
                               fc_is_float_dtype(n->type->dtype)
                                   ? rg_build_float(g->b, n->type->dtype, (double)(int64_t)n->bits)
                                   : rg_build_int(g->b, n->type->dtype, (int64_t)n->bits));
    case E_FLOAT:
        return fc_scalar_value(n->type, rg_build_float(g->b, n->type->dtype, n->number));
    case E_UNARY:
        return unary(g, n);
    case E_PLUS:
        return fc_expr(g, n->kid[0]);
    case E_LNOT:
    case E_AND:
    case E_OR:
        return bool_result(g, n);
    case E_INC:
        return increment(g, n);
    case E_ADDR:
    case E_DECAY:
    case E_STRING:
        return (value){.type = n->type, .at = fc_pointer(g, n)};
    case E_BINARY:
        return binary(g, n);
    case E_COMMA:
        fc_effect(g, n->kid[0]);
        return fc_expr(g, n->kid[1]);
    case E_ASSIGN:
        return assign(g, n);
    case E_COMPOUND:
        return compound(g, n);
    case E_COND:
        return choose(g, n);
    case E_ELVIS:
        return elvis(g, n);
    case E_CALL:
        return fc_call(g, n);
    case E_STATEMENTS:
        return statements(g, n);
    case E_REF:
    case E_SUBSCRIPT:
    case E_MEMBER:
    case E_DEREF:
    case E_LITERAL:
        return from_place(g, n);
    case E_CAST:
        return cast(g, n);
    default:
        fc_fail(g, ERR_EXPRESSION, n->place, "this expression");
        return fc_nothing(g, n->type);
    }
}

rg_value
fc_scalar(gen *g, const node *n)
{
    value v = fc_expr(g, n);
    if (!v.scalar)
        v.scalar =
            fc_zero_value(g, n->type && n->type->kind == TYPE_SCALAR ? n->type->dtype : RG_I32);
    return v.scalar;
}

void
fc_effect(gen *g, const node *n)
{
    if (n->kind != E_CALL || !n->decl || n->decl->body || !fc_format_call(g, n))
        fc_expr(g, n);
}
