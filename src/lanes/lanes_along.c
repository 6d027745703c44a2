/* Loops that each thread of a group runs for itself: the compiler makes vectors of iterations. SPDX-License-Identifier: Apache-2.0
 *
 *   %r = for %i .. (%s = %zero) {               loop (bits of the mask; %all: f32x16 = %zero) {
 *     %v = load %x[%start + %i]                   %l = the lowest lane
 *     %t = add.fast %s, %v                ->      %r = for %i .. (%s) { .. load %x[%start of %l + %i] .. }
 *     yield %t                                    %all = lane_set %all, %l, %r
 *   }                                           }
 *
 * A loop of which nothing is recorded needs no trace: its reverse is a loop that counts, down where the order matters. */
#include "analysis/order.h"
#include "ir/recall.h"
#include "lanes/lanes.h"

/* -- loops without a trace -------------------------------------------------------------------------------------------- */

bool
lanes_is_silent(lanes *l, const ir_op *maker)
{
    return maker->code == RG_OP_FOR && !l->target->warp && !ir_loop_divergence_of(&l->divergence, maker)->varies &&
           !map_get(&l->recorded, map_ptr(maker));
}

/* what records something that is recalled, traces of silent loops apart */
static bool
note_recalled(ir_op *op, void *user)
{
    lanes *l = user;
    if (op->code == RG_OP_UNWIND && ir_loop_divergence_of(&l->divergence, op)->varies)
        map_set(&l->recorded, map_ptr(ir_trace_maker(op->args[0])), op);
    if (op->code != RG_OP_RECALL)
        return true;
    for (const ir_region *r = op->args[0]->region; r->op; r = r->op->parent) {
        const ir_op *maker = op->args[0]->type.kind == IR_TRACE ? ir_trace_maker(op->args[0]) : NULL;
        if (r->op->records && !(maker && lanes_is_silent(l, maker)) && !map_get(&l->recorded, map_ptr(r->op))) {
            map_set(&l->recorded, map_ptr(r->op), r->op);
            l->divergence.changed = true;
        }
    }
    return true;
}

void
lanes_find_silent(lanes *l, ir_region *body)
{
    l->recorded.in = l->scratch;
    do {
        l->divergence.changed = false;
        ir_walk(body, note_recalled, l);
    } while (l->divergence.changed);
}

/* -- a thread's own loop ----------------------------------------------------------------------------------------------- */

typedef struct own_loop {
    lanes *l;
    const ir_op *op;
    ir_value **map, *lane; /* by id: what a value from outside of the loop is in this lane */
} own_loop;

static ir_value *
in_lane(lanes *l, ir_value *v, ir_value *lane)
{
    ir_value *all = lanes_operand(l, v);
    return all->type.lanes ? lanes_value(l, RG_OP_LANE_GET, ir_with_lanes(v->type, 0), 2, (ir_value *[]){all, lane}) : all;
}

static bool
take_operands(ir_op *op, void *user)
{
    own_loop *own = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        if (!ir_region_inside(v->region, own->op->regions[0]) && !own->map[v->id])
            own->map[v->id] = in_lane(own->l, v, own->lane);
    }
    return true;
}

ir_op *
lanes_counted(lanes *l, const ir_op *op)
{
    bool unwinds = op->code == RG_OP_UNWIND, back = unwinds && !ir_has_no_order(op, l->scratch);
    ir_value *bounds[2] = {unwinds ? lanes_const(l, RG_I64, 0) : lanes_one(l, op->args[0]), lanes_one(l, op->args[1])};
    if (back) {
        ir_value *before = lanes_const(l, RG_I64, UINT64_MAX);
        bounds[0] = lanes_binary(l, RG_OP_ADD, bounds[1], before);
        bounds[1] = before;
    }
    ir_op *made = lanes_op(l, RG_OP_FOR, 2, bounds, 1);
    made->flags = op->flags;
    made->records = false;
    made->attr.step = back ? -1 : unwinds ? 1 : op->attr.step;
    return made;
}

/* The loop as one lane runs it; `carried` become its results. */
static void
make_own_loop(lanes *l, const ir_op *op, ir_value *lane, ir_value **carried)
{
    const ir_region *body = op->regions[0];
    own_loop own = {l, op, arena_new_n(l->scratch, ir_value *, l->known + 1), lane};
    ir_walk((ir_region *)body, take_operands, &own);
    ir_op *made = lanes_counted(l, op);
    for (uint32_t k = 0; k < body->nparams; k++) {
        own.map[body->params[k]->id] = ir_region_param(made->regions[0], body->params[k]->type, body->params[k]->name);
        if (k)
            ir_op_arg(made, l->fn, carried[k - 1]);
    }
    ir_for_ops(inner, body)
        ir_op_clone(l->fn, inner, own.map, made->regions[0]);
    for (uint32_t k = 1; k < body->nparams; k++)
        carried[k - 1] = ir_op_result(made, l->fn, body->params[k]->type, NULL);
}

void
lanes_along(lanes *l, const ir_op *op)
{
    uint32_t n = op->regions[0]->nparams - 1, init = ir_first_init(op);
    ir_value *mask = lanes_active(l), **carried = lanes_values(l, n);
    ir_value **args = lanes_values(l, n + 1), **all = lanes_values(l, n + 1);
    uint64_t every = l->width < 64 ? ((uint64_t)1 << l->width) - 1 : UINT64_MAX;
    args[0] = mask ? lanes_unary(l, RG_OP_LANES_BITS, ir_scalar(RG_U64), mask) : lanes_const(l, RG_U64, every);
    for (uint32_t k = 0; k < n; k++)
        args[1 + k] = lanes_carried(l, op->args[init + k], op->results[k]);
    ir_op *loop = lanes_op(l, RG_OP_LOOP, n + 1, args, 1);
    ir_region *body = loop->regions[0], *was = lanes_enter(l, body);
    for (uint32_t k = 0; k <= n; k++)
        all[k] = ir_region_param(body, args[k]->type, NULL);
    ir_value *none = lanes_binary(l, RG_OP_EQ, all[0], lanes_const(l, RG_U64, 0)), **leave = lanes_values(l, n + 1);
    leave[0] = none;
    memcpy(leave + 1, all + 1, sizeof *all * n);
    lanes_op(l, RG_OP_EXIT_IF, n + 1, leave, 0);
    ir_value *lane = lanes_cast(l, lanes_unary(l, RG_OP_CTZ, ir_scalar(RG_U64), all[0]), RG_I32);
    for (uint32_t k = 0; k < n; k++)
        carried[k] = in_lane(l, op->args[init + k], lane);
    make_own_loop(l, op, lane, carried);
    ir_value *less = lanes_binary(l, RG_OP_SUB, all[0], lanes_const(l, RG_U64, 1));
    all[0] = lanes_binary(l, RG_OP_AND, all[0], less);
    for (uint32_t k = 1; k <= n; k++)
        all[k] = all[k]->type.lanes ? lanes_value(l, RG_OP_LANE_SET, all[k]->type, 3, (ir_value *[]){all[k], lane, carried[k - 1]})
                                    : carried[k - 1];
    lanes_yield(l, n + 1, all);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < n; k++)
        lanes_set_carried(l, op->results[k], ir_op_result(loop, l->fn, args[1 + k]->type, NULL));
}
