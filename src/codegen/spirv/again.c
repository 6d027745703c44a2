/* Tasks that give their pages back, and pieces that are run again. SPDX-License-Identifier: Apache-2.0
 *
 * A task that leaves no frames counts the pages that it takes apart, from `top` on (rt_vulkan_task), and each workgroup cuts them off its
 * chain as it ends. So they are there for whatever comes next. The pool may still be too small for all workgroups at once:
 *
 *   repeats  a piece asks for pages before it changes anything. A workgroup that finds none notes the piece with the row that it was
 *            running, keeps what the row's lanes have summed up by then, and ends. The last workgroup to end counts how many did that,
 *            and if any, how many run what is left: the grids behind the task, which are empty otherwise. A row goes on where it stood.
 *   limited  it asks behind changes: as many workgroups run pieces as have SHARE pages each, the others end at once
 *
 * Words that workgroups of one grid share are changed by atomic additions. A workgroup's last addition counts it as ended, with acquire and
 * release: so the last workgroup to end sees the counts of all. What else a workgroup writes is read in the next grid only. */
#include "codegen/spirv/tape.h"

enum { SHARE = 8 /* pages of each workgroup, where a task is limited */, ENDED = RT_VULKAN_STOPPED - 1 };
static const uint64_t UNBEGUN = UINT64_MAX; /* in rt_vulkan_worker.next */

/* -- which tasks they are ---------------------------------------------------------------------------------------------- */

static bool
begins_on_page(ir_op *op, void *user)
{
    (void)user;
    return op->code == RG_OP_TAPE_BEGIN ? op->one_page : !ir_takes_pages(op);
}

/* whether frames outlive a task, or the kernel level has some */
static bool
holds_frames(const ir_region *r)
{
    ir_for_ops (op, r) {
        if (op->code == RG_OP_PARALLEL ? op->records || op->rewinds : ir_is_tape_op(op))
            return true;
        for (uint32_t i = 0; i < op->nregions && op->code != RG_OP_PARALLEL; i++)
            if (holds_frames(op->regions[i]))
                return true;
    }
    return false;
}

/* A page for each workgroup is there wherever nothing else holds pages (device/segments/launch.c). */
void
sv_again_find(gen *g, const ir_op *op)
{
    g->gives_back = g->repeats = g->limited = false;
    if (!g->task || !g->has_worker || op->records || op->rewinds)
        return;
    ir_page_use use = ir_page_use_of(op->regions[0]);
    bool enough = ir_walk(op->regions[0], begins_on_page, NULL) && !holds_frames(g->kernel->body);
    g->gives_back = true;
    g->repeats = use.pages && !use.late && !enough;
    g->limited = use.late && !enough;
}

/* -- a grid of the task ------------------------------------------------------------------------------------------------ */

static spv_id
task_words(gen *g)
{
    return sv_read64(g, g->launch, offsetof(rt_vulkan_launch, task));
}

spv_id
sv_task_pages(gen *g)
{
    return sv_add(g, task_words(g), offsetof(rt_vulkan_task, pages));
}

enum { FEWER /* rt_vulkan_task.groups, as the entry began */, ROW, AT, END, SUMS };

/* variables of each invocation: of what follows, and of sums */
static spv_id
noted(gen *g, uint32_t number, spv_id type)
{
    uint64_t key = 2 * (uint64_t)number + (type == g->u64);
    spv_id made = (spv_id)(uintptr_t)map_get(&g->noted, key);
    if (!made) {
        made = spv_global(&g->s, SPV_PRIVATE, type, 0, 0);
        map_set(&g->noted, key, (void *)(uintptr_t)made);
    }
    return made;
}

/* The workgroups of this grid; *first: whether it is the task's first one. */
static spv_id
groups_here(gen *g, spv_id *first)
{
    spv_id all = sv_read32(g, g->launch, offsetof(rt_vulkan_launch, groups)), none = sv_u32(g, 0);
    if (!g->repeats)
        return all;
    spv_id fewer = emit(g, SPV_LOAD, g->u32, noted(g, FEWER, g->u32));
    *first = sv_is(g, fewer, none);
    return sv_choose(g, g->u32, *first, all, fewer);
}

spv_id
sv_is_alone(gen *g)
{
    spv_id first;
    return sv_is(g, groups_here(g, &first), sv_u32(g, 1));
}

static spv_id
the_larger(gen *g, spv_id a, spv_id b)
{
    return sv_choose(g, g->u32, emit(g, SPV_U_LESS, g->truth, a, b), b, a);
}

static spv_id
as_pages_last(gen *g)
{
    spv_id limit = sv_page_limit(g), top = sv_read32(g, g->launch, offsetof(rt_vulkan_launch, top));
    spv_id rest = emit(g, SPV_I_SUB, g->u32, the_larger(g, limit, top), top), shares = emit(g, SPV_U_DIV, g->u32, rest, sv_u32(g, SHARE));
    return the_larger(g, sv_u32(g, 1), sv_glsl(g, SPV_U_MIN, g->u32, 2, (spv_id[]){g->groups, shares}));
}

