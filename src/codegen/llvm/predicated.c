/* Accesses that a condition holds back, without branches, on NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * Around a branch a warp waits for each load by itself. An instruction with a predicate leaves the code straight: loads
 * go out one after the other, and what first needs one of them waits. LLVM has no such instructions, so they are text.
 * What the text does to memory stands on the call: for LLVM it is an access like others, with the same alias metadata. */
#include "codegen/llvm/nvidia.h"

enum { MEMORY_NONE = 0, MEMORY_ARGUMENTS = 3 }; /* values of LLVM's attribute `memory` */

/* how the text names elements of this type, and the registers that hold them */
typedef struct form {
    const char *suffix, *letter;
    LLVMTypeRef type;
} form;

static form
form_of(const gen *g, rg_dtype d)
{
    if (d == RG_F32)
        return (form){"f32", "f", g->f32};
    if (d == RG_F64)
        return (form){"f64", "d", g->f64};
    switch (ir_bytes(d)) {
    case 1:
        return (form){"u8", "h", g->i16};
    case 2:
        return (form){"b16", "h", g->i16};
    case 4:
        return (form){"b32", "r", g->i32};
    }
    return (form){"b64", "l", g->i64};
}

/* between what memory holds and what the text has in a register */
static LLVMValueRef
to_register(gen *g, const form *f, LLVMValueRef v)
{
    if (LLVMTypeOf(v) == f->type)
        return v;
    if (LLVMTypeOf(v) == g->i8)
        return LLVMBuildZExt(g->b, v, g->i16, "");
    return LLVMBuildBitCast(g->b, v, f->type, "");
}

static LLVMValueRef
in_global(gen *g, LLVMValueRef at)
{
    return LLVMBuildAddrSpaceCast(g->b, at, LLVMPointerTypeInContext(g->context, GPU_GLOBAL), "");
}

/* `stands`: it reads what nothing writes; else it keeps its place among other accesses */
static LLVMValueRef
instruction(gen *g, const char *text, const char *registers, LLVMTypeRef result, LLVMValueRef *args, unsigned n, bool stands)
{
    LLVMTypeRef types[4];
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), registers, strlen(registers), !stands, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(g->b, type, code, args, n, "");
    gen_mark_call(g, call, "nounwind", 0);
    gen_mark_call(g, call, "willreturn", 0);
    gen_mark_call(g, call, "memory", stands ? MEMORY_NONE : MEMORY_ARGUMENTS);
    return call;
}

LLVMValueRef
gen_low_half(gen *g, LLVMValueRef bits)
{
    return instruction(g, "cvt.u32.u64 $0, $1;", "=r,l", g->i32, &bits, 1, true);
}

/* 0 where the condition does not hold */
LLVMValueRef
gen_load_if(gen *g, const gen_reach *r, LLVMValueRef at)
{
    char text[64], registers[16];
    form f = form_of(g, r->dtype);
    bool stands = r->access && gen_stands_still(g, r->access);
    snprintf(text, sizeof text, "@$2 ld.global%s.%s $0, [$1];", stands ? ".nc" : "", f.suffix);
    snprintf(registers, sizeof registers, "=%s,l,b,0", f.letter);
    LLVMValueRef args[3] = {in_global(g, at), r->mask, LLVMConstNull(f.type)};
    LLVMValueRef v = instruction(g, text, registers, f.type, args, 3, stands);
    if (!stands)
        gen_mark_reach(g, r, v);
    LLVMTypeRef type = gen_memory_type(g, r->dtype);
    if (LLVMTypeOf(v) == type)
        return v;
    return type == g->i8 ? LLVMBuildTrunc(g->b, v, type, "") : LLVMBuildBitCast(g->b, v, type, "");
}

void
gen_store_if(gen *g, const gen_reach *r, LLVMValueRef at, LLVMValueRef value)
{
    char text[64], registers[16];
    form f = form_of(g, r->dtype);
    snprintf(text, sizeof text, "@$2 st.global.%s [$0], $1;", f.suffix);
    snprintf(registers, sizeof registers, "l,%s,b", f.letter);
    LLVMValueRef args[3] = {in_global(g, at), to_register(g, &f, value), r->mask};
    gen_mark_reach(g, r, instruction(g, text, registers, g->nothing, args, 3, false));
}

/* -- additions that nobody waits for, in a branch: assemblers make one of a predicate --------------------------- */

bool
gen_adds_unseen(const gen *g, rg_dtype d)
{
    return gen_for_nvidia(g) && (d == RG_F32 || d == RG_F64);
}

void
gen_add_unseen(gen *g, const gen_reach *r, LLVMValueRef at, LLVMValueRef value)
{
    char text[64], registers[16];
    form f = form_of(g, r->dtype);
    snprintf(text, sizeof text, "red.relaxed.gpu.global.add.%s [$0], $1;", f.suffix);
    snprintf(registers, sizeof registers, "l,%s", f.letter);
    LLVMValueRef args[2] = {in_global(g, at), value};
    gen_mark_reach(g, r, instruction(g, text, registers, g->nothing, args, 2, false));
}
