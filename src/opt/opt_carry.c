/* Elements that a loop loads and stores again are carried by it. SPDX-License-Identifier: Apache-2.0
 *
 *   for %p = .. {                            %0 = load %a[%j]
 *     %x = load %a[%j]                       %1 = for %p = .. (%x = %0) {
 *     store %a[%j], %x - ..          ->        yield %x - ..
 *   }                                        }
 *                                            store %a[%j], %1
 *
 *   for %i = .. {                            %0 = load %u[lo - 1]
 *     %x = load %u[%i - 1]                   for %i = .. (%x = %0) {
 *     store %u[%i], %y               ->        store %u[%i], %y
 *   }                                          yield %y
 *                                            }
 *
 * Before differentiation: the adjoint is then carried, too, instead of being added to memory and loaded again at once. If
 * the loop may not run, the load before it and the store behind it stand in an if that asks. Nothing is carried where the reverse
 * sweep runs in a launch of its own: the loads that were written decide whether that launch is refused (E0530). */
#include "analysis/access.h"
#include "analysis/integers.h"
#include "opt/edit.h"
#include "opt/stored.h"

enum { MOST_CARRIED = 8 /* by one loop */, NEAR = 32 /* ops beside a loop that are looked at */ };

typedef struct carry {
    edit edit;
    ir_footprints footprints;
    stored stored;
    ir_op *loop;
    ir_region *body;
} carry;

static bool
is_plain_access(const ir_op *op, rg_op code)
{
    return op->code == code && op->args[0]->type.kind == IR_BUFFER && !op->atomic && !op->masked;
}

static bool
loads_or_stores(const ir_op *op, const ir_op *element)
{
    return (is_plain_access(op, RG_OP_LOAD) || is_plain_access(op, RG_OP_STORE)) && access_same(op, element);
}

/* a value that begins as `first`, named after the array; the yield's operand for it is the caller's to add */
static ir_value *
carry_element(carry *c, ir_value *first, const ir_op *access)
{
    ir_op_arg(c->loop, c->edit.fn, first);
    c->edit.changed = true;
    return ir_region_param(c->body, first->type, access->args[0]->name);
}

/* -- what is done if the loop runs --------------------------------------------------------------------------------- */

/* v as it is in the first iteration, before `at`; NULL: it is not only integer arithmetic of the index */
static ir_value *
in_first_iteration(carry *c, ir_op *at, ir_value *v, unsigned depth)
{
    if (v == c->body->params[0])
        return c->loop->args[0];
    if (edit_visible(v, c->loop))
        return v;
    uint64_t bits;
    if (ir_is_const(v, &bits))
        return at ? edit_const(&c->edit, at, v->type, bits) : v;
    if (!depth || !v->def || !ir_is_arithmetic(v->def) || ir_is_float((rg_dtype)v->type.dtype))
        return NULL;
    ir_value *args[3] = {0};
    for (uint32_t k = 0; k < v->def->nargs; k++)
        if (!(args[k] = in_first_iteration(c, at, v->def->args[k], depth - 1)))
            return NULL;
    return at ? edit_scalar(&c->edit, at, (rg_op)v->def->code, v->type, args[0], args[1], args[2]) : v;
}

static bool
is_known_first(carry *c, const ir_op *load)
{
    for (uint32_t k = 0; k < load->nargs; k++)
        if (!in_first_iteration(c, NULL, load->args[k], IR_EXACT_DEPTH))
            return false;
    return true;
}

/* the element that the load reads in the first iteration, before the loop */
static ir_value *
load_first(carry *c, const ir_op *load, bool runs)
{
    ir_fn *fn = c->edit.fn;
    ir_op *then = c->loop, *otherwise, *branch = runs ? NULL : edit_if_runs(&c->edit, c->loop, c->loop, &then, &otherwise);
    ir_op *first = ir_op_like(fn, load);
    for (uint32_t k = 0; k < load->nargs; k++)
        ir_op_arg(first, fn, in_first_iteration(c, then, load->args[k], IR_EXACT_DEPTH));
    ir_value *value = ir_op_result(first, fn, load->results[0]->type, load->results[0]->name);
    ir_insert_before(then, first);
    if (runs)
        return value;
    ir_op_arg(then, fn, value);
    ir_op_arg(otherwise, fn, edit_const(&c->edit, otherwise, value->type, 0));
    return ir_op_result(branch, fn, value->type, value->name);
}

/* -- an element that stays the same -------------------------------------------------------------------------------- */

/* Whether the access takes place somewhere beside the loop, too, whether that runs or not. */
static bool
is_met_beside(carry *c, const ir_op *access)
{
    for (int way = 0; way < 2; way++) {
        const ir_op *op = way ? c->loop->next : c->loop->prev;
        for (int n = 0; op && n < NEAR && !ir_footprint(&c->footprints, op)->guards; n++, op = way ? op->next : op->prev)
            if (loads_or_stores(op, access) && op->in_row >= access->in_row)
                return true;
    }
    return false;
}

