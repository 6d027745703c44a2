/* Where entries ask whether their launch is to end. SPDX-License-Identifier: Apache-2.0
 *
 * As an entry begins, in the loops that analysis/polls.h names, and behind each piece of a task. The word may lie in the host's memory: a
 * load of it takes long, and must be made, not taken from a cache. So each loop counts down from RT_GPU_FUEL by about the operations that
 * it runs, and who comes below 0 looks. Lanes may find the word set or not just then: all take what the first one has found. */
#include "codegen/spirv/gen.h"

#include "rt/gpu/gpu.h"

enum { DEVICE = 1, VOLATILE = 0x8000 };

/* The loops of the math library's functions are short. */
ir_polls
sv_polls_of(const gen *g, const ir_op *op)
{
    return g->ir == g->kernel ? ir_polls_of(op, true) : (ir_polls){0};
}

spv_id
sv_stop(gen *g)
{
    spv_id word = sv_pointer_to(g, g->u32, sv_add(g, sv_launch_here(g), offsetof(rt_vulkan_launch, stop)));
    return emit(g, SPV_ATOMIC_LOAD, g->u32, word, sv_u32(g, DEVICE), sv_u32(g, VOLATILE));
}

void
sv_end_cancelled(gen *g, spv_id condition, spv_id place)
{
    spv_id nothing = sv_u64(g, 0);
    sv_branch b = sv_if(g, condition);
    sv_tell_fault(g, RT_FAULT_CANCELLED, place, nothing, nothing, sv_is_first(g));
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    spv_block(&g->s, b.merge);
}

static spv_id
fuel_of(gen *g)
{
    bool was = g->s.at_top;
    if (g->fuel)
        return g->fuel;
    g->fuel = spv_local(&g->s, g->u32);
    g->s.at_top = true;
    emit_do(g, SPV_STORE, g->fuel, sv_u32(g, RT_GPU_FUEL));
    g->s.at_top = was;
    return g->fuel;
}

void
sv_poll(gen *g, const ir_op *op, int64_t work)
{
    spv_id fuel = fuel_of(g), zero = sv_u32(g, 0), burnt = sv_u32(g, (uint32_t)(work < RT_GPU_FUEL ? work : RT_GPU_FUEL));
    spv_id left = emit(g, SPV_I_SUB, g->u32, emit(g, SPV_LOAD, g->u32, fuel), burnt);
    emit_do(g, SPV_STORE, fuel, left);
    sv_branch looks = sv_if(g, emit(g, SPV_S_LESS, g->truth, left, zero));
    emit_do(g, SPV_STORE, fuel, sv_u32(g, RT_GPU_FUEL));
    spv_id stop = sv_take_id(g, g->u32, sv_stop(g), zero);
    sv_end_cancelled(g, emit(g, SPV_I_NOT_EQUAL, g->truth, stop, zero), sv_u32(g, sv_place_number(g, op, NULL, NULL, 0)));
    sv_end_if(g, &looks);
}
