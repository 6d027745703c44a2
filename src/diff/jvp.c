/* Forward mode: every active value gets a second value, its tangent, computed beside it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The new function is made region by region. A carried value's tangent is one more carried value, a
 * result's one more result; the tangent of what an unwind recalls is the recall of the tangent. So a
 * vjp goes through like any other function. */
#include "ir/edges.h"
#include "diff/jvp.h"

static void transform_region(jvp *j, const ir_region *from, ir_region *into);

static bool
active(const jvp *j, const ir_value *v)
{
    return (v->type.kind == IR_SCALAR || v->type.kind == IR_ARRAY) && j->activity.varied[v->id];
}

const ad_activity *
jvp_both_ways(jvp *j)
{
    if (!j->both.fn)
        ad_activity_find(&j->both, j->from, j->options ? j->options->active : NULL, NULL, true,
                         j->c->scratch);
    return &j->both;
}

const ir_op *
jvp_task_of(const ir_op *op)
{
    for (const ir_region *r = op->parent; r && r->op; r = r->op->parent)
        if (r->op->code == RG_OP_PARALLEL)
            return r->op;
    return NULL;
}

ir_value *
jvp_tangent_or_zero(jvp *j, const ir_emit *e, const ir_value *v)
{
    ir_value *t = j->tangent[v->id];
    if (t)
        return t;
    rg_dtype dtype = ir_adjoint_dtype((rg_dtype)v->type.dtype);
    return ir_emit_zero(e, v->type.kind == IR_ARRAY ? ir_array(dtype, v->type.length) : ir_scalar(dtype));
}

static ir_type
tangent_type(const ir_value *v)
{
    rg_dtype dtype = ir_adjoint_dtype((rg_dtype)v->type.dtype);
    return v->type.kind == IR_ARRAY ? ir_array(dtype, v->type.length) : ir_scalar(dtype);
}

static ir_value *
mapped_primal(void *user, ir_value *v)
{
    return ((jvp *)user)->primal[v->id];
}

static void
add_primal_result(jvp *j, const ir_value *v, ir_op *copy)
{
    j->primal[v->id] = ir_op_result(copy, j->fn, v->type, v->name);
}

static void
add_tangent_result(jvp *j, const ir_value *v, ir_op *copy)
{
    j->tangent[v->id] = ir_op_result(copy, j->fn, tangent_type(v), NULL);
}

void
jvp_refuse(jvp *j, const ir_op *op, unsigned number, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_addv(j->c->diags, DIAG_ERROR, number, ir_place(j->from->module, op->loc), format, args);
    va_end(args);
    j->failed = true;
}

/* -- values in a straight line --------------------------------------------------------------------------- */
static ir_op *
copy_plain(jvp *j, const ir_op *op, ir_region *into)
{
    ir_op *copy = ir_op_like(j->fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, j->fn, j->primal[op->args[i]->id]);
    for (uint32_t i = 0; i < op->nresults; i++)
        add_primal_result(j, op->results[i], copy);
    ir_append(into, copy);
    return copy;
}

static void
scalar_tangent(jvp *j, const ir_op *op, const ir_emit *e)
{
    ir_value *sum = NULL;
    for (uint32_t k = 0; k < op->nargs; k++) {
        ir_value *t = j->tangent[op->args[k]->id];
        if (!t || !ad_flows(op, k))
            continue;
        if (ad_rule_of((rg_op)op->code, k) == AD_RULE_ERROR) {
            jvp_refuse(j, op, 501, "`%s` of an active value has no derivative here\n"
                       "keep its operand constant, or write out a formula", ir_ops[op->code].text);
            return;
        }
        ir_value *share = ad_rule_apply(e, op, k, t, mapped_primal, j);
        sum = sum ? ir_emit_2(e, RG_OP_ADD, sum, share) : share;
    }
    j->tangent[op->results[0]->id] = sum;
}

/* a guarded product's tangent is zero only where both the guard and its tangent are */
static void
guard_tangent(jvp *j, const ir_op *op, const ir_emit *e)
{
    ir_value *x = j->primal[op->args[0]->id], *t = j->tangent[op->args[0]->id];
    ir_value *y = j->tangent[op->args[1]->id];
    if (!y)
        return;
    if (!t) {
        j->tangent[op->results[0]->id] = ir_emit_2(e, RG_OP_ZERO_GUARD, x, y);
        return;
    }
    ir_value *is_zero = ir_emit_2(e, RG_OP_EQ, x, ir_emit_const(e, (rg_dtype)x->type.dtype, 0));
    j->tangent[op->results[0]->id] =
        ir_emit_3(e, RG_OP_SELECT, is_zero, ir_emit_2(e, RG_OP_ZERO_GUARD, t, y), y);
}

