/* Quotients, roots and functions with slow paths in straight code: a bet that no operand is out of the common.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the device's quotients are approximations (scalar.c), each has a fast way and a question whether that was good enough. In a
 * run of ops all are computed the fast way, the answers come together, and one branch behind the last does once more, the slow way,
 * what depends on any of them:
 *
 *   %v1 = div %v0, %k   %v2 = add %v1, %k   %v3 = sqrt %v2   (fast)
 *   if (does not fit %v0, %k or %v2) { the same, slow }
 *
 * Drivers put functions where they are called, so there is one copy of the slow way for all quotients of a run (make_in_loop).
 * codegen/llvm/bet.c does the same on GPUs for which LLVM makes code. */
#include "codegen/spirv/gen.h"

#include "analysis/straight.h"
#include "analysis/uses.h"

/* ops between two that ask, of which none does; how many may ask; and from how many on the slow way is a loop */
enum { APART = 24, MOST = 16, ROLLED = 2 };

/* What is known of the values of a function, by id. */
struct sv_again {
    uint32_t *uses, *within; /* within: by ops of the run that are computed once more, but for choices: a sum looks behind those (late.c) */
    bool *depends;           /* on what the run asks about */
};

typedef struct run {
    const ir_op *first, *last;
    bool lanes; /* whatever asks does so for each lane */
} run;

static struct sv_again *
again_of(gen *g)
{
    uint64_t key = hash_bytes(0, &g->ir, sizeof g->ir);
    struct sv_again *a = map_get(&g->again, key);
    if (a)
        return a;
    a = arena_one(g->in, struct sv_again);
    a->uses = ir_count_uses(g->in, g->ir);
    a->within = arena_new_n(g->in, uint32_t, g->ir->next_id + 1);
    a->depends = arena_new_n(g->in, bool, g->ir->next_id + 1);
    map_set(&g->again, key, a);
    return a;
}

/* -- which ops ------------------------------------------------------------------------------------------------------- */

/* An if whose first arm is a slow path: calls alone, and the other arm is what there was. So no quotient is in either. */
static bool
is_rare(const ir_op *op)
{
    bool calls = false;
    if (op->code != RG_OP_IF || op->regions[1]->first->code != RG_OP_YIELD)
        return false;
    for (const ir_op *o = op->regions[0]->first; o; o = o->next) {
        if (o->code != RG_OP_CALL && o->code != RG_OP_CONST && o->code != RG_OP_YIELD)
            return false;
        calls |= o->code == RG_OP_CALL;
    }
    return calls;
}

/* straight code with something in it that asks */
bool
sv_function_asks(gen *g, const ir_fn *fn)
{
    bool asks = false;
    for (const ir_op *op = fn->body->first; op; op = op->next) {
        bool rare = is_rare(op);
        if (!rare && op->code != RG_OP_YIELD && !ir_is_sure(op, fn->body->first))
            return false;
        asks |= rare || sv_asks(g, op);
    }
    return asks;
}

static run
find_run(gen *g, const ir_op *first)
{
    run r = {first, first, true};
    uint32_t asking = 0, apart = 0;
    for (const ir_op *op = first; op && apart <= APART && asking < MOST; op = op->next) {
        if (op->code == RG_OP_YIELD || !ir_is_sure(op, first))
            break;
        apart += op->code != RG_OP_CONST;
        if (!sv_asks(g, op))
            continue;
        r.last = op;
        r.lanes &= op->results[0]->type.lanes != 0;
        asking++;
        apart = 0;
    }
    return r;
}

/* marks what depends on an op that asks; undone by forget_run */
static void
look_at_run(gen *g, struct sv_again *a, const run *r)
{
    for (const ir_op *op = r->first; op != r->last->next; op = op->next) {
        bool depends = sv_asks(g, op);
        for (uint32_t i = 0; i < op->nargs; i++)
            depends |= a->depends[op->args[i]->id];
        for (uint32_t i = 0; depends && op->code != RG_OP_SELECT && i < op->nargs; i++)
            a->within[op->args[i]->id]++;
        if (depends)
            a->depends[op->results[0]->id] = true;
    }
}

