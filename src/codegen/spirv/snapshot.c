/* Arrays on the kernel's tape, the tapes of all rows, and states that are dropped. SPDX-License-Identifier: Apache-2.0
 *
 * An array is as many full frames as it takes and one that is not full, rounded up to 8 bytes. Here the cursor moves over them, along
 * rows of pages that were taken together; what they hold is copied by copies.c. */
#include "codegen/spirv/tape.h"

spv_id
sv_whole_frame(gen *g, spv_id bytes)
{
    return emit(g, SPV_AND, g->u64, sv_add(g, bytes, 7), sv_u64(g, ~(uint64_t)7));
}

spv_id
sv_smaller(gen *g, spv_id a, spv_id b)
{
    return sv_choose(g, g->u64, emit(g, SPV_S_LESS, g->truth, a, b), a, b);
}

static spv_id
buffer_size(gen *g, const ir_value *buffer)
{
    return emit(g, SPV_I_MUL, g->u64, sv_elements(g, buffer), sv_u64(g, ir_bytes(ir_dtype(buffer))));
}

static spv_id
pages_behind(gen *g, spv_id at, spv_id count)
{
    return emit(g, SPV_I_ADD, g->u64, at, emit(g, SPV_I_MUL, g->u64, count, sv_u64(g, RT_GPU_PAGE)));
}

/* where a frame of this size begins that was, or will be, pushed at the cursor: there, or in the next page, which is there */
static spv_id
frame_place(gen *g, spv_id cursor, spv_id size, bool enters)
{
    sv_branch full = sv_if(g, sv_is_full(g, cursor, size));
    spv_id page = sv_page_of(g, cursor);
    spv_id nowhere = sv_is(g, cursor, sv_u64(g, RT_GPU_PAGE - 1)), first = sv_first_page(g);
    sv_branch some = sv_if(g, sv_not(g, nowhere));
    spv_id next = sv_read64(g, page, offsetof(rt_page, next));
    sv_end_if(g, &some);
    next = sv_made(g, &some, g->u64, next, first);
    if (enters) {
        sv_branch once = sv_once(g);
        sv_write64(g, next, offsetof(rt_page, below), cursor);
        sv_end_once(g, &once);
    }
    next = sv_add(g, next, RT_GPU_HEADER);
    sv_end_if(g, &full);
    return sv_made(g, &full, g->u64, next, cursor);
}

spv_id
sv_pages_of_row(gen *g, spv_id page, spv_id left)
{
    spv_id full = emit(g, SPV_U_DIV, g->u64, left, sv_u64(g, SV_FRAME));
    spv_id row = sv_add(g, sv_high(g, sv_read32(g, page, offsetof(rt_gpu_kernel_page, after))), 1);
    return sv_choose(g, g->u64, sv_is_zero(g, full), sv_u64(g, 1), sv_smaller(g, full, row));
}

/* The pages of a row, at the bottom of the first one: each is entered from the one before, the first one has been. */
static spv_id
enter_row(gen *g, spv_id bottom, spv_id left)
{
    spv_id page = sv_add(g, bottom, (uint64_t)-RT_GPU_HEADER), n = sv_pages_of_row(g, page, left);
    sv_loop l = sv_count(g, sv_add(g, sv_high(g, g->lane), 1), n, 0, NULL, NULL);
    spv_id at = pages_behind(g, page, l.at[0]);
    sv_write64(g, at, offsetof(rt_page, below), sv_add(g, at, (uint64_t)-RT_GPU_HEADER));
    sv_count_end(g, &l, sv_u64(g, RT_WARP), NULL);
    return n;
}

