/* What a launch needs: a grid is to be no larger than its work, a pool large enough before it starts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/needs.h"

#include "analysis/pages.h"
#include "analysis/effects.h"
#include "rt/gpu/gpu.h"

enum { VALUES = 96, NONE = UINT32_MAX, TEMP_HEAD = 256 /* of the runtime's, and for alignment */ };

/* -- values -------------------------------------------------------------------------------------------------------- */

static uint32_t number(rt_needs *needs, const ir_fn *fn, const ir_value *v);

static uint32_t
keep(rt_needs *needs, const ir_value *v, rt_need_value made)
{
    made.of = v;
    made.result = v->type.dtype;
    if (needs->values.n == VALUES)
        return NONE;
    vec_push(&needs->values, made);
    return (uint32_t)needs->values.n - 1;
}

static uint32_t
number_of_op(rt_needs *needs, const ir_fn *fn, const ir_value *v)
{
    const ir_op *op = v->def;
    rt_need_value made = {.code = op->code, .nargs = (uint8_t)op->nargs};
    if (op->code == RG_OP_EXTENT) {
        if (op->args[0]->def || op->args[0]->region != fn->body)
            return NONE;
        made.at[0] = op->args[0]->index;
        made.at[1] = (uint32_t)op->attr.bits;
        return keep(needs, v, made);
    }
    if (ir_ops[op->code].form == IR_OTHER || op->nargs > countof(made.at) || op->nresults != 1)
        return NONE;
    for (uint32_t i = 0; i < op->nargs; i++)
        if ((made.at[i] = number(needs, fn, op->args[i])) == NONE)
            return NONE;
    made.operand = op->args[0]->type.dtype;
    return keep(needs, v, made);
}

/* NONE: it is not known before the launch, or would take long to tell */
static uint32_t
number(rt_needs *needs, const ir_fn *fn, const ir_value *v)
{
    uint64_t bits;
    for (uint32_t i = 0; i < needs->values.n; i++)
        if (needs->values.at[i].of == v)
            return i;
    if (v->type.kind != IR_SCALAR || v->type.lanes)
        return NONE;
    if (ir_is_const(v, &bits))
        return keep(needs, v, (rt_need_value){.code = RG_OP_CONST, .bits = bits});
    if (v->def)
        return number_of_op(needs, fn, v);
    if (v->region != fn->body)
        return NONE;
    return keep(needs, v, (rt_need_value){.code = RG_OP_COUNT, .at = {v->index}});
}

/* false: an operation has no result, such as a division by 0 in a branch that is not taken */
static bool
evaluate(const rt_needs *needs, const rt_arg *args, uint64_t *bits)
{
    for (size_t i = 0; i < needs->values.n; i++) {
        const rt_need_value *v = &needs->values.at[i];
        uint64_t x[3] = {0};
        if (v->code == RG_OP_CONST) {
            bits[i] = v->bits;
        } else if (v->code == RG_OP_EXTENT) {
            bits[i] = (uint64_t)args[v->at[0]].extent[v->at[1]];
        } else if (v->code == RG_OP_COUNT) {
            bits[i] = ir_wrap((rg_dtype)v->result, args[v->at[0]].bits);
        } else {
            for (uint32_t k = 0; k < v->nargs; k++)
                x[k] = bits[v->at[k]];
            if (!ir_eval((rg_op)v->code, (rg_dtype)v->operand, (rg_dtype)v->result, x[0], x[1], x[2], &bits[i]))
                return false;
        }
    }
    return true;
}

/* -- tapes --------------------------------------------------------------------------------------------------------- */

static rt_need_tape
tape_of_task(const ir_op *parallel)
{
    ir_page_use use = ir_page_use_of(parallel->regions[0]);
    if (!use.pages)
        return RT_TAPE_NONE;
    return (use.late && !use.room) || parallel->records || parallel->rewinds ? RT_TAPE_ALL : RT_TAPE_SOME;
}

static void
see_tape(rt_needs *needs, const ir_region *r)
{
    ir_for_ops (op, r) {
        rt_need_tape tape = op->code == RG_OP_PARALLEL ? tape_of_task(op) : ir_takes_pages(op) ? RT_TAPE_ALL : RT_TAPE_NONE;
        needs->tape = tape > needs->tape ? tape : needs->tape;
        for (uint32_t i = 0; i < op->nregions && op->code != RG_OP_PARALLEL; i++)
            see_tape(needs, op->regions[i]);
    }
}

/* -- loops and temporary arrays ------------------------------------------------------------------------------------ */

