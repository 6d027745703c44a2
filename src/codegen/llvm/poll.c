/* Where compiled code asks whether its launch is to end. SPDX-License-Identifier: Apache-2.0
 *
 * analysis/polls.h says which loops look.
 *
 * A loop with a way out in its body is no longer vectorised or unrolled. In strips it is: the loop over a strip is the loop as
 * it was, but for its bound, and a loop that ends within its first strip never looks.
 *
 *     strip:  end = at + min(to - at, strip)
 *     loop:   for (; at < end; at++) body
 *             if (end != to) { look; goto strip; }
 *
 * On the CPU a look is a load from memory that stays in the cache. On GPUs the word is in the host's memory, a microsecond or
 * two away, and thousands of warps that load it wait for the bus: each loop counts down from RT_GPU_FUEL by about the operations
 * that it runs, and who comes below 0 asks the runtime, which looks once in a millisecond.
 * Kernel-level code looks where the whole grid waits, so that all threads of the grid see the same. */
#include "codegen/llvm/nvidia.h"
#include "rt/gpu/gpu.h"

enum { QUICK = 256 }; /* operations */

/* The loops of the math library's functions are short. */
ir_polls
gen_polls_of(const gen *g, const ir_op *op)
{
    return g->ir == g->kernel ? ir_polls_of(op, g->target->warp) : (ir_polls){0};
}

static bool
never_looks(ir_op *op, void *user)
{
    if (op->code != RG_OP_FOR && op->code != RG_OP_LOOP)
        return true;
    ir_polls polls = gen_polls_of(user, op);
    return !polls.each && !polls.strip;
}

/* -- one look ---------------------------------------------------------------------------------------------------- */
static const char *
path_of(const gen *g, const ir_op *op)
{
    const ir_module *m = g->ir->module;
    return op->loc.file < m->files.n ? m->files.at[op->loc.file].path : NULL;
}

static LLVMValueRef
volatile_word(gen *g, LLVMValueRef at)
{
    LLVMValueRef load = LLVMBuildLoad2(g->b, g->i32, at, "stop");
    LLVMSetVolatile(load, true);
    return load;
}

static void
look_on_cpu(gen *g, const ir_op *op)
{
    scope *s = g->s;
    LLVMValueRef worker = gen_worker(g);
    if (!s->stop) {
        LLVMValueRef at = gen_i64(g, offsetof(rt_worker, stop));
        at = LLVMBuildInBoundsGEP2(s->top, g->i8, worker, &at, 1, "");
        s->stop = gen_invariant(g, LLVMBuildLoad2(s->top, g->ptr, at, "stop"));
    }
    LLVMBasicBlockRef on = gen_block(g, "on"), ends = gen_block(g, "cancelled");
    LLVMValueRef stop = LLVMBuildIsNull(g->b, volatile_word(g, s->stop), "");
    gen_unlikely(g, LLVMBuildCondBr(g->b, stop, on, ends), true);
    gen_at(g, ends);
    const char *path = path_of(g, op);
    LLVMValueRef file = path ? gen_string(g, path, strlen(path) + 1, "text") : LLVMConstNull(g->ptr);
    LLVMValueRef args[3] = {worker, file, gen_i32(g, op->loc.line)};
    gen_runtime_call(g, g->b, "rt_cpu_cancelled", g->nothing, 3, args);
    LLVMBuildUnreachable(g->b);
    gen_at(g, on);
}

static LLVMValueRef
field_of_task(gen *g, size_t offset)
{
    LLVMValueRef at = gen_i64(g, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(g->b, g->i8, g->s->running, &at, 1, "");
}

/* Where this warp's fuel is: in the record of its task, or the kernel-level code's own. */
static LLVMValueRef
fuel_place(gen *g)
{
    scope *s = g->s;
    if (s->task)
        return field_of_task(g, offsetof(rt_gpu_task, fuel));
    if (!s->fuel) {
        s->fuel = gen_alloca(g, g->i32, NULL, "fuel");
        LLVMBuildStore(s->top, gen_i32(g, RT_GPU_FUEL), s->fuel);
    }
    return s->fuel;
}

static void
look_on_gpu(gen *g, const ir_op *op)
{
    LLVMValueRef launch = g->s->task ? LLVMBuildLoad2(g->b, g->ptr, field_of_task(g, offsetof(rt_gpu_task, launch)), "")
                                     : LLVMGetParam(g->s->fn, 0);
    LLVMValueRef args[2] = {launch, gen_place_of(g, op, NULL, NULL, 0)};
    g->gpu->waits |= !g->s->task;
    LLVMValueRef ends = gen_runtime_call(g, g->b, g->s->task ? "rt_gpu_poll" : "rt_gpu_poll_all", g->i32, 2, args);
    gen_leave_if(g, LLVMBuildICmp(g->b, LLVMIntNE, ends, gen_i32(g, 0), ""));
}

/* so many operations after the last one */
static void
count_down(gen *g, const ir_op *op, LLVMValueRef burnt)
{
    LLVMValueRef fuel = fuel_place(g);
    LLVMBasicBlockRef looks = gen_block(g, "looks"), on = gen_block(g, "on");
    LLVMValueRef left = LLVMBuildSub(g->b, LLVMBuildLoad2(g->b, g->i32, fuel, "fuel"), burnt, "");
    LLVMBuildStore(g->b, left, fuel);
    LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSGE, left, gen_i32(g, 0), "");
    gen_unlikely(g, LLVMBuildCondBr(g->b, some, on, looks), true);
    gen_at(g, looks);
    LLVMBuildStore(g->b, gen_i32(g, RT_GPU_FUEL), fuel);
    look_on_gpu(g, op);
    LLVMBuildBr(g->b, on);
    gen_at(g, on);
}