void
sv_save(gen *g, const ir_op *op)
{
    spv_id all = buffer_size(g, op->args[1]), start = sv_get(g, op->args[0]), cursor = start, one = sv_u64(g, 1);
    sv_barrier(g);
    sv_loop l = sv_count(g, sv_u64(g, 0), all, 1, &g->u64, &cursor);
    spv_id left = emit(g, SPV_I_SUB, g->u64, all, l.at[0]), bytes = sv_smaller(g, left, sv_u64(g, SV_FRAME)), frame = sv_whole_frame(g, bytes);
    sv_branch full = sv_if(g, sv_is_full(g, l.at[1], frame));
    spv_id wanted = sv_low(g, emit(g, SPV_U_DIV, g->u64, sv_add(g, left, SV_FRAME - 1), sv_u64(g, SV_FRAME)));
    spv_id bottom = sv_next_page(g, l.at[1], wanted, op), row = enter_row(g, bottom, left);
    sv_end_if(g, &full);
    spv_id at = sv_made(g, &full, g->u64, bottom, l.at[1]), more = sv_add(g, sv_made(g, &full, g->u64, row, one), UINT64_MAX);
    at = emit(g, SPV_I_ADD, g->u64, pages_behind(g, at, more), frame);
    sv_count_end(g, &l, emit(g, SPV_I_ADD, g->u64, emit(g, SPV_I_MUL, g->u64, more, sv_u64(g, SV_FRAME)), bytes), &at);
    sv_loop_results(g, &l, &g->u64, &cursor);
    sv_barrier(g);
    sv_copy(g, op, frame_place(g, start, sv_whole_frame(g, sv_smaller(g, all, sv_u64(g, SV_FRAME))), false));
    sv_set(g, op->results[0], cursor);
}

/* The last frame is the one that may not be full. Where the first one begins only the page of the second says. */
void
sv_restore(gen *g, const ir_op *op)
{
    spv_id all = buffer_size(g, op->args[1]), cursor = sv_get(g, op->args[0]), types[2] = {g->u64, g->u64};
    spv_id first[2] = {all, cursor}, each = sv_u64(g, SV_FRAME), one = sv_u64(g, 1);
    sv_loop l = sv_loop_begin(g, 2, types, first);
    spv_id left = l.at[0];
    sv_exit_if(g, &l, emit(g, SPV_S_LESS_EQUAL, g->truth, left, sv_u64(g, 0)), 1, &l.at[1]);
    spv_id rest = emit(g, SPV_U_MOD, g->u64, left, each), full = emit(g, SPV_U_DIV, g->u64, left, each);
    spv_id bytes = sv_choose(g, g->u64, sv_is_zero(g, rest), each, rest), at = sv_above_bottom(g, l.at[1]);
    spv_id row = sv_add(g, sv_high(g, sv_read32(g, sv_page_of(g, at), offsetof(rt_gpu_kernel_page, before))), 1);
    spv_id many = sv_and(g, sv_is_zero(g, rest), emit(g, SPV_U_GREATER, g->truth, full, one));
    spv_id n = sv_choose(g, g->u64, many, sv_smaller(g, sv_add(g, full, UINT64_MAX), row), one), more = sv_add(g, n, UINT64_MAX);
    at = emit(g, SPV_I_SUB, g->u64, at, pages_behind(g, sv_whole_frame(g, bytes), more));
    left = emit(g, SPV_I_SUB, g->u64, left, emit(g, SPV_I_ADD, g->u64, bytes, emit(g, SPV_I_MUL, g->u64, more, each)));
    sv_loop_end(g, &l, (spv_id[]){left, at});
    sv_loop_results(g, &l, &g->u64, &cursor);
    sv_copy(g, op, cursor);
    sv_set(g, op->results[0], cursor);
}

/* -- the rows ------------------------------------------------------------------------------------------------------------- */

/* A frame: the cursors of all, then the counts of what they hold. */

static spv_id
cursor_place(gen *g, spv_id worker)
{
    spv_id at = emit(g, SPV_I_MUL, g->u64, worker, sv_u64(g, sizeof(rt_vulkan_worker)));
    spv_id all = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, workers));
    return sv_add(g, emit(g, SPV_I_ADD, g->u64, all, at), offsetof(rt_vulkan_worker, cursor));
}

