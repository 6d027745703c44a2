/* Sums of a task's threads into arrays, formed by each workgroup alone. SPDX-License-Identifier: Apache-2.0
 *
 * A small array to which the threads of a task only add (analysis/sums.h) has an f64 cell for each element and row of pieces (task.c), in
 * memory of the launch. A workgroup clears a row's cells as it begins with it, and adds to them; nobody else does. An entry behind the
 * task, of all workgroups, adds up what the rows hold, an element at a time, and adds that to the array, rounded once.
 *
 *     cell i of row r     rt_vulkan_launch.sums + 8 * (i * rows + r)
 *
 * Whether cells are few enough is decided in each launch, by both entries from the same numbers. Where a device has no atomic updates of
 * 64 bits and lanes add each for itself, cells are f32. */
#include "codegen/spirv/gen.h"

#include "analysis/sums.h"

enum { AT_ONCE = 4 }; /* loads that are waited for together */

/* -- which they are ---------------------------------------------------------------------------------------------------- */

static bool
note_lanes(ir_op *op, void *user)
{
    sv_sum *sum = user;
    sum->lanes |= ir_is_sum(op) && op->args[0] == sum->buffer && op->plane == sum->plane && ir_lanes_of(op);
    return true;
}

static bool
is_sum_good(gen *g, const ir_op *op, sv_sum *sum)
{
    bool there = sv_may_be_there(g, sum->buffer, sum->plane) && (sum->plane != RG_PRIMAL || sv_is_row_major(g, sum->buffer));
    if (!there || (!g->options->deterministic && ir_sum_never_pays(op, sum->buffer)))
        return false;
    ir_walk(op->regions[0], note_lanes, sum);
    sum->dtype = sum->lanes && !g->options->deterministic && !sv_can_add(g, RG_F64) ? RG_F32 : RG_F64;
    return sum->dtype == RG_F64 || ir_dtype(sum->buffer) != RG_F64;
}

void
sv_sums_find(gen *g, const ir_op *op)
{
    ir_sum all[IR_SUMS_MAX];
    uint32_t found = ir_sums_find(ir_footprint(&g->footprints, op), all);
    g->sums = arena_new_n(g->in, sv_sum, found + 1);
    g->nsums = 0;
    for (uint32_t i = 0; i < found; i++) {
        sv_sum *sum = &g->sums[g->nsums];
        *sum = (sv_sum){.buffer = all[i].buffer, .plane = all[i].plane};
        g->nsums += is_sum_good(g, op, sum);
    }
    g->code.info.has_rows |= g->nsums > 0;
}

const sv_sum *
sv_sum_of(const gen *g, const ir_op *op)
{
    for (uint32_t i = 0; g->task && ir_is_sum(op) && i < g->nsums; i++)
        if (g->sums[i].buffer == op->args[0] && g->sums[i].plane == op->plane)
            return &g->sums[i];
    return NULL;
}

/* -- where they lie ---------------------------------------------------------------------------------------------------- */

static spv_id
plane_of_sum(gen *g, const sv_sum *sum)
{
    return sv_field(g, sum->buffer, (uint32_t)(offsetof(rt_arg, plane) + 8 * sum->plane));
}

static spv_id
stride_of_cell(gen *g)
{
    return emit(g, SPV_I_MUL, g->u64, sv_high(g, g->rows), sv_u64(g, 8));
}

/* `number` cells behind `at` */
static spv_id
cell_behind(gen *g, spv_id at, spv_id number)
{
    return number ? emit(g, SPV_I_ADD, g->u64, at, emit(g, SPV_I_MUL, g->u64, number, stride_of_cell(g))) : at;
}

spv_id
sv_cell(gen *g, const ir_op *op, const sv_sum *sum)
{
    return cell_behind(g, sum->at, sv_number_of_element(g, op));
}

/* Each sum's cells, those of row `row`, and whether there are few enough; returns how many there are in all. Where there are none in a
 * deterministic launch, threads run one after the other: then they always pay. */
static spv_id
place_sums(gen *g, const ir_op *op, spv_id threads, spv_id row)
{
    int64_t enough = ir_sum_threads(ir_work(op->regions[0]));
    spv_id total = sv_u64(g, 0), room = sv_high(g, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, row)));
    spv_id base = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, sums)), own = emit(g, SPV_I_MUL, g->u64, row, sv_u64(g, 8));
    spv_id many = emit(g, SPV_U_GREATER_EQUAL, g->truth, threads, sv_u64(g, (uint64_t)enough));
    spv_id most = emit(g, SPV_U_DIV, g->u64, threads, sv_u64(g, IR_SUMS_THREADS_OF_CELL));
    bool asks = !g->options->deterministic;
    own = emit(g, SPV_I_ADD, g->u64, base, own);
    for (uint32_t i = 0; i < g->nsums; i++) {
        sv_sum *sum = &g->sums[i];
        uint32_t directions = g->directions[sum->plane] ? g->directions[sum->plane] : 1;
        sum->cells = emit(g, SPV_I_MUL, g->u64, sv_elements(g, sum->buffer), sv_u64(g, directions));
        spv_id then = emit(g, SPV_I_ADD, g->u64, total, sum->cells);
        sum->used = emit(g, SPV_U_LESS_EQUAL, g->truth, then, room);
        if (asks)
            sum->used = sv_and(g, sv_and(g, many, sum->used), emit(g, SPV_U_LESS_EQUAL, g->truth, sum->cells, most));
        sum->used = sv_and(g, sum->used, sv_not(g, sv_is_zero(g, plane_of_sum(g, sum))));
        sum->at = cell_behind(g, own, total);
        total = sv_choose(g, g->u64, sum->used, then, total);
    }
    return total;
}

