/* assert and print. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

static LLVMValueRef
text_constant(gen *g, const char *text)
{
    return text ? gen_string(g, text, strlen(text) + 1, "text") : LLVMConstNull(g->ptr);
}

/* The first lane of those that fail. */
static LLVMValueRef
failing_lane(gen *g, const ir_op *op)
{
    LLVMValueRef bits = gen_mask_bits(g, gen_get(g, op->args[3]));
    bits = LLVMBuildZExt(g->b, bits, g->i64, "");
    LLVMValueRef args[2] = {bits, LLVMConstInt(g->i1, 1, false)};
    return gen_intrinsic(g, "llvm.cttz", 1, &g->i64, 2, args);
}

static LLVMValueRef
told_number(gen *g, const ir_value *v, LLVMValueRef lane)
{
    LLVMValueRef value = gen_get(g, v);
    return v->type.lanes ? LLVMBuildExtractElement(g->b, value, lane, "") : value;
}

static void
tell_subscript(gen *g, const ir_op *op, LLVMValueRef worker, LLVMValueRef path)
{
    LLVMValueRef lane = op->nargs > 3 ? failing_lane(g, op) : NULL;
    LLVMValueRef args[6] = {worker,
                            text_constant(g, op->attr.text),
                            path,
                            gen_i32(g, op->loc.line),
                            told_number(g, op->args[1], lane),
                            told_number(g, op->args[2], lane)};
    gen_runtime_call(g, g->b, "rt_cpu_subscript", g->nothing, 6, args);
}

/* Each thread of a warp whose subscript it is; where all have it, the first. */
static void
tell_gpu_subscript(gen *g, const ir_op *op, LLVMValueRef worker)
{
    LLVMValueRef mine = op->nargs > 3 ? gen_get(g, op->args[3])
                                      : LLVMBuildICmp(g->b, LLVMIntEQ, gen_own_lane(g, g->i32), gen_i32(g, 0), "");
    LLVMValueRef args[5] = {worker, gen_place_of(g, op, op->attr.text, NULL, 0), LLVMBuildZExt(g->b, mine, g->i32, ""),
                            gen_get(g, op->args[1]), gen_get(g, op->args[2])};
    gen_runtime_call(g, g->b, "rt_gpu_subscript", g->nothing, 5, args);
}

void
gen_assert(gen *g, const ir_op *op)
{
    LLVMBasicBlockRef fails = gen_block(g, "fails"), holds = gen_block(g, "holds");
    LLVMValueRef worker = gen_worker(g);
    gen_unlikely(g, LLVMBuildCondBr(g->b, gen_get(g, op->args[0]), holds, fails), true);
    gen_at(g, fails);
    if (g->target->warp) {
        if (op->nargs > 1) {
            tell_gpu_subscript(g, op, worker);
        } else {
            LLVMValueRef told[2] = {worker, gen_place_of(g, op, op->attr.text, NULL, 0)};
            gen_runtime_call(g, g->b, "rt_gpu_assert", g->nothing, 2, told);
        }
        gen_leave(g);
        gen_at(g, holds);
        return;
    }
    const ir_module *m = g->ir->module;
    const char *path = op->loc.file < m->files.n ? m->files.at[op->loc.file].path : NULL;
    if (op->nargs > 1) {
        tell_subscript(g, op, worker, text_constant(g, path));
    } else {
        LLVMValueRef args[4] = {worker, text_constant(g, op->attr.text), text_constant(g, path),
                                gen_i32(g, op->loc.line)};
        gen_runtime_call(g, g->b, "rt_cpu_assert", g->nothing, 4, args);
    }
    LLVMBuildUnreachable(g->b);
    gen_at(g, holds);
}

/* a scalar in 64 bits: integers extended, f16 widened to f32, floats as their bits */
static LLVMValueRef
printed_bits(gen *g, const ir_value *v)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    LLVMValueRef value = gen_get(g, v);
    if (!ir_is_float(d))
        return gen_cast(g, d, ir_is_signed(d) ? RG_I64 : RG_U64, value);
    if (d == RG_F64)
        return LLVMBuildBitCast(g->b, value, g->i64, "");
    value = LLVMBuildBitCast(g->b, gen_cast(g, d, RG_F32, value), g->i32, "");
    return LLVMBuildZExt(g->b, value, g->i64, "");
}

void
gen_print(gen *g, const ir_op *op)
{
    uint32_t n = op->nargs;
    LLVMTypeRef row = LLVMArrayType2(g->i64, n ? n : 1);
    LLVMValueRef values = gen_alloca(g, row, NULL, "printed");
    char *dtypes = arena_new_n(g->scratch, char, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef at = gen_i64(g, i);
        dtypes[i] = (char)op->args[i]->type.dtype;
        LLVMBuildStore(g->b, printed_bits(g, op->args[i]),
                       LLVMBuildInBoundsGEP2(g->b, g->i64, values, &at, 1, ""));
    }
    if (g->target->warp) {
        LLVMValueRef place = gen_place_of(g, op, op->attr.text, dtypes, n);
        LLVMValueRef told[4] = {gen_worker(g), place, values, gen_i32(g, n)};
        g->gpu->prints = true;
        gen_runtime_call(g, g->b, "rt_gpu_print", g->nothing, 4, told);
        return;
    }
    LLVMValueRef args[5] = {gen_worker(g), text_constant(g, op->attr.text), values,
                            gen_string(g, dtypes, n + 1, "dtypes"), gen_i32(g, n)};
    gen_runtime_call(g, g->b, "rt_cpu_print", g->nothing, 5, args);
}
