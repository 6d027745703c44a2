/* What a launch needs: a grid is to be no larger than its work, a pool large enough before it starts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/needs.h"

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
    *needs = (rt_needs){0};
}

/* -- as bytes ------------------------------------------------------------------------------------------------------ */

static void
put_numbers(str *out, const uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        bytes_put_u32(out, numbers[i]);
}

void
rt_needs_write(const rt_needs *needs, str *out)
{
    bytes_put_u32(out, (uint32_t)needs->values.n);
    for (size_t i = 0; i < needs->values.n; i++) {
        const rt_need_value *v = &needs->values.at[i];
        bytes_put_u32(out, v->code);
        bytes_put_u32(out, v->operand | v->result << 8 | v->nargs << 16);
        put_numbers(out, v->at, countof(v->at));
        bytes_put_u64(out, v->bits);
    }
    bytes_put_u32(out, (uint32_t)needs->loops.n);
    for (size_t i = 0; i < needs->loops.n; i++) {
        const rt_need_loop *loop = &needs->loops.at[i];
        bytes_put_u32(out, loop->rank);
        bytes_put_u32(out, loop->grouped);
        put_numbers(out, loop->lo, loop->rank);
        put_numbers(out, loop->hi, loop->rank);
    }
    bytes_put_u32(out, (uint32_t)needs->temps.n);
    for (size_t i = 0; i < needs->temps.n; i++) {
        const rt_need_temp *temp = &needs->temps.at[i];
        bytes_put_u32(out, temp->rank);
        put_numbers(out, temp->extent, temp->rank);
        bytes_put_u64(out, temp->bytes);
    }
    bytes_put_u32(out, needs->tape);
    bytes_put_u32(out, needs->sums);
    bytes_put_u32(out, needs->unknown_loop | needs->unknown_temp << 1);
}

static uint32_t
below(bytes_reader *r, uint32_t limit)
{
    uint32_t v = bytes_u32(r);
    r->damaged |= v >= limit;
    return r->damaged ? 0 : v;
}

static rt_need_value
read_need(bytes_reader *r, uint32_t nparams, uint32_t before)
{
    rt_need_value v = {.code = (uint16_t)below(r, RG_OP_COUNT + 1)};
    uint32_t small = bytes_u32(r);
    v.operand = (uint8_t)small;
    v.result = (uint8_t)(small >> 8);
    v.nargs = (uint8_t)(small >> 16);
    for (size_t i = 0; i < countof(v.at); i++)
        v.at[i] = bytes_u32(r);
    v.bits = bytes_u64(r);
    bool leaf = v.code == RG_OP_CONST || v.code == RG_OP_EXTENT || v.code == RG_OP_COUNT;
    r->damaged |= v.operand >= RG_DTYPE_COUNT || v.result >= RG_DTYPE_COUNT || v.nargs > countof(v.at);
    r->damaged |= v.code == RG_OP_EXTENT ? v.at[0] >= nparams || v.at[1] >= RT_RANK : v.code == RG_OP_COUNT && v.at[0] >= nparams;
    r->damaged |= !leaf && ir_ops[v.code].form == IR_OTHER;
    for (uint32_t i = 0; i < v.nargs && !leaf && !r->damaged; i++)
        r->damaged |= v.at[i] >= before;
    return v;
}

/* Numbers of values; whether some are not known. */
static bool
take_numbers(bytes_reader *r, uint32_t *numbers, uint32_t n, uint32_t limit)
{
    bool unknown = false;
    for (uint32_t i = 0; i < n; i++) {
        numbers[i] = bytes_u32(r);
        unknown |= numbers[i] == NONE;
        r->damaged |= numbers[i] >= limit && numbers[i] != NONE;
    }
    return unknown;
}

void
rt_needs_read(bytes_reader *r, uint32_t nparams, rt_needs *needs)
{
    bool unknown_loop = false, unknown_temp = false;
    *needs = (rt_needs){0};
    uint32_t values = bytes_count(r, 2 * 4 + 3 * 4 + 8);
    r->damaged |= values > VALUES;
    for (uint32_t i = 0; i < values && !r->damaged; i++)
        vec_push(&needs->values, read_need(r, nparams, i));
    uint32_t loops = bytes_count(r, 2 * 4);
    for (uint32_t i = 0; i < loops && !r->damaged; i++) {
        rt_need_loop loop = {.rank = below(r, RT_RANK + 1), .grouped = bytes_u32(r)};
        unknown_loop |= take_numbers(r, loop.lo, loop.rank, values);
        unknown_loop |= take_numbers(r, loop.hi, loop.rank, values);
        vec_push(&needs->loops, loop);
    }
    uint32_t temps = bytes_count(r, 4 + 8);
    for (uint32_t i = 0; i < temps && !r->damaged; i++) {
        rt_need_temp temp = {.rank = below(r, RT_RANK + 1)};
        unknown_temp |= take_numbers(r, temp.extent, temp.rank, values);
        temp.bytes = bytes_u64(r);
        vec_push(&needs->temps, temp);
    }
    needs->tape = (rt_need_tape)below(r, RT_TAPE_ALL + 1);
    needs->sums = bytes_u32(r);
    uint32_t unknown = below(r, 4);
    needs->unknown_loop = unknown & 1;
    needs->unknown_temp = unknown >> 1;
    r->damaged |= (unknown_loop && !needs->unknown_loop) || (unknown_temp && !needs->unknown_temp);
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
