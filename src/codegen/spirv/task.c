/* Entries: segments, tasks, and what follows one. SPDX-License-Identifier: Apache-2.0
 *
 * A workgroup runs pieces of a task: group by group of RT_WARP threads, which are successive along the last axis; or, of loops without
 * lanes, thread by thread. Piece p is group p % (groups of a row) of row p / (groups of a row). Who runs it:
 *
 *   dealt    workgroup w has the pieces w, w + G, ..., so that those who record and those who rewind have the same tape
 *   taken    pieces may take different times, and leave nothing for another task: a row begins with a batch, and takes others
 *   by rows  deterministic launches: row r of R has the pieces r, r + R, ..., sums of its own and, where frames are kept, a tape; R
 *            follows from the launch's arguments alone. Workgroup w has the rows w, w + G, ...
 *   in order deterministic launches, where threads see in which order they come: workgroup 0, first to last, with kept tapes of rows
 *
 * What is dealt or taken has a row for each workgroup. Tapes that leave nothing are the workgroup's, whatever row it runs; where there are
 * too few pages for all, fewer workgroups run the rows, or what is left of them (again.c). */
#include "analysis/divergence.h"
#include "analysis/pages.h"
#include "codegen/spirv/gen.h"

enum { BATCHES = 8 /* of pieces, for each workgroup at most, where they are taken */ };
enum { LAUNCH, ARGS, PLACE, NUMBER, PUSHED, DECORATION_BLOCK = 2, DECORATION_OFFSET = 35 };
enum { BUILTIN_GROUP = 26, BUILTIN_LOCAL_INDEX = 29, BUILTIN_SUBGROUP_LANE = 41 };

/* -- variables of the module ------------------------------------------------------------------------------------------- */

static void
make_inputs(gen *g)
{
    static const uint32_t offsets[PUSHED] = {offsetof(rt_vulkan_push, launch), offsetof(rt_vulkan_push, args),
                                             offsetof(rt_vulkan_push, ask.place), offsetof(rt_vulkan_push, ask.number)};
    spv_id block = spv_known(&g->s, SPV_STRUCT, 0, spv_list(g->u64, g->u64, g->u32, g->u32));
    spv_decorate(&g->s, block, DECORATION_BLOCK);
    for (uint32_t i = 0; i < PUSHED; i++)
        spv_put(&g->s.sections[SPV_DECORATIONS], SPV_MEMBER_DECORATE, spv_list(block, i, DECORATION_OFFSET, offsets[i]));
    g->push = spv_global(&g->s, SPV_PUSH, block, 0, 0);
    bool subgroups = g->options->features & SPIRV_SUBGROUPS;
    g->lane_input = spv_global(&g->s, SPV_INPUT, g->u32, 0, subgroups ? BUILTIN_SUBGROUP_LANE : BUILTIN_LOCAL_INDEX);
    g->group_input = spv_global(&g->s, SPV_INPUT, spv_known(&g->s, SPV_VECTOR, 0, spv_list(g->u32, 3)), 0, BUILTIN_GROUP);
    if (subgroups) {
        spv_capability(&g->s, SPV_CAP_NON_UNIFORM);
        g->code.uses |= SPIRV_SUBGROUPS;
    }
}

static spv_id
pushed(gen *g, uint32_t field)
{
    spv_id type = field < PLACE ? g->u64 : g->u32;
    spv_id at = emit(g, SPV_CHAIN, spv_pointer(&g->s, SPV_PUSH, type), g->push, sv_u32(g, field));
    return emit(g, SPV_LOAD, type, at);
}

spv_id
sv_launch_here(gen *g)
{
    return pushed(g, LAUNCH);
}

/* -- an entry ------------------------------------------------------------------------------------------------------------ */

/* *own: the tape begins in a variable of the thread's own */
static bool
is_no_tape(ir_op *op, void *own)
{
    ir_own_tape frames;
    if (op->code == RG_OP_TAPE_BEGIN)
        *(bool *)own = ir_tape_is_own(op, &frames);
    return !ir_is_tape_op(op);
}

