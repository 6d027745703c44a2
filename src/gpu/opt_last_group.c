/* A recording sweep's last group of iterations runs only for what comes behind it. SPDX-License-Identifier: Apache-2.0
 *
 *   %v1 = for %t = 0 to %q (%v = %v0) {            %some = or %any, ..      (which moves before the loop)
 *       tape_push %v                               %v1 = for %t = 0 to %q (%v = %v0) {
 *       %w = ..                                        tape_push %v
 *       yield %w                             ->        %u = if %t + 1 < %q or %any { %w = ..  yield %w }
 *   }                                                       else { yield %v }
 *   if %any { .. %v1 .. }                              yield %u
 *                                                  }
 *                                                  if %any { .. %v1 .. }
 *
 * For warps. The groups of a chunked loop (ad/chunks.c) are recorded by their first states. What the last one leads to is the
 * state of the iterations that are left over: where no lane has any, and nobody else asks for the loop's results, nobody
 * needs it, and the reverse sweep computes its iterations in any case. */
#include "analysis/uses.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { WORTH_IT = 32, CLOSURE = 16, CARRIED = 32 };

typedef struct sweep {
    edit edit;
    const uint32_t *uses; /* by id, of the function as it was */
    uint32_t *covered;    /* by id: uses by what moves out of the loop at hand */
    uint32_t nvalues;
} sweep;

static bool
is_pure(ir_op *op, void *user)
{
    uint32_t *weight = user;
    *weight += ir_ops[op->code].flags & IR_FUNCTION ? (uint32_t)op->parent->fn->module->target->function : op->code != RG_OP_CONST;
    return ir_is_arithmetic(op) || op->code == RG_OP_FOR || op->code == RG_OP_YIELD;
}

/* arithmetic, loops of such, and loads where the loop writes nothing */
static bool
may_move(const ir_op *op, bool loads, uint32_t *weight)
{
    bool pure = is_pure((ir_op *)op, weight) || (loads && op->code == RG_OP_LOAD);
    for (uint32_t i = 0; i < op->nregions && pure; i++)
        pure = ir_walk(op->regions[i], is_pure, weight);
    return pure && op->code != RG_OP_YIELD;
}

static bool
writes_nothing(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_STORE && op->code != RG_OP_RMW && op->code != RG_OP_CALL;
}

/* -- what needs the results ---------------------------------------------------------------------------------------- */

/* whether all that asks for v stands in the arm that is taken */
static bool
is_asked_in(const sweep *s, const ir_value *v, const ir_op *branch)
{
    return ir_uses_in(branch->regions[0], v) == s->uses[v->id];
}

/* The branch behind the loop that is taken where some lane has iterations left; NULL: there is none. */
static ir_op *
branch_behind(const ir_op *loop)
{
    for (ir_op *op = loop->next; op; op = op->next) {
        const ir_op *any = op->code == RG_OP_IF ? op->args[0]->def : NULL;
        if (any && any->code == RG_OP_LANES_ANY)
            return op;
        if (op->code == RG_OP_FOR || op->code == RG_OP_LOOP)
            return NULL;
    }
    return NULL;
}

/* lists what v needs that stands behind the loop; false: it cannot move */
static bool
list(const ir_op *loop, ir_value *v, ir_op **found, uint32_t *n)
{
    ir_op *op = v->def;
    uint32_t weight = 0;
    bool behind = false;
    for (const ir_op *other = loop; other && op && !behind; other = other->next)
        behind = other == op;
    for (uint32_t k = 0; k < *n && behind; k++)
        behind = found[k] != op;
    if (!behind)
        return true;
    if (op == loop || (op->code != RG_OP_LANES_ANY && !may_move(op, false, &weight)) || op->nregions)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!list(loop, op->args[i], found, n))
            return false;
    if (*n == CLOSURE)
        return false;
    found[(*n)++] = op;
    return true;
}

/* -- the loop ---------------------------------------------------------------------------------------------------------- */

/* `for` from 0 in steps of 1 that pushes a frame each time */
static bool
is_sweep(const ir_op *op)
{
    uint64_t lo;
    if (op->code != RG_OP_FOR || op->attr.step != 1 || !ir_is_const(op->args[0], &lo) || lo || op->args[1]->type.lanes)
        return false;
    ir_for_ops(each, op->regions[0])
        if (each->code == RG_OP_TAPE_PUSH && !each->again)
            return true;
    return false;
}

static bool
cover(ir_op *op, void *user)
{
    sweep *s = user;
    for (uint32_t i = 0; i < op->nargs; i++)
        s->covered[op->args[i]->id]++;
    return true;
}

/* Marks, last to first, what only leads to the carried values that are not wanted: `moved` by number of op; how many
 * operations these are. */
