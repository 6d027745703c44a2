/* Parallel loops: thread after thread, reductions in a wider type.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A loop in groups runs group after group: each row of threads is cut into groups, of which the last may be shorter. */
#include "rt/interp/machine.h"

static interp_domain
domain_of(const interp_frame *f, const ir_op *op)
{
    interp_domain d = {.rank = op->attr.rank, .total = 1};
    d.index = d.rank ? (rg_dtype)op->args[0]->type.dtype : RG_I64;
    for (uint32_t k = 0; k < d.rank; k++) {
        uint64_t lo = interp_bits(f, op->args[k]), hi = interp_bits(f, op->args[d.rank + k]);
        bool some = ir_is_signed(d.index) ? (int64_t)lo < (int64_t)hi : lo < hi;
        d.lo[k] = lo;
        d.count[k] = some ? hi - lo : 0;
        d.total *= d.count[k];
    }
    const ir_region *body = d.body = op->regions[0];
    d.steps = d.total;
    if (body->nparams > d.rank) {
        uint64_t length = d.count[d.rank - 1];
        d.lanes = body->params[d.rank]->type.lanes;
        d.row = (length + d.lanes - 1) / d.lanes;
        d.steps = length ? d.total / length * d.row : 0;
    }
    return d;
}

/* the first thread of a step, and how many it has */
static uint64_t
threads_of(const interp_domain *d, uint64_t step, uint32_t *n)
{
    *n = 1;
    if (!d->lanes)
        return step;
    uint64_t length = d->count[d->rank - 1], first = step % d->row * d->lanes;
    *n = (uint32_t)(length - first < d->lanes ? length - first : d->lanes);
    return step / d->row * length + first;
}

static void
set_indices(interp_frame *f, const interp_domain *d, const ir_region *body, uint64_t thread)
{
    for (uint32_t k = d->rank; k-- > 0;) {
        f->words[body->params[k]->id].bits = ir_wrap(d->index, d->lo[k] + thread % d->count[k]);
        thread /= d->count[k];
    }
}

/* The combined contributions to one reduction; sums of f32 are formed in f64, of f16 in f32. */
typedef struct total {
    uint64_t bits;
    double wide;
} total;

static bool
is_wide(rg_rmw rmw, rg_dtype d)
{
    return rmw == RG_RMW_ADD && (d == RG_F32 || d == RG_F16);
}

static void
contribute(total *t, rg_rmw rmw, rg_dtype d, uint64_t bits)
{
    if (!is_wide(rmw, d))
        t->bits = interp_combine(rmw, d, t->bits, bits, 0);
    else if (d == RG_F16)
        t->wide = (float)t->wide + (float)ir_bits_float(d, bits);
    else
        t->wide += ir_bits_float(d, bits);
}

static uint64_t
combined(const total *t, rg_rmw rmw, rg_dtype d)
{
    return is_wide(rmw, d) ? ir_float_bits(d, t->wide) : t->bits;
}

/* the mask of a group: its first lanes are threads */
static interp_flow
set_mask(interp_frame *f, const ir_op *op, const interp_domain *d, uint32_t n)
{
    uint64_t *mask = d->lanes ? interp_lanes_set(f, op, op->regions[0]->params[d->rank]) : NULL;
    for (unsigned l = 0; mask && l < d->lanes; l++)
        mask[l] = l < n;
    return d->lanes && !mask ? FLOW_FAULT : FLOW_NEXT;
}

typedef struct sweep {
    interp_domain domain;
    uint32_t first_init, reductions;
    total *totals;
    interp_trace *records; /* the trace being made, or NULL */
    interp_trace *rewinds; /* the trace being reversed, or NULL */
    bool inner;            /* another parallel loop is around */
} sweep;

