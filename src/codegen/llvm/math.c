/* Math functions in compiled code. SPDX-License-Identifier: Apache-2.0
 *
 * libm's have names of our own until code is made, so that no pass computes one call at compile time, with another
 * rounding, and leaves its copy in the reverse sweep alone. */
#include "codegen/llvm/gen.h"

enum { NAME_ROOM = 40 };

static LLVMTypeRef
float_type(gen *g, bool is_float)
{
    return is_float ? g->f32 : g->f64;
}

LLVMValueRef
gen_libm(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args)
{
    char room[NAME_ROOM];
    snprintf(room, NAME_ROOM, "%s%s%s", g->libm_names ? "" : "rg_", name, is_float ? "f" : "");
    return gen_pure_call(g, room, float_type(g, is_float), n, args);
}

LLVMValueRef
gen_math(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args)
{
    char room[NAME_ROOM];
    if (g->native_math)
        return gen_libm(g, name, is_float, n, args);
    snprintf(room, NAME_ROOM, "rgm_%s%s", name, is_float ? "f" : "");
    return gen_pure_call(g, room, float_type(g, is_float), n, args);
}

/* where a function leaves one of its two results; read again at once */
static LLVMValueRef
place_for(gen *g, unsigned which, LLVMTypeRef type)
{
    LLVMValueRef *place = &g->s->places[which][type == g->f64];
    if (!*place)
        *place = gen_alloca(g, type, NULL, "place");
    return *place;
}

void
gen_sincos(gen *g, bool is_float, LLVMValueRef x, LLVMValueRef results[2])
{
    char room[NAME_ROOM];
    LLVMTypeRef type = float_type(g, is_float);
    LLVMValueRef args[3] = {x, place_for(g, 0, type), place_for(g, 1, type)};
    const char *f = is_float ? "f" : "";
    if (g->native_math)
        snprintf(room, NAME_ROOM, "%ssincos%s", g->libm_names ? "" : "rg_", f);
    else
        snprintf(room, NAME_ROOM, "rgm_sincos%s_places", f);
    gen_placing_call(g, room, 3, args);
    for (unsigned i = 0; i < 2; i++)
        results[i] = LLVMBuildLoad2(g->b, type, args[1 + i], "");
}
