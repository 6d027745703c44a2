/* The tape: pages, and how much of them is left. SPDX-License-Identifier: Apache-2.0
 *
 * As rt/gpu/pages.c has it, in code of the module's own: a page is taken from the pool by counting, chained behind the one below, and
 * found there again. A workgroup's cursor, first page and count of pages lie in its worker between tasks. What tasks take that keep frames
 * is the worker's until the launch ends; what others take goes back as they end (again.c). Segments have a worker, too, and take pages
 * alike; those for an array in one go. All lanes run this together. */
#include "codegen/spirv/tape.h"

enum { ON_PAGE = RT_GPU_PAGE - 1, NOWHERE = RT_GPU_PAGE - 1 /* where a tape without pages stands */ };

/* -- the worker ---------------------------------------------------------------------------------------------------------- */

static spv_id
worker_address(gen *g, spv_id launch)
{
    spv_id number = g->task ? g->worker : g->rows;
    spv_id at = emit(g, SPV_I_MUL, g->u64, sv_high(g, number), sv_u64(g, sizeof(rt_vulkan_worker)));
    return emit(g, SPV_I_ADD, g->u64, sv_read64(g, launch, offsetof(rt_vulkan_launch, workers)), at);
}

/* Variables of each invocation, for functions and entries alike. HELD, LAST_HELD: of a task that gives pages back, how many its worker held
 * before, and the last one of them; 0: it had none */
enum { CURSOR, FIRST_PAGE, PAGES, TURNED, HELD, LAST_HELD };
_Static_assert((int)LAST_HELD + 1 == (int)SV_TAPE_VARIABLES, "each has a place");

static spv_id
type_of_own(const gen *g, int which)
{
    return which == PAGES || which == TURNED || which == HELD ? g->u32 : g->u64;
}

static spv_id
own_variable(gen *g, int which)
{
    if (!g->tape[which])
        g->tape[which] = spv_global(&g->s, SPV_PRIVATE, type_of_own(g, which), 0, 0);
    return g->tape[which];
}

static spv_id
own(gen *g, int which)
{
    return emit(g, SPV_LOAD, type_of_own(g, which), own_variable(g, which));
}

static void
set_own(gen *g, int which, spv_id v)
{
    emit_do(g, SPV_STORE, own_variable(g, which), v);
}

void
sv_worker_load(gen *g)
{
    spv_id at = worker_address(g, g->launch), stands = sv_read64(g, at, offsetof(rt_vulkan_worker, cursor));
    g->code.info.has_tape = true;
    set_own(g, CURSOR, sv_choose(g, g->u64, sv_is_zero(g, stands), sv_u64(g, NOWHERE), stands));
    set_own(g, FIRST_PAGE, sv_read64(g, at, offsetof(rt_vulkan_worker, first_page)));
    spv_id pages = sv_read32(g, at, offsetof(rt_vulkan_worker, pages));
    set_own(g, PAGES, pages);
    if (g->gives_back) {
        set_own(g, HELD, pages);
        set_own(g, LAST_HELD, sv_u64(g, 0));
    }
    set_own(g, TURNED, sv_read32(g, at, offsetof(rt_vulkan_worker, turned)));
}

/* What a task leaves on tapes is counted: pages, and units of 8 bytes. */
static void
count_what_is_left(gen *g, spv_id then, spv_id now)
{
    spv_id depth = emit(g, SPV_I_SUB, g->u64, sv_depth(g, now), sv_depth(g, then));
    spv_id height = emit(g, SPV_I_SUB, g->u64, sv_height(g, now), sv_height(g, then));
    spv_id units = sv_low(g, emit(g, SPV_SHIFT_RIGHT, g->u64, height, sv_u32(g, 3)));
    sv_atomic_add32(g, sv_add(g, g->launch, offsetof(rt_vulkan_launch, depths)), sv_low(g, depth));
    sv_atomic_add32(g, sv_add(g, g->launch, offsetof(rt_vulkan_launch, taped)), units);
}

