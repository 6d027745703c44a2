/* What both arms of an if compute alike, of other operands, is computed once behind it. SPDX-License-Identifier: Apache-2.0
 *
 *   %r = if %c {                         %p, %q = if %c {
 *     %a = sub %x, %y                      %a = sub %x, %y
 *     %b = div %a, %y                      yield %a, %y
 *     yield %b                    ->     } else {
 *   } else {                               yield %x, %z
 *     %d = div %x, %z                    }
 *     yield %d                           %r = div %p, %q
 *   }
 *
 * Threads in lanes run both arms where they disagree: a limiter's quotient, say, of one pair of neighbours or of the next. The
 * operands that differ become results of the if, which are selects in lanes; so that is done where it saves more than it costs. An
 * if within the arms counts as an operation where its arms are alike in turn, and hold nothing else. Before differentiation: the
 * reverse has one quotient less, too. Each thread computes what it did. */
#include "analysis/cost.h"
#include "analysis/uses.h"
#include "opt/edit.h"
#include "opt/pass.h"

/* operations saved, at least; ops in a row; pairs that are looked at; the cost of what cannot be had from outside of the if */
enum { LEAST_GAIN = 4, DEPTH = 16, MOST_PAIRS = 512, IMPOSSIBLE = 1 << 20 };

typedef struct value_pair {
    ir_value *v[2];
    bool joined;      /* computed behind the if; else a result of it, or the same for both */
    ir_value *result; /* made */
} value_pair;

typedef struct joining {
    edit *e;
    ir_op *branch;
    const uint32_t *uses;
    vec(value_pair) pairs; /* of the result in hand */
} joining;

/* -- what it costs ------------------------------------------------------------------------------------------------------ */

static value_pair *
pair_of_values(joining *j, const ir_value *x, const ir_value *y)
{
    for (size_t i = 0; i < j->pairs.n; i++)
        if (j->pairs.at[i].v[0] == x && j->pairs.at[i].v[1] == y)
            return &j->pairs.at[i];
    return NULL;
}

static bool
are_same(const ir_value *x, const ir_value *y)
{
    uint64_t a, b;
    return x == y || (ir_type_eq(x->type, y->type) && ir_is_const(x, &a) && ir_is_const(y, &b) && a == b);
}

static bool
do_alike(const joining *j, const ir_value *x, const ir_value *y)
{
    const ir_op *a = x->def, *b = y->def;
    bool inside = a && b && ir_region_inside(a->parent, j->branch->regions[0]) &&
                  ir_region_inside(b->parent, j->branch->regions[1]);
    if (!inside || a->code != b->code || a->nresults != 1 || a->nargs != b->nargs || j->uses[x->id] != 1 || j->uses[y->id] != 1 ||
        !ir_flags_eq(&a->flags, &b->flags))
        return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!ir_type_eq(a->args[i]->type, b->args[i]->type))
            return false;
    return a->code == RG_OP_IF || (ir_ops[a->code].form != IR_OTHER && (ir_ops[a->code].flags & IR_PURE));
}

static int32_t cost_of_pair(joining *j, ir_value *x, ir_value *y, unsigned depth);

/* whether all that the arm of an inner if does is done behind the outer one */
static bool
is_all_joined(joining *j, const ir_region *arm, unsigned side)
{
    ir_for_ops (op, arm) {
        bool joined = op->code == RG_OP_CONST || op->code == RG_OP_YIELD;
        for (size_t i = 0; i < j->pairs.n && !joined; i++)
            joined = j->pairs.at[i].joined && j->pairs.at[i].v[side]->def == op;
        if (!joined)
            return false;
    }
    return true;
}

static int32_t
cost_of_arms(joining *j, const ir_op *a, const ir_op *b, unsigned depth)
{
    int32_t cost = 0;
    for (uint32_t arm = 0; arm < 2 && cost < IMPOSSIBLE; arm++) {
        cost += cost_of_pair(j, ir_terminator(a->regions[arm])->args[0], ir_terminator(b->regions[arm])->args[0], depth);
        if (!is_all_joined(j, a->regions[arm], 0) || !is_all_joined(j, b->regions[arm], 1))
            cost = IMPOSSIBLE;
    }
    return cost;
}

/* computed once instead of twice, of operands that have to be there */
static int32_t
cost_of_joining(joining *j, const ir_op *a, const ir_op *b, unsigned depth)
{
    int32_t cost = -ir_cost(a);
    for (uint32_t i = 0; i < a->nargs && cost < IMPOSSIBLE; i++)
        cost += cost_of_pair(j, a->args[i], b->args[i], depth);
    return a->code == RG_OP_IF && cost < IMPOSSIBLE ? cost + cost_of_arms(j, a, b, depth) : cost;
}

