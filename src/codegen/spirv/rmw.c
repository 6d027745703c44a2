/* Read-modify-writes. SPDX-License-Identifier: Apache-2.0
 *
 * What has lanes each lane does for itself; what has none the first lane does. An update that is atomic is one instruction where the
 * device has it, else words are exchanged until nobody came between. Where launches are deterministic floats are added by one lane
 * after the other, where nobody else is (task.c). */
#include "codegen/spirv/gen.h"

#include "analysis/order.h"

enum { DEVICE = 1, RELAXED = 0, ACQUIRE_RELEASE = 0x8 | 0x40 /* of memory that addresses reach */ };

spv_id
sv_combine(gen *g, rg_rmw how, rg_dtype d, spv_id old, spv_id value)
{
    if (how == RG_RMW_EXCHANGE || how == RG_RMW_CAS)
        return value;
    return sv_scalar(g, ir_combining(how), d, d, (spv_id[3]){old, value});
}

static spv_id
scope(gen *g)
{
    return sv_u32(g, DEVICE);
}

static void
need_wide_atomics(gen *g, const ir_op *op)
{
    if (!(g->options->features & SPIRV_ATOMIC_INT64))
        sv_refuse(g, op, "an atomic update of 64 bits, which this device lacks");
    spv_capability(&g->s, SPV_CAP_INT64_ATOMICS);
    g->code.uses |= SPIRV_ATOMIC_INT64;
}

static spv_id
add32(gen *g, spv_id address, spv_id by, uint32_t order)
{
    return emit(g, SPV_ATOMIC_ADD, g->u32, sv_pointer_to(g, g->u32, address), scope(g), sv_u32(g, order), by);
}

spv_id
sv_atomic_add32(gen *g, spv_id address, spv_id by)
{
    return add32(g, address, by, RELAXED);
}

spv_id
sv_arrive(gen *g, spv_id address, spv_id by)
{
    return add32(g, address, by, ACQUIRE_RELEASE);
}

/* the value that a compare-exchange expects */
static spv_id
expected(gen *g, const ir_op *op)
{
    return sv_get(g, op->args[op->nargs - 1 - op->masked]);
}

/* what becomes of the old value */
static spv_id
value_after(gen *g, const ir_op *op, rg_dtype d, spv_id old, spv_id value)
{
    if (op->rmw != RG_RMW_CAS)
        return sv_combine(g, (rg_rmw)op->rmw, d, old, value);
    spv_id same = sv_is(g, sv_raw(g, d, old), sv_raw(g, d, expected(g, op)));
    return sv_choose(g, sv_register(g, d), same, value, old);
}

static spv_id
plain_rmw(gen *g, const ir_op *op, rg_dtype d, spv_id address, spv_id value)
{
    spv_id old = sv_from_raw(g, d, sv_read(g, ir_bytes(d), address));
    sv_write(g, ir_bytes(d), address, sv_raw(g, d, value_after(g, op, d, old, value)));
    return old;
}

/* the instruction of integers of a word or two; 0: there is none with our meaning */
static uint32_t
integer_instruction(rg_rmw how, rg_dtype d)
{
    static const uint32_t table[RG_RMW_COUNT][2] = {
        [RG_RMW_ADD] = {SPV_ATOMIC_ADD, SPV_ATOMIC_ADD},     [RG_RMW_MIN] = {SPV_ATOMIC_U_MIN, SPV_ATOMIC_S_MIN},
        [RG_RMW_MAX] = {SPV_ATOMIC_U_MAX, SPV_ATOMIC_S_MAX}, [RG_RMW_AND] = {SPV_ATOMIC_AND, SPV_ATOMIC_AND},
        [RG_RMW_OR] = {SPV_ATOMIC_OR, SPV_ATOMIC_OR},        [RG_RMW_XOR] = {SPV_ATOMIC_XOR, SPV_ATOMIC_XOR},
        [RG_RMW_EXCHANGE] = {SPV_ATOMIC_EXCHANGE, SPV_ATOMIC_EXCHANGE},
    };
    bool bits = ir_bytes(d) >= 4 && (!ir_is_float(d) || how == RG_RMW_EXCHANGE);
    return bits ? table[how][ir_is_signed(d)] : 0;
}