/* All that the worker was goes on as it was. */
static void
cut_chain(gen *g)
{
    spv_id last = own(g, LAST_HELD);
    sv_branch once = sv_once(g), some = sv_if(g, sv_not(g, sv_is_zero(g, last)));
    sv_write64(g, last, offsetof(rt_page, next), sv_u64(g, 0));
    sv_end_if(g, &some);
    sv_end_once(g, &once);
}

void
sv_worker_store(gen *g)
{
    if (g->gives_back) {
        cut_chain(g);
        return;
    }
    spv_id at = worker_address(g, g->launch), now = own(g, CURSOR);
    sv_branch once = sv_once(g);
    if (g->task && (g->task->records || g->task->rewinds)) {
        spv_id stood = sv_read64(g, at, offsetof(rt_vulkan_worker, cursor));
        count_what_is_left(g, sv_choose(g, g->u64, sv_is_zero(g, stood), sv_u64(g, NOWHERE), stood), now);
    }
    sv_write64(g, at, offsetof(rt_vulkan_worker, cursor), now);
    sv_write64(g, at, offsetof(rt_vulkan_worker, first_page), own(g, FIRST_PAGE));
    sv_write32(g, at, offsetof(rt_vulkan_worker, pages), own(g, PAGES));
    sv_write32(g, at, offsetof(rt_vulkan_worker, turned), own(g, TURNED));
    sv_end_once(g, &once);
}

spv_id
sv_first_page(gen *g)
{
    return own(g, FIRST_PAGE);
}

/* -- where a cursor stands ------------------------------------------------------------------------------------------------- */

spv_id
sv_in_page(gen *g, spv_id cursor)
{
    return emit(g, SPV_AND, g->u64, cursor, sv_u64(g, ON_PAGE));
}

spv_id
sv_page_of(gen *g, spv_id at)
{
    return emit(g, SPV_AND, g->u64, at, sv_u64(g, ~(uint64_t)ON_PAGE));
}

/* 0: none */
static spv_id
page_of_cursor(gen *g, spv_id cursor)
{
    return sv_choose(g, g->u64, sv_is(g, cursor, sv_u64(g, NOWHERE)), sv_u64(g, 0), sv_page_of(g, cursor));
}

/* pages of the chain up to the cursor's */
spv_id
sv_depth(gen *g, spv_id cursor)
{
    spv_id page = page_of_cursor(g, cursor), none = sv_u64(g, 0);
    sv_branch some = sv_if(g, emit(g, SPV_I_NOT_EQUAL, g->truth, page, none));
    spv_id depth = sv_high(g, sv_read32(g, page, offsetof(rt_page, depth)));
    sv_end_if(g, &some);
    return sv_made(g, &some, g->u64, depth, none);
}

spv_id
sv_height(gen *g, spv_id cursor)
{
    spv_id pages = emit(g, SPV_I_MUL, g->u64, sv_depth(g, cursor), sv_u64(g, RT_GPU_PAGE));
    return emit(g, SPV_I_ADD, g->u64, pages, sv_in_page(g, cursor));
}

/* of how many pages something lies below: not of that at whose bottom it stands */
static spv_id
pages_below(gen *g, spv_id cursor)
{
    spv_id bottom = sv_is(g, sv_in_page(g, cursor), sv_u64(g, RT_GPU_HEADER)), depth = sv_depth(g, cursor);
    return sv_choose(g, g->u64, bottom, sv_add(g, depth, UINT64_MAX), depth);
}

spv_id
sv_is_full(gen *g, spv_id cursor, spv_id bytes)
{
    spv_id end = emit(g, SPV_I_ADD, g->u64, sv_in_page(g, cursor), bytes);
    return emit(g, SPV_S_GREATER_EQUAL, g->truth, end, sv_u64(g, RT_GPU_PAGE));
}

/* -- taking pages ------------------------------------------------------------------------------------------------------------ */

/* of a function that has no entry's values */
void
sv_enter_function(gen *g, sv_inside *f)
{
    *f = (sv_inside){g->launch, g->lane};
    g->launch = sv_launch_here(g);
    g->lane = emit(g, SPV_LOAD, g->u32, g->lane_input);
}

