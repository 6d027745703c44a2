/* Loops whose count is known on entry become for. SPDX-License-Identifier: Apache-2.0
 *
 *   loop (%i: i32 = %lo, %s: f32 = %s0) {               for %i = %lo to %n step 1 (%s: f32 = %s0) {
 *     %c = ge %i, %n   exit_if %c (%s, %i)                ...
 *     ...  %i1 = add %i, 1  yield %i1, %s1                yield %s1
 *   }                                              ->   }    ; %i was max(%lo, %n)
 *
 * The loop must have one exit, with nothing but pure ops and loads before it; the bound must be the
 * same in every iteration (its computation moves before the loop, where it runs once as it did at
 * least). Where the induction variable could wrap around and change the count, the loop stays as it
 * is; `i <= n` with n the greatest number, which would never end, is taken not to happen, and so is
 * `i != n` of a signed i that starts behind n, which would wrap on its way.
 *
 * A recording loop, or one whose values are recalled, stays: its partial last iteration is spoken
 * of. */
#include "analysis/effects.h"
#include "opt/edit.h"
#include "opt/pass.h"
#include "analysis/integers.h"

typedef struct counted {
    edit *edit;
    ir_footprints *footprints;
    ir_op *loop, *exit;
    uint32_t k;  /* the induction variable's number */
    rg_op go_on; /* compare: iterates while `variable go_on bound` */
    ir_value *bound;
    int64_t step;
    rg_dtype dtype;   /* of the induction variable */
    rg_dtype counter; /* of the for's index: the same or i64 */
    ir_value *lo, *hi;
} counted;

/* -- finding
 * ------------------------------------------------------------------------------------------- */

static bool
may_stand_before_exit(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_ARRAY:
    case RG_OP_COPY:
    case RG_OP_INSERT:
    case RG_OP_RECALL:
        return false;
    case RG_OP_LOAD:
        return true;
    default:
        return (ir_ops[op->code].flags & IR_PURE) && op->nregions == 0;
    }
}

static ir_op *
only_exit(const ir_op *loop)
{
    ir_op *exit = NULL;
    ir_for_ops(op, loop->regions[0])
    {
        if (op->code == RG_OP_EXIT_IF && exit)
            return NULL;
        if (op->code == RG_OP_EXIT_IF)
            exit = op;
        else if (!exit && !may_stand_before_exit(op))
            return NULL;
    }
    return exit;
}

static rg_op
mirrored(rg_op compare)
{
    switch (compare) {
    case RG_OP_NE:
        return RG_OP_NE;
    case RG_OP_LT:
        return RG_OP_GT;
    case RG_OP_GT:
        return RG_OP_LT;
    case RG_OP_LE:
        return RG_OP_GE;
    case RG_OP_GE:
        return RG_OP_LE;
    default:
        return RG_OP_COUNT;
    }
}

/* The constant by which the yield changes parameter k; 0: it is no such thing. */
static int64_t
step_of(const counted *c, uint32_t k)
{
    const ir_value *param = c->loop->regions[0]->params[k];
    const ir_op *change = edit_now(c->edit, ir_terminator(c->loop->regions[0])->args[k])->def;
    uint64_t bits;
    if (!change || (change->code != RG_OP_ADD && change->code != RG_OP_SUB) ||
        edit_now(c->edit, change->args[0]) != param ||
        !ir_is_const(edit_now(c->edit, change->args[1]), &bits))
        return 0;
    unsigned unused = 64 - ir_bits((rg_dtype)param->type.dtype);
    int64_t step = (int64_t)(bits << unused) >> unused;
    if (change->code == RG_OP_SUB && step == INT64_MIN)
        return 0;
    return change->code == RG_OP_ADD ? step : -step;
}

/* Whether v is the same in every iteration and can be computed before the loop. */
static bool
is_loop_invariant(const counted *c, ir_value *v)
{
    v = edit_now(c->edit, v);
    if (edit_visible(v, c->loop))
        return true;
    ir_op *op = v->def;
    if (!op || op->parent != c->loop->regions[0])
        return false;
    for (uint32_t k = 0; k < op->nargs; k++)
        if (!is_loop_invariant(c, op->args[k]))
            return false;
    if (op->code == RG_OP_LOAD)
        return !ir_effects_conflict(ir_footprint(c->footprints, c->loop), ir_footprint(c->footprints, op));
    return may_stand_before_exit(op);
}

static void
move_out(const counted *c, ir_value *v)
{
    v = edit_now(c->edit, v);
    if (edit_visible(v, c->loop))
        return;
    for (uint32_t k = 0; k < v->def->nargs; k++)
        move_out(c, v->def->args[k]);
    ir_remove(v->def);
    ir_insert_before(c->loop, v->def);
}

