/* Additions of all threads to one element become reductions, for warps. SPDX-License-Identifier: Apache-2.0
 *
 *   parallel (%i: i64) = (%lo) to (%n) {             %s: f32 = parallel (%i: i64) = ... reduce (add %none) {
 *     ...                                              ...
 *     rmw.add.adj.atomic %w[%two], %v        ->        yield %v
 *   }                                                }
 *                                                    %some: bool = ne %s, %zero
 *                                                    if %some { rmw.add.adj %w[%two], %s }
 *
 * opt_hoist brings this about where it can move the load that the addition is the derivative of. Where it cannot, as
 * nothing says that the element exists if no thread reads it, here is the second chance: nothing is added unless some
 * thread did. Thousands of warps would wait for each other at that element, and a narrow sum of so many terms has few
 * digits; a reduction does neither. The sum is carried through the loops and ifs that the addition stands in. */
#include "analysis/access.h"
#include "ir/recall.h"
#include "analysis/sums.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { SUMS_MAX = 32, DEPTH = 6 }; /* of a task, each a register; of a subscript's expression */

typedef struct shared_sums {
    edit edit;
    ir_op *task;
    ir_sum planes[IR_SUMS_MAX];
    uint32_t nplanes;
    const ir_op *sums[SUMS_MAX]; /* one addition to each element */
    uint32_t n;
} shared_sums;

/* -- which additions ------------------------------------------------------------------------------------------ */

/* Whether v is the same in all threads, and can be computed after the loop. */
static bool
is_shared(const shared_sums *s, const ir_value *v, unsigned depth)
{
    if (edit_visible(v, s->task) || ir_is_const(v, NULL))
        return true;
    if (!depth || !v->def || v->type.kind != IR_SCALAR)
        return false;
    rg_op code = (rg_op)v->def->code;
    if (code != RG_OP_ADD && code != RG_OP_SUB && code != RG_OP_MUL && code != RG_OP_CAST)
        return false;
    for (uint32_t k = 0; k < v->def->nargs; k++)
        if (!is_shared(s, v->def->args[k], depth - 1))
            return false;
    return true;
}

static bool
is_candidate(const shared_sums *s, const ir_op *op)
{
    if (!ir_is_sum(op) || op->masked || op->successive || !edit_visible(op->args[0], s->task))
        return false;
    bool alone = false; /* nothing else is done with the plane */
    for (uint32_t i = 0; i < s->nplanes; i++)
        alone |= s->planes[i].buffer == op->args[0] && s->planes[i].plane == op->plane;
    for (uint32_t k = 1; alone && k + 1 < op->nargs; k++)
        alone = is_shared(s, op->args[k], DEPTH);
    return alone;
}

/* sums are carried through it */
static bool
carries_sums(const ir_op *op)
{
    return op->code == RG_OP_IF || op->code == RG_OP_FOR || op->code == RG_OP_UNWIND;
}

static void
collect_sums(shared_sums *s, ir_region *r)
{
    ir_for_ops (op, r) {
        for (uint32_t i = 0; i < op->nregions && carries_sums(op); i++)
            collect_sums(s, op->regions[i]);
        bool known = !is_candidate(s, op);
        for (uint32_t i = 0; i < s->n && !known; i++)
            known = access_same(s->sums[i], op);
        if (!known && s->n < SUMS_MAX)
            s->sums[s->n++] = op;
    }
}

/* -- the sum of a region ---------------------------------------------------------------------------------------- */

static ir_type
sum_type(const ir_op *sum)
{
    rg_dtype d = (rg_dtype)sum->args[0]->type.dtype;
    return ir_scalar(d == RG_F16 ? RG_F32 : d);
}

static ir_value *
nothing(shared_sums *s, ir_op *at, ir_type type)
{
    return edit_const(&s->edit, at, type, ir_identity((rg_dtype)type.dtype, RG_RMW_ADD));
}

static ir_value *
cast_to(shared_sums *s, ir_op *at, ir_type type, ir_value *v)
{
    return v->type.dtype == type.dtype ? v : edit_scalar(&s->edit, at, RG_OP_CAST, type, v, NULL, NULL);
}

/* either may be NULL */
static ir_value *
add_parts(shared_sums *s, ir_op *at, ir_type type, ir_value *x, ir_value *y)
{
    if (!x || !y)
        return x ? x : y;
    ir_value *sum = edit_scalar(&s->edit, at, RG_OP_ADD, type, x, y, NULL);
    sum->def->fast = true;
    return sum;
}

static ir_value *region_total(shared_sums *s, ir_region *r, const ir_op *sum);

static bool
holds_sum(const ir_region *r, const ir_op *sum)
{
    ir_for_ops (op, r) {
        if (ir_is_sum(op) && access_same(op, sum))
            return true;
        for (uint32_t i = 0; i < op->nregions && carries_sums(op); i++)
            if (holds_sum(op->regions[i], sum))
                return true;
    }
    return false;
}

static ir_value *
out_of_if(shared_sums *s, ir_op *op, const ir_op *sum)
{
    ir_type type = sum_type(sum);
    for (uint32_t i = 0; i < 2; i++) {
        ir_value *v = region_total(s, op->regions[i], sum);
        ir_op *yield = ir_terminator(op->regions[i]);
        ir_op_arg(yield, s->edit.fn, v ? v : nothing(s, yield, type));
    }
    return ir_op_result(op, s->edit.fn, type, NULL);
}

