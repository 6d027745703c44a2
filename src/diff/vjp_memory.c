/* Reverse of memory operations: semantics of section "Memory". SPDX-License-Identifier: Apache-2.0 */
#include "diff/vjp.h"

#include "analysis/access.h"

static void
root_look(ir_value *root, void *user)
{
    vjp_roots *q = user;
    bool has = q->v->activity.has_adjoint[root->id];
    q->any_adjoint |= has;
    q->all_adjoint &= has;
    q->varied |= q->v->activity.varied[root->id];
    if (!has && q->v->activity.varied[root->id])
        q->without = root;
}

vjp_roots
vjp_look(const vjp *v, ir_value *buffer)
{
    vjp_roots q = {.v = v, .all_adjoint = true};
    ir_buffer_roots(buffer, root_look, &q);
    return q;
}

bool
vjp_lacks_adjoint(vjp *v, const ir_op *op, const vjp_roots *q)
{
    if (q->without)
        vjp_error(v, op, 510, "`%s` carries a value that is being differentiated, but has no adjoint\n"
                  "give the array an adjoint, or stop the gradient there", q->without->name);
    return q->without;
}

const ir_op *
vjp_task_of(const ir_op *op)
{
    for (const ir_region *r = op->parent; r && r->op; r = r->op->parent)
        if (r->op->code == RG_OP_PARALLEL)
            return r->op;
    return NULL;
}

static vjp_place
primal_place(vjp *v, const ir_op *op)
{
    vjp_place p = {.buffer = vjp_primal(v, op->args[0]), .n = op->args[0]->type.rank};
    for (uint32_t i = 0; i < p.n; i++)
        p.index[i] = vjp_primal(v, op->args[1 + i]);
    return p;
}

ir_value *
vjp_load_adjoint(vjp *v, const ir_op *op, const vjp_place *p)
{
    ir_emit e = vjp_at(v, op);
    ir_value *g = rg_build_load(v->b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index);
    return ir_emit_cast(&e, ir_adjoint_dtype((rg_dtype)g->type.dtype), g);
}

/* -- elements that are loaded and then stored ---------------------------------------------------------------------
 *
 *   %x = load %a[%i]   ...   store %a[%i], f(%x)
 *
 * Where no op between the two reaches the element, its adjoint stays there while they are reversed. Then the adjoint of
 * %x takes its place; where that is the same, as for `a[i] += ...`, nothing is left to do. */
enum { LOOK = 128 }; /* ops between the two */

/* The load; NULL: there is none. (What is stored to shares its adjoint with no other array: effects.h.) What runs where it is
 * reversed may come between a late store's reverse and that of a load. */
static const ir_op *
updated_load(vjp *v, const ir_op *store)
{
    const ir_op *op = store->prev;
    bool late = map_get(&v->late, map_ptr(store));
    for (int n = 0; op && n < LOOK; op = op->prev, n++) {
        if (op->code == RG_OP_LOAD && !op->atomic && access_same(op, store))
            return vjp_active(v, op->results[0]) && late == (map_get(&v->late, map_ptr(op)) != NULL) ? op : NULL;
        if (!access_passes(&v->footprints, store, op))
            return NULL;
    }
    return NULL;
}

static void
store_adjoint(vjp *v, const ir_op *op, const vjp_place *p, ir_value *g)
{
    ir_emit e = vjp_at(v, op);
    g = ir_emit_cast(&e, (rg_dtype)p->buffer->type.dtype, g);
    rg_build_store(v->b, op->plane | RG_ADJOINT, p->buffer, p->n, p->index, g);
}

static void
reverse_load(vjp *v, const ir_op *op)
{
    ir_value *g = vjp_adjoint(v, op->results[0]), *stays = map_get(&v->stays, map_ptr(op));
    map_set(&v->stays, map_ptr(op), NULL); /* the next reverse may be that of a part of the region */
    if (g == stays)
        return;
    vjp_roots q = vjp_look(v, op->args[0]);
    if (g && vjp_lacks_adjoint(v, op, &q))
        return;
    vjp_place p = primal_place(v, op);
    ir_emit e = vjp_at(v, op);
    if (stays)
        store_adjoint(v, op, &p, vjp_adjoint_or_zero(v, op->results[0]));
    else
        vjp_add_adjoint(v, op, &p, ir_emit_cast(&e, (rg_dtype)p.buffer->type.dtype, g));
}

static void
reverse_store(vjp *v, const ir_op *op)
{
    vjp_place p = primal_place(v, op);
    ir_value *g = vjp_load_adjoint(v, op, &p);
    const ir_op *load = updated_load(v, op);
    ir_emit e = vjp_at(v, op);
    if (load)
        map_set(&v->stays, map_ptr(load), g);
    else
        store_adjoint(v, op, &p, ir_emit_const(&e, (rg_dtype)g->type.dtype, 0));
    vjp_accumulate(v, op->args[op->nargs - 1], g);
}

static void
reverse_rmw(vjp *v, const ir_op *op)
{
    if (op->nresults && vjp_active(v, op->results[0])) {
        vjp_error(v, op, 511, "the float that an atomic returns depends on the order of threads and has no "
                  "derivative\nread the array in a later loop instead");
        return;
    }
    switch ((rg_rmw)op->rmw) {
    case RG_RMW_ADD:
        if (vjp_active(v, op->args[op->nargs - 1])) {
            vjp_place p = primal_place(v, op);
            vjp_accumulate(v, op->args[op->nargs - 1], vjp_load_adjoint(v, op, &p));
        }
        break;
    case RG_RMW_MIN:
    case RG_RMW_MAX:
    case RG_RMW_MUL: {
        vjp_place p = primal_place(v, op);
        vjp_reverse_contest(v, op, &p);
        break;
    }
    case RG_RMW_AND:
    case RG_RMW_OR:
    case RG_RMW_XOR:
    case RG_RMW_EXCHANGE:
    case RG_RMW_CAS:
    case RG_RMW_COUNT:
        vjp_error(v, op, 513, "an atomic exchange of a differentiated array depends on the order of threads");
        break;
    }
}

ir_value *
vjp_put_back(const vjp *v, const ir_op *store)
{
    return v->put_back ? map_get(v->put_back, map_ptr(store)) : NULL;
}

void
vjp_reverse_memory(vjp *v, const ir_op *op)
{
    ir_value *held = vjp_put_back(v, op);
    if (held) {
        vjp_place p = primal_place(v, op);
        rg_build_store(v->b, RG_PRIMAL, p.buffer, p.n, p.index, vjp_primal(v, held));
    }
    if (op->args[0]->type.kind != IR_BUFFER || !ir_is_float((rg_dtype)op->args[0]->type.dtype))
        return;
    if (op->code == RG_OP_LOAD) {
        reverse_load(v, op);
        return;
    }
    vjp_roots q = vjp_look(v, op->args[0]);
    if (!q.any_adjoint)
        return;
    if (op->code == RG_OP_STORE)
        reverse_store(v, op);
    else
        reverse_rmw(v, op);
}
