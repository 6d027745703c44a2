/* Ifs and loops: regions become blocks, carried values phis. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rows.h"
#include "codegen/llvm/nvidia.h"

LLVMValueRef *
gen_yielded(gen *g, const ir_region *r, uint32_t n)
{
    const ir_op *yield = ir_terminator(r);
    LLVMValueRef *values = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    for (uint32_t i = 0; i < n; i++)
        values[i] = gen_get(g, yield->args[i]);
    return values;
}

/* what a region yields for each group */
static LLVMValueRef *
yielded_groups(gen *g, const ir_region *r, const group *groups, uint32_t n)
{
    const ir_op *yield = ir_terminator(r);
    LLVMValueRef *values = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    for (uint32_t i = 0; i < n; i++)
        values[i] = gen_get_group(g, yield->args + groups[i].first, groups[i].n);
    return values;
}

static LLVMValueRef
phi(gen *g, ir_value *const *values, const group *of)
{
    const ir_value *v = values[of->first];
    return LLVMBuildPhi(g->b, gen_group_type(g, v, of->n), v->name ? v->name : "");
}

static LLVMValueRef
set_phi(gen *g, ir_value *const *values, const group *of)
{
    LLVMValueRef made = phi(g, values, of);
    gen_set_group(g, values + of->first, of->n, made);
    return made;
}

/* Whether it makes no difference which arm runs where one thread does: additions, plain or atomic. */
static bool
differ_by_atomic(const ir_region *a, const ir_region *b)
{
    const ir_op *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (x->code == RG_OP_YIELD && y->code == RG_OP_YIELD)
            return x->nargs == 0 && y->nargs == 0;
        if (x->code != RG_OP_RMW || y->code != RG_OP_RMW || x->nargs != y->nargs || x->nresults ||
            y->nresults || x->rmw != y->rmw || x->plane != y->plane || x->direction != y->direction)
            return false;
        for (uint32_t i = 0; i < x->nargs; i++)
            if (x->args[i] != y->args[i])
                return false;
    }
    return false;
}

/* a slow path of a math function: there are no others */
static bool
has_call(const ir_region *r)
{
    ir_for_ops (op, r)
        if (op->code == RG_OP_CALL)
            return true;
    return false;
}

/* -- ifs: else-ifs are one choice, with one place where they meet ------------------------------------------------------- */
/* LLVM would find that out in a time that grows with the square of their number. */
enum { CASES = 4 /* at least, for a switch */ };

typedef struct arm {
    LLVMValueRef *values;
    LLVMBasicBlockRef end;
} arm;

typedef struct choice {
    const ir_op **ifs; /* each but the first is all that its predecessor's else has, but for tests */
    uint32_t n;
    arm *arms; /* theirs, and the last else */
    group *groups;
    uint32_t values;
} choice;

static bool
is_test(const ir_op *op)
{
    return op->code == RG_OP_CONST ||
           (ir_ops[op->code].form != IR_OTHER && op->results[0]->type.dtype == RG_BOOL && !op->results[0]->type.lanes);
}

/* NULL: there is none. GPUs know where lanes meet again by how ifs nest. */
static const ir_op *
else_if(const gen *g, const ir_op *op)
{
    const ir_op *yield = ir_terminator(op->regions[1]), *inner = yield->prev;
    if (g->target->warp || g->s->vectors || !inner || inner->code != RG_OP_IF || inner->nresults != op->nresults ||
        has_call(inner->regions[0]))
        return NULL;
    for (uint32_t i = 0; i < yield->nargs; i++)
        if (yield->args[i] != inner->results[i])
            return NULL;
    for (const ir_op *test = inner->prev; test; test = test->prev)
        if (!is_test(test))
            return NULL;
    return inner;
}

/* the integer that decides by being equal to a constant; NULL: something else decides */
static ir_value *
decides(const ir_op *branch, uint64_t *constant)
{
    const ir_op *test = branch->args[0]->def;
    if (!test || test->code != RG_OP_EQ || !ir_is_int((rg_dtype)test->args[0]->type.dtype) ||
        !ir_is_const(test->args[1], constant))
        return NULL;
    return test->args[0];
}

