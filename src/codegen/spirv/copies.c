/* Whole arrays, to and from frames of the kernel's tape, and zeros. SPDX-License-Identifier: Apache-2.0
 *
 * A segment is one warp, which memory is far too fast for. So it only moves its cursor (snapshot.c) or takes memory (sv_temp), and notes
 * what is to be done, if that may be done behind it (segments_put_off): a step of all workgroups does it. What is noted, a *job*, are two
 * numbers in the launch's record, behind its cells:
 *
 *     tape_save, tape_restore    the array's rt_arg | where its first frame lies
 *     temp                       a plane's memory   | bytes
 *
 * The second one is 0 where the op was not executed. From the first frame on each workgroup finds the others, along rows of pages, and
 * copies its share of the parts that frames are cut into. What cannot wait the segment's warp does itself, all parts.
 *
 * Jobs share a step unless they meet in an array. */
#include "codegen/spirv/tape.h"

enum { PART = 2048, PARTS = (SV_FRAME + PART - 1) / PART, WIDE = 16, JOB = 16 };

/* -- copying --------------------------------------------------------------------------------------------------------------- */

/* An array as its elements lie. */
typedef struct elements {
    uint32_t size, rank;
    spv_id base, all;                        /* all: bytes */
    spv_id extent[RT_RANK], stride[RT_RANK]; /* in elements */
    spv_id dense;                            /* whether they lie as in a frame */
} elements;

static spv_id
many_times(gen *g, spv_id x, uint64_t by)
{
    return by == 1 ? x : emit(g, SPV_I_MUL, g->u64, x, sv_u64(g, by));
}

static spv_id
plus(gen *g, spv_id x, spv_id y)
{
    return emit(g, SPV_I_ADD, g->u64, x, y);
}

static elements
lying_elements(gen *g, spv_id array, uint32_t size, uint32_t rank)
{
    elements e = {.size = size, .rank = rank, .base = sv_read64(g, array, offsetof(rt_arg, plane)), .dense = spv_truth(&g->s, true)};
    spv_id count = sv_u64(g, 1), one = count;
    for (uint32_t k = rank; k-- > 0;) {
        e.extent[k] = sv_read64(g, array, (uint32_t)(offsetof(rt_arg, extent) + 8 * k));
        e.stride[k] = sv_read64(g, array, (uint32_t)(offsetof(rt_arg, stride) + 8 * k));
        spv_id fits = sv_or(g, sv_is(g, e.stride[k], count), emit(g, SPV_S_LESS_EQUAL, g->truth, e.extent[k], one));
        e.dense = emit(g, SPV_LOGICAL_AND, g->truth, e.dense, fits);
        count = emit(g, SPV_I_MUL, g->u64, count, e.extent[k]);
    }
    e.all = many_times(g, count, size);
    return e;
}

static spv_id
element_address(gen *g, const elements *e, spv_id number)
{
    spv_id offset = sv_u64(g, 0);
    for (uint32_t k = e->rank; k-- > 0;) {
        spv_id at = number;
        if (k) {
            spv_id q = sv_quotient64(g, number, e->extent[k]);
            at = emit(g, SPV_I_SUB, g->u64, number, emit(g, SPV_I_MUL, g->u64, q, e->extent[k]));
            number = q;
        }
        offset = plus(g, offset, emit(g, SPV_I_MUL, g->u64, at, e->stride[k]));
    }
    return plus(g, e->base, many_times(g, offset, e->size));
}

/* each lane 16 bytes at a time */
static void
copy_by_sixteen(gen *g, spv_id to, spv_id from, spv_id bytes)
{
    spv_id four = spv_known(&g->s, SPV_VECTOR, 0, spv_list(g->u32, 4));
    sv_loop l = sv_count(g, many_times(g, sv_high(g, g->lane), WIDE), bytes, 0, NULL, NULL);
    sv_write_as(g, four, WIDE, plus(g, to, l.at[0]), sv_read_as(g, four, WIDE, plus(g, from, l.at[0])));
    sv_count_end(g, &l, sv_u64(g, WIDE * RT_WARP), NULL);
}

