/* Calls out of compiled code: intrinsics, the math library, the runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

/* false: this LLVM has no attribute of that name */
static bool
add_attribute(gen *g, LLVMValueRef fn, unsigned where, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddAttributeAtIndex(fn, where, LLVMCreateEnumAttribute(g->context, kind, value));
    return kind != 0;
}

/* OF_WARP: what lanes do together, none of them without the others */
typedef enum effects { ANY_EFFECT, NO_EFFECT, WRITES_PLACES, OF_WARP } effects;
enum { MEMORY_NONE = 0, MEMORY_WRITES_ARGUMENTS = 2 }; /* values of LLVM's attribute `memory` */

static LLVMValueRef
declare_function(gen *g, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args, effects what,
                 LLVMTypeRef *type)
{
    const unsigned whole = LLVMAttributeFunctionIndex;
    LLVMTypeRef types[8];
    assert(n <= countof(types));
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    *type = LLVMFunctionType(result, types, n, false);
    LLVMValueRef fn = LLVMGetNamedFunction(g->module, name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(g->module, name, *type);
    add_attribute(g, fn, whole, "nounwind", 0);
    if (what == OF_WARP || (what == ANY_EFFECT && g->target->warp))
        gen_mark_warp(g, fn);
    if (what == ANY_EFFECT)
        return fn;
    add_attribute(g, fn, whole, "willreturn", 0);
    add_attribute(g, fn, whole, "nocallback", 0);
    add_attribute(g, fn, whole, "memory", what == WRITES_PLACES ? MEMORY_WRITES_ARGUMENTS : MEMORY_NONE);
    for (unsigned i = 1; what == WRITES_PLACES && i < n; i++) {
        add_attribute(g, fn, 1 + i, "writeonly", 0);
        if (!add_attribute(g, fn, 1 + i, "nocapture", 0)) /* its name up to LLVM 20 */
            add_attribute(g, fn, 1 + i, "captures", 0);
    }
    return fn;
}

/* All lanes of a warp come to what this function does together: no pass may make that depend on a lane's value. */
void
gen_mark_warp(gen *g, LLVMValueRef fn)
{
    add_attribute(g, fn, LLVMAttributeFunctionIndex, "convergent", 0);
}

/* a function of ours that computes, and does not belong into the loops around its calls */
void
gen_mark_math(gen *g, LLVMValueRef fn, bool lanes)
{
    const unsigned whole = LLVMAttributeFunctionIndex;
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    add_attribute(g, fn, whole, "nounwind", 0);
    add_attribute(g, fn, whole, "willreturn", 0);
    add_attribute(g, fn, whole, "noinline", 0);
    add_attribute(g, fn, whole, "memory", MEMORY_NONE);
    if (lanes)
        gen_keep_vectors(g, fn);
}

void
gen_mark_call(gen *g, LLVMValueRef call, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->context, kind, value));
}

void
gen_mark_pure_call(gen *g, LLVMValueRef call)
{
    static const char *const names[] = {"nounwind", "willreturn", "memory"};
    for (size_t i = 0; i < countof(names); i++)
        gen_mark_call(g, call, names[i], 0);
}

LLVMValueRef
gen_intrinsic(gen *g, const char *name, unsigned ntypes, LLVMTypeRef *types, unsigned n,
              LLVMValueRef *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    assert(id && "an intrinsic of this LLVM");
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, types, ntypes);
    LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, types, ntypes);
    return LLVMBuildCall2(g->b, type, fn, args, n, "");
}

static LLVMValueRef
quiet_call(gen *g, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args, effects what)
{
    LLVMTypeRef type;
    LLVMValueRef fn = declare_function(g, name, result, n, args, what, &type);
    LLVMValueRef call = LLVMBuildCall2(g->b, type, fn, args, n, "");
    gen_mark_call(g, call, "nobuiltin", 0);
    return call;
}

/* of vectors: once for each lane */
static LLVMValueRef
call_in_lanes(gen *g, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args)
{
    LLVMValueRef one[3], all = LLVMGetPoison(gen_like(args[0], result));
    assert(n <= countof(one));
    for (unsigned lane = 0; lane < gen_width(args[0]); lane++) {
        for (unsigned i = 0; i < n; i++)
            one[i] = LLVMBuildExtractElement(g->b, args[i], gen_i32(g, lane), "");
        LLVMValueRef r = quiet_call(g, name, result, n, one, NO_EFFECT);
        all = LLVMBuildInsertElement(g->b, all, r, gen_i32(g, lane), "");
    }
    return all;
}

LLVMValueRef
gen_pure_call(gen *g, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args)
{
    return gen_width(args[0]) ? call_in_lanes(g, name, result, n, args)
                              : quiet_call(g, name, result, n, args, NO_EFFECT);
}

LLVMValueRef
gen_placing_call(gen *g, const char *name, unsigned n, LLVMValueRef *args)
{
    return quiet_call(g, name, g->nothing, n, args, WRITES_PLACES);
}

LLVMValueRef
gen_runtime_call(gen *g, LLVMBuilderRef b, const char *name, LLVMTypeRef result, unsigned n,
                 LLVMValueRef *args)
{
    LLVMTypeRef type;
    LLVMValueRef fn = declare_function(g, name, result, n, args, ANY_EFFECT, &type);
    return LLVMBuildCall2(b, type, fn, args, n, "");
}

LLVMValueRef
gen_warp_call(gen *g, LLVMBuilderRef b, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args)
{
    LLVMTypeRef type;
    LLVMValueRef fn = declare_function(g, name, result, n, args, n ? OF_WARP : NO_EFFECT, &type);
    return LLVMBuildCall2(b, type, fn, args, n, "");
}

void
gen_keep_call(gen *g, LLVMValueRef call)
{
    gen_mark_call(g, call, "noinline", 0);
}
