/* Parallel loops. SPDX-License-Identifier: Apache-2.0
 *
 * One becomes a task: a function over a range of its linearised domain, called by the runtime with a
 * closure of what it uses from outside.
 *
 *   task(closure, lo, hi, worker)
 *     position of lo in the domain                  (the only division)
 *     for each run of the last index in [lo, hi):   the other indices stand still
 *       for each last index of the run: body
 *
 * A loop that rewinds runs from last to first: it counts the mirrored domain upwards. */
#include "codegen/llvm/gen.h"

enum { CLOSURE_ARGS, CLOSURE_PARTIALS, CLOSURE_CELLS, CLOSURE_ROW, CLOSURE_FIRST };

/* -- scopes ---------------------------------------------------------------------------------------- */

scope *
gen_scope_open(gen *g, const ir_region *region, LLVMValueRef fn, bool task)
{
    scope *s = arena_one(g->scratch, scope);
    uint32_t n = g->nbuffers * 8;
    s->outer = g->s;
    s->region = region;
    s->task = task;
    s->fn = fn;
    s->values = arena_new_n(g->scratch, LLVMValueRef, g->ir->next_id);
    s->wide = arena_new_n(g->scratch, LLVMValueRef, g->ir->next_id);
    s->planes = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    s->extents = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    s->strides = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    s->top = LLVMCreateBuilderInContext(g->context);
    g->s = s;
    LLVMBasicBlockRef entry = gen_block(g, "entry");
    s->body = gen_block(g, "body");
    LLVMPositionBuilderAtEnd(s->top, entry);
    gen_at(g, s->body);
    return s;
}

void
gen_scope_close(gen *g)
{
    LLVMBuildBr(g->s->top, g->s->body);
    LLVMDisposeBuilder(g->s->top);
    g->s = g->s->outer;
}

LLVMValueRef
gen_worker(gen *g)
{
    if (!g->s->worker)
        g->s->worker = gen_runtime_call(g, g->s->top, "rt_cpu_kernel_worker", g->ptr, 1,
                                        &g->s->launch);
    return g->s->worker;
}

/* -- what a task takes from outside ---------------------------------------------------------------- */

typedef struct capture {
    gen *g;
    const ir_region *region;
    bool *seen; /* by id */
    vec(const ir_value *) values;
    private_sum *sums;
    uint32_t nsums;
} capture;

static void
capture_value(capture *c, const ir_value *v)
{
    bool anywhere = (v->def && (v->def->code == RG_OP_CONST || v->def->code == RG_OP_TABLE)) ||
                    (!v->def && v->region == c->g->ir->body);
    if (anywhere || c->seen[v->id] || ir_region_inside(v->region, c->region))
        return;
    c->seen[v->id] = true;
    vec_push(&c->values, v);
}

static bool
capture_args(ir_op *op, void *user)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        capture_value(user, op->args[i]);
    return true;
}

/* -- how much work an iteration is ----------------------------------------------------------------- */

static int64_t
region_work(const ir_region *r)
{
    int64_t work = 0;
    ir_for_ops(op, r)
    {
        int64_t inner = 0;
        for (uint32_t i = 0; i < op->nregions; i++)
            inner += region_work(op->regions[i]);
        uint64_t lo, hi;
        if (op->code == RG_OP_LOOP || op->code == RG_OP_PARALLEL)
            inner *= 16;
        else if (op->code == RG_OP_FOR && ir_is_const(op->args[0], &lo) &&
                 ir_is_const(op->args[1], &hi) && hi > lo && op->attr.step > 0)
            inner *= (int64_t)((hi - lo) / (uint64_t)op->attr.step) + 1;
        else if (op->code == RG_OP_FOR)
            inner *= 16;
        work += inner + 1;
        if (work > 1000000)
            return 1000000;
    }
    return work;
}

/* -- the domain ------------------------------------------------------------------------------------ */

typedef struct domain {
    uint32_t rank;
    rg_dtype dtype;
    LLVMValueRef lo[RANK_MAX], count[RANK_MAX]; /* i64 */
    LLVMValueRef total;
    bool mirrored;
} domain;