static uint32_t
mark_needless(sweep *s, const ir_op *loop, const bool *needless, ir_op **moved, uint32_t *n, uint32_t most)
{
    const ir_op *yield = ir_terminator(loop->regions[0]);
    bool loads = ir_walk(loop->regions[0], writes_nothing, NULL);
    uint32_t weight = 0;
    memset(s->covered, 0, s->nvalues * sizeof(*s->covered));
    for (uint32_t k = 0; k < yield->nargs; k++)
        s->covered[yield->args[k]->id] += needless[k];
    for (ir_op *op = yield->prev; op && *n < most; op = op->prev) {
        uint32_t own = 0;
        bool only = op->nresults && may_move(op, loads, &own);
        for (uint32_t i = 0; i < op->nresults && only; i++)
            only = s->covered[op->results[i]->id] == s->uses[op->results[i]->id];
        if (!only || op->code == RG_OP_CONST)
            continue;
        cover(op, s);
        for (uint32_t i = 0; i < op->nregions; i++)
            ir_walk(op->regions[i], cover, s);
        moved[(*n)++] = op;
        weight += own;
    }
    return weight;
}

/* whether the group at hand is not the last, or what it leads to is wanted */
static ir_value *
condition(sweep *s, const ir_op *loop, ir_value *any, ir_op *at)
{
    ir_value *trip = loop->regions[0]->params[0];
    ir_value *next = edit_scalar(&s->edit, at, RG_OP_ADD, trip->type, trip, edit_const(&s->edit, at, trip->type, 1), NULL);
    ir_value *more = edit_scalar(&s->edit, at, RG_OP_NE, ir_scalar(RG_BOOL), next, loop->args[1], NULL);
    return edit_scalar(&s->edit, at, RG_OP_OR, ir_scalar(RG_BOOL), more, any, NULL);
}

static ir_op *
yield_in(ir_fn *fn, ir_region *r, ir_loc loc)
{
    ir_op *yield = ir_op_new(fn, RG_OP_YIELD, 0, 0, loc);
    ir_append(r, yield);
    return yield;
}

/* puts what was marked into a branch of its own, at the end of the body */
static void
wrap(sweep *s, ir_op *loop, const bool *needless, ir_value *any, ir_op **moved, uint32_t n)
{
    ir_region *body = loop->regions[0];
    ir_op *yield = ir_terminator(body), *branch = ir_op_new(s->edit.fn, RG_OP_IF, 1, 2, loop->loc);
    ir_op_arg(branch, s->edit.fn, condition(s, loop, any, yield));
    ir_insert_before(yield, branch);
    for (uint32_t i = n; i-- > 0;) {
        ir_remove(moved[i]);
        ir_append(branch->regions[0], moved[i]);
    }
    ir_op *run = yield_in(s->edit.fn, branch->regions[0], loop->loc);
    ir_op *skip = yield_in(s->edit.fn, branch->regions[1], loop->loc);
    for (uint32_t k = 0; k < yield->nargs; k++) {
        if (!needless[k] || yield->args[k]->region != branch->regions[0])
            continue;
        ir_op_arg(run, s->edit.fn, yield->args[k]);
        ir_op_arg(skip, s->edit.fn, body->params[1 + k]);
        yield->args[k] = ir_op_result(branch, s->edit.fn, yield->args[k]->type, NULL);
    }
    s->edit.changed = true;
}

static void
see_sweep(sweep *s, ir_op *loop)
{
    bool needless[CARRIED] = {0}, some = false;
    ir_op *branch = branch_behind(loop), *closure[CLOSURE];
    uint32_t n = 0, nmoved = 0;
    if (!branch || loop->nresults > CARRIED)
        return;
    for (uint32_t k = 0; k < loop->nresults; k++) {
        const ir_value *v = loop->results[k];
        bool float_or_used = s->uses[v->id] || ir_is_float((rg_dtype)v->type.dtype);
        needless[k] = v->type.kind == IR_SCALAR && float_or_used && is_asked_in(s, v, branch);
        some |= needless[k] && s->uses[v->id];
    }
    if (!some || !list(loop, branch->args[0], closure, &n))
        return;
    uint32_t most = 0;
    ir_for_ops(op, loop->regions[0])
        most++;
    ir_op **moved = arena_new_n(s->edit.scratch, ir_op *, most + 1);
    if (mark_needless(s, loop, needless, moved, &nmoved, most) >= WORTH_IT) {
        for (uint32_t k = 0; k < n; k++) {
            ir_remove(closure[k]);
            ir_insert_before(loop, closure[k]);
        }
        wrap(s, loop, needless, branch->args[0], moved, nmoved);
    }
}

static void
see_region(sweep *s, ir_region *r)
{
    ir_for_ops(op, r) {
        for (uint32_t i = 0; i < op->nregions; i++)
            see_region(s, op->regions[i]);
        if (is_sweep(op))
            see_sweep(s, op);
    }
}

bool
opt_last_group(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        sweep s = {.nvalues = fn->next_id};
        edit_start(&s.edit, fn);
        s.uses = ir_count_uses(s.edit.scratch, fn);
        s.covered = arena_new_n(s.edit.scratch, uint32_t, fn->next_id + 1);
        see_region(&s, fn->body);
        changed |= edit_finish(&s.edit);
    }
    return changed;
}