/* What is loaded at an entry's top comes behind the look at the fault: what it follows may not be there. */
static spv_id
open_entry(gen *g, spv_function *f, const ir_op *op, uint32_t place)
{
    spv_id fn = spv_function_begin(&g->s, f, g->nothing, 0, NULL, NULL);
    bool own = false;
    g->values = arena_new_n(g->in, spv_id, g->kernel->next_id + 1);
    g->in_memory = arena_new_n(g->in, bool, g->kernel->next_id + 1);
    g->fields = (map){.in = g->in};
    g->fuel = 0;
    g->nsums = 0;
    g->late = NULL;
    g->put_off = (ir_late){0};
    memset(g->lane_bits, 0, sizeof g->lane_bits);
    g->own_frames = 0;
    g->behind_pops = NULL;
    g->first_grid = 0;
    g->ir = g->kernel;
    g->task = op && op->code == RG_OP_PARALLEL ? op : NULL;
    g->region = op ? op->regions[0] : g->kernel->body;
    g->s.at_top = true;
    g->lane = emit(g, SPV_LOAD, g->u32, g->lane_input);
    g->group = emit(g, SPV_EXTRACT, g->u32, emit(g, SPV_LOAD, spv_known(&g->s, SPV_VECTOR, 0, spv_list(g->u32, 3)), g->group_input), 0);
    g->launch = pushed(g, LAUNCH);
    g->args = pushed(g, ARGS);
    spv_id ended = emit(g, SPV_OR, g->u32, sv_read32(g, g->launch, offsetof(rt_vulkan_launch, fault)), sv_stop(g));
    /* the host and other workgroups may write them now: all lanes take what one has read. A fault that was told stays */
    ended = sv_take_id(g, g->u32, ended, sv_u32(g, 0));
    sv_end_cancelled(g, emit(g, SPV_I_NOT_EQUAL, g->truth, ended, sv_u32(g, 0)), sv_u32(g, place));
    g->groups = sv_read32(g, g->launch, offsetof(rt_vulkan_launch, groups));
    g->rows = g->options->deterministic ? sv_read32(g, g->launch, offsetof(rt_vulkan_launch, rows)) : g->groups;
    g->row = g->worker = g->group;
    g->has_worker = op && !ir_walk(op->regions[0], is_no_tape, &own) && !own;
    g->s.at_top = false;
    sv_again_find(g, op);
    return fn;
}

static void
close_entry(gen *g, spv_function *f, spv_id fn)
{
    char name[16];
    snprintf(name, sizeof name, "e%u", g->entries++);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    spv_function_end(&g->s, f);
    spv_entry(&g->s, fn, name);
    sv_put_modes(g, fn);
}

/* -- results of tasks -------------------------------------------------------------------------------------------------- */

/* Contributions of floats are added up in f64. */
static rg_dtype
sum_dtype(const ir_op *op, uint32_t r)
{
    rg_dtype d = ir_dtype(op->results[r]);
    return op->reduce[r] == RG_RMW_ADD && ir_is_float(d) ? RG_F64 : d;
}

static spv_id
identity_of(gen *g, const ir_op *op, uint32_t r)
{
    rg_dtype d = sum_dtype(op, r);
    return sv_const(g, d, ir_identity(d, (rg_rmw)op->reduce[r]));
}

static spv_id
partial_row(gen *g, const ir_op *op, spv_id row)
{
    spv_id at = emit(g, SPV_I_MUL, g->u64, row, sv_u64(g, 8 * (uint64_t)op->nresults));
    return emit(g, SPV_I_ADD, g->u64, sv_read64(g, g->launch, offsetof(rt_vulkan_launch, partials)), at);
}

static void
write_cell(gen *g, spv_id record, uint32_t place, const ir_value *v, spv_id value)
{
    bool scalar = v->type.kind == IR_SCALAR;
    spv_id raw = scalar ? sv_raw(g, ir_dtype(v), value) : value;
    if (!scalar || ir_bytes(ir_dtype(v)) == 8)
        sv_write64(g, record, place, raw);
    else
        sv_write32(g, record, place, raw);
}