/* What it takes to have x or y, by the arm that ran, behind the if. */
static int32_t
cost_of_pair(joining *j, ir_value *x, ir_value *y, unsigned depth)
{
    if (are_same(x, y) || pair_of_values(j, x, y))
        return 0;
    if (!ir_type_eq(x->type, y->type) || x->type.kind != IR_SCALAR)
        return IMPOSSIBLE;
    bool visible = ir_region_inside(j->branch->regions[0], x->region) && ir_region_inside(j->branch->regions[1], y->region);
    size_t before = j->pairs.n;
    int32_t cost = depth && before < MOST_PAIRS && do_alike(j, x, y) ? cost_of_joining(j, x->def, y->def, depth - 1) : IMPOSSIBLE;
    bool joined = cost < IMPOSSIBLE && (!visible || cost <= 1);
    if (!joined)
        j->pairs.n = before;
    if (!joined && !visible)
        return IMPOSSIBLE;
    value_pair made = {{x, y}, joined, NULL};
    vec_push(&j->pairs, made);
    return joined ? cost : 1;
}

/* -- doing it ------------------------------------------------------------------------------------------------------------ */

static ir_value *build_pair(joining *j, const ir_emit *e, ir_value *x, ir_value *y);

static ir_value *
result_of_branch(joining *j, ir_value *x, ir_value *y)
{
    ir_fn *fn = j->e->fn;
    const ir_op *first = ir_terminator(j->branch->regions[0]), *second = ir_terminator(j->branch->regions[1]);
    for (uint32_t k = 0; k < first->nargs; k++)
        if (first->args[k] == x && second->args[k] == y)
            return j->branch->results[k];
    ir_op_arg(ir_terminator(j->branch->regions[0]), fn, x);
    ir_op_arg(ir_terminator(j->branch->regions[1]), fn, y);
    return ir_op_result(j->branch, fn, x->type, x->name);
}

static ir_value *
build_op(joining *j, const ir_emit *e, const ir_op *a, const ir_op *b)
{
    ir_fn *fn = j->e->fn;
    ir_op *made = ir_op_like(fn, a);
    for (uint32_t i = 0; i < a->nargs; i++)
        ir_op_arg(made, fn, build_pair(j, e, a->args[i], b->args[i]));
    ir_emit_place(e, made);
    for (uint32_t arm = 0; arm < a->nregions; arm++) {
        ir_op *end = ir_op_new(fn, RG_OP_YIELD, 1, 0, a->loc);
        ir_append(made->regions[arm], end);
        ir_emit inside = {fn, made->regions[arm], end, a->loc};
        ir_value *x = ir_terminator(a->regions[arm])->args[0], *y = ir_terminator(b->regions[arm])->args[0];
        ir_op_arg(end, fn, build_pair(j, &inside, x, y));
    }
    return ir_op_result(made, fn, a->results[0]->type, a->results[0]->name);
}

static ir_value *
build_pair(joining *j, const ir_emit *e, ir_value *x, ir_value *y)
{
    uint64_t bits;
    if (are_same(x, y))
        return ir_is_const(x, &bits) ? ir_emit_const(e, ir_dtype(x), bits) : x;
    value_pair *pair = pair_of_values(j, x, y);
    if (!pair->result)
        pair->result = pair->joined ? build_op(j, e, x->def, y->def) : result_of_branch(j, x, y);
    return pair->result;
}

static void
join_arms_of(joining *j, ir_op *branch)
{
    j->branch = branch;
    uint32_t n = branch->nresults;
    for (uint32_t k = 0; k < n; k++) {
        ir_value *x = ir_terminator(branch->regions[0])->args[k], *y = ir_terminator(branch->regions[1])->args[k];
        vec_clear(&j->pairs);
        if (are_same(x, y) || cost_of_pair(j, x, y, DEPTH) > 1 - LEAST_GAIN || !vec_last(&j->pairs).joined)
            continue;
        ir_emit e = {j->e->fn, branch->parent, branch->next, branch->loc};
        edit_replace(j->e, branch->results[k], build_pair(j, &e, x, y));
        j->e->changed = true;
    }
}

static void
join_arms_in(joining *j, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(j->e, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            join_arms_in(j, op->regions[i]);
        if (op->code == RG_OP_IF)
            join_arms_of(j, op);
    }
}

bool
opt_join_arms(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e = {0};
        if (!fn->kernel)
            continue;
        edit_start(&e, fn, c->scratch);
        joining j = {.e = &e, .uses = ir_count_uses(c->scratch, fn), .pairs.in = c->scratch};
        join_arms_in(&j, fn->body);
        changed |= edit_finish(&e);
    }
    return changed;
}