void
sv_leave_function(gen *g, const sv_inside *f)
{
    g->launch = f->launch;
    g->lane = f->lane;
}

/* the pool's limit for tapes */
spv_id
sv_page_limit(gen *g)
{
    spv_id heap = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, heap));
    spv_id taken = sv_low(g, emit(g, SPV_U_DIV, g->u64, sv_add(g, heap, RT_GPU_PAGE - 1), sv_u64(g, RT_GPU_PAGE)));
    spv_id room = emit(g, SPV_I_SUB, g->u32, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, pages)), taken);
    return sv_glsl(g, SPV_U_MIN, g->u32, 2, (spv_id[]){room, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, tape_pages))});
}

/* So many successive pages from the pool, each with its place among them: page 0's address, chained behind `here` (0: there is none). */
static void
chain_pages(gen *g, spv_id here, spv_id at, spv_id count, spv_id is_bottom)
{
    spv_id zero = sv_u32(g, 0), one = sv_u32(g, 1), none = sv_u64(g, 0), size = sv_u64(g, RT_GPU_PAGE);
    sv_branch chain = sv_if(g, sv_not(g, is_bottom));
    spv_id below = sv_read32(g, here, offsetof(rt_page, depth));
    sv_branch first = sv_if(g, sv_is_first(g));
    sv_write64(g, here, offsetof(rt_page, next), at);
    sv_end_if(g, &first);
    sv_end_if(g, &chain);
    below = sv_made(g, &chain, g->u32, below, zero);
    sv_loop l = sv_count(g, sv_high(g, g->lane), sv_high(g, count), 0, NULL, NULL);
    spv_id number = sv_low(g, l.at[0]), page = emit(g, SPV_I_ADD, g->u64, at, emit(g, SPV_I_MUL, g->u64, l.at[0], size));
    spv_id above = emit(g, SPV_I_SUB, g->u32, emit(g, SPV_I_SUB, g->u32, count, one), number);
    spv_id next = sv_choose(g, g->u64, sv_is(g, above, zero), none, sv_add(g, page, RT_GPU_PAGE));
    sv_write64(g, page, offsetof(rt_page, next), next);
    sv_write32(g, page, offsetof(rt_page, depth), emit(g, SPV_I_ADD, g->u32, emit(g, SPV_I_ADD, g->u32, below, one), number));
    sv_write32(g, page, offsetof(rt_gpu_kernel_page, after), above);
    sv_write32(g, page, offsetof(rt_gpu_kernel_page, before), number);
    sv_count_end(g, &l, sv_u64(g, RT_WARP), NULL);
    sv_barrier(g);
}

/* Functions that take pages are three, for tasks of different kinds. */
static const char *
of_kind(const gen *g, const char *const names[3])
{
    return names[g->repeats ? 2 : g->gives_back];
}

/* The number of the first of so many pages; `limit`, or there are too few behind it: they were not given. */
static spv_id
count_pages(gen *g, spv_id count, spv_id limit)
{
    spv_id top = sv_add(g, g->launch, offsetof(rt_vulkan_launch, top)), possible = emit(g, SPV_U_LESS_EQUAL, g->truth, count, limit);
    sv_branch first = sv_if(g, sv_and(g, possible, sv_is_first(g))); /* the counter stays near the limit */
    spv_id given = sv_atomic_add32(g, g->gives_back ? sv_task_pages(g) : top, count);
    if (g->gives_back)
        given = emit(g, SPV_I_ADD, g->u32, given, sv_read32(g, top, 0));
    sv_end_if(g, &first);
    given = sv_take_id(g, g->u32, sv_made(g, &first, g->u32, given, limit), sv_u32(g, 0));
    return sv_glsl(g, SPV_U_MIN, g->u32, 2, (spv_id[]){given, limit});
}

/* Where the chain ends whose pages stay. */
static void
note_last_held(gen *g, spv_id here)
{
    spv_id first = sv_is(g, own(g, PAGES), own(g, HELD));
    set_own(g, LAST_HELD, sv_choose(g, g->u64, first, here, own(g, LAST_HELD)));
}

