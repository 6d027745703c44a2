/* One thread of a GPU's warp: what lanes have to do with each other. SPDX-License-Identifier: Apache-2.0
 *
 * A value with lanes is a scalar in each thread, a value without is the same in all of them. Primitives of the warp
 * (rt/gpu/warp.h) are called where control is the warp's; what one lane does by itself stands in blocks of its own,
 * in which there are none. */
#include "codegen/llvm/nvidia.h"
#include "rt/gpu/gpu.h"

/* -- primitives -------------------------------------------------------------------------------- */

static LLVMValueRef
lane(gen *g)
{
    if (!g->s->lane_number)
        g->s->lane_number = gen_warp_call(g, g->s->top, "rt_warp_lane", g->i32, 0, NULL);
    return g->s->lane_number;
}

LLVMValueRef
gen_own_lane(gen *g, LLVMTypeRef type)
{
    LLVMValueRef number = lane(g);
    return type == g->i32 ? number : LLVMBuildIntCast2(g->b, number, type, false, "");
}

LLVMValueRef
gen_ballot(gen *g, LLVMValueRef mine)
{
    LLVMValueRef wide = LLVMBuildZExt(g->b, mine, g->i32, "");
    return gen_warp_call(g, g->b, "rt_warp_ballot", g->i32, 1, &wide);
}

/* integers and floats travel as bits of 32 or 64 */
static LLVMValueRef
from_lane(gen *g, LLVMValueRef v, LLVMValueRef from, const char *narrow_name, const char *wide_name)
{
    LLVMTypeRef type = LLVMTypeOf(v), bits = type;
    bool real = type == g->f16 || type == g->f32 || type == g->f64;
    if (LLVMIsConstant(v))
        return v;
    if (real)
        bits = type == g->f16 ? g->i16 : type == g->f32 ? g->i32 : g->i64;
    LLVMTypeRef wide = LLVMGetIntTypeWidth(bits) <= 32 ? g->i32 : g->i64;
    LLVMValueRef args[2] = {real ? LLVMBuildBitCast(g->b, v, bits, "") : v, from};
    args[0] = LLVMBuildIntCast2(g->b, args[0], wide, false, "");
    const char *name = wide == g->i32 ? narrow_name : wide_name;
    LLVMValueRef taken = gen_warp_call(g, g->b, name, wide, 2, args);
    taken = LLVMBuildIntCast2(g->b, taken, bits, false, "");
    return real ? LLVMBuildBitCast(g->b, taken, type, "") : taken;
}

LLVMValueRef
gen_take(gen *g, LLVMValueRef v, LLVMValueRef lane)
{
    return from_lane(g, v, lane, "rt_warp_take32", "rt_warp_take64");
}

LLVMValueRef
gen_swap(gen *g, LLVMValueRef v, uint32_t bits)
{
    return from_lane(g, v, gen_i32(g, bits), "rt_warp_swap32", "rt_warp_swap64");
}

LLVMValueRef
gen_take_first(gen *g, LLVMValueRef v)
{
    return gen_take(g, v, gen_i32(g, 0));
}

void
gen_warp_sync(gen *g)
{
    gen_runtime_call(g, g->b, "rt_warp_sync", g->nothing, 0, NULL);
}

/* NVIDIA's GPUs since sm_80 do it in one instruction for integers of 32 bits; NULL: not here. */
static LLVMValueRef
reduce_at_once(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef v)
{
    static const char *const names[RG_RMW_COUNT][2] = {
        [RG_RMW_ADD] = {"add", "add"}, [RG_RMW_MIN] = {"umin", "min"}, [RG_RMW_MAX] = {"umax", "max"},
        [RG_RMW_AND] = {"and", "and"}, [RG_RMW_OR] = {"or", "or"},     [RG_RMW_XOR] = {"xor", "xor"},
    };
    char name[40];
    bool able = gen_for_nvidia(g) && nvidia_number(g->options->cpu) >= NVIDIA_REDUX && LLVMTypeOf(v) == g->i32;
    if (!able || !names[how][0] || ir_is_float(d))
        return NULL;
    snprintf(name, sizeof name, "llvm.nvvm.redux.sync.%s", names[how][ir_is_signed(d)]);
    return gen_intrinsic(g, name, 0, NULL, 2, (LLVMValueRef[]){v, gen_i32(g, -1)});
}

/* The first lane combines what the halves of a vector would be, in their order. Of floats all get its result where order
 * matters: the smaller of two zeros. */
LLVMValueRef
gen_reduce_warp(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef v)
{
    LLVMValueRef made = reduce_at_once(g, how, d, v);
    if (made)
        return made;
    for (unsigned n = RT_WARP / 2; n; n /= 2)
        v = gen_combine(g, how, d, v, gen_swap(g, v, n));
    return ir_is_float(d) && how != RG_RMW_ADD ? gen_take_first(g, v) : v;
}

/* -- what some do -------------------------------------------------------------------------------- */

/* Opens a block for the threads that the condition holds for; NULL: all do what stands there. */
gen_some
gen_some_begin(gen *g, LLVMValueRef condition)
{
    if (!condition)
        return (gen_some){0};
    gen_some s = {.before = gen_here(g), .after = gen_block(g, "others")};
    LLVMBasicBlockRef some = gen_block(g, "some");
    LLVMBuildCondBr(g->b, condition, some, s.after);
    gen_at(g, some);
    return s;
}

void
gen_some_end(gen *g, gen_some *s)
{
    if (!s->after)
        return;
    s->end = gen_here(g);
    LLVMBuildBr(g->b, s->after);
    gen_at(g, s->after);
}