static uint32_t
reductions(const ir_op *op)
{
    return op->nresults;
}

/* of op's operands, in the scope that evaluates them */
static domain
domain_of(gen *g, const ir_op *op)
{
    domain d = {.rank = op->attr.rank, .mirrored = op->rewinds};
    d.dtype = (rg_dtype)op->args[0]->type.dtype;
    LLVMIntPredicate before = ir_is_signed(d.dtype) ? LLVMIntSLT : LLVMIntULT;
    d.total = gen_i64(g, 1);
    for (uint32_t k = 0; k < d.rank; k++) {
        d.lo[k] = gen_wide(g, op->args[k]);
        LLVMValueRef hi = gen_wide(g, op->args[d.rank + k]);
        LLVMValueRef some = LLVMBuildICmp(g->b, before, d.lo[k], hi, "");
        d.count[k] = LLVMBuildSelect(g->b, some, LLVMBuildSub(g->b, hi, d.lo[k], ""),
                                     gen_i64(g, 0), "");
        d.total = LLVMBuildMul(g->b, d.total, d.count[k], "");
    }
    return d;
}

/* the loop's own index from its place in the (mirrored) domain */
static void
set_index(gen *g, const ir_op *op, const domain *d, uint32_t k, LLVMValueRef place)
{
    const ir_value *index = op->regions[0]->params[k];
    LLVMValueRef wide;
    if (d->mirrored) {
        LLVMValueRef last = LLVMBuildNSWAdd(g->b, d->lo[k], d->count[k], "");
        wide = LLVMBuildNSWSub(g->b, LLVMBuildNSWSub(g->b, last, gen_i64(g, 1), ""), place, "");
    } else {
        wide = LLVMBuildNSWAdd(g->b, d->lo[k], place, "");
    }
    g->s->wide[index->id] = wide;
    bool narrow = ir_bits(d->dtype) < 64;
    gen_set(g, index, narrow ? LLVMBuildTrunc(g->b, wide, gen_type(g, d->dtype), "") : wide);
}

/* Contributions are added up in f64 where they are narrower. */
static rg_dtype
sum_dtype(const ir_op *op, uint32_t r)
{
    rg_dtype d = (rg_dtype)op->results[r]->type.dtype;
    return op->reduce[r] == RG_RMW_ADD && ir_is_float(d) ? RG_F64 : d;
}

static LLVMValueRef
contribute(gen *g, const ir_op *op, uint32_t r, LLVMValueRef sum, LLVMValueRef value)
{
    rg_dtype d = (rg_dtype)op->results[r]->type.dtype, wide = sum_dtype(op, r);
    return gen_combine(g, (rg_rmw)op->reduce[r], wide, sum, gen_cast(g, d, wide, value));
}

/* A loop over [from, to), not empty, with carried sums; `body` is called to fill it. */
typedef struct counted {
    LLVMBasicBlockRef before, loop;
    LLVMValueRef at, to;
    LLVMValueRef *sums;
    uint32_t n;
} counted;

static counted
counted_begin(gen *g, LLVMValueRef from, LLVMValueRef to, uint32_t n, LLVMValueRef *sums)
{
    counted c = {.before = gen_here(g), .to = to, .n = n};
    c.sums = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    c.loop = gen_block(g, "each");
    LLVMBuildBr(g->b, c.loop);
    gen_at(g, c.loop);
    c.at = LLVMBuildPhi(g->b, g->i64, "at");
    LLVMAddIncoming(c.at, &from, &c.before, 1);
    for (uint32_t r = 0; r < n; r++) {
        c.sums[r] = LLVMBuildPhi(g->b, LLVMTypeOf(sums[r]), "sum");
        LLVMAddIncoming(c.sums[r], &sums[r], &c.before, 1);
    }
    return c;
}