/* each lane an element at a time; first: number of the first one */
static void
copy_by_element(gen *g, const elements *e, spv_id first, spv_id kept, spv_id bytes, bool save)
{
    sv_loop l = sv_count(g, sv_high(g, g->lane), emit(g, SPV_U_DIV, g->u64, bytes, sv_u64(g, e->size)), 0, NULL, NULL);
    spv_id element = element_address(g, e, plus(g, first, l.at[0])), place = plus(g, kept, many_times(g, l.at[0], e->size));
    sv_write(g, e->size, save ? place : element, sv_read(g, e->size, save ? element : place));
    sv_count_end(g, &l, sv_u64(g, RT_WARP), NULL);
}

/* `bytes` of the array, from so many on, which lie in a frame at `kept` */
static void
copy_stretch(gen *g, const elements *e, spv_id from, spv_id kept, spv_id bytes, bool save)
{
    spv_id place = plus(g, e->base, from), bits = emit(g, SPV_OR, g->u64, emit(g, SPV_OR, g->u64, place, kept), bytes);
    spv_id wide = sv_and(g, e->dense, sv_is_zero(g, emit(g, SPV_AND, g->u64, bits, sv_u64(g, WIDE - 1))));
    sv_branch at_once = sv_if(g, wide);
    copy_by_sixteen(g, save ? kept : place, save ? place : kept, bytes);
    sv_end_if(g, &at_once);
    sv_branch one_by_one = sv_if(g, sv_not(g, wide));
    copy_by_element(g, e, emit(g, SPV_U_DIV, g->u64, from, sv_u64(g, e->size)), kept, bytes, save);
    sv_end_if(g, &one_by_one);
}

/* Of frames `first` to `end`, each in a page of its own and successive, the first one at `frame`: those parts that are this workgroup's. */
static void
copy_row(gen *g, const elements *e, spv_id first, spv_id end, spv_id frame, spv_id group, spv_id groups, bool save)
{
    spv_id parts = sv_u64(g, PARTS), from = many_times(g, first, PARTS), none = emit(g, SPV_U_MOD, g->u64, from, groups);
    spv_id ahead = emit(g, SPV_U_MOD, g->u64, emit(g, SPV_I_SUB, g->u64, plus(g, group, groups), none), groups);
    sv_loop l = sv_count(g, plus(g, from, ahead), many_times(g, end, PARTS), 0, NULL, NULL);
    spv_id k = emit(g, SPV_U_DIV, g->u64, l.at[0], parts), inside = many_times(g, emit(g, SPV_U_MOD, g->u64, l.at[0], parts), PART);
    spv_id left = sv_smaller(g, sv_u64(g, SV_FRAME), emit(g, SPV_I_SUB, g->u64, e->all, many_times(g, k, SV_FRAME)));
    spv_id bytes = sv_smaller(g, emit(g, SPV_I_SUB, g->u64, left, inside), sv_u64(g, PART));
    spv_id kept = plus(g, plus(g, frame, many_times(g, emit(g, SPV_I_SUB, g->u64, k, first), RT_GPU_PAGE)), inside);
    sv_branch some = sv_if(g, emit(g, SPV_S_GREATER, g->truth, bytes, sv_u64(g, 0)));
    copy_stretch(g, e, plus(g, many_times(g, k, SV_FRAME), inside), kept, bytes, save);
    sv_end_if(g, &some);
    sv_count_end(g, &l, groups, NULL);
}

/* Where the frames behind `end` begin, of which there are `left` bytes, and how many are in successive pages: the cursor stands behind
 * the one before. */
static void
next_row(gen *g, spv_id cursor, spv_id left, spv_id *frame, spv_id *n)
{
    spv_id bytes = sv_whole_frame(g, sv_smaller(g, left, sv_u64(g, SV_FRAME)));
    sv_branch above = sv_if(g, sv_and(g, emit(g, SPV_S_GREATER, g->truth, left, sv_u64(g, 0)), sv_is_full(g, cursor, bytes)));
    spv_id next = sv_read64(g, sv_page_of(g, cursor), offsetof(rt_page, next)), row = sv_pages_of_row(g, next, left);
    next = sv_add(g, next, RT_GPU_HEADER);
    sv_end_if(g, &above);
    *frame = sv_made(g, &above, g->u64, next, cursor);
    *n = sv_made(g, &above, g->u64, row, sv_u64(g, 1));
}