/* the same op on the tangents of its array operands (and values) */
static void
array_tangent(jvp *j, const ir_op *op, const ir_emit *e)
{
    ir_op *copy = ir_op_like(j->fn, op);
    for (uint32_t k = 0; k < op->nargs; k++) {
        bool carries = ad_flows(op, k);
        ir_op_arg(copy, j->fn, carries ? jvp_tangent_or_zero(j, e, op->args[k]) : j->primal[op->args[k]->id]);
    }
    add_tangent_result(j, op->results[0], copy);
    ir_emit_place(e, copy);
}

/* the tangent of what is recalled, which may be seen where that is not: one that ops hand on unchanged */
static ir_value *
recalled_tangent(ir_value *tangent, const ir_emit *e)
{
    if (!tangent || ir_region_inside(e->region, tangent->region))
        return tangent;
    return ad_recall(e, tangent);
}

static void
value_op(jvp *j, const ir_op *op, ir_region *into)
{
    copy_plain(j, op, into);
    if (op->nresults != 1 || !active(j, op->results[0]))
        return;
    ir_emit e = {j->fn, into, NULL, op->loc};
    ir_value *result = op->results[0];
    switch ((rg_op)op->code) {
    case RG_OP_CAST:
        if (j->tangent[op->args[0]->id])
            j->tangent[result->id] = ir_emit_cast(&e, ir_adjoint_dtype((rg_dtype)result->type.dtype),
                                             j->tangent[op->args[0]->id]);
        break;
    case RG_OP_RECALL:
        j->tangent[result->id] = recalled_tangent(j->tangent[op->args[0]->id], &e);
        break;
    case RG_OP_COPY:
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
        array_tangent(j, op, &e);
        break;
    case RG_OP_ZERO_GUARD:
        guard_tangent(j, op, &e);
        break;
    default:
        scalar_tangent(j, op, &e);
    }
}

/* -- memory ------------------------------------------------------------------------------------------------ */
static void
find_without(ir_value *root, void *user)
{
    jvp_roots *q = user;
    q->varied |= q->j->activity.varied[root->id];
    if (q->j->activity.has_adjoint[root->id])
        q->any = true;
    else if (q->j->activity.varied[root->id])
        q->without = root;
}

jvp_roots
jvp_look(const jvp *j, ir_value *buffer)
{
    jvp_roots q = {.j = j};
    ir_buffer_roots(buffer, find_without, &q);
    return q;
}

bool
jvp_lacks_tangent(jvp *j, const ir_op *op, const jvp_roots *q)
{
    if (q->without)
        jvp_refuse(j, op, 510, "`%s` carries a value that is being differentiated, but has no tangent\n"
                   "give the array a tangent, or stop the derivative there", q->without->name);
    return q->without;
}

/* an access like op's to the tangent plane; value NULL for a load */
static ir_op *
tangent_access(jvp *j, const ir_op *op, ir_value *value, const ir_emit *e)
{
    ir_op *copy = ir_op_like(j->fn, op);
    copy->plane = op->plane | j->bit;
    copy->atomic = op->atomic && op->code == RG_OP_RMW; /* an atomic read is the primal's alone */
    uint32_t places = op->code == RG_OP_LOAD ? op->nargs : op->nargs - 1;
    for (uint32_t i = 0; i < places; i++)
        ir_op_arg(copy, j->fn, j->primal[op->args[i]->id]);
    if (value)
        ir_op_arg(copy, j->fn, value);
    ir_emit_place(e, copy);
    return copy;
}

/* The tangent of what an update returns: in serial code that of the element before it. Among threads nobody knows
 * which of them came before. */
