/* Reverse loops, in lanes. SPDX-License-Identifier: Apache-2.0 */
#include "lanes/lanes.h"
#include "analysis/integers.h"

/* An iteration of an unwind around it may have run for threads that left their loop before its end: this loop's
 * frames are then more than those who come back need. */
static bool
may_idle(lanes *l, const ir_op *maker)
{
    for (const ir_region *r = maker->parent; r && r->op; r = r->op->parent)
        if (r->op->code == RG_OP_LOOP && ir_loop_divergence_of(&l->divergence, r->op)->varies)
            return true;
    return false;
}

/* how many iterations the group recorded: more than the threads that come here may have run in full */
static ir_value *
recorded(lanes *l, const ir_op *op)
{
    ir_value *frames = map_get(&l->frames, map_ptr(ir_trace_maker(op->args[0])));
    if (!frames) /* the same for all */
        return ir_is_uniform(&l->divergence, op->args[1]) ? lanes_one(l, op->args[1]) : NULL;
    if (ir_region_inside(l->into, frames->region))
        return frames;
    return lanes_unary(l, RG_OP_RECALL, frames->type, frames);
}

static void
unwound_body(lanes *l, const ir_op *op, ir_value **params, ir_value *mask, ir_value **next)
{
    ir_value *outer = l->mask;
    l->mask = mask ? mask : outer;
    lanes_set_params(l, op, params, 1);
    lanes_region(l, op->regions[0]);
    lanes_next_values(l, op, 1, mask, params, next);
    l->mask = outer;
}

/* iterations that no thread has run in full are passed over */
static void
perhaps_idle(lanes *l, const ir_op *op, ir_value **params, ir_value *mask, uint32_t n, ir_value **next)
{
    ir_op *made = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, mask)}, 2);
    ir_region *was = lanes_enter(l, made->regions[1]);
    lanes_yield(l, n, params + 1);
    lanes_enter(l, made->regions[0]);
    unwound_body(l, op, params, mask, next);
    lanes_yield(l, n, next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < n; k++)
        next[k] = ir_op_result(made, l->fn, params[1 + k]->type, NULL);
}

/* whether the carried value k begins, in each thread, with what undoing its last iteration gives */
static bool
starts_later(const lanes *l, const ir_op *op, uint32_t k)
{
    const ir_value *init = op->args[ir_first_init(op) + k];
    return init->def && lanes_is_moved(l, init->def, op);
}

/* Undoes the last iterations of the threads that are at theirs: what their carried values start with, and what is
 * used behind the unwind (`behind`, nbehind of them, carried as `kept`). */
static void
undo_partial(lanes *l, const ir_op *op, ir_value *at, ir_value **params, ir_value *const *behind, uint32_t nbehind,
             ir_value **kept)
{
    uint32_t carried = op->regions[0]->nparams - 1, init = ir_first_init(op), n = 0;
    ir_value **ran = lanes_values(l, carried + nbehind), **not = lanes_values(l, carried + nbehind), *outer = l->mask;
    ir_op *made = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, at)}, 2);
    ir_region *was = lanes_enter(l, made->regions[0]);
    l->mask = at;
    lanes_make_moved(l, op);
    for (uint32_t k = 0; k < carried; k++)
        if (starts_later(l, op, k))
            ran[n++] = lanes_select(l, at, lanes_all(l, op->args[init + k]), params[1 + k]);
    for (uint32_t k = 0; k < nbehind; k++)
        ran[n++] = lanes_select(l, at, lanes_all(l, behind[k]), kept[k]);
    lanes_yield(l, n, ran);
    l->mask = outer;
    lanes_enter(l, made->regions[1]);
    n = 0;
    for (uint32_t k = 0; k < carried; k++)
        if (starts_later(l, op, k))
            not[n++] = params[1 + k];
    for (uint32_t k = 0; k < nbehind; k++)
        not[n++] = kept[k];
    lanes_yield(l, n, not);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < carried; k++)
        if (starts_later(l, op, k))
            params[1 + k] = ir_op_result(made, l->fn, params[1 + k]->type, NULL);
    for (uint32_t k = 0; k < nbehind; k++)
        kept[k] = ir_op_result(made, l->fn, kept[k]->type, NULL);
}

/* operands of the unwind: carried values that the last iterations give start in each thread when it comes to its own */
static uint32_t
unwind_args(lanes *l, const ir_op *op, ir_value **args)
{
    args[0] = lanes_one(l, op->args[0]);
    args[1] = recorded(l, op);
    if (!args[1]) { /* made by a loop that all run alike, undone differently far */
        ir_value *most = lanes_or_identity(l, lanes_active(l), lanes_all(l, op->args[1]), RG_RMW_MAX);
        args[1] = lanes_reduce(l, RG_RMW_MAX, most);
    }
    uint32_t n = op->regions[0]->nparams - 1, init = ir_first_init(op);
    for (uint32_t k = 0; k < n; k++) {
        ir_value *v = op->args[init + k];
        args[2 + k] = starts_later(l, op, k) ? lanes_zero(l, lanes_type(l, v->type)) : lanes_carried(l, v, op->regions[0]->params[1 + k]);
    }
    return 2 + n;
}