/* A function: save or restore (array, its first frame, number of the workgroup, workgroups), all of 64 bits. */
static spv_id
copy_function(gen *g, const ir_op *op)
{
    bool save = op->code == RG_OP_TAPE_SAVE;
    uint32_t size = ir_bytes(ir_dtype(op->args[1])), rank = op->args[1]->type.rank;
    spv_id types[4] = {g->u64, g->u64, g->u64, g->u64}, p[4];
    char name[32];
    sv_function f;
    sv_inside outside;
    snprintf(name, sizeof name, "%s_%u_%u", save ? "save" : "restore", size, rank);
    if (!sv_function_open(g, &f, name, g->nothing, 4, types, p))
        return f.id;
    sv_enter_function(g, &outside);
    elements e = lying_elements(g, p[0], size, rank);
    sv_loop l = sv_loop_begin(g, 3, types, (spv_id[]){sv_u64(g, 0), p[1], sv_u64(g, 1)});
    spv_id first = l.at[0], frame = l.at[1], n = l.at[2], end = plus(g, first, n);
    sv_exit_if(g, &l, emit(g, SPV_S_GREATER_EQUAL, g->truth, many_times(g, first, SV_FRAME), e.all), 0, NULL);
    copy_row(g, &e, first, end, frame, p[2], p[3], save);
    spv_id last = plus(g, frame, many_times(g, sv_add(g, n, UINT64_MAX), RT_GPU_PAGE));
    spv_id left = emit(g, SPV_I_SUB, g->u64, e.all, many_times(g, end, SV_FRAME));
    next_row(g, sv_add(g, last, SV_FRAME), left, &frame, &n); /* what has one behind it is full */
    sv_loop_end(g, &l, (spv_id[]){end, frame, n});
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    sv_leave_function(g, &outside);
    sv_function_close(g, &f);
    return f.id;
}

static void
copy_now(gen *g, const ir_op *op, spv_id array, spv_id frame, spv_id group, spv_id groups)
{
    sv_call_function(g, copy_function(g, op), g->nothing, 4, (spv_id[]){array, frame, group, groups});
}

/* -- zeros ----------------------------------------------------------------------------------------------------------------- */

/* A function: zero (address, bytes, number of the workgroup, workgroups). There is room up to a multiple of 16 bytes. */
static spv_id
zero_function(gen *g)
{
    spv_id types[4] = {g->u64, g->u64, g->u64, g->u64}, p[4], four = spv_known(&g->s, SPV_VECTOR, 0, spv_list(g->u32, 4));
    sv_function f;
    if (!sv_function_open(g, &f, "zero", g->nothing, 4, types, p))
        return f.id;
    spv_id lane = sv_high(g, emit(g, SPV_LOAD, g->u32, g->lane_input)), first = plus(g, many_times(g, p[2], RT_WARP), lane);
    sv_loop l = sv_count(g, many_times(g, first, WIDE), p[1], 0, NULL, NULL);
    spv_id zero = spv_known(&g->s, SPV_NULL, four, 0, NULL);
    sv_write_as(g, four, WIDE, plus(g, p[0], l.at[0]), zero);
    sv_count_end(g, &l, many_times(g, p[3], WIDE * RT_WARP), NULL);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    sv_function_close(g, &f);
    return f.id;
}

static void
zero_now(gen *g, spv_id at, spv_id bytes, spv_id group, spv_id groups)
{
    sv_call_function(g, zero_function(g), g->nothing, 4, (spv_id[]){at, bytes, group, groups});
}

/* -- what is noted --------------------------------------------------------------------------------------------------------- */

/* the record is fetched each time: so it does not matter where the look at it stands */
static spv_id
job_address(gen *g, uint32_t number)
{
    return sv_add(g, sv_read64(g, g->launch, offsetof(rt_vulkan_launch, record)), g->segments.bytes + (uint64_t)JOB * number);
}

static const ir_value *
array_of_job(const ir_op *op)
{
    return op->code == RG_OP_TEMP ? op->results[0] : op->args[1];
}

/* an array that is restored, or restored once more, before anybody looks at it */
static bool
is_in_vain(const ir_op *op)
{
    for (const ir_op *next = op->next; op->code != RG_OP_TAPE_SAVE && next; next = next->next) {
        if (next->code == RG_OP_TAPE_RESTORE && next->args[1] == array_of_job(op))
            return true;
        if (segments_meet(op, next))
            return false;
    }
    return false;
}