/* Lane l adds up rows l, l + RT_WARP, ..., then the lanes do, then the initial value comes; rounded once. */
static void
combine_rows(gen *g, const ir_op *op)
{
    uint32_t n = op->nresults;
    spv_id *types = arena_new_n(g->in, spv_id, n + 1), *sums = arena_new_n(g->in, spv_id, n + 1);
    g->s.at_top = true; /* what is made of the results may be, too */
    for (uint32_t r = 0; r < n; r++) {
        types[r] = sv_register(g, sum_dtype(op, r));
        sums[r] = identity_of(g, op, r);
    }
    spv_id rows = sv_high(g, g->rows);
    sv_loop l = sv_count(g, sv_u64(g, 0), rows, n, types, sums);
    spv_id number = emit(g, SPV_I_ADD, g->u64, l.at[0], sv_high(g, g->lane)), some = emit(g, SPV_U_LESS, g->truth, number, rows);
    spv_id row = partial_row(g, op, sv_choose(g, g->u64, some, number, sv_u64(g, 0)));
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype d = sum_dtype(op, r);
        spv_id raw = ir_bytes(d) == 8 ? sv_read64(g, row, 8 * r) : sv_read32(g, row, 8 * r);
        spv_id own = sv_choose(g, types[r], some, sv_from_raw(g, d, raw), identity_of(g, op, r));
        sums[r] = sv_combine(g, (rg_rmw)op->reduce[r], d, l.at[1 + r], own);
    }
    sv_count_end(g, &l, sv_u64(g, RT_WARP), sums);
    sv_loop_results(g, &l, types, sums);
    for (uint32_t r = 0; r < n; r++)
        sums[r] = sv_reduce(g, (rg_rmw)op->reduce[r], sum_dtype(op, r), sums[r]);
    spv_id record = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, record));
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype d = ir_dtype(op->results[r]), wide = sum_dtype(op, r);
        spv_id init = sv_cast(g, d, wide, sv_get(g, op->args[op->nargs - n + r]));
        sums[r] = sv_take(g, d, sv_cast(g, wide, d, sv_combine(g, (rg_rmw)op->reduce[r], wide, init, sums[r])), sv_u32(g, 0));
        sv_set(g, op->results[r], sums[r]);
    }
    sv_branch once = sv_once(g);
    for (uint32_t r = 0; r < n; r++)
        write_cell(g, record, g->segments.places[op->results[r]->id], op->results[r], sums[r]);
    sv_end_once(g, &once);
    g->s.at_top = false;
}

/* The segment that runs next combines a task's rows where it begins: no entry of its own is needed. NULL: another step comes next. */
static const ir_op *
segment_behind(const ir_op *task)
{
    const ir_op *op = task->next;
    while (op && ir_is_no_step(op))
        op = op->next;
    return op && op->code == RG_OP_SEGMENT ? op : NULL;
}

static void
make_combination(gen *g, const ir_op *op, uint32_t place)
{
    spv_function f;
    spv_id fn = open_entry(g, &f, NULL, place);
    combine_rows(g, op);
    close_entry(g, &f, fn);
}

/* -- segments -------------------------------------------------------------------------------------------------------------- */

/* By the lane that has written it, whether the condition that the next step asks for is as the host expects it. */
static void
compare_condition(gen *g, spv_id record)
{
    spv_id number = pushed(g, NUMBER), zero = sv_u32(g, 0), one = sv_u32(g, 1);
    sv_branch asked = sv_if(g, emit(g, SPV_I_NOT_EQUAL, g->truth, number, zero));
    spv_id is = sv_read32(g, emit(g, SPV_I_ADD, g->u64, record, sv_high(g, pushed(g, PLACE))), 0);
    spv_id holds = sv_choose(g, g->u32, emit(g, SPV_I_NOT_EQUAL, g->truth, is, zero), one, zero);
    sv_branch missed = sv_if(g, emit(g, SPV_I_NOT_EQUAL, g->truth, holds, emit(g, SPV_AND, g->u32, number, one)));
    spv_id counts = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, counts));
    sv_write32(g, counts, offsetof(rt_vulkan_counts, run), zero);
    sv_write32(g, counts, offsetof(rt_vulkan_counts, task), zero);
    sv_write32(g, g->launch, offsetof(rt_vulkan_launch, missed), emit(g, SPV_SHIFT_RIGHT, g->u32, number, one));
    sv_end_if(g, &missed);
    sv_end_if(g, &asked);
}