/* how many of the ifs from the k-th on are cases of one value */
static uint32_t
cases_from(const choice *c, uint32_t k)
{
    map seen = {.in = mem_scratch()};
    uint64_t constant = 0;
    uint32_t n = 0;
    const ir_value *value = decides(c->ifs[k], &constant);
    while (value && k + n < c->n && decides(c->ifs[k + n], &constant) == value && !map_get(&seen, hash_u64(1, constant))) {
        map_set(&seen, hash_u64(1, constant), (void *)1);
        n++;
    }
    return n;
}

static void
gen_arm(gen *g, choice *c, uint32_t k, const ir_region *r)
{
    g->aside++;
    gen_region(g, r);
    g->aside--;
    c->arms[k] = (arm){yielded_groups(g, r, c->groups, c->values), gen_here(g)};
}

/* what stands before the next if */
static void
gen_tests(gen *g, const choice *c, uint32_t k)
{
    if (k + 1 == c->n)
        return;
    for (const ir_op *op = c->ifs[k]->regions[1]->first; op != c->ifs[k + 1]; op = op->next)
        gen_op(g, op);
}

/* the n ifs from the k-th on; goes on in the last one's else */
static void
gen_cases(gen *g, choice *c, uint32_t k, uint32_t n)
{
    uint64_t constant;
    for (uint32_t i = 0; i + 1 < n; i++)
        gen_tests(g, c, k + i);
    LLVMBasicBlockRef other = gen_block(g, "else");
    LLVMValueRef choose = LLVMBuildSwitch(g->b, gen_get(g, decides(c->ifs[k], &constant)), other, n);
    for (uint32_t i = 0; i < n; i++) {
        const ir_op *branch = c->ifs[k + i];
        LLVMBasicBlockRef block = gen_block(g, "case");
        LLVMAddCase(choose, gen_get(g, branch->args[0]->def->args[1]), block);
        gen_at(g, block);
        gen_arm(g, c, k + i, branch->regions[0]);
    }
    gen_at(g, other);
}

static void
gen_branch(gen *g, choice *c, uint32_t k)
{
    const ir_op *op = c->ifs[k];
    LLVMBasicBlockRef then = gen_block(g, "then"), other = gen_block(g, "else");
    LLVMValueRef branch = LLVMBuildCondBr(g->b, gen_get(g, op->args[0]), then, other);
    if (has_call(op->regions[0]))
        gen_unlikely(g, branch, false);
    gen_at(g, then);
    gen_arm(g, c, k, op->regions[0]);
    gen_at(g, other);
}

static void
gen_meeting(gen *g, const ir_op *op, const choice *c)
{
    LLVMBasicBlockRef after = gen_block(g, "endif");
    for (uint32_t i = 0; i <= c->n; i++) {
        gen_at(g, c->arms[i].end);
        LLVMBuildBr(g->b, after);
    }
    gen_at(g, after);
    for (uint32_t v = 0; v < c->values; v++) {
        LLVMValueRef joined = set_phi(g, op->results, &c->groups[v]);
        for (uint32_t i = 0; i <= c->n; i++)
            LLVMAddIncoming(joined, &c->arms[i].values[v], &c->arms[i].end, 1);
    }
}

