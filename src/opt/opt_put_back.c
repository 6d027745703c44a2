/* An adjoint that is taken and put back stays where it is. SPDX-License-Identifier: Apache-2.0
 *
 *   %g: f64 = load.adj %v[%i]                        %g: f64 = load.adj %v[%i]
 *   store.adj %v[%i], 0                        ->    ...
 *   ... (nothing that may touch it)
 *   rmw.add.adj %v[%i], %g
 *
 * which is what the reverse of `v[i] += ...` does. Where something else is put there, the two become one
 * store of it. */
#include "analysis/effects.h"
#include "opt/pass.h"

enum { LOOK = 128 }; /* ops between the two, or between load and store */

static bool
is_access(const ir_op *op)
{
    return op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW;
}

static uint32_t
rank_of(const ir_op *access)
{
    return access->args[0]->type.kind == IR_BUFFER ? access->args[0]->type.rank : 0;
}

static bool
same_element(const ir_op *a, const ir_op *b)
{
    if (a->plane != b->plane || a->direction != b->direction || a->args[0] != b->args[0] ||
        a->masked || b->masked || a->successive || b->successive)
        return false;
    for (uint32_t k = 1; k <= rank_of(a); k++) {
        uint64_t x, y;
        bool equal = a->args[k] == b->args[k];
        if (!equal && !(ir_is_const(a->args[k], &x) && ir_is_const(b->args[k], &y) && x == y))
            return false;
    }
    return true;
}

typedef struct access_query {
    const ir_op *of;
    bool writes; /* only those that write count */
} access_query;

static bool
leaves_alone(ir_op *op, void *user)
{
    const access_query *q = user;
    if (op->code == RG_OP_CALL || op->code == RG_OP_EXIT_IF)
        return false;
    if (!is_access(op) || op->plane != q->of->plane || (q->writes && op->code == RG_OP_LOAD))
        return true;
    return !ir_may_be_same(op->args[0], q->of->args[0]);
}

static bool
passes_over(ir_op *op, const access_query *q)
{
    for (uint32_t i = 0; i < op->nregions; i++)
        if (!ir_walk(op->regions[i], leaves_alone, (void *)(uintptr_t)q))
            return false;
    return leaves_alone(op, (void *)(uintptr_t)q);
}

/* where the element that `zero` clears is added to next, if nothing looks at it before */
static ir_op *
find_add(ir_op *zero)
{
    access_query any = {zero, false};
    ir_op *op = zero->next;
    for (int n = 0; op && n < LOOK; op = op->next, n++) {
        if (op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && !op->atomic && !op->nresults &&
            same_element(op, zero))
            return op;
        if (!passes_over(op, &any))
            return NULL;
    }
    return NULL;
}

/* whether v is what the element held before `zero` */
static bool
was_there(const ir_op *zero, const ir_value *v)
{
    const ir_op *load = v->def;
    access_query writes = {zero, true};
    if (!load || load->code != RG_OP_LOAD || load->parent != zero->parent || !same_element(load, zero))
        return false;
    ir_op *op = zero->prev;
    for (int n = 0; op && n < LOOK; op = op->prev, n++) {
        if (op == load)
            return true;
        if (!passes_over(op, &writes))
            return false;
    }
    return false;
}

static bool
is_zeroing(const ir_op *op)
{
    uint64_t bits;
    if (op->code != RG_OP_STORE || !(op->plane & RG_ADJOINT) || op->masked || op->successive)
        return false;
    const ir_value *stored = op->args[op->nargs - 1];
    return ir_is_const(stored, &bits) && !bits && ir_is_float((rg_dtype)stored->type.dtype);
}

static bool
put_back(ir_op *zero)
{
    ir_op *add = find_add(zero);
    if (!add)
        return false;
    if (was_there(zero, add->args[add->nargs - 1])) {
        ir_remove(add);
    } else {
        add->code = RG_OP_STORE;
        add->rmw = 0;
    }
    ir_remove(zero);
    return true;
}

static bool
put_back_in(ir_region *r)
{
    bool changed = false;
    for (ir_op *op = r->first, *next; op; op = next) {
        ir_op *before = op->prev;
        for (uint32_t i = 0; i < op->nregions; i++)
            changed |= put_back_in(op->regions[i]);
        next = op->next;
        if (is_zeroing(op) && put_back(op)) {
            next = before ? before->next : r->first;
            changed = true;
        }
    }
    return changed;
}

bool
opt_put_back(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        changed |= put_back_in(fn->body);
    return changed;
}
