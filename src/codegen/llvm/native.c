/* The platform's math functions. SPDX-License-Identifier: Apache-2.0
 *
 * For lanes those of libmvec, glibc's, found at run time: _ZGVeN16v_sinf is sinf of 16 lanes for AVX-512, _ZGVdN8v_sinf
 * of 8 for AVX2. They are compiled code's alone: the interpreter has its own. On NVIDIA's GPUs they are libdevice's. */
#include "codegen/llvm/nvidia.h"

#include "rt/load/symbols.h"

static unsigned
vector_bits(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx2") ? 256 : 128;
#else
    return 128;
#endif
}

enum { NAME_ROOM = 64, PARTS_MAX = 32 };

/* NULL: this machine has no such function */
static LLVMValueRef
vector_function(gen *g, const char *name, bool is_float, unsigned n, unsigned lanes, LLVMTypeRef type)
{
    char room[NAME_ROOM];
    unsigned bits = lanes * (is_float ? 32 : 64);
    snprintf(room, NAME_ROOM, "_ZGV%cN%u%s_%s%s", bits == 512 ? 'e' : bits == 256 ? 'd' : 'b', lanes,
             n == 1 ? "v" : "vv", name, is_float ? "f" : "");
    if (!rt_symbol_vector(room))
        return NULL;
    LLVMValueRef there = LLVMGetNamedFunction(g->module, room);
    return there ? there : LLVMAddFunction(g->module, room, type);
}

static LLVMValueRef
part_of(gen *g, LLVMValueRef v, unsigned first, unsigned n)
{
    LLVMValueRef which[UINT8_MAX];
    for (unsigned i = 0; i < n; i++)
        which[i] = gen_i32(g, first + i);
    return LLVMBuildShuffleVector(g->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(which, n), "");
}

/* `parts` vectors of equal length, one behind the other; a power of two */
static LLVMValueRef
joined_vector(gen *g, LLVMValueRef *parts, unsigned count)
{
    LLVMValueRef which[UINT8_MAX];
    for (; count > 1; count /= 2)
        for (unsigned i = 0; i < count / 2; i++) {
            unsigned n = 2 * gen_width(parts[2 * i]);
            for (unsigned k = 0; k < n; k++)
                which[k] = gen_i32(g, k);
            parts[i] = LLVMBuildShuffleVector(g->b, parts[2 * i], parts[2 * i + 1], LLVMConstVector(which, n), "");
        }
    return parts[0];
}

LLVMValueRef
gen_native(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args)
{
    char room[NAME_ROOM];
    if (gen_for_nvidia(g)) {
        snprintf(room, NAME_ROOM, "__nv_%s%s", name, is_float ? "f" : "");
        LLVMValueRef call = gen_pure_call(g, room, LLVMTypeOf(args[0]), n, args);
        if (g->bet_is_lost)
            gen_keep_call(g, call);
        return call;
    }
    unsigned lanes = gen_width(args[0]), most = vector_bits() / (is_float ? 32 : 64);
    unsigned width = lanes < most ? lanes : most, count = width ? lanes / width : 0;
    bool here = !g->libm_names && !g->options->triple && !g->options->cpu;
    if (!here || lanes < 2 || count > PARTS_MAX)
        return gen_libm(g, name, is_float, n, args);
    LLVMTypeRef vector = LLVMVectorType(is_float ? g->f32 : g->f64, width), types[2] = {vector, vector};
    LLVMTypeRef type = LLVMFunctionType(vector, types, n, false);
    LLVMValueRef fn = vector_function(g, name, is_float, n, width, type);
    if (!fn)
        return gen_libm(g, name, is_float, n, args);
    LLVMValueRef parts[PARTS_MAX];
    for (unsigned k = 0; k < count; k++) {
        LLVMValueRef one[2] = {0};
        for (unsigned i = 0; i < n; i++)
            one[i] = count == 1 ? args[i] : part_of(g, args[i], k * width, width);
        parts[k] = LLVMBuildCall2(g->b, type, fn, one, n, "");
        gen_mark_pure_call(g, parts[k]);
    }
    return joined_vector(g, parts, count);
}
