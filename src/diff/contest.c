/* Atomic min, max and mul by many threads. SPDX-License-Identifier: Apache-2.0 */
#include "diff/contest.h"
#include "analysis/access.h"

bool
ad_is_contest(const ir_op *op)
{
    return op->code == RG_OP_RMW && op->plane == 0 && ir_is_float((rg_dtype)op->args[0]->type.dtype) &&
           (op->rmw == RG_RMW_MIN || op->rmw == RG_RMW_MAX || op->rmw == RG_RMW_MUL);
}

/* -- what stands in the way ------------------------------------------------------------------------------------ */
typedef struct agreement {
    const ir_fn *from;
    const ir_op *task, *update;
    bool active; /* an adjoint flows through what is updated */
    const ad_activity *a;
    bool stands; /* the array has to stand still behind the task */
    diag_list *diags;
} agreement;

static bool
refuse_mixed_use(const agreement *g, const ir_op *access, const char *does, const char *instead)
{
    const char *name = g->update->args[0]->name, *kind = ir_rmw_names[g->update->rmw], *quote = name ? "`" : "";
    diag_add(g->diags, DIAG_ERROR, 512, ir_place(g->from->module, access->loc),
             "%s%s%s is the target of an atomic %s that is differentiated, and the same element may be %s\n%s",
             quote, name ? name : "an array", quote, kind, does, instead);
    diag_add(g->diags, DIAG_NOTE, 512, ir_place(g->from->module, g->update->loc), "the atomic %s is here", kind);
    return false;
}

static bool
stands_before_task(const agreement *g, ir_op *op)
{
    const ir_region *body = g->from->body;
    const ir_op *task = ir_ancestor_in((ir_op *)g->task, body), *other = ir_ancestor_in(op, body);
    for (const ir_op *o = task->prev; o; o = o->prev)
        if (o == other)
            return true;
    return false;
}

static bool
agrees_with_update(ir_op *op, void *user)
{
    const agreement *g = user;
    const ir_op *update = g->update;
    bool inside = ir_region_inside(op->parent, g->task->regions[0]);
    bool result = op->code == RG_OP_LOAD || op->code == RG_OP_CALL;
    bool reads = inside && result && op->nresults && ad_is_active(g->a, op->results[0]);
    bool writes = ir_ops[op->code].flags & IR_WRITE && (inside || !stands_before_task(g, op));
    for (uint32_t i = 0; (reads || writes) && i < op->nargs; i++) {
        if (op->args[i]->type.kind != IR_BUFFER || op->plane || !ir_may_be_same(op->args[i], update->args[0]))
            continue;
        if (op->code == RG_OP_CALL)
            return refuse_mixed_use(g, op, "read here by a function", "read it in another loop");
        bool same = inside && ad_is_contest(op) && op->args[0] == update->args[0] && op->rmw == update->rmw;
        if (same || access_always_apart(op, update, inside ? g->task->regions[0] : g->from->body))
            continue;
        if (!writes)
            return refuse_mixed_use(g, op, "read here", "read it in another loop");
        return refuse_mixed_use(g, op, inside ? "written here as well" : "written here, after it",
                                "use another array or another loop, or elements whose subscripts differ by a constant");
    }
    return true;
}

static void
note_adjoint_root(ir_value *root, void *user)
{
    agreement *g = user;
    if (g->a->has_adjoint[root->id])
        g->active = true;
}

static bool
update_agrees(ir_op *op, void *user)
{
    agreement g = *(agreement *)user;
    g.update = op;
    if (!ad_is_contest(op))
        return true;
    ir_buffer_roots(op->args[0], note_adjoint_root, &g);
    return !g.active || ir_walk(g.stands ? g.from->body : g.task->regions[0], agrees_with_update, &g);
}

bool
ad_contests_agree(const ir_fn *from, const ir_op *task, const ad_activity *a, bool stands, diag_list *diags)
{
    agreement g = {.from = from, .task = task, .a = a, .stands = stands, .diags = diags};
    return ir_walk(task->regions[0], update_agrees, &g);
}

/* -- the order of updates -------------------------------------------------------------------------------------- */
typedef struct numbering {
    const ir_op *op, *task;
    uint32_t n;
    bool in_loop;
} numbering;

