/* Local arrays: variables of each lane, also where they are the same in all; constant tables. SPDX-License-Identifier: Apache-2.0
 *
 * A slot of the kernel level lies in the record, and one that was popped in its frame: in memory, one element after the other, each
 * in all of its lanes. */
#include "codegen/spirv/gen.h"

static bool
is_in_memory(const gen *g, const ir_value *slot)
{
    return g->in_memory[slot->id];
}

spv_id
sv_table(gen *g, const ir_op *op)
{
    const ir_value *v = op->results[0];
    rg_dtype d = ir_dtype(v);
    uint32_t n = v->type.length, bytes = ir_bytes(d);
    char name[96];
    snprintf(name, sizeof name, "%.64s.table.%u", g->ir->name, v->id);
    uint64_t key = hash_bytes(SPV_VARIABLE, name, strlen(name));
    void *made = map_get(&g->functions, key);
    if (made)
        return (spv_id)(uintptr_t)made;
    spv_id *elements = arena_new_n(g->in, spv_id, n + 1), type = spv_array(&g->s, sv_register(g, d), n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)op->attr.data + (size_t)i * bytes, bytes);
        elements[i] = sv_const(g, d, ir_is_float(d) ? bits : ir_wrap(d, bits));
    }
    spv_id initial = spv_known(&g->s, SPV_COMPOSITE_CONSTANT, type, n, elements);
    spv_id table = spv_global(&g->s, SPV_PRIVATE, type, initial, 0);
    map_set(&g->functions, key, (void *)(uintptr_t)table);
    return table;
}

static spv_id
variable_type(gen *g, const ir_value *slot)
{
    return spv_array(&g->s, sv_register(g, ir_dtype(slot)), slot->type.length);
}

void
sv_slot(gen *g, const ir_op *op)
{
    const ir_value *slot = op->results[0];
    if (!g->values[slot->id])
        sv_set(g, slot, spv_local(&g->s, variable_type(g, slot)));
}

/* of an element in memory; lanes: the slot's */
static spv_id
memory_place(gen *g, const ir_value *slot, spv_id k)
{
    uint32_t bytes = ir_bytes(ir_dtype(slot));
    if (slot->type.lanes)
        k = emit(g, SPV_I_ADD, g->u64, emit(g, SPV_I_MUL, g->u64, k, sv_u64(g, RT_WARP)), sv_high(g, g->lane));
    return emit(g, SPV_I_ADD, g->u64, sv_get(g, slot), emit(g, SPV_I_MUL, g->u64, k, sv_u64(g, bytes)));
}

static spv_id
variable_place(gen *g, const ir_value *slot, spv_id k)
{
    uint32_t storage = ir_is_table(slot) ? SPV_PRIVATE : SPV_IN_FUNCTION;
    spv_id at = sv_get(g, slot), most = sv_u32(g, slot->type.length - 1);
    spv_id index = sv_glsl(g, SPV_U_MIN, g->u32, 2, (spv_id[]){sv_low(g, k), most}); /* a lane that takes no part may have any */
    return emit(g, SPV_CHAIN, spv_pointer(&g->s, storage, sv_register(g, ir_dtype(slot))), at, index);
}

spv_id
sv_slot_get(gen *g, const ir_value *slot, spv_id k)
{
    rg_dtype d = ir_dtype(slot);
    (void)sv_get(g, slot);
    if (is_in_memory(g, slot))
        return sv_from_raw(g, d, sv_read(g, ir_bytes(d), memory_place(g, slot, k)));
    return emit(g, SPV_LOAD, sv_register(g, d), variable_place(g, slot, k));
}

void
sv_slot_put(gen *g, const ir_value *slot, spv_id k, spv_id v)
{
    rg_dtype d = ir_dtype(slot);
    (void)sv_get(g, slot);
    if (!is_in_memory(g, slot)) {
        emit_do(g, SPV_STORE, variable_place(g, slot, k), v);
        return;
    }
    spv_id at = memory_place(g, slot, k), raw = sv_raw(g, d, v);
    if (slot->type.lanes) {
        sv_write(g, ir_bytes(d), at, raw);
        return;
    }
    sv_branch once = sv_once(g); /* of the kernel level: one for all */
    sv_write(g, ir_bytes(d), at, raw);
    sv_end_once(g, &once);
}

void
sv_slot_load(gen *g, const ir_op *op)
{
    rg_dtype d = ir_dtype(op->args[0]);
    spv_id mask = op->masked ? sv_get(g, op->args[op->nargs - 1]) : 0, k = sv_wide(g, op->args[1]);
    (void)sv_get(g, op->args[0]);
    bool guarded = mask && is_in_memory(g, op->args[0]);
    sv_branch b = sv_if(g, guarded ? mask : 0);
    spv_id v = sv_slot_get(g, op->args[0], k);
    sv_end_if(g, &b);
    v = guarded ? sv_made(g, &b, sv_register(g, d), v, sv_const(g, d, 0)) : v;
    if (mask && !guarded)
        v = sv_choose(g, sv_register(g, d), mask, v, sv_const(g, d, 0));
    sv_set(g, op->results[0], v);
}

void
sv_slot_store(gen *g, const ir_op *op)
{
    spv_id v = sv_get(g, op->args[2]), k = sv_wide(g, op->args[1]), mask = op->masked ? sv_get(g, op->args[op->nargs - 1]) : 0;
    (void)sv_get(g, op->args[0]);
    sv_branch b = sv_if(g, mask);
    sv_slot_put(g, op->args[0], k, v);
    sv_end_if(g, &b);
}

void
sv_slot_copy(gen *g, const ir_op *op)
{
    const ir_value *to = op->args[0], *from = op->args[1];
    (void)sv_get(g, to);
    (void)sv_get(g, from);
    sv_loop l = sv_count(g, sv_u64(g, 0), sv_u64(g, to->type.length), 0, NULL, NULL);
    sv_slot_put(g, to, l.at[0], sv_slot_get(g, from, l.at[0]));
    sv_count_end(g, &l, sv_u64(g, 1), NULL);
}

void
sv_slot_zero(gen *g, const ir_op *op)
{
    const ir_value *slot = op->args[0];
    spv_id type = variable_type(g, slot), at = sv_get(g, slot);
    if (!is_in_memory(g, slot)) {
        emit_do(g, SPV_STORE, at, spv_known(&g->s, SPV_NULL, type, 0, NULL));
        return;
    }
    sv_loop l = sv_count(g, sv_u64(g, 0), sv_u64(g, slot->type.length), 0, NULL, NULL);
    sv_slot_put(g, slot, l.at[0], sv_const(g, ir_dtype(slot), 0));
    sv_count_end(g, &l, sv_u64(g, 1), NULL);
}

/* lane l of element k becomes lane k of element l: round r exchanges with lane number ^ r */
void
sv_slot_turn(gen *g, const ir_op *op)
{
    const ir_value *slot = op->args[0];
    rg_dtype d = ir_dtype(slot);
    for (uint32_t r = 1; r < slot->type.length; r++) {
        spv_id partner = emit(g, SPV_XOR, g->u32, g->lane, sv_u32(g, r)), k = sv_high(g, partner);
        sv_slot_put(g, slot, k, sv_take(g, d, sv_slot_get(g, slot, k), partner));
    }
}
