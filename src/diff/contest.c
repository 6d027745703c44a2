/* Atomic min, max and mul by many threads. SPDX-License-Identifier: Apache-2.0 */
#include "diff/contest.h"
#include "diff/apart.h"

static ir_value *
op2(rg_builder *b, rg_op code, ir_value *x, ir_value *y)
{
    return rg_build_2(b, code, x, y);
}

bool
ad_is_contest(const ir_op *op)
{
    return op->code == RG_OP_RMW && op->plane == 0 && ir_is_float((rg_dtype)op->args[0]->type.dtype) &&
           (op->rmw == RG_RMW_MIN || op->rmw == RG_RMW_MAX || op->rmw == RG_RMW_MUL);
}

/* -- what stands in the way ------------------------------------------------------------------------------------ */
typedef struct meeting {
    const ir_fn *from;
    const ir_op *task;
    const ir_value *array; /* of the contest */
    rg_rmw kind;
    const ir_op *access;
    const ir_region *region; /* subscripts that stand in it prove something */
    diag_list *diags;
} meeting;

static void
refuse(const meeting *m, const ir_op *update, const ir_op *access, const char *does, const char *instead)
{
    const char *name = update->args[0]->name;
    diag_add(m->diags, DIAG_ERROR, 512, ir_place(m->from->module, access->loc),
             "`%s` is the target of an atomic %s that is differentiated, and the same element may be %s\n%s",
             name ? name : "an array", ir_rmw_names[update->rmw], does, instead);
    diag_add(m->diags, DIAG_NOTE, 512, ir_place(m->from->module, update->loc), "the atomic %s is here",
             ir_rmw_names[update->rmw]);
}

static bool
lets_write(ir_op *op, void *user)
{
    const meeting *m = user;
    if (!ad_is_contest(op) || op->args[0] != m->array || op->rmw != m->kind ||
        ad_always_apart(op, m->access, m->region))
        return true;
    bool inside = ir_region_inside(m->access->parent, m->task->regions[0]);
    refuse(m, op, m->access, inside ? "written here as well" : "written here, after it",
           "use another array or another loop, or elements whose subscripts differ by a constant");
    return false;
}

bool
ad_contest_lets(const ir_fn *from, const ir_op *task, const ir_value *array, rg_rmw kind, const ir_op *access,
                const ir_region *region, diag_list *diags)
{
    meeting m = {from, task, array, kind, access, region, diags};
    return !ir_may_be_same(array, access->args[0]) || ir_walk(task->regions[0], lets_write, &m);
}

typedef struct agreement {
    const ir_fn *from;
    const ir_op *task, *update;
    const ad_activity *a;
    diag_list *diags;
} agreement;

static bool
agrees_with_update(ir_op *op, void *user)
{
    agreement *g = user;
    const ir_op *update = g->update;
    const meeting m = {g->from, g->task, update->args[0], (rg_rmw)update->rmw, op, NULL, g->diags};
    bool reads = op->nresults && (op->code == RG_OP_LOAD || op->code == RG_OP_CALL) && ad_is_active(g->a, op->results[0]);
    bool writes = ir_ops[op->code].flags & IR_WRITE;
    for (uint32_t i = 0; (reads || writes) && i < op->nargs; i++) {
        if (op->args[i]->type.kind != IR_BUFFER || op->plane || !ir_may_be_same(op->args[i], update->args[0]))
            continue;
        if (op->code == RG_OP_CALL) {
            refuse(&m, update, op, "read here by a function", "read it in another loop");
            return false;
        }
        if (ad_is_contest(op) && op->args[0] == update->args[0] && op->rmw == update->rmw)
            continue;
        if (ad_always_apart(op, update, g->task->regions[0]))
            continue;
        refuse(&m, update, op, writes ? "written here as well" : "read here",
               writes ? "use another array or another loop, or elements whose subscripts differ by a constant"
                      : "read it in another loop");
        return false;
    }
    return true;
}