/* between the frame and the workers */
static void
copy_cursors(gen *g, spv_id frame, bool save)
{
    sv_loop l = sv_count(g, sv_high(g, g->lane), sv_high(g, g->rows), 0, NULL, NULL);
    spv_id place = cursor_place(g, l.at[0]), kept = emit(g, SPV_I_ADD, g->u64, frame, emit(g, SPV_I_MUL, g->u64, l.at[0], sv_u64(g, 8)));
    sv_write64(g, save ? kept : place, 0, sv_read64(g, save ? place : kept, 0));
    sv_count_end(g, &l, sv_u64(g, RT_WARP), NULL);
}

static spv_id
tasks_bytes(gen *g)
{
    return sv_add(g, emit(g, SPV_I_MUL, g->u64, sv_high(g, g->rows), sv_u64(g, 8)), 8);
}

void
sv_tasks(gen *g, const ir_op *op)
{
    spv_id bytes = tasks_bytes(g), frame = sv_with_room(g, sv_get(g, op->args[0]), bytes, op);
    spv_id end = emit(g, SPV_I_ADD, g->u64, frame, bytes), counts = sv_add(g, end, (uint64_t)-8);
    sv_barrier(g);
    copy_cursors(g, frame, true);
    sv_branch once = sv_once(g);
    sv_write32(g, counts, 0, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, taped)));
    sv_write32(g, counts, 4, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, depths)));
    sv_end_once(g, &once);
    sv_set(g, op->results[0], end);
}

static spv_id
since(gen *g, spv_id now, spv_id then)
{
    return emit(g, SPV_S_CONVERT, g->u64, emit(g, SPV_I_SUB, g->u32, now, then));
}

/* What the kernel has recorded since the mark, and the workgroups since then. */
void
sv_over_tasks(gen *g, const ir_op *op)
{
    spv_id cursor = sv_get(g, op->args[0]), mark = sv_get(g, op->args[1]), tasks = sv_get(g, op->args[2]), room = sv_wide(g, op->args[4]);
    spv_id counts = sv_add(g, tasks, (uint64_t)-8), taped = sv_read32(g, counts, 0), depths = sv_read32(g, counts, 4);
    spv_id parts = sv_wide(g, op->args[3]), page = sv_u64(g, RT_GPU_PAGE), none = sv_u64(g, 0);
    spv_id pages = since(g, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, depths)), depths);
    spv_id units = since(g, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, taped)), taped);
    spv_id used = emit(g, SPV_I_ADD, g->u64, emit(g, SPV_I_SUB, g->u64, sv_depth(g, cursor), sv_depth(g, mark)), pages);
    spv_id bytes = emit(g, SPV_I_SUB, g->u64, sv_height(g, cursor), sv_height(g, mark));
    bytes = emit(g, SPV_I_ADD, g->u64, bytes, emit(g, SPV_I_MUL, g->u64, units, sv_u64(g, 8)));
    spv_id below = emit(g, SPV_I_ADD, g->u64, sv_depth(g, mark), sv_high(g, depths));
    spv_id limit = sv_high(g, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, tape_pages)));
    spv_id left = emit(g, SPV_I_MUL, g->u64, emit(g, SPV_I_SUB, g->u64, limit, below), page), is_size = sv_is_zero(g, parts);
    spv_id needs = emit(g, SPV_I_ADD, g->u64, emit(g, SPV_I_MUL, g->u64, sv_add(g, used, 1), page), room);
    needs = emit(g, SPV_I_MUL, g->u64, needs, parts);
    spv_id some = emit(g, SPV_S_GREATER, g->truth, used, none);
    spv_id much = emit(g, SPV_LOGICAL_AND, g->truth, some, emit(g, SPV_S_GREATER, g->truth, needs, left));
    spv_id over = sv_choose(g, g->truth, is_size, emit(g, SPV_S_GREATER, g->truth, bytes, room), much);
    sv_barrier(g);
    sv_branch drops = sv_if(g, over);
    copy_cursors(g, emit(g, SPV_I_SUB, g->u64, tasks, tasks_bytes(g)), false);
    sv_branch once = sv_once(g);
    sv_write32(g, g->launch, offsetof(rt_vulkan_launch, taped), taped);
    sv_write32(g, g->launch, offsetof(rt_vulkan_launch, depths), depths);
    sv_end_once(g, &once);
    sv_end_if(g, &drops);
    sv_set(g, op->results[0], over);
}

