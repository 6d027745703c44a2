/* Parallel loops. SPDX-License-Identifier: Apache-2.0
 *
 * One becomes a task: a function over a range of its linearised domain, called by the runtime with
 * a closure of what it uses from outside. */
#include "codegen/llvm/gen.h"
#include "analysis/order.h"
#include "analysis/sums.h"

enum { CLOSURE_ARGS, CLOSURE_PARTIALS, CLOSURE_CELLS, CLOSURE_ROW, CLOSURE_FIRST };

/* -- scopes ------------------------------------------------------------------------------------ */

scope *
gen_scope_open(gen *g, const ir_region *region, LLVMValueRef fn, bool task)
{
    scope *s = g->spare;
    size_t table = sizeof(LLVMValueRef) * g->ir->next_id;
    if (s) {
        g->spare = s->outer;
        LLVMValueRef *values = memset(s->values, 0, table), *wide = memset(s->wide, 0, table);
        LLVMValueRef *vectors = s->vectors ? memset(s->vectors, 0, table) : NULL;
        *s = (scope){.values = values, .wide = wide, .vectors = vectors, .lane = s->lane};
    } else {
        s = arena_one(g->scratch, scope);
        s->values = arena_new_n(g->scratch, LLVMValueRef, g->ir->next_id);
        s->wide = arena_new_n(g->scratch, LLVMValueRef, g->ir->next_id);
        if (g->beside > 1) {
            s->vectors = arena_new_n(g->scratch, LLVMValueRef, g->ir->next_id);
            s->lane = arena_new_n(g->scratch, uint8_t, g->ir->next_id);
        }
    }
    s->outer = g->s;
    s->region = region;
    s->task = task;
    s->fn = fn;
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
    scope *closed = g->s;
    g->s = closed->outer;
    closed->outer = g->spare;
    g->spare = closed;
}

LLVMValueRef
gen_worker(gen *g)
{
    if (!g->s->worker && g->target->warp)
        g->s->worker = gen_kernel_worker(g, g->s->top);
    if (!g->s->worker)
        g->s->worker =
            gen_runtime_call(g, g->s->top, "rt_cpu_kernel_worker", g->ptr, 1, &g->s->launch);
    return g->s->worker;
}

/* -- what a task takes from outside ------------------------------------------------------------ */

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

/* -- tasks ------------------------------------------------------------------------------------- */

/* The closure: the arguments, where reductions and private sums go, lo and count of each index,
 * where each private sum begins, what was captured. */
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
    LLVMValueRef load = LLVMBuildLoad2(b, of, gen_field(g, b, type, closure, field), "");
    return g->target->warp ? load : gen_invariant(g, load); /* a GPU's tasks are inlined where it is filled */
}

/* On some processors LLVM would take two vectors of 256 bits for one of 512. And scalars beside lanes control the
 * group: LLVM's passes shall not make vectors of them (machine_optimize takes that back). */
void
gen_keep_vectors(gen *g, LLVMValueRef fn)
{
    static const char name[] = "prefer-vector-width", width[] = "512";
    LLVMAttributeRef attribute =
        LLVMCreateStringAttribute(g->context, name, sizeof name - 1, width, sizeof width - 1);
    unsigned kind = LLVMGetEnumAttributeKindForName("noimplicitfloat", 15);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, attribute);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->context, kind, 0));
    if (!g->target->scalable)
        return;
    /* at least and at most so many times 16 bytes: SVE's registers then take vectors of a known length */
    uint64_t times = g->target->vector / 16;
    kind = LLVMGetEnumAttributeKindForName("vscale_range", 12);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->context, kind, times << 32 | times));
}