void
gen_if(gen *g, const ir_op *op)
{
    bool plain = g->s->decided && rows_plain(op->parent->op, op) != op;
    if (plain || (gen_is_alone(g) && differ_by_atomic(op->regions[0], op->regions[1]))) {
        gen_region(g, op->regions[0]);
        return;
    }
    if (g->bet && has_call(op->regions[0])) {
        gen_bet_if(g, op);
        return;
    }
    choice c = {0};
    for (const ir_op *branch = op; branch; branch = else_if(g, branch))
        c.n++;
    c.ifs = arena_new_n(g->scratch, const ir_op *, c.n);
    c.arms = arena_new_n(g->scratch, arm, c.n + 1);
    c.ifs[0] = op;
    for (uint32_t k = 1; k < c.n; k++)
        c.ifs[k] = else_if(g, c.ifs[k - 1]);
    c.groups = gen_groups(g, op, true, op->nresults, &c.values);
    for (uint32_t k = 0, n; k < c.n; k += n) {
        n = cases_from(&c, k);
        if (n >= CASES)
            gen_cases(g, &c, k, n);
        else
            gen_branch(g, &c, k), n = 1;
        gen_tests(g, &c, k + n - 1);
    }
    gen_arm(g, &c, c.n, c.ifs[c.n - 1]->regions[1]);
    gen_meeting(g, op, &c);
}

/* How often `for` runs: the distance, rounded up to whole steps, or 0. Distances are taken modulo
 * 2^64 after widening, where they cannot overflow as unsigned numbers. */
static LLVMValueRef
loop_trip_count(gen *g, bool is_signed, int64_t step, LLVMValueRef lo, LLVMValueRef hi)
{
    LLVMBuilderRef b = g->b;
    LLVMIntPredicate before = is_signed ? LLVMIntSLT : LLVMIntULT;
    LLVMValueRef from = step > 0 ? lo : hi, to = step > 0 ? hi : lo;
    LLVMValueRef some = LLVMBuildICmp(b, before, from, to, "");
    LLVMValueRef distance = LLVMBuildSub(b, to, from, "");
    uint64_t size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    if (size > 1) { /* (d - 1) / size + 1, which does not overflow */
        LLVMValueRef less = LLVMBuildSub(b, distance, gen_i64(g, 1), "");
        LLVMValueRef whole = LLVMBuildUDiv(b, less, gen_i64(g, (int64_t)size), "");
        distance = LLVMBuildAdd(b, whole, gen_i64(g, 1), "");
    }
    return LLVMBuildSelect(b, some, distance, gen_i64(g, 0), "trips");
}

/* What a `for` counts by: its index, which runs in `type`, and for steps other than 1 the trips beside it. */
typedef struct counter {
    LLVMTypeRef type;
    bool by_one, is_signed;
    LLVMValueRef lo, hi, trips, some;
    LLVMValueRef end; /* of this strip: hi, or the trips, or less */
    LLVMValueRef index, trip, next_index, next_trip;
} counter;

/* GPUs do in two steps what has 64 bits; CPUs address with it. An index of fewer bits is one step from its end at most, so
 * it does not overflow before the loop ends. */
static LLVMValueRef
bound_of(gen *g, const counter *c, const ir_value *v)
{
    if (c->type == g->i64)
        return gen_wide(g, v);
    LLVMValueRef bound = gen_get(g, v);
    return c->is_signed ? LLVMBuildSExt(g->b, bound, c->type, "") : LLVMBuildZExt(g->b, bound, c->type, "");
}

/* numbers of fewer bits do not overflow in 64 */
static bool
counts_signed(const gen *g, const counter *c)
{
    return c->is_signed || c->type == g->i64;
}

static counter
loop_counter_of(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    bool narrow = ir_bits(d) < 64;
    counter c = {.type = narrow && g->target->warp ? g->i32 : g->i64, .by_one = op->attr.step == 1 && narrow,
                 .is_signed = ir_is_signed(d)};
    c.lo = bound_of(g, &c, op->args[0]);
    c.hi = bound_of(g, &c, op->args[1]);
    if (c.by_one) {
        c.some = LLVMBuildICmp(g->b, counts_signed(g, &c) ? LLVMIntSLT : LLVMIntULT, c.lo, c.hi, "");
        return c;
    }
    LLVMValueRef trips = loop_trip_count(g, c.is_signed, op->attr.step, gen_wide(g, op->args[0]), gen_wide(g, op->args[1]));
    c.trips = LLVMBuildTrunc(g->b, trips, c.type, "");
    c.some = LLVMBuildICmp(g->b, LLVMIntNE, c.trips, LLVMConstNull(c.type), "");
    return c;
}