static bool
match_compare(counted *c, ir_value *variable, ir_value *bound, rg_op go_on)
{
    variable = edit_now(c->edit, variable);
    if (variable->def || variable->region != c->loop->regions[0] ||
        !ir_is_int((rg_dtype)variable->type.dtype) || go_on == RG_OP_COUNT)
        return false;
    c->k = variable->index;
    c->dtype = (rg_dtype)variable->type.dtype;
    c->go_on = go_on;
    c->bound = edit_now(c->edit, bound);
    c->step = step_of(c, c->k);
    return c->step != 0 && is_loop_invariant(c, bound);
}

static bool
match(counted *c)
{
    if (c->loop->records || edit_any_recalled(c->edit, c->loop->regions[0]))
        return false;
    c->exit = only_exit(c->loop);
    if (!c->exit)
        return false;
    const ir_op *compare = edit_now(c->edit, c->exit->args[0])->def;
    bool negated = compare && compare->code == RG_OP_NOT;
    if (negated)
        compare = edit_now(c->edit, compare->args[0])->def;
    if (!compare || ir_ops[compare->code].form != IR_COMPARE)
        return false;
    rg_op go_on = negated ? (rg_op)compare->code : ir_opposite((rg_op)compare->code);
    return match_compare(c, compare->args[0], compare->args[1], go_on) ||
           match_compare(c, compare->args[1], compare->args[0], mirrored(go_on));
}

/* -- counting
 * ------------------------------------------------------------------------------------------ */

/* Chooses the counter's type; false: the variable might wrap around. */
static bool
choose_counter(counted *c)
{
    range type = range_of_type(c->dtype), n = range_of(c->bound);
    range start = range_of(edit_now(c->edit, c->loop->args[c->k]));
    bool narrow = ir_bits(c->dtype) <= 32, by_one = c->step == 1 || c->step == -1, stays = false;
    c->counter = c->dtype;
    switch (c->go_on) {
    case RG_OP_LT:
        return c->step > 0 && (c->step == 1 || n.max + c->step - 1 <= type.max);
    case RG_OP_GT:
        return c->step < 0 && (c->step == -1 || n.min + c->step + 1 >= type.min);
    case RG_OP_LE:
        if (c->step < 0)
            return false;
        stays = n.max + c->step <= type.max;
        break;
    case RG_OP_GE:
        if (c->step > 0)
            return false;
        stays = n.min + c->step >= type.min;
        break;
    case RG_OP_NE:
        return by_one && (ir_is_signed(c->dtype) || (c->step > 0 ? start.max <= n.min : start.min >= n.max));
    default:
        return false;
    }
    if (!stays)
        c->counter = RG_I64;
    return stays || (by_one && narrow);
}

static ir_value *
converted(const counted *c, ir_op *at, ir_value *v, rg_dtype d)
{
    if ((rg_dtype)v->type.dtype == d)
        return v;
    return edit_scalar(c->edit, at, RG_OP_CAST, ir_scalar(d), v, NULL, NULL);
}

static void
make_bounds(counted *c)
{
    move_out(c, c->bound);
    c->lo = converted(c, c->loop, edit_now(c->edit, c->loop->args[c->k]), c->counter);
    c->hi = converted(c, c->loop, c->bound, c->counter);
    if (c->go_on != RG_OP_LE && c->go_on != RG_OP_GE)
        return;
    ir_type type = ir_scalar(c->counter);
    ir_value *one = edit_const(c->edit, c->loop, type, 1);
    rg_op op = c->go_on == RG_OP_LE ? RG_OP_ADD : RG_OP_SUB;
    c->hi = edit_scalar(c->edit, c->loop, op, type, c->hi, one, NULL);
}

/* What the variable is after the loop: lo, or the first step at or behind hi. */
static ir_value *
last_value(const counted *c)
{
    ir_type type = ir_scalar(c->counter), bits = ir_scalar(RG_U64);
    bool up = c->step > 0;
    ir_op *at = c->loop;
    edit *e = c->edit;
    if (c->step == 1 || c->step == -1)
        return converted(c, at,
                         edit_scalar(e, at, up ? RG_OP_MAX : RG_OP_MIN, type, c->lo, c->hi, NULL),
                         c->dtype);
    /* in 64 bits that wrap, the distance is right even where it has no place in the type itself */
    ir_value *lo = converted(c, at, c->lo, RG_U64), *hi = converted(c, at, c->hi, RG_U64);
    ir_value *one = edit_const(e, at, bits, 1);
    ir_value *by = edit_const(e, at, bits, up ? (uint64_t)c->step : 0 - (uint64_t)c->step);
    ir_value *far = edit_scalar(e, at, RG_OP_SUB, bits, up ? hi : lo, up ? lo : hi, NULL);
    ir_value *steps = edit_scalar(e, at, RG_OP_SUB, bits, far, one, NULL);
    steps = edit_scalar(e, at, RG_OP_DIV, bits, steps, by, NULL);
    steps = edit_scalar(e, at, RG_OP_ADD, bits, steps, one, NULL);
    ir_value *way = edit_scalar(e, at, RG_OP_MUL, bits, steps, by, NULL);
    ir_value *last = edit_scalar(e, at, up ? RG_OP_ADD : RG_OP_SUB, bits, lo, way, NULL);
    ir_value *some =
        edit_scalar(e, at, up ? RG_OP_LT : RG_OP_GT, ir_scalar(RG_BOOL), c->lo, c->hi, NULL);
    return edit_scalar(e, at, RG_OP_SELECT, ir_scalar(c->dtype), some,
                       converted(c, at, last, c->dtype), converted(c, at, c->lo, c->dtype));
}