/* read, compute, compare and exchange the word (or two) until nobody came between */
static spv_id
exchange_words(gen *g, const ir_op *op, rg_dtype d, spv_id address, spv_id value)
{
    uint32_t bytes = ir_bytes(d), ones = bytes == 1 ? 0xff : 0xffff;
    spv_id type = bytes == 8 ? g->u64 : g->u32, zero = sv_u32(g, 0), below = 0;
    if (bytes < 4) {
        below = emit(g, SPV_SHIFT_LEFT, g->u32, emit(g, SPV_AND, g->u32, sv_low(g, address), sv_u32(g, 3)), sv_u32(g, 3));
        address = emit(g, SPV_AND, g->u64, address, sv_u64(g, ~(uint64_t)3));
    }
    spv_id word = sv_pointer_to(g, type, address);
    spv_id first = emit(g, SPV_ATOMIC_LOAD, type, word, scope(g), zero);
    sv_loop l = sv_loop_begin(g, 1, &type, &first);
    spv_id seen = l.at[0], raw = below ? emit(g, SPV_AND, g->u32, emit(g, SPV_SHIFT_RIGHT, g->u32, seen, below), sv_u32(g, ones)) : seen;
    spv_id old = sv_from_raw(g, d, raw), next = sv_raw(g, d, value_after(g, op, d, old, value)), register_type = sv_register(g, d);
    if (below) {
        spv_id others = emit(g, SPV_NOT, g->u32, emit(g, SPV_SHIFT_LEFT, g->u32, sv_u32(g, ones), below));
        next = emit(g, SPV_OR, g->u32, emit(g, SPV_AND, g->u32, seen, others), emit(g, SPV_SHIFT_LEFT, g->u32, next, below));
    }
    spv_id found = emit(g, SPV_ATOMIC_COMPARE, type, word, scope(g), zero, zero, next, seen);
    sv_exit_if(g, &l, sv_is(g, found, seen), 1, &old);
    sv_loop_end(g, &l, &found);
    sv_loop_results(g, &l, &register_type, &old);
    return old;
}

/* what a device must have to add to numbers of this type in one instruction; 0: none can */
static spirv_features
features_of_add(rg_dtype d)
{
    return d == RG_F32 ? SPIRV_ATOMIC_ADD32 : d == RG_F64 ? SPIRV_ATOMIC_ADD64 | SPIRV_FLOAT64 : 0;
}

static bool
has_float_add(const gen *g, rg_dtype d)
{
    spirv_features needs = features_of_add(d);
    return needs && (g->options->features & needs) == needs;
}

bool
sv_can_add(const gen *g, rg_dtype d)
{
    return ir_bytes(d) < 8 || g->options->features & SPIRV_ATOMIC_INT64 || has_float_add(g, d);
}

/* and then the module asks for it */
static bool
adds_floats(gen *g, rg_dtype d)
{
    if (!has_float_add(g, d))
        return false;
    spv_extension(&g->s, "SPV_EXT_shader_atomic_float_add");
    spv_capability(&g->s, d == RG_F32 ? SPV_CAP_ATOMIC_ADD32 : SPV_CAP_ATOMIC_ADD64);
    g->code.uses |= features_of_add(d);
    return true;
}

static spv_id
atomic_rmw(gen *g, const ir_op *op, rg_dtype d, spv_id address, spv_id value)
{
    uint32_t instruction = integer_instruction((rg_rmw)op->rmw, d), bytes = ir_bytes(d);
    spv_id zero = sv_u32(g, 0), type = bytes == 8 ? g->u64 : g->u32;
    if (op->rmw == RG_RMW_ADD && adds_floats(g, d)) {
        spv_id real = sv_register(g, d);
        return emit(g, SPV_ATOMIC_F_ADD, real, sv_pointer_to(g, real, address), scope(g), zero, value);
    }
    if (bytes == 8)
        need_wide_atomics(g, op);
    if (op->rmw == RG_RMW_CAS && bytes >= 4) {
        spv_id word = sv_pointer_to(g, type, address), raw = sv_raw(g, d, value), old = sv_raw(g, d, expected(g, op));
        return sv_from_raw(g, d, emit(g, SPV_ATOMIC_COMPARE, type, word, scope(g), zero, zero, raw, old));
    }
    if (!instruction)
        return exchange_words(g, op, d, address, value);
    spv_id old = emit(g, instruction, type, sv_pointer_to(g, type, address), scope(g), zero, sv_raw(g, d, value));
    return sv_from_raw(g, d, old);
}

/* In a segment one warp runs, but its lanes may meet. */
static spv_id
update_element_once(gen *g, const ir_op *op, rg_dtype d, spv_id address, spv_id value)
{
    return op->atomic && g->task ? atomic_rmw(g, op, d, address, value) : plain_rmw(g, op, d, address, value);
}

bool
sv_has_order(const gen *g, const ir_op *op)
{
    bool wide = op->atomic && op->code == RG_OP_RMW && ir_bytes(ir_dtype(op->args[0])) == 8;
    return ir_update_has_order(op) || (wide && !(g->options->features & SPIRV_ATOMIC_INT64));
}

/* Nobody else is there then: the task runs in order, or the place is a cell of the row's own. */
static bool
takes_turns(const gen *g, const ir_op *op)
{
    return g->options->deterministic && sv_has_order(g, op) && g->task;
}

/* lane after lane */
static spv_id
update_lane_by_lane(gen *g, const ir_op *op, rg_dtype d, const sv_place *p, spv_id value)
{
    spv_id type = sv_register(g, d), nil = sv_const(g, d, 0);
    sv_loop l = sv_count(g, sv_u64(g, 0), sv_u64(g, RT_WARP), 1, &type, &nil);
    spv_id mine = sv_and(g, p->condition, sv_is(g, sv_high(g, g->lane), l.at[0]));
    sv_branch b = sv_if(g, mine);
    spv_id old = plain_rmw(g, op, d, p->address, value);
    sv_end_if(g, &b);
    old = sv_made(g, &b, type, old, l.at[1]);
    sv_barrier(g);
    sv_count_end(g, &l, sv_u64(g, 1), &old);
    sv_loop_results(g, &l, &type, &old);
    return old;
}