static void
counted_end(gen *g, counted *c, LLVMValueRef *sums)
{
    LLVMValueRef next = LLVMBuildNSWAdd(g->b, c->at, gen_i64(g, 1), "");
    LLVMValueRef again = LLVMBuildICmp(g->b, LLVMIntSLT, next, c->to, "");
    LLVMBasicBlockRef end = gen_here(g), after = gen_block(g, "all");
    LLVMBuildCondBr(g->b, again, c->loop, after);
    LLVMAddIncoming(c->at, &next, &end, 1);
    for (uint32_t r = 0; r < c->n; r++)
        LLVMAddIncoming(c->sums[r], &sums[r], &end, 1);
    gen_at(g, after);
}

/* the iterations `from` <= place < `to` of the last index; replaces the sums by those after it */
static void
innermost(gen *g, const ir_op *op, const domain *d, LLVMValueRef from, LLVMValueRef to,
          LLVMValueRef *sums)
{
    uint32_t n = reductions(op);
    counted c = counted_begin(g, from, to, n, sums);
    set_index(g, op, d, d->rank - 1, c.at);
    gen_region(g, op->regions[0]);
    LLVMValueRef *values = gen_yielded(g, op->regions[0], n);
    for (uint32_t r = 0; r < n; r++)
        sums[r] = contribute(g, op, r, c.sums[r], values[r]);
    counted_end(g, &c, sums);
}

/* Runs of the last index. The others are carried: each moves on where those behind it wrapped. */
static void
rows(gen *g, const ir_op *op, const domain *d, LLVMValueRef lo, LLVMValueRef hi, LLVMValueRef *sums)
{
    uint32_t n = reductions(op), last = d->rank - 1;
    LLVMBuilderRef b = g->b;
    LLVMValueRef start[RANK_MAX], place[RANK_MAX], rest = lo, nil = gen_i64(g, 0);
    for (uint32_t k = d->rank; k-- > 0;) {
        start[k] = k ? LLVMBuildURem(b, rest, d->count[k], "") : rest;
        rest = k ? LLVMBuildUDiv(b, rest, d->count[k], "") : rest;
    }
    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "rows");
    LLVMBuildBr(b, loop);
    gen_at(g, loop);
    LLVMValueRef linear = LLVMBuildPhi(b, g->i64, "linear");
    LLVMAddIncoming(linear, &lo, &before, 1);
    for (uint32_t k = 0; k < d->rank; k++) {
        place[k] = LLVMBuildPhi(b, g->i64, "place");
        LLVMAddIncoming(place[k], &start[k], &before, 1);
    }
    LLVMValueRef *carried = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    for (uint32_t r = 0; r < n; r++) {
        carried[r] = LLVMBuildPhi(b, LLVMTypeOf(sums[r]), "sum");
        LLVMAddIncoming(carried[r], &sums[r], &before, 1);
        sums[r] = carried[r];
    }
    for (uint32_t k = 0; k < last; k++)
        set_index(g, op, d, k, place[k]);
    LLVMValueRef left = LLVMBuildSub(b, hi, linear, "");
    LLVMValueRef row = LLVMBuildSub(b, d->count[last], place[last], "");
    LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntSLT, left, row, "");
    LLVMValueRef run = LLVMBuildSelect(b, fits, left, row, "");
    innermost(g, op, d, place[last], LLVMBuildNSWAdd(b, place[last], run, ""), sums);
    LLVMValueRef next = LLVMBuildNSWAdd(b, linear, run, ""), carry = gen_i64(g, 1);
    LLVMBasicBlockRef end = gen_here(g);
    LLVMAddIncoming(linear, &next, &end, 1);
    LLVMAddIncoming(place[last], &nil, &end, 1);
    for (uint32_t k = last; k-- > 0;) {
        LLVMValueRef moved = LLVMBuildNSWAdd(b, place[k], carry, "");
        LLVMValueRef wraps = LLVMBuildICmp(b, LLVMIntEQ, moved, d->count[k], "");
        moved = LLVMBuildSelect(b, wraps, nil, moved, "");
        carry = LLVMBuildZExt(b, wraps, g->i64, "");
        LLVMAddIncoming(place[k], &moved, &end, 1);
    }
    for (uint32_t r = 0; r < n; r++)
        LLVMAddIncoming(carried[r], &sums[r], &end, 1);
    LLVMBasicBlockRef after = gen_block(g, "endrows");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next, hi, ""), loop, after);
    gen_at(g, after);
}

