/* Fast math on GPUs: instructions that approximate functions of f32. SPDX-License-Identifier: Apache-2.0
 *
 * Subnormal numbers stay what they are. How good the instructions are is up to the machine: sin and cos have an absolute
 * error of about 2^-21 in [-pi, pi], which grows with the argument; the others a relative one of some ulp. */
#include "codegen/llvm/nvidia.h"

/* after * f(before * x), f an intrinsic of LLVM, or of the target alone */
typedef struct approximation {
    const char *name, *intrinsic;
    double before, after;
    bool of_target;
    unsigned from; /* sm_... */
} approximation;

#define LOG2_E  1.44269504088896340736
#define LN_2    0.69314718055994530942
#define LOG10_2 0.30102999566398119521

/* clang-format off */
static const approximation table[] = {
    {"sin",   "llvm.sin",               1,      1,       false, 0},
    {"cos",   "llvm.cos",               1,      1,       false, 0},
    {"exp2",  "llvm.exp2",              1,      1,       false, 0},
    {"exp",   "llvm.exp2",              LOG2_E, 1,       false, 0},
    {"log2",  "llvm.nvvm.lg2.approx.f", 1,      1,       true,  0},
    {"log",   "llvm.nvvm.lg2.approx.f", 1,      LN_2,    true,  0},
    {"log10", "llvm.nvvm.lg2.approx.f", 1,      LOG10_2, true,  0},
    {"tanh",  "llvm.tanh",              1,      1,       false, 75},
};
/* clang-format on */

static LLVMValueRef
approximate(gen *g, LLVMValueRef v)
{
    if (LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, LLVMFastMathApproxFunc);
    return v;
}

static LLVMValueRef
scaled_float(gen *g, double by, LLVMValueRef x)
{
    return by == 1 ? x : LLVMBuildFMul(g->b, x, LLVMConstReal(g->f32, by), "");
}

static LLVMValueRef
by_table(gen *g, const char *name, LLVMValueRef x)
{
    for (size_t i = 0; i < countof(table); i++) {
        const approximation *a = &table[i];
        if (strcmp(a->name, name) != 0 || nvidia_number(g->options->cpu) < a->from)
            continue;
        x = scaled_float(g, a->before, x);
        return scaled_float(g, a->after, approximate(g, gen_intrinsic(g, a->intrinsic, !a->of_target, &g->f32, 1, &x)));
    }
    return NULL;
}

bool
gen_is_fast(const gen *g, LLVMTypeRef type)
{
    return g->options->fast_math && gen_for_nvidia(g) && type == g->f32;
}

LLVMValueRef
gen_fast_division(gen *g, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef args[2] = {x, y};
    if (LLVMIsConstant(x) && x == LLVMConstReal(g->f32, 1))
        return approximate(g, LLVMBuildFDiv(g->b, x, y, "")); /* a reciprocal */
    return gen_intrinsic(g, "llvm.nvvm.div.full", 0, NULL, 2, args);
}

LLVMValueRef
gen_fast_root(gen *g, LLVMValueRef x, bool reciprocal)
{
    if (reciprocal)
        return gen_intrinsic(g, "llvm.nvvm.rsqrt.approx.f", 0, NULL, 1, &x);
    return approximate(g, gen_intrinsic(g, "llvm.sqrt", 1, &g->f32, 1, &x));
}

LLVMValueRef
gen_fast_math(gen *g, const char *name, LLVMValueRef *args)
{
    if (strcmp(name, "tan") == 0)
        return gen_fast_division(g, by_table(g, "sin", args[0]), by_table(g, "cos", args[0]));
    if (strcmp(name, "pow") == 0) /* of a base that is not negative */
        return by_table(g, "exp2", LLVMBuildFMul(g->b, args[1], by_table(g, "log2", args[0]), ""));
    return by_table(g, name, args[0]);
}