static bool
add_job(ir_op *op, void *user)
{
    gen *g = user;
    bool zeros = op->code == RG_OP_TEMP;
    if (!segments_put_off(op))
        return true;
    unsigned planes = zeros ? ir_effects_planes(&g->effects, op->results[0]) : 1u << RG_PRIMAL;
    for (unsigned p = 0; p < RG_PLANE_COUNT; p++)
        if (planes >> p & 1 && (p != RG_PRIMAL || !is_in_vain(op)))
            vec_push(&g->jobs, ((sv_job){op, p}));
    return true;
}

static uint32_t
number_of_job(const gen *g, const ir_op *op, unsigned plane)
{
    uint32_t i = 0;
    while (i < g->jobs.n && (g->jobs.at[i].op != op || g->jobs.at[i].plane != plane))
        i++;
    return i;
}

static void
note_job(gen *g, uint32_t number, spv_id what, spv_id how)
{
    sv_branch first = sv_if(g, sv_is_first(g));
    sv_write64(g, job_address(g, number), 0, what);
    sv_write64(g, job_address(g, number), 8, how);
    sv_end_if(g, &first);
}

/* What stands in an if may not be executed. */
void
sv_jobs_begin(gen *g, const ir_op *segment)
{
    g->jobs.n = 0;
    ir_walk(segment->regions[0], add_job, g);
    if (!g->jobs.n)
        return;
    uint32_t bytes = g->segments.bytes + JOB * (uint32_t)g->jobs.n;
    g->code.info.record = g->code.info.record < bytes ? bytes : g->code.info.record;
    sv_branch first = sv_if(g, sv_is_first(g));
    for (uint32_t i = 0; i < g->jobs.n; i++)
        if (g->jobs.at[i].op->parent != segment->regions[0])
            sv_write64(g, job_address(g, i), 8, sv_u64(g, 0));
    sv_end_if(g, &first);
}

void
sv_copy(gen *g, const ir_op *op, spv_id frame)
{
    spv_id array = sv_get(g, op->args[1]);
    uint32_t number = number_of_job(g, op, RG_PRIMAL);
    if (is_in_vain(op))
        return;
    if (number < g->jobs.n) {
        note_job(g, number, array, frame);
        return;
    }
    sv_barrier(g);
    copy_now(g, op, array, frame, sv_u64(g, 0), sv_u64(g, 1));
    sv_barrier(g);
}

void
sv_zero(gen *g, const ir_op *temp, unsigned plane, spv_id at, spv_id bytes)
{
    uint32_t number = number_of_job(g, temp, plane);
    if (plane == RG_PRIMAL && is_in_vain(temp))
        return;
    if (number < g->jobs.n) {
        note_job(g, number, at, bytes);
        return;
    }
    zero_now(g, at, bytes, sv_u64(g, 0), sv_u64(g, 1));
    sv_barrier(g);
}

/* -- the steps ------------------------------------------------------------------------------------------------------------- */

static bool
may_meet(const ir_op *a, const ir_op *b)
{
    bool commute = a->code == b->code && a->code != RG_OP_TAPE_RESTORE;
    return !commute && ir_may_be_same(array_of_job(a), array_of_job(b));
}

uint32_t
sv_jobs_together(const gen *g, uint32_t from)
{
    uint32_t to = from + 1;
    for (; to < g->jobs.n; to++)
        for (uint32_t i = from; i < to; i++)
            if (may_meet(g->jobs.at[i].op, g->jobs.at[to].op))
                return to;
    return to;
}

void
sv_jobs_do(gen *g, uint32_t from, uint32_t to)
{
    spv_id group = sv_high(g, g->group), groups = sv_high(g, g->groups);
    for (uint32_t i = from; i < to; i++) {
        const ir_op *op = g->jobs.at[i].op;
        spv_id job = job_address(g, i), how = sv_read64(g, job, 8);
        sv_branch noted = sv_if(g, sv_not(g, sv_is_zero(g, how)));
        spv_id what = sv_read64(g, job, 0);
        if (op->code == RG_OP_TEMP)
            zero_now(g, what, how, group, groups);
        else
            copy_now(g, op, what, how, group, groups);
        sv_end_if(g, &noted);
    }
}