typedef struct walk {
    rt_needs *needs;
    const ir_fn *fn;
    uint32_t directions[RG_PLANE_COUNT];
    ir_effects effects; /* of fn */
} walk;

static void
need_loop(walk *w, const ir_op *op)
{
    rt_needs *needs = w->needs;
    rt_need_loop loop = {.rank = op->attr.rank, .grouped = op->regions[0]->nparams > op->attr.rank};
    for (uint32_t i = 0; i < loop.rank; i++) {
        loop.lo[i] = number(needs, w->fn, op->args[i]);
        loop.hi[i] = number(needs, w->fn, op->args[loop.rank + i]);
        needs->unknown_loop |= loop.lo[i] == NONE || loop.hi[i] == NONE;
    }
    needs->sums = op->nresults > needs->sums ? op->nresults : needs->sums;
    vec_push(&needs->loops, loop);
}

static void
need_temp(walk *w, const ir_op *op)
{
    rt_needs *needs = w->needs;
    rt_need_temp temp = {.rank = op->nargs};
    const ir_value *buffer = op->results[0];
    uint8_t planes = ir_effects_planes(&w->effects, buffer);
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        if (planes >> plane & 1)
            temp.bytes += (uint64_t)ir_bytes((rg_dtype)buffer->type.dtype) * (w->directions[plane] ? w->directions[plane] : 1);
    for (uint32_t i = 0; i < temp.rank; i++) {
        temp.extent[i] = number(needs, w->fn, op->args[i]);
        needs->unknown_temp |= temp.extent[i] == NONE;
    }
    vec_push(&needs->temps, temp);
}

static bool
need_op(ir_op *op, void *user)
{
    walk *w = user;
    if (op->code == RG_OP_PARALLEL)
        need_loop(w, op);
    if (op->code == RG_OP_TEMP)
        need_temp(w, op);
    /* recorded buffers: each turn of a loop has its own */
    for (uint32_t i = 1; op->code == RG_OP_TAPE_PUSH && i < op->nargs; i++)
        w->needs->unknown_temp |= op->args[i]->type.kind == IR_BUFFER;
    return true;
}

void
rt_needs_make(rt_needs *needs, const ir_fn *fn)
{
    arena *scratch = arena_new();
    mem_owner owns;
    mem_own(&owns, mem_release_arena, scratch);
    walk w = {.needs = needs, .fn = fn, .effects = ir_effects_of(fn->body, scratch)};
    ir_directions(fn, w.directions);
    ir_walk(fn->body, need_op, &w);
    see_tape(needs, fn->body);
    mem_disown(&owns);
    arena_free(scratch);
}

void
rt_needs_free(rt_needs *needs)
{
    vec_free(&needs->values);
    vec_free(&needs->loops);
    vec_free(&needs->temps);
}

/* -- of a launch --------------------------------------------------------------------------------------------------- */

static uint32_t
warps_of(const rt_needs *needs, const uint64_t *bits, uint32_t most)
{
    double warps = 1;
    if (needs->unknown_loop)
        return most;
    for (size_t i = 0; i < needs->loops.n; i++) {
        const rt_need_loop *loop = &needs->loops.at[i];
        double threads = 1;
        for (uint32_t k = 0; k < loop->rank; k++) {
            int64_t lo = (int64_t)bits[loop->lo[k]], hi = (int64_t)bits[loop->hi[k]];
            threads *= hi > lo ? (double)hi - (double)lo : 0;
        }
        threads = loop->grouped ? (threads + RT_WARP - 1) / RT_WARP : threads;
        warps = threads > warps ? threads : warps;
    }
    return warps < most ? (uint32_t)warps : most;
}

static uint64_t
temps_of(const rt_needs *needs, const uint64_t *bits)
{
    double all = 0;
    if (needs->unknown_temp)
        return UINT64_MAX;
    for (size_t i = 0; i < needs->temps.n; i++) {
        const rt_need_temp *temp = &needs->temps.at[i];
        double bytes = (double)temp->bytes;
        for (uint32_t k = 0; k < temp->rank; k++)
            bytes *= (int64_t)bits[temp->extent[k]] > 0 ? (double)(int64_t)bits[temp->extent[k]] : 0;
        all += bytes + TEMP_HEAD * RT_PLANES;
    }
    return all < 1e18 ? (uint64_t)all : UINT64_MAX;
}

rt_need
rt_needs_of(const rt_needs *needs, const rt_arg *args, uint32_t most)
{
    uint64_t bits[VALUES];
    if (!evaluate(needs, args, bits))
        return (rt_need){most, needs->temps.n ? UINT64_MAX : 0};
    return (rt_need){warps_of(needs, bits, most), temps_of(needs, bits)};
}