/* `count` fresh pages, chained behind `here` (0: the first): new_pages(here, count, place), the first one's address; 0: there are
 * not so many, which is a fault unless the piece is run again. */
static spv_id
new_pages_function(gen *g)
{
    static const char *const names[3] = {"new_pages", "new_task_pages", "new_pages_or_none"};
    spv_id types[3] = {g->u64, g->u32, g->u32}, p[3], none = sv_u64(g, 0);
    sv_function f;
    sv_inside outside;
    if (!sv_function_open(g, &f, of_kind(g, names), g->u64, 3, types, p))
        return f.id;
    sv_enter_function(g, &outside);
    spv_id count = p[1], limit = sv_page_limit(g), given = count_pages(g, count, limit);
    spv_id fails = emit(g, SPV_U_GREATER, g->truth, count, emit(g, SPV_I_SUB, g->u32, limit, given));
    spv_id faulty = g->repeats ? sv_and(g, fails, sv_is_alone(g)) : fails;
    spv_id bytes = emit(g, SPV_I_MUL, g->u64, sv_high(g, emit(g, SPV_I_ADD, g->u32, given, count)), sv_u64(g, RT_GPU_PAGE));
    spv_id budget = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, budget));
    sv_tell_fault(g, RT_FAULT_BUDGET, p[2], bytes, budget, sv_and(g, faulty, sv_is_first(g)));
    spv_id at = emit(g, SPV_I_MUL, g->u64, sv_high(g, given), sv_u64(g, RT_GPU_PAGE)), is_bottom = sv_is_zero(g, p[0]);
    at = emit(g, SPV_I_ADD, g->u64, sv_read64(g, g->launch, offsetof(rt_vulkan_launch, pool)), at);
    sv_branch there = sv_if(g, sv_not(g, fails));
    chain_pages(g, p[0], at, count, is_bottom);
    sv_end_if(g, &there);
    if (g->gives_back)
        note_last_held(g, p[0]);
    set_own(g, FIRST_PAGE, sv_choose(g, g->u64, is_bottom, at, own(g, FIRST_PAGE)));
    set_own(g, PAGES, emit(g, SPV_I_ADD, g->u32, own(g, PAGES), count));
    emit_do(g, SPV_RETURN_VALUE, sv_choose(g, g->u64, fails, none, at));
    sv_leave_function(g, &outside);
    sv_function_close(g, &f);
    return f.id;
}

/* The bottom of the page above the cursor's: page(cursor, count, place), which takes so many if there is none; 0: as above. */
static spv_id
page_function(gen *g)
{
    static const char *const names[3] = {"page", "task_page", "page_or_none"};
    spv_id types[3] = {g->u64, g->u32, g->u32}, p[3], none = sv_u64(g, 0), take = new_pages_function(g);
    sv_function f;
    sv_inside outside;
    if (!sv_function_open(g, &f, of_kind(g, names), g->u64, 3, types, p))
        return f.id;
    sv_enter_function(g, &outside);
    spv_id here = page_of_cursor(g, p[0]), first_page = own(g, FIRST_PAGE);
    sv_branch some = sv_if(g, emit(g, SPV_I_NOT_EQUAL, g->truth, here, none));
    spv_id next = sv_read64(g, here, offsetof(rt_page, next));
    sv_end_if(g, &some);
    spv_id above = sv_made(g, &some, g->u64, next, first_page);
    sv_barrier(g); /* all have looked */
    sv_branch missing = sv_if(g, sv_is_zero(g, above));
    spv_id taken = sv_call_function(g, take, g->u64, 3, (spv_id[]){here, p[1], p[2]});
    sv_end_if(g, &missing);
    above = sv_made(g, &missing, g->u64, taken, above);
    spv_id fails = sv_is_zero(g, above);
    sv_branch write = sv_if(g, sv_and(g, sv_not(g, fails), sv_is_first(g)));
    sv_write64(g, above, offsetof(rt_page, below), p[0]);
    sv_end_once(g, &write);
    set_own(g, TURNED, sv_u32(g, UINT32_MAX));
    emit_do(g, SPV_RETURN_VALUE, sv_choose(g, g->u64, fails, none, sv_add(g, above, RT_GPU_HEADER)));
    sv_leave_function(g, &outside);
    sv_function_close(g, &f);
    return f.id;
}