void
sv_again_begin(gen *g)
{
    g->first_grid = 0;
    if (g->repeats) /* the last workgroup to end writes it when others may be about to compare */
        emit_do(g, SPV_STORE, noted(g, FEWER, g->u32), sv_read32(g, task_words(g), offsetof(rt_vulkan_task, groups)));
    g->sharers = g->limited ? as_pages_last(g) : groups_here(g, &g->first_grid);
    g->worker = g->group;
    sv_worker_load(g);
}

/* Who is last leaves the words as the next grid finds them: of the same task, if workgroups stopped. */
static void
end_grid(gen *g, uint32_t how)
{
    spv_id words = task_words(g), none = sv_u32(g, 0), one = sv_u32(g, 1), by = sv_u32(g, how), first;
    sv_branch once = sv_once(g);
    spv_id all = emit(g, SPV_I_ADD, g->u32, sv_arrive(g, sv_add(g, words, offsetof(rt_vulkan_task, ended)), by), by);
    spv_id here = groups_here(g, &first), ended = emit(g, SPV_AND, g->u32, all, sv_u32(g, ENDED));
    sv_branch last = sv_if(g, sv_is(g, ended, here));
    spv_id pages = sv_atomic_add32(g, sv_add(g, words, offsetof(rt_vulkan_task, pages)), none);
    pages = emit(g, SPV_I_ADD, g->u32, pages, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, top)));
    pages = the_larger(g, pages, sv_read32(g, words, offsetof(rt_vulkan_task, most)));
    sv_write32(g, words, offsetof(rt_vulkan_task, most), pages);
    sv_write32(g, g->launch, offsetof(rt_vulkan_launch, reached), pages);
    sv_write32(g, words, offsetof(rt_vulkan_task, pages), none);
    sv_write32(g, words, offsetof(rt_vulkan_task, ended), none);
    if (g->repeats) {
        /* as rt_vulkan_fewer */
        spv_id batches = sv_atomic_add32(g, sv_add(g, words, offsetof(rt_vulkan_task, batches)), none);
        spv_id none_stopped = sv_is(g, all, here), fewer = emit(g, SPV_U_DIV, g->u32, here, sv_u32(g, RT_VULKAN_LADDER));
        fewer = sv_choose(g, g->u32, emit(g, SPV_U_GREATER, g->truth, here, sv_u32(g, RT_VULKAN_LAST)), fewer, one);
        sv_write32(g, words, offsetof(rt_vulkan_task, batches), sv_choose(g, g->u32, none_stopped, none, batches));
        sv_write32(g, words, offsetof(rt_vulkan_task, groups), sv_choose(g, g->u32, none_stopped, none, fewer));
        sv_write32(g, words, offsetof(rt_vulkan_task, groups) + 4, one);
        sv_write32(g, words, offsetof(rt_vulkan_task, groups) + 8, one);
    } else {
        sv_write32(g, words, offsetof(rt_vulkan_task, batches), none);
    }
    sv_end_if(g, &last);
    sv_end_once(g, &once);
}

void
sv_again_end(gen *g)
{
    sv_worker_store(g);
    end_grid(g, 1);
}

/* -- what is left of a row --------------------------------------------------------------------------------------------- */

static spv_id
raw_type(gen *g, rg_dtype d)
{
    return ir_bytes(d) == 8 ? g->u64 : g->u32;
}

void
sv_again_note(gen *g, spv_id at, spv_id end, uint32_t n, const rg_dtype *dtypes, const spv_id *sums)
{
    emit_do(g, SPV_STORE, noted(g, ROW, g->u32), g->row);
    emit_do(g, SPV_STORE, noted(g, AT, g->u64), at);
    if (end)
        emit_do(g, SPV_STORE, noted(g, END, g->u64), end);
    for (uint32_t r = 0; r < n; r++)
        emit_do(g, SPV_STORE, noted(g, SUMS + r, raw_type(g, dtypes[r])), sv_raw(g, dtypes[r], sums[r]));
    g->notes = (sv_notes){.end = end != 0, .n = n, .dtypes = dtypes};
}

static spv_id
worker_of_row(gen *g, spv_id row)
{
    spv_id at = emit(g, SPV_I_MUL, g->u64, sv_high(g, row), sv_u64(g, sizeof(rt_vulkan_worker)));
    return emit(g, SPV_I_ADD, g->u64, sv_read64(g, g->launch, offsetof(rt_vulkan_launch, workers)), at);
}