/* whether the loop goes on */
static LLVMValueRef
counter_next(gen *g, counter *c, int64_t step)
{
    LLVMValueRef by = LLVMConstInt(c->type, (uint64_t)step, true);
    if (!c->by_one) {
        c->next_index = LLVMBuildAdd(g->b, c->index, by, "");
        c->next_trip = LLVMBuildNUWAdd(g->b, c->trip, LLVMConstInt(c->type, 1, false), "");
        return LLVMBuildICmp(g->b, LLVMIntNE, c->next_trip, c->end, "");
    }
    bool is_signed = counts_signed(g, c);
    c->next_index = is_signed ? LLVMBuildNSWAdd(g->b, c->index, by, "") : LLVMBuildNUWAdd(g->b, c->index, by, "");
    LLVMIntPredicate before = c->end != c->hi ? LLVMIntNE : is_signed ? LLVMIntSLT : LLVMIntULT; /* a strip is not empty */
    return LLVMBuildICmp(g->b, before, c->next_index, c->end, "");
}

/* The test stands at the end, behind one test before the loop. */
void
gen_one_for(gen *g, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    uint32_t n;
    group *groups = gen_groups(g, op, false, op->nresults, &n);
    counter c = loop_counter_of(g, op);
    LLVMValueRef *init = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    for (uint32_t k = 0; k < n; k++)
        init[k] = gen_get_group(g, op->args + 2 + groups[k].first, groups[k].n);

    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "for"), after = gen_block(g, "endfor");
    gen_strips strips = gen_strips_begin(g, op, c.by_one ? c.hi : c.trips, c.by_one && counts_signed(g, &c));
    LLVMBuildCondBr(g->b, c.some, gen_strips_enter(&strips, loop), after);
    gen_at(g, loop);
    c.index = LLVMBuildPhi(g->b, c.type, "index");
    c.trip = c.by_one ? NULL : LLVMBuildPhi(g->b, c.type, "trip");
    strips.counter = c.by_one ? c.index : c.trip;
    c.end = strips.end;
    LLVMValueRef *carried = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    for (uint32_t k = 0; k < n; k++)
        carried[k] = set_phi(g, body->params + 1, &groups[k]);
    /* behind the loop's phis: the index as the program has it */
    LLVMTypeRef type = gen_type(g, (rg_dtype)body->params[0]->type.dtype);
    if (c.type == g->i64)
        g->s->wide[body->params[0]->id] = c.index;
    gen_set(g, body->params[0], type == c.type ? c.index : LLVMBuildTrunc(g->b, c.index, type, ""));
    uint32_t aside = g->aside;
    g->aside = 0;
    gen_region(g, body);
    g->aside = aside;
    LLVMValueRef *next = yielded_groups(g, body, groups, n);
    gen_poll_each(g, op);
    gen_way_back(g, body);
    LLVMValueRef again = counter_next(g, &c, op->attr.step);
    LLVMBasicBlockRef from[2] = {before, gen_strips_close(g, &strips, before, loop, again, after)};
    gen_strips_carry(g, &strips, c.index, c.lo, c.next_index);
    if (c.trip)
        gen_strips_carry(g, &strips, c.trip, LLVMConstNull(c.type), c.next_trip);
    LLVMMoveBasicBlockAfter(after, gen_here(g));
    gen_at(g, after);
    for (uint32_t k = 0; k < n; k++) {
        gen_strips_carry(g, &strips, carried[k], init[k], next[k]);
        LLVMAddIncoming(set_phi(g, op->results, &groups[k]), (LLVMValueRef[]){init[k], next[k]}, from, 2);
    }
}

void
gen_for(gen *g, const ir_op *op)
{
    if (!gen_for_versions(g, op))
        gen_one_for(g, op);
}