/* the iterations lo <= i < hi, not none, of the linearised domain */
static void
iterate(gen *g, const ir_op *op, const domain *d, LLVMValueRef lo, LLVMValueRef hi,
        LLVMValueRef *sums)
{
    if (d->mirrored) {
        LLVMValueRef first = LLVMBuildSub(g->b, d->total, hi, "");
        hi = LLVMBuildSub(g->b, d->total, lo, "");
        lo = first;
    }
    if (d->rank == 1)
        innermost(g, op, d, lo, hi, sums);
    else
        rows(g, op, d, lo, hi, sums);
}

static LLVMValueRef *
identities(gen *g, const ir_op *op)
{
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, reductions(op) + 1);
    for (uint32_t r = 0; r < reductions(op); r++)
        sums[r] = gen_reduce_identity(g, (rg_rmw)op->reduce[r], sum_dtype(op, r));
    return sums;
}

static LLVMValueRef
initial(gen *g, const ir_op *op, uint32_t r)
{
    return gen_get(g, op->args[op->nargs - reductions(op) + r]);
}

/* initial value and sum, in the sum's type, then rounded once */
static LLVMValueRef
finish(gen *g, const ir_op *op, uint32_t r, LLVMValueRef sum)
{
    rg_dtype d = (rg_dtype)op->results[r]->type.dtype, wide = sum_dtype(op, r);
    LLVMValueRef first = gen_cast(g, d, wide, initial(g, op, r));
    return gen_cast(g, wide, d, gen_combine(g, (rg_rmw)op->reduce[r], wide, first, sum));
}

/* -- tasks ----------------------------------------------------------------------------------------- */

/* The closure: the arguments, where reductions and private sums go, lo and count of each index, where
 * each private sum begins, what was captured. */
static LLVMTypeRef
closure_type(gen *g, const ir_op *op, const capture *c)
{
    uint32_t numbers = 2 * op->attr.rank + c->nsums, n = CLOSURE_FIRST;
    LLVMTypeRef *types =
        arena_new_n(g->scratch, LLVMTypeRef, CLOSURE_FIRST + numbers + c->values.n);
    types[CLOSURE_ARGS] = types[CLOSURE_PARTIALS] = types[CLOSURE_CELLS] = g->ptr;
    types[CLOSURE_ROW] = g->i64;
    for (uint32_t k = 0; k < numbers; k++)
        types[n++] = g->i64;
    for (size_t i = 0; i < c->values.n; i++)
        types[n++] = gen_value_type(g, c->values.at[i]->type);
    return LLVMStructTypeInContext(g->context, types, n, false);
}

static LLVMValueRef
closure_load(gen *g, LLVMTypeRef type, LLVMValueRef closure, unsigned field)
{
    LLVMBuilderRef b = g->s->top;
    LLVMTypeRef of = LLVMStructGetTypeAtIndex(type, field);
    return gen_invariant(g, LLVMBuildLoad2(b, of, gen_field(g, b, type, closure, field), ""));
}

/* the slot of this chunk: one 8-byte cell for each reduction */
static LLVMValueRef
partial_cell(gen *g, LLVMValueRef partials, LLVMValueRef slot, uint32_t n, uint32_t r)
{
    LLVMValueRef at = LLVMBuildNSWMul(g->b, slot, gen_i64(g, n), "");
    at = LLVMBuildNSWAdd(g->b, at, gen_i64(g, r), "");
    return LLVMBuildInBoundsGEP2(g->b, g->i64, partials, &at, 1, "");
}

