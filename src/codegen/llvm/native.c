/* The platform's math functions. SPDX-License-Identifier: Apache-2.0
 *
 * For lanes those of libmvec, glibc's, found at run time: _ZGVeN16v_sinf is sinf of 16 lanes for AVX-512, _ZGVdN8v_sinf
 * of 8 for AVX2. They are compiled code's alone: the interpreter has its own. On NVIDIA's GPUs they are libdevice's. */
#include "codegen/llvm/nvidia.h"

#include <dlfcn.h>

#if defined(__x86_64__) && defined(__GLIBC__)
static void *
find_symbol(const char *name)
{
    static const char *const libraries[] = {"libmvec.so.1"};
    for (size_t i = 0; i < countof(libraries); i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL); /* stays: code may call it */
        void *at = library ? dlsym(library, name) : NULL;
        if (at)
            return at;
    }
    return NULL;
}

static unsigned
vector_bits(void)
{
    return __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx2") ? 256 : 128;
}
#else
static void *
find_symbol(const char *name)
{
    (void)name;
    return NULL;
}

static unsigned
vector_bits(void)
{
    return 128;
}
#endif

enum { NAME_ROOM = 64, PARTS_MAX = 32 };

/* the function's address as a constant of the code: it is valid in this process only, as the code is */
static LLVMValueRef
vector_function(gen *g, const char *name, bool is_float, unsigned n, unsigned lanes)
{
    char room[NAME_ROOM];
    unsigned bits = lanes * (is_float ? 32 : 64);
    snprintf(room, NAME_ROOM, "_ZGV%cN%u%s_%s%s", bits == 512 ? 'e' : bits == 256 ? 'd' : 'b', lanes,
             n == 1 ? "v" : "vv", name, is_float ? "f" : "");
    void *at = find_symbol(room);
    if (!at)
        return NULL;
    LLVMValueRef number = LLVMConstInt(g->i64, (uint64_t)(uintptr_t)at, false);
    return LLVMConstIntToPtr(number, g->ptr);
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
    LLVMValueRef fn = here && lanes > 1 ? vector_function(g, name, is_float, n, width) : NULL;
    if (!fn || count > PARTS_MAX)
        return gen_libm(g, name, is_float, n, args);
    LLVMTypeRef vector = LLVMVectorType(is_float ? g->f32 : g->f64, width), types[2] = {vector, vector};
    LLVMTypeRef type = LLVMFunctionType(vector, types, n, false);
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