/* whether op chooses, for lanes, what nobody asks for but exits of the loop: it is made where they leave */
static bool
is_for_leaving(const gen *g, const ir_region *body, const ir_op *op)
{
    uint32_t asked = 0;
    if (!g->uses || !op || op->code != RG_OP_SELECT || op->parent != body || !op->results[0]->type.lanes)
        return false;
    ir_for_ops (exit, body)
        for (uint32_t i = 1; exit->code == RG_OP_EXIT_IF && i < exit->nargs; i++)
            asked += exit->args[i] == op->results[0];
    return asked && asked == g->uses[op->results[0]->id];
}

/* Each exit_if adds an edge to the block after the loop. */
static void
gen_exit(gen *g, const ir_op *exit, LLVMBasicBlockRef after, const group *groups, uint32_t n,
         LLVMValueRef *results)
{
    gen_adds_before(g, exit);
    LLVMValueRef leaves = gen_get(g, exit->args[0]);
    LLVMBasicBlockRef leaving = gen_block(g, "leaving"), stay = gen_block(g, "stay");
    LLVMBuildCondBr(g->b, leaves, leaving, stay);
    gen_at(g, leaving);
    /* in the block of those who leave */
    for (uint32_t i = 1; i < exit->nargs; i++)
        if (is_for_leaving(g, exit->parent, exit->args[i]->def))
            gen_op(g, exit->args[i]->def);
    for (uint32_t k = 0; k < n; k++) {
        LLVMValueRef value = gen_get_group(g, exit->args + 1 + groups[k].first, groups[k].n);
        LLVMAddIncoming(results[k], &value, &leaving, 1);
    }
    LLVMBuildBr(g->b, after);
    gen_at(g, stay);
}

void
gen_loop(gen *g, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    uint32_t ncarried, nresults;
    group *groups = gen_groups(g, op, false, op->nargs, &ncarried);
    group *leaving = gen_groups(g, op, true, op->nresults, &nresults);
    LLVMValueRef *init = arena_new_n(g->scratch, LLVMValueRef, op->nargs + 1);
    for (uint32_t k = 0; k < ncarried; k++)
        init[k] = gen_get_group(g, op->args + groups[k].first, groups[k].n);
    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "loop"),
                      after = gen_block(g, "endloop");
    LLVMBuildBr(g->b, loop);
    gen_at(g, after);
    LLVMValueRef *results = arena_new_n(g->scratch, LLVMValueRef, op->nresults + 1);
    for (uint32_t k = 0; k < nresults; k++)
        results[k] = phi(g, op->results, &leaving[k]);
    gen_at(g, loop);
    LLVMValueRef *carried = arena_new_n(g->scratch, LLVMValueRef, op->nargs + 1);
    for (uint32_t k = 0; k < ncarried; k++) {
        carried[k] = set_phi(g, body->params, &groups[k]);
        LLVMAddIncoming(carried[k], &init[k], &before, 1);
    }
    gen_sums *sums = gen_sums_begin(g);
    uint32_t aside = g->aside;
    g->aside = 0;
    const ir_op *look = body->first;
    for (const ir_op *inner = body->first; inner; inner = inner->next) {
        if (ir_ends_late(inner))
            gen_sums_add(g);
        if (inner->code == RG_OP_EXIT_IF)
            gen_exit(g, inner, after, leaving, nresults, results);
        else if (inner->code != RG_OP_YIELD && !is_for_leaving(g, body, inner))
            inner = gen_straight(g, inner, &look);
        if (inner == look)
            look = inner->next;
    }
    gen_adds_end(g);
    gen_sums_end(g, sums);
    g->aside = aside;
    LLVMValueRef *next = yielded_groups(g, body, groups, ncarried);
    gen_poll_each(g, op);
    gen_way_back(g, body);
    LLVMBasicBlockRef end = gen_here(g);
    LLVMBuildBr(g->b, loop);
    for (uint32_t k = 0; k < ncarried; k++)
        LLVMAddIncoming(carried[k], &next[k], &end, 1);
    LLVMMoveBasicBlockAfter(after, end);
    gen_at(g, after);
    for (uint32_t k = 0; k < nresults; k++)
        gen_set_group(g, op->results + leaving[k].first, leaving[k].n, results[k]);
}
