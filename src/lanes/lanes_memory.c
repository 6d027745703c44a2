/* Memory, local arrays and what the user sees, in lanes. SPDX-License-Identifier: Apache-2.0
 *
 * Where all threads of a group touch one element, they do so once; successive elements are a vector; else each
 * lane has its own subscripts, and only lanes that take part touch anything. */
#include "lanes/lanes.h"

static ir_op *
copy_of_access(lanes *l, const ir_op *op)
{
    ir_op *made = ir_op_like(l->fn, op);
    made->loc = l->loc;
    return made;
}

/* an access like op's: its buffer and subscripts, then `value` (NULL: none), then the mask */
static ir_op *
masked_access(lanes *l, const ir_op *op, ir_value *value, ir_value *mask)
{
    ir_op *made = copy_of_access(l, op);
    made->successive = ir_is_successive_access(&l->divergence, op);
    made->masked = mask != NULL;
    ir_op_arg(made, l->fn, lanes_one(l, op->args[0]));
    for (uint32_t i = 1; i <= ir_subscripts(op); i++)
        ir_op_arg(made, l->fn, made->successive ? lanes_one(l, op->args[i]) : lanes_operand(l, op->args[i]));
    if (value)
        ir_op_arg(made, l->fn, value);
    if (mask)
        ir_op_arg(made, l->fn, mask);
    ir_append(l->into, made);
    return made;
}