static void
write_yielded(gen *g, const ir_op *segment)
{
    const ir_op *yield = ir_terminator(segment->regions[0]);
    spv_id record = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, record)), *values = arena_new_n(g->in, spv_id, yield->nargs + 1);
    for (uint32_t i = 0; i < yield->nargs; i++)
        values[i] = sv_get(g, yield->args[i]);
    sv_branch once = sv_once(g);
    for (uint32_t i = 0; i < segment->nresults; i++)
        for (uint32_t k = 0, place; segments_next_place(&g->segments, segment, i, &k, &place);)
            write_cell(g, record, place, segment->results[i], values[i]);
    if (segments_asks(g->segments.steps.at, g->segments.steps.n))
        compare_condition(g, record);
    sv_end_once(g, &once);
}

static void
make_segment_entry(gen *g, const ir_op *op, uint32_t place)
{
    spv_function f;
    spv_id fn = open_entry(g, &f, op, place);
    if (g->summed && segment_behind(g->summed) == op)
        combine_rows(g, g->summed);
    if (g->has_worker)
        sv_worker_load(g);
    sv_jobs_begin(g, op);
    sv_region(g, op->regions[0]);
    if (g->failed)
        return;
    if (op->nresults)
        write_yielded(g, op);
    if (g->has_worker)
        sv_worker_store(g);
    close_entry(g, &f, fn);
}

/* -- tasks ----------------------------------------------------------------------------------------------------------------- */

typedef struct domain {
    uint32_t rank;
    unsigned lanes;
    spv_id lo[RT_RANK], count[RT_RANK]; /* u64 */
    spv_id row, pieces;                 /* of a row; all */
    spv_id threads;
} domain;

static domain
task_domain(gen *g, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    domain d = {.rank = op->attr.rank, .pieces = sv_u64(g, 1)};
    d.lanes = body->nparams > d.rank ? body->params[d.rank]->type.lanes : 0;
    rg_dtype wide = ir_is_signed(ir_dtype(op->args[0])) ? RG_I64 : RG_U64;
    for (uint32_t k = 0; k < d.rank; k++) {
        d.lo[k] = sv_wide(g, op->args[k]);
        spv_id hi = sv_wide(g, op->args[d.rank + k]), some = sv_compare(g, RG_OP_LT, wide, d.lo[k], hi);
        d.count[k] = sv_choose(g, g->u64, some, emit(g, SPV_I_SUB, g->u64, hi, d.lo[k]), sv_u64(g, 0));
        if (k + 1 < d.rank)
            d.pieces = emit(g, SPV_I_MUL, g->u64, d.pieces, d.count[k]);
    }
    d.row = d.count[d.rank - 1];
    d.threads = emit(g, SPV_I_MUL, g->u64, d.pieces, d.row);
    if (d.lanes)
        d.row = emit(g, SPV_SHIFT_RIGHT, g->u64, sv_add(g, d.row, RT_WARP - 1), sv_u32(g, 5));
    d.pieces = emit(g, SPV_I_MUL, g->u64, d.pieces, d.row);
    return d;
}

static void
set_task_index(gen *g, const ir_op *op, const domain *d, uint32_t k, spv_id place)
{
    const ir_value *index = op->regions[0]->params[k];
    sv_set(g, index, sv_cast(g, RG_U64, ir_dtype(index), emit(g, SPV_I_ADD, g->u64, d->lo[k], place)));
}

/* the remainder, and the quotient instead of the number */
static spv_id
split_off(gen *g, spv_id *number, spv_id by)
{
    spv_id q = sv_quotient64(g, *number, by), rest = emit(g, SPV_I_SUB, g->u64, *number, emit(g, SPV_I_MUL, g->u64, q, by));
    *number = q;
    return rest;
}