static void
returned_tangent(jvp *j, const ir_op *op, const jvp_roots *q, const ir_emit *e)
{
    ir_value *result = op->results[0];
    if (!active(j, result) || !ad_is_active(jvp_both_ways(j), result) || jvp_lacks_tangent(j, op, q))
        return;
    if (jvp_task_of(op)) {
        jvp_refuse(j, op, 511, "the float that an atomic returns depends on the order of threads and has no "
                   "derivative\nread the array in a later loop instead");
        return;
    }
    ir_op *load = ir_op_new(j->fn, RG_OP_LOAD, 0, 0, op->loc);
    load->plane = op->plane | j->bit;
    load->in_row = op->in_row;
    for (uint32_t i = 0; i <= op->args[0]->type.rank; i++)
        ir_op_arg(load, j->fn, j->primal[op->args[i]->id]);
    ir_emit_place(e, load);
    ir_value *raw = ir_op_result(load, j->fn, result->type, NULL);
    j->tangent[result->id] = ir_emit_cast(e, ir_adjoint_dtype((rg_dtype)result->type.dtype), raw);
}

static void
memory_op(jvp *j, const ir_op *op, ir_region *into)
{
    ir_op *copy = copy_plain(j, op, into);
    rg_dtype element = (rg_dtype)op->args[0]->type.dtype;
    if (!ir_is_float(element))
        return;
    ir_emit e = {j->fn, into, NULL, op->loc};
    jvp_roots q = jvp_look(j, op->args[0]);
    if (op->code == RG_OP_LOAD) {
        if (jvp_lacks_tangent(j, op, &q)) {
            return;
        } else if (j->still && !(op->plane & RG_ADJOINT)) {
            return;
        } else if (q.any && (j->activity.varied[op->args[0]->id] || op->args[0]->def)) {
            ir_op *t = tangent_access(j, op, NULL, &e);
            ir_value *raw = ir_op_result(t, j->fn, op->results[0]->type, NULL);
            j->tangent[op->results[0]->id] = ir_emit_cast(&e, ir_adjoint_dtype(element), raw);
        }
        return;
    }
    if (op->nresults && op->args[0]->type.kind == IR_BUFFER)
        returned_tangent(j, op, &q, &e);
    if (!q.any || j->failed)
        return;
    ir_value *value = op->args[op->nargs - 1];
    if (ad_is_contest(op)) {
        jvp_contest(j, op, copy, into);
        return;
    }
    if (op->code == RG_OP_RMW && op->rmw != RG_RMW_ADD) {
        jvp_refuse(j, op, 513, "an atomic exchange of a differentiated array depends on the order of threads");
        return;
    }
    if (op->code == RG_OP_RMW && !j->tangent[value->id])
        return;
    tangent_access(j, op, ir_emit_cast(&e, element, jvp_tangent_or_zero(j, &e, value)), &e);
}

/* -- control -------------------------------------------------------------------------------------------------- */
/* Whether the tangent of `key`, value i that region op `owner` passes on, travels beside it. That of a
 * reduction that is not a sum is found afterwards. */
static bool
paired(const jvp *j, const ir_op *owner, const ir_value *key, uint32_t i)
{
    return active(j, key) && !(owner->code == RG_OP_PARALLEL && owner->reduce[i] != RG_RMW_ADD);
}

/* the op's own operands; those that it hands on; then the tangents of what is paired where they arrive */
static void
add_args(jvp *j, ir_op *copy, const ir_op *op, const ir_op *owner, const ir_emit *e)
{
    uint32_t own = ir_own_operands(op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, j->fn, j->primal[op->args[i]->id]);
    for (uint32_t i = own; i < op->nargs; i++)
        if (paired(j, owner, ir_handed_to(op, i), i - own))
            ir_op_arg(copy, j->fn, jvp_tangent_or_zero(j, e, op->args[i]));
}

static void
add_paired_results(jvp *j, const ir_op *op, ir_op *copy)
{
    uint32_t n = ir_value_results(op);
    for (uint32_t i = 0; i < n; i++)
        add_primal_result(j, op->results[i], copy);
    for (uint32_t i = 0; i < n; i++)
        if (paired(j, op, op->results[i], i))
            add_tangent_result(j, op->results[i], copy);
    if (n < op->nresults)
        add_primal_result(j, op->results[n], copy); /* the trace stays last */
}

static void
add_paired_params(jvp *j, const ir_region *from, ir_region *into)
{
    for (uint32_t i = 0; i < from->nparams; i++)
        j->primal[from->params[i]->id] = ir_region_param(into, from->params[i]->type, from->params[i]->name);
    for (uint32_t i = 0; i < from->nparams; i++)
        if (active(j, from->params[i]))
            j->tangent[from->params[i]->id] = ir_region_param(into, tangent_type(from->params[i]), NULL);
}