static bool
count_update(ir_op *op, void *user)
{
    numbering *count = user;
    if (op == count->op)
        return false;
    if (!ad_is_contest(op))
        return true;
    count->n++;
    for (const ir_op *around = op->parent->op; around != count->task; around = around->parent->op)
        count->in_loop |= around->code != RG_OP_IF;
    return true;
}

static numbering
count_updates(const ir_op *task, const ir_op *op)
{
    numbering count = {.op = op, .task = task};
    ir_walk(task->regions[0], count_update, &count);
    return count;
}

uint32_t
ad_contest_number(const ir_op *task, const ir_op *op)
{
    return count_updates(task, op).n;
}

bool
ad_contests_take_turns(const ir_op *task)
{
    return count_updates(task, NULL).in_loop;
}

ad_order
ad_order_open(rg_builder *b, const ad_domain *d, bool turns)
{
    ad_order o = {.domain = *d, .threads = rg_build_int(b, RG_I64, 1)};
    ir_value *extent[RG_MAX_RANK], *zero = rg_build_int(b, RG_I64, 0), *one = rg_build_int(b, RG_I64, 1);
    for (uint32_t k = 0; k < d->rank; k++) {
        extent[k] = rg_build_2(b, RG_OP_SUB, rg_build_cast(b, RG_I64, d->hi[k]), rg_build_cast(b, RG_I64, d->lo[k]));
        extent[k] = rg_build_2(b, RG_OP_MAX, extent[k], zero);
        o.threads = rg_build_2(b, RG_OP_MUL, o.threads, extent[k]);
    }
    o.stride = rg_build_2(b, RG_OP_DIV, rg_build_int(b, RG_I64, INT64_MAX), rg_build_2(b, RG_OP_ADD, o.threads, one));
    o.turns = turns ? rg_build_temp(b, RG_I64, d->rank, extent) : NULL;
    return o;
}

ir_value *
ad_order_turn(rg_builder *b, const ad_order *o, ir_value *const *index, uint32_t number)
{
    ir_value *at[RG_MAX_RANK], *one = rg_build_int(b, RG_I64, 1);
    if (!o->turns)
        return rg_build_int(b, RG_I64, number);
    ad_from_zero(b, &o->domain, index, at);
    return rg_build_rmw(b, RG_PRIMAL, RG_RMW_ADD, true, o->turns, o->domain.rank, at, one, NULL);
}