static void
store_partials(gen *g, const ir_op *op, LLVMValueRef partials, LLVMValueRef *sums)
{
    uint32_t n = reductions(op);
    if (!n)
        return;
    LLVMValueRef at = gen_i64(g, offsetof(rt_worker, index));
    at = LLVMBuildInBoundsGEP2(g->b, g->i8, g->s->worker, &at, 1, "");
    LLVMValueRef slot = LLVMBuildSExt(g->b, LLVMBuildLoad2(g->b, g->i32, at, ""), g->i64, "");
    for (uint32_t r = 0; r < n; r++)
        LLVMBuildStore(g->b, gen_to_memory(g, sum_dtype(op, r), sums[r]),
                       partial_cell(g, partials, slot, n, r));
}

static LLVMValueRef
task_function(gen *g, const ir_op *op, const capture *c, LLVMTypeRef type)
{
    char name[32];
    snprintf(name, sizeof name, "task.%u", g->tasks++);
    LLVMTypeRef params[4] = {g->ptr, g->i64, g->i64, g->ptr};
    LLVMTypeRef signature = LLVMFunctionType(g->nothing, params, 4, false);
    LLVMValueRef fn = LLVMAddFunction(g->module, name, signature);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMBasicBlockRef outside = gen_here(g);
    scope *s = gen_scope_open(g, op->regions[0], fn, true);
    LLVMValueRef closure = LLVMGetParam(fn, 0);
    s->worker = LLVMGetParam(fn, 3);
    s->args = closure_load(g, type, closure, CLOSURE_ARGS);
    uint32_t rank = op->attr.rank, field = CLOSURE_FIRST;
    domain d = {.rank = rank, .dtype = (rg_dtype)op->args[0]->type.dtype, .mirrored = op->rewinds};
    for (uint32_t k = 0; k < rank; k++) {
        d.lo[k] = closure_load(g, type, closure, field++);
        d.count[k] = closure_load(g, type, closure, field++);
    }
    s->nsums = c->nsums;
    s->sums = arena_new_n(g->scratch, private_sum, c->nsums + 1);
    for (uint32_t i = 0; i < c->nsums; i++) {
        s->sums[i] = c->sums[i];
        s->sums[i].first = closure_load(g, type, closure, field++);
    }
    if (c->nsums)
        gen_private_enter(g, closure_load(g, type, closure, CLOSURE_CELLS),
                          closure_load(g, type, closure, CLOSURE_ROW));
    for (size_t i = 0; i < c->values.n; i++)
        gen_set(g, c->values.at[i], closure_load(g, type, closure, field++));
    d.total = gen_i64(g, 1);
    for (uint32_t k = 0; k < rank && d.mirrored; k++)
        d.total = LLVMBuildMul(g->b, d.total, d.count[k], "");
    LLVMValueRef *sums = identities(g, op);
    iterate(g, op, &d, LLVMGetParam(fn, 1), LLVMGetParam(fn, 2), sums);
    store_partials(g, op, reductions(op) ? closure_load(g, type, closure, CLOSURE_PARTIALS) : NULL,
                   sums);
    gen_tape_leave(g);
    LLVMBuildRetVoid(g->b);
    gen_scope_close(g);
    gen_at(g, outside);
    return fn;
}

/* Room for the partial results of a loop, made once where the kernel begins. */
static LLVMValueRef
partials_memory(gen *g, uint32_t n)
{
    LLVMValueRef slots =
        gen_runtime_call(g, g->s->top, "rt_cpu_slots", g->i32, 1, &g->s->launch);
    LLVMValueRef cells = LLVMBuildMul(g->s->top, slots, gen_i32(g, n), "");
    return gen_alloca(g, g->i64, cells, "partials");
}

