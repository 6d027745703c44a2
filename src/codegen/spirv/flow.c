/* Structured control. SPDX-License-Identifier: Apache-2.0
 *
 *   if    header -> then, otherwise -> merge          loop    header -> body ... -> next -> header
 *                                                                 each exit_if of the body -> merge
 *
 * Values that control hands on are phis: of a loop's header what it carries, of the merge what it results in. */
#include "codegen/spirv/gen.h"

static spv_id
block_here(const gen *g)
{
    return g->s.fn->block;
}

/* -- what only some do ----------------------------------------------------------------------------------------------- */

sv_branch
sv_if(gen *g, spv_id condition)
{
    if (!condition)
        return (sv_branch){0};
    sv_branch b = {.before = block_here(g), .merge = spv_new(&g->s)};
    spv_id inside = spv_new(&g->s);
    emit_do(g, SPV_SELECTION_MERGE, b.merge, 0);
    emit_do(g, SPV_BRANCH_IF, condition, inside, b.merge);
    spv_block(&g->s, inside);
    return b;
}

void
sv_end_if(gen *g, sv_branch *b)
{
    if (!b->merge)
        return;
    b->end = block_here(g);
    emit_do(g, SPV_BRANCH, b->merge);
    spv_block(&g->s, b->merge);
}

spv_id
sv_made(gen *g, const sv_branch *b, spv_id type, spv_id made, spv_id otherwise)
{
    if (!b->merge)
        return made;
    return spv_phi(&g->s, type, 2, (uint32_t[]){made, b->end, otherwise, b->before}, NULL);
}

void
sv_leave_if(gen *g, spv_id condition)
{
    sv_branch b = {.merge = spv_new(&g->s)};
    spv_id leave = spv_new(&g->s);
    emit_do(g, SPV_SELECTION_MERGE, b.merge, 0);
    emit_do(g, SPV_BRANCH_IF, condition, leave, b.merge);
    spv_block(&g->s, leave);
    spv_do(&g->s, SPV_RETURN, 0, NULL);
    spv_block(&g->s, b.merge);
}

/* -- loops ----------------------------------------------------------------------------------------------------------- */

static sv_loop
begin_loop(gen *g, uint32_t control, uint32_t n, const spv_id *types, const spv_id *first)
{
    sv_loop l = {.n = n, .header = spv_new(&g->s), .next = spv_new(&g->s), .merge = spv_new(&g->s), .exits.in = g->in};
    spv_id before = block_here(g), body = spv_new(&g->s);
    l.at = arena_new_n(g->in, spv_id, n + 1);
    l.types = arena_new_n(g->in, spv_id, n + 1);
    l.places = arena_new_n(g->in, size_t, n + 1);
    emit_do(g, SPV_BRANCH, l.header);
    spv_block(&g->s, l.header);
    for (uint32_t i = 0; i < n; i++) {
        l.types[i] = types[i];
        l.at[i] = spv_phi(&g->s, types[i], 2, (uint32_t[]){first[i], before, 0, 0}, &l.places[i]);
    }
    emit_do(g, SPV_LOOP_MERGE, l.merge, l.next, control);
    emit_do(g, SPV_BRANCH, body);
    spv_block(&g->s, body);
    return l;
}

sv_loop
sv_loop_begin(gen *g, uint32_t n, const spv_id *types, const spv_id *first)
{
    return begin_loop(g, 0, n, types, first);
}

sv_loop
sv_rolled_begin(gen *g, uint32_t n, const spv_id *types, const spv_id *first)
{
    enum { DONT_UNROLL = 2 };
    return begin_loop(g, DONT_UNROLL, n, types, first);
}

void
sv_exit_if(gen *g, sv_loop *l, spv_id condition, uint32_t n, const spv_id *values)
{
    spv_id stay = spv_new(&g->s);
    l->results = n;
    vec_push(&l->exits, block_here(g));
    for (uint32_t i = 0; i < n; i++)
        vec_push(&l->exits, values[i]);
    emit_do(g, SPV_BRANCH_IF, condition, l->merge, stay);
    spv_block(&g->s, stay);
}

void
sv_loop_end(gen *g, sv_loop *l, const spv_id *next)
{
    emit_do(g, SPV_BRANCH, l->next);
    spv_block(&g->s, l->next);
    for (uint32_t i = 0; i < l->n; i++)
        spv_tell(&g->s, l->places[i], 1, next[i], l->next);
    emit_do(g, SPV_BRANCH, l->header);
    spv_block(&g->s, l->merge);
}