/* -- rewriting
 * ----------------------------------------------------------------------------------------- */

static ir_op *
make_for(counted *c)
{
    ir_fn *fn = c->edit->fn;
    ir_region *body = c->loop->regions[0];
    ir_op *op = ir_op_new(fn, RG_OP_FOR, c->loop->nargs + 1, 1, c->loop->loc);
    op->attr.step = c->step;
    ir_op_arg(op, fn, c->lo);
    ir_op_arg(op, fn, c->hi);
    ir_region_param(op->regions[0], ir_scalar(c->counter), body->params[c->k]->name);
    for (uint32_t k = 0; k < c->loop->nargs; k++)
        if (k != c->k)
            ir_op_arg(op, fn, c->loop->args[k]);
    ir_insert_before(c->loop, op);
    for (uint32_t k = 0; k < body->nparams; k++) {
        ir_value *old = body->params[k];
        if (k == c->k)
            continue;
        ir_region_param(op->regions[0], old->type, old->name);
        ir_op_result(op, fn, old->type, old->name);
    }
    return op;
}

/* The ops before the exit once more, behind the loop, with what the carried values are there. */
static void
make_loop_results(counted *c, ir_op *to)
{
    ir_fn *fn = c->edit->fn;
    ir_region *body = c->loop->regions[0], *behind = ir_region_new(fn, NULL);
    ir_value **map = arena_new_n(c->edit->scratch, ir_value *, fn->next_id + 1);
    bool last = false;
    for (ir_op *op = body->first; op != c->exit; op = op->next)
        for (uint32_t k = 0; k < op->nargs; k++) {
            op->args[k] = edit_now(c->edit, op->args[k]);
            last |= op->args[k] == body->params[c->k];
        }
    for (uint32_t k = 1; k < c->exit->nargs; k++) {
        c->exit->args[k] = edit_now(c->edit, c->exit->args[k]);
        last |= c->exit->args[k] == body->params[c->k];
    }
    for (uint32_t k = 0; k < body->nparams; k++)
        if (k != c->k)
            map[body->params[k]->id] = to->results[k - (k > c->k)];
    if (last)
        map[body->params[c->k]->id] = last_value(c);
    for (ir_op *op = body->first; op != c->exit; op = op->next)
        ir_op_clone(fn, op, map, behind);
    edit_splice(c->loop, behind, NULL);
    for (uint32_t k = 0; k < c->loop->nresults; k++) {
        ir_value *v = c->exit->args[1 + k];
        edit_replace(c->edit, c->loop->results[k], map[v->id] ? map[v->id] : v);
    }
}

static void
move_body(counted *c, ir_op *to)
{
    ir_region *from = c->loop->regions[0], *body = to->regions[0];
    for (ir_op *op = from->first, *next; op; op = next) {
        next = op->next;
        ir_remove(op);
        if (op != c->exit)
            ir_append(body, op);
    }
    edit_drop_arg(ir_terminator(body), c->k);
    for (uint32_t k = 0; k < from->nparams; k++)
        if (k != c->k)
            edit_replace(c->edit, from->params[k], body->params[1 + k - (k > c->k)]);
    edit_replace(c->edit, from->params[c->k], converted(c, body->first, body->params[0], c->dtype));
}

static void
rewrite_as_for(counted *c)
{
    make_bounds(c);
    ir_op *counted_loop = make_for(c);
    make_loop_results(c, counted_loop);
    move_body(c, counted_loop);
    ir_remove(c->loop);
}

static void make_counted_in(edit *e, ir_footprints *f, ir_region *r);

static void
make_counted(edit *e, ir_footprints *f, ir_op *op)
{
    edit_operands(e, op);
    for (uint32_t k = 0; k < op->nregions; k++)
        make_counted_in(e, f, op->regions[k]);
    counted c = {.edit = e, .footprints = f, .loop = op};
    if (op->code == RG_OP_LOOP && match(&c) && choose_counter(&c))
        rewrite_as_for(&c);
}

static void
make_counted_in(edit *e, ir_footprints *f, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        make_counted(e, f, op);
    }
}

bool
opt_count(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e;
        ir_footprints footprints = ir_footprints_in(c->scratch);
        edit_start(&e, fn, c->scratch);
        make_counted_in(&e, &footprints, fn->body);
        changed |= edit_finish(&e);
    }
    return changed;
}