static spv_id
place_number(gen *g, const ir_op *op)
{
    return sv_u32(g, sv_place_number(g, op, NULL, NULL, 0));
}

spv_id
sv_next_page(gen *g, spv_id cursor, spv_id count, const ir_op *op)
{
    spv_id next = sv_call_function(g, page_function(g), g->u64, 3, (spv_id[]){cursor, count, place_number(g, op)});
    (g->repeats ? sv_stop_if : sv_leave_if)(g, sv_is_zero(g, next));
    return next;
}

spv_id
sv_with_room(gen *g, spv_id cursor, spv_id bytes, const ir_op *op)
{
    sv_branch full = sv_if(g, sv_is_full(g, cursor, bytes));
    spv_id next = sv_next_page(g, cursor, sv_u32(g, 1), op);
    sv_end_if(g, &full);
    return sv_made(g, &full, g->u64, next, cursor);
}

/* a cursor at its page's bottom goes to the page below */
spv_id
sv_above_bottom(gen *g, spv_id cursor)
{
    sv_branch bottom = sv_if(g, sv_is(g, sv_in_page(g, cursor), sv_u64(g, RT_GPU_HEADER)));
    spv_id below = sv_read64(g, sv_add(g, cursor, (uint64_t)-RT_GPU_HEADER), offsetof(rt_page, below));
    sv_end_if(g, &bottom);
    return sv_made(g, &bottom, g->u64, below, cursor);
}

/* -- how much is left -------------------------------------------------------------------------------------------------------- */

/* Pages above this depth that the worker may use: what it holds, and its share of what nobody holds. */
spv_id
sv_pages_left(gen *g, spv_id depth)
{
    spv_id limit = sv_page_limit(g), top = sv_read32(g, g->launch, offsetof(rt_vulkan_launch, top)), none = sv_u32(g, 0);
    if (g->gives_back)
        top = emit(g, SPV_I_ADD, g->u32, top, sv_read32(g, sv_task_pages(g), 0));
    top = sv_take_id(g, g->u32, top, none);
    spv_id share = g->gives_back ? g->sharers : g->task ? g->rows : sv_u32(g, 1);
    spv_id some = emit(g, SPV_U_LESS, g->truth, top, limit);
    spv_id free = emit(g, SPV_U_DIV, g->u32, emit(g, SPV_I_SUB, g->u32, limit, top), share);
    free = sv_high(g, sv_choose(g, g->u32, some, free, none));
    spv_id held = emit(g, SPV_I_SUB, g->u64, sv_high(g, own(g, PAGES)), depth);
    return emit(g, SPV_I_ADD, g->u64, held, free);
}

/* as rt_gpu_over has it */
static spv_id
takes_more_than_part(gen *g, spv_id cursor, spv_id mark, const ir_value *parts, spv_id room)
{
    uint64_t known;
    if (ir_is_const(parts, &known) && !known) {
        spv_id height = emit(g, SPV_I_SUB, g->u64, sv_height(g, cursor), sv_height(g, mark));
        return emit(g, SPV_S_GREATER, g->truth, height, room);
    }
    spv_id below = pages_below(g, mark), used = emit(g, SPV_I_SUB, g->u64, sv_depth(g, cursor), below), page = sv_u64(g, RT_GPU_PAGE);
    spv_id needs = emit(g, SPV_I_ADD, g->u64, emit(g, SPV_I_MUL, g->u64, sv_add(g, used, 1), page), room);
    needs = emit(g, SPV_I_MUL, g->u64, needs, sv_wide(g, parts));
    spv_id left = emit(g, SPV_I_MUL, g->u64, sv_pages_left(g, below), page);
    spv_id some = emit(g, SPV_S_GREATER, g->truth, used, sv_u64(g, 0));
    return emit(g, SPV_LOGICAL_AND, g->truth, some, emit(g, SPV_S_GREATER, g->truth, needs, left));
}