/* The type in which iterations are counted: 32 bits where they hold every thread's count, which is a cast of so few
 * bits, a number that is known to have no more, or that of a `for` over such an index. Last iterations are marked by -1. */
static rg_dtype
count_dtype(lanes *l, const ir_op *op)
{
    const ir_op *maker = ir_trace_maker(op->args[0]), *count = op->args[1]->def;
    rg_dtype cast = count && count->code == RG_OP_CAST ? (rg_dtype)count->args[0]->type.dtype : RG_NONE;
    bool few = ir_is_int(cast) && ir_bits(cast) <= 32;
    if (ir_loop_divergence_of(&l->divergence, op)->partial)
        return few && ir_is_signed(cast) ? RG_I32 : RG_I64;
    bool of_few = maker->code == RG_OP_FOR && ir_bits((rg_dtype)maker->args[0]->type.dtype) <= 32;
    return few || of_few || range_fits(op->args[1], 32) ? RG_U32 : RG_I64;
}

/* how many full iterations each thread has to undo: none, where it takes no part */
static ir_value *
own_counts(lanes *l, const ir_op *op, rg_dtype d)
{
    ir_value *count = lanes_cast(l, lanes_all(l, op->args[1]), d), *active = lanes_active(l);
    bool partial = ir_loop_divergence_of(&l->divergence, op)->partial; /* none, and no last one either */
    return active ? lanes_select(l, active, count, lanes_const(l, d, partial ? ~(uint64_t)0 : 0)) : count;
}

/* of a loop without a trace, which all threads ran alike */
static void
count_again(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    ir_value **args = lanes_values(l, op->nargs), **next = lanes_values(l, op->nargs);
    uint32_t n = lanes_carried_args(l, op, 1, 0, args);
    ir_op *made = lanes_counted(l, op);
    for (uint32_t k = 0; k < n; k++)
        ir_op_arg(made, l->fn, args[k]);
    ir_region *body = made->regions[0], *was = lanes_enter(l, body);
    lanes_set(l, old->params[0], ir_region_param(body, old->params[0]->type, NULL), NULL);
    ir_value **params = lanes_carried_params(l, op, body, 1);
    unwound_body(l, op, params, NULL, next);
    lanes_yield(l, old->nparams - 1, next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < op->nresults; k++)
        lanes_set_carried(l, op->results[k], ir_op_result(made, l->fn, params[1 + k]->type, NULL));
}

void
lanes_unwind(lanes *l, const ir_op *op)
{
    const ir_loop_divergence *loop = ir_loop_divergence_of(&l->divergence, op);
    if (lanes_is_silent(l, ir_trace_maker(op->args[0]))) {
        count_again(l, op);
        return;
    }
    const ir_region *old = op->regions[0];
    uint32_t nbehind = loop->partial ? lanes_moved_results(l, op, NULL) : 0;
    ir_value **args = lanes_values(l, op->nargs + nbehind), **next = lanes_values(l, op->nargs + nbehind);
    ir_value **behind = lanes_values(l, nbehind), **kept = lanes_values(l, nbehind), *mask = NULL;
    uint32_t n = unwind_args(l, op, args);
    rg_dtype d = count_dtype(l, op);
    ir_value *count = loop->varies ? own_counts(l, op, d) : NULL;
    if (nbehind)
        lanes_moved_results(l, op, behind);
    for (uint32_t k = 0; k < nbehind; k++)
        args[n++] = lanes_zero(l, lanes_type(l, behind[k]->type));
    ir_op *made = lanes_control_op(l, op, RG_OP_UNWIND, n, args);
    ir_region *body = made->regions[0], *was = lanes_enter(l, body);
    ir_value *iteration = ir_region_param(body, old->params[0]->type, NULL);
    lanes_set(l, old->params[0], iteration, NULL);
    ir_value **params = lanes_carried_params(l, op, body, 1);
    for (uint32_t k = 0; k < nbehind; k++)
        kept[k] = ir_region_param(body, lanes_type(l, behind[k]->type), NULL);
    ir_value *number = count ? lanes_cast(l, iteration, d) : NULL;
    if (loop->partial)
        undo_partial(l, op, lanes_binary(l, RG_OP_EQ, number, count), params, behind, nbehind, kept);
    if (loop->varies)
        mask = lanes_binary(l, RG_OP_LT, number, count);
    n = old->nparams - 1;
    if (mask && (loop->partial || may_idle(l, ir_trace_maker(op->args[0]))))
        perhaps_idle(l, op, params, mask, n, next);
    else
        unwound_body(l, op, params, mask, next);
    for (uint32_t k = 0; k < nbehind; k++)
        next[n++] = kept[k];
    lanes_yield(l, n, next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < op->nresults; k++)
        lanes_set_carried(l, op->results[k], ir_op_result(made, l->fn, params[1 + k]->type, NULL));
    for (uint32_t k = 0; k < nbehind; k++)
        lanes_put(l, behind[k], ir_op_result(made, l->fn, lanes_type(l, behind[k]->type), NULL));
}