static void
set_piece(gen *g, const ir_op *op, const domain *d, spv_id piece)
{
    uint32_t last = d->rank - 1;
    spv_id number = piece, place = last ? split_off(g, &number, d->row) : piece;
    if (d->lanes) {
        place = emit(g, SPV_SHIFT_LEFT, g->u64, place, sv_u32(g, 5));
        spv_id own = emit(g, SPV_I_ADD, g->u64, place, sv_high(g, g->lane));
        sv_set(g, op->regions[0]->params[d->rank], emit(g, SPV_U_LESS, g->truth, own, d->count[last]));
    }
    set_task_index(g, op, d, last, place);
    for (uint32_t k = last; k-- > 0;)
        set_task_index(g, op, d, k, k ? split_off(g, &number, d->count[k]) : number);
}

/* The row's sums, of all lanes. */
static void
write_partials(gen *g, const ir_op *op, const domain *d, spv_id *sums)
{
    spv_id row = partial_row(g, op, sv_high(g, g->row));
    for (uint32_t r = 0; r < op->nresults; r++) {
        rg_dtype of = sum_dtype(op, r);
        spv_id sum = d->lanes ? sv_reduce(g, (rg_rmw)op->reduce[r], of, sums[r]) : sums[r];
        sv_branch first = sv_if(g, sv_is_first(g));
        if (ir_bytes(of) == 8)
            sv_write64(g, row, 8 * r, sv_raw(g, of, sum));
        else
            sv_write32(g, row, 8 * r, sv_raw(g, of, sum));
        sv_end_if(g, &first);
    }
}

/* -- which pieces a workgroup runs ------------------------------------------------------------------------------------- */

/* A loop over pieces: at[0] is the piece, where they are taken, else its number among those of the row; then come the sums. */
typedef struct pieces {
    sv_loop l;
    const ir_op *op;
    const domain *d;
    bool taken;
    const sv_left *left;
    spv_id each;              /* pieces of a batch */
    spv_id next, next_end;    /* the pieces behind this one */
    spv_id in_order;          /* 0: they are not */
} pieces;

/* What a piece leaves for nobody may be run by anybody. Without a tape there are so many workgroups that the device balances them. */
static bool
may_be_taken(const gen *g, const ir_op *op)
{
    bool kept = op->records || op->rewinds;
    return !g->options->deterministic && g->has_worker && !kept && !ir_is_even(op->regions[0]);
}

/* how many pieces are the row's */
static spv_id
pieces_of_row(gen *g, const domain *d)
{
    spv_id row = sv_high(g, g->row), rows = sv_high(g, g->rows), some = emit(g, SPV_U_LESS, g->truth, row, d->pieces);
    spv_id behind = sv_add(g, emit(g, SPV_I_SUB, g->u64, d->pieces, row), UINT64_MAX);
    return sv_choose(g, g->u64, some, sv_add(g, sv_quotient64(g, behind, rows), 1), sv_u64(g, 0));
}

static bool
sees_no_order(ir_op *op, void *user)
{
    const gen *g = user;
    return sv_sum_of(g, op) || !sv_has_order(g, op);
}

/* Whether threads run one after the other. Where sums have no cells in this launch, all threads add to the array itself. */
static spv_id
runs_in_order_here(gen *g, const ir_op *op)
{
    if (!g->options->deterministic)
        return 0;
    return ir_walk(op->regions[0], sees_no_order, g) ? sv_sums_meet(g) : spv_truth(&g->s, true);
}

/* Row r begins with batch r and takes others until there is none left. */
static void
cut_into_batches(gen *g, pieces *p)
{
    spv_id parts = emit(g, SPV_I_MUL, g->u64, sv_high(g, g->groups), sv_u64(g, BATCHES));
    p->each = sv_add(g, sv_quotient64(g, p->d->pieces, parts), 1);
}

/* The first piece of the batch that the counter gives. */
static spv_id
take_batch(gen *g, const pieces *p)
{
    spv_id word = sv_add(g, sv_read64(g, g->launch, offsetof(rt_vulkan_launch, task)), offsetof(rt_vulkan_task, batches));
    spv_id zero = sv_u32(g, 0);
    sv_branch first = sv_if(g, sv_is_first(g));
    spv_id number = sv_atomic_add32(g, word, sv_u32(g, 1));
    sv_end_if(g, &first);
    number = sv_take_id(g, g->u32, sv_made(g, &first, g->u32, number, zero), zero);
    return emit(g, SPV_I_MUL, g->u64, emit(g, SPV_I_ADD, g->u64, sv_high(g, g->groups), sv_high(g, number)), p->each);
}