void
sv_loop_results(gen *g, sv_loop *l, const spv_id *types, spv_id *results)
{
    uint32_t each = 1 + l->results, n = (uint32_t)(l->exits.n / each);
    uint32_t *sources = arena_new_n(g->in, uint32_t, 2 * n + 1);
    for (uint32_t r = 0; r < l->results; r++) {
        for (uint32_t i = 0; i < n; i++) {
            sources[2 * i] = l->exits.at[i * each + 1 + r];
            sources[2 * i + 1] = l->exits.at[i * each];
        }
        results[r] = spv_phi(&g->s, types[r], n, sources, NULL);
    }
}

/* The first carried value is the counter. */
sv_loop
sv_count(gen *g, spv_id from, spv_id to, uint32_t n, const spv_id *types, const spv_id *first)
{
    spv_id *all = arena_new_n(g->in, spv_id, 2 * n + 2), *of = all + n + 1;
    all[0] = from;
    of[0] = g->u64;
    for (uint32_t i = 0; i < n; i++) {
        all[1 + i] = first[i];
        of[1 + i] = types[i];
    }
    sv_loop l = sv_loop_begin(g, n + 1, of, all);
    sv_exit_if(g, &l, emit(g, SPV_S_GREATER_EQUAL, g->truth, l.at[0], to), n, l.at + 1);
    return l;
}

void
sv_count_end(gen *g, sv_loop *l, spv_id step, const spv_id *next)
{
    spv_id *all = arena_new_n(g->in, spv_id, l->n);
    for (uint32_t i = 1; i < l->n; i++)
        all[i] = next[i - 1];
    all[0] = emit(g, SPV_I_ADD, g->u64, l->at[0], step);
    sv_loop_end(g, l, all);
}

/* -- ops ------------------------------------------------------------------------------------------------------------- */

static spv_id *
yielded(gen *g, const ir_op *yield, uint32_t from)
{
    spv_id *values = arena_new_n(g->in, spv_id, yield->nargs + 1);
    for (uint32_t i = from; i < yield->nargs; i++)
        values[i - from] = sv_get(g, yield->args[i]);
    return values;
}

void
sv_if_op(gen *g, const ir_op *op)
{
    if (sv_bet_if(g, op))
        return;
    spv_id merge = spv_new(&g->s), arms[2] = {spv_new(&g->s), spv_new(&g->s)}, *values[2], ends[2];
    spv_id condition = sv_get(g, op->args[0]);
    emit_do(g, SPV_SELECTION_MERGE, merge, 0);
    emit_do(g, SPV_BRANCH_IF, condition, arms[0], arms[1]);
    for (int i = 0; i < 2; i++) {
        spv_block(&g->s, arms[i]);
        sv_region(g, op->regions[i]);
        values[i] = yielded(g, ir_terminator(op->regions[i]), 0);
        ends[i] = block_here(g);
        emit_do(g, SPV_BRANCH, merge);
    }
    spv_block(&g->s, merge);
    for (uint32_t r = 0; r < op->nresults && !g->failed; r++) {
        uint32_t sources[4] = {values[0][r], ends[0], values[1][r], ends[1]};
        sv_set(g, op->results[r], spv_phi(&g->s, sv_type(g, op->results[r]->type), 2, sources, NULL));
    }
}

static spv_id *
types_of(gen *g, ir_value *const *values, uint32_t n)
{
    spv_id *types = arena_new_n(g->in, spv_id, n + 1);
    for (uint32_t i = 0; i < n; i++)
        types[i] = sv_type(g, values[i]->type);
    return types;
}

/* how many iterations it has, u64 */
static spv_id
trips(gen *g, const ir_op *op, rg_dtype d)
{
    bool up = op->attr.step > 0;
    spv_id lo = sv_wide(g, op->args[0]), hi = sv_wide(g, op->args[1]), from = up ? lo : hi, to = up ? hi : lo;
    spv_id some = sv_compare(g, RG_OP_LT, ir_is_signed(d) ? RG_I64 : RG_U64, from, to);
    uint64_t step = up ? (uint64_t)op->attr.step : 0 - (uint64_t)op->attr.step;
    spv_id last = emit(g, SPV_I_SUB, g->u64, emit(g, SPV_I_SUB, g->u64, to, from), sv_u64(g, 1));
    if (step > 1)
        last = sv_quotient64(g, last, sv_u64(g, step));
    return sv_choose(g, g->u64, some, sv_add(g, last, 1), sv_u64(g, 0));
}