static LLVMValueRef
task_function(gen *g, const ir_op *op, const capture *c, LLVMTypeRef type)
{
    char name[32];
    snprintf(name, sizeof name, "task.%u", g->tasks++);
    LLVMTypeRef params[5] = {g->ptr, g->i64, g->i64, g->ptr, g->ptr};
    LLVMTypeRef signature = LLVMFunctionType(g->nothing, params, g->target->warp ? 5 : 4, false);
    LLVMValueRef fn = LLVMAddFunction(g->module, name, signature);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    if (g->target->warp)
        gen_mark_task(g, fn);
    else if (gen_group_lanes(op))
        gen_keep_vectors(g, fn);
    LLVMBasicBlockRef outside = gen_here(g);
    scope *s = gen_scope_open(g, op->regions[0], fn, true);
    LLVMValueRef closure = LLVMGetParam(fn, 0);
    s->worker = LLVMGetParam(fn, 3);
    s->running = g->target->warp ? LLVMGetParam(fn, 4) : NULL;
    s->single = g->target->warp && gen_runs_once(op);
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
    if (c->nsums && g->target->warp)
        gen_simt_private_enter(g, closure_load(g, type, closure, CLOSURE_CELLS));
    else if (c->nsums)
        gen_private_enter(g, closure_load(g, type, closure, CLOSURE_CELLS),
                          closure_load(g, type, closure, CLOSURE_ROW));
    for (size_t i = 0; i < c->values.n; i++)
        gen_set(g, c->values.at[i], closure_load(g, type, closure, field++));
    d.total = gen_i64(g, 1);
    for (uint32_t k = 0; k < rank && d.mirrored; k++)
        d.total = LLVMBuildMul(g->b, d.total, d.count[k], "");
    LLVMValueRef partials = op->nresults ? closure_load(g, type, closure, CLOSURE_PARTIALS) : NULL;
    bool goes_on = g->target->warp; /* with the sums of the pieces before */
    LLVMValueRef *sums = goes_on ? gen_load_sums(g, op, partials) : gen_identities(g, op, gen_group_lanes(op));
    gen_iterate(g, op, &d, LLVMGetParam(fn, 1), LLVMGetParam(fn, 2), sums);
    if (goes_on)
        gen_store_sums(g, op, partials, sums);
    else
        gen_store_partials(g, op, partials, sums);
    gen_tape_leave(g);
    gen_poll_piece(g, op, LLVMBuildSub(g->b, LLVMGetParam(fn, 2), LLVMGetParam(fn, 1), ""));
    LLVMBuildRetVoid(g->b);
    gen_scope_close(g);
    gen_at(g, outside);
    return fn;
}

/* -- one order for any number of threads --------------------------------------------------------- */

/* stops at an op that has one; additions to private cells are asked about apart */
static bool
has_no_order(ir_op *op, void *user)
{
    const capture *c = user;
    for (uint32_t i = 0; i < c->nsums && ir_is_sum(op); i++)
        if (c->sums[i].buffer == op->args[0] && c->sums[i].plane == op->plane)
            return true;
    return !ir_update_has_order(op);
}

/* Whether threads run one after the other. Where there are no private cells in this launch, all threads add to the array itself. */
static LLVMValueRef
runs_in_order(gen *g, const ir_op *op, capture *c)
{
    if (g->target->warp && gen_runs_once(op))
        return LLVMConstNull(g->i1);
    if (!ir_walk(op->regions[0], has_no_order, c))
        return LLVMConstInt(g->i1, 1, false);
    LLVMValueRef shared = LLVMConstNull(g->i1);
    for (uint32_t i = 0; i < c->nsums; i++) {
        const private_sum *sum = &c->sums[i];
        LLVMValueRef here = LLVMBuildICmp(g->b, LLVMIntSLT, sum->first, gen_i64(g, 0), "");
        if (gen_presence(g, sum->buffer, sum->plane) == MAYBE)
            here = LLVMBuildAnd(g->b, here, LLVMBuildIsNotNull(g->b, gen_plane(g, sum->buffer, sum->plane), ""), "");
        shared = LLVMBuildOr(g->b, shared, here, "");
    }
    return shared;
}