/* what comes behind this piece */
static void
find_next(gen *g, pieces *p, spv_id piece, spv_id end)
{
    spv_id next = sv_add(g, piece, 1);
    sv_branch b = sv_if(g, sv_or(g, sv_is(g, next, end), sv_is(g, next, p->d->pieces)));
    spv_id start = take_batch(g, p), start_end = emit(g, SPV_I_ADD, g->u64, start, p->each);
    sv_end_if(g, &b);
    p->next = sv_made(g, &b, g->u64, start, next);
    p->next_end = sv_made(g, &b, g->u64, start_end, end);
}

/* A tape that is kept is that of the piece's row. */
static bool
has_tape_of_row(const gen *g, const pieces *p)
{
    return p->in_order && g->has_worker && !g->gives_back;
}

static void
enter_worker(gen *g, const pieces *p, spv_id piece)
{
    if (!has_tape_of_row(g, p))
        return;
    spv_id row = sv_low(g, emit(g, SPV_U_MOD, g->u64, piece, sv_high(g, g->rows)));
    g->worker = sv_choose(g, g->u32, p->in_order, row, g->row);
    sv_worker_load(g);
}

static void
leave_worker(gen *g, const pieces *p)
{
    if (has_tape_of_row(g, p))
        sv_worker_store(g);
}

static spv_id
goes_on_at(gen *g, const sv_left *left, spv_id at, spv_id otherwise)
{
    return left->some ? sv_choose(g, g->u64, left->some, at, otherwise) : otherwise;
}

/* carried values: n sums, and room for one more */
static void
pieces_begin(gen *g, pieces *p, uint32_t n, spv_id *types, spv_id *sums)
{
    spv_id piece, first = sv_high(g, g->row), none = sv_u64(g, 0), one = sv_u64(g, 1), step = sv_high(g, g->rows);
    if (p->taken) {
        cut_into_batches(g, p);
        first = emit(g, SPV_I_MUL, g->u64, first, p->each);
        types[n] = g->u64;
        sums[n] = goes_on_at(g, p->left, p->left->end, emit(g, SPV_I_ADD, g->u64, first, p->each));
        first = goes_on_at(g, p->left, p->left->at, first);
        p->l = sv_count(g, first, p->d->pieces, n + 1, types, sums);
        piece = p->l.at[0];
    } else {
        spv_id count = pieces_of_row(g, p->d);
        if (p->in_order) {
            count = sv_choose(g, g->u64, p->in_order, sv_choose(g, g->u64, sv_is_zero(g, first), p->d->pieces, none), count);
            step = sv_choose(g, g->u64, p->in_order, one, step);
        }
        p->l = sv_count(g, goes_on_at(g, p->left, p->left->at, none), count, n, types, sums);
        spv_id k = p->op->rewinds ? emit(g, SPV_I_SUB, g->u64, sv_add(g, count, UINT64_MAX), p->l.at[0]) : p->l.at[0];
        piece = emit(g, SPV_I_ADD, g->u64, first, emit(g, SPV_I_MUL, g->u64, k, step));
    }
    enter_worker(g, p, piece);
    set_piece(g, p->op, p->d, piece);
}

static void
pieces_end(gen *g, pieces *p, uint32_t n, const spv_id *types, spv_id *sums)
{
    leave_worker(g, p);
    if (p->taken) {
        find_next(g, p, p->l.at[0], p->l.at[1 + n]);
        sums[n] = p->next_end;
    }
    sv_count_end(g, &p->l, p->taken ? emit(g, SPV_I_SUB, g->u64, p->next, p->l.at[0]) : sv_u64(g, 1), sums);
    sv_loop_results(g, &p->l, types, sums);
}