/* -- dropping states ------------------------------------------------------------------------------------------------------ */

/* Whole words from above to below, which may overlap. */
static void
move_words(gen *g, spv_id to, spv_id from, spv_id bytes)
{
    sv_loop l = sv_count(g, sv_u64(g, 0), bytes, 0, NULL, NULL);
    spv_id mine = emit(g, SPV_I_ADD, g->u64, l.at[0], emit(g, SPV_I_MUL, g->u64, sv_high(g, g->lane), sv_u64(g, 4)));
    spv_id inside = emit(g, SPV_S_LESS, g->truth, mine, bytes);
    sv_branch reads = sv_if(g, inside);
    spv_id word = sv_read32(g, emit(g, SPV_I_ADD, g->u64, from, mine), 0);
    sv_end_if(g, &reads);
    word = sv_made(g, &reads, g->u32, word, sv_u32(g, 0));
    sv_barrier(g);
    sv_branch writes = sv_if(g, inside);
    sv_write32(g, emit(g, SPV_I_ADD, g->u64, to, mine), 0, word);
    sv_end_if(g, &writes);
    sv_barrier(g);
    sv_count_end(g, &l, sv_u64(g, 4 * RT_WARP), NULL);
}

/* Whole numbers of 64 bits that do not overlap: many loads are waited for together. */
static void
move_numbers(gen *g, spv_id to, spv_id from, spv_id bytes)
{
    enum { AT_ONCE = 8 };
    spv_id place[AT_ONCE], inside[AT_ONCE], number[AT_ONCE], own = emit(g, SPV_I_MUL, g->u64, sv_high(g, g->lane), sv_u64(g, 8));
    sv_loop l = sv_count(g, sv_u64(g, 0), bytes, 0, NULL, NULL);
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        place[i] = sv_add(g, emit(g, SPV_I_ADD, g->u64, l.at[0], own), 8 * RT_WARP * i);
        inside[i] = emit(g, SPV_S_LESS, g->truth, place[i], bytes);
        number[i] = sv_read64(g, emit(g, SPV_I_ADD, g->u64, from, sv_choose(g, g->u64, inside[i], place[i], sv_u64(g, 0))), 0);
    }
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        sv_branch writes = sv_if(g, inside[i]);
        sv_write64(g, emit(g, SPV_I_ADD, g->u64, to, place[i]), 0, number[i]);
        sv_end_if(g, &writes);
    }
    sv_count_end(g, &l, sv_u64(g, 8 * RT_WARP * AT_ONCE), NULL);
    sv_barrier(g);
}

/* A function: move(to, from, bytes), from above to below. What stays where it is is not moved. */
static spv_id
move_function(gen *g)
{
    spv_id types[3] = {g->u64, g->u64, g->u64}, p[3];
    sv_function f;
    sv_inside outside;
    if (!sv_function_open(g, &f, "move", g->nothing, 3, types, p))
        return f.id;
    sv_enter_function(g, &outside);
    spv_id gap = emit(g, SPV_I_SUB, g->u64, p[1], p[0]), bits = emit(g, SPV_OR, g->u64, emit(g, SPV_OR, g->u64, p[0], p[1]), p[2]);
    spv_id whole = sv_is_zero(g, emit(g, SPV_AND, g->u64, bits, sv_u64(g, 7)));
    spv_id apart = sv_and(g, whole, emit(g, SPV_U_GREATER_EQUAL, g->truth, gap, p[2]));
    sv_branch numbers = sv_if(g, apart);
    move_numbers(g, p[0], p[1], p[2]);
    sv_end_if(g, &numbers);
    sv_branch words = sv_if(g, sv_and(g, sv_not(g, apart), sv_not(g, sv_is_zero(g, gap))));
    move_words(g, p[0], p[1], p[2]);
    sv_end_if(g, &words);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    sv_leave_function(g, &outside);
    sv_function_close(g, &f);
    return f.id;
}