static void
takes_part(ir_value *root, void *user)
{
    agreement *g = user;
    if (g->a->has_adjoint[root->id])
        g->update = NULL;
}

static bool
update_agrees(ir_op *op, void *user)
{
    agreement *g = user;
    g->update = op;
    if (!ad_is_contest(op))
        return true;
    ir_buffer_roots(op->args[0], takes_part, g);
    if (g->update)
        return true; /* nothing flows through it */
    g->update = op;
    return ir_walk(g->task->regions[0], agrees_with_update, g);
}

bool
ad_contests_agree(const ir_fn *from, const ir_op *task, const ad_activity *a, diag_list *diags)
{
    agreement g = {from, task, NULL, a, diags};
    return ir_walk(task->regions[0], update_agrees, &g);
}

/* -- buffers ------------------------------------------------------------------------------------------------- */
static ir_value *
buffer_like(rg_builder *b, ir_value *array, rg_dtype dtype)
{
    ir_value *extent[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(array);
    for (uint32_t k = 0; k < rank; k++)
        extent[k] = rg_build_extent(b, array, k);
    return rg_build_temp(b, dtype, rank, extent);
}

void
ad_contest_open(rg_builder *b, ad_contest *c)
{
    if (c->op == RG_RMW_MUL) {
        c->product = buffer_like(b, c->buffer, (rg_dtype)c->buffer->type.dtype);
        c->zeros = buffer_like(b, c->buffer, RG_I64);
        c->nought = buffer_like(b, c->buffer, (rg_dtype)c->buffer->type.dtype);
        ir_value *index[RG_MAX_RANK];
        uint32_t rank = rg_value_rank(c->buffer);
        ad_each_element(b, c->product, index);
        rg_build_store(b, RG_PRIMAL, c->product, rank, index,
                       rg_build_float(b, (rg_dtype)c->product->type.dtype, 1));
        rg_build_end(b);
    } else {
        c->first = buffer_like(b, c->buffer, RG_I64);
        c->ties = buffer_like(b, c->buffer, RG_I64);
    }
}

void
ad_each_element(rg_builder *b, ir_value *buffer, ir_value **index)
{
    ir_value *lo[RG_MAX_RANK], *hi[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(buffer);
    for (uint32_t k = 0; k < rank; k++) {
        lo[k] = rg_build_int(b, RG_I64, 0);
        hi[k] = rg_build_extent(b, buffer, k);
    }
    rg_build_parallel(b, rank, lo, hi, index);
}

void
ad_contest_keep(rg_builder *b, ir_value *array, ir_value **kept)
{
    ir_value *index[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(array);
    *kept = buffer_like(b, array, (rg_dtype)array->type.dtype);
    ad_each_element(b, *kept, index);
    rg_build_store(b, RG_PRIMAL, *kept, rank, index, rg_build_load(b, RG_PRIMAL, array, rank, index));
    rg_build_end(b);
}

ir_value *
ad_contest_key(rg_builder *b, const ad_domain *d, ir_value *const *index)
{
    ir_value *threads = rg_build_int(b, RG_I64, 1);
    for (uint32_t k = 0; k < d->rank; k++)
        threads = op2(b, RG_OP_MUL, threads,
                      op2(b, RG_OP_SUB, rg_build_cast(b, RG_I64, d->hi[k]), rg_build_cast(b, RG_I64, d->lo[k])));
    return op2(b, RG_OP_SUB, threads, ad_thread_number(b, d, index));
}

/* -- sweeps ---------------------------------------------------------------------------------------------------- */
/* an access to `buffer` at op's element, before op */
static ir_op *
access_like(const ad_emit *e, rg_op code, const ir_op *op, ir_value *buffer)
{
    ir_op *made = ir_op_new(e->fn, code, 0, 0, op->loc);
    ir_op_arg(made, e->fn, buffer);
    for (uint32_t i = 1; i + 1 < op->nargs; i++)
        ir_op_arg(made, e->fn, op->args[i]);
    return made;
}

static ir_value *
load_like(const ad_emit *e, const ir_op *op, ir_value *buffer)
{
    ir_op *load = access_like(e, RG_OP_LOAD, op, buffer);
    ad_place(e, load);
    return ir_op_result(load, e->fn, ir_scalar((rg_dtype)buffer->type.dtype), NULL);
}

static void
update_like(const ad_emit *e, const ir_op *op, ir_value *buffer, rg_rmw kind, ir_value *value)
{
    ir_op *update = access_like(e, RG_OP_RMW, op, buffer);
    update->rmw = (uint8_t)kind;
    update->atomic = true;
    ir_op_arg(update, e->fn, value);
    ad_place(e, update);
}

void
ad_contest_look(ir_fn *fn, const ad_contest *c, ir_op *op, ir_value *key, unsigned round)
{
    ad_emit e = {fn, op->parent, op, op->loc};
    ir_value *v = op->args[op->nargs - 1];
    rg_dtype dtype = (rg_dtype)v->type.dtype;
    if (c->op == RG_RMW_MUL) {
        ir_value *is_zero = ad_op2(&e, RG_OP_EQ, v, ad_float(&e, dtype, 0));
        update_like(&e, op, c->product, RG_RMW_MUL,
                    ad_op3(&e, RG_OP_SELECT, is_zero, ad_float(&e, dtype, 1), v));
        update_like(&e, op, c->zeros, RG_RMW_ADD, ad_cast(&e, RG_I64, is_zero));
        update_like(&e, op, c->nought, RG_RMW_ADD,
                    ad_op3(&e, RG_OP_SELECT, is_zero, v, ad_float(&e, dtype, 0)));
    } else {
        ir_value *wins = ad_op2(&e, RG_OP_EQ, v, load_like(&e, op, c->buffer));
        if (round == 0) {
            update_like(&e, op, c->first, RG_RMW_MAX,
                        ad_op3(&e, RG_OP_SELECT, wins, key, ad_int(&e, RG_I64, 0)));
        } else {
            ir_value *mine = ad_op2(&e, RG_OP_EQ, key, load_like(&e, op, c->first));
            update_like(&e, op, c->ties, RG_RMW_ADD, ad_cast(&e, RG_I64, ad_op2(&e, RG_OP_AND, wins, mine)));
        }
    }
}

/* -- what was found --------------------------------------------------------------------------------------------- */
ir_value *
ad_contest_won(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *v, ir_value *key)
{
    ir_value *wins = op2(b, RG_OP_EQ, v, rg_build_load(b, RG_PRIMAL, c->final, n, index));
    ir_value *mine = op2(b, RG_OP_EQ, key, rg_build_load(b, RG_PRIMAL, c->first, n, index));
    return op2(b, RG_OP_AND, wins, mine);
}

static ad_reduction
product_at(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index)
{
    return (ad_reduction){.op = RG_RMW_MUL,
                          .product = rg_build_load(b, RG_PRIMAL, c->product, n, index),
                          .zeros = rg_build_load(b, RG_PRIMAL, c->zeros, n, index),
                          .nought = rg_build_load(b, RG_PRIMAL, c->nought, n, index)};
}

ir_value *
ad_contest_factors(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, rg_dtype dtype)
{
    ad_reduction r = product_at(b, c, n, index);
    return ad_product_of_others(b, &r, NULL, dtype);
}

ir_value *
ad_contest_others(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *v,
                  rg_dtype dtype)
{
    ad_reduction r = product_at(b, c, n, index);
    ir_value *old = rg_build_cast(b, dtype, rg_build_load(b, RG_PRIMAL, c->old, n, index));
    return rg_build_2(b, RG_OP_MUL, old, ad_product_of_others(b, &r, v, dtype));
}