static void
run_pieces_of_row(gen *g, pieces *p, spv_id *sums)
{
    const ir_op *op = p->op;
    uint32_t n = op->nresults;
    spv_id *types = arena_new_n(g->in, spv_id, n + 1); /* as `sums`, with room for one more */
    rg_dtype *dtypes = arena_new_n(g->in, rg_dtype, n + 1);
    for (uint32_t r = 0; r < n; r++) {
        dtypes[r] = sum_dtype(op, r);
        types[r] = sv_register(g, dtypes[r]);
        sums[r] = identity_of(g, op, r);
    }
    sv_again_sums(g, p->left, n, dtypes, types, sums);
    pieces_begin(g, p, n, types, sums);
    if (g->repeats)
        sv_again_note(g, p->l.at[0], p->taken ? p->l.at[1 + n] : 0, n, dtypes, p->l.at + 1);
    sv_region(g, op->regions[0]);
    if (g->failed)
        return;
    const ir_op *yield = ir_terminator(op->regions[0]);
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype from = ir_dtype(op->results[r]), to = sum_dtype(op, r);
        sums[r] = sv_combine(g, (rg_rmw)op->reduce[r], to, p->l.at[1 + r], sv_cast(g, from, to, sv_get(g, yield->args[r])));
    }
    sv_poll(g, op, ir_work(op->regions[0]));
    pieces_end(g, p, n, types, sums);
}

static void
run_row(gen *g, const ir_op *op, const domain *d, const sv_left *left)
{
    spv_id *sums = arena_new_n(g->in, spv_id, op->nresults + 1);
    sv_sums_begin(g, op, d->threads, left->some ? sv_not(g, left->some) : 0);
    pieces p = {.op = op, .d = d, .left = left, .taken = may_be_taken(g, op), .in_order = runs_in_order_here(g, op)};
    bool tape = g->has_worker && !p.in_order && !g->gives_back;
    if (!g->gives_back)
        g->worker = g->row;
    if (tape)
        sv_worker_load(g);
    run_pieces_of_row(g, &p, sums);
    if (g->failed)
        return;
    if (tape)
        sv_worker_store(g);
    if (op->nresults)
        write_partials(g, op, d, sums);
}

static void
run_rows(gen *g, const ir_op *op, const domain *d)
{
    spv_id first = sv_high(g, g->group), step = sv_high(g, g->gives_back ? g->sharers : g->groups), rows = sv_high(g, g->rows);
    if (g->limited)
        first = sv_choose(g, g->u64, emit(g, SPV_U_LESS, g->truth, g->group, g->sharers), first, rows);
    sv_loop l = sv_count(g, first, rows, 0, NULL, NULL);
    g->row = sv_low(g, l.at[0]);
    sv_left left = sv_again_left(g);
    sv_branch some = sv_if(g, g->first_grid && left.waits ? sv_or(g, g->first_grid, left.waits) : 0);
    run_row(g, op, d, &left);
    if (g->failed)
        return;
    sv_end_if(g, &some);
    sv_count_end(g, &l, step, NULL);
}

static void
make_task_entry(gen *g, const ir_op *op, uint32_t place)
{
    spv_function f;
    spv_id fn = open_entry(g, &f, op, place);
    domain d = task_domain(g, op);
    if (g->gives_back)
        sv_again_begin(g);
    if (g->options->deterministic || g->repeats || g->limited)
        run_rows(g, op, &d);
    else
        run_row(g, op, &d, &(sv_left){0});
    if (g->failed)
        return;
    if (g->gives_back)
        sv_again_end(g);
    close_entry(g, &f, fn);
    if (op->nresults > g->code.cells)
        g->code.cells = op->nresults;
}

static void
make_jobs(gen *g, uint32_t from, uint32_t to, uint32_t place)
{
    spv_function f;
    spv_id fn = open_entry(g, &f, NULL, place);
    sv_jobs_do(g, from, to);
    close_entry(g, &f, fn);
}

/* the array of one sum, or of all */
static void
make_settling(gen *g, const ir_op *op, uint32_t from, uint32_t to, uint32_t place)
{
    spv_function f;
    spv_id fn = open_entry(g, &f, NULL, place);
    domain d = task_domain(g, op);
    sv_sums_settle(g, op, d.threads, from, to);
    close_entry(g, &f, fn);
}

