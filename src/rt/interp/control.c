/* Serial control: ifs, loops, calls, unwinding. SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

interp_flow
interp_yield(interp_frame *f, const ir_op *op)
{
    f->leave = op;
    return FLOW_YIELD;
}

interp_flow
interp_exit_if(interp_frame *f, const ir_op *op)
{
    if (!interp_true(f, op->args[0]))
        return FLOW_NEXT;
    f->leave = op;
    return FLOW_EXIT;
}

interp_flow
interp_if(interp_frame *f, const ir_op *op)
{
    interp_flow flow = interp_region(f, op->regions[interp_true(f, op->args[0]) ? 0 : 1]);
    if (flow != FLOW_YIELD)
        return flow;
    interp_transfer(f, f->leave->args, op->results, op->nresults);
    return FLOW_NEXT;
}

interp_flow
interp_segment(interp_frame *f, const ir_op *op)
{
    interp_flow flow = interp_region(f, op->regions[0]);
    if (flow == FLOW_YIELD)
        interp_transfer(f, f->leave->args, op->results, op->nresults);
    return flow == FLOW_YIELD ? FLOW_NEXT : flow;
}

static interp_flow
no_memory(interp_frame *f, const ir_op *op)
{
    return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a trace");
}

/* The end of a full iteration: record it, carry on. */
static bool
next_iteration(interp_frame *f, const ir_op *op, interp_trace *trace, ir_value **carried)
{
    if (trace && !interp_trace_add(f, trace))
        return no_memory(f, op) != FLOW_FAULT;
    interp_transfer(f, f->leave->args, carried, f->leave->nargs);
    return interp_may_go_on(f, op);
}

/* A recording loop's trace is in its place from the start. */
static interp_flow
start_trace(interp_frame *f, const ir_op *op, interp_trace **trace)
{
    const ir_value *result = interp_trace_result(op);
    if (result && !(*trace = interp_trace_new(f, result)))
        return no_memory(f, op);
    if (result)
        interp_set(f, result, (interp_word){.trace = *trace});
    return FLOW_NEXT;
}

interp_flow
interp_loop(interp_frame *f, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    interp_trace *trace = NULL;
    interp_flow flow = start_trace(f, op, &trace);
    if (flow == FLOW_FAULT)
        return flow;
    interp_transfer(f, op->args, body->params, op->nargs);
    while ((flow = interp_region(f, body)) == FLOW_YIELD)
        if (!next_iteration(f, op, trace, body->params))
            return FLOW_FAULT;
    if (flow == FLOW_FAULT)
        return flow;
    interp_transfer(f, f->leave->args + 1, op->results, f->leave->nargs - 1);
    return FLOW_NEXT;
}

/* Iterations of lo, lo + step, ... before hi. */
static uint64_t
trip_count(rg_dtype d, uint64_t lo, uint64_t hi, int64_t step)
{
    bool before = ir_is_signed(d) ? (int64_t)lo < (int64_t)hi : lo < hi;
    bool after = ir_is_signed(d) ? (int64_t)lo > (int64_t)hi : lo > hi;
    if (step > 0)
        return before ? (hi - lo - 1) / (uint64_t)step + 1 : 0;
    return after ? (lo - hi - 1) / (0 - (uint64_t)step) + 1 : 0;
}

/* Results come from the last yield and not by way of the parameters: these keep what they were in
 * the last iteration, for recalls. */
interp_flow
interp_for(interp_frame *f, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    uint64_t lo = interp_bits(f, op->args[0]);
    uint64_t count = trip_count(d, lo, interp_bits(f, op->args[1]), op->attr.step);
    interp_trace *trace = NULL;
    interp_flow flow = start_trace(f, op, &trace);
    if (flow == FLOW_FAULT)
        return flow;
    interp_transfer(f, op->args + 2, count ? body->params + 1 : op->results, op->nargs - 2);
    for (uint64_t k = 0; k < count && flow != FLOW_FAULT; k++) {
        f->words[body->params[0]->id].bits = ir_wrap(d, lo + k * (uint64_t)op->attr.step);
        flow = interp_region(f, body);
        if (flow == FLOW_YIELD &&
            !next_iteration(f, op, trace, k + 1 < count ? body->params + 1 : op->results))
            flow = FLOW_FAULT;
    }
    return flow == FLOW_FAULT ? flow : FLOW_NEXT;
}