/* the same access by all threads, once: operand `at` becomes `value` (NULL: as it is) */
static ir_op *
access_once(lanes *l, const ir_op *op, ir_value *value)
{
    ir_op *made = copy_of_access(l, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(made, l->fn, value && i == 1 + ir_subscripts(op) ? value : lanes_one(l, op->args[i]));
    ir_append(l->into, made);
    return made;
}

void
lanes_load(lanes *l, const ir_op *op)
{
    const ir_value *v = op->results[0];
    if (ir_is_uniform_access(&l->divergence, op)) {
        lanes_set(l, v, ir_op_result(access_once(l, op, NULL), l->fn, v->type, NULL), NULL);
        return;
    }
    ir_op *made = masked_access(l, op, NULL, lanes_active(l));
    lanes_set(l, v, NULL, ir_op_result(made, l->fn, lanes_type(l, v->type), NULL));
}

/* what the last lane that takes part has: it comes last where threads run one after the other */
static ir_value *
last_lane(lanes *l, ir_value *v)
{
    ir_value *mask = lanes_active(l), *lane;
    if (mask) {
        ir_value *bits = lanes_unary(l, RG_OP_LANES_BITS, ir_scalar(RG_U64), mask);
        ir_value *above = lanes_cast(l, lanes_unary(l, RG_OP_CLZ, bits->type, bits), RG_I32);
        lane = lanes_binary(l, RG_OP_SUB, lanes_const(l, RG_I32, 63), above);
    } else {
        lane = lanes_const(l, RG_I32, l->width - 1);
    }
    return lanes_value(l, RG_OP_LANE_GET, ir_with_lanes(v->type, 0), 2, (ir_value *[]){v, lane});
}

void
lanes_store(lanes *l, const ir_op *op)
{
    ir_value *value = lanes_operand(l, op->args[op->nargs - 1]);
    if (!ir_is_uniform_access(&l->divergence, op))
        masked_access(l, op, lanes_splat(l, value), lanes_active(l));
    else
        access_once(l, op, value->type.lanes ? last_lane(l, value) : value);
}

/* -- read-modify-write ------------------------------------------------------------------------------- */

static bool
combines(const ir_op *op)
{
    return !op->nresults && op->rmw != RG_RMW_EXCHANGE && op->rmw != RG_RMW_CAS;
}

static ir_value *
of_lane(lanes *l, ir_value *v, ir_value *lane)
{
    if (!v->type.lanes)
        return v;
    return lanes_value(l, RG_OP_LANE_GET, ir_with_lanes(v->type, 0), 2, (ir_value *[]){v, lane});
}

static ir_value *
one_lanes_rmw(lanes *l, ir_value *lane, void *user)
{
    const ir_op *op = user;
    ir_op *made = copy_of_access(l, op);
    ir_op_arg(made, l->fn, lanes_one(l, op->args[0]));
    for (uint32_t i = 1; i < op->nargs; i++)
        ir_op_arg(made, l->fn, of_lane(l, lanes_operand(l, op->args[i]), lane));
    ir_append(l->into, made);
    return op->nresults ? ir_op_result(made, l->fn, op->results[0]->type, NULL) : NULL;
}

/* On a GPU each lane's update is an atomic operation of its own, or there is no other at its element. */
static void
rmw_in_lanes(lanes *l, const ir_op *op)
{
    uint32_t at = 1 + ir_subscripts(op);
    bool cas = op->rmw == RG_RMW_CAS;
    ir_op *made = masked_access(l, op, lanes_all(l, op->args[at]), cas ? lanes_all(l, op->args[at + 1]) : lanes_active(l));
    if (cas && lanes_active(l))
        ir_op_arg(made, l->fn, lanes_active(l));
    made->masked = lanes_active(l) != NULL;
    if (op->nresults)
        lanes_set(l, op->results[0], NULL, ir_op_result(made, l->fn, lanes_type(l, op->results[0]->type), NULL));
}

/* whether subscript i differs in any lane that takes part from what it is in the first one of them, `lane` */
static ir_value *
differs_from(lanes *l, const ir_op *op, ir_value *differs, uint32_t i, ir_value *lane, ir_value **first)
{
    ir_value *at = lanes_operand(l, op->args[i]);
    *first = of_lane(l, at, lane);
    if (!at->type.lanes)
        return differs;
    ir_value *other = lanes_binary(l, RG_OP_NE, at, *first);
    return differs ? lanes_binary(l, RG_OP_OR, differs, other) : other;
}

/* Lanes often meet at one element: if all do, they update it once. */
static void
rmw_by_rows(lanes *l, const ir_op *op)
{
    uint32_t n = ir_subscripts(op);
    ir_value *value = lanes_all(l, op->args[1 + n]), *mask = lanes_active(l), *differs = NULL;
    ir_value **first = arena_new_n(l->scratch, ir_value *, n + 1), *lane = lanes_const(l, RG_I32, 0);
    if (l->mask) { /* those that are threads are the first ones */
        ir_value *bits = lanes_unary(l, RG_OP_LANES_BITS, ir_scalar(RG_U64), mask);
        lane = lanes_cast(l, lanes_unary(l, RG_OP_CTZ, bits->type, bits), RG_I32);
    }
    for (uint32_t i = 0; i < n; i++)
        differs = differs_from(l, op, differs, 1 + i, lane, &first[i]);
    differs = mask ? lanes_binary(l, RG_OP_AND, differs, mask) : differs;
    ir_op *ask = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, differs)}, 2);
    ir_region *was = lanes_enter(l, ask->regions[0]);
    rmw_in_lanes(l, op);
    lanes_yield(l, 0, NULL);
    lanes_enter(l, ask->regions[1]);
    ir_op *made = copy_of_access(l, op);
    ir_op_arg(made, l->fn, lanes_one(l, op->args[0]));
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(made, l->fn, first[i]);
    ir_op_arg(made, l->fn, lanes_reduce(l, (rg_rmw)op->rmw, lanes_or_identity(l, mask, value, (rg_rmw)op->rmw)));
    ir_append(l->into, made);
    lanes_yield(l, 0, NULL);
    lanes_enter(l, was);
}

/* Additions of lanes: what may meet stays one op for lower_rows, which makes it lane by lane where it has nothing better. */
static bool
adds_in_lanes(lanes *l, const ir_op *op)
{
    bool meets = op->atomic && !ir_is_successive_access(&l->divergence, op);
    return combines(op) && op->rmw == RG_RMW_ADD && !ir_is_uniform_access(&l->divergence, op) && !(meets && l->target->warp);
}