static ir_value *
out_of_loop(shared_sums *s, ir_op *op, const ir_op *sum)
{
    ir_type type = sum_type(sum);
    ir_op_arg(op, s->edit.fn, nothing(s, op, type));
    ir_value *before = ir_region_param(op->regions[0], type, NULL), *v = region_total(s, op->regions[0], sum);
    ir_op *yield = ir_terminator(op->regions[0]);
    ir_op_arg(yield, s->edit.fn, add_parts(s, yield, type, before, v));
    return ir_op_result_before_trace(s->edit.fn, op, type, NULL);
}

/* What r adds to the element, at its end, instead of adding it; NULL: nothing. */
static ir_value *
region_total(shared_sums *s, ir_region *r, const ir_op *sum)
{
    ir_type type = sum_type(sum);
    ir_value *total = NULL;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        bool inside = false;
        for (uint32_t i = 0; i < op->nregions && carries_sums(op) && !inside; i++)
            inside = holds_sum(op->regions[i], sum);
        if (inside) {
            ir_value *v = op->code == RG_OP_IF ? out_of_if(s, op, sum) : out_of_loop(s, op, sum);
            total = add_parts(s, next, type, total, v);
        } else if (ir_is_sum(op) && access_same(op, sum)) {
            total = add_parts(s, op, type, total, cast_to(s, op, type, op->args[op->nargs - 1]));
            ir_remove(op);
        }
    }
    return total;
}

/* -- the task ------------------------------------------------------------------------------------------------------ */

/* a subscript, computed again before `at` */
static ir_value *
again(shared_sums *s, ir_op *at, ir_value *v)
{
    uint64_t bits;
    if (ir_is_const(v, &bits))
        return edit_const(&s->edit, at, v->type, bits);
    if (edit_visible(v, s->task))
        return v;
    ir_value *x = again(s, at, v->def->args[0]), *y = v->def->nargs > 1 ? again(s, at, v->def->args[1]) : NULL;
    return edit_scalar(&s->edit, at, (rg_op)v->def->code, v->type, x, y, NULL);
}

/* before `at`: the sum goes to memory if there is any */
static void
add_to_memory(shared_sums *s, ir_op *at, const ir_op *sum, ir_value *total)
{
    ir_fn *fn = s->edit.fn;
    ir_value *zero = edit_const(&s->edit, at, total->type, 0);
    ir_value *some = edit_scalar(&s->edit, at, RG_OP_NE, ir_scalar(RG_BOOL), total, zero, NULL);
    ir_op *choice = ir_op_new(fn, RG_OP_IF, 1, 2, sum->loc), *rmw = ir_op_like(fn, sum);
    ir_op_arg(choice, fn, some);
    ir_insert_before(at, choice);
    for (uint32_t i = 0; i < 2; i++)
        ir_append(choice->regions[i], ir_op_new(fn, RG_OP_YIELD, 0, 0, sum->loc));
    ir_op *end = ir_terminator(choice->regions[0]);
    ir_op_arg(rmw, fn, sum->args[0]);
    for (uint32_t k = 1; k + 1 < sum->nargs; k++)
        ir_op_arg(rmw, fn, again(s, end, sum->args[k]));
    ir_op_arg(rmw, fn, cast_to(s, end, ir_scalar((rg_dtype)sum->args[0]->type.dtype), total));
    rmw->atomic = false; /* one thread is left */
    ir_insert_before(end, rmw);
}

static void
reduce_sum(shared_sums *s, const ir_op *sum)
{
    ir_op *task = s->task, *yield = ir_terminator(task->regions[0]);
    ir_fn *fn = s->edit.fn;
    uint32_t n = ir_value_results(task);
    uint8_t *how = arena_new_n(fn->module->arena, uint8_t, n + 1);
    if (n)
        memcpy(how, task->reduce, n);
    how[n] = RG_RMW_ADD;
    ir_op_arg(yield, fn, region_total(s, task->regions[0], sum));
    ir_op_arg(task, fn, nothing(s, task, sum_type(sum)));
    task->reduce = how;
    add_to_memory(s, task->next, sum, ir_op_result_before_trace(fn, task, sum_type(sum), NULL));
}

/* what has no lanes yet */
static bool
is_open_task(const ir_op *op)
{
    return op->code == RG_OP_PARALLEL && op->regions[0]->nparams == op->attr.rank;
}

static void
share_sums_in(shared_sums *s, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (is_open_task(op) && !ir_is_single(op)) {
            s->task = op;
            s->n = 0;
            ir_effects effects = ir_effects_of(op->regions[0], s->edit.scratch);
            s->nplanes = ir_sums_find(&effects, s->planes);
            collect_sums(s, op->regions[0]);
            for (uint32_t i = 0; i < s->n; i++)
                reduce_sum(s, s->sums[i]);
        }
        for (uint32_t i = 0; i < op->nregions && op->code != RG_OP_PARALLEL; i++)
            share_sums_in(s, op->regions[i]);
    }
}

bool
opt_shared_sums(ir_module *m, pass_context *c)
{
    if (!m->target->warp)
        return false;
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        shared_sums s = {0};
        if (!fn->kernel)
            continue;
        edit_start(&s.edit, fn, c->scratch);
        share_sums_in(&s, fn->body);
        changed |= edit_finish(&s.edit);
    }
    return changed;
}