/* -- the kernel's results: outputs of one element behind the parameters -------------------------------------------------------- */

static void
make_results(gen *g, const ir_op *yield)
{
    spv_function f;
    spv_id fn = open_entry(g, &f, NULL, SEGMENTS_NO_PLACE), *values = arena_new_n(g->in, spv_id, yield->nargs + 1);
    for (uint32_t i = 0; i < yield->nargs; i++)
        values[i] = sv_raw(g, ir_dtype(yield->args[i]), sv_get(g, yield->args[i]));
    sv_branch once = sv_once(g);
    for (uint32_t i = 0; i < yield->nargs; i++) {
        uint64_t number = g->kernel->body->nparams + i;
        spv_id to = sv_read64(g, sv_add(g, g->args, number * sizeof(rt_arg)), offsetof(rt_arg, plane));
        sv_write(g, ir_bytes(ir_dtype(yield->args[i])), to, values[i]);
    }
    sv_end_once(g, &once);
    close_entry(g, &f, fn);
}

/* -- all of them --------------------------------------------------------------------------------------------------------------- */

static void
add_run(gen *g, segments_kind kind, uint32_t place)
{
    vec_push(&g->code.info.steps, ((segments_step){.kind = kind, .entry = g->entries, .place = place}));
}

static void
add_one_step(gen *g, uint32_t at)
{
    const segments_step *s = &g->segments.steps.at[at];
    const ir_op *op = s->kind == SEGMENTS_RUN || s->kind == SEGMENTS_TASK ? g->segments.entries.at[s->entry] : NULL;
    const ir_op *named = s->kind == SEGMENTS_LOOP || op ? segments_named(&g->segments, at) : NULL;
    uint32_t place = named ? sv_place_number(g, named, NULL, NULL, 0) : SEGMENTS_NO_PLACE;
    if (!op) {
        segments_step step = *s;
        if (s->kind == SEGMENTS_LOOP)
            step.entry = place;
        vec_push(&g->code.info.steps, step);
    } else if (s->kind == SEGMENTS_RUN) {
        add_run(g, SEGMENTS_RUN, place);
        make_segment_entry(g, op, place);
        for (uint32_t i = 0, to; i < g->jobs.n && !g->failed; i = to) {
            to = sv_jobs_together(g, i);
            add_run(g, SEGMENTS_TASK, place);
            make_jobs(g, i, to, place);
        }
    } else {
        g->code.keeps |= op->records || op->rewinds;
        segments_step again = {.kind = SEGMENTS_AGAIN, .entry = g->entries, .place = place, .to = (uint32_t)g->code.info.steps.n};
        add_run(g, SEGMENTS_TASK, place);
        make_task_entry(g, op, place);
        if (g->repeats)
            vec_push(&g->code.info.steps, again);
        g->summed = op->nresults ? op : NULL;
        if (op->nresults && !segment_behind(op) && !g->failed) {
            add_run(g, SEGMENTS_RUN, place);
            make_combination(g, op, place);
        }
        sv_sums_find(g, op);
        /* where planes may share memory, one after the other */
        for (uint32_t n = g->nsums, i = 0, each = g->options->noalias ? n : 1; i < n && !g->failed; i += each) {
            add_run(g, SEGMENTS_TASK, place);
            make_settling(g, op, i, i + each, place);
        }
    }
}

void
sv_entries(gen *g)
{
    const segments *s = &g->segments;
    uint32_t *now = arena_new_n(g->in, uint32_t, s->steps.n + 1); /* numbers of the steps, as they are here */
    make_inputs(g);
    for (size_t i = 0; i < s->steps.n && !g->failed; i++) {
        now[i] = (uint32_t)g->code.info.steps.n;
        add_one_step(g, (uint32_t)i);
    }
    const ir_op *yield = ir_terminator(g->kernel->body);
    if (g->failed)
        return;
    segments_renumber(g->code.info.steps.at, g->code.info.steps.n, now);
    if (yield->nargs)
        add_run(g, SEGMENTS_RUN, SEGMENTS_NO_PLACE);
    if (yield->nargs || !g->entries) /* a module has an entry, if nobody runs it */
        make_results(g, yield);
}