static spv_id
rmw_lanes(gen *g, const ir_op *op, rg_dtype d, const sv_place *p, spv_id value)
{
    spv_id type = sv_register(g, d);
    if (takes_turns(g, op))
        return update_lane_by_lane(g, op, d, p, value);
    sv_branch b = sv_if(g, p->condition);
    spv_id old = update_element_once(g, op, d, p->address, value);
    sv_end_if(g, &b);
    return op->nresults ? sv_made(g, &b, type, old, sv_const(g, d, 0)) : old;
}

/* by the first lane; all get what it has found */
static spv_id
rmw_same(gen *g, const ir_op *op, rg_dtype d, const sv_place *p, spv_id value)
{
    spv_id type = sv_register(g, d);
    sv_barrier(g);
    sv_branch b = sv_if(g, sv_and(g, p->condition, sv_is_first(g)));
    spv_id old = takes_turns(g, op) ? plain_rmw(g, op, d, p->address, value) : update_element_once(g, op, d, p->address, value);
    sv_end_if(g, &b);
    if (op->nresults)
        old = sv_made(g, &b, type, old, sv_const(g, d, 0));
    sv_barrier(g);
    return op->nresults ? sv_take(g, d, old, sv_u32(g, 0)) : old;
}

/* Nobody else adds there: one lane's addition need not be atomic. But where that is an instruction, nothing is waited for. */
static void
add_to_own_cell(gen *g, const ir_op *op, const sv_sum *sum, spv_id value)
{
    rg_dtype d = sum->dtype;
    sv_place p = {.address = sv_cell(g, op, sum), .condition = op->masked ? sv_get(g, op->args[op->nargs - 1]) : 0};
    value = sv_cast(g, ir_dtype(op->args[0]), d, value);
    if (ir_lanes_of(op)) {
        rmw_lanes(g, op, d, &p, value);
        return;
    }
    bool at_once = !g->options->deterministic && adds_floats(g, d);
    if (sum->lanes && !at_once)
        sv_barrier(g);
    sv_branch b = sv_if(g, sv_and(g, p.condition, sv_is_first(g)));
    if (at_once)
        atomic_rmw(g, op, d, p.address, value);
    else
        plain_rmw(g, op, d, p.address, value);
    sv_end_if(g, &b);
    if (sum->lanes && !at_once)
        sv_barrier(g);
}

static void
add_to_sum(gen *g, const ir_op *op, const sv_sum *sum, rg_dtype d, const sv_place *p)
{
    spv_id value = sv_get(g, sv_value_of(op));
    sv_branch own = sv_if(g, sum->used);
    add_to_own_cell(g, op, sum, value);
    sv_end_if(g, &own);
    sv_branch shared = sv_if(g, sv_not(g, sum->used));
    if (ir_lanes_of(op))
        rmw_lanes(g, op, d, p, value);
    else
        rmw_same(g, op, d, p, value);
    sv_end_if(g, &shared);
}

void
sv_add_late(gen *g, const ir_op *op, const sv_late_sum *sum)
{
    rg_dtype d = ir_dtype(op->args[0]), from = d == RG_F16 ? RG_F32 : d;
    const sv_sum *cells = sv_sum_of(g, op);
    if (cells) {
        sv_branch own = sv_if(g, sv_and(g, sum->on, sum->used));
        atomic_rmw(g, op, cells->dtype, sum->cell, sv_cast(g, from, cells->dtype, sum->value));
        sv_end_if(g, &own);
    }
    sv_branch shared = sv_if(g, cells ? sv_and(g, sum->on, sv_not(g, sum->used)) : sum->on);
    atomic_rmw(g, op, d, sum->element, sv_cast(g, from, d, sum->value));
    sv_end_if(g, &shared);
}

void
sv_rmw(gen *g, const ir_op *op)
{
    if (sv_put_off(g, op))
        return;
    rg_dtype d = ir_dtype(op->args[0]);
    sv_place p = sv_element(g, op);
    const sv_sum *sum = p.nothing ? NULL : sv_sum_of(g, op);
    spv_id old = p.nothing ? sv_const(g, d, 0) : 0;
    if (sum) {
        add_to_sum(g, op, sum, d, &p);
    } else if (!p.nothing) {
        spv_id value = sv_get(g, sv_value_of(op));
        if (op->rmw == RG_RMW_CAS)
            (void)expected(g, op); /* read before control parts */
        old = ir_lanes_of(op) ? rmw_lanes(g, op, d, &p, value) : rmw_same(g, op, d, &p, value);
    }
    if (op->nresults)
        sv_set(g, op->results[0], old);
}
