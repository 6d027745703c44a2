/* Calls out of compiled code: intrinsics, the math library, the runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"
#include "math/rgm.h"
#include "rt/cpu/helpers.h"
#include "rt/gpu/gpu.h"
#include "rt/gpu/warp.h"

#include <math.h>

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

/* -- what the jit binds these names to --------------------------------------------------------- */

#if defined(__FLT16_MAX__) && defined(__SSE2__)
/* for machines whose processor does not convert: LLVM calls these by their names in libgcc */
static float
half_to_float(_Float16 h)
{
    return (float)h;
}
static _Float16
float_to_half(float f)
{
    return (_Float16)f;
}
#endif

#define ADDRESS(f)      (uint64_t)(uintptr_t)(f)
#define LIBM2(op, name) {"rg_" #name, ADDRESS(name)}, {"rg_" #name "f", ADDRESS(name##f)},
#define SAME(name)      {#name, ADDRESS(name)},
#define BOTH(name)      SAME(name) SAME(name##f)

/* clang-format off */
static const ll_symbol symbols[] = {
#include "codegen/llvm/libm.def"
    LIBM2(LDEXP, ldexp)
    /* the math library: ours, and the platform's where that is asked for */
#define RGM1(op, name) SAME(rgm_##name) SAME(rgm_##name##f) LIBM2(op, name)
#define RGM2(op, name) RGM1(op, name)
#define RGM_TWO(op, name) SAME(rgm_##name##_places) SAME(rgm_##name##f_places)
#include "math/functions.def"
#ifdef __GLIBC__
    LIBM2(SINCOS, sincos)
#endif
    /* what instructions become on processors without them */
    BOTH(fma) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(rint) BOTH(round) BOTH(sqrt)
    SAME(memcpy) SAME(memmove) SAME(memset)
#if defined(__FLT16_MAX__) && defined(__SSE2__)
    {"__extendhfsf2", ADDRESS(half_to_float)},
    {"__truncsfhf2", ADDRESS(float_to_half)},
#endif
    SAME(rt_odd_float) SAME(rt_fraction) SAME(rt_fractionf) SAME(rt_exponent)
    SAME(rt_cpu_parallel) SAME(rt_cpu_slots) SAME(rt_cpu_partials) SAME(rt_cpu_kernel_worker) SAME(rt_cpu_page)
    SAME(rt_cpu_reserve) SAME(rt_cpu_over) SAME(rt_cpu_room) SAME(rt_cpu_save) SAME(rt_cpu_restore)
    SAME(rt_cpu_tasks) SAME(rt_cpu_over_tasks) SAME(rt_cpu_thin)
    SAME(rt_cpu_private) SAME(rt_cpu_private_add) SAME(rt_cpu_temp) SAME(rt_cpu_temp_again)
    SAME(rt_cpu_scratch) SAME(rt_cpu_assert) SAME(rt_cpu_subscript) SAME(rt_cpu_print)
    /* code of GPU threads, which rt/simt plays */
    SAME(rt_gpu_enter) SAME(rt_gpu_leave) SAME(rt_gpu_alone) SAME(rt_gpu_reads) SAME(rt_gpu_writes)
    SAME(rt_gpu_begin) SAME(rt_gpu_next) SAME(rt_gpu_end) SAME(rt_gpu_partials) SAME(rt_gpu_slots)
    SAME(rt_gpu_private) SAME(rt_gpu_private_add)
    SAME(rt_gpu_temp) SAME(rt_gpu_temp_again) SAME(rt_gpu_record) SAME(rt_gpu_page) SAME(rt_gpu_reserve) SAME(rt_gpu_over)
    SAME(rt_gpu_room) SAME(rt_gpu_thin) SAME(rt_gpu_save) SAME(rt_gpu_restore) SAME(rt_gpu_tasks) SAME(rt_gpu_over_tasks)
    SAME(rt_gpu_assert) SAME(rt_gpu_subscript) SAME(rt_gpu_print)
    SAME(rt_warp_lane) SAME(rt_warp_ballot) SAME(rt_warp_take32) SAME(rt_warp_take64) SAME(rt_warp_swap32) SAME(rt_warp_swap64)
    SAME(rt_warp_sync) SAME(rt_grid_warp)
};
/* clang-format on */

const ll_symbol *
ll_symbols(size_t *n)
{
    *n = countof(symbols);
    return symbols;
}
