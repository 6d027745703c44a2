/* Additions of a thread to elements of its own are loads and stores, for warps. SPDX-License-Identifier: Apache-2.0
 *
 *   rmw.add.adj %x[%i], %a if %m                 %u: f32x32 = load.adj %x[%i] if %m
 *   rmw.add.adj %y[%i], %b if %m          ->     %v: f32x32 = load.adj %y[%i] if %m
 *                                                store.adj %x[%i], %u + %a if %m    (and the other)
 *
 * The memory of a GPU adds one number at a time, and reads and writes eight: a warp does not wait for its additions, but
 * where each thread makes several, all threads wait for memory. Loads are made early (opt_early_loads). In loops, where a load
 * would be waited for in each iteration, additions stay. */
#include "analysis/access.h"
#include "ir/emit.h"
#include "opt/pass.h"

enum { LOOK_BACK = 256 }; /* ops between two additions to one element */

static bool
is_own_addition(const ir_op *op)
{
    return ir_is_add(op) && !op->atomic && op->args[op->nargs - 1 - op->masked]->type.lanes &&
           ir_is_float((rg_dtype)op->args[0]->type.dtype);
}

/* buffer and subscripts, then what else there is */
static ir_op *
access_of_addition(const ir_op *addition, rg_op code, ir_value *stored)
{
    ir_fn *fn = addition->parent->fn;
    uint32_t subscripts = addition->nargs - 1 - addition->masked;
    ir_op *op = ir_op_new(fn, code, addition->nargs, 0, addition->loc);
    op->flags = addition->flags;
    op->rmw = 0;
    for (uint32_t k = 0; k < subscripts; k++)
        ir_op_arg(op, fn, addition->args[k]);
    if (stored)
        ir_op_arg(op, fn, stored);
    if (addition->masked)
        ir_op_arg(op, fn, addition->args[addition->nargs - 1]);
    return op;
}

/* what an addition before has stored to the element, if nothing between has to do with it: other additions, too, would be lost */
static ir_op *
store_before(ir_footprints *f, const ir_op *addition)
{
    ir_op *store = addition->prev;
    for (int n = 0; store && n < LOOK_BACK && !(store->code == RG_OP_STORE && access_same(store, addition)); n++)
        store = store->prev;
    if (!store || store->code != RG_OP_STORE || !access_same(store, addition))
        return NULL;
    for (const ir_op *op = store->next; op != addition; op = op->next)
        if (!access_passes(f, store, op))
            return NULL;
    return store;
}

static void
make_plain_addition(ir_footprints *f, ir_op *addition)
{
    ir_fn *fn = addition->parent->fn;
    ir_emit e = ir_emit_before(addition);
    ir_value *more = addition->args[addition->nargs - 1 - addition->masked], *old;
    ir_op *before = store_before(f, addition);
    if (before) {
        old = before->args[before->nargs - 1 - before->masked];
        ir_remove(before);
    } else {
        ir_op *load = access_of_addition(addition, RG_OP_LOAD, NULL);
        old = ir_op_result(load, fn, more->type, NULL);
        ir_insert_before(addition, load);
    }
    ir_insert_before(addition, access_of_addition(addition, RG_OP_STORE, ir_emit_2(&e, RG_OP_ADD, old, more)));
    ir_remove(addition);
}

typedef struct plain {
    ir_footprints footprints;
    bool changed;
} plain;

static bool
see_additions(ir_op *task, void *user)
{
    plain *p = user;
    if (task->code != RG_OP_PARALLEL)
        return true;
    for (ir_op *op = task->regions[0]->first, *next; op; op = next) {
        next = op->next;
        if (!is_own_addition(op))
            continue;
        make_plain_addition(&p->footprints, op);
        p->changed = true;
    }
    return true;
}

bool
opt_plain_adds(ir_module *m, pass_context *c)
{
    plain p = {.footprints = ir_footprints_in(c->scratch)};
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        if (fn->kernel)
            ir_walk(fn->body, see_additions, &p);
    return p.changed;
}