/* behind the end: what was made between, 0 in other threads */
LLVMValueRef
gen_some_value(gen *g, const gen_some *s, LLVMValueRef made)
{
    if (!s->after)
        return made;
    LLVMTypeRef type = LLVMTypeOf(made);
    LLVMValueRef phi = LLVMBuildPhi(g->b, type, ""), values[2] = {LLVMConstNull(type), made};
    LLVMAddIncoming(phi, values, (LLVMBasicBlockRef[]){s->before, s->end}, 2);
    return phi;
}

gen_some
gen_first_begin(gen *g)
{
    return gen_some_begin(g, LLVMBuildICmp(g->b, LLVMIntEQ, lane(g), gen_i32(g, 0), ""));
}

/* Whether the last thing that the kernel-level code did to memory was a change, so that there is nothing to wait for
 * before the next: all else that asks about is a call. */
static bool
follows_change(gen *g)
{
    if (g->s->changed != gen_here(g))
        return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(gen_here(g)); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i) && !LLVMGetIntrinsicID(LLVMGetCalledValue(i)))
            return false;
    return true;
}

/* A change of memory that is the same for all: one thread makes it, of the warp in tasks, of the grid at kernel level.
 * Lanes have done by then what stands before it, and see it after it. */
gen_some
gen_once_begin(gen *g)
{
    if (g->s->task) {
        gen_warp_sync(g);
        return gen_first_begin(g);
    }
    if (!follows_change(g))
        gen_kernel_writes(g);
    if (g->plan) /* the record is read without asking */
        gen_warp_sync(g);
    return gen_some_begin(g, g->s->is_alone);
}

void
gen_once_end(gen *g, gen_some *s)
{
    gen_some_end(g, s);
    if (g->s->task)
        gen_warp_sync(g);
    else
        g->s->changed = gen_here(g);
}

/* -- kernel level -------------------------------------------------------------------------------- */

void
gen_kernel_reads(gen *g)
{
    g->gpu->waits = true;
    gen_runtime_call(g, g->b, "rt_gpu_reads", g->nothing, 1, &g->s->launch);
}

void
gen_kernel_writes(gen *g)
{
    g->gpu->waits = true;
    gen_runtime_call(g, g->b, "rt_gpu_writes", g->nothing, 1, &g->s->launch);
}

/* to rt_gpu_next */
static void
tell_left(gen *g)
{
    LLVMValueRef at = gen_i64(g, offsetof(rt_gpu_task, left));
    at = LLVMBuildInBoundsGEP2(g->b, g->i8, g->s->running, &at, 1, "");
    LLVMBuildStore(g->b, gen_i32(g, 1), at);
}

/* the block in which a fault leaves the function */
static LLVMBasicBlockRef
way_out(gen *g)
{
    if (!g->s->leave) {
        LLVMBasicBlockRef here = gen_here(g);
        g->s->leave = gen_block(g, "leave");
        gen_at(g, g->s->leave);
        if (g->s->task)
            tell_left(g);
        else if (g->plan)
            gen_pause(g);
        else
            gen_runtime_call(g, g->b, "rt_gpu_leave", g->nothing, 1, &g->s->launch);
        LLVMBuildRetVoid(g->b);
        gen_at(g, here);
    }
    return g->s->leave;
}

void
gen_leave(gen *g)
{
    LLVMBuildBr(g->b, way_out(g));
}

void
gen_leave_if(gen *g, LLVMValueRef fault)
{
    LLVMBasicBlockRef out = way_out(g), stay = gen_block(g, "stay");
    gen_unlikely(g, LLVMBuildCondBr(g->b, fault, out, stay), false);
    gen_at(g, stay);
}

/* what the runtime gives, if it gives anything */
LLVMValueRef
gen_or_leave(gen *g, LLVMValueRef pointer)
{
    gen_leave_if(g, LLVMBuildIsNull(g->b, pointer, ""));
    return pointer;
}

/* -- memory of arrays and the tape -------------------------------------------------------------- */

/* GPUs that have several memories read faster what they know to be in the one that all share; a pass finds what
 * follows from this. */
LLVMValueRef
gen_global(gen *g, LLVMBuilderRef b, LLVMValueRef pointer)
{
    if (!g->kind)
        return pointer;
    LLVMTypeRef global = LLVMPointerTypeInContext(g->context, GPU_GLOBAL);
    return LLVMBuildAddrSpaceCast(b, LLVMBuildAddrSpaceCast(b, pointer, global, ""), g->ptr, "");
}

/* -- places ---------------------------------------------------------------------------------------- */

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

uint32_t
gen_place_number(gen *g, const ir_op *op, const char *text, const char *dtypes, uint32_t values)
{
    const ir_module *m = g->ir->module;
    ll_place place = {.text = text, .values = values, .line = op->loc.line};
    if (op->loc.file < m->files.n)
        place.file = m->files.at[op->loc.file].path;
    size_t n = 0;
    for (; n < g->gpu->places.n && !dtypes; n++) {
        const ll_place *p = &g->gpu->places.at[n];
        if (p->line == place.line && !p->dtypes && same_text(p->file, place.file) && same_text(p->text, text))
            return (uint32_t)n;
    }
    if (dtypes) { /* the info outlives the generator */
        char *copy = mem_alloc(values + 1);
        memcpy(copy, dtypes, values + 1);
        place.dtypes = copy;
        n = g->gpu->places.n;
    }
    vec_push(&g->gpu->places, place);
    return (uint32_t)n;
}

LLVMValueRef
gen_place_of(gen *g, const ir_op *op, const char *text, const char *dtypes, uint32_t values)
{
    return gen_i32(g, gen_place_number(g, op, text, dtypes, values));
}