typedef struct element_use {
    const ir_op *store;
    bool loaded, always; /* always: outside of branches */
} element_use;

/* Whether nothing else in the region has to do with the element. */
static bool
find_element_uses(carry *c, element_use *u, const ir_region *r)
{
    ir_for_ops (op, r) {
        if (loads_or_stores(op, u->store)) {
            if (op->code == RG_OP_LOAD && edit_is_recalled(&c->edit, op->results[0]))
                return false;
            u->loaded |= op->code == RG_OP_LOAD;
            u->always |= r == c->body;
        } else if (op->code == RG_OP_IF) {
            bool guards = ir_footprint(&c->footprints, op)->guards;
            if (guards || !find_element_uses(c, u, op->regions[0]) || !find_element_uses(c, u, op->regions[1]))
                return false;
        } else if (!access_passes(&c->footprints, u->store, op)) {
            return false;
        }
    }
    return true;
}

static bool
stays_same(carry *c, const ir_op *store)
{
    for (uint32_t k = 0; k + 1 < store->nargs; k++)
        if (!edit_visible(store->args[k], c->loop) && !ir_is_const(store->args[k], NULL))
            return false;
    return true;
}

/* Loads become `value`, stores go; what the element holds at the end. */
static ir_value *
carry_through(carry *c, const element_use *u, ir_region *r, ir_value *value)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (op->code == RG_OP_IF) {
            ir_value *ends[2];
            for (int arm = 0; arm < 2; arm++)
                ends[arm] = carry_through(c, u, op->regions[arm], value);
            if (ends[0] == value && ends[1] == value)
                continue;
            for (int arm = 0; arm < 2; arm++)
                ir_op_arg(ir_terminator(op->regions[arm]), c->edit.fn, ends[arm]);
            value = ir_op_result(op, c->edit.fn, value->type, value->name);
        } else if (is_plain_access(op, RG_OP_LOAD) && loads_or_stores(op, u->store)) {
            edit_replace(&c->edit, op->results[0], value);
            ir_remove(op);
        } else if (loads_or_stores(op, u->store)) {
            value = op->args[op->nargs - 1];
            ir_remove(op);
        }
    }
    return value;
}

static ir_op *
access_of_element(carry *c, const ir_op *access, ir_op *at, rg_op code)
{
    ir_op *op = ir_op_new(c->edit.fn, code, access->nargs, 0, access->loc);
    op->flags = access->flags;
    for (uint32_t k = 0; k + 1 < access->nargs; k++)
        ir_op_arg(op, c->edit.fn, in_first_iteration(c, at, access->args[k], 0));
    return op;
}

/* whether the element is stored to again before anything else has to do with it */
static bool
is_stored_behind(carry *c, const ir_op *at, const ir_op *store)
{
    for (int n = 0; at && n < NEAR; n++, at = at->next) {
        if (is_plain_access(at, RG_OP_STORE) && access_same(at, store))
            return true;
        if (!access_passes(&c->footprints, store, at))
            return false;
    }
    return false;
}

static void
keep_element(carry *c, const element_use *u, bool runs)
{
    ir_fn *fn = c->edit.fn;
    ir_type type = u->store->args[u->store->nargs - 1]->type;
    ir_op *then = c->loop, *otherwise, *branch = runs ? NULL : edit_if_runs(&c->edit, c->loop, c->loop, &then, &otherwise);
    ir_op *load = access_of_element(c, u->store, then, RG_OP_LOAD);
    ir_value *first = ir_op_result(load, fn, type, NULL);
    ir_insert_before(then, load);
    if (branch) {
        ir_op_arg(then, fn, first);
        ir_op_arg(otherwise, fn, edit_const(&c->edit, otherwise, type, 0));
        first = ir_op_result(branch, fn, type, NULL);
    }
    bool dead = is_stored_behind(c, c->loop->next, u->store);
    ir_value *carried = carry_element(c, first, u->store);
    ir_op_arg(ir_terminator(c->body), fn, carry_through(c, u, c->body, carried));
    ir_value *last = ir_op_result(c->loop, fn, type, NULL);
    ir_op *at = c->loop->next;
    if (dead)
        return;
    if (branch) {
        edit_if_runs(&c->edit, c->loop, at, &then, &otherwise);
        at = then;
    }
    ir_op *behind = access_of_element(c, u->store, at, RG_OP_STORE);
    ir_op_arg(behind, fn, last);
    ir_insert_before(at, behind);
}

/* the next store to an element that may be kept; false: there is none */
static bool
find_kept(carry *c, const ir_region *r, element_use *u, bool *runs)
{
    ir_for_ops (op, r) {
        if (op->code == RG_OP_IF && (find_kept(c, op->regions[0], u, runs) || find_kept(c, op->regions[1], u, runs)))
            return true;
        *u = (element_use){.store = op};
        if (!is_plain_access(op, RG_OP_STORE) || !stays_same(c, op) || !stored_has_all_planes(&c->stored, op->args[0]) ||
            !find_element_uses(c, u, c->body) || !u->loaded)
            continue;
        bool beside = is_met_beside(c, op);
        *runs = beside || (u->always && ir_runs_at_once(c->loop));
        if (beside || u->always)
            return true;
    }
    return false;
}