/* Asked after a change of pages only, which sets a bit for each level of loops. */
static void
tape_over(gen *g, const ir_op *op)
{
    spv_id cursor = sv_get(g, op->args[0]), mark = sv_get(g, op->args[1]), room = sv_wide(g, op->args[4]);
    spv_id turned = own(g, TURNED), bit = emit(g, SPV_SHIFT_LEFT, g->u32, sv_u32(g, 1), sv_get(g, op->args[2]));
    spv_id set = emit(g, SPV_I_NOT_EQUAL, g->truth, emit(g, SPV_AND, g->u32, turned, bit), sv_u32(g, 0));
    uint64_t parts;
    (void)sv_get(g, op->args[3]);
    sv_branch asks = sv_if(g, ir_is_const(op->args[3], &parts) && !parts ? 0 : set);
    set_own(g, TURNED, emit(g, SPV_AND, g->u32, turned, emit(g, SPV_NOT, g->u32, bit)));
    spv_id over = takes_more_than_part(g, cursor, mark, op->args[3], room);
    sv_barrier(g); /* frames above the mark may be written over */
    sv_end_if(g, &asks);
    sv_set(g, op->results[0], sv_made(g, &asks, g->truth, over, spv_truth(&g->s, false)));
}

static void
tape_room(gen *g, const ir_op *op)
{
    spv_id cursor = sv_get(g, op->args[0]), mark = sv_get(g, op->args[1]), room = sv_wide(g, op->args[4]);
    spv_id bytes = sv_wide(g, op->args[5]), no = spv_truth(&g->s, false);
    (void)sv_get(g, op->args[3]);
    sv_branch full = sv_if(g, sv_is_full(g, cursor, bytes));
    spv_id over = takes_more_than_part(g, cursor, mark, op->args[3], room);
    sv_branch goes = sv_if(g, sv_not(g, over));
    spv_id next = sv_next_page(g, cursor, sv_u32(g, 1), op);
    sv_end_if(g, &goes);
    next = sv_made(g, &goes, g->u64, next, cursor);
    sv_barrier(g);
    sv_end_if(g, &full);
    sv_set(g, op->results[0], sv_made(g, &full, g->u64, next, cursor));
    sv_set(g, op->results[1], sv_made(g, &full, g->truth, over, no));
}

/* -- begin and end ------------------------------------------------------------------------------------------------------------- */

static void
open_tape(gen *g, const ir_op *op)
{
    ir_own_tape frames;
    if (g->task && ir_tape_is_own(op, &frames)) {
        sv_begin_own_frames(g, op, &frames);
        return;
    }
    spv_id cursor = own(g, CURSOR);
    sv_barrier(g); /* all have read what the thread before left here */
    if (op->one_page) {
        cursor = sv_with_room(g, cursor, sv_wide(g, op->args[0]), op);
        set_own(g, CURSOR, cursor);
    }
    sv_set(g, op->results[0], cursor);
}

void
sv_tape_op(gen *g, const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_TAPE_BEGIN:
        open_tape(g, op);
        break;
    case RG_OP_TAPE_END:
        set_own(g, CURSOR, sv_get(g, op->args[0]));
        break;
    case RG_OP_TAPE_PUSH:
        sv_push(g, op);
        break;
    case RG_OP_TAPE_POP:
        sv_pop(g, op);
        break;
    case RG_OP_TAPE_OVER:
        tape_over(g, op);
        break;
    case RG_OP_TAPE_ROOM:
        tape_room(g, op);
        break;
    case RG_OP_TAPE_SAVE:
        sv_save(g, op);
        break;
    case RG_OP_TAPE_RESTORE:
        sv_restore(g, op);
        break;
    case RG_OP_TAPE_TASKS:
        sv_tasks(g, op);
        break;
    case RG_OP_TAPE_OVER_TASKS:
        sv_over_tasks(g, op);
        break;
    default:
        sv_thin(g, op);
    }
}