void
lanes_rmw(lanes *l, const ir_op *op)
{
    ir_value *value = op->args[1 + ir_subscripts(op)];
    if (ir_is_uniform_access(&l->divergence, op) && combines(op)) {
        ir_value *each = lanes_or_identity(l, lanes_active(l), lanes_all(l, value), (rg_rmw)op->rmw);
        access_once(l, op, lanes_reduce(l, (rg_rmw)op->rmw, each));
    } else if (adds_in_lanes(l, op)) {
        masked_access(l, op, lanes_all(l, value), lanes_active(l));
    } else if (l->target->warp && op->atomic && combines(op) && ir_is_often_uniform_access(&l->divergence, op)) {
        rmw_by_rows(l, op);
    } else if (l->target->warp && (op->atomic || !ir_is_uniform_access(&l->divergence, op))) {
        rmw_in_lanes(l, op);
    } else {
        const ir_type *type = op->nresults ? &op->results[0]->type : NULL;
        ir_value *old = lanes_serial(l, lanes_active(l), type, one_lanes_rmw, (void *)op);
        if (old)
            lanes_set(l, op->results[0], NULL, old);
    }
}

/* -- local arrays ------------------------------------------------------------------------------------- */

/* Lanes that are no threads have subscripts that mean nothing; an array's own lanes may be written by all. */
void
lanes_extract(lanes *l, const ir_op *op)
{
    const ir_value *v = op->results[0];
    ir_value *array = lanes_operand(l, op->args[0]), *index = lanes_operand(l, op->args[1]);
    bool in_lanes = array->type.lanes || index->type.lanes;
    ir_value *mask = index->type.lanes ? lanes_active(l) : NULL;
    ir_op *made = lanes_op(l, RG_OP_EXTRACT, mask ? 3 : 2, (ir_value *[]){array, index, mask}, 0);
    made->masked = mask != NULL;
    ir_value *element = ir_op_result(made, l->fn, in_lanes ? lanes_type(l, v->type) : v->type, NULL);
    lanes_put(l, v, element);
}

void
lanes_insert(lanes *l, const ir_op *op)
{
    const ir_value *v = op->results[0];
    ir_value *array = lanes_operand(l, op->args[0]), *index = lanes_operand(l, op->args[1]);
    ir_value *value = lanes_operand(l, op->args[2]);
    bool in_lanes = array->type.lanes;
    ir_value *mask = !in_lanes ? NULL : index->type.lanes ? lanes_active(l) : l->mask;
    ir_value *args[4] = {array, index, in_lanes ? lanes_splat(l, value) : value, mask};
    ir_op *made = lanes_op(l, RG_OP_INSERT, mask ? 4 : 3, args, 0);
    made->masked = mask != NULL;
    lanes_put(l, v, ir_op_result(made, l->fn, array->type, NULL));
}

/* -- what the user sees ------------------------------------------------------------------------------- */

static ir_op *
effect(lanes *l, const ir_op *op, uint32_t nargs, ir_value **args)
{
    ir_op *made = copy_of_access(l, op);
    for (uint32_t i = 0; i < nargs; i++)
        ir_op_arg(made, l->fn, args[i]);
    ir_append(l->into, made);
    return made;
}

/* one of the threads at which it fails is enough */
void
lanes_assert(lanes *l, const ir_op *op)
{
    ir_value *holds = lanes_operand(l, op->args[0]), *fails = NULL;
    if (holds->type.lanes) {
        ir_type type = holds->type;
        ir_value *mask = lanes_active(l);
        fails = lanes_unary(l, RG_OP_NOT, type, holds);
        fails = mask ? lanes_binary(l, RG_OP_AND, fails, mask) : fails;
        holds = lanes_unary(l, RG_OP_NOT, ir_scalar(RG_BOOL), lanes_any(l, fails));
    }
    ir_value *args[4] = {holds};
    uint32_t n = op->nargs == 1 ? 1 : 4;
    if (n == 4) { /* which subscript it is, the mask tells */
        args[1] = lanes_operand(l, op->args[1]);
        args[2] = lanes_operand(l, op->args[2]);
        args[3] = fails ? fails : lanes_splat(l, lanes_unary(l, RG_OP_NOT, holds->type, holds));
    }
    effect(l, op, n, args);
}

static ir_value *
one_lanes_print(lanes *l, ir_value *lane, void *user)
{
    const ir_op *op = user;
    ir_value **args = arena_new_n(l->scratch, ir_value *, op->nargs + 1);
    for (uint32_t i = 0; i < op->nargs; i++)
        args[i] = of_lane(l, lanes_operand(l, op->args[i]), lane);
    effect(l, op, op->nargs, args);
    return NULL;
}

void
lanes_print(lanes *l, const ir_op *op)
{
    lanes_serial(l, lanes_active(l), NULL, one_lanes_print, (void *)op);
}