/* the tangents of sums are sums */
static void
extend_reductions(jvp *j, const ir_op *op, ir_op *copy)
{
    uint32_t n = ir_value_results(op), all = copy->nargs - ir_first_init(op);
    uint8_t *reduce = arena_new_n(j->fn->module->arena, uint8_t, all + 1);
    for (uint32_t i = 0; i < all; i++)
        reduce[i] = i < n ? op->reduce[i] : RG_RMW_ADD;
    copy->reduce = reduce;
}

/* The tangent of a min, max or product over threads: a second parallel loop adds up each thread's share
 * of its kept tangent. */
static ir_value *
reduced_tangent(jvp *j, rg_builder *b, const ir_op *op, ir_op *copy, uint32_t i)
{
    const ir_value *initial = op->args[ir_first_init(op) + i];
    const ir_value *yielded = ir_terminator(op->regions[0])->args[i];
    rg_dtype dtype = ir_adjoint_dtype((rg_dtype)op->results[i]->type.dtype);
    ad_domain d = {.rank = op->attr.rank};
    for (uint32_t k = 0; k < d.rank; k++) {
        d.lo[k] = copy->args[k];
        d.hi[k] = copy->args[d.rank + k];
    }
    ir_emit inside = {j->fn, copy->regions[0], ir_terminator(copy->regions[0]), op->loc};
    ir_value *values = ad_keep(j->fn, copy, j->primal[yielded->id]);
    ir_value *tangents = ad_keep(j->fn, copy, jvp_tangent_or_zero(j, &inside, yielded));
    ad_reduction r = ad_reduce_look(b, &d, (rg_rmw)op->reduce[i], values, j->primal[op->results[i]->id],
                                    j->primal[initial->id]);
    ir_emit here = {j->fn, ir_build_region(b), NULL, op->loc};
    rg_var sum = rg_build_var(b, (rg_str){0}, (rg_type){dtype, 0});
    rg_build_set(b, sum, ad_reduce_share(b, &r, rg_build_int(b, RG_I64, -1), j->primal[initial->id],
                                         jvp_tangent_or_zero(j, &here, initial)));
    ir_value *index[RG_MAX_RANK];
    rg_build_parallel(b, d.rank, d.lo, d.hi, index);
    rg_build_reduce(b, sum, RG_RMW_ADD);
    ir_value *share = ad_reduce_share(b, &r, ad_thread_number(b, &d, index), ad_kept(b, &d, values, index),
                                      ad_kept(b, &d, tangents, index));
    rg_build_set(b, sum, rg_build_2(b, RG_OP_ADD, rg_build_get(b, sum), share));
    rg_build_end(b);
    return rg_build_get(b, sum);
}

static void
other_reductions(jvp *j, const ir_op *op, ir_op *copy, ir_region *into)
{
    for (uint32_t i = 0; i < ir_value_results(op); i++) {
        if (!active(j, op->results[i]) || op->reduce[i] == RG_RMW_ADD)
            continue;
        ad_midst m;
        rg_builder *b = ad_midst_open(&m, j->fn, into, into->last, j->c);
        j->tangent[op->results[i]->id] = reduced_tangent(j, b, op, copy, i);
        ad_midst_close(&m);
    }
}

static void
region_op(jvp *j, const ir_op *op, ir_region *into)
{
    ir_emit before = {j->fn, into, NULL, op->loc};
    ir_op *copy = ir_op_like(j->fn, op);
    if (op->code == RG_OP_PARALLEL)
        jvp_open_contests(j, op, into);
    add_args(j, copy, op, op, &before);
    if (op->code == RG_OP_PARALLEL)
        extend_reductions(j, op, copy);
    ir_append(into, copy);
    for (uint32_t r = 0; r < op->nregions; r++) {
        add_paired_params(j, op->regions[r], copy->regions[r]);
        transform_region(j, op->regions[r], copy->regions[r]);
    }
    add_paired_results(j, op, copy);
    if (op->code != RG_OP_PARALLEL || j->failed) /* what is refused has no end */
        return;
    other_reductions(j, op, copy, into);
    jvp_close_contests(j, into);
}