/* -- unwinding
 * ------------------------------------------------------------------------------------- */

static interp_flow
unwind_rows(interp_frame *f, const ir_op *op, interp_trace *trace)
{
    const ir_region *body = op->regions[0];
    interp_flow flow = FLOW_NEXT;
    for (uint64_t k = trace->rows; k-- > 0 && flow != FLOW_FAULT;) {
        interp_trace_restore(f, trace, k);
        f->words[body->params[0]->id].bits = k;
        flow = interp_region(f, body);
        if (flow == FLOW_YIELD && !next_iteration(f, op, NULL, k ? body->params + 1 : op->results))
            flow = FLOW_FAULT;
    }
    return flow;
}

interp_flow
interp_unwind(interp_frame *f, const ir_op *op)
{
    interp_trace *trace = f->words[op->args[0]->id].trace;
    int64_t count = (int64_t)interp_bits(f, op->args[1]);
    uint64_t rows = trace ? trace->rows : 0;
    if ((uint64_t)(count < 0 ? 0 : count) != rows)
        return interp_fault(f, op, RT_FAULT_ASSERT,
                            "unwinds %lld iterations of a trace that has %llu", (long long)count,
                            (unsigned long long)rows);
    if (rows) {
        /* What the body recalls is put back afterwards: recalls behind the unwind mean the partial
         * iteration. */
        interp_word *aside = interp_trace_set_aside(f, trace);
        if (!aside)
            return no_memory(f, op);
        trace->refs++;
        interp_transfer(f, op->args + 2, op->regions[0]->params + 1, op->nargs - 2);
        interp_flow flow = unwind_rows(f, op, trace);
        interp_trace_put_back(f, trace, aside);
        interp_drop(f->machine, INTERP_TRACE, (interp_word){.trace = trace});
        return flow == FLOW_FAULT ? flow : FLOW_NEXT;
    }
    interp_transfer(f, op->args + 2, op->results, op->nargs - 2);
    return FLOW_NEXT;
}

interp_flow
interp_recall(interp_frame *f, const ir_op *op)
{
    interp_set(f, op->results[0], interp_share(f, op->args[0]));
    return FLOW_NEXT;
}

/* -- calls
 * ------------------------------------------------------------------------------------------ */

enum { CALL_DEPTH = 256 };

static interp_flow
run_callee(interp_frame *f, const ir_op *op, const interp_program *program)
{
    interp_frame callee;
    const ir_region *body = op->attr.fn->body;
    interp_frame_open(&callee, f->machine, program);
    for (uint32_t k = 0; k < op->nargs; k++)
        interp_set(&callee, body->params[k], interp_take(f, op->args[k]));
    interp_flow flow = interp_region(&callee, body);
    for (uint32_t k = 0; flow == FLOW_YIELD && k < op->nresults; k++)
        interp_set(f, op->results[k], interp_take(&callee, callee.leave->args[k]));
    interp_frame_close(&callee);
    return flow == FLOW_FAULT ? flow : FLOW_NEXT;
}

interp_flow
interp_call(interp_frame *f, const ir_op *op)
{
    interp_machine *m = f->machine;
    if (op->reverse || op->forward)
        return interp_fault(f, op, RT_FAULT_ASSERT, "a derivative of @%s that was not made",
                            op->attr.fn->name);
    interp_program *program = interp_prepare(m, op->attr.fn);
    if (!program)
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a call");
    if (m->depth >= CALL_DEPTH)
        return interp_fault(f, op, RT_FAULT_ASSERT, "calls nest deeper than %d", CALL_DEPTH);
    m->depth++;
    interp_flow flow = run_callee(f, op, program);
    m->depth--;
    return flow;
}
