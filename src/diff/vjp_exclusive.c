/* Adds to the adjoints of array elements: plain, where no other thread can reach the element.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the sizes of a launch decide, a flag computed before the task begins does:
 *
 *   if %flag { rmw.add.adj %x[%i], %g } else { rmw.add.adj.atomic %x[%i], %g }
 */
#include "diff/vjp.h"

/* -- conditions, computed in f64: exact below 2^50, and what is larger does not hold ------------------- */
static ir_value *
build_factor(vjp *v, const ir_emit *e, const poly_factor *f)
{
    ir_value *x = vjp_primal(v, (ir_value *)(uintptr_t)f->value);
    if (f->axis)
        x = rg_build_extent(v->b, x, f->axis - 1);
    return ir_emit_cast(e, RG_F64, x);
}

static ir_value *
build_condition(vjp *v, const ir_emit *e, const poly *p)
{
    ir_value *sum = NULL, *size = NULL;
    for (uint32_t i = 0; i < p->n; i++) {
        ir_value *t = ir_emit_float(e, RG_F64, (double)p->term[i].c);
        for (uint32_t k = 0; k < p->term[i].n; k++)
            t = ir_emit_2(e, RG_OP_MUL, t, build_factor(v, e, &p->term[i].factor[k]));
        ir_value *abs = ir_emit_1(e, RG_OP_ABS, t);
        sum = sum ? ir_emit_2(e, RG_OP_ADD, sum, t) : t;
        size = size ? ir_emit_2(e, RG_OP_ADD, size, abs) : abs;
    }
    return ir_emit_2(e, RG_OP_AND, ir_emit_2(e, RG_OP_GE, sum, ir_emit_float(e, RG_F64, 0)),
                  ir_emit_2(e, RG_OP_LE, size, ir_emit_float(e, RG_F64, 0x1p50)));
}

static ir_value *
build_flag(vjp *v, const ad_exclusive *own)
{
    ir_emit e = vjp_at(v, own->task);
    ir_value *flag = NULL;
    for (uint32_t i = 0; i < own->n; i++) {
        ir_value *holds = build_condition(v, &e, &own->condition[i]);
        flag = flag ? ir_emit_2(&e, RG_OP_AND, flag, holds) : holds;
    }
    return flag;
}

/* -- tasks ---------------------------------------------------------------------------------------------- */
typedef struct opening {
    vjp *v;
    const ir_op *task;
} opening;

static ad_exclusive *
exclusive_of(vjp *v, const ir_value *buffer)
{
    for (size_t i = 0; i < v->exclusive.n; i++)
        if (v->exclusive.at[i].buffer == buffer)
            return &v->exclusive.at[i];
    return NULL;
}

/* A GPU adds atomically without waiting: it has nothing to choose, where it has such an instruction. */
static bool
is_choice_worthwhile(const ir_op *load)
{
    rg_dtype d = (rg_dtype)load->args[0]->type.dtype;
    return !load->parent->fn->module->target->adds_freely || (d != RG_F32 && d != RG_F64);
}

static bool
open_array(ir_op *op, void *user)
{
    opening *o = user;
    vjp *v = o->v;
    if (op->code != RG_OP_LOAD || op->args[0]->type.kind != IR_BUFFER ||
        !ir_is_float((rg_dtype)op->args[0]->type.dtype) || !vjp_active(v, op->results[0]) ||
        exclusive_of(v, op->args[0]))
        return true;
    ad_exclusive own = ad_exclusive_find(&v->activity, o->task, op->args[0], v->c->scratch);
    if (own.n && is_choice_worthwhile(op))
        own.flag = build_flag(v, &own);
    vec_push(&v->exclusive, own);
    return true;
}

void
vjp_open_exclusive(vjp *v, const ir_op *task)
{
    opening o = {v, task};
    vec_clear(&v->exclusive);
    ir_walk(task->regions[0], open_array, &o);
}

static const char in_rows[] = "no two threads reach one element, as subscripts of declared axes stay in their rows";

static const char own_element[] = "no other thread reaches this element";

/* `why` it is as it is, for rgc explain */
static void
add_to_adjoint(vjp *v, const ir_op *load, const vjp_place *p, ir_value *g, bool atomic, const char *why)
{
    rg_build_rmw(v->b, load->plane | RG_ADJOINT, RG_RMW_ADD, atomic, p->buffer, p->n, p->index, g, NULL);
    ir_op *op = ir_build_region(v->b)->last;
    if (op && op->code == RG_OP_RMW)
        op->why = why;
}

void
vjp_add_adjoint(vjp *v, const ir_op *load, const vjp_place *p, ir_value *g)
{
    const ad_exclusive *own = v->in_parallel ? exclusive_of(v, load->args[0]) : NULL;
    if (!v->in_parallel || (own && !own->why && !own->n)) {
        add_to_adjoint(v, load, p, g, false, own && own->promised ? in_rows : NULL);
    } else if (own && own->why && ad_is_own_element(&v->activity, own->task, load)) {
        add_to_adjoint(v, load, p, g, false, own_element);
    } else if (!own || own->why || !own->flag) {
        add_to_adjoint(v, load, p, g, true, own ? own->why : NULL);
    } else {
        rg_build_if(v->b, own->flag);
        add_to_adjoint(v, load, p, g, false, NULL);
        rg_build_else(v->b);
        add_to_adjoint(v, load, p, g, true, NULL);
        rg_build_end(v->b);
    }
}