/* of this lane, in that row: of n sums the first one */
static spv_id
lane_sums(gen *g, spv_id row, uint32_t n)
{
    spv_id at = emit(g, SPV_I_MUL, g->u64, sv_high(g, row), sv_u64(g, 8 * RT_WARP * (uint64_t)n));
    at = emit(g, SPV_I_ADD, g->u64, at, emit(g, SPV_I_MUL, g->u64, sv_high(g, g->lane), sv_u64(g, 8)));
    return emit(g, SPV_I_ADD, g->u64, sv_read64(g, g->launch, offsetof(rt_vulkan_launch, lane_sums)), at);
}

/* The rows that the workgroup would have begun behind this one wait, too. */
static void
put_rows_off(gen *g, spv_id row)
{
    spv_id first, step = sv_high(g, groups_here(g, &first)), rows = sv_high(g, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, rows)));
    sv_branch begins = sv_if(g, first);
    sv_loop l = sv_count(g, emit(g, SPV_I_ADD, g->u64, sv_high(g, row), step), rows, 0, NULL, NULL);
    sv_write64(g, worker_of_row(g, sv_low(g, l.at[0])), offsetof(rt_vulkan_worker, next), sv_u64(g, UNBEGUN));
    sv_count_end(g, &l, step, NULL);
    sv_end_if(g, &begins);
}

/* A function of the entry: stop() */
static spv_id
stop_function(gen *g)
{
    char name[24];
    sv_function f;
    sv_inside outside;
    snprintf(name, sizeof name, "stop%u", g->entries);
    if (!sv_function_open(g, &f, name, g->nothing, 0, NULL, NULL))
        return f.id;
    sv_enter_function(g, &outside);
    spv_id row = emit(g, SPV_LOAD, g->u32, noted(g, ROW, g->u32)), worker = worker_of_row(g, row), at = lane_sums(g, row, g->notes.n);
    sv_branch once = sv_once(g);
    sv_write64(g, worker, offsetof(rt_vulkan_worker, next), sv_add(g, emit(g, SPV_LOAD, g->u64, noted(g, AT, g->u64)), 1));
    if (g->notes.end)
        sv_write64(g, worker, offsetof(rt_vulkan_worker, end), emit(g, SPV_LOAD, g->u64, noted(g, END, g->u64)));
    if (g->options->deterministic)
        put_rows_off(g, row);
    sv_end_once(g, &once);
    for (uint32_t r = 0; r < g->notes.n; r++) {
        spv_id type = raw_type(g, g->notes.dtypes[r]), sum = emit(g, SPV_LOAD, type, noted(g, SUMS + r, type));
        (type == g->u64 ? sv_write64 : sv_write32)(g, at, 8 * RT_WARP * r, sum);
    }
    sv_worker_store(g);
    end_grid(g, RT_VULKAN_STOPPED + 1);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    sv_leave_function(g, &outside);
    sv_function_close(g, &f);
    if (g->notes.n > g->code.lane_cells)
        g->code.lane_cells = g->notes.n;
    return f.id;
}

void
sv_stop_if(gen *g, spv_id condition)
{
    sv_branch b = sv_if(g, condition);
    sv_call_function(g, stop_function(g), g->nothing, 0, NULL);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    spv_block(&g->s, b.merge);
}

sv_left
sv_again_left(gen *g)
{
    if (!g->repeats)
        return (sv_left){0};
    spv_id worker = worker_of_row(g, g->row), next = sv_read64(g, worker, offsetof(rt_vulkan_worker, next));
    sv_left left = {.at = sv_add(g, next, UINT64_MAX), .end = sv_read64(g, worker, offsetof(rt_vulkan_worker, end))};
    left.waits = left.some = sv_not(g, sv_is_zero(g, next));
    if (g->options->deterministic)
        left.some = sv_and(g, left.some, sv_not(g, sv_is(g, next, sv_u64(g, UNBEGUN))));
    sv_branch once = sv_once(g);
    sv_write64(g, worker, offsetof(rt_vulkan_worker, next), sv_u64(g, 0));
    sv_end_once(g, &once);
    return left;
}

void
sv_again_sums(gen *g, const sv_left *left, uint32_t n, const rg_dtype *dtypes, const spv_id *types, spv_id *sums)
{
    spv_id *kept = arena_new_n(g->in, spv_id, n + 1);
    if (!left->some || !n)
        return;
    sv_branch some = sv_if(g, left->some);
    spv_id at = lane_sums(g, g->row, n);
    for (uint32_t r = 0; r < n; r++) {
        spv_id raw = raw_type(g, dtypes[r]) == g->u64 ? sv_read64(g, at, 8 * RT_WARP * r) : sv_read32(g, at, 8 * RT_WARP * r);
        kept[r] = sv_from_raw(g, dtypes[r], raw);
    }
    sv_end_if(g, &some);
    for (uint32_t r = 0; r < n; r++)
        sums[r] = sv_made(g, &some, types[r], kept[r], sums[r]);
}
