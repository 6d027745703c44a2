/* What lanes have to do with each other. SPDX-License-Identifier: Apache-2.0
 *
 * By operations of the subgroup where that has 32 invocations, else through memory of the workgroup with barriers: control is the
 * same for all 32 wherever these stand. */
#include "codegen/spirv/gen.h"

enum { WORKGROUP = 2, SUBGROUP = 3, DEVICE = 1 };
/* acquire and release, of memory of buffers and the workgroup, made available and visible */
enum { ORDER = 0x8 | 0x40 | 0x100 | 0x2000 | 0x4000 };

static bool
by_subgroup(const gen *g)
{
    return g->options->features & SPIRV_SUBGROUPS;
}

static void
use_subgroups(gen *g, uint32_t capability)
{
    spv_capability(&g->s, SPV_CAP_NON_UNIFORM);
    spv_capability(&g->s, capability);
    g->code.uses |= SPIRV_SUBGROUPS;
}

/* a subgroup of RT_WARP is all of its workgroup */
void
sv_barrier(gen *g)
{
    spv_id scope = sv_u32(g, by_subgroup(g) ? SUBGROUP : WORKGROUP);
    emit_do(g, SPV_BARRIER, scope, scope, sv_u32(g, ORDER));
}

spv_id
sv_is_first(gen *g)
{
    return sv_is(g, g->lane, sv_u32(g, 0));
}

sv_branch
sv_once(gen *g)
{
    sv_barrier(g);
    return sv_if(g, sv_is_first(g));
}

void
sv_end_once(gen *g, sv_branch *b)
{
    sv_end_if(g, b);
    sv_barrier(g);
}

/* -- memory of the workgroup: a row with a number for each lane, a word ------------------------------------------------ */

static spv_id
row_of_words(gen *g, spv_id type)
{
    spv_id *row = type == g->u64 ? &g->row64 : &g->row32;
    if (!*row)
        *row = spv_global(&g->s, SPV_WORKGROUP, spv_array(&g->s, type, RT_WARP), 0, 0);
    return *row;
}

static spv_id
in_row(gen *g, spv_id type, spv_id lane)
{
    return emit(g, SPV_CHAIN, spv_pointer(&g->s, SPV_WORKGROUP, type), row_of_words(g, type), lane);
}

enum { NON_PRIVATE = 0x20 };

static void
put_in_row(gen *g, spv_id type, spv_id v)
{
    emit_do(g, SPV_STORE, in_row(g, type, g->lane), v, NON_PRIVATE);
    sv_barrier(g);
}

static spv_id
from_row(gen *g, spv_id type, spv_id lane)
{
    return emit(g, SPV_LOAD, type, in_row(g, type, lane), NON_PRIVATE);
}

static spv_id
ballot_by_memory(gen *g, spv_id condition)
{
    spv_id zero = sv_u32(g, 0), scope = sv_u32(g, WORKGROUP);
    if (!g->word)
        g->word = spv_global(&g->s, SPV_WORKGROUP, g->u32, 0, 0);
    sv_branch first = sv_once(g);
    emit_do(g, SPV_STORE, g->word, zero, NON_PRIVATE);
    sv_end_once(g, &first);
    sv_branch mine = sv_if(g, condition);
    emit(g, SPV_ATOMIC_OR, g->u32, g->word, scope, zero, emit(g, SPV_SHIFT_LEFT, g->u32, sv_u32(g, 1), g->lane));
    sv_end_if(g, &mine);
    sv_barrier(g);
    return emit(g, SPV_LOAD, g->u32, g->word, NON_PRIVATE);
}

/* -- primitives -------------------------------------------------------------------------------------------------------- */

spv_id
sv_ballot(gen *g, spv_id condition)
{
    if (!by_subgroup(g))
        return ballot_by_memory(g, condition);
    use_subgroups(g, SPV_CAP_BALLOT);
    spv_id four = spv_known(&g->s, SPV_VECTOR, 0, spv_list(g->u32, 4));
    spv_id bits = emit(g, SPV_BALLOT, four, sv_u32(g, SUBGROUP), condition);
    return emit(g, SPV_EXTRACT, g->u32, bits, 0);
}

spv_id
sv_any(gen *g, spv_id condition)
{
    return emit(g, SPV_I_NOT_EQUAL, g->truth, sv_ballot(g, condition), sv_u32(g, 0));
}