/* -- an element of the iteration before ---------------------------------------------------------------------------- */

/* whether the store's element is the load's of the next iteration */
static bool
is_element_of_next(carry *c, const ir_op *store, const ir_op *load)
{
    const ir_value *index = c->body->params[0];
    poly_factor f = poly_factor_of(index);
    bool moved = false, equal = store->args[0] == load->args[0] && store->plane == load->plane && store->nargs == load->nargs + 1 &&
                                edit_visible(store->args[0], c->loop);
    integers in = integers_begin();
    for (uint32_t k = 1; k < load->nargs && equal; k++) {
        unsigned bits;
        poly s = poly_modulo(&in, store->args[k], &bits), l = poly_modulo(&in, load->args[k], &bits), coefficient, rest;
        poly apart = poly_add(&s, &l, -1);
        int64_t of_index, difference;
        equal = s.known && l.known && poly_split(&s, &f, &coefficient, &rest) && poly_is_const(&coefficient, &of_index) &&
                poly_is_const(&apart, &difference) && difference == of_index * c->loop->attr.step;
        for (uint32_t i = 0; i < rest.n && equal; i++)
            for (uint32_t j = 0; j < rest.term[i].n; j++)
                equal &= ir_region_inside(c->loop->parent, rest.term[i].factor[j].value->region);
        moved |= difference != 0;
    }
    integers_end(&in);
    return equal && moved;
}

/* nothing between the store and the load of the next iteration changes the element */
static bool
stands_between(carry *c, const ir_op *store, const ir_op *load)
{
    for (const ir_op *op = c->body->first; op != load; op = op->next)
        if (ir_footprint(&c->footprints, op)->guards || !access_stands(&c->footprints, load, op))
            return false;
    for (const ir_op *op = store->next; op; op = op->next)
        if (!access_stands(&c->footprints, store, op))
            return false;
    return true;
}

static const ir_op *
store_of_before(carry *c, const ir_op *load)
{
    ir_for_ops (op, c->body)
        if (is_plain_access(op, RG_OP_STORE) && ir_type_eq(op->args[op->nargs - 1]->type, load->results[0]->type) &&
            is_element_of_next(c, op, load) && stands_between(c, op, load) && stored_serves(&c->stored, op))
            return op;
    return NULL;
}

static void
carry_from_before(carry *c)
{
    uint32_t n = 0;
    for (ir_op *op = c->body->first, *next; op && n < MOST_CARRIED; op = next) {
        next = op->next;
        if (!is_plain_access(op, RG_OP_LOAD) || edit_is_recalled(&c->edit, op->results[0]) || !is_known_first(c, op))
            continue;
        const ir_op *store = store_of_before(c, op);
        if (!store)
            continue;
        ir_value *carried = carry_element(c, load_first(c, op, ir_runs_at_once(c->loop)), op);
        ir_op_arg(ir_terminator(c->body), c->edit.fn, store->args[store->nargs - 1]);
        ir_op_result(c->loop, c->edit.fn, carried->type, carried->name);
        edit_replace(&c->edit, op->results[0], carried);
        ir_remove(op);
        edit_region(&c->edit, c->body);
        n++;
    }
}

/* -- the walk ------------------------------------------------------------------------------------------------------ */

typedef void loop_change(carry *c);

static void
keep_elements(carry *c)
{
    element_use u;
    bool runs;
    for (int n = 0; n < MOST_CARRIED && find_kept(c, c->body, &u, &runs); n++) {
        keep_element(c, &u, runs);
        edit_region(&c->edit, c->body);
    }
}

/* innermost loops first */
static void
walk_loops(carry *c, ir_region *r, loop_change *change)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t k = 0; k < op->nregions; k++)
            walk_loops(c, op->regions[k], change);
        const ir_effects *does = op->code == RG_OP_FOR ? ir_footprint(&c->footprints, op) : NULL;
        if (!does || does->hears || does->guards || op->records || op->rewinds)
            continue;
        c->loop = op;
        c->body = op->regions[0];
        change(c);
    }
}

static bool
carry_in_loops(ir_module *m, pass_context *context, loop_change *change)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        carry c = {.footprints = ir_footprints_in(context->scratch)};
        edit_start(&c.edit, fn, context->scratch);
        stored_begin(&c.stored, fn, context);
        walk_loops(&c, fn->body, change);
        changed |= edit_finish(&c.edit);
    }
    return changed;
}

bool
opt_carry(ir_module *m, pass_context *c)
{
    if (c->split)
        return false;
    bool before = carry_in_loops(m, c, carry_from_before);
    return carry_in_loops(m, c, keep_elements) || before;
}