/* The iterations up to `end`, from `at` on: its number, the index, carried values. `at` then holds what they are behind the last one. */
static void
count_up(gen *g, const ir_op *op, spv_id end, const spv_id *types, spv_id *at)
{
    const ir_region *body = op->regions[0];
    uint32_t n = op->nresults;
    rg_dtype d = ir_dtype(body->params[0]);
    sv_loop l = sv_loop_begin(g, n + 2, types, at);
    sv_exit_if(g, &l, sv_is(g, l.at[0], end), n + 2, l.at);
    for (uint32_t i = 0; i <= n; i++)
        sv_set(g, body->params[i], l.at[1 + i]);
    sv_region(g, body);
    if (g->failed)
        return;
    spv_id *values = yielded(g, ir_terminator(body), 0), step = sv_const(g, d, (uint64_t)op->attr.step);
    at[0] = sv_add(g, l.at[0], 1);
    at[1] = sv_scalar(g, RG_OP_ADD, d, d, (spv_id[3]){l.at[1], step});
    memcpy(at + 2, values, n * sizeof *at);
    if (sv_polls_of(g, op).each)
        sv_poll(g, op, ir_work(body));
    sv_loop_end(g, &l, at);
    sv_loop_results(g, &l, types, at);
}

/* As many iterations at a time as may run without a look. */
static void
count_in_strips(gen *g, const ir_op *op, spv_id count, int64_t strip, const spv_id *types, spv_id *at)
{
    uint32_t n = op->nresults + 2;
    sv_loop l = sv_loop_begin(g, n, types, at);
    spv_id length = sv_u64(g, (uint64_t)strip), left = emit(g, SPV_I_SUB, g->u64, count, l.at[0]);
    spv_id is_last = emit(g, SPV_U_LESS_EQUAL, g->truth, left, length);
    spv_id end = sv_choose(g, g->u64, is_last, count, emit(g, SPV_I_ADD, g->u64, l.at[0], length));
    memcpy(at, l.at, n * sizeof *at);
    count_up(g, op, end, types, at);
    if (g->failed)
        return;
    sv_exit_if(g, &l, is_last, n, at);
    sv_poll(g, op, strip * ir_work(op->regions[0]));
    sv_loop_end(g, &l, at);
    sv_loop_results(g, &l, types, at);
}

/* Counted by a number of its own, so that an index may go up to its type's end. */
void
sv_for(gen *g, const ir_op *op)
{
    uint32_t n = op->nresults;
    rg_dtype d = ir_dtype(op->regions[0]->params[0]);
    spv_id count = trips(g, op, d), *at = arena_new_n(g->in, spv_id, n + 2), *types = arena_new_n(g->in, spv_id, n + 2);
    int64_t strip = sv_polls_of(g, op).strip;
    at[0] = sv_u64(g, 0);
    types[0] = g->u64;
    at[1] = sv_get(g, op->args[0]);
    types[1] = sv_register(g, d);
    for (uint32_t i = 0; i < n; i++) {
        at[2 + i] = sv_get(g, op->args[2 + i]);
        types[2 + i] = sv_type(g, op->results[i]->type);
    }
    if (strip)
        count_in_strips(g, op, count, strip, types, at);
    else
        count_up(g, op, count, types, at);
    for (uint32_t i = 0; i < n && !g->failed; i++)
        sv_set(g, op->results[i], at[2 + i]);
}

void
sv_loop_op(gen *g, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    uint32_t n = body->nparams;
    spv_id *first = arena_new_n(g->in, spv_id, n + 1), *results = arena_new_n(g->in, spv_id, op->nresults + 1);
    for (uint32_t i = 0; i < n; i++)
        first[i] = sv_get(g, op->args[i]);
    sv_loop l = sv_loop_begin(g, n, types_of(g, body->params, n), first);
    for (uint32_t i = 0; i < n; i++)
        sv_set(g, body->params[i], l.at[i]);
    sv_late *late = sv_late_begin(g);
    for (const ir_op *o = body->first; o && !g->failed; o = o->next) {
        if (ir_ends_late(o))
            sv_late_add(g);
        if (o->code == RG_OP_EXIT_IF) {
            sv_exit_if(g, &l, sv_get(g, o->args[0]), op->nresults, yielded(g, o, 1));
            continue;
        }
        o = sv_straight(g, o);
    }
    sv_late_end(g, late);
    if (g->failed)
        return;
    const spv_id *next = yielded(g, ir_terminator(body), 0);
    if (sv_polls_of(g, op).each)
        sv_poll(g, op, ir_work(body));
    sv_loop_end(g, &l, next);
    sv_loop_results(g, &l, types_of(g, op->results, op->nresults), results);
    for (uint32_t i = 0; i < op->nresults; i++)
        sv_set(g, op->results[i], results[i]);
}