/* yield and exit_if: their values, then the tangents that the op around them wants */
static void
leaving_op(jvp *j, const ir_op *op, ir_region *into)
{
    ir_emit e = {j->fn, into, NULL, op->loc};
    ir_op *copy = ir_op_like(j->fn, op);
    const ir_op *owner = op->parent->op;
    if (owner) {
        add_args(j, copy, op, owner, &e);
    } else {
        for (int tangents = 1; tangents >= 0; tangents--)
            for (uint32_t i = 0; i < op->nargs; i++) {
                if (!tangents)
                    ir_op_arg(copy, j->fn, j->primal[op->args[i]->id]);
                else if (ir_type_floats(op->args[i]->type))
                    ir_op_arg(copy, j->fn, jvp_tangent_or_zero(j, &e, op->args[i]));
            }
    }
    ir_append(into, copy);
}

static void
transform_op(jvp *j, const ir_op *op, ir_region *into)
{
    switch ((rg_op)op->code) {
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
        memory_op(j, op, into);
        break;
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_UNWIND:
    case RG_OP_PARALLEL:
        region_op(j, op, into);
        break;
    case RG_OP_YIELD:
    case RG_OP_EXIT_IF:
        leaving_op(j, op, into);
        break;
    case RG_OP_CALL:
        jvp_call(j, op, into);
        break;
    default:
        value_op(j, op, into);
    }
}

static void
transform_region(jvp *j, const ir_region *from, ir_region *into)
{
    for (const ir_op *op = from->first; op && !j->failed; op = op->next)
        transform_op(j, op, into);
}

/* -- the whole function ------------------------------------------------------------------------------------ */
static bool
uses_tangents(ir_op *op, void *user)
{
    (void)user;
    return !(op->plane & RG_TANGENT);
}

static void
begin_kernel(jvp *j)
{
    const ir_region *body = j->from->body;
    ir_emit e = {j->fn, j->fn->body, NULL, j->from->loc};
    for (uint32_t i = 0; i < body->nparams; i++)
        j->primal[body->params[i]->id] =
            ir_region_param(j->fn->body, body->params[i]->type, body->params[i]->name);
    if (j->from->shape) {
        j->fn->shape = ir_region_new(j->fn, NULL);
        ir_for_ops(op, j->from->shape) ir_op_clone(j->fn, op, j->primal, j->fn->shape);
    }
    for (uint32_t i = 0; !j->fn->kernel && i < body->nparams; i++) {
        const ir_value *p = body->params[i];
        if (!ir_type_floats(p->type))
            continue;
        ir_value *t = ir_region_param(j->fn->body, ir_adjoint_type(p->type), NULL);
        j->tangent[p->id] = active(j, p) ? t : NULL;
    }
    for (uint32_t i = 0; j->fn->kernel && i < body->nparams; i++) {
        const ir_value *p = body->params[i];
        if (p->type.kind != IR_SCALAR || !j->activity.has_adjoint[p->id])
            continue;
        ir_op *load = ir_op_new(j->fn, RG_OP_LOAD, 0, 0, j->from->loc);
        ir_op_arg(load, j->fn, j->primal[p->id]);
        load->plane = j->bit;
        ir_append(j->fn->body, load);
        ir_value *t = ir_op_result(load, j->fn, p->type, NULL);
        j->tangent[p->id] = ir_emit_cast(&e, ir_adjoint_dtype((rg_dtype)p->type.dtype), t);
    }
}

ir_fn *
ad_jvp(const ir_fn *fn, const ad_options *options, const char *name, pass_context *c)
{
    jvp j = {.from = fn, .options = options, .c = c, .still = options && options->still, .contests.in = c->scratch};
    j.primal = arena_new_n(c->scratch, ir_value *, fn->next_id + 1);
    j.tangent = arena_new_n(c->scratch, ir_value *, fn->next_id + 1);
    j.bit = ir_walk(fn->body, uses_tangents, NULL) ? RG_TANGENT : RG_TANGENT2;
    ad_activity_find(&j.activity, fn, options ? options->active : NULL, NULL, false, c->scratch);
    j.fn = ir_fn_new(fn->module, name, fn->kernel);
    j.fn->loc = fn->loc;
    j.fn->params = fn->params;
    begin_kernel(&j);
    transform_region(&j, fn->body, j.fn->body);
    return j.failed ? NULL : j.fn;
}
