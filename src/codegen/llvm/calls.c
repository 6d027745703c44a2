/* Calls out of compiled code: intrinsics, the math library, the runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Math functions have names of our own until code is made, so that no pass computes one call at
 * compile time, with another rounding, and leaves its copy in the reverse sweep alone. */
#include "codegen/llvm/gen.h"
#include "rt/cpu/helpers.h"

#include <math.h>

static void
add_attribute(gen *g, LLVMValueRef fn, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->context, kind, value));
}

static LLVMValueRef
declare(gen *g, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args, bool pure,
        LLVMTypeRef *type)
{
    LLVMTypeRef types[8];
    assert(n <= countof(types));
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    *type = LLVMFunctionType(result, types, n, false);
    LLVMValueRef fn = LLVMGetNamedFunction(g->module, name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(g->module, name, *type);
    add_attribute(g, fn, "nounwind", 0);
    if (pure) {
        add_attribute(g, fn, "willreturn", 0);
        add_attribute(g, fn, "nocallback", 0);
        add_attribute(g, fn, "memory", 0); /* none */
    }
    return fn;
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

LLVMValueRef
gen_pure_call(gen *g, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args)
{
    LLVMTypeRef type;
    LLVMValueRef fn = declare(g, name, result, n, args, true, &type);
    LLVMValueRef call = LLVMBuildCall2(g->b, type, fn, args, n, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("nobuiltin", 9);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(g->context, kind, 0));
    return call;
}

LLVMValueRef
gen_math(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args)
{
    char full[40];
    snprintf(full, sizeof full, "%s%s%s", g->libm_names ? "" : "rg_", name, is_float ? "f" : "");
    return gen_pure_call(g, full, is_float ? g->f32 : g->f64, n, args);
}

LLVMValueRef
gen_runtime_call(gen *g, LLVMBuilderRef b, const char *name, LLVMTypeRef result, unsigned n,
                 LLVMValueRef *args)
{
    LLVMTypeRef type;
    LLVMValueRef fn = declare(g, name, result, n, args, false, &type);
    return LLVMBuildCall2(b, type, fn, args, n, "");
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
#define LIBM1(op, name) {"rg_" #name, ADDRESS(name)}, {"rg_" #name "f", ADDRESS(name##f)},
#define LIBM2(op, name) LIBM1(op, name)
#define SAME(name)      {#name, ADDRESS(name)},
#define BOTH(name)      SAME(name) SAME(name##f)

/* clang-format off */
static const ll_symbol symbols[] = {
#include "codegen/llvm/libm.def"
    LIBM1(LDEXP, ldexp)
    /* what instructions become on processors without them */
    BOTH(fma) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(rint) BOTH(round) BOTH(sqrt)
    SAME(memcpy) SAME(memmove) SAME(memset)
#if defined(__FLT16_MAX__) && defined(__SSE2__)
    {"__extendhfsf2", ADDRESS(half_to_float)},
    {"__truncsfhf2", ADDRESS(float_to_half)},
#endif
    SAME(rt_odd_float) SAME(rt_fraction) SAME(rt_fractionf) SAME(rt_exponent)
    SAME(rt_cpu_parallel) SAME(rt_cpu_slots) SAME(rt_cpu_kernel_worker) SAME(rt_cpu_page)
    SAME(rt_cpu_private) SAME(rt_cpu_private_add) SAME(rt_cpu_temp) SAME(rt_cpu_temp_again)
    SAME(rt_cpu_scratch) SAME(rt_cpu_assert) SAME(rt_cpu_print)
};
/* clang-format on */

const ll_symbol *
ll_symbols(size_t *n)
{
    *n = countof(symbols);
    return symbols;
}