static interp_flow
run_step(interp_frame *f, const ir_op *op, sweep *s, uint64_t step)
{
    const ir_region *body = op->regions[0];
    uint32_t n;
    uint64_t first = threads_of(&s->domain, step, &n);
    set_indices(f, &s->domain, body, first);
    if (set_mask(f, op, &s->domain, n) == FLOW_FAULT)
        return FLOW_FAULT;
    if (!s->inner) {
        f->machine->thread = first;
        f->machine->group = f->machine->lane = n;
    }
    if (s->rewinds)
        interp_trace_restore(f, s->rewinds, step);
    interp_flow flow = interp_region(f, body);
    if (flow != FLOW_YIELD)
        return FLOW_FAULT;
    for (uint32_t k = 0; k < s->reductions; k++) {
        rg_rmw rmw = (rg_rmw)op->reduce[k];
        const ir_value *v = f->leave->args[k];
        uint64_t bits = v->type.lanes ? interp_reduced(f, v, rmw) : interp_bits(f, v);
        contribute(&s->totals[k], rmw, (rg_dtype)v->type.dtype, bits);
    }
    if (s->records && !interp_trace_add(f, s->records))
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a trace");
    return interp_may_go_on(f, op) ? FLOW_NEXT : FLOW_FAULT;
}

/* A loop that rewinds goes last to first, as a tape is popped. */
static interp_flow
run_threads(interp_frame *f, const ir_op *op, sweep *s)
{
    interp_flow flow = FLOW_NEXT;
    s->inner = f->machine->parallel;
    f->machine->parallel = true;
    if (!s->inner)
        f->machine->domain = &s->domain;
    for (uint64_t k = 0; k < s->domain.steps && flow == FLOW_NEXT; k++)
        flow = run_step(f, op, s, op->rewinds ? s->domain.steps - 1 - k : k);
    if (!s->inner) {
        f->machine->parallel = false;
        interp_cells_flush(f->machine);
        interp_races_forget(f->machine);
    }
    return flow;
}

static interp_flow
prepare_traces(interp_frame *f, const ir_op *op, sweep *s)
{
    const ir_value *result = interp_trace_result(op);
    uint32_t at = 2 * s->domain.rank;
    if (s->first_init > at) {
        s->rewinds = f->words[op->args[at]->id].trace;
        if ((s->rewinds ? s->rewinds->rows : 0) != s->domain.steps)
            return interp_fault(f, op, RT_FAULT_ASSERT,
                                "rewinds a trace of another number of threads");
    }
    if (result && !(s->records = interp_trace_new(f, result)))
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a trace");
    if (result)
        interp_set(f, result, (interp_word){.trace = s->records});
    return FLOW_NEXT;
}

static void
set_results(interp_frame *f, const ir_op *op, sweep *s)
{
    for (uint32_t k = 0; k < s->reductions; k++)
        f->words[op->results[k]->id].bits =
            combined(&s->totals[k], (rg_rmw)op->reduce[k], (rg_dtype)op->results[k]->type.dtype);
}

interp_flow
interp_parallel(interp_frame *f, const ir_op *op)
{
    sweep s = {.domain = domain_of(f, op)};
    s.first_init = 2 * s.domain.rank;
    if (op->nargs > s.first_init && op->args[s.first_init]->type.kind == IR_TRACE)
        s.first_init++;
    s.reductions = op->nargs - s.first_init;
    mem_owner owns;
    s.totals = mem_zalloc(s.reductions * sizeof *s.totals);
    mem_own(&owns, mem_free, s.totals);
    for (uint32_t k = 0; k < s.reductions; k++) {
        const ir_value *init = op->args[s.first_init + k];
        s.totals[k].bits = interp_bits(f, init);
        s.totals[k].wide = ir_is_float((rg_dtype)init->type.dtype)
                               ? ir_bits_float((rg_dtype)init->type.dtype, s.totals[k].bits)
                               : 0;
    }
    interp_flow flow = prepare_traces(f, op, &s);
    if (flow == FLOW_NEXT)
        flow = run_threads(f, op, &s);
    if (flow == FLOW_NEXT)
        set_results(f, op, &s);
    mem_disown(&owns);
    mem_free(s.totals);
    return flow;
}