ir_value *
ad_order_key(rg_builder *b, const ad_order *o, ir_value *const *index, ir_value *turn)
{
    ir_value *left = rg_build_2(b, RG_OP_SUB, o->threads, ad_thread_number(b, &o->domain, index));
    return rg_build_2(b, RG_OP_SUB, rg_build_2(b, RG_OP_MUL, left, o->stride), turn);
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
ad_each_element(rg_builder *b, ir_value *buffer, ir_value **index)
{
    ir_value *lo[RG_MAX_RANK], *hi[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(buffer);
    lo[0] = rg_build_int(b, RG_I64, 0);
    hi[0] = rg_build_int(b, RG_I64, 1); /* without axes: its only one */
    for (uint32_t k = 0; k < rank; k++) {
        lo[k] = lo[0];
        hi[k] = rg_build_extent(b, buffer, k);
    }
    rg_build_parallel(b, rank ? rank : 1, lo, hi, index);
}

static ir_value *
float_bits_of(rg_builder *b, ir_value *v)
{
    return rg_build_bitcast(b, RG_I64, rg_build_cast(b, RG_F64, v));
}

void
ad_contest_open(rg_builder *b, ad_contest *c, ir_value *buffer, bool tangents)
{
    rg_dtype dtype = (rg_dtype)buffer->type.dtype, wide = ir_adjoint_dtype(dtype);
    bool product = c->op == RG_RMW_MUL;
    ir_value **sums[] = {&c->nought, &c->slopes, &c->rises, &c->mixed}, *index[RG_MAX_RANK];
    if (product) {
        c->product = buffer_like(b, buffer, wide);
        c->zeros = buffer_like(b, buffer, RG_I64);
        c->old = buffer_like(b, buffer, dtype);
        for (size_t i = 0; i < (tangents ? countof(sums) : 1); i++)
            *sums[i] = buffer_like(b, buffer, wide);
    } else {
        c->best = buffer_like(b, buffer, RG_I64);
        c->first = buffer_like(b, buffer, RG_I64);
        c->taken = buffer_like(b, buffer, RG_I64);
    }
    ad_each_element(b, product ? c->old : c->best, index);
    uint32_t n = rg_value_rank(buffer);
    ir_value *v = rg_build_load(b, RG_PRIMAL, buffer, n, index);
    rg_build_store(b, RG_PRIMAL, product ? c->old : c->best, n, index, product ? v : float_bits_of(b, v));
    if (product)
        rg_build_store(b, RG_PRIMAL, c->product, n, index, rg_build_float(b, wide, 1));
    rg_build_end(b);
}

/* -- updates --------------------------------------------------------------------------------------------------- */
static ir_value *
emit_update(rg_builder *b, rg_rmw how, ir_value *buffer, const ad_entry *e, ir_value *value)
{
    return rg_build_rmw(b, RG_PRIMAL, how, true, buffer, e->n, e->index, value, NULL);
}

static ir_value *
current(rg_builder *b, ir_value *buffer, const ad_entry *e)
{
    return rg_build_load_atomic(b, buffer, e->n, e->index);
}

/* whether x beats y. A number beats a NaN, as it does in the update itself. */
static ir_value *
is_better(rg_builder *b, const ad_contest *c, ir_value *x, ir_value *y)
{
    ir_value *better = rg_build_2(b, c->op == RG_RMW_MIN ? RG_OP_LT : RG_OP_GT, x, y);
    ir_value *number = rg_build_2(b, RG_OP_AND, rg_build_2(b, RG_OP_NE, y, y), rg_build_2(b, RG_OP_EQ, x, x));
    return rg_build_2(b, RG_OP_OR, better, number);
}

/* The thread has the element to itself: it changes the two words if its update is ahead. The key is gone while the value
 * changes, so that who reads the value, then the key, finds one that belongs to it. */
static void
enter_alone(rg_builder *b, const ad_contest *c, const ad_entry *e, ir_value *v)
{
    ir_value *best = rg_build_bitcast(b, RG_F64, current(b, c->best, e));
    ir_value *better = is_better(b, c, v, best), *zero = rg_build_int(b, RG_I64, 0);
    ir_value *tie = rg_build_2(b, RG_OP_AND, rg_build_2(b, RG_OP_EQ, v, best),
                                rg_build_2(b, RG_OP_GT, e->key, current(b, c->first, e)));
    rg_build_if(b, rg_build_2(b, RG_OP_OR, better, tie));
    emit_update(b, RG_RMW_EXCHANGE, c->first, e, rg_build_3(b, RG_OP_SELECT, better, zero, e->key));
    emit_update(b, RG_RMW_EXCHANGE, c->best, e, float_bits_of(b, v));
    emit_update(b, RG_RMW_EXCHANGE, c->first, e, e->key);
    if (e->tangent)
        rg_build_store(b, e->plane, e->array, e->n, e->index, e->tangent);
    rg_build_end(b);
}

/* Most updates are behind what their element holds already. Of the others, each that is still ahead tries again to have the
 * element to itself: in one iteration it takes it and gives it back, so lanes need not wait for each other. */
static void
enter_value(rg_builder *b, const ad_contest *c, const ad_entry *e)
{
    ir_value *v = rg_build_cast(b, RG_F64, e->value), *zero = rg_build_int(b, RG_I64, 0);
    ir_value *now = rg_build_cast(b, RG_F64, current(b, e->array, e));
    rg_build_if(b, rg_build_2(b, RG_OP_OR, is_better(b, c, v, now), rg_build_2(b, RG_OP_EQ, v, now)));
    rg_label trying = rg_build_loop(b);
    ir_value *best = rg_build_bitcast(b, RG_F64, current(b, c->best, e)), *tie = rg_build_2(b, RG_OP_EQ, v, best);
    rg_build_leave_if(b, rg_build_1(b, RG_OP_NOT, rg_build_2(b, RG_OP_OR, is_better(b, c, v, best), tie)), trying);
    rg_build_if(b, tie);
    rg_build_leave_if(b, rg_build_2(b, RG_OP_GT, current(b, c->first, e), e->key), trying);
    rg_build_end(b);
    rg_build_if(b, rg_build_2(b, RG_OP_EQ, current(b, c->taken, e), zero));
    rg_build_if(b, rg_build_2(b, RG_OP_EQ, emit_update(b, RG_RMW_EXCHANGE, c->taken, e, rg_build_int(b, RG_I64, 1)), zero));
    enter_alone(b, c, e, v);
    emit_update(b, RG_RMW_EXCHANGE, c->taken, e, zero);
    rg_build_leave(b, trying);
    rg_build_end(b);
    rg_build_end(b);
    rg_build_end(b);
    rg_build_end(b);
}

static void
enter_factor(rg_builder *b, const ad_contest *c, const ad_entry *e)
{
    rg_dtype wide = ir_adjoint_dtype(rg_value_type(e->value).dtype);
    ir_value *v = rg_build_cast(b, wide, e->value), *t = e->tangent ? rg_build_cast(b, wide, e->tangent) : NULL;
    rg_build_if(b, rg_build_2(b, RG_OP_EQ, v, rg_build_float(b, wide, 0)));
    emit_update(b, RG_RMW_ADD, c->zeros, e, rg_build_int(b, RG_I64, 1));
    emit_update(b, RG_RMW_ADD, c->nought, e, v);
    if (t) {
        emit_update(b, RG_RMW_ADD, c->rises, e, t);
        emit_update(b, RG_RMW_ADD, c->mixed, e, rg_build_2(b, RG_OP_MUL, v, t));
    }
    rg_build_else(b);
    emit_update(b, RG_RMW_MUL, c->product, e, v);
    if (t)
        emit_update(b, RG_RMW_ADD, c->slopes, e, rg_build_2(b, RG_OP_DIV, t, v));
    rg_build_end(b);
}

void
ad_contest_enter(rg_builder *b, const ad_contest *c, const ad_entry *e)
{
    if (c->op == RG_RMW_MUL)
        enter_factor(b, c, e);
    else
        enter_value(b, c, e);
}

/* -- what was found --------------------------------------------------------------------------------------------- */
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

/* With no zero among the factors the product's tangent is product * slopes; with one it is that zero's rise, and the slopes
 * of a product with a zero in it, which is 0 but has a tangent; with two, each one's rise times the other. */
ir_value *
ad_contest_tangent(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *t)
{
    rg_dtype wide = (rg_dtype)c->product->type.dtype;
    ad_reduction r = product_at(b, c, n, index);
    ir_value *slopes = rg_build_load(b, RG_PRIMAL, c->slopes, n, index);
    ir_value *rises = rg_build_load(b, RG_PRIMAL, c->rises, n, index);
    ir_value *mixed = rg_build_load(b, RG_PRIMAL, c->mixed, n, index);
    ir_value *old = rg_build_cast(b, wide, rg_build_load(b, RG_PRIMAL, c->old, n, index));
    ir_value *by_zeros[3] = {slopes, rg_build_2(b, RG_OP_ADD, rises, rg_build_2(b, RG_OP_MUL, slopes, r.nought)),
                             rg_build_2(b, RG_OP_SUB, rg_build_2(b, RG_OP_MUL, rises, r.nought), mixed)};
    ir_value *tangent = rg_build_float(b, wide, 0);
    for (int zeros = 0; zeros < 3; zeros++)
        tangent = rg_build_3(b, RG_OP_SELECT, rg_build_2(b, RG_OP_EQ, r.zeros, rg_build_int(b, RG_I64, zeros)),
                             rg_build_2(b, RG_OP_MUL, r.product, by_zeros[zeros]), tangent);
    ir_value *kept = rg_build_2(b, RG_OP_MUL, rg_build_cast(b, wide, t), ad_product_of_others(b, &r, NULL, wide));
    return rg_build_cast(b, rg_value_type(t).dtype, rg_build_2(b, RG_OP_ADD, kept, rg_build_2(b, RG_OP_MUL, old, tangent)));
}