/* one part of a state, `size` bytes in frames: from[0] moves on, and to[0] where it is kept */
static void
move_part(gen *g, spv_id at[2], spv_id size, spv_id keep)
{
    spv_id types[3] = {g->u64, g->u64, g->u64}, first[3] = {size, at[0], at[1]}, results[2];
    sv_loop l = sv_loop_begin(g, 3, types, first);
    sv_exit_if(g, &l, emit(g, SPV_S_LESS_EQUAL, g->truth, l.at[0], sv_u64(g, 0)), 2, l.at + 1);
    spv_id bytes = sv_smaller(g, l.at[0], sv_u64(g, SV_FRAME)), frame = frame_place(g, l.at[1], bytes, false);
    sv_branch kept = sv_if(g, keep);
    spv_id place = frame_place(g, l.at[2], bytes, true);
    sv_call_function(g, move_function(g), g->nothing, 3, (spv_id[]){place, frame, bytes});
    spv_id behind = emit(g, SPV_I_ADD, g->u64, place, bytes);
    sv_end_if(g, &kept);
    spv_id to = sv_made(g, &kept, g->u64, behind, l.at[2]);
    spv_id next[3] = {emit(g, SPV_I_SUB, g->u64, l.at[0], bytes), emit(g, SPV_I_ADD, g->u64, frame, bytes), to};
    sv_loop_end(g, &l, next);
    sv_loop_results(g, &l, types, results);
    at[0] = results[0];
    at[1] = results[1];
}

static spv_id
has_few_states(gen *g, spv_id header, spv_id mark, spv_id most)
{
    spv_id height = emit(g, SPV_I_SUB, g->u64, sv_height(g, mark), sv_height(g, header)), depth = sv_depth(g, header);
    spv_id bottom = sv_is(g, sv_in_page(g, header), sv_u64(g, RT_GPU_HEADER));
    spv_id below = sv_choose(g, g->u64, bottom, sv_add(g, depth, UINT64_MAX), depth);
    spv_id held = emit(g, SPV_I_SUB, g->u64, sv_depth(g, mark), below);
    spv_id half = emit(g, SPV_SHIFT_RIGHT_ARITHMETIC, g->u64, sv_pages_left(g, below), sv_u32(g, 1));
    return sv_choose(g, g->truth, sv_is_zero(g, most), emit(g, SPV_S_LESS_EQUAL, g->truth, held, half),
                     emit(g, SPV_S_LESS_EQUAL, g->truth, height, most));
}

/* Every second state goes, the first stays. A state is arrays, each in frames of its own, then a frame of numbers. */
void
sv_thin(gen *g, const ir_op *op)
{
    uint32_t first = 3, n = 0;
    spv_id header = sv_get(g, op->args[0]), mark = sv_get(g, op->args[1]), thin = has_few_states(g, header, mark, sv_wide(g, op->args[2]));
    spv_id *sizes = arena_new_n(g->in, spv_id, op->nargs), types[3] = {g->u64, g->u64, g->truth}, kept;
    for (; op->args[first]->type.kind == IR_BUFFER; first++)
        sizes[n++] = sv_whole_frame(g, buffer_size(g, op->args[first]));
    sizes[n++] = sv_u64(g, ir_frame_of(op->args + first, op->nargs - first));
    sv_barrier(g);
    sv_branch drops = sv_if(g, sv_not(g, thin));
    sv_loop l = sv_loop_begin(g, 3, types, (spv_id[]){header, header, spv_truth(&g->s, true)});
    sv_exit_if(g, &l, sv_is(g, l.at[0], mark), 1, &l.at[1]);
    spv_id at[2] = {l.at[0], l.at[1]};
    for (uint32_t i = 0; i < n; i++)
        move_part(g, at, sizes[i], l.at[2]);
    sv_loop_end(g, &l, (spv_id[]){at[0], at[1], sv_not(g, l.at[2])});
    sv_loop_results(g, &l, &g->u64, &kept);
    sv_end_if(g, &drops);
    sv_set(g, op->results[0], sv_made(g, &drops, g->u64, kept, mark));
}