/* `work`: the operations since the last one */
void
gen_poll(gen *g, const ir_op *op, int64_t work)
{
    if (g->target->warp)
        count_down(g, op, gen_i32(g, work < RT_GPU_FUEL ? work : RT_GPU_FUEL));
    else
        look_on_cpu(g, op);
}

/* On a GPU. A kernel's task may take a thousand times as long as an iteration without one. */
static int64_t
iteration_work(const gen *g, const ir_op *op)
{
    int64_t work = ir_work(op->regions[0]), task = RT_GPU_FUEL / 64;
    bool has_task = ir_most_unpolled(op->regions[0], true) > IR_POLLS_TASK;
    return !g->s->task && has_task && work < task ? task : work;
}

void
gen_poll_each(gen *g, const ir_op *op)
{
    if (op && gen_polls_of(g, op).each)
        gen_poll(g, op, g->target->warp ? iteration_work(g, op) : 0);
}

/* Behind a piece of a warp's, so many threads: not where 2^32 of them take less than a tenth of a second. */
void
gen_poll_piece(gen *g, const ir_op *parallel, LLVMValueRef threads)
{
    ir_region *body = parallel->regions[0];
    bool single = gen_single_groups(g, parallel);
    if (!g->target->warp || (single && ir_walk(body, never_looks, g) && ir_most_unpolled(body, true) < QUICK))
        return;
    int64_t work = ir_work(body), most = RT_GPU_FUEL / work + 1;
    if (single) {
        gen_poll(g, parallel, work);
        return;
    }
    LLVMValueRef steps = gen_group_lanes(parallel) ? LLVMBuildLShr(g->b, threads, gen_i64(g, 5), "") : threads;
    steps = gen_intrinsic(g, "llvm.umin", 1, &g->i64, 2, (LLVMValueRef[]){steps, gen_i64(g, most)});
    steps = LLVMBuildAdd(g->b, LLVMBuildTrunc(g->b, steps, g->i32, ""), gen_i32(g, 1), "");
    count_down(g, parallel, LLVMBuildMul(g->b, steps, gen_i32(g, work), ""));
}
_Static_assert(RT_WARP == 1 << 5, "threads of a group");

/* -- strips ------------------------------------------------------------------------------------------------------- */
/* Begins where the loop is entered. */
gen_strips
gen_strips_begin(gen *g, const ir_op *op, LLVMValueRef to, bool is_signed)
{
    gen_strips s = {.op = op, .to = to, .end = to};
    LLVMTypeRef type = LLVMTypeOf(to);
    s.length = op ? gen_polls_of(g, op).strip : 0;
    if (!s.length)
        return s;
    LLVMBasicBlockRef here = gen_here(g);
    s.strip = gen_block(g, "strip");
    gen_at(g, s.strip);
    s.at = LLVMBuildPhi(g->b, type, "from");
    LLVMValueRef left = LLVMBuildSub(g->b, to, s.at, ""), most = LLVMConstInt(type, (uint64_t)s.length, false);
    left = gen_intrinsic(g, "llvm.umin", 1, &type, 2, (LLVMValueRef[]){left, most});
    s.end = is_signed ? LLVMBuildNSWAdd(g->b, s.at, left, "end") : LLVMBuildNUWAdd(g->b, s.at, left, "end");
    gen_at(g, here);
    return s;
}

LLVMBasicBlockRef
gen_strips_enter(const gen_strips *s, LLVMBasicBlockRef loop)
{
    return s->strip ? s->strip : loop;
}

/* Where an iteration ends. Returns the block that goes to `after`. */
LLVMBasicBlockRef
gen_strips_close(gen *g, gen_strips *s, LLVMBasicBlockRef before, LLVMBasicBlockRef loop, LLVMValueRef again,
                 LLVMBasicBlockRef after)
{
    s->before = before;
    s->latch = gen_here(g);
    LLVMBasicBlockRef over = s->strip ? gen_block(g, "over") : after;
    LLVMBuildCondBr(g->b, again, loop, over);
    if (!s->strip)
        return s->latch;
    gen_at(g, s->strip);
    LLVMBuildBr(g->b, loop);
    gen_at(g, over);
    LLVMBasicBlockRef next = gen_block(g, "next");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, s->end, s->to, ""), next, after);
    gen_at(g, next);
    gen_poll(g, s->op, s->length * ir_work(s->op->regions[0]));
    gen_way_back(g, NULL);
    s->next = gen_here(g);
    LLVMBuildBr(g->b, s->strip);
    return over;
}

/* A phi of the loop's first block: `init` where the loop begins, `next` behind an iteration. */
void
gen_strips_carry(gen *g, const gen_strips *s, LLVMValueRef phi, LLVMValueRef init, LLVMValueRef next)
{
    LLVMBasicBlockRef into[2] = {s->before, s->latch}, outside[2] = {s->before, s->next};
    if (s->strip) {
        LLVMBasicBlockRef here = gen_here(g);
        LLVMPositionBuilderBefore(g->b, LLVMGetFirstInstruction(s->strip));
        LLVMValueRef through = phi == s->counter ? s->at : LLVMBuildPhi(g->b, LLVMTypeOf(phi), "");
        gen_at(g, here);
        LLVMAddIncoming(through, (LLVMValueRef[]){init, next}, outside, 2);
        init = through;
        into[0] = s->strip;
    }
    LLVMAddIncoming(phi, (LLVMValueRef[]){init, next}, into, 2);
}
