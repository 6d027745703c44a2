/* Buffers that the kernel makes or chooses. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

void
gen_pick(gen *g, const ir_op *op)
{
    LLVMValueRef which = gen_get(g, op->args[0]);
    LLVMValueRef chosen = gen_get(g, op->args[op->nargs - 1]);
    for (uint32_t i = op->nargs - 2; i >= 1; i--) {
        LLVMValueRef at = gen_i32(g, i - 1);
        LLVMIntPredicate p = i == 1 ? LLVMIntSLE : LLVMIntEQ; /* clamped to the list */
        LLVMValueRef hit = LLVMBuildICmp(g->b, p, which, at, "");
        chosen = LLVMBuildSelect(g->b, hit, gen_get(g, op->args[i]), chosen, "");
    }
    gen_set(g, op->results[0], chosen);
}

static void
write_field(gen *g, LLVMValueRef arg, unsigned field, unsigned index, LLVMValueRef value)
{
    LLVMValueRef at[3] = {gen_i32(g, 0), gen_i32(g, (int)field), gen_i32(g, (int)index)};
    LLVMBuildStore(g->b, value, LLVMBuildInBoundsGEP2(g->b, g->arg_type, arg, at, 3, ""));
}

static bool
pushes_no_buffer(ir_op *op, void *user)
{
    (void)user;
    for (uint32_t i = 1; op->code == RG_OP_TAPE_PUSH && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            return false;
    return true;
}

/* where the address of a plane is kept until the op runs again; in segments, until another launch */
static LLVMValueRef
last_plane(gen *g, const ir_op *op, unsigned plane)
{
    if (g->plan) {
        LLVMValueRef at = gen_i64(g, (int64_t)(sizeof(rt_arg) + plane * sizeof(void *)));
        return LLVMBuildInBoundsGEP2(g->b, g->i8, gen_recorded(g, op->results[0]), &at, 1, "");
    }
    LLVMValueRef last = gen_alloca(g, g->ptr, NULL, "last");
    LLVMBuildStore(g->s->top, LLVMConstNull(g->ptr), last);
    return last;
}

/* zeroed memory for a plane; `again` may give the place of the iteration before */
static LLVMValueRef
temp_plane(gen *g, const ir_op *op, LLVMValueRef bytes, unsigned plane, bool again)
{
    bool warps = g->target->warp;
    const char *name = !warps ? again ? "rt_cpu_temp_again" : "rt_cpu_temp" : again ? "rt_gpu_temp_again" : "rt_gpu_temp";
    LLVMValueRef args[4] = {g->s->launch, bytes}, last = NULL;
    unsigned n = 2;
    if (again) {
        last = last_plane(g, op, plane);
        args[n++] = LLVMBuildLoad2(g->b, g->ptr, last, "");
    }
    if (warps)
        args[n++] = gen_place_of(g, op, NULL, NULL, 0);
    LLVMValueRef now = gen_runtime_call(g, g->b, name, g->ptr, n, args);
    if (warps) {
        g->gpu->waits = true;
        gen_or_leave(g, now);
    }
    if (!again)
        return now;
    if (warps && g->plan) {
        gen_some some = gen_once_begin(g);
        LLVMBuildStore(g->b, now, last);
        gen_once_end(g, &some);
    } else {
        LLVMBuildStore(g->b, now, last);
    }
    return now;
}

/* memory for a temporary's rt_arg, which every thread writes */
static LLVMValueRef
temp_record(gen *g, const ir_op *op)
{
    LLVMValueRef bytes = gen_i64(g, sizeof(rt_arg));
    if (!g->target->warp)
        return temp_plane(g, op, bytes, 0, false);
    LLVMValueRef args[3] = {g->s->launch, bytes, gen_place_of(g, op, NULL, NULL, 0)};
    LLVMValueRef record = gen_runtime_call(g, g->b, "rt_gpu_record", g->ptr, 3, args);
    g->gpu->waits = true;
    gen_or_leave(g, record);
    return record;
}

/* A temporary is an rt_arg of the kernel's own, with the planes that anything reaches. Where
 * buffers are recorded each execution has a place of its own; else a loop reuses one. */
void
gen_temp(gen *g, const ir_op *op)
{
    ir_value *buffer = op->results[0];
    uint32_t rank = buffer->type.rank;
    uint8_t planes = ir_effects_planes(&g->effects, buffer);
    bool again = ir_walk(g->ir->body, pushes_no_buffer, NULL);
    LLVMValueRef arg = !again ? temp_record(g, op) : g->plan ? gen_recorded(g, buffer) : gen_alloca(g, g->arg_type, NULL, "temp");
    LLVMValueRef count = gen_i64(g, 1);
    if (g->plan) /* nobody reads what was there before */
        gen_warp_sync(g);
    for (uint32_t k = rank; k-- > 0;) {
        LLVMValueRef extent = gen_wide(g, op->args[k]);
        write_field(g, arg, FIELD_EXTENT, k, extent);
        write_field(g, arg, FIELD_STRIDE, k, count);
        count = LLVMBuildMul(g->b, count, extent, "");
    }
    LLVMValueRef bytes =
        LLVMBuildMul(g->b, count, gen_i64(g, ir_bytes((rg_dtype)buffer->type.dtype)), "");
    for (unsigned p = 0; p < RT_PLANES; p++)
        if (planes >> p & 1) {
            LLVMValueRef all = LLVMBuildMul(g->b, bytes, gen_i64(g, g->directions[p]), "");
            write_field(g, arg, FIELD_PLANE, p, temp_plane(g, op, all, p, again));
        }
    gen_set(g, buffer, arg);
}