/* chunk by chunk, in order */
static void
combine_partials(gen *g, const ir_op *op, LLVMValueRef partials, LLVMValueRef used)
{
    uint32_t n = reductions(op);
    LLVMValueRef *sums = identities(g, op), *none = identities(g, op);
    LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSGT, used, gen_i32(g, 0), "");
    LLVMBasicBlockRef before = gen_here(g), inside = gen_block(g, "combine");
    LLVMValueRef enter = LLVMBuildCondBr(g->b, some, inside, inside);
    gen_at(g, inside);
    LLVMValueRef last = LLVMBuildSExt(g->b, used, g->i64, "");
    counted c = counted_begin(g, gen_i64(g, 0), last, n, sums);
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype d = sum_dtype(op, r);
        LLVMValueRef cell = partial_cell(g, partials, c.at, n, r);
        LLVMValueRef part = LLVMBuildLoad2(g->b, gen_memory_type(g, d), cell, "");
        part = gen_from_memory(g, d, part);
        sums[r] = gen_combine(g, (rg_rmw)op->reduce[r], d, c.sums[r], part);
    }
    counted_end(g, &c, sums);
    LLVMBasicBlockRef end = gen_here(g), after = gen_block(g, "combined");
    LLVMBuildBr(g->b, after);
    LLVMSetSuccessor(enter, 1, after);
    gen_at(g, after);
    LLVMBasicBlockRef from[2] = {before, end};
    for (uint32_t r = 0; r < n; r++) {
        LLVMValueRef sum = LLVMBuildPhi(g->b, LLVMTypeOf(none[r]), "");
        LLVMAddIncoming(sum, (LLVMValueRef[]){none[r], sums[r]}, from, 2);
        sums[r] = sum;
    }
    for (uint32_t r = 0; r < n; r++)
        gen_set(g, op->results[r], finish(g, op, r, sums[r]));
}

void
gen_parallel(gen *g, const ir_op *op)
{
    uint32_t n = reductions(op), rank = op->attr.rank, field = CLOSURE_FIRST;
    capture c = {.g = g, .region = op->regions[0]};
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &c.values.at);
    c.seen = arena_new_n(g->scratch, bool, g->ir->next_id);
    ir_walk(op->regions[0], capture_args, &c);
    c.nsums = gen_private_find(g, op, &c.sums);
    LLVMTypeRef type = closure_type(g, op, &c);
    LLVMValueRef task = task_function(g, op, &c, type);
    LLVMValueRef closure = gen_alloca(g, type, NULL, "closure");
    LLVMValueRef partials = n ? partials_memory(g, n) : LLVMConstNull(g->ptr);
    domain d = domain_of(g, op);
    LLVMBuildStore(g->b, g->s->args, gen_field(g, g->b, type, closure, CLOSURE_ARGS));
    LLVMBuildStore(g->b, partials, gen_field(g, g->b, type, closure, CLOSURE_PARTIALS));
    if (c.nsums) {
        LLVMValueRef row, cells = gen_private_begin(g, c.sums, c.nsums, d.total, &row);
        LLVMBuildStore(g->b, cells, gen_field(g, g->b, type, closure, CLOSURE_CELLS));
        LLVMBuildStore(g->b, row, gen_field(g, g->b, type, closure, CLOSURE_ROW));
    }
    for (uint32_t k = 0; k < rank; k++) {
        LLVMBuildStore(g->b, d.lo[k], gen_field(g, g->b, type, closure, field++));
        LLVMBuildStore(g->b, d.count[k], gen_field(g, g->b, type, closure, field++));
    }
    for (uint32_t i = 0; i < c.nsums; i++)
        LLVMBuildStore(g->b, c.sums[i].first, gen_field(g, g->b, type, closure, field++));
    for (size_t i = 0; i < c.values.n; i++)
        LLVMBuildStore(g->b, gen_get(g, c.values.at[i]),
                       gen_field(g, g->b, type, closure, field++));
    mem_disown(&owns);
    vec_free(&c.values);
    LLVMValueRef args[6] = {g->s->launch,
                            task,
                            closure,
                            d.total,
                            gen_i64(g, region_work(op->regions[0])),
                            gen_i32(g, op->rewinds ? 2 : op->records ? 1 : 0)};
    LLVMValueRef used = gen_runtime_call(g, g->b, "rt_cpu_parallel", g->i32, 6, args);
    gen_private_end(g, c.sums, c.nsums);
    if (n)
        combine_partials(g, op, partials, used);
}