/* -- in the task --------------------------------------------------------------------------------------------------------- */

void
sv_sums_begin(gen *g, const ir_op *op, spv_id threads, spv_id cleared)
{
    sv_sums_find(g, op);
    if (!g->nsums)
        return;
    spv_id total = place_sums(g, op, threads, sv_high(g, g->row)), first = g->sums[0].at;
    total = cleared ? sv_choose(g, g->u64, cleared, total, sv_u64(g, 0)) : total;
    sv_loop l = sv_count(g, sv_high(g, g->lane), total, 0, NULL, NULL);
    sv_write64(g, cell_behind(g, first, l.at[0]), 0, sv_u64(g, 0));
    sv_count_end(g, &l, sv_u64(g, RT_WARP), NULL);
    sv_barrier(g);
}

spv_id
sv_sums_meet(gen *g)
{
    spv_id meet = 0;
    for (uint32_t i = 0; i < g->nsums; i++) {
        const sv_sum *sum = &g->sums[i];
        spv_id here = sv_and(g, sv_not(g, sum->used), sv_not(g, sv_is_zero(g, plane_of_sum(g, sum))));
        meet = meet ? sv_or(g, meet, here) : here;
    }
    return meet;
}

/* -- behind it ------------------------------------------------------------------------------------------------------------ */

/* Of all rows, whose cells follow each other from `at`. Lane l takes those of l, l + RT_WARP, ..., then the lanes add up. */
static spv_id
sum_of_cells(gen *g, const sv_sum *sum, spv_id at)
{
    spv_id type = sv_register(g, RG_F64), nil = sv_const(g, RG_F64, 0), rows = sv_high(g, g->rows), part[AT_ONCE];
    sv_loop l = sv_count(g, sv_u64(g, 0), rows, 1, &type, &nil);
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        spv_id row = emit(g, SPV_I_ADD, g->u64, l.at[0], sv_high(g, emit(g, SPV_I_ADD, g->u32, g->lane, sv_u32(g, i * RT_WARP))));
        spv_id some = emit(g, SPV_U_LESS, g->truth, row, rows), which = sv_choose(g, g->u64, some, row, sv_u64(g, 0));
        spv_id cell = emit(g, SPV_I_ADD, g->u64, at, emit(g, SPV_I_MUL, g->u64, which, sv_u64(g, 8)));
        spv_id raw = sum->dtype == RG_F64 ? sv_read64(g, cell, 0) : sv_read32(g, cell, 0);
        part[i] = sv_choose(g, type, some, sv_cast(g, sum->dtype, RG_F64, sv_from_raw(g, sum->dtype, raw)), nil);
    }
    spv_id all = l.at[1];
    for (uint32_t i = 0; i < AT_ONCE; i++)
        all = sv_combine(g, RG_RMW_ADD, RG_F64, all, part[i]);
    sv_count_end(g, &l, sv_u64(g, AT_ONCE * RT_WARP), &all);
    sv_loop_results(g, &l, &type, &all);
    return sv_reduce(g, RG_RMW_ADD, RG_F64, all);
}

static void
add_to_element(gen *g, const sv_sum *sum, spv_id number, spv_id value)
{
    rg_dtype d = ir_dtype(sum->buffer);
    uint32_t bytes = ir_bytes(d);
    spv_id at = emit(g, SPV_I_ADD, g->u64, plane_of_sum(g, sum), emit(g, SPV_I_MUL, g->u64, number, sv_u64(g, bytes)));
    sv_branch first = sv_if(g, sv_is_first(g));
    spv_id old = sv_cast(g, d, RG_F64, sv_from_raw(g, d, sv_read(g, bytes, at)));
    sv_write(g, bytes, at, sv_raw(g, d, sv_cast(g, RG_F64, d, sv_combine(g, RG_RMW_ADD, RG_F64, old, value))));
    sv_end_if(g, &first);
}

void
sv_sums_settle(gen *g, const ir_op *op, spv_id threads, uint32_t from, uint32_t to)
{
    sv_sums_find(g, op);
    place_sums(g, op, threads, sv_u64(g, 0));
    for (uint32_t i = from; i < to; i++) {
        const sv_sum *sum = &g->sums[i];
        sv_branch used = sv_if(g, sum->used);
        sv_loop l = sv_count(g, sv_high(g, g->group), sum->cells, 0, NULL, NULL);
        add_to_element(g, sum, l.at[0], sum_of_cells(g, sum, cell_behind(g, sum->at, l.at[0])));
        sv_count_end(g, &l, sv_high(g, g->groups), NULL);
        sv_end_if(g, &used);
    }
}