spv_id
sv_take_id(gen *g, spv_id type, spv_id v, spv_id lane)
{
    if (by_subgroup(g)) {
        use_subgroups(g, SPV_CAP_SHUFFLE);
        return emit(g, SPV_SHUFFLE, type, sv_u32(g, SUBGROUP), v, lane);
    }
    put_in_row(g, type, v);
    spv_id taken = from_row(g, type, lane);
    sv_barrier(g);
    return taken;
}

static spv_id
word_type(gen *g, rg_dtype d)
{
    return ir_bytes(d) == 8 ? g->u64 : g->u32;
}

spv_id
sv_take(gen *g, rg_dtype d, spv_id v, spv_id lane)
{
    return sv_of_word(g, d, sv_take_id(g, word_type(g, d), sv_word(g, d, v), lane));
}

spv_id
sv_of_partner(gen *g, rg_dtype d, spv_id v, uint32_t distance)
{
    use_subgroups(g, SPV_CAP_SHUFFLE);
    return sv_of_word(g, d, emit(g, SPV_SHUFFLE_XOR, word_type(g, d), sv_u32(g, SUBGROUP), sv_word(g, d, v), sv_u32(g, distance)));
}

/* -- reductions: the upper half with the lower half, until one is left ------------------------------------------------ */

static spv_id
reduce_by_subgroup(gen *g, rg_rmw how, rg_dtype d, spv_id v)
{
    for (uint32_t n = RT_WARP / 2; n; n /= 2)
        v = sv_combine(g, how, d, v, sv_of_partner(g, d, v, n));
    return ir_is_float(d) && how != RG_RMW_ADD ? sv_take(g, d, v, sv_u32(g, 0)) : v;
}

/* each lane does it for itself, of all */
static spv_id
reduce_by_memory(gen *g, rg_rmw how, rg_dtype d, spv_id v)
{
    spv_id type = word_type(g, d), part[RT_WARP];
    put_in_row(g, type, sv_word(g, d, v));
    for (uint32_t i = 0; i < RT_WARP; i++)
        part[i] = sv_of_word(g, d, from_row(g, type, sv_u32(g, i)));
    for (uint32_t n = RT_WARP / 2; n; n /= 2)
        for (uint32_t i = 0; i < n; i++)
            part[i] = sv_combine(g, how, d, part[i], part[i + n]);
    sv_barrier(g);
    return part[0];
}

spv_id
sv_reduce(gen *g, rg_rmw how, rg_dtype d, spv_id v)
{
    char name[32];
    spv_id type = sv_register(g, d), param;
    sv_function f;
    snprintf(name, sizeof name, "reduce_%s_%s", ir_rmw_names[how], ir_dtype_name(d));
    if (sv_function_open(g, &f, name, type, 1, &type, &param)) {
        spv_id lane = g->lane;
        g->lane = emit(g, SPV_LOAD, g->u32, g->lane_input);
        spv_id r = by_subgroup(g) ? reduce_by_subgroup(g, how, d, param) : reduce_by_memory(g, how, d, param);
        emit_do(g, SPV_RETURN_VALUE, r);
        g->lane = lane;
        sv_function_close(g, &f);
    }
    return sv_call_function(g, f.id, type, 1, &v);
}

/* -- ops --------------------------------------------------------------------------------------------------------------- */

static spv_id
lane_in_warp(gen *g, const ir_value *v)
{
    return emit(g, SPV_AND, g->u32, sv_get(g, v), sv_u32(g, RT_WARP - 1));
}

static spv_id
own_lane(gen *g, rg_dtype d)
{
    return sv_cast(g, RG_U32, d, g->lane);
}

void
sv_lane_op(gen *g, const ir_op *op)
{
    const ir_value *to = op->results[0];
    rg_dtype d = ir_dtype(to);
    if (op->code == RG_OP_LANES_REDUCE && sv_sum_waits(g, op))
        return;
    spv_id x = op->nargs ? sv_get(g, op->args[0]) : 0, r = x;
    switch ((int)op->code) {
    case RG_OP_LANE:
        r = own_lane(g, d);
        break;
    case RG_OP_LANES_ANY:
        r = sv_any(g, x);
        break;
    case RG_OP_LANES_BITS:
        r = sv_high(g, sv_ballot(g, x));
        break;
    case RG_OP_LANES_REDUCE:
        r = sv_reduce(g, (rg_rmw)op->rmw, d, x);
        break;
    case RG_OP_LANE_GET:
        r = sv_take(g, d, x, lane_in_warp(g, op->args[1]));
        break;
    case RG_OP_LANE_SET:
        r = sv_choose(g, sv_register(g, d), sv_is(g, g->lane, lane_in_warp(g, op->args[1])), sv_get(g, op->args[2]), x);
        break;
    }
    sv_set(g, to, r);
}