/* what rt_cpu_parallel is told for it */
static LLVMValueRef
order_of(gen *g, const ir_op *op, capture *c)
{
    LLVMValueRef ordered = runs_in_order(g, op, c);
    return LLVMBuildSelect(g->b, ordered, gen_i32(g, RT_KEEP_FIXED | RT_KEEP_ORDERED), gen_i32(g, RT_KEEP_FIXED), "");
}

/* the sums that threads may form in cells of their own */
static uint32_t
find_private_sums(gen *g, const ir_op *op, private_sum **sums)
{
    return g->target->warp && gen_runs_once(op) ? 0 : gen_private_find(g, op, sums);
}

bool
gen_needs_cells(gen *g, const ir_op *op)
{
    private_sum *sums;
    return !g->options->deterministic && find_private_sums(g, op, &sums);
}

void
gen_parallel(gen *g, const ir_op *op)
{
    uint32_t n = op->nresults, rank = op->attr.rank, field = CLOSURE_FIRST;
    unsigned lanes = gen_group_lanes(op);
    int64_t work = ir_work(op->regions[0]);
    capture c = {.g = g, .region = op->regions[0], .values.in = g->scratch};
    bool warps = g->target->warp;
    if (lanes && !warps) /* a thread's */
        work = work / lanes + 1;
    if (!g->captured)
        g->captured = arena_new_n(g->scratch, bool, g->ir->next_id);
    c.seen = g->captured;
    ir_walk(op->regions[0], capture_args, &c);
    for (size_t i = 0; i < c.values.n; i++)
        c.seen[c.values.at[i]->id] = false;
    c.nsums = find_private_sums(g, op, &c.sums);
    bool runs = g->role != GEN_PREPARES && g->role != GEN_SETTLES; /* else it is what stands around it that is wanted */
    LLVMTypeRef type = closure_type(g, op, &c);
    LLVMValueRef task = runs ? task_function(g, op, &c, type) : NULL;
    LLVMValueRef closure = gen_alloca(g, type, NULL, "closure");
    LLVMValueRef partials = LLVMConstNull(g->ptr), cells = NULL;
    if (n)
        partials = warps ? gen_sums_of_warp(g, op) : gen_partials_memory(g, n);
    domain d = gen_domain_of(g, op);
    LLVMBuildStore(g->b, g->s->args, gen_field(g, g->b, type, closure, CLOSURE_ARGS));
    LLVMBuildStore(g->b, partials, gen_field(g, g->b, type, closure, CLOSURE_PARTIALS));
    if (c.nsums && warps) {
        cells = g->options->deterministic ? gen_simt_fixed_cells(g, op, c.sums, c.nsums)
                                          : gen_simt_private_begin(g, c.sums, c.nsums, d.total, work);
        if (!g->options->deterministic)
            LLVMBuildStore(g->b, cells, gen_field(g, g->b, type, closure, CLOSURE_CELLS));
    } else if (c.nsums) {
        LLVMValueRef row;
        cells = gen_private_begin(g, c.sums, c.nsums, d.total, work, &row);
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
    if (warps) {
        gen_task run = {task, closure, d.total, partials, c.sums, c.nsums, cells};
        run.row_at = gen_field(g, g->b, type, closure, CLOSURE_CELLS);
        if (g->options->deterministic)
            gen_run_fixed_task(g, op, &run, runs_in_order(g, op, &c));
        else
            gen_run_task(g, op, &run);
        return;
    }
    int32_t keeps = op->rewinds ? RT_KEEP_REWINDS : op->records ? RT_KEEP_RECORDS : 0;
    LLVMValueRef keep = gen_i32(g, keeps | (int32_t)lanes * RT_KEEP_LANES);
    if (g->options->deterministic)
        keep = LLVMBuildOr(g->b, keep, order_of(g, op, &c), "");
    LLVMValueRef args[6] = {g->s->launch, task, closure, d.total, gen_i64(g, work), keep};
    LLVMValueRef used = gen_runtime_call(g, g->b, "rt_cpu_parallel", g->i32, 6, args);
    gen_private_end(g, c.sums, c.nsums);
    if (n)
        gen_combine_partials(g, op, partials, used);
}