static void
forget_run(struct sv_again *a, const run *r)
{
    for (const ir_op *op = r->first; op != r->last->next; op = op->next) {
        for (uint32_t i = 0; i < op->nargs; i++)
            a->within[op->args[i]->id] = 0;
        for (uint32_t i = 0; i < op->nresults; i++)
            a->depends[op->results[i]->id] = false;
    }
}

/* -- quotients and roots of a bet ------------------------------------------------------------------------------------ */

enum { KINDS = 4 }; /* quotients and roots, of f32 and f64 */

struct sv_bet {
    spv_id lost; /* whether it is */
    bool again;  /* what is made is the slow way */
    vec(uint32_t) kinds; /* of those that ask, in their order */
    /* of the loop over them, in which one more is known in each iteration. known NULL: there is none */
    const spv_id *known;
    spv_id which;
    uint32_t next;
    sv_near chosen[KINDS];
};

static uint32_t
near_kind(const sv_near *q)
{
    return (q->n - 1) + 2 * (q->d == RG_F64);
}

bool
sv_bet_is_lost(const gen *g)
{
    return g->bet && g->bet->again;
}

spv_id
sv_bet_near(gen *g, const sv_near *q, spv_id fast, spv_id fits)
{
    struct sv_bet *bet = g->bet;
    if (bet) {
        vec_push(&bet->kinds, near_kind(q));
        bet->lost = sv_or(g, bet->lost, sv_not(g, fits));
        return fast;
    }
    sv_branch b = sv_if(g, sv_not(g, fits));
    spv_id result = sv_slow_way(g, q);
    sv_end_if(g, &b);
    return sv_made(g, &b, sv_register(g, q->d), result, fast);
}

spv_id
sv_bet_slow(gen *g, const sv_near *q)
{
    struct sv_bet *bet = g->bet;
    if (!bet->known)
        return sv_slow_way(g, q);
    sv_near *chosen = &bet->chosen[near_kind(q)];
    spv_id is_next = sv_is(g, bet->which, sv_u32(g, bet->next));
    for (uint32_t i = 0; i < q->n; i++)
        chosen->args[i] = chosen->n ? sv_choose(g, sv_register(g, q->d), is_next, q->args[i], chosen->args[i]) : q->args[i];
    chosen->n = q->n;
    chosen->d = q->d;
    return bet->known[bet->next++];
}

/* -- both ways ------------------------------------------------------------------------------------------------------- */

typedef struct kept_value {
    const ir_value *value;
    spv_id fast;
    bool lasts;
} kept_value;

typedef vec(kept_value) kept_values;

static kept_values
kept_of_run(gen *g, const struct sv_again *a, const run *r)
{
    kept_values kept = {.in = g->in};
    for (const ir_op *op = r->first; op != r->last->next; op = op->next) {
        const ir_value *v = op->results[0];
        bool lasts = a->uses[v->id] > a->within[v->id] || !ir_is_float(ir_dtype(v));
        if (a->depends[v->id])
            vec_push(&kept, ((kept_value){v, sv_get(g, v), lasts}));
    }
    return kept;
}

static void
make_kept_again(gen *g, const kept_values *kept)
{
    for (size_t i = 0; i < kept->n && !g->failed; i++)
        sv_one_op(g, kept->at[i].value->def);
}

/* One slow way for all of a kind, in a loop: each iteration makes the run with what is known, and then one more.
 *
 *   for (which = 0;; which++) {
 *       v1 = known0; v2 = v1 + k; v3 = known1; x = which == 0 ? v0 : v2 ...
 *       if (which == 2) break;
 *       known[which] = slow(x ...);
 *   } */
