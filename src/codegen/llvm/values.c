/* Types, constants, blocks, and which LLVM value an IR value is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gpu.h"

#include <llvm-c/DebugInfo.h>

LLVMTypeRef
gen_type(gen *g, rg_dtype d)
{
    switch (d) {
    case RG_BOOL:
        return g->i1;
    case RG_I8:
    case RG_U8:
        return g->i8;
    case RG_I16:
    case RG_U16:
        return g->i16;
    case RG_I32:
    case RG_U32:
        return g->i32;
    case RG_I64:
    case RG_U64:
        return g->i64;
    case RG_F16:
        return g->f16;
    case RG_F32:
        return g->f32;
    case RG_F64:
        return g->f64;
    case RG_NONE:
    case RG_DTYPE_COUNT:
        break;
    }
    return g->i64;
}

LLVMTypeRef
gen_memory_type(gen *g, rg_dtype d)
{
    return d == RG_BOOL ? g->i8 : gen_type(g, d);
}

LLVMTypeRef
gen_value_type(gen *g, ir_type t)
{
    return t.kind == IR_SCALAR ? gen_in_lanes(g, gen_type(g, (rg_dtype)t.dtype), t.lanes) : g->ptr;
}

LLVMValueRef
gen_const(gen *g, rg_dtype d, uint64_t bits)
{
    unsigned width = ir_bits(d);
    uint64_t low = width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
    LLVMValueRef v = LLVMConstInt(LLVMIntTypeInContext(g->context, width), low, false);
    return ir_is_float(d) ? LLVMConstBitCast(v, gen_type(g, d)) : v;
}

LLVMValueRef
gen_i64(gen *g, int64_t v)
{
    return LLVMConstInt(g->i64, (uint64_t)v, true);
}

LLVMValueRef
gen_i32(gen *g, int64_t v)
{
    return LLVMConstInt(g->i32, (uint32_t)v, false);
}

/* -- values ------------------------------------------------------------------------------------ */

static bool
is_parameter(const gen *g, const ir_value *v)
{
    return !v->def && v->region == g->ir->body;
}

/* A parameter of the kernel, loaded where the function begins. */
static LLVMValueRef
parameter(gen *g, const ir_value *v)
{
    LLVMValueRef index = gen_i64(g, v->index);
    LLVMValueRef arg = LLVMBuildInBoundsGEP2(g->s->top, g->arg_type, g->s->args, &index, 1, "arg");
    if (v->type.kind == IR_BUFFER)
        return arg;
    rg_dtype d = (rg_dtype)v->type.dtype;
    LLVMValueRef load =
        LLVMBuildLoad2(g->s->top, gen_memory_type(g, d), arg, v->name ? v->name : "");
    gen_invariant(g, load);
    if (d != RG_BOOL)
        return load;
    return LLVMBuildICmp(g->s->top, LLVMIntNE, load, LLVMConstNull(g->i8), "");
}

LLVMValueRef
gen_get(gen *g, const ir_value *v)
{
    LLVMValueRef *at = &g->s->values[v->id];
    if (*at)
        return *at;
    LLVMValueRef lane = gen_lane(g, v);
    if (lane)
        return lane;
    if (v->def && v->def->code == RG_OP_CONST)
        return *at = gen_const(g, (rg_dtype)v->type.dtype, v->def->attr.bits);
    if (v->def && v->def->code == RG_OP_TABLE)
        gen_table(g, v->def);
    else if (is_parameter(g, v))
        *at = parameter(g, v);
    assert(*at && "a value is captured or made before it is used");
    return *at;
}

void
gen_set(gen *g, const ir_value *v, LLVMValueRef value)
{
    g->s->values[v->id] = value;
}

LLVMValueRef
gen_wide(gen *g, const ir_value *v)
{
    uint64_t bits;
    rg_dtype d = (rg_dtype)v->type.dtype;
    if (ir_is_const(v, &bits))
        return gen_i64(g, (int64_t)ir_wrap(d, bits));
    if (g->s->wide[v->id])
        return g->s->wide[v->id];
    LLVMValueRef narrow = gen_get(g, v);
    if (ir_bits(d) == 64)
        return narrow;
    return ir_is_signed(d) ? LLVMBuildSExt(g->b, narrow, g->i64, "")
                           : LLVMBuildZExt(g->b, narrow, g->i64, "");
}

/* -- blocks and memory of the function --------------------------------------------------------- */

