/* What the user sees: faults and prints. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/spirv/gen.h"

static bool
same_words(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

uint32_t
sv_place_number(gen *g, const ir_op *op, const char *text, const char *dtypes, uint32_t values)
{
    const ir_module *m = g->kernel->module;
    ll_gpu_info *info = &g->code.info;
    ll_place place = {.text = text, .values = values, .line = op->loc.line};
    if (op->loc.file < m->files.n)
        place.file = m->files.at[op->loc.file].path;
    for (size_t n = 0; n < info->places.n && !dtypes; n++) {
        const ll_place *p = &info->places.at[n];
        if (p->line == place.line && !p->dtypes && same_words(p->file, place.file) && same_words(p->text, text))
            return (uint32_t)n;
    }
    if (dtypes) { /* the info's own */
        char *copy = mem_alloc(values + 1);
        memcpy(copy, dtypes, values + 1);
        place.dtypes = copy;
    }
    vec_push(&info->places, place);
    return (uint32_t)info->places.n - 1;
}

/* -- faults ------------------------------------------------------------------------------------------------------------ */

/* fault(condition, fault, place, needed, limit) */
static spv_id
fault_function(gen *g)
{
    spv_id types[5] = {g->truth, g->u32, g->u32, g->u64, g->u64}, p[5], zero = sv_u32(g, 0);
    sv_function f;
    if (!sv_function_open(g, &f, "fault", g->nothing, 5, types, p))
        return f.id;
    spv_id launch = sv_launch_here(g);
    sv_branch mine = sv_if(g, p[0]);
    spv_id word = sv_pointer_to(g, g->u32, sv_add(g, launch, offsetof(rt_vulkan_launch, fault)));
    spv_id found = emit(g, SPV_ATOMIC_COMPARE, g->u32, word, sv_u32(g, 1), zero, zero, p[1], zero);
    sv_branch first = sv_if(g, sv_is(g, found, zero));
    sv_write32(g, launch, offsetof(rt_vulkan_launch, place), p[2]);
    sv_write64(g, launch, offsetof(rt_vulkan_launch, needed), p[3]);
    sv_write64(g, launch, offsetof(rt_vulkan_launch, limit), p[4]);
    sv_end_if(g, &first);
    sv_end_if(g, &mine);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    sv_function_close(g, &f);
    return f.id;
}

void
sv_tell_fault(gen *g, uint32_t fault, spv_id place, spv_id needed, spv_id limit, spv_id condition)
{
    spv_id args[5] = {condition, sv_u32(g, fault), place, needed, limit};
    sv_call_function(g, fault_function(g), g->nothing, 5, args);
}

/* The first of the lanes that fail; where all have the same, the first lane. */
void
sv_assert(gen *g, const ir_op *op)
{
    bool subscript = op->nargs > 1;
    spv_id place = sv_u32(g, sv_place_number(g, op, op->attr.text, NULL, 0)), fails = sv_not(g, sv_get(g, op->args[0]));
    spv_id told[2] = {sv_u64(g, 0), sv_u64(g, 0)}, mine = op->nargs > 3 ? sv_get(g, op->args[3]) : sv_is_first(g);
    for (uint32_t i = 0; subscript && i < 2; i++)
        told[i] = sv_wide(g, op->args[1 + i]);
    sv_branch b = sv_if(g, fails);
    sv_tell_fault(g, subscript ? RT_FAULT_SUBSCRIPT : RT_FAULT_ASSERT, place, told[0], told[1], mine);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    spv_block(&g->s, b.merge);
}

/* -- prints ------------------------------------------------------------------------------------------------------------ */

/* in 64 bits: integers extended, f16 widened to f32, floats as their bits */
static spv_id
printed(gen *g, const ir_value *v)
{
    rg_dtype d = ir_dtype(v);
    spv_id value = sv_get(g, v);
    if (!ir_is_float(d))
        return sv_cast(g, d, ir_is_signed(d) ? RG_I64 : RG_U64, value);
    return d == RG_F64 ? sv_word(g, d, value) : sv_high(g, sv_word(g, d, value));
}

/* Counters are 64 bits wide for the host, and below 2^32 here: what is full is not added to any more, so `used` stays near to `room`. */
void
sv_print(gen *g, const ir_op *op)
{
    uint32_t n = op->nargs;
    char *dtypes = arena_new_n(g->in, char, n + 1);
    spv_id *values = arena_new_n(g->in, spv_id, n + 1), size = sv_u32(g, n + 1), zero = sv_u32(g, 0);
    for (uint32_t i = 0; i < n; i++) {
        dtypes[i] = (char)op->args[i]->type.dtype;
        values[i] = printed(g, op->args[i]);
    }
    uint32_t place = sv_place_number(g, op, op->attr.text, dtypes, n);
    g->code.info.prints = true;
    spv_id prints = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, prints));
    sv_branch first = sv_if(g, sv_and(g, sv_is_first(g), sv_not(g, sv_is_zero(g, prints))));
    spv_id used = sv_add(g, prints, offsetof(rt_gpu_prints, used)), room = sv_read32(g, prints, offsetof(rt_gpu_prints, room));
    spv_id open = emit(g, SPV_U_LESS, g->truth, sv_atomic_add32(g, used, zero), room);
    spv_id at = sv_atomic_add32(g, used, sv_choose(g, g->u32, open, size, zero));
    spv_id fits = sv_and(g, open, emit(g, SPV_U_LESS_EQUAL, g->truth, emit(g, SPV_I_ADD, g->u32, at, size), room));
    sv_branch lost = sv_if(g, sv_not(g, fits));
    sv_atomic_add32(g, sv_add(g, prints, offsetof(rt_gpu_prints, lost)), sv_u32(g, 1));
    sv_end_if(g, &lost);
    sv_branch kept = sv_if(g, fits);
    spv_id cell = emit(g, SPV_I_ADD, g->u64, prints, emit(g, SPV_I_MUL, g->u64, sv_high(g, at), sv_u64(g, 8)));
    spv_id program = sv_high(g, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, program)));
    spv_id head = emit(g, SPV_SHIFT_LEFT, g->u64, program, sv_u32(g, 48));
    head = emit(g, SPV_OR, g->u64, head, sv_u64(g, ((uint64_t)place + 1) | (uint64_t)n << 32));
    sv_write64(g, cell, offsetof(rt_gpu_prints, cells), head);
    for (uint32_t i = 0; i < n; i++)
        sv_write64(g, cell, (uint32_t)(offsetof(rt_gpu_prints, cells) + 8 * (i + 1)), values[i]);
    sv_end_if(g, &kept);
    sv_end_if(g, &first);
}