static void
make_in_loop(gen *g, const kept_values *kept)
{
    struct sv_bet *bet = g->bet;
    uint32_t n = (uint32_t)bet->kinds.n;
    spv_id *types = arena_new_n(g->in, spv_id, n + 1), *values = arena_new_n(g->in, spv_id, n + 1), slow[KINDS] = {0};
    for (uint32_t k = 0; k < n; k++) {
        rg_dtype d = bet->kinds.at[k] < 2 ? RG_F32 : RG_F64;
        types[k] = sv_register(g, d);
        values[k] = sv_const(g, d, 0);
    }
    types[n] = g->u32;
    values[n] = sv_u32(g, 0);
    sv_loop l = sv_rolled_begin(g, n + 1, types, values);
    bet->known = l.at;
    bet->which = l.at[n];
    make_kept_again(g, kept);
    sv_exit_if(g, &l, sv_is(g, bet->which, sv_u32(g, n)), 0, NULL);
    for (uint32_t k = 0; k < n && !g->failed; k++) {
        uint32_t kind = bet->kinds.at[k];
        slow[kind] = slow[kind] ? slow[kind] : sv_slow_way(g, &bet->chosen[kind]);
        values[k] = sv_choose(g, types[k], sv_is(g, bet->which, sv_u32(g, k)), slow[kind], l.at[k]);
    }
    values[n] = emit(g, SPV_I_ADD, g->u32, bet->which, sv_u32(g, 1));
    sv_loop_end(g, &l, values);
}

static void
once_more(gen *g, const kept_values *kept, spv_id lost)
{
    struct sv_bet *bet = g->bet;
    spv_id *slow = arena_new_n(g->in, spv_id, kept->n + 1);
    sv_branch b = sv_if(g, lost);
    bet->again = true;
    if (bet->kinds.n >= ROLLED)
        make_in_loop(g, kept);
    else
        make_kept_again(g, kept);
    for (size_t i = 0; i < kept->n && !g->failed; i++)
        slow[i] = sv_get(g, kept->at[i].value);
    sv_end_if(g, &b);
    for (size_t i = 0; i < kept->n; i++) {
        const kept_value *k = &kept->at[i];
        sv_set(g, k->value, k->lasts ? sv_made(g, &b, sv_type(g, k->value->type), slow[i], k->fast) : 0);
    }
}

static void
generate_run(gen *g, const run *r)
{
    struct sv_again *a = again_of(g);
    struct sv_bet bet = {.lost = spv_truth(&g->s, false), .kinds.in = g->in};
    g->bet = &bet;
    for (const ir_op *op = r->first; op != r->last->next && !g->failed; op = op->next)
        sv_one_op(g, op);
    if (!g->failed && bet.lost != spv_truth(&g->s, false)) {
        /* what is the same in all lanes has to stay so */
        const ir_value *lanes = r->lanes ? ir_taking_part(r->first) : NULL;
        look_at_run(g, a, r);
        kept_values kept = kept_of_run(g, a, r);
        once_more(g, &kept, lanes ? sv_and(g, bet.lost, sv_get(g, lanes)) : bet.lost);
        forget_run(a, r);
    }
    g->bet = NULL;
}

const ir_op *
sv_straight(gen *g, const ir_op *op)
{
    if (g->bet || !sv_asks(g, op)) {
        sv_one_op(g, op);
        return op;
    }
    run r = find_run(g, op);
    if (r.first == r.last && sv_is_library_op(op))
        sv_one_op(g, op); /* it bets by itself */
    else
        generate_run(g, &r);
    return r.last;
}

/* A slow path within a bet: its condition is kept, and the fast way gone. */
bool
sv_bet_if(gen *g, const ir_op *op)
{
    if (!g->bet || g->bet->again || !is_rare(op))
        return false;
    const ir_op *yield = ir_terminator(op->regions[1]);
    g->bet->lost = sv_or(g, g->bet->lost, sv_get(g, op->args[0]));
    sv_region(g, op->regions[1]);
    for (uint32_t i = 0; i < op->nresults; i++)
        sv_set(g, op->results[i], sv_get(g, yield->args[i]));
    return true;
}