LLVMBasicBlockRef
gen_block(gen *g, const char *name)
{
    return LLVMAppendBasicBlockInContext(g->context, g->s->fn, name);
}

LLVMBasicBlockRef
gen_here(gen *g)
{
    return LLVMGetInsertBlock(g->b);
}

void
gen_at(gen *g, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(g->b, block);
}

/* One of constant size stands at the function's beginning: a call before it that is inlined would end the block in which
 * LLVM looks for what can be in registers. */
LLVMValueRef
gen_alloca(gen *g, LLVMTypeRef type, LLVMValueRef count, const char *name)
{
    LLVMBuilderRef b = g->s->top;
    if (count)
        return LLVMBuildArrayAlloca(b, type, count, name);
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(b);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(b, first);
    LLVMValueRef at = LLVMBuildAlloca(b, type, name);
    if (LLVMTypeOf(at) != g->ptr)
        at = LLVMBuildAddrSpaceCast(b, at, g->ptr, "");
    LLVMPositionBuilderAtEnd(b, entry);
    return at;
}

void
gen_align(LLVMValueRef at, unsigned bytes)
{
    LLVMSetAlignment(LLVMIsAAllocaInst(at) ? at : LLVMGetOperand(at, 0), bytes);
}

LLVMValueRef
gen_constant(gen *g, LLVMTypeRef type, const char *name)
{
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(g->module, type, name, g->kind ? g->kind->constants : 0);
    LLVMSetGlobalConstant(global, true);
    return global;
}

LLVMValueRef
gen_address(gen *g, LLVMValueRef global)
{
    return LLVMTypeOf(global) == g->ptr ? global : LLVMConstAddrSpaceCast(global, g->ptr);
}

LLVMValueRef
gen_string(gen *g, const char *text, size_t bytes, const char *name)
{
    LLVMValueRef data = LLVMConstStringInContext2(g->context, text, bytes, true);
    LLVMValueRef global = gen_constant(g, LLVMTypeOf(data), name);
    LLVMSetInitializer(global, data);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return gen_address(g, global);
}

LLVMValueRef
gen_field(gen *g, LLVMBuilderRef b, LLVMTypeRef record, LLVMValueRef at, unsigned field)
{
    return LLVMBuildStructGEP2(b, record, at, field, "");
}

LLVMValueRef
gen_invariant(gen *g, LLVMValueRef load)
{
    LLVMSetMetadata(load, g->invariant_kind, g->empty_node);
    return load;
}

void
gen_unlikely(gen *g, LLVMValueRef branch, bool first_is_likely)
{
    LLVMMetadataRef parts[3] = {
        LLVMMDStringInContext2(g->context, "branch_weights", 14),
        LLVMValueAsMetadata(gen_i32(g, first_is_likely ? 4096 : 1)),
        LLVMValueAsMetadata(gen_i32(g, first_is_likely ? 1 : 4096)),
    };
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, parts, 3);
    LLVMSetMetadata(branch, g->prof_kind, LLVMMetadataAsValue(g->context, node));
}

void
gen_mark_loop(LLVMValueRef branch, const char *word, LLVMValueRef value)
{
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(branch));
    unsigned kind = LLVMGetMDKindIDInContext(c, "llvm.loop", 9);
    LLVMValueRef was = LLVMGetMetadata(branch, kind);
    unsigned n = was ? (unsigned)LLVMGetMDNodeNumOperands(was) : 1;
    LLVMValueRef *old = arena_new_n(mem_scratch(), LLVMValueRef, n);
    LLVMMetadataRef *marks = arena_new_n(mem_scratch(), LLVMMetadataRef, n + 1);
    LLVMMetadataRef itself = marks[0] = LLVMTemporaryMDNode(c, NULL, 0); /* a loop's mark names itself */
    LLVMMetadataRef said[2] = {LLVMMDStringInContext2(c, word, strlen(word)), value ? LLVMValueAsMetadata(value) : NULL};
    if (was)
        LLVMGetMDNodeOperands(was, old);
    for (unsigned k = 1; k < n; k++)
        marks[k] = LLVMValueAsMetadata(old[k]);
    marks[n] = LLVMMDNodeInContext2(c, said, value ? 2 : 1);
    LLVMMetadataRef node = LLVMMDNodeInContext2(c, marks, n + 1);
    LLVMMetadataReplaceAllUsesWith(itself, node);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(c, node));
}
